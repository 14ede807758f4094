/* SPDX-License-Identifier: BSD-3-Clause */
#include "sphere/grid/share.h"
#include "core/alloc.h"
#include "core/ctx.h"

kugel__grid_card kugel__grid_card_of(const kugel_grid *g)
{
  return (kugel__grid_card){g->kind, g->nside, g->nrings, g->npix, g->npairs, g->max_nphi, g->has_weights};
}

kugel_status kugel__grid_share(kugel_ctx *ctx, kugel_comm *c, const kugel__grid_card *t, kugel_grid **grid)
{
  kugel_status s = KUGEL_OK;
  if (!*grid) {
    kugel_grid *g = *grid = kugel__calloc(ctx, sizeof *g);
    if (g) {
      g->references = 1;
      g->ctx = kugel__ctx_retain(ctx);
      g->kind = (kugel_grid_kind)t->kind;
      g->nside = t->nside;
      g->npix = t->npix;
      g->npairs = t->npairs;
      g->max_nphi = t->max_nphi;
      g->has_weights = t->has_weights != 0;
      s = kugel__grid_room(g, t->nrings);
    } else {
      s = KUGEL_FAIL(KUGEL_ENOMEM, "no memory for a grid");
    }
  }
  s = kugel__comm_agree(c, s);
  if (s)
    return s;
  kugel_grid *g = *grid;
  void *tables[] = {g->theta, g->cth, g->sth, g->phi0, g->weight, g->nphi, g->first};
  for (size_t i = 0; i < sizeof tables / sizeof *tables && !s; i++)
    s = kugel_comm_bcast(c, tables[i], (size_t)t->nrings * 8, 0);
  return s ? s : kugel_comm_bcast(c, g->pairs, (size_t)t->npairs * sizeof *g->pairs, 0);
}
