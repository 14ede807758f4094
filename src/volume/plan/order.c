/* SPDX-License-Identifier: BSD-3-Clause */
/* What plans of rank 0 say to the ranks that serve. */
#include "volume/plan/lead.h"
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "core/parallel.h"

_Static_assert(sizeof(kugel__volume_card) <= sizeof(((kugel__order *)0)->word),
               "an order has room for a card");

kugel__order kugel__volume_order(const kugel_volume *p, int64_t kind)
{
  kugel__order o = {.kind = kind, .verb = KUGEL__LEAD_MAKE, .x = {p->scale}};
  kugel__volume_card c = {.ndim = p->ndim,
                          .extent = p->opts.extent,
                          .boundary = p->opts.boundary,
                          .correlate = p->opts.correlate,
                          .complex_data = p->opts.complex_data,
                          .precision = p->opts.precision,
                          .kernels = p->opts.kernels,
                          .depths = p->opts.depths,
                          .device = p->ctx->device.type};
  for (int d = 0; d < KUGEL__VOLUME_DIMS; d++) {
    c.n[d] = p->axis[d].n;
    c.k[d] = p->axis[d].k;
    c.centre[d] = p->axis[d].centre;
    c.tile[d] = p->tile[d];
  }
  memcpy(o.word, &c, sizeof c);
  return o;
}

kugel__volume_card kugel__volume_order_card(const kugel__order *o)
{
  kugel__volume_card c;
  memcpy(&c, o->word, sizeof c);
  return c;
}

kugel_volume_opts kugel__volume_order_opts(const kugel__order *o)
{
  kugel__volume_card c = kugel__volume_order_card(o);
  return (kugel_volume_opts){.size = sizeof(kugel_volume_opts),
                             .extent = (kugel_conv_extent)c.extent,
                             .boundary = (kugel_boundary)c.boundary,
                             .correlate = (int)c.correlate,
                             .complex_data = (int)c.complex_data,
                             .precision = (kugel_precision)c.precision,
                             .kernels = (int)c.kernels,
                             .depths = c.depths,
                             .scale = o->x[0]};
}

kugel_status kugel__volume_share_depths(kugel_ctx *ctx, kugel_comm *c, int64_t depths, const double *depth,
                                        double **out)
{
  size_t bytes = (size_t)depths * sizeof **out;
  *out = NULL;
  if (!bytes)
    return KUGEL_OK;
  *out = kugel__alloc(ctx, bytes);
  kugel_status s = *out ? KUGEL_OK : KUGEL_FAIL(KUGEL_ENOMEM, "no memory for %zu bytes of planes", bytes);
  if (depth && *out)
    memcpy(*out, depth, bytes);
  s = kugel__comm_agree(c, s);
  return s ? s : kugel_comm_bcast(c, *out, bytes, 0);
}

static int64_t count_kernels(const kugel__volume_card *c)
{
  return kugel__max(1, kugel__max(c->kernels, c->depths));
}

kugel_status kugel__volume_share_kernels(kugel_ctx *ctx, kugel_comm *c, kugel_status s, const kugel__order *o,
                                         const kugel_volume *base, const kugel_array *kernel,
                                         kugel__volume_kernels *out)
{
  kugel__volume_card w = kugel__volume_order_card(o);
  int64_t numbers = count_kernels(&w) * (w.complex_data ? 2 : 1) * w.k[0] * w.k[1] * w.k[2];
  kugel__volume_box box;
  *out = (kugel__volume_kernels){NULL, NULL};
  if (base) {
    s = s ? s : kugel__volume_take_kernel(base, kernel, &box);
    s = s ? s : kugel__volume_copy_kernels(base, &box, &out->values);
  } else if (!s) {
    out->values = kugel__alloc(ctx, (size_t)numbers * sizeof *out->values);
    s = out->values ? KUGEL_OK
                    : KUGEL_FAIL(KUGEL_ENOMEM, "no memory for a kernel of %lld numbers", (long long)numbers);
  }
  s = kugel__comm_agree(c, s);
  s = s ? s : kugel_comm_bcast(c, out->values, (size_t)numbers * sizeof *out->values, 0);
  return s ? s : kugel__volume_share_depths(ctx, c, w.depths, base ? base->depth : NULL, &out->depth);
}

void kugel__volume_drop_kernels(kugel_ctx *ctx, kugel__volume_kernels *kernels)
{
  kugel__free(ctx, kernels->values);
  kugel__free(ctx, kernels->depth);
}

kugel_status kugel__volume_order_plan(kugel_ctx *ctx, const kugel__order *o,
                                      const kugel__volume_kernels *kernels, kugel_volume_engine engine,
                                      kugel_comm *comm, kugel_volume **out)
{
  kugel__volume_card c = kugel__volume_order_card(o);
  const int dims = KUGEL__VOLUME_DIMS;
  int ndim = (int)c.ndim, lead = dims - ndim, more = c.kernels || c.depths ? 1 : 0;
  int64_t shape[KUGEL__VOLUME_DIMS + 1] = {count_kernels(&c)};
  memcpy(shape + more, c.k + lead, (size_t)ndim * sizeof *shape);
  kugel_array array = {
      kernels->values, {KUGEL_CPU, 0}, ndim + more, c.complex_data ? KUGEL_C128 : KUGEL_F64, shape, NULL, 0};
  kugel_volume_opts opts = kugel__volume_order_opts(o);
  opts.engine = engine;
  opts.tile = engine == KUGEL_VOLUME_TILES ? c.tile + lead : NULL;
  opts.centre = engine == KUGEL_VOLUME_TILES ? NULL : c.centre + lead;
  opts.depth = kernels->depth;
  opts.comm = comm;
  return kugel_volume_create(ctx, ndim, c.n + lead, c.k + lead, &array, &opts, out);
}

static kugel_status copy_row(void *arg, int64_t i)
{
  const kugel__volume_rows *t = arg;
  const kugel__volume_box *b = t->box;
  int64_t size = b->dtype.bits / 8, n = t->n[2], y = i % t->n[1], z = i / t->n[1] % t->n[0],
          k = i / t->n[1] / t->n[0];
  const kugel__volume_reach *r = t->reach;
  z = r && r[0].source ? r[0].source[z] : z;
  y = r && r[1].source ? r[1].source[y] : y;
  char *row = b->data + (k * b->step[0] + z * b->step[1] + y * b->step[2]) * size,
       *at = t->message + i * n * size;
  bool plain = b->step[3] == 1 && !(r && r[2].source);
  if (plain)
    memcpy(t->pack ? at : row, t->pack ? row : at, (size_t)(n * size));
  for (int64_t x = 0; x < n && !plain; x++) {
    char *voxel = row + (r && r[2].source ? r[2].source[x] : x) * b->step[3] * size;
    memcpy(t->pack ? at + x * size : voxel, t->pack ? voxel : at + x * size, (size_t)size);
  }
  return KUGEL_OK;
}

kugel_status kugel__volume_copy_rows(kugel_ctx *ctx, int64_t kernels, const kugel__volume_rows *rows)
{
  return kugel__parallel(ctx, kernels * rows->n[0] * rows->n[1], copy_row, (void *)rows);
}
