/* SPDX-License-Identifier: BSD-3-Clause */
/* Generated functions as text in one of the dialects. */
#ifndef KUGEL_CODEGEN_PRINT_H
#define KUGEL_CODEGEN_PRINT_H

#include "codegen/gen.h"

/* Text that grows; errors are sticky. */
typedef struct kugel__text {
  kugel_ctx *ctx;
  char *data; /* ends with 0 once something was written */
  size_t n, cap;
  kugel_status status;
} kugel__text;

void kugel__text_free(kugel__text *t);
void kugel__text_add(kugel__text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* One table a dialect. In the templates %0, %1, %2 stand for operands. */
typedef struct kugel__dialect {
  const char *name;
  const char *lanes[KUGEL__TYPES], *uniform[KUGEL__TYPES]; /* names of types */
  const char *op[KUGEL__OP_COUNT];                         /* NULL: as in KUGEL__OPS */
  const char *element[KUGEL__TYPES];                       /* what a pointer points to; NULL: as `uniform` */
  const char *load[KUGEL__TYPES], *load_uniform[KUGEL__TYPES]; /* %0 pointer, %1 index */
  const char *store[KUGEL__TYPES];        /* %0 pointer, %1 index, %2 value, %3 of a pair */
  const char *resident;                   /* as function, with the blocks that a multiprocessor is to hold */
  const char *function, *space, *pointer; /* words before a function (%d: threads of a block), before and
                                           * after a pointer's type */
  const char *constant;                   /* before the name of a pointer to constants */
  const char *shared;                     /* declaration of a shared array: type, name, count */
  const char *float_suffix;
} kugel__dialect;

/* Vector-type C of core/simd.h, for the CPU's codelets; kernels, CUDA and OpenCL by the prelude before them.
 */
extern const kugel__dialect kugel__dialect_c, kugel__dialect_device;

/* Appends the function. */
kugel_status kugel__gen_print(kugel__gen *g, const kugel__dialect *dialect, kugel__text *out);
/* The same of a kernel for devices, in the words of docs/kernels.md; frees the generator. */
kugel_status kugel__gen_print_kernel(kugel__gen *g, kugel__text *out);

#endif
