/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/rng.h"
#include <math.h>

void kugel__philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
  uint32_t x0 = counter[0], x1 = counter[1], x2 = counter[2], x3 = counter[3], k0 = key[0], k1 = key[1];
  for (int round = 0; round < 10; round++) {
    const uint64_t p0 = 0xd2511f53u * (uint64_t)x0, p1 = 0xcd9e8d57u * (uint64_t)x2;
    x0 = (uint32_t)(p1 >> 32) ^ x1 ^ k0;
    x1 = (uint32_t)p1;
    x2 = (uint32_t)(p0 >> 32) ^ x3 ^ k1;
    x3 = (uint32_t)p0;
    k0 += 0x9e3779b9u;
    k1 += 0xbb67ae85u;
  }
  out[0] = x0;
  out[1] = x1;
  out[2] = x2;
  out[3] = x3;
}

void kugel__normal_pair(uint64_t seed, uint64_t a, uint32_t b, uint32_t c, double out[2])
{
  const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
  const uint32_t counter[4] = {(uint32_t)a, (uint32_t)(a >> 32), b, c};
  uint32_t r[4];
  kugel__philox(counter, key, r);
  /* Uniform numbers in (0, 1) on the centres of 2^52 cells, so that the logarithm is finite and not 0. */
  const double u = ((double)((((uint64_t)r[1] << 32) | r[0]) >> 12) + 0.5) * 0x1p-52;
  const double v = ((double)((((uint64_t)r[3] << 32) | r[2]) >> 12) + 0.5) * 0x1p-52;
  const double radius = sqrt(-2 * log(u)), angle = 2 * M_PI * v;
  out[0] = radius * cos(angle);
  out[1] = radius * sin(angle);
}
