/* SPDX-License-Identifier: BSD-3-Clause */
/* Least squares by CGLS, on host memory, also over ranks. */
#include <math.h>
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "sphere/alm/alm.h"
#include "sphere/grid/mapops.h"
#include "sphere/sht/dist.h"
#include "sphere/sht/sht.h"

typedef struct solver {
  const kugel_sht *p;
  kugel__maps r, q;                     // residual of the map; S d
  kugel__alms x, s, d;                  // solution; S^T r; direction
  const uint8_t *mask[KUGEL__MAX_SETS]; // 1: the pixel counts; NULL: all do
  double *sums;                         // of orders or pairs, of all sets
  int64_t *bits;                        // of as many
} solver;

/* ---- norms: of each order, and of each ring pair, whole where it is; added up in their order, so that the bits do not depend on the
 * number of ranks ---- */

// Of n numbers in v->sums, of which each rank has its own, and zeros.
static kugel_status share(const solver *v, int64_t n)
{
  const kugel__dist *d = v->p->dist;
  if (!d)
    return KUGEL_OK;
  KUGEL_TRY(kugel__comm_agree(d->comm, KUGEL_OK));
  memcpy(v->bits, v->sums, (size_t)n * 8);
  KUGEL_TRY(kugel__comm_reduce(d->comm, v->bits, (int)n, KUGEL_COMM_SUM)); // x + 0 + 0: the bits of x
  memcpy(v->sums, v->bits, (size_t)n * 8);
  return KUGEL_OK;
}

static kugel_status alm_norm2(const solver *v, const kugel__alms *a, double *out)
{
  const kugel_sht *p = v->p;
  const kugel__dist *d = p->dist;
  const int64_t all = p->mmax + 1, own = d ? d->begin[d->rank + 1] - d->begin[d->rank] : all;
  memset(v->sums, 0, (size_t)(p->n_alm * all) * 8);
  for (int c = 0; c < p->n_alm; c++)
    for (int64_t i = 0; i < own; i++) {
      int64_t m = d ? d->order[d->begin[d->rank] + i] : i,
              at = d ? d->column[i] : kugel__alm_offset(p->lmax, m) + m;
      v->sums[c * all + m] = kugel__map_norm2(2 * (p->lmax - m + 1), (const double *)a->data[c] + 2 * at);
    }
  KUGEL_TRY(share(v, p->n_alm * all));
  *out = 0;
  for (int c = 0; c < p->n_alm; c++) {
    double rest = 0;
    for (int64_t m = 1; m < all; m++)
      rest += v->sums[c * all + m];
    *out += v->sums[c * all] + 2 * rest;
  }
  return KUGEL_OK;
}

static double ring_norm2(const kugel_sht *p, const double *map, int64_t pair, bool south)
{
  const kugel_grid *g = p->grid;
  int64_t ring = south ? g->pairs[pair].south : g->pairs[pair].north;
  int64_t at = ring < 0   ? -1
               : !p->dist ? g->first[ring]
               : south    ? p->dist->south[pair]
                          : p->dist->north[pair];
  return at < 0 ? 0 : kugel__map_norm2(g->nphi[ring], map + at);
}

static kugel_status map_norm2(const solver *v, const kugel__maps *a, double *out)
{
  const kugel_sht *p = v->p;
  const int64_t all = p->grid->npairs;
  for (int c = 0; c < p->n_map; c++)
    for (int64_t i = 0; i < all; i++)
      v->sums[c * all + i] = ring_norm2(p, a->data[c], i, false) + ring_norm2(p, a->data[c], i, true);
  KUGEL_TRY(share(v, p->n_map * all));
  *out = 0;
  for (int64_t i = 0; i < p->n_map * all; i++)
    *out += v->sums[i];
  return KUGEL_OK;
}

/* ---- iterations ---- */

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
  double norm_map, first, size, next;
  KUGEL_TRY(map_norm2(v, &v->r, &norm_map));
  double passes = 1 + 2 * o->max_iterations;
  kugel__span whole = kugel__progress_enter(0, 1 / passes);
  kugel_status begun = p->ops->adjoint(p, &v->r, false, &v->s, false);
  kugel__progress_leave(whole);
  KUGEL_TRY(begun);
  for (int c = 0; c < p->n_alm; c++) {
    memset(v->x.data[c], 0, (size_t)p->nalm * 16);
    memcpy(v->d.data[c], v->s.data[c], (size_t)p->nalm * 16);
  }
  KUGEL_TRY(alm_norm2(v, &v->s, &first));
  double gamma = first;
  int k = 0;
  for (; k < o->max_iterations && gamma > o->tolerance * o->tolerance * first && gamma > 0; k++) {
    kugel__span outer = kugel__progress_enter((1 + 2 * k) / passes, (2 + 2 * k) / passes);
    kugel_status s = p->ops->synthesis(p, &v->d, &v->q);
    kugel__progress_leave(outer);
    outer = kugel__progress_enter((2 + 2 * k) / passes, (3 + 2 * k) / passes);
    if (!s) {
      apply_mask(v, &v->q);
      s = map_norm2(v, &v->q, &size);
    }
    if (!s) {
      double step = gamma / size;
      axpy(p->n_alm, 2 * p->nalm, step, v->d.data, v->x.data);
      axpy(p->n_map, p->npix, -step, v->q.data, v->r.data);
      s = p->ops->adjoint(p, &v->r, false, &v->s, false);
    }
    kugel__progress_leave(outer);
    KUGEL_TRY(s);
    KUGEL_TRY(alm_norm2(v, &v->s, &next));
    double ratio = next / gamma;
    gamma = next;
    for (int c = 0; c < p->n_alm; c++)
      for (int64_t i = 0; i < 2 * p->nalm; i++)
        ((double *)v->d.data[c])[i] = ((double *)v->s.data[c])[i] + ratio * ((double *)v->d.data[c])[i];
  }
  KUGEL_TRY(map_norm2(v, &v->r, &size));
  *stats =
      (kugel_solve_stats){k, norm_map > 0 ? sqrt(size / norm_map) : 0, first > 0 ? sqrt(gamma / first) : 0};
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
  uint8_t *masks = kugel__scratch_get(plan->ctx, (size_t)(plan->n_map * plan->npix + 64));
  kugel_status s =
      masks ? KUGEL_OK
            : KUGEL_FAIL(KUGEL_ENOMEM, "no memory for a mask of %lld pixels", (long long)plan->npix);
  s = s ? s : kugel__sht_temporary_maps(plan, &v.r);
  s = s ? s : kugel__sht_temporary_maps(plan, &v.q);
  s = s ? s : kugel__sht_temporary_alms(plan, &v.x);
  s = s ? s : kugel__sht_temporary_alms(plan, &v.s);
  s = s ? s : kugel__sht_temporary_alms(plan, &v.d);
  int64_t sums = kugel__max(plan->n_alm * (plan->mmax + 1), plan->n_map * plan->grid->npairs);
  v.sums = kugel__scratch_get(plan->ctx, (size_t)sums * 16);
  v.bits = v.sums ? (int64_t *)(void *)(v.sums + sums) : NULL;
  if (!s && !v.sums)
    s = KUGEL_FAIL(KUGEL_ENOMEM, "no memory for the norms of %lld orders or ring pairs", (long long)sums);
  s = s ? s : load_map(&v, &f, masks);
  kugel__span outer = kugel__progress_enter(0, 1);
  s = s ? s : cgls(&v, o, st);
  kugel__progress_leave(outer);
  for (int c = 0; c < plan->n_alm && !s; c++)
    kugel__narrow(v.x.data[c], 2 * plan->nalm, a.data[c], a.f32);
  void *blocks[] = {v.sums, masks, v.r.data[0], v.q.data[0], v.x.data[0], v.s.data[0], v.d.data[0]};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
    kugel__scratch_put(plan->ctx, blocks[i]);
  return s;
}

typedef struct request {
  const kugel_solve_opts *opts;
  kugel_solve_stats *stats;
} request;

static kugel_status solve_copies(const kugel_sht *plan, kugel__sht_verb verb, const kugel_array *alm,
                                 const kugel_array *map, int64_t batch, void *arg)
{
  const request *r = arg;
  (void)verb, (void)batch;
  return solve_host(plan, map, alm, r->opts, r->stats);
}

static kugel_status solve(const kugel_sht *plan, const kugel_array *map, const kugel_array *alm,
                          const kugel_solve_opts *o, kugel_solve_stats *st, kugel_queue *queue)
{
  request r = {o, st};
  if (!kugel__sht_there(alm) && !kugel__sht_there(map))
    return solve_host(plan, map, alm, o, st);
  return plan->dist ? kugel__sht_gpu_by_host(plan, KUGEL__SHT_SOLVE, alm, map, 1, solve_copies, &r, queue)
                    : plan->ops->solve(plan, alm, map, o, st, queue);
}

static kugel_status check(const kugel_sht *plan, const kugel_array *map, const kugel_array *alm,
                          const kugel_solve_opts *opts, kugel_solve_opts *o)
{
  int64_t batch = 1;
  KUGEL_TRY(kugel__sht_check(plan, alm, map, &batch));
  KUGEL_TRY(kugel__take_opts(o, sizeof *o, opts, "kugel_solve_opts"));
  KUGEL_CHECK(plan->n_alm == plan->n_map, KUGEL_ENOTSUP,
              "gradient modes cannot be solved for: use mode SCALAR");
  KUGEL_CHECK(batch == 1, KUGEL_ESHAPE, "the batch is %lld, must be 1: solve one map at a time",
              (long long)batch);
  KUGEL_CHECK(o->tolerance >= 0 && o->tolerance < 1, KUGEL_EINVAL, "tolerance is %g, must be in [0, 1)",
              o->tolerance);
  KUGEL_CHECK(o->max_iterations >= 0, KUGEL_EINVAL, "max_iterations is %d, must not be negative",
              o->max_iterations);
  o->tolerance = o->tolerance > 0 ? o->tolerance : 1e-10;
  o->max_iterations = o->max_iterations ? o->max_iterations : 50;
  return KUGEL_OK;
}

kugel_status kugel_sht_solve(const kugel_sht *plan, const kugel_array *map, const kugel_array *alm,
                             const kugel_solve_opts *opts, kugel_solve_stats *stats, kugel_queue *queue)
{
  kugel_comm *comm = plan && plan->dist ? plan->dist->comm : NULL;
  kugel_solve_opts o = {.size = 0};
  kugel_solve_stats st = {0};
  if (comm)
    kugel__comm_enter(comm);
  kugel_status s = check(plan, map, alm, opts, &o);
  kugel__same same[] = {{"tolerance / 1e-18", llround(o.tolerance * 1e18)},
                        {"max_iterations", o.max_iterations},
                        {"the precision of alm", s ? 0 : alm->dtype.bits / 2},
                        {"the precision of maps", s ? 0 : map->dtype.bits}};
  if (comm)
    s = kugel__comm_same(comm, s, sizeof same / sizeof *same, same);
  if (!s)
    s = solve(plan, map, alm, &o, &st, queue);
  if (comm)
    s = kugel__comm_leave(comm, s);
  if (stats)
    *stats = st;
  if (!s && st.normal_residual > o.tolerance)
    s = KUGEL_FAIL(KUGEL_ECONVERGE,
                   "residual is %.3g after %d iterations, wanted %.3g: allow more iterations",
                   st.normal_residual, st.iterations, o.tolerance);
  return s;
}
