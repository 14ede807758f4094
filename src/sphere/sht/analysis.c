/* SPDX-License-Identifier: BSD-3-Clause */
/* Analysis: weighted adjoint synthesis, Jacobi refinement, its adjoint, and least squares by CGLS. */
#include <math.h>
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "sphere/sht/connection.h"
#include "sphere/sht/dist.h"
#include "sphere/sht/gpu.h"
#include "sphere/sht/latlon.h"
#include "sphere/grid/mapops.h"
#include "sphere/sht/sht.h"

// Scratch maps [n_map][npix] in double.
static kugel_status temporary_maps(const kugel_sht *p, kugel__maps *maps)
{
  double *block = kugel__scratch_get(p->ctx, (size_t)(p->n_map * p->npix * 8 + 64));
  KUGEL_CHECK(block, KUGEL_ENOMEM, "no memory for %d maps of %lld pixels", p->n_map, (long long)p->npix);
  memset(block, 0, (size_t)(p->n_map * p->npix * 8)); // pixels off the rings stay zero
  *maps = (kugel__maps){.f32 = false};
  for (int c = 0; c < p->n_map; c++)
    maps->data[c] = block + c * p->npix;
  return KUGEL_OK;
}

static kugel_status temporary_alms(const kugel_sht *p, kugel__alms *alms)
{
  double *block = kugel__scratch_get(p->ctx, (size_t)(p->n_alm * p->nalm * 16 + 64));
  KUGEL_CHECK(block, KUGEL_ENOMEM, "no memory for %d alm sets of %lld coefficients", p->n_alm,
              (long long)p->nalm);
  *alms = (kugel__alms){.f32 = false};
  for (int c = 0; c < p->n_alm; c++)
    alms->data[c] = block + 2 * c * p->nalm;
  return KUGEL_OK;
}

// alm (+)= W map, W = S^T times weights or the resampling in theta; with pixel weights the weighted map needs
// `work`, which may be `map` itself.
static kugel_status quadrature(const kugel_sht *p, const kugel__maps *map, const kugel__maps *work,
                               const kugel__alms *alm, bool accumulate)
{
  if (p->latlon)
    return kugel__latlon_analysis(p, map, alm, accumulate);
  if (kugel__connection_analyses(p))
    return (p->gpu ? kugel__sht_gpu_inverse : kugel__connection_analysis)(p, map, alm, accumulate);
  if (p->pixel_weight) {
    for (int c = 0; c < p->n_map; c++)
      KUGEL_TRY(kugel__map_scale(p->ctx, p->npix, map->data[c], map->f32, p->pixel_weight, work->data[c]));
    map = work;
  }
  return p->ops->adjoint(p, map, true, alm, accumulate);
}

kugel_status kugel__sht_analyse(const kugel_sht *p, const kugel__maps *map, const kugel__alms *alm)
{
  int passes = 1 + 2 * p->opts.iterations;
  kugel__maps work = {.f32 = false};
  if (p->pixel_weight || p->opts.iterations)
    KUGEL_TRY(temporary_maps(p, &work));
  kugel__span outer = kugel__progress_enter(0, 1.0 / passes);
  kugel_status s = quadrature(p, map, &work, alm, false);
  kugel__progress_leave(outer);
  for (int k = 0; k < p->opts.iterations && !s; k++) { // a += W (f - S a)
    outer = kugel__progress_enter((1.0 + 2 * k) / passes, (2.0 + 2 * k) / passes);
    s = p->ops->synthesis(p, alm, &work);
    for (int c = 0; c < p->n_map && !s; c++)
      s = kugel__map_residual(p->ctx, p->npix, map->data[c], map->f32, work.data[c]);
    kugel__progress_leave(outer);
    outer = kugel__progress_enter((2.0 + 2 * k) / passes, (3.0 + 2 * k) / passes);
    if (!s)
      s = quadrature(p, &work, &work, alm, true);
    kugel__progress_leave(outer);
  }
  kugel__scratch_put(p->ctx, work.data[0]);
  return s;
}

// map = W S alm
static kugel_status quadrature_adjoint(const kugel_sht *p, const kugel__alms *alm, const kugel__maps *map)
{
  if (p->latlon)
    return kugel__latlon_adjoint(p, alm, map);
  if (kugel__connection_analyses(p))
    return (p->gpu ? kugel__sht_gpu_inverse_adjoint : kugel__connection_analysis_adjoint)(p, alm, map);
  KUGEL_TRY(p->ops->synthesis(p, alm, map));
  for (int c = 0; c < p->n_map; c++) {
    if (p->dist)
      kugel__dist_scale_rings(p, map->data[c]);
    else
      KUGEL_TRY(kugel__map_scale_rings(p->ctx, p->grid, p->weight_north, p->weight_south, map->data[c]));
    if (p->pixel_weight)
      KUGEL_TRY(kugel__map_scale(p->ctx, p->npix, map->data[c], false, p->pixel_weight, map->data[c]));
  }
  return KUGEL_OK;
}

// The Jacobi operator is A = sum_k (1 - W S)^k W, k = 0 ... iterations, so A^T b = sum_k W^T (1 - S^T W^T)^k
// b.
kugel_status kugel__sht_analyse_adjoint(const kugel_sht *p, const kugel__alms *alm, const kugel__maps *map)
{
  kugel__alms b = {.f32 = false};
  kugel__maps work = {.f32 = false};
  kugel_status s = temporary_alms(p, &b);
  if (!s)
    s = temporary_maps(p, &work);
  for (int c = 0; c < p->n_alm && !s; c++) {
    kugel__widen(alm->data[c], alm->f32, 2 * p->nalm, b.data[c]);
    bool zero =
        !p->dist || p->dist->order[p->dist->begin[p->dist->rank]] == 0; // order 0 is this rank's first
    for (int64_t l = 0; zero && l <= p->lmax && p->nalm; l++) // imaginary parts at m = 0 do not count
      ((double *)b.data[c])[2 * l + 1] = 0;
  }
  kugel__alms minus = {.f32 = false};
  if (!s && p->opts.iterations)
    s = temporary_alms(p, &minus);
  double passes = 1 + 2 * p->opts.iterations;
  for (int k = 0; k <= p->opts.iterations && !s; k++) {
    kugel__span outer = kugel__progress_enter(2 * k / passes, (2 * k + 1) / passes);
    s = quadrature_adjoint(p, &b, &work);
    for (int c = 0; c < p->n_map && !s; c++)
      s = kugel__map_add(p->ctx, p->npix, work.data[c], k > 0, map->data[c], map->f32);
    kugel__progress_leave(outer);
    outer = kugel__progress_enter((2 * k + 1) / passes, fmin((2 * k + 2) / passes, 1));
    if (k < p->opts.iterations && !s)
      s = p->ops->adjoint(p, &work, false, &minus, false);
    kugel__progress_leave(outer);
    for (int c = 0; c < p->n_alm && !s && k < p->opts.iterations; c++)
      for (int64_t i = 0; i < 2 * p->nalm; i++)
        ((double *)b.data[c])[i] -= ((double *)minus.data[c])[i];
  }
  kugel__scratch_put(p->ctx, b.data[0]);
  kugel__scratch_put(p->ctx, minus.data[0]);
  kugel__scratch_put(p->ctx, work.data[0]);
  return s;
}

/* ---- least squares ---- */

typedef struct solver {
  const kugel_sht *p;
  kugel__maps r, q;                     // residual of the map; S d
  kugel__alms x, s, d;                  // solution; S^T r; direction
  const uint8_t *mask[KUGEL__MAX_SETS]; // 1: the pixel counts; NULL: all do
} solver;

static double alm_dot(const kugel_sht *p, const kugel__alms *a, const kugel__alms *b)
{
  double sum = 0;
  for (int c = 0; c < p->n_alm; c++) {
    const double *u = a->data[c], *v = b->data[c];
    double zero = 0, rest = 0;
    for (int64_t i = 0; i < 2 * (p->lmax + 1); i++)
      zero += u[i] * v[i];
    for (int64_t i = 2 * (p->lmax + 1); i < 2 * p->nalm; i++)
      rest += u[i] * v[i];
    sum += zero + 2 * rest;
  }
  return sum;
}

static double map_dot(const kugel_sht *p, const kugel__maps *a)
{
  double sum = 0;
  for (int c = 0; c < p->n_map; c++)
    sum += kugel__map_norm2(p->npix, a->data[c]);
  return sum;
}

static void axpy(int sets, int64_t n, double factor, void *const *x, void *const *y)
{
  for (int c = 0; c < sets; c++)
    for (int64_t i = 0; i < n; i++)
      ((double *)y[c])[i] += factor * ((const double *)x[c])[i];
}

static void apply_mask(const solver *v, const kugel__maps *map)
{
  for (int c = 0; c < v->p->n_map; c++)
    for (int64_t i = 0; v->mask[c] && i < v->p->npix; i++)
      if (!v->mask[c][i])
        ((double *)map->data[c])[i] = 0;
}

// CGLS (Hestenes and Stiefel 1952; Bjorck 1996, section 7.4).
static kugel_status cgls(solver *v, const kugel_solve_opts *o, kugel_solve_stats *stats)
{
  const kugel_sht *p = v->p;
  double norm_map = map_dot(p, &v->r);
  double passes = 1 + 2 * o->max_iterations;
  kugel__span whole = kugel__progress_enter(0, 1 / passes);
  kugel_status begun = p->ops->adjoint(p, &v->r, false, &v->s, false);
  kugel__progress_leave(whole);
  KUGEL_TRY(begun);
  for (int c = 0; c < p->n_alm; c++) {
    memset(v->x.data[c], 0, (size_t)p->nalm * 16);
    memcpy(v->d.data[c], v->s.data[c], (size_t)p->nalm * 16);
  }
  double first = alm_dot(p, &v->s, &v->s), gamma = first;
  int k = 0;
  for (; k < o->max_iterations && gamma > o->tolerance * o->tolerance * first && gamma > 0; k++) {
    kugel__span outer = kugel__progress_enter((1 + 2 * k) / passes, (2 + 2 * k) / passes);
    kugel_status s = p->ops->synthesis(p, &v->d, &v->q);
    kugel__progress_leave(outer);
    outer = kugel__progress_enter((2 + 2 * k) / passes, (3 + 2 * k) / passes);
    if (!s) {
      apply_mask(v, &v->q);
      double step = gamma / map_dot(p, &v->q);
      axpy(p->n_alm, 2 * p->nalm, step, v->d.data, v->x.data);
      axpy(p->n_map, p->npix, -step, v->q.data, v->r.data);
      s = p->ops->adjoint(p, &v->r, false, &v->s, false);
    }
    kugel__progress_leave(outer);
    KUGEL_TRY(s);
    double next = alm_dot(p, &v->s, &v->s), ratio = next / gamma;
    gamma = next;
    for (int c = 0; c < p->n_alm; c++)
      for (int64_t i = 0; i < 2 * p->nalm; i++)
        ((double *)v->d.data[c])[i] = ((double *)v->s.data[c])[i] + ratio * ((double *)v->d.data[c])[i];
  }
  *stats = (kugel_solve_stats){k, norm_map > 0 ? sqrt(map_dot(p, &v->r) / norm_map) : 0,
                               first > 0 ? sqrt(gamma / first) : 0};
  return KUGEL_OK;
}

// r = map with bad pixels zero; masks where there are any.
static kugel_status load_map(solver *v, const kugel__maps *map, uint8_t *masks)
{
  const kugel_sht *p = v->p;
  for (int c = 0; c < p->n_map; c++) {
    double *r = v->r.data[c];
    kugel__widen(map->data[c], map->f32, p->npix, r);
    if (p->opts.bad_pixels == KUGEL_BAD_PASS)
      continue;
    uint8_t *mask = masks + c * p->npix;
    bool any = false;
    for (int64_t i = 0; i < p->npix; i++) {
      bool bad = kugel__bad_pixel(r[i]);
      KUGEL_CHECK(!bad || p->opts.bad_pixels == KUGEL_BAD_ZERO, KUGEL_EINVAL,
                  "map %d has a bad pixel (%g at index %lld): mask it, or set opts.bad_pixels", c, r[i],
                  (long long)i);
      mask[i] = !bad;
      any |= bad;
      r[i] = bad ? 0 : r[i];
    }
    v->mask[c] = any ? mask : NULL;
  }
  return KUGEL_OK;
}

static kugel_status solve_host(const kugel_sht *plan, const kugel_array *map, const kugel_array *alm,
                               const kugel_solve_opts *o, kugel_solve_stats *st)
{
  kugel__maps f = kugel__sht_maps(plan, map, 0);
  kugel__alms a = kugel__sht_alms(plan, alm, 0);
  solver v = {.p = plan};
  uint8_t *masks = kugel__scratch_get(plan->ctx, (size_t)(plan->n_map * plan->npix));
  kugel_status s =
      masks ? KUGEL_OK
            : KUGEL_FAIL(KUGEL_ENOMEM, "no memory for a mask of %lld pixels", (long long)plan->npix);
  s = s ? s : temporary_maps(plan, &v.r);
  s = s ? s : temporary_maps(plan, &v.q);
  s = s ? s : temporary_alms(plan, &v.x);
  s = s ? s : temporary_alms(plan, &v.s);
  s = s ? s : temporary_alms(plan, &v.d);
  s = s ? s : load_map(&v, &f, masks);
  kugel__span outer = kugel__progress_enter(0, 1);
  s = s ? s : cgls(&v, o, st);
  kugel__progress_leave(outer);
  for (int c = 0; c < plan->n_alm && !s; c++)
    kugel__narrow(v.x.data[c], 2 * plan->nalm, a.data[c], a.f32);
  void *blocks[] = {masks, v.r.data[0], v.q.data[0], v.x.data[0], v.s.data[0], v.d.data[0]};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
    kugel__scratch_put(plan->ctx, blocks[i]);
  return s;
}

kugel_status kugel_sht_solve(const kugel_sht *plan, const kugel_array *map, const kugel_array *alm,
                             const kugel_solve_opts *opts, kugel_solve_stats *stats, kugel_queue *queue)
{
  int64_t batch = 1;
  kugel_solve_opts o;
  kugel_solve_stats st = {0};
  KUGEL_TRY(kugel__sht_check(plan, alm, map, &batch));
  KUGEL_CHECK(!plan->dist, KUGEL_ENOTSUP,
              "least squares do not run over ranks: use kugel_sht_analysis with iterations");
  KUGEL_TRY(kugel__take_opts(&o, sizeof o, opts, "kugel_solve_opts"));
  KUGEL_CHECK(plan->n_alm == plan->n_map, KUGEL_ENOTSUP,
              "gradient modes cannot be solved for: use mode SCALAR");
  KUGEL_CHECK(batch == 1, KUGEL_ESHAPE, "the batch is %lld, must be 1: solve one map at a time",
              (long long)batch);
  KUGEL_CHECK(o.tolerance >= 0 && o.tolerance < 1, KUGEL_EINVAL, "tolerance is %g, must be in [0, 1)",
              o.tolerance);
  KUGEL_CHECK(o.max_iterations >= 0, KUGEL_EINVAL, "max_iterations is %d, must not be negative",
              o.max_iterations);
  o.tolerance = o.tolerance > 0 ? o.tolerance : 1e-10;
  o.max_iterations = o.max_iterations ? o.max_iterations : 50;
  bool there = kugel__sht_there(alm) || kugel__sht_there(map);
  kugel_status s =
      there ? plan->ops->solve(plan, alm, map, &o, &st, queue) : solve_host(plan, map, alm, &o, &st);
  if (stats)
    *stats = st;
  if (!s && st.normal_residual > o.tolerance)
    s = KUGEL_FAIL(KUGEL_ECONVERGE,
                   "residual is %.3g after %d iterations, wanted %.3g: allow more iterations",
                   st.normal_residual, st.iterations, o.tolerance);
  return s;
}
