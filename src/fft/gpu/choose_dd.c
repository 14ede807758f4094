/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks of double-double kernels. They compute, rather than move: a complex number takes eight registers and
 * a butterfly hundreds of operations. So threads hold one butterfly of at most 13 points each, or as many
 * small ones as fill its place, and a block has at most 512 threads. */
#include "fft/gpu/block_build.h"
#include "fft/gpu/choose_dd.h"
#include "fft/cpu/radices.h"

enum { POINTS = 24 /* of a thread */, THREADS = 512 /* of a block */, WANTED = 128, REGISTERS = 49152 };

// Radices 8, 6, 4, 2 and primes to 13, largest first; false if n has larger primes.
static bool factor(int64_t n, kugel__block *b)
{
  int count[14] = {0}, largest[] = {13, 11, 8, 7, 6, 5, 4, 3, 2};
  for (int p = 2; p <= 13; p++)
    for (; n % p == 0; n /= p) // only primes divide
      count[p]++;
  if (n > 1)
    return false;
  count[8] = count[2] / 3;
  count[2] %= 3;
  if (count[2] == 1 && count[3]) {
    count[6] = 1;
    count[3]--;
    count[2] = 0;
  } else if (count[2] == 1 && count[8]) {
    count[4] = 2; // 4 times 4 rather than 8 times 2
    count[8]--;
    count[2] = 0;
  } else if (count[2] == 2) {
    count[4] = 1;
    count[2] = 0;
  }
  b->stages = 0;
  for (size_t i = 0; i < sizeof largest / sizeof *largest; i++)
    for (int k = 0; k < count[largest[i]]; k++) {
      if (b->stages == KUGEL__BLOCK_STAGES)
        return false;
      b->radix[b->stages++] = largest[i];
    }
  if (!b->stages)
    b->radix[b->stages++] = 1;
  return true;
}

static bool is_prime(int64_t n)
{
  for (int64_t f = 2; f * f <= n; f++)
    if (n % f == 0)
      return false;
  return n > 1;
}

static bool fits(const kugel__block *b, uint64_t shared)
{
  for (int i = 0; i < b->stages; i++) {
    int points = kugel__block_rounds(b, i) * b->radix[i];
    if (points > POINTS || 8 * points * b->threads * b->group > REGISTERS)
      return false;
  }
  kugel__block whole = *b; // some ends need both parts
  whole.halves = false;
  return b->threads * b->group <= THREADS &&
         (uint64_t)(kugel__block_shared(&whole) * kugel__real_bytes(b->real)) <= shared;
}

bool kugel__block_fit_dd(int64_t n, uint64_t shared, kugel__block *out)
{
  kugel__block b = {.real = KUGEL__DD, .n = n, .m = n, .group = 1, .flat = true}, rader = b;
  b.line = kugel__line_of(KUGEL_FFT_C2C, false, n);
  if (n > THREADS * POINTS)
    return false;
  if (!factor(n, &b)) {
    b.spectrum = 1;
    bool prime = is_prime(n) && factor(n - 1, &rader);
    b.how = prime ? KUGEL__BLOCK_RADER : KUGEL__BLOCK_BLUESTEIN;
    b.m = prime ? n - 1 : kugel__radices_above(2 * n - 1);
    b.chirp = prime ? 0 : n;
    b.in.chirp = b.out.chirp = !prime;
    if (!factor(b.m, &b))
      return false;
  }
  b.threads = (int)(b.m / b.radix[0]);
  while (2 * b.group * b.threads <= WANTED)
    b.group *= 2;
  while (b.group > 1 && !fits(&b, shared))
    b.group /= 2;
  if (!fits(&b, shared))
    return false;
  b.halves = b.stages > 1 && kugel__block_shared(&b) * kugel__real_bytes(b.real) > 49152;
  *out = b;
  return true;
}

void kugel__block_across_dd(kugel__block *b, bool in, uint64_t shared)
{
  enum { LINES = 8 };                                // neighbouring ones, 32 bytes each
  b->in.across = in || b->how == KUGEL__BLOCK_RADER; // whose threads keep their seats
  b->out.across = true;
  b->flat = false;
  b->halves = false;
  for (b->group = LINES; b->group > 1 && (b->group * b->threads > THREADS / 2 || !fits(b, shared));)
    b->group /= 2;
  b->halves = b->stages > 1 && kugel__block_shared(b) * kugel__real_bytes(b->real) > 49152;
}
