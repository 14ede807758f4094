// SPDX-License-Identifier: BSD-3-Clause
// variant: REAL_BITS=64 SAMPLES=14 PER=2
// variant: REAL_BITS=64 SAMPLES=8 PER=2
// variant: REAL_BITS=32 SAMPLES=14 PER=2
// Radial convolution by spectra of rings, as src/sphere/radial/spectra.h has it, and the ends of this and of the harmonic
// method. SAMPLES of a row of the kernel are held at a time, for PER modes m a thread.

typedef struct row {
  i32 samples, modes, nyquist, shifted; // nyquist: the mode that counts half, -1: none; shifted: by half a sample
} row;

// Eight output pairs, and the rings within reach of any: from first + lane + lo on.
typedef struct group {
  i64 weights; // [count][chunks][SAMPLES][8]
  i32 first, lo, count, chunks, modes, pad;
} group;

typedef struct spectra_args {
  i64 row;
  i32 nrings, npairs, mirrored, staggered, mmax, pad;
} spectra_args;

typedef struct ends_args {
  double least;
  i64 in, out;
  i32 mask, adjoint, divide, pad; // mask: 2: 1 everywhere; divide: 2: by the sum of a constant, 1: by that of the mask
} ends_args;

// First pixel of a ring, pixels, weight.
typedef struct stretch {
  double weight;
  i64 first;
  i32 count, pad;
} stretch;

DEVICE int is_bad(real v)
{
  return !(fabs(v + (real)1.6375e30) > (real)1.6375e25) || isinf(v);
}

// The map without bad pixels, times the rings' weights unless adjoint; or 1 and 0 in place of its values.
KERNEL(256) take(const GLOBAL stretch *RESTRICT stretches, const GLOBAL real *RESTRICT in, GLOBAL double *RESTRICT out,
                 ends_args t)
{
  stretch s = stretches[GROUP_ID(0)];
  for (i32 i = LOCAL_ID(0); i < s.count; i += 256) {
    real v = t.mask == 2 ? (real)1 : in[t.in + s.first + i];
    out[s.first + i] = is_bad(v) ? 0.0 : (t.mask ? 1.0 : (double)v) * (t.adjoint ? 1.0 : s.weight);
  }
}

// After `take` of an adjoint, whose input is divided by the sum of a constant. A kernel of its own: a division is a call,
// which would spill registers.
KERNEL(256) level(const GLOBAL stretch *RESTRICT stretches, const GLOBAL real *RESTRICT seen, GLOBAL double *RESTRICT map,
                  ends_args t)
{
  stretch s = stretches[GROUP_ID(0)];
  for (i32 i = LOCAL_ID(0); i < s.count; i += 256) {
    double v = seen[s.first + i];
    if (fabs(v) > t.least)
      map[s.first + i] /= v;
  }
}

// After the sums: weights of the adjoint, division by the convolved mask, bad pixels.
KERNEL(256) finish(const GLOBAL stretch *RESTRICT stretches, const GLOBAL real *RESTRICT in, GLOBAL real *RESTRICT out,
                   const GLOBAL real *RESTRICT seen, ends_args t)
{
  stretch s = stretches[GROUP_ID(0)];
  for (i32 i = LOCAL_ID(0); i < s.count; i += 256) {
    i64 at = s.first + i;
    int bad = is_bad(in[t.in + at]);
    if (!bad && !t.adjoint && !t.divide)
      continue;
    real v = out[t.out + at];
    if (t.adjoint)
      v *= (real)s.weight;
    int some = t.divide && fabs(seen[at]) > (real)t.least;
    bad = bad || (t.divide == 1 && !some);
    if (some && !bad)
      v /= seen[at];
    out[t.out + at] = bad ? (real)-1.6375e30 : v;
  }
}

// to[l, m] = b[l] from[l, m] to degree lmax, of coefficients to degree `top`; block m.
KERNEL(256) scale(const GLOBAL double *from, i64 top, GLOBAL double *to, const GLOBAL double *RESTRICT b, i64 lmax)
{
  i64 m = GROUP_ID(0), first = m * (2 * lmax + 1 - m) / 2, there = m * (2 * top + 1 - m) / 2;
  for (i64 l = m + LOCAL_ID(0); l <= lmax; l += 256) {
    to[2 * (first + l)] = b[l] * from[2 * (there + l)];
    to[2 * (first + l) + 1] = b[l] * from[2 * (there + l) + 1];
  }
}

#if REAL_BITS == 64
// The factor of sample s of mode m: cos(m (s + shift) 2 pi / samples), twice for s and -s, over the samples.
DEVICE double cosine(row r, i32 m, i32 s, i32 odd)
{
  i32 at = 2 * s + (odd && r.shifted);
  double n = r.samples, turn = (double)m * at, inverse = 1 / n, most = rint(turn * 0.5 * inverse);
  double z = 1.5707963267948966 * ((turn - 2 * n * most) * inverse), q = z * z, v = 1 / 51090942171709440000.0;
  v = 1 / 121645100408832000.0 - v * q;
  v = 1 / 355687428096000.0 - v * q;
  v = 1 / 1307674368000.0 - v * q;
  v = 1 / 6227020800.0 - v * q;
  v = 1 / 39916800.0 - v * q;
  v = 1 / 362880.0 - v * q;
  v = 1 / 5040.0 - v * q;
  v = 1 / 120.0 - v * q;
  v = 1 / 6.0 - v * q;
  v = z - z * q * v; // sin(angle / 2)
  double f = (at == 0 || at == r.samples ? 1.0 : 2.0) * (m == r.nyquist ? 0.5 : 1.0) * inverse;
  return m > r.modes || at > r.samples ? 0.0 : f * (1 - 2 * v * v);
}

DEVICE i64 least(i64 a, i64 b)
{
  return a < b ? a : b;
}

// in, out: [mmax + 1][row][2]: north and south of each pair. A thread has one pair and PER modes; eight threads side by
// side have eight pairs, whose d-th rings lie side by side.
KERNEL_BLOCKS(128, 4) spectra(const GLOBAL group *RESTRICT groups, const GLOBAL row *RESTRICT rows,
                    const GLOBAL double *RESTRICT weights, const GLOBAL real2 *RESTRICT in, GLOBAL real2 *RESTRICT out,
                    spectra_args t)
{
  group g = groups[GROUP_ID(0)];
  i32 lane = LOCAL_ID(0) % 8, m0 = GROUP_ID(1) * 16 * PER + LOCAL_ID(0) / 8;
  if (GROUP_ID(1) * 16 * PER > g.modes)
    return;
  row r = rows[g.first + lane];
  double sum[PER][4];
  for (i32 u = 0; u < PER; u++)
    for (i32 i = 0; i < 4; i++)
      sum[u][i] = 0;
  for (i32 odd = 0; odd <= t.staggered; odd++)
    for (i32 chunk = 0; chunk < g.chunks; chunk++) {
      double c[SAMPLES][PER];
      for (i32 s = 0; s < SAMPLES; s++)
        for (i32 u = 0; u < PER; u++)
          c[s][u] = cosine(r, m0 + 16 * u, chunk * SAMPLES + s, odd);
      for (i32 d = t.staggered && (g.lo & 1) != odd; d < g.count; d += 1 + t.staggered) {
        const GLOBAL double *w = weights + g.weights + ((i64)d * g.chunks + chunk) * SAMPLES * 8 + lane;
        i32 v = g.first + lane + g.lo + d, over = v >= t.npairs, q = over ? t.nrings - 1 - v : v;
        q = q < 0 ? 0 : q < t.npairs ? q : t.npairs - 1; // weights of no ring are zero
        i32 equator = t.mirrored && 2 * q + 1 == t.nrings;
        // All loads first, with no branch between, so that they are waited for together.
        real2 f[PER][2];
        double k[PER], x[SAMPLES];
        for (i32 s = 0; s < SAMPLES; s++)
          x[s] = w[s * 8];
        for (i32 u = 0; u < PER; u++) {
          const GLOBAL real2 *from = in + (least(m0 + 16 * u, t.mmax) * t.row + q) * 2;
          f[u][0] = from[0];
          f[u][1] = from[1];
          k[u] = 0;
        }
        for (i32 s = 0; s < SAMPLES; s++)
          for (i32 u = 0; u < PER; u++)
            k[u] += x[s] * c[s][u];
        for (i32 u = 0; u < PER; u++) {
          real2 north = f[u][0], south = equator ? north : f[u][1];
          sum[u][0] += k[u] * (over ? south.x : north.x);
          sum[u][1] += k[u] * (over ? south.y : north.y);
          sum[u][2] += k[u] * (over ? north.x : south.x);
          sum[u][3] += k[u] * (over ? north.y : south.y);
        }
      }
    }
  for (i32 u = 0; u < PER; u++)
    if (m0 + 16 * u <= t.mmax) {
      GLOBAL real2 *to = out + ((m0 + 16 * u) * t.row + g.first + lane) * 2;
      to[0] = MAKE_REAL2(sum[u][0], sum[u][1]);
      to[1] = MAKE_REAL2(sum[u][2], sum[u][3]);
    }
}
#endif
