/* SPDX-License-Identifier: BSD-3-Clause */
/* What a plan of deconvolution takes, and the tiles that fit its memory. */
#include "core/alloc.h"
#include "core/ctx.h"
#include "comm/lead.h"
#include "device/lanes.h"
#include "deconv/deconv.h"
#include "deconv/device.h"
#include "volume/gpu/device.h"

static void shape_tile(kugel_deconv *p, const int64_t parts[3])
{
  p->tiles = 1;
  for (int a = 0; a < 3; a++) {
    int64_t halo = p->opts.halo ? p->opts.halo : p->k[a] - 1;
    p->tile[a] = (p->n[a] + parts[a] - 1) / parts[a];
    p->tiles *= (p->n[a] + p->tile[a] - 1) / p->tile[a];
    p->cut[a] = parts[a] == 1 ? p->n[a] : kugel__min(p->n[a], p->tile[a] + 2 * halo);
    bool wider = p->opts.edges == KUGEL_DECONV_UNKNOWN;
    p->object[a] = p->cut[a] + (wider ? p->k[a] - 1 : 0);
    p->first[a] = wider ? p->k[a] - 1 - p->centre[a] : 0;
  }
}

// Of a device alone: arrays are there, or, with steps on the host, what is predicted to be fastest.
static kugel_volume_engine engine_of(const kugel_deconv *p)
{
  if (p->opts.comm || p->ctx->device.type == KUGEL_CPU)
    return p->engine;
  return !p->host ? KUGEL_VOLUME_RESIDENT : p->engine == KUGEL_VOLUME_GLOBAL ? KUGEL_VOLUME_AUTO : p->engine;
}

kugel_volume_opts kugel__deconv_volume_opts(const kugel_deconv *p)
{
  static const kugel_boundary boundary[] = {KUGEL_BOUNDARY_ZERO, KUGEL_BOUNDARY_ZERO,
                                            KUGEL_BOUNDARY_REPLICATE, KUGEL_BOUNDARY_REFLECT,
                                            KUGEL_BOUNDARY_PERIODIC};
  return (kugel_volume_opts){.size = sizeof(kugel_volume_opts),
                             .extent =
                                 p->opts.edges == KUGEL_DECONV_UNKNOWN ? KUGEL_CONV_VALID : KUGEL_CONV_SAME,
                             .boundary = boundary[p->opts.edges],
                             .precision = p->opts.precision,
                             .engine = engine_of(p),
                             .centre = p->centre,
                             .depths = p->opts.depths,
                             .depth = p->planes ? p->planes : p->opts.depth,
                             .memory = p->host ? 0 : p->room,
                             .device_memory = p->host ? p->room : 0,
                             .adjoint = p->host && !p->opts.comm,
                             .scratch = p->opts.scratch,
                             .comm = p->opts.comm};
}

static int arrays_of(kugel_deconv_method m)
{
  return m == KUGEL_DECONV_BIGGS                                                           ? 7
         : m == KUGEL_DECONV_SHB || m == KUGEL_DECONV_WIENER || m == KUGEL_DECONV_TIKHONOV ? 5
         : m == KUGEL_DECONV_TV                                                            ? 4
                                                                                           : 3;
}

static double product(const int64_t n[3])
{
  return (double)n[0] * (double)n[1] * (double)n[2];
}

// Of an execution: object, image, mask.
static uint64_t array_bytes(const kugel_deconv *p)
{
  double arrays = arrays_of(p->opts.method) * product(p->object) + 2 * product(p->cut);
  return (uint64_t)(arrays * (double)p->real + product(p->cut));
}

static uint64_t plans_of(const kugel_deconv *p)
{
  return p->opts.back ? 2 : 1;
}

static kugel_status cost_of(const kugel_deconv *p, kugel_deconv_cost *c)
{
  kugel_volume_opts o = kugel__deconv_volume_opts(p);
  kugel_volume_info v = {.size = sizeof v};
  KUGEL_TRY(kugel_volume_estimate(p->ctx, 3, p->object, p->k, &o, &v));
  *c = (kugel_deconv_cost){.size = sizeof *c, .tiles = p->tiles, .engine = v.engine};
  c->bytes = v.host_bytes * plans_of(p) + array_bytes(p);
  c->scratch_bytes = v.scratch_bytes * plans_of(p);
  c->seconds = 2 * v.seconds * (double)(p->opts.iterations + 1) * (double)p->tiles;
  c->seconds +=
      4e-9 * product(p->object) * (double)(p->opts.iterations * p->tiles) / kugel__ctx_threads(p->ctx);
  c->host = p->host;
  if (p->host) {
    kugel__volume_rates r = kugel__volume_device_rates(p->ctx);
    double moved = (product(p->object) + product(p->cut)) * (double)p->real; // what residents leave out
    bool resident = v.engine == KUGEL_VOLUME_RESIDENT;
    c->device_bytes = v.device_bytes * plans_of(p);
    c->kernel_bytes = 2 * v.kernel_bytes;
    c->seconds += resident ? moved * (1 / r.up + 1 / r.down) * (double)(p->opts.iterations + 1) : 0;
    // the adjoint of tiles adds them up in doubles of its own, if many meet
    c->bytes += v.engine == KUGEL_VOLUME_TILES ? (uint64_t)product(p->object) * 8 : 0;
  } else if (kugel__deconv_on_device(p)) { // in host memory: what goes there and back
    c->bytes =
        v.host_bytes + (uint64_t)((product(p->object) + product(p->cut)) * (double)p->real + product(p->cut));
    kugel__deconv_device_figures(p, &v, c);
    double step = v.seconds * (double)c->kernel_bytes / (double)kugel__max((int64_t)v.kernel_bytes, 1);
    c->seconds = step * (double)(p->opts.iterations + 1) * (double)p->tiles;
  }
  for (int a = 0; a < 3; a++)
    c->transform[a] = v.transform[a];
  if (p->opts.comm) {                                                  // what a rank takes
    uint64_t plans = v.engine == KUGEL_VOLUME_TILES ? 2 : plans_of(p); // tiles have one that goes back
    uint64_t ranks = (uint64_t)p->opts.comm->size;
    if (p->ctx->device.type == KUGEL_CPU || p->host) {
      c->bytes = v.host_bytes * plans + array_bytes(p) / ranks;
      c->seconds = 2 * v.seconds * (double)(p->opts.iterations + 1);
    } else {
      c->bytes = v.host_bytes * plans + c->bytes / ranks;
      c->device_bytes = v.device_bytes * plans + array_bytes(p) / ranks;
      uint64_t all = 2 * v.kernel_bytes, arrays = c->kernel_bytes - all; // of the whole object and image
      c->kernel_bytes = all + arrays / ranks;
      c->seconds = v.seconds * (double)c->kernel_bytes / (double)kugel__max((int64_t)v.kernel_bytes, 1) *
                   (double)(p->opts.iterations + 1);
    }
  }
  return KUGEL_OK;
}

/* One tile; convolutions have the memory that the arrays leave. */
static kugel_status choose_whole(kugel_deconv *p, uint64_t limit, kugel_deconv_cost *c)
{
  shape_tile(p, (const int64_t[3]){1, 1, 1});
  uint64_t arrays = array_bytes(p);
  KUGEL_CHECK(
      !limit || limit > arrays, KUGEL_ENOMEM,
      "exact needs %llu bytes for arrays of the whole image, memory is %llu: raise it, or leave exact 0 "
      "for tiles",
      (unsigned long long)arrays, (unsigned long long)limit);
  uint64_t room = limit ? limit - arrays : 0, sum = (uint64_t)product(p->object) * 8;
  p->room = room / plans_of(p);
  KUGEL_TRY(cost_of(p, c));
  if (!limit || c->engine != KUGEL_VOLUME_TILES)
    return KUGEL_OK;
  if (room > sum) { // the adjoint of tiles adds them up in doubles of its own, if many meet
    p->room = (room - sum) / plans_of(p);
    if (cost_of(p, c) == KUGEL_OK) {
      c->bytes += c->engine == KUGEL_VOLUME_TILES ? sum : 0;
      return KUGEL_OK;
    }
  }
  p->room = room / plans_of(p);
  p->engine = KUGEL_VOLUME_PENCIL;
  return cost_of(p, c);
}

// Depths counted in planes of the object.
static kugel_status place_psfs(kugel_deconv *p)
{
  if (!p->opts.depths || p->planes)
    return KUGEL_OK;
  KUGEL_ALLOC(p->ctx, p->planes, (size_t)p->opts.depths * sizeof *p->planes);
  for (int64_t i = 0; i < p->opts.depths; i++)
    p->planes[i] = p->opts.depth[i] + (double)p->first[0];
  return KUGEL_OK;
}

// Over ranks, or by tiles with halos: the whole image.
static kugel_status choose_shared(kugel_deconv *p, kugel_deconv_cost *c)
{
  bool folded = p->opts.edges == KUGEL_DECONV_REPLICATE || p->opts.edges == KUGEL_DECONV_REFLECT;
  KUGEL_CHECK(
      !p->opts.memory, KUGEL_EINVAL,
      "memory is %llu with comm or engine: ranks share the whole image, so leave it 0 and start more of "
      "them",
      (unsigned long long)p->opts.memory);
  bool devices = p->ctx->device.type != KUGEL_CPU;
  p->engine = folded || (devices && p->opts.depths) ? KUGEL_VOLUME_GLOBAL : p->opts.engine;
  p->host = devices && p->opts.method > KUGEL_DECONV_TV;
  shape_tile(p, (const int64_t[3]){1, 1, 1});
  if (devices)
    KUGEL_TRY(place_psfs(p));
  return cost_of(p, c);
}

/* On a device of which `limit` bytes may be used: convolutions there, by the engine that is predicted to be fastest; the arrays
 * of the whole image in host memory, and the steps on its threads. */
static kugel_status choose_host(kugel_deconv *p, uint64_t limit, kugel_deconv_cost *c)
{
  p->host = true;
  p->room = limit / plans_of(p);
  shape_tile(p, (const int64_t[3]){1, 1, 1});
  KUGEL_TRY(place_psfs(p));
  return cost_of(p, c);
}

/* Cuts the axis whose tile is longest beside the PSF, until what a tile takes is within the limit. */
static kugel_status choose_tiles(kugel_deconv *p, kugel_deconv_cost *c)
{
  int64_t parts[3] = {1, 1, 1}, limit = (int64_t)p->opts.memory;
  bool device = kugel__deconv_on_device(p);
  if (p->opts.comm || p->opts.engine)
    return choose_shared(p, c);
  if (p->opts.exact && !device)
    return choose_whole(p, p->opts.memory, c);
  if (device && !limit)
    KUGEL_TRY(kugel__device_lanes_limit(p->ctx, kugel__ctx_limit(p->ctx), &limit));
  if (device && p->opts.method > KUGEL_DECONV_TV)
    return choose_host(p, (uint64_t)limit, c);
  for (;;) {
    shape_tile(p, parts);
    if (limit && !device) { // which says what threads may take, whatever their number
      p->room = (uint64_t)limit;
      p->engine = KUGEL_VOLUME_RESIDENT;
    }
    KUGEL_TRY(cost_of(p, c));
    uint64_t bytes = device ? c->device_bytes : c->bytes;
    if (!limit || bytes <= (uint64_t)limit)
      return KUGEL_OK;
    if (p->opts.exact)
      return choose_host(p, (uint64_t)limit, c);
    int axis = -1;
    double best = 0;
    for (int a = 0; a < 3; a++) {
      double length = (double)p->tile[a] / (double)(p->k[a] + 8);
      if (p->tile[a] > 1 && length > best) {
        best = length;
        axis = a;
      }
    }
    KUGEL_CHECK(axis >= 0 && (double)p->tile[axis] > 0.25 * (double)p->k[axis], KUGEL_ENOMEM,
                "a tile of %lld x %lld x %lld with the PSF's extent around it needs %llu bytes, memory is "
                "%lld: raise it, or crop the PSF",
                (long long)p->tile[0], (long long)p->tile[1], (long long)p->tile[2],
                (unsigned long long)bytes, (long long)limit);
    int64_t less = p->tile[axis] - 1; // and the fewest parts of at most that
    parts[axis] = (p->n[axis] + less - 1) / less;
  }
}

kugel_status kugel__deconv_choose_tiles(kugel_deconv *p, kugel_deconv_cost *c)
{
  bool before = kugel__lead_paused;
  kugel__lead_paused = true;
  kugel_status s = choose_tiles(p, c);
  kugel__lead_paused = before;
  return s;
}

kugel_status kugel__deconv_choose_share(const kugel_deconv *p, kugel_deconv_cost *c,
                                        kugel__deconv_share *share)
{
  const kugel_comm *ranks = p->ctx->leads;
  kugel_volume_engine given = p->opts.engine, engine = (kugel_volume_engine)c->engine;
  *share = KUGEL__DECONV_ALONE;
  KUGEL_CHECK(given != KUGEL_VOLUME_GLOBAL || p->opts.comm || ranks, KUGEL_EINVAL,
              "engine is KUGEL_VOLUME_GLOBAL (5) without ranks: set comm, or start several with mpirun");
  bool device = p->ctx->device.type != KUGEL_CPU; // which shares where it is asked to: its bits are others
  if (p->opts.comm || !ranks || (device && !given))
    return KUGEL_OK;
  if (device) {
    *share = KUGEL__DECONV_WHOLE;
    c->seconds /= ranks->size;
    c->device_bytes /= (uint64_t)ranks->size;
    return KUGEL_OK;
  }
  if (given ||
      (c->tiles == 1 && p->n[0] > 1 && (engine == KUGEL_VOLUME_RESIDENT || engine == KUGEL_VOLUME_PENCIL))) {
    kugel_volume_opts o = kugel__deconv_volume_opts(p);
    kugel_volume_info v = {.size = sizeof v};
    o.engine = given == KUGEL_VOLUME_GLOBAL ? given : KUGEL_VOLUME_AUTO;
    KUGEL_TRY(kugel_volume_estimate(p->ctx, 3, p->object, p->k, &o, &v));
    if (!given && v.engine != KUGEL_VOLUME_GLOBAL)
      return KUGEL_OK;
    *share = KUGEL__DECONV_WHOLE;
    c->seconds /= ranks->size;
    c->scratch_bytes = 0;
  } else if (c->tiles > 1 && engine == KUGEL_VOLUME_RESIDENT && !p->opts.callback) {
    *share = KUGEL__DECONV_TILES;
    c->seconds *= (double)((c->tiles + ranks->size - 1) / ranks->size) / (double)c->tiles;
  }
  return KUGEL_OK;
}
