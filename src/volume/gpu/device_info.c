/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory, traffic and time of plans on devices. */
#include <math.h>
#include "core/ctx.h"
#include "device/lanes.h"
#include "volume/gpu/device_plan.h"
#include "volume/gpu/dif.h"
#include "volume/gpu/lane_tiles.h"
#include "volume/gpu/lane_voxels.h"

enum { DIMS = KUGEL__VOLUME_DIMS };

/* ---- rates ---- */

typedef struct rates { // bytes a second
  int32_t type, id;
  size_t bytes; // of the copies that were measured
  double within, up, down;
} rates;

enum { MEASURED_BYTES = 32 << 20, MOST_COPIES = 64 };

// Of each of two buffers on the device: half of a limit at the most, since plans count on all of it afterwards.
static size_t buffer_bytes(kugel_ctx *ctx)
{
  int64_t limit = kugel__ctx_limit(ctx);
  return !limit || limit / 4 > MEASURED_BYTES ? MEASURED_BYTES : (size_t)kugel__max(limit / 4, 64) / 64 * 64;
}

// Of one of `copies` that follow each other.
static double seconds_each(kugel__device *dev, kugel__way way, kugel__mem dst, kugel__mem src, size_t bytes,
                           size_t copies)
{
  kugel__event *event[2] = {NULL, NULL};
  double seconds = 0;
  kugel_status s = dev->ops->copy(dev, way, dst, src, bytes, &dev->queue); // the first one warms up
  if (!s)
    s = dev->ops->record(&dev->queue, &event[0]);
  for (size_t i = 0; i < copies && !s; i++)
    s = dev->ops->copy(dev, way, dst, src, bytes, &dev->queue);
  if (!s)
    s = dev->ops->record(&dev->queue, &event[1]);
  if (!s)
    s = dev->ops->elapsed(event[0], event[1], &seconds);
  dev->ops->wait(&dev->queue);
  for (int i = 0; i < 2; i++)
    dev->ops->event_free(event[i]);
  return s || !(seconds > 0) ? INFINITY : seconds / (double)copies;
}

// Of a copy. Those that take no time are made again, more often: neither the latency of one nor a clock that is still low counts.
static double seconds_of(kugel__device *dev, kugel__way way, kugel__mem dst, kugel__mem src, size_t bytes)
{
  const double least = 1e-3;
  size_t copies = (size_t)kugel__min((int64_t)(MEASURED_BYTES / bytes), MOST_COPIES);
  double each = seconds_each(dev, way, dst, src, bytes, copies);
  return each * (double)copies < least ? seconds_each(dev, way, dst, src, bytes, 32 * copies) : each;
}

static void measure(kugel_ctx *ctx, kugel__device *dev, rates *r)
{
  size_t bytes = r->bytes;
  void *memory[2] = {NULL, NULL}, *host = NULL;
  kugel_status s = kugel__device_alive(dev);
  for (int i = 0; i < 2 && !s; i++)
    s = kugel__device_alloc(dev, bytes, &memory[i]);
  if (!s)
    s = kugel_device_alloc_host(ctx, bytes, &host);
  if (!s) {
    kugel__mem a = {memory[0], 0}, b = {memory[1], 0}, h = {host, 0};
    r->within = 2 * (double)bytes / seconds_of(dev, KUGEL__WITHIN, a, b, bytes);
    r->up = (double)bytes / seconds_of(dev, KUGEL__UPLOAD, a, h, bytes);
    r->down = (double)bytes / seconds_of(dev, KUGEL__DOWNLOAD, h, a, bytes);
  }
  kugel_device_free_host(ctx, host);
  kugel__device_free(dev, memory[0]);
  kugel__device_free(dev, memory[1]);
}

// Measured once a process and device, and again where a limit that allows larger copies follows; what cannot be measured is as
// on a common one.
static rates rates_of(kugel_ctx *ctx)
{
  enum { KEPT = 16 };
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static rates kept[KEPT];
  static int count;
  kugel__device *dev = kugel__ctx_device(ctx);
  rates r = {.type = dev->info.device.type, .id = dev->info.device.id, .bytes = buffer_bytes(ctx)};
  pthread_mutex_lock(&lock);
  int i = 0;
  while (i < count && (kept[i].type != r.type || kept[i].id != r.id))
    i++;
  if (i < count && kept[i].bytes >= r.bytes)
    r = kept[i];
  else
    measure(ctx, dev, &r);
  bool known = r.within > 0 && r.up > 0 && r.down > 0;
  if (!known) {
    r.within = 1e12;
    r.up = r.down = 2e10;
  } else if (i < KEPT) {
    kept[i] = r;
    count += i == count;
  }
  pthread_mutex_unlock(&lock);
  return r;
}

kugel__volume_rates kugel__volume_device_rates(kugel_ctx *ctx)
{
  rates r = rates_of(ctx);
  return (kugel__volume_rates){r.within, r.up, r.down};
}

/* ---- figures ---- */

static const double LAUNCH_SECONDS = 4e-6;

static double kernel_seconds(const kugel_volume *p, const rates *r, double bytes)
{
  return bytes / (KUGEL__VOLUME_PART_OF_COPIES * r->within) + 5 * p->stored * LAUNCH_SECONDS;
}

/* Runs of a tile's voxels that are too short for copies of their own go by way of packed host memory, while all else waits: seconds
 * a byte, of eight threads whatever their number, on which tiles and hence bits would depend. */
static const double GATHER_SECONDS = 0.04e-9;

// Bytes of a tile's voxels if they are moved so, else 0. n: of the whole array.
static double gathered(const int64_t *n, const int64_t *tile, double size, double bytes)
{
  double run = size;
  for (int d = DIMS - 1; d >= 0; d--) {
    run *= (double)tile[d];
    if (tile[d] < n[d])
      break;
  }
  return run < KUGEL__LANE_LEAST_RUN && run < bytes ? bytes : 0;
}

static void tile_figures(const kugel_volume *p, const kugel__fused *f, const rates *r,
                         kugel_volume_info *info)
{
  int64_t n[DIMS], m[DIMS], data[DIMS];
  double size = (double)kugel__volume_image_size(p);
  double in = size, out = (double)kugel__volume_results_size(p) * p->kernels, count = (double)info->tiles;
  double compute = (double)kugel__fused_bytes(p->sub, f), lanes = 1 + p->ctx->npeers;
  uint64_t pinned;
  for (int d = 0; d < DIMS; d++) {
    n[d] = p->axis[d].n;
    m[d] = p->axis[d].m;
    data[d] = kugel__min(n[d], p->tile[d] + p->axis[d].k - 1);
    in *= (double)data[d];
    out *= (double)p->tile[d];
  }
  bool hold = kugel__lane_tiles_hold(p, f);
  info->kernel_bytes = (uint64_t)(count * compute);
  info->device_bytes = kugel__lane_tiles_bytes(p, f, hold, &pinned);
  info->host_bytes += pinned;
  double image = size * (double)p->axis[0].n * (double)p->axis[1].n * (double)p->axis[2].n;
  info->moved_bytes = (uint64_t)((hold ? image : count * in) + count * out);
  double share = fmax(1, count / lanes), step[3] = {in / r->up, kernel_seconds(p, r, compute), out / r->down};
  double slowest = fmax(step[0], fmax(step[1], step[2]));
  info->seconds = share * slowest + step[0] + step[1] + step[2] - slowest;
  if (hold) // all is copied in once: the last tile ends after all data are there, after all others, or after all copies out
    info->seconds = fmax(image / r->up + step[1] + step[2],
                         fmax(step[0] + count * step[1] + step[2], step[0] + step[1] + count * step[2]));
  info->seconds +=
      GATHER_SECONDS * count *
      (gathered(n, data, size, hold ? 0 : in) +
       gathered(m, p->tile, (double)kugel__volume_results_size(p), out / p->kernels) * p->kernels);
}

static void resident_figures(const kugel_volume *p, const kugel__fused *f, const rates *r,
                             kugel_volume_info *info)
{
  kugel__fused_span data[DIMS], results[DIMS];
  double size = (double)p->real * (p->opts.complex_data ? 2 : 1), image = size, out = size * p->kernels,
         map = 0, lists = 0, wide = size;
  for (int d = 0; d < DIMS; d++) {
    const kugel__volume_axis *a = &p->axis[d];
    data[d] = (kugel__fused_span){.held = a->n, .map = -1};
    results[d] = (kugel__fused_span){.held = a->m, .map = -1};
    image *= (double)a->n;
    out *= (double)a->m;
    map += a->data.position ? 4 * (double)a->length : 0;
    int64_t extended = a->data.position ? a->m + a->k - 1 : a->n;
    lists += 8 * (double)(3 * extended + a->n + a->m + 3); // move.c
    wide *= (double)extended;
  }
  double window = p->opts.boundary == KUGEL_BOUNDARY_UNKNOWN ? out : 0;
  for (int d = 0; d < DIMS && map > 0; d++) // of the adjoint, before what the boundary extended is added up
    data[d].held = p->axis[d].data.position ? p->axis[d].m + p->axis[d].k - 1 : p->axis[d].n;
  wide = map > 0 ? wide : 0;
  map += map > 0 ? lists : 0;
  info->kernel_bytes = kugel__fused_bytes(p, f);
  double weights = p->depth ? (double)p->stored * (double)p->axis[0].points * (double)p->real : 0;
  info->device_bytes = (uint64_t)(image + out + window + map + weights + wide) + kugel__fused_spectra(f) +
                       kugel__fused_work(f, data, results) * (p->stored > 1 ? 2 : 1);
  info->moved_bytes = (uint64_t)(image + out);
  info->host_bytes += (uint64_t)window;
  info->seconds = kernel_seconds(p, r, (double)info->kernel_bytes);
}

static void boxes_figures(const kugel_volume *p, const rates *r, kugel_volume_info *info)
{
  double extended = 1, results = p->kernels, size = (double)p->real * (p->opts.complex_data ? 2 : 1);
  for (int d = 0; d < DIMS; d++) {
    extended *= (double)(p->axis[d].m + p->axis[d].k - 1);
    results *= (double)p->axis[d].m;
  }
  double window = p->opts.boundary == KUGEL_BOUNDARY_UNKNOWN ? results : 0;
  info->kernel_bytes = 0;
  info->device_bytes = (uint64_t)(((2 + p->kernels) * extended + results + window) * size);
  info->seconds = (double)info->device_bytes * 8 / (KUGEL__VOLUME_PART_OF_COPIES * r->within);
}

// Of the host, by one thread: a number that is folded into a part, or unfolded from one, with AVX-512; a byte copied.
static const double FOLD_SECONDS = 0.6e-9, COPY_SECONDS = 0.15e-9;

static void dif_figures(const kugel_volume *p, const rates *r, kugel_volume_info *info)
{
  kugel__dif_bytes b;
  info->device_bytes = UINT64_MAX; // no block holds the lines of such a part
  info->seconds = INFINITY;
  if (kugel__dif_measure(p, &b))
    return;
  double data = 1, results = p->kernels, parts = p->parts, threads = (double)kugel__volume_threads(p);
  for (int d = 0; d < DIMS; d++) {
    data *= (double)p->axis[d].n;
    results *= (double)p->axis[d].m;
  }
  double moved = (double)(b.kernel + b.in) / r->up + (double)b.out / r->down;
  double there = moved + kernel_seconds(p, r, (double)b.moved);
  double fold = FOLD_SECONDS * parts * (data + results) * (p->halved ? 1 : 2) / threads;
  double copies = COPY_SECONDS * (double)(b.kernel + b.in + b.out) / threads;
  double window = p->opts.boundary == KUGEL_BOUNDARY_UNKNOWN ? results * (double)p->real : 0;
  info->device_bytes = kugel__dif_device_bytes(&b);
  double lanes = fmin(1 + p->ctx->npeers, p->parts), each = ceil(p->parts / lanes);
  info->host_bytes = 2 * (uint64_t)(1 + p->ctx->npeers) * (b.kernel + b.in + b.out) +
                     (uint64_t)p->parts * (b.kernel + b.in) + (uint64_t)window +
                     kugel__volume_thread_bytes(p) + kugel__volume_table_bytes(p);
  info->moved_bytes = (uint64_t)p->parts * (b.kernel + b.in + b.out);
  info->kernel_bytes = (uint64_t)p->parts * b.moved;
  info->seconds = fold + fmax(each * there, parts * copies) + fmin(there, copies);
}

void kugel__volume_device_figures(const kugel_volume *p, kugel_volume_info *info)
{
  rates r = rates_of(p->ctx);
  kugel__fused *made = NULL;
  const kugel__fused *f = p->gpu ? p->gpu->fused : NULL;
  if (p->engine == KUGEL_VOLUME_DIF) {
    dif_figures(p, &r, info);
    return;
  }
  bool boxes = p->gpu && p->gpu->boxes;
  double kernel = p->stored * 8.0 * (p->halved ? 1 : 2);
  for (int d = 0; d < DIMS; d++)
    kernel *= (double)p->axis[d].k;
  info->host_bytes = (uint64_t)kernel;
  if (!f && !boxes && !kugel__fused_shape(p->ctx, p->sub ? p->sub : p, &made))
    f = made;
  if (p->sub && f)
    tile_figures(p, f, &r, info);
  else if (p->sub) // no block holds the lines of such a tile
    info->device_bytes = UINT64_MAX;
  else if (f)
    resident_figures(p, f, &r, info);
  else
    boxes_figures(p, &r, info);
  kugel__fused_destroy(made);
}
