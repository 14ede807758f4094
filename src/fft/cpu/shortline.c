/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/alloc.h"
#include "fft/roots/roots.h"
#include "fft/cpu/shortline.h"

enum { MOST = 8192 }; // complex elements, of real lines

KUGEL_DISPATCH(kugel__short_ops, kugel__short_ops)

const kugel__short_ops *kugel__short_ops_now(void)
{
  return kugel__short_ops_get();
}

static kugel_status make_tables(kugel_ctx *ctx, kugel__shortline *l)
{
  int64_t vlen = kugel__short_ops_now()->vlen, groups = l->cols > vlen ? l->cols / vlen : 1;
  KUGEL_ALLOC(ctx, l->table, (size_t)(groups * vlen * l->rows * 2) * 8);
  for (int64_t g = 0; g < groups; g++)
    for (int64_t lane = 0; lane < vlen; lane++) { // lanes beyond the columns are those of a second line
      double w[32], *to = l->table + g * l->rows * 2 * vlen + lane;
      int64_t c = (g * vlen + lane / 2 + lane % 2 * (vlen / 2)) % l->cols;
      kugel__turn turn = kugel__turn_ratio(-c, l->n);
      kugel__fft_roots(KUGEL__NO_TURN, turn, l->rows, w, 1);
      for (int64_t q = 0; q < l->rows; q++) {
        to[2 * q * vlen] = w[2 * q];
        to[2 * q * vlen + vlen] = w[2 * q + 1];
      }
    }
  return KUGEL_OK;
}

static kugel_status make_roots(kugel_ctx *ctx, kugel__shortline *l)
{
  KUGEL_ALLOC(ctx, l->root, (size_t)(l->n + 2) * 8);
  kugel__fft_roots(KUGEL__NO_TURN, kugel__turn_ratio(-1, 2 * l->n), l->n / 2 + 1, l->root, 1);
  return KUGEL_OK;
}

// Real lines of which the complex ones are long, but stay in the second-level cache.
static kugel_status make_core(kugel_ctx *ctx, kugel__long_kind kind, int64_t n, kugel__shortline *l)
{
  KUGEL_TRY(kugel__longline_create(ctx, KUGEL__LONG_C2C, n, &l->core));
  if (!l->core.quick) {
    kugel__longline_destroy(ctx, &l->core);
    return KUGEL_OK;
  }
  l->kind = kind;
  l->n = n;
  l->points = n / kugel__short_ops_now()->vlen + l->core.points + l->core.middle;
  return KUGEL_OK;
}

kugel_status kugel__shortline_create(kugel_ctx *ctx, kugel__long_kind kind, int64_t n, kugel__shortline *out)
{
  *out = (kugel__shortline){0};
  if (kind != KUGEL__LONG_C2C)
    n = n % 2 ? 0 : n / 2;
  kugel_status s = KUGEL_OK;
  if (n == 32 || n == 64 || n == 128 || n == 256) {
    *out = (kugel__shortline){.kind = kind, .n = n, .rows = n < 128 ? 8 : 16};
    out->cols = n / out->rows;
    s = make_tables(ctx, out);
  } else if (kind != KUGEL__LONG_C2C && n >= 256 && n <= MOST && n % 128 == 0) {
    s = make_core(ctx, kind, n, out);
  }
  if (!s && out->n && kind != KUGEL__LONG_C2C)
    s = make_roots(ctx, out);
  if (s)
    kugel__shortline_destroy(ctx, out);
  return s;
}

void kugel__shortline_destroy(kugel_ctx *ctx, kugel__shortline *l)
{
  kugel__longline_destroy(ctx, &l->core);
  kugel__free(ctx, l->table);
  kugel__free(ctx, l->root);
  *l = (kugel__shortline){0};
}
