/* SPDX-License-Identifier: BSD-3-Clause */
/* What third.c (boxes, grids) and third_run.c (factors, execution) of type 3 share. */
#ifndef KUGEL_NUFFT_THIRD_H
#define KUGEL_NUFFT_THIRD_H

#include "nufft/plan.h"

enum { KUGEL__THIRD_CHUNK = 4096 }; /* points per task */

/* Coordinates of the caller, and their box. */
typedef struct kugel__nufft_places_of {
  const char *name;
  const char *data;
  int64_t n, stride, axis_stride; /* strides in elements */
  bool floats;
  double centre[3], half[3];
} kugel__nufft_places_of;

static inline double kugel__nufft_coordinate(const kugel__nufft_places_of *s, int64_t i, int d)
{
  int64_t at = i * s->stride + d * s->axis_stride;
  return s->floats ? (double)((const float *)(const void *)s->data)[at]
                   : ((const double *)(const void *)s->data)[at];
}

typedef struct kugel__third_shift {
  const kugel__nufft_places_of *from;
  int ndim;
  double *to;
} kugel__third_shift;

typedef struct kugel__third_maker {
  const kugel_nufft *plan;
  kugel__nufft_places_of points, frequencies;
  kugel__nufft_kernel kernel; /* of the outer grid */
  double period[3];           /* of the frequencies: 2 pi cells of the outer grid per unit of x */
  kugel__nufft_third *third;
} kugel__third_maker;

/* third->run. */
kugel_status kugel__nufft_third_run(const kugel_nufft_points *p, bool adjoint, const void *in,
                                    int64_t in_stride, void *out, int64_t out_stride);

/* third->before and after. */
kugel_status kugel__third_factors(kugel__third_maker *m);

#endif
