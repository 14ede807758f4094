/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "deconv/device_inside.h"

enum { BLOCK = KUGEL__STEP_BLOCK, SUMS = 256 };

typedef kugel__step_array array;
typedef kugel__step_scalar scalar;
bool kugel__deconv_on_device(const kugel_deconv *p)
{
  return !p->host && kugel__ctx(p->ctx)->device.type != KUGEL_CPU;
}

void kugel__deconv_device_figures(const kugel_deconv *p, const kugel_volume_info *v, kugel_deconv_cost *c)
{
  double objects = 0, object = (double)p->real, image = (double)p->real;
  bool folds = p->opts.edges >= KUGEL_DECONV_REPLICATE;
  for (int a = 0; a < 3; a++) {
    object *= (double)p->object[a];
    image *= (double)p->cut[a];
  }
  int64_t voxels = p->object[0] * p->object[1] * p->object[2], tables = 0;
  for (int a = 0; a < 3; a++)
    tables += 2 * v->transform[a];
  for (int a = BEFORE; a <= MOVED; a++)
    objects += kugel__step_uses(p, (array)a, folds);
  double step =
      2 + (kugel__step_uses(p, BEFORE, false) ? 2 : 0) + (kugel__step_uses(p, MOVED, false) ? 2 : 0);
  step += p->opts.method == KUGEL_DECONV_TV ? 2 : folds ? 2 : 0;
  // sums of threads of 8 voxels or more; of folds, those of its own kernel's
  double sums =
      folds ? (double)(kugel__step_blocks(voxels) * BLOCK * (kugel__step_uses(p, MOVED, false) ? 2 : 1)) *
                  (double)p->real
            : 0.25 * object;
  // those of the volume are one object and one image
  c->device_bytes = (uint64_t)(p->opts.depths * v->transform[0] + tables) * p->real +
                    v->device_bytes * (p->opts.back ? 2u : 1u) + (uint64_t)(objects * object + image + sums) +
                    (2 + 2 * SUMS) * 8 + 1024;
  c->kernel_bytes = 2 * v->kernel_bytes + (uint64_t)(step * object + image);
}

/* ---- launches ---- */

static kugel_status fill(const kugel__deconv_device *d, kugel__mem to, double value, int64_t n)
{
  scalar x = kugel__step_scalar_of(d, value);
  kugel__arg args[] = {KUGEL__MEM_ARG(to), STEP_SCALAR(d, x), KUGEL__VALUE_ARG(n)};
  return kugel__step_launch(d, STEP_FILL, kugel__step_blocks(n), 3, args);
}

/* Adds up the partial sums: `count` times, to the first numbers of sums; behind them are those of blocks. */
static kugel_status add_up(const kugel__deconv_device *d, int count, int64_t n)
{
  int64_t parts = SUMS;
  for (int i = 0; i < count; i++) {
    int64_t first = i * d->partials, to = 2 + i * parts;
    kugel__arg args[] = {KUGEL__MEM_ARG(d->partial), KUGEL__VALUE_ARG(first), KUGEL__VALUE_ARG(n),
                         KUGEL__MEM_ARG(d->sums), KUGEL__VALUE_ARG(to)};
    KUGEL_TRY(kugel__step_launch(d, STEP_SUM, SUMS, 5, args));
  }
  kugel__arg args[] = {KUGEL__MEM_ARG(d->sums), KUGEL__VALUE_ARG(parts)};
  return kugel__step_launch(d, STEP_FINISH, count, 2, args);
}

/* ---- memory ---- */

static kugel_status allocate(kugel__deconv_device *d, const kugel_volume *h, const kugel_volume *back)
{
  const kugel_deconv *p = d->p;
  kugel__fused_span data[3], results[3];
  size_t there[2], again[2];
  bool folds = back->gpu->map != NULL;
  for (int a = X; a < ARRAYS; a++)
    if (kugel__step_uses(p, (array)a, folds))
      KUGEL_TRY(kugel__step_room(d, (size_t)(a >= OBSERVED ? d->data : d->voxels) * p->real, &d->a[a]));
  kugel__fused_spans(h, data, results);
  d->there = kugel__fused_partials(h->gpu->fused, results);
  kugel__fused_spans(back, data, results);
  d->again = folds ? kugel__step_blocks(d->voxels) * BLOCK : kugel__fused_partials(back->gpu->fused, data);
  d->partials = kugel__max(d->there, d->again);
  KUGEL_TRY(kugel__step_room(
      d, (size_t)d->partials * p->real * (p->opts.method == KUGEL_DECONV_BIGGS ? 2 : 1), &d->partial));
  KUGEL_TRY(kugel__step_room(d, (size_t)(2 + 2 * SUMS) * d->sum, &d->sums));
  KUGEL_TRY(kugel__step_room(d, 64, &d->momentum));
  KUGEL_TRY(kugel__step_room(d, 64, &d->clipped));
  kugel__fused_room(h, false, there);
  kugel__fused_room(back, true, again);
  for (int i = 0; i < 2; i++)
    KUGEL_TRY(kugel__step_room(d, there[i] > again[i] ? there[i] : again[i], &d->work[i]));
  return KUGEL_OK;
}

// Another tile has other planes, and its own factors.
static kugel_status make_factors(kugel__deconv_device *d)
{
  size_t points = (size_t)d->h.axis[0].points, bytes = (size_t)d->h.stored * points * d->p->real;
  d->by_depth = *d->p->h->gpu;
  d->by_depth.weights = NULL;
  d->h.gpu = &d->by_depth;
  KUGEL_ALLOC(d->p->ctx, d->factors, points * 8 + bytes + (size_t)d->h.stored * sizeof(bool));
  d->by_depth.used = (bool *)(d->factors + points * 8 + bytes);
  return kugel__device_alloc(d->device, bytes, &d->by_depth.weights);
}

static kugel_status set_factors(kugel__deconv_device *d, int64_t plane)
{
  size_t points = (size_t)d->h.axis[0].points;
  d->h.shift = plane;
  kugel__fused_weights(&d->h, d->factors + points * 8, (double *)(void *)d->factors, d->by_depth.used);
  return kugel__device_copy(d->device, KUGEL__UPLOAD, (kugel__mem){d->by_depth.weights, 0},
                            (kugel__mem){d->factors, points * 8}, (size_t)d->h.stored * points * d->p->real,
                            d->queue);
}

kugel_status kugel__deconv_device_create(const kugel_deconv *p, kugel__deconv_device **out)
{
  kugel__deconv_device *d = kugel__calloc(p->ctx, sizeof *d);
  *out = d;
  KUGEL_CHECK(d, KUGEL_ENOMEM, "no memory for an execution");
  const kugel_volume *back = p->back ? p->back : p->h;
  d->p = p;
  d->device = kugel__ctx_device(p->ctx);
  d->voxels = p->object[0] * p->object[1] * p->object[2];
  d->data = p->cut[0] * p->cut[1] * p->cut[2];
  bool ranks = p->ranks != NULL;
  KUGEL_CHECK(
      ranks || (p->h->gpu->fused && back->gpu->fused), KUGEL_ENOTSUP,
      "%s holds no line of a volume of %lld x %lld x %lld points in a block: use a context of \"cpu\"",
      d->device->info.name, (long long)p->object[0], (long long)p->object[1], (long long)p->object[2]);
  KUGEL_TRY(kugel__queue_of(d->device, NULL, &d->queue));
  KUGEL_TRY(kugel__step_load(d));
  d->h = *p->h;
  if (ranks)
    return kugel__ranks_step_allocate(d);
  if (p->opts.depths)
    KUGEL_TRY(make_factors(d));
  return allocate(d, p->h, back);
}

void kugel__deconv_device_destroy(kugel__deconv_device *d)
{
  if (!d)
    return;
  kugel__mem *all[] = {&d->work[0], &d->work[1], &d->partial, &d->sums, &d->momentum, &d->clipped, &d->near};
  for (int a = X; a < ARRAYS; a++)
    kugel__device_free(d->device, d->a[a].base);
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    kugel__device_free(d->device, all[i]->base);
  if (d->factors)
    kugel__device_free(d->device, d->by_depth.weights);
  kugel__free(d->p->ctx, d->factors);
  kugel__free(d->p->ctx, d->edges);
  kugel__module_put(d->module);
  kugel__free(d->p->ctx, d);
}

/* ---- steps ---- */

static const kugel_volume *back_of(const kugel__deconv_device *d)
{
  return d->p->back ? d->p->back : &d->h;
}

static kugel_status find_sensitivity(const kugel__deconv_device *d)
{
  kugel__arg args[] = {KUGEL__MEM_ARG(d->a[OBSERVED]), KUGEL__MEM_ARG(d->a[MODEL]),
                       KUGEL__VALUE_ARG(d->data)};
  KUGEL_TRY(kugel__step_launch(d, STEP_KNOWN, kugel__step_blocks(d->data), 3, args));
  if (d->p->ranks)
    return kugel__ranks_step_convolve(d, true, d->a[MODEL], d->a[SENSITIVITY]);
  return kugel__fused_apply(back_of(d), true, d->a[MODEL], d->a[SENSITIVITY], d->work, d->clipped, NULL,
                            d->queue);
}

static kugel_status vary(const kugel__deconv_device *d)
{
  return kugel__step_vary(d, d->a[X], d->p->object[0], 0);
}

/* The adjoint and the step by kernels of their own, where the adjoint ends in other places than a transform's. */
static kugel_status step_apart(const kugel__deconv_device *d, const kugel__fused_hooks *h, kugel__mem out)
{
  int32_t accelerated = h->before.base != NULL, stepped = h->moved.base != NULL;
  kugel__mem before = accelerated ? h->before : h->object, moved = stepped ? h->moved : h->partial;
  scalar level = kugel__step_scalar_of(d, h->level);
  kugel__mem r = d->a[BACK];
  if (d->p->opts.method == KUGEL_DECONV_TV)
    r = d->a[X]; // of which the factor has been taken
  KUGEL_TRY(kugel__fused_apply(back_of(d), true, d->a[MODEL], r, d->work, d->clipped, NULL, d->queue));
  kugel__arg args[] = {
      KUGEL__MEM_ARG(r),           KUGEL__MEM_ARG(h->object),      KUGEL__MEM_ARG(before),
      KUGEL__MEM_ARG(d->momentum), KUGEL__MEM_ARG(h->sensitivity), KUGEL__MEM_ARG(out),
      KUGEL__MEM_ARG(moved),       KUGEL__MEM_ARG(h->partial),     STEP_SCALAR(d, level),
      KUGEL__VALUE_ARG(d->voxels), KUGEL__VALUE_ARG(d->partials),  KUGEL__VALUE_ARG(accelerated),
      KUGEL__VALUE_ARG(stepped)};
  return kugel__step_launch(d, STEP_UPDATE, kugel__step_blocks(d->voxels), 13, args);
}

/* Step i, from 1, of this device alone; the divergence before it to *value. */
static kugel_status take_step(kugel__deconv_device *d, int64_t i, double *value)
{
  const kugel_deconv *p = d->p;
  kugel_deconv_method m = p->opts.method;
  bool accelerated = kugel__step_uses(p, BEFORE, false), biggs = m == KUGEL_DECONV_BIGGS;
  kugel__fused_hooks h = {.momentum = d->momentum,
                          .observed = d->a[OBSERVED],
                          .partial = d->partial,
                          .sensitivity = d->a[SENSITIVITY],
                          .level = p->opts.background + p->opts.offset,
                          .partials = d->partials};
  char sums[8];
  if (accelerated)
    h.before = d->a[BEFORE];
  if (m == KUGEL_DECONV_SHB || i == 1)
    KUGEL_TRY(kugel__step_momentum(d, (double)(i - 1) / (double)(i + 2), 0));
  KUGEL_TRY(kugel__fused_apply(&d->h, false, d->a[X], d->a[MODEL], d->work, d->clipped, &h, d->queue));
  KUGEL_TRY(add_up(d, 1, d->there));
  KUGEL_TRY(kugel__device_copy(d->device, KUGEL__DOWNLOAD, (kugel__mem){sums, 0}, d->sums, d->sum, NULL));
  h.object = d->a[X];
  h.level = p->f32 ? KUGEL__DECONV_CUT_F32 : KUGEL__DECONV_CUT_F64;
  if (biggs)
    h.moved = d->a[MOVED];
  if (m == KUGEL_DECONV_TV) {
    KUGEL_TRY(vary(d));
    h.object = d->a[BACK];
  }
  kugel__mem out = accelerated ? d->a[BEFORE] : d->a[X];
  KUGEL_TRY(back_of(d)->gpu->map
                ? step_apart(d, &h, out)
                : kugel__fused_apply(back_of(d), true, d->a[MODEL], out, d->work, d->clipped, &h, d->queue));
  if (biggs) {
    KUGEL_TRY(add_up(d, 2, d->again));
    KUGEL_TRY(kugel__step_momentum(d, 0, i > 1));
  }
  if (accelerated) {
    d->a[BEFORE] = d->a[X];
    d->a[X] = out;
  }
  float low;
  memcpy(&low, sums, sizeof low);
  memcpy(value, sums, sizeof *value);
  if (d->sum == 4)
    *value = (double)low;
  return KUGEL_OK;
}

static kugel_status start(kugel__deconv_device *d, const kugel__deconv_state *s, bool flat)
{
  kugel__device *dev = d->device;
  kugel__mem y = {s->y, 0}, x = {s->x, 0};
  size_t bytes = (size_t)d->voxels * d->p->real;
  if (d->factors)
    KUGEL_TRY(set_factors(d, s->plane));
  KUGEL_TRY(
      kugel__device_copy(dev, KUGEL__UPLOAD, d->a[OBSERVED], y, (size_t)d->data * d->p->real, d->queue));
  KUGEL_TRY(flat ? fill(d, d->a[X], s->mean, d->voxels)
                 : kugel__device_copy(dev, KUGEL__UPLOAD, d->a[X], x, bytes, d->queue));
  if (d->a[BEFORE].base)
    KUGEL_TRY(kugel__device_copy(dev, KUGEL__WITHIN, d->a[BEFORE], d->a[X], bytes, d->queue));
  if (d->a[MOVED].base)
    KUGEL_TRY(dev->ops->fill(dev, d->a[MOVED], 0, bytes, d->queue));
  return find_sensitivity(d);
}

kugel_status kugel__deconv_device_iterate(kugel__deconv_device *d, kugel__deconv_state *s, bool flat,
                                          kugel_deconv_info *info)
{
  int64_t count = d->p->opts.iterations;
  kugel__progress_stage(0, 1, "deconvolution");
  kugel_status status = start(d, s, flat);
  for (int64_t i = 1; i <= count && !status; i++) {
    double value = 0;
    status = d->p->ranks ? kugel__ranks_step(d, s, i, &value) : take_step(d, i, &value);
    if (!status)
      status = kugel__progress_step((double)i / (double)(count + 1));
    info->iterations = i;
    if (i == 1)
      info->first = value;
    bool ends = false;
    status = status ? status : kugel__deconv_ends(s, info, value, &ends);
    if (ends)
      break;
  }
  if (!status)
    status = kugel__device_copy(d->device, KUGEL__DOWNLOAD, (kugel__mem){s->x, 0}, d->a[X],
                                (size_t)d->voxels * d->p->real, d->queue);
  kugel_status waited = d->device->ops->wait(d->queue);
  return status ? status : waited;
}
