/* SPDX-License-Identifier: BSD-3-Clause */
/* The shape of launches of the Legendre stage on a device, the layout of its work memory, uploads of its tables. */
#include "sphere/legendre/gpu_launch.h"

enum { WARP = KUGEL__LEG_GPU_WARP, PAGE = 4096 };

kugel__leg_shape kugel__leg_gpu_shape(const kugel__leg_gpu *p, int adjoint)
{
  const kugel__leg *g = p->leg;
  return (kugel__leg_shape){.npairs = (int32_t)g->npairs,
                            .first = p->begin,
                            .tiles = p->tiles[adjoint],
                            .top = p->top,
                            .nm = p->orders,
                            .mmax = p->orders - 1,
                            .row = p->row,
                            .stride = p->stride,
                            .strips = p->strips,
                            .middle = p->middle,
                            .pole_tiles = p->pole_tiles[adjoint],
                            .pole_strips = p->pole_strips,
                            .groups = p->groups,
                            .rank = p->rank,
                            .size = p->size};
}

kugel__leg_parts kugel__leg_gpu_lay_out(const kugel__leg_gpu *p, int64_t groups, kugel__mem work)
{
  const kugel__leg *g = p->leg;
  size_t room = (size_t)kugel__round_up(groups * p->sums, PAGE), sums = (size_t)p->rooms * room;
  size_t begun =
      (size_t)kugel__round_up(2 * (int64_t)p->orders * kugel__leg_gpu_parts(p) * 4, PAGE) + 2 * PAGE;
  size_t polar = (size_t)(groups * p->maps * g->n_map * p->polar_orders * (g->lmax + 1)) * 16;
  return (kugel__leg_parts){.sums = work,
                            .begun = {work.base, work.offset + sums},
                            .polar = {work.base, work.offset + sums + begun},
                            .room = room,
                            .polar_bytes = polar,
                            .end = sums + begun + polar};
}

int64_t kugel__leg_gpu_series_bytes(const kugel__leg_gpu *p)
{
  return kugel__round_up(p->offset[p->orders] * p->ns * 32, PAGE);
}

kugel__grid kugel__leg_gpu_grid(const kugel__leg_gpu *p, int adjoint, int64_t orders)
{
  int64_t warps = p->tuning.warps[adjoint];
  int64_t blocks = adjoint ? orders * p->groups : (orders * p->tiles[0] + warps - 1) / warps;
  kugel__grid grid = {.blocks = {(uint32_t)blocks}, .threads = {(uint32_t)(WARP * warps)}};
  if (!adjoint && p->tuning.products[0]) // values of 16 steps
    grid.shared = (size_t)(warps * 16 * WARP * p->tuning.strips[0]) * sizeof(double);
  if (adjoint && p->tuning.products[1]) { // the same; sums of 32 if the kernel has no room for them
    int64_t values = warps * 16 * (WARP * p->tuning.strips[1] + 4);
    int64_t row = 4 * p->ns + (p->ns % 4 ? 0 : 8);
    int64_t sums = warps * row > 160 ? warps * WARP * row : 0;
    grid.shared = (size_t)(values + sums) * sizeof(double);
  }
  return grid;
}

kugel_status kugel__leg_gpu_table(const kugel__leg_gpu *p, const void *data, size_t bytes, kugel__mem *out)
{
  KUGEL_TRY(kugel__device_alloc(p->device, kugel__max((int64_t)bytes, 64), &out->base));
  return kugel__device_copy(p->device, KUGEL__UPLOAD, *out, (kugel__mem){(void *)(uintptr_t)data, 0}, bytes,
                            NULL);
}
