/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans of long lines: the split of n and the twiddles between the passes. */
#include <math.h>
#include "core/alloc.h"
#include "fft/longline.h"
#include "fft/roots.h"

enum { ONE_TABLE = 4096 }; // the longest line whose twiddles are stored one by one

KUGEL_DISPATCH(kugel__long_ops, kugel__long_ops)

const kugel__long_ops *kugel__long_ops_now(void)
{
  return kugel__long_ops_get();
}

// Work of a lane-wise DFT per point, in radix-2 stages: prime factors that are large or padded cost more.
static double lane_cost(int64_t n)
{
  double cost = 1;
  for (int64_t f = 2; n > 1; f++) {
    if (f > KUGEL__MAX_RADIX)
      return cost + 4.5 * log2((double)n) + 8;
    for (; n % f == 0; n /= f)
      cost += f < 8 ? log2((double)f) : (double)f / 3;
  }
  return cost;
}

// Radix-2 stages per point of a DFT in lanes; its two buffers leave the first cache, then the second.
static double pass_cost(int64_t n)
{
  double left = fmax(0, log2((double)n / 128));
  return 3 + lane_cost(n) * (1 + 0.1 * fmin(left, 2) + 0.3 * fmax(0, left - 4));
}

// Work per point of n = rows cols, idle lanes counted.
static double split_cost(kugel__long_kind kind, int64_t rows, int64_t cols, int64_t vlen)
{
  int64_t cs = kind == KUGEL__LONG_C2R ? cols / 2 + 1 : cols,
          qs = kind == KUGEL__LONG_R2C ? rows / 2 + 1 : rows;
  double idle_c = (double)((cs + vlen - 1) / vlen * vlen) / (double)cols;
  double idle_q = (double)((qs + vlen - 1) / vlen * vlen) / (double)rows;
  return pass_cost(rows) * idle_c * (kind == KUGEL__LONG_R2C ? 0.5 : 1) +
         pass_cost(cols) * idle_q * (kind == KUGEL__LONG_C2R ? 0.5 : 1);
}

static int64_t best_rows(kugel__long_kind kind, int64_t n, int64_t vlen)
{
  int64_t best = 0, top = (int64_t)sqrt((double)n) + 1;
  double least = INFINITY;
  for (int64_t d = kugel__max(vlen, top / 64); d <= top; d++) {
    if (n % d || n / d < vlen)
      continue;
    for (int side = 0; side < 2; side++) {
      int64_t rows = side ? n / d : d;
      double cost = split_cost(kind, rows, n / rows, vlen);
      if (cost < least) {
        least = cost;
        best = rows;
      }
    }
  }
  return best;
}

static kugel_status make_table(kugel_ctx *ctx, kugel__longline *l, int64_t vlen)
{
  int64_t groups = (l->cs + vlen - 1) / vlen, single = (l->qs + vlen - 1) / vlen * vlen;
  l->roots = single;
  if (l->n > ONE_TABLE) {
    for (l->fine = vlen; l->fine * l->fine < l->qs;)
      l->fine += vlen;
    l->roots = l->fine + (l->qs + l->fine - 1) / l->fine;
    single = l->fine;
  }
  // the table, and the roots of one column
  KUGEL_ALLOC(ctx, l->table, (size_t)((groups * vlen + 1) * l->roots * 2) * 8);
  double *w = l->table + groups * vlen * l->roots * 2;
  for (int64_t g = 0; g < groups; g++)
    for (int64_t lane = 0; lane < vlen; lane++) {
      kugel__turn turn = kugel__turn_ratio(-(kugel__min(g * vlen, l->cols - vlen) + lane), l->n);
      kugel__roots(KUGEL__NO_TURN, turn, single, w, 1);
      kugel__roots(KUGEL__NO_TURN, kugel__turn_times(turn, l->fine), l->roots - single, w + 2 * single, 1);
      for (int64_t i = 0; i < l->roots; i++) {
        l->table[((g * l->roots + i) * 2) * vlen + lane] = w[2 * i];
        l->table[((g * l->roots + i) * 2 + 1) * vlen + lane] = w[2 * i + 1];
      }
    }
  return KUGEL_OK;
}

kugel_status kugel__longline_create(kugel_ctx *ctx, kugel__long_kind kind, int64_t n, kugel__longline *out)
{
  *out = (kugel__longline){.kind = kind, .n = n};
  int64_t vlen = kugel__long_ops_now()->vlen, rows = best_rows(kind, n, vlen);
  if (!rows)
    return KUGEL_OK;
  kugel__longline *l = out;
  l->rows = rows;
  l->cols = n / rows;
  l->qs = kind == KUGEL__LONG_R2C ? rows / 2 + 1 : rows;
  l->cs = kind == KUGEL__LONG_C2R ? l->cols / 2 + 1 : l->cols;
  l->groups = (l->cs + vlen - 1) / vlen;
  l->blocks = (l->qs + vlen - 1) / vlen;
  l->middle = l->blocks * l->cs;
  if (kind == KUGEL__LONG_R2C)
    l->groups = (l->groups + 1) / 2;
  if (kind == KUGEL__LONG_C2R)
    l->blocks = (l->blocks + 1) / 2;
  kugel_status s = kugel__lanes_create(ctx, l->rows, &l->first);
  s = s ? s : kugel__lanes_create(ctx, l->cols, &l->second);
  s = s ? s : make_table(ctx, l, vlen);
  if (s) {
    kugel__longline_destroy(ctx, l);
    return s;
  }
  l->points = kugel__max(rows + kugel__lanes_work(l->first), l->cols + kugel__lanes_work(l->second));
  return KUGEL_OK;
}

void kugel__longline_destroy(kugel_ctx *ctx, kugel__longline *l)
{
  kugel__lanes_destroy(l->first);
  kugel__lanes_destroy(l->second);
  kugel__free(ctx, l->table);
  *l = (kugel__longline){0};
}
