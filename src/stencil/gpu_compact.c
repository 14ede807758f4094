/* SPDX-License-Identifier: BSD-3-Clause */
/* Compact differences on devices: each term is C A^-1 B, a sum before the solves and one after them, by way of a field. */
#include "core/alloc.h"
#include "stencil/gpu.h"

typedef kugel__stencil_gpu_use use;

/* A term: B and C, of the transpose C^T and B^T. */
typedef struct term {
  kugel__stencil_part part[2];
  int first[2];
  kugel__stencil_side side[2];
  kugel__stencil_gpu_side own[2];
} term;

struct kugel__stencil_gpu_compact {
  int count;
  term *terms[2];
  int first[65]; /* no terms: out = b p + c q */
  kugel__stencil_side empty[2];
  kugel__stencil_gpu_side rest[2];
};

static kugel_status make_term(const kugel_stencil *p, bool transposed, const kugel__stencil_part *part,
                              term *t)
{
  t->first[1] = 1;
  for (int k = 0; k < 2; k++) {
    const bool differs = (k == 0) != transposed; // B of the operator, B^T last of its transpose
    t->part[k] = *part;
    t->part[k].from = t->part[k].to = 0;
    t->side[k] = (kugel__stencil_side){
        .parts = &t->part[k], .first = t->first, .sources = 1, .targets = 1, .transposed = transposed};
    if (differs) {
      t->part[k].coefficient = NULL;
      t->part[k].factor = 1;
    }
    for (int d = 0; d < 3 && !differs; d++)
      t->part[k].line[d] = &p->lines[0][d][0];
    KUGEL_TRY(kugel__stencil_gpu_side_make(p, &t->side[k], &t->own[k]));
  }
  return KUGEL_OK;
}

kugel_status kugel__stencil_gpu_compact_make(kugel_stencil *p)
{
  struct kugel__stencil_gpu_compact *c = kugel__calloc(p->ctx, sizeof *c);
  KUGEL_CHECK(c, KUGEL_ENOMEM, "no memory for a plan");
  p->gpu->compact = c;
  c->count = p->nterms;
  for (int i = 0; i < 2; i++) {
    c->terms[i] = kugel__calloc(p->ctx, sizeof *c->terms[i] * (size_t)c->count);
    KUGEL_CHECK(c->terms[i], KUGEL_ENOMEM, "no memory for %d terms", c->count);
    for (int t = 0; t < c->count; t++)
      KUGEL_TRY(make_term(p, i, &p->side[i].parts[t], &c->terms[i][t]));
    c->empty[i] = (kugel__stencil_side){
        .first = c->first, .sources = p->side[i].sources, .targets = p->side[i].targets, .transposed = i};
    KUGEL_TRY(kugel__stencil_gpu_side_make(p, &c->empty[i], &c->rest[i]));
    for (int k = 0; k < 6; k++)
      if (p->solver[i][k / 2][k % 2])
        KUGEL_TRY(kugel__stencil_gpu_solver_make(p, p->solver[i][k / 2][k % 2]));
  }
  return KUGEL_OK;
}

void kugel__stencil_gpu_compact_free(kugel_stencil *p)
{
  struct kugel__stencil_gpu_compact *c = p->gpu->compact;
  if (!c)
    return;
  for (int i = 0; i < 2; i++) {
    for (int t = 0; c->terms[i] && t < c->count; t++)
      for (int k = 0; k < 2; k++)
        kugel__stencil_gpu_side_free(p, &c->terms[i][t].own[k]);
    kugel__free(p->ctx, c->terms[i]);
    kugel__stencil_gpu_side_free(p, &c->rest[i]);
  }
  kugel__free(p->ctx, c);
}

/* out += a (term of in), one state. */
static kugel_status add_term(const kugel_stencil *p, bool transposed, int t, const use *u,
                             const kugel__stencil_level *room, kugel_queue *queue)
{
  const kugel__stencil_part *part = &p->side[transposed].parts[t];
  const term *own = &p->gpu->compact->terms[transposed][t];
  use before = {.in = u->in, .out = room[0], .a = 1},
      after = {.in = room[0], .out = u->out, .a = u->a, .b = 1, .p = u->out};
  before.in.at += part->from * p->nodes;
  after.out.at += part->to * p->nodes;
  after.p.at += part->to * p->nodes;
  KUGEL_TRY(kugel__stencil_gpu_sum(p, &own->own[0], &before, 1, queue));
  for (int d = 0; d < 3; d++)
    if (part->derivative[d])
      KUGEL_TRY(kugel__stencil_gpu_solve(p, p->solver[transposed][d][part->derivative[d] - 1], d, &room[0],
                                         &room[1], queue));
  return kugel__stencil_gpu_sum(p, &own->own[1], &after, 1, queue);
}

static kugel_status run(const kugel_stencil *p, bool transposed, use u, int64_t items, kugel_queue *queue)
{
  struct kugel__stencil_gpu *g = p->gpu;
  const size_t word = p->single ? 4 : 8, bytes = (size_t)kugel__round_up(p->nodes * (int64_t)word, 512);
  kugel__gpu_hold hold = {NULL, NULL};
  KUGEL_TRY(kugel__gpu_work_take(g->dev, &g->field, 3 * bytes, queue, &hold));
  const kugel__stencil_level room[3] = {{{hold.memory, 0}, 0},
                                        {{hold.memory, 0}, (int64_t)(bytes / word)},
                                        {{hold.memory, 0}, (int64_t)(2 * bytes / word)}};
  kugel_status s = kugel__stencil_gpu_sum(p, &g->compact->rest[transposed], &u, items, queue);
  for (int64_t i = 0; i < items; i++) {
    for (int t = 0; !s && t < g->compact->count; t++)
      s = add_term(p, transposed, t, &u, room, queue);
    u.in.at += p->side[transposed].sources * p->nodes;
    u.out.at += p->side[transposed].targets * p->nodes;
  }
  kugel__gpu_work_give(g->dev, &hold);
  return s;
}

kugel_status kugel__stencil_gpu_operate(const kugel_stencil *p, bool transposed,
                                        const kugel__stencil_gpu_use *u, int64_t items, kugel_queue *queue)
{
  return p->compact ? run(p, transposed, *u, items, queue)
                    : kugel__stencil_gpu_sum(p, &p->gpu->side[transposed], u, items, queue);
}
