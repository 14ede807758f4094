/* SPDX-License-Identifier: BSD-3-Clause */
/* Weights of differences, by Fornberg's recurrence (Math. Comp. 51, 1988) in long double on integer nodes, and the rows next to
 * the ends of an axis. */
#include "stencil/line.h"
#include <math.h>
#include <string.h>

enum { NODES = 2 * KUGEL__STENCIL_REACH + 2 };

/* Weights of f(first), f(first + 1), ... f(first + count - 1) in the derivative at 0. */
static void fornberg(int derivative, int first, int count, long double *weight)
{
  long double c[NODES][3] = {{1}}, c1 = 1, c4 = first;
  for (int i = 1; i < count; i++) {
    const int top = i < derivative ? i : derivative;
    long double c2 = 1, c5 = c4;
    c4 = first + i;
    for (int j = 0; j < i; j++) {
      const long double c3 = i - j;
      c2 *= c3;
      if (j == i - 1)
        for (int k = top; k >= 0; k--)
          c[i][k] = c1 * ((k ? k * c[i - 1][k - 1] : 0) - c5 * c[i - 1][k]) / c2;
      for (int k = top; k >= 0; k--)
        c[j][k] = (c4 * c[j][k] - (k ? k * c[j][k - 1] : 0)) / c3;
    }
    c1 = c2;
  }
  for (int i = 0; i < count; i++)
    weight[i] = c[i][derivative];
}

static void add(kugel__stencil_row *row, int64_t at, double weight)
{
  int k = 0;
  while (k < row->count && row->at[k] != at)
    k++;
  if (k == row->count) {
    row->at[k] = at;
    row->weight[k] = 0;
    row->count++;
  }
  row->weight[k] += weight;
}

/* A node beyond an end, as one of the grid. */
static void add_folded(kugel__stencil_row *row, int64_t n, int64_t at, double weight,
                       const kugel_stencil_boundary *boundary)
{
  const bool low = at < 0;
  const int64_t mirror = low ? -at : 2 * (n - 1) - at;
  if (at >= 0 && at < n)
    add(row, at, weight);
  else if (boundary[!low] == KUGEL_STENCIL_PERIODIC)
    add(row, low ? at + n : at - n, weight);
  else if (boundary[!low] != KUGEL_STENCIL_ZERO)
    add(row, mirror, boundary[!low] == KUGEL_STENCIL_ODD ? -weight : weight);
}

static void make_edge(kugel__stencil_line *l, int64_t i, int derivative, int order, double scale,
                      const kugel_stencil_boundary *boundary, kugel__stencil_row *row)
{
  const bool low = i < l->lo;
  const int64_t n = l->n;
  row->count = 0;
  if (boundary[!low] == KUGEL_STENCIL_ONE_SIDED) {
    const int count = order + derivative; // exact to the same degree as the difference inside
    const int64_t first = low ? 0 : n - count;
    long double weight[NODES];
    fornberg(derivative, (int)(first - i), count, weight);
    for (int k = 0; k < count; k++)
      add(row, first + k, scale * (double)weight[k]);
    return;
  }
  for (int k = -l->reach; k <= l->reach; k++)
    if (l->weight[k + l->reach] != 0)
      add_folded(row, n, i + k, l->weight[k + l->reach], boundary);
}

void kugel__stencil_line_make(kugel__stencil_line *l, int64_t n, int derivative, int order, double h,
                              const kugel_stencil_boundary *boundary)
{
  memset(l, 0, sizeof *l);
  l->n = n;
  l->weight[0] = 1;
  if (!derivative)
    return;
  const int r = order / 2;
  const double scale = derivative == 2 ? 1 / h / h : 1 / h;
  long double weight[NODES];
  l->lo = l->hi = l->reach = r;
  fornberg(derivative, -r, order + 1, weight);
  for (int k = 0; k <= r; k++) { // symmetric whatever the rounding
    double w = k || derivative == 2 ? scale * (double)weight[r + k] : 0;
    l->weight[r + k] = w;
    l->weight[r - k] = derivative == 2 ? w : -w;
  }
  for (int e = 0; e < 2 * r; e++)
    make_edge(l, e < r ? e : n - 2 * r + e, derivative, order, scale, boundary, &l->edge[e]);
}

/* Inside, second derivative: 1/10 f''_{i-1} + f''_i + 1/10 f''_{i+1} = 6/5 (u_{i-1} - 2 u_i + u_{i+1}) / h^2; first: 1/4, 3/4. */
void kugel__stencil_line_make_compact(kugel__stencil_line *l, int64_t n, int derivative, int order, double h,
                                      const kugel_stencil_boundary *boundary)
{
  memset(l, 0, sizeof *l);
  l->n = n;
  l->weight[0] = 1;
  if (!derivative)
    return;
  const double scale = derivative == 2 ? 1 / h / h : 1 / h, w = (derivative == 2 ? 1.2 : 0.75) * scale;
  l->lo = l->hi = l->reach = 1;
  l->weight[0] = derivative == 2 ? w : -w;
  l->weight[1] = derivative == 2 ? -2 * w : 0;
  l->weight[2] = w;
  make_edge(l, 0, derivative, order, scale, boundary, &l->edge[0]);
  make_edge(l, n - 1, derivative, order, scale, boundary, &l->edge[1]);
}

void kugel__stencil_get_row(const kugel__stencil_line *l, int64_t i, kugel__stencil_row *row)
{
  if (i < l->lo || i >= l->n - l->hi) {
    *row = l->edge[i < l->lo ? i : l->lo + i - (l->n - l->hi)];
    return;
  }
  row->count = 0;
  for (int k = -l->reach; k <= l->reach; k++)
    if (l->weight[k + l->reach] != 0) {
      row->at[row->count] = i + k;
      row->weight[row->count++] = l->weight[k + l->reach];
    }
}

void kugel__stencil_line_transpose(const kugel__stencil_line *l, kugel__stencil_line *out)
{
  const int64_t n = l->n;
  int64_t edge = 2 * l->reach + 2; // columns that rows of the ends reach, or that lie within reach of them
  for (int64_t e = 0; e < l->lo + l->hi; e++)
    edge = kugel__max(edge, l->edge[e].count);
  const int64_t near = 2 * KUGEL__STENCIL_EDGES;
  memset(out, 0, sizeof *out);
  out->n = n;
  out->reach = l->reach;
  for (int k = 0; k <= 2 * l->reach; k++)
    out->weight[k] = l->weight[2 * l->reach - k];
  if (!l->reach)
    return;
  out->lo = 2 * edge > n ? n : edge;
  out->hi = 2 * edge > n ? 0 : edge;
  for (int64_t i = 0; i < n; i = i + 1 == near && n > 2 * near ? n - near : i + 1) {
    kugel__stencil_row row;
    kugel__stencil_get_row(l, i, &row);
    for (int k = 0; k < row.count; k++) {
      const int64_t j = row.at[k];
      if (j < out->lo || j >= n - out->hi)
        add(&out->edge[j < out->lo ? j : out->lo + j - (n - out->hi)], i, row.weight[k]);
    }
  }
}

double kugel__stencil_line_bound(const kugel__stencil_line *l)
{
  double most = 0;
  for (int64_t e = -1; e < l->lo + l->hi; e++) {
    double sum = 0;
    for (int k = 0; e < 0 && k <= 2 * l->reach; k++)
      sum += fabs(l->weight[k]);
    for (int k = 0; e >= 0 && k < l->edge[e].count; k++)
      sum += fabs(l->edge[e].weight[k]);
    most = fmax(most, sum);
  }
  return most;
}
