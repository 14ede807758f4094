/* SPDX-License-Identifier: BSD-3-Clause */
/* What regridding needs on a device besides transforms: the window, and masks of arrays in its memory. */
#include "core/alloc.h"
#include "core/array.h"
#include "core/ctx.h"
#include "device/lend.h"
#include "sphere/grid/mapops.h"
#include "sphere/sht/regrid.h"

enum { THREADS = 128, BLOCKS = 1024 };

/* The struct of kernels/window.cl. */
typedef struct mask_args {
  int64_t at, n;
  double least;
  int32_t maps, f32;
} mask_args;

kugel_status kugel__regrid_gpu_create(kugel_regrid *p)
{
  static const char *const names[KUGEL__REGRID_KERNELS] = {"window", "find_bad", "blank"};
  kugel__device *d = kugel__ctx_device(p->ctx);
  size_t bytes = (size_t)(p->opts.lmax + 1) * 8;
  if (d->ops->type == KUGEL_CPU || !(p->window || p->mask_from))
    return KUGEL_OK;
  KUGEL_TRY(kugel__module_get(p->ctx, &(kugel__module_spec){.name = "sphere/sht/window"}, &p->module));
  for (int i = 0; i < KUGEL__REGRID_KERNELS; i++)
    KUGEL_TRY(kugel__module_kernel(p->module, names[i], &p->kernels[i], NULL));
  if (!p->window)
    return KUGEL_OK;
  KUGEL_TRY(kugel__device_alloc(d, bytes, &p->window_there.base));
  return kugel__device_copy(d, KUGEL__UPLOAD, p->window_there, (kugel__mem){p->window, 0}, bytes, NULL);
}

void kugel__regrid_gpu_destroy(kugel_regrid *p)
{
  kugel__device_free(kugel__ctx_device(p->ctx), p->window_there.base);
  kugel__module_put(p->module);
}

kugel_status kugel__regrid_gpu_window(const kugel_regrid *p, kugel__mem alm, int64_t sets, kugel_queue *queue)
{
  int32_t lmax = (int32_t)p->opts.lmax;
  kugel__grid grid = {.blocks = {(uint32_t)lmax + 1, (uint32_t)sets}, .threads = {THREADS}};
  kugel__arg args[] = {KUGEL__MEM_ARG(alm), KUGEL__MEM_ARG(p->window_there), KUGEL__VALUE_ARG(lmax),
                       KUGEL__VALUE_ARG(p->from->nalm)};
  return p->window ? kugel__launch(queue->device, p->kernels[KUGEL__WINDOW], &grid, 4, args, queue)
                   : KUGEL_OK;
}

/* ---- masks ---- */

/* Of one set: the mask, a count of bad pixels, its coefficients, the part of good pixels about an output's.
 */
typedef struct memory {
  kugel__mem mask, bad, alm, good;
  size_t bytes;
} memory;

static kugel_status take_memory(const kugel_regrid *p, kugel__device *d, memory *m)
{
  enum { ALIGN = 512 };
  size_t mask = (size_t)kugel__round_up(p->from->npix * 8, ALIGN),
         alm = (size_t)kugel__round_up(p->from->nalm * 16, ALIGN);
  void *base = NULL;
  m->bytes = ALIGN + mask + alm + (size_t)p->to->npix * 8;
  KUGEL_TRY(kugel__device_scratch_get(d, m->bytes, &base));
  m->bad = (kugel__mem){base, 0};
  m->mask = (kugel__mem){base, ALIGN};
  m->alm = (kugel__mem){base, ALIGN + mask};
  m->good = (kugel__mem){base, ALIGN + mask + alm};
  return KUGEL_OK;
}

static mask_args args_of(const kugel_array *a, int maps, int64_t npix, int64_t set, double least)
{
  int64_t first = (int64_t)(a->byte_offset / (a->dtype.bits / 8));
  return (mask_args){
      .at = first + set * maps * npix, .n = npix, .least = least, .maps = maps, .f32 = a->dtype.bits == 32};
}

static kugel_array view_of(const kugel_queue *queue, kugel__mem mem, kugel_dtype type, int64_t *n)
{
  return (kugel_array){.data = mem.base,
                       .byte_offset = mem.offset,
                       .device = queue->device->info.device,
                       .ndim = 1,
                       .dtype = type,
                       .shape = n};
}

static kugel_status find_bad(const kugel_regrid *p, const kugel_array *in, int64_t set, const memory *m,
                             int32_t *bad, kugel_queue *queue)
{
  mask_args t = args_of(in, p->from->n_map, p->from->npix, set, 0);
  kugel__mem maps = {in->data, 0};
  kugel__grid grid = {.blocks = {BLOCKS}, .threads = {THREADS}};
  kugel__arg args[] = {KUGEL__MEM_ARG(maps), KUGEL__MEM_ARG(m->mask), KUGEL__MEM_ARG(m->bad),
                       KUGEL__VALUE_ARG(t)};
  KUGEL_TRY(kugel__device_fill(queue->device, m->bad, 0, sizeof *bad, queue));
  KUGEL_TRY(kugel__launch(queue->device, p->kernels[KUGEL__FIND_BAD], &grid, 4, args, queue));
  KUGEL_TRY(
      kugel__device_copy(queue->device, KUGEL__DOWNLOAD, (kugel__mem){bad, 0}, m->bad, sizeof *bad, queue));
  return queue->device->ops->wait(queue);
}

static kugel_status blank(const kugel_regrid *p, const kugel_array *out, int64_t set, const memory *m,
                          kugel_queue *queue)
{
  mask_args t = args_of(out, p->from->n_map, p->to->npix, set, p->opts.least_good);
  kugel__mem maps = {out->data, 0};
  kugel__grid grid = {.blocks = {BLOCKS}, .threads = {THREADS}};
  kugel__arg args[] = {KUGEL__MEM_ARG(maps), KUGEL__MEM_ARG(m->good), KUGEL__VALUE_ARG(t)};
  return kugel__launch(queue->device, p->kernels[KUGEL__BLANK], &grid, 3, args, queue);
}

static kugel_status mask(const kugel_regrid *p, const kugel_array *in, const kugel_array *out, int64_t set,
                         const memory *m, kugel_queue *queue)
{
  int64_t from = p->from->npix, to = p->to->npix, nalm = p->from->nalm;
  kugel_array masks = view_of(queue, m->mask, KUGEL_F64, &from),
              alm = view_of(queue, m->alm, KUGEL_C128, &nalm), good = view_of(queue, m->good, KUGEL_F64, &to);
  int32_t bad = 0;
  KUGEL_TRY(find_bad(p, in, set, m, &bad, queue));
  if (!bad)
    return KUGEL_OK;
  KUGEL_TRY(kugel_sht_analysis(p->mask_from, &masks, &alm, queue));
  KUGEL_TRY(kugel__regrid_gpu_window(p, m->alm, 1, queue));
  KUGEL_TRY(kugel_sht_synthesis(p->mask_to, &alm, &good, queue));
  return blank(p, out, set, m, queue);
}

kugel_status kugel__regrid_gpu_mask(const kugel_regrid *p, const kugel_array *in, const kugel_array *out,
                                    int64_t sets, kugel_queue *queue)
{
  memory m;
  KUGEL_TRY(take_memory(p, queue->device, &m));
  kugel_status s = KUGEL_OK;
  for (int64_t k = 0; k < sets && !s; k++)
    s = mask(p, in, out, k, &m, queue);
  kugel_status waited = queue->device->ops->wait(queue);
  kugel__device_scratch_put(queue->device, m.bad.base, m.bytes);
  return s ? s : waited;
}
