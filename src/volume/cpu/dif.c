/* SPDX-License-Identifier: BSD-3-Clause */
/* The decomposition of real data into complex parts, in place: a real matrix of 2 Q rows applied to each column. */
#include <kugel/fft.h>
#include "core/alloc.h"
#include "core/array.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "fft/roots/roots.h"
#include "volume/cpu/volume.h"

enum { MOST_PARTS = 4096, BLOCK = 64 }; // columns at a time

int64_t kugel_dif_length(int64_t least, int parts)
{
  if (least < 1 || least > (int64_t)1 << 40 || parts < 1 || parts > MOST_PARTS)
    return 0;
  int64_t segments = 2 * (int64_t)parts;
  return segments * kugel_fft_good_size((least + segments - 1) / segments);
}

static kugel_status check_length(int64_t length, int parts)
{
  KUGEL_CHECK(parts >= 1 && parts <= MOST_PARTS, KUGEL_EINVAL, "parts is %d, must be 1 to %d", parts,
              (int)MOST_PARTS);
  KUGEL_CHECK(length >= 1 && length % (2 * (int64_t)parts) == 0, KUGEL_EINVAL,
              "the length is %lld, must be a multiple of 2 parts = %d: take kugel_dif_length",
              (long long)length, 2 * parts);
  return KUGEL_OK;
}

kugel_status kugel_dif_twist(int64_t length, int parts, int part, double *twist)
{
  KUGEL_TRY(check_length(length, parts));
  KUGEL_CHECK(part >= 0 && part < parts, KUGEL_EINVAL, "part is %d, must be 0 to parts - 1 = %d", part,
              parts - 1);
  KUGEL_CHECK(twist, KUGEL_EINVAL, "twist is NULL: pass room for %lld complex numbers",
              (long long)(length / (2 * parts)));
  kugel__fft_roots(KUGEL__NO_TURN, kugel__turn_ratio(-(2 * (int64_t)part + 1), 2 * length),
                   length / (2 * parts), twist, 1);
  return KUGEL_OK;
}

typedef struct job {
  char *data;
  int64_t slab; // numbers of a slab
  int rows;     // 2 Q
  bool f32, back;
  const double *root; // [4 Q] re, im: e^{-2 pi i k / 4 Q}
  double *scratch;    // [workers][2][rows][BLOCK]
} job;

static void move(const job *j, int64_t first, int64_t count, double *values, bool in)
{
  for (int64_t r = 0; r < j->rows; r++) {
    float *f = (float *)(void *)j->data + r * j->slab + first;
    double *d = (double *)(void *)j->data + r * j->slab + first, *v = values + r * BLOCK;
    for (int64_t i = 0; i < count; i++)
      if (in)
        v[i] = j->f32 ? (double)f[i] : d[i];
      else if (j->f32)
        f[i] = (float)v[i];
      else
        d[i] = v[i];
  }
}

static kugel_status block(void *arg, int64_t index, int worker)
{
  const job *j = arg;
  int64_t first = index * BLOCK, count = kugel__min(BLOCK, j->slab - first), rows = j->rows;
  double *x = j->scratch + 2 * (int64_t)worker * rows * BLOCK, *y = x + rows * BLOCK;
  move(j, first, count, x, true);
  for (int64_t r = 0; r < rows; r++) {
    double *to = y + r * BLOCK;
    for (int64_t i = 0; i < count; i++)
      to[i] = 0;
    for (int64_t q = 0; q < rows; q++) {
      int64_t row = j->back ? q : r, column = j->back ? r : q; // of the matrix
      const double *root = j->root + 2 * ((row / 2 * 2 + 1) * column % (2 * rows));
      double t = root[row % 2] * (j->back ? 2 / (double)rows : 1);
      for (int64_t i = 0; i < count; i++)
        to[i] += t * x[q * BLOCK + i];
    }
  }
  move(j, first, count, y, false);
  return KUGEL_OK;
}

static kugel_status transform(kugel_ctx *ctx, int parts, const kugel_array *data, bool back)
{
  KUGEL_CHECK(data, KUGEL_EINVAL, "data is NULL: pass an array");
  KUGEL_CHECK(data->ndim >= 1, KUGEL_ESHAPE, "data have ndim %d, must be at least 1", data->ndim);
  KUGEL_CHECK(data->dtype.code == KUGEL_FLOAT && data->dtype.bits >= 32, KUGEL_ESHAPE,
              "data have type %d of %d bits, must be float32 or float64", data->dtype.code, data->dtype.bits);
  int64_t lead = -1;
  KUGEL_TRY(kugel__array_check(data, "data", data->dtype, 0, NULL, &lead));
  KUGEL_TRY(check_length(data->shape[0], parts));
  job j = {.data = kugel__array_data(data),
           .slab = kugel__array_count(data) / (2 * parts),
           .rows = 2 * parts,
           .f32 = data->dtype.bits == 32,
           .back = back};
  int64_t workers = kugel__ctx_threads(ctx), roots = 2 * (int64_t)j.rows,
          scratch = 2 * (int64_t)j.rows * BLOCK * workers;
  double *room;
  KUGEL_ALLOC(ctx, room, (size_t)(2 * roots + scratch) * 8);
  kugel__fft_roots(KUGEL__NO_TURN, kugel__turn_ratio(-1, roots), roots, room, 1);
  j.root = room;
  j.scratch = room + 2 * roots;
  kugel_status s = kugel__parallel_on(ctx, workers, (j.slab + BLOCK - 1) / BLOCK, block, &j);
  kugel__free(ctx, room);
  return s;
}

kugel_status kugel_dif_decompose(kugel_ctx *ctx, int parts, const kugel_array *data)
{
  return transform(ctx, parts, data, false);
}

kugel_status kugel_dif_compose(kugel_ctx *ctx, int parts, const kugel_array *data)
{
  return transform(ctx, parts, data, true);
}
