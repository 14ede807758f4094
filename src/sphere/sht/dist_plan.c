/* SPDX-License-Identifier: BSD-3-Clause */
/* Who has what: orders and ring pairs of each rank, their messages, and the layouts of alm and maps. All ranks compute
 * all of it alike. */
#include <stdlib.h>
#include <string.h>
#include "core/alloc.h"
#include "sphere/alm/alm.h"
#include "sphere/sht/dist.h"

enum { GROUP = 8 }; // pairs of a group of the ring stage (fft/rings/plan.h), which is computed as one

static void deal_orders(const kugel_sht *p, kugel__dist *d)
{
  for (int r = 0; r < d->size; r++) {
    d->begin[r + 1] = d->begin[r] + kugel__leg_dealt_below(p->mmax + 1, r, d->size);
    for (int64_t j = d->begin[r]; j < d->begin[r + 1]; j++)
      d->order[j] = kugel__leg_dealt(j - d->begin[r], r, d->size);
  }
  int64_t at = 0;
  for (int64_t i = 0; i < d->begin[d->rank + 1] - d->begin[d->rank]; i++) {
    d->column[i] = at;
    at += p->lmax + 1 - d->order[d->begin[d->rank] + i];
  }
}

// The time of a ring, in tenths of what a pixel takes without chirps (nside 4096 on two H200: 4.4 ms for the 67 percent of pixels next
// to the equator, 6.75 for the others); on the CPU of any pixel.
static int64_t ring_time(const kugel_sht *p, int64_t ring)
{
  int64_t n = ring < 0 ? 0 : p->grid->nphi[ring];
  bool longer = n && p->device->ops->type != KUGEL_CPU && kugel__rings_gpu_chirped(n);
  return n * (longer ? 32 : 10);
}

// Runs of groups of pairs with about the same time each.
static void cut_pairs(const kugel_sht *p, kugel__dist *d)
{
  const kugel_grid *g = p->grid;
  int64_t all = 0, done = 0, pair = 0;
  for (int64_t i = 0; i < g->npairs; i++)
    all += ring_time(p, g->pairs[i].north) + ring_time(p, g->pairs[i].south);
  for (int r = 1; r < d->size; r++) {
    while (pair < g->npairs) {
      int64_t end = kugel__min(g->npairs, pair + GROUP), more = 0;
      for (int64_t i = pair; i < end; i++)
        more += ring_time(p, g->pairs[i].north) + ring_time(p, g->pairs[i].south);
      if ((double)done + 0.5 * (double)more > (double)all * r / d->size)
        break;
      done += more;
      pair = end;
    }
    d->cut[r] = pair;
  }
  d->cut[d->size] = g->npairs;
}

static void find_first_pairs(const kugel_sht *p, kugel__dist *d)
{
  const int64_t *mlim = kugel__leg_mlim(p->leg); // rising
  int64_t pair = 0;
  for (int64_t m = 0; m <= p->mmax; m++) {
    while (pair < p->grid->npairs && mlim[pair] < m)
      pair++;
    d->first_pair[m] = pair;
  }
}

/* ---- messages ---- */

static size_t *message_table(const kugel__dist *d, int piece, int which)
{
  return d->messages + ((size_t)piece * 4 + (size_t)which) * (size_t)d->size;
}

static void plan_piece(const kugel_sht *p, kugel__dist *d, int k)
{
  size_t out = 0, in = 0;
  for (int r = 0; r < d->size; r++) {
    int64_t to = 0, from = 0;
    for (int64_t j = kugel__dist_piece(d, d->rank, k); j < kugel__dist_piece(d, d->rank, k + 1); j++) {
      d->pack_at[(j - d->begin[d->rank]) * d->size + r] = to;
      to += p->n_map * 4 * (d->cut[r + 1] - kugel__dist_first(d, r, d->order[j]));
    }
    for (int64_t j = kugel__dist_piece(d, r, k); j < kugel__dist_piece(d, r, k + 1); j++) {
      d->unpack_at[j] = from;
      from += p->n_map * 4 * (d->cut[d->rank + 1] - kugel__dist_first(d, d->rank, d->order[j]));
    }
    if (r == d->rank && p->device->ops->type != KUGEL_CPU)
      to = from = 0; // devices move what stays by itself
    message_table(d, k, 0)[r] = (size_t)to * 8;
    message_table(d, k, 1)[r] = out;
    message_table(d, k, 2)[r] = (size_t)from * 8;
    message_table(d, k, 3)[r] = in;
    out += (size_t)to * 8;
    in += (size_t)from * 8;
  }
  d->most_out = d->most_out > out ? d->most_out : out;
  d->most_in = d->most_in > in ? d->most_in : in;
}

// Pieces of 32 MiB per rank and more, up to 8. On devices, whose queues run on, few launches, and of 16 MiB where some go between
// hosts, by what is slow for a device.
static int choose_pieces(const kugel_sht *p, const kugel_comm *comm)
{
  bool cpu = p->device->ops->type == KUGEL_CPU;
  double bytes = (double)(p->mmax + 1) * p->n_map * 32 * (double)p->grid->npairs / comm->size;
  int least = !cpu && comm->nodes > 1 ? 16 << 20 : 32 << 20;
  return (int)kugel__max(1, kugel__min(cpu ? 8 : 4, (int64_t)(bytes / least)));
}

/* ---- layouts ---- */

typedef struct ring {
  int64_t first, n, pair;
  int owner, south;
} ring;

static int by_first(const void *a, const void *b)
{
  int64_t x = ((const ring *)a)->first, y = ((const ring *)b)->first;
  return (x > y) - (x < y);
}

static void list_rings(const kugel_sht *p, const kugel__dist *d, ring *rings)
{
  const kugel_grid *g = p->grid;
  int64_t n = 0;
  for (int r = 0; r < d->size; r++)
    for (int64_t i = d->cut[r]; i < d->cut[r + 1]; i++)
      for (int south = 0; south < 2; south++) {
        int64_t which = south ? g->pairs[i].south : g->pairs[i].north;
        if (which >= 0)
          rings[n++] = (ring){g->first[which], g->nphi[which], i, r, south};
      }
  qsort(rings, (size_t)n, sizeof *rings, by_first);
}

static kugel_status lay_maps_out(kugel_sht *p, kugel__dist *d)
{
  const kugel_grid *g = p->grid;
  ring *rings;
  KUGEL_ALLOC(p->ctx, rings, (size_t)g->nrings * sizeof *rings);
  list_rings(p, d, rings);
  kugel_status s = kugel__layout_new(p->ctx, d->comm, g->npix, g->nrings, &d->map);
  for (int64_t i = 1; i < g->nrings && !s; i++)
    if (rings[i - 1].first + rings[i - 1].n > rings[i].first)
      s = KUGEL_FAIL(KUGEL_ENOTSUP,
                     "rings of the grid share pixel %lld: such a grid cannot be spread over ranks",
                     (long long)rings[i].first);
  for (int64_t i = 0; i < g->npairs && !s; i++)
    d->north[i] = d->south[i] = -1;
  for (int r = 0; r < d->size && !s; r++) {
    kugel__layout_rank(d->map, r);
    for (int64_t i = 0; i < g->nrings; i++) {
      if (rings[i].owner != r)
        continue;
      if (r == d->rank)
        (rings[i].south ? d->south : d->north)[rings[i].pair] = d->map->part[r];
      kugel__layout_add(d->map, r, rings[i].first, rings[i].n);
    }
  }
  kugel__free(p->ctx, rings);
  return s;
}

static kugel_status lay_alms_out(kugel_sht *p, kugel__dist *d)
{
  KUGEL_TRY(kugel__layout_new(p->ctx, d->comm, p->nalm, p->mmax + 1, &d->alm));
  for (int r = 0; r < d->size; r++) {
    kugel__layout_rank(d->alm, r);
    for (int64_t j = d->begin[r]; j < d->begin[r + 1]; j++) {
      int64_t m = d->order[j];
      kugel__layout_add(d->alm, r, kugel__alm_offset(p->lmax, m) + m, p->lmax + 1 - m);
    }
  }
  return KUGEL_OK;
}

/* ---- all of it ---- */

kugel_status kugel__dist_create(kugel_sht *p, kugel_comm *comm, int pieces)
{
  kugel__dist *d = p->dist = kugel__calloc(p->ctx, sizeof *d);
  KUGEL_CHECK(d, KUGEL_ENOMEM, "no memory for a plan over %d ranks", comm->size);
  d->comm = comm;
  d->rank = comm->rank;
  d->size = comm->size;
  d->pieces = pieces ? pieces : choose_pieces(p, comm);
  int64_t size = d->size, orders = p->mmax + 1, pairs = p->grid->npairs, most = orders / size + 2;
  int64_t *t =
      kugel__calloc(p->ctx, (size_t)(2 * (size + 1) + 3 * orders + most * (1 + size) + 2 * pairs) * 8);
  d->begin = t; // one block
  d->messages = kugel__calloc(p->ctx, (size_t)d->pieces * 4 * (size_t)size * sizeof *d->messages);
  KUGEL_CHECK(t && d->messages, KUGEL_ENOMEM, "no memory for the messages of %lld orders to %lld ranks",
              (long long)orders, (long long)size);
  d->cut = t + size + 1;
  d->order = d->cut + size + 1;
  d->first_pair = d->order + orders;
  d->unpack_at = d->first_pair + orders;
  d->column = d->unpack_at + orders;
  d->pack_at = d->column + most;
  d->north = d->pack_at + most * size;
  d->south = d->north + pairs;
  deal_orders(p, d);
  cut_pairs(p, d);
  find_first_pairs(p, d);
  for (int k = 0; k < d->pieces; k++)
    plan_piece(p, d, k);
  d->most_out = (d->most_out + 15) / 16 * 16;
  d->most_in = (d->most_in + 15) / 16 * 16;
  // Odd numbers of cache lines, so that rows spread over cache sets.
  d->row = kugel__round_up(d->cut[d->rank + 1] - d->cut[d->rank], 8);
  d->row += d->row / 8 % 2 ? 0 : 8;
  d->full_row = kugel__round_up(pairs, 8);
  d->full_row += d->full_row / 8 % 2 ? 0 : 8;
  KUGEL_TRY(lay_maps_out(p, d));
  return lay_alms_out(p, d);
}

void kugel__dist_destroy(kugel_sht *p)
{
  kugel__dist *d = p->dist;
  if (!d)
    return;
  kugel_layout_destroy(d->alm);
  kugel_layout_destroy(d->map);
  kugel__free(p->ctx, d->begin);
  kugel__free(p->ctx, d->messages);
  kugel__free(p->ctx, d);
}

kugel_status kugel_sht_layout(const kugel_sht *p, kugel_sht_side side, kugel_layout **out)
{
  KUGEL_CHECK(out, KUGEL_EINVAL, "out is NULL: pass where to put the layout");
  *out = NULL;
  KUGEL_CHECK(p, KUGEL_EINVAL, "plan is NULL: make one with kugel_sht_create");
  KUGEL_CHECK(p->dist, KUGEL_EINVAL, "the plan has no ranks: set opts.comm to a communicator");
  KUGEL_CHECK(side == KUGEL_SHT_ALM || side == KUGEL_SHT_MAP, KUGEL_EINVAL,
              "side is %d, must be KUGEL_SHT_ALM (0) or KUGEL_SHT_MAP (1)", (int)side);
  return kugel__layout_copy(p->ctx, side == KUGEL_SHT_ALM ? p->dist->alm : p->dist->map, out);
}

kugel_status kugel_sht_orders(const kugel_sht *p, int64_t most, int64_t *m, int64_t *count)
{
  KUGEL_CHECK(p && count, KUGEL_EINVAL, "%s is NULL: pass a plan, and where to put the number",
              p ? "count" : "plan");
  KUGEL_CHECK(most >= 0 && (m || !most), KUGEL_EINVAL, "most is %lld, must be at least 0, and 0 without m",
              (long long)most);
  const kugel__dist *d = p->dist;
  *count = d ? d->begin[d->rank + 1] - d->begin[d->rank] : p->mmax + 1;
  for (int64_t i = 0; i < kugel__min(*count, most); i++)
    m[i] = d ? d->order[d->begin[d->rank] + i] : i;
  return KUGEL_OK;
}
