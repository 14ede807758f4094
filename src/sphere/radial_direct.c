/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums over pairs of pixels, ring by ring.
 *
 * For rings of n and n' pixels the weights repeat along the output ring. Where all rings within the cut-off
 * have as many pixels, one row of weights serves the whole ring: a convolution along it. Elsewhere (the caps
 * of HEALPix) the weights of a pixel serve its copies a quarter turn on and in the other hemisphere: rings
 * are kept with these copies side by side. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "core/cpu.h"
#include "core/parallel.h"
#include "sphere/grid.h"
#include "sphere/radial.h"

enum { LANES = KUGEL__RADIAL_LANES, TILE = 2048, GAP = 2 * LANES };

KUGEL_DISPATCH(kugel__radial_ops, kugel__radial_ops)

const kugel__radial_ops *kugel__radial_ops_now(void)
{
  return kugel__radial_ops_get();
}

/* What output ring r needs of ring q: for its pixel i the pixels from ceil(i nq / nr + shift - half) on. */
typedef struct span {
  double a, b, dphi, shift, half; /* key = a + b sin^2; dphi: longitude of q's first pixel less that of r's */
  int64_t width;                  /* 0: nothing */
} span;

static span span_of(const kugel_radial *p, const kugel__radial_ring *r, const kugel__radial_ring *q)
{
  double s = sin((r->theta - q->theta) / 2), n = (double)q->nphi;
  span t = {.a = 4 * s * s, .b = 4 * r->sth * q->sth, .dphi = remainder(q->phi0 - r->phi0, 2 * M_PI)};
  t.shift = -t.dphi * n / (2 * M_PI);
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

static int64_t halo_of(const span *t)
{
  return (int64_t)(t->half + fabs(t->shift)) + 3;
}

static int by_theta(const void *a, const void *b)
{
  const kugel__radial_ring *x = a, *y = b;
  return x->theta != y->theta ? (x->theta > y->theta) - (x->theta < y->theta)
                              : (x->first > y->first) - (x->first < y->first);
}

static void find_symmetry(kugel_radial *p)
{
  p->periods = 4;
  p->mirrored = 1;
  for (int64_t i = 0; i < p->nrings; i++) {
    const kugel__radial_ring *r = p->ring + i, *m = p->ring + p->nrings - 1 - i;
    if (r->nphi % 4)
      p->periods = 1;
    if (r->nphi != m->nphi || r->phi0 != m->phi0 || fabs(r->theta + m->theta - M_PI) > 1e-15 * M_PI)
      p->mirrored = 0;
  }
}

static int64_t outputs(const kugel_radial *p)
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
    int64_t total = 0;
    for (int64_t k = lo; k < hi; k++) {
      kugel__radial_ring *q = p->ring + k, *m = p->mirrored ? p->ring + p->nrings - 1 - k : q;
      span t = span_of(p, r, q);
      sum += (double)r->nphi * (double)t.width;
      total += kugel__round_up(t.width, LANES);
      if (i >= outputs(p) || !t.width)
        continue;
      q->reach = kugel__max(q->reach, halo_of(&t));
      m->reach = kugel__max(m->reach, q->reach);
      if (!r->same)
        q->slot = 0;
      else
        q->row = m->row = 0;
    }
    most = kugel__max(most, total + 4 * (hi - lo));
  }
  p->info.pairs = sum;
  p->work = most + GAP;
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
                                      .slot = -1,
                                      .row = -1};
  qsort(p->ring, (size_t)p->nrings, sizeof *p->ring, by_theta);
  find_symmetry(p);
  find_neighbours(p);
  for (int64_t i = 0; i < p->nrings; i++) {
    kugel__radial_ring *r = p->ring + i;
    if (r->row == 0) {
      r->row = p->scratch;
      p->scratch += kugel__round_up(r->nphi + 2 * r->reach, LANES);
    }
    if (r->slot == 0) {
      r->slot = p->scratch;
      p->scratch += (r->nphi / p->periods + 2 * r->reach) * LANES;
    }
  }
  return KUGEL_OK;
}

typedef struct job {
  const kugel_radial *p;
  const kugel__radial_ops *ops;
  double *map, *store, *work;
} job;

/* Copies a ring into its padded row and its lanes. */
static kugel_status fill_task(void *arg, int64_t i, int worker)
{
  job *j = arg;
  const kugel_radial *p = j->p;
  const kugel__radial_ring *r = p->ring + i, *m = p->ring + p->nrings - 1 - i;
  (void)worker;
  int64_t n = r->nphi, reach = r->reach;
  const double *f = j->map + r->first;
  if (r->row >= 0) {
    double *row = j->store + r->row;
    memcpy(row + reach, f, (size_t)n * 8);
    for (int64_t k = 1; k <= reach; k++) {
      row[reach - k] = f[(n - k % n) % n];
      row[reach + n + k - 1] = f[(k - 1) % n];
    }
  }
  if (r->slot < 0)
    return KUGEL_OK;
  int64_t quarter = n / p->periods, length = quarter + 2 * reach;
  double *lane = j->store + r->slot;
  if (p->periods * (1 + p->mirrored) < LANES)
    memset(lane, 0, (size_t)(length * LANES) * 8);
  for (int64_t h = 0; h <= p->mirrored; h++)
    for (int64_t q = 0; q < p->periods; q++) {
      const double *from = j->map + (h ? m->first : r->first);
      int64_t at = ((q * quarter - reach) % n + n) % n;
      for (int64_t k = 0; k < length; k++) {
        lane[k * LANES + h * p->periods + q] = from[at];
        at = at + 1 == n ? 0 : at + 1;
      }
    }
  return KUGEL_OK;
}

/* Weights of pixel i of ring r for all rings it needs, one after another, each from a multiple of LANES on.
 */
static void weights_of(const job *j, const kugel__radial_ring *r, const span *spans, int64_t i,
                       int64_t *start, double *w)
{
  int64_t at = 0;
  for (int64_t k = r->lo; k < r->hi; k++) {
    const span *t = spans + k - r->lo;
    const kugel__radial_ring *q = j->p->ring + k;
    if (!t->width)
      continue;
    double step = 2 * M_PI / (double)q->nphi, unit = step / (double)r->nphi;
    int64_t turn = i * q->nphi;
    int64_t j0 = (int64_t)ceil((double)turn / (double)r->nphi + t->shift - t->half);
    start[k - r->lo] = j0;
    j->ops->keys(t->a, t->b, (double)(j0 * r->nphi - turn) * unit + t->dphi, step, t->width, w + at);
    for (int64_t e = t->width; e < kugel__round_up(t->width, LANES); e++)
      w[at + e] = INFINITY;
    at += kugel__round_up(t->width, LANES);
  }
  j->ops->values(&j->p->poly, at, w);
}

static void along_ring(const job *j, int64_t index, const span *spans, int64_t *start, double *w)
{
  const kugel_radial *p = j->p;
  const kugel__radial_ring *r = p->ring + index;
  weights_of(j, r, spans, 0, start, w);
  for (int64_t h = 0; h <= p->mirrored; h++) {
    int64_t mirror = p->nrings - 1 - index;
    if (h && mirror == index)
      break;
    double *out = j->map + p->ring[h ? mirror : index].first;
    memset(out, 0, (size_t)r->nphi * 8);
    for (int64_t i = 0; i < r->nphi; i += TILE) {
      const double *c = w;
      for (int64_t k = r->lo; k < r->hi; k++) {
        const span *t = spans + k - r->lo;
        const kugel__radial_ring *q = p->ring + (h ? p->nrings - 1 - k : k);
        if (t->width)
          j->ops->stencil(c, t->width, j->store + q->row + q->reach + start[k - r->lo] + i,
                          kugel__min(TILE, r->nphi - i), out + i);
        c += kugel__round_up(t->width, LANES);
      }
    }
  }
}

static void by_pixel(const job *j, int64_t index, const span *spans, int64_t *start, double *w)
{
  const kugel_radial *p = j->p;
  const kugel__radial_ring *r = p->ring + index;
  int64_t quarter = r->nphi / p->periods, mirror = p->nrings - 1 - index;
  for (int64_t i = 0; i < quarter; i++) {
    weights_of(j, r, spans, i, start, w);
    double acc[LANES] = {0};
    const double *c = w;
    for (int64_t k = r->lo; k < r->hi; k++) {
      const span *t = spans + k - r->lo;
      const kugel__radial_ring *q = p->ring + k;
      if (t->width)
        j->ops->lanes(c, j->store + q->slot + (q->reach + start[k - r->lo]) * LANES, t->width, acc);
      c += kugel__round_up(t->width, LANES);
    }
    for (int64_t h = 0; h <= p->mirrored && !(h && mirror == index); h++)
      for (int64_t q = 0; q < p->periods; q++)
        j->map[p->ring[h ? mirror : index].first + q * quarter + i] = acc[h * p->periods + q];
  }
}

static kugel_status sum_task(void *arg, int64_t i, int worker)
{
  job *j = arg;
  const kugel_radial *p = j->p;
  const kugel__radial_ring *r = p->ring + i;
  int64_t n = r->hi - r->lo, bytes = n * (int64_t)(sizeof(span) + 8);
  span *spans = kugel__alloc(p->ctx, (size_t)bytes);
  KUGEL_CHECK(spans, KUGEL_ENOMEM, "no memory for %lld rings", (long long)n);
  int64_t *start = (int64_t *)(spans + n);
  for (int64_t k = 0; k < n; k++)
    spans[k] = span_of(p, r, p->ring + r->lo + k);
  double *w = j->work + worker * p->work;
  if (r->same)
    along_ring(j, i, spans, start, w);
  else
    by_pixel(j, i, spans, start, w);
  kugel__free(p->ctx, spans);
  return KUGEL_OK;
}

kugel_status kugel__radial_direct(const kugel_radial *p, double *map)
{
  int threads = kugel__ctx_threads(p->ctx);
  double *store = kugel__scratch_get(p->ctx, (size_t)(p->scratch + LANES) * 8);
  double *work = kugel__scratch_get(p->ctx, (size_t)(threads * p->work) * 8);
  kugel_status s = KUGEL_OK;
  if (!store || !work)
    s = KUGEL_FAIL(KUGEL_ENOMEM, "no memory for a copy of the map of %lld pixels", (long long)p->scratch);
  job j = {p, kugel__radial_ops_now(), map, store, work};
  kugel__span outer = kugel__progress_enter(0, 0.1);
  if (!s)
    s = kugel__parallel(p->ctx, p->nrings, fill_task, &j);
  kugel__progress_leave(outer);
  outer = kugel__progress_enter(0.1, 1);
  if (!s)
    s = kugel__parallel(p->ctx, outputs(p), sum_task, &j);
  kugel__progress_leave(outer);
  kugel__scratch_put(p->ctx, work);
  kugel__scratch_put(p->ctx, store);
  return s;
}
