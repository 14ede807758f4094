/* SPDX-License-Identifier: BSD-3-Clause */
/* kugel fft --convolve and --correlate: convolutions of NPY arrays. */
#include <string.h>
#include "fft/job.h"

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
                          .precision = c->in.single ? KUGEL_PRECISION_F32 : KUGEL_PRECISION_F64};
  STEP(ndarray_read(&c->kernel));
  kugel_array kernel = ndarray_view(&c->kernel);
  LIB(kugel_conv_create(run.ctx, c->kernel.ndim, c->in.shape + lead, c->kernel.shape, &kernel, &opts,
                        &c->plan));
  c->out = c->in;
  kugel_conv_info info = {.size = sizeof info};
  LIB(kugel_conv_get_info(c->plan, &info));
  for (int d = 0; d < info.ndim; d++)
    c->out.shape[lead + d] = info.m[d];
  ndarray_json(&c->in, "input");
  ndarray_json(&c->kernel, "kernel");
  ndarray_json(&c->out, "output");
  return EXIT_DONE;
}

int fft_convolve(job *j, stopwatch *watch)
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
  if (o->mem.given && strcmp(o->device.s, "cpu") != 0)
    return fail_usage("--mem on a device goes with transforms: convolutions take their arrays as a whole");
  STEP(fft_device(j, 2 * ndarray_bytes(&c.in) + ndarray_bytes(&c.kernel)));
  STEP(plan_convolution(j, &c));
  fact("input", "%s", ndarray_text(&c.in, text, sizeof text));
  fact("kernel", "%s", ndarray_text(&c.kernel, text, sizeof text));
  fact("output", "%s", ndarray_text(&c.out, text, sizeof text));
  if (run.dry_run) {
    memcpy(j->n, c.out.shape, sizeof j->n);
    STEP(fft_seconds(j, &seconds));
    return report_plan(ndarray_bytes(&c.in) + ndarray_bytes(&c.out) + ndarray_bytes(&c.kernel) + BASE_MEMORY,
                       2 * seconds);
  }
  STEP(check_output(o->output.s));
  stopwatch_lap(watch, "plan");
  memcpy(j->n, c.out.shape, sizeof j->n);
  fft_costs(j, 2);
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
