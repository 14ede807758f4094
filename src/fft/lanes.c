/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans of lane-wise DFTs: factors, twiddles with exactly reduced arguments, Bluestein's chirp and spectrum.
 */
#include "core/alloc.h"
#include "core/ctx.h"
#include "fft/lanes.h"
#include "fft/roots.h"

KUGEL_DISPATCH(kugel__lanes_ops, kugel__lanes_ops)

const kugel__lanes_ops *kugel__lanes_ops_now(void)
{
  return kugel__lanes_ops_get();
}

static bool factorise(kugel__lanes *p)
{
  static const int order[] = {8, 4, 2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61};
  int64_t rest = p->n;
  for (size_t i = 0; i < sizeof order / sizeof *order; i++)
    while (rest % order[i] == 0 && !(order[i] == 8 && rest == 16)) {
      p->radix[p->stages++] = order[i];
      rest /= order[i];
    }
  return rest == 1;
}

static kugel_status make_twiddles(kugel__lanes *p)
{
  int64_t total = 0, s = 1;
  for (int i = 0; i < p->stages; i++) {
    total += s * (p->radix[i] - 1);
    s *= p->radix[i];
  }
  KUGEL_ALLOC(p->ctx, p->table, (size_t)(2 * total + 2) * 8);
  double *t = p->table;
  s = 1;
  for (int i = 0; i < p->stages; i++) {
    p->twiddle[i] = t;
    int64_t radix = p->radix[i];
    for (int64_t r = 1; r < radix; r++)
      kugel__roots(KUGEL__NO_TURN, kugel__turn_ratio(-r, s * radix), s, t + 2 * (r - 1), radix - 1);
    t += 2 * s * (radix - 1);
    s *= p->radix[i];
  }
  return KUGEL_OK;
}

static int64_t smooth_above(int64_t n)
{
  for (;; n++) {
    int64_t r = n;
    for (int f = 2; f <= 5; f++)
      while (r % f == 0)
        r /= f;
    if (r == 1)
      return n;
  }
}

static kugel_status make_bluestein(kugel__lanes *p)
{
  int64_t n = p->n, m = smooth_above(2 * n - 1);
  KUGEL_TRY(kugel__lanes_create(p->ctx, m, &p->inner));
  int vlen = kugel__lanes_ops_now()->vlen;
  KUGEL_ALLOC(p->ctx, p->table, (size_t)(2 * n + 2 * m) * 8);
  double *chirp = p->table, *spectrum = chirp + 2 * n;
  double *x = kugel__calloc(p->ctx, (size_t)(m + kugel__lanes_work(p->inner)) * 16 * (size_t)vlen);
  KUGEL_CHECK(x, KUGEL_ENOMEM, "no memory for a DFT of length %lld", (long long)m);
  for (int64_t k = 0; k < n; k++) {
    kugel__root(kugel__turn_ratio(-(int64_t)((__int128)k * k % (2 * n)), 2 * n), chirp + 2 * k);
    for (int64_t at = k; at < m; at += kugel__max(1, m - 2 * k)) { // k and m - k
      if (at != k && at != m - k)
        break;
      x[at * 2 * vlen] = chirp[2 * k] / (double)m;
      x[at * 2 * vlen + vlen] = -chirp[2 * k + 1] / (double)m;
      if (k == 0)
        break;
    }
  }
  const double *y = kugel__lanes_ops_now()->exec(p->inner, x, x + m * 2 * vlen);
  for (int64_t k = 0; k < m; k++) {
    spectrum[2 * k] = y[k * 2 * vlen];
    spectrum[2 * k + 1] = y[k * 2 * vlen + vlen];
  }
  kugel__free(p->ctx, x);
  p->chirp = chirp;
  p->spectrum = spectrum;
  return KUGEL_OK;
}

kugel_status kugel__lanes_create(kugel_ctx *ctx, int64_t n, kugel__lanes **out)
{
  *out = NULL;
  kugel__lanes *p = kugel__calloc(ctx, sizeof *p);
  KUGEL_CHECK(p, KUGEL_ENOMEM, "no memory for a DFT plan");
  p->ctx = kugel__ctx_retain(ctx);
  p->n = n;
  kugel_status s = factorise(p) ? make_twiddles(p) : make_bluestein(p);
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
  kugel__lanes_destroy(p->inner);
  kugel__free(ctx, p->table);
  kugel__free(ctx, p);
  kugel_ctx_destroy(ctx);
}

int64_t kugel__lanes_work(const kugel__lanes *p)
{
  return p->inner ? p->inner->n + kugel__lanes_work(p->inner) : p->n;
}
