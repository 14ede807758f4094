/* SPDX-License-Identifier: BSD-3-Clause */
/* Wigner d matrices of one degree applied as they are generated: lanes are neighbouring orders k. With
 *   P = p + q, M = p - q, each pair (k, m), k <= m, gives
 *   Re b_k += P Re a_m, Im b_k += M Im a_m and, for k < m, Re b_m += (-1)^(m+k) P Re a_k, Im b_m +=
 * (-1)^(m+k) M Im a_k, by d_mk = (-1)^(m+k) d_km, d_k,-m = (-1)^(m+k) d_-k,m and a_-m = (-1)^m conj a_m. */
#include "core/simd.h"
#include "sphere/alm/rotate.h"

enum { NV = KUGEL__ROTATE_LANES / VLEN };

/* The recurrences of a block of orders k. */
typedef struct block {
  vf64 now[2][NV], before[2][NV]; // p and q at m and m + 1
  vf64 scale[2][NV];
  vf64 order[NV]; // k
} block;

/* Both at m - 1. */
static inline void step(block *b, const kugel__rotate_degree *d, int64_t m)
{
  const vf64 vm = v_set((double)m), alpha = v_set(d->alpha[m]), tau = v_set(d->tau[m]),
             rho = v_set(d->rho[m]);
  for (int v = 0; v < NV; v++) {
    const vf64 p = ((vm - b->order[v]) * alpha - tau) * b->now[0][v] - rho * b->before[0][v];
    const vf64 q = ((vm + b->order[v]) * alpha - tau) * b->now[1][v] - rho * b->before[1][v];
    b->before[0][v] = b->now[0][v];
    b->before[1][v] = b->now[1][v];
    b->now[0][v] = p;
    b->now[1][v] = q;
  }
}

/* Lifts the scale of lanes that have grown; true while some lane's scale is below 0. */
static inline int rescale(block *b)
{
  const vf64 limit = v_set(0x1p150), down = v_set(0x1p-300), one = v_set(1), zero = v_set(0);
  vi64 low = zero != zero;
  for (int s = 0; s < 2; s++)
    for (int v = 0; v < NV; v++) {
      const vi64 grown = (v_abs(b->now[s][v]) > limit) & (b->scale[s][v] < zero);
      const vf64 factor = v_select(grown, down, one);
      b->now[s][v] *= factor;
      b->before[s][v] *= factor;
      b->scale[s][v] += v_select(grown, one, zero);
      low |= b->scale[s][v] < zero;
    }
  return v_any(low);
}

/* Sums of all sets at order m. With careful, lanes of low scale and orders k > m count as zero, k = m once.
 */
static inline __attribute__((always_inline)) void add(const block *b, const kugel__rotate_degree *d, int sets,
                                                      int careful, int64_t m, int64_t k0, vf64 sum[][2][NV])
{
  vf64 plus[NV], minus[NV], plus_below[NV], minus_below[NV];
  for (int v = 0; v < NV; v++) {
    vf64 p = b->now[0][v], q = b->now[1][v];
    if (careful) {
      const vf64 zero = v_set(0);
      p = v_select(b->scale[0][v] >= zero, p, zero);
      q = v_select(b->scale[1][v] >= zero, q, zero);
      const vi64 upto = b->order[v] <= v_set((double)m), below = b->order[v] < v_set((double)m);
      plus[v] = v_select(upto, p + q, zero);
      minus[v] = v_select(upto, p - q, zero);
      plus_below[v] = v_select(below, p + q, zero);
      minus_below[v] = v_select(below, p - q, zero);
    } else {
      plus_below[v] = plus[v] = p + q;
      minus_below[v] = minus[v] = p - q;
    }
  }
  for (int s = 0; s < sets; s++) {
    const vf64 re = v_set(d->re[s][m]), im = v_set(d->im[s][m]);
    double *column = d->column + (m * sets + s) * 2 * VLEN;
    vf64 cre = v_load(column), cim = v_load(column + VLEN);
    for (int v = 0; v < NV; v++) {
      sum[s][0][v] += plus[v] * re;
      sum[s][1][v] += minus[v] * im;
      cre += plus_below[v] * v_load(d->re_alt[s] + k0 + v * VLEN);
      cim += minus_below[v] * v_load(d->im_alt[s] + k0 + v * VLEN);
    }
    v_store(column, cre);
    v_store(column + VLEN, cim);
  }
}

static inline __attribute__((always_inline)) void run_block(const kugel__rotate_degree *d, int sets,
                                                            int64_t k0)
{
  block b = {0};
  vf64 sum[KUGEL__ROTATE_SETS][2][NV];
  for (int v = 0; v < NV; v++) {
    for (int s = 0; s < 2; s++) {
      b.now[s][v] = v_load(d->start[s] + k0 + v * VLEN);
      b.scale[s][v] = v_load(d->scale[s] + k0 + v * VLEN);
      b.before[s][v] = v_set(0);
    }
    for (int i = 0; i < VLEN; i++)
      b.order[v][i] = (double)(k0 + v * VLEN + i);
  }
  for (int s = 0; s < sets; s++)
    for (int v = 0; v < NV; v++)
      sum[s][0][v] = sum[s][1][v] = v_set(0);
  int64_t m = d->l;
  const int64_t whole = k0 + KUGEL__ROTATE_LANES; // from here up all k < m
  for (; m >= whole && rescale(&b); m--) {
    add(&b, d, sets, 1, m, k0, sum);
    step(&b, d, m);
  }
  for (; m >= whole; m--) {
    add(&b, d, sets, 0, m, k0, sum);
    step(&b, d, m);
  }
  for (; m >= k0; m--) {
    rescale(&b);
    add(&b, d, sets, 1, m, k0, sum);
    if (m > 0)
      step(&b, d, m);
  }
  for (int s = 0; s < sets; s++)
    for (int v = 0; v < NV; v++) {
      v_store(d->out_re[s] + k0 + v * VLEN, sum[s][0][v]);
      v_store(d->out_im[s] + k0 + v * VLEN, sum[s][1][v]);
    }
}

static inline __attribute__((always_inline)) void run_degree(const kugel__rotate_degree *d, int sets)
{
  memset(d->column, 0, (size_t)(d->l + 1) * (size_t)sets * 2 * sizeof(vf64));
  for (int64_t k0 = 0; k0 <= d->l; k0 += KUGEL__ROTATE_LANES)
    run_block(d, sets, k0);
  for (int64_t m = 0; m <= d->l; m++)
    for (int s = 0; s < sets; s++) {
      const double *column = d->column + (m * sets + s) * 2 * VLEN;
      const double sign = m & 1 ? -1 : 1;
      d->out_re[s][m] += sign * v_sum(v_load(column));
      d->out_im[s][m] += sign * v_sum(v_load(column + VLEN));
    }
}

static void degree(const kugel__rotate_degree *d, int sets)
{
  if (sets == 1)
    run_degree(d, 1);
  else if (sets == 2)
    run_degree(d, 2);
  else
    run_degree(d, 3);
}

const kugel__rotate_ops ISA_NAME(kugel__rotate_table) = {degree};
