// SPDX-License-Identifier: BSD-3-Clause
// Between Fourier coefficients of ring pairs, leg[m][row]: north re, im, south re, im, and spectra of rings, north + i
// south. Orders beyond the Nyquist frequency fold into the spectrum exactly. A block serves four jobs and 32 numbers.

typedef struct ring_job { // as in ringfft.cl
  u64 north_hi, north_lo, south_hi, south_lo;
  i64 north, south;
  i64 at, filter;
  i32 pair, n, mlim, flags;
} ring_job;

typedef struct fold_args {
  i32 jobs, row;
  i64 leg, leg_stride, stride; // first element; to the next map's, the next map's spectra
} fold_args;

// e^{sign 2 pi i m (hi + lo 2^-64) 2^-64}
DEVICE real2 phase(u64 hi, u64 lo, int m, double sign)
{
  u64 t = hi * (u64)m + (((lo >> 32) * (u64)m) >> 32);
  double s, c;
  SINCOSPI(sign * ((double)(i64)t * 0x1p-63), s, c);
  return MAKE_REAL2(c, s);
}

DEVICE real2 mul(real2 a, real2 b) { return MAKE_REAL2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }

// units: first job, first number.
KERNEL(128) fold(const GLOBAL ring_job *RESTRICT jobs, const GLOBAL i32 *RESTRICT units,
                 const GLOBAL real2 *RESTRICT leg, GLOBAL real2 *RESTRICT spectrum, fold_args args)
{
  int at = units[2 * GROUP_ID(0)] + LOCAL_ID(0) % 4, k = units[2 * GROUP_ID(0) + 1] + LOCAL_ID(0) / 4;
  if (at >= args.jobs)
    return;
  ring_job j = jobs[at];
  fold_args t = args;
  j.at += GROUP_ID(1) * t.stride; // blocks of another y serve another map
  t.leg += GROUP_ID(1) * t.leg_stride;
  if (2 * k > j.n)
    return;
  real2 north = MAKE_REAL2(0.0, 0.0), south = north;
  for (int side = 0; side < 2; side++)
    for (int m = side ? j.n - k : k; m <= j.mlim; m += j.n) {
      i64 from = t.leg + 2 * ((i64)m * t.row + j.pair);
      double sign = side ? -1 : 1;
      if (j.north >= 0) {
        real2 v = mul(leg[from], phase(j.north_hi, j.north_lo, m, 1));
        north = MAKE_REAL2(north.x + v.x, north.y + sign * v.y);
      }
      if (j.south >= 0) {
        real2 v = mul(leg[from + 1], phase(j.south_hi, j.south_lo, m, 1));
        south = MAKE_REAL2(south.x + v.x, south.y + sign * v.y);
      }
    }
  spectrum[j.at + k] = MAKE_REAL2(north.x - south.y, north.y + south.x);
  if (k > 0 && 2 * k < j.n)
    spectrum[j.at + j.n - k] = MAKE_REAL2(north.x + south.y, south.x - north.y);
}

KERNEL(128) unfold(const GLOBAL ring_job *RESTRICT jobs, const GLOBAL i32 *RESTRICT units,
                   const GLOBAL real2 *RESTRICT spectrum, GLOBAL real2 *RESTRICT leg, fold_args args)
{
  int at = units[2 * GROUP_ID(0)] + LOCAL_ID(0) % 4, m = units[2 * GROUP_ID(0) + 1] + LOCAL_ID(0) / 4;
  if (at >= args.jobs)
    return;
  ring_job j = jobs[at];
  fold_args t = args;
  j.at += GROUP_ID(1) * t.stride; // blocks of another y serve another map
  t.leg += GROUP_ID(1) * t.leg_stride;
  if (m > j.mlim)
    return;
  int k = m % j.n;
  real2 z = spectrum[j.at + k], y = spectrum[j.at + (k ? j.n - k : 0)];
  real2 north = MAKE_REAL2(0.5 * (z.x + y.x), 0.5 * (z.y - y.y)), south = MAKE_REAL2(0.5 * (z.y + y.y), 0.5 * (y.x - z.x));
  i64 to = t.leg + 2 * ((i64)m * t.row + j.pair);
  if (j.flags & 1) {
    if (j.north < 0)
      north = MAKE_REAL2(0.0, 0.0);
    leg[to] = mul(north, phase(j.north_hi, j.north_lo, m, -1));
  }
  if (j.flags & 2) {
    if (j.south < 0)
      south = MAKE_REAL2(0.0, 0.0);
    leg[to + 1] = mul(south, phase(j.south_hi, j.south_lo, m, -1));
  }
}
