/* SPDX-License-Identifier: BSD-3-Clause */
/* Ring transforms on a device, one kernel each way: a block folds the coefficients of a pair, transforms
 * north + i south of one length in shared memory, and writes the pixels. Pairs whose blocks are alike share a
 * launch. */
#include <stdio.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "fft/rings/gpu_plan.h"

static const char *const names[] = {"ring_synth", "ring_adjoint", "ring_filter"};

static kugel_status table(const kugel__rings_gpu *p, const void *data, size_t bytes, kugel__mem *out)
{
  KUGEL_TRY(kugel__device_alloc(p->device, kugel__max((int64_t)bytes, 64), &out->base));
  return data ? kugel__device_copy(p->device, KUGEL__UPLOAD, *out, (kugel__mem){(void *)(uintptr_t)data, 0},
                                   bytes, NULL)
              : KUGEL_OK;
}

/* ---- plans ---- */

static void release(kugel__rings_gpu *p, ring_bank *bank)
{
  for (int i = 0; i < bank->ngroups; i++) {
    kugel__module_put(bank->groups[i].module);
    bank->groups[i].module = NULL;
  }
  kugel__device_free(p->device, bank->tables.base);
  bank->tables.base = NULL;
}

static void write_defines(const kugel__rings_gpu *p, bool f32, const unit_group *g, size_t n, char *to)
{
  const block_shape *shape = &shapes[f32][g->class];
  bool in_memory = g->class == IN_MEMORY;
  int used =
      snprintf(to, n, "#define REAL_BITS %d\n#define THREADS %d\n#define BLOCKS %d\n#define ROOM %lld\n%s",
               f32 ? 32 : 64, shape->threads, g->alike ? shape->blocks : shape->various,
               (long long)(in_memory ? 0 : kugel__rings_gpu_capacity(p->device, f32, g->class)),
               in_memory ? "#define WORK_GLOBAL 1\n" : "");
  if (g->alike)
    snprintf(
        to + used, n - (size_t)used,
        "#define LINE_SPLIT %d\n#define LINE_SIZE %d\n#define LINE_PASSES %d\n#define LINE_RADICES 0x%llxu\n",
        g->kind.split, g->kind.size, g->kind.passes, (unsigned long long)g->kind.radices);
}

/* The kernels of a precision, and with the first one that of the tables. */
static kugel_status load_kernels(kugel__rings_gpu *p, bool f32)
{
  char defines[GROUPS][256];
  unit_group *group_of_module[GROUPS + 1];
  int n = 0;
  ring_bank *bank = &p->banks[f32];
  kugel__module_spec specs[GROUPS + 1];
  kugel__module *modules[GROUPS + 1];
  for (unit_group *g = bank->groups; g < bank->groups + bank->ngroups; g++)
    if (g->count) {
      write_defines(p, f32, g, sizeof defines[n], defines[n]);
      group_of_module[n] = g;
      specs[n] = (kugel__module_spec){.name = "fft/rings/fft", .defines = defines[n]};
      n++;
    }
  if (!f32)
    specs[n] = (kugel__module_spec){.name = "fft/rings/tables"};
  KUGEL_TRY(kugel__module_get_all(p->ctx, n + !f32, specs, modules));
  for (int i = 0; i < n; i++)
    group_of_module[i]->module = modules[i];
  if (!f32) {
    p->table_module = modules[n];
    KUGEL_TRY(kugel__module_kernel(p->table_module, "ring_tables", &p->make_tables, NULL));
    KUGEL_TRY(kugel__module_kernel(p->table_module, "ring_tables_single", &p->make_single, NULL));
  }
  for (int i = 0; i < n; i++)
    for (int k = 0; k < (f32 ? FILTER : KERNELS); k++)
      KUGEL_TRY(kugel__module_kernel(modules[i], names[k], &group_of_module[i]->kernels[k], NULL));
  return KUGEL_OK;
}

// All units (or lines) of a group, a block each; as many at a time as have room. The last of the args is *a.
static kugel_status launch_group(const kugel__rings_gpu *p, bool f32, const unit_group *u, int kernel, int n,
                                 const kugel__arg *args, ring_args *a, kugel_queue *queue)
{
  int32_t first = kernel == FILTER ? u->first_filter : u->first,
          count = kernel == FILTER ? u->filters : u->count;
  int32_t most = u->class == IN_MEMORY ? p->blocks / a->maps : count;
  a->room = u->room;
  for (int32_t done = 0; done < count; done += most) {
    a->first = first + done;
    kugel__grid g = {.blocks = {(uint32_t)(kugel__min(most, count - done) * a->maps)},
                     .threads = {(uint32_t)shapes[f32][u->class].threads},
                     .shared = u->class == IN_MEMORY ? 0 : (size_t)u->room * (f32 ? 8 : 16)};
    KUGEL_TRY(kugel__launch(p->device, u->kernels[kernel], &g, n, args, queue));
  }
  return KUGEL_OK;
}

static kugel_status make_tables(kugel__rings_gpu *p)
{
  const ring_bank *bank = &p->banks[0];
  kugel__grid g = {.blocks = {(uint32_t)p->nlines}, .threads = {256}};
  kugel__arg args[] = {KUGEL__MEM_ARG(p->line_table), KUGEL__MEM_ARG(bank->tables), KUGEL__MEM_ARG(p->order)};
  if (!p->nlines)
    return KUGEL_OK;
  KUGEL_TRY(kugel__launch(p->device, p->make_tables, &g, 3, args, NULL));
  kugel__mem scratch = {NULL, 0};
  kugel_status status = table(p, NULL, (size_t)bank->scratch * 16, &scratch);
  for (int i = 0; i < bank->ngroups && !status; i++) {
    ring_args a = {.maps = 1};
    kugel__arg more[] = {KUGEL__MEM_ARG(bank->unit_table), KUGEL__MEM_ARG(p->line_table),
                         KUGEL__MEM_ARG(bank->tables), KUGEL__MEM_ARG(scratch), KUGEL__VALUE_ARG(a)};
    status = launch_group(p, false, &bank->groups[i], FILTER, 5, more, &a, NULL);
  }
  kugel__device_free(p->device, scratch.base);
  return status;
}

/* Kernels and tables of single precision, which wait for those of double precision in the device's own queue. */
static kugel_status make_single(kugel__rings_gpu *p)
{
  ring_bank *bank = &p->banks[1];
  int64_t n = 2 * p->numbers;
  kugel__grid g = {.blocks = {(uint32_t)kugel__max(1, kugel__min((n + 255) / 256, 4096))}, .threads = {256}};
  KUGEL_TRY(load_kernels(p, true));
  KUGEL_TRY(table(p, NULL, (size_t)n * 4, &bank->tables));
  kugel__arg args[] = {KUGEL__MEM_ARG(p->banks[0].tables), KUGEL__MEM_ARG(bank->tables), KUGEL__VALUE_ARG(n)};
  KUGEL_TRY(kugel__launch(p->device, p->make_single, &g, 3, args, NULL));
  return p->device->ops->wait(&p->device->queue);
}

static kugel_status need_single(kugel__rings_gpu *p)
{
  pthread_mutex_lock(&p->lock);
  kugel_status s = p->single ? KUGEL_OK : make_single(p);
  p->single = !s;
  if (s)
    release(p, &p->banks[1]);
  pthread_mutex_unlock(&p->lock);
  return s;
}

static kugel_status build(kugel__rings_gpu *p, const kugel__rings_desc *desc)
{
  KUGEL_TRY(kugel__rings_gpu_units(p, desc));
  KUGEL_TRY(kugel_queue_create(p->ctx, &p->side));
  KUGEL_TRY(load_kernels(p, false));
  KUGEL_TRY(table(p, p->jobs, (size_t)p->njobs * sizeof *p->jobs, &p->job_table));
  KUGEL_TRY(table(p, p->lines, (size_t)p->nlines * sizeof *p->lines, &p->line_table));
  for (int f32 = 0; f32 < 2; f32++)
    KUGEL_TRY(
        table(p, p->units[f32], (size_t)(p->njobs + p->nlines) * sizeof(int32_t), &p->banks[f32].unit_table));
  KUGEL_TRY(table(p, NULL, (size_t)p->numbers * 16, &p->banks[0].tables));
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
  pthread_mutex_init(&p->lock, NULL);
  kugel_status s = build(p, desc);
  void **host[] = {(void **)&p->jobs, (void **)&p->lines, (void **)&p->units[0], (void **)&p->units[1]};
  for (int i = 0; i < 4; i++) {
    kugel__free(ctx, *host[i]);
    *host[i] = NULL;
  }
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
  for (int i = 0; i < 2; i++) {
    release(p, &p->banks[i]);
    kugel__device_free(p->device, p->banks[i].unit_table.base);
  }
  kugel__module_put(p->table_module);
  void *tables[] = {p->job_table.base, p->line_table.base, p->order.base};
  for (int i = 0; i < 3; i++)
    kugel__device_free(p->device, tables[i]);
  kugel_queue_destroy(p->side);
  pthread_mutex_destroy(&p->lock);
  kugel__free(ctx, p);
  kugel_ctx_destroy(ctx);
}

/* ---- execution ---- */

int kugel__rings_gpu_most(const kugel__rings_gpu *p)
{
  return p->blocks;
}

size_t kugel__rings_gpu_work(const kugel__rings_gpu *p)
{
  return (size_t)kugel__max(p->banks[0].scratch * 16, p->banks[1].scratch * 8) + 64;
}

// After a failure nothing may still run beside the queue.
static kugel_status settle(const kugel__rings_gpu *p, kugel_status s)
{
  if (s)
    p->device->ops->wait(p->side);
  return s;
}

static kugel_status transform(kugel__rings_gpu *p, const kugel__rings_gpu_job *job, int kernel,
                              kugel_queue *queue)
{
  const ring_bank *bank = &p->banks[job->f32];
  ring_args a = {.maps = job->maps,
                 .weighted = job->weight.base != NULL,
                 .check = job->check,
                 .row = (int32_t)job->row,
                 .map = job->map_at,
                 .map_stride = job->map_stride,
                 .leg = job->leg_at,
                 .leg_stride = job->leg_stride};
  const kugel__mem *weight = job->weight.base ? &job->weight : &job->work;
  const kugel__mem *bad = job->bad.base ? &job->bad : &job->work;
  if (job->f32)
    KUGEL_TRY(need_single(p));
  kugel__arg args[11] = {KUGEL__MEM_ARG(p->job_table),  KUGEL__MEM_ARG(bank->unit_table),
                         KUGEL__MEM_ARG(p->line_table), KUGEL__MEM_ARG(bank->tables),
                         KUGEL__MEM_ARG(p->order),      KUGEL__MEM_ARG(job->leg),
                         KUGEL__MEM_ARG(job->map),      KUGEL__MEM_ARG(*weight)};
  int n = 8;
  if (kernel == ADJOINT)
    args[n++] = KUGEL__MEM_ARG(*bad);
  args[n++] = KUGEL__MEM_ARG(job->work);
  args[n++] = KUGEL__VALUE_ARG(a);
  KUGEL_TRY(kugel__queue_follow(queue, p->side));
  int turn = 0;
  for (const unit_group *g = bank->groups; g < bank->groups + bank->ngroups; g++)
    if (g->count)
      KUGEL_TRY(launch_group(p, job->f32, g, kernel, n, args, &a, turn++ % 2 ? p->side : queue));
  return kugel__queue_follow(p->side, queue);
}

kugel_status kugel__rings_gpu_synth(kugel__rings_gpu *p, const kugel__rings_gpu_job *job, kugel_queue *queue)
{
  return settle(p, transform(p, job, SYNTH, queue));
}

kugel_status kugel__rings_gpu_adjoint(kugel__rings_gpu *p, const kugel__rings_gpu_job *job,
                                      kugel_queue *queue)
{
  return settle(p, transform(p, job, ADJOINT, queue));
}
