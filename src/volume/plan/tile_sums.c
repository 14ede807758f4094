/* SPDX-License-Identifier: BSD-3-Clause */
/* Tiles of the adjoint, added up where they overlap. */
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "volume/plan/plan.h"

typedef struct sum { // of a tile into the image
  const kugel_volume *p;
  const kugel__volume_reach *reach;
  const char *tile;
  char *image;
  int64_t real; // bytes of its reals
  double *
      row; // [workers][n of axis 2]: many terms may go to one voxel where a boundary repeats it; NULL: none repeats
} sum;

size_t kugel__volume_tile_sum_real(const kugel_volume *p)
{
  int64_t terms = 1; // at the most, of a voxel
  bool repeats = false;
  for (int d = 0; d < KUGEL__VOLUME_DIMS; d++) {
    const kugel__volume_axis *a = &p->axis[d];
    int64_t tile = p->tile[d], reach = tile + a->k - 1;
    terms *= kugel__min(p->tiles[d], (reach + tile - 1) / tile);
    repeats |= a->first < 0 || a->first + a->m + a->k - 1 > a->n;
  }
  repeats &= p->opts.boundary != KUGEL_BOUNDARY_ZERO && p->opts.boundary != KUGEL_BOUNDARY_UNKNOWN;
  return repeats || terms > 4 ? 8 : p->real;
}

static void add_floats(int64_t n, const float *restrict from, float *restrict to)
{
  for (int64_t i = 0; i < n; i++)
    to[i] += from[i];
}

static void add_doubles(int64_t n, const double *restrict from, double *restrict to)
{
  for (int64_t i = 0; i < n; i++)
    to[i] += from[i];
}

static void add_widened(int64_t n, const float *restrict from, double *restrict to)
{
  for (int64_t i = 0; i < n; i++)
    to[i] += (double)from[i];
}

static void add_row(const sum *s, const char *from, char *to)
{
  const kugel__volume_reach *r = &s->reach[2];
  int64_t parts = s->p->opts.complex_data ? 2 : 1;
  const void *x = from;
  void *y = to + r->datum * s->real * parts;
  if (s->real == 4)
    add_floats(r->count * parts, x, y);
  else if (s->p->f32)
    add_widened(r->count * parts, x, y);
  else
    add_doubles(r->count * parts, x, y);
}

static int64_t target(const kugel__volume_reach *r, int64_t i)
{
  return r->source ? r->source[i] : r->datum + i;
}

// The same in double, to voxels that may repeat.
static void collect_row(const sum *s, const char *from, double *row)
{
  const kugel__volume_reach *r = &s->reach[2];
  int64_t parts = s->p->opts.complex_data ? 2 : 1;
  for (int64_t i = 0; i < r->count; i++)
    for (int64_t c = 0; c < parts; c++) {
      int64_t at = i * parts + c;
      row[target(r, i) * parts + c] += s->p->f32 ? (double)((const float *)(const void *)from)[at]
                                                 : ((const double *)(const void *)from)[at];
    }
}

static void deliver_row(const sum *s, double *row, char *to)
{
  int64_t n = s->p->axis[2].n * (s->p->opts.complex_data ? 2 : 1);
  for (int64_t i = 0; i < n; i++) {
    if (s->real == 4)
      ((float *)(void *)to)[i] = (float)((double)((float *)(void *)to)[i] + row[i]);
    else
      ((double *)(void *)to)[i] += row[i];
    row[i] = 0;
  }
}

// Adds what goes to slice z of the image: all that goes to a row in a row, where a boundary repeats the last one.
static kugel_status add_slice(void *arg, int64_t z, int worker)
{
  const sum *s = arg;
  const kugel__volume_reach *r = s->reach;
  const kugel_volume *p = s->p;
  int64_t parts = p->opts.complex_data ? 2 : 1, size = (int64_t)p->real * parts,
          step = p->axis[2].n * s->real * parts;
  double *row = s->row ? s->row + worker * p->axis[2].n * parts : NULL;
  char *slice = s->image + z * p->axis[1].n * step;
  for (int64_t j = 0; j < r[1].count; j++) {
    int64_t y = target(&r[1], j);
    for (int64_t i = 0; i < r[0].count; i++) {
      const char *from = s->tile + (i * r[1].count + j) * r[2].count * size;
      if (target(&r[0], i) != z)
        continue;
      if (row)
        collect_row(s, from, row);
      else
        add_row(s, from, slice + y * step);
    }
    if (row && (j + 1 == r[1].count || target(&r[1], j + 1) != y))
      deliver_row(s, row, slice + y * step);
  }
  return KUGEL_OK;
}

kugel_status kugel__volume_add_tile(const kugel_volume *p, const kugel__volume_reach *reach, const char *tile,
                                    char *image)
{
  sum total = {
      .p = p, .reach = reach, .tile = tile, .image = image, .real = (int64_t)kugel__volume_tile_sum_real(p)};
  int workers = kugel__ctx_threads(p->ctx);
  size_t bytes = (size_t)(workers * p->axis[2].n) * (p->opts.complex_data ? 16 : 8);
  if (reach[0].source || reach[1].source || reach[2].source) {
    total.row = kugel__scratch_get(p->ctx, bytes);
    KUGEL_CHECK(total.row, KUGEL_ENOMEM, "no memory for a row of %lld sums", (long long)p->axis[2].n);
    memset(total.row, 0, bytes);
  }
  kugel_status s = kugel__parallel_on(p->ctx, workers, p->axis[0].n, add_slice, &total);
  if (total.row)
    kugel__scratch_put(p->ctx, total.row);
  return s;
}
