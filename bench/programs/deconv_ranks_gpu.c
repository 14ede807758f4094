/* SPDX-License-Identifier: BSD-3-Clause */
/* Steps of deconvolution of one volume over ranks that are threads of one process, each with a device of its own, beside one device
 * without ranks: the time between two calls of the callback on rank 0.
 * usage: bench_deconv_ranks_gpu [--device=cuda:%d] [--ranks=0,1,2] [--n=1024] [--k=65] [--steps=8] [--tiles] [rl] [biggs] [shb] [tv]
 * n^3 floats in host memory and a PSF of k^3, unknown edges; ranks 0: one device without ranks; %d is the rank's number. What does
 * not fit is skipped, with the sentence why. --smoke: small, on any device. KUGEL_PEERS: auto, copy or nccl. */
#include "clock.h"
#include "counts.h"
#include "device/every.h"
#include "ranks.h"
#include "comm/comm.h"
#include <kugel/deconv.h>

enum { MOST = 8, STEPS = 64, METHODS = 4 };
static const char *const names[METHODS] = {"rl", "biggs", "shb", "tv"};
static kugel_volume_engine engine; // of plans over ranks
static const char *device = "cuda:%d";
static int64_t n = 1024, k = 65;
static int steps = 8;
static float *psf;

typedef struct outcome {
  kugel_deconv_method method;
  double at[STEPS]; // of rank 0
  int count;
  kugel_deconv_info info;
  kugel_deconv_cost cost;
  char why[MOST][300];
} outcome;

static int after_step(int64_t i, double divergence, void *user)
{
  outcome *o = user;
  (void)i, (void)divergence;
  o->at[o->count++] = now();
  return 0;
}

static kugel_status together(kugel_comm *comm, kugel_status s)
{
  return comm ? kugel_comm_agree(comm, s) : s;
}

// Own planes, of spots on a background.
static kugel_status sharpen(kugel_comm *comm, const kugel_deconv *plan, outcome *o)
{
  kugel_layout *layout = NULL;
  int64_t first = 0, length = n * n * n, runs = 0;
  kugel_status s = comm ? kugel_deconv_layout(plan, &layout) : KUGEL_OK;
  if (!s && comm)
    kugel_layout_runs(layout, rank_of(comm), 1, &first, &length, &runs);
  if (comm && !runs)
    length = 0;
  kugel_layout_destroy(layout);
  float *x = malloc((size_t)length * sizeof *x + 1);
  s = together(comm, s || x ? s : KUGEL_ENOMEM);
  for (int64_t i = 0; i < length && !s; i++)
    x[i] = (first + i) % 1009 ? 10.f : 500.f;
  kugel_deconv_info info = {.size = sizeof info};
  int64_t planes = length / (n * n);
  kugel_array *v = KUGEL_ARRAY(x, KUGEL_F32, planes, n, n);
  s = s ? s : kugel_deconv_execute(plan, v, NULL, NULL, v, &info);
  if (!comm || rank_of(comm) == 0)
    o->info = info;
  free(x);
  return s;
}

static void one_rank(kugel_comm *comm, void *arg)
{
  outcome *o = arg;
  int rank = comm ? rank_of(comm) : 0;
  char name[64];
  kugel_ctx *ctx = NULL;
  kugel_deconv *plan = NULL;
  const int64_t cube[3] = {n, n, n}, size[3] = {k, k, k};
  kugel_deconv_cost cost = {.size = sizeof cost};
  kugel_deconv_opts opts = {.size = sizeof opts,
                            .engine = comm ? engine : KUGEL_VOLUME_AUTO,
                            .method = o->method,
                            .iterations = steps,
                            .precision = KUGEL_PRECISION_F32,
                            .exact = comm ? 0 : 1,
                            .callback = rank ? NULL : after_step,
                            .user = o,
                            .lambda = 0.002,
                            .comm = comm};
  snprintf(name, sizeof name, device, rank);
  kugel_status s = together(
      comm, kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = name}, &ctx));
  s = s ? s : kugel_deconv_estimate(ctx, 3, cube, size, &opts, &cost);
  s = s ? s : kugel_deconv_create(ctx, 3, cube, size, KUGEL_ARRAY(psf, KUGEL_F32, k, k, k), &opts, &plan);
  s = s ? s : sharpen(comm, plan, o);
  if (s)
    snprintf(o->why[rank], sizeof o->why[0], "%s", kugel_last_error());
  if (!rank)
    o->cost = cost;
  kugel_deconv_destroy(plan);
  kugel_ctx_destroy(ctx);
}

// Seconds of a step; 0 if it does not run.
static double row(kugel_deconv_method method, int ranks, double one)
{
  outcome o = {.method = method};
  double start = now(), times[STEPS];
  if (ranks)
    run_ranks(NULL, ranks, one_rank, &o);
  else
    one_rank(NULL, &o);
  printf("  %s %lld^3, PSF %lld^3, %d rank%s: ", names[method], (long long)n, (long long)k, ranks,
         ranks == 1 ? "" : "s");
  for (int r = 0; r < (ranks ? ranks : 1); r++)
    if (*o.why[r]) {
      printf("skipped: %s\n", o.why[r]);
      fflush(stdout);
      return 0;
    }
  int count = o.count - 1;
  for (int i = 0; i < count; i++)
    times[i] = o.at[i + 1] - o.at[i];
  qsort(times, (size_t)count, sizeof *times, by_value);
  double step = count > 0 ? times[count / 2] : 0;
  printf("%.2f ms a step, %.2f GB of each device%s, divergence %.9g", step * 1e3,
         (double)o.cost.device_bytes * 1e-9, o.cost.host ? ", steps on the host" : "", o.info.last);
  if (one > 0 && step > 0)
    printf("; %.2f times the first row", one / step);
  printf("; in all %.1f s\n", now() - start);
  fflush(stdout);
  return step;
}

int main(int argc, char **argv)
{
  int counts[MOST + 1] = {0, 1, 2}, ncounts = 3;
  bool wanted[METHODS] = {false}, any = false;
  for (int i = 1; i < argc; i++) {
    const char *a = argv[i];
    int method = 0;
    while (method < METHODS && strcmp(a, names[method]) != 0)
      method++;
    if (method < METHODS)
      any = wanted[method] = true;
    else if (!strncmp(a, "--ranks=", 8)) {
      if (!read_counts(a + 8, MOST, counts, &ncounts))
        return fprintf(stderr, "%s: ranks are 0 (a plan without) to %d\n", argv[i], MOST), 2;
    } else if (!strncmp(a, "--device=", 9))
      device = a + 9;
    else if ((sscanf(a, "--n=%ld", &n) == 1 && n > 0) || (sscanf(a, "--k=%ld", &k) == 1 && k > 0))
      continue;
    else if (!strncmp(a, "--steps=", 8))
      steps = atoi(a + 8) < 2 ? 2 : atoi(a + 8) > STEPS ? STEPS : atoi(a + 8);
    else if (!strcmp(a, "--tiles"))
      engine = KUGEL_VOLUME_TILES;
    else if (!strcmp(a, "--smoke")) {
      device = every_first();
      n = 24, k = 3, steps = 2;
      if (!device)
        return 77;
    } else
      return fprintf(stderr, "%s is not an option: see the head of bench/programs/deconv_ranks_gpu.c\n", a),
             2;
  }
  wanted[0] |= !any;
  psf = malloc((size_t)(k * k * k) * sizeof *psf);
  if (!psf)
    return fprintf(stderr, "no memory for a PSF of %lld^3\n", (long long)k), 1;
  for (int64_t i = 0; i < k * k * k; i++)
    psf[i] = (float)(1 + i * i % 17);
  for (int m = 0; m < METHODS; m++) {
    double first = 0;
    for (int i = 0; i < ncounts && wanted[m]; i++) {
      double step = row((kugel_deconv_method)m, counts[i], first);
      first = first > 0 ? first : step;
    }
  }
  free(psf);
  return 0;
}
