/* SPDX-License-Identifier: BSD-3-Clause */
/* The text of a marching kernel: planes to shared memory. A thread copies some cells of each plane, single ones or pairs, always the same, by
 * asynchronous copies of what the grid has for them, be it beyond an end. Signs of ends and coefficients of what is read are multiplied in
 * by the thread that copied a cell, a plane later, so that nobody waits for device memory. */
#include <stdio.h>
#include "stencil/march_text.h"

#define ADD(...) kugel__text_add(w->text, __VA_ARGS__)

typedef kugel__march_writer writer;

/* Signs of a thread's cells in one word of 64 bits, 4 bits each: as it is. */
#define ALL_ONE "0x1111111111111111ul"

int64_t kugel__march_cells(const kugel__march_shape *s, int source)
{
  return (int64_t)(s->tall * s->rows + 2 * s->source[source].halo[0]) * kugel__march_pitch(s, source);
}

int kugel__march_first_cell(const kugel__march_shape *s, int from)
{
  int64_t n = 0;
  for (int i = 0; i < from; i++)
    n += kugel__march_cells(s, i) * (1 + s->source[i].coefficient);
  return (int)n;
}

/* Cells of a copy. */
static int unit(const kugel__march_shape *s)
{
  return s->pairs ? 2 : 1;
}

int kugel__march_copies(const kugel__march_shape *s, int from)
{
  const int threads = kugel__march_threads(s);
  return (int)((kugel__march_cells(s, from) / unit(s) + threads - 1) / threads);
}

bool kugel__march_settles(const kugel__march_shape *s)
{
  bool settles = s->signs && s->sources;
  for (int i = 0; i < s->sources; i++)
    settles |= s->source[i].coefficient;
  return settles;
}

/* Threads that have a copy k of their own. */
static int sharers(const kugel__march_shape *s, int from, int k)
{
  const int threads = kugel__march_threads(s),
            count = (int)(kugel__march_cells(s, from) / unit(s)) - k * threads;
  return count < threads ? count : threads;
}

/* Where copy k goes in a plane, that of thread 0. */
static int begin_copy(writer *w, int from, int k)
{
  ADD("  { \\\n");
  return kugel__march_first_cell(w->s, from) + k * kugel__march_threads(w->s) * unit(w->s);
}

/* Whether threads without a last copy make that of another once more, which a branch would cost more than. */
static bool repeats(const kugel__march_shape *s, int from, int k)
{
  return sharers(s, from, k) < kugel__march_threads(s) && !kugel__march_settles(s);
}

static void copy_cells(writer *w, const char *array, int from, int k, int at)
{
  char id[16] = "id";
  if (repeats(w->s, from, k))
    snprintf(id, sizeof id, "last%d", from);
  if (w->s->pairs)
    ADD("    COPY_ASYNC_PAIR(tile, (B) * (STAGE / 2) + %d + %s, (GLOBAL const real2 *)(%s%d_ + o%d_%d), 0); "
        "\\\n",
        at / 2, id, array, from, from, k);
  else
    ADD("    COPY_ASYNC(tile, (B) * STAGE + %d + %s, %s%d_, o%d_%d); \\\n", at, id, array, from, from, k);
}

static void fetch(writer *w)
{
  const kugel__march_shape *s = w->s;
  ADD("#define FETCH(B) { \\\n");
  for (int from = 0; from < s->sources; from++) {
    ADD("  GLOBAL const real *from%d_ = in + (in%d + plane); \\\n  RENEW_POINTER(from%d_); \\\n", from, from,
        from);
    if (s->source[from].coefficient)
      ADD("  GLOBAL const real *by%d_ = coefficients + (c%d + plane); \\\n  RENEW_POINTER(by%d_); \\\n", from,
          from, from);
    for (int k = 0; k < kugel__march_copies(s, from); k++) {
      if (sharers(s, from, k) < kugel__march_threads(s) && !repeats(s, from, k))
        ADD("  if (id < %d) \\\n", sharers(s, from, k));
      const int at = begin_copy(w, from, k);
      copy_cells(w, "from", from, k, at);
      if (s->source[from].coefficient)
        copy_cells(w, "by", from, k, at + (int)kugel__march_cells(s, from));
      ADD("  } \\\n");
    }
  }
  ADD("  next++; \\\n  plane = next > 0 && next < n0 ? plane + s.step[0] : fold_plane(next, n0, "
      "(i32)s.kind[0], (i32)s.kind[1]) * "
      "s.step[0]; \\\n}\n\n");
}

/* ---- signs and products ---- */

static void multiply(writer *w, int from, int k)
{
  const kugel__march_shape *s = w->s;
  if (sharers(s, from, k) < kugel__march_threads(s))
    ADD("  if (id < %d) \\\n", sharers(s, from, k));
  const int at = begin_copy(w, from, k), by = at + (int)kugel__march_cells(s, from);
  if (s->pairs)
    ADD("    const i32 i_ = (B) * (STAGE / 2) + id; \\\n"
        "    const real2 u_ = SHARED_PAIR(tile, i_ + %d), c_ = SHARED_PAIR(tile, i_ + %d); \\\n"
        "    PUT_SHARED_PAIR(tile, i_ + %d, c_.x * u_.x, c_.y * u_.y); \\\n  } \\\n",
        at / 2, by / 2, at / 2);
  else
    ADD("    const i32 i_ = (B) * STAGE + id; \\\n    tile[i_ + %d] *= tile[i_ + %d]; \\\n  } \\\n", at, by);
}

/* Cells with another sign than 1 are few, those of a wall in a tile. */
static void sign_function(writer *w, int from)
{
  const kugel__march_shape *s = w->s;
  ADD("DEVICE void sign_cells%d(IN_SHARED real *cells, i32 id, u64 codes, i32 sign)\n{\n#if IS_CUDA\n#pragma "
      "unroll "
      "4\n#endif\n",
      from);
  ADD("  for (i32 i = 0; i < %d; i++) {\n    const i32 cell = %d * (id + i / %d * THREADS) + i %% %d, own = "
      "sign * ((i32)((u32)(codes >> 4 * "
      "i) << 28) >> 28);\n",
      kugel__march_copies(s, from) * unit(s), unit(s), unit(s), unit(s));
  ADD("    if (own != 1 && cell < %d) {\n      const real x = own < 0 ? -cells[cell] : cells[cell], twice = "
      "x + x;\n"
      "      cells[cell] = own == 0 ? (real)0 : own == -1 ? x : own == 2 || own == -2 ? twice : twice + "
      "twice;\n    }\n  }\n}\n",
      (int)kugel__march_cells(s, from));
}

static void settle(writer *w)
{
  const kugel__march_shape *s = w->s;
  for (int from = 0; from < s->sources && s->signs; from++)
    sign_function(w, from);
  ADD("#define SETTLE(T, B) { \\\n");
  for (int from = 0; from < s->sources; from++)
    for (int k = 0; k < kugel__march_copies(s, from) && s->source[from].coefficient; k++)
      multiply(w, from, k);
  if (s->signs)
    ADD("  const z_t z_ = z_begin + (T); \\\n  const i32 end_ = z_ <= 0 || z_ >= n0 - 1; \\\n");
  for (int from = 0; from < s->sources && s->signs; from++)
    ADD("  if (end_ || codes%d != " ALL_ONE
        ") \\\n    sign_cells%d(tile + (B) * STAGE + %d, id, codes%d, end_ ? (i32)sign_of(z_, s.n[0], "
        "s.kind[0], s.kind[1]) : 1); \\\n",
        from, from, kugel__march_first_cell(s, from), from);
  ADD("}\n\n");
}

void kugel__march_copy_macros(kugel__march_writer *w)
{
  fetch(w);
  if (kugel__march_settles(w->s))
    settle(w);
}

/* ---- before the loop ---- */

static void offset(writer *w, int from, int k)
{
  const kugel__march_shape *s = w->s;
  const int cells = unit(s), pitch = kugel__march_pitch(s, from) / cells;
  char id[16] = "id";
  if (repeats(s, from, k))
    snprintf(id, sizeof id, "last%d", from);
  if (repeats(s, from, k))
    ADD("  const i32 last%d = id < %d ? id : %d;\n", from, sharers(s, from, k), sharers(s, from, k) - 1);
  ADD("  {\n    const i32 cell = %s + %d;\n    const i64 y = y0 + cell / %d - %d, x = x0 + %d * (cell %% %d) "
      "- %d;\n",
      id, k * kugel__march_threads(s), pitch, s->source[from].halo[0], cells, pitch,
      kugel__march_margin(s, from));
  ADD("    o%d_%d = (at_t)(fold(y, s.n[1], s.kind[2], s.kind[3]) * s.step[1] + fold(x, s.n[2], s.kind[4], "
      "s.kind[5]));\n",
      from, k);
  for (int c = 0; c < cells && s->signs; c++)
    ADD("    codes%d ^= (u64)(((i32)(sign_of(y, s.n[1], s.kind[2], s.kind[3]) * sign_of(x + %d, s.n[2], "
        "s.kind[4], "
        "s.kind[5])) & 15) ^ 1) << %d;\n",
        from, c, (k * cells + c) * 4);
  ADD("  }\n");
}

void kugel__march_copy_offsets(kugel__march_writer *w, int from)
{
  const kugel__march_shape *s = w->s;
  ADD("  const i64 in%d = s.in_at + item * s.item_in + s.source_at[%d]", from, from);
  if (s->source[from].coefficient)
    ADD(", c%d = s.source_coefficient[%d]", from, from);
  ADD(";\n");
  ADD("  const i32 own%d = %d + (ty + %d) * %d + %d * tx + %d;\n", from, kugel__march_first_cell(s, from),
      s->source[from].halo[0], kugel__march_pitch(s, from), s->columns, kugel__march_margin(s, from));
  if (s->signs)
    ADD("  u64 codes%d = " ALL_ONE ";\n", from);
  for (int k = 0; k < kugel__march_copies(s, from); k++) {
    ADD("  at_t o%d_%d;\n", from, k);
    offset(w, from, k);
  }
}
