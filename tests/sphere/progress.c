/* SPDX-License-Identifier: BSD-3-Clause */
/* ISA: once. LABEL: alone. Progress of long calls: fractions never go back, follow the CPU time spent, and reach the end only at the end. */
#include <time.h>
#include "check.h"
#include "core/parallel.h"
#include <kugel/radial.h>
#include <kugel/kugel.h>

enum { MOST = 100000 };

typedef struct record {
  int n;
  double fraction[MOST], seconds[MOST];
} record;

static record seen;

static double cpu_seconds(void)
{
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int note(double fraction, const char *stage, void *user)
{
  record *r = user;
  (void)stage;
  if (r->n < MOST) {
    r->fraction[r->n] = fraction;
    r->seconds[r->n++] = cpu_seconds();
  }
  return 0;
}

/* Fractions against the part of the CPU time, from `start` on to now; whether they follow it, which one of RUNS runs must:
   other processes slow parts of a run down, never speed them up. Order holds in every run. */
enum { RUNS = 10 };
static int judge(const char *what, double start, int run)
{
  double all = cpu_seconds() - start, worst = 0, back = 0;
  for (int i = 0; i < seen.n; i++) {
    worst = fmax(worst, fabs(seen.fraction[i] - (seen.seconds[i] - start) / all));
    back = i ? fmax(back, seen.fraction[i - 1] - seen.fraction[i]) : 0;
  }
  printf("  %s: %.2f s of CPU, %d reports, off by at most %.2f\n", what, all, seen.n, worst);
  CHECK(seen.n >= 3);
  CHECK(back == 0);
  kugel_set_progress(NULL, NULL);
#ifdef __SANITIZE_THREAD__ /* which makes memory many times dearer than arithmetic */
  return 1;
#endif
  if (run == RUNS - 1)
    CHECK_LE(worst, 0.2);
  return worst <= 0.2;
}

static double begin(void)
{
  seen.n = 0;
  kugel_set_progress(note, &seen);
  return cpu_seconds();
}

static kugel_grid *healpix(int64_t nside)
{
  kugel_grid *g = NULL;
  CHECK_OK(kugel_grid_create(
      NULL, &(kugel_grid_opts){.size = sizeof(kugel_grid_opts), .kind = KUGEL_GRID_HEALPIX, .nside = nside},
      &g));
  return g;
}

static double *random_maps(int64_t n)
{
  uint64_t seed = 7;
  double *f = malloc((size_t)n * sizeof *f);
  for (int64_t i = 0; i < n; i++)
    f[i] = check_random(&seed) - 0.5;
  return f;
}

static void smoothing(int64_t nside, int64_t lmax, int64_t maps)
{
  kugel_grid *g = healpix(nside);
  int64_t npix = kugel_grid_npix(g);
  double *f = random_maps(maps * npix);
  const kugel_array *a = KUGEL_ARRAY(f, KUGEL_F64, maps, npix);
  kugel_smooth_opts o = {.size = sizeof o, .grid = g, .lmax = lmax, .fwhm = 0.01, .iterations = 3};
  CHECK_OK(kugel_smooth(NULL, &o, a, a, NULL)); /* memory is there */
  for (int run = 0, good = 0; run < RUNS && !good; run++) {
    double start = begin();
    CHECK_OK(kugel_smooth(NULL, &o, a, a, NULL));
    good = judge(maps == 3 ? "smoothing I, Q, U" : "smoothing", start, run);
  }
  free(f);
  kugel_grid_destroy(g);
}

/* Bad pixels: transforms of the mask beside. */
static void regridding(void)
{
  kugel_grid *from = healpix(256), *to = healpix(200);
  kugel_regrid *p = NULL;
  int64_t npix = kugel_grid_npix(from), out = kugel_grid_npix(to);
  double *f = random_maps(npix), *g = malloc((size_t)out * sizeof *g);
  f[5] = KUGEL_UNSEEN;
  kugel_regrid_opts o = {.size = sizeof o,
                         .from = from,
                         .to = to,
                         .lmax = 700,
                         .iterations = 3,
                         .bad_pixels = KUGEL_BAD_ZERO,
                         .least_good = 0.5};
  CHECK_OK(kugel_regrid_create(NULL, &o, &p));
  const kugel_array *in = KUGEL_ARRAY(f, KUGEL_F64, npix), *res = KUGEL_ARRAY(g, KUGEL_F64, out);
  CHECK_OK(kugel_regrid_execute(p, in, res, NULL));
  for (int run = 0, good = 0; run < RUNS && !good; run++) {
    double start = begin();
    CHECK_OK(kugel_regrid_execute(p, in, res, NULL));
    good = judge("regridding with a mask", start, run);
  }
  kugel_regrid_destroy(p);
  free(f);
  free(g);
  kugel_grid_destroy(from);
  kugel_grid_destroy(to);
}

typedef struct store {
  const double *in;
  double *out;
} store;

static kugel_status give(void *user, int map, int64_t first, int64_t n, void *values)
{
  (void)map;
  memcpy(values, ((store *)user)->in + first, (size_t)n * 8);
  return KUGEL_OK;
}

static kugel_status take(void *user, int map, int64_t first, int64_t n, const void *values)
{
  (void)map;
  memcpy(((store *)user)->out + first, values, (size_t)n * 8);
  return KUGEL_OK;
}

static void radial(const char *what, kugel_radial_method method, double width, uint64_t memory, int64_t nside)
{
  kugel_grid *g = healpix(nside);
  kugel_radial *p = NULL;
  int64_t npix = kugel_grid_npix(g);
  double *f = random_maps(npix), *out = malloc((size_t)npix * sizeof *out);
  kugel_radial_opts o = {
      .size = sizeof o, .grid = g, .kernel = KUGEL_RADIAL_GAUSSIAN, .width = width, .method = method};
  store s = {f, out};
  kugel_radial_stream_opts so = {
      .size = sizeof so, .read = give, .write = take, .user = &s, .memory = memory};
  CHECK_OK(kugel_radial_create(NULL, &o, &p));
  for (int run = -1, good = 0; run < RUNS && !good; run++) { /* the first finds memory */
    double start = run >= 0 ? begin() : 0;
    if (memory)
      CHECK_OK(kugel_radial_stream(p, &so));
    else
      CHECK_OK(
          kugel_radial_execute(p, KUGEL_ARRAY(f, KUGEL_F64, npix), KUGEL_ARRAY(out, KUGEL_F64, npix), NULL));
    good = run >= 0 && judge(what, start, run);
  }
  kugel_radial_destroy(p);
  free(f);
  free(out);
  kugel_grid_destroy(g);
}

int main(void)
{
  kugel__progress_interval(0); /* a report at every occasion: their number does not depend on the machine */
  CASE("smoothing with three refinements")
  {
    smoothing(256, 600, 1);
    smoothing(256, 400, 3);
  }
  CASE("regridding")
  {
    regridding();
  }
  CASE("sums over pixels: whole, ring by ring, by series")
  {
    radial("direct", KUGEL_RADIAL_DIRECT, 0.06, 0, 256);
    radial("direct, streamed", KUGEL_RADIAL_DIRECT, 0.06, 6000000, 256);
    radial("rings", KUGEL_RADIAL_RINGS, 0.3, 0, 512);
  }
  END();
}
