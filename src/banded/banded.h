/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside of banded plans. Every solve is one or two recurrences
 *
 *   forward   y_i = s_i x_i - a_i y_{i-1},  i = 0 .. n-1
 *   backward  y_i = s_i x_i - a_i y_{i+1},  i = n-1 .. 0
 *
 * with a = 0 at the start: the diagonals of the factors, scaled by their pivots, so that nothing is divided
 * when a plan runs. The lower factor of three diagonals has s = 1. */
#ifndef KUGEL_BANDED_BANDED_H
#define KUGEL_BANDED_BANDED_H

#include "core/array.h"
#include "core/base.h"
#include <kugel/banded.h>

enum {
  KUGEL__PARTITION_SYSTEMS = 6, /* as few systems go by partition on the CPU ... */
  KUGEL__PARTITION_ROWS = 512   /* ... if they are as long */
};
#define KUGEL__SCAN_LIMIT 4.0 /* of info.propagation, for methods that part a system */

/* One recurrence. Arrays [planes][n][width] of the plan's precision, planes = hi and lo of double-double. */
typedef struct kugel__recurrence {
  void *scale; /* NULL: ones */
  void *off;   /* NULL: no such recurrence */
} kugel__recurrence;

/* A recurrence of one matrix with the rows parted into chunks, as arrays [planes][chunk_rows][KUGEL__CHUNKS]:
 * y of a chunk is what it is from nothing before, plus reach times the last y before the chunk. */
typedef struct kugel__partition {
  void *scale, *off, *reach;
} kugel__partition;

typedef struct kugel__banded_gpu kugel__banded_gpu;
typedef struct kugel__pivoted kugel__pivoted; /* pivoted.c */

struct kugel_banded {
  kugel_ctx *ctx;
  kugel_banded_opts opts; /* its pointers are not kept */
  int64_t n, matrices;
  int64_t width;                  /* of the coefficient arrays: 1, or the matrices rounded up to lanes */
  int planes;                     /* 2: double-double */
  size_t word;                    /* bytes of a real number */
  void *lower, *diagonal, *upper; /* of the matrix, [planes][n][width]; NULL: no such diagonal */
  kugel__recurrence forward, backward;
  kugel_banded_info info;
  char reason[240]; /* why not solvable */
  kugel__pivoted
      *pivoted;       /* not NULL: solves use these factors, with rows exchanged, in place of the others */
  int64_t chunk_rows; /* of partitions into KUGEL__CHUNKS; 0: none */
  kugel__partition *parts; /* [matrices][2]: forward, backward */
  kugel__banded_gpu *gpu;  /* NULL on the CPU */
};

/* Fills the coefficient arrays and p->info from the caller's diagonals. */
kugel_status kugel__banded_factorise(kugel_banded *p, const kugel_banded_opts *opts);
/* Factorises again, with exchange of rows, what has three diagonals. bad_row: -1, or the first one without a pivot. */
kugel_status kugel__banded_pivot(kugel_banded *p, int64_t *bad_matrix, int64_t *bad_row);
void kugel__banded_unpivot(kugel_banded *p);
kugel_status kugel__banded_solve_pivoted(const kugel_banded *p, int64_t batch, const void *in, void *out);
/* Fills p->parts, if the plan may solve few systems by partition. */
kugel_status kugel__banded_part(kugel_banded *p);

/* One call: arrays as the caller has them, `batch` systems. */
kugel_status kugel__banded_cpu(const kugel_banded *p, bool solve, int64_t batch, const void *in, void *out);
/* Whether the CPU parts the systems of a call. */
bool kugel__banded_parts(const kugel_banded *p, int64_t batch);

kugel_status kugel__banded_gpu_create(kugel_banded *p);
void kugel__banded_gpu_destroy(kugel_banded *p);
void kugel__banded_gpu_info(const kugel_banded *p, kugel_banded_info *info);
kugel_status kugel__banded_gpu_run(const kugel_banded *p, bool solve, int64_t batch, const kugel_array *in,
                                   const kugel_array *out, kugel_queue *queue);

#endif
