/* SPDX-License-Identifier: BSD-3-Clause */
/* kugel fft: Fourier, cosine and sine transforms of NPY arrays; kernels.c has the rest. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "commands.h"
#include "fft/job.h"

OPTIONS_TABLE(fft, FFT_OPTIONS);

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

static int fft(const void *args)
{
  const fft_args *o = args;
  stopwatch watch = stopwatch_start();
  __attribute__((cleanup(job_close))) job j = {.o = o, .kind = (kugel_fft_kind)o->kind.n};
  j.sign = o->inverse.given ? KUGEL_INVERSE : KUGEL_FORWARD;
  STEP(take_input(&j));
  STEP(take_axes(&j));
  STEP(take_shapes(&j));
  if (o->print_kernel.given)
    return fft_print_kernels(&j);
  report_job(&j);
  STEP(fft_device(&j, ndarray_bytes(&j.in) + ndarray_bytes(&j.out)));
  STEP(fft_plan(&j));
  double seconds = 0;
  if (run.dry_run) {
    STEP(fft_seconds(&j, &seconds));
    return report_plan(ndarray_bytes(&j.in) + ndarray_bytes(&j.out) + BASE_MEMORY, seconds);
  }
  STEP(check_output(o->output.s));
  stopwatch_lap(&watch, "plan");
  fft_costs(&j);
  STEP(ndarray_read(&j.in));
  STEP(ndarray_make(&j.out));
  fft_scale_ends(&j, &j.in, false);
  stopwatch_lap(&watch, "read");
  progress_part(0, 1, "transform");
  kugel_array in = ndarray_view(&j.in), out = ndarray_view(&j.out);
  LIB(kugel_fft_execute(j.plan, j.sign, &in, &out, NULL));
  fft_scale_ends(&j, &j.out, true);
  stopwatch_lap(&watch, "transform");
  STEP(ndarray_write(&j.out, o->output.s));
  stopwatch_lap(&watch, "write");
  report_end(&watch, 0);
  return EXIT_DONE;
}

const command command_fft = {
    .name = "fft",
    .summary = "Fourier, cosine and sine transforms of arrays",
    .about = "Transforms a NPY array along some or all of its axes, for any lengths, with the scalings of "
             "scipy.fft. kugel convolve convolves. On a device, --print-kernel shows the kernels that "
             "were generated for it.",
    .examples = "kugel fft x.npy y.npy\n"
                "kugel fft image.npy spectrum.npy --kind r2c --axes 0,1\n"
                "kugel fft spectrum.npy image.npy --kind r2c --inverse\n"
                "kugel fft x.npy y.npy --kind dct2 --norm ortho --axes -1\n"
                "kugel fft --print-kernel --shape 1000,4096 --axes 1 --precision f32 --device opencl:0",
    .options = fft_options,
    .n_options = sizeof fft_options / sizeof fft_options[0],
    .run = fft,
};
