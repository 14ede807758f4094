// SPDX-License-Identifier: BSD-3-Clause
// variant: REAL_BITS=64 MMA=0 ROWS=64 STAGES=2
// variant: REAL_BITS=64 MMA=1 ROWS=128 STAGES=3
// variant: REAL_BITS=32 MMA=0 ROWS=64 STAGES=2
// variant: REAL_BITS=32 MMA=0 ROWS=128 STAGES=3
// Products of tables with lines: out[lane][row] = sum over j of table[row][j] in[lane][j]. Lines are those of the work array, or of the
// caller's arrays. A block has 64 lanes and ROWS rows, and reads columns in groups of 16, STAGES - 1 groups ahead of its sums. Without MMA
// a thread has 4 lanes and ROWS / 16 rows, and j ascends; with MMA a warp has 32 lanes and 32 rows on the tensor cores for doubles,
// whose order of sums is their own.
//
// Shared memory has lanes by columns, and rows of the table the way they lie in memory: by columns where rows are neighbours, else by
// rows. Pitches are such that threads that read together read different banks. Two reals at a time are copied where they are neighbours
// there and here: the parts of complex numbers, and a table whose strides are even.

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
#define PITCH (DEPTH + 4) // of a row
#else
#define PITCH (DEPTH + 2)
#endif
#define LANE_PITCH (SIDE + 4) // of a column of lanes
#define ROW_PITCH (ROWS + 4)  // of a column of rows
#define TABLE_AT (DEPTH * LANE_PITCH)
#define TABLE_ROOM (ROWS * PITCH > DEPTH * ROW_PITCH ? ROWS * PITCH : DEPTH * ROW_PITCH)
#define STAGE (TABLE_AT + TABLE_ROOM)

// As in polynomial/gpu.h.
typedef struct table_job {
  i64 before, systems, base; // systems of the jobs before, of this one, first in the work array
  i64 rows, columns, table, row, column; // strides of the table
  i64 upper;                 // 1: columns j >= row alone; -1: j <= row; the others of the table are 0
  i64 take_at, take_step;    // column j is element take_at + j take_step of a line
  i64 put_base, put_rows, put_at, put_step, add; // row i < put_rows goes to element put_at + i put_step, or is added there
  i64 from, to;              // planes of the work array; -1: the caller's array
  i64 first;                 // 1: row 0 of the result doubled, 2: element 0 halved
  i64 system;                // first in the caller's arrays
  real scale[64 / REAL_BITS]; // of all results
} table_job;
typedef struct side {
  i64 at, element, system, shape[6], stride[6];
  i32 lead, work;
} side;
typedef struct product_args {
  side in, out;
  i64 line, plane, per;
  i32 jobs, parts, rows, wide; // rows: blocks of them; wide: the caller's arrays have pairs (1: in, 2: out)
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

// Where lane `lane` of a job begins in the caller's array.
DEVICE i64 lane_of(side s, i64 system, i64 systems, i64 lane, i32 parts)
{
  i64 part = lane % parts, at = lane / parts, index = at / systems;
  i64 offset = s.at + part + (system + at % systems) * s.system;
  for (i32 d = 5; d > 0; d--) // by constants: the struct stays where arguments are
    if (d < s.lead) {
      offset += index % s.shape[d] * s.stride[d];
      index /= s.shape[d];
    }
  return offset + (s.lead ? index * s.stride[0] : 0);
}

// Lanes of columns k0 ... k0 + DEPTH - 1 to a stage; what is not there is 0.
#define FETCH_LANES(k0, stage)                                                                                          \
  {                                                                                                                     \
    IN_SHARED real *x_ = room + (stage) * STAGE;                                                                        \
    if (wide) {                                                                                                         \
      const i32 k_ = id % DEPTH, pair_ = id / DEPTH;                                                                    \
      GLOBAL const real *from_ = from + (i64)((k0) + k_) * take_step;                                                   \
      UNROLL for (i32 i_ = 0; i_ < SIDE / 2; i_ += THREADS / DEPTH)                                                     \
        COPY_ASYNC_PAIR_SOME(x_, k_ * (LANE_PITCH / 2) + pair_ + i_, from_ + lane_at[2 * (pair_ + i_)],                 \
                             (k0) + k_ < columns && 2 * (pair_ + i_) < some ? 2 : 0);                                   \
    } else {                                                                                                            \
      const i32 k_ = id % DEPTH, lane_ = id / DEPTH;                                                                    \
      GLOBAL const real *from_ = from + (i64)((k0) + k_) * take_step;                                                   \
      ROLL for (i32 i_ = 0; i_ < SIDE; i_ += THREADS / DEPTH) {                                                         \
        const i32 there_ = (k0) + k_ < columns && lane_ + i_ < some;                                                    \
        if (half_first && (k0) + k_ == 0)                                                                               \
          x_[k_ * LANE_PITCH + lane_ + i_] = there_ ? (real)0.5 * from_[lane_at[lane_ + i_]] : (real)0;                 \
        else                                                                                                            \
          COPY_ASYNC_SOME(x_, k_ * LANE_PITCH + lane_ + i_, from_ + lane_at[lane_ + i_], there_);                       \
      }                                                                                                                 \
    }                                                                                                                   \
  }
// Rows of the table likewise. Pairs: of columns of a row, or of rows.
#define FETCH_ROWS(k0, stage)                                                                                           \
  {                                                                                                                     \
    IN_SHARED real *a_ = room + (stage) * STAGE + TABLE_AT;                                                             \
    GLOBAL const real *from_ = table + (i64)(k0) * table_column;                                                        \
    if (pairs)                                                                                                          \
      UNROLL for (i32 i_ = 0; i_ < ROWS * DEPTH / 2 / THREADS; i_++) {                                                  \
        const i32 row_ = row_0 + i_ * row_step, k_ = k_0 + i_ * k_step;                                                 \
        const i32 left_ = by_rows ? rows - row - row_ : columns - (k0) - k_;                                            \
        const i32 inside_ = by_rows ? (k0) + k_ < columns : row + row_ < rows;                                          \
        COPY_ASYNC_PAIR_SOME(a_, at_0 + i_ * at_step, from_ + (i64)i_ * table_step, inside_ ? max(0, min(left_, 2)) : 0); \
      }                                                                                                                 \
    else                                                                                                                \
      ROLL for (i32 i_ = 0; i_ < ROWS * DEPTH / THREADS; i_++) {                                                        \
        const i32 row_ = row_0 + i_ * row_step, k_ = k_0 + i_ * k_step;                                                 \
        COPY_ASYNC_SOME(a_, at_0 + i_ * at_step, from_ + (i64)i_ * table_step, row + row_ < rows && (k0) + k_ < columns); \
      }                                                                                                                 \
  }
// Sums over a group of columns on the tensor cores; pitches of the table's rows and columns.
#define SUM(row_pitch, k_pitch)                                                                                         \
  ROLL for (i32 k = 0; k < depth; k += 8) {                                                                             \
    real b[4][2];                                                                                                       \
    UNROLL for (i32 j = 0; j < 4; j++)                                                                                  \
      UNROLL for (i32 h = 0; h < 2; h++)                                                                                \
        b[j][h] = a[8 * j * (row_pitch) + (k + 4 * h) * (k_pitch)];                                                     \
    UNROLL for (i32 i = 0; i < 2; i++) {                                                                                \
      const i32 at = 16 * i + k * LANE_PITCH;                                                                           \
      UNROLL for (i32 j = 0; j < 4; j++)                                                                                \
        MMA_F64_TALL(sum[i][j], x[at], x[at + 8], x[at + 4 * LANE_PITCH], x[at + 4 * LANE_PITCH + 8], b[j][0], b[j][1]); \
    }                                                                                                                   \
  }

KERNEL_BLOCKS(THREADS, 2)
product(GLOBAL real *work, GLOBAL const real *in, GLOBAL real *out, GLOBAL const real *RESTRICT tables,
        GLOBAL const table_job *RESTRICT jobs, product_args t)
{
  SHARED_FROM_LAUNCH(real, room, STAGES * STAGE);
  SHARED i64 lane_at[SIDE];
  const i32 id = LOCAL_ID(0), row = GROUP_ID(0) % t.rows * ROWS;
  i32 tile = GROUP_ID(0) / t.rows, own = job_of(jobs, t.jobs, t.per, tile);
  const i64 lane = (tile - jobs[own].before * t.per / SIDE - own) * SIDE, lanes = jobs[own].systems * t.per;
  const i32 rows = (i32)jobs[own].rows, columns = (i32)jobs[own].columns, upper = (i32)jobs[own].upper;
  if (lane >= lanes || row >= jobs[own].put_rows)
    return;
  const i32 direct = jobs[own].from < 0, some = (i32)min(lanes - lane, (i64)SIDE), half_first = jobs[own].first == 2;
  const i32 wide = direct && (t.wide & 1) && !half_first;
  const i64 take_step = jobs[own].take_step * (direct ? t.in.element : 1);
  GLOBAL const real *from = direct ? in : work;
  from += direct ? jobs[own].take_at * t.in.element : jobs[own].from * t.plane + jobs[own].take_at;
  if (id < some)
    lane_at[id] = direct ? lane_of(t.in, jobs[own].system, jobs[own].systems, lane + id, t.parts)
                         : (jobs[own].base * t.per + lane + id) * t.line;
  // What a thread fetches of the table: neighbours read neighbours.
  const i32 table_row = (i32)jobs[own].row, table_column = (i32)jobs[own].column;
  const i32 by_rows = table_column != 1, pairs = !(((i32)jobs[own].table | (by_rows ? table_column : table_row)) & 1) && (!by_rows || table_row == 1);
  const i32 width = pairs ? 2 : 1, along = (by_rows ? ROWS : DEPTH) / width, first = width * (id % along), across = id / along;
  const i32 row_0 = by_rows ? first : across, k_0 = by_rows ? across : first;
  const i32 row_step = by_rows ? 0 : THREADS / along, k_step = by_rows ? THREADS / along : 0;
  const i32 at_0 = (by_rows ? row_0 + k_0 * ROW_PITCH : row_0 * PITCH + k_0) / width;
  const i32 at_step = THREADS / along * (by_rows ? ROW_PITCH : PITCH) / width;
  const i32 table_step = row_step * table_row + k_step * table_column;
  GLOBAL const real *table = tables + jobs[own].table + (i64)(row + row_0) * table_row + (i64)k_0 * table_column;
  const i32 start = upper > 0 ? row / DEPTH * DEPTH : 0, stop = upper < 0 ? min(columns, row + ROWS) : columns;
  const i32 steps = stop > start ? (stop - start + DEPTH - 1) / DEPTH : 0;
#if MMA
  SHUFFLE_ROOM(THREADS);
  const i32 inner = id % 4, outer = id % WARP / 4, first_lane = id / WARP % 2 * 32, first_row = id / WARP / 2 * 32;
  const i32 own_x = inner * LANE_PITCH + first_lane + outer;
  const i32 own_a = TABLE_AT + (by_rows ? inner * ROW_PITCH + first_row + outer : (first_row + outer) * PITCH + inner);
  real sum[2][4][4]; // lanes first_lane + 16 i + outer (+ 8), rows first_row + 8 j + 2 inner (+ 1)
  UNROLL for (i32 i = 0; i < 2; i++)
    UNROLL for (i32 j = 0; j < 4; j++)
      UNROLL for (i32 n = 0; n < 4; n++)
        sum[i][j][n] = 0;
#else
  const i32 tx = id % 16, ty = id / 16, row_pitch = by_rows ? 1 : PITCH, k_pitch = by_rows ? ROW_PITCH : 1;
  const i32 own_x = ty, own_a = TABLE_AT + tx * row_pitch;
  real sum[4][ROWS / 16]; // lanes ty + 16 i, rows tx + 16 j
  UNROLL for (i32 i = 0; i < 4; i++)
    UNROLL for (i32 j = 0; j < ROWS / 16; j++)
      sum[i][j] = 0;
#endif
  BARRIER();
  i32 here = 1, ahead = 0; // 1 - STAGES steps ago
  ROLL for (i32 step = 1 - STAGES; step < steps; step++) {
    ASYNC_WAIT(STAGES - 2);
    BARRIER();
    if (step + STAGES - 1 < steps) {
      FETCH_LANES(start + (step + STAGES - 1) * DEPTH, ahead)
      FETCH_ROWS(start + (step + STAGES - 1) * DEPTH, ahead)
    }
    ASYNC_COMMIT();
    IN_SHARED const real *x = room + here * STAGE + own_x;
    IN_SHARED const real *a = room + here * STAGE + own_a;
    const i32 depth = step < 0 ? 0 : DEPTH;
#if MMA && IS_CUDA
    if (by_rows)
      SUM(1, ROW_PITCH)
    else
      SUM(PITCH, 1)
#elif MMA // PoCL takes no loops with barriers in both arms
    SUM(by_rows ? 1 : PITCH, by_rows ? ROW_PITCH : 1)
#else
    for (i32 k = 0; k < depth; k++)
      UNROLL for (i32 i = 0; i < 4; i++)
        UNROLL for (i32 j = 0; j < ROWS / 16; j++)
          sum[i][j] = FMA(a[16 * j * row_pitch + k * k_pitch], x[16 * i + k * LANE_PITCH], sum[i][j]);
#endif
    here = here + 1 == STAGES ? 0 : here + 1;
    ahead = ahead + 1 == STAGES ? 0 : ahead + 1;
  }
  RENEW(own);
  RENEW(tile);
  const table_job w = jobs[own];
  const i64 put_lane = (tile - w.before * t.per / SIDE - own) * SIDE, step = w.put_step * (w.to < 0 ? t.out.element : 1);
  const i32 put_some = (i32)min(w.systems * t.per - put_lane, (i64)SIDE), put_row = GROUP_ID(0) % t.rows * ROWS;
  GLOBAL real *to = w.to < 0 ? out : work;
  to += w.to < 0 ? w.put_at * t.out.element : w.to * t.plane + w.put_at;
  BARRIER();
  if (id < put_some)
    lane_at[id] = w.to < 0 ? lane_of(t.out, w.system, w.systems, put_lane + id, t.parts) : (w.put_base * t.per + put_lane + id) * t.line;
  BARRIER();
  const i32 add = (i32)w.add, twice = w.first == 1, own_rows = (i32)w.rows; // more are 0, even of lanes with NaN
  const real scale = w.scale[0];
#if MMA
  // Threads of neighbouring lanes, the parts of a complex number, have both parts of a row each in the end.
  const i32 whole = w.to < 0 && (t.wide & 2), part = outer % 2;
  UNROLL for (i32 n = 0; n < 16; n++) {
    const i32 i = n / 8, j = n / 2 % 4, h = n % 2, l = first_lane + 16 * i + 8 * h + outer, r = put_row + first_row + 8 * j + 2 * inner;
    const real top = r < own_rows ? (twice && r == 0 ? 2 : 1) * scale * sum[i][j][2 * h] : (real)0;
    const real low = r + 1 < own_rows ? scale * sum[i][j][2 * h + 1] : (real)0;
    const real got = SHUFFLE_XOR_F64(part ? top : low, 4);
    if (whole && l < put_some && r + part < w.put_rows) {
      GLOBAL real2 *put = (GLOBAL real2 *)(to + lane_at[l - part] + (r + part) * step);
      *put = part ? MAKE_REAL2(got, low) : MAKE_REAL2(top, got);
    }
    if (!whole && l < put_some && r < w.put_rows) {
      GLOBAL real *put = to + lane_at[l] + r * step;
      *put = add ? *put + top : top;
      put += step;
      if (r + 1 < w.put_rows)
        *put = add ? *put + low : low;
    }
  }
#else
  UNROLL for (i32 n = 0; n < 4 * (ROWS / 16); n++) {
    const i32 l = ty + 16 * (n / (ROWS / 16)), r = put_row + tx + 16 * (n % (ROWS / 16));
    const real value = r < own_rows ? scale * sum[n / (ROWS / 16)][n % (ROWS / 16)] : (real)0;
    if (l < put_some && r < w.put_rows) {
      GLOBAL real *put = to + lane_at[l] + r * step;
      const real result = twice && r == 0 ? 2 * value : value;
      *put = add ? *put + result : result;
    }
  }
#endif
}
