// SPDX-License-Identifier: BSD-3-Clause
// Points of a non-uniform transform into bins: a bin is one layer (a cell of the marching axis) of a pillar of cells along the
// other axes, see kernels/spread.cl. The sort is by digits from the lowest (radix sort), each pass stable, so that the order is
// the same in every run: by bin, within a bin by which neighbours' pillars they reach (kernels/parts.h.cl), then as the caller gave them.
//
// NDIM; COORD and FRACTION: types of coordinates and of what is kept; DIGIT bits are sorted per pass.
//
// variant: NDIM=3 COORD=double FRACTION=double
// variant: NDIM=2 COORD=float FRACTION=float
// variant: NDIM=1 COORD=double FRACTION=float

#include "nufft/kernels/parts.h.cl"
#define BLOCK 128
#define DIGIT 6
#define DIGITS (1 << DIGIT)
#define ITEMS 16 // of a thread, one after the other
#define SPAN 2048 // BLOCK * ITEMS
// Arrays in shared memory of which each thread walks through a piece: a gap after each piece, for the banks.
#define HELD(k) ((k) + (k) / ITEMS)
#define HAS(k) ((k) + (k) / WORDS)
// Counts of four values of a digit share a number, value v in bits 16 (v / WORDS) and up of number v % WORDS: none exceeds SPAN.
#define WORDS (DIGITS / 4)
#define WORD(v) ((v) % WORDS)
#define PLACE(v) ((v) / WORDS * 16)
#if IS_CUDA
#define UNROLL _Pragma("unroll")
#define MIN_U32(p, v) ((void)atomicMin((p), (v)))
#else
#define UNROLL
#define MIN_U32(p, v) ((void)atomic_min((p), (v)))
#endif

// Roles of axes: 0 along the columns of a pillar (the last axis), 1 marching (the first of two or three), 2 across a pillar's
// rows (the middle one of three). Missing ones have one cell.
typedef struct axis_shape {
  i64 fine, parts;    // cells; pillars along roles 0 and 2: pillar i begins at cell ceil(i fine / parts)
  i64 step;           // of coordinates, in elements
  double period, period_low, cells, cells_low, per_cell; // per_cell: parts / fine
} axis_shape;

typedef struct sort_shape {
  axis_shape axis[3];
  i64 n, stride, bins, layer_mask; // layer_mask: layers of an interpolated box, less one
  double width;
} sort_shape;

// First node that the kernel reaches, in [0, fine), and t, as on the CPU (locate.isa.c): errors of the reduction are carried along.
DEVICE i64 cell_of(axis_shape a, double width, double x, double *t)
{
  if (fabs(x) > 1125899906842624.0 * a.period)
    x = fmod(x, a.period);
  double whole = floor(x / a.period), product = MUL_EXACT(whole, a.period);
  double product_low = FMA(whole, a.period, -product) + whole * a.period_low;
  double rest = ADD_EXACT(x, -product), back = ADD_EXACT(rest, -x);
  double low = ADD_EXACT(ADD_EXACT(x, -ADD_EXACT(rest, -back)), -ADD_EXACT(product, back)) - product_low;
  double p = MUL_EXACT(rest, a.cells);
  double p_low = FMA(rest, a.cells, -p) + rest * a.cells_low + low * a.cells;
  double node = ceil(p - 0.5 * width), f = 2 * (ADD_EXACT(node, -p) - p_low) + (width - 1);
  if (f >= 1) {
    f -= 2;
    node -= 1;
  } else if (f < -1) {
    f += 2;
    node += 1;
  }
  *t = f;
  i64 cell = (i64)node;
  cell += cell < 0 ? a.fine : cell >= a.fine ? -a.fine : 0;
  return cell < 0 ? cell + a.fine : cell;
}

DEVICE i64 pillar_of(axis_shape a, i64 cell)
{
  i64 i = (i64)((double)cell * a.per_cell), end = cell * a.parts; // a pillar that begins at the cell or before: i fine <= cell parts
  i = i >= a.parts ? a.parts - 1 : i;
  i -= i > 0 && i * a.fine > end;
  return i + (i + 1 < a.parts && (i + 1) * a.fine <= end);
}

// Whether a point whose first cell is in pillar i reaches the pillar behind.
DEVICE bool leaves(axis_shape a, double width, i64 cell, i64 i)
{
  return (cell + (i64)width - 1) * a.parts >= (i + 1) * a.fine;
}

// The cell within its pillar. The quotient is exact, or too far from a whole number to be rounded to one: numbers below 2^52.
DEVICE i64 within_pillar(axis_shape a, i64 cell)
{
  return cell - (i64)ceil((double)(pillar_of(a, cell) * a.fine) / (double)a.parts);
}

// The bin of each point and its number; `bad`: the first point with a coordinate that is not finite.
KERNEL(BLOCK) bins(GLOBAL const COORD *RESTRICT x, GLOBAL u32 *RESTRICT key, GLOBAL u32 *RESTRICT source, GLOBAL u32 *bad, sort_shape s)
{
  i64 i = GLOBAL_ID(0);
  if (i < s.n) {
    i64 pillar = 0, layer = 0;
    bool along = false, across = false; // what it reaches
    double t, at[NDIM]; // all are read before the first is waited for
    UNROLL for (int d = 0; d < NDIM; d++)
      at[d] = (double)x[i * s.stride + s.axis[d].step];
    UNROLL for (int d = NDIM - 1; d >= 0; d--) { // rows, layers, columns
      double c = at[d];
      if (!(c - c == 0)) {
        MIN_U32(bad, (u32)i);
        c = 0;
      }
      i64 cell = cell_of(s.axis[d], s.width, c, &t);
      if (d == 1) {
        layer = cell;
        continue;
      }
      i64 own = pillar_of(s.axis[d], cell);
      bool far = leaves(s.axis[d], s.width, cell, own);
      along = d == 0 ? far : along;
      across = d == 2 ? far : across;
      pillar = pillar * s.axis[d].parts + own;
    }
    key[i] = (u32)((pillar * s.axis[1].fine + layer) * BIN_PARTS + bin_part(along, across));
    source[i] = (u32)i;
  }
}

// How many keys of each span have each value of a digit: count[digit][span].
KERNEL(BLOCK) digits(GLOBAL const u32 *RESTRICT key, GLOBAL u32 *RESTRICT count, i64 n, i32 shift)
{
  SHARED i32 has[DIGITS];
  i32 me = LOCAL_ID(0);
  for (i32 k = me; k < DIGITS; k += BLOCK)
    has[k] = 0;
  BARRIER();
  i64 first = (i64)GROUP_ID(0) * SPAN;
  for (i32 k = me; k < SPAN; k += BLOCK)
    if (first + k < n)
      ATOMIC_ADD_SHARED_I32(&has[key[first + k] >> shift & (DIGITS - 1)], 1);
  BARRIER();
  for (i32 k = me; k < DIGITS; k += BLOCK)
    count[(i64)k * GROUPS(0) + GROUP_ID(0)] = (u32)has[k];
}

// Each span to where its keys go: first into order within the span, in shared memory, then in runs of equal digits.
KERNEL(BLOCK) scatter(GLOBAL const u32 *RESTRICT key, GLOBAL const u32 *RESTRICT source, GLOBAL u32 *RESTRICT key_out,
                      GLOBAL u32 *RESTRICT source_out, GLOBAL const u32 *RESTRICT base, i64 n, i32 shift)
{
  SHARED u64 has[HAS(WORDS * BLOCK)]; // [value][thread]: what threads before have
  SHARED u64 sum[BLOCK];
  SHARED u32 held[HELD(SPAN)], begin[DIGITS];
  SHARED u16 from[SPAN];
  i32 me = LOCAL_ID(0);
  i64 first = (i64)GROUP_ID(0) * SPAN;
  i32 count = n - first < SPAN ? (i32)(n - first) : SPAN;
  for (i32 k = me; k < SPAN; k += BLOCK)
    held[HELD(k)] = k < count ? key[first + k] : 0;
  for (i32 k = 0; k < WORDS; k++)
    has[HAS(k * BLOCK + me)] = 0;
  BARRIER();
  u32 mine[ITEMS];
  for (i32 k = 0; k < ITEMS; k++) {
    i32 at = me * ITEMS + k;
    mine[k] = held[HELD(at)];
    u32 v = mine[k] >> shift & (DIGITS - 1);
    if (at < count)
      has[HAS(WORD(v) * BLOCK + me)] += (u64)1 << PLACE(v);
  }
  BARRIER();
  // sums over [value][thread]: each thread takes WORDS entries, one after the other
  u64 own = 0;
  for (i32 k = 0; k < WORDS; k++)
    own += has[HAS(me * WORDS + k)];
  sum[me] = own;
  BARRIER();
  for (i32 step = 1; step < BLOCK; step *= 2) {
    u64 add = me >= step ? sum[me - step] : 0;
    BARRIER();
    sum[me] += add;
    BARRIER();
  }
  // keys with values of the lower quarters of the range go before
  u64 all = sum[BLOCK - 1], before = sum[me] - own + (all << 16) + (all << 32) + (all << 48);
  for (i32 k = 0; k < WORDS; k++) {
    u64 here = has[HAS(me * WORDS + k)];
    has[HAS(me * WORDS + k)] = before;
    before += here;
  }
  BARRIER();
  if (me < DIGITS)
    begin[me] = base[(i64)me * GROUPS(0) + GROUP_ID(0)] - (u32)(has[HAS(WORD(me) * BLOCK)] >> PLACE(me) & 0xffff);
  BARRIER(); // `has` of the first thread of each value is read
  for (i32 k = 0; k < ITEMS; k++) {
    i32 at = me * ITEMS + k;
    if (at < count) {
      u32 v = mine[k] >> shift & (DIGITS - 1);
      i32 i = HAS(WORD(v) * BLOCK + me);
      u64 counts = has[i];
      u32 to = (u32)(counts >> PLACE(v) & 0xffff);
      has[i] = counts + ((u64)1 << PLACE(v));
      held[HELD(to)] = mine[k];
      from[to] = (u16)at;
    }
  }
  BARRIER();
  for (i32 k = me; k < count; k += BLOCK) {
    u32 key_here = held[HELD(k)], to = begin[key_here >> shift & (DIGITS - 1)] + (u32)k;
    key_out[to] = key_here;
    source_out[to] = source[first + from[k]];
  }
}

// ---- sums of all elements before each one, in place: totals of spans, their sums, then each span ----

KERNEL(BLOCK) span_totals(GLOBAL const u32 *RESTRICT x, GLOBAL u32 *RESTRICT total, i64 n)
{
  SHARED u32 sum[BLOCK];
  i32 me = LOCAL_ID(0);
  i64 first = (i64)GROUP_ID(0) * SPAN;
  u32 own = 0;
  for (i32 k = me; k < SPAN; k += BLOCK)
    own += first + k < n ? x[first + k] : 0;
  sum[me] = own;
  BARRIER();
  for (i32 step = BLOCK / 2; step > 0; step /= 2) {
    if (me < step)
      sum[me] += sum[me + step];
    BARRIER();
  }
  if (me == 0)
    total[GROUP_ID(0)] = sum[0];
}

// One block; total[n] becomes the sum of all.
KERNEL(BLOCK) total_sums(GLOBAL u32 *total, i64 n)
{
  SHARED u32 sum[BLOCK];
  i32 me = LOCAL_ID(0);
  u32 carry = 0;
  for (i64 first = 0; first < n; first += BLOCK) {
    u32 own = first + me < n ? total[first + me] : 0;
    sum[me] = own;
    BARRIER();
    for (i32 step = 1; step < BLOCK; step *= 2) {
      u32 add = me >= step ? sum[me - step] : 0;
      BARRIER();
      sum[me] += add;
      BARRIER();
    }
    if (first + me < n)
      total[first + me] = carry + sum[me] - own;
    carry += sum[BLOCK - 1];
    BARRIER();
  }
  if (me == 0)
    total[n] = carry;
}

KERNEL(BLOCK) span_sums(GLOBAL u32 *RESTRICT x, GLOBAL const u32 *RESTRICT total, i64 n)
{
  SHARED u32 held[HELD(SPAN)];
  SHARED u32 sum[BLOCK];
  i32 me = LOCAL_ID(0);
  i64 first = (i64)GROUP_ID(0) * SPAN;
  for (i32 k = me; k < SPAN; k += BLOCK)
    held[HELD(k)] = first + k < n ? x[first + k] : 0;
  BARRIER();
  u32 own = 0;
  for (i32 k = 0; k < ITEMS; k++)
    own += held[HELD(me * ITEMS + k)];
  sum[me] = own;
  BARRIER();
  for (i32 step = 1; step < BLOCK; step *= 2) {
    u32 add = me >= step ? sum[me - step] : 0;
    BARRIER();
    sum[me] += add;
    BARRIER();
  }
  u32 before = total[GROUP_ID(0)] + sum[me] - own;
  for (i32 k = 0; k < ITEMS; k++) {
    u32 here = held[HELD(me * ITEMS + k)];
    held[HELD(me * ITEMS + k)] = before;
    before += here;
  }
  BARRIER();
  for (i32 k = me; k < SPAN; k += BLOCK)
    if (first + k < n)
      x[first + k] = held[HELD(k)];
}

// ---- what the transforms read ----

// start[b]: the first sorted point of part b of all bins or a later one.
KERNEL(BLOCK) starts(GLOBAL const u32 *RESTRICT key, GLOBAL u32 *RESTRICT start, i64 n, i64 bins)
{
  for (i64 b = GLOBAL_ID(0); b <= bins; b += (i64)GROUPS(0) * BLOCK) {
    i64 low = 0, high = n;
    while (low < high) {
      i64 middle = (low + high) / 2;
      if ((i64)key[middle] < b)
        low = middle + 1;
      else
        high = middle;
    }
    start[b] = (u32)low;
  }
}

// Fractions of the sorted points, [role][n], and where they are in their pillar: column + 2^8 row + 2^16 layer (of a box).
KERNEL(BLOCK) fractions(GLOBAL const COORD *RESTRICT x, GLOBAL const u32 *RESTRICT source, GLOBAL FRACTION *RESTRICT fraction,
                        GLOBAL u32 *RESTRICT place, sort_shape s)
{
  i64 i = GLOBAL_ID(0);
  if (i < s.n) {
    i64 from = (i64)source[i] * s.stride;
    u32 at = 0;
    double all[NDIM];
    UNROLL for (int d = 0; d < NDIM; d++)
      all[d] = (double)x[from + s.axis[d].step];
    UNROLL for (int d = 0; d < NDIM; d++) {
      double t;
      i64 cell = cell_of(s.axis[d], s.width, all[d], &t);
      if (d == 1)
        at |= (u32)(cell & s.layer_mask) << 16;
      else
        at |= (u32)within_pillar(s.axis[d], cell) << (d ? 8 : 0);
      FRACTION f = (FRACTION)t; // one that rounds up to 1 stays inside
      fraction[d * s.n + i] = f >= (FRACTION)1 ? (FRACTION)(sizeof(FRACTION) == 4 ? 0.99999994 : 0.9999999999999999) : f;
    }
    place[i] = at;
  }
}

// Jobs of each box: pairs of the box and the number of its job. start[boxes]: all jobs.
KERNEL(BLOCK) emit(GLOBAL const u32 *RESTRICT start, GLOBAL u32 *RESTRICT job, i64 boxes)
{
  for (i64 b = GLOBAL_ID(0); b < boxes; b += (i64)GROUPS(0) * BLOCK)
    for (u32 k = start[b]; k < start[b + 1]; k++) {
      job[2 * (i64)k] = (u32)b;
      job[2 * (i64)k + 1] = k - start[b];
    }
}
