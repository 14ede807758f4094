/* SPDX-License-Identifier: BSD-3-Clause */
/* Solves along lines on devices. Lines of the middle axis are columns [n, outer inner] of a copy. */
#include <string.h>
#include "core/alloc.h"
#include "core/parallel.h"
#include "stencil/gpu.h"

enum { THREADS = 128 /* of a block of kernels/edge.cl */ };

typedef kugel__stencil_level level;

/* Bytes of a table, and where the one after z begins. */
static size_t z_bytes(const kugel__stencil_solver *s)
{
  return (size_t)kugel__round_up((s->each ? s->outer * s->n * s->inner : s->n) * (s->single ? 4 : 8), 512);
}

static size_t line_bytes(const kugel__stencil_solver *s)
{
  return (size_t)kugel__round_up((s->each ? s->outer * s->inner : 1) * (s->single ? 4 : 8), 512);
}

kugel_status kugel__stencil_gpu_solver_make(const kugel_stencil *p, kugel__stencil_solver *s)
{
  const size_t z = z_bytes(s), line = line_bytes(s), bytes = z + 2 * line;
  const int64_t matrices = s->each ? s->outer * s->inner : 1;
  if (!s->periodic)
    return KUGEL_OK;
  char *table = kugel__calloc(p->ctx, bytes);
  KUGEL_CHECK(table, KUGEL_ENOMEM, "no memory for tables of %zu bytes", bytes);
  memcpy(table, s->z, (size_t)((s->each ? matrices : 1) * s->n * (s->single ? 4 : 8)));
  for (int64_t m = 0; m < matrices; m++)
    for (int k = 0; k < 2; k++) {
      const double value = k ? s->divide[m] : s->ratio[m];
      char *to = table + z + (k ? line : 0);
      if (s->single)
        ((float *)(void *)to)[m] = (float)value;
      else
        ((double *)(void *)to)[m] = value;
    }
  kugel_status status = kugel__device_alloc(p->gpu->dev, bytes, &s->tables);
  if (!status)
    status = kugel__device_copy(p->gpu->dev, KUGEL__UPLOAD, (kugel__mem){s->tables, 0},
                                (kugel__mem){table, 0}, bytes, NULL);
  kugel__free(p->ctx, table);
  return status;
}

static kugel_array array_of(const kugel_stencil *p, const level *l, int ndim, int64_t *shape)
{
  return (kugel_array){.data = l->mem.base,
                       .byte_offset = l->mem.offset + (size_t)l->at * (p->single ? 4 : 8),
                       .device = p->ctx->device,
                       .ndim = ndim,
                       .dtype = p->single ? KUGEL_F32 : KUGEL_F64,
                       .shape = shape};
}

/* x[outer, n, inner] to or from columns [n, outer, inner]. */
static kugel_status turn(const kugel_stencil *p, const kugel__stencil_solver *s, const level *x,
                         const level *columns, bool back, int64_t outer, int64_t inner, kugel_queue *queue)
{
  int64_t shape[3] = {s->n, outer, inner}, strides[3] = {inner, s->n * inner, 1};
  const kugel_array to = array_of(p, columns, 3, shape);
  kugel_array from = array_of(p, x, 3, shape);
  from.strides = strides;
  return kugel_array_copy(p->ctx, back ? &to : &from, back ? &from : &to, NULL, queue);
}

static kugel_status correct(const kugel_stencil *p, const kugel__stencil_solver *s, const level *x,
                            int64_t lines, bool rows, kugel_queue *queue)
{
  struct kugel__stencil_gpu *g = p->gpu;
  const size_t word = p->single ? 4 : 8;
  kugel__gpu_hold hold = {NULL, NULL};
  KUGEL_TRY(kugel__gpu_work_take(g->dev, &g->lines, (size_t)lines * word, queue, &hold));
  const int64_t ratio = (int64_t)(z_bytes(s) / word), divide = ratio + (int64_t)(line_bytes(s) / word);
  const int64_t args[8] = {s->n, lines, rows, s->each, x->at, 0, ratio, divide};
  kugel__mem mem = x->mem, tables = {s->tables, 0}, parts = {hold.memory, 0};
  kugel__arg list[] = {
      KUGEL__MEM_ARG(mem), KUGEL__MEM_ARG(tables), KUGEL__MEM_ARG(parts), {args, sizeof args}};
  const int64_t most = 1 << 20, blocks[2] = {kugel__min((lines + THREADS - 1) / THREADS, most),
                                             kugel__min((lines * s->n + THREADS - 1) / THREADS, most)};
  kugel_status status = KUGEL_OK;
  for (int k = 0; k < 2 && !status; k++)
    status =
        kugel__launch(g->dev, k ? g->correct : g->corrections,
                      &(kugel__grid){.blocks = {(uint32_t)blocks[k]}, .threads = {THREADS}}, 4, list, queue);
  kugel__gpu_work_give(g->dev, &hold);
  return status;
}

static kugel_status copy(const kugel_stencil *p, const level *from, const level *to, kugel_queue *queue)
{
  const size_t word = p->single ? 4 : 8;
  const kugel__mem src = {from->mem.base, from->mem.offset + (size_t)from->at * word},
                   dst = {to->mem.base, to->mem.offset + (size_t)to->at * word};
  return kugel__device_copy(p->gpu->dev, KUGEL__WITHIN, dst, src, (size_t)p->nodes * word, queue);
}

kugel_status kugel__stencil_gpu_solve(const kugel_stencil *p, const kugel__stencil_solver *s, int axis,
                                      const kugel__stencil_level *x, const kugel__stencil_level *room,
                                      kugel_queue *queue)
{
  const size_t begin = x->mem.offset + (size_t)x->at * (p->single ? 4 : 8);
  int64_t outer = 1, inner = 1;
  for (int d = 0; d < 3; d++)
    *(d < axis ? &outer : &inner) *= d == axis ? 1 : p->n[d];
  const bool rows = inner == 1, turned = outer > 1 && inner > 1,
             moved =
                 begin % 512 && p->ctx->device.type != KUGEL_CUDA; // arrays of OpenCL start where buffers may
  const level *own = moved ? &room[1] : x, *at = turned ? &room[0] : own;
  int64_t shape[2] = {rows ? outer : s->n, rows ? s->n : outer * inner};
  const kugel_array a = array_of(p, at, 2, shape);
  if (moved)
    KUGEL_TRY(copy(p, x, own, queue));
  if (turned)
    KUGEL_TRY(turn(p, s, own, at, false, outer, inner, queue));
  KUGEL_TRY(kugel_banded_solve(s->plan[0], &a, &a, queue));
  if (s->periodic)
    KUGEL_TRY(correct(p, s, at, outer * inner, rows, queue));
  if (turned)
    KUGEL_TRY(turn(p, s, own, at, true, outer, inner, queue));
  return moved ? copy(p, own, x, queue) : KUGEL_OK;
}
