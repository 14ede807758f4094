/* SPDX-License-Identifier: BSD-3-Clause */
/* LABEL: long. ISA: once */
/* Transforms over ranks that are threads with a device each: the bits of one rank for any number of them, and of a plan without
 * ranks; the numbers of the CPU. */
#include "device/every.h"
#include "device/device.h"
#include "comm/faults.h"
#include "ranks.h"
#include <math.h>
#include <unistd.h>
#include <kugel/alm.h>
#include <kugel/sphere.h>
#include "sphere/legendre/gpu_plan.h"

typedef struct sky {
  kugel_sht_opts opts;
  const char *device; // a rank's number may be in it, of `devices`
  int devices;
  bool single, there; // there: arrays in device memory
  int batch, pieces;
  int64_t nalm, npix;
  int n_alm, n_map;
  char *alm, *got[5],
      *first[5]; // got of these ranks, first of one: synthesis, adjoint, analysis, its adjoint, least squares
  long fails_at, made; // the allocation of rank 1 that fails; how many there were
  int wrong[8];
  char why[8][200];
} sky;

enum { SYNTHESIS, ADJOINT, ANALYSIS, DUAL, SOLUTION, RESULTS };

static kugel_dtype real_of(const sky *s)
{
  return s->single ? KUGEL_F32 : KUGEL_F64;
}

static kugel_dtype complex_of(const sky *s)
{
  return s->single ? KUGEL_C64 : KUGEL_C128;
}

#define MAPS(s, data, n) KUGEL_ARRAY(data, real_of(s), (s)->batch, (s)->n_map, n)
#define ALMS(s, data, n) KUGEL_ARRAY(data, complex_of(s), (s)->batch, (s)->n_alm, n)

static size_t bytes_of(const sky *s, int result)
{
  bool map = result == SYNTHESIS || result == DUAL;
  return (size_t)(s->batch * (map ? s->n_map * s->npix : s->n_alm * s->nalm * 2)) * (s->single ? 4 : 8);
}

// What a rank does alone in this test: the others learn of its failure.
static kugel_status agreed(kugel_comm *comm, kugel_status s)
{
  return comm ? kugel_comm_agree(comm, s) : s;
}

static const kugel_solve_opts few_steps = {.size = sizeof few_steps, .max_iterations = 3};

// One transform of host arrays, or of copies on the device.
static kugel_status transform(const sky *s, kugel_ctx *ctx, const kugel_sht *plan, kugel_comm *comm,
                              int result, kugel_array *alm, kugel_array *map)
{
  bool to_map = result == SYNTHESIS || result == DUAL;
  kugel_array a = *alm, m = *map;
  void *memory[2] = {NULL, NULL};
  size_t bytes[2] = {16, 16};
  kugel_status k = KUGEL_OK;
  bool there =
      s->there && (comm || result != SOLUTION); // without ranks vectors would be there, too, in other sums
  for (int i = 0; i < 2 && there && !k; i++) {
    kugel_array *x = i ? &m : &a;
    for (int d = 0; d < x->ndim; d++)
      bytes[i] = (d ? bytes[i] : (size_t)(x->dtype.bits * x->dtype.lanes / 8)) * (size_t)x->shape[d];
    k = kugel_device_alloc(ctx, bytes[i] + 16, &memory[i]);
    k = k ? k : kugel_device_upload(ctx, memory[i], 16, x->data, bytes[i], NULL);
    x->data = memory[i];
    x->byte_offset = 16; // from the start of a buffer
    x->device = kugel__ctx_device(ctx)->info.device;
  }
  k = agreed(comm, k);
  if (!k)
    k = result == SYNTHESIS  ? kugel_sht_synthesis(plan, &a, &m, NULL)
        : result == ADJOINT  ? kugel_sht_synthesis_adjoint(plan, &m, &a, NULL)
        : result == ANALYSIS ? kugel_sht_analysis(plan, &m, &a, NULL)
        : result == DUAL     ? kugel_sht_analysis_adjoint(plan, &a, &m, NULL)
                             : kugel_sht_solve(plan, &m, &a, &few_steps, NULL, NULL);
  k = result == SOLUTION && k == KUGEL_ECONVERGE ? KUGEL_OK : k;
  if (there && !k)
    k = kugel_device_download(ctx, (to_map ? map : alm)->data, memory[to_map], 16, bytes[to_map], NULL);
  k = agreed(comm, k);
  for (int i = 0; i < 2; i++)
    kugel_device_free(ctx, memory[i]);
  return k;
}

static kugel_status all_transforms(sky *s, kugel_ctx *ctx, const kugel_sht *plan, kugel_comm *comm)
{
  kugel_layout *alms = NULL, *maps = NULL, *whole_alm = NULL, *whole_map = NULL;
  kugel_sht_info info = {.size = sizeof info};
  int rank = comm ? rank_of(comm) : 0;
  kugel_status k = kugel_sht_get_info(plan, &info);
  if (comm) {
    k = k ? k : kugel_sht_layout(plan, KUGEL_SHT_ALM, &alms);
    k = k ? k : kugel_sht_layout(plan, KUGEL_SHT_MAP, &maps);
    k = agreed(comm, k);
    k = k ? k : kugel_layout_whole(comm, s->nalm, 0, &whole_alm);
    k = k ? k : kugel_layout_whole(comm, s->npix, 0, &whole_map);
  }
  char *alm = calloc((size_t)(info.nalm * s->batch * s->n_alm) + 1, 16);
  char *map = calloc((size_t)(info.npix * s->batch * s->n_map) + 1, 8);
  kugel_array *alm_part = ALMS(s, alm, info.nalm), *map_part = MAPS(s, map, info.npix);
  if (!comm)
    memcpy(alm, s->alm, bytes_of(s, ADJOINT));
  else
    k = k ? k : kugel_layout_move(whole_alm, rank ? NULL : ALMS(s, s->alm, s->nalm), alms, alm_part);
  for (int i = 0; i < RESULTS && !k && s->got[i]; i++) {
    bool to_map = i == SYNTHESIS || i == DUAL;
    k = transform(s, ctx, plan, comm, i, alm_part, map_part);
    if (!comm)
      memcpy(s->got[i], to_map ? map : alm, bytes_of(s, i));
    else if (!k)
      k = kugel_layout_move(to_map ? maps : alms, to_map ? map_part : alm_part,
                            to_map ? whole_map : whole_alm,
                            rank     ? NULL
                            : to_map ? MAPS(s, s->got[i], s->npix)
                                     : ALMS(s, s->got[i], s->nalm));
  }
  free(alm);
  free(map);
  kugel_layout_destroy(alms);
  kugel_layout_destroy(maps);
  kugel_layout_destroy(whole_alm);
  kugel_layout_destroy(whole_map);
  return k;
}

static void one_rank(kugel_comm *comm, void *arg)
{
  sky *s = arg;
  int rank = comm ? rank_of(comm) : 0;
  kugel_sht_opts opts = s->opts;
  kugel_ctx *ctx = NULL;
  kugel_sht *plan = NULL;
  char device[64];
  rank_memory memory = {0};
  kugel_allocator allocator = {rank_take, rank_give, &memory};
  snprintf(device, sizeof device, s->device ? s->device : "cpu", rank % (s->devices ? s->devices : 1));
  kugel_ctx_opts options = {
      .size = sizeof options, .device = device, .allocator = s->fails_at ? &allocator : NULL};
  opts.comm = comm;
  opts.pieces = comm ? s->pieces : 0;
  kugel_status k = agreed(comm, kugel_ctx_create(&options, &ctx));
  memory = (rank_memory){.fails_at = rank == 1 ? s->fails_at : 0};
  k = k ? k : kugel_sht_create(ctx, &opts, &plan);
  k = k ? k : all_transforms(s, ctx, plan, comm);
  s->wrong[rank] = k;
  snprintf(s->why[rank], sizeof s->why[rank], "%s", k ? kugel_last_error() : "");
  if (rank == 1)
    s->made = memory.count;
  kugel_sht_destroy(plan);
  kugel_ctx_destroy(ctx);
}

// Over n ranks, or without; false if it failed.
static bool run(sky *s, int n)
{
  int bad = 0;
  memset(s->wrong, 0, sizeof s->wrong);
  if (n)
    run_ranks(NULL, n, one_rank, s);
  else
    one_rank(NULL, s);
  for (int r = 0; r < (n ? n : 1); r++)
    if (s->wrong[r]) {
      CHECK_FAIL("rank %d of %d failed: %s", r, n, s->why[r]);
      bad++;
    }
  return !bad;
}

static double distance(const sky *s, int result, const char *a, const char *b)
{
  double error = 0, norm = 0;
  size_t n = bytes_of(s, result) / (s->single ? 4 : 8);
  for (size_t i = 0; i < n; i++) {
    double x = s->single ? ((const float *)(const void *)a)[i] : ((const double *)(const void *)a)[i];
    double y = s->single ? ((const float *)(const void *)b)[i] : ((const double *)(const void *)b)[i];
    error += (x - y) * (x - y);
    norm += y * y;
  }
  return norm > 0 ? sqrt(error / norm) : error;
}

static kugel_sht *plan_of(sky *s)
{
  kugel_sht *plan;
  kugel_sht_info info = {.size = sizeof info};
  s->opts.size = sizeof s->opts;
  s->batch = s->batch ? s->batch : 1;
  CHECK_OK(kugel_sht_create(NULL, &s->opts, &plan));
  CHECK_OK(kugel_sht_get_info(plan, &info));
  s->nalm = info.nalm;
  s->npix = info.npix;
  s->n_alm = info.n_alm_sets;
  s->n_map = info.n_maps;
  return plan;
}

static void check_plan(const char *device, sky s)
{
  static const int counts[] = {1, 2, 3, 5, 0};
  static const char *const names[RESULTS] = {"synthesis", "its adjoint", "analysis", "its adjoint",
                                             "least squares"};
  uint64_t seed = 7;
  kugel_sht *plan = plan_of(&s);
  int results = s.n_alm != s.n_map ? ANALYSIS : s.batch > 1 ? SOLUTION : RESULTS;
  char *cpu[RESULTS] = {NULL};
  s.alm = calloc(1, bytes_of(&s, ADJOINT));
  for (int64_t i = 0; i < 2 * s.batch * s.n_alm * s.nalm; i++)
    if (s.single)
      ((float *)(void *)s.alm)[i] = (float)check_random(&seed);
    else
      ((double *)(void *)s.alm)[i] = check_random(&seed);
  for (int i = 0; i < results; i++) {
    cpu[i] = calloc(1, bytes_of(&s, i));
    s.first[i] = calloc(1, bytes_of(&s, i));
    s.got[i] = cpu[i];
  }
  bool there = s.there;
  s.there = false;
  CHECK_OK(all_transforms(&s, NULL, plan, NULL));
  kugel_sht_destroy(plan);
  s.there = there;
  s.device = device;
  for (int i = 0; i < results; i++)
    s.got[i] = s.first[i];
  if (run(&s, 1))
    for (int i = 0; i < results; i++) {
      double e = distance(&s, i, s.first[i], cpu[i]);
      CHECK_LE(e, s.single ? 1e-6 : 1e-13);
    }
  for (int i = 0; i < results; i++)
    s.got[i] = calloc(1, bytes_of(&s, i));
  for (size_t k = 1; k < sizeof counts / sizeof *counts; k++)
    if (run(&s, counts[k]))
      for (int i = 0; i < results; i++)
        if (memcmp(s.got[i], s.first[i], bytes_of(&s, i)) != 0)
          CHECK_FAIL("%s of %d ranks differs from that of one by %g", names[i], counts[k],
                     distance(&s, i, s.got[i], s.first[i]));
  for (int i = 0; i < results; i++) {
    free(cpu[i]);
    free(s.got[i]);
    free(s.first[i]);
  }
  free(s.alm);
}

// Whether ranks failed; all with the same status and sentence.
static bool fails(sky *s, int n)
{
  memset(s->wrong, 0, sizeof s->wrong);
  run_ranks(NULL, n, one_rank, s);
  for (int r = 1; r < n; r++)
    if (s->wrong[r] != s->wrong[0] || strcmp(s->why[r], s->why[0]) != 0)
      CHECK_FAIL("rank %d says %d %s, rank 0 %d %s", r, s->wrong[r], s->why[r], s->wrong[0], s->why[0]);
  return s->wrong[0];
}

// An allocation of one rank fails.
static void failures(sky s)
{
  long failed = 0;
  kugel_sht_destroy(plan_of(&s));
  s.alm = calloc(1, bytes_of(&s, ADJOINT));
  for (int i = 0; i < SOLUTION; i++)
    s.got[i] = calloc(1, bytes_of(&s, i));
  for (s.fails_at = 1;; s.fails_at += 3) {
    failed += fails(&s, 3);
    if (s.made < s.fails_at)
      break;
  }
  if (s.wrong[0])
    CHECK_FAIL("allocation %ld of %ld: %s", s.fails_at, s.made, s.why[0]);
  CHECK(failed > 10);
  for (int i = 0; i < RESULTS; i++)
    free(s.got[i]);
  free(s.alm);
}

static kugel_grid *make_grid(kugel_grid_opts o)
{
  kugel_grid *grid = NULL;
  o.size = sizeof o;
  CHECK_OK(kugel_grid_create(NULL, &o, &grid));
  return grid;
}

// Ranks that differ, and what a rank cannot be.
static void differ(kugel_comm *comm, void *arg)
{
  sky *s = arg;
  int rank = rank_of(comm);
  kugel_ctx *ctx = NULL;
  kugel_sht *plan = NULL;
  kugel_sht_opts opts = s->opts;
  opts.size = sizeof opts;
  opts.comm = comm;
  s->wrong[rank] = kugel_ctx_create(
      &(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = rank ? s->device : "cpu"}, &ctx);
  s->wrong[rank] = s->wrong[rank] ? -1 : kugel_sht_create(ctx, &opts, &plan);
  snprintf(s->why[rank], sizeof s->why[rank], "%s", kugel_last_error());
  kugel_sht_destroy(plan);
  kugel_ctx_destroy(ctx);
}

int main(void)
{
  kugel_device_info info;
  alarm(900); // a rank that waits for ever ends the test
  kugel_grid *g32 = make_grid((kugel_grid_opts){.kind = KUGEL_GRID_HEALPIX, .nside = 32});
  kugel_grid *g37 = make_grid((kugel_grid_opts){.kind = KUGEL_GRID_HEALPIX, .nside = 37});
  kugel_grid *gauss = make_grid((kugel_grid_opts){.kind = KUGEL_GRID_GAUSS, .ntheta = 65, .nphi = 131});
  kugel_grid *few = make_grid((kugel_grid_opts){.kind = KUGEL_GRID_GAUSS, .ntheta = 5, .nphi = 9});
  int cuda = 0;
  for (int at = 0; every_device(&at, true, &info);) {
    cuda += info.device.type == KUGEL_CUDA;
    if (every_miscompiles(&info) || (info.device.type == KUGEL_CUDA && cuda > 1))
      continue;
    CASE(every_title(&info, "scalar, HEALPix, pieces, iterations"))
    {
      check_plan(info.name, (sky){.opts = {.grid = g32, .lmax = 80, .iterations = 1}, .pieces = 3});
    }
    CASE(every_title(&info, "the same on the device, a batch; mmax below lmax"))
    {
      check_plan(
          info.name,
          (sky){.opts = {.grid = g37, .lmax = 90, .mmax = 71, .iterations = 1}, .batch = 2, .there = true});
    }
    CASE(every_title(&info, "single precision, pixel weights"))
    {
      check_plan(info.name, (sky){.opts = {.grid = g37, .lmax = 40, .weights = KUGEL_WEIGHTS_PIXEL},
                                  .single = true,
                                  .there = true});
    }
    CASE(every_title(&info, "spin 2, chunks of pieces side by side"))
    {
      kugel__leg_gpu_sums_aim = 20000;
      check_plan(info.name, (sky){.opts = {.grid = g37, .lmax = 90, .mode = KUGEL_SHT_SPIN, .spin = 2},
                                  .pieces = 3,
                                  .there = true});
      kugel__leg_gpu_sums_aim = (int64_t)1 << 30;
    }
    CASE(every_title(&info, "T, E, B with ring weights"))
    {
      check_plan(
          info.name,
          (sky){.opts = {.grid = g32, .lmax = 70, .mode = KUGEL_SHT_TEB, .weights = KUGEL_WEIGHTS_RING}});
    }
    CASE(every_title(&info, "Gauss grid, high spin, and gradients"))
    {
      check_plan(info.name, (sky){.opts = {.grid = gauss, .lmax = 64, .mode = KUGEL_SHT_SPIN, .spin = 5}});
      check_plan(info.name, (sky){.opts = {.grid = gauss, .lmax = 64, .mode = KUGEL_SHT_DER1}});
    }
    CASE(every_title(&info, "more ranks than groups of rings and orders"))
    {
      check_plan(info.name, (sky){.opts = {.grid = few, .lmax = 4}});
      check_plan(info.name, (sky){.opts = {.grid = few, .lmax = 4, .mmax = KUGEL_ONLY_M0}});
    }
    CASE(every_title(&info, "allocations of one rank fail"))
    {
      failures((sky){.opts = {.grid = few, .lmax = 4, .iterations = 1},
                     .device = info.name,
                     .there = true,
                     .pieces = 2});
    }
    CASE(every_title(&info, "ranks on different types of devices are told"))
    {
      sky s = {.opts = {.grid = g32, .lmax = 20}, .device = info.name};
      run_ranks(NULL, 2, differ, &s);
      for (int r = 0; r < 2; r++)
        CHECK(s.wrong[r] == KUGEL_EINVAL && strstr(s.why[r], "the type of device") != NULL);
    }
  }
  if (cuda > 1)
    CASE("several CUDA devices")
    {
      check_plan("cuda:%d", (sky){.devices = cuda,
                                  .opts = {.grid = g37, .lmax = 90, .iterations = 1},
                                  .pieces = 2,
                                  .there = true});
      check_plan(
          "cuda:%d",
          (sky){.devices = cuda, .opts = {.grid = g37, .lmax = 60, .mode = KUGEL_SHT_TEB}, .single = true});
    }
  kugel_grid_destroy(g32);
  kugel_grid_destroy(g37);
  kugel_grid_destroy(gauss);
  kugel_grid_destroy(few);
  END();
}
