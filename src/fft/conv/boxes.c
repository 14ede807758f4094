/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans of convolutions of whole arrays on devices: lengths, tables, the kernels' spectra, kernels. */
#include "fft/conv/boxes.h"
#include <stdio.h>
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "fft/gpu/block_tables.h"

enum { MOST_FUSED = 8 }; // inputs that one kernel sums

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
                                .f32 = p->opts.precision == KUGEL_PRECISION_F32,
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
  bool f32 = b->p->opts.precision == KUGEL_PRECISION_F32;
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
    KUGEL_TRY(kugel_fft_execute(plan, KUGEL_FORWARD, &in, &out, NULL));
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
  size_t bytes = (size_t)(b->points * p->kernels) * (p->opts.precision == KUGEL_PRECISION_F32 ? 8 : 16);
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
  return kugel__gen_print_kernel(&gen, text);
}

static kugel_status make_kernel(kugel__conv_boxes *b)
{
  bool fused = b->fused.block.m > 0;
  char name[64];
  kugel__module_spec spec = {.name = "fft/conv/product",
                             .defines = b->p->opts.precision == KUGEL_PRECISION_F32
                                            ? "#define REAL_BITS 32\n"
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
  kugel__type real = p->opts.precision == KUGEL_PRECISION_F32 ? KUGEL__F32 : KUGEL__F64;
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
