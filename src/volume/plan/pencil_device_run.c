/* SPDX-License-Identifier: BSD-3-Clause */
/* The passes of pencils on devices: slices in, lines along axis 0 (pencil_device_lines.c), slices out. */
#include "core/ctx.h"
#include "core/parallel.h"
#include "volume/gpu/lane_sizes.h"
#include "volume/plan/pencil_device.h"

enum { DIMS = KUGEL__VOLUME_DIMS };

typedef kugel__pencil_piece piece;
typedef kugel__pencil_course run;

static kugel__pencil_lane *lane_of(const run *r, const kugel__lane *on)
{
  return &r->d->lane[on->index];
}

static piece *piece_of(run *r, const kugel__lane *on, const kugel__lane_slot *slot)
{
  return &r->piece[on->index][slot - on->slot];
}

kugel__pencil_place kugel__pencil_volume(const run *r, int64_t which)
{
  const kugel__pencil_bytes *s = &r->d->size;
  return (kugel__pencil_place){r->p, r->file, which * (int64_t)s->volume, s->tall};
}

kugel_status kugel__pencil_up(kugel__lane *on, kugel__lane_slot *slot, size_t at, size_t bytes)
{
  return kugel__device_copy(on->device, KUGEL__UPLOAD, (kugel__mem){slot->in.base, at},
                            (kugel__mem){(char *)slot->host_in + at, 0}, bytes, on->in);
}

kugel_status kugel__pencil_down(kugel__lane *on, kugel__lane_slot *slot, size_t bytes)
{
  return kugel__device_copy(on->device, KUGEL__DOWNLOAD, (kugel__mem){slot->host_out, 0}, slot->out, bytes,
                            on->out);
}

// Slices of a slab.
static int64_t count_of(const run *r, int64_t slab, int64_t tall)
{
  return kugel__min(r->p->pencil->slab, tall - slab * r->p->pencil->slab);
}

static kugel__lane_voxels voxels_of(const run *r, const kugel__volume_box *b, int64_t which, bool results,
                                    int64_t count)
{
  const kugel__volume_axis *a = r->p->axis;
  kugel__lane_voxels v = {.box = *b, .n = {1, count, results ? a[1].m : a[1].n, results ? a[2].m : a[2].n}};
  v.box.data += which * b->step[0] * (b->dtype.bits / 8);
  return v;
}

static kugel__fused_voxels packed(kugel__mem mem, kugel_dtype type, const int64_t n[4])
{
  kugel__fused_voxels v = {.mem = mem, .dtype = type};
  kugel__lane_packed(n, v.step);
  return v;
}

kugel__fused_job kugel__pencil_job(const run *r, const kugel__lane *on)
{
  const kugel_volume *part = &lane_of(r, on)->part;
  kugel__fused_job job = {.adjoint = r->adjoint,
                          .map = {part->gpu->map, 0},
                          .clipped = {lane_of(r, on)->counter, 0},
                          .queue = on->work};
  kugel__fused_spans(part, job.data, job.results);
  return job;
}

// Factors of slices of results of a kernel, behind what is copied in.
static kugel_status load_window(const run *r, int64_t which, int64_t z, int64_t count, char *to)
{
  const kugel__pencil_bytes *s = &r->d->size;
  int64_t at = (which * r->p->axis[0].m + z) * (int64_t)s->plane;
  return kugel__volume_file_get(r->p->pencil->kernel, (int64_t)s->kernels + at, to, 1,
                                count * (int64_t)s->plane, 0);
}

static void take_window(const run *r, const piece *o, kugel__mem at, kugel__fused_job *job)
{
  if (r->p->opts.boundary != KUGEL_BOUNDARY_UNKNOWN)
    return;
  job->window = at;
  job->window_at = (int64_t)(o->window / r->p->real);
}

/* ---- slices in: item = [kernel of an adjoint] slab ---- */

static kugel_status load_slab(void *arg, kugel__lane *on, kugel__lane_slot *slot)
{
  run *r = arg;
  const kugel_volume *p = r->p;
  piece *o = piece_of(r, on, slot);
  int64_t slabs = (r->tall[0] + p->pencil->slab - 1) / p->pencil->slab, which = slot->item / slabs;
  int64_t z = slot->item % slabs * p->pencil->slab, count = count_of(r, slot->item % slabs, r->tall[0]);
  kugel__volume_box box;
  KUGEL_TRY(r->ends->read(r->ends->arg, z, count, &box));
  o->voxels = voxels_of(r, &box, which, r->adjoint, count);
  size_t bytes = (size_t)kugel__lane_voxels_bytes(&o->voxels);
  o->window = kugel__lane_align((int64_t)bytes);
  if (kugel__lane_direct(on->device, &o->voxels)) {
    int64_t step[4];
    kugel__lane_packed(o->voxels.n, step);
    KUGEL_TRY(kugel__lane_copy(on->device, &o->voxels, KUGEL__UPLOAD, slot->in, step, on->in));
  } else {
    KUGEL_TRY(kugel__lane_gather(p->ctx, &o->voxels, slot->host_in));
    KUGEL_TRY(kugel__pencil_up(on, slot, 0, bytes));
  }
  if (!r->adjoint || p->opts.boundary != KUGEL_BOUNDARY_UNKNOWN)
    return KUGEL_OK;
  KUGEL_TRY(load_window(r, which, z, count, (char *)slot->host_in + o->window));
  return kugel__pencil_up(on, slot, o->window, (size_t)count * (size_t)r->d->size.plane);
}

static kugel_status transform_slab(void *arg, kugel__lane *on, kugel__lane_slot *slot)
{
  run *r = arg;
  const piece *o = piece_of(r, on, slot);
  kugel__fused_job job = kugel__pencil_job(r, on);
  kugel__fused_span *source = r->adjoint ? job.results : job.data;
  source[0] = (kugel__fused_span){.held = o->voxels.n[1], .map = -1};
  job.in = packed(slot->in, o->voxels.box.dtype, o->voxels.n);
  if (r->adjoint)
    take_window(r, o, slot->in, &job);
  return kugel__fused_slices(lane_of(r, on)->part.gpu->fused, &job, true, slot->out);
}

static int64_t slice_bytes(const run *r)
{
  return r->d->size.lines * r->d->size.number;
}

static kugel_status store_slab(void *arg, kugel__lane *on, kugel__lane_slot *slot)
{
  run *r = arg;
  return kugel__pencil_down(on, slot, (size_t)(piece_of(r, on, slot)->voxels.n[1] * slice_bytes(r)));
}

static kugel_status deliver_slab(void *arg, kugel__lane *on, kugel__lane_slot *slot)
{
  run *r = arg;
  int64_t slabs = (r->tall[0] + r->p->pencil->slab - 1) / r->p->pencil->slab;
  kugel__pencil_place to = kugel__pencil_volume(r, slot->item / slabs);
  return kugel__pencil_move_slices(&to, slot->item % slabs * r->p->pencil->slab,
                                   piece_of(r, on, slot)->voxels.n[1], slot->host_out, true);
}

/* ---- slices out: item = slab [kernel of results] ---- */

typedef struct out_piece {
  int64_t which, kernels, z, count;
} out_piece;

static out_piece out_of(const run *r, int64_t item)
{
  out_piece o = {.kernels = r->adjoint ? 1 : r->p->kernels};
  int64_t slab = r->first + item / o.kernels;
  o.which = item % o.kernels;
  o.z = slab * r->p->pencil->slab;
  o.count = count_of(r, slab, r->tall[1]);
  return o;
}

static kugel_status load_results(void *arg, kugel__lane *on, kugel__lane_slot *slot)
{
  run *r = arg;
  piece *o = piece_of(r, on, slot);
  out_piece at = out_of(r, slot->item);
  kugel__volume_box box;
  KUGEL_TRY(r->ends->place(r->ends->arg, at.z, at.count, &box));
  o->voxels = voxels_of(r, &box, at.which, !r->adjoint, at.count);
  kugel__pencil_place from = kugel__pencil_volume(r, at.which);
  size_t bytes = (size_t)(at.count * slice_bytes(r));
  KUGEL_TRY(kugel__pencil_move_slices(&from, at.z, at.count, slot->host_in, false));
  KUGEL_TRY(kugel__pencil_up(on, slot, 0, bytes));
  o->window = kugel__lane_align((int64_t)bytes);
  if (r->adjoint || r->p->opts.boundary != KUGEL_BOUNDARY_UNKNOWN)
    return KUGEL_OK;
  KUGEL_TRY(load_window(r, at.which, at.z, at.count, (char *)slot->host_in + o->window));
  return kugel__pencil_up(on, slot, o->window, (size_t)at.count * (size_t)r->d->size.plane);
}

// Slices of an adjoint, extended along y and x: added up on their way to the voxels.
static kugel_status fold_slices(const run *r, const kugel__lane *on, kugel__lane_slot *slot, const piece *o,
                                kugel__fused_job *job)
{
  kugel__pencil_lane *l = lane_of(r, on);
  int64_t wide[4] = {1, o->voxels.n[1], r->d->size.wide[1], r->d->size.wide[2]};
  kugel__volume_box own = kugel__volume_own_box(r->p, NULL, wide + 1), to = o->voxels.box;
  kugel__mem extended = {l->extended, 0};
  kugel__move_lists lists = l->fold.fold;
  lists.extent[0] = wide[1];
  for (int d = 1; d < DIMS; d++) {
    job->data[d].held = wide[d + 1];
    job->data[d].map = -1;
  }
  job->out = packed(extended, own.dtype, wide);
  KUGEL_TRY(kugel__fused_slices(l->part.gpu->fused, job, false, slot->in));
  kugel__lane_packed(o->voxels.n, to.step);
  kugel__move fold = {.p = &l->part,
                      .moves = &l->fold,
                      .lists = &lists,
                      .in = extended,
                      .out = slot->out,
                      .clipped = job->clipped,
                      .from = own,
                      .to = to,
                      .scale = 1};
  return kugel__move_run(&fold, on->work);
}

static kugel_status transform_results(void *arg, kugel__lane *on, kugel__lane_slot *slot)
{
  run *r = arg;
  const piece *o = piece_of(r, on, slot);
  kugel__fused_job job = kugel__pencil_job(r, on);
  kugel__fused_span *sink = r->adjoint ? job.data : job.results;
  sink[0] = (kugel__fused_span){.held = o->voxels.n[1], .map = -1};
  if (r->adjoint && lane_of(r, on)->extended)
    return fold_slices(r, on, slot, o, &job);
  if (!r->adjoint)
    take_window(r, o, slot->in, &job);
  job.out = packed(slot->out, o->voxels.box.dtype, o->voxels.n);
  return kugel__fused_slices(lane_of(r, on)->part.gpu->fused, &job, false, slot->in);
}

static kugel_status store_results(void *arg, kugel__lane *on, kugel__lane_slot *slot)
{
  run *r = arg;
  piece *o = piece_of(r, on, slot);
  o->direct = kugel__lane_direct(on->device, &o->voxels);
  if (!o->direct)
    return kugel__pencil_down(on, slot, (size_t)kugel__lane_voxels_bytes(&o->voxels));
  int64_t step[4];
  kugel__lane_packed(o->voxels.n, step);
  return kugel__lane_copy(on->device, &o->voxels, KUGEL__DOWNLOAD, slot->out, step, on->out);
}

static kugel_status deliver_results(void *arg, kugel__lane *on, kugel__lane_slot *slot)
{
  run *r = arg;
  out_piece at = out_of(r, slot->item);
  kugel__volume_box box;
  KUGEL_TRY(r->ends->place(r->ends->arg, at.z, at.count, &box));
  kugel__lane_voxels v = voxels_of(r, &box, at.which, !r->adjoint, at.count);
  if (!piece_of(r, on, slot)->direct)
    KUGEL_TRY(kugel__lane_scatter(r->p->ctx, &v, slot->host_out));
  bool last = at.which == at.kernels - 1;
  return last && r->ends->written ? r->ends->written(r->ends->arg, at.z, at.count) : KUGEL_OK;
}

/* ---- all ---- */

static kugel_status pass(run *r, const kugel__lane_job *job, double lo, double hi)
{
  kugel__span outer = kugel__progress_enter(lo, hi);
  kugel_status s = kugel__device_lanes_run(r->d->lanes, job);
  kugel__progress_leave(outer);
  return s;
}

static kugel_status passes(run *r)
{
  const kugel_volume *p = r->p;
  int64_t slab = p->pencil->slab, in = (r->tall[0] + slab - 1) / slab, out = (r->tall[1] + slab - 1) / slab;
  kugel__lane_job job[3] = {{.arg = r,
                             .stage = "slices in",
                             .count = in * r->sources,
                             .load = load_slab,
                             .compute = transform_slab,
                             .store = store_slab,
                             .deliver = deliver_slab},
                            kugel__pencil_lines_job(r),
                            {.arg = r,
                             .stage = "slices out",
                             .count = (out - r->first) * r->sinks,
                             .ordered = r->ends->written != NULL,
                             .load = load_results,
                             .compute = transform_results,
                             .store = store_results,
                             .deliver = deliver_results}};
  if (r->first >= out)
    return KUGEL_OK;
  KUGEL_TRY(pass(r, &job[0], 0, 0.35));
  KUGEL_TRY(pass(r, &job[1], 0.35, 0.65));
  return pass(r, &job[2], 0.65, 1);
}

static kugel_status clear(const kugel__pencil_device *d)
{
  for (int i = 0; i < d->count; i++)
    KUGEL_TRY(kugel__device_fill(d->lanes->lane[i].device, (kugel__mem){d->lane[i].counter, 0}, 0,
                                 KUGEL__LANE_ALIGN, NULL));
  return KUGEL_OK;
}

static kugel_status add_clipped(const kugel__pencil_device *d, atomic_llong *clipped)
{
  for (int i = 0; i < d->count && clipped; i++) {
    uint32_t count = 0;
    KUGEL_TRY(kugel__device_copy(d->lanes->lane[i].device, KUGEL__DOWNLOAD, (kugel__mem){&count, 0},
                                 (kugel__mem){d->lane[i].counter, 0}, 4, NULL));
    atomic_fetch_add(clipped, count);
  }
  return KUGEL_OK;
}

kugel_status kugel__pencil_device_run(const kugel_volume *p, bool adjoint, const kugel__pencil_ends *ends,
                                      atomic_llong *clipped)
{
  const kugel__volume_axis *z = &p->axis[0];
  run r = {.p = p,
           .ends = ends,
           .d = p->pencil->device,
           .adjoint = adjoint,
           .tall = {adjoint ? z->m : z->n, adjoint ? z->n : z->m},
           .first = ends->first / p->pencil->slab,
           .sources = adjoint && !p->depth ? p->kernels : 1,
           .sinks = adjoint || p->depth ? 1 : p->kernels};
  pthread_mutex_lock(&r.d->lock);
  kugel_status s = kugel__volume_file_create(
      p->ctx, p->pencil->folder, r.d->size.volume * (uint64_t)p->kernels, p->pencil->in_memory, &r.file);
  s = s ? s : clear(r.d);
  s = s ? s : passes(&r);
  s = s ? s : add_clipped(r.d, clipped);
  kugel__volume_file_close(r.file);
  pthread_mutex_unlock(&r.d->lock);
  return s;
}
