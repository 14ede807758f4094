/* SPDX-License-Identifier: BSD-3-Clause */
#include "volume/gpu/lane_sizes.h"
#include "core/ctx.h"
#include "device/lanes.h"
#include "volume/gpu/device.h"
#include "volume/gpu/lane_image.h"
#include "volume/gpu/lane_tiles.h"

enum { DIMS = KUGEL__VOLUME_DIMS };

// Voxels of the image along an axis that a tile needs; beyond periodic edges it needs both ends.
static int64_t data_of(const kugel_volume *p, int d)
{
  int64_t reach = p->tile[d] + p->axis[d].k - 1;
  return p->opts.boundary == KUGEL_BOUNDARY_PERIODIC ? kugel__max(p->axis[d].n, reach) : reach;
}

kugel__lane_sizes kugel__lane_sizes_of(const kugel_volume *p)
{
  kugel__lane_sizes s = {1, p->kernels, 0, p->kernels, 0};
  for (int d = 0; d < DIMS; d++) {
    s.data *= data_of(p, d);
    s.results *= p->tile[d];
    s.window *= p->tile[d];
    s.map += p->sub->axis[d].length;
  }
  s.weights = p->depth ? p->stored * p->sub->axis[0].points : 0;
  s.window = p->opts.boundary == KUGEL_BOUNDARY_UNKNOWN ? s.window : 0;
  return s;
}

size_t kugel__lane_voxel_bytes(const kugel__lane_sizes *s, int64_t size, bool adjoint)
{
  return kugel__lane_align((adjoint ? s->results : s->data) * size);
}

size_t kugel__lane_list_bytes(const kugel__lane_sizes *s, const kugel_volume *p)
{
  return kugel__lane_weights_at(s, p) + kugel__lane_align(s->weights * (int64_t)p->real);
}

size_t kugel__lane_weights_at(const kugel__lane_sizes *s, const kugel_volume *p)
{
  return kugel__lane_align(s->map * 4) + kugel__lane_align(s->window * (int64_t)p->real);
}

size_t kugel__lane_out_bytes(const kugel__lane_sizes *s, int64_t size, bool adjoint)
{
  return kugel__lane_align((adjoint ? s->data : s->results) * size);
}

static void whole_spans(const kugel_volume *p, kugel__fused_span *data, kugel__fused_span *results)
{
  for (int d = 0; d < DIMS; d++) {
    data[d] = (kugel__fused_span){.held = data_of(p, d), .map = -1};
    results[d] = (kugel__fused_span){.held = p->tile[d], .map = -1};
  }
}

size_t kugel__lane_work_bytes(const kugel_volume *p, const kugel__fused *f)
{
  kugel__fused_span data[DIMS], results[DIMS];
  whole_spans(p, data, results);
  return (size_t)kugel__fused_work(f, data, results);
}

uint64_t kugel__lane_fixed_bytes(const kugel_volume *p, const kugel__fused *f)
{
  return (p->stored > 1 ? 2 : 1) * kugel__lane_work_bytes(p, f) + kugel__fused_spectra(f) +
         kugel__fused_table_bytes(f) + 4096; // the counter
}

uint64_t kugel__lane_tiles_bytes(const kugel_volume *p, const kugel__fused *f, bool hold, uint64_t *host)
{
  kugel__lane_sizes s = kugel__lane_sizes_of(p);
  int64_t size = kugel__volume_image_size(p), results = kugel__volume_results_size(p);
  uint64_t voxels = kugel__lane_voxel_bytes(&s, size, false), lists = kugel__lane_list_bytes(&s, p),
           out = kugel__lane_out_bytes(&s, results, false);
  bool both = p->opts.adjoint; // slots have room for either
  if (both) {
    uint64_t back = kugel__lane_voxel_bytes(&s, results, true);
    voxels = voxels > back ? voxels : back;
    back = kugel__lane_out_bytes(&s, size, true);
    out = out > back ? out : back;
  }
  uint64_t image = (uint64_t)(p->axis[0].n * p->axis[1].n * p->axis[2].n * size);
  *host = KUGEL__LANE_TILES_SLOTS * (voxels + lists + out);
  return KUGEL__LANE_TILES_SLOTS * (lists + out + (hold && !both ? 0 : voxels)) + (hold ? image : 0) +
         kugel__lane_fixed_bytes(p, f);
}

static int64_t size_of(const kugel_volume *p, kugel_dtype t)
{
  return t.bits ? t.bits / 8 : (int64_t)p->real * (p->opts.complex_data ? 2 : 1);
}

int64_t kugel__volume_image_size(const kugel_volume *p)
{
  return size_of(p, p->opts.image_dtype);
}

int64_t kugel__volume_results_size(const kugel_volume *p)
{
  return size_of(p, p->opts.results_dtype);
}

kugel_status kugel__volume_device_limit(const kugel_volume *p, int64_t *limit)
{
  uint64_t set = p->opts.device_memory;
  return kugel__device_lanes_limit(p->ctx, set ? (int64_t)set : kugel__ctx_limit(p->ctx), limit);
}

bool kugel__lane_tiles_hold(const kugel_volume *p, const kugel__fused *f)
{
  int64_t limit;
  uint64_t host;
  return p->ctx->npeers == 0 && kugel__lane_image_axis(p) >= 0 && !kugel__volume_device_limit(p, &limit) &&
         kugel__lane_tiles_bytes(p, f, true, &host) <= (uint64_t)limit;
}
