/* SPDX-License-Identifier: BSD-3-Clause */
/* Differences of neighbours: total variation and the Laplacian. Beyond the edges the object is as at them. */
#include <math.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "deconv/ranks.h"

typedef struct stencil {
  const kugel__deconv_state *s;
  double lambda, least; // least: 12 lambda, below which the factor would be a diffusion that is unstable
  const void *x;
  void *out;
  bool variation;
  int64_t planes, before; // of x: all, and those before the first of `out`
  double *space;          // of each worker, 6 rows
} stencil;

static double value(const stencil *t, int64_t i)
{
  return t->s->p->f32 ? (double)((const float *)t->x)[i] : ((const double *)t->x)[i];
}

static void put(const stencil *t, int64_t i, double v)
{
  const int64_t *n = t->s->p->object;
  i -= t->before * n[1] * n[2];
  if (t->s->p->f32)
    ((float *)t->out)[i] = (float)v;
  else
    ((double *)t->out)[i] = v;
}

static const void *row(const stencil *t, int64_t z, int64_t y)
{
  const int64_t *n = t->s->p->object;
  return (const char *)t->x + (size_t)((z * n[1] + y) * n[2]) * t->s->p->real;
}

static double laplacian(const stencil *t, const int64_t at[3], int64_t i)
{
  const int64_t *m = t->s->p->object, n[3] = {t->planes, m[1], m[2]}, step[3] = {n[1] * n[2], n[2], 1};
  double here = value(t, i), sum = 0;
  for (int a = 0; a < 3; a++) {
    if (at[a] > 0)
      sum += here - value(t, i - step[a]);
    if (at[a] + 1 < n[a])
      sum += here - value(t, i + step[a]);
  }
  return sum;
}

/* A row of the factor of total variation. Directions of the rows below in z and y are computed again, not kept. */
static void variation_row(const stencil *t, int64_t z, int64_t y, double *space)
{
  const int64_t *n = t->s->p->object;
  const kugel__deconv_ops *ops = kugel__deconv_ops_now();
  double *own[3] = {space, space + n[2], space + 2 * n[2]}, *below = space + 3 * n[2],
         *unused = space + 4 * n[2];
  double *sum = space + 5 * n[2];
  bool single = t->s->p->f32;
  for (int part = 0; part < 3; part++) { // the row itself, that below in z, that below in y
    int64_t a = z - (part == 1), b = y - (part == 2);
    if (a < 0 || b < 0)
      continue;
    const void *x = row(t, a, b), *up = row(t, kugel__min(a + 1, t->planes - 1), b),
               *next = row(t, a, kugel__min(b + 1, n[1] - 1));
    if (part == 0)
      ops->directions(single, n[2], x, up, next, t->least, own[0], own[1], own[2]);
    else
      ops->directions(single, n[2], x, up, next, t->least, part == 1 ? below : unused,
                      part == 2 ? below : unused, sum);
    if (part == 0)
      for (int64_t i = 0; i < n[2]; i++)
        own[0][i] += own[1][i] + own[2][i] - (i ? own[2][i - 1] : 0);
    else
      for (int64_t i = 0; i < n[2]; i++)
        own[0][i] -= below[i];
  }
  for (int64_t i = 0; i < n[2]; i++) {
    int64_t at = (z * n[1] + y) * n[2] + i;
    put(t, at, value(t, at) / (1 - t->lambda * own[0][i]));
  }
}

static kugel_status slice(void *arg, int64_t line, int worker)
{
  const stencil *t = arg;
  const int64_t *n = t->s->p->object;
  if (t->variation) {
    for (int64_t y = 0; y < n[1]; y++)
      variation_row(t, line + t->before, y, t->space + worker * 6 * n[2]);
    return KUGEL_OK;
  }
  for (int64_t x = 0; x < n[2]; x++) {
    int64_t at[3] = {line / n[1] + t->before, line % n[1], x}, i = line * n[2] + x,
            there = i + t->before * n[1] * n[2];
    double sum = t->s->p->f32 ? (double)((float *)t->out)[i] : ((double *)t->out)[i];
    put(t, there, sum + t->lambda * laplacian(t, at, there));
  }
  return KUGEL_OK;
}

// Where x is whole, or a rank's planes of it with their neighbours.
static kugel_status find(stencil *t, kugel__deconv_state *s, const void *x)
{
  const kugel__deconv_ranks *k = s->p->ranks;
  t->x = k ? s->near : x;
  t->planes = k ? k->around : s->p->object[0];
  t->before = k ? k->before : 0;
  return k ? kugel__deconv_ranks_near(s, x) : KUGEL_OK;
}

kugel_status kugel__deconv_variation(kugel__deconv_state *s, double lambda, const void *x, void *out)
{
  const int64_t *n = s->p->object;
  kugel_ctx *ctx = s->p->ctx;
  stencil t = {.s = s, .lambda = lambda, .least = 12 * lambda, .out = out, .variation = true};
  KUGEL_TRY(find(&t, s, x));
  int workers = kugel__ctx_threads(ctx);
  t.space = kugel__scratch_get(ctx, (size_t)(6 * n[2] * workers) * sizeof(double));
  KUGEL_CHECK(t.space, KUGEL_ENOMEM, "no memory for rows of %lld gradients", (long long)n[2]);
  kugel_status status = kugel__parallel_on(ctx, workers, n[0], slice, &t);
  kugel__scratch_put(ctx, t.space);
  return status;
}

kugel_status kugel__deconv_laplacian(kugel__deconv_state *s, double lambda, const void *x, void *out)
{
  stencil t = {.s = s, .lambda = lambda, .out = out};
  KUGEL_TRY(find(&t, s, x));
  return kugel__parallel_on(s->p->ctx, kugel__ctx_threads(s->p->ctx), s->p->object[0] * s->p->object[1],
                            slice, &t);
}
