/* SPDX-License-Identifier: BSD-3-Clause */
/* LABEL: long. Kernels that vary with depth on every device: resident and in tiles, against direct sums in long double; adjoints; images and
 * kernels of one plane; a stack deeper than the kernels reach; every failure. */
#include "device/every.h"
#include "device/faults.h"
#include "volume/depth.h"

static double image[40 * 6 * 5], kernel[2 * 3 * 3 * 3], out[2][40 * 6 * 5];

// A plane is what axis 0 has one point for: lines along it are made longer.
static void one_plane(kugel_ctx *ctx)
{
  for (int b = KUGEL_BOUNDARY_ZERO; b <= KUGEL_BOUNDARY_PERIODIC; b += KUGEL_BOUNDARY_PERIODIC) {
    problem p = {.n = {1, 6, 5},
                 .k = {1, 3, 3},
                 .centre = {0, 1, 1},
                 .extent = KUGEL_CONV_SAME,
                 .boundary = (kugel_boundary)b};
    depth_agrees(ctx, &p, KUGEL_VOLUME_RESIDENT, false);
  }
}

// Tiles far from a kernel's planes leave it out; integers in and out; the CPU's plan is the truth.
static void deep(kugel_ctx *ctx)
{
  static const double at[2] = {4, 9};
  int64_t n[3] = {40, 6, 5}, k[3] = {3, 3, 3}, tile[3] = {4, 6, 5};
  kugel_volume_opts o = {sizeof o, .extent = KUGEL_CONV_SAME, .boundary = KUGEL_BOUNDARY_UNKNOWN,
                         .depths = 2};
  o.depth = at;
  for (int device = 0; device < 2; device++) {
    kugel_volume *plan = NULL;
    o.engine = device ? KUGEL_VOLUME_TILES : KUGEL_VOLUME_RESIDENT;
    o.tile = device ? tile : NULL;
    CHECK_OK(kugel_volume_create(device ? ctx : NULL, 3, n, k, KUGEL_ARRAY(kernel, KUGEL_F64, 2, 3, 3, 3), &o,
                                 &plan));
    CHECK_OK(kugel_volume_execute(plan, KUGEL_ARRAY(image, KUGEL_F64, 40, 6, 5),
                                  KUGEL_ARRAY(out[device], KUGEL_F64, 40, 6, 5), NULL, NULL));
    kugel_volume_destroy(plan);
  }
  double worst = 0;
  for (int i = 0; i < 40 * 6 * 5; i++)
    worst = fmax(worst, fabs(out[0][i] - out[1][i]));
  CHECK_LE(worst, 1e-13);
}

static kugel_status once(kugel_ctx *ctx, void *engine)
{
  int64_t n[3] = {8, 6, 5}, k[3] = {3, 3, 3}, tile[3] = {4, 6, 5};
  kugel_volume_opts o = {
      sizeof o,    .extent = KUGEL_CONV_SAME, .engine = *(const kugel_volume_engine *)engine, .tile = tile,
      .depths = 2, .depth = depth_planes};
  kugel_volume *plan = NULL;
  kugel_status s = kugel_volume_create(ctx, 3, n, k, KUGEL_ARRAY(kernel, KUGEL_F64, 2, 3, 3, 3), &o, &plan);
  if (!s)
    s = kugel_volume_execute(plan, KUGEL_ARRAY(image, KUGEL_F64, 8, 6, 5),
                             KUGEL_ARRAY(out[0], KUGEL_F64, 8, 6, 5), NULL, NULL);
  kugel_volume_destroy(plan);
  return s;
}

static void faults(kugel_ctx *ctx, kugel_volume_engine engine)
{
  sweep_memory(ctx, INT64_MAX, once, &engine);
  sweep_driver(ctx, INT64_MAX, once, &engine);
}

int main(void)
{
  uint64_t seed = 8;
  for (size_t i = 0; i < sizeof image / sizeof *image; i++)
    image[i] = check_random(&seed);
  for (size_t i = 0; i < sizeof kernel / sizeof *kernel; i++)
    kernel[i] = check_random(&seed) + 1.2;
  kugel_device_info info;
  for (int i = 0; every_device(&i, true, &info);) {
    kugel_ctx *ctx = NULL;
    bool all = every_variant(&info); // or few problems: on CPUs a kernel takes a second to compile
    CHECK_OK(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = info.name}, &ctx));
    CASE(every_title(&info, "resident: extents and boundaries, real and complex, adjoints"))
    depth_all_of(ctx, KUGEL_VOLUME_RESIDENT, false, all ? 1 : 31);
    CASE(every_title(&info, "tiles"))
    depth_all_of(ctx, KUGEL_VOLUME_TILES, false, all ? 1 : 29);
    CASE(every_title(&info, "floats"))
    depth_all_of(ctx, KUGEL_VOLUME_RESIDENT, true, all ? 3 : 60);
    CASE(every_title(&info, "one plane, a deep stack"))
    one_plane(ctx);
    deep(ctx);
    CASE(every_title(&info, "faults"))
    faults(ctx, KUGEL_VOLUME_RESIDENT);
    faults(ctx, KUGEL_VOLUME_TILES);
    kugel_ctx_destroy(ctx);
  }
  END();
}
