// SPDX-License-Identifier: BSD-3-Clause
// Strengths at points to the fine grid, gathered: a block of threads owns the columns of a pillar, one each, and marches along
// the layers of its box. What it adds up for the WIDTH layers ahead is in registers. No other block writes these cells, so
// there are no atomics, each cell is written once, and sums have the same order in every run. A box with too many points is
// cut in parts, which are summed in order afterwards.
//
// NDIM, WIDTH, DEGREE, PIECES: the kernel's polynomials. COLUMNS, ROWS, LAYERS: of a box. LEFT, UP: how many pillars before
// the own one, along columns and rows, have points that reach it.
//
// variant: NDIM=3 WIDTH=7 DEGREE=7 PIECES=1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2 COLUMNS=8 ROWS=8 LAYERS=32 LEFT=1 UP=1 REAL_BITS=64
// variant: NDIM=3 WIDTH=13 DEGREE=11 PIECES=1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8 COLUMNS=8 ROWS=8 LAYERS=32 LEFT=2 UP=2 REAL_BITS=64
// variant: NDIM=3 WIDTH=5 DEGREE=6 PIECES=1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5 COLUMNS=8 ROWS=8 LAYERS=32 LEFT=1 UP=1 REAL_BITS=32
// variant: NDIM=2 WIDTH=7 DEGREE=7 PIECES=1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2 COLUMNS=64 ROWS=1 LAYERS=32 LEFT=1 UP=0 REAL_BITS=64
// variant: NDIM=2 WIDTH=5 DEGREE=6 PIECES=1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5 COLUMNS=64 ROWS=1 LAYERS=32 LEFT=1 UP=0 REAL_BITS=32
// variant: NDIM=1 WIDTH=7 DEGREE=7 PIECES=1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2 COLUMNS=64 ROWS=1 LAYERS=1 LEFT=1 UP=0 REAL_BITS=64

#include "nufft/kernels/boxes.h.cl"
#define THREADS (COLUMNS * ROWS)
#define RANGES ((LEFT + 1) * (UP + 1))
#define STEPS (LAYERS + MARCHED - 1) // layers with points that reach a box
#define LISTS (STEPS * RANGES)
#define EACH ((LISTS + THREADS - 1) / THREADS)
#define PITCH (WIDTH | 1)
#define HALF ((WIDTH + 1) / 2)
#define PAIRS (HALF | 1) // pairs of weights along layers, and one more if they are even: for the banks
#define FAR 128 // offsets of points from the box are stored with this added: 10 bits of a column, 10 of a row, 12 of a layer
#if IS_CUDA
#define SOME _Pragma("unroll 2") // weights of some cells at a time, for the sake of registers
#else
#define SOME
#endif
// Blocks of a multiprocessor: sums, weights and addresses fit in the registers that they leave.
#if REAL_BITS == 32
#define BLOCKS (WIDTH <= 5 ? 16 : 12)
#elif WIDTH <= 8
#define BLOCKS 10
#else
#define BLOCKS 6
#endif

// Parts of each box: jobs of it, and if there are several, places in the side buffer.
KERNEL(THREADS) spread_count(GLOBAL const u32 *RESTRICT start, GLOBAL u32 *RESTRICT jobs, GLOBAL u32 *RESTRICT sides, box_shape s)
{
  i64 b = GLOBAL_ID(0);
  if (b <= s.boxes) {
    i64 pillar = b / s.parts[1], z0 = (b - pillar * s.parts[1]) * LAYERS, layers = s.fine[1];
    i64 z1 = z0 + LAYERS < layers ? z0 + LAYERS : layers, z = z0 - (MARCHED - 1), row = pillar / s.parts[0], n = 0;
    for (i32 r = 0; r < RANGES && b < s.boxes; r++) {
      i64 py = row - r / (LEFT + 1), px = pillar - row * s.parts[0] - r % (LEFT + 1);
      py += py < 0 ? s.parts[2] : 0;
      px += px < 0 ? s.parts[0] : 0;
      i64 first = (py * s.parts[0] + px) * layers;
      n += start[first + z1] - start[first + (z < 0 ? 0 : z)];
      n += z < 0 ? start[first + layers] - start[first + layers + z] : 0;
    }
    i64 parts = b == s.boxes ? 0 : n <= s.limit ? 1 : (n + s.limit - 1) / s.limit;
    jobs[b] = (u32)parts;
    sides[b] = parts > 1 ? (u32)parts : 0;
  }
}

// Strengths of a batch in the order of the sorted points.
KERNEL(THREADS) spread_order(GLOBAL const u32 *RESTRICT source, GLOBAL const real2 *RESTRICT strengths, GLOBAL real2 *RESTRICT sorted,
                             box_shape s)
{
  i64 i = GLOBAL_ID(0);
  if (i < s.n)
    sorted[GROUP_ID(1) * s.n + i] = strengths[s.first + GROUP_ID(1) * s.batch_stride + source[i] * s.stride];
}

DEVICE real weight(i32 j, real t)
{
  real w = piece[DEGREE * WIDTH + j];
  UNROLL for (i32 g = DEGREE - 1; g >= 0; g--)
    w = FMA(w, t, piece[g * WIDTH + j]);
  return w;
}

// The nearest layer is done: the others move up.
DEVICE void next_layer(real *re, real *im)
{
  UNROLL for (i32 j = 0; j + 1 < MARCHED; j++) {
    re[j] = re[j + 1];
    im[j] = im[j + 1];
  }
  re[MARCHED - 1] = im[MARCHED - 1] = 0;
}

// The points that reach a box are in lists, one per layer and pillar. All of them, layer by layer, are one stream; a job takes a
// piece of it, in chunks of one point per thread, and loads the next chunk while it adds up one.
KERNEL_BLOCKS(THREADS, BLOCKS) spread(GLOBAL const u32 *RESTRICT place, GLOBAL const real *RESTRICT fraction,
                       GLOBAL const u32 *RESTRICT start, GLOBAL const u32 *RESTRICT job, GLOBAL const u32 *RESTRICT jobs,
                       GLOBAL const u32 *RESTRICT sides, GLOBAL const real2 *RESTRICT sorted, GLOBAL real2 *grid,
                       GLOBAL real2 *side, box_shape s)
{
  SHARED u32 before[EACH * THREADS + 1], list[LISTS]; // points of the stream before each list; the first point of each
  SHARED u32 sum[THREADS], range_offset[RANGES];
  // A chunk: weights, with the strength in those of one axis.
  SHARED real2 strong[THREADS * PITCH]; // along columns; of three dimensions, along rows
#if NDIM > 1
  SHARED real2 march[THREADS * PAIRS];
#endif
#if NDIM > 2
  SHARED real along[THREADS * PITCH];
#endif
  SHARED u32 offset[THREADS];
  i32 me = LOCAL_ID(0), column = me % COLUMNS, row = me / COLUMNS;
  // columns and rows of this thread's warp
  i32 c0 = COLUMNS >= WARP ? me / WARP * WARP % COLUMNS : 0, c1 = COLUMNS >= WARP ? c0 + WARP - 1 : COLUMNS - 1;
  i32 r0 = COLUMNS >= WARP ? row : me / WARP * (WARP / COLUMNS), r1 = COLUMNS >= WARP ? row : r0 + WARP / COLUMNS - 1;
  i64 box = job[2 * GROUP_ID(0)], part = job[2 * GROUP_ID(0) + 1], parts = (i64)jobs[box + 1] - jobs[box];
  i64 pillar = box / s.parts[1], z0 = (box - pillar * s.parts[1]) * LAYERS, layers = s.fine[1];
  i32 steps = (i32)(z0 + LAYERS < layers ? LAYERS : layers - z0) + MARCHED - 1;
  i64 py = pillar / s.parts[0], px = pillar - py * s.parts[0];
  i64 x0 = start_of(px, s.fine[0], s.parts[0]), y0 = start_of(py, s.fine[2], s.parts[2]);
  bool own = column < start_of(px + 1, s.fine[0], s.parts[0]) - x0 && row < start_of(py + 1, s.fine[2], s.parts[2]) - y0;
  GLOBAL const real2 *from = sorted + GROUP_ID(1) * s.n;
  GLOBAL real2 *to = grid + GROUP_ID(1) * s.cells;
  i64 step = s.fine[2] * s.fine[0], at = (z0 * s.fine[2] + y0 + row) * s.fine[0] + x0 + column;
  if (parts > 1) {
    own = true;
    step = THREADS;
    at = ((i64)GROUP_ID(1) * sides[s.boxes] + sides[box] + part) * LAYERS * THREADS + me;
    to = side;
  }
  for (i32 r = me; r < RANGES; r += THREADS) {
    i64 qy = py - r / (LEFT + 1), qx = px - r % (LEFT + 1);
    i64 by = qy < 0 ? -s.fine[2] : 0, bx = qx < 0 ? -s.fine[0] : 0; // around the period
    qy += qy < 0 ? s.parts[2] : 0;
    qx += qx < 0 ? s.parts[0] : 0;
    by += start_of(qy, s.fine[2], s.parts[2]) - y0;
    bx += start_of(qx, s.fine[0], s.parts[0]) - x0;
    range_offset[r] = (u32)((i32)bx + FAR) | (u32)((i32)by + FAR) << 10;
  }
  for (i32 k = me; k < EACH * THREADS; k += THREADS) {
    i32 z = k / RANGES, r = k - z * RANGES;
    u32 count = 0;
    if (k < LISTS && z < steps) {
      i64 layer = z0 - (MARCHED - 1) + z, qy = py - r / (LEFT + 1), qx = px - r % (LEFT + 1);
      layer += layer < 0 ? layers : 0;
      qy += qy < 0 ? s.parts[2] : 0;
      qx += qx < 0 ? s.parts[0] : 0;
      i64 bin = (qy * s.parts[0] + qx) * layers + layer;
      list[k] = start[bin];
      count = start[bin + 1] - list[k];
    }
    before[k] = count;
  }
  BARRIER();
  u32 total = 0;
  for (i32 k = 0; k < EACH; k++)
    total += before[me * EACH + k];
  sum[me] = total;
  BARRIER();
  for (i32 reach = 1; reach < THREADS; reach *= 2) {
    u32 add = me >= reach ? sum[me - reach] : 0;
    BARRIER();
    sum[me] += add;
    BARRIER();
  }
  total = sum[me] - total;
  for (i32 k = 0; k < EACH; k++) {
    u32 count = before[me * EACH + k];
    before[me * EACH + k] = total;
    total += count;
  }
  if (me == THREADS - 1)
    before[EACH * THREADS] = total;
  BARRIER();
  total = before[EACH * THREADS];
  u32 first = parts > 1 ? (u32)(total * part / parts) : 0, end = parts > 1 ? (u32)(total * (part + 1) / parts) : total;
  real re[MARCHED], im[MARCHED];
  UNROLL for (i32 j = 0; j < MARCHED; j++)
    re[j] = im[j] = 0;
  i32 layer = 0; // at which the sums begin, counted from the first one with points that reach the box
  u32 my_offset = 0;
  real2 c = MAKE_REAL2(0, 0);
  real tx = 0, ty = 0, tz = 0;
  for (i64 chunk = (i64)first - THREADS; chunk < end; chunk += THREADS) {
    if (chunk >= first) {
      offset[me] = my_offset;
#if NDIM > 2
      SOME for (i32 j = 0; j < WIDTH; j++)
        along[me * PITCH + j] = weight(j, tx);
#else
      ty = tx;
#endif
      SOME for (i32 j = 0; j < WIDTH; j++) {
        real w = weight(j, ty);
        strong[me * PITCH + j] = MAKE_REAL2(w * c.x, w * c.y);
      }
#if NDIM > 1
      for (i32 j = 0; j < HALF; j++)
        march[me * PAIRS + j] = MAKE_REAL2(weight(2 * j, tz), 2 * j + 1 < WIDTH ? weight(2 * j + 1, tz) : (real)0);
#endif
    }
    BARRIER();
    if (chunk + THREADS + me < end) {
      u32 k = (u32)(chunk + THREADS + me);
      i32 low = 0, high = LISTS; // before[low] <= k < before[high]
      while (high - low > 1) {
        i32 middle = (low + high) / 2;
        if (before[middle] <= k)
          low = middle;
        else
          high = middle;
      }
      i64 i = (i64)list[low] + (k - before[low]);
      u32 p = place[i];
      my_offset = range_offset[low % RANGES] + (p & 255) + ((p >> 8 & 255) << 10) + ((u32)(low / RANGES) << 20);
      c = from[i];
      tx = fraction[i];
#if NDIM > 1
      tz = fraction[s.n + i];
#endif
#if NDIM > 2
      ty = fraction[2 * s.n + i];
#endif
    }
    i32 n = chunk < first ? 0 : end - chunk < THREADS ? (i32)(end - chunk) : THREADS;
    u32 next = n ? offset[0] : 0;
    for (i32 i = 0; i < n; i++) {
      u32 o = next;
      next = offset[i + 1 < n ? i + 1 : i];
      for (; layer < (i32)(o >> 20); layer++) {
        if (layer >= MARCHED - 1 && own)
          to[at + (layer - (MARCHED - 1)) * step] = MAKE_REAL2(re[0], im[0]);
        next_layer(re, im);
      }
      i32 cx = (i32)(o & 1023) - FAR, cy = (i32)(o >> 10 & 1023) - FAR;
      if (cx <= c1 && cx + WIDTH > c0 && cy <= r1 && cy + ACROSS > r0) { // the same for the whole warp
        i32 jx = column - cx;
        bool hit = jx >= 0 && jx < WIDTH;
#if NDIM > 2
        i32 jy = row - cy;
        real q = hit ? along[i * PITCH + jx] : (real)0;
        real2 v = jy >= 0 && jy < WIDTH ? strong[i * PITCH + jy] : MAKE_REAL2(0, 0);
        v = MAKE_REAL2(q * v.x, q * v.y);
#else
        real2 v = hit ? strong[i * PITCH + jx] : MAKE_REAL2(0, 0);
#endif
#if NDIM > 1
        UNROLL for (i32 j = 0; j < HALF; j++) {
          real2 w = march[i * PAIRS + j];
          re[2 * j] = FMA(v.x, w.x, re[2 * j]);
          im[2 * j] = FMA(v.y, w.x, im[2 * j]);
          if (2 * j + 1 < WIDTH) {
            re[2 * j + 1] = FMA(v.x, w.y, re[2 * j + 1]);
            im[2 * j + 1] = FMA(v.y, w.y, im[2 * j + 1]);
          }
        }
#else
        re[0] += v.x;
        im[0] += v.y;
#endif
      }
    }
    BARRIER();
  }
  for (; layer < steps; layer++) {
    if (layer >= MARCHED - 1 && own)
      to[at + (layer - (MARCHED - 1)) * step] = MAKE_REAL2(re[0], im[0]);
    next_layer(re, im);
  }
}

// The parts of boxes that were cut, added up in order.
KERNEL(THREADS) spread_join(GLOBAL const u32 *RESTRICT sides, GLOBAL const real2 *RESTRICT side, GLOBAL real2 *RESTRICT grid,
                            box_shape s)
{
  i32 me = LOCAL_ID(0), column = me % COLUMNS, row = me / COLUMNS;
  i64 box = GROUP_ID(0), first = sides[box], parts = sides[box + 1] - first;
  i64 pillar = box / s.parts[1], z0 = (box - pillar * s.parts[1]) * LAYERS;
  i64 z1 = z0 + LAYERS < s.fine[1] ? z0 + LAYERS : s.fine[1];
  i64 py = pillar / s.parts[0], px = pillar - py * s.parts[0];
  i64 x0 = start_of(px, s.fine[0], s.parts[0]), y0 = start_of(py, s.fine[2], s.parts[2]);
  bool own = column < start_of(px + 1, s.fine[0], s.parts[0]) - x0 && row < start_of(py + 1, s.fine[2], s.parts[2]) - y0;
  GLOBAL const real2 *from = side + ((i64)GROUP_ID(1) * sides[s.boxes] + first) * LAYERS * THREADS + me;
  GLOBAL real2 *to = grid + GROUP_ID(1) * s.cells + (y0 + row) * s.fine[0] + x0 + column;
  if (own && parts > 0)
    for (i64 z = z0; z < z1; z++) {
      real re = 0, im = 0;
      for (i64 p = 0; p < parts; p++) {
        real2 c = from[(p * LAYERS + z - z0) * THREADS];
        re += c.x;
        im += c.y;
      }
      to[z * s.fine[2] * s.fine[0]] = MAKE_REAL2(re, im);
    }
}
