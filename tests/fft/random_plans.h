/* SPDX-License-Identifier: BSD-3-Clause */
/* Random transforms: kind, precision, lengths, axes, batches, places and strides of both arrays. */
#ifndef KUGEL_TESTS_FFT_RANDOM_PLANS_H
#define KUGEL_TESTS_FFT_RANDOM_PLANS_H

#include "core/array.h"
#include "fft/cpu/pass.h"
#include "fft/truth.h"

enum { RANDOM_DIMS = 3, RANDOM_BATCH = 2, RANDOM_LENGTHS = 2, RANDOM_MOST = 6000, RANDOM_GUARD = 16 };

/* One array: its view, and how much memory it takes with guards on both sides. */
typedef struct random_side {
  bool is_complex;
  int64_t shape[RANDOM_DIMS + RANDOM_BATCH], stride[RANDOM_DIMS + RANDOM_BATCH];
  int64_t offset, span; /* in elements */
} random_side;

typedef struct random_plan {
  kugel_fft_kind kind;
  bool f32, in_place;
  int sign, ndim, naxes, batches; /* the batches come first in shapes */
  int64_t n[RANDOM_DIMS];
  int axes[RANDOM_DIMS];
  double scale;
  int64_t shared; /* of a block, 0: all that there is */
  random_side in, out;
} random_plan;

/* Plans of one group have few lengths, so that few kernels are compiled for many plans. */
typedef struct random_group {
  kugel_fft_kind kind;
  bool f32;
  int64_t n[RANDOM_LENGTHS], shared;
} random_group;

static inline int64_t random_below(uint64_t *state, int64_t n)
{
  return (int64_t)((check_random(state) + 1) / 2 * (double)n);
}

static inline bool random_chance(uint64_t *state, int percent)
{
  return random_below(state, 100) < percent;
}

// Group `number` of a run: kinds and precisions take turns.
static inline random_group random_group_of(uint64_t *state, int number)
{
  static const int64_t odd[] = {17, 19, 23, 29,  31,  37,  41,  43,
                                61, 73, 97, 101, 113, 127,            // primes by Rader
                                47, 59, 83, 94,  106, 107, 118, 122}; // by Bluestein
  random_group g = {.kind = (kugel_fft_kind)(number % 10), .f32 = number / 10 % 2};
  g.shared = random_chance(state, 35) ? 2048 : 0; // long lines are then soon too long for a block
  for (int i = 0; i < RANDOM_LENGTHS; i++) {
    int64_t kind = random_below(state, 100);
    g.n[i] = kind < 70   ? 1 + random_below(state, 16)
             : kind < 85 ? 1 + random_below(state, 64)
             : kind < 95 ? odd[random_below(state, (int64_t)(sizeof odd / sizeof *odd))]
                         : 65 + random_below(state, g.shared ? 900 : 200);
  }
  return g;
}

// Strides of a random order of the axes, with gaps and signs.
static inline void random_layout(uint64_t *state, int ndim, random_side *s, int unit_axis)
{
  int order[RANDOM_DIMS + RANDOM_BATCH];
  int64_t stride = 1;
  s->offset = RANDOM_GUARD + random_below(state, 4);
  bool plain = random_chance(state, 30);
  for (int i = 0; i < ndim; i++)
    order[i] = i;
  for (int i = 0; i < ndim && !plain; i++) {
    int k = i + (int)random_below(state, ndim - i), t = order[i];
    order[i] = order[k];
    order[k] = t;
  }
  for (int i = 0; i < ndim && unit_axis >= 0; i++)
    if (order[i] == unit_axis) {
      order[i] = order[ndim - 1];
      order[ndim - 1] = unit_axis;
    }
  for (int i = ndim - 1; i >= 0; i--) {
    int d = order[i];
    bool first = i == ndim - 1;
    if (!plain && random_chance(state, first ? 25 : 35) && d != unit_axis)
      stride += random_chance(state, 50) ? 1 : 1 + random_below(state, 5);
    s->stride[d] = stride;
    stride *= s->shape[d];
    if (!plain && d != unit_axis && random_chance(state, 15)) {
      s->offset += s->stride[d] * (s->shape[d] - 1);
      s->stride[d] = -s->stride[d];
    }
  }
  s->span = stride + 2 * RANDOM_GUARD + 4;
}

// The complex array over the real one, whose rows are padded.
static inline void random_overlay(int ndim, int unit_axis, const random_side *c, random_side *r)
{
  for (int d = 0; d < ndim; d++)
    r->stride[d] = d == unit_axis ? 1 : 2 * c->stride[d];
  r->offset = 2 * c->offset;
  r->span = 2 * c->span;
}

static inline random_plan random_plan_of(uint64_t *state, const random_group *g)
{
  random_plan p = {.kind = g->kind, .f32 = g->f32, .shared = g->shared};
  p.sign = random_chance(state, 50) ? KUGEL_FORWARD : KUGEL_INVERSE;
  p.ndim = 1 + (int)random_below(state, RANDOM_DIMS);
  p.naxes = 1 + (int)random_below(state, p.ndim);
  p.batches = (int)random_below(state, RANDOM_BATCH + 1);
  p.scale = random_chance(state, 50) ? 1 : 1 + check_random(state) / 2;
  int at[RANDOM_DIMS] = {0, 1, 2};
  for (int i = 0; i < p.naxes; i++) {
    int k = i + (int)random_below(state, p.ndim - i), t = at[i];
    at[i] = at[k];
    at[k] = t;
    p.axes[i] = at[i];
  }
  int64_t total = 1, *shape = p.in.shape;
  for (int d = 0; d < p.ndim + p.batches; d++) {
    bool lead = d < p.batches;
    shape[d] = lead ? 1 + random_below(state, 5) : g->n[random_below(state, RANDOM_LENGTHS)];
    if (!lead && shape[d] == 1 && p.kind == KUGEL_FFT_DCT1)
      shape[d] = 2;
    if (total * shape[d] > RANDOM_MOST && total > 1)
      shape[d] = lead ? 1 : 2;
    total *= shape[d];
    if (!lead)
      p.n[d - p.batches] = shape[d];
  }
  memcpy(p.out.shape, shape, sizeof p.out.shape);
  int ndim = p.ndim + p.batches, last = p.batches + p.axes[p.naxes - 1];
  bool r2c = p.kind == KUGEL_FFT_R2C, back = p.sign == KUGEL_INVERSE;
  random_side *half = back ? &p.in : &p.out, *real = back ? &p.out : &p.in;
  p.in.is_complex = p.out.is_complex = p.kind == KUGEL_FFT_C2C;
  p.in_place = random_chance(state, 35);
  if (r2c) {
    half->is_complex = true;
    half->shape[last] = half->shape[last] / 2 + 1;
    random_layout(state, ndim, half, p.in_place ? last : -1);
    if (p.in_place)
      random_overlay(ndim, last, half, real);
    else
      random_layout(state, ndim, real, -1);
    return p;
  }
  random_layout(state, ndim, &p.in, -1);
  if (p.in_place)
    p.out = p.in;
  else
    random_layout(state, ndim, &p.out, -1);
  return p;
}

static inline void random_print(const random_plan *p)
{
  printf("  %s kind %d, sign %d, scale %g, %s, block %lld; axes", p->f32 ? "f32" : "f64", p->kind, p->sign,
         p->scale, p->in_place ? "in place" : "out of place", (long long)p->shared);
  for (int i = 0; i < p->naxes; i++)
    printf(" %d", p->axes[i]);
  printf(" after %d of batch", p->batches);
  for (int s = 0; s < 2; s++) {
    const random_side *a = s ? &p->out : &p->in;
    printf("\n    %s at %lld:", s ? "out" : "in", (long long)a->offset);
    for (int d = 0; d < p->ndim + p->batches; d++)
      printf(" %lld x %lld", (long long)a->shape[d], (long long)a->stride[d]);
  }
  printf("\n");
}

/* ---- elements ---- */

static inline int64_t random_size(const random_plan *p, const random_side *s) /* bytes of an element */
{
  return (p->f32 ? 4 : 8) * (s->is_complex ? 2 : 1);
}

static inline int64_t random_count(const random_plan *p, const random_side *s)
{
  int64_t n = 1;
  for (int d = 0; d < p->ndim + p->batches; d++)
    n *= s->shape[d];
  return n;
}

/* Element number i in C order: where it lies, in elements. */
static inline int64_t random_at(const random_plan *p, const random_side *s, int64_t i)
{
  int64_t at = s->offset;
  for (int d = p->ndim + p->batches - 1; d >= 0; i /= s->shape[d--])
    at += i % s->shape[d] * s->stride[d];
  return at;
}

#endif
