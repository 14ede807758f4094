/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums over pairs of pixels, ring by ring.
 *
 * For rings of n and n' pixels the weights repeat along the output ring. Where all rings within the cut-off
 * have as many pixels, one row of weights serves the whole ring: a convolution along it. Elsewhere (the caps
 * of HEALPix) the weights of a pixel serve its copies a quarter turn on, in the other hemisphere, and
 * mirrored about a meridian. Rings are kept as LANES segments side by side, which the same weight meets. */
#include <math.h>
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "sphere/radial/spectra.h"

enum { LANES = KUGEL__RADIAL_LANES, GROUP = KUGEL__RADIAL_GROUP, TILE = 256 };

typedef struct job {
  const kugel_radial *p;
  const kugel__radial_io *io;
  const kugel__radial_ops *ops;
  double *store, *work;
  int64_t first, lo; /* output rings from `first` on, of rings from `lo` on */
} job;

/* A thread's memory: two rows of pixels, two of their sums over parts, sums of a tile, weights. */
typedef struct bench {
  double *row[2], *total[2], *sum, *w;
} bench;

static bench bench_of(const job *j, int worker)
{
  double *at = j->work + worker * j->p->work;
  int64_t n = j->p->max_nphi;
  return (bench){{at, at + n}, {at + 2 * n, at + 3 * n}, at + 4 * n, at + 4 * n + TILE * LANES};
}

/* Where ring q's position 0 is kept. */
static double *lanes_of(const job *j, const kugel__radial_ring *q)
{
  return j->store + (q->slot - j->p->ring[j->lo].slot) + q->reach * LANES;
}

static const kugel__radial_ring *mirror_of(const kugel_radial *p, int64_t index)
{
  return p->ring + (p->nrings - 1 - index);
}

void kugel__radial_to_lanes(const kugel_radial *p, const kugel__radial_ring *r, double *const row[2],
                            double *lane)
{
  int64_t n = r->nphi, reach = r->reach, length = r->segment + 2 * reach;
  if (p->segments * (1 + p->mirrored) < LANES)
    memset(lane, 0, (size_t)(length * LANES) * 8);
  for (int64_t h = 0; h <= p->mirrored; h++)
    for (int64_t s = 0; s < p->segments; s++) {
      double *to = lane + h * p->segments + s;
      int64_t at = ((s * r->segment - reach) % n + n) % n;
      for (int64_t k = 0; k < length;) {
        int64_t run = kugel__min(length - k, n - at);
        for (const double *from = row[h] + at, *end = from + run; from < end; k++)
          to[k * LANES] = *from++;
        at = 0;
      }
    }
}

static kugel_status fill_task(void *arg, int64_t i, int worker)
{
  job *j = arg;
  const kugel_radial *p = j->p;
  i += j->lo;
  const kugel__radial_ring *r = p->ring + i;
  if (!r->reach)
    return KUGEL_OK;
  bench b = bench_of(j, worker);
  for (int64_t h = 0; h <= p->mirrored; h++)
    kugel__radial_read_ring(j->io, h ? mirror_of(p, i) : r, b.row[h]);
  kugel__radial_to_lanes(p, r, b.row, lanes_of(j, r) - r->reach * LANES);
  return KUGEL_OK;
}

static void give_rows(const job *j, int64_t index, const bench *b)
{
  const kugel_radial *p = j->p;
  for (int64_t h = 0; h <= p->mirrored; h++)
    if (!h || mirror_of(p, index) != p->ring + index)
      kugel__radial_write_ring(j->io, h ? mirror_of(p, index) : p->ring + index, b->row[h]);
}

void kugel__radial_from_lanes(const kugel_radial *p, const kugel__radial_ring *r, int64_t at, int64_t n,
                              const double *sum, double *const row[2])
{
  for (int64_t h = 0; h <= p->mirrored; h++)
    for (int64_t s = 0; s < p->segments; s++) {
      double *to = row[h] + s * r->segment + at;
      const double *from = sum + h * p->segments + s;
      int64_t left = kugel__min(n, r->nphi - s * r->segment - at);
      for (int64_t k = 0; k < left; k++)
        to[k] = from[k * LANES];
    }
}

static void along_ring(const job *j, const kugel__radial_ring *r, const kugel__radial_span *spans, bench *b)
{
  const kugel_radial *p = j->p;
  double *w = b->w;
  for (int64_t k = r->lo; k < r->hi; k++) {
    const kugel__radial_span *t = spans + k - r->lo;
    int64_t whole = kugel__round_up(t->width, LANES);
    if (!t->width)
      continue;
    double j0 = ceil(t->shift - t->half);
    j->ops->keys(t->a, t->b, j0 * t->step + t->dphi, t->step, t->width, w);
    for (int64_t e = t->width; e < whole; e++)
      w[e] = INFINITY;
    j->ops->values(&p->poly, whole, w);
    w += whole;
  }
  for (int64_t at = 0; at < r->segment; at += TILE) {
    int64_t n = kugel__min(TILE, r->segment - at);
    memset(b->sum, 0, (size_t)(n * LANES) * 8);
    w = b->w;
    for (int64_t k = r->lo; k < r->hi; k++) {
      const kugel__radial_span *t = spans + k - r->lo;
      if (t->width)
        j->ops->stencil(w, t->width,
                        lanes_of(j, p->ring + k) + ((int64_t)ceil(t->shift - t->half) + at) * LANES, n,
                        b->sum);
      w += kugel__round_up(t->width, LANES);
    }
    kugel__radial_from_lanes(p, r, at, n, b->sum, b->row);
  }
}

static void scatter(const kugel_radial *p, const kugel__radial_ring *r, const double *sum, int64_t i,
                    bench *b)
{
  if (i >= 0 && i < r->segment)
    kugel__radial_from_lanes(p, r, i, 1, sum, b->row);
}

static void by_pixel(const job *j, const kugel__radial_ring *r, const kugel__radial_span *spans, bench *b)
{
  const kugel_radial *p = j->p;
  int64_t count = p->reflected ? (r->segment + r->turn) / 2 + 1 : r->segment;
  for (int64_t i0 = 0; i0 < count; i0 += GROUP) {
    double i[GROUP], j0[GROUP];
    for (int g = 0; g < GROUP; g++)
      i[g] = (double)kugel__min(i0 + g, count - 1);
    memset(b->sum, 0, 2 * GROUP * LANES * 8);
    for (int64_t k = r->lo; k < r->hi; k++) {
      const kugel__radial_span *t = spans + k - r->lo;
      const kugel__radial_ring *q = p->ring + k;
      if (!t->width)
        continue;
      const double *f = lanes_of(j, q), *back = p->reflected ? f + (q->segment + q->turn) * LANES : NULL;
      j->ops->weights(&p->poly, t, i, j0, b->w);
      j->ops->pairs(b->w, t->width, j0, f, back, b->sum);
    }
    for (int g = 0; g < GROUP && i0 + g < count; g++) {
      scatter(p, r, b->sum + g * LANES, i0 + g, b);
      if (p->reflected)
        scatter(p, r, b->sum + (GROUP + g) * LANES, r->segment + r->turn - i0 - g, b);
    }
  }
}

static kugel_status sum_part(const job *j, int64_t index, int64_t part, bench *b)
{
  const kugel_radial *p = j->p;
  kugel__radial_ring r = kugel__radial_centre(p, p->ring + index, part);
  int64_t n = r.hi - r.lo;
  kugel__radial_span *spans = kugel__alloc(p->ctx, (size_t)kugel__max(n, 1) * sizeof *spans);
  KUGEL_CHECK(spans, KUGEL_ENOMEM, "no memory for %lld rings", (long long)n);
  for (int64_t k = 0; k < n; k++)
    spans[k] = kugel__radial_span_of(p, &r, p->ring + r.lo + k);
  if (r.same)
    along_ring(j, &r, spans, b);
  else
    by_pixel(j, &r, spans, b);
  kugel__free(p->ctx, spans);
  return KUGEL_OK;
}

static kugel_status sum_task(void *arg, int64_t i, int worker)
{
  job *j = arg;
  const kugel_radial *p = j->p;
  bench b = bench_of(j, worker);
  i += j->first;
  if (p->spectra && p->spectra->row[i].modes >= 0)
    return KUGEL_OK;
  if (!p->opts.nparts) {
    KUGEL_TRY(sum_part(j, i, 0, &b));
    give_rows(j, i, &b);
    return KUGEL_OK;
  }
  int64_t n = p->ring[i].nphi;
  memset(b.total[0], 0, (size_t)n * 8);
  for (int64_t k = 0; k < p->opts.nparts; k++) {
    KUGEL_TRY(sum_part(j, i, k, &b));
    for (int64_t e = 0; e < n; e++)
      b.total[0][e] += p->part[k] * b.row[0][e];
  }
  b.row[0] = b.total[0];
  give_rows(j, i, &b);
  return KUGEL_OK;
}

double kugel__radial_part_done(const void *arg, int64_t done)
{
  const kugel__radial_part *part = arg;
  const kugel__radial_ring *ring = part->plan->ring;
  double all = 0, some = 0;
  for (int64_t i = part->first; i < part->end; i++) {
    double cost = part->direct ? (double)ring[i].nphi * (ring[i].same ? 1 : 5) : 1;
    all += cost;
    some += i < part->first + done ? cost : 0;
  }
  return all > 0 ? some / all : 1;
}

int64_t kugel__radial_threads(const kugel_radial *p)
{
  int64_t threads = kugel__ctx_threads(p->ctx);
  return p->block ? kugel__min(threads, p->block) : threads;
}

kugel_status kugel__radial_direct(const kugel_radial *p, const kugel__radial_io *io, int64_t first,
                                  int64_t end)
{
  int64_t lo, hi;
  int64_t threads = kugel__radial_threads(p);
  double *store = kugel__scratch_get(p->ctx, (size_t)(p->scratch + LANES) * 8);
  double *work = kugel__scratch_get(p->ctx, (size_t)(threads * p->work) * 8);
  kugel_status s = KUGEL_OK;
  if (!store || !work)
    s = KUGEL_FAIL(KUGEL_ENOMEM, "no memory for a copy of the map of %lld pixels", (long long)p->scratch);
  kugel__radial_reach(p, first, end, &lo, &hi);
  job j = {p, io, kugel__radial_ops_now(), store, work, first, kugel__min(lo, p->nrings - 1)};
  kugel__radial_part part = {p, first, end, true};
  kugel__progress_stage(0, 0.03, "convolution");
  if (!s)
    s = kugel__parallel_on(p->ctx, threads, hi - lo, fill_task, &j);
  kugel__progress_stage_by(0.03, 1, "convolution", kugel__radial_part_done, &part);
  if (!s)
    s = kugel__parallel_on(p->ctx, threads, end - first, sum_task, &j);
  kugel__scratch_put(p->ctx, work);
  kugel__scratch_put(p->ctx, store);
  return s;
}
