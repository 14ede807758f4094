/* SPDX-License-Identifier: BSD-3-Clause */
/* Least squares on a device, as solve.c has it: vectors are doubles and stay there, only norms come back. */
#include <math.h>
#include "core/array.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "device/lend.h"
#include "sphere/points/gpu.h"

enum { THREADS = 256, BLOCKS = 512, CHECK_THREADS = 128 };

/* As in sphere/sht/kernels/vector.cl. */
typedef struct vector_args {
  int64_t n, x_at, y_at, weight_period;
  double a, b;
  int32_t x_f32, y_f32;
  int64_t single;
} vector_args;

typedef struct solver {
  const kugel_sht_points *points;
  const kugel_sht_points_plan *plan;
  kugel__device *dev;
  kugel_queue *queue;
  kugel__module *vectors, *places;
  kugel__kernel *combine, *dot;
  int64_t alm, values; /* reals in all sets of alm, and at all points */
  void *memory;
  size_t bytes;
  kugel__mem r, q;    /* residual at the points; S d */
  kugel__mem x, s, d; /* solution; S^T r; direction */
  kugel__mem partial; /* sums of blocks; the first bad point */
} solver;

static kugel_status launch(const solver *v, kugel__kernel *kernel, int nargs, const kugel__arg *args)
{
  kugel__grid grid = {.blocks = {BLOCKS}, .threads = {THREADS}};
  return kugel__launch(v->dev, kernel, &grid, nargs, args, v->queue);
}

/* y = a x + b y */
static kugel_status combine(const solver *v, vector_args t, kugel__mem x, kugel__mem y)
{
  kugel__arg args[] = {KUGEL__MEM_ARG(x), KUGEL__MEM_ARG(y), KUGEL__MEM_ARG(y), KUGEL__VALUE_ARG(t)};
  return launch(v, v->combine, 4, args);
}

static kugel_status dot(const solver *v, vector_args t, kugel__mem x, double *out)
{
  double sums[BLOCKS];
  kugel__arg args[] = {KUGEL__MEM_ARG(x), KUGEL__MEM_ARG(x), KUGEL__MEM_ARG(v->partial), KUGEL__VALUE_ARG(t)};
  KUGEL_TRY(launch(v, v->dot, 4, args));
  KUGEL_TRY(kugel__points_gpu_read(v->dev, v->partial, sums, sizeof sums, v->queue));
  *out = 0;
  for (int i = 0; i < BLOCKS; i++)
    *out += sums[i];
  return KUGEL_OK;
}

static kugel_status dot_values(const solver *v, kugel__mem x, double *out)
{
  const int64_t n = v->values;
  *out = 0;
  return n ? dot(v, (vector_args){.n = n, .weight_period = n, .single = n}, x, out) : KUGEL_OK;
}

/* By the inner product of sphere.h. */
static kugel_status dot_alms(const solver *v, kugel__mem x, double *out)
{
  vector_args t = {.n = v->alm, .weight_period = 2 * v->plan->nalm, .single = 2 * (v->plan->lmax + 1)};
  return dot(v, t, x, out);
}

/* S, or S^T with `back`. */
static kugel_status apply(const solver *v, bool back, kugel__mem alm, kugel__mem values)
{
  int64_t shapes[2][2] = {{v->plan->n_alm, v->plan->nalm}, {v->plan->n_map, v->points->n}};
  kugel_array a = {.data = alm.base,
                   .byte_offset = alm.offset,
                   .device = v->dev->info.device,
                   .ndim = 2,
                   .dtype = KUGEL_C128,
                   .shape = shapes[0]},
              f = a;
  f.data = values.base;
  f.byte_offset = values.offset;
  f.dtype = KUGEL_F64;
  f.shape = shapes[1];
  return kugel__points_gpu_run(v->points, back, &a, &f, 1, v->queue);
}

static kugel_status iterate(const solver *v, const kugel_solve_opts *o, kugel_solve_stats *stats)
{
  const vector_args alms = {.n = v->alm, .a = 1, .b = 1}, values = {.n = v->values, .a = 1, .b = 1};
  double given, first, left, norm, next;
  int k = 0;
  KUGEL_TRY(dot_values(v, v->r, &given));
  KUGEL_TRY(apply(v, true, v->s, v->r));
  KUGEL_TRY(kugel__device_fill(v->dev, v->x, 0, (size_t)v->alm * 8, v->queue));
  vector_args t = alms;
  t.b = 0;
  KUGEL_TRY(combine(v, t, v->s, v->d));
  KUGEL_TRY(dot_alms(v, v->s, &first));
  double gamma = first;
  for (; k < o->max_iterations && gamma > o->tolerance * o->tolerance * first && gamma > 0; k++) {
    kugel__progress_stage((double)k / o->max_iterations, (k + 1.0) / o->max_iterations, "least squares");
    KUGEL_TRY(apply(v, false, v->d, v->q));
    KUGEL_TRY(dot_values(v, v->q, &norm));
    t = alms;
    t.a = gamma / norm;
    KUGEL_TRY(combine(v, t, v->d, v->x));
    t = values;
    t.a = -gamma / norm;
    KUGEL_TRY(combine(v, t, v->q, v->r));
    KUGEL_TRY(apply(v, true, v->s, v->r));
    KUGEL_TRY(dot_alms(v, v->s, &next));
    t = alms;
    t.b = next / gamma;
    KUGEL_TRY(combine(v, t, v->s, v->d));
    gamma = next;
  }
  KUGEL_TRY(dot_values(v, v->r, &left));
  *stats = (kugel_solve_stats){k, given > 0 ? sqrt(left / given) : 0, first > 0 ? sqrt(gamma / first) : 0};
  return KUGEL_OK;
}

/* ---- a call ---- */

static kugel_status load(solver *v)
{
  const kugel_sht_points_plan *p = v->plan;
  size_t sizes[] = {(size_t)v->values * 8, (size_t)v->values * 8, (size_t)v->alm * 8,
                    (size_t)v->alm * 8,    (size_t)v->alm * 8,    BLOCKS * 8};
  kugel__mem *parts[] = {&v->r, &v->q, &v->x, &v->s, &v->d, &v->partial};
  size_t starts[6];
  KUGEL_TRY(kugel__module_get(p->ctx, &(kugel__module_spec){.name = "sphere/sht/vector"}, &v->vectors));
  KUGEL_TRY(kugel__module_kernel(v->vectors, "combine", &v->combine, NULL));
  KUGEL_TRY(kugel__module_kernel(v->vectors, "dot_product", &v->dot, NULL));
  KUGEL_TRY(kugel__points_gpu_module(p, false, &v->places));
  for (int i = 0; i < 6; i++) {
    starts[i] = v->bytes;
    v->bytes += (sizes[i] + 511) / 512 * 512;
  }
  KUGEL_TRY(kugel__device_scratch_get(v->dev, v->bytes, &v->memory));
  for (int i = 0; i < 6; i++)
    *parts[i] = (kugel__mem){v->memory, starts[i]};
  return KUGEL_OK;
}

static kugel_status check(const solver *v, const kugel__loan *values, int64_t at, bool f32)
{
  const int64_t n = v->points->n;
  const size_t size = f32 ? 4 : 8;
  int32_t components = v->plan->n_map, single = f32;
  kugel__kernel *kernel;
  uint32_t bad;
  kugel__mem mem = values->mem;
  KUGEL_TRY(kugel__module_kernel(v->places, "check", &kernel, NULL));
  KUGEL_TRY(kugel__device_fill(v->dev, v->partial, 0xff, 4, v->queue));
  kugel__grid grid = {.blocks = {(uint32_t)((n + CHECK_THREADS - 1) / CHECK_THREADS)},
                      .threads = {CHECK_THREADS}};
  kugel__arg args[] = {KUGEL__MEM_ARG(mem),  KUGEL__MEM_ARG(v->partial),   KUGEL__VALUE_ARG(n),
                       KUGEL__VALUE_ARG(at), KUGEL__VALUE_ARG(components), KUGEL__VALUE_ARG(single)};
  KUGEL_TRY(kugel__launch(v->dev, kernel, &grid, 6, args, v->queue));
  KUGEL_TRY(kugel__points_gpu_read(v->dev, v->partial, &bad, sizeof bad, v->queue));
  for (int64_t c = 0; (int64_t)bad < n && c < components; c++) {
    double x;
    float single_x;
    kugel__mem from = {mem.base, mem.offset + (size_t)(at + c * n + bad) * size};
    KUGEL_TRY(kugel__points_gpu_read(v->dev, from, f32 ? (void *)&single_x : (void *)&x, size, v->queue));
    x = f32 ? (double)single_x : x;
    KUGEL_CHECK(isfinite(x), KUGEL_EINVAL,
                "value %lld of point %lld is %g, must be finite: leave such points out", (long long)c,
                (long long)bad, x);
  }
  return KUGEL_OK;
}

static kugel_status run(solver *v, const kugel_array *values, const kugel_array *alm, kugel__loan *loans,
                        const kugel_solve_opts *o, kugel_solve_stats *stats)
{
  const kugel_sht_points_plan *p = v->plan;
  int64_t values_at, alm_at;
  KUGEL_TRY(load(v));
  KUGEL_TRY(kugel__points_gpu_lend(p, values, "values", KUGEL__READ, values->dtype.bits / 8, v->queue,
                                   &loans[0], &values_at));
  KUGEL_TRY(
      kugel__points_gpu_lend(p, alm, "alm", KUGEL__WRITE, alm->dtype.bits / 8, v->queue, &loans[1], &alm_at));
  vector_args in = {.n = v->values, .x_at = values_at, .a = 1, .x_f32 = values->dtype.bits == 32},
              out = {.n = v->alm, .y_at = 2 * alm_at, .a = 1, .y_f32 = alm->dtype.bits == 64};
  if (v->values) {
    KUGEL_TRY(check(v, &loans[0], values_at, in.x_f32));
    KUGEL_TRY(combine(v, in, loans[0].mem, v->r));
  }
  KUGEL_TRY(iterate(v, o, stats));
  return combine(v, out, v->x, loans[1].mem);
}

kugel_status kugel__points_gpu_solve(const kugel_sht_points *points, const kugel_array *values,
                                     const kugel_array *alm, const kugel_solve_opts *o,
                                     kugel_solve_stats *stats, kugel_queue *queue)
{
  const kugel_sht_points_plan *p = points->plan;
  solver v = {.points = points,
              .plan = p,
              .dev = p->gpu->dev,
              .alm = 2 * p->n_alm * p->nalm,
              .values = p->n_map * points->n};
  kugel__loan loans[2] = {0};
  KUGEL_TRY(kugel__queue_of(v.dev, queue, &v.queue));
  kugel__span whole = kugel__progress_enter(0, 1);
  kugel_status s = run(&v, values, alm, loans, o, stats);
  kugel__progress_leave(whole);
  kugel_status waited = v.dev->ops->wait(v.queue);
  s = kugel__lend_end(2, loans, v.queue, s ? s : waited);
  kugel__device_scratch_put(v.dev, v.memory, v.bytes);
  kugel__module_put(v.vectors);
  kugel__module_put(v.places);
  return s;
}
