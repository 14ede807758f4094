/* SPDX-License-Identifier: BSD-3-Clause */
/* Wigner-d kernels near the poles: R_n and its differences, see legwigner.c; sums as in legwigner.isa.c. */
#include <math.h>
#include "sphere/legendre/vec.h"

enum { NV = 2 };

/* rec[f]: gamma, alpha and g of R_n; see legwigner.c. g_{n+1} / g_n = sqrt(num / den), whose long product is
 * carried in two doubles: num and den are integers below 2^53 for degrees to 10^5. */
static void recurrence(const kugel__wigner_coefs *c, int f)
{
  double first = 2 * (double)c->l0, a = (double)c->power_h[f], b = (double)c->power_c[f];
  double *restrict rec = c->rec[f], *restrict hi = c->terms, *restrict lo = c->terms + c->n;
  for (int64_t i = 0; i < c->n; i++) {
    double n = (double)i, t = n + first, below = (t + 1) * (n + 1 + a);
    rec[3 * i] = i ? n * (n + b) * (t + n + 2) / (below * (t + n)) : 0;
    rec[3 * i + 1] = (t + n + 1) * (t + n + 2) / (2 * below);
    double num = (t + n + 3) * below, den = (t + n + 1) * ((n + 1 + b) * (n + 1));
    double ratio = num / den, root = sqrt(ratio), rest = __builtin_fma(-ratio, den, num) / den;
    hi[i] = root;
    lo[i] = (__builtin_fma(-root, root, ratio) + rest) / (2 * root);
  }
  double g = c->start[f], low = c->start_exp[f];
  for (int64_t i = 0; i < c->n; i++) {
    rec[3 * i + 2] = g;
    double p = g * hi[i];
    low = __builtin_fma(g, hi[i], -p) + (g * lo[i] + low * hi[i]);
    g = p + low;
    low -= g - p;
  }
  memset(rec + 3 * c->n, 0, 4 * 3 * 8);
}

typedef struct state {
  vf64 y[NV], now[2][NV], delta[2][NV]; // R_n and R_n - R_{n-1}, times the powers of sin and cos of theta/2
} state;

INLINE void begin(const kugel__wigner_job *j, const kugel__wigner_coefs *c, int nf, int64_t p, state *b)
{
  const kugel__leg *g = j->leg;
  for (int i = 0; i < NV; i++) {
    int64_t at = p + i * VLEN;
    b->y[i] = v_load(g->vers + at);
    for (int f = 0; f < nf; f++) {
      vf64 n = v_set(0), rest = v_set(0), scale;
      add_power(g->log_h + at, g->log_h_lo + at, (double)c->power_h[f], &n, &rest);
      add_power(g->log_c + at, g->log_c_lo + at, (double)c->power_c[f], &n, &rest);
      // polar_scale is a double: its logarithm's rounding, times the power, stays below 1e-14
      double log_scale = __builtin_log2(g->polar_scale), power = (double)c->power_h[f];
      double k = __builtin_rint(log_scale * power);
      n -= k;
      rest -= __builtin_fma(log_scale, power, -k);
      scaled_exp2(n, rest, &b->now[f][i], &scale);
      b->now[f][i] = (vf64)((vi64)b->now[f][i] & (scale >= 0.0)); // values never grow again
      b->delta[f][i] = v_set(0);
    }
  }
}

// x_f at step k, and one step on.
INLINE void values(const kugel__wigner_coefs *c, int nf, int64_t k, state *b, vf64 (*v)[NV])
{
  for (int f = 0; f < nf; f++)
    for (int i = 0; i < NV; i++) {
      const double *r = c->rec[f] + 3 * k;
      v[f][i] = b->now[f][i] * r[2];
      b->delta[f][i] = b->delta[f][i] * r[0] - b->y[i] * r[1] * b->now[f][i];
      b->now[f][i] += b->delta[f][i];
    }
}

INLINE void synth_spin(const kugel__wigner_job *j, const kugel__wigner_coefs *c, int64_t p)
{
  state b;
  begin(j, c, 2, p, &b);
  vf64 acc[8][NV] = {{{0}}};
  for (int64_t k = 0; k < c->n; k++) {
    vf64 v[2][NV];
    values(c, 2, k, &b, v);
    const double *t = c->terms + 4 * k;
    double sign = k % 2 ? -1 : 1;
    for (int r = 0; r < 2; r++)
      for (int i = 0; i < NV; i++) {
        acc[r][i] += v[0][i] * t[r];
        acc[2 + r][i] += v[1][i] * (t[r] * sign);
        acc[4 + r][i] += v[1][i] * t[2 + r];
        acc[6 + r][i] += v[0][i] * (t[2 + r] * sign);
      }
  }
  for (int i = 0; i < NV; i++) {
    vf64 a[8];
    for (int r = 0; r < 8; r++)
      a[r] = acc[r][i];
    store_maps(j, c->south, p + i * VLEN, a);
  }
}

INLINE void adjoint_spin(const kugel__wigner_job *j, const kugel__wigner_coefs *c, int64_t p)
{
  state b;
  begin(j, c, 2, p, &b);
  vf64 in[8][NV];
  for (int i = 0; i < NV; i++) {
    vf64 a[8];
    load_maps(j, c->south, p + i * VLEN, a);
    for (int r = 0; r < 8; r++)
      in[r][i] = a[r];
  }
  for (int64_t k = 0; k < c->n; k += 2) { // rec has a spare step
    vf64 sums[8];
    double lanes[8];
    for (int q = 0; q < 2; q++) {
      vf64 v[2][NV];
      values(c, 2, k + q, &b, v);
      for (int r = 0; r < 2; r++) {
        vf64 f = v[0][0] * in[r][0], g = v[1][0] * in[4 + r][0], fs = v[1][0] * in[2 + r][0],
             gs = v[0][0] * in[6 + r][0];
        for (int i = 1; i < NV; i++) {
          f += v[0][i] * in[r][i];
          g += v[1][i] * in[4 + r][i];
          fs += v[1][i] * in[2 + r][i];
          gs += v[0][i] * in[6 + r][i];
        }
        sums[4 * q + r] = q ? f - fs : f + fs;
        sums[4 * q + 2 + r] = q ? g - gs : g + gs;
      }
    }
    sum_lanes(sums, 8, lanes);
    for (int r = 0; r < (k + 1 < c->n ? 8 : 4); r++)
      c->terms[4 * k + r] += lanes[r];
  }
}

INLINE void synth_scalar(const kugel__wigner_job *j, const kugel__wigner_coefs *c, int64_t p)
{
  state b;
  begin(j, c, 1, p, &b);
  vf64 acc[4][NV] = {{{0}}}; // even re, im, odd re, im
  for (int64_t k = 0; k < c->n; k += 2)
    for (int q = 0; q < 2 && k + q < c->n; q++) {
      vf64 v[1][NV];
      values(c, 1, k + q, &b, v);
      for (int r = 0; r < 2; r++)
        for (int i = 0; i < NV; i++)
          acc[2 * q + r][i] += v[0][i] * j->e[2 * (k + q) + r];
    }
  for (int i = 0; i < NV; i++) {
    int64_t at = p + i * VLEN - j->p0, have = j->p1 - j->p0 - at;
    for (int r = 0; r < 2; r++) {
      store(j->rows[0] + r * j->row + at, acc[r][i] + acc[2 + r][i], have);
      store(j->rows[0] + (2 + r) * j->row + at, acc[r][i] - acc[2 + r][i], have);
    }
  }
}

INLINE void adjoint_scalar(const kugel__wigner_job *j, const kugel__wigner_coefs *c, int64_t p)
{
  state b;
  begin(j, c, 1, p, &b);
  vf64 in[4][NV];
  for (int i = 0; i < NV; i++) {
    int64_t at = p + i * VLEN - j->p0, have = j->p1 - j->p0 - at;
    for (int r = 0; r < 2; r++) {
      vf64 north = load(j->rows[0] + r * j->row + at, have),
           south = load(j->rows[0] + (2 + r) * j->row + at, have);
      in[r][i] = north + south;
      in[2 + r][i] = north - south;
    }
  }
  for (int64_t k = 0; k < c->n; k += 4) { // rec has spare steps
    vf64 sums[8];
    double lanes[8];
    for (int q = 0; q < 4; q++) {
      vf64 v[1][NV];
      values(c, 1, k + q, &b, v);
      for (int r = 0; r < 2; r++) {
        const vf64 *from = in[q % 2 * 2 + r];
        sums[2 * q + r] = v[0][0] * from[0];
        for (int i = 1; i < NV; i++)
          sums[2 * q + r] += v[0][i] * from[i];
      }
    }
    sum_lanes(sums, 8, lanes);
    int64_t left = c->n - k;
    for (int r = 0; r < 2 * (left < 4 ? left : 4); r++)
      j->e_out[2 * k + r] += lanes[r];
  }
}

static void synth(const kugel__wigner_job *j, double *scratch)
{
  kugel__wigner_coefs c;
  if (!kugel__wigner_prepare(j, scratch, &c)) {
    for (int k = 0; k < (j->spin ? 8 : 4); k++)
      memset(j->rows[k / 4] + (k % 4) * j->row, 0, (size_t)(j->p1 - j->p0) * 8);
    return;
  }
  for (int f = 0; f < (j->spin ? 2 : 1); f++)
    recurrence(&c, f);
  if (j->spin)
    kugel__wigner_terms(j, &c);
  for (int64_t p = j->p0; p < j->p1; p += NV * VLEN)
    j->spin ? synth_spin(j, &c, p) : synth_scalar(j, &c, p);
}

static void adjoint(const kugel__wigner_job *j, double *scratch)
{
  kugel__wigner_coefs c;
  if (!kugel__wigner_prepare(j, scratch, &c))
    return;
  for (int f = 0; f < (j->spin ? 2 : 1); f++)
    recurrence(&c, f);
  if (j->spin)
    memset(c.terms, 0, (size_t)c.n * 4 * 8);
  for (int64_t p = j->p0; p < j->p1; p += NV * VLEN)
    j->spin ? adjoint_spin(j, &c, p) : adjoint_scalar(j, &c, p);
  if (j->spin)
    kugel__wigner_collect(j, &c);
}

extern const kugel__wigner_ops ISA_NAME(kugel__polar_ops);
const kugel__wigner_ops ISA_NAME(kugel__polar_ops) = {synth, adjoint};
