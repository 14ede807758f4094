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

static bool is_bad(double x)
{
  return !isfinite(x) || fabs(x / KUGEL_UNSEEN - 1) < 1e-5;
}

/* ---- ordering
 * -------------------------------------------------------------------------------------------------- */

static int64_t even_bits(int64_t v)
{
  uint64_t b = (uint64_t)v & 0x5555555555555555u;
  b = (b | b >> 1) & 0x3333333333333333u;
  b = (b | b >> 2) & 0x0f0f0f0f0f0f0f0fu;
  b = (b | b >> 4) & 0x00ff00ff00ff00ffu;
  b = (b | b >> 8) & 0x0000ffff0000ffffu;
  return (int64_t)((b | b >> 16) & 0xffffffffu);
}

/* RING number of a NESTED pixel (Gorski et al. 2005, section 4.1): ring from x + y in the face, then place on
 * it. */
static int64_t ring_of_nested(int64_t nside, int64_t pixel)
{
  static const int rows[12] = {2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4},
                   places[12] = {1, 3, 5, 7, 0, 2, 4, 6, 1, 3, 5, 7};
  int64_t face = pixel / (nside * nside), inside = pixel % (nside * nside);
  int64_t x = even_bits(inside), y = even_bits(inside >> 1), ring = rows[face] * nside - x - y - 1;
  int64_t quarter, before, odd = 0; /* pixels in a quarter of the ring, pixels before it, half-pixel shift */
  if (ring < nside) {
    quarter = ring;
    before = 2 * ring * (ring - 1);
  } else if (ring > 3 * nside) {
    quarter = 4 * nside - ring;
    before = 12 * nside * nside - 2 * (quarter + 1) * quarter;
  } else {
    quarter = nside;
    before = 2 * nside * (nside - 1) + (ring - nside) * 4 * nside;
    odd = (ring - nside) & 1;
  }
  int64_t place = (places[face] * quarter + x - y + 1 + odd) / 2;
  place -= place > 4 * quarter ? 4 * quarter : 0;
  place += place < 1 ? 4 * quarter : 0;
  return before + place - 1;
}

int sky_reorder(sky *s, kugel_order order)
{
  if (s->order == order)
    return EXIT_DONE;
  if (s->nside & (s->nside - 1))
    return fail("nside %lld is no power of two, so there is no NESTED ordering", (long long)s->nside);
  size_t one = s->dtype.bits / 8, bytes = (size_t)s->npix * one;
  OWNED char *other = malloc(bytes);
  if (!other)
    return fail("no memory for a map of %lld pixels", (long long)s->npix);
  for (int64_t c = 0; c < s->n; c++) {
    char *map = (char *)s->maps + (size_t)c * bytes;
    for (int64_t nested = 0; nested < s->npix; nested++) {
      int64_t ring = ring_of_nested(s->nside, nested);
      if (order == KUGEL_ORDER_NESTED)
        memcpy(other + (size_t)nested * one, map + (size_t)ring * one, one);
      else
        memcpy(other + (size_t)ring * one, map + (size_t)nested * one, one);
    }
    memcpy(map, other, bytes);
  }
  s->order = order;
  return EXIT_DONE;
}

/* ---- resolution
 * ------------------------------------------------------------------------------------------------ */

static double get(const sky *s, int64_t i)
{
  return s->dtype.bits == 32 ? (double)((const float *)s->maps)[i] : ((const double *)s->maps)[i];
}

static void put(sky *s, int64_t i, double x)
{
  if (s->dtype.bits == 32)
    ((float *)s->maps)[i] = (float)x;
  else
    ((double *)s->maps)[i] = x;
}

/* In NESTED order the children of a pixel follow each other. */
int sky_udgrade(sky *s, int64_t nside, double power, bool pessimistic, sky *out)
{
  kugel_order order = s->order;
  STEP(sky_reorder(s, KUGEL_ORDER_NESTED));
  *out = (sky){
      .nside = nside, .npix = 12 * nside * nside, .n = s->n, .order = KUGEL_ORDER_NESTED, .dtype = s->dtype};
  out->maps = malloc((size_t)out->n * (size_t)out->npix * (out->dtype.bits / 8));
  if (!out->maps)
    return fail("no memory for %lld maps of nside %lld", (long long)out->n, (long long)nside);
  double factor = pow((double)nside / (double)s->nside, power);
  int64_t down = s->npix / out->npix, up = out->npix / s->npix;
  for (int64_t c = 0; c < s->n; c++) {
    for (int64_t i = 0; i < out->npix; i++) {
      double sum = 0, x;
      int64_t seen = 0;
      for (int64_t k = 0; k < down; k++)
        if (!is_bad(x = get(s, c * s->npix + i * down + k))) {
          sum += x;
          seen++;
        }
      if (down == 0) {
        x = get(s, c * s->npix + i / up);
        put(out, c * out->npix + i, is_bad(x) ? KUGEL_UNSEEN : x * factor);
      } else {
        bool good = pessimistic ? seen == down : seen > 0;
        put(out, c * out->npix + i, good ? sum / (double)seen * factor : KUGEL_UNSEEN);
      }
    }
  }
  return sky_reorder(out, order);
}

/* ---- monopole and dipole
 * --------------------------------------------------------------------------------------- */

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
