/* SPDX-License-Identifier: BSD-3-Clause */
/* Which rings a ring's sums need, how much of them, and which symmetries the grid has. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "core/alloc.h"
#include "core/cpu.h"
#include "sphere/grid/grid.h"
#include "sphere/radial/spectra.h"

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

static bool all_divide(const kugel_radial *p, int64_t segments)
{
  for (int64_t i = 0; i < p->nrings; i++)
    if (p->ring[i].nphi % segments)
      return false;
  return true;
}

static void find_symmetry(kugel_radial *p)
{
  bool equal = true;
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
  if (p->opts.nparts) // which way is south differs in a mirror
    p->mirrored = p->reflected = 0;
  p->segments = p->mirrored ? LANES / 2 : LANES;
  while (!equal && p->segments > 1 && !all_divide(p, p->segments))
    p->segments /= 2;
  for (int64_t i = 0; i < p->nrings; i++)
    p->ring[i].segment = (p->ring[i].nphi + p->segments - 1) / p->segments;
}

int64_t kugel__radial_outputs(const kugel_radial *p)
{
  return p->mirrored ? (p->nrings + 1) / 2 : p->nrings;
}

/* Rings [lo, hi) within the cut-off of r. */
static void find_range(const kugel_radial *p, kugel__radial_ring *r)
{
  double radius = p->info.radius * (1 + 1e-12);
  int64_t end[2] = {0, 0}; // first ring at r.theta - radius or beyond, first beyond r.theta + radius
  for (int side = 0; side < 2; side++) {
    int64_t lo = 0, hi = p->nrings;
    while (lo < hi) {
      int64_t mid = (lo + hi) / 2;
      double d = p->ring[mid].theta - r->theta;
      if (side ? d <= radius : d < -radius)
        lo = mid + 1;
      else
        hi = mid;
    }
    end[side] = lo;
  }
  r->lo = end[0];
  r->hi = end[1];
  r->same = true;
  for (int64_t k = r->lo; k < r->hi; k++)
    r->same &= p->ring[k].nphi == r->nphi;
}

void kugel__radial_reach(const kugel_radial *p, int64_t first, int64_t end, int64_t *lo, int64_t *hi)
{
  *lo = p->nrings;
  *hi = 0;
  for (int64_t i = first; i < end; i++)
    for (int64_t part = 0; part < kugel__max(1, p->opts.nparts); part++) {
      kugel__radial_ring r = kugel__radial_centre(p, p->ring + i, part);
      if (r.lo < r.hi) {
        *lo = kugel__min(*lo, r.lo);
        *hi = kugel__max(*hi, r.hi);
      }
    }
  *lo = kugel__min(*lo, *hi);
  if (p->spectra) { /* which are made of all that any ring reaches */
    *lo = kugel__max(0, first - p->spectra->before);
    *hi = kugel__min(p->nrings, end + p->spectra->after);
  }
}

void kugel__radial_pairs(const kugel_radial *p, int64_t first, int64_t end, int64_t *lo, int64_t *hi)
{
  int64_t north, south;
  kugel__radial_reach(p, first, end, &north, &south);
  *lo = kugel__min(north, first);
  *hi = kugel__max(south, end);
  if (p->mirrored) {
    *lo = kugel__min(*lo, p->nrings - *hi);
    *hi = kugel__min(*hi, kugel__radial_outputs(p));
  }
}

kugel__radial_ring kugel__radial_centre(const kugel_radial *p, const kugel__radial_ring *r, int64_t k)
{
  int64_t n = p->opts.nparts;
  kugel__radial_ring c = *r;
  if (!n)
    return c;
  double way = p->part[n + k],
         bearing = p->part[2 * n + k] + (p->orientation ? p->orientation[r - p->ring] : 0);
  double south = sin(way) * cos(bearing), east = sin(way) * sin(bearing), up = cos(way);
  double x = r->sth * up + cos(r->theta) * south, z = cos(r->theta) * up - r->sth * south;
  c.sth = hypot(x, east);
  c.theta = atan2(c.sth, z);
  c.phi0 = r->phi0 + atan2(east, x);
  find_range(p, &c);
  return c;
}

static void find_neighbours(kugel_radial *p)
{
  int64_t most = 0;
  double sum = 0;
  for (int64_t i = 0; i < p->nrings; i++)
    find_range(p, p->ring + i);
  for (int64_t i = 0; i < p->nrings; i++)
    for (int64_t part = 0; part < kugel__max(1, p->opts.nparts); part++) {
      kugel__radial_ring r = kugel__radial_centre(p, p->ring + i, part);
      int64_t total = 0, widest = 0;
      for (int64_t k = r.lo; k < r.hi; k++) {
        kugel__radial_ring *q = p->ring + k;
        kugel__radial_span t = kugel__radial_span_of(p, &r, q);
        sum += (double)r.nphi * (double)t.width;
        total += kugel__round_up(t.width, LANES);
        widest = kugel__max(widest, t.width);
        if (i < kugel__radial_outputs(p) && t.width)
          q->reach = kugel__max(q->reach, reach_of(&t));
      }
      most = kugel__max(most, r.same ? total : widest * GROUP);
    }
  p->info.pairs = sum;
  p->work = most + 4 * p->max_nphi + TILE_DOUBLES + GROUP;
}

/* The caller's parts, and orientations in the order of p->ring. */
static kugel_status take_parts(kugel_radial *p)
{
  const kugel_radial_opts *o = &p->opts;
  if (!o->nparts)
    return KUGEL_OK;
  KUGEL_ALLOC(p->ctx, p->part, (size_t)(3 * o->nparts) * 8);
  const double *from[3] = {o->part_weight, o->part_distance, o->part_bearing};
  for (int i = 0; i < 3; i++)
    memcpy(p->part + i * o->nparts, from[i], (size_t)o->nparts * 8);
  if (!o->orientation)
    return KUGEL_OK;
  KUGEL_ALLOC(p->ctx, p->orientation, (size_t)p->nrings * 8);
  for (int64_t i = 0; i < p->nrings; i++)
    p->orientation[i] = o->orientation[p->ring[i].number];
  return KUGEL_OK;
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
                                      .first = g->first[i],
                                      .number = i};
  qsort(p->ring, (size_t)p->nrings, sizeof *p->ring, by_theta);
  if (p->spectral)
    return KUGEL_OK;
  KUGEL_TRY(take_parts(p));
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
