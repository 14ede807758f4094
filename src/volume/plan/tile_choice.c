/* SPDX-License-Identifier: BSD-3-Clause */
/* The lengths of a tile: within a limit of memory, on devices so that copies and kernels overlap. */
#include <math.h>
#include <string.h>
#include "core/array.h"
#include "core/ctx.h"
#include "volume/plan/plan.h"

// A plan of one tile, without spectra.
static kugel_status shape_tile(const kugel_volume *p, const int64_t *k, const int64_t *tile,
                               kugel_volume **out)
{
  int64_t n[KUGEL__VOLUME_DIMS];
  int lead = KUGEL__VOLUME_DIMS - p->ndim;
  for (int d = 0; d < p->ndim; d++)
    n[d] = tile[d + lead] + k[d] - 1;
  kugel_volume_opts o = p->opts;
  o.extent = KUGEL_CONV_VALID;
  o.boundary = KUGEL_BOUNDARY_ZERO;
  o.engine = KUGEL_VOLUME_RESIDENT;
  o.centre = o.tile = NULL;
  o.comm = NULL;
  KUGEL_TRY(kugel__volume_start(p->ctx, p->ndim, n, k, &o, out));
  (*out)->collects = p->collects;
  return KUGEL_OK;
}

static void count_tiles(kugel_volume *p)
{
  for (int d = 0; d < KUGEL__VOLUME_DIMS; d++)
    p->tiles[d] = (p->axis[d].m + p->tile[d] - 1) / p->tile[d];
}

// Bytes and predicted seconds of all tiles of these lengths.
static kugel_status judge(kugel_volume *p, const int64_t *k, const int64_t *tile, kugel_volume_info *info)
{
  kugel_volume *one = NULL;
  memcpy(p->tile, tile, sizeof p->tile);
  count_tiles(p);
  kugel_status s = shape_tile(p, k, tile, &one);
  if (!s) {
    p->sub = one;
    kugel__volume_figures(p, info);
    p->sub = NULL;
  }
  kugel_volume_destroy(one);
  return s;
}

static kugel_status given_tile(kugel_volume *p)
{
  int lead = KUGEL__VOLUME_DIMS - p->ndim;
  for (int d = 0; d < KUGEL__VOLUME_DIMS; d++) {
    int64_t t = d < lead ? 1 : p->opts.tile[d - lead];
    KUGEL_CHECK(t >= 1, KUGEL_EINVAL, "tile[%d] is %lld, must be at least 1", d - lead, (long long)t);
    p->tile[d] = kugel__min(t, p->axis[d].m);
  }
  count_tiles(p);
  return KUGEL_OK;
}

// The tile cut once more along an axis.
static int64_t cut_once(const kugel_volume *p, const int64_t *tile, int d)
{
  int64_t m = p->axis[d].m, count = (m + tile[d] - 1) / tile[d] + 1;
  return kugel__min(tile[d] - 1, (m + count - 1) / count);
}

// What a limit of memory is for.
static uint64_t need(const kugel_volume *p, const kugel_volume_info *info)
{
  return p->ctx->device.type == KUGEL_CPU ? info->host_bytes : info->device_bytes;
}

// Cuts the axis with the least product of bytes and seconds after it until a tile fits.
static kugel_status fit_tile(kugel_volume *p, const int64_t *k, uint64_t limit, int64_t *tile)
{
  kugel_volume_info info, next;
  KUGEL_TRY(judge(p, k, tile, &info));
  while (limit && need(p, &info) > limit) {
    double best = INFINITY;
    int axis = -1;
    for (int d = 0; d < KUGEL__VOLUME_DIMS; d++) {
      int64_t whole = tile[d];
      if (whole == 1)
        continue;
      tile[d] = cut_once(p, tile, d);
      KUGEL_TRY(judge(p, k, tile, &next));
      tile[d] = whole;
      double cost = next.seconds * (double)need(p, &next);
      if (cost < best) {
        best = cost;
        axis = d;
      }
    }
    KUGEL_CHECK(
        axis >= 0, KUGEL_ENOMEM,
        "the limit of %llu bytes holds no tile; the smallest takes %llu: raise kugel_ctx_limit_memory",
        (unsigned long long)limit, (unsigned long long)need(p, &info));
    tile[axis] = cut_once(p, tile, axis);
    KUGEL_TRY(judge(p, k, tile, &info));
  }
  return KUGEL_OK;
}

// On devices, where tiles are copied while others are convolved: one axis in more tiles, if that is predicted to be faster.
static kugel_status cut_for_overlap(kugel_volume *p, const int64_t *k, uint64_t limit)
{
  int64_t first[KUGEL__VOLUME_DIMS], best[KUGEL__VOLUME_DIMS], tile[KUGEL__VOLUME_DIMS];
  kugel_volume_info info;
  memcpy(first, p->tile, sizeof first);
  memcpy(best, p->tile, sizeof best);
  KUGEL_TRY(judge(p, k, first, &info));
  double seconds = info.seconds;
  for (int d = 0; d < KUGEL__VOLUME_DIMS; d++)
    for (int64_t cuts = 2; cuts <= 32 && cuts <= first[d]; cuts += cuts < 4 ? 1 : cuts / 2) {
      memcpy(tile, first, sizeof tile);
      tile[d] = (first[d] + cuts - 1) / cuts;
      KUGEL_TRY(judge(p, k, tile, &info));
      if (info.seconds < seconds && need(p, &info) <= limit) {
        seconds = info.seconds;
        memcpy(best, tile, sizeof best);
      }
    }
  return judge(p, k, best, &info);
}

kugel_status kugel__volume_choose_tile(kugel_volume *p, const int64_t *k, uint64_t limit)
{
  int64_t tile[KUGEL__VOLUME_DIMS];
  for (int d = 0; d < KUGEL__VOLUME_DIMS; d++)
    tile[d] = p->axis[d].m;
  if (p->opts.tile)
    KUGEL_TRY(given_tile(p));
  else
    KUGEL_TRY(fit_tile(p, k, limit, tile));
  if (!p->opts.tile && p->ctx->device.type != KUGEL_CPU)
    KUGEL_TRY(cut_for_overlap(p, k, limit));
  return shape_tile(p, k, p->tile, &p->sub);
}
