/* SPDX-License-Identifier: BSD-3-Clause */
/* Non-uniform transforms: adjoints, threads, layouts, bad input, no memory, cancellation. */
#include "sweep.h"
#include "core/parallel.h"
#include "nufft/problem.h"

static void adjoints(void)
{
  static const int64_t sizes[3][3] = {{2500}, {70, 90}, {20, 33, 40}};
  for (int ndim = 1; ndim <= 3; ndim++)
    for (int type = 1; type <= 2; type++) {
      problem p = {.ndim = ndim,
                   .m = 5000,
                   .opts = {.size = sizeof p.opts, .type = (kugel_nufft_type)type, .tolerance = 1e-3}};
      memcpy(p.n, sizes[ndim - 1], sizeof p.n);
      int64_t n_in = type == 1 ? p.m : modes_of(&p), n_out = type == 1 ? modes_of(&p) : p.m;
      double *x = random_reals(p.m * ndim, 1), *a = random_reals(2 * n_in, 2),
             *b = random_reals(2 * n_out, 3);
      double *fa = malloc((size_t)n_out * 16), *fb = malloc((size_t)n_in * 16);
      transform(&p, x, false, a, fa);
      transform(&p, x, true, b, fb);
      long double complex left = 0, right = 0;
      long double size = 0;
      for (int64_t i = 0; i < n_out; i++) {
        left += conjl(number(b, i)) * number(fa, i);
        size += cabsl(number(fa, i)) * cabsl(number(b, i));
      }
      for (int64_t i = 0; i < n_in; i++)
        right += conjl(number(fb, i)) * number(a, i);
      CHECK_LE((double)(cabsl(left - right) / size), 1e-15);
      free(x), free(a), free(b), free(fa), free(fb);
    }
}

/* Gradients: dipoles are differences of strengths in the limit, and both types each other's adjoints. */
static void gradients(void)
{
  static const int64_t sizes[3][3] = {{250}, {40, 33}, {16, 20, 17}};
  for (int ndim = 1; ndim <= 3; ndim++)
    for (int single = 0; single < 2; single++) {
      const int64_t m = 500;
      kugel_nufft *plan;
      kugel_nufft_points *points;
      kugel_nufft_opts o = {.size = sizeof o,
                            .type = KUGEL_NUFFT_TO_POINTS,
                            .precision = single ? KUGEL_PRECISION_F32 : KUGEL_PRECISION_F64,
                            .tolerance = 1e-4,
                            .gradient = 1};
      problem p = {.ndim = ndim, .m = m};
      memcpy(p.n, sizes[ndim - 1], sizeof p.n);
      int64_t n = modes_of(&p), rows = m * (1 + ndim);
      double *x = random_reals(m * ndim, 1), *f = random_reals(2 * n, 2), *c = random_reals(2 * rows, 3);
      double *fc = malloc((size_t)n * 16), *cf = malloc((size_t)rows * 16);
      float *f32 = malloc((size_t)n * 8), *c32 = malloc((size_t)rows * 8);
      for (int64_t i = 0; i < 2 * n; i++)
        f32[i] = (float)f[i];
      for (int64_t i = 0; i < 2 * rows; i++)
        c32[i] = (float)c[i];
      float *fc32 = malloc((size_t)n * 8), *cf32 = malloc((size_t)rows * 8);
      kugel_dtype type = single ? KUGEL_C64 : KUGEL_C128;
      kugel_array ca = *KUGEL_ARRAY(single ? (void *)c32 : c, type, 1 + ndim, m),
                  fa = *KUGEL_ARRAY(f, type, 1);
      fa.ndim = ndim;
      fa.shape = p.n;
      fa.data = single ? (void *)f32 : f;
      CHECK_OK(kugel_nufft_create(NULL, ndim, p.n, &o, &plan));
      CHECK_OK(kugel_nufft_points_create(plan, KUGEL_ARRAY(x, KUGEL_F64, m, ndim), &points));
      kugel_array out = ca;
      out.data = single ? (void *)cf32 : cf;
      CHECK_OK(kugel_nufft_execute(points, &fa, &out, NULL));
      out = fa;
      out.data = single ? (void *)fc32 : fc;
      CHECK_OK(kugel_nufft_adjoint(points, &ca, &out, NULL));
      long double complex left = 0, right = 0;
      long double size = 0;
      for (int64_t i = 0; i < 2 * n && single; i++)
        fc[i] = fc32[i], f[i] = f32[i];
      for (int64_t i = 0; i < 2 * rows && single; i++)
        cf[i] = cf32[i], c[i] = c32[i];
      for (int64_t i = 0; i < rows; i++) {
        left += conjl(number(c, i)) * number(cf, i);
        size += cabsl(number(c, i)) * cabsl(number(cf, i));
      }
      for (int64_t i = 0; i < n; i++)
        right += conjl(number(fc, i)) * number(f, i);
      CHECK_LE((double)(cabsl(left - right) / size), single ? 1e-6 : 2e-15);
      kugel_nufft_points_destroy(points);
      kugel_nufft_destroy(plan);
      free(x), free(f), free(c), free(fc), free(cf), free(f32), free(c32), free(fc32), free(cf32);
    }
}

/* Bits are the same for any number of threads, with points all over and all in one tile. */
static void threads(void)
{
  static const int64_t sizes[3][3] = {{30000}, {300, 210}, {60, 70, 80}};
  for (int ndim = 1; ndim <= 3; ndim++)
    for (int k = 0; k < 4; k++) {
      problem p = {.ndim = ndim,
                   .m = 100000,
                   .opts = {.size = sizeof p.opts,
                            .type = k & 1 ? KUGEL_NUFFT_TO_MODES : KUGEL_NUFFT_TO_POINTS,
                            .tolerance = 1e-6}};
      memcpy(p.n, sizes[ndim - 1], sizeof p.n);
      int64_t n_in = k & 1 ? p.m : modes_of(&p), n_out = k & 1 ? modes_of(&p) : p.m;
      double *x = random_reals(p.m * ndim, 1), *in = random_reals(2 * n_in, 2);
      double *first = malloc((size_t)n_out * 16), *out = malloc((size_t)n_out * 16);
      for (int64_t i = 0; i < p.m * ndim; i++)
        x[i] *= k & 2 ? 1e-3 : 7;
      for (int t = 1; t <= 7; t += 3) {
        CHECK_OK(kugel_set_num_threads(t));
        transform(&p, x, false, in, t == 1 ? first : out);
        CHECK(t == 1 || !memcmp(first, out, (size_t)n_out * 16));
      }
      kugel_set_num_threads(0);
      free(x), free(in), free(first), free(out);
    }
}

/* A batch of two in other strides, points in float and by column, equals single calls bit by bit. */
static void layouts(void)
{
  problem p = {
      .ndim = 2, .n = {20, 31}, .m = 400, .opts = {.size = sizeof p.opts, .type = KUGEL_NUFFT_TO_MODES}};
  double *x = random_reals(800, 1), *in = random_reals(1600, 2), *want = malloc(2 * 620 * 16),
         *out = malloc(2 * 620 * 16), pairs[1600];
  float columns[800];
  for (int64_t i = 0; i < 400; i++)
    for (int d = 0; d < 2; d++) {
      columns[d * 400 + i] = (float)x[2 * i + d];
      x[2 * i + d] = columns[d * 400 + i];
      pairs[4 * i + d] = in[2 * i + d]; // [points, vectors]
      pairs[4 * i + 2 + d] = in[800 + 2 * i + d];
    }
  transform(&p, x, false, in, want);
  transform(&p, x, false, in + 800, want + 1240);
  kugel_nufft *plan;
  kugel_nufft_points *points;
  CHECK_OK(kugel_nufft_create(NULL, 2, p.n, &p.opts, &plan));
  kugel_array px = *KUGEL_ARRAY(columns, KUGEL_F32, 400, 2), c = *KUGEL_ARRAY(pairs, KUGEL_C128, 2, 400),
              f = *KUGEL_ARRAY(out, KUGEL_C128, 2, 20, 31);
  px.strides = (int64_t[]){1, 400};
  c.strides = (int64_t[]){1, 2};
  f.strides = (int64_t[]){1, 2, 40}; // Fortran's order
  CHECK_OK(kugel_nufft_points_create(plan, &px, &points));
  CHECK_OK(kugel_nufft_execute(points, &c, &f, NULL));
  for (int v = 0; v < 2; v++)
    for (int64_t i = 0; i < 20; i++)
      for (int64_t j = 0; j < 31; j++)
        CHECK(!memcmp(out + 2 * (v + 2 * i + 40 * j), want + 2 * (v * 620 + i * 31 + j), 16));
  c.data = out;
  CHECK_IS(kugel_nufft_execute(points, &c, &f, NULL), KUGEL_EINVAL);
  kugel_nufft_points_destroy(points);
  kugel_nufft_destroy(plan);
  free(x), free(in), free(want), free(out);
}

static void nothing(void)
{
  problem p = {.ndim = 2, .n = {4, 5}, .opts = {.size = sizeof p.opts, .type = KUGEL_NUFFT_TO_MODES}};
  double out[40], none[2] = {0};
  memset(out, 1, sizeof out);
  transform(&p, none, false, none, out);
  for (int i = 0; i < 40; i++)
    CHECK(out[i] == 0);
  p.opts.type = KUGEL_NUFFT_TO_POINTS;
  transform(&p, none, false, out, none);
}

static void bad_options(void)
{
  int64_t n[3] = {8, 8, 8};
  kugel_nufft *plan;
  const kugel_nufft_opts good = {.size = sizeof good, .type = KUGEL_NUFFT_TO_MODES};
  const double period[2] = {1, -1};
  kugel_nufft_opts bad[14];
  for (int i = 0; i < 14; i++)
    bad[i] = good;
  bad[13].gradient = 2;
  bad[0].type = (kugel_nufft_type)4;
  bad[1].sign = 2;
  bad[2].precision = KUGEL_PRECISION_F16;
  bad[3].tolerance = 1e-15;
  bad[4].tolerance = 0.2;
  bad[5].tolerance = NAN;
  bad[6].fft_order = 2;
  bad[7].period = period;
  bad[8].upsampling = 1.1;
  bad[9].upsampling = 5;
  bad[10].density = -1;
  bad[11].upsampling = 1.25, bad[11].tolerance = 1e-13;
  bad[12].precision = KUGEL_PRECISION_F32, bad[12].tolerance = 1e-9;
  for (int i = 0; i < 14; i++) {
    CHECK_IS(kugel_nufft_create(NULL, 2, n, &bad[i], &plan), KUGEL_EINVAL);
    CHECK(!plan && strlen(kugel_last_error()) > 20);
  }
  CHECK_IS(kugel_nufft_create(NULL, 4, n, &good, &plan), KUGEL_EINVAL);
  CHECK_IS(kugel_nufft_create(NULL, 2, NULL, &good, &plan), KUGEL_EINVAL);
  CHECK_IS(kugel_nufft_create(NULL, 2, n, NULL, &plan), KUGEL_EINVAL);
  CHECK(strstr(kugel_last_error(), "type is 0"));
  n[0] = 0;
  CHECK_IS(kugel_nufft_create(NULL, 2, n, &good, &plan), KUGEL_EINVAL);
  n[0] = n[1] = (int64_t)1 << 31;
  CHECK_IS(kugel_nufft_create(NULL, 2, n, &good, &plan), KUGEL_EINVAL);
}

static void bad_arrays(void)
{
  int64_t n[2] = {8, 8};
  kugel_nufft *plan;
  kugel_nufft_points *points;
  kugel_nufft_opts o = {.size = sizeof o, .type = KUGEL_NUFFT_TO_MODES};
  double x[4] = {0, 1, 2, NAN}, c[8] = {0}, f[128] = {0};
  kugel_array modes = *KUGEL_ARRAY(f, KUGEL_C128, 8, 8);
  CHECK_OK(kugel_nufft_create(NULL, 2, n, &o, &plan));
  CHECK_IS(kugel_nufft_points_create(plan, KUGEL_ARRAY(x, KUGEL_F64, 2, 2), &points), KUGEL_EINVAL);
  CHECK(strstr(kugel_last_error(), "coordinate 1 of point 1"));
  CHECK_IS(kugel_nufft_points_create(plan, KUGEL_ARRAY(x, KUGEL_F64, 4, 1), &points), KUGEL_ESHAPE);
  CHECK_IS(kugel_nufft_points_create(plan, KUGEL_ARRAY(x, KUGEL_C128, 1, 2), &points), KUGEL_ESHAPE);
  CHECK_IS(kugel_nufft_points_create(NULL, KUGEL_ARRAY(x, KUGEL_F64, 2, 2), &points), KUGEL_EINVAL);
  x[3] = 1e300; // finite: a number comes out
  CHECK_OK(kugel_nufft_points_create(plan, KUGEL_ARRAY(x, KUGEL_F64, 2, 2), &points));
  CHECK_OK(kugel_nufft_execute(points, KUGEL_ARRAY(c, KUGEL_C128, 2), &modes, NULL));
  CHECK_IS(kugel_nufft_execute(points, KUGEL_ARRAY(c, KUGEL_C128, 3), &modes, NULL), KUGEL_ESHAPE);
  CHECK_IS(kugel_nufft_execute(points, KUGEL_ARRAY(c, KUGEL_C64, 2), &modes, NULL), KUGEL_ESHAPE);
  CHECK_IS(kugel_nufft_execute(points, KUGEL_ARRAY(c, KUGEL_C128, 1, 2), &modes, NULL), KUGEL_ESHAPE);
  CHECK_IS(kugel_nufft_execute(points, NULL, &modes, NULL), KUGEL_EINVAL);
  CHECK_IS(kugel_nufft_execute(NULL, NULL, NULL, NULL), KUGEL_EINVAL);
  kugel_nufft_info info = {.size = sizeof info};
  CHECK_OK(kugel_nufft_get_info(plan, &info));
  CHECK(info.width > 2 && info.error < 1e-9 && info.fine[0] >= 8 && info.bytes > 0 && info.sign == 1);
  kugel_nufft_points_destroy(points);
  kugel_nufft_points_destroy(NULL);
  kugel_nufft_destroy(plan);
  kugel_nufft_destroy(NULL);
}

static kugel_status all_calls(void *arg)
{
  double **numbers = arg, *x = numbers[0], *c = numbers[1], *f = numbers[2];
  const int64_t n[2] = {40, 40};
  kugel_nufft *plan = NULL;
  kugel_nufft_points *points = NULL;
  kugel_nufft_opts o = {.size = sizeof o, .type = KUGEL_NUFFT_TO_MODES};
  kugel_array strengths = *KUGEL_ARRAY(c, KUGEL_C128, 1000), modes = *KUGEL_ARRAY(f, KUGEL_C128, 40, 40);
  kugel_status s = kugel_nufft_create(NULL, 2, n, &o, &plan);
  if (!s)
    s = kugel_nufft_points_create(plan, KUGEL_ARRAY(x, KUGEL_F64, 1000, 2), &points);
  if (!s)
    s = kugel_nufft_execute(points, &strengths, &modes, NULL);
  if (!s)
    s = kugel_nufft_adjoint(points, &modes, &strengths, NULL);
  kugel_nufft_info info = {.size = sizeof info};
  if (!s)
    s = kugel_nufft_get_info(plan, &info);
  double *cells = calloc((size_t)(info.fine[0] * info.fine[1] + 1), 16);
  kugel_array grid = *KUGEL_ARRAY(cells, KUGEL_C128, info.fine[0], info.fine[1]);
  if (!s)
    s = kugel_nufft_spread(points, &strengths, &grid, NULL);
  if (!s)
    s = kugel_nufft_interpolate(points, &grid, &strengths, NULL);
  free(cells);
  kugel_nufft_points_destroy(points);
  kugel_nufft_destroy(plan);
  return s;
}

static void no_memory(void)
{
  double *x = random_reals(2000, 1), *c = random_reals(2000, 2), *f = random_reals(3200, 3);
  sweep_allocations(all_calls, (double *[]){x, c, f});
  free(x), free(c), free(f);
}

static int stop(double fraction, const char *stage, void *user)
{
  (void)fraction, (void)stage;
  return ++*(int *)user > 2;
}

static void cancel(void)
{
  problem p = {.ndim = 3,
               .n = {32, 32, 32},
               .m = 100000,
               .opts = {.size = sizeof p.opts, .type = KUGEL_NUFFT_TO_MODES}};
  kugel_nufft *plan;
  kugel_nufft_points *points;
  double *x = random_reals(3 * p.m, 1), *c = random_reals(2 * p.m, 2), **f = malloc(32 * 32 * 32 * 16);
  int calls = 0;
  double before = kugel__progress_interval(0);
  kugel_set_num_threads(1);
  CHECK_OK(kugel_nufft_create(NULL, 3, p.n, &p.opts, &plan));
  CHECK_OK(kugel_nufft_points_create(plan, KUGEL_ARRAY(x, KUGEL_F64, p.m, 3), &points));
  kugel_set_progress(stop, &calls);
  CHECK_IS(kugel_nufft_execute(points, KUGEL_ARRAY(c, KUGEL_C128, p.m),
                               KUGEL_ARRAY(f, KUGEL_C128, 32, 32, 32), NULL),
           KUGEL_ECANCELED);
  kugel_set_progress(NULL, NULL);
  kugel__progress_interval(before);
  kugel_set_num_threads(0);
  kugel_nufft_points_destroy(points);
  kugel_nufft_destroy(plan);
  free(x), free(c), free(f);
}

int main(void)
{
  CASE("adjoint to rounding at any tolerance") adjoints();
  CASE("adjoint with gradients") gradients();
  CASE("the same bits for any number of threads") threads();
  CASE("batches and strides") layouts();
  CASE("no points") nothing();
  CASE("bad options") bad_options();
  CASE("bad arrays") bad_arrays();
  CASE("no memory") no_memory();
  CASE("cancelled") cancel();
  END();
}
