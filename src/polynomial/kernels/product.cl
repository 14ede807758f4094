// SPDX-License-Identifier: BSD-3-Clause
// variant: REAL_BITS=64 MMA=0 ROWS=64 STAGES=2
// variant: REAL_BITS=64 MMA=1 ROWS=128 STAGES=3
// variant: REAL_BITS=32 MMA=0 ROWS=64 STAGES=2
// variant: REAL_BITS=32 MMA=0 ROWS=128 STAGES=3
// Products of tables with lines of the work array: out[lane][row] = sum over j of table[row][j] in[lane][j]. A block has 64 lanes and
// ROWS rows, and reads columns in groups of 16, STAGES - 1 groups ahead of its sums. Without MMA a thread has 4 lanes and ROWS / 16 rows, and
// j ascends; with MMA a warp has 32 lanes and 32 rows on the tensor cores for doubles, whose order of sums is their own.
//
// In shared memory rows and lanes have a pitch of their own, so that threads that read together read different banks; a table whose
// rows, not columns, are neighbours in memory lies there by columns.

#if IS_CUDA
#define UNROLL _Pragma("unroll")
#define ROLL _Pragma("unroll 1")
#define RENEW(x) asm volatile("" : "+r"(x)) // what depends on x is computed where it is used, and takes no registers before
#else
#define UNROLL
#define ROLL
#define RENEW(x) ((void)0)
#endif
#define SIDE 64
#define DEPTH 16
#define THREADS 256
#if MMA
#define PITCH (DEPTH + 4)
#else
#define PITCH (DEPTH + 1)
#endif
#define ROW_PITCH (ROWS + 4) // of a column
#define TABLE_ROOM (ROWS * PITCH > DEPTH * ROW_PITCH ? ROWS * PITCH : DEPTH * ROW_PITCH)
#define STAGE (SIDE * PITCH + TABLE_ROOM)

// As in polynomial/gpu.h.
typedef struct table_job {
  i64 before, systems, base; // systems of the jobs before, of this one, first in the work array
  i64 rows, columns, table, row, column; // strides of the table
  i64 upper;                 // 1: columns j >= row alone; -1: j <= row; the others of the table are 0
  i64 take_at, take_step;    // column j is element take_at + j take_step of a line
  i64 put_base, put_rows, put_at, put_step, add; // row i < put_rows goes to element put_at + i put_step, or is added there
  i64 from, to;              // planes
  i64 first;                 // 1: row 0 of the result doubled, 2: element 0 halved
} table_job;
typedef struct product_args {
  i64 line, plane, per;
  i32 jobs, pad;
} product_args;

// The job of a tile of lanes.
DEVICE i32 job_of(GLOBAL const table_job *RESTRICT jobs, i32 count, i64 per, i64 tile)
{
  i32 lo = 0, hi = count;
  while (hi - lo > 1) {
    i32 mid = (lo + hi) / 2;
    if (jobs[mid].before * per / SIDE + mid <= tile)
      lo = mid;
    else
      hi = mid;
  }
  return lo;
}

// Columns k0 ... k0 + DEPTH - 1 of the block's lanes and rows to a stage of shared memory; what is not there is 0.
#define FETCH(k0, stage)                                                                                                 \
  {                                                                                                                      \
    const i32 k0_ = (k0), x_ = (stage) * STAGE, a_ = x_ + SIDE * PITCH, there_ = k0_ + lane_k < columns;                 \
    GLOBAL const real *from_ = from + (i64)lane_across * t.line + (i64)(k0_ + lane_k) * take_step;                     \
    ROLL for (i32 i_ = 0; i_ < SIDE; i_ += THREADS / DEPTH) {                                                                 \
      const i32 at_ = x_ + (lane_across + i_) * PITCH + lane_k, own_ = there_ && lane_across + i_ < some;                \
      if (own_ && !(half_first && k0_ + lane_k == 0))                                                                    \
        COPY_ASYNC(room, at_, from_, (i64)i_ * t.line);                                                                  \
      else                                                                                                               \
        room[at_] = own_ ? (real)0.5 * from_[(i64)i_ * t.line] : (real)0;                                                \
    }                                                                                                                    \
    GLOBAL const real *table_ = table + (i64)(row + row_across) * table_row + (i64)(k0_ + row_k) * table_column;     \
    ROLL for (i32 i_ = 0; i_ < ROWS * DEPTH / THREADS; i_++) {                                                                \
      const i32 across_ = row_across + i_ * row_step, k_ = row_k + i_ * k_step;                                          \
      const i32 at_ = a_ + across_ * row_pitch + k_ * k_pitch;                                                           \
      if (row + across_ < rows && k0_ + k_ < columns)                                                                    \
        COPY_ASYNC(room, at_, table_, 0);                                                                                \
      else                                                                                                               \
        room[at_] = 0;                                                                                                   \
      table_ += table_step;                                                                                              \
    }                                                                                                                    \
  }

KERNEL_BLOCKS(THREADS, 2)
product(GLOBAL real *work, GLOBAL const real *RESTRICT tables, GLOBAL const table_job *RESTRICT jobs, product_args t)
{
  SHARED_FROM_LAUNCH(real, room, STAGES * STAGE);
  const i32 id = LOCAL_ID(0);
  const i64 tile = GROUP_ID(0);
  i32 own = job_of(jobs, t.jobs, t.per, tile);
  const i64 lane = (tile - jobs[own].before * t.per / SIDE - own) * SIDE, lanes = jobs[own].systems * t.per;
  const i32 row = GROUP_ID(1) * ROWS, rows = (i32)jobs[own].rows, columns = (i32)jobs[own].columns, upper = (i32)jobs[own].upper;
  if (lane >= lanes || row >= jobs[own].put_rows)
    return;
  GLOBAL const real *from = work + jobs[own].from * t.plane + (jobs[own].base * t.per + lane) * t.line + jobs[own].take_at;
  GLOBAL const real *table = tables + jobs[own].table;
  const i32 some = (i32)min(lanes - lane, (i64)SIDE), half_first = jobs[own].first == 2;
  const i32 take_step = (i32)jobs[own].take_step, table_row = (i32)jobs[own].row, table_column = (i32)jobs[own].column;
  // What a thread fetches: neighbours read neighbours.
  const i32 lane_k = id % DEPTH, lane_across = id / DEPTH, by_rows = table_column != 1;
  const i32 row_k = by_rows ? id / ROWS : lane_k, k_step = by_rows ? THREADS / ROWS : 0, k_pitch = by_rows ? ROW_PITCH : 1;
  const i32 row_across = by_rows ? id % ROWS : lane_across, row_step = by_rows ? 0 : THREADS / DEPTH, row_pitch = by_rows ? 1 : PITCH;
  const i32 table_step = row_step * table_row + k_step * table_column;
  const i32 start = upper > 0 ? row / DEPTH * DEPTH : 0, stop = upper < 0 ? min(columns, row + ROWS) : columns;
  const i32 steps = stop > start ? (stop - start + DEPTH - 1) / DEPTH : 0;
#if MMA
  SHUFFLE_ROOM(THREADS);
  const i32 inner = id % 4, outer = id % WARP / 4, first_lane = id / WARP % 2 * 32, first_row = id / WARP / 2 * 32;
  const i32 own_x = (first_lane + outer) * PITCH + inner, own_a = SIDE * PITCH + (first_row + outer) * row_pitch + inner * k_pitch;
  real sum[2][4][4]; // lanes first_lane + 16 i + outer (+ 8), rows first_row + 8 j + 2 inner (+ 1)
  UNROLL for (i32 i = 0; i < 2; i++)
    UNROLL for (i32 j = 0; j < 4; j++)
      UNROLL for (i32 n = 0; n < 4; n++)
        sum[i][j][n] = 0;
#else
  const i32 tx = id % 16, ty = id / 16, own_x = ty * PITCH, own_a = SIDE * PITCH + tx * row_pitch;
  real sum[4][ROWS / 16]; // lanes ty + 16 i, rows tx + 16 j
  UNROLL for (i32 i = 0; i < 4; i++)
    UNROLL for (i32 j = 0; j < ROWS / 16; j++)
      sum[i][j] = 0;
#endif
  i32 here = 1, ahead = 0; // 1 - STAGES steps ago
  for (i32 step = 1 - STAGES; step < steps; step++) {
    ASYNC_WAIT(STAGES - 2);
    BARRIER();
    if (step + STAGES - 1 < steps)
      FETCH(start + (step + STAGES - 1) * DEPTH, ahead)
    ASYNC_COMMIT();
    const i32 depth = step < 0 ? 0 : DEPTH;
    IN_SHARED const real *x = room + here * STAGE + own_x;
    IN_SHARED const real *a = room + here * STAGE + own_a;
#if MMA
    ROLL for (i32 k = 0; k < depth; k += 8) {
      real b[4][2];
      UNROLL for (i32 j = 0; j < 4; j++)
        UNROLL for (i32 h = 0; h < 2; h++)
          b[j][h] = a[8 * j * row_pitch + (k + 4 * h) * k_pitch];
      UNROLL for (i32 i = 0; i < 2; i++) {
        const i32 at = 16 * i * PITCH + k;
        UNROLL for (i32 j = 0; j < 4; j++)
          MMA_F64_TALL(sum[i][j], x[at], x[at + 8 * PITCH], x[at + 4], x[at + 8 * PITCH + 4], b[j][0], b[j][1]);
      }
    }
#else
    for (i32 k = 0; k < depth; k++)
      UNROLL for (i32 i = 0; i < 4; i++)
        UNROLL for (i32 j = 0; j < ROWS / 16; j++)
          sum[i][j] = FMA(a[16 * j * row_pitch + k * k_pitch], x[16 * i * PITCH + k], sum[i][j]);
#endif
    here = here + 1 == STAGES ? 0 : here + 1;
    ahead = ahead + 1 == STAGES ? 0 : ahead + 1;
  }
  RENEW(own);
  const table_job w = jobs[own];
  const i64 put_lane = ((i64)GROUP_ID(0) - w.before * t.per / SIDE - own) * SIDE;
  GLOBAL real *to = work + w.to * t.plane + (w.put_base * t.per + put_lane) * t.line + w.put_at;
  const i32 put_some = (i32)min(w.systems * t.per - put_lane, (i64)SIDE), put_row = GROUP_ID(1) * ROWS;
#if MMA
#define SUMS 32
#else
#define SUMS (4 * (ROWS / 16))
#endif
  UNROLL for (i32 n = 0; n < SUMS; n++) {
#if MMA
    const i32 i = n / 16, j = n / 4 % 4, part = n % 4;
    const i32 l = first_lane + 16 * i + 8 * (part / 2) + outer, r = put_row + first_row + 8 * j + 2 * inner + part % 2;
    const real value = sum[i][j][part];
#else
    const i32 l = ty + 16 * (n / (ROWS / 16)), r = put_row + tx + 16 * (n % (ROWS / 16));
    const real value = sum[n / (ROWS / 16)][n % (ROWS / 16)];
#endif
    if (l < put_some && r < w.put_rows) {
      GLOBAL real *put = to + l * t.line + r * w.put_step;
      const real result = w.first == 1 && r == 0 ? 2 * value : value;
      *put = w.add ? *put + result : result;
    }
  }
}
