/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans over ranks with devices: wires, arguments, the loop over a batch, figures. */
#include "volume/plan/global_device.h"
#include <math.h>
#include "core/alloc.h"
#include "core/array.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "device/lend.h"
#include "volume/gpu/lane_sizes.h"

enum { DIMS = KUGEL__VOLUME_DIMS, ROOMS = KUGEL__GLOBAL_ROOMS, COUNTER = 256 };

/* ---- figures ---- */

static const double LINK_BYTES = 3e11; // a second, of a device to those of its host

// Voxels of some planes, of an image or of results.
static double voxels(const kugel_volume *p, bool results, int64_t planes)
{
  const kugel__volume_axis *a = p->axis;
  return (double)planes * (double)(results ? a[1].m * a[2].m * p->kernels : a[1].n * a[2].n);
}

// Of the tiles of a rank, with messages of the plan's own type.
static uint64_t tile_bytes(const kugel_volume *p, const kugel__fused *f)
{
  int64_t halo = kugel__min(p->axis[0].n, 2 * (p->axis[0].k - 1));
  double size = (double)kugel__volume_image_size(p);
  kugel__lane_sizes s = kugel__lane_sizes_of(p);
  return kugel__lane_fixed_bytes(p, f) + kugel__lane_list_bytes(&s, p) +
         (uint64_t)(size * voxels(p, false, 2 * halo));
}

// Of the plan and an execution without the caller's arrays; UINT64_MAX: no block holds the lines.
static uint64_t bytes_of(const kugel_volume *p, int ranks, double *traffic)
{
  bool tiles = p->engine == KUGEL_VOLUME_TILES;
  const kugel_volume *one = tiles ? p->sub : p;
  kugel__fused *f;
  if (kugel__fused_shape(p->ctx, one, &f))
    return UINT64_MAX;
  uint64_t bytes = tiles ? tile_bytes(p, f) : kugel__global_lines_bytes(p, ranks);
  *traffic = (double)kugel__fused_bytes(one, f);
  kugel__fused_destroy(f);
  const kugel__global_device *g = p->global ? p->global->device : NULL;
  return bytes + (g && g->wire ? kugel__hops_room(g->wire) : 0);
}

void kugel__global_device_figures(const kugel_volume *p, kugel_volume_info *info)
{
  int ranks = (p->opts.comm ? p->opts.comm : p->ctx->leads)->size;
  bool tiles = p->engine == KUGEL_VOLUME_TILES;
  double work = 0, sent = 0, in = (double)kugel__volume_image_size(p),
         out = (double)kugel__volume_results_size(p);
  int64_t planes = (p->axis[0].n + ranks - 1) / ranks, tall = (p->axis[0].m + ranks - 1) / ranks;
  double window = p->opts.boundary == KUGEL_BOUNDARY_UNKNOWN ? (double)p->real * p->kernels : 0;
  double kernel = (tiles ? 2.0 * (double)p->stored * (double)p->axis[0].k : 4.0 * KUGEL__GLOBAL_PLANES) *
                  (double)p->axis[1].k * (double)p->axis[2].k * 8 * (p->halved ? 1 : 2);
  for (int d = 0; d < DIMS; d++)
    window *= (double)(tiles ? p->tile[d] : d ? p->axis[d].m : tall);
  info->host_bytes = (uint64_t)(kernel + window); // while the plan is made
  info->device_bytes = bytes_of(p, ranks, &work);
  if (info->device_bytes == UINT64_MAX)
    return;
  if (tiles) {
    int64_t rows = (p->tiles[0] + ranks - 1) / ranks, halo = kugel__min(p->axis[0].n, 2 * (p->axis[0].k - 1));
    tall = kugel__min(p->axis[0].m, rows * p->tile[0]);
    work *= (double)(rows * p->tiles[1] * p->tiles[2]);
    sent = ranks > 1 ? in * voxels(p, false, halo) : 0;
  } else if (ranks > 1) { // a rank copies what is its own
    double slice = (double)(p->axis[1].points * p->pitch) * 2 * (double)p->real;
    double block = slice * (double)(planes + tall * p->kernels) / ranks;
    sent = block * (ranks - 1);
    work = work / ranks + 2 * block;
  }
  kugel__volume_rates r = kugel__volume_device_rates(p->ctx);
  double arrays = in * voxels(p, false, planes) + out * voxels(p, true, tall);
  info->device_bytes += (uint64_t)arrays;
  info->kernel_bytes = (uint64_t)work;
  info->moved_bytes = (uint64_t)(arrays + sent);
  double busy = work / (KUGEL__VOLUME_PART_OF_COPIES * r.within),
         along = tiles ? 0 : busy / 3; // z: nothing is sent
  info->seconds = along + fmax(busy - along, sent / LINK_BYTES);
}

/* ---- plans ---- */

kugel_status kugel__global_device_fits(const kugel_volume *p)
{
  int64_t limit;
  double traffic;
  uint64_t need = bytes_of(p, p->global->size, &traffic);
  if (need == UINT64_MAX) // the plan says why
    return KUGEL_OK;
  KUGEL_TRY(kugel__volume_device_limit(p, &limit));
  KUGEL_CHECK(
      need <= (uint64_t)limit || p->engine != KUGEL_VOLUME_TILES, KUGEL_ENOMEM,
      "a tile of %lld x %lld x %lld results and the planes around it take %llu bytes of device memory, "
      "the limit is %lld: take a smaller opts.tile, or raise kugel_ctx_limit_memory",
      (long long)p->tile[0], (long long)p->tile[1], (long long)p->tile[2], (unsigned long long)need,
      (long long)limit);
  KUGEL_CHECK(
      need <= (uint64_t)limit, KUGEL_ENOMEM,
      "slices and lines of this rank take %llu bytes of device memory, the limit is %lld: use more ranks, "
      "or raise kugel_ctx_limit_memory",
      (unsigned long long)need, (long long)limit);
  return KUGEL_OK;
}

kugel_status kugel__global_device_create(kugel_volume *p, const kugel_array *kernel)
{
  kugel__device *dev = kugel__ctx_device(p->ctx);
  kugel__global_device *g = p->global->device = kugel__calloc(p->ctx, sizeof *g);
  KUGEL_CHECK(g, KUGEL_ENOMEM, "no memory for a plan over ranks");
  for (int d = 0; d < DIMS; d++)
    KUGEL_CHECK(p->axis[d].n < UINT32_MAX, KUGEL_ENOTSUP, "axes of %lld voxels are too long for lists",
                (long long)p->axis[d].n);
  KUGEL_TRY(kugel__device_alloc(dev, COUNTER, &g->counter));
  KUGEL_TRY(kugel__queue_create_urgent(p->ctx, &g->post));
  KUGEL_TRY(kugel__global_device_fits(p));
  if (p->engine == KUGEL_VOLUME_TILES)
    KUGEL_TRY(kugel__global_tiles_create(p, kernel));
  KUGEL_TRY(kugel__wire_open(p->global->comm, p->ctx, 0, &g->wire));
  return p->engine == KUGEL_VOLUME_TILES ? KUGEL_OK : kugel__global_lines_create(p, kernel);
}

void kugel__global_device_destroy(kugel_volume *p)
{
  kugel__global_device *g = p->global->device;
  if (!g)
    return;
  kugel__global_tiles_destroy(p);
  kugel__global_lines_destroy(p);
  kugel__wire_close(g->wire);
  kugel_queue_destroy(g->post);
  kugel__device_free(kugel__ctx_device(p->ctx), g->counter);
  kugel__free(p->ctx, g);
}

/* ---- executions ---- */

kugel_status kugel__global_begin(kugel__global_item *it, const size_t *room)
{
  for (int i = 0; i < ROOMS; i++)
    if (room[i])
      KUGEL_TRY(kugel__device_scratch_get(kugel__ctx_device(it->p->ctx), room[i], &it->room[i].base));
  return KUGEL_OK;
}

kugel_status kugel__global_end(kugel__global_item *it, kugel_status s, const size_t *room, kugel__loan *loans,
                               uint32_t *count)
{
  const kugel__global_device *g = it->p->global->device;
  kugel__device *dev = kugel__ctx_device(it->p->ctx);
  s = kugel__wire_settle(g->wire, s);
  if (!s && count)
    s = kugel__device_copy(dev, KUGEL__DOWNLOAD, (kugel__mem){count, 0}, (kugel__mem){g->counter, 0}, 4,
                           it->queue);
  s = kugel__lend_end(loans ? 2 : 0, loans, it->queue, s);
  kugel_status waited[] = {dev->ops->wait(g->post), it->queue ? dev->ops->wait(it->queue) : KUGEL_OK};
  for (int i = 0; i < 2; i++)
    s = s ? s : waited[i];
  for (int i = 0; i < ROOMS; i++)
    kugel__device_scratch_put(dev, it->room[i].base, room[i]);
  return s;
}

typedef struct call {
  const kugel__volume_argument *side[2]; // in, out
  kugel__loan loans[2];
  size_t room[ROOMS];
  kugel__global_item item;
} call;

static kugel_status lend(call *c, kugel__device *dev)
{
  kugel__fused_voxels *v[] = {&c->item.in, &c->item.out};
  for (int i = 0; i < 2; i++) {
    const kugel__volume_argument *a = c->side[i];
    int64_t size = a->box.dtype.bits / 8;
    KUGEL_CHECK(a->array->device.type != KUGEL_CPU || kugel__array_contiguous(a->array), KUGEL_ENOTSUP,
                "host arrays of a device plan must be in C order: copy them first");
    KUGEL_TRY(kugel__lend(dev, a->array, i ? KUGEL__WRITE : KUGEL__READ, c->item.queue, &c->loans[i]));
    kugel__mem mem = c->loans[i].mem;
    KUGEL_CHECK(mem.offset % (size_t)size == 0, KUGEL_ENOTSUP,
                "byte_offset is %zu, must be a multiple of an element's %lld bytes", mem.offset,
                (long long)size);
    *v[i] = (kugel__fused_voxels){.mem = {mem.base, 0},
                                  .dtype = a->box.dtype,
                                  .first = (int64_t)mem.offset / size,
                                  .step = {a->box.step[0], a->box.step[1], a->box.step[2], a->box.step[3]}};
  }
  return KUGEL_OK;
}

static kugel_status prepare(call *c, kugel_queue *queue)
{
  const kugel_volume *p = c->item.p;
  kugel__device *dev = kugel__ctx_device(p->ctx);
  KUGEL_TRY(kugel__queue_of(dev, queue, &c->item.queue));
  KUGEL_TRY(lend(c, dev));
  if (p->engine == KUGEL_VOLUME_TILES)
    kugel__global_tiles_room(p, c->side[0]->box.dtype.bits / 8, c->room);
  else
    kugel__global_lines_room(p, c->item.adjoint, c->room);
  KUGEL_TRY(kugel__global_begin(&c->item, c->room));
  return kugel__device_fill(dev, (kugel__mem){p->global->device->counter, 0}, 0, COUNTER, c->item.queue);
}

static kugel_status run_batch(call *c)
{
  const kugel__volume_argument *in = c->side[0], *out = c->side[1];
  int64_t batch = 1;
  kugel_status s = KUGEL_OK;
  for (int d = 0; d < in->lead; d++)
    batch *= in->shape[d];
  kugel__span outer = kugel__progress_enter(0, 1);
  for (int64_t i = 0; i < batch && !s; i++) {
    kugel__global_item it = c->item;
    int64_t rest = i;
    for (int d = in->lead - 1; d >= 0; rest /= in->shape[d], d--) {
      it.in.first += rest % in->shape[d] * in->step[d];
      it.out.first += rest % in->shape[d] * out->step[d];
    }
    kugel__progress_stage((double)i / (double)batch, (double)(i + 1) / (double)batch, "images");
    s = kugel__progress_step(0);
    s = s                                    ? s
        : it.p->engine == KUGEL_VOLUME_TILES ? kugel__global_tiles_item(&it)
                                             : kugel__global_lines_item(&it);
  }
  kugel__progress_leave(outer);
  return s;
}

kugel_status kugel__global_device_execute(const kugel_volume *p, bool adjoint,
                                          const kugel__volume_argument *in, const kugel__volume_argument *out,
                                          atomic_llong *clipped, kugel_queue *queue)
{
  kugel_comm *comm = p->global->comm;
  call c = {.side = {in, out}, .item = {.p = p, .adjoint = adjoint}};
  uint32_t count = 0;
  kugel_status s = prepare(&c, queue);
  s = s ? s : run_batch(&c);
  s = kugel__global_end(&c.item, s, c.room, c.loans, &count);
  s = s && comm->settled ? s : kugel__comm_agree(comm, s);
  int64_t sum = count;
  s = s ? s : kugel__comm_reduce(comm, &sum, 1, KUGEL_COMM_SUM);
  if (clipped && !s)
    atomic_fetch_add(clipped, sum);
  return s;
}
