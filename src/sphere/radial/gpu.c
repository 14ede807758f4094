/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans of radial convolution on a device, and one map through them: three launches for the direct sum. */
#include <math.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "sphere/grid/grid.h"
#include "sphere/radial/gpu_plan.h"

kugel_status kugel__radial_gpu_build(kugel_radial *p, bool *fits)
{
  kugel__device *device = kugel__ctx_device(p->ctx);
  kugel__radial_gpu *g = kugel__calloc(p->ctx, sizeof *g);
  KUGEL_CHECK(g, KUGEL_ENOMEM, "no memory for a plan");
  p->gpu = g;
  g->device = device;
  pthread_mutex_init(&g->lock, NULL);
  *fits = true;
  if (p->info.method != KUGEL_RADIAL_DIRECT) {
    KUGEL_TRY(kugel__radial_modes_create(p, device, &g->modes));
    *fits = g->modes != NULL;
  }
  if (*fits && (!g->modes || (p->spectra && p->spectra->direct)))
    KUGEL_TRY(kugel__radial_gpu_sums(p, fits));
  int64_t pixels = 0;
  for (int64_t i = 0; i < p->nrings; i++)
    pixels += p->ring[i].nphi;
  g->covered = pixels == p->grid->npix;
  return KUGEL_OK;
}

kugel_status kugel__radial_gpu_hold(const kugel_radial *p)
{
  kugel__radial_gpu *g = p->gpu;
  if (g->modes)
    KUGEL_TRY(kugel__radial_modes_hold(p, g->modes));
  if (p->opts.normalise_mask || p->opts.normalise)
    KUGEL_TRY(kugel__device_alloc(g->device, (size_t)p->grid->npix * 8, &g->seen.base));
  if (!g->lanes_bytes)
    return KUGEL_OK;
  size_t bytes = g->lanes_bytes * (p->opts.spin ? 2 : 1);
  KUGEL_TRY(kugel__device_alloc(g->device, bytes, &g->lanes.base));
  return kugel__device_fill(g->device, g->lanes, 0, bytes, NULL);
}

void kugel__radial_gpu_release(const kugel_radial *p)
{
  kugel__radial_gpu *g = p->gpu;
  if (g->modes)
    kugel__radial_modes_release(g->modes);
  kugel__device_free(g->device, g->lanes.base);
  kugel__device_free(g->device, g->seen.base);
  g->lanes.base = g->seen.base = NULL;
  g->level = 0;
}

kugel_status kugel__radial_gpu_create(kugel_radial *p, bool *fits)
{
  KUGEL_TRY(kugel__radial_gpu_build(p, fits));
  if (*fits)
    return kugel__radial_gpu_hold(p);
  kugel__radial_gpu_destroy(p);
  return KUGEL_OK;
}

kugel_status kugel__radial_gpu_enter(kugel__radial_gpu *g, kugel_queue *queue)
{
  KUGEL_TRY(kugel__device_alive(g->device));
  if (g->last) {
    KUGEL_TRY(g->device->ops->after(queue, g->last));
    g->device->ops->event_free(g->last);
    g->last = NULL;
  }
  return KUGEL_OK;
}

kugel_status kugel__radial_gpu_leave(kugel__radial_gpu *g, kugel_queue *queue, bool wait, kugel_status s)
{
  if (wait || s) {
    kugel_status done = g->device->ops->wait(queue);
    return s ? s : done;
  }
  return g->device->ops->record(queue, &g->last);
}

void kugel__radial_gpu_destroy(kugel_radial *p)
{
  kugel__radial_gpu *g = p->gpu;
  if (!g)
    return;
  if (g->last && kugel__device_survived(g->device)) {
    g->device->ops->after(NULL, g->last);
    g->device->ops->event_free(g->last);
  }
  kugel__radial_gpu_release(p);
  kugel__radial_modes_destroy(p, g->modes);
  for (int t = 0; t < KUGEL__RADIAL_TABLES; t++)
    kugel__device_free(g->device, g->table[t].base);
  for (int k = 0; k < 2; k++)
    kugel__module_put(g->module[k]);
  pthread_mutex_destroy(&g->lock);
  kugel__free(p->ctx, g);
  p->gpu = NULL;
}

kugel_device kugel__radial_gpu_device(const kugel_radial *p)
{
  return (kugel_device){p->gpu->device->ops->type, p->gpu->device->id};
}

static kugel_status launch(kugel__radial_gpu *g, int kind, const kugel__radial_pass *pass,
                           kugel__radial_args t)
{
  kugel__mem seen = g->seen.base ? g->seen : g->table[KUGEL__RADIAL_TABLE_COEF],
             units = g->table[KUGEL__RADIAL_TABLE_UNITS];
  kugel__grid grid = {.blocks = {(uint32_t)g->units[kind]},
                      .threads = {kind == KUGEL__RADIAL_CAPS ? 128 : 256}};
  if (!g->units[kind])
    return KUGEL_OK;
  t.first = (int32_t)g->first_unit[kind];
  if (kind == KUGEL__RADIAL_FILL) {
    kugel__arg args[] = {KUGEL__MEM_ARG(g->table[KUGEL__RADIAL_TABLE_RINGS]),
                         KUGEL__MEM_ARG(units),
                         KUGEL__MEM_ARG(pass->in),
                         KUGEL__MEM_ARG(g->lanes),
                         KUGEL__MEM_ARG(seen),
                         KUGEL__VALUE_ARG(t)};
    t.divide = pass->level && pass->adjoint ? 2 : 0;
    return kugel__launch(g->device, g->kernel[pass->f32][KUGEL__RADIAL_FILL], &grid, 6, args, pass->queue);
  }
  kugel__mem numbers = g->table[kind == KUGEL__RADIAL_CAPS ? KUGEL__RADIAL_TABLE_COEF
                                : pass->f32                ? KUGEL__RADIAL_TABLE_WEIGHTS32
                                                           : KUGEL__RADIAL_TABLE_WEIGHTS];
  kugel__arg args[] = {KUGEL__MEM_ARG(g->table[KUGEL__RADIAL_TABLE_RINGS]),
                       KUGEL__MEM_ARG(g->table[KUGEL__RADIAL_TABLE_SPANS]),
                       KUGEL__MEM_ARG(units),
                       KUGEL__MEM_ARG(numbers),
                       KUGEL__MEM_ARG(g->lanes),
                       KUGEL__MEM_ARG(pass->in),
                       KUGEL__MEM_ARG(pass->out),
                       KUGEL__MEM_ARG(seen),
                       KUGEL__VALUE_ARG(t)};
  return kugel__launch(g->device, g->kernel[pass->f32][kind], &grid, 9, args, pass->queue);
}

/* Over the units of KUGEL__RADIAL_FILL. */
static kugel_status normalise(kugel__radial_gpu *g, const kugel__radial_pass *pass, kugel__radial_args t)
{
  kugel__grid grid = {.blocks = {(uint32_t)g->units[KUGEL__RADIAL_FILL]}, .threads = {256}};
  t.first = (int32_t)g->first_unit[KUGEL__RADIAL_FILL];
  t.divide = pass->level ? 2 : 1;
  kugel__arg args[] = {KUGEL__MEM_ARG(g->table[KUGEL__RADIAL_TABLE_RINGS]),
                       KUGEL__MEM_ARG(g->table[KUGEL__RADIAL_TABLE_UNITS]), KUGEL__MEM_ARG(pass->out),
                       KUGEL__MEM_ARG(g->seen), KUGEL__VALUE_ARG(t)};
  return kugel__launch(g->device, g->kernel[pass->f32][KUGEL__RADIAL_NORMALISE], &grid, 5, args, pass->queue);
}

/* Sums over pairs of pixels, to out or, of a mask, to g->seen. */
static kugel_status direct(const kugel_radial *p, const kugel__radial_pass *pass)
{
  kugel__radial_gpu *g = p->gpu;
  kugel__radial_args t = g->args;
  if (p->opts.spin)
    t.other = pass->in_at + p->grid->npix;
  t.adjoint = pass->adjoint;
  t.least = pass->least;
  t.mask = pass->mask + pass->ones;
  t.in = pass->in_at;
  t.out = pass->out_at;
  for (int kind = 0; kind < KUGEL__RADIAL_KINDS; kind++)
    KUGEL_TRY(launch(g, kind, pass, t));
  return KUGEL_OK;
}

/* A pair: lanes of both maps, then K cosine and sine of each into each. In mirrors the second map has the
 * other sign, and so has its result. */
static kugel_status pair(const kugel_radial *p, const kugel__radial_pass *pass)
{
  kugel__radial_gpu *g = p->gpu;
  int64_t npix = p->grid->npix, lanes = (int64_t)(g->lanes_bytes / 64);
  kugel__radial_args t = g->args;
  t.adjoint = pass->adjoint;
  t.least = pass->least;
  for (int map = 0; map < 2; map++) {
    t.in = pass->in_at + map * npix;
    t.other = pass->in_at + !map * npix;
    t.lanes = map * lanes;
    t.flip = map;
    KUGEL_TRY(launch(g, KUGEL__RADIAL_FILL, pass, t));
  }
  t.in = pass->in_at;
  t.other = pass->in_at + npix;
  for (int to = 0; to < 2; to++)
    for (int sine = 0; sine < 2; sine++) {
      int from = to ^ sine;
      t.out = pass->out_at + to * npix;
      t.lanes = from * lanes;
      t.flip = to;
      t.add = sine;
      t.turn = 1 + sine;
      t.weights = g->turned[1 + sine];
      t.factor = sine && !to ? -1 : 1;
      if (sine && p->opts.spin < 0)
        t.factor = -t.factor;
      KUGEL_TRY(launch(g, KUGEL__RADIAL_BELT, pass, t));
      KUGEL_TRY(launch(g, KUGEL__RADIAL_CAPS, pass, t));
    }
  return KUGEL_OK;
}

static kugel_status sums(const kugel_radial *p, const kugel__radial_pass *pass)
{
  kugel__radial_gpu *g = p->gpu;
  if (g->modes)
    KUGEL_TRY(kugel__radial_modes_sum(p, g->modes, pass, pass->queue));
  if (p->opts.spin && !pass->mask)
    return pair(p, pass);
  return g->sums ? direct(p, pass) : KUGEL_OK;
}

kugel_status kugel__radial_gpu_level(const kugel_radial *p, const kugel__radial_pass *pass)
{
  kugel__radial_gpu *g = p->gpu;
  int bits = pass->f32 ? 32 : 64;
  if (g->level == bits)
    return KUGEL_OK;
  kugel__radial_pass ones = {.in = pass->in, .out = pass->out, .seen = g->seen, .queue = pass->queue};
  ones.f32 = pass->f32;
  ones.mask = ones.ones = true;
  g->level = 0;
  KUGEL_TRY(sums(p, &ones));
  g->level = bits;
  return KUGEL_OK;
}

kugel_status kugel__radial_gpu_map(const kugel_radial *p, kugel__radial_pass *pass)
{
  kugel__radial_gpu *g = p->gpu;
  bool masked = p->opts.normalise_mask && !pass->adjoint;
  pass->seen = g->seen;
  pass->level = p->opts.normalise && !pass->plain;
  if (!pass->queue)
    pass->queue = &g->device->queue;
  if (pass->level)
    KUGEL_TRY(kugel__radial_gpu_level(p, pass));
  bool divide = masked || (pass->level && !pass->adjoint);
  pass->least = pass->level || g->modes ? kugel__radial_level_least(p) : 0;
  for (int mask = masked; mask >= 0; mask--) {
    pass->mask = mask;
    KUGEL_TRY(sums(p, pass));
  }
  if (g->modes)
    return kugel__radial_modes_finish(p, g->modes, pass, divide, pass->queue);
  kugel__radial_args t = g->args;
  t.least = pass->least;
  for (int map = 0; map < (p->opts.spin ? 2 : 1) && divide; map++) {
    t.out = pass->out_at + map * p->grid->npix;
    KUGEL_TRY(normalise(g, pass, t));
  }
  return KUGEL_OK;
}
