/* SPDX-License-Identifier: BSD-3-Clause */
/* The blocks of threads that hold the lines of an axis. */
#include <string.h>
#include "fft/cpu/radices.h"
#include "fft/gpu/search.h"
#include "volume/gpu/fused_build.h"

/* In float, on an H200: the fastest of some 24 blocks for each of these lengths. Beside what the FFT takes for them, a whole convolution
 * gains 2 to 14 percent by those there and back (480: 13, 576: 27, 640: 40, 1728: 50), 2 to 12 by those of y, 2 to 7 by those of x. A step
 * of Richardson and Lucy of 100 x 1000 x 1000 voxels takes 8.9 ms in place of 9.2 with the rules below for 200 points there and back,
 * and 7.95 with half as many points per thread for 576 along x, whose last pass holds much besides. */
enum { HALVES = 1, THERE_AND_BACK = 2, ALONG_X = 4 };
static const struct {
  short points, flags, threads, group, resident, stages, radix[4];
} measured[] = {
    {200, THERE_AND_BACK, 20, 16, 3, 3, {10, 10, 2}},
    {288, THERE_AND_BACK, 24, 16, 3, 3, {8, 6, 6}},
    {320, THERE_AND_BACK | HALVES, 20, 16, 3, 2, {20, 16}},
    {360, THERE_AND_BACK | HALVES, 20, 16, 3, 2, {20, 18}},
    {480, THERE_AND_BACK | HALVES, 40, 8, 3, 3, {4, 12, 10}},
    {540, THERE_AND_BACK | HALVES, 45, 8, 3, 3, {6, 6, 15}},
    {576, THERE_AND_BACK | HALVES, 48, 8, 3, 3, {8, 6, 12}},
    {640, THERE_AND_BACK | HALVES, 64, 8, 2, 3, {8, 8, 10}},
    {800, THERE_AND_BACK | HALVES, 40, 16, 1, 3, {8, 10, 10}},
    {900, THERE_AND_BACK, 90, 4, 3, 3, {6, 15, 10}},
    {960, THERE_AND_BACK | HALVES, 64, 8, 2, 3, {8, 8, 15}},
    {1080, THERE_AND_BACK | HALVES, 120, 8, 1, 3, {12, 10, 9}},
    {1152, THERE_AND_BACK, 96, 4, 3, 3, {8, 12, 12}},
    {1280, THERE_AND_BACK, 128, 4, 2, 3, {8, 16, 10}},
    {1568, THERE_AND_BACK | HALVES, 112, 8, 1, 3, {8, 14, 14}},
    {1600, THERE_AND_BACK | HALVES, 80, 8, 1, 4, {4, 4, 10, 10}},
    {1728, THERE_AND_BACK, 108, 4, 2, 3, {6, 18, 16}},
    {2100, THERE_AND_BACK, 105, 4, 2, 3, {21, 10, 10}},
    {2160, THERE_AND_BACK, 144, 4, 2, 3, {8, 18, 15}},
    {288, HALVES, 18, 16, 4, 2, {16, 18}},
    {320, HALVES, 20, 16, 3, 2, {16, 20}},
    {480, HALVES, 40, 8, 3, 3, {4, 12, 10}},
    {540, HALVES, 45, 8, 3, 3, {6, 6, 15}},
    {640, 0, 80, 8, 3, 3, {8, 8, 10}},
    {800, HALVES, 50, 8, 2, 3, {8, 10, 10}},
    {960, HALVES, 64, 8, 2, 3, {8, 8, 15}},
    {1080, 0, 90, 8, 2, 3, {6, 12, 15}},
    {1152, 0, 96, 4, 3, 3, {6, 12, 16}},
    {1280, 0, 80, 4, 3, 3, {8, 8, 20}},
    {1440, 0, 90, 4, 3, 3, {8, 10, 18}},
    {1568, 0, 224, 4, 2, 4, {8, 7, 7, 4}},
    {1600, 0, 100, 4, 2, 3, {8, 10, 20}},
    {1728, 0, 108, 4, 2, 3, {9, 8, 24}},
    {2100, 0, 140, 4, 2, 3, {7, 15, 20}},
    {2160, 0, 144, 4, 2, 3, {8, 18, 15}},
    {540, ALONG_X, 60, 1, 0, 3, {9, 12, 5}},
    {576, ALONG_X, 48, 2, 0, 3, {12, 12, 4}},
    {784, ALONG_X, 56, 4, 0, 3, {7, 16, 7}},
    {1050, ALONG_X, 75, 4, 0, 3, {5, 15, 14}},
    {1080, ALONG_X, 120, 1, 0, 3, {9, 10, 12}},
    {1152, ALONG_X, 96, 1, 0, 3, {12, 12, 8}},
};

static bool as_measured(kugel__block *b, bool across, bool product)
{
  int flags = (across ? 0 : ALONG_X) | (product ? THERE_AND_BACK : 0);
  for (size_t i = 0; i < sizeof measured / sizeof *measured; i++)
    if (measured[i].points == b->m && (measured[i].flags & ~HALVES) == flags) {
      b->threads = measured[i].threads;
      b->group = measured[i].group;
      b->resident = measured[i].resident;
      b->stages = measured[i].stages;
      b->halves = measured[i].flags & HALVES;
      memset(b->radix, 0, sizeof b->radix);
      for (int k = 0; k < b->stages; k++)
        b->radix[k] = measured[i].radix[k];
      return true;
    }
  return false;
}

/* The block's stages by so many lines, each with the fewest threads that have `points` points at most; as many blocks per
 * multiprocessor, three at most, as leave a thread registers for its points. */
static bool lines_of(kugel__block *b, int lines, int points, uint64_t shared)
{
  enum { OTHERS = 18 }; // registers for other things than points
  b->group = lines;
  for (b->threads = (int)((b->m + points - 1) / points); b->threads <= 1024 / lines; b->threads++)
    if (kugel__block_most_points(b) <= points)
      break;
  int64_t bytes = kugel__block_shared(b) * kugel__block_real_bytes(b),
          registers = (int64_t)b->threads * lines * (2 * kugel__block_most_points(b) + OTHERS);
  for (b->resident = 3; b->resident > 1; b->resident--)
    if (b->resident * registers <= KUGEL__SM_REGISTERS && b->resident * bytes <= (int64_t)shared)
      break;
  return b->threads <= 1024 / lines && bytes <= (int64_t)shared;
}

/* Across, in float. There and back: 16 lines, 128 bytes of each point, with so few points per thread that a multiprocessor has two
 * blocks, of which one computes while the other waits for memory; of longer lines 8 or 4, for the same reason. */
static void few_points(kugel__block *b, bool product, uint64_t shared)
{
  enum { POINTS = 16, MORE = 20, LONG = 1024 };
  kugel__block c = *b;
  kugel__radices radices = kugel__radices_fewest(c.m);
  memset(c.radix, 0, sizeof c.radix);
  for (c.stages = 0; c.stages < radices.count; c.stages++)
    c.radix[c.stages] = (int)radices.radix[c.stages];
  bool fits = false;
  for (int lines = 16; lines >= 8 && product && c.m > 1 && !fits; lines /= 2) {
    c.halves = lines == 8 && c.stages > 1;
    fits = lines_of(&c, lines, POINTS, shared) && c.resident > 1;
  }
  c.resident = fits && c.group == 16 ? 2 : c.resident;
  if (!fits && c.m > LONG) {
    c.halves = false;
    fits = lines_of(&c, 4, product ? POINTS : MORE, shared);
  }
  if (fits)
    *b = c;
}

bool kugel__fused_fit(int64_t points, kugel__type real, bool across, bool product, uint64_t shared,
                      kugel__block *out)
{
  kugel__block b;
  if (points > 1 << 16 || !kugel__block_fit(points, real, shared, &b) || b.m != points ||
      b.how != KUGEL__BLOCK_PLAIN)
    return false;
  b.flat = false; // none of its shortcuts
  b.stream = false;
  b.spectrum = product;
  if (across) {
    b.spectrum = 0; // as it was measured
    kugel__block_across(&b, true, shared);
    b.spectrum = product;
  }
  if (real == KUGEL__F32 && !as_measured(&b, across, product) && across)
    few_points(&b, product, shared);
  if (b.how != KUGEL__BLOCK_PLAIN || b.m != points)
    return false;
  uint64_t size = (uint64_t)kugel__real_bytes(real);
  while (b.group > 1 && (uint64_t)kugel__block_shared(&b) * size > shared)
    b.group /= 2;
  *out = b;
  return (uint64_t)kugel__block_shared(&b) * size <= shared;
}
