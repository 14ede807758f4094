/* SPDX-License-Identifier: BSD-3-Clause */
/* The text of a marching kernel. On GPUs its loop is unrolled by the planes that a sum is open for, so that each sum is in one
 * register from its first product to its last. */
#include <stdio.h>
#include <string.h>
#include "codegen/print.h"
#include "stencil/march.h"

#define ADD(...) kugel__text_add(w->text, __VA_ARGS__)

typedef struct writer {
  kugel__text *text;
  const kugel__march_shape *s;
  kugel__march_index index;
  int window; /* planes that a sum is open for, steps of the loop's body */
  bool loaded[KUGEL__MARCH_SOURCES][2 * KUGEL__MARCH_SPAN][KUGEL__MARCH_SPAN]; /* in this step */
} writer;

static int pitch(const kugel__march_shape *s, int from)
{
  return s->wide + 2 * s->source[from].halo[1];
}

static int threads(const kugel__march_shape *s)
{
  return s->wide * s->tall;
}

/* Elements of a plane that a thread copies. */
static int copies(const kugel__march_shape *s, int from)
{
  return (int)((kugel__march_cells(s, from) + threads(s) - 1) / threads(s));
}

static int first_cell(const kugel__march_shape *s, int from)
{
  int64_t n = 0;
  for (int i = 0; i < from; i++)
    n += kugel__march_cells(s, i);
  return (int)n;
}

/* ---- before the kernel ---- */

void kugel__march_folds(kugel__text *text, bool large)
{
  kugel__text_add(
      text,
      "typedef %s at_t; // an offset in a plane\n"
      "// The node that a node beyond an end stands for, and its factor. Kinds: 0 periodic, 1 odd, 2 even, 3 "
      "zero; 8 even, 9 odd, "
      "where the mirror's own node counts twice, or not.\n"
      "DEVICE i64 fold(i64 i, i64 n, i64 low, i64 high)\n{\n"
      "  i64 j = i < 0 ? (low == 0 ? i + n : -i) : i >= n ? (high == 0 ? i - n : 2 * (n - 1) - i) : i;\n"
      "  return j < 0 ? 0 : j >= n ? n - 1 : j;\n}\n",
      large ? "u64" : "u32");
  kugel__text_add(
      text,
      "DEVICE real sign_of(i64 i, i64 n, i64 low, i64 high)\n{\n"
      "  i64 kind = i < 0 ? low : i >= n ? high : 0, own = i == 0 ? low : 0;\n"
      "  own = i == n - 1 && high >= 8 ? high : own;\n"
      "  return kind == 1 || kind == 9 ? (real)-1 : kind == 3 || own == 9 ? (real)0 : own == 8 ? (real)2 : "
      "(real)1;\n}\n");
  kugel__text_add(text,
                  "// Makes a compiler compute addresses from x where they are used: kept ones take more "
                  "registers than there are.\n"
                  "#if IS_CUDA\n#define RENEW(x) asm volatile(\"\" : \"+%c\"(x))\n#else\n#define RENEW(x) "
                  "((void)0)\n#endif\n",
                  large ? 'l' : 'r');
}

static void head(writer *w)
{
  const kugel__march_shape *s = w->s;
  ADD("#define REACH %d\n#define STAGES %d\n#define STAGE %d\n#define THREADS %d\n#define NONE ((at_t)-1)\n",
      s->reach, s->stages, first_cell(s, s->sources), threads(s));
  kugel__march_folds(w->text, s->large);
  ADD("typedef struct {\n  i64 n[3], step[2], first[3], last[3], kind[6], begin, end, chunk, chunks, "
      "tiles[2], item_in, "
      "item_out;\n"
      "  i64 in_at, out_at, p_at, q_at, use, source_at[%d], source_coefficient[%d], group_coefficient[%d], "
      "target_at[%d];\n",
      KUGEL__MARCH_SOURCES, KUGEL__MARCH_SOURCES, KUGEL__MARCH_GROUPS, KUGEL__MARCH_TARGETS);
  ADD("  real a, b, c, w[%d];\n} march_args;\n", w->index.count ? w->index.count : 1);
}

static void copy_cell(writer *w, int from, int k)
{
  const kugel__march_shape *s = w->s;
  const int at = first_cell(s, from) + k * threads(s);
  ADD("  if (o%d_%d != NONE) { \\\n", from, k);
  if (s->source[from].coefficient)
    ADD("    const real value = coefficients[c%d + plane_ + o%d_%d] * in[in%d + plane_ + o%d_%d]; \\\n", from,
        from, k, from, from, k);
  const char *read = s->source[from].coefficient ? "value" : "in[in_ + o_]";
  if (!s->source[from].coefficient)
    ADD("    const i64 in_ = in%d + plane_, o_ = (i64)o%d_%d; \\\n", from, from, k);
  if (s->signs)
    ADD("    const real g_ = sign_ * g%d_%d; \\\n    if (g_ != 1) \\\n      tile[(B) * STAGE + %d + id] = g_ "
        "== 0 ? (real)0 : "
        "g_ * %s; \\\n    else \\\n  ",
        from, k, at, read);
  if (s->source[from].coefficient)
    ADD("    tile[(B) * STAGE + %d + id] = value; \\\n  } \\\n", at);
  else
    ADD("    COPY_ASYNC(tile, (B) * STAGE + %d + id, in, in_ + o_); \\\n  } \\\n", at);
}

/* The plane of step T to place B of shared memory. */
static void fetch(writer *w)
{
  const kugel__march_shape *s = w->s;
  ADD("#define FETCH(T, B) { \\\n  const i64 z_ = z0 - REACH + (T), plane_ = fold(z_, s.n[0], s.kind[0], "
      "s.kind[1]) * s.step[0]; \\\n");
  if (s->signs)
    ADD("  const real sign_ = sign_of(z_, s.n[0], s.kind[0], s.kind[1]); \\\n");
  for (int from = 0; from < s->sources; from++)
    for (int k = 0; k < copies(s, from); k++)
      copy_cell(w, from, k);
  ADD("}\n\n");
}

/* ---- before the loop ---- */

static void offsets(writer *w, int from)
{
  const kugel__march_shape *s = w->s;
  const int hy = s->source[from].halo[0], hx = s->source[from].halo[1];
  ADD("  const i64 in%d = s.in_at + item * s.item_in + s.source_at[%d]", from, from);
  if (s->source[from].coefficient)
    ADD(", c%d = s.source_coefficient[%d]", from, from);
  ADD(";\n");
  ADD("  const i32 own%d = %d + (ty + %d) * %d + tx + %d;\n", from, first_cell(s, from), hy, pitch(s, from),
      hx);
  for (int k = 0; k < copies(s, from); k++) {
    ADD("  at_t o%d_%d;\n", from, k);
    if (s->signs)
      ADD("  real g%d_%d;\n", from, k);
    ADD("  {\n    const i32 cell = id + %d, row = cell / %d, column = cell %% %d;\n", k * threads(s),
        pitch(s, from), pitch(s, from));
    ADD("    const i64 y = y0 + row - %d, x = x0 + column - %d;\n", hy, hx);
    ADD("    const i32 there = cell < %d && y < s.n[1] + %d && x < s.n[2] + %d",
        (int)kugel__march_cells(s, from), hy, hx);
    if (!s->source[from].corners && hy && hx)
      ADD(" && ((row >= %d && row < %d) || (column >= %d && column < %d))", hy, hy + s->tall * s->rows, hx,
          hx + s->wide);
    ADD(";\n    o%d_%d = there ? (at_t)(fold(y, s.n[1], s.kind[2], s.kind[3]) * s.step[1] + fold(x, s.n[2], "
        "s.kind[4], "
        "s.kind[5])) : NONE;\n",
        from, k);
    if (s->signs)
      ADD("    g%d_%d = sign_of(y, s.n[1], s.kind[2], s.kind[3]) * sign_of(x, s.n[2], s.kind[4], "
          "s.kind[5]);\n",
          from, k);
    ADD("  }\n");
  }
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
      s->wide, s->tall * s->rows);
  ADD("  const i64 z1 = z0 + s.chunk < s.end ? z0 + s.chunk : s.end;\n"
      "  const i32 total = (i32)(z1 - z0) + 2 * REACH;\n"
      "  const i64 out0 = s.out_at + item * s.item_out, p0 = s.p_at + item * s.item_out, q0 = s.q_at + item "
      "* "
      "s.item_out;\n");
  for (int i = 0; i < s->rows; i++) {
    ADD("  at_t row%d = (at_t)((y0 + ty + %d) * s.step[1] + x0 + tx);\n", i, i);
    ADD("  const i32 own_row%d = y0 + ty + %d >= s.first[1] && y0 + ty + %d < s.last[1] && x0 + tx >= "
        "s.first[2] && x0 + "
        "tx < s.last[2];\n",
        i, i, i);
  }
  for (int from = 0; from < s->sources; from++)
    offsets(w, from);
  for (int g = 0; g < s->groups; g++)
    for (int i = 0; i < s->rows; i++)
      for (int k = 0; k < w->window; k++)
        ADD("  real a%d_%d_%d = 0;\n", g, i, k);
  ADD("  i32 t = 0, here = 0, ahead = %d;\n", s->stages - 1);
  for (int k = 0; k < s->stages - 1 && s->sources; k++)
    ADD("  if (%d < total)\n    FETCH(%d, %d)\n  ASYNC_COMMIT();\n", k, k, k);
}

/* ---- a step ---- */

/* The value at (dy, dx) from the thread's first node. */
static void load(writer *w, int from, int dy, int dx)
{
  bool *loaded = &w->loaded[from][dy + KUGEL__MARCH_HALF][dx + KUGEL__MARCH_HALF];
  if (!*loaded)
    ADD("      const real v%d_%d_%d = tile[here * STAGE + own%d + %d];\n", from, dy + KUGEL__MARCH_HALF,
        dx + KUGEL__MARCH_HALF, from, dy * pitch(w->s, from) + dx);
  *loaded = true;
}

/* A product into the sum of plane `k` from the one at hand. */
static void add_product(const writer *w, int u, int g, int i, int k, int weight, const char *value)
{
  const int slot = (u - k + 2 * w->window) % w->window;
  ADD("      a%d_%d_%d = FMA(s.w[%d], %s, a%d_%d_%d);\n", g, i, slot, weight, value, g, i, slot);
}

static void name_of(char *name, int from, int dy, int dx)
{
  snprintf(name, 64, "v%d_%d_%d", from, dy + KUGEL__MARCH_HALF, dx + KUGEL__MARCH_HALF);
}

static void add_mixed(writer *w, int u, int from, int g, int i, int along)
{
  char name[64], product[64];
  snprintf(product, sizeof product, "m%d_%d_%d_%d", from, g, i, along);
  bool first = true;
  ADD("      real %s;\n", product);
  for (int k = -w->s->half; k <= w->s->half; k++) {
    if (!k)
      continue;
    const int dy = i + (along ? 0 : k), dx = along ? k : 0;
    load(w, from, dy, dx);
    name_of(name, from, dy, dx);
    const int weight = w->index.mixed[from][g][along][0][k + KUGEL__MARCH_HALF];
    if (first)
      ADD("      %s = s.w[%d] * %s;\n", product, weight, name);
    else
      ADD("      %s = FMA(s.w[%d], %s, %s);\n", product, weight, name, product);
    first = false;
  }
  for (int k = -w->s->half; k <= w->s->half; k++)
    if (k)
      add_product(w, u, g, i, k, w->index.mixed[from][g][along][1][k + KUGEL__MARCH_HALF], product);
}

/* The plane at hand into the sums of a group. */
static void add_source(writer *w, int u, int from, int g, int i)
{
  const kugel__march_shape *s = w->s;
  char name[64];
  for (int k = -KUGEL__MARCH_HALF; k <= KUGEL__MARCH_HALF; k++) {
    if (!s->column[from][g][k + KUGEL__MARCH_HALF])
      continue;
    load(w, from, i, 0);
    name_of(name, from, i, 0);
    add_product(w, u, g, i, k, w->index.column[from][g][k + KUGEL__MARCH_HALF], name);
  }
  for (int dy = -KUGEL__MARCH_HALF; dy <= KUGEL__MARCH_HALF; dy++)
    for (int dx = -KUGEL__MARCH_HALF; dx <= KUGEL__MARCH_HALF; dx++) {
      if (!s->plane[from][g][dy + KUGEL__MARCH_HALF][dx + KUGEL__MARCH_HALF])
        continue;
      load(w, from, i + dy, dx);
      name_of(name, from, i + dy, dx);
      add_product(w, u, g, i, 0, w->index.plane[from][g][dy + KUGEL__MARCH_HALF][dx + KUGEL__MARCH_HALF],
                  name);
    }
  for (int along = 0; along < 2; along++)
    if (s->mixed[from][g][along])
      add_mixed(w, u, from, g, i, along);
}

/* Offsets in a plane, of every step anew. */
static void renew(writer *w)
{
  const kugel__march_shape *s = w->s;
  for (int i = 0; i < s->rows; i++)
    ADD("    RENEW(row%d);\n", i);
  for (int from = 0; from < s->sources; from++)
    for (int k = 0; k < copies(s, from); k++)
      ADD("    RENEW(o%d_%d);\n", from, k);
}

/* What the end of a step reads, early. */
static void prefetch(writer *w)
{
  const kugel__march_shape *s = w->s;
  ADD("    const i64 z = z0 + t - 2 * REACH, at = z * s.step[0];\n"
      "    const i32 live = t >= 2 * REACH && t < total && z >= s.first[0] && z < s.last[0];\n");
  for (int i = 0; i < s->rows; i++) {
    ADD("    const i32 write%d = live && own_row%d;\n", i, i);
    for (int g = 0; g < s->groups; g++)
      if (s->group[g].coefficient)
        ADD("    const real k%d_%d = write%d ? coefficients[s.group_coefficient[%d] + at + row%d] : "
            "(real)0;\n",
            g, i, i, g, i);
    for (int target = 0; target < s->targets; target++) {
      ADD("    const real p%d_%d = write%d && (s.use & 1) ? p[p0 + s.target_at[%d] + at + row%d] : "
          "(real)0;\n",
          target, i, i, target, i);
      ADD("    const real q%d_%d = write%d && (s.use & 2) ? q[q0 + s.target_at[%d] + at + row%d] : "
          "(real)0;\n",
          target, i, i, target, i);
    }
  }
}

/* The sums that the plane at hand was the last for. */
static void finish(writer *w, int u)
{
  const kugel__march_shape *s = w->s;
  const int slot = (u - s->reach + w->window) % w->window;
  for (int i = 0; i < s->rows; i++) {
    ADD("    if (write%d) {\n", i);
    for (int target = 0; target < s->targets; target++) {
      ADD("      real r%d = 0;\n", target);
      for (int g = 0; g < s->groups; g++)
        if (s->group[g].target == target && !s->group[g].coefficient)
          ADD("      r%d = a%d_%d_%d;\n", target, g, i, slot);
      for (int g = 0; g < s->groups; g++)
        if (s->group[g].target == target && s->group[g].coefficient)
          ADD("      r%d = FMA(k%d_%d, a%d_%d_%d, r%d);\n", target, g, i, g, i, slot, target);
      ADD("      r%d = FMA(s.a, r%d, FMA(s.b, p%d_%d, s.c * q%d_%d));\n", target, target, target, i, target,
          i);
      ADD("      out[out0 + s.target_at[%d] + at + row%d] = r%d;\n", target, i, target);
    }
    ADD("    }\n");
  }
}

static void step(writer *w, int u)
{
  const kugel__march_shape *s = w->s;
  ADD("  {\n");
  if (s->sources)
    ADD("    ASYNC_WAIT(%d);\n    BARRIER();\n", s->stages - 2);
  renew(w);
  prefetch(w);
  if (s->sources)
    ADD("    if (t + %d < total)\n      FETCH(t + %d, ahead)\n    ASYNC_COMMIT();\n", s->stages - 1,
        s->stages - 1);
  memset(w->loaded, 0, sizeof w->loaded);
  ADD("    if (t < total) {\n");
  for (int g = 0; g < s->groups; g++) // the sums that open
    for (int i = 0; i < s->rows; i++)
      ADD("      a%d_%d_%d = 0;\n", g, i, (u + s->reach) % w->window);
  for (int from = 0; from < s->sources; from++)
    for (int g = 0; g < s->groups; g++)
      for (int i = 0; i < s->rows; i++)
        add_source(w, u, from, g, i);
  ADD("    }\n");
  finish(w, u);
  for (int k = 1; k < w->window && s->unrolled == 1; k++) // the sum of a plane that is now one nearer
    for (int g = 0; g < s->groups; g++)
      for (int i = 0; i < s->rows; i++)
        ADD("    a%d_%d_%d = a%d_%d_%d;\n", g, i, (k + s->reach) % w->window, g, i,
            (k + s->reach + 1) % w->window);
  ADD("    t++;\n    here = here + 1 == STAGES ? 0 : here + 1;\n    ahead = ahead + 1 == STAGES ? 0 : ahead "
      "+ 1;\n  }\n");
}

static kugel_status write(kugel_ctx *ctx, const void *of, kugel__text *text)
{
  writer room = {.text = text, .s = of}, *w = &room;
  (void)ctx;
  w->window = 2 * w->s->reach + 1;
  kugel__march_number(w->s, &w->index);
  head(w);
  fetch(w);
  ADD("KERNEL_BLOCKS(THREADS, 1) march(GLOBAL const real *RESTRICT in, GLOBAL const real *RESTRICT "
      "coefficients, "
      "GLOBAL const real "
      "*p, GLOBAL const real *q, GLOBAL real *out, march_args s)\n{\n");
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
