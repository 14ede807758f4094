/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels of pencils on devices: some planes at a time, folded into the lengths of the axes, transformed along x and y. */
#include "core/alloc.h"
#include "core/ctx.h"
#include "volume/plan/pencil_device.h"

typedef struct run {
  const kugel_volume *p;
  kugel__pencil_device *d;
  const kugel__volume_box *kernels;
  char *values; // planes of a callback; NULL: they are in memory
  double *row;  // of one of its lines
  double *planes, totals[2];
} run;

// Slabs of a kernel, of planes folded into the length of axis 0.
static int64_t slabs_of(const run *r)
{
  return (r->d->size.kernel[0] + r->p->pencil->slab - 1) / r->p->pencil->slab;
}

static int64_t planes_of(const run *r, int64_t z)
{
  return kugel__min(r->p->pencil->slab, r->d->size.kernel[0] - z);
}

// Planes [first, first + count) of kernel q in the array's order.
static kugel_status planes_at(run *r, int q, int64_t first, int64_t count, kugel__volume_box *box)
{
  const kugel_volume *p = r->p;
  const kugel__volume_axis *a = p->axis;
  if (r->values) {
    *box = (kugel__volume_box){r->values, r->kernels->dtype, {0, a[1].k * a[2].k, a[2].k, 1}};
    KUGEL_TRY(kugel__volume_read_kernel(p, q, first, count, r->values));
    return kugel__volume_check_planes(p, q, box, first, count, r->row, r->totals);
  }
  *box = *r->kernels;
  box->data += (q * box->step[0] + first * box->step[1]) * (box->dtype.bits / 8);
  return KUGEL_OK;
}

kugel_status kugel__pencil_fold_planes(const kugel_volume *p, const kugel__volume_box *box, int64_t count,
                                       bool adds, double *planes)
{
  int64_t k[3], parts = p->opts.complex_data ? 2 : 1;
  kugel_volume some = *p; // these planes alone
  some.axis[0].k = count;
  some.stored = 1;
  double *values = NULL, *folded = NULL;
  kugel_status s = kugel__volume_copy_kernels(&some, box, &values);
  s = s ? s : kugel__fused_kernels(&some, values, &folded, k);
  kugel__free(p->ctx, values);
  if (s)
    return s;
  for (int64_t i = 0; i < count * k[1] * k[2] * parts; i++)
    planes[i] = folded[i] + (adds ? planes[i] : 0);
  kugel__free(p->ctx, folded);
  return KUGEL_OK;
}

// Planes [z, z + count) in the order of the transform, added to r->planes or put there.
static kugel_status add_planes(run *r, int q, int64_t z, int64_t count, bool adds)
{
  const kugel_volume *p = r->p;
  kugel__volume_box box;
  KUGEL_TRY(planes_at(r, q, p->opts.correlate ? p->axis[0].k - z - count : z, count, &box));
  return kugel__pencil_fold_planes(p, &box, count, adds, r->planes);
}

static kugel_status load(void *arg, kugel__lane *on, kugel__lane_slot *slot)
{
  run *r = arg;
  const kugel_volume *p = r->p;
  const kugel__pencil_bytes *s = &r->d->size;
  const kugel__volume_axis *a = p->axis;
  int64_t slabs = slabs_of(r), z = slot->item % slabs * p->pencil->slab, count = planes_of(r, z);
  int q = (int)(slot->item / slabs);
  for (int64_t from = z; from < a[0].k; from += a[0].length)
    KUGEL_TRY(add_planes(r, q, from, kugel__min(count, a[0].k - from), from > z));
  if (r->values && slot->item % slabs == slabs - 1) {
    KUGEL_TRY(kugel__volume_check_totals(p, q, r->totals));
    r->totals[0] = r->totals[1] = 0;
  }
  int64_t numbers = count * s->kernel[1] * s->kernel[2] * (p->opts.complex_data ? 2 : 1);
  double factor = p->scale / ((double)a[0].points * (double)a[1].points * (double)a[2].points);
  for (int64_t i = 0; i < numbers; i++)
    if (p->f32)
      ((float *)slot->host_in)[i] = (float)(r->planes[i] * factor);
    else
      ((double *)slot->host_in)[i] = r->planes[i] * factor;
  return kugel__device_copy(on->device, KUGEL__UPLOAD, slot->in, (kugel__mem){slot->host_in, 0},
                            (size_t)numbers * p->real, on->in);
}

static kugel_status compute(void *arg, kugel__lane *on, kugel__lane_slot *slot)
{
  run *r = arg;
  const kugel__pencil_bytes *s = &r->d->size;
  int64_t n[3] = {planes_of(r, slot->item % slabs_of(r) * r->p->pencil->slab), s->kernel[1], s->kernel[2]};
  kugel__volume_box own = kugel__volume_own_box(r->p, NULL, n);
  kugel__fused_job job = {
      .in = {.mem = slot->in, .dtype = own.dtype, .step = {0, own.step[1], own.step[2], own.step[3]}},
      .queue = on->work};
  for (int d = 0; d < KUGEL__VOLUME_DIMS; d++)
    job.data[d] = job.results[d] = (kugel__fused_span){.held = n[d], .map = -1};
  return kugel__fused_slices(r->d->lane[on->index].part.gpu->fused, &job, true, slot->out);
}

static kugel_status store(void *arg, kugel__lane *on, kugel__lane_slot *slot)
{
  run *r = arg;
  const kugel__pencil_bytes *s = &r->d->size;
  int64_t count = planes_of(r, slot->item % slabs_of(r) * r->p->pencil->slab);
  return kugel__device_copy(on->device, KUGEL__DOWNLOAD, (kugel__mem){slot->host_out, 0}, slot->out,
                            (size_t)(count * s->lines * s->number), on->out);
}

static kugel_status deliver(void *arg, kugel__lane *on, kugel__lane_slot *slot)
{
  run *r = arg;
  const kugel_volume *p = r->p;
  const kugel__pencil_bytes *s = &r->d->size;
  int64_t slabs = slabs_of(r), z = slot->item % slabs * p->pencil->slab;
  (void)on;
  kugel__pencil_place to = {p, p->pencil->kernel, slot->item / slabs * (int64_t)s->kernels / p->stored,
                            s->kernel[0]};
  return kugel__pencil_move_slices(&to, z, planes_of(r, z), slot->host_out, true);
}

kugel_status kugel__pencil_device_kernels(const kugel_volume *p, const kugel__volume_box *kernels)
{
  run r = {.p = p, .d = p->pencil->device, .kernels = kernels};
  const kugel__volume_axis *a = p->axis;
  int64_t slab = kugel__min(p->pencil->slab, r.d->size.kernel[0]), parts = p->opts.complex_data ? 2 : 1;
  KUGEL_ALLOC(p->ctx, r.planes, (size_t)(slab * r.d->size.kernel[1] * r.d->size.kernel[2] * parts) * 8);
  kugel_status s = KUGEL_OK;
  if (p->opts.read_kernel) {
    int64_t plane = a[1].k * a[2].k * (kernels->dtype.bits / 8);
    r.values = kugel__alloc(p->ctx, (size_t)(slab * plane));
    r.row = kugel__alloc(p->ctx, (size_t)a[2].k * 8);
    if (!r.values || !r.row)
      s = KUGEL_FAIL(KUGEL_ENOMEM, "no memory for planes of the kernel of %lld bytes each", (long long)plane);
  }
  kugel__lane_job job = {.arg = &r,
                         .stage = "kernels",
                         .count = p->stored * slabs_of(&r),
                         .load = load,
                         .compute = compute,
                         .store = store,
                         .deliver = deliver};
  if (!s)
    s = kugel__device_lanes_run(r.d->lanes, &job);
  kugel__free(p->ctx, r.planes);
  kugel__free(p->ctx, r.values);
  kugel__free(p->ctx, r.row);
  return s;
}
