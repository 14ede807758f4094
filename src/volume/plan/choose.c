/* SPDX-License-Identifier: BSD-3-Clause */
/* Which engine a plan takes. */

#include <math.h>
#include "core/alloc.h"
#include "core/array.h"
#include "core/ctx.h"
#include "device/lanes.h"
#include "volume/plan/pencil.h"
#include "volume/plan/plan.h"

uint64_t kugel__volume_limit(const kugel_volume *p)
{
  return p->opts.memory ? p->opts.memory : atomic_load(&p->ctx->device_memory);
}

// The least number of parts that fit the limit: those of a power of two, or two without a limit.
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
    p->kept = true;
    kugel__volume_figures(p, &info);
    if (!limit || info.host_bytes <= limit)
      return KUGEL_OK;
    p->kept = false;
    kugel__volume_figures(p, &info);
    if (p->opts.parts || info.host_bytes <= limit)
      return KUGEL_OK;
    KUGEL_CHECK(p->axis[2].points > 8, KUGEL_ENOMEM,
                "the limit of %llu bytes is too little for parts, which take %llu: "
                "raise kugel_ctx_limit_memory",
                (unsigned long long)limit, (unsigned long long)info.host_bytes);
  }
}

// Resident if that fits the memory of the device, else tiles.
static kugel_status choose_on_device(kugel_volume *p, const int64_t *k)
{
  kugel_volume_info info;
  int64_t limit;
  p->engine = p->opts.engine ? p->opts.engine : KUGEL_VOLUME_RESIDENT;
  if (p->opts.engine == KUGEL_VOLUME_RESIDENT)
    return KUGEL_OK;
  KUGEL_TRY(kugel__device_lanes_limit(p->ctx, kugel__ctx_limit(p->ctx), &limit));
  kugel__volume_figures(p, &info);
  if (!p->opts.engine && info.device_bytes <= (uint64_t)limit)
    return KUGEL_OK;
  p->engine = KUGEL_VOLUME_TILES;
  return kugel__volume_choose_tile(p, k, (uint64_t)limit);
}

static kugel_status shape_engine(kugel_volume *p, kugel_volume_engine engine, const int64_t *n,
                                 const int64_t *k, uint64_t limit)
{
  p->engine = engine;
  if (engine == KUGEL_VOLUME_DIF)
    return choose_parts(p, n, k, limit);
  if (engine == KUGEL_VOLUME_PENCIL)
    return kugel__pencil_choose(p, limit);
  return engine == KUGEL_VOLUME_TILES ? kugel__volume_choose_tile(p, k, limit) : KUGEL_OK;
}

// The predicted seconds of a plan with this engine; infinite if there is none within the limit.
static double seconds_with(const kugel_volume *p, kugel_volume_engine engine, const int64_t *n,
                           const int64_t *k)
{
  kugel_volume *other = NULL;
  kugel_volume_info info = {.seconds = INFINITY};
  kugel_volume_opts o = p->opts;
  o.engine = engine;
  if (kugel__volume_start(p->ctx, p->ndim, n, k, &o, &other) == KUGEL_OK)
    kugel__volume_figures(other, &info);
  kugel_volume_destroy(other);
  return info.seconds;
}

// Resident if that fits, else what is predicted to be the fastest within the limit.
kugel_status kugel__volume_choose_engine(kugel_volume *p, const int64_t *n, const int64_t *k)
{
  uint64_t limit = kugel__volume_limit(p);
  kugel_volume_info info;
  if (p->ctx->device.type != KUGEL_CPU)
    return choose_on_device(p, k);
  if (p->opts.engine)
    return shape_engine(p, p->opts.engine, n, k, limit);
  p->engine = KUGEL_VOLUME_RESIDENT;
  kugel__volume_figures(p, &info);
  if (!limit || info.host_bytes <= limit)
    return KUGEL_OK;
  kugel_volume_engine best = KUGEL_VOLUME_TILES; // if all are equal: it reads least, and has no files
  double seconds = INFINITY;
  for (kugel_volume_engine e = KUGEL_VOLUME_TILES; e <= KUGEL_VOLUME_PENCIL; e++) {
    double s = seconds_with(p, e, n, k);
    best = s < seconds ? e : best;
    seconds = s < seconds ? s : seconds;
  }
  return shape_engine(p, best, n, k, limit);
}
