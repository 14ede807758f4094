/* SPDX-License-Identifier: BSD-3-Clause */
/* Volumes in boxes: the results of the whole, each voxel read once where planes are whole, resumed where it was stopped. */
#include "check.h"
#include <kugel/volume.h>
#include "sweep.h"

enum { Z = 40, Y = 23, X = 31, KZ = 7, KY = 6, KX = 9 };
static float image[Z * Y * X], kernel[KZ * KY * KX], whole[2 * Z * Y * X], got[2 * Z * Y * X];
static int touched[Z * Y * X];

typedef struct file {
  int reads, writes, kernels;
  int64_t stop, done;
} file;

static int read_box(void *user, const int64_t *lo, const int64_t *n, void *values)
{
  file *f = user;
  float *to = values;
  f->reads++;
  for (int64_t z = 0; z < n[0]; z++)
    for (int64_t y = 0; y < n[1]; y++)
      for (int64_t x = 0; x < n[2]; x++) {
        int64_t at = ((lo[0] + z) * Y + lo[1] + y) * X + lo[2] + x;
        if (lo[0] < 0 || lo[0] + n[0] > Z || lo[1] < 0 || lo[1] + n[1] > Y || lo[2] < 0 || lo[2] + n[2] > X)
          return 7;
        touched[at]++;
        *to++ = image[at];
      }
  return 0;
}

static int write_box(void *user, const int64_t *lo, const int64_t *n, const void *values)
{
  file *f = user;
  const float *from = values;
  f->writes++;
  for (int64_t q = 0; q < f->kernels; q++)
    for (int64_t z = 0; z < n[0]; z++)
      for (int64_t y = 0; y < n[1]; y++)
        for (int64_t x = 0; x < n[2]; x++)
          got[((q * Z + lo[0] + z) * Y + lo[1] + y) * X + lo[2] + x] = *from++;
  return 0;
}

static int done_box(void *user, int64_t box, int64_t boxes)
{
  file *f = user;
  CHECK(box < boxes);
  f->done = box + 1;
  return f->stop > 0 && f->done == f->stop;
}

static kugel_volume *plan_of(kugel_ctx *ctx, kugel_boundary boundary, kugel_volume_engine engine,
                             const int64_t *tile)
{
  int64_t n[3] = {Z, Y, X}, k[3] = {KZ, KY, KX};
  kugel_volume_opts o = {sizeof o,
                         .extent = KUGEL_CONV_SAME,
                         .boundary = boundary,
                         .precision = KUGEL_PRECISION_F32,
                         .engine = engine,
                         .tile = tile};
  kugel_volume *plan = NULL;
  CHECK_OK(kugel_volume_create(ctx, 3, n, k, KUGEL_ARRAY(kernel, KUGEL_F32, KZ, KY, KX), &o, &plan));
  return plan;
}

static double distance(void)
{
  double worst = 0, scale = 0;
  for (int i = 0; i < Z * Y * X; i++) {
    worst = fmax(worst, fabs((double)got[i] - whole[i]));
    scale = fmax(scale, fabs((double)whole[i]));
  }
  return worst / scale;
}

static void whole_of(kugel_boundary boundary)
{
  kugel_volume *plan = plan_of(NULL, boundary, KUGEL_VOLUME_RESIDENT, NULL);
  CHECK_OK(kugel_volume_execute(plan, KUGEL_ARRAY(image, KUGEL_F32, Z, Y, X),
                                KUGEL_ARRAY(whole, KUGEL_F32, Z, Y, X), NULL, NULL));
  kugel_volume_destroy(plan);
}

static kugel_volume_stream_opts stream_of(file *f)
{
  return (kugel_volume_stream_opts){sizeof(kugel_volume_stream_opts),
                                    .in = KUGEL_F32,
                                    .out = KUGEL_F32,
                                    .read = read_box,
                                    .write = write_box,
                                    .done = done_box,
                                    .user = f};
}

static void boxes_agree(kugel_boundary boundary)
{
  int64_t tile[3] = {9, 10, 16};
  whole_of(boundary);
  kugel_volume *plan = plan_of(NULL, boundary, KUGEL_VOLUME_TILES, tile);
  memset(touched, 0, sizeof touched);
  memset(got, 0, sizeof got);
  file f = {.kernels = 1};
  kugel_volume_stream_opts o = stream_of(&f);
  CHECK_OK(kugel_volume_stream(plan, &o));
  CHECK(f.writes == 5 && f.done == 5);
  CHECK_LE(distance(), 3e-7);
  int most = 0;
  for (int i = 0; i < Z * Y * X; i++)
    most = touched[i] > most ? touched[i] : most;
  CHECK(most == (boundary == KUGEL_BOUNDARY_PERIODIC ? 2 : 1)); // both ends are needed at both ends
  kugel_volume_destroy(plan);
}

static void continues(void)
{
  int64_t tile[3] = {9, 30, 40};
  whole_of(KUGEL_BOUNDARY_REFLECT);
  kugel_volume *plan = plan_of(NULL, KUGEL_BOUNDARY_REFLECT, KUGEL_VOLUME_TILES, tile);
  memset(got, 0, sizeof got);
  file f = {.kernels = 1, .stop = 3};
  kugel_volume_stream_opts o = stream_of(&f);
  CHECK_IS(kugel_volume_stream(plan, &o), KUGEL_ECANCELED);
  CHECK(f.done == 3 && distance() > 0.1);
  f.stop = 0;
  o.first = 3;
  CHECK_OK(kugel_volume_stream(plan, &o));
  CHECK(f.writes == 5);
  CHECK_LE(distance(), 3e-7);
  o.boxes = 5;
  CHECK_OK(kugel_volume_stream(plan, &o)); // of as many boxes: the last two once more
  CHECK(f.writes == 7);
  o.first = 6;
  CHECK_IS(kugel_volume_stream(plan, &o), KUGEL_EINVAL);
  o.boxes = 9;
  memset(got, 0, sizeof got);
  CHECK_OK(kugel_volume_stream(plan, &o)); // of others: all of them
  CHECK(f.writes == 12);
  CHECK_LE(distance(), 3e-7);
  kugel_volume_destroy(plan);
}

// With less memory than the whole needs, and then with less than planes need.
static void within_memory(void)
{
  kugel_volume_info info = {.size = sizeof info};
  kugel_volume *plan = plan_of(NULL, KUGEL_BOUNDARY_ZERO, KUGEL_VOLUME_RESIDENT, NULL);
  CHECK_OK(kugel_volume_get_info(plan, &info));
  kugel_volume_destroy(plan);
  whole_of(KUGEL_BOUNDARY_ZERO);
  uint64_t all = info.host_bytes;
  for (int part = 2; part <= 8;
       part *= 2) { // the smallest tile takes more than a sixteenth with vectors of 16 or 32 bytes
    kugel_ctx *ctx;
    CHECK_OK(kugel_ctx_create(NULL, &ctx));
    CHECK_OK(kugel_ctx_limit_memory(ctx, all / (uint64_t)part));
    plan = plan_of(ctx, KUGEL_BOUNDARY_ZERO, KUGEL_VOLUME_AUTO, NULL);
    CHECK_OK(kugel_volume_get_info(plan, &info));
    CHECK(info.engine != KUGEL_VOLUME_RESIDENT && info.host_bytes <= all / (uint64_t)part);
    bool parts = info.engine == KUGEL_VOLUME_DIF; // by instruction set: the cost model
    CHECK(parts ? info.parts > 1 : info.tiles > 1);
    memset(got, 0, sizeof got);
    file f = {.kernels = 1};
    kugel_volume_stream_opts o = stream_of(&f);
    CHECK_OK(kugel_volume_stream(plan, &o));
    CHECK_LE(distance(), 3e-7);
    kugel_volume_destroy(plan);
    kugel_ctx_destroy(ctx);
  }
}

static kugel_status once(void *none)
{
  (void)none;
  int64_t n[3] = {Z, Y, X}, k[3] = {KZ, KY, KX}, tile[3] = {20, Y, X};
  kugel_volume_opts o = {sizeof o,     .extent = KUGEL_CONV_SAME,    .boundary = KUGEL_BOUNDARY_UNKNOWN,
                         .tile = tile, .engine = KUGEL_VOLUME_TILES, .precision = KUGEL_PRECISION_F32};
  kugel_volume *plan;
  kugel_status s = kugel_volume_create(NULL, 3, n, k, KUGEL_ARRAY(kernel, KUGEL_F32, KZ, KY, KX), &o, &plan);
  file f = {.kernels = 1};
  kugel_volume_stream_opts so = stream_of(&f);
  if (!s)
    s = kugel_volume_stream(plan, &so);
  kugel_volume_destroy(plan);
  return s;
}

static int refuse(void *user, const int64_t *lo, const int64_t *n, void *values)
{
  (void)user, (void)lo, (void)n, (void)values;
  return 5;
}

int main(void)
{
  CHECK_OK(
      kugel_set_num_threads(1)); // limits of memory are for small volumes, and each thread has its scratch
  uint64_t seed = 4;
  for (int i = 0; i < Z * Y * X; i++)
    image[i] = (float)check_random(&seed);
  for (int i = 0; i < KZ * KY * KX; i++)
    kernel[i] = (float)(check_random(&seed) + 1.5);
  CASE("boxes give the whole, and read each voxel once")
  for (int b = KUGEL_BOUNDARY_ZERO; b <= KUGEL_BOUNDARY_UNKNOWN; b++)
    boxes_agree((kugel_boundary)b);
  CASE("what was stopped continues")
  continues();
  CASE("within a limit of memory")
  within_memory();
  CASE("engines without tiles have one box")
  {
    whole_of(KUGEL_BOUNDARY_ZERO);
    kugel_volume *plan = plan_of(NULL, KUGEL_BOUNDARY_ZERO, KUGEL_VOLUME_RESIDENT, NULL);
    file f = {.kernels = 1};
    kugel_volume_stream_opts o = stream_of(&f);
    CHECK_OK(kugel_volume_stream(plan, &o));
    CHECK(f.writes == 1 && distance() == 0);
    o.read = refuse;
    CHECK_IS(kugel_volume_stream(plan, &o), KUGEL_EIO);
    CHECK(strstr(kugel_last_error(), "returned 5"));
    o.read = NULL;
    CHECK_IS(kugel_volume_stream(plan, &o), KUGEL_EINVAL);
    kugel_volume_destroy(plan);
  }
  CASE("each allocation may fail")
  sweep_allocations(once, NULL);
  END();
}
