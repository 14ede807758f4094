/* SPDX-License-Identifier: BSD-3-Clause */
/* What follows from the description of a block: its kernel's stages back, butterflies, parts and ends. */
#include <string.h>
#include "fft/gpu/block_build.h"

kugel__block kugel__block_back(const kugel__block *b)
{
  kugel__block back = *b;
  for (int i = 0; i < b->stages && b->spectrum; i++)
    back.radix[i] = b->radix[b->stages - 1 - i];
  return back;
}

int64_t kugel__block_before(const kugel__block *b, int stage)
{
  int64_t s = 1;
  for (int i = 0; i < stage; i++)
    s *= b->radix[i];
  return s;
}

int kugel__block_rounds(const kugel__block *b, int stage)
{
  int64_t butterflies = b->m / b->radix[stage];
  return (int)((butterflies + b->threads - 1) / b->threads);
}

bool kugel__block_shares_roots(const kugel__block *b)
{
  return b->big && b->stages > 1 && !b->spectrum && !kugel__block_ordered(b) && b->real != KUGEL__DD &&
         !kugel__line_pairs(&b->line, b->sink);
}

bool kugel__block_tiled(const kugel__block *b)
{
  return b->stages == 1 && b->m == b->n && b->flat && b->n > 2 && b->source == KUGEL__END_COMPLEX &&
         b->sink == KUGEL__END_COMPLEX;
}

/* ---- lines with a large prime factor ---- */

kugel__block kugel__prime_columns(const kugel__block *b)
{
  int64_t q = b->n / b->of.prime;
  kugel__block c = {.real = b->real,
                    .how = KUGEL__BLOCK_RADER,
                    .n = b->of.prime,
                    .m = b->of.prime - 1,
                    .threads = (int)(b->threads / q),
                    .group = (int)q,
                    .spectrum = 1,
                    .in.across = true,
                    .out.across = true};
  c.line = kugel__line_of(KUGEL_FFT_C2C, false, c.n);
  for (const int *r = b->radix + b->stages; *r; r++)
    c.radix[c.stages++] = *r;
  return c;
}

kugel__block kugel__prime_rows(const kugel__block *b)
{
  kugel__block r = *b;
  r.n = r.m = b->n / b->of.prime;
  r.threads = (int)(b->threads / b->of.prime);
  r.group = (int)b->of.prime;
  r.how = KUGEL__BLOCK_PLAIN;
  r.of.none = 0;
  r.flat = false;
  r.in.across = r.out.across = true;
  memset(r.radix + r.stages, 0, sizeof r.radix - (size_t)r.stages * sizeof *r.radix);
  r.line = kugel__line_of(KUGEL_FFT_C2C, false, r.n);
  return r;
}

/* ---- lines of cosine and sine kinds ---- */

// Whether blocks hold whole lines.
static bool whole(const kugel__block *b)
{
  return b->flat && b->line.points == b->n &&
         (b->how == KUGEL__BLOCK_PLAIN || b->how == KUGEL__BLOCK_BLUESTEIN) && b->real != KUGEL__DD;
}

bool kugel__block_staged_in(const kugel__block *b)
{
  bool two = b->source == KUGEL__END_DCT2 || b->source == KUGEL__END_DST2,  // with gaps, in both directions
      three = b->source == KUGEL__END_DCT3 || b->source == KUGEL__END_DST3; // twice
  return whole(b) && (two || three) && b->in.step == 1 && !b->in.keep.count && !b->in.half;
}

bool kugel__block_staged_out(const kugel__block *b)
{
  bool scattered = b->sink > KUGEL__END_HALF && !kugel__line_pairs(&b->line, b->sink);
  return whole(b) && scattered && b->out.step == 1 && !b->out.keep.count && !b->out.half;
}
