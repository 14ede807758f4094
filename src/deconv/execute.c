/* SPDX-License-Identifier: BSD-3-Clause */
/* Executions: arguments, memory, tile by tile. */
#include <math.h>
#include <string.h>
#include "core/alloc.h"
#include "core/array.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "deconv/job.h"
#include "deconv/ranks.h"
#include "volume/cpu/lines.h"

typedef kugel__deconv_box box;
typedef kugel__deconv_slice slice;
typedef kugel__deconv_job job;

static kugel_status take(const kugel_deconv *p, const kugel_array *a, const char *name, bool written, box *b)
{
  char text[160];
  *b = (box){0};
  if (!a)
    return KUGEL_OK;
  kugel__array_describe(a, text, sizeof text);
  KUGEL_CHECK(a->ndim == p->ndim && a->shape, KUGEL_ESHAPE, "%s is %s, must have %d dimensions", name, text,
              p->ndim);
  KUGEL_CHECK(kugel__volume_dtype(a->dtype, false), KUGEL_ESHAPE,
              "%s is %s, must be uint8, uint16, int16, int32, float16, float32 or float64", name, text);
  KUGEL_CHECK(a->device.type == KUGEL_CPU, KUGEL_EDEVICE,
              "%s is on device type %d, this plan takes host memory", name, a->device.type);
  KUGEL_CHECK(a->data || kugel__array_count(a) == 0, KUGEL_EINVAL, "%s has data NULL", name);
  *b = (box){.data = kugel__array_data(a), .dtype = a->dtype};
  int64_t stride = 1;
  for (int d = a->ndim - 1; d >= 0; d--) {
    int at = d + 3 - p->ndim;
    KUGEL_CHECK(a->shape[d] == p->n[at], KUGEL_ESHAPE, "%s is %s: its length on axis %d must be %lld", name,
                text, d, (long long)p->n[at]);
    b->step[at] = a->strides ? a->strides[d] : stride;
    stride *= a->shape[d];
  }
  return kugel__array_check_reach(a, name, written);
}

/* ---- memory ---- */

static char *carve(char **at, size_t bytes)
{
  char *p = *at;
  *at += (bytes + 63) / 64 * 64;
  return p;
}

static kugel_status open_state(job *j, char **memory)
{
  const kugel_deconv *p = j->p;
  kugel__deconv_state *s = &j->s;
  kugel_deconv_method m = p->opts.method;
  *s = (kugel__deconv_state){.p = p,
                             .voxels = p->object[0] * p->object[1] * p->object[2],
                             .data = p->cut[0] * p->cut[1] * p->cut[2]};
  bool accelerated = m == KUGEL_DECONV_BIGGS || m == KUGEL_DECONV_SHB;
  bool two = accelerated || m == KUGEL_DECONV_WIENER || m == KUGEL_DECONV_TIKHONOV;
  bool device = kugel__deconv_on_device(p); // which has the others
  int arrays = device ? 1 : 3 + (two || m == KUGEL_DECONV_TV) + two + (m == KUGEL_DECONV_BIGGS ? 2 : 0);
  int64_t chunks = kugel__max(p->object[0] * (int64_t)kugel__deconv_chunks(p->object[1] * p->object[2]),
                              p->cut[0] * (int64_t)kugel__deconv_chunks(p->cut[1] * p->cut[2]));
  size_t over_ranks = p->ranks ? kugel__deconv_ranks_bytes(p, sizeof(slice)) : 0;
  size_t object = (size_t)s->voxels * p->real + 64, data = (size_t)s->data * p->real + 64;
  size_t small = (size_t)s->data + (size_t)chunks * 16 + (size_t)(j->workers * p->cut[2]) * 16 +
                 (size_t)p->cut[0] * sizeof(slice) + over_ranks + 576;
  *memory = kugel__alloc(p->ctx, (size_t)arrays * object + (size_t)(device ? 1 : 2) * data + small);
  KUGEL_CHECK(*memory, KUGEL_ENOMEM,
              "no memory for %d objects of %lld voxels: set opts.memory, and tiles are used", arrays,
              (long long)s->voxels);
  char *at = *memory;
  object -= 64;
  data -= 64;
  s->x = carve(&at, object);
  s->y = carve(&at, data);
  if (!device) {
    s->r = carve(&at, object);
    s->sensitivity = carve(&at, object);
    s->before = two || m == KUGEL_DECONV_TV ? carve(&at, object) : NULL;
    s->from = two ? carve(&at, object) : NULL;
    for (int i = 0; i < 2 && m == KUGEL_DECONV_BIGGS; i++) {
      s->g[i] = carve(&at, object);
      memset(s->g[i], 0, object);
    }
    s->model = carve(&at, data);
  }
  s->sums = (double *)(void *)carve(&at, (size_t)chunks * 16);
  j->row = (double *)(void *)carve(&at, (size_t)(j->workers * p->cut[2]) * 16);
  j->slices = (slice *)(void *)carve(&at, (size_t)p->cut[0] * sizeof(slice));
  if (p->ranks)
    kugel__deconv_ranks_carve(s, carve(&at, over_ranks));
  s->known = (unsigned char *)at;
  return KUGEL_OK;
}

// The image's plane that is plane 0 of the object of a tile whose image starts at plane `from`.
static int64_t plane_of(const kugel_deconv *p, int64_t from)
{
  bool placed = p->host || (p->ranks && p->ctx->device.type != KUGEL_CPU);
  return placed     ? 0 // PSFs by depth are at planes of the object, not of the image
         : p->ranks ? p->ranks->plane
                    : from - p->first[0];
}

static void place_tile(job *j, const int64_t tile[3])
{
  const kugel_deconv *p = j->p;
  for (int a = 0; a < 3; a++) {
    j->lo[a] = tile[a] * p->tile[a];
    j->n[a] = kugel__min(p->tile[a], p->n[a] - j->lo[a]);
    int64_t halo = (p->cut[a] - p->tile[a]) / 2;
    j->from[a] = kugel__max(0, kugel__min(j->lo[a] - halo, p->n[a] - p->cut[a]));
  }
  j->s.plane = plane_of(p, j->from[0]);
}

static kugel_status run_tile(job *j, kugel_deconv_info *info)
{
  kugel_deconv_info one = {0};
  bool flat = j->device && !j->start.data; // the device fills it
  j->clipped = 0;
  j->flux_in = j->flux_out = 0;
  KUGEL_TRY(kugel__deconv_load(j));
  if (j->s.missing == j->s.whole) { // nothing is known of it
    kugel__deconv_blank(j);
  } else {
    if (!flat)
      KUGEL_TRY(kugel__deconv_begin(j));
    KUGEL_TRY(j->device ? kugel__deconv_device_iterate(j->device, &j->s, flat, &one)
                        : kugel__deconv_iterate(&j->s, &one));
  }
  if (j->p->ranks)
    info->missing = j->s.missing;
  for (int64_t z = 0, i = 0; z < j->p->cut[0] && !j->p->ranks; z++)
    for (int64_t y = 0; y < j->p->cut[1]; y++)
      for (int64_t x = 0; x < j->p->cut[2]; x++, i++)
        info->missing += !j->s.known[i] && kugel__deconv_results_at(j, z, y, x);
  info->iterations = kugel__max(info->iterations, one.iterations);
  info->first += one.first;
  info->last += one.last;
  info->stop = one.stop;
  KUGEL_TRY(kugel__deconv_store(j));
  info->clipped += j->clipped;
  info->flux_in += j->flux_in;
  info->flux_out += j->flux_out;
  return KUGEL_OK;
}

static kugel_status check_missing(const kugel_deconv_info *info, int64_t voxels)
{
  KUGEL_CHECK(info->missing < voxels, KUGEL_EINVAL,
              "no voxel is known: all %lld are NaN, saturated or masked", (long long)info->missing);
  return KUGEL_OK;
}

kugel_status kugel__deconv_check_known(const kugel_deconv *p, const kugel_deconv_info *info)
{
  return check_missing(info, p->n[0] * p->n[1] * p->n[2]);
}

static int64_t along(const kugel_deconv *p, int a)
{
  return p->ranks ? 1 : (p->n[a] + p->tile[a] - 1) / p->tile[a];
}

int64_t kugel__deconv_tiles(const kugel_deconv *p)
{
  return along(p, 0) * along(p, 1) * along(p, 2);
}

static void place(job *j, int64_t i)
{
  int64_t y = along(j->p, 1), x = along(j->p, 2);
  place_tile(j, (int64_t[3]){i / (y * x), i / x % y, i % x});
}

kugel__deconv_piece kugel__deconv_piece_of(const kugel_deconv *p, int64_t tile)
{
  job j = {.p = p};
  kugel__deconv_piece t = {.from = {0}};
  place(&j, tile);
  for (int a = 0; a < 3; a++) {
    t.from[a] = j.from[a];
    t.lo[a] = j.lo[a] - j.from[a];
    t.n[a] = j.n[a];
  }
  return t;
}

kugel_status kugel__deconv_run_piece(const kugel_deconv *p, const kugel__deconv_piece *t,
                                     kugel_deconv_info *info)
{
  job j = {.p = p,
           .image = t->image,
           .mask = t->mask,
           .start = t->start,
           .out = t->out,
           .workers = kugel__ctx_threads(p->ctx)};
  char *memory = NULL;
  KUGEL_TRY(open_state(&j, &memory));
  j.s.plane = plane_of(p, t->from[0]);
  for (int a = 0; a < 3; a++) {
    j.lo[a] = t->lo[a];
    j.n[a] = t->n[a];
    j.skipped += t->lo[a] * t->out.step[a];
  }
  kugel_status s = run_tile(&j, info);
  kugel__free(p->ctx, memory);
  return s;
}

static kugel_status run_all(job *j, kugel_deconv_info *info)
{
  const kugel_deconv *p = j->p;
  for (int64_t i = 0; i < p->tiles; i++) {
    place(j, i);
    kugel__span span =
        kugel__progress_enter((double)i / (double)p->tiles, (double)(i + 1) / (double)p->tiles);
    kugel_status status = run_tile(j, info);
    kugel__progress_leave(span);
    KUGEL_TRY(status);
    if (info->stop == KUGEL_DECONV_CALLBACK && p->tiles > 1 && i + 1 < p->tiles)
      return KUGEL_FAIL(KUGEL_ECANCELED, "cancelled by the caller's callback after %lld of %lld tiles",
                        (long long)i + 1, (long long)p->tiles);
  }
  return p->ranks ? check_missing(info, j->s.whole) : kugel__deconv_check_known(p, info);
}

kugel_status kugel__deconv_take(job *j, const kugel_array *image, const kugel_array *mask,
                                const kugel_array *start, const kugel_array *out)
{
  const kugel_deconv *plan = j->p;
  KUGEL_CHECK(image && out, KUGEL_EINVAL, "image or out is NULL");
  KUGEL_TRY(take(plan, image, "image", false, &j->image));
  KUGEL_TRY(take(plan, mask, "mask", false, &j->mask));
  KUGEL_TRY(take(plan, start, "start", false, &j->start));
  KUGEL_TRY(take(plan, out, "out", true, &j->out));
  KUGEL_CHECK(plan->tiles == 1 || j->out.data != j->image.data, KUGEL_EINVAL,
              "out is image: in tiles, which read their neighbours, they must be two arrays");
  j->started = start != NULL;
  return KUGEL_OK;
}

kugel_status kugel__deconv_execute(const kugel_deconv *plan, const kugel_array *image,
                                   const kugel_array *mask, const kugel_array *start, const kugel_array *out,
                                   kugel_deconv_info *info)
{
  kugel_deconv_info all = {.size = sizeof all};
  char *memory = NULL;
  kugel_comm *comm = plan->opts.comm;
  kugel_deconv view = plan->ranks ? kugel__deconv_ranks_view(plan) : *plan;
  job j = {.p = &view, .workers = kugel__ctx_threads(plan->ctx)};
  if (comm)
    kugel__comm_enter(comm);
  kugel_status status = kugel__deconv_take(&j, image, mask, start, out);
  if (!status) // *memory is to be freed on failure too
    status = open_state(&j, &memory);
  if (comm)
    status = kugel__comm_same(comm, status, 1, &(kugel__same){"whether start is given, which", j.started});
  kugel__span span = kugel__progress_enter(0, 1);
  if (!status && kugel__deconv_on_device(plan))
    status = kugel__deconv_device_create(&view, &j.device);
  if (!status)
    status = run_all(&j, &all);
  kugel__progress_leave(span);
  if (comm)
    status = kugel__comm_leave(comm, status);
  kugel__deconv_device_destroy(j.device);
  kugel__free(plan->ctx, memory);
  KUGEL_TRY(status);
  return info ? kugel__give_info(info, &all, sizeof all, "kugel_deconv_info") : KUGEL_OK;
}
