/* SPDX-License-Identifier: BSD-3-Clause */
/* Synthesis at points and its adjoint, set by set. */
#include <string.h>
#include "core/alloc.h"
#include "core/array.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "sphere/alm/alm.h"
#include "sphere/points/gpu.h"

enum { PART = 1 << 14 }; /* points per task */

typedef struct call {
  const kugel_sht_points *points;
  const kugel_sht_points_plan *plan;
  kugel__alms alm;
  void *values; /* [n_map][n] of this set, float if f32 */
  bool f32;
  double *torus;   /* [n_map][mmax + 1][pitch] complex */
  double *numbers; /* [n_map][n]: values, or copies of floats */
  double *copies;  /* for floats */
  int64_t workers;
  char *scratch; /* one part per worker: a column, rows of rings, the Legendre stage's own */
  size_t column_size, rows_size, scratch_size;
} call;

/* ---- rings and circles ---- */

/* The row of the torus of component c and order m. */
static double *circle_of(const call *t, int c, int64_t m)
{
  return t->torus + (c * (t->plan->mmax + 1) + m) * t->plan->pitch * 2;
}

/* Of the continuation of component c over the poles. */
static double sign_of(const kugel_sht_points_plan *p, int64_t m, int c)
{
  return (m + kugel__points_odd(p, c)) % 2 ? -1 : 1;
}

/* Where ring i lies in the four rows of a component. */
static int64_t at_ring(const kugel_sht_points_plan *p, int64_t i)
{
  return i < p->npairs ? i : 2 * p->row + p->rings - 1 - i;
}

static void extend(const call *t, int c, int64_t m, const double *rows)
{
  const kugel_sht_points_plan *p = t->plan;
  double *y = circle_of(t, c, m), mirror = sign_of(p, m, c);
  for (int64_t i = 0; i < p->rings; i++) {
    int64_t at = at_ring(p, i);
    y[2 * i] = rows[at];
    y[2 * i + 1] = rows[at + p->row];
  }
  for (int64_t i = 1; i < p->rings - 1; i++) {
    int64_t at = at_ring(p, i), to = p->circle - i;
    y[2 * to] = mirror * rows[at];
    y[2 * to + 1] = mirror * rows[at + p->row];
  }
}

/* The transpose. The factor 2 of orders above 0 is in the inner product of alm. */
static void fold(const call *t, int c, int64_t m, double *rows)
{
  const kugel_sht_points_plan *p = t->plan;
  const double *x = circle_of(t, c, m);
  double mirror = sign_of(p, m, c);
  memset(rows, 0, (size_t)p->row * 32); // rings that do not exist count as zero
  for (int64_t i = 0; i < p->rings; i++) {
    int64_t at = at_ring(p, i), from = p->circle - i;
    bool pole = i == 0 || i == p->rings - 1;
    rows[at] = x[2 * i] + (pole ? 0 : mirror * x[2 * from]);
    rows[at + p->row] = x[2 * i + 1] + (pole ? 0 : mirror * x[2 * from + 1]);
  }
}

static kugel_status synthesis_m(void *arg, int64_t m, int worker)
{
  const call *t = arg;
  const kugel_sht_points_plan *p = t->plan;
  char *mine = t->scratch + (size_t)worker * t->scratch_size;
  double *column = (double *)mine, *rows = (double *)(mine + t->column_size);
  const double *columns[KUGEL__MAX_SETS];
  int64_t at = kugel__alm_offset(p->lmax, m) + m;
  for (int c = 0; c < p->n_alm; c++) {
    kugel__alm_unpack(&t->alm, c, at, p->lmax - m + 1, m == 0, column + c * 2 * (p->lmax + 1));
    columns[c] = column + c * 2 * (p->lmax + 1);
  }
  kugel__leg_synth(p->leg, m, 0, p->npairs, columns, rows, p->row, mine + t->column_size + t->rows_size);
  for (int c = 0; c < p->n_map; c++)
    extend(t, c, m, rows + c * 4 * p->row);
  return KUGEL_OK;
}

static kugel_status adjoint_m(void *arg, int64_t m, int worker)
{
  const call *t = arg;
  const kugel_sht_points_plan *p = t->plan;
  char *mine = t->scratch + (size_t)worker * t->scratch_size;
  double *column = (double *)mine, *rows = (double *)(mine + t->column_size), *columns[KUGEL__MAX_SETS];
  int64_t n = p->lmax - m + 1, at = kugel__alm_offset(p->lmax, m) + m;
  for (int c = 0; c < p->n_map; c++)
    fold(t, c, m, rows + c * 4 * p->row);
  for (int c = 0; c < p->n_alm; c++) {
    columns[c] = column + c * 2 * (p->lmax + 1);
    memset(columns[c], 0, (size_t)n * 16);
  }
  kugel__leg_adjoint(p->leg, m, 0, p->npairs, rows, p->row, columns, mine + t->column_size + t->rows_size);
  for (int c = 0; c < p->n_alm; c++)
    kugel__alm_pack(&t->alm, c, at, n, m == 0, false, columns[c]);
  return KUGEL_OK;
}

/* ---- points ---- */

static kugel_status take_floats(void *arg, int64_t part)
{
  const call *t = arg;
  int64_t n = t->plan->n_map * t->points->n;
  for (int64_t i = part * PART; i < kugel__min(n, (part + 1) * PART); i++)
    ((float *)t->values)[i] = (float)t->numbers[i];
  return KUGEL_OK;
}

static kugel_status give_floats(void *arg, int64_t part)
{
  const call *t = arg;
  int64_t n = t->plan->n_map * t->points->n;
  for (int64_t i = part * PART; i < kugel__min(n, (part + 1) * PART); i++)
    t->numbers[i] = (double)((const float *)t->values)[i];
  return KUGEL_OK;
}

/* The torus as modes (theta, phi), and as circles (order, theta). */
typedef struct torus_view {
  int64_t shape[3], stride[3], circle_shape[3], circle_stride[3];
  kugel_array modes, circles;
} torus_view;

static void view(const call *t, torus_view *v)
{
  const kugel_sht_points_plan *p = t->plan;
  const int64_t orders = p->mmax + 1;
  *v = (torus_view){.shape = {p->n_map, p->circle, orders},
                    .stride = {orders * p->pitch, 1, p->pitch},
                    .circle_shape = {p->n_map, orders, p->circle},
                    .circle_stride = {orders * p->pitch, p->pitch, 1}};
  v->modes = (kugel_array){.data = t->torus,
                           .device = {KUGEL_CPU, 0},
                           .ndim = 3,
                           .dtype = KUGEL_C128,
                           .shape = v->shape,
                           .strides = v->stride};
  v->circles = v->modes;
  v->circles.shape = v->circle_shape;
  v->circles.strides = v->circle_stride;
}

/* ---- one set ---- */

/* The part of a transform that the Legendre stage takes, by modelled cost in ns: 0.15 for each coefficient and pair, and for
 * each point 0.6 for two cells of the kernel. */
static double legendre_share(const call *t)
{
  const kugel_sht_points_plan *p = t->plan;
  kugel_nufft_info info = {.size = sizeof info};
  if (kugel_nufft_get_info(p->nufft, &info))
    return 0.5;
  double legendre = 0.15 * (double)p->nalm * (double)p->npairs,
         points = (double)t->points->n * (20 + 0.3 * info.width * info.width),
         cells = 3.0 * (double)info.fine[0] * (double)info.fine[1];
  return legendre / (legendre + points + cells);
}

static double order_part(const void *plan, int64_t done)
{
  const kugel_sht_points_plan *p = plan;
  return (double)(kugel__alm_offset(p->lmax, done) + done) / (double)(p->nalm + 1);
}

static kugel_status synthesis(call *t, double share)
{
  const kugel_sht_points_plan *p = t->plan;
  int64_t orders = p->mmax + 1, n = t->points->n, parts = t->f32 ? (p->n_map * n + PART - 1) / PART : 0;
  kugel_array values = *KUGEL_ARRAY(t->numbers, KUGEL_F64, p->n_map, n);
  torus_view v;
  view(t, &v);
  kugel__progress_stage_by(0, share, "synthesis at points", order_part, p);
  KUGEL_TRY(kugel__parallel_on(p->ctx, t->workers, orders, synthesis_m, t));
  kugel__span outer = kugel__progress_enter(share, 1);
  kugel_status s = kugel_fft_execute(p->fft, KUGEL_FORWARD, &v.circles, &v.circles, NULL);
  if (!s)
    s = kugel_nufft_execute(t->points->places, &v.modes, &values, NULL);
  kugel__progress_leave(outer);
  return s ? s : kugel__parallel(p->ctx, parts, take_floats, t);
}

static kugel_status adjoint(call *t, double share)
{
  const kugel_sht_points_plan *p = t->plan;
  int64_t orders = p->mmax + 1, n = t->points->n, parts = t->f32 ? (p->n_map * n + PART - 1) / PART : 0;
  kugel_array values = *KUGEL_ARRAY(t->numbers, KUGEL_F64, p->n_map, n);
  torus_view v;
  view(t, &v);
  KUGEL_TRY(kugel__parallel(p->ctx, parts, give_floats, t));
  kugel__span outer = kugel__progress_enter(0, 1 - share);
  kugel_status s = kugel_nufft_adjoint(t->points->places, &values, &v.modes, NULL);
  if (!s)
    s = kugel_fft_execute(p->fft, KUGEL_INVERSE, &v.circles, &v.circles, NULL);
  kugel__progress_leave(outer);
  KUGEL_TRY(s);
  kugel__progress_stage_by(1 - share, 1, "adjoint at points", order_part, p);
  return kugel__parallel_on(p->ctx, t->workers, orders, adjoint_m, t);
}

/* ---- all sets ---- */

static kugel_status begin(call *t)
{
  const kugel_sht_points_plan *p = t->plan;
  t->workers = kugel__ctx_threads(p->ctx);
  size_t torus = (size_t)(p->n_map * (p->mmax + 1) * p->pitch) * 16,
         numbers = t->f32 ? (size_t)(p->n_map * kugel__max(1, t->points->n)) * 8 : 8;
  t->column_size = (size_t)kugel__round_up(p->n_alm * (p->lmax + 1) * 16, 64);
  t->rows_size = (size_t)(p->n_map * 4 * p->row * 8);
  t->scratch_size =
      (size_t)kugel__round_up((int64_t)(t->column_size + t->rows_size + kugel__leg_scratch(p->leg)), 256);
  t->torus = kugel__scratch_get(p->ctx, torus);
  t->copies = kugel__scratch_get(p->ctx, numbers);
  t->scratch = kugel__scratch_get(p->ctx, (size_t)t->workers * t->scratch_size);
  KUGEL_CHECK(t->torus && t->copies && t->scratch, KUGEL_ENOMEM,
              "no memory for %zu bytes of modes and %zu of values", torus, numbers);
  return KUGEL_OK;
}

static void end(call *t)
{
  kugel__scratch_put(t->plan->ctx, t->torus);
  kugel__scratch_put(t->plan->ctx, t->copies);
  kugel__scratch_put(t->plan->ctx, t->scratch);
}

/* One set may come without its axis of length 1. */
static kugel_status check_one(const kugel_device *here, const kugel_array *a, const char *name,
                              kugel_dtype narrow, kugel_dtype wide, int sets, int64_t n, int64_t *batch)
{
  KUGEL_CHECK(a, KUGEL_EINVAL, "%s is NULL: pass an array", name);
  int64_t shape[] = {sets, n};
  bool bare = sets == 1 && (a->ndim < 2 || !a->shape || a->shape[a->ndim - 2] != 1);
  return kugel__array_check_on(here, a, name, kugel__dtype_is(a->dtype, narrow) ? narrow : wide, bare ? 1 : 2,
                               shape + bare, batch);
}

/* Handles of OpenCL are no addresses. */
static kugel_status check_apart(const kugel_array *alm, const kugel_array *values)
{
  const int32_t type = alm->device.type;
  if (type != values->device.type || (type == KUGEL_OPENCL && alm->data != values->data))
    return KUGEL_OK;
  return kugel__array_disjoint(alm, "alm", values, "values");
}

kugel_status kugel__points_check(const kugel_sht_points *points, const kugel_array *alm,
                                 const kugel_array *values, kugel_queue *queue, int64_t *batch)
{
  KUGEL_CHECK(points, KUGEL_EINVAL, "points is NULL: make them by kugel_sht_points_create");
  const kugel_sht_points_plan *p = points->plan;
  const kugel_device *here = p->gpu ? &p->gpu->dev->info.device : NULL;
  KUGEL_CHECK(!queue || p->gpu, KUGEL_EINVAL, "queue is not NULL, the plan is on the CPU");
  *batch = -1;
  KUGEL_TRY(check_one(here, alm, "alm", KUGEL_C64, KUGEL_C128, p->n_alm, p->nalm, batch));
  KUGEL_TRY(check_one(here, values, "values", KUGEL_F32, KUGEL_F64, p->n_map, points->n, batch));
  return check_apart(alm, values);
}

static kugel_status run(const kugel_sht_points *points, bool to_alm, const kugel_array *alm,
                        const kugel_array *values, kugel_queue *queue)
{
  int64_t batch;
  KUGEL_TRY(kugel__points_check(points, alm, values, queue, &batch));
  const kugel_sht_points_plan *p = points->plan;
  if (p->gpu)
    return kugel__points_gpu_run(points, to_alm, alm, values, batch, queue);
  call t = {.points = points, .plan = p, .f32 = values->dtype.bits == 32};
  t.alm.f32 = alm->dtype.bits == 64;
  kugel__span whole = kugel__progress_enter(0, 1);
  kugel_status s = begin(&t);
  double share = legendre_share(&t);
  for (int64_t b = 0; b < batch && !s; b++) {
    for (int c = 0; c < p->n_alm; c++)
      t.alm.data[c] = (char *)kugel__array_data(alm) + (b * p->n_alm + c) * p->nalm * (alm->dtype.bits / 8);
    t.values = (char *)kugel__array_data(values) + b * p->n_map * points->n * (values->dtype.bits / 8);
    t.numbers = t.f32 ? t.copies : t.values;
    kugel__span outer = kugel__progress_enter((double)b / (double)batch, (double)(b + 1) / (double)batch);
    s = to_alm ? adjoint(&t, share) : synthesis(&t, share);
    kugel__progress_leave(outer);
  }
  kugel__progress_leave(whole);
  end(&t);
  return s;
}

kugel_status kugel_sht_points_synthesis(const kugel_sht_points *points, const kugel_array *alm,
                                        const kugel_array *values, kugel_queue *queue)
{
  return run(points, false, alm, values, queue);
}

kugel_status kugel_sht_points_adjoint(const kugel_sht_points *points, const kugel_array *values,
                                      const kugel_array *alm, kugel_queue *queue)
{
  return run(points, true, alm, values, queue);
}
