/* SPDX-License-Identifier: BSD-3-Clause */
/* Wigner-d kernels, a vector of ring pairs at a time. With A, D = x_0 +- x_1 of the two functions x_f, the
 * maps' Fourier coefficients are map1 = A E + i D B, map2 = A B - i D E in the north; in the south A and D
 * change by p and -p, p = (-1)^(l+m+s). Sums of terms with south = +north and south = -north are kept apart.
 */
#include "core/simd.h"
#include "sphere/legplan.h"

#define INLINE static inline __attribute__((always_inline))

typedef struct walk {
  vf64 now[2], before[2]; // plain: x_l, x_{l-1}; polar: R_n, R_n - R_{n-1}
  vf64 scale[2];          // plain: v 2^(800 scale), not counted while negative
  vf64 x, y;
} walk;

INLINE vf64 exp2_any(vf64 n, vf64 f) // 2^(n + f), n an integer in [-1000, 1000], |f| < 2
{
  vf64 r = v_set(0), term = v_set(1), t = f * 0.34657359027997265471; // ln 2 / 2, squared below
  for (int k = 1; k <= 17; k++) {
    r += term;
    term *= t * (1.0 / k);
  }
  r *= r;
  vi64 bits = (vi64)(n + 0x1.8p52) - (vi64)v_set(0x1.8p52);
  return r * (vf64)((bits + 1023) << 52);
}

INLINE vf64 round_vec(vf64 x)
{
  return (x + 0x1.8p52) - 0x1.8p52;
}

// log2 of base^power as integer n and rest f
INLINE void log_power(const double *hi, const double *lo, double power, vf64 *n, vf64 *f)
{
  vf64 h = v_load(hi), k = round_vec(h * power);
  vf64 t = h * 0x1.0000002p27, h1 = t - (t - h), h2 = h - h1; // h1 * power is exact
  *n += k;
  *f += ((h1 * power - k) + h2 * power) + v_load(lo) * power;
}

INLINE void begin_polar(const kugel__wigner_job *j, const kugel__wigner_coefs *c, int64_t p, walk *w)
{
  const kugel__leg *g = j->leg;
  double log_scale = __builtin_log2(g->polar_scale);
  w->y = v_load(g->vers + p);
  for (int f = 0; f < (j->spin ? 2 : 1); f++) {
    vf64 n = v_set(0), rest = v_set(0);
    log_power(g->log_h + p, g->log_h_lo + p, (double)c->power_h[f], &n, &rest);
    log_power(g->log_c + p, g->log_c_lo + p, (double)c->power_c[f], &n, &rest);
    double k = __builtin_rint(log_scale * (double)c->power_h[f]);
    // polar_scale is a double: its logarithm's rounding, times the power, stays below 1e-14
    n -= k;
    rest -= __builtin_fma(log_scale, (double)c->power_h[f], -k);
    vf64 r = round_vec(rest);
    n += r;
    rest -= r;
    n = v_select(n < -1000.0, v_set(-1000), n);
    w->now[f] = exp2_any(n, rest);
    w->before[f] = v_set(0);
  }
}

INLINE void begin_plain(const kugel__wigner_job *j, const kugel__wigner_coefs *c, int64_t p, walk *w)
{
  const kugel__leg *g = j->leg;
  w->x = v_load(g->cth + p);
  for (int f = 0; f < 2; f++) {
    vf64 n = v_set(c->start_exp[f]), rest = v_set(0);
    log_power(g->log_h + p, g->log_h_lo + p, (double)c->power_h[f], &n, &rest);
    log_power(g->log_c + p, g->log_c_lo + p, (double)c->power_c[f], &n, &rest);
    vf64 r = round_vec(rest);
    n += r;
    rest -= r;
    w->scale[f] = v_select(n < -800.0, -round_vec((-60 - n) * (1.0 / 800) - 0.5), v_set(0));
    n -= w->scale[f] * 800.0;
    w->now[f] = exp2_any(n, rest) * c->start[f];
    w->before[f] = v_set(0);
  }
}

// x_f at step i, and one step on.
INLINE vf64 value_polar(const kugel__wigner_coefs *c, int64_t i, int f, walk *w)
{
  const double *r = c->rec[f] + 3 * i;
  vf64 v = w->now[f] * r[2];
  w->before[f] = w->before[f] * r[0] - w->y * r[1] * w->now[f];
  w->now[f] += w->before[f];
  return v;
}

INLINE vf64 value_plain(const kugel__wigner_coefs *c, int64_t i, int f, walk *w)
{
  const double *r = c->rec[0] + 3 * i;
  vf64 v = (vf64)((vi64)w->now[f] & (w->scale[f] >= 0.0));
  vf64 next = (w->x * r[0] - (f ? -r[1] : r[1])) * w->now[f] - w->before[f] * r[2];
  w->before[f] = w->now[f];
  w->now[f] = next;
  vi64 lift = (v_abs(next) > 0x1p-60) & (w->scale[f] < 0.0);
  if (v_any(lift)) {
    w->now[f] = v_select(lift, w->now[f] * 0x1p-800, w->now[f]);
    w->before[f] = v_select(lift, w->before[f] * 0x1p-800, w->before[f]);
    w->scale[f] = v_select(lift, w->scale[f] + 1.0, w->scale[f]);
  }
  return v;
}

INLINE void store_rows(double *rows, int64_t row, int64_t have, const vf64 *same, const vf64 *opposite)
{
  for (int c = 0; c < 2; c++) {
    vf64 north = same[c] + opposite[c], south = same[c] - opposite[c];
    memcpy(rows + c * row, &north, (size_t)have * 8);
    memcpy(rows + (2 + c) * row, &south, (size_t)have * 8);
  }
}

INLINE void load_rows(const double *rows, int64_t row, int64_t have, vf64 *same, vf64 *opposite)
{
  for (int c = 0; c < 2; c++) {
    vf64 north = {0}, south = {0};
    memcpy(&north, rows + c * row, (size_t)have * 8);
    memcpy(&south, rows + (2 + c) * row, (size_t)have * 8);
    same[c] = north + south;
    opposite[c] = north - south;
  }
}

INLINE void synth_spin(const kugel__wigner_job *j, const kugel__wigner_coefs *c, bool polar, int64_t p)
{
  int64_t have = j->p1 - p < VLEN ? j->p1 - p : VLEN, off = p - j->p0, first = c->l0 - j->m;
  static const double zero[2] = {0, 0};
  walk w;
  polar ? begin_polar(j, c, p, &w) : begin_plain(j, c, p, &w);
  vf64 map[2][2][2] = {{{{0}}}}; // [map][0 same, 1 opposite][re, im]
  for (int64_t i = 0; i < c->n; i++) {
    vf64 x0 = polar ? value_polar(c, i, 0, &w) : value_plain(c, i, 0, &w);
    vf64 x1 = polar ? value_polar(c, i, 1, &w) : value_plain(c, i, 1, &w);
    vf64 a = x0 + x1, d = x0 - x1;
    const double *e = j->e + 2 * (first + i), *b = j->b ? j->b + 2 * (first + i) : zero;
    int q = (int)((c->l0 + i + j->m + j->spin) & 1);
    map[0][q][0] += a * e[0];
    map[0][q][1] += a * e[1];
    map[0][!q][0] -= d * b[1];
    map[0][!q][1] += d * b[0];
    map[1][q][0] += a * b[0];
    map[1][q][1] += a * b[1];
    map[1][!q][0] += d * e[1];
    map[1][!q][1] -= d * e[0];
  }
  for (int k = 0; k < 2; k++)
    store_rows(j->rows[k] + off, j->row, have, map[k][0], map[k][1]);
}

INLINE void adjoint_spin(const kugel__wigner_job *j, const kugel__wigner_coefs *c, bool polar, int64_t p)
{
  int64_t have = j->p1 - p < VLEN ? j->p1 - p : VLEN, off = p - j->p0, first = c->l0 - j->m;
  walk w;
  polar ? begin_polar(j, c, p, &w) : begin_plain(j, c, p, &w);
  vf64 map[2][2][2];
  for (int k = 0; k < 2; k++)
    load_rows(j->rows[k] + off, j->row, have, map[k][0], map[k][1]);
  for (int64_t i = 0; i < c->n; i++) {
    vf64 x0 = polar ? value_polar(c, i, 0, &w) : value_plain(c, i, 0, &w);
    vf64 x1 = polar ? value_polar(c, i, 1, &w) : value_plain(c, i, 1, &w);
    vf64 a = x0 + x1, d = x0 - x1;
    double *e = j->e_out + 2 * (first + i);
    int q = (int)((c->l0 + i + j->m + j->spin) & 1);
    e[0] += v_sum(a * map[0][q][0] - d * map[1][!q][1]);
    e[1] += v_sum(a * map[0][q][1] + d * map[1][!q][0]);
    if (j->b_out) {
      double *b = j->b_out + 2 * (first + i);
      b[0] += v_sum(d * map[0][!q][1] + a * map[1][q][0]);
      b[1] += v_sum(a * map[1][q][1] - d * map[0][!q][0]);
    }
  }
}

// Spin 0 is polar only.
INLINE void scalar(const kugel__wigner_job *j, const kugel__wigner_coefs *c, bool adjoint, int64_t p)
{
  int64_t have = j->p1 - p < VLEN ? j->p1 - p : VLEN, off = p - j->p0;
  walk w;
  begin_polar(j, c, p, &w);
  vf64 map[2][2] = {{{0}}};
  if (adjoint)
    load_rows(j->rows[0] + off, j->row, have, map[0], map[1]);
  for (int64_t i = 0; i < c->n; i++) {
    vf64 v = value_polar(c, i, 0, &w);
    int q = (int)(i & 1);
    if (adjoint) {
      j->e_out[2 * i] += v_sum(v * map[q][0]);
      j->e_out[2 * i + 1] += v_sum(v * map[q][1]);
    } else {
      map[q][0] += v * j->e[2 * i];
      map[q][1] += v * j->e[2 * i + 1];
    }
  }
  if (!adjoint)
    store_rows(j->rows[0] + off, j->row, have, map[0], map[1]);
}

static void synth(const kugel__wigner_job *j, double *scratch)
{
  kugel__wigner_coefs c;
  if (!kugel__wigner_prepare(j, scratch, &c)) {
    for (int k = 0; k < (j->spin ? 8 : 4); k++)
      memset(j->rows[k / 4] + (k % 4) * j->row, 0, (size_t)(j->p1 - j->p0) * 8);
    return;
  }
  for (int64_t p = j->p0; p < j->p1; p += VLEN) {
    if (!j->spin)
      scalar(j, &c, false, p);
    else if (j->polar)
      synth_spin(j, &c, true, p);
    else
      synth_spin(j, &c, false, p);
  }
}

static void adjoint(const kugel__wigner_job *j, double *scratch)
{
  kugel__wigner_coefs c;
  if (!kugel__wigner_prepare(j, scratch, &c))
    return;
  for (int64_t p = j->p0; p < j->p1; p += VLEN) {
    if (!j->spin)
      scalar(j, &c, true, p);
    else if (j->polar)
      adjoint_spin(j, &c, true, p);
    else
      adjoint_spin(j, &c, false, p);
  }
}

extern const kugel__wigner_ops ISA_NAME(kugel__wigner_ops);
const kugel__wigner_ops ISA_NAME(kugel__wigner_ops) = {synth, adjoint};
