/* SPDX-License-Identifier: BSD-3-Clause */
/* What passes of several steps leave to single steps: planes, rows and columns next to ends whose nodes have other rows than those
 * inside. Each step does fewer of them, until those are left for which the pass has no values. */
#include <string.h>
#include "core/parallel.h"
#include "stencil/gpu.h"

enum { THREADS = 128, FRAME_CHUNK = 16, FRAME_GROUPS = KUGEL__MARCH_GROUPS, TAPS = KUGEL__MARCH_WEIGHTS };

typedef kugel__stencil_level level;
typedef kugel__stencil_gpu_leap leap;
typedef kugel__stencil_gpu_march march;
typedef kugel__stencil_gpu_use use;

/* As in kernels/frame.cl. */
typedef struct frame_words {
  int64_t n[3], step[2], first[2], last[2], low[2], high[2], kind[6], begin, end, chunk, in_at, out_at, p_at,
      q_at, use, groups, read_at;
  int64_t c_at[FRAME_GROUPS];
  int32_t taps[FRAME_GROUPS], tap[TAPS];
} frame_words;

typedef struct frame_args_f64 {
  frame_words words;
  double a, b, c, w[TAPS];
} frame_args_f64;
typedef struct frame_args_f32 {
  frame_words words;
  float a, b, c, w[TAPS], unused;
} frame_args_f32;

/* ---- rows and columns ---- */

static void add_tap(frame_words *h, double *weights, int *count, int z, int y, int x, double weight)
{
  h->tap[*count] = (8 + z) | (8 + y) << 4 | (8 + x) << 8;
  weights[(*count)++] = weight;
}

/* The sums of a sheet, in the order of a marching kernel; the group without a coefficient first. */
static void fill_taps(const kugel_stencil *p, const kugel__march_sheet *sheet, frame_words *h,
                      double *weights)
{
  enum { HALF = KUGEL__MARCH_HALF, SPAN = KUGEL__MARCH_SPAN };
  const kugel__march_shape *s = &sheet->shape;
  int count = 0;
  for (int i = 0; i < 2 * s->groups; i++) {
    const int g = i % s->groups;
    if (s->group[g].coefficient != (i >= s->groups))
      continue;
    for (int k = 0; k < SPAN; k++) {
      if (s->column[0][g][k])
        add_tap(h, weights, &count, k - HALF, 0, 0, sheet->column[0][g][k]);
      for (int e = 0; k == HALF && e < SPAN * SPAN; e++)
        if (s->plane[0][g][e / SPAN][e % SPAN])
          add_tap(h, weights, &count, 0, e / SPAN - HALF, e % SPAN - HALF,
                  sheet->plane[0][g][e / SPAN][e % SPAN]);
    }
    h->c_at[h->groups] = s->group[g].coefficient ? sheet->sum_coefficient[g] * p->nodes : -1;
    h->taps[h->groups++] = count;
  }
}

/* Nodes of planes [begin, end) outside a box of rows and columns, `depth` from their ends. `sums`: none: copies u->p. */
static kugel_status run_frame(const march *m, const use *u, const int64_t *depth, int64_t begin, int64_t end,
                              bool sums)
{
  const kugel_stencil *p = m->p;
  const struct kugel__stencil_gpu *g = p->gpu;
  const kugel__stencil_gpu_side *side = &g->side[m->transposed];
  frame_args_f64 wide = {.a = u->a, .b = u->b, .c = u->c};
  frame_args_f32 narrow = {.a = (float)u->a, .b = (float)u->b, .c = (float)u->c};
  frame_words *h = &wide.words;
  int64_t box = 1;
  for (int role = 0; role < 3; role++) {
    const int d = kugel__march_axis(p->ndim, role);
    h->n[role] = p->n[d];
    h->kind[2 * role] = side->kind[d][0];
    h->kind[2 * role + 1] = side->kind[d][1];
    if (!role)
      continue;
    h->first[role - 1] = sums ? side->first[d] : 0;
    h->last[role - 1] = sums ? side->last[d] : p->n[d];
    h->low[role - 1] = depth[role];
    h->high[role - 1] = p->n[d] - depth[role];
    box *= p->n[d] - 2 * depth[role];
  }
  const int64_t count = h->n[1] * h->n[2] - box;
  if (!count || begin >= end)
    return KUGEL_OK;
  h->step[0] = p->ndim == 2 ? h->n[2] : h->n[1] * h->n[2];
  h->step[1] = h->n[2];
  h->begin = begin;
  h->end = end;
  h->chunk = kugel__max(FRAME_CHUNK, (end - begin + 32767) / 32768); // at most 2^15 chunks
  h->in_at = u->in.at;
  h->out_at = u->out.at;
  h->p_at = u->p.at;
  h->q_at = u->q.at;
  h->use = (u->p.mem.base != NULL) + 2 * (u->q.mem.base != NULL);
  h->read_at =
      side->sheet[0]->shape.source[0].coefficient ? side->sheet[0]->read_coefficient[0] * p->nodes : -1;
  if (sums)
    fill_taps(p, side->sheet[0], h, wide.w);
  narrow.words = wide.words;
  for (int i = 0; i < TAPS; i++)
    narrow.w[i] = (float)wide.w[i];
  kugel__mem in = u->in.mem.base ? u->in.mem : u->p.mem, before = u->p.mem,
             other = u->q.mem.base ? u->q.mem : u->p.mem, out = u->out.mem,
             coefficients = {g->coefficients ? g->coefficients : in.base, g->coefficients ? 0 : in.offset};
  kugel__arg list[] = {KUGEL__MEM_ARG(in),    KUGEL__MEM_ARG(coefficients), KUGEL__MEM_ARG(before),
                       KUGEL__MEM_ARG(other), KUGEL__MEM_ARG(out),          KUGEL__VALUE_ARG(wide)};
  if (p->single)
    list[5] = KUGEL__VALUE_ARG(narrow);
  const kugel__grid grid = {.blocks = {(uint32_t)kugel__min((count + THREADS - 1) / THREADS, 1 << 20),
                                       (uint32_t)((end - begin + h->chunk - 1) / h->chunk)},
                            .threads = {THREADS}};
  return kugel__launch(g->dev, g->frame, &grid, 6, list, m->queue);
}

/* ---- both ---- */

kugel_status kugel__stencil_gpu_copy(const march *m, const level *from, const level *to, int64_t first,
                                     int64_t count)
{
  const int64_t word = m->p->single ? 4 : 8;
  const kugel__mem src = {from->mem.base, from->mem.offset + (size_t)((from->at + first) * word)},
                   dst = {to->mem.base, to->mem.offset + (size_t)((to->at + first) * word)};
  return kugel__device_copy(m->p->gpu->dev, KUGEL__WITHIN, dst, src, (size_t)(count * word), m->queue);
}

/* The nodes of a level that single steps made. */
static kugel_status carry(const march *m, const leap *own, const level *from, const level *to)
{
  const int64_t n = m->p->n[kugel__march_axis(m->p->ndim, 0)], plane = m->p->nodes / n, end = own->end[0];
  if (end) {
    KUGEL_TRY(kugel__stencil_gpu_copy(m, from, to, 0, end * plane));
    KUGEL_TRY(kugel__stencil_gpu_copy(m, from, to, (n - end) * plane, end * plane));
  }
  const use u = {.in = *from, .out = *to, .p = *from};
  return run_frame(m, &u, own->end, end, n - end, false);
}

/* In place in `from`, whose other nodes were used before, or by way of `room`. */
kugel_status kugel__stencil_gpu_ends(const march *m, const leap *own, kugel__stencil_state *from,
                                     const kugel__stencil_state *to, const level *room)
{
  const kugel_stencil *p = m->p;
  const int stages = own->shape->stages;
  const int64_t n = p->n[kugel__march_axis(p->ndim, 0)];
  for (int j = 0; j < stages; j++) {
    int64_t depth[3];
    for (int role = 0; role < 3; role++)
      depth[role] = own->end[role]
                        ? own->end[role] + (int64_t)(stages - 1 - j) * kugel__leap_reach(own->shape, role)
                        : 0;
    use u = {.parts = 2, .lo = {0, n - depth[0]}, .hi = {depth[0], n}};
    if (own->shape->nested) {
      u.in = j ? room[(j - 1) % 2] : from->newest;
      u.out = j == stages - 1 ? to->newest : room[j % 2];
      u.p = from->newest;
      u.a = m->dt / (4 - j);
      u.b = 1;
    } else {
      u.in = u.p = from->newest;
      u.out = u.q = from->older;
      u.a = m->dt * m->dt;
      u.b = 2;
      u.c = -1;
      const level next = from->older;
      from->older = from->newest;
      from->newest = next;
    }
    KUGEL_TRY(run_frame(m, &u, depth, depth[0], n - depth[0], true));
    KUGEL_TRY(kugel__stencil_gpu_sum(p, &p->gpu->side[m->transposed], &u, 1, m->queue));
  }
  if (own->shape->nested)
    return KUGEL_OK;
  KUGEL_TRY(carry(m, own, &from->newest, &to->newest));
  return carry(m, own, &from->older, &to->older);
}
