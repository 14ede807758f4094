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

/* ---- memory ---- */

size_t kugel__volume_work(const kugel_volume *p)
{
  return (size_t)(p->slices * p->slice) * 2 * p->real * (p->stored > 1 ? 2 : 1);
}

size_t kugel__volume_kernel_work(const kugel_volume *p)
{
  return (size_t)(p->axis[0].k * kugel__max(p->axis[1].points, p->axis[1].k) * p->pitch) * 2 * p->real;
}

static size_t reserved(const kugel_volume *p, size_t scratch)
{
  return p->limit / 32 > scratch ? (size_t)(p->limit / 32) : scratch;
}

size_t kugel__volume_thread_bytes(const kugel_volume *p)
{
  job j = {.p = p, .ops = kugel__volume_ops_now()};
  kugel__resident_measure(&j);
  return p->limit ? reserved(p, j.scratch_size) : j.scratch_size * (size_t)kugel__ctx_threads(p->ctx);
}

int64_t kugel__volume_threads(const kugel_volume *p)
{
  return p->threads ? p->threads : kugel__ctx_threads(p->ctx);
}

int64_t kugel__volume_workers(const kugel_volume *p, size_t scratch)
{
  int64_t threads = kugel__ctx_threads(p->ctx);
  return p->limit ? kugel__min(threads, (int64_t)(reserved(p, scratch) / scratch)) : threads;
}

size_t kugel__volume_table_bytes(const kugel_volume *p)
{
  const kugel__volume_axis *x = &p->axis[2];
  int64_t bytes = p->halved || p->parts > 1 ? p->parts * x->points * 16 : 0;
  bytes += p->parts > 1 ? p->parts * p->segments * 16 : 0;
  for (int d = 0; d < KUGEL__VOLUME_DIMS; d++) {
    const kugel__volume_axis *a = &p->axis[d];
    bytes += kugel__lanes_bytes_of(a->points) + (a->table ? 16 * (a->data.count + a->m + a->k) : 0);
  }
  return (size_t)bytes + kugel__low_bytes(p) + sizeof *p + 1024; // blocks have headers
}

/* An array of a kernel has the size of an execution's, which then takes it over from the context; a larger one is freed. */
static kugel_status begin(job *j, size_t work, size_t all, bool low)
{
  const kugel_volume *p = j->p;
  j->ops = kugel__volume_ops_now();
  kugel__resident_measure(j);
  j->workers = kugel__volume_workers(p, j->scratch_size);
  size_t own = j->scratch_size * (size_t)j->workers, scratch = own + kugel__low_memory(p);
  j->kept = work <= all;
  j->from = j->kept ? kugel__scratch_get(p->ctx, all + scratch) : kugel__alloc(p->ctx, work + scratch);
  KUGEL_CHECK(j->from, KUGEL_ENOMEM,
              "no memory for %zu bytes of padded volume: use KUGEL_VOLUME_TILES or _DIF",
              kugel__max(work, all) + scratch);
  j->scratch = j->from + kugel__max(work, all);
  kugel__low_place(j, p, 0, low ? j->scratch + own : NULL);
  return KUGEL_OK;
}

static void end(job *j)
{
  if (j->kept)
    kugel__scratch_put(j->p->ctx, j->from);
  else
    kugel__free(j->p->ctx, j->from);
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
  bool sums = j->adjoint || p->depth, last = which == p->stored - 1; // of kernels, else each has its results
  int mine = p->depth ? 0 : which;
  j->which = j->depth = which;
  j->which_out = sums ? 0 : which;
  j->add = sums && which > 0;
  bool reads = (j->adjoint && !p->depth) || which == 0, writes = !sums || last;
  side *results = j->adjoint ? &j->in : &j->out;
  j->in.box = j->adjoint ? box_of_kernel(in, mine) : *in;
  j->out.box = j->adjoint ? *out : box_of_kernel(out, mine);
  if (p->window)
    results->window = p->window + (size_t)(mine * p->axis[0].m * p->axis[1].m * p->axis[2].m) * p->real;
  kugel__progress_stage(0, 0.35, "image");
  if (reads)
    KUGEL_TRY(kugel__resident_slices_in(j));
  kugel__progress_stage(0.35, 0.65, "spectrum");
  KUGEL_TRY(kugel__resident_lines(j));
  KUGEL_TRY(kugel__low_lines(j, p));
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
  size_t work = kugel__volume_work(p);
  KUGEL_TRY(begin(&j, work, work, adjoint));
  j.to = j.from + (p->stored > 1 ? work / 2 : 0);
  kugel_status s = KUGEL_OK;
  for (int i = 0; i < p->stored && !s; i++) {
    kugel__span outer = kugel__progress_enter((double)i / p->stored, (double)(i + 1) / p->stored);
    s = run_kernel(&j, i, in, out);
    kugel__progress_leave(outer);
  }
  end(&j);
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
  KUGEL_TRY(begin(&j, kugel__volume_kernel_work(p), kugel__volume_work(p), true));
  kugel_status s = kugel__resident_slices_in(&j);
  if (!s)
    s = kugel__resident_lines(&j);
  if (!s)
    s = kugel__low_lines(&j, p);
  end(&j);
  return s;
}
