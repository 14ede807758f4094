/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of launches: written by a maker into host memory, then uploaded whole. */
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "polynomial/gpu.h"
#include "polynomial/program.h"

enum { JOBS, OPS, NUMBERS, DONE, ROOMS, ALIGN = 512 /* bytes, of what kernels get as an array */ };

static void *append(kugel__poly_text *t, int room, const void *from, size_t bytes)
{
  if (t->status || !bytes)
    return NULL;
  if (t->used[room] + bytes > t->room[room]) {
    size_t more = 2 * (t->used[room] + bytes) + 4096;
    char *now = kugel__alloc(t->g->ctx, more);
    if (!now) {
      t->status = KUGEL_FAIL(KUGEL_ENOMEM, "no memory for %zu bytes of a list of launches", more);
      return NULL;
    }
    if (t->used[room])
      memcpy(now, t->bytes[room], t->used[room]);
    kugel__free(t->g->ctx, t->bytes[room]);
    t->bytes[room] = now;
    t->room[room] = more;
  }
  char *at = t->bytes[room] + t->used[room];
  t->used[room] += bytes;
  if (from)
    memcpy(at, from, bytes);
  else
    memset(at, 0, bytes);
  return at;
}

static void pad(kugel__poly_text *t, int room)
{
  append(t, room, NULL, (size_t)kugel__round_up((int64_t)t->used[room], ALIGN) - t->used[room]);
}

int64_t kugel__poly_numbers(kugel__poly_text *t, const void *numbers, int64_t n)
{
  int64_t at = (int64_t)(t->used[NUMBERS] / t->g->word);
  append(t, NUMBERS, numbers, (size_t)n * t->g->word);
  return at;
}

void kugel__poly_op(kugel__poly_text *t, kugel__tile_op op)
{
  append(t, OPS, &op, sizeof op);
}

int64_t kugel__poly_ops(const kugel__poly_text *t)
{
  return (int64_t)(t->used[OPS] / sizeof(kugel__tile_op));
}

void kugel__poly_tile(kugel__poly_text *t, kugel__tile_job job)
{
  append(t, JOBS, &job, sizeof job);
}

void kugel__poly_product(kugel__poly_text *t, kugel__table_job job, double scale)
{
  kugel__numbers_store(t->g->single, &scale, 1, &job.scale);
  append(t, JOBS, &job, sizeof job);
}

static kugel__poly_launch *add(kugel__poly_text *t, kugel__poly_kind kind)
{
  kugel__poly_list *l = t->list;
  if (!t->status && l->launches == KUGEL__POLY_LAUNCHES)
    t->status = KUGEL_FAIL(KUGEL_EINTERNAL, "a list has more than %d launches", KUGEL__POLY_LAUNCHES);
  if (t->status)
    return NULL;
  l->launch[l->launches] = (kugel__poly_launch){.kind = kind};
  return &l->launch[l->launches++];
}

/* Moves the jobs since the last launch to those of all launches. */
static void end(kugel__poly_text *t, kugel__poly_launch *l, size_t size)
{
  if (!l)
    return;
  l->at = t->used[DONE];
  l->jobs = (int64_t)(t->used[JOBS] / size);
  append(t, DONE, t->bytes[JOBS], t->used[JOBS]);
  pad(t, DONE);
  t->used[JOBS] = 0;
}

void kugel__poly_end_tiles(kugel__poly_text *t, bool from_caller, bool to_caller)
{
  if (!t->used[JOBS])
    return;
  t->list->planes = t->list->planes ? t->list->planes : 1;
  kugel__poly_launch *l = add(t, KUGEL__POLY_TILES);
  kugel__tile_job *job = (kugel__tile_job *)(void *)t->bytes[JOBS];
  for (size_t i = 0; l && i < t->used[JOBS] / sizeof *job; i++) {
    job[i].before = l->systems;
    l->systems += job[i].systems;
    l->from_caller = from_caller;
    l->to_caller = to_caller;
  }
  end(t, l, sizeof *job);
}

void kugel__poly_end_products(kugel__poly_text *t)
{
  if (!t->used[JOBS])
    return;
  kugel__poly_launch *l = add(t, KUGEL__POLY_PRODUCTS);
  kugel__table_job *job = (kugel__table_job *)(void *)t->bytes[JOBS];
  for (size_t i = 0; l && i < t->used[JOBS] / sizeof *job; i++) {
    job[i].before = l->systems;
    l->systems += job[i].systems;
    l->rows = kugel__max(l->rows, job[i].put_rows);
    l->from_caller = l->from_caller || job[i].from < 0;
    l->to_caller = l->to_caller || job[i].to < 0;
    if (job[i].from >= 0 || job[i].to >= 0)
      t->list->planes = 2;
  }
  end(t, l, sizeof *job);
}

static kugel_status waves_of(kugel__poly_gpu *g, kugel_fft_kind kind, double scale, const kugel_fft **out)
{
  for (kugel__poly_waves *w = g->waves; w; w = w->next)
    if (w->kind == kind && w->scale >= scale && w->scale <= scale) {
      *out = w->fft;
      return KUGEL_OK;
    }
  kugel__poly_waves *w;
  KUGEL_ALLOC(g->ctx, w, sizeof *w);
  *w = (kugel__poly_waves){.kind = kind, .scale = scale};
  kugel_fft_opts o = {.size = sizeof o,
                      .kind = kind,
                      .precision = g->single ? KUGEL_PRECISION_F32 : KUGEL_PRECISION_F64,
                      .forward_scale = scale};
  kugel_status s = kugel_fft_create(g->ctx, 1, &g->waves_length, &o, &w->fft);
  if (s) {
    kugel__free(g->ctx, w);
    return s;
  }
  w->next = g->waves;
  g->waves = w;
  *out = w->fft;
  return KUGEL_OK;
}

void kugel__poly_add_waves(kugel__poly_text *t, kugel_fft_kind kind, double scale, int64_t first,
                           int64_t systems, int64_t plane)
{
  kugel__poly_launch *l = systems ? add(t, KUGEL__POLY_WAVES) : NULL;
  if (!l)
    return;
  l->first = first;
  l->systems = systems;
  l->plane = plane;
  t->status = waves_of(t->g, kind, scale, &l->fft);
}

/* Jobs, ops and numbers to the device. */
static kugel_status upload(kugel__poly_text *t)
{
  kugel__poly_list *l = t->list;
  if (!t->used[NUMBERS])
    append(t, NUMBERS, NULL, 16);
  if (!t->used[OPS])
    append(t, OPS, NULL, sizeof(kugel__tile_op));
  l->ops = t->used[DONE];
  append(t, DONE, t->bytes[OPS], t->used[OPS]);
  pad(t, DONE);
  l->numbers = t->used[DONE];
  append(t, DONE, t->bytes[NUMBERS], t->used[NUMBERS]);
  KUGEL_TRY(t->status);
  KUGEL_TRY(kugel__device_alloc(t->g->device, t->used[DONE], &l->memory));
  return kugel__device_copy(t->g->device, KUGEL__UPLOAD, (kugel__mem){l->memory, 0},
                            (kugel__mem){t->bytes[DONE], 0}, t->used[DONE], NULL);
}

static kugel_status make_list(kugel__poly_gpu *g, int key, int64_t systems, kugel__poly_maker *make,
                              const void *of, kugel__poly_list **out)
{
  kugel__poly_list *l = *out = kugel__calloc(g->ctx, sizeof *l);
  KUGEL_CHECK(l, KUGEL_ENOMEM, "no memory for a list of launches");
  l->key = key;
  l->systems = systems;
  kugel__poly_text t = {.g = g, .list = l};
  make(of, key, &t);
  kugel_status s = t.status ? t.status : upload(&t);
  for (int i = 0; i < ROOMS; i++)
    kugel__free(g->ctx, t.bytes[i]);
  if (!s)
    return KUGEL_OK;
  kugel__device_free(g->device, l->memory);
  kugel__free(g->ctx, l);
  return s;
}

kugel_status kugel__poly_list_get(kugel__poly_gpu *g, int key, int64_t systems, kugel__poly_maker *make,
                                  const void *of, const kugel__poly_list **out)
{
  kugel_status s = KUGEL_OK;
  pthread_mutex_lock(&g->lock);
  kugel__poly_list *l = g->lists;
  while (l && l->key != key)
    l = l->next;
  if (!l && !(s = make_list(g, key, systems, make, of, &l))) {
    l->next = g->lists;
    g->lists = l;
  }
  pthread_mutex_unlock(&g->lock);
  *out = l;
  return s;
}
