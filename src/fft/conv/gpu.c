/* SPDX-License-Identifier: BSD-3-Clause */
/* Convolution on devices. Along one axis with kernels that a block can hold one kernel does it all
 * (fft/conv_block.h); the rest goes through boxes (fft/conv_boxes.h). */
#include <stdio.h>
#include "codegen/module.h"
#include "codegen/print.h"
#include "core/alloc.h"
#include "core/array.h"
#include "core/ctx.h"
#include "device/lend.h"
#include "fft/gpu/block_tables.h"
#include "fft/conv/block.h"
#include "fft/conv/boxes.h"
#include "fft/conv/gpu.h"

enum { MOST_SUMMED = 8 }; // inputs of one kernel

struct kugel__conv_gpu {
  kugel_ctx *ctx;
  kugel__conv_boxes *boxes; // instead of the rest, where one kernel does not do it all
  kugel__conv_block fused;
  kugel__module *module;
  kugel__kernel *kernel;
  size_t shared; // bytes of a block
  void *tables;  // device memory
};

/* ---- plans ---- */

// DFTs of the kernels over the box's points, after each other; `spectra` is zero before.
static kugel_status fill_spectra(const kugel_conv *p, const kugel__conv_axis *a, const kugel_array *kernels,
                                 int64_t k, double *spectra)
{
  kugel_fft *plan;
  KUGEL_TRY(kugel_fft_create(NULL, 1, &a->box, NULL, &plan));
  for (int64_t i = 0; i < p->kernels * k; i++) {
    double x[2];
    int64_t j = p->opts.correlate ? k - 1 - i % k : i % k;
    double *to = spectra + 2 * (i / k * a->box + (p->opts.circular ? j % a->n : j));
    kugel__conv_number(kernels, i, x);
    to[0] += x[0] / (double)a->box;
    to[1] += (p->opts.correlate ? -x[1] : x[1]) / (double)a->box;
  }
  int64_t shape[2] = {p->kernels, a->box};
  kugel_array all = {
      .data = spectra, .device = {KUGEL_CPU, 0}, .ndim = 2, .dtype = KUGEL_C128, .shape = shape};
  kugel_status s = kugel_fft_execute(plan, KUGEL_FORWARD, &all, &all, NULL);
  kugel_fft_destroy(plan);
  return s;
}

static kugel_status make_tables(kugel__conv_gpu *g, const kugel_conv *p, const kugel_array *kernels,
                                int64_t k)
{
  kugel__device *dev = kugel__ctx_device(g->ctx);
  kugel__block stages = g->fused.block;
  kugel__tables layout = kugel__tables_of(&stages);
  bool f32 = stages.real == KUGEL__F32;
  double *host = kugel__calloc(g->ctx, (size_t)layout.total * 16);
  KUGEL_CHECK(host, KUGEL_ENOMEM, "no memory for %lld numbers of tables", (long long)layout.total);
  stages.spectrum = 0;
  kugel_status s = kugel__block_fill_tables(&stages, g->ctx, host);
  host[2 * layout.spectrum] = host[2 * layout.spectrum + 1] = 0;
  if (!s)
    s = fill_spectra(p, &g->fused.axis, kernels, k, host + 2 * layout.spectrum);
  float *narrow = (float *)host;
  for (int64_t i = 0; f32 && i < 2 * layout.total; i++)
    narrow[i] = (float)host[i];
  size_t bytes = (size_t)layout.total * (f32 ? 8 : 16);
  if (!s)
    s = kugel__device_alloc(dev, bytes, &g->tables);
  if (!s)
    s = kugel__device_copy(dev, KUGEL__UPLOAD, (kugel__mem){g->tables, 0}, (kugel__mem){host, 0}, bytes,
                           NULL);
  kugel__free(g->ctx, host);
  return s;
}

static kugel_status write_kernel(kugel_ctx *ctx, const void *of, kugel__text *text)
{
  kugel__gen gen;
  kugel__conv_block_build(of, ctx, &gen);
  return kugel__gen_print_kernel(&gen, text);
}

static kugel_status compile(kugel__conv_gpu *g)
{
  char name[64];
  snprintf(name, sizeof name, "fft_conv_%lld.cl", (long long)g->fused.axis.box);
  bool f32 = g->fused.block.real == KUGEL__F32;
  kugel__module_spec spec = {.name = name,
                             .defines = f32 ? "#define REAL_BITS 32\n" : "#define REAL_BITS 64\n",
                             .write = write_kernel,
                             .of = &g->fused,
                             .of_bytes = sizeof g->fused};
  KUGEL_TRY(kugel__module_get(g->ctx, &spec, &g->module));
  return kugel__module_kernel(g->module, "fft_conv", &g->kernel, NULL);
}

kugel_status kugel__conv_gpu_create(const kugel_conv *p, const kugel_array *kernels, const int64_t *k,
                                    kugel__conv_gpu **out)
{
  kugel_device_info info = {.size = sizeof info};
  kugel__type real = p->opts.precision == KUGEL_PRECISION_F32 ? KUGEL__F32 : KUGEL__F64;
  *out = NULL;
  KUGEL_TRY(kugel_ctx_describe(p->ctx, &info));
  KUGEL_CHECK(info.fp64 || p->opts.precision == KUGEL_PRECISION_F32, KUGEL_ENOTSUP,
              "%s has no double precision: use KUGEL_PRECISION_F32", info.name);
  kugel__conv_gpu *g = kugel__calloc(p->ctx, sizeof *g);
  KUGEL_CHECK(g, KUGEL_ENOMEM, "no memory for a plan");
  g->ctx = p->ctx;
  kugel_status s;
  if (p->ndim == 1 && (p->opts.each || p->inputs <= MOST_SUMMED) &&
      kugel__conv_block_fit(&p->axis[0], p->opts.circular != 0, real, info.shared_bytes, &g->fused)) {
    g->fused.block.spectrum = p->kernels;
    g->fused.complex_data = p->opts.complex_data != 0;
    g->fused.each = p->opts.each != 0;
    g->fused.inputs = p->inputs;
    g->fused.outputs = p->outputs;
    g->shared = (size_t)kugel__block_shared(&g->fused.block) * (real == KUGEL__F32 ? 4 : 8);
    s = make_tables(g, p, kernels, k[0]);
    if (!s)
      s = compile(g);
  } else
    s = kugel__conv_boxes_create(p, kernels, k, &g->boxes);
  if (s) {
    kugel__conv_gpu_destroy(g);
    return s;
  }
  *out = g;
  return KUGEL_OK;
}

void kugel__conv_gpu_destroy(kugel__conv_gpu *g)
{
  if (!g)
    return;
  kugel__conv_boxes_destroy(g->boxes);
  kugel__device_free(kugel__ctx_device(g->ctx), g->tables);
  kugel__module_put(g->module);
  kugel__free(g->ctx, g);
}

/* ---- execution ---- */

/* Arrays as the kernel walks them: one level of batch, channels, points, in elements. */
typedef struct launch {
  kugel__mem in, out;
  int64_t in_at, out_at, batch, in_batch, out_batch, in_channel, out_channel, in_step, out_step;
  kugel_queue *queue;
} launch;

static kugel_status run_launch(const kugel__conv_gpu *g, const launch *l)
{
  const kugel__block *b = &g->fused.block;
  int64_t parts = g->fused.complex_data ? 1 : 2, lines = l->batch * g->fused.axis.tiles;
  int64_t count = (lines + parts - 1) / parts * g->fused.outputs, blocks = (count + b->group - 1) / b->group;
  KUGEL_CHECK(blocks <= INT32_MAX, KUGEL_ENOTSUP, "%lld convolutions at once are more than a launch takes",
              (long long)count);
  kugel__mem tables = {g->tables, 0};
  kugel__arg args[12], *a = args;
  *a++ = KUGEL__MEM_ARG(l->in);
  *a++ = KUGEL__MEM_ARG(l->out);
  *a++ = KUGEL__MEM_ARG(tables);
  const int64_t *values[] = {&lines,     &l->in_at,     &l->in_batch,    &l->in_channel, &l->in_step,
                             &l->out_at, &l->out_batch, &l->out_channel, &l->out_step};
  for (int i = 0; i < 9; i++)
    *a++ = KUGEL__VALUE_ARG(*values[i]);
  kugel__grid grid = {
      .blocks = {(uint32_t)blocks}, .threads = {(uint32_t)(b->threads * b->group)}, .shared = g->shared};
  return kugel__launch(kugel__ctx_device(g->ctx), g->kernel, &grid, (int)(a - args), args, l->queue);
}

// Levels of the batch that lie in step become one; what is left beyond that goes launch by launch.
static kugel_status run_levels(const kugel__conv_gpu *g, launch l, const kugel__view *in,
                               const kugel__view *out, int level)
{
  l.batch = 1;
  l.in_batch = l.out_batch = 0;
  for (; level >= 0; level--) {
    int64_t n = in->shape[level];
    if (n == 1)
      continue;
    if (l.batch > 1 &&
        (in->stride[level] != l.in_batch * l.batch || out->stride[level] != l.out_batch * l.batch))
      break;
    if (l.batch == 1) {
      l.in_batch = in->stride[level];
      l.out_batch = out->stride[level];
    }
    l.batch *= n;
  }
  int64_t outer = 1;
  for (int d = 0; d <= level; d++)
    outer *= in->shape[d];
  for (int64_t i = 0; i < outer; i++) {
    launch one = l;
    for (int64_t d = level, rest = i; d >= 0; rest /= in->shape[d], d--) {
      one.in_at += rest % in->shape[d] * in->stride[d];
      one.out_at += rest % in->shape[d] * out->stride[d];
    }
    KUGEL_TRY(run_launch(g, &one));
  }
  return KUGEL_OK;
}

kugel_status kugel__conv_gpu_execute(const kugel_conv *p, const kugel_array *in, const kugel__view *in_view,
                                     const kugel_array *out, const kugel__view *out_view, int lead,
                                     kugel_queue *queue)
{
  const kugel__conv_gpu *g = p->gpu;
  kugel__device *dev = kugel__ctx_device(p->ctx);
  kugel__loan loans[2] = {{.bytes = 0}};
  int64_t size = (int64_t)kugel__conv_element(p);
  launch l = {.in_channel = p->opts.inputs ? in_view->stride[lead] : 0,
              .out_channel = p->opts.outputs ? out_view->stride[lead] : 0,
              .in_step = in_view->stride[in_view->ndim - 1],
              .out_step = out_view->stride[out_view->ndim - 1]};
  KUGEL_TRY(kugel__queue_of(dev, queue, &l.queue));
  KUGEL_CHECK((in->device.type != KUGEL_CPU || kugel__array_contiguous(in)) &&
                  (out->device.type != KUGEL_CPU || kugel__array_contiguous(out)),
              KUGEL_ENOTSUP, "host arrays of a device plan must be in C order: copy them first");
  kugel_status s = kugel__lend(dev, in, KUGEL__READ, l.queue, &loans[0]);
  if (!s)
    s = kugel__lend(dev, out, KUGEL__WRITE, l.queue, &loans[1]);
  l.in = loans[0].mem;
  l.out = loans[1].mem;
  if (!s && (l.in.offset % (size_t)size || l.out.offset % (size_t)size))
    s = KUGEL_FAIL(KUGEL_ENOTSUP,
                   "byte_offset is %zu and %zu, must be a multiple of the %lld bytes of an element",
                   l.in.offset, l.out.offset, (long long)size);
  if (!s && g->boxes)
    s = kugel__conv_boxes_run(g->boxes, l.in, in_view, l.out, out_view, lead, l.queue);
  l.in_at = (int64_t)l.in.offset / size;
  l.out_at = (int64_t)l.out.offset / size;
  l.in.offset = l.out.offset = 0;
  if (!s && !g->boxes)
    s = run_levels(g, l, in_view, out_view, lead - 1);
  s = kugel__lend_end(2, loans, l.queue, s);
  return s || queue ? s : dev->ops->wait(l.queue);
}
