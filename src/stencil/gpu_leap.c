/* SPDX-License-Identifier: BSD-3-Clause */
/* Steps in time of which several share a pass over device memory. A pass reads one state and writes another; where nodes next to ends
 * have other rows than those inside, and at mirrors of the marching axis, single steps follow (gpu_ends.c). */
#include <string.h>
#include "core/alloc.h"
#include "core/parallel.h"
#include "stencil/gpu.h"

typedef kugel__stencil_level level;
typedef kugel__stencil_gpu_leap leap;
typedef kugel__stencil_gpu_march march;
typedef kugel__stencil_state state;

/* ---- plans ---- */

static void choose(kugel_stencil *p, bool transposed, bool nested, kugel__leap_shape *s, leap *out)
{
  const struct kugel__stencil_gpu *g = p->gpu;
  const kugel__stencil_gpu_side *side = &g->side[transposed];
  kugel__leap_setting set = {.plan = p,
                             .shared = (int64_t)g->dev->info.shared_bytes,
                             .most = p->steps_per_pass,
                             .threads = g->dev->info.max_threads,
                             .nested = nested,
                             .unrolled = g->dev->info.is_gpu};
  if (p->side[transposed].sources != 1 || p->side[transposed].targets != 1 || side->sheets != 1)
    return;
  for (int role = 0; role < 3; role++) {
    const int d = kugel__march_axis(p->ndim, role);
    set.first[role] = kugel__max(side->first[d], p->n[d] - side->last[d]);
    if (side->kind[d][0] >= KUGEL__STENCIL_TWICE || side->kind[d][1] >= KUGEL__STENCIL_TWICE) {
      const kugel__march_shape *m = &side->sheet[0]->shape; // a pass has the own nodes of mirrors as they are
      set.first[role] = kugel__max(set.first[role], 1 + (role ? m->source[0].halo[role - 1] : m->reach));
    }
    set.span[role] = side->span[d];
    for (int e = 0; e < 2 && !(role && set.first[role]); e++) {
      set.walls |= side->kind[d][e] != KUGEL_STENCIL_PERIODIC && p->n[d] > 1;
      set.mirrored |=
          !role && (side->kind[d][e] == KUGEL_STENCIL_ODD || side->kind[d][e] == KUGEL_STENCIL_EVEN);
    }
  }
  if (!kugel__leap_choose(&set, side->sheet[0], s))
    return;
  for (int role = 0; role < 3; role++)
    out->end[role] = kugel__leap_end(&set, s, role);
  out->shape = s;
}

kugel_status kugel__stencil_gpu_leap_make(kugel_stencil *p)
{
  for (int i = 0; i < 4; i++) {
    leap *own = &p->gpu->side[i / 2].leap[i % 2];
    kugel__leap_shape *s = kugel__calloc(p->ctx, sizeof *s);
    KUGEL_CHECK(s, KUGEL_ENOMEM, "no memory for a kernel of steps in time");
    choose(p, i / 2, i % 2, s, own);
    if (!own->shape)
      kugel__free(p->ctx, s);
  }
  return KUGEL_OK;
}

void kugel__stencil_gpu_leap_free(kugel_stencil *p)
{
  for (int i = 0; i < 4; i++) {
    leap *own = &p->gpu->side[i / 2].leap[i % 2];
    kugel__module_put(own->module);
    kugel__free(p->ctx, own->shape);
  }
  kugel__module_put(p->gpu->frames);
}

/* Of rows and columns next to ends. */
static kugel_status frame_of(const march *m)
{
  struct kugel__stencil_gpu *g = m->p->gpu;
  const kugel__module_spec spec = {
      .name = "stencil/frame", .defines = m->p->single ? "#define REAL_BITS 32\n" : "#define REAL_BITS 64\n"};
  if (!g->frames)
    KUGEL_TRY(kugel__module_get(m->p->ctx, &spec, &g->frames));
  return g->frame ? KUGEL_OK : kugel__module_kernel(g->frames, "frame", &g->frame, NULL);
}

/* The kernels, which the first call compiles. */
static kugel_status kernel_of(const march *m, leap *own, kugel__kernel **out)
{
  struct kugel__stencil_gpu *g = m->p->gpu;
  kugel_status s = KUGEL_OK;
  pthread_mutex_lock(&g->lock);
  if (!own->kernel) {
    const kugel__module_spec spec = kugel__leap_module(own->shape);
    if (!own->module)
      s = kugel__module_get(m->p->ctx, &spec, &own->module);
    if (!s && (own->end[1] || own->end[2]))
      s = frame_of(m);
    if (!s)
      s = kugel__module_kernel(own->module, "leap", &own->kernel, NULL);
  }
  *out = own->kernel;
  pthread_mutex_unlock(&g->lock);
  return s;
}

/* ---- a pass ---- */

/* Planes of a slab: each has halos, and so many blocks run at once. */
static int64_t choose_chunk(const kugel__device *dev, const kugel__leap_shape *s, int64_t planes,
                            int64_t tiles)
{
  const int64_t units = kugel__max(1, dev->info.units),
                more = (int64_t)s->stages * (s->march.reach + kugel__leap_lag(s));
  int64_t best = planes, least = INT64_MAX;
  for (int64_t slabs = 1; slabs <= 128 && slabs <= planes; slabs++) {
    const int64_t chunk = (planes + slabs - 1) / slabs,
                  time = (tiles * ((planes + chunk - 1) / chunk) + units - 1) / units * (chunk + more);
    if (time < least) {
      least = time;
      best = chunk;
    }
  }
  return best;
}

static void put(bool single, char *reals, int i, double value)
{
  if (single)
    ((float *)(void *)reals)[i] = (float)value;
  else
    ((double *)(void *)reals)[i] = value;
}

static void fill_reals(const march *m, const leap *own, const kugel__march_sheet *sheet, char *reals,
                       size_t *bytes)
{
  const bool single = m->p->single, nested = own->shape->nested;
  const int weights = kugel__march_weights(sheet, single, reals), count = 3 + (weights ? weights : 1);
  put(single, reals, 1, nested ? 1 : 2);
  put(single, reals, 2, nested ? 0 : -1);
  for (int j = 0; j < KUGEL__LEAP_STEPS; j++)
    put(single, reals, count + j, !nested ? m->dt * m->dt : j < 4 ? m->dt / (4 - j) : 0);
  *bytes = (size_t)kugel__round_up((count + KUGEL__LEAP_STEPS) * (single ? 4 : 8), 8);
}

static kugel_status run(const march *m, leap *own, const state *from, const state *to)
{
  const kugel_stencil *p = m->p;
  const struct kugel__stencil_gpu *g = p->gpu;
  const kugel__stencil_gpu_side *side = &g->side[m->transposed];
  const kugel__march_sheet *sheet = side->sheet[0];
  const kugel__march_shape *s = &own->shape->march;
  _Alignas(8) char args[KUGEL__LEAP_WORDS * 8 + (KUGEL__MARCH_WEIGHTS + 4 + KUGEL__LEAP_STEPS) * 8] = {0};
  int64_t head[KUGEL__LEAP_WORDS], *h = head, n[3];
  kugel__kernel *kernel;
  size_t bytes;
  KUGEL_TRY(kernel_of(m, own, &kernel));
  for (int role = 0; role < 3; role++)
    *h++ = n[role] = p->n[kugel__march_axis(p->ndim, role)];
  const int64_t wide = s->wide - 2 * own->shape->stages * s->source[0].halo[1],
                tall = s->tall * s->rows - 2 * own->shape->stages * s->source[0].halo[0],
                tiles[2] = {(n[2] + wide - 1) / wide, (n[1] + tall - 1) / tall},
                planes = n[0] - 2 * own->end[0],
                chunk = choose_chunk(g->dev, own->shape, planes, tiles[0] * tiles[1]),
                chunks = (planes + chunk - 1) / chunk, blocks = tiles[0] * tiles[1] * chunks;
  KUGEL_CHECK(blocks < INT32_MAX, KUGEL_ENOTSUP,
              "the grid has %lld blocks of nodes, must be below 2^31 on a device", (long long)blocks);
  *h++ = p->ndim == 2 ? n[2] : n[1] * n[2];
  *h++ = n[2];
  for (int i = 0; i < 6; i++) // values next to rows and columns that single steps make are not used
    *h++ = i > 1 && own->end[i / 2] ? KUGEL_STENCIL_PERIODIC
                                    : side->kind[kugel__march_axis(p->ndim, i / 2)][i % 2];
  const int64_t rest[10] = {own->end[0], n[0] - own->end[0], chunk,          chunks,        tiles[0],
                            tiles[1],    from->newest.at,    from->older.at, to->newest.at, to->older.at};
  memcpy(h, rest, sizeof rest);
  for (int i = 0; i < KUGEL__MARCH_GROUPS; i++)
    h[10 + i] = kugel__max(0, sheet->sum_coefficient[i]) * p->nodes;
  if (s->source[0].coefficient)
    h[10] = sheet->read_coefficient[0] * p->nodes;
  memcpy(args, head, sizeof head);
  fill_reals(m, own, sheet, args + sizeof head, &bytes);
  kugel__mem coefficients = {g->coefficients ? g->coefficients : from->newest.mem.base,
                             g->coefficients ? 0 : from->newest.mem.offset},
             now = from->newest.mem, before = from->older.mem.base ? from->older.mem : now,
             out = to->newest.mem, last = to->older.mem.base ? to->older.mem : out;
  kugel__arg list[] = {KUGEL__MEM_ARG(now), KUGEL__MEM_ARG(before), KUGEL__MEM_ARG(coefficients),
                       KUGEL__MEM_ARG(out), KUGEL__MEM_ARG(last),   {args, sizeof head + bytes}};
  const kugel__grid grid = {.blocks = {(uint32_t)blocks},
                            .threads = {(uint32_t)(s->wide * s->tall)},
                            .shared = (size_t)kugel__leap_shared(own->shape)};
  return kugel__launch(g->dev, kernel, &grid, 6, list, m->queue);
}

static bool has_ends(const leap *own)
{
  return own->end[0] || own->end[1] || own->end[2];
}

static kugel_status passes(const march *m, leap *own, state from, state to, const level *room, int64_t count)
{
  const state first = from;
  for (int64_t k = 0; k < count; k++) {
    KUGEL_TRY(kugel__progress_step((double)k / (double)count));
    KUGEL_TRY(run(m, own, &from, &to));
    if (has_ends(own)) {
      state used = from;
      KUGEL_TRY(kugel__stencil_gpu_ends(m, own, &used, &to, room));
    }
    const state next = from;
    from = to;
    to = next;
  }
  if (count % 2 == 0)
    return KUGEL_OK;
  KUGEL_TRY(kugel__stencil_gpu_copy(m, &from.newest, &first.newest, 0, m->size));
  return own->shape->nested ? KUGEL_OK : kugel__stencil_gpu_copy(m, &from.older, &first.older, 0, m->size);
}

bool kugel__stencil_gpu_has_passes(const kugel__stencil_gpu_march *m, bool leapfrog)
{
  const kugel__leap_shape *s = m->p->gpu->side[m->transposed].leap[leapfrog ? 0 : 1].shape;
  return s && m->steps >= (s->nested ? 1 : s->stages);
}

kugel_status kugel__stencil_gpu_passes(const kugel__stencil_gpu_march *m, kugel__stencil_level before,
                                       kugel__stencil_level now, int64_t *done)
{
  struct kugel__stencil_gpu *g = m->p->gpu;
  leap *own = &g->side[m->transposed].leap[before.mem.base ? 0 : 1];
  const int64_t per_pass = own->shape && !own->shape->nested ? own->shape->stages : 1,
                count = m->steps / per_pass;
  const size_t word = m->p->single ? 4 : 8, bytes = (size_t)kugel__round_up(m->size * (int64_t)word, 512);
  kugel__gpu_hold hold = {NULL, NULL};
  *done = 0;
  if (!own->shape || !count)
    return KUGEL_OK;
  const int levels = own->shape->nested && !has_ends(own) ? 1 : own->shape->nested ? 3 : 2;
  kugel_status s = kugel__gpu_work_take(g->dev, &g->work, (size_t)levels * bytes, m->queue, &hold);
  if (s == KUGEL_ENOMEM) // single steps need less
    return KUGEL_OK;
  if (s)
    return s;
  level room[3];
  for (int i = 0; i < 3; i++)
    room[i] = (level){{hold.memory, 0}, i * (int64_t)(bytes / word)};
  const state from = {before, now}, to = {own->shape->nested ? before : room[1], room[0]};
  s = passes(m, own, from, to, room + 1, count);
  kugel__gpu_work_give(g->dev, &hold);
  *done = count * per_pass;
  return s;
}
