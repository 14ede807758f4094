/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts on a device, one after another: rows folded on the host, the part there and back, rows unfolded. */
#include <string.h>
#include "core/alloc.h"
#include "core/array.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "volume/cpu/resident.h"
#include "volume/gpu/dif.h"

enum { DIMS = KUGEL__VOLUME_DIMS };

typedef struct run {
  const kugel_volume *p;
  bool adjoint;
  const kugel__volume_box *in, *out;
  kugel__volume_box sum; // of earlier parts
  atomic_llong *clipped;
  kugel__resident_job j;
} run;

/* ---- rows of a part ---- */

typedef struct rows {
  const kugel_volume *one; // the plan with the twist and the fold of the part
  kugel__resident_job j;
  kugel__resident_side side;
  char *numbers;   // [z][y][points]
  int64_t wrap[2]; // of kernels, along z and y: rows beyond them are added; 0: none
  double scale;    // of what is put
} rows;

static double *values_of(const rows *r, int worker)
{
  return (double *)(void *)(r->j.scratch + (size_t)worker * r->j.scratch_size);
}
static double *planes_of(const rows *r, double *values)
{
  const kugel__volume_axis *x = &r->one->axis[2];
  return values + kugel__round_up(2 * kugel__max(x->k, kugel__max(x->n, x->m)), 8);
}

static char *numbers_of(const rows *r, int64_t row)
{
  return r->numbers + row * r->one->axis[2].points * 2 * (int64_t)r->one->real;
}

static void put(const rows *r, const double *planes, int64_t row)
{
  r->j.ops->put_part(planes, planes + r->j.row_points, r->one->axis[2].points, r->one->twist, r->scale,
                     numbers_of(r, row), r->one->f32);
}

static void get(const rows *r, double *planes, int64_t row)
{
  r->j.ops->get_part(numbers_of(r, row), r->one->axis[2].points, r->one->twist, r->one->f32, planes,
                     planes + r->j.row_points);
}

static kugel_status fold_row(void *arg, int64_t i, int worker)
{
  const rows *r = arg;
  int64_t y = i % r->side.extent[1], z = i / r->side.extent[1];
  double *values = values_of(r, worker), *planes = planes_of(r, values);
  kugel__resident_read_row(&r->j, &r->side, z, y, values, planes);
  put(r, planes, i);
  return KUGEL_OK;
}

static kugel_status unfold_row(void *arg, int64_t i, int worker)
{
  const rows *r = arg;
  int64_t y = i % r->side.extent[1], z = i / r->side.extent[1];
  double *values = values_of(r, worker), *planes = planes_of(r, values);
  get(r, planes, i);
  kugel__resident_write_row(&r->j, &r->side, z, y, values, planes);
  return KUGEL_OK;
}

// Row i of a part's kernel: the sum of all rows of the kernel that are folded there.
static kugel_status fold_kernel_row(void *arg, int64_t i, int worker)
{
  const rows *r = arg;
  int64_t y = i % r->wrap[1], z = i / r->wrap[1], count = 2 * r->j.row_points;
  double *values = values_of(r, worker), *planes = planes_of(r, values), *sum = planes + count;
  memset(sum, 0, (size_t)count * 8);
  for (int64_t from_z = z; from_z < r->side.extent[0]; from_z += r->wrap[0])
    for (int64_t from_y = y; from_y < r->side.extent[1]; from_y += r->wrap[1]) {
      kugel__resident_read_row(&r->j, &r->side, from_z, from_y, values, planes);
      for (int64_t k = 0; k < count; k++)
        sum[k] += planes[k];
    }
  put(r, sum, i);
  return KUGEL_OK;
}

static rows rows_of(const run *r, const kugel_volume *one, char *numbers)
{
  rows out = {.one = one, .j = r->j, .numbers = numbers, .scale = 1};
  out.j.p = one;
  return out;
}

static kugel__volume_box kernel_box(const kugel__volume_box *b, int which)
{
  kugel__volume_box out = *b;
  out.data += which * b->step[0] * (b->dtype.bits / 8);
  return out;
}

static kugel_status fold_kernels(const run *r, const kugel_volume *one, char *numbers)
{
  const kugel_volume *p = r->p;
  const kugel__volume_axis *a = p->axis;
  kugel__volume_box all = {
      .data = p->copy, .dtype = p->copy_type, .step = {a[0].k * a[1].k * a[2].k, a[1].k * a[2].k, a[2].k, 1}};
  int64_t k[3];
  kugel__dif_kernel(p, k);
  for (int q = 0; q < p->stored; q++) {
    rows w = rows_of(r, one, numbers + q * k[0] * k[1] * k[2] * 2 * (int64_t)p->real);
    w.side.box = kernel_box(&all, q);
    w.side.conjugate = p->opts.correlate != 0;
    for (int d = 0; d < DIMS; d++) {
      w.side.list[d] = &one->axis[d].kernel;
      w.side.extent[d] = a[d].k;
      if (!p->opts.correlate)
        continue;
      w.side.box.data += (a[d].k - 1) * w.side.box.step[d + 1] * (p->copy_type.bits / 8); // backwards
      w.side.box.step[d + 1] = -w.side.box.step[d + 1];
    }
    w.scale = p->scale / ((double)p->parts * (double)a[0].points * (double)a[1].points * (double)a[2].points);
    w.wrap[0] = k[0];
    w.wrap[1] = k[1];
    KUGEL_TRY(kugel__parallel_on(p->ctx, w.j.workers, k[0] * k[1], fold_kernel_row, &w));
  }
  return KUGEL_OK;
}

// Both ends: the image, or the results [kernels].
static kugel_status move_rows(const run *r, const kugel_volume *one, bool results,
                              const kugel__volume_box *box, char *numbers, bool in)
{
  const kugel_volume *p = r->p;
  kugel__resident_side side = kugel__resident_side_of(one, results);
  int64_t m = side.extent[0] * side.extent[1] * side.extent[2];
  for (int q = 0; q < (results ? p->kernels : 1); q++) {
    rows w = rows_of(
        r, one, numbers + q * side.extent[0] * side.extent[1] * p->axis[2].points * 2 * (int64_t)p->real);
    w.side = side;
    w.side.box = kernel_box(box, q);
    if (side.window)
      w.side.window = side.window + (size_t)(q * m) * p->real;
    w.j.which_out = q;
    KUGEL_TRY(kugel__parallel_on(p->ctx, w.j.workers, side.extent[0] * side.extent[1],
                                 in ? fold_row : unfold_row, &w));
  }
  return KUGEL_OK;
}

/* ---- steps of a part ---- */

static kugel_status fold(void *arg, kugel__lane *on, kugel__lane_slot *slot)
{
  const run *r = arg;
  (void)on;
  kugel_volume one = kugel__volume_part(r->p, (int)slot->item);
  KUGEL_TRY(fold_kernels(r, &one, slot->host_in));
  return move_rows(r, &one, r->adjoint, r->in, (char *)slot->host_in + r->p->dif->bytes.kernel, true);
}

static kugel_status unfold(void *arg, kugel__lane *on, kugel__lane_slot *slot)
{
  const run *r = arg;
  (void)on;
  kugel_volume one = kugel__volume_part(r->p, (int)slot->item);
  bool last = slot->item == r->p->parts - 1;
  run here = *r;
  one.previous = slot->item ? &r->sum : NULL;
  if (!last && !r->adjoint)
    one.window = NULL; // of whole results only
  here.j.clipped = last ? r->clipped : NULL;
  return move_rows(&here, &one, !r->adjoint, last ? r->out : &r->sum, slot->host_out, false);
}

// Queues the part's way to the device, through it, and back.
static kugel_status convolve(void *arg, kugel__lane *on, kugel__lane_slot *slot)
{
  const run *r = arg;
  const kugel__volume_dif *d = r->p->dif;
  const kugel__dif_lane *l = &d->lane[on->index];
  const kugel_volume *one = &l->part;
  int64_t n[DIMS], m[DIMS], k[3], from = 2 * (int64_t)one->real, to = from;
  for (int a = 0; a < DIMS; a++) {
    n[a] = one->axis[a].n;
    m[a] = one->axis[a].m;
    from *= r->adjoint ? m[a] : n[a];
    to *= r->adjoint ? n[a] : m[a];
  }
  *(r->adjoint ? &from : &to) *= one->kernels;
  kugel__dif_kernel(r->p, k);
  kugel__mem kernel = {slot->host_in, 0}, in = {(char *)slot->host_in + d->bytes.kernel, 0};
  KUGEL_TRY(
      kugel__device_copy(on->device, KUGEL__UPLOAD, l->voxels, kernel, (size_t)d->bytes.kernel, on->work));
  KUGEL_TRY(kugel__fused_spectra_on(one->gpu->fused, l->voxels, one->f32 ? KUGEL_C64 : KUGEL_C128, k,
                                    l->work[0], on->work));
  KUGEL_TRY(kugel__device_copy(on->device, KUGEL__UPLOAD, l->voxels, in, (size_t)from, on->work));
  KUGEL_TRY(kugel__fused_apply(one, r->adjoint, l->voxels, l->voxels, l->work, l->counter, NULL, on->work));
  return kugel__device_copy(on->device, KUGEL__DOWNLOAD, (kugel__mem){slot->host_out, 0}, l->voxels,
                            (size_t)to, on->work);
}

static kugel_status run_all(run *r)
{
  kugel__lane_job job = {.arg = r,
                         .stage = "parts",
                         .count = r->p->parts,
                         .ordered = true,
                         .load = fold,
                         .compute = convolve,
                         .deliver = unfold};
  return kugel__device_lanes_run(r->p->dif->lanes, &job);
}

kugel_status kugel__dif_run(const kugel_volume *p, bool adjoint, const kugel__volume_box *in,
                            const kugel__volume_box *out, atomic_llong *clipped)
{
  run r = {.p = p,
           .adjoint = adjoint,
           .in = in,
           .out = out,
           .clipped = clipped,
           .j = {.ops = kugel__volume_ops_now(), .p = p, .adjoint = adjoint}};
  int64_t n[DIMS], elements = adjoint ? 1 : p->kernels;
  for (int d = 0; d < DIMS; d++) {
    n[d] = adjoint ? p->axis[d].n : p->axis[d].m;
    elements *= n[d];
  }
  kugel__resident_measure(&r.j);
  r.j.workers = kugel__ctx_threads(p->ctx);
  size_t bytes = (size_t)elements * kugel__volume_sum_real(p) * (p->opts.complex_data ? 2 : 1);
  size_t scratch = r.j.scratch_size * (size_t)r.j.workers;
  char *sum = kugel__scratch_get(p->ctx, bytes);
  r.j.scratch = kugel__alloc(p->ctx, scratch);
  kugel_status s = KUGEL_OK;
  if (!sum || !r.j.scratch)
    s = KUGEL_FAIL(KUGEL_ENOMEM, "no memory for %zu bytes of results of parts", bytes + scratch);
  r.sum = kugel__volume_sum_box(p, sum, n);
  pthread_mutex_lock(&p->dif->lock);
  if (!s)
    s = run_all(&r);
  pthread_mutex_unlock(&p->dif->lock);
  kugel__scratch_put(p->ctx, sum);
  kugel__free(p->ctx, r.j.scratch);
  return s;
}
