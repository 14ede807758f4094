/* SPDX-License-Identifier: BSD-3-Clause */
/* Value containers of the code generator: a number known when the code is made, with 106 bits, or the name of
 * something known only when the code runs. */
#ifndef KUGEL_CODEGEN_VALUE_H
#define KUGEL_CODEGEN_VALUE_H

#include "core/base.h"
#include "core/dd.h"

typedef enum kugel__type {
  KUGEL__I64,
  KUGEL__U32, /* indices inside a block of threads; never negative */
  KUGEL__F16, /* in memory only: F32 once it is read */
  KUGEL__F32,
  KUGEL__F64,
  KUGEL__DD, /* double-double: operations are words of codegen/kernels/dd.cl */
  KUGEL__C16,
  KUGEL__C32, /* pairs of reals, only as a whole in memory */
  KUGEL__C64,
  KUGEL__CDD,
  KUGEL__TYPES
} kugel__type;
typedef enum kugel__kind { KUGEL__NUMBER, KUGEL__VARIABLE, KUGEL__POINTER } kugel__kind;

typedef struct kugel__val {
  uint8_t kind, type; /* a pointer's type is that of its elements */
  bool uniform; /* the same in every SIMD lane (C) or work item: numbers, sizes, twiddles of the C dialect */
  union {
    int64_t i;    /* number of type I64 */
    kugel__dd d;  /* number of a real type: rounded once, when it is printed */
    uint32_t var; /* index into the generator's variables */
  };
} kugel__val;

typedef struct kugel__cval {
  kugel__val re, im;
} kugel__cval;

static inline kugel__val kugel__int(int64_t i)
{
  return (kugel__val){.kind = KUGEL__NUMBER, .type = KUGEL__I64, .uniform = true, .i = i};
}
/* Real numbers have type F64 until they meet a variable, whose type they take. */
static inline kugel__val kugel__real(kugel__dd d)
{
  return (kugel__val){.kind = KUGEL__NUMBER, .type = KUGEL__F64, .uniform = true, .d = d};
}
static inline bool kugel__is_number(kugel__val a)
{
  return a.kind == KUGEL__NUMBER;
}
/* The type of a pair in memory, and of its parts. */
static inline kugel__type kugel__pair_of(kugel__type real)
{
  return real == KUGEL__F32 ? KUGEL__C32 : real == KUGEL__DD ? KUGEL__CDD : KUGEL__C64;
}
static inline kugel__type kugel__part_of(kugel__type pair)
{
  return pair == KUGEL__C32 ? KUGEL__F32 : pair == KUGEL__CDD ? KUGEL__DD : KUGEL__F64;
}
/* The type of a value read from memory of a type. */
static inline kugel__type kugel__value_of(kugel__type memory)
{
  return memory == KUGEL__F16 ? KUGEL__F32 : memory == KUGEL__C16 ? KUGEL__C32 : memory;
}
/* Bytes of a real in device memory; a pair has twice that. */
static inline int64_t kugel__real_bytes(kugel__type real)
{
  return real == KUGEL__F32 ? 4 : real == KUGEL__DD ? 16 : 8;
}
/* A number that equals x exactly. */
static inline bool kugel__equals(kugel__val a, int x)
{
  if (a.kind != KUGEL__NUMBER)
    return false;
  return a.type <= KUGEL__U32 ? a.i == x : a.d.hi == x && a.d.lo == 0;
}

/* cos and sin(2 pi k / n) to about 104 bits, exact at multiples of an eighth of a turn where they can be. */
typedef struct kugel__unit {
  kugel__dd cos, sin;
} kugel__unit;
kugel__unit kugel__unit_of(int64_t k, int64_t n);

#endif
