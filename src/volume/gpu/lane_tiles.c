/* SPDX-License-Identifier: BSD-3-Clause */
#include "volume/gpu/lane_tiles.h"
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "device/lanes.h"
#include "volume/gpu/device_plan.h"
#include "volume/gpu/lane_image.h"
#include "volume/gpu/lane_sizes.h"
#include "volume/gpu/lane_slots.h"

enum { DIMS = KUGEL__VOLUME_DIMS, SLOTS = KUGEL__LANE_TILES_SLOTS, ALIGN = KUGEL__LANE_ALIGN };

typedef struct part { // of a tile, from its loading to its delivery
  kugel__fused_span data[DIMS], results[DIMS];
  kugel__lane_voxels in, out;
  size_t map, window;  // bytes from the start of what is copied in; 0: none
  size_t weights;      // the same of kernels by depth, whose factors are not 0:
  bool *used;          // [kernels]
  int64_t datum[DIMS]; // the first one, of an image that is kept
  bool direct_out;
} part;

typedef struct lane {
  kugel__fused *fused;
  void *work[2], *counter;
  bool *used;  // [slots][kernels] with kernels by depth
  double *row; // [points] along axis 0
  part parts[KUGEL__LANE_SLOTS];
} lane;

struct kugel__lane_tiles {
  kugel_ctx *ctx;
  pthread_mutex_t lock; // of all that follows
  kugel__lane_slots slots;
  bool hold; // the image of a run is kept on the device, if there is room
  int count;
  lane *lane;
};

/* ---- plans ---- */

static kugel_status make_lane(const kugel_volume *p, kugel__lane *on, const double *kernels, const int64_t *k,
                              lane *l)
{
  KUGEL_TRY(kugel__fused_shape(on->ctx, p->sub, &l->fused));
  for (int i = 0; i < (p->stored > 1 ? 2 : 1); i++)
    KUGEL_TRY(kugel__device_alloc(on->device, kugel__lane_work_bytes(p, l->fused), &l->work[i]));
  KUGEL_TRY(kugel__fused_make(l->fused, kernels, k, p->scale, (kugel__mem){l->work[0], 0}));
  if (p->depth) {
    KUGEL_ALLOC(on->ctx, l->used, (size_t)(SLOTS * p->stored) * sizeof *l->used);
    KUGEL_ALLOC(on->ctx, l->row, (size_t)p->sub->axis[0].points * sizeof *l->row);
    for (int i = 0; i < SLOTS; i++)
      l->parts[i].used = l->used + i * p->stored;
  }
  return kugel__device_alloc(on->device, ALIGN, &l->counter);
}

static kugel_status make_lanes(const kugel_volume *p, const double *kernel, kugel__lane_tiles *t)
{
  double *kernels;
  int64_t k[3];
  KUGEL_TRY(kugel__device_lanes_create(p->ctx, SLOTS, &t->slots.lanes));
  KUGEL_ALLOC(t->ctx, t->lane, (size_t)t->slots.lanes->count * sizeof *t->lane);
  memset(t->lane, 0, (size_t)t->slots.lanes->count * sizeof *t->lane);
  t->count = t->slots.lanes->count;
  KUGEL_TRY(kugel__fused_kernels(p->sub, kernel, &kernels, k));
  kugel_status s = KUGEL_OK;
  for (int i = 0; i < t->count && !s; i++)
    s = make_lane(p, &t->slots.lanes->lane[i], kernels, k, &t->lane[i]);
  kugel__free(t->ctx, kernels);
  return s;
}

kugel_status kugel__lane_tiles_create(kugel_volume *p, const double *kernel, kugel__lane_tiles **out)
{
  kugel__lane_tiles *t = kugel__calloc(p->ctx, sizeof *t);
  KUGEL_CHECK(t, KUGEL_ENOMEM, "no memory for a plan");
  t->ctx = p->ctx;
  pthread_mutex_init(&t->lock, NULL);
  *out = t; // what is there after a failure, destroy frees
  KUGEL_TRY(kugel__volume_device_limit(p, &t->slots.room));
  KUGEL_TRY(make_lanes(p, kernel, t));
  t->hold = p->ctx->npeers == 0 && kugel__lane_image_axis(p) >= 0;
  t->slots.room -= (int64_t)kugel__lane_fixed_bytes(p, t->lane[0].fused);
  return KUGEL_OK;
}

void kugel__lane_tiles_destroy(kugel__lane_tiles *t)
{
  if (!t)
    return;
  for (int i = 0; i < t->count; i++) {
    kugel__device *device = t->slots.lanes->lane[i].device;
    lane *l = &t->lane[i];
    kugel__fused_destroy(l->fused);
    kugel__device_free(device, l->work[0]);
    kugel__device_free(device, l->work[1]);
    kugel__device_free(device, l->counter);
    kugel__free(t->slots.lanes->lane[i].ctx, l->used);
    kugel__free(t->slots.lanes->lane[i].ctx, l->row);
  }
  kugel__lane_image_close(&t->slots.image);
  kugel__free(t->ctx, t->lane);
  kugel__device_lanes_destroy(t->slots.lanes);
  pthread_mutex_destroy(&t->lock);
  kugel__free(t->ctx, t);
}

/* ---- an item ---- */

typedef struct run {
  const kugel_volume *p;
  kugel__lane_tiles *t;
  const kugel__lane_work *work;
  bool held; // the image is kept on the device
} run;

static part *part_of(const run *r, const kugel__lane *on, const kugel__lane_slot *slot)
{
  return &r->t->lane[on->index].parts[slot - on->slot];
}

// Data of a reach along an axis: the first one, and how many.
static void range_of(const kugel__volume_reach *r, int64_t *first, int64_t *count)
{
  int64_t lo = r->source ? INT64_MAX : 0, hi = 0;
  for (int64_t i = 0; i < r->count && r->source; i++) {
    lo = kugel__min(lo, r->source[i]);
    hi = kugel__max(hi, r->source[i] + 1);
  }
  *first = lo;
  *count = r->source ? hi - lo : r->count;
}

// Spans, boxes of voxels, and lists of the data that points are.
static void describe(const run *r, const kugel__lane_tile *tile, part *o, uint32_t *map)
{
  const kugel_volume *p = r->p;
  bool adjoint = r->work->adjoint;
  kugel__lane_voxels image = {.box = adjoint ? tile->out : tile->in, .n = {1}};
  kugel__lane_voxels results = {.box = adjoint ? tile->in : tile->out, .n = {p->kernels}};
  int64_t words = 0, size = image.box.dtype.bits / 8;
  for (int d = 0; d < DIMS; d++) {
    const kugel__volume_reach *reach = &tile->reach[d];
    int64_t first, count, length = p->sub->axis[d].length;
    range_of(reach, &first, &count);
    image.box.data += first * image.box.step[d + 1] * size;
    image.n[d + 1] = count;
    results.n[d + 1] = reach->results;
    o->data[d] =
        (kugel__fused_span){reach->source ? 0 : reach->first_position, count, reach->source ? words : -1};
    o->results[d] = (kugel__fused_span){p->axis[d].k - 1, reach->results, -1};
    for (int64_t i = 0; i < length && reach->source; i++) {
      int64_t e = i - reach->first_position;
      map[words + i] = e >= 0 && e < reach->count ? (uint32_t)(reach->source[e] - first) : UINT32_MAX;
    }
    words += reach->source ? length : 0;
  }
  o->in = adjoint ? results : image;
  o->out = adjoint ? image : results;
  o->map = words ? kugel__lane_align(kugel__lane_voxels_bytes(&o->in)) : 0;
  o->window = 0;
}

// The window of a tile.
static void copy_window(const kugel_volume *p, const kugel__lane_tile *tile, char *to)
{
  const kugel__volume_reach *reach = tile->reach;
  int64_t row = reach[2].results, size = (int64_t)p->real;
  for (int64_t q = 0; q < p->kernels; q++)
    for (int64_t z = 0; z < reach[0].results; z++)
      for (int64_t y = 0; y < reach[1].results; y++, to += row * size) {
        int64_t from = (q * p->axis[0].m + reach[0].result + z) * p->axis[1].m + reach[1].result + y;
        memcpy(to, p->window + (from * p->axis[2].m + reach[2].result) * size, (size_t)(row * size));
      }
}

void kugel__lane_weights(const kugel_volume *p, const kugel__volume_reach *z, double *row, bool *used,
                         void *to)
{
  kugel_volume one = *p->sub;
  one.axis[0].data = (kugel__volume_list){.count = z->count, .first_position = z->first_position};
  one.opts.boundary = p->opts.boundary; // of planes
  one.plane = z->plane;
  one.planes = p->planes;
  one.shift = p->shift;
  kugel__fused_weights(&one, to, row, used);
}

// The voxels of a tile; they are in slot->in, or in the image that is kept.
static kugel_status load_voxels(const run *r, const kugel__lane_tile *tile, kugel__lane *on,
                                kugel__lane_slot *slot, part *o)
{
  kugel__lane_image *image = &r->t->slots.image;
  if (r->held) {
    for (int d = 0; d < DIMS; d++)
      o->datum[d] = tile->reach[d].datum;
    int64_t first = o->datum[image->axis];
    return kugel__lane_image_load(r->p->ctx, image, first, first + tile->reach[image->axis].count,
                                  slot->host_in, on->in);
  }
  if (kugel__lane_direct(on->device, &o->in)) {
    int64_t step[4];
    kugel__lane_packed(o->in.n, step);
    return kugel__lane_copy(on->device, &o->in, KUGEL__UPLOAD, slot->in, step, on->in);
  }
  KUGEL_TRY(kugel__lane_gather(r->p->ctx, &o->in, slot->host_in));
  return kugel__device_copy(on->device, KUGEL__UPLOAD, slot->in, (kugel__mem){slot->host_in, 0},
                            (size_t)kugel__lane_voxels_bytes(&o->in), on->in);
}

static kugel_status load(void *arg, kugel__lane *on, kugel__lane_slot *slot)
{
  const run *r = arg;
  const kugel_volume *p = r->p;
  part *o = part_of(r, on, slot);
  kugel__lane_tile tile;
  KUGEL_TRY(r->work->tile(r->work->arg, slot->item, &tile));
  kugel__lane_sizes s = kugel__lane_sizes_of(p);
  size_t voxels = kugel__lane_voxel_bytes(&s, tile.in.dtype.bits / 8, r->work->adjoint),
         lists = r->held ? 0 : voxels, bytes = 0;
  char *host = (char *)slot->host_in + voxels;
  describe(r, &tile, o, (uint32_t *)(void *)host);
  if (o->map) {
    o->map = lists;
    bytes = (size_t)s.map * 4;
  }
  if (p->window) {
    o->window = kugel__lane_align(s.map * 4);
    copy_window(p, &tile, host + o->window);
    o->window += lists;
    bytes = kugel__lane_list_bytes(&s, p);
  }
  if (p->depth) {
    size_t at = kugel__lane_weights_at(&s, p);
    kugel__lane_weights(p, &tile.reach[0], r->t->lane[on->index].row, o->used, host + at);
    o->weights = lists + at;
    bytes = kugel__lane_list_bytes(&s, p);
  }
  o->direct_out = kugel__lane_direct(on->device, &o->out);
  KUGEL_TRY(load_voxels(r, &tile, on, slot, o));
  return kugel__device_copy(on->device, KUGEL__UPLOAD, (kugel__mem){slot->in.base, lists},
                            (kugel__mem){host, 0}, bytes, on->in);
}

static kugel__fused_voxels packed(kugel__mem mem, const kugel__lane_voxels *v)
{
  return (kugel__fused_voxels){.mem = mem,
                               .dtype = v->box.dtype,
                               .step = {v->n[1] * v->n[2] * v->n[3], v->n[2] * v->n[3], v->n[3], 1}};
}

static kugel_status compute(void *arg, kugel__lane *on, kugel__lane_slot *slot)
{
  const run *r = arg;
  const kugel_volume *p = r->p;
  lane *l = &r->t->lane[on->index];
  part *o = part_of(r, on, slot);
  kugel__fused_job job = {.adjoint = r->work->adjoint,
                          .in = r->held ? kugel__lane_image_from(&r->t->slots.image, o->datum)
                                        : packed(slot->in, &o->in),
                          .out = packed(slot->out, &o->out),
                          .map = slot->in,
                          .work = {{l->work[0], 0}, {l->work[1], 0}},
                          .clipped = {l->counter, 0},
                          .queue = on->work};
  for (int d = 0; d < DIMS; d++) {
    job.data[d] = o->data[d];
    job.results[d] = o->results[d];
    if (job.data[d].map >= 0)
      job.data[d].map += (int64_t)o->map / 4;
  }
  if (o->window) {
    job.window = slot->in;
    job.window_at = (int64_t)(o->window / p->real);
  }
  if (p->depth) {
    job.weights = slot->in;
    job.weights_at = (int64_t)(o->weights / p->real);
    job.used = o->used;
  }
  return kugel__fused_run(l->fused, &job);
}

static kugel_status store(void *arg, kugel__lane *on, kugel__lane_slot *slot)
{
  part *o = part_of(arg, on, slot);
  if (o->direct_out) {
    int64_t step[4];
    kugel__lane_packed(o->out.n, step);
    return kugel__lane_copy(on->device, &o->out, KUGEL__DOWNLOAD, slot->out, step, on->out);
  }
  return kugel__device_copy(on->device, KUGEL__DOWNLOAD, (kugel__mem){slot->host_out, 0}, slot->out,
                            (size_t)kugel__lane_voxels_bytes(&o->out), on->out);
}

static kugel_status deliver(void *arg, kugel__lane *on, kugel__lane_slot *slot)
{
  const run *r = arg;
  part *o = part_of(r, on, slot);
  if (!o->direct_out)
    KUGEL_TRY(kugel__lane_scatter(r->p->ctx, &o->out, slot->host_out));
  return r->work->done ? r->work->done(r->work->arg, slot->item) : KUGEL_OK;
}

/* ---- runs ---- */

static kugel_status count_clipped(kugel__lane_tiles *t, atomic_llong *clipped)
{
  for (int i = 0; i < t->count && clipped; i++) {
    uint32_t count = 0;
    KUGEL_TRY(kugel__device_copy(t->slots.lanes->lane[i].device, KUGEL__DOWNLOAD, (kugel__mem){&count, 0},
                                 (kugel__mem){t->lane[i].counter, 0}, 4, NULL));
    atomic_fetch_add(clipped, count);
  }
  return KUGEL_OK;
}

static kugel_status run_all(run *r, atomic_llong *clipped)
{
  kugel__lane_tiles *t = r->t;
  const kugel_volume *p = r->p;
  kugel__lane_tile first;
  KUGEL_TRY(r->work->tile(r->work->arg, 0, &first));
  kugel__lane_sizes s = kugel__lane_sizes_of(p);
  bool adjoint = r->work->adjoint;
  size_t voxels = kugel__lane_voxel_bytes(&s, first.in.dtype.bits / 8, adjoint),
         lists = kugel__lane_list_bytes(&s, p);
  kugel__lane_bytes slot = {.in = lists,
                            .out = kugel__lane_out_bytes(&s, first.out.dtype.bits / 8, adjoint),
                            .host_in = voxels + lists};
  slot.host_out = slot.out;
  size_t image = r->work->image ? kugel__lane_image_bytes(p, r->work->image) : 0;
  r->held = t->hold && image && !adjoint && kugel__lane_slots_fit(&t->slots, SLOTS, &slot, image);
  if (r->held) {
    KUGEL_TRY(kugel__lane_slots_make(t->ctx, &t->slots, &slot, image));
    kugel_status opened =
        kugel__lane_image_open(&t->slots.image, t->slots.lanes->lane[0].device, p, r->work->image);
    r->held = !opened;
    if (opened != KUGEL_ENOMEM)
      KUGEL_TRY(opened);
  }
  if (!r->held) { // tiles have their own copies
    slot.in = voxels + lists;
    KUGEL_TRY(kugel__lane_slots_make(t->ctx, &t->slots, &slot, 0));
  }
  for (int i = 0; i < t->count; i++)
    KUGEL_TRY(kugel__device_fill(t->slots.lanes->lane[i].device, (kugel__mem){t->lane[i].counter, 0}, 0,
                                 ALIGN, NULL));
  kugel__lane_job job = {.arg = r,
                         .stage = "tiles",
                         .count = r->work->count,
                         .ahead = r->work->done ? kugel__lane_tiles_under_way(t) : 0,
                         .load = load,
                         .compute = compute,
                         .store = store,
                         .deliver = deliver};
  KUGEL_TRY(kugel__device_lanes_run(t->slots.lanes, &job));
  return count_clipped(t, clipped);
}

int kugel__lane_tiles_under_way(const kugel__lane_tiles *t)
{
  return SLOTS * t->count;
}

kugel_status kugel__lane_tiles_run(const kugel_volume *p, kugel__lane_tiles *t, const kugel__lane_work *work,
                                   atomic_llong *clipped)
{
  run r = {.p = p, .t = t, .work = work};
  pthread_mutex_lock(&t->lock);
  kugel_status s = run_all(&r, clipped);
  pthread_mutex_unlock(&t->lock);
  return s;
}
