/* SPDX-License-Identifier: BSD-3-Clause */
/* The resident engine on the CPU: all slices in, all lines along z, all slices out (resident_slices.c). */
#include "core/alloc.h"
#include "core/array.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "volume/cpu/resident.h"

KUGEL_DISPATCH(kugel__volume_ops, kugel__volume_ops)

const kugel__volume_ops *kugel__volume_ops_now(void)
{
  return kugel__volume_ops_get();
}

typedef kugel__resident_side side;
typedef kugel__resident_job job;

static kugel_status begin(job *j, int64_t arrays)
{
  const kugel_volume *p = j->p;
  j->ops = kugel__volume_ops_now();
  kugel__resident_measure(j);
  size_t work = (size_t)(p->slices * p->slice) * 2 * p->real;
  j->workers = kugel__ctx_threads(p->ctx);
  size_t scratch = j->scratch_size * (size_t)j->workers;
  j->from = kugel__scratch_get(p->ctx, work * (size_t)arrays + scratch);
  KUGEL_CHECK(j->from, KUGEL_ENOMEM,
              "no memory for %zu bytes of padded volume: use KUGEL_VOLUME_TILES or _DIF",
              work * (size_t)arrays + scratch);
  j->to = j->from + (arrays > 1 ? work : 0);
  j->scratch = j->from + work * (size_t)arrays;
  return KUGEL_OK;
}

side kugel__resident_side_of(const kugel_volume *p, bool results)
{
  side s = {.window = results ? p->window : NULL};
  for (int d = 0; d < KUGEL__VOLUME_DIMS; d++) {
    s.list[d] = results ? &p->axis[d].results : &p->axis[d].data;
    s.extent[d] = results ? p->axis[d].m : p->axis[d].n;
    s.source[d] = results ? NULL : p->axis[d].source;
  }
  return s;
}

static kugel__volume_box box_of_kernel(const kugel__volume_box *b, int which)
{
  kugel__volume_box out = *b;
  out.data += which * b->step[0] * b->dtype.bits / 8;
  return out;
}

// Kernel `which`: one part of the work.
static kugel_status run_kernel(job *j, int which, const kugel__volume_box *in, const kugel__volume_box *out)
{
  const kugel_volume *p = j->p;
  j->which = which;
  j->which_out = j->adjoint ? 0 : which;
  j->add = j->adjoint && which > 0;
  bool reads = j->adjoint || which == 0, writes = !j->adjoint || which == p->kernels - 1;
  side *results = j->adjoint ? &j->in : &j->out;
  j->in.box = j->adjoint ? box_of_kernel(in, which) : *in;
  j->out.box = j->adjoint ? *out : box_of_kernel(out, which);
  if (p->window)
    results->window = p->window + (size_t)(which * p->axis[0].m * p->axis[1].m * p->axis[2].m) * p->real;
  kugel__progress_stage(0, 0.35, "image");
  if (reads)
    KUGEL_TRY(kugel__resident_slices_in(j));
  kugel__progress_stage(0.35, 0.65, "spectrum");
  KUGEL_TRY(kugel__resident_lines(j));
  kugel__progress_stage(0.65, 1, "results");
  return writes ? kugel__resident_slices_out(j) : KUGEL_OK;
}

kugel_status kugel__volume_run_resident(const kugel_volume *p, bool adjoint, const kugel__volume_box *in,
                                        const kugel__volume_box *out, atomic_llong *clipped)
{
  job j = {.p = p,
           .adjoint = adjoint,
           .clipped = clipped,
           .in = kugel__resident_side_of(p, adjoint),
           .out = kugel__resident_side_of(p, !adjoint)};
  KUGEL_TRY(begin(&j, p->kernels > 1 ? 2 : 1));
  kugel_status s = KUGEL_OK;
  for (int i = 0; i < p->kernels && !s; i++) {
    kugel__span outer = kugel__progress_enter((double)i / p->kernels, (double)(i + 1) / p->kernels);
    s = run_kernel(&j, i, in, out);
    kugel__progress_leave(outer);
  }
  kugel__scratch_put(p->ctx, j.from);
  return s;
}

kugel_status kugel__volume_transform_kernel(kugel_volume *p, int which, const kugel__volume_box *box,
                                            bool conjugate)
{
  // The work array of slices and rows has room for the image; kernels may need more.
  kugel_volume wide = *p;
  job j = {.p = &wide, .which = which, .in = {.box = *box, .conjugate = conjugate}};
  double points = 1;
  for (int d = 0; d < KUGEL__VOLUME_DIMS; d++) {
    j.in.list[d] = &p->axis[d].kernel;
    j.in.extent[d] = p->axis[d].k;
    points *= (double)p->axis[d].points;
  }
  j.in.list[2] = &wide.axis[2].kernel;
  j.keep = p->scale / (points * p->parts);
  wide.slices = p->axis[0].k;
  wide.rows = kugel__max(p->axis[1].points, p->axis[1].k);
  wide.slice = wide.rows * p->pitch;
  KUGEL_TRY(begin(&j, 1));
  kugel_status s = kugel__resident_slices_in(&j);
  if (!s)
    s = kugel__resident_lines(&j);
  kugel__scratch_put(p->ctx, j.from);
  return s;
}
