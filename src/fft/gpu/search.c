/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks that fit a device, by a model of their speed; alternatives that are to be measured. */
#include "fft/gpu/search.h"
#include <math.h>
#include <string.h>
#include "fft/cpu/radices.h"
#include "fft/gpu/block_build.h"

int64_t kugel__block_real_bytes(const kugel__block *b)
{
  return kugel__real_bytes(b->real);
}

bool kugel__block_fits(const kugel__block *b, uint64_t shared)
{
  for (int i = 0; i < b->stages; i++)
    if (kugel__block_rounds(b, i) * b->radix[i] > KUGEL__BLOCK_POINTS)
      return false;
  kugel__block whole = *b; // some ends exchange real and imaginary parts at once
  whole.halves = false;
  int64_t need = b->how == KUGEL__BLOCK_SPLIT
                     ? kugel__max(kugel__block_shared(b), 2 * kugel__bank_layout_of(b).plane)
                     : kugel__block_shared(&whole);
  return b->threads * b->group <= 1024 && (uint64_t)(need * kugel__block_real_bytes(b)) <= shared;
}

/* ---- the model ---- */

int kugel__block_most_points(const kugel__block *b)
{
  int most = 0;
  for (int i = 0; i < b->stages; i++)
    most = (int)kugel__max(most, kugel__block_rounds(b, i) * b->radix[i]);
  return most;
}

// Logarithm of the expected rate, up to a constant. Coefficients: least squares over 3600 kernels of 42
// lengths.
static double score(const kugel__block *b)
{
  int64_t threads = b->threads * b->group, lanes = (threads + 31) / 32 * 32,
          points = kugel__block_most_points(b);
  double need = b->real == KUGEL__F32 ? 20 + 3. * (double)points : 22 + 5. * (double)points, idle = 0;
  int64_t registers = (int64_t)ceil(fmin(255, need) / 8) * 8,
          most = kugel__min(255, KUGEL__SM_REGISTERS / lanes);
  int64_t shared = b->stages > 1 ? b->m * b->group * kugel__block_real_bytes(b) * (b->halves ? 1 : 2) : 0;
  int64_t blocks = kugel__min(KUGEL__SM_REGISTERS / (registers * lanes),
                              KUGEL__SM_SHARED / (shared + shared / 32 + KUGEL__SM_BLOCK_SHARED));
  blocks = kugel__max(1, kugel__min(blocks, kugel__min(KUGEL__SM_THREADS / lanes, KUGEL__SM_BLOCKS)));
  for (int i = 0; i < b->stages; i++)
    idle += 1 - (double)(b->m / b->radix[i]) / ((double)kugel__block_rounds(b, i) * b->threads);
  return -.254 / (double)blocks - .06 * b->stages - .062 * ((double)lanes / (double)threads - 1) -
         .549 * fmax(0, log2(need / (double)most)) - .116 * idle / b->stages - .017 * b->halves;
}

enum { OTHERS = 16, LARGEST = 32 }; // LARGEST: radix that the model covers

typedef struct search {
  kugel__block best, trial;
  kugel__block *list; // not NULL: receives the best `room` blocks, best first
  int room, count;
  double scores[OTHERS];
  double score; // a block must exceed it
  int stages;   // at most
  int least;    // threads per block, at least
  uint64_t shared;
} search;

static void keep(search *s, double score)
{
  if (!s->list) {
    s->best = s->trial;
    s->score = score;
    return;
  }
  int at = s->count < s->room ? s->count++ : s->room - 1;
  for (; at > 0 && s->scores[at - 1] < score; at--) {
    s->scores[at] = s->scores[at - 1];
    s->list[at] = s->list[at - 1];
  }
  s->scores[at] = score;
  s->list[at] = s->trial;
  s->score = s->count < s->room ? -INFINITY : s->scores[s->room - 1];
}

static void try_groups(search *s)
{
  kugel__block *b = &s->trial;
  for (int want = s->least; want <= 512; want *= 2)
    for (int halves = 0; halves < 2; halves++) {
      b->group = want / b->threads > 1 ? want / b->threads : 1;
      b->halves = halves;
      if ((halves && (b->stages < 2 || b->m < 256)) || kugel__block_most_points(b) > 32)
        continue;
      double found = score(b);
      if (found > s->score && kugel__block_fits(b, s->shared))
        keep(s, found);
    }
}

static void try_threads(search *s)
{
  kugel__block *b = &s->trial;
  for (int i = 0; i < b->stages; i++)
    for (int times = 1; times <= 4 && (i == 0 || b->radix[i] != b->radix[i - 1]); times++)
      if (b->m % (b->radix[i] * times) == 0 && b->m / (b->radix[i] * times) <= 1024) {
        b->threads = (int)(b->m / (b->radix[i] * times));
        try_groups(s);
      }
}

static void try_radices(search *s, int64_t rest, int largest)
{
  kugel__block *b = &s->trial;
  if (rest == 1) {
    b->stages += b->m == 1; // a stage of one point
    try_threads(s);
    b->stages -= b->m == 1;
    return;
  }
  for (int r = b->stages < s->stages ? largest : 1; r > 1; r--)
    if (rest % r == 0 && (r <= 17 || r == 19 || r == 23 || r == 29 || r == 31 || b->m >= 512)) {
      b->radix[b->stages++] = r;
      try_radices(s, rest / r, r);
      b->stages--;
    }
}

bool kugel__block_search(const kugel__block *b, int stages, uint64_t shared, kugel__block *out)
{
  search s = {.trial = *b, .best = *b, .score = -INFINITY, .stages = stages, .shared = shared};
  for (s.least = 64; s.least && s.score == -INFINITY; s.least /= 2)
    try_radices(&s, b->m, LARGEST);
  *out = s.best;
  return s.score > -INFINITY;
}

/* ---- others ---- */

static void add_other(search *s)
{
  kugel__block *b = &s->trial;
  bool known = !kugel__block_fits(b, s->shared) || s->count == s->room;
  for (int i = 0; i < s->count; i++)
    known = known || !memcmp(&s->list[i], b, sizeof *b);
  if (!known)
    s->list[s->count++] = *b;
}

// Alternatives for strided lines: points per thread, lines per block.
static void others_across(search *s, const kugel__block *b)
{
  int64_t line = 2 * kugel__block_real_bytes(b);
  kugel__radices radices = kugel__radices_fewest(b->m);
  for (int points = 8; points <= 32; points *= 2)
    for (int own = 0; own < 2; own++) { // radices
      kugel__block *t = &s->trial;
      *t = *b;
      t->stages = own ? b->stages : radices.count;
      for (int i = 0; i < t->stages && !own; i++)
        t->radix[i] = (int)radices.radix[i];
      for (int i = t->stages; i < KUGEL__BLOCK_STAGES; i++)
        t->radix[i] = 0;
      int64_t threads = (b->m + points - 1) / points;
      for (t->threads = (int)threads; t->stages && threads <= 1024; t->threads = (int)++threads)
        if (kugel__block_most_points(t) <= points)
          break;
      for (t->group = (int)(64 / line); t->stages && threads <= 1024 && t->group <= (int)(256 / line);
           t->group *= 2) {
        t->halves = t->stages > 1 && t->m * t->group * line > 49152;
        add_other(s);
      }
    }
}

int kugel__block_others(const kugel__block *b, uint64_t shared, int room, kugel__block *list)
{
  search s = {.trial = *b, .list = list, .score = -INFINITY, .least = 64, .shared = shared};
  s.room = (int)kugel__min(room, OTHERS);
  s.trial.stream = s.trial.constants = false;
  s.trial.resident = 0;
  s.stages = kugel__radices_fewest(b->m).count;
  if (b->how == KUGEL__BLOCK_CLUSTER || b->how == KUGEL__BLOCK_PRIME)
    return 0;
  if (b->in.across || b->out.across) {
    others_across(&s, b);
    return s.count;
  }
  memset(s.trial.radix, 0, sizeof s.trial.radix);
  s.trial.radix[0] = 1;
  s.trial.stages = 0;
  for (; s.least && !s.count; s.least /= 2)
    try_radices(&s, b->m, LARGEST);
  return s.count;
}
