/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a generated function of real and integer values without a compiler: the test of the builder and of
 * what is built with it. A kernel runs block after block, its threads in step. */
#ifndef KUGEL_CODEGEN_INTERP_H
#define KUGEL_CODEGEN_INTERP_H

#include "codegen/gen.h"

/* One argument, in the order of the parameters. Memory is double whatever the pointer's type is; a
 * double-double has its parts side by side, a pair of them both high parts first. */
typedef struct kugel__argument {
  int64_t i;    /* I64 */
  double d;     /* F32, F64; DD: the high part */
  double *data; /* pointer; pairs are two doubles */
  int64_t size; /* elements behind it */
} kugel__argument;

/* KUGEL_EINTERNAL with a sentence for: an address out of range; a read of memory that holds a NaN (fill what
 * is not yet written with NaN; shared memory starts so); a race: an element of shared memory that one thread
 * writes and another reads or writes without a barrier between, unless both write the same number. symbol:
 * the value of every kugel__gen_symbol. blocks: of a kernel; 1 for a plain function. */
kugel_status kugel__gen_run(kugel__gen *g, const kugel__argument *arguments, int64_t symbol, int64_t blocks);

#endif
