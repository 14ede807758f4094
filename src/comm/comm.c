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

static kugel_status surveyed(kugel_status s, kugel_comm **out)
{
  if (!s)
    s = kugel__comm_survey(*out);
  if (s) {
    kugel_comm_destroy(*out);
    *out = NULL;
  }
  return s;
}

kugel_status kugel_comm_open(kugel_ctx *ctx, const kugel_comm_opts *opts, kugel_comm **out)
{
  KUGEL_CHECK(out, KUGEL_EINVAL, "out is NULL: pass where to put the communicator");
  *out = NULL;
  kugel_comm_opts o;
  KUGEL_TRY(kugel__take_opts(&o, sizeof o, opts, "kugel_comm_opts"));
  KUGEL_CHECK((int)o.kind >= KUGEL_COMM_AUTO && o.kind <= KUGEL_COMM_MPI, KUGEL_EINVAL,
              "kind is %d, must be KUGEL_COMM_AUTO (0), _SELF (1) or _MPI (2)", (int)o.kind);
  bool mpi = o.kind == KUGEL_COMM_MPI || (o.kind == KUGEL_COMM_AUTO && kugel_comm_launched(NULL) > 1);
  return surveyed(mpi ? kugel__comm_mpi(ctx, o.library, NULL, 0, out) : kugel__comm_self(ctx, out), out);
}

kugel_status kugel_comm_adopt(kugel_ctx *ctx, const void *mpi_comm, size_t bytes, kugel_comm **out)
{
  KUGEL_CHECK(out, KUGEL_EINVAL, "out is NULL: pass where to put the communicator");
  *out = NULL;
  KUGEL_CHECK(mpi_comm, KUGEL_EINVAL, "mpi_comm is NULL: pass the address of an MPI_Comm");
  return surveyed(kugel__comm_mpi(ctx, NULL, mpi_comm, bytes, out), out);
}

kugel_status kugel_comm_custom(kugel_ctx *ctx, const kugel_comm_ops *ops, void *user, int rank, int size,
                               kugel_comm **out)
{
  KUGEL_CHECK(out, KUGEL_EINVAL, "out is NULL: pass where to put the communicator");
  *out = NULL;
  KUGEL_CHECK(ops, KUGEL_EINVAL, "ops is NULL: pass a table of functions");
  kugel_comm_ops o;
  KUGEL_TRY(kugel__take_opts(&o, sizeof o, ops, "kugel_comm_ops"));
  KUGEL_CHECK(o.name && o.barrier && o.bcast && o.reduce && o.begin && o.end, KUGEL_EINVAL,
              "ops lacks a name or a function: barrier, bcast, reduce, begin and end are needed");
  KUGEL_CHECK(size >= 1 && rank >= 0 && rank < size, KUGEL_EINVAL,
              "rank is %d, must be 0 to size - 1, and size is %d", rank, size);
  return surveyed(kugel__comm_make(ctx, &o, user, rank, size, o.name, out), out);
}

kugel_status kugel_comm_split(kugel_comm *c, int color, int key, kugel_comm **out)
{
  KUGEL_CHECK(out, KUGEL_EINVAL, "out is NULL: pass where to put the communicator");
  *out = NULL;
  CHECK_COMM(c);
  kugel__comm_enter(c);
  kugel_status s = KUGEL_OK;
  if (color < 0)
    s = KUGEL_FAIL(KUGEL_EINVAL, "color is %d, must be at least 0", color);
  else if (!c->ops.split)
    s = KUGEL_FAIL(KUGEL_ENOTSUP, "communicators of %s cannot be split: give split in its table", c->library);
  KUGEL_TRY(kugel__comm_leave(c, s));
  void *made = NULL;
  int rank = 0, size = 1;
  s = c->ops.split(c->user, color, key, &made, &rank, &size)
          ? KUGEL_FAIL(KUGEL_EIO, "splitting %d ranks of %.100s failed", c->size, c->library)
          : kugel__comm_make(c->ctx, &c->ops, made, rank, size, c->library, out);
  s = kugel__comm_leave(c, s); // all ranks have theirs, before the parts go on by themselves
  if (s) {
    kugel_comm_destroy(*out);
    *out = NULL;
    return s;
  }
  return surveyed(KUGEL_OK, out);
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

kugel_status kugel__comm_begin(kugel_comm *c, const kugel_exchange *x, void **ticket)
{
  *ticket = NULL;
  return fared(c, c->ops.begin(c->user, x, ticket), "an exchange");
}

kugel_status kugel__comm_end(kugel_comm *c, void *ticket)
{
  return fared(c, c->ops.end(c->user, ticket), "an exchange");
}

kugel_status kugel_comm_bcast(kugel_comm *c, void *data, size_t bytes, int root)
{
  CHECK_COMM(c);
  KUGEL_CHECK(root >= 0 && root < c->size, KUGEL_EINVAL, "root is %d, must be 0 to %d", root, c->size - 1);
  KUGEL_CHECK(data || !bytes, KUGEL_EINVAL, "data is NULL: pass where the %zu bytes are", bytes);
  return bytes ? fared(c, c->ops.bcast(c->user, data, bytes, root), "a broadcast") : KUGEL_OK;
}

kugel_status kugel_comm_barrier(kugel_comm *c)
{
  CHECK_COMM(c);
  return fared(c, c->ops.barrier(c->user), "a barrier");
}
