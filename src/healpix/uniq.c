/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers of NESTED pixels that carry their nside, uniq = 4 nside^2 + pixel (Gorski et al., HEALPix Primer;
 * IVOA MOC 1.1, section 2.3.2), and sets of pixels of mixed sizes. */
#include <stdlib.h>
#include "core/alloc.h"
#include "healpix/job.h"
#include "healpix/ranges.h"

typedef kugel__pix_job job;
static const int64_t UNIQ_END = (int64_t)1 << 62; /* 16 nside^2 of the largest */

static int order_of(int64_t uniq) // log2 nside; 4 nside^2 <= uniq < 16 nside^2
{
  return (63 - __builtin_clzll((unsigned long long)uniq)) / 2 - 1;
}

static kugel_status check_uniq(const int64_t *uniq, int64_t i)
{
  KUGEL_CHECK(uniq[i] >= 4 && uniq[i] < UNIQ_END, KUGEL_EINVAL, "uniq[%lld] is %lld, must be 4 to 2^62 - 1",
              (long long)i, (long long)uniq[i]);
  return KUGEL_OK;
}

static kugel_status part_to_uniq(const job *j, int64_t lo, int64_t n)
{
  KUGEL_TRY(kugel__pix_check_pixels(j, lo, n));
  for (int64_t i = lo; i < lo + n; i++)
    j->out_p[i] = 4 * j->nside * j->nside + j->p[i];
  return KUGEL_OK;
}

kugel_status kugel_healpix_nest2uniq(kugel_ctx *ctx, int64_t nside, int64_t n, const int64_t *pixel,
                                     int64_t *uniq)
{
  job j = {
      .part = part_to_uniq, .nside = nside, .order = KUGEL_ORDER_NESTED, .n = n, .p = pixel, .out_p = uniq};
  return kugel__pix_run(ctx, &j, pixel, uniq);
}

static kugel_status part_from_uniq(const job *j, int64_t lo, int64_t n)
{
  for (int64_t i = lo; i < lo + n; i++) {
    KUGEL_TRY(check_uniq(j->p, i));
    int order = order_of(j->p[i]);
    int64_t pixel = j->p[i] - ((int64_t)4 << 2 * order);
    j->out_q[i] = (int64_t)1 << order;
    j->out_p[i] = pixel;
  }
  return KUGEL_OK;
}

kugel_status kugel_healpix_uniq2nest(kugel_ctx *ctx, int64_t n, const int64_t *uniq, int64_t *nside,
                                     int64_t *pixel)
{
  job j = {.part = part_from_uniq,
           .nside = 1,
           .order = KUGEL_ORDER_NESTED,
           .n = n,
           .p = uniq,
           .out_p = pixel,
           .out_q = nside};
  return kugel__pix_run(ctx, &j, uniq, nside ? pixel : NULL);
}

/* ---- sets ---- */

kugel_status kugel_pixset_to_uniq(const kugel_pixset *set, int64_t nside, int64_t *n, int64_t *uniq)
{
  KUGEL_CHECK(set && n, KUGEL_EINVAL, "%s is NULL", set ? "n" : "set");
  KUGEL_TRY(kugel__pix_check_nside(nside, KUGEL_ORDER_NESTED));
  int64_t count = 0, npix = 12 * nside * nside, before = 0;
  int finest = order_of(4 * nside * nside);
  for (int64_t r = 0; r < set->n_ranges; r++) {
    int64_t lo = set->ranges[2 * r], hi = set->ranges[2 * r + 1];
    KUGEL_CHECK(lo >= before && hi > lo && hi <= npix, KUGEL_EINVAL,
                "range %lld is [%lld, %lld): ranges must rise and end by %lld at nside %lld", (long long)r,
                (long long)lo, (long long)hi, (long long)npix, (long long)nside);
    before = hi;
    while (lo < hi) { // the largest square that starts at lo
      int up = lo ? __builtin_ctzll((unsigned long long)lo) / 2 : finest;
      up = up > finest ? finest : up;
      while ((int64_t)1 << 2 * up > hi - lo)
        up--;
      if (uniq)
        uniq[count] = ((int64_t)4 << 2 * (finest - up)) + (lo >> 2 * up);
      count++;
      lo += (int64_t)1 << 2 * up;
    }
  }
  *n = count;
  return KUGEL_OK;
}

static int by_start(const void *a, const void *b)
{
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

kugel_status kugel_pixset_from_uniq(kugel_ctx *ctx, int64_t nside, int64_t n, const int64_t *uniq,
                                    kugel_pixset **out)
{
  kugel__ranges b;
  KUGEL_TRY(kugel__ranges_begin(&b, ctx, nside, KUGEL_ORDER_NESTED, out));
  KUGEL_CHECK(n >= 0 && n <= INT64_MAX / 16 && (uniq || !n), KUGEL_EINVAL,
              "n is %lld or uniq is NULL: pass n numbers", (long long)n);
  int finest = order_of(4 * nside * nside);
  int64_t *cells;
  for (int64_t i = 0; i < n; i++)
    KUGEL_TRY(check_uniq(uniq, i));
  KUGEL_ALLOC(b.ctx, cells, (size_t)n * 16 + 16);
  for (int64_t i = 0; i < n; i++) {
    int order = order_of(uniq[i]), down = finest - order;
    int64_t pixel = uniq[i] - ((int64_t)4 << 2 * order);
    cells[2 * i] = down >= 0 ? pixel << 2 * down : pixel >> -2 * down;
    cells[2 * i + 1] = cells[2 * i] + (down >= 0 ? (int64_t)1 << 2 * down : 1);
  }
  qsort(cells, (size_t)n, 16, by_start);
  kugel_status s = KUGEL_OK;
  for (int64_t i = 0; i < n && !s; i++)
    s = kugel__ranges_push(&b, cells[2 * i], cells[2 * i + 1]);
  kugel__free(b.ctx, cells);
  return kugel__ranges_finish(&b, KUGEL_ORDER_RING, s, out); // as they are
}
