/* SPDX-License-Identifier: BSD-3-Clause */
/* Double-double arithmetic (about 106 bits): an unevaluated sum hi + lo with |lo| <= ulp(hi)/2. Plan-time
 * constants and compensated sums. Source: Dekker 1971; Hida, Li, Bailey 2001. Contraction cannot harm: sums
 * hold no products. */
#ifndef KUGEL_CORE_DD_H
#define KUGEL_CORE_DD_H

#include <math.h>

typedef struct kugel__dd {
  double hi, lo;
} kugel__dd;

static inline kugel__dd dd_two_sum(double a, double b)
{
  double s = a + b, t = s - a;
  return (kugel__dd){s, (a - (s - t)) + (b - t)};
}
static inline kugel__dd dd_quick(double a, double b) /* |a| >= |b| */
{
  double s = a + b;
  return (kugel__dd){s, b - (s - a)};
}
static inline kugel__dd dd_two_prod(double a, double b)
{
  double p = a * b;
  return (kugel__dd){p, fma(a, b, -p)};
}
static inline kugel__dd dd_from(double a)
{
  return (kugel__dd){a, 0};
}
static inline kugel__dd dd_neg(kugel__dd a)
{
  return (kugel__dd){-a.hi, -a.lo};
}
static inline kugel__dd dd_add(kugel__dd a, kugel__dd b)
{
  kugel__dd s = dd_two_sum(a.hi, b.hi), t = dd_two_sum(a.lo, b.lo);
  s = dd_quick(s.hi, s.lo + t.hi);
  return dd_quick(s.hi, s.lo + t.lo);
}
static inline kugel__dd dd_add_d(kugel__dd a, double b)
{
  kugel__dd s = dd_two_sum(a.hi, b);
  return dd_quick(s.hi, s.lo + a.lo);
}
static inline kugel__dd dd_sub(kugel__dd a, kugel__dd b)
{
  return dd_add(a, dd_neg(b));
}
static inline kugel__dd dd_mul(kugel__dd a, kugel__dd b)
{
  kugel__dd p = dd_two_prod(a.hi, b.hi);
  return dd_quick(p.hi, fma(a.hi, b.lo, fma(a.lo, b.hi, p.lo)));
}
static inline kugel__dd dd_mul_d(kugel__dd a, double b)
{
  kugel__dd p = dd_two_prod(a.hi, b);
  return dd_quick(p.hi, fma(a.lo, b, p.lo));
}
static inline kugel__dd dd_div(kugel__dd a, kugel__dd b)
{
  double q0 = a.hi / b.hi;
  kugel__dd r = dd_sub(a, dd_mul_d(b, q0));
  double q1 = r.hi / b.hi;
  r = dd_sub(r, dd_mul_d(b, q1));
  kugel__dd q = dd_quick(q0, q1);
  return dd_add_d(q, r.hi / b.hi);
}
static inline kugel__dd dd_sqrt(kugel__dd a) /* a >= 0 */
{
  if (a.hi <= 0)
    return (kugel__dd){0, 0};
  double x = sqrt(a.hi);
  kugel__dd r = dd_sub(a, dd_two_prod(x, x));
  return dd_quick(x, r.hi / (2 * x));
}
static inline double dd_value(kugel__dd a)
{
  return a.hi + a.lo;
}

#endif
