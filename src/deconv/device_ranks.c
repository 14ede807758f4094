/* SPDX-License-Identifier: BSD-3-Clause */
/* Steps over ranks that have a device each: convolutions by the whole transform or by tiles (volume/plan/global_device.h), objects and
 * images in device memory, own planes of each. Sums are of chunks of planes, gathered and added in order, so that results have the same bits for
 * any number of ranks. */
#include <math.h>
#include <string.h>
#include "core/alloc.h"
#include "deconv/device_inside.h"
#include "deconv/loops.h"
#include "deconv/ranks.h"
#include "volume/plan/global_device.h"

static const int64_t chunk = KUGEL__DECONV_CHUNK;

// Chunks of own planes; of each plane to *per.
static int64_t chunks_of(const int64_t n[3], int64_t *per)
{
  *per = (int64_t)kugel__deconv_chunks(n[1] * n[2]);
  return n[0] * *per;
}

kugel_status kugel__ranks_step_allocate(kugel__deconv_device *d)
{
  const kugel_deconv *p = d->p;
  int64_t per, chunks = kugel__max(chunks_of(p->object, &per), chunks_of(p->cut, &per));
  for (int a = X; a < ARRAYS; a++)
    if (a == BACK || kugel__step_uses(p, (kugel__step_array)a, false))
      KUGEL_TRY(kugel__step_room(d, (size_t)(a >= OBSERVED ? d->data : d->voxels) * p->real + 16, &d->a[a]));
  size_t plane = (size_t)(p->object[1] * p->object[2]) * p->real;
  if (p->opts.method == KUGEL_DECONV_TV) {
    KUGEL_TRY(kugel__step_room(d, (size_t)(p->object[0] + 2) * plane, &d->near));
    KUGEL_ALLOC(p->ctx, d->edges, 2 * plane);
  }
  KUGEL_TRY(kugel__step_room(d, (size_t)chunks * 2 * d->sum + 16, &d->sums));
  KUGEL_TRY(kugel__step_room(d, 64, &d->momentum));
  return kugel__step_room(d, 64, &d->clipped);
}

kugel_status kugel__ranks_step_convolve(const kugel__deconv_device *d, bool adjoint, kugel__mem in,
                                        kugel__mem out)
{
  const kugel_deconv *p = d->p;
  const kugel_volume *h = !adjoint ? p->h : p->turned ? p->turned : p->back ? p->back : p->h;
  kugel_array array[2];
  kugel__volume_argument side[2];
  kugel_dtype type = p->f32 ? KUGEL_F32 : KUGEL_F64;
  for (int i = 0; i < 2; i++) {
    const int64_t *n = (i == 0) == adjoint ? p->cut : p->object;
    array[i] = (kugel_array){.data = (i ? out : in).base,
                             .device = d->device->info.device,
                             .ndim = 3,
                             .dtype = type,
                             .shape = (int64_t *)n};
    side[i] = (kugel__volume_argument){
        .array = &array[i], .box = {.data = array[i].data, .dtype = type, .step = {0, n[1] * n[2], n[2], 1}}};
  }
  return kugel__global_device_execute(h, adjoint && !p->turned, &side[0], &side[1], NULL, d->queue);
}

// Sums of own chunks to the host, then those of all ranks added up.
static kugel_status add_up(const kugel__deconv_device *d, kugel__deconv_state *s, int side, double *sum,
                           double *second)
{
  const int64_t *n = side == KUGEL__DECONV_IMAGE ? d->p->cut : d->p->object;
  int64_t per, count = 2 * chunks_of(n, &per);
  if (count)
    KUGEL_TRY(kugel__device_copy(d->device, KUGEL__DOWNLOAD, (kugel__mem){s->sums, 0}, d->sums,
                                 (size_t)count * d->sum, d->queue));
  KUGEL_TRY(d->device->ops->wait(d->queue));
  for (int64_t i = count - 1; i >= 0 && d->sum == 4; i--) { // in place
    float low;
    memcpy(&low, (char *)s->sums + 4 * i, 4);
    s->sums[i] = (double)low;
  }
  return kugel__deconv_add_up(s, side, sum, second);
}

// Nothing on a rank without planes.
static kugel_status launch(const kugel__deconv_device *d, kugel__step_name name, int64_t blocks, int n,
                           const kugel__arg *args)
{
  return blocks ? kugel__step_launch(d, name, blocks, n, args) : KUGEL_OK;
}

static kugel_status ratio(const kugel__deconv_device *d, kugel__deconv_state *s, double *divergence)
{
  const kugel_deconv *p = d->p;
  int64_t per, chunks = chunks_of(p->cut, &per), plane = p->cut[1] * p->cut[2];
  kugel__step_scalar level = kugel__step_scalar_of(d, p->opts.background + p->opts.offset);
  kugel__arg args[] = {KUGEL__MEM_ARG(d->a[OBSERVED]), KUGEL__MEM_ARG(d->a[MODEL]), KUGEL__MEM_ARG(d->sums),
                       STEP_SCALAR(d, level),          KUGEL__VALUE_ARG(plane),     KUGEL__VALUE_ARG(chunk),
                       KUGEL__VALUE_ARG(per)};
  KUGEL_TRY(launch(d, STEP_RATIO, chunks, 7, args));
  return add_up(d, s, KUGEL__DECONV_IMAGE, divergence, NULL);
}

// The object's factor to BACK. The planes next to own ones come by way of s->x, the host's, of which the ends alone count.
static kugel_status vary(const kugel__deconv_device *d, kugel__deconv_state *s)
{
  const kugel__deconv_ranks *k = d->p->ranks;
  int64_t own = d->p->object[0], last = own - 1;
  size_t plane = (size_t)(d->p->object[1] * d->p->object[2]) * d->p->real, n = (size_t)own * plane,
         before = (size_t)k->before * plane;
  kugel__device *dev = d->device;
  char *host = s->x;
  if (own) {
    KUGEL_TRY(kugel__device_copy(dev, KUGEL__DOWNLOAD, (kugel__mem){host, 0}, d->a[X], plane, d->queue));
    KUGEL_TRY(kugel__device_copy(dev, KUGEL__DOWNLOAD, (kugel__mem){host, (size_t)last * plane},
                                 (kugel__mem){d->a[X].base, (size_t)last * plane}, plane, d->queue));
    KUGEL_TRY(dev->ops->wait(d->queue));
  }
  KUGEL_TRY(kugel__layout_move(k->at[KUGEL__DECONV_OBJECT], host, k->edges, d->edges, plane));
  if (!own)
    return KUGEL_OK;
  KUGEL_TRY(kugel__device_copy(dev, KUGEL__WITHIN, (kugel__mem){d->near.base, before}, d->a[X], n, d->queue));
  if (before)
    KUGEL_TRY(kugel__device_copy(dev, KUGEL__UPLOAD, d->near, (kugel__mem){d->edges, 0}, plane, d->queue));
  if (k->around > k->before + own)
    KUGEL_TRY(kugel__device_copy(dev, KUGEL__UPLOAD, (kugel__mem){d->near.base, before + n},
                                 (kugel__mem){d->edges, before}, plane, d->queue));
  return kugel__step_vary(d, d->near, k->around, k->before);
}

// From r and the object to `out`.
static kugel_status advance(const kugel__deconv_device *d, kugel__mem r, kugel__mem object, kugel__mem out)
{
  const kugel_deconv *p = d->p;
  int64_t per, chunks = chunks_of(p->object, &per), plane = p->object[1] * p->object[2];
  int32_t accelerated = d->a[BEFORE].base != NULL, stepped = d->a[MOVED].base != NULL;
  kugel__step_scalar level = kugel__step_scalar_of(d, p->f32 ? KUGEL__DECONV_CUT_F32 : KUGEL__DECONV_CUT_F64);
  kugel__mem before = accelerated ? d->a[BEFORE] : d->a[X], moved = stepped ? d->a[MOVED] : d->a[BACK];
  kugel__arg args[] = {KUGEL__MEM_ARG(r),
                       KUGEL__MEM_ARG(object),
                       KUGEL__MEM_ARG(before),
                       KUGEL__MEM_ARG(d->momentum),
                       KUGEL__MEM_ARG(d->a[SENSITIVITY]),
                       KUGEL__MEM_ARG(out),
                       KUGEL__MEM_ARG(moved),
                       KUGEL__MEM_ARG(d->sums),
                       STEP_SCALAR(d, level),
                       KUGEL__VALUE_ARG(plane),
                       KUGEL__VALUE_ARG(chunk),
                       KUGEL__VALUE_ARG(per),
                       KUGEL__VALUE_ARG(accelerated),
                       KUGEL__VALUE_ARG(stepped)};
  return launch(d, STEP_ADVANCE, chunks, 14, args);
}

// From where an accelerated step starts, to `to`.
static kugel_status extrapolate(const kugel__deconv_device *d, kugel__mem to)
{
  kugel__arg args[] = {KUGEL__MEM_ARG(d->a[X]), KUGEL__MEM_ARG(d->a[BEFORE]), KUGEL__MEM_ARG(d->momentum),
                       KUGEL__MEM_ARG(to), KUGEL__VALUE_ARG(d->voxels)};
  return launch(d, STEP_EXTRAPOLATE, d->voxels ? kugel__step_blocks(d->voxels) : 0, 5, args);
}

kugel_status kugel__ranks_step(kugel__deconv_device *d, kugel__deconv_state *s, int64_t i, double *value)
{
  kugel_deconv_method m = d->p->opts.method;
  bool accelerated = d->a[BEFORE].base != NULL;
  if (i == 1 || m == KUGEL_DECONV_SHB) // BIGGS: set at the end of the step before
    KUGEL_TRY(kugel__step_momentum(d, i == 1 ? 0 : (double)(i - 1) / (double)(i + 2), 0));
  if (accelerated)
    KUGEL_TRY(extrapolate(d, d->a[BACK]));
  KUGEL_TRY(kugel__ranks_step_convolve(d, false, accelerated ? d->a[BACK] : d->a[X], d->a[MODEL]));
  KUGEL_TRY(ratio(d, s, value));
  bool varies = m == KUGEL_DECONV_TV; // x is in BACK then, times its factor
  if (varies)
    KUGEL_TRY(vary(d, s));
  kugel__mem r = varies ? d->a[X] : d->a[BACK], object = varies ? d->a[BACK] : d->a[X];
  KUGEL_TRY(kugel__ranks_step_convolve(d, true, d->a[MODEL], r));
  kugel__mem out = accelerated ? d->a[BEFORE] : d->a[X];
  KUGEL_TRY(advance(d, r, object, out));
  if (m == KUGEL_DECONV_BIGGS) {
    double with = 0, self = 0;
    KUGEL_TRY(add_up(d, s, KUGEL__DECONV_OBJECT, &with, &self));
    KUGEL_TRY(kugel__step_momentum(d, i > 1 && self > 0 ? fmax(0, fmin(with / self, 0.999)) : 0, 0));
  }
  if (accelerated) {
    d->a[BEFORE] = d->a[X];
    d->a[X] = out;
  }
  return KUGEL_OK;
}
