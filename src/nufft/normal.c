/* SPDX-License-Identifier: BSD-3-Clause */
/* The normal operator A^H W A of modes as a convolution. With A f = sum_k f_k e^{i s k.x_j},
 *   (A^H W A f)_k = sum_k' q_{k - k'} f_k',   q_d = sum_j w_j e^{-i s d.x_j},   |d| < n,
 * a Toeplitz matrix: an FFT of at least 2 n - 1 points per axis, a product with the real transform of q, and back (Fessler et
 * al. 2005, doi:10.1109/TSP.2005.853152). Lines without modes are left out as elsewhere.
 * Of real data f has the modes -n/2 to n/2, conjugates at opposite ones, so that |d| <= n, and the grid is real. */
#include "core/alloc.h"
#include "core/array.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "nufft/gpu.h"

/* ---- execution ---- */

enum { PART = 1 << 15 }; /* cells per task */

typedef struct product {
  const void *spectrum;
  void *grid;
  int64_t cells, row, pitch; /* of the grid; numbers of a row in use, and from row to row */
  bool single, real;
} product;

/* Of a real grid cells are numbers. */
#define MULTIPLY(NAME, REAL)                                                                                 \
  static void NAME(const product *p, int64_t first, int64_t end)                                             \
  {                                                                                                          \
    const REAL *q = p->spectrum;                                                                             \
    REAL *grid = p->grid;                                                                                    \
    for (int64_t i = first; i < end; i++)                                                                    \
      if (p->real)                                                                                           \
        grid[i / p->row * p->pitch + i % p->row] *= q[i];                                                    \
      else {                                                                                                 \
        grid[2 * i] *= q[i];                                                                                 \
        grid[2 * i + 1] *= q[i];                                                                             \
      }                                                                                                      \
  }
MULTIPLY(multiply_f32, float)
MULTIPLY(multiply_f64, double)

static kugel_status multiply(void *arg, int64_t part)
{
  const product *p = arg;
  (p->single ? multiply_f32 : multiply_f64)(p, part * PART, kugel__min(p->cells, (part + 1) * PART));
  return KUGEL_OK;
}

static kugel_status apply(const kugel_nufft_points *p, const void *in, const int64_t *in_stride, void *out,
                          const int64_t *out_stride, void *grid)
{
  const kugel_nufft *m = p->normal->modes;
  product a = {p->normal->spectrum, grid, m->fine, m->axis[m->ndim - 1].fine, m->pitch, m->single, m->real};
  KUGEL_TRY(kugel__nufft_clear(m, grid));
  KUGEL_TRY(kugel__nufft_give_modes(m, KUGEL_FORWARD, NULL, in, in_stride, grid));
  KUGEL_TRY(kugel__parallel(m->ctx, (a.cells + PART - 1) / PART, multiply, &a));
  return kugel__nufft_take_modes(m, KUGEL_INVERSE, NULL, grid, out, out_stride);
}

/* ---- creation ---- */

typedef struct maker {
  const kugel_nufft *plan;
  kugel_nufft_points *p;
  double *strengths, *q, *grid; /* complex: [M], [differences...], [fine...] */
  bool there;                   /* weights are on the device, and there are no strengths */
  kugel_nufft *wide, *differences;
  kugel_nufft_points *points;
} maker;

/* Differences of modes along an axis of n. */
static int64_t differences(const kugel_nufft *plan, int64_t n)
{
  return plan->real ? 2 * n + 1 : 2 * n - 1;
}

static kugel_status take_weights(maker *m, const kugel_array *w, int64_t n)
{
  char text[256];
  const kugel_device here = m->plan->gpu ? m->plan->gpu->dev->info.device : (kugel_device){KUGEL_CPU, 0};
  m->there = w && w->device.type != KUGEL_CPU;
  if (w) {
    KUGEL_CHECK(w->shape && w->ndim == 1 && w->shape[0] == n &&
                    (!m->there || (w->device.type == here.type && w->device.id == here.id)) &&
                    (kugel__dtype_is(w->dtype, KUGEL_F64) || kugel__dtype_is(w->dtype, KUGEL_F32)),
                KUGEL_ESHAPE, "weights is %s, must be float64 or float32 [%lld] in host memory%s, or NULL",
                w->shape ? kugel__array_describe(w, text, sizeof text) : "without shape", (long long)n,
                m->plan->gpu ? " or on the plan's device" : "");
    KUGEL_TRY(kugel__array_check_reach(w, "weights", false));
    KUGEL_CHECK(w->data || n == 0, KUGEL_EINVAL, "weights has data NULL");
  }
  if (m->there)
    return KUGEL_OK;
  KUGEL_ALLOC(m->plan->ctx, m->strengths, kugel__max(1, n) * 16);
  for (int64_t i = 0; i < n; i++) {
    int64_t at = w && w->strides ? i * w->strides[0] : i;
    const char *data = w ? kugel__array_data(w) : NULL;
    m->strengths[2 * i] = !w                    ? 1
                          : w->dtype.bits == 32 ? (double)((const float *)(const void *)data)[at]
                                                : ((const double *)(const void *)data)[at];
    m->strengths[2 * i + 1] = 0;
  }
  return KUGEL_OK;
}

/* Points of a plan of the differences, in double. */
static kugel_status make_wide(maker *m, const kugel_array *points, int64_t *n)
{
  const kugel_nufft *plan = m->plan;
  double period[3], modes = 1;
  for (int d = 0; d < plan->ndim; d++) {
    n[d] = differences(plan, plan->axis[d].n);
    modes *= (double)n[d];
    period[d] = plan->axis[d].period;
  }
  KUGEL_CHECK(modes <= 0x1p38, KUGEL_EINVAL, "the operator has %g differences of modes, must be at most 2^38",
              modes);
  kugel_nufft_opts o = {.size = sizeof o,
                        .type = KUGEL_NUFFT_TO_MODES,
                        .sign = plan->to_modes ? plan->sign : -plan->sign,
                        .tolerance = plan->tolerance,
                        .period = plan->axis[0].period_low != 0 ? NULL : period,
                        .density = (double)(points->shape[0] + 1) / modes};
  if (plan->gpu && !plan->single) // whose kernels are compiled
    o.upsampling = plan->kernel.upsampling;
  KUGEL_TRY(kugel_nufft_create(plan->ctx, plan->ndim, n, &o, &m->wide));
  return kugel_nufft_points_create(m->wide, points, &m->points);
}

/* q_d along each axis. */
static kugel_status sum_differences(maker *m, const kugel_array *points, int64_t *n)
{
  const kugel_nufft *plan = m->plan;
  double modes = 1;
  for (int d = 0; d < plan->ndim; d++)
    modes *= (double)n[d];
  m->q = kugel__alloc(plan->ctx, (size_t)modes * 16);
  KUGEL_CHECK(m->q, KUGEL_ENOMEM, "no memory for %g differences of modes", modes);
  kugel_array q = {
      .data = m->q, .device = {KUGEL_CPU, 0}, .ndim = plan->ndim, .dtype = KUGEL_C128, .shape = n};
  return kugel_nufft_execute(m->points, KUGEL_ARRAY(m->strengths, KUGEL_C128, points->shape[0]), &q, NULL);
}

/* The transform of q on the grid of the products, over its number of points. */
static kugel_status make_spectrum(maker *m, const kugel__nufft_bare *b)
{
  const kugel_nufft *plan = m->plan;
  int64_t stride[3], step = 1;
  kugel__nufft_bare d = *b;
  d.single = d.fft_order = d.real = false;
  for (int a = plan->ndim - 1; a >= 0; a--) {
    d.n[a] = differences(plan, b->n[a]);
    stride[a] = step;
    step *= d.n[a];
  }
  KUGEL_TRY(kugel__nufft_bare_create(plan->ctx, &d, &m->differences));
  int64_t cells = m->differences->fine;
  KUGEL_ALLOC(plan->ctx, m->grid, cells * 16);
  KUGEL_ALLOC(plan->ctx, m->p->normal->spectrum, cells * (plan->single ? 4 : 8));
  KUGEL_TRY(kugel__nufft_clear(m->differences, m->grid));
  KUGEL_TRY(kugel__nufft_give_modes(m->differences, KUGEL_FORWARD, NULL, m->q, stride, m->grid));
  for (int64_t i = 0; i < cells; i++) // q_{-d} is the conjugate of q_d: real
    if (plan->single)
      ((float *)m->p->normal->spectrum)[i] = (float)(m->grid[2 * i] / (double)cells);
    else
      ((double *)m->p->normal->spectrum)[i] = m->grid[2 * i] / (double)cells;
  return KUGEL_OK;
}

static void destroy(const kugel_nufft *plan, kugel__nufft_normal *n)
{
  kugel__nufft_gpu_normal_destroy(plan, n->gpu);
  kugel_nufft_destroy(n->modes);
  kugel__free(plan->ctx, n->spectrum);
  kugel__free(plan->ctx, n);
}

static kugel_status make(maker *m, const kugel_array *points, const kugel_array *weights)
{
  const kugel_nufft *plan = m->plan;
  int64_t n[3] = {1, 1, 1};
  m->p->normal = kugel__calloc(plan->ctx, sizeof *m->p->normal);
  KUGEL_CHECK(m->p->normal, KUGEL_ENOMEM, "no memory for an operator");
  m->p->normal->destroy = destroy;
  m->p->normal->run = apply;
  KUGEL_TRY(take_weights(m, weights, points->shape[0]));
  KUGEL_TRY(make_wide(m, points, n));
  if (plan->gpu)
    return kugel__nufft_gpu_normal(
        m->p, m->points, m->there ? weights : KUGEL_ARRAY(m->strengths, KUGEL_C128, m->points->n), n);
  KUGEL_TRY(sum_differences(m, points, n));
  kugel__nufft_bare b = {.ndim = plan->ndim,
                         .single = plan->single,
                         .real = plan->real,
                         .ffts = true,
                         .fft_order = plan->fft_order};
  for (int d = 0; d < plan->ndim; d++) {
    b.n[d] = plan->axis[d].n;
    b.fine[d] = kugel_fft_good_size(differences(plan, b.n[d]));
  }
  KUGEL_TRY(kugel__nufft_bare_create(plan->ctx, &b, &m->p->normal->modes));
  return make_spectrum(m, &b);
}

kugel_status kugel_nufft_normal_create(const kugel_nufft *plan, const kugel_array *points,
                                       const kugel_array *weights, kugel_nufft_points **out)
{
  KUGEL_CHECK(out, KUGEL_EINVAL, "out is NULL: pass where to put the operator");
  *out = NULL;
  KUGEL_CHECK(plan, KUGEL_EINVAL, "plan is NULL: make one by kugel_nufft_create");
  KUGEL_CHECK(!plan->third, KUGEL_EINVAL, "the plan is of type 3, whose normal operator is no convolution");
  KUGEL_CHECK(!plan->dd, KUGEL_ENOTSUP,
              "normal operators are not made in double-double: use execute and adjoint");
  KUGEL_CHECK(!plan->ranks, KUGEL_ENOTSUP,
              "normal operators take plans without comm: make one of this process");
  KUGEL_CHECK(points && points->shape && points->ndim == 2, KUGEL_EINVAL, "points is no array [M, %d]",
              plan->ndim);
  maker m = {.plan = plan};
  m.p = kugel__calloc(plan->ctx, sizeof *m.p);
  KUGEL_CHECK(m.p, KUGEL_ENOMEM, "no memory for an operator");
  m.p->plan = (kugel_nufft *)(uintptr_t)plan;
  atomic_fetch_add(&m.p->plan->references, 1);
  kugel__span span = kugel__progress_enter(0, 1);
  kugel_status s = make(&m, points, weights);
  kugel__progress_leave(span);
  kugel_nufft_points_destroy(m.points);
  kugel_nufft_destroy(m.wide);
  kugel_nufft_destroy(m.differences);
  kugel__free(plan->ctx, m.strengths);
  kugel__free(plan->ctx, m.q);
  kugel__free(plan->ctx, m.grid);
  if (s) {
    kugel_nufft_points_destroy(m.p);
    return s;
  }
  *out = m.p;
  return KUGEL_OK;
}
