// SPDX-License-Identifier: BSD-3-Clause
// Couplings of the degrees of masked fields, sphere/spectra/coupling.h has the formulas: diagonals of the matrices,
// xi[mask][family][d - first][stride], which diagonals.cl sums up. ODD: the family MINUS, else the others.
//
// variant: S1=2 S2=2 FAMILIES=15 ODD=0
// variant: S1=2 S2=2 FAMILIES=15 ODD=1
// variant: S1=0 S2=0 FAMILIES=1 ODD=0
// variant: S1=0 S2=2 FAMILIES=2 ODD=0
// variant: S1=1 S2=3 FAMILIES=15 ODD=0
// variant: S1=5 S2=4 FAMILIES=12 ODD=1

#if IS_CUDA
#define UNROLL _Pragma("unroll")
#else
#define UNROLL
#endif

#define SPINS (FAMILIES & 14)
#define TWO (S2 == 2 && (S1 == 2 || !(FAMILIES & 12))) // polynomials are squares of x - 1 and of x - 2
#define THREADS 128
#if TWO || !SPINS
#define DIAGONALS 4 // of a block
#define DEGREES 2   // of a thread
#else
#define DIAGONALS 1
#define DEGREES 1
#endif
#define WIDTH (THREADS * DEGREES)
#define CHUNK 32 // terms whose tables are in shared memory at once
#define MOST (S1 > S2 ? S1 : S2)
#define FAMILY_COUNT ((FAMILIES & 1) + (FAMILIES >> 1 & 1) + (FAMILIES >> 2 & 1) + (FAMILIES >> 3 & 1))

typedef struct tile_args {
  i64 lmax, lmax_mask;
  i64 first, count, stride, mask; // mask: of the first block
} tile_args;

// C_m^2, m < MOST
DEVICE double squared(double a, double b, i32 m) { return (a - (double)(m * (m + 1))) * (b - (double)(m * (m + 1))); }

// Q_s, or that of odd l + l' + k. TWO: 2 Q_2 of x - 1, and 2 Q_2 of x - 2.
DEVICE double polynomial(i32 s, double x, double a, double b)
{
#if TWO
  if (s == 2)
    return ODD ? x : FMA(x, x, a); // a: -(1 + 2 C_0^2)
#endif
  double before = ODD ? 0 : 1, q = ODD ? -0.5 : -0.5 * x;
  for (i32 m = 1; m < s; m++) {
    double next = -(x - (double)(2 * m * m)) * q - squared(a, b, m - 1) * before;
    before = q;
    q = next;
  }
  return s ? q : before;
}

// 1 / (C_0 ... C_{s-1}); no harmonics below the spin
DEVICE double norm(i32 s, i64 l, double a, double b)
{
  double d = 1;
  for (i32 m = 0; m < s; m++)
    d *= squared(a, b, m);
  return l < s ? 0 : 1 / sqrt(d);
}

// tables: p(j), 2 j p(j), j <= lmax; r(g), 2 (g + 1) r(g), g <= 2 lmax; (2 k + 1) / 4 pi times the spectrum, k <= lmax_mask, of each
// mask. A block has WIDTH degrees, the highest first, DIAGONALS diagonals, one mask.
KERNEL(THREADS) tiles(GLOBAL const double *RESTRICT tables, GLOBAL double *RESTRICT xi, tile_args t)
{
  SHARED double p[WIDTH + CHUNK];
  SHARED double r[WIDTH + CHUNK + DIAGONALS];
  SHARED real2 terms[CHUNK * DIAGONALS]; // factor, k (k + 1)
  i64 n = t.lmax + 1, twice = 2 * t.lmax + 1, z = GROUP_ID(2);
  i64 l0 = (i64)(GROUPS(0) - 1 - GROUP_ID(0)) * WIDTH, d0 = t.first + (i64)GROUP_ID(1) * DIAGONALS;
  GLOBAL const double *w = tables + 2 * (n + twice) + (t.mask + z) * (t.lmax_mask + 1);
  double lam[DEGREES][DIAGONALS], a[DEGREES][DIAGONALS], sum[3][DEGREES][DIAGONALS];
  for (i32 g = 0; g < DEGREES; g++)
    for (i32 i = 0; i < DIAGONALS; i++) {
      double l = (double)(l0 + LOCAL_ID(0) + g * THREADS), k = l + (double)(d0 + i);
      lam[g][i] = l * (l + 1) + k * (k + 1);
      a[g][i] = TWO ? -1 - 2 * (l * (l + 1)) * (k * (k + 1)) : l * (l + 1);
    }
  UNROLL for (i32 f = 0; f < 3; f++)
    UNROLL for (i32 g = 0; g < DEGREES; g++)
      UNROLL for (i32 i = 0; i < DIAGONALS; i++)
        sum[f][g][i] = 0;
  GLOBAL const double *p_from = tables + (ODD ? n : 0), *r_from = tables + 2 * n + (ODD ? twice : 0);
  i64 most = t.lmax - d0 < l0 + WIDTH - 1 ? t.lmax - d0 : l0 + WIDTH - 1, last = t.lmax_mask - d0 - ODD;
  i64 end = last < 0 || most < l0 ? 0 : (last / 2 < most ? last / 2 : most) + 1;
  for (i64 j0 = 0; j0 < end; j0 += CHUNK) {
    i64 p_at = l0 - j0 - (CHUNK - 1), r_at = l0 + d0 + j0;
    BARRIER();
    for (i32 e = LOCAL_ID(0); e < WIDTH + CHUNK; e += THREADS)
      p[e] = p_at + e >= 0 && p_at + e < n ? p_from[p_at + e] : 0;
    for (i32 e = LOCAL_ID(0); e < WIDTH + CHUNK + DIAGONALS; e += THREADS)
      r[e] = r_at + e < twice ? r_from[r_at + e] : 0;
    for (i32 e = LOCAL_ID(0); e < CHUNK * DIAGONALS; e += THREADS) {
      i64 j = j0 + e / DIAGONALS, d = d0 + e % DIAGONALS, k = d + 2 * j + ODD;
      double both = ODD ? (double)(2 * j + 1) * (double)(2 * (d + j) + 1) : 1;
      double b = k <= t.lmax_mask && d + j < n ? w[k] * tables[j] * tables[d + j] * both : 0;
      terms[e] = MAKE_REAL2(b, (double)k * (double)(k + 1) + (TWO ? 1 + ODD : 0));
    }
    BARRIER();
    double window[DEGREES][2 * DIAGONALS - 1];
    UNROLL for (i32 g = 0; g < DEGREES; g++)
      UNROLL for (i32 i = 0; i < DIAGONALS - 1; i++)
        window[g][DIAGONALS + i] = r[LOCAL_ID(0) + g * THREADS + i];
    for (i32 k0 = 0; k0 < CHUNK; k0 += DIAGONALS) {
      UNROLL for (i32 g = 0; g < DEGREES; g++) {
        UNROLL for (i32 i = 0; i < DIAGONALS - 1; i++)
          window[g][i] = window[g][DIAGONALS + i];
        UNROLL for (i32 i = DIAGONALS - 1; i < 2 * DIAGONALS - 1; i++)
          window[g][i] = r[LOCAL_ID(0) + g * THREADS + k0 + i];
      }
      UNROLL for (i32 k = 0; k < DIAGONALS; k++)
        UNROLL for (i32 g = 0; g < DEGREES; g++) {
          double own = p[LOCAL_ID(0) + g * THREADS + CHUNK - 1 - k0 - k];
          UNROLL for (i32 i = 0; i < DIAGONALS; i++) {
            real2 term = terms[(k0 + k) * DIAGONALS + i];
            double u = term.x * own * window[g][k + i], x = lam[g][i] - term.y, b = lam[g][i] - a[g][i];
#if ODD
            double q = polynomial(S2, x, a[g][i], b);
            sum[0][g][i] = FMA(u * q, S1 == S2 ? q : polynomial(S1, x, a[g][i], b), sum[0][g][i]);
#else
            if (FAMILIES & 1)
              sum[0][g][i] += u;
            if (FAMILIES & 6) {
              double q = polynomial(S2, x, a[g][i], b), v = u * q;
              if (FAMILIES & 2)
                sum[1][g][i] += v;
              if (FAMILIES & 4)
                sum[2][g][i] = FMA(v, S1 == S2 ? q : polynomial(S1, x, a[g][i], b), sum[2][g][i]);
            }
#endif
          }
        }
    }
  }
  for (i32 g = 0; g < DEGREES; g++)
    for (i32 i = 0; i < DIAGONALS; i++) {
      i64 l = l0 + LOCAL_ID(0) + g * THREADS, d = d0 + i, family = t.count * t.stride;
      i64 at = z * FAMILY_COUNT * family + (d - t.first) * t.stride + l;
      double al = (double)l * (double)(l + 1), bl = (double)(l + d) * (double)(l + d + 1);
      double one = norm(S1, l, al, bl), two = norm(S2, l, al, bl), both = one * two * ((S1 + S2) % 2 ? -1 : 1);
      two *= (TWO ? 0.5 : 1) * (S2 % 2 ? -1 : 1);
      both *= TWO && S1 == 2 ? 0.25 : 1;
      if (l + d > t.lmax || d >= t.first + t.count)
        continue;
#if ODD
      xi[at + (FAMILY_COUNT - 1) * family] = sum[0][g][i] * both;
#else
      if (FAMILIES & 1)
        xi[at] = sum[0][g][i];
      if (FAMILIES & 2)
        xi[at + (FAMILIES & 1) * family] = sum[1][g][i] * two;
      if (FAMILIES & 4)
        xi[at + ((FAMILIES & 1) + (FAMILIES >> 1 & 1)) * family] = sum[2][g][i] * both;
#endif
    }
}
