/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans of long lines, and the twiddles between their two passes. */
#include <math.h>
#include "core/alloc.h"
#include "core/parallel.h"
#include "fft/longline.h"

kugel_status kugel__longline_create(kugel_ctx *ctx, int64_t n, kugel__longline *out)
{
  *out = (kugel__longline){.n = n};
  if (n < KUGEL__LONG)
    return KUGEL_OK;
  int64_t n1 = (int64_t)sqrt((double)n);
  while (n1 > 1 && n % n1)
    n1--;
  if (n1 < 32)
    return KUGEL_OK;
  out->n1 = n1;
  out->n2 = n / n1;
  out->fine = (int64_t)sqrt((double)n) + 1;
  int64_t coarse = n / out->fine + 1;
  kugel_status s = kugel__axis_create(ctx, KUGEL_FFT_C2C, out->n1, &out->first);
  if (!s)
    s = kugel__axis_create(ctx, KUGEL_FFT_C2C, out->n2, &out->second);
  if (!s && !(out->table = kugel__alloc(ctx, (size_t)(coarse + out->fine) * 16)))
    s = KUGEL_FAIL(KUGEL_ENOMEM, "no memory for the twiddles of %lld points", (long long)n);
  if (s) {
    kugel__longline_destroy(ctx, out);
    return s;
  }
  for (int64_t i = 0; i < coarse + out->fine; i++) {
    int64_t e = i < coarse ? i * out->fine : i - coarse;
    long double angle = 2 * M_PIl * (long double)e / (long double)n;
    out->table[2 * i] = (double)cosl(angle);
    out->table[2 * i + 1] = (double)-sinl(angle);
  }
  return KUGEL_OK;
}

void kugel__longline_destroy(kugel_ctx *ctx, kugel__longline *l)
{
  kugel__axis_destroy(ctx, &l->first);
  kugel__axis_destroy(ctx, &l->second);
  kugel__free(ctx, l->table);
  l->table = NULL;
}

typedef struct sweep {
  const kugel__longline *l;
  bool inverse;
  double *data;
} sweep;

static kugel_status row(void *arg, int64_t k1, int worker)
{
  const sweep *s = arg;
  const kugel__longline *l = s->l;
  const double *coarse = l->table, *fine = coarse + 2 * (l->n / l->fine + 1);
  double *x = s->data + 2 * k1 * l->n2;
  (void)worker;
  for (int64_t j2 = 0, high = 0, low = 0; j2 < l->n2; j2++) { // exponent j2 k1 = high fine + low
    const double *a = coarse + 2 * high, *b = fine + 2 * low;
    double c = a[0] * b[0] - a[1] * b[1], d = a[0] * b[1] + a[1] * b[0];
    d = s->inverse ? -d : d;
    double re = x[2 * j2] * c - x[2 * j2 + 1] * d;
    x[2 * j2 + 1] = x[2 * j2] * d + x[2 * j2 + 1] * c;
    x[2 * j2] = re;
    low += k1;
    while (low >= l->fine) {
      low -= l->fine;
      high++;
    }
  }
  return KUGEL_OK;
}

kugel_status kugel__longline_twiddle(kugel_ctx *ctx, const kugel__longline *l, bool inverse, double *data)
{
  sweep s = {l, inverse, data};
  return kugel__parallel(ctx, l->n1, row, &s);
}
