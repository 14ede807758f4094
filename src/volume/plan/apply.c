/* SPDX-License-Identifier: BSD-3-Clause */
/* Which engine runs, plans applied to arrays of their own type, and to ones: factors of results where the surroundings of the image
 * are unknown. */
#include "core/alloc.h"
#include "core/ctx.h"
#include "volume/gpu/device.h"
#include "volume/gpu/dif.h"
#include "volume/plan/plan.h"
#include "volume/plan/global_device.h"
#include "volume/plan/pencil.h"

// An array in host memory, in C order.
static kugel__volume_argument argument_of(const kugel_volume *p, const kugel__volume_box *b, bool results,
                                          int64_t *shape, kugel_array *array)
{
  int lead = KUGEL__VOLUME_DIMS - p->ndim, more = results && p->opts.kernels ? 1 : 0;
  shape[0] = p->kernels;
  for (int d = 0; d < p->ndim; d++)
    shape[d + more] = results ? p->axis[d + lead].m : p->axis[d + lead].n;
  *array = (kugel_array){
      .data = b->data, .device = {KUGEL_CPU, 0}, .ndim = p->ndim + more, .dtype = b->dtype, .shape = shape};
  return (kugel__volume_argument){.array = array, .box = *b};
}

static kugel_status run_on_device(const kugel_volume *p, bool adjoint, const kugel__volume_box *in,
                                  const kugel__volume_box *out, atomic_llong *clipped)
{
  kugel_array x, y;
  int64_t shape_x[KUGEL__VOLUME_DIMS + 1], shape_y[KUGEL__VOLUME_DIMS + 1], bad = 0;
  kugel__volume_argument from = argument_of(p, in, adjoint, shape_x, &x),
                         to = argument_of(p, out, !adjoint, shape_y, &y);
  KUGEL_TRY(kugel__volume_device_execute(p, adjoint, &from, &to, &bad, NULL));
  if (clipped)
    atomic_fetch_add(clipped, bad);
  return KUGEL_OK;
}

// Own planes, in host memory.
static kugel_status run_on_devices(const kugel_volume *p, bool adjoint, const kugel__volume_box *in,
                                   const kugel__volume_box *out, atomic_llong *clipped)
{
  const kugel__volume_global *g = p->global;
  kugel_array x, y;
  int64_t shape_x[KUGEL__VOLUME_DIMS + 1], shape_y[KUGEL__VOLUME_DIMS + 1];
  kugel__volume_argument from = argument_of(p, in, adjoint, shape_x, &x),
                         to = argument_of(p, out, !adjoint, shape_y, &y);
  shape_x[x.ndim - KUGEL__VOLUME_DIMS] = kugel__global_own(g, adjoint ? g->results : g->data);
  shape_y[y.ndim - KUGEL__VOLUME_DIMS] = kugel__global_own(g, adjoint ? g->data : g->results);
  return kugel__global_device_execute(p, adjoint, &from, &to, clipped, NULL);
}

kugel_status kugel__volume_run(const kugel_volume *p, bool adjoint, const kugel__volume_box *in,
                               const kugel__volume_box *out, atomic_llong *clipped)
{
  if (p->gpu)
    return run_on_device(p, adjoint, in, out, clipped);
  if (p->global_led)
    return kugel__global_led_arrays(p, adjoint, in, out, clipped);
  if (p->global && p->global->device)
    return run_on_devices(p, adjoint, in, out, clipped);
  if (p->global && p->engine == KUGEL_VOLUME_TILES)
    return kugel__global_run_tiles(p, in, out, clipped);
  if (p->global)
    return kugel__global_run(p, adjoint, in, out, clipped);
  if (p->pencil)
    return kugel__pencil_run_arrays(p, adjoint, in, out, clipped);
  if (p->dif)
    return kugel__dif_run(p, adjoint, in, out, clipped);
  if (p->parts > 1)
    return kugel__volume_run_parts(p, adjoint, in, out, clipped);
  return p->engine == KUGEL_VOLUME_TILES ? kugel__volume_run_tiles(p, adjoint, in, out, clipped)
                                         : kugel__volume_run_resident(p, adjoint, in, out, clipped);
}

kugel_status kugel__volume_apply(const kugel_volume *p, bool adjoint, const void *in, void *out)
{
  int64_t n[KUGEL__VOLUME_DIMS], m[KUGEL__VOLUME_DIMS];
  for (int d = 0; d < KUGEL__VOLUME_DIMS; d++) {
    n[d] = p->axis[d].n;
    m[d] = p->axis[d].m;
  }
  kugel__volume_box x = kugel__volume_own_box(p, in, adjoint ? m : n),
                    y = kugel__volume_own_box(p, out, adjoint ? n : m);
  return kugel__volume_run(p, adjoint, &x, &y, NULL);
}

kugel_status kugel__volume_apply_at(const kugel_volume *p, int64_t shift, bool adjoint, const void *in,
                                    void *out)
{
  kugel_volume at = *p;
  at.shift = shift;
  return kugel__volume_apply(&at, adjoint, in, out);
}

kugel_status kugel__volume_window(kugel_volume *p)
{
  int64_t m = p->axis[0].m * p->axis[1].m * p->axis[2].m, n = p->axis[0].n * p->axis[1].n * p->axis[2].n;
  size_t bytes = (size_t)(m * p->kernels) * p->real;
  char *window = kugel__alloc(p->ctx, bytes), *ones = kugel__alloc(p->ctx, (size_t)n * p->real);
  kugel_status s = KUGEL_OK;
  if (!window || !ones)
    s = KUGEL_FAIL(KUGEL_ENOMEM, "no memory for %zu bytes of window", bytes);
  for (int64_t i = 0; i < n && !s; i++)
    if (p->f32)
      ((float *)(void *)ones)[i] = 1;
    else
      ((double *)(void *)ones)[i] = 1;
  if (!s)
    s = kugel__volume_apply(p, false, ones, window);
  kugel__free(p->ctx, ones);
  p->window = window;
  if (!s)
    kugel__volume_invert(p, window, (int64_t[3]){p->axis[0].m, p->axis[1].m, p->axis[2].m}, p->axis[0].first);
  return s;
}
