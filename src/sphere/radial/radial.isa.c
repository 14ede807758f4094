/* SPDX-License-Identifier: BSD-3-Clause */
/* Inner loops of the sum over pairs of pixels. */
#include <math.h>
#include <stdbool.h>
#include "core/simd.h"
#include "sphere/radial/radial.h"
#include "sphere/radial/half_sine.h"

enum { LANES = KUGEL__RADIAL_LANES, NV = LANES / VLEN, GROUP = KUGEL__RADIAL_GROUP };

static vf64 v_iota(void)
{
  vf64 v;
  for (int i = 0; i < VLEN; i++)
    v[i] = i;
  return v;
}

static void keys(double a, double b, double h0, double step, int64_t n, double *x)
{
  int from = kugel__radial_terms_from(fmax(fabs(h0), fabs(h0 + (double)n * step)));
  for (int64_t k = 0; k < n; k += VLEN) {
    vf64 s = half_sine(h0 + (v_iota() + (double)k) * step, from);
    v_store(x + k, a + b * s * s);
  }
}

static inline vf64 one_piece(const kugel__radial_poly *p, vf64 t)
{
  vf64 v = v_set(p->coef[p->degree]);
  for (int64_t k = p->degree - 1; k >= 0; k--)
    v = v * t + p->coef[k];
  return v;
}

static inline vf64 piecewise(const kugel__radial_poly *p, vf64 u)
{
  vf64 v = {0}, t;
  int64_t at[VLEN];
  for (int i = 0; i < VLEN; i++) {
    at[i] = (int64_t)u[i];
    at[i] = at[i] < 0 ? 0 : at[i] < p->intervals ? at[i] : p->intervals - 1;
    t[i] = 2 * (u[i] - (double)at[i]) - 1;
  }
  for (int64_t k = p->degree; k >= 0; k--) {
    vf64 c;
    for (int i = 0; i < VLEN; i++)
      c[i] = p->coef[k * p->intervals + at[i]];
    v = v * t + c;
  }
  return v;
}

/* Four vectors at a time where one polynomial serves all: chains of additions would wait for each other. */
static void values(const kugel__radial_poly *p, int64_t n, double *x)
{
  enum { U = 4 };
  vf64 cut = v_set(p->cut), zero = {0};
  int64_t k = 0;
  if (p->intervals == 1 && !p->chord)
    for (; k + U * VLEN <= n; k += U * VLEN) {
      vf64 v[U], t[U], r[U];
      for (int u = 0; u < U; u++) {
        v[u] = v_load(x + k + u * VLEN);
        t[u] = (2 * p->scale) * v_select(v[u] < cut, v[u], cut) - 1;
        r[u] = v_set(p->coef[p->degree]);
      }
      for (int64_t d = p->degree - 1; d >= 0; d--)
        for (int u = 0; u < U; u++)
          r[u] = r[u] * t[u] + p->coef[d];
      for (int u = 0; u < U; u++)
        v_store(x + k + u * VLEN, v_select(v[u] <= cut, r[u], zero));
    }
  for (; k < n; k += VLEN) {
    vf64 v = v_load(x + k), u = v_select(v < cut, v, cut);
    if (p->chord)
      for (int i = 0; i < VLEN; i++)
        u[i] = p->chord == 1 ? __builtin_sqrt(u[i])
                             : 2 + __builtin_sqrt(u[i]) - __builtin_sqrt(u[i] < 4 ? 4 - u[i] : 0);
    u = u * p->scale;
    vf64 r = p->intervals == 1 ? one_piece(p, 2 * u - 1) : piecewise(p, u);
    v_store(x + k, v_select(v <= cut, r, zero));
  }
}

static void weights(const kugel__radial_poly *p, const kugel__radial_span *t, const double *i, double *j0,
                    double *w)
{
  double h0[GROUP];
  for (int g = 0; g < GROUP; g++) {
    double turn = i[g] * t->nq;
    j0[g] = __builtin_ceil(turn / t->nr + t->shift - t->half);
    h0[g] = (j0[g] * t->nr - turn) * t->unit + t->dphi;
  }
  int from = kugel__radial_terms_from((t->half + 3) * t->step);
  for (int64_t k = 0; k < t->width; k++)
    for (int v = 0; v < GROUP; v += VLEN) {
      vf64 s = half_sine(v_load(h0 + v) + (double)k * t->step, from);
      v_store(w + k * GROUP + v, t->a + t->b * s * s);
    }
  values(p, t->width * GROUP, w);
}

/* Two positions at a time, forwards and backwards. */
static inline void pairs_some(const double *w, int64_t n, const double *j0, const double *f,
                              const double *back, double *acc, const bool both)
{
  for (int g = 0; g < GROUP; g += 2) {
    const double *f0 = f + (int64_t)j0[g] * LANES, *f1 = f + (int64_t)j0[g + 1] * LANES;
    const double *b0 = both ? back - (int64_t)j0[g] * LANES : f0,
                 *b1 = both ? back - (int64_t)j0[g + 1] * LANES : f1;
    double *s = acc + g * LANES, *sb = s + GROUP * LANES;
    vf64 a[2 * NV], b[2 * NV] = {{0}};
    for (int i = 0; i < NV; i++) {
      a[i] = v_load(s + i * VLEN);
      a[NV + i] = v_load(s + LANES + i * VLEN);
      if (both) {
        b[i] = v_load(sb + i * VLEN);
        b[NV + i] = v_load(sb + LANES + i * VLEN);
      }
    }
    for (int64_t k = 0; k < n; k++) {
      vf64 c = v_set(w[k * GROUP + g]), d = v_set(w[k * GROUP + g + 1]);
      for (int i = 0; i < NV; i++) {
        a[i] = a[i] + c * v_load(f0 + k * LANES + i * VLEN);
        a[NV + i] = a[NV + i] + d * v_load(f1 + k * LANES + i * VLEN);
        if (both) {
          b[i] = b[i] + c * v_load(b0 - k * LANES + i * VLEN);
          b[NV + i] = b[NV + i] + d * v_load(b1 - k * LANES + i * VLEN);
        }
      }
    }
    for (int i = 0; i < NV; i++) {
      v_store(s + i * VLEN, a[i]);
      v_store(s + LANES + i * VLEN, a[NV + i]);
      if (both) {
        v_store(sb + i * VLEN, b[i]);
        v_store(sb + LANES + i * VLEN, b[NV + i]);
      }
    }
  }
}

static void pairs(const double *w, int64_t n, const double *j0, const double *f, const double *back,
                  double *acc)
{
  if (back)
    pairs_some(w, n, j0, f, back, acc, true);
  else
    pairs_some(w, n, j0, f, back, acc, false);
}

static void stencil(const double *w, int64_t width, const double *f, int64_t n, double *out)
{
  enum { U = 8 };
  int64_t i = 0;
  n *= LANES;
  for (; i + U * VLEN <= n; i += U * VLEN) {
    vf64 a[U];
    for (int u = 0; u < U; u++)
      a[u] = v_load(out + i + u * VLEN);
    for (int64_t k = 0; k < width; k++) {
      vf64 c = v_set(w[k]);
      for (int u = 0; u < U; u++)
        a[u] = a[u] + c * v_load(f + i + k * LANES + u * VLEN);
    }
    for (int u = 0; u < U; u++)
      v_store(out + i + u * VLEN, a[u]);
  }
  for (; i < n; i += VLEN) {
    vf64 a = v_load(out + i);
    for (int64_t k = 0; k < width; k++)
      a = a + w[k] * v_load(f + i + k * LANES);
    v_store(out + i, a);
  }
}

extern const kugel__radial_ops ISA_NAME(kugel__radial_ops);
const kugel__radial_ops ISA_NAME(kugel__radial_ops) = {keys, values, weights, pairs, stencil};
