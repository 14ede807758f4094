/* SPDX-License-Identifier: BSD-3-Clause */
/* Radial convolution of arrays of maps on a device. */
#include "core/array.h"
#include "device/lend.h"
#include "sphere/grid/grid.h"
#include "sphere/radial/gpu_plan.h"

/* A copy of a map that is to be replaced, for methods that cannot do so. */
static kugel_status set_apart(const kugel_radial *p, kugel__radial_pass *pass, kugel__mem copy)
{
  size_t size = pass->f32 ? 4 : 8;
  kugel__mem from = {pass->in.base, pass->in.offset + (size_t)pass->in_at * size};
  pass->in = copy;
  pass->in_at = 0;
  return kugel__device_copy(p->gpu->device, KUGEL__WITHIN, copy, from, (size_t)p->grid->npix * size,
                            pass->queue);
}

static kugel_status run_map(const kugel_radial *p, bool f32, bool adjoint, int64_t at, kugel__loan loan[2],
                            kugel__mem copy, kugel_queue *queue)
{
  int64_t size = f32 ? 4 : 8;
  kugel__radial_pass pass = {.in = {loan[0].mem.base, 0},
                             .out = {loan[1].mem.base, 0},
                             .in_at = at + (int64_t)loan[0].mem.offset / size,
                             .out_at = at + (int64_t)loan[1].mem.offset / size,
                             .queue = queue,
                             .f32 = f32,
                             .adjoint = adjoint};
  if (copy.base)
    KUGEL_TRY(set_apart(p, &pass, copy));
  return kugel__radial_gpu_map(p, &pass);
}

kugel_status kugel__radial_gpu_run(const kugel_radial *p, const kugel_array *in, const kugel_array *out,
                                   bool f32, int64_t n, bool adjoint, kugel_queue *asked)
{
  kugel__radial_gpu *g = p->gpu;
  kugel__loan loan[2] = {{.host = NULL}, {.host = NULL}};
  kugel__mem copy = {0};
  kugel_queue *queue;
  size_t size = f32 ? 4 : 8, bytes = (size_t)p->grid->npix * size;
  KUGEL_TRY(kugel__queue_of(g->device, asked, &queue));
  KUGEL_CHECK(in->byte_offset % size == 0 && out->byte_offset % size == 0, KUGEL_EINVAL,
              "the arrays start %llu and %llu bytes into their memory, must be multiples of %zu",
              (unsigned long long)in->byte_offset, (unsigned long long)out->byte_offset, size);
  pthread_mutex_lock(&g->lock);
  kugel_status s = kugel__radial_gpu_enter(g, queue);
  if (!s)
    s = kugel__lend(g->device, in, KUGEL__READ, queue, &loan[0]);
  if (!s)
    s = kugel__lend(g->device, out, KUGEL__WRITE | (g->covered ? 0 : KUGEL__READ), queue, &loan[1]);
  bool apart = loan[0].mem.base != loan[1].mem.base || !g->modes;
  if (!s && !apart)
    s = kugel__device_scratch_get(g->device, bytes, &copy.base);
  for (int64_t k = 0; k < n && !s; k++)
    s = run_map(p, f32, adjoint, k * p->grid->npix * (p->opts.spin ? 2 : 1), loan, copy, queue);
  s = kugel__lend_end(2, loan, queue, s);
  s = kugel__radial_gpu_leave(g, queue, !asked || copy.base, s);
  kugel__device_scratch_put(g->device, copy.base, bytes);
  pthread_mutex_unlock(&g->lock);
  return s;
}

static kugel_status bank_map(kugel_radial *const *plans, int n, const int *which, int top,
                             kugel__radial_pass pass, int64_t first)
{
  const kugel_radial *high = plans[top];
  kugel__radial_modes *from = high->gpu->modes;
  kugel_queue *queue = pass.queue;
  for (int i = 0; i < n; i++) /* before the coefficients, whose memory that takes */
    if (plans[which[i]]->opts.normalise)
      KUGEL_TRY(kugel__radial_gpu_level(plans[which[i]], &pass));
  KUGEL_TRY(kugel__radial_modes_analyse(high, from, &pass, queue));
  for (int last = 0; last < 2; last++) /* the plan whose memory the coefficients are in comes last */
    for (int i = 0; i < n; i++) {
      const kugel_radial *p = plans[which[i]];
      if ((which[i] == top) != last)
        continue;
      pass.out_at = first + which[i] * p->grid->npix;
      KUGEL_TRY(kugel__radial_modes_synthesise(p, p->gpu->modes, high, from, &pass, queue));
      pass.level = p->opts.normalise;
      pass.seen = p->gpu->seen;
      pass.least = kugel__radial_level_least(p);
      KUGEL_TRY(kugel__radial_modes_finish(p, p->gpu->modes, &pass, pass.level, queue));
    }
  return KUGEL_OK;
}

kugel_status kugel__radial_gpu_bank(kugel_radial *const *plans, int n, const int *which, int top,
                                    const kugel_array *in, const kugel_array *out, bool f32,
                                    kugel_queue *asked)
{
  kugel__radial_gpu *g = plans[top]->gpu;
  kugel__loan loan[2] = {{.host = NULL}, {.host = NULL}};
  kugel_queue *queue;
  int64_t size = f32 ? 4 : 8;
  kugel_status s = KUGEL_OK;
  KUGEL_TRY(kugel__queue_of(g->device, asked, &queue));
  for (int i = 0; i < n; i++) {
    pthread_mutex_lock(&plans[which[i]]->gpu->lock);
    s = s ? s : kugel__radial_gpu_enter(plans[which[i]]->gpu, queue);
  }
  if (!s)
    s = kugel__lend(g->device, in, KUGEL__READ, queue, &loan[0]);
  if (!s) /* others write to out, too */
    s = kugel__lend(g->device, out, KUGEL__WRITE | KUGEL__READ, queue, &loan[1]);
  kugel__radial_pass pass = {.in = {loan[0].mem.base, 0}, .out = {loan[1].mem.base, 0}, .f32 = f32};
  pass.queue = queue;
  pass.in_at = (int64_t)loan[0].mem.offset / size;
  if (!s)
    s = bank_map(plans, n, which, top, pass, (int64_t)loan[1].mem.offset / size);
  s = kugel__lend_end(2, loan, queue, s);
  for (int i = n - 1; i >= 0; i--) {
    s = kugel__radial_gpu_leave(plans[which[i]]->gpu, queue, !asked, s);
    pthread_mutex_unlock(&plans[which[i]]->gpu->lock);
  }
  return s;
}
