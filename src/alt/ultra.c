/* SPDX-License-Identifier: BSD-3-Clause */
/* Changes between bases of ultraspherical polynomials: by sums, or by FFTs (Townsend, Webb & Olver 2018). There the Hankel matrix
 * is a sum of few outer products l l^T, by Cholesky's factorisation with pivots relative to the diagonal: absolute pivots lose
 * three digits of small rows. */
#include <math.h>
#include <string.h>
#include <kugel/fft.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "core/dd.h"
#include "core/parallel.h"
#include "polynomial/systems.h"
#include "alt/ultra.h"
#include "alt/ultra_gpu.h"

KUGEL_DISPATCH(kugel__ultra_ops, kugel__ultra_ops)

enum { ROWS = 256, COLUMNS = 8 /* of the Hankel matrix, transformed at once */, FAST_FROM = 8192 };

/* One parity of the fast way, rows `off` ... m - 1. */
typedef struct half {
  int64_t m, off, rank, length; /* length of FFTs */
  double *factor;               /* [rank][m - off] */
  double *spectrum;             /* [length / 2 + 1] complex: of t */
  kugel_fft *fft;
} half;

struct kugel_ultra {
  kugel_ctx *ctx;
  int64_t n;
  bool fast;
  double *t, *backward, *h, *r, *s; /* backward: t reversed, [n / 2 + 1] */
  half half[2];
  kugel__ultra_gpu gpu; /* poly NULL on the CPU */
};

void kugel__ultra_tables(double lambda, double mu, int64_t n, double *t, double *h, double *r, double *s)
{
  kugel__dd v = dd_from(1), difference = dd_two_sum(lambda, -mu);
  for (int64_t k = 0; k <= n / 2; k++) {
    t[k] = dd_value(v);
    v = dd_div(dd_mul(v, dd_add_d(difference, (double)k)), dd_from((double)k + 1));
  }
  v = dd_from(1);
  for (int64_t p = 0; p <= n; p++) {
    h[p] = dd_value(v);
    double up = lambda > 0 ? lambda : p ? 0 : 1; /* lambda = 0: 1 / (mu + 1) for p = 1; h_0 stands for T_0 */
    v = dd_div(dd_mul(v, dd_two_sum(up, (double)p)), dd_two_sum(mu + 1, (double)p));
  }
  for (int64_t i = 0; i < n; i++) {
    r[i] = mu > 0 ? ((double)i + mu) / mu : i ? 2 : 1;
    s[i] = lambda > 0 || !i ? 1 : (double)i / 2;
  }
}

/* H_ab = h[a + b], a, b < m, as sum of outer products; *out [*rank][m]. */
static kugel_status factorise(kugel_ctx *ctx, const double *h, int64_t m, double **out, int64_t *rank)
{
  int64_t room = kugel__min(m, 32), r = 0;
  double *d, *l = NULL;
  KUGEL_ALLOC(ctx, d, sizeof *d * (size_t)m);
  for (int64_t i = 0; i < m; i++)
    d[i] = h[2 * i];
  l = kugel__alloc(ctx, sizeof *l * (size_t)(room * m));
  while (l && r < m) {
    int64_t pivot = 0;
    double most = 0;
    for (int64_t i = 0; i < m; i++)
      if (d[i] / h[2 * i] > most) {
        most = d[i] / h[2 * i];
        pivot = i;
      }
    if (!(most > 1e-15))
      break;
    if (r == room) {
      double *more = kugel__alloc(ctx, sizeof *l * (size_t)(2 * room * m));
      if (more)
        memcpy(more, l, sizeof *l * (size_t)(room * m));
      kugel__free(ctx, l);
      l = more;
      room *= 2;
      if (!l)
        break;
    }
    double *c = l + r * m, scale = 1 / sqrt(d[pivot]);
    memcpy(c, h + pivot, sizeof *c * (size_t)m);
    for (int64_t q = 0; q < r; q++) {
      const double *before = l + q * m;
      double f = before[pivot];
      for (int64_t i = 0; i < m; i++)
        c[i] -= f * before[i];
    }
    for (int64_t i = 0; i < m; i++) {
      c[i] *= scale;
      d[i] -= c[i] * c[i];
    }
    d[pivot] = 0;
    r++;
  }
  kugel__free(ctx, d);
  KUGEL_CHECK(l, KUGEL_ENOMEM, "no memory for %lld columns of %lld numbers", (long long)room, (long long)m);
  *out = l;
  *rank = r;
  return KUGEL_OK;
}

static kugel_status make_half(kugel_ultra *p, int parity, double lambda)
{
  half *x = &p->half[parity];
  x->m = (p->n - parity + 1) / 2;
  x->off = lambda > 0 || parity ? 0 : 1;
  int64_t m = x->m - x->off;
  if (!p->fast || m < 1)
    return KUGEL_OK;
  KUGEL_TRY(factorise(p->ctx, p->h + parity + 2 * x->off, m, &x->factor, &x->rank));
  x->length = kugel_fft_good_size(2 * m);
  x->spectrum = kugel__alloc(p->ctx, 16 * (size_t)(x->length / 2 + 1));
  double *line = kugel__calloc(p->ctx, sizeof *line * (size_t)x->length);
  kugel_status s = x->spectrum && line
                       ? KUGEL_OK
                       : KUGEL_FAIL(KUGEL_ENOMEM, "no memory for FFTs of length %lld", (long long)x->length);
  if (!s)
    s = kugel_fft_create(p->ctx, 1, &x->length,
                         &(kugel_fft_opts){.size = sizeof(kugel_fft_opts),
                                           .kind = KUGEL_FFT_R2C,
                                           .inverse_scale = 1 / (double)x->length},
                         &x->fft);
  if (!s) {
    memcpy(line, p->t, sizeof *line * (size_t)m);
    s = kugel_fft_execute(x->fft, KUGEL_FORWARD, KUGEL_ARRAY(line, KUGEL_F64, x->length),
                          KUGEL_ARRAY(x->spectrum, KUGEL_C128, x->length / 2 + 1), NULL);
  }
  kugel__free(p->ctx, line);
  return s;
}

static kugel_status fill(kugel_ultra *p, const kugel_ultra_opts *o)
{
  size_t n = (size_t)p->n;
  KUGEL_ALLOC(p->ctx, p->t, sizeof(double) * (4 * n + 4));
  p->backward = p->t + n / 2 + 1;
  p->h = p->backward + n / 2 + 1;
  p->r = p->h + n + 1;
  KUGEL_ALLOC(p->ctx, p->s, sizeof(double) * n);
  kugel__ultra_tables(o->from, o->to, p->n, p->t, p->h, p->r, p->s);
  for (size_t k = 0; k <= n / 2; k++)
    p->backward[k] = p->t[n / 2 - k];
  KUGEL_CHECK(isfinite(p->t[n / 2]) && isfinite(p->h[n]), KUGEL_EINVAL,
              "from is %g and to is %g: the coefficients of n = %lld exceed the range of double; choose them "
              "closer to each other",
              o->from, o->to, (long long)p->n);
  if (p->ctx->device.type != KUGEL_CPU)
    return kugel__ultra_gpu_create(p->ctx, p->n, p->t, p->h, p->r, p->s, &p->gpu);
  KUGEL_TRY(make_half(p, 0, o->from));
  return make_half(p, 1, o->from);
}

kugel_status kugel_ultra_create(kugel_ctx *ctx, const kugel_ultra_opts *opts, kugel_ultra **out)
{
  KUGEL_CHECK(out, KUGEL_EINVAL, "out is NULL: pass where to put the plan");
  *out = NULL;
  KUGEL_CHECK(opts, KUGEL_EINVAL, "opts is NULL: pass n and the two families");
  kugel_ultra_opts o;
  KUGEL_TRY(kugel__take_opts(&o, sizeof o, opts, "kugel_ultra_opts"));
  KUGEL_CHECK(o.n >= 1 && o.n <= 1 << 24, KUGEL_EINVAL, "n is %lld, must be 1 to 2^24", (long long)o.n);
  KUGEL_CHECK(o.from >= 0 && o.from <= 1000, KUGEL_EINVAL, "from is %g, must be 0 to 1000", o.from);
  KUGEL_CHECK(o.to >= 0 && o.to <= 1000, KUGEL_EINVAL, "to is %g, must be 0 to 1000", o.to);
  KUGEL_CHECK((int)o.method >= 0 && o.method <= KUGEL_ULTRA_FAST, KUGEL_EINVAL,
              "method is %d, must be KUGEL_ULTRA_AUTO (0), DIRECT (1) or FAST (2)", (int)o.method);
  bool near = fabs(o.to - o.from) < 1;
  KUGEL_CHECK(near || o.method != KUGEL_ULTRA_FAST, KUGEL_EINVAL,
              "to - from is %g: KUGEL_ULTRA_FAST needs less than 1, choose KUGEL_ULTRA_DIRECT",
              o.to - o.from);
  kugel_ctx *held = kugel__ctx_retain(ctx);
  bool cpu = held->device.type == KUGEL_CPU, fast = o.method == KUGEL_ULTRA_FAST;
  kugel_ultra *p = cpu || !fast ? kugel__calloc(held, sizeof *p) : NULL;
  if (!p) {
    kugel_ctx_destroy(held);
    KUGEL_CHECK(cpu || !fast, KUGEL_ENOTSUP,
                "method is KUGEL_ULTRA_FAST, which runs on the CPU: pass a context of it, or choose DIRECT");
    return KUGEL_FAIL(KUGEL_ENOMEM, "no memory for a plan of %zu bytes", sizeof *p);
  }
  p->ctx = held;
  p->n = o.n;
  p->fast =
      cpu && near && (o.method == KUGEL_ULTRA_FAST || (o.method == KUGEL_ULTRA_AUTO && o.n >= FAST_FROM));
  kugel_status s = fill(p, &o);
  if (s) {
    kugel_ultra_destroy(p);
    return s;
  }
  *out = p;
  return KUGEL_OK;
}

void kugel_ultra_destroy(kugel_ultra *p)
{
  if (!p)
    return;
  kugel_ctx *ctx = p->ctx;
  kugel__poly_destroy(p->gpu.poly);
  for (int i = 0; i < 2; i++) {
    kugel__free(ctx, p->half[i].factor);
    kugel__free(ctx, p->half[i].spectrum);
    kugel_fft_destroy(p->half[i].fft);
  }
  kugel__free(ctx, p->t);
  kugel__free(ctx, p->s);
  kugel__free(ctx, p);
  kugel_ctx_destroy(ctx);
}

typedef struct call {
  const kugel_ultra *p;
  bool adjoint;
  kugel__systems in, out;
  int64_t systems, chunks; /* of rows, both parities */
  double *room;            /* n / 2 + 1 numbers per worker */
} call;

/* Elements of one parity of a lane, times what stands before the matrix. */
static void gather(const call *c, int64_t lane, int parity, double *x)
{
  const kugel_ultra *p = c->p;
  const double *factor = c->adjoint ? p->r : p->s;
  kugel__rows rows;
  kugel__systems_rows(&c->in, 0, c->systems, lane, 1, &rows);
  const double *from = rows.at[0];
  for (int64_t b = 0; b < p->half[parity].m; b++)
    x[b] = factor[2 * b + parity] * from[(2 * b + parity) * rows.step];
}

static double *target(const call *c, int64_t lane, int64_t *step)
{
  kugel__rows rows;
  kugel__systems_rows(&c->out, 0, c->systems, lane, 1, &rows);
  *step = rows.step;
  return rows.at[0];
}

/* Row a of the matrix of a parity, or of its transpose, without the diagonal factor after it. */
static double matrix_row(const call *c, int parity, int64_t a, const double *x)
{
  const kugel_ultra *p = c->p;
  const kugel__ultra_ops *ops = kugel__ultra_ops_get();
  if (!c->adjoint)
    return ops->dot3(p->t, p->h + parity + 2 * a, x + a, p->half[parity].m - a);
  return ops->dot3(p->backward + p->n / 2 - a, p->h + parity + a, x, a + 1);
}

static kugel_status direct_rows(void *arg, int64_t task, int worker)
{
  const call *c = arg;
  const kugel_ultra *p = c->p;
  int64_t lane = task / c->chunks, chunk = task % c->chunks, step;
  int parity = (int)(chunk % 2);
  double *x = c->room + (int64_t)worker * (p->n / 2 + 1), *out = target(c, lane, &step);
  const double *factor = c->adjoint ? p->s : p->r;
  int64_t first = chunk / 2 * ROWS, last = kugel__min(first + ROWS, p->half[parity].m);
  if (first < last)
    gather(c, lane, parity, x);
  for (int64_t a = first; a < last; a++)
    out[(2 * a + parity) * step] = factor[2 * a + parity] * matrix_row(c, parity, a, x);
  return KUGEL_OK;
}

/* z = conj(t) z, or t z for the transpose. */
static void filter(const half *h, bool adjoint, int64_t lines, double *z)
{
  int64_t count = h->length / 2 + 1;
  for (int64_t i = 0; i < lines; i++, z += 2 * count)
    for (int64_t k = 0; k < count; k++) {
      double re = h->spectrum[2 * k], im = adjoint ? h->spectrum[2 * k + 1] : -h->spectrum[2 * k + 1];
      double u = z[2 * k], v = z[2 * k + 1];
      z[2 * k] = u * re - v * im;
      z[2 * k + 1] = u * im + v * re;
    }
}

/* One parity of one lane; line: COLUMNS lines of reals, z: of their spectra, x: the elements, y: results. */
static kugel_status fast_half(const call *c, int64_t lane, int parity, double *x, double *y, double *line,
                              double *z)
{
  const kugel_ultra *p = c->p;
  const half *h = &p->half[parity];
  int64_t m = h->m - h->off, step;
  const double *factor = c->adjoint ? p->s : p->r;
  double *out = target(c, lane, &step);
  gather(c, lane, parity, x);
  memset(y, 0, sizeof *y * (size_t)h->m);
  for (int64_t first = 0; first < h->rank; first += COLUMNS) {
    int64_t lines = kugel__min(COLUMNS, h->rank - first);
    memset(line, 0, sizeof *line * (size_t)(lines * h->length));
    for (int64_t q = 0; q < lines; q++)
      for (int64_t b = 0; b < m; b++)
        line[q * h->length + b] = h->factor[(first + q) * m + b] * x[h->off + b];
    kugel_array *reals = KUGEL_ARRAY(line, KUGEL_F64, lines, h->length),
                *spectra = KUGEL_ARRAY(z, KUGEL_C128, lines, h->length / 2 + 1);
    KUGEL_TRY(kugel_fft_execute(h->fft, KUGEL_FORWARD, reals, spectra, NULL));
    filter(h, c->adjoint, lines, z);
    KUGEL_TRY(kugel_fft_execute(h->fft, KUGEL_INVERSE, spectra, reals, NULL));
    for (int64_t q = 0; q < lines; q++)
      for (int64_t b = 0; b < m; b++)
        y[h->off + b] += h->factor[(first + q) * m + b] * line[q * h->length + b];
  }
  if (h->off && c->adjoint) /* the first row of the matrix is not of Hankel's form */
    for (int64_t b = 0; b < h->m; b++)
      y[b] += p->t[b] * p->h[b] * x[0];
  else if (h->off)
    y[0] = matrix_row(c, parity, 0, x);
  for (int64_t b = 0; b < h->m; b++)
    out[(2 * b + parity) * step] = factor[2 * b + parity] * y[b];
  return KUGEL_OK;
}

static kugel_status run_fast(const call *c, int64_t lanes)
{
  const kugel_ultra *p = c->p;
  int64_t length = kugel__max(p->half[0].length, p->half[1].length), m = p->half[0].m;
  size_t numbers = (size_t)(COLUMNS * (2 * length + 2) + 2 * m);
  double *room = kugel__scratch_get(p->ctx, sizeof *room * numbers), *x = room, *y = x + m, *line = y + m,
         *z = line + COLUMNS * length;
  KUGEL_CHECK(room, KUGEL_ENOMEM, "no memory for %d lines of %lld numbers", COLUMNS, (long long)length);
  kugel_status s = KUGEL_OK;
  for (int64_t i = 0; i < 2 * lanes && !s; i++)
    s = fast_half(c, i / 2, (int)(i % 2), x, y, line, z);
  kugel__scratch_put(p->ctx, room);
  return s;
}

static kugel_status execute(const kugel_ultra *p, bool adjoint, const kugel_array *in, const kugel_array *out,
                            kugel_queue *queue)
{
  KUGEL_CHECK(p, KUGEL_EINVAL, "plan is NULL: make one with kugel_ultra_create");
  KUGEL_CHECK(!queue || p->gpu.poly, KUGEL_EINVAL, "queue is not NULL: the plan runs on the CPU");
  KUGEL_CHECK(in, KUGEL_EINVAL, "in is NULL: pass an array");
  call c = {.p = p,
            .adjoint = adjoint,
            .systems = in->ndim >= 2 && in->ndim <= 32 && in->shape ? in->shape[in->ndim - 2] : 1};
  bool complex = in->dtype.code == KUGEL_COMPLEX;
  KUGEL_TRY(kugel__systems_on(p->ctx, in, "in", false, complex, c.systems, p->n, false, &c.in));
  KUGEL_TRY(kugel__systems_on(p->ctx, out, "out", false, complex, c.systems, p->n, true, &c.out));
  KUGEL_TRY(kugel__systems_match(&c.in, &c.out));
  if (p->gpu.poly)
    return kugel__ultra_gpu_run(&p->gpu, adjoint, in, out, &c.in, &c.out, in->ndim == 1 ? 1 : c.systems,
                                queue);
  int64_t lanes = c.in.parts * c.in.batch * c.systems;
  if (!c.in.data)
    return KUGEL_OK;
  if (p->fast)
    return run_fast(&c, lanes);
  c.chunks = 2 * ((p->half[0].m + ROWS - 1) / ROWS);
  int64_t workers = kugel__min(kugel__ctx_threads(p->ctx), lanes * c.chunks);
  c.room = kugel__scratch_get(p->ctx, (size_t)workers * sizeof *c.room * (size_t)(p->n / 2 + 1));
  KUGEL_CHECK(c.room, KUGEL_ENOMEM, "no memory for %lld lines of %lld numbers", (long long)workers,
              (long long)p->n / 2 + 1);
  kugel_status s = kugel__parallel_on(p->ctx, workers, lanes * c.chunks, direct_rows, &c);
  kugel__scratch_put(p->ctx, c.room);
  return s;
}

kugel_status kugel_ultra_execute(const kugel_ultra *plan, const kugel_array *in, const kugel_array *out,
                                 kugel_queue *queue)
{
  return execute(plan, false, in, out, queue);
}

kugel_status kugel_ultra_adjoint(const kugel_ultra *plan, const kugel_array *in, const kugel_array *out,
                                 kugel_queue *queue)
{
  return execute(plan, true, in, out, queue);
}

static kugel_status once(kugel_ctx *ctx, double from, double to, const kugel_array *in,
                         const kugel_array *out)
{
  kugel_ultra *plan;
  KUGEL_CHECK(in && in->ndim >= 1 && in->ndim <= 32 && in->shape, KUGEL_EINVAL,
              "in is not an array [..., n]");
  kugel_ultra_opts o = {.size = sizeof o, .n = in->shape[in->ndim - 1], .from = from, .to = to};
  KUGEL_TRY(kugel_ultra_create(ctx, &o, &plan));
  kugel_status s = kugel_ultra_execute(plan, in, out, NULL);
  kugel_ultra_destroy(plan);
  return s;
}

kugel_status kugel_cheb2leg(kugel_ctx *ctx, const kugel_array *in, const kugel_array *out)
{
  return once(ctx, 0, 0.5, in, out);
}

kugel_status kugel_leg2cheb(kugel_ctx *ctx, const kugel_array *in, const kugel_array *out)
{
  return once(ctx, 0.5, 0, in, out);
}
