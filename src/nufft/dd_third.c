/* SPDX-License-Identifier: BSD-3-Clause */
/* Type 3 in double-double: the parts and factors of nufft/third.c, whose formulas hold. `reach`, the upsampling times the half width S of
 * the frequencies, is a double: nodes of the outer grid are pi / reach apart, and the inner transform has the period 2 reach, which
 * is exact. Points keep their places in the grid, so that the outer grid needs no period. */
#include <math.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "fft/roots/roots_dd.h"
#include "nufft/dd.h"
#include "nufft/third.h"

static const kugel__dd PI_DD = {0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53};

typedef struct parts {
  const kugel__third_maker *m;
  double reach[3]; /* of the frequencies */
  kugel__nufft_dd_scale scale;
} parts;

/* ---- factors ---- */

/* Phases in fractions of a turn, to 2^-128 of their radians: products of doubles are sums of two. */
static kugel__turn add_product(kugel__turn t, double a, kugel__dd b)
{
  const kugel__dd part[2] = {dd_two_prod(a, b.hi), dd_two_prod(a, b.lo)};
  for (int i = 0; i < 2; i++) {
    t = kugel__turn_add(t, kugel__turn_radians(part[i].hi));
    t = kugel__turn_add(t, kugel__turn_radians(part[i].lo));
  }
  return t;
}

static void put_wave(const parts *p, void *to, int64_t i, kugel__turn t, kugel__dd factor)
{
  const kugel__unit w = kugel__root_dd(t);
  kugel__put_dd((double *)to + 4 * i, dd_mul(factor, w.cos),
                dd_mul(factor, p->m->plan->sign < 0 ? dd_neg(w.sin) : w.sin));
}

/* e^{i sign D.x} */
static kugel_status make_before(void *arg, int64_t chunk)
{
  const parts *p = arg;
  const kugel__third_maker *m = p->m;
  for (int64_t i = chunk * KUGEL__THIRD_CHUNK; i < kugel__min(m->points.n, (chunk + 1) * KUGEL__THIRD_CHUNK);
       i++) {
    kugel__turn t = KUGEL__NO_TURN;
    for (int d = 0; d < m->plan->ndim; d++)
      t = add_product(t, m->frequencies.centre[d], kugel__nufft_coordinate_dd(&m->points, i, d));
    put_wave(p, m->third->before, i, t, dd_from(1));
  }
  return KUGEL_OK;
}

/* e^{i sign C.(s - D)} / phihat */
static kugel_status make_after(void *arg, int64_t chunk)
{
  const parts *p = arg;
  const kugel__third_maker *m = p->m;
  for (int64_t i = chunk * KUGEL__THIRD_CHUNK; i < kugel__min(m->third->n, (chunk + 1) * KUGEL__THIRD_CHUNK);
       i++) {
    kugel__turn t = KUGEL__NO_TURN;
    kugel__dd factor = dd_from(1);
    for (int d = 0; d < m->plan->ndim; d++) {
      const kugel__dd s =
          dd_add_d(kugel__nufft_coordinate_dd(&m->frequencies, i, d), -m->frequencies.centre[d]);
      const kugel__dd f = dd_div(dd_mul_d(s, p->scale.upsampling), dd_from(p->reach[d]));
      t = add_product(t, m->points.centre[d], s);
      factor = dd_mul(factor, kugel__nufft_dd_scale_at(&p->scale, f));
    }
    put_wave(p, m->third->after, i, t, factor);
  }
  return KUGEL_OK;
}

static kugel_status make_factors(const parts *p)
{
  const kugel__third_maker *m = p->m;
  kugel_ctx *ctx = m->plan->ctx;
  const int64_t number = 32;
  bool centred = true;
  for (int d = 0; d < m->plan->ndim; d++)
    centred &= m->frequencies.centre[d] == 0;
  if (!centred) {
    KUGEL_ALLOC(ctx, m->third->before, kugel__max(1, m->points.n) * number);
    KUGEL_TRY(kugel__parallel(ctx, (m->points.n + KUGEL__THIRD_CHUNK - 1) / KUGEL__THIRD_CHUNK, make_before,
                              (void *)(uintptr_t)p));
  }
  KUGEL_ALLOC(ctx, m->third->after, kugel__max(1, m->third->n) * number);
  return kugel__parallel(ctx, (m->third->n + KUGEL__THIRD_CHUNK - 1) / KUGEL__THIRD_CHUNK, make_after,
                         (void *)(uintptr_t)p);
}

/* ---- grids ---- */

/* The kernel of the outer grid. Rounding errors are the same at all frequencies, and those at the corners of the box are enlarged
 * by the division along each axis, less so on a finer grid. A fixed upsampling is the caller's choice. */
static kugel_status choose_outer(const kugel_nufft *p, kugel_nufft *kernel)
{
  enum { MANY = 64 }; // frequencies are anywhere in the band
  const double rounding = 1e-32;
  for (double upsampling = p->upsampling > 0 ? p->upsampling : 2;; upsampling += 0.5) {
    KUGEL_TRY(kugel__nufft_dd_narrowest(kernel, 0.4 * p->tolerance, upsampling, MANY));
    const double gain = pow(kugel__third_edge_gain(kernel->kernel.width, upsampling), p->ndim);
    if (p->upsampling > 0 || upsampling >= 3 || rounding * gain <= 0.3 * p->tolerance)
      return KUGEL_OK;
  }
}

/* Of phases beyond, double-double knows no digit below 1e-20. */
static kugel_status check_phases(const kugel__third_maker *m)
{
  for (int d = 0; d < m->plan->ndim; d++) {
    const double x = fabs(m->points.centre[d]), s = fabs(m->frequencies.centre[d]),
                 phase = fmax(x * m->frequencies.half[d], s * (x + m->points.half[d]));
    KUGEL_CHECK(
        phase <= 0x1p39, KUGEL_EINVAL,
        "points about %g and frequencies about %g on axis %d have phases of up to %.3g, must be at most "
        "5.5e11 in double-double: measure both from nearer origins",
        m->points.centre[d], m->frequencies.centre[d], d, phase);
  }
  return KUGEL_OK;
}

/* Of the inner transform: the upsampling and the tolerance, below which is rounding. Small grids enlarge its errors; near the end of
 * the digits a finer grid enlarges rounding less. */
static double choose_inner(const kugel__third_maker *m, const double *cells, const kugel__nufft_kernel *k,
                           double *tolerance)
{
  const kugel_nufft *p = m->plan;
  double inner = p->upsampling > 0 ? p->upsampling : 2;
  for (int i = 0; i < 2; i++) {
    *tolerance =
        0.7 * p->tolerance / kugel__third_amplification(m, cells, k->width, k->gain, k->upsampling, inner);
    if (p->upsampling > 0 || *tolerance > 5e-29)
      break;
    inner = 2.5;
  }
  *tolerance = fmax(*tolerance, 1e-29);
  return inner;
}

kugel_status kugel__third_dd_make(kugel__third_maker *m)
{
  const kugel_nufft *p = m->plan;
  kugel__nufft_third *t = m->third;
  kugel_nufft kernel = {.ctx = p->ctx, .ndim = p->ndim};
  parts all = {.m = m};
  KUGEL_TRY(choose_outer(p, &kernel));
  const kugel__nufft_kernel *k = &kernel.kernel;
  double cells[3], count = 1, fine_count = 1, period[3], tolerance;
  int64_t fine[3];
  kugel__dd per_unit[3];
  for (int d = 0; d < p->ndim; d++) {
    cells[d] = 2 * k->upsampling * m->points.half[d] * m->frequencies.half[d] / M_PI + k->width + 1;
    count *= cells[d];
  }
  const double inner = choose_inner(m, cells, k, &tolerance);
  for (int d = 0; d < p->ndim; d++)
    fine_count *= inner * cells[d];
  KUGEL_TRY(kugel__third_check_memory(m, cells, 32 * (count + fine_count)));
  KUGEL_TRY(check_phases(m));
  for (int d = 0; d < p->ndim; d++) {
    all.reach[d] = k->upsampling * m->frequencies.half[d];
    fine[d] = kugel_fft_good_size(kugel__max(2 * k->width, (int64_t)ceil(cells[d])));
    per_unit[d] = dd_div(dd_from(all.reach[d]), PI_DD);
    period[d] = 2 * all.reach[d];
  }
  KUGEL_TRY(kugel__nufft_dd_outer(p, k, fine, per_unit, &t->outer));
  KUGEL_TRY(kugel__nufft_dd_inner(p, fine, tolerance, inner, period, &t->inner));
  KUGEL_TRY(kugel__third_place(t->outer, &m->points, &t->points));
  KUGEL_TRY(kugel__third_place(t->inner, &m->frequencies, &t->frequencies));
  kugel__nufft_dd_scale_make(k, &all.scale);
  return make_factors(&all);
}
