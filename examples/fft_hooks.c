/* SPDX-License-Identifier: BSD-3-Clause */
/* The derivative of a windowed signal by one transform there and one back: window and slope are hooks of the
 * plan. */
#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <kugel/kugel.h>

enum { N = 1024, HALF = N / 2 + 1 };

int main(void)
{
  static double x[N], window[N], y[N];
  static double _Complex slope[HALF], spectrum[HALF];
  int64_t n = N;
  for (int j = 0; j < N; j++) {
    double t = 2 * M_PI * j / N;
    x[j] = cos(3 * t);
    window[j] = (1 - cos(t)) / 2; // Hann
  }
  for (int k = 0; k < HALF; k++)
    slope[k] = k < N / 2 ? I * k : 0;

  kugel_fft_hook hooks[] = {{KUGEL_FORWARD, 0, 0, KUGEL_ARRAY(window, KUGEL_F64, N)},
                            {KUGEL_FORWARD, 1, 0, KUGEL_ARRAY(slope, KUGEL_C128, HALF)}};
  kugel_fft_opts opts = {
      .size = sizeof opts, .kind = KUGEL_FFT_R2C, .inverse_scale = 1.0 / N, .nhooks = 2, .hooks = hooks};
  kugel_fft *plan;
  if (kugel_fft_create(NULL, 1, &n, &opts, &plan) ||
      kugel_fft_execute(plan, KUGEL_FORWARD, KUGEL_ARRAY(x, KUGEL_F64, N),
                        KUGEL_ARRAY(spectrum, KUGEL_C128, HALF), NULL) ||
      kugel_fft_execute(plan, KUGEL_INVERSE, KUGEL_ARRAY(spectrum, KUGEL_C128, HALF),
                        KUGEL_ARRAY(y, KUGEL_F64, N), NULL)) {
    fprintf(stderr, "%s\n", kugel_last_error());
    return 1;
  }
  kugel_fft_destroy(plan);

  double worst = 0; // against d/dt of (1 - cos t) / 2 cos 3t
  for (int j = 0; j < N; j++) {
    double t = 2 * M_PI * j / N, want = sin(t) / 2 * cos(3 * t) - 1.5 * (1 - cos(t)) * sin(3 * t);
    worst = fmax(worst, fabs(y[j] - want));
  }
  printf("largest error of the derivative: %.1e\n", worst);
  return worst < 1e-12 ? 0 : 1;
}
