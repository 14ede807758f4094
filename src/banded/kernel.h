/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels of banded solves and products, made by the code generator from its routines of level 1
 * (codegen/team.h, codegen/tile.h). A team of threads holds a system, each thread a part of it in registers.
 *
 * Layout ROWS: a block goes through several tiles, or through the panels of systems that are too long to be
 * held at once; while one tile is computed the next one is on its way to shared memory. */
#ifndef KUGEL_BANDED_KERNEL_H
#define KUGEL_BANDED_KERNEL_H

#include "banded/banded.h"
#include "codegen/gen.h"
#include "codegen/module.h"
#include "codegen/team.h"

enum { KUGEL__BANDED_ELEMENTS = 64 }; /* of a part, at most */

/* A recurrence of a kernel. */
typedef enum kugel__banded_stage {
  KUGEL__NO_STAGE,
  KUGEL__PLAIN_STAGE,
  KUGEL__SCALED_STAGE
} kugel__banded_stage;

/* All that a kernel's text depends on; no unset bytes. */
typedef struct kugel__banded_shape {
  int32_t real;              /* kugel__type */
  int32_t product;           /* 1: a product; 0: a solve of the stages forward and backward */
  int32_t forward, backward; /* kugel__banded_stage */
  int32_t lower, upper;      /* of a product: whether there is that diagonal */
  int32_t each;              /* a matrix for each system */
  int32_t q;                 /* elements of a part */
  int32_t threads;           /* of a system: 1 to 32, or whole warps; abreast: a multiple of 32 / abreast */
  int32_t warps;             /* of a block */
  int32_t resident;          /* blocks that a multiprocessor holds */
  int32_t unit;              /* reals that a lane moves at once: 1, or 2 where n is even */
  int32_t period;            /* of the tile's padding */
  int32_t ragged;            /* n is not threads q */
  int32_t held;              /* the thread keeps its numbers of the table in registers */
  int32_t spread;  /* what arrives at a part goes to all its elements at once, by numbers of the table */
  int32_t abreast; /* layout COLUMNS: systems that share each of their warps (codegen/team.h); else 0 */
  int32_t direct;  /* no shared memory between memory and registers: a part is a unit, or cyclic */
  int32_t cyclic;  /* solved by cyclic reduction: thread r of a system has elements r, r + threads ... */
  int32_t panels;  /* a system has several; then threads are 1 or several warps */
} kugel__banded_shape;

/* Systems of a warp. */
static inline int kugel__banded_systems(const kugel__banded_shape *s)
{
  return s->abreast ? s->abreast : s->threads < 32 ? 32 / s->threads : 1;
}
/* Systems that a block holds at once. */
static inline int kugel__banded_held(const kugel__banded_shape *s)
{
  if (s->abreast)
    return 32 * s->warps / s->threads;
  return s->threads > 32 ? 1 : s->warps * kugel__banded_systems(s);
}

/* Numbers of a table that a thread needs: of a solve for each stage the scales (if scaled) and the negative
 * other coefficients of its part, then, if one matrix is all, what kugel__team_scan calls reach, and if spread
 * the products of the coefficients up to each element, or if cyclic the coefficients of all levels; of a product the diagonals, lower, main, upper. The table is [matrices][rows][threads of
 * all panels], two rows as one of pairs unless they are double-double; abreast [rows][threads][matrices]. */
int kugel__banded_rows(const kugel__banded_shape *s);
int kugel__banded_stage_rows(const kugel__banded_shape *s, int stage);
int kugel__banded_reaches(const kugel__banded_shape *s);

/* Chooses the padding for systems of n elements. */
void kugel__banded_pad(kugel__banded_shape *s, int64_t n);
/* Bytes of shared memory of a block. */
int64_t kugel__banded_shared(const kugel__banded_shape *s);

/* Kernels of a plan that calls decide between. Layout ROWS: elements moved one by one or in pairs, and so few
 * of them that the time is that of one system. Layout COLUMNS: columns that do or do not fill a device with a
 * thread each. */
typedef enum kugel__banded_variant {
  KUGEL__BANDED_SINGLES = 0,
  KUGEL__BANDED_PAIRS = 1,
  KUGEL__BANDED_SMALL_SINGLES = 2,
  KUGEL__BANDED_SMALL_PAIRS = 3,
  KUGEL__BANDED_FEW = 0,
  KUGEL__BANDED_MANY = 1,
  KUGEL__BANDED_VARIANTS = 4
} kugel__banded_variant;

/* The kernel for a plan: of solves or products, for a device with `shared` bytes of shared memory. */
void kugel__banded_choose(const kugel_banded *p, bool product, kugel__banded_variant variant, int64_t shared,
                          kugel__banded_shape *s);
/* Whether solves of `batch` systems in rows are small: of a few short systems with one matrix. */
bool kugel__banded_small(const kugel_banded *p, int64_t batch);
/* What the kernel is compiled from; keep the shape until then. */
kugel__module_spec kugel__banded_module(const kugel__banded_shape *s);
/* Writes the kernel's table, of `columns` threads (of all panels). */
kugel_status kugel__banded_fill(const kugel_banded *p, const kugel__banded_shape *s, int64_t columns,
                                void *table);

/* Parameters: in, out, table; U32 batch, U32 n, I64 rounds (tiles or panels that a block goes through), U32
 * step (tiles from one to the next). */
void kugel__banded_build(const kugel__banded_shape *s, kugel_ctx *ctx, kugel__gen *g);

#endif
