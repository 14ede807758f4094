/* SPDX-License-Identifier: BSD-3-Clause */
/* Flat layouts: where the pixel (x, y) of a face is in a map kept as twelve squares. */
#ifndef KUGEL_HEALPIX_LAYOUT_H
#define KUGEL_HEALPIX_LAYOUT_H

#include "healpix/pix.h"

/* Pixel x, y of face f is at f nside^2 + corner + x by_x + y by_y. */
typedef struct kugel__flat {
  int64_t corner, by_x, by_y;
} kugel__flat;

static inline bool kugel__is_flat(kugel_order order)
{
  return order >= KUGEL_ORDER_FLAT_S && order < KUGEL_ORDER_FLAT_S + 8;
}

/* nside with RING, NESTED or a flat layout. */
static inline bool kugel__layout_ok(int64_t nside, kugel_order order)
{
  return kugel__nside_ok(nside, kugel__is_flat(order) ? KUGEL_ORDER_RING : order);
}

/* Columns and rows, counter-clockwise, are (x, y) from the south, (y, -x) from the east, (-x, -y) from the
 * north and (-y, x) from the west, a minus counting back from nside - 1; clockwise they change places. */
static inline kugel__flat kugel__flat_of(int64_t nside, kugel_order order)
{
  int origin = ((int)order - KUGEL_ORDER_FLAT_S) & 3;
  bool clockwise = ((int)order - KUGEL_ORDER_FLAT_S) & KUGEL_FLAT_CLOCKWISE;
  int64_t column = clockwise ? nside : 1, row = clockwise ? 1 : nside, last = nside - 1;
  switch (origin) {
  case 0:
    return (kugel__flat){0, column, row};
  case 1:
    return (kugel__flat){row * last, -row, column};
  case 2:
    return (kugel__flat){(column + row) * last, -column, -row};
  default:
    return (kugel__flat){column * last, row, -column};
  }
}

static inline kugel__xyf kugel__flat_to_xyf(int64_t nside, kugel_order order, int64_t pixel)
{
  int origin = ((int)order - KUGEL_ORDER_FLAT_S) & 3;
  bool clockwise = ((int)order - KUGEL_ORDER_FLAT_S) & KUGEL_FLAT_CLOCKWISE;
  int64_t row = pixel / nside, a = pixel - row * nside, face = row / nside, b = row - face * nside,
          last = nside - 1;
  int64_t column = clockwise ? b : a;
  row = clockwise ? a : b;
  switch (origin) {
  case 0:
    return (kugel__xyf){column, row, face};
  case 1:
    return (kugel__xyf){last - row, column, face};
  case 2:
    return (kugel__xyf){last - column, last - row, face};
  default:
    return (kugel__xyf){row, last - column, face};
  }
}

static inline int64_t kugel__xyf_to_flat(int64_t nside, kugel_order order, kugel__xyf p)
{
  kugel__flat f = kugel__flat_of(nside, order);
  return p.face * nside * nside + f.corner + p.x * f.by_x + p.y * f.by_y;
}

/* What a reorder moves: maps of npix elements from one order to another. */
typedef struct kugel__reorder {
  int64_t nside, npix, batch;
  kugel_order from, to; /* different ones */
  size_t bytes;         /* of an element: 1, 2, 4, 8, 16 */
} kugel__reorder;

/* reorder_gpu.c: on the device of the context; the arrays have been checked. */
kugel_status kugel__reorder_gpu(kugel_ctx *ctx, const kugel__reorder *r, const kugel_array *in,
                                const kugel_array *out, kugel_queue *queue);

#endif
