/* SPDX-License-Identifier: BSD-3-Clause */
/* Distances to masked pixels against all pairs, windows of masks. ISA: once */
#include "check.h"
#include <kugel/kugel.h>

enum { MOST = 12 * 16 * 16 };

static double mask[MOST], got[MOST], want[MOST], v[3 * MOST];

static void brute(int64_t nside, double limit)
{
  int64_t npix = 12 * nside * nside, pixel[MOST] = {0};
  for (int64_t i = 0; i < npix; i++)
    pixel[i] = i;
  CHECK_OK(kugel_healpix_pix2vec(NULL, nside, KUGEL_ORDER_RING, npix, pixel, v));
  for (int64_t i = 0; i < npix; i++) {
    double least = 3;
    for (int64_t k = 0; k < npix; k++)
      if (!(mask[k] > 0))
        least = fmin(least, hypot(hypot(v[3 * i] - v[3 * k], v[3 * i + 1] - v[3 * k + 1]),
                                  v[3 * i + 2] - v[3 * k + 2]));
    double angle = least < 2 ? 2 * asin(least / 2) : M_PI;
    want[i] = angle <= limit ? angle : M_PI;
  }
}

static void compare(int64_t nside, double limit)
{
  brute(nside, limit);
  CHECK_OK(kugel_mask_distance(NULL, nside, limit, mask, got));
  double worst = 0;
  for (int64_t i = 0; i < 12 * nside * nside; i++)
    worst = fmax(worst, fabs(got[i] - want[i]));
  CHECK_LE(worst, 1e-14);
}

static void random_mask(int64_t npix, double part)
{
  uint64_t seed = 7;
  for (int64_t i = 0; i < npix; i++)
    mask[i] = 0.5 * (check_random(&seed) + 1) < part ? -0.0 : 0.7;
}

static void caps(int64_t nside)
{
  int64_t npix = 12 * nside * nside;
  for (int64_t i = 0; i < npix; i++) {
    double p[3];
    CHECK_OK(kugel_healpix_pix2vec(NULL, nside, KUGEL_ORDER_RING, 1, &i, p));
    mask[i] = p[2] < 0.9 && 0.6 * p[0] - 0.8 * p[1] < 0.95;
  }
}

int main(void)
{
  CASE("distances against all pairs of pixels")
  {
    for (int64_t nside = 1; nside <= 16; nside *= 2) {
      random_mask(12 * nside * nside, 0.02);
      mask[3] = 0;
      compare(nside, M_PI);
      compare(nside, 0.2);
      random_mask(12 * nside * nside, 0.5);
      compare(nside, M_PI);
      caps(nside);
      compare(nside, 4);
      compare(nside, 0.7);
    }
  }
  CASE("all masked, none masked")
  {
    for (int i = 0; i < MOST; i++)
      mask[i] = 0;
    CHECK_OK(kugel_mask_distance(NULL, 16, 1, mask, got));
    for (int i = 0; i < MOST; i++)
      CHECK(got[i] == 0);
    for (int i = 0; i < MOST; i++)
      mask[i] = 2;
    CHECK_OK(kugel_mask_distance(NULL, 16, 9, mask, got));
    for (int i = 0; i < MOST; i++)
      CHECK(got[i] == M_PI);
    for (int kind = 0; kind < 3; kind++) {
      CHECK_OK(kugel_apodise(
          NULL,
          &(kugel_apodise_opts){.size = sizeof(kugel_apodise_opts), .nside = 16, .kind = kind, .radius = 0.1},
          mask, got));
      CHECK_CLOSE(got, mask, MOST, kind == 2 ? 2e-3 : 1e-15); /* smoothing to 3 nside - 1 is that good */
    }
  }
  CASE("windows")
  {
    caps(16);
    brute(16, M_PI);
    for (int kind = 0; kind < 3; kind++) {
      double radius = 0.3, worst = 0;
      CHECK_OK(
          kugel_apodise(NULL,
                        &(kugel_apodise_opts){
                            .size = sizeof(kugel_apodise_opts), .nside = 16, .kind = kind, .radius = radius},
                        mask, got));
      for (int i = 0; i < MOST; i++) {
        double x = sin(want[i] / 2) / sin(radius / 2),
               f = kind ? (1 - cos(M_PI * x)) / 2 : x - sin(2 * M_PI * x) / (2 * M_PI);
        worst = fmax(worst, kind < 2 ? fabs(got[i] - mask[i] * (x < 1 ? f : 1)) : 0);
        if (kind == 2) { /* a Gaussian window: 0 where masked, nearly so within a radius, 1 five radii away */
          CHECK(mask[i] > 0 || got[i] == 0);
          CHECK(want[i] > radius || fabs(got[i]) < 0.1);
          CHECK(want[i] < 5 * radius || fabs(got[i] - 1) < 0.02);
        }
      }
      CHECK_LE(worst, 1e-13);
    }
  }
  END();
}
