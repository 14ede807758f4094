/* SPDX-License-Identifier: BSD-3-Clause */
/* Growing lists of ranges of pixels, and the sets made of them. */
#ifndef KUGEL_HEALPIX_RANGES_H
#define KUGEL_HEALPIX_RANGES_H

#include "healpix/cap.h"

/* Rising, disjoint ranges [lo, hi); adjacent ones are joined. */
typedef struct kugel__ranges {
  kugel_ctx *ctx;
  int64_t nside, n, capacity, *at; /* at: [n, 2] */
} kugel__ranges;

/* Checks the arguments of a query and starts with no range. */
kugel_status kugel__ranges_begin(kugel__ranges *b, kugel_ctx *ctx, int64_t nside, kugel_order order,
                                 kugel_pixset **out);

kugel_status kugel__ranges_grow(kugel__ranges *b);

/* Appends [lo, hi), lo not below what is there. */
static inline kugel_status kugel__ranges_push(kugel__ranges *b, int64_t lo, int64_t hi)
{
  if (lo >= hi)
    return KUGEL_OK;
  if (b->n && b->at[2 * b->n - 1] >= lo) {
    b->at[2 * b->n - 1] = kugel__max(hi, b->at[2 * b->n - 1]);
    return KUGEL_OK;
  }
  if (b->n == b->capacity)
    KUGEL_TRY(kugel__ranges_grow(b));
  b->at[2 * b->n] = lo;
  b->at[2 * b->n + 1] = hi;
  b->n++;
  return KUGEL_OK;
}

/* Appends pixels of a ring. */
kugel_status kugel__ranges_push_span(kugel__ranges *b, kugel__ring r, kugel__pix_span span);

/* Makes a set of RING ranges, in `order`, or with a failure `s` frees them and passes it on. */
kugel_status kugel__ranges_finish(kugel__ranges *b, kugel_order order, kugel_status s, kugel_pixset **out);

#endif
