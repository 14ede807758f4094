/* SPDX-License-Identifier: BSD-3-Clause */
/* Transforms in the ball by several devices. */
#include "arrays/copy.h"
#include "ball/gpu.h"
#include "ball/several.h"
#include "core/alloc.h"
#include "core/array.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "device/lend.h"
#include "device/peer.h"

typedef kugel__ball_share share;

typedef struct call {
  const kugel__ball_call *c;
  struct kugel__ball_several *s;
  const kugel_array *coeffs, *values;
  size_t of_coeffs, of_values; /* bytes of the arrays before this field */
} call;

static kugel__mem block(const share *e, int i, int64_t elements, size_t word)
{
  return (kugel__mem){e->memory, e->at[i] + (size_t)elements * word};
}

/* Bytes from `at` on of an array of the caller, to or from a device. */
static kugel_status move(const call *t, share *e, const kugel_array *a, size_t at, kugel__mem here,
                         size_t bytes, bool to_device)
{
  kugel__mem there = {a->data, a->byte_offset + at};
  if (a->device.type == KUGEL_CPU) {
    there = (kugel__mem){(char *)a->data + a->byte_offset + at, 0};
    return !bytes      ? KUGEL_OK
           : to_device ? kugel__device_copy(e->device, KUGEL__UPLOAD, here, there, bytes, e->queue)
                       : kugel__device_copy(e->device, KUGEL__DOWNLOAD, there, here, bytes, e->queue);
  }
  kugel__device *first = t->s->share[0].device;
  return to_device ? kugel__device_fetch(first, there, e->device, here, bytes, e->queue)
                   : kugel__device_send(e->device, here, first, there, bytes, e->queue);
}

static kugel_status move_coeffs(const call *t, share *e)
{
  const kugel_ball *p = t->c->p;
  size_t pair = 2 * p->word;
  for (int64_t i = 0; i < t->c->components; i++)
    KUGEL_TRY(move(t, e, t->coeffs, t->of_coeffs + (size_t)((i * p->nlm + e->row) * p->n) * pair,
                   block(e, KUGEL__SHARE_COEFFS, i * e->rows * p->n, pair), (size_t)(e->rows * p->n) * pair,
                   t->c->to_grid));
  return KUGEL_OK;
}

static kugel_status move_values(const call *t, share *e)
{
  const kugel_ball *p = t->c->p;
  size_t word = p->word * (t->c->kind == KUGEL_BALL_SPIN ? 2 : 1);
  for (int64_t i = 0; i < t->c->components; i++)
    KUGEL_TRY(move(t, e, t->values, t->of_values + (size_t)((i * p->nr + e->k) * p->npix) * word,
                   block(e, KUGEL__SHARE_VALUES, i * e->count * p->npix, word),
                   (size_t)(e->count * p->npix) * word, !t->c->to_grid));
  return KUGEL_OK;
}

static kugel_status radial(const call *t, share *e)
{
  const kugel_ball *p = t->c->p;
  kugel_dtype dtype = p->single ? KUGEL_C64 : KUGEL_C128;
  for (int i = 0; i < t->c->components && e->rows; i++) {
    kugel_array *a = KUGEL_ARRAY(e->memory, dtype, e->rows, p->n),
                *b = KUGEL_ARRAY(e->memory, dtype, e->rows, p->nr);
    a->device = b->device = e->ctx->device;
    a->byte_offset = block(e, KUGEL__SHARE_COEFFS, i * e->rows * p->n, 2 * p->word).offset;
    b->byte_offset = block(e, KUGEL__SHARE_ROWS, i * e->rows * p->nr, 2 * p->word).offset;
    KUGEL_TRY(t->c->radial(e->radial[kugel__ball_index(t->c->components, i)], KUGEL_WORLAND_P,
                           t->c->to_grid ? a : b, t->c->to_grid ? b : a, e->queue));
  }
  return KUGEL_OK;
}

/* Where device e keeps component i of what it exchanges with the device `other`, from the first of its blocks. */
static int64_t packed_at(const call *t, const share *e, const share *other, int64_t i)
{
  return e->rows * (t->c->components * other->k + i * other->count);
}

/* Rows between [components, rows, nr] and a block per device and component. */
static kugel_status pack(const call *t, share *e)
{
  const kugel_ball *p = t->c->p;
  kugel_dtype dtype = p->single ? KUGEL_C64 : KUGEL_C128;
  int64_t pair = 2 * (int64_t)p->word, rows = (int64_t)e->at[KUGEL__SHARE_ROWS] / pair,
          packed = (int64_t)e->at[KUGEL__SHARE_PACKED] / pair;
  for (int d = 0; d < t->s->count; d++)
    for (int64_t i = 0; i < t->c->components; i++) {
      const share *other = &t->s->share[d];
      int64_t a = rows + i * e->rows * p->nr + other->k, b = packed + packed_at(t, e, other, i);
      bool forth = t->c->to_grid;
      kugel__copy copy = {.shape = {.count = e->rows * other->count,
                                    .in_first = forth ? a : b,
                                    .out_first = forth ? b : a,
                                    .ndim = 2,
                                    .extent = {e->rows, other->count},
                                    .in_step = {forth ? p->nr : other->count, 1},
                                    .out_step = {forth ? other->count : p->nr, 1}},
                          .from = dtype,
                          .to = dtype,
                          .scale = 1,
                          .plain = true};
      if (copy.shape.count)
        KUGEL_TRY(kugel__copy_gpu(e->ctx, &copy, e->memory, e->memory, e->queue));
    }
  return KUGEL_OK;
}

/* All with all; what stays on a device is a copy there. */
static kugel_status exchange(const call *t)
{
  const kugel_ball *p = t->c->p;
  int count = t->s->count, n = 0;
  size_t pair = 2 * p->word;
  kugel__transfer *list;
  kugel_queue **queues;
  KUGEL_ALLOC(p->ctx, list,
              (size_t)(count * count * t->c->components) * sizeof *list + (size_t)count * sizeof *queues);
  queues = (kugel_queue **)(void *)(list + count * count * t->c->components);
  kugel_status s = KUGEL_OK;
  for (int d = 0; d < count; d++) {
    share *e = &t->s->share[d];
    queues[d] = e->queue;
    for (int j = 0; j < count * t->c->components && !s; j++) {
      share *other = &t->s->share[j % count];
      int64_t i = j / count;
      kugel__mem a = block(e, KUGEL__SHARE_PACKED, packed_at(t, e, other, i), pair),
                 b = block(other, KUGEL__SHARE_SHELLS, (i * p->nlm + e->row) * other->count, pair);
      bool forth = t->c->to_grid;
      size_t bytes = (size_t)(e->rows * other->count) * pair;
      if (!bytes)
        continue;
      if (e == other)
        s = kugel__device_copy(e->device, KUGEL__WITHIN, forth ? b : a, forth ? a : b, bytes, e->queue);
      else
        list[n++] = (kugel__transfer){forth ? d : j % count, forth ? j % count : d, forth ? a : b,
                                      forth ? b : a, bytes};
    }
  }
  s = s ? s : kugel__devices_exchange(t->s->ctx, n, list, queues);
  kugel__free(p->ctx, list);
  return s;
}

static kugel_status spheres(const call *t, share *e)
{
  kugel__ball_call c = *t->c;
  c.p = e->plan;
  return e->plan ? kugel__ball_gpu_spheres(&c, block(e, KUGEL__SHARE_SHELLS, 0, 1),
                                           block(e, KUGEL__SHARE_VALUES, 0, 1),
                                           block(e, KUGEL__SHARE_MAPS, 0, 1), e->queue)
                 : KUGEL_OK;
}

/* Values to the rows of a device's shells: a thread of the host each, since it waits for the check of the values. */
static kugel_status from_values(void *arg, int64_t d, int worker)
{
  const call *t = arg;
  share *e = &t->s->share[d];
  (void)worker;
  KUGEL_TRY(move_values(t, e));
  return spheres(t, e);
}

static kugel_status each(const call *t, kugel_status (*stage)(const call *, share *))
{
  for (int d = 0; d < t->s->count; d++)
    KUGEL_TRY(stage(t, &t->s->share[d]));
  return KUGEL_OK;
}

static kugel_status stages(call *t)
{
  kugel__progress_stage(0, t->c->to_grid ? 0.4 : 0.6, t->c->to_grid ? "radius" : "spheres");
  if (!t->c->to_grid) {
    KUGEL_TRY(kugel__parallel_on(t->c->p->ctx, t->s->count, t->s->count, from_values, t));
    KUGEL_TRY(exchange(t));
    kugel__progress_stage(0.6, 1, "radius");
    KUGEL_TRY(each(t, pack));
    KUGEL_TRY(each(t, radial));
    return each(t, move_coeffs);
  }
  KUGEL_TRY(each(t, move_coeffs));
  KUGEL_TRY(each(t, radial));
  KUGEL_TRY(each(t, pack));
  KUGEL_TRY(exchange(t));
  kugel__progress_stage(0.4, 1, "spheres");
  KUGEL_TRY(each(t, spheres));
  return each(t, move_values);
}

static kugel_status take_memory(const call *t)
{
  for (int d = 0; d < t->s->count; d++) {
    share *e = &t->s->share[d];
    kugel__ball_share_place(t->c->p, e, t->c->components);
    KUGEL_TRY(kugel__device_scratch_get(e->device, e->at[KUGEL__SHARE_BLOCKS] + 1, &e->memory));
  }
  return KUGEL_OK;
}

/* Waits for all devices, whatever has failed before. */
static kugel_status finish(const call *t, kugel_status s)
{
  for (int d = 0; d < t->s->count; d++) {
    share *e = &t->s->share[d];
    kugel_status w = e->device->ops->wait(e->queue);
    s = s ? s : w;
  }
  return s;
}

kugel_status kugel__ball_several_run(const kugel__ball_call *c, int64_t batch, const kugel_array *coeffs,
                                     const kugel_array *values, kugel_queue *queue)
{
  const kugel_ball *p = c->p;
  struct kugel__ball_several *several = p->several;
  call t = {.c = c, .s = several, .coeffs = coeffs, .values = values};
  size_t field = (size_t)(c->components * p->nlm * p->n) * 2 * p->word;
  size_t grid = (size_t)(c->components * p->nr * p->npix) * p->word * (c->kind == KUGEL_BALL_SPIN ? 2 : 1);
  KUGEL_TRY(kugel__queue_join(several->share[0].device, queue));
  pthread_mutex_lock(&several->lock);
  kugel__span outer = kugel__progress_enter(0, 1);
  kugel_status s = take_memory(&t);
  for (int64_t i = 0; !s && i < batch; i++) {
    kugel__span part = kugel__progress_enter((double)i / (double)batch, (double)(i + 1) / (double)batch);
    t.of_coeffs = (size_t)i * field;
    t.of_values = (size_t)i * grid;
    s = finish(&t, stages(&t));
    kugel__progress_leave(part);
  }
  kugel__progress_leave(outer);
  for (int d = 0; d < several->count; d++) {
    share *e = &several->share[d];
    if (e->memory)
      kugel__device_scratch_put(e->device, e->memory, e->at[KUGEL__SHARE_BLOCKS] + 1);
    e->memory = NULL;
  }
  pthread_mutex_unlock(&several->lock);
  return s;
}
