/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans over ranks with devices: own stages, runs of messages, memory. */
#include "core/alloc.h"
#include "core/ctx.h"
#include "device/usage.h"
#include "sphere/sht/dist.h"
#include "sphere/sht/parts.h"

/* As in kernels/ranks.cl. */
typedef struct run {
  int64_t leg, message, n;
} run;

/* Where own order d->order[j] begins in its message to rank r. */
static int64_t order_place(const kugel__dist *d, int piece, int64_t j, int r)
{
  const size_t *at = d->messages + ((size_t)piece * 4 + 1) * (size_t)d->size;
  return ((int64_t)at[r] / 8 + d->pack_at[(j - d->begin[d->rank]) * d->size + r]) / 2;
}

/* Where an order of rank r begins in its message from there, behind those of own orders. */
static int64_t pair_place(const kugel__dist *d, int piece, int64_t j, int r)
{
  const size_t *at = d->messages + ((size_t)piece * 4 + 3) * (size_t)d->size;
  return ((int64_t)(d->most_out + at[r]) / 8 + d->unpack_at[j]) / 2;
}

/* Where an order's row begins, from its first pair on, among own pairs. */
static int64_t own_place(const kugel_sht *p, int64_t m)
{
  const kugel__dist *d = p->dist;
  return 2 * (m * p->gpu->ranks->row[KUGEL__DIST_PAIRS] + kugel__dist_first(d, d->rank, m) - d->cut[d->rank]);
}

/* Own orders at the pairs of every other rank. */
static int64_t order_runs(const kugel_sht *p, int piece, run *runs)
{
  const kugel__dist *d = p->dist;
  int64_t n = 0, row = p->gpu->ranks->row[KUGEL__DIST_ORDERS];
  for (int64_t j = kugel__dist_piece(d, d->rank, piece); j < kugel__dist_piece(d, d->rank, piece + 1); j++)
    for (int r = 0; r < d->size; r++) {
      int64_t slot = j - d->begin[d->rank], first = kugel__dist_first(d, r, d->order[j]),
              count = d->cut[r + 1] - first;
      if (count > 0 && r != d->rank)
        runs[n++] = (run){2 * (slot * row + first), order_place(d, piece, j, r), 2 * count};
    }
  return n;
}

/* Own orders at own pairs. */
static int64_t stay_runs(const kugel_sht *p, int piece, run *runs)
{
  const kugel__dist *d = p->dist;
  int64_t n = 0, row = p->gpu->ranks->row[KUGEL__DIST_ORDERS];
  for (int64_t j = kugel__dist_piece(d, d->rank, piece); j < kugel__dist_piece(d, d->rank, piece + 1); j++) {
    int64_t slot = j - d->begin[d->rank], first = kugel__dist_first(d, d->rank, d->order[j]),
            count = d->cut[d->rank + 1] - first;
    if (count > 0)
      runs[n++] = (run){2 * (slot * row + first), own_place(p, d->order[j]), 2 * count};
  }
  return n;
}

/* Orders of every other rank at own pairs. */
static int64_t pair_runs(const kugel_sht *p, int piece, run *runs)
{
  const kugel__dist *d = p->dist;
  int64_t n = 0;
  for (int r = 0; r < d->size; r++)
    for (int64_t j = kugel__dist_piece(d, r, piece); j < kugel__dist_piece(d, r, piece + 1); j++) {
      int64_t first = kugel__dist_first(d, d->rank, d->order[j]), count = d->cut[d->rank + 1] - first;
      if (count > 0 && r != d->rank)
        runs[n++] = (run){own_place(p, d->order[j]), pair_place(d, piece, j, r), 2 * count};
    }
  return n;
}

static kugel_status make_runs(kugel_sht *p, int list, int64_t most)
{
  static int64_t (*const runs_of[KUGEL__DIST_LISTS])(const kugel_sht *, int, run *) = {
      [KUGEL__DIST_ORDERS] = order_runs, [KUGEL__DIST_PAIRS] = pair_runs, [KUGEL__DIST_STAY] = stay_runs};
  const kugel__dist *d = p->dist;
  kugel__dist_gpu *q = p->gpu->ranks;
  run *runs;
  KUGEL_ALLOC(p->ctx, runs, (size_t)(most + 1) * sizeof *runs);
  for (int k = 0; k < d->pieces; k++)
    q->begin[list][k + 1] = q->begin[list][k] + runs_of[list](p, k, runs + q->begin[list][k]);
  size_t bytes = (size_t)q->begin[list][d->pieces] * sizeof *runs;
  kugel_status s = kugel__sht_gpu_room(p->gpu, bytes, &q->runs[list]);
  if (!s && bytes)
    s = kugel__device_copy(p->device, KUGEL__UPLOAD, q->runs[list], (kugel__mem){runs, 0}, bytes, NULL);
  kugel__free(p->ctx, runs);
  return s;
}

/* The rings of own pairs. */
static kugel_status make_rings(const kugel_sht *p, const kugel__rings_desc *all)
{
  const kugel__dist *d = p->dist;
  int64_t p0 = d->cut[d->rank];
  kugel__rings_desc own = {.npairs = d->cut[d->rank + 1] - p0,
                           .mmax = all->mmax,
                           .nphi_north = all->nphi_north + p0,
                           .nphi_south = all->nphi_south + p0,
                           .phi0_north = all->phi0_north + p0,
                           .phi0_south = all->phi0_south + p0,
                           .offset_north = all->offset_north + p0,
                           .offset_south = all->offset_south + p0,
                           .mlim = all->mlim ? all->mlim + p0 : NULL};
  return own.npairs ? kugel__rings_gpu_create(p->ctx, &own, &p->gpu->rings) : KUGEL_OK;
}

static kugel_status make_stages(const kugel_sht *p, const kugel__rings_desc *desc)
{
  const kugel__dist *d = p->dist;
  kugel__sht_gpu *g = p->gpu;
  uint64_t before, after;
  kugel__usage(p->device, &before, NULL);
  if (d->begin[d->rank + 1] > d->begin[d->rank])
    KUGEL_TRY(kugel__leg_gpu_create_ranks(p->ctx, p->leg, d->rank, d->size, &g->leg));
  KUGEL_TRY(make_rings(p, desc));
  kugel__usage(p->device, &after, NULL);
  g->bytes += after > before ? after - before : 0; // ranks that are threads may share a device
  return KUGEL_OK;
}

/* All that a transform needs, within the limit. */
static kugel_status make_rooms(kugel_sht *p)
{
  const kugel__dist *d = p->dist;
  kugel__sht_gpu *g = p->gpu;
  kugel__dist_gpu *q = g->ranks;
  int64_t limit, orders = d->begin[d->rank + 1] - d->begin[d->rank];
  q->row[KUGEL__DIST_ORDERS] = g->leg ? kugel__leg_gpu_row(g->leg) : 0;
  q->row[KUGEL__DIST_PAIRS] = d->row + 4; // no power of two
  q->stride[KUGEL__DIST_ORDERS] = 2 * orders * q->row[KUGEL__DIST_ORDERS];
  q->stride[KUGEL__DIST_PAIRS] = 2 * (p->mmax + 1) * q->row[KUGEL__DIST_PAIRS];
  size_t leg = g->leg ? kugel__leg_gpu_work(g->leg) : 0,
         rings = g->rings ? kugel__rings_gpu_work(g->rings) : 0, work = leg > rings ? leg : rings;
  KUGEL_TRY(kugel__parts_limit(p, &limit));
  int64_t need = (int64_t)(g->bytes + work + d->most_out + d->most_in);
  for (int i = 0; i < KUGEL__DIST_SIDES; i++)
    need += p->n_map * q->stride[i] * 16;
  KUGEL_CHECK(need <= limit, KUGEL_ENOMEM,
              "the plan of this rank needs %lld bytes of %s, may use %lld: use more ranks, or raise the "
              "context's limit of "
              "memory",
              (long long)need, p->device->info.name, (long long)limit);
  for (int i = 0; i < KUGEL__DIST_SIDES; i++) {
    KUGEL_TRY(kugel__sht_gpu_room(g, (size_t)(p->n_map * q->stride[i]) * 16, &q->coefs[i]));
  }
  KUGEL_TRY(kugel__sht_gpu_room(g, d->most_out + d->most_in, &q->messages));
  KUGEL_TRY(kugel__sht_gpu_room(g, work, &g->work));
  KUGEL_TRY(make_runs(p, KUGEL__DIST_ORDERS, orders * d->size));
  KUGEL_TRY(make_runs(p, KUGEL__DIST_PAIRS, p->mmax + 1));
  return make_runs(p, KUGEL__DIST_STAY, orders);
}

kugel__wire_job kugel__dist_gpu_job(const kugel_sht *p, int from, int piece)
{
  const kugel__dist *d = p->dist;
  const kugel__dist_gpu *q = p->gpu->ranks;
  size_t n = (size_t)d->size;
  kugel__mem place[] = {q->messages, {q->messages.base, q->messages.offset + d->most_out}};
  const size_t *table = d->messages + (size_t)piece * 4 * n,
               *send = table + (from == KUGEL__DIST_PAIRS ? 2 * n : 0),
               *recv = table + (from == KUGEL__DIST_PAIRS ? 0 : 2 * n);
  return (kugel__wire_job){place[from],
                           place[KUGEL__DIST_PAIRS + KUGEL__DIST_ORDERS - from],
                           send,
                           send + n,
                           recv,
                           recv + n,
                           q->hops[from * d->pieces + piece]};
}

/* Before the rooms are made, which count what hops take. */
static kugel_status make_wire(const kugel_sht *p)
{
  const kugel__dist *d = p->dist;
  kugel__dist_gpu *q = p->gpu->ranks;
  KUGEL_TRY(kugel__wire_open(d->comm, p->ctx, 0, &q->wire));
  for (int i = 0; i < q->hop_count; i++) {
    kugel__wire_job job = kugel__dist_gpu_job(p, i / d->pieces, i % d->pieces);
    KUGEL_TRY(kugel__hops_make(q->wire, KUGEL_OK, &job, &q->hops[i]));
  }
  p->gpu->bytes += kugel__hops_room(q->wire);
  return KUGEL_OK;
}

kugel_status kugel__dist_gpu_create(kugel_sht *p, const kugel__rings_desc *desc)
{
  const kugel__dist *d = p->dist;
  kugel__dist_gpu *q = p->gpu->ranks = kugel__calloc(p->ctx, sizeof *q);
  KUGEL_CHECK(q, KUGEL_ENOMEM, "no memory for a plan over %d ranks", d->size);
  int64_t *begin = kugel__calloc(p->ctx, KUGEL__DIST_LISTS * (size_t)(d->pieces + 1) * sizeof *begin);
  KUGEL_CHECK(begin, KUGEL_ENOMEM, "no memory for %d pieces", d->pieces);
  for (int i = 0; i < KUGEL__DIST_LISTS; i++)
    q->begin[i] = begin + i * (d->pieces + 1);
  q->hops = kugel__calloc(p->ctx, KUGEL__DIST_SIDES * (size_t)d->pieces * sizeof(*q->hops));
  KUGEL_CHECK(q->hops, KUGEL_ENOMEM, "no memory for %d pieces", d->pieces);
  q->hop_count = KUGEL__DIST_SIDES * d->pieces;
  KUGEL_TRY(make_stages(p, desc));
  KUGEL_TRY(make_wire(p));
  KUGEL_TRY(kugel__module_get(p->ctx, &(kugel__module_spec){.name = "sphere/sht/ranks"}, &q->module));
  KUGEL_TRY(kugel__module_kernel(q->module, "move_runs", &q->move, NULL));
  KUGEL_TRY(make_rooms(p));
  KUGEL_TRY(kugel__queue_create_urgent(p->ctx, &q->post));
  return kugel_queue_create(p->ctx, &q->other);
}

void kugel__dist_gpu_destroy(kugel_sht *p)
{
  kugel__dist_gpu *q = p->gpu->ranks;
  if (!q)
    return;
  for (int i = 0; i < q->hop_count; i++)
    kugel__hops_free(q->wire, q->hops[i]);
  kugel__wire_close(q->wire);
  kugel__free(p->ctx, q->hops);
  kugel_queue_destroy(q->post);
  kugel_queue_destroy(q->other);
  kugel__module_put(q->module);
  kugel__device_free(p->device, q->messages.base);
  for (int i = 0; i < KUGEL__DIST_LISTS; i++)
    kugel__device_free(p->device, q->runs[i].base);
  for (int i = 0; i < KUGEL__DIST_SIDES; i++)
    kugel__device_free(p->device, q->coefs[i].base);
  kugel__free(p->ctx, q->begin[0]);
  kugel__free(p->ctx, q);
}
