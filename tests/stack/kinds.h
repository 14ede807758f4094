/* SPDX-License-Identifier: BSD-3-Clause */
/* A stack of numbers in every format that is written, in a folder of its own. */
#ifndef KUGEL_TESTS_STACK_KINDS_H
#define KUGEL_TESTS_STACK_KINDS_H

#include "check.h"
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <kugel/kugel.h>
#include "core/alloc.h"
#include "io/folder.h"

enum { T = 2, C = 3, Z = 4, Y = 37, X = 50, N = T * C * Z * Y * X };
static char folder[64];
static uint16_t data[N], got[N];
static const char *const names[] = {"DAPI", "\xc2\xb5<G>&\"", ""};

static const struct {
  const char *name;
  int compression, bigtiff;
  int64_t chunk[3];
} kinds[] = {{"a.tif", 0, 0, {0}},
             {"a.tif", KUGEL_COMPRESS_DEFLATE, 0, {0}},
             {"a.tif", KUGEL_COMPRESS_LZW, 0, {0, 5, 0}},
             {"a.ome.tif", 0, 0, {0}},
             {"a.ome.tif", 0, 1, {0, 16, 16}},
             {"a.ome.tif", KUGEL_COMPRESS_ZSTD, 1, {0, 32, 16}},
             {"a.ome.tif", KUGEL_COMPRESS_PACKBITS, 0, {0}},
             {"a.npy", 0, 0, {0}},
             {"a.nrrd", 0, 0, {0}},
             {"a.nrrd", KUGEL_COMPRESS_DEFLATE, 0, {0}},
             {"a.nhdr", KUGEL_COMPRESS_DEFLATE, 0, {0}},
             {"a.mha", 0, 0, {0}},
             {"a.mha", KUGEL_COMPRESS_DEFLATE, 0, {0}},
             {"a.mhd", KUGEL_COMPRESS_DEFLATE, 0, {0}},
             {"a.zarr", KUGEL_COMPRESS_NONE, 0, {2, 16, 16}},
             {"a.zarr", KUGEL_COMPRESS_ZSTD, 2, {2, 10, 16}}, // 2: chunks of a shard along each axis
             {"b.zarr", 0, 0, {3, 16, 16}},
             {"a.ims", 0, 0, {3, 16, 16}},
             {"a.ims", KUGEL_COMPRESS_DEFLATE, 0, {0}},
             {"a.h5", KUGEL_COMPRESS_DEFLATE, 0, {3, 16, 16}}};
enum { KINDS = sizeof kinds / sizeof kinds[0], HDF5 = KINDS - 3, ZARR = KINDS - 6 };

static inline const char *named(const char *name)
{
  static char path[128];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

static inline kugel_image_opts options(int k)
{
  kugel_image_opts o = {.size = sizeof o,
                        .shape = {T, C, Z, Y, X},
                        .dtype = KUGEL_U16,
                        .compression = kinds[k].compression,
                        .voxel = {0.3, 0.13, 0.1299},
                        .time_step = 2.5,
                        .channel_names = names,
                        .bigtiff = kinds[k].bigtiff,
                        .shard = kinds[k].bigtiff,
                        .format = *kinds[k].name == 'b' ? KUGEL_IMAGE_ZARR2 : KUGEL_IMAGE_AUTO,
                        .overwrite = 1};
  memcpy(o.chunk, kinds[k].chunk, sizeof o.chunk);
  return o;
}

static inline kugel_status create(kugel_ctx *ctx, int k, kugel_image **out)
{
  kugel_image_opts o = options(k);
  return kugel_image_create(ctx, named(kinds[k].name), &o, out);
}

static inline int64_t least(int64_t a, int64_t b)
{
  return a < b ? a : b;
}

/* All voxels; with odd boxes in no order, or by planes. */
static inline kugel_status fill(kugel_image *im, bool odd)
{
  const int64_t step[3] = {odd ? 3 : Z, odd ? 11 : Y, odd ? 17 : X};
  for (int64_t t = T - 1; t >= 0; t--)
    for (int64_t c = 0; c < C; c++)
      for (int64_t z = (Z - 1) / step[0] * step[0]; z >= 0; z -= step[0])
        for (int64_t y = 0; y < Y; y += step[1])
          for (int64_t x = 0; x < X; x += step[2]) {
            int64_t lo[3] = {z, y, x},
                    n[3] = {least(step[0], Z - z), least(step[1], Y - y), least(step[2], X - x)};
            kugel_array a = {data + (((t * C + c) * Z + z) * Y + y) * X + x,
                             {KUGEL_CPU, 0},
                             3,
                             KUGEL_U16,
                             n,
                             (int64_t[]){Y * X, X, 1},
                             0};
            kugel_status s = kugel_image_write(im, t, c, lo, n, &a);
            if (s)
              return s;
          }
  return KUGEL_OK;
}

static inline kugel_status write_kind(kugel_ctx *ctx, int k, bool odd)
{
  kugel_image *im;
  kugel_status s = create(ctx, k, &im);
  if (s)
    return s;
  s = fill(im, odd);
  kugel_status end = kugel_image_close(im, !s);
  return s ? s : end;
}

static inline kugel_status read_back(kugel_ctx *ctx, const char *path)
{
  kugel_image *im;
  kugel_image_info info = {.size = sizeof info};
  kugel_status s = kugel_image_open(ctx, path, NULL, &im);
  if (s)
    return s;
  s = kugel_image_get_info(im, &info);
  if (!s &&
      (info.shape[0] * info.shape[1] > T * C || info.shape[2] * info.shape[3] * info.shape[4] > Z * Y * X))
    s = KUGEL_EFORMAT; // a damaged header may say anything
  int64_t lo[3] = {0, 0, 0}, plane = info.shape[2] * info.shape[3] * info.shape[4];
  for (int64_t k = 0; !s && k < info.shape[0] * info.shape[1]; k++)
    s = kugel_image_read(
        im, k / info.shape[1], k % info.shape[1], lo, info.shape + 2,
        KUGEL_ARRAY(got + k * plane, KUGEL_U16, info.shape[2], info.shape[3], info.shape[4]));
  kugel_image_close(im, 1);
  return s;
}

static inline void clear(void)
{
  char command[96];
  snprintf(command, sizeof command, "rm -rf %s/*", folder);
  CHECK(system(command) == 0);
}

/* Those that this build has. */
static inline int kinds_here(void)
{
  kugel_image *im;
  kugel_status s = create(NULL, HDF5, &im);
  if (!s)
    kugel_image_close(im, 0);
  return s == KUGEL_ENOTSUP ? HDF5 : KINDS;
}

/* An empty folder, and numbers in `data`. */
static inline void begin(void)
{
  signal(SIGXFSZ, SIG_IGN);
  snprintf(folder, sizeof folder, "/tmp/kugel-stack-%d", (int)getpid());
  CHECK(mkdir(folder, 0777) == 0);
  for (int i = 0; i < N; i++)
    data[i] = (uint16_t)(i * 2654435761u >> 19);
}

#endif
