/* SPDX-License-Identifier: BSD-3-Clause */
/* How much shared memory a block takes, and what of it for what. */
#include "fft/gpu/block_build.h"

int64_t kugel__block_exchange(const kugel__block *b)
{
  return (b->halves ? 1 : 2) * kugel__bank_layout_of(b).plane;
}

// Points of a butterfly of the first stage, which is the last one back, that belong to the line.
int kugel__block_taken(const kugel__block *b, int r)
{
  int64_t step = b->m / r;
  return (int)kugel__min(r, (b->n + step - 1) / step);
}

// Complex numbers for the results of the first part of a split convolution.
static int64_t parked(const kugel__block *b)
{
  return b->how == KUGEL__BLOCK_SPLIT
             ? (int64_t)kugel__block_rounds(b, 0) * kugel__block_taken(b, b->radix[0]) * b->threads * b->group
             : 0;
}

// Columns are an odd number of points apart, for the rows' sake.
kugel__bank_layout kugel__prime_layout(const kugel__block *part, int64_t points)
{
  bool pairs = part->real == KUGEL__F32;
  return (kugel__bank_layout){
      .pairs = pairs, .point_step = part->group | 1, .slot_step = 1, .plane = (part->group | 1) * points};
}

static int64_t prime_shared(const kugel__block *b)
{
  kugel__block columns = kugel__prime_columns(b), rows = kugel__prime_rows(b);
  return 2 *
         kugel__max(kugel__prime_layout(&columns, columns.n).plane, kugel__prime_layout(&rows, rows.n).plane);
}

kugel__shelf kugel__shelf_of(const kugel__block *b, const kugel__bank_layout *l)
{
  enum { LEAST = 32768 }; // bytes that a block has on any device
  int64_t n = b->line.n, pad = 128 / kugel__real_bytes(b->real), pitch = n + n / pad;
  pitch += b->group > 1 && pitch % 2 == 0;
  int64_t room = kugel__max(2 * l->plane, LEAST / kugel__real_bytes(b->real));
  return pitch * b->group <= room ? (kugel__shelf){pad, pitch} : (kugel__shelf){0, n};
}

// Reals of lines in shared memory, no more than an exchange of both parts takes unless they are few.
static int64_t staged_reals(const kugel__block *b, const kugel__bank_layout *l)
{
  return kugel__block_staged_in(b) || kugel__block_staged_out(b) ? kugel__shelf_of(b, l).pitch * b->group : 0;
}

int64_t kugel__block_shared(const kugel__block *b)
{
  if (b->how == KUGEL__BLOCK_PRIME)
    return prime_shared(b);
  kugel__bank_layout l = kugel__bank_layout_of(b);
  bool whole = b->how == KUGEL__BLOCK_RADER || kugel__block_tiled(b) || kugel__line_pairs(&b->line, b->sink);
  bool used = b->stages > 1 || b->spectrum || whole;
  if (b->how == KUGEL__BLOCK_SPLIT) // what is parked is joined before pairs of points meet
    return kugel__max((kugel__block_exchange(b) + 1) / 2 * 2 + 2 * parked(b), whole ? 2 * l.plane : 0);
  int64_t exchange = !used ? 0 : b->halves && !whole ? l.plane : 2 * l.plane;
  exchange = kugel__max(exchange, staged_reals(b, &l));
  int64_t roots = kugel__block_shares_roots(b) ? 2 * (int64_t)b->group * b->radix[b->stages - 1] : 0;
  return roots ? (exchange + 1) / 2 * 2 + roots : exchange;
}
