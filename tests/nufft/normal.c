/* SPDX-License-Identifier: BSD-3-Clause */
/* Normal operators and density weights: against execute and adjoint, threads, bad input, no memory. */
#include "sweep.h"
#include "nufft/problem.h"

enum { M = 700, N0 = 20, N1 = 31 };

static kugel_status all_calls(void *arg)
{
  double **numbers = arg, *x = numbers[0], *w = numbers[1], *f = numbers[2], *g = numbers[3],
         *density = numbers[4];
  const int64_t n[2] = {N0, N1};
  kugel_nufft *plan = NULL;
  kugel_nufft_points *points = NULL, *normal = NULL;
  kugel_nufft_opts o = {.size = sizeof o, .type = KUGEL_NUFFT_TO_POINTS, .tolerance = 1e-11};
  kugel_array places = *KUGEL_ARRAY(x, KUGEL_F64, M, 2), weights = *KUGEL_ARRAY(w, KUGEL_F64, M);
  kugel_array in = *KUGEL_ARRAY(f, KUGEL_C128, N0, N1), out = *KUGEL_ARRAY(g, KUGEL_C128, N0, N1),
              d = *KUGEL_ARRAY(density, KUGEL_F64, M);
  kugel_status s = kugel_nufft_create(NULL, 2, n, &o, &plan);
  if (!s)
    s = kugel_nufft_points_create(plan, &places, &points);
  if (!s)
    s = kugel_nufft_density(points, 3, &d);
  if (!s)
    s = kugel_nufft_normal_create(plan, &places, &weights, &normal);
  if (!s)
    s = kugel_nufft_execute(normal, &in, &out, NULL);
  kugel_nufft_points_destroy(normal);
  kugel_nufft_points_destroy(points);
  kugel_nufft_destroy(plan);
  return s;
}

static void equals_two_transforms(void)
{
  problem p = {.ndim = 2,
               .n = {N0, N1},
               .m = M,
               .opts = {.size = sizeof p.opts, .type = KUGEL_NUFFT_TO_POINTS, .tolerance = 1e-11}};
  double *x = random_reals(2 * M, 1), *w = random_reals(M, 2), *f = random_reals(2 * N0 * N1, 3);
  double *g = malloc(N0 * N1 * 16), *want = malloc(N0 * N1 * 16), *c = malloc(M * 16),
         *first = malloc(N0 * N1 * 16);
  double *d = malloc(M * 8), *d1 = malloc(M * 8);
  transform(&p, x, false, f, c);
  for (int64_t j = 0; j < M; j++)
    c[2 * j] *= w[j], c[2 * j + 1] *= w[j];
  transform(&p, x, true, c, want);
  for (int t = 1; t <= 7; t += 3) {
    CHECK_OK(kugel_set_num_threads(t));
    CHECK_OK(all_calls((double *[]){x, w, f, g, d}));
    if (t == 1) {
      memcpy(first, g, N0 * N1 * 16);
      memcpy(d1, d, M * 8);
    }
    CHECK(!memcmp(first, g, N0 * N1 * 16) && !memcmp(d1, d, M * 8));
  }
  kugel_set_num_threads(0);
  CHECK_LE(check_l2(g, want, 2 * N0 * N1), 1e-10);
  for (int64_t j = 0; j < M; j++)
    CHECK(d[j] > 0 && d[j] < 1);
  free(x), free(w), free(f), free(g), free(want), free(c), free(first), free(d), free(d1);
}

/* Against a transform and its adjoint, which have tests against sums: every dimension, precision, order, real data. */
static void every_kind(void)
{
  static const int64_t n[3][3] = {{41}, {12, 9}, {6, 7, 8}};
  for (int k = 0; k < 24; k++) {
    const int ndim = 1 + k % 3;
    const bool single = k / 3 % 2, real = k / 6 % 2;
    const int64_t m = 300, last = n[ndim - 1][ndim - 1];
    kugel_nufft_opts o = {.size = sizeof o,
                          .type = k % 2 ? KUGEL_NUFFT_TO_POINTS : KUGEL_NUFFT_TO_MODES,
                          .precision = single ? KUGEL_PRECISION_F32 : KUGEL_PRECISION_F64,
                          .tolerance = single ? 1e-5 : 1e-11,
                          .real = real,
                          .fft_order = k / 12};
    int64_t shape[3] = {1, 1, 1}, modes = 1;
    for (int d = 0; d < ndim; d++)
      modes *= shape[d] = real && d == ndim - 1 ? last / 2 + 1 : n[ndim - 1][d];
    double *x = random_reals(3 * m, 1), *w = random_reals(m, 2), *f = random_reals(2 * modes, 3);
    float *narrow = malloc((size_t)modes * 8);
    for (int64_t i = 0; i < 2 * modes; i++)
      narrow[i] = (float)f[i];
    void *c = malloc((size_t)m * 16), *want = malloc((size_t)modes * 16), *got = malloc((size_t)modes * 16);
    kugel_nufft *plan;
    kugel_nufft_points *points, *normal;
    const kugel_dtype kind = single ? KUGEL_C64 : KUGEL_C128,
                      number = real ? (single ? KUGEL_F32 : KUGEL_F64) : kind;
    const kugel_array places = {
        .data = x, .device = {KUGEL_CPU, 0}, .ndim = 2, .dtype = KUGEL_F64, .shape = (int64_t[]){m, ndim}};
    kugel_array in = {.data = single ? (void *)narrow : f,
                      .device = {KUGEL_CPU, 0},
                      .ndim = ndim,
                      .dtype = kind,
                      .shape = shape},
                values = {.data = c,
                          .device = {KUGEL_CPU, 0},
                          .ndim = 1,
                          .dtype = number,
                          .shape = (int64_t[]){m}},
                out = in;
    CHECK_OK(kugel_nufft_create(NULL, ndim, n[ndim - 1], &o, &plan));
    CHECK_OK(kugel_nufft_points_create(plan, &places, &points));
    CHECK_OK(kugel_nufft_normal_create(plan, &places, KUGEL_ARRAY(w, KUGEL_F64, m), &normal));
    CHECK_OK((k % 2 ? kugel_nufft_execute : kugel_nufft_adjoint)(points, &in, &values, NULL));
    for (int64_t i = 0; i < m * (real ? 1 : 2); i++)
      if (single)
        ((float *)c)[i] *= (float)w[real ? i : i / 2];
      else
        ((double *)c)[i] *= w[real ? i : i / 2];
    out.data = want;
    CHECK_OK((k % 2 ? kugel_nufft_adjoint : kugel_nufft_execute)(points, &values, &out, NULL));
    out.data = got;
    CHECK_OK(kugel_nufft_execute(normal, &in, &out, NULL));
    double error = 0, size = 0;
    for (int64_t i = 0; i < 2 * modes; i++) {
      const double a = single ? (double)((float *)got)[i] : ((double *)got)[i],
                   b = single ? (double)((float *)want)[i] : ((double *)want)[i];
      error += (a - b) * (a - b);
      size += b * b;
    }
    CHECK_LE(sqrt(error / size), single ? 3e-5 : 3e-11);
    kugel_nufft_points_destroy(points);
    kugel_nufft_points_destroy(normal);
    kugel_nufft_destroy(plan);
    free(x), free(w), free(f), free(narrow), free(c), free(want), free(got);
  }
}

/* Points on a grid own its cells, in every dimension and precision, of complex and real plans. */
static void densities(void)
{
  for (int k = 0; k < 12; k++) {
    const int ndim = 1 + k % 3;
    const bool single = k / 3 % 2, real = k / 6;
    const int64_t side = ndim == 1 ? 300 : ndim == 2 ? 60 : 30, n[3] = {side / 3, side / 3, side / 3};
    int64_t m = 1;
    for (int d = 0; d < ndim; d++)
      m *= side;
    double *x = malloc((size_t)(m * ndim) * sizeof *x);
    void *w = malloc((size_t)m * 8);
    for (int64_t j = 0; j < m; j++)
      for (int64_t d = ndim - 1, at = j; d >= 0; at /= side, d--)
        x[j * ndim + d] = 2 * M_PI * ((double)(at % side) + 0.3) / (double)side;
    const kugel_nufft_opts o = {.size = sizeof o,
                                .type = KUGEL_NUFFT_TO_MODES,
                                .precision = single ? KUGEL_PRECISION_F32 : KUGEL_PRECISION_F64,
                                .tolerance = 1e-4,
                                .real = real};
    const kugel_array places = {.data = x,
                                .device = {KUGEL_CPU, 0},
                                .ndim = 2,
                                .dtype = KUGEL_F64,
                                .shape = (int64_t[]){m, ndim}},
                      weights = {.data = w,
                                 .device = {KUGEL_CPU, 0},
                                 .ndim = 1,
                                 .dtype = single ? KUGEL_F32 : KUGEL_F64,
                                 .shape = &m};
    kugel_nufft *plan;
    kugel_nufft_points *points;
    CHECK_OK(kugel_nufft_create(NULL, ndim, n, &o, &plan));
    CHECK_OK(kugel_nufft_points_create(plan, &places, &points));
    CHECK_OK(kugel_nufft_density(points, 30, &weights));
    double worst = 0;
    for (int64_t j = 0; j < m; j++)
      worst = fmax(
          worst,
          fabs((single ? (double)((float *)w)[j] : ((double *)w)[j]) * (double)m / pow(2 * M_PI, ndim) - 1));
    CHECK_LE(worst, 1e-2);
    kugel_nufft_points_destroy(points);
    kugel_nufft_destroy(plan);
    free(x), free(w);
  }
}

static void bad_input(void)
{
  const int64_t n[2] = {8, 8};
  double x[20] = {0}, w[10] = {0}, f[128] = {0}, g[128];
  kugel_nufft *plan, *third, *gradient;
  kugel_nufft_points *points, *normal, *none;
  kugel_nufft_opts o = {.size = sizeof o, .type = KUGEL_NUFFT_TO_MODES};
  kugel_array places = *KUGEL_ARRAY(x, KUGEL_F64, 10, 2), weights = *KUGEL_ARRAY(w, KUGEL_F64, 10);
  CHECK_OK(kugel_nufft_create(NULL, 2, n, &o, &plan));
  o.gradient = 1;
  CHECK_OK(kugel_nufft_create(NULL, 2, n, &o, &gradient));
  o.gradient = 0;
  o.type = KUGEL_NUFFT_TO_FREQUENCIES;
  CHECK_OK(kugel_nufft_create(NULL, 2, NULL, &o, &third));
  CHECK_IS(kugel_nufft_normal_create(third, &places, NULL, &none), KUGEL_EINVAL);
  CHECK_IS(kugel_nufft_normal_create(NULL, &places, NULL, &none), KUGEL_EINVAL);
  CHECK_IS(kugel_nufft_normal_create(plan, NULL, NULL, &none), KUGEL_EINVAL);
  CHECK_IS(kugel_nufft_normal_create(plan, &places, KUGEL_ARRAY(w, KUGEL_F64, 9), &none), KUGEL_ESHAPE);
  CHECK_OK(kugel_nufft_normal_create(plan, &places, NULL, &normal));
  CHECK_OK(kugel_nufft_points_create(plan, &places, &points));
  CHECK_IS(kugel_nufft_density(points, 0, &weights), KUGEL_EINVAL);
  CHECK_IS(kugel_nufft_density(points, 2, KUGEL_ARRAY(w, KUGEL_F64, 9)), KUGEL_ESHAPE);
  CHECK_IS(kugel_nufft_density(points, 2, NULL), KUGEL_EINVAL);
  CHECK_IS(kugel_nufft_density(NULL, 2, &weights), KUGEL_EINVAL);
  CHECK_IS(kugel_nufft_density(normal, 2, &weights), KUGEL_EINVAL);
  CHECK_IS(
      kugel_nufft_spread(normal, KUGEL_ARRAY(f, KUGEL_C128, 8, 8), KUGEL_ARRAY(g, KUGEL_C128, 8, 8), NULL),
      KUGEL_EINVAL);
  CHECK_IS(
      kugel_nufft_execute(normal, KUGEL_ARRAY(f, KUGEL_C128, 10), KUGEL_ARRAY(g, KUGEL_C128, 8, 8), NULL),
      KUGEL_ESHAPE);
  CHECK_OK(
      kugel_nufft_execute(normal, KUGEL_ARRAY(f, KUGEL_C128, 8, 8), KUGEL_ARRAY(g, KUGEL_C128, 8, 8), NULL));
  kugel_nufft_points_destroy(points);
  CHECK_OK(kugel_nufft_points_create(gradient, &places, &points));
  CHECK_IS(kugel_nufft_density(points, 2, &weights), KUGEL_EINVAL);
  kugel_nufft_points_destroy(points);
  kugel_nufft_points_destroy(normal);
  kugel_nufft_destroy(plan);
  kugel_nufft_destroy(third);
  kugel_nufft_destroy(gradient);
}

static void no_memory(void)
{
  double *x = random_reals(2 * M, 1), *w = random_reals(M, 2), *f = random_reals(2 * N0 * N1, 3);
  double *g = malloc(N0 * N1 * 16), *d = malloc(M * 8);
  sweep_allocations(all_calls, (double *[]){x, w, f, g, d});
  free(x), free(w), free(f), free(g), free(d);
}

int main(void)
{
  CASE("equals two transforms") equals_two_transforms();
  CASE("every dimension, precision and order, real data") every_kind();
  CASE("density of grids") densities();
  CASE("bad input") bad_input();
  CASE("no memory") no_memory();
  END();
}
