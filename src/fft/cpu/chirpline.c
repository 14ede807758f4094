/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>
#include "core/alloc.h"
#include "core/cpu.h"
#include "fft/cpu/chirpline.h"
#include "fft/cpu/radices.h"
#include "fft/roots/roots.h"

enum { LEAST = 48, MOST = 1 << 24 }; // lengths: below, a lane is as fast

KUGEL_DISPATCH(kugel__chirp_ops, kugel__chirp_ops)

// A multiple of 64, which splits into full vectors, without prime factors above 5.
static int64_t padded(int64_t n)
{
  for (int64_t k = (n + 63) / 64;; k++) {
    int64_t rest = k;
    for (int f = 2; f <= 5; f++)
      while (rest % f == 0)
        rest /= f;
    if (rest == 1)
      return 64 * k;
  }
}

// The DFT of z[m] in place.
static void transform(const kugel__longline *l, double *z, double *work)
{
  const kugel__long_ops *ops = kugel__long_ops_now();
  kugel__longjob job = {.line = l,
                        .in = (char *)z,
                        .out = (char *)z,
                        .in_step = 1,
                        .out_step = 1,
                        .scale = 1,
                        .middle = work + l->points * 2 * ops->vlen};
  ops->first(&job, 0, l->groups, work);
  ops->second(&job, 0, l->blocks, work);
}

void kugel__chirpline_run(const kugel__chirpline *l, const kugel__longjob *job)
{
  const kugel__chirp_ops *ops = kugel__chirp_ops_get();
  double *z = job->middle, *work = z + 2 * l->transform.n;
  ops->before(l, job, z);
  transform(&l->transform, z, work);
  ops->between(l, z);
  transform(&l->transform, z, work);
  ops->after(l, job, z);
}

static kugel_status make_tables(kugel_ctx *ctx, kugel__chirpline *l)
{
  enum { BLOCK = 64 };
  int64_t n = l->n, m = l->transform.n, vlen = kugel__chirp_ops_get()->vlen, square[BLOCK];
  KUGEL_ALLOC(ctx, l->chirp, (size_t)n * 16);
  KUGEL_ALLOC(ctx, l->spectrum, (size_t)m * 16);
  memset(l->spectrum, 0, (size_t)m * 16);
  for (int64_t k = 0; k < n; k++) {
    if (k % BLOCK == 0) {
      for (int64_t i = 0; i < BLOCK; i++)
        square[i] = (int64_t)((__int128)(k + i) * (k + i) % (2 * n));
      kugel__roots_at(kugel__turn_ratio(-1, 2 * n), square, kugel__min(BLOCK, n - k), l->chirp + 2 * k, 1);
    }
    int64_t wrapped = k ? m - k : 0;
    l->spectrum[2 * k] = l->spectrum[2 * wrapped] = l->chirp[2 * k] / (double)m;
    l->spectrum[2 * k + 1] = l->spectrum[2 * wrapped + 1] = -l->chirp[2 * k + 1] / (double)m;
  }
  double *work;
  KUGEL_ALLOC(ctx, work, (size_t)(l->points * 2 * vlen) * 8);
  transform(&l->transform, l->spectrum, work);
  kugel__free(ctx, work);
  return KUGEL_OK;
}

kugel_status kugel__chirpline_create(kugel_ctx *ctx, kugel__long_kind kind, int64_t n, kugel__chirpline *out)
{
  *out = (kugel__chirpline){0};
  if (n < LEAST || n > MOST)
    return KUGEL_OK;
  kugel__radices radices = kugel__radices_of(n);
  bool large = radices.bluestein > 0;
  for (int i = 0; i < radices.count; i++)
    large = large || radices.radix[i] > KUGEL__MAX_RADIX;
  if (!large)
    return KUGEL_OK;
  *out = (kugel__chirpline){.kind = kind, .n = n};
  kugel__longline *t = &out->transform;
  kugel_status s = kugel__longline_create(ctx, KUGEL__LONG_C2C, padded(2 * n - 1), t);
  int64_t vlen = kugel__chirp_ops_get()->vlen;
  out->points = (t->n + vlen - 1) / vlen + t->points + t->middle;
  s = s ? s : make_tables(ctx, out);
  if (s)
    kugel__chirpline_destroy(ctx, out);
  return s;
}

void kugel__chirpline_destroy(kugel_ctx *ctx, kugel__chirpline *l)
{
  kugel__longline_destroy(ctx, &l->transform);
  kugel__free(ctx, l->chirp);
  kugel__free(ctx, l->spectrum);
  *l = (kugel__chirpline){0};
}
