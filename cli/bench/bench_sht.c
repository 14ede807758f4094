/* SPDX-License-Identifier: BSD-3-Clause */
/* kugel bench sht: transforms, timed and compared with direct sums. */
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include "bench/bench.h"
#include "map/files.h"
#include "map/latlon.h"

enum {
  NSIDE = BENCH_SHT_NSIDE,
  ROWS = BENCH_SHT_ROWS,
  GRID_KIND = BENCH_SHT_GRID,
  LMAX = BENCH_SHT_LMAX,
  MMAX = BENCH_SHT_MMAX,
  SPIN = BENCH_SHT_SPIN,
  DIRECTION = BENCH_SHT_DIRECTION,
  ITER = BENCH_SHT_ITER,
  DTYPE = BENCH_SHT_DTYPE,
  THREADS = BENCH_SHT_THREADS,
  N_KEYS = BENCH_SHT_KEYS
};

static const bench_key keys[N_KEYS] = {
    [NSIDE] = {"nside", "256", "HEALPix resolution", NULL, 1, 65536},
    [ROWS] = {"rows", "0", "rows of latitude of a lat-lon grid, instead of nside", NULL, 0, 200000},
    [GRID_KIND] = {"grid", "gauss", "with rows: which grid", GRID_WORDS, 0, 0},
    [LMAX] = {"lmax", "0", "0: 2 nside, or rows - 1", NULL, 0, 200000},
    [MMAX] = {"mmax", "0", "0: lmax", NULL, 0, 200000},
    [SPIN] = {"spin", "0", "0, 1 ... or teb: T, E and B in one call", "0|1|2|3|4|teb", 0, 0},
    [DIRECTION] = {"dir", "synthesis", "which way", "synthesis|adjoint|analysis", 0, 0},
    [ITER] = {"iter", "0", "analysis: refinements", NULL, 0, 100},
    [DTYPE] = {"dtype", "f64", "of maps and alm", "f32|f64", 0, 0},
    [THREADS] = {"threads", "0", "0: all", NULL, 0, 4096},
};

typedef struct job {
  kugel_sht *plan;
  int direction, sets, maps, spin; /* spin 5: T, E, B */
  int64_t nalm, npix;
  bool single;
  void *alm, *map;         /* in host memory */
  void *far_alm, *far_map; /* copies in memory of the device; NULL: the transforms take those of the host */
  kugel_device where;      /* of the copies */
} job;

static void job_close(job *j)
{
  kugel_sht_destroy(j->plan);
  kugel_device_free(run.ctx, j->far_alm);
  kugel_device_free(run.ctx, j->far_map);
  free(j->alm);
  free(j->map);
}

static int once(void *user)
{
  job *j = user;
  kugel_array *alm =
      KUGEL_ARRAY(j->far_alm ? j->far_alm : j->alm, j->single ? KUGEL_C64 : KUGEL_C128, j->sets, j->nalm);
  kugel_array *map =
      KUGEL_ARRAY(j->far_map ? j->far_map : j->map, j->single ? KUGEL_F32 : KUGEL_F64, j->maps, j->npix);
  if (j->far_alm)
    alm->device = map->device = j->where;
  if (j->direction == 0)
    LIB(kugel_sht_synthesis(j->plan, alm, map, NULL));
  else if (j->direction == 1)
    LIB(kugel_sht_synthesis_adjoint(j->plan, map, alm, NULL));
  else
    LIB(kugel_sht_analysis(j->plan, map, alm, NULL));
  return EXIT_DONE;
}

/* On a device: copies of the arrays there, so that transforms are timed without transfers. */
static int make_copies(job *j, size_t alm_bytes, size_t map_bytes)
{
  kugel_device_info info = {.size = sizeof info};
  LIB(kugel_ctx_describe(run.ctx, &info));
  j->where = info.device;
  json_text("arrays", info.device.type == KUGEL_CPU ? "host" : "device");
  if (info.device.type == KUGEL_CPU)
    return EXIT_DONE;
  LIB(kugel_device_alloc(run.ctx, alm_bytes, &j->far_alm));
  LIB(kugel_device_alloc(run.ctx, map_bytes, &j->far_map));
  LIB(kugel_device_upload(run.ctx, j->far_alm, 0, j->alm, alm_bytes, NULL));
  LIB(kugel_device_upload(run.ctx, j->far_map, 0, j->map, map_bytes, NULL));
  return EXIT_DONE;
}

/* The result back to the host. */
static int end_copies(job *j, size_t alm_bytes, size_t map_bytes)
{
  if (!j->far_alm)
    return EXIT_DONE;
  if (j->direction)
    LIB(kugel_device_download(run.ctx, j->alm, j->far_alm, 0, alm_bytes, NULL));
  else
    LIB(kugel_device_download(run.ctx, j->map, j->far_map, 0, map_bytes, NULL));
  kugel_device_free(run.ctx, j->far_alm);
  kugel_device_free(run.ctx, j->far_map);
  j->far_alm = j->far_map = NULL;
  return EXIT_DONE;
}

/* Random alm, zero where they do not exist (l < spin, imaginary at m = 0). */
static void fill_alm(job *j, int64_t lmax, int64_t mmax)
{
  uint64_t state = 1;
  for (int set = 0; set < j->sets; set++) {
    int spin = j->spin == 5 ? (set ? 2 : 0) : j->spin;
    int64_t at = set * j->nalm;
    for (int64_t m = 0; m <= mmax; m++)
      for (int64_t l = m; l <= lmax; l++, at++) {
        number_put(j->single, j->alm, 2 * at, l < spin ? 0 : bench_random(&state));
        number_put(j->single, j->alm, 2 * at + 1, l < spin || m == 0 ? 0 : bench_random(&state));
      }
  }
}

/* Widened copy of one alm set with mmax = lmax, as the direct sum takes it. */
static double _Complex *alm_set(const job *j, int set, int64_t lmax, int64_t mmax)
{
  int64_t n = (lmax + 1) * (lmax + 2) / 2, used = (mmax + 1) * (2 * lmax + 2 - mmax) / 2;
  double _Complex *a = calloc((size_t)n, sizeof *a);
  for (int64_t i = 0; a && i < used; i++)
    a[i] = number_get(j->single, j->alm, 2 * (set * j->nalm + i)) +
           I * number_get(j->single, j->alm, 2 * (set * j->nalm + i) + 1);
  return a;
}

/* Largest error at `n_phi` pixels of a ring, and the largest true value. */
static int ring_error(const job *j, int64_t lmax, int64_t mmax, double theta, int64_t nphi, double phi0,
                      int64_t first, double *error, double *size)
{
  enum { N_PHI = 6 };
  double phi[N_PHI];
  long double truth[3][N_PHI];
  int64_t pixel[N_PHI];
  for (int i = 0; i < N_PHI; i++) {
    pixel[i] = i * nphi / N_PHI;
    phi[i] = phi0 + 2 * M_PI * (double)pixel[i] / (double)nphi;
  }
  OWNED double _Complex *a = alm_set(j, 0, lmax, mmax), *b = j->sets > 1 ? alm_set(j, 1, lmax, mmax) : NULL,
                        *c = j->sets > 2 ? alm_set(j, 2, lmax, mmax) : NULL;
  if (!a || (j->sets > 1 && !b) || (j->sets > 2 && !c))
    return fail("no memory for the direct sum at lmax %lld", (long long)lmax);
  if (j->spin == 5) {
    STEP(bench_direct_sum(0, lmax, a, NULL, theta, N_PHI, phi, truth[0], NULL));
    STEP(bench_direct_sum(2, lmax, b, c, theta, N_PHI, phi, truth[1], truth[2]));
  } else {
    STEP(bench_direct_sum(j->spin, lmax, a, b, theta, N_PHI, phi, truth[0], truth[1]));
  }
  for (int k = 0; k < j->maps; k++)
    for (int i = 0; i < N_PHI; i++) {
      double want = (double)truth[k][i];
      *error = fmax(*error, fabs(number_get(j->single, j->map, k * j->npix + first + pixel[i]) - want));
      *size = fmax(*size, fabs(want));
    }
  return EXIT_DONE;
}

/* Synthesis against direct sums on rings in the cap, the middle latitudes and near the equator. */
static int synthesis_error(const job *j, const kugel_grid *grid, int64_t lmax, int64_t mmax)
{
  int64_t n = kugel_grid_nrings(grid);
  OWNED double *theta = malloc((size_t)n * sizeof *theta), *phi0 = malloc((size_t)n * sizeof *phi0);
  OWNED int64_t *nphi = malloc((size_t)n * sizeof *nphi), *first = malloc((size_t)n * sizeof *first);
  if (!theta || !phi0 || !nphi || !first)
    return fail("no memory for %lld rings", (long long)n);
  LIB(kugel_grid_rings(grid, theta, nphi, phi0, first, NULL));
  const int64_t rings[] = {n / 9, n / 3, n / 2 + n / 50};
  double error = 0, size = 0;
  for (int i = 0; i < 3; i++) {
    int64_t r = rings[i];
    STEP(ring_error(j, lmax, mmax, theta[r], nphi[r], phi0[r], first[r], &error, &size));
  }
  json_number("error", size > 0 ? error / size : error);
  json_text("error_of", "long-double direct sums at 18 pixels, over the largest value");
  return EXIT_DONE;
}

/* |<S a, f> - <a, S^T f>| / (|S a| |f|): j->alm holds S^T f of the map f. */
static int adjoint_error(job *j, int64_t lmax, int64_t mmax)
{
  job other = *j;
  uint64_t state = 7;
  double left = 0, right = 0, size_map = 0, size_f = 0;
  other.direction = 0;
  other.plan = j->plan;
  size_t one = j->single ? 4 : 8;
  OWNED void *alm = other.alm = malloc((size_t)(j->sets * j->nalm) * 2 * one);
  OWNED void *map = other.map = malloc((size_t)(j->maps * j->npix) * one);
  if (!alm || !map)
    return fail("no memory for the check of the adjoint");
  fill_alm(&other, lmax, mmax);
  STEP(once(&other));
  for (int64_t i = 0; i < j->maps * j->npix; i++) {
    double f = bench_random(&state), g = number_get(other.single, other.map, i);
    f = j->single ? (double)(float)f : f;
    left += f * g;
    size_map += g * g;
    size_f += f * f;
  }
  for (int64_t i = 0; i < j->sets * j->nalm; i++) {
    double factor = i % j->nalm <= lmax ? 1 : 2;
    for (int k = 0; k < 2; k++)
      right +=
          factor * number_get(j->single, j->alm, 2 * i + k) * number_get(other.single, other.alm, 2 * i + k);
  }
  json_number("error", fabs(left - right) / sqrt(size_map * size_f));
  json_text("error_of", "adjointness, |<S a, f> - <a, S^T f>| / (|S a| |f|)");
  return EXIT_DONE;
}

/* Operations by the classical count: 4 real operations of the recurrence and 4 of the sum a coefficient and
 * ring pair (spin: 4 recurrences and sums), and 2.5 n log2 n a ring. */
static double operations(const job *j, const kugel_grid *grid)
{
  double pairs = (double)(kugel_grid_nrings(grid) + 1) / 2, per = j->spin == 0 ? 8 : j->spin == 5 ? 32 : 24;
  double mean_ring = (double)j->npix / (double)kugel_grid_nrings(grid);
  return per * pairs * (double)j->nalm + 2.5 * (double)j->maps * (double)j->npix * log2(mean_ring + 1);
}

int bench_sht_grid(const int64_t *v, kugel_grid **grid)
{
  kugel_grid_kind kind = latlon_kind(v[GRID_KIND]);
  kugel_grid_opts opts = {.size = sizeof opts, .kind = KUGEL_GRID_HEALPIX, .nside = v[NSIDE]};
  if (v[ROWS])
    opts = (kugel_grid_opts){.size = sizeof opts, .kind = kind, .ntheta = v[ROWS], .nphi = 2 * v[ROWS]};
  LIB(kugel_grid_create(NULL, &opts, grid));
  return EXIT_DONE;
}

static int run_sht(const int64_t *v, double seconds)
{
  GRID kugel_grid *grid = NULL;
  __attribute__((cleanup(job_close)))
  job j = {.direction = (int)v[DIRECTION], .spin = (int)v[SPIN], .single = v[DTYPE] == 0};
  int64_t lmax = v[LMAX] ? v[LMAX] : v[ROWS] ? v[ROWS] - 1 : 2 * v[NSIDE], mmax = v[MMAX] ? v[MMAX] : lmax;
  double median;
  STEP(bench_sht_grid(v, &grid));
  if (v[THREADS])
    LIB(kugel_set_num_threads((int)v[THREADS]));
  kugel_sht_mode mode = j.spin == 0 ? KUGEL_SHT_SCALAR : j.spin == 5 ? KUGEL_SHT_TEB : KUGEL_SHT_SPIN;
  double t = now();
  LIB(kugel_sht_create(run.ctx,
                       &(kugel_sht_opts){.size = sizeof(kugel_sht_opts),
                                         .grid = grid,
                                         .lmax = lmax,
                                         .mmax = mmax,
                                         .mode = mode,
                                         .spin = mode == KUGEL_SHT_SPIN ? j.spin : 0,
                                         .iterations = (int)v[ITER]},
                       &j.plan));
  json_number("plan_seconds", now() - t);
  kugel_sht_info info = {.size = sizeof info};
  LIB(kugel_sht_get_info(j.plan, &info));
  j.nalm = info.nalm;
  j.npix = info.npix;
  j.sets = info.n_alm_sets;
  j.maps = info.n_maps;
  size_t one = j.single ? 4 : 8, alm_bytes = (size_t)(j.sets * j.nalm) * 2 * one;
  size_t map_bytes = (size_t)(j.maps * j.npix) * one;
  j.alm = calloc(1, alm_bytes);
  j.map = calloc(1, map_bytes);
  if (!j.alm || !j.map)
    return fail("no memory for %d maps of %lld pixels", j.maps, (long long)j.npix);
  uint64_t state = 7;
  fill_alm(&j, lmax, mmax);
  for (int64_t i = 0; j.direction && i < j.maps * j.npix; i++)
    number_put(j.single, j.map, i, bench_random(&state));
  STEP(make_copies(&j, alm_bytes, map_bytes));
  STEP(bench_measure(once, &j, seconds, &median));
  STEP(end_copies(&j, alm_bytes, map_bytes));
  double transforms = j.direction == 2 ? 1 + 2 * (double)v[ITER] : 1;
  json_number("gflops", transforms * operations(&j, grid) / median * 1e-9);
  if (j.direction == 0 && lmax <= 4096)
    return synthesis_error(&j, grid, lmax, mmax);
  if (j.direction == 1)
    return adjoint_error(&j, lmax, mmax);
  json_text("error", NULL);
  return EXIT_DONE;
}

const bench_kind bench_sht = {
    "sht", "spherical-harmonic transform", keys, N_KEYS, run_sht, bench_sht_over_ranks};
