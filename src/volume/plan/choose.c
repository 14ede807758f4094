/* SPDX-License-Identifier: BSD-3-Clause */
/* Which engine a plan takes. */

#include <math.h>
#include "core/alloc.h"
#include "core/array.h"
#include "core/ctx.h"
#include "device/lanes.h"
#include "volume/gpu/device.h"
#include "volume/plan/global.h"
#include "volume/plan/pencil.h"
#include "volume/plan/plan.h"

uint64_t kugel__volume_limit(const kugel_volume *p)
{
  return p->opts.memory ? p->opts.memory : atomic_load(&p->ctx->device_memory);
}

// What a limit of memory is for.
static uint64_t need(const kugel_volume *p, const kugel_volume_info *info)
{
  return p->ctx->device.type == KUGEL_CPU ? info->host_bytes : info->device_bytes;
}

/* The least number of parts that fit the limit: those of a power of two, or two without a limit. On devices spectra are made
 * again for each part. */
static kugel_status choose_parts(kugel_volume *p, const int64_t *n, const int64_t *k, uint64_t limit)
{
  kugel_volume_info info;
  p->parts = p->opts.parts ? p->opts.parts : 2;
  for (;; p->parts *= 2) {
    for (int d = 0; d < KUGEL__VOLUME_DIMS; d++) {
      kugel__free(p->ctx, p->axis[d].table);
      p->axis[d] = (kugel__volume_axis){.n = 0};
    }
    p->segments = p->parts * (p->halved ? 2 : 1);
    KUGEL_TRY(kugel__volume_axes(p, n, k, p->opts.centre));
    kugel__volume_lay_out(p);
    for (p->kept = p->ctx->device.type == KUGEL_CPU;; p->kept = false) {
      kugel__volume_figures(p, &info);
      if (!limit || need(p, &info) <= limit)
        return KUGEL_OK;
      if (!p->kept)
        break;
    }
    if (p->opts.parts)
      return KUGEL_OK;
    KUGEL_CHECK(p->axis[2].points > 8, KUGEL_ENOMEM,
                "the limit of %llu bytes is too little for parts, which take %llu: "
                "raise kugel_ctx_limit_memory",
                (unsigned long long)limit, (unsigned long long)need(p, &info));
  }
}

static kugel_status shape_engine(kugel_volume *p, kugel_volume_engine engine, const int64_t *n,
                                 const int64_t *k, uint64_t limit)
{
  p->engine = engine;
  if (engine == KUGEL_VOLUME_DIF)
    return choose_parts(p, n, k, limit);
  if (engine == KUGEL_VOLUME_PENCIL)
    return kugel__pencil_choose(p, limit);
  if (engine == KUGEL_VOLUME_GLOBAL)
    return kugel__global_check(p);
  return engine == KUGEL_VOLUME_TILES ? kugel__volume_choose_tile(p, k, limit) : KUGEL_OK;
}

// The predicted seconds of a plan with this engine on so many threads, 0: those of the context; infinite if there is none within the
// limit.
static double seconds_with(const kugel_volume *p, kugel_volume_engine engine, const int64_t *n,
                           const int64_t *k, int64_t threads)
{
  kugel_volume *other = NULL;
  kugel_volume_info info = {.seconds = INFINITY};
  kugel_volume_opts o = p->opts;
  o.engine = engine;
  if (kugel__volume_start(p->ctx, p->ndim, n, k, &o, &other) == KUGEL_OK) {
    other->threads = threads;
    kugel__volume_figures(other, &info);
  }
  kugel_volume_destroy(other);
  return info.seconds;
}

enum { USUAL_THREADS = 8 };

// Of those that need not hold the whole, on a usual machine: bits must not depend on the number of threads.
static kugel_volume_engine fastest(const kugel_volume *p, const int64_t *n, const int64_t *k)
{
  kugel_volume_engine best = KUGEL_VOLUME_TILES; // if all are equal: it reads least, and has no files
  double seconds = INFINITY;
  for (kugel_volume_engine e = KUGEL_VOLUME_TILES; e <= KUGEL_VOLUME_PENCIL; e++) {
    double s = seconds_with(p, e, n, k, USUAL_THREADS);
    best = s < seconds ? e : best;
    seconds = s < seconds ? s : seconds;
  }
  return best;
}

// The engine of one process, unless ranks that serve do the same sooner: the bits stay. Tiles are shared out as they are.
static kugel_status share_out(kugel_volume *p, kugel_volume_engine engine, const int64_t *n, const int64_t *k,
                              uint64_t limit)
{
  bool whole = engine == KUGEL_VOLUME_RESIDENT || engine == KUGEL_VOLUME_PENCIL;
  KUGEL_TRY(shape_engine(p, engine, n, k, limit));
  if (!p->ctx->leads || kugel__lead_paused || !whole || p->ndim != KUGEL__VOLUME_DIMS)
    return KUGEL_OK;
  if (seconds_with(p, KUGEL_VOLUME_GLOBAL, n, k, 0) > seconds_with(p, engine, n, k, 0) ||
      (limit && kugel__global_memory(p, p->ctx->leads->size) > limit))
    return KUGEL_OK;
  kugel__pencil_destroy(p);
  p->pencil = NULL;
  return shape_engine(p, KUGEL_VOLUME_GLOBAL, n, k, limit);
}

// Resident if that fits the memory of the device, else what is predicted to be the fastest.
static kugel_status choose_on_device(kugel_volume *p, const int64_t *n, const int64_t *k)
{
  kugel_volume_info info;
  kugel_volume_engine engine = p->opts.engine;
  int64_t limit;
  p->engine = engine ? engine : KUGEL_VOLUME_RESIDENT;
  if (engine == KUGEL_VOLUME_RESIDENT)
    return KUGEL_OK;
  KUGEL_TRY(kugel__volume_device_limit(p, &limit));
  if (!engine) {
    kugel__volume_figures(p, &info);
    if (info.device_bytes <= (uint64_t)limit)
      return KUGEL_OK;
    engine = fastest(p, n, k);
  }
  return shape_engine(p, engine, n, k, (uint64_t)limit);
}

enum { ROWS = 8 }; // of tiles from which on ranks take them, if nothing is said

// As the whole but for a quarter, and enough rows of tiles; whatever the number of ranks, on which bits would depend else.
static kugel_status choose_over_ranks(kugel_volume *p, const int64_t *k)
{
  kugel_volume_engine e = p->opts.engine;
  KUGEL_CHECK(e == KUGEL_VOLUME_AUTO || e == KUGEL_VOLUME_TILES || e == KUGEL_VOLUME_GLOBAL, KUGEL_ENOTSUP,
              "engine is %d with opts.comm; ranks share KUGEL_VOLUME_TILES (2) and KUGEL_VOLUME_GLOBAL (5)",
              (int)e);
  KUGEL_TRY(kugel__global_check(p));
  p->engine = KUGEL_VOLUME_GLOBAL;
  if (e == KUGEL_VOLUME_GLOBAL)
    return KUGEL_OK;
  kugel_volume_info whole, tiles;
  p->engine = KUGEL_VOLUME_RESIDENT;
  kugel__volume_figures(p, &whole);
  p->engine = KUGEL_VOLUME_TILES;
  KUGEL_TRY(kugel__global_tile(p, k));
  if (e == KUGEL_VOLUME_TILES)
    return KUGEL_OK;
  kugel_comm *comm = p->opts.comm;
  p->opts.comm = NULL;
  kugel__volume_figures(p, &tiles);
  p->opts.comm = comm;
  // On devices by their traffic, since seconds are measured; 0: no block holds the lines.
  bool device = p->ctx->device.type != KUGEL_CPU;
  double cost = device ? (double)tiles.kernel_bytes : tiles.seconds,
         other = device ? (double)whole.kernel_bytes : whole.seconds;
  if (p->tiles[0] >= ROWS && cost > 0 && (cost <= 1.25 * other || other == 0))
    return KUGEL_OK;
  kugel_volume_destroy(p->sub);
  p->sub = NULL;
  p->engine = KUGEL_VOLUME_GLOBAL;
  return KUGEL_OK;
}

// Resident if that fits, else what is predicted to be the fastest within the limit.
kugel_status kugel__volume_choose_engine(kugel_volume *p, const int64_t *n, const int64_t *k)
{
  uint64_t limit = kugel__volume_limit(p);
  kugel_volume_info info;
  if (p->opts.comm)
    return choose_over_ranks(p, k);
  if (p->ctx->device.type != KUGEL_CPU)
    return choose_on_device(p, n, k);
  if (p->opts.engine)
    return shape_engine(p, p->opts.engine, n, k, limit);
  p->engine = KUGEL_VOLUME_RESIDENT;
  kugel__volume_figures(p, &info);
  if (!limit || info.host_bytes <= limit)
    return share_out(p, KUGEL_VOLUME_RESIDENT, n, k, limit);
  return share_out(p, fastest(p, n, k), n, k, limit);
}
