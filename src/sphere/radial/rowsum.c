/* SPDX-License-Identifier: BSD-3-Clause */
/* What a sum over pixels makes of a constant. A kernel as narrow as the pixels sees them one by one, so that
 * the result depends on where a pixel's neighbours lie; a wide one sees an integral. */
#include <math.h>
#include "core/alloc.h"
#include "sphere/grid/grid.h"
#include "sphere/radial/radial.h"

enum { LANES = KUGEL__RADIAL_LANES, MOST_RINGS = 64, POSITIONS = 4 };
static const double most_pairs = 4e6; /* that are worth the time of a plan */

/* The sum of the weights of pixel i of ring r; w has room for any ring. */
static double row_sum(const kugel_radial *p, const kugel__radial_ring *r, int64_t i, double *w)
{
  const kugel__radial_ops *ops = kugel__radial_ops_now();
  double sum = 0;
  for (int64_t k = r->lo; k < r->hi; k++) {
    const kugel__radial_ring *q = p->ring + k;
    kugel__radial_span t = kugel__radial_span_of(p, r, q);
    if (!t.width)
      continue;
    double turn = (double)i * t.nq, j0 = ceil(turn / t.nr + t.shift - t.half), part = 0;
    ops->keys(t.a, t.b, (j0 * t.nr - turn) * t.unit + t.dphi, t.step, t.width, w);
    int64_t whole = kugel__round_up(t.width, LANES);
    for (int64_t e = t.width; e < whole; e++)
      w[e] = INFINITY;
    ops->values(&p->poly, whole, w);
    for (int64_t e = 0; e < t.width; e++)
      part += w[e];
    sum += part * q->weight;
  }
  return sum;
}

/* Rings at the pole and, if rings differ in their pixels, where they begin to be equal, then evenly. */
static int64_t ring_number(const kugel_radial *p, int64_t k, int64_t count)
{
  int64_t outputs = kugel__radial_outputs(p), close = count / 4, belt = 0;
  while (belt < outputs && p->ring[belt].nphi != p->max_nphi)
    belt++;
  if (k < close)
    return kugel__min(k, outputs - 1);
  if (k < 2 * close)
    return kugel__min(kugel__max(belt + k - close - close / 2, 0), outputs - 1);
  return (k - 2 * close) * outputs / (count - 2 * close);
}

kugel_status kugel__radial_row_sums(kugel_radial *p)
{
  double each = fmax(1, p->info.pairs / (double)p->grid->npix);
  int64_t count = kugel__max(4, (int64_t)fmin(MOST_RINGS, most_pairs / each / POSITIONS));
  double *w = kugel__alloc(p->ctx, (size_t)(p->max_nphi + 2 * LANES) * 8), least = INFINITY, most = -INFINITY;
  KUGEL_CHECK(w, KUGEL_ENOMEM, "no memory for a row of %lld weights", (long long)p->max_nphi);
  for (int64_t k = 0; k < count; k++) {
    const kugel__radial_ring *r = p->ring + ring_number(p, k, count);
    for (int64_t i = 0; i < POSITIONS; i++) {
      double s = row_sum(p, r, i * (r->nphi / 4) / POSITIONS, w);
      least = fmin(least, s);
      most = fmax(most, s);
    }
  }
  kugel__free(p->ctx, w);
  p->info.constant_least = least;
  p->info.constant_most = most;
  return KUGEL_OK;
}
