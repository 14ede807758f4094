// SPDX-License-Identifier: BSD-3-Clause
// Double-double numbers for generated kernels: x + y of a pair with |y| <= ulp(x), about 31 digits. Sources: Dekker
// 1971; Hida, Li, Bailey 2001. Sums err by 2^-104 (|a| + |b|), which is what the norm of a transform feels, at half of
// the cost of sums that err by 2^-104 |a + b|. Products that must not fuse with a sum go through MUL_EXACT.
//
// variant: REAL_BITS=64
#if !IS_CUDA
#pragma OPENCL FP_CONTRACT OFF
#elif defined(__HIP__)
#pragma clang fp contract(off)
#endif
typedef real2 dd;
// A complex number in memory: both high parts, both low parts.
typedef struct cdd {
  real2 high, low;
} cdd;
#define MAKE_DD(x, y) MAKE_REAL2(x, y)
#define DD_RE(c) MAKE_DD((c).high.x, (c).low.x)
#define DD_IM(c) MAKE_DD((c).high.y, (c).low.y)
DEVICE cdd make_cdd(dd re, dd im)
{
  cdd c;
  c.high = MAKE_REAL2(re.x, im.x);
  c.low = MAKE_REAL2(re.y, im.y);
  return c;
}
#define MAKE_CDD(re, im) make_cdd((re), (im))

DEVICE dd dd_quick(double a, double b) // |a| >= |b|
{
  double s = a + b;
  return MAKE_DD(s, b - (s - a));
}
DEVICE dd dd_two_sum(double a, double b)
{
  double s = a + b, t = s - a;
  return MAKE_DD(s, (a - (s - t)) + (b - t));
}
DEVICE dd dd_add(dd a, dd b)
{
  dd s = dd_two_sum(a.x, b.x);
  return dd_quick(s.x, s.y + (a.y + b.y));
}
DEVICE dd dd_mul(dd a, dd b)
{
  double p = MUL_EXACT(a.x, b.x);
  return dd_quick(p, FMA(a.x, b.y, FMA(a.y, b.x, FMA(a.x, b.x, -p))));
}
DEVICE dd dd_fma(dd a, dd b, dd c) // a b + c
{
  double p = MUL_EXACT(a.x, b.x);
  dd s = dd_two_sum(c.x, p);
  return dd_quick(s.x, FMA(a.x, b.y, FMA(a.y, b.x, FMA(a.x, b.x, -p))) + (s.y + c.y));
}
DEVICE dd dd_neg(dd a)
{
  return MAKE_DD(-a.x, -a.y);
}
#define DD_ADD(a, b) dd_add((a), (b))
#define DD_SUB(a, b) dd_add((a), dd_neg(b))
#define DD_MUL(a, b) dd_mul((a), (b))
#define DD_NEG(a) dd_neg(a)
#define DD_FMA(a, b, c) dd_fma((a), (b), (c))
#define DD_FMS(a, b, c) dd_fma((a), (b), dd_neg(c))
#define DD_FNMA(a, b, c) dd_fma(dd_neg(a), (b), (c))
#define DD_SHUFFLE(a, lane) MAKE_DD(SHUFFLE((a).x, lane), SHUFFLE((a).y, lane))
#define DD_SHUFFLE_UP(a, n) MAKE_DD(SHUFFLE_UP((a).x, n), SHUFFLE_UP((a).y, n))
#define DD_SHUFFLE_DOWN(a, n) MAKE_DD(SHUFFLE_DOWN((a).x, n), SHUFFLE_DOWN((a).y, n))
