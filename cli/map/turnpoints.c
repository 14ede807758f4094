/* SPDX-License-Identifier: BSD-3-Clause */
#include "map/turnpoints.h"
#include <math.h>
#include <stdlib.h>
#include <kugel/healpix.h>
#include <kugel/points.h>
#include "common/progress.h"

void turn_close(kugel_sht_points_plan **plan)
{
  kugel_sht_points_plan_destroy(*plan);
}

static void points_close(kugel_sht_points **points)
{
  kugel_sht_points_destroy(*points);
}

int turn_plan(int64_t n, int64_t lmax, double eps, kugel_sht_points_plan **plan)
{
  LIB(kugel_sht_points_plan_create(run.ctx,
                                   &(kugel_sht_points_opts){.size = sizeof(kugel_sht_points_opts),
                                                            .lmax = lmax,
                                                            .mmax = mmax_argument(lmax),
                                                            .mode = n == 3 ? KUGEL_SHT_TEB : KUGEL_SHT_SCALAR,
                                                            .tolerance = eps},
                                   plan));
  return EXIT_DONE;
}

int turn_estimate(const kugel_sht_points_plan *plan, int64_t n, int64_t npix, double *bytes, double *seconds)
{
  kugel_sht_points_info info = {.size = sizeof info};
  LIB(kugel_sht_points_get_info(plan, &info));
  const double points = (double)npix, sets = (double)n;
  *bytes = (double)info.bytes + (64 + 40 * sets) * points;
  *seconds = sets * (3e-7 * points + 1e-10 * (double)info.nalm * (double)info.ntheta);
  return EXIT_DONE;
}

/* Where the pixels were, [npix, 2], and by how much their directions turn on the way from there, [npix]. */
static int places(const double *matrix, int64_t nside, double *x, double *turn)
{
  enum { CHUNK = 4096 };
  int64_t pixel[CHUNK];
  double theta[CHUNK], phi[CHUNK], there[CHUNK], where[CHUNK], back[9];
  const int64_t npix = 12 * nside * nside;
  LIB(kugel_rotation_invert(matrix, back));
  for (int64_t first = 0; first < npix; first += CHUNK) {
    const int64_t n = npix - first < CHUNK ? npix - first : CHUNK;
    for (int64_t i = 0; i < n; i++)
      pixel[i] = first + i;
    LIB(kugel_healpix_pix2ang(NULL, nside, KUGEL_ORDER_RING, n, pixel, theta, phi));
    LIB(kugel_rotation_angles(NULL, back, n, theta, phi, there, where, NULL));
    for (int64_t i = 0; i < n; i++) {
      x[2 * (first + i)] = there[i];
      x[2 * (first + i) + 1] = where[i];
    }
    if (turn)
      LIB(kugel_rotation_angles(NULL, matrix, n, there, where, theta, phi, turn + first));
  }
  return EXIT_DONE;
}

static void turn_polarisation(sky *s, const double *turn)
{
  for (int64_t i = 0; i < s->npix; i++) {
    const double c = cos(2 * turn[i]), d = sin(2 * turn[i]);
    if (s->dtype.bits == 32) {
      float *q = (float *)s->maps + s->npix + i, *u = q + s->npix;
      const double x = *q, y = *u;
      *q = (float)(c * x - d * y);
      *u = (float)(d * x + c * y);
    } else {
      double *q = (double *)s->maps + s->npix + i, *u = q + s->npix;
      const double x = *q, y = *u;
      *q = c * x - d * y;
      *u = d * x + c * y;
    }
  }
}

int turn_sums(const kugel_sht_points_plan *plan, const alms *a, const double *matrix, int64_t nside, sky *s)
{
  const int64_t npix = 12 * nside * nside;
  __attribute__((cleanup(points_close))) kugel_sht_points *points = NULL;
  OWNED double *turn = s->n == 3 ? malloc((size_t)npix * sizeof *turn) : NULL;
  OWNED double *x = malloc(2 * (size_t)npix * sizeof *x);
  if (!x || (s->n == 3 && !turn))
    return fail("no memory for %lld turned pixel centres", (long long)npix);
  STEP(places(matrix, nside, x, turn));
  LIB(kugel_sht_points_create(plan, KUGEL_ARRAY(x, KUGEL_F64, npix, 2), &points));
  if (nside != s->nside) {
    free(s->maps);
    s->nside = nside;
    s->npix = npix;
    s->maps = malloc((size_t)s->n * (size_t)npix * (s->dtype.bits / 8));
    if (!s->maps)
      return fail("no memory for %lld maps of nside %lld", (long long)s->n, (long long)nside);
  }
  LIB(kugel_sht_points_synthesis(points, KUGEL_ARRAY(a->data, KUGEL_C128, a->n, a->count),
                                 KUGEL_ARRAY(s->maps, s->dtype, s->n, npix), NULL));
  if (turn)
    turn_polarisation(s, turn);
  return EXIT_DONE;
}
