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
#define PITCH (WIDTH | 1)
#define FAR 128 // offsets of points from the box are stored with this added
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
#define BLOCKS 7
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

KERNEL_BLOCKS(THREADS, BLOCKS) spread(GLOBAL const u32 *RESTRICT source, GLOBAL const u32 *RESTRICT place, GLOBAL const real *RESTRICT fraction,
                       GLOBAL const u32 *RESTRICT start, GLOBAL const u32 *RESTRICT job, GLOBAL const u32 *RESTRICT jobs,
                       GLOBAL const u32 *RESTRICT sides, GLOBAL const real2 *strengths, GLOBAL real2 *grid, GLOBAL real2 *side,
                       box_shape s)
{
  SHARED real along[THREADS * PITCH]; // weights of a chunk of points
#if NDIM > 1
  SHARED real march[WIDTH * THREADS];
#endif
#if NDIM > 2
  SHARED real across[THREADS * PITCH];
#endif
  SHARED real2 strength[THREADS];
  SHARED u32 offset[THREADS];
  SHARED u32 range_first[RANGES], range_count[RANGES], range_offset[RANGES];
  i32 me = LOCAL_ID(0), column = me % COLUMNS, row = me / COLUMNS;
  // columns and rows of this thread's warp
  i32 c0 = COLUMNS >= WARP ? me / WARP * WARP % COLUMNS : 0, c1 = COLUMNS >= WARP ? c0 + WARP - 1 : COLUMNS - 1;
  i32 r0 = COLUMNS >= WARP ? row : me / WARP * (WARP / COLUMNS), r1 = COLUMNS >= WARP ? row : r0 + WARP / COLUMNS - 1;
  i64 box = job[2 * GROUP_ID(0)], part = job[2 * GROUP_ID(0) + 1], parts = (i64)jobs[box + 1] - jobs[box];
  i64 pillar = box / s.parts[1], z0 = (box - pillar * s.parts[1]) * LAYERS, layers = s.fine[1];
  i64 z1 = z0 + LAYERS < layers ? z0 + LAYERS : layers;
  i64 py = pillar / s.parts[0], px = pillar - py * s.parts[0];
  i64 x0 = start_of(px, s.fine[0], s.parts[0]), y0 = start_of(py, s.fine[2], s.parts[2]);
  bool own = column < start_of(px + 1, s.fine[0], s.parts[0]) - x0 && row < start_of(py + 1, s.fine[2], s.parts[2]) - y0;
  GLOBAL const real2 *from = strengths + s.first + GROUP_ID(1) * s.batch_stride;
  GLOBAL real2 *to = grid + GROUP_ID(1) * s.cells;
  i64 step = s.fine[2] * s.fine[0], at = (z0 * s.fine[2] + y0 + row) * s.fine[0] + x0 + column;
  if (parts > 1) {
    own = true;
    step = THREADS;
    at = ((i64)GROUP_ID(1) * sides[s.boxes] + sides[box] + part) * LAYERS * THREADS + me;
    to = side;
  }
  real re[MARCHED], im[MARCHED];
  UNROLL for (i32 j = 0; j < MARCHED; j++)
    re[j] = im[j] = 0;
  for (i64 z = z0 - (MARCHED - 1); z < z1; z++) {
    for (i32 r = me; r < RANGES; r += THREADS) {
      i64 qy = py - r / (LEFT + 1), qx = px - r % (LEFT + 1), layer = z < 0 ? z + layers : z;
      i64 by = qy < 0 ? -s.fine[2] : 0, bx = qx < 0 ? -s.fine[0] : 0; // around the period
      qy += qy < 0 ? s.parts[2] : 0;
      qx += qx < 0 ? s.parts[0] : 0;
      by += start_of(qy, s.fine[2], s.parts[2]) - y0;
      bx += start_of(qx, s.fine[0], s.parts[0]) - x0;
      range_offset[r] = (u32)((i32)bx + FAR) | (u32)((i32)by + FAR) << 16;
      i64 bin = (qy * s.parts[0] + qx) * layers + layer;
      u32 first = start[bin], n = start[bin + 1] - first;
      range_first[r] = first + (u32)(n * part / parts);
      range_count[r] = (u32)(n * (part + 1) / parts) - (u32)(n * part / parts);
    }
    BARRIER();
    i32 total = 0;
    for (i32 r = 0; r < RANGES; r++)
      total += (i32)range_count[r];
    for (i32 chunk = 0; chunk < total; chunk += THREADS) {
      i32 r = 0, k = chunk + me;
      while (r < RANGES - 1 && k >= (i32)range_count[r])
        k -= (i32)range_count[r++];
      if (chunk + me < total) {
        i64 i = range_first[r] + k;
        u32 p = place[i];
        offset[me] = range_offset[r] + (p & 255) + ((p >> 8 & 255) << 16);
        strength[me] = from[source[i] * s.stride];
        real t = fraction[i];
        SOME for (i32 j = 0; j < WIDTH; j++) {
          real w = piece[DEGREE * WIDTH + j];
          UNROLL for (i32 g = DEGREE - 1; g >= 0; g--)
            w = FMA(w, t, piece[g * WIDTH + j]);
          along[me * PITCH + j] = w;
        }
#if NDIM > 1
        t = fraction[s.n + i];
        SOME for (i32 j = 0; j < WIDTH; j++) {
          real w = piece[DEGREE * WIDTH + j];
          UNROLL for (i32 g = DEGREE - 1; g >= 0; g--)
            w = FMA(w, t, piece[g * WIDTH + j]);
          march[j * THREADS + me] = w;
        }
#endif
#if NDIM > 2
        t = fraction[2 * s.n + i];
        SOME for (i32 j = 0; j < WIDTH; j++) {
          real w = piece[DEGREE * WIDTH + j];
          UNROLL for (i32 g = DEGREE - 1; g >= 0; g--)
            w = FMA(w, t, piece[g * WIDTH + j]);
          across[me * PITCH + j] = w;
        }
#endif
      }
      BARRIER();
      i32 n = total - chunk < THREADS ? total - chunk : THREADS;
      u32 next = offset[0];
      for (i32 i = 0; i < n; i++) {
        u32 o = next;
        next = offset[i + 1 < n ? i + 1 : i];
        i32 cx = (i32)(o & 65535) - FAR, cy = (i32)(o >> 16) - FAR;
        if (cx <= c1 && cx + WIDTH > c0 && cy <= r1 && cy + ACROSS > r0) { // the same for the whole warp
          i32 jx = column - cx;
          real q = jx >= 0 && jx < WIDTH ? along[i * PITCH + jx] : (real)0;
#if NDIM > 2
          i32 jy = row - cy;
          q *= jy >= 0 && jy < WIDTH ? across[i * PITCH + jy] : (real)0;
#endif
          real2 c = strength[i];
          real qr = q * c.x, qi = q * c.y;
#if NDIM > 1
          UNROLL for (i32 j = 0; j < WIDTH; j++) {
            real w = march[j * THREADS + i];
            re[j] = FMA(qr, w, re[j]);
            im[j] = FMA(qi, w, im[j]);
          }
#else
          re[0] += qr;
          im[0] += qi;
#endif
        }
      }
      BARRIER();
    }
    if (z >= z0 && own)
      to[at + (z - z0) * step] = MAKE_REAL2(re[0], im[0]);
    UNROLL for (i32 j = 0; j + 1 < MARCHED; j++) {
      re[j] = re[j + 1];
      im[j] = im[j + 1];
    }
    re[MARCHED - 1] = im[MARCHED - 1] = 0;
    BARRIER(); // the ranges are read
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
