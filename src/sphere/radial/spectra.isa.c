/* SPDX-License-Identifier: BSD-3-Clause */
/* Inner loops of radial convolution by spectra. */
#include "core/simd.h"
#include "sphere/radial/half_sine.h"
#include "sphere/radial/spectra.h"

enum { LANES = KUGEL__SPECTRA_LANES, NV = LANES / VLEN, MODES = KUGEL__SPECTRA_MODES };

extern const kugel__radial_ops ISA_NAME(kugel__radial_ops);

static void weights(const kugel__radial_poly *poly, const kugel__spectra_span *t, int64_t n, double *w)
{
  for (int64_t s = 0; s < n; s++)
    for (int v = 0; v < LANES; v += VLEN) {
      vf64 h = ((double)s + v_load(t->shift + v)) * v_load(t->step + v), pi = v_set(3.141592653589793);
      vf64 z = half_sine(v_select(h < pi, h, pi), 0);
      v_store(w + s * LANES + v, v_load(t->a + v) + v_load(t->b + v) * z * z);
    }
  ISA_NAME(kugel__radial_ops).values(poly, n * LANES, w);
}

/* cos and sin of m (s + shift) 2 pi / samples, for whole 2 shift. The product is reduced in integers. */
static inline void angle_of(vf64 m, vf64 s, vf64 samples, vf64 *c, vf64 *d)
{
  vf64 turns = m * s / samples, pi = v_set(3.141592653589793);
  for (int i = 0; i < VLEN; i++)
    turns[i] = __builtin_rint(turns[i]);
  vf64 h = 2 * pi * ((m * s - turns * samples) / samples);
  vf64 a = half_sine(h, 0), b = half_sine(pi - v_abs(h), 0);
  *c = (b - a) * (b + a);
  *d = 2 * a * b;
}

static void cosines(const kugel__spectra_wave *t, int64_t m0, int64_t n, int64_t size, double *c)
{
  for (int64_t s = 0; s < n; s++)
    for (int v = 0; v < LANES; v += VLEN) {
      vf64 at = (double)s + v_load(t->shift + v), samples = v_load(t->samples + v), x, y, dx, dy;
      angle_of(v_set((double)m0), at, samples, &x, &y);
      angle_of(v_set(1), at, samples, &dx, &dy);
      vf64 one = v_set(1), zero = {0}, last = v_load(t->modes + v), half = v_load(t->half + v);
      vf64 whole = v_select(2 * at == zero, one, v_select(2 * at == samples, one, one + one));
      whole = v_select(2 * at > samples, zero, whole) / samples;
      for (int64_t m = 0; m < MODES; m++) {
        vf64 now = v_set((double)(m0 + m)), f = v_select(now == half, 0.5 * whole, whole);
        v_store(c + (m * size + s) * LANES + v, v_select(now > last, zero, f * x));
        vf64 turned = x * dx - y * dy;
        y = x * dy + y * dx;
        x = turned;
      }
    }
}

/* Eight m at a time, which share the weights. */
static void rows(const double *w, int64_t n, const double *c, int64_t size, int64_t d, int64_t nd, double *k)
{
  enum { U = 8 };
  for (int64_t m = 0; m < MODES; m += U)
    for (int v = 0; v < LANES; v += VLEN) {
      const double *from = c + m * size * LANES + v;
      vf64 sum[U] = {{0}};
      for (int64_t s = 0; s < n; s++) {
        vf64 x = v_load(w + s * LANES + v);
        for (int u = 0; u < U; u++)
          sum[u] = sum[u] + x * v_load(from + (u * size + s) * LANES);
      }
      for (int u = 0; u < U; u++)
        v_store(k + ((m + u) * nd + d) * LANES + v, sum[u]);
    }
}

/* Four at a time, since a step waits for the one before. */
enum { SIDE_BY_SIDE = 4 };

static inline kugel__bessel *bessel_at(const double *from, int64_t stride, int64_t i)
{
  return (kugel__bessel *)(from + i * stride);
}

static inline __attribute__((always_inline)) void starts_of(int n, int64_t stride, int64_t blocks, double *of,
                                                            int v)
{
  vf64 by[SIDE_BY_SIDE], top[SIDE_BY_SIDE], p[SIDE_BY_SIDE], next[SIDE_BY_SIDE], sum[SIDE_BY_SIDE];
  vf64 zero = {0}, seed = v_set(0x1p-900); /* the value at top while the sum is not known */
  double last = -1, least = 1e300;
  for (int u = 0; u < n; u++) {
    kugel__bessel *t = bessel_at(of, stride, u);
    by[u] = v_load(t->by + v);
    top[u] = v_load(t->top + v);
    p[u] = next[u] = sum[u] = zero;
    for (int i = 0; i < VLEN; i++) {
      last = t->top[v + i] > last ? t->top[v + i] : last;
      least = t->top[v + i] < least ? t->top[v + i] : least;
    }
    for (int64_t b = 0; b < blocks; b++)
      for (int k = 0; k < 2; k++)
        v_store(t->start[b][k] + v, zero);
  }
  for (int64_t m = (int64_t)last; m >= 0; m--) {
    vf64 at = v_set((double)m), above = v_set((double)(m + 1));
    for (int u = 0; u < n; u++) {
      vf64 now = next[u] + above * by[u] * p[u];
      next[u] = p[u];
      p[u] = (double)m >= least ? v_select(at == top[u], seed, now) : now;
      sum[u] = sum[u] + p[u];
    }
    if (m % MODES == MODES - 1 && m / MODES < blocks)
      for (int u = 0; u < n; u++) {
        v_store(bessel_at(of, stride, u)->start[m / MODES][0] + v, p[u]);
        v_store(bessel_at(of, stride, u)->start[m / MODES][1] + v, next[u]);
      }
  }
  for (int u = 0; u < n; u++) {
    kugel__bessel *t = bessel_at(of, stride, u);
    vf64 whole = 2 * sum[u] - p[u], factor = v_load(t->seed + v);
    factor = v_select(whole > zero, factor / whole, zero);
    v_store(t->seed + v, factor * seed);
    for (int64_t b = 0; b < blocks; b++)
      for (int k = 0; k < 2; k++)
        v_store(t->start[b][k] + v, factor * v_load(t->start[b][k] + v));
  }
}

static void starts(int64_t n, int64_t stride, int64_t blocks, double *of)
{
  for (int v = 0; v < LANES; v += VLEN) {
    int64_t i = 0;
    for (; i + SIDE_BY_SIDE <= n; i += SIDE_BY_SIDE)
      starts_of(SIDE_BY_SIDE, stride, blocks, of + i * stride, v);
    for (; i < n; i++)
      starts_of(1, stride, blocks, of + i * stride, v);
  }
}

static inline __attribute__((always_inline)) void bessel_of(int n, const double *of, int64_t stride,
                                                            int64_t m0, int64_t nd, bool add, double *k)
{
  for (int v = 0; v < LANES; v += VLEN) {
    vf64 by[SIDE_BY_SIDE], top[SIDE_BY_SIDE], seed[SIDE_BY_SIDE], p[SIDE_BY_SIDE], next[SIDE_BY_SIDE];
    bool within = false;
    for (int u = 0; u < n; u++) {
      const kugel__bessel *t = bessel_at(of, stride, u);
      by[u] = v_load(t->by + v);
      top[u] = v_load(t->top + v);
      seed[u] = v_load(t->seed + v);
      p[u] = v_load(t->start[m0 / MODES][0] + v);
      next[u] = v_load(t->start[m0 / MODES][1] + v);
      for (int i = 0; i < VLEN; i++)
        within |= t->top[v + i] >= (double)m0 && t->top[v + i] < (double)(m0 + MODES);
    }
    for (int64_t m = MODES - 1; m >= 0; m--) {
      vf64 at = v_set((double)(m0 + m));
      double *to = k + m * nd * LANES + v;
      for (int u = 0; u < n; u++) {
        if (within)
          p[u] = v_select(at == top[u], seed[u], p[u]);
        v_store(to + u * LANES, add ? v_load(to + u * LANES) + p[u] : p[u]);
        vf64 before = next[u] + at * by[u] * p[u];
        next[u] = p[u];
        p[u] = before;
      }
    }
  }
}

static void bessel(int64_t n, const double *of, int64_t stride, int64_t m0, bool add, double *k)
{
  int64_t i = 0;
  for (; i + SIDE_BY_SIDE <= n; i += SIDE_BY_SIDE)
    bessel_of(SIDE_BY_SIDE, of + i * stride, stride, m0, n, add, k + i * LANES);
  for (; i < n; i++)
    bessel_of(1, of + i * stride, stride, m0, n, add, k + i * LANES);
}

static void apply(const double *k, int64_t nd, int64_t nm, const double *in, int64_t in_row, double *out,
                  int64_t out_row)
{
  for (int64_t m = 0; m < nm; m++) {
    const double *f = in + m * 4 * in_row, *row = k + m * nd * LANES;
    vf64 sum[4 * NV] = {{0}};
    for (int64_t d = 0; d < nd; d++)
      for (int v = 0; v < NV; v++) {
        vf64 x = v_load(row + d * LANES + v * VLEN);
        for (int i = 0; i < 4; i++)
          sum[i * NV + v] = sum[i * NV + v] + x * v_load(f + i * in_row + d + v * VLEN);
      }
    for (int i = 0; i < 4; i++)
      for (int v = 0; v < NV; v++)
        v_store(out + (m * 4 + i) * out_row + v * VLEN, sum[i * NV + v]);
  }
}

extern const kugel__spectra_ops ISA_NAME(kugel__spectra_ops);
const kugel__spectra_ops ISA_NAME(kugel__spectra_ops) = {weights, cosines, rows, starts, bessel, apply};
