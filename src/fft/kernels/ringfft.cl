// SPDX-License-Identifier: BSD-3-Clause
// Complex transforms of rings: north + i south. A block holds one transform in ROOM numbers of shared memory (of global
// memory with WORK_GLOBAL). Lengths that are no powers of two are split by r = gcd(n, 4) and go through chirps (Bluestein).
//
// variant: THREADS=64 ROOM=512
// variant: THREADS=512 ROOM=8192
// variant: THREADS=256 ROOM=16384 WORK_GLOBAL=1

#if IS_CUDA
#define UNROLL _Pragma("unroll")
#else
#define UNROLL
#endif
#ifdef WORK_GLOBAL
#define WORK GLOBAL
#define WORK_ROOM GLOBAL real2 *RESTRICT work = scratch + ((i64)GROUP_ID(1) * GROUPS(0) + GROUP_ID(0)) * ROOM
#else
#define WORK IN_SHARED
#define WORK_ROOM SHARED_FROM_LAUNCH(real2, work, ROOM)
#endif

typedef struct ring_job {
  u64 north_hi, north_lo, south_hi, south_lo; // longitude of the first pixel in turns
  i64 north, south;                           // first pixels, -1: none
  i64 at, filter;                             // in the spectra; of the chirp's transform
  i32 pair, n, mlim, flags;                   // flags 1, 2: this job is all of the north, south
} ring_job;

// Unit: job, and the part j2 < r of its output.
typedef struct ring_unit {
  i32 job, part, log2, split; // log2 of the length in work, r
} ring_unit;

typedef struct ring_args {
  i32 first, f32, weighted, check; // blocks serve units from `first` on; check 1: bad pixels count as zero, 2: and are
  i64 map, map_stride, stride;     // counted; first element of the map; to the next map, the next map's spectra
} ring_args;

DEVICE real2 add(real2 a, real2 b) { return MAKE_REAL2(a.x + b.x, a.y + b.y); }
DEVICE real2 sub(real2 a, real2 b) { return MAKE_REAL2(a.x - b.x, a.y - b.y); }
DEVICE real2 mul(real2 a, real2 b) { return MAKE_REAL2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }
DEVICE real2 times_i(real2 a, double sign) { return MAKE_REAL2(-sign * a.y, sign * a.x); }
DEVICE real2 turn(double half_turns) // e^{i pi x}
{
  double s, c;
  SINCOSPI(half_turns, s, c);
  return MAKE_REAL2(c, s);
}

// Neighbours at all power-of-eight distances lie in different banks.
DEVICE int slot(int i) { return i ^ (((i >> 3) ^ (i >> 6) ^ (i >> 9) ^ (i >> 12)) & 7); }

DEVICE void dft4(real2 *a, real2 *b, real2 *c, real2 *d, double sign)
{
  real2 s0 = add(*a, *c), d0 = sub(*a, *c), s1 = add(*b, *d), d1 = times_i(sub(*b, *d), sign);
  *a = add(s0, s1);
  *b = add(d0, d1);
  *c = sub(s0, s1);
  *d = sub(d0, d1);
}

// x[r] = sum_q x[q] e^{sign 2 pi i q r / R}
DEVICE void dft(real2 *x, int radix, double sign)
{
  if (radix == 2) {
    real2 a = x[0];
    x[0] = add(a, x[1]);
    x[1] = sub(a, x[1]);
  } else if (radix == 4)
    dft4(x, x + 1, x + 2, x + 3, sign);
  else {
    const double h = 0.70710678118654752440;
    real2 e[4] = {x[0], x[2], x[4], x[6]}, o[4] = {x[1], x[3], x[5], x[7]};
    dft4(e, e + 1, e + 2, e + 3, sign);
    dft4(o, o + 1, o + 2, o + 3, sign);
    o[1] = MAKE_REAL2(h * (o[1].x - sign * o[1].y), h * (o[1].y + sign * o[1].x));
    o[2] = times_i(o[2], sign);
    o[3] = MAKE_REAL2(h * (-o[3].x - sign * o[3].y), h * (sign * o[3].x - o[3].y));
    UNROLL for (int r = 0; r < 4; r++) {
      x[r] = add(e[r], o[r]);
      x[r + 4] = sub(e[r], o[r]);
    }
  }
}

// One pass of radix R over all sub-transforms of length 2^log2: decimation in frequency (sign -1), or its inverse.
#define PASS(NAME, R, LOG2R)                                                                 \
  DEVICE void NAME(WORK real2 *work, int whole, int log2, double sign, int inverse)          \
  {                                                                                          \
    int part = log2 - LOG2R, count = 1 << (whole - LOG2R);                                   \
    for (int b = LOCAL_ID(0); b < count; b += THREADS) {                                     \
      int p = b & ((1 << part) - 1), first = ((b >> part) << log2) + p;                      \
      real2 x[R], w[R];                                                                      \
      UNROLL for (int q = 0; q < R; q++)                                                     \
        x[q] = work[slot(first + (q << part))];                                              \
      w[1] = turn(sign * 2 * p / (double)(1 << log2));                                       \
      UNROLL for (int q = 2; q < R; q++)                                                     \
        w[q] = mul(w[q / 2], w[q - q / 2]);                                                  \
      if (inverse)                                                                           \
        UNROLL for (int q = 1; q < R; q++)                                                   \
          x[q] = mul(x[q], w[q]);                                                            \
      dft(x, R, sign);                                                                       \
      if (!inverse)                                                                          \
        UNROLL for (int q = 1; q < R; q++)                                                   \
          x[q] = mul(x[q], w[q]);                                                            \
      UNROLL for (int q = 0; q < R; q++)                                                     \
        work[slot(first + (q << part))] = x[q];                                              \
    }                                                                                        \
  }
PASS(pass2, 2, 1)
PASS(pass4, 4, 2)
PASS(pass8, 8, 3)

// Natural order -> digits reversed, e^{-2 pi i jk / 2^log2}; or back, e^{+2 pi i jk / 2^log2}; no factor. Radix 8,
// and first (last) 2 or 4. All threads have filled work.
DEVICE void transform(WORK real2 *work, int log2, int inverse)
{
  int rest = log2 % 3, passes = log2 / 3 + (rest > 0);
  double sign = inverse ? 1 : -1;
  for (int i = 0; i < passes; i++) {
    int k = inverse ? passes - 1 - i : i; // counted from the longest
    if (rest == 0 || k > 0)
      pass8(work, log2, log2 - 3 * k + (rest ? 3 - rest : 0), sign, inverse);
    else if (rest == 1)
      pass2(work, log2, log2, sign, inverse);
    else
      pass4(work, log2, log2, sign, inverse);
    BARRIER();
  }
}
#define forward(work, log2) transform(work, log2, 0)
#define backward(work, log2) transform(work, log2, 1)

// Where forward leaves frequency k.
DEVICE int reversed(int k, int log2)
{
  int rest = log2 % 3, left = log2 - rest, at = (k & ((1 << rest) - 1)) << left;
  for (k >>= rest; left > 0; k >>= 3) {
    left -= 3;
    at |= (k & 7) << left;
  }
  return at;
}

DEVICE double pixel(const GLOBAL void *map, ring_args t, i64 at, GLOBAL i32 *bad)
{
  double v = t.f32 ? (double)((const GLOBAL float *)map)[t.map + at] : ((const GLOBAL double *)map)[t.map + at];
  if (t.check && (!(fabs(v) <= 1.7e308) || fabs(v + 1.6375e30) <= 1.6375e25)) {
    if (t.check == 2)
      ATOMIC_ADD_I32(bad, 1);
    v = 0;
  }
  return v;
}

DEVICE real2 load(ring_job j, const GLOBAL void *map, const GLOBAL double *RESTRICT weight, ring_args t, int i,
                  GLOBAL i32 *bad)
{
  double north = 0, south = 0;
  if (j.north >= 0)
    north = pixel(map, t, j.north + i, bad) * (t.weighted ? weight[2 * j.pair] : 1.0);
  if (j.south >= 0)
    south = pixel(map, t, j.south + i, bad) * (t.weighted ? weight[2 * j.pair + 1] : 1.0);
  return MAKE_REAL2(north, south);
}

DEVICE void store(ring_job j, GLOBAL void *map, const GLOBAL double *RESTRICT weight, ring_args t, int i, real2 z)
{
  if (t.weighted)
    z = MAKE_REAL2(z.x * weight[2 * j.pair], z.y * weight[2 * j.pair + 1]);
  if (t.f32) {
    GLOBAL float *to = (GLOBAL float *)map + t.map + i;
    if (j.north >= 0)
      to[j.north] = (float)z.x;
    if (j.south >= 0)
      to[j.south] = (float)z.y;
  } else {
    GLOBAL double *to = (GLOBAL double *)map + t.map + i;
    if (j.north >= 0)
      to[j.north] = z.x;
    if (j.south >= 0)
      to[j.south] = z.y;
  }
}

// Blocks of another y serve another map. (Arguments of a kernel are not to be changed: OpenCL on CPUs shares them.)
#define NEXT_MAP                          \
  ring_args t = args;                     \
  t.map += GROUP_ID(1) * t.map_stride;    \
  j.at += GROUP_ID(1) * t.stride

// Powers of two: spectrum -> map.
KERNEL(THREADS) direct_synth(const GLOBAL ring_job *RESTRICT jobs, const GLOBAL ring_unit *RESTRICT units,
                             const GLOBAL real2 *RESTRICT spectrum, GLOBAL void *map,
                             const GLOBAL double *RESTRICT weight, GLOBAL real2 *RESTRICT scratch, ring_args args)
{
  WORK_ROOM;
  ring_unit unit = units[args.first + GROUP_ID(0)];
  ring_job j = jobs[unit.job];
  NEXT_MAP;
  for (int k = LOCAL_ID(0); k < j.n; k += THREADS)
    work[slot(reversed(k, unit.log2))] = spectrum[j.at + k];
  BARRIER();
  backward(work, unit.log2);
  for (int i = LOCAL_ID(0); i < j.n; i += THREADS)
    store(j, map, weight, t, i, work[slot(i)]);
}

KERNEL(THREADS) direct_adjoint(const GLOBAL ring_job *RESTRICT jobs, const GLOBAL ring_unit *RESTRICT units,
                               GLOBAL real2 *RESTRICT spectrum, const GLOBAL void *map,
                               const GLOBAL double *RESTRICT weight, GLOBAL i32 *bad, GLOBAL real2 *RESTRICT scratch,
                               ring_args args)
{
  WORK_ROOM;
  ring_unit unit = units[args.first + GROUP_ID(0)];
  ring_job j = jobs[unit.job];
  NEXT_MAP;
  for (int i = LOCAL_ID(0); i < j.n; i += THREADS)
    work[slot(i)] = load(j, map, weight, t, i, bad);
  BARRIER();
  forward(work, unit.log2);
  for (int k = LOCAL_ID(0); k < j.n; k += THREADS)
    spectrum[j.at + k] = work[slot(reversed(k, unit.log2))];
}

// e^{i pi split k^2 / n}
DEVICE real2 chirp(int k, int n, int split, double sign)
{
  u64 p = (u64)k * (u64)k * (u64)split % (u64)(2 * n);
  return turn(sign * (double)p / (double)n);
}

// filter[M]: transform of the conjugate chirp over M, digits reversed, for each unit's job.
KERNEL(THREADS) chirp_filter(const GLOBAL ring_job *RESTRICT jobs, const GLOBAL ring_unit *RESTRICT units,
                             GLOBAL real2 *RESTRICT filter, GLOBAL real2 *RESTRICT scratch, ring_args t)
{
  WORK_ROOM;
  ring_unit unit = units[t.first + GROUP_ID(0)];
  ring_job j = jobs[unit.job];
  int size = 1 << unit.log2, length = j.n / unit.split;
  for (int i = LOCAL_ID(0); i < size; i += THREADS) {
    int k = i < length ? i : size - i;
    real2 v = MAKE_REAL2(0.0, 0.0);
    if (k < length)
      v = chirp(k, j.n, unit.split, -1);
    work[slot(i)] = v;
  }
  BARRIER();
  forward(work, unit.log2);
  for (int i = LOCAL_ID(0); i < size; i += THREADS)
    filter[j.filter + i] = MAKE_REAL2(work[slot(i)].x / size, work[slot(i)].y / size);
}

// work[k] = sum of the split's inputs at k, times the twiddle of the part and the chirp; then the convolution.
#define CHIRPED(INPUT, sign)                                                                       \
  int size = 1 << unit.log2, length = j.n / unit.split;                                            \
  for (int k = LOCAL_ID(0); k < size; k += THREADS) {                                              \
    real2 v = MAKE_REAL2(0.0, 0.0);                                                                \
    if (k < length) {                                                                              \
      for (int q = 0; q < unit.split; q++) {                                                       \
        int at = k + q * length, quarter = unit.part * q * (4 / unit.split) & 3;                   \
        real2 x = INPUT;                                                                           \
        if (quarter & 1)                                                                           \
          x = times_i(x, sign);                                                                    \
        v = quarter & 2 ? sub(v, x) : add(v, x);                                                   \
      }                                                                                            \
      u64 p = ((u64)(2 * unit.part) * (u64)k + (u64)unit.split * (u64)k * (u64)k) % (u64)(2 * j.n); \
      v = mul(v, turn(sign * (double)p / (double)j.n));                                            \
    }                                                                                              \
    work[slot(k)] = v;                                                                             \
  }                                                                                                \
  BARRIER();                                                                                       \
  forward(work, unit.log2);                                                                        \
  for (int k = LOCAL_ID(0); k < size; k += THREADS) {                                              \
    real2 f = filter[j.filter + k];                                                                \
    f.y *= sign;                                                                                   \
    work[slot(k)] = mul(work[slot(k)], f);                                                         \
  }                                                                                                \
  BARRIER();                                                                                       \
  backward(work, unit.log2)

KERNEL(THREADS) chirp_synth(const GLOBAL ring_job *RESTRICT jobs, const GLOBAL ring_unit *RESTRICT units,
                            const GLOBAL real2 *RESTRICT spectrum, const GLOBAL real2 *RESTRICT filter, GLOBAL void *map,
                            const GLOBAL double *RESTRICT weight, GLOBAL real2 *RESTRICT scratch, ring_args args)
{
  WORK_ROOM;
  ring_unit unit = units[args.first + GROUP_ID(0)];
  ring_job j = jobs[unit.job];
  NEXT_MAP;
  CHIRPED(spectrum[j.at + at], 1.0);
  for (int i = LOCAL_ID(0); i < length; i += THREADS)
    store(j, map, weight, t, unit.split * i + unit.part, mul(work[slot(i)], chirp(i, j.n, unit.split, 1)));
}

KERNEL(THREADS) chirp_adjoint(const GLOBAL ring_job *RESTRICT jobs, const GLOBAL ring_unit *RESTRICT units,
                              GLOBAL real2 *RESTRICT spectrum, const GLOBAL real2 *RESTRICT filter,
                              const GLOBAL void *map, const GLOBAL double *RESTRICT weight, GLOBAL i32 *bad,
                              GLOBAL real2 *RESTRICT scratch, ring_args args)
{
  WORK_ROOM;
  ring_unit unit = units[args.first + GROUP_ID(0)];
  ring_job j = jobs[unit.job];
  NEXT_MAP;
  CHIRPED(load(j, map, weight, t, at, bad), -1.0);
  for (int i = LOCAL_ID(0); i < length; i += THREADS)
    spectrum[j.at + unit.split * i + unit.part] = mul(work[slot(i)], chirp(i, j.n, unit.split, -1));
}
