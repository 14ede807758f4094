/* SPDX-License-Identifier: BSD-3-Clause */
/* Type 3: factors of strengths and results, and execution. */
#include <math.h>
#include "core/alloc.h"
#include "core/cpu.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "fft/roots/roots_dd.h"
#include "nufft/dd.h"
#include "nufft/third.h"

KUGEL_DISPATCH(kugel__nufft_decay_ops, kugel__nufft_decay_ops)

/* ---- factors ----
 *
 * Phases of distant boxes are large: a phase of 3e7 radians in double is known to 4e-9. So products and sums are kept as
 * sums of two doubles, high + low, and e^{i (high + low)} = e^{i high} e^{i low}. */

typedef struct phase {
  double high, low;
} phase;

static phase add_product(phase p, double a, double b)
{
  double high = a * b, low = fma(a, b, -high), sum = p.high + high, back = sum - p.high;
  return (phase){sum, p.low + low + ((p.high - (sum - back)) + (high - back))};
}

static void put_wave(bool single, void *to, int64_t i, phase p, int sign, double factor)
{
  bool none = p.high == 0 && p.low == 0; // boxes about 0
  double c = none ? 1 : cos(p.high), s = none ? 0 : sin(p.high), cl = 1, sl = p.low;
  if (fabs(p.low) > 1e-8) {
    cl = cos(p.low);
    sl = sin(p.low);
  }
  double re = factor * (c * cl - s * sl), im = sign * factor * (s * cl + c * sl);
  if (single) {
    ((float *)to)[2 * i] = (float)re;
    ((float *)to)[2 * i + 1] = (float)im;
  } else {
    ((double *)to)[2 * i] = re;
    ((double *)to)[2 * i + 1] = im;
  }
}

typedef struct factors {
  const kugel__third_maker *m;
  kugel__nufft_decay decay;
} factors;

/* e^{i sign D.x} */
static kugel_status make_before(void *arg, int64_t chunk)
{
  const factors *f = arg;
  const kugel__third_maker *m = f->m;
  for (int64_t i = chunk * KUGEL__THIRD_CHUNK; i < kugel__min(m->points.n, (chunk + 1) * KUGEL__THIRD_CHUNK);
       i++) {
    phase p = {0, 0};
    for (int d = 0; d < m->plan->ndim; d++)
      p = add_product(p, m->frequencies.centre[d], kugel__nufft_coordinate(&m->points, i, d));
    put_wave(m->plan->single, m->third->before, i, p, m->plan->sign, 1);
  }
  return KUGEL_OK;
}

/* e^{i sign C.(s - D)} / phihat */
static kugel_status make_after(void *arg, int64_t chunk)
{
  const factors *f = arg;
  const kugel__third_maker *m = f->m;
  const int64_t first = chunk * KUGEL__THIRD_CHUNK,
                n = kugel__min(m->frequencies.n - first, KUGEL__THIRD_CHUNK);
  double cycles[KUGEL__THIRD_CHUNK], decay[KUGEL__THIRD_CHUNK] = {0};
  for (int d = 0; d < m->plan->ndim; d++) {
    const double per_period = 1 / m->period[d];
    for (int64_t i = 0; i < n; i++)
      cycles[i] =
          (kugel__nufft_coordinate(&m->frequencies, first + i, d) - m->frequencies.centre[d]) * per_period;
    kugel__nufft_decay_ops_get()->add(&f->decay, n, cycles, decay);
  }
  for (int64_t i = 0; i < n; i++) {
    phase p = {0, 0};
    for (int d = 0; d < m->plan->ndim; d++) {
      if (m->points.centre[d] == 0)
        continue;
      p = add_product(p, m->points.centre[d], kugel__nufft_coordinate(&m->frequencies, first + i, d));
      p = add_product(p, -m->points.centre[d], m->frequencies.centre[d]);
    }
    put_wave(m->plan->single, m->third->after, first + i, p, m->plan->sign, exp(decay[i]));
  }
  return KUGEL_OK;
}

kugel_status kugel__third_factors(kugel__third_maker *m)
{
  kugel_ctx *ctx = m->plan->ctx;
  size_t number = m->plan->single ? 8 : 16;
  factors f = {.m = m};
  bool centred = true;
  kugel__nufft_decay_make(&m->kernel, &f.decay);
  for (int d = 0; d < m->plan->ndim; d++)
    centred &= m->frequencies.centre[d] == 0;
  if (!centred) {
    KUGEL_ALLOC(ctx, m->third->before, (size_t)kugel__max(1, m->points.n) * number);
    KUGEL_TRY(
        kugel__parallel(ctx, (m->points.n + KUGEL__THIRD_CHUNK - 1) / KUGEL__THIRD_CHUNK, make_before, &f));
  }
  KUGEL_ALLOC(ctx, m->third->after, (size_t)kugel__max(1, m->third->n) * number);
  return kugel__parallel(ctx, (m->third->n + KUGEL__THIRD_CHUNK - 1) / KUGEL__THIRD_CHUNK, make_after, &f);
}

/* ---- execution ---- */

/* y = x * factor, or with its conjugate; factor NULL: 1. Strides in complex numbers. */
typedef struct product {
  int64_t n, x_stride, y_stride;
  const void *x, *factor;
  void *y;
  bool conjugate;
} product;

#define MULTIPLY(name, real)                                                                                 \
  static void name(const product *p, int64_t first, int64_t end)                                             \
  {                                                                                                          \
    const real *x = p->x, *f = p->factor, sign = p->conjugate ? -1 : 1;                                      \
    real *y = p->y;                                                                                          \
    for (int64_t i = first; i < end; i++) {                                                                  \
      real a = x[2 * i * p->x_stride], b = x[2 * i * p->x_stride + 1];                                       \
      real c = f ? f[2 * i] : 1, d = f ? sign * f[2 * i + 1] : 0;                                            \
      y[2 * i * p->y_stride] = a * c - b * d;                                                                \
      y[2 * i * p->y_stride + 1] = a * d + b * c;                                                            \
    }                                                                                                        \
  }
MULTIPLY(multiply_f64, double)
MULTIPLY(multiply_f32, float)

static void multiply_dd(const product *p, int64_t first, int64_t end)
{
  for (int64_t i = first; i < end; i++) {
    const kugel__unit x = kugel__get_dd((const double *)p->x + 4 * i * p->x_stride);
    kugel__unit f =
        p->factor ? kugel__get_dd((const double *)p->factor + 4 * i) : (kugel__unit){{1, 0}, {0, 0}};
    f.sin = p->conjugate ? dd_neg(f.sin) : f.sin;
    kugel__put_dd((double *)p->y + 4 * i * p->y_stride, dd_sub(dd_mul(x.cos, f.cos), dd_mul(x.sin, f.sin)),
                  dd_add(dd_mul(x.cos, f.sin), dd_mul(x.sin, f.cos)));
  }
}

typedef struct products {
  const product *p;
  void (*multiply)(const product *p, int64_t first, int64_t end);
} products;

static kugel_status multiply_part(void *arg, int64_t chunk)
{
  const products *all = arg;
  int64_t first = chunk * KUGEL__THIRD_CHUNK, end = kugel__min(all->p->n, first + KUGEL__THIRD_CHUNK);
  all->multiply(all->p, first, end);
  return KUGEL_OK;
}

static kugel_status multiply(const kugel_nufft *plan, product p)
{
  products all = {&p, plan->dd ? multiply_dd : plan->single ? multiply_f32 : multiply_f64};
  return kugel__parallel(plan->ctx, (p.n + KUGEL__THIRD_CHUNK - 1) / KUGEL__THIRD_CHUNK, multiply_part, &all);
}

/* In double-double the shape has another number, 2, behind. */
static kugel_array array_of(const kugel_nufft *plan, void *data, int ndim, int64_t *shape)
{
  return (kugel_array){.data = data,
                       .device = {KUGEL_CPU, 0},
                       .ndim = plan->dd ? ndim + 1 : ndim,
                       .dtype = plan->single ? KUGEL_C64 : KUGEL_C128,
                       .shape = shape};
}

/* The two halves of an execution in their parts of its progress. */
static kugel_status outer_step(const kugel__nufft_third *t, bool adjoint, void *c, void *grid)
{
  kugel__span span = kugel__progress_enter(adjoint ? 0.7 : 0, adjoint ? 1 : 0.3);
  kugel_status s = KUGEL_OK;
  if (!adjoint)
    s = kugel__nufft_clear(t->outer, grid);
  if (!s && t->outer->dd)
    s = adjoint ? kugel__nufft_dd_interpolate(t->points, grid, c, 1)
                : kugel__nufft_dd_spread(t->points, c, 1, grid);
  else if (!s)
    s = adjoint ? kugel__nufft_interpolate(t->points, grid, t->outer->pitch, c, 1, 0)
                : kugel__nufft_spread(t->points, c, 1, 0, t->outer->pitch, grid);
  kugel__progress_leave(span);
  return s;
}

static kugel_status inner_step(const kugel__nufft_third *t, bool adjoint, void *f, void *grid)
{
  int64_t fine[4] = {t->outer->axis[0].fine, t->outer->axis[1].fine, t->outer->axis[2].fine},
          n[2] = {t->n, 2};
  fine[t->outer->ndim] = 2;
  kugel_array modes = array_of(t->outer, grid, t->outer->ndim, fine), values = array_of(t->outer, f, 1, n);
  kugel__span span = kugel__progress_enter(adjoint ? 0 : 0.3, adjoint ? 0.7 : 1);
  kugel_status s = adjoint ? kugel_nufft_adjoint(t->frequencies, &values, &modes, NULL)
                           : kugel_nufft_execute(t->frequencies, &modes, &values, NULL);
  kugel__progress_leave(span);
  return s;
}

static kugel_status run(const kugel_nufft_points *p, bool adjoint, product in, product out, void *c, void *f,
                        void *grid)
{
  const kugel__nufft_third *t = p->third;
  KUGEL_TRY(multiply(p->plan, in));
  if (!adjoint)
    KUGEL_TRY(outer_step(t, false, c, grid));
  KUGEL_TRY(inner_step(t, adjoint, f, grid));
  if (adjoint)
    KUGEL_TRY(outer_step(t, true, c, grid));
  return multiply(p->plan, out);
}

kugel_status kugel__nufft_third_run(const kugel_nufft_points *p, bool adjoint, const void *in,
                                    int64_t in_stride, void *out, int64_t out_stride)
{
  const kugel__nufft_third *t = p->third;
  size_t number = (size_t)kugel__nufft_number(p->plan);
  char *work = kugel__scratch_get(p->plan->ctx, (size_t)(p->n + t->n + t->outer->fine) * number);
  KUGEL_CHECK(work, KUGEL_ENOMEM, "no memory for a grid of %lld points", (long long)t->outer->fine);
  char *f = work + (size_t)t->outer->fine * number, *c = f + (size_t)t->n * number;
  product first = {.n = adjoint ? t->n : p->n,
                   .x_stride = in_stride,
                   .y_stride = 1,
                   .x = in,
                   .factor = adjoint ? t->after : t->before,
                   .y = adjoint ? f : c,
                   .conjugate = adjoint};
  product last = {.n = adjoint ? p->n : t->n,
                  .x_stride = 1,
                  .y_stride = out_stride,
                  .x = adjoint ? c : f,
                  .factor = adjoint ? t->before : t->after,
                  .y = out,
                  .conjugate = adjoint};
  kugel_status s = run(p, adjoint, first, last, c, f, work);
  kugel__scratch_put(p->plan->ctx, work);
  return s;
}
