/* SPDX-License-Identifier: BSD-3-Clause */
/* A cyclic convolution of 2 m points, of which the upper m are zero on the way in and not wanted on the way out, as
 * two transforms there and back of m points: even points of the spectrum are the transform of x_j, odd ones
 * that of x_j e^{-i pi j / m}; results are a_j + e^{i pi j / m} b_j. Between the two, a_j are parked in shared
 * memory, each thread's own. */
#include "fft/block_build.h"

// Points of a butterfly of the first stage, which is the last one back, that belong to the line.
static int taken(const kugel__block *b, int r)
{
  int64_t step = b->m / r;
  return (int)kugel__min(r, (b->n + step - 1) / step);
}

int64_t kugel__block_parked(const kugel__block *b)
{
  return b->split ? (int64_t)kugel__block_rounds(b, 0) * taken(b, b->radix[0]) * b->threads * b->group : 0;
}

// e^{-i pi j / m} of the points j of a butterfly.
static void turns(kugel__build *k, kugel__val butterfly, int r, kugel__cval *w)
{
  kugel__gen *g = k->g;
  w[0] = kugel__gen_load_pair(g, k->tables, g_add(g, butterfly, kugel__int(k->at.turns)));
  for (int q = 1; q < taken(k->b, r); q++) {
    kugel__unit u = kugel__unit_of(-q, 2 * r);
    w[q] = kugel__gen_cmul(g, w[0], (kugel__cval){kugel__real(u.cos), kugel__real(u.sin)});
  }
}

void kugel__turn_points(kugel__build *k, const kugel__seat *s)
{
  int r = k->b->radix[0];
  kugel__cval w[KUGEL__DFT_MAX];
  kugel__gen_note(k->g, "turned, for the odd points of the spectrum");
  for (int round = 0; round < kugel__block_rounds(k->b, 0); round++) {
    turns(k, kugel__butterfly_of(k, s, 0, round), r, w);
    for (int q = 0; q < taken(k->b, r); q++)
      k->x[round * r + q] = kugel__gen_cmul(k->g, k->x[round * r + q], w[q]);
  }
}

// Where result `i` of a thread's is parked.
static kugel__val parked_at(kugel__build *k, int i)
{
  const kugel__block *b = k->b;
  int64_t base = (kugel__block_exchange(b) + 1) / 2;
  return g_add(k->g, k->lid, kugel__int(base + (int64_t)i * b->threads * b->group));
}

void kugel__park(kugel__build *k)
{
  int stage = k->b->stages - 1, r = k->b->radix[stage], n = taken(k->b, r);
  kugel__gen_note(k->g, "parked");
  for (int round = 0; round < kugel__block_rounds(k->b, stage); round++)
    for (int q = 0; q < n; q++)
      kugel__gen_put_shared_pair(k->g, k->shared, parked_at(k, round * n + q), k->x[round * r + q]);
}

void kugel__join(kugel__build *k, const kugel__seat *s)
{
  kugel__gen *g = k->g;
  int stage = k->b->stages - 1, r = k->b->radix[stage], n = taken(k->b, r);
  kugel__cval w[KUGEL__DFT_MAX];
  kugel__gen_note(g, "joined with what was parked");
  for (int round = 0; round < kugel__block_rounds(k->b, stage); round++) {
    turns(k, kugel__butterfly_of(k, s, stage, round), r, w);
    for (int q = 0; q < n; q++) { // results are exchanged: what is conjugate turns back
      kugel__cval *x = &k->x[round * r + q];
      *x = g_cadd(g, kugel__gen_cmul(g, *x, w[q]),
                  kugel__gen_shared_pair(g, k->shared, parked_at(k, round * n + q)));
    }
  }
}
