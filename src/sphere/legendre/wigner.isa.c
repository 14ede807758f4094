/* SPDX-License-Identifier: BSD-3-Clause */
/* Wigner-d kernels away from the poles: NV vectors of ring pairs stay in registers while the two recurrences
 * run over all degrees of one m. With x_0, x_1 the two functions, F = E + i B and G = E - i B: map1 + i map2
 * is 2 sum x_0 F in the north and 2 sum p x_1 F in the south, map1 - i map2 is 2 sum x_1 G and 2 sum p x_0 G,
 * p = (-1)^(l+m+s). The adjoint adds lanes up once for each tile of degrees: a tile's sums of all pairs stay
 * in the first cache. */
#include <math.h>
#include "sphere/legendre/vec.h"

enum { NV = VLEN == 8 ? 2 : 1, TILE = 64 };

/* x_l = weight_l y_l with y_{l+1} = (c_l cos theta - (-1)^f r_l) y_l - y_{l-1}: weight_{l+1} = t_l
 * weight_{l-1} takes up the factor t_l of the last term. */
static void recurrence(const kugel__wigner_coefs *c, double m, double s)
{
  double *restrict rec = c->rec[0], *restrict vers = c->rec[1], *restrict up = c->terms,
                   *restrict weight = c->weight, first = (double)c->l0;
  for (int64_t i = 0; i <= c->n; i++) { // the square root of degree l
    double l = first + (double)i;
    up[i] = sqrt((l - m) * (l + m) * ((l - s) * (l + s)));
  }
  for (int64_t i = 0; i < c->n; i++) {
    double l = first + (double)i, ratio = sqrt((2 * l + 3) / (2 * l - 1));
    weight[i] = ratio * (l + 1) * up[i] / (l * up[i + 1]); // t_l, for now
  }
  double before = 1, now = 1;
  for (int64_t i = 0; i < c->n; i++) {
    double next = i ? weight[i] * before : 1;
    weight[i] = now;
    before = now;
    now = next;
  }
  weight[c->n] = now;
  for (int64_t i = 0; i < c->n; i++) {
    double l = first + (double)i,
           f = (2 * l + 1) * sqrt((2 * l + 3) / (2 * l + 1)) / up[i + 1] * weight[i] / weight[i + 1];
    double slope = f * (l + 1), shift = -f * m * s / l, *r = rec + 3 * i, *y = vers + 3 * i;
    r[0] = slope;
    r[1] = -shift;
    r[2] = shift;
    y[0] = -slope;
    y[1] = slope - shift;
    y[2] = slope + shift;
  }
}

typedef struct state {
  int64_t k; // the next step
  const double *rec;
  vf64 x[NV], now[2][NV], before[2][NV], scale[2 * NV];
} state;

// The new values replace those before.
INLINE void step(const state *b, const double *c, vf64 (*before)[NV], const vf64 (*now)[NV])
{
  for (int i = 0; i < NV; i++) {
    before[0][i] = (b->x[i] * c[0] + c[1]) * now[0][i] - before[0][i];
    before[1][i] = (b->x[i] * c[0] + c[2]) * now[1][i] - before[1][i];
  }
}

INLINE void advance(state *b, const double *c)
{
  vf64 old[2][NV];
  memcpy(old, b->now, sizeof old);
  step(b, c, b->before, old);
  memcpy(b->now, b->before, sizeof old);
  memcpy(b->before, old, sizeof old);
}

INLINE void lift(state *b)
{
  for (int f = 0; f < 2; f++)
    for (int i = 0; i < NV; i++)
      rescale(&b->before[f][i], &b->now[f][i], &b->scale[f * NV + i]);
}

// Loads a block and runs it until some lane matters.
INLINE void begin(const kugel__wigner_job *j, const kugel__wigner_coefs *c, int64_t p, state *b)
{
  const kugel__leg *g = j->leg;
  bool pole = g->ssq[p] < 0.5;
  const double *x = pole ? g->vers : g->cth;
  b->rec = c->rec[pole];
  for (int i = 0; i < NV; i++) {
    int64_t at = p + i * VLEN;
    b->x[i] = v_load(x + at);
    for (int f = 0; f < 2; f++) {
      vf64 n = v_set(c->start_exp[f]), rest = v_set(0);
      add_power(g->log_h + at, g->log_h_lo + at, (double)c->power_h[f], &n, &rest);
      add_power(g->log_c + at, g->log_c_lo + at, (double)c->power_c[f], &n, &rest);
      scaled_exp2(n, rest, &b->now[f][i], &b->scale[f * NV + i]);
      b->now[f][i] *= c->start[f];
      b->before[f][i] = v_set(0);
    }
  }
  b->k = 0;
  while (all_small(b->scale, 2 * NV)) {
    if (b->k + 4 > c->n) {
      b->k = c->n;
      return;
    }
    for (int k = 0; k < 4; k++)
      advance(b, b->rec + 3 * (b->k + k));
    b->k += 4;
    lift(b);
  }
}

// The values that count.
INLINE void masked(const state *b, vf64 (*v)[NV])
{
  for (int f = 0; f < 2; f++)
    for (int i = 0; i < NV; i++)
      v[f][i] = (vf64)((vi64)b->now[f][i] & (b->scale[f * NV + i] >= 0.0));
}

/* ---- synthesis ---- */

/* acc: north and south of map1 + i map2, of map1 - i map2; re, im. t: F, G. */
INLINE void add_terms(vf64 (*acc)[NV], const vf64 (*v)[NV], const double *t, bool odd)
{
  for (int k = 0; k < 2; k++)
    for (int i = 0; i < NV; i++) {
      acc[k][i] += v[0][i] * t[k];
      acc[4 + k][i] += v[1][i] * t[2 + k];
      vf64 s0 = v[1][i] * t[k], s1 = v[0][i] * t[2 + k];
      acc[2 + k][i] += odd ? -s0 : s0;
      acc[6 + k][i] += odd ? -s1 : s1;
    }
}

INLINE void synth_block(const kugel__wigner_job *j, const kugel__wigner_coefs *c, int64_t p)
{
  state b;
  begin(j, c, p, &b);
  vf64 acc[8][NV];
  for (int k = 0; k < 8; k++)
    for (int i = 0; i < NV; i++)
      acc[k][i] = v_set(0);
  const double *rec = b.rec, *terms = c->terms;
  int64_t k = b.k, n = c->n;
  while (k < n && any_small(b.scale, 2 * NV)) {
    for (int64_t end = k + 4 < n ? k + 4 : n; k < end; k++) {
      vf64 v[2][NV];
      masked(&b, v);
      add_terms(acc, v, terms + 4 * k, k % 2);
      advance(&b, rec + 3 * k);
    }
    lift(&b);
  }
  for (; k + 2 <= n; k += 2) { // k is even here: a multiple of four
    add_terms(acc, b.now, terms + 4 * k, false);
    step(&b, rec + 3 * k, b.before, b.now);
    add_terms(acc, b.before, terms + 4 * k + 4, true);
    step(&b, rec + 3 * k + 3, b.now, b.before);
  }
  if (k < n)
    add_terms(acc, b.now, terms + 4 * k, false);
  for (int i = 0; i < NV; i++) {
    vf64 a[8];
    for (int r = 0; r < 8; r++)
      a[r] = acc[r][i];
    store_maps(j, c->south, p + i * VLEN, a);
  }
}

static void synth(const kugel__wigner_job *j, double *scratch)
{
  kugel__wigner_coefs c;
  if (!kugel__wigner_prepare(j, scratch, &c)) {
    for (int k = 0; k < 8; k++)
      memset(j->rows[k / 4] + (k % 4) * j->row, 0, (size_t)(j->p1 - j->p0) * 8);
    return;
  }
  recurrence(&c, (double)j->m, (double)j->spin);
  kugel__wigner_terms(j, &c);
  for (int64_t p = j->p0; p < j->p1; p += NV * VLEN)
    synth_block(j, &c, p);
}

/* ---- adjoint ---- */

typedef struct block {
  state b;
  vf64 in[8][NV]; // map1 + i map2 of north and south, map1 - i map2; re, im
} block;

enum { GROUP = KUGEL__WIGNER_GROUP / (NV * VLEN) }; // blocks that share a tile

INLINE void sum_terms(vf64 *sum, const vf64 (*v)[NV], const vf64 (*in)[NV], bool odd)
{
  vf64 t[4];
  for (int k = 0; k < 4; k++)
    t[k] = sum[k];
  for (int i = 0; i < NV; i++) {
    for (int k = 0; k < 2; k++) {
      t[k] += v[0][i] * in[k][i];
      t[2 + k] += v[1][i] * in[4 + k][i];
    }
    for (int k = 0; k < 2; k++) {
      vf64 s0 = v[1][i] * in[2 + k][i], s1 = v[0][i] * in[6 + k][i];
      t[k] += odd ? -s0 : s0;
      t[2 + k] += odd ? -s1 : s1;
    }
  }
  for (int k = 0; k < 4; k++)
    sum[k] = t[k];
}

INLINE void load_block(const kugel__wigner_job *j, const kugel__wigner_coefs *c, int64_t p, block *t)
{
  begin(j, c, p, &t->b);
  for (int i = 0; i < NV; i++) {
    vf64 a[8];
    load_maps(j, c->south, p + i * VLEN, a);
    for (int r = 0; r < 8; r++)
      t->in[r][i] = a[r];
  }
}

// Steps up to `end` of a block; sums start at step `first`, a multiple of four.
static void adjoint_tile(block *t, int64_t first, int64_t end, vf64 *sums)
{
  state b = t->b;
  vf64 in[8][NV];
  memcpy(in, t->in, sizeof in);
  const double *rec = b.rec;
  int64_t k = b.k;
  while (k < end && any_small(b.scale, 2 * NV)) {
    for (int64_t stop = k + 4 < end ? k + 4 : end; k < stop; k++) {
      vf64 v[2][NV];
      masked(&b, v);
      sum_terms(sums + 4 * (k - first), v, in, k % 2);
      advance(&b, rec + 3 * k);
    }
    lift(&b);
  }
  for (; k + 2 <= end; k += 2) {
    sum_terms(sums + 4 * (k - first), b.now, in, false);
    step(&b, rec + 3 * k, b.before, b.now);
    sum_terms(sums + 4 * (k + 1 - first), b.before, in, true);
    step(&b, rec + 3 * k + 3, b.now, b.before);
  }
  if (k < end)
    sum_terms(sums + 4 * (k - first), b.now, in, false);
  b.k = end;
  t->b = b;
}

static void adjoint_group(const kugel__wigner_job *j, const kugel__wigner_coefs *c, int64_t p, int64_t p1,
                          double *work)
{
  int64_t blocks = 0, first = c->n;
  vf64 *sums = (vf64 *)work;
  block *t = (block *)(sums + 4 * TILE);
  for (; p < p1; p += NV * VLEN, blocks++) {
    load_block(j, c, p, &t[blocks]);
    first = t[blocks].b.k < first ? t[blocks].b.k : first;
  }
  for (int64_t i = 0; i < first; i++)
    memset(c->terms + 4 * i, 0, 4 * 8);
  for (int64_t end; first < c->n; first = end) {
    end = first + TILE < c->n ? first + TILE : c->n;
    memset(sums, 0, (size_t)(end - first) * 4 * sizeof *sums);
    for (int64_t i = 0; i < blocks; i++)
      if (t[i].b.k < end)
        adjoint_tile(&t[i], first, end, sums);
    sum_lanes(sums, 4 * (end - first), c->terms + 4 * first);
  }
  kugel__wigner_collect(j, c);
}

static void adjoint(const kugel__wigner_job *j, double *scratch)
{
  kugel__wigner_coefs c;
  if (!kugel__wigner_prepare(j, scratch, &c))
    return;
  recurrence(&c, (double)j->m, (double)j->spin);
  for (int64_t p = j->p0; p < j->p1; p += GROUP * NV * VLEN) {
    int64_t end = p + GROUP * NV * VLEN;
    adjoint_group(j, &c, p, end < j->p1 ? end : j->p1, c.work);
  }
}

extern const kugel__wigner_ops ISA_NAME(kugel__wigner_ops);
const kugel__wigner_ops ISA_NAME(kugel__wigner_ops) = {synth, adjoint};
