/* SPDX-License-Identifier: BSD-3-Clause */
/* LABEL: long. The addition theorem and orthonormality on every device, all l and m to the band limit: alm of a
 * point at 30 degrees, where recurrences in floats lose their start values first, make the map
 * K(gamma) = sum_l (2 l + 1) / (4 pi) P_l(cos gamma), and its analysis on a Gaussian grid gives them back.
 * sphere_sht_gpu_addition DEVICE: at full size there, L = 2049, 4097, 8193 and nside 2048 and 4096. */
#include "device/every.h"
#include "sphere/compare.h"
#include <kugel/sphere.h>

static const double theta0 = 0.5236, phi0 = 0.7; // of the point

/* lambda_lm(theta0) e^{-i m phi0} for all 0 <= m <= l <= lmax, by long-double recurrences in l: no powers of
 * the sine leave the range of a long double (0.5^13000 = 1e-3900). */
static void point_alm(int64_t lmax, double *alm)
{
  long double x = cosl(theta0), s = sinl(theta0), start = sqrtl(1 / (4 * M_PIl));
  for (int64_t m = 0, at = 0; m <= lmax; m++) {
    long double p0 = 0, p1 = start, eps0 = 0, c = cosl(m * (long double)phi0),
                d = -sinl(m * (long double)phi0);
    for (int64_t l = m; l <= lmax; l++, at++) {
      alm[2 * at] = (double)(p1 * c);
      alm[2 * at + 1] = m ? (double)(p1 * d) : 0;
      long double k = (long double)(l + 1), y = (long double)m,
                  eps = sqrtl((k * k - y * y) / (4 * k * k - 1)), p2 = (x * p1 - eps0 * p0) / eps;
      p0 = p1;
      p1 = p2;
      eps0 = eps;
    }
    start *= -s * sqrtl(1 + 1 / (2.0L * (long double)(m + 1)));
  }
}

static long double kernel(int64_t lmax, long double x)
{
  long double p0 = 0, p1 = 1, sum = 0;
  for (int64_t l = 0; l <= lmax; l++) {
    sum += (long double)(2 * l + 1) * p1;
    long double p2 = ((long double)(2 * l + 1) * x * p1 - (long double)l * p0) / (long double)(l + 1);
    p0 = p1;
    p1 = p2;
  }
  return sum / (4 * M_PIl);
}

/* cos theta and sin theta of ring r beyond double precision. */
static void ring_place(const kugel_grid_opts *o, int64_t r, long double theta, long double *z, long double *s)
{
  if (o->kind == KUGEL_GRID_HEALPIX) {
    int64_t n = o->nside, i = r + 1, j = i > 2 * n ? 4 * n - i : i;
    long double k = (long double)j / (long double)n, v = j < n ? k * k / 3 : (2 * k - 1) / 3; // 1 - |z|
    *s = sqrtl(v * (2 - v));
    *z = i > 2 * n ? v - 1 : 1 - v;
    return;
  }
  for (int k = 0; k < 2; k++) { // Newton's step for P_n(cos theta) = 0
    long double x = cosl(theta), p0 = 0, p1 = 1;
    for (int64_t l = 0; l < o->ntheta; l++) {
      long double p2 = ((long double)(2 * l + 1) * x * p1 - (long double)l * p0) / (long double)(l + 1);
      p0 = p1;
      p1 = p2;
    }
    theta += p1 * sinl(theta) / ((long double)o->ntheta * (p0 - x * p1));
  }
  *z = cosl(theta);
  *s = sinl(theta);
}

/* Relative L2 errors at pixels within some wavelengths of the point, and on rings all over the sphere. */
static void check_map(const kugel_grid_opts *o, const kugel_grid *g, int64_t lmax, const double *map,
                      double *error)
{
  enum { NEAR = 24, RINGS = 24, PIXELS = 16 };
  int64_t nrings = kugel_grid_nrings(g), at = 0;
  double *theta = malloc((size_t)nrings * 8), *first_phi = malloc((size_t)nrings * 8);
  int64_t *nphi = malloc((size_t)nrings * 8), *first = malloc((size_t)nrings * 8);
  long double e2[2] = {0}, w2[2] = {0};
  CHECK_OK(kugel_grid_rings(g, theta, nphi, first_phi, first, NULL));
  while (at < nrings - 1 && theta[at] < theta0)
    at++;
  for (int k = 0; k < NEAR + RINGS; k++) {
    int64_t r = k < NEAR ? at - NEAR / 2 + k : (nrings - 1) * (k - NEAR) / (RINGS - 1);
    long double z = 0, s = 0, step = 2 * M_PIl / (long double)nphi[r];
    if (r < 0)
      continue;
    ring_place(o, r, theta[r], &z, &s);
    int64_t middle = (int64_t)(((long double)phi0 - first_phi[r]) / step);
    for (int64_t i = 0; i < PIXELS; i++) {
      int64_t p = k < NEAR ? (middle - PIXELS / 2 + i + nphi[r]) % nphi[r] : nphi[r] * i / PIXELS;
      long double phi = first_phi[r] + step * (long double)p;
      long double want = kernel(lmax, z * cosl(theta0) + s * sinl(theta0) * cosl(phi - phi0));
      long double e = map[first[r] + p] - want;
      e2[k >= NEAR] += e * e;
      w2[k >= NEAR] += want * want;
    }
  }
  error[0] = (double)sqrtl(e2[0] / w2[0]);
  error[1] = (double)sqrtl(e2[1] / w2[1]);
  free(theta);
  free(first_phi);
  free(nphi);
  free(first);
}

/* nside: of a HEALPix grid; 0: a Gaussian grid that is exact to lmax. */
static void solve(const char *device, int64_t nside, int64_t lmax)
{
  kugel_ctx *ctx = NULL;
  kugel_ctx_opts co = {.size = sizeof co, .device = device};
  CHECK_OK(kugel_ctx_create(&co, &ctx));
  kugel_grid_opts go = {
      .size = sizeof go, .kind = nside ? KUGEL_GRID_HEALPIX : KUGEL_GRID_GAUSS, .nside = nside};
  go.ntheta = nside ? 0 : lmax + 1;
  go.nphi = nside ? 0 : 2 * lmax + 2;
  kugel_grid *g = NULL;
  kugel_sht *plan = NULL;
  CHECK_OK(kugel_grid_create(ctx, &go, &g));
  kugel_sht_opts so = {.size = sizeof so, .grid = g, .lmax = lmax};
  CHECK_OK(kugel_sht_create(ctx, &so, &plan));
  int64_t npix = g ? kugel_grid_npix(g) : 0, nalm = (lmax + 1) * (lmax + 2) / 2;
  double *alm = malloc((size_t)nalm * 16), *map = malloc((size_t)npix * 8), *back = NULL, error[3] = {0};
  if (plan && alm && map) {
    point_alm(lmax, alm);
    CHECK_OK(kugel_sht_synthesis(plan, KUGEL_ARRAY(alm, KUGEL_C128, nalm), KUGEL_ARRAY(map, KUGEL_F64, npix),
                                 NULL));
    check_map(&go, g, lmax, map, error);
    if (!nside && (back = malloc((size_t)nalm * 16))) {
      CHECK_OK(kugel_sht_analysis(plan, KUGEL_ARRAY(map, KUGEL_F64, npix),
                                  KUGEL_ARRAY(back, KUGEL_C128, nalm), NULL));
      error[2] = difference(2 * nalm, back, alm);
    }
    printf("  %s lmax %lld: near the point %.1e, all over %.1e%s", nside ? "HEALPix" : "Gauss",
           (long long)lmax, error[0], error[1], nside ? "\n" : "");
    if (!nside)
      printf(", back %.1e\n", error[2]);
    /* Beside the transform's own error: near the point the map changes by its own size in 2 / lmax radians, and the
     * cosine of a ring's colatitude is a double. */
    double bound = 1e-13 * sqrt(fmax((double)lmax, 100) / 100), place = 0x1p-52 * (double)lmax;
    CHECK_LE(error[0], bound + place);
    CHECK_LE(error[1], bound);
    CHECK_LE(error[2], bound);
  }
  free(alm);
  free(map);
  free(back);
  kugel_sht_destroy(plan);
  kugel_grid_destroy(g);
  kugel_ctx_destroy(ctx);
}

int main(int argc, char **argv)
{
  kugel_device_info info;
  for (int i = 0; every_device(&i, false, &info);) {
    bool full = argc > 1 && !strcmp(argv[1], info.name);
    if (argc > 1 && !full)
      continue;
    CASE(every_title(&info, "Gaussian grids"))
    for (int64_t lmax = full ? 2049 : 65; lmax <= (full ? 8193 : 257); lmax = 2 * lmax - 1)
      solve(info.name, 0, lmax);
    CASE(every_title(&info, "HEALPix, lmax = 3 nside - 1"))
    for (int64_t nside = full ? 2048 : 32; nside <= (full ? 4096 : 64); nside *= 2)
      solve(info.name, nside, 3 * nside - 1);
  }
  END();
}
