/* SPDX-License-Identifier: BSD-3-Clause */
/* Banded solves and products on devices: kernels (banded/kernel.h), tables and launches. */
#include <stdio.h>
#include <string.h>
#include "banded/kernel.h"
#include "codegen/module.h"
#include "codegen/print.h"
#include "core/alloc.h"
#include "core/ctx.h"
#include "device/lend.h"

enum {
  MANY_COLUMNS = 1 << 15, /* that fill a device with a thread each */
  MOST_SYSTEMS = 1 << 30  /* of a launch */
};

/* A kernel with its table. */
typedef struct made_kernel {
  kugel__banded_shape shape;
  kugel__module *module; /* NULL: not made yet */
  kugel__kernel *kernel;
  int64_t resident; /* blocks that a multiprocessor runs at once */
  void *table;
} made_kernel;

struct kugel__banded_gpu {
  kugel__device *device;
  pthread_mutex_t lock;                           /* of kernels */
  made_kernel kernels[2][KUGEL__BANDED_VARIANTS]; /* solve, product */
};

static int64_t number_bytes(const kugel_banded *p)
{
  return (int64_t)p->word * p->planes;
}

static kugel_status upload(const kugel_banded *p, const void *from, size_t bytes, void **out)
{
  kugel__device *device = p->gpu->device;
  KUGEL_TRY(kugel__device_alloc(device, bytes, out));
  return kugel__device_copy(device, KUGEL__UPLOAD, (kugel__mem){*out, 0},
                            (kugel__mem){(void *)(uintptr_t)from, 0}, bytes, NULL);
}

static int64_t panels_of(const kugel_banded *p, const kugel__banded_shape *s)
{
  int64_t span = (int64_t)s->threads * s->q;
  return s->panels ? (p->n + span - 1) / span : 1;
}

static kugel_status write_kernel(kugel_ctx *ctx, const void *of, kugel__text *text)
{
  kugel__gen g;
  kugel__banded_build(of, ctx, &g);
  return kugel__gen_print_kernel(&g, text);
}

kugel__module_spec kugel__banded_module(const kugel__banded_shape *s)
{
  return (kugel__module_spec){.name = "banded",
                              .defines =
                                  s->real == KUGEL__F32 ? "#define REAL_BITS 32\n" : "#define REAL_BITS 64\n",
                              .words = s->real == KUGEL__DD ? "codegen/dd" : NULL,
                              .write = write_kernel,
                              .of = s,
                              .of_bytes = sizeof *s};
}

static kugel_status make_table(const kugel_banded *p, made_kernel *k)
{
  int64_t threads = k->shape.threads * panels_of(p, &k->shape);
  size_t bytes = (size_t)(p->matrices * kugel__banded_rows(&k->shape) * threads * number_bytes(p));
  void *staged = kugel__alloc(p->ctx, bytes);
  KUGEL_CHECK(staged, KUGEL_ENOMEM, "no memory for a table of %zu bytes", bytes);
  kugel_status s = kugel__banded_fill(p, &k->shape, threads, staged);
  s = s ? s : upload(p, staged, bytes, &k->table);
  kugel__free(p->ctx, staged);
  return s;
}

static void drop(const kugel_banded *p, made_kernel *k)
{
  kugel__module_put(k->module);
  kugel__device_free(p->gpu->device, k->table);
  *k = (made_kernel){.module = NULL};
}

/* As registers and shared memory allow: a multiprocessor has 65536 and those of one block at most. */
static int64_t resident_of(const kugel_banded *p, const kugel__banded_shape *s,
                           const kugel__kernel_info *info)
{
  int64_t threads = 32 * s->warps, by_threads = 2048 / threads, shared = kugel__banded_shared(s) + 1024;
  if (info->registers == 0)
    return s->resident;
  int64_t by_registers = 65536 / (kugel__round_up(info->registers, 8) * threads);
  int64_t by_shared = (int64_t)p->gpu->device->info.shared_bytes / shared;
  return kugel__max(1, kugel__min(kugel__min(by_threads, by_registers), by_shared));
}

/* Makes what is not there of the kernels for solves and products, by several threads. */
static kugel_status make(const kugel_banded *p, kugel__banded_variant variant, bool solve, bool product)
{
  kugel__banded_gpu *g = p->gpu;
  made_kernel *k[2];
  kugel__module_spec specs[2];
  kugel__module *modules[2] = {NULL, NULL};
  int n = 0;
  for (int what = 0; what < 2; what++)
    if ((what ? product : solve) && !g->kernels[what][variant].module) {
      k[n] = &g->kernels[what][variant];
      kugel__banded_choose(p, what, variant, (int64_t)g->device->info.shared_bytes, &k[n]->shape);
      specs[n] = kugel__banded_module(&k[n]->shape);
      n++;
    }
  kugel_status s = n ? kugel__module_get_all(p->ctx, n, specs, modules) : KUGEL_OK;
  for (int i = 0; i < n; i++) {
    k[i]->module = modules[i];
    s = s ? s : make_table(p, k[i]);
    kugel__kernel_info info = {0};
    s = s ? s
          : kugel__module_kernel(k[i]->module, k[i]->shape.product ? "product" : "solve", &k[i]->kernel,
                                 &info);
    k[i]->resident = resident_of(p, &k[i]->shape, &info);
  }
  for (int i = 0; i < n && s; i++)
    drop(p, k[i]);
  return s;
}

/* The kernel, made when it is first needed. */
static kugel_status kernel_of(const kugel_banded *p, bool product, kugel__banded_variant variant,
                              const made_kernel **out)
{
  kugel__banded_gpu *g = p->gpu;
  *out = &g->kernels[product][variant];
  pthread_mutex_lock(&g->lock);
  kugel_status s = make(p, variant, !product, product);
  pthread_mutex_unlock(&g->lock);
  return s;
}

static bool aligned(const kugel_banded *p, kugel__mem in, kugel__mem out, size_t bytes)
{
  bool addresses = p->ctx->device.type != KUGEL_OPENCL; /* else handles */
  size_t a = addresses ? (size_t)in.base : 0, b = addresses ? (size_t)out.base : 0;
  return (a + in.offset) % bytes == 0 && (b + out.offset) % bytes == 0;
}

/* What a plan makes at once: calls with other arrays make the other variant. */
static kugel__banded_variant usual(const kugel_banded *p)
{
  if (p->opts.layout == KUGEL_BANDED_COLUMNS)
    return p->matrices >= MANY_COLUMNS ? KUGEL__BANDED_MANY : KUGEL__BANDED_FEW;
  return p->planes == 1 && p->n % 2 == 0 ? KUGEL__BANDED_PAIRS : KUGEL__BANDED_SINGLES;
}

static kugel__banded_variant variant_of(const kugel_banded *p, bool product, int64_t batch, kugel__mem in,
                                        kugel__mem out)
{
  if (p->opts.layout == KUGEL_BANDED_COLUMNS)
    return batch >= MANY_COLUMNS ? KUGEL__BANDED_MANY : KUGEL__BANDED_FEW;
  bool pairs = usual(p) == KUGEL__BANDED_PAIRS && aligned(p, in, out, 2 * (size_t)number_bytes(p));
  bool small = !product && kugel__banded_small(p, batch);
  return (kugel__banded_variant)((small ? KUGEL__BANDED_SMALL_SINGLES : KUGEL__BANDED_SINGLES) + pairs);
}

static kugel_status launch(const kugel_banded *p, const made_kernel *k, int64_t batch, kugel__mem in,
                           kugel__mem out, kugel__mem table, kugel_queue *queue)
{
  const kugel__device *device = p->gpu->device;
  const kugel__banded_shape *s = &k->shape;
  int64_t held = kugel__banded_held(s), blocks = (batch + held - 1) / held, rounds = panels_of(p, s);
  if (!s->panels && !s->abreast &&
      !s->direct) { /* as many as run at once go through all tiles, as many each */
    int64_t most = (int64_t)device->info.units * k->resident;
    rounds = (blocks + most - 1) / most;
    blocks = (blocks + rounds - 1) / rounds;
  }
  uint32_t n = (uint32_t)p->n, systems = (uint32_t)batch, step = (uint32_t)blocks;
  kugel__arg args[] = {KUGEL__MEM_ARG(in),        KUGEL__MEM_ARG(out), KUGEL__MEM_ARG(table),
                       KUGEL__VALUE_ARG(systems), KUGEL__VALUE_ARG(n), KUGEL__VALUE_ARG(rounds),
                       KUGEL__VALUE_ARG(step)};
  kugel__grid grid = {.blocks = {(uint32_t)blocks},
                      .threads = {(uint32_t)(32 * s->warps)},
                      .shared = (size_t)kugel__banded_shared(s)};
  return kugel__launch(p->gpu->device, k->kernel, &grid, 7, args, queue);
}

/* Systems of layout ROWS in as many launches as their 32-bit numbers ask for. */
static kugel_status launch_all(const kugel_banded *p, bool solve, int64_t batch, kugel__mem in,
                               kugel__mem out, kugel_queue *queue)
{
  const made_kernel *k;
  size_t number = (size_t)number_bytes(p);
  bool rows = p->opts.layout == KUGEL_BANDED_ROWS;
  KUGEL_CHECK(aligned(p, in, out, number), KUGEL_EINVAL,
              "an array on the device does not begin at a multiple of %zu bytes", number);
  KUGEL_CHECK(rows || batch < MOST_SYSTEMS, KUGEL_EINVAL,
              "%lld columns are more than one call takes: call in parts", (long long)batch);
  KUGEL_TRY(kernel_of(p, !solve, variant_of(p, !solve, batch, in, out), &k));
  kugel__mem table = {k->table, 0};
  for (int64_t done = 0; done < batch; done += MOST_SYSTEMS) {
    int64_t part = kugel__min(batch - done, MOST_SYSTEMS);
    KUGEL_TRY(launch(p, k, part, in, out, table, queue));
    in.offset += (size_t)(part * p->n) * number;
    out.offset += (size_t)(part * p->n) * number;
    if (k->shape.each)
      table.offset +=
          (size_t)(part * kugel__banded_rows(&k->shape) * k->shape.threads * panels_of(p, &k->shape)) *
          number;
  }
  return KUGEL_OK;
}

kugel_status kugel__banded_gpu_create(kugel_banded *p)
{
  kugel__banded_gpu *g = p->gpu = kugel__calloc(p->ctx, sizeof *g);
  KUGEL_CHECK(g, KUGEL_ENOMEM, "no memory for a plan of %zu bytes", sizeof *g);
  pthread_mutex_init(&g->lock, NULL);
  g->device = kugel__ctx_device(p->ctx);
  KUGEL_CHECK(p->word == 4 || g->device->info.fp64, KUGEL_ENOTSUP,
              "%s has no double precision: use KUGEL_PRECISION_F32", g->device->info.name);
  return make(p, usual(p), p->info.solvable, true);
}

void kugel__banded_gpu_destroy(kugel_banded *p)
{
  kugel__banded_gpu *g = p->gpu;
  if (!g)
    return;
  for (int k = 0; k < 2 * KUGEL__BANDED_VARIANTS; k++)
    drop(p, &g->kernels[k / KUGEL__BANDED_VARIANTS][k % KUGEL__BANDED_VARIANTS]);
  pthread_mutex_destroy(&g->lock);
  kugel__free(p->ctx, g);
}

void kugel__banded_gpu_info(const kugel_banded *p, kugel_banded_info *info)
{
  bool rows = p->opts.layout == KUGEL_BANDED_ROWS;
  int variant = usual(p);
  if (info->batch)
    variant += rows && kugel__banded_small(p, info->batch) ? KUGEL__BANDED_SMALL_SINGLES : 0;
  kugel__banded_shape s;
  kugel__banded_choose(p, false, (kugel__banded_variant)variant, (int64_t)p->gpu->device->info.shared_bytes,
                       &s);
  info->threads = s.threads;
  info->elements = s.q;
  info->method = s.cyclic        ? KUGEL_BANDED_CYCLIC
                 : s.threads > 1 ? KUGEL_BANDED_SCAN
                                 : KUGEL_BANDED_SUBSTITUTION;
}

kugel_status kugel__banded_gpu_run(const kugel_banded *p, bool solve, int64_t batch, const kugel_array *in,
                                   const kugel_array *out, kugel_queue *queue)
{
  const kugel__banded_gpu *g = p->gpu;
  kugel_queue *used;
  KUGEL_TRY(kugel__queue_of(g->device, queue, &used));
  if (!batch)
    return KUGEL_OK;
  kugel__loan loans[2] = {{.host = NULL}, {.host = NULL}};
  bool same = kugel__array_data(in) == kugel__array_data(out) && in->device.type == out->device.type;
  kugel_status s =
      kugel__lend(g->device, out, same ? KUGEL__READ | KUGEL__WRITE : KUGEL__WRITE, used, &loans[0]);
  if (!s && !same)
    s = kugel__lend(g->device, in, KUGEL__READ, used, &loans[1]);
  if (!s)
    s = launch_all(p, solve, batch, loans[same ? 0 : 1].mem, loans[0].mem, used);
  bool host = loans[0].host || loans[1].host;
  s = kugel__lend_end(2, loans, used, s);
  if (s || queue || host)
    return s;
  return g->device->ops->wait(used);
}
