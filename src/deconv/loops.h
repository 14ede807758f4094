/* SPDX-License-Identifier: BSD-3-Clause */
/* Loops over the voxels of a state, chunk by chunk on several threads. */
#ifndef KUGEL_DECONV_LOOPS_H
#define KUGEL_DECONV_LOOPS_H

#include "deconv/deconv.h"

/* Those of kugel__deconv_ops, and KNOWN: 0 where a voxel is missing. Up to KNOWN they are of the image, the others of the object. */
typedef enum kugel__deconv_kind {
  RATIO,
  RESIDUAL,
  KNOWN,
  UPDATE,
  EXTRAPOLATE,
  STEP,
  ADD,
  TURN,
  DOT
} kugel__deconv_kind;

typedef struct kugel__deconv_loop_of {
  kugel__deconv_state *s;
  kugel__deconv_kind kind;
  void *a, *b, *c, *to;
  double f;
  bool floor;
  int64_t plane, per; // set by the loop: voxels of a plane, its chunks
} kugel__deconv_loop_of;

/* Runs the loop; sums of chunks are added in order, so that the number of threads does not matter. They may be NULL. */
kugel_status kugel__deconv_loop(kugel__deconv_loop_of l, double *sum, double *second);
/* s->sums, two of each chunk of own planes, those of all ranks in order; side as in ranks.h; second may be NULL. */
kugel_status kugel__deconv_add_up(kugel__deconv_state *s, int side, double *sum, double *second);

#endif
