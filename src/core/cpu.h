/* SPDX-License-Identifier: BSD-3-Clause */
/* Which instruction set the inner loops use. */
#ifndef KUGEL_CORE_CPU_H
#define KUGEL_CORE_CPU_H

/* Order matters: the environment variable KUGEL_ISA may lower the choice, never raise it. */
typedef enum kugel__isa_id { KUGEL__GENERIC, KUGEL__AVX2, KUGEL__AVX512, KUGEL__ISAS } kugel__isa_id;

/* The ISA in use: detected once, process-wide. */
kugel__isa_id kugel__cpu_isa(void);

/* A table of inner loops once per ISA. KUGEL_DISPATCH(leg_ops) in a .c file declares the variants that x.isa.c
 * defines as `const type ISA_NAME(kugel__leg_ops) = {...};` and makes a function that returns the right one.
 */
#if defined(__x86_64__) && !defined(KUGEL_GENERIC)
#  define KUGEL_DISPATCH(type, name)                                                                         \
    extern const type name##_generic, name##_avx2, name##_avx512;                                            \
    static inline const type *name##_get(void)                                                               \
    {                                                                                                        \
      static const type *const table[] = {&name##_generic, &name##_avx2, &name##_avx512};                    \
      return table[kugel__cpu_isa()];                                                                        \
    }
#else
#  define KUGEL_DISPATCH(type, name)                                                                         \
    extern const type name##_generic;                                                                        \
    static inline const type *name##_get(void)                                                               \
    {                                                                                                        \
      return &name##_generic;                                                                                \
    }
#endif

#endif
