/* SPDX-License-Identifier: BSD-3-Clause */
/* Roots of unity in double-double. */
#include "codegen/value.h"

// sin (odd) or cos of a in [0, pi/4] by Taylor's series.
static kugel__dd series(kugel__dd a, bool odd)
{
  kugel__dd square = dd_neg(dd_mul(a, a)), term = odd ? a : dd_from(1), sum = term;
  for (int k = odd ? 2 : 1; k < 30; k += 2) {
    term = dd_div(dd_mul(term, square), dd_from(k * (k + 1)));
    sum = dd_add(sum, term);
  }
  return sum;
}

kugel__unit kugel__unit_of(int64_t k, int64_t n)
{
  const kugel__dd pi = {0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53};
  int64_t e = (k % n + n) % n * 8; // in units of pi / (4 n), brought into the first octant
  bool down = e > 4 * n;
  e = down ? 8 * n - e : e;
  bool left = e > 2 * n;
  e = left ? 4 * n - e : e;
  bool swap = e > n;
  e = swap ? 2 * n - e : e;
  kugel__dd angle = dd_div(dd_mul_d(pi, (double)e), dd_from(4 * (double)n));
  kugel__dd c = series(angle, false), s = series(angle, true);
  if (e == n) // both sqrt(1/2), and equal
    c = s = dd_sqrt(dd_from(0.5));
  kugel__unit t = swap ? (kugel__unit){s, c} : (kugel__unit){c, s};
  t.cos = left ? dd_neg(t.cos) : t.cos;
  t.sin = down ? dd_neg(t.sin) : t.sin;
  return t;
}
