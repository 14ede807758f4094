/* SPDX-License-Identifier: BSD-3-Clause */
/* Stencils on devices: launches. */
#include <string.h>
#include "core/array.h"
#include "core/parallel.h"
#include "device/lend.h"
#include "stencil/gpu.h"

enum {
  HEADER = 58, /* integers of a marching kernel's arguments, as march_text.c writes them */
  EDGE_THREADS = 128,
  MOST_CHUNK = 1 << 20
};

typedef kugel__stencil_level level;
typedef kugel__stencil_gpu_use use;

/* As in kernels/edge.cl. */
typedef struct edge_args_f64 {
  int64_t words[21];
  double a, b, c, unused;
} edge_args_f64;
typedef struct edge_args_f32 {
  int64_t words[21];
  float a, b, c, unused;
} edge_args_f32;

static void put(bool single, char *to, int64_t i, double value)
{
  if (single)
    ((float *)(void *)to)[i] = (float)value;
  else
    ((double *)(void *)to)[i] = value;
}

/* A level without memory is never read, but a kernel wants some. */
static kugel__mem memory(const level *l, const level *other)
{
  return l->mem.base ? l->mem : other->mem;
}

/* ---- a sheet ---- */

/* Whether all levels begin at a pair of reals. CUDA's memory is an address, which may be in the middle of an allocation; OpenCL's is a handle,
 * and buffers begin at pairs: if a handle does not, nodes are read one by one for nothing. */
static bool paired(const kugel_stencil *p, const use *u)
{
  const size_t word = p->single ? 4 : 8;
  const level *all[4] = {&u->in, &u->out, &u->p, &u->q};
  bool pairs = p->n[2] % 2 == 0;
  for (int i = 0; i < 4; i++)
    if (all[i]->mem.base)
      pairs &=
          ((uintptr_t)all[i]->mem.base + all[i]->mem.offset + (size_t)all[i]->at * word) % (2 * word) == 0;
  return pairs;
}

/* Planes of a slab, of planes that are many beside those that two slabs read: enough slabs to fill a device; or, where it is known how
 * many blocks a multiprocessor has at once, those that are through first. */
static int64_t choose_chunk(const kugel__device *dev, const kugel__march_shape *s, int64_t planes,
                            int64_t tiles)
{
  enum { LEAST = 8, MOST = 128 };
  const int64_t units = kugel__max(1, dev->info.units);
  int64_t slabs = (planes + MOST_CHUNK - 1) / MOST_CHUNK, best = slabs, least = INT64_MAX;
  if (s->columns == 1) {
    while (tiles * slabs < 2 * units && planes / (2 * slabs) >= 16 * s->reach &&
           planes / (2 * slabs) >= LEAST)
      slabs *= 2;
    return (planes + slabs - 1) / slabs;
  }
  for (; slabs <= MOST && (slabs == best || planes / slabs >= LEAST); slabs++) {
    const int64_t chunk = (planes + slabs - 1) / slabs, at_once = units * s->blocks,
                  time = (tiles * slabs + at_once - 1) / at_once * (chunk + 2 * s->reach);
    if (time < least) {
      least = time;
      best = slabs;
    }
  }
  return (planes + best - 1) / best;
}

/* Planes [lo, hi). */
static kugel_status run_sheet(const kugel_stencil *p, const kugel__stencil_gpu_side *own,
                              kugel__march_sheet *sheet, use u, int64_t lo, int64_t hi, int64_t items,
                              kugel_queue *queue)
{
  const struct kugel__stencil_gpu *g = p->gpu;
  const kugel__stencil_side *side = own->side;
  _Alignas(8) char args[HEADER * 8 + (KUGEL__MARCH_WEIGHTS + 4) * 8] = {0};
  int64_t head[HEADER], *h = head, tiles[2], n[3];
  if (sheet->more) { // what earlier sheets wrote, and this
    u.p = u.out;
    u.b = 1;
    u.q = (level){{NULL, 0}, 0};
    u.c = 0;
  }
  const int variant =
      (u.p.mem.base || u.q.mem.base ? KUGEL__MARCH_ADDS : 0) + (paired(p, &u) ? 0 : KUGEL__MARCH_APART);
  const kugel__march_shape *s = &sheet->variant[variant];
  kugel__kernel *kernel;
  KUGEL_TRY(kugel__stencil_gpu_kernel(p, sheet, variant, &kernel));
  for (int role = 0; role < 3; role++)
    n[role] = p->n[kugel__march_axis(p->ndim, role)];
  tiles[0] = (n[2] + s->wide * s->columns - 1) / (s->wide * s->columns);
  tiles[1] = (n[1] + s->tall * s->rows - 1) / (s->tall * s->rows);
  const int64_t chunk = choose_chunk(g->dev, s, hi - lo, tiles[0] * tiles[1] * items);
  const int64_t chunks = (hi - lo + chunk - 1) / chunk, blocks = tiles[0] * tiles[1] * chunks * items;
  KUGEL_CHECK(
      blocks < INT32_MAX, KUGEL_ENOTSUP,
      "the arrays have %lld blocks of nodes, must be below 2^31 on a device: pass fewer leading elements",
      (long long)blocks);
  for (int role = 0; role < 3; role++)
    *h++ = n[role];
  *h++ = p->ndim == 2 ? n[2] : n[1] * n[2];
  *h++ = n[2];
  for (int role = 0; role < 3; role++)
    *h++ = own->first[kugel__march_axis(p->ndim, role)];
  for (int role = 0; role < 3; role++)
    *h++ = own->last[kugel__march_axis(p->ndim, role)];
  for (int i = 0; i < 6; i++)
    *h++ = own->kind[kugel__march_axis(p->ndim, i / 2)][i % 2];
  *h++ = lo;
  *h++ = hi;
  *h++ = chunk;
  *h++ = chunks;
  *h++ = tiles[0];
  *h++ = tiles[1];
  *h++ = side->sources * p->nodes;
  *h++ = side->targets * p->nodes;
  *h++ = u.in.at;
  *h++ = u.out.at;
  *h++ = u.p.at;
  *h++ = u.q.at;
  *h++ = (u.p.mem.base != NULL) + 2 * (u.q.mem.base != NULL);
  for (int i = 0; i < KUGEL__MARCH_SOURCES; i++)
    *h++ = sheet->field[i] * p->nodes;
  for (int i = 0; i < KUGEL__MARCH_SOURCES; i++)
    *h++ = sheet->read_coefficient[i] * p->nodes;
  for (int i = 0; i < KUGEL__MARCH_GROUPS; i++)
    *h++ = sheet->sum_coefficient[i] * p->nodes;
  for (int i = 0; i < KUGEL__MARCH_TARGETS; i++)
    *h++ = sheet->target[i] * p->nodes;
  memcpy(args, head, sizeof head);
  const int weights = kugel__march_weights(sheet, p->single, args + sizeof head);
  const double factors[3] = {u.a, u.b, u.c};
  for (int i = 0; i < 3; i++)
    put(p->single, args + sizeof head, i, factors[i]);
  const size_t bytes =
      sizeof head + (size_t)kugel__round_up((3 + kugel__max(weights, 1)) * (p->single ? 4 : 8), 8);
  kugel__mem coefficients = {g->coefficients ? g->coefficients : u.in.mem.base,
                             g->coefficients ? 0 : u.in.mem.offset},
             before = memory(&u.p, &u.out), other = memory(&u.q, &u.out);
  kugel__arg list[] = {KUGEL__MEM_ARG(u.in.mem), KUGEL__MEM_ARG(coefficients), KUGEL__MEM_ARG(before),
                       KUGEL__MEM_ARG(other),    KUGEL__MEM_ARG(u.out.mem),    {args, bytes}};
  kugel__grid grid = {.blocks = {(uint32_t)blocks},
                      .threads = {(uint32_t)(s->wide * s->tall)},
                      .shared = (size_t)kugel__march_shared(s)};
  return kugel__launch(g->dev, kernel, &grid, 6, list, queue);
}

/* ---- nodes next to ends ---- */

static kugel_status run_edges(const kugel_stencil *p, const kugel__stencil_gpu_side *own, const use *u,
                              int64_t items, kugel_queue *queue)
{
  const struct kugel__stencil_gpu *g = p->gpu;
  const kugel__stencil_side *side = own->side;
  edge_args_f64 wide = {.a = u->a, .b = u->b, .c = u->c};
  edge_args_f32 narrow = {.a = (float)u->a, .b = (float)u->b, .c = (float)u->c};
  int64_t *h = wide.words;
  for (int d = 0; d < 3; d++) {
    h[d] = p->n[d];
    h[3 + d] = own->first[d];
    h[6 + d] = own->last[d];
  }
  const int64_t rest[12] = {p->nodes,
                            own->edges,
                            items,
                            side->sources * p->nodes,
                            side->targets * p->nodes,
                            u->in.at,
                            u->out.at,
                            u->p.at,
                            u->q.at,
                            (u->p.mem.base != NULL) + 2 * (u->q.mem.base != NULL),
                            side->targets,
                            side->transposed};
  memcpy(h + 9, rest, sizeof rest);
  memcpy(narrow.words, wide.words, sizeof wide.words);
  const int64_t blocks = kugel__min((own->edges * items + EDGE_THREADS - 1) / EDGE_THREADS, 1 << 20);
  kugel__mem coefficients = {g->coefficients ? g->coefficients : u->in.mem.base,
                             g->coefficients ? 0 : u->in.mem.offset},
             before = memory(&u->p, &u->out), other = memory(&u->q, &u->out);
  kugel__arg list[] = {
      KUGEL__MEM_ARG(u->in.mem),  KUGEL__MEM_ARG(coefficients),
      KUGEL__MEM_ARG(own->words), KUGEL__MEM_ARG(own->weights),
      KUGEL__MEM_ARG(own->parts), KUGEL__MEM_ARG(own->factors),
      KUGEL__MEM_ARG(before),     KUGEL__MEM_ARG(other),
      KUGEL__MEM_ARG(u->out.mem), p->single ? KUGEL__VALUE_ARG(narrow) : KUGEL__VALUE_ARG(wide)};
  kugel__grid grid = {.blocks = {(uint32_t)blocks}, .threads = {EDGE_THREADS}};
  return kugel__launch(g->dev, g->edge, &grid, 10, list, queue);
}

kugel_status kugel__stencil_gpu_sum(const kugel_stencil *p, const kugel__stencil_gpu_side *side,
                                    const kugel__stencil_gpu_use *u, int64_t items, kugel_queue *queue)
{
  const int64_t planes = p->n[kugel__march_axis(p->ndim, 0)];
  for (int i = 0; i < side->sheets && side->edges < p->nodes; i++)
    for (int k = 0; k < (u->parts ? u->parts : 1); k++) {
      const int64_t lo = u->parts ? u->lo[k] : 0, hi = u->parts ? u->hi[k] : planes;
      if (lo < hi)
        KUGEL_TRY(run_sheet(p, side, side->sheet[i], *u, lo, hi, items, queue));
    }
  return side->edges ? run_edges(p, side, u, items, queue) : KUGEL_OK;
}

/* ---- a call ---- */

/* OpenCL's buffers start at multiples of 128 bytes: kernels get the whole and count from there. */
kugel__stencil_level kugel__stencil_level_of(const kugel_stencil *p, const kugel__loan *loan, int64_t at)
{
  const size_t word = p->single ? 4 : 8;
  level l = {loan->mem, at};
  if (l.mem.offset % word == 0) {
    l.at += (int64_t)(l.mem.offset / word);
    l.mem.offset = 0;
  }
  return l;
}
