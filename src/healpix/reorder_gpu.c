/* SPDX-License-Identifier: BSD-3-Clause */
/* Reorders on devices: kernels/reorder.cl. */
#include <stdio.h>
#include "codegen/module.h"
#include "core/array.h"
#include "device/lend.h"
#include "healpix/layout.h"

enum { BLOCK = 256, MOST_TILES = 1 << 30, MOST_BATCH = 1 << 15 };

/* As in kernels/reorder.cl. */
typedef struct map_shape {
  int64_t nside, npix, batch;
  int64_t corner[2], by_x[2], by_y[2];
  int64_t across, tiles;
} map_shape;

static int64_t tile_edge(size_t bytes)
{
  return bytes <= 2 ? 128 : bytes <= 8 ? 64 : 32;
}

// What the kernel calls an order.
static int side_of(int64_t nside, kugel_order order)
{
  if (!kugel__is_flat(order))
    return (int)order;
  kugel__flat f = kugel__flat_of(nside, order);
  return f.by_x == 1 || f.by_x == -1 ? 3 : 4;
}

static map_shape shape_of(const kugel__reorder *r)
{
  map_shape m = {.nside = r->nside, .npix = r->npix, .batch = r->batch};
  kugel_order orders[2] = {r->from, r->to};
  for (int k = 0; k < 2; k++)
    if (kugel__is_flat(orders[k])) {
      kugel__flat f = kugel__flat_of(r->nside, orders[k]);
      m.corner[k] = f.corner;
      m.by_x[k] = f.by_x;
      m.by_y[k] = f.by_y;
    }
  m.across = (r->nside + tile_edge(r->bytes) - 1) / tile_edge(r->bytes);
  m.tiles = 12 * m.across * m.across;
  return m;
}

static kugel_status run(kugel_ctx *ctx, kugel__device *dev, const kugel__reorder *r, kugel__mem in,
                        kugel__mem out, kugel_queue *queue)
{
  if (r->from == r->to)
    return kugel__device_copy(dev, KUGEL__WITHIN, out, in, (size_t)(r->batch * r->npix) * r->bytes, queue);
  char defines[96];
  snprintf(defines, sizeof defines, "#define FROM %d\n#define TO %d\n#define BYTES %d\n",
           side_of(r->nside, r->from), side_of(r->nside, r->to), (int)r->bytes);
  kugel__module *module;
  kugel__kernel *kernel;
  map_shape m = shape_of(r);
  kugel__module_spec spec = {.name = "healpix/reorder", .defines = defines};
  KUGEL_TRY(kugel__module_get(ctx, &spec, &module));
  kugel_status s = kugel__module_kernel(module, "reorder", &kernel, NULL);
  kugel__grid grid = {
      .blocks = {(uint32_t)kugel__min(m.tiles, MOST_TILES), (uint32_t)kugel__min(m.batch, MOST_BATCH)},
      .threads = {BLOCK}};
  kugel__arg args[] = {KUGEL__MEM_ARG(in), KUGEL__MEM_ARG(out), KUGEL__VALUE_ARG(m)};
  if (!s)
    s = kugel__launch(dev, kernel, &grid, 3, args, queue);
  kugel__module_put(module);
  return s;
}

kugel_status kugel__reorder_gpu(kugel_ctx *ctx, const kugel__reorder *r, const kugel_array *in,
                                const kugel_array *out, kugel_queue *queue)
{
  kugel__device *dev = kugel__ctx_device(ctx);
  kugel_queue *used;
  kugel__loan loans[2] = {0};
  KUGEL_TRY(kugel__queue_of(dev, queue, &used));
  kugel_status s = kugel__lend(dev, in, KUGEL__READ, used, &loans[0]);
  if (!s)
    s = kugel__lend(dev, out, KUGEL__WRITE, used, &loans[1]);
  if (!s)
    s = run(ctx, dev, r, loans[0].mem, loans[1].mem, used);
  s = kugel__lend_end(2, loans, used, s);
  return s || queue ? s : dev->ops->wait(used);
}
