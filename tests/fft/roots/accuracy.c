/* SPDX-License-Identifier: BSD-3-Clause */
/* Roots of unity and phases against long double sines of exactly reduced angles. */
#include "check.h"
#include "fft/roots/roots.h"

enum { ULP_BOUND = 520 }; // thousandths of 2^-53, the ulp below 1

static double worst; // in 2^-53

static void against(const double *got, long double re, long double im)
{
  double e = (double)fmaxl(fabsl(got[0] - re), fabsl(got[1] - im)) * 0x1p53;
  worst = !(e <= worst) ? e : worst;
}

// e^{-2 pi i k / n}, the angle reduced to at most pi / 4.
static void truth(int64_t k, int64_t n, long double *re, long double *im)
{
  int64_t e = 8 * k; // of n, so that 8 n is a turn
  int quarter = (int)((e + n) / (2 * n)) % 4;
  long double a = M_PI_4l * (long double)(e - (e + n) / (2 * n) * 2 * n) / (long double)n;
  long double c = cosl(a), s = sinl(a);
  *re = quarter == 0 ? c : quarter == 1 ? -s : quarter == 2 ? -c : s;
  *im = -(quarter == 0 ? s : quarter == 1 ? c : quarter == 2 ? -s : -c);
}

static void check_n(int64_t n, int64_t first, int64_t step, int64_t count)
{
  static double out[3 * 4096];
  kugel__fft_roots(kugel__turn_ratio(-first, n), kugel__turn_ratio(-step, n), count, out, 1);
  for (int64_t j = 0; j < count; j++) {
    long double re, im;
    truth((int64_t)(((__int128)step * j + first) % n), n, &re, &im);
    against(out + 2 * j, re, im);
  }
}

int main(void)
{
  CASE("all roots of orders to 200 and of some primes and powers")
  {
    for (int64_t n = 1; n <= 200; n++)
      check_n(n, 0, 1, n);
    static const int64_t n[] = {211, 509, 512, 1009, 1024, 2039, 2187, 3125, 4093, 4096};
    for (size_t i = 0; i < sizeof n / sizeof *n; i++)
      check_n(n[i], 0, 1, n[i]);
    CHECK_LE(worst, ULP_BOUND * 1e-3);
    printf("  worst %.4f ulp\n", worst);
  }
  CASE("large orders, sampled")
  {
    static const int64_t n[] = {1 << 18,    1 << 20,          1000003,     1 << 30,
                                1073741827, (int64_t)1 << 40, 999999999989};
    worst = 0;
    for (size_t i = 0; i < sizeof n / sizeof *n; i++) {
      check_n(n[i], 0, 1, 1000);
      check_n(n[i], n[i] / 3, n[i] / 997 + 1, 4000);
      check_n(n[i], n[i] - 500, 1, 1000);
    }
    CHECK_LE(worst, ULP_BOUND * 1e-3);
    printf("  worst %.4f ulp\n", worst);
  }
  CASE("quarter turns are exact, eighths have equal parts")
  {
    for (int64_t n = 4; n <= 4000; n += 4) {
      double w[2];
      for (int64_t q = 0; q < 4; q++) {
        kugel__root(kugel__turn_times(kugel__turn_ratio(-1, n), q * n / 4), w);
        CHECK(w[0] == (q == 0) - (q == 2) && w[1] == (q == 3) - (q == 1));
      }
      if (n % 8 == 0) {
        kugel__root(kugel__turn_times(kugel__turn_ratio(1, n), n / 8), w);
        CHECK(w[0] == w[1] && w[0] == M_SQRT1_2);
      }
    }
  }
  CASE("strides and all counts leave the rest alone")
  {
    for (int64_t count = 0; count <= 140; count += count < 20 ? 1 : 7) {
      double out[6 * 140 + 2], w[2];
      for (size_t i = 0; i < sizeof out / sizeof *out; i++)
        out[i] = 7;
      kugel__fft_roots(kugel__turn_ratio(1, 7), kugel__turn_ratio(3, 1000), count, out, 3);
      for (int64_t j = 0; j < count; j++) {
        kugel__root(kugel__turn_add(kugel__turn_ratio(1, 7), kugel__turn_ratio(3 * j, 1000)), w);
        CHECK(!memcmp(w, out + 6 * j, sizeof w) && out[6 * j + 2] == 7 && out[6 * j + 5] == 7);
      }
      CHECK(out[6 * count] == 7 && out[6 * count + 1] == 7);
      int64_t k[140];
      for (int64_t j = 0; j < count; j++)
        k[j] = j * j % 97 - 30;
      kugel__roots_at(kugel__turn_ratio(1, 61), k, count, out + 6 * (count - 1), -3);
      for (int64_t j = 0; j < count; j++) {
        kugel__root(kugel__turn_ratio(k[j], 61), w);
        CHECK(fabs(w[0] - out[6 * (count - 1 - j)]) <= 0x1p-53 &&
              fabs(w[1] - out[6 * (count - 1 - j) + 1]) <= 0x1p-53);
      }
    }
  }
  CASE("phases of any angle")
  {
    uint64_t seed = 5;
    worst = 0;
    for (int i = 0; i < 3000; i++) {
      double a = ldexp(check_random(&seed), i % 60 - 50), w[2];
      int64_t m = i % 7 ? (int64_t)(1024 * (1 + check_random(&seed))) : -i; // few bits: m a is exact
      kugel__root(kugel__turn_times(kugel__turn_radians(a), m), w);
      long double angle = (long double)m * (long double)a;
      against(w, cosl(angle), sinl(angle));
    }
    CHECK_LE(worst, ULP_BOUND * 1e-3);
    printf("  worst %.4f ulp\n", worst);
    double w[2];
    kugel__root(kugel__turn_radians(0), w);
    CHECK(w[0] == 1 && w[1] == 0);
    kugel__root(kugel__turn_radians(1e-300), w);
    CHECK(w[0] == 1 && w[1] == 0);
  }
  END();
}
