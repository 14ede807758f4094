/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels that vary with depth: H x = sum_d h_d * (w_d x), w_d the hat functions between the planes that the kernels belong
 * to, so that each plane is spread by the kernel interpolated there; H' y = sum_d w_d (h_d' y). The factors depend on z alone
 * and commute with the transforms along x and y: only lines along z run once per kernel. */
#include "volume/cpu/volume.h"

/* The hat function of kernel d at a plane. */
static double hat(const kugel_volume *p, int d, double plane)
{
  const double *at = p->depth;
  int last = p->stored - 1;
  if (plane <= at[0])
    return d == 0 ? 1 : 0;
  if (plane >= at[last])
    return d == last ? 1 : 0;
  if (d > 0 && plane <= at[d])
    return plane > at[d - 1] ? (plane - at[d - 1]) / (at[d] - at[d - 1]) : 0;
  return d < last && plane >= at[d] && plane < at[d + 1] ? (at[d + 1] - plane) / (at[d + 1] - at[d]) : 0;
}

bool kugel__volume_weigh(const kugel_volume *p, int which, double *weight)
{
  const kugel__volume_axis *a = &p->axis[0];
  const kugel__volume_list *l = p->late ? &a->results : &a->data;
  bool some = false;
  for (int64_t i = 0; i < a->points; i++)
    weight[i] = 0;
  for (int64_t i = 0; i < l->count; i++) {
    int64_t at = p->plane + (l->index ? l->index[i] : l->first_index + i);
    if (!p->late && (at < 0 || at >= p->planes))
      at = kugel__volume_inside(p->opts.boundary, at, p->planes);
    double w = hat(p, which, (double)(at + p->shift));
    weight[l->position ? l->position[i] : l->first_position + i] = w;
    some |= w != 0;
  }
  return some;
}

double kugel__volume_depth_sum(const kugel_volume *p, int64_t first)
{
  int64_t k = p->axis[0].k;
  double sum = 0;
  for (int d = 0; d < p->stored; d++)
    for (int64_t j = 0; j < k; j++) { // which meets plane first + k - 1 - j
      double h = p->sums[d * k + (p->opts.correlate ? k - 1 - j : j)];
      sum += h * hat(p, d, (double)(first + k - 1 - j + p->shift));
    }
  return sum;
}
