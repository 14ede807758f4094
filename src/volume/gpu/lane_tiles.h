/* SPDX-License-Identifier: BSD-3-Clause */
/* Tiles on devices: while one is convolved the next one is copied in and the previous one out, on three queues of each
 * device of the context; the devices share the tiles. */
#ifndef KUGEL_VOLUME_LANE_TILES_H
#define KUGEL_VOLUME_LANE_TILES_H

#include "volume/gpu/fused.h"

typedef struct kugel__lane_tiles kugel__lane_tiles;

/* A tile's reaches, and its arrays in host memory as kugel__volume_run_tile has them. */
typedef struct kugel__lane_tile {
  kugel__volume_reach reach[KUGEL__VOLUME_DIMS];
  kugel__volume_box in, out;
} kugel__lane_tile;

typedef struct kugel__lane_work {
  void *arg;
  int64_t count;
  bool adjoint;
  const kugel__volume_box *image; /* of which the `in` of all tiles are parts; NULL: arrays of their own */
  /* Tile i; what it points to stays until the next call. */
  kugel_status (*tile)(void *arg, int64_t i, kugel__lane_tile *out);
  /* The results of tile i are there: on the caller's thread, in order if there is one device; `tile` is asked for tile
   * i + under_way later. NULL: nothing is done. */
  kugel_status (*done)(void *arg, int64_t i);
} kugel__lane_work;

/* p->sub is the tile. kernel: doubles [kernels][k]. */
kugel_status kugel__lane_tiles_create(kugel_volume *p, const double *kernel, kugel__lane_tiles **out);
void kugel__lane_tiles_destroy(kugel__lane_tiles *t);
/* Factors of a tile's planes for kernels by depth: reals [kernels][points], and which are used; row: room for points. */
void kugel__lane_weights(const kugel_volume *p, const kugel__volume_reach *z, double *row, bool *used,
                         void *to);
/* The most tiles between `tile` and `done`. */
int kugel__lane_tiles_under_way(const kugel__lane_tiles *t);
/* Calls take turns. */
kugel_status kugel__lane_tiles_run(const kugel_volume *p, kugel__lane_tiles *t, const kugel__lane_work *work,
                                   atomic_llong *clipped);
/* Bytes of device memory, and of page-locked host memory. hold: the image is kept on the device, lane_image.h. */
uint64_t kugel__lane_tiles_bytes(const kugel_volume *p, const kugel__fused *f, bool hold, uint64_t *host);
/* Whether the image is kept on the device: tiles follow each other along one axis, and it fits the memory. */
bool kugel__lane_tiles_hold(const kugel_volume *p, const kugel__fused *f);

#endif
