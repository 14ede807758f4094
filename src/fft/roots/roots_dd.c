/* SPDX-License-Identifier: BSD-3-Clause */
/* e^{i (a + b)} = e^{ia} e^{ib}: a the nearest multiple of a turn / CELLS, from a table, e^{ib} by Taylor's
 * series. */
#include <pthread.h>
#include "fft/roots/roots_dd.h"

enum { CELL_BITS = 10, CELLS = 1 << CELL_BITS, TERMS = 6 };

static kugel__unit cells[CELLS];             // written once, under cells_once
static kugel__dd sine[TERMS], cosine[TERMS]; // of b^2: (-1)^k / (2 k + 1)!, (-1)^k / (2 k)!
static pthread_once_t cells_once = PTHREAD_ONCE_INIT;

static void make_cells(void)
{
  for (int i = 0; i < CELLS; i++)
    cells[i] = kugel__unit_of(i, CELLS);
  kugel__dd term = dd_from(1);
  for (int k = 0; k < TERMS; k++) {
    cosine[k] = term;
    sine[k] = dd_div(term, dd_from(2 * k + 1));
    term = dd_neg(dd_div(sine[k], dd_from(2 * k + 2)));
  }
}

static kugel__dd polynomial(const kugel__dd *c, kugel__dd x)
{
  kugel__dd sum = c[TERMS - 1];
  for (int k = TERMS - 2; k >= 0; k--)
    sum = dd_add(dd_mul(sum, x), c[k]);
  return sum;
}

static kugel__unit unit(kugel__turn turn)
{
  const kugel__dd two_pi = {0x1.921fb54442d18p+2, 0x1.1a62633145c07p-52};
  uint64_t i = (turn.hi + ((uint64_t)1 << (63 - CELL_BITS))) >> (64 - CELL_BITS);
  kugel__unit a = cells[i % CELLS];
  int64_t rest = (int64_t)(turn.hi - (i << (64 - CELL_BITS))); // of 2^-64 turns, and turn.lo beyond it
  if (rest == 0 && turn.lo == 0)
    return a;
  // 52 bits a part: each is exact
  double high = (double)(rest >> 10) * 0x1p-54;
  double low = (double)((uint64_t)(rest & 1023) << 42 | turn.lo >> 22) * 0x1p-106;
  kugel__dd b = dd_mul(dd_two_sum(high, low), two_pi), b2 = dd_mul(b, b);
  kugel__dd s = dd_mul(polynomial(sine, b2), b), c = polynomial(cosine, b2);
  return (kugel__unit){dd_sub(dd_mul(a.cos, c), dd_mul(a.sin, s)),
                       dd_add(dd_mul(a.sin, c), dd_mul(a.cos, s))};
}

kugel__unit kugel__root_dd(kugel__turn turn)
{
  pthread_once(&cells_once, make_cells);
  return unit(turn);
}

void kugel__roots_dd(kugel__turn start, kugel__turn step, int64_t count, double *out)
{
  pthread_once(&cells_once, make_cells);
  for (int64_t j = 0; j < count; j++) {
    kugel__unit w = unit(kugel__turn_add(start, kugel__turn_times(step, j)));
    kugel__put_dd(out + 4 * j, w.cos, w.sin);
  }
}
