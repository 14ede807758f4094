/* SPDX-License-Identifier: BSD-3-Clause */
/* A grid of rank 0 on all ranks: its tables as they are, since others would round anew. */
#ifndef KUGEL_SPHERE_GRID_SHARE_H
#define KUGEL_SPHERE_GRID_SHARE_H

#include "comm/comm.h"
#include "sphere/grid/grid.h"

/* What ranks must know to receive the tables; part of an order. */
typedef struct kugel__grid_card {
  int64_t kind, nside, nrings, npix, npairs, max_nphi, has_weights;
} kugel__grid_card;

kugel__grid_card kugel__grid_card_of(const kugel_grid *grid);

/* *grid: rank 0's; NULL on other ranks, which get one, on failure too if there was memory for it. Collective, within a call
 * that has entered. */
kugel_status kugel__grid_share(kugel_ctx *ctx, kugel_comm *c, const kugel__grid_card *card,
                               kugel_grid **grid);

#endif
