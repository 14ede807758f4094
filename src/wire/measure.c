/* SPDX-License-Identifier: BSD-3-Clause */
/* How fast the exchange between the devices of ranks is. */
#include <stdio.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "wire/wire.h"

typedef struct blocks {
  kugel_comm *comm;
  kugel_ctx *ctx;
  int64_t bytes;
  void *send, *recv;
  size_t *table; // [2][ranks]: bytes, where
  kugel_queue *queue;
  kugel__wire *wire;
  kugel__hops *hops;
} blocks;

static kugel__wire_job job_of(const blocks *b)
{
  const size_t *at = b->table + b->comm->size;
  return (kugel__wire_job){{b->send, 0}, {b->recv, 0}, b->table, at, b->table, at, b->hops};
}

static kugel_status make_blocks(blocks *b)
{
  kugel__device *d = kugel__ctx_device(b->ctx);
  const size_t n = (size_t)b->comm->size, each = (size_t)b->bytes, pitch = (each + 15) / 16 * 16;
  KUGEL_ALLOC(b->ctx, b->table, 2 * n * sizeof *b->table);
  KUGEL_TRY(kugel_queue_create(b->ctx, &b->queue));
  KUGEL_TRY(kugel__device_alloc(d, n * pitch, &b->send));
  KUGEL_TRY(kugel__device_alloc(d, n * pitch, &b->recv));
  for (size_t r = 0; r < n; r++) {
    b->table[r] = (int)r == b->comm->rank ? 0 : each;
    b->table[n + r] = r * pitch;
    KUGEL_TRY(kugel__device_fill(d, (kugel__mem){b->send, r * pitch}, kugel__comm_byte(b->comm->rank, (int)r),
                                 each, b->queue));
  }
  KUGEL_TRY(kugel__device_fill(d, (kugel__mem){b->recv, 0}, 0, n * pitch, b->queue));
  return d->ops->wait(b->queue);
}

static kugel_status prepare(void *arg)
{
  blocks *b = arg;
  KUGEL_TRY(kugel__comm_agree(b->comm, make_blocks(b)));
  KUGEL_TRY(kugel__wire_open(b->comm, b->ctx, 0, &b->wire));
  kugel__wire_job job = job_of(b);
  return kugel__hops_make(b->wire, KUGEL_OK, &job, &b->hops);
}

static kugel_status exchange(void *arg)
{
  blocks *b = arg;
  kugel__wire_job job = job_of(b);
  KUGEL_TRY(kugel__wire_exchange(b->wire, KUGEL_OK, &job, b->queue));
  return kugel__ctx_device(b->ctx)->ops->wait(b->queue);
}

static kugel_status check_messages(const blocks *b, unsigned char *host)
{
  kugel__device *d = kugel__ctx_device(b->ctx);
  for (int r = 0; r < b->comm->size; r++) {
    if (r == b->comm->rank)
      continue;
    kugel__mem from = {b->recv, b->table[b->comm->size + r]};
    KUGEL_TRY(kugel__device_copy(d, KUGEL__DOWNLOAD, (kugel__mem){host, 0}, from, (size_t)b->bytes, NULL));
    KUGEL_TRY(kugel__comm_check_bytes(b->comm, r, host, b->bytes, kugel__wire_name(b->wire)));
  }
  return KUGEL_OK;
}

static kugel_status check(void *arg)
{
  blocks *b = arg;
  unsigned char *host;
  KUGEL_ALLOC(b->ctx, host, b->bytes);
  kugel_status s = check_messages(b, host);
  kugel__free(b->ctx, host);
  return s;
}

kugel_status kugel_comm_measure_devices(kugel_comm *c, kugel_ctx *ctx, int64_t bytes, int repeats, char *way,
                                        size_t n, double *seconds)
{
  KUGEL_CHECK(c, KUGEL_EINVAL, "comm is NULL: make one with kugel_comm_open");
  blocks b = {.comm = c, .ctx = kugel__ctx(ctx), .bytes = bytes};
  const kugel__measured of = {prepare, exchange, check, &b};
  kugel_status s = kugel__comm_measure(c, bytes, repeats, &of, seconds);
  if (!s && way && n)
    snprintf(way, n, "%s%s", kugel__wire_name(b.wire), b.hops ? ", in two steps" : "");
  if (b.queue)
    kugel__ctx_device(b.ctx)->ops->wait(b.queue);
  kugel__hops_free(b.wire, b.hops);
  kugel__wire_close(b.wire);
  kugel__device_free(kugel__ctx_device(b.ctx), b.send);
  kugel__device_free(kugel__ctx_device(b.ctx), b.recv);
  kugel_queue_destroy(b.queue);
  kugel__free(b.ctx, b.table);
  return s;
}
