/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans of one axis: the DFT inside each kind and the roots of unity around it. */
#include "core/alloc.h"
#include "fft/cpu/lines.h"
#include "fft/roots/roots.h"

KUGEL_DISPATCH(kugel__line_ops, kugel__line_ops)

const kugel__line_ops *kugel__line_ops_now(void)
{
  return kugel__line_ops_get();
}

kugel_status kugel__axis_create(kugel_ctx *ctx, kugel_fft_kind kind, int64_t n, kugel__axis *out)
{
  // length of the DFT, number of roots e^{-2 pi i k / period}
  int64_t length = n, roots = 0, period = 1;
  switch (kind) {
  case KUGEL_FFT_C2C:
    break;
  case KUGEL_FFT_R2C:
    length = n % 2 ? n : n / 2;
    roots = n % 2 ? 0 : n / 4 + 1;
    period = n;
    break;
  case KUGEL_FFT_DCT1:
    length = 2 * (n - 1);
    break;
  case KUGEL_FFT_DST1:
    length = 2 * (n + 1);
    break;
  case KUGEL_FFT_DCT4:
  case KUGEL_FFT_DST4:
    roots = 2 * n + 5;
    period = 8 * n;
    break;
  default:
    roots = n + 1;
    period = 4 * n;
  }
  *out = (kugel__axis){.kind = kind, .n = n, .half = n / 2 + 1};
  KUGEL_TRY(kugel__lanes_create(ctx, length, &out->lanes));
  out->points = 2 * (kugel__max(n, length) + 2) + kugel__lanes_work(out->lanes);
  if (!roots)
    return KUGEL_OK;
  out->root = kugel__alloc(ctx, (size_t)roots * 16);
  if (!out->root) {
    kugel__axis_destroy(ctx, out);
    return KUGEL_FAIL(KUGEL_ENOMEM, "no memory for %lld roots of unity", (long long)roots);
  }
  kugel__fft_roots(KUGEL__NO_TURN, kugel__turn_ratio(-1, period), roots, out->root, 1);
  return KUGEL_OK;
}

void kugel__axis_destroy(kugel_ctx *ctx, kugel__axis *axis)
{
  kugel__lanes_destroy(axis->lanes);
  kugel__free(ctx, axis->root);
  axis->lanes = NULL;
  axis->root = NULL;
}
