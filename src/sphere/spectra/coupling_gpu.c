/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "codegen/module.h"
#include "core/alloc.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "device/lend.h"
#include "sphere/spectra/coupling_gpu.h"

/* As in the texts. */
enum { THREADS = 128, DIAGONALS = 4, DEGREES = 2, SIDE = 32 };
typedef struct tile_args {
  int64_t lmax, lmax_mask, first, count, stride, mask;
} tile_args;
typedef struct sums_args {
  int64_t n, first, count, stride, bands;
  int32_t family[KUGEL__SUMS];
} sums_args;
typedef struct matrix_args {
  int64_t n, first, count, stride, out;
} matrix_args;

static const int64_t MOST_BYTES = 1 << 30, MOST_MASKS = 4096;

/* Diagonals on the device: [masks][families][count][stride]. */
typedef struct slab {
  int64_t first, count, stride, mask, masks;
} slab;

typedef struct job job;
typedef kugel_status (*slab_use)(job *j, const slab *some);

struct job {
  kugel_ctx *ctx;
  kugel__device *device;
  kugel_queue *queue;
  const kugel_coupling_opts *o;
  int families;
  bool blocks_of_one; /* a degree per thread, a diagonal per block */
  kugel__module *module[3];
  kugel__kernel *tiles[2]; /* NULL: none is needed */
  kugel__kernel *end;      /* of diagonals.cl */
  kugel__mem tables, xi;
  int64_t lmax_mask, masks, bytes;
  slab_use use;
  /* of the uses */
  kugel__diagonals_use host;
  void *arg;
  double *data;
  const kugel__band_sums *sums;
  int count;
  const int *family;
  kugel__mem band, in, out;
};

bool kugel__coupling_on_device(kugel_ctx *ctx)
{
  const kugel_device_info *info = &kugel__ctx_device(ctx)->info;
  return info->device.type != KUGEL_CPU && info->kernels && info->fp64;
}

static kugel_status get_kernels(job *j, const char *end)
{
  const kugel_coupling_opts *o = j->o;
  for (int odd = 0; odd < 2; odd++) {
    char defines[128];
    int families = o->families & (odd ? KUGEL_COUPLING_MINUS : KUGEL_COUPLING_ALL ^ KUGEL_COUPLING_MINUS);
    if (!families)
      continue;
    snprintf(defines, sizeof defines, "#define S1 %d\n#define S2 %d\n#define FAMILIES %d\n#define ODD %d\n",
             o->spin1, o->spin2, o->families, odd);
    kugel__module_spec spec = {.name = "sphere/spectra/coupling", .defines = defines};
    KUGEL_TRY(kugel__module_get(j->ctx, &spec, &j->module[odd]));
    KUGEL_TRY(kugel__module_kernel(j->module[odd], "tiles", &j->tiles[odd], NULL));
  }
  if (!end)
    return KUGEL_OK;
  KUGEL_TRY(
      kugel__module_get(j->ctx, &(kugel__module_spec){.name = "sphere/spectra/diagonals"}, &j->module[2]));
  return kugel__module_kernel(j->module[2], end, &j->end, NULL);
}

static kugel_status up(job *j, const void *from, int64_t bytes, kugel__mem *to)
{
  KUGEL_TRY(kugel__device_scratch_get(j->device, (size_t)bytes, &to->base));
  return kugel__device_copy(j->device, KUGEL__UPLOAD, *to, (kugel__mem){(void *)(uintptr_t)from, 0},
                            (size_t)bytes, j->queue);
}

static kugel_status zeros(job *j, int64_t bytes, kugel__mem *to)
{
  KUGEL_TRY(kugel__device_scratch_get(j->device, (size_t)bytes, &to->base));
  return kugel__device_fill(j->device, *to, 0, (size_t)bytes, j->queue);
}

static kugel_status down(job *j, kugel__mem from, int64_t bytes, void *to)
{
  KUGEL_TRY(
      kugel__device_copy(j->device, KUGEL__DOWNLOAD, (kugel__mem){to, 0}, from, (size_t)bytes, j->queue));
  return j->device->ops->wait(j->queue);
}

/* p, 2 j p, r, 2 (g + 1) r, and the spectra of the masks. */
static kugel_status tables(job *j)
{
  int64_t n = j->o->lmax + 1, twice = 2 * j->o->lmax + 1, all = 2 * n + 2 * twice, width = j->lmax_mask + 1;
  double *host;
  KUGEL_ALLOC(j->ctx, host, 8 * (size_t)(all + j->masks * width));
  kugel__coupling_fill(j->o->lmax, host, host + 2 * n, host + n, host + 2 * n + twice);
  for (int64_t m = 0; m < j->masks; m++)
    kugel__coupling_spectrum(j->lmax_mask, j->o->mask_cl + m * (j->o->lmax_mask + 1), host + all + m * width);
  kugel_status s = up(j, host, 8 * (all + j->masks * width), &j->tables);
  kugel_status waited = j->device->ops->wait(j->queue);
  kugel__free(j->ctx, host);
  return s ? s : waited;
}

/* Memory for diagonals: all of one mask or several, or some of one. */
static kugel_status room(job *j, slab *most)
{
  int64_t n = j->o->lmax + 1, stride = kugel__round_up(n, 8), limit = kugel__ctx_limit(j->ctx) / 2;
  uint64_t available, total;
  KUGEL_TRY(j->device->ops->memory(j->device, &available, &total));
  int64_t largest =
      kugel__min(MOST_BYTES, (int64_t)(j->device->info.max_alloc ? j->device->info.max_alloc : total));
  limit = kugel__min(limit ? limit : largest, kugel__min(largest, (int64_t)(available / 2)));
  int64_t diagonal = 8 * j->families * stride;
  most->count = kugel__min(n, kugel__max(DIAGONALS, limit / diagonal / DIAGONALS * DIAGONALS));
  most->masks = most->count < n
                    ? 1
                    : kugel__min(kugel__min(j->masks, MOST_MASKS), kugel__max(1, limit / (n * diagonal)));
  j->bytes = most->masks * most->count * diagonal;
  return kugel__device_scratch_get(j->device, (size_t)j->bytes, &j->xi.base);
}

static kugel_status make(const job *j, const slab *s)
{
  int64_t n = j->o->lmax + 1 - s->first, width = THREADS * (j->blocks_of_one ? 1 : DEGREES),
          some = j->blocks_of_one ? 1 : DIAGONALS;
  tile_args t = {.lmax = j->o->lmax,
                 .lmax_mask = j->lmax_mask,
                 .first = s->first,
                 .count = s->count,
                 .stride = s->stride,
                 .mask = s->mask};
  kugel__arg args[] = {KUGEL__MEM_ARG(j->tables), KUGEL__MEM_ARG(j->xi), KUGEL__VALUE_ARG(t)};
  kugel__grid grid = {.blocks = {(uint32_t)((n + width - 1) / width),
                                 (uint32_t)((s->count + some - 1) / some), (uint32_t)s->masks},
                      .threads = {THREADS}};
  for (int odd = 0; odd < 2; odd++)
    if (j->tiles[odd])
      KUGEL_TRY(kugel__launch(j->device, j->tiles[odd], &grid, 3, args, j->queue));
  return KUGEL_OK;
}

/* Below diagonal d of n, about this part of the work is done. */
static double done(int64_t d, int64_t n)
{
  return 1 - pow(1 - (double)d / (double)n, 3);
}

static kugel_status slabs(job *j, const slab *most)
{
  int64_t n = j->o->lmax + 1;
  for (int64_t m = 0; m < j->masks; m += most->masks)
    for (int64_t d = 0; d < n; d += most->count) {
      slab s = {.first = d,
                .count = kugel__min(most->count, n - d),
                .stride = kugel__round_up(n - d, 8),
                .mask = m,
                .masks = kugel__min(most->masks, j->masks - m)};
      double masks = (double)j->masks;
      kugel__progress_stage(((double)m + done(d, n) * (double)s.masks) / masks,
                            ((double)m + done(d + s.count, n) * (double)s.masks) / masks, "couplings");
      KUGEL_TRY(make(j, &s));
      KUGEL_TRY(j->use(j, &s));
      if (d + s.count < n || m + s.masks < j->masks) /* a signal is seen between slabs */
        KUGEL_TRY(j->device->ops->wait(j->queue));
      KUGEL_TRY(kugel__progress_step(1));
    }
  return KUGEL_OK;
}

static kugel_status begin(job *j, kugel_ctx *ctx, const kugel_coupling_opts *o, int64_t masks,
                          kugel_queue *queue, const char *end)
{
  bool spins = o->families & (KUGEL_COUPLING_PLUS | KUGEL_COUPLING_MINUS);
  j->ctx = ctx;
  j->device = kugel__ctx_device(ctx);
  j->o = o;
  j->masks = masks;
  j->families = kugel__coupling_count((unsigned)o->families);
  j->blocks_of_one = o->families != KUGEL_COUPLING_00 && !(o->spin2 == 2 && (o->spin1 == 2 || !spins));
  j->lmax_mask = kugel__min(o->lmax_mask, 2 * o->lmax);
  KUGEL_TRY(kugel__queue_of(j->device, queue, &j->queue));
  KUGEL_TRY(get_kernels(j, end));
  return tables(j);
}

/* All work that was begun is done before memory goes back. */
static kugel_status end(job *j, kugel_status s)
{
  const kugel__mem *mem[] = {&j->tables, &j->xi, &j->band, &j->in, &j->out};
  kugel_status waited = j->queue ? j->device->ops->wait(j->queue) : KUGEL_OK;
  int64_t n = j->o->lmax + 1, bands = j->sums ? j->sums->bands : 1;
  int64_t bytes[] = {8 * (6 * j->o->lmax + 4 + j->masks * (j->lmax_mask + 1)), j->bytes, 4 * n,
                     8 * j->count * n, 8 * j->count * bands * n};
  for (int i = 0; i < 5; i++)
    kugel__device_scratch_put(j->device, mem[i]->base, (size_t)bytes[i]);
  for (int i = 0; i < 3; i++)
    kugel__module_put(j->module[i]);
  return s ? s : waited;
}

static kugel_status each(job *j, slab_use use)
{
  slab most;
  j->use = use;
  KUGEL_TRY(room(j, &most));
  return slabs(j, &most);
}

/* ---- on the host ---- */

static kugel_status to_host(job *j, const slab *s)
{
  KUGEL_TRY(down(j, j->xi, 8 * j->families * s->count * s->stride, j->data));
  kugel__diagonals some = {.lmax = j->o->lmax,
                           .first = s->first,
                           .count = s->count,
                           .stride = s->stride,
                           .families = j->families,
                           .data = j->data};
  return j->host(j->arg, &some);
}

kugel_status kugel__coupling_gpu_each(kugel_ctx *ctx, const kugel_coupling_opts *o, kugel__diagonals_use use,
                                      void *arg)
{
  job j = {.host = use, .arg = arg};
  slab most;
  kugel_status s = begin(&j, ctx, o, 1, NULL, NULL);
  s = s ? s : room(&j, &most);
  if (!s) {
    j.use = to_host;
    j.data = kugel__scratch_get(ctx, (size_t)j.bytes);
    s = j.data ? slabs(&j, &most)
               : KUGEL_FAIL(KUGEL_ENOMEM, "no memory for %lld bytes of couplings", (long long)j.bytes);
    kugel__scratch_put(ctx, j.data);
  }
  return end(&j, s);
}

/* ---- sums ---- */

static kugel_status add(job *j, const slab *s)
{
  sums_args t = {.n = j->o->lmax + 1,
                 .first = s->first,
                 .count = s->count,
                 .stride = s->stride,
                 .bands = j->sums ? j->sums->bands : 0};
  for (int i = 0; i < j->count; i++)
    t.family[i] = j->family[i];
  kugel__arg sums[] = {KUGEL__MEM_ARG(j->xi), KUGEL__MEM_ARG(j->band), KUGEL__MEM_ARG(j->in),
                       KUGEL__MEM_ARG(j->out), KUGEL__VALUE_ARG(t)};
  kugel__arg products[] = {KUGEL__MEM_ARG(j->xi), KUGEL__MEM_ARG(j->in), KUGEL__MEM_ARG(j->out),
                           KUGEL__VALUE_ARG(t)};
  kugel__grid grid = {.blocks = {(uint32_t)((t.n + THREADS - 1) / THREADS), (uint32_t)j->count},
                      .threads = {THREADS}};
  return kugel__launch(j->device, j->end, &grid, j->sums ? 5 : 4, j->sums ? sums : products, j->queue);
}

kugel_status kugel__coupling_gpu_sums(kugel_ctx *ctx, const kugel_coupling_opts *o,
                                      const kugel__band_sums *sums)
{
  int64_t n = o->lmax + 1, bytes = 8 * sums->count * sums->bands * n;
  job j = {.sums = sums, .count = sums->count, .family = sums->family};
  kugel_status s = begin(&j, ctx, o, 1, NULL, "sums");
  s = s ? s : up(&j, sums->band, 4 * n, &j.band);
  s = s ? s : up(&j, sums->weight, 8 * j.count * n, &j.in);
  s = s ? s : zeros(&j, bytes, &j.out);
  s = s ? s : each(&j, add);
  s = s ? s : down(&j, j.out, bytes, sums->out);
  return end(&j, s);
}

kugel_status kugel__coupling_gpu_products(kugel_ctx *ctx, const kugel_coupling_opts *o, int count,
                                          const int *family, const double *in, double *out)
{
  int64_t bytes = 8 * count * (o->lmax + 1);
  job j = {.count = count, .family = family};
  kugel_status s = begin(&j, ctx, o, 1, NULL, "products");
  s = s ? s : up(&j, in, bytes, &j.in);
  s = s ? s : zeros(&j, bytes, &j.out);
  s = s ? s : each(&j, add);
  s = s ? s : down(&j, j.out, bytes, out);
  return end(&j, s);
}

/* ---- matrices ---- */

static kugel_status place(job *j, const slab *s)
{
  const kugel__loan *loan = j->arg;
  int64_t n = j->o->lmax + 1;
  matrix_args t = {.n = n,
                   .first = s->first,
                   .count = s->count,
                   .stride = s->stride,
                   .out = (int64_t)loan->mem.offset / 8 + s->mask * j->families * n * n};
  kugel__mem out = {loan->mem.base, 0};
  kugel__arg args[] = {KUGEL__MEM_ARG(j->xi), KUGEL__MEM_ARG(out), KUGEL__VALUE_ARG(t)};
  kugel__grid grid = {.blocks = {(uint32_t)((n - s->first + SIDE - 1) / SIDE),
                                 (uint32_t)((s->count + SIDE - 1) / SIDE),
                                 (uint32_t)(s->masks * j->families)},
                      .threads = {4 * SIDE}};
  return kugel__launch(j->device, j->end, &grid, 3, args, j->queue);
}

kugel_status kugel__coupling_gpu_matrices(kugel_ctx *ctx, const kugel_coupling_opts *o, int64_t masks,
                                          const kugel_array *xi, kugel_queue *queue)
{
  kugel__loan loan = {.host = NULL};
  job j = {.arg = &loan};
  kugel_status s = begin(&j, ctx, o, masks, queue, "matrices");
  s = s ? s : kugel__lend(j.device, xi, KUGEL__WRITE, j.queue, &loan);
  s = s ? s : each(&j, place);
  s = kugel__lend_end(1, &loan, j.queue, s);
  return end(&j, s);
}
