/* SPDX-License-Identifier: BSD-3-Clause */
/* ISA: once */
/* Whole transforms of a rank 0 that leads, in contexts of devices: the CPU's values, the same bits for any number of ranks, streams,
 * failures. */
#include "device/every.h"
#include "ranks.h"
#include "core/alloc.h"
#include "device/device.h"
#include "volume/voxels.h"
#include <kugel/volume.h>

enum { NZ = 11, NY = 13, NX = 10, KZ = 3, KY = 4, KX = 5, MOST = 2 * (NZ + KZ) * (NY + KY) * (NX + KX) };
static const int64_t n[3] = {NZ, NY, NX}, k[3] = {KZ, KY, KX};

typedef struct setup {
  const char *device, *serving; // NULL: the CPU
  kugel_volume_opts opts;
  kugel_dtype in, out;
  bool adjoint, stream;
  long fails_at; // driver call of all ranks
  int64_t m[3], clipped;
  char *image, *got;
  double kernel[4 * KZ * KY * KX];
  kugel_status status;
  char why[300];
} setup;

static int64_t kernels(const setup *t)
{
  return t->opts.kernels ? t->opts.kernels : 1;
}

static int read_box(void *user, const int64_t *lo, const int64_t *count, void *values)
{
  setup *t = user;
  size_t size = t->in.bits / 8;
  CHECK(lo[1] == 0 && lo[2] == 0 && count[1] == NY && count[2] == NX);
  memcpy(values, t->image + (size_t)(lo[0] * NY * NX) * size, (size_t)(count[0] * NY * NX) * size);
  return 0;
}

static int write_box(void *user, const int64_t *lo, const int64_t *count, const void *values)
{
  setup *t = user;
  size_t plane = (size_t)(t->m[1] * t->m[2]) * t->out.bits / 8;
  for (int64_t i = 0; i < kernels(t); i++)
    memcpy(t->got + (size_t)(i * t->m[0] + lo[0]) * plane,
           (const char *)values + (size_t)(i * count[0]) * plane, (size_t)count[0] * plane);
  return 0;
}

static kugel_status convolve(kugel_ctx *ctx, setup *t)
{
  const bool many = t->opts.kernels || t->opts.depths;
  int64_t shape[] = {t->opts.kernels ? t->opts.kernels : t->opts.depths, KZ, KY, KX};
  kugel_array kernel = {t->kernel,
                        {KUGEL_CPU, 0},
                        many ? 4 : 3,
                        t->opts.complex_data ? KUGEL_C128 : KUGEL_F64,
                        shape + !many,
                        NULL,
                        0};
  kugel_volume *p = NULL;
  kugel_volume_info info = {.size = sizeof info};
  kugel_status s = kugel_volume_create(ctx, 3, n, k, &kernel, &t->opts, &p);
  if (s)
    return s;
  CHECK_OK(kugel_volume_get_info(p, &info));
  CHECK(info.engine == (t->device ? KUGEL_VOLUME_GLOBAL : KUGEL_VOLUME_RESIDENT) && info.seconds > 0);
  memcpy(t->m, info.results, sizeof t->m);
  int64_t results[] = {kernels(t), t->m[0], t->m[1], t->m[2]};
  kugel_array in = {t->image, {KUGEL_CPU, 0}, 3, t->in, (int64_t *)n, NULL, 0},
              out = {
                  t->got, {KUGEL_CPU, 0}, t->opts.kernels ? 4 : 3, t->out, results + !t->opts.kernels, NULL,
                  0};
  kugel_volume_stream_opts so = {.size = sizeof so,
                                 .in = t->in,
                                 .out = t->out,
                                 .read = read_box,
                                 .write = write_box,
                                 .user = t,
                                 .clipped = &t->clipped};
  s = t->stream    ? kugel_volume_stream(p, &so)
      : t->adjoint ? kugel_volume_adjoint(p, &out, &in, &t->clipped, NULL)
                   : kugel_volume_execute(p, &in, &out, &t->clipped, NULL);
  kugel_volume_destroy(p);
  return s;
}

static void one_rank(kugel_comm *comm, void *arg)
{
  setup *t = arg;
  const int rank = rank_of(comm);
  kugel_ctx *ctx = NULL;
  int code = 0;
  CHECK_OK(kugel_ctx_create(
      &(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = rank ? t->serving : t->device}, &ctx));
  if (rank) {
    CHECK_OK(kugel_serve(ctx, comm, &code));
    CHECK(code == 5);
  } else {
    CHECK_OK(kugel_lead(ctx, comm));
    kugel__fault_device(t->fails_at);
    t->status = convolve(ctx, t);
    snprintf(t->why, sizeof t->why, "%s", t->status ? kugel_last_error() : "");
    kugel__fault_device(0);
    CHECK_OK(kugel_lead(ctx, NULL));
    CHECK_OK(kugel_dismiss(comm, 5));
  }
  kugel_ctx_destroy(ctx);
}

static kugel_status run(setup *t, int ranks)
{
  run_ranks(NULL, ranks, one_rank, t);
  return t->status;
}

static double value(kugel_dtype type, const char *values, int64_t i)
{
  return type.bits == 16   ? ((const uint16_t *)(const void *)values)[i]
         : type.bits == 32 ? (double)((const float *)(const void *)values)[i]
                           : ((const double *)(const void *)values)[i];
}

static void fill(setup *t)
{
  uint64_t seed = 6;
  fill_voxels(t->in, t->image, 2 * NZ * NY * NX, &seed);
  for (size_t i = 0; i < sizeof t->kernel / sizeof *t->kernel; i++)
    t->kernel[i] = 0.3 + check_random(&seed) * 0.3;
}

/* The largest difference by the largest value. */
static double difference(const setup *t, const char *want)
{
  const kugel_dtype type = t->adjoint ? t->in : t->out;
  double most = 0, worst = 0;
  for (int64_t i = 0; i < MOST * (type.code == KUGEL_COMPLEX ? 2 : 1); i++) {
    kugel_dtype part = type;
    part.bits = (uint8_t)(type.code == KUGEL_COMPLEX ? type.bits / 2 : type.bits);
    double a = value(part, want, i), b = value(part, t->adjoint ? t->image : t->got, i);
    most = fmax(most, fabs(a));
    worst = fmax(worst, fabs(a - b));
  }
  return worst / most;
}

static void check_setup(const char *device, setup t)
{
  static const int counts[] = {2, 3, 7};
  static const double planes[] = {2, 8};
  char *memory = calloc(4, MOST * 16), *want = memory + MOST * 16, *first = want + MOST * 16;
  t.opts.size = sizeof t.opts;
  t.opts.depth = t.opts.depths ? planes : NULL;
  t.image = memory;
  t.got = first + MOST * 16;
  fill(&t);
  t.opts.engine = KUGEL_VOLUME_RESIDENT;
  CHECK_OK(convolve(NULL, &t)); // results are what the adjoint takes
  char *result = t.adjoint ? t.image : t.got;
  int64_t clipped = t.clipped;
  if (t.adjoint) {
    t.adjoint = false;
    CHECK_OK(convolve(NULL, &t));
    t.adjoint = true;
    CHECK_OK(convolve(NULL, &t));
    clipped = t.clipped;
  }
  memcpy(want, result, MOST * 16);
  t.opts.engine = KUGEL_VOLUME_GLOBAL;
  t.device = t.serving = device;
  double bound = t.in.bits == 64 || t.in.bits == 128 ? 1e-13 : t.in.bits == 16 ? 1e-4 : 2e-6;
  for (int i = 0; i < 3; i++) {
    if (!t.adjoint)
      memset(result, 0, MOST * 16);
    t.stream = i == 2 && !t.adjoint;
    CHECK_OK(run(&t, counts[i]));
    CHECK_LE(difference(&t, want), bound);
    if (t.in.bits == 16)
      CHECK(t.clipped > 0 && llabs(t.clipped - clipped) < 4);
    if (i && memcmp(first, result, MOST * 16))
      CHECK_FAIL("%d ranks: other bits", counts[i]);
    memcpy(first, result, MOST * 16);
  }
  free(memory);
}

static void values(const char *device)
{
  static const kugel_boundary boundaries[] = {KUGEL_BOUNDARY_ZERO, KUGEL_BOUNDARY_UNKNOWN,
                                              KUGEL_BOUNDARY_REFLECT, KUGEL_BOUNDARY_PERIODIC};
  for (int i = 0; i < 4; i++)
    check_setup(device, (setup){.opts.boundary = boundaries[i], .in = KUGEL_F64, .out = KUGEL_F64});
  check_setup(device, (setup){.opts = {.kernels = 2, .extent = KUGEL_CONV_FULL, .correlate = 1},
                              .in = KUGEL_F64,
                              .out = KUGEL_F64});
  check_setup(
      device,
      (setup){.opts = {.depths = 2, .precision = KUGEL_PRECISION_F32}, .in = KUGEL_F32, .out = KUGEL_F32});
  check_setup(device, (setup){.opts.complex_data = 1, .in = KUGEL_C128, .out = KUGEL_C128});
  check_setup(device, (setup){.in = KUGEL_U16, .out = KUGEL_U16});
  check_setup(device, (setup){.adjoint = true, .in = KUGEL_F64, .out = KUGEL_F64});
}

static void failures(const char *device)
{
  char *memory = calloc(2, MOST * 16);
  setup t = {.device = device, .in = KUGEL_F64, .out = KUGEL_F64, .image = memory, .got = memory + MOST * 16};
  t.opts = (kugel_volume_opts){.size = sizeof t.opts, .engine = KUGEL_VOLUME_GLOBAL};
  fill(&t);
  CHECK_IS(run(&t, 3), KUGEL_ENOTSUP);
  CHECK(strstr(t.why, "no devices of the kind of rank 0's") != NULL);
  t.serving = device;
  kugel_status s = KUGEL_EDEVICE;
  for (long i = 1; s && i < 3000; i += i < 30 ? 1 : 41) {
    t.fails_at = i;
    s = run(&t, 3);
    CHECK(!s || s == KUGEL_EDEVICE || s == KUGEL_ENOMEM || s == KUGEL_ECOMPILE);
  }
  CHECK_OK(s);
  free(memory);
}

int main(void)
{
  kugel_device_info info;
  setenv("KUGEL_PEERS", "copy", 0);
  for (int at = 0; every_device(&at, true, &info);) {
    if (!info.fp64)
      continue;
    CASE(every_title(&info, "values")) values(info.name);
    every_hold(&info, true);
    CASE(every_title(&info, "failures")) failures(info.name);
    every_hold(&info, false);
  }
  END();
}
