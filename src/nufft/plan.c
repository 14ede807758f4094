/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans: tables, tiles, what they report. */
#include "nufft/plan.h"
#include <math.h>
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "nufft/dd.h"
#include "nufft/gpu.h"
#include "nufft/ranks.h"

/* ---- tables ---- */

static void put(bool single, void *table, int64_t i, double x)
{
  if (single)
    ((float *)table)[i] = (float)x;
  else
    ((double *)table)[i] = x;
}

static kugel_status make_tables(kugel_nufft *p)
{
  enum { POWERS = KUGEL__NUFFT_DEGREE + 1 };
  const kugel__nufft_kernel *k = &p->kernel;
  size_t real = p->single ? 4 : 8, across = (size_t)POWERS * KUGEL__NUFFT_ACROSS * real;
  p->tables = kugel__calloc(p->ctx, across + (size_t)POWERS * KUGEL__NUFFT_ALONG * real);
  KUGEL_CHECK(p->tables, KUGEL_ENOMEM, "no memory for tables of a kernel");
  void *along = (char *)p->tables + across;
  for (int i = 0; i <= k->degree; i++)
    for (int j = 0; j < k->width; j++) {
      put(p->single, p->tables, i * KUGEL__NUFFT_ACROSS + 2 * j, k->piece[i][j]);
      put(p->single, p->tables, i * KUGEL__NUFFT_ACROSS + 2 * j + 1, k->piece[i][j]);
      put(p->single, along, i * KUGEL__NUFFT_ALONG + j, k->piece[i][j]);
    }
  p->pitch = p->axis[p->ndim - 1].fine;
  p->pitch = p->real ? 2 * (p->pitch / 2 + 1) : p->pitch;
  p->tile = (kugel__nufft_tile){
      .ndim = p->ndim, .width = k->width, .degree = k->degree, .across = p->tables, .along = along};
  return KUGEL_OK;
}

static kugel_status make_scale(kugel_nufft *p, kugel__nufft_axis *a)
{
  kugel__nufft_decay decay;
  const bool half = p->real && a == &p->axis[p->ndim - 1]; // modes 0 to n / 2
  kugel__nufft_decay_make(&p->kernel, &decay);
  KUGEL_ALLOC(p->ctx, a->scale, (a->n + 1) * (int64_t)sizeof *a->scale);
  for (int64_t i = 0; half && i <= a->n / 2; i++)
    a->scale[i] = exp(kugel__nufft_decay_at(&decay, (double)i / (double)a->fine));
  for (int64_t i = 0; !half && i < a->n; i++) {
    int64_t k = p->fft_order ? (i < (a->n + 1) / 2 ? i : i - a->n) : i - a->n / 2,
            mirror = p->fft_order ? a->n - i : a->n / 2 - k;
    bool known = p->fft_order ? k < 0 && -k < (a->n + 1) / 2 : k > 0;
    a->scale[i] = known ? a->scale[mirror] : exp(kugel__nufft_decay_at(&decay, (double)k / (double)a->fine));
  }
  return KUGEL_OK;
}

/* ---- tiles ---- */

static kugel_status cut(kugel_nufft *p)
{
  /* cells of a tile along each axis, the last one last: with its margin it stays in the second cache; tiles of a column, of
   * which two have more cells than any margin, and columns for threads */
  static const int64_t wish[3][3] = {{2048}, {32, 64}, {8, 32, 32}};
  enum { FEWEST = 2, MOST = 16, COLUMNS = 128 };
  int64_t margin = p->kernel.width - 1, stride = 1;
  p->tiles = p->fine = 1;
  for (int d = p->ndim - 1; d >= 0; d--) {
    kugel__nufft_axis *a = &p->axis[d];
    a->tiles = kugel__max(1, a->fine / wish[p->ndim - 1][d]);
    KUGEL_ALLOC(p->ctx, a->start, (a->tiles + 1) * (int64_t)sizeof *a->start);
    a->length = 0;
    for (int64_t i = 0; i <= a->tiles; i++) {
      a->start[i] = (i * a->fine + a->tiles - 1) / a->tiles;
      a->length = kugel__max(a->length, i ? a->start[i] - a->start[i - 1] : 0);
    }
    p->tiles *= a->tiles;
    p->fine *= a->fine;
    if (d == p->ndim - 2)
      p->tile.row = stride;
    if (d == p->ndim - 3)
      p->tile.plane = stride;
    stride *= a->length + margin;
  }
  p->buffer = stride;
  p->parts = p->ndim == 1
                 ? p->axis[0].tiles
                 : kugel__max(1, p->axis[0].tiles / kugel__max(FEWEST, kugel__min(MOST, p->tiles / COLUMNS)));
  return KUGEL_OK;
}

void kugel__nufft_set_period(kugel__nufft_axis *a, double period)
{
  const double two_pi = 6.283185307179586, two_pi_low = 2.4492935982947064e-16;
  a->period = period > 0 ? period : two_pi;
  a->period_low = period > 0 ? 0 : two_pi_low;
  a->cells = (double)a->fine / a->period;
  a->cells_low = (fma(-a->cells, a->period, (double)a->fine) - a->cells * a->period_low) / a->period;
}

static kugel_status make_axis(kugel_nufft *p, kugel__nufft_axis *a, double period)
{
  a->fine = kugel_fft_good_size(
      kugel__max(2 * p->kernel.width, (int64_t)ceil(p->kernel.upsampling * (double)a->n - 1e-9)));
  kugel__nufft_set_period(a, period);
  return make_scale(p, a);
}

kugel_status kugel__nufft_finish(kugel_nufft *p, bool ffts)
{
  KUGEL_TRY(make_tables(p));
  KUGEL_TRY(cut(p));
  for (int d = 0; d < p->ndim; d++)
    p->tile.slope[d] = -2 * p->axis[d].cells;
  for (int d = 0; ffts && d < p->ndim; d++) {
    kugel_fft_opts f = {.size = sizeof f, .precision = p->single ? KUGEL_PRECISION_F32 : KUGEL_PRECISION_F64};
    if (p->real && d == p->ndim - 1)
      f.kind = KUGEL_FFT_R2C;
    KUGEL_TRY(kugel_fft_create(p->ctx, 1, &p->axis[d].fine, &f, &p->fft[d]));
  }
  return KUGEL_OK;
}

static kugel_status make(kugel_nufft *p, const kugel_nufft_opts *o)
{
  const int64_t most = (int64_t)1 << 42;
  if (o->precision == KUGEL_PRECISION_DD)
    return kugel__nufft_dd_make(p, o);
  KUGEL_TRY(kugel__nufft_choose(p, o));
  if (p->third)
    return KUGEL_OK;
  double cells = 1;
  for (int d = 0; d < p->ndim; d++) {
    KUGEL_TRY(make_axis(p, &p->axis[d], o->period ? o->period[d] : 0));
    cells *= (double)p->axis[d].fine;
    KUGEL_CHECK(cells <= (double)most, KUGEL_EINVAL,
                "the fine grid has more than 2^42 points: use fewer modes");
  }
  if (p->ctx->device.type != KUGEL_CPU)
    return kugel__nufft_gpu_create(p);
  return kugel__nufft_finish(p, true);
}

/* ---- plans that are parts of others: points on a grid without FFT, or modes on a grid without points ---- */

static kugel_status lay_out(kugel_nufft *p, const kugel__nufft_bare *b)
{
  for (int d = 0; d < b->ndim; d++) {
    kugel__nufft_axis *a = &p->axis[d];
    a->n = b->n[d];
    a->fine = b->fine[d];
    kugel__nufft_set_period(a, b->period[d]);
    KUGEL_ALLOC(p->ctx, a->scale, a->n * (int64_t)sizeof *a->scale);
    for (int64_t i = 0; i < a->n; i++)
      a->scale[i] = 1;
  }
  return kugel__nufft_finish(p, b->ffts);
}

kugel_status kugel__nufft_bare_create(kugel_ctx *ctx, const kugel__nufft_bare *b, kugel_nufft **out)
{
  kugel_nufft *p = kugel__calloc(ctx, sizeof *p);
  KUGEL_CHECK(p, KUGEL_ENOMEM, "no memory for a plan");
  p->ctx = kugel__ctx_retain(ctx);
  atomic_init(&p->references, 1);
  p->ndim = b->ndim;
  p->single = b->single;
  p->real = b->real;
  p->fft_order = b->fft_order;
  p->to_modes = true;
  p->sign = KUGEL_INVERSE;
  p->kernel.width = 1;
  if (b->kernel)
    p->kernel = *b->kernel;
  kugel_status s = lay_out(p, b);
  if (s) {
    kugel_nufft_destroy(p);
    return s;
  }
  *out = p;
  return KUGEL_OK;
}

/* ---- the public functions ---- */

static kugel_status check(const kugel_ctx *ctx, int ndim, const int64_t *n, const kugel_nufft_opts *o)
{
  double modes = 1;
  KUGEL_CHECK(ndim >= 1 && ndim <= 3, KUGEL_EINVAL, "ndim is %d, must be 1 to 3", ndim);
  bool third = o->type == KUGEL_NUFFT_TO_FREQUENCIES;
  KUGEL_CHECK(n || third, KUGEL_EINVAL, "n is NULL: pass %d numbers of modes", ndim);
  KUGEL_CHECK(!third || (!n && !o->period && !o->fft_order), KUGEL_EINVAL,
              "type 3 has no modes: leave n, period and fft_order out");
  for (int d = 0; d < ndim && !third; d++) {
    KUGEL_CHECK(n[d] >= 1 && n[d] <= (int64_t)1 << 31, KUGEL_EINVAL, "n[%d] is %lld, must be 1 to 2^31", d,
                (long long)n[d]);
    KUGEL_CHECK(!o->period || (o->period[d] > 1e-150 && o->period[d] < 1e150), KUGEL_EINVAL,
                "period[%d] is %g, must be 1e-150 to 1e150", d, o->period ? o->period[d] : 0);
    modes *= (double)n[d];
  }
  KUGEL_CHECK(modes <= 0x1p40, KUGEL_EINVAL, "n has %g modes in all, must be at most 2^40", modes);
  KUGEL_CHECK(o->type == KUGEL_NUFFT_TO_MODES || o->type == KUGEL_NUFFT_TO_POINTS || third, KUGEL_EINVAL,
              "type is %d, must be KUGEL_NUFFT_TO_MODES (1), TO_POINTS (2) or TO_FREQUENCIES (3)",
              (int)o->type);
  KUGEL_CHECK(o->sign >= -1 && o->sign <= 1, KUGEL_EINVAL,
              "sign is %d, must be KUGEL_FORWARD (-1), KUGEL_INVERSE (1) or 0 for the default", o->sign);
  KUGEL_CHECK(o->precision >= KUGEL_PRECISION_F64 && o->precision <= KUGEL_PRECISION_DD, KUGEL_EINVAL,
              "precision is %d, must be KUGEL_PRECISION_F64 (0), F32 (1) or DD (2)", (int)o->precision);
  KUGEL_CHECK(
      o->precision != KUGEL_PRECISION_DD ||
          (ctx->device.type == KUGEL_CPU && !o->gradient && !o->real && !o->comm),
      KUGEL_ENOTSUP,
      "precision is KUGEL_PRECISION_DD, whose plans are on the CPU, without gradient, real and comm: leave "
      "those out");
  KUGEL_CHECK(o->gradient == 0 || o->gradient == 1, KUGEL_EINVAL, "gradient is %d, must be 0 or 1",
              o->gradient);
  KUGEL_CHECK(!o->gradient || !third, KUGEL_EINVAL,
              "gradient is 1, must be 0 for type 3: make a plan of type 2");
  KUGEL_CHECK(ctx->device.type == KUGEL_CPU || !third, KUGEL_ENOTSUP,
              "type 3 runs on the CPU: use a context with device \"cpu\"");
  KUGEL_CHECK(o->real == 0 || o->real == 1, KUGEL_EINVAL, "real is %d, must be 0 or 1", o->real);
  KUGEL_CHECK(!o->real || (!third && !o->gradient), KUGEL_EINVAL,
              "real is 1, must be 0 %s: pass complex data", third ? "for type 3" : "with gradients");
  KUGEL_CHECK(ctx->device.type == KUGEL_CPU || !o->real, KUGEL_ENOTSUP,
              "real data is transformed on the CPU: use a context with device \"cpu\", or complex data");
  KUGEL_CHECK(o->fft_order == 0 || o->fft_order == 1, KUGEL_EINVAL, "fft_order is %d, must be 0 or 1",
              o->fft_order);
  KUGEL_CHECK(!o->comm || (ndim > 1 && !third), KUGEL_ENOTSUP,
              "ranks share types 1 and 2 in two and three dimensions: leave comm out of %s plans",
              third ? "type 3" : "one-dimensional");
  KUGEL_CHECK(!o->comm || ctx->device.type == KUGEL_CPU, KUGEL_ENOTSUP,
              "plans over ranks run on the CPU: make the context with device \"cpu\"");
  return KUGEL_OK;
}

static kugel_status create(kugel_ctx *ctx, int ndim, const int64_t *n, kugel_nufft_opts o, kugel_nufft **out)
{
  KUGEL_TRY(check(kugel__ctx(ctx), ndim, n, &o));
  kugel_nufft *p = kugel__calloc(ctx, sizeof *p);
  KUGEL_CHECK(p, KUGEL_ENOMEM, "no memory for a plan");
  p->ctx = kugel__ctx_retain(ctx);
  atomic_init(&p->references, 1);
  p->ndim = ndim;
  p->to_modes = o.type != KUGEL_NUFFT_TO_POINTS;
  p->third = o.type == KUGEL_NUFFT_TO_FREQUENCIES;
  p->sign = o.sign ? o.sign : p->to_modes ? KUGEL_INVERSE : KUGEL_FORWARD;
  p->single = o.precision == KUGEL_PRECISION_F32;
  p->fft_order = o.fft_order != 0;
  p->gradient = o.gradient != 0;
  p->real = o.real != 0;
  for (int d = 0; d < ndim; d++)
    p->axis[d].n = n ? n[d] : 1;
  kugel_status s = make(p, &o);
  if (!s && o.comm)
    s = kugel__nufft_ranks_create(p, o.comm);
  if (s) {
    kugel_nufft_destroy(p);
    return s;
  }
  *out = p;
  return KUGEL_OK;
}

kugel_status kugel_nufft_create(kugel_ctx *ctx, int ndim, const int64_t *n, const kugel_nufft_opts *opts,
                                kugel_nufft **out)
{
  KUGEL_CHECK(out, KUGEL_EINVAL, "out is NULL: pass where to put the plan");
  *out = NULL;
  kugel_nufft_opts o;
  KUGEL_TRY(kugel__take_opts(&o, sizeof o, opts, "kugel_nufft_opts"));
  if (!o.comm)
    return create(ctx, ndim, n, o, out);
  kugel__comm_enter(o.comm);
  kugel_status s = kugel__comm_leave(o.comm, create(ctx, ndim, n, o, out));
  if (s) {
    kugel_nufft_destroy(*out);
    *out = NULL;
  }
  return s;
}

void kugel__nufft_release(kugel_nufft *p)
{
  if (!p || atomic_fetch_sub(&p->references, 1) > 1)
    return;
  kugel_ctx *ctx = p->ctx;
  kugel__nufft_gpu_destroy(p);
  kugel__nufft_ranks_destroy(p);
  kugel__nufft_dd_destroy(p);
  for (int d = 0; d < p->ndim; d++) {
    kugel_fft_destroy(p->fft[d]);
    kugel__free(ctx, p->axis[d].scale);
    kugel__free(ctx, p->axis[d].start);
  }
  kugel__free(ctx, p->tables);
  kugel__free(ctx, p);
  kugel_ctx_destroy(ctx);
}

void kugel_nufft_destroy(kugel_nufft *plan)
{
  kugel__nufft_release(plan);
}

kugel_status kugel_nufft_get_info(const kugel_nufft *p, kugel_nufft_info *info)
{
  KUGEL_CHECK(p && info, KUGEL_EINVAL, "plan or info is NULL: pass both");
  kugel_nufft_info whole = {.ndim = p->ndim,
                            .type = p->third      ? KUGEL_NUFFT_TO_FREQUENCIES
                                    : p->to_modes ? KUGEL_NUFFT_TO_MODES
                                                  : KUGEL_NUFFT_TO_POINTS,
                            .sign = p->sign,
                            .precision = p->single ? KUGEL_PRECISION_F32
                                         : p->dd   ? KUGEL_PRECISION_DD
                                                   : KUGEL_PRECISION_F64,
                            .width = p->kernel.width,
                            .upsampling = p->kernel.upsampling,
                            .error = p->error};
  for (int d = 0; d < p->ndim; d++) {
    whole.n[d] = p->axis[d].n;
    whole.fine[d] = p->axis[d].fine;
  }
  whole.bytes = (uint64_t)(p->ctx->device.type == KUGEL_CPU && !p->third ? kugel__nufft_grid(p)
                                                                         : p->fine * (p->single ? 8 : 16)) +
                (uint64_t)(kugel__ctx_threads(p->ctx) * p->buffer * kugel__nufft_number(p));
  whole.modes_count = p->ndim > 1 ? kugel__nufft_modes(p, 1) : 0;
  if (p->ranks) {
    whole.modes_first = p->ranks->row[p->ranks->rank];
    whole.modes_count = p->ranks->row[p->ranks->rank + 1] - whole.modes_first;
  }
  return kugel__give_info(info, &whole, sizeof whole, "kugel_nufft_info");
}
