/* SPDX-License-Identifier: BSD-3-Clause */
/* Every row of the table of line solvers (src/fft/solvers.def) does all lines that it says it can do: each is run on its
 * own, whatever it costs, and compared with the direct sum in long double. */
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include "check.h"
#include "fft/cpu/solver.h"

enum { MOST = 4200, LINES = 11 };

// The DFT of a line, exponent sign s; elements `step` apart.
static void direct(int64_t n, int s, const double complex *x, int64_t step, long double complex *y)
{
  long double complex *w = malloc((size_t)n * sizeof *w);
  for (int64_t i = 0; i < n; i++)
    w[i] = cosl(2 * 3.14159265358979323846264338327950288L * (long double)i / (long double)n) +
           s * 1.0iL * sinl(2 * 3.14159265358979323846264338327950288L * (long double)i / (long double)n);
  for (int64_t k = 0; k < n; k++) {
    y[k] = 0;
    for (int64_t j = 0; j < n; j++)
      y[k] += (long double complex)x[j * step] * w[j * k % n];
  }
  free(w);
}

// |y - truth| over |truth|, in the sense of mean squares.
static double error_of(int64_t n, const double complex *y, int64_t step, const long double complex *truth)
{
  long double off = 0, all = 0;
  for (int64_t k = 0; k < n; k++) {
    long double complex d = (long double complex)y[k * step] - truth[k];
    off += creall(d) * creall(d) + cimagl(d) * cimagl(d);
    all += creall(truth[k]) * creall(truth[k]) + cimagl(truth[k]) * cimagl(truth[k]);
  }
  return (double)sqrtl(off / all);
}

static int done[16];

/* All solvers on LINES lines of n complex numbers, adjacent or a line apart, from line `first` on. */
static void check_lines(int64_t n, bool adjacent, bool inverse, int64_t first)
{
  kugel__step step;
  CHECK_OK(kugel__step_create(NULL, KUGEL_FFT_C2C, false, n, &step));
  double complex *x = malloc((size_t)(n * LINES) * sizeof *x), *y = malloc((size_t)(n * LINES) * sizeof *y);
  long double complex *truth = malloc((size_t)n * sizeof *truth);
  for (int64_t i = 0; i < n * LINES; i++)
    x[i] = sin(0.7 * (double)i * (double)i) + 1.0i * cos(1.3 * (double)i);
  int64_t point = adjacent ? 1 : LINES, line = adjacent ? n : 1;
  kugel__view v = {.ndim = 2, .shape = {LINES, n}, .stride = {line, point}}, in = v, out = v;
  in.data = (char *)x;
  out.data = (char *)y;
  kugel__pass pass = {.step = &step, .in = &in, .out = &out, .at = 1, .inverse = inverse, .scale = 1};
  for (int i = 0; i < kugel__line_solver_count; i++) {
    const kugel__line_solver *s = &kugel__line_solvers[i];
    if (isinf(s->cost(&pass, LINES)))
      continue;
    done[i]++;
    for (int64_t k = 0; k < n * LINES; k++)
      y[k] = NAN;
    CHECK_OK(s->run(NULL, &pass, first, LINES));
    for (int64_t l = 0; l < LINES; l++) {
      if (l < first) { // not asked for
        CHECK(isnan(creal(y[l * line])));
        continue;
      }
      if (l % 5 != first % 5)
        continue;
      direct(n, inverse ? 1 : -1, x + l * line, point, truth);
      double error = error_of(n, y + l * line, point, truth);
      if (!(error < 1e-15 * (2 + log2((double)n))))
        CHECK_FAIL("%s, %lld points, line %lld: error %g", s->name, (long long)n, (long long)l, error);
    }
  }
  kugel__step_destroy(NULL, &step);
  free(x);
  free(y);
  free(truth);
}

/* Whether the file of the repository, found from the tests' data, has the text. */
static bool file_has(const char *path, const char *text)
{
  char name[1024];
  static char content[65536];
  const char *data = getenv("KUGEL_TEST_DATA");
  snprintf(name, sizeof name, "%s/../../%s", data ? data : "tests/data", path);
  FILE *f = fopen(name, "r");
  if (!f)
    return false;
  content[fread(content, 1, sizeof content - 1, f)] = 0;
  fclose(f);
  return strstr(content, text) != NULL;
}

int main(void)
{
  CASE("every solver, adjacent and strided lines")
  {
    static const int64_t n[] = {1, 2, 12, 17, 32, 61, 64, 97, 128, 210, 256, 263, 509, 512, 1009, 1024, 4099};
    for (size_t i = 0; i < sizeof n / sizeof *n; i++)
      for (int way = 0; way < (n[i] > 2000 ? 1 : 4); way++)
        check_lines(n[i], way % 2 == 0, way / 2, way == 3 ? 3 : 0);
  }
  CASE("each has done something")
  {
    for (int i = 0; i < kugel__line_solver_count; i++) {
      printf("  %s: %d passes\n", kugel__line_solvers[i].name, done[i]);
      CHECK(done[i] > 0);
    }
  }
  CASE("a pass costs no more than by any row")
  {
    kugel__step step;
    CHECK_OK(kugel__step_create(NULL, KUGEL_FFT_C2C, false, 263, &step));
    kugel__view v = {.ndim = 2, .shape = {2, 263}, .stride = {263, 1}};
    kugel__pass pass = {.step = &step, .in = &v, .out = &v, .at = 1, .scale = 1};
    // one line of a large prime: by Bluestein's convolution on its own; many: in lanes
    CHECK(kugel__chirp_lines_cost(&pass, 1) <= kugel__full_lanes_cost(&pass, 1));
    CHECK(kugel__chirp_lines_cost(&pass, 64) > kugel__full_lanes_cost(&pass, 64));
    CHECK(isinf(kugel__long_lines_cost(&pass, 1)) && isinf(kugel__short_lines_cost(&pass, 1)));
    kugel__step_destroy(NULL, &step);
  }
  CASE("the manual's example is a row of the table")
  {
    static const char row[] = "LINE_SOLVER(chirp_lines, kugel__chirp_lines_apply, kugel__chirp_lines_plan, "
                              "kugel__chirp_lines_cost, "
                              "kugel__chirp_lines_run, kugel__chirp_lines_free)";
    CHECK(file_has("src/fft/solvers.def", row));
    CHECK(file_has("docs/adding-an-algorithm.md", row));
  }
  END();
}
