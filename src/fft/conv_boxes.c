/* SPDX-License-Identifier: BSD-3-Clause */
#include "fft/conv_boxes.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "fft/blocktables.h"

enum { PRODUCT_THREADS = 256, MOST_FUSED = 8 /* inputs that one kernel sums */ };

/* ---- plans ---- */

// What a point of a box costs: stages of large radices keep more in registers.
static double cost_of(int64_t box)
{
  int64_t rest = box;
  double cost = 1;
  for (int p = 2; p <= 7; p++)
    for (; rest % p == 0; rest /= p)
      cost = fmax(cost, p == 7 ? 1.12 : p == 5 ? 1.06 : p == 3 ? 1.03 : 1);
  return rest > 1 ? INFINITY : box % 16 ? cost + .04 : cost;
}

static int64_t box_of(const kugel__conv_axis *a)
{
  int64_t least = kugel__conv_least_box(a), best = a->box;
  for (int64_t n = least + least % 2; n <= least + least / 8; n += 2)
    if (cost_of(n) * (double)n < cost_of(best) * (double)best)
      best = n;
  return best;
}

static void choose_boxes(kugel__conv_boxes *b)
{
  const kugel_conv *p = b->p;
  b->points = 1;
  for (int d = 0; d < p->ndim; d++) {
    kugel__conv_axis *a = &b->axis[d];
    *a = kugel__conv_one_tile(p->axis[d], p->opts.circular != 0);
    a->box = p->opts.circular ? a->box : box_of(a);
    b->points *= a->box;
  }
  int64_t first = b->axis[0].box;
  b->half = p->opts.complex_data ? first : first / 2 + 1;
  b->points = b->points / first * b->half;
}

static kugel_status make_lines(kugel__conv_boxes *b)
{
  const kugel_conv *p = b->p;
  int last = p->ndim - 1, fused = b->fused.block.m > 0;
  for (int d = 0; d <= last - fused; d++) {
    const kugel__conv_axis *a = &b->axis[d];
    kugel__fft_gpu_desc desc = {.kind = d || p->opts.complex_data ? KUGEL_FFT_C2C : KUGEL_FFT_R2C,
                                .f32 = p->opts.single_precision != 0,
                                .naxes = 1,
                                .n = {a->box},
                                .in_order = {d == last},
                                .window = {{{0, a->fill}}, {{a->skip, a->step}}}};
    if (a->box > 1 || d == 0) // which reads and writes the arrays
      KUGEL_TRY(kugel__fft_gpu_create(p->ctx, &desc, &b->line[d]));
  }
  return KUGEL_OK;
}

// Complex doubles to device memory as the plan's numbers, from number `at` of it on; `host` is changed.
static kugel_status upload(const kugel__conv_boxes *b, double *host, int64_t count, void *memory, int64_t at)
{
  bool f32 = b->p->opts.single_precision != 0;
  float *narrow = (float *)host;
  for (int64_t i = 0; f32 && i < 2 * count; i++)
    narrow[i] = (float)host[i];
  size_t size = f32 ? 8 : 16;
  return kugel__device_copy(kugel__ctx_device(b->p->ctx), KUGEL__UPLOAD,
                            (kugel__mem){memory, (size_t)at * size}, (kugel__mem){host, 0},
                            (size_t)count * size, NULL);
}

// Kernel `row` in a box of zeros over its points, reversed for correlation; circular ones begin where result
// 0 does.
static void place_kernel(const kugel__conv_boxes *b, const kugel_array *kernels, const int64_t *k,
                         int64_t row, double *box)
{
  const kugel_conv *p = b->p;
  int64_t count = 1, points = 1, parts = p->opts.complex_data ? 2 : 1;
  for (int d = 0; d < p->ndim; d++) {
    count *= k[d];
    points *= b->axis[d].box;
  }
  memset(box, 0, (size_t)(points * parts) * 8);
  for (int64_t i = 0; i < count; i++) {
    int64_t at = 0, rest = i, stride = 1;
    for (int d = p->ndim - 1; d >= 0; d--) {
      const kugel__conv_axis *a = &b->axis[d];
      int64_t j = p->opts.correlate ? k[d] - 1 - rest % k[d] : rest % k[d];
      at += (p->opts.circular ? (j % a->n + a->n - a->lo % a->n) % a->n : j) * stride;
      stride *= a->box;
      rest /= k[d];
    }
    double x[2];
    kugel__conv_number(kernels, row * count + i, x);
    box[at * parts] += x[0] / (double)points;
    if (parts == 2)
      box[2 * at + 1] += (p->opts.correlate ? -x[1] : x[1]) / (double)points;
  }
}

// One spectrum after the other, in double precision on the host.
static kugel_status fill_spectra(const kugel__conv_boxes *b, const kugel_array *kernels, const int64_t *k,
                                 const kugel_fft *plan, double *box, double *spectrum)
{
  const kugel_conv *p = b->p;
  bool complex = p->opts.complex_data != 0;
  int64_t shape[2][KUGEL__CONV_DIMS];
  for (int d = 0; d < p->ndim; d++)
    shape[0][d] = shape[1][d] = b->axis[d].box;
  shape[1][0] = b->half;
  kugel_array in = {.data = box,
                    .device = {KUGEL_CPU, 0},
                    .ndim = p->ndim,
                    .dtype = complex ? KUGEL_C128 : KUGEL_F64,
                    .shape = shape[0]};
  kugel_array out = in;
  out.data = spectrum;
  out.dtype = KUGEL_C128;
  out.shape = shape[1];
  for (int64_t row = 0; row < p->kernels; row++) {
    place_kernel(b, kernels, k, row, box);
    KUGEL_TRY(kugel_fft_execute(plan, KUGEL_FORWARD, &in, &out));
    KUGEL_TRY(upload(b, spectrum, b->points, b->spectra, row * b->points));
  }
  return KUGEL_OK;
}

static kugel_status make_spectra(kugel__conv_boxes *b, const kugel_array *kernels, const int64_t *k)
{
  const kugel_conv *p = b->p;
  const int64_t most = (int64_t)1 << 40;
  int64_t n[KUGEL__CONV_DIMS], points = b->points / b->half * b->axis[0].box;
  int axes[KUGEL__CONV_DIMS];
  KUGEL_CHECK(b->points <= most / p->kernels, KUGEL_EINVAL, "%d spectra of %lld numbers are above 2^40",
              p->kernels, (long long)b->points);
  for (int d = 0; d < p->ndim; d++) {
    n[d] = b->axis[d].box;
    axes[d] = (d + 1) % p->ndim; // reals along the first
  }
  kugel_fft_opts o = {.size = sizeof o,
                      .kind = p->opts.complex_data ? KUGEL_FFT_C2C : KUGEL_FFT_R2C,
                      .naxes = p->ndim,
                      .axes = axes};
  kugel_fft *plan = NULL;
  KUGEL_TRY(kugel_fft_create(NULL, p->ndim, n, &o, &plan));
  double *box = kugel__alloc(p->ctx, (size_t)(p->opts.complex_data ? 2 * points : points) * 8);
  double *spectrum = kugel__alloc(p->ctx, (size_t)b->points * 16);
  kugel_status s = box && spectrum
                       ? KUGEL_OK
                       : KUGEL_FAIL(KUGEL_ENOMEM, "no memory for a box of %lld points", (long long)points);
  size_t bytes = (size_t)(b->points * p->kernels) * (p->opts.single_precision ? 8 : 16);
  if (!s)
    s = kugel__device_alloc(kugel__ctx_device(p->ctx), bytes, &b->spectra);
  if (!s)
    s = fill_spectra(b, kernels, k, plan, box, spectrum);
  kugel__free(p->ctx, box);
  kugel__free(p->ctx, spectrum);
  kugel_fft_destroy(plan);
  return s;
}

static kugel_status make_tables(kugel__conv_boxes *b)
{
  int64_t count = kugel__tables_of(&b->fused.block).total;
  double *host;
  KUGEL_ALLOC(b->p->ctx, host, (size_t)count * 16);
  kugel_status s = kugel__block_fill_tables(&b->fused.block, b->p->ctx, host);
  if (!s)
    s = kugel__device_alloc(kugel__ctx_device(b->p->ctx), (size_t)count * 16, &b->tables);
  if (!s)
    s = upload(b, host, count, b->tables, 0);
  kugel__free(b->p->ctx, host);
  return s;
}

static kugel_status write_kernel(kugel_ctx *ctx, const void *of, kugel__text *text)
{
  kugel__gen gen;
  kugel__conv_line_build(of, ctx, &gen);
  kugel_status s = kugel__gen_print(&gen, &kugel__dialect_device, text);
  kugel__gen_free(&gen);
  return s;
}

static kugel_status make_kernel(kugel__conv_boxes *b)
{
  bool fused = b->fused.block.m > 0;
  char name[64];
  kugel__module_spec spec = {.name = "fft/convproduct",
                             .defines = b->p->opts.single_precision ? "#define REAL_BITS 32\n"
                                                                    : "#define REAL_BITS 64\n"};
  if (fused) {
    snprintf(name, sizeof name, "fft_conv_lines_%lld.cl", (long long)b->fused.block.n);
    spec.name = name;
    spec.write = write_kernel;
    spec.of = &b->fused;
    spec.of_bytes = sizeof b->fused;
  }
  KUGEL_TRY(kugel__module_get(b->p->ctx, &spec, &b->module));
  return kugel__module_kernel(b->module, fused ? "fft_conv" : "product", &b->kernel, NULL);
}

kugel_status kugel__conv_boxes_create(const kugel_conv *p, const kugel_array *kernels, const int64_t *k,
                                      kugel__conv_boxes **out)
{
  kugel_device_info info = {.size = sizeof info};
  *out = NULL;
  KUGEL_TRY(kugel_ctx_describe(p->ctx, &info));
  kugel__conv_boxes *b = kugel__calloc(p->ctx, sizeof *b);
  KUGEL_CHECK(b, KUGEL_ENOMEM, "no memory for a plan");
  b->p = p;
  kugel__gpu_work_init(&b->work);
  choose_boxes(b);
  kugel__type real = p->opts.single_precision ? KUGEL__F32 : KUGEL__F64;
  kugel__conv_line fused = {.each = p->opts.each != 0, .inputs = p->inputs, .outputs = p->outputs};
  int last = p->ndim - 1;
  if (last && b->axis[last].box > 1 && (fused.each || p->inputs <= MOST_FUSED) &&
      kugel__conv_line_fit(&b->axis[last], real, info.shared_bytes, &fused))
    b->fused = fused;
  b->shared =
      b->fused.block.m ? (size_t)kugel__block_shared(&b->fused.block) * (real == KUGEL__F32 ? 4 : 8) : 0;
  kugel_status s = make_lines(b);
  if (!s && b->fused.block.m)
    s = make_tables(b);
  if (!s)
    s = make_spectra(b, kernels, k);
  if (!s)
    s = make_kernel(b);
  if (s) {
    kugel__conv_boxes_destroy(b);
    return s;
  }
  *out = b;
  return KUGEL_OK;
}

void kugel__conv_boxes_destroy(kugel__conv_boxes *b)
{
  if (!b)
    return;
  kugel_ctx *ctx = b->p->ctx;
  kugel__device *dev = kugel__ctx_device(ctx);
  for (int d = 0; d < b->p->ndim; d++)
    kugel__fft_gpu_destroy(b->line[d]);
  kugel__device_free(dev, b->tables);
  kugel__device_free(dev, b->spectra);
  kugel__gpu_work_free(dev, &b->work);
  kugel__module_put(b->module);
  kugel__free(ctx, b);
}

/* ---- execution ---- */

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
  int64_t size = b->p->opts.single_precision ? 8 : 16;
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
  kugel__gpu_work_give(dev, &b->work, &work);
  return s;
}
