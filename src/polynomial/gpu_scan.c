/* SPDX-License-Identifier: BSD-3-Clause */
/* Chains by scans on devices: their shape, and rotations in the order in which kernels/scan.h.cl reads them. */
#include <string.h>
#include "core/alloc.h"
#include "polynomial/gpu.h"
#include "polynomial/jacobi.h"

enum { WARP = 32, LEVELS = 5, MOST = 28 /* places of a thread, in registers: more would spill */ };

kugel_status kugel__poly_scan_shape(bool cuda, int64_t rows, kugel__poly_shape *out)
{
  KUGEL_CHECK(rows <= WARP * MOST, KUGEL_ENOTSUP,
              "engine KUGEL_WORLAND_SCAN has registers for lines of %d rows, and these have %lld: take "
              "KUGEL_WORLAND_CONNECTION",
              WARP * MOST, (long long)rows);
  *out = (kugel__poly_shape){.group = WARP,
                             .steps = 1,
                             .lanes = 4,
                             .warps = cuda ? 4 : 1,
                             .blocks = 2,
                             .ticks = 4,
                             .scan = (int)((rows + WARP - 1) / WARP)};
  return KUGEL_OK;
}

int64_t kugel__poly_scan_pairs(const kugel__poly_shape *s)
{
  return WARP * s->scan + LEVELS * WARP / 2;
}

static void put(const kugel__poly_gpu *g, char *at, int64_t i, double v)
{
  if (g->single)
    ((float *)(void *)at)[i] = (float)v;
  else
    ((double *)(void *)at)[i] = v;
}

static double get(const kugel__poly_gpu *g, const char *at, int64_t i)
{
  return g->single ? (double)((const float *)(const void *)at)[i] : ((const double *)(const void *)at)[i];
}

/* Step i of a family; scratch: its rotations. Products are of -S as rounded, of each thread, then of 2, 4, ... 16. */
static void fill_step(const kugel__poly_gpu *g, const kugel__poly_rotations *f, int64_t i, char *scratch,
                      char *to)
{
  int64_t places = g->shape.scan, count = kugel__max(0, f->reach - i);
  long double window[WARP];
  char *products = to + 2 * g->word * (size_t)(WARP * places);
  kugel__jacobi_rotations(f->a, f->b0 + 2 * (double)i, f->sign, count, g->single, scratch);
  for (int64_t t = 0; t < WARP; t++) {
    window[t] = 1;
    for (int64_t j = 0; j < places; j++) {
      int64_t k = t * places + j - 1 - i, at = 2 * (j * WARP + t);
      bool turns = k >= 0 && k < count;
      put(g, to, at, turns ? get(g, scratch, 2 * k) : 1);
      put(g, to, at + 1, turns ? get(g, scratch, 2 * k + 1) : 0);
      window[t] *= -(long double)get(g, to, at + 1);
    }
  }
  for (int level = 0; level < LEVELS; level++) {
    for (int64_t t = 0; t < WARP; t++)
      put(g, products, level * WARP + t, (double)window[t]);
    for (int64_t t = WARP - 1, by = (int64_t)1 << level; t >= by; t--)
      window[t] *= window[t - by];
  }
}

void kugel__poly_scan_fill(const kugel__poly_gpu *g, const kugel__poly_rotations *f, kugel__poly_family at,
                           void *scratch, void *table)
{
  size_t pair = 2 * g->word, step = pair * (size_t)kugel__poly_scan_pairs(&g->shape);
  for (int64_t i = 0; i < f->steps; i++)
    fill_step(g, f, i, scratch, (char *)table + pair * (size_t)at.at + step * (size_t)i);
}
