/* SPDX-License-Identifier: BSD-3-Clause */
/* The whole transform over ranks with devices: one image, or its adjoint. */
#include "volume/plan/global_device.h"

enum { DIMS = KUGEL__VOLUME_DIMS };

typedef struct run {
  const kugel__global_item *it;
  const kugel_volume *p;
  kugel__global_lines *l;
  int which; // kernel of the side that has them
} run;

static const int64_t *cut_of(const run *r, bool results)
{
  return results ? r->p->global->results : r->p->global->data;
}

static kugel__global_side side_of(run *r, bool results, kugel__global_step step)
{
  return (kugel__global_side){r->it, results ? KUGEL__GLOBAL_RESULTS : KUGEL__GLOBAL_DATA, cut_of(r, results),
                              step, r};
}

static kugel__fused_job job_of(const run *r)
{
  struct kugel__volume_device *gpu = r->l->part.gpu;
  kugel__fused_job job = {.adjoint = r->it->adjoint,
                          .map = {gpu->map, 0},
                          .weights = {gpu->weights, 0},
                          .clipped = {r->p->global->device->counter, 0},
                          .queue = r->it->queue};
  kugel__fused_spans(&r->l->part, job.data, job.results);
  return job;
}

// Slices [z, z + count) of a kernel's array.
static kugel__fused_voxels slices_of(const run *r, const kugel__fused_voxels *all, bool results, int64_t z)
{
  kugel__fused_voxels v = *all;
  v.first += (results ? r->which * v.step[0] : 0) + z * v.step[1];
  return v;
}

static void take_window(const run *r, int64_t z, kugel__fused_job *job)
{
  const kugel__volume_axis *a = r->p->axis;
  job->window = (kugel__mem){r->l->window, 0};
  job->window_at = (r->which * kugel__global_own(r->p->global, cut_of(r, true)) + z) * a[1].m * a[2].m;
}

static kugel_status slices_in(const kugel__global_side *side, int64_t z, int64_t count, kugel__mem work)
{
  const run *r = side->arg;
  bool adjoint = r->it->adjoint;
  kugel__fused_job job = job_of(r);
  (adjoint ? job.results : job.data)[0] = (kugel__fused_span){.held = count, .map = -1};
  job.in = slices_of(r, &r->it->in, adjoint, z);
  kugel__global_place(side, z, &job);
  if (adjoint)
    take_window(r, z, &job);
  return kugel__fused_slices(r->l->part.gpu->fused, &job, true, work);
}

// Slices that a boundary has extended along y and x: added up on their way to the voxels.
static kugel_status fold_slices(const run *r, kugel__fused_job *job, int64_t count, kugel__mem work)
{
  const int64_t wide[DIMS] = {count, r->l->wide[1], r->l->wide[2]};
  kugel__volume_box own = kugel__volume_own_box(r->p, NULL, wide), to = {.dtype = job->out.dtype};
  kugel__fused_voxels out = job->out;
  kugel__move_lists lists = r->l->slices.fold;
  lists.extent[0] = count;
  job->out = (kugel__fused_voxels){.mem = r->it->room[KUGEL__GLOBAL_WIDE], .dtype = own.dtype};
  for (int d = 0; d < DIMS; d++) {
    job->data[d].held = wide[d];
    job->data[d].map = -1;
    job->out.step[d + 1] = own.step[d + 1];
    to.step[d + 1] = out.step[d + 1];
  }
  KUGEL_TRY(kugel__fused_slices(r->l->part.gpu->fused, job, false, work));
  kugel__move fold = {.p = &r->l->flat[0],
                      .moves = &r->l->slices,
                      .lists = &lists,
                      .in = job->out.mem,
                      .out = out.mem,
                      .clipped = job->clipped,
                      .from = own,
                      .to = to,
                      .out_first = out.first,
                      .scale = 1};
  return kugel__move_run(&fold, job->queue);
}

static kugel_status slices_out(const kugel__global_side *side, int64_t z, int64_t count, kugel__mem work)
{
  const run *r = side->arg;
  bool adjoint = r->it->adjoint;
  kugel__fused_job job = job_of(r);
  (adjoint ? job.data : job.results)[0] = (kugel__fused_span){.held = count, .map = -1};
  job.out = slices_of(r, &r->it->out, !adjoint, z);
  kugel__global_place(side, z, &job);
  if (adjoint && r->l->slices.table)
    return fold_slices(r, &job, count, work);
  if (!adjoint)
    take_window(r, z, &job);
  return kugel__fused_slices(r->l->part.gpu->fused, &job, false, work);
}

// Own lines of `from` with kernel q, to `to`.
static kugel_status along(const run *r, int q, kugel__mem from, kugel__mem to, bool adds)
{
  kugel__fused_job job = job_of(r);
  const kugel__volume_axis *z = &r->p->axis[0];
  kugel__fused_pencils l = {
      .lines = r->l->own, .in = from, .out = to, .spectrum = q, .which = q, .adds = adds};
  if (r->it->adjoint)
    job.data[0] = (kugel__fused_span){
        .first = z->data.position ? 0 : z->data.first_position, .held = r->l->wide[0], .map = -1};
  return l.lines ? kugel__fused_along(r->l->part.gpu->fused, &job, &l) : KUGEL_OK;
}

// Elements of lines that a boundary has extended, added up.
static kugel_status fold_lines(const run *r, kugel__mem from, kugel__mem to)
{
  const kugel_volume *flat = &r->l->flat[1];
  kugel__volume_box box = {.dtype = r->p->f32 ? KUGEL_C64 : KUGEL_C128,
                           .step = {0, r->l->own, flat->axis[2].n, 1}};
  kugel__move fold = {.p = flat,
                      .moves = &r->l->along,
                      .lists = &r->l->along.fold,
                      .in = from,
                      .out = to,
                      .clipped = {r->p->global->device->counter, 0},
                      .from = box,
                      .to = box,
                      .scale = 1};
  return r->l->own ? kugel__move_run(&fold, r->it->queue) : KUGEL_OK;
}

kugel_status kugel__global_lines_item(const kugel__global_item *it)
{
  const kugel_volume *p = it->p;
  run r = {.it = it, .p = p, .l = p->global->device->lines};
  bool adjoint = it->adjoint, folds = adjoint && r.l->along.table, sums = adjoint || p->depth, adds = false;
  kugel__mem from = it->room[KUGEL__GLOBAL_LINES], more = it->room[KUGEL__GLOBAL_MORE],
             to = p->stored > 1 ? more : from,
             last = folds && p->stored == 1 ? more
                    : folds                 ? from
                                            : to;
  const bool *used = r.l->part.gpu->used;
  kugel__global_side in = side_of(&r, adjoint, slices_in), out = side_of(&r, !adjoint, slices_out);
  kugel_status s = KUGEL_OK;
  for (int q = 0; q < p->stored; q++) {
    r.which = p->depth ? 0 : q;
    if (q == 0 || (adjoint && !p->depth))
      s = kugel__global_to_lines(&in, s, from);
    if (s && p->global->comm->settled)
      return s;
    if (!p->depth || used[q]) {
      s = s ? s : along(&r, q, from, to, sums && adds);
      adds = true;
    }
    if (!sums)
      s = kugel__global_to_slices(&out, s, to);
    if (s && p->global->comm->settled)
      return s;
  }
  if (!sums)
    return s;
  s = s || !folds ? s : fold_lines(&r, to, last);
  r.which = 0;
  return kugel__global_to_slices(&out, s, last);
}
