/* SPDX-License-Identifier: BSD-3-Clause */
/* Tiles of the adjoint, added up where they overlap. */
#include "core/parallel.h"
#include "volume/plan/plan.h"

typedef struct sum { // of a tile into the image
  const kugel_volume *p;
  const kugel__volume_reach *reach;
  const char *tile;
  char *image;
} sum;

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

// Voxels of a row; runs of neighbours at once.
static void add_row(const kugel_volume *p, const kugel__volume_reach *r, const char *from, char *to)
{
  int64_t parts = p->opts.complex_data ? 2 : 1, run = r->source ? 1 : r->count,
          size = (int64_t)p->real * parts;
  for (int64_t i = 0; i < r->count; i += run) {
    const void *x = from + i * size;
    void *y = to + (r->source ? r->source[i] : r->datum) * size;
    if (p->f32)
      add_floats(run * parts, x, y);
    else
      add_doubles(run * parts, x, y);
  }
}

// Adds what goes to slice z of the image.
static kugel_status add_slice(void *arg, int64_t z)
{
  const sum *s = arg;
  const kugel__volume_reach *r = s->reach;
  const kugel_volume *p = s->p;
  int64_t size = (int64_t)p->real * (p->opts.complex_data ? 2 : 1), row = p->axis[2].n * size;
  for (int64_t i = 0; i < r[0].count; i++) {
    if ((r[0].source ? r[0].source[i] : r[0].datum + i) != z)
      continue;
    for (int64_t j = 0; j < r[1].count; j++) {
      int64_t y = r[1].source ? r[1].source[j] : r[1].datum + j;
      add_row(p, &r[2], s->tile + (i * r[1].count + j) * r[2].count * size,
              s->image + (z * p->axis[1].n + y) * row);
    }
  }
  return KUGEL_OK;
}

kugel_status kugel__volume_add_tile(const kugel_volume *p, const kugel__volume_reach *reach, const char *tile,
                                    char *image)
{
  sum total = {.p = p, .reach = reach, .tile = tile, .image = image};
  return kugel__parallel(p->ctx, p->axis[0].n, add_slice, &total);
}
