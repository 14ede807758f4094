/* SPDX-License-Identifier: BSD-3-Clause */
/* How the Legendre stage of a device is cut, by device, mode and size: what was fastest where it was
 * measured. */
#include "sphere/legendre/gpu_plan.h"

enum { WARP = KUGEL__LEG_GPU_WARP };
// By series; elsewhere small blocks: synthesis of one warp.
static const kugel__leg_gpu_tuning cuda_tuning[KUGEL__MAX_SERIES + 1] = {{{0}, {0}, {0}, {0}},
                                                                         {{8, 8}, {2, 2}, {4, 4}, {0}},
                                                                         {{4, 6}, {2, 2}, {6, 4}, {0}},
                                                                         {{5, 4}, {2, 4}, {4, 2}, {0}}};
static const kugel__leg_gpu_tuning products_tuning[KUGEL__MAX_SERIES + 1] = {
    {{0}, {0}, {0}, {0}},
    {{8, 4}, {2, 2}, {4, 6}, {false, true}},
    {{3, 4}, {1, 2}, {12, 6}, {true, true}},
    {{4, 4}, {2, 4}, {4, 2}, {true, true}}};
static const kugel__leg_gpu_tuning other_tuning[KUGEL__MAX_SERIES + 1] = {{{0}, {0}, {0}, {0}},
                                                                          {{2, 2}, {1, 2}, {1, 1}, {0}},
                                                                          {{2, 2}, {1, 2}, {1, 1}, {0}},
                                                                          {{2, 2}, {1, 1}, {1, 1}, {0}}};
// Of batches: with matrix products; on other CUDA devices; elsewhere.
static const kugel__leg_gpu_tuning batch_products = {{2, 2}, {4, 8}, {2, 1}, {true, true}};
static const kugel__leg_gpu_tuning batch_cuda = {{1, 1}, {2, 2}, {6, 4}, {0}};
static const kugel__leg_gpu_tuning batch_other = {{1, 1}, {1, 1}, {1, 1}, {0}};
int64_t kugel__leg_gpu_sums_aim = (int64_t)1 << 30;

static bool has_products(const kugel__device *device)
{
  return device->info.device.type == KUGEL_CUDA && device->info.compute_capability >= 90;
}

// Fewer strips a warp where there would be too few warps for the device.
kugel__leg_gpu_tuning kugel__leg_gpu_choose(const kugel__device *device, const kugel__leg *leg)
{
  bool cuda = device->info.device.type == KUGEL_CUDA, products = has_products(device);
  kugel__leg_gpu_tuning t = (products ? products_tuning : cuda ? cuda_tuning : other_tuning)[leg->nseries];
  if (products && leg->mode >= KUGEL__LEG_GRAD)
    t.strips[0] = 3; // or registers spill
  for (int i = 0; i < 2; i++)
    while (cuda && t.strips[i] > 1 &&
           (leg->mmax + 1) * leg->npairs < 16 * WARP * t.strips[i] * device->info.units)
      t.strips[i] = (t.strips[i] + 1) / 2;
  return t;
}

kugel__leg_gpu_tuning kugel__leg_gpu_choose_batch(const kugel__device *device, const kugel__leg *leg)
{
  bool cuda = device->info.device.type == KUGEL_CUDA;
  kugel__leg_gpu_tuning t = has_products(device) ? batch_products : cuda ? batch_cuda : batch_other;
  if (has_products(device) &&
      leg->npairs <= 3 * WARP * t.strips[1]) { // an order has no tiles for eight warps
    t.warps[1] = 4;
    t.blocks[1] = 2;
  }
  return t;
}

int kugel__leg_gpu_together(const kugel__device *device, const kugel__leg *leg)
{
  return (has_products(device) ? 8 : 4) / (leg->nseries == 3 ? 4 : leg->nseries);
}

int64_t kugel__leg_gpu_middle(const kugel__leg *g, int64_t first, const kugel__leg_gpu_tuning *u)
{
  int a = u->strips[0], b = u->strips[1];
  int64_t tile = WARP * (a % b ? b : a), half = first;
  while (half < g->npairs && g->ssq[half] < 0.5)
    half++;
  int64_t full = g->npairs - (g->npairs - half + tile / 2) / tile * tile;
  bool near = full > first && full < g->npairs && g->ssq[full - 1] < 0.7 && g->ssq[full] > 0.3;
  return near ? full : half;
}

int64_t kugel__leg_gpu_chunk(const kugel__leg_gpu *p, int64_t m0)
{
  int64_t m = m0, step = kugel__leg_gpu_parts(p) * p->ns * 32,
          most = p->sums ? p->sums // memory has room for the chunks from 0 on: others may not be larger
                         : kugel__leg_gpu_sums_aim / p->rooms;
  do
    m++;
  while (m < p->orders && (p->offset[m + 1] - p->offset[m0]) * step <= most);
  return m;
}

kugel__leg_gpu_cut kugel__leg_gpu_cuts(const kugel__device *device, const kugel__leg *leg)
{
  kugel__leg_gpu_cut c = {.tuning = kugel__leg_gpu_choose(device, leg),
                          .begin = leg->spin > 2 ? leg->npairs : leg->npolar};
  c.middle = kugel__leg_gpu_middle(leg, c.begin, &c.tuning);
  c.tile = WARP * c.tuning.strips[0];
  return c;
}
