/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdio.h>
#include "volume/finite.h"

static int refuse(finite_box *f, double x, const int64_t lo[3], const int64_t n[3], int64_t i)
{
  snprintf(f->text, sizeof f->text,
           "%.100s is %g at voxel %lld, %lld, %lld, and all results around it would be NaN: --nan zero takes "
           "such voxels for 0, --nan keep lets NaN spread",
           f->path, x, (long long)(lo[0] + i / (n[1] * n[2])), (long long)(lo[1] + i / n[2] % n[1]),
           (long long)(lo[2] + i % n[2]));
  return 1;
}

int finite_check(finite_box *f, const int64_t lo[3], const int64_t n[3], void *values)
{
  float *narrow = values;
  double *wide = values;
  bool f32 = f->type.bits == 32;
  if (f->type.code != KUGEL_FLOAT || f->type.bits < 32)
    return 0;
  for (int64_t i = 0; i < n[0] * n[1] * n[2]; i++) {
    double x = f32 ? (double)narrow[i] : wide[i];
    if (isfinite(x))
      continue;
    if (f->mode == 0)
      return refuse(f, x, lo, n, i);
    f->count++;
    if (f->mode == 1 && f32)
      narrow[i] = 0;
    else if (f->mode == 1)
      wide[i] = 0;
  }
  return 0;
}
