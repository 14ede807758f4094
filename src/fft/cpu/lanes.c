/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans of lane-wise DFTs: twiddles with exactly reduced arguments, the convolutions of Rader and Bluestein.
 */
#include "core/alloc.h"
#include "core/ctx.h"
#include "fft/cpu/lanes.h"
#include "fft/cpu/radices.h"
#include "fft/roots/roots.h"

KUGEL_DISPATCH(kugel__lanes_ops, kugel__lanes_ops)

const kugel__lanes_ops *kugel__lanes_ops_now(void)
{
  return kugel__lanes_ops_get();
}

static void make_twiddles(kugel__lanes *p, double *t)
{
  int64_t s = 1;
  for (int i = 0; i < p->stages; i++) {
    kugel__stage *st = &p->stage[i];
    st->twiddle = t;
    for (int64_t r = 1; s > 1 && r < st->radix; r++)
      kugel__fft_roots(KUGEL__NO_TURN, kugel__turn_ratio(-r, s * st->radix), s, t + 2 * (r - 1),
                       st->radix - 1);
    t += s > 1 ? 2 * s * (st->radix - 1) : 0;
    s *= st->radix;
  }
}

// spectrum = DFT of the m values `x`, times scale; x is [m] re, im.
static kugel_status make_spectrum(const kugel__lanes *inner, const double *x, double scale, double *spectrum)
{
  int64_t m = inner->n, vlen = kugel__lanes_ops_now()->vlen;
  double *lanes = kugel__calloc(inner->ctx, (size_t)(m + inner->work) * 16 * (size_t)vlen);
  KUGEL_CHECK(lanes, KUGEL_ENOMEM, "no memory for a DFT of length %lld", (long long)m);
  for (int64_t k = 0; k < m; k++) {
    lanes[k * 2 * vlen] = x[2 * k] * scale;
    lanes[k * 2 * vlen + vlen] = x[2 * k + 1] * scale;
  }
  const double *y = kugel__lanes_ops_now()->exec(inner, lanes, lanes + m * 2 * vlen);
  for (int64_t k = 0; k < m; k++) {
    spectrum[2 * k] = y[k * 2 * vlen];
    spectrum[2 * k + 1] = y[k * 2 * vlen + vlen];
  }
  kugel__free(inner->ctx, lanes);
  return KUGEL_OK;
}

static int64_t power_mod(int64_t base, int64_t exponent, int64_t p)
{
  __int128 x = 1, b = base;
  for (; exponent; exponent >>= 1, b = b * b % p)
    if (exponent & 1)
      x = x * b % p;
  return (int64_t)x;
}

// The least generator of the multiplicative group of the prime p.
static int64_t generator(int64_t p)
{
  for (int64_t g = 2;; g++) {
    bool whole = true;
    int64_t rest = p - 1;
    for (int64_t f = 2; whole && rest > 1; f++) {
      if (f * f > rest)
        f = rest;
      if (rest % f)
        continue;
      whole = power_mod(g, (p - 1) / f, p) != 1;
      while (rest % f == 0)
        rest /= f;
    }
    if (whole)
      return g;
  }
}

// table: powers [R - 1], spectrum [2 (R - 1)], and as much space again for the sequence itself
static kugel_status make_rader(kugel_ctx *ctx, kugel__stage *st, double *table)
{
  int64_t p = st->radix, length = p - 1, g = generator(p), at = 1, *powers = (int64_t *)table;
  double *spectrum = table + length, *x = spectrum + 2 * length;
  KUGEL_TRY(kugel__lanes_create(ctx, length, &st->inner));
  for (int64_t q = 0; q < length; q++) {
    powers[q] = at;
    at = (int64_t)((__int128)at * g % p);
  }
  kugel__turn w = kugel__turn_ratio(-1, p);
  kugel__roots_at(w, powers, 1, x, 1);
  kugel__roots_at(w, powers + 1, length - 1, x + 2 * (length - 1), -1); // x_back = w^(g^(length - back))
  st->powers = powers;
  st->spectrum = spectrum;
  return make_spectrum(st->inner, x, 1 / (double)length, spectrum);
}

static kugel_status make_stages(kugel__lanes *p, const kugel__radices *radices)
{
  int64_t total = 2, s = 1;
  for (int i = 0; i < radices->count; i++) {
    int64_t radix = p->stage[i].radix = radices->radix[i];
    total += s > 1 ? 2 * s * (radix - 1) : 0;
    total += radix > KUGEL__MAX_RADIX ? 5 * (radix - 1) : 0;
    s *= radix;
  }
  p->stages = radices->count;
  p->work = p->n + KUGEL__GAP;
  KUGEL_ALLOC(p->ctx, p->table, (size_t)total * 8);
  double *t = p->table;
  for (int i = 0; i < p->stages; i++) {
    kugel__stage *st = &p->stage[i];
    if (st->radix <= KUGEL__MAX_RADIX)
      continue;
    KUGEL_TRY(make_rader(p->ctx, st, t));
    p->work = kugel__max(p->work, p->n + KUGEL__GAP + st->inner->n + st->inner->work);
    t += 5 * (st->radix - 1);
  }
  make_twiddles(p, t);
  return KUGEL_OK;
}

static kugel_status make_bluestein(kugel__lanes *p, int64_t m)
{
  enum { BLOCK = 64 };
  int64_t n = p->n, square[BLOCK];
  KUGEL_TRY(kugel__lanes_create(p->ctx, m, &p->inner));
  p->work = m + p->inner->work;
  KUGEL_ALLOC(p->ctx, p->table, (size_t)(2 * n + 4 * m) * 8);
  double *chirp = p->table, *spectrum = chirp + 2 * n, *x = spectrum + 2 * m;
  for (int64_t k = 0; k < 2 * m; k++)
    x[k] = 0;
  for (int64_t k = 0; k < n; k++) {
    if (k % BLOCK == 0) {
      for (int64_t i = 0; i < BLOCK; i++)
        square[i] = (int64_t)((__int128)(k + i) * (k + i) % (2 * n));
      kugel__roots_at(kugel__turn_ratio(-1, 2 * n), square, kugel__min(BLOCK, n - k), chirp + 2 * k, 1);
    }
    int64_t wrapped = k ? m - k : 0;
    x[2 * k] = x[2 * wrapped] = chirp[2 * k];
    x[2 * k + 1] = x[2 * wrapped + 1] = -chirp[2 * k + 1];
  }
  p->chirp = chirp;
  p->spectrum = spectrum;
  return make_spectrum(p->inner, x, 1 / (double)m, spectrum);
}

kugel_status kugel__lanes_create(kugel_ctx *ctx, int64_t n, kugel__lanes **out)
{
  *out = NULL;
  kugel__lanes *p = kugel__calloc(ctx, sizeof *p);
  KUGEL_CHECK(p, KUGEL_ENOMEM, "no memory for a DFT plan");
  p->ctx = kugel__ctx_retain(ctx);
  p->n = n;
  kugel__radices radices = kugel__radices_of(n);
  kugel_status s = radices.bluestein ? make_bluestein(p, radices.bluestein) : make_stages(p, &radices);
  if (s) {
    kugel__lanes_destroy(p);
    return s;
  }
  *out = p;
  return KUGEL_OK;
}

void kugel__lanes_destroy(kugel__lanes *p)
{
  if (!p)
    return;
  kugel_ctx *ctx = p->ctx;
  for (int i = 0; i < p->stages; i++)
    kugel__lanes_destroy(p->stage[i].inner);
  kugel__lanes_destroy(p->inner);
  kugel__free(ctx, p->table);
  kugel__free(ctx, p);
  kugel_ctx_destroy(ctx);
}

int64_t kugel__lanes_work_of(int64_t n)
{
  kugel__radices r = kugel__radices_of(n);
  if (r.bluestein)
    return r.bluestein + kugel__lanes_work_of(r.bluestein);
  int64_t work = n + KUGEL__GAP;
  for (int i = 0; i < r.count; i++)
    if (r.radix[i] > KUGEL__MAX_RADIX)
      work = kugel__max(work, n + KUGEL__GAP + r.radix[i] - 1 + kugel__lanes_work_of(r.radix[i] - 1));
  return work;
}

int64_t kugel__lanes_bytes_of(int64_t n)
{
  kugel__radices r = kugel__radices_of(n);
  int64_t bytes = (int64_t)sizeof(kugel__lanes) + 256, s = 1;
  if (r.bluestein)
    return bytes + (2 * n + 4 * r.bluestein) * 8 + kugel__lanes_bytes_of(r.bluestein);
  for (int i = 0; i < r.count; i++) {
    bytes += s > 1 ? 16 * s * (r.radix[i] - 1) : 0;
    bytes +=
        r.radix[i] > KUGEL__MAX_RADIX ? 40 * (r.radix[i] - 1) + kugel__lanes_bytes_of(r.radix[i] - 1) : 0;
    s *= r.radix[i];
  }
  return bytes;
}

int64_t kugel__lanes_work(const kugel__lanes *p)
{
  return p->work;
}
