/* SPDX-License-Identifier: BSD-3-Clause */
/* ISA: once. HEALPix ring weights: the files of the HEALPix distribution, exactness, bad input. */
#include <kugel/alm.h>
#include "core/alloc.h"
#include "sphere/alm/kept.h"
#include "sphere/golden.h"

int main(void)
{
  setenv("KUGEL_CACHE", "off", 1); // what is kept by others shall not count
  CASE("ring weights of the HEALPix files")
  {
    for (int nside = 4; nside <= 512; nside *= 2) {
      char name[99];
      snprintf(name, sizeof name, "sphere/quadrature/weight_ring_n%05d.fits", nside);
      double *want = golden_fits(name, 8640, nside < 512 ? 6 * (size_t)nside : 3072);
      double *w = malloc(sizeof *w * (4 * (size_t)nside - 1));
      CHECK_OK(kugel_healpix_ring_weights(NULL, nside, w));
      for (int i = 0; i < 2 * nside && want; i++) {
        const double file =
            1 + want[nside < 512 ? 3 * i : i]; // columns T, Q, U, by single values or a row a column
        if (!(fabs(w[i] - file) <= 1e-11) || w[i] != w[4 * nside - 2 - i]) {
          CHECK_FAIL("nside %d, ring %d: %.15g, file %.15g", nside, i, w[i], file);
          break;
        }
      }
      free(want);
      free(w);
    }
  }
  CASE("means of Legendre polynomials vanish up to degree 3 nside")
  {
    for (int nside = 1; nside <= 100; nside += nside < 8 ? 1 : 23) {
      if (nside == 4)
        continue; // the HEALPix file stops at 8
      double *w = malloc(sizeof *w * (4 * (size_t)nside - 1));
      CHECK_OK(kugel_healpix_ring_weights(NULL, nside, w));
      for (int l = 0; l <= 3 * nside; l++) {
        long double sum = 0;
        for (int i = 1; i < 4 * nside; i++) {
          const int j = i < 2 * nside ? i : 4 * nside - i, n = 4 * (j < nside ? j : nside);
          const long double z =
              j < nside ? 1 - j * j / (3.0L * nside * nside) : 4 / 3.0L - 2 * j / (3.0L * nside);
          long double p = 1, before = 0;
          for (int k = 0; k < l; k++) {
            const long double next = ((2 * k + 1) * (i == j ? z : -z) * p - k * before) / (k + 1);
            before = p;
            p = next;
          }
          sum += n * w[i - 1] * p / (12.0L * nside * nside);
        }
        CHECK_LE((double)fabsl(sum - (l == 0)), 1e-14);
      }
      free(w);
    }
  }
  CASE("bad input, failing allocations")
  {
    double w[31];
    CHECK_IS(kugel_healpix_ring_weights(NULL, 0, w), KUGEL_EINVAL);
    CHECK_IS(kugel_healpix_ring_weights(NULL, 1 << 20, w), KUGEL_EINVAL);
    CHECK_IS(kugel_healpix_ring_weights(NULL, 8, NULL), KUGEL_EINVAL);
    uint64_t before = 0, after = 0;
    kugel__kept_forget();
    kugel_ctx_memory(NULL, &before, NULL);
    kugel_status s = KUGEL_ENOMEM;
    int64_t refused = 0;
    for (; s && refused < 500; refused++) {
      kugel__fault_alloc(refused + 1);
      s = kugel_healpix_ring_weights(NULL, 8, w);
      kugel__fault_alloc(0);
      kugel__kept_forget();
      kugel_ctx_memory(NULL, &after, NULL);
      CHECK(s == KUGEL_OK || s == KUGEL_ENOMEM);
      CHECK(after == before);
    }
    CHECK_OK(s);
    CHECK(refused > 1); // the last one succeeded
  }
  END();
}
