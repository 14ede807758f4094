/* SPDX-License-Identifier: BSD-3-Clause */
/* Instruction-set choice. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__)
#  include <cpuid.h>
#endif
#include "core/base.h"
#include "core/cpu.h"

static const char *const names[] = {"generic", "avx2", "avx512"};

#if defined(__x86_64__) && !defined(KUGEL_GENERIC)
/* By CPUID itself, as zig's runtime answers 0 to every __builtin_cpu_supports. Bits: Intel's manual, volume 2, CPUID. */
static int x86_isa(void)
{
  enum { OSXSAVE = 1u << 27, FMA = 1u << 12, AVX2 = 1u << 5, YMM = 0x06, ZMM = 0xe6 };
  const unsigned avx512 = 1u << 16 | 1u << 17 | 1u << 30 | 1u << 31; // F, DQ, BW, VL
  unsigned a, b, c, d, saved, high;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & OSXSAVE) || !(c & FMA))
    return KUGEL__GENERIC;
  __asm__("xgetbv" : "=a"(saved), "=d"(high) : "c"(0)); // the registers that the system saves
  if ((saved & YMM) != YMM || !__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(b & AVX2))
    return KUGEL__GENERIC;
  return (saved & ZMM) == ZMM && (b & avx512) == avx512 ? KUGEL__AVX512 : KUGEL__AVX2;
}
#endif

static int detect(void)
{
  int best = KUGEL__GENERIC;
#if defined(__x86_64__) && !defined(KUGEL_GENERIC)
  best = x86_isa();
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
