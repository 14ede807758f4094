/* SPDX-License-Identifier: BSD-3-Clause */
/* What a plan does, needs and takes. */
#include "core/ctx.h"
#include "fft/cpu/radices.h"
#include "volume/gpu/device.h"
#include "volume/plan/plan.h"
#include "volume/cpu/lines.h"
#include "volume/plan/global_device.h"
#include "volume/plan/pencil_device.h"

// Measured with AVX-512 on one thread: a point of a radix-8 stage of lines in lanes, and a byte moved. Of files: a byte
// read or written where disks take 1 GB a second.
static const double POINT_SECONDS = 0.35e-9, BYTE_SECONDS = 0.15e-9, FILE_BYTE_SECONDS = 1e-9;

// Of an exchange within a host, as kugel plan has them, with all of an execution's agreements.
static const double EXCHANGE_BYTE_SECONDS = 0.25e-9, CALL_SECONDS = 1e-3, RANK_SECONDS = 50e-6;

static double seconds(const kugel_volume *p, int64_t threads)
{
  const kugel__volume_axis *z = &p->axis[0], *y = &p->axis[1], *x = &p->axis[2];
  double cost[KUGEL__VOLUME_DIMS], lanes = kugel__volume_ops_now()->vlen, pitch = (double)p->pitch;
  for (int d = 0; d < KUGEL__VOLUME_DIMS; d++)
    cost[d] = kugel__radices_of(p->axis[d].points).cost + 2 * (double)p->axis[d].points; // loads and stores
  double in = (double)z->n * ((double)y->n * cost[2] + pitch * cost[1]);
  double out = (double)z->m * ((double)y->m * cost[2] + pitch * cost[1]);
  double middle = 2 * (double)y->points * pitch * cost[0] * p->stored / p->kernels;
  double bytes = 2 * (double)p->real * pitch * (double)y->points * (double)(2 * z->n + 2 * z->m + z->points);
  (void)x;
  return p->kernels * (POINT_SECONDS * 8 / lanes * (in + out + middle) + BYTE_SECONDS * bytes) /
         (double)threads;
}

void kugel__volume_figures(const kugel_volume *p, kugel_volume_info *info)
{
  *info = (kugel_volume_info){.ndim = p->ndim, .engine = p->engine, .parts = p->parts, .tiles = 1};
  const kugel_volume *one = p->sub ? p->sub : p; // whose transforms run
  double points = 1, results = 1, data = 1;
  for (int d = 0; d < KUGEL__VOLUME_DIMS; d++) {
    const kugel__volume_axis *a = &p->axis[d];
    int own = d - (KUGEL__VOLUME_DIMS - p->ndim);
    points *= (double)one->axis[d].points;
    results *= (double)a->m;
    data *= (double)a->n;
    info->tiles *= p->sub ? p->tiles[d] : 1;
    if (own < 0)
      continue;
    info->results[own] = a->m;
    info->tile[own] = p->sub ? p->tile[d] : a->m;
    info->transform[own] = one->axis[d].length;
  }
  double complex_bytes = 2 * (double)p->real, work = (double)(one->slices * one->slice) * complex_bytes;
  double spectra = points / (double)one->axis[2].points * (double)one->pitch * complex_bytes * p->stored;
  double window = p->opts.boundary == KUGEL_BOUNDARY_UNKNOWN ? (double)p->real * p->kernels : 0,
         count = (double)info->tiles;
  for (int d = 0; d < KUGEL__VOLUME_DIMS; d++)
    window *= (double)(p->sub ? p->tile[d] : p->axis[d].m);
  double sums = 0;
  if (p->parts > 1) { // results of earlier parts, and kernels whose spectra are made again
    double elements = results * p->kernels > data ? results * p->kernels : data;
    sums = elements * (double)kugel__volume_sum_real(p) * (p->halved ? 1 : 2);
    for (int d = 0; d < KUGEL__VOLUME_DIMS && !p->kept; d++)
      elements = d ? elements * (double)p->axis[d].k : (double)p->axis[d].k * p->stored * 8;
    sums += p->kept ? 0 : elements;
    count = p->parts;
  }
  if (p->ctx->device.type == KUGEL_CPU) {
    work = (double)kugel__volume_work(one);
    double kernel = (double)kugel__volume_kernel_work(one);
    double ones = p->opts.boundary == KUGEL_BOUNDARY_UNKNOWN && !p->sub ? data * (double)p->real : 0;
    info->host_bytes = (uint64_t)((kernel > work ? kernel : work) + spectra * (p->kept ? p->parts : 1) +
                                  window + ones + sums) +
                       kugel__volume_thread_bytes(one) + kugel__volume_table_bytes(one);
    for (int d = 0; d < KUGEL__VOLUME_DIMS && p->sub;
         d++) // of the whole image, and of where a tile's data are
      info->host_bytes +=
          (uint64_t)(8 * (p->tile[d] + p->axis[d].k) + 16 * (p->axis[d].n + p->axis[d].m) + 1024);
  }
  info->moved_bytes =
      (uint64_t)((data + results * p->kernels) * (double)p->real + count * (4 * work * p->kernels + spectra));
  bool device = p->ctx->device.type != KUGEL_CPU;
  if (p->pencil && !device) {
    kugel__pencil_sizes s = kugel__pencil_measure(p);
    info->host_bytes = kugel__pencil_memory(p);
    info->scratch_bytes = s.kernel + s.window + s.volume * (uint64_t)p->kernels;
    info->moved_bytes += kugel__pencil_traffic(p);
    info->tiles = (p->axis[0].m + p->pencil->slab - 1) / p->pencil->slab;
    info->tile[0] = kugel__min(p->pencil->slab, p->axis[0].m);
  }
  info->seconds = count * seconds(one, kugel__volume_threads(p)) * (p->kept ? 1 : 1.5);
  if (p->pencil && !device) // the kernel's lines along z once more
    info->seconds +=
        seconds(one, kugel__volume_threads(p)) / 6 + FILE_BYTE_SECONDS * (double)kugel__pencil_traffic(p);
  kugel_comm *ranks = p->opts.comm ? p->opts.comm : p->ctx->leads;
  if (p->engine == KUGEL_VOLUME_GLOBAL && ranks) {
    double voxels = (data + results * p->kernels) * (double)p->real; // that rank 0 sends and gets
    int64_t tall = kugel__max(p->axis[0].n, p->axis[0].m);
    info->tile[0] = kugel__min((tall + ranks->size - 1) / ranks->size, p->axis[0].m);
    info->host_bytes = kugel__global_memory(p, ranks->size);
    info->seconds =
        info->seconds / ranks->size + CALL_SECONDS + RANK_SECONDS * ranks->size +
        EXCHANGE_BYTE_SECONDS * ((double)kugel__global_traffic(p, ranks->size) + (p->opts.comm ? 0 : voxels));
  }
  if (p->engine == KUGEL_VOLUME_TILES && p->opts.comm && p->sub) {
    int64_t rows = (p->tiles[0] + p->opts.comm->size - 1) / p->opts.comm->size;
    double planes =
        2 * (double)(p->axis[0].k - 1) * (double)p->axis[1].n * (double)p->axis[2].n * (double)p->real;
    info->seconds = info->seconds * (double)rows / (double)p->tiles[0] + CALL_SECONDS +
                    RANK_SECONDS * p->opts.comm->size + EXCHANGE_BYTE_SECONDS * planes;
  }
  info->image_count = p->axis[KUGEL__VOLUME_DIMS - p->ndim].n;
  info->results_count = p->axis[KUGEL__VOLUME_DIMS - p->ndim].m;
  if (p->global) {
    const kugel__volume_global *g = p->global;
    info->image_first = g->data[g->rank];
    info->image_count = kugel__global_own(g, g->data);
    info->results_first = g->results[g->rank];
    info->results_count = kugel__global_own(g, g->results);
  }
  bool over = (p->engine == KUGEL_VOLUME_GLOBAL && ranks) ||
              (p->engine == KUGEL_VOLUME_TILES && p->opts.comm && p->sub);
  if (over && device) {
    kugel__global_device_figures(p, info);
    if (!p->opts.comm) // rank 0 sends voxels and gets results
      info->seconds += CALL_SECONDS + EXCHANGE_BYTE_SECONDS * (data + results * p->kernels) * (double)p->real;
  } else if (p->pencil && device)
    kugel__pencil_device_figures(p, info);
  else if (device)
    kugel__volume_device_figures(p, info);
}

kugel_status kugel_volume_get_info(const kugel_volume *p, kugel_volume_info *info)
{
  KUGEL_CHECK(p, KUGEL_EINVAL, "plan is NULL: make one with kugel_volume_create");
  kugel_volume_info all;
  kugel__volume_figures(p, &all);
  return kugel__give_info(info, &all, sizeof all, "kugel_volume_info");
}

kugel_status kugel_volume_estimate(kugel_ctx *ctx, int ndim, const int64_t *n, const int64_t *k,
                                   const kugel_volume_opts *opts, kugel_volume_info *info)
{
  kugel_volume *p = NULL;
  kugel_status s = kugel__volume_start(ctx, ndim, n, k, opts, &p);
  if (!s)
    s = kugel_volume_get_info(p, info);
  kugel_volume_destroy(p);
  return s;
}
