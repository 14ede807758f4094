/* SPDX-License-Identifier: BSD-3-Clause */
/* Inner loops in double-double; compiled without contraction. */
#include "fft/cpu/ddlanes.h"
#include "nufft/dd.h"

static void weights(const struct kugel__nufft_dd *d, kugel__dd t, double (*w)[KUGEL__NUFFT_DD_WIDTH])
{
  const vdd x = MAKE_DD(t.hi, t.lo);
  for (int j = 0; j < d->width; j += VLEN) {
    vdd sum = {v_load(&d->piece[d->degree][0][j]), v_load(&d->piece[d->degree][1][j])};
    for (int k = d->degree - 1; k >= 0; k--)
      sum = DD_FMA(sum, x, (vdd){v_load(&d->piece[k][0][j]), v_load(&d->piece[k][1][j])});
    v_store(&w[0][j], sum.hi);
    v_store(&w[1][j], sum.lo);
  }
}

/* Vectors of one complex number, which end where rows do. */
typedef double pair __attribute__((vector_size(16)));

static inline pair load(const double *p)
{
  pair v;
  memcpy(&v, p, sizeof v);
  return v;
}

static inline pair pair_fma(pair a, pair b, pair c)
{
#if defined(KUGEL_ISA_AVX512) || defined(KUGEL_ISA_AVX2)
  return (pair)_mm_fmadd_pd((__m128d)a, (__m128d)b, (__m128d)c);
#else
  for (int i = 0; i < 2; i++)
    c[i] = __builtin_fma(a[i], b[i], c[i]);
  return c;
#endif
}

/* DD_FMA of fft/cpu/ddlanes.h. */
static void add(int64_t n, kugel__dd q, const double *from, double *to)
{
  const pair high = {q.hi, q.hi}, low = {q.lo, q.lo};
  for (int64_t i = 0; i < n; i++) {
    pair hi = load(from + 4 * i), lo = load(from + 4 * i + 2), c = load(to + 4 * i),
         c_lo = load(to + 4 * i + 2);
    pair p = high * hi, s = c + p, t = s - c;
    pair rest = (c - (s - t)) + (p - t);
    pair small = pair_fma(high, lo, pair_fma(low, hi, pair_fma(high, hi, -p))) + (rest + c_lo);
    pair sum = s + small;
    small -= sum - s;
    memcpy(to + 4 * i, &sum, sizeof sum);
    memcpy(to + 4 * i + 2, &small, sizeof small);
  }
}

extern const kugel__nufft_dd_ops ISA_NAME(kugel__nufft_dd_ops);
const kugel__nufft_dd_ops ISA_NAME(kugel__nufft_dd_ops) = {weights, add};
