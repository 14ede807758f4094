/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans of pencils: how much is in memory at a time, the files, the kernels' part of them, the window. */
#include <string.h>
#include "core/alloc.h"
#include "core/array.h"
#include "core/ctx.h"
#include "volume/cpu/resident.h"
#include "volume/plan/pencil_device.h"

// Memory that is used if no limit is set: pieces of files of megabytes, for volumes to some 10^12 bytes.
static const uint64_t USUAL_BYTES = (uint64_t)1 << 30;

kugel__pencil_sizes kugel__pencil_measure(const kugel_volume *p)
{
  const kugel__volume_axis *z = &p->axis[0], *y = &p->axis[1], *x = &p->axis[2];
  int64_t vlen = kugel__volume_ops_now()->vlen;
  kugel__pencil_sizes s = {.vector = vlen * 2 * (int64_t)p->real,
                           .vectors = y->points * (p->pitch / vlen),
                           .tall = kugel__max(z->n, z->m),
                           .rows = kugel__max(y->points, y->k)};
  const kugel__pencil *c = p->pencil;
  uint64_t number = 2 * p->real, slice = (uint64_t)p->slice * number;
  uint64_t kernel = (uint64_t)(s.rows * p->pitch) * number;
  if (p->opts.boundary == KUGEL_BOUNDARY_UNKNOWN)
    s.window = (uint64_t)(p->kernels * y->m * x->m) * p->real; // of a slice; twice in memory while it is made
  if (p->opts.read_kernel)                                     // planes as they are read
    kernel += (uint64_t)(y->k * x->k) * (p->opts.complex_data ? 16 : 8);
  s.slab = (uint64_t)c->slab * (kernel > slice + 2 * s.window ? kernel : slice + 2 * s.window);
  int64_t arrays = p->depth ? 3 : p->kernels > 1 ? 2 : 1;
  s.block = (uint64_t)(c->block * s.vector * (arrays * kugel__max(s.tall, z->k) + z->points));
  s.blocks = c->block ? (s.vectors + c->block - 1) / c->block : 0;
  s.volume = (uint64_t)(s.tall * s.vectors * s.vector);
  s.kernel = (uint64_t)(p->stored * z->k * s.vectors * s.vector);
  s.window *= (uint64_t)z->m;
  return s;
}

// Of threads and tables, whatever is in memory of the volume.
static uint64_t fixed_bytes(const kugel_volume *p)
{
  return kugel__volume_thread_bytes(p) + kugel__volume_table_bytes(p) + 4096;
}

uint64_t kugel__pencil_memory(const kugel_volume *p)
{
  kugel__pencil_sizes s = kugel__pencil_measure(p);
  return (s.slab > s.block ? s.slab : s.block) + fixed_bytes(p);
}

uint64_t kugel__pencil_traffic(const kugel_volume *p)
{
  kugel__pencil_sizes s = kugel__pencil_measure(p);
  uint64_t slice = s.volume / (uint64_t)s.tall, kernels = (uint64_t)p->kernels;
  return 2 * slice * (uint64_t)p->axis[0].n + 2 * slice * (uint64_t)p->axis[0].m * kernels + s.kernel +
         s.window;
}

kugel_status kugel__pencil_choose(kugel_volume *p, uint64_t limit)
{
  KUGEL_CHECK(
      p->ndim == KUGEL__VOLUME_DIMS, KUGEL_ENOTSUP,
      "engine is KUGEL_VOLUME_PENCIL (4) with ndim %d, must have 3: give a picture the lengths (y, 1, x)",
      p->ndim);
  if (!p->pencil) {
    KUGEL_ALLOC(p->ctx, p->pencil, sizeof *p->pencil);
    *p->pencil = (kugel__pencil){.slab = 0};
    if (p->opts.scratch) {
      size_t length = strlen(p->opts.scratch) + 1;
      KUGEL_ALLOC(p->ctx, p->pencil->folder, length);
      memcpy(p->pencil->folder, p->opts.scratch, length);
    }
  }
  if (p->ctx->device.type != KUGEL_CPU)
    return kugel__pencil_device_choose(p, limit);
  kugel__pencil *c = p->pencil;
  c->slab = c->block = 1;
  kugel__pencil_sizes one = kugel__pencil_measure(p);
  uint64_t least = kugel__pencil_memory(p), fixed = least - (one.slab > one.block ? one.slab : one.block);
  uint64_t budget = limit && limit < USUAL_BYTES ? limit - (fixed < limit ? fixed : limit) : USUAL_BYTES;
  KUGEL_CHECK(
      !limit || least <= limit, KUGEL_ENOMEM,
      "the limit of %llu bytes is too little for a slice and lines along axis 0, which take %llu: raise "
      "kugel_ctx_limit_memory",
      (unsigned long long)limit, (unsigned long long)least);
  if (p->opts.tile) { // lines in as much memory
    KUGEL_CHECK(p->opts.tile[0] >= 1, KUGEL_EINVAL, "tile[0] is %lld, must be at least 1",
                (long long)p->opts.tile[0]);
    budget = (uint64_t)kugel__min(p->opts.tile[0], one.tall) * one.slab;
  }
  c->slab = kugel__max(1, kugel__min((int64_t)(budget / one.slab), one.tall));
  c->block = kugel__max(1, kugel__min((int64_t)(budget / one.block), one.vectors));
  c->block -= c->block > 1 && c->block % 2 == 0; // or lines along z would fall on few sets of a cache
  return KUGEL_OK;
}

/* ---- the window of unknown surroundings ---- */

typedef struct window { // H applied to ones, inverted, slab by slab
  const kugel_volume *p;
  char *slab; // [kernels][slices][y][x]
} window;

static const float ONE = 1;

static kugel_status read_ones(void *arg, int64_t z, int64_t count, kugel__volume_box *box)
{
  (void)arg, (void)z, (void)count;
  *box = (kugel__volume_box){.data = (char *)&ONE, .dtype = KUGEL_F32};
  return KUGEL_OK;
}

static kugel_status place_parts(void *arg, int64_t z, int64_t count, kugel__volume_box *box)
{
  const window *w = arg;
  (void)z;
  *box = kugel__volume_own_box(w->p, w->slab, (int64_t[3]){count, w->p->axis[1].m, w->p->axis[2].m});
  return KUGEL_OK;
}

static kugel_status keep_factors(void *arg, int64_t z, int64_t count)
{
  const window *w = arg;
  const kugel_volume *p = w->p;
  int64_t kernels =
      p->pencil->device ? (int64_t)p->pencil->device->size.kernels : (int64_t)kugel__pencil_measure(p).kernel;
  int64_t plane = p->axis[1].m * p->axis[2].m, bytes = plane * (int64_t)p->real;
  kugel__volume_invert(p, w->slab, (int64_t[3]){count, p->axis[1].m, p->axis[2].m}, p->axis[0].first + z);
  for (int64_t q = 0; q < p->kernels; q++)
    KUGEL_TRY(kugel__volume_file_put(p->pencil->kernel, kernels + (q * p->axis[0].m + z) * bytes,
                                     w->slab + q * count * bytes, 1, count * bytes, 0));
  return KUGEL_OK;
}

static kugel_status make_window(kugel_volume *p)
{
  kugel_volume bare = *p; // without the window that is being made
  bare.opts.boundary = KUGEL_BOUNDARY_ZERO;
  window w = {.p = p};
  KUGEL_ALLOC(p->ctx, w.slab, (size_t)(p->pencil->slab * p->kernels * p->axis[1].m * p->axis[2].m) * p->real);
  kugel__pencil_ends ends = {.arg = &w, .read = read_ones, .place = place_parts, .written = keep_factors};
  kugel_status s = kugel__pencil_run(&bare, false, &ends, NULL);
  kugel__free(p->ctx, w.slab);
  return s;
}

static kugel_status make_kernels(kugel_volume *p, const kugel__volume_box *box)
{
  if (p->ctx->device.type != KUGEL_CPU) {
    KUGEL_TRY(kugel__pencil_device_create(p));
    return kugel__pencil_device_kernels(p, box);
  }
  kugel__pencil_sizes s = kugel__pencil_measure(p);
  KUGEL_TRY(kugel__volume_lines(p));
  KUGEL_TRY(kugel__low_create(p));
  KUGEL_TRY(
      kugel__volume_file_create(p->ctx, p->pencil->folder, s.kernel + s.window, false, &p->pencil->kernel));
  return kugel__pencil_kernels(p, box);
}

kugel_status kugel__pencil_create(kugel_volume *p, const kugel_array *kernel)
{
  kugel__volume_box box;
  KUGEL_TRY(p->opts.read_kernel ? kugel__volume_make_sums(p) : kugel__volume_check_kernels(p, kernel));
  KUGEL_TRY(kugel__volume_take_kernel(p, kernel, &box));
  KUGEL_TRY(make_kernels(p, &box));
  return p->opts.boundary == KUGEL_BOUNDARY_UNKNOWN ? make_window(p) : KUGEL_OK;
}

void kugel__pencil_destroy(kugel_volume *p)
{
  if (!p->pencil)
    return;
  kugel__pencil_device_destroy(p);
  kugel__volume_file_close(p->pencil->kernel);
  kugel__free(p->ctx, p->pencil->folder);
  kugel__free(p->ctx, p->pencil);
}
