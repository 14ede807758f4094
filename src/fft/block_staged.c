/* SPDX-License-Identifier: BSD-3-Clause */
/* Results of cosine and sine kinds by way of shared memory: DCT-III and DCT-IV and their sine kinds write from
 * both ends of a line towards its middle, every other element or every fourth. */
#include "fft/block_build.h"

bool kugel__block_staged(const kugel__block *b)
{
  bool whole = b->flat && b->line.points == b->n && b->cluster <= 1 && !b->rader && b->real != KUGEL__DD;
  bool scattered = b->sink > KUGEL__END_HALF && !kugel__line_pairs(&b->line, b->sink);
  return whole && scattered && b->step_out == 1 && !b->keep_out.count && !b->half_out;
}

// An element is left out after that many, so that threads two or four elements apart meet all banks.
static int64_t pad_of(const kugel__block *b)
{
  return 128 / kugel__real_bytes(b->real);
}

static int64_t pitch_of(const kugel__block *b) // from line to line
{
  return (b->line.n + b->line.n / pad_of(b)) | 1;
}

int64_t kugel__block_staged_reals(const kugel__block *b)
{
  return kugel__block_staged(b) ? pitch_of(b) * b->group : 0;
}

void kugel__store_staged(kugel__build *k, const kugel__seat *s)
{
  kugel__gen *g = k->g;
  const kugel__block *b = k->b;
  int64_t n = b->line.n;
  kugel__val transform = g_add(g, k->group, s->slot), line = g_mul(g, s->slot, kugel__int(pitch_of(b)));
  kugel__gen_note(g, "lines to shared memory");
  if (b->stages > 1 || b->spectrum)
    kugel__gen_barrier(g);
  kugel__track out = kugel__track_of(k, transform, false), in = out;
  in.side.array = k->shared;
  in.side.at = kugel__gen_name(g, "line", line);
  in.side.pad = pad_of(b);
  kugel__store_points(k, s, in);
  kugel__gen_barrier(g);
  kugel__gen_note(g, "and to memory");
  kugel__gen_if(g, transform, k->count);
  for (int64_t from = 0; from < n; from += b->threads) {
    kugel__val i = g_add(g, s->t, kugel__int(from)), at = g_add(g, i, g_div(g, i, kugel__int(pad_of(b))));
    bool partly = from + b->threads > n;
    if (partly)
      kugel__gen_if(g, i, kugel__int(n));
    kugel__gen_store(g, k->out, g_add(g, out.side.at, i),
                     kugel__gen_load(g, k->shared, g_add(g, in.side.at, at), false));
    if (partly)
      kugel__gen_end(g);
  }
  kugel__gen_end(g);
}
