/* SPDX-License-Identifier: BSD-3-Clause */
/* kugel fft: Fourier, cosine and sine transforms and convolutions of NPY arrays; the source of the kernels
 * that do the transforms. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "commands.h"
#include "ndarray.h"

#define FFT_OPTIONS(X)                                                                                       \
  X(input, 0, ARG_OPERAND, "INPUT", NULL, 0, 1, "array to transform (NPY)")                                  \
  X(output, 0, ARG_OPERAND, "OUTPUT", NULL, 0, 1, "array to write (NPY)")                                    \
  X(kind, 'k', ARG_CHOICE, "c2c|r2c|dct1|dct2|dct3|dct4|dst1|dst2|dst3|dst4", "c2c", 0, 0,                   \
    "which transform; r2c halves the last axis, and its inverse is complex to real")                         \
  X(inverse, 'i', ARG_FLAG, NULL, NULL, 0, 0, "the inverse")                                                 \
  X(axes, 'a', ARG_TEXT, "N,N", NULL, 0, 0,                                                                  \
    "axes to transform, negative ones counted from the last; all when not given")                            \
  X(norm, 0, ARG_CHOICE, "backward|ortho|forward", "backward", 0, 0,                                         \
    "which direction divides: the inverse, both by the root, or forward")                                    \
  X(length, 'l', ARG_INT, "N", NULL, 1, 1e12,                                                                \
    "inverse of r2c: length of the last axis of the result; 2 (m - 1) for m complex numbers when not given") \
  X(precision, 'p', ARG_CHOICE, "file|f32|f64|dd|half", "file", 0, 0,                                        \
    "file: float32, complex64 and float16 stay what they are, all else is double; dd: about 31 digits, "     \
    "files have a last axis of 2 more for high and low parts; half: float16, complex numbers with a last "   \
    "axis of 2 more for real and imaginary parts")                                                           \
  X(convolve, 0, ARG_TEXT, "KERNEL", NULL, 0, 0, "convolve with this array (NPY) instead, along --axes")     \
  X(correlate, 0, ARG_TEXT, "KERNEL", NULL, 0, 0, "cross-correlate with this array (NPY) instead")           \
  X(extent, 0, ARG_CHOICE, "full|same|valid", "full", 0, 0,                                                  \
    "with --convolve or --correlate: all results, as many as data, or those that no end of the data "        \
    "touches")                                                                                               \
  X(circular, 0, ARG_FLAG, NULL, NULL, 0, 0, "with --convolve or --correlate: the data are periodic")        \
  X(effort, 0, ARG_CHOICE, "estimate|measure", "estimate", 0, 0,                                             \
    "on devices: choose kernels by a model, or time some and remember the fastest")                          \
  DEVICE_OPTION(X)                                                                                           \
  X(print_kernel, 0, ARG_FLAG, NULL, NULL, 0, 0,                                                             \
    "print the source of the kernels generated for the device, and transform nothing")                       \
  X(shape, 's', ARG_TEXT, "N,N", NULL, 0, 0, "with --print-kernel: the array's shape, instead of INPUT")

OPTIONS(fft, FFT_OPTIONS);

typedef struct job {
  const fft_args *o;
  kugel_fft_kind kind;
  int sign, naxes, axes[MAX_NDIM];
  ndarray in, out;
  int64_t n[MAX_NDIM]; /* of the array that forward starts from */
  kugel_fft *plan;
  kugel_fft_hook hook[2 * MAX_NDIM]; /* with --norm ortho */
  kugel_array factor[2 * MAX_NDIM];
  int hooks;
} job;

enum { BACKWARD, ORTHO }; /* --norm */

static void job_close(job *j)
{
  ndarray_close(&j->in);
  ndarray_close(&j->out);
  kugel_fft_destroy(j->plan);
  for (int i = 0; i < j->hooks; i++)
    free(j->factor[i].data);
}

static int take_axes(job *j)
{
  int64_t list[MAX_NDIM];
  j->naxes = j->in.ndim;
  for (int i = 0; i < j->naxes; i++)
    j->axes[i] = i;
  if (!j->o->axes.given)
    return EXIT_DONE;
  STEP(numbers_parse("--axes", j->o->axes.s, list, &j->naxes));
  for (int i = 0; i < j->naxes; i++) {
    int64_t a = list[i] < 0 ? list[i] + j->in.ndim : list[i];
    if (a < 0 || a >= j->in.ndim)
      return fail_usage("--axes %s: axis %lld, but the array has %d dimensions", j->o->axes.s,
                        (long long)list[i], j->in.ndim);
    for (int k = 0; k < i; k++)
      if (j->axes[k] == a)
        return fail_usage("--axes %s: axis %lld twice", j->o->axes.s, (long long)list[i]);
    j->axes[i] = (int)a;
  }
  return EXIT_DONE;
}

/* Before the kind is known to fit: whether numbers are complex is a matter of the transform. */
static int take_precision(job *j)
{
  enum { AS_FILE, F32, F64, DD, HALF };
  const fft_args *o = j->o;
  bool back = j->sign == KUGEL_INVERSE;
  int wanted = (int)o->precision.n;
  if (wanted) {
    bool halves = j->in.number == NUMBER_HALF;
    if (o->input.given && halves != (wanted == HALF))
      return fail("%s holds %s: --precision %s needs others", j->in.path, halves ? "halves" : "no halves",
                  o->precision.s);
    j->in.single = wanted == F32;
    j->in.number = wanted == DD ? NUMBER_DOUBLE_DOUBLE : wanted == HALF ? NUMBER_HALF : NUMBER_PLAIN;
  }
  if (j->in.number != NUMBER_PLAIN && (o->convolve.given || o->correlate.given))
    return fail_usage("--convolve and --correlate take float and double alone");
  if (j->in.number == NUMBER_HALF)
    j->in.is_complex = j->kind == KUGEL_FFT_C2C || (j->kind == KUGEL_FFT_R2C && back);
  return o->input.given ? ndarray_take_parts(&j->in) : EXIT_DONE;
}

static int take_input(job *j)
{
  const fft_args *o = j->o;
  if (o->shape.given && !o->print_kernel.given)
    return fail_usage("--shape goes with --print-kernel");
  if (o->shape.given == o->input.given)
    return o->shape.given ? fail_usage("give either INPUT or --shape")
                          : fail_usage("INPUT is missing; see kugel fft --help");
  if (!o->output.given && !o->print_kernel.given)
    return fail_usage("OUTPUT is missing; see kugel fft --help");
  if (o->input.given)
    STEP(ndarray_open(&j->in, o->input.s));
  else
    STEP(numbers_parse("--shape", o->shape.s, j->in.shape, &j->in.ndim));
  for (int i = 0; i < j->in.ndim; i++)
    if (j->in.shape[i] < 1 || j->in.shape[i] > (int64_t)1 << 40)
      return fail_usage("--shape %s: extents must be from 1 to 2^40", o->shape.s);
  if (o->print_kernel.given && !strcmp(o->device.s, "cpu"))
    return fail_usage("--print-kernel: kernels are generated for devices; add --device cuda:0 or opencl:0");
  return take_precision(j);
}

/* Types and shapes of both arrays from kind and direction. */
static int take_shapes(job *j)
{
  int last = j->axes[j->naxes - 1];
  bool r2c = j->kind == KUGEL_FFT_R2C, c2c = j->kind == KUGEL_FFT_C2C, back = j->sign == KUGEL_INVERSE;
  if (j->in.is_complex && !c2c && !(r2c && back))
    return fail("%s holds complex numbers, %s%s takes reals", j->o->input.s, back ? "the inverse of " : "",
                j->o->kind.s);
  if (j->o->length.given && !(r2c && back))
    return fail_usage("--length goes with --kind r2c --inverse");
  j->in.is_complex = c2c || (r2c && back);
  memcpy(j->n, j->in.shape, sizeof j->n);
  if (r2c && back) {
    j->n[last] = j->o->length.given ? j->o->length.n : 2 * (j->in.shape[last] - 1);
    if (j->n[last] < 1 || j->n[last] / 2 + 1 != j->in.shape[last])
      return fail_usage(
          "a result of length %lld comes from %lld complex numbers, the input has %lld: give --length",
          (long long)j->n[last], (long long)(j->n[last] / 2 + 1), (long long)j->in.shape[last]);
  }
  j->out = j->in;
  j->out.is_complex = c2c || (r2c && !back);
  memcpy(j->out.shape, j->n, sizeof j->n);
  if (r2c && !back)
    j->out.shape[last] = j->n[last] / 2 + 1;
  return EXIT_DONE;
}

/* 1 / gain or 1 / sqrt(gain) as a sum of two doubles. */
static void reciprocal(double gain, bool root, double *hi, double *lo)
{
  *hi = root ? 1 / sqrt(gain) : 1 / gain;
  if (!root) {
    *lo = fma(-*hi, gain, 1) / gain;
    return;
  }
  double square = *hi * *hi, rest = fma(*hi, *hi, -square), product = gain * square;
  rest = 1 - product - fma(gain, square, -product) - gain * rest; /* 1 - gain hi^2 */
  *lo = *hi * rest / 2;
}

/* What makes cosine and sine transforms orthogonal beside the factor: sqrt(2) at an end of the input or of
 * the output. */
static bool orthogonal_end(const job *j, bool of_output, bool last_end)
{
  static const struct {
    kugel_fft_kind kind;
    bool output, last_end; /* of the forward transform */
  } ends[] = {{KUGEL_FFT_DCT1, false, false}, {KUGEL_FFT_DCT1, false, true}, {KUGEL_FFT_DCT1, true, false},
              {KUGEL_FFT_DCT1, true, true},   {KUGEL_FFT_DCT2, true, false}, {KUGEL_FFT_DCT3, false, false},
              {KUGEL_FFT_DST2, true, true},   {KUGEL_FFT_DST3, false, true}};
  bool forward_output = of_output != (j->sign == KUGEL_INVERSE);
  for (size_t i = 0; i < sizeof ends / sizeof ends[0] && j->o->norm.n == ORTHO; i++)
    if (ends[i].kind == j->kind && ends[i].output == forward_output && ends[i].last_end == last_end)
      return true;
  return false;
}

/* The factors of one axis as the plan's own, on the way from or to memory. */
static int add_hook(job *j, int axis, bool of_output)
{
  bool first = orthogonal_end(j, of_output, false), last = orthogonal_end(j, of_output, true);
  if (!first && !last)
    return EXIT_DONE;
  int64_t n = j->n[axis];
  double factor = of_output ? sqrt(0.5) : sqrt(2), *f = malloc((size_t)n * sizeof *f);
  if (!f)
    return fail("no memory for %lld factors", (long long)n);
  for (int64_t i = 0; i < n; i++)
    f[i] = 1;
  f[0] *= first ? factor : 1;
  f[n - 1] *= last ? factor : 1;
  int i = j->hooks++;
  j->factor[i] =
      (kugel_array){.data = f, .device = {KUGEL_CPU, 0}, .ndim = 1, .dtype = KUGEL_F64, .shape = &j->n[axis]};
  j->hook[i] = (kugel_fft_hook){j->sign, of_output, axis, &j->factor[i]};
  return EXIT_DONE;
}

/* The scalings of scipy.fft and numpy.fft. */
static int make_plan(job *j)
{
  static const kugel_fft_precision precisions[] = {KUGEL_FFT_F64, KUGEL_FFT_F16, KUGEL_FFT_DD};
  for (int i = 0; i < 2 * j->naxes && j->in.number != NUMBER_DOUBLE_DOUBLE; i++)
    STEP(add_hook(j, j->axes[i / 2], i % 2));
  kugel_fft_opts opts = {.size = sizeof opts,
                         .kind = j->kind,
                         .precision = j->in.single ? KUGEL_FFT_F32 : precisions[j->in.number],
                         .naxes = j->naxes,
                         .axes = j->axes,
                         .nhooks = j->hooks,
                         .hooks = j->hook,
                         .effort = (kugel_fft_effort)j->o->effort.n};
  LIB(kugel_fft_create(run.ctx, j->in.ndim, j->n, &opts, &j->plan));
  double gain = kugel_fft_gain(j->plan), low;
  bool divides = (j->sign == KUGEL_INVERSE) == (j->o->norm.n == BACKWARD);
  if (gain == 1 || (j->o->norm.n != ORTHO && !divides))
    return EXIT_DONE;
  kugel_fft_destroy(j->plan);
  j->plan = NULL;
  reciprocal(gain, j->o->norm.n == ORTHO, &opts.forward_scale, &low);
  opts.inverse_scale = opts.forward_scale;
  if (j->in.number == NUMBER_DOUBLE_DOUBLE)
    opts.forward_scale_low = opts.inverse_scale_low = low;
  LIB(kugel_fft_create(run.ctx, j->in.ndim, j->n, &opts, &j->plan));
  return EXIT_DONE;
}

/* x times the root of 2 or of 1 / 2, x = hi + lo. */
static void scale_double_double(double *x, bool half)
{
  double root = half ? 0x1.6a09e667f3bcdp-1 : 0x1.6a09e667f3bcdp+0;
  double rest = half ? -0x1.bdd3413b26456p-55 : -0x1.bdd3413b26456p-54;
  double p = x[0] * root, e = fma(x[0], root, -p) + (x[0] * rest + x[1] * root);
  x[0] = p + e;
  x[1] = e - (x[0] - p);
}

/* Double-doubles, to which factors of plans would be too coarse, in memory. */
static void scale_ends(job *j, ndarray *a, bool of_output)
{
  for (int i = 0; i < 2 * j->naxes && a->number == NUMBER_DOUBLE_DOUBLE; i++) {
    int axis = j->axes[i / 2];
    int64_t inner = 1, outer = 1, n = a->shape[axis], at = i % 2 ? n - 1 : 0;
    if (!orthogonal_end(j, of_output, i % 2))
      continue;
    for (int d = 0; d < a->ndim; d++) {
      inner *= d > axis ? a->shape[d] : 1;
      outer *= d < axis ? a->shape[d] : 1;
    }
    for (int64_t o = 0; o < outer; o++)
      for (int64_t k = (o * n + at) * inner; k < (o * n + at + 1) * inner; k++)
        scale_double_double((double *)a->data + 2 * k, of_output);
  }
}

static int print_kernels(job *j)
{
  LIB(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = j->o->device.s},
                       &run.ctx));
  STEP(make_plan(j));
  json_array("kernels");
  for (int i = 0; i < kugel_fft_kernel_count(j->plan) || i == 0; i++) {
    size_t length;
    LIB(kugel_fft_kernel_source(j->plan, j->sign, i, 0, NULL, &length));
    OWNED char *text = malloc(length + 1);
    if (!text)
      return fail("no memory for %zu characters", length);
    LIB(kugel_fft_kernel_source(j->plan, j->sign, i, length + 1, text, NULL));
    json_text(NULL, text);
    say("%s%s", i ? "\n" : "", text);
  }
  json_end();
  return EXIT_DONE;
}

/* Seconds of the work, from a transform of 16 times 4096 points on this machine's CPU. */
static int expected_seconds(const job *j, double *seconds)
{
  enum { N = 4096, BATCH = 16 };
  kugel_fft *plan = NULL;
  OWNED double *x = calloc(2 * N * BATCH, sizeof *x);
  if (!x)
    return fail("no memory for a transform of %d points", N);
  LIB(kugel_fft_create(NULL, 1, &(int64_t){N}, NULL, &plan));
  kugel_status status = KUGEL_OK;
  *seconds = INFINITY;
  for (int i = 0; i < 4 && !status; i++) {
    double start = now();
    status = kugel_fft_execute(plan, KUGEL_FORWARD, KUGEL_ARRAY(x, KUGEL_C128, BATCH, N),
                               KUGEL_ARRAY(x, KUGEL_C128, BATCH, N));
    *seconds = fmin(*seconds, now() - start);
  }
  kugel_fft_destroy(plan);
  LIB(status);
  double stages = 0, count = (double)ndarray_count(&j->in);
  for (int i = 0; i < j->naxes; i++)
    stages += log2((double)j->n[j->axes[i]] + 1);
  *seconds *= count * stages / (N * BATCH * log2(N)) * (j->in.is_complex && j->out.is_complex ? 1 : 0.6);
  return EXIT_DONE;
}

static void report_job(const job *j)
{
  char text[200];
  report_title(j->o->input.s, j->o->output.s);
  json_text("kind", j->o->kind.s);
  json_flag("inverse", j->sign == KUGEL_INVERSE);
  ndarray_json(&j->in, "input");
  ndarray_json(&j->out, "output");
  fact("input", "%s", ndarray_text(&j->in, text, sizeof text));
  fact("output", "%s", ndarray_text(&j->out, text, sizeof text));
  fact("transform", "%s%s, %s", j->sign == KUGEL_INVERSE ? "inverse of " : "", j->o->kind.s,
       j->o->axes.given ? "some axes" : "all axes");
}

/* ---- convolution --------------------------------------------------------------------------------------- */

typedef struct convolution {
  ndarray in, kernel, out;
  kugel_conv *plan;
} convolution;

static void convolution_close(convolution *c)
{
  ndarray_close(&c->in);
  ndarray_close(&c->kernel);
  ndarray_close(&c->out);
  kugel_conv_destroy(c->plan);
}

/* The kernel has as many dimensions as there are axes, which must be the last of the data. */
static int open_convolution(const job *j, convolution *c)
{
  const fft_args *o = j->o;
  STEP(ndarray_open(&c->kernel, o->convolve.given ? o->convolve.s : o->correlate.s));
  c->in = j->in;
  if (c->kernel.number == NUMBER_HALF)
    return fail("%s holds halves, float or double is needed", c->kernel.path);
  if (c->kernel.ndim != j->naxes)
    return fail_usage("%s has %d dimensions, but there are %d axes; choose them by --axes", c->kernel.path,
                      c->kernel.ndim, j->naxes);
  for (int i = 0; i < j->naxes; i++)
    if (j->axes[i] != j->in.ndim - j->naxes + i)
      return fail_usage("--axes %s: convolution takes the last axes, in order", o->axes.s);
  c->in.is_complex |= c->kernel.is_complex;
  c->kernel.single = c->in.single;
  return EXIT_DONE;
}

static int plan_convolution(const job *j, convolution *c)
{
  const fft_args *o = j->o;
  int lead = c->in.ndim - c->kernel.ndim;
  kugel_conv_opts opts = {.size = sizeof opts,
                          .extent = (kugel_conv_extent)o->extent.n,
                          .circular = o->circular.given,
                          .correlate = o->correlate.given,
                          .complex_data = c->in.is_complex,
                          .single_precision = c->in.single};
  STEP(ndarray_read(&c->kernel));
  kugel_array kernel = ndarray_view(&c->kernel);
  LIB(kugel_conv_create(run.ctx, c->kernel.ndim, c->in.shape + lead, c->kernel.shape, &kernel, &opts,
                        &c->plan));
  c->out = c->in;
  LIB(kugel_conv_shape(c->plan, c->out.shape + lead));
  ndarray_json(&c->in, "input");
  ndarray_json(&c->kernel, "kernel");
  ndarray_json(&c->out, "output");
  return EXIT_DONE;
}

static int convolve(job *j, stopwatch *watch)
{
  const fft_args *o = j->o;
  __attribute__((cleanup(convolution_close))) convolution c = {0};
  char text[200];
  double seconds = 0;
  if (o->kind.given || o->inverse.given || o->norm.given || o->length.given || o->print_kernel.given)
    return fail_usage(
        "--convolve and --correlate take no --kind, --inverse, --norm, --length or --print-kernel");
  STEP(open_convolution(j, &c));
  report_title(o->input.s, o->output.s);
  json_text("kind", o->convolve.given ? "convolve" : "correlate");
  STEP(session_device(&o->device, NULL));
  STEP(plan_convolution(j, &c));
  fact("input", "%s", ndarray_text(&c.in, text, sizeof text));
  fact("kernel", "%s", ndarray_text(&c.kernel, text, sizeof text));
  fact("output", "%s", ndarray_text(&c.out, text, sizeof text));
  if (run.dry_run) {
    memcpy(j->n, c.out.shape, sizeof j->n);
    STEP(expected_seconds(j, &seconds));
    return report_plan(ndarray_bytes(&c.in) + ndarray_bytes(&c.out) + ndarray_bytes(&c.kernel) + BASE_MEMORY,
                       2 * seconds);
  }
  STEP(check_output(o->output.s));
  stopwatch_lap(watch, "plan");
  STEP(ndarray_read(&c.in));
  STEP(ndarray_make(&c.out));
  stopwatch_lap(watch, "read");
  progress_part(0, 1, "convolution");
  kugel_array in = ndarray_view(&c.in), out = ndarray_view(&c.out);
  LIB(kugel_conv_execute(c.plan, &in, &out, NULL));
  stopwatch_lap(watch, "transform");
  STEP(ndarray_write(&c.out, o->output.s));
  stopwatch_lap(watch, "write");
  report_end(watch, 0);
  return EXIT_DONE;
}

/* ---- the command --------------------------------------------------------------------------------------- */

static int fft(const void *args)
{
  const fft_args *o = args;
  stopwatch watch = stopwatch_start();
  __attribute__((cleanup(job_close))) job j = {.o = o, .kind = (kugel_fft_kind)o->kind.n};
  j.sign = o->inverse.given ? KUGEL_INVERSE : KUGEL_FORWARD;
  STEP(take_input(&j));
  STEP(take_axes(&j));
  if (o->convolve.given && o->correlate.given)
    return fail_usage("give either --convolve or --correlate");
  if (o->convolve.given || o->correlate.given)
    return convolve(&j, &watch);
  if (o->extent.given || o->circular.given)
    return fail_usage("--extent and --circular go with --convolve or --correlate");
  STEP(take_shapes(&j));
  if (o->print_kernel.given)
    return print_kernels(&j);
  report_job(&j);
  STEP(session_device(&o->device, NULL));
  STEP(make_plan(&j));
  double seconds = 0;
  if (run.dry_run) {
    STEP(expected_seconds(&j, &seconds));
    return report_plan(ndarray_bytes(&j.in) + ndarray_bytes(&j.out) + BASE_MEMORY, seconds);
  }
  STEP(check_output(o->output.s));
  stopwatch_lap(&watch, "plan");
  STEP(ndarray_read(&j.in));
  STEP(ndarray_make(&j.out));
  scale_ends(&j, &j.in, false);
  stopwatch_lap(&watch, "read");
  progress_part(0, 1, "transform");
  kugel_array in = ndarray_view(&j.in), out = ndarray_view(&j.out);
  LIB(kugel_fft_execute(j.plan, j.sign, &in, &out));
  scale_ends(&j, &j.out, true);
  stopwatch_lap(&watch, "transform");
  STEP(ndarray_write(&j.out, o->output.s));
  stopwatch_lap(&watch, "write");
  report_end(&watch, 0);
  return EXIT_DONE;
}

const command command_fft = {
    .name = "fft",
    .summary = "Fourier transforms and convolutions of arrays",
    .about = "Transforms a NPY array along some or all of its axes, for any lengths, with the scalings of "
             "scipy.fft; or convolves it with a kernel. On a device, --print-kernel shows the kernels that "
             "were generated for it.",
    .examples = "kugel fft x.npy y.npy\n"
                "kugel fft image.npy spectrum.npy --kind r2c --axes 0,1\n"
                "kugel fft spectrum.npy image.npy --kind r2c --inverse\n"
                "kugel fft image.npy blurred.npy --convolve psf.npy --extent same\n"
                "kugel fft x.npy y.npy --kind dct2 --norm ortho --axes -1\n"
                "kugel fft --print-kernel --shape 1000,4096 --axes 1 --precision f32 --device opencl:0",
    .options = fft_options,
    .n_options = sizeof fft_options / sizeof fft_options[0],
    .run = fft,
};
