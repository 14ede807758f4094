/* SPDX-License-Identifier: BSD-3-Clause */
#include "volume/gpu/boxes.h"
#include "core/alloc.h"
#include "core/ctx.h"

enum { DIMS = KUGEL__VOLUME_DIMS };

static kugel_status make_conv(const kugel_volume *p, bool adjoint, kugel_conv **out)
{
  const struct kugel__volume_device *g = p->gpu;
  const kugel__volume_boxes *b = g->boxes;
  int lead = DIMS - p->ndim, ndim = p->ndim + (p->opts.kernels ? 1 : 0);
  int64_t n[DIMS], k[DIMS], shape[DIMS + 1] = {p->kernels};
  for (int d = 0; d < p->ndim; d++) {
    n[d] = adjoint ? p->axis[d + lead].m : b->moves.extended[d + lead];
    k[d] = p->axis[d + lead].k;
    shape[ndim - p->ndim + d] = k[d];
  }
  bool correlate = (p->opts.correlate != 0) != adjoint;
  kugel_conv_opts o = {.size = sizeof o,
                       .extent = adjoint ? KUGEL_CONV_FULL : KUGEL_CONV_VALID,
                       .correlate = correlate,
                       .complex_data = p->opts.complex_data,
                       .precision = p->opts.precision,
                       .inputs = adjoint ? p->opts.kernels : 0,
                       .outputs = adjoint ? 0 : p->opts.kernels};
  kugel_array kernels = {.data = g->kernel,
                         .device = {KUGEL_CPU, 0},
                         .ndim = ndim,
                         .dtype = p->opts.complex_data ? KUGEL_C128 : KUGEL_F64,
                         .shape = shape};
  return kugel_conv_create(p->ctx, p->ndim, n, k, &kernels, &o, out);
}

static kugel_status conv_of(const kugel_volume *p, bool adjoint, const kugel_conv **out)
{
  kugel__volume_boxes *b = p->gpu->boxes;
  kugel_status s = KUGEL_OK;
  pthread_mutex_lock(&b->lock);
  kugel_conv **which = adjoint ? &b->backward : &b->forward;
  if (!*which)
    s = make_conv(p, adjoint, which);
  *out = *which;
  pthread_mutex_unlock(&b->lock);
  return s;
}

static kugel_status convolve(const kugel__device_job *j, bool adjoint)
{
  const kugel_volume *p = j->p;
  const kugel_conv *conv;
  KUGEL_TRY(conv_of(p, adjoint, &conv));
  int lead = DIMS - p->ndim, more = p->opts.kernels ? 1 : 0;
  int64_t f[DIMS], m[DIMS + 1] = {p->kernels};
  for (int d = 0; d < p->ndim; d++) {
    f[d] = p->gpu->boxes->moves.extended[d + lead];
    m[d + more] = p->axis[d + lead].m;
  }
  kugel_array wide = {.data = j->work[0].base,
                      .device = p->ctx->device,
                      .ndim = p->ndim,
                      .dtype = j->extended.dtype,
                      .shape = f,
                      .byte_offset = j->work[0].offset};
  kugel_array narrow = wide;
  narrow.data = j->work[1].base;
  narrow.ndim = p->ndim + more;
  narrow.shape = m;
  return adjoint ? kugel_conv_execute(conv, &narrow, &wide, j->queue)
                 : kugel_conv_execute(conv, &wide, &narrow, j->queue);
}

// Item of the batch: first elements in both arrays.
kugel_status kugel__boxes_item(const kugel__device_job *j, bool adjoint, int64_t in_first, int64_t out_first)
{
  const kugel_volume *p = j->p;
  const kugel__volume_boxes *b = p->gpu->boxes;
  kugel__move image = {.p = p,
                       .moves = &b->moves,
                       .lists = adjoint ? &b->moves.fold : &b->moves.extend,
                       .in = adjoint ? j->work[0] : j->in_mem,
                       .out = adjoint ? j->out_mem : j->work[0],
                       .clipped = j->clipped,
                       .from = adjoint ? j->extended : j->in,
                       .to = adjoint ? j->out : j->extended,
                       .in_first = adjoint ? 0 : in_first,
                       .out_first = adjoint ? out_first : 0,
                       .scale = 1};
  if (!adjoint) {
    KUGEL_TRY(kugel__move_run(&image, j->queue));
    KUGEL_TRY(convolve(j, false));
  }
  for (int q = 0; q < p->kernels; q++) {
    int64_t own = q * j->results.step[0];
    kugel__move results = {.p = p,
                           .moves = &b->moves,
                           .factors = {p->gpu->window, 0},
                           .lists = &b->moves.results,
                           .in = adjoint ? j->in_mem : j->work[1],
                           .out = adjoint ? j->work[1] : j->out_mem,
                           .clipped = j->clipped,
                           .from = adjoint ? j->in : j->results,
                           .to = adjoint ? j->results : j->out,
                           .in_first = adjoint ? in_first + q * j->in.step[0] : own,
                           .out_first = adjoint ? own : out_first + q * j->out.step[0],
                           .window = !p->gpu->window ? 0
                                     : adjoint       ? 1
                                                     : 2,
                           .kernel = q,
                           .scale = p->scale};
    KUGEL_TRY(kugel__move_run(&results, j->queue));
  }
  if (!adjoint)
    return KUGEL_OK;
  KUGEL_TRY(convolve(j, true));
  return kugel__move_run(&image, j->queue);
}

void kugel__boxes_room(const kugel_volume *p, size_t bytes[2])
{
  size_t size = p->real * (p->opts.complex_data ? 2 : 1), wide = size, narrow = size * (size_t)p->kernels;
  for (int d = 0; d < DIMS; d++) {
    wide *= (size_t)p->gpu->boxes->moves.extended[d];
    narrow *= (size_t)p->axis[d].m;
  }
  bytes[0] = wide;
  bytes[1] = narrow;
}

kugel_status kugel__boxes_create(kugel_volume *p)
{
  static const bool plain[3] = {false, false, false};
  const kugel_conv *forward;
  p->gpu->boxes = kugel__calloc(p->ctx, sizeof *p->gpu->boxes);
  KUGEL_CHECK(p->gpu->boxes, KUGEL_ENOMEM, "no memory for a plan");
  pthread_mutex_init(&p->gpu->boxes->lock, NULL);
  KUGEL_TRY(kugel__moves_create(p, plain, &p->gpu->boxes->moves));
  return conv_of(p, false, &forward);
}

void kugel__boxes_destroy(kugel_volume *p)
{
  kugel__volume_boxes *b = p->gpu->boxes;
  if (!b)
    return;
  kugel_conv_destroy(b->forward);
  kugel_conv_destroy(b->backward);
  kugel__moves_destroy(p, &b->moves);
  pthread_mutex_destroy(&b->lock);
  kugel__free(p->ctx, b);
}
