/* SPDX-License-Identifier: BSD-3-Clause */
/* Ring transforms on a device, one kernel each way: a block folds the coefficients of a pair, transforms
 * north + i south of one length in shared memory, and writes the pixels. Pairs whose blocks are alike share a
 * launch. */
#include <stdio.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "fft/rings_gpu_plan.h"

static const char *const names[] = {"ring_synth", "ring_adjoint", "ring_filter"};

static kugel_status table(const kugel__rings_gpu *p, const void *data, size_t bytes, kugel__mem *out)
{
  KUGEL_TRY(kugel__device_alloc(p->device, kugel__max((int64_t)bytes, 64), &out->base));
  return data ? kugel__device_copy(p->device, KUGEL__UPLOAD, *out, (kugel__mem){(void *)(uintptr_t)data, 0},
                                   bytes, NULL)
              : KUGEL_OK;
}

/* ---- plans ---- */

static kugel_status load_kernels(kugel__rings_gpu *p)
{
  char defines[CLASSES][160];
  int class_of_module[CLASSES], n = 1;
  kugel__module_spec specs[CLASSES + 1] = {{.name = "fft/ringtables"}};
  kugel__module *modules[CLASSES + 1];
  for (int c = 0; c < CLASSES; c++) {
    if (!p->classes[c].count)
      continue;
    snprintf(defines[c], sizeof defines[c], "#define THREADS %d\n#define BLOCKS %d\n#define ROOM %lld\n%s",
             shapes[c].threads, shapes[c].blocks,
             (long long)(c == IN_MEMORY ? 0 : kugel__rings_gpu_capacity(p->device, c)),
             c == IN_MEMORY ? "#define WORK_GLOBAL 1\n" : "");
    class_of_module[n - 1] = c;
    specs[n++] = (kugel__module_spec){.name = "fft/ringfft", .defines = defines[c]};
  }
  KUGEL_TRY(kugel__module_get_all(p->ctx, n, specs, modules));
  p->table_module = modules[0];
  for (int i = 1; i < n; i++)
    p->modules[class_of_module[i - 1]] = modules[i];
  KUGEL_TRY(kugel__module_kernel(p->table_module, "ring_tables", &p->make_tables, NULL));
  for (int c = 0; c < CLASSES; c++)
    for (int k = 0; k < KERNELS && p->modules[c]; k++)
      KUGEL_TRY(kugel__module_kernel(p->modules[c], names[k], &p->kernels[c][k], NULL));
  return KUGEL_OK;
}

// All units of a class, a block each; as many at a time as have room. The last of the args is *a.
static kugel_status launch_class(const kugel__rings_gpu *p, int class, int kernel, const unit_class *c, int n,
                                 const kugel__arg *args, ring_args *a, kugel_queue *queue)
{
  int32_t most = class == IN_MEMORY ? p->blocks / a->maps : c->count;
  a->room = c->room;
  for (int32_t done = 0; done < c->count; done += most) {
    a->first = c->first + done;
    kugel__grid g = {.blocks = {(uint32_t)(kugel__min(most, c->count - done) * a->maps)},
                     .threads = {(uint32_t)shapes[class].threads},
                     .shared = class == IN_MEMORY ? 0 : (size_t)c->room * 16};
    KUGEL_TRY(kugel__launch(p->device, p->kernels[class][kernel], &g, n, args, queue));
  }
  return KUGEL_OK;
}

static kugel_status make_tables(kugel__rings_gpu *p)
{
  kugel__grid g = {.blocks = {(uint32_t)p->nlines}, .threads = {256}};
  kugel__arg args[] = {KUGEL__MEM_ARG(p->line_table), KUGEL__MEM_ARG(p->tables), KUGEL__MEM_ARG(p->order)};
  if (!p->nlines)
    return KUGEL_OK;
  KUGEL_TRY(kugel__launch(p->device, p->make_tables, &g, 3, args, NULL));
  kugel__mem scratch = {NULL, 0};
  kugel_status status = table(p, NULL, (size_t)p->scratch * 16, &scratch);
  for (int c = 0; c < CLASSES && !status; c++) {
    ring_args a = {.maps = 1};
    kugel__arg more[] = {KUGEL__MEM_ARG(p->unit_table), KUGEL__MEM_ARG(p->line_table),
                         KUGEL__MEM_ARG(p->tables), KUGEL__MEM_ARG(scratch), KUGEL__VALUE_ARG(a)};
    status = launch_class(p, c, FILTER, &p->filters[c], 5, more, &a, NULL);
  }
  kugel__device_free(p->device, scratch.base);
  return status;
}

static kugel_status build(kugel__rings_gpu *p, const kugel__rings_desc *desc)
{
  KUGEL_TRY(kugel__rings_gpu_units(p, desc));
  KUGEL_TRY(load_kernels(p));
  KUGEL_TRY(table(p, p->jobs, (size_t)p->njobs * sizeof *p->jobs, &p->job_table));
  KUGEL_TRY(table(p, p->lines, (size_t)p->nlines * sizeof *p->lines, &p->line_table));
  KUGEL_TRY(table(p, p->units, (size_t)(p->njobs + p->nlines) * sizeof *p->units, &p->unit_table));
  KUGEL_TRY(table(p, NULL, (size_t)p->numbers * 16, &p->tables));
  KUGEL_TRY(table(p, NULL, (size_t)p->places * 4, &p->order));
  return make_tables(p);
}

kugel_status kugel__rings_gpu_create(kugel_ctx *ctx, const kugel__rings_desc *desc, kugel__rings_gpu **out)
{
  *out = NULL;
  kugel__rings_gpu *p = kugel__calloc(ctx, sizeof *p);
  KUGEL_CHECK(p, KUGEL_ENOMEM, "no memory for a plan of rings");
  p->ctx = kugel__ctx_retain(ctx);
  p->device = kugel__ctx_device(ctx);
  p->mmax = desc->mmax;
  p->blocks = (int32_t)kugel__max(KUGEL__RINGS_GPU_MAPS, 2 * p->device->info.units);
  kugel_status s = build(p, desc);
  kugel__free(ctx, p->jobs);
  kugel__free(ctx, p->lines);
  kugel__free(ctx, p->units);
  p->jobs = NULL;
  p->lines = NULL;
  p->units = NULL;
  if (s) {
    kugel__rings_gpu_destroy(p);
    return s;
  }
  *out = p;
  return KUGEL_OK;
}

void kugel__rings_gpu_destroy(kugel__rings_gpu *p)
{
  if (!p)
    return;
  kugel_ctx *ctx = p->ctx;
  for (int c = 0; c < CLASSES; c++)
    kugel__module_put(p->modules[c]);
  kugel__module_put(p->table_module);
  void *tables[] = {p->job_table.base, p->line_table.base, p->unit_table.base, p->tables.base, p->order.base};
  for (int i = 0; i < 5; i++)
    kugel__device_free(p->device, tables[i]);
  kugel__free(ctx, p);
  kugel_ctx_destroy(ctx);
}

/* ---- execution ---- */

size_t kugel__rings_gpu_work(const kugel__rings_gpu *p)
{
  return (size_t)p->scratch * 16 + 64;
}

static kugel_status transform(const kugel__rings_gpu *p, const kugel__rings_gpu_job *job, int kernel,
                              kugel_queue *queue)
{
  ring_args a = {.maps = job->maps,
                 .f32 = job->f32,
                 .weighted = job->weight.base != NULL,
                 .check = job->check,
                 .row = (int32_t)job->row,
                 .map = job->map_at,
                 .map_stride = job->map_stride,
                 .leg = job->leg_at,
                 .leg_stride = job->leg_stride};
  const kugel__mem *weight = job->weight.base ? &job->weight : &job->work;
  const kugel__mem *bad = job->bad.base ? &job->bad : &job->work;
  kugel__arg args[11] = {KUGEL__MEM_ARG(p->job_table),  KUGEL__MEM_ARG(p->unit_table),
                         KUGEL__MEM_ARG(p->line_table), KUGEL__MEM_ARG(p->tables),
                         KUGEL__MEM_ARG(p->order),      KUGEL__MEM_ARG(job->leg),
                         KUGEL__MEM_ARG(job->map),      KUGEL__MEM_ARG(*weight)};
  int n = 8;
  if (kernel == ADJOINT)
    args[n++] = KUGEL__MEM_ARG(*bad);
  args[n++] = KUGEL__MEM_ARG(job->work);
  args[n++] = KUGEL__VALUE_ARG(a);
  for (int c = CLASSES - 1; c >= 0; c--)
    KUGEL_TRY(launch_class(p, c, kernel, &p->classes[c], n, args, &a, queue));
  return KUGEL_OK;
}

kugel_status kugel__rings_gpu_synth(const kugel__rings_gpu *p, const kugel__rings_gpu_job *job,
                                    kugel_queue *queue)
{
  return transform(p, job, SYNTH, queue);
}

kugel_status kugel__rings_gpu_adjoint(const kugel__rings_gpu *p, const kugel__rings_gpu_job *job,
                                      kugel_queue *queue)
{
  return transform(p, job, ADJOINT, queue);
}
