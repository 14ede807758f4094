/* SPDX-License-Identifier: BSD-3-Clause */
#include "fft/conv/sums.h"

void kugel__add_product(kugel__build *k, kugel__cval *sum, const kugel__seat *s, kugel__val spectra,
                        kugel__val from, bool first)
{
  kugel__gen *g = k->g;
  int stage = k->b->stages - 1, r = k->b->radix[stage];
  int64_t before = k->b->m / r;
  kugel__gen_note(g, "times the spectrum");
  for (int round = 0; round < kugel__block_rounds(k->b, stage); round++)
    for (int q = 0; q < r; q++) {
      kugel__val i = g_add(g, kugel__butterfly_of(k, s, stage, round), kugel__int(q * before));
      kugel__cval h = kugel__gen_load_pair(g, spectra, g_add(g, from, i));
      kugel__cval y = kugel__gen_cmul(g, k->x[round * r + q], h), *to = &sum[round * r + q];
      *to = first ? y : g_cadd(g, *to, y);
    }
}

void kugel__turn_back(kugel__build *k, const kugel__cval *sum, const kugel__seat *s)
{
  int stage = k->b->stages - 1;
  for (int i = 0; i < kugel__block_rounds(k->b, stage) * k->b->radix[stage]; i++)
    k->x[i] = (kugel__cval){sum[i].im, sum[i].re};
  if (stage) // else a thread has the whole line
    kugel__build_exchange(k, stage, s, 0, s, true);
}
