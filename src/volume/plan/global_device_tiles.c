/* SPDX-License-Identifier: BSD-3-Clause */
/* Tiles over ranks with devices: kernels, factors, and the convolution of an image. */
#include <string.h>
#include "arrays/copy.h"
#include "core/alloc.h"
#include "core/ctx.h"
#include "volume/gpu/lane_sizes.h"
#include "volume/gpu/lane_tiles.h"
#include "volume/plan/global_device.h"

enum { DIMS = KUGEL__VOLUME_DIMS };

static kugel__device *device_of(const kugel_volume *p)
{
  return kugel__ctx_device(p->ctx);
}

static int64_t points_of(const kugel_volume *p)
{
  return p->sub->axis[0].points;
}

static int64_t tiles_of(const kugel__global_tiles *t)
{
  return t->count[0] * t->count[1] * t->count[2];
}

typedef struct tile {
  const kugel__global_stretch *axis[DIMS];
  int64_t row;
} tile;

static tile tile_of(const kugel__global_tiles *t, int64_t i)
{
  tile out = {.axis = {NULL, &t->axis[1][i / t->count[2] % t->count[1]], &t->axis[2][i % t->count[2]]},
              .row = i / t->count[2] / t->count[1]};
  out.axis[0] = &t->axis[0][out.row];
  return out;
}

/* ---- plans ---- */

static kugel_status upload(const kugel_volume *p, size_t bytes, const void *from, void **to)
{
  KUGEL_TRY(kugel__device_alloc(device_of(p), bytes, to));
  return kugel__device_copy(device_of(p), KUGEL__UPLOAD, (kugel__mem){*to, 0},
                            (kugel__mem){(void *)(uintptr_t)from, 0}, bytes, NULL);
}

// Factors of own rows for kernels by depth: [rows][kernels][points].
static kugel_status make_weights(const kugel_volume *p, kugel__global_tiles *t)
{
  int64_t points = points_of(p), each = p->stored * points * (int64_t)p->real;
  int64_t first = p->global->results[p->global->rank] / p->tile[0];
  KUGEL_ALLOC(p->ctx, t->used, (size_t)(t->count[0] * p->stored) * sizeof *t->used);
  char *host = kugel__alloc(p->ctx, (size_t)(t->count[0] * each));
  double *row = kugel__alloc(p->ctx, (size_t)points * 8);
  int64_t *source = kugel__alloc(p->ctx, (size_t)(p->tile[0] + p->axis[0].k) * 8);
  kugel_status s = host && row && source
                       ? KUGEL_OK
                       : KUGEL_FAIL(KUGEL_ENOMEM, "no memory for factors of %lld points", (long long)points);
  for (int64_t i = 0; i < t->count[0] && !s; i++) {
    kugel__volume_reach z = kugel__volume_reach_of(p, 0, first + i, source);
    kugel__lane_weights(p, &z, row, t->used + i * p->stored, host + i * each);
  }
  s = s ? s : upload(p, (size_t)(t->count[0] * each), host, &t->weights);
  kugel__free(p->ctx, host);
  kugel__free(p->ctx, row);
  kugel__free(p->ctx, source);
  return s;
}

static kugel__fused_job job_of(const kugel_volume *p, const tile *at, kugel_queue *queue)
{
  kugel__global_tiles *t = p->global->device->tiles;
  kugel__fused_job job = {.map = {t->map_memory, 0},
                          .work = {{t->work[0], 0}, {t->work[1], 0}},
                          .clipped = {p->global->device->counter, 0},
                          .queue = queue};
  for (int d = 0; d < DIMS; d++) {
    job.data[d] = at->axis[d]->data;
    job.results[d] = at->axis[d]->results;
  }
  if (p->depth) {
    job.weights = (kugel__mem){t->weights, 0};
    job.weights_at = at->row * p->stored * points_of(p);
    job.used = t->used + at->row * p->stored;
  }
  return job;
}

// Whether results of two tiles meet the same parts of the kernel.
static bool alike(const kugel_volume *p, const tile *a, const tile *b)
{
  bool same = !p->depth || a->row == b->row;
  for (int d = 0; d < DIMS; d++)
    same &= a->axis[d]->data.first == b->axis[d]->data.first &&
            a->axis[d]->data.held == b->axis[d]->data.held &&
            a->axis[d]->results.held == b->axis[d]->results.held;
  return same;
}

static int64_t results_of(const kugel_volume *p, const tile *at)
{
  int64_t n = p->kernels;
  for (int d = 0; d < DIMS; d++)
    n *= at->axis[d]->results.held;
  return n;
}

// Which tiles have factors, and where they begin; tiles that are alike share them.
static kugel_status place_windows(const kugel_volume *p, kugel__global_tiles *t)
{
  KUGEL_ALLOC(p->ctx, t->window, (size_t)(tiles_of(t) + 1) * sizeof *t->window);
  for (int64_t i = 0; i < tiles_of(t); i++) {
    tile at = tile_of(t, i);
    bool inside = true;
    for (int d = 0; d < DIMS; d++)
      inside &= at.axis[d]->data.held == at.axis[d]->results.held + p->axis[d].k - 1;
    t->window[i] = -1;
    for (int64_t k = 0; k < i && t->window[i] < 0 && !inside; k++) {
      tile other = tile_of(t, k);
      t->window[i] = t->window[k] >= 0 && alike(p, &at, &other) ? t->window[k] : -1;
    }
    if (inside || t->window[i] >= 0)
      continue;
    t->window[i] = t->factors;
    t->factors += results_of(p, &at);
  }
  return KUGEL_OK;
}

// H applied to ones, inverted on the host.
static kugel_status make_window(const kugel_volume *p, int64_t i, kugel__mem ones, char *host)
{
  kugel__global_tiles *t = p->global->device->tiles;
  kugel__device *dev = device_of(p);
  tile at = tile_of(t, i);
  int64_t m[DIMS], first = p->axis[0].first + at.axis[0]->result + p->global->results[p->global->rank];
  for (int d = 0; d < DIMS; d++)
    m[d] = at.axis[d]->results.held;
  kugel__volume_box own = kugel__volume_own_box(p, NULL, m);
  kugel__fused_job job = job_of(p, &at, &dev->queue);
  job.in = (kugel__fused_voxels){.mem = ones, .dtype = own.dtype};
  job.out = (kugel__fused_voxels){.mem = {t->windows, 0}, .dtype = own.dtype, .first = t->window[i]};
  memcpy(job.out.step, own.step, sizeof own.step);
  kugel__mem place = {t->windows, (size_t)t->window[i] * p->real};
  size_t bytes = (size_t)results_of(p, &at) * p->real;
  KUGEL_TRY(kugel__fused_run(t->fused, &job));
  KUGEL_TRY(kugel__device_copy(dev, KUGEL__DOWNLOAD, (kugel__mem){host, 0}, place, bytes, NULL));
  kugel__volume_invert(p, host, m, first);
  return kugel__device_copy(dev, KUGEL__UPLOAD, place, (kugel__mem){host, 0}, bytes, NULL);
}

static kugel_status make_windows(const kugel_volume *p, kugel__global_tiles *t)
{
  void *ones = NULL;
  float low[2] = {1};
  double high[2] = {1};
  int64_t most = p->kernels, done = 0;
  char *host;
  KUGEL_TRY(place_windows(p, t));
  if (!t->factors)
    return KUGEL_OK;
  for (int d = 0; d < DIMS; d++)
    most *= p->tile[d];
  KUGEL_TRY(kugel__device_alloc(device_of(p), (size_t)t->factors * p->real, &t->windows));
  KUGEL_ALLOC(p->ctx, host, (size_t)most * p->real);
  kugel_status s = p->f32 ? upload(p, sizeof low, low, &ones) : upload(p, sizeof high, high, &ones);
  for (int64_t i = 0; i < tiles_of(t) && !s; i++)
    if (t->window[i] == done) { // the first that has these factors
      tile at = tile_of(t, i);
      s = make_window(p, i, (kugel__mem){ones, 0}, host);
      done += results_of(p, &at);
    }
  kugel__device_free(device_of(p), ones);
  kugel__free(p->ctx, host);
  return s;
}

static kugel_status make_fused(kugel_volume *p, kugel__global_tiles *t, const kugel_array *kernel)
{
  kugel__volume_box box;
  double *values = NULL, *kernels = NULL;
  int64_t k[DIMS];
  kugel__fused_span data[DIMS], results[DIMS];
  KUGEL_TRY(kugel__fused_shape(p->ctx, p->sub, &t->fused));
  KUGEL_TRY(kugel__volume_take_kernel(p, kernel, &box));
  kugel_status s = kugel__volume_copy_kernels(p, &box, &values);
  s = s ? s : kugel__fused_kernels(p->sub, values, &kernels, k);
  kugel__free(p->ctx, values);
  s = s ? s : kugel__fused_make(t->fused, kernels, k, p->scale, (kugel__mem){NULL, 0});
  kugel__free(p->ctx, kernels);
  for (int d = 0; d < DIMS; d++) {
    data[d] = results[d] = (kugel__fused_span){.map = -1};
    for (int64_t i = 0; i < t->count[d]; i++) {
      data[d].held = kugel__max(data[d].held, t->axis[d][i].data.held);
      results[d].held = kugel__max(results[d].held, t->axis[d][i].results.held);
    }
  }
  for (int i = 0; i < (p->stored > 1 ? 2 : 1) && !s; i++)
    s = kugel__device_alloc(device_of(p), (size_t)kugel__fused_work(t->fused, data, results), &t->work[i]);
  return s;
}

kugel_status kugel__global_tiles_create(kugel_volume *p, const kugel_array *kernel)
{
  kugel__global_tiles *t = kugel__calloc(p->ctx, sizeof *t);
  KUGEL_CHECK(t, KUGEL_ENOMEM, "no memory for a plan");
  p->global->device->tiles = t; // what is there after a failure, destroy frees
  KUGEL_TRY(kugel__volume_check_kernels(p, kernel));
  KUGEL_TRY(kugel__global_rows(p, t));
  if (!t->count[0]) // a rank without results
    return KUGEL_OK;
  KUGEL_TRY(make_fused(p, t, kernel));
  if (t->words)
    KUGEL_TRY(upload(p, (size_t)t->words * 4, t->map, &t->map_memory));
  if (p->depth)
    KUGEL_TRY(make_weights(p, t));
  return p->opts.boundary == KUGEL_BOUNDARY_UNKNOWN ? make_windows(p, t) : KUGEL_OK;
}

void kugel__global_tiles_destroy(kugel_volume *p)
{
  kugel__global_tiles *t = p->global->device->tiles;
  if (!t)
    return;
  kugel__fused_destroy(t->fused);
  void *memory[] = {t->work[0], t->work[1], t->map_memory, t->weights, t->windows};
  for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
    kugel__device_free(device_of(p), memory[i]);
  void *blocks[] = {t->axis[0], t->axis[1], t->axis[2], t->runs[0], t->runs[1], t->sent,
                    t->table,   t->map,     t->window,  t->used,    t};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
    kugel__free(p->ctx, blocks[i]);
}

/* ---- executions ---- */

void kugel__global_tiles_room(const kugel_volume *p, int64_t size, size_t *room)
{
  const kugel__global_tiles *t = p->global->device->tiles;
  size_t plane = (size_t)(p->axis[1].n * p->axis[2].n * size);
  int last = p->global->size - 1;
  room[KUGEL__GLOBAL_OUT] = (size_t)(t->sent_at[last] + t->sent[last]) * plane;
  room[KUGEL__GLOBAL_IN] = (size_t)(t->landed_at[last] + t->received[last]) * plane;
}

// A run of planes whose rows have strides.
static kugel_status copy_strided(const kugel__global_item *it, const kugel__global_planes *run,
                                 kugel_queue *queue)
{
  int64_t y = it->p->axis[1].n, x = it->p->axis[2].n;
  const int64_t *step = it->in.step + 1;
  kugel__copy c = {.from = it->in.dtype, .to = it->in.dtype, .scale = 1, .plain = true};
  c.shape = (kugel__copy_shape){.count = run->count * y * x,
                                .in_first = run->from * step[0] + it->in.first,
                                .out_first = run->to * y * x,
                                .ndim = DIMS,
                                .extent = {run->count, y, x},
                                .in_step = {step[0], step[1], step[2]},
                                .out_step = {y * x, x, 1}};
  return kugel__copy_gpu(it->p->ctx, &c, it->in.mem.base, it->room[KUGEL__GLOBAL_OUT].base, queue);
}

// Own planes to messages.
static kugel_status pack(const kugel__global_item *it, kugel_queue *queue)
{
  const kugel_volume *p = it->p;
  const kugel__global_tiles *t = p->global->device->tiles;
  int64_t x = p->axis[2].n, plane = p->axis[1].n * x, size = it->in.dtype.bits / 8;
  bool strided = it->in.step[3] != 1 || it->in.step[2] != x || it->in.step[1] != plane;
  for (int64_t i = 0; i < t->run_count[KUGEL__GLOBAL_PACK]; i++) {
    const kugel__global_planes *run = &t->runs[KUGEL__GLOBAL_PACK][i];
    kugel__mem from = {it->in.mem.base, (size_t)((it->in.first + run->from * plane) * size)},
               to = {it->room[KUGEL__GLOBAL_OUT].base, (size_t)(run->to * plane * size)};
    KUGEL_TRY(strided ? copy_strided(it, run, queue)
                      : kugel__device_copy(device_of(p), KUGEL__WITHIN, to, from,
                                           (size_t)(run->count * plane * size), queue));
  }
  return KUGEL_OK;
}

// Where the data of a tile begin in the image, or in what arrived, from this plane on.
static kugel__fused_voxels voxels_of(const kugel__global_item *it, const tile *at, bool arrived,
                                     int64_t plane)
{
  int64_t y = it->p->axis[1].n, x = it->p->axis[2].n;
  kugel__fused_voxels v = it->in;
  if (arrived)
    v = (kugel__fused_voxels){
        .mem = it->room[KUGEL__GLOBAL_IN], .dtype = it->in.dtype, .step = {0, y * x, x, 1}};
  v.first += plane * v.step[1] + at->axis[1]->from * v.step[2] + at->axis[2]->from * v.step[3];
  return v;
}

static const kugel__global_planes *part_of(const kugel__global_tiles *t, const tile *at, int64_t i)
{
  return &t->runs[KUGEL__GLOBAL_READ][at->axis[0]->part + i];
}

// Parts of a tile's data that are in the image, or that arrived. One part alone is read by the tile itself.
static kugel_status load(const kugel__global_item *it, const tile *at, bool arrived)
{
  const kugel__global_tiles *t = it->p->global->device->tiles;
  kugel__fused_job job = job_of(it->p, at, it->queue);
  for (int64_t i = 0; i < at->axis[0]->parts && at->axis[0]->parts > 1; i++) {
    const kugel__global_planes *part = part_of(t, at, i);
    kugel__fused_voxels in = voxels_of(it, at, arrived, part->from);
    if (part->arrived == arrived)
      KUGEL_TRY(kugel__fused_load(t->fused, &job, &in, part->to, part->count));
  }
  return KUGEL_OK;
}

// What has several parts is loaded.
static kugel_status run_tile(const kugel__global_item *it, int64_t i, const tile *at)
{
  kugel__global_tiles *t = it->p->global->device->tiles;
  kugel__fused_job job = job_of(it->p, at, it->queue);
  const kugel__global_planes *one = part_of(t, at, 0);
  job.loaded = at->axis[0]->parts > 1;
  job.in = at->axis[0]->parts ? voxels_of(it, at, one->arrived, one->from)
                              : voxels_of(it, at, false, at->axis[0]->from);
  job.out = it->out;
  for (int d = 0; d < DIMS; d++)
    job.out.first += at->axis[d]->result * job.out.step[d + 1];
  if (t->window && t->window[i] >= 0) {
    job.window = (kugel__mem){t->windows, 0};
    job.window_at = t->window[i];
  }
  return kugel__fused_run(t->fused, &job);
}

static kugel_status run_whole_tiles(const kugel__global_item *it)
{
  kugel__global_tiles *t = it->p->global->device->tiles;
  for (int64_t i = 0; i < tiles_of(t); i++) {
    tile at = tile_of(t, i);
    if (!at.axis[0]->parts)
      KUGEL_TRY(run_tile(it, i, &at));
  }
  return KUGEL_OK;
}

// Tiles of several parts: what the first one has of the image is loaded already.
static kugel_status run_parted_tiles(const kugel__global_item *it, int64_t first)
{
  kugel__global_tiles *t = it->p->global->device->tiles;
  for (int64_t i = first; i < tiles_of(t); i++) {
    tile at = tile_of(t, i);
    if (!at.axis[0]->parts)
      continue;
    if (i > first)
      KUGEL_TRY(load(it, &at, false));
    KUGEL_TRY(load(it, &at, true));
    KUGEL_TRY(run_tile(it, i, &at));
  }
  return KUGEL_OK;
}

// The number of all tiles if there is none.
static int64_t first_parted(const kugel__global_tiles *t)
{
  int64_t i = 0;
  while (i < tiles_of(t) && !tile_of(t, i).axis[0]->parts)
    i++;
  return i;
}

kugel_status kugel__global_tiles_item(const kugel__global_item *it)
{
  const kugel_volume *p = it->p;
  const kugel__global_device *g = p->global->device;
  const kugel__global_tiles *t = g->tiles;
  size_t n = (size_t)p->global->size, plane = (size_t)(p->axis[1].n * p->axis[2].n * (it->in.dtype.bits / 8));
  const int64_t *planes[] = {t->sent, t->sent_at, t->received, t->landed_at};
  int64_t first = first_parted(t);
  for (size_t i = 0; i < 4 * n; i++)
    t->table[i] = (size_t)planes[i / n][i % n] * plane;
  kugel__wire_job job = {it->room[KUGEL__GLOBAL_OUT],
                         it->room[KUGEL__GLOBAL_IN],
                         t->table,
                         t->table + n,
                         t->table + 2 * n,
                         t->table + 3 * n,
                         NULL};
  kugel_status s = kugel__queue_follow(it->queue, g->post);
  s = s ? s : pack(it, g->post);
  s = s ? s : run_whole_tiles(it);
  if (!s && first < tiles_of(t)) {
    tile at = tile_of(t, first);
    s = load(it, &at, false);
  }
  s = kugel__wire_exchange(g->wire, s, &job, g->post);
  s = s ? s : kugel__queue_follow(g->post, it->queue);
  return s ? s : run_parted_tiles(it, first);
}
