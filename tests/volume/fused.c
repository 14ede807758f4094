/* SPDX-License-Identifier: BSD-3-Clause */
/* LABEL: long. Volumes on every device beside the CPU: shapes of one, two and three axes, types of voxels, what the kernels
 * move, tiles, limits of memory, faults. */
#include "check.h"
#include "device/every.h"
#include <kugel/volume.h>
#include "device/faults.h"
#include "volume/gpu/device_plan.h"

enum { MOST = 60000 };
static double image[2 * MOST], kernel[2 * MOST], out[2][2 * MOST];

typedef struct problem {
  int ndim;
  int64_t n[3], k[3], tile[3];
  kugel_volume_opts o;
} problem;

static int64_t product(int ndim, const int64_t *n)
{
  int64_t p = 1;
  for (int d = 0; d < ndim; d++)
    p *= n[d];
  return p;
}

static kugel_array array_of(void *data, kugel_dtype t, int ndim, int64_t *shape)
{
  return (kugel_array){.data = data, .device = {KUGEL_CPU, 0}, .ndim = ndim, .dtype = t, .shape = shape};
}

// Results of a plan, both ways, beside those of the CPU.
static void compare(kugel_ctx *ctx, const problem *q, bool fused)
{
  int64_t shape[4] = {q->o.kernels}, m[4] = {q->o.kernels}, n[3];
  int more = q->o.kernels > 0;
  kugel_dtype t = q->o.complex_data ? KUGEL_C128 : KUGEL_F64;
  memcpy(shape + more, q->k, sizeof q->k);
  memcpy(n, q->n, sizeof n);
  kugel_array h = array_of(kernel, t, q->ndim + more, shape), x = array_of(image, t, q->ndim, n);
  kugel_volume_info info = {.size = sizeof info};
  for (int adjoint = 0; adjoint < 2; adjoint++) {
    int64_t count = 0;
    for (int device = 0; device < 2; device++) {
      kugel_volume *plan = NULL;
      kugel_volume_opts o = q->o;
      o.size = sizeof o;
      o.tile = q->tile[0] && device ? q->tile : NULL;
      o.engine = o.tile ? KUGEL_VOLUME_TILES : KUGEL_VOLUME_RESIDENT;
      o.precision = device ? o.precision : KUGEL_PRECISION_F64;
      CHECK_OK(kugel_volume_create(device ? ctx : NULL, q->ndim, q->n, q->k, &h, &o, &plan));
      if (!plan)
        return;
      CHECK_OK(kugel_volume_get_info(plan, &info));
      if (device)
        CHECK(o.tile ? plan->lanes != NULL && info.tiles > 1 : (plan->gpu->fused != NULL) == fused);
      memcpy(m + more, info.results, sizeof info.results);
      kugel_array y = array_of(out[device], t, q->ndim + more, m);
      static double g[2 * MOST];
      int64_t results = product(q->ndim, info.results) * (more ? q->o.kernels : 1);
      CHECK(results <= MOST);
      for (int64_t i = 0; i < 2 * results && i < 2 * MOST; i++)
        g[i] = sin((double)(i * i % 1013) + 1);
      kugel_array z = y, w = x;
      z.data = g;
      w.data = out[device];
      CHECK_OK(adjoint ? kugel_volume_adjoint(plan, &z, &w, NULL, NULL)
                       : kugel_volume_execute(plan, &x, &y, NULL, NULL));
      count = (adjoint ? product(q->ndim, n) : results) * (q->o.complex_data ? 2 : 1);
      kugel_volume_destroy(plan);
    }
    double worst = 0, scale = 0;
    for (int64_t i = 0; i < count; i++) {
      worst = fmax(worst, fabs(out[0][i] - out[1][i]));
      scale = fmax(scale, fabs(out[0][i]));
    }
    double f32 =
        q->o.boundary == KUGEL_BOUNDARY_UNKNOWN ? 6e-7 : 3e-7; // divided by a quarter of the sum in corners
    CHECK_LE(worst / scale, q->o.precision == KUGEL_PRECISION_F32 ? f32 : 1e-14);
  }
}

static void shapes(kugel_ctx *ctx)
{
  static const problem list[] = {
      {1, {1}, {1}, {0}, {.kernels = 0}},
      {1, {1}, {5}, {0}, {.extent = KUGEL_CONV_SAME}},
      {1, {997}, {31}, {0}, {.extent = KUGEL_CONV_SAME, .boundary = KUGEL_BOUNDARY_REFLECT}},
      {1, {200}, {31}, {0}, {.kernels = 3, .precision = KUGEL_PRECISION_F32, .correlate = 1}},
      {2, {13, 97}, {40, 101}, {0}, {.extent = KUGEL_CONV_SAME, .boundary = KUGEL_BOUNDARY_REPLICATE}},
      {2, {97, 13}, {5, 3}, {0}, {.extent = KUGEL_CONV_VALID, .complex_data = 1, .kernels = 2}},
      {3, {5, 37, 41}, {11, 7, 2}, {0}, {.boundary = KUGEL_BOUNDARY_PERIODIC, .complex_data = 1}},
      {3, {16, 27, 30}, {5, 7, 9}, {0}, {.extent = KUGEL_CONV_SAME, .boundary = KUGEL_BOUNDARY_PERIODIC}},
      {3, {1, 50, 1}, {3, 3, 3}, {0}, {.extent = KUGEL_CONV_SAME, .boundary = KUGEL_BOUNDARY_UNKNOWN}},
      // lines whose blocks are listed: 200 points there and back, 576 and 1152 along x, 2160 along y
      {2, {196, 5}, {5, 2}, {0}, {.extent = KUGEL_CONV_FULL, .precision = KUGEL_PRECISION_F32}},
      {2, {2, 1120}, {2, 31}, {0}, {.extent = KUGEL_CONV_FULL, .precision = KUGEL_PRECISION_F32}},
      {3, {2, 2156, 3}, {2, 5, 2}, {0}, {.extent = KUGEL_CONV_FULL, .precision = KUGEL_PRECISION_F32}},
      {2, {2, 2270}, {2, 33}, {0}, {.extent = KUGEL_CONV_FULL, .precision = KUGEL_PRECISION_F32}},
  };
  for (size_t i = 0; i < sizeof list / sizeof *list; i++)
    compare(ctx, &list[i], true);
}

static void tiles(kugel_ctx *ctx)
{
  static const problem list[] = {
      {3, {17, 23, 29}, {4, 5, 6}, {6, 23, 29}, {.extent = KUGEL_CONV_SAME}},
      {3,
       {17, 23, 29},
       {4, 5, 6},
       {17, 6, 10},
       {.extent = KUGEL_CONV_SAME, .boundary = KUGEL_BOUNDARY_REFLECT}},
      {3,
       {9, 23, 12},
       {4, 5, 6},
       {9, 8, 5},
       {.boundary = KUGEL_BOUNDARY_PERIODIC, .kernels = 2, .correlate = 1}},
      {2,
       {60, 70},
       {9, 9},
       {20, 30},
       {.extent = KUGEL_CONV_SAME, .boundary = KUGEL_BOUNDARY_UNKNOWN, .precision = KUGEL_PRECISION_F32}},
      {2, {60, 20}, {7, 9}, {20, 7}, {.extent = KUGEL_CONV_VALID, .complex_data = 1}},
      // along one axis: the image is kept on the device
      {2, {60, 70}, {9, 9}, {13, 70}, {.extent = KUGEL_CONV_SAME, .boundary = KUGEL_BOUNDARY_UNKNOWN}},
      {3, {3, 50, 200}, {2, 9, 4}, {3, 21, 200}, {.extent = KUGEL_CONV_SAME, .kernels = 2}},
      {3, {20, 9, 12}, {30, 2, 3}, {7, 10, 14}, {.precision = KUGEL_PRECISION_F32}},
  };
  for (size_t i = 0; i < sizeof list / sizeof *list; i++)
    compare(ctx, &list[i], true);
}

// What the plan says its kernels move, beside the sizes of the padded volume.
static void traffic(kugel_ctx *ctx)
{
  int64_t n[3] = {48, 64, 64}, k[3] = {17, 17, 17};
  kugel_volume_opts o = {sizeof o, .extent = KUGEL_CONV_SAME, .precision = KUGEL_PRECISION_F32};
  kugel_volume_info info = {.size = sizeof info};
  CHECK_OK(kugel_volume_estimate(ctx, 3, n, k, &o, &info));
  double z = (double)info.transform[0], y = (double)info.transform[1], x = (double)info.transform[2], r = 0;
  r = 48 * 64 * (4 * 64 + 4 * x);                // rows in
  r += 48 * x * (4 * 64 + 4 * y);                // columns
  r += x * y * (4 * 48 + 4 * z + 4 * 48);        // there and back
  r += 48 * x * (4 * 64 + 4 * y);                // columns back
  r += 48 * 64 * (4 * 64 + 4 * x);               // rows out
  CHECK_LE((double)info.kernel_bytes, 1.12 * r); // rows are aligned
  CHECK_LE(0.99 * r, (double)info.kernel_bytes);
  CHECK_LE((double)info.kernel_bytes / (x * y * z), 44);
  CHECK(info.seconds > 0 && info.device_bytes > 0);
}

// Types of voxels, and arrays on the device that go through memory in another order.
static void types(kugel_ctx *ctx)
{
  enum { Y = 20, X = 24, K = 3 };
  static const kugel_dtype list[] = {{KUGEL_UINT, 8, 1}, {KUGEL_UINT, 16, 1},  {KUGEL_INT, 16, 1},
                                     {KUGEL_INT, 32, 1}, {KUGEL_FLOAT, 16, 1}, {KUGEL_FLOAT, 32, 1}};
  int64_t n[2] = {Y, X}, k[2] = {K, K}, shape[2] = {Y, X};
  static char in[8 * Y * X], both[2][8 * Y * X];
  kugel_volume_opts o = {sizeof o, .extent = KUGEL_CONV_SAME, .scale = 0.05};
  for (size_t t = 0; t < sizeof list / sizeof *list; t++) {
    int64_t clipped[2] = {0};
    uint64_t seed = t;
    for (size_t i = 0; i < sizeof in; i++)
      in[i] = list[t].code == KUGEL_FLOAT ? (char)(i * 37 % 60) : (char)(127 * check_random(&seed));
    for (int device = 0; device < 2; device++) {
      kugel_volume *plan;
      CHECK_OK(
          kugel_volume_create(device ? ctx : NULL, 2, n, k, KUGEL_ARRAY(kernel, KUGEL_F64, K, K), &o, &plan));
      kugel_array x = array_of(in, list[t], 2, shape), y = array_of(both[device], list[t], 2, shape);
      CHECK_OK(kugel_volume_execute(plan, &x, &y, &clipped[device], NULL));
      kugel_volume_destroy(plan);
    }
    CHECK(clipped[0] == clipped[1]);
    int64_t size = list[t].bits / 8, differ = 0; // a result at a half may round either way
    for (int64_t i = 0; i < Y * X; i++)
      differ += memcmp(both[0] + i * size, both[1] + i * size, (size_t)size) != 0;
    CHECK(list[t].code == KUGEL_FLOAT || differ <= 2);
  }
}

// Tiles within a limit of memory; a limit that holds none.
static void limits(const char *device)
{
  int64_t n[3] = {40, 40, 60}, k[3] = {5, 5, 5};
  kugel_volume_opts o = {sizeof o, .extent = KUGEL_CONV_SAME, .precision = KUGEL_PRECISION_F32};
  kugel_volume_info whole = {.size = sizeof whole}, info = whole;
  kugel_ctx *ctx;
  CHECK_OK(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = device}, &ctx));
  CHECK_OK(kugel_volume_estimate(ctx, 3, n, k, &o, &whole));
  CHECK(whole.engine == KUGEL_VOLUME_RESIDENT);
  CHECK_OK(kugel_ctx_limit_memory(ctx, whole.device_bytes / 2));
  CHECK_OK(kugel_volume_estimate(ctx, 3, n, k, &o, &info));
  CHECK(info.engine != KUGEL_VOLUME_RESIDENT); // by rates of the machine
  CHECK(info.device_bytes <= whole.device_bytes / 2);
  o.engine = KUGEL_VOLUME_TILES;
  CHECK_OK(kugel_volume_estimate(ctx, 3, n, k, &o, &info));
  CHECK(info.engine == KUGEL_VOLUME_TILES && info.tiles > 1 && info.device_bytes <= whole.device_bytes / 2);
  o.engine = KUGEL_VOLUME_AUTO;
  CHECK_OK(kugel_ctx_limit_memory(ctx, 1000));
  CHECK_IS(kugel_volume_estimate(ctx, 3, n, k, &o, &info), KUGEL_ENOMEM);
  kugel_ctx_destroy(ctx);
}

static kugel_status once(kugel_ctx *ctx, void *arg)
{
  const bool tiled = *(const bool *)arg;
  int64_t n[2] = {24, 20}, k[2] = {5, 5}, tile[2] = {8, 20};
  kugel_volume_opts o = {sizeof o, .extent = KUGEL_CONV_SAME, .precision = KUGEL_PRECISION_F32};
  o.engine = tiled ? KUGEL_VOLUME_TILES : KUGEL_VOLUME_RESIDENT;
  o.tile = tiled ? tile : NULL;
  kugel_array *h = KUGEL_ARRAY(kernel, KUGEL_F64, 5, 5), *x = KUGEL_ARRAY(image, KUGEL_F64, 24, 20),
              *y = KUGEL_ARRAY(out[0], KUGEL_F64, 24, 20), *back = KUGEL_ARRAY(out[1], KUGEL_F64, 24, 20);
  kugel_volume *plan = NULL;
  kugel_status s = kugel_volume_create(ctx, 2, n, k, h, &o, &plan);
  if (!s)
    s = kugel_volume_execute(plan, x, y, NULL, NULL);
  if (!s && tiled)
    s = kugel_volume_adjoint(plan, y, back, NULL, NULL);
  kugel_volume_destroy(plan);
  return s;
}

static void faults(kugel_ctx *ctx, bool tiled)
{
  sweep_memory(ctx, INT64_MAX, once, &tiled);
  sweep_driver(ctx, INT64_MAX, once, &tiled);
}

static int read_box(void *user, const int64_t *lo, const int64_t *n, void *values)
{
  (void)user;
  for (int64_t i = 0; i < n[0] * n[1] * n[2]; i++) {
    int64_t z = lo[0] + i / n[2] / n[1], y = lo[1] + i / n[2] % n[1], x = lo[2] + i % n[2];
    ((double *)values)[i] = image[(z * 18 + y) * 21 + x];
  }
  return 0;
}

static int write_box(void *user, const int64_t *lo, const int64_t *n, const void *values)
{
  for (int64_t i = 0; i < n[0] * n[1] * n[2]; i++) {
    int64_t z = lo[0] + i / n[2] / n[1], y = lo[1] + i / n[2] % n[1], x = lo[2] + i % n[2];
    ((double *)user)[(z * 18 + y) * 21 + x] = ((const double *)values)[i];
  }
  return 0;
}

// From callbacks to callbacks, by tiles and whole.
static void streams(kugel_ctx *ctx)
{
  int64_t n[3] = {16, 18, 21}, k[3] = {5, 4, 6}, tile[3] = {5, 9, 21};
  for (int b = KUGEL_BOUNDARY_ZERO; b <= KUGEL_BOUNDARY_UNKNOWN; b++)
    for (int engine = KUGEL_VOLUME_RESIDENT; engine <= KUGEL_VOLUME_TILES; engine++) {
      kugel_volume_opts o = {sizeof o, .extent = KUGEL_CONV_SAME, .boundary = (kugel_boundary)b};
      for (int device = 0; device < 2; device++) {
        kugel_volume *plan = NULL;
        o.engine = device ? (kugel_volume_engine)engine : KUGEL_VOLUME_RESIDENT;
        o.tile = o.engine == KUGEL_VOLUME_TILES ? tile : NULL;
        CHECK_OK(kugel_volume_create(device ? ctx : NULL, 3, n, k, KUGEL_ARRAY(kernel, KUGEL_F64, 5, 4, 6),
                                     &o, &plan));
        kugel_volume_stream_opts w = {.size = sizeof w,
                                      .in = KUGEL_F64,
                                      .out = KUGEL_F64,
                                      .read = read_box,
                                      .write = write_box,
                                      .user = out[device]};
        CHECK_OK(kugel_volume_stream(plan, &w));
        kugel_volume_destroy(plan);
      }
      double worst = 0;
      for (int i = 0; i < 16 * 18 * 21; i++)
        worst = fmax(worst, fabs(out[0][i] - out[1][i]));
      CHECK_LE(worst, 1e-12);
    }
}

static int in_order(void *user, int64_t box, int64_t boxes)
{
  (void)user;
  static int64_t last = -1;
  CHECK(box == (last + 1) % boxes);
  last = box;
  return 0;
}

// Devices of a context share the tiles: the same results as one device gives, to the bit.
static void shared_tiles(const char *device)
{
  int64_t n[3] = {64, 20, 30}, k[3] = {5, 5, 5}, tile[3] = {4, 20, 30};
  kugel_volume_opts o = {sizeof o, .extent = KUGEL_CONV_SAME, .engine = KUGEL_VOLUME_TILES, .tile = tile};
  kugel_ctx *several = NULL, *one = NULL;
  char first[32];
  snprintf(first, sizeof first, "%.*s", (int)strcspn(device, ","), device);
  CHECK_OK(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = device}, &several));
  CHECK_OK(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = first}, &one));
  for (int i = 0; i < 2 && several && one; i++) {
    kugel_volume *plan = NULL;
    CHECK_OK(
        kugel_volume_create(i ? several : one, 3, n, k, KUGEL_ARRAY(kernel, KUGEL_F64, 5, 5, 5), &o, &plan));
    CHECK_OK(kugel_volume_execute(plan, KUGEL_ARRAY(image, KUGEL_F64, 64, 20, 30),
                                  KUGEL_ARRAY(out[i], KUGEL_F64, 64, 20, 30), NULL, NULL));
    kugel_volume_destroy(plan);
  }
  CHECK(!memcmp(out[0], out[1], 64 * 20 * 30 * 8));
  o.boundary = KUGEL_BOUNDARY_REFLECT; // tiles of the adjoint are added up in their order
  for (int i = 0; i < 2 && several && one; i++) {
    kugel_volume *plan = NULL;
    CHECK_OK(
        kugel_volume_create(i ? several : one, 3, n, k, KUGEL_ARRAY(kernel, KUGEL_F64, 5, 5, 5), &o, &plan));
    CHECK_OK(kugel_volume_adjoint(plan, KUGEL_ARRAY(image, KUGEL_F64, 64, 20, 30),
                                  KUGEL_ARRAY(out[i], KUGEL_F64, 64, 20, 30), NULL, NULL));
    kugel_volume_destroy(plan);
  }
  CHECK(!memcmp(out[0], out[1], 64 * 20 * 30 * 8));
  o.boundary = KUGEL_BOUNDARY_ZERO;
  int64_t small[3] = {40, 18, 21}, thin[3] = {2, 7, 21};
  o.tile = thin;
  for (int i = 0; i < 2 && several && one; i++) { // boxes are written in order
    kugel_volume *plan = NULL;
    CHECK_OK(kugel_volume_create(i ? several : one, 3, small, k, KUGEL_ARRAY(kernel, KUGEL_F64, 5, 5, 5), &o,
                                 &plan));
    kugel_volume_stream_opts w = {.size = sizeof w,
                                  .in = KUGEL_F64,
                                  .out = KUGEL_F64,
                                  .read = read_box,
                                  .write = write_box,
                                  .done = in_order,
                                  .user = out[i]};
    CHECK_OK(kugel_volume_stream(plan, &w));
    kugel_volume_destroy(plan);
  }
  CHECK(!memcmp(out[0], out[1], 40 * 18 * 21 * 8));
  kugel_ctx_destroy(several);
  kugel_ctx_destroy(one);
}

int main(void)
{
  uint64_t seed = 8;
  int opencl = 0;
  setenv("POCL_DEVICES", "pthread pthread", 0);
  for (size_t i = 0; i < sizeof image / sizeof *image; i++)
    image[i] = check_random(&seed);
  for (size_t i = 0; i < sizeof kernel / sizeof *kernel; i++)
    kernel[i] = check_random(&seed) + 1.2;
  kugel_device_info info, last = {.size = 0};
  char twins[16] = "";
  for (int i = 0; every_device(&i, true, &info);)
    CASE(info.name)
    {
      kugel_ctx *ctx = NULL;
      CHECK_OK(
          kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = info.name}, &ctx));
      if (ctx) {
        traffic(ctx);
        shapes(ctx);
        tiles(ctx);
        types(ctx);
        streams(ctx);
        limits(info.name);
        faults(ctx, false);
        faults(ctx, true);
      }
      opencl += every_several(&info);
      every_twins(&info, &last, twins);
      kugel_ctx_destroy(ctx);
    }
  CASE("several devices")
  {
    if (opencl)
      shared_tiles(every_pair(twins));
    else
      SKIP("no OpenCL device");
  }
  END();
}
