/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a generated function of real and integer values, one lane, without a compiler: the test of the builder
 * and of what is built with it. */
#ifndef KUGEL_CODEGEN_INTERP_H
#define KUGEL_CODEGEN_INTERP_H

#include "codegen/gen.h"

/* One argument, in the order of the parameters. Memory is double whatever the pointer's type is. */
typedef struct kugel__argument {
  int64_t i;    /* I64 */
  double d;     /* F32, F64 */
  double *data; /* pointer */
  int64_t size; /* doubles behind it */
} kugel__argument;

/* KUGEL_EINTERNAL with a sentence for an address out of range, and for a read of memory that holds a NaN:
 * fill what is not yet written with NaN. symbol: the value of every kugel__gen_symbol. */
kugel_status kugel__gen_run(kugel__gen *g, const kugel__argument *arguments, int64_t symbol);

#endif
