/* SPDX-License-Identifier: BSD-3-Clause */
/* Banded solves and products on devices: kernels, tables and launches. Layout ROWS has generated kernels
 * (banded/kernel.h), layout COLUMNS those of kernels/banded.cl. */
#include <stdio.h>
#include <string.h>
#include "banded/kernel.h"
#include "codegen/module.h"
#include "codegen/print.h"
#include "core/alloc.h"
#include "core/ctx.h"
#include "device/lend.h"

enum {
  COLUMN_ROWS = 8,
  COLUMN_ROWS_DD = 4,    /* of a column in a thread's registers */
  COLUMNS_A_BLOCK = 32,  /* in layout COLUMNS: whole lines of memory */
  MOST_PARTS = 32,       /* of a column */
  THREADS_A_UNIT = 1024, /* that keep a multiprocessor's memory requests in flight */
};

/* A kernel of layout ROWS with its table. */
typedef struct rows_kernel {
  kugel__banded_shape shape;
  kugel__module *module; /* NULL: not made yet */
  kugel__kernel *kernel;
  void *table;
} rows_kernel;

struct kugel__banded_gpu {
  kugel__device *device;
  pthread_mutex_t lock;      /* of rows */
  rows_kernel rows[2][2];    /* solve, product; units of 1 and 2 reals */
  kugel__module *modules[2]; /* of layout COLUMNS: solve, product */
  kugel__kernel *columns[2];
  kugel__kernel_info columns_info[2];
  int q;              /* rows a thread in layout COLUMNS */
  void *diagonals[3]; /* of products: lower, diagonal, upper */
  void *factors[4];   /* scale and off of the forward, then the backward recurrence */
};

static int64_t number_bytes(const kugel_banded *p)
{
  return (int64_t)p->word * p->planes;
}

static bool columns(const kugel_banded *p)
{
  return p->opts.layout == KUGEL_BANDED_COLUMNS;
}

static kugel_status upload(const kugel_banded *p, const void *from, size_t bytes, void **out)
{
  kugel__device *device = p->gpu->device;
  KUGEL_TRY(kugel__device_alloc(device, bytes, out));
  return kugel__device_copy(device, KUGEL__UPLOAD, (kugel__mem){*out, 0},
                            (kugel__mem){(void *)(uintptr_t)from, 0}, bytes, NULL);
}

/* ---- layout ROWS ---- */

static int64_t panels_of(const kugel_banded *p, const kugel__banded_shape *s)
{
  int64_t span = (int64_t)s->threads * s->q;
  return s->panels ? (p->n + span - 1) / span : 1;
}

static kugel_status write_kernel(kugel_ctx *ctx, const void *of, kugel__text *text)
{
  kugel__gen g;
  kugel__banded_build(of, ctx, &g);
  kugel_status s = kugel__gen_print(&g, &kugel__dialect_device, text);
  kugel__gen_free(&g);
  return s;
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

static kugel_status make_table(const kugel_banded *p, rows_kernel *k)
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

static void drop(const kugel_banded *p, rows_kernel *k)
{
  kugel__module_put(k->module);
  kugel__device_free(p->gpu->device, k->table);
  *k = (rows_kernel){.module = NULL};
}

/* The kernel that moves `unit` reals at once, made when it is first needed. */
static kugel_status rows_kernel_of(const kugel_banded *p, bool product, int unit, const rows_kernel **out)
{
  kugel__banded_gpu *g = p->gpu;
  rows_kernel *k = &g->rows[product][unit - 1];
  *out = k;
  pthread_mutex_lock(&g->lock);
  if (k->module) {
    pthread_mutex_unlock(&g->lock);
    return KUGEL_OK;
  }
  kugel__banded_choose(p, product, unit, (int64_t)g->device->info.shared_bytes, &k->shape);
  kugel__module_spec spec = kugel__banded_module(&k->shape);
  kugel_status s = make_table(p, k);
  s = s ? s : kugel__module_get(p->ctx, &spec, &k->module);
  s = s ? s : kugel__module_kernel(k->module, product ? "product" : "solve", &k->kernel, NULL);
  if (s)
    drop(p, k);
  pthread_mutex_unlock(&g->lock);
  return s;
}

/* Reals that a lane moves at once where arrays allow it. */
static int best_unit(const kugel_banded *p)
{
  return p->planes == 1 && p->n % 2 == 0 ? 2 : 1;
}

static bool aligned(const kugel_banded *p, kugel__mem in, kugel__mem out, size_t bytes)
{
  bool addresses = p->ctx->device.type != KUGEL_OPENCL; /* else handles */
  size_t a = addresses ? (size_t)in.base : 0, b = addresses ? (size_t)out.base : 0;
  return (a + in.offset) % bytes == 0 && (b + out.offset) % bytes == 0;
}

static kugel_status launch_rows(const kugel_banded *p, bool solve, int64_t batch, kugel__mem in,
                                kugel__mem out, kugel_queue *queue)
{
  const kugel__banded_gpu *g = p->gpu;
  const rows_kernel *k;
  size_t number = (size_t)number_bytes(p);
  int unit = best_unit(p) == 2 && aligned(p, in, out, 2 * number) ? 2 : 1;
  KUGEL_CHECK(aligned(p, in, out, number), KUGEL_EINVAL,
              "an array on the device does not begin at a multiple of %zu bytes", number);
  KUGEL_TRY(rows_kernel_of(p, !solve, unit, &k));
  const kugel__banded_shape *s = &k->shape;
  int64_t held = s->threads > 32 ? 1 : s->warps * kugel__banded_systems(s);
  int64_t blocks = (batch + held - 1) / held, rounds = panels_of(p, s);
  if (!s->panels) { /* as many as run at once go through all tiles, and all through the same number of them */
    int64_t most = (int64_t)g->device->info.units * s->resident;
    rounds = (blocks + most - 1) / most;
    blocks = (blocks + rounds - 1) / rounds;
  }
  KUGEL_CHECK(blocks <= INT32_MAX, KUGEL_EINVAL, "%lld systems are more than one launch takes: call in parts",
              (long long)batch);
  uint32_t n = (uint32_t)p->n;
  kugel__mem table = {k->table, 0};
  kugel__arg args[] = {KUGEL__MEM_ARG(in),      KUGEL__MEM_ARG(out), KUGEL__MEM_ARG(table),
                       KUGEL__VALUE_ARG(batch), KUGEL__VALUE_ARG(n), KUGEL__VALUE_ARG(rounds),
                       KUGEL__VALUE_ARG(blocks)};
  kugel__grid grid = {.blocks = {(uint32_t)blocks},
                      .threads = {(uint32_t)(32 * s->warps)},
                      .shared = (size_t)kugel__banded_shared(s)};
  return kugel__launch(g->device, k->kernel, &grid, 7, args, queue);
}

/* ---- layout COLUMNS ---- */

/* 0: no such recurrence; 1: its scale is 1; 2: scaled. */
static int stage(const kugel__recurrence *r)
{
  return !r->off ? 0 : r->scale ? 2 : 1;
}

static kugel_status compile_columns(kugel_banded *p)
{
  kugel__banded_gpu *g = p->gpu;
  char common[160], solve[400], product[400];
  g->q = p->planes == 2 ? COLUMN_ROWS_DD : COLUMN_ROWS;
  snprintf(common, sizeof common, "#define REAL_BITS %d\n%s#define COLUMNS 1\n#define EACH %d\n",
           (int)p->word * 8, p->planes == 2 ? "#define PAIRS 1\n" : "", p->width > 1);
  snprintf(solve, sizeof solve, "%s#define SOLVE 1\n#define Q %d\n#define FORWARD %d\n#define BACKWARD %d\n",
           common, g->q, stage(&p->forward), stage(&p->backward));
  snprintf(product, sizeof product, "%s#define SOLVE 0\n#define Q 8\n#define LOWER %d\n#define UPPER %d\n",
           common, p->lower != NULL, p->upper != NULL);
  kugel__module_spec specs[] = {{.name = "banded/banded", .defines = product},
                                {.name = "banded/banded", .defines = solve}};
  kugel__module *modules[2] = {NULL, NULL};
  KUGEL_TRY(kugel__module_get_all(p->ctx, p->info.solvable ? 2 : 1, specs, modules));
  g->modules[1] = modules[0];
  g->modules[0] = modules[1];
  KUGEL_TRY(kugel__module_kernel(g->modules[1], "product", &g->columns[1], &g->columns_info[1]));
  return g->modules[0] ? kugel__module_kernel(g->modules[0], "solve", &g->columns[0], &g->columns_info[0])
                       : KUGEL_OK;
}

static kugel_status upload_column(const kugel_banded *p, const void *array, void **out)
{
  int64_t word = (int64_t)p->word, plane = p->n * p->width;
  size_t bytes = (size_t)(plane * number_bytes(p));
  if (!array)
    return KUGEL_OK;
  if (p->planes == 1)
    return upload(p, array, bytes, out);
  char *staged = kugel__alloc(p->ctx, bytes);
  KUGEL_CHECK(staged, KUGEL_ENOMEM, "no memory for a diagonal of %zu bytes", bytes);
  for (int64_t i = 0; i < plane; i++)
    for (int part = 0; part < 2; part++)
      memcpy(staged + (2 * i + part) * word, (const char *)array + (i + part * plane) * word, p->word);
  kugel_status s = upload(p, staged, bytes, out);
  kugel__free(p->ctx, staged);
  return s;
}

static kugel_status create_columns(kugel_banded *p)
{
  kugel__banded_gpu *g = p->gpu;
  KUGEL_TRY(compile_columns(p));
  void *diagonals[] = {p->lower, p->diagonal, p->upper};
  void *factors[] = {p->forward.scale, p->forward.off, p->backward.scale, p->backward.off};
  for (int k = 0; k < 3; k++)
    KUGEL_TRY(upload_column(p, diagonals[k], &g->diagonals[k]));
  for (int k = 0; k < 4 && p->info.solvable; k++)
    KUGEL_TRY(upload_column(p, factors[k], &g->factors[k]));
  return KUGEL_OK;
}

/* Parts of a column: so many that the device is filled, were there few columns. */
static int parts_of(const kugel_banded *p, int64_t batch, bool solve)
{
  const kugel__banded_gpu *g = p->gpu;
  int64_t wanted = (int64_t)THREADS_A_UNIT * g->device->info.units / kugel__max(1, batch);
  int64_t rows = (p->n + (solve ? g->q : 8) - 1) / (solve ? g->q : 8), parts = 1;
  int64_t most = g->columns_info[!solve].max_threads;
  most = kugel__min(most > 0 ? most : g->device->info.max_threads, 1024) / COLUMNS_A_BLOCK;
  if (solve && !kugel__banded_may_scan(p))
    return 1;
  while (parts < wanted && parts < rows && 2 * parts <= kugel__min(most, MOST_PARTS))
    parts *= 2;
  return (int)parts;
}

static kugel_status launch_columns(const kugel_banded *p, bool solve, int64_t batch, kugel__mem in,
                                   kugel__mem out, kugel_queue *queue)
{
  const kugel__banded_gpu *g = p->gpu;
  void *const *tables = solve ? g->factors : g->diagonals;
  kugel__mem table[4];
  kugel__arg args[9] = {KUGEL__MEM_ARG(in), KUGEL__MEM_ARG(out)};
  int n = 2, tables_count = solve ? 4 : 3;
  for (int k = 0; k < tables_count; k++) { /* what a kernel does not read is any array */
    table[k] = (kugel__mem){tables[k] ? tables[k] : g->diagonals[1], 0};
    args[n++] = KUGEL__MEM_ARG(table[k]);
  }
  int32_t rows = (int32_t)p->n, width = (int32_t)p->width;
  int64_t blocks = (batch + COLUMNS_A_BLOCK - 1) / COLUMNS_A_BLOCK;
  args[n++] = KUGEL__VALUE_ARG(batch);
  args[n++] = KUGEL__VALUE_ARG(rows);
  args[n++] = KUGEL__VALUE_ARG(width);
  KUGEL_CHECK(blocks <= INT32_MAX, KUGEL_EINVAL, "%lld systems are more than one launch takes: call in parts",
              (long long)batch);
  kugel__grid grid = {.blocks = {(uint32_t)blocks},
                      .threads = {COLUMNS_A_BLOCK, (uint32_t)parts_of(p, batch, solve), 1}};
  return kugel__launch(g->device, g->columns[!solve], &grid, n, args, queue);
}

/* ---- both ---- */

kugel_status kugel__banded_gpu_create(kugel_banded *p)
{
  kugel__banded_gpu *g = p->gpu = kugel__calloc(p->ctx, sizeof *g);
  KUGEL_CHECK(g, KUGEL_ENOMEM, "no memory for a plan of %zu bytes", sizeof *g);
  pthread_mutex_init(&g->lock, NULL);
  g->device = kugel__ctx_device(p->ctx);
  KUGEL_CHECK(p->word == 4 || g->device->info.fp64, KUGEL_ENOTSUP,
              "%s has no double precision: use KUGEL_BANDED_F32", g->device->info.name);
  if (columns(p))
    return create_columns(p);
  const rows_kernel *made;
  KUGEL_TRY(rows_kernel_of(p, true, best_unit(p), &made));
  return p->info.solvable ? rows_kernel_of(p, false, best_unit(p), &made) : KUGEL_OK;
}

void kugel__banded_gpu_destroy(kugel_banded *p)
{
  kugel__banded_gpu *g = p->gpu;
  if (!g)
    return;
  for (int k = 0; k < 4; k++)
    drop(p, &g->rows[k / 2][k % 2]);
  for (int k = 0; k < 2; k++)
    kugel__module_put(g->modules[k]);
  for (int k = 0; k < 3; k++)
    kugel__device_free(g->device, g->diagonals[k]);
  for (int k = 0; k < 4; k++)
    kugel__device_free(g->device, g->factors[k]);
  pthread_mutex_destroy(&g->lock);
  kugel__free(p->ctx, g);
}

void kugel__banded_gpu_info(const kugel_banded *p, int64_t batch, kugel_banded_info *info)
{
  const kugel__banded_shape *s = &p->gpu->rows[0][best_unit(p) - 1].shape;
  info->threads = columns(p) ? parts_of(p, batch, true) : s->threads;
  info->elements = columns(p) ? p->gpu->q : s->q;
  info->method = info->threads > 1 ? KUGEL_BANDED_SCAN : KUGEL_BANDED_SUBSTITUTION;
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
    s = (columns(p) ? launch_columns : launch_rows)(p, solve, batch, loans[same ? 0 : 1].mem, loans[0].mem,
                                                    used);
  bool host = loans[0].host || loans[1].host;
  s = kugel__lend_end(2, loans, used, s);
  if (s || queue || host)
    return s;
  return g->device->ops->wait(used);
}
