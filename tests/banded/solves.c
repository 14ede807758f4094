/* SPDX-License-Identifier: BSD-3-Clause */
/* Banded solves and products on the CPU: residuals of every size, kind, precision, layout and method against
 * sums in 113 bits, golden solves, refusals, allocation failures. */
#include "check.h"
#include "core/alloc.h"
#include "truth.h"

/* A solve's backward error is a few roundings a row; a product's three. By scan, an element that cancels
 * against what comes from its part's start loses more. */
static const double SOLVE_BOUND = 12, SCAN_BOUND = 100, PRODUCT_BOUND = 4;

static void try_one(kugel_banded_opts opts, int64_t batch, double spread, uint64_t seed)
{
  problem p;
  kugel_banded *plan = NULL;
  problem_make(&p, opts, batch, spread, seed);
  CHECK_OK(kugel_banded_create(NULL, &p.opts, &plan));
  if (plan) {
    double solve = problem_run(&p, plan, true, seed % 2),
           product = problem_run(&p, plan, false, seed / 2 % 2);
    kugel_banded_info info = {.size = sizeof info, .batch = batch};
    CHECK_OK(kugel_banded_get_info(plan, &info));
    if (!(solve <= (info.method == KUGEL_BANDED_SCAN ? SCAN_BOUND : SOLVE_BOUND) && product <= PRODUCT_BOUND))
      CHECK_FAIL(
          "kind %d precision %d layout %d method %d n %lld batch %lld matrices %lld: solve %g, product %g",
          opts.kind, opts.precision, opts.layout, opts.method, (long long)opts.n, (long long)batch,
          (long long)opts.matrices, solve, product);
  }
  kugel_banded_destroy(plan);
  problem_free(&p);
}

static void refuse(kugel_banded_opts opts, const char *words)
{
  kugel_banded *plan = NULL;
  double b[8] = {1, 1, 1, 1, 1, 1, 1, 1};
  opts.size = sizeof opts;
  CHECK_OK(kugel_banded_create(NULL, &opts, &plan));
  kugel_banded_info info = {.size = sizeof info};
  CHECK_OK(kugel_banded_get_info(plan, &info));
  CHECK(!info.solvable && info.bad_row >= 0 && info.bad_matrix == 0);
  CHECK_IS(
      kugel_banded_solve(plan, KUGEL_ARRAY(b, KUGEL_F64, opts.n), KUGEL_ARRAY(b, KUGEL_F64, opts.n), NULL),
      KUGEL_EINVAL);
  if (!strstr(kugel_last_error(), words))
    CHECK_FAIL("\"%s\" lacks \"%s\"", kugel_last_error(), words);
  CHECK_OK(
      kugel_banded_product(plan, KUGEL_ARRAY(b, KUGEL_F64, opts.n), KUGEL_ARRAY(b, KUGEL_F64, opts.n), NULL));
  kugel_banded_destroy(plan);
}

// Solves well although elimination in order fails: b - A x is as small as rounding, for known x.
static void exchanged(kugel_banded_opts opts)
{
  int64_t n = opts.n;
  double *x = malloc(sizeof(double) * 6 * (size_t)n), *b = x + 3 * n, worst = 0;
  kugel_banded *plan = NULL;
  uint64_t seed = 3;
  opts.size = sizeof opts;
  CHECK_OK(kugel_banded_create(NULL, &opts, &plan));
  kugel_banded_info info = {.size = sizeof info, .batch = 3};
  CHECK_OK(kugel_banded_get_info(plan, &info));
  CHECK(info.solvable && info.method == KUGEL_BANDED_PIVOTED && info.bad_row == -1);
  for (int64_t i = 0; i < 3 * n; i++)
    x[i] = check_random(&seed);
  bool rows = opts.layout == KUGEL_BANDED_ROWS;
  int64_t shape[2] = {rows ? 3 : n, rows ? n : 3};
  kugel_array a = {.data = x, .device = {KUGEL_CPU, 0}, .ndim = 2, .dtype = KUGEL_F64, .shape = shape}, y = a;
  y.data = b;
  CHECK_OK(kugel_banded_product(plan, &a, &y, NULL));
  CHECK_OK(kugel_banded_solve(plan, &y, &y, NULL));
  for (int64_t i = 0; i < 3 * n; i++)
    worst = fmax(worst, fabs(b[i] - x[i]));
  if (!(worst < 1e-11))
    CHECK_FAIL("n %lld: solve differs by %g", (long long)n, worst);
  kugel_banded_destroy(plan);
  free(x);
}

static void bad_arguments(void)
{
  double a[4] = {1, 1, 1, 1}, nan_[4] = {1, NAN, 1, 1}, b[12] = {0};
  kugel_banded *plan = (kugel_banded *)a;
  kugel_banded_opts good = {.size = sizeof good, .n = 4, .lower = a, .diagonal = a}, o;
  CHECK_IS(kugel_banded_create(NULL, NULL, &plan), KUGEL_EINVAL);
  CHECK(!plan);
  CHECK_IS(kugel_banded_create(NULL, &good, NULL), KUGEL_EINVAL);
#define BAD(field, value)                                                                                    \
  o = good;                                                                                                  \
  o.field = value;                                                                                           \
  CHECK_IS(kugel_banded_create(NULL, &o, &plan), KUGEL_EINVAL)
  BAD(kind, 3);
  BAD(kind, (kugel_banded_kind)-1);
  BAD(precision, 3);
  BAD(layout, 2);
  BAD(method, 4);
  BAD(n, 0);
  BAD(n, -1);
  BAD(n, (int64_t)1 << 31);
  BAD(matrices, -1);
  BAD(matrices, INT64_MAX);
  BAD(lower, NULL);
  BAD(lower, nan_);
  BAD(diagonal, nan_);
  BAD(kind, KUGEL_BANDED_UPPER);
  BAD(size, 3);
  double big[4] = {1, 9, 9, 9};
  o = good;
  o.lower = big;
  o.method = KUGEL_BANDED_SCAN;
  CHECK_IS(kugel_banded_create(NULL, &o, &plan), KUGEL_EINVAL);
  CHECK_OK(kugel_banded_create(NULL, &good, &plan));
  CHECK_IS(kugel_banded_solve(NULL, KUGEL_ARRAY(b, KUGEL_F64, 4), KUGEL_ARRAY(b, KUGEL_F64, 4), NULL),
           KUGEL_EINVAL);
  CHECK_IS(kugel_banded_solve(plan, NULL, KUGEL_ARRAY(b, KUGEL_F64, 4), NULL), KUGEL_EINVAL);
  CHECK_IS(kugel_banded_solve(plan, KUGEL_ARRAY(b, KUGEL_F64, 4), NULL, NULL), KUGEL_EINVAL);
  CHECK_IS(kugel_banded_solve(plan, KUGEL_ARRAY(b, KUGEL_F64, 5), KUGEL_ARRAY(b, KUGEL_F64, 5), NULL),
           KUGEL_ESHAPE);
  CHECK_IS(kugel_banded_solve(plan, KUGEL_ARRAY(b, KUGEL_F32, 4), KUGEL_ARRAY(b, KUGEL_F64, 4), NULL),
           KUGEL_ESHAPE);
  CHECK_IS(kugel_banded_solve(plan, KUGEL_ARRAY(b, KUGEL_F64, 2, 4), KUGEL_ARRAY(b, KUGEL_F64, 4), NULL),
           KUGEL_ESHAPE);
  CHECK_IS(kugel_banded_solve(plan, KUGEL_ARRAY(b, KUGEL_F64, 4), KUGEL_ARRAY(b + 1, KUGEL_F64, 4), NULL),
           KUGEL_EINVAL);
  CHECK_OK(kugel_banded_solve(plan, KUGEL_ARRAY(b, KUGEL_F64, 0, 4), KUGEL_ARRAY(b, KUGEL_F64, 0, 4), NULL));
  kugel_banded_info info = {.size = 1};
  CHECK_IS(kugel_banded_get_info(plan, &info), KUGEL_EINVAL);
  CHECK_IS(kugel_banded_get_info(NULL, &info), KUGEL_EINVAL);
  info = (kugel_banded_info){.size = sizeof info, .batch = -1};
  CHECK_IS(kugel_banded_get_info(plan, &info), KUGEL_EINVAL);
  kugel_banded_destroy(plan);
  kugel_banded_destroy(NULL);
}

static void fail_allocations(int64_t n, int64_t matrices)
{
  problem p;
  kugel_banded_opts opts = {.kind = KUGEL_BANDED_TRIDIAGONAL, .n = n, .matrices = matrices};
  problem_make(&p, opts, matrices, 0.5, 3);
  double *x = calloc((size_t)(n * matrices), sizeof *x);
  int64_t shape[3];
  kugel_array a = problem_array(&p, x, shape);
  uint64_t before, after;
  kugel_ctx_trim(NULL);
  kugel_ctx_memory(NULL, &before, NULL);
  bool done = false;
  for (int k = 1; k < 200 && !done; k++) {
    kugel_banded *plan = NULL;
    kugel_ctx_trim(NULL);
    kugel__fault_alloc(k);
    kugel_status s = kugel_banded_create(NULL, &p.opts, &plan);
    if (!s)
      s = kugel_banded_solve(plan, &a, &a, NULL);
    kugel__fault_alloc(0);
    CHECK(!s || s == KUGEL_ENOMEM);
    kugel_banded_destroy(plan);
    kugel_ctx_trim(NULL);
    kugel_ctx_memory(NULL, &after, NULL);
    CHECK(before == after);
    done = !s;
  }
  CHECK(done);
  free(x);
  problem_free(&p);
}

int main(void)
{
  CASE("every size to 200, kinds, precisions, layouts, methods")
  {
    for (int64_t n = 1; n <= 200; n++)
      for (int kind = 0; kind < 3; kind++) {
        uint64_t v = (uint64_t)(n * 3 + kind);
        for (int precision = 0; precision < 3; precision++, v += 7) {
          kugel_banded_opts o = {
              .kind = kind, .precision = precision, .layout = v % 2, .n = n, .method = n % 4};
          int64_t batch = 1 + (int64_t)(v % (n > 50 ? 19 : 37));
          try_one(o, batch, 0.5, v);
          if (n > 100 && v % 3)
            continue;
          o.layout = !o.layout;
          o.matrices = batch;
          try_one(o, batch, 0.5, v + 1);
        }
      }
  }
  CASE("longer systems, few and many")
  {
    static const int64_t n[] = {255, 256, 511, 513, 1000, 1024, 4099, 20000, 100000};
    for (size_t k = 0; k < sizeof n / sizeof *n; k++)
      for (int kind = 0; kind < 3; kind++)
        for (int precision = 0; precision < 3; precision++) {
          kugel_banded_opts o = {.kind = kind, .precision = precision, .n = n[k], .layout = k % 2};
          if (n[k] < 50000 || kind == precision)
            try_one(o, 1, 0.5, k);
          if (n[k] > 5000)
            continue;
          o.layout = 0;
          try_one(o, 5, 0.5, k + 1);
          o.matrices = 3;
          try_one(o, 3, 0.5, k);
          o.matrices = 0;
          o.layout = 1;
          if (n[k] < 1100)
            try_one(o, 35, 0.5, k);
        }
  }
  CASE("off-diagonal elements larger than the diagonal: substitution")
  {
    for (int precision = 0; precision < 3; precision++)
      for (int layout = 0; layout < 2; layout++)
        try_one((kugel_banded_opts){.n = 40, .precision = precision, .layout = layout}, 33, 3, 5);
  }
  CASE("unit diagonals")
  {
    double a[700], x[700], y[700];
    uint64_t seed = 1;
    for (int i = 0; i < 700; i++) {
      a[i] = check_random(&seed);
      x[i] = check_random(&seed);
    }
    for (int kind = 0; kind < 2; kind++) {
      kugel_banded_opts o = {.size = sizeof o, .kind = kind, .n = 700, .lower = a, .upper = a};
      kugel_banded *plan;
      CHECK_OK(kugel_banded_create(NULL, &o, &plan));
      CHECK_OK(
          kugel_banded_product(plan, KUGEL_ARRAY(x, KUGEL_F64, 700), KUGEL_ARRAY(y, KUGEL_F64, 700), NULL));
      CHECK_OK(
          kugel_banded_solve(plan, KUGEL_ARRAY(y, KUGEL_F64, 700), KUGEL_ARRAY(y, KUGEL_F64, 700), NULL));
      CHECK_CLOSE(y, x, 700, 1e-14);
      kugel_banded_destroy(plan);
    }
  }
  CASE("golden bidiagonal solves")
  {
    const char *path = check_shared("polynomials/bidiag_solve.csv");
    if (path)
      CHECK(golden_solves(NULL, path) >= 3);
    else
      SKIP("no golden data");
  }
  CASE("matrices that are not solved without exchange of rows")
  {
    double zero[4] = {1, 1, 0, 1}, one[4] = {1, 1, 1, 1}, tiny[4] = {1e-20, 1, 4, 4},
           small[4] = {1, 1e-310, 1, 1};
    double two[4] = {2, 2, 2, 2}, four[4] = {4, 4, 4, 4};
    refuse((kugel_banded_opts){.kind = KUGEL_BANDED_LOWER, .n = 4, .lower = one, .diagonal = zero}, "row 2");
    refuse((kugel_banded_opts){.kind = KUGEL_BANDED_UPPER, .n = 4, .upper = one, .diagonal = zero}, "row 2");
    refuse((kugel_banded_opts){.kind = KUGEL_BANDED_LOWER, .n = 4, .lower = one, .diagonal = small}, "range");
    double ones[5] = {1, 1, 1, 1, 1}; // 1 + 2 cos(4 pi / 6) = 0
    refuse((kugel_banded_opts){.kind = 2, .n = 5, .lower = ones, .upper = ones, .diagonal = ones},
           "singular");
    refuse((kugel_banded_opts){.kind = 2, .n = 2, .lower = two, .upper = two, .diagonal = two}, "row 1");
    exchanged((kugel_banded_opts){.kind = 2, .n = 4, .lower = one, .upper = one, .diagonal = one});
    exchanged((kugel_banded_opts){.kind = 2, .n = 4, .lower = one, .upper = one, .diagonal = tiny});
    kugel_banded_opts fine = {
        .size = sizeof fine, .kind = 2, .n = 4, .lower = two, .upper = two, .diagonal = four};
    kugel_banded *plan;
    CHECK_OK(kugel_banded_create(NULL, &fine, &plan));
    kugel_banded_info info = {.size = sizeof info, .batch = 100};
    CHECK_OK(kugel_banded_get_info(plan, &info));
    CHECK(info.solvable && info.bad_row == -1 && info.growth < 2 && info.propagation < 4);
    kugel_banded_destroy(plan);
  }
  CASE("second differences plus lambda, with a pivot that vanishes, far from singular")
  {
    double off[200], diagonal[200];
    for (int lambda = 1; lambda <= 2; lambda++)
      for (int layout = 0; layout < 2; layout++) {
        for (int i = 0; i < 200; i++) {
          off[i] = 1;
          diagonal[i] = lambda - 2;
        }
        kugel_banded_opts o = {.kind = 2, .layout = (kugel_banded_layout)layout, .lower = off, .upper = off};
        o.n = lambda == 1 ? 199 : 200; // the other lengths have an eigenvalue 0
        o.diagonal = diagonal;
        exchanged(o);
      }
  }
  CASE("bad arguments")
  {
    bad_arguments();
  }
  CASE("results do not depend on the threads")
  {
    problem p;
    problem_make(&p, (kugel_banded_opts){.kind = 2, .n = 300}, 200, 0.5, 9);
    double *x[3];
    for (int k = 0; k < 3; k++) {
      kugel_ctx *ctx;
      kugel_banded *plan;
      CHECK_OK(
          kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .threads = 1 + 2 * k}, &ctx));
      CHECK_OK(kugel_banded_create(ctx, &p.opts, &plan));
      kugel_ctx_destroy(ctx);
      x[k] = malloc(sizeof(double) * 60000);
      problem_fill(&p, p.b, x[k]);
      CHECK_OK(kugel_banded_solve(plan, KUGEL_ARRAY(x[k], KUGEL_F64, 200, 300),
                                  KUGEL_ARRAY(x[k], KUGEL_F64, 200, 300), NULL));
      kugel_banded_destroy(plan);
    }
    CHECK(!memcmp(x[0], x[1], sizeof(double) * 60000) && !memcmp(x[0], x[2], sizeof(double) * 60000));
    for (int k = 0; k < 3; k++)
      free(x[k]);
    problem_free(&p);
  }
  CASE("every allocation fails once")
  {
    fail_allocations(40, 20);
    fail_allocations(600, 1);
    fail_allocations(600, 3);
  }
  END();
}
