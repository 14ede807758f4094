/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators: making and describing them, small collectives. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "comm/comm.h"
#include "core/alloc.h"
#include "core/ctx.h"

#define CHECK_COMM(c) KUGEL_CHECK(c, KUGEL_EINVAL, "comm is NULL: make one with kugel_comm_open")

kugel_status kugel__comm_make(kugel_ctx *ctx, const kugel_comm_ops *ops, void *user, int rank, int size,
                              const char *library, kugel_comm **out)
{
  *out = NULL;
  kugel_comm *c = kugel__calloc(ctx, sizeof *c);
  if (!c) {
    if (ops->close)
      ops->close(user);
    return KUGEL_FAIL(KUGEL_ENOMEM, "no memory for a communicator");
  }
  c->ctx = kugel__ctx_retain(ctx);
  c->ops = *ops;
  c->user = user;
  c->rank = rank;
  c->size = size;
  c->node_size = c->nodes = c->threads = 1;
  snprintf(c->library, sizeof c->library, "%s", library);
  *out = c;
  return KUGEL_OK;
}

void kugel_comm_destroy(kugel_comm *c)
{
  if (!c)
    return;
  kugel_ctx *ctx = c->ctx;
  if (c->ops.close)
    c->ops.close(c->user);
  kugel__free(ctx, c);
  kugel_ctx_destroy(ctx);
}

int kugel_comm_launched(int *rank)
{
  // A batch script of Slurm has SLURM_NTASKS, but is no task of a step: its processes were not launched together.
  static const struct {
    const char *size, *rank;
  } names[] = {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
               {"PMI_SIZE", "PMI_RANK"},
               {"MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK"},
               {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"}};
  if (rank)
    *rank = 0;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const char *n = getenv(names[i].size), *r = getenv(names[i].rank);
    if (!n || atoi(n) < 1)
      continue;
    if (rank && r)
      *rank = atoi(r);
    return atoi(n);
  }
  return 1;
}

/* ---- what a communicator is ---- */

kugel_status kugel_comm_get_info(const kugel_comm *c, kugel_comm_info *info)
{
  KUGEL_CHECK(c && info, KUGEL_EINVAL, "%s is NULL: pass a communicator, and where to put its numbers",
              c ? "info" : "comm");
  kugel_comm_info own = {.size = sizeof own,
                         .rank = c->rank,
                         .ranks = c->size,
                         .node_rank = c->node_rank,
                         .node_ranks = c->node_size,
                         .nodes = c->nodes,
                         .threads = c->threads};
  return kugel__give_info(info, &own, sizeof own, "kugel_comm_info");
}

kugel_status kugel_comm_describe(const kugel_comm *c, char *text, size_t n)
{
  CHECK_COMM(c);
  KUGEL_CHECK(text && n > 0, KUGEL_EINVAL, "text is NULL or n is 0: pass where to put the line");
  snprintf(text, n, "%d rank%s on %d host%s; %s", c->size, c->size == 1 ? "" : "s", c->nodes,
           c->nodes == 1 ? "" : "s", c->library);
  return KUGEL_OK;
}

/* ---- small collectives ---- */

static kugel_status fared(kugel_comm *c, int error, const char *what)
{
  return error ? KUGEL_FAIL(KUGEL_EIO, "%s among %d ranks of %.100s failed with error %d", what, c->size,
                            c->library, error)
               : KUGEL_OK;
}

kugel_status kugel__comm_reduce(kugel_comm *c, int64_t *values, int n, kugel_comm_reduction op)
{
  return fared(c, c->ops.reduce(c->user, values, n, op), "a reduction");
}

kugel_status kugel__comm_begin(kugel_comm *c, const kugel_exchange *x, kugel__flight *f)
{
  *f = (kugel__flight){.ticket = NULL};
  int error = c->ops.begin(c->user, x, &f->ticket);
  f->on = !error || f->ticket;
  return fared(c, error, "an exchange");
}

kugel_status kugel__comm_end(kugel_comm *c, kugel__flight *f)
{
  if (!f->on)
    return KUGEL_OK;
  f->on = false;
  return fared(c, c->ops.end(c->user, f->ticket), "an exchange");
}

kugel_status kugel__comm_exchange(kugel_comm *c, const kugel_exchange *x)
{
  kugel__flight f;
  kugel_status begun = kugel__comm_begin(c, x, &f), ended = kugel__comm_end(c, &f);
  return begun ? begun : ended;
}

kugel_status kugel_comm_bcast(kugel_comm *c, void *data, size_t bytes, int root)
{
  CHECK_COMM(c);
  KUGEL_CHECK(root >= 0 && root < c->size, KUGEL_EINVAL, "root is %d, must be 0 to %d", root, c->size - 1);
  KUGEL_CHECK(data || !bytes, KUGEL_EINVAL, "data is NULL: pass where the %zu bytes are", bytes);
  return bytes ? fared(c, c->ops.bcast(c->user, data, bytes, root), "a broadcast") : KUGEL_OK;
}

kugel_status kugel_comm_reduce(kugel_comm *c, int64_t *values, int n, kugel_comm_reduction op)
{
  KUGEL_CHECK(c && values, KUGEL_EINVAL, "%s is NULL", c ? "values" : "comm");
  KUGEL_CHECK(n >= 1 && n <= 1 << 20, KUGEL_EINVAL, "n is %d, must be 1 to 2^20", n);
  KUGEL_CHECK((int)op >= 0 && op <= KUGEL_COMM_SUM, KUGEL_EINVAL,
              "op is %d, must be KUGEL_COMM_MIN (0), MAX (1) or SUM (2)", (int)op);
  return kugel__comm_reduce(c, values, n, op);
}

kugel_status kugel_comm_barrier(kugel_comm *c)
{
  CHECK_COMM(c);
  return fared(c, c->ops.barrier(c->user), "a barrier");
}
