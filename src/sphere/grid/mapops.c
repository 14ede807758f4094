/* SPDX-License-Identifier: BSD-3-Clause */
/* Element-wise work on maps, in parallel chunks of fixed size. */
#include <stdatomic.h>
#include "core/parallel.h"
#include "sphere/grid/mapops.h"

enum { CHUNK = 1 << 16 };

typedef struct job {
  int64_t n;
  const void *in;
  bool f32, add;
  const double *factor, *south;
  void *out;
  const kugel_grid *grid;
  atomic_llong bad;
} job;

static kugel_status run(kugel_ctx *ctx, job *j, kugel__task task)
{
  return kugel__parallel(ctx, (j->n + CHUNK - 1) / CHUNK, task, j);
}

#define FOR_CHUNK(i, j, k)                                                                                   \
  for (int64_t i = (k)*CHUNK, end_ = kugel__min((j)->n, ((k) + 1) * CHUNK); i < end_; i++)
#define VALUE(j, i) ((j)->f32 ? (double)((const float *)(j)->in)[i] : ((const double *)(j)->in)[i])

void kugel__widen(const void *in, bool f32, int64_t n, double *out)
{
  for (int64_t i = 0; i < n; i++)
    out[i] = f32 ? (double)((const float *)in)[i] : ((const double *)in)[i];
}

void kugel__narrow(const double *in, int64_t n, void *out, bool f32)
{
  for (int64_t i = 0; i < n; i++) {
    if (f32)
      ((float *)out)[i] = (float)in[i];
    else
      ((double *)out)[i] = in[i];
  }
}

static kugel_status scale_task(void *arg, int64_t k)
{
  job *j = arg;
  FOR_CHUNK(i, j, k)
  ((double *)j->out)[i] = VALUE(j, i) * j->factor[i];
  return KUGEL_OK;
}

kugel_status kugel__map_scale(kugel_ctx *ctx, int64_t n, const void *in, bool f32, const double *factor,
                              double *out)
{
  job j = {.n = n, .in = in, .f32 = f32, .factor = factor, .out = out};
  return run(ctx, &j, scale_task);
}

static kugel_status residual_task(void *arg, int64_t k)
{
  job *j = arg;
  FOR_CHUNK(i, j, k)
  ((double *)j->out)[i] = VALUE(j, i) - ((double *)j->out)[i];
  return KUGEL_OK;
}

kugel_status kugel__map_residual(kugel_ctx *ctx, int64_t n, const void *map, bool f32, double *model)
{
  job j = {.n = n, .in = map, .f32 = f32, .out = model};
  return run(ctx, &j, residual_task);
}

static kugel_status add_task(void *arg, int64_t k)
{
  job *j = arg;
  const double *in = j->in;
  FOR_CHUNK(i, j, k)
  {
    if (j->f32)
      ((float *)j->out)[i] = (float)(in[i] + (j->add ? (double)((float *)j->out)[i] : 0));
    else
      ((double *)j->out)[i] = in[i] + (j->add ? ((double *)j->out)[i] : 0);
  }
  return KUGEL_OK;
}

kugel_status kugel__map_add(kugel_ctx *ctx, int64_t n, const double *in, bool add, void *out, bool f32)
{
  job j = {.n = n, .in = in, .f32 = f32, .add = add, .out = out};
  return run(ctx, &j, add_task);
}

static kugel_status ring_task(void *arg, int64_t p)
{
  job *j = arg;
  for (int south = 0; south < 2; south++) {
    int64_t r = south ? j->grid->pairs[p].south : j->grid->pairs[p].north;
    double factor = south ? j->south[p] : j->factor[p];
    for (int64_t i = 0; r >= 0 && i < j->grid->nphi[r]; i++)
      ((double *)j->out)[j->grid->first[r] + i] *= factor;
  }
  return KUGEL_OK;
}

kugel_status kugel__map_scale_rings(kugel_ctx *ctx, const kugel_grid *grid, const double *north,
                                    const double *south, double *map)
{
  job j = {.factor = north, .south = south, .out = map, .grid = grid};
  return kugel__parallel(ctx, grid->npairs, ring_task, &j);
}

static kugel_status bad_task(void *arg, int64_t k)
{
  job *j = arg;
  int64_t found = j->n;
  FOR_CHUNK(i, j, k)
  if (kugel__bad_pixel(VALUE(j, i))) {
    found = i;
    break;
  }
  long long lowest = atomic_load(&j->bad);
  while (found < lowest && !atomic_compare_exchange_weak(&j->bad, &lowest, found))
    ;
  return KUGEL_OK;
}

kugel_status kugel__map_find_bad(kugel_ctx *ctx, int64_t n, const void *map, bool f32, int64_t *at)
{
  job j = {.n = n, .in = map, .f32 = f32, .bad = n};
  *at = -1;
  KUGEL_TRY(run(ctx, &j, bad_task));
  if (atomic_load(&j.bad) < n)
    *at = atomic_load(&j.bad);
  return KUGEL_OK;
}

static kugel_status zero_task(void *arg, int64_t k)
{
  job *j = arg;
  FOR_CHUNK(i, j, k)
  {
    double v = VALUE(j, i);
    v = kugel__bad_pixel(v) ? 0 : v;
    if (j->f32)
      ((float *)j->out)[i] = (float)v;
    else
      ((double *)j->out)[i] = v;
  }
  return KUGEL_OK;
}

kugel_status kugel__map_zero_bad(kugel_ctx *ctx, int64_t n, const void *in, bool f32, void *out)
{
  job j = {.n = n, .in = in, .f32 = f32, .out = out};
  return run(ctx, &j, zero_task);
}

double kugel__map_norm2(int64_t n, const double *map)
{
  double total = 0;
  for (int64_t k = 0; k < n; k += 1024) { // short partial sums keep rounding small
    double part = 0;
    for (int64_t i = k; i < kugel__min(n, k + 1024); i++)
      part += map[i] * map[i];
    total += part;
  }
  return total;
}
