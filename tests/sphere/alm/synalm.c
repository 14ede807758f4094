/* SPDX-License-Identifier: BSD-3-Clause */
/* ISA: once. Random alm: Philox's published vectors, spectra of the result, independence of lmax and threads,
 * bad input. */
#include <complex.h>
#include <kugel/alm.h>
#include "core/alloc.h"
#include "core/rng.h"
#include "sphere/golden.h"

int main(void)
{
  CASE("Philox4x32-10: known answers of Salmon et al.")
  {
    static const uint32_t in[3][6] = {
        {0, 0, 0, 0, 0, 0},
        {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
        {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0}};
    static const uint32_t want[3][4] = {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
                                        {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
                                        {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}};
    for (int i = 0; i < 3; i++) {
      uint32_t out[4];
      kugel__philox(in[i], in[i] + 4, out);
      CHECK(!memcmp(out, want[i], sizeof out));
    }
  }
  CASE("normal numbers: moments")
  {
    double s[5] = {0}, cross = 0;
    const int n = 200000;
    for (int i = 0; i < n; i++) {
      double x[2];
      kugel__normal_pair(7, (uint64_t)i, 3, 1, x);
      cross += x[0] * x[1] / n;
      for (int k = 1; k < 5; k++)
        s[k] += (pow(x[0], k) + pow(x[1], k)) / 2 / n;
    }
    CHECK_LE(fabs(s[1]), 0.008);
    CHECK_LE(fabs(s[2] - 1), 0.012);
    CHECK_LE(fabs(s[3]), 0.03);
    CHECK_LE(fabs(s[4] - 3), 0.08);
    CHECK_LE(fabs(cross), 0.012);
  }
  CASE("realisations of one seed: independent, index 0 is the seed alone, bad numbers")
  {
    enum { L = 200, N = 20301 }; /* kugel_alm_count(L, L) */
    static double cl[L + 1];
    static double complex a[4][N];
    for (int l = 0; l <= L; l++)
      cl[l] = 1;
    kugel_alm_random_opts o = {.size = sizeof o, .lmax = L, .cl = cl, .cl_lmax = L, .seed = 42};
    static const uint64_t index[4] = {0, 1, 2, UINT32_MAX};
    for (int i = 0; i < 4; i++) {
      o.index = index[i];
      CHECK_OK(kugel_alm_random(NULL, &o, a[i], NULL));
    }
    for (int i = 0; i < 4; i++)
      for (int j = 0; j < 4; j++) {
        double complex sum = 0;
        for (int k = 0; k < N; k++)
          sum += a[i][k] * conj(a[j][k]);
        CHECK_LE(cabs(sum / N - (i == j)), 0.03); /* N^-1/2 = 0.007 */
      }
    o.index = 0;
    o.size = offsetof(kugel_alm_random_opts, index); /* a caller that was compiled before */
    CHECK_OK(kugel_alm_random(NULL, &o, a[1], NULL));
    CHECK(!memcmp(a[0], a[1], sizeof a[0]));
    o.size = sizeof o;
    o.index = (uint64_t)UINT32_MAX + 1;
    CHECK_IS(kugel_alm_random(NULL, &o, a[1], NULL), KUGEL_EINVAL);
  }
  CASE("spectra of T, E, B come out as put in, within their scatter, in all layouts")
  {
    enum { L = 400, N = L + 1 };
    static double cl[6 * N], row[6 * N], got[6 * N];
    const int64_t nalm = kugel_alm_count(L, -1);
    double complex *a = malloc((size_t)(3 * nalm) * sizeof *a), *b = malloc((size_t)(3 * nalm) * sizeof *b);
    static const double value[6] = {4, 2, 1, 1.5, 0.5, -0.7};
    static const int to_row[6] = {0, 3, 5, 1, 4, 2};
    for (int i = 0; i < 6; i++)
      for (int l = 0; l < N; l++)
        row[to_row[i] * N + l] = cl[i * N + l] = l < 2 && i ? 0 : value[i];
    kugel_alm_random_opts o = {.size = sizeof o, .n = 3, .lmax = L, .cl = cl, .cl_lmax = L, .seed = 42};
    CHECK_OK(kugel_alm_random(NULL, &o, a, NULL));
    CHECK_OK(kugel_alm_cl_all(NULL, 3, L, -1, a, -1, got));
    for (int i = 0; i < 6; i++) {
      double mean = 0;
      for (int l = 2; l < N; l++)
        mean += (2 * l + 1) * got[i * N + l] / (N * N - 4);
      CHECK_LE(fabs(mean - value[i]), 4 * sqrt(2) * 4 / N);
    }
    CHECK(cimag(a[5]) == 0 && a[nalm] == 0 && a[nalm + 1] == 0 && a[nalm + 2] != 0);
    o.order = KUGEL_CL_ROW;
    o.cl = row;
    CHECK_OK(kugel_alm_random(NULL, &o, b, NULL));
    CHECK(!memcmp(a, b, (size_t)(3 * nalm) * sizeof *a));
    o.order = KUGEL_CL_DIAGONAL;
    o.cl = cl;
    o.n_cl = 4;
    CHECK_OK(kugel_alm_random(NULL, &o, b, NULL));
    CHECK(!memcmp(a, b, (size_t)(2 * nalm) * sizeof *a));
    free(a);
    free(b);
  }
  CASE("a_lm depend on neither lmax nor threads, and on the seed")
  {
    static double cl[301];
    for (int l = 0; l <= 300; l++)
      cl[l] = 1.0 / (l + 1);
    double complex *a = malloc(50000 * sizeof *a), *b = malloc(50000 * sizeof *b),
                   *c = malloc(50000 * sizeof *c);
    kugel_alm_random_opts o = {.size = sizeof o, .lmax = 300, .cl = cl, .cl_lmax = 300, .seed = 1};
    CHECK_OK(kugel_set_num_threads(1));
    CHECK_OK(kugel_alm_random(NULL, &o, a, NULL));
    CHECK_OK(kugel_set_num_threads(4));
    CHECK_OK(kugel_alm_random(NULL, &o, b, NULL));
    CHECK(!memcmp(a, b, (size_t)kugel_alm_count(300, -1) * sizeof *a));
    o.lmax = 40;
    CHECK_OK(kugel_alm_random(NULL, &o, b, NULL));
    CHECK_OK(kugel_alm_resize(300, -1, a, 40, -1, c));
    CHECK(!memcmp(c, b, (size_t)kugel_alm_count(40, -1) * sizeof *a));
    o.seed = (uint64_t)1 << 40 | 1;
    CHECK_OK(kugel_alm_random(NULL, &o, c, NULL));
    CHECK(c[3] != b[3]);
    o.mmax = KUGEL_ONLY_M0;
    o.cl_lmax = 10;
    CHECK_OK(kugel_alm_random(NULL, &o, b, NULL));
    CHECK(b[10] == c[10] && b[11] == 0 && b[40] == 0);
    CHECK_OK(kugel_set_num_threads(0));
    free(a);
    free(b);
    free(c);
  }
  CASE("spectra that are no covariance; bad input; failing allocations")
  {
    double cl[3 * 6] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0.5, 0.5, 0.5, 2, 1, 0.5};
    double complex a[2 * 21];
    int64_t bad;
    kugel_alm_random_opts o = {.size = sizeof o, .n = 2, .lmax = 5, .cl = cl, .cl_lmax = 5};
    CHECK_IS(kugel_alm_random(NULL, &o, a, &bad), KUGEL_EINVAL);
    CHECK(bad == 3 && strstr(kugel_last_error(), "l = 3"));
    o.zero_indefinite = 1;
    CHECK_OK(kugel_alm_random(NULL, &o, a, &bad));
    CHECK(bad == 3 && a[3] == 0 && a[21 + 3] == 0 && a[4] != 0);
    CHECK_LE(cabs(a[4] - a[21 + 4]), 1e-15); // fully correlated
    cl[2] = NAN;
    CHECK_IS(kugel_alm_random(NULL, &o, a, &bad), KUGEL_EINVAL);
    cl[2] = -1;
    o.zero_indefinite = 0;
    CHECK_IS(kugel_alm_random(NULL, &o, a, &bad), KUGEL_EINVAL);
    cl[2] = 1;
    cl[15] = 0.5;
    o.n_cl = 4;
    CHECK_IS(kugel_alm_random(NULL, &o, a, NULL), KUGEL_EINVAL);
    o.n_cl = 0;
    o.n = 101;
    CHECK_IS(kugel_alm_random(NULL, &o, a, NULL), KUGEL_EINVAL);
    o.n = 2;
    o.cl = NULL;
    CHECK_IS(kugel_alm_random(NULL, &o, a, NULL), KUGEL_EINVAL);
    o.cl = cl;
    CHECK_IS(kugel_alm_random(NULL, NULL, a, NULL), KUGEL_EINVAL);
    CHECK_IS(kugel_alm_random(NULL, &o, NULL, NULL), KUGEL_EINVAL);
    kugel__fault_alloc(1);
    CHECK_IS(kugel_alm_random(NULL, &o, a, NULL), KUGEL_ENOMEM);
    kugel__fault_alloc(0);
    CHECK_OK(kugel_alm_random(NULL, &o, a, NULL));
  }
  END();
}
