/* SPDX-License-Identifier: BSD-3-Clause */
/* Inner loops of stencils: sums of shifted rows, in SIMD lanes. */
#ifndef KUGEL_STENCIL_ROWS_H
#define KUGEL_STENCIL_ROWS_H

#include <stdbool.h>
#include <stdint.h>

enum { KUGEL__STENCIL_TAPS = 96 };

/* acc[x] = (add ? acc[x] : 0) + post[x] sum_k weight[k] each[k][x] from[k][x], x < n; post and each may be NULL: 1. With `finish`
 * that becomes a acc[x] + b p[x] + c q[x] as in kugel__stencil_sum; acc may be p or q. */
typedef struct kugel__stencil_taps {
  int64_t n;
  int count;
  bool add;
  const void *const *from, *const *each;
  const double *weight;
  const void *post;
  void *acc;
  bool finish;
  double a, b, c;
  const void *p, *q;
} kugel__stencil_taps;

/* out[x] = a acc[x] + b p[x] + c q[x]; p and q may be NULL: 0; out may be p or q. */
typedef struct kugel__stencil_sum {
  int64_t n;
  double a, b, c;
  const void *acc, *p, *q;
  void *out;
} kugel__stencil_sum;

typedef struct kugel__stencil_ops {
  void (*taps)(const kugel__stencil_taps *t);
  void (*sum)(const kugel__stencil_sum *s);
} kugel__stencil_ops;

/* By kugel_precision. */
typedef struct kugel__stencil_table {
  kugel__stencil_ops ops[2];
} kugel__stencil_table;

#endif
