/* SPDX-License-Identifier: BSD-3-Clause */
/* Sources: injected ones are found where they are, with their heights and widths; the matched filter. */
#include "check.h"
#include "core/alloc.h"
#include <kugel/kugel.h>

enum { NSIDE = 128, NPIX = 12 * NSIDE * NSIDE, COUNT = 40 };

static uint64_t seed = 3;

static double gauss_random(void)
{
  double u = 0.5 * (check_random(&seed) + 1) + 1e-12, v = check_random(&seed);
  return sqrt(-2 * log(u)) * cos(M_PI * v);
}

typedef struct truth {
  double theta, phi, peak, fwhm;
} truth;

static void inject(double *map, const truth *t)
{
  double sth = sin(t->theta), c[3] = {sth * cos(t->phi), sth * sin(t->phi), cos(t->theta)}, v[3];
  for (int64_t i = 0; i < NPIX; i++) {
    CHECK_OK(kugel_healpix_pix2vec(NULL, NSIDE, KUGEL_ORDER_RING, 1, &i, v));
    double d = hypot(hypot(v[0] - c[0], v[1] - c[1]), v[2] - c[2]), a = 2 * asin(d / 2);
    map[i] += t->peak * exp(-4 * M_LN2 * (a / t->fwhm) * (a / t->fwhm));
  }
}

static double separation(const truth *t, const kugel_source *s)
{
  double p = sin((t->theta - s->theta) / 2), q = sin((t->phi - s->phi) / 2);
  return 2 * asin(sqrt(p * p + sin(t->theta) * sin(s->theta) * q * q));
}

static void recovery(void)
{
  double fwhm = 1.4 * M_PI / 180, *map = calloc(NPIX, 8), *filtered = malloc((size_t)NPIX * 8);
  truth t[COUNT];
  for (int k = 0; k < COUNT; k++) { /* well apart: one on each of a spiral's points */
    t[k] = (truth){acos(1 - 2 * (k + 0.5) / COUNT), fmod(2.39996 * k + 0.01, 2 * M_PI), 10 + k, fwhm};
    if (k % 2)
      t[k].fwhm = 1.3 * fwhm;
    inject(map, t + k);
  }
  for (int64_t i = 0; i < NPIX; i++)
    map[i] += 0.3 * gauss_random() + 5;
  kugel_grid *g = NULL;
  kugel_grid_opts go = {.size = sizeof go, .kind = KUGEL_GRID_HEALPIX, .nside = NSIDE};
  CHECK_OK(kugel_grid_create(NULL, &go, &g));
  kugel_radial *hat = NULL;
  kugel_radial_opts ro = {.size = sizeof ro, .grid = g, .kernel = KUGEL_RADIAL_MEXICAN_HAT};
  ro.width = fwhm / sqrt(8 * M_LN2);
  ro.norm = KUGEL_RADIAL_UNIT_PEAK;
  CHECK_OK(kugel_radial_create(NULL, &ro, &hat));
  CHECK_OK(kugel_radial_execute(hat, KUGEL_ARRAY(map, KUGEL_F64, NPIX),
                                KUGEL_ARRAY(filtered, KUGEL_F64, NPIX), NULL));
  kugel_sources_opts so = {.size = sizeof so, .nside = NSIDE, .fwhm = fwhm};
  kugel_source found[2 * COUNT];
  int64_t n = 0, counted = 0;
  CHECK_OK(kugel_sources_find(NULL, &so, map, filtered, 2 * COUNT, found, &n));
  CHECK_OK(kugel_sources_find(NULL, &so, map, filtered, 0, NULL, &counted));
  CHECK(n == COUNT && counted == COUNT);
  for (int64_t i = 0; i < n && i < COUNT; i++) {
    int near = 0;
    for (int k = 1; k < COUNT; k++)
      if (separation(t + k, found + i) < separation(t + near, found + i))
        near = k;
    double flux = t[near].peak * M_PI * t[near].fwhm * t[near].fwhm / (4 * M_LN2);
    CHECK_LE(separation(t + near, found + i), 0.05 * fwhm);
    CHECK_LE(fabs(found[i].peak / t[near].peak - 1), 0.1);
    CHECK_LE(fabs(found[i].fwhm / t[near].fwhm - 1), 0.1);
    CHECK_LE(fabs(found[i].flux / flux - 1), 0.2);
    CHECK_LE(fabs(found[i].background - 5), 1);
    CHECK(i == 0 || found[i].snr <= found[i - 1].snr);
  }
  for (int64_t i = 0; i < NPIX / 2; i++)
    filtered[i] = KUGEL_UNSEEN;
  CHECK_OK(kugel_sources_find(NULL, &so, map, filtered, 0, NULL, &n));
  CHECK(n == COUNT / 2);
  kugel_radial_destroy(hat);
  kugel_grid_destroy(g);
  free(map), free(filtered);
}

/* In white noise the best filter has the shape of the beam, and the variance that theory gives. */
static void matched(void)
{
  enum { LMAX = 400 };
  double beam[LMAX + 1], power[LMAX + 1], psi[LMAX + 1], sigma = 0, fwhm = 2 * M_PI / 180, sum = 0,
                                                         height = 0;
  CHECK_OK(kugel_beam_gauss(fwhm, LMAX, 1, beam));
  for (int l = 0; l <= LMAX; l++) {
    power[l] = 4e-6;
    height += (2 * l + 1) / (4 * M_PI) * beam[l];
  }
  CHECK_OK(kugel_filter_matched(LMAX, beam, power, psi, &sigma));
  for (int l = 0; l <= LMAX; l++) {
    CHECK_LE(fabs(psi[l] / psi[0] - beam[l]), 1e-14);
    sum += (2 * l + 1) / (4 * M_PI) * psi[l] * beam[l] / height;
  }
  CHECK_LE(fabs(sum - 1), 1e-13);
  double s = fwhm / sqrt(8 * M_LN2);
  CHECK_LE(fabs(sigma / sqrt(4e-6 / (M_PI * s * s)) - 1),
           1e-3); /* flat sky: the beam squared integrates to pi s^2 */
  power[7] = 0;
  CHECK_IS(kugel_filter_matched(LMAX, beam, power, psi, NULL), KUGEL_EINVAL);
  CHECK_IS(kugel_filter_matched(-1, beam, power, psi, NULL), KUGEL_EINVAL);
  CHECK_IS(kugel_filter_matched(3, NULL, power, psi, NULL), KUGEL_EINVAL);
  beam[2] = NAN;
  CHECK_IS(kugel_filter_matched(LMAX, beam, power, psi, NULL), KUGEL_EINVAL);
}

/* Pairs, poles and sidelobes under the Mexican hat, with nothing else in the map: what is listed is what was put
 * there, whatever the rms. */
static void known_filter(void)
{
  double fwhm = 2 * M_PI / 180, *map = calloc(NPIX, 8), *filtered = malloc((size_t)NPIX * 8),
         b[4 * NSIDE + 1];
  const truth t[] = {{0.01, 1, 100, fwhm},      {M_PI - 0.004, 2, 50, fwhm}, {1.2, 3, 80, fwhm},
                     {1.2 + fwhm, 3, 60, fwhm}, {1.2, 3.5, 2, fwhm},         {2, 5, 40, 1.4 * fwhm}};
  enum { N = sizeof t / sizeof *t };
  for (int k = 0; k < N; k++)
    inject(map, t + k);
  kugel_grid *g = NULL;
  kugel_grid_opts go = {.size = sizeof go, .kind = KUGEL_GRID_HEALPIX, .nside = NSIDE};
  CHECK_OK(kugel_grid_create(NULL, &go, &g));
  kugel_radial *hat = NULL;
  kugel_radial_opts ro = {
      .size = sizeof ro, .grid = g, .kernel = KUGEL_RADIAL_MEXICAN_HAT, .lmax = 2 * NSIDE};
  ro.width = fwhm / sqrt(8 * M_LN2);
  ro.norm = KUGEL_RADIAL_UNIT_PEAK;
  CHECK_OK(kugel_radial_create(NULL, &ro, &hat));
  CHECK_OK(kugel_radial_coefficients(hat, 4 * NSIDE, b));
  CHECK_OK(kugel_radial_execute(hat, KUGEL_ARRAY(map, KUGEL_F64, NPIX),
                                KUGEL_ARRAY(filtered, KUGEL_F64, NPIX), NULL));
  kugel_sources_opts so = {
      .size = sizeof so, .nside = NSIDE, .fwhm = fwhm, .kernel_lmax = 4 * NSIDE, .kernel = b};
  kugel_source found[4 * N];
  int64_t n = 0;
  so.rms = 1e-5;
  CHECK_OK(kugel_sources_find(NULL, &so, map, filtered, 4 * N, found, &n));
  CHECK(n == N);
  for (int k = 0; k < N; k++) {
    int near = 0;
    for (int i = 1; i < n; i++)
      if (separation(t + k, found + i) < separation(t + k, found + near))
        near = i;
    const kugel_source *s = found + near;
    bool pole = k < 2;
    CHECK_LE(separation(t + k, s), (pole ? 0.05 : 0.02) * fwhm);
    CHECK_LE(fabs(s->peak / t[k].peak - 1), pole ? 0.05 : 0.03);
    CHECK_LE(fabs(s->fwhm / t[k].fwhm - 1), 0.05);
    CHECK(!!(s->flags & KUGEL_SOURCE_POLE) == pole &&
          !!(s->flags & KUGEL_SOURCE_BLENDED) == (k == 2 || k == 3));
    CHECK(!!(s->flags & KUGEL_SOURCE_EXTENDED) == (k == 5) && !(s->flags & KUGEL_SOURCE_EDGE));
    CHECK(s->peak_error > 0 && s->position_error > 0 && s->flux_error > 0);
  }
  bool done = false;
  for (int64_t k = 1; k < 1000000 && !done; k += 1 + k / 3) {
    kugel__fault_alloc(k);
    kugel_status status = kugel_sources_find(NULL, &so, map, filtered, 4 * N, found, &n);
    kugel__fault_alloc(0);
    CHECK(status == KUGEL_OK || status == KUGEL_ENOMEM);
    done = status == KUGEL_OK;
  }
  CHECK(done);
  so.kernel_lmax = 0;
  CHECK_IS(kugel_sources_find(NULL, &so, map, filtered, 4 * N, found, &n), KUGEL_EINVAL);
  so.kernel_lmax = 4 * NSIDE, so.sidelobes = 1;
  CHECK_IS(kugel_sources_find(NULL, &so, map, filtered, 4 * N, found, &n), KUGEL_EINVAL);
  kugel_catalogue_opts co = {.size = sizeof co, .coords = "C"};
  CHECK_IS(kugel_sources_write(NULL, "x.csv", &co, n, found), KUGEL_EINVAL);
  co.coords = "X", co.coordsys = 'G';
  CHECK_IS(kugel_sources_write(NULL, "x.csv", &co, n, found), KUGEL_EINVAL);
  CHECK_IS(kugel_sources_write(NULL, "", NULL, n, found), KUGEL_EINVAL);
  CHECK_IS(kugel_sources_write(NULL, "/no/such/folder/x.csv", NULL, n, found), KUGEL_EIO);
  kugel_radial_destroy(hat);
  kugel_grid_destroy(g);
  free(map), free(filtered);
}

static void bad_input(void)
{
  double map[48] = {0};
  kugel_source s[4];
  int64_t n;
  kugel_sources_opts good = {.size = sizeof good, .nside = 2, .fwhm = 0.5, .rms = 1}, o = good;
  CHECK_IS(kugel_sources_find(NULL, NULL, map, map, 4, s, &n), KUGEL_EINVAL);
  CHECK_IS(kugel_sources_find(NULL, &o, map, map, 4, s, NULL), KUGEL_EINVAL);
  CHECK_IS(kugel_sources_find(NULL, &o, NULL, map, 4, s, &n), KUGEL_EINVAL);
  CHECK_IS(kugel_sources_find(NULL, &o, map, map, 4, NULL, &n), KUGEL_EINVAL);
  o.nside = 0;
  CHECK_IS(kugel_sources_find(NULL, &o, map, map, 4, s, &n), KUGEL_EINVAL);
  o = good, o.fwhm = NAN;
  CHECK_IS(kugel_sources_find(NULL, &o, map, map, 4, s, &n), KUGEL_EINVAL);
  o = good, o.threshold = -1;
  CHECK_IS(kugel_sources_find(NULL, &o, map, map, 4, s, &n), KUGEL_EINVAL);
  o = good, o.rms = 0;
  CHECK_IS(kugel_sources_find(NULL, &o, map, map, 4, s, &n), KUGEL_EINVAL); /* constant */
  map[20] = 9;
  bool done = false;
  for (int64_t k = 1; k < 50 && !done; k++) {
    kugel__fault_alloc(k);
    kugel_status status = kugel_sources_find(NULL, &good, map, map, 4, s, &n);
    kugel__fault_alloc(0);
    CHECK(status == KUGEL_OK || status == KUGEL_ENOMEM);
    done = status == KUGEL_OK;
  }
  CHECK(done && n == 1 && s[0].pixel == 20);
}

int main(void)
{
  CASE("injected sources are recovered") recovery();
  CASE("the matched filter") matched();
  CASE("a known filter: neighbours, poles, sidelobes") known_filter();
  CASE("bad input, failing allocations") bad_input();
  END();
}
