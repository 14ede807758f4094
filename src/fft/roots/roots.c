/* SPDX-License-Identifier: BSD-3-Clause */
/* Angles as fractions of a turn; the table of the first quarter. */
#include <math.h>
#include <pthread.h>
#include "core/cpu.h"
#include "fft/roots/roots.h"

KUGEL_DISPATCH(kugel__roots_ops, kugel__roots_ops)

typedef unsigned __int128 u128;

static kugel__root_cell cells[KUGEL__ROOT_CELLS]; // written once, under cells_once
static pthread_once_t cells_once = PTHREAD_ONCE_INIT;

static void make_cells(void)
{
  for (int i = 0; i <= KUGEL__ROOT_CELLS / 2; i++) {
    long double a = M_PI_2l * i / KUGEL__ROOT_CELLS, c = cosl(a), s = sinl(a);
    if (2 * i == KUGEL__ROOT_CELLS)
      c = s = sqrtl(0.5L);
    kugel__root_cell cell = {(double)c, (double)s, 0, 0};
    cell.c_lo = (double)(c - cell.c);
    cell.s_lo = (double)(s - cell.s);
    cells[i] = cell;
    if (i)
      cells[KUGEL__ROOT_CELLS - i] = (kugel__root_cell){cell.s, cell.c, cell.s_lo, cell.c_lo};
  }
}

kugel__turn kugel__turn_ratio(int64_t k, int64_t n)
{
  uint64_t d = (uint64_t)n;
  int64_t r = k % n;
  u128 t = (u128)(uint64_t)(r < 0 ? r + n : r) << 64;
  uint64_t hi = (uint64_t)(t / d);
  t = (t % d) << 64;
  return (kugel__turn){hi, (uint64_t)(t / d)};
}

kugel__turn kugel__turn_radians(double radians)
{
  const uint64_t inverse_hi = 0x28be60db9391054a, inverse_lo = 0x7f09d5f47d4d3770; // 2^128 / (2 pi)
  const uint64_t inverse_lower = 0x36d8a5664f10e410;
  int e;
  int64_t m = (int64_t)ldexp(frexp(fabs(radians), &e), 53);
  e -= 53; // |radians| = m 2^e; turns of m in units of 2^-192, of which 2^e take
  u128 low = (u128)(uint64_t)m * inverse_lower, mid = (u128)(uint64_t)m * inverse_lo + (low >> 64),
       high = (u128)(uint64_t)m * inverse_hi + (mid >> 64);
  uint64_t word[5] = {(uint64_t)low, (uint64_t)mid, (uint64_t)high, (uint64_t)(high >> 64), 0};
  // the fraction is bits [64 - e, 192 - e) of these words
  int shift = 64 - e, at = shift / 64, by = shift % 64;
  uint64_t w[3];
  for (int i = 0; i < 3; i++)
    w[i] = at + i < 5 ? word[at + i] : 0;
  u128 t = by ? ((u128)(w[1] >> by | w[2] << (64 - by)) << 64) | (w[0] >> by | w[1] << (64 - by))
              : ((u128)w[1] << 64) | w[0];
  if (radians < 0)
    t = -t;
  return (kugel__turn){(uint64_t)(t >> 64), (uint64_t)t};
}

void kugel__fft_roots(kugel__turn start, kugel__turn step, int64_t count, double *out, int64_t stride)
{
  pthread_once(&cells_once, make_cells);
  kugel__roots_ops_get()->fill(cells, start, step, count, out, stride);
}

void kugel__roots_at(kugel__turn step, const int64_t *k, int64_t count, double *out, int64_t stride)
{
  pthread_once(&cells_once, make_cells);
  kugel__roots_ops_get()->fill_at(cells, step, k, count, out, stride);
}
