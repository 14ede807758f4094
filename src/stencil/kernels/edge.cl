// SPDX-License-Identifier: BSD-3-Clause
// Nodes next to ends whose rows are not those inside with values beyond the end: one-sided ends, and transposes. A thread
// sums one node from the rows of its three axes, in tables. Also what steps in time do between levels.
//
// A line of the tables: first and last regular row, reach, then per row next to an end: entries, and their nodes; weights of
// the row inside, then of the others.
//
// variant: REAL_BITS=64
// variant: REAL_BITS=32

#define BLOCK 128
#define ENTRIES 20
#define EDGES 20
#define REACHES 9
#define LINE_WORDS (3 + EDGES * (1 + ENTRIES))
#define LINE_WEIGHTS (REACHES + EDGES * ENTRIES)
#define PART_WORDS 5 // source, three lines, coefficient

typedef struct {
  i64 n[3], first[3], last[3], nodes, count, items, item_in, item_out, in_at, out_at, p_at, q_at, use, targets, transposed;
  real a, b, c, unused;
} edge_args;

// Row i of a line: its nodes, which follow one another from `first` on inside, and their weights.
typedef struct {
  GLOBAL const i64 *node;
  GLOBAL const real *weight;
  i64 first;
  i32 many, inside;
} row_t;

DEVICE row_t row_of(GLOBAL const i64 *line, GLOBAL const real *weight, i64 i)
{
  const i64 lo = line[0], hi = line[1], edge = i < lo ? i : lo + i - hi;
  row_t r;
  r.inside = i >= lo && i < hi;
  r.node = line + (r.inside ? 0 : 4 + edge * (1 + ENTRIES));
  r.weight = weight + (r.inside ? 0 : REACHES + edge * ENTRIES);
  r.first = i - line[2];
  r.many = (i32)(r.inside ? 2 * line[2] + 1 : r.node[-1]);
  return r;
}

DEVICE i64 node_of(row_t r, i32 k)
{
  return r.inside ? r.first + k : r.node[k];
}

// By 32 bits where they do, a fifth of the instructions.
DEVICE i64 quotient(i64 a, i64 b)
{
  return (a | b) >> 31 ? a / b : (i64)((u32)a / (u32)b);
}

// The e-th of the nodes that are next to an end, axis by axis: its plane, row and column.
DEVICE void place_of(i64 e, edge_args s, i64 *place)
{
  const i64 inner0 = s.last[0] - s.first[0], inner1 = s.last[1] - s.first[1], edges0 = (s.n[0] - inner0) * s.n[1] * s.n[2];
  const i64 edges1 = inner0 * (s.n[1] - inner1) * s.n[2], part = e < edges0 ? 0 : e < edges0 + edges1 ? 1 : 2;
  const i64 width = part == 2 ? s.n[2] - (s.last[2] - s.first[2]) : s.n[2];
  const i64 height = part == 0 ? s.n[1] : part == 1 ? s.n[1] - inner1 : inner1;
  e -= part == 0 ? 0 : part == 1 ? edges0 : edges0 + edges1;
  const i64 row = quotient(e, width), i = quotient(row, height), j = row - i * height, k = e - row * width;
  place[0] = part > 0 ? s.first[0] + i : i < s.first[0] ? i : i + inner0;
  place[1] = part == 2 ? s.first[1] + j : part == 0 || j < s.first[1] ? j : j + inner1;
  place[2] = part < 2 || k < s.first[2] ? k : k + s.last[2] - s.first[2];
}

// The sum of a row whose nodes are `stride` numbers apart, of a line that begins at `from`; `by`: the coefficient's.
DEVICE real sum_along(row_t r, i64 stride, GLOBAL const real *from, GLOBAL const real *by, i32 product)
{
  real sum = 0;
#if IS_CUDA
#pragma unroll 4
#endif
  for (i32 k = 0; k < r.many; k++) {
    const i64 at = node_of(r, k) * stride;
    sum += r.weight[k] * (product ? by[at] * from[at] : from[at]);
  }
  return sum;
}

KERNEL(BLOCK) edge(GLOBAL const real *RESTRICT in, GLOBAL const real *RESTRICT coefficients, GLOBAL const i64 *RESTRICT words,
                   GLOBAL const real *RESTRICT weights, GLOBAL const i64 *RESTRICT parts, GLOBAL const real *RESTRICT factors,
                   GLOBAL const real *p, GLOBAL const real *q, GLOBAL real *out, edge_args s)
{
  for (i64 e = GLOBAL_ID(0); e < s.count * s.items; e += (i64)GROUPS(0) * BLOCK) {
    i64 place[3];
    const i64 item = quotient(e, s.count);
    place_of(e - item * s.count, s, place);
    const i64 z = place[0], y = place[1], x = place[2], at = (z * s.n[1] + y) * s.n[2] + x;
    for (i64 target = 0; target < s.targets; target++) {
      real sum = 0;
      for (i64 part = parts[target]; part < parts[target + 1]; part++) {
        GLOBAL const i64 *own = parts + s.targets + 1 + part * PART_WORDS;
        GLOBAL const i64 *l0 = words + own[1] * LINE_WORDS, *l1 = words + own[2] * LINE_WORDS, *l2 = words + own[3] * LINE_WORDS;
        GLOBAL const real *w0 = weights + own[1] * LINE_WEIGHTS, *w1 = weights + own[2] * LINE_WEIGHTS, *w2 = weights + own[3] * LINE_WEIGHTS;
        const i64 from = s.in_at + item * s.item_in + own[0] * s.nodes, c = own[4] * s.nodes;
        const i32 product = s.transposed && c >= 0, axes = (l0[2] > 0) + (l1[2] > 0) + (l2[2] > 0);
        GLOBAL const real *values = in + from, *by = coefficients + (product ? c : 0);
        real whole = 0;
        if (axes < 2) { // lines without a difference have the weight 1
          const i32 axis = l2[2] > 0 ? 2 : l1[2] > 0 ? 1 : 0;
          const i64 stride = axis == 2 ? 1 : axis == 1 ? s.n[2] : s.n[1] * s.n[2], i = axis == 2 ? x : axis == 1 ? y : z, line = at - i * stride;
          const row_t r = row_of(axis == 2 ? l2 : axis == 1 ? l1 : l0, axis == 2 ? w2 : axis == 1 ? w1 : w0, i);
          whole = sum_along(r, stride, values + line, by + line, product);
        } else {
          const row_t r0 = row_of(l0, w0, z), r1 = row_of(l1, w1, y), r2 = row_of(l2, w2, x);
          for (i32 i = 0; i < r0.many; i++)
            for (i32 j = 0; j < r1.many; j++) {
              const i64 line = (node_of(r0, i) * s.n[1] + node_of(r1, j)) * s.n[2];
              whole += r0.weight[i] * r1.weight[j] * sum_along(r2, 1, values + line, by + line, product);
            }
        }
        whole *= factors[part];
        sum += !s.transposed && c >= 0 ? whole * coefficients[c + at] : whole;
      }
      const i64 own_out = item * s.item_out + target * s.nodes + at;
      real r = s.a * sum;
      if (s.use & 1)
        r += s.b * p[s.p_at + own_out] + (s.use & 2 ? s.c * q[s.q_at + own_out] : (real)0);
      out[s.out_at + own_out] = r;
    }
  }
}

// Two levels change places; the second gets the other sign on its way, if `negates`.
KERNEL(BLOCK) exchange(GLOBAL real *x, i64 first, i64 second, i64 n, i64 negates)
{
  for (i64 i = GLOBAL_ID(0); i < n; i += (i64)GROUPS(0) * BLOCK) {
    const real own = x[first + i];
    x[first + i] = negates ? -x[second + i] : x[second + i];
    x[second + i] = own;
  }
}

KERNEL(BLOCK) negate(GLOBAL real *x, i64 first, i64 n)
{
  for (i64 i = GLOBAL_ID(0); i < n; i += (i64)GROUPS(0) * BLOCK)
    x[first + i] = -x[first + i];
}

// Solves along periodic lines, by Sherman and Morrison: x -= z (v x) / (1 + v z), v = (1, 0, ..., ratio), divide = 1 / (1 + v z).
// Lines are rows [lines, n] or columns [n, lines]; of one matrix (each = 0) z, ratio and divide are of one line.
typedef struct {
  i64 n, lines, rows, each, x_at, parts_at, ratio_at, divide_at;
} correct_args;

KERNEL(BLOCK) corrections(GLOBAL const real *x, GLOBAL const real *RESTRICT tables, GLOBAL real *parts, correct_args s)
{
  for (i64 m = GLOBAL_ID(0); m < s.lines; m += (i64)GROUPS(0) * BLOCK) {
    const i64 matrix = s.each ? m : 0, first = s.rows ? m * s.n : m, last = s.rows ? first + s.n - 1 : (s.n - 1) * s.lines + m;
    parts[s.parts_at + m] = tables[s.divide_at + matrix] * (x[s.x_at + first] + tables[s.ratio_at + matrix] * x[s.x_at + last]);
  }
}

KERNEL(BLOCK) correct(GLOBAL real *x, GLOBAL const real *RESTRICT tables, GLOBAL const real *RESTRICT parts, correct_args s)
{
  for (i64 e = GLOBAL_ID(0); e < s.n * s.lines; e += (i64)GROUPS(0) * BLOCK) {
    const i64 m = s.rows ? e / s.n : e % s.lines, k = s.rows ? e % s.n : e / s.lines;
    x[s.x_at + e] -= parts[s.parts_at + m] * tables[s.each ? e : k];
  }
}
