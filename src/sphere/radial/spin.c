/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums over pairs of pixels of maps that come in pairs with a spin, as Q and U. The symmetries are those of
 * scalar sums: in a mirror the second map changes its sign and the pair turns the other way. */
#include <math.h>
#include <string.h>
#include "core/alloc.h"
#include "core/cpu.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "sphere/grid/grid.h"
#include "sphere/grid/mapops.h"
#include "sphere/radial/spin.h"

enum { LANES = KUGEL__RADIAL_LANES, GROUP = KUGEL__RADIAL_GROUP, TILE = 256 };

KUGEL_DISPATCH(kugel__radial_spin_ops, kugel__radial_spin_ops)

const kugel__radial_spin_ops *kugel__radial_spin_ops_now(void)
{
  return kugel__radial_spin_ops_get();
}

typedef struct job {
  const kugel_radial *p;
  const kugel__radial_io *io;
  const kugel__radial_ops *ops;
  const kugel__radial_spin_ops *turns;
  double *store[2], *work;
  int64_t each;      /* doubles of work a thread */
  int64_t first, lo; /* output rings from `first` on, of rings from `lo` on */
} job;

/* A thread's memory. Sums: of K cos times the first and second map, of K sin times the first and second. */
typedef struct bench {
  double *row[2][2]; /* [map][hemisphere] */
  double *sum[4], *w, *sine;
} bench;

/* Where ring q's lanes begin, its reach before position 0. */
static int64_t slot_of(const job *j, const kugel__radial_ring *q)
{
  return q->slot - j->p->ring[j->lo].slot;
}

static int64_t weights_of(const kugel_radial *p)
{
  return kugel__round_up(p->work, LANES);
}

static int64_t bench_doubles(const kugel_radial *p)
{
  return 4 * p->max_nphi + 4 * TILE * LANES + 2 * weights_of(p);
}

static bench bench_of(const job *j, int worker)
{
  double *at = j->work + worker * j->each;
  int64_t n = j->p->max_nphi, sums = TILE * LANES;
  bench b = {{{at, at + n}, {at + 2 * n, at + 3 * n}}, {NULL}, NULL, NULL};
  at += 4 * n;
  for (int i = 0; i < 4; i++)
    b.sum[i] = at + i * sums;
  b.w = at + 4 * sums;
  b.sine = b.w + weights_of(j->p);
  return b;
}

static const kugel__radial_ring *ring_of(const kugel_radial *p, int64_t index, int64_t mirror)
{
  return p->ring + (mirror ? p->nrings - 1 - index : index);
}

/* Pixels of a ring times their weight; 0 where either map is bad, and the second's sign in a mirror. */
static void take(const job *j, const kugel__radial_ring *r, int64_t mirror, double *q, double *u)
{
  const kugel__radial_io *io = j->io;
  double w = io->adjoint ? 1 : r->weight, v = mirror ? -w : w;
  int64_t word = io->f32 ? 4 : 8;
  const char *in = (const char *)io->in + r->first * word;
  kugel__widen(in, io->f32, r->nphi, q);
  kugel__widen(in + j->p->grid->npix * word, io->f32, r->nphi, u);
  for (int64_t k = 0; k < r->nphi; k++) {
    bool bad = kugel__bad_pixel(q[k]) || kugel__bad_pixel(u[k]);
    double by = io->adjoint && io->seen ? kugel__radial_divided(io, r->first + k, 1) : 1;
    q[k] = bad ? 0 : by * w * q[k];
    u[k] = bad ? 0 : by * v * u[k];
  }
}

static void put(const kugel__radial_io *io, int64_t i, double v)
{
  if (io->f32)
    ((float *)io->out)[i] = (float)v;
  else
    ((double *)io->out)[i] = v;
}

static double pixel(const kugel__radial_io *io, int64_t i)
{
  return io->f32 ? (double)((const float *)io->in)[i] : ((const double *)io->in)[i];
}

static void give(const job *j, const kugel__radial_ring *r, int64_t mirror, const double *q, const double *u)
{
  const kugel__radial_io *io = j->io;
  double w = io->adjoint ? r->weight : 1;
  for (int64_t k = 0; k < r->nphi; k++) {
    int64_t i = r->first + k, second = i + j->p->grid->npix;
    bool bad = kugel__bad_pixel(pixel(io, i)) || kugel__bad_pixel(pixel(io, second));
    double scale = w;
    if (io->seen && !io->adjoint) {
      scale = kugel__radial_divided(io, i, w);
      bad |= scale == KUGEL_UNSEEN;
    }
    put(io, i, bad ? KUGEL_UNSEEN : scale * q[k]);
    put(io, second, bad ? KUGEL_UNSEEN : (mirror ? -scale : scale) * u[k]);
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
    take(j, ring_of(p, i, h), h, b.row[0][h], b.row[1][h]);
  for (int c = 0; c < 2; c++)
    kugel__radial_to_lanes(p, r, b.row[c], j->store[c] + slot_of(j, r));
  return KUGEL_OK;
}

/* Q = K cos Q - K sin U, U = K cos U + K sin Q; backwards the pair turns the other way. From sums [n][LANES]
 * to rows. */
static void collect(const job *j, const kugel__radial_ring *r, int64_t at, int64_t n, int64_t first,
                    bool back, bench *b)
{
  double *sum[4], sign = back ? -1 : 1;
  for (int i = 0; i < 4; i++)
    sum[i] = b->sum[i] + first * LANES;
  for (int64_t k = 0; k < n * LANES; k++) {
    sum[0][k] -= sign * sum[3][k];
    sum[1][k] += sign * sum[2][k];
  }
  for (int c = 0; c < 2; c++)
    kugel__radial_from_lanes(j->p, r, at, n, sum[c], b->row[c]);
}

static kugel__radial_turn turn_of(const kugel_radial *p, const kugel__radial_ring *r,
                                  const kugel__radial_ring *q)
{
  return (kugel__radial_turn){cos((r->theta - q->theta) / 2), cos((r->theta + q->theta) / 2), p->opts.spin};
}

static void row_weights(const job *j, const kugel__radial_ring *r, const kugel__radial_span *spans, bench *b)
{
  const kugel_radial *p = j->p;
  int64_t at = 0;
  for (int64_t k = r->lo; k < r->hi; k++) {
    const kugel__radial_span *t = spans + k - r->lo;
    int64_t whole = kugel__round_up(t->width, LANES);
    if (!t->width)
      continue;
    double h0 = ceil(t->shift - t->half) * t->step + t->dphi, *w = b->w + at;
    j->ops->keys(t->a, t->b, h0, t->step, t->width, w);
    for (int64_t e = t->width; e < whole; e++)
      w[e] = INFINITY;
    j->ops->values(&p->poly, whole, w);
    kugel__radial_turn turn = turn_of(p, r, p->ring + k);
    j->turns->row(&turn, h0, t->step, t->width, w, b->sine + at);
    at += whole;
  }
}

static void along_ring(const job *j, const kugel__radial_ring *r, const kugel__radial_span *spans, bench *b)
{
  const kugel_radial *p = j->p;
  row_weights(j, r, spans, b);
  for (int64_t at = 0; at < r->segment; at += TILE) {
    int64_t n = kugel__min(TILE, r->segment - at), w = 0;
    for (int i = 0; i < 4; i++)
      memset(b->sum[i], 0, (size_t)(n * LANES) * 8);
    for (int64_t k = r->lo; k < r->hi; k++) {
      const kugel__radial_span *t = spans + k - r->lo;
      const kugel__radial_ring *q = p->ring + k;
      int64_t from = slot_of(j, q) + (q->reach + (int64_t)ceil(t->shift - t->half) + at) * LANES;
      for (int i = 0; i < 4 && t->width; i++)
        j->ops->stencil((i < 2 ? b->w : b->sine) + w, t->width, j->store[i & 1] + from, n, b->sum[i]);
      w += kugel__round_up(t->width, LANES);
    }
    collect(j, r, at, n, 0, false, b);
  }
}

static void by_pixel(const job *j, const kugel__radial_ring *r, const kugel__radial_span *spans, bench *b)
{
  const kugel_radial *p = j->p;
  int64_t count = p->reflected ? (r->segment + r->turn) / 2 + 1 : r->segment;
  for (int64_t i0 = 0; i0 < count; i0 += GROUP) {
    double i[GROUP], j0[GROUP], h0[GROUP];
    for (int g = 0; g < GROUP; g++)
      i[g] = (double)kugel__min(i0 + g, count - 1);
    for (int s = 0; s < 4; s++)
      memset(b->sum[s], 0, 2 * GROUP * LANES * 8);
    for (int64_t k = r->lo; k < r->hi; k++) {
      const kugel__radial_span *t = spans + k - r->lo;
      const kugel__radial_ring *q = p->ring + k;
      if (!t->width)
        continue;
      kugel__radial_turn turn = turn_of(p, r, q);
      j->ops->weights(&p->poly, t, i, j0, b->w);
      for (int g = 0; g < GROUP; g++)
        h0[g] = (j0[g] * t->nr - i[g] * t->nq) * t->unit + t->dphi;
      j->turns->group(&turn, h0, t->step, t->width, b->w, b->sine);
      for (int s = 0; s < 4; s++) {
        const double *f = j->store[s & 1] + slot_of(j, q) + q->reach * LANES;
        const double *back = p->reflected ? f + (q->segment + q->turn) * LANES : NULL;
        j->ops->pairs(s < 2 ? b->w : b->sine, t->width, j0, f, back, b->sum[s]);
      }
    }
    for (int g = 0; g < GROUP && i0 + g < count; g++) {
      int64_t other = r->segment + r->turn - i0 - g;
      if (i0 + g < r->segment)
        collect(j, r, i0 + g, 1, g, false, b);
      if (p->reflected && other >= 0 && other < r->segment)
        collect(j, r, other, 1, GROUP + g, true, b);
    }
  }
}

static kugel_status sum_task(void *arg, int64_t i, int worker)
{
  job *j = arg;
  const kugel_radial *p = j->p;
  i += j->first;
  const kugel__radial_ring *r = p->ring + i;
  int64_t n = r->hi - r->lo;
  kugel__radial_span *spans = kugel__alloc(p->ctx, (size_t)n * sizeof *spans);
  KUGEL_CHECK(spans, KUGEL_ENOMEM, "no memory for %lld rings", (long long)n);
  for (int64_t k = 0; k < n; k++)
    spans[k] = kugel__radial_span_of(p, r, p->ring + r->lo + k);
  bench b = bench_of(j, worker);
  if (r->same)
    along_ring(j, r, spans, &b);
  else
    by_pixel(j, r, spans, &b);
  for (int64_t h = 0; h <= p->mirrored; h++)
    if (!h || ring_of(p, i, h) != r)
      give(j, ring_of(p, i, h), h, b.row[0][h], b.row[1][h]);
  kugel__free(p->ctx, spans);
  return KUGEL_OK;
}

/* seen: the mask of pixels good in both maps, convolved by K itself. */
static kugel_status convolve_mask(const kugel_radial *p, kugel__radial_io *io, double *observed,
                                  int64_t first, int64_t end)
{
  int64_t npix = p->grid->npix;
  for (int64_t i = 0; i < npix; i++) {
    bool bad = kugel__bad_pixel(pixel(io, i)) || kugel__bad_pixel(pixel(io, i + npix));
    observed[i] = bad ? KUGEL_UNSEEN : 1;
  }
  kugel__radial_io mask = {.in = observed, .mask = true, .seen = io->seen};
  return kugel__radial_direct(p, &mask, first, end);
}

static kugel_status convolve(const kugel_radial *p, const kugel__radial_io *io, int64_t first, int64_t end)
{
  int64_t lo, hi, threads = kugel__radial_threads(p);
  kugel__radial_reach(p, first, end, &lo, &hi);
  job j = {.p = p,
           .io = io,
           .ops = kugel__radial_ops_now(),
           .turns = kugel__radial_spin_ops_get(),
           .each = bench_doubles(p),
           .first = first,
           .lo = kugel__min(lo, p->nrings - 1)};
  size_t store = (size_t)(p->scratch + LANES) * 8;
  for (int c = 0; c < 2; c++)
    j.store[c] = kugel__scratch_get(p->ctx, store);
  j.work = kugel__scratch_get(p->ctx, (size_t)(threads * j.each) * 8);
  kugel_status s = KUGEL_OK;
  if (!j.store[0] || !j.store[1] || !j.work)
    s = KUGEL_FAIL(KUGEL_ENOMEM, "no memory for a copy of two maps of %lld pixels", (long long)p->grid->npix);
  kugel__radial_part part = {p, first, end, true};
  kugel__progress_stage(0, 0.02, "convolution");
  if (!s)
    s = kugel__parallel_on(p->ctx, threads, hi - lo, fill_task, &j);
  kugel__progress_stage_by(0.02, 1, "convolution", kugel__radial_part_done, &part);
  if (!s)
    s = kugel__parallel_on(p->ctx, threads, end - first, sum_task, &j);
  kugel__scratch_put(p->ctx, j.work);
  for (int c = 0; c < 2; c++)
    kugel__scratch_put(p->ctx, j.store[c]);
  return s;
}

kugel_status kugel__radial_spin(const kugel_radial *p, const kugel__radial_io *in, int64_t first, int64_t end)
{
  kugel__radial_io io = *in;
  if (!p->opts.normalise_mask)
    return convolve(p, &io, first, end);
  size_t bytes = (size_t)p->grid->npix * 8;
  double *observed = kugel__scratch_get(p->ctx, bytes);
  io.seen = io.keep ? io.keep : kugel__scratch_get(p->ctx, bytes);
  kugel_status s = KUGEL_OK;
  if (!observed || !io.seen)
    s = KUGEL_FAIL(KUGEL_ENOMEM, "no memory for a map of %lld pixels", (long long)p->grid->npix);
  if (!s && !io.kept)
    s = convolve_mask(p, &io, observed, first, end);
  if (!s)
    s = convolve(p, &io, first, end);
  if (!io.keep)
    kugel__scratch_put(p->ctx, io.seen);
  kugel__scratch_put(p->ctx, observed);
  return s;
}
