/* SPDX-License-Identifier: BSD-3-Clause */
/* Golden files of 25 digits (data/polynomials): values, transforms, chains, operators. ISA: once */
#include "check.h"
#include "polynomial/jacobi.h"
#include "polynomial/sweep.h"
#include "truth.h"

/* Rows of a file after its heading, as doubles; NULL at the end. The first `words` columns are skipped. */
static FILE *open_golden(const char *name)
{
  char path[128], line[256];
  snprintf(path, sizeof path, "polynomials/%s", name);
  const char *found = check_shared(path);
  FILE *file = found ? fopen(found, "r") : NULL;
  if (file && !fgets(line, sizeof line, file)) {
    fclose(file);
    file = NULL;
  }
  return file;
}

static int columns(char *line, double *out, int most)
{
  int n = 0;
  for (char *at = strtok(line, ",\n"); at && n < most; at = strtok(NULL, ",\n"))
    out[n++] = strtod(at, NULL);
  return n;
}

static void grids(void)
{
  FILE *in = open_golden("jwt_grid_in.csv"), *out = open_golden("jwt_grid_out.csv");
  if (!in || !out) {
    SKIP("no data/polynomials");
    return;
  }
  char line[256];
  double v[8], c[24], f[300], want[300], got[300];
  while (fgets(line, sizeof line, in)) {
    CHECK(columns(line, v, 8) == 5);
    c[(int)v[3]] = v[4];
    if ((int)v[3] < 23)
      continue;
    int64_t l = (int64_t)v[0], nr = (int64_t)v[2];
    for (int64_t k = 0; k < nr; k++) {
      CHECK(fgets(line, sizeof line, out) && columns(line, v, 8) == 6 && (int64_t)v[0] == l &&
            (int64_t)v[3] == k);
      want[k] = v[5];
    }
    kugel_jwt_opts o = {
        .size = sizeof o, .engine = KUGEL_WORLAND_CONNECTION, .n = 24, .blocks = 1, .l = &l, .nr = nr};
    kugel_jwt *plan;
    CHECK_OK(kugel_jwt_create(NULL, &o, &plan));
    CHECK_OK(kugel_jwt_synthesis(plan, 0, KUGEL_ARRAY(c, KUGEL_F64, 1, 24), KUGEL_ARRAY(f, KUGEL_F64, 1, nr),
                                 NULL));
    CHECK_CLOSE(f, want, (size_t)nr, 3e-15);
    CHECK_OK(kugel_jwt_analysis(plan, 0, KUGEL_ARRAY(want, KUGEL_F64, 1, nr),
                                KUGEL_ARRAY(got, KUGEL_F64, 1, 24), NULL));
    CHECK_CLOSE(got, c, 24, 3e-15);
    kugel_jwt_destroy(plan);
  }
  fclose(in);
  fclose(out);
}

/* Functions known in closed form, from 200 radii. */
static void functions(void)
{
  FILE *in = open_golden("jwt_coeffs.csv");
  if (!in) {
    SKIP("no data/polynomials");
    return;
  }
  char line[256];
  double want[33], got[33];
  while (fgets(line, sizeof line, in)) {
    char *name = strtok(line, ",");
    bool known = !strcmp(name, "exp_r2") || !strcmp(name, "cos_10r") || !strcmp(name, "runge");
    int kind = name[0];
    int64_t l = strtoll(strtok(NULL, ","), NULL, 10);
    int n = atoi(strtok(NULL, ","));
    want[n] = strtod(strtok(NULL, ",\n"), NULL);
    if (n < 32 || !known)
      continue;
    enum { NR = 400 };
    double f[NR], r[NR];
    kugel_jwt_opts o = {.size = sizeof o, .n = 33, .blocks = 1, .l = &l, .nr = NR};
    kugel_jwt *plan;
    CHECK_OK(kugel_jwt_create(NULL, &o, &plan));
    CHECK_OK(kugel_jwt_grid(plan, r, NULL));
    for (int k = 0; k < NR; k++) {
      long double x = r[k], p = kind == 'e' ? expl(x * x) : kind == 'c' ? cosl(10 * x) : 1 / (1 + 4 * x * x);
      f[k] = (double)(powl(x, (long double)l) * p);
    }
    CHECK_OK(kugel_jwt_analysis(plan, 0, KUGEL_ARRAY(f, KUGEL_F64, 1, NR), KUGEL_ARRAY(got, KUGEL_F64, 1, 33),
                                NULL));
    CHECK_CLOSE(got, want, 33, 1e-14); /* the radii are rounded to double: l eps */
    kugel_jwt_destroy(plan);
  }
  fclose(in);
}

static void operators(void)
{
  static const int ops[] = {KUGEL_WORLAND_P, KUGEL_WORLAND_D1, KUGEL_WORLAND_DIV_R1,
                            KUGEL_WORLAND_DIV_R1_D1_R1, KUGEL_WORLAND_SPH_LAPL};
  FILE *in = open_golden("jw_operators.csv");
  if (!in) {
    SKIP("no data/polynomials");
    return;
  }
  char line[256];
  double v[8], c[12], got;
  while (fgets(line, sizeof line, in)) {
    CHECK(columns(line, v, 8) == 8);
    int64_t l = (int64_t)v[0];
    for (int64_t j = 0; j < 12; j++) /* as the golden files were made */
      c[j] = (double)(((j + 1) * 7919 + l * 104729 + 13 * j * j) % 2039 - 1019) / 1024;
    kugel_jwt_opts o = {.size = sizeof o, .n = 12, .blocks = 1, .l = &l, .nr = 1, .radii = &v[2]};
    kugel_jwt *plan;
    CHECK_OK(kugel_jwt_create(NULL, &o, &plan));
    for (int i = 0; i < 5; i++) {
      quad w[12];
      double scale = 0;
      truth_worland(0, ops[i], l, 1, 12, w); /* errors are relative to the largest value */
      for (int n = 0; n < 12; n++)
        scale += fabs((double)w[n] * c[n]);
      CHECK_OK(kugel_jwt_synthesis(plan, ops[i], KUGEL_ARRAY(c, KUGEL_F64, 1, 12),
                                   KUGEL_ARRAY(&got, KUGEL_F64, 1, 1), NULL));
      if (!(fabs(got - v[3 + i]) <= 2e-14 * scale))
        CHECK_FAIL("operator %d, l %lld, r %g: %.17g, want %.17g", ops[i], (long long)l, v[2], got, v[3 + i]);
    }
    kugel_jwt_destroy(plan);
  }
  fclose(in);
}

/* Rotations from l to l mod 2 against the files, four steps at once against one by one, and their norm. */
static void chains(void)
{
  FILE *in = open_golden("jw_chain.csv");
  if (!in) {
    SKIP("no data/polynomials");
    return;
  }
  const kugel__sweep_ops *ops = kugel__sweeps(KUGEL_PRECISION_F64);
  char line[256];
  double v[4], want[300];
  int64_t width = ops->width;
  while (fgets(line, sizeof line, in)) {
    CHECK(columns(line, v, 4) == 4);
    int64_t l = (int64_t)v[0], n = (int64_t)v[1], steps = l / 2, k = (int64_t)v[2];
    want[k] = v[3];
    if (k + 1 < n + steps)
      continue;
    double *x = calloc((size_t)(2 * (n + steps + 4) * width), sizeof *x), *y = x + (n + steps + 4) * width;
    const void **table = malloc(sizeof *table * (size_t)(steps + 1)),
               **up = malloc(sizeof *up * (size_t)(steps + 1));
    for (int64_t i = 0; i < steps; i++) {
      double *t = malloc(sizeof(double) * 2 * (size_t)(n + steps));
      kugel__jacobi_rotations(-0.5, (double)(l - 2 - 2 * i) - 0.5, 1, n + steps, false, t);
      table[i] = up[steps - 1 - i] = t;
    }
    double norm = 0, after = 0;
    for (int64_t j = 0; j < n; j++)
      for (int64_t r = 0; r < width; r++)
        x[j * width + r] = y[j * width + r] =
            (double)(((j + 1) * 7919 + l * 104729 + 13 * j * j) % 2039 - 1019) / 1024;
    for (int64_t j = 0; j < n; j++)
      norm += x[j * width] * x[j * width];
    ops->lower(x, n, steps, table);
    ops->lower_plain(y, n, steps, table);
    CHECK(!memcmp(x, y, sizeof *x * (size_t)((n + steps) * width)));
    double got[300];
    for (int64_t j = 0; j < n + steps; j++) {
      got[j] = x[j * width];
      after += got[j] * got[j];
    }
    CHECK_CLOSE(got, want, (size_t)(n + steps), 3e-15);
    CHECK_LE(fabs(sqrt(after / norm) - 1), 1e-15 * (1 + sqrt((double)l)));
    ops->raise(x, n + steps, steps, up);
    ops->raise_plain(y, n + steps, steps, up);
    CHECK(!memcmp(x, y, sizeof *x * (size_t)(n * width)));
    for (int64_t i = 0; i < steps; i++)
      free((void *)table[i]);
    free(table);
    free(up);
    free(x);
  }
  fclose(in);
}

int main(void)
{
  CASE("coefficients to values and back")
  {
    grids();
  }
  CASE("functions")
  {
    functions();
  }
  CASE("operators")
  {
    operators();
  }
  CASE("rotations")
  {
    chains();
  }
  END();
}
