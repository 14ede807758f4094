/* SPDX-License-Identifier: BSD-3-Clause */
/* LABEL: long. The Legendre stage by matrix products against that by multiply-adds, on every device: where
 * there are no tensor cores, their products are imitated. */
#include "device/every.h"
#include "sphere/compare.h"
#include "sphere/legendre/gpu.h"
#include "sphere/sht/gpu_plan.h"

enum { ADDED, PRODUCTS, PLANS, NSIDE = 64, LMAX = 191 };

typedef struct subject {
  kugel_ctx *ctx;
  kugel__device *device;
  kugel_sht *plan;
  int maps;
  int64_t na, nl; // numbers of alm, doubles of coefficients
} subject;

static kugel__mem room(const subject *t, size_t bytes)
{
  kugel__mem m = {NULL, 0};
  CHECK_OK(kugel_device_alloc(t->ctx, bytes, &m.base));
  CHECK_OK(kugel__device_fill(t->device, m, 0, bytes, NULL));
  return m;
}

/* One plan's coefficients of random alm, and alm of random coefficients, as doubles. */
static void run(const subject *t, int which, double *coefs, double *back)
{
  bool products = which == PRODUCTS;
  int warps = products ? 8 : 4; // sums of 8 series in 8 warps would take more than a block's shared memory
  kugel__leg_gpu_tuning u = {{2, 2}, {2, warps}, {1, 1}, {products, products}};
  if (!t->device->info.is_gpu)
    u.warps[0] = u.warps[1] = 1;
  kugel__leg_gpu *leg = NULL;
  CHECK_OK(kugel__leg_gpu_create_batch(t->ctx, t->maps, t->plan->gpu->leg, &u, &leg));
  if (!leg)
    return;
  kugel__mem alm = room(t, (size_t)t->na * 8), out = room(t, (size_t)t->nl * 8),
             work = room(t, kugel__leg_gpu_work(leg));
  double *numbers = malloc((size_t)t->na * 8);
  double *wide = malloc((size_t)t->nl * 8);
  uint64_t state = 1;
  for (int64_t i = 0; i < t->na; i++)
    numbers[i] = check_random(&state);
  for (int64_t i = 0; i < t->nl; i++)
    wide[i] = check_random(&state);
  CHECK_OK(kugel_device_upload(t->ctx, alm.base, 0, numbers, (size_t)t->na * 8, NULL));
  kugel__leg_gpu_job job = {.alm = alm, .leg = out, .work = work};
  CHECK_OK(kugel__leg_gpu_synth(leg, &job, &t->device->queue));
  CHECK_OK(t->device->ops->wait(&t->device->queue));
  CHECK_OK(kugel_device_download(t->ctx, coefs, out.base, 0, (size_t)t->nl * 8, NULL));
  CHECK_OK(kugel_device_upload(t->ctx, out.base, 0, wide, (size_t)t->nl * 8, NULL));
  CHECK_OK(kugel__leg_gpu_adjoint(leg, &job, &t->device->queue));
  CHECK_OK(t->device->ops->wait(&t->device->queue));
  CHECK_OK(kugel_device_download(t->ctx, numbers, alm.base, 0, (size_t)t->na * 8, NULL));
  for (int64_t i = 0; i < t->na; i++)
    back[i] = numbers[i];
  free(numbers);
  free(wide);
  kugel_device_free(t->ctx, alm.base);
  kugel_device_free(t->ctx, out.base);
  kugel_device_free(t->ctx, work.base);
  kugel__leg_gpu_destroy(leg);
}

static void check_mode(kugel_ctx *ctx, kugel_sht_mode mode, int maps)
{
  subject t = {.ctx = ctx, .device = kugel__ctx_device(ctx), .maps = maps};
  kugel_grid *grid = NULL;
  kugel_grid_opts go = {.size = sizeof go, .kind = KUGEL_GRID_HEALPIX, .nside = NSIDE};
  CHECK_OK(kugel_grid_create(NULL, &go, &grid));
  kugel_sht_opts o = {.size = sizeof o, .grid = grid, .lmax = LMAX, .mode = mode};
  o.spin = mode == KUGEL_SHT_SPIN ? 2 : 0;
  CHECK_OK(kugel_sht_create(ctx, &o, &t.plan));
  if (t.plan) {
    t.na = 2 * maps * t.plan->n_alm * t.plan->nalm;
    t.nl = 4 * maps * t.plan->n_map * (LMAX + 1) * kugel__leg_gpu_row(t.plan->gpu->leg);
    double *coefs[PLANS], *back[PLANS];
    for (int i = 0; i < PLANS; i++) {
      coefs[i] = calloc((size_t)t.nl, 8);
      back[i] = calloc((size_t)t.na, 8);
      run(&t, i, coefs[i], back[i]);
    }
    double there = difference(t.nl, coefs[PRODUCTS], coefs[ADDED]),
           here = difference(t.na, back[PRODUCTS], back[ADDED]);
    printf("  mode %d, %d maps: synthesis %.1e adjoint %.1e\n", (int)mode, maps, there, here);
    CHECK_LE(there, 1e-14);
    CHECK_LE(here, 1e-14);
    for (int i = 0; i < PLANS; i++) {
      free(coefs[i]);
      free(back[i]);
    }
  }
  kugel_sht_destroy(t.plan);
  kugel_grid_destroy(grid);
}

int main(void)
{
  kugel_device_info info;
  for (int i = 0; every_device(&i, true, &info);) {
    CASE(every_title(&info, "matrix products"))
    {
      kugel_ctx *ctx = NULL;
      kugel_ctx_opts o = {.size = sizeof o, .device = info.name};
      if (info.is_gpu && info.compute_capability < 90) // OpenCL on processors does what they do by loops
        SKIP("no tensor cores of compute capability 9.0");
      else {
        CHECK_OK(kugel_ctx_create(&o, &ctx));
        if (ctx) {
          check_mode(ctx, KUGEL_SHT_SCALAR, 1);
          check_mode(ctx, KUGEL_SHT_SCALAR, 8);
          for (int maps = 4; info.is_gpu && maps >= 2; maps /= 2) // elsewhere compilers take too long
            check_mode(ctx, maps == 4 ? KUGEL_SHT_SPIN : KUGEL_SHT_TEB, maps);
        }
        kugel_ctx_destroy(ctx);
      }
    }
  }
  END();
}
