// SPDX-License-Identifier: BSD-3-Clause
// Coefficients of the two-step recurrence: a_k = (-1)^k alpha_k^2 and b_k = -a_k (eps_{l+2}^2 + eps_{l+1}^2),
// l = m + 2 k (Ishioka, J. Meteor. Soc. Japan 96 (2018)), where alpha_0^2 = 1 / eps_1^2 and
// alpha_{k+1}^2 = 1 / (eps_{l+2}^2 eps_{l+3}^2 alpha_k^2). A product of thousands of factors: in double-double.
//
// words: codegen/dd
// variant:
// variant: LISTED=1

// The quotient of two whole numbers below 2^53.
DEVICE dd ratio(double a, double b)
{
  double q = a / b;
  return MAKE_DD(q, FMA(-q, b, a) / b);
}

// eps^2 of degree l = m + i, or its inverse: i (l + m) over (2 l - 1) (2 l + 1).
DEVICE dd eps_squared(double i, double m, int inverse)
{
  double l = m + i, up = i * (l + m), down = (2 * l - 1) * (2 * l + 1);
  return inverse ? ratio(down, up) : ratio(up, down);
}

// 1 / x from an approximation, by one step of Newton.
DEVICE dd inverse_of(dd x)
{
  double r = 1 / x.x;
  double error = FMA(-r, x.y, FMA(-r, x.x, 1.0));
  return dd_quick(r, r * error);
}

// One thread an order: those of the longest series begin first.
#if LISTED
#include "sphere/legendre/kernels/orders.h.cl"
#define RANKS , i32 rank, i32 size
#define ORDER(slot) order_of(slot, rank, size)
#else
#define RANKS
#define ORDER(slot) (slot)
#endif
KERNEL(32) recurrences(const GLOBAL i64 *RESTRICT offset, GLOBAL real2 *RESTRICT coef, i32 orders RANKS)
{
  int slot = (int)GLOBAL_ID(0), m = ORDER(slot);
  if (slot >= orders)
    return;
  i64 first = offset[slot];
  int n = (int)(offset[slot + 1] - first);
  dd one = eps_squared(1, m, 0), square = eps_squared(1, m, 1);
  for (int k = 0; k < n; k++) {
    dd two = eps_squared(2 * k + 2, m, 0), three = eps_squared(2 * k + 3, m, 0);
    dd b = dd_mul(square, dd_add(two, one));
    double sign = k % 2 ? -1.0 : 1.0;
    coef[first + k] = MAKE_REAL2(sign * square.x, -sign * b.x);
    square = inverse_of(dd_mul(dd_mul(two, three), square));
    one = three;
  }
}
