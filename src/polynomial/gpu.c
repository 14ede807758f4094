/* SPDX-License-Identifier: BSD-3-Clause */
/* What polynomial transforms own on a device: kernels, tables of the host. */
#include <stdio.h>
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "core/environment.h"
#include "polynomial/gpu.h"

enum { ALIGN = 64 /* reals of a line */ };

static kugel_status make_kernels(kugel__poly_gpu *g)
{
  char defines[256], of_product[96];
  bool cuda = g->device->ops->type == KUGEL_CUDA;
  kugel__poly_shape h = g->shape;
  const kugel__product_shape square = {64, 2, 0};
  const int64_t tensor =
      kugel__env_number("KUGEL_POLYNOMIAL_TENSOR", 0, 1, 2); /* 2: where the device has them */
  const bool mma = tensor == 2 ? g->device->info.compute_capability >= 80 : tensor == 1;
  const kugel__product_shape tall = {128, 3, !g->single && mma};
  bool room = kugel__product_shared(&tall, g->word) <= (int64_t)g->device->info.shared_bytes;
  g->product_shape = (cuda || tensor < 2) && room ? tall : square;
  snprintf(of_product, sizeof of_product,
           "#define REAL_BITS %d\n#define MMA %d\n#define ROWS %d\n#define STAGES %d\n", g->single ? 32 : 64,
           g->product_shape.mma, g->product_shape.rows, g->product_shape.stages);
  snprintf(defines, sizeof defines,
           "#define REAL_BITS %d\n#define LIFT %d\n#define STEPS %d\n#define GROUP %d\n#define LANES %d\n"
           "#define WARPS %d\n#define TICKS %d\n#define BLOCKS %d\n#define SCAN %d\n#define TENSOR %d\n",
           g->single ? 32 : 64, h.lift, h.steps, h.group, h.lanes, h.warps, h.ticks, h.blocks, h.scan,
           h.tensor);
  kugel__module_spec specs[2] = {{.name = "polynomial/tiles", .defines = defines},
                                 {.name = "polynomial/product", .defines = of_product}};
  KUGEL_TRY(kugel__module_get_all(g->ctx, 2, specs, g->modules));
  KUGEL_TRY(kugel__module_kernel(g->modules[0], "tiles", &g->tiles, NULL));
  return kugel__module_kernel(g->modules[1], "product", &g->product, NULL);
}

kugel_status kugel__poly_create(kugel_ctx *ctx, bool single, int64_t rows, int64_t waves_length,
                                kugel__poly_chains chains, int lanes, kugel__poly_gpu **out)
{
  kugel__poly_gpu *g = *out = kugel__calloc(ctx, sizeof *g);
  KUGEL_CHECK(g, KUGEL_ENOMEM, "no memory for a plan of %zu bytes", sizeof *g);
  g->ctx = ctx;
  pthread_mutex_init(&g->lock, NULL);
  kugel__gpu_work_init(&g->work);
  g->device = kugel__ctx_device(ctx);
  g->single = single;
  g->word = single ? 4 : 8;
  g->line = kugel__round_up(kugel__max(rows, waves_length), ALIGN);
  g->waves_length = waves_length;
  KUGEL_CHECK(single || g->device->info.fp64, KUGEL_ENOTSUP,
              "%s has no double precision: use KUGEL_PRECISION_F32", g->device->info.name);
  bool cuda = g->device->ops->type == KUGEL_CUDA;
  if (chains == KUGEL__CHAINS_SCAN)
    KUGEL_TRY(kugel__poly_scan_shape(cuda, rows, &g->shape));
  else if (chains == KUGEL__CHAINS_TENSOR)
    g->shape = kugel__poly_tensor_shape(cuda, (int64_t)g->device->info.shared_bytes);
  else
    g->shape = kugel__poly_choose(cuda, single, lanes, (int64_t)g->device->info.shared_bytes);
  return make_kernels(g);
}

void kugel__poly_destroy(kugel__poly_gpu *g)
{
  if (!g)
    return;
  while (g->lists) {
    kugel__poly_list *l = g->lists;
    g->lists = l->next;
    kugel__device_free(g->device, l->memory);
    kugel__free(g->ctx, l);
  }
  while (g->waves) {
    kugel__poly_waves *w = g->waves;
    g->waves = w->next;
    kugel_fft_destroy(w->fft);
    kugel__free(g->ctx, w);
  }
  kugel__gpu_work_free(g->device, &g->work);
  kugel__device_free(g->device, g->turns);
  kugel__device_free(g->device, g->tables);
  kugel__module_put(g->modules[0]);
  kugel__module_put(g->modules[1]);
  kugel__free(g->ctx, g->known);
  pthread_mutex_destroy(&g->lock);
  kugel__free(g->ctx, g);
}

/* ---- tables of the host ---- */

kugel_status kugel__poly_tables(kugel__poly_gpu *g, int64_t n, const kugel__poly_host *of)
{
  int64_t total = 0;
  KUGEL_ALLOC(g->ctx, g->known, sizeof *g->known * (size_t)kugel__max(1, n));
  for (int64_t i = 0; i < n; i++) {
    g->known[g->tables_known++] = (kugel__poly_table){of[i].data, total};
    total += of[i].count;
  }
  g->bytes += (size_t)kugel__max(1, total) * g->word;
  KUGEL_TRY(kugel__device_alloc(g->device, (size_t)kugel__max(1, total) * g->word, &g->tables));
  for (int64_t i = 0; i < n; i++)
    KUGEL_TRY(kugel__device_copy(
        g->device, KUGEL__UPLOAD, (kugel__mem){g->tables, (size_t)g->known[i].at * g->word},
        (kugel__mem){(void *)(uintptr_t)of[i].data, 0}, (size_t)of[i].count * g->word, NULL));
  return KUGEL_OK;
}

int64_t kugel__poly_find(const kugel__poly_gpu *g, const void *host)
{
  for (int64_t i = 0; i < g->tables_known; i++)
    if (g->known[i].host == host)
      return g->known[i].at;
  return -1;
}
