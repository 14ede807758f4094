/* SPDX-License-Identifier: BSD-3-Clause */
/* LABEL: long. What a user of transforms on a device may do: batches of 66, a hundred shapes in turn, two
 * host threads, two queues, lmax = 3 nside - 1, adjoints to 1e-14, a thousand plans that leave nothing
 * behind. Small on devices that are no GPUs. */
#include <pthread.h>
#include "device/every.h"
#include "sphere/compare.h"
#include "sphere/info.h"
#include <kugel/sphere.h>

typedef struct transform {
  kugel_ctx *ctx;
  kugel_device device;
  kugel_sht *plan;
  int64_t batch, n_alm, nalm, n_map, npix;
  void *alm, *map; // device memory
} transform;

static int64_t alms(const transform *t)
{
  return t->batch * t->n_alm * t->nalm;
}

static int64_t pixels(const transform *t)
{
  return t->batch * t->n_map * t->npix;
}

// Numbers that repeat, but not from set to set.
static double *random_alm(const transform *t)
{
  enum { PERIOD = 1000003 };
  int64_t n = 2 * alms(t);
  double *a = malloc((size_t)n * 8);
  for (int64_t i = 0; i < n; i++)
    a[i] = i < PERIOD ? check_random(&seed) : a[i - PERIOD];
  return a;
}

/* A plan of nside and arrays for `batch` sets of random alm. */
static bool open_transform(kugel_ctx *ctx, const kugel_device_info *info, int64_t nside, int64_t lmax,
                           kugel_sht_mode mode, int64_t batch, int64_t max_memory, transform *t)
{
  *t = (transform){.ctx = ctx, .device = info->device, .batch = batch};
  kugel_grid *grid = NULL;
  kugel_grid_opts go = {.size = sizeof go, .kind = KUGEL_GRID_HEALPIX, .nside = nside};
  CHECK_OK(kugel_grid_create(NULL, &go, &grid));
  kugel_sht_opts o = {.size = sizeof o, .grid = grid, .lmax = lmax, .mode = mode};
  o.spin = mode == KUGEL_SHT_SPIN ? 2 : 0;
  CHECK_OK(kugel_ctx_limit_memory(ctx, (uint64_t)max_memory));
  CHECK_OK(kugel_sht_create(ctx, &o, &t->plan));
  CHECK_OK(kugel_ctx_limit_memory(ctx, 0));
  kugel_grid_destroy(grid);
  if (!t->plan)
    return false;
  t->n_alm = t->n_map = mode == KUGEL_SHT_SPIN ? 2 : mode == KUGEL_SHT_TEB ? 3 : 1;
  t->nalm = (lmax + 1) * (lmax + 2) / 2;
  t->npix = 12 * nside * nside;
  double *a = random_alm(t);
  CHECK_OK(kugel_device_alloc(ctx, (size_t)alms(t) * 16, &t->alm));
  CHECK_OK(kugel_device_alloc(ctx, (size_t)pixels(t) * 8, &t->map));
  CHECK_OK(kugel_device_upload(ctx, t->alm, 0, a, (size_t)alms(t) * 16, NULL));
  free(a);
  return true;
}

static void close_transform(transform *t)
{
  kugel_device_free(t->ctx, t->alm);
  kugel_device_free(t->ctx, t->map);
  kugel_sht_destroy(t->plan);
}

/* Synthesis of `count` sets from `first` on into the map's first ones, or back into all of alm. */
static kugel_status synthesis(const transform *t, int64_t first, int64_t count, kugel_queue *queue)
{
  kugel_array a = *KUGEL_ARRAY(t->alm, KUGEL_C128, count, t->n_alm, t->nalm),
              m = *KUGEL_ARRAY(t->map, KUGEL_F64, count, t->n_map, t->npix);
  a.device = m.device = t->device;
  a.byte_offset = (uint64_t)(first * t->n_alm * t->nalm) * 16;
  return kugel_sht_synthesis(t->plan, &a, &m, queue);
}

static kugel_status adjoint(const transform *t, kugel_queue *queue)
{
  kugel_array a = *KUGEL_ARRAY(t->alm, KUGEL_C128, t->batch, t->n_alm, t->nalm),
              m = *KUGEL_ARRAY(t->map, KUGEL_F64, t->batch, t->n_map, t->npix);
  a.device = m.device = t->device;
  return kugel_sht_synthesis_adjoint(t->plan, &m, &a, queue);
}

static double *map_of(const transform *t, int64_t from, int64_t sets)
{
  int64_t n = t->n_map * t->npix;
  double *m = malloc((size_t)(sets * n) * 8);
  CHECK_OK(kugel_device_download(t->ctx, m, t->map, (size_t)(from * n) * 8, (size_t)(sets * n) * 8, NULL));
  return m;
}

/* ---- batches ---- */

/* 66 maps: those at the ends of groups as one map alone gives them. */
static void batch_of_66(kugel_ctx *ctx, const kugel_device_info *info, int64_t max_memory)
{
  enum { BATCH = 66 };
  static const int64_t picked[] = {0, 7, 8, 63, 65};
  int64_t nside = info->is_gpu ? 1024 : 16;
  transform t;
  if (!open_transform(ctx, info, nside, 2 * nside, KUGEL_SHT_SCALAR, BATCH, max_memory, &t))
    return;
  double *got[5];
  uint64_t held = 0;
  int64_t parts = 0;
  CHECK_OK(synthesis(&t, 0, BATCH, NULL));
  CHECK_OK(sht_memory(t.plan, &held, &parts));
  CHECK(!max_memory || held <= (uint64_t)max_memory);
  printf("  nside %lld: %lld parts, %.1f MB\n", (long long)nside, (long long)parts, (double)held / 1e6);
  for (int i = 0; i < 5; i++)
    got[i] = map_of(&t, picked[i], 1);
  for (int i = 0; i < 5; i++) {
    CHECK_OK(synthesis(&t, picked[i], 1, NULL));
    double *want = map_of(&t, 0, 1);
    CHECK_LE(difference(t.npix, got[i], want), 1e-13);
    free(want);
    free(got[i]);
  }
  close_transform(&t);
}

/* ---- shapes ---- */

static void compare_with_cpu(kugel_ctx *ctx, const kugel_device_info *info, int64_t nside, int64_t lmax,
                             kugel_sht_mode mode, int64_t batch)
{
  transform t;
  kugel_ctx *cpu = NULL;
  kugel_ctx_opts o = {.size = sizeof o};
  if (!open_transform(ctx, info, nside, lmax, mode, batch, 0, &t))
    return;
  CHECK_OK(kugel_ctx_create(&o, &cpu));
  kugel_grid *grid = NULL;
  kugel_sht *plan = NULL;
  kugel_grid_opts go = {.size = sizeof go, .kind = KUGEL_GRID_HEALPIX, .nside = nside};
  CHECK_OK(kugel_grid_create(NULL, &go, &grid));
  kugel_sht_opts so = {.size = sizeof so, .grid = grid, .lmax = lmax, .mode = mode};
  so.spin = mode == KUGEL_SHT_SPIN ? 2 : 0;
  CHECK_OK(kugel_sht_create(cpu, &so, &plan));
  double *a = malloc((size_t)alms(&t) * 16), *want = malloc((size_t)pixels(&t) * 8);
  CHECK_OK(kugel_device_download(ctx, a, t.alm, 0, (size_t)alms(&t) * 16, NULL));
  CHECK_OK(kugel_sht_synthesis(plan, KUGEL_ARRAY(a, KUGEL_C128, batch, t.n_alm, t.nalm),
                               KUGEL_ARRAY(want, KUGEL_F64, batch, t.n_map, t.npix), NULL));
  CHECK_OK(synthesis(&t, 0, batch, NULL));
  double *got = map_of(&t, 0, batch);
  CHECK_LE(difference(pixels(&t), got, want), 1e-13 * sqrt(fmax((double)lmax, 100) / 100));
  free(a);
  free(want);
  free(got);
  kugel_sht_destroy(plan);
  kugel_grid_destroy(grid);
  kugel_ctx_destroy(cpu);
  close_transform(&t);
}

static void hundred_shapes(kugel_ctx *ctx, const kugel_device_info *info)
{
  for (int i = 0; i < 100; i++) {
    int64_t nside = 1 + i * 7 % 12, lmax = i * 5 % (3 * nside);
    compare_with_cpu(ctx, info, nside, lmax, (kugel_sht_mode)(i % 3), 1 + i % 5);
  }
}

/* ---- threads and queues ---- */

enum { REPEATS = 8 };

typedef struct worker {
  const transform *t;
  kugel_queue *queue;
  double *want;
  int failures;
} worker;

static void *work(void *arg)
{
  worker *w = arg;
  const transform *t = w->t;
  for (int i = 0; i < REPEATS; i++) {
    w->failures += synthesis(t, 0, t->batch, w->queue) != KUGEL_OK;
    w->failures += w->queue && kugel_queue_wait(w->queue) != KUGEL_OK;
    double *got = map_of(t, 0, t->batch);
    w->failures += memcmp(got, w->want, (size_t)pixels(t) * 8) != 0;
    free(got);
  }
  return NULL;
}

/* Two threads of two plans, then of one plan with two pairs of arrays: the same bits as one after the other.
 */
static void two_threads(kugel_ctx *ctx, const kugel_device_info *info, bool queues)
{
  transform t[2], shared[2];
  int64_t nside = info->is_gpu ? 256 : 16;
  kugel_queue *queue[2] = {NULL, NULL};
  if (!open_transform(ctx, info, nside, 2 * nside, KUGEL_SHT_SCALAR, 9, 0, &t[0]) ||
      !open_transform(ctx, info, nside, nside, KUGEL_SHT_SPIN, 5, 0, &t[1]))
    return;
  for (int i = 0; i < 2 && queues; i++)
    CHECK_OK(kugel_queue_create(ctx, &queue[i]));
  for (int round = 0; round < 2; round++) {
    worker w[2];
    pthread_t thread[2];
    void *memory[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++) {
      shared[i] = t[round ? 0 : i];
      if (round) {
        CHECK_OK(kugel_device_alloc(ctx, (size_t)pixels(&shared[i]) * 8, &memory[i]));
        shared[i].map = memory[i];
        shared[i].batch = 9 - i;
      }
      CHECK_OK(synthesis(&shared[i], 0, shared[i].batch, NULL));
      w[i] = (worker){.t = &shared[i], .queue = queue[i], .want = map_of(&shared[i], 0, shared[i].batch)};
    }
    for (int i = 0; i < 2; i++)
      CHECK(!pthread_create(&thread[i], NULL, work, &w[i]));
    for (int i = 0; i < 2; i++) {
      pthread_join(thread[i], NULL);
      CHECK_IS(w[i].failures, 0);
      free(w[i].want);
      kugel_device_free(ctx, memory[i]);
    }
  }
  for (int i = 0; i < 2; i++) {
    kugel_queue_destroy(queue[i]);
    close_transform(&t[i]);
  }
}

// Two plans, their work queued in turn on two queues, waited for at the end.
static void two_queues(kugel_ctx *ctx, const kugel_device_info *info)
{
  transform t[2];
  kugel_queue *queue[2];
  double *want[2];
  int64_t nside = info->is_gpu ? 256 : 16;
  if (!open_transform(ctx, info, nside, 2 * nside, KUGEL_SHT_SCALAR, 8, 0, &t[0]) ||
      !open_transform(ctx, info, nside, 2 * nside, KUGEL_SHT_TEB, 2, 0, &t[1]))
    return;
  for (int i = 0; i < 2; i++) {
    CHECK_OK(kugel_queue_create(ctx, &queue[i]));
    CHECK_OK(synthesis(&t[i], 0, t[i].batch, NULL));
    want[i] = map_of(&t[i], 0, t[i].batch);
  }
  for (int k = 0; k < REPEATS; k++)
    for (int i = 0; i < 2; i++)
      CHECK_OK(synthesis(&t[i], 0, t[i].batch, queue[(i + k) % 2]));
  for (int i = 0; i < 2; i++)
    CHECK_OK(kugel_queue_wait(queue[i]));
  for (int i = 0; i < 2; i++) {
    double *got = map_of(&t[i], 0, t[i].batch);
    CHECK(!memcmp(got, want[i], (size_t)pixels(&t[i]) * 8));
    free(got);
    free(want[i]);
    kugel_queue_destroy(queue[i]);
    close_transform(&t[i]);
  }
}

/* ---- adjoints ---- */

// <S a, f> of the map's pixels and <a, S^T f> of the coefficients; m0: of alm with m = 0 alone.
static void adjoint_dots(kugel_ctx *ctx, const kugel_device_info *info, kugel_sht_mode mode, bool m0)
{
  int64_t nside = info->is_gpu ? 128 : 16, lmax = 3 * nside - 1;
  transform t;
  if (!open_transform(ctx, info, nside, lmax, mode, 3, 0, &t))
    return;
  double *a = random_alm(&t), *f = malloc((size_t)pixels(&t) * 8), *back = malloc((size_t)alms(&t) * 16);
  long double left = 0, right = 0, size = 0;
  for (int64_t i = 0; i < 2 * alms(&t); i++) {
    int64_t at = i / 2 % t.nalm;
    if ((m0 && at > lmax) || (at <= lmax && i % 2)) // of m = 0 the imaginary parts are nothing
      a[i] = 0;
  }
  for (int64_t i = 0; i < pixels(&t); i++)
    f[i] = check_random(&seed);
  CHECK_OK(kugel_device_upload(ctx, t.alm, 0, a, (size_t)alms(&t) * 16, NULL));
  CHECK_OK(synthesis(&t, 0, t.batch, NULL));
  double *map = map_of(&t, 0, t.batch);
  CHECK_OK(kugel_device_upload(ctx, t.map, 0, f, (size_t)pixels(&t) * 8, NULL));
  CHECK_OK(adjoint(&t, NULL));
  CHECK_OK(kugel_device_download(ctx, back, t.alm, 0, (size_t)alms(&t) * 16, NULL));
  for (int64_t i = 0; i < pixels(&t); i++) {
    left += (long double)map[i] * (long double)f[i];
    size += (long double)map[i] * (long double)map[i];
  }
  for (int64_t i = 0; i < 2 * alms(&t); i++)
    right += (i / 2 % t.nalm <= lmax ? 1 : 2) * (long double)a[i] * (long double)back[i];
  size = sqrtl(size * (long double)pixels(&t) / 3); // |S a| |f|
  CHECK_LE((double)(fabsl(left - right) / size), 1e-14);
  free(a);
  free(f);
  free(back);
  free(map);
  close_transform(&t);
}

/* ---- memory ---- */

static void thousand_plans(kugel_ctx *ctx, const kugel_device_info *info)
{
  uint64_t before = 0, after = 0, device_before = 0, device_after = 0;
  for (int i = 0; i < 1000; i++) {
    transform t;
    if (i == 8) { // what is kept for the next plan is there
      kugel_ctx_trim(ctx);
      kugel_ctx_memory(ctx, &before, NULL);
      CHECK_OK(kugel_device_usage(ctx, &device_before, NULL));
    }
    if (!open_transform(ctx, info, 2, 4, KUGEL_SHT_SCALAR, 9, 0, &t))
      return;
    if (i % 50 == 0)
      CHECK_OK(synthesis(&t, 0, t.batch, NULL));
    close_transform(&t);
  }
  kugel_ctx_trim(ctx);
  kugel_ctx_memory(ctx, &after, NULL);
  CHECK_OK(kugel_device_usage(ctx, &device_after, NULL));
  CHECK(after == before);
  CHECK(device_after == device_before);
}

static void accept(kugel_ctx *ctx, const kugel_device_info *info)
{
  int64_t nside = info->is_gpu ? 256 : 16;
  CASE(every_title(info, "a batch of 66"))
  batch_of_66(ctx, info, 0);
  CASE(every_title(info, "a batch of 66 in little memory"))
  for (int64_t limit = 1; limit <= 2; limit++) // in parts, or without batches
    batch_of_66(ctx, info, limit * (info->is_gpu ? (int64_t)400 << 20 : 300 << 10));
  CASE(every_title(info, "a hundred shapes in turn"))
  hundred_shapes(ctx, info);
  CASE(every_title(info, "lmax = 3 nside - 1"))
  for (int mode = 0; mode < 3; mode++)
    compare_with_cpu(ctx, info, nside, 3 * nside - 1, (kugel_sht_mode)mode, 3);
  CASE(every_title(info, "two host threads"))
  two_threads(ctx, info, false);
  CASE(every_title(info, "two host threads with queues"))
  two_threads(ctx, info, true);
  CASE(every_title(info, "two queues"))
  two_queues(ctx, info);
  CASE(every_title(info, "adjoints"))
  for (int mode = 0; mode < 3; mode++) {
    adjoint_dots(ctx, info, (kugel_sht_mode)mode, false);
    adjoint_dots(ctx, info, (kugel_sht_mode)mode, true);
  }
  CASE(every_title(info, "a thousand plans"))
  thousand_plans(ctx, info);
}

int main(void)
{
  kugel_device_info info;
  for (int i = 0; every_device(&i, true, &info);) {
    kugel_ctx *ctx = NULL;
    kugel_ctx_opts o = {.size = sizeof o, .device = info.name};
    if (info.device.type == KUGEL_CPU)
      continue;
    CASE(every_title(&info, "a context"))
    CHECK_OK(kugel_ctx_create(&o, &ctx));
    if (ctx)
      accept(ctx, &info);
    kugel_ctx_destroy(ctx);
  }
  END();
}
