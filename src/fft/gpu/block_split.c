/* SPDX-License-Identifier: BSD-3-Clause */
/* A cyclic convolution of 2 m points, of which the upper m are zero on the way in and not wanted on the way out, as
 * two transforms there and back of m points: even points of the spectrum are the transform of x_j, odd ones
 * that of x_j e^{-i pi j / m}; results are a_j + e^{i pi j / m} b_j. Between the two, a_j are parked in shared
 * memory, each thread's own. */
#include "fft/gpu/block_build.h"

// e^{-i pi j / m} of the points j of a butterfly.
static void turns(kugel__build *k, kugel__val butterfly, int r, kugel__cval *w)
{
  kugel__gen *g = k->g;
  w[0] = kugel__gen_load_pair(g, k->tables, g_add(g, butterfly, kugel__int(k->at.turns)));
  for (int q = 1; q < kugel__block_taken(k->b, r); q++) {
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
    for (int q = 0; q < kugel__block_taken(k->b, r); q++)
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

void kugel__build_park(kugel__build *k)
{
  int stage = k->b->stages - 1, r = k->b->radix[stage], n = kugel__block_taken(k->b, r);
  kugel__gen_note(k->g, "parked");
  for (int round = 0; round < kugel__block_rounds(k->b, stage); round++)
    for (int q = 0; q < n; q++)
      kugel__gen_put_shared_pair(k->g, k->shared, parked_at(k, round * n + q), k->x[round * r + q]);
}

void kugel__build_join(kugel__build *k, const kugel__seat *s)
{
  kugel__gen *g = k->g;
  int stage = k->b->stages - 1, r = k->b->radix[stage], n = kugel__block_taken(k->b, r);
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
