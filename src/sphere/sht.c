/* SPDX-License-Identifier: BSD-3-Clause */
/* Spherical-harmonic transforms: plans, checks, and the loops over batches. */
#include <math.h>
#include <string.h>
#include "core/alloc.h"
#include "core/array.h"
#include "core/ctx.h"
#include "sphere/latlon.h"
#include "sphere/mapops.h"
#include "sphere/sht.h"
#include "sphere/sht_gpu.h"
#include <kugel/alm.h>

static const struct {
  int n_alm, n_map;
} shapes[] = {
    [KUGEL_SHT_SCALAR] = {1, 1}, [KUGEL_SHT_SPIN] = {2, 2}, [KUGEL_SHT_TEB] = {3, 3},
    [KUGEL_SHT_GRAD] = {1, 2},   [KUGEL_SHT_DER1] = {1, 3},
};

static kugel_status check_opts(kugel_sht_opts *o)
{
  enum { LMAX_LIMIT = 1 << 28 };
  KUGEL_CHECK(o->grid, KUGEL_EINVAL, "opts.grid is NULL: make one with kugel_grid_create");
  KUGEL_CHECK(o->lmax >= 0 && o->lmax <= LMAX_LIMIT, KUGEL_EINVAL, "lmax is %lld, must be 0 to %d",
              (long long)o->lmax, LMAX_LIMIT);
  KUGEL_CHECK(o->mmax >= -1 && o->mmax <= o->lmax, KUGEL_EINVAL,
              "mmax is %lld, must be 0 (for lmax), -1 (for m = 0 only) or 1 to lmax = %lld",
              (long long)o->mmax, (long long)o->lmax);
  KUGEL_CHECK((int)o->mode >= KUGEL_SHT_SCALAR && o->mode <= KUGEL_SHT_DER1, KUGEL_EINVAL,
              "mode is %d, must be KUGEL_SHT_SCALAR (0) to KUGEL_SHT_DER1 (4)", (int)o->mode);
  if (o->mode == KUGEL_SHT_SPIN)
    KUGEL_CHECK(o->spin >= 1, KUGEL_EINVAL, "spin is %d, must be at least 1 in mode KUGEL_SHT_SPIN", o->spin);
  else
    KUGEL_CHECK(o->spin == 0 || (o->mode == KUGEL_SHT_TEB && o->spin == 2), KUGEL_EINVAL,
                "spin is %d, must be 0 unless mode is KUGEL_SHT_SPIN", o->spin);
  KUGEL_CHECK((int)o->weights >= KUGEL_WEIGHTS_DEFAULT && o->weights <= KUGEL_WEIGHTS_PIXEL, KUGEL_EINVAL,
              "weights is %d, must be KUGEL_WEIGHTS_DEFAULT (0), _RING (1) or _PIXEL (2)", (int)o->weights);
  KUGEL_CHECK(o->weights == KUGEL_WEIGHTS_DEFAULT || o->grid->kind == KUGEL_GRID_HEALPIX, KUGEL_ENOTSUP,
              "ring and pixel weights exist for HEALPix grids only: use KUGEL_WEIGHTS_DEFAULT");
  KUGEL_CHECK(o->iterations >= 0 && o->iterations <= 10000, KUGEL_EINVAL,
              "iterations is %d, must be 0 to 10000", o->iterations);
  KUGEL_CHECK((int)o->bad_pixels >= KUGEL_BAD_ERROR && o->bad_pixels <= KUGEL_BAD_PASS, KUGEL_EINVAL,
              "bad_pixels is %d, must be KUGEL_BAD_ERROR (0), _ZERO (1) or _PASS (2)", (int)o->bad_pixels);
  KUGEL_CHECK(o->max_memory >= 0, KUGEL_EINVAL, "max_memory is %lld bytes, must not be negative",
              (long long)o->max_memory);
  return KUGEL_OK;
}

static kugel_status make_stages(kugel_sht *p)
{
  const kugel_grid *g = p->grid;
  int64_t n = g->npairs;
  double *cth = kugel__alloc(p->ctx, (size_t)n * 16), *sth = cth ? cth + n : NULL;
  int64_t *tables = kugel__alloc(p->ctx, (size_t)n * 48);
  kugel_status s = KUGEL_OK;
  if (!cth || !tables)
    s = KUGEL_FAIL(KUGEL_ENOMEM, "no memory for the tables of %lld ring pairs", (long long)n);
  for (int64_t i = 0; i < n && !s; i++) {
    cth[i] = g->pairs[i].cth;
    sth[i] = g->pairs[i].sth;
  }
  if (!s)
    s = kugel__leg_create(p->ctx, p->lmax, p->mmax, (kugel__leg_mode)p->opts.mode, p->opts.spin, n, cth, sth,
                          &p->leg);
  if (!s) {
    int64_t *nn = tables, *ns = nn + n, *on = ns + n, *os = on + n;
    double *fn = (double *)(os + n), *fs = fn + n;
    for (int64_t i = 0; i < n; i++) {
      int64_t a = g->pairs[i].north, b = g->pairs[i].south, any = a >= 0 ? a : b;
      nn[i] = g->nphi[a >= 0 ? a : any];
      ns[i] = g->nphi[b >= 0 ? b : any];
      on[i] = a >= 0 ? g->first[a] : -1;
      os[i] = b >= 0 ? g->first[b] : -1;
      fn[i] = g->phi0[a >= 0 ? a : any];
      fs[i] = g->phi0[b >= 0 ? b : any];
    }
    kugel__rings_desc desc = {.npairs = n,
                              .mmax = p->mmax,
                              .nphi_north = nn,
                              .nphi_south = ns,
                              .phi0_north = fn,
                              .phi0_south = fs,
                              .offset_north = on,
                              .offset_south = os,
                              .mlim = kugel__latlon_applies(p) ? NULL : kugel__leg_mlim(p->leg)};
    s = kugel__rings_create(p->ctx, &desc, &p->rings);
    desc.mlim = kugel__leg_mlim(p->leg);
    if (!s)
      s = kugel__sht_gpu_create(p, &desc);
  }
  kugel__free(p->ctx, cth);
  kugel__free(p->ctx, tables);
  return s;
}

// The rings of a HEALPix grid are in order from the north, as the factors are.
static kugel_status apply_ring_weights(kugel_sht *p)
{
  const kugel_grid *g = p->grid;
  double *factor;
  KUGEL_ALLOC(p->ctx, factor, (size_t)g->nrings * sizeof(double));
  kugel_status s = kugel_healpix_ring_weights(p->ctx, g->nside, factor);
  for (int64_t i = 0; !s && i < g->npairs; i++) {
    int64_t north = g->pairs[i].north, south = g->pairs[i].south;
    p->weight_north[i] *= north >= 0 ? factor[north] : 0;
    p->weight_south[i] *= south >= 0 ? factor[south] : 0;
  }
  kugel__free(p->ctx, factor);
  return s;
}

static kugel_status make_weights(kugel_sht *p)
{
  const kugel_grid *g = p->grid;
  if (!g->has_weights)
    return KUGEL_OK;
  KUGEL_ALLOC(p->ctx, p->weight_north, (size_t)g->npairs * 16);
  p->weight_south = p->weight_north + g->npairs;
  for (int64_t i = 0; i < g->npairs; i++) {
    int64_t north = g->pairs[i].north, south = g->pairs[i].south;
    p->weight_north[i] = north >= 0 ? g->weight[north] : 0;
    p->weight_south[i] = south >= 0 ? g->weight[south] : 0;
  }
  if (p->opts.weights == KUGEL_WEIGHTS_RING)
    return apply_ring_weights(p);
  if (p->opts.weights == KUGEL_WEIGHTS_PIXEL) {
    KUGEL_ALLOC(p->ctx, p->pixel_weight, (size_t)p->npix * sizeof(double));
    return kugel_healpix_pixel_weights(p->ctx, g->nside, p->pixel_weight);
  }
  return KUGEL_OK;
}

// As many pairs at a time as the memory aim allows. Each block repeats O(lmax^2) work, so few blocks are
// best.
static int64_t choose_block(const kugel_sht *p)
{
  int64_t pair_bytes = (p->mmax + 1) * p->n_map * 4 * 8;
  int64_t aim = p->opts.max_memory ? p->opts.max_memory : kugel__max(p->npix * 8 * p->n_map, 32 << 20);
  int64_t all = kugel__round_up(p->grid->npairs, 8), blocks = (all * pair_bytes + aim - 1) / aim;
  return kugel__min(all, kugel__max(64, kugel__round_up(all / blocks, 64)));
}

kugel_status kugel_sht_create(kugel_ctx *ctx, const kugel_sht_opts *opts, kugel_sht **out)
{
  KUGEL_CHECK(out, KUGEL_EINVAL, "out is NULL: pass where to put the plan");
  *out = NULL;
  KUGEL_CHECK(opts, KUGEL_EINVAL, "opts is NULL: a plan needs a grid and lmax");
  kugel_sht_opts o;
  KUGEL_TRY(kugel__take_opts(&o, sizeof o, opts, "kugel_sht_opts"));
  KUGEL_TRY(check_opts(&o));
  kugel_sht *p = kugel__calloc(ctx, sizeof *p);
  KUGEL_CHECK(p, KUGEL_ENOMEM, "no memory for a plan");
  p->ctx = kugel__ctx_retain(ctx);
  p->opts = o;
  p->grid = kugel__grid_retain(o.grid);
  p->lmax = o.lmax;
  p->mmax = o.mmax == 0 ? o.lmax : kugel__max(o.mmax, 0);
  p->nalm = (p->mmax + 1) * (p->lmax + 1) - p->mmax * (p->mmax + 1) / 2;
  p->npix = p->grid->npix;
  p->n_alm = shapes[o.mode].n_alm;
  p->n_map = shapes[o.mode].n_map;
  p->block = choose_block(p);
  kugel_status s = make_stages(p);
  if (!s)
    s = make_weights(p);
  if (!s)
    s = kugel__sht_gpu_weights(p);
  if (!s)
    s = kugel__latlon_create(p, &p->latlon);
  if (s) {
    kugel_sht_destroy(p);
    return s;
  }
  *out = p;
  return KUGEL_OK;
}

void kugel_sht_destroy(kugel_sht *p)
{
  if (!p)
    return;
  kugel_ctx *ctx = p->ctx;
  kugel__sht_gpu_destroy(p);
  kugel__leg_destroy(p->leg);
  kugel__latlon_destroy(p->latlon);
  kugel__rings_destroy(p->rings);
  kugel__free(ctx, p->weight_north);
  kugel__free(ctx, p->pixel_weight);
  kugel_grid_destroy(p->grid);
  kugel__free(ctx, p);
  kugel_ctx_destroy(ctx);
}

kugel_status kugel_sht_shape(const kugel_sht *plan, int64_t *nalm, int64_t *npix, int *n_alm_sets,
                             int *n_maps)
{
  KUGEL_CHECK(plan, KUGEL_EINVAL, "plan is NULL: make one with kugel_sht_create");
  if (nalm)
    *nalm = plan->nalm;
  if (npix)
    *npix = plan->npix;
  if (n_alm_sets)
    *n_alm_sets = plan->n_alm;
  if (n_maps)
    *n_maps = plan->n_map;
  return KUGEL_OK;
}

kugel_status kugel_sht_limit_memory(kugel_ctx *ctx, uint64_t bytes)
{
  KUGEL_CHECK(ctx, KUGEL_EINVAL, "ctx is NULL: pass a context on a device");
  atomic_store(&ctx->device_memory, bytes);
  return KUGEL_OK;
}

kugel_status kugel_sht_memory(const kugel_sht *plan, uint64_t *device_bytes, int64_t *parts)
{
  uint64_t bytes;
  int64_t n;
  KUGEL_CHECK(plan, KUGEL_EINVAL, "plan is NULL: make one with kugel_sht_create");
  kugel__sht_gpu_memory(plan, &bytes, &n);
  if (device_bytes)
    *device_bytes = bytes;
  if (parts)
    *parts = n;
  return KUGEL_OK;
}

// One set may come without its axis of length 1.
static kugel_status check_one(const kugel_array *a, const char *name, kugel_dtype narrow, kugel_dtype wide,
                              int sets, int64_t n, int64_t *batch)
{
  KUGEL_CHECK(a, KUGEL_EINVAL, "%s is NULL: pass an array", name);
  kugel_dtype type = kugel__dtype_is(a->dtype, narrow) ? narrow : wide;
  int64_t shape[] = {sets, n};
  bool bare = sets == 1 && (a->ndim < 2 || !a->shape || a->shape[a->ndim - 2] != 1);
  return bare ? kugel__array_check(a, name, type, 1, shape + 1, batch)
              : kugel__array_check(a, name, type, 2, shape, batch);
}

kugel_status kugel__sht_check_shapes(const kugel_sht *plan, const kugel_array *alm, const kugel_array *map,
                                     int64_t *batch)
{
  KUGEL_CHECK(plan, KUGEL_EINVAL, "plan is NULL: make one with kugel_sht_create");
  *batch = -1;
  KUGEL_TRY(check_one(alm, "alm", KUGEL_C64, KUGEL_C128, plan->n_alm, plan->nalm, batch));
  return check_one(map, "map", KUGEL_F32, KUGEL_F64, plan->n_map, plan->npix, batch);
}

kugel_status kugel__sht_check(const kugel_sht *plan, const kugel_array *alm, const kugel_array *map,
                              int64_t *batch)
{
  KUGEL_TRY(kugel__sht_check_shapes(plan, alm, map, batch));
  return kugel__array_disjoint(alm, "alm", map, "map");
}

kugel__maps kugel__sht_maps(const kugel_sht *plan, const kugel_array *map, int64_t index)
{
  kugel__maps m = {.f32 = map->dtype.bits == 32};
  for (int c = 0; c < plan->n_map; c++)
    m.data[c] =
        (char *)kugel__array_data(map) + (index * plan->n_map + c) * plan->npix * (map->dtype.bits / 8);
  return m;
}

kugel__alms kugel__sht_alms(const kugel_sht *plan, const kugel_array *alm, int64_t index)
{
  kugel__alms a = {.f32 = alm->dtype.bits == 64};
  for (int c = 0; c < plan->n_alm; c++)
    a.data[c] =
        (char *)kugel__array_data(alm) + (index * plan->n_alm + c) * plan->nalm * (alm->dtype.bits / 8);
  return a;
}

kugel_status kugel_sht_synthesis(const kugel_sht *plan, const kugel_array *alm, const kugel_array *map,
                                 kugel_queue *queue)
{
  int64_t batch;
  if (kugel__sht_gpu_wanted(plan, alm, map))
    return kugel__sht_gpu_arrays(plan, alm, map, false, queue);
  KUGEL_TRY(kugel__sht_check(plan, alm, map, &batch));
  for (int64_t b = 0; b < batch; b++) {
    kugel__alms a = kugel__sht_alms(plan, alm, b);
    kugel__maps f = kugel__sht_maps(plan, map, b);
    KUGEL_TRY(kugel__sht_synthesis(plan, &a, &f));
  }
  return KUGEL_OK;
}

kugel_status kugel_sht_synthesis_adjoint(const kugel_sht *plan, const kugel_array *map,
                                         const kugel_array *alm, kugel_queue *queue)
{
  int64_t batch;
  if (kugel__sht_gpu_wanted(plan, alm, map))
    return kugel__sht_gpu_arrays(plan, alm, map, true, queue);
  KUGEL_TRY(kugel__sht_check(plan, alm, map, &batch));
  for (int64_t b = 0; b < batch; b++) {
    kugel__alms a = kugel__sht_alms(plan, alm, b);
    kugel__maps f = kugel__sht_maps(plan, map, b);
    void *clean = NULL;
    kugel_status s = kugel__sht_clean(plan, &f, &clean);
    if (!s)
      s = kugel__sht_adjoint(plan, &f, false, &a, false);
    kugel__scratch_put(plan->ctx, clean);
    KUGEL_TRY(s);
  }
  return KUGEL_OK;
}

kugel_status kugel__sht_clean(const kugel_sht *plan, kugel__maps *map, void **clean)
{
  *clean = NULL;
  bool any = false;
  for (int c = 0; c < plan->n_map && plan->opts.bad_pixels != KUGEL_BAD_PASS; c++) {
    int64_t at = kugel__map_find_bad(plan->ctx, plan->npix, map->data[c], map->f32);
    KUGEL_CHECK(at < 0 || plan->opts.bad_pixels == KUGEL_BAD_ZERO, KUGEL_EINVAL,
                "map %d has a NaN, infinite or UNSEEN pixel at index %lld: mask it, or set opts.bad_pixels",
                c, (long long)at);
    any |= at >= 0;
  }
  if (!any)
    return KUGEL_OK;
  int64_t bytes = plan->npix * (map->f32 ? 4 : 8);
  char *copy = kugel__scratch_get(plan->ctx, (size_t)(plan->n_map * bytes));
  KUGEL_CHECK(copy, KUGEL_ENOMEM, "no memory for a copy of %d maps of %lld pixels", plan->n_map,
              (long long)plan->npix);
  *clean = copy;
  for (int c = 0; c < plan->n_map; c++) {
    KUGEL_TRY(kugel__map_zero_bad(plan->ctx, plan->npix, map->data[c], map->f32, copy + c * bytes));
    map->data[c] = copy + c * bytes;
  }
  return KUGEL_OK;
}
