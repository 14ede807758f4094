/* SPDX-License-Identifier: BSD-3-Clause */
#include "volume/gpu/move.h"
#include <stdio.h>
#include <string.h>
#include "codegen/module.h"
#include "core/alloc.h"
#include "core/ctx.h"

enum { BLOCK = 256, MOST_BLOCKS = 1 << 20, DIMS = KUGEL__VOLUME_DIMS };

/* ---- lists ---- */

// The words of the three lists of an axis, at `t` of the host's table.
static int64_t add_lists(const kugel_volume *p, kugel__moves *g, bool plain, int d, int64_t *table,
                         int64_t at)
{
  const kugel__volume_axis *a = &p->axis[d];
  bool zero = plain || p->opts.boundary == KUGEL_BOUNDARY_ZERO || p->opts.boundary == KUGEL_BOUNDARY_UNKNOWN;
  int64_t f = g->extended[d], count = 0;
  g->extend.start[d] = at;
  g->extend.index[d] = at + f + 1;
  g->fold.start[d] = g->extend.index[d] + f;
  g->fold.index[d] = g->fold.start[d] + a->n + 1;
  g->results.start[d] = g->fold.index[d] + f;
  g->results.index[d] = g->results.start[d]; // 0, 1, 2 ...
  g->extend.extent[d] = f;
  g->fold.extent[d] = a->n;
  g->results.extent[d] = a->m;
  int64_t end = g->results.start[d] + a->m + 1;
  if (!table)
    return end;
  int64_t *start = table + g->fold.start[d], *index = table + g->fold.index[d];
  memset(start, 0, (size_t)(a->n + 1) * 8);
  for (int pass = 0; pass < 2; pass++) { // counts, then places
    count = 0;
    for (int64_t e = 0; e < f; e++) {
      int64_t i = plain ? e : a->first + e;
      bool inside = i >= 0 && i < a->n;
      i = zero ? i : kugel__volume_inside(p->opts.boundary, i, a->n);
      table[g->extend.start[d] + e] = count;
      if (zero && !inside)
        continue;
      if (pass == 0) {
        table[g->extend.index[d] + count] = i;
        start[i + 1]++;
      } else {
        index[start[i]++] = e;
      }
      count++;
    }
    table[g->extend.start[d] + f] = count;
    for (int64_t i = 0; i < a->n && pass == 0; i++)
      start[i + 1] += start[i];
  }
  memmove(start + 1, start, (size_t)a->n * 8); // each start has become the next one
  start[0] = 0;
  for (int64_t i = 0; i <= a->m; i++)
    table[g->results.start[d] + i] = i;
  return end;
}

kugel_status kugel__moves_create(const kugel_volume *p, const bool plain[3], kugel__moves *g)
{
  kugel__device *dev = kugel__ctx_device(p->ctx);
  int64_t words = 0, *host;
  for (int d = 0; d < DIMS; d++) {
    g->extended[d] = plain[d] ? p->axis[d].n : p->axis[d].m + p->axis[d].k - 1;
    words = add_lists(p, g, plain[d], d, NULL, words);
  }
  KUGEL_ALLOC(p->ctx, host, (size_t)words * 8);
  int64_t at = 0;
  for (int d = 0; d < DIMS; d++)
    at = add_lists(p, g, plain[d], d, host, at);
  kugel_status s = kugel__device_alloc(dev, (size_t)words * 8, &g->table);
  if (!s)
    s = kugel__device_copy(dev, KUGEL__UPLOAD, (kugel__mem){g->table, 0}, (kugel__mem){host, 0},
                           (size_t)words * 8, NULL);
  kugel__free(p->ctx, host);
  return s;
}

void kugel__moves_destroy(const kugel_volume *p, kugel__moves *moves)
{
  kugel__device_free(kugel__ctx_device(p->ctx), moves->table);
}

/* ---- moves ---- */

typedef struct move_shape { // as in kernels/move.cl
  int64_t count, extent[DIMS];
  int64_t in_first, in_step[DIMS], out_first, out_step[DIMS];
  int64_t window_first, window_step[DIMS];
  int64_t start[DIMS], index[DIMS];
} move_shape;

static const char *word_of(kugel_dtype t)
{
  int bits = t.code == KUGEL_COMPLEX ? t.bits / 2 : t.bits;
  if (t.code == KUGEL_UINT)
    return bits == 8 ? "unsigned char" : "u16";
  if (t.code == KUGEL_INT)
    return bits == 16 ? "short" : "i32";
  return bits == 16 ? "u16" : bits == 32 ? "float" : "double";
}

static bool is_half(kugel_dtype t)
{
  return t.code == KUGEL_FLOAT && t.bits == 16;
}

static void describe(const kugel__move *m, bool wide, char *text, size_t size)
{
  kugel_dtype in = m->from.dtype, out = m->to.dtype;
  int parts = in.code == KUGEL_COMPLEX ? 2 : 1, bits = out.bits;
  bool integer = out.code == KUGEL_INT || out.code == KUGEL_UINT;
  long long high = !integer ? 0 : out.code == KUGEL_UINT ? (1LL << bits) - 1 : (1LL << (bits - 1)) - 1;
  long long low = integer && out.code == KUGEL_INT ? -high - 1 : 0;
  snprintf(text, size,
           "#define IN %s\n#define IN_PARTS %d\n#define IN_HALF %d\n#define OUT %s\n#define OUT_PARTS "
           "%d\n#define OUT_HALF %d\n"
           "#define WORK %s\n#define INTEGER %d\n#define OUT_LOW (%lld)\n#define OUT_HIGH %lld\n#define "
           "WINDOW %s\n"
           "#define WINDOWED %d\n#define AT_RESULT %d\n%s",
           word_of(in), parts, is_half(in), word_of(out), parts, is_half(out), wide ? "double" : "float",
           integer, low, high, m->p->f32 ? "float" : "double", m->window != 0, m->window == 2,
           wide ? "" : "#define REAL_BITS 32\n");
}

static bool is_wide(const kugel_volume *p, kugel_dtype t)
{
  int bits = t.code == KUGEL_COMPLEX ? t.bits / 2 : t.bits;
  return !p->f32 || bits == 64 || (t.code == KUGEL_INT && bits == 32);
}

kugel_status kugel__move_run(const kugel__move *m, kugel_queue *queue)
{
  const kugel_volume *p = m->p;
  kugel__device *dev = kugel__ctx_device(p->ctx);
  bool wide = is_wide(p, m->from.dtype) || is_wide(p, m->to.dtype);
  char defines[512];
  KUGEL_CHECK(!wide || dev->info.fp64, KUGEL_ENOTSUP,
              "%s has no double precision: use KUGEL_PRECISION_F32 and arrays of at most 32 bits but int32",
              dev->info.name);
  describe(m, wide, defines, sizeof defines);
  move_shape s = {.count = 1, .in_first = m->in_first, .out_first = m->out_first};
  int64_t step = 1;
  for (int d = DIMS - 1; d >= 0; d--) {
    s.extent[d] = m->lists->extent[d];
    s.count *= s.extent[d];
    s.in_step[d] = m->from.step[d + 1];
    s.out_step[d] = m->to.step[d + 1];
    s.start[d] = m->lists->start[d];
    s.index[d] = m->lists->index[d];
    s.window_step[d] = step;
    step *= p->axis[d].m;
  }
  s.window_first = step * m->kernel;
  kugel__module *module;
  kugel__kernel *kernel;
  KUGEL_TRY(kugel__module_get(p->ctx, &(kugel__module_spec){.name = "volume/gpu/move", .defines = defines},
                              &module));
  kugel_status status = kugel__module_kernel(module, "move", &kernel, NULL);
  kugel__grid grid = {.blocks = {(uint32_t)kugel__min((s.count + BLOCK - 1) / BLOCK, MOST_BLOCKS)},
                      .threads = {BLOCK}};
  kugel__mem table = {m->moves->table, 0}, window = m->window ? m->factors : table;
  float low = (float)m->scale;
  kugel__arg args[] = {KUGEL__MEM_ARG(m->in),
                       KUGEL__MEM_ARG(m->out),
                       KUGEL__MEM_ARG(table),
                       KUGEL__MEM_ARG(window),
                       KUGEL__MEM_ARG(m->clipped),
                       KUGEL__VALUE_ARG(s),
                       wide ? KUGEL__VALUE_ARG(m->scale) : KUGEL__VALUE_ARG(low)};
  if (!status)
    status = kugel__launch(dev, kernel, &grid, 7, args, queue);
  kugel__module_put(module);
  return status;
}
