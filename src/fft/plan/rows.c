/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/parallel.h"
#include "fft/plan/rows.h"

typedef struct sweep {
  kugel__row_task *task;
  const void *of;
  int64_t rows, chunk;
} sweep;

static kugel_status rows(void *arg, int64_t task)
{
  const sweep *s = arg;
  for (int64_t i = task * s->chunk; i < kugel__min(s->rows, (task + 1) * s->chunk); i++)
    s->task(s->of, i);
  return KUGEL_OK;
}

kugel_status kugel__each_row(kugel_ctx *ctx, const kugel__view *array, kugel__row_task *task, const void *of)
{
  enum { ELEMENTS = 32768 }; // that a thread takes at once
  sweep s = {.task = task, .of = of, .rows = 1};
  for (int d = 0; d < array->ndim - 1; d++)
    s.rows *= array->shape[d];
  s.chunk = ELEMENTS / kugel__max(1, array->shape[array->ndim - 1]) + 1;
  return kugel__parallel(ctx, (s.rows + s.chunk - 1) / s.chunk, rows, &s);
}
