// Chains of rotations go through GROUP threads as through a systolic array: thread t makes STEPS consecutive steps, on LANES
// lanes, on the element that thread t - 1 made one tick before. The first thread of a group reads elements of the lines, the last
// writes them back: SPAN steps a pass through memory. Rotations and elements of TICKS ticks come into shared memory while
// the TICKS before are computed. Where a chain begins and ends, rotations of the table hand elements on; what a pass has too
// few steps for, the rotation (C, S) = (0, 1), exactly.
//
// LIFT 0: out = C y + S x, y = C x - S y, in the order of operations of the CPU's loops, whose bits these are. LIFT 1: three
// FMA in place of four operations, u = x + p y, out = y + S u, y = u + p out, p = -S / (1 + C); errors grow as fast.
// The rotations of chunk `chunk` of a pass. A thread's step g and degree k are at row S k + (S + 1) g + ... of the table, the same
// for all threads of a group in one tick (polynomial/gpu.h).
typedef struct pass {
  i32 down, rows, steps, end; // elements of the stream, the longest there is
  i32 row, column;            // of the table, thread 0, step 0, tick 0; lower: of the step, not divided
} pass;
#define EVERY (THREADS / GROUP) // rotations of a thread of the arrays that a block fetches at a time
DEVICE void fetch_turns(pass p, i32 chunk, GLOBAL const real2 *table, i32 width, IN_SHARED real *stage)
{
  const i32 id = LOCAL_ID(0), thread = id % GROUP, first = id / GROUP, at = chunk * TICKS * STEPS + first;
  const i32 i = chunk * TICKS - thread; // of the stream, in the chunk's first tick
  const i64 step_on = (i64)(p.down ? -EVERY : EVERY) * width;
  GLOBAL const real2 *from = table + (i64)(p.down ? p.row - at : p.row + at) * width;
  ROLL
  for (i32 k = 0; k < TICKS * STEPS; k += EVERY) {
    // one step for all k where the threads fetch whole ticks
    const i32 s = EVERY % STEPS ? (first + k) % STEPS : first % STEPS, tick = EVERY % STEPS ? (first + k) / STEPS : first / STEPS + k / STEPS;
    const i32 step = STEPS * thread + s, column = p.down ? (i32)((u32)(p.column - s) / STEPS) - thread : p.column + thread;
    if (EVERY > TICKS * STEPS && first >= TICKS * STEPS)
      break;
    if ((u32)(i + tick) < (u32)(step < p.steps ? p.end : 0))
      COPY_ASYNC_PAIR(stage, (first + k) * GROUP + thread, from, column);
    else
      PUT_SHARED_PAIR(stage, (first + k) * GROUP + thread, LIFT ? -1 : 0, 1);
    from += step_on;
  }
}

// Elements of a chunk of the warp's `mine` lanes: a thread has one tick of each WARP / TICKS-th lane.
DEVICE void fetch(pass p, i32 chunk, GLOBAL const real *x, i32 room, i32 mine, IN_SHARED real *ring)
{
  const i32 id = LOCAL_ID(0) % WARP, q = id % TICKS, i = chunk * TICKS + q, row = p.down ? p.rows - 1 - i : i;
  const i32 lane = id / TICKS, left = (row >= 0 && row < p.rows ? mine : 0) - lane;
  GLOBAL const real *from = x + lane * room + row;
  ring += q * PITCH + lane;
  ROLL
  for (i32 k = 0; k < COLUMNS; k += WARP / TICKS) {
    if (WARP / TICKS > COLUMNS && lane >= COLUMNS)
      break;
    if (k < left)
      COPY_ASYNC(ring, k, from, 0);
    else
      ring[k] = 0;
    from += WARP / TICKS * room;
  }
}
DEVICE void put(pass p, i32 chunk, GLOBAL real *x, i32 room, i32 mine, IN_SHARED const real *ring)
{
  const i32 id = LOCAL_ID(0) % WARP, q = id % TICKS, i = chunk * TICKS + q - (GROUP - 1);
  const i32 row = p.down ? p.rows + p.steps - 1 - i : i - p.steps;
  const i32 lane = id / TICKS, left = (i >= 0 && i < p.end && row >= 0 ? mine : 0) - lane;
  GLOBAL real *to = x + lane * room + row;
  ring += q * PITCH + lane;
  ROLL
  for (i32 k = 0; k < COLUMNS; k += WARP / TICKS) {
    if (k < left)
      *to = ring[k];
    to += WARP / TICKS * room;
  }
}

// Steps [0, steps) of a chain: down, from step `top` of the table, on n rows, n + steps then; else up, n - steps then.
DEVICE void chain(GLOBAL real *x, i32 room, i32 mine, i32 n, i32 steps, i32 down, i32 top, GLOBAL const real2 *table, i32 width,
                  IN_SHARED real *stages, IN_SHARED real *ring, IN_SHARED real *neighbours)
{
  const i32 id = LOCAL_ID(0), thread = id % GROUP, first = id % WARP / GROUP * LANES;
  const i32 run = !IS_CUDA || mine > 0; // OpenCL has barriers in a tick
  for (i32 done = 0, some; done < steps; done += some) { // the pass of few steps where the line is shortest
    some = down && !done ? (steps - 1) % SPAN + 1 : min(steps - done, (i32)SPAN);
    pass p;
    p.down = down;
    p.steps = some;
    p.rows = down ? n + done : n - done;
    p.end = down ? p.rows + p.steps : p.rows;
    p.row = STEPS * (STEPS + 2) + (down ? STEPS * (p.rows - 1) + (STEPS + 1) * (top - done) : (STEPS + 1) * done - STEPS);
    p.column = down ? top - done : done / STEPS;
    const i32 chunks = (p.end + GROUP - 1 + TICKS - 1) / TICKS;
    real y[STEPS][LANES], v[LANES];
    for (i32 r = 0; r < LANES; r++) {
      v[r] = 0;
      for (i32 s = 0; s < STEPS; s++)
        y[s][r] = 0;
    }
    fetch_turns(p, 0, table, width, stages);
    fetch(p, 0, x, room, mine, ring);
    ASYNC_COMMIT();
    for (i32 chunk = 0; chunk < chunks; chunk++) {
      ASYNC_WAIT(0);
      BARRIER();
      const i32 now = chunk % 2;
      fetch_turns(p, chunk + 1, table, width, stages + (1 - now) * 2 * STAGE);
      fetch(p, chunk + 1, x, room, mine, ring + (1 - now) * RING);
      ASYNC_COMMIT();
      IN_SHARED real *stage = stages + now * 2 * STAGE + 2 * thread, *in = ring + now * RING + first, *out = ring + 2 * RING + first;
      TWICE
      for (i32 q = 0; q < (run ? TICKS : 0); q++) {
#if IS_CUDA
        for (i32 r = 0; r < LANES; r++)
          v[r] = SHUFFLE_UP(v[r], 1);
#else
        IN_SHARED real *room_of_tick = neighbours + q % 2 * LANES * THREADS;
        for (i32 r = 0; r < LANES; r++)
          room_of_tick[r * THREADS + id] = v[r];
        BARRIER();
        for (i32 r = 0; r < LANES; r++)
          v[r] = thread ? room_of_tick[r * THREADS + id - 1] : (real)0;
#endif
        if (thread == 0)
          for (i32 r = 0; r < LANES; r += 2) {
            real2 pair = SHARED_PAIR(in, q * (PITCH / 2) + r / 2);
            v[r] = pair.x;
            v[r + 1] = pair.y;
          }
        for (i32 s = 0; s < STEPS; s++) {
          real2 turn = SHARED_PAIR(stage, (q * STEPS + s) * GROUP);
          for (i32 r = 0; r < LANES; r++) {
#if LIFT
            real u = FMA(turn.x, y[s][r], v[r]);
            v[r] = FMA(turn.y, u, y[s][r]);
            y[s][r] = FMA(turn.x, v[r], u);
#else
            real o = FMA(turn.x, y[s][r], MUL_EXACT(turn.y, v[r]));
            y[s][r] = FMA(-turn.y, y[s][r], MUL_EXACT(turn.x, v[r]));
            v[r] = o;
#endif
          }
        }
        if (thread == GROUP - 1)
          for (i32 r = 0; r < LANES; r += 2)
            PUT_SHARED_PAIR(out, q * (PITCH / 2) + r / 2, v[r], v[r + 1]);
      }
      TILE_SYNC();
      put(p, chunk, x, room, mine, ring + 2 * RING);
    }
    ASYNC_WAIT(0);
    BARRIER();
  }
}
