/* SPDX-License-Identifier: BSD-3-Clause */
/* Execution: checks of arrays, then the steps for each element of the batch. */
#include <string.h>
#include "core/alloc.h"
#include "core/array.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "fft/plan/dd.h"
#include "nufft/dd.h"
#include "nufft/gpu.h"
#include "nufft/ranks.h"

enum { MOST = 32, OWN = 3 }; /* axes of an array */

/* An array with its strides; `own` axes belong to the plan, those before are the batch. */
typedef struct side {
  char *data;
  int64_t number; /* bytes of an element */
  int lead;
  const int64_t *shape;
  int64_t stride[MOST];
} side;

/* What an execution does, and with whose arrays. */
typedef struct way {
  bool to_modes, grid; /* grid: only between points and the fine grid, which stands for modes */
  int sign;
} way;

/* Axes of strengths or modes: [M], with gradients [1 + ndim, M]; [K]; [n...]; [fine...]. */
static int axes_of(const kugel_nufft_points *p, bool modes, bool grid, int64_t *n)
{
  if (!modes && p->plan->gradient) {
    n[0] = 1 + p->plan->ndim;
    n[1] = p->n;
    return 2;
  }
  n[0] = modes && p->third ? p->third->n : p->n;
  for (int d = 0; modes && !p->third && d < p->plan->ndim; d++)
    n[d] = grid ? p->plan->axis[d].fine : kugel__nufft_modes(p->plan, d);
  return modes && !p->third ? p->plan->ndim : 1;
}

static kugel_status take(const kugel_nufft_points *p, const kugel_array *a, const char *name, bool modes,
                         bool grid, bool written, side *s)
{
  const kugel_nufft *plan = p->plan;
  int64_t n[OWN];
  int own = axes_of(p, modes, grid, n);
  char text[256];
  KUGEL_CHECK(a && a->shape, KUGEL_EINVAL, "%s is NULL: pass an array", name);
  KUGEL_CHECK(a->device.type == KUGEL_CPU || plan->gpu, KUGEL_EDEVICE,
              "%s is on device type %d, this plan takes host memory", name, a->device.type);
  const bool real = plan->real && (!modes || grid);
  kugel_dtype type = plan->single ? (real ? KUGEL_F32 : KUGEL_C64) : real ? KUGEL_F64 : KUGEL_C128;
  KUGEL_CHECK(kugel__dtype_is(a->dtype, type) && a->ndim >= own && a->ndim <= MOST, KUGEL_ESHAPE,
              "%s is %s, must be %s%d with %d to %d axes", name, kugel__array_describe(a, text, sizeof text),
              real ? "float" : "complex", type.bits, own, MOST);
  for (int d = 0; d < own; d++) {
    KUGEL_CHECK(a->shape[a->ndim - own + d] == n[d], KUGEL_ESHAPE, "%s is %s, must have %lld %s on axis %d",
                name, kugel__array_describe(a, text, sizeof text), (long long)n[d],
                !modes     ? (own == 2 && d == 0 ? "numbers per point" : "points")
                : p->third ? "frequencies"
                : grid     ? "points of the fine grid"
                           : "modes",
                a->ndim - own + d);
  }
  KUGEL_TRY(kugel__array_check_reach(a, name, written));
  KUGEL_CHECK(a->data || kugel__array_count(a) == 0, KUGEL_EINVAL, "%s has data NULL", name);
  s->data = kugel__array_data(a);
  s->number = type.bits / 8 * (plan->dd ? 2 : 1);
  s->lead = a->ndim - own;
  s->shape = a->shape;
  int64_t stride = 1;
  for (int d = a->ndim - 1; d >= 0; d--) {
    s->stride[d] = a->strides ? a->strides[d] : stride;
    stride *= a->shape[d];
  }
  stride = 1;
  for (int d = a->ndim - 1; modes && grid && d >= s->lead; d--) {
    KUGEL_CHECK(s->stride[d] == stride || a->shape[d] <= 1, KUGEL_EINVAL,
                "%s has stride %lld on axis %d, must be %lld: a fine grid lies in C order", name,
                (long long)s->stride[d], d, (long long)stride);
    stride *= a->shape[d];
  }
  return KUGEL_OK;
}

static void extent(const kugel_array *a, const side *s, uintptr_t *lo, uintptr_t *hi)
{
  int64_t low = 0, high = 0;
  for (int d = 0; d < a->ndim; d++) {
    int64_t reach = (a->shape[d] - 1) * s->stride[d];
    low += reach < 0 ? reach : 0;
    high += reach > 0 ? reach : 0;
  }
  *lo = (uintptr_t)s->data + (uintptr_t)(low * s->number);
  *hi = (uintptr_t)s->data + (uintptr_t)((high + 1) * s->number);
}

static kugel_status check_pair(const kugel_array *in, const side *from, const kugel_array *out,
                               const side *to)
{
  uintptr_t il, ih, ol, oh;
  KUGEL_CHECK(from->lead == to->lead, KUGEL_ESHAPE,
              "in has %d axes of a batch, out has %d: they must be equal", from->lead, to->lead);
  for (int d = 0; d < from->lead; d++)
    KUGEL_CHECK(from->shape[d] == to->shape[d], KUGEL_ESHAPE,
                "in and out have %lld and %lld elements on axis %d", (long long)from->shape[d],
                (long long)to->shape[d], d);
  if (kugel__array_count(in) == 0 || kugel__array_count(out) == 0 || in->device.type != out->device.type)
    return KUGEL_OK;
  if (in->device.type == KUGEL_OPENCL && in->data != out->data) // handles, not addresses
    return KUGEL_OK;
  extent(in, from, &il, &ih);
  extent(out, to, &ol, &oh);
  KUGEL_CHECK(ih <= ol || oh <= il, KUGEL_EINVAL, "in and out overlap: give out memory of its own");
  return KUGEL_OK;
}

/* ---- the steps ---- */

/* Strides of points, and of the numbers of each. */
static int64_t of_points(const kugel_nufft_points *p, const int64_t *stride)
{
  return stride[p->plan->gradient];
}

static kugel_status alone(const kugel_nufft_points *p, bool to_grid, const void *in, const int64_t *in_stride,
                          void *out, const int64_t *out_stride)
{
  const int64_t pitch = p->plan->axis[p->plan->ndim - 1].fine;
  if (!to_grid)
    return kugel__nufft_interpolate(p, in, pitch, out, of_points(p, out_stride), *out_stride);
  KUGEL_TRY(kugel__nufft_zero(p->plan->ctx, out, p->plan->fine * kugel__nufft_number(p->plan)));
  return kugel__nufft_spread(p, in, of_points(p, in_stride), *in_stride, pitch, out);
}

static kugel_status one(const kugel_nufft_points *p, way w, const void *in, const int64_t *in_stride,
                        void *out, const int64_t *out_stride, void *grid)
{
  const bool to_modes = w.to_modes;
  if (w.grid)
    return alone(p, to_modes, in, in_stride, out, out_stride);
  if (p->normal)
    return p->normal->run(p, in, in_stride, out, out_stride, grid);
  if (p->third)
    return p->third->run(p, !to_modes, in, *in_stride, out, *out_stride);
  if (p->dd)
    return kugel__nufft_dd_run(p, to_modes, w.sign, in, in_stride, out, out_stride, grid);
  kugel__span span = kugel__progress_enter(0, 0.05);
  kugel_status s = kugel__nufft_clear(p->plan, grid);
  kugel__progress_leave(span);
  if (s)
    return s;
  span = kugel__progress_enter(to_modes ? 0.05 : 0.4, to_modes ? 0.65 : 1); // the loop over points
  if (to_modes)
    s = kugel__nufft_spread(p, in, of_points(p, in_stride), *in_stride, p->plan->pitch, grid);
  kugel__progress_leave(span);
  if (s)
    return s;
  s = to_modes ? kugel__nufft_take_modes(p->plan, w.sign, &p->rows, grid, out, out_stride)
               : kugel__nufft_give_modes(p->plan, w.sign, &p->rows, in, in_stride, grid);
  if (s || to_modes)
    return s;
  span = kugel__progress_enter(0.4, 1);
  s = kugel__nufft_interpolate(p, grid, p->plan->pitch, out, of_points(p, out_stride), *out_stride);
  kugel__progress_leave(span);
  return s;
}

static kugel_status each(const kugel_nufft_points *p, way w, const side *from, const side *to, void *grid)
{
  int64_t index[MOST] = {0}, count = 1, in = 0, out = 0;
  for (int d = 0; d < from->lead; d++)
    count *= from->shape[d];
  for (int64_t i = 0; i < count; i++) {
    kugel__span span = kugel__progress_enter((double)i / (double)count, (double)(i + 1) / (double)count);
    kugel_status s = one(p, w, from->data + in * from->number, from->stride + from->lead,
                         to->data + out * to->number, to->stride + to->lead, grid);
    kugel__progress_leave(span);
    if (s)
      return s;
    for (int d = from->lead - 1; d >= 0; d--) {
      in += from->stride[d];
      out += to->stride[d];
      if (++index[d] < from->shape[d])
        break;
      in -= index[d] * from->stride[d];
      out -= index[d] * to->stride[d];
      index[d] = 0;
    }
  }
  return KUGEL_OK;
}

static kugel_status run(const kugel_nufft_points *p, way w, const kugel_array *in, const kugel_array *out,
                        kugel_queue *queue)
{
  side from, to;
  if (p->ranks)
    return kugel__nufft_ranks_execute(p, w.to_modes, w.sign, in, out, queue);
  KUGEL_CHECK(!queue || p->plan->gpu, KUGEL_EINVAL, "queue is not NULL: this plan is on the CPU");
  const kugel_nufft *plan = p->plan;
  bool normal = p->normal != NULL; // modes to modes
  kugel__pair_array pairs[2];
  if (plan->dd) { // numbers of two parts
    KUGEL_TRY(kugel__pair_array_of(in, "in", &pairs[0]));
    KUGEL_TRY(kugel__pair_array_of(out, "out", &pairs[1]));
    in = &pairs[0].array;
    out = &pairs[1].array;
  }
  KUGEL_TRY(take(p, in, "in", normal || !w.to_modes, w.grid, false, &from));
  KUGEL_TRY(take(p, out, "out", normal || w.to_modes, w.grid, true, &to));
  KUGEL_TRY(check_pair(in, &from, out, &to));
  if (plan->gpu)
    return kugel__nufft_gpu_execute(p, w.to_modes || normal, w.grid, in, from.stride, out, to.stride, queue);
  size_t bytes = w.grid || p->third ? 16 : (size_t)kugel__nufft_grid(normal ? p->normal->modes : plan);
  void *grid = kugel__scratch_get(plan->ctx, bytes);
  KUGEL_CHECK(grid, KUGEL_ENOMEM, "no memory for a fine grid of %lld points", (long long)plan->fine);
  kugel__span span = kugel__progress_enter(0, 1);
  kugel_status s = each(p, w, &from, &to, grid);
  kugel__progress_leave(span);
  kugel__scratch_put(plan->ctx, grid);
  return s;
}

kugel_status kugel_nufft_execute(const kugel_nufft_points *points, const kugel_array *in,
                                 const kugel_array *out, kugel_queue *queue)
{
  KUGEL_CHECK(points, KUGEL_EINVAL, "points is NULL: make them by kugel_nufft_points_create");
  return run(points, (way){.to_modes = points->plan->to_modes, .sign = points->plan->sign}, in, out, queue);
}

kugel_status kugel_nufft_adjoint(const kugel_nufft_points *points, const kugel_array *in,
                                 const kugel_array *out, kugel_queue *queue)
{
  KUGEL_CHECK(points, KUGEL_EINVAL, "points is NULL: make them by kugel_nufft_points_create");
  return run(points, (way){.to_modes = !points->plan->to_modes, .sign = -points->plan->sign}, in, out, queue);
}

static kugel_status run_grid(const kugel_nufft_points *p, bool to_grid, const kugel_array *in,
                             const kugel_array *out, kugel_queue *queue)
{
  KUGEL_CHECK(p, KUGEL_EINVAL, "points is NULL: make them by kugel_nufft_points_create");
  KUGEL_CHECK(!p->third && !p->normal, KUGEL_EINVAL,
              "type 3 and normal operators have no fine grid of their own: use points of type 1 or 2");
  KUGEL_CHECK(!p->ranks, KUGEL_ENOTSUP, "no rank has the whole fine grid: use a plan without comm");
  KUGEL_CHECK(!p->dd, KUGEL_ENOTSUP,
              "double-double plans do not spread and interpolate alone: use KUGEL_PRECISION_F64");
  return run(p, (way){.to_modes = to_grid, .grid = true}, in, out, queue);
}

kugel_status kugel_nufft_spread(const kugel_nufft_points *points, const kugel_array *in,
                                const kugel_array *out, kugel_queue *queue)
{
  return run_grid(points, true, in, out, queue);
}

kugel_status kugel_nufft_interpolate(const kugel_nufft_points *points, const kugel_array *in,
                                     const kugel_array *out, kugel_queue *queue)
{
  return run_grid(points, false, in, out, queue);
}
