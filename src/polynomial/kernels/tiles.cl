// SPDX-License-Identifier: BSD-3-Clause
// variant: REAL_BITS=64 LIFT=1 STEPS=4 GROUP=8 LANES=8 WARPS=4 TICKS=16 BLOCKS=2
// variant: REAL_BITS=32 LIFT=1 STEPS=8 GROUP=8 LANES=4 WARPS=4 TICKS=16 BLOCKS=3
// variant: REAL_BITS=64 LIFT=1 STEPS=4 GROUP=32 LANES=2 WARPS=1 TICKS=4 BLOCKS=12
// variant: REAL_BITS=64 LIFT=1 STEPS=4 GROUP=32 LANES=4 WARPS=1 TICKS=4 BLOCKS=12
// variant: REAL_BITS=64 LIFT=1 STEPS=4 GROUP=32 LANES=8 WARPS=4 TICKS=8 BLOCKS=2
// variant: REAL_BITS=64 LIFT=0 STEPS=4 GROUP=8 LANES=8 WARPS=4 TICKS=16 BLOCKS=2
// variant: REAL_BITS=32 LIFT=0 STEPS=4 GROUP=8 LANES=8 WARPS=4 TICKS=16 BLOCKS=3
// variant: REAL_BITS=64 LIFT=0 STEPS=4 GROUP=8 LANES=2 WARPS=1 TICKS=8 BLOCKS=1
// variant: REAL_BITS=32 LIFT=0 STEPS=4 GROUP=8 LANES=2 WARPS=1 TICKS=8 BLOCKS=1
// variant: REAL_BITS=64 LIFT=0 STEPS=1 GROUP=32 LANES=4 WARPS=4 TICKS=4 BLOCKS=2 SCAN=13
// variant: REAL_BITS=64 LIFT=0 STEPS=1 GROUP=32 LANES=4 WARPS=4 TICKS=4 BLOCKS=2 SCAN=28
// variant: REAL_BITS=32 LIFT=0 STEPS=1 GROUP=32 LANES=4 WARPS=4 TICKS=4 BLOCKS=2 SCAN=28
// variant: REAL_BITS=64 LIFT=0 STEPS=1 GROUP=32 LANES=4 WARPS=1 TICKS=4 BLOCKS=2 SCAN=6
// variant: REAL_BITS=64 LIFT=1 STEPS=2 GROUP=4 LANES=2 WARPS=2 TICKS=8 BLOCKS=1
// variant: REAL_BITS=64 LIFT=0 STEPS=16 GROUP=8 LANES=4 WARPS=4 TICKS=4 BLOCKS=2 TENSOR=4
// Stages of polynomial transforms on tiles of right-hand sides; polynomial/gpu.h. A tile lies in its lines of the work array. A
// lane of a tile: the real or the imaginary part of one system. A block has WARPS warps of COLUMNS lanes each, all of one job,
// so that its warps need the same rotations at the same time.
//
// Chains of rotations: systolic.h.cl, or with SCAN scan.h.cl, with TENSOR tensor.h.cl.

#if IS_CUDA
#define TILE_SYNC() WARP_SYNC()
#define TWICE _Pragma("unroll 2")
#define ROLL
#define ACROSS WARP // threads that make rows of a lane's product
#define SOME 4      // lanes that each makes between barriers
#define BATCH 8     // reads on their way before the first is stored
#define UNROLL _Pragma("unroll")
#define PRODUCT_SYNC() WARP_SYNC()
#else
#define TILE_SYNC() BARRIER()
#define TWICE _Pragma("unroll 1")
#define ROLL _Pragma("unroll 1") // PoCL takes minutes over what it unrolls
#define ACROSS 1
#define SOME 1
#define BATCH 1
#define UNROLL
#define PRODUCT_SYNC() ((void)0)
#endif
#ifndef SCAN
#define SCAN 0
#endif
#ifndef TENSOR
#define TENSOR 0
#endif
#define THREADS (WARP * WARPS)
#define SPAN (GROUP * STEPS)              // steps of a pass
#define COLUMNS (WARP / GROUP * LANES)    // lanes of a warp
#define PITCH (COLUMNS + 2)               // of a tick's elements: pairs stay aligned, banks differ
#define STAGE (TICKS * STEPS * GROUP)     // rotations
#define RING (TICKS * PITCH)              // elements of a warp
#if TENSOR
#define SQUARE (14 * 64)                  // reals of a matrix
#define FROM_LAUNCH (TENSOR * SQUARE)     // pairs in shared memory: two stages
#else
#define FROM_LAUNCH (2 * STAGE + WARPS * 3 * RING / 2)
#endif

// As in polynomial/gpu.h.
typedef struct job {
  i64 before;               // systems of the jobs before, in this launch
  i64 system, systems, base; // first in the arrays of the caller, how many, first in the work array
  i64 take, take_at, take_step, plane; // rows that are read: element take_at + i take_step, or of the work array
  i64 rows;                 // that the tile has: 0 beyond `take`
  i64 put, put_all, put_at, put_step; // rows that are written, as they are and as zeros beyond `put`
  i64 op, ops;
} job;
typedef struct op {
  i64 kind, n, steps, a, b, row;
} op;

enum { CLEAR, SCALE, PRODUCT, PRODUCT_TRANSPOSED, SOLVE, SOLVE_TRANSPOSED, LOWER, RAISE };

// An array of the caller: strides in reals.
typedef struct side {
  i64 at, element, system, shape[6], stride[6];
  i32 lead, work;
} side;
typedef struct tiles_args {
  side in, out;
  i64 line, plane, per; // of the work array, in reals; lanes of a system
  i32 jobs, parts;
} tiles_args;

// Where lane `lane` of a job begins.
DEVICE i64 lane_at(side s, i64 system, i64 systems, i64 base, i64 plane, i64 lane, tiles_args t)
{
  if (s.work)
    return plane * t.plane + (base * t.per + lane) * t.line;
  i64 part = lane % t.parts, at = lane / t.parts, index = at / systems;
  i64 offset = s.at + part + (system + at % systems) * s.system;
  for (i32 d = 5; d > 0; d--) // by constants: the struct stays where arguments are
    if (d < s.lead) {
      offset += index % s.shape[d] * s.stride[d];
      index /= s.shape[d];
    }
  return offset + (s.lead ? index * s.stride[0] : 0);
}

#if SCAN
#include "polynomial/kernels/scan.h.cl"
#elif TENSOR
#include "polynomial/kernels/tensor.h.cl"
#else
#include "polynomial/kernels/systolic.h.cl"
#endif

// Bidiagonal products, in the direction in which rows that are still to be read are not yet written: on CUDA all threads of a warp
// side by side, in OpenCL a thread a lane, since PoCL takes long over barriers in loops one after the other. n < 0: none.
DEVICE void product(GLOBAL real *x, i32 room, i32 mine, i32 n, i32 s, i32 transposed, GLOBAL const real *d, GLOBAL const real *e)
{
  const i32 id = LOCAL_ID(0) % WARP, thread = id % ACROSS, count = n + transposed;
  ROLL
  for (i32 some = id / ACROSS * SOME; some < (n >= 0 ? COLUMNS : 0); some += WARP / ACROSS * SOME)
    for (i32 at = 0; at < count; at += ACROSS) {
      const i32 i = transposed ? n - at - thread : at + thread, lanes = i >= 0 && i < count ? min(mine - some, (i32)SOME) : 0;
      const i32 p = transposed ? i : i + s + 1, q = transposed ? i - 1 : i + s; // rows
      const i32 has_p = lanes && i < n, has_q = lanes && q >= 0;
      const real by_p = has_p ? (transposed ? d[i] : e[i]) : (real)0, by_q = has_q ? (transposed ? e[i - 1] : d[i]) : (real)0;
      real y[SOME];
      for (i32 r = 0; r < SOME; r++)
        y[r] = r < lanes ? FMA(by_p, has_p ? x[(some + r) * room + p] : (real)0, has_q ? MUL_EXACT(by_q, x[(some + r) * room + q]) : (real)0) : (real)0;
      PRODUCT_SYNC();
      for (i32 r = 0; r < SOME; r++)
        if (r < lanes)
          x[(some + r) * room + (transposed ? i + s : i)] = y[r];
      PRODUCT_SYNC();
    }
  for (i32 i = thread; i < (transposed ? s : 0); i += ACROSS)
    for (i32 r = id / ACROSS; r < mine; r += WARP / ACROSS)
      x[r * room + i] = 0;
}

// A thread a lane: recurrences in the CPU's order.
DEVICE void solve(GLOBAL real *x, i32 room, i32 mine, i32 n, i32 transposed, GLOBAL const real *d, GLOBAL const real *e)
{
  const i32 thread = LOCAL_ID(0) % WARP;
  real y = 0;
  x += thread * room;
  for (i32 i = 0; i < (thread < mine ? n : 0); i++) {
    i32 k = transposed ? i : n - 1 - i;
    real before = transposed ? (i ? -e[i - 1] : (real)0) : -e[k];
    y = MUL_EXACT(d[k], FMA(before, y, x[k]));
    x[k] = y;
  }
}

KERNEL_BLOCKS(THREADS, BLOCKS)
tiles(GLOBAL const real *in, GLOBAL real *out, GLOBAL real *work, GLOBAL const real *RESTRICT numbers,
      GLOBAL const real2 *RESTRICT turns, GLOBAL const job *RESTRICT jobs, GLOBAL const op *RESTRICT ops, tiles_args t)
{
  SHARED_FROM_LAUNCH(real2, stages, FROM_LAUNCH);
  SHARED i64 places[WARPS * COLUMNS];
#if IS_CUDA
  IN_SHARED real *neighbours = 0;
#else
  SHARED real neighbours[2 * LANES * THREADS];
#endif
  const i32 thread = LOCAL_ID(0) % WARP, warp = LOCAL_ID(0) / WARP;
  // job j has the tiles from before per / (lanes of a tile) + j on: enough, and at most one too many
  const i64 tile = GROUP_ID(0);
  i32 lo = 0, hi = t.jobs;
  while (hi - lo > 1) {
    i32 mid = (lo + hi) / 2;
    if (jobs[mid].before * t.per / (WARPS * COLUMNS) + mid <= tile)
      lo = mid;
    else
      hi = mid;
  }
  const job w = jobs[lo];
  const i64 lanes = w.systems * t.per, tile_lane = (tile - w.before * t.per / (WARPS * COLUMNS) - lo) * (WARPS * COLUMNS);
  if (tile_lane >= lanes)
    return;
  const i64 lane = tile_lane + warp * COLUMNS;
  const i32 mine = (i32)max(min(lanes - lane, (i64)COLUMNS), (i64)0);
  const i32 room = (i32)t.line, rows = (i32)w.rows, take = (i32)w.take, put_rows = (i32)w.put, all = (i32)w.put_all;
  GLOBAL real *x = work + (w.base * t.per + lane) * t.line;
  IN_SHARED i64 *place = places + warp * COLUMNS;
  // rows of plane 0 are in place, read or written; without stages, rows go from the work array to the caller's
  const i32 direct = !w.ops && t.in.work && !t.out.work;
  for (i32 r = thread; r < mine; r += WARP)
    place[r] = lane_at(t.in, w.system, w.systems, w.base, w.plane, lane + r, t);
  TILE_SYNC();
  const i32 from = t.in.work && !w.plane ? take : 0, in_pairs = !t.in.work && t.parts == 2;
  const i64 in_at = t.in.work ? 0 : w.take_at * t.in.element, in_step = t.in.work ? 1 : w.take_step * t.in.element;
  for (i32 r = 0; r < (direct ? 0 : mine); r += 1 + in_pairs)
    for (i32 first = thread, end = (rows - from) << in_pairs; first < end; first += BATCH * WARP) {
      real got[BATCH];
      UNROLL for (i32 u = 0; u < BATCH; u++) { // both parts of a number by neighbours
        i32 e = first + u * WARP, k = from + (e >> in_pairs);
        got[u] = e < end && k < take ? in[place[r] + (e & in_pairs) + in_at + k * in_step] : (real)0;
      }
      UNROLL for (i32 u = 0; u < BATCH; u++) {
        i32 e = first + u * WARP;
        if (e < end)
          x[(r + (e & in_pairs)) * room + from + (e >> in_pairs)] = got[u];
      }
    }
  BARRIER();
  for (i32 i = 0; i < (i32)w.ops; i++) { // each stage by loops of its own: no arms with barriers
    const op o = ops[w.op + i];
    const i32 kind = (i32)o.kind, n = (i32)o.n, steps = (i32)o.steps;
    GLOBAL const real *d = numbers + o.a, *e = numbers + o.b;
    for (i32 k = thread + (kind == CLEAR ? n : 0); k < (kind == CLEAR ? steps : kind == SCALE ? n : 0); k += WARP) {
      real factor = kind == SCALE ? d[k] : (real)0;
      for (i32 first = 0; first < mine; first += BATCH) {
        real y[BATCH];
        UNROLL for (i32 u = 0; u < BATCH; u++)
          y[u] = kind == SCALE && first + u < mine ? MUL_EXACT(factor, x[(first + u) * room + k]) : (real)0;
        UNROLL for (i32 u = 0; u < BATCH; u++)
          if (first + u < mine)
            x[(first + u) * room + k] = y[u];
      }
    }
    product(x, room, mine, kind == PRODUCT || kind == PRODUCT_TRANSPOSED ? n : -1, steps, kind == PRODUCT_TRANSPOSED, d, e);
    solve(x, room, mine, kind == SOLVE || kind == SOLVE_TRANSPOSED ? n : 0, kind == SOLVE_TRANSPOSED, d, e);
    const i32 chain_steps = kind == LOWER || kind == RAISE ? steps : 0;
#if SCAN
    chain(x, room, mine, n, chain_steps, kind == LOWER, (i32)o.b, turns + o.a, neighbours);
#elif TENSOR
    chain(x, room, mine, n, chain_steps, kind == LOWER, (i32)o.b, turns + o.a, (i32)o.row, (IN_SHARED real *)stages, (IN_SHARED u64 *)neighbours);
#else
    chain(x, room, mine, n, chain_steps, kind == LOWER, (i32)o.b, turns + o.a, (i32)o.row, (IN_SHARED real *)stages,
          (IN_SHARED real *)(stages + 2 * STAGE) + warp * 3 * RING, neighbours);
#endif
    TILE_SYNC();
  }
#if TENSOR && IS_CUDA
  asm volatile("" : "+r"(lo)); // the job is read again and takes no registers before
  const job again = jobs[lo];
#else
#define again w
#endif
  for (i32 r = thread; r < mine; r += WARP)
    place[r] = lane_at(t.out, again.system, again.systems, again.base, 0, lane + r, t);
  TILE_SYNC();
  const i32 some = direct ? min(put_rows, take) : put_rows, begin = t.out.work ? put_rows : 0, out_pairs = !t.out.work && t.parts == 2;
  const i64 out_at = t.out.work ? 0 : again.put_at * t.out.element, out_step = t.out.work ? 1 : again.put_step * t.out.element;
  GLOBAL const real *source = direct ? x + again.plane * t.plane : x;
  for (i32 r = 0; r < mine; r += 1 + out_pairs)
    for (i32 first = thread, end = (all - begin) << out_pairs; first < end; first += BATCH * WARP) {
      real got[BATCH];
      UNROLL for (i32 u = 0; u < BATCH; u++) {
        i32 e = first + u * WARP, k = begin + (e >> out_pairs);
        got[u] = e < end && k < some ? source[(r + (e & out_pairs)) * room + k] : (real)0;
      }
      UNROLL for (i32 u = 0; u < BATCH; u++) {
        i32 e = first + u * WARP;
        if (e < end)
          out[place[r] + (e & out_pairs) + out_at + (begin + (e >> out_pairs)) * out_step] = got[u];
      }
    }
}
