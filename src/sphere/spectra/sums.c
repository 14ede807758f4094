/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums of couplings over bands of rows. Each column adds its diagonals in order: the same bits for any number of threads. */
#include "core/parallel.h"
#include "sphere/spectra/coupling_gpu.h"
#include "sphere/spectra/sums.h"

enum { TILE = 128 /* columns of a task */ };

typedef struct job {
  kugel_ctx *ctx;
  const kugel__band_sums *sums;
  const kugel__diagonals *some;
} job;

static kugel_status tile(void *arg, int64_t i)
{
  const job *j = arg;
  const kugel__band_sums *b = j->sums;
  const kugel__diagonals *s = j->some;
  int64_t n = s->lmax + 1, from = i * TILE, to = kugel__min(n, from + TILE);
  for (int k = 0; k < b->count; k++) {
    const double *weight = b->weight + k * n;
    double *out = b->out + k * b->bands * n;
    for (int64_t d = s->first; d < s->first + s->count; d++) {
      for (int64_t c = kugel__max(from, d); c < to; c++)
        if (b->band[c - d] >= 0)
          out[b->band[c - d] * n + c] += weight[c - d] * kugel__diagonals_at(s, b->family[k], c - d, d);
      for (int64_t c = from; d && c < kugel__min(to, n - d); c++)
        if (b->band[c + d] >= 0)
          out[b->band[c + d] * n + c] += weight[c + d] * kugel__diagonals_at(s, b->family[k], c, d);
    }
  }
  return KUGEL_OK;
}

static kugel_status add(void *arg, const kugel__diagonals *some)
{
  job *j = arg;
  j->some = some;
  kugel__progress_stage(1, 1, "couplings");
  return kugel__parallel(j->ctx, (some->lmax + TILE) / TILE, tile, j);
}

kugel_status kugel__coupling_sums(kugel_ctx *ctx, const kugel_coupling_opts *o, const kugel__band_sums *sums)
{
  job j = {.ctx = ctx, .sums = sums};
  if (kugel__coupling_on_device(ctx))
    return kugel__coupling_gpu_sums(ctx, o, sums);
  return kugel__coupling_each(ctx, o, add, &j);
}
