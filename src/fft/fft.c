/* SPDX-License-Identifier: BSD-3-Clause */
/* n-dimensional transforms: one pass over the lines of each axis, VLEN lines at a time. */
#include <math.h>
#include <string.h>
#include "core/alloc.h"
#include "core/array.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "fft/lines.h"
#include "fft/longline.h"

enum { MAX_DIMS = 8, MAX_NDIM = 32, TASK_POINTS = 1 << 15 };

struct kugel_fft {
  kugel_ctx *ctx;
  kugel_fft_opts opts;
  int ndim, naxes;
  int64_t n[MAX_DIMS];
  int axes[MAX_DIMS];
  kugel__axis forward[MAX_DIMS], inverse[MAX_DIMS]; // by position in axes
  kugel__longline longline[MAX_DIMS];
};

/* ---- plans ---- */

static kugel_fft_kind inverse_kind(kugel_fft_kind kind)
{
  static const kugel_fft_kind inverse[] = {KUGEL_FFT_C2C,  KUGEL_FFT_R2C,  KUGEL_FFT_DCT1, KUGEL_FFT_DCT3,
                                           KUGEL_FFT_DCT2, KUGEL_FFT_DCT4, KUGEL_FFT_DST1, KUGEL_FFT_DST3,
                                           KUGEL_FFT_DST2, KUGEL_FFT_DST4};
  return inverse[kind];
}

static kugel_status check_opts(kugel_fft *p, const int64_t *n)
{
  const int64_t most = (int64_t)1 << 40;
  kugel_fft_opts *o = &p->opts;
  KUGEL_CHECK((int)o->kind >= KUGEL_FFT_C2C && o->kind <= KUGEL_FFT_DST4, KUGEL_EINVAL,
              "kind is %d, must be KUGEL_FFT_C2C (0) to KUGEL_FFT_DST4 (9)", (int)o->kind);
  KUGEL_CHECK(o->naxes >= 0 && o->naxes <= p->ndim && (o->naxes == 0 || o->axes), KUGEL_EINVAL,
              "naxes is %d with axes %s, must be 0 to ndim = %d with axes set", o->naxes,
              o->axes ? "set" : "NULL", p->ndim);
  KUGEL_CHECK(isfinite(o->forward_scale) && isfinite(o->inverse_scale), KUGEL_EINVAL,
              "scales are %g and %g, must be finite", o->forward_scale, o->inverse_scale);
  bool used[MAX_DIMS] = {false};
  p->naxes = o->naxes ? o->naxes : p->ndim;
  for (int i = 0; i < p->naxes; i++) {
    int a = o->naxes ? o->axes[i] : i;
    KUGEL_CHECK(a >= 0 && a < p->ndim && !used[a], KUGEL_EINVAL,
                "axes[%d] is %d, must be 0 to %d and each once", i, a, p->ndim - 1);
    used[a] = true;
    p->axes[i] = a;
  }
  int64_t total = 1;
  for (int a = 0; a < p->ndim; a++) {
    int64_t least = o->kind == KUGEL_FFT_DCT1 && used[a] ? 2 : 1;
    KUGEL_CHECK(n[a] >= least && n[a] <= most, KUGEL_EINVAL, "n[%d] is %lld, must be %lld to 2^40", a,
                (long long)n[a], (long long)least);
    KUGEL_CHECK(total <= most / n[a], KUGEL_EINVAL, "the lengths multiply to more than 2^40");
    total *= n[a];
    p->n[a] = n[a];
  }
  o->forward_scale = o->forward_scale != 0 ? o->forward_scale : 1;
  o->inverse_scale = o->inverse_scale != 0 ? o->inverse_scale : 1;
  o->axes = NULL;
  return KUGEL_OK;
}

static kugel_status make_axes(kugel_fft *p)
{
  for (int i = 0; i < p->naxes; i++) {
    // of R2C only the last axis is real
    kugel_fft_kind kind = p->opts.kind == KUGEL_FFT_R2C && i < p->naxes - 1 ? KUGEL_FFT_C2C : p->opts.kind;
    KUGEL_TRY(kugel__axis_create(p->ctx, kind, p->n[p->axes[i]], &p->forward[i]));
    if (kind == KUGEL_FFT_C2C && !p->opts.single_precision)
      KUGEL_TRY(kugel__longline_create(p->ctx, p->n[p->axes[i]], &p->longline[i]));
    if (inverse_kind(kind) != kind)
      KUGEL_TRY(kugel__axis_create(p->ctx, inverse_kind(kind), p->n[p->axes[i]], &p->inverse[i]));
  }
  return KUGEL_OK;
}

kugel_status kugel_fft_create(kugel_ctx *ctx, int ndim, const int64_t *n, const kugel_fft_opts *opts,
                              kugel_fft **out)
{
  KUGEL_CHECK(out, KUGEL_EINVAL, "out is NULL: pass where to put the plan");
  *out = NULL;
  KUGEL_CHECK(ndim >= 1 && ndim <= MAX_DIMS, KUGEL_EINVAL, "ndim is %d, must be 1 to %d", ndim, MAX_DIMS);
  KUGEL_CHECK(n, KUGEL_EINVAL, "n is NULL: pass %d lengths", ndim);
  kugel_fft_opts o;
  KUGEL_TRY(kugel__take_opts(&o, sizeof o, opts, "kugel_fft_opts"));
  kugel_fft *p = kugel__calloc(ctx, sizeof *p);
  KUGEL_CHECK(p, KUGEL_ENOMEM, "no memory for a plan");
  p->ctx = kugel__ctx_retain(ctx);
  p->opts = o;
  p->ndim = ndim;
  kugel_status s = check_opts(p, n);
  if (!s)
    s = make_axes(p);
  if (s) {
    kugel_fft_destroy(p);
    return s;
  }
  *out = p;
  return KUGEL_OK;
}

void kugel_fft_destroy(kugel_fft *p)
{
  if (!p)
    return;
  kugel_ctx *ctx = p->ctx;
  for (int i = 0; i < MAX_DIMS; i++) {
    kugel__axis_destroy(ctx, &p->forward[i]);
    kugel__axis_destroy(ctx, &p->inverse[i]);
    kugel__longline_destroy(ctx, &p->longline[i]);
  }
  kugel__free(ctx, p);
  kugel_ctx_destroy(ctx);
}

double kugel_fft_gain(const kugel_fft *p)
{
  double gain = 1;
  for (int i = 0; p && i < p->naxes; i++) {
    double n = (double)p->n[p->axes[i]];
    kugel_fft_kind kind = p->opts.kind;
    gain *= kind <= KUGEL_FFT_R2C    ? n
            : kind == KUGEL_FFT_DCT1 ? 2 * (n - 1)
            : kind == KUGEL_FFT_DST1 ? 2 * (n + 1)
                                     : 2 * n;
  }
  return gain;
}

int64_t kugel_fft_good_size(int64_t n)
{
  if (n < 1 || n > (int64_t)1 << 62)
    return n;
  uint64_t best = (uint64_t)1 << 63; // 7^a 5^b 3^c 2^d
  for (uint64_t a = 1; a < best; a *= 7)
    for (uint64_t b = a; b < best; b *= 5)
      for (uint64_t c = b; c < best; c *= 3) {
        uint64_t d = c;
        while (d < (uint64_t)n)
          d *= 2;
        best = d < best ? d : best;
      }
  return (int64_t)best;
}

/* ---- one pass ---- */

typedef struct view {
  char *data;
  int ndim;
  int64_t shape[MAX_NDIM], stride[MAX_NDIM]; // in elements
} view;

typedef struct pass {
  const kugel__axis *axis;
  const view *in, *out;
  int at; // the axis in the views
  bool inverse, f32;
  double scale;
  int64_t lines, task_lines;
  char *scratch;
  size_t scratch_size;
} pass;

// First elements of line `index` in both arrays: row-major over all axes but the one transformed.
static void locate(const pass *t, int64_t index, int64_t *in, int64_t *out)
{
  *in = *out = 0;
  for (int d = t->in->ndim - 1; d >= 0; d--) {
    if (d == t->at)
      continue;
    int64_t i = index % t->in->shape[d];
    index /= t->in->shape[d];
    *in += i * t->in->stride[d];
    *out += i * t->out->stride[d];
  }
}

static kugel_status run_lines(void *arg, int64_t task, int worker)
{
  const pass *t = arg;
  int vlen = kugel__lanes_ops_now()->vlen;
  int64_t in_at[8], out_at[8], end = kugel__min(t->lines, (task + 1) * t->task_lines);
  kugel__lines l = {.axis = t->axis,
                    .inverse = t->inverse,
                    .f32 = t->f32,
                    .in = t->in->data,
                    .out = t->out->data,
                    .in_at = in_at,
                    .out_at = out_at,
                    .in_step = t->in->stride[t->at],
                    .out_step = t->out->stride[t->at],
                    .scale = t->scale};
  for (int64_t first = task * t->task_lines; first < end; first += vlen) {
    l.count = (int)kugel__min(vlen, end - first);
    for (int i = 0; i < vlen; i++)
      locate(t, first + (i < l.count ? i : 0), &in_at[i], &out_at[i]);
    kugel__line_ops_now()->run(&l, (double *)(t->scratch + (size_t)worker * t->scratch_size));
  }
  return KUGEL_OK;
}

static kugel_status run_pass(const kugel_fft *p, pass *t)
{
  int64_t vlen = kugel__lanes_ops_now()->vlen;
  t->lines = 1;
  for (int d = 0; d < t->in->ndim; d++)
    t->lines *= d == t->at ? 1 : t->in->shape[d];
  if (t->lines == 0)
    return KUGEL_OK;
  t->task_lines = kugel__max(1, TASK_POINTS / (t->axis->n * vlen)) * vlen;
  int64_t tasks = (t->lines + t->task_lines - 1) / t->task_lines;
  int64_t workers = kugel__min(kugel__ctx_threads(p->ctx), tasks);
  t->scratch_size = (size_t)(t->axis->points * 2 * vlen * 8 + 64);
  t->scratch = kugel__scratch_get(p->ctx, (size_t)workers * t->scratch_size);
  KUGEL_CHECK(t->scratch, KUGEL_ENOMEM, "no memory for lines of %lld points", (long long)t->axis->n);
  kugel_status s = kugel__parallel(p->ctx, tasks, run_lines, t);
  kugel__scratch_put(p->ctx, t->scratch);
  return s;
}

/* ---- execution ---- */

static kugel_status take_view(const kugel_fft *p, const kugel_array *a, const char *name, bool complex_side,
                              const int64_t *want, view *v)
{
  KUGEL_CHECK(a, KUGEL_EINVAL, "%s is NULL: pass an array", name);
  KUGEL_CHECK(a->ndim >= p->ndim && a->ndim <= MAX_NDIM && a->shape, KUGEL_ESHAPE,
              "%s has ndim %d, must be %d to %d with a shape", name, a->ndim, p->ndim, MAX_NDIM);
  kugel_dtype real = p->opts.single_precision ? KUGEL_F32 : KUGEL_F64;
  kugel_dtype type = complex_side ? (kugel_dtype){KUGEL_COMPLEX, (uint8_t)(2 * real.bits), 1} : real;
  char text[256];
  KUGEL_CHECK(a->device.type == KUGEL_CPU, KUGEL_EDEVICE,
              "%s is on device type %d, this plan takes host memory", name, a->device.type);
  KUGEL_CHECK(kugel__dtype_is(a->dtype, type), KUGEL_ESHAPE, "%s is %s, must be %s%d", name,
              kugel__array_describe(a, text, sizeof text), complex_side ? "complex" : "float", type.bits);
  v->ndim = a->ndim;
  v->data = kugel__array_data(a);
  int64_t stride = 1;
  for (int d = a->ndim - 1; d >= 0; d--) {
    int k = d - (a->ndim - p->ndim);
    KUGEL_CHECK(a->shape[d] >= 0 && (k < 0 || a->shape[d] == want[k]), KUGEL_ESHAPE,
                "%s is %s: its extent on axis %d must be %lld", name,
                kugel__array_describe(a, text, sizeof text), d, (long long)(k < 0 ? 0 : want[k]));
    v->shape[d] = a->shape[d];
    v->stride[d] = a->strides ? a->strides[d] : stride;
    stride *= a->shape[d];
  }
  KUGEL_CHECK(a->data || kugel__array_count(a) == 0, KUGEL_EINVAL, "%s has data NULL", name);
  return KUGEL_OK;
}

static void extent(const view *v, int64_t bytes, const char **lo, const char **hi)
{
  int64_t low = 0, high = 0;
  for (int d = 0; d < v->ndim; d++) {
    int64_t reach = (v->shape[d] - 1) * v->stride[d];
    low += reach < 0 ? reach : 0;
    high += reach > 0 ? reach : 0;
  }
  *lo = v->data + low * bytes;
  *hi = v->data + (high + 1) * bytes;
}

// In place: the same first element and strides; of R2C, rows of the real array padded to the complex ones.
static bool same_place(const view *a, int64_t ba, const view *b, int64_t bb, int last)
{
  if (a->data != b->data)
    return false;
  for (int d = 0; d < a->ndim; d++) {
    int64_t sa = a->stride[d] * ba, sb = b->stride[d] * bb;
    if (a->shape[d] > 1 && d != last && sa != sb)
      return false;
    if (d == last && (a->stride[d] != b->stride[d] || (ba != bb && a->stride[d] != 1)))
      return false;
  }
  return true;
}

static kugel_status check_places(const kugel_fft *p, const view *in, int64_t bi, const view *out, int64_t bo)
{
  const char *il, *ih, *ol, *oh;
  for (int d = 0; d < in->ndim; d++) {
    if (d < in->ndim - p->ndim)
      KUGEL_CHECK(in->shape[d] == out->shape[d], KUGEL_ESHAPE,
                  "batch extents differ: %lld and %lld on axis %d", (long long)in->shape[d],
                  (long long)out->shape[d], d);
    if (in->shape[d] == 0)
      return KUGEL_OK;
  }
  extent(in, bi, &il, &ih);
  extent(out, bo, &ol, &oh);
  int last = in->ndim - p->ndim + p->axes[p->naxes - 1];
  KUGEL_CHECK(ih <= ol || oh <= il || same_place(in, bi, out, bo, bi == bo ? -1 : last), KUGEL_EINVAL,
              "in and out overlap without being the same: give them arrays of their own, or the same one");
  return KUGEL_OK;
}

// Each line as a matrix [n1][n2]: columns into a copy, twiddles, rows out transposed.
static kugel_status run_long(const kugel_fft *p, const pass *t, const kugel__longline *l)
{
  view matrix = {.ndim = 2, .shape = {l->n1, l->n2}, .stride = {l->n2, 1}}, from = matrix, to = matrix;
  int64_t lines = 1;
  for (int d = 0; d < t->in->ndim; d++)
    lines *= d == t->at ? 1 : t->in->shape[d];
  if (lines == 0)
    return KUGEL_OK;
  matrix.data = kugel__scratch_get(p->ctx, (size_t)l->n * 16);
  KUGEL_CHECK(matrix.data, KUGEL_ENOMEM, "no memory for a line of %lld points", (long long)l->n);
  kugel_status s = KUGEL_OK;
  for (int64_t i = 0; i < lines && !s; i++) {
    int64_t in, out, si = t->in->stride[t->at], so = t->out->stride[t->at];
    locate(t, i, &in, &out);
    from.data = t->in->data + 16 * in;
    from.stride[0] = l->n2 * si;
    from.stride[1] = si;
    to.data = t->out->data + 16 * out;
    to.stride[0] = so;
    to.stride[1] = l->n1 * so;
    pass columns = {
        .axis = &l->first, .in = &from, .out = &matrix, .at = 0, .inverse = t->inverse, .scale = 1};
    pass rows = {
        .axis = &l->second, .in = &matrix, .out = &to, .at = 1, .inverse = t->inverse, .scale = t->scale};
    s = run_pass(p, &columns);
    s = s ? s : kugel__longline_twiddle(p->ctx, l, t->inverse, (double *)(void *)matrix.data);
    s = s ? s : run_pass(p, &rows);
  }
  kugel__scratch_put(p->ctx, matrix.data);
  return s;
}

static kugel_status run_axis(const kugel_fft *p, int i, int sign, const view *in, const view *out,
                             double scale)
{
  const kugel__axis *back = p->inverse[i].lanes ? &p->inverse[i] : &p->forward[i];
  pass t = {.axis = sign == KUGEL_INVERSE ? back : &p->forward[i],
            .in = in,
            .out = out,
            .at = in->ndim - p->ndim + p->axes[i],
            .inverse = sign == KUGEL_INVERSE,
            .f32 = p->opts.single_precision != 0,
            .scale = scale};
  return p->longline[i].table ? run_long(p, &t, &p->longline[i]) : run_pass(p, &t);
}

// Complex to real over several axes needs the input for itself.
static kugel_status complex_to_real(const kugel_fft *p, const view *in, const view *out, double scale)
{
  int last = p->naxes - 1;
  if (last == 0)
    return run_axis(p, 0, KUGEL_INVERSE, in, out, scale);
  view copy = *in;
  int64_t count = 1;
  for (int d = in->ndim - 1; d >= 0; d--) {
    copy.stride[d] = count;
    count *= in->shape[d];
  }
  copy.data = kugel__scratch_get(p->ctx, (size_t)count * (p->opts.single_precision ? 8 : 16) + 1);
  KUGEL_CHECK(copy.data, KUGEL_ENOMEM, "no memory for a copy of %lld complex numbers", (long long)count);
  kugel_status s = KUGEL_OK;
  for (int i = 0; i < last && !s; i++)
    s = run_axis(p, i, KUGEL_INVERSE, i ? &copy : in, &copy, 1);
  if (!s)
    s = run_axis(p, last, KUGEL_INVERSE, &copy, out, scale);
  kugel__scratch_put(p->ctx, copy.data);
  return s;
}

kugel_status kugel_fft_execute(const kugel_fft *p, int sign, const kugel_array *in, const kugel_array *out)
{
  KUGEL_CHECK(p, KUGEL_EINVAL, "plan is NULL: make one with kugel_fft_create");
  KUGEL_CHECK(sign == KUGEL_FORWARD || sign == KUGEL_INVERSE, KUGEL_EINVAL,
              "sign is %d, must be KUGEL_FORWARD (-1) or KUGEL_INVERSE (1)", sign);
  bool r2c = p->opts.kind == KUGEL_FFT_R2C, c2c = p->opts.kind == KUGEL_FFT_C2C, back = sign == KUGEL_INVERSE;
  int64_t half[MAX_DIMS];
  memcpy(half, p->n, sizeof half);
  int last = p->axes[p->naxes - 1];
  half[last] = p->n[last] / 2 + 1;
  view vi, vo;
  KUGEL_TRY(take_view(p, in, "in", c2c || (r2c && back), r2c && back ? half : p->n, &vi));
  KUGEL_TRY(take_view(p, out, "out", c2c || (r2c && !back), r2c && !back ? half : p->n, &vo));
  KUGEL_CHECK(vi.ndim == vo.ndim, KUGEL_ESHAPE, "in has %d axes and out %d: they must be as many", vi.ndim,
              vo.ndim);
  KUGEL_TRY(check_places(p, &vi, in->dtype.bits / 8, &vo, out->dtype.bits / 8));
  double scale = back ? p->opts.inverse_scale : p->opts.forward_scale;
  if (r2c && back)
    return complex_to_real(p, &vi, &vo, scale);
  for (int i = p->naxes - 1; i >= 0; i--) // the last first: it makes reals complex
    KUGEL_TRY(run_axis(p, i, sign, i == p->naxes - 1 ? &vi : &vo, &vo, i == 0 ? scale : 1));
  return KUGEL_OK;
}
