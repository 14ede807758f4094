/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans of long lines: the split of n and the twiddles between the passes. */
#include <math.h>
#include "core/alloc.h"
#include "fft/cpu/longline.h"
#include "fft/roots/roots.h"

enum {
  ONE_TABLE = 4096,  // the longest line whose twiddles are stored one by one
  ONE_BUTTERFLY = 16 // the largest radix between the array and registers
};

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

// The same of a whole pass. Its buffers leave the first-level cache above 128 points, which costs `slower` an
// octave, and the second-level one above 2048.
static double pass_cost(int64_t n, double slower)
{
  double left = fmax(0, log2((double)n / 128));
  return 3 + lane_cost(n) * (1 + slower * left + 0.3 * fmax(0, left - 4));
}

static double idle(int64_t used, int64_t group, int64_t all)
{
  return (double)((used + group - 1) / group * group) / (double)all;
}

// Work per point of n = rows cols, idle lanes counted. Measured: the second pass wants the first-level cache
// more, and of equals the nearest to a square is best.
static double split_cost(kugel__long_kind kind, int64_t rows, int64_t cols, int64_t vlen)
{
  bool r2c = kind == KUGEL__LONG_R2C, c2r = kind == KUGEL__LONG_C2R; // two groups share a DFT
  double first = pass_cost(rows, 0.05) *
                 (c2r ? idle(cols / 2 + 1, vlen, cols) : idle(cols, r2c ? 2 * vlen : vlen, cols));
  double second =
      pass_cost(cols, 0.1) * (r2c ? idle(rows / 2 + 1, vlen, rows) : idle(rows, c2r ? 2 * vlen : vlen, rows));
  return (r2c ? 0.5 : 1) * first + (c2r ? 0.5 : 1) * second + 0.05 * fabs(log2((double)rows / (double)cols));
}

static int64_t best_rows(kugel__long_kind kind, int64_t n, int64_t vlen)
{
  // measured: one butterfly from the array to the middle and cheap rows win while both passes stay in the
  // caches
  if (kind == KUGEL__LONG_C2C && n % ONE_BUTTERFLY == 0 && n / ONE_BUTTERFLY >= vlen && n <= 2 * ONE_TABLE)
    return ONE_BUTTERFLY;
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
      kugel__fft_roots(KUGEL__NO_TURN, turn, single, w, 1);
      kugel__fft_roots(KUGEL__NO_TURN, kugel__turn_times(turn, l->fine), l->roots - single, w + 2 * single,
                       1);
      for (int64_t i = 0; i < l->roots; i++) {
        l->table[((g * l->roots + i) * 2) * vlen + lane] = w[2 * i];
        l->table[((g * l->roots + i) * 2 + 1) * vlen + lane] = w[2 * i + 1];
      }
    }
  return KUGEL_OK;
}

// Whether both passes reach the arrays through butterflies, no lane idle.
static bool is_quick(const kugel__longline *l, int64_t vlen)
{
  const kugel__lanes *a = l->first, *b = l->second;
  if (l->kind != KUGEL__LONG_C2C || a->inner || b->inner || l->rows % vlen || l->cols % vlen)
    return false;
  int64_t r = a->stage[0].radix, s = b->stage[b->stages - 1].radix;
  return (r == 4 || r == 8 || r == 16) && (s == 4 || s == 8 || s == 16);
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
  l->quick = is_quick(l, vlen);
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
