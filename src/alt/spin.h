/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of theta before harmonics of spin s > 0, by rotations between orders. With a = |m - s|, b = m + s, k = l - max(m, s),
 *
 *   f_k = (1 - x)^{a/2} (1 + x)^{b/2} P_k^{(a,b)}(x),  x = cos(theta), orthonormal under dx: those of spin -s; spin s has them
 *   mirrored, (-1)^k f_k(-x).
 *
 * Raising b by 2 is an isometry (docs/polynomial.md), and raising a, which is the same mirrored: steps of either kind lead
 * from (p, p), p = (m + s) mod 2, where the functions are those of order p of alt.c, to (a, b) in max(m, s) - p steps. Orders from
 * s - 1 on share one path: first b grows to p + 2 s, then b and a take turns. The few below take the beginning of that path and
 * then raise a. */
#ifndef KUGEL_ALT_SPIN_H
#define KUGEL_ALT_SPIN_H

#include "alt/alt.h"

enum { KUGEL__SPIN_MOST = 32 }; /* the highest spin: orders below it have tables of their own */

typedef struct kugel__alt_spin {
  kugel_ctx *ctx;
  kugel_alt *ends; /* from (p, p) to values */
  int64_t lmax, mmax, spin;
  int64_t length[2];                  /* steps of the paths */
  const void **path[2];               /* [p][length]: rotations, in the order of lowering */
  const void **own[KUGEL__SPIN_MOST]; /* [m][steps] of orders below s - 1 */
  void *store;
} kugel__alt_spin;

kugel_status kugel__alt_spin_create(kugel_ctx *ctx, int64_t lmax, int64_t mmax, int64_t spin, int64_t n,
                                    const double *theta, kugel__alt_spin **out);
void kugel__alt_spin_destroy(kugel__alt_spin *p); /* may be NULL */

static inline int64_t kugel__alt_spin_base(const kugel__alt_spin *p, int64_t m)
{
  return (m + p->spin) % 2;
}

/* Steps from (p, p) to order m. */
static inline int64_t kugel__alt_spin_steps(const kugel__alt_spin *p, int64_t m)
{
  return kugel__max(m, p->spin) - kugel__alt_spin_base(p, m);
}

/* Whether order m shares the path. */
static inline bool kugel__alt_spin_on_path(const kugel__alt_spin *p, int64_t m)
{
  return m >= p->spin - 1;
}

/* The families of rotations of a plan on a device: both paths, then the orders below s - 1. They are of [2 + KUGEL__SPIN_MOST]. */
int kugel__alt_spin_families(const kugel__alt_spin *p, kugel__poly_rotations *f);

/* On a device: column [mmax + 1][2][lmax + 1] of order m, spin s mirrored and spin -s, k, complex; values [mmax + 1][2][n]. `analysis` and
 * `adjoint` as for kugel__alt_gpu_run. */
kugel_status kugel__alt_spin_gpu_run(const kugel__alt_spin *p, bool analysis, bool adjoint,
                                     const kugel_array *in, const kugel_array *out, kugel_queue *queue);

/* Orders that share a tile: falling, of one parity, from s - 1 on; or one below. Lanes 4 i ... 4 i + 3 belong to order m[i]: a
 * complex right-hand side of spin s, one of spin -s. */
typedef struct kugel__spin_tile {
  const kugel__alt_spin *plan;
  kugel__alt_tile tile;
  int64_t orders, m[KUGEL__TILE_LANES / 4];
} kugel__spin_tile;

int64_t kugel__alt_spin_tiles(const kugel__alt_spin *p, const kugel__sweep_ops *ops);
/* Tile `index` of them, but for its memory: kugel__alt_space_use(&space, at, &t->tile). */
void kugel__alt_spin_tile(const kugel__alt_spin *p, const kugel__sweep_ops *ops, int64_t index,
                          kugel__spin_tile *t);

/* The number of k of order m. */
static inline int64_t kugel__alt_spin_rows(const kugel__alt_spin *p, int64_t m)
{
  return kugel__max(0, p->lmax - kugel__max(m, p->spin) + 1);
}

/* Coefficients column[i][k][4] of order m[i] to values, and back; tile.adjoint as for kugel__alt_up. */
void kugel__alt_spin_up(const kugel__spin_tile *t, double *const *column);
void kugel__alt_spin_down(const kugel__spin_tile *t, double *const *column);

#endif
