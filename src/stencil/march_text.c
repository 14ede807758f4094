/* SPDX-License-Identifier: BSD-3-Clause */
/* The text of a marching kernel. On GPUs its loop is unrolled by the planes that a sum is open for, so that each sum is in one
 * register from its first product to its last. A thread has some rows, and of wide stencils two columns: a pair in shared memory is then read at once. */
#include <stdio.h>
#include <string.h>
#include "stencil/march_text.h"

#define ADD(...) kugel__text_add(w->text, __VA_ARGS__)

typedef kugel__march_writer writer;

static int nodes_of(const writer *w)
{
  return w->s->rows * w->s->columns;
}

/* ---- before the kernel ---- */

/* The node that a node beyond an end stands for. Kinds of ends: 0 periodic, 1 odd, 2 even, 3 zero; 8 even, 9 odd, where the mirror's own
 * node counts twice, or not. */
static void fold(kugel__text *text, const char *name, const char *type)
{
  kugel__text_add(
      text,
      "DEVICE i64 %s(%s i, %s n, i64 low, i64 high)\n{\n"
      "  %s j = i < 0 ? (low == 0 ? i + n : -i) : i >= n ? (high == 0 ? i - n : 2 * (n - 1) - i) : i;\n"
      "  return j < 0 ? 0 : j >= n ? n - 1 : j;\n}\n",
      name, type, type, type);
}

void kugel__march_folds(kugel__text *text, bool large)
{
  kugel__text_add(text, "typedef %s at_t; // an offset in a plane\n", large ? "u64" : "u32");
  fold(text, "fold", "i64");
  kugel__text_add(
      text,
      "DEVICE real sign_of(i64 i, i64 n, i64 low, i64 high)\n{\n"
      "  i64 kind = i < 0 ? low : i >= n ? high : 0, own = i == 0 ? low : 0;\n"
      "  own = i == n - 1 && high >= 8 ? high : own;\n"
      "  return kind == 1 || kind == 9 ? (real)-1 : kind == 3 || own == 9 ? (real)0 : own == 8 ? (real)2 : "
      "(real)1;\n}\n");
  /* Makes a compiler compute addresses from x where they are used: kept ones take more registers than there are. Of pointers it then
   * forgets that they are of device memory. */
  kugel__text_add(text,
                  "#if IS_CUDA\n#define RENEW(x) asm volatile(\"\" : \"+%c\"(x))\n#else\n#define RENEW(x) "
                  "((void)0)\n#endif\n"
                  "#ifdef __CUDA_ARCH__\n"
                  "#define RENEW_POINTER(x) asm volatile(\"\" : \"+l\"(x)); __builtin_assume(__isGlobal(x))\n"
                  "#else\n#define RENEW_POINTER(x) ((void)0)\n#endif\n",
                  large ? 'l' : 'r');
}

static void head(writer *w)
{
  const kugel__march_shape *s = w->s;
  ADD("#define REACH %d\n#define STAGES %d\n#define STAGE %d\n#define THREADS %d\ntypedef %s z_t;\n",
      s->reach, s->stages, kugel__march_first_cell(s, s->sources), kugel__march_threads(s),
      s->large ? "i64" : "i32");
  kugel__march_folds(w->text, s->large);
  fold(w->text, "fold_plane", "z_t");
  ADD("typedef struct {\n  i64 n[3], step[2], first[3], last[3], kind[6], begin, end, chunk, chunks, "
      "tiles[2], item_in, "
      "item_out;\n"
      "  i64 in_at, out_at, p_at, q_at, use, source_at[%d], source_coefficient[%d], "
      "group_coefficient[%d], "
      "target_at[%d];\n",
      KUGEL__MARCH_SOURCES, KUGEL__MARCH_SOURCES, KUGEL__MARCH_GROUPS, KUGEL__MARCH_TARGETS);
  ADD("  real a, b, c, w[%d];\n} march_args;\n", w->index.count ? w->index.count : 1);
}

/* ---- before the loop ---- */

/* Which nodes a thread writes: pairs are of one kind. */
static void own_nodes(writer *w)
{
  const kugel__march_shape *s = w->s;
  for (int i = 0; i < s->rows; i++)
    ADD("  at_t row%d = (at_t)((y0 + ty + %d) * s.step[1] + x0 + %d * tx);\n", i, i, s->columns);
  for (int i = 0; i < nodes_of(w); i += s->pairs ? 2 : 1)
    ADD("  const i32 own_node%d = y0 + ty + %d >= s.first[1] && y0 + ty + %d < s.last[1] && x0 + %d * tx + "
        "%d >= "
        "s.first[2] && x0 + %d * tx + %d < s.last[2];\n",
        i, i / s->columns, i / s->columns, s->columns, i % s->columns, s->columns, i % s->columns);
}

static void begin(writer *w)
{
  const kugel__march_shape *s = w->s;
  if (s->sources)
    ADD("  SHARED_FROM_LAUNCH(real, tile, STAGES * STAGE);\n");
  ADD("  const i32 id = LOCAL_ID(0), tx = id %% %d, ty = id / %d * %d;\n", s->wide, s->wide, s->rows);
  ADD("  const i64 group = GROUP_ID(0), bx = group %% s.tiles[0], by = group / s.tiles[0] %% s.tiles[1], "
      "slab = group / "
      "s.tiles[0] / s.tiles[1];\n");
  ADD("  const i64 item = slab / s.chunks, x0 = bx * %d, y0 = by * %d, z0 = s.begin + slab %% s.chunks * "
      "s.chunk;\n",
      s->wide * s->columns, s->tall * s->rows);
  ADD("  const i64 z1 = z0 + s.chunk < s.end ? z0 + s.chunk : s.end;\n"
      "  const i32 total = (i32)(z1 - z0) + 2 * REACH;\n"
      "  const i64 out0 = s.out_at + item * s.item_out, p0 = s.p_at + item * s.item_out, q0 = s.q_at + item "
      "* "
      "s.item_out;\n  (void)p0, (void)q0;\n");
  ADD("  const z_t n0 = (z_t)s.n[0], z_begin = (z_t)z0 - REACH;\n  (void)z_begin;\n");
  ADD("  const i32 low = 2 * REACH + (i32)(s.first[0] > z0 ? (s.first[0] < z1 ? s.first[0] : z1) - z0 : 0), "
      "high = 2 * REACH + "
      "(i32)((s.last[0] < z1 ? s.last[0] > z0 ? s.last[0] : z0 : z1) - z0);\n");
  own_nodes(w);
  for (int from = 0; from < s->sources; from++)
    kugel__march_copy_offsets(w, from);
  for (int g = 0; g < s->groups; g++)
    for (int i = 0; i < nodes_of(w); i++)
      for (int k = 0; k < w->window; k++)
        ADD("  real a%d_%d_%d = 0;\n", g, i, k);
  ADD("  z_t next = z_begin;\n  i64 at = (z0 - 2 * REACH) * s.step[0], plane = fold_plane(next, n0, "
      "(i32)s.kind[0], (i32)s.kind[1]) * "
      "s.step[0];\n  (void)n0, (void)next, (void)plane;\n  i32 t = 0, here = 0, ahead = %d;\n",
      s->stages - 1);
  for (int k = 0; k < s->stages - 1 && s->sources; k++)
    ADD("  if (%d < total)\n    FETCH(%d)\n  ASYNC_COMMIT();\n", k, k);
  if (kugel__march_settles(s))
    ADD("  ASYNC_WAIT(%d);\n  SETTLE(0, 0)\n", s->stages - 2);
}

/* ---- a step ---- */

/* The value at (dy, dx) from the thread's first node. */
static void load(writer *w, int from, int dy, int dx, char *name)
{
  const int pairs = w->s->columns == 2, y = dy + KUGEL__MARCH_HALF, x = dx + KUGEL__MARCH_HALF,
            first = pairs ? x / 2 * 2 : x,
            at = dy * kugel__march_pitch(w->s, from) + first - KUGEL__MARCH_HALF;
  bool *loaded = &w->loaded[from][y][first];
  snprintf(name, 64, "v%d_%d_%d%s", from, y, first, pairs ? x % 2 ? ".y" : ".x" : "");
  if (!*loaded && pairs)
    ADD("      const real2 v%d_%d_%d = SHARED_PAIR(tile, pair%d + %d);\n", from, y, first, from, at / 2);
  else if (!*loaded)
    ADD("      const real v%d_%d_%d = tile[here * STAGE + own%d + %d];\n", from, y, first, from, at);
  *loaded = true;
}

/* A product into the sum of plane `k` from the one at hand. */
static void add_product(const writer *w, int u, int g, int i, int k, int weight, const char *value)
{
  const int slot = (u - k + 2 * w->window) % w->window;
  ADD("      a%d_%d_%d = FMA(s.w[%d], %s, a%d_%d_%d);\n", g, i, slot, weight, value, g, i, slot);
}

static void add_mixed(writer *w, int u, int from, int g, int node, int along)
{
  const int y = node / w->s->columns, x = node % w->s->columns;
  char name[64], product[64];
  snprintf(product, sizeof product, "m%d_%d_%d_%d", from, g, node, along);
  bool first = true;
  ADD("      real %s;\n", product);
  for (int k = -w->s->half; k <= w->s->half; k++) {
    if (!k)
      continue;
    load(w, from, y + (along ? 0 : k), x + (along ? k : 0), name);
    const int weight = w->index.mixed[from][g][along][0][k + KUGEL__MARCH_HALF];
    if (first)
      ADD("      %s = s.w[%d] * %s;\n", product, weight, name);
    else
      ADD("      %s = FMA(s.w[%d], %s, %s);\n", product, weight, name, product);
    first = false;
  }
  for (int k = -w->s->half; k <= w->s->half; k++)
    if (k)
      add_product(w, u, g, node, k, w->index.mixed[from][g][along][1][k + KUGEL__MARCH_HALF], product);
}

/* The plane at hand into the sums of a group. */
static void add_source(writer *w, int u, int from, int g, int node)
{
  const kugel__march_shape *s = w->s;
  const int y = node / s->columns, x = node % s->columns;
  char name[64];
  for (int k = -KUGEL__MARCH_HALF; k <= KUGEL__MARCH_HALF; k++) {
    if (!s->column[from][g][k + KUGEL__MARCH_HALF])
      continue;
    load(w, from, y, x, name);
    add_product(w, u, g, node, k, w->index.column[from][g][k + KUGEL__MARCH_HALF], name);
  }
  for (int dy = -KUGEL__MARCH_HALF; dy <= KUGEL__MARCH_HALF; dy++)
    for (int dx = -KUGEL__MARCH_HALF; dx <= KUGEL__MARCH_HALF; dx++) {
      if (!s->plane[from][g][dy + KUGEL__MARCH_HALF][dx + KUGEL__MARCH_HALF])
        continue;
      load(w, from, y + dy, x + dx, name);
      add_product(w, u, g, node, 0, w->index.plane[from][g][dy + KUGEL__MARCH_HALF][dx + KUGEL__MARCH_HALF],
                  name);
    }
  for (int along = 0; along < 2; along++)
    if (s->mixed[from][g][along])
      add_mixed(w, u, from, g, node, along);
}

/* Offsets in a plane, of every step anew. */
static void renew(writer *w)
{
  const kugel__march_shape *s = w->s;
  for (int i = 0; i < s->rows; i++)
    ADD("    RENEW(row%d);\n", i);
  for (int from = 0; from < s->sources; from++)
    for (int k = 0; k < kugel__march_copies(s, from); k++)
      ADD("    RENEW(o%d_%d);\n", from, k);
}

/* ---- what the end of a step reads and writes ---- */

/* Reads `name`<node> of an array from a place in it on. */
static void read_nodes(writer *w, const char *name, const char *array, const char *place,
                       const char *condition)
{
  const int columns = w->s->columns;
  for (int i = 0; i < nodes_of(w); i++)
    ADD("    real %s_%d = 0;\n", name, i);
  ADD("    if (live%s) {\n      GLOBAL const real *at_ = %s + (%s + at);\n      RENEW_POINTER(at_);\n",
      condition, array, place);
  for (int i = 0; i < nodes_of(w); i++) {
    if (w->s->pairs && i % 2)
      continue;
    ADD("      if (own_node%d) {\n", i);
    if (w->s->pairs)
      ADD("        const real2 u_ = *(GLOBAL const real2 *)(at_ + row%d);\n        %s_%d = u_.x;\n        "
          "%s_%d = u_.y;\n      }\n",
          i / 2, name, i, name, i + 1);
    else
      ADD("        %s_%d = at_[row%d + %d];\n      }\n", name, i, i / columns, i % columns);
  }
  ADD("    }\n");
}

/* Early. */
static void prefetch(writer *w)
{
  const kugel__march_shape *s = w->s;
  char name[32], place[64];
  ADD("    const i32 live = t >= low && t < high;\n");
  for (int g = 0; g < s->groups; g++)
    if (s->group[g].coefficient) {
      snprintf(name, sizeof name, "k%d", g);
      snprintf(place, sizeof place, "s.group_coefficient[%d]", g);
      read_nodes(w, name, "coefficients", place, "");
    }
  for (int target = 0; target < s->targets && s->adds; target++) {
    snprintf(name, sizeof name, "p%d", target);
    snprintf(place, sizeof place, "p0 + s.target_at[%d]", target);
    read_nodes(w, name, "p", place, " && (s.use & 1)");
    snprintf(name, sizeof name, "q%d", target);
    snprintf(place, sizeof place, "q0 + s.target_at[%d]", target);
    read_nodes(w, name, "q", place, " && (s.use & 2)");
  }
}

/* The sums that the plane at hand was the last for. */
static void finish(writer *w, int u)
{
  const kugel__march_shape *s = w->s;
  const int slot = (u - s->reach + w->window) % w->window;
  ADD("    if (live) {\n");
  for (int i = 0; i < nodes_of(w); i++)
    for (int target = 0; target < s->targets; target++) {
      ADD("      real r%d_%d = 0;\n", target, i);
      for (int g = 0; g < s->groups; g++)
        if (s->group[g].target == target && !s->group[g].coefficient)
          ADD("      r%d_%d = a%d_%d_%d;\n", target, i, g, i, slot);
      for (int g = 0; g < s->groups; g++)
        if (s->group[g].target == target && s->group[g].coefficient)
          ADD("      r%d_%d = FMA(k%d_%d, a%d_%d_%d, r%d_%d);\n", target, i, g, i, g, i, slot, target, i);
      if (s->adds)
        ADD("      r%d_%d = FMA(s.a, r%d_%d, FMA(s.b, p%d_%d, s.c * q%d_%d));\n", target, i, target, i,
            target, i, target, i);
      else
        ADD("      r%d_%d = FMA(s.a, r%d_%d, (real)0);\n", target, i, target, i);
    }
  for (int target = 0; target < s->targets; target++) {
    ADD("      GLOBAL real *to%d = out + (out0 + s.target_at[%d] + at);\n      RENEW_POINTER(to%d);\n",
        target, target, target);
    for (int i = 0; i < nodes_of(w); i += s->pairs ? 2 : 1)
      if (s->pairs)
        ADD("      if (own_node%d)\n        STREAM_PAIR((GLOBAL real2 *)(to%d + row%d), 0, r%d_%d, "
            "r%d_%d);\n",
            i, target, i / 2, target, i, target, i + 1);
      else
        ADD("      if (own_node%d)\n        to%d[row%d + %d] = r%d_%d;\n", i, target, i / s->columns,
            i % s->columns, target, i);
  }
  ADD("    }\n");
}

static void step(writer *w, int u)
{
  const kugel__march_shape *s = w->s;
  ADD("  {\n");
  if (s->sources && !kugel__march_settles(s))
    ADD("    ASYNC_WAIT(%d);\n", s->stages - 2);
  if (s->sources)
    ADD("    BARRIER();\n");
  renew(w);
  prefetch(w);
  if (s->sources)
    ADD("    if (t + %d < total)\n      FETCH(ahead)\n    ASYNC_COMMIT();\n", s->stages - 1);
  memset(w->loaded, 0, sizeof w->loaded);
  ADD("    if (t < total) {\n");
  for (int g = 0; g < s->groups; g++) // the sums that open
    for (int i = 0; i < nodes_of(w); i++)
      ADD("      a%d_%d_%d = 0;\n", g, i, (u + s->reach) % w->window);
  for (int from = 0; from < s->sources; from++) {
    if (s->columns == 2)
      ADD("      const i32 pair%d = here * (STAGE / 2) + own%d / 2;\n", from, from);
    for (int g = 0; g < s->groups; g++)
      for (int i = 0; i < nodes_of(w); i++)
        add_source(w, u, from, g, i);
  }
  ADD("    }\n");
  finish(w, u);
  if (kugel__march_settles(s))
    ADD("    ASYNC_WAIT(%d);\n    if (t + 1 < total)\n      SETTLE(t + 1, (here + 1 == STAGES ? 0 : here + "
        "1))\n",
        s->stages - 2);
  for (int k = 1; k < w->window && s->unrolled == 1; k++) // the sum of a plane that is now one nearer
    for (int g = 0; g < s->groups; g++)
      for (int i = 0; i < nodes_of(w); i++)
        ADD("    a%d_%d_%d = a%d_%d_%d;\n", g, i, (k + s->reach) % w->window, g, i,
            (k + s->reach + 1) % w->window);
  ADD("    t++;\n    at += s.step[0];\n    here = here + 1 == STAGES ? 0 : here + 1;\n    ahead = ahead + 1 "
      "== STAGES ? 0 : ahead "
      "+ 1;\n  }\n");
}

static kugel_status write(kugel_ctx *ctx, const void *of, kugel__text *text)
{
  writer room = {.text = text, .s = of}, *w = &room;
  (void)ctx;
  w->window = 2 * w->s->reach + 1;
  kugel__march_number(w->s, &w->index);
  head(w);
  kugel__march_copy_macros(w);
  ADD("KERNEL_BLOCKS(THREADS, %d) march(GLOBAL const real *RESTRICT in, GLOBAL const real *RESTRICT "
      "coefficients, "
      "GLOBAL const real "
      "*p, GLOBAL const real *q, GLOBAL real *out, march_args s)\n{\n",
      w->s->blocks);
  begin(w);
  ADD("#pragma unroll 1\n  while (t < total) {\n");
  for (int u = 0; u < w->s->unrolled; u++)
    step(w, u);
  ADD("  }\n}\n");
  return text->status;
}

kugel__module_spec kugel__march_module(const kugel__march_shape *s)
{
  return (kugel__module_spec){.name = "stencil",
                              .defines = s->single ? "#define REAL_BITS 32\n" : "#define REAL_BITS 64\n",
                              .write = write,
                              .of = s,
                              .of_bytes = sizeof *s};
}
