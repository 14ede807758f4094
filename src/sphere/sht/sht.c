/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans of spherical-harmonic transforms. */
#include <math.h>
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "comm/comm.h"
#include "sphere/alm/alm.h"
#include "sphere/sht/connection.h"
#include "sphere/sht/dist.h"
#include "sphere/sht/latlon.h"
#include "sphere/sht/sht.h"
#include "sphere/sht/gpu.h"
#include <kugel/alm.h>

static const struct {
  int n_alm, n_map;
} shapes[] = {
    [KUGEL_SHT_SCALAR] = {1, 1}, [KUGEL_SHT_SPIN] = {2, 2}, [KUGEL_SHT_TEB] = {3, 3},
    [KUGEL_SHT_GRAD] = {1, 2},   [KUGEL_SHT_DER1] = {1, 3},
};

static kugel_status check_opts(kugel_sht_opts *o)
{
  KUGEL_CHECK(o->grid, KUGEL_EINVAL, "opts.grid is NULL: make one with kugel_grid_create");
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
  KUGEL_CHECK(o->beyond_band_limit == 0 || o->beyond_band_limit == 1, KUGEL_EINVAL,
              "beyond_band_limit is %d, must be 0 or 1", o->beyond_band_limit);
  KUGEL_CHECK(o->pieces >= 0 && o->pieces <= 64, KUGEL_EINVAL, "pieces is %d, must be 0 to 64", o->pieces);
  KUGEL_CHECK(o->engine == KUGEL_SHT_RECURRENCE || o->engine == KUGEL_SHT_CONNECTION, KUGEL_EINVAL,
              "engine is %d, must be KUGEL_SHT_RECURRENCE (0) or KUGEL_SHT_CONNECTION (1)", (int)o->engine);
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
  if (!s && p->opts.comm)
    s = kugel__dist_create(p, p->opts.comm, p->opts.pieces);
  if (!s) {
    const kugel__dist *d = p->dist;
    int64_t *nn = tables, *ns = nn + n, *on = ns + n, *os = on + n;
    double *fn = (double *)(os + n), *fs = fn + n;
    for (int64_t i = 0; i < n; i++) {
      int64_t a = g->pairs[i].north, b = g->pairs[i].south, any = a >= 0 ? a : b;
      nn[i] = g->nphi[a >= 0 ? a : any];
      ns[i] = g->nphi[b >= 0 ? b : any];
      on[i] = d ? d->north[i] : a >= 0 ? g->first[a] : -1; // over ranks, other ranks' rings do not exist
      os[i] = d ? d->south[i] : b >= 0 ? g->first[b] : -1;
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
                              .mlim = p->resampled || p->opts.engine ? NULL : kugel__leg_mlim(p->leg)};
    s = kugel__rings_create(p->ctx, &desc, &p->rings);
    desc.mlim = p->opts.engine ? NULL : kugel__leg_mlim(p->leg);
    if (!s && p->device->ops->type != KUGEL_CPU)
      s = kugel__sht_gpu_create(p, &desc);
    if (!s && p->gpu)
      p->ops = kugel__sht_gpu_in_parts(p) ? &kugel__sht_parts_ops : &kugel__sht_gpu_ops;
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

// The first npix numbers become those of this rank's pixels.
static void keep_own_pixels(const kugel__dist *d, double *values)
{
  const kugel_layout *l = d->map;
  for (int64_t i = l->begin[d->rank]; i < l->begin[d->rank + 1]; i++)
    memmove(values + l->runs[i].at, values + l->runs[i].first, (size_t)l->runs[i].n * sizeof *values);
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
    KUGEL_ALLOC(p->ctx, p->pixel_weight, (size_t)g->npix * sizeof(double));
    KUGEL_TRY(kugel_healpix_pixel_weights(p->ctx, g->nside, p->pixel_weight));
    if (p->dist)
      keep_own_pixels(p->dist, p->pixel_weight);
  }
  return KUGEL_OK;
}

// As many pairs at a time as the memory aim allows. Each block repeats O(lmax^2) work, so few blocks are
// best.
static int64_t choose_block(const kugel_sht *p)
{
  int64_t pair_bytes = (p->mmax + 1) * p->n_map * 4 * 8;
  int64_t aim = p->memory ? p->memory : kugel__max(p->npix * 8 * p->n_map, 32 << 20);
  int64_t all = kugel__round_up(p->grid->npairs, 8), blocks = (all * pair_bytes + aim - 1) / aim;
  return kugel__min(all, kugel__max(64, kugel__round_up(all / blocks, 64)));
}

// Ranks compare what they were given, and take rank 0's block, which depends on its limit of memory.
static kugel_status compare_ranks(kugel_sht *p, kugel_status s)
{
  const kugel_sht_opts *o = &p->opts;
  const kugel_grid *g = p->grid;
  if (!s && p->ctx->npeers)
    s = KUGEL_FAIL(KUGEL_ENOTSUP,
                   "the context has %d devices, and a rank of a plan over ranks has one: start a rank for "
                   "each, with device "
                   "\"cuda:local\"",
                   1 + p->ctx->npeers);
  kugel__same same[] = {{"lmax", p->lmax},
                        {"mmax", p->mmax},
                        {"mode", o->mode},
                        {"spin", o->spin},
                        {"weights", o->weights},
                        {"iterations", o->iterations},
                        {"bad_pixels", o->bad_pixels},
                        {"pieces", o->pieces},
                        {"the kind of grid", g->kind},
                        {"the type of device", p->device->ops->type},
                        {"the grid's number of rings", g->nrings},
                        {"the grid's number of pixels", g->npix}};
  KUGEL_TRY(kugel__comm_same(o->comm, s, sizeof same / sizeof *same, same));
  return kugel_comm_bcast(o->comm, &p->block, sizeof p->block, 0);
}

static kugel_status make_plan(kugel_sht *p)
{
  bool connection = p->opts.engine == KUGEL_SHT_CONNECTION;
  p->resampled = !connection && kugel__grid_circle(p->grid) && kugel__latlon_applies(p);
  if (connection) {
    KUGEL_TRY(kugel__connection_check(p));
    if (p->device->ops->type == KUGEL_CPU)
      KUGEL_TRY(kugel__connection_create(p, &p->connection));
    p->ops = &kugel__sht_connection_ops;
  }
  KUGEL_TRY(make_stages(p));
  if (p->dist) {
    p->nalm = kugel_layout_count(p->dist->alm, p->dist->rank);
    p->npix = kugel_layout_count(p->dist->map, p->dist->rank);
    p->ops = p->gpu ? &kugel__sht_dist_gpu_ops : &kugel__sht_dist_ops;
  }
  KUGEL_TRY(make_weights(p));
  if (p->gpu)
    KUGEL_TRY(kugel__sht_gpu_weights(p));
  if (p->resampled && !p->dist)
    KUGEL_TRY(kugel__latlon_create(p, &p->latlon));
  return KUGEL_OK;
}

static kugel_status create(kugel_ctx *ctx, kugel_sht_opts o, kugel__device *device, kugel_sht **out)
{
  KUGEL_TRY(check_opts(&o));
  int64_t mmax = o.mmax, nalm;
  KUGEL_TRY(kugel__alm_option(o.lmax, &mmax, &nalm));
  kugel_sht *p = kugel__calloc(ctx, sizeof *p);
  KUGEL_CHECK(p, KUGEL_ENOMEM, "no memory for a plan");
  p->ctx = kugel__ctx_retain(ctx);
  p->memory = kugel__ctx_limit(ctx);
  p->opts = o;
  p->device = device;
  p->ops = &kugel__sht_cpu_ops;
  p->grid = kugel__grid_retain(o.grid);
  p->lmax = o.lmax;
  p->mmax = mmax;
  p->nalm = nalm;
  p->npix = p->grid->npix;
  p->n_alm = shapes[o.mode].n_alm;
  p->n_map = shapes[o.mode].n_map;
  p->block = choose_block(p);
  kugel_status s = o.comm ? compare_ranks(p, KUGEL_OK) : KUGEL_OK;
  s = s ? s : make_plan(p);
  if (s) {
    kugel__sht_free(p);
    return s;
  }
  *out = p;
  return KUGEL_OK;
}

kugel_status kugel__sht_make(kugel_ctx *ctx, const kugel_sht_opts *opts, kugel_sht **out)
{
  return kugel__sht_make_on(ctx, opts, kugel__ctx_device(ctx), out);
}

kugel_status kugel__sht_make_on(kugel_ctx *ctx, const kugel_sht_opts *opts, kugel__device *device,
                                kugel_sht **out)
{
  KUGEL_CHECK(opts, KUGEL_EINVAL, "opts is NULL: a plan needs a grid and lmax");
  kugel_sht_opts o;
  KUGEL_TRY(kugel__take_opts(&o, sizeof o, opts, "kugel_sht_opts"));
  if (!o.comm)
    return create(ctx, o, device, out);
  kugel__comm_enter(o.comm);
  kugel_status s = kugel__comm_leave(o.comm, create(ctx, o, device, out));
  if (s) {
    kugel__sht_free(*out);
    *out = NULL;
  }
  return s;
}

void kugel__sht_free(kugel_sht *p)
{
  if (!p)
    return;
  kugel_ctx *ctx = p->ctx;
  if (p->dist)
    kugel__dist_destroy(p);
  if (p->gpu)
    kugel__sht_gpu_destroy(p);
  kugel__leg_destroy(p->leg);
  if (p->latlon)
    kugel__latlon_destroy(p->latlon);
  kugel__connection_destroy(p->connection);
  kugel__rings_destroy(p->rings);
  kugel__free(ctx, p->weight_north);
  kugel__free(ctx, p->pixel_weight);
  kugel_grid_destroy(p->grid);
  kugel__free(ctx, p);
  kugel_ctx_destroy(ctx);
}

kugel_status kugel_sht_get_info(const kugel_sht *p, kugel_sht_info *info)
{
  KUGEL_CHECK(p && info, KUGEL_EINVAL, "%s is NULL: pass a plan, and where to put its numbers",
              p ? "info" : "plan");
  kugel_sht_info own = {.size = sizeof own,
                        .lmax = p->lmax,
                        .mmax = p->mmax,
                        .nalm = p->nalm,
                        .npix = p->npix,
                        .n_alm_sets = p->n_alm,
                        .n_maps = p->n_map,
                        .parts = 1};
  if (p->gpu)
    kugel__sht_gpu_memory(p, &own.device_bytes, &own.parts);
  return kugel__give_info(info, &own, sizeof own, "kugel_sht_info");
}
