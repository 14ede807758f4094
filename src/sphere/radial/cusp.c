/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels that do not end level at the antipode.
 *
 * A kernel over the whole sphere with slope c at angle pi has a cusp there, b_l ~ (-1)^l c / l^3: in the mean over the
 * sphere a series to degree L is soon within the tolerance, but at the antipode it leaves out about c / L. Pixels that
 * are opposite each other meet this error, sums over them do not. */
#include <math.h>
#include "sphere/radial/radial.h"

double kugel__radial_cusp(const kugel_radial *p)
{
  const double h = 1e-3;
  if (p->info.radius < M_PI - h)
    return 0;
  double end = kugel__radial_kernel_at(p, M_PI), near = kugel__radial_kernel_at(p, M_PI - h),
         far = kugel__radial_kernel_at(p, M_PI - 2 * h), most = 0;
  for (int i = 0; i <= 64; i++)
    most = fmax(most, fabs(kugel__radial_kernel_at(p, M_PI * i / 64)));
  return most > 0 ? fabs(3 * end - 4 * near + far) / (2 * h * most) : 0;
}
