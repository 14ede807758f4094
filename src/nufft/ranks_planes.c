/* SPDX-License-Identifier: BSD-3-Clause */
/* FFTs over ranks: of the planes of parts, between which and messages modes are copied, and of lines along axis 0. */
#include <string.h>
#include "core/ctx.h"
#include "core/parallel.h"
#include "fft/plan/plan.h"
#include "nufft/ranks.h"

typedef kugel__nufft_job job;

typedef struct posting {
  const job *t;
  const kugel__nufft_part *part;
  int64_t before; /* own planes before the part */
} posting;

/* Where mode i of an axis lies. */
static int64_t cell_of(const kugel_nufft *p, int d, int64_t i)
{
  const kugel__nufft_axis *a = &p->axis[d];
  if (p->real && d == p->ndim - 1)
    return i;
  const int64_t mode = !p->fft_order ? i - a->n / 2 : i < (a->n + 1) / 2 ? i : i - a->n;
  return mode < 0 ? mode + a->fine : mode;
}

/* Modes first ... first + n - 1 of the last axis, from or to a row of the grid, where either sign has a range of its own. */
static void post_row(const job *t, char *cells, int64_t first, int64_t n, char *message)
{
  const kugel_nufft *p = t->plan;
  const int64_t modes = p->axis[p->ndim - 1].n, end = first + n,
                half = p->real        ? end
                       : p->fft_order ? (modes + 1) / 2
                                      : modes / 2;
  while (first < end) {
    const int64_t to = first < half ? kugel__min(end, half) : end;
    const size_t bytes = (size_t)(to - first) * t->mode;
    char *at = cells + (size_t)cell_of(p, p->ndim - 1, first) * t->mode;
    memcpy(t->to_modes ? message : at, t->to_modes ? at : message, bytes);
    message += bytes;
    first = to;
  }
}

/* A plane of a part: its rows to the messages of all ranks, or back. */
static kugel_status post_plane(void *arg, int64_t i)
{
  const posting *k = arg;
  const job *t = k->t;
  const kugel_nufft *p = t->plan;
  char *plane = t->grid + k->part->at + (size_t)i * t->plane;
  const size_t row_bytes = (size_t)p->pitch * t->number;
  for (int r = 0; r < t->r->size; r++) {
    const int64_t first = t->r->row[r], n = t->r->row[r + 1] - first;
    char *message = t->out + (size_t)((t->planes * first + (k->before + i) * n) * t->r->columns) * t->mode;
    if (p->ndim == 2)
      post_row(t, plane, first, n, message);
    for (int64_t j = 0; p->ndim == 3 && j < n; j++)
      post_row(t, plane + (size_t)cell_of(p, 1, first + j) * row_bytes, 0, t->r->columns,
               message + (size_t)(j * t->r->columns) * t->mode);
  }
  return KUGEL_OK;
}

kugel_status kugel__nufft_transform_parts(const job *t)
{
  posting k = {.t = t};
  for (int64_t i = 0; i < t->sp->n; i++, k.before += k.part->planes) {
    int64_t range[1][2] = {{0, t->sp->part[i].planes}};
    const kugel__nufft_rows rows = {1, range};
    k.part = &t->sp->part[i];
    char *grid = t->grid + k.part->at;
    if (k.part->idle && !t->to_modes) // nobody reads it, the part before has no points either
      continue;
    if (!t->to_modes) {
      KUGEL_TRY(kugel__nufft_clear(&k.part->plan, grid));
      KUGEL_TRY(kugel__parallel(t->plan->ctx, k.part->planes, post_plane, &k));
    }
    if (!k.part->idle)
      KUGEL_TRY(kugel__nufft_planes(&k.part->plan, t->to_modes, t->sign, &rows, grid));
    if (t->to_modes)
      KUGEL_TRY(kugel__parallel(t->plan->ctx, k.part->planes, post_plane, &k));
  }
  return KUGEL_OK;
}

kugel_status kugel__nufft_transform_lines(const job *t)
{
  const kugel_nufft *p = t->plan;
  const int64_t lines = t->rows * t->r->columns;
  const int exponent = !p->real ? t->sign : t->to_modes ? KUGEL_FORWARD : KUGEL_INVERSE;
  kugel__view v = {.data = t->lines, .ndim = 2, .shape = {p->axis[0].fine, lines}, .stride = {lines, 1}};
  const kugel__pass pass = {.step = &p->fft[0]->forward[0],
                            .in = &v,
                            .out = &v,
                            .inverse = exponent == KUGEL_INVERSE,
                            .f32 = p->single,
                            .alike = KUGEL__LINES_APART,
                            .scale = 1};
  return lines ? kugel__pass_run(p->ctx, &pass) : KUGEL_OK;
}
