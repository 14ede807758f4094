/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans of associated Legendre transforms, and their stages on a tile whose lanes may be of different orders. */
#ifndef KUGEL_ALT_ALT_H
#define KUGEL_ALT_ALT_H

#include "alt/alt_gpu.h"
#include "polynomial/program.h"
#include "polynomial/systems.h"
#include <kugel/polynomial.h>

enum { KUGEL__ALT_MOST = 16384 };

struct kugel_alt {
  kugel_ctx *ctx;
  kugel__blocks blocks;
  int64_t *sorted; /* [blocks]: even orders, then odd ones, each from the highest */
  bool single, complex;
  size_t word;
  int64_t lmax, n, mmax;
  const void **lowering[2]; /* [q][mmax]: rotations in the order of lowering, even orders, then odd ones */
  void *rotation_store[2];
  /* [m0][q], size x size, size = lmax / 2 + 1: to trigonometric series, and back */
  void *matrix[2][2], *back[2][2];
  void *points[2][2];     /* [m0][q][n][size], of colatitudes of the caller */
  kugel__axis wave[2][2]; /* [m0][analysis] */
  kugel__poly_gpu *gpu;   /* NULL on the CPU */
};

/* The number of degrees m + q, m + q + 2, ... lmax. */
static inline int64_t kugel__alt_rows(int64_t lmax, int64_t m, int q)
{
  return lmax - m - q < 0 ? 0 : (lmax - m - q) / 2 + 1;
}

static inline kugel__alt_view kugel__alt_view_of(kugel_alt *p)
{
  return (kugel__alt_view){.ctx = p->ctx,
                           .blocks = &p->blocks,
                           .single = p->single,
                           .lmax = p->lmax,
                           .n = p->n,
                           .mmax = p->mmax,
                           .matrix = p->matrix,
                           .back = p->back,
                           .points = p->points[0][0] ? p->points : NULL};
}

/* kugel_alt_create, whose chains are those of `chains` on a device. */
kugel_status kugel__alt_make(kugel_ctx *ctx, const kugel_alt_opts *opts, const kugel__alt_chains *chains,
                             kugel_alt **out);

/* A tile of an execution: lane r holds a right-hand side of order m[r]. The orders do not rise, and are all even or all odd. */
typedef struct kugel__alt_tile {
  const kugel_alt *plan;
  const kugel__sweep_ops *ops;
  bool adjoint; /* the transpose of the other direction */
  int64_t lanes, m[KUGEL__TILE_LANES];
  char *x, *y, *values; /* rows as kugel__alt_space says; values [n][width] */
  double *work;         /* of the cosine transforms */
} kugel__alt_tile;

/* Work space of a worker, and a tile in it. */
kugel__space kugel__alt_space(const kugel_alt *plan, const kugel__sweep_ops *ops);
void kugel__alt_space_use(const kugel__space *s, char *at, kugel__alt_tile *t);

/* Coefficients to the values of `tiles` tiles, by synthesis or the adjoint of analysis; and back, by analysis or the adjoint of
 * synthesis. Tiles are all of even or all of odd orders, which do not rise from one to the next; rows[i] are those of tile i. Lane
 * r of rows starts at degree m[r] and has its own number of elements; n of rows is not used. */
void kugel__alt_up(const kugel__alt_tile *t, int tiles, const kugel__rows *rows);
void kugel__alt_down(const kugel__alt_tile *t, int tiles, const kugel__rows *rows);

/* Their ends, between the rows of parity q of the base, order m0 = m[0] % 2, and values: x is added to the values, which are series
 * until waves_up; waves_down makes series of values, then y is what parity q has of them. */
void kugel__alt_series_up(const kugel__alt_tile *t, int tiles, int q);
void kugel__alt_series_down(const kugel__alt_tile *t, int tiles, int q);
void kugel__alt_waves_up(const kugel__alt_tile *t, int tiles);
void kugel__alt_waves_down(const kugel__alt_tile *t, int tiles);

enum {
  KUGEL__ALT_TILES =
      4 /* most tiles that take turns: with their tables they fit into a second cache to lmax = 1023 */
};

/* Tiles that take turns where there are so many in all: fewer where threads would have no work. */
static inline int kugel__alt_turns(int64_t tiles, int threads)
{
  return (int)kugel__max(1, kugel__min(KUGEL__ALT_TILES, tiles / (4 * (int64_t)threads)));
}

#endif
