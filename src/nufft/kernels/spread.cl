// SPDX-License-Identifier: BSD-3-Clause
// Strengths at points to the fine grid, gathered: a block of threads owns the columns of a pillar, one each, and marches along
// the layers of its box. What it adds up for the WIDTH layers ahead is in registers. No other block writes these cells, so
// there are no atomics, each cell is written once, and sums have the same order in every run. A box with too many points is
// cut in parts, which are summed in order afterwards.
//
// NDIM, WIDTH, DEGREE, PIECES: the kernel's polynomials. COLUMNS, ROWS, LAYERS: of a box. LEFT, UP: how many pillars before
// the own one, along columns and rows, have points that reach it.
//
// variant: NDIM=3 WIDTH=8 DEGREE=10 PIECES=1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2 COLUMNS=8 ROWS=8 LAYERS=32 GRADIENT=1 LEFT=1 UP=1 REAL_BITS=64
// variant: NDIM=3 WIDTH=12 DEGREE=13 PIECES=1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2 COLUMNS=8 ROWS=8 LAYERS=32 GRADIENT=0 LEFT=2 UP=2 REAL_BITS=64
// variant: NDIM=3 WIDTH=7 DEGREE=7 PIECES=1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2 COLUMNS=8 ROWS=8 LAYERS=32 LEFT=1 UP=1 REAL_BITS=64
// variant: NDIM=3 WIDTH=7 DEGREE=7 PIECES=1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2 COLUMNS=8 ROWS=8 LAYERS=32 GRADIENT=1 LEFT=1 UP=1 REAL_BITS=64
// variant: NDIM=3 WIDTH=13 DEGREE=11 PIECES=1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8 COLUMNS=8 ROWS=8 LAYERS=32 LEFT=2 UP=2 REAL_BITS=64
// variant: NDIM=3 WIDTH=5 DEGREE=6 PIECES=1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5 COLUMNS=8 ROWS=8 LAYERS=32 LEFT=1 UP=1 REAL_BITS=32
// variant: NDIM=2 WIDTH=7 DEGREE=7 PIECES=1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2 COLUMNS=64 ROWS=1 LAYERS=32 LEFT=1 UP=0 REAL_BITS=64
// variant: NDIM=2 WIDTH=5 DEGREE=6 PIECES=1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5 COLUMNS=64 ROWS=1 LAYERS=32 LEFT=1 UP=0 REAL_BITS=32
// variant: NDIM=2 WIDTH=5 DEGREE=6 PIECES=1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5 COLUMNS=64 ROWS=1 LAYERS=32 GRADIENT=1 LEFT=1 UP=0 REAL_BITS=32
// variant: NDIM=1 WIDTH=7 DEGREE=7 PIECES=1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2 COLUMNS=64 ROWS=1 LAYERS=1 LEFT=1 UP=0 REAL_BITS=64

#include "nufft/kernels/boxes.h.cl"
#include "nufft/kernels/pairs.h.cl"
#define THREADS (COLUMNS * ROWS)
#define RANGES ((LEFT + 1) * (UP + 1))
#define STEPS (LAYERS + MARCHED - 1) // layers with points that reach a box
#define LISTS (STEPS * RANGES)
#define EACH ((LISTS + THREADS - 1) / THREADS)
#define PAIRS (HALF | 1) // pairs of weights along layers, and one more if they are even: for the banks
#define FAR 128 // offsets of pillars from the box are stored with this added
#define NEW 0x100u
// Threads that add up what reaches their columns, the same points at a time. Less than a warp where a point reaches few of a warp's
// columns: then its teams are at different points.
#ifndef TEAM
#define TEAM (NDIM > 2 ? WARP : 8)
#endif
#define TEAMS (THREADS / TEAM)
#define OF_WARP (WARP / TEAM) // teams of a warp
// What a chunk holds per point. Of three dimensions one number per column and row of the box, with zeros where the point does not
// reach, so that adding up asks nothing; else the weights, and a zero behind them.
#if NDIM > 2
#define LINE (COLUMNS | 1)
#define RISE (ROWS | 1)
#else
#define RISE ((WIDTH + 1) | 1)
#endif
// Blocks of a multiprocessor: sums, weights and addresses fit in the registers that they leave.
#if GRADIENT
#define BLOCKS (REAL_BITS == 32 ? 8 : WIDTH <= 8 ? 6 : 4)
#elif REAL_BITS == 32
#define BLOCKS (WIDTH <= 5 ? 16 : 12)
#elif WIDTH <= 8
#define BLOCKS 10
#else
#define BLOCKS 6
#endif

// Parts of each box: jobs of it, and if there are several, places in the side buffer. All points of the pillars before count.
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
      n += start[(first + z1) * BIN_PARTS] - start[(first + (z < 0 ? 0 : z)) * BIN_PARTS];
      n += z < 0 ? start[(first + layers) * BIN_PARTS] - start[(first + layers + z) * BIN_PARTS] : 0;
    }
    i64 parts = b == s.boxes ? 0 : n <= s.limit ? 1 : (n + s.limit - 1) / s.limit;
    jobs[b] = (u32)parts;
    sides[b] = parts > 1 ? (u32)parts : 0;
  }
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
                       GLOBAL const u32 *RESTRICT sides, GLOBAL const u32 *RESTRICT source,
                       GLOBAL const real2 *RESTRICT strengths, GLOBAL real2 *grid, GLOBAL real2 *side, box_shape s)
{
  SHARED u32 before[EACH * THREADS + 1], list[LISTS]; // points of the stream before each list; the first point of each
  SHARED u32 sum[THREADS], range_offset[RANGES];
  SHARED u32 flags[THREADS];          // of a chunk's point: a bit per team that it reaches, NEW for the first of a layer
  SHARED u32 layer_of[THREADS], column_of[THREADS];
#if GRADIENT
  SHARED real strong[THREADS * RISE], strong_slope[THREADS * RISE]; // weights alone
  SHARED real2 numbers[THREADS * PARTS]; // of points, derivatives by t
#else
  SHARED real2 strong[THREADS * RISE]; // weights times strengths: along columns; of three dimensions, along rows
#endif
#if NDIM > 1
  SHARED real2 march[THREADS * PAIRS];
#endif
#if NDIM > 2
  SHARED real along[THREADS * LINE];
#endif
#if GRADIENT && NDIM > 1
  SHARED real2 march_slope[THREADS * PAIRS];
#endif
#if GRADIENT && NDIM > 2
  SHARED real along_slope[THREADS * LINE];
#endif
  i32 me = LOCAL_ID(0), column = me % COLUMNS, row = me / COLUMNS;
  i64 box = job[2 * GROUP_ID(0)], part = job[2 * GROUP_ID(0) + 1], parts = (i64)jobs[box + 1] - jobs[box];
  i64 pillar = box / s.parts[1], z0 = (box - pillar * s.parts[1]) * LAYERS, layers = s.fine[1];
  i32 steps = (i32)(z0 + LAYERS < layers ? LAYERS : layers - z0) + MARCHED - 1;
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
  for (i32 r = me; r < RANGES; r += THREADS) {
    i64 qy = py - r / (LEFT + 1), qx = px - r % (LEFT + 1);
    i64 by = qy < 0 ? -s.fine[2] : 0, bx = qx < 0 ? -s.fine[0] : 0; // around the period
    qy += qy < 0 ? s.parts[2] : 0;
    qx += qx < 0 ? s.parts[0] : 0;
    by += start_of(qy, s.fine[2], s.parts[2]) - y0;
    bx += start_of(qx, s.fine[0], s.parts[0]) - x0;
    range_offset[r] = (u32)((i32)bx + FAR) | (u32)((i32)by + FAR) << 16;
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
      bool from_left = r % (LEFT + 1) > 0, from_up = r > LEFT;
      list[k] = start[bin * BIN_PARTS + first_part(from_left, from_up)];
      count = start[bin * BIN_PARTS + end_part(from_left, from_up)] - list[k];
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
  i32 cx = 0, cy = 0, cz = 0; // of this thread's point: its first column and row in the box, its layer
  u32 new_layer = 0;          // NEW, where the point is the first of its layer
  real2 c = MAKE_REAL2(0, 0);
#if GRADIENT
  real2 dipole[NDIM];
  UNROLL for (i32 k = 0; k < NDIM; k++)
    dipole[k] = c;
#endif
  real tx = 0, ty = 0, tz = 0;
  i32 team = me / TEAM;
  for (i64 chunk = (i64)first - THREADS; chunk < end; chunk += THREADS) {
    if (chunk >= first) {
      u32 bits = 0;
      for (i32 k = 0; k < TEAMS; k++) {
        i32 c0 = k * TEAM % COLUMNS, c1 = COLUMNS >= TEAM ? c0 + TEAM : COLUMNS;
        i32 r0 = k * TEAM / COLUMNS, r1 = COLUMNS >= TEAM ? r0 + 1 : r0 + TEAM / COLUMNS;
        bits |= cx < c1 && cx + WIDTH > c0 && cy < r1 && cy + ACROSS > r0 ? 1u << k : 0;
      }
      flags[me] = chunk + me < end ? bits | new_layer : 0;
      layer_of[me] = (u32)cz;
      column_of[me] = (u32)cx;
#if GRADIENT
      numbers[me * PARTS] = c;
      UNROLL for (i32 k = 0; k < NDIM; k++)
        numbers[me * PARTS + 1 + k] = dipole[k];
#if NDIM > 2
      put_in_box(false, along + me * LINE, COLUMNS, cx, tx);
      put_in_box(true, along_slope + me * LINE, COLUMNS, cx, tx);
      put_in_box(false, strong + me * RISE, ROWS, cy, ty);
      put_in_box(true, strong_slope + me * RISE, ROWS, cy, ty);
#else
      put_all(false, strong + me * RISE, tx);
      put_all(true, strong_slope + me * RISE, tx);
      strong[me * RISE + WIDTH] = strong_slope[me * RISE + WIDTH] = 0;
#endif
#elif NDIM > 2
      put_in_box(false, along + me * LINE, COLUMNS, cx, tx);
      for (i32 k = 0; k < ROWS; k++)
        strong[me * RISE + k] = MAKE_REAL2(0, 0);
      UNROLL for (i32 j = 0; j < HALF; j++) {
        real2 w = two_weights(j, ty);
        if (cy + j >= 0 && cy + j < ROWS)
          strong[me * RISE + cy + j] = MAKE_REAL2(w.x * c.x, w.x * c.y);
        if (cy + WIDTH - 1 - j >= 0 && cy + WIDTH - 1 - j < ROWS)
          strong[me * RISE + cy + WIDTH - 1 - j] = MAKE_REAL2(w.y * c.x, w.y * c.y);
      }
#else
      UNROLL for (i32 j = 0; j < HALF; j++) {
        real2 w = two_weights(j, tx);
        strong[me * RISE + j] = MAKE_REAL2(w.x * c.x, w.x * c.y);
        strong[me * RISE + WIDTH - 1 - j] = MAKE_REAL2(w.y * c.x, w.y * c.y);
      }
      strong[me * RISE + WIDTH] = MAKE_REAL2(0, 0);
#endif
#if NDIM > 1
      put_all(false, (IN_SHARED real *)(march + me * PAIRS), tz);
#if GRADIENT
      put_all(true, (IN_SHARED real *)(march_slope + me * PAIRS), tz);
#endif
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
      u32 p = place[i], o = range_offset[low % RANGES];
      cx = (i32)(p & 255) + (i32)(o & 0xffff) - FAR;
      cy = (i32)(p >> 8 & 255) + (i32)(o >> 16) - FAR;
      cz = low / RANGES;
      new_layer = before[cz * RANGES] == k ? NEW : 0;
      i64 number = source[i] * s.stride;
      c = from[number];
#if GRADIENT
      UNROLL for (i32 k = 0; k < NDIM; k++) {
        real slope = (real)s.slope[k];
        real2 m = from[number + NUMBER_OF(k) * s.part];
        dipole[k] = MAKE_REAL2(slope * m.x, slope * m.y);
      }
#endif
      tx = fraction[i];
#if NDIM > 1
      tz = fraction[s.n + i];
#endif
#if NDIM > 2
      ty = fraction[2 * s.n + i];
#endif
    }
    for (i32 part_of = 0; part_of < (chunk >= first ? THREADS / WARP : 0); part_of++) { // WARP points of the chunk
      u32 rest = 0, turn = 0; // bits of points that reach this team's columns, and of those that begin a layer
#if IS_CUDA
      u32 flag = flags[part_of * WARP + me % WARP];
      UNROLL for (i32 k = 0; k < OF_WARP; k++) {
        u32 of_team = BALLOT(flag >> (me / WARP * OF_WARP + k) & 1);
        rest = k == team % OF_WARP ? of_team : rest;
      }
      turn = BALLOT(flag & NEW);
#else
      for (i32 k = 0; k < WARP; k++) {
        rest |= (flags[part_of * WARP + k] >> team & 1) << k;
        turn |= (flags[part_of * WARP + k] & NEW ? 1u : 0u) << k;
      }
#endif
      while (rest) { // the points of one layer, whose sums stay in their registers
        u32 lowest = rest & (0u - rest), later = turn & ~(lowest | (lowest - 1)), some = later ? rest & ((later & (0u - later)) - 1) : rest;
        i32 here = (i32)layer_of[part_of * WARP + HIGHEST_BIT(lowest)];
        rest ^= some;
        for (; layer < here; layer++) {
          if (layer >= MARCHED - 1 && own)
            to[at + (layer - (MARCHED - 1)) * step] = MAKE_REAL2(re[0], im[0]);
          next_layer(re, im);
        }
        do {
          i32 bit = HIGHEST_BIT(some), i = part_of * WARP + bit;
          some ^= 1u << bit;
#if GRADIENT // v: what goes with weights along layers, d: what goes with their derivatives
          IN_SHARED const real2 *point = numbers + i * PARTS;
          real2 v = point[0], by_x = point[1], d = MAKE_REAL2(0, 0);
#if NDIM > 2
          real2 by_y = point[3];
          real q = along[i * LINE + column], q_slope = along_slope[i * LINE + column];
          real r = strong[i * RISE + row], r_slope = strong_slope[i * RISE + row];
          real both = q * r, slope_x = q_slope * r, slope_y = q * r_slope;
          v = MAKE_REAL2(FMA(slope_y, by_y.x, FMA(slope_x, by_x.x, both * v.x)),
                         FMA(slope_y, by_y.y, FMA(slope_x, by_x.y, both * v.y)));
#else
          u32 j = (u32)column - column_of[i];
          i32 weight = i * RISE + (j < WIDTH ? (i32)j : WIDTH);
          real both = strong[weight], slope_x = strong_slope[weight];
          v = MAKE_REAL2(FMA(slope_x, by_x.x, both * v.x), FMA(slope_x, by_x.y, both * v.y));
#endif
#if NDIM > 1
          d = MAKE_REAL2(both * point[2].x, both * point[2].y);
#endif
#elif NDIM > 2
          real q = along[i * LINE + column];
          real2 v = strong[i * RISE + row];
          v = MAKE_REAL2(q * v.x, q * v.y);
#else
          u32 j = (u32)column - column_of[i]; // WIDTH or beyond: the zero behind the weights
          real2 v = strong[i * RISE + (j < WIDTH ? (i32)j : WIDTH)];
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
#if GRADIENT
            w = march_slope[i * PAIRS + j];
            re[2 * j] = FMA(d.x, w.x, re[2 * j]);
            im[2 * j] = FMA(d.y, w.x, im[2 * j]);
            if (2 * j + 1 < WIDTH) {
              re[2 * j + 1] = FMA(d.x, w.y, re[2 * j + 1]);
              im[2 * j + 1] = FMA(d.y, w.y, im[2 * j + 1]);
            }
#endif
          }
#else
          re[0] += v.x;
          im[0] += v.y;
#endif
        } while (some);
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

// The parts of boxes that were cut, added up in order; blocks share a box's layers.
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
    for (i64 z = z0 + GROUP_ID(2); z < z1; z += GROUPS(2)) {
      real re = 0, im = 0;
      for (i64 p = 0; p < parts; p++) {
        real2 c = from[(p * LAYERS + z - z0) * THREADS];
        re += c.x;
        im += c.y;
      }
      to[z * s.fine[2] * s.fine[0]] = MAKE_REAL2(re, im);
    }
}
