// Chains of rotations on the tensor cores for doubles. With g the step from the lowest degree up and d = k + g + 1, sixteen steps
// g = 16 G ... of sixteen diagonals d = 16 D ... are one orthogonal matrix M of [y, x] to [y', out], the states of the steps and the
// rows that pass: raising multiplies with M, lowering with its transpose. Right-hand sides are rows of A, the table's matrix is B.
// A pass makes TENSOR blocks of steps, whose states stay in registers, on chunks of sixteen rows. Rows of the line are d - 16 G
// before raising and d - 16 (G + blocks) behind, and the other way about, so chunks are aligned in memory.
//
// Thread 4 r + j of a warp ends a product with columns 2 j and 2 j + 1 of right-hand sides r and r + 8. The next product takes these
// numbers as columns j and j + 4 of A: rows of B are in the order 0, 2, 4, 6, 1, 3, 5, 7 then, and nothing is exchanged.
//
// A matrix is 14 blocks of 8 x 8, block (I, O) from input block I (0, 1: y; 2, 3: x) to output block O of raising, in the order of
// 4 I + O without (1, 0) and (3, 2), which are zeros: steps and rows pass on in one direction. Rows 2 p and 2 p + 1 of column n are
// a pair, pair 8 (n / 2) + bits (p0, p1 ^ n2, n0 ^ n1) of the block, so that both ways of reading meet different banks.
#define BLOCK(i, o) (4 * (i) + (o) - (4 * (i) + (o) > 4) - (4 * (i) + (o) > 14))
#define ONCE _Pragma("unroll 1")
#define AHEAD 8 // rows at a time, of steps beyond a multiple of 16

// Numbers 2 j, 2 j + 1 of each half of the chunk at `row` of lanes r and r + 8: v[half] as a product ends; 0 outside [0, rows).
DEVICE void load(real v[2][4], GLOBAL const real *x, i32 room, i32 mine, i32 row, i32 rows)
{
  const i32 id = LOCAL_ID(0) % WARP;
  UNROLL for (i32 n = 0; n < 4; n++)
  {
    const i32 lane = id / 4 + n % 2 * 8, k = row + n / 2 * 8 + 2 * (id % 4);
    real2 pair = MAKE_REAL2(0, 0);
    if (lane < mine && k >= 0 && k < rows)
      pair = *(GLOBAL const real2 *)(x + lane * room + k);
    v[n / 2][n % 2 * 2] = pair.x;
    v[n / 2][n % 2 * 2 + 1] = k + 1 < rows ? pair.y : (real)0;
  }
}
DEVICE void store(real v[2][4], GLOBAL real *x, i32 room, i32 mine, i32 row, i32 rows)
{
  const i32 id = LOCAL_ID(0) % WARP;
  UNROLL for (i32 n = 0; n < 4; n++)
  {
    const i32 lane = id / 4 + n % 2 * 8, k = row + n / 2 * 8 + 2 * (id % 4);
    GLOBAL real *to = x + lane * room + k;
    if (lane < mine && k >= 0 && k + 1 < rows)
      *(GLOBAL real2 *)to = MAKE_REAL2(v[n / 2][n % 2 * 2], v[n / 2][n % 2 * 2 + 1]);
    else if (lane < mine && k >= 0 && k < rows)
      *to = v[n / 2][n % 2 * 2];
  }
}

// One matrix: states y and rows x of a warp's right-hand sides. at: of this thread in a block. Sums of one block take turns.
INLINED void square(real y[2][4], real x[2][4], i32 down, IN_SHARED const real *m, i32 at, IN_SHARED u64 *kugel_shuffle)
{
  real sum[4][4];
  UNROLL for (i32 c = 0; c < 16; c++)
    sum[c / 4][c % 4] = 0;
#if IS_CUDA
  UNROLL
#else
  ROLL
#endif
  for (i32 q = 0; q < 14; q++) {
    const i32 t = down ? q + (q > 0) + (q > 9) : q + (q > 3) + (q > 12), i = t / 4, o = t % 4;
    const real *a = i < 2 ? y[i] : x[i - 2];
    IN_SHARED const real *b = m + 64 * (down ? BLOCK(o, i) : BLOCK(i, o));
    real2 pair;
    if (down)
      pair = MAKE_REAL2(b[at], b[at ^ 8]);
    else
      pair = SHARED_PAIR(b, at / 2);
    MMA_F64_TALL(sum[o], a[0], a[2], a[1], a[3], pair.x, pair.y);
  }
  UNROLL for (i32 c = 0; c < 8; c++) {
    y[c / 4][c % 4] = sum[c / 4][c % 4];
    x[c / 4][c % 4] = sum[2 + c / 4][c % 4];
  }
}

// Matrices of `count` blocks of steps, which are neighbours in the table, to a stage of shared memory.
DEVICE void fetch(GLOBAL const real2 *from, i32 count, IN_SHARED real *stage)
{
  ONCE
  for (i32 k = LOCAL_ID(0); k < count * (SQUARE / 2); k += THREADS)
    COPY_ASYNC_PAIR(stage, k, from, k);
}

// Steps 16 low ... 16 (low + count) - 1: down on n rows, or up. table: matrices [D][width].
INLINED void pass(GLOBAL real *x, i32 room, i32 mine, i32 n, i32 low, i32 count, i32 down, GLOBAL const real2 *table, i32 width,
                 IN_SHARED real *stages, IN_SHARED u64 *room_of_shuffles)
{
  const i32 id = LOCAL_ID(0) % WARP, steps = 16 * count, end = down ? n + steps : n, chunks = (end + 15) / 16;
  const i32 outer = id / 4, inner = id % 4;
  // up: pair p = inner of column outer; down: row outer of columns 2 inner, 2 inner + 1
  const i32 at = down ? 16 * inner + (outer >> 1 & 1) * 2 + (outer >> 2 ^ inner >> 1) * 4 + (inner & 1) * 8 + (outer & 1)
                      : 16 * (outer >> 1) + (inner & 1) * 2 + (inner >> 1 ^ outer >> 2) * 4 + ((outer ^ outer >> 1) & 1) * 8;
  const i32 run = !IS_CUDA || mine > 0;
  i32 row = down ? 16 * (chunks - 1) : 0; // of the longer line
  const i32 row_step = down ? -16 : 16;
  const i64 step = (i64)(down ? -width : width) * (SQUARE / 2);
  GLOBAL const real2 *from = table + ((i64)(low + row / 16) * width + low) * (SQUARE / 2);
  real y[TENSOR][2][4], v[2][4], ahead[2][4];
  UNROLL for (i32 i = 0; i < TENSOR; i++)
    UNROLL for (i32 c = 0; c < 8; c++)
      y[i][c / 4][c % 4] = 0;
  fetch(from, count, stages);
  ASYNC_COMMIT();
  load(ahead, x, room, mine, down ? row - steps : row, n);
  ONCE
  for (i32 chunk = 0; chunk < chunks; chunk++) {
    ASYNC_WAIT(0);
    BARRIER();
    from += step;
    fetch(from, chunk + 1 < chunks ? count : 0, stages + (chunk + 1) % 2 * TENSOR * SQUARE);
    ASYNC_COMMIT();
    UNROLL for (i32 c = 0; c < 8; c++)
      v[c / 4][c % 4] = ahead[c / 4][c % 4];
    load(ahead, x, room, chunk + 1 < chunks ? mine : 0, (down ? row - steps : row) + row_step, n);
    IN_SHARED const real *m = stages + chunk % 2 * TENSOR * SQUARE;
#if IS_CUDA
    if (run)
      UNROLL for (i32 i = 0; i < TENSOR; i++)
        if (i < count) {
          if (down)
            square(y[i], v, 1, m + (count - 1 - i) * SQUARE, at, room_of_shuffles);
          else
            square(y[i], v, 0, m + i * SQUARE, at, room_of_shuffles);
        }
#else
    for (i32 i = 0; i < (run ? count : 0); i++)
      square(y[i], v, down, m + (down ? count - 1 - i : i) * SQUARE, at, room_of_shuffles);
#endif
    store(v, x, room, mine, down ? row : row - steps, down ? end : n - steps);
    row += row_step;
  }
  BARRIER();
}

// Rotations of FEW_ROWS rows, for at most FEW steps, to a stage of shared memory: slots of a row in the order in which it meets them,
// the second half as it meets them, AHEAD rows later. at: of the first row.
#define FEW 8
#define FEW_ROWS 32
DEVICE void fetch_few(i32 at, i32 rows, i32 steps, i32 down, GLOBAL const real2 *turns, i32 width, IN_SHARED real *stage)
{
  ONCE
  for (i32 k = LOCAL_ID(0); k < FEW * FEW_ROWS; k += THREADS) {
    const i32 s = k % FEW, i = at + k / FEW - s / (FEW / 2) * AHEAD, d = min(max(down ? rows - 1 - i : i, 0), rows - 1);
    if (s < steps)
      COPY_ASYNC_PAIR(stage, k, turns + (i64)d * width * 16, down ? steps - 1 - s : s);
    else
      PUT_SHARED_PAIR(stage, k, 0, 0);
  }
}

// `steps` <= FEW steps by two threads a lane: lanes r and r + 16 of a warp have half of them each, the second one AHEAD rows behind.
// A step that is not there is the rotation (0, 0), which hands on what came a row before. turns: (p, S) [d][width][16], as LIFT of
// systolic.h.cl.
INLINED void few(GLOBAL real *x, i32 room, i32 mine, i32 n, i32 steps, i32 down, GLOBAL const real2 *turns, i32 width,
                 IN_SHARED real *stages, IN_SHARED u64 *kugel_shuffle)
{
  const i32 id = LOCAL_ID(0) % WARP, lane = id % 16, second = id / 16, rows = down ? n + steps : n, late = FEW - steps;
  const i32 reads = lane < mine && !second, writes = lane < mine && second;
  const i32 chunks = (rows + late + AHEAD + FEW_ROWS - 1) / FEW_ROWS;
  real y[FEW / 2], v[AHEAD], ahead[AHEAD];
  x += lane * room;
  UNROLL for (i32 s = 0; s < FEW / 2; s++)
    y[s] = 0;
  UNROLL for (i32 e = 0; e < AHEAD; e++) {
    const i32 k = down ? n - 1 - e : e;
    v[e] = 0;
    ahead[e] = reads && k >= 0 && k < n ? x[k] : (real)0;
  }
  fetch_few(0, rows, steps, down, turns, width, stages);
  ASYNC_COMMIT();
  ONCE
  for (i32 chunk = 0; chunk < chunks; chunk++) {
    ASYNC_WAIT(0);
    BARRIER();
    fetch_few((chunk + 1) * FEW_ROWS, rows, steps, down, turns, width, stages + (chunk + 1) % 2 * (2 * FEW * FEW_ROWS));
    ASYNC_COMMIT();
    IN_SHARED const real *stage = stages + chunk % 2 * (2 * FEW * FEW_ROWS) + second * FEW;
    ONCE
    for (i32 part = 0; part < FEW_ROWS; part += AHEAD) {
      const i32 first = chunk * FEW_ROWS + part;
      UNROLL for (i32 e = 0; e < AHEAD; e++) {
        const real before = SHUFFLE(v[e], lane);
        const i32 i = first + AHEAD + e, k = down ? n - 1 - i : i;
        v[e] = second ? before : ahead[e];
        ahead[e] = reads && k >= 0 && k < n ? x[k] : (real)0;
      }
      UNROLL for (i32 s = 0; s < FEW / 2; s++)
        UNROLL for (i32 e = 0; e < AHEAD; e++) {
          const real2 t = SHARED_PAIR(stage, (part + e) * FEW + s);
          const real u = FMA(t.x, y[s], v[e]);
          v[e] = FMA(t.y, u, y[s]);
          y[s] = FMA(t.x, v[e], u);
        }
      UNROLL for (i32 e = 0; e < AHEAD; e++) {
        const i32 i = first - AHEAD + e - late, k = down ? rows - 1 - i : i - steps;
        if (writes && i >= 0 && i < rows && k >= 0)
          x[k] = v[e];
      }
    }
  }
  ASYNC_WAIT(0);
  BARRIER();
}

// The `steps` < 16 steps from 16 whole on, FEW at a time.
INLINED void rest(GLOBAL real *x, i32 room, i32 mine, i32 n, i32 whole, i32 steps, i32 down, GLOBAL const real2 *turns, i32 width,
                  IN_SHARED real *stages, IN_SHARED u64 *room_of_shuffles)
{
  for (i32 done = 0, count; done < steps; done += count) {
    count = down && !done ? (steps - 1) % FEW + 1 : min(steps - done, (i32)FEW);
    const i32 low = down ? steps - done - count : done;
    few(x, room, mine, down ? n + done : n - done, count, down, turns + ((i64)(16 * whole + low) * width + whole) * 16 + low, width, stages, room_of_shuffles);
    TILE_SYNC();
  }
}

// Steps [0, steps) of a chain, as in systolic.h.cl; those beyond a multiple of 16 are the highest. turns: where rotations begin.
INLINED void chain(GLOBAL real *x, i32 room, i32 mine, i32 n, i32 steps, i32 down, i32 turns, GLOBAL const real2 *table, i32 width,
                   IN_SHARED real *stages, IN_SHARED u64 *room_of_shuffles)
{
  const i32 whole = steps / 16, left = steps % 16, before = down ? left : 0, behind = down ? 0 : left;
  rest(x, room, mine, n, whole, before, 1, table + turns, width, stages, room_of_shuffles);
  n += before;
  for (i32 done = 0, count; done < whole; done += count) {
    count = down && !done ? (whole - 1) % TENSOR + 1 : min(whole - done, (i32)TENSOR);
    pass(x, room, mine, down ? n + 16 * done : n - 16 * done, down ? whole - done - count : done, count, down, table, width, stages, room_of_shuffles);
    TILE_SYNC();
  }
  rest(x, room, mine, n - (down ? 0 : 16 * whole), whole, behind, 0, table + turns, width, stages, room_of_shuffles);
}
