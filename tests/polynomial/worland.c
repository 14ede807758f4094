/* SPDX-License-Identifier: BSD-3-Clause */
/* Sparse operators, boundary rows and stencils against numbers of 25 digits; against transforms; bad input, faults. ISA: once */
#include "check.h"
#include <kugel/banded.h>
#include <kugel/worland.h>
#include "core/alloc.h"

enum { N = 7, OPERATORS = 18 };

typedef struct golden {
  int what, type, norm, l, i, j;
  double a, shift, value;
} golden;

static int next(FILE *file, golden *g)
{
  char line[256];
  double v[10];
  int n = 0;
  if (!fgets(line, sizeof line, file))
    return 0;
  for (char *at = strtok(line, ",\n"); at && n < 10; at = strtok(NULL, ",\n"))
    v[n++] = strtod(at, NULL);
  CHECK(n == 10 && (int)v[6] == N);
  *g = (golden){(int)v[0], (int)v[1], (int)v[4], (int)v[5], (int)v[7], (int)v[8], v[2], v[3], v[9]};
  return 1;
}

/* What the library says of the matrix that g belongs to; false: g is not about a matrix of this kind. */
static void matrix(const golden *g, double *out)
{
  kugel_worland_basis b = {
      .size = sizeof b, .type = g->type, .norm = g->norm, .a = g->a, .shift = g->shift, .l = g->l, .n = N};
  double band[9 * N];
  int64_t lower, upper;
  memset(out, 0, sizeof *out * N * N);
  if (g->what < 100) {
    CHECK_OK(kugel_worland_band(NULL, &b, g->what, &lower, &upper, band));
    for (int64_t d = 0; d <= lower + upper; d++)
      for (int64_t i = 0; i < N; i++)
        if (i + d - lower >= 0 && i + d - lower < N)
          out[i * N + i + d - lower] = band[d * N + i];
        else
          CHECK(band[d * N + i] == 0);
  } else if (g->what < 200) {
    CHECK_OK(kugel_worland_boundary(&b, g->what - 100, out));
  } else {
    kugel_worland_condition c[] = {(g->what - 200) / 10, g->what % 10};
    int count = c[1] == 9 ? 1 : 2, columns = N - count;
    CHECK_OK(kugel_worland_stencil(&b, count, c, band));
    for (int d = 0; d <= count; d++)
      for (int j = 0; j < columns; j++)
        out[(j + d) * N + j] = band[d * columns + j];
  }
}

static void compare(const golden *g, const double *want, double *worst)
{
  double got[N * N];
  matrix(g, got);
  for (int k = 0; k < N * N; k++) {
    double e = want[k] != 0 ? fabs(got[k] / want[k] - 1) : fabs(got[k]);
    if (!(e <= 3e-16))
      CHECK_FAIL("%d of type %d, l %d: element %d, %d is %.17g, want %.17g", g->what, g->type, g->l, k / N,
                 k % N, got[k], want[k]);
    *worst = fmax(*worst, e);
  }
}

static void goldens(void)
{
  const char *path = check_shared("polynomials/worland.csv");
  FILE *file = path ? fopen(path, "r") : NULL;
  char line[256];
  double want[N * N] = {0}, worst = 0;
  int matrices = 0;
  CHECK(file && fgets(line, sizeof line, file));
  golden now, g;
  if (!file || !next(file, &now)) {
    CHECK_FAIL("tests/data/golden/polynomials/worland.csv is missing or empty");
    return;
  }
  for (g = now;;) {
    want[g.i * N + g.j] = g.value;
    now = g;
    if (!next(file, &g) || g.what != now.what || g.type != now.type || g.l != now.l || g.norm != now.norm) {
      compare(&now, want, &worst);
      memset(want, 0, sizeof want);
      matrices++;
      if (feof(file))
        break;
    }
  }
  fclose(file);
  CHECK(matrices > 200);
}

/* Bands of any size against the transforms: analysis of synthesised derivatives, with quasi-inverses. */
static void transforms(void)
{
  static const struct {
    int op, synthesis, analysis;
  } rows[] = {{KUGEL_WORLAND_QI2, KUGEL_WORLAND_P, KUGEL_WORLAND_I2},
              {KUGEL_WORLAND_QI4, KUGEL_WORLAND_P, KUGEL_WORLAND_I4},
              {KUGEL_WORLAND_I2_SPH_LAPL, KUGEL_WORLAND_SPH_LAPL, KUGEL_WORLAND_I2},
              {KUGEL_WORLAND_I4_SPH_LAPL, KUGEL_WORLAND_SPH_LAPL, KUGEL_WORLAND_I4},
              {KUGEL_WORLAND_I2_CYL_LAPL, KUGEL_WORLAND_CYL_LAPL, KUGEL_WORLAND_I2},
              {KUGEL_WORLAND_I4_CYL_LAPL, KUGEL_WORLAND_CYL_LAPL, KUGEL_WORLAND_I4}};
  enum { SIZE = 60, NR = 130 };
  for (int type = 0; type < 4; type++)
    for (int64_t l = 0; l < 120; l = 3 * l + 2)
      for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        double c[SIZE], f[NR], got[SIZE], want[SIZE] = {0}, band[9 * SIZE];
        uint64_t seed = 7;
        int64_t lower, upper;
        kugel_jwt *plan;
        for (int i = 0; i < SIZE; i++) /* decaying, as derivatives of coefficients without end lose digits */
          c[i] = check_random(&seed) * exp(-0.7 * i);
        kugel_jwt_opts o = {.size = sizeof o, .type = type, .n = SIZE, .blocks = 1, .l = &l, .nr = NR};
        kugel_worland_basis b = {.size = sizeof b, .type = type, .l = l, .n = SIZE};
        CHECK_OK(kugel_jwt_create(NULL, &o, &plan));
        CHECK_OK(kugel_jwt_synthesis(plan, rows[k].synthesis, KUGEL_ARRAY(c, KUGEL_F64, 1, SIZE),
                                     KUGEL_ARRAY(f, KUGEL_F64, 1, NR), NULL));
        CHECK_OK(kugel_jwt_analysis(plan, rows[k].analysis, KUGEL_ARRAY(f, KUGEL_F64, 1, NR),
                                    KUGEL_ARRAY(got, KUGEL_F64, 1, SIZE), NULL));
        CHECK_OK(kugel_worland_band(NULL, &b, rows[k].op, &lower, &upper, band));
        for (int64_t d = 0; d <= lower + upper; d++)
          for (int64_t i = 0; i < SIZE; i++)
            if (i + d - lower >= 0 && i + d - lower < SIZE)
              want[i] += band[d * SIZE + i] * c[i + d - lower];
        CHECK_CLOSE(got, want, SIZE, 1e-11);
        kugel_jwt_destroy(plan);
      }
}

/* Laplace f = g, f(1) = 0, by a stencil and kugel_banded: f = r^l (1 - r^2) has g = -(4 l + 6) r^l. */
static void galerkin(void)
{
  enum { SIZE = 40 };
  int64_t l = 5, lower, upper;
  kugel_worland_basis b = {.size = sizeof b, .norm = KUGEL_WORLAND_NATURAL, .l = l, .n = SIZE + 1};
  kugel_worland_condition value = KUGEL_WORLAND_VALUE;
  double lapl[3 * (SIZE + 1)], qi[5 * (SIZE + 1)], stencil[2 * SIZE];
  CHECK_OK(kugel_worland_band(NULL, &b, KUGEL_WORLAND_I2_SPH_LAPL, &lower, &upper, lapl));
  CHECK(lower == 1 && upper == 1);
  CHECK_OK(kugel_worland_band(NULL, &b, KUGEL_WORLAND_QI2, &lower, &upper, qi));
  CHECK(lower == 2 && upper == 2);
  CHECK_OK(kugel_worland_stencil(&b, 1, &value, stencil));
  /* rows 2 ... SIZE of (I2 Laplacian) S, columns 0 ... SIZE - 2: bands from i - 2 to i, which is upper with rows shifted */
  enum { M = SIZE - 1 };
  double d[3][M], right[M], x[M] = {0};
  for (int64_t r = 0; r < M; r++) {
    int64_t i = r + 2;
    for (int64_t j = r; j <= r + 2; j++) {
      double sum = 0;
      for (int64_t k = j; k <= j + 1; k++) /* S has rows j and j + 1 in column j */
        if (k >= i - 1 && k <= i + 1 && k <= SIZE)
          sum += lapl[(k - i + 1) * (SIZE + 1) + i] * stencil[(k - j) * SIZE + j];
      d[j - r][r] = sum;
    }
    right[r] = i == 2 ? -(double)(4 * l + 6) * qi[0 * (SIZE + 1) + i] : 0; /* g = -(4 l + 6) W_0 */
  }
  for (int64_t r = M - 1; r >= 0; r--) {
    double sum = right[r];
    for (int64_t j = 1; j < 3 && r + j < M; j++)
      sum -= d[j][r] * x[r + j];
    x[r] = sum / d[0][r];
  }
  /* r^l (1 - r^2) = c_0 W_0 + c_1 W_1 of the natural norm: P_1 = (a + 1) + (a + b + 2) (x - 1) / 2, 1 - r^2 = (1 - x) / 2 */
  double a = -0.5, beta = (double)l - 0.5, c1 = -1 / (a + beta + 2), c0 = -(a + 1) * c1;
  CHECK_LE(fabs(x[0] / c0 - 1), 1e-14);
  CHECK_LE(fabs(x[0] * stencil[SIZE] / c1 - 1), 1e-14);
  for (int i = 1; i < M; i++)
    CHECK_LE(fabs(x[i]), 1e-15);
}

static void refusals(void)
{
  kugel_worland_basis good = {.size = sizeof good, .l = 2, .n = 5}, b;
  int64_t lower, upper;
  double band[64];
  kugel_worland_condition two[] = {KUGEL_WORLAND_VALUE, KUGEL_WORLAND_VALUE}, bad = 7;
#define TRY(change, word)                                                                                    \
  b = good;                                                                                                  \
  change;                                                                                                    \
  CHECK_IS(kugel_worland_band(NULL, &b, 0, &lower, &upper, band), KUGEL_EINVAL);                             \
  CHECK(strstr(kugel_last_error(), word))
  TRY(b.l = -1, "l is -1");
  TRY(b.n = 0, "n is 0");
  TRY(b.type = 9, "type is 9");
  TRY(b.norm = 2, "norm is 2");
  TRY((b.type = 4, b.a = 0.3), "a is 0.3");
  TRY(b.size = 0, "size");
  CHECK_IS(kugel_worland_band(NULL, NULL, 0, &lower, &upper, band), KUGEL_EINVAL);
  CHECK_IS(kugel_worland_band(NULL, &good, (kugel_worland_operator)OPERATORS, &lower, &upper, band),
           KUGEL_EINVAL);
  CHECK_IS(kugel_worland_band(NULL, &good, 0, NULL, &upper, band), KUGEL_EINVAL);
  CHECK_OK(kugel_worland_band(NULL, &good, KUGEL_WORLAND_I4_SPH_LAPL, &lower, &upper, NULL));
  CHECK(lower == 3 && upper == 3);
  b = good;
  b.l = 0;
  CHECK_IS(kugel_worland_band(NULL, &b, KUGEL_WORLAND_I2_QM, &lower, &upper, band), KUGEL_EINVAL);
  CHECK_IS(kugel_worland_boundary(&good, 5, band), KUGEL_EINVAL);
  CHECK_IS(kugel_worland_boundary(&good, 0, NULL), KUGEL_EINVAL);
  CHECK_IS(kugel_worland_stencil(&good, 3, two, band), KUGEL_EINVAL);
  CHECK_IS(kugel_worland_stencil(&good, 1, &bad, band), KUGEL_EINVAL);
  CHECK_IS(kugel_worland_stencil(&good, 2, two, band), KUGEL_EINVAL);
  CHECK(strstr(kugel_last_error(), "do not differ"));
  CHECK_IS(kugel_worland_stencil(&good, 1, NULL, band), KUGEL_EINVAL);
  b.n = 1;
  CHECK_IS(kugel_worland_stencil(&b, 1, two, band), KUGEL_EINVAL);
  kugel__fault_alloc(1);
  CHECK_IS(kugel_worland_band(NULL, &good, 0, &lower, &upper, band), KUGEL_ENOMEM);
  kugel__fault_alloc(0);
}

int main(void)
{
  CASE("numbers of 25 digits")
  {
    goldens();
  }
  CASE("bands against transforms")
  {
    transforms();
  }
  CASE("an equation by a stencil")
  {
    galerkin();
  }
  CASE("bad input")
  {
    refusals();
  }
  END();
}
