/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines of cosine and sine kinds by way of shared memory. DCT-II, DCT-III and their sine kinds read elements
 * with gaps or twice; DCT-III, DCT-IV and theirs write from both ends of a line towards its middle, every
 * other element or every fourth. (DCT-IV reads faster from memory.) */
#include "fft/gpu/block_build.h"

// The line of a slot in shared memory.
static kugel__track staged(kugel__build *k, const kugel__seat *s, kugel__track t)
{
  kugel__shelf lines = kugel__shelf_of(k->b, &k->layout);
  kugel__val line = g_mul(k->g, s->slot, kugel__int(lines.pitch));
  t.side.array = k->shared;
  t.side.at = kugel__gen_name(k->g, "line", line);
  t.side.step = kugel__int(1);
  t.side.pad = lines.pad;
  return t;
}

// Where element i lies.
static kugel__val place(kugel__build *k, const kugel__track *t, kugel__val i)
{
  if (t->side.pad)
    i = g_add(k->g, i, g_div(k->g, i, kugel__int(t->side.pad)));
  return g_add(k->g, t->side.at, i);
}

void kugel__load_staged(kugel__build *k, const kugel__seat *s)
{
  enum { MOST = 2 * KUGEL__BLOCK_POINTS }; // elements of a thread at once
  kugel__gen *g = k->g;
  int64_t n = k->b->line.n, threads = k->b->threads;
  kugel__track in = kugel__track_in(k, s), t = staged(k, s, in);
  kugel__val x[MOST], i[MOST];
  kugel__gen_note(g, "lines to shared memory");
  for (int64_t first = 0; first < n; first += MOST * threads) {
    int count = (int)kugel__min(MOST, (n - first + threads - 1) / threads);
    for (int r = 0; r < count; r++) {
      int64_t from = first + r * threads;
      i[r] = g_add(g, s->t, kugel__int(from));
      i[r] = from + threads > n ? g_min(g, i[r], kugel__int(n - 1)) : i[r];
      x[r] = kugel__gen_load(g, k->in, g_add(g, in.side.at, i[r]), false);
    }
    for (int r = 0; r < count; r++)
      kugel__gen_store(g, k->shared, place(k, &t, i[r]), x[r]);
  }
  kugel__gen_barrier(g);
  kugel__load_points(k, s, t);
}

void kugel__store_staged(kugel__build *k, const kugel__seat *s)
{
  kugel__gen *g = k->g;
  const kugel__block *b = k->b;
  int64_t n = b->line.n;
  kugel__val transform = g_add(g, k->group, s->slot);
  kugel__gen_note(g, "lines to shared memory");
  if (b->stages > 1 || b->spectrum || kugel__block_staged_in(b))
    kugel__gen_barrier(g);
  kugel__track out = kugel__track_of(k, transform, false), t = staged(k, s, out);
  kugel__store_points(k, s, t);
  kugel__gen_barrier(g);
  kugel__gen_note(g, "and to memory");
  kugel__gen_if(g, transform, k->count);
  for (int64_t from = 0; from < n; from += b->threads) {
    kugel__val i = g_add(g, s->t, kugel__int(from));
    bool partly = from + b->threads > n;
    if (partly)
      kugel__gen_if(g, i, kugel__int(n));
    kugel__gen_store(g, k->out, g_add(g, out.side.at, i),
                     kugel__gen_load(g, k->shared, place(k, &t, i), false));
    if (partly)
      kugel__gen_end(g);
  }
  kugel__gen_end(g);
}
