/* SPDX-License-Identifier: BSD-3-Clause */
/* LABEL: long. Parts on every device, folded by the host: the resident plan of the CPU to rounding, both ways; kernels as large as the image within
 * a limit of device memory; what the model chooses; every failure. */
#include "device/faults.h"
#include "device/every.h"
#include "volume/depth.h"

enum { Z = 9, Y = 10, X = 21, KZ = 4, KY = 12, KX = 24, MOST = 2 * 2 * (Z + KZ) * (Y + KY) * (X + KX) };
static double image[2 * MOST], kernel[2 * 2 * KZ * KY * KX], out[2][2 * MOST];

static double distance(int64_t count)
{
  double worst = 0, scale = 0;
  for (int64_t i = 0; i < count; i++) {
    worst = fmax(worst, fabs(out[0][i] - out[1][i]));
    scale = fmax(scale, fabs(out[0][i]));
  }
  return worst / scale;
}

// Kernels longer than axes 1 and 2.
static void compare(kugel_ctx *ctx, const kugel_volume_opts *opts, int parts)
{
  bool valid = opts->extent == KUGEL_CONV_VALID;
  int64_t n[3] = {Z, Y, X}, k[3] = {KZ, valid ? 3 : KY, valid ? 5 : KX}, reals = opts->complex_data ? 2 : 1;
  int64_t kernels = opts->kernels ? opts->kernels : 1;
  kugel_dtype t = opts->complex_data ? KUGEL_C128 : KUGEL_F64;
  kugel_array *h = opts->kernels ? KUGEL_ARRAY(kernel, t, kernels, k[0], k[1], k[2])
                                 : KUGEL_ARRAY(kernel, t, k[0], k[1], k[2]);
  for (int adjoint = 0; adjoint < 2; adjoint++) {
    int64_t count = 0;
    for (int device = 0; device < 2; device++) {
      kugel_volume *plan = NULL;
      kugel_volume_opts o = *opts;
      o.engine = device ? KUGEL_VOLUME_DIF : KUGEL_VOLUME_RESIDENT;
      o.parts = device ? parts : 0;
      kugel_volume_info info = {.size = sizeof info};
      CHECK_OK(kugel_volume_create(device ? ctx : NULL, 3, n, k, h, &o, &plan));
      CHECK_OK(kugel_volume_get_info(plan, &info));
      CHECK(!device || (info.engine == KUGEL_VOLUME_DIF && info.parts == parts && info.device_bytes > 0));
      int64_t *m = info.results, results = m[0] * m[1] * m[2] * kernels;
      kugel_array *x = KUGEL_ARRAY(image, t, Z, Y, X), *y = KUGEL_ARRAY(out[device], t, Z, Y, X);
      void *at = adjoint ? image : out[device];
      kugel_array *r =
          o.kernels ? KUGEL_ARRAY(at, t, kernels, m[0], m[1], m[2]) : KUGEL_ARRAY(at, t, m[0], m[1], m[2]);
      CHECK_OK(adjoint ? kugel_volume_adjoint(plan, r, y, NULL, NULL)
                       : kugel_volume_execute(plan, x, r, NULL, NULL));
      count = adjoint ? Z * Y * X * reals : results * reals;
      kugel_volume_destroy(plan);
    }
    CHECK_LE(distance(count), opts->precision == KUGEL_PRECISION_F32 ? 3e-7 : 1e-14);
  }
}

static void all_kinds(kugel_ctx *ctx, bool all)
{
  for (int b = KUGEL_BOUNDARY_ZERO; b <= KUGEL_BOUNDARY_UNKNOWN; b++)
    for (int e = KUGEL_CONV_FULL; e <= KUGEL_CONV_VALID; e++) {
      if (!all && e != b % 3)
        continue;
      kugel_volume_opts o = {sizeof o, .boundary = (kugel_boundary)b, .extent = (kugel_conv_extent)e,
                             .scale = 0.5};
      o.correlate = b % 2;
      o.complex_data = b == KUGEL_BOUNDARY_REFLECT;
      o.kernels = b == KUGEL_BOUNDARY_ZERO || b == KUGEL_BOUNDARY_PERIODIC ? 2 : 0;
      o.precision = b == KUGEL_BOUNDARY_PERIODIC ? KUGEL_PRECISION_F32 : KUGEL_PRECISION_F64;
      compare(ctx, &o, 2 + b % 2);
    }
}

// 16-bit integers of a picture, in and out, with a batch; one part.
static void integers(kugel_ctx *ctx)
{
  int64_t n[2] = {Y, X}, k[2] = {5, 6}, clipped[2];
  static uint16_t in[3 * Y * X], got[2][3 * Y * X];
  for (int i = 0; i < 3 * Y * X; i++)
    in[i] = (uint16_t)(i * 7919 % 65536);
  kugel_volume_opts o = {sizeof o, .extent = KUGEL_CONV_SAME, .scale = 0.1};
  for (int device = 0; device < 2; device++) {
    kugel_volume *plan = NULL;
    o.engine = device ? KUGEL_VOLUME_DIF : KUGEL_VOLUME_RESIDENT;
    o.parts = device;
    CHECK_OK(
        kugel_volume_create(device ? ctx : NULL, 2, n, k, KUGEL_ARRAY(kernel, KUGEL_F64, 5, 6), &o, &plan));
    CHECK_OK(kugel_volume_execute(plan, KUGEL_ARRAY(in, KUGEL_U16, 3, Y, X),
                                  KUGEL_ARRAY(got[device], KUGEL_U16, 3, Y, X), &clipped[device], NULL));
    kugel_volume_destroy(plan);
  }
  CHECK(clipped[0] == clipped[1] && clipped[0] > 0);
  int worst = 0; // a result at a half may round either way
  for (int i = 0; i < 3 * Y * X; i++)
    worst = abs(got[0][i] - got[1][i]) > worst ? abs(got[0][i] - got[1][i]) : worst;
  CHECK(worst <= 1);
}

// A kernel as large as the image does not fit as a whole, and tiles would be nothing but surroundings.
static void limits(const char *device)
{
  int64_t n[3] = {24, 24, 48}, k[3] = {24, 24, 48};
  kugel_volume_opts o = {sizeof o, .extent = KUGEL_CONV_SAME, .precision = KUGEL_PRECISION_F32};
  kugel_volume_info whole = {.size = sizeof whole}, info = {.size = sizeof info};
  kugel_ctx *ctx = NULL;
  CHECK_OK(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = device}, &ctx));
  CHECK_OK(kugel_volume_estimate(ctx, 3, n, k, &o, &whole));
  CHECK(whole.engine == KUGEL_VOLUME_RESIDENT);
  CHECK_OK(kugel_ctx_limit_memory(ctx, whole.device_bytes / 4));
  CHECK_OK(kugel_volume_estimate(ctx, 3, n, k, &o, &info));
  CHECK(info.engine == KUGEL_VOLUME_DIF || info.engine == KUGEL_VOLUME_PENCIL); // as this machine's rates are
  CHECK(info.device_bytes <= whole.device_bytes / 4);
  o.engine = KUGEL_VOLUME_DIF; // fewer parts are not taken than needed
  CHECK_OK(kugel_volume_estimate(ctx, 3, n, k, &o, &info));
  CHECK(info.parts > 2 && info.device_bytes <= whole.device_bytes / 4);
  CHECK_OK(kugel_ctx_limit_memory(ctx, 20000));
  CHECK_IS(kugel_volume_estimate(ctx, 3, n, k, &o, &info), KUGEL_ENOMEM);
  CHECK(strstr(kugel_last_error(), "too little for parts"));
  kugel_ctx_destroy(ctx);
}

// Two devices share the parts, and the bits stay.
static void pair(const char *name)
{
  int64_t n[3] = {Z, Y, X}, k[3] = {KZ, KY, KX};
  for (int i = 0; i < 2; i++) {
    kugel_ctx *ctx = NULL;
    kugel_volume *plan = NULL;
    char one[32];
    snprintf(one, sizeof one, "%.*s", (int)strcspn(name, ","), name);
    CHECK_OK(
        kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = i ? name : one}, &ctx));
    kugel_volume_opts o = {sizeof o, .extent = KUGEL_CONV_SAME, .boundary = KUGEL_BOUNDARY_UNKNOWN,
                           .engine = KUGEL_VOLUME_DIF, .parts = 5};
    CHECK_OK(kugel_volume_create(ctx, 3, n, k, KUGEL_ARRAY(kernel, KUGEL_F64, KZ, KY, KX), &o, &plan));
    CHECK_OK(kugel_volume_execute(plan, KUGEL_ARRAY(image, KUGEL_F64, Z, Y, X),
                                  KUGEL_ARRAY(out[i], KUGEL_F64, Z, Y, X), NULL, NULL));
    kugel_volume_destroy(plan);
    kugel_ctx_destroy(ctx);
  }
  CHECK(!memcmp(out[0], out[1], Z * Y * X * 8));
}

static kugel_status once(kugel_ctx *ctx, void *arg)
{
  (void)arg;
  int64_t n[3] = {6, 5, 12}, k[3] = {3, 3, 5};
  kugel_volume_opts o = {sizeof o, .extent = KUGEL_CONV_SAME, .boundary = KUGEL_BOUNDARY_REFLECT,
                         .engine = KUGEL_VOLUME_DIF, .parts = 2};
  kugel_volume *plan = NULL;
  kugel_status s = kugel_volume_create(ctx, 3, n, k, KUGEL_ARRAY(kernel, KUGEL_F64, 3, 3, 5), &o, &plan);
  if (!s)
    s = kugel_volume_execute(plan, KUGEL_ARRAY(image, KUGEL_F64, 6, 5, 12),
                             KUGEL_ARRAY(out[0], KUGEL_F64, 6, 5, 12), NULL, NULL);
  kugel_volume_destroy(plan);
  return s;
}

int main(void)
{
  uint64_t seed = 8;
  for (size_t i = 0; i < sizeof image / sizeof *image; i++)
    image[i] = check_random(&seed);
  for (size_t i = 0; i < sizeof kernel / sizeof *kernel; i++)
    kernel[i] = check_random(&seed) + 1.2;
  char twins[16] = "";
  int several = 0;
  kugel_device_info info, last = {.size = 0};
  for (int i = 0; every_device(&i, true, &info);) {
    kugel_ctx *ctx = NULL;
    bool all = every_variant(&info);
    several += every_several(&info);
    every_twins(&info, &last, twins);
    CHECK_OK(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = info.name}, &ctx));
    CASE(every_title(&info, "what the model chooses within a limit"))
    limits(info.name);
    CASE(every_title(&info, "boundaries, extents, several kernels, both ways"))
    all_kinds(ctx, all);
    CASE(every_title(&info, "integers and a batch"))
    integers(ctx);
    CASE(every_title(&info, "kernels by depth"))
    depth_all_of(ctx, KUGEL_VOLUME_DIF, false, all ? 1 : 47);
    CASE(every_title(&info, "faults"))
    {
      sweep_memory(ctx, INT64_MAX, once, NULL);
      sweep_driver(ctx, INT64_MAX, once, NULL);
    }
    kugel_ctx_destroy(ctx);
  }
  if (several) {
    CASE("two devices")
    pair(every_pair(twins));
  }
  END();
}
