/* SPDX-License-Identifier: BSD-3-Clause */
/* The text of a kernel of several steps per pass, see stencil/leap.h.
 *
 * In iteration t plane t of level 0 is there, counted from the first plane of the tile's halo, and plane t + 1 is asked for. Stage j reads
 * plane t - j lag of level j - 1, and writes it to level j. Level j has lag + 1 planes in shared memory, level 0 one more for the plane
 * on its way, and plane k is in place k mod their number; one barrier per iteration is enough. Registers h<j>_<row>_<k> are the last planes of level j - 1, the oldest first; on GPUs the loop is
 * unrolled by their number, so that none moves. */
#include <stdio.h>
#include <string.h>
#include "codegen/print.h"
#include "stencil/leap.h"

#define ADD(...) kugel__text_add(w->text, __VA_ARGS__)

typedef struct writer {
  kugel__text *text;
  const kugel__leap_shape *s;
  const kugel__march_shape *m;
  kugel__march_index index;
  int lag, cells, unrolled;                              /* nodes of a tile with its halo */
  bool loaded[2 * KUGEL__MARCH_SPAN][KUGEL__MARCH_SPAN]; /* in this stage */
} writer;

static bool reads_products(const writer *w)
{
  return w->m->source[0].coefficient;
}

/* The coefficient of group g, or the first one of what is read. */
static bool has_coefficient(const writer *w, int g)
{
  return w->m->group[g].coefficient || (reads_products(w) && g == 0);
}

/* Planes of level j - 1 in registers. */
static int depth(const writer *w, int j)
{
  return j == 1 && w->s->nested && w->s->stages > 2 ? w->s->stages * w->lag : 2 * w->lag;
}

static void name_of(const writer *w, char *name, int u, int j, int row, int k)
{
  snprintf(name, 48, "h%d_%d_%d", j, row, w->unrolled > 1 ? (u + k) % depth(w, j) : k);
}

/* Planes of a coefficient in shared memory: of all stages, and one on its way. */
static int span_of(const writer *w)
{
  return (w->s->stages - 1) * w->lag + 2;
}

static void halos(const writer *w, int *hy, int *hx)
{
  *hy = w->s->stages * w->m->source[0].halo[0];
  *hx = w->s->stages * w->m->source[0].halo[1];
}

/* Where plane `plane - t` of a level is in shared memory, beside the halo before it. */
static void plane_of(const writer *w, char *at, int u, int level, int plane)
{
  const int hold = kugel__leap_hold(w->s), planes = hold + (level == 0), first = level ? 1 + level * hold : 0,
            k = ((plane % planes) + planes) % planes;
  if (w->unrolled % planes == 0)
    snprintf(at, 64, "%d", (first + (u + k) % planes) * w->cells);
  else
    snprintf(at, 64, "(%d + (%s + %d) %% %d) * CELLS", first, level ? "place" : "place0", k, planes);
}

/* ---- before the kernel ---- */

static void head(writer *w)
{
  const kugel__march_shape *m = w->m;
  kugel__march_folds(w->text, m->large);
  ADD("#define WIDE %d\n#define CELLS %d\n#define PAD %d\n#define LAG %d\n#define THREADS %d\n", m->wide,
      w->cells, m->half * m->wide + m->half, w->lag, m->wide * m->tall);
  ADD("typedef struct {\n  i64 n[3], step[2], kind[6], begin, end, chunk, chunks, tiles[2], now_at, "
      "before_at, out_at, last_at, "
      "c_at[%d];\n",
      KUGEL__MARCH_GROUPS);
  ADD("  real unused, b, c, w[%d], a[%d];\n} leap_args;\n", w->index.count ? w->index.count : 1,
      KUGEL__LEAP_STEPS);
  if (w->s->walls)
    kugel__leap_walls(w->text);
}

/* ---- before the loop ---- */

static void begin_row(writer *w, int i)
{
  const kugel__march_shape *m = w->m;
  int hy, hx;
  halos(w, &hy, &hx);
  ADD("  const i64 gy%d = y0 + ty + %d;\n", i, i);
  ADD("  at_t row%d = (at_t)(fold(gy%d, s.n[1], s.kind[2], s.kind[3]) * s.step[1] + fold(gx, s.n[2], "
      "s.kind[4], s.kind[5]));\n",
      i, i);
  ADD("  const i32 own%d = tx >= %d && tx < WIDE - %d && ty + %d >= %d && ty + %d < %d && gx < s.n[2] && "
      "gy%d < s.n[1];\n",
      i, hx, hx, i, hy, i, m->tall * m->rows - hy, i);
  if (w->s->walls)
    ADD("  i32 f%d = kind_of(gx, gy%d, x0, y0, %d, s);\n", i, i, m->tall * m->rows);
}

/* Where the coefficient of group g has its ring of planes in shared memory. */
static int ring_of(const writer *w, int g)
{
  int at =
      2 * (w->m->half * w->m->wide + w->m->half) + (w->s->stages * kugel__leap_hold(w->s) + 1) * w->cells;
  for (int k = 0; k < g; k++)
    at += has_coefficient(w, k) * span_of(w) * w->cells;
  return at;
}

/* Asks for level 0, the level before it, and coefficients of iteration T, plane t + 1. */
static void fetch(writer *w)
{
  const kugel__march_shape *m = w->m;
  const char *at = reads_products(w) ? "now_ - s.now_at" : "late_"; // the plane of a coefficient
  ADD("#define FETCH(T, BASE, RING) { \\\n  const i64 z_ = zs + (T), q_ = z_ - LAG; \\\n"
      "  const i64 now_ = s.now_at + fold(z_, s.n[0], s.kind[0], s.kind[1]) * s.step[0], late_ = fold(q_, "
      "s.n[0], s.kind[0], s.kind[1]) * "
      "s.step[0]; \\\n  (void)late_; \\\n");
  if (w->s->walls)
    ADD("  const real sz_ = sign_of(z_, s.n[0], s.kind[0], s.kind[1]), sq_ = sign_of(q_, s.n[0], s.kind[0], "
        "s.kind[1]); \\\n  (void)sq_; "
        "\\\n");
  for (int i = 0; i < m->rows; i++) {
    if (w->s->walls) // zeros are zeros whatever is read
      ADD("  if (sz_ != 1 || (f%d & (EMPTY | NEGATIVE)))\\\n    room[(BASE) + own + %d] = sz_ == 0 || (f%d & "
          "EMPTY) ? (real)0 : (f%d & NEGATIVE ? "
          "-sz_ : sz_) * now[now_ + row%d]; \\\n  else \\\n  ",
          i, i * m->wide, i, i, i);
    ADD("  COPY_ASYNC(room, (BASE) + own + %d, now, now_ + row%d); \\\n", i * m->wide, i);
    if (!w->s->nested)
      ADD("  b%d = before[s.before_at + late_ + row%d]; \\\n", i, i);
    if (!w->s->nested && w->s->walls)
      ADD("  b%d = sq_ == 0 || (f%d & EMPTY) ? (real)0 : (f%d & NEGATIVE ? -sq_ : sq_) * b%d; \\\n", i, i, i,
          i);
    for (int g = 0; g < m->groups; g++)
      if (has_coefficient(w, g) && w->s->ring)
        ADD("  COPY_ASYNC(room, %d + (RING) * CELLS + %d * THREADS + id, coefficients, s.c_at[%d] + %s + "
            "row%d); \\\n",
            ring_of(w, g), i, g, at, i);
      else if (has_coefficient(w, g))
        ADD("  k%d_%d = coefficients[s.c_at[%d] + %s + row%d]; \\\n", g, i, g, at, i);
  }
  ADD("}\n");
}

static void begin(writer *w)
{
  const kugel__march_shape *m = w->m;
  int hy, hx;
  halos(w, &hy, &hx);
  ADD("  SHARED_FROM_LAUNCH(real, room, %d);\n", (int)(kugel__leap_shared(w->s) / (m->single ? 4 : 8)));
  ADD("  const i32 id = LOCAL_ID(0), tx = id %% WIDE, ty = id / WIDE * %d, own = PAD + ty * WIDE + tx;\n",
      m->rows);
  ADD("  const i64 group = GROUP_ID(0), bx = group %% s.tiles[0], by = group / s.tiles[0] %% s.tiles[1], "
      "slab = group / s.tiles[0] / "
      "s.tiles[1];\n"
      "  const i64 x0 = bx * %d - %d, y0 = by * %d - %d, gx = x0 + tx, z0 = s.begin + slab * s.chunk;\n",
      m->wide - 2 * hx, hx, m->tall * m->rows - 2 * hy, hy);
  ADD("  const i64 z1 = z0 + s.chunk < s.end ? z0 + s.chunk : s.end, zs = z0 - %d;\n"
      "  const i32 total = (i32)(z1 - z0) + %d;\n",
      w->s->stages * m->reach, w->s->stages * (m->reach + w->lag));
  for (int i = 0; i < m->rows; i++) {
    begin_row(w, i);
    ADD("  real b%d = 0;\n  (void)b%d;\n", i, i);
    for (int g = 0; g < m->groups; g++)
      if (has_coefficient(w, g) && !w->s->ring)
        ADD("  real k%d_%d;\n", g, i);
    for (int j = 1; j <= w->s->stages; j++)
      for (int k = 0; k < depth(w, j); k++)
        ADD("  real h%d_%d_%d = 0;\n", j, i, k);
  }
  ADD("  i32 t = 0, place = 0, place0 = 0, ring = 0;\n  (void)place, (void)place0, (void)ring;\n  FETCH(0, "
      "0, 0)\n  ASYNC_COMMIT();\n");
}

/* ---- an iteration ---- */

/* Of a node of stage j. */
static void coefficient_at(const writer *w, char *name, int j, int g, int i)
{
  const int span = span_of(w), first = reads_products(w) ? 0 : 1; // the stage whose plane is the newest
  if (w->s->ring)
    snprintf(name, 160, "room[%d + ((ring + %d) %% %d) * CELLS + %d * THREADS + id]", ring_of(w, g),
             span - (j - first) * w->lag, span, i);
  else if (j == first)
    snprintf(name, 160, "c%d_%d", g, i);
  else
    snprintf(name, 160,
             "coefficients[s.c_at[%d] + fold(zo, s.n[0], s.kind[0], s.kind[1]) * s.step[0] + row%d]", g, i);
}

/* A value of level `level` > 0 to its plane in shared memory. */
static void put(writer *w, int u, int level, int i, const char *value)
{
  char at[64], product[240], coefficient[160];
  if (reads_products(w)) {
    coefficient_at(w, coefficient, level, 0, i);
    snprintf(product, sizeof product, "%s * %s", coefficient, value);
    value = product;
  }
  plane_of(w, at, u, level, -level * w->lag);
  if (!w->s->walls) {
    ADD("      room[%s + own + %d] = %s;\n", at, i * w->m->wide, value);
    return;
  }
  ADD("      if (f%d & PUT)\n        room[%s + own + %d] = %s;\n", i, at, i * w->m->wide, value);
  ADD("      if (f%d & IMAGES)\n        put_images(room + PAD + %s, %s, gx, y0 + ty + %d, x0, y0, %d, s);\n",
      i, at, value, i, w->m->tall * w->m->rows);
}

/* The value of level j - 1 at (dy, dx) from the thread's first node, in the plane of the stage. */
static void value_at(writer *w, char *name, int u, int j, int dy, int dx)
{
  if (!dx && dy >= 0 && dy < w->m->rows && !w->s->walls && !reads_products(w)) { // the thread's own
    name_of(w, name, u, j, dy, depth(w, j) - w->lag);
    return;
  }
  snprintf(name, 48, "v%d_%d", dy + KUGEL__MARCH_HALF, dx + KUGEL__MARCH_HALF);
  bool *loaded = &w->loaded[dy + KUGEL__MARCH_HALF][dx + KUGEL__MARCH_HALF];
  if (!*loaded)
    ADD("    const real %s = room[plane + own + %d];\n", name, dy * w->m->wide + dx);
  *loaded = true;
}

/* The sum of group g of the thread's row i, in the order of a marching kernel. */
static void sum_group(writer *w, int u, int j, int g, int i)
{
  const kugel__march_shape *m = w->m;
  char name[96];
  ADD("    real a%d_%d = 0;\n", g, i);
  for (int k = -KUGEL__MARCH_HALF; k <= KUGEL__MARCH_HALF; k++) {
    if (m->column[0][g][k + KUGEL__MARCH_HALF]) {
      if (reads_products(w)) {
        char at[64];
        plane_of(w, at, u, j - 1, k - j * w->lag);
        snprintf(name, sizeof name, "room[%s + own + %d]", at, i * m->wide);
      } else if (k == w->lag)
        snprintf(name, sizeof name, "x%d_%d", j - 1, i);
      else
        name_of(w, name, u, j, i, depth(w, j) - w->lag + k);
      ADD("    a%d_%d = FMA(s.w[%d], %s, a%d_%d);\n", g, i, w->index.column[0][g][k + KUGEL__MARCH_HALF],
          name, g, i);
    }
    for (int p = 0; k == 0 && p < KUGEL__MARCH_SPAN * KUGEL__MARCH_SPAN; p++) {
      const int y = p / KUGEL__MARCH_SPAN, x = p % KUGEL__MARCH_SPAN;
      if (!m->plane[0][g][y][x])
        continue;
      value_at(w, name, u, j, i + y - KUGEL__MARCH_HALF, x - KUGEL__MARCH_HALF);
      ADD("    a%d_%d = FMA(s.w[%d], %s, a%d_%d);\n", g, i, w->index.plane[0][g][y][x], name, g, i);
    }
  }
}

static void stage(writer *w, int u, int j)
{
  const kugel__march_shape *m = w->m;
  char name[160], other[64];
  memset(w->loaded, 0, sizeof w->loaded);
  for (int i = 0; i < m->rows; i++)
    ADD("  real x%d_%d;\n", j, i);
  plane_of(w, other, u, j - 1, -j * w->lag);
  ADD("  {\n    const i32 plane = %s;\n    const i64 zo = z - %d;\n    (void)plane;\n", other, j * w->lag);
  for (int i = 0; i < m->rows; i++) {
    for (int g = 0; g < m->groups; g++)
      sum_group(w, u, j, g, i);
    ADD("    real r%d = 0;\n", i);
    for (int g = 0; g < m->groups; g++)
      if (!m->group[g].coefficient)
        ADD("    r%d = a%d_%d;\n", i, g, i);
    for (int g = 0; g < m->groups; g++)
      if (m->group[g].coefficient) {
        coefficient_at(w, name, j, g, i);
        ADD("    r%d = FMA(%s, a%d_%d, r%d);\n", i, name, g, i, i);
      }
    if (w->s->nested)
      name_of(w, name, u, 1, i, depth(w, 1) - j * w->lag);
    else
      name_of(w, name, u, j, i, w->lag);
    if (j == 1)
      snprintf(other, sizeof other, "q%d", i);
    else
      name_of(w, other, u, j - 1, i, 0);
    ADD("    x%d_%d = FMA(s.a[%d], r%d, FMA(s.b, %s, s.c * %s));\n", j, i, j - 1, i, name,
        w->s->nested ? "(real)0" : other);
    if (w->s->walls)
      ADD("    if ((f%d & EMPTY) || (zo < 0 && s.kind[0] == 3) || (zo >= s.n[0] && s.kind[1] == 3))\n      "
          "x%d_%d = 0;\n",
          i, j, i);
    snprintf(other, sizeof other, "x%d_%d", j, i);
    if (j < w->s->stages) {
      ADD("    {\n");
      put(w, u, j, i, other);
      ADD("    }\n");
      continue;
    }
    ADD("    if (own%d && zo >= z0 && zo < z1) {\n      out[s.out_at + zo * s.step[0] + row%d] = %s;\n", i, i,
        other);
    name_of(w, other, u, j, i, w->lag);
    if (!w->s->nested)
      ADD("      last[s.last_at + zo * s.step[0] + row%d] = %s;\n", i, other);
    ADD("    }\n");
  }
  ADD("  }\n");
}

/* The newest plane of each level takes the place of the oldest. */
static void shift(writer *w, int u)
{
  char name[48];
  for (int j = 1; j <= w->s->stages; j++)
    for (int i = 0; i < w->m->rows; i++) {
      for (int k = 1; k < depth(w, j) && w->unrolled == 1; k++)
        ADD("  h%d_%d_%d = h%d_%d_%d;\n", j, i, k - 1, j, i, k);
      name_of(w, name, u, j, i, w->unrolled == 1 ? depth(w, j) - 1 : 0);
      ADD("  %s = x%d_%d;\n", name, j - 1, i);
    }
}

static void iteration(writer *w, int u)
{
  const kugel__march_shape *m = w->m;
  char at[64], name[160];
  ADD("  {\n  const i64 z = zs + t;\n  ASYNC_WAIT(0);\n");
  plane_of(w, at, u, 0, 0);
  for (int i = 0; i < m->rows; i++) {
    ADD("  RENEW(row%d);\n  const real x0_%d = room[%s + own + %d], q%d = b%d;\n  (void)q%d;\n", i, i, at,
        i * m->wide, i, i, i);
    for (int g = 0; g < m->groups; g++)
      if (has_coefficient(w, g) && !w->s->ring)
        ADD("  const real c%d_%d = k%d_%d;\n", g, i, g, i);
    if (reads_products(w)) {
      coefficient_at(w, name, 0, 0, i);
      ADD("  room[%s + own + %d] = %s * x0_%d;\n", at, i * m->wide, name, i);
    }
  }
  plane_of(w, at, u, 0, 1);
  ADD("  if (t + 1 < total)\n    FETCH(t + 1, %s, (ring + 1) %% %d)\n  ASYNC_COMMIT();\n", at, span_of(w));
  for (int j = 1; j <= w->s->stages; j++)
    stage(w, u, j);
  shift(w, u);
  const char *last = reads_products(w) ? "2 * LAG" : "LAG"; // place of a level
  ADD("  t++;\n  place = place == %s ? 0 : place + 1;\n  place0 = place0 == %s + 1 ? 0 : place0 + 1;\n  "
      "ring = ring == %d ? 0 : ring + "
      "1;\n  BARRIER();\n  }\n",
      last, last, span_of(w) - 1);
}

static kugel_status write(kugel_ctx *ctx, const void *of, kugel__text *text)
{
  const kugel__leap_shape *s = of;
  writer room = {.text = text, .s = s, .m = &s->march}, *w = &room;
  (void)ctx;
  w->lag = kugel__leap_lag(s);
  w->cells = s->march.wide * s->march.tall * s->march.rows;
  w->unrolled = s->march.unrolled ? depth(w, 1) : 1;
  kugel__march_number(&s->march, &w->index);
  head(w);
  fetch(w);
  ADD("KERNEL_BLOCKS(THREADS, 1) leap(GLOBAL const real *RESTRICT now, GLOBAL const real *RESTRICT before, "
      "GLOBAL const real *RESTRICT "
      "coefficients, GLOBAL real *out, GLOBAL real *last, leap_args s)\n{\n");
  begin(w);
  ADD("#pragma unroll 1\n  while (t < total) {\n");
  for (int u = 0; u < w->unrolled; u++)
    iteration(w, u);
  ADD("  }\n}\n");
  return text->status;
}

kugel__module_spec kugel__leap_module(const kugel__leap_shape *s)
{
  return (kugel__module_spec){.name = "stencil_leap",
                              .defines =
                                  s->march.single ? "#define REAL_BITS 32\n" : "#define REAL_BITS 64\n",
                              .write = write,
                              .of = s,
                              .of_bytes = sizeof *s};
}
