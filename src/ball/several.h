/* SPDX-License-Identifier: BSD-3-Clause */
/* Transforms in the ball by several devices. Each device has a range of degrees, whose transforms in radius are its part, and a
 * range of radii, whose spheres are:
 *
 *   coefficients of its degrees -> rows [components, its rows, nr] -> packed by the devices that have the radii
 *   -> one exchange of all with all -> rows [components, nlm, its radii] -> its spheres of the field
 *
 * and back. Coefficients and values go between each device and the array of the caller, which is in host memory or in that of the
 * first device, without a stop elsewhere. Operators, profiles and spectra run on the first device. */
#ifndef KUGEL_BALL_SEVERAL_H
#define KUGEL_BALL_SEVERAL_H

#include "ball/ball.h"
#include "device/device.h"

/* Blocks of a device's memory during a call. */
enum {
  KUGEL__SHARE_COEFFS,
  KUGEL__SHARE_ROWS,
  KUGEL__SHARE_PACKED,
  KUGEL__SHARE_SHELLS,
  KUGEL__SHARE_VALUES,
  KUGEL__SHARE_MAPS,
  KUGEL__SHARE_BLOCKS
};

typedef struct kugel__ball_share {
  kugel_ctx *ctx;
  kugel__device *device;
  kugel_ball *plan;                          /* of the spheres of its radii; NULL: it has none */
  kugel_jwt *radial[KUGEL__BALL_COMPONENTS]; /* of its degrees, to all radii; NULL: it has none */
  int64_t l0, l1, row, rows;                 /* degrees, their rows */
  int64_t k, count;                          /* radii */
  kugel_queue *queue;
  void *memory; /* of a call */
  size_t at[KUGEL__SHARE_BLOCKS + 1];
} kugel__ball_share;

struct kugel__ball_several {
  kugel_ctx *ctx; /* of all devices */
  int count;
  kugel__ball_share *share;
  pthread_mutex_t lock; /* a call at a time */
};

/* Where the blocks of a call are in a device's memory. */
void kugel__ball_share_place(const kugel_ball *p, kugel__ball_share *e, int components);

/* Fills p->several of a plan whose context is of the first device of `ctx`, sizes and grid are known. */
kugel_status kugel__ball_several_create(kugel_ball *p, const double *radii, const kugel_grid *sphere);
/* Makes p->several for the devices of ctx, whose reference it keeps, or returns after a failure. *first: a context of the first. */
kugel_status kugel__ball_several_open(kugel_ctx *ctx, struct kugel__ball_several **out, kugel_ctx **first);
void kugel__ball_several_destroy(struct kugel__ball_several *s); /* may be NULL */

/* A transform of checked arrays. */
kugel_status kugel__ball_several_run(const kugel__ball_call *c, int64_t batch, const kugel_array *coeffs,
                                     const kugel_array *values, kugel_queue *queue);

/* Bytes of tables of the transforms in radius, on all devices. */
kugel_status kugel__ball_several_tables(const struct kugel__ball_several *s, uint64_t *bytes);

#endif
