/* SPDX-License-Identifier: BSD-3-Clause */
/* Points on devices: their places and phases by kernels/places.cl, and the ends of deflections. */
#include <math.h>
#include <stdio.h>
#include "core/alloc.h"
#include "core/array.h"
#include "core/ctx.h"
#include "device/lend.h"
#include "sphere/points/gpu.h"

enum { BLOCK = 128 };

typedef struct placing {
  kugel_sht_points *p;
  kugel__device *dev;
  kugel_queue *queue;
  kugel__module *module;
  kugel__loan x, by;
  int64_t n, x_at, by_at;
  bool floats;
  void *memory; /* torus [n][2] and, of a lens, moved [n][2] doubles; two numbers of bad points */
  size_t bytes;
  kugel__mem torus, moved, bad;
} placing;

kugel_status kugel__points_gpu_module(const kugel_sht_points_plan *p, bool floats, kugel__module **module)
{
  char defines[64];
  snprintf(defines, sizeof defines, "#define COORD %s\n#define NUMBER %s\n", floats ? "float" : "double",
           p->single ? "float" : "double");
  return kugel__module_get(p->ctx, &(kugel__module_spec){.name = "sphere/points/places", .defines = defines},
                           module);
}

static kugel_status launch(const placing *t, const char *name, int nargs, const kugel__arg *args)
{
  kugel__kernel *kernel;
  KUGEL_TRY(kugel__module_kernel(t->module, name, &kernel, NULL));
  kugel__grid grid = {.blocks = {(uint32_t)((t->n + BLOCK - 1) / BLOCK)}, .threads = {BLOCK}};
  return kugel__launch(t->dev, kernel, &grid, nargs, args, t->queue);
}

/* ---- failures ---- */

static kugel_status coordinate(const placing *t, const kugel__loan *from, int64_t at, double *out)
{
  const size_t size = t->floats ? 4 : 8;
  float single;
  kugel__mem mem = {from->mem.base, from->mem.offset + (size_t)at * size};
  KUGEL_TRY(kugel__points_gpu_read(t->dev, mem, t->floats ? (void *)&single : (void *)out, size, t->queue));
  *out = t->floats ? (double)single : *out;
  return KUGEL_OK;
}

/* With the numbers of the first bad point, in the words of the CPU. */
static kugel_status refuse(const placing *t, int64_t i, bool deflected)
{
  double theta, phi, a = 0, b = 0;
  KUGEL_TRY(coordinate(t, &t->x, t->x_at + 2 * i, &theta));
  KUGEL_TRY(coordinate(t, &t->x, t->x_at + 2 * i + 1, &phi));
  if (deflected) {
    KUGEL_TRY(coordinate(t, &t->by, t->by_at + i, &a));
    KUGEL_TRY(coordinate(t, &t->by, t->by_at + t->n + i, &b));
  }
  KUGEL_CHECK(theta >= 0 && theta <= M_PI, KUGEL_EINVAL,
              "theta of point %lld is %.17g, must be 0 to pi: points are (theta, phi), colatitude first",
              (long long)i, theta);
  KUGEL_CHECK(deflected, KUGEL_EINVAL, "phi of point %lld is %g, must be finite", (long long)i, phi);
  return KUGEL_FAIL(KUGEL_EINVAL,
                    "point %lld has phi %g and deflection (%g, %g): phi must be finite, deflections within "
                    "1e9",
                    (long long)i, phi, a, b);
}

static kugel_status check_found(const placing *t)
{
  uint32_t found[2];
  KUGEL_TRY(kugel__points_gpu_read(t->dev, t->bad, found, sizeof found, t->queue));
  for (int k = 1; k >= 0; k--) // first those of the deflection
    if ((int64_t)found[k] < t->n)
      return refuse(t, found[k], k == 1);
  return KUGEL_OK;
}

/* ---- places ---- */

static kugel_status allocate(placing *t, bool lens)
{
  const kugel_sht_points_plan *plan = t->p->plan;
  struct kugel__points_gpu_points *g = t->p->gpu;
  const size_t some = (size_t)kugel__max(1, t->n), number = plan->single ? 8 : 16,
               part = (some * number + 511) / 512 * 512, pairs = (some * 16 + 511) / 512 * 512;
  KUGEL_TRY(kugel__device_alloc(t->dev, part * (lens ? 2 : 1), &g->memory));
  g->phase = (kugel__mem){g->memory, 0};
  if (lens)
    g->turn = (kugel__mem){g->memory, part};
  t->bytes = pairs * (lens ? 2 : 1) + 512;
  KUGEL_TRY(kugel__device_scratch_get(t->dev, t->bytes, &t->memory));
  t->bad = (kugel__mem){t->memory, 0};
  t->torus = (kugel__mem){t->memory, 512};
  t->moved = (kugel__mem){t->memory, 512 + pairs};
  return KUGEL_OK;
}

static kugel_status deflect(const placing *t)
{
  kugel__mem x = t->x.mem, by = t->by.mem, turn = t->p->gpu->turn;
  double spin = t->p->plan->spin;
  kugel__arg args[] = {KUGEL__MEM_ARG(x),         KUGEL__MEM_ARG(by),         KUGEL__MEM_ARG(t->moved),
                       KUGEL__MEM_ARG(turn),      KUGEL__MEM_ARG(t->bad),     KUGEL__VALUE_ARG(t->n),
                       KUGEL__VALUE_ARG(t->x_at), KUGEL__VALUE_ARG(t->by_at), KUGEL__VALUE_ARG(spin)};
  return launch(t, "deflect", 9, args);
}

static kugel_status place(const placing *t, kugel__mem x, int64_t x_at)
{
  const double order = (double)((t->p->plan->mmax + 1) / 2); // modes -order ... mmax - order
  kugel__mem phase = t->p->gpu->phase;
  kugel__arg args[] = {KUGEL__MEM_ARG(x),      KUGEL__MEM_ARG(t->torus), KUGEL__MEM_ARG(phase),
                       KUGEL__MEM_ARG(t->bad), KUGEL__VALUE_ARG(t->n),   KUGEL__VALUE_ARG(x_at),
                       KUGEL__VALUE_ARG(order)};
  return launch(t, "place", 7, args);
}

static kugel_status sort(const placing *t)
{
  int64_t shape[] = {t->n, 2};
  kugel_array torus = {.data = t->torus.base,
                       .byte_offset = t->torus.offset,
                       .device = t->dev->info.device,
                       .ndim = 2,
                       .dtype = KUGEL_F64,
                       .shape = shape};
  return kugel_nufft_points_create(t->p->plan->nufft, &torus, &t->p->places);
}

static kugel_status run(placing *t, const kugel_array *points, const kugel_array *deflection)
{
  const kugel_sht_points_plan *plan = t->p->plan;
  KUGEL_TRY(kugel__points_gpu_module(plan, t->floats, &t->module));
  KUGEL_TRY(allocate(t, deflection != NULL));
  KUGEL_TRY(kugel__points_gpu_lend(plan, points, "points", KUGEL__READ, t->floats ? 4 : 8, t->queue, &t->x,
                                   &t->x_at));
  if (deflection)
    KUGEL_TRY(
        kugel__points_gpu_lend(plan, deflection, "deflection", KUGEL__READ, 8, t->queue, &t->by, &t->by_at));
  if (t->n) {
    KUGEL_TRY(kugel__device_fill(t->dev, t->bad, 0xff, 8, t->queue));
    if (deflection)
      KUGEL_TRY(deflect(t));
    KUGEL_TRY(place(t, deflection ? t->moved : t->x.mem, deflection ? 0 : t->x_at));
    KUGEL_TRY(check_found(t));
  }
  return sort(t);
}

kugel_status kugel__points_gpu_place(kugel_sht_points *p, const kugel_array *points,
                                     const kugel_array *deflection)
{
  kugel__device *dev = p->plan->gpu->dev;
  p->gpu = kugel__calloc(p->plan->ctx, sizeof *p->gpu);
  KUGEL_CHECK(p->gpu, KUGEL_ENOMEM, "no memory for points");
  placing t = {.p = p, .dev = dev, .queue = &dev->queue, .n = p->n, .floats = points->dtype.bits == 32};
  kugel_status s = run(&t, points, deflection);
  kugel_status waited = dev->ops->wait(t.queue);
  kugel__loan loans[] = {t.x, t.by};
  s = kugel__lend_end(2, loans, t.queue, s ? s : waited);
  kugel__device_scratch_put(dev, t.memory, t.bytes);
  kugel__module_put(t.module);
  return s;
}

void kugel__points_gpu_points_destroy(kugel_sht_points *p)
{
  struct kugel__points_gpu_points *g = p->gpu;
  if (!g)
    return;
  kugel__device_free(p->plan->gpu->dev, g->memory);
  kugel__free(p->plan->ctx, g);
}
