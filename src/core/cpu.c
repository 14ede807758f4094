/* SPDX-License-Identifier: BSD-3-Clause */
/* Instruction-set choice. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "core/base.h"
#include "core/cpu.h"

static const char *const names[] = {"generic", "avx2", "avx512"};

static int detect(void)
{
  int best = KUGEL__GENERIC;
#if defined(__x86_64__) && !defined(KUGEL_GENERIC)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    best = KUGEL__AVX2;
  if (best == KUGEL__AVX2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw"))
    best = KUGEL__AVX512;
#endif
  const char *wish = getenv("KUGEL_ISA");
  for (int i = 0; wish && i < best; i++)
    if (!strcmp(wish, names[i]))
      best = i;
  return best;
}

kugel__isa_id kugel__cpu_isa(void)
{
  static atomic_int chosen = -1;
  int isa = atomic_load_explicit(&chosen, memory_order_relaxed);
  if (isa < 0) { // racing threads find the same answer
    isa = detect();
    atomic_store_explicit(&chosen, isa, memory_order_relaxed);
  }
  return (kugel__isa_id)isa;
}

const char *kugel_isa(void)
{
  return names[kugel__cpu_isa()];
}
