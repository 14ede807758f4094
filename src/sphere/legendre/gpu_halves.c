/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans of batches in single precision whose sums are products of halves: kernels/legendre_f16.cl. */
#include <math.h>
#include <stdio.h>
#include "sphere/legendre/gpu_plan.h"

enum { WARP = KUGEL__LEG_GPU_WARP, STEPS = 16, SYNTH_BLOCKS = 3 /* of a multiprocessor */ };
/* Values of the recurrence are 1 / cos theta times the functions that they make, and so are their errors: closer to
 * the equator they would be the largest of all. */
static const double belt_cos = 0.04;

static int products(const kugel__leg_gpu *p)
{
  return (4 * p->ns + 7) / 8;
}

int64_t kugel__leg_gpu_halves_work(const kugel__leg_gpu *p, int64_t *scales)
{
  int64_t orders = p->orders, sixteens = p->offset[orders] / STEPS + orders;
  int64_t words = sixteens * products(p) * 4 * WARP;
  if (scales)
    *scales = 4 * words;
  return 4 * words + orders * p->ns * 8;
}

bool kugel__leg_gpu_halves_fill(const kugel__leg_gpu *p)
{
  const kugel__leg_halves *h = &p->halves;
  int64_t warps = p->orders * (int64_t)h->tiles[KUGEL__LEG_SYNTH];
  return warps >= 2 * (int64_t)p->device->info.units * h->warps[KUGEL__LEG_SYNTH] * SYNTH_BLOCKS;
}

int32_t kugel__leg_gpu_halves_groups(const kugel__leg_gpu *p)
{
  const kugel__leg_halves *h = &p->halves;
  return h->used ? h->groups + h->rest[KUGEL__BEFORE].groups + h->rest[KUGEL__AFTER].groups : 0;
}

int64_t kugel__leg_gpu_parts(const kugel__leg_gpu *p)
{
  return kugel__max(1, kugel__max(p->groups, kugel__leg_gpu_halves_groups(p)));
}

size_t kugel__leg_gpu_halves_shared(const kugel__leg_gpu *p)
{
  const kugel__leg_halves *h = &p->halves; // values of 16 steps, two turns of sums of 32
  return (size_t)(h->warps[1] * (WARP * h->strips[1] * STEPS + 2 * 32 * (4 * p->ns | 8))) * 4;
}

static int32_t tiles(int64_t pairs, int strips)
{
  return (int32_t)((pairs + WARP * strips - 1) / (WARP * strips));
}

static int32_t groups(int32_t tiles, int warps)
{
  return (tiles + warps - 1) / warps;
}

void kugel__leg_gpu_cut_halves(kugel__leg_gpu *p)
{
  const kugel__leg *g = p->leg;
  kugel__leg_halves *h = &p->halves;
  bool gpu = p->device->info.is_gpu;
  int32_t last = p->middle, npairs = (int32_t)g->npairs;
  while (last < npairs && fabs(g->cth[last]) >= belt_cos)
    last++;
  h->begin_strip = 0;
  h->begin = p->begin;
  h->end_strip = p->pole_strips + (last - p->middle) / WARP;
  h->end = last < npairs ? p->middle + (h->end_strip - p->pole_strips) * WARP : npairs;
  h->used = p->maps > 1 && g->mode == KUGEL__LEG_SCALAR && p->tuning.products[0] && p->tuning.products[1] &&
            h->end > h->begin;
  h->warps[KUGEL__LEG_SYNTH] = gpu ? 4 : 1;
  h->warps[KUGEL__LEG_ADJOINT] = gpu ? 12 : 1;
  h->rest_tuning = p->tuning;
  h->rest_tuning.strips[KUGEL__LEG_ADJOINT] = 1;
  h->rest_tuning.warps[KUGEL__LEG_ADJOINT] = gpu ? 4 : 1;
  h->rest_tuning.blocks[KUGEL__LEG_ADJOINT] = gpu ? 2 : 1;
  for (int way = 0; way < KUGEL__LEG_WAYS; way++) {
    h->strips[way] = 2;
    h->pole_tiles[way] = tiles(p->middle - h->begin, h->strips[way]);
    h->tiles[way] = h->pole_tiles[way] + tiles(h->end - p->middle, h->strips[way]);
    h->rest[KUGEL__BEFORE].tiles[way] = tiles(h->begin - p->begin, h->rest_tuning.strips[way]);
    h->rest[KUGEL__AFTER].tiles[way] = tiles(npairs - h->end, h->rest_tuning.strips[way]);
  }
  h->groups = groups(h->tiles[KUGEL__LEG_ADJOINT], h->warps[KUGEL__LEG_ADJOINT]);
  for (int i = 0; i < KUGEL__RESTS; i++)
    h->rest[i].groups =
        groups(h->rest[i].tiles[KUGEL__LEG_ADJOINT], h->rest_tuning.warps[KUGEL__LEG_ADJOINT]);
}

static void define(const kugel__leg_gpu *p, const int *strips, const int *warps, const int *blocks,
                   size_t room, char *out)
{
  snprintf(out, room,
           "#define MODE %d\n#define NS %d\n#define MAPS %d\n#define K %d\n#define KA %d\n#define WARPS %d\n"
           "#define WARPSA %d\n#define BLOCKS %d\n#define BLOCKSA %d\n",
           (int)p->leg->mode, p->ns, p->maps, strips[0], strips[1], warps[0], warps[1], blocks[0], blocks[1]);
}

kugel_status kugel__leg_gpu_load_halves(kugel__leg_gpu *p)
{
  static const int blocks[2] = {SYNTH_BLOCKS, 1};
  kugel__leg_halves *h = &p->halves;
  const kugel__leg_gpu_tuning *u = &h->rest_tuning;
  char defines[2][256];
  kugel__module_spec specs[2] = {{.name = "sphere/legendre/legendre_f16", .defines = defines[0]},
                                 {.name = "sphere/legendre/legendre_mma_adjoint", .defines = defines[1]}};
  if (!h->used)
    return KUGEL_OK;
  define(p, h->strips, h->warps, blocks, sizeof defines[0], defines[0]);
  define(p, u->strips, u->warps, u->blocks, sizeof defines[1], defines[1]);
  KUGEL_TRY(kugel__module_get_all(p->ctx, 2, specs, h->modules));
  KUGEL_TRY(kugel__module_kernel(h->modules[0], "leg_halves", &h->split, NULL));
  KUGEL_TRY(kugel__module_kernel(h->modules[0], "leg_synth_f16", &h->synth, NULL));
  KUGEL_TRY(kugel__module_kernel(h->modules[0], "leg_adjoint_f16", &h->adjoint, NULL));
  return kugel__module_kernel(h->modules[1], "leg_adjoint", &h->rest_adjoint, NULL);
}
