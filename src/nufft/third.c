/* SPDX-License-Identifier: BSD-3-Clause */
/* Type 3: boxes of points and frequencies, the grid between them, its kernels.
 *
 * With points within X of C and frequencies within S of D along an axis, and a grid of nf nodes per period P in x,
 *   f(s) = e^{i C (s - D)} sum_l b_l e^{i (l P / nf) (s - D)} / phihat((s - D) P / (2 pi nf)),
 * where b holds the strengths c_j e^{i D x_j}, spread at x_j - C (Lee & Greengard 2005, doi:10.1016/j.jcp.2004.12.004). The
 * sum is a transform of type 2 with period 2 pi nf / P. P = pi nf / (upsampling S) puts the frequencies into the band in
 * which phihat is large, and nf = 2 upsampling S X / pi + width + 1 keeps kernels from reaching around the period. */
#include <math.h>
#include "core/alloc.h"
#include "core/array.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "nufft/third.h"

/* ---- boxes ---- */

/* Half of the range, and its centre, which is 0 where that costs little: then there are no phases. */
static kugel_status enclose(kugel__nufft_places_of *s, int ndim)
{
  for (int d = 0; d < ndim; d++) {
    double lo = INFINITY, hi = -INFINITY;
    for (int64_t i = 0; i < s->n; i++) {
      double x = kugel__nufft_coordinate(s, i, d);
      KUGEL_CHECK(fabs(x) <= 1e140, KUGEL_EINVAL,
                  "coordinate %d of %s %lld is %g, must be finite and at most 1e140 in type 3", d, s->name,
                  (long long)i, x);
      lo = x < lo ? x : lo;
      hi = x > hi ? x : hi;
    }
    bool any = s->n > 0;
    s->centre[d] = any ? lo + (hi - lo) / 2 : 0;
    s->half[d] = any ? fmax(hi - s->centre[d], s->centre[d] - lo) : 0;
    if (fabs(s->centre[d]) < 0.1 * s->half[d]) {
      s->half[d] += fabs(s->centre[d]);
      s->centre[d] = 0;
    }
  }
  return KUGEL_OK;
}

/* A box of one point has some width, and the product of two widths is at least 1. */
static void widen(double *x, double *s)
{
  if (*x == 0 && *s == 0)
    *x = *s = 1;
  *x = fmax(*x, *s > 0 ? fmin(1 / *s, 1e140) : 0);
  *s = fmax(*s, 1 / *x);
  *x = fmax(*x, 1 / *s);
}

/* ---- kernels ---- */

typedef struct choice {
  double outer, inner;    /* upsamplings */
  int width;              /* of the outer kernel, modelled */
  double cells[3], bytes; /* of the grid, and of both grids */
} choice;

/* Of the tolerance the outer kernel has 0.4, as frequencies may all lie at the edges of their box, where its error is
 * largest, the inner one 0.7; they add in quadrature. The rounding of floats is enlarged by the outer kernel's division. */
static double inner_tolerance(const kugel__third_maker *m, const choice *c, int width, double gain)
{
  const kugel_nufft *p = m->plan;
  return fmax(
      0.7 * p->tolerance /
          (p->single ? gain : kugel__third_amplification(m, c->cells, width, gain, c->outer, c->inner)),
      p->single ? 5e-7 : 1e-14);
}

/* Rounding errors are the same at all frequencies, 5e-17 of the result at the centre, and those at the corners of the box are
 * enlarged by the division along each axis. A fixed upsampling is the caller's choice. */
static bool rounds_well(const kugel_nufft *p, int width, double upsampling)
{
  return p->single || p->upsampling > 0 ||
         5e-17 * pow(kugel__third_edge_gain(width, upsampling), p->ndim) <= 0.3 * p->tolerance;
}

/* Nanoseconds. */
static double cost(const kugel__third_maker *m, choice *c)
{
  const kugel_nufft *p = m->plan;
  int w = kugel__nufft_sure_width(0.4 * p->tolerance, p->ndim, c->outer);
  double cells = 1, pruned = 0, fine;
  c->width = w;
  for (int d = 0; d < p->ndim; d++) {
    c->cells[d] = 2 * c->outer * m->points.half[d] * m->frequencies.half[d] / M_PI + w + 1;
    cells *= c->cells[d];
    pruned += pow(c->inner, -d) / p->ndim;
  }
  int v = kugel__nufft_sure_width(inner_tolerance(m, c, w, kugel__third_edge_gain(w, c->outer)), p->ndim,
                                  c->inner);
  fine = cells * pow(c->inner, p->ndim);
  c->bytes = (cells + fine) * (p->single ? 8 : 16);
  if (w > KUGEL__NUFFT_WIDTH || v > KUGEL__NUFFT_WIDTH || !rounds_well(p, w, c->outer))
    return INFINITY;
  return (double)m->points.n * kugel__nufft_point_cost(p->ndim, p->single, w) +
         0.8 * (double)m->frequencies.n * kugel__nufft_point_cost(p->ndim, p->single, v) + 6 * cells +
         fine * (4 + 0.3 * log2(fine) * pruned);
}

enum { STEPS = 30 }; /* upsamplings that are tried: 1.25 to 3 */

static choice choose(const kugel__third_maker *m)
{
  choice best = {.outer = 2, .inner = 2}, c;
  double least = cost(m, &best), fixed = m->plan->upsampling;
  for (int i = 0; i < STEPS; i++)
    for (int j = 0; j < STEPS; j++) {
      c.outer = fixed > 0 ? fixed : 1.25 * pow(1.03, i);
      c.inner = fixed > 0 ? fixed : 1.25 * pow(1.03, j);
      double t = cost(m, &c);
      /* floats lose digits to a narrow grid */
      if (!(fixed > 0) && m->plan->single && c.outer < 2)
        continue;
      if (t < 0.98 * least || fixed > 0) {
        least = t;
        best = c;
      }
    }
  return best;
}

/* ---- plans of the parts ---- */

static kugel_status make_parts(kugel__third_maker *m)
{
  const kugel_nufft *p = m->plan;
  choice c = choose(m);
  kugel_nufft kernel = {.ctx = p->ctx, .ndim = p->ndim, .single = p->single};
  KUGEL_TRY(kugel__third_check_memory(m, c.cells, c.bytes));
  KUGEL_TRY(kugel__nufft_narrowest(&kernel, 0.4 * p->tolerance, c.outer));
  kugel__nufft_kernel_pieces(&kernel.kernel, 0);
  m->kernel = kernel.kernel;
  kugel__nufft_bare b = {.ndim = p->ndim, .single = p->single, .kernel = &m->kernel};
  double period[3], density = (double)m->frequencies.n;
  for (int d = 0; d < p->ndim; d++) {
    double cells = c.cells[d] - c.width + m->kernel.width;
    b.n[d] = 1;
    b.fine[d] = kugel_fft_good_size(kugel__max(2 * m->kernel.width, (int64_t)ceil(cells)));
    b.period[d] = M_PI * (double)b.fine[d] / (c.outer * m->frequencies.half[d]);
    period[d] = m->period[d] = 2 * M_PI * (double)b.fine[d] / b.period[d];
    density /= (double)b.fine[d];
  }
  KUGEL_TRY(kugel__nufft_bare_create(p->ctx, &b, &m->third->outer));
  kugel_nufft_opts o = {.size = sizeof o,
                        .type = KUGEL_NUFFT_TO_POINTS,
                        .sign = p->sign,
                        .precision = p->single ? KUGEL_PRECISION_F32 : KUGEL_PRECISION_F64,
                        .tolerance = inner_tolerance(m, &c, m->kernel.width, m->kernel.gain),
                        .fft_order = 1,
                        .period = period,
                        .upsampling = c.inner,
                        .density = density};
  if (p->single && c.inner < 2)
    o.upsampling = 0;
  KUGEL_TRY(kugel_nufft_create(p->ctx, p->ndim, b.fine, &o, &m->third->inner));
  KUGEL_TRY(kugel__third_place(m->third->outer, &m->points, &m->third->points));
  KUGEL_TRY(kugel__third_place(m->third->inner, &m->frequencies, &m->third->frequencies));
  return kugel__third_factors(m);
}

/* ---- the public function ---- */

static kugel_status take(const kugel_nufft *plan, const kugel_array *a, const char *name,
                         kugel__nufft_places_of *s)
{
  char text[256];
  KUGEL_CHECK(a && a->shape, KUGEL_EINVAL, "array of %ss is NULL: pass an array [number, %d]", name,
              plan->ndim);
  KUGEL_CHECK(a->device.type == KUGEL_CPU, KUGEL_EDEVICE,
              "array of %ss is on device type %d, this plan takes host memory", name, a->device.type);
  const bool twofold = plan->dd && a->ndim == 3 && a->shape[2] == 2; // numbers of two doubles
  KUGEL_CHECK((kugel__dtype_is(a->dtype, KUGEL_F64) || (kugel__dtype_is(a->dtype, KUGEL_F32) && !twofold)) &&
                  (a->ndim == 2 || twofold) && a->shape[1] == plan->ndim && a->shape[0] >= 0 &&
                  a->shape[0] <= INT32_MAX,
              KUGEL_ESHAPE, "array of %ss is %s, must be float64 or float32 [number, %d] of 0 to 2^31 - 1",
              name, kugel__array_describe(a, text, sizeof text), plan->ndim);
  KUGEL_TRY(kugel__array_check_reach(a, name, false));
  KUGEL_CHECK(a->data || a->shape[0] == 0, KUGEL_EINVAL, "array of %ss has data NULL", name);
  s->name = name;
  KUGEL_TRY(kugel__nufft_places_from(a, s));
  return enclose(s, plan->ndim);
}

static void destroy(kugel_ctx *ctx, kugel__nufft_third *t)
{
  kugel_nufft_points_destroy(t->points);
  kugel_nufft_points_destroy(t->frequencies);
  kugel_nufft_destroy(t->outer);
  kugel_nufft_destroy(t->inner);
  kugel__free(ctx, t->before);
  kugel__free(ctx, t->after);
  kugel__free(ctx, t);
}

static kugel_status make(kugel__third_maker *m, kugel_nufft_points *p)
{
  for (int d = 0; d < m->plan->ndim; d++)
    widen(&m->points.half[d], &m->frequencies.half[d]);
  p->third = m->third = kugel__calloc(m->plan->ctx, sizeof *m->third);
  KUGEL_CHECK(m->third, KUGEL_ENOMEM, "no memory for points");
  m->third->destroy = destroy;
  m->third->run = kugel__nufft_third_run;
  m->third->n = m->frequencies.n;
  return m->plan->dd ? kugel__third_dd_make(m) : make_parts(m);
}

kugel_status kugel_nufft_frequencies_create(const kugel_nufft *plan, const kugel_array *points,
                                            const kugel_array *frequencies, kugel_nufft_points **out)
{
  KUGEL_CHECK(out, KUGEL_EINVAL, "out is NULL: pass where to put the points");
  *out = NULL;
  KUGEL_CHECK(plan, KUGEL_EINVAL, "plan is NULL: make one by kugel_nufft_create");
  KUGEL_CHECK(plan->third, KUGEL_EINVAL, "the plan is not of type 3: use kugel_nufft_points_create");
  kugel__third_maker m = {.plan = plan};
  KUGEL_TRY(take(plan, points, "point", &m.points));
  KUGEL_TRY(take(plan, frequencies, "frequency", &m.frequencies));
  kugel_nufft_points *p = kugel__calloc(plan->ctx, sizeof *p);
  KUGEL_CHECK(p, KUGEL_ENOMEM, "no memory for points");
  p->plan = (kugel_nufft *)(uintptr_t)plan;
  atomic_fetch_add(&p->plan->references, 1);
  p->n = m.points.n;
  kugel__span span = kugel__progress_enter(0, 1);
  kugel_status s = make(&m, p);
  kugel__progress_leave(span);
  if (s) {
    kugel_nufft_points_destroy(p);
    return s;
  }
  *out = p;
  return KUGEL_OK;
}
