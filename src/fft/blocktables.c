/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/alloc.h"
#include "fft/blocktables.h"
#include "fft/lanes.h"
#include "fft/roots.h"

// chirp[k] = e^{-i pi k^2 / n}, 0 beyond n; spectrum = DFT of its wrapped conjugate, over m.
static kugel_status fill_bluestein(const kugel__block *b, kugel_ctx *ctx, double *chirp, double *spectrum)
{
  kugel__lanes *lanes;
  KUGEL_TRY(kugel__lanes_create(ctx, b->m, &lanes));
  const kugel__lanes_ops *ops = kugel__lanes_ops_now();
  double *x = kugel__calloc(ctx, (size_t)(b->m + kugel__lanes_work(lanes)) * 16 * (size_t)ops->vlen);
  if (!x) {
    kugel__lanes_destroy(lanes);
    return KUGEL_FAIL(KUGEL_ENOMEM, "no memory for a DFT of length %lld", (long long)b->m);
  }
  for (int64_t k = 0; k < b->m; k++) {
    double *c = chirp + 2 * k;
    c[0] = c[1] = 0;
    if (k >= b->n)
      continue;
    kugel__root(kugel__turn_ratio(-(int64_t)((__int128)k * k % (2 * b->n)), 2 * b->n), c);
    for (int side = 0; side < 2; side++) {
      double *to = x + (side && k ? b->m - k : k) * 2 * ops->vlen;
      to[0] = c[0] / (double)b->m;
      to[ops->vlen] = -c[1] / (double)b->m;
    }
  }
  const double *y = ops->exec(lanes, x, x + b->m * 2 * ops->vlen);
  for (int64_t k = 0; k < b->m; k++) {
    spectrum[2 * k] = y[k * 2 * ops->vlen];
    spectrum[2 * k + 1] = y[k * 2 * ops->vlen + ops->vlen];
  }
  kugel__free(ctx, x);
  kugel__lanes_destroy(lanes);
  return KUGEL_OK;
}

kugel_status kugel__block_fill_tables(const kugel__block *b, kugel_ctx *ctx, double *t)
{
  int64_t s = b->radix[0];
  for (int stage = 1; stage < b->stages; stage++) {
    double *to = t + 2 * kugel__block_twiddles(b, stage);
    for (int64_t r = 1; r < b->radix[stage]; r++, to += 2 * s)
      kugel__roots(KUGEL__NO_TURN, kugel__turn_ratio(-r, s * b->radix[stage]), s, to, 1);
    s *= b->radix[stage];
  }
  double *chirp = t + 2 * kugel__block_twiddles(b, b->stages);
  if (b->m == b->n) {
    chirp[0] = chirp[1] = 0; // never read; the table is never empty
    return KUGEL_OK;
  }
  double *end = t + 2 * (kugel__block_tables(b) - 1);
  end[0] = end[1] = 0;
  return fill_bluestein(b, ctx, chirp, chirp + 2 * b->m);
}

void kugel__block_fill_roots(const kugel__block *b, int64_t big, double *roots)
{
  kugel__roots(KUGEL__NO_TURN, kugel__turn_ratio(-1, big), b->fine, roots, 1);
  kugel__roots(KUGEL__NO_TURN, kugel__turn_ratio(-b->fine, big), big / b->fine + 1, roots + 2 * b->fine, 1);
}
