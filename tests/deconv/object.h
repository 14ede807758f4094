/* SPDX-License-Identifier: BSD-3-Clause */
/* A PSF that is not symmetric, an object of bars and a point, its image by direct sums. */
#ifndef KUGEL_TESTS_DECONV_OBJECT_H
#define KUGEL_TESTS_DECONV_OBJECT_H

#include <kugel/deconv.h>
#include "check.h"
#include "core/alloc.h"

enum { NZ = 12, NY = 30, NX = 33, ALL = NZ * NY * NX, KZ = 7, KY = 9, KX = 9, K = KZ * KY * KX };
static const int64_t n[3] = {NZ, NY, NX}, k[3] = {KZ, KY, KX};
__attribute__((unused)) static double psf[K], object[ALL], image[ALL], out[ALL], other[ALL];

static inline kugel_array *box(double *a)
{
  static int64_t shape[3] = {NZ, NY, NX};
  static kugel_array arrays[8];
  static int at;
  kugel_array *v = &arrays[at++ % 8];
  *v = (kugel_array){.data = a, .device = {KUGEL_CPU, 0}, .ndim = 3, .dtype = KUGEL_F64, .shape = shape};
  return v;
}

static inline void make_psf(void)
{
  double sum = 0;
  for (int z = 0; z < KZ; z++)
    for (int y = 0; y < KY; y++)
      for (int x = 0; x < KX; x++) {
        double d = (z - 3) * (z - 3) / 3. + ((y - 4) * (y - 4) + (x - 4) * (x - 4)) / 5.;
        double side = x > 4 ? 1.3 : 1; // not symmetric
        sum += psf[(z * KY + y) * KX + x] = side * exp(-d);
      }
  for (int i = 0; i < K; i++)
    psf[i] /= sum;
}

/* Convolution by direct sums; beyond the frame the object is zero. */
static inline void blur(const double *x, double *y)
{
  for (int z = 0; z < NZ; z++)
    for (int r = 0; r < NY; r++)
      for (int c = 0; c < NX; c++) {
        double sum = 0;
        for (int i = 0; i < K; i++) {
          int a = z + 3 - i / (KY * KX), b = r + 4 - i / KX % KY, d = c + 4 - i % KX;
          if (a >= 0 && a < NZ && b >= 0 && b < NY && d >= 0 && d < NX)
            sum += psf[i] * x[(a * NY + b) * NX + d];
        }
        y[(z * NY + r) * NX + c] = sum;
      }
}

/* Two bars and a point, inside the frame. */
static inline void make_image(double level)
{
  memset(object, 0, sizeof object);
  for (int z = 4; z < 8; z++)
    for (int y = 8; y < 22; y++)
      object[(z * NY + y) * NX + 13] = object[(z * NY + y) * NX + 17] = level;
  object[(6 * NY + 15) * NX + 24] = 5 * level;
  blur(object, image);
}

static inline kugel_deconv *plan_of(kugel_deconv_opts o)
{
  kugel_deconv *p = NULL;
  o.size = sizeof o;
  CHECK_OK(kugel_deconv_create(NULL, 3, n, k, KUGEL_ARRAY(psf, KUGEL_F64, KZ, KY, KX), &o, &p));
  return p;
}

static inline kugel_deconv_info run(kugel_deconv_opts o, double *mask, double *to)
{
  kugel_deconv_info info = {.size = sizeof info};
  kugel_deconv *p = plan_of(o);
  if (p)
    CHECK_OK(kugel_deconv_execute(p, box(image), mask ? box(mask) : NULL, NULL, box(to), &info));
  kugel_deconv_destroy(p);
  return info;
}

static inline double distance(const double *a, const double *b)
{
  double d = 0, s = 0;
  for (int i = 0; i < ALL; i++) {
    d += (a[i] - b[i]) * (a[i] - b[i]);
    s += b[i] * b[i];
  }
  return sqrt(d / s);
}

#endif
