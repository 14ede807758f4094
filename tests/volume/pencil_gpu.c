/* SPDX-License-Identifier: BSD-3-Clause */
/* LABEL: long. Pencils on every device: the resident plan of the CPU (floats: of the device) to rounding, both ways, in memory and by way of a file; from callbacks
 * to callbacks and continued; two devices; kernels as large as the image within a limit of device memory; every failure. */
#include "device/faults.h"
#include "device/every.h"
#include "volume/depth.h"
#include "core/parallel.h"

enum { Z = 9, Y = 10, X = 21, KZ = 12, KY = 12, KX = 24, MOST = 2 * 2 * (Z + KZ) * (Y + KY) * (X + KX) };
static double image[2 * MOST], kernel[2 * 2 * KZ * KY * KX], out[2][2 * MOST];
static uint64_t seed = 8;
static float big[2][32 * 32 * 48], psf[32 * 32 * 48];

static double distance(int64_t count)
{
  double worst = 0, scale = 0;
  for (int64_t i = 0; i < count; i++) {
    worst = fmax(worst, fabs(out[0][i] - out[1][i]));
    scale = fmax(scale, fabs(out[0][i]));
  }
  return worst / scale;
}

// Kernels longer than all axes; slabs of two slices, in memory or in a file.
static void compare(kugel_ctx *ctx, const kugel_volume_opts *opts, bool file)
{
  bool valid = opts->extent == KUGEL_CONV_VALID;
  int64_t n[3] = {Z, Y, X}, k[3] = {valid ? 4 : KZ, valid ? 3 : KY, valid ? 5 : KX}, tile[3] = {2, 1, 1};
  int64_t kernels = opts->kernels ? opts->kernels : 1, reals = opts->complex_data ? 2 : 1;
  kugel_dtype t = opts->complex_data ? KUGEL_C128 : KUGEL_F64;
  kugel_array *h = opts->kernels ? KUGEL_ARRAY(kernel, t, kernels, k[0], k[1], k[2])
                                 : KUGEL_ARRAY(kernel, t, k[0], k[1], k[2]);
  for (int adjoint = 0; adjoint < 2; adjoint++) {
    int64_t count = 0;
    for (int device = 0; device < 2; device++) {
      kugel_volume *plan = NULL;
      kugel_volume_opts o = *opts;
      o.engine = device ? KUGEL_VOLUME_PENCIL : KUGEL_VOLUME_RESIDENT;
      o.tile = tile;
      bool f32 = o.precision == KUGEL_PRECISION_F32; // against the same device, whose sums are of floats, too
      o.memory = device && file ? 1 : 0;
      kugel_volume_info info = {.size = sizeof info};
      CHECK_OK(kugel_volume_create(device || f32 ? ctx : NULL, 3, n, k, h, &o, &plan));
      CHECK_OK(kugel_volume_get_info(plan, &info));
      CHECK(!device || (info.engine == KUGEL_VOLUME_PENCIL && info.device_bytes > 0 && info.tiles > 1));
      CHECK(!device || (info.scratch_bytes > 0) == file);
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
      o.complex_data = b == KUGEL_BOUNDARY_REFLECT || (b == KUGEL_BOUNDARY_PERIODIC && e == KUGEL_CONV_SAME);
      o.kernels = b == KUGEL_BOUNDARY_ZERO || b == KUGEL_BOUNDARY_PERIODIC ? 2 : 0;
      o.precision = b == KUGEL_BOUNDARY_PERIODIC ? KUGEL_PRECISION_F32 : KUGEL_PRECISION_F64;
      for (size_t i = 0; i < sizeof kernel / sizeof *kernel; i++)
        kernel[i] = (float)check_random(&seed) + (b == KUGEL_BOUNDARY_UNKNOWN ? 1.25 : 0);
      compare(ctx, &o, b % 2 == 0);
    }
}

// 16-bit integers backwards along y, in and out, with a batch.
static void integers(kugel_ctx *ctx)
{
  int64_t n[3] = {Z, Y, X}, k[3] = {3, 5, 6}, clipped[2], shape[4] = {2, Z, Y, X},
          steps[4] = {Z * Y * X, Y * X, -X, 1};
  static uint16_t in[2 * Z * Y * X], got[2][2 * Z * Y * X];
  for (int i = 0; i < 2 * Z * Y * X; i++)
    in[i] = (uint16_t)(i * 7919 % 65536);
  kugel_volume_opts o = {sizeof o, .extent = KUGEL_CONV_SAME, .scale = 0.02};
  for (int device = 0; device < 2; device++) {
    kugel_volume *plan = NULL;
    kugel_array x = {.data = in,
                     .device = {KUGEL_CPU, 0},
                     .ndim = 4,
                     .dtype = KUGEL_U16,
                     .shape = shape,
                     .strides = steps,
                     .byte_offset = (Y - 1) * X * 2};
    o.engine = device ? KUGEL_VOLUME_PENCIL : KUGEL_VOLUME_RESIDENT;
    CHECK_OK(kugel_volume_create(device ? ctx : NULL, 3, n, k, KUGEL_ARRAY(kernel, KUGEL_F64, 3, 5, 6), &o,
                                 &plan));
    CHECK_OK(kugel_volume_execute(plan, &x, KUGEL_ARRAY(got[device], KUGEL_U16, 2, Z, Y, X), &clipped[device],
                                  NULL));
    kugel_volume_destroy(plan);
  }
  CHECK(clipped[0] == clipped[1] && clipped[0] > 0);
  int worst = 0; // a result at a half may round either way
  for (int i = 0; i < 2 * Z * Y * X; i++)
    worst = abs(got[0][i] - got[1][i]) > worst ? abs(got[0][i] - got[1][i]) : worst;
  CHECK(worst <= 1);
}

/* ---- within a limit, from callbacks to callbacks ---- */

enum { BZ = 32, BY = 32, BX = 48, SLICE = BY * BX };
static int touched[BZ], wrote[BZ], kernel_read[BZ];

typedef struct ends {
  int64_t done, stop;
} ends;

static int read_box(void *user, const int64_t *lo, const int64_t *n, void *values)
{
  (void)user;
  memcpy(values, (const float *)image + lo[0] * SLICE, (size_t)(n[0] * SLICE) * 4);
  for (int64_t z = 0; z < n[0]; z++)
    touched[lo[0] + z]++;
  return 0;
}

static int write_box(void *user, const int64_t *lo, const int64_t *n, const void *values)
{
  (void)user;
  memcpy(big[1] + lo[0] * SLICE, values, (size_t)(n[0] * SLICE) * 4);
  for (int64_t z = 0; z < n[0]; z++)
    wrote[lo[0] + z]++;
  return 0;
}

static int done_box(void *user, int64_t box, int64_t boxes)
{
  ends *e = user;
  CHECK(box == e->done && box < boxes);
  e->done = box + 1;
  return e->stop && e->done == e->stop;
}

static int read_planes(void *user, const int64_t *lo, const int64_t *n, void *values)
{
  (void)user;
  memcpy(values, psf + lo[0] * SLICE, (size_t)(n[0] * SLICE) * 4);
  for (int64_t z = 0; z < n[0]; z++)
    kernel_read[lo[0] + z]++;
  return 0;
}

static double far(void)
{
  double worst = 0, scale = 0;
  for (int i = 0; i < BZ * SLICE; i++) {
    worst = fmax(worst, fabs((double)big[0][i] - big[1][i]));
    scale = fmax(scale, fabs((double)big[0][i]));
  }
  return worst / scale;
}

static void streamed(const char *device, kugel_boundary boundary)
{
  int64_t n[3] = {BZ, BY, BX}, shape[3] = {BZ, BY, BX};
  kugel_volume_opts o = {sizeof o, .extent = KUGEL_CONV_SAME, .boundary = boundary,
                         .precision = KUGEL_PRECISION_F32};
  kugel_volume_info whole = {.size = sizeof whole}, info = {.size = sizeof info};
  kugel_volume *plan = NULL;
  kugel_ctx *ctx = NULL;
  CHECK_OK(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = device}, &ctx));
  CHECK_OK(kugel_volume_create(ctx, 3, n, n, KUGEL_ARRAY(psf, KUGEL_F32, BZ, BY, BX), &o, &plan));
  CHECK_OK(kugel_volume_get_info(plan, &whole));
  CHECK_OK(kugel_volume_execute(plan, KUGEL_ARRAY(image, KUGEL_F32, BZ, BY, BX),
                                KUGEL_ARRAY(big[0], KUGEL_F32, BZ, BY, BX), NULL, NULL));
  kugel_volume_destroy(plan);
  uint64_t limit = whole.device_bytes / 3, used[2];
  CHECK_OK(kugel_ctx_limit_memory(ctx, limit));
  o.engine = KUGEL_VOLUME_PENCIL;
  o.read_kernel = read_planes;
  memset(kernel_read, 0, sizeof kernel_read);
  CHECK_OK(kugel_device_usage(ctx, &used[0], NULL));
  kugel_array values = {NULL, {KUGEL_CPU, 0}, 3, KUGEL_F32, shape, NULL, 0};
  CHECK_OK(kugel_volume_create(ctx, 3, n, n, &values, &o, &plan));
  CHECK_OK(kugel_volume_get_info(plan, &info));
  CHECK(info.device_bytes <= limit && info.tiles > 2);
  kugel_device_usage(ctx, &used[1], NULL);
  printf("  %lld slabs, %.3g of %.3g MB, %.3g predicted\n", (long long)info.tiles,
         (double)(used[1] - used[0]) * 1e-6, (double)limit * 1e-6, (double)info.device_bytes * 1e-6);
  for (int again = 0; again < 2; again++) { // stopped after two slabs, then continued
    ends e = {.stop = again ? 0 : 2, .done = again ? 2 : 0};
    memset(touched, 0, sizeof touched);
    memset(wrote, 0, sizeof wrote);
    kugel_volume_stream_opts so = {sizeof so,        .in = KUGEL_F32,       .out = KUGEL_F32,
                                   .read = read_box, .write = write_box,    .done = done_box,
                                   .user = &e,       .first = again ? 2 : 0};
    CHECK_IS(kugel_volume_stream(plan, &so), again ? KUGEL_OK : KUGEL_ECANCELED);
    for (int z = 0; z < BZ; z++)
      CHECK(touched[z] == 1 && kernel_read[z] == 1 && wrote[z] == ((z < 2 * info.tile[0]) == !again));
    CHECK(!again || e.done == info.tiles);
  }
  CHECK_LE(far(), boundary == KUGEL_BOUNDARY_UNKNOWN ? 8 * 3e-7 : 3e-7); // corners met an eighth of the sum
  kugel_volume_destroy(plan);
  kugel_ctx_destroy(ctx);
}

// Both devices take part, and the bits stay.
static void pair(const char *name)
{
  int64_t n[3] = {BZ, BY, BX}, k[3] = {7, 9, 11};
  for (int i = 0; i < 2; i++) {
    kugel_ctx *ctx = NULL;
    kugel_volume *plan = NULL;
    char one[32];
    snprintf(one, sizeof one, "%.*s", (int)strcspn(name, ","), name);
    CHECK_OK(
        kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = i ? name : one}, &ctx));
    kugel_volume_opts o = {sizeof o, .extent = KUGEL_CONV_SAME, .boundary = KUGEL_BOUNDARY_REFLECT,
                           .precision = KUGEL_PRECISION_F32, .engine = KUGEL_VOLUME_PENCIL};
    CHECK_OK(kugel_volume_create(ctx, 3, n, k, KUGEL_ARRAY(psf, KUGEL_F32, 7, 9, 11), &o, &plan));
    CHECK_OK(kugel_volume_execute(plan, KUGEL_ARRAY(image, KUGEL_F32, BZ, BY, BX),
                                  KUGEL_ARRAY(big[i], KUGEL_F32, BZ, BY, BX), NULL, NULL));
    if (i) {
      CHECK(!memcmp(big[0], big[1], sizeof big[0]));
      memset(big[1], 0, sizeof big[1]);
      ends e = {.done = 0}; // slabs are told about in order
      kugel_volume_stream_opts so = {sizeof so,          .in = KUGEL_F32,  .out = KUGEL_F32, .read = read_box,
                                     .write = write_box, .done = done_box, .user = &e};
      CHECK_OK(kugel_volume_stream(plan, &so));
    }
    kugel_volume_destroy(plan);
    kugel_ctx_destroy(ctx);
  }
  CHECK(!memcmp(big[0], big[1], sizeof big[0]));
}

static void refusals(const char *device)
{
  int64_t n[3] = {24, 24, 48}, flat[3] = {1, 24, 48}, tile[3] = {20, 1, 1};
  kugel_volume_opts o = {sizeof o, .extent = KUGEL_CONV_SAME, .engine = KUGEL_VOLUME_PENCIL};
  kugel_volume_info info = {.size = sizeof info};
  kugel_ctx *ctx = NULL;
  CHECK_OK(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = device}, &ctx));
  CHECK_IS(kugel_volume_estimate(ctx, 3, flat, flat, &o, &info), KUGEL_ENOTSUP);
  CHECK(strstr(kugel_last_error(), "one plane along axis 0"));
  CHECK_IS(kugel_volume_estimate(ctx, 2, n, n, &o, &info), KUGEL_ENOTSUP);
  o.engine = KUGEL_VOLUME_AUTO; // too little for tiles or parts
  CHECK_OK(kugel_ctx_limit_memory(ctx, 200000));
  CHECK_OK(kugel_volume_estimate(ctx, 3, n, n, &o, &info));
  CHECK(info.engine == KUGEL_VOLUME_PENCIL && info.device_bytes <= 200000);
  o.engine = KUGEL_VOLUME_PENCIL;
  CHECK_OK(kugel_ctx_limit_memory(ctx, 20000));
  CHECK_IS(kugel_volume_estimate(ctx, 3, n, n, &o, &info), KUGEL_ENOMEM);
  CHECK(strstr(kugel_last_error(), "too little for a slice"));
  CHECK_OK(kugel_ctx_limit_memory(ctx, 1000000));
  o.tile = tile;
  CHECK_IS(kugel_volume_estimate(ctx, 3, n, n, &o, &info), KUGEL_ENOMEM);
  CHECK(strstr(kugel_last_error(), "smaller tile[0]"));
  kugel_ctx_destroy(ctx);
}

static kugel_status once(kugel_ctx *ctx, void *arg)
{
  (void)arg;
  int64_t n[3] = {6, 5, 12}, k[3] = {3, 3, 5}, tile[3] = {3, 1, 1};
  kugel_volume_opts o = {sizeof o, .extent = KUGEL_CONV_SAME, .boundary = KUGEL_BOUNDARY_REFLECT,
                         .engine = KUGEL_VOLUME_PENCIL, .tile = tile};
  kugel_volume *plan = NULL;
  kugel_status s = kugel_volume_create(ctx, 3, n, k, KUGEL_ARRAY(kernel, KUGEL_F64, 3, 3, 5), &o, &plan);
  if (!s)
    s = kugel_volume_adjoint(plan, KUGEL_ARRAY(image, KUGEL_F64, 6, 5, 12),
                             KUGEL_ARRAY(out[0], KUGEL_F64, 6, 5, 12), NULL, NULL);
  kugel_volume_destroy(plan);
  return s;
}

int main(void)
{
  char twins[16] = "";
  int several = 0;
  kugel_device_info info, last = {.size = 0};
  for (int i = 0; i < BZ * SLICE; i++)
    psf[i] = (float)check_random(&seed) + 1.2f;
  for (int i = 0; every_device(&i, true, &info);) {
    kugel_ctx *ctx = NULL;
    bool all = every_variant(&info);
    several += every_several(&info);
    every_twins(&info, &last, twins);
    CHECK_OK(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = info.name}, &ctx));
    for (size_t j = 0; j < sizeof image / sizeof *image; j++)
      image[j] = (float)check_random(&seed);
    CASE(every_title(&info, "boundaries, extents, several kernels, both ways"))
    all_kinds(ctx, all);
    CASE(every_title(&info, "integers and a batch"))
    integers(ctx);
    CASE(every_title(&info, "kernels by depth"))
    depth_all_of(ctx, KUGEL_VOLUME_PENCIL, false, all ? 1 : 47);
    CASE(every_title(&info, "faults"))
    {
      sweep_memory(ctx, 200, once, NULL);
      sweep_driver(ctx, 200, once, NULL);
    }
    kugel_ctx_destroy(ctx);
    CASE(every_title(&info, "what is refused"))
    refusals(info.name);
    for (int j = 0; j < BZ * SLICE; j++)
      ((float *)image)[j] = (float)check_random(&seed);
    CASE(every_title(&info, "callbacks within a limit"))
    {
      streamed(info.name, KUGEL_BOUNDARY_ZERO);
      streamed(info.name, KUGEL_BOUNDARY_UNKNOWN);
    }
  }
  if (several) {
    CASE("two devices")
    pair(every_pair(twins));
  }
  END();
}
