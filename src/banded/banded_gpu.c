/* SPDX-License-Identifier: BSD-3-Clause */
/* Banded solves and products on devices: kernels/banded.cl, how they are cut to a plan, and their launches.
 */
#include <stdio.h>
#include <string.h>
#include "banded/banded.h"
#include "codegen/module.h"
#include "core/alloc.h"
#include "core/ctx.h"
#include "device/lend.h"

enum {
  ELEMENTS = 8,
  ELEMENTS_DD = 4,       /* of a system in a thread's registers */
  LEAST_BLOCK = 128,     /* threads of a block that share memory, if systems are short */
  MOST_THREADS = 512,    /* of a system in layout ROWS: 4096 doubles at once; more go by panels */
  COLUMNS_A_BLOCK = 32,  /* in layout COLUMNS: whole lines of memory */
  MOST_PARTS = 32,       /* of a column */
  THREADS_A_UNIT = 1024, /* that keep a multiprocessor's memory requests in flight */
  PRODUCT_BLOCK = 256
};

struct kugel__banded_gpu {
  kugel__device *device;
  kugel__module *solve_module, *product_module;
  kugel__kernel *solve, *product;
  kugel__kernel_info solve_info, product_info;
  int q;                /* elements a thread */
  int threads, systems; /* layout ROWS: threads a system, systems a block */
  int64_t panels;       /* of a system in layout ROWS */
  int product_systems;  /* layout ROWS: systems a block of products; 0: panels of one */
  void *diagonals[3];   /* of products: lower, diagonal, upper */
  void *factors[4];     /* scale and off of the forward, then the backward recurrence */
};

static int64_t number_bytes(const kugel_banded *p)
{
  return (int64_t)p->word * p->planes;
}

static bool columns(const kugel_banded *p)
{
  return p->opts.layout == KUGEL_BANDED_COLUMNS;
}

static bool may_scan(const kugel_banded *p)
{
  return p->opts.method != KUGEL_BANDED_SUBSTITUTION && p->info.propagation <= KUGEL__SCAN_LIMIT;
}

/* Bytes of shared memory that a block of the solve needs in layout ROWS. */
static size_t tile_bytes(const kugel_banded *p, const kugel__banded_gpu *g)
{
  return (size_t)(g->threads * g->systems * (g->q + 1) * number_bytes(p));
}

static void choose(const kugel_banded *p, kugel__banded_gpu *g)
{
  int64_t room = (int64_t)g->device->info.shared_bytes;
  g->q = p->planes == 2 ? ELEMENTS_DD : ELEMENTS;
  int64_t wanted = may_scan(p) ? (p->n + g->q - 1) / g->q : 1;
  int64_t threads = 1;
  while (threads < wanted && threads < 32)
    threads *= 2;
  if (wanted > 32)
    threads = kugel__min(kugel__round_up(wanted, 32), MOST_THREADS);
  for (;; threads = threads > 32 ? kugel__round_up(threads / 2, 32) : threads / 2) {
    g->threads = (int)threads;
    g->systems = (int)kugel__max(1, LEAST_BLOCK / threads);
    /* besides the tile: ends of warps, and in OpenCL of threads */
    int64_t ends =
        g->device->info.device.type == KUGEL_OPENCL ? 2 * g->threads * g->systems * number_bytes(p) : 0;
    int64_t all = (int64_t)tile_bytes(p, g) + ends + 4096;
    if (all <= room || threads == 1)
      break;
  }
  g->panels = (p->n + threads * g->q - 1) / (threads * g->q);
  int64_t held = PRODUCT_BLOCK * 8;
  g->product_systems = p->n <= held ? (int)(held / p->n) : 0;
}

/* 0: no such recurrence; 1: its scale is 1; 2: scaled. */
static int stage(const kugel__recurrence *r)
{
  return !r->off ? 0 : r->scale ? 2 : 1;
}

static kugel_status compile(kugel_banded *p)
{
  kugel__banded_gpu *g = p->gpu;
  char common[160], solve[400], product[400];
  snprintf(common, sizeof common, "#define REAL_BITS %d\n%s#define COLUMNS %d\n#define EACH %d\n",
           (int)p->word * 8, p->planes == 2 ? "#define PAIRS 1\n" : "", columns(p), p->width > 1);
  snprintf(solve, sizeof solve,
           "%s#define SOLVE 1\n#define Q %d\n#define TH %d\n#define SYS %d\n#define ONE_PANEL %d\n"
           "#define FORWARD %d\n#define BACKWARD %d\n",
           common, g->q, g->threads, g->systems, g->panels == 1, stage(&p->forward), stage(&p->backward));
  snprintf(product, sizeof product,
           "%s#define SOLVE 0\n#define Q 8\n#define BLOCK %d\n#define ONE_PANEL %d\n#define LOWER %d\n"
           "#define UPPER %d\n",
           common, PRODUCT_BLOCK, g->product_systems > 0, p->lower != NULL, p->upper != NULL);
  kugel__module_spec specs[] = {{.name = "banded/banded", .defines = product},
                                {.name = "banded/banded", .defines = solve}};
  kugel__module *modules[2] = {NULL, NULL};
  KUGEL_TRY(kugel__module_get_all(p->ctx, p->info.solvable ? 2 : 1, specs, modules));
  g->product_module = modules[0];
  g->solve_module = modules[1];
  KUGEL_TRY(kugel__module_kernel(g->product_module, "product", &g->product, &g->product_info));
  return g->solve_module ? kugel__module_kernel(g->solve_module, "solve", &g->solve, &g->solve_info)
                         : KUGEL_OK;
}

/* Where row i of matrix m goes: plain, or for the solves of layout ROWS as the threads of a block read it. */
static int64_t place(const kugel_banded *p, bool factor, int64_t m, int64_t i)
{
  const kugel__banded_gpu *g = p->gpu;
  if (columns(p))
    return i * p->width + m;
  if (!factor)
    return m * p->n + i;
  int64_t span = (int64_t)g->threads * g->q, at = i % span;
  return (m * g->panels + i / span) * span + at % g->q * g->threads + at / g->q;
}

static kugel_status upload(const kugel_banded *p, const void *array, bool factor, void **out)
{
  const kugel__banded_gpu *g = p->gpu;
  int64_t rows = factor && !columns(p) ? g->panels * g->threads * g->q : p->n;
  int64_t word = (int64_t)p->word, plane = p->n * p->width;
  size_t bytes = (size_t)(rows * (columns(p) ? p->width : p->matrices) * number_bytes(p));
  if (!array)
    return KUGEL_OK;
  char *staged = kugel__calloc(p->ctx, bytes);
  KUGEL_CHECK(staged, KUGEL_ENOMEM, "no memory for a diagonal of %zu bytes", bytes);
  for (int64_t m = 0; m < p->matrices; m++)
    for (int64_t i = 0; i < p->n; i++)
      for (int part = 0; part < p->planes; part++)
        memcpy(staged + (place(p, factor, m, i) * p->planes + part) * word,
               (const char *)array + (i * p->width + m + part * plane) * word, p->word);
  kugel_status s = kugel__device_alloc(g->device, bytes, out);
  if (!s)
    s = kugel__device_copy(g->device, KUGEL__UPLOAD, (kugel__mem){*out, 0}, (kugel__mem){staged, 0}, bytes,
                           NULL);
  kugel__free(p->ctx, staged);
  return s;
}

kugel_status kugel__banded_gpu_create(kugel_banded *p)
{
  kugel__banded_gpu *g = p->gpu = kugel__calloc(p->ctx, sizeof *g);
  KUGEL_CHECK(g, KUGEL_ENOMEM, "no memory for a plan of %zu bytes", sizeof *g);
  g->device = kugel__ctx_device(p->ctx);
  KUGEL_CHECK(p->word == 4 || g->device->info.fp64, KUGEL_ENOTSUP,
              "%s has no double precision: use KUGEL_BANDED_F32", g->device->info.name);
  choose(p, g);
  KUGEL_TRY(compile(p));
  void *diagonals[] = {p->lower, p->diagonal, p->upper};
  void *factors[] = {p->forward.scale, p->forward.off, p->backward.scale, p->backward.off};
  for (int k = 0; k < 3; k++)
    KUGEL_TRY(upload(p, diagonals[k], false, &g->diagonals[k]));
  for (int k = 0; k < 4 && p->info.solvable; k++)
    KUGEL_TRY(upload(p, factors[k], true, &g->factors[k]));
  return KUGEL_OK;
}

void kugel__banded_gpu_destroy(kugel_banded *p)
{
  kugel__banded_gpu *g = p->gpu;
  if (!g)
    return;
  kugel__module_put(g->solve_module);
  kugel__module_put(g->product_module);
  for (int k = 0; k < 3; k++)
    kugel__device_free(g->device, g->diagonals[k]);
  for (int k = 0; k < 4; k++)
    kugel__device_free(g->device, g->factors[k]);
  kugel__free(p->ctx, g);
}

/* Parts of a column: so many that the device is filled, were there few columns. */
static int parts_of(const kugel_banded *p, int64_t batch, bool solve)
{
  const kugel__banded_gpu *g = p->gpu;
  int64_t wanted = (int64_t)THREADS_A_UNIT * g->device->info.units / kugel__max(1, batch);
  int64_t rows = (p->n + (solve ? g->q : 8) - 1) / (solve ? g->q : 8), parts = 1;
  int64_t most = (solve ? g->solve_info : g->product_info).max_threads;
  most = kugel__min(most > 0 ? most : g->device->info.max_threads, 1024) / COLUMNS_A_BLOCK;
  if (solve && !may_scan(p))
    return 1;
  while (parts < wanted && parts < rows && 2 * parts <= kugel__min(most, MOST_PARTS))
    parts *= 2;
  return (int)parts;
}

void kugel__banded_gpu_info(const kugel_banded *p, int64_t batch, kugel_banded_info *info)
{
  info->threads = columns(p) ? parts_of(p, batch, true) : p->gpu->threads;
  info->elements = p->gpu->q;
  info->method = info->threads > 1 ? KUGEL_BANDED_SCAN : KUGEL_BANDED_SUBSTITUTION;
}

static kugel_status launch(const kugel_banded *p, bool solve, int64_t batch, kugel__mem in, kugel__mem out,
                           kugel_queue *queue)
{
  const kugel__banded_gpu *g = p->gpu;
  void *const *tables = solve ? g->factors : g->diagonals;
  kugel__mem table[4];
  kugel__arg args[10] = {KUGEL__MEM_ARG(in), KUGEL__MEM_ARG(out)};
  int n = 2, tables_count = solve ? 4 : 3;
  for (int k = 0; k < tables_count; k++) { /* what a kernel does not read is any array */
    table[k] = (kugel__mem){tables[k] ? tables[k] : g->diagonals[1], 0};
    args[n++] = KUGEL__MEM_ARG(table[k]);
  }
  int32_t rows = (int32_t)p->n, width = (int32_t)p->width,
          systems = (int32_t)kugel__max(1, g->product_systems);
  uint32_t magic = (uint32_t)((((uint64_t)1 << 31) + (uint64_t)p->n - 1) / (uint64_t)p->n); /* of 2^31 / n */
  int64_t blocks;
  kugel__grid grid = {.threads = {PRODUCT_BLOCK, 1, 1}};
  args[n++] = KUGEL__VALUE_ARG(batch);
  args[n++] = KUGEL__VALUE_ARG(rows);
  if (columns(p)) {
    int parts = parts_of(p, batch, solve);
    grid.threads[0] = COLUMNS_A_BLOCK;
    grid.threads[1] = (uint32_t)parts;
    blocks = (batch + COLUMNS_A_BLOCK - 1) / COLUMNS_A_BLOCK;
    args[n++] = KUGEL__VALUE_ARG(width);
  } else {
    args[n++] = KUGEL__VALUE_ARG(magic);
    if (solve) {
      systems = g->systems;
      grid.threads[0] = (uint32_t)(g->threads * g->systems);
      grid.shared = tile_bytes(p, g);
    } else {
      args[n++] = KUGEL__VALUE_ARG(systems);
      grid.shared = (size_t)((PRODUCT_BLOCK * 8 + 2) * number_bytes(p));
    }
    blocks = (batch + systems - 1) / systems;
  }
  KUGEL_CHECK(blocks <= INT32_MAX, KUGEL_EINVAL, "%lld systems are more than one launch takes: call in parts",
              (long long)batch);
  grid.blocks[0] = (uint32_t)blocks;
  return kugel__launch(g->device, solve ? g->solve : g->product, &grid, n, args, queue);
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
    s = launch(p, solve, batch, loans[same ? 0 : 1].mem, loans[0].mem, used);
  bool host = loans[0].host || loans[1].host;
  s = kugel__lend_end(2, loans, used, s);
  if (s || queue || host)
    return s;
  return g->device->ops->wait(used);
}
