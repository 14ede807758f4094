// SPDX-License-Identifier: BSD-3-Clause
// The fine grid to values at points: a block takes up to `limit` points of a box, whose cells, with the margin that the kernel
// reaches, it holds in shared memory. GROUP threads share a point, one each along the columns, so that they read neighbours.
//
// As in kernels/spread.cl; GROUP: a power of two of at least WIDTH, at most 32. TILED 0: cells are read from the grid, where
// a box does not fit in shared memory.
//
// variant: NDIM=3 WIDTH=8 DEGREE=10 PIECES=1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2 COLUMNS=8 ROWS=8 LAYERS=8 GROUP=8 TILED=1 GRADIENT=1 REAL_BITS=64
// variant: NDIM=3 WIDTH=12 DEGREE=13 PIECES=1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2 COLUMNS=8 ROWS=8 LAYERS=8 GROUP=16 TILED=1 GRADIENT=0 REAL_BITS=64
// variant: NDIM=3 WIDTH=7 DEGREE=7 PIECES=1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2 COLUMNS=8 ROWS=8 LAYERS=8 GROUP=8 TILED=1 REAL_BITS=64
// variant: NDIM=3 WIDTH=13 DEGREE=11 PIECES=1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8 COLUMNS=8 ROWS=8 LAYERS=8 GROUP=16 TILED=1 REAL_BITS=64
// variant: NDIM=3 WIDTH=5 DEGREE=6 PIECES=1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5 COLUMNS=8 ROWS=8 LAYERS=8 GROUP=8 TILED=1 REAL_BITS=32
// variant: NDIM=3 WIDTH=5 DEGREE=6 PIECES=1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5 COLUMNS=8 ROWS=8 LAYERS=8 GROUP=8 TILED=1 GRADIENT=1 REAL_BITS=32
// variant: NDIM=2 WIDTH=7 DEGREE=7 PIECES=1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2 COLUMNS=64 ROWS=1 LAYERS=16 GROUP=8 TILED=1 REAL_BITS=64
// variant: NDIM=2 WIDTH=7 DEGREE=7 PIECES=1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2 COLUMNS=64 ROWS=1 LAYERS=16 GROUP=8 TILED=0 REAL_BITS=64
// variant: NDIM=2 WIDTH=7 DEGREE=7 PIECES=1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2 COLUMNS=64 ROWS=1 LAYERS=16 GROUP=8 TILED=0 GRADIENT=1 REAL_BITS=64
// variant: NDIM=1 WIDTH=7 DEGREE=7 PIECES=1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2,8,1,8,2,1,5,5,1,2 COLUMNS=64 ROWS=1 LAYERS=1 GROUP=8 TILED=1 REAL_BITS=64

#include "nufft/kernels/boxes.h.cl"
#define THREADS 256
#define POINTS (THREADS / GROUP) // at a time
#define LINE (COLUMNS + WIDTH - 1)
#define PLANE (LINE * (ROWS + ACROSS - 1))
#define CELLS (PLANE * (LAYERS + MARCHED - 1))

#if GRADIENT
// The derivative of a weight by t.
DEVICE real weight_slope(const real *coefficient, real t)
{
  real w = DEGREE * coefficient[DEGREE];
  UNROLL for (i32 g = DEGREE - 1; g > 0; g--)
    w = FMA(w, t, g * coefficient[g]);
  return w;
}
#endif

// Number k of a point: the sum over its threads, each times a weight.
#define PUT_SUM(k, weight, real_part, imaginary_part) \
  { \
    real a = (weight) * (real_part), b = (weight) * (imaginary_part); \
    UNROLL for (i32 step = 1; step < GROUP; step *= 2) { \
      a += SHUFFLE_XOR(a, step); \
      b += SHUFFLE_XOR(b, step); \
    } \
    if (writes) \
      mine_to[(k) * s.part] = MAKE_REAL2(a, b); \
  }

KERNEL(THREADS) interpolate_count(GLOBAL const u32 *RESTRICT start, GLOBAL u32 *RESTRICT jobs, box_shape s)
{
  i64 b = GLOBAL_ID(0);
  if (b <= s.boxes) {
    i64 pillar = b / s.parts[1], z0 = (b - pillar * s.parts[1]) * LAYERS, z1 = z0 + LAYERS < s.fine[1] ? z0 + LAYERS : s.fine[1];
    i64 first = pillar * s.fine[1];
    jobs[b] = b == s.boxes ? 0 : (u32)(((i64)start[(first + z1) * BIN_PARTS] - start[(first + z0) * BIN_PARTS] + s.limit - 1) / s.limit);
  }
}

KERNEL(THREADS) interpolate(GLOBAL const u32 *RESTRICT source, GLOBAL const u32 *RESTRICT place,
                            GLOBAL const real *RESTRICT fraction, GLOBAL const u32 *RESTRICT start,
                            GLOBAL const u32 *RESTRICT job, GLOBAL const real2 *grid, GLOBAL real2 *values, box_shape s)
{
#if TILED
  SHARED_FROM_LAUNCH(real2, tile, CELLS);
#endif
#if NDIM > 1
  SHARED real march[THREADS];
#endif
#if NDIM > 2
  SHARED real across[THREADS];
#endif
#if GRADIENT && NDIM > 1
  SHARED real march_slope[THREADS];
#endif
#if GRADIENT && NDIM > 2
  SHARED real across_slope[THREADS];
#endif
  SHUFFLE_ROOM(THREADS);
  i32 me = LOCAL_ID(0), mine = me % GROUP, slot = me / GROUP;
  i64 box = job[2 * GROUP_ID(0)], pillar = box / s.parts[1], z0 = (box - pillar * s.parts[1]) * LAYERS;
  i64 z1 = z0 + LAYERS < s.fine[1] ? z0 + LAYERS : s.fine[1];
  i64 py = pillar / s.parts[0], px = pillar - py * s.parts[0];
  i64 x0 = start_of(px, s.fine[0], s.parts[0]), y0 = start_of(py, s.fine[2], s.parts[2]);
  i64 first = start[(pillar * s.fine[1] + z0) * BIN_PARTS] + (i64)job[2 * GROUP_ID(0) + 1] * s.limit;
  i64 end = start[(pillar * s.fine[1] + z1) * BIN_PARTS];
  i32 count = (i32)(end - first < s.limit ? end - first : s.limit);
  GLOBAL const real2 *from = grid + GROUP_ID(1) * s.cells;
  GLOBAL real2 *to = values + s.first + GROUP_ID(1) * s.batch_stride;
#if TILED
  i32 wide = (i32)(start_of(px + 1, s.fine[0], s.parts[0]) - x0) + WIDTH - 1;
  i32 high = (i32)(start_of(py + 1, s.fine[2], s.parts[2]) - y0) + ACROSS - 1, deep = (i32)(z1 - z0) + MARCHED - 1;
  for (i32 i = me; i < CELLS; i += THREADS) {
    i32 c = i / PLANE, b = (i - c * PLANE) / LINE, a = i - c * PLANE - b * LINE;
    if (a < wide && b < high && c < deep) {
      i64 x = x0 + a, y = y0 + b, z = z0 + c;
      x -= x >= s.fine[0] ? s.fine[0] : 0;
      y -= y >= s.fine[2] ? s.fine[2] : 0;
      z -= z >= s.fine[1] ? s.fine[1] : 0;
      COPY_ASYNC_PAIR(tile, i, from, (z * s.fine[2] + y) * s.fine[0] + x);
    }
  }
  ASYNC_COMMIT();
#endif
  real coefficient[DEGREE + 1]; // of the weight of this thread's cell
  i32 cell = mine < WIDTH ? mine : WIDTH - 1;
  UNROLL for (i32 g = 0; g <= DEGREE; g++)
    coefficient[g] = mine < WIDTH ? piece[g * WIDTH + cell] : (real)0;
  // what is read of a point, one round ahead
  i64 next = first + (slot < count ? slot : 0);
  u32 next_place = count > 0 ? place[next] : 0;
  real next_x = count > 0 ? fraction[next] : 0;
#if NDIM > 1
  real next_z = count > 0 ? fraction[s.n + next] : 0;
#endif
#if NDIM > 2
  real next_y = count > 0 ? fraction[2 * s.n + next] : 0;
#endif
#if TILED
  ASYNC_WAIT(0);
#endif
  BARRIER();
  for (i32 k = 0; k < count; k += POINTS) {
    bool has = k + slot < count;
    i64 i = next;
    u32 p = next_place;
    real t = next_x, along = coefficient[DEGREE];
#if NDIM > 1
    real tz = next_z;
#endif
#if NDIM > 2
    real ty = next_y;
#endif
    u32 to_point = source[i];
    next = first + (k + POINTS + slot < count ? k + POINTS + slot : 0);
    next_place = place[next];
    next_x = fraction[next];
#if NDIM > 1
    next_z = fraction[s.n + next];
#endif
#if NDIM > 2
    next_y = fraction[2 * s.n + next];
#endif
#if GRADIENT
    real along_slope = weight_slope(coefficient, t);
#endif
    UNROLL for (i32 g = DEGREE - 1; g >= 0; g--)
      along = FMA(along, t, coefficient[g]);
#if NDIM > 1
    real wz = coefficient[DEGREE];
    UNROLL for (i32 g = DEGREE - 1; g >= 0; g--)
      wz = FMA(wz, tz, coefficient[g]);
    march[me] = wz;
#if GRADIENT
    march_slope[me] = weight_slope(coefficient, tz);
#endif
#endif
#if NDIM > 2
    real wy = coefficient[DEGREE];
    UNROLL for (i32 g = DEGREE - 1; g >= 0; g--)
      wy = FMA(wy, ty, coefficient[g]);
    across[me] = wy;
#if GRADIENT
    across_slope[me] = weight_slope(coefficient, ty);
#endif
#endif
    WARP_SYNC();
    i32 ax = (i32)(p & 255) + cell, ay = (i32)(p >> 8 & 255), az = (i32)(p >> 16) % LAYERS;
#if NDIM > 2
    real rows[WIDTH];
    UNROLL for (i32 b = 0; b < WIDTH; b++)
      rows[b] = across[slot * GROUP + b];
#endif
#if GRADIENT && NDIM > 2
    real row_slopes[WIDTH], re_y = 0, im_y = 0;
    UNROLL for (i32 b = 0; b < WIDTH; b++)
      row_slopes[b] = across_slope[slot * GROUP + b];
#endif
#if GRADIENT && NDIM > 1
    real re_z = 0, im_z = 0;
#endif
#if !TILED
    i64 gx = x0 + ax;
    gx -= gx >= s.fine[0] ? s.fine[0] : 0;
#endif
    real re = 0, im = 0;
    UNROLL for (i32 c = 0; c < MARCHED; c++) {
#if TILED
      IN_SHARED const real2 *row = tile + (az + c) * PLANE + ay * LINE + ax;
#else
      i64 z = z0 + az + c;
      z -= z >= s.fine[1] ? s.fine[1] : 0;
#endif
      real sr = 0, si = 0;
#if GRADIENT && NDIM > 2
      real slope_re = 0, slope_im = 0;
#endif
      UNROLL for (i32 b = 0; b < ACROSS; b++) {
#if TILED
        real2 v = row[b * LINE];
#else
        i64 y = y0 + ay + b;
        y -= y >= s.fine[2] ? s.fine[2] : 0;
        real2 v = from[(z * s.fine[2] + y) * s.fine[0] + gx];
#endif
#if NDIM > 2
        sr = FMA(rows[b], v.x, sr);
        si = FMA(rows[b], v.y, si);
#if GRADIENT
        slope_re = FMA(row_slopes[b], v.x, slope_re);
        slope_im = FMA(row_slopes[b], v.y, slope_im);
#endif
#else
        sr = v.x;
        si = v.y;
#endif
      }
#if NDIM > 1
      real w = march[slot * GROUP + c];
      re = FMA(w, sr, re);
      im = FMA(w, si, im);
#if GRADIENT
      real dw = march_slope[slot * GROUP + c];
      re_z = FMA(dw, sr, re_z);
      im_z = FMA(dw, si, im_z);
#if NDIM > 2
      re_y = FMA(w, slope_re, re_y);
      im_y = FMA(w, slope_im, im_y);
#endif
#endif
#else
      re = sr;
      im = si;
#endif
    }
    GLOBAL real2 *mine_to = to + to_point * s.stride;
    bool writes = mine == 0 && has;
#if GRADIENT
    PUT_SUM(NUMBER_OF(0), (real)s.slope[0] * along_slope, re, im)
#if NDIM > 1
    PUT_SUM(NUMBER_OF(1), (real)s.slope[1] * along, re_z, im_z)
#endif
#if NDIM > 2
    PUT_SUM(NUMBER_OF(2), (real)s.slope[2] * along, re_y, im_y)
#endif
#endif
    PUT_SUM(0, along, re, im)
    WARP_SYNC(); // weights are read
  }
}
