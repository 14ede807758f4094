/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts of an image by the kernels of fused_run.c: some slices along x and y, some lines along axis 0. */
#include "volume/gpu/fused_pass.h"

typedef kugel__fused_reach walk;
typedef kugel__fused_pass pass;

int64_t kugel__fused_slice(const kugel__fused *f)
{
  return f->last == 0 ? f->lines : 0;
}

int64_t kugel__fused_pitch(const kugel__fused *f)
{
  return f->pitch;
}

void kugel__fused_narrow(kugel__fused *f, int kernels, int64_t lines)
{
  f->lines = lines;
  f->kernels = kernels;
}

kugel_status kugel__fused_slices(kugel__fused *f, kugel__fused_job *j, bool in, kugel__mem work)
{
  kugel__fused_course r = {.f = f, .j = j, .rows = f->points[1], .slice = f->points[1] * f->pitch};
  return in ? kugel__fused_image_in(&r, 0, work) : kugel__fused_results_out(&r, 0, work);
}

static pass pass_of(const kugel__fused *f, int64_t lines)
{
  return (pass){.of = kugel__fused_recipe(f, 0), .count = lines, .c0 = lines, .spectrum_step = lines};
}

static walk walk_of(kugel__mem mem, int64_t at, int64_t lines, const kugel__fused_span *s)
{
  return (walk){.mem = mem, .at = at, .d0 = 1, .step = lines, .first = s->first, .held = s->held};
}

static int64_t spectrum_at(const kugel__fused *f, const kugel__fused_pencils *l)
{
  return l->spectrum * f->points[0] * l->lines;
}

kugel_status kugel__fused_spectrum(kugel__fused *f, kugel__fused_job *j, const kugel__fused_pencils *l)
{
  kugel__fused_course r = {.f = f, .j = j};
  kugel__fused_span kernel = {.held = l->kernel_held}, spectrum = {.held = f->points[0]};
  pass p = pass_of(f, l->lines);
  p.in = walk_of(l->kernel, l->kernel_at, l->lines, &kernel);
  p.out = walk_of((kugel__mem){f->spectra, 0}, spectrum_at(f, l), l->lines, &spectrum);
  return kugel__fused_launch(&r, &p);
}

kugel_status kugel__fused_along(kugel__fused *f, kugel__fused_job *j, const kugel__fused_pencils *l)
{
  kugel__fused_course r = {.f = f, .j = j};
  const kugel__fused_span *source = j->adjoint ? j->results : j->data,
                          *sink = j->adjoint ? j->data : j->results;
  if (l->kernel.base)
    KUGEL_TRY(kugel__fused_spectrum(f, j, l));
  pass p = pass_of(f, l->lines);
  p.spectrum_at = spectrum_at(f, l);
  p.in = walk_of(l->in, l->in_at, l->lines, source);
  p.out = walk_of(l->out, l->out_at, l->lines, sink);
  p.of.product = j->adjoint ? -1 : 1;
  p.of.mapped = source->map >= 0;
  p.map = j->map;
  p.map_at = kugel__max(source->map, 0);
  p.of.adds = l->adds;
  p.of.weighted_in = f->depths && !j->adjoint;
  p.of.weighted_out = f->depths && j->adjoint;
  p.weights_at = l->which * f->points[0];
  return kugel__fused_launch(&r, &p);
}
