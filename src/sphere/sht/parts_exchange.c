/* SPDX-License-Identifier: BSD-3-Clause */
/* Coefficients between the lanes of a plan on several devices. Links between devices carry data in both
 * directions at once. Data that all devices need, or to which all contribute, are therefore cut into slices,
 * and each slice goes through another device. */
#include "core/alloc.h"
#include "core/ctx.h"
#include "device/peer.h"
#include "sphere/sht/parts.h"

/* Slice k of n of some bytes; several slices in one place are `stride` apart. */
typedef struct slice {
  size_t at, bytes, stride;
} slice;

static slice slice_of(size_t bytes, int k, int n)
{
  size_t size = (bytes / (size_t)n + KUGEL__SLICE_ALIGN) / KUGEL__SLICE_ALIGN * KUGEL__SLICE_ALIGN,
         at = size * (size_t)k;
  at = at < bytes ? at : bytes;
  return (slice){at, bytes - at < size ? bytes - at : size, size};
}

static kugel__mem shifted(kugel__mem m, size_t bytes)
{
  return (kugel__mem){m.base, m.offset + bytes};
}

typedef struct exchange {
  kugel__parts *parts;
  kugel_queue **queues;
  kugel__transfer *list;
  int count;
} exchange;

static kugel_status begin(const kugel_sht *p, exchange *x)
{
  kugel__parts *q = p->gpu->parts;
  size_t n = (size_t)q->nlanes;
  *x = (exchange){.parts = q};
  KUGEL_ALLOC(p->ctx, x->list, n * n * sizeof *x->list + n * sizeof *x->queues);
  x->queues = (kugel_queue **)(x->list + n * n);
  for (int k = 0; k < q->nlanes; k++)
    x->queues[k] = q->lanes[k].on->work;
  return KUGEL_OK;
}

static void add(exchange *x, int from, kugel__mem src, int to, kugel__mem dst, size_t bytes)
{
  if (bytes)
    x->list[x->count++] = (kugel__transfer){.from = from, .to = to, .src = src, .dst = dst, .bytes = bytes};
}

static kugel_status carry_out(const kugel_sht *p, exchange *x)
{
  kugel_status s = kugel__devices_exchange(p->ctx, x->count, x->list, x->queues);
  x->count = 0;
  return s;
}

kugel_status kugel__parts_spread(const kugel_sht *p, kugel__mem alm, size_t bytes)
{
  exchange x;
  KUGEL_TRY(begin(p, &x));
  kugel__parts_lane *lanes = x.parts->lanes;
  x.queues[0] = lanes[0].on->in; // the first lane computes concurrently
  int others = x.parts->nlanes - 1;
  for (int k = 0; k < others; k++) {
    slice s = slice_of(bytes, k, others);
    add(&x, 0, shifted(alm, s.at), k + 1, shifted(lanes[k + 1].alm, s.at), s.bytes);
  }
  kugel_status status = carry_out(p, &x);
  for (int k = 0; k < others; k++)
    for (int to = 0; to < others; to++) {
      slice s = slice_of(bytes, k, others);
      if (to != k)
        add(&x, k + 1, shifted(lanes[k + 1].alm, s.at), to + 1, shifted(lanes[to + 1].alm, s.at), s.bytes);
    }
  status = status ? status : carry_out(p, &x);
  kugel__free(p->ctx, x.list);
  return status;
}

/* Lane k adds the other lanes' sums of slice k, in the order of lanes, to its own. */
static kugel_status add_slice(const kugel__parts *q, int k, size_t bytes)
{
  const kugel__parts_lane *lane = &q->lanes[k];
  slice s = slice_of(bytes, k, q->nlanes);
  for (int i = 0; i < q->nlanes - 1 && s.bytes; i++)
    KUGEL_TRY(kugel__vector_gpu_add(lane->on->device, lane->add, (int64_t)(s.bytes / 8),
                                    shifted(lane->space, (size_t)i * s.stride), shifted(lane->alm, s.at),
                                    lane->on->work));
  return KUGEL_OK;
}

kugel_status kugel__parts_gather(const kugel_sht *p)
{
  exchange x;
  KUGEL_TRY(begin(p, &x));
  kugel__parts_lane *lanes = x.parts->lanes;
  int n = x.parts->nlanes;
  size_t bytes = (size_t)(p->n_alm * p->nalm) * 16;
  for (int to = 0; to < n; to++)
    for (int from = 0, i = 0; from < n; from++) {
      slice s = slice_of(bytes, to, n);
      if (from != to)
        add(&x, from, shifted(lanes[from].alm, s.at), to, shifted(lanes[to].space, (size_t)i++ * s.stride),
            s.bytes);
    }
  kugel_status status = carry_out(p, &x);
  for (int k = 0; k < n && !status; k++)
    status = add_slice(x.parts, k, bytes);
  for (int k = 1; k < n; k++) {
    slice s = slice_of(bytes, k, n);
    add(&x, k, shifted(lanes[k].alm, s.at), 0, shifted(lanes[0].alm, s.at), s.bytes);
  }
  status = status ? status : carry_out(p, &x);
  kugel__free(p->ctx, x.list);
  return status;
}
