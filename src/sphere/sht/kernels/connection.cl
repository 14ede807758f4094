// SPDX-License-Identifier: BSD-3-Clause
// Coefficients and Fourier coefficients on their way into and out of transforms by connection: connection.c and connection_spin.c say
// what the factors are. Lines are [mmax + 1][lmax + 1] complex numbers of order m and degree l; with spin [mmax + 1][2][lmax + 1], of the
// harmonics of spin s, mirrored, and of spin -s, k = l - max(m, s). Values likewise, at all rings. Products and sums round one
// by one, as those of the CPU do.

typedef struct connection_args {
  i64 alm_at, nalm;      // first coefficient of the first set, coefficients of a set
  i64 coefs_at, row;     // first real of the first map's Fourier coefficients [mmax + 1][row][4], pairs of a row
  double scale;
  i32 lmax, mmax, spin, gradient; // spin 0: scalars
  i32 nrings, npairs, in, f32, accumulate, spare; // in: towards coefficients
} connection_args;

DEVICE double number(GLOBAL const void *x, i64 i, i32 f32)
{
  return f32 ? (double)((GLOBAL const float *)x)[i] : ((GLOBAL const double *)x)[i];
}

DEVICE void store(GLOBAL void *x, i64 i, double v, connection_args t)
{
  if (t.accumulate)
    v += number(x, i, t.f32);
  if (t.f32)
    ((GLOBAL float *)x)[i] = (float)v;
  else
    ((GLOBAL double *)x)[i] = v;
}

KERNEL(128) coefficients(GLOBAL void *alm, GLOBAL double *lines, connection_args t)
{
  const i64 m = GROUP_ID(1), l = m + GLOBAL_ID(0), n = t.lmax + 1, low = max(m, (i64)t.spin), k = l - low;
  const i64 e = 2 * (t.alm_at + m * (2 * t.lmax + 1 - m) / 2 + l), b = e + 2 * t.nalm;
  GLOBAL double *x = lines + 2 * (t.spin ? 2 * m * n + max(k, (i64)0) : m * n + l), *y = x + 2 * n;
  if (l > t.lmax)
    return;
  if (!t.spin && t.in) {
    store(alm, e, x[0], t);
    store(alm, e + 1, m ? x[1] : 0.0, t);
  } else if (!t.spin) {
    x[0] = number(alm, e, t.f32);
    x[1] = m ? number(alm, e + 1, t.f32) : 0.0;
  } else if (t.in) {
    double er = 0, ei = 0, br = 0, bi = 0;
    if (k >= 0) {
      const double sign = k % 2 ? -1.0 : 1.0;
      er = sign * x[0] + y[0];
      ei = sign * x[1] + y[1];
      br = sign * x[1] - y[1];
      bi = y[0] - sign * x[0];
    }
    const double factor = t.gradient ? sqrt((double)l * (double)(l + 1)) : 1.0;
    store(alm, e, MUL_EXACT(factor, er), t);
    store(alm, e + 1, m ? MUL_EXACT(factor, ei) : 0.0, t);
    if (!t.gradient) {
      store(alm, b, br, t);
      store(alm, b + 1, m ? bi : 0.0, t);
    }
  } else if (k >= 0) {
    const double sign = k % 2 ? -1.0 : 1.0, factor = t.gradient ? sqrt((double)l * (double)(l + 1)) : 1.0;
    const double er = MUL_EXACT(factor, number(alm, e, t.f32)), ei = m ? MUL_EXACT(factor, number(alm, e + 1, t.f32)) : 0.0;
    const double br = t.gradient ? 0.0 : number(alm, b, t.f32), bi = t.gradient || !m ? 0.0 : number(alm, b + 1, t.f32);
    x[0] = sign * ADD_EXACT(er, -bi);
    x[1] = sign * ADD_EXACT(ei, br);
    y[0] = ADD_EXACT(er, bi);
    y[1] = ADD_EXACT(ei, -br);
  }
}

// rings: of the north and the south of each pair, -1: there is none.
KERNEL(128) fourier(GLOBAL double *values, GLOBAL double *coefs, GLOBAL const i32 *RESTRICT rings, connection_args t)
{
  const i64 m = GROUP_ID(1), place = GLOBAL_ID(0), map = ((i64)t.mmax + 1) * t.row * 4; // place: of a pair's north or south
  if (place >= 2 * t.npairs)
    return;
  const i32 ring = rings[place];
  GLOBAL double *q = coefs + t.coefs_at + m * t.row * 4 + 2 * place, *u = q + map;
  GLOBAL double *v = values + 2 * ((t.spin ? 2 : 1) * m * t.nrings + max(ring, 0)), *w = v + 2 * t.nrings;
  const double plus = (t.spin ? 0.5 : 1.0) * (m % 2 == (t.spin ? 1 : 0) ? t.scale : -t.scale);
  const double minus = ((m < t.spin ? 0 : m + t.spin) % 2 ? 0.5 : -0.5) * t.scale;
  if (ring < 0) {
    if (!t.in)
      q[0] = q[1] = 0;
    if (!t.in && t.spin)
      u[0] = u[1] = 0;
  } else if (!t.spin) {
    GLOBAL double *from = t.in ? q : v, *to = t.in ? v : q;
    const double re = plus * from[0], im = plus * from[1];
    to[0] = re;
    to[1] = im;
  } else if (t.in) {
    const double qr = q[0], qi = q[1], ur = u[0], ui = u[1];
    v[0] = plus * ADD_EXACT(qr, -ui);
    v[1] = plus * ADD_EXACT(qi, ur);
    w[0] = minus * ADD_EXACT(qr, ui);
    w[1] = minus * ADD_EXACT(qi, -ur);
  } else {
    const double a = MUL_EXACT(plus, v[0]), b = MUL_EXACT(plus, v[1]), c = MUL_EXACT(minus, w[0]), d = MUL_EXACT(minus, w[1]);
    q[0] = ADD_EXACT(a, c);
    q[1] = ADD_EXACT(b, d);
    u[0] = ADD_EXACT(b, -d);
    u[1] = ADD_EXACT(c, -a);
  }
}
