// SPDX-License-Identifier: BSD-3-Clause
// variant: REAL_BITS=64 STEPS=4 LANES=4 WARPS=4 IN_MEMORY=0 ROOM=1
// variant: REAL_BITS=32 STEPS=4 LANES=4 WARPS=4 IN_MEMORY=0 ROOM=1
// variant: REAL_BITS=64 STEPS=4 LANES=4 WARPS=1 IN_MEMORY=0 ROOM=1
// variant: REAL_BITS=32 STEPS=4 LANES=4 WARPS=1 IN_MEMORY=0 ROOM=1
// variant: REAL_BITS=64 STEPS=4 LANES=2 WARPS=2 IN_MEMORY=0 ROOM=1
// variant: REAL_BITS=32 STEPS=4 LANES=2 WARPS=2 IN_MEMORY=0 ROOM=1
// variant: REAL_BITS=64 STEPS=4 LANES=1 WARPS=1 IN_MEMORY=0 ROOM=1
// variant: REAL_BITS=32 STEPS=4 LANES=1 WARPS=1 IN_MEMORY=0 ROOM=1
// variant: REAL_BITS=64 STEPS=4 LANES=1 WARPS=4 IN_MEMORY=1 ROOM=1
// variant: REAL_BITS=32 STEPS=4 LANES=1 WARPS=4 IN_MEMORY=1 ROOM=1
// Stages of polynomial transforms on tiles of LANES right-hand sides, a tile a warp; polynomial/gpu.h. A tile lies in
// shared memory as [LANES][room], or (IN_MEMORY, LANES = 1) is its line of the work array. A lane of a tile: the real or the
// imaginary part of one system.
//
// Chains of rotations go through the warp as through a systolic array: thread t makes STEPS consecutive steps on the element
// that thread t - 1 wrote one tick before, so that after n + (steps) + 32 ticks WARP STEPS steps are done in place. Where a chain
// begins and ends, rotations (C, S) = (1, 0) of the table hand elements on; each number goes through the operations of the
// CPU's loops in their order, and its bits are the same.

#if IN_MEMORY
#define TILE GLOBAL
#else
#define TILE IN_SHARED
#endif
#if IN_MEMORY && !IS_CUDA
#define TILE_SYNC() BARRIER()
#else
#define TILE_SYNC() WARP_SYNC()
#endif
#define SPAN (WARP * STEPS) // steps of a pass

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
  i32 jobs, parts, room;
} tiles_args;

// Where lane `lane` of a job begins.
DEVICE i64 lane_at(side s, i64 system, i64 systems, i64 base, i64 plane, i64 lane, tiles_args t)
{
  if (s.work)
    return plane * t.plane + (base * t.per + lane) * t.line;
  i64 part = lane % t.parts, at = lane / t.parts, index = at / systems;
  i64 offset = s.at + part + (system + at % systems) * s.system;
  for (i32 d = s.lead - 1; d > 0; d--) {
    offset += index % s.shape[d] * s.stride[d];
    index /= s.shape[d];
  }
  return offset + (s.lead ? index * s.stride[0] : 0);
}

// Steps [0, steps) of a chain on n rows, from step `top` of the table down: n + steps rows.
DEVICE void lower(TILE real *x, i32 room, i32 n, i32 steps, i32 top, GLOBAL const real2 *table, i32 width)
{
  const i32 thread = LOCAL_ID(0) % WARP;
  for (i32 done = 0; done < steps; done += SPAN) {
    i32 pass = min(steps - done, (i32)SPAN), rows = n + done, first = thread * STEPS;
    i32 mine = rows + first, c = min(max(pass - first, 0), (i32)STEPS), last = (pass + STEPS - 1) / STEPS - 1;
    i32 end = c ? mine + c : 0;
    real y[STEPS][LANES], turn_c[STEPS], turn_s[STEPS];
    real2 next[STEPS];
    i64 at[STEPS];
    for (i32 s = 0; s < STEPS; s++) {
      i32 g = top - done - first - s; // the step, its first rotation: k = mine + s - 1
      at[s] = ((i64)STEPS * (mine + s - 1) + (i64)(STEPS + 1) * g + STEPS * (STEPS + 2)) * width + max(g, 0) / STEPS;
      next[s] = MAKE_REAL2(0, 1);
      for (i32 r = 0; r < LANES; r++)
        y[s][r] = 0;
    }
    for (i32 t = -1; t < rows + pass + last; t++) {
      i32 i = t - thread, row = mine - 1 - i;
      for (i32 s = 0; s < STEPS; s++) {
        turn_c[s] = next[s].x;
        turn_s[s] = next[s].y;
        if (i + 1 >= 0 && i + 1 < end && s < c)
          next[s] = table[at[s] - (i64)(i + 1) * STEPS * width];
      }
      if (i >= 0 && i < end)
        for (i32 r = 0; r < LANES; r++) {
          real v = row >= 0 ? x[r * room + row] : (real)0;
          for (i32 s = 0; s < STEPS; s++) {
            real o = FMA(turn_c[s], y[s][r], MUL_EXACT(turn_s[s], v));
            y[s][r] = FMA(-turn_s[s], y[s][r], MUL_EXACT(turn_c[s], v));
            v = o;
          }
          x[r * room + row + c] = v;
        }
      TILE_SYNC();
    }
  }
}

// Steps [0, steps) of the table upwards, on n rows: n - steps rows.
DEVICE void raise(TILE real *x, i32 room, i32 n, i32 steps, GLOBAL const real2 *table, i32 width)
{
  const i32 thread = LOCAL_ID(0) % WARP;
  for (i32 done = 0; done < steps; done += SPAN) {
    i32 pass = min(steps - done, (i32)SPAN), rows = n - done, first = thread * STEPS;
    i32 c = min(max(pass - first, 0), (i32)STEPS), last = (pass + STEPS - 1) / STEPS - 1;
    real y[STEPS][LANES], turn_c[STEPS], turn_s[STEPS];
    real2 next[STEPS];
    i64 at[STEPS];
    for (i32 s = 0; s < STEPS; s++) {
      i32 g = done + first + s; // the rotation of row 0: k = -1 - s
      at[s] = ((i64)STEPS * (-1 - s) + (i64)(STEPS + 1) * g + STEPS * (STEPS + 2)) * width + g / STEPS;
      next[s] = MAKE_REAL2(0, 1);
      for (i32 r = 0; r < LANES; r++)
        y[s][r] = 0;
    }
    for (i32 t = -1; t < rows + last; t++) {
      i32 row = t - thread - first, stop = c ? rows - first : 0;
      for (i32 s = 0; s < STEPS; s++) {
        turn_c[s] = next[s].x;
        turn_s[s] = next[s].y;
        if (row + 1 >= 0 && row + 1 < stop && s < c)
          next[s] = table[at[s] + (i64)(row + 1) * STEPS * width];
      }
      if (row >= 0 && row < stop)
        for (i32 r = 0; r < LANES; r++) {
          real v = x[r * room + row];
          for (i32 s = 0; s < STEPS; s++) {
            real o = FMA(turn_c[s], y[s][r], MUL_EXACT(turn_s[s], v));
            y[s][r] = FMA(-turn_s[s], y[s][r], MUL_EXACT(turn_c[s], v));
            v = o;
          }
          if (row >= c)
            x[r * room + row - c] = v;
        }
      TILE_SYNC();
    }
  }
}

// Bidiagonal products: all threads, in the direction in which rows that are still to be read are not yet written.
DEVICE void product(TILE real *x, i32 room, i32 n, i32 s, GLOBAL const real *d, GLOBAL const real *e)
{
  const i32 thread = LOCAL_ID(0) % WARP;
  for (i32 at = 0; at < n; at += WARP) {
    i32 i = at + thread;
    real y[LANES];
    for (i32 r = 0; r < LANES; r++)
      y[r] = i < n ? FMA(e[i], x[r * room + i + s + 1], MUL_EXACT(d[i], x[r * room + i + s])) : (real)0;
    TILE_SYNC();
    for (i32 r = 0; r < LANES && i < n; r++)
      x[r * room + i] = y[r];
    TILE_SYNC();
  }
}
DEVICE void product_transposed(TILE real *x, i32 room, i32 n, i32 s, GLOBAL const real *d, GLOBAL const real *e)
{
  const i32 thread = LOCAL_ID(0) % WARP;
  for (i32 at = n; at >= 0; at -= WARP) {
    i32 i = at - thread;
    real y[LANES];
    for (i32 r = 0; r < LANES; r++)
      y[r] = i >= 0 ? FMA(i < n ? d[i] : (real)0, i < n ? x[r * room + i] : (real)0,
                          i > 0 ? MUL_EXACT(e[i - 1], x[r * room + i - 1]) : (real)0)
                    : (real)0;
    TILE_SYNC();
    for (i32 r = 0; r < LANES && i >= 0; r++)
      x[r * room + i + s] = y[r];
    TILE_SYNC();
  }
  for (i32 i = thread; i < s; i += WARP)
    for (i32 r = 0; r < LANES; r++)
      x[r * room + i] = 0;
}

// A thread a lane: recurrences in the CPU's order.
DEVICE void solve(TILE real *x, i32 room, i32 n, i32 transposed, GLOBAL const real *d, GLOBAL const real *e)
{
  const i32 thread = LOCAL_ID(0) % WARP;
  if (thread >= LANES)
    return;
  x += thread * room;
  real y = 0;
  if (transposed)
    for (i32 i = 0; i < n; i++) {
      y = MUL_EXACT(d[i], FMA(i ? -e[i - 1] : (real)0, y, x[i]));
      x[i] = y;
    }
  else
    for (i32 i = n - 1; i >= 0; i--) {
      y = MUL_EXACT(d[i], FMA(-e[i], y, x[i]));
      x[i] = y;
    }
}

DEVICE void clear(TILE real *x, i32 room, i32 from, i32 to)
{
  for (i32 i = from + LOCAL_ID(0) % WARP; i < to; i += WARP)
    for (i32 r = 0; r < LANES; r++)
      x[r * room + i] = 0;
}

DEVICE void run_op(TILE real *x, i32 room, op o, GLOBAL const real *numbers, GLOBAL const real2 *turns)
{
  GLOBAL const real *d = numbers + o.a, *e = numbers + o.b;
  const i32 thread = LOCAL_ID(0) % WARP, n = (i32)o.n, steps = (i32)o.steps;
  switch ((i32)o.kind) {
  case CLEAR:
    clear(x, room, n, steps);
    break;
  case SCALE:
    for (i32 i = thread; i < n; i += WARP)
      for (i32 r = 0; r < LANES; r++)
        x[r * room + i] = MUL_EXACT(d[i], x[r * room + i]);
    break;
  case PRODUCT:
    product(x, room, n, steps, d, e);
    break;
  case PRODUCT_TRANSPOSED:
    product_transposed(x, room, n, steps, d, e);
    break;
  case SOLVE:
  case SOLVE_TRANSPOSED:
    solve(x, room, n, o.kind == SOLVE_TRANSPOSED, d, e);
    break;
  case LOWER:
    lower(x, room, n, steps, (i32)o.b, turns + o.a, (i32)o.row);
    break;
  case RAISE:
    raise(x, room, n, steps, turns + o.a, (i32)o.row);
    break;
  }
  TILE_SYNC();
}

KERNEL(WARP *WARPS)
tiles(GLOBAL const real *in, GLOBAL real *out, GLOBAL real *work, GLOBAL const real *RESTRICT numbers,
      GLOBAL const real2 *RESTRICT turns, GLOBAL const job *RESTRICT jobs, GLOBAL const op *RESTRICT ops, tiles_args t)
{
  const i32 thread = LOCAL_ID(0) % WARP, warp = LOCAL_ID(0) / WARP;
#if !IN_MEMORY
  SHARED_FROM_LAUNCH(real, shared, ROOM);
  TILE real *x = shared + warp * LANES * t.room;
#endif
  // job j has the tiles from before per / LANES + j on: enough, and at most one too many
  i64 tile = (i64)GROUP_ID(0) * WARPS + warp;
  i32 lo = 0, hi = t.jobs;
  while (hi - lo > 1) {
    i32 mid = (lo + hi) / 2;
    if (jobs[mid].before * t.per / LANES + mid <= tile)
      lo = mid;
    else
      hi = mid;
  }
  job w = jobs[lo];
  i64 lane = (tile - w.before * t.per / LANES - lo) * LANES, lanes = w.systems * t.per;
  if (lane >= lanes)
    return;
#if IN_MEMORY
  TILE real *x = work + (w.base * t.per + lane) * t.line;
#endif
  const i32 room = t.room, rows = (i32)w.rows, take = (i32)w.take;
  i64 at[LANES];
  for (i32 r = 0; r < LANES; r++)
    at[r] = lane + r < lanes ? lane_at(t.in, w.system, w.systems, w.base, w.plane, lane + r, t) : -1;
  for (i32 r = 0; r < LANES; r++) {
    if (t.in.work || t.parts == 1) {
      i64 step = t.in.work ? 1 : w.take_step * t.in.element, from = t.in.work ? 0 : w.take_at * t.in.element;
      for (i32 i = thread; i < rows; i += WARP)
        x[r * room + i] = i < take && lane + r < lanes ? in[at[r] + from + i * step] : (real)0;
    } else if (LANES == 1 || r % 2 == 0) { // both parts of a number by neighbours
      for (i32 i = thread; i < (LANES == 1 ? 1 : 2) * rows; i += WARP) {
        i32 q = LANES == 1 ? 0 : i % 2, k = LANES == 1 ? i : i / 2;
        x[(r + q) * room + k] =
            k < take && lane + r < lanes ? in[at[r] + q + (w.take_at + k * w.take_step) * t.in.element] : (real)0;
      }
    }
  }
  TILE_SYNC();
  for (i32 i = 0; i < (i32)w.ops; i++)
    run_op(x, room, ops[w.op + i], numbers, turns);
  const i32 put = (i32)w.put, all = (i32)w.put_all;
  for (i32 r = 0; r < LANES; r++)
    at[r] = lane + r < lanes ? lane_at(t.out, w.system, w.systems, w.base, 0, lane + r, t) : -1;
  for (i32 r = 0; r < LANES && lane + r < lanes; r++) {
    if (t.out.work || t.parts == 1) {
      i64 step = t.out.work ? 1 : w.put_step * t.out.element, from = t.out.work ? 0 : w.put_at * t.out.element;
      for (i32 i = thread; i < all; i += WARP)
        out[at[r] + from + i * step] = i < put ? x[r * room + i] : (real)0;
    } else if (LANES == 1 || r % 2 == 0) {
      for (i32 i = thread; i < (LANES == 1 ? 1 : 2) * all; i += WARP) {
        i32 q = LANES == 1 ? 0 : i % 2, k = LANES == 1 ? i : i / 2;
        out[at[r] + q + (w.put_at + k * w.put_step) * t.out.element] = k < put ? x[(r + q) * room + k] : (real)0;
      }
    }
  }
}
