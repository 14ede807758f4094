/* SPDX-License-Identifier: BSD-3-Clause */
/* Which rank computes which rings, and a plan of those alone. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "sphere/grid/grid.h"
#include "sphere/radial/ranks.h"

enum { LANES = KUGEL__SPECTRA_LANES };

/* Relative costs of an output ring; see kugel__radial_part for the pixels. */
static double cost_of(const kugel_radial *p, int64_t i)
{
  const kugel__radial_ring *r = p->ring + i;
  if (p->spectra && p->spectra->row[i].modes >= 0)
    return (double)(p->spectra->row[i].modes + 1);
  return (double)r->nphi * (r->same ? 1 : 5);
}

/* Runs of about equal cost; by spectra in whole groups, whose sums share vectors. */
static void cut_rings(const kugel_radial *p, int ranks, int64_t first, int64_t end, int64_t *cut)
{
  double all = 0, some = 0;
  int64_t step = p->spectra ? LANES : 1, at = first;
  for (int64_t i = first; i < end; i++)
    all += cost_of(p, i);
  cut[0] = first;
  for (int r = 1; r < ranks; r++) {
    for (double next = 0; at < end; at += step, some += next) {
      next = 0;
      for (int64_t i = at; i < kugel__min(end, at + step); i++)
        next += cost_of(p, i);
      if (some + next / 2 > all * r / ranks)
        break;
    }
    cut[r] = kugel__min(at, end);
  }
  cut[ranks] = end;
}

typedef struct placed {
  int64_t first, n, at;
} placed;

static int by_first(const void *a, const void *b)
{
  const placed *x = a, *y = b;
  return (x->first > y->first) - (x->first < y->first);
}

/* Rings [lo, hi) and their mirrors; returns how many. */
static int64_t list_rings(const kugel_radial *p, const kugel_radial *view, int64_t lo, int64_t hi,
                          placed *list)
{
  int64_t n = 0;
  for (int64_t i = lo; i < hi; i++)
    for (int64_t h = 0; h <= p->mirrored; h++) {
      int64_t k = h ? p->nrings - 1 - i : i;
      if (!h || (k != i && (k < lo || k >= hi)))
        list[n++] = (placed){p->ring[k].first, p->ring[k].nphi, view ? view->ring[k].first : 0};
    }
  qsort(list, (size_t)n, sizeof *list, by_first);
  return n;
}

kugel_status kugel__radial_lay(kugel_layout *l, int rank, const kugel_radial *p, const kugel_radial *view,
                               int64_t lo, int64_t hi)
{
  placed *list = kugel__alloc(p->ctx, (size_t)kugel__max(1, 2 * (hi - lo)) * sizeof *list);
  KUGEL_CHECK(list, KUGEL_ENOMEM, "no memory for a list of %lld rings", (long long)(hi - lo));
  int64_t n = list_rings(p, view, lo, hi, list);
  kugel__layout_rank(l, rank);
  for (int64_t i = 0; i < n; i++)
    if (view)
      kugel__layout_add_at(l, rank, list[i].first, list[i].n, list[i].at);
    else
      kugel__layout_add(l, rank, list[i].first, list[i].n);
  kugel__free(p->ctx, list);
  return KUGEL_OK;
}

/* Where a rank's part has element `first`; 0 if it has not. */
static int64_t place_of(const kugel_layout *l, int rank, int64_t first)
{
  int64_t lo = l->begin[rank], hi = l->begin[rank + 1];
  while (hi - lo > 1) {
    int64_t mid = (lo + hi) / 2;
    *(l->runs[mid].first <= first ? &lo : &hi) = mid;
  }
  const kugel__run *run = l->runs + lo;
  return lo < hi && first >= run->first && first < run->first + run->n ? run->at + first - run->first : 0;
}

/* The buffer has the rings that the rank's results are made of as the map has them, without gaps. */
static kugel_status place_rings(kugel__radial_share *t, int64_t lo, int64_t hi)
{
  const kugel_radial *p = t->plan;
  kugel_layout *l;
  KUGEL_TRY(kugel__layout_new(p->ctx, t->comm, p->grid->npix, 2 * (hi - lo) + 1, &l));
  for (int r = 0; r < t->comm->rank; r++)
    kugel__layout_rank(l, r);
  kugel_status s = kugel__radial_lay(l, t->comm->rank, p, NULL, lo, hi);
  for (int64_t i = 0; i < p->nrings && !s; i++) {
    t->view.ring[i] = p->ring[i];
    t->view.ring[i].first = place_of(l, t->comm->rank, p->ring[i].first);
  }
  t->grid.npix = kugel__max(p->max_nphi, l->part[t->comm->rank]);
  kugel_layout_destroy(l);
  return s;
}

static kugel_status make_view(kugel__radial_share *t)
{
  const kugel_radial *p = t->plan;
  int64_t first = t->cut[t->comm->rank], end = t->cut[t->comm->rank + 1], lo = first, hi = first, a, b;
  t->view = *p;
  t->view.dist = NULL;
  t->view.led = NULL;
  t->view.led_rings = NULL;
  t->view.level = NULL;
  t->grid = kugel__radial_grid(p);
  t->view.grid = &t->grid;
  t->view.ring = NULL;
  if (p->spectra) {
    t->spectra = *p->spectra;
    t->spectra.in = t->spectra.out = NULL;
    t->view.spectra = &t->spectra;
  }
  KUGEL_ALLOC(p->ctx, t->view.ring, (size_t)p->nrings * sizeof *p->ring);
  if (first < end) {
    kugel__radial_pairs(p, first, end, &lo, &hi);
    kugel__radial_reach(p, first, end, &a, &b);
    t->view.scratch = a < b ? (b < p->nrings ? p->ring[b].slot : p->scratch) - p->ring[a].slot : 0;
  }
  KUGEL_TRY(place_rings(t, lo, hi));
  return p->spectra ? kugel__radial_spectra_view(p, &t->view) : KUGEL_OK;
}

/* What each rank reads and computes. Only this rank's places matter to it, and to layouts of other ranks none. */
static kugel_status make_layouts(kugel__radial_share *t)
{
  const kugel_radial *p = t->plan;
  int ranks = t->comm->size;
  int64_t runs = 0, lo, hi;
  for (int r = 0; r < ranks; r++)
    if (t->cut[r] < t->cut[r + 1]) {
      kugel__radial_pairs(p, t->cut[r], t->cut[r + 1], &lo, &hi);
      runs += 2 * (hi - lo);
    }
  KUGEL_TRY(kugel__layout_new(p->ctx, t->comm, p->grid->npix, runs, &t->need));
  KUGEL_TRY(kugel__layout_new(p->ctx, t->comm, p->grid->npix, 2 * (t->end - t->first), &t->own));
  for (int r = 0; r < ranks; r++) {
    lo = hi = t->cut[r];
    if (t->cut[r] < t->cut[r + 1])
      kugel__radial_pairs(p, t->cut[r], t->cut[r + 1], &lo, &hi);
    const kugel_radial *view = r == t->comm->rank ? &t->view : NULL;
    KUGEL_TRY(kugel__radial_lay(t->need, r, p, view, lo, hi));
    KUGEL_TRY(kugel__radial_lay(t->own, r, p, view, t->cut[r], t->cut[r + 1]));
  }
  return KUGEL_OK;
}

kugel_status kugel__radial_share_make(const kugel_radial *plan, kugel_comm *comm, int64_t first, int64_t end,
                                      kugel__radial_share **out)
{
  *out = NULL;
  kugel__radial_share *t = kugel__calloc(plan->ctx, sizeof *t);
  KUGEL_CHECK(t, KUGEL_ENOMEM, "no memory for a share of %lld rings", (long long)(end - first));
  *t = (kugel__radial_share){.plan = plan, .comm = comm, .first = first, .end = end};
  t->cut = kugel__alloc(plan->ctx, ((size_t)comm->size + 1) * sizeof *t->cut);
  kugel_status s =
      t->cut ? KUGEL_OK : KUGEL_FAIL(KUGEL_ENOMEM, "no memory for a list of %d ranks", comm->size);
  if (!s) {
    cut_rings(plan, comm->size, first, end, t->cut);
    s = make_view(t);
  }
  s = s ? s : make_layouts(t);
  if (s)
    kugel__radial_share_drop(t);
  else
    *out = t;
  return s;
}

void kugel__radial_share_drop(kugel__radial_share *t)
{
  if (!t)
    return;
  kugel_ctx *ctx = t->plan->ctx;
  kugel__rings_destroy(t->spectra.in);
  kugel__rings_destroy(t->spectra.out);
  kugel_layout_destroy(t->need);
  kugel_layout_destroy(t->own);
  kugel__free(ctx, t->view.ring);
  kugel__free(ctx, t->level);
  kugel__free(ctx, t->mask);
  kugel__free(ctx, t->cut);
  kugel__free(ctx, t);
}

/* ---- execution ---- */

/* Rings of this rank alone, in its buffer. */
static kugel_status run_own(kugel__radial_share *t, kugel__radial_io *io)
{
  int64_t first = t->cut[t->comm->rank], end = t->cut[t->comm->rank + 1];
  return first < end ? kugel__radial_rings(&t->view, io, first, end) : KUGEL_OK;
}

/* The convolved 1: each rank that of its rings, and from others that of the rings it reads. */
static kugel_status find_level(kugel__radial_share *t)
{
  const kugel_radial *p = t->plan;
  int64_t first = t->cut[t->comm->rank], end = t->cut[t->comm->rank + 1];
  double *level = kugel__calloc(p->ctx, (size_t)t->grid.npix * 8);
  kugel_status s =
      level ? KUGEL_OK
            : KUGEL_FAIL(KUGEL_ENOMEM, "no memory for a map of %lld pixels", (long long)t->grid.npix);
  if (!s && first < end)
    s = kugel__radial_ones(&t->view, level, first, end);
  s = kugel__comm_agree(t->comm, s);
  s = s ? s : kugel__layout_move(t->own, level, t->need, level, 8);
  if (s)
    kugel__free(p->ctx, level);
  else
    t->level = level;
  return s;
}

static kugel_status get_memory(kugel__radial_share *t, kugel__radial_call call, char **buffer)
{
  const kugel_radial *p = t->plan;
  int64_t maps = p->opts.spin ? 2 : 1;
  size_t bytes = (size_t)(maps * t->grid.npix * (call.f32 ? 4 : 8));
  bool masked = p->opts.normalise_mask;
  if (masked && !t->mask)
    t->mask = kugel__calloc(p->ctx, (size_t)t->grid.npix * 8);
  *buffer = kugel__scratch_get(p->ctx, bytes);
  KUGEL_CHECK(*buffer && (t->mask || !masked), KUGEL_ENOMEM,
              "no memory for this rank's part of %lld maps, %lld pixels", (long long)maps,
              (long long)t->grid.npix);
  memset(*buffer, 0, bytes);
  return KUGEL_OK;
}

kugel_status kugel__radial_share_run(kugel__radial_share *t, kugel__radial_call call,
                                     const kugel_layout *from, const void *in, void *out, int64_t stride)
{
  const kugel_radial *p = t->plan;
  size_t word = call.f32 ? 4 : 8;
  int64_t n = p->opts.spin ? 2 : 1;
  char *buffer = NULL;
  kugel_status s = kugel__comm_agree(t->comm, get_memory(t, call, &buffer));
  if (!s && p->opts.normalise && !t->level)
    s = find_level(t);
  for (int64_t k = 0; k < n && !s; k++)
    s = kugel__layout_move(from, in ? (const char *)in + (size_t)(k * stride) * word : NULL, t->need,
                           buffer + (size_t)(k * t->grid.npix) * word, word);
  if (!s) {
    kugel__radial_io io = {.in = buffer,
                           .out = buffer,
                           .f32 = call.f32,
                           .adjoint = call.adjoint,
                           .keep = t->mask,
                           .kept = call.kept,
                           .seen = p->opts.normalise ? t->level : NULL,
                           .level = p->opts.normalise,
                           .least = p->opts.normalise ? kugel__radial_level_least(p) : 0};
    s = kugel__comm_agree(t->comm, run_own(t, &io));
  }
  for (int64_t k = 0; k < n && !s; k++)
    s = kugel__layout_move(t->own, buffer + (size_t)(k * t->grid.npix) * word, from,
                           out ? (char *)out + (size_t)(k * stride) * word : NULL, word);
  kugel__scratch_put(p->ctx, buffer);
  return s;
}
