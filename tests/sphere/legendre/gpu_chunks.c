/* SPDX-License-Identifier: BSD-3-Clause */
/* The adjoint of the Legendre stage on a device whose partial sums do not fit at once: chunks of orders side by side have the bits
 * of all orders in one chunk. */
#include "device/every.h"
#include <kugel/alm.h>
#include <kugel/sphere.h>
#include "sphere/legendre/gpu_plan.h"
#include "sphere/sht/gpu_plan.h"

enum { BATCH = 3 };

// Adjoints of a batch, twice: the second one takes over the rooms of the first.
static void adjoint(kugel_ctx *ctx, const kugel_sht_opts *opts, int64_t aim, const double *map, double *alm,
                    int rooms)
{
  kugel_sht *plan = NULL;
  kugel_sht_info info = {.size = sizeof info};
  int64_t before = kugel__leg_gpu_sums_aim;
  kugel__leg_gpu_sums_aim = aim;
  CHECK_OK(kugel_sht_create(ctx, opts, &plan));
  CHECK_OK(kugel_sht_get_info(plan, &info));
  for (int i = 0; i < 2 && plan; i++)
    CHECK_OK(kugel_sht_synthesis_adjoint(
        plan, KUGEL_ARRAY((void *)(uintptr_t)map, KUGEL_F64, BATCH, info.n_maps, info.npix),
        KUGEL_ARRAY(alm, KUGEL_C128, BATCH, info.n_alm_sets, info.nalm), NULL));
  if (plan)
    CHECK(plan->gpu->leg->rooms == rooms);
  kugel_sht_destroy(plan);
  kugel__leg_gpu_sums_aim = before;
}

static void compare(kugel_ctx *ctx, kugel_sht_opts opts)
{
  kugel_sht *plan = NULL;
  kugel_sht_info info = {.size = sizeof info};
  uint64_t seed = 11;
  opts.size = sizeof opts;
  CHECK_OK(kugel_sht_create(NULL, &opts, &plan));
  CHECK_OK(kugel_sht_get_info(plan, &info));
  kugel_sht_destroy(plan);
  int64_t pixels = BATCH * info.n_maps * info.npix;
  size_t bytes = (size_t)(BATCH * info.n_alm_sets * info.nalm) * 16;
  double *map = calloc((size_t)pixels, 8), *whole = calloc(1, bytes), *chunks = calloc(1, bytes);
  for (int64_t i = 0; i < pixels; i++)
    map[i] = check_random(&seed);
  adjoint(ctx, &opts, (int64_t)1 << 30, map, whole, 1);
  for (int64_t aim = 1; aim < 1 << 20; aim *= 60000) { // chunks of one order, of several
    memset(chunks, 0, bytes);
    adjoint(ctx, &opts, aim, map, chunks, 2);
    CHECK(memcmp(whole, chunks, bytes) == 0);
  }
  free(map);
  free(whole);
  free(chunks);
}

int main(void)
{
  kugel_device_info info;
  kugel_grid *grid = NULL;
  CHECK_OK(kugel_grid_create(
      NULL, &(kugel_grid_opts){.size = sizeof(kugel_grid_opts), .kind = KUGEL_GRID_HEALPIX, .nside = 37},
      &grid));
  for (int at = 0; every_device(&at, true, &info);) {
    kugel_ctx *ctx = every_sound_context(&info);
    if (!ctx)
      continue;
    CASE(every_title(&info, "scalar"))
    compare(ctx, (kugel_sht_opts){.grid = grid, .lmax = 90});
    CASE(every_title(&info, "T, E, B"))
    compare(ctx, (kugel_sht_opts){.grid = grid, .lmax = 60, .mode = KUGEL_SHT_TEB});
    kugel_ctx_destroy(ctx);
  }
  kugel_grid_destroy(grid);
  END();
}
