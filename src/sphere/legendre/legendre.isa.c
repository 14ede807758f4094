/* SPDX-License-Identifier: BSD-3-Clause */
/* Main kernels: NV vectors of ring pairs stay in registers while the recurrence runs over all degrees of one
 * m. A value is v 2^(800 s): while s < 0 the value is below 2^-150, too small to contribute, and only the
 * recurrence runs. Scales are tested every four steps; values grow by less than 2^72 in between, so that the
 * neglected values stay below 2^-78. */
#include "sphere/legendre/vec.h"

enum { MAX_NV = 6 };

// lambda_mm = mfac sin^m theta as v 2^(800 s), s <= 0.
static __attribute__((noinline)) void start_value(const kugel__leg_m *w, int64_t p, vf64 *value, vf64 *scale)
{
  double m = (double)w->m;
  vf64 n = v_set(0), f = v_set(0);
  add_power(w->leg->log_s + p, w->leg->log_s_lo + p, m, &n, &f);
  scaled_exp2(n, f, value, scale);
  *value *= w->leg->mfac[w->m];
}

/* State of a block: q0 = q_{k-1}, q1 = q_k. Where sin^2 < 1/2 the recurrence uses sin^2 (x2 = sin^2), because
 * the rounding of cos^2 near 1 would shift the angle. */
typedef struct state {
  const double *coef;
  vf64 x2[MAX_NV], q0[MAX_NV], q1[MAX_NV], s[MAX_NV];
} state;

INLINE void advance(state *b, int nv, const double *c)
{
  for (int i = 0; i < nv; i++) {
    vf64 next = (b->x2[i] * c[0] + c[1]) * b->q1[i] + b->q0[i];
    b->q0[i] = b->q1[i];
    b->q1[i] = next;
  }
}

// Loads a block and runs the recurrence until some lane has s = 0. Returns k.
INLINE int64_t begin(const kugel__leg_m *w, int nv, int64_t p, state *b)
{
  bool pole = w->leg->ssq[p] < 0.5;
  const double *square = pole ? w->leg->ssq : w->leg->csq;
  b->coef = pole ? w->coef_sin : w->coef;
  for (int i = 0; i < nv; i++) {
    vf64 value, scale;
    start_value(w, p + i * VLEN, &value, &scale);
    b->x2[i] = v_load(square + p + i * VLEN);
    b->q0[i] = v_set(0);
    b->q1[i] = value;
    b->s[i] = scale;
  }
  int64_t k = 0;
  while (all_small(b->s, nv)) { // no value contributes yet: values grow by less than 2^100 in four steps
    if (k + 4 > w->n)
      return w->n;
    for (int j = 0; j < 4; j++)
      advance(b, nv, b->coef + 2 * (k + j));
    k += 4;
    for (int i = 0; i < nv; i++)
      rescale(&b->q0[i], &b->q1[i], &b->s[i]);
  }
  return k;
}

/* ---- synthesis ---- */

INLINE void add_terms(int nv, int ns, vf64 (*acc)[MAX_NV], const vf64 *q, const double *t)
{
  for (int c = 0; c < 4 * ns; c++) {
    for (int i = 0; i < nv; i++)
      acc[c][i] += q[i] * t[c];
  }
}

INLINE void synth_block(const kugel__leg_m *w, int nv, int ns, int64_t p, int64_t p1, double *out,
                        int64_t row)
{
  state b;
  int64_t k = begin(w, nv, p, &b), n = w->n;
  const double *coef = b.coef, *series = w->series;
  vf64 acc[4 * KUGEL__MAX_SERIES][MAX_NV];
  for (int c = 0; c < 4 * ns; c++) {
    for (int i = 0; i < nv; i++)
      acc[c][i] = v_set(0);
  }
  while (k < n && any_small(b.s, nv)) {
    vi64 counts[MAX_NV];
    for (int i = 0; i < nv; i++)
      counts[i] = b.s[i] >= 0.0;
    for (int64_t end = k + 4 < n ? k + 4 : n; k < end; k++) {
      vf64 masked[MAX_NV];
      for (int i = 0; i < nv; i++)
        masked[i] = (vf64)((vi64)b.q1[i] & counts[i]);
      add_terms(nv, ns, acc, masked, series + 4 * ns * k);
      advance(&b, nv, coef + 2 * k);
    }
    for (int i = 0; i < nv; i++)
      rescale(&b.q0[i], &b.q1[i], &b.s[i]);
  }
  for (; k + 2 <= n; k += 2) { // q0 and q1 exchange roles, without moves
    add_terms(nv, ns, acc, b.q1, series + 4 * ns * k);
    for (int i = 0; i < nv; i++)
      b.q0[i] += (b.x2[i] * coef[2 * k] + coef[2 * k + 1]) * b.q1[i];
    add_terms(nv, ns, acc, b.q0, series + 4 * ns * (k + 1));
    for (int i = 0; i < nv; i++)
      b.q1[i] += (b.x2[i] * coef[2 * k + 2] + coef[2 * k + 3]) * b.q0[i];
  }
  if (k < n)
    add_terms(nv, ns, acc, b.q1, series + 4 * ns * k);
  for (int i = 0; i < nv; i++) {
    int64_t at = p + i * VLEN, have = p1 - at;
    vf64 x = v_load(w->leg->cth + at);
    for (int s = 0; s < ns; s++)
      for (int c = 0; c < 2; c++) {
        vf64 even = acc[4 * s + c][i], odd = acc[4 * s + 2 + c][i] * x, north = even + odd,
             south = even - odd;
        store(out + (4 * s + c) * row + i * VLEN, north, have);
        store(out + (4 * s + 2 + c) * row + i * VLEN, south, have);
      }
  }
}

/* ---- adjoint: degrees in tiles, so that the sums over all pairs of a tile stay in the first cache ---- */

typedef struct block {
  int64_t k; // the next step
  const double *coef;
} block;

// at: [x2, q0, q1, scale, then 4 ns rows][nv]
INLINE void load_block(const kugel__leg_m *w, int nv, int ns, int64_t p, int64_t p1, const double *rows,
                       int64_t row, block *h, vf64 *at)
{
  state b;
  h->k = begin(w, nv, p, &b);
  h->coef = b.coef;
  for (int i = 0; i < nv; i++) {
    int64_t first = p + i * VLEN, have = p1 - first;
    vf64 x = v_load(w->leg->cth + first), *in = at + 4 * nv + i;
    at[i] = b.x2[i];
    at[nv + i] = b.q0[i];
    at[2 * nv + i] = b.q1[i];
    at[3 * nv + i] = b.s[i];
    for (int s = 0; s < ns; s++)
      for (int c = 0; c < 2; c++) {
        vf64 north = load(rows + (4 * s + c) * row + i * VLEN, have);
        vf64 south = load(rows + (4 * s + 2 + c) * row + i * VLEN, have);
        in[(4 * s + c) * nv] = north + south;
        in[(4 * s + 2 + c) * nv] = (north - south) * x;
      }
  }
}

INLINE void sum_terms(int nv, int ns, vf64 *sum, const vf64 *q, const vf64 *in)
{
  vf64 t[4 * KUGEL__MAX_SERIES];
  for (int c = 0; c < 4 * ns; c++)
    t[c] = sum[c];
  for (int i = 0; i < nv; i++) {
    for (int c = 0; c < 4 * ns; c++)
      t[c] += q[i] * in[c * nv + i];
  }
  for (int c = 0; c < 4 * ns; c++)
    sum[c] = t[c];
}

// Two steps at once, so that each row is loaded once for both.
INLINE void sum_two(int nv, int ns, vf64 *sum, const vf64 *q0, const vf64 *q1, const vf64 *in)
{
  for (int c = 0; c < 4 * ns; c++) {
    vf64 t0 = sum[c], t1 = sum[4 * ns + c];
    for (int i = 0; i < nv; i++) {
      t0 += q0[i] * in[c * nv + i];
      t1 += q1[i] * in[c * nv + i];
    }
    sum[c] = t0;
    sum[4 * ns + c] = t1;
  }
}

// Steps of a block up to `end`; sums start at step `first`.
INLINE void adjoint_tile(int nv, int ns, block *h, vf64 *restrict at, int64_t first, int64_t end,
                         vf64 *restrict sums)
{
  state b;
  vf64 in[4 * KUGEL__MAX_SERIES * MAX_NV]; // a copy on the stack: in registers if there are enough
  const double *coef = h->coef;
  int64_t k = h->k;
  for (int i = 0; i < nv; i++) {
    b.x2[i] = at[i];
    b.q0[i] = at[nv + i];
    b.q1[i] = at[2 * nv + i];
    b.s[i] = at[3 * nv + i];
  }
  for (int i = 0; i < 4 * ns * nv; i++)
    in[i] = at[4 * nv + i];
  while (k < end && any_small(b.s, nv)) {
    vi64 counts[MAX_NV];
    for (int i = 0; i < nv; i++)
      counts[i] = b.s[i] >= 0.0;
    for (int64_t stop = k + 4 < end ? k + 4 : end; k < stop; k++) {
      vf64 masked[MAX_NV];
      for (int i = 0; i < nv; i++)
        masked[i] = (vf64)((vi64)b.q1[i] & counts[i]);
      sum_terms(nv, ns, sums + 4 * ns * (k - first), masked, in);
      advance(&b, nv, coef + 2 * k);
    }
    for (int i = 0; i < nv; i++)
      rescale(&b.q0[i], &b.q1[i], &b.s[i]);
  }
  for (; k + 2 <= end; k += 2) {
    if (ns == 1)
      sum_terms(nv, ns, sums + 4 * (k - first), b.q1, in);
    for (int i = 0; i < nv; i++)
      b.q0[i] += (b.x2[i] * coef[2 * k] + coef[2 * k + 1]) * b.q1[i];
    if (ns > 1)
      sum_two(nv, ns, sums + 4 * ns * (k - first), b.q1, b.q0, in);
    else
      sum_terms(nv, ns, sums + 4 * (k + 1 - first), b.q0, in);
    for (int i = 0; i < nv; i++)
      b.q1[i] += (b.x2[i] * coef[2 * k + 2] + coef[2 * k + 3]) * b.q0[i];
  }
  if (k < end)
    sum_terms(nv, ns, sums + 4 * ns * (k - first), b.q1, in);
  h->k = end;
  for (int i = 0; i < nv; i++) {
    at[nv + i] = b.q0[i];
    at[2 * nv + i] = b.q1[i];
    at[3 * nv + i] = b.s[i];
  }
}

INLINE void adjoint_group(const kugel__leg_m *w, int nv, int ns, int64_t p0, int64_t p1, const double *rows,
                          int64_t row)
{
  enum { TILE = KUGEL__LEG_TILE };
  int64_t blocks = 0, tile = TILE / (ns + ns / 3) / 4 * 4, first = w->n, n = w->n;
  vf64 *sums = (vf64 *)w->sums, *at = sums + 4 * TILE;
  block *h = (block *)(at + (4 + 4 * ns) * (KUGEL__LEG_GROUP / VLEN + MAX_NV));
  int64_t single = 4 + 4 * ns, full = 0, p = p0;
  for (; p1 - p > (nv - 1) * VLEN; p += nv * VLEN, full++)
    load_block(w, nv, ns, p, p1, rows + p - p0, row, h + full, at + full * nv * single);
  blocks = full;
  for (; p < p1; p += VLEN, blocks++) // the rest by single vectors
    load_block(w, 1, ns, p, p1, rows + p - p0, row, h + blocks, at + (p - p0) / VLEN * single);
  for (int64_t i = 0; i < blocks; i++)
    first = h[i].k < first ? h[i].k : first;
  for (int64_t end; first < n; first = end) {
    end = first + tile < n ? first + tile : n;
    memset(sums, 0, (size_t)(4 * ns * (end - first)) * sizeof *sums);
    for (int64_t i = 0; i < full; i++)
      if (h[i].k < end)
        adjoint_tile(nv, ns, h + i, at + i * nv * single, first, end, sums);
    for (int64_t i = full; i < blocks; i++)
      if (h[i].k < end)
        adjoint_tile(1, ns, h + i, at + (full * (nv - 1) + i) * single, first, end, sums);
    add_lanes(sums, 4 * ns * (end - first), w->series + 4 * ns * first);
  }
}

/* ---- the variants: the number of registers decides how many vectors form a block ---- */

#define VARIANT(ns, nvs, nva)                                                                                \
  static void synth##ns(const kugel__leg_m *w, int64_t p, int64_t p1, double *out, int64_t row)              \
  {                                                                                                          \
    for (; p1 - p > (nvs - 1) * VLEN; p += (nvs)*VLEN, out += (nvs)*VLEN)                                    \
      synth_block(w, nvs, ns, p, p1, out, row);                                                              \
    for (; p < p1; p += VLEN, out += VLEN) /* the rest by single vectors */                                  \
      synth_block(w, 1, ns, p, p1, out, row);                                                                \
  }                                                                                                          \
  static void adjoint##ns(const kugel__leg_m *w, int64_t p0, int64_t p1, const double *in, int64_t row)      \
  {                                                                                                          \
    adjoint_group(w, nva, ns, p0, p1, in, row);                                                              \
  }
#if VLEN == 8
VARIANT(1, 4, 4)
VARIANT(2, 2, 4)
VARIANT(3, 2, 3)
#else
VARIANT(1, 2, 2)
VARIANT(2, 1, 1)
VARIANT(3, 1, 1)
#endif

static void synth(const kugel__leg_m *w, int64_t p0, int64_t p1, double *out, int64_t row)
{
  (w->leg->nseries == 1 ? synth1 : w->leg->nseries == 2 ? synth2 : synth3)(w, p0, p1, out, row);
}

static void adjoint(const kugel__leg_m *w, int64_t p0, int64_t p1, const double *in, int64_t row)
{
  (w->leg->nseries == 1 ? adjoint1 : w->leg->nseries == 2 ? adjoint2 : adjoint3)(w, p0, p1, in, row);
}

extern const kugel__leg_ops ISA_NAME(kugel__leg_ops);
const kugel__leg_ops ISA_NAME(kugel__leg_ops) = {synth, adjoint};
