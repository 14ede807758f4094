/* SPDX-License-Identifier: BSD-3-Clause */
/* What polynomial transforms own on a device: kernels, rotations, tables. */
#include <stdio.h>
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "polynomial/gpu.h"
#include "polynomial/jacobi.h"

enum { MOST_WARPS = 4, ALIGN = 64 /* reals of a line */, S = KUGEL__POLY_STEPS };

static int64_t tile_bytes(const kugel__poly_gpu *g, int lanes)
{
  return lanes * g->line * (int64_t)g->word;
}

/* Lanes of a tile and warps of a block, as shared memory allows; else tiles stay in memory. */
static void choose(kugel__poly_gpu *g)
{
  int64_t shared = (int64_t)g->device->info.shared_bytes;
  g->warps = 1;
  for (g->lanes = KUGEL__POLY_LANES; g->lanes > 1 && tile_bytes(g, g->lanes) > shared;)
    g->lanes /= 2;
  g->in_memory = tile_bytes(g, g->lanes) > shared;
  if (g->device->ops->type ==
      KUGEL_CUDA) /* elsewhere a warp waits for its neighbours by a barrier of the block */
    while (g->warps < MOST_WARPS && (g->in_memory || 2 * g->warps * tile_bytes(g, g->lanes) <= shared / 2))
      g->warps *= 2;
}

/* Reals of a block's tiles in the text of OpenCL: a power of two, so that few texts serve all sizes. */
static long long room_of(const kugel__poly_gpu *g)
{
  int64_t need = g->lanes * g->warps * g->line, room = 64;
  while (room < need)
    room *= 2;
  return room * (int64_t)g->word <= (int64_t)g->device->info.shared_bytes ? room : need;
}

void kugel__poly_defines(const kugel__poly_gpu *g, char *text, size_t bytes)
{
  snprintf(
      text, bytes,
      "#define REAL_BITS %d\n#define STEPS %d\n#define LANES %d\n#define WARPS %d\n#define IN_MEMORY %d\n"
      "#define ROOM %lld\n",
      g->single ? 32 : 64, S, g->lanes, g->warps, g->in_memory,
      !g->device || g->device->ops->type == KUGEL_CUDA || g->in_memory ? 1 : room_of(g));
}

static kugel_status make_kernels(kugel__poly_gpu *g)
{
  char defines[256];
  bool mma = g->device->ops->type == KUGEL_CUDA && g->device->info.compute_capability >= 80;
  kugel__poly_defines(g, defines, sizeof defines);
  kugel__module_spec specs[2] = {{.name = "polynomial/tiles", .defines = defines},
                                 {.name = "polynomial/product",
                                  .defines = g->single ? "#define REAL_BITS 32\n#define MMA 0\n"
                                             : mma     ? "#define REAL_BITS 64\n#define MMA 1\n"
                                                       : "#define REAL_BITS 64\n#define MMA 0\n"}};
  KUGEL_TRY(kugel__module_get_all(g->ctx, 2, specs, g->modules));
  KUGEL_TRY(kugel__module_kernel(g->modules[0], "tiles", &g->tiles, NULL));
  return kugel__module_kernel(g->modules[1], "product", &g->product, NULL);
}

kugel_status kugel__poly_create(kugel_ctx *ctx, bool single, int64_t rows, int64_t waves_length,
                                kugel__poly_gpu **out)
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
  choose(g);
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

static kugel_status upload(kugel__poly_gpu *g, const void *from, size_t bytes, void **to)
{
  g->bytes += bytes;
  KUGEL_TRY(kugel__device_alloc(g->device, bytes, to));
  return kugel__device_copy(g->device, KUGEL__UPLOAD, (kugel__mem){*to, 0},
                            (kugel__mem){(void *)(uintptr_t)from, 0}, bytes, NULL);
}

/* ---- rotations ---- */

/* Rows of a family's table: step g, rotation k are in row S k + (S + 1) g + S (S + 2), k + g < reach. */
static int64_t rows_of(const kugel__poly_rotations *f)
{
  return S * (f->reach + 1) + f->steps + S * (S + 2) + 1;
}

static void put_pair(const kugel__poly_gpu *g, void *table, int64_t at, const void *pair)
{
  memcpy((char *)table + 2 * g->word * (size_t)at, pair, 2 * g->word);
}

static void fill_family(const kugel__poly_gpu *g, const kugel__poly_rotations *f, kugel__poly_family at,
                        void *scratch, void *table)
{
  const double one[2] = {1, 0};
  const float one_s[2] = {1, 0};
  for (int64_t i = 0; i < f->steps; i++) {
    int64_t count = kugel__max(0, f->reach - i), row = (S + 1) * i + S * (S + 2);
    kugel__jacobi_rotations(f->a, f->b0 + 2 * (double)i, f->sign, count, g->single, scratch);
    for (int64_t k = -S - 2; k < count; k++)
      if (S * k + row >= 0)
        put_pair(g, table, at.at + (S * k + row) * at.width + i / S,
                 k >= 0      ? (const char *)scratch + 2 * g->word * (size_t)k
                 : g->single ? (const void *)one_s
                             : (const void *)one);
  }
}

kugel_status kugel__poly_turns(kugel__poly_gpu *g, int families, const kugel__poly_rotations *of)
{
  int64_t total = 1, reach = 1;
  for (int i = 0; i < families; i++) {
    g->family[i] = (kugel__poly_family){total, (of[i].steps + S - 1) / S, of[i].steps};
    total += rows_of(&of[i]) * g->family[i].width;
    reach = kugel__max(reach, of[i].reach);
  }
  size_t pair = 2 * g->word;
  char *table = kugel__calloc(g->ctx, pair * (size_t)total),
       *scratch = kugel__alloc(g->ctx, pair * (size_t)reach);
  kugel_status s = table && scratch
                       ? KUGEL_OK
                       : KUGEL_FAIL(KUGEL_ENOMEM, "no memory for %lld rotations", (long long)total);
  for (int i = 0; i < families && !s; i++)
    fill_family(g, &of[i], g->family[i], scratch, table);
  s = s ? s : upload(g, table, pair * (size_t)total, &g->turns);
  kugel__free(g->ctx, table);
  kugel__free(g->ctx, scratch);
  return s;
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
