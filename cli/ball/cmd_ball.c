/* SPDX-License-Identifier: BSD-3-Clause */
/* kugel ball: transforms, spectra and pictures of fields in the ball. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "ball/job.h"
#include "commands.h"

OPTIONS_TABLE(ball, BALL_OPTIONS);

static const char *const verbs[] = {"synthesis", "analysis", "spectrum", "plot"};

typedef struct job {
  const ball_args *o;
  ball_verb verb;
  kugel_ball_opts opts;
  kugel_ball *plan;
  kugel_ball_info s;
  ndarray in, out;
  int lead; /* axes of the batch */
  ball_series series;
  bool vector; /* or spin components of one */
} job;

static void job_close(job *j)
{
  ndarray_close(&j->in);
  ndarray_close(&j->out);
  kugel_ball_destroy(j->plan);
}

static int take_verb(job *j)
{
  const char *typed = j->o->verb.s;
  for (int i = 0; i < 4; i++)
    if (!strcmp(typed, verbs[i])) {
      j->verb = (ball_verb)i;
      return EXIT_DONE;
    }
  const char *near = nearest_word(typed, verbs, 4);
  return near ? fail_usage("VERB is \"%.60s\" (did you mean %s?)", typed, near)
              : fail_usage("VERB is \"%.60s\", must be synthesis, analysis, spectrum or plot", typed);
}

/* Options that a verb does not take. */
static int check_given(const job *j)
{
  const ball_args *o = j->o;
  bool analysis = j->verb == BALL_ANALYSIS, plot = j->verb == BALL_PLOT;
  if (!analysis && (o->lmax.given || o->n.given))
    return fail_usage("--lmax and --n go with analysis: of coefficients the file says them");
  if (j->verb != BALL_SYNTHESIS && (o->nr.given || o->ntheta.given || o->nphi.given))
    return fail_usage("--nr, --ntheta and --nphi go with synthesis");
  if ((o->device.given || o->mem.given) && j->verb != BALL_SYNTHESIS && !analysis)
    return fail_usage("--%s goes with synthesis and analysis", o->device.given ? "device" : "mem");
  if (j->verb != BALL_SPECTRUM && o->axis.given)
    return fail_usage("--axis goes with spectrum");
  if (!plot && (o->cut.given || o->component.given || o->radius.given || o->longitude.given ||
                o->projection.given || o->colors.given || o->min.given || o->max.given || o->unit.given))
    return fail_usage("--cut and what belongs to pictures go with plot");
  if ((o->radius.given || o->projection.given) && o->cut.n != 2)
    return fail_usage("--radius and --projection go with --cut surface");
  if (o->longitude.given && o->cut.n != 1)
    return fail_usage("--longitude goes with --cut meridional");
  if (o->spin.given && (o->vector.given || j->verb == BALL_SPECTRUM || plot))
    return fail_usage("--spin goes with synthesis and analysis, without --vector");
  return EXIT_DONE;
}

/* lmax of `rows` rows with orders to mmax, or of all orders if mmax is negative; -1: there is none. */
static int64_t degree_of(int64_t rows, int64_t mmax)
{
  int64_t l = 0, count = 1;
  while (count < rows) {
    l++;
    count += (mmax < 0 || l < mmax ? l : mmax) + 1;
  }
  return count == rows ? l : -1;
}

static int take_sizes(job *j)
{
  const ball_args *o = j->o;
  const ndarray *a = &j->in;
  ball_series *said = &j->series;
  bool values = j->verb == BALL_ANALYSIS, pairs = !values || said->kind == KUGEL_BALL_SPIN;
  int own = (values ? 3 : 2) + j->vector;
  const int64_t *last = a->shape + a->ndim - 1;
  int vector = j->vector;
  if (a->ndim < own || (vector && a->shape[a->ndim - own] != 3) || a->is_complex != pairs)
    return fail("%s must be %s[..., %s%s]: %s", a->path, pairs ? "complex " : "real ", vector ? "3, " : "",
                values ? "radii, colatitudes, longitudes" : "rows, functions of radius",
                a->is_complex != pairs ? "the numbers are of the other kind" : "the axes do not fit");
  j->lead = a->ndim - own;
  kugel_ball_opts *b = &j->opts;
  *b = (kugel_ball_opts){.size = sizeof *b,
                         .truncation = (kugel_ball_truncation)said->truncation,
                         .dmax = said->dmax,
                         .type = (kugel_worland_type)said->type,
                         .precision = a->single ? KUGEL_PRECISION_F32 : KUGEL_PRECISION_F64,
                         .vectors = vector,
                         .nr = o->nr.given ? o->nr.n : 0,
                         .ntheta = o->ntheta.given ? o->ntheta.n : 0,
                         .nphi = o->nphi.given ? o->nphi.n : 0};
  if (values) {
    b->nr = last[-2];
    b->ntheta = last[-1];
    b->nphi = last[0];
    int64_t most = said->mmax >= 0 || b->ntheta - 1 < (b->nphi - 1) / 2 ? b->ntheta - 1 : (b->nphi - 1) / 2;
    b->lmax = said->lmax >= 0 ? said->lmax : most;
    int64_t fit = b->truncation == KUGEL_BALL_RHOMBOIDAL ? b->nr - (b->lmax + vector) / 2 : b->nr - vector;
    b->n = said->n >= 1 ? said->n : fit;
    if (b->n < 1)
      return fail_usage(
          "%lld radii are too few for degrees to %lld: give a lower --lmax, or another --truncation",
          (long long)b->nr, (long long)b->lmax);
  } else {
    b->n = last[0];
    b->lmax = degree_of(last[-1], said->mmax);
    if (b->lmax < 0)
      return fail_usage("%s has %lld rows, which no highest degree gives with %s", a->path,
                        (long long)last[-1], said->mmax >= 0 ? "this mmax" : "all orders: give --mmax");
  }
  b->mmax = said->mmax < 0 ? KUGEL_ALL : said->mmax ? said->mmax : KUGEL_ONLY_M0;
  if (b->lmax == 0)
    b->mmax = KUGEL_ALL;
  return EXIT_DONE;
}

/* The result but for its numbers. */
static int shape_output(job *j)
{
  const kugel_ball_info *s = &j->s;
  j->out = j->in;
  j->out.data = NULL;
  j->out.is_complex =
      j->verb == BALL_ANALYSIS || (j->verb == BALL_SYNTHESIS && j->series.kind == KUGEL_BALL_SPIN);
  int64_t *shape = j->out.shape + j->lead;
  int vector = j->vector;
  if (j->verb == BALL_SPECTRUM) {
    shape[0] = (int64_t[]){s->lmax + 1, s->mmax + 1, s->n}[j->o->axis.n];
    j->out.ndim = j->lead + 1;
    j->out.single = false;
  } else {
    shape[0] = 3;
    shape += vector;
    int64_t values[] = {s->nr, s->ntheta, s->nphi}, coeffs[] = {s->nlm, s->n};
    int own = j->verb == BALL_ANALYSIS ? 2 : 3;
    memcpy(shape, own == 2 ? coeffs : values, (size_t)own * sizeof *shape);
    j->out.ndim = j->lead + vector + own;
    if (j->out.ndim > MAX_NDIM)
      return fail("the result has %d axes; must have 1 to %d", j->out.ndim, MAX_NDIM);
  }
  return EXIT_DONE;
}

static double work_of(const job *j)
{
  return (double)(j->vector ? j->s.vector_bytes : j->s.scalar_bytes);
}

/* What takes memory beside a transform's work space. */
static double held_by(const job *j)
{
  return ndarray_bytes(&j->in) + ndarray_bytes(&j->out) + (double)j->s.table_bytes + BASE_MEMORY;
}

static int make_plan(job *j)
{
  LIB(kugel_ball_create(run.ctx, &j->opts, &j->plan));
  LIB(kugel_ball_get_info(j->plan, &j->s));
  return shape_output(j);
}

/* The plan. On the CPU all that the command has in memory counts, which is known with the plan: one that needs too much is made again
 * with what is left for its work space, and then goes in parts, whose tables may be larger. */
static int plan_within(job *j)
{
  const arg *mem = &j->o->mem;
  char held[32], have[32], said[160];
  kugel_device_info info = {.size = sizeof info};
  LIB(kugel_ctx_describe(run.ctx, &info));
  bool cpu = info.device.type == KUGEL_CPU;
  if (mem->given)
    LIB(kugel_ctx_limit_memory(run.ctx, cpu ? 0 : (uint64_t)mem->n));
  STEP(make_plan(j));
  while (mem->given && cpu && held_by(j) + work_of(j) > (double)mem->n) {
    double left = (double)mem->n - held_by(j);
    snprintf(said, sizeof said, "input, output and tables take %s of --mem %s",
             bytes_text(held_by(j), held, sizeof held), bytes_text((double)mem->n, have, sizeof have));
    if (left < 1)
      return fail("%s: allow more, or transform fewer fields at once", said);
    kugel_ball_destroy(j->plan);
    j->plan = NULL;
    LIB(kugel_ctx_limit_memory(run.ctx, (uint64_t)left));
    kugel_status status = kugel_ball_create(run.ctx, &j->opts, &j->plan);
    if (status)
      return fail_library(status, said);
    LIB(kugel_ball_get_info(j->plan, &j->s));
  }
  return EXIT_DONE;
}

static int execute(job *j)
{
  kugel_ball_kind kind = (kugel_ball_kind)j->series.kind;
  kugel_array in = ndarray_view(&j->in), out = ndarray_view(&j->out);
  progress_part(0, 1, "transform");
  switch (j->verb) {
  case BALL_SYNTHESIS:
    LIB(kugel_ball_synthesis(j->plan, kind, &in, &out, NULL));
    break;
  case BALL_ANALYSIS:
    LIB(kugel_ball_analysis(j->plan, kind, &in, &out, NULL));
    break;
  default:
    LIB(kugel_ball_spectrum(j->plan, kind, (kugel_ball_axis)j->o->axis.n, &in, &out, NULL));
  }
  return EXIT_DONE;
}

static void report_job(const job *j)
{
  char text[200];
  report_title(j->o->input.s, j->o->output.s);
  json_text("verb", verbs[j->verb]);
  ndarray_json(&j->in, "input");
  json_int("lmax", j->s.lmax);
  json_int("mmax", j->s.mmax);
  json_int("n", j->s.n);
  fact("input", "%s", ndarray_text(&j->in, text, sizeof text));
  fact("series", "degrees to %lld, orders to %lld, %lld functions of radius", (long long)j->s.lmax,
       (long long)j->s.mmax, (long long)j->s.n);
  if (j->verb == BALL_SYNTHESIS || j->verb == BALL_ANALYSIS)
    fact("grid", "%lld radii, %lld colatitudes, %lld longitudes", (long long)j->s.nr, (long long)j->s.ntheta,
         (long long)j->s.nphi);
  if (j->o->mem.given) {
    json_int("parts", j->s.parts);
    fact("parts", "%lld", (long long)j->s.parts);
  }
}

static int ball(const void *args)
{
  const ball_args *o = args;
  stopwatch watch = stopwatch_start();
  __attribute__((cleanup(job_close))) job j = {.o = o, .s = {.size = sizeof j.s}};
  ball_series said;
  STEP(take_verb(&j));
  STEP(check_given(&j));
  size_t name = strlen(o->output.s);
  if (j.verb != BALL_PLOT && name > 4 && !strcmp(o->output.s + name - 4, ".png"))
    return fail_usage("%s writes NPY or HDF5, OUTPUT is %s: pictures are made by kugel ball plot",
                      verbs[j.verb], o->output.s);
  STEP(ball_file_open(&j.in, o->input.s, j.verb == BALL_ANALYSIS, &said));
  STEP(ball_file_merge(o, o->input.s, j.verb == BALL_ANALYSIS, &said, &j.series));
  j.vector = j.series.kind != KUGEL_BALL_SCALAR;
  if (o->component.given && !j.vector)
    return fail_usage("--component goes with --vector");
  if (j.verb == BALL_PLOT)
    j.in.single = false;
  STEP(take_sizes(&j));
  if (j.verb == BALL_PLOT && j.lead)
    return fail("a picture shows one field: %s has several", j.in.path);
  STEP(session_device(&o->device, NULL));
  STEP(plan_within(&j));
  j.series.lmax = j.s.lmax;
  j.series.mmax = j.s.mmax;
  j.series.n = j.s.n;
  report_job(&j);
  if (run.dry_run) {
    double points = (double)(j.s.nr * j.s.ntheta * j.s.nphi) * (j.vector ? 24 : 8);
    return report_plan(held_by(&j) + work_of(&j), points * (double)(j.s.lmax + 20) * 2e-10);
  }
  STEP(check_output(o->output.s));
  stopwatch_lap(&watch, "plan");
  STEP(ball_file_read(&j.in, j.verb == BALL_ANALYSIS));
  if (j.verb == BALL_PLOT) {
    STEP(ball_draw(o, &j.opts, &j.in));
    stopwatch_lap(&watch, "draw");
    report_end(&watch, 0);
    return EXIT_DONE;
  }
  STEP(ndarray_make(&j.out));
  stopwatch_lap(&watch, "read");
  STEP(execute(&j));
  stopwatch_lap(&watch, "transform");
  STEP(ball_file_write(&j.out, o->output.s, j.verb, (int)o->axis.n, &j.series, j.plan));
  stopwatch_lap(&watch, "write");
  report_end(&watch, 0);
  return EXIT_DONE;
}

const command command_ball = {
    .name = "ball",
    .summary = "transforms and pictures of fields in the full ball",
    .about =
        "Between coefficients [rows, n] of functions of radius times spherical harmonics and values [radii, "
        "colatitudes, longitudes]; rows are by degree and then order. Vectors have an axis of 3 before "
        "these. HDF5 files (.h5) say which series they hold, so that options need not. "
        "docs/ball.md says which functions, and has the same in Python.",
    .examples = "kugel ball synthesis temperature.npy values.npy --nr 64\n"
                "kugel ball synthesis velocity.npy velocity.h5 --vector\n"
                "kugel ball analysis values.npy temperature.npy --truncation triangular\n"
                "kugel ball synthesis temperature.npy values.npy --device auto\n"
                "kugel ball analysis values.npy temperature.npy --mem 8G\n"
                "kugel ball spectrum velocity.npy energy.npy --vector --axis n\n"
                "kugel ball plot temperature.npy equator.png\n"
                "kugel ball plot velocity.npy meridian.png --vector --component phi --cut meridional\n"
                "kugel ball plot temperature.npy shell.png --cut surface --radius 0.8",
    .options = ball_options,
    .n_options = sizeof ball_options / sizeof ball_options[0],
    .run = ball,
};
