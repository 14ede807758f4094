/* SPDX-License-Identifier: BSD-3-Clause */
/* Type 3: what the choice of its grids goes by in every precision, and points of its parts. */
#include <math.h>
#include <unistd.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "nufft/third.h"

double kugel__third_edge_gain(int width, double upsampling)
{
  double b = M_PI * width * (1 - 1 / (2 * upsampling)), a = M_PI * width / (2 * upsampling),
         r = sqrt(b * b - a * a);
  return r / b * exp(b - r);
}

/* Errors of the inner transform against those of the result. It errs in mode l by a factor that grows towards the edge as
 * e^{kappa l}; of a point's nodes, which have phihat(s) as their sum, that makes phihat(s + i kappa), and phihat falls off about as
 * e^{-k s^2}: e^{k kappa^2} remains after the division. Wide grids have kappa near 0; at most it is the gain. */
double kugel__third_amplification(const kugel__third_maker *m, const double *cells, int width, double gain,
                                  double outer, double inner)
{
  double k = log(kugel__third_edge_gain(width, outer)) * pow(outer / M_PI, 2), least = INFINITY;
  for (int d = 0; d < m->plan->ndim; d++)
    least = fmin(least, cells[d]);
  double kappa = M_PI * width / (inner * sqrt(1 - 1 / inner) * least);
  return fmin(gain, exp(k * kappa * kappa));
}

kugel_status kugel__third_check_memory(const kugel__third_maker *m, const double *axis, double bytes)
{
  double cells = 1, most = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
  if (kugel__ctx_limit(m->plan->ctx) > 0)
    most = fmin(most, (double)kugel__ctx_limit(m->plan->ctx));
  for (int d = 0; d < m->plan->ndim; d++)
    cells *= axis[d];
  KUGEL_CHECK(bytes <= most, KUGEL_ENOMEM,
              "type 3 over these ranges needs grids of %.3g points, %.3g GB, the limit is %.3g GB: the "
              "product of the "
              "ranges of points and frequencies must be smaller, or the sum cut into parts",
              cells, bytes * 1e-9, most * 1e-9);
  for (int d = 0; d < m->plan->ndim; d++)
    KUGEL_CHECK(axis[d] <= 0x1p30, KUGEL_ENOMEM,
                "type 3 over these ranges needs a grid of %.3g points on axis %d, must be at most 2^30",
                axis[d], d);
  return KUGEL_OK;
}

/* Coordinates about their centre, [n][ndim] or, in double-double, [n][ndim][2]. */
typedef struct shifts {
  const kugel__nufft_places_of *from;
  int ndim, parts;
  double *to;
} shifts;

static kugel_status shift(void *arg, int64_t chunk)
{
  const shifts *s = arg;
  int64_t first = chunk * KUGEL__THIRD_CHUNK, end = kugel__min(s->from->n, first + KUGEL__THIRD_CHUNK);
  for (int64_t i = first; i < end; i++)
    for (int d = 0; d < s->ndim; d++) {
      const kugel__dd x = dd_add_d(kugel__nufft_coordinate_dd(s->from, i, d), -s->from->centre[d]);
      double *to = s->to + (i * s->ndim + d) * s->parts;
      to[0] = x.hi;
      if (s->parts == 2)
        to[1] = x.lo;
    }
  return KUGEL_OK;
}

kugel_status kugel__third_place(const kugel_nufft *part, const kugel__nufft_places_of *from,
                                kugel_nufft_points **out)
{
  const int parts = part->dd ? 2 : 1;
  double *x = kugel__scratch_get(part->ctx, (size_t)kugel__max(1, from->n * part->ndim * parts) * sizeof *x);
  KUGEL_CHECK(x, KUGEL_ENOMEM, "no memory for the coordinates of %lld %ss", (long long)from->n, from->name);
  shifts s = {from, part->ndim, parts, x};
  kugel_array places = *KUGEL_ARRAY(x, KUGEL_F64, from->n, part->ndim, parts);
  places.ndim = 1 + parts;
  kugel_status status =
      kugel__parallel(part->ctx, (from->n + KUGEL__THIRD_CHUNK - 1) / KUGEL__THIRD_CHUNK, shift, &s);
  if (!status)
    status = kugel_nufft_points_create(part, &places, out);
  kugel__scratch_put(part->ctx, x);
  return status;
}
