/* SPDX-License-Identifier: BSD-3-Clause */
/* The passes of the pencil engine: slices in, lines along z, slices out. */
#include "core/alloc.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "volume/plan/pencil_device.h"
#include "volume/cpu/resident.h"

typedef kugel__resident_job job;

typedef struct pass {
  const kugel_volume *p;
  const kugel__pencil_ends *ends;
  bool adjoint;
  kugel__pencil_sizes size;
  kugel__volume_file *file; // of this execution: [kernels] volumes, the first one of the image
  char *memory;             // a slab, or a block
  char *low;                // the lowest lines, or NULL
  job j;
} pass;

static kugel_status begin(pass *r, const kugel_volume *p, bool low)
{
  *r = (pass){.p = p, .size = kugel__pencil_measure(p), .j = {.p = p, .ops = kugel__volume_ops_now()}};
  kugel__resident_measure(&r->j);
  r->j.workers = kugel__volume_workers(p, r->j.scratch_size);
  uint64_t bytes = r->size.slab > r->size.block ? r->size.slab : r->size.block;
  bytes = (bytes + 63) / 64 * 64;
  uint64_t scratch = r->j.scratch_size * (uint64_t)r->j.workers, all = bytes + scratch + kugel__low_memory(p);
  r->memory = kugel__scratch_get(p->ctx, all);
  KUGEL_CHECK(r->memory, KUGEL_ENOMEM,
              "no memory for %llu bytes of slices: limit it by kugel_ctx_limit_memory",
              (unsigned long long)all);
  r->j.scratch = r->memory + bytes;
  r->low = low && p->collects ? r->j.scratch + scratch : NULL;
  r->j.from = r->j.to = r->memory;
  return KUGEL_OK;
}

static void end(pass *r)
{
  kugel__scratch_put(r->p->ctx, r->memory);
  kugel__volume_file_close(r->file);
}

/* ---- slices of a slab to and from the blocks of a volume in a file ---- */

typedef struct transfer {
  const pass *r;
  const kugel__volume_file *file;
  int64_t base, tall, z, count; // of the volume in the file; slices
  int64_t step;                 // bytes from slice to slice in memory
  bool put;
} transfer;

static kugel_status move_block(void *arg, int64_t block)
{
  const transfer *t = arg;
  const pass *r = t->r;
  int64_t vector = r->size.vector, first = block * r->p->pencil->block;
  int64_t bytes = kugel__min(r->p->pencil->block, r->size.vectors - first) * vector;
  int64_t at = t->base + first * t->tall * vector + t->z * bytes;
  char *memory = r->memory + first * vector;
  return t->put ? kugel__volume_file_put(t->file, at, memory, t->count, bytes, t->step)
                : kugel__volume_file_get(t->file, at, memory, t->count, bytes, t->step);
}

static kugel_status move_slab(const transfer *t)
{
  return kugel__parallel(t->r->p->ctx, t->r->size.blocks, move_block, (void *)t);
}

static kugel__volume_box kernel_of(const kugel__volume_box *b, int64_t which)
{
  kugel__volume_box out = *b;
  out.data += which * b->step[0] * (b->dtype.bits / 8);
  return out;
}

// Factors of slices of results of kernel q, behind the slices in memory.
static kugel_status load_window(const pass *r, int q, int64_t z, int64_t count, kugel__resident_side *side)
{
  const kugel_volume *p = r->p;
  if (p->opts.boundary != KUGEL_BOUNDARY_UNKNOWN)
    return KUGEL_OK;
  int64_t bytes = p->axis[1].m * p->axis[2].m * (int64_t)p->real;
  char *to = r->memory + (uint64_t)(count * p->slice) * 2 * p->real;
  side->window = to;
  return kugel__volume_file_get(p->pencil->kernel,
                                (int64_t)r->size.kernel + ((int64_t)q * p->axis[0].m + z) * bytes, to, 1,
                                count * bytes, 0);
}

static kugel_status slab_in(pass *r, int64_t z, int64_t count)
{
  const kugel_volume *p = r->p;
  kugel__volume_box box;
  KUGEL_TRY(r->ends->read(r->ends->arg, z, count, &box));
  for (int q = 0; q < (r->adjoint ? p->kernels : 1); q++) {
    transfer t = {.r = r,
                  .file = r->file,
                  .base = q * (int64_t)r->size.volume,
                  .tall = r->size.tall,
                  .z = z,
                  .count = count,
                  .step = p->slice * 2 * (int64_t)p->real,
                  .put = true};
    r->j.in = kugel__resident_side_of(p, r->adjoint);
    r->j.in.extent[0] = count;
    r->j.in.box = kernel_of(&box, q);
    kugel__low_place(&r->j, p, q, r->low);
    r->j.low_first = z;
    if (r->adjoint)
      KUGEL_TRY(load_window(r, q, z, count, &r->j.in));
    KUGEL_TRY(kugel__resident_slices_in(&r->j));
    KUGEL_TRY(move_slab(&t));
  }
  return KUGEL_OK;
}

static kugel_status slab_out(pass *r, int64_t z, int64_t count)
{
  const kugel_volume *p = r->p;
  kugel__volume_box box;
  KUGEL_TRY(r->ends->place(r->ends->arg, z, count, &box));
  for (int q = 0; q < (r->adjoint ? 1 : p->kernels); q++) {
    transfer t = {.r = r,
                  .file = r->file,
                  .base = q * (int64_t)r->size.volume,
                  .tall = r->size.tall,
                  .z = z,
                  .count = count,
                  .step = p->slice * 2 * (int64_t)p->real};
    r->j.out = kugel__resident_side_of(p, !r->adjoint);
    r->j.out.extent[0] = count;
    r->j.out.box = kernel_of(&box, q);
    kugel__low_place(&r->j, p, 0, r->low);
    r->j.low_first = z;
    KUGEL_TRY(move_slab(&t));
    if (!r->adjoint)
      KUGEL_TRY(load_window(r, q, z, count, &r->j.out));
    KUGEL_TRY(kugel__resident_slices_out(&r->j));
  }
  return r->ends->written ? r->ends->written(r->ends->arg, z, count) : KUGEL_OK;
}

/* ---- lines along z ---- */

// Slices [0, count) of block `block` of a volume that begins at `base`.
static kugel_status move_lines(const pass *r, const kugel__volume_file *file, int64_t base, int64_t tall,
                               int64_t block, int64_t count, char *memory, bool put)
{
  int64_t first = block * r->p->pencil->block;
  int64_t bytes = kugel__min(r->p->pencil->block, r->size.vectors - first) * r->size.vector * count;
  int64_t at = base + first * tall * r->size.vector;
  return put ? kugel__volume_file_put(file, at, memory, 1, bytes, 0)
             : kugel__volume_file_get(file, at, memory, 1, bytes, 0);
}

// Factor of spectra.
static double scale_of(const kugel_volume *p)
{
  return p->scale / ((double)p->axis[0].points * (double)p->axis[1].points * (double)p->axis[2].points);
}

static kugel_status block_lines(pass *r, int64_t block)
{
  const kugel_volume *p = r->p;
  const kugel__volume_axis *z = &p->axis[0];
  job *j = &r->j;
  int64_t vlen = j->ops->vlen;
  int64_t lines = kugel__min(p->pencil->block, r->size.vectors - block * p->pencil->block);
  kugel_volume part = *p; // rows of one vector each
  part.axis[1].points = lines;
  part.pitch = vlen;
  part.slice = lines * vlen;
  uint64_t array = (uint64_t)(p->pencil->block * r->size.vector * kugel__max(r->size.tall, z->k));
  char *from = r->memory, *to = p->stored > 1 ? from + array : from;
  char *own = p->depth ? to + array : to; // for kernels, where sums stay in `to`
  part.spectra = own + array;
  *j = (job){.p = &part,
             .ops = j->ops,
             .scratch = j->scratch,
             .scratch_size = j->scratch_size,
             .row_points = j->row_points,
             .workers = j->workers,
             .adjoint = r->adjoint};
  kugel_status s = KUGEL_OK;
  bool adds = r->adjoint || p->depth;
  for (int q = 0; q < p->stored && !s; q++) {
    bool read = (r->adjoint && !p->depth) || q == 0;
    j->from = p->depth ? own : read ? from : to; // the kernel's
    j->in.list[0] = &z->kernel;
    j->keep = scale_of(p);
    s = move_lines(r, p->pencil->kernel, q * (int64_t)(r->size.kernel / (uint64_t)p->stored), z->k, block,
                   z->k, j->from, false);
    s = s ? s : kugel__resident_lines(j);
    j->in = kugel__resident_side_of(p, r->adjoint);
    j->out = kugel__resident_side_of(p, !r->adjoint);
    j->from = from;
    j->to = to;
    j->keep = 0;
    j->add = adds && q > 0;
    int64_t in = p->depth ? 0 : q * (int64_t)r->size.volume, out = adds ? 0 : in;
    if (!s && read)
      s = move_lines(r, r->file, r->adjoint ? in : 0, r->size.tall, block, j->in.extent[0], from, false);
    j->depth = q;
    s = s ? s : kugel__resident_lines(j);
    if (!s && (!adds || q == p->stored - 1))
      s = move_lines(r, r->file, out, r->size.tall, block, j->out.extent[0], to, true);
  }
  j->p = p;
  j->from = j->to = r->memory;
  return s;
}

// The lowest lines of all kernels of the adjoint, in memory.
static kugel_status low_lines(pass *r)
{
  const kugel_volume *p = r->p;
  job j = r->j;
  j.adjoint = true;
  j.in = kugel__resident_side_of(p, true);
  j.out = kugel__resident_side_of(p, false);
  j.keep = 0;
  kugel_status s = KUGEL_OK;
  for (int q = 0; q < p->stored && r->low && !s; q++) {
    kugel__low_place(&j, p, p->depth ? 0 : q, r->low);
    j.which = j.depth = q;
    j.add = q > 0;
    s = kugel__low_lines(&j, p);
  }
  return s;
}

/* ---- all ---- */

typedef kugel_status (*step)(pass *r, int64_t first, int64_t count);

static kugel_status one_block(pass *r, int64_t block, int64_t count)
{
  (void)count;
  return block_lines(r, block);
}

// Pieces of `size` of [first, all), a part of the progress.
static kugel_status pieces(pass *r, step run, int64_t first, int64_t all, int64_t size, double lo, double hi)
{
  kugel_status s = KUGEL_OK;
  for (int64_t i = first; i < all && !s; i += size) {
    double from = (double)(i - first) / (double)(all - first);
    double to = (double)(kugel__min(i + size, all) - first) / (double)(all - first);
    kugel__span outer = kugel__progress_enter(lo + (hi - lo) * from, lo + (hi - lo) * to);
    s = run(r, i, kugel__min(size, all - i));
    kugel__progress_leave(outer);
  }
  return s;
}

kugel_status kugel__pencil_run(const kugel_volume *p, bool adjoint, const kugel__pencil_ends *ends,
                               atomic_llong *clipped)
{
  pass r;
  if (p->pencil->device)
    return kugel__pencil_device_run(p, adjoint, ends, clipped);
  KUGEL_TRY(begin(&r, p, adjoint));
  r.adjoint = r.j.adjoint = adjoint;
  r.ends = ends;
  r.j.clipped = clipped;
  int64_t in = adjoint ? p->axis[0].m : p->axis[0].n, out = adjoint ? p->axis[0].n : p->axis[0].m;
  kugel_status s = kugel__volume_file_create(p->ctx, p->pencil->folder, r.size.volume * (uint64_t)p->kernels,
                                             false, &r.file);
  if (!s && ends->first < out)
    s = pieces(&r, slab_in, 0, in, p->pencil->slab, 0, 0.35);
  if (!s && ends->first < out)
    s = pieces(&r, one_block, 0, r.size.blocks, 1, 0.35, 0.65);
  s = s ? s : low_lines(&r);
  r.j.clipped = clipped;
  if (!s)
    s = pieces(&r, slab_out, ends->first, out, p->pencil->slab, 0.65, 1);
  end(&r);
  return s;
}

/* ---- kernels ---- */

typedef struct kernel_reader { // planes of a callback
  kugel_dtype dtype;
  char *values; // a slab
  double *row;
  double totals[2];
} kernel_reader;

static kugel__volume_box backwards(const kugel_volume *p, const int64_t *k, kugel__volume_box box)
{
  for (int d = 0; d < KUGEL__VOLUME_DIMS && p->opts.correlate; d++) {
    box.data += (k[d] - 1) * box.step[d + 1] * (box.dtype.bits / 8);
    box.step[d + 1] = -box.step[d + 1];
  }
  return box;
}

// Planes [z, z + count) in the order of the transform, read and checked.
static kugel_status read_planes(const kugel_volume *p, kernel_reader *in, int q, int64_t z, int64_t count,
                                kugel__volume_box *box)
{
  int64_t k[3] = {count, p->axis[1].k, p->axis[2].k};
  int64_t first = p->opts.correlate ? p->axis[0].k - z - count : z;
  kugel__volume_box planes = {in->values, in->dtype, {0, k[1] * k[2], k[2], 1}};
  KUGEL_TRY(kugel__volume_read_kernel(p, q, first, count, in->values));
  KUGEL_TRY(kugel__volume_check_planes(p, q, &planes, first, count, in->row, in->totals));
  *box = backwards(p, k, planes);
  return KUGEL_OK;
}

// Planes of kernel q from z on, transformed along x and y, to the plan's file. reader: NULL, or where they come from in place of `box`.
static kugel_status kernel_slab(pass *r, const kugel_volume *wide, int q, int64_t z, kugel__volume_box box,
                                kernel_reader *reader)
{
  const kugel_volume *p = r->p;
  transfer t = {.r = r,
                .file = p->pencil->kernel,
                .base = q * (int64_t)(r->size.kernel / (uint64_t)p->stored),
                .tall = p->axis[0].k,
                .z = z,
                .count = kugel__min(p->pencil->slab, p->axis[0].k - z),
                .step = wide->slice * 2 * (int64_t)p->real,
                .put = true};
  if (reader)
    KUGEL_TRY(read_planes(p, reader, q, z, t.count, &box));
  else
    box.data += z * box.step[1] * (box.dtype.bits / 8);
  r->j.in.box = box;
  r->j.in.extent[0] = t.count;
  r->j.low_first = z;
  KUGEL_TRY(kugel__resident_slices_in(&r->j));
  return move_slab(&t);
}

static kugel_status all_kernels(pass *r, const kugel_volume *wide, const kugel__volume_box *kernels,
                                kernel_reader *reader)
{
  const kugel_volume *p = r->p;
  int64_t k[3] = {p->axis[0].k, p->axis[1].k, p->axis[2].k};
  for (int q = 0; q < p->stored; q++) {
    kugel__volume_box box = reader ? *kernels : backwards(p, k, kernel_of(kernels, q));
    if (reader)
      reader->totals[0] = reader->totals[1] = 0;
    for (int64_t z = 0; z < k[0]; z += p->pencil->slab)
      KUGEL_TRY(kernel_slab(r, wide, q, z, box, reader));
    job lowest = r->j;
    lowest.which = q;
    lowest.keep = scale_of(p);
    KUGEL_TRY(kugel__low_lines(&lowest, p));
    if (reader)
      KUGEL_TRY(kugel__volume_check_totals(p, q, reader->totals));
  }
  return KUGEL_OK;
}

kugel_status kugel__pencil_kernels(const kugel_volume *p, const kugel__volume_box *kernels)
{
  pass r;
  kernel_reader reader = {.dtype = kernels->dtype};
  bool reads = p->opts.read_kernel != NULL;
  KUGEL_TRY(begin(&r, p, true));
  kugel_volume wide = *p; // kernels may need more rows than the image
  wide.rows = r.size.rows;
  wide.slice = wide.rows * p->pitch;
  r.j.p = &wide;
  r.j.in = (kugel__resident_side){.conjugate = p->opts.correlate != 0};
  kugel__low_place(&r.j, p, 0, r.low);
  for (int d = 0; d < KUGEL__VOLUME_DIMS; d++) {
    r.j.in.list[d] = &wide.axis[d].kernel;
    r.j.in.extent[d] = p->axis[d].k;
  }
  int64_t plane = p->axis[1].k * p->axis[2].k * (kernels->dtype.bits / 8);
  kugel_status s = KUGEL_OK;
  if (reads) {
    reader.values = kugel__alloc(p->ctx, (size_t)(kugel__min(p->pencil->slab, p->axis[0].k) * plane));
    reader.row = kugel__alloc(p->ctx, (size_t)p->axis[2].k * 8);
    if (!reader.values || !reader.row)
      s = KUGEL_FAIL(KUGEL_ENOMEM, "no memory for planes of the kernel of %lld bytes each", (long long)plane);
  }
  if (!s)
    s = all_kernels(&r, &wide, kernels, reads ? &reader : NULL);
  kugel__free(p->ctx, reader.values);
  kugel__free(p->ctx, reader.row);
  end(&r);
  return s;
}
