/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranges of pixels, and RING ranges as NESTED ones: squares of the Z-order are all in, all out, or divided.
 */
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "healpix/ranges.h"

kugel_status kugel__ranges_begin(kugel__ranges *b, kugel_ctx *ctx, int64_t nside, kugel_order order,
                                 kugel_pixset **out)
{
  KUGEL_CHECK(out, KUGEL_EINVAL, "out is NULL: pass where to put the set");
  *out = NULL;
  KUGEL_CHECK(kugel__nside_ok(nside, order), KUGEL_EINVAL,
              "nside is %lld with order %d: nside must be 1 to 2^29, for NESTED (2) a power of two",
              (long long)nside, (int)order);
  *b = (kugel__ranges){.ctx = kugel__ctx(ctx), .nside = nside};
  return KUGEL_OK;
}

kugel_status kugel__ranges_grow(kugel__ranges *b)
{
  int64_t more = b->capacity ? 2 * b->capacity : 64, *grown = kugel__alloc(b->ctx, (size_t)more * 16);
  KUGEL_CHECK(grown, KUGEL_ENOMEM, "no memory for %lld ranges of pixels", (long long)more);
  if (b->n)
    memcpy(grown, b->at, (size_t)b->n * 16);
  kugel__free(b->ctx, b->at);
  b->at = grown;
  b->capacity = more;
  return KUGEL_OK;
}

kugel_status kugel__ranges_push_span(kugel__ranges *b, kugel__ring r, kugel__pix_span span)
{
  int64_t lo = span.lo, hi = span.hi;
  if (lo > hi)
    return KUGEL_OK;
  if (hi - lo + 1 >= r.length)
    return kugel__ranges_push(b, r.start, r.start + r.length);
  if (lo < 0 || lo >= r.length)
    lo = (lo % r.length + r.length) % r.length;
  hi = span.hi - span.lo + lo;
  hi -= hi >= r.length ? r.length : 0;
  if (lo <= hi)
    return kugel__ranges_push(b, r.start + lo, r.start + hi + 1);
  KUGEL_TRY(kugel__ranges_push(b, r.start, r.start + hi + 1));
  return kugel__ranges_push(b, r.start + lo, r.start + r.length);
}

/* ---- RING to NESTED ---- */

typedef struct walk {
  const kugel__ranges *ring;
  kugel__ranges *nest;
} walk;

enum { ALL_OUT = 1, ALL_IN = 2, MIXED = 3 };

// The first range from `from` on that ends beyond pixel p.
static int64_t seek(const kugel__ranges *b, int64_t from, int64_t p)
{
  int64_t lo = from, hi = from, step = 1;
  while (hi < b->n && b->at[2 * hi + 1] <= p) {
    lo = hi + 1;
    hi += step;
    step *= 2;
  }
  hi = kugel__min(hi, b->n);
  while (lo < hi) {
    int64_t mid = (lo + hi) / 2;
    if (b->at[2 * mid + 1] <= p)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

static int compare(const kugel__ranges *b, int64_t from, int64_t lo, int64_t hi)
{
  int64_t r = seek(b, from, lo);
  if (r == b->n || b->at[2 * r] >= hi)
    return ALL_OUT;
  return b->at[2 * r] <= lo && b->at[2 * r + 1] >= hi ? ALL_IN : MIXED;
}

// A square's pixels of one ring.
static int compare_row(const walk *w, const kugel__xyf *f, int64_t size, int64_t ring, int64_t *from)
{
  int64_t n = w->ring->nside, d = kugel__face_ring[f->face] * n - f->x - f->y - 1 - ring;
  int64_t skip = kugel__max(0, d - size + 1), count = kugel__min(d, size - 1) - skip + 1;
  kugel__ring r = kugel__ring_of(n, ring);
  int64_t at = (kugel__face_lon[f->face] * (r.length / 4) + f->x - f->y + 2 * skip - d - r.shifted) / 2;
  at += at < 0 ? r.length : 0;
  *from = seek(w->ring, *from, r.start);
  if (at + count <= r.length)
    return compare(w->ring, *from, r.start + at, r.start + at + count);
  return compare(w->ring, *from, r.start + at, r.start + r.length) |
         compare(w->ring, *from, r.start, r.start + at + count - r.length);
}

// Appends the part of a square that is in the set; `from` is a range that none of interest comes before.
static kugel_status descend(const walk *w, kugel__xyf f, int64_t size, int64_t from)
{
  const kugel__ranges *b = w->ring;
  int64_t n = b->nside, bottom = kugel__face_ring[f.face] * n - f.x - f.y - 1, top = bottom - 2 * size + 2;
  kugel__ring first = kugel__ring_of(n, top), last = kugel__ring_of(n, bottom);
  from = seek(b, from, first.start);
  if (from == b->n || b->at[2 * from] >= last.start + last.length)
    return KUGEL_OK;
  int state = 0;
  int64_t row = top, it = from;
  if (b->at[2 * from] <= first.start && b->at[2 * from + 1] >= last.start + last.length)
    state = ALL_IN, row = bottom + 1;
  else if (b->at[2 * from] >= first.start + first.length) { // nothing before this range
    state = size > 1 ? ALL_OUT : 0;
    row = kugel__pixel_ring(n, b->at[2 * from]);
  }
  for (; row <= bottom && state != MIXED; row++) {
    if (it == b->n)
      state |= ALL_OUT, row = bottom;
    else
      state |= compare_row(w, &f, size, row, &it);
  }
  if (state == ALL_OUT)
    return KUGEL_OK;
  if (state == ALL_IN) {
    int64_t lo = kugel__xyf_to_nest(n, f);
    return kugel__ranges_push(w->nest, lo, lo + size * size);
  }
  for (int k = 0; k < 4; k++) {
    kugel__xyf part = {f.x + (k & 1) * (size / 2), f.y + (k >> 1) * (size / 2), f.face};
    KUGEL_TRY(descend(w, part, size / 2, from));
  }
  return KUGEL_OK;
}

static kugel_status to_nested(kugel__ranges *b)
{
  kugel__ranges nest = {.ctx = b->ctx, .nside = b->nside};
  walk w = {b, &nest};
  kugel_status s = KUGEL_OK;
  for (int64_t face = 0; face < 12 && !s; face++)
    s = descend(&w, (kugel__xyf){0, 0, face}, b->nside, 0);
  kugel__free(b->ctx, b->at);
  *b = nest;
  return s;
}

/* ---- sets ---- */

kugel_status kugel__ranges_finish(kugel__ranges *b, kugel_order order, kugel_status s, kugel_pixset **out)
{
  if (!s && order == KUGEL_ORDER_NESTED)
    s = to_nested(b);
  kugel_pixset *set = s ? NULL : kugel__calloc(b->ctx, sizeof *set);
  if (!s && !set)
    s = KUGEL_FAIL(KUGEL_ENOMEM, "no memory for a set of pixels");
  if (s) {
    kugel__free(b->ctx, b->at);
    return s;
  }
  set->ctx = kugel__ctx_retain(b->ctx);
  set->ranges = b->at;
  set->n_ranges = b->n;
  for (int64_t r = 0; r < b->n; r++)
    set->n_pixels += b->at[2 * r + 1] - b->at[2 * r];
  *out = set;
  return KUGEL_OK;
}

kugel_status kugel_pixset_pixels(const kugel_pixset *set, int64_t *pixel)
{
  KUGEL_CHECK(set && (pixel || !set->n_pixels), KUGEL_EINVAL, "%s is NULL", set ? "pixel" : "set");
  for (int64_t r = 0; r < set->n_ranges; r++) {
    int64_t lo = set->ranges[2 * r], count = set->ranges[2 * r + 1] - lo;
    for (int64_t k = 0; k < count; k++)
      pixel[k] = lo + k;
    pixel += count;
  }
  return KUGEL_OK;
}

void kugel_pixset_destroy(kugel_pixset *set)
{
  if (!set)
    return;
  kugel_ctx *ctx = set->ctx;
  kugel__free(ctx, set->ranges);
  kugel__free(ctx, set);
  kugel_ctx_destroy(ctx);
}
