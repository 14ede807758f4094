/* SPDX-License-Identifier: BSD-3-Clause */
/* Transforms over ranks that are threads: the same bits as without ranks, for any number of them. */
#include "ranks.h"
#include <math.h>
#include <stdbool.h>
#include <kugel/alm.h>
#include <kugel/sphere.h>

typedef struct sky {
  kugel_sht_opts opts;
  kugel_dtype real, complex;
  int batch;
  int64_t nalm, npix;
  int n_alm, n_map;
  char *alm, *map, *adjoint, *analysis,
      *dual; // as without ranks: synthesis of alm, and what comes of the map
  char *
      solved; // by least squares of the map, but for its first pixel where bad pixels are left out; NULL: not done
  kugel_solve_stats stats;
  int wrong[64];
} sky;

static kugel_ctx *ctx; // of plans
static const int counts[] = {1, 2, 3, 4, 5, 7};

static size_t map_bytes(const sky *s)
{
  return (size_t)(s->batch * s->n_map * s->npix) * (s->real.bits / 8);
}

static size_t alm_bytes(const sky *s)
{
  return (size_t)(s->batch * s->n_alm * s->nalm) * (s->complex.bits / 8);
}

// Views of whole arrays, or of a rank's parts.
#define MAPS(s, data, n) KUGEL_ARRAY(data, (s)->real, (s)->batch, (s)->n_map, n)
#define ALMS(s, data, n) KUGEL_ARRAY(data, (s)->complex, (s)->batch, (s)->n_alm, n)

static int compare(kugel_layout *parts, kugel_layout *whole, const kugel_array *part, kugel_array *all,
                   const char *want, size_t bytes, int rank)
{
  if (kugel_layout_move(parts, part, whole, all))
    return 1;
  return rank == 0 && memcmp(all->data, want, bytes) != 0;
}

// Least squares of a map that has, or may have, the first pixel of all.
static kugel_status solve(const sky *s, const kugel_sht *plan, const kugel_array *map, const kugel_array *alm,
                          bool first, kugel_solve_stats *stats)
{
  const kugel_solve_opts o = {.size = sizeof o, .tolerance = 1e-9, .max_iterations = 200};
  double kept = 0, hole = KUGEL_UNSEEN;
  first &= s->opts.bad_pixels == KUGEL_BAD_ZERO;
  if (first) {
    memcpy(&kept, map->data, sizeof kept);
    memcpy(map->data, &hole, sizeof hole);
  }
  kugel_status k = kugel_sht_solve(plan, map, alm, &o, stats, NULL);
  if (first)
    memcpy(map->data, &kept, sizeof kept);
  return k;
}

static void over_ranks(kugel_comm *comm, void *arg)
{
  sky *s = arg;
  int rank = rank_of(comm), bad = 0;
  kugel_sht_opts opts = s->opts;
  kugel_sht *plan = NULL;
  kugel_layout *alms = NULL, *maps = NULL, *whole_alm = NULL, *whole_map = NULL;
  opts.comm = comm;
  opts.pieces = 3;
  kugel_sht_info info = {.size = sizeof info};
  if (kugel_sht_create(ctx, &opts, &plan)) {
    s->wrong[rank] = 1;
    return;
  }
  kugel_sht_get_info(plan, &info);
  bad += !!kugel_sht_layout(plan, KUGEL_SHT_ALM, &alms) + !!kugel_sht_layout(plan, KUGEL_SHT_MAP, &maps);
  bad +=
      !!kugel_layout_whole(comm, s->nalm, 0, &whole_alm) + !!kugel_layout_whole(comm, s->npix, 0, &whole_map);
  bad += kugel_layout_count(alms, rank) != info.nalm || kugel_layout_count(maps, rank) != info.npix;
  bad += kugel_layout_count(maps, KUGEL_EVERY_RANK) != s->npix;
  char *alm = malloc((size_t)(info.nalm * s->batch * s->n_alm) * 16 + 1);
  char *map = malloc((size_t)(info.npix * s->batch * s->n_map) * 8 + 1);
  char *all = calloc(1, map_bytes(s) + alm_bytes(s));
  kugel_array *alm_part = ALMS(s, alm, info.nalm), *map_part = MAPS(s, map, info.npix);
  bad += !!kugel_layout_move(whole_alm, rank ? NULL : ALMS(s, s->alm, s->nalm), alms, alm_part);
  bad += !!kugel_sht_synthesis(plan, alm_part, map_part, NULL);
  bad += compare(maps, whole_map, map_part, MAPS(s, all, rank ? 0 : s->npix), s->map, map_bytes(s), rank);
  bad += !!kugel_sht_synthesis_adjoint(plan, map_part, alm_part, NULL);
  bad += compare(alms, whole_alm, alm_part, ALMS(s, all, rank ? 0 : s->nalm), s->adjoint, alm_bytes(s), rank);
  if (s->solved) {
    kugel_solve_stats stats;
    bad += !!solve(s, plan, map_part, alm_part, rank == 0, &stats);
    bad += memcmp(&stats, &s->stats, sizeof stats) != 0;
    bad +=
        compare(alms, whole_alm, alm_part, ALMS(s, all, rank ? 0 : s->nalm), s->solved, alm_bytes(s), rank);
  }
  if (s->analysis) {
    bad += !!kugel_sht_analysis(plan, map_part, alm_part, NULL);
    bad +=
        compare(alms, whole_alm, alm_part, ALMS(s, all, rank ? 0 : s->nalm), s->analysis, alm_bytes(s), rank);
    bad += !!kugel_sht_analysis_adjoint(plan, alm_part, map_part, NULL);
    bad += compare(maps, whole_map, map_part, MAPS(s, all, rank ? 0 : s->npix), s->dual, map_bytes(s), rank);
  }
  s->wrong[rank] = bad;
  free(alm);
  free(map);
  free(all);
  kugel_layout_destroy(alms);
  kugel_layout_destroy(maps);
  kugel_layout_destroy(whole_alm);
  kugel_layout_destroy(whole_map);
  kugel_sht_destroy(plan);
}

static void fill(sky *s)
{
  uint64_t seed = 7;
  for (int64_t i = 0; i < 2 * s->batch * s->n_alm * s->nalm; i++)
    if (s->complex.bits == 64)
      ((float *)(void *)s->alm)[i] = (float)check_random(&seed);
    else
      ((double *)(void *)s->alm)[i] = check_random(&seed);
}

static void check_plan(kugel_sht_opts opts, int single, int batch)
{
  sky s = {.opts = opts,
           .batch = batch,
           .real = single ? KUGEL_F32 : KUGEL_F64,
           .complex = single ? KUGEL_C64 : KUGEL_C128};
  kugel_sht *plan;
  kugel_sht_info info = {.size = sizeof info};
  s.opts.size = sizeof s.opts;
  CHECK_OK(kugel_sht_create(ctx, &s.opts, &plan));
  CHECK_OK(kugel_sht_get_info(plan, &info));
  s.nalm = info.nalm;
  s.npix = info.npix;
  s.n_alm = info.n_alm_sets;
  s.n_map = info.n_maps;
  s.alm = calloc(1, alm_bytes(&s));
  s.map = calloc(1, map_bytes(&s));
  s.adjoint = calloc(1, alm_bytes(&s));
  fill(&s);
  CHECK_OK(kugel_sht_synthesis(plan, ALMS(&s, s.alm, s.nalm), MAPS(&s, s.map, s.npix), NULL));
  CHECK_OK(kugel_sht_synthesis_adjoint(plan, MAPS(&s, s.map, s.npix), ALMS(&s, s.adjoint, s.nalm), NULL));
  if (s.n_alm == s.n_map && batch == 1 && !single) {
    s.solved = calloc(1, alm_bytes(&s));
    CHECK_OK(solve(&s, plan, MAPS(&s, s.map, s.npix), ALMS(&s, s.solved, s.nalm), true, &s.stats));
    double error = 0, *want = (double *)(void *)s.alm, *got = (double *)(void *)s.solved;
    for (int64_t c = 0; c < s.n_alm; c++) // the coefficients that made the map, as far as they exist
      for (int64_t m = 0; m <= info.mmax; m++)
        for (int64_t l = m > opts.spin ? m : opts.spin; l <= opts.lmax; l++)
          for (int64_t k = 2 * (c * s.nalm + m * (2 * opts.lmax + 1 - m) / 2 + l), i = 0; i < (m ? 2 : 1);
               i++)
            error = fmax(error, fabs(got[k + i] - want[k + i]));
    CHECK_LE(error, 1e-6);
  }
  if (s.n_alm == s.n_map) {
    s.analysis = calloc(1, alm_bytes(&s));
    s.dual = calloc(1, map_bytes(&s));
    CHECK_OK(kugel_sht_analysis(plan, MAPS(&s, s.map, s.npix), ALMS(&s, s.analysis, s.nalm), NULL));
    CHECK_OK(kugel_sht_analysis_adjoint(plan, ALMS(&s, s.analysis, s.nalm), MAPS(&s, s.dual, s.npix), NULL));
  }
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    memset(s.wrong, 0, sizeof s.wrong);
    run_ranks(NULL, counts[i], over_ranks, &s);
    for (int r = 0; r < counts[i]; r++)
      if (s.wrong[r])
        CHECK_FAIL("rank %d of %d: %d results differ or failed: %s", r, counts[i], s.wrong[r],
                   kugel_last_error());
  }
  kugel_sht_destroy(plan);
  free(s.alm);
  free(s.map);
  free(s.adjoint);
  free(s.solved);
  free(s.analysis);
  free(s.dual);
}

static kugel_grid *healpix(int64_t nside)
{
  kugel_grid *grid = NULL;
  kugel_grid_opts o = {.size = sizeof o, .kind = KUGEL_GRID_HEALPIX, .nside = nside};
  CHECK_OK(kugel_grid_create(NULL, &o, &grid));
  return grid;
}

static kugel_grid *latlon(kugel_grid_kind kind, int64_t ntheta, int64_t nphi)
{
  kugel_grid *grid = NULL;
  kugel_grid_opts o = {.size = sizeof o, .kind = kind, .ntheta = ntheta, .nphi = nphi};
  CHECK_OK(kugel_grid_create(NULL, &o, &grid));
  return grid;
}

int main(void)
{
  kugel_grid *g64 = healpix(64), *g37 = healpix(37), *gauss = latlon(KUGEL_GRID_GAUSS, 95, 191);
  kugel_grid *few = latlon(KUGEL_GRID_GAUSS, 5, 9);
  CASE("scalar, HEALPix, iterations")
  {
    check_plan((kugel_sht_opts){.grid = g64, .lmax = 150, .iterations = 1}, 0, 1);
  }
  CASE("spin 2, a batch, an nside that is no power of two, mmax below lmax")
  {
    check_plan((kugel_sht_opts){.grid = g37, .lmax = 100, .mmax = 71, .mode = KUGEL_SHT_SPIN, .spin = 2}, 0,
               2);
  }
  CASE("least squares that leave a pixel out")
  {
    check_plan((kugel_sht_opts){.grid = g64, .lmax = 90, .bad_pixels = KUGEL_BAD_ZERO}, 0, 1);
  }
  CASE("T, E, B in single precision with ring weights")
  {
    check_plan(
        (kugel_sht_opts){
            .grid = g37, .lmax = 80, .mode = KUGEL_SHT_TEB, .weights = KUGEL_WEIGHTS_RING, .iterations = 1},
        1, 1);
  }
  CASE("pixel weights")
  {
    check_plan((kugel_sht_opts){.grid = g37, .lmax = 40, .weights = KUGEL_WEIGHTS_PIXEL}, 0, 1);
  }
  CASE("Gauss grid, high spin, and gradients")
  {
    check_plan((kugel_sht_opts){.grid = gauss, .lmax = 94, .mode = KUGEL_SHT_SPIN, .spin = 5}, 0, 1);
    check_plan((kugel_sht_opts){.grid = gauss, .lmax = 94, .mode = KUGEL_SHT_DER1}, 0, 1);
  }
  CASE("more ranks than groups of rings and orders")
  {
    check_plan((kugel_sht_opts){.grid = few, .lmax = 4}, 0, 1);
    check_plan((kugel_sht_opts){.grid = few, .lmax = 4, .mmax = KUGEL_ONLY_M0}, 0, 1);
  }
  CASE("blocks of pairs, as a limit of memory makes them; several threads per rank")
  {
    kugel_ctx_opts opts = {.size = sizeof opts, .threads = 2};
    CHECK_OK(kugel_ctx_create(&opts, &ctx));
    CHECK_OK(kugel_ctx_limit_memory(ctx, 200000)); // of 128 pairs, 64 at a time
    check_plan((kugel_sht_opts){.grid = g64, .lmax = 150, .mode = KUGEL_SHT_SPIN, .spin = 2, .iterations = 1},
               0, 1);
    check_plan((kugel_sht_opts){.grid = g64, .lmax = 150}, 1, 1);
    kugel_ctx_destroy(ctx);
    ctx = NULL;
  }
  kugel_grid_destroy(g64);
  kugel_grid_destroy(g37);
  kugel_grid_destroy(gauss);
  kugel_grid_destroy(few);
  END();
}
