/* SPDX-License-Identifier: BSD-3-Clause */
/* Radial convolution of maps that come and go ring by ring. A window holds the rings that a block of results
 * is made of; ring pair i (a ring and its mirror) is kept at place i modulo the number of places, so that the
 * next block reads only what is new. The engines run on a view of the plan whose rings lie in the window. */
#include <string.h>
#include "core/alloc.h"
#include "core/array.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "sphere/grid/grid.h"
#include "sphere/radial/spectra.h"
#include "sphere/radial/ranks.h"
#include "sphere/radial/gpu.h"

enum { LANES = KUGEL__RADIAL_LANES };

typedef struct window {
  const kugel_radial *plan;
  kugel_radial_stream_opts o;
  int64_t first, end, block; /* output rings, and how many at a time */
  int64_t places, pixels;    /* ring pairs, and pixels of them in a map */
  int64_t maps, word;        /* 2 with a spin; bytes of a number */
  int64_t *held;             /* [places] the pair at a place, -1: none */
  char *in, *out;            /* [maps][pixels] */
  kugel_radial view;
  kugel_grid grid;
  kugel__radial_spectra spectra;
} window;

static int64_t end_of(const window *w, int64_t first)
{
  return kugel__min(w->end, first + w->block);
}

/* Sizes the view for blocks of `block` rings; returns the bytes that they need. */
static int64_t measure(window *w, int64_t block)
{
  const kugel_radial *p = w->plan;
  int64_t lo, hi, lanes = 0;
  w->block = block;
  w->places = 1;
  for (int64_t at = w->first; at < w->end; at = end_of(w, at)) {
    kugel__radial_pairs(p, at, end_of(w, at), &lo, &hi);
    w->places = kugel__max(w->places, hi - lo);
    kugel__radial_reach(p, at, end_of(w, at), &lo, &hi);
    if (lo < hi)
      lanes = kugel__max(lanes, (hi < p->nrings ? p->ring[hi].slot : p->scratch) - p->ring[lo].slot);
  }
  w->pixels = w->places * p->max_nphi * (1 + p->mirrored);
  w->view.scratch = lanes;
  w->view.block = block;
  int64_t masks = (p->opts.normalise_mask || p->opts.normalise) * w->maps;
  int64_t bytes = 8 * w->places + p->nrings * (int64_t)sizeof *p->ring;
  bytes += w->pixels * (2 * w->maps * w->word + 8 * masks);
  if (p->spectra) {
    w->spectra.block = kugel__min(p->spectra->block, kugel__round_up(block, KUGEL__SPECTRA_LANES));
    bytes += kugel__radial_spectra_bytes(&w->view) + 16 * w->pixels;
  }
  if (!p->spectra || p->spectra->direct)
    bytes += 8 * w->maps * (lanes + kugel__radial_threads(&w->view) * (p->work + 4 * p->max_nphi));
  return bytes;
}

/* The largest blocks that the memory allows. */
static kugel_status choose_block(window *w)
{
  int64_t memory = w->o.memory ? (int64_t)kugel__min(w->o.memory, (uint64_t)INT64_MAX) : 1000000000;
  int64_t good = 0, bad = w->end - w->first + 1, least = measure(w, 1);
  KUGEL_CHECK(
      least <= memory, KUGEL_ENOMEM,
      "opts.memory is %lld bytes, %lld rings within the cut-off need %lld: allow more, or narrow the kernel",
      (long long)memory, (long long)w->places, (long long)least);
  while (bad - good > 1) {
    int64_t mid = good ? (good + bad) / 2 : 1;
    *(measure(w, mid) <= memory ? &good : &bad) = mid;
  }
  measure(w, good);
  return KUGEL_OK;
}

/* The plan as its engines are to see it: rings lie at their places, maps are as long as the window. */
static kugel_status make_view(window *w)
{
  const kugel_radial *p = w->plan;
  kugel_ctx *ctx = p->ctx;
  w->grid.npix = w->pixels;
  w->view.grid = &w->grid;
  w->view.ring = NULL;
  w->spectra.in = w->spectra.out = NULL;
  KUGEL_ALLOC(ctx, w->view.ring, (size_t)p->nrings * sizeof *p->ring);
  memcpy(w->view.ring, p->ring, (size_t)p->nrings * sizeof *p->ring);
  int64_t outputs = kugel__radial_outputs(p), stride = p->max_nphi * (1 + p->mirrored);
  for (int64_t i = 0; i < outputs; i++) {
    if (p->mirrored)
      w->view.ring[p->nrings - 1 - i].first = i % w->places * stride + p->max_nphi;
    w->view.ring[i].first = i % w->places * stride;
  }
  KUGEL_ALLOC(ctx, w->held, (size_t)w->places * 8);
  for (int64_t i = 0; i < w->places; i++)
    w->held[i] = -1;
  KUGEL_ALLOC(ctx, w->in, (size_t)(w->maps * w->pixels * w->word));
  KUGEL_ALLOC(ctx, w->out, (size_t)(w->maps * w->pixels * w->word));
  memset(w->in, 0, (size_t)(w->maps * w->pixels * w->word));
  return w->view.spectra ? kugel__radial_spectra_view(p, &w->view) : KUGEL_OK;
}

static void drop_view(window *w)
{
  kugel_ctx *ctx = w->plan->ctx;
  kugel__free(ctx, w->view.ring);
  kugel__free(ctx, w->held);
  kugel__free(ctx, w->in);
  kugel__free(ctx, w->out);
  if (w->view.spectra) {
    kugel__rings_destroy(w->spectra.in);
    kugel__rings_destroy(w->spectra.out);
  }
}

/* Reads a pair of rings into the window, or writes it from there. */
static kugel_status move(window *w, int64_t pair, bool write)
{
  const kugel_radial *p = w->plan;
  for (int64_t h = 0; h <= p->mirrored; h++) {
    int64_t i = h ? p->nrings - 1 - pair : pair;
    const kugel__radial_ring *r = p->ring + i;
    for (int map = 0; map < w->maps && !(h && i == pair); map++) {
      int64_t at = (map * w->pixels + w->view.ring[i].first) * w->word;
      KUGEL_TRY(write ? w->o.write(w->o.user, map, r->first, r->nphi, w->out + at)
                      : w->o.read(w->o.user, map, r->first, r->nphi, w->in + at));
    }
  }
  return KUGEL_OK;
}

static kugel_status run_block(window *w, int64_t first, int64_t end)
{
  int64_t lo, hi;
  kugel__radial_pairs(w->plan, first, end, &lo, &hi);
  for (int64_t i = lo; i < hi; i++) {
    int64_t *held = w->held + i % w->places;
    if (*held == i)
      continue;
    KUGEL_TRY(move(w, i, false));
    *held = i;
  }
  kugel__radial_io io = {.in = w->in, .out = w->out, .f32 = w->word == 4};
  kugel__span outer = kugel__progress_enter(0.01, 0.99);
  kugel_status s = kugel__radial_rings(&w->view, &io, first, end);
  kugel__progress_leave(outer);
  KUGEL_TRY(s);
  for (int64_t i = first; i < end; i++)
    KUGEL_TRY(move(w, i, true));
  return KUGEL_OK;
}

static kugel_status check(const kugel_radial *p, const kugel_radial_stream_opts *o)
{
  int64_t outputs = kugel__radial_outputs(p);
  KUGEL_CHECK(o->read && o->write, KUGEL_EINVAL, "opts.%s is NULL: pass a function",
              o->read ? "write" : "read");
  KUGEL_CHECK(!o->dtype.bits || kugel__dtype_is(o->dtype, KUGEL_F32) || kugel__dtype_is(o->dtype, KUGEL_F64),
              KUGEL_EINVAL, "dtype has code %d and %d bits, must be float32 or float64", o->dtype.code,
              o->dtype.bits);
  KUGEL_CHECK(o->first >= 0 && o->end >= 0 && o->end <= outputs && (!o->end || o->first < o->end) &&
                  o->first < outputs,
              KUGEL_EINVAL, "rings %lld to %lld are asked for, there are 0 to %lld from either pole",
              (long long)o->first, (long long)o->end, (long long)outputs);
  KUGEL_CHECK(
      p->gpu || p->blocks || p->info.method != KUGEL_RADIAL_HARMONIC, KUGEL_ENOTSUP,
      "a plan by harmonics needs the whole map: set method to KUGEL_RADIAL_DIRECT or KUGEL_RADIAL_RINGS");
  return KUGEL_OK;
}

kugel_status kugel_radial_stream(const kugel_radial *p, const kugel_radial_stream_opts *opts)
{
  KUGEL_CHECK(p && opts, KUGEL_EINVAL, "%s is NULL", p ? "opts" : "plan");
  window w = {.plan = p, .view = *p, .grid = kugel__radial_grid(p), .maps = p->opts.spin ? 2 : 1};
  KUGEL_TRY(kugel__take_opts(&w.o, sizeof w.o, opts, "kugel_radial_stream_opts"));
  KUGEL_TRY(check(p, &w.o));
  KUGEL_CHECK(
      !p->dist || !(w.o.first || w.o.end), KUGEL_ENOTSUP,
      "opts.first and opts.end do not go with a plan over ranks, each of which has its rings: leave them 0");
  if (p->gpu || p->blocks)
    return kugel__radial_stream_gpu(p, &w.o);
  w.word = w.o.dtype.bits == 32 ? 4 : 8;
  w.first = w.o.first;
  w.end = w.o.end ? w.o.end : kugel__radial_outputs(p);
  if (p->dist)
    kugel__radial_dist_rings(p, &w.first, &w.end);
  if (p->spectra) {
    w.spectra = *p->spectra;
    w.view.spectra = &w.spectra;
  }
  KUGEL_TRY(choose_block(&w));
  kugel_status s = make_view(&w);
  for (int64_t at = w.first; at < w.end && !s; at = end_of(&w, at)) {
    kugel__radial_part part = {p, w.first, w.end, !p->spectra};
    kugel__span outer = kugel__progress_enter(kugel__radial_part_done(&part, at - w.first),
                                              kugel__radial_part_done(&part, end_of(&w, at) - w.first));
    s = run_block(&w, at, end_of(&w, at));
    kugel__progress_leave(outer);
  }
  drop_view(&w);
  return s;
}
