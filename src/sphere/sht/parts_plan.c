/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans transforms in parts: cuts ring pairs such that a memory limit holds. The number of parts follows from
 * estimates from above; the sizes are then counted, and if necessary the pairs are cut again. */
#include <stdlib.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "device/peer.h"
#include "device/usage.h"
#include "sphere/sht/parts.h"

enum { OVERLAP = 4, FEWEST = 2 /* least parts: so that copies overlap; per lane of several */ };

static int lanes_of(const kugel_sht *p)
{
  return 1 + p->ctx->npeers;
}

kugel_status kugel__parts_limit(const kugel_sht *p, int64_t *limit)
{
  return kugel__device_lanes_limit(p->ctx, p->memory, limit);
}

kugel_status kugel__parts_wanted(const kugel_sht *p, bool *wanted)
{
  kugel__device *device = kugel__ctx_device(p->ctx);
  kugel__cuts c = {.plan = p, .leg = kugel__leg_gpu_cuts(device, p->leg)};
  int64_t limit;
  KUGEL_TRY(kugel__parts_limit(p, &limit));
  *wanted = lanes_of(p) > 1 || kugel__parts_whole(&c) > limit;
  return KUGEL_OK;
}

/* ---- parts ---- */

/* The runs of pixels of the part's rings in the order of the map; adjacent rings are merged. */
static kugel_status make_runs(const kugel_sht *p, kugel__part *part)
{
  const kugel_grid *g = p->grid;
  int64_t n = 0;
  KUGEL_ALLOC(p->ctx, part->runs, (size_t)(2 * (part->p1 - part->p0)) * sizeof *part->runs);
  for (int64_t i = part->p0; i < part->p1; i++) {
    const int64_t rings[] = {g->pairs[i].north, g->pairs[i].south};
    for (int k = 0; k < 2; k++)
      if (rings[k] >= 0)
        part->runs[n++] = (kugel__stretch){.first = g->first[rings[k]], .count = g->nphi[rings[k]]};
  }
  part->nruns = kugel__stretch_merge(n, part->runs, &part->pixels);
  return KUGEL_OK;
}

static kugel_status make_rings(const kugel_sht *p, const kugel__rings_desc *whole, kugel_ctx *ctx,
                               kugel__part *part)
{
  int64_t p0 = part->p0, n = part->p1 - p0;
  int64_t *offset;
  KUGEL_ALLOC(p->ctx, offset, (size_t)n * 16);
  for (int64_t i = 0; i < n; i++) {
    offset[i] = whole->offset_north[p0 + i] < 0
                    ? -1
                    : kugel__stretch_place(part->nruns, part->runs, whole->offset_north[p0 + i]);
    offset[n + i] = whole->offset_south[p0 + i] < 0
                        ? -1
                        : kugel__stretch_place(part->nruns, part->runs, whole->offset_south[p0 + i]);
  }
  kugel__rings_desc d = {.npairs = n,
                         .mmax = whole->mmax,
                         .nphi_north = whole->nphi_north + p0,
                         .nphi_south = whole->nphi_south + p0,
                         .phi0_north = whole->phi0_north + p0,
                         .phi0_south = whole->phi0_south + p0,
                         .offset_north = offset,
                         .offset_south = offset + n,
                         .mlim = whole->mlim ? whole->mlim + p0 : NULL};
  kugel_status s = kugel__rings_gpu_create(ctx, &d, &part->rings);
  kugel__free(p->ctx, offset);
  return s;
}

static kugel__leg view_of(const kugel__leg *g, int64_t p0, int64_t p1)
{
  kugel__leg v = *g;
  double **tables[] = {&v.cth,      &v.sth,   &v.csq,      &v.log_s, &v.log_s_lo, &v.log_h,
                       &v.log_h_lo, &v.log_c, &v.log_c_lo, &v.vers,  &v.factor,   &v.ssq};
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
    *tables[i] += p0;
  v.mlim += p0;
  v.npairs = p1 - p0;
  v.npolar = kugel__max(0, kugel__min(g->npolar, p1) - p0);
  v.nwigner = kugel__max(0, kugel__min(g->nwigner, p1) - p0);
  return v;
}

static kugel_status room(kugel__parts_lane *lane, int64_t bytes, kugel__mem *out)
{
  return kugel__device_alloc(lane->on->device, (size_t)kugel__max(bytes, 64), &out->base);
}

static kugel_status make_part(const kugel_sht *p, const kugel__rings_desc *desc, const kugel__cuts *c,
                              kugel__parts_lane *lane, kugel__part *part)
{
  part->view = view_of(p->leg, part->p0, part->p1);
  KUGEL_TRY(make_runs(p, part));
  KUGEL_TRY(kugel__leg_gpu_create_part(lane->on->ctx, &part->view, &c->leg, part->p0,
                                       part == lane->parts ? NULL : lane->parts[0].leg, &part->leg));
  if (p->grid->has_weights)
    KUGEL_TRY(room(lane, (part->p1 - part->p0) * 16, &part->weight));
  return make_rings(p, desc, lane->on->ctx, part);
}

static kugel_status make_room(const kugel_sht *p, kugel__parts_lane *lane)
{
  int64_t coefs = 0, leg = 0, rings = 0, pixels = 0;
  for (int64_t i = 0; i < lane->nparts; i++) {
    const kugel__part *part = &lane->parts[i];
    coefs = kugel__max(coefs, p->n_map * (p->mmax + 1) * kugel__leg_gpu_row(part->leg) * 32);
    leg = kugel__max(leg, (int64_t)kugel__leg_gpu_work(part->leg));
    rings = kugel__max(rings, (int64_t)kugel__rings_gpu_work(part->rings));
    pixels = kugel__max(pixels, part->pixels);
  }
  KUGEL_TRY(room(lane, p->n_alm * p->nalm * 16, &lane->alm));
  KUGEL_TRY(room(lane, coefs, &lane->coefs));
  if (p->gpu->parts->nlanes > 1) // for the sums of other lanes
    leg = kugel__max(leg, p->n_alm * p->nalm * 16 + p->gpu->parts->nlanes * KUGEL__SLICE_ALIGN);
  lane->leg_room = kugel__round_up(leg, 4096);
  KUGEL_TRY(room(lane, lane->leg_room + rings, &lane->space));
  kugel__lane_bytes maps = {.in = (size_t)kugel__max(p->n_map * pixels * 8, 64)};
  KUGEL_TRY(kugel__lane_room(lane->on, &maps));
  return room(lane, sizeof(int32_t), &lane->bad);
}

static kugel_status make_lane(const kugel_sht *p, const kugel__rings_desc *desc, const kugel__cuts *c, int k)
{
  kugel__parts_lane *lane = &p->gpu->parts->lanes[k];
  lane->on = &p->gpu->parts->devices->lane[k];
  uint64_t before, after;
  kugel__usage(lane->on->device, &before, NULL);
  KUGEL_ALLOC(p->ctx, lane->parts, (size_t)(c->each + 2) * sizeof *lane->parts);
  for (int way = 0; way < KUGEL__WAYS; way++)
    KUGEL_ALLOC(p->ctx, lane->order[way], (size_t)(c->each + 2) * sizeof(kugel__part *));
  for (int64_t i = 0; i < c->count; i++)
    if (c->list[i].lane == k) {
      kugel__part *part = &lane->parts[lane->nparts++];
      *part = (kugel__part){.p0 = c->list[i].p0, .p1 = c->list[i].p1};
      for (int way = 0; way < KUGEL__WAYS; way++)
        if (c->list[i].ways[way])
          lane->order[way][lane->count[way]++] = part;
      KUGEL_TRY(make_part(p, desc, c, lane, part));
    }
  for (int64_t i = 0, n = lane->count[KUGEL__BACK]; i < n / 2; i++) { // the adjoint begins with the last part
    kugel__part **order = lane->order[KUGEL__BACK], *first = order[i];
    order[i] = order[n - 1 - i];
    order[n - 1 - i] = first;
  }
  KUGEL_TRY(make_room(p, lane));
  if (c->nlanes > 1)
    KUGEL_TRY(kugel__vector_gpu_load(lane->on->ctx, &lane->module, &lane->add));
  kugel__usage(lane->on->device, &after, NULL);
  lane->bytes = after - before;
  return KUGEL_OK;
}

static kugel_status make_parts(kugel_sht *p, const kugel__rings_desc *desc, const kugel__cuts *c)
{
  kugel__parts *q = kugel__calloc(p->ctx, sizeof *q);
  KUGEL_CHECK(q, KUGEL_ENOMEM, "no memory for a plan");
  p->gpu->parts = q;
  q->lanes = kugel__calloc(p->ctx, (size_t)c->nlanes * sizeof *q->lanes);
  KUGEL_CHECK(q->lanes, KUGEL_ENOMEM, "no memory for a plan on %d devices", c->nlanes);
  KUGEL_TRY(kugel__device_lanes_create(p->ctx, KUGEL__PART_SLOTS, &q->devices));
  q->nlanes = c->nlanes;
  for (int k = 0; k < q->nlanes; k++)
    KUGEL_TRY(make_lane(p, desc, c, k));
  return kugel__devices_link(p->ctx, NULL);
}

/* Increases the number of parts until all fits: first by the estimate from above, then by the counted size.
 * */
static kugel_status fit(kugel_sht *p, const kugel__rings_desc *desc, kugel__cuts *c, int64_t limit)
{
  int64_t most = kugel__max(p->grid->npairs / (c->nlanes * kugel__min(c->leg.tile, 32)), 1),
          least = INT64_MAX;
  int64_t start = kugel__max(FEWEST, OVERLAP / c->nlanes);
  start = kugel__max(1, kugel__min(start, p->grid->npairs / (c->nlanes * 4 * c->leg.tile)));
  double share = 0.75; // counted bytes / estimated bytes of the last trial
  for (c->each = start; c->each <= most; c->each += 1 + c->each / 8) {
    kugel__parts_cut(c);
    double bytes = (double)kugel__parts_need(c);
    least = kugel__min(least, (int64_t)(share * bytes));
    if (share * bytes > (double)limit)
      continue;
    uint64_t held;
    KUGEL_TRY(make_parts(p, desc, c));
    kugel__parts_memory(p, &held, NULL);
    if ((int64_t)held <= limit)
      return KUGEL_OK;
    kugel__parts_destroy(p);
    share = (double)held / bytes;
    least = (int64_t)held;
  }
  return KUGEL_FAIL(KUGEL_ENOMEM,
                    "the plan may use %lld bytes of %s, needs at least about %lld for lmax = %lld: raise the "
                    "context's limit of memory, or "
                    "use a context on the CPU",
                    (long long)limit, kugel__ctx_device(p->ctx)->info.name, (long long)least,
                    (long long)p->lmax);
}

kugel_status kugel__parts_create(kugel_sht *p, const kugel__rings_desc *desc)
{
  kugel__cuts c = {
      .plan = p, .leg = kugel__leg_gpu_cuts(kugel__ctx_device(p->ctx), p->leg), .nlanes = lanes_of(p)};
  int64_t limit;
  KUGEL_TRY(kugel__parts_limit(p, &limit));
  int64_t most = p->grid->npairs + FEWEST + OVERLAP; // of each
  size_t bounds = (size_t)c.nlanes + 1;
  KUGEL_ALLOC(p->ctx, c.list, (size_t)kugel__cuts_most(c.nlanes, most) * sizeof *c.list + 2 * bounds * 8);
  c.bounds[0] = (int64_t *)(c.list + kugel__cuts_most(c.nlanes, most));
  c.bounds[1] = c.bounds[0] + bounds;
  kugel_status s = fit(p, desc, &c, limit);
  kugel__free(p->ctx, c.list);
  return s;
}

kugel_status kugel__parts_weights(const kugel_sht *p)
{
  kugel__parts *q = p->gpu->parts;
  for (int k = 0; k < q->nlanes; k++)
    for (int64_t i = 0; i < q->lanes[k].nparts; i++) {
      kugel__part *part = &q->lanes[k].parts[i];
      int64_t n = part->p1 - part->p0;
      double *t;
      KUGEL_ALLOC(p->ctx, t, (size_t)n * 16);
      for (int64_t j = 0; j < n; j++) {
        t[2 * j] = p->weight_north[part->p0 + j];
        t[2 * j + 1] = p->weight_south[part->p0 + j];
      }
      kugel_status s = kugel__device_copy(q->lanes[k].on->device, KUGEL__UPLOAD, part->weight,
                                          (kugel__mem){t, 0}, (size_t)n * 16, NULL);
      kugel__free(p->ctx, t);
      KUGEL_TRY(s);
    }
  return KUGEL_OK;
}

static void free_lane(kugel_ctx *ctx, kugel__parts_lane *lane)
{
  if (!lane->on)
    return;
  kugel__module_put(lane->module);
  void *blocks[] = {lane->alm.base, lane->coefs.base, lane->space.base, lane->bad.base};
  for (int i = 0; i < 4; i++)
    kugel__device_free(lane->on->device, blocks[i]);
  for (int64_t i = lane->nparts - 1; i >= 0; i--) { // the first part owns the tables that the others share
    kugel__part *part = &lane->parts[i];
    kugel__leg_gpu_destroy(part->leg);
    kugel__rings_gpu_destroy(part->rings);
    kugel__device_free(lane->on->device, part->weight.base);
    kugel__free(ctx, part->runs);
  }
  kugel__free(ctx, lane->parts);
  for (int way = 0; way < KUGEL__WAYS; way++)
    kugel__free(ctx, lane->order[way]);
}

void kugel__parts_destroy(kugel_sht *p)
{
  kugel__parts *q = p->gpu->parts;
  if (!q)
    return;
  for (int k = 0; q->lanes && k < q->nlanes; k++)
    free_lane(p->ctx, &q->lanes[k]);
  kugel__device_lanes_destroy(q->devices);
  kugel__free(p->ctx, q->lanes);
  kugel__free(p->ctx, q);
  p->gpu->parts = NULL;
}

void kugel__parts_memory(const kugel_sht *p, uint64_t *bytes, int64_t *count)
{
  const kugel__parts *q = p->gpu->parts;
  uint64_t most = 0;
  int64_t n = 0;
  for (int k = 0; k < q->nlanes; k++) {
    most = q->lanes[k].bytes > most ? q->lanes[k].bytes : most;
    n += q->lanes[k].nparts;
  }
  if (bytes)
    *bytes = most;
  if (count)
    *count = n;
}
