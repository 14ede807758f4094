/* SPDX-License-Identifier: BSD-3-Clause */
/* Convolutions of one volume over ranks that are threads of one process, each with a device of its own and its planes in that device's
 * memory: tiles with halos, and the whole transform, beside one device without ranks.
 * usage: bench_volume_ranks_gpu [--device=cuda:%d] [--ranks=0,1,2] [--n=2048] [--k=65] [--tile=PLANES] [--runs=5] [tiles] [global]
 * n^3 floats and k^3 kernels (a halo of (k - 1) / 2), SAME, zeros beyond the edges; ranks 0: RESIDENT without ranks; %d is the
 * rank's number. What does not fit is skipped, with the sentence why. --smoke: small, on any device. KUGEL_PEERS: auto, copy or
 * nccl.
 *
 * Tiles cut axis 0 alone: kappa = (tile + k - 1) / tile of their planes are transformed for each plane of results, and 1 / kappa is
 * what D ranks can reach of D times the speed of one device without tiles. */
#include "clock.h"
#include "counts.h"
#include "device/every.h"
#include "ranks.h"
#include "comm/comm.h"
#include <kugel/volume.h>

enum { MOST = 8, RUNS = 32 };
static const char *device = "cuda:%d";
static int64_t n = 2048, k = 65, planes_of_tile; // 0: the plan's choice
static int runs = 5;
static float *psf;

typedef struct outcome {
  kugel_volume_engine engine;
  double seconds[RUNS]; // of rank 0, from barrier to barrier
  kugel_volume_info info;
  float first, middle; // of the first plane of results
  char why[MOST][300], card[128];
} outcome;

static double median(double *x)
{
  qsort(x, (size_t)runs, sizeof *x, by_value);
  return x[runs / 2];
}

static kugel_status together(kugel_comm *comm, kugel_status s)
{
  return comm ? kugel_comm_agree(comm, s) : s;
}

static kugel_status times(kugel_comm *comm, kugel_ctx *ctx, const kugel_volume *plan, outcome *o)
{
  kugel_volume_info info = {.size = sizeof info};
  kugel_device_info card = {.size = sizeof card};
  void *memory[2] = {NULL, NULL};
  kugel_status s = kugel_volume_get_info(plan, &info);
  s = s ? s : kugel_ctx_describe(ctx, &card);
  int64_t planes[2] = {info.image_count, info.results_count};
  bool lead = !comm || rank_of(comm) == 0;
  for (int i = 0; i < 2; i++)
    s = s ? s : kugel_device_alloc(ctx, (size_t)(planes[i] * n * n + 16) * 4, &memory[i]);
  s = together(comm, s);
  s = s ? s : kugel_device_fill(ctx, memory[0], 0, 0x3f, (size_t)(planes[0] * n * n) * 4, NULL); // 0.75 each
  kugel_array *x = KUGEL_ARRAY(memory[0], KUGEL_F32, planes[0], n, n),
              *y = KUGEL_ARRAY(memory[1], KUGEL_F32, planes[1], n, n);
  x->device = y->device = card.device;
  for (int i = -1; i < runs; i++) {
    s = together(comm, s);
    if (s)
      break;
    double start = now();
    s = kugel_volume_execute(plan, x, y, NULL, NULL);
    s = together(comm, s);
    if (lead && i >= 0)
      o->seconds[i] = now() - start;
  }
  size_t half = (size_t)(n / 2 * n + n / 2) * 4; // of the first plane
  if (lead && !s)
    o->info = info;
  if (lead && !s && planes[1]) {
    snprintf(o->card, sizeof o->card, "%.*s", (int)sizeof o->card - 1, card.description);
    s = kugel_device_download(ctx, &o->first, memory[1], 0, 4, NULL);
    s = s ? s : kugel_device_download(ctx, &o->middle, memory[1], half, 4, NULL);
  }
  for (int i = 0; i < 2; i++)
    kugel_device_free(ctx, memory[i]);
  return s;
}

static void one_rank(kugel_comm *comm, void *arg)
{
  outcome *o = arg;
  int rank = comm ? rank_of(comm) : 0;
  char name[64];
  kugel_ctx *ctx = NULL;
  kugel_volume *plan = NULL;
  const int64_t cube[3] = {n, n, n}, size[3] = {k, k, k}, tile[3] = {planes_of_tile, n, n};
  kugel_volume_opts opts = {.size = sizeof opts,
                            .extent = KUGEL_CONV_SAME,
                            .precision = KUGEL_PRECISION_F32,
                            .engine = o->engine,
                            .tile = planes_of_tile ? tile : NULL,
                            .comm = comm};
  snprintf(name, sizeof name, device, rank);
  kugel_status s = together(
      comm, kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = name}, &ctx));
  s = s ? s : kugel_volume_create(ctx, 3, cube, size, KUGEL_ARRAY(psf, KUGEL_F32, k, k, k), &opts, &plan);
  s = s ? s : times(comm, ctx, plan, o);
  if (s)
    snprintf(o->why[rank], sizeof o->why[0], "%s", kugel_last_error());
  kugel_volume_destroy(plan);
  kugel_ctx_destroy(ctx);
}

// Seconds of a row; 0 if it does not run.
static double row(kugel_volume_engine engine, int ranks, double resident, double one)
{
  static const char *const names[] = {"", "resident", "tiles", "", "", "global"};
  outcome o = {.engine = engine};
  double start = now();
  if (ranks)
    run_ranks(NULL, ranks, one_rank, &o);
  else
    one_rank(NULL, &o);
  printf("  %s %lld^3, kernel %lld^3, %d rank%s: ", names[engine], (long long)n, (long long)k, ranks,
         ranks == 1 ? "" : "s");
  for (int r = 0; r < (ranks ? ranks : 1); r++)
    if (*o.why[r]) {
      printf("skipped: %s\n", o.why[r]);
      fflush(stdout);
      return 0;
    }
  double seconds = median(o.seconds), d = ranks ? ranks : 1;
  printf("%.2f ms, %.2f Gvoxel/s, %.2f TB/s of kernels' traffic, predicted %.2f ms", seconds * 1e3,
         (double)n * (double)n * (double)n / seconds / 1e9, (double)o.info.kernel_bytes / seconds / 1e12,
         o.info.seconds * 1e3);
  double kappa = engine == KUGEL_VOLUME_TILES ? (double)(o.info.tile[0] + k - 1) / (double)o.info.tile[0] : 1;
  if (engine == KUGEL_VOLUME_TILES)
    printf("; tile %lld planes, 1/kappa %.3f", (long long)o.info.tile[0], 1 / kappa);
  if (ranks && resident > 0)
    printf("; %.3f of %d times one device without ranks, %.3f of that by kappa", resident / (d * seconds),
           ranks, resident * kappa / (d * seconds));
  if (ranks > 1 && one > 0)
    printf("; %.3f of %d times one rank", one / (d * seconds), ranks);
  printf("; results %.7g, %.7g; in all %.1f s; %s\n", (double)o.first, (double)o.middle, now() - start,
         o.card);
  fflush(stdout);
  return seconds;
}

int main(int argc, char **argv)
{
  int counts[MOST + 1] = {0, 1, 2}, ncounts = 3;
  bool wanted[2] = {false, false}, smoke = false;
  for (int i = 1; i < argc; i++) {
    const char *a = argv[i];
    if (!strncmp(a, "--ranks=", 8)) {
      if (!read_counts(a + 8, MOST, counts, &ncounts))
        return fprintf(stderr, "%s: ranks are 0 (a plan without) to %d\n", argv[i], MOST), 2;
    } else if (!strncmp(a, "--device=", 9))
      device = a + 9;
    else if ((sscanf(a, "--n=%ld", &n) == 1 && n > 0) || (sscanf(a, "--k=%ld", &k) == 1 && k > 0) ||
             (sscanf(a, "--tile=%ld", &planes_of_tile) == 1 && planes_of_tile > 0))
      continue;
    else if (!strncmp(a, "--runs=", 7))
      runs = atoi(a + 7) < 1 ? 1 : atoi(a + 7) > RUNS ? RUNS : atoi(a + 7);
    else if (!strcmp(a, "--smoke"))
      smoke = true;
    else if (!strcmp(a, "tiles"))
      wanted[0] = true;
    else if (!strcmp(a, "global"))
      wanted[1] = true;
    else
      return fprintf(stderr, "%s is not an option: see the head of bench/programs/volume_ranks_gpu.c\n", a),
             2;
  }
  if (smoke) {
    device = every_first();
    n = 64, k = 3, runs = 1;
    if (!device)
      return 77;
  }
  if (!wanted[0] && !wanted[1])
    wanted[0] = wanted[1] = true;
  psf = malloc((size_t)(k * k * k) * sizeof *psf);
  if (!psf)
    return fprintf(stderr, "no memory for a kernel of %lld^3\n", (long long)k), 1;
  for (int64_t i = 0; i < k * k * k; i++)
    psf[i] = (float)(1 + i * i % 17) / (float)(8 * k * k * k);
  double resident = 0, one[2] = {0, 0};
  for (int i = 0; i < ncounts; i++)
    if (!counts[i])
      resident = row(KUGEL_VOLUME_RESIDENT, 0, 0, 0);
  for (int e = 0; e < 2; e++)
    for (int i = 0; i < ncounts && wanted[e]; i++)
      if (counts[i]) {
        double s = row(e ? KUGEL_VOLUME_GLOBAL : KUGEL_VOLUME_TILES, counts[i], resident, one[e]);
        one[e] = counts[i] == 1 ? s : one[e];
      }
  free(psf);
  return 0;
}
