// SPDX-License-Identifier: BSD-3-Clause
// Operators on series in the ball, energies and profiles of series: ball/ladder.c has the matrices, ball/operators.c the operators,
// ball/profiles.c the profiles.
//
// variant: REAL_BITS=64
// variant: REAL_BITS=32

#define ROWS 64 // of a block, which are of one degree: a thread per real and imaginary part
#define THREADS (2 * ROWS)
#define TILE 8            // terms of each row that are in shared memory at once
#define PITCH (2 * TILE + 1) // of a row of a tile, odd: rows are in different banks
#define ENTRIES 8         // of the matrices of a ladder step, per term
#define STEPS 4           // ladder steps of an operator, at most
#define ROOT8 2.8284271247461900976
#if IS_CUDA
#define UNROLL _Pragma("unroll")
#else
#define UNROLL
#endif

// As in ball/operators.h: kinds of ladder steps are bits.
enum { RAISE = 1, LOWER = 2, BY_R = 4, BY_R_DOWN = 5 };
typedef struct ladder_step {
  i32 out, in, shift, ladder, first, sign, p, q, r, pad;
} ladder_step;

typedef struct rows_args {
  i64 in, out, rows; // reals at which the arrays begin; rows of a component
  i64 n, full, top;  // numbers of a row; orders of a degree that has all; a row of degree l has min(n, (top - l) / 2 + 1) terms
} rows_args;
typedef struct ladder_args {
  rows_args of;
  double a, shift;
  i32 ins, outs, back, steps; // back: the transposed operator
  ladder_step step[STEPS];
} ladder_args;
typedef struct energy_args {
  rows_args of;
  i64 lmax;
  i32 axis, first, adds, pad; // axis: 0 degree, 1 order, 2 term; lowest degree that counts
} energy_args;

typedef struct profiles_args {
  rows_args of; // n: numbers of a row
  i32 parts, spin, back, pad;
} profiles_args;

DEVICE i64 first_row(i64 l, i64 full)
{
  return l <= full ? l * (l + 1) / 2 : full * (full + 1) / 2 + (l - full) * full;
}

DEVICE i64 terms_of(i64 l, rows_args t)
{
  i64 most = (t.top - l) / 2 + 1;
  return most < t.n ? most : t.n;
}

// gamma, zeta of polynomial/jacobi.h.
DEVICE double jacobi_gamma(double n, double a, double b)
{
  double s = a + b + 1;
  return n > 0 ? sqrt(2 * (n + b + 1) * (n + s) / ((2 * n + s) * (2 * n + s + 1))) : sqrt(2 * (b + 1) / (s + 1));
}
DEVICE double jacobi_zeta(double n, double a, double b)
{
  return n > 0 ? sqrt(2 * n * (n + a) / ((2 * n + a + b) * (2 * n + a + b + 1))) : 0;
}

// Entry `which` of row i; k: the higher index of the two terms that an element off the diagonal connects.
DEVICE double entry(i32 which, i32 ladder, double a, double b, double i, double k)
{
  if (ladder & BY_R)
    return which == 0 ? jacobi_gamma(i, a, b) : which == 1 ? jacobi_zeta(k, a, b) : 0;
  if (which < 3)
    return which == 0   ? ROOT8 * sqrt(k * (k + a + b + 1))
           : which == 1 ? 1 / jacobi_gamma(i, b + 1, a)
                        : -jacobi_zeta(k, b + 1, a);
  b += ladder & RAISE ? 1 : 0; // after the other
  return which == 3   ? ROOT8 * sqrt((i + b) * (i + a + 1))
         : which == 4 ? 1 / jacobi_gamma(i, b - 1, a)
         : which == 5 ? -jacobi_zeta(k, b - 1, a)
         : which == 6 ? 1 / jacobi_gamma(i, a, b - 1)
                      : jacobi_zeta(k, a, b - 1);
}

DEVICE double power(double x, i32 e)
{
  double y = e == 2 || e == -2 ? x * x : x;
  return e == 0 ? 1 : e < 0 ? 1 / y : y;
}

// All matrices but that of BY_R_DOWN need the terms before in one order: downwards, transposed ones upwards. So terms stream through
// all steps of an operator, in tiles, and what is solved for stays in registers.
KERNEL(THREADS) ladder(GLOBAL const real *x, GLOBAL real *y, ladder_args t)
{
  SHARED double tile[3 * ROWS * PITCH];
  SHARED double table[STEPS * ENTRIES * TILE];
  i64 l = GROUP_ID(1), n = t.of.n, terms = terms_of(l, t.of), before = (i64)GROUP_ID(0) * ROWS;
  i64 rows = (l < t.of.full ? l + 1 : t.of.full) - before, at = first_row(l, t.of.full) + before;
  i64 end = rows > 0 ? n : 0;
  i32 row = LOCAL_ID(0) / 2, part = LOCAL_ID(0) % 2;
  double rest = ROOT8 * (0.5 - t.shift), factor[STEPS], last[STEPS], raised[STEPS], lowered[STEPS], other[STEPS];
  UNROLL for (i32 s = 0; s < STEPS; s++) {
    ladder_step e = t.step[s];
    factor[s] = e.sign * sqrt(power((double)l, e.p) * power((double)l + 1, e.q) * power(2 * (double)l + 1, e.r)) *
                (e.ladder & BY_R ? 0.70710678118654752440 : 1);
    last[s] = raised[s] = lowered[s] = other[s] = 0;
  }
  for (i64 j = 0; j < end; j += TILE) {
    for (i32 e = LOCAL_ID(0); e < t.ins * ROWS * 2 * TILE; e += THREADS) {
      i32 c = e % (2 * TILE), r = e / (2 * TILE) % ROWS, component = e / (2 * TILE * ROWS);
      i64 i = t.back ? j + c / 2 : n - 1 - j - c / 2;
      tile[(component * ROWS + r) * PITCH + c] =
          r < rows && i >= 0 && i < terms ? x[t.of.in + 2 * ((component * t.of.rows + at + r) * n + i) + c % 2] : 0;
    }
    for (i32 e = LOCAL_ID(0); e < t.steps * ENTRIES * TILE; e += THREADS) {
      i32 s = e / (ENTRIES * TILE), kind = t.step[s].ladder, low = kind == BY_R_DOWN;
      i64 i = t.back ? j + e % TILE : n - 1 - j - e % TILE;
      double b = (double)(l + t.step[s].shift - low) + t.shift;
      table[e] = i >= 0 && i < terms && l >= t.step[s].first
                     ? entry(e / TILE % ENTRIES, kind, t.a, b, (double)i, (double)(i + (low ? t.back : !t.back)))
                     : 0;
    }
    BARRIER();
    for (i32 k = 0; k < TILE; k++) {
      IN_SHARED double *mine = tile + row * PITCH + 2 * k + part;
      i64 i = t.back ? j + k + 1 : n - 2 - j - k; // the next term
      double sum[3] = {0, 0, 0};
      UNROLL for (i32 s = 0; s < STEPS; s++)
        if (s < t.steps && l >= t.step[s].first) {
          i32 kind = t.step[s].ladder, from = t.back ? t.step[s].out : t.step[s].in,
              to = t.back ? t.step[s].in : t.step[s].out;
          IN_SHARED const double *c = table + s * ENTRIES * TILE + k;
          double own = mine[from * ROWS * PITCH], v = own, next = 0;
          if (kind == BY_R_DOWN && k + 1 < TILE)
            next = mine[from * ROWS * PITCH + 2];
          if (kind == BY_R_DOWN && k + 1 == TILE && row < rows && i >= 0 && i < terms)
            next = x[t.of.in + 2 * ((from * t.of.rows + at + row) * n + i) + part];
          if (kind & BY_R)
            v = c[0] * own + c[TILE] * (kind == BY_R ? last[s] : next);
          if (!(kind & BY_R) && kind & RAISE && !t.back)
            v = raised[s] = (c[0] * last[s] - c[2 * TILE] * raised[s]) * c[TILE];
          if (kind & LOWER) {
            lowered[s] = ((t.back ? v : c[3 * TILE] * v) - c[5 * TILE] * lowered[s]) * c[4 * TILE];
            other[s] = (v - c[7 * TILE] * other[s]) * c[6 * TILE];
            v = (t.back ? c[3 * TILE] * lowered[s] : lowered[s]) + rest * other[s];
          }
          if (!(kind & BY_R) && kind & RAISE && t.back) {
            double solved = raised[s];
            raised[s] = (v - c[2 * TILE] * solved) * c[TILE];
            v = c[0] * solved;
          }
          last[s] = own;
          UNROLL for (i32 o = 0; o < 3; o++)
            sum[o] += o == to ? factor[s] * v : 0;
        }
      UNROLL for (i32 o = 0; o < 3; o++)
        if (o < t.outs)
          mine[o * ROWS * PITCH] = sum[o];
    }
    BARRIER();
    for (i32 e = LOCAL_ID(0); e < t.outs * ROWS * 2 * TILE; e += THREADS) {
      i32 c = e % (2 * TILE), r = e / (2 * TILE) % ROWS, component = e / (2 * TILE * ROWS);
      i64 i = t.back ? j + c / 2 : n - 1 - j - c / 2;
      if (r < rows && i >= 0 && i < n)
        y[t.of.out + 2 * ((component * t.of.rows + at + r) * n + i) + c % 2] =
            (real)tile[(component * ROWS + r) * PITCH + c];
    }
    BARRIER();
  }
}

// Sums of |c|^2 over what has the block's degree, order or term; order 0 has real parts alone, others count twice.
KERNEL(THREADS) energy(GLOBAL const real *x, GLOBAL double *y, energy_args t)
{
  SHARED double sums[THREADS];
  i64 block = GROUP_ID(0), first = t.axis == 2 ? 0 : block, end = t.axis == 0 ? block + 1 : t.lmax + 1;
  double sum = 0;
  for (i64 l = first > t.first ? first : t.first; l < end; l++) {
    i64 at = first_row(l, t.of.full), most = l < t.of.full ? l + 1 : t.of.full;
    u32 terms = (u32)terms_of(l, t.of), rows = (u32)most; // rows of 2^16 terms, 2^14 of them: their product is a u32
    u32 count = t.axis == 0 ? rows * terms : t.axis == 1 ? terms : block < (i64)terms ? rows : 0;
    for (u32 e = (u32)LOCAL_ID(0); e < count; e += THREADS) {
      i64 m = t.axis == 0 ? e / terms : t.axis == 1 ? block : e, i = t.axis == 0 ? e % terms : t.axis == 1 ? e : block;
      GLOBAL const real *c = x + t.of.in + 2 * ((at + m) * t.of.n + i);
      double re = c[0], im = c[1];
      sum += m ? 2 * (re * re + im * im) : re * re;
    }
  }
  sums[LOCAL_ID(0)] = sum;
  BARRIER();
  for (i32 left = THREADS / 2; left; left /= 2) {
    if (LOCAL_ID(0) < left)
      sums[LOCAL_ID(0)] += sums[LOCAL_ID(0) + left];
    BARRIER();
  }
  if (LOCAL_ID(0) == 0)
    y[t.of.out + block] = (t.adds ? y[t.of.out + block] : 0) + sums[0];
}

// Functions of radius of the series (a, b, c) to those of (u_r, g, c), or of u_-1, u_0, u_1, and back; x may be y. A block has a row.
KERNEL(THREADS) profiles(GLOBAL const real *x, GLOBAL real *y, profiles_args t)
{
  i64 m = GROUP_ID(0), l = GROUP_ID(1), part = 2 * t.of.rows * t.of.n, at = 2 * (first_row(l, t.of.full) + m) * t.of.n;
  double both = 2 * (double)l + 1, A = sqrt((double)l / both), B = sqrt(((double)l + 1) / both);
  double h = 0.70710678118654752440;
  GLOBAL const real *from = x + t.of.in + at;
  GLOBAL real *to = y + t.of.out + at;
  for (i64 i = LOCAL_ID(0); m <= l && i < t.of.n; i += THREADS) {
    double v[6], r[2], g[2], c[2];
    UNROLL for (i32 q = 0; q < 6; q++)
      v[q] = q / 2 < t.parts && !(q % 2 && m == 0 && (!t.back || t.parts == 1)) ? (double)from[q / 2 * part + 2 * i + q % 2] : 0;
    if (t.parts == 3 && !t.back) {
      UNROLL for (i32 e = 0; e < 2; e++) {
        double a = l ? v[e] : 0, b = v[2 + e];
        c[e] = l ? v[4 + e] : 0;
        r[e] = A * a - B * b;
        g[e] = B * a + A * b;
      }
      UNROLL for (i32 e = 0; e < 2; e++) {
        double turned = e ? c[0] : -c[1]; // i c
        v[e] = t.spin ? h * (g[e] - turned) : r[e];
        v[2 + e] = t.spin ? r[e] : g[e];
        v[4 + e] = t.spin ? -h * (g[e] + turned) : c[e];
      }
    }
    if (t.parts == 3 && t.back) {
      UNROLL for (i32 e = 0; e < 2; e++) {
        double sum = e ? v[0] + v[4] : -(v[1] + v[5]); // of i (u_-1 + u_1)
        r[e] = t.spin ? v[2 + e] : v[e];
        g[e] = t.spin ? h * (v[e] - v[4 + e]) : v[2 + e];
        c[e] = t.spin ? h * sum : v[4 + e];
      }
      UNROLL for (i32 e = 0; e < 2; e++) {
        bool there = m || e == 0;
        v[e] = there && l ? A * r[e] + B * g[e] : 0;
        v[2 + e] = !there ? 0 : l ? A * g[e] - B * r[e] : -r[e];
        v[4 + e] = there && l ? c[e] : 0;
      }
    }
    UNROLL for (i32 q = 0; q < 6; q++)
      if (q / 2 < t.parts)
        to[q / 2 * part + 2 * i + q % 2] = (real)v[q];
  }
}
