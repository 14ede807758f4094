/* SPDX-License-Identifier: BSD-3-Clause */
/* The launches of one image, and of the kernels' spectra. */
#include "device/lend.h"
#include "volume/gpu/fused_pass.h"

typedef kugel__fused_reach walk;
typedef kugel__fused_pass pass;
typedef kugel__fused_course run;

enum { X = 2, Y = 1, Z = 0 };

/* ---- ends ---- */

static const kugel__fused_span *source(const run *r)
{
  return r->j->adjoint ? r->j->results : r->j->data;
}
static const kugel__fused_span *sink(const run *r)
{
  return r->j->adjoint ? r->j->data : r->j->results;
}

static walk voxels(const kugel__fused_voxels *v, int kernel, const kugel__fused_span *s)
{
  return (walk){.mem = v->mem,
                .at = v->first + kernel * v->step[0],
                .d0 = v->step[2],
                .d1 = v->step[1],
                .step = v->step[3],
                .first = s[X].first,
                .held = s[X].held};
}

static walk rows(const run *r, kugel__mem work)
{
  return (walk){.mem = work,
                .at = r->j->work_at,
                .d0 = r->f->pitch,
                .d1 = r->slice,
                .step = 1,
                .held = r->f->points[X]};
}

static walk columns(const run *r, kugel__mem work)
{
  return (walk){.mem = work,
                .at = r->j->work_at,
                .d0 = 1,
                .d1 = r->slice,
                .step = r->f->pitch,
                .held = r->f->points[Y]};
}

// Rows of slices in messages, as columns if there are some along y.
static walk far_of(const run *r, walk w)
{
  w.mem = r->j->far.mem;
  w.at = r->j->far.at;
  w.d1 = r->j->far.slice;
  return w;
}

static bool has_columns(const run *r)
{
  return r->f->last == Z && r->f->points[Y] > 1;
}

static void hold(walk *w, const kugel__fused_span *s)
{
  w->first = s->first;
  w->held = s->held;
}

static void map_source(const run *r, pass *p, const kugel__fused_span *s)
{
  p->of.mapped = s->map >= 0;
  p->map = r->j->map;
  p->map_at = kugel__max(s->map, 0);
}

static pass pass_of(const run *r, int axis)
{
  return (pass){.of = kugel__fused_recipe(r->f, axis), .axis = axis};
}

// Of one kernel's factors.
static int64_t factors(const kugel__fused_span *s)
{
  return s[0].held * s[1].held * s[2].held;
}

static void read_voxels(const run *r, pass *p, int kernel)
{
  const kugel__fused_span *s = source(r);
  p->of.source = KUGEL__FUSED_VOXELS;
  p->in_type = r->j->in.dtype;
  p->in = voxels(&r->j->in, r->j->adjoint ? kernel : 0, s);
  p->count = s[Y].held * s[Z].held;
  p->c0 = s[Y].held;
  map_source(r, p, &s[X]);
  p->of.extrapolated |= r->j->hooks && r->j->hooks->before.base && !r->j->adjoint;
  p->of.windowed_in = r->j->window.base && r->j->adjoint;
  if (p->of.windowed_in)
    p->window_at = r->j->window_at + kernel * factors(s);
}

static void write_voxels(const run *r, pass *p, int kernel)
{
  const kugel__fused_span *s = sink(r);
  p->of.sink = KUGEL__FUSED_VOXELS;
  p->out_type = r->j->out.dtype;
  p->out = voxels(&r->j->out, r->j->adjoint ? 0 : kernel, s);
  p->count = s[Y].held * s[Z].held;
  p->c0 = s[Y].held;
  const kugel__fused_hooks *h = r->j->hooks;
  p->of.ratio = h && !r->j->adjoint;
  p->of.update = h && r->j->adjoint;
  p->of.stepped = p->of.update && h->moved.base;
  p->of.extrapolated |= p->of.update && h->before.base;
  p->of.windowed_out = r->j->window.base && !r->j->adjoint;
  if (p->of.windowed_out)
    p->window_at = r->j->window_at + kernel * factors(s);
}

/* ---- passes ---- */

static kugel_status rows_in(const run *r, int kernel, kugel__mem work)
{
  pass p = pass_of(r, X);
  read_voxels(r, &p, kernel);
  p.out = rows(r, work);
  if (r->j->far.mem.base && !has_columns(r))
    p.out = far_of(r, p.out);
  return kugel__fused_launch(r, &p);
}

static kugel_status rows_out(const run *r, int kernel, kugel__mem work)
{
  pass p = pass_of(r, X);
  write_voxels(r, &p, kernel);
  p.in = rows(r, work);
  if (r->j->far.mem.base && !has_columns(r))
    p.in = far_of(r, p.in);
  p.of.inverse = true;
  return kugel__fused_launch(r, &p);
}

// What they come from, or go to, is in messages.
static void reach_far(const run *r, pass *p, bool inverse)
{
  walk *w = inverse ? &p->in : &p->out;
  *w = far_of(r, *w);
  p->of.scattered = !inverse;
  p->of.mapped |= inverse;
  if (inverse) {
    w->held = INT64_MAX / 2;
    p->map = r->j->far.rows;
    p->map_at = r->j->far.rows_at;
  }
  p->rows = r->j->far.rows;
  p->rows_at = r->j->far.rows_at;
}

// Columns of slices, in place.
static kugel_status columns_along_y(const run *r, kugel__mem work, bool inverse)
{
  pass p = pass_of(r, Y);
  const kugel__fused_span *s = inverse ? sink(r) : source(r);
  p.in = p.out = columns(r, work);
  p.c0 = r->f->points[X];
  p.count = p.c0 * s[Z].held;
  p.of.inverse = inverse;
  hold(inverse ? &p.out : &p.in, &s[Y]);
  if (!inverse)
    map_source(r, &p, &s[Y]);
  if (r->j->far.mem.base)
    reach_far(r, &p, inverse);
  return kugel__fused_launch(r, &p);
}

static int64_t spectrum_of(const kugel__fused *f, int kernel)
{
  return kernel * f->points[f->last] * f->lines;
}

// Lines of the last axis, of voxels if that is x.
static pass last_pass(const run *r, int kernel)
{
  pass p = pass_of(r, r->f->last);
  p.count = p.c0 = r->f->last == Y ? r->f->points[X] : r->f->lines;
  p.spectrum_at = spectrum_of(r->f, kernel);
  p.spectrum_step = r->f->lines;
  return p;
}

// adds: to the results of other kernels.
static kugel_status there_and_back(const run *r, int kernel, kugel__mem from, kugel__mem to, bool adds)
{
  int last = r->f->last;
  pass p = last_pass(r, kernel);
  if (last == X) {
    read_voxels(r, &p, kernel);
    write_voxels(r, &p, kernel);
  } else {
    int64_t step = last == Y ? r->f->pitch : r->slice;
    p.in = (walk){.mem = from, .d0 = 1, .step = step};
    p.out = (walk){.mem = to, .d0 = 1, .step = step};
    hold(&p.in, &source(r)[last]);
    hold(&p.out, &sink(r)[last]);
    map_source(r, &p, &source(r)[last]);
    p.of.adds = adds;
    p.of.weighted_in = r->f->depths && !r->j->adjoint;
    p.of.weighted_out = r->f->depths && r->j->adjoint;
    p.weights_at = r->j->weights_at + kernel * r->f->points[last];
  }
  p.of.product = r->j->adjoint ? -1 : 1;
  return kugel__fused_launch(r, &p);
}

static int64_t rows_needed(const kugel__fused *f, const kugel__fused_span *data,
                           const kugel__fused_span *results)
{
  return kugel__max(f->points[Y], kugel__max(data[Y].held, results[Y].held));
}

uint64_t kugel__fused_work(const kugel__fused *f, const kugel__fused_span *data,
                           const kugel__fused_span *results)
{
  int64_t slices = kugel__max(data[Z].held, results[Z].held);
  int64_t numbers = f->last == X ? 1 : slices * rows_needed(f, data, results) * f->pitch;
  return (uint64_t)(numbers * 2 * kugel__real_bytes(f->real));
}

int64_t kugel__fused_partials(const kugel__fused *f, const kugel__fused_span *sink)
{
  const kugel__block *b = &f->block[X];
  int64_t lines = sink[Y].held * sink[Z].held;
  return (lines + b->group - 1) / b->group * b->group * b->threads;
}

kugel_status kugel__fused_image_in(const run *r, int kernel, kugel__mem work)
{
  KUGEL_TRY(rows_in(r, kernel, work));
  return has_columns(r) ? columns_along_y(r, work, false) : KUGEL_OK;
}

kugel_status kugel__fused_results_out(const run *r, int kernel, kugel__mem work)
{
  if (has_columns(r))
    KUGEL_TRY(columns_along_y(r, work, true));
  return rows_out(r, kernel, work);
}

static kugel_status run_one_axis(const run *r)
{
  for (int i = 0; i < r->f->kernels; i++)
    KUGEL_TRY(there_and_back(r, i, r->j->work[0], r->j->work[0], false));
  return KUGEL_OK;
}

// The transforms along x and y run once, those there and back for each kernel that has a factor that is not 0.
static kugel_status run_depths(const run *r, kugel__mem from, kugel__mem to)
{
  const bool *used = r->j->used;
  bool adds = false;
  if (!r->j->loaded)
    KUGEL_TRY(kugel__fused_image_in(r, 0, from));
  for (int i = 0; i < r->f->kernels; i++)
    if (!used || used[i]) {
      KUGEL_TRY(there_and_back(r, i, from, to, adds));
      adds = true;
    }
  return kugel__fused_results_out(r, 0, to);
}

static run course_of(kugel__fused *f, kugel__fused_job *j)
{
  run r = {.f = f, .j = j, .rows = rows_needed(f, j->data, j->results)};
  r.slice = r.rows * f->pitch;
  return r;
}

kugel_status kugel__fused_load(kugel__fused *f, const kugel__fused_job *job, const kugel__fused_voxels *in,
                               int64_t slice, int64_t count)
{
  kugel__fused_job part = *job;
  run r = course_of(f, &part);
  part.in = *in;
  part.data[Z] = (kugel__fused_span){.held = count, .map = -1};
  part.work_at = slice * r.slice;
  return kugel__fused_image_in(&r, 0, part.work[0]);
}

kugel_status kugel__fused_run(kugel__fused *f, kugel__fused_job *j)
{
  run r = course_of(f, j);
  j->bytes = 0;
  if (f->last == X && (!j->adjoint || f->kernels == 1))
    return run_one_axis(&r);
  kugel__mem from = j->work[0], to = f->kernels > 1 ? j->work[1] : from;
  if (f->depths)
    return run_depths(&r, from, to);
  for (int i = 0; i < f->kernels; i++) {
    if (j->adjoint || (i == 0 && !j->loaded))
      KUGEL_TRY(kugel__fused_image_in(&r, i, from));
    KUGEL_TRY(there_and_back(&r, i, from, to, j->adjoint && i > 0));
    if (!j->adjoint || i == f->kernels - 1)
      KUGEL_TRY(kugel__fused_results_out(&r, i, to));
  }
  return KUGEL_OK;
}

/* ---- spectra ---- */

static kugel_status transform_kernel(const run *r, int kernel, kugel__mem work)
{
  kugel__fused *f = r->f;
  pass p = last_pass(r, kernel);
  const kugel__fused_span *s = source(r);
  if (f->last == X)
    read_voxels(r, &p, 0);
  else {
    KUGEL_TRY(kugel__fused_image_in(r, 0, work));
    p.in = (walk){.mem = work, .d0 = 1, .step = f->last == Y ? f->pitch : r->slice};
    hold(&p.in, &s[f->last]);
  }
  p.out =
      (walk){.mem = {f->spectra, 0}, .at = p.spectrum_at, .d0 = 1, .step = f->lines, .held = p.of.block.n};
  return kugel__fused_launch(r, &p);
}

kugel_status kugel__fused_spectra_on(kugel__fused *f, kugel__mem kernels, kugel_dtype type,
                                     const int64_t k[3], kugel__mem work, kugel_queue *queue)
{
  kugel__fused_job j = {
      .in = {.mem = kernels, .dtype = type, .step = {k[0] * k[1] * k[2], k[1] * k[2], k[2], 1}},
      .out = {.dtype = type},
      .queue = queue};
  for (int d = 0; d < 3; d++)
    j.data[d] = j.results[d] = (kugel__fused_span){.held = k[d], .map = -1};
  run r = course_of(f, &j);
  for (int i = 0; i < f->kernels; i++) {
    j.in.first = i * j.in.step[0];
    KUGEL_TRY(transform_kernel(&r, i, work));
  }
  return KUGEL_OK;
}

kugel_status kugel__fused_spectra_of(kugel__fused *f, kugel__mem kernels, kugel_dtype type,
                                     const int64_t k[3], kugel__mem given)
{
  kugel__fused_span all[3];
  kugel_queue *queue;
  void *work = NULL;
  for (int d = 0; d < 3; d++)
    all[d] = (kugel__fused_span){.held = k[d], .map = -1};
  size_t bytes = given.base ? 0 : (size_t)kugel__fused_work(f, all, all);
  KUGEL_TRY(kugel__queue_of(f->device, NULL, &queue));
  if (bytes) // once a plan, beside which nothing is kept
    KUGEL_TRY(kugel__device_alloc(f->device, bytes, &work));
  kugel_status s = kugel__fused_spectra_on(f, kernels, type, k, bytes ? (kugel__mem){work, 0} : given, queue);
  kugel_status waited = f->device->ops->wait(queue);
  kugel__device_free(f->device, work);
  return s ? s : waited;
}
