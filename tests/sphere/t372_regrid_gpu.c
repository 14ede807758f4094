/* SPDX-License-Identifier: BSD-3-Clause */
/* ISA: once, LABEL: long: OpenCL compilers take their time. */
/* Regridding on every device present against that on the CPU: host arrays, device arrays, beams, queues. */
#include "device/every.h"
#include "sphere/bump.h"
#include <kugel/device.h>
#include <kugel/regrid.h>

enum { NSIDE = 16, NLAT = 33 };

static kugel_regrid *plan_of(kugel_ctx *ctx, const kugel_grid *from, const kugel_grid *to, double fwhm)
{
  kugel_regrid *p = NULL;
  CHECK_OK(kugel_regrid_create(
      ctx, &(kugel_regrid_opts){.size = sizeof(kugel_regrid_opts), .from = from, .to = to, .fwhm = fwhm},
      &p));
  return p;
}

static void check_device(const kugel_device_info *info)
{
  kugel_ctx *ctx;
  kugel_grid *from, *to;
  kugel_queue *queue;
  CHECK_OK(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = info->name}, &ctx));
  CHECK_OK(kugel_queue_create(ctx, &queue));
  CHECK_OK(kugel_grid_create(
      NULL,
      &(kugel_grid_opts){
          .size = sizeof(kugel_grid_opts), .kind = KUGEL_GRID_GAUSS, .ntheta = NLAT, .nphi = 2 * NLAT},
      &from));
  CHECK_OK(kugel_grid_create(
      NULL, &(kugel_grid_opts){.size = sizeof(kugel_grid_opts), .kind = KUGEL_GRID_HEALPIX, .nside = NSIDE},
      &to));
  int64_t a = kugel_grid_npix(from), b = kugel_grid_npix(to);
  double *in = malloc((size_t)a * 16), *got = malloc((size_t)b * 16), *want = malloc((size_t)b * 16);
  bump_maps(from, NLAT - 1, 0.1, in, NULL, NULL);
  bump_maps(from, NLAT - 1, 0.2, in + a, NULL, NULL);
  void *din, *dout;
  CHECK_OK(kugel_device_alloc(ctx, (size_t)a * 16, &din));
  CHECK_OK(kugel_device_alloc(ctx, (size_t)b * 16, &dout));
  kugel_array *there = KUGEL_ARRAY(din, KUGEL_F64, 2, a), *result = KUGEL_ARRAY(dout, KUGEL_F64, 2, b);
  there->device = result->device = info->device;
  for (int beam = 0; beam < 2; beam++) {
    kugel_regrid *cpu = plan_of(NULL, from, to, 0.1 * beam), *gpu = plan_of(ctx, from, to, 0.1 * beam);
    CHECK_OK(kugel_regrid_execute(cpu, KUGEL_ARRAY(in, KUGEL_F64, 2, a), KUGEL_ARRAY(want, KUGEL_F64, 2, b),
                                  NULL));
    CHECK_OK(
        kugel_regrid_execute(gpu, KUGEL_ARRAY(in, KUGEL_F64, 2, a), KUGEL_ARRAY(got, KUGEL_F64, 2, b), NULL));
    CHECK_LE(bump_error(2 * b, got, want), 1e-14);
    for (int own = 0; own < 2; own++) {
      memset(got, 0, (size_t)b * 16);
      CHECK_OK(kugel_device_upload(ctx, din, 0, in, (size_t)a * 16, NULL));
      CHECK_OK(kugel_regrid_execute(gpu, there, result, own ? queue : NULL));
      CHECK_OK(kugel_device_download(ctx, got, dout, 0, (size_t)b * 16, NULL));
      CHECK_LE(bump_error(2 * b, got, want), 1e-14);
    }
    CHECK_OK(kugel_regrid_execute(gpu, there, KUGEL_ARRAY(got, KUGEL_F64, 2, b), NULL)); // from there to here
    CHECK_LE(bump_error(2 * b, got, want), 1e-14);
    CHECK_IS(kugel_regrid_execute(cpu, there, result, NULL), KUGEL_EDEVICE);
    kugel_regrid_destroy(cpu);
    kugel_regrid_destroy(gpu);
  }
  kugel_device_free(ctx, din);
  kugel_device_free(ctx, dout);
  kugel_queue_destroy(queue);
  kugel_grid_destroy(from);
  kugel_grid_destroy(to);
  kugel_ctx_destroy(ctx);
  free(in), free(got), free(want);
}

int main(void)
{
  kugel_device_info info;
  for (int index = 0; every_device(&index, true, &info);) {
    CASE(every_title(&info, "regridding")) check_device(&info);
  }
  END();
}
