/* SPDX-License-Identifier: BSD-3-Clause */
/* What the solvers of a pass share: where its lines begin, and work for the threads. */
#ifndef KUGEL_FFT_CPU_SWEEP_H
#define KUGEL_FFT_CPU_SWEEP_H

#include "core/parallel.h"
#include "fft/cpu/pass.h"

enum { KUGEL__TASK_POINTS = 1 << 15 }; /* of the lines that a thread takes at once */

/* Lines `first` to `end` - 1 of a pass on their way through one solver. */
typedef struct kugel__sweep {
  const kugel__pass *pass;
  int64_t first, end, task_lines;
  int64_t workers; /* that scratch has room for */
  char *scratch;
  size_t scratch_size; /* of one worker, bytes */
  kugel__longjob job;
  double *buffer; /* of cosine and sine kinds, when all workers share a line */
} kugel__sweep;

static inline double *kugel__worker_scratch(const kugel__sweep *s, int worker)
{
  return (double *)(void *)(s->scratch + (size_t)worker * s->scratch_size);
}

/* First elements of line `index` in both arrays: row-major over all axes but the one transformed. */
static inline void kugel__line_at(const kugel__pass *t, int64_t index, int64_t *in, int64_t *out)
{
  *in = *out = 0;
  for (int d = t->in->ndim - 1; d >= 0; d--) {
    if (d == t->at)
      continue;
    int64_t i = index % t->in->shape[d];
    index /= t->in->shape[d];
    *in += i * t->in->stride[d];
    *out += i * t->out->stride[d];
  }
}

/* Whether elements of a line are adjacent in both arrays, and may be taken as such. */
static inline bool kugel__lines_adjacent(const kugel__pass *t)
{
  return t->alike != KUGEL__LINES_APART && t->in->stride[t->at] == 1 && t->out->stride[t->at] == 1;
}

/* Hands tasks out, or does the only one at once. */
static inline kugel_status kugel__each_task(kugel_ctx *ctx, int64_t tasks, kugel__worker_task task,
                                            kugel__sweep *s)
{
  return tasks == 1 ? task(s, 0, 0) : kugel__parallel_on(ctx, s->workers, tasks, task, s);
}

#endif
