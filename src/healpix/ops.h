/* SPDX-License-Identifier: BSD-3-Clause */
/* Inner loops over pixels and directions, once an instruction set. Arguments are valid (pixels in range,
 * theta in [0, pi], n > 0) unless stated; outputs may be inputs of the same type. */
#ifndef KUGEL_HEALPIX_OPS_H
#define KUGEL_HEALPIX_OPS_H

#include "core/base.h"
#include "core/cpu.h"
#include <kugel/healpix.h>

/* pixels.isa.c */
typedef struct kugel__pix_ops {
  bool (*in_range)(int64_t n, const int64_t *p, int64_t end); /* all in [0, end) */
  void (*pix2ang)(int64_t nside, kugel_order order, int64_t n, const int64_t *p, double *theta, double *phi);
  void (*pix2vec)(int64_t nside, kugel_order order, int64_t n, const int64_t *p, double *vec);
  void (*pix2xyf)(int64_t nside, kugel_order order, int64_t n, const int64_t *p, int64_t *x, int64_t *y,
                  int64_t *face);
  void (*xyf2pix)(int64_t nside, kugel_order order, int64_t n, const int64_t *x, const int64_t *y,
                  const int64_t *face, int64_t *p);
  void (*pix2ring)(int64_t nside, kugel_order order, int64_t n, const int64_t *p, int64_t *ring);
  void (*convert)(int64_t nside, kugel_order from, int64_t n, const int64_t *in,
                  int64_t *out); /* to the other */
} kugel__pix_ops;
KUGEL_DISPATCH(kugel__pix_ops, kugel__pix_ops)

/* directions.isa.c; both return false if an element is bad, and the pixels then mean nothing. theta and phi
 * may hold anything, and so may vec. */
typedef struct kugel__dir_ops {
  bool (*ang2pix)(int64_t nside, kugel_order order, int64_t n, const double *theta, const double *phi,
                  int64_t *p);
  bool (*vec2pix)(int64_t nside, kugel_order order, int64_t n, const double *vec, int64_t *p);
} kugel__dir_ops;
KUGEL_DISPATCH(kugel__dir_ops, kugel__dir_ops)

/* One direction in plain arithmetic: what the loops do where a direction lies on a pixel's edge but for
 * rounding, so that every instruction set finds the same pixel. -1: a bad direction. */
int64_t kugel__angle_pixel(int64_t nside, kugel_order order, double theta, double phi);
int64_t kugel__vector_pixel(int64_t nside, kugel_order order, const double *vec);

/* around.isa.c; interpolation is as ang2pix for bad elements. Both write rows, of 8 and of 4. */
typedef struct kugel__near_ops {
  void (*neighbours)(int64_t nside, kugel_order order, int64_t n, const int64_t *p, int64_t *out);
  bool (*interpolation)(int64_t nside, kugel_order order, int64_t n, const double *theta, const double *phi,
                        int64_t *p, double *weight);
  /* Unit vectors [n, 3] of points of faces, x and y in [0, 1]; ring and lon are those of the face's southern
   * corner (pix.h). */
  void (*face_points)(int64_t n, const double *x, const double *y, const double *ring, const double *lon,
                      double *vec);
} kugel__near_ops;
KUGEL_DISPATCH(kugel__near_ops, kugel__near_ops)

/* One element in plain arithmetic: what the loops do at the edges of faces and about the poles. */
void kugel__neighbours_of(int64_t nside, kugel_order order, int64_t p, int64_t *out);
void kugel__interpolation_at(int64_t nside, kugel_order order, double theta, double phi, int64_t *p,
                             double *weight);

#endif
