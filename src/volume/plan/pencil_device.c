/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans of pencils on devices: how many slices and lines a piece has, memory, time; the lanes. */
#include "volume/plan/pencil_device.h"
#include <math.h>
#include <string.h>
#include <unistd.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "volume/gpu/lane_sizes.h"

enum { DIMS = KUGEL__VOLUME_DIMS, SLOTS = KUGEL__LANE_TILES_SLOTS };

// Of the slots of a lane, of which the host has as much page-locked memory: pieces of megabytes for volumes to some 10^12 bytes.
static const uint64_t USUAL_BYTES = (uint64_t)1 << 30;

/* ---- sizes ---- */

static uint64_t align(int64_t bytes)
{
  return kugel__lane_align(bytes);
}

static uint64_t most(uint64_t a, uint64_t b)
{
  return a > b ? a : b;
}

static bool is_mapped(const kugel_volume *p, int d)
{
  return p->axis[d].data.position != NULL;
}

// Voxels of any type, since a plan is made before its arrays are known.
static kugel__pencil_bytes measure(const kugel_volume *p, int64_t lines, int64_t slab, int64_t block)
{
  const kugel__volume_axis *a = p->axis;
  int64_t parts = p->opts.complex_data ? 2 : 1, real = (int64_t)p->real, voxel = 8 * parts;
  kugel__pencil_bytes s = {.number = 2 * real, .lines = lines, .blocks = (lines + block - 1) / block};
  for (int d = 0; d < DIMS; d++) {
    s.kernel[d] = kugel__min(a[d].k, a[d].length);
    s.wide[d] = is_mapped(p, d) ? a[d].data.count : a[d].n;
  }
  s.tall = kugel__max(a[0].n, a[0].m);
  int64_t sources = p->depth ? 1 : p->kernels, n = a[1].n * a[2].n, m = a[1].m * a[2].m;
  bool window = p->opts.boundary == KUGEL_BOUNDARY_UNKNOWN;
  s.plane = window ? (uint64_t)(m * real) : 0;
  s.slices = align(slab * lines * s.number);
  uint64_t voxels = align(slab * kugel__max(n, m) * voxel), windows = align(slab * (int64_t)s.plane);
  uint64_t kernels = align(slab * s.kernel[1] * s.kernel[2] * real * parts);
  int64_t from = kugel__max(kugel__max(a[0].n, a[0].m * sources) + p->stored * s.kernel[0], a[0].n),
          to = kugel__max(a[0].m * sources, s.wide[0]);
  s.in = most(most(most(voxels, s.slices) + windows, kernels), align(block * from * s.number));
  s.out = most(most(voxels, s.slices), align(block * to * s.number));
  if (is_mapped(p, 1) || is_mapped(p, 2))
    s.extended = align(slab * s.wide[1] * s.wide[2] * real * parts);
  s.spectra = (uint64_t)(a[0].points * block * s.number);
  uint64_t weights = p->depth ? (uint64_t)(p->stored * a[0].points * real) : 0;
  s.device = SLOTS * (s.in + s.out) + s.extended + s.spectra + weights + 4096;
  s.volume = (uint64_t)(s.tall * lines * s.number);
  s.kernels = (uint64_t)(p->stored * s.kernel[0] * lines * s.number);
  s.window = (uint64_t)(p->kernels * a[0].m) * s.plane;
  return s;
}

static uint64_t between(const kugel_volume *p, const kugel__pencil_bytes *s)
{
  return s->kernels + s->window + s->volume * (uint64_t)p->kernels;
}

// Pieces of a part of the whole, an eighth at the most, so that copies overlap with work.
static void cut(const kugel_volume *p, int64_t lines, double part, int64_t *slab, int64_t *block)
{
  int64_t tall = kugel__max(p->axis[0].n, p->axis[0].m);
  *slab = kugel__max(1, (int64_t)(part * (double)tall));
  *block = kugel__max(1, (int64_t)(part * (double)lines));
  *block -= *block > 64 ? *block % 32 : 0;
}

kugel_status kugel__pencil_device_choose(kugel_volume *p, uint64_t limit)
{
  kugel__pencil *c = p->pencil;
  kugel__fused *f;
  KUGEL_CHECK(p->ctx->npeers < KUGEL__PENCIL_LANES, KUGEL_ENOTSUP,
              "%d devices share the pieces, must be at most %d", p->ctx->npeers + 1,
              (int)KUGEL__PENCIL_LANES);
  KUGEL_TRY(kugel__fused_shape(p->ctx, p, &f));
  int64_t lines = kugel__fused_slice(f);
  kugel__fused_destroy(f);
  KUGEL_CHECK(lines, KUGEL_ENOTSUP,
              "image and kernel have one plane along axis 0, of which there are no pencils on devices: "
              "use KUGEL_VOLUME_TILES or KUGEL_VOLUME_DIF");
  cut(p, lines, 0, &c->slab, &c->block);
  uint64_t least = measure(p, lines, c->slab, c->block).device;
  KUGEL_CHECK(!limit || least <= limit, KUGEL_ENOMEM,
              "the limit of %llu bytes of device memory is too little for a slice and lines along axis 0, "
              "which take %llu: raise kugel_ctx_limit_memory",
              (unsigned long long)limit, (unsigned long long)least);
  uint64_t usual = most(least, limit && limit < USUAL_BYTES ? limit : USUAL_BYTES);
  if (p->opts.tile) {
    KUGEL_CHECK(p->opts.tile[0] >= 1, KUGEL_EINVAL, "tile[0] is %lld, must be at least 1",
                (long long)p->opts.tile[0]);
    int64_t tall = kugel__max(p->axis[0].n, p->axis[0].m);
    double part = fmin(1, (double)p->opts.tile[0] / (double)tall);
    cut(p, lines, part, &c->slab, &c->block);
    c->slab = kugel__min(p->opts.tile[0], tall);
    uint64_t bytes = measure(p, lines, c->slab, c->block).device;
    KUGEL_CHECK(!limit || bytes <= limit, KUGEL_ENOMEM,
                "%lld slices at a time take %llu bytes of device memory, the limit is %llu: take a smaller "
                "tile[0], or raise kugel_ctx_limit_memory",
                (long long)c->slab, (unsigned long long)bytes, (unsigned long long)limit);
  } else {
    double lo = 0, hi = 0.125;
    for (int i = 0; i < 40; i++) {
      double part = i ? 0.5 * (lo + hi) : hi;
      cut(p, lines, part, &c->slab, &c->block);
      bool fits = measure(p, lines, c->slab, c->block).device <= usual;
      lo = fits ? part : lo;
      hi = fits ? hi : part;
    }
    cut(p, lines, lo, &c->slab, &c->block);
  }
  c->lines = lines;
  kugel__pencil_bytes s = measure(p, lines, c->slab, c->block);
  uint64_t memory = p->opts.memory ? p->opts.memory
                                   : (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / 4;
  c->in_memory = between(p, &s) <= memory;
  return KUGEL_OK;
}

/* ---- figures ---- */

// Of the host, by one thread: a byte copied between memory and memory, and to or from a file.
static const double MEMORY_SECONDS = 0.15e-9, FILE_SECONDS = 1e-9;

// Launches of a piece, and what the host waits for it.
static const double PIECE_SECONDS = 30e-6;

void kugel__pencil_device_figures(const kugel_volume *p, kugel_volume_info *info)
{
  const kugel__pencil *c = p->pencil;
  const kugel__volume_axis *a = p->axis;
  kugel__pencil_bytes s = measure(p, c->lines, c->slab, c->block);
  kugel__volume_rates r = kugel__volume_device_rates(p->ctx);
  kugel__fused *f;
  double lanes = 1 + p->ctx->npeers;
  double slice = (double)s.lines * (double)s.number, results = (double)a[0].m * p->kernels;
  double image = (double)a[0].n * (double)a[1].n * (double)a[2].n * (double)kugel__volume_image_size(p);
  double out = results * (double)a[1].m * (double)a[2].m * (double)kugel__volume_results_size(p);
  double from = (double)(a[0].n + p->stored * s.kernel[0]) * slice, to = results * slice;
  double up[3] = {image, from, to + (double)s.window}, down[3] = {(double)a[0].n * slice, to, out};
  double all = 0, seconds = 0, kernels = p->stored * (double)(s.kernel[0] + 2 * a[0].points) * slice;
  if (!kugel__fused_shape(p->ctx, p, &f)) {
    kernels += (double)kugel__fused_bytes(p, f);
    kugel__fused_destroy(f);
  }
  double store = c->in_memory ? MEMORY_SECONDS / (double)kugel__volume_threads(p) : FILE_SECONDS;
  int64_t pieces[3] = {(a[0].n + c->slab - 1) / c->slab, s.blocks, (a[0].m + c->slab - 1) / c->slab};
  for (int i = 0; i < 3; i++) {
    double bytes[4] = {up[i] / r.up / lanes, down[i] / r.down / lanes, kernels / 3 / (0.6 * r.within) / lanes,
                       (up[i] + down[i]) * store};
    double sum = 0, slowest = 0;
    for (int k = 0; k < 4; k++) {
      sum += bytes[k];
      slowest = fmax(slowest, bytes[k]);
    }
    seconds += slowest + (sum - slowest) / (double)pieces[i]; // the first piece in, the last one out
    seconds += PIECE_SECONDS * (double)pieces[i] / lanes;
    all += up[i] + down[i];
  }
  double kernel = p->stored * 8.0 * (p->halved ? 1 : 2) * (double)(c->slab * a[1].k * a[2].k);
  info->engine = KUGEL_VOLUME_PENCIL;
  info->device_bytes = s.device;
  info->host_bytes =
      (uint64_t)(lanes * SLOTS * (double)(s.in + s.out) + 2 * kernel) + (c->in_memory ? between(p, &s) : 0);
  info->scratch_bytes = c->in_memory ? 0 : between(p, &s);
  info->moved_bytes = (uint64_t)all;
  info->kernel_bytes = (uint64_t)kernels;
  info->seconds = seconds;
  info->tiles = pieces[2];
  info->tile[0] = kugel__min(c->slab, a[0].m);
}

/* ---- plans ---- */

// The moves that add up what was extended along y and x, of slices that stay where they are.
static kugel_status make_fold(kugel_volume *part, int64_t slab, kugel__moves *out)
{
  bool plain[3] = {true, !is_mapped(part, 1), !is_mapped(part, 2)};
  kugel_volume flat = *part;
  flat.axis[0] = (kugel__volume_axis){.n = slab, .m = slab, .k = 1};
  return kugel__moves_create(&flat, plain, out);
}

static kugel_status make_lane(const kugel_volume *p, kugel__lane *on, kugel__pencil_lane *l)
{
  const kugel__pencil_bytes *s = &p->pencil->device->size;
  l->part = *p;
  l->part.ctx = on->ctx;
  l->part.gpu = kugel__calloc(on->ctx, sizeof *l->part.gpu);
  KUGEL_CHECK(l->part.gpu, KUGEL_ENOMEM, "no memory for a plan");
  l->part.gpu->narrow = p->pencil->block;
  l->part.gpu->spectra = 1;
  KUGEL_TRY(kugel__fused_create(&l->part));
  if (s->extended) {
    KUGEL_TRY(make_fold(&l->part, p->pencil->slab, &l->fold));
    KUGEL_TRY(kugel__device_alloc(on->device, (size_t)s->extended, &l->extended));
  }
  KUGEL_TRY(kugel__device_alloc(on->device, KUGEL__LANE_ALIGN, &l->counter));
  kugel__lane_bytes bytes = {.in = (size_t)s->in, .out = (size_t)s->out};
  bytes.host_in = bytes.in;
  bytes.host_out = bytes.out;
  return kugel__lane_room(on, &bytes);
}

kugel_status kugel__pencil_device_create(kugel_volume *p)
{
  kugel__pencil *c = p->pencil;
  kugel__pencil_device *d = kugel__calloc(p->ctx, sizeof *d);
  KUGEL_CHECK(d, KUGEL_ENOMEM, "no memory for a plan");
  pthread_mutex_init(&d->lock, NULL);
  c->device = d; // what is there after a failure, destroy frees
  d->size = measure(p, c->lines, c->slab, c->block);
  KUGEL_TRY(kugel__volume_file_create(p->ctx, c->folder, d->size.kernels + d->size.window, c->in_memory,
                                      &c->kernel));
  KUGEL_TRY(kugel__device_lanes_create(p->ctx, SLOTS, &d->lanes));
  d->lane = kugel__calloc(p->ctx, (size_t)d->lanes->count * sizeof *d->lane);
  KUGEL_CHECK(d->lane, KUGEL_ENOMEM, "no memory for a plan");
  d->count = d->lanes->count;
  for (int i = 0; i < d->count; i++)
    KUGEL_TRY(make_lane(p, &d->lanes->lane[i], &d->lane[i]));
  return KUGEL_OK;
}

void kugel__pencil_device_destroy(kugel_volume *p)
{
  kugel__pencil_device *d = p->pencil->device;
  if (!d)
    return;
  for (int i = 0; i < d->count; i++) {
    kugel__pencil_lane *l = &d->lane[i];
    kugel__device *device = d->lanes->lane[i].device;
    if (!l->part.gpu)
      continue;
    kugel__moves_destroy(&l->part, &l->fold);
    kugel__volume_device_destroy(&l->part);
    kugel__device_free(device, l->extended);
    kugel__device_free(device, l->counter);
  }
  kugel__free(p->ctx, d->lane);
  kugel__device_lanes_destroy(d->lanes);
  pthread_mutex_destroy(&d->lock);
  kugel__free(p->ctx, d);
}

/* ---- between the passes ---- */

int64_t kugel__pencil_lines_of(const kugel_volume *p, int64_t block)
{
  return kugel__min(p->pencil->block, p->pencil->lines - block * p->pencil->block);
}

typedef struct transfer {
  const kugel__pencil_place *at;
  int64_t z, count;
  char *memory;
  bool put;
} transfer;

static kugel_status move_block(void *arg, int64_t block)
{
  const transfer *t = arg;
  const kugel_volume *p = t->at->p;
  int64_t number = 2 * (int64_t)p->real, first = block * p->pencil->block * number;
  int64_t bytes = kugel__pencil_lines_of(p, block) * number, step = p->pencil->lines * number;
  int64_t at = t->at->base + first * t->at->tall + t->z * bytes;
  return t->put ? kugel__volume_file_put(t->at->file, at, t->memory + first, t->count, bytes, step)
                : kugel__volume_file_get(t->at->file, at, t->memory + first, t->count, bytes, step);
}

kugel_status kugel__pencil_move_slices(const kugel__pencil_place *at, int64_t z, int64_t count, char *memory,
                                       bool put)
{
  transfer t = {at, z, count, memory, put};
  return kugel__parallel(at->p->ctx, at->p->pencil->device->size.blocks, move_block, &t);
}

typedef struct stretch {
  const kugel__volume_file *file;
  int64_t from, bytes;
  char *memory;
  bool put;
} stretch;

enum { TASK = 1 << 20 }; // bytes

static kugel_status move_task(void *arg, int64_t i)
{
  const stretch *t = arg;
  int64_t at = i * TASK, bytes = kugel__min(TASK, t->bytes - at);
  return t->put ? kugel__volume_file_put(t->file, t->from + at, t->memory + at, 1, bytes, 0)
                : kugel__volume_file_get(t->file, t->from + at, t->memory + at, 1, bytes, 0);
}

kugel_status kugel__pencil_move_lines(const kugel__pencil_place *at, int64_t block, int64_t count,
                                      char *memory, bool put)
{
  const kugel_volume *p = at->p;
  int64_t number = 2 * (int64_t)p->real, bytes = kugel__pencil_lines_of(p, block) * number * count;
  int64_t from = at->base + block * p->pencil->block * at->tall * number;
  stretch t = {at->file, from, bytes, memory, put};
  return kugel__parallel(p->ctx, (bytes + TASK - 1) / TASK, move_task, &t);
}
