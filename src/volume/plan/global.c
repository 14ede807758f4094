/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans of the global engine: who has which slices and lines, spectra, the window, layouts. */
#include "volume/plan/global.h"
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "volume/cpu/lines.h"
#include "volume/plan/global_device.h"

kugel_status kugel__global_check(const kugel_volume *p)
{
  KUGEL_CHECK(
      !p->ctx->npeers, KUGEL_ENOTSUP,
      "the context has %d devices, and a rank of a plan over ranks has one: start a rank for each, with "
      "device \"cuda:local\"",
      1 + p->ctx->npeers);
  KUGEL_CHECK(p->opts.comm || p->ctx->leads, KUGEL_EINVAL,
              "engine is KUGEL_VOLUME_GLOBAL (5) without ranks: start several with mpirun, or use "
              "KUGEL_VOLUME_PENCIL");
  KUGEL_CHECK(p->ndim == KUGEL__VOLUME_DIMS, KUGEL_ENOTSUP,
              "ndim is %d; ranks share volumes of 3 axes: give a picture the lengths (y, 1, x)", p->ndim);
  return KUGEL_OK;
}

static void cut(int64_t n, int size, int64_t *first)
{
  for (int r = 0; r <= size; r++)
    first[r] = (int64_t)((__int128)n * r / size);
}

kugel_status kugel__global_results(kugel_ctx *ctx, const int64_t *n, const int64_t *k,
                                   const kugel_volume_opts *opts, kugel_volume_engine *engine,
                                   int64_t *results)
{
  kugel_volume *p = NULL;
  kugel_status s = kugel__volume_start(ctx, KUGEL__VOLUME_DIMS, n, k, opts, &p);
  s = s ? s : kugel__global_shape(p);
  if (!s) {
    *engine = p->engine;
    memcpy(results, p->global->results, ((size_t)p->global->size + 1) * sizeof *results);
  }
  kugel_volume_destroy(p);
  return s;
}

static int64_t vectors(const kugel_volume *p)
{
  return p->axis[1].points * (p->pitch / kugel__volume_ops_now()->vlen);
}

static int64_t vector_bytes(const kugel_volume *p)
{
  return kugel__volume_ops_now()->vlen * 2 * (int64_t)p->real;
}

kugel_status kugel__global_shape(kugel_volume *p)
{
  kugel_comm *c = p->opts.comm;
  kugel__volume_global *g = p->global = kugel__calloc(p->ctx, sizeof *g);
  size_t n = (size_t)c->size + 1;
  KUGEL_CHECK(g, KUGEL_ENOMEM, "no memory for a plan over %d ranks", c->size);
  g->comm = c;
  g->rank = c->rank;
  g->size = c->size;
  KUGEL_ALLOC(p->ctx, g->data, 4 * n * sizeof *g->data);
  g->results = g->data + n;
  g->kernel = g->results + n;
  g->lines = g->kernel + n;
  cut(p->axis[0].n, g->size, g->data);
  if (p->engine == KUGEL_VOLUME_TILES)
    kugel__global_cut_tiles(p, g->results);
  else
    cut(p->axis[0].m, g->size, g->results);
  cut(p->axis[0].k, g->size, g->kernel);
  cut(vectors(p), g->size, g->lines);
  g->vector = vector_bytes(p);
  return KUGEL_OK;
}

void kugel__global_destroy(kugel_volume *p)
{
  if (!p->global)
    return;
  kugel__global_device_destroy(p);
  kugel__free(p->ctx, p->global->data);
  kugel__free(p->ctx, p->global->spectra);
  kugel__free(p->ctx, p->global);
}

kugel__volume_box kugel__global_kernel(const kugel_volume *p, const kugel__volume_box *b, int64_t first)
{
  const kugel__volume_global *g = p->global;
  const kugel__volume_axis *a = p->axis;
  kugel__volume_box box = *b;
  int64_t size = b->dtype.bits / 8, z = g->kernel[g->rank];
  if (!p->opts.correlate) {
    box.data += (z - first) * b->step[1] * size;
    return box;
  }
  box.data +=
      ((a[0].k - 1 - z - first) * b->step[1] + (a[1].k - 1) * b->step[2] + (a[2].k - 1) * b->step[3]) * size;
  for (int d = 1; d < 4; d++)
    box.step[d] = -b->step[d];
  return box;
}

/* ---- figures ---- */

uint64_t kugel__global_memory(const kugel_volume *p, int ranks)
{
  int64_t tall = kugel__max(p->axis[0].n, kugel__max(p->axis[0].m, p->axis[0].k)), all = vectors(p);
  int64_t own = (all + ranks - 1) / ranks, slices = (tall + ranks - 1) / ranks;
  int64_t rows = kugel__max(p->rows, p->axis[1].k);
  uint64_t window =
      p->opts.boundary == KUGEL_BOUNDARY_UNKNOWN
          ? (uint64_t)(((p->axis[0].m + ranks - 1) / ranks) * p->axis[1].m * p->axis[2].m * p->kernels) *
                p->real
          : 0;
  return (uint64_t)(slices * rows * p->pitch) * 2 * p->real + (uint64_t)(slices * all * vector_bytes(p)) +
         (uint64_t)(own * vector_bytes(p)) *
             (uint64_t)((p->stored > 1 ? 2 : 1) * tall + p->stored * p->axis[0].points) +
         window + kugel__volume_thread_bytes(p) + kugel__volume_table_bytes(p);
}

uint64_t kugel__global_traffic(const kugel_volume *p, int ranks)
{
  uint64_t slice = (uint64_t)(vectors(p) * vector_bytes(p)), share = (uint64_t)ranks * (uint64_t)ranks;
  return slice * (uint64_t)(p->axis[0].n + p->axis[0].m * p->kernels) / share * (uint64_t)(ranks - 1);
}

/* ---- layouts ---- */

kugel_status kugel_volume_layout(const kugel_volume *p, kugel_volume_side side, kugel_layout **out)
{
  KUGEL_CHECK(out, KUGEL_EINVAL, "out is NULL: pass where to put the layout");
  *out = NULL;
  KUGEL_CHECK(p, KUGEL_EINVAL, "plan is NULL: make one with kugel_volume_create");
  KUGEL_CHECK(p->global, KUGEL_EINVAL, "the plan has no ranks: set opts.comm to a communicator");
  KUGEL_CHECK(side == KUGEL_VOLUME_IMAGE || side == KUGEL_VOLUME_RESULTS, KUGEL_EINVAL,
              "side is %d, must be KUGEL_VOLUME_IMAGE (0) or KUGEL_VOLUME_RESULTS (1)", (int)side);
  const kugel__volume_global *g = p->global;
  const int64_t *cuts = side == KUGEL_VOLUME_IMAGE ? g->data : g->results;
  int64_t plane = side == KUGEL_VOLUME_IMAGE ? p->axis[1].n * p->axis[2].n : p->axis[1].m * p->axis[2].m;
  KUGEL_TRY(kugel__layout_new(p->ctx, g->comm, cuts[g->size] * plane, g->size, out));
  for (int r = 0; r < g->size; r++) {
    kugel__layout_rank(*out, r);
    kugel__layout_add(*out, r, cuts[r] * plane, (cuts[r + 1] - cuts[r]) * plane);
  }
  return KUGEL_OK;
}
