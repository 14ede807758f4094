/* SPDX-License-Identifier: BSD-3-Clause */
/* Volumes on every device beside the CPU: boundaries, extents, types, several kernels, adjoints, arrays on the device. */
#include "check.h"
#include "device/every.h"
#include <kugel/volume.h>

enum { Z = 9, Y = 14, X = 17, KZ = 4, KY = 5, KX = 6, MOST = 2 * 2 * (Z + KZ) * (Y + KY) * (X + KX) };
static double image[2 * Z * Y * X * 2], kernel[2 * KZ * KY * KX * 2], here[2 * MOST], there[2 * MOST];

static double distance(int64_t count)
{
  double worst = 0, scale = 0;
  for (int64_t i = 0; i < count; i++) {
    worst = fmax(worst, fabs(here[i] - there[i]));
    scale = fmax(scale, fabs(here[i]));
  }
  return worst / scale;
}

// Both ways, on the CPU and on the device.
static void compare(kugel_ctx *ctx, const kugel_volume_opts *o)
{
  int64_t n[3] = {Z, Y, X}, k[3] = {KZ, KY, KX};
  int parts = o->complex_data ? 2 : 1, kernels = o->kernels ? o->kernels : 1;
  kugel_dtype t = o->complex_data ? KUGEL_C128 : KUGEL_F64;
  kugel_array *h =
      o->kernels ? KUGEL_ARRAY(kernel, t, kernels, KZ, KY, KX) : KUGEL_ARRAY(kernel, t, KZ, KY, KX);
  kugel_volume_info info = {.size = sizeof info};
  for (int adjoint = 0; adjoint < 2; adjoint++) {
    int64_t count = 0;
    for (int device = 0; device < 2; device++) {
      kugel_volume *plan;
      kugel_volume_opts own = *o;
      own.precision = device ? o->precision : KUGEL_PRECISION_F64;
      CHECK_OK(kugel_volume_create(device ? ctx : NULL, 3, n, k, h, &own, &plan));
      CHECK_OK(kugel_volume_get_info(plan, &info));
      CHECK(device ? info.device_bytes > 0 : info.device_bytes == 0);
      int64_t *m = info.results, results = m[0] * m[1] * m[2] * kernels;
      double *out = device ? there : here;
      kugel_array *x = KUGEL_ARRAY(image, t, Z, Y, X), *y = KUGEL_ARRAY(out, t, Z, Y, X);
      kugel_array *r =
          o->kernels ? KUGEL_ARRAY(out, t, kernels, m[0], m[1], m[2]) : KUGEL_ARRAY(out, t, m[0], m[1], m[2]);
      static double g[2 * MOST];
      for (int64_t i = 0; i < results * parts; i++)
        g[i] = sin((double)(i * i % 1013));
      if (adjoint) {
        kugel_array in = *r;
        in.data = g;
        CHECK_OK(kugel_volume_adjoint(plan, &in, y, NULL, NULL));
      } else {
        CHECK_OK(kugel_volume_execute(plan, x, r, NULL, NULL));
      }
      count = adjoint ? Z * Y * X * parts : results * parts;
      kugel_volume_destroy(plan);
    }
    double f32 = o->boundary == KUGEL_BOUNDARY_UNKNOWN ? 6e-7 : 3e-7;
    CHECK_LE(distance(count), o->precision == KUGEL_PRECISION_F32 ? f32 : 1e-14);
  }
}

static void all_kinds(kugel_ctx *ctx)
{
  for (int b = KUGEL_BOUNDARY_ZERO; b <= KUGEL_BOUNDARY_UNKNOWN; b++)
    for (int e = KUGEL_CONV_FULL; e <= KUGEL_CONV_VALID; e++) {
      int64_t centre[3] = {3, 0, 2};
      if ((b + e) % 3) // fused.c has more
        continue;
      kugel_volume_opts o = {sizeof o, .boundary = (kugel_boundary)b, .extent = (kugel_conv_extent)e,
                             .scale = 0.5};
      o.centre = e ? centre : NULL;
      o.correlate = b % 2;
      o.complex_data = b == KUGEL_BOUNDARY_REFLECT;
      o.kernels = b == KUGEL_BOUNDARY_PERIODIC || (b == KUGEL_BOUNDARY_UNKNOWN && e) ? 2 : 0;
      o.precision = e == KUGEL_CONV_VALID ? KUGEL_PRECISION_F32 : KUGEL_PRECISION_F64;
      compare(ctx, &o);
    }
}

// 16-bit integers, which saturate, on the device, with a batch.
static void integers(kugel_ctx *ctx)
{
  int64_t n[2] = {Y, X}, k[2] = {KY, KX}, clipped[2];
  static uint16_t in[3 * Y * X], out[2][3 * Y * X];
  for (int i = 0; i < 3 * Y * X; i++)
    in[i] = (uint16_t)(i * 7919 % 65536);
  kugel_volume_opts o = {sizeof o, .extent = KUGEL_CONV_SAME, .scale = 0.1};
  for (int device = 0; device < 2; device++) {
    kugel_volume *plan;
    CHECK_OK(
        kugel_volume_create(device ? ctx : NULL, 2, n, k, KUGEL_ARRAY(kernel, KUGEL_F64, KY, KX), &o, &plan));
    kugel_array *x = KUGEL_ARRAY(in, KUGEL_U16, 3, Y, X), *y = KUGEL_ARRAY(out[device], KUGEL_U16, 3, Y, X);
    void *memory[2] = {NULL, NULL};
    if (device) {
      kugel_device_info info = {.size = sizeof info};
      CHECK_OK(kugel_ctx_describe(ctx, &info));
      for (int i = 0; i < 2; i++)
        CHECK_OK(kugel_device_alloc(ctx, sizeof in, &memory[i]));
      CHECK_OK(kugel_device_upload(ctx, memory[0], 0, in, sizeof in, NULL));
      x->data = memory[0];
      y->data = memory[1];
      x->device = y->device = info.device;
    }
    CHECK_OK(kugel_volume_execute(plan, x, y, &clipped[device], NULL));
    if (device)
      CHECK_OK(kugel_device_download(ctx, out[1], memory[1], 0, sizeof in, NULL));
    for (int i = 0; i < 2 && device; i++)
      kugel_device_free(ctx, memory[i]);
    kugel_volume_destroy(plan);
  }
  CHECK(clipped[0] == clipped[1] && clipped[0] > 0);
  int worst = 0; // a result at a half may round either way
  for (int i = 0; i < 3 * Y * X; i++)
    worst = abs(out[0][i] - out[1][i]) > worst ? abs(out[0][i] - out[1][i]) : worst;
  CHECK(worst <= 1);
}

/* Early plans of the process, within a limit: what measures the device's rates holds to it too, and again when the limit
 * rises. */
static void within_limit(kugel_ctx *ctx)
{
  int64_t n[3] = {Z, Y, X}, k[3] = {KZ, KY, KX};
  for (uint64_t limit = 1 << 20; limit <= 4 << 20; limit *= 4) {
    kugel_volume_opts o = {.size = sizeof o};
    kugel_volume_info info = {.size = sizeof info};
    kugel_volume *plan;
    uint64_t peak;
    CHECK_OK(kugel_ctx_limit_memory(ctx, limit));
    CHECK_OK(kugel_volume_create(ctx, 3, n, k, KUGEL_ARRAY(kernel, KUGEL_F64, KZ, KY, KX), &o, &plan));
    CHECK_OK(kugel_volume_get_info(plan, &info));
    CHECK(info.seconds > 0 && info.seconds < 10);
    CHECK_OK(kugel_volume_execute(plan, KUGEL_ARRAY(image, KUGEL_F64, Z, Y, X),
                                  KUGEL_ARRAY(there, KUGEL_F64, Z + KZ - 1, Y + KY - 1, X + KX - 1), NULL,
                                  NULL));
    CHECK_OK(kugel_device_usage(ctx, NULL, &peak));
    printf("  limit %d MiB: peak %.3f MB\n", (int)(limit >> 20), (double)peak / 1e6);
    CHECK(peak >= info.device_bytes && peak <= limit);
    kugel_volume_destroy(plan);
  }
  CHECK_OK(kugel_ctx_limit_memory(ctx, 0));
}

/* Adjoints in float that add up to thousands of terms in a voxel at the edge, where a boundary repeats it, beside doubles: whole
 * and in tiles. */
static void edges(kugel_ctx *ctx)
{
  static const struct {
    int ndim;
    int64_t n[3], k[3], tile[3];
  } list[] = {{3, {4, 14, 23}, {1, 25, 36}, {4, 20, 31}}, {1, {700}, {2430}, {0}}, {1, {1264}, {900}, {500}}};
  static double psf[2430], results[4 * 38 * 58], to[2][4 * 14 * 23];
  uint64_t seed = 5;
  for (int i = 0; i < 2430; i++)
    psf[i] = check_random(&seed) + 1.2;
  for (size_t i = 0; i < sizeof results / sizeof *results; i++)
    results[i] = check_random(&seed) + 1.2;
  for (size_t i = 0; i < sizeof list / sizeof *list; i++)
    for (int tiles = 0; tiles < (list[i].tile[0] ? 2 : 1); tiles++) {
      int64_t n[3], k[3], count = 1;
      double worst = 0, scale = 0;
      memcpy(n, list[i].n, sizeof n);
      memcpy(k, list[i].k, sizeof k);
      for (int device = 0; device < 2; device++) {
        kugel_volume_opts o = {.size = sizeof o, .boundary = KUGEL_BOUNDARY_REPLICATE};
        o.precision = device ? KUGEL_PRECISION_F32 : KUGEL_PRECISION_F64;
        o.engine = device && tiles ? KUGEL_VOLUME_TILES : KUGEL_VOLUME_RESIDENT;
        o.tile = device && tiles ? list[i].tile : NULL;
        kugel_volume_info info = {.size = sizeof info};
        kugel_volume *plan = NULL;
        kugel_array h = {psf, {KUGEL_CPU, 0}, list[i].ndim, KUGEL_F64, k, NULL, 0}, x = h, y = h;
        CHECK_OK(kugel_volume_create(device ? ctx : NULL, list[i].ndim, n, k, &h, &o, &plan));
        CHECK_OK(kugel_volume_get_info(plan, &info));
        y.data = results;
        y.shape = info.results;
        x.data = to[device];
        x.shape = n;
        CHECK_OK(kugel_volume_adjoint(plan, &y, &x, NULL, NULL));
        kugel_volume_destroy(plan);
      }
      for (int d = 0; d < list[i].ndim; d++)
        count *= n[d];
      for (int64_t j = 0; j < count; j++) {
        worst = fmax(worst, fabs(to[0][j] - to[1][j]));
        scale = fmax(scale, fabs(to[0][j]));
      }
      printf("  sums at the edges, %s: %.1e\n", tiles ? "tiles" : "whole", worst / scale);
      CHECK_LE(worst / scale, 3e-7);
    }
}

/* Tiles with and without the types of voxels outside, which are smaller than the plan's: fewer bytes are copied, so that less memory
 * is needed and larger tiles fit, with the same results. */
static void types_outside(kugel_ctx *ctx)
{
  enum { LZ = 40, LY = 48, LX = 52, LONG = LZ * LY * LX };
  static uint16_t in[LONG], out[2][LONG];
  int64_t n[3] = {LZ, LY, LX}, k[3] = {KZ, KY, KX};
  kugel_volume_info info[2], all = {.size = sizeof all};
  for (int i = 0; i < LONG; i++)
    in[i] = (uint16_t)(i * 7919 % 16384);
  kugel_volume_opts o = {.size = sizeof o, .extent = KUGEL_CONV_SAME, .engine = KUGEL_VOLUME_TILES};
  o.precision = KUGEL_PRECISION_F32;
  o.scale = 0.01;
  CHECK_OK(kugel_volume_estimate(ctx, 3, n, k, &o, &all));
  CHECK_OK(kugel_ctx_limit_memory(ctx, all.device_bytes / 4));
  for (int known = 0; known < 2; known++) {
    kugel_volume *plan = NULL;
    info[known] = (kugel_volume_info){.size = sizeof *info};
    o.image_dtype = o.results_dtype = known ? KUGEL_U16 : (kugel_dtype){0};
    CHECK_OK(kugel_volume_create(ctx, 3, n, k, KUGEL_ARRAY(kernel, KUGEL_F64, KZ, KY, KX), &o, &plan));
    CHECK_OK(kugel_volume_get_info(plan, &info[known]));
    CHECK_OK(kugel_volume_execute(plan, KUGEL_ARRAY(in, KUGEL_U16, LZ, LY, LX),
                                  KUGEL_ARRAY(out[known], KUGEL_U16, LZ, LY, LX), NULL, NULL));
    kugel_volume_destroy(plan);
  }
  printf("  float outside: %d tiles, %.3f MB moved; uint16: %d, %.3f MB\n", (int)info[0].tiles,
         (double)info[0].moved_bytes / 1e6, (int)info[1].tiles, (double)info[1].moved_bytes / 1e6);
  CHECK(info[1].tiles <= info[0].tiles && info[1].moved_bytes <= info[0].moved_bytes * 6 / 10);
  CHECK(info[1].device_bytes <= all.device_bytes / 4);
  int worst = 0;
  for (int i = 0; i < LONG; i++)
    worst = abs(out[0][i] - out[1][i]) > worst ? abs(out[0][i] - out[1][i]) : worst;
  CHECK(worst <= 1);
  CHECK_OK(kugel_ctx_limit_memory(ctx, 0));
  o.image_dtype = KUGEL_C64;
  CHECK_IS(kugel_volume_estimate(ctx, 3, n, k, &o, &all), KUGEL_EINVAL);
  CHECK(strstr(kugel_last_error(), "image_dtype"));
}

/* Tiles both ways, with voxels wider than the plan was told, within the limit though `adjoint` is not set. */
static void both_ways(const char *device)
{
  enum { LY = 300, LX = 260, LONG = LY * LX };
  static uint16_t in[LONG], out[LONG], first[2][LONG];
  int64_t n[2] = {LY, LX}, k[2] = {KY, KX};
  kugel_volume_info info = {.size = sizeof info};
  kugel_volume_opts o = {
      .size = sizeof o, .extent = KUGEL_CONV_SAME, .engine = KUGEL_VOLUME_TILES, .scale = 0.01};
  kugel_array *x = KUGEL_ARRAY(in, KUGEL_U16, LY, LX), *y = KUGEL_ARRAY(out, KUGEL_U16, LY, LX);
  kugel_volume *plan = NULL;
  kugel_ctx *ctx = NULL;
  uint64_t peak = 0;
  for (int i = 0; i < LONG; i++)
    in[i] = (uint16_t)(i * 7919 % 16384);
  o.precision = KUGEL_PRECISION_F32;
  o.image_dtype = o.results_dtype = KUGEL_U8;
  CHECK_OK(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = device}, &ctx));
  const uint64_t limit = 300000;
  CHECK_OK(kugel_ctx_limit_memory(ctx, limit));
  CHECK_OK(kugel_volume_create(ctx, 2, n, k, KUGEL_ARRAY(kernel, KUGEL_F64, KY, KX), &o, &plan));
  CHECK_OK(kugel_volume_get_info(plan, &info));
  CHECK(info.tiles > 1 && info.device_bytes <= limit);
  for (int turn = 0; turn < 4; turn++) {
    memset(out, 0, sizeof out);
    CHECK_OK((turn % 2 ? kugel_volume_adjoint : kugel_volume_execute)(plan, x, y, NULL, NULL));
    if (turn < 2)
      memcpy(first[turn], out, sizeof out);
    else
      CHECK(!memcmp(first[turn % 2], out, sizeof out));
  }
  CHECK_OK(kugel_device_usage(ctx, NULL, &peak));
  printf("  both ways: %d tiles, said %.3f MB, peak %.3f MB of %.3f\n", (int)info.tiles,
         (double)info.device_bytes / 1e6, (double)peak / 1e6, (double)limit / 1e6);
  CHECK(peak <= limit);
  kugel_volume_destroy(plan);
  kugel_ctx_destroy(ctx);
}

int main(void)
{
  uint64_t seed = 8;
  for (size_t i = 0; i < sizeof image / sizeof *image; i++)
    image[i] = check_random(&seed);
  for (size_t i = 0; i < sizeof kernel / sizeof *kernel; i++)
    kernel[i] = check_random(&seed) + 1.2;
  kugel_device_info info;
  for (int i = 0; every_device(&i, true, &info);)
    CASE(info.name)
    {
      kugel_ctx *ctx = NULL;
      CHECK_OK(
          kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = info.name}, &ctx));
      if (ctx) {
        both_ways(info.name); // before others: the peak is that of the process
        within_limit(ctx);
        all_kinds(ctx);
        integers(ctx);
        edges(ctx);
        types_outside(ctx);
      }
      kugel_ctx_destroy(ctx);
    }
  END();
}
