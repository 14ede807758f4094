/* SPDX-License-Identifier: BSD-3-Clause */
/* LABEL: long. Synthesis at high lmax against sums in long double, near the poles and elsewhere; the addition
 * theorem. */
#include "check.h"
#include "ref/ylm.h"
#include "sphere/legendre/legendre.h"
#include <kugel/sphere.h>

static uint64_t seed = 11;

/* Rings of one pixel at scaled and fixed colatitudes: the largest errors near the poles and elsewhere,
 * relative to the rms of the field. The truth takes sin and cos of theta in long double. */
static void compare(int64_t lmax, int spin, int points, double *polar, double *elsewhere)
{
  static const double scaled[] = {0.3, 0.8, 2, 5, 9.9},
                      fixed[] = {0.02, 0.1, 0.27, 0.5236, 0.66, 1.0, 1.5, 2.2};
  double theta[13], phi0[13];
  int64_t nphi[13];
  int n = 0;
  for (int i = 0; i < 5; i++)
    theta[n++] = i % 2 ? M_PI - scaled[i] / (double)lmax : scaled[i] / (double)lmax;
  for (int i = 0; i < 8; i++)
    theta[n++] = fixed[i];
  for (int i = 0; i < n; i++) {
    phi0[i] = 0.1 + i;
    nphi[i] = 1;
  }
  kugel_grid *g;
  kugel_sht *p;
  kugel_grid_opts go = {.size = sizeof go, .nrings = n, .theta = theta, .ring_nphi = nphi, .ring_phi0 = phi0};
  CHECK_OK(kugel_grid_create(NULL, &go, &g));
  kugel_sht_opts so = {
      .size = sizeof so, .grid = g, .lmax = lmax, .mode = spin ? KUGEL_SHT_SPIN : 0, .spin = spin};
  CHECK_OK(kugel_sht_create(NULL, &so, &p));
  int64_t nalm = (lmax + 1) * (lmax + 2) / 2;
  int sets = spin ? 2 : 1;
  double *alm = calloc((size_t)(sets * nalm), 16), map[26];
  long double power = 0;
  for (int c = 0; c < sets; c++)
    for (int64_t m = 0; m <= lmax; m++)
      for (int64_t l = m > spin ? m : spin; l <= lmax; l++) {
        double *v = alm + 2 * (c * nalm + m * (2 * lmax + 1 - m) / 2 + l);
        v[0] = check_random(&seed);
        v[1] = m ? check_random(&seed) : 0;
        power += (m ? 2 : 1) * (v[0] * v[0] + v[1] * v[1]);
      }
  double rms = sqrt((double)power / (4 * M_PI * sets));
  CHECK_OK(kugel_sht_synthesis(p, KUGEL_ARRAY(alm, KUGEL_C128, sets, nalm),
                               KUGEL_ARRAY(map, KUGEL_F64, sets, n), NULL));
  *polar = *elsewhere = 0;
  for (int i = 0; i < n; i++) {
    if (points < n && i % 5 >= points / 2)
      continue;
    long double v[2];
    ref_point(lmax, lmax, spin, alm, spin ? alm + 2 * nalm : NULL, theta[i], phi0[i], v);
    double e = fabs(map[i] - (double)v[0]);
    if (spin)
      e = fmax(e, fabs(map[n + i] - (double)v[1]));
    double *worst = i < 5 ? polar : elsewhere;
    *worst = fmax(*worst, e / rms);
  }
  free(alm);
  kugel_sht_destroy(p);
  kugel_grid_destroy(g);
}

int main(void)
{
  CASE("within 10/lmax of a pole: 1e-12 of the field; elsewhere the promised accuracy")
  {
    int64_t lmax[] = {255, 1024, 2048, 4096};
    for (int k = 0; k < 4; k++)
      for (int spin = 0; spin <= 3; spin++) {
        double polar, elsewhere;
        if (lmax[k] > 1024 && spin % 2)
          continue;
        compare(lmax[k], spin, lmax[k] > 2048 ? 4 : 13, &polar, &elsewhere);
        printf("  lmax %lld spin %d: %.1e near the poles, %.1e elsewhere\n", (long long)lmax[k], spin, polar,
               elsewhere);
        CHECK_LE(polar, 1e-12);
        CHECK_LE(elsewhere,
                 10 * 1e-13 * sqrt((double)lmax[k] / 100)); // the largest of some points, not the rms
      }
    for (int spin = 4; spin <= 20; spin += spin < 5 ? 1 : 4) {
      double polar, elsewhere;
      compare(255, spin, 13, &polar, &elsewhere);
      printf("  lmax 255 spin %d: %.1e near the poles, %.1e elsewhere\n", spin, polar, elsewhere);
      CHECK_LE(polar, 1e-12);
      CHECK_LE(elsewhere, 1e-12);
    }
  }
  CASE("the cut-off near the poles drops less than 1e-17, and not much less")
  {
    enum { PAIRS = 48 };
    int64_t sizes[] = {20, 200, 1500};
    for (int k = 0; k < 3; k++)
      for (int spin = 0; spin <= 6; spin += 2) {
        int64_t lmax = sizes[k];
        double c[PAIRS], s[PAIRS], dropped = 0, kept = 1;
        long double *lambda = malloc((size_t)(lmax + 1) * sizeof *lambda);
        for (int i = 0; i < PAIRS; i++) { // from 0.1/lmax to the equator
          double theta = 0.1 / (double)lmax * pow(5 * M_PI * (double)lmax, (double)i / (PAIRS - 1));
          c[i] = cos(theta);
          s[i] = sin(theta);
        }
        kugel__leg *g;
        CHECK_OK(kugel__leg_create(NULL, lmax, lmax, spin ? KUGEL__LEG_SPIN : 0, spin, PAIRS, c, s, &g));
        for (int i = 0; i < PAIRS; i++) {
          int64_t m = kugel__leg_mlim(g)[i];
          for (int above = 0; above < 2 && m + above <= lmax && m < lmax; above++) {
            long double largest = 0, theta = asinl((long double)s[i]);
            for (int south = 0; south < 2; south++) {
              ref_lambda(lmax, m + above, spin, south ? M_PIl - theta : theta, lambda);
              for (int64_t l = 0; l <= lmax; l++)
                largest = fmaxl(largest, fabsl(lambda[l]));
            }
            if (above)
              dropped = fmax(dropped, (double)largest);
            else if (!spin && (double)lmax * s[i] > 10)
              kept = fmin(kept, (double)largest);
          }
        }
        printf("  lmax %lld spin %d: drops %.1e, keeps %.1e\n", (long long)lmax, spin, dropped, kept);
        CHECK_LE(dropped, 1e-17);
        CHECK(kept > 1e-21);
        kugel__leg_destroy(g);
        free(lambda);
      }
  }
  CASE("addition theorem: the power of each degree is the same everywhere")
  {
    int64_t sizes[] = {2048, 4096, 8192};
    for (int k = 0; k < 3; k++) {
      int64_t lmax = sizes[k];
      double theta = 0.5236, c = cos(theta), s = sin(theta), worst = 0;
      kugel__leg *g;
      CHECK_OK(kugel__leg_create(NULL, lmax, lmax, KUGEL__LEG_SCALAR, 0, 1, &c, &s, &g));
      double *row = calloc(32, 8), *column = calloc((size_t)(lmax + 1), 16);
      char *scratch = aligned_alloc(64, (kugel__leg_scratch(g) + 127) / 64 * 64);
      double *power = calloc((size_t)lmax + 1, 8);
      row[0] = 1; // adjoint of a unit value in the north: all lambda_lm of this m
      for (int64_t m = 0; m <= lmax; m++) {
        memset(column, 0, (size_t)(lmax - m + 1) * 16);
        kugel__leg_adjoint(g, m, 0, 1, row, 8, (double *[]){column}, scratch);
        for (int64_t l = m; l <= lmax; l++)
          power[l] += (m ? 2 : 1) * column[2 * (l - m)] * column[2 * (l - m)];
      }
      for (int64_t l = 0; l <= lmax; l++)
        worst = fmax(worst, fabs(power[l] * 4 * M_PI / (double)(2 * l + 1) - 1));
      printf("  lmax %lld: %.1e\n", (long long)lmax, worst);
      CHECK_LE(worst, 1e-11);
      kugel__leg_destroy(g);
      free(row), free(column), free(scratch), free(power);
    }
  }
  CASE("lmax 100000: degrees where the start underflows by thousands of decades")
  {
    int64_t lmax = 100000, ms[] = {0, 1000, 40000, 84000};
    double theta = 1.0, c = cos(theta), s = sin(theta);
    kugel__leg *g;
    CHECK_OK(kugel__leg_create(NULL, lmax, lmax, KUGEL__LEG_SCALAR, 0, 1, &c, &s, &g));
    double *row = calloc(32, 8), *column = calloc((size_t)(lmax + 1), 16);
    char *scratch = aligned_alloc(64, (kugel__leg_scratch(g) + 127) / 64 * 64);
    long double *lambda = malloc((size_t)(lmax + 1) * sizeof *lambda);
    row[0] = 1;
    for (int k = 0; k < 4; k++) {
      int64_t m = ms[k];
      memset(column, 0, (size_t)(lmax - m + 1) * 16);
      kugel__leg_adjoint(g, m, 0, 1, row, 8, (double *[]){column}, scratch);
      // the same three-term recurrence in long double from a scaled start, its scale found at the end by the
      // two values
      long double before = 0, now = 1, x = cosl((long double)theta), log_scale = 0;
      for (int64_t l = m; l <= lmax; l++) {
        lambda[l] = now;
        long double a = sqrtl(((l + 1.0L) * (l + 1) - (long double)m * m) / (4 * (l + 1.0L) * (l + 1) - 1));
        long double b = l > m ? sqrtl(((long double)l * l - (long double)m * m) / (4.0L * l * l - 1)) : 0;
        long double next = (x * now - b * before) / a;
        before = now;
        now = next;
        if (fabsl(now) > 0x1p4000L) {
          now *= 0x1p-4000L;
          before *= 0x1p-4000L;
          log_scale += 4000;
          for (int64_t q = m; q <= l; q++)
            lambda[q] = 0; // negligible now
        }
      }
      long double start = 0.5L * log2l(1 / (4 * M_PIl)) + (long double)m * log2l(sinl((long double)theta));
      for (int64_t i = 1; i <= m; i++)
        start += 0.5L * log2l((2 * i + 1.0L) / (2.0L * i));
      long double scale = exp2l(start + log_scale) * (m % 2 ? -1 : 1), worst = 0, largest = 0;
      for (int64_t l = m; l <= lmax; l++) {
        worst = fmaxl(worst, fabsl(lambda[l] * scale - column[2 * (l - m)]));
        largest = fmaxl(largest, fabsl(lambda[l] * scale));
      }
      printf("  m %lld: %.1e of %.2g\n", (long long)m, (double)(worst / largest), (double)largest);
      CHECK_LE((double)(worst / largest), 3e-11);
      CHECK(largest > 0.1);
    }
    kugel__leg_destroy(g);
    free(row), free(column), free(scratch), free(lambda);
  }
  END();
}
