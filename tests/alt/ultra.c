/* SPDX-License-Identifier: BSD-3-Clause */
/* Changes between ultraspherical bases: golden vectors, values of both series in 113 bits, both methods, adjoints, round trips. */
#include "check.h"
#include "polynomial/truth.h"

static kugel_ultra *make(int64_t n, double from, double to, kugel_ultra_method method)
{
  kugel_ultra *plan;
  CHECK_OK(kugel_ultra_create(
      NULL,
      &(kugel_ultra_opts){.size = sizeof(kugel_ultra_opts), .n = n, .from = from, .to = to, .method = method},
      &plan));
  return plan;
}

/* sum of c_n C_n^{(lambda)}(x), lambda = 0: T_n */
static quad series(double lambda, quad x, int64_t n, const double *c)
{
  quad p = 1, before = 0, sum = 0, l = (quad)lambda;
  for (int64_t k = 0; k < n; k++) {
    sum += (quad)c[k] * p;
    quad i = (quad)k, next = lambda > 0 ? (2 * (i + l) * x * p - (i + 2 * l - 1) * before) / (i + 1)
                                        : (k ? 2 : 1) * x * p - before;
    before = p;
    p = next;
  }
  return sum;
}

static void golden(void)
{
  static const struct {
    const char *name;
    double from, to;
  } map[] = {{"leg2cheb", 0.5, 0}, {"cheb2leg", 0, 0.5}, {"c32_to_u", 1.5, 1}, {"u_to_c32", 1, 1.5}};
  char line[256], name[64];
  const char *path = check_shared("polynomials/connection_vectors.csv");
  FILE *file = path ? fopen(path, "r") : NULL;
  if (!file || !fgets(line, sizeof line, file)) {
    SKIP("no data/polynomials");
    return;
  }
  double in[300], want[300], got[300];
  int rows = 0, at[300];
  long long n, i, last_n = 0;
  char last[64] = "";
  for (int more = 1; more;) {
    char a[64], b[64];
    more = fgets(line, sizeof line, file) &&
           sscanf(line, "%63[^,],%lld,%lld,%63[^,],%63s", name, &n, &i, a, b) == 5;
    if (rows && (!more || strcmp(name, last) || n != last_n)) {
      for (int m = 0; m < 4; m++)
        for (int method = 1; method < 3 && !strcmp(last, map[m].name); method++) {
          double picked[300];
          kugel_ultra *plan = make(last_n, map[m].from, map[m].to, method);
          for (long long j = 0; last_n == 300 && j < 300; j++)
            in[j] = (double)(((j + 1) * 7919 + 300 * 104729 + 13 * j * j) % 2039 - 1019) / 1024;
          CHECK_OK(kugel_ultra_execute(plan, KUGEL_ARRAY(in, KUGEL_F64, last_n),
                                       KUGEL_ARRAY(got, KUGEL_F64, last_n), NULL));
          for (int q = 0; q < rows; q++)
            picked[q] = got[at[q]];
          CHECK_CLOSE(picked, want, (size_t)rows, 3e-15);
          kugel_ultra_destroy(plan);
        }
      rows = 0;
    }
    if (!more)
      break;
    strcpy(last, name);
    last_n = n;
    in[i] = strtod(a, NULL);
    at[rows] = (int)i;
    want[rows++] = strtod(b, NULL);
  }
  fclose(file);
}

static void families(void)
{
  static const double lambda[] = {0, 0.25, 0.5, 1, 1.5, 3, 7.5};
  enum { N = 25 };
  for (int i = 0; i < 7; i++)
    for (int j = 0; j < 7; j++)
      for (int method = 1; method <= (fabs(lambda[i] - lambda[j]) < 1 ? 2 : 1); method++)
        for (int64_t n = 1; n <= N; n += 6) {
          double c[N], d[N];
          uint64_t seed = (uint64_t)n;
          for (int k = 0; k < n; k++)
            c[k] = check_random(&seed);
          kugel_ultra *plan = make(n, lambda[i], lambda[j], method);
          CHECK_OK(
              kugel_ultra_execute(plan, KUGEL_ARRAY(c, KUGEL_F64, n), KUGEL_ARRAY(d, KUGEL_F64, n), NULL));
          for (int k = -4; k <= 4; k++) {
            quad x = (quad)k / 5, a = series(lambda[i], x, n, c), b = series(lambda[j], x, n, d);
            double scale = 1;
            for (int q = 0; q < n; q++) {
              double unit[N] = {0};
              unit[q] = d[q];
              scale += fabs((double)series(lambda[j], x, n, unit));
            }
            if (!(fabs((double)(a - b)) <= 3e-15 * scale))
              CHECK_FAIL("%g to %g, n %lld, method %d: %g", lambda[i], lambda[j], (long long)n, method,
                         (double)(a - b));
          }
          kugel_ultra_destroy(plan);
        }
}

static void round_trips(void)
{
  for (int64_t n = 7; n <= 16384; n = 4 * n + 3) {
    double *x = malloc(sizeof *x * 8 * (size_t)n), *y = x + 2 * n, *z = y + 2 * n, *w = z + 2 * n;
    for (int pair = 0; pair < 2; pair++) {
      double a = pair, b = pair + 0.5;
      kugel_ultra *to = make(n, a, b, KUGEL_ULTRA_FAST), *from = make(n, b, a, KUGEL_ULTRA_FAST),
                  *direct = make(n, a, b, KUGEL_ULTRA_DIRECT);
      uint64_t seed = 3;
      for (int64_t i = 0; i < 2 * n; i++)
        x[i] = check_random(&seed);
      CHECK_OK(kugel_ultra_execute(to, KUGEL_ARRAY(x, KUGEL_C128, n), KUGEL_ARRAY(y, KUGEL_C128, n), NULL));
      CHECK_OK(kugel_ultra_execute(from, KUGEL_ARRAY(y, KUGEL_C128, n), KUGEL_ARRAY(z, KUGEL_C128, n), NULL));
      CHECK_CLOSE(z, x, (size_t)(2 * n), 1e-14);
      CHECK_OK(
          kugel_ultra_execute(direct, KUGEL_ARRAY(x, KUGEL_C128, n), KUGEL_ARRAY(z, KUGEL_C128, n), NULL));
      CHECK_CLOSE(y, z, (size_t)(2 * n), 5e-15);
      kugel_ultra *plans[] = {to, direct};
      for (int k = 0; k < 2; k++) { /* <A x, x'> = <x, A^T x'> with x' = the imaginary part */
        int64_t shape[1] = {n}, two[1] = {2};
        kugel_array re = {x, {KUGEL_CPU, 0}, 1, KUGEL_F64, shape, two, 0}, im = re;
        im.byte_offset = 8;
        double left = 0, right = 0, scale = 0;
        CHECK_OK(kugel_ultra_execute(plans[k], &re, KUGEL_ARRAY(z, KUGEL_F64, n), NULL));
        CHECK_OK(kugel_ultra_adjoint(plans[k], &im, KUGEL_ARRAY(w, KUGEL_F64, n), NULL));
        for (int64_t i = 0; i < n; i++) {
          left += z[i] * x[2 * i + 1];
          right += w[i] * x[2 * i];
          scale += z[i] * z[i];
        }
        CHECK_LE(fabs(left - right), 1e-14 * sqrt(scale * (double)n / 3));
      }
      kugel_ultra_destroy(to);
      kugel_ultra_destroy(from);
      kugel_ultra_destroy(direct);
    }
    free(x);
  }
  double c[3] = {0, 0, 1}, p[3];
  CHECK_OK(kugel_cheb2leg(NULL, KUGEL_ARRAY(c, KUGEL_F64, 3), KUGEL_ARRAY(p, KUGEL_F64, 3)));
  CHECK(fabs(p[0] + 1.0 / 3) < 1e-15 && p[1] == 0 && fabs(p[2] - 4.0 / 3) < 1e-15);
  CHECK_OK(kugel_leg2cheb(NULL, KUGEL_ARRAY(c, KUGEL_F64, 3), KUGEL_ARRAY(p, KUGEL_F64, 3)));
  CHECK(fabs(p[0] - 0.25) < 1e-15 && p[1] == 0 && fabs(p[2] - 0.75) < 1e-15);
}

int main(void)
{
  CASE("golden vectors")
  {
    golden();
  }
  CASE("families by the values of their series")
  {
    families();
  }
  CASE("round trips, adjoints")
  {
    round_trips();
  }
  END();
}
