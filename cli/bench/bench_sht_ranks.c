/* SPDX-License-Identifier: BSD-3-Clause */
/* kugel bench --ranks sht: one scalar transform over all processes. All a_mm and a_{m+1,m} are there, whose harmonics have a closed form,
 *   Y_mm = (-1)^m c_m sin^m(theta) e^{i m phi},  c_m^2 = c_{m-1}^2 (2 m + 1) / (2 m),  Y_{m+1,m} = sqrt(2 m + 3) cos(theta) Y_mm,
 * and of the adjoint the map that is 1 at one pixel. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <kugel/device.h>
#include "bench/bench.h"
#include "common/json.h"
#include "common/ranks.h"
#include "map/files.h"

typedef struct job {
  kugel_sht *plan;
  kugel_layout *of_alm, *of_map;
  int rank;
  bool adjoint, single;
  int64_t lmax, mmax, nalm, npix;
  void *alm, *map;
  void *far_alm, *far_map; /* this rank's parts in memory of its device; NULL: those of the host */
  kugel_device where;
} job;

static void job_close(job *j)
{
  kugel_layout_destroy(j->of_alm);
  kugel_layout_destroy(j->of_map);
  kugel_sht_destroy(j->plan);
  kugel_device_free(run.ctx, j->far_alm);
  kugel_device_free(run.ctx, j->far_map);
  free(j->alm);
  free(j->map);
}

static int execute(void *user)
{
  job *j = user;
  const bool far = j->far_alm;
  kugel_array *alm = KUGEL_ARRAY(far ? j->far_alm : j->alm, j->single ? KUGEL_C64 : KUGEL_C128, 1, j->nalm),
              *map = KUGEL_ARRAY(far ? j->far_map : j->map, j->single ? KUGEL_F32 : KUGEL_F64, 1, j->npix);
  if (far)
    alm->device = map->device = j->where;
  if (j->adjoint)
    LIB(kugel_sht_synthesis_adjoint(j->plan, map, alm, NULL));
  else
    LIB(kugel_sht_synthesis(j->plan, alm, map, NULL));
  return EXIT_DONE;
}

/* Runs of this rank's part: of the whole array, and one after another. */
typedef struct runs {
  int64_t n, *first, *length;
} runs;

static void runs_close(runs *r)
{
  free(r->first);
  free(r->length);
}

static int runs_of(const kugel_layout *layout, int rank, runs *r)
{
  LIB(kugel_layout_runs(layout, rank, 0, NULL, NULL, &r->n));
  r->first = malloc((size_t)(r->n + 1) * sizeof *r->first);
  r->length = malloc((size_t)(r->n + 1) * sizeof *r->length);
  if (!r->first || !r->length)
    return fail("no memory for %lld runs of a part", (long long)r->n);
  LIB(kugel_layout_runs(layout, rank, r->n, r->first, r->length, NULL));
  return EXIT_DONE;
}

/* Where an element of the whole array is in the part; -1: with another rank. */
static int64_t place_of(const runs *r, int64_t whole)
{
  for (int64_t i = 0, at = 0; i < r->n; at += r->length[i++])
    if (whole >= r->first[i] && whole < r->first[i] + r->length[i])
      return at + whole - r->first[i];
  return -1;
}

/* Element `part` of the part in the whole array. */
static int64_t whole_of(const runs *r, int64_t part)
{
  int64_t i = 0;
  while (i + 1 < r->n && part >= r->length[i])
    part -= r->length[i++];
  return r->first[i] + part;
}

/* Coefficient l = m + up of order m: the same on all ranks. */
static double number_of(const job *j, int64_t m, int up, int imaginary)
{
  uint64_t state = (uint64_t)(4 * m + 2 * up + imaginary + 1) * 0x9e3779b97f4a7c15u;
  double x = m || !imaginary ? bench_random(&state) : 0;
  return j->single ? (double)(float)x : x;
}

static int64_t index_of(const job *j, int64_t m)
{
  return m * (2 * j->lmax + 1 - m) / 2 + m;
}

static void fill(const job *j, const runs *r)
{
  for (int64_t m = 0; m <= j->mmax; m++) {
    int64_t at = place_of(r, index_of(j, m));
    for (int up = 0; up < 2 && m + up <= j->lmax && at >= 0; up++)
      for (int k = 0; k < 2; k++)
        number_put(j->single, j->alm, 2 * (at + up) + k, number_of(j, m, up, k));
  }
}

/* A pixel's direction. */
typedef struct place {
  double theta, phi;
} place;

static int place_pixel(const kugel_grid *grid, int64_t pixel, place *out)
{
  int64_t n = kugel_grid_nrings(grid), ring = 0;
  OWNED double *theta = malloc((size_t)n * sizeof *theta), *phi0 = malloc((size_t)n * sizeof *phi0);
  OWNED int64_t *nphi = malloc((size_t)n * sizeof *nphi), *first = malloc((size_t)n * sizeof *first);
  if (!theta || !phi0 || !nphi || !first)
    return fail("no memory for %lld rings", (long long)n);
  LIB(kugel_grid_rings(grid, theta, nphi, phi0, first, NULL));
  while (ring + 1 < n && (pixel < first[ring] || pixel >= first[ring] + nphi[ring]))
    ring++;
  *out = (place){theta[ring], phi0[ring] + 2 * M_PI * (double)(pixel - first[ring]) / (double)nphi[ring]};
  return EXIT_DONE;
}

/* |Y_mm| with its sign from that of m - 1; m = 0: from anything. */
static long double next_sector(long double before, int64_t m, long double sine)
{
  return m ? -before * sqrtl((2 * (long double)m + 1) / (2 * (long double)m)) * sine
           : sqrtl(1 / (4 * 3.14159265358979323846264338327950288L));
}

/* The largest error and value at a few of the own pixels. */
static int synthesis_error(const job *j, const kugel_grid *grid, const runs *r, double *error, double *size)
{
  enum { PIXELS = 24 };
  for (int i = 0; i < PIXELS && j->npix; i++) {
    int64_t at = (int64_t)((double)j->npix * (i + 0.37) / PIXELS);
    place p;
    STEP(place_pixel(grid, whole_of(r, at), &p));
    long double sum = 0, y = 0;
    for (int64_t m = 0; m <= j->mmax; m++) {
      y = next_sector(y, m, sinl((long double)p.theta));
      long double c = cosl(m * (long double)p.phi), s = sinl(m * (long double)p.phi);
      for (int up = 0; up < 2 && m + up <= j->lmax; up++) {
        long double f = up ? sqrtl(2 * (long double)m + 3) * cosl((long double)p.theta) : 1;
        sum += (m ? 2 : 1) * f * y *
               (c * (long double)number_of(j, m, up, 0) - s * (long double)number_of(j, m, up, 1));
      }
    }
    *error = fmax(*error, fabs(number_get(j->single, j->map, at) - (double)sum));
    *size = fmax(*size, fabs((double)sum));
  }
  return EXIT_DONE;
}

/* The adjoint of the map that is 1 at `pixel`. */
static int adjoint_error(const job *j, const kugel_grid *grid, int64_t pixel, const runs *r, double *error,
                         double *size)
{
  place p;
  STEP(place_pixel(grid, pixel, &p));
  long double y = 0;
  for (int64_t m = 0; m <= j->mmax; m++) {
    y = next_sector(y, m, sinl((long double)p.theta));
    int64_t at = place_of(r, index_of(j, m));
    for (int up = 0; up < 2 && m + up <= j->lmax && at >= 0; up++) {
      long double f = (up ? sqrtl(2 * (long double)m + 3) * cosl((long double)p.theta) : 1) * y;
      double re = (double)(f * cosl(m * (long double)p.phi)),
             im = (double)(-f * sinl(m * (long double)p.phi));
      *error = fmax(*error, hypot(number_get(j->single, j->alm, 2 * (at + up)) - re,
                                  number_get(j->single, j->alm, 2 * (at + up) + 1) - im));
      *size = fmax(*size, hypot(re, im));
    }
  }
  return EXIT_DONE;
}

/* The largest of all ranks: doubles that are not negative compare as their bits do. */
static int largest(kugel_comm *comm, double *x)
{
  int64_t bits[2];
  memcpy(bits, x, sizeof bits);
  LIB(kugel_comm_reduce(comm, bits, 2, KUGEL_COMM_MAX));
  memcpy(x, bits, sizeof bits);
  return EXIT_DONE;
}

static int make_plan(job *j, const int64_t *v, const kugel_grid *grid, kugel_comm *comm)
{
  kugel_sht_opts o = {.size = sizeof o, .grid = grid, .lmax = j->lmax, .mmax = j->mmax, .comm = comm};
  kugel_sht_info info = {.size = sizeof info};
  if (v[BENCH_SHT_THREADS])
    LIB(kugel_set_num_threads((int)v[BENCH_SHT_THREADS]));
  LIB(kugel_sht_create(run.ctx, &o, &j->plan));
  LIB(kugel_sht_get_info(j->plan, &info));
  LIB(kugel_sht_layout(j->plan, KUGEL_SHT_ALM, &j->of_alm));
  LIB(kugel_sht_layout(j->plan, KUGEL_SHT_MAP, &j->of_map));
  j->nalm = info.nalm;
  j->npix = info.npix;
  size_t one = j->single ? 4 : 8;
  j->alm = calloc((size_t)(2 * j->nalm + 1), one);
  j->map = calloc((size_t)(j->npix + 1), one);
  return j->alm && j->map ? EXIT_DONE : fail("no memory for a rank's %lld pixels", (long long)j->npix);
}

static size_t alm_bytes(const job *j)
{
  return (size_t)(2 * j->nalm) * (j->single ? 4 : 8);
}

static size_t map_bytes(const job *j)
{
  return (size_t)j->npix * (j->single ? 4 : 8);
}

/* On a device: this rank's parts there, so that transforms are timed without transfers. */
static int make_copies(job *j, kugel_comm *comm)
{
  kugel_device_info info = {.size = sizeof info};
  LIB(kugel_ctx_describe(run.ctx, &info));
  j->where = info.device;
  json_text("arrays", info.device.type == KUGEL_CPU ? "host" : "device");
  if (info.device.type == KUGEL_CPU)
    return EXIT_DONE;
  kugel_status s = kugel_device_alloc(run.ctx, alm_bytes(j) + 16, &j->far_alm);
  s = s ? s : kugel_device_alloc(run.ctx, map_bytes(j) + 16, &j->far_map);
  s = s ? s : kugel_device_upload(run.ctx, j->far_alm, 0, j->alm, alm_bytes(j), NULL);
  s = s ? s : kugel_device_upload(run.ctx, j->far_map, 0, j->map, map_bytes(j), NULL);
  LIB(kugel_comm_agree(comm, s));
  return EXIT_DONE;
}

/* The result back to the host. */
static int end_copies(const job *j, kugel_comm *comm)
{
  if (!j->far_alm)
    return EXIT_DONE;
  LIB(kugel_comm_agree(
      comm, j->adjoint ? kugel_device_download(run.ctx, j->alm, j->far_alm, 0, alm_bytes(j), NULL)
                       : kugel_device_download(run.ctx, j->map, j->far_map, 0, map_bytes(j), NULL)));
  return EXIT_DONE;
}

int bench_sht_over_ranks(const int64_t *v, double seconds)
{
  GRID kugel_grid *grid = NULL;
  __attribute__((cleanup(job_close)))
  job j = {.adjoint = v[BENCH_SHT_DIRECTION] == 1, .single = v[BENCH_SHT_DTYPE] == 0};
  __attribute__((cleanup(runs_close))) runs of_alm = {0};
  __attribute__((cleanup(runs_close))) runs of_map = {0};
  kugel_comm *comm;
  kugel_comm_info ranks = {.size = sizeof ranks};
  char line[256];
  double median = 0, ends[2] = {0, 0};
  if (v[BENCH_SHT_SPIN] || v[BENCH_SHT_ITER] || v[BENCH_SHT_DIRECTION] > 1)
    return fail_usage("sht with --ranks takes spin 0 and dir synthesis or adjoint: sht:nside=512,lmax=1024");
  j.lmax = v[BENCH_SHT_LMAX]   ? v[BENCH_SHT_LMAX]
           : v[BENCH_SHT_ROWS] ? v[BENCH_SHT_ROWS] - 1
                               : 2 * v[BENCH_SHT_NSIDE];
  j.mmax = v[BENCH_SHT_MMAX] ? v[BENCH_SHT_MMAX] : j.lmax;
  STEP(ranks_together(&comm));
  LIB(kugel_comm_get_info(comm, &ranks));
  LIB(kugel_comm_describe(comm, line, sizeof line));
  j.rank = ranks.rank;
  STEP(bench_sht_grid(v, &grid));
  STEP(make_plan(&j, v, grid, comm));
  STEP(runs_of(j.of_alm, j.rank, &of_alm));
  STEP(runs_of(j.of_map, j.rank, &of_map));
  int64_t pixel = kugel_grid_npix(grid) * 2 / 5, own = place_of(&of_map, pixel);
  if (!j.adjoint)
    fill(&j, &of_alm);
  else if (own >= 0)
    number_put(j.single, j.map, own, 1);
  json_text("ranks_are", line);
  json_int("ranks", ranks.ranks);
  STEP(make_copies(&j, comm));
  STEP(bench_together(execute, &j, comm, seconds, &median));
  STEP(end_copies(&j, comm));
  STEP(j.adjoint ? adjoint_error(&j, grid, pixel, &of_alm, ends, ends + 1)
                 : synthesis_error(&j, grid, &of_map, ends, ends + 1));
  STEP(largest(comm, ends));
  json_number("error", ends[1] > 0 ? ends[0] / ends[1] : ends[0]);
  json_text("error_of", "closed forms of l = m and m + 1, of all ranks, over the largest value");
  return EXIT_DONE;
}
