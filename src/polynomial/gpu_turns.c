/* SPDX-License-Identifier: BSD-3-Clause */
/* The systolic chain on devices: its shape, and rotations in the order in which it reads them. */
#include <string.h>
#include "core/alloc.h"
#include "core/environment.h"
#include "polynomial/gpu.h"
#include "polynomial/jacobi.h"

/* ---- shape ---- */

enum { STATIC_BYTES = 4096 /* of shared memory, beside what a launch gives */ };

static int power(const char *name, int least, int most, int fallback)
{
  int n = (int)kugel__env_number(name, least, most, fallback);
  return n & (n - 1) ? fallback : n;
}

/* CUDA: the fastest of 20 shapes for lines of 384, 768 and 1536 doubles on an H200 (bench/gpu_polynomial.py --tune). Eight steps of
 * four lanes per thread halve the shuffles of four steps of eight, at the same registers: three blocks of four warps. Jobs of a
 * few lanes would fill 2 or 4 of the 64 lanes of such a block, so a warp is one array for them, 128 steps a pass; that shape is
 * not measured. OpenCL: the bits of the CPU, one warp, since barriers are of a block. */
kugel__poly_shape kugel__poly_choose(bool cuda, bool single, int lanes, int64_t shared_bytes)
{
  const bool few = lanes > 0 && lanes <= 4;
  kugel__poly_shape d =
      cuda && few ? (kugel__poly_shape){.group = 32,
                                        .steps = 4,
                                        .lanes = lanes > 2 ? 4 : 2,
                                        .warps = 1,
                                        .blocks = 12,
                                        .ticks = 4,
                                        .lift = 1}
      : cuda      ? (kugel__poly_shape){.group = 8,
                                        .steps = 8,
                                        .lanes = 4,
                                        .warps = 4,
                                        .blocks = 3,
                                        .ticks = 16,
                                        .lift = 1}
             : (kugel__poly_shape){.group = 8, .steps = 4, .lanes = 2, .warps = 1, .blocks = 1, .ticks = 8};
  kugel__poly_shape s = {.group = power("KUGEL_POLYNOMIAL_GROUP", 2, 32, d.group),
                         .steps = power("KUGEL_POLYNOMIAL_STEPS", 1, 8, d.steps),
                         .lanes = power("KUGEL_POLYNOMIAL_LANES", 2, 16, d.lanes),
                         .warps = power("KUGEL_POLYNOMIAL_WARPS", 1, 8, d.warps),
                         .blocks = (int)kugel__env_number("KUGEL_POLYNOMIAL_BLOCKS", 1, 16, d.blocks),
                         .ticks = power("KUGEL_POLYNOMIAL_TICKS", 4, 32, d.ticks),
                         .lift = (int)kugel__env_number("KUGEL_POLYNOMIAL_LIFT", 0, 1, d.lift)};
  if (!cuda) /* PoCL takes numbers of one warp for those of both */
    s.warps = 1;
  if (s.lanes > s.group) /* a thread a lane, where a recurrence has no other way */
    s.group = d.group, s.lanes = d.lanes;
  size_t word = single ? 4 : 8;
  while (s.ticks > 4 && kugel__poly_shared(&s, word) + STATIC_BYTES > shared_bytes)
    s.ticks /= 2;
  while (s.warps > 1 && kugel__poly_shared(&s, word) + STATIC_BYTES > shared_bytes)
    s.warps /= 2;
  return s;
}

static kugel_status upload(kugel__poly_gpu *g, const void *from, size_t bytes, void **to)
{
  g->bytes += bytes;
  KUGEL_TRY(kugel__device_alloc(g->device, bytes, to));
  return kugel__device_copy(g->device, KUGEL__UPLOAD, (kugel__mem){*to, 0},
                            (kugel__mem){(void *)(uintptr_t)from, 0}, bytes, NULL);
}

/* ---- rotations ---- */

/* Rows of a family's table: step g, rotation k are in row S k + (S + 1) g + S (S + 2), k + g < reach, S = steps of a thread. */
static int64_t rows_of(const kugel__poly_rotations *f, int64_t s)
{
  return s * (f->reach + 1) + f->steps + s * (s + 2) + 1;
}

/* (C, S) to (p, S), p = -S / (1 + C): out = C y + S x, y = C x - S y in three FMA. */
static void lift(int64_t n, bool single, void *pairs)
{
  for (int64_t i = 0; i < n; i++)
    if (single) {
      float *p = (float *)pairs + 2 * i;
      p[0] = (float)(-(double)p[1] / (1 + (double)p[0]));
    } else {
      double *p = (double *)pairs + 2 * i;
      p[0] = -p[1] / (1 + p[0]);
    }
}

static void put_pair(const kugel__poly_gpu *g, void *table, int64_t at, const void *pair)
{
  memcpy((char *)table + 2 * g->word * (size_t)at, pair, 2 * g->word);
}

static void fill_family(const kugel__poly_gpu *g, const kugel__poly_rotations *f, kugel__poly_family at,
                        void *scratch, void *table)
{
  const double one[2] = {g->shape.lift ? 0 : 1, 0};
  const float one_s[2] = {g->shape.lift ? 0 : 1, 0};
  const int64_t s = g->shape.steps;
  for (int64_t i = 0; i < f->steps; i++) {
    int64_t count = kugel__max(0, f->reach - i), row = (s + 1) * i + s * (s + 2);
    if (f->tables && count)
      memcpy(scratch, f->tables[f->steps - 1 - i], 2 * g->word * (size_t)count);
    else
      kugel__jacobi_rotations(f->a, f->b0 + 2 * (double)i, f->sign, count, g->single, scratch);
    if (g->shape.lift)
      lift(count, g->single, scratch);
    for (int64_t k = -s - 2; k < count; k++)
      if (s * k + row >= 0)
        put_pair(g, table, at.at + (s * k + row) * at.width + i / s,
                 k >= 0      ? (const char *)scratch + 2 * g->word * (size_t)k
                 : g->single ? (const void *)one_s
                             : (const void *)one);
  }
}

kugel_status kugel__poly_turns(kugel__poly_gpu *g, int families, const kugel__poly_rotations *of)
{
  int64_t total = 1, reach = 1, s = g->shape.steps;
  for (int i = 0; i < families; i++) {
    g->family[i] =
        (kugel__poly_family){.at = total, .width = (of[i].steps + s - 1) / s, .steps = of[i].steps};
    total += g->shape.scan     ? of[i].steps * kugel__poly_scan_pairs(&g->shape)
             : g->shape.tensor ? kugel__poly_tensor_pairs(&of[i], &g->family[i].few)
                               : rows_of(&of[i], s) * g->family[i].width;
    reach = kugel__max(reach, of[i].reach);
  }
  size_t pair = 2 * g->word;
  char *table = kugel__calloc(g->ctx, pair * (size_t)total),
       *scratch = kugel__alloc(g->ctx, pair * (size_t)reach);
  kugel_status status = table && scratch
                            ? KUGEL_OK
                            : KUGEL_FAIL(KUGEL_ENOMEM, "no memory for %lld rotations", (long long)total);
  for (int i = 0; i < families && !status; i++)
    (g->shape.scan     ? kugel__poly_scan_fill
     : g->shape.tensor ? kugel__poly_tensor_fill
                       : fill_family)(g, &of[i], g->family[i], scratch, table);
  status = status ? status : upload(g, table, pair * (size_t)total, &g->turns);
  kugel__free(g->ctx, table);
  kugel__free(g->ctx, scratch);
  return status;
}
