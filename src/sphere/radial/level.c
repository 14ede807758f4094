/* SPDX-License-Identifier: BSD-3-Clause */
/* What a plan's sum makes of the constant 1: the map that opts.normalise divides by. */
#include "core/alloc.h"
#include "sphere/grid/grid.h"
#include "sphere/radial/blocks_gpu.h"
#include "sphere/radial/radial.h"

kugel_status kugel__radial_level_create(kugel_radial *p)
{
  if (!p->opts.normalise)
    return KUGEL_OK;
  KUGEL_ALLOC(p->ctx, p->level, sizeof *p->level);
  *p->level = (kugel__radial_level){.ready = false};
  pthread_mutex_init(&p->level->lock, NULL);
  return KUGEL_OK;
}

void kugel__radial_level_destroy(kugel_radial *p)
{
  if (!p->level)
    return;
  pthread_mutex_destroy(&p->level->lock);
  kugel__free(p->ctx, p->level->map);
  kugel__free(p->ctx, p->level);
}

bool kugel__radial_level_ready(const kugel_radial *p)
{
  if (!p->level)
    return true;
  pthread_mutex_lock(&p->level->lock);
  bool ready = p->level->ready;
  pthread_mutex_unlock(&p->level->lock);
  return ready;
}

static kugel_status make(const kugel_radial *p, kugel__radial_level *l)
{
  if (!l->map)
    KUGEL_ALLOC(p->ctx, l->map, (size_t)p->grid->npix * 8);
  return p->blocks ? kugel__radial_blocks_ones(p, l->map)
                   : kugel__radial_ones(p, l->map, 0, kugel__radial_outputs(p));
}

kugel_status kugel__radial_level_get(const kugel_radial *p, double **map)
{
  kugel__radial_level *l = p->level;
  *map = NULL;
  if (!l)
    return KUGEL_OK;
  pthread_mutex_lock(&l->lock);
  kugel_status s = l->ready ? KUGEL_OK : make(p, l);
  l->ready = !s;
  pthread_mutex_unlock(&l->lock);
  *map = l->map;
  return s;
}
