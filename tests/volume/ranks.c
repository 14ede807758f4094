/* SPDX-License-Identifier: BSD-3-Clause */
/* Tiles that rank 0 shares out: the bits of one process, in memory and in streams; failures of callbacks and of memory. */
#include "comm/faults.h"
#include "volume/voxels.h"
#include <kugel/volume.h>

enum { NZ = 14, NY = 19, NX = 23, KZ = 3, KY = 5, KX = 4, MOST = 2 * (NZ + KZ) * (NY + KY) * (NX + KX) };

typedef struct setup {
  kugel_volume_opts opts;
  kugel_dtype in, out;
  bool adjoint, stream;
  int fails_at; // of the reads; 0: none
  int reads;
  int64_t m[3], clipped, want_clipped;
  char *image, *want, *got;
  kugel_array kernel;
} setup;

static int read_box(void *user, const int64_t *lo, const int64_t *n, void *values)
{
  setup *t = user;
  size_t size = t->in.bits / 8;
  if (++t->reads == t->fails_at)
    return 7;
  for (int64_t z = 0; z < n[0]; z++)
    for (int64_t y = 0; y < n[1]; y++)
      memcpy((char *)values + (size_t)((z * n[1] + y) * n[2]) * size,
             t->image + (size_t)(((lo[0] + z) * NY + lo[1] + y) * NX + lo[2]) * size, (size_t)n[2] * size);
  return 0;
}

static int write_box(void *user, const int64_t *lo, const int64_t *n, const void *values)
{
  setup *t = user;
  size_t size = t->out.bits / 8;
  int64_t kernels = t->opts.kernels ? t->opts.kernels : 1;
  for (int64_t k = 0; k < kernels; k++)
    for (int64_t z = 0; z < n[0]; z++)
      for (int64_t y = 0; y < n[1]; y++)
        memcpy(t->got + (size_t)(((k * t->m[0] + lo[0] + z) * t->m[1] + lo[1] + y) * t->m[2] + lo[2]) * size,
               (const char *)values + (size_t)(((k * n[0] + z) * n[1] + y) * n[2]) * size,
               (size_t)n[2] * size);
  return 0;
}

static kugel_status convolve(kugel_ctx *ctx, void *arg)
{
  setup *t = arg;
  t->reads = 0;
  static const int64_t n[3] = {NZ, NY, NX}, k[3] = {KZ, KY, KX};
  kugel_volume *p = NULL;
  kugel_volume_info info = {.size = sizeof info};
  kugel_status s = kugel_volume_create(ctx, 3, n, k, &t->kernel, &t->opts, &p);
  if (s)
    return s;
  CHECK_OK(kugel_volume_get_info(p, &info));
  CHECK(info.engine == KUGEL_VOLUME_TILES);
  memcpy(t->m, info.results, sizeof t->m);
  int64_t shape[4] = {t->opts.kernels, t->m[0], t->m[1], t->m[2]};
  int more = t->opts.kernels ? 1 : 0;
  kugel_array in = {t->image, {KUGEL_CPU, 0}, 3, t->in, (int64_t *)n, NULL, 0},
              out = {t->got, {KUGEL_CPU, 0}, 3 + more, t->out, shape + 1 - more, NULL, 0};
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

static void fill(setup *t, double *kernel)
{
  uint64_t seed = 6;
  static const int64_t one[] = {2, KZ, KY, KX};
  fill_voxels(t->in, t->image, 2 * NZ * NY * NX, &seed);
  for (int i = 0; i < 4 * KZ * KY * KX; i++)
    kernel[i] = 0.3 + check_random(&seed) * 0.3;
  bool many = t->opts.kernels > 0 || t->opts.depths > 0;
  t->kernel = (kugel_array){kernel,
                            {KUGEL_CPU, 0},
                            many ? 4 : 3,
                            t->opts.complex_data ? KUGEL_C128 : KUGEL_F64,
                            (int64_t *)one + !many,
                            NULL,
                            0};
}

static void check_setup(setup t)
{
  static const int64_t tile[3] = {5, 8, 11};
  static const int counts[] = {2, 3, 7};
  double kernel[4 * KZ * KY * KX];
  t.opts.size = sizeof t.opts;
  t.opts.engine = KUGEL_VOLUME_TILES;
  t.opts.tile = tile;
  t.image = calloc(MOST, 16);
  t.want = calloc(MOST, 16);
  t.got = calloc(MOST, 16);
  fill(&t, kernel);
  for (int stream = 0; stream < 2; stream++) {
    char *got = t.got;
    t.got = t.want;
    t.stream = stream && !t.adjoint;
    CHECK_OK(convolve(NULL, &t));
    t.got = got;
    t.want_clipped = t.clipped;
    for (int k = 0; k < 3; k++) {
      memset(t.got, 0, MOST * 16);
      CHECK_OK(run_led(counts[k], 0, convolve, &t));
      CHECK(t.clipped == t.want_clipped);
      if (memcmp(t.got, t.want, MOST * 16))
        CHECK_FAIL("%d ranks, %s: other bits", counts[k], t.stream ? "stream" : "arrays");
    }
  }
  free(t.image), free(t.want), free(t.got);
}

static void check_failures(void)
{
  static const int64_t tile[3] = {5, 8, 11};
  double kernel[4 * KZ * KY * KX];
  setup t = {
      .opts = {.size = sizeof t.opts, .engine = KUGEL_VOLUME_TILES, .tile = tile, .extent = KUGEL_CONV_SAME},
      .in = KUGEL_F32,
      .out = KUGEL_F32,
      .stream = true};
  t.opts.boundary = KUGEL_BOUNDARY_UNKNOWN;
  t.image = calloc(MOST, 16);
  t.got = calloc(MOST, 16);
  fill(&t, kernel);
  for (t.fails_at = 1; t.fails_at < 4; t.fails_at++)
    CHECK_IS(run_led(3, 0, convolve, &t), KUGEL_EIO);
  t.fails_at = 0;
  sweep_led(convolve, &t);
  free(t.image), free(t.got);
}

int main(void)
{
  alarm(100); // a rank that waits for ever ends the test
  kugel_volume_opts same = {.extent = KUGEL_CONV_SAME}, full = {.extent = KUGEL_CONV_FULL},
                    valid = {.extent = KUGEL_CONV_VALID};
  CASE("extents, boundaries, types, correlation, kernels, complex data; adjoints, which rank 0 runs alone")
  {
    check_setup((setup){.opts = full, .in = KUGEL_F64, .out = KUGEL_F64});
    valid.precision = KUGEL_PRECISION_F32;
    check_setup((setup){.opts = valid, .in = KUGEL_U16, .out = KUGEL_U16}); // clipped
    same.boundary = KUGEL_BOUNDARY_REFLECT;
    same.correlate = 1;
    check_setup((setup){.opts = same, .in = KUGEL_F32, .out = KUGEL_F64});
    same.boundary = KUGEL_BOUNDARY_PERIODIC;
    same.kernels = 2;
    same.scale = 0.5;
    check_setup((setup){.opts = same, .in = KUGEL_U16, .out = KUGEL_F32});
    same.boundary = KUGEL_BOUNDARY_UNKNOWN;
    same.kernels = 0;
    check_setup((setup){.opts = same, .in = KUGEL_F32, .out = KUGEL_F32});
    kugel_volume_opts deep = same; // whose tiles know which planes they have
    deep.depths = 2;
    deep.depth = (const double[]){3, 9.5};
    check_setup((setup){.opts = deep, .in = KUGEL_F32, .out = KUGEL_F32});
    deep.boundary = KUGEL_BOUNDARY_REFLECT;
    check_setup((setup){.opts = deep, .in = KUGEL_F64, .out = KUGEL_F64});
    full.complex_data = 1;
    check_setup((setup){.opts = full, .in = KUGEL_C128, .out = KUGEL_C128});
    same.boundary = KUGEL_BOUNDARY_ZERO;
    check_setup((setup){.opts = same, .in = KUGEL_F64, .out = KUGEL_F64, .adjoint = true});
  }
  CASE("callbacks and allocations that fail")
  {
    check_failures();
  }
  END();
}
