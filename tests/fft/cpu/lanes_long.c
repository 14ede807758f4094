/* SPDX-License-Identifier: BSD-3-Clause */
/* LABEL: long. Lane-wise complex DFTs of every length to 4096 against long double sums, 16 outputs each. */
#include "check.h"
#include "core/alloc.h"
#include "fft/cpu/lanes.h"
#include "fft/truth.h"

// Relative rms error of one lane over 16 outputs, scaled as if all outputs had the rms size of the input
// times sqrt n.
static double length_error(int64_t n, double *bound)
{
  kugel__lanes *plan = NULL;
  CHECK_OK(kugel__lanes_create(NULL, n, &plan));
  if (!plan)
    return 0;
  int v = kugel__lanes_ops_now()->vlen, w = 2 * v, lane = (int)(n % v);
  double *x = kugel__alloc(NULL, (size_t)(2 * n + kugel__lanes_work(plan)) * 8 * (size_t)w), *in = x + n * w;
  seed = (uint64_t)n;
  for (int64_t i = 0; i < n * w; i++)
    in[i] = check_random(&seed);
  memcpy(x, in, (size_t)(n * w) * 8);
  const double *y = kugel__lanes_ops_now()->exec(plan, x, in + n * w);
  long double err = 0, norm = 0;
  for (int64_t j = 0; j < n; j++)
    norm += (long double)in[j * w + lane] * in[j * w + lane] +
            (long double)in[j * w + v + lane] * in[j * w + v + lane];
  int64_t samples = n < 16 ? n : 16;
  int64_t fine = (int64_t)sqrt((double)n) + 1; // e^(2 pi i e / n) = coarse[e / fine] fine[e % fine]
  long double _Complex *root = kugel__alloc(NULL, (size_t)(n / fine + 1 + fine) * sizeof *root),
                       *low = root + n / fine + 1;
  for (int64_t i = 0; i <= n / fine + fine; i++)
    root[i] = cexpl(2 * M_PIl * 1.0iL * (long double)(root + i < low ? i * fine : i - n / fine - 1) /
                    (long double)n);
  for (int64_t i = 0; i < samples; i++) {
    int64_t k = i * n / samples;
    long double re = 0, im = 0;
    for (int64_t j = 0, e = 0; j < n; j++, e = e + k >= n ? e + k - n : e + k) {
      long double _Complex z = root[e / fine] * low[e % fine];
      long double c = creall(z), s = cimagl(z);
      re += in[j * w + lane] * c + in[j * w + v + lane] * s;
      im += in[j * w + v + lane] * c - in[j * w + lane] * s;
    }
    long double dr = y[k * w + lane] - re, di = y[k * w + v + lane] - im;
    err += (dr * dr + di * di) / (long double)samples;
  }
  *bound = n == 1
               ? 0
               : (large_prime(n) ? 1 : 0.5) * 0x1p-52 * sqrt(log2((double)n)); // kugel_fft_execute's accuracy
  kugel__free(NULL, x);
  kugel__free(NULL, root);
  kugel__lanes_destroy(plan);
  return (double)sqrtl(err / norm);
}

int main(void)
{
  CASE("every length to 4096")
  {
    double worst = 0, bound = 0;
    for (int64_t n = 1; n <= 4096; n++) {
      double e = length_error(n, &bound);
      if (!(e <= bound))
        CHECK_FAIL("n = %lld: error %.3g exceeds %.3g", (long long)n, e, bound);
      worst = fmax(worst, n > 1 ? e / bound : 0);
    }
    CHECK_LE(worst, 1);
  }
  CASE("long lengths to 2^24")
  {
    static const int64_t n[] = {65537, 262144, 531441, 823543, 1000003, 1048576, 9765625, 16777216};
    for (size_t i = 0; i < sizeof n / sizeof *n; i++) {
      double bound = 0, e = length_error(n[i], &bound);
      if (!(e <= bound))
        CHECK_FAIL("n = %lld: error %.3g exceeds %.3g", (long long)n[i], e, bound);
    }
  }
  END();
}
