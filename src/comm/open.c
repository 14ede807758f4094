/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening, adopting and splitting communicators. */
#include "comm/comm.h"

#define CHECK_COMM(c) KUGEL_CHECK(c, KUGEL_EINVAL, "comm is NULL: make one with kugel_comm_open")

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

kugel_status kugel_comm_node(kugel_comm *c, kugel_comm **out)
{
  KUGEL_CHECK(out, KUGEL_EINVAL, "out is NULL: pass where to put the communicator");
  *out = NULL;
  KUGEL_CHECK(c, KUGEL_EINVAL, "comm is NULL: make one with kugel_comm_open");
  return kugel_comm_split(c, (int)(kugel__comm_host() & 0x7fffffff), c->rank, out);
}
