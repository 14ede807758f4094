/* SPDX-License-Identifier: BSD-3-Clause */
/* kugel nufft: non-uniform Fourier transforms of NPY arrays. */
#include <math.h>
#include <string.h>
#include <kugel/nufft.h>
#include "commands.h"
#include "common/outputs.h"
#include "common/progress.h"
#include "fft/ndarray.h"

#define NUFFT_OPTIONS(X)                                                                                     \
  X(points, 0, ARG_OPERAND, "POINTS", NULL, 1, 1, "coordinates of M points, M x dimensions (NPY)")           \
  X(values, 0, ARG_OPERAND, "VALUES", NULL, 1, 1,                                                            \
    "strengths, one or more rows of M, or modes (NPY); first axes are a batch")                              \
  X(output, 0, ARG_OPERAND, "OUTPUT", NULL, 1, 1, "array to write (NPY)")                                    \
  X(type, 't', ARG_CHOICE, "1|2|3", "1", 0, 0,                                                               \
    "1: points to modes; 2: modes to points; 3: points to --frequencies")                                    \
  X(modes, 'm', ARG_TEXT, "N,N", NULL, 0, 0, "type 1: numbers of modes, one for each dimension")             \
  X(frequencies, 'f', ARG_INPUT, "FILE", NULL, 0, 0, "type 3: frequencies, K x dimensions (NPY)")            \
  X(eps, 'e', ARG_REAL, "TOLERANCE", NULL, 1e-14, 0.1,                                                       \
    "relative error; 1e-9, or 1e-6 for float values, when not given")                                        \
  X(sign, 's', ARG_CHOICE, "default|plus|minus", "default", 0, 0,                                            \
    "of the exponent; plus for types 1 and 3 and minus for type 2 when not given")                           \
  X(fft_order, 0, ARG_FLAG, NULL, NULL, 0, 0, "modes in the order 0, 1, ..., -1 instead of -n/2, ...")       \
  X(period, 0, ARG_REAL, "P", NULL, 1e-100, 1e100, "of the coordinates; 2 pi when not given")

OPTIONS(nufft, NUFFT_OPTIONS);

typedef struct task {
  const nufft_args *o;
  ndarray x, s, in, out;
  int ndim;
  int64_t n[MAX_NDIM];
  kugel_nufft *plan;
  kugel_nufft_points *points;
} task;

static void task_close(task *t)
{
  ndarray_close(&t->x);
  ndarray_close(&t->s);
  ndarray_close(&t->in);
  ndarray_close(&t->out);
  kugel_nufft_points_destroy(t->points);
  kugel_nufft_destroy(t->plan);
}

static int type_of(const task *t)
{
  return (int)t->o->type.n + 1;
}

static int take_places(ndarray *a, const char *path, int ndim)
{
  STEP(ndarray_open(a, path));
  if (a->is_complex || a->number != NUMBER_PLAIN || a->ndim > 2 || (a->ndim == 2 && a->shape[1] > 3))
    return fail("%s: coordinates must be reals, in an array of one row for each point and 1 to 3 columns",
                path);
  if (a->ndim == 1) {
    a->ndim = 2;
    a->shape[1] = 1;
  }
  if (ndim && a->shape[1] != ndim)
    return fail("%s has %lld columns, points have %d", path, (long long)a->shape[1], ndim);
  return EXIT_DONE;
}

static int take_modes(task *t)
{
  int type = type_of(t), count = 0;
  if ((type == 1) != t->o->modes.given)
    return fail_usage(type == 1 ? "--type 1 needs --modes" : "--modes goes with --type 1");
  if ((type == 3) != t->o->frequencies.given)
    return fail_usage(type == 3 ? "--type 3 needs --frequencies" : "--frequencies goes with --type 3");
  if (type == 3 && (t->o->fft_order.given || t->o->period.given))
    return fail_usage("--fft-order and --period do not go with --type 3");
  if (type == 1) {
    STEP(numbers_parse("--modes", t->o->modes.s, t->n, &count));
    if (count != t->ndim)
      return fail_usage("--modes %s: %d numbers, points have %d dimensions", t->o->modes.s, count, t->ndim);
  }
  return EXIT_DONE;
}

/* Shapes: [batch..., M] to [batch..., n...], back, or to [batch..., K]. */
static int take_values(task *t)
{
  int type = type_of(t), own = type == 2 ? t->ndim : 1;
  STEP(ndarray_open(&t->in, t->o->values.s));
  int lead = t->in.ndim - own;
  if (t->in.number != NUMBER_PLAIN || lead < 0 || lead + t->ndim > MAX_NDIM)
    return fail("%s must hold floats or doubles, with %d to %d axes", t->in.path, own,
                MAX_NDIM - t->ndim + own);
  if (type != 2 && t->in.shape[lead] != t->x.shape[0])
    return fail("%s has %lld values in a row, %s has %lld points", t->in.path, (long long)t->in.shape[lead],
                t->x.path, (long long)t->x.shape[0]);
  t->in.is_complex = true;
  t->out = t->in;
  if (type == 2)
    memcpy(t->n, t->in.shape + lead, sizeof(int64_t) * (size_t)t->ndim);
  t->out.ndim = lead + (type == 1 ? t->ndim : 1);
  t->out.shape[lead] = type == 2 ? t->x.shape[0] : t->s.shape[0];
  for (int d = 0; type == 1 && d < t->ndim; d++)
    t->out.shape[lead + d] = t->n[d];
  return EXIT_DONE;
}

static int make_plan(task *t)
{
  const nufft_args *o = t->o;
  double modes = 1, period[3] = {o->period.x, o->period.x, o->period.x};
  for (int d = 0; d < t->ndim && type_of(t) != 3; d++)
    modes *= (double)t->n[d];
  kugel_nufft_opts opts = {.size = sizeof opts,
                           .type = (kugel_nufft_type)type_of(t),
                           .sign = o->sign.n == 0   ? 0
                                   : o->sign.n == 1 ? KUGEL_INVERSE
                                                    : KUGEL_FORWARD,
                           .precision = t->in.single ? KUGEL_PRECISION_F32 : KUGEL_PRECISION_F64,
                           .tolerance = o->eps.given ? o->eps.x : 0,
                           .fft_order = o->fft_order.given,
                           .period = o->period.given ? period : NULL,
                           .density = fmin(1e12, (double)t->x.shape[0] / modes)};
  LIB(kugel_nufft_create(NULL, t->ndim, type_of(t) == 3 ? NULL : t->n, &opts, &t->plan));
  return EXIT_DONE;
}

static void report_task(const task *t)
{
  char text[200];
  report_title(t->o->values.s, t->o->output.s);
  json_number("type", type_of(t));
  json_number("points", (double)t->x.shape[0]);
  ndarray_json(&t->in, "input");
  ndarray_json(&t->out, "output");
  fact("points", "%lld in %d dimensions", (long long)t->x.shape[0], t->ndim);
  fact("input", "%s", ndarray_text(&t->in, text, sizeof text));
  fact("output", "%s", ndarray_text(&t->out, text, sizeof text));
}

/* Of the fine grid, about twice the modes, and 500 ns for a point. */
static int estimate(const task *t)
{
  kugel_nufft_info info = {.size = sizeof info};
  LIB(kugel_nufft_get_info(t->plan, &info));
  double bytes =
      ndarray_bytes(&t->in) + ndarray_bytes(&t->out) + 3 * ndarray_bytes(&t->x) + (double)info.bytes;
  double rows = ndarray_bytes(type_of(t) == 2 ? &t->out : &t->in) / (t->in.single ? 8 : 16);
  return report_plan(bytes + BASE_MEMORY, 5e-7 * rows + 1e-9 * (double)info.bytes);
}

static int transform(task *t, stopwatch *watch)
{
  kugel_array x = ndarray_view(&t->x), in = ndarray_view(&t->in), out = ndarray_view(&t->out);
  progress_part(0.05, 0.3, "sorting points");
  if (type_of(t) == 3) {
    kugel_array s = ndarray_view(&t->s);
    LIB(kugel_nufft_frequencies_create(t->plan, &x, &s, &t->points));
  } else
    LIB(kugel_nufft_points_create(t->plan, &x, &t->points));
  stopwatch_lap(watch, "points");
  progress_part(0.3, 1, "transform");
  LIB(kugel_nufft_execute(t->points, &in, &out, NULL));
  stopwatch_lap(watch, "transform");
  return EXIT_DONE;
}

static int nufft(const void *args)
{
  const nufft_args *o = args;
  stopwatch watch = stopwatch_start();
  __attribute__((cleanup(task_close))) task t = {.o = o};
  STEP(take_places(&t.x, o->points.s, 0));
  t.ndim = (int)t.x.shape[1];
  STEP(take_modes(&t));
  if (o->frequencies.given)
    STEP(take_places(&t.s, o->frequencies.s, t.ndim));
  STEP(take_values(&t));
  report_task(&t);
  STEP(make_plan(&t));
  if (run.dry_run)
    return estimate(&t);
  STEP(check_output(o->output.s));
  stopwatch_lap(&watch, "plan");
  STEP(ndarray_read(&t.x));
  STEP(ndarray_read(&t.in));
  if (o->frequencies.given)
    STEP(ndarray_read(&t.s));
  STEP(ndarray_make(&t.out));
  stopwatch_lap(&watch, "read");
  STEP(transform(&t, &watch));
  STEP(ndarray_write(&t.out, o->output.s));
  stopwatch_lap(&watch, "write");
  report_end(&watch, 0);
  return EXIT_DONE;
}

const command command_nufft = {
    .name = "nufft",
    .summary = "Fourier transforms between points at any places and modes",
    .about = "Transforms strengths at points to modes (type 1), modes to values at points (type 2), or "
             "strengths at points "
             "to any frequencies (type 3), in 1 to 3 dimensions. Coordinates are radians. Float or complex64 "
             "values give a "
             "float transform.",
    .examples = "kugel nufft points.npy strengths.npy modes.npy --modes 512,512\n"
                "kugel nufft points.npy modes.npy values.npy --type 2 --eps 1e-6\n"
                "kugel nufft points.npy strengths.npy sums.npy --type 3 --frequencies s.npy",
    .options = nufft_options,
    .n_options = sizeof nufft_options / sizeof nufft_options[0],
    .run = nufft,
};
