/* SPDX-License-Identifier: BSD-3-Clause */
/* Volumes from callbacks to callbacks: stream.c has one box or slabs of slices, stream_boxes.c tiles. */
#ifndef KUGEL_VOLUME_STREAM_H
#define KUGEL_VOLUME_STREAM_H

#include "volume/plan/plan.h"

typedef struct kugel__stream_range { /* of the image or the results along an axis */
  int64_t first, count;
} kugel__stream_range;

enum { KUGEL__STREAM_ROOMS = 64 };

typedef struct kugel__stream {
  const kugel_volume *p;
  const kugel_volume_stream_opts *o;
  int64_t first;                                  /* boxes that are left out */
  bool planes;                                    /* a box is whole planes */
  int64_t size_in, size_out;                      /* bytes of a voxel */
  int64_t slots, *held;                           /* [slots]: the slice of the image in each, -1: none */
  kugel__stream_range region[KUGEL__VOLUME_DIMS]; /* of the image along y and x, in the slots */
  int64_t *source[KUGEL__VOLUME_DIMS];            /* of a tile */
  int64_t *slot;                                  /* [slots] of the slices of a box */
  char *in, *out;
  atomic_llong clipped;
  /* on devices */
  int64_t rooms, room;  /* boxes in `out`, and bytes of one */
  int64_t box, written; /* the latest one that was begun, the first one that was not written */
  int64_t *left;        /* [rooms] tiles to come */
  kugel__stream_range boxes[KUGEL__STREAM_ROOMS][KUGEL__VOLUME_DIMS];
  kugel__volume_reach reach; /* along z of the latest box */
} kugel__stream;

/* Boxes to leave out, of so many. */
kugel_status kugel__stream_first(kugel__stream *s, int64_t boxes);
/* Tiles, after which free_ is called whatever it returns. */
kugel_status kugel__stream_tiles(kugel__stream *s);
void kugel__stream_free(kugel__stream *s);

#endif
