/* SPDX-License-Identifier: BSD-3-Clause */
/* Convolutions of whole arrays on devices: which passes run, over what, between which memory. */
#include "core/alloc.h"
#include "core/ctx.h"
#include "fft/conv/boxes.h"

enum { PRODUCT_THREADS = 256 };

/* An array between two passes: memory, and a view of all axes: batch, channels, data. */
typedef struct stage {
  kugel__mem mem;
  kugel__view view;
} stage;

typedef struct run {
  kugel__conv_boxes *b;
  int lead;           // axes of the batch
  kugel__mem room[2]; // work memory, by turns
  int turn;           // which one is free
  kugel_queue *queue;
} run;

// The next room, with `extent` along each data axis, in C order.
static stage next_stage(run *r, const kugel__view *like, int channels, const int64_t *extent)
{
  stage s = {.mem = r->room[r->turn], .view = *like};
  int64_t stride = 1;
  s.view.shape[r->lead] = channels;
  for (int d = s.view.ndim - 1; d >= 0; d--) {
    if (d > r->lead)
      s.view.shape[d] = extent[d - r->lead - 1];
    s.view.stride[d] = stride;
    stride *= s.view.shape[d];
  }
  r->turn = !r->turn;
  return s;
}

static kugel_status transform(const run *r, int d, bool inverse, const stage *in, const stage *out)
{
  int at = r->lead + 1 + d;
  kugel__fft_gpu_call call = {.inverse = inverse,
                              .in = in->mem,
                              .out = out->mem,
                              .in_view = &in->view,
                              .out_view = &out->view,
                              .axes = &at,
                              .scale = {1, 0},
                              .queue = r->queue};
  return kugel__fft_gpu_run(r->b->line[d], &call);
}

static int64_t boxes_of(const run *r, const kugel__view *v)
{
  int64_t n = 1;
  for (int d = 0; d < r->lead; d++)
    n *= v->shape[d];
  return n;
}

static kugel_status run_product(const run *r, const stage *in, const stage *out)
{
  const kugel__conv_boxes *b = r->b;
  const kugel_conv *p = b->p;
  int64_t boxes = boxes_of(r, &in->view), blocks = (b->points + PRODUCT_THREADS - 1) / PRODUCT_THREADS;
  KUGEL_CHECK(blocks <= INT32_MAX && p->outputs <= 65535, KUGEL_ENOTSUP,
              "a product of %lld points for %d outputs is more than a launch takes", (long long)b->points,
              p->outputs);
  kugel__mem spectra = {b->spectra, 0};
  int32_t inputs = p->inputs, outputs = p->outputs, each = p->opts.each != 0;
  kugel__arg args[] = {KUGEL__MEM_ARG(in->mem),     KUGEL__MEM_ARG(spectra), KUGEL__MEM_ARG(out->mem),
                       KUGEL__VALUE_ARG(b->points), KUGEL__VALUE_ARG(boxes), KUGEL__VALUE_ARG(inputs),
                       KUGEL__VALUE_ARG(outputs),   KUGEL__VALUE_ARG(each)};
  int64_t deep = kugel__min(boxes, 65535 / blocks + 1);
  kugel__grid grid = {.blocks = {(uint32_t)blocks, (uint32_t)p->outputs, (uint32_t)deep},
                      .threads = {PRODUCT_THREADS}};
  return kugel__launch(kugel__ctx_device(p->ctx), b->kernel, &grid, 8, args, r->queue);
}

static kugel_status run_fused(const run *r, const stage *in, const stage *out)
{
  const kugel__conv_boxes *b = r->b;
  const kugel__block *block = &b->fused.block;
  int64_t boxes = boxes_of(r, &in->view), lines = b->points / b->fused.axis.box;
  int64_t blocks = (boxes * b->p->outputs * lines + block->group - 1) / block->group;
  KUGEL_CHECK(blocks <= INT32_MAX, KUGEL_ENOTSUP, "%lld lines at once are more than a launch takes",
              (long long)(boxes * lines));
  kugel__mem tables = {b->tables, 0}, spectra = {b->spectra, 0};
  kugel__arg args[] = {KUGEL__MEM_ARG(in->mem), KUGEL__MEM_ARG(out->mem), KUGEL__MEM_ARG(tables),
                       KUGEL__MEM_ARG(spectra), KUGEL__VALUE_ARG(boxes),  KUGEL__VALUE_ARG(lines)};
  kugel__grid grid = {.blocks = {(uint32_t)blocks},
                      .threads = {(uint32_t)(block->threads * block->group)},
                      .shared = b->shared};
  return kugel__launch(kugel__ctx_device(b->p->ctx), b->kernel, &grid, 6, args, r->queue);
}

static kugel_status run_passes(run *r, const stage *in, const stage *out)
{
  const kugel__conv_boxes *b = r->b;
  const kugel_conv *p = b->p;
  int64_t extent[KUGEL__CONV_DIMS];
  int last = p->ndim - 1, fused = b->fused.block.m > 0;
  stage from = *in;
  for (int d = 0; d <= last; d++)
    extent[d] = b->axis[d].fill;
  for (int d = 0; d <= last - fused; d++) {
    extent[d] = d ? b->axis[d].box : b->half;
    if (!b->line[d])
      continue;
    stage to = next_stage(r, &in->view, p->inputs, extent);
    KUGEL_TRY(transform(r, d, false, &from, &to));
    from = to;
  }
  extent[last] = fused ? b->axis[last].step : extent[last];
  stage product = next_stage(r, &in->view, p->outputs, extent);
  KUGEL_TRY((fused ? run_fused : run_product)(r, &from, &product));
  from = product;
  for (int d = last - fused; d >= 0; d--) {
    extent[d] = b->axis[d].step;
    if (!b->line[d])
      continue;
    stage to = d ? next_stage(r, &in->view, p->outputs, extent) : *out;
    KUGEL_TRY(transform(r, d, true, &from, &to));
    from = to;
  }
  return KUGEL_OK;
}

// Bytes of one room for a batch of one: of the longest array between passes.
static int64_t room_of(const kugel__conv_boxes *b)
{
  int64_t size = b->p->opts.precision == KUGEL_PRECISION_F32 ? 8 : 16;
  int64_t channels = kugel__max(b->p->inputs, b->p->outputs);
  return (b->points * channels * size + 4095) / 4096 * 4096;
}

// Halves of the batch one after the other, as long as its arrays have no room at once.
static kugel_status run_batch(run *r, const stage *in, const stage *out)
{
  int64_t each = room_of(r->b), boxes = boxes_of(r, &in->view);
  if (boxes == 1 || 2 * each * boxes <= r->b->p->room)
    return run_passes(r, in, out);
  int d = 0;
  while (in->view.shape[d] == 1)
    d++;
  int64_t half = in->view.shape[d] / 2, rest = in->view.shape[d] - half;
  stage parts[2] = {*in, *out};
  parts[0].view.shape[d] = parts[1].view.shape[d] = half;
  KUGEL_TRY(run_batch(r, &parts[0], &parts[1]));
  size_t size = kugel__conv_element(r->b->p);
  for (int i = 0; i < 2; i++) {
    parts[i].view.shape[d] = rest;
    parts[i].mem.offset += (size_t)(half * parts[i].view.stride[d]) * size;
  }
  return run_batch(r, &parts[0], &parts[1]);
}

// The view with an axis of channels, begun where the data do that the results need.
static stage stage_of(const kugel__conv_boxes *b, kugel__mem mem, const kugel__view *v, int lead, bool result)
{
  const kugel_conv *p = b->p;
  int channels = result ? p->opts.outputs : p->opts.inputs, at = lead + (channels > 0);
  stage s = {.mem = mem, .view = {.ndim = lead + 1 + p->ndim}};
  for (int d = 0; d < lead + (channels > 0); d++) {
    s.view.shape[d] = v->shape[d];
    s.view.stride[d] = v->stride[d];
  }
  if (!channels) {
    s.view.shape[lead] = 1;
    s.view.stride[lead] = 1;
  }
  int64_t start = 0;
  for (int d = 0; d < p->ndim; d++) {
    const kugel__conv_axis *a = &b->axis[d];
    s.view.shape[lead + 1 + d] = result ? a->step : a->fill;
    s.view.stride[lead + 1 + d] = v->stride[at + d];
    start += result || p->opts.circular ? 0 : (a->lo - a->skip) * v->stride[at + d];
  }
  s.mem.offset += (size_t)start * kugel__conv_element(p);
  return s;
}

kugel_status kugel__conv_boxes_run(kugel__conv_boxes *b, kugel__mem in, const kugel__view *in_view,
                                   kugel__mem out, const kugel__view *out_view, int lead, kugel_queue *queue)
{
  kugel__device *dev = kugel__ctx_device(b->p->ctx);
  run r = {.b = b, .lead = lead, .queue = queue};
  KUGEL_CHECK(in_view->ndim < KUGEL__MAX_NDIM, KUGEL_ENOTSUP, "in has %d axes, at most %d are taken",
              in_view->ndim, KUGEL__MAX_NDIM - 1);
  stage from = stage_of(b, in, in_view, lead, false), to = stage_of(b, out, out_view, lead, true);
  int64_t each = room_of(b), boxes = boxes_of(&r, in_view);
  int64_t room = each * kugel__max(1, kugel__min(boxes, b->p->room / 2 / each));
  kugel__gpu_hold work;
  KUGEL_TRY(kugel__gpu_work_take(dev, &b->work, (size_t)(2 * room), queue, &work));
  r.room[0] = (kugel__mem){work.memory, 0};
  r.room[1] = (kugel__mem){work.memory, (size_t)room};
  kugel_status s = run_batch(&r, &from, &to);
  kugel__gpu_work_give(dev, &work);
  return s;
}
