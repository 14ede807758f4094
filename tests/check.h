/* SPDX-License-Identifier: BSD-3-Clause */
/* Test harness: CASE("name") { CHECK(...); } in main between BEGIN() and END(). No dependency but libc.
 * Ends with "N passed, N failed, N skipped"; exit code 0, 1, or 77 when no case passed or failed: a program in which
 * nothing ran has tested nothing. */
#ifndef KUGEL_TESTS_CHECK_H
#define KUGEL_TESTS_CHECK_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <kugel/core.h>

static struct {
  int passed, failed, skipped, bad, skip, open;
  char name[256];      // a copy: a caller's buffer may hold the next name before this case closes
  int (*at_end)(void); // what is wrong with the program as a whole: device/every.h
} check__;

static inline void check__close(void)
{
  if (!check__.open)
    return;
  if (check__.bad)
    check__.failed++;
  else if (check__.skip)
    check__.skipped++;
  else
    check__.passed++;
  printf("%s %s\n", check__.bad ? "FAIL" : check__.skip ? "skip" : "ok  ", check__.name);
  check__.open = 0;
}

static inline int check__open(const char *name)
{
  check__close();
  fflush(stdout); // what was found stays known if the program is killed
  snprintf(check__.name, sizeof check__.name, "%s", name);
  check__.open = 1;
  check__.bad = check__.skip = 0;
  return 1;
}

static inline int check__end(void)
{
  check__close();
  if (check__.at_end)
    check__.failed += check__.at_end();
  printf("%d passed, %d failed, %d skipped\n", check__.passed, check__.failed, check__.skipped);
  return check__.failed ? 1 : check__.passed ? 0 : 77;
}

#define CASE(title) if (check__open(title))
#define END()       return check__end()
#define CHECK_FAIL(...)                                                                                      \
  do {                                                                                                       \
    check__.bad = 1;                                                                                         \
    printf("  %s:%d: ", __FILE__, __LINE__);                                                                 \
    printf(__VA_ARGS__);                                                                                     \
    printf("\n");                                                                                            \
    fflush(stdout);                                                                                          \
  } while (0)
#define CHECK(cond)                                                                                          \
  do {                                                                                                       \
    if (!(cond))                                                                                             \
      CHECK_FAIL("%s", #cond);                                                                               \
  } while (0)
#define CHECK_OK(expr)                                                                                       \
  do {                                                                                                       \
    kugel_status s_ = (expr);                                                                                \
    if (s_)                                                                                                  \
      CHECK_FAIL("%s: %s: %s", #expr, kugel_status_name(s_), kugel_last_error());                            \
  } while (0)
#define CHECK_IS(expr, want)                                                                                 \
  do {                                                                                                       \
    kugel_status s_ = (expr);                                                                                \
    if (s_ != (want))                                                                                        \
      CHECK_FAIL("%s: got %s, want %s", #expr, kugel_status_name(s_), kugel_status_name(want));              \
  } while (0)
#define CHECK_LE(got, bound)                                                                                 \
  do {                                                                                                       \
    double g_ = (got), b_ = (bound);                                                                         \
    if (!(g_ <= b_))                                                                                         \
      CHECK_FAIL("%s = %.3g exceeds %.3g", #got, g_, b_);                                                    \
  } while (0)
#define CHECK_CLOSE(got, want, n, rtol) check__vectors(__FILE__, __LINE__, #got, got, want, n, rtol)
#define SKIP(why)                                                                                            \
  do {                                                                                                       \
    check__.skip = 1;                                                                                        \
    printf("  skipped: %s\n", why);                                                                          \
  } while (0)

/* max |got - want| / max |want| <= rtol; a NaN fails. */
static inline void check__vectors(const char *file, int line, const char *what, const double *got,
                                  const double *want, size_t n, double rtol)
{
  double scale = 0, worst = 0;
  size_t at = 0;
  for (size_t i = 0; i < n; i++)
    scale = fmax(scale, fabs(want[i]));
  for (size_t i = 0; i < n; i++) {
    double e = fabs(got[i] - want[i]);
    if (!(e <= worst)) {
      worst = e;
      at = i;
      if (isnan(e))
        break;
    }
  }
  if (!(worst <= rtol * scale)) {
    check__.bad = 1;
    printf("  %s:%d: %s[%zu] = %.17g, want %.17g: error %.3g of the largest, allowed %.3g\n", file, line,
           what, at, got[at], want[at], worst / scale, rtol);
  }
}

/* Relative L2 distance. */
static inline double check_l2(const double *got, const double *want, size_t n)
{
  long double d = 0, s = 0;
  for (size_t i = 0; i < n; i++) {
    long double e = (long double)got[i] - want[i];
    d += e * e;
    s += (long double)want[i] * want[i];
  }
  return (double)sqrtl(s > 0 ? d / s : d);
}

/* Path of a golden file: of tests/data/golden (KUGEL_TEST_DATA), which travels with the sources, or of the larger data
 * folder beside a checkout (KUGEL_TEST_SHARED); NULL when neither has it. The result is reused by the next call. */
static inline const char *check_shared(const char *relative)
{
  static char path[1024];
  const char *own = getenv("KUGEL_TEST_DATA"), *root = getenv("KUGEL_TEST_SHARED");
  snprintf(path, sizeof path, "%s/golden/%s", own ? own : "tests/data", relative);
  if (!access(path, R_OK))
    return path;
  snprintf(path, sizeof path, "%s/%s", root ? root : "../shared/data", relative);
  return access(path, R_OK) ? NULL : path;
}

/* Deterministic uniform numbers in [-1, 1). */
static inline double check_random(uint64_t *state)
{
  *state += 0x9e3779b97f4a7c15u;
  uint64_t z = *state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return (double)((z ^ (z >> 31)) >> 11) * 0x1p-52 - 1;
}

#endif
