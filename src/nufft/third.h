/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of type 3 share: third.c (boxes, grids), third_run.c (factors, execution), dd_third.c (grids and factors in
 * double-double), third_grid.c (for both). */
#ifndef KUGEL_NUFFT_THIRD_H
#define KUGEL_NUFFT_THIRD_H

#include "core/dd.h"
#include "nufft/plan.h"

enum { KUGEL__THIRD_CHUNK = 4096 }; /* points per task */

/* Coordinates of the caller; of type 3 also their box. */
typedef struct kugel__nufft_places_of {
  const char *name;
  const char *data;
  int64_t n, stride, axis_stride; /* strides in numbers */
  bool floats, twofold;           /* twofold: numbers of two doubles, of plans in double-double */
  double centre[3], half[3];
} kugel__nufft_places_of;

/* A part that is not finite leaves a high part that is not. */
static inline kugel__dd kugel__nufft_coordinate_dd(const kugel__nufft_places_of *s, int64_t i, int d)
{
  const int64_t at = i * s->stride + d * s->axis_stride;
  if (s->floats)
    return dd_from((double)((const float *)(const void *)s->data)[at]);
  const double *x = (const double *)(const void *)s->data + (s->twofold ? 2 * at : at);
  return s->twofold ? dd_two_sum(x[0], x[1]) : dd_from(x[0]);
}

/* `name` and the box apart, of an array [n, ndim] or [n, ndim, 2] that is checked but for the pairs' strides. */
kugel_status kugel__nufft_places_from(const kugel_array *a, kugel__nufft_places_of *out);

static inline double kugel__nufft_coordinate(const kugel__nufft_places_of *s, int64_t i, int d)
{
  return kugel__nufft_coordinate_dd(s, i, d).hi;
}

typedef struct kugel__third_maker {
  const kugel_nufft *plan;
  kugel__nufft_places_of points, frequencies;
  kugel__nufft_kernel kernel; /* of the outer grid */
  double period[3];           /* of the frequencies: 2 pi cells of the outer grid per unit of x */
  kugel__nufft_third *third;
} kugel__third_maker;

/* How much the division by phihat at the edge of the band enlarges errors: of the Kaiser-Bessel kernel, which is close to the
 * prolate one. */
double kugel__third_edge_gain(int width, double upsampling);

/* Errors of the inner transform against those of the result, by a kernel of `width` cells for the outer grid of `cells` with that
 * gain, and both grids' upsamplings. */
double kugel__third_amplification(const kugel__third_maker *m, const double *cells, int width, double gain,
                                  double outer, double inner);

/* Whether a grid of `cells` fits: `bytes` are those of both grids. */
kugel_status kugel__third_check_memory(const kugel__third_maker *m, const double *cells, double bytes);

/* Points of a part, shifted about the centre of their box. */
kugel_status kugel__third_place(const kugel_nufft *part, const kugel__nufft_places_of *from,
                                kugel_nufft_points **out);

/* In double-double: all parts and factors of m->third. */
kugel_status kugel__third_dd_make(kugel__third_maker *m);

/* third->run. */
kugel_status kugel__nufft_third_run(const kugel_nufft_points *p, bool adjoint, const void *in,
                                    int64_t in_stride, void *out, int64_t out_stride);

/* third->before and after. */
kugel_status kugel__third_factors(kugel__third_maker *m);

#endif
