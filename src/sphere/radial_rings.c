/* SPDX-License-Identifier: BSD-3-Clause */
/* Which rings a ring's sums need, how much of them, and which symmetries the grid has. */
#include <math.h>
#include <stdlib.h>
#include "core/alloc.h"
#include "core/cpu.h"
#include "sphere/grid.h"
#include "sphere/radial.h"

enum { LANES = KUGEL__RADIAL_LANES, GROUP = KUGEL__RADIAL_GROUP, TILE_DOUBLES = 256 * LANES };

KUGEL_DISPATCH(kugel__radial_ops, kugel__radial_ops)

const kugel__radial_ops *kugel__radial_ops_now(void)
{
  return kugel__radial_ops_get();
}

kugel__radial_span kugel__radial_span_of(const kugel_radial *p, const kugel__radial_ring *r,
                                         const kugel__radial_ring *q)
{
  double s = sin((r->theta - q->theta) / 2), n = (double)q->nphi;
  kugel__radial_span t = {.a = 4 * s * s, .b = 4 * r->sth * q->sth, .nq = n, .nr = (double)r->nphi};
  t.dphi = remainder(q->phi0 - r->phi0, 2 * M_PI);
  t.shift = -t.dphi * n / (2 * M_PI);
  t.step = 2 * M_PI / n;
  t.unit = t.step / t.nr;
  double room = p->poly.cut * (1 + 1e-12) - t.a;
  if (room < 0)
    return t;
  bool full = room >= t.b;
  double half = full ? n / 2 : asin(sqrt(room / t.b)) * n / M_PI + 1e-6;
  full |= 2 * half + 1 >= n;
  t.half = full ? n / 2 : half;
  t.width = full ? q->nphi : (int64_t)(2 * half) + 1;
  return t;
}

static int64_t reach_of(const kugel__radial_span *t)
{
  return (int64_t)(t->half + fabs(t->shift)) + 4;
}

static int by_theta(const void *a, const void *b)
{
  const kugel__radial_ring *x = a, *y = b;
  return x->theta != y->theta ? (x->theta > y->theta) - (x->theta < y->theta)
                              : (x->first > y->first) - (x->first < y->first);
}

/* Pixel j and pixel turn - j of a ring mirror each other where 2 phi0 is -turn steps. */
static int64_t turn_of(const kugel__radial_ring *r)
{
  double steps = 2 * r->phi0 * (double)r->nphi / (2 * M_PI);
  return r->phi0 == 0 ? 0 : fabs(steps - 1) < 1e-15 ? -1 : 1;
}

static void find_symmetry(kugel_radial *p)
{
  bool equal = true, even = true;
  p->mirrored = 1;
  p->reflected = true;
  for (int64_t i = 0; i < p->nrings; i++) {
    kugel__radial_ring *r = p->ring + i, *m = p->ring + p->nrings - 1 - i;
    if (r->nphi != m->nphi || r->phi0 != m->phi0 || fabs(r->theta + m->theta - M_PI) > 1e-15 * M_PI)
      p->mirrored = 0;
    r->turn = turn_of(r);
    p->reflected &= r->turn <= 0;
    equal &= r->nphi == p->ring[0].nphi;
    p->max_nphi = kugel__max(p->max_nphi, r->nphi);
  }
  p->segments = p->mirrored ? LANES / 2 : LANES;
  for (int64_t i = 0; i < p->nrings; i++)
    even &= p->ring[i].nphi % p->segments == 0;
  if (!equal && !even)
    p->segments = 1;
  for (int64_t i = 0; i < p->nrings; i++)
    p->ring[i].segment = (p->ring[i].nphi + p->segments - 1) / p->segments;
}

int64_t kugel__radial_outputs(const kugel_radial *p)
{
  return p->mirrored ? (p->nrings + 1) / 2 : p->nrings;
}

static void find_neighbours(kugel_radial *p)
{
  int64_t lo = 0, hi = 0, most = 0;
  double radius = p->info.radius * (1 + 1e-12), sum = 0;
  for (int64_t i = 0; i < p->nrings; i++) {
    kugel__radial_ring *r = p->ring + i;
    while (r->theta - p->ring[lo].theta > radius)
      lo++;
    while (hi < p->nrings && p->ring[hi].theta - r->theta <= radius)
      hi++;
    r->lo = lo;
    r->hi = hi;
    r->same = true;
    for (int64_t k = lo; k < hi; k++)
      r->same &= p->ring[k].nphi == r->nphi;
    int64_t total = 0, widest = 0;
    for (int64_t k = lo; k < hi; k++) {
      kugel__radial_ring *q = p->ring + k;
      kugel__radial_span t = kugel__radial_span_of(p, r, q);
      sum += (double)r->nphi * (double)t.width;
      total += kugel__round_up(t.width, LANES);
      widest = kugel__max(widest, t.width);
      if (i < kugel__radial_outputs(p) && t.width)
        q->reach = kugel__max(q->reach, reach_of(&t));
    }
    most = kugel__max(most, r->same ? total : widest * GROUP);
  }
  p->info.pairs = sum;
  p->work = most + 2 * p->max_nphi + TILE_DOUBLES + GROUP;
}

kugel_status kugel__radial_direct_create(kugel_radial *p)
{
  const kugel_grid *g = p->grid;
  p->nrings = g->nrings;
  KUGEL_ALLOC(p->ctx, p->ring, (size_t)g->nrings * sizeof *p->ring);
  for (int64_t i = 0; i < g->nrings; i++)
    p->ring[i] = (kugel__radial_ring){.theta = g->theta[i],
                                      .sth = g->sth[i],
                                      .phi0 = g->phi0[i],
                                      .weight = g->weight[i],
                                      .nphi = g->nphi[i],
                                      .first = g->first[i]};
  qsort(p->ring, (size_t)p->nrings, sizeof *p->ring, by_theta);
  if (p->spectral)
    return KUGEL_OK;
  find_symmetry(p);
  find_neighbours(p);
  for (int64_t i = 0; i < p->nrings; i++) {
    kugel__radial_ring *r = p->ring + i;
    r->slot = p->scratch;
    if (r->reach)
      p->scratch += (r->segment + 2 * r->reach) * LANES;
  }
  return KUGEL_OK;
}
