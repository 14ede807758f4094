/* SPDX-License-Identifier: BSD-3-Clause */
/* Execution of associated Legendre plans: lanes of all systems in tiles, those of few systems an order together. */
#include "core/alloc.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "alt/alt.h"

typedef struct call {
  const kugel_alt *p;
  const kugel__sweep_ops *ops;
  bool analysis, adjoint;
  kugel__systems in, out;
  kugel__space space;
  int64_t *
      before; /* [blocks + 1]: lanes of the blocks before, in the order of p->sorted; each parity starts a tile */
  int turns; /* tiles of a task */
  int64_t tiles;
  char *scratch;
} call;

/* Lanes of all blocks, of the even orders rounded up to tiles. */
static void count_lanes(call *c)
{
  const kugel__blocks *b = &c->p->blocks;
  int64_t lanes = 0;
  for (int64_t i = 0; i < b->blocks; i++) {
    int64_t block = c->p->sorted[i];
    if (i && b->degree[block] % 2 != b->degree[c->p->sorted[i - 1]] % 2)
      lanes = kugel__round_up(lanes, c->ops->width);
    c->before[i] = lanes;
    lanes += b->multiplicity[block] * c->in.parts * c->in.batch;
  }
  c->before[b->blocks] = lanes;
}

/* Fills the lanes of tile `index`. */
static void find_lanes(const call *c, int64_t index, kugel__alt_tile *t, kugel__rows *in, kugel__rows *out)
{
  const kugel__blocks *b = &c->p->blocks;
  int64_t begin = index * c->ops->width, end = begin + c->ops->width, lo = 0, hi = b->blocks;
  while (hi - lo > 1) { /* before[lo] <= begin */
    int64_t mid = (lo + hi) / 2;
    *(c->before[mid] <= begin ? &lo : &hi) = mid;
  }
  t->lanes = 0;
  for (int64_t i = lo; i < b->blocks && c->before[i] < end; i++) {
    int64_t block = c->p->sorted[i], all = b->multiplicity[block] * c->in.parts * c->in.batch;
    int64_t from = kugel__max(begin, c->before[i]), to = kugel__min(end, c->before[i] + all);
    kugel__rows part;
    for (int side = 0; side < 2 && to > from; side++) {
      kugel__rows *rows = side ? out : in;
      kugel__systems_rows(side ? &c->out : &c->in, b->first[block], b->multiplicity[block],
                          from - c->before[i], to - from, &part);
      rows->step = part.step;
      for (int64_t r = 0; r < to - from; r++)
        rows->at[t->lanes + r] = part.at[r];
    }
    for (int64_t r = from; r < to; r++)
      t->m[t->lanes++] = b->degree[block];
  }
  in->lanes = out->lanes = t->lanes;
}

/* From degree 0 to degree m of each lane; with `clear` the elements between are zeroed. */
static void skip_degrees(const kugel__alt_tile *t, kugel__rows *rows, bool clear)
{
  for (int64_t r = 0; r < t->lanes; r++) {
    for (int64_t l = 0; l < t->m[r] && clear; l++)
      if (t->plan->single)
        ((float *)rows->at[r])[l * rows->step] = 0;
      else
        ((double *)rows->at[r])[l * rows->step] = 0;
    rows->at[r] = (char *)rows->at[r] + t->m[r] * rows->step * (int64_t)t->plan->word;
  }
}

/* Tiles of one parity. */
static void run_tiles(const call *c, const kugel__alt_tile *t, int tiles, kugel__rows *in, kugel__rows *out)
{
  bool up = c->analysis == c->adjoint;
  for (int i = 0; i < tiles; i++) {
    skip_degrees(&t[i], up ? &in[i] : &out[i], !up);
    in[i].n = out[i].n = c->p->n;
    if (!up)
      c->ops->pack(t[i].values, &in[i]);
  }
  if (up)
    kugel__alt_up(t, tiles, in);
  else
    kugel__alt_down(t, tiles, out);
  for (int i = 0; i < tiles && up; i++)
    c->ops->unpack(t[i].values, &out[i]);
}

static kugel_status one_task(void *arg, int64_t index, int worker)
{
  const call *c = arg;
  kugel__alt_tile t[KUGEL__ALT_TILES];
  kugel__rows in[KUGEL__ALT_TILES], out[KUGEL__ALT_TILES];
  int count = 0;
  for (int64_t i = index * c->turns; i < kugel__min(c->tiles, (index + 1) * c->turns); i++) {
    t[count] = (kugel__alt_tile){.plan = c->p, .ops = c->ops, .adjoint = c->adjoint};
    kugel__alt_space_use(&c->space, c->scratch + (size_t)(worker * c->turns + count) * c->space.total,
                         &t[count]);
    find_lanes(c, i, &t[count], &in[count], &out[count]);
    count += t[count].lanes > 0;
  }
  for (int first = 0, last; first < count; first = last) {
    last = first + 1;
    while (last < count && t[last].m[0] % 2 == t[first].m[0] % 2)
      last++;
    run_tiles(c, t + first, last - first, in + first, out + first);
  }
  return KUGEL_OK;
}

static kugel_status execute(const kugel_alt *p, bool analysis, bool adjoint, const kugel_array *in,
                            const kugel_array *out, kugel_queue *queue)
{
  KUGEL_CHECK(p, KUGEL_EINVAL, "plan is NULL: make one with kugel_alt_create");
  KUGEL_CHECK(!queue || p->gpu, KUGEL_EINVAL, "queue is not NULL: the plan runs on the CPU");
  KUGEL_CHECK(
      !analysis || !p->points[0][0], KUGEL_EINVAL,
      "the plan evaluates at colatitudes of the caller and has no analysis: make one with theta NULL");
  call c = {.p = p, .analysis = analysis, .adjoint = adjoint};
  bool to_values = analysis == adjoint;
  int64_t coeffs = p->lmax + 1;
  KUGEL_TRY(kugel__systems_on(p->ctx, in, "in", p->single, p->complex, p->blocks.systems,
                              to_values ? coeffs : p->n, false, &c.in));
  KUGEL_TRY(kugel__systems_on(p->ctx, out, "out", p->single, p->complex, p->blocks.systems,
                              to_values ? p->n : coeffs, true, &c.out));
  KUGEL_TRY(kugel__systems_match(&c.in, &c.out));
  if (p->gpu) {
    kugel__alt_view v = kugel__alt_view_of((kugel_alt *)(uintptr_t)p);
    return kugel__alt_gpu_run(&v, p->gpu, analysis, adjoint, in, out, &c.in, &c.out, queue);
  }
  if (!c.in.data)
    return KUGEL_OK;
  c.ops = kugel__sweeps(p->single ? KUGEL_PRECISION_F32 : KUGEL_PRECISION_F64);
  c.space = kugel__alt_space(p, c.ops);
  c.before = kugel__alloc(p->ctx, sizeof *c.before * (size_t)(p->blocks.blocks + 1));
  KUGEL_CHECK(c.before, KUGEL_ENOMEM, "no memory for a list of %lld blocks", (long long)p->blocks.blocks);
  count_lanes(&c);
  c.tiles = (c.before[p->blocks.blocks] + c.ops->width - 1) / c.ops->width;
  int workers = kugel__ctx_threads(p->ctx);
  c.turns = kugel__alt_turns(c.tiles, workers);
  size_t spaces = (size_t)(workers * c.turns);
  c.scratch = kugel__scratch_get(p->ctx, spaces * c.space.total);
  kugel_status s =
      c.scratch
          ? kugel__parallel_on(p->ctx, workers, (c.tiles + c.turns - 1) / c.turns, one_task, &c)
          : KUGEL_FAIL(KUGEL_ENOMEM, "no memory for %zu work spaces of %zu bytes", spaces, c.space.total);
  kugel__free(p->ctx, c.before);
  kugel__scratch_put(p->ctx, c.scratch);
  return s;
}
kugel_status kugel_alt_synthesis(const kugel_alt *plan, const kugel_array *in, const kugel_array *out,
                                 kugel_queue *queue)
{
  return execute(plan, false, false, in, out, queue);
}

kugel_status kugel_alt_analysis(const kugel_alt *plan, const kugel_array *in, const kugel_array *out,
                                kugel_queue *queue)
{
  return execute(plan, true, false, in, out, queue);
}

kugel_status kugel_alt_synthesis_adjoint(const kugel_alt *plan, const kugel_array *in, const kugel_array *out,
                                         kugel_queue *queue)
{
  return execute(plan, false, true, in, out, queue);
}

kugel_status kugel_alt_analysis_adjoint(const kugel_alt *plan, const kugel_array *in, const kugel_array *out,
                                        kugel_queue *queue)
{
  return execute(plan, true, true, in, out, queue);
}
