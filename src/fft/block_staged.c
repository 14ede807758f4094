/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines of cosine and sine kinds by way of shared memory. DCT-II, DCT-III and their sine kinds read elements
 * with gaps or twice; DCT-III, DCT-IV and theirs write from both ends of a line towards its middle, every
 * other element or every fourth. (DCT-IV reads faster from memory.) */
#include "fft/block_build.h"

// Whether blocks hold whole lines.
static bool whole(const kugel__block *b)
{
  return b->flat && b->line.points == b->n && b->cluster <= 1 && !b->rader && !b->split && !b->prime &&
         b->real != KUGEL__DD;
}

bool kugel__block_staged_in(const kugel__block *b)
{
  bool two = b->source == KUGEL__END_DCT2 || b->source == KUGEL__END_DST2,  // with gaps, in both directions
      three = b->source == KUGEL__END_DCT3 || b->source == KUGEL__END_DST3; // twice
  return whole(b) && (two || three) && b->step_in == 1 && !b->keep_in.count && !b->half_in;
}

bool kugel__block_staged_out(const kugel__block *b)
{
  bool scattered = b->sink > KUGEL__END_HALF && !kugel__line_pairs(&b->line, b->sink);
  return whole(b) && scattered && b->step_out == 1 && !b->keep_out.count && !b->half_out;
}

/* Lines in shared memory: `pitch` reals from one to the next; an element is left out after `pad`, so that
 * threads two or four elements apart meet all banks; 0: there is no room for that. */
typedef struct shelf {
  int64_t pad, pitch;
} shelf;

static shelf shelf_of(const kugel__block *b, const kugel__bank_layout *l)
{
  enum { LEAST = 32768 }; // bytes that a block has on any device
  int64_t n = b->line.n, pad = 128 / kugel__real_bytes(b->real), pitch = n + n / pad;
  pitch += b->group > 1 && pitch % 2 == 0;
  int64_t room = kugel__max(2 * l->plane, LEAST / kugel__real_bytes(b->real));
  return pitch * b->group <= room ? (shelf){pad, pitch} : (shelf){0, n};
}

int64_t kugel__block_staged_reals(const kugel__block *b, const kugel__bank_layout *l)
{
  return kugel__block_staged_in(b) || kugel__block_staged_out(b) ? shelf_of(b, l).pitch * b->group : 0;
}

// The line of a slot in shared memory.
static kugel__track staged(kugel__build *k, const kugel__seat *s, kugel__track t)
{
  shelf lines = shelf_of(k->b, &k->layout);
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
