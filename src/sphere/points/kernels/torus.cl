// SPDX-License-Identifier: BSD-3-Clause
// Between Legendre sums on rings, circles of the torus, and numbers at points, see sphere/points/points.h.
//
// Rings lie at theta_i = i pi / (rings - 1), both poles included; pair q is ring q and its mirror image. Sums are
// leg[component][order][row][4]: north re, im, south re, im, doubles; circles torus[component][order][circle], real2.
//
// variant: REAL_BITS=64
// variant: REAL_BITS=32

#define BLOCK 256

typedef struct torus_shape {
  i64 rings, circle, npairs, row, orders;
  i64 odd; // a bit per component: 1 if its continuation over the poles has the sign (-1)^(m + 1), 0 if (-1)^m
} torus_shape;

// Circles of an order (x) and a component (y). Sample i is multiplied by (-1)^i, which moves frequency 0 of the FFT to circle / 2,
// where ascending modes have it, and by 2 for orders above 0, which stand for two.
KERNEL(BLOCK) extend(GLOBAL const double *RESTRICT leg, GLOBAL real2 *RESTRICT torus, torus_shape s)
{
  i64 m = GROUP_ID(0), c = GROUP_ID(1), at = c * s.orders + m;
  double weight = m ? 2 : 1, mirror = (m + (s.odd >> c)) % 2 ? -1 : 1;
  for (i64 i = LOCAL_ID(0); i < s.circle; i += BLOCK) {
    i64 ring = i < s.rings ? i : s.circle - i;
    int south = ring >= s.npairs;
    i64 from = (at * s.row + (south ? s.rings - 1 - ring : ring)) * 4 + (south ? 2 : 0);
    double factor = (i < s.rings ? weight : weight * mirror) * (i % 2 ? -1 : 1);
    torus[at * s.circle + i] = MAKE_REAL2((real)(factor * leg[from]), (real)(factor * leg[from + 1]));
  }
}

// The transpose, without the factor 2, which the inner product of alm has. Pairs up to `row` and the south of the equator: 0.
KERNEL(BLOCK) fold(GLOBAL const real2 *RESTRICT torus, GLOBAL double *RESTRICT leg, torus_shape s)
{
  i64 m = GROUP_ID(0), c = GROUP_ID(1), at = c * s.orders + m;
  double mirror = (m + (s.odd >> c)) % 2 ? -1 : 1;
  for (i64 i = LOCAL_ID(0); i < 2 * s.row; i += BLOCK) {
    i64 pair = i / 2, ring = i % 2 ? s.rings - 1 - pair : pair;
    double re = 0, im = 0;
    if (pair < s.npairs && !(i % 2 && ring == pair)) {
      double factor = ring % 2 ? -1 : 1;
      real2 x = torus[at * s.circle + ring];
      re = factor * x.x;
      im = factor * x.y;
      if (ring > 0 && ring < s.rings - 1) {
        x = torus[at * s.circle + s.circle - ring];
        re += factor * mirror * x.x;
        im += factor * mirror * x.y;
      }
    }
    leg[(at * s.row + pair) * 4 + i % 2 * 2] = re;
    leg[(at * s.row + pair) * 4 + i % 2 * 2 + 1] = im;
  }
}

typedef struct values_shape {
  i64 n, at;           // points; first element of the values
  i32 components, f32; // f32: values are floats
  i32 turned, first;   // turned: components first and first + 1 have a direction, which turns with the lens
} values_shape;

DEVICE double value(const GLOBAL void *x, i64 i, int f32)
{
  return f32 ? (double)((const GLOBAL float *)x)[i] : ((const GLOBAL double *)x)[i];
}

DEVICE void put(GLOBAL void *x, i64 i, int f32, double v)
{
  if (f32)
    ((GLOBAL float *)x)[i] = (float)v;
  else
    ((GLOBAL double *)x)[i] = v;
}

DEVICE double real_part(real2 phase, real2 x)
{
  return (double)phase.x * x.x - (double)phase.y * x.y;
}

// values[component][j] = Re phase_j number[component][j], with directions turned by turn_j = (cos, sin).
KERNEL(BLOCK) to_values(GLOBAL const real2 *RESTRICT number, GLOBAL const real2 *RESTRICT phase, GLOBAL const real2 *RESTRICT turn,
                        GLOBAL void *RESTRICT values, values_shape s)
{
  i64 j = GLOBAL_ID(0);
  if (j < s.n) {
    real2 own = phase[j];
    for (i32 c = 0; c < s.components; c++) {
      double x = real_part(own, number[c * s.n + j]);
      if (s.turned && c == s.first) {
        real2 t = turn[j];
        double y = real_part(own, number[(c + 1) * s.n + j]), u = x;
        x = t.x * u - t.y * y;
        put(values, s.at + (c + 1) * s.n + j, s.f32, t.y * u + t.x * y);
      }
      if (!(s.turned && c == s.first + 1))
        put(values, s.at + c * s.n + j, s.f32, x);
    }
  }
}

// The transpose: number[component][j] = conj(phase_j) times the value with its direction turned back.
KERNEL(BLOCK) from_values(GLOBAL const void *RESTRICT values, GLOBAL const real2 *RESTRICT phase, GLOBAL const real2 *RESTRICT turn,
                          GLOBAL real2 *RESTRICT number, values_shape s)
{
  i64 j = GLOBAL_ID(0);
  if (j < s.n) {
    real2 own = phase[j];
    for (i32 c = 0; c < s.components; c++) {
      double x = value(values, s.at + c * s.n + j, s.f32);
      if (s.turned && c >= s.first) {
        real2 t = turn[j];
        int second = c > s.first;
        double y = value(values, s.at + (second ? c - 1 : c + 1) * s.n + j, s.f32);
        x = t.x * x + (second ? -t.y : t.y) * y;
      }
      number[c * s.n + j] = MAKE_REAL2((real)(own.x * x), (real)(-own.y * x));
    }
  }
}
