/* SPDX-License-Identifier: BSD-3-Clause */
/* ISA: once. Layout of alm, windows, power spectra, beams: against healpy's results and closed forms. */
#include <complex.h>
#include <kugel/alm.h>
#include "core/alloc.h"
#include "sphere/golden.h"

#define GOLDEN(name) golden_npy("sphere/golden/" name, &bytes)

static void check_layout(void)
{
  CASE("index, count, lmax and getlm agree")
  {
    for (int64_t lmax = 0; lmax < 40; lmax++)
      for (int64_t mmax = 0; mmax <= lmax; mmax++) {
        int64_t count = 0, l, m;
        for (m = 0; m <= mmax; m++)
          for (l = m; l <= lmax; l++, count++) {
            int64_t l2, m2;
            CHECK(kugel_alm_index(lmax, l, m) == count);
            CHECK_OK(kugel_alm_lm(lmax, count, &l2, &m2));
            CHECK(l2 == l && m2 == m);
          }
        const int64_t top = mmax ? mmax : KUGEL_ONLY_M0;
        CHECK(kugel_alm_count(lmax, top) == count);
        CHECK(kugel_alm_lmax(count, top) == lmax);
        if (mmax == lmax)
          CHECK(kugel_alm_lmax(count, -1) == lmax && kugel_alm_count(lmax, -1) == count);
      }
  }
  CASE("huge lmax")
  {
    const int64_t lmax = 100000000, n = kugel_alm_count(lmax, -1);
    int64_t l, m;
    CHECK(n == (lmax + 1) * (lmax + 2) / 2 && kugel_alm_lmax(n, -1) == lmax);
    CHECK_OK(kugel_alm_lm(lmax, n - 1, &l, &m));
    CHECK(l == lmax && m == lmax);
    for (int64_t at = 1; at < lmax; at = at * 7 + 3) {
      const int64_t i = kugel_alm_index(lmax, lmax, at);
      CHECK_OK(kugel_alm_lm(lmax, i, &l, &m));
      CHECK(l == lmax && m == at);
      CHECK_OK(kugel_alm_lm(lmax, i + 1, &l, &m));
      CHECK(l == at + 1 && m == at + 1);
    }
  }
  CASE("sizes out of range")
  {
    int64_t l, m;
    CHECK(kugel_alm_count(-1, -1) == -1 && kugel_alm_count(5, 6) == -1 && kugel_alm_count(5, -3) == -1);
    CHECK(kugel_alm_count(5, 0) == -1 && kugel_alm_lmax(6, 0) == -1 && kugel_alm_count(0, 0) == 1);
    CHECK(kugel_alm_count(INT64_MAX, -1) == -1 && kugel_alm_lmax(5, -1) == -1 && kugel_alm_lmax(0, -1) == -1);
    CHECK(kugel_alm_lmax(INT64_MAX, -1) == -1 && kugel_alm_lmax(INT64_MAX, 3) == -1);
    CHECK(kugel_alm_index(5, 6, 0) == -1 && kugel_alm_index(5, 3, 4) == -1 &&
          kugel_alm_index(5, 3, -1) == -1);
    CHECK_IS(kugel_alm_lm(5, 21, &l, &m), KUGEL_EINVAL);
    CHECK(strstr(kugel_last_error(), "21") && strstr(kugel_last_error(), "20"));
    CHECK_IS(kugel_alm_lm(5, -1, &l, &m), KUGEL_EINVAL);
    CHECK_IS(kugel_alm_lm(5, 2, NULL, &m), KUGEL_EINVAL);
  }
}

static void check_resize(void)
{
  CASE("resize keeps what fits and zeroes the rest")
  {
    double complex a[66], b[300], c[66];
    for (int i = 0; i < 66; i++)
      a[i] = i + 1 + I * (i & 3);
    for (int64_t lo = 0; lo < 20; lo++)
      for (int64_t mo = 0; mo <= lo; mo++)
        for (int64_t mi = 0; mi <= 10; mi += 5) {
          CHECK_OK(kugel_alm_resize(10, mi ? mi : KUGEL_ONLY_M0, a, lo, mo ? mo : KUGEL_ONLY_M0, b));
          for (int64_t m = 0; m <= mo; m++)
            for (int64_t l = m; l <= lo; l++) {
              double complex want = l <= 10 && m <= mi ? a[kugel_alm_index(10, l, m)] : 0;
              CHECK(b[kugel_alm_index(lo, l, m)] == want);
            }
        }
    CHECK_OK(kugel_alm_resize(10, -1, a, 19, -1, b));
    CHECK_OK(kugel_alm_resize(19, -1, b, 10, -1, c));
    CHECK(!memcmp(a, c, sizeof a));
    CHECK_IS(kugel_alm_resize(10, -1, a, 9, -1, a + 3), KUGEL_EINVAL);
    CHECK_IS(kugel_alm_resize(10, 11, a, 9, -1, b), KUGEL_EINVAL);
    CHECK_IS(kugel_alm_resize(10, 1, NULL, 9, -1, b), KUGEL_EINVAL);
  }
  CASE("a window shorter than lmax")
  {
    size_t bytes;
    double *alm = GOLDEN("sht/alm_T_l64_i3.npy"), *fl = GOLDEN("smooth/beam_window_filter.npy");
    double *want = GOLDEN("smooth/alm_T_almxfl.npy");
    if (alm && fl && want) {
      double complex out[2145];
      CHECK_OK(kugel_alm_multiply(NULL, 64, -1, (kugel_complex *)alm, 32, fl, out));
      CHECK_CLOSE((double *)out, want, 4290, 0);
      CHECK_OK(kugel_alm_multiply(NULL, 64, -1, (kugel_complex *)alm, 32, fl, (kugel_complex *)alm));
      CHECK_CLOSE(alm, want, 4290, 0);
    }
    free(alm);
    free(fl);
    free(want);
  }
  CASE("windows of any length, many threads, NaN beyond the end")
  {
    const int64_t lmax = 600, n = kugel_alm_count(lmax, -1);
    double complex *a = calloc((size_t)n, sizeof *a);
    double f[3] = {1, 2, 3};
    for (int64_t i = 0; i < n; i++)
      a[i] = NAN;
    a[0] = 5;
    a[lmax + 1] = I;
    a[1] = a[2] = a[lmax + 2] = a[2 * lmax + 1] = 1;
    CHECK_OK(kugel_alm_multiply(NULL, lmax, -1, a, 3, f, a));
    CHECK(a[0] == 5 && a[1] == 2 && a[2] == 3 && a[lmax + 1] == 2 * I && a[3] == 0 && a[n - 1] == 0);
    CHECK_OK(kugel_alm_multiply(NULL, lmax, -1, a, 0, NULL, a));
    CHECK(a[0] == 0);
    CHECK_IS(kugel_alm_multiply(NULL, lmax, -1, a, -1, f, a), KUGEL_EINVAL);
    CHECK_IS(kugel_alm_multiply(NULL, lmax, -1, a, 1, NULL, a), KUGEL_EINVAL);
    free(a);
  }
}

static void check_spectra(void)
{
  size_t bytes;
  CASE("power spectra of healpy")
  {
    double *alm = GOLDEN("synth/alm_TEB.npy"), *want = GOLDEN("synth/cl_TEB.npy"), cl[6 * 65];
    if (alm && want) {
      CHECK_OK(kugel_alm_cl_all(NULL, 3, 64, -1, (kugel_complex *)alm, -1, cl));
      for (int i = 0; i < 6; i++)
        CHECK_CLOSE(cl + 65 * i, want + 65 * i, 65, 1e-15);
      CHECK_OK(kugel_alm_cl_all(NULL, 3, 64, -1, (kugel_complex *)alm, 20, cl));
      CHECK_CLOSE(cl + 21 * 3, want + 65 * 3, 21, 1e-15);
      CHECK_OK(kugel_alm_cl(NULL, 64, -1, (kugel_complex *)alm, NULL, 300, cl));
      CHECK_CLOSE(cl, want, 65, 1e-15);
      for (int l = 65; l <= 300; l++)
        CHECK(cl[l] == 0);
    }
    free(alm);
    free(want);
  }
  CASE("a fixed |a_lm| has the closed form; mmax below lmax")
  {
    const int64_t lmax = 700, mmax = 33, n = kugel_alm_count(lmax, mmax);
    double complex *a = malloc((size_t)n * sizeof *a);
    double cl[701];
    for (int64_t i = 0; i < n; i++)
      a[i] = i <= lmax ? 1 + 9 * I : cexp(I * (double)i);
    CHECK_OK(kugel_alm_cl(NULL, lmax, mmax, a, a, -1, cl));
    for (int64_t l = 0; l <= lmax; l++)
      CHECK_LE(fabs(cl[l] - (double)(1 + 2 * (l < mmax ? l : mmax)) / (double)(2 * l + 1)), 4e-16);
    CHECK_IS(kugel_alm_cl(NULL, lmax, mmax, NULL, a, -1, cl), KUGEL_EINVAL);
    CHECK_IS(kugel_alm_cl(NULL, lmax, mmax, a, a, -2, cl), KUGEL_EINVAL);
    CHECK_IS(kugel_alm_cl_all(NULL, 0, lmax, mmax, a, -1, cl), KUGEL_EINVAL);
    CHECK_IS(kugel_alm_cl_all(NULL, 1001, lmax, mmax, a, -1, cl), KUGEL_EINVAL);
    free(a);
  }
}

static void check_beams(void)
{
  size_t bytes;
  CASE("Gaussian beam of healpy, all four columns")
  {
    double *want = GOLDEN("smooth/gauss_beam_90arcmin.npy"), bl[4 * 129], columns[4 * 129];
    if (want) {
      CHECK_OK(kugel_beam_gauss(90 / 60. * M_PI / 180, 128, 4, bl));
      for (int l = 0; l <= 128; l++)
        for (int i = 0; i < 4; i++)
          columns[129 * i + l] = want[4 * l + i];
      CHECK_CLOSE(bl, columns, 4 * 129, 1e-14);
    }
    free(want);
    CHECK_IS(kugel_beam_gauss(-1, 4, 1, bl), KUGEL_EINVAL);
    CHECK_IS(kugel_beam_gauss(NAN, 4, 1, bl), KUGEL_EINVAL);
    CHECK_IS(kugel_beam_gauss(1, 4, 5, bl), KUGEL_EINVAL);
    CHECK_IS(kugel_beam_gauss(1, -4, 1, bl), KUGEL_EINVAL);
    CHECK_IS(kugel_beam_gauss(1, 4, 1, NULL), KUGEL_EINVAL);
  }
  CASE("profile to window and back, as healpy")
  {
    double *want = GOLDEN("smooth/beam2bl.npy"), *want_beam = GOLDEN("smooth/bl2beam.npy");
    double theta[4001], beam[4001], bl[65], at[101];
    const double s = 4 * M_PI / 180;
    for (int i = 0; i <= 4000; i++) {
      theta[i] = M_PI * i / 4000;
      beam[i] = exp(-theta[i] * theta[i] / 2 / s / s);
    }
    CHECK_OK(kugel_beam_to_window(4001, theta, beam, 64, bl));
    for (int i = 0; i <= 100; i++)
      at[i] = theta[40 * i];
    if (want && want_beam) {
      CHECK_CLOSE(bl, want, 65, 1e-12);
      CHECK_OK(kugel_beam_from_window(64, want, 101, at, beam));
      CHECK_CLOSE(beam, want_beam, 101, 1e-12);
    }
    free(want);
    free(want_beam);
    CHECK_IS(kugel_beam_to_window(1, theta, beam, 64, bl), KUGEL_EINVAL);
    CHECK_IS(kugel_beam_to_window(3, theta, NULL, 64, bl), KUGEL_EINVAL);
    CHECK_IS(kugel_beam_from_window(64, bl, 0, at, beam), KUGEL_EINVAL);
    theta[7] = theta[6];
    CHECK_IS(kugel_beam_to_window(4001, theta, beam, 64, bl), KUGEL_EINVAL);
    CHECK(strstr(kugel_last_error(), "theta[7]"));
    at[3] = 4;
    CHECK_IS(kugel_beam_from_window(64, bl, 101, at, beam), KUGEL_EINVAL);
  }
}

int main(void)
{
  check_layout();
  check_resize();
  check_spectra();
  check_beams();
  END();
}
