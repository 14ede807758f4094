// SPDX-License-Identifier: BSD-3-Clause
// Single steps of the rows and columns next to ends, where a pass of several steps has no values: all nodes of planes [begin, end)
// outside the box [low, high) of rows and columns, but for those whose rows are in the tables of edge.cl. A thread owns a column of
// a chunk of planes. Sums have the products of a marching kernel in its order, and so its bits. Without groups: copies p.
//
// variant: REAL_BITS=64
// variant: REAL_BITS=32

#define BLOCK 128
#define GROUPS_MOST 8
#define WEIGHTS_MOST 240

typedef struct {
  i64 n[3], step[2], first[2], last[2], low[2], high[2], kind[6], begin, end, chunk, in_at, out_at, p_at, q_at, use, groups, read_at;
  // read_at: the coefficient that multiplies what is read, -1: none
  i64 c_at[GROUPS_MOST];                    // -1: the group has no coefficient; that one is the first
  i32 taps[GROUPS_MOST], tap[WEIGHTS_MOST]; // where a group's taps end; 8 + offset along each axis, 4 bits each
  real a, b, c, w[WEIGHTS_MOST];
} frame_args;

// The node that a node beyond an end stands for, and its factor. Kinds: 0 periodic, 1 odd, 2 even, 3 zero; 8 even, 9 odd, where the
// mirror's own node counts twice, or not.
DEVICE i64 node_of(i64 i, i64 n, i64 low, i64 high)
{
  i64 j = i < 0 ? (low == 0 ? i + n : -i) : i >= n ? (high == 0 ? i - n : 2 * (n - 1) - i) : i;
  return j < 0 ? 0 : j >= n ? n - 1 : j;
}

DEVICE i32 sign_of(i64 i, i64 n, i64 low, i64 high)
{
  i64 kind = i < 0 ? low : i >= n ? high : 0, own = i == 0 ? low : 0;
  own = i == n - 1 && high >= 8 ? high : own;
  return kind == 1 || kind == 9 ? -1 : kind == 3 || own == 9 ? 0 : own == 8 ? 2 : 1;
}

KERNEL(BLOCK) frame(GLOBAL const real *in, GLOBAL const real *RESTRICT coefficients, GLOBAL const real *p, GLOBAL const real *q,
                    GLOBAL real *out, frame_args s)
{
  const i64 rows = s.n[1] - (s.high[0] - s.low[0]), columns = s.n[2] - (s.high[1] - s.low[1]);
  const i64 whole = rows * s.n[2], count = whole + (s.high[0] - s.low[0]) * columns;
  const i64 z0 = s.begin + GROUP_ID(1) * s.chunk, z1 = z0 + s.chunk < s.end ? z0 + s.chunk : s.end;
  for (i64 e = GLOBAL_ID(0); e < count; e += (i64)GROUPS(0) * BLOCK) {
    i64 x, y;
    if (e < whole) {
      y = e / s.n[2];
      x = e % s.n[2];
      y = y < s.low[0] ? y : y + s.high[0] - s.low[0];
    } else {
      y = s.low[0] + (e - whole) / columns;
      x = (e - whole) % columns;
      x = x < s.low[1] ? x : x + s.high[1] - s.low[1];
    }
    if (y < s.first[0] || y >= s.last[0] || x < s.first[1] || x >= s.last[1])
      continue;
    for (i64 z = z0; z < z1; z++) {
      const i64 at = z * s.step[0] + y * s.step[1] + x;
      real r = 0;
      i32 k = 0;
      for (i32 g = 0; g < s.groups; g++) {
        real sum = 0;
        for (; k < s.taps[g]; k++) {
          const i64 zk = z + (s.tap[k] & 15) - 8, yk = y + (s.tap[k] >> 4 & 15) - 8, xk = x + (s.tap[k] >> 8) - 8;
          const i32 sign = sign_of(zk, s.n[0], s.kind[0], s.kind[1]) * sign_of(yk, s.n[1], s.kind[2], s.kind[3]) *
                           sign_of(xk, s.n[2], s.kind[4], s.kind[5]);
          const i64 node = node_of(zk, s.n[0], s.kind[0], s.kind[1]) * s.step[0] +
                           node_of(yk, s.n[1], s.kind[2], s.kind[3]) * s.step[1] + node_of(xk, s.n[2], s.kind[4], s.kind[5]);
          const real u = s.read_at < 0 ? in[s.in_at + node] : coefficients[s.read_at + node] * in[s.in_at + node];
          sum = FMA(s.w[k], sign == 0 ? (real)0 : sign * u, sum);
        }
        r = s.c_at[g] < 0 ? sum : FMA(coefficients[s.c_at[g] + at], sum, r);
      }
      const real before = s.use & 1 ? p[s.p_at + at] : (real)0, other = s.use & 2 ? q[s.q_at + at] : (real)0;
      out[s.out_at + at] = s.groups ? FMA(s.a, r, FMA(s.b, before, s.c * other)) : before;
    }
  }
}
