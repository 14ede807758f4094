/* SPDX-License-Identifier: BSD-3-Clause */
/* LABEL: long. ISA: once */
/* Volumes over ranks that have a device each: direct sums in long double, and the bits of one rank for any number of them. */
#include "device/every.h"
#include "volume/ranks_device.h"
#include <unistd.h>

// <H x, y> and <x, H* y> of the first image, by the largest term, y = H x as it was stored.
static double asymmetry(const setup *t)
{
  long double complex left = 0, right = 0;
  long double norm = 0;
  int64_t n = product3(t->truth.n), m = product3(t->m) * kernels(t);
  for (int64_t i = 0; i < m; i++) {
    long double complex y = get(t->out, t->got, i);
    left += conjl(y) * y;
  }
  for (int64_t i = 0; i < n; i++) {
    long double complex x = get(t->in, t->image, i), a = get(t->in, t->back, i);
    right += conjl(x) * a;
    norm += cabsl(x) * cabsl(a);
  }
  return (double)(cabsl(left - right) / norm);
}

static double bound_of(const setup *t)
{
  return t->out.code == KUGEL_UINT ? 1 : t->opts.precision == KUGEL_PRECISION_F32 ? 8e-7 : 1e-14;
}

static void check(const char *device, setup t)
{
  static const int counts[] = {1, 2, 3, MOST_RANKS};
  int runs = t.in.code == t.out.code && !t.there && !t.devices && t.opts.boundary % 4 == 0 ? 4 : 3;
  t.device = t.device ? t.device : device;
  begin(&t);
  for (int i = 0; i < runs; i++) {
    size_t bytes = MOST * 16 * (size_t)batch_of(&t);
    if (!run(&t, counts[i]))
      break;
    if (i == 0) {
      CHECK_LE(error_of(&t), bound_of(&t));
      memcpy(t.first, t.got, bytes);
      memcpy(t.first_back, t.back, bytes);
      t.first_clipped = t.clipped;
      if (t.opts.engine == KUGEL_VOLUME_GLOBAL && t.out.code != KUGEL_UINT)
        CHECK_LE(asymmetry(&t), t.in.bits == 32 || t.opts.precision == KUGEL_PRECISION_F32 ? 1e-6 : 1e-13);
      continue;
    }
    if (memcmp(t.first, t.got, bytes) || t.first_clipped != t.clipped)
      CHECK_FAIL("results of %d ranks differ from those of one", counts[i]);
    if (memcmp(t.first_back, t.back, bytes))
      CHECK_FAIL("the adjoint of %d ranks differs from that of one", counts[i]);
  }
  if (t.out.code == KUGEL_UINT)
    CHECK(t.first_clipped > 0);
  finish(&t);
}

static const int64_t tile[3] = {2, 5, 6};

// GLOBAL takes no notice of the tile.
static void boundaries(const char *name, kugel_volume_engine engine)
{
  for (int b = KUGEL_BOUNDARY_ZERO; b <= KUGEL_BOUNDARY_UNKNOWN; b++) {
    kugel_volume_opts o = {.extent = KUGEL_CONV_SAME,
                           .boundary = (kugel_boundary)b,
                           .engine = engine,
                           .tile = tile,
                           .correlate = b % 2};
    check(name, (setup){.opts = o, .truth.k = {7, 4, 5}, .in = KUGEL_F32, .out = KUGEL_F64, .there = b % 2});
  }
}

static void depths(const char *name, kugel_volume_engine engine)
{
  for (int b = KUGEL_BOUNDARY_ZERO; b <= KUGEL_BOUNDARY_UNKNOWN; b += 2) {
    kugel_volume_opts o = {.extent = KUGEL_CONV_SAME,
                           .boundary = (kugel_boundary)b,
                           .engine = engine,
                           .tile = tile,
                           .depths = DEPTHS,
                           .depth = depth_planes};
    check(name, (setup){.opts = o, .truth.k = {7, 4, 5}, .in = KUGEL_F64, .out = KUGEL_F64, .there = b == 2});
  }
}

static void kinds_of_tiles(const char *name)
{
  kugel_volume_opts o = {.extent = KUGEL_CONV_FULL,
                         .kernels = 2,
                         .engine = KUGEL_VOLUME_TILES,
                         .tile = tile,
                         .precision = KUGEL_PRECISION_F32,
                         .scale = 0.25};
  check(
      name,
      (setup){.opts = o, .truth.k = {3, 3, 3}, .in = KUGEL_U16, .out = KUGEL_U16, .there = true, .batch = 2});
  o.boundary = KUGEL_BOUNDARY_UNKNOWN;
  o.extent = KUGEL_CONV_SAME;
  o.scale = 0;
  check(name, (setup){.opts = o, .truth.k = {3, 3, 3}, .in = KUGEL_F32, .out = KUGEL_F32});
  kugel_volume_opts z = {.extent = KUGEL_CONV_VALID,
                         .engine = KUGEL_VOLUME_TILES,
                         .tile = tile,
                         .complex_data = 1,
                         .correlate = 1};
  check(name, (setup){.opts = z, .truth.k = {7, 4, 5}, .in = KUGEL_C128, .out = KUGEL_C128, .there = true});
}

static void kinds_of_whole(const char *name)
{
  kugel_volume_opts o = {.extent = KUGEL_CONV_FULL,
                         .kernels = 2,
                         .engine = KUGEL_VOLUME_GLOBAL,
                         .precision = KUGEL_PRECISION_F32,
                         .scale = 0.25};
  check(
      name,
      (setup){.opts = o, .truth.k = {3, 3, 3}, .in = KUGEL_U16, .out = KUGEL_U16, .there = true, .batch = 2});
  o.boundary = KUGEL_BOUNDARY_UNKNOWN;
  o.extent = KUGEL_CONV_SAME;
  o.scale = 0;
  check(name, (setup){.opts = o, .truth.k = {3, 3, 3}, .in = KUGEL_F32, .out = KUGEL_F32});
  o.boundary = KUGEL_BOUNDARY_REPLICATE;
  o.kernels = 0;
  check(name, (setup){.opts = o, .truth.k = {4, 5, 3}, .in = KUGEL_F32, .out = KUGEL_F32});
  o.boundary = KUGEL_BOUNDARY_REFLECT;
  o.kernels = 2;
  o.precision = KUGEL_PRECISION_F64;
  check(name, (setup){.opts = o, .truth.k = {4, 5, 3}, .in = KUGEL_F64, .out = KUGEL_F64, .there = true});
  kugel_volume_opts z = {.extent = KUGEL_CONV_SAME,
                         .boundary = KUGEL_BOUNDARY_PERIODIC,
                         .engine = KUGEL_VOLUME_GLOBAL,
                         .complex_data = 1,
                         .correlate = 1};
  check(name, (setup){.opts = z, .truth.k = {13, 4, 15}, .in = KUGEL_C128, .out = KUGEL_C128, .there = true});
}

int main(void)
{
  kugel_device_info info;
  alarm(600); // a rank that waits for ever ends the test
  int cuda = 0;
  for (int at = 0; every_device(&at, true, &info);) {
    cuda += info.device.type == KUGEL_CUDA;
    if (every_miscompiles(&info) || (info.device.type == KUGEL_CUDA && cuda > 1))
      continue;
    CASE(every_title(&info, "tiles: all boundaries, more ranks than planes"))
    boundaries(info.name, KUGEL_VOLUME_TILES);
    CASE(every_title(&info, "tiles: 16 bits, several kernels, batches, complex numbers"))
    kinds_of_tiles(info.name);
    CASE(every_title(&info, "tiles: kernels by depth")) depths(info.name, KUGEL_VOLUME_TILES);
    CASE(every_title(&info, "the whole transform: all boundaries, more ranks than planes"))
    boundaries(info.name, KUGEL_VOLUME_GLOBAL);
    CASE(every_title(&info, "the whole transform: 16 bits, several kernels, batches, complex numbers"))
    kinds_of_whole(info.name);
    CASE(every_title(&info, "the whole transform: kernels by depth")) depths(info.name, KUGEL_VOLUME_GLOBAL);
  }
  if (cuda > 1)
    CASE("several CUDA devices")
    {
      kugel_volume_opts o = {.extent = KUGEL_CONV_SAME, .boundary = KUGEL_BOUNDARY_REFLECT, .tile = tile};
      for (o.engine = KUGEL_VOLUME_TILES; o.engine <= KUGEL_VOLUME_GLOBAL; o.engine += 3)
        for (int there = 0; there < 2; there++)
          check("cuda:%d", (setup){.opts = o,
                                   .truth.k = {7, 4, 5},
                                   .in = KUGEL_F32,
                                   .out = KUGEL_F64,
                                   .devices = cuda,
                                   .there = there});
    }
  END();
}
