/* SPDX-License-Identifier: BSD-3-Clause */
/* Orderings, resolutions, and fits to maps in memory. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "skyops.h"

void sht_close(kugel_sht **plan)
{
  kugel_sht_destroy(*plan);
}

int healpix_grid(int64_t nside, kugel_grid **grid)
{
  LIB(kugel_grid_create(
      NULL, &(kugel_grid_opts){.size = sizeof(kugel_grid_opts), .kind = KUGEL_GRID_HEALPIX, .nside = nside},
      grid));
  return EXIT_DONE;
}

int sky_reorder(sky *s, kugel_order order)
{
  if (s->order == order)
    return EXIT_DONE;
  size_t bytes = (size_t)s->npix * (s->dtype.bits / 8);
  OWNED void *other = malloc(bytes);
  if (!other)
    return fail("no memory for a map of %lld pixels", (long long)s->npix);
  for (int64_t c = 0; c < s->n; c++) { /* one at a time: one map of scratch */
    char *map = (char *)s->maps + (size_t)c * bytes;
    LIB(kugel_healpix_reorder(NULL, s->nside, s->order, order, KUGEL_ARRAY(map, s->dtype, s->npix),
                              KUGEL_ARRAY(other, s->dtype, s->npix)));
    memcpy(map, other, bytes);
  }
  s->order = order;
  return EXIT_DONE;
}

int sky_udgrade(const sky *s, int64_t nside, kugel_order order, double power, bool pessimistic, sky *out)
{
  *out = (sky){.nside = nside, .npix = 12 * nside * nside, .n = s->n, .order = order, .dtype = s->dtype};
  out->maps = malloc((size_t)out->n * (size_t)out->npix * (out->dtype.bits / 8));
  if (!out->maps)
    return fail("no memory for %lld maps of nside %lld", (long long)out->n, (long long)nside);
  LIB(kugel_healpix_ud_grade(NULL, s->nside, s->order, KUGEL_ARRAY(s->maps, s->dtype, s->n, s->npix), nside,
                             order, KUGEL_ARRAY(out->maps, out->dtype, out->n, out->npix),
                             &(kugel_ud_grade_opts){.size = sizeof(kugel_ud_grade_opts),
                                                    .pessimistic = pessimistic,
                                                    .power = power}));
  return EXIT_DONE;
}

/* ---- monopole and dipole
 * --------------------------------------------------------------------------------------- */

static bool is_bad(double x)
{
  return !isfinite(x) || fabs(x / KUGEL_UNSEEN - 1) < 1e-5;
}

/* Solves the n equations a x = b of a positive definite a (4 x 4 at most) in place; false if it is singular.
 */
static bool solve(int n, double a[4][4], double b[4])
{
  for (int i = 0; i < n; i++) {
    if (!(fabs(a[i][i]) > 1e-12))
      return false;
    for (int j = i + 1; j < n; j++) {
      double f = a[j][i] / a[i][i];
      for (int k = i; k < n; k++)
        a[j][k] -= f * a[i][k];
      b[j] -= f * b[i];
    }
  }
  for (int i = n - 1; i >= 0; i--) {
    for (int k = i + 1; k < n; k++)
      b[i] -= a[i][k] * b[k];
    b[i] /= a[i][i];
  }
  return true;
}

typedef struct rings {
  int64_t n, *nphi, *first;
  double *theta, *phi0;
} rings;

static void rings_close(rings *r)
{
  free(r->nphi);
  free(r->first);
  free(r->theta);
  free(r->phi0);
}

static int rings_open(int64_t nside, rings *r)
{
  GRID kugel_grid *grid = NULL;
  STEP(healpix_grid(nside, &grid));
  size_t n = (size_t)(r->n = kugel_grid_nrings(grid));
  r->nphi = malloc(n * sizeof *r->nphi);
  r->first = malloc(n * sizeof *r->first);
  r->theta = malloc(n * sizeof *r->theta);
  r->phi0 = malloc(n * sizeof *r->phi0);
  if (!r->nphi || !r->first || !r->theta || !r->phi0)
    return fail("no memory for %zu rings", n);
  LIB(kugel_grid_rings(grid, r->theta, r->nphi, r->phi0, r->first, NULL));
  return EXIT_DONE;
}

/* Unit vector of pixel j of ring i, after a 1 for the mean. */
static void basis(const rings *r, int64_t i, int64_t j, double v[4])
{
  double phi = r->phi0[i] + 2 * M_PI * (double)j / (double)r->nphi[i], s = sin(r->theta[i]);
  v[0] = 1;
  v[1] = s * cos(phi);
  v[2] = s * sin(phi);
  v[3] = cos(r->theta[i]);
}

int sky_remove(sky *s, bool dipole, double gal_cut)
{
  __attribute__((cleanup(rings_close))) rings r = {0};
  double a[4][4] = {{0}}, b[4] = {0}, v[4], *map = s->maps;
  int n = dipole ? 4 : 1;
  STEP(rings_open(s->nside, &r));
  for (int64_t i = 0; i < r.n; i++) {
    for (int64_t j = 0; j < r.nphi[i] && fabs(cos(r.theta[i])) >= sin(gal_cut); j++) {
      double x = map[r.first[i] + j];
      basis(&r, i, j, v);
      for (int p = 0; p < n && !is_bad(x); p++) {
        b[p] += v[p] * x;
        for (int q = 0; q < n; q++)
          a[p][q] += v[p] * v[q];
      }
    }
  }
  if (!solve(n, a, b))
    return fail("%s: too few seen pixels to fit %s", s->path, dipole ? "mean and dipole" : "the mean");
  for (int64_t i = 0; i < r.n; i++)
    for (int64_t j = 0; j < r.nphi[i]; j++) {
      double *x = &map[r.first[i] + j];
      basis(&r, i, j, v);
      for (int p = 0; p < n && !is_bad(*x); p++)
        *x -= b[p] * v[p];
    }
  json_number("monopole", b[0]);
  fact("removed", "mean %.8g %s", b[0], s->described[0].unit);
  if (dipole) {
    double size = sqrt(b[1] * b[1] + b[2] * b[2] + b[3] * b[3]), lon = atan2(b[2], b[1]) * 180 / M_PI;
    json_number("dipole", size);
    fact("", "dipole %.8g towards longitude %.4g deg, latitude %.4g deg", size, lon < 0 ? lon + 360 : lon,
         size > 0 ? asin(b[3] / size) * 180 / M_PI : 0);
  }
  return EXIT_DONE;
}
