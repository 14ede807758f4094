/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts on a device: all rows folded on the host, each part there and back, all rows unfolded. A row is read once for all parts, and
 * written once: what the host moves does not grow with their number. */
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
  char *parts; // [parts][bytes.in]: what goes in, then what came out
} run;

/* ---- rows of all parts ---- */

typedef struct rows {
  const kugel_volume *p;
  kugel__resident_job j;
  kugel__resident_side side;
  char *numbers;   // [z][y][points] of part 0
  uint64_t part;   // bytes from part to part
  bool kernel;     // a kernel's rows
  int64_t wrap[2]; // of kernels, along z and y: rows beyond them are added
  double scale;    // of what is put
} rows;

static double *values_of(const rows *r, int worker)
{
  return (double *)(void *)(r->j.scratch + (size_t)worker * r->j.scratch_size);
}
static int64_t longest(const kugel_volume *p)
{
  const kugel__volume_axis *x = &p->axis[2];
  return kugel__round_up(2 * kugel__max(x->k, kugel__max(x->n, x->m)), 8);
}
static double *planes_of(const rows *r, double *values)
{
  return values + longest(r->p);
}

// Scratch of all workers, each with a row of sums more than a resident volume's.
static kugel_status make_scratch(const kugel_volume *p, kugel__resident_job *j)
{
  *j = (kugel__resident_job){.ops = kugel__volume_ops_now(), .p = p, .workers = kugel__ctx_threads(p->ctx)};
  kugel__resident_measure(j);
  j->scratch_size += (size_t)longest(p) * 8;
  KUGEL_ALLOC(p->ctx, j->scratch, j->scratch_size * (size_t)j->workers);
  return KUGEL_OK;
}

static char *numbers_of(const rows *r, int part, int64_t row)
{
  return r->numbers + r->part * (uint64_t)part + row * r->p->axis[2].points * 2 * (int64_t)r->p->real;
}

// Row (z, y) of a part into planes.
static void read_part(const rows *r, int part, int64_t z, int64_t y, double *values, double *planes)
{
  kugel_volume one = kugel__volume_part(r->p, part);
  kugel__resident_job j = r->j;
  kugel__resident_side side = r->side;
  j.p = &one;
  if (r->kernel)
    side.list[2] = &one.axis[2].kernel;
  kugel__resident_read_row(&j, &side, z, y, values, planes);
}

static const double *twist_of(const kugel_volume *p, int part)
{
  return p->twist ? p->twist + 2 * part * p->axis[2].points : NULL;
}

static void put(const rows *r, int part, const double *planes, int64_t row)
{
  r->j.ops->put_part(planes, planes + r->j.row_points, r->p->axis[2].points, twist_of(r->p, part), r->scale,
                     numbers_of(r, part, row), r->p->f32);
}

static kugel_status fold_row(void *arg, int64_t i, int worker)
{
  const rows *r = arg;
  double *values = values_of(r, worker), *planes = planes_of(r, values);
  for (int part = 0; part < r->p->parts; part++) {
    read_part(r, part, i / r->side.extent[1], i % r->side.extent[1], values, planes);
    put(r, part, planes, i);
  }
  return KUGEL_OK;
}

// Row i of the parts' kernels: the sum of all rows of the kernel that are folded there.
static kugel_status fold_kernel_row(void *arg, int64_t i, int worker)
{
  const rows *r = arg;
  int64_t y = i % r->wrap[1], z = i / r->wrap[1], count = 2 * r->j.row_points;
  double *values = values_of(r, worker), *planes = planes_of(r, values), *sum = planes + count;
  for (int part = 0; part < r->p->parts; part++) {
    memset(sum, 0, (size_t)count * 8);
    for (int64_t from_z = z; from_z < r->side.extent[0]; from_z += r->wrap[0])
      for (int64_t from_y = y; from_y < r->side.extent[1]; from_y += r->wrap[1]) {
        read_part(r, part, from_z, from_y, values, planes);
        for (int64_t k = 0; k < count; k++)
          sum[k] += planes[k];
      }
    put(r, part, sum, i);
  }
  return KUGEL_OK;
}

// The parts' rows are added up in double, and written once.
static kugel_status unfold_row(void *arg, int64_t i, int worker)
{
  const rows *r = arg;
  double *values = values_of(r, worker), *planes = planes_of(r, values);
  char *end = (char *)values + r->j.scratch_size;
  kugel__volume_box sum = {
      .data = end - longest(r->p) * 8, .dtype = r->p->halved ? KUGEL_F64 : KUGEL_C128, .step = {0, 0, 0, 1}};
  for (int part = 0; part < r->p->parts; part++) {
    kugel_volume one = kugel__volume_part(r->p, part);
    kugel__resident_job j = r->j;
    kugel__resident_side side = r->side;
    one.previous = part ? &sum : NULL;
    j.p = &one;
    if (part < r->p->parts - 1) {
      side.box = sum;
      side.window = NULL; // of whole results only
      j.clipped = NULL;
    }
    j.ops->get_part(numbers_of(r, part, i), one.axis[2].points, one.twist, one.f32, planes,
                    planes + j.row_points);
    kugel__resident_write_row(&j, &side, i / side.extent[1], i % side.extent[1], values, planes);
  }
  return KUGEL_OK;
}

static kugel__volume_box kernel_box(const kugel__volume_box *b, int which)
{
  kugel__volume_box out = *b;
  out.data += which * b->step[0] * (b->dtype.bits / 8);
  return out;
}

kugel_status kugel__dif_fold_kernels(const kugel_volume *p)
{
  const kugel__volume_axis *a = p->axis;
  kugel__volume_box all = {
      .data = p->copy, .dtype = p->copy_type, .step = {a[0].k * a[1].k * a[2].k, a[1].k * a[2].k, a[2].k, 1}};
  int64_t k[3];
  kugel__resident_job j;
  kugel__dif_kernel(p, k);
  KUGEL_TRY(make_scratch(p, &j));
  kugel_status s = KUGEL_OK;
  for (int q = 0; q < p->stored && !s; q++) {
    rows w = {.p = p, .j = j, .part = p->dif->bytes.kernel, .kernel = true, .wrap = {k[0], k[1]}};
    w.numbers = p->dif->kernels + q * k[0] * k[1] * k[2] * 2 * (int64_t)p->real;
    w.scale = p->scale / ((double)p->parts * (double)a[0].points * (double)a[1].points * (double)a[2].points);
    w.side.box = kernel_box(&all, q);
    w.side.conjugate = p->opts.correlate != 0;
    for (int d = 0; d < DIMS; d++) {
      w.side.list[d] = &a[d].kernel;
      w.side.extent[d] = a[d].k;
      if (!p->opts.correlate)
        continue;
      w.side.box.data += (a[d].k - 1) * w.side.box.step[d + 1] * (p->copy_type.bits / 8); // backwards
      w.side.box.step[d + 1] = -w.side.box.step[d + 1];
    }
    s = kugel__parallel_on(p->ctx, j.workers, k[0] * k[1], fold_kernel_row, &w);
  }
  kugel__free(p->ctx, j.scratch);
  return s;
}

// Both ends: the image, or the results [kernels].
static kugel_status move_rows(const run *r, const kugel__resident_job *j, bool results,
                              const kugel__volume_box *box, bool in)
{
  const kugel_volume *p = r->p;
  kugel__resident_side side = kugel__resident_side_of(p, results);
  int64_t rows_of = side.extent[0] * side.extent[1];
  for (int q = 0; q < (results ? p->kernels : 1); q++) {
    rows w = {.p = p, .j = *j, .side = side, .part = p->dif->bytes.in, .scale = 1};
    w.numbers = r->parts + q * rows_of * p->axis[2].points * 2 * (int64_t)p->real;
    w.side.box = kernel_box(box, q);
    if (side.window)
      w.side.window = side.window + (size_t)(q * rows_of * side.extent[2]) * p->real;
    KUGEL_TRY(kugel__parallel_on(p->ctx, j->workers, rows_of, in ? fold_row : unfold_row, &w));
  }
  return KUGEL_OK;
}

/* ---- steps of a part ---- */

typedef struct transfer {
  char *to;
  const char *from;
  uint64_t bytes;
} transfer;

enum { PIECE = 1 << 20 };

static kugel_status copy_piece(void *arg, int64_t i)
{
  const transfer *t = arg;
  uint64_t at = (uint64_t)i * PIECE, rest = t->bytes - at;
  memcpy(t->to + at, t->from + at, rest < PIECE ? rest : PIECE);
  return KUGEL_OK;
}

static kugel_status copy(kugel_ctx *ctx, void *to, const void *from, uint64_t bytes)
{
  transfer t = {to, from, bytes};
  return kugel__parallel(ctx, (int64_t)((bytes + PIECE - 1) / PIECE), copy_piece, &t);
}

static kugel_status load(void *arg, kugel__lane *on, kugel__lane_slot *slot)
{
  const run *r = arg;
  const kugel__volume_dif *d = r->p->dif;
  const kugel__dif_bytes *b = &d->bytes;
  uint64_t part = (uint64_t)slot->item;
  (void)on;
  KUGEL_TRY(copy(r->p->ctx, slot->host_in, d->kernels + part * b->kernel, b->kernel));
  return copy(r->p->ctx, (char *)slot->host_in + b->kernel, r->parts + part * b->in, b->in);
}

static kugel_status deliver(void *arg, kugel__lane *on, kugel__lane_slot *slot)
{
  const run *r = arg;
  const kugel__dif_bytes *b = &r->p->dif->bytes;
  (void)on;
  return copy(r->p->ctx, r->parts + (uint64_t)slot->item * b->in, slot->host_out, b->out);
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

static kugel_status run_parts(run *r)
{
  kugel__lane_job job = {.arg = r,
                         .stage = "parts",
                         .count = r->p->parts,
                         .load = load,
                         .compute = convolve,
                         .deliver = deliver};
  return kugel__device_lanes_run(r->p->dif->lanes, &job);
}

static kugel_status run_all(run *r, kugel__resident_job *j, const kugel__volume_box *in,
                            const kugel__volume_box *out)
{
  kugel__span outer = kugel__progress_enter(0, 0.2);
  kugel_status s = move_rows(r, j, r->adjoint, in, true);
  kugel__progress_leave(outer);
  outer = kugel__progress_enter(0.2, 0.8);
  s = s ? s : run_parts(r);
  kugel__progress_leave(outer);
  outer = kugel__progress_enter(0.8, 1);
  s = s ? s : move_rows(r, j, !r->adjoint, out, false);
  kugel__progress_leave(outer);
  return s;
}

kugel_status kugel__dif_run(const kugel_volume *p, bool adjoint, const kugel__volume_box *in,
                            const kugel__volume_box *out, atomic_llong *clipped)
{
  kugel__resident_job j;
  run r = {.p = p, .adjoint = adjoint};
  size_t bytes = (size_t)(p->dif->bytes.in * (uint64_t)p->parts);
  KUGEL_TRY(make_scratch(p, &j));
  j.adjoint = adjoint;
  j.clipped = clipped;
  r.parts = kugel__scratch_get(p->ctx, bytes);
  kugel_status s =
      r.parts ? KUGEL_OK : KUGEL_FAIL(KUGEL_ENOMEM, "no memory for %zu bytes of folded parts", bytes);
  pthread_mutex_lock(&p->dif->lock);
  if (!s)
    s = run_all(&r, &j, in, out);
  pthread_mutex_unlock(&p->dif->lock);
  kugel__scratch_put(p->ctx, r.parts);
  kugel__free(p->ctx, j.scratch);
  return s;
}
