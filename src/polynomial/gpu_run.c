/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls on devices: the launches of a list. */
#include "core/array.h"
#include "core/ctx.h"
#include "polynomial/gpu.h"

typedef struct call {
  const kugel__poly_gpu *g;
  const kugel__poly_list *list;
  const kugel__systems *from, *to;
  kugel__loan loans[2]; /* of out, of in */
  kugel__mem work;
  int64_t per, plane; /* lanes of a system, reals of a plane */
  kugel_queue *queue;
} call;

/* A view of a caller's array whose first number is at loan->mem; neighbouring axes are merged. */
static kugel_status side_of(const kugel__systems *s, const char *name, const kugel__loan *loan,
                            kugel__tile_side *out)
{
  *out = (kugel__tile_side){
      .at = (int64_t)(loan->mem.offset / s->word), .element = s->step, .system = s->system};
  int n = 0;
  for (int i = 0; i < s->lead; i++) {
    if (s->shape[i] == 1)
      continue;
    if (n && out->stride[n - 1] == s->stride[i] * s->shape[i]) {
      out->shape[n - 1] *= s->shape[i];
      out->stride[n - 1] = s->stride[i];
      continue;
    }
    KUGEL_CHECK(n < 6, KUGEL_ENOTSUP,
                "%s has more than 6 leading axes that cannot be merged: copy it to C order", name);
    out->shape[n] = s->shape[i];
    out->stride[n++] = s->stride[i];
  }
  out->lead = n;
  return KUGEL_OK;
}

static kugel_status run_tiles(const call *c, const kugel__poly_launch *l)
{
  const kugel__poly_gpu *g = c->g;
  kugel__tiles_args t = {
      .line = g->line, .plane = c->plane, .per = c->per, .jobs = (int32_t)l->jobs, .parts = c->from->parts};
  kugel__mem in = c->work, out = c->work, jobs = {c->list->memory, l->at},
             ops = {c->list->memory, c->list->ops}, numbers = {c->list->memory, c->list->numbers},
             turns = {g->turns, 0};
  t.in.work = t.out.work = 1;
  if (l->from_caller) {
    KUGEL_TRY(side_of(c->from, "in", &c->loans[1], &t.in));
    in = (kugel__mem){c->loans[1].mem.base, 0};
  }
  if (l->to_caller) {
    KUGEL_TRY(side_of(c->to, "out", &c->loans[0], &t.out));
    out = (kugel__mem){c->loans[0].mem.base, 0};
  }
  int64_t blocks = l->systems * c->per / kugel__poly_lanes(&g->shape) + l->jobs;
  KUGEL_CHECK(blocks < (int64_t)1 << 31, KUGEL_EINVAL, "%lld tiles are more than a call takes: call in parts",
              (long long)blocks);
  kugel__grid grid = {.blocks = {(uint32_t)blocks},
                      .threads = {(uint32_t)(32 * g->shape.warps)},
                      .shared = (size_t)kugel__poly_shared(&g->shape, g->word)};
  kugel__arg args[] = {KUGEL__MEM_ARG(in),      KUGEL__MEM_ARG(out),   KUGEL__MEM_ARG(c->work),
                       KUGEL__MEM_ARG(numbers), KUGEL__MEM_ARG(turns), KUGEL__MEM_ARG(jobs),
                       KUGEL__MEM_ARG(ops),     KUGEL__VALUE_ARG(t)};
  return kugel__launch(g->device, g->tiles, &grid, 8, args, c->queue);
}

/* Whether elements are complex numbers side by side, which kernels move as a whole: their addresses are multiples of their size.
 * Buffers of OpenCL begin so. */
static bool in_pairs(const call *c, const kugel__tile_side *s, kugel__mem mem)
{
  bool even = c->from->parts == 2 && s->element == 2 && s->at % 2 == 0 && s->system % 2 == 0;
  for (int i = 0; i < s->lead; i++)
    even = even && s->stride[i] % 2 == 0;
  return even && (c->g->device->ops->type != KUGEL_CUDA || (uintptr_t)mem.base % (2 * c->g->word) == 0);
}

static kugel_status run_products(const call *c, const kugel__poly_launch *l)
{
  const kugel__poly_gpu *g = c->g;
  kugel__product_args t = {.line = g->line,
                           .plane = c->plane,
                           .per = c->per,
                           .jobs = (int32_t)l->jobs,
                           .parts = c->from->parts,
                           .rows = (int32_t)((l->rows + g->product_shape.rows - 1) / g->product_shape.rows)};
  kugel__mem jobs = {c->list->memory, l->at}, tables = {g->tables, 0};
  kugel__mem work = c->work.base ? c->work : tables, in = work,
             out = work; /* what is not used is some memory */
  if (l->from_caller) {
    KUGEL_TRY(side_of(c->from, "in", &c->loans[1], &t.in));
    in = (kugel__mem){c->loans[1].mem.base, 0};
    t.wide |= in_pairs(c, &t.in, in) ? 1 : 0;
  }
  if (l->to_caller) {
    KUGEL_TRY(side_of(c->to, "out", &c->loans[0], &t.out));
    out = (kugel__mem){c->loans[0].mem.base, 0};
    t.wide |= in_pairs(c, &t.out, out) ? 2 : 0;
  }
  int64_t blocks = (l->systems * c->per / KUGEL__POLY_SIDE + l->jobs) * t.rows;
  KUGEL_CHECK(blocks < (int64_t)1 << 31, KUGEL_EINVAL, "%lld tiles are more than a call takes: call in parts",
              (long long)blocks);
  kugel__grid grid = {.blocks = {(uint32_t)blocks},
                      .threads = {256},
                      .shared = (size_t)kugel__product_shared(&g->product_shape, g->word)};
  kugel__arg args[] = {KUGEL__MEM_ARG(work),   KUGEL__MEM_ARG(in),   KUGEL__MEM_ARG(out),
                       KUGEL__MEM_ARG(tables), KUGEL__MEM_ARG(jobs), KUGEL__VALUE_ARG(t)};
  return kugel__launch(g->device, g->product, &grid, 6, args, c->queue);
}

static kugel_status run_waves(const call *c, const kugel__poly_launch *l)
{
  const kugel__poly_gpu *g = c->g;
  int64_t shape[2] = {l->systems * c->per, g->waves_length}, stride[2] = {g->line, 1};
  int64_t at = l->plane * c->plane + l->first * c->per * g->line;
  kugel_array lines = {.data = c->work.base,
                       .byte_offset = c->work.offset + (size_t)at * g->word,
                       .device = g->device->info.device,
                       .ndim = 2,
                       .dtype = g->single ? KUGEL_F32 : KUGEL_F64,
                       .shape = shape,
                       .strides = stride};
  return kugel_fft_execute(l->fft, KUGEL_FORWARD, &lines, &lines, c->queue);
}

static kugel_status run_all(const call *c)
{
  for (int i = 0; i < c->list->launches; i++) {
    const kugel__poly_launch *l = &c->list->launch[i];
    KUGEL_TRY((l->kind == KUGEL__POLY_TILES      ? run_tiles
               : l->kind == KUGEL__POLY_PRODUCTS ? run_products
                                                 : run_waves)(c, l));
  }
  return KUGEL_OK;
}

static kugel_status with_work(call *c)
{
  kugel__poly_gpu *g = (kugel__poly_gpu *)(uintptr_t)c->g;
  kugel__gpu_hold hold;
  size_t bytes = (size_t)(c->list->planes * c->plane) * g->word;
  KUGEL_TRY(kugel__gpu_work_take(g->device, &g->work, bytes, c->queue, &hold));
  c->work = (kugel__mem){hold.memory, 0};
  kugel_status s = run_all(c);
  kugel__gpu_work_give(g->device, &hold);
  return s;
}

/* Host arrays are lent as they lie, so they are in C order. */
static kugel_status check_host(const kugel_array *a, const char *name)
{
  KUGEL_CHECK(
      a->device.type != KUGEL_CPU || kugel__array_contiguous(a), KUGEL_ENOTSUP,
      "%s is a host array with strides, and the plan is of a device: pass C order, or an array of the device",
      name);
  return KUGEL_OK;
}

kugel_status kugel__poly_run(const kugel__poly_gpu *g, const kugel__poly_list *list, const kugel_array *in,
                             const kugel_array *out, const kugel__systems *from, const kugel__systems *to,
                             kugel_queue *queue)
{
  call c = {.g = g, .list = list, .from = from, .to = to, .per = from->parts * from->batch};
  KUGEL_TRY(check_host(in, "in"));
  KUGEL_TRY(check_host(out, "out"));
  KUGEL_TRY(kugel__queue_of(g->device, queue, &c.queue));
  if (!from->batch)
    return KUGEL_OK;
  c.plane = list->systems * c.per * g->line;
  kugel_status s = kugel__lend(g->device, out, KUGEL__WRITE, c.queue, &c.loans[0]);
  if (!s)
    s = kugel__lend(g->device, in, KUGEL__READ, c.queue, &c.loans[1]);
  if (!s)
    s = with_work(&c);
  bool host = c.loans[0].host || c.loans[1].host;
  s = kugel__lend_end(2, c.loans, c.queue, s);
  if (s || queue || host)
    return s;
  return g->device->ops->wait(c.queue);
}
