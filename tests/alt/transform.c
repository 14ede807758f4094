/* SPDX-License-Identifier: BSD-3-Clause */
/* Associated Legendre transforms: sums in 113 bits, golden files, adjoints, round trips, floats, threads. */
#include "check.h"
#include "polynomial/truth.h"

/* All orders of a list at once, three complex systems each, against sums. */
static void sums(void)
{
  static const int64_t lmax[] = {0, 1, 2, 3, 9, 40, 96};
  for (int i = 0; i < 7; i++)
    for (int custom = 0; custom < 2; custom++) {
      int64_t L = lmax[i], m[] = {L, 0, L / 2, L ? 1 : 0, L ? L - 1 : 0}, mult[] = {3, 1, 2, 3, 1},
              n = custom ? 7 : L + 1 + i;
      static const double theta[] = {0, 1e-9, 0.3, 1.5, 2.25, 3.125, 1};
      kugel_alt_opts o = {.size = sizeof o,
                          .lmax = L,
                          .blocks = 5,
                          .m = m,
                          .multiplicity = mult,
                          .n = n,
                          .theta = custom ? theta : NULL,
                          .complex_data = 1};
      kugel_alt *plan;
      CHECK_OK(kugel_alt_create(NULL, &o, &plan));
      double *c = malloc(sizeof *c * 40 * (size_t)(L + 1)), *f = malloc(sizeof *f * 20 * (size_t)n);
      double *back = c + 20 * (L + 1);
      quad *p = malloc(sizeof *p * (size_t)(L + 1)), *want = malloc(sizeof *want * (size_t)n);
      double *got = malloc(sizeof *got * (size_t)n);
      uint64_t seed = 1;
      for (int64_t k = 0; k < 20 * (L + 1); k++)
        c[k] = check_random(&seed);
      CHECK_OK(kugel_alt_synthesis(plan, KUGEL_ARRAY(c, KUGEL_C128, 10, L + 1),
                                   KUGEL_ARRAY(f, KUGEL_C128, 10, n), NULL));
      for (int block = 0, s = 0; block < 5; s += (int)mult[block++])
        for (int part = 0; part < 2; part++) {
          for (int64_t k = 0; k < n; k++) {
            long double t = custom ? (long double)theta[k]
                                   : 3.14159265358979323846264338327950288L * (long double)(2 * k + 1) /
                                         (2 * (long double)n);
            quad sum = 0;
            truth_legendre(m[block], L, (quad)cosl(t), (quad)sinl(t), p);
            for (int64_t l = m[block]; l <= L; l++)
              sum += p[l - m[block]] * (quad)c[(s * (L + 1) + l) * 2 + part];
            want[k] = sum;
            got[k] = f[(s * n + k) * 2 + part];
          }
          double e = truth_error(got, want, n);
          if (!(e <= 4e-15))
            CHECK_FAIL("lmax %lld, m %lld, custom %d: %g", (long long)L, (long long)m[block], custom, e);
        }
      if (custom) {
        CHECK_IS(kugel_alt_analysis(plan, KUGEL_ARRAY(f, KUGEL_C128, 10, n),
                                    KUGEL_ARRAY(back, KUGEL_C128, 10, L + 1), NULL),
                 KUGEL_EINVAL);
      } else {
        CHECK_OK(kugel_alt_analysis(plan, KUGEL_ARRAY(f, KUGEL_C128, 10, n),
                                    KUGEL_ARRAY(back, KUGEL_C128, 10, L + 1), NULL));
        for (int block = 0, s = 0; block < 5; s += (int)mult[block++])
          for (int q = s; q < s + mult[block]; q++)
            for (int64_t l = 0; l < m[block]; l++)
              c[(q * (L + 1) + l) * 2] = c[(q * (L + 1) + l) * 2 + 1] = 0;
        CHECK_CLOSE(back, c, (size_t)(20 * (L + 1)), 5e-15);
      }
      kugel_alt_destroy(plan);
      free(c);
      free(f);
      free(p);
      free(want);
      free(got);
    }
}

static void golden(void)
{
  char line[256];
  const char *path = check_shared("polynomials/alt_in.csv");
  FILE *in = path ? fopen(path, "r") : NULL;
  path = check_shared("polynomials/alt_grid.csv");
  FILE *out = path ? fopen(path, "r") : NULL;
  if (!in || !out || !fgets(line, sizeof line, in) || !fgets(line, sizeof line, out)) {
    SKIP("no data/polynomials");
    return;
  }
  long long L, m, l, n, i;
  double a, c[2000] = {0}, f[2000], want[2000];
  while (fgets(line, sizeof line, in) && sscanf(line, "%lld,%lld,%lld,%lf", &L, &m, &l, &a) == 4) {
    c[l] = a;
    if (l < L)
      continue;
    for (int64_t k = 0; k <= L; k++)
      CHECK(fgets(line, sizeof line, out) && sscanf(line, "%*d,%*d,%lld,%lld,%lf", &n, &i, &want[k]) == 3 &&
            i == k);
    int64_t order = m;
    kugel_alt *plan;
    CHECK_OK(kugel_alt_create(
        NULL, &(kugel_alt_opts){.size = sizeof(kugel_alt_opts), .lmax = L, .blocks = 1, .m = &order}, &plan));
    CHECK_OK(
        kugel_alt_synthesis(plan, KUGEL_ARRAY(c, KUGEL_F64, L + 1), KUGEL_ARRAY(f, KUGEL_F64, L + 1), NULL));
    CHECK_CLOSE(f, want, (size_t)(L + 1), 3e-15);
    kugel_alt_destroy(plan);
  }
  fclose(in);
  fclose(out);
}

static void adjoints(void)
{
  enum { L = 30, N = 37, S = 3 };
  int64_t m[] = {0, 7, 30};
  double theta[N];
  for (int i = 0; i < N; i++)
    theta[i] = 3.1 * i / N;
  for (int kind = 0; kind < 3; kind++) { /* synthesis, analysis, synthesis at colatitudes of the caller */
    kugel_alt *plan;
    double a[S * (L + 1)], f[S * N], sa[S * N], sf[S * (L + 1)], left = 0, right = 0, scale = 0;
    uint64_t seed = 2;
    CHECK_OK(kugel_alt_create(NULL,
                              &(kugel_alt_opts){.size = sizeof(kugel_alt_opts),
                                                .lmax = L,
                                                .blocks = S,
                                                .m = m,
                                                .n = N,
                                                .theta = kind == 2 ? theta : NULL},
                              &plan));
    for (int i = 0; i < S * (L + 1); i++)
      a[i] = check_random(&seed);
    for (int i = 0; i < S * N; i++)
      f[i] = check_random(&seed);
    kugel_array *va = KUGEL_ARRAY(a, KUGEL_F64, S, L + 1), *vf = KUGEL_ARRAY(f, KUGEL_F64, S, N);
    kugel_array *vsa = KUGEL_ARRAY(sa, KUGEL_F64, S, N), *vsf = KUGEL_ARRAY(sf, KUGEL_F64, S, L + 1);
    CHECK_OK(kind == 1 ? kugel_alt_analysis_adjoint(plan, va, vsa, NULL)
                       : kugel_alt_synthesis(plan, va, vsa, NULL));
    CHECK_OK(kind == 1 ? kugel_alt_analysis(plan, vf, vsf, NULL)
                       : kugel_alt_synthesis_adjoint(plan, vf, vsf, NULL));
    for (int i = 0; i < S * N; i++) {
      left += sa[i] * f[i];
      scale += sa[i] * sa[i];
    }
    for (int i = 0; i < S * (L + 1); i++)
      right += sf[i] * a[i];
    CHECK_LE(fabs(left - right), 1e-14 * sqrt(scale * S * N / 3));
    kugel_alt_destroy(plan);
  }
}

static void floats_and_threads(void)
{
  enum { L = 64, S = 65 };
  int64_t m[S];
  static double c[S * (L + 1)], f[S * (L + 1)], g[S * (L + 1)];
  static float cs[S * (L + 1)], fs[S * (L + 1)];
  uint64_t seed = 2;
  kugel_alt *plan, *single;
  for (int i = 0; i < S; i++)
    m[i] = i;
  for (int i = 0; i < S * (L + 1); i++)
    c[i] = cs[i] = (float)check_random(&seed);
  kugel_alt_opts o = {.size = sizeof o, .lmax = L, .blocks = S, .m = m};
  CHECK_OK(kugel_alt_create(NULL, &o, &plan));
  o.precision = KUGEL_PRECISION_F32;
  CHECK_OK(kugel_alt_create(NULL, &o, &single));
  CHECK_OK(kugel_alt_synthesis(plan, KUGEL_ARRAY(c, KUGEL_F64, S, L + 1), KUGEL_ARRAY(f, KUGEL_F64, S, L + 1),
                               NULL));
  CHECK_OK(kugel_alt_synthesis(single, KUGEL_ARRAY(cs, KUGEL_F32, S, L + 1),
                               KUGEL_ARRAY(fs, KUGEL_F32, S, L + 1), NULL));
  for (int i = 0; i < S * (L + 1); i++)
    g[i] = fs[i];
  CHECK_CLOSE(g, f, S * (L + 1), 1e-6);
  kugel_set_num_threads(7);
  CHECK_OK(kugel_alt_synthesis(plan, KUGEL_ARRAY(c, KUGEL_F64, S, L + 1), KUGEL_ARRAY(g, KUGEL_F64, S, L + 1),
                               NULL));
  kugel_set_num_threads(0);
  CHECK(!memcmp(f, g, sizeof f));
  kugel_alt_destroy(plan);
  kugel_alt_destroy(single);
}

int main(void)
{
  CASE("sums in 113 bits and back")
  {
    sums();
  }
  CASE("golden files")
  {
    golden();
  }
  CASE("adjoints")
  {
    adjoints();
  }
  CASE("floats, threads")
  {
    floats_and_threads();
  }
  END();
}
