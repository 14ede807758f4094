/* SPDX-License-Identifier: BSD-3-Clause */
/* Inner loops of the sum over pairs of pixels. */
#include <math.h>
#include "core/simd.h"
#include "sphere/radial.h"

enum { LANES = KUGEL__RADIAL_LANES, NV = LANES / VLEN };

static vf64 v_iota(void)
{
  vf64 v;
  for (int i = 0; i < VLEN; i++)
    v[i] = i;
  return v;
}

/* Taylor series of sin(h / 2), |h| <= pi: the first term left out is 2e-19. */
static void keys(double a, double b, double h0, double step, int64_t n, double *x)
{
  static const double c[] = {1 / 51090942171709440000.0,
                             1 / 121645100408832000.0,
                             1 / 355687428096000.0,
                             1 / 1307674368000.0,
                             1 / 6227020800.0,
                             1 / 39916800.0,
                             1 / 362880.0,
                             1 / 5040.0,
                             1 / 120.0,
                             1 / 6.0};
  double far = fmax(fabs(h0), fabs(h0 + (double)n * step));
  int from = far < 0.03 ? 6 : far < 0.4 ? 4 : 0;
  for (int64_t k = 0; k < n; k += VLEN) {
    vf64 h = (v_iota() + (double)k) * (0.5 * step) + 0.5 * h0, q = h * h, s = v_set(c[from]);
    for (int i = from + 1; i < 10; i++)
      s = c[i] - s * q;
    s = h - h * q * s;
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

static void values(const kugel__radial_poly *p, int64_t n, double *x)
{
  vf64 cut = v_set(p->cut), zero = {0};
  for (int64_t k = 0; k < n; k += VLEN) {
    vf64 v = v_load(x + k), u = v_select(v < cut, v, cut);
    if (p->chord)
      for (int i = 0; i < VLEN; i++)
        u[i] = __builtin_sqrt(u[i]);
    u = u * p->scale;
    vf64 r = p->intervals == 1 ? one_piece(p, 2 * u - 1) : piecewise(p, u);
    v_store(x + k, v_select(v <= cut, r, zero));
  }
}

static void lanes(const double *w, const double *f, int64_t n, double *acc)
{
  vf64 a[NV], b[NV];
  for (int i = 0; i < NV; i++) {
    a[i] = v_load(acc + i * VLEN);
    b[i] = (vf64){0};
  }
  int64_t k = 0;
  for (; k + 2 <= n; k += 2)
    for (int i = 0; i < NV; i++) {
      a[i] = a[i] + w[k] * v_load(f + k * LANES + i * VLEN);
      b[i] = b[i] + w[k + 1] * v_load(f + (k + 1) * LANES + i * VLEN);
    }
  for (; k < n; k++)
    for (int i = 0; i < NV; i++)
      a[i] = a[i] + w[k] * v_load(f + k * LANES + i * VLEN);
  for (int i = 0; i < NV; i++)
    v_store(acc + i * VLEN, a[i] + b[i]);
}

static void stencil(const double *w, int64_t width, const double *f, int64_t n, double *out)
{
  enum { U = 8 };
  int64_t i = 0;
  for (; i + U * VLEN <= n; i += U * VLEN) {
    vf64 a[U];
    for (int u = 0; u < U; u++)
      a[u] = v_load(out + i + u * VLEN);
    for (int64_t k = 0; k < width; k++) {
      vf64 c = v_set(w[k]);
      for (int u = 0; u < U; u++)
        a[u] = a[u] + c * v_load(f + i + k + u * VLEN);
    }
    for (int u = 0; u < U; u++)
      v_store(out + i + u * VLEN, a[u]);
  }
  for (; i < n; i++) {
    double a = out[i];
    for (int64_t k = 0; k < width; k++)
      a = __builtin_fma(w[k], f[i + k], a);
    out[i] = a;
  }
}

extern const kugel__radial_ops ISA_NAME(kugel__radial_ops);
const kugel__radial_ops ISA_NAME(kugel__radial_ops) = {keys, values, lanes, stencil};
