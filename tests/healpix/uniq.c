/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers that carry nside, and sets of pixels of mixed sizes. */
#include "check.h"
#include "core/alloc.h"
#include <kugel/healpix.h>

#define NESTED KUGEL_ORDER_NESTED
static uint64_t seed = 23;

static bool same_set(const kugel_pixset *a, const kugel_pixset *b)
{
  return a->n_ranges == b->n_ranges && a->n_pixels == b->n_pixels &&
         (!a->n_ranges || !memcmp(a->ranges, b->ranges, (size_t)a->n_ranges * 16));
}

int main(void)
{
  CASE("one to one, at every size")
  for (int k = 0; k <= 29; k++) {
    int64_t nside = (int64_t)1 << k, npix = kugel_healpix_npix(nside), n[4], p[4], uniq[4];
    int64_t pixel[4] = {0, npix - 1, npix / 2, (int64_t)((check_random(&seed) + 1) / 2 * (double)npix)};
    CHECK_OK(kugel_healpix_nest2uniq(NULL, nside, 4, pixel, uniq));
    CHECK(uniq[0] == 4 * nside * nside && uniq[1] == 16 * nside * nside - 1);
    CHECK_OK(kugel_healpix_uniq2nest(NULL, 4, uniq, n, p));
    CHECK(!memcmp(p, pixel, sizeof p) && n[0] == nside && n[1] == nside && n[2] == nside && n[3] == nside);
  }
  CASE("sets of mixed sizes: the same pixels, no four that make one, each once")
  for (int t = 0; t < 40; t++) {
    int64_t nside = (int64_t)1 << (t % 8), n, m;
    double v[3] = {check_random(&seed), check_random(&seed), check_random(&seed)};
    kugel_pixset *set, *back;
    CHECK_OK(kugel_healpix_query_disc(NULL, nside, NESTED, v, 1 + check_random(&seed), t % 2, &set));
    CHECK_OK(kugel_pixset_to_uniq(set, nside, &n, NULL));
    int64_t *uniq = malloc((size_t)n * 8 + 8), *size = malloc((size_t)n * 8 + 8),
            *p = malloc((size_t)n * 8 + 8), covered = 0;
    CHECK_OK(kugel_pixset_to_uniq(set, nside, &m, uniq));
    CHECK(m == n);
    CHECK_OK(kugel_healpix_uniq2nest(NULL, n, uniq, size, p));
    for (int64_t i = 0; i < n; i++) {
      covered += (nside / size[i]) * (nside / size[i]);
      if (i + 3 < n && size[i] > 1 && size[i] == size[i + 1] && size[i] == size[i + 2] &&
          size[i] == size[i + 3] && p[i] % 4 == 0)
        CHECK(p[i + 3] != p[i] + 3);
    }
    CHECK(covered == set->n_pixels);
    for (int64_t i = 0; i < n / 2; i++) { // any order will do
      int64_t swap = uniq[i];
      uniq[i] = uniq[n - 1 - i];
      uniq[n - 1 - i] = swap;
    }
    CHECK_OK(kugel_pixset_from_uniq(NULL, nside, n, uniq, &back));
    CHECK(same_set(set, back));
    kugel_pixset_destroy(back);
    if (nside > 1) { // coarser: the pixels that hold one of the set
      CHECK_OK(kugel_pixset_from_uniq(NULL, nside / 2, n, uniq, &back));
      int64_t wanted = 0, last = -1;
      for (int64_t r = 0; r < set->n_ranges; r++)
        for (int64_t q = set->ranges[2 * r]; q < set->ranges[2 * r + 1]; q++) {
          wanted += q / 4 != last;
          last = q / 4;
        }
      CHECK(back->n_pixels == wanted);
      kugel_pixset_destroy(back);
    }
    kugel_pixset_destroy(set);
    free(uniq), free(size), free(p);
  }
  CASE("bad input and failing allocations")
  {
    int64_t uniq[3] = {4, 3, 5}, n, p[3], m[3];
    kugel_pixset *set = (kugel_pixset *)1;
    CHECK_IS(kugel_healpix_uniq2nest(NULL, 3, uniq, m, p), KUGEL_EINVAL);
    CHECK(strstr(kugel_last_error(), "uniq[1] is 3") != NULL);
    CHECK_IS(kugel_pixset_from_uniq(NULL, 4, 3, uniq, &set), KUGEL_EINVAL);
    CHECK(set == NULL);
    uniq[1] = (int64_t)1 << 62;
    CHECK_IS(kugel_healpix_uniq2nest(NULL, 3, uniq, m, p), KUGEL_EINVAL);
    CHECK_IS(kugel_healpix_uniq2nest(NULL, 3, uniq, NULL, p), KUGEL_EINVAL);
    CHECK_IS(kugel_healpix_nest2uniq(NULL, 3, 3, uniq, p), KUGEL_EINVAL);
    CHECK_IS(kugel_healpix_nest2uniq(NULL, 1, 1, uniq + 1, p), KUGEL_EINVAL);
    CHECK_IS(kugel_pixset_from_uniq(NULL, 3, 1, uniq, &set), KUGEL_EINVAL);
    CHECK_IS(kugel_pixset_from_uniq(NULL, 4, -1, uniq, &set), KUGEL_EINVAL);
    CHECK_IS(kugel_pixset_from_uniq(NULL, 4, 2, NULL, &set), KUGEL_EINVAL);
    CHECK_IS(kugel_pixset_to_uniq(NULL, 4, &n, NULL), KUGEL_EINVAL);
    int64_t ranges[4] = {5, 9, 8, 12};
    kugel_pixset crossing = {.n_ranges = 2, .ranges = ranges};
    CHECK_IS(kugel_pixset_to_uniq(&crossing, 4, &n, NULL), KUGEL_EINVAL);
    ranges[2] = 190, ranges[3] = 193;
    CHECK_IS(kugel_pixset_to_uniq(&crossing, 4, &n, NULL), KUGEL_EINVAL);
    for (int64_t k = 1; k < 20; k++) {
      kugel__fault_alloc(k);
      kugel_status s = kugel_pixset_from_uniq(NULL, 4, 1, uniq, &set);
      kugel__fault_alloc(0);
      CHECK((s == KUGEL_ENOMEM && !set) || s == KUGEL_OK);
      if (!s) {
        kugel_pixset_destroy(set);
        break;
      }
    }
  }
  END();
}
