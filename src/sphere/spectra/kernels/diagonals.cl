// SPDX-License-Identifier: BSD-3-Clause
// What becomes of diagonals of couplings, xi[mask][family][d - first][stride] of coupling.cl: sums over bands of rows, products
// with spectra, the matrices.

#define THREADS 128
#define SUMS 32 // at most
typedef struct sums_args {
  i64 n, first, count, stride, bands;
  i32 family[SUMS];
} sums_args;

// out[s][b][l'] += sum over l of band b of weight[s][l] xi(l, l') of family[s]: a thread per l'.
KERNEL(THREADS) sums(GLOBAL const double *xi, GLOBAL const i32 *band, GLOBAL const double *weight, GLOBAL double *out,
                     sums_args t)
{
  i64 c = GLOBAL_ID(0), s = GROUP_ID(1), end = c < t.n ? t.first + t.count : 0;
  GLOBAL const double *from = xi + t.family[s] * t.count * t.stride, *of = weight + s * t.n;
  GLOBAL double *to = out + s * t.bands * t.n + c;
  i32 at = -1;
  double sum = 0;
  for (i32 lower = 0; lower < 2; lower++)
    for (i64 d = lower && !t.first ? 1 : t.first; d < end && (lower ? c + d < t.n : d <= c); d++) {
      i64 row = lower ? c + d : c - d;
      i32 b = band[row];
      if (b != at && at >= 0)
        to[at * t.n] += sum;
      sum = b == at ? sum : 0;
      at = b;
      sum += of[row] * from[(d - t.first) * t.stride + (lower ? c : row)];
    }
  if (at >= 0)
    to[at * t.n] += sum;
}

// out[s][l] += sum over l' of xi(l, l') of family[s] times in[s][l'].
KERNEL(THREADS) products(GLOBAL const double *xi, GLOBAL const double *in, GLOBAL double *out, sums_args t)
{
  i64 c = GLOBAL_ID(0), s = GROUP_ID(1), end = c < t.n ? t.first + t.count : 0;
  GLOBAL const double *from = xi + t.family[s] * t.count * t.stride, *x = in + s * t.n;
  double sum = 0;
  for (i64 d = t.first; d < end && c + d < t.n; d++)
    sum += x[c + d] * from[(d - t.first) * t.stride + c];
  for (i64 d = t.first ? t.first : 1; d < end && d <= c; d++)
    sum += x[c - d] * from[(d - t.first) * t.stride + c - d];
  if (c < t.n)
    out[s * t.n + c] += sum;
}

#define SIDE 32
typedef struct matrix_args {
  i64 n, first, count, stride, out;
} matrix_args;

// The diagonals where they belong in matrices [mask and family][l][l']: a block has SIDE degrees and SIDE diagonals.
KERNEL(4 * SIDE) matrices(GLOBAL const double *xi, GLOBAL double *out, matrix_args t)
{
  SHARED double tile[SIDE * (SIDE + 1)];
  i64 l0 = (i64)GROUP_ID(0) * SIDE, e0 = (i64)GROUP_ID(1) * SIDE, d0 = t.first + e0, n = t.n;
  GLOBAL const double *x = xi + (i64)GROUP_ID(2) * t.count * t.stride;
  GLOBAL double *to = out + t.out + (i64)GROUP_ID(2) * n * n;
  i32 lane = LOCAL_ID(0) % SIDE, from = LOCAL_ID(0) / SIDE;
  for (i32 e = from; e < SIDE; e += 4)
    tile[e * (SIDE + 1) + lane] =
        e0 + e < t.count && l0 + lane + d0 + e < n ? x[(e0 + e) * t.stride + l0 + lane] : 0;
  BARRIER();
  for (i32 i = from; i < SIDE; i += 4) { // row l0 + i: consecutive diagonals are consecutive columns
    i64 l = l0 + i, d = d0 + lane;
    if (e0 + lane < t.count && l + d < n)
      to[l * n + l + d] = tile[lane * (SIDE + 1) + i];
  }
  for (i32 i = from; i < 2 * SIDE - 1; i += 4) { // row l0 + d0 + i: the columns l0 + lane
    i32 e = i - lane;
    i64 l = l0 + lane, d = d0 + e;
    if (e >= 0 && e < SIDE && e0 + e < t.count && l + d < n && d > 0)
      to[(l + d) * n + l] = tile[e * (SIDE + 1) + lane];
  }
}
