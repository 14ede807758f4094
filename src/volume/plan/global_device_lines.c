/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans of the whole transform over ranks with devices: lines of each rank, spectra, the window, memory. */
#include "core/alloc.h"
#include "core/ctx.h"
#include "volume/plan/global_device.h"
#include "volume/plan/pencil_device.h"

enum { DIMS = KUGEL__VOLUME_DIMS, PLANES = KUGEL__GLOBAL_PLANES, ROOMS = KUGEL__GLOBAL_ROOMS };

static kugel__device *device_of(const kugel_volume *p)
{
  return kugel__ctx_device(p->ctx);
}

static bool is_mapped(const kugel_volume *p, int d)
{
  return p->axis[d].data.position != NULL;
}

static int64_t wide_of(const kugel_volume *p, int d)
{
  return is_mapped(p, d) ? p->axis[d].data.count : p->axis[d].n;
}

/* ---- memory ---- */

// Rows of each rank.
static void share(const kugel_volume *p, const kugel__fused *f, int ranks, kugel__global_lines *l)
{
  int64_t rows = p->axis[1].points;
  l->slice = kugel__fused_slice(f);
  l->rows = (rows + ranks - 1) / ranks;
  l->block = l->rows * kugel__fused_pitch(f);
  l->blocks = (rows + l->rows - 1) / l->rows;
}

// For own slices and own lines; tall: the most elements of a line in memory.
static void rooms(const kugel_volume *p, int ranks, const kugel__global_lines *l, int64_t slices,
                  int64_t piece, int64_t tall, size_t *room)
{
  size_t number = 2 * p->real;
  bool one = ranks == 1;
  room[KUGEL__GLOBAL_SLICES] = one ? 0 : (size_t)(piece * l->slice) * number;
  room[KUGEL__GLOBAL_MESSAGES] = one ? 0 : (size_t)(slices * l->blocks * l->block) * number;
  room[KUGEL__GLOBAL_LINES] = (size_t)(tall * l->own) * number;
  room[KUGEL__GLOBAL_MORE] = p->stored > 1 ? room[KUGEL__GLOBAL_LINES] : 0;
  room[KUGEL__GLOBAL_WIDE] = 0;
}

void kugel__global_lines_room(const kugel_volume *p, bool adjoint, size_t *room)
{
  const kugel__volume_global *g = p->global;
  const kugel__global_lines *l = g->device->lines;
  int64_t data = kugel__global_own(g, g->data), slices = kugel__max(data, kugel__global_own(g, g->results));
  int64_t tall = kugel__max(kugel__max(p->axis[0].n, p->axis[0].m), adjoint ? l->wide[0] : 0);
  rooms(p, g->size, l, slices, kugel__global_piece(slices), tall, room);
  if (adjoint && l->along.table)
    room[KUGEL__GLOBAL_MORE] = room[KUGEL__GLOBAL_LINES];
  if (adjoint && l->slices.table)
    room[KUGEL__GLOBAL_WIDE] = (size_t)(kugel__global_piece(data) * l->wide[1] * l->wide[2]) * p->real *
                               (p->opts.complex_data ? 2 : 1);
}

uint64_t kugel__global_lines_bytes(const kugel_volume *p, int ranks)
{
  kugel__fused *f;
  size_t room[ROOMS];
  if (kugel__fused_shape(p->ctx, p, &f))
    return UINT64_MAX;
  const kugel__volume_axis *a = p->axis;
  int64_t tall = kugel__max(a[0].n, a[0].m), slices = (tall + ranks - 1) / ranks,
          results = (a[0].m + ranks - 1) / ranks;
  kugel__global_lines l;
  share(p, f, ranks, &l);
  l.own = l.block;
  rooms(p, ranks, &l, slices, kugel__global_piece(slices), tall, room);
  uint64_t bytes =
      kugel__fused_table_bytes(f) + (uint64_t)(p->stored * a[0].points * l.own) * 2 * p->real + 4096;
  kugel__fused_destroy(f);
  for (int i = 0; i < ROOMS; i++)
    bytes += room[i];
  if (p->opts.boundary == KUGEL_BOUNDARY_UNKNOWN)
    bytes += (uint64_t)(results * a[1].m * a[2].m * p->kernels) * p->real;
  return bytes;
}

/* ---- plans ---- */

static kugel_status shape(kugel_volume *p, kugel__global_lines *l)
{
  const kugel__volume_global *g = p->global;
  kugel__fused *f;
  KUGEL_TRY(kugel__fused_shape(p->ctx, p, &f));
  bool planes = kugel__fused_slice(f) > 0;
  if (planes)
    share(p, f, g->size, l);
  kugel__fused_destroy(f);
  KUGEL_CHECK(
      planes, KUGEL_ENOTSUP,
      "image and kernel have one plane along axis 0, which ranks share: use one rank, or another axis "
      "first");
  KUGEL_ALLOC(p->ctx, l->planes, (size_t)(g->size + 1) * sizeof *l->planes);
  KUGEL_ALLOC(p->ctx, l->table, 4 * (size_t)g->size * sizeof *l->table);
  for (int d = 0; d < DIMS; d++) {
    l->kernel[d] = kugel__min(p->axis[d].k, p->axis[d].length);
    l->wide[d] = wide_of(p, d);
  }
  for (int r = 0; r <= g->size; r++)
    l->planes[r] = l->kernel[0] * r / g->size;
  l->own = g->rank < l->blocks ? l->block : 0;
  return KUGEL_OK;
}

// The plan with kernels of own lines; the moves of its adjoint.
static kugel_status make_part(const kugel_volume *p, kugel__global_lines *l)
{
  const kugel__volume_global *g = p->global;
  bool across[DIMS] = {true, !is_mapped(p, 1), !is_mapped(p, 2)},
       along[DIMS] = {!is_mapped(p, 0), true, true};
  int64_t slab = kugel__max(1, kugel__global_piece(kugel__global_own(g, g->data)));
  int64_t run = 4; // of a list: rows have whole 64 bytes
  struct kugel__volume_device *gpu = kugel__calloc(p->ctx, sizeof *gpu);
  KUGEL_CHECK(gpu, KUGEL_ENOMEM, "no memory for a plan");
  gpu->narrow = kugel__max(1, l->own);
  gpu->spectra = p->stored;
  l->part = l->flat[0] = l->flat[1] = *p;
  l->part.gpu = gpu; // what is there after a failure, destroy frees
  KUGEL_TRY(kugel__fused_create(&l->part));
  l->flat[0].axis[0] = (kugel__volume_axis){.n = slab, .m = slab, .k = 1};
  l->flat[1].axis[1] = (kugel__volume_axis){.n = l->own / run, .m = l->own / run, .k = 1};
  l->flat[1].axis[2] = (kugel__volume_axis){.n = run, .m = run, .k = 1};
  if (!across[1] || !across[2])
    KUGEL_TRY(kugel__moves_create(&l->flat[0], across, &l->slices));
  return along[0] ? KUGEL_OK : kugel__moves_create(&l->flat[1], along, &l->along);
}

/* ---- spectra ---- */

typedef struct source { // planes of a kernel on their way
  const kugel_volume *p;
  kugel__volume_box box;
  double *planes;
  void *host, *memory; // `PLANES` planes in the plan's precision
} source;

// Planes [z, z + count) of this rank's.
static kugel_status kernel_in(const kugel__global_side *side, int64_t z, int64_t count, kugel__mem work)
{
  source *k = side->arg;
  const kugel_volume *p = k->p;
  const kugel__volume_axis *a = p->axis;
  kugel__global_lines *l = p->global->device->lines;
  int64_t plane = l->kernel[1] * l->kernel[2] * (p->opts.complex_data ? 2 : 1), most;
  double factor = p->scale / ((double)a[0].points * (double)a[1].points * (double)a[2].points);
  for (int64_t end = z + count; z < end; z += most) {
    int64_t first = l->planes[p->global->rank] + z;
    most = kugel__min(PLANES, end - z);
    for (int64_t from = first; from < a[0].k; from += a[0].length) {
      int64_t some = kugel__min(most, a[0].k - from);
      kugel__volume_box box = k->box;
      box.data += (p->opts.correlate ? a[0].k - from - some : from) * box.step[1] * (box.dtype.bits / 8);
      KUGEL_TRY(kugel__pencil_fold_planes(p, &box, some, from > first, k->planes));
    }
    for (int64_t i = 0; i < most * plane; i++)
      if (p->f32)
        ((float *)k->host)[i] = (float)(k->planes[i] * factor);
      else
        ((double *)k->host)[i] = k->planes[i] * factor;
    int64_t n[DIMS] = {most, l->kernel[1], l->kernel[2]};
    kugel__volume_box own = kugel__volume_own_box(p, NULL, n);
    kugel__fused_job job = {.in = {.mem = {k->memory, 0}, .dtype = own.dtype}, .queue = &device_of(p)->queue};
    kugel__global_place(side, z, &job);
    for (int d = 0; d < DIMS; d++) {
      job.in.step[d + 1] = own.step[d + 1];
      job.data[d] = job.results[d] = (kugel__fused_span){.held = n[d], .map = -1};
    }
    KUGEL_TRY(kugel__device_copy(device_of(p), KUGEL__UPLOAD, job.in.mem, (kugel__mem){k->host, 0},
                                 (size_t)(most * plane) * p->real, job.queue));
    KUGEL_TRY(kugel__fused_slices(l->part.gpu->fused, &job, true, work));
    KUGEL_TRY(device_of(p)->ops->wait(job.queue)); // the next planes take the same room
  }
  return KUGEL_OK;
}

static kugel_status spectrum(const kugel__global_item *it, int q)
{
  kugel__global_lines *l = it->p->global->device->lines;
  kugel__fused_job job = {.queue = it->queue};
  kugel__fused_pencils lines = {
      .lines = l->own, .kernel = it->room[KUGEL__GLOBAL_LINES], .kernel_held = l->kernel[0], .spectrum = q};
  return l->own ? kugel__fused_spectrum(l->part.gpu->fused, &job, &lines) : KUGEL_OK;
}

static kugel_status make_spectra(kugel_volume *p, const kugel__volume_box *kernels)
{
  const kugel__volume_global *g = p->global;
  kugel__global_lines *l = g->device->lines;
  kugel__device *dev = device_of(p);
  kugel__global_item it = {.p = p, .queue = &dev->queue};
  source from = {.p = p};
  size_t room[ROOMS],
      planes = (size_t)(PLANES * l->kernel[1] * l->kernel[2]) * (p->opts.complex_data ? 2 : 1);
  int64_t own = kugel__global_own(g, l->planes);
  rooms(p, g->size, l, own, kugel__min(PLANES, own), l->kernel[0], room);
  room[KUGEL__GLOBAL_MORE] = 0;
  from.planes = kugel__alloc(p->ctx, planes * 8);
  from.host = kugel__alloc(p->ctx, planes * 8);
  kugel_status s = from.planes && from.host ? kugel__device_alloc(dev, planes * p->real, &from.memory)
                                            : KUGEL_FAIL(KUGEL_ENOMEM, "no memory for planes of a kernel");
  s = s ? s : kugel__global_begin(&it, room);
  kugel__global_side in = {&it, KUGEL__GLOBAL_KERNEL, l->planes, kernel_in, &from};
  for (int q = 0; q < p->stored && !(s && g->comm->settled); q++) {
    from.box = *kernels;
    from.box.data += q * kernels->step[0] * (kernels->dtype.bits / 8);
    s = kugel__global_to_lines(&in, s, it.room[KUGEL__GLOBAL_LINES]);
    s = s ? s : spectrum(&it, q);
  }
  s = kugel__global_end(&it, s, room, NULL, NULL);
  kugel__device_free(dev, from.memory);
  kugel__free(p->ctx, from.planes);
  kugel__free(p->ctx, from.host);
  return s;
}

/* ---- the window ---- */

// H applied to ones, inverted on the host.
static kugel_status make_window(kugel_volume *p)
{
  const kugel__volume_global *g = p->global;
  kugel__global_lines *l = g->device->lines;
  kugel__device *dev = device_of(p);
  kugel__global_item it = {.p = p, .queue = &dev->queue};
  int64_t m[DIMS] = {kugel__global_own(g, g->results), p->axis[1].m, p->axis[2].m};
  kugel__volume_box own = kugel__volume_own_box(p, NULL, m);
  size_t room[ROOMS], bytes = (size_t)(m[0] * m[1] * m[2] * p->kernels) * p->real;
  float low[2] = {1};
  double high[2] = {1};
  void *ones = NULL, *window = NULL;
  char *host = kugel__alloc(p->ctx, bytes + 8);
  kugel__global_lines_room(p, false, room);
  kugel_status s = host ? kugel__device_alloc(dev, 512, &ones)
                        : KUGEL_FAIL(KUGEL_ENOMEM, "no memory for a window of %lld slices", (long long)m[0]);
  s = s ? s : kugel__device_alloc(dev, bytes + 8, &window);
  s = s ? s
        : kugel__device_copy(dev, KUGEL__UPLOAD, (kugel__mem){ones, 0},
                             (kugel__mem){p->f32 ? (void *)low : (void *)high, 0}, p->real * 2, NULL);
  s = s ? s : kugel__global_begin(&it, room);
  it.in = (kugel__fused_voxels){.mem = {ones, 0}, .dtype = own.dtype};
  it.out = (kugel__fused_voxels){.mem = {window, 0}, .dtype = own.dtype};
  for (int d = 0; d < 4; d++)
    it.out.step[d] = own.step[d];
  s = s ? s : kugel__global_lines_item(&it);
  s = kugel__global_end(&it, s, room, NULL, NULL);
  s = s ? s
        : kugel__device_copy(dev, KUGEL__DOWNLOAD, (kugel__mem){host, 0}, (kugel__mem){window, 0}, bytes,
                             NULL);
  if (!s)
    kugel__volume_invert(p, host, m, p->axis[0].first + g->results[g->rank]);
  s = s ? s
        : kugel__device_copy(dev, KUGEL__UPLOAD, (kugel__mem){window, 0}, (kugel__mem){host, 0}, bytes, NULL);
  kugel__device_free(dev, ones);
  kugel__free(p->ctx, host);
  l->window = window;
  return s;
}

kugel_status kugel__global_lines_create(kugel_volume *p, const kugel_array *kernel)
{
  kugel__volume_box box;
  kugel__global_lines *l = p->global->device->lines = kugel__calloc(p->ctx, sizeof *l);
  kugel_status s = l ? shape(p, l) : KUGEL_FAIL(KUGEL_ENOMEM, "no memory for a plan");
  s = s ? s : make_part(p, l);
  s = s ? s : kugel__global_far(p, l);
  s = s ? s : kugel__volume_take_kernel(p, kernel, &box);
  KUGEL_TRY(kugel__comm_agree(p->global->comm, s));
  KUGEL_TRY(kugel__global_hops(p, l));
  KUGEL_TRY(make_spectra(p, &box));
  if (p->opts.boundary != KUGEL_BOUNDARY_UNKNOWN)
    return KUGEL_OK;
  return make_window(p);
}

void kugel__global_lines_destroy(kugel_volume *p)
{
  kugel__global_lines *l = p->global->device->lines;
  if (!l)
    return;
  kugel__hops **hops = &l->hops[0][0][0];
  for (size_t i = 0; i < sizeof l->hops / sizeof *hops; i++)
    kugel__hops_free(p->global->device->wire, hops[i]);
  if (l->part.gpu)
    kugel__fused_release(&l->part);
  kugel__free(p->ctx, l->part.gpu);
  kugel__device_free(device_of(p), l->slices.table);
  kugel__device_free(device_of(p), l->along.table);
  kugel__device_free(device_of(p), l->window);
  kugel__device_free(device_of(p), l->far);
  kugel__free(p->ctx, l->planes);
  kugel__free(p->ctx, l->table);
  kugel__free(p->ctx, l);
}
