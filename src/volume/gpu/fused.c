/* SPDX-License-Identifier: BSD-3-Clause */
/* Resident volumes by the fused kernels. */
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "volume/gpu/device_plan.h"

enum { DIMS = KUGEL__VOLUME_DIMS };

/* ---- kernels ---- */

kugel_status kugel__fused_kernels(const kugel_volume *p, const double *kernel, double **out, int64_t k[3])
{
  int64_t parts = p->halved ? 1 : 2, all = p->stored, own[3];
  for (int d = 0; d < DIMS; d++) {
    own[d] = p->axis[d].k;
    k[d] = kugel__min(own[d], p->axis[d].length);
    all *= k[d];
  }
  KUGEL_ALLOC(p->ctx, *out, (size_t)(all * parts) * 8);
  memset(*out, 0, (size_t)(all * parts) * 8);
  int64_t count = own[0] * own[1] * own[2];
  for (int64_t i = 0; i < p->stored * count; i++) {
    int64_t e = i % count, at[3] = {e / own[2] / own[1], e / own[2] % own[1], e % own[2]}, to = i / count;
    double sign = 1;
    for (int d = 0; d < DIMS; d++) {
      int64_t j = p->opts.correlate ? own[d] - 1 - at[d] : at[d];
      if (d == 2 && p->halved && j / k[d] % 2) // the half-shifted transform changes its sign at each wrap
        sign = -1;
      to = to * k[d] + j % k[d];
    }
    for (int64_t c = 0; c < parts; c++)
      (*out)[to * parts + c] += (c && p->opts.correlate ? -sign : sign) * kernel[i * parts + c];
  }
  return KUGEL_OK;
}

void kugel__fused_weights(const kugel_volume *p, void *weights, double *row, bool *used)
{
  int64_t points = p->axis[0].points;
  for (int d = 0; d < p->stored; d++) {
    used[d] = kugel__volume_weigh(p, d, row);
    for (int64_t i = 0; i < points; i++)
      if (p->f32)
        ((float *)weights)[d * points + i] = (float)row[i];
      else
        ((double *)weights)[d * points + i] = row[i];
  }
  bool any = false; // of a tile outside the image: the results must be zeros
  for (int d = 0; d < p->stored; d++)
    any |= used[d];
  used[0] |= !any;
}

/* ---- plans ---- */

// Which datum each point of an extended axis is.
static kugel_status make_map(kugel_volume *p)
{
  struct kugel__volume_device *g = p->gpu;
  kugel__device *dev = kugel__ctx_device(p->ctx);
  int64_t words = 0;
  bool plain[3], any = false;
  for (int d = 0; d < DIMS; d++) {
    plain[d] = !p->axis[d].data.position;
    g->map_at[d] = plain[d] ? -1 : words;
    words += plain[d] ? 0 : p->axis[d].length;
    any |= !plain[d];
  }
  if (!any)
    return KUGEL_OK;
  uint32_t *host;
  KUGEL_ALLOC(p->ctx, host, (size_t)words * 4);
  for (int d = 0; d < DIMS; d++)
    for (int64_t i = 0; i < p->axis[d].length && !plain[d]; i++) {
      const kugel__volume_list *l = &p->axis[d].data;
      host[g->map_at[d] + i] = i < l->count ? (uint32_t)l->index[i] : UINT32_MAX;
    }
  kugel_status s = kugel__device_alloc(dev, (size_t)words * 4, &g->map);
  if (!s)
    s = kugel__device_copy(dev, KUGEL__UPLOAD, (kugel__mem){g->map, 0}, (kugel__mem){host, 0},
                           (size_t)words * 4, NULL);
  kugel__free(p->ctx, host);
  return s ? s : kugel__moves_create(p, plain, &g->fold);
}

// Factors of the points of lines along axis 0, and which kernels by depth have any.
static kugel_status make_weights(kugel_volume *p)
{
  struct kugel__volume_device *g = p->gpu;
  kugel__device *dev = kugel__ctx_device(p->ctx);
  int64_t points = p->axis[0].points;
  size_t bytes = (size_t)(p->stored * points) * p->real;
  char *host;
  KUGEL_ALLOC(p->ctx, g->used, (size_t)p->stored * sizeof *g->used);
  KUGEL_ALLOC(p->ctx, host, bytes + (size_t)points * 8);
  kugel__fused_weights(p, host + points * 8, (double *)(void *)host, g->used);
  kugel_status s = kugel__device_alloc(dev, bytes, &g->weights);
  if (!s)
    s = kugel__device_copy(dev, KUGEL__UPLOAD, (kugel__mem){g->weights, 0},
                           (kugel__mem){host, (size_t)points * 8}, bytes, NULL);
  kugel__free(p->ctx, host);
  return s;
}

kugel_status kugel__fused_create(kugel_volume *p)
{
  struct kugel__volume_device *g = p->gpu;
  double *kernels;
  int64_t k[3];
  for (int d = 0; d < DIMS; d++) {
    KUGEL_CHECK(p->axis[d].n < UINT32_MAX, KUGEL_ENOTSUP, "axes of %lld voxels are too long for lists",
                (long long)p->axis[d].n);
    g->map_at[d] = -1;
    g->fold.extended[d] = p->axis[d].n;
  }
  KUGEL_TRY(kugel__fused_shape(p->ctx, p, &g->fused));
  if (g->narrow)
    kugel__fused_narrow(g->fused, g->spectra, g->narrow);
  kugel_status s;
  if (g->kernel) {
    KUGEL_TRY(kugel__fused_kernels(p, g->kernel, &kernels, k));
    s = kugel__fused_make(g->fused, kernels, k, p->scale, (kugel__mem){NULL, 0});
    kugel__free(p->ctx, kernels);
  } else {
    s = kugel__fused_tables(g->fused);
  }
  if (!s && p->depth)
    s = make_weights(p);
  return s ? s : make_map(p);
}

void kugel__fused_release(kugel_volume *p)
{
  kugel__fused_destroy(p->gpu->fused);
  kugel__device_free(kugel__ctx_device(p->ctx), p->gpu->map);
  kugel__device_free(kugel__ctx_device(p->ctx), p->gpu->weights);
  kugel__free(p->ctx, p->gpu->used);
  kugel__moves_destroy(p, &p->gpu->fold);
}

/* ---- execution ---- */

void kugel__fused_spans(const kugel_volume *p, kugel__fused_span *data, kugel__fused_span *results)
{
  for (int d = 0; d < DIMS; d++) {
    const kugel__volume_axis *a = &p->axis[d];
    int64_t skip = a->results.position ? a->results.position[0] : a->results.first_position;
    data[d] = (kugel__fused_span){a->data.position ? 0 : a->data.first_position, a->n, p->gpu->map_at[d]};
    results[d] = (kugel__fused_span){skip, a->m, -1};
  }
}

// Of the adjoint, data as they are before they are folded.
static void spread(const kugel_volume *p, kugel__fused_span *data)
{
  for (int d = 0; d < DIMS; d++) {
    data[d].held = p->gpu->fold.extended[d];
    data[d].map = -1;
  }
}

void kugel__fused_room(const kugel_volume *p, bool adjoint, size_t bytes[2])
{
  kugel__fused_span data[DIMS], results[DIMS];
  kugel__fused_spans(p, data, results);
  bool folds = adjoint && p->gpu->map;
  if (folds)
    spread(p, data);
  bytes[0] = (size_t)kugel__fused_work(p->gpu->fused, data, results);
  bytes[1] = p->stored > 1 ? bytes[0] : 0;
  if (folds) { // the extended image goes where no work array is read any more
    size_t image = p->real * (p->opts.complex_data ? 2 : 1), *room = &bytes[p->stored == 1];
    for (int d = 0; d < DIMS; d++)
      image *= (size_t)p->gpu->fold.extended[d];
    *room = *room > image ? *room : image;
  }
}

static kugel__fused_voxels voxels_of(kugel__mem mem, const kugel__volume_box *b, int64_t first)
{
  return (kugel__fused_voxels){.mem = mem,
                               .dtype = b->dtype,
                               .first = first,
                               .step = {b->step[0], b->step[1], b->step[2], b->step[3]}};
}

static void fill_job(const kugel__device_job *j, bool adjoint, int64_t in_first, int64_t out_first,
                     kugel__fused_job *job)
{
  const kugel_volume *p = j->p;
  *job = (kugel__fused_job){.adjoint = adjoint,
                            .in = voxels_of(j->in_mem, &j->in, in_first),
                            .out = voxels_of(j->out_mem, &j->out, out_first),
                            .map = {p->gpu->map, 0},
                            .window = {p->gpu->window, 0},
                            .weights = {p->gpu->weights, 0},
                            .used = p->gpu->used,
                            .work = {j->work[0], j->work[1]},
                            .clipped = j->clipped,
                            .queue = j->queue};
  kugel__fused_spans(p, job->data, job->results);
}

kugel_status kugel__fused_item(const kugel__device_job *j, bool adjoint, int64_t in_first, int64_t out_first)
{
  const kugel_volume *p = j->p;
  kugel__fused_job job;
  fill_job(j, adjoint, in_first, out_first, &job);
  if (!adjoint || !p->gpu->map)
    return kugel__fused_run(p->gpu->fused, &job);
  kugel__mem extended = j->work[p->stored == 1];
  spread(p, job.data);
  job.out = voxels_of(extended, &j->extended, 0);
  KUGEL_TRY(kugel__fused_run(p->gpu->fused, &job));
  kugel__move fold = {.p = p,
                      .moves = &p->gpu->fold,
                      .lists = &p->gpu->fold.fold,
                      .in = extended,
                      .out = j->out_mem,
                      .clipped = j->clipped,
                      .from = j->extended,
                      .to = j->out,
                      .out_first = out_first,
                      .scale = 1};
  return kugel__move_run(&fold, j->queue);
}

kugel_status kugel__fused_apply(const kugel_volume *p, bool adjoint, kugel__mem in, kugel__mem out,
                                const kugel__mem work[2], kugel__mem clipped, const kugel__fused_hooks *hooks,
                                kugel_queue *queue)
{
  int64_t n[DIMS], m[DIMS];
  for (int d = 0; d < DIMS; d++) {
    n[d] = p->axis[d].n;
    m[d] = p->axis[d].m;
  }
  kugel__device_job j = {.p = p,
                         .in = kugel__volume_own_box(p, NULL, adjoint ? m : n),
                         .out = kugel__volume_own_box(p, NULL, adjoint ? n : m),
                         .in_mem = in,
                         .out_mem = out,
                         .extended = kugel__volume_own_box(p, NULL, p->gpu->fold.extended),
                         .work = {work[0], work[1]},
                         .clipped = clipped,
                         .queue = queue};
  if (!hooks)
    return kugel__fused_item(&j, adjoint, 0, 0);
  kugel__fused_job job;
  fill_job(&j, adjoint, 0, 0, &job);
  job.hooks = hooks;
  return kugel__fused_run(p->gpu->fused, &job);
}

uint64_t kugel__fused_bytes(const kugel_volume *p, const kugel__fused *f)
{
  struct kugel__volume_device none = {.map_at = {-1, -1, -1}};
  kugel_volume one = *p;
  kugel_dtype own = p->halved ? (p->f32 ? KUGEL_F32 : KUGEL_F64) : p->f32 ? KUGEL_C64 : KUGEL_C128;
  kugel__fused_job job = {.in = {.dtype = own}, .out = {.dtype = own}, .count_only = true};
  one.gpu = &none;
  kugel__fused_spans(&one, job.data, job.results);
  for (int d = 0; d < DIMS; d++)
    job.data[d].map = p->axis[d].data.position ? 0 : -1;
  kugel_status s = kugel__fused_run((kugel__fused *)(uintptr_t)f, &job);
  return s ? 0 : job.bytes;
}
