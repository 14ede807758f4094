// SPDX-License-Identifier: BSD-3-Clause
// variant: REAL_BITS=64 MMA=0
// variant: REAL_BITS=64 MMA=1
// variant: REAL_BITS=32 MMA=0
// Products of tables with lines of the work array: out[lane][row] = sum over j of table[row][j] in[lane][j], j ascending. A block
// has 64 lanes and 64 rows, a thread 4 x 4 of them; with MMA a warp 16 x 32 on the tensor cores for doubles, whose order of sums
// is their own.

#define SIDE 64
#define DEPTH 16
#define THREADS 256

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

KERNEL(THREADS)
product(GLOBAL real *work, GLOBAL const real *RESTRICT tables, GLOBAL const table_job *RESTRICT jobs, product_args t)
{
  SHARED real a[DEPTH][SIDE + 1], x[DEPTH][SIDE + 1];
  const i32 id = LOCAL_ID(0), tx = id % 16, ty = id / 16;
  i64 tile = GROUP_ID(0);
  i32 lo = 0, hi = t.jobs;
  while (hi - lo > 1) {
    i32 mid = (lo + hi) / 2;
    if (jobs[mid].before * t.per / SIDE + mid <= tile)
      lo = mid;
    else
      hi = mid;
  }
  table_job w = jobs[lo];
  i64 lane = (tile - w.before * t.per / SIDE - lo) * SIDE, lanes = w.systems * t.per;
  i32 row = GROUP_ID(1) * SIDE, rows = (i32)w.rows, put_rows = (i32)w.put_rows, columns = (i32)w.columns;
  if (lane >= lanes || row >= put_rows)
    return;
  GLOBAL const real *from = work + w.from * t.plane + (w.base * t.per + lane) * t.line;
  GLOBAL real *to = work + w.to * t.plane + (w.put_base * t.per + lane) * t.line;
  const i32 some = (i32)min(lanes - lane, (i64)SIDE);
  real sum[4][4]; // MMA: pairs of tiles (lanes 8 i ..., rows 8 j ...), i < 2, j < 4, at [2 i + j / 2][2 (j % 2)]
  for (i32 i = 0; i < 4; i++)
    for (i32 j = 0; j < 4; j++)
      sum[i][j] = 0;
#if MMA
  SHUFFLE_ROOM(THREADS);
  const i32 inner = id % 4, outer = id % WARP / 4, first_lane = id / WARP % 4 * 16, first_row = id / WARP / 4 * 32;
#endif
  const i32 stop = w.upper < 0 ? min(columns, row + SIDE) : columns;
  for (i32 k0 = w.upper > 0 ? row / DEPTH * DEPTH : 0; k0 < stop; k0 += DEPTH) {
    for (i32 i = id; i < SIDE * DEPTH; i += THREADS) {
      i32 across = i / DEPTH, k = i % DEPTH; // neighbours read neighbours
      x[k][across] = across < some && k0 + k < columns ? from[across * t.line + w.take_at + (k0 + k) * w.take_step] : (real)0;
      if (w.first == 2 && k0 + k == 0)
        x[k][across] *= (real)0.5;
      if (w.column != 1) {
        across = i % SIDE;
        k = i / SIDE;
      }
      a[k][across] = row + across < rows && k0 + k < columns
                         ? tables[w.table + (row + across) * w.row + (k0 + k) * w.column]
                         : (real)0;
    }
    BARRIER();
#if MMA
    for (i32 k = 0; k < DEPTH; k += 4)
      for (i32 i = 0; i < 2; i++)
        for (i32 j = 0; j < 4; j++)
          MMA_F64(sum[2 * i + j / 2][2 * (j % 2)], sum[2 * i + j / 2][2 * (j % 2) + 1],
                  x[k + inner][first_lane + 8 * i + outer], a[k + inner][first_row + 8 * j + outer]);
#else
    for (i32 k = 0; k < DEPTH; k++)
      for (i32 i = 0; i < 4; i++)
        for (i32 j = 0; j < 4; j++)
          sum[i][j] = FMA(a[k][tx + 16 * j], x[k][ty + 16 * i], sum[i][j]);
#endif
    BARRIER();
  }
  for (i32 i = 0; i < 4; i++)
    for (i32 j = 0; j < 4; j++) {
#if MMA
      i32 l = first_lane + 8 * (i / 2) + outer, r = row + first_row + 8 * (2 * (i % 2) + j / 2) + 2 * inner + j % 2;
#else
      i32 l = ty + 16 * i, r = row + tx + 16 * j;
#endif
      if (l < some && r < put_rows) {
        GLOBAL real *put = to + l * t.line + w.put_at + r * w.put_step;
        if (w.first == 1 && r == 0)
          sum[i][j] *= 2;
        *put = w.add ? *put + sum[i][j] : sum[i][j];
      }
    }
}
