/* SPDX-License-Identifier: BSD-3-Clause */
/* Volumes from callbacks to callbacks. */
#include "core/alloc.h"
#include "core/array.h"
#include "core/ctx.h"
#include "volume/plan/global.h"
#include "volume/plan/plan.h"
#include "volume/plan/stream.h"

typedef kugel__stream stream;

kugel_status kugel__stream_first(stream *s, int64_t boxes)
{
  s->first = s->o->boxes && s->o->boxes != boxes ? 0 : s->o->first;
  KUGEL_CHECK(s->first >= 0 && s->first <= boxes, KUGEL_EINVAL,
              "first is %lld, must be 0 to the number of boxes, %lld", (long long)s->first, (long long)boxes);
  return KUGEL_OK;
}

// Other engines: one box.
static kugel_status run_whole(stream *s)
{
  const kugel_volume *p = s->p;
  int lead = KUGEL__VOLUME_DIMS - p->ndim;
  int64_t zero[3] = {0}, n[3], m[3], points = 1, results = p->kernels;
  for (int d = 0; d < KUGEL__VOLUME_DIMS; d++) {
    n[d] = p->axis[d].n;
    m[d] = p->axis[d].m;
    points *= n[d];
    results *= m[d];
  }
  KUGEL_TRY(kugel__stream_first(s, 1));
  if (s->first)
    return KUGEL_OK;
  s->in = kugel__alloc(p->ctx, (size_t)(points * s->size_in));
  s->out = kugel__alloc(p->ctx, (size_t)(results * s->size_out));
  KUGEL_CHECK(s->in && s->out, KUGEL_ENOMEM, "no memory for %lld bytes of voxels: use KUGEL_VOLUME_TILES",
              (long long)(points * s->size_in + results * s->size_out));
  int code = s->o->read(s->o->user, zero, n + lead, s->in);
  KUGEL_CHECK(code == 0, KUGEL_EIO, "the read callback returned %d", code);
  kugel__volume_box in = {s->in, s->o->in, {0, n[1] * n[2], n[2], 1}},
                    out = {s->out, s->o->out, {m[0] * m[1] * m[2], m[1] * m[2], m[2], 1}};
  KUGEL_TRY(kugel__volume_run(p, false, &in, &out, &s->clipped));
  code = s->o->write(s->o->user, zero, m + lead, s->out);
  KUGEL_CHECK(code == 0, KUGEL_EIO, "the write callback returned %d", code);
  KUGEL_CHECK(!s->o->done || !s->o->done(s->o->user, 0, 1), KUGEL_ECANCELED,
              "the done callback stopped the work");
  return KUGEL_OK;
}

/* ---- pencils: a box is a slab of slices ---- */

static kugel_status read_slab(void *arg, int64_t z, int64_t count, kugel__volume_box *box)
{
  stream *s = arg;
  const kugel__volume_axis *a = s->p->axis;
  int64_t lo[3] = {z, 0, 0}, n[3] = {count, a[1].n, a[2].n};
  int code = s->o->read(s->o->user, lo, n, s->in);
  KUGEL_CHECK(code == 0, KUGEL_EIO, "the read callback returned %d at slice %lld", code, (long long)z);
  *box = (kugel__volume_box){s->in, s->o->in, {0, a[1].n * a[2].n, a[2].n, 1}};
  return KUGEL_OK;
}

static kugel_status place_slab(void *arg, int64_t z, int64_t count, kugel__volume_box *box)
{
  stream *s = arg;
  const kugel__volume_axis *a = s->p->axis;
  (void)z;
  *box = (kugel__volume_box){s->in, s->o->out, {count * a[1].m * a[2].m, a[1].m * a[2].m, a[2].m, 1}};
  return KUGEL_OK;
}

static kugel_status write_slab(void *arg, int64_t z, int64_t count)
{
  stream *s = arg;
  const kugel__volume_axis *a = s->p->axis;
  int64_t lo[3] = {z, 0, 0}, n[3] = {count, a[1].m, a[2].m};
  int64_t slab = s->p->pencil ? s->p->pencil->slab : a[0].m; // slabs of ranks make one box
  int64_t boxes = (a[0].m + slab - 1) / slab;
  int code = s->o->write(s->o->user, lo, n, s->in);
  KUGEL_CHECK(code == 0, KUGEL_EIO, "the write callback returned %d at slice %lld", code, (long long)z);
  bool whole = s->p->pencil || z + count == a[0].m;
  KUGEL_CHECK(!s->o->done || !whole || !s->o->done(s->o->user, z / slab, boxes), KUGEL_ECANCELED,
              "the done callback stopped the work after box %lld of %lld", (long long)(z / slab),
              (long long)boxes);
  return KUGEL_OK;
}

static kugel_status run_slabs(stream *s)
{
  const kugel_volume *p = s->p;
  const kugel__volume_axis *a = p->axis;
  int64_t slab = p->pencil->slab, boxes = (a[0].m + slab - 1) / slab;
  KUGEL_TRY(kugel__stream_first(s, boxes));
  int64_t in = kugel__min(slab, a[0].n) * a[1].n * a[2].n * s->size_in;
  int64_t out = kugel__min(slab, a[0].m) * a[1].m * a[2].m * s->size_out * p->kernels;
  KUGEL_ALLOC(p->ctx, s->in, (size_t)kugel__max(in, out)); // first of what is read, then of results
  kugel__pencil_ends ends = {
      .arg = s, .read = read_slab, .place = place_slab, .written = write_slab, .first = s->first * slab};
  return kugel__pencil_run(p, false, &ends, &s->clipped);
}

// Each rank's slab is read, sent, got back and written on its own.
static kugel_status run_ranks(stream *s)
{
  const kugel_volume *p = s->p;
  const kugel__volume_axis *a = p->axis;
  int64_t slab = kugel__global_led_slab(p);
  KUGEL_TRY(kugel__stream_first(s, 1));
  if (s->first)
    return KUGEL_OK;
  int64_t in = kugel__min(slab, a[0].n) * a[1].n * a[2].n * s->size_in;
  int64_t out = kugel__min(slab, a[0].m) * a[1].m * a[2].m * s->size_out * p->kernels;
  KUGEL_ALLOC(p->ctx, s->in, (size_t)kugel__max(in, out));
  kugel__pencil_ends ends = {.arg = s, .read = read_slab, .place = place_slab, .written = write_slab};
  return kugel__global_led_run(p, false, &ends, s->o->in, s->o->out, &s->clipped);
}

kugel_status kugel_volume_stream(const kugel_volume *p, const kugel_volume_stream_opts *opts)
{
  kugel_volume_stream_opts o;
  KUGEL_CHECK(p && opts, KUGEL_EINVAL, "plan or opts is NULL: pass both");
  KUGEL_TRY(kugel__take_opts(&o, sizeof o, opts, "kugel_volume_stream_opts"));
  KUGEL_CHECK(o.read && o.write, KUGEL_EINVAL, "read or write is NULL: set both callbacks");
  KUGEL_CHECK(kugel__volume_dtype(o.in, p->opts.complex_data) &&
                  kugel__volume_dtype(o.out, p->opts.complex_data),
              KUGEL_ESHAPE, "values have types (%d, %d bits) and (%d, %d bits), must be %s", o.in.code,
              o.in.bits, o.out.code, o.out.bits,
              p->opts.complex_data ? "complex64 or complex128"
                                   : "uint8, uint16, int16, int32, float16, float32 or float64");
  KUGEL_CHECK(!p->global, KUGEL_ENOTSUP,
              "the plan has opts.comm: pass parts to kugel_volume_execute, or let rank 0 lead (kugel_lead)");
  stream s = {.p = p, .o = &o, .size_in = o.in.bits / 8, .size_out = o.out.bits / 8};
  kugel_status status;
  if (p->engine == KUGEL_VOLUME_TILES) {
    status = kugel__stream_tiles(&s);
  } else if (p->pencil) {
    status = run_slabs(&s);
  } else if (p->global_led) {
    status = run_ranks(&s);
  } else {
    status = run_whole(&s);
  }
  kugel__stream_free(&s);
  if (o.clipped)
    *o.clipped = atomic_load(&s.clipped);
  return status;
}
