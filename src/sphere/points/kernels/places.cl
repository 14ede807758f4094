// SPDX-License-Identifier: BSD-3-Clause
// Places of points: coordinates of the non-uniform FFT, phases, ends of deflections.
//
// COORD: type of coordinates; NUMBER: type of what is kept.
//
// variant: COORD=double NUMBER=double
// variant: COORD=float NUMBER=float

#define BLOCK 128
#define PI 3.14159265358979323846
#if IS_CUDA
#define MIN_U32(p, v) ((void)atomicMin((p), (v)))
#else
#define MIN_U32(p, v) ((void)atomic_min((p), (v)))
#endif

// 1 / (2 pi) as a sum of two doubles.
#define TURNS 0.15915494309189535
#define TURNS_LOW -9.839338337591243e-18

// torus[j] = (phi, theta), phase[j] = e^{i order phi}; bad[0]: the first point out of range.
KERNEL(BLOCK) place(GLOBAL const COORD *RESTRICT x, GLOBAL double *RESTRICT torus, GLOBAL NUMBER *RESTRICT phase, GLOBAL u32 *bad,
                    i64 n, i64 x_at, double order)
{
  i64 j = GLOBAL_ID(0);
  if (j < n) {
    double theta = (double)x[x_at + 2 * j], phi = (double)x[x_at + 2 * j + 1], c, s;
    if (sizeof(COORD) == 4 && theta == (double)(float)PI) // which is above pi
      theta = PI;
    if (!(theta >= 0 && theta <= PI && phi - phi == 0)) {
      MIN_U32(bad, (u32)j);
      theta = phi = 0;
    }
    torus[2 * j] = phi;
    torus[2 * j + 1] = theta;
    double q = phi * TURNS, low = FMA(phi, TURNS, -q) + phi * TURNS_LOW; // turns, whole ones dropped
    q -= rint(q);
    low -= rint(low);
    double p = order * q, rest = FMA(order, q, -p) + order * low;
    SINCOSPI(2 * ((p - rint(p)) + (rest - rint(rest))), s, c);
    phase[2 * j] = (NUMBER)c;
    phase[2 * j + 1] = (NUMBER)s;
  }
}

// As deflect.c: moved[j] = (theta, phi) at the end of point j's deflection by[0][j], by[1][j]; turn[j]: cos and sin of spin times
// the angle by which directions turn on the way back; bad[1]: the first point with numbers out of range.
KERNEL(BLOCK) deflect(GLOBAL const double *RESTRICT x, GLOBAL const double *RESTRICT by, GLOBAL double *RESTRICT moved,
                      GLOBAL NUMBER *RESTRICT turn, GLOBAL u32 *bad, i64 n, i64 x_at, i64 by_at, double spin)
{
  i64 j = GLOBAL_ID(0);
  if (j < n) {
    double theta = x[x_at + 2 * j], phi = x[x_at + 2 * j + 1], a = by[by_at + j], b = by[by_at + n + j];
    if (!(theta >= 0 && theta <= PI && phi - phi == 0 && fabs(a) <= 1e9 && fabs(b) <= 1e9)) {
      MIN_U32(bad + 1, (u32)j);
      theta = phi = a = b = 0;
    }
    double length = hypot(a, b), angle = 0, to = theta, along = 0;
    if (length > 0) {
      double c = cos(theta), s = sin(theta), cd = cos(length), sd = sin(length);
      a /= length;
      b /= length;
      double qx = cd * s + sd * a * c, qy = sd * b, qz = cd * c - sd * a * s;
      double fx = cd * a * c - sd * s, fy = cd * b, fz = -cd * a * s - sd * c;
      double rho = hypot(qx, qy), ux = rho > 0 ? qx / rho : 1, uy = rho > 0 ? qy / rho : 0;
      double south = (fx * ux + fy * uy) * qz - fz * rho, east = fy * ux - fx * uy;
      to = fmin(atan2(rho, qz), PI);
      along = atan2(uy, ux);
      angle = atan2(b * south - a * east, a * south + b * east);
    }
    moved[2 * j] = to;
    moved[2 * j + 1] = phi + along;
    turn[2 * j] = (NUMBER)cos(spin * angle);
    turn[2 * j + 1] = (NUMBER)sin(spin * angle);
  }
}

// bad: the first point with a value that is not finite, of values[components][n].
KERNEL(BLOCK) check(GLOBAL const void *RESTRICT values, GLOBAL u32 *bad, i64 n, i64 at, i32 components, i32 f32)
{
  i64 j = GLOBAL_ID(0);
  if (j < n)
    for (i32 c = 0; c < components; c++) {
      i64 i = at + c * n + j;
      double v = f32 ? (double)((GLOBAL const float *)values)[i] : ((GLOBAL const double *)values)[i];
      if (!(v - v == 0))
        MIN_U32(bad, (u32)j);
    }
}
