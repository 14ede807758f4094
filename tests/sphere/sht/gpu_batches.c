/* SPDX-License-Identifier: BSD-3-Clause */
/* LABEL: long. Batches of maps on every GPU: equal to one map after another, and their times a map, device
 * memory to device memory, by the device's events. --kernels: of each kernel; --sweep: of the Legendre stage
 * cut in other ways; --any: devices that are no GPUs too, with small transforms. */
#include "device/every.h"
#include "device/spy.h"
#include "sphere/legendre/gpu.h"
#include "sphere/sht/gpu.h"
#include "sphere/sht/gpu_plan.h"

enum { WARM = 2, RUNS = 7, BATCH = 8 };
static bool any, want_kernels, want_sweep, scalar;
static const char *const modes[] = {"scalar", "spin", "TEB"};

typedef struct batch {
  kugel_ctx *ctx;
  kugel__device *device;
  kugel_grid *grid;
  kugel_sht *plan;
  int64_t na, nm;                 // numbers of one map's alm and of its map
  void *alm[2], *map[2], *out[2]; // in double and in single precision; out: alm that come back
  const kugel__leg_gpu *leg;      // alone, if not NULL
  kugel__mem coefs, work;
  bool f32, back;
} batch;

static kugel_array view(const batch *b, int64_t *shape, bool is_map)
{
  shape[0] = BATCH;
  shape[1] = is_map ? b->plan->n_map : b->plan->n_alm;
  shape[2] = is_map ? b->plan->npix : b->plan->nalm;
  kugel_array a = *KUGEL_ARRAY(NULL, KUGEL_F64, 1, 1, 1);
  if (is_map)
    a.dtype = b->f32 ? KUGEL_F32 : KUGEL_F64;
  else
    a.dtype = b->f32 ? KUGEL_C64 : KUGEL_C128;
  a.shape = shape;
  a.strides = NULL;
  a.data = (is_map ? b->map : b->back ? b->out : b->alm)[b->f32];
  a.device = b->device->info.device;
  return a;
}

static void queue_once(const batch *b)
{
  int64_t shape[2][3];
  kugel_queue *queue = &b->device->queue;
  kugel__leg_gpu_job job = {
      .alm = {(b->back ? b->out : b->alm)[b->f32], 0}, .leg = b->coefs, .work = b->work, .f32 = b->f32};
  if (b->leg) {
    CHECK_OK(b->back ? kugel__leg_gpu_adjoint(b->leg, &job, queue)
                     : kugel__leg_gpu_synth(b->leg, &job, queue));
    return;
  }
  kugel_array alm = view(b, shape[0], false), map = view(b, shape[1], true);
  CHECK_OK(b->back ? kugel_sht_analysis(b->plan, &map, &alm, queue)
                   : kugel_sht_synthesis(b->plan, &alm, &map, queue));
}

static int by_value(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median_ms(const batch *b)
{
  const kugel__device_ops *ops = b->device->ops;
  double ms[RUNS];
  for (int i = -WARM; i < RUNS; i++) {
    kugel__event *from = NULL, *to = NULL;
    double seconds = 0;
    CHECK_OK(ops->record(&b->device->queue, &from));
    queue_once(b);
    CHECK_OK(ops->record(&b->device->queue, &to));
    CHECK_OK(ops->elapsed(from, to, &seconds));
    ops->event_free(from);
    ops->event_free(to);
    if (i >= 0)
      ms[i] = seconds * 1e3;
  }
  qsort(ms, RUNS, sizeof *ms, by_value);
  return ms[RUNS / 2];
}

static bool open_batch(kugel_ctx *ctx, kugel_sht_mode mode, batch *b)
{
  *b = (batch){.ctx = ctx, .device = kugel__ctx_device(ctx)};
  int64_t nside = any ? 16 : 1024;
  kugel_grid_opts go = {.size = sizeof go, .kind = KUGEL_GRID_HEALPIX, .nside = nside};
  CHECK_OK(kugel_grid_create(NULL, &go, &b->grid));
  kugel_sht_opts o = {.size = sizeof o,
                      .grid = b->grid,
                      .lmax = 2 * nside,
                      .mode = mode,
                      .spin = mode == KUGEL_SHT_SPIN ? 2 : 0,
                      .bad_pixels = KUGEL_BAD_PASS};
  CHECK_OK(kugel_sht_create(ctx, &o, &b->plan));
  if (!b->plan)
    return false;
  b->na = 2 * b->plan->n_alm * b->plan->nalm;
  b->nm = b->plan->n_map * b->plan->npix;
  double *x = malloc((size_t)(BATCH * b->na) * 8);
  float *f = malloc((size_t)(BATCH * b->na) * 4);
  uint64_t seed = 1;
  for (int64_t i = 0; i < BATCH * b->na; i++) {
    f[i] = (float)check_random(&seed);
    x[i] = (double)f[i];
  }
  for (int k = 0; k < 2; k++) {
    size_t bytes = k ? 4 : 8;
    CHECK_OK(kugel_device_alloc(ctx, (size_t)(BATCH * b->na) * bytes, &b->alm[k]));
    CHECK_OK(kugel_device_alloc(ctx, (size_t)(BATCH * b->na) * bytes, &b->out[k]));
    CHECK_OK(kugel_device_alloc(ctx, (size_t)(BATCH * b->nm) * bytes, &b->map[k]));
    CHECK_OK(
        kugel_device_upload(ctx, b->alm[k], 0, k ? (void *)f : x, (size_t)(BATCH * b->na) * bytes, NULL));
  }
  free(x);
  free(f);
  return true;
}

static void close_batch(batch *b)
{
  for (int k = 0; k < 2; k++) {
    kugel_device_free(b->ctx, b->alm[k]);
    kugel_device_free(b->ctx, b->out[k]);
    kugel_device_free(b->ctx, b->map[k]);
  }
  kugel_sht_destroy(b->plan);
  kugel_grid_destroy(b->grid);
}

/* ---- as one map after another ---- */

// Relative L2 difference of element i of a batch to what one map gives in double precision.
static double difference(const batch *b, const void *got, const double *want, int64_t n, int i)
{
  void *mine = malloc((size_t)n * 8);
  double d2 = 0, w2 = 0;
  CHECK_OK(kugel_device_download(b->ctx, mine, (void *)(uintptr_t)got, (size_t)(i * n) * (b->f32 ? 4 : 8),
                                 (size_t)n * (b->f32 ? 4 : 8), NULL));
  for (int64_t k = 0; k < n; k++) {
    double g = b->f32 ? (double)((float *)mine)[k] : ((double *)mine)[k];
    d2 += (g - want[k]) * (g - want[k]);
    w2 += want[k] * want[k];
  }
  free(mine);
  return sqrt(d2 / w2);
}

// The greater one; NaN is greater than all.
static double worse(double a, double b)
{
  return a >= b || isnan(a) ? a : b;
}

static void compare(batch *b, double bound)
{
  static const int picked[] = {0, BATCH - 1};
  double *want = malloc((size_t)(b->nm > b->na ? b->nm : b->na) * 8), error[2] = {0};
  void *one[2]; // alm, map
  CHECK_OK(kugel_device_alloc(b->ctx, (size_t)b->na * 8, &one[0]));
  CHECK_OK(kugel_device_alloc(b->ctx, (size_t)b->nm * 8, &one[1]));
  b->back = false;
  queue_once(b);
  for (int i = 0; i < 2; i++) {
    int64_t shape[2][3];
    batch single = *b;
    single.f32 = false;
    kugel_array alm = view(&single, shape[0], false), map = view(&single, shape[1], true);
    shape[0][0] = shape[1][0] = 1;
    alm.byte_offset = (uint64_t)(picked[i] * b->na) * 8;
    map.data = one[1];
    CHECK_OK(kugel_sht_synthesis(b->plan, &alm, &map, NULL));
    CHECK_OK(kugel_device_download(b->ctx, want, one[1], 0, (size_t)b->nm * 8, NULL));
    error[0] = worse(error[0], difference(b, b->map[b->f32], want, b->nm, picked[i]));
  }
  b->back = true;
  queue_once(b);
  for (int i = 0; i < 2; i++) {
    int64_t shape[2][3];
    batch single = *b;
    single.f32 = false;
    kugel_array alm = view(&single, shape[0], false), map = view(&single, shape[1], true);
    shape[0][0] = shape[1][0] = 1;
    alm.data = one[0];
    map.data = b->map[b->f32];
    map.dtype = b->f32 ? KUGEL_F32 : KUGEL_F64;
    map.byte_offset = (uint64_t)(picked[i] * b->nm) * (b->f32 ? 4 : 8);
    if (b->f32) { // both arrays are of one precision: the same numbers as doubles
      float *narrow = malloc((size_t)b->nm * 4);
      double *wide = malloc((size_t)b->nm * 8);
      CHECK_OK(kugel_device_download(b->ctx, narrow, map.data, map.byte_offset, (size_t)b->nm * 4, NULL));
      for (int64_t k = 0; k < b->nm; k++)
        wide[k] = (double)narrow[k];
      CHECK_OK(kugel_device_upload(b->ctx, one[1], 0, wide, (size_t)b->nm * 8, NULL));
      map.data = one[1];
      map.dtype = KUGEL_F64;
      map.byte_offset = 0;
      free(narrow);
      free(wide);
    }
    CHECK_OK(kugel_sht_analysis(b->plan, &map, &alm, NULL));
    CHECK_OK(kugel_device_download(b->ctx, want, one[0], 0, (size_t)b->na * 8, NULL));
    error[1] = worse(error[1], difference(b, b->out[b->f32], want, b->na, picked[i]));
  }
  kugel_device_free(b->ctx, one[0]);
  kugel_device_free(b->ctx, one[1]);
  free(want);
  printf("  errors %.1e %.1e", error[0], error[1]);
  CHECK_LE(error[0], bound);
  CHECK_LE(error[1], bound);
}

/* ---- times ---- */

static void list_kernels(const batch *b)
{
  spy.launches = 0;
  queue_once(b);
  spy_print(b->device);
}

static void time_batch(batch *b, int mode)
{
  for (int f32 = 0; f32 < 2; f32++) {
    double ms[2];
    b->f32 = f32;
    for (int back = 0; back < 2; back++) {
      b->back = back;
      ms[back] = median_ms(b) / BATCH;
    }
    printf("batch of %d %-6s f%d: a map %.3f synthesis %.3f analysis", BATCH, modes[mode], f32 ? 32 : 64,
           ms[0], ms[1]);
    compare(b, f32 ? 1e-6 : 1e-13);
    printf("\n");
    for (int back = 0; want_kernels && back < 2; back++) {
      b->back = back;
      list_kernels(b);
    }
  }
}

/* The Legendre stage of batches, strips x warps x blocks: each line has a way for synthesis and one for the
 * adjoint. */
static void sweep(batch *b, int mode)
{
  static const struct {
    int maps, strips[2], warps[2], blocks[2], products[2];
  } ways[] = {
      {8, {1, 2}, {1, 8}, {8, 1}, {1, 1}},  {8, {2, 2}, {1, 8}, {8, 1}, {1, 1}},
      {8, {1, 1}, {2, 12}, {6, 1}, {1, 1}}, {8, {1, 1}, {1, 4}, {8, 3}, {1, 1}},
      {4, {3, 4}, {1, 8}, {8, 1}, {1, 1}},  {4, {2, 4}, {2, 4}, {4, 2}, {1, 1}},
      {4, {2, 3}, {1, 8}, {8, 1}, {1, 1}},
  };
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
    kugel__leg_gpu *leg = NULL;
    int series = mode == 0 ? 1 : mode == 1 ? 2 : 4, maps = ways[i].maps / series;
    kugel__leg_gpu_tuning u = {{ways[i].strips[0], ways[i].strips[1]},
                               {ways[i].warps[0], ways[i].warps[1]},
                               {ways[i].blocks[0], ways[i].blocks[1]},
                               {ways[i].products[0], ways[i].products[1]}};
    if (!b->device->info.is_gpu)
      u = (kugel__leg_gpu_tuning){{1, 1}, {1, 1}, {1, 1}, {0}};
    if (!maps || kugel__leg_gpu_create_batch(b->ctx, maps, b->plan->gpu->leg, &u, &leg)) {
      printf("  %s\n", maps ? kugel_last_error() : "no map");
      continue;
    }
    int64_t coefs = maps * b->plan->n_map * (b->plan->mmax + 1) * kugel__leg_gpu_row(leg) * 32;
    CHECK_OK(kugel_device_alloc(b->ctx, (size_t)coefs, &b->coefs.base));
    CHECK_OK(kugel_device_alloc(b->ctx, kugel__leg_gpu_work(leg), &b->work.base));
    CHECK_OK(b->device->ops->fill(b->device, b->coefs, 0, (size_t)coefs, &b->device->queue));
    b->leg = leg;
    b->f32 = false;
    printf("  %s %d maps:", modes[mode], maps);
    for (int back = 0; back < 2; back++) {
      b->back = back;
      printf("  %d x %2d x %2d %.3f a map", u.strips[back], u.warps[back], u.blocks[back],
             median_ms(b) / maps);
    }
    printf("\n");
    b->leg = NULL;
    kugel_device_free(b->ctx, b->coefs.base);
    kugel_device_free(b->ctx, b->work.base);
    kugel__leg_gpu_destroy(leg);
  }
}

int main(int argc, char **argv)
{
  kugel_device_info info;
  for (int i = 1; i < argc; i++) {
    want_kernels |= !strcmp(argv[i], "--kernels");
    want_sweep |= !strcmp(argv[i], "--sweep");
    any |= !strcmp(argv[i], "--any");
    scalar |= !strcmp(argv[i], "--scalar");
  }
  for (int i = 0; every_device(&i, true, &info);) {
    CASE(every_title(&info, "batches"))
    {
      kugel_ctx *ctx = NULL;
      kugel_ctx_opts o = {.size = sizeof o, .device = info.name};
      if (!info.is_gpu && !any)
        SKIP("not a GPU");
      else {
        CHECK_OK(kugel_ctx_create(&o, &ctx));
        spy_on(kugel__ctx_device(ctx));
        for (int mode = 0; ctx && mode < (scalar ? 1 : 3); mode++) {
          batch b;
          if (open_batch(ctx, (kugel_sht_mode)mode, &b)) {
            time_batch(&b, mode);
            if (want_sweep)
              sweep(&b, mode);
          }
          close_batch(&b);
        }
        spy_off(kugel__ctx_device(ctx));
        kugel_ctx_destroy(ctx);
      }
    }
  }
  END();
}
