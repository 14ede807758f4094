/* SPDX-License-Identifier: BSD-3-Clause */
/* Transforms of real data against sums in long double, and their adjoints. */
#include "nufft/problem.h"

/* Modes of an array, of which the last axis has 0 to n / 2. */
static int64_t half_modes(const problem *p, int64_t *shape)
{
  int64_t modes = 1;
  for (int d = 0; d < p->ndim; d++) {
    shape[d] = d == p->ndim - 1 ? p->n[d] / 2 + 1 : p->n[d];
    modes *= shape[d];
  }
  return modes;
}

/* e^{i sign k.x} of element `index` of such an array; sets its weight. */
static long double complex half_wave(const problem *p, const int64_t *shape, int sign, const double *x,
                                     int64_t index, long double *weight)
{
  const int last = p->ndim - 1;
  long double phase = 0;
  for (int d = last; d >= 0; d--) {
    const int64_t i = index % shape[d];
    phase += (long double)x[d] * (long double)(d == last ? i : mode(p, d, i));
    if (d == last)
      *weight = i == 0 || 2 * i == p->n[d] ? 1 : 2;
    index /= shape[d];
  }
  return cexpl(1.0iL * (long double)sign * phase);
}

static double at(const void *a, bool single, int64_t i)
{
  return single ? (double)((const float *)a)[i] : ((const double *)a)[i];
}

static void compare(const problem *p)
{
  const bool single = p->opts.precision == KUGEL_PRECISION_F32;
  const size_t real = single ? 4 : 8;
  const int sign = p->opts.sign;
  int64_t shape[3], modes = half_modes(p, shape);
  double *x = random_reals(p->m * p->ndim, 3), *values = random_reals(p->m, 5),
         *f = random_reals(2 * modes, 7);
  void *c = malloc((size_t)p->m * real), *g = malloc((size_t)(2 * modes) * real),
       *to_c = malloc((size_t)p->m * real), *to_g = malloc((size_t)(2 * modes) * real);
  for (int64_t i = 0; i < p->m * p->ndim; i++)
    x[i] *= 6;
  for (int64_t i = 0; i < p->m; i++)
    single ? (((float *)c)[i] = (float)values[i]) : (((double *)c)[i] = values[i]);
  for (int64_t i = 0; i < 2 * modes; i++)
    single ? (((float *)g)[i] = (float)f[i]) : (((double *)g)[i] = f[i]);
  kugel_nufft *plan;
  kugel_nufft_points *points;
  CHECK_OK(kugel_nufft_create(NULL, p->ndim, p->n, &p->opts, &plan));
  CHECK_OK(kugel_nufft_points_create(plan, KUGEL_ARRAY(x, KUGEL_F64, p->m, p->ndim), &points));
  kugel_array ca = *KUGEL_ARRAY(c, single ? KUGEL_F32 : KUGEL_F64, p->m),
              fa = *KUGEL_ARRAY(g, single ? KUGEL_C64 : KUGEL_C128, 1);
  fa.ndim = p->ndim;
  fa.shape = shape;
  kugel_array ca2 = ca, fa2 = fa;
  ca2.data = to_c;
  fa2.data = to_g;
  const bool first = p->opts.type == KUGEL_NUFFT_TO_MODES;
  /* type 1 has the exponent's sign where it is executed, and the other where it is an adjoint */
  CHECK_OK((first ? kugel_nufft_execute : kugel_nufft_adjoint)(points, &ca, &fa2, NULL));
  CHECK_OK((first ? kugel_nufft_adjoint : kugel_nufft_execute)(points, &fa, &ca2, NULL));
  const int one = first ? sign : -sign;
  long double wrong = 0, size = 0, left = 0, right = 0, both = 0, weight;
  for (int64_t k = 0; k < modes; k++) {
    long double complex s = 0,
                        got = (long double)at(to_g, single, 2 * k) +
                              1.0iL * (long double)at(to_g, single, 2 * k + 1),
                        given =
                            (long double)at(g, single, 2 * k) + 1.0iL * (long double)at(g, single, 2 * k + 1);
    for (int64_t j = 0; j < p->m; j++)
      s += (long double)at(c, single, j) * half_wave(p, shape, one, x + j * p->ndim, k, &weight);
    wrong += cabsl(s - got) * cabsl(s - got);
    size += cabsl(s) * cabsl(s);
    left += weight * creall(conjl(given) * got);
    both += weight * cabsl(given) * cabsl(got);
  }
  if (!(sqrtl(wrong) <= (long double)(p->opts.tolerance) * sqrtl(size)))
    CHECK_FAIL("%d-D of %lld type %d sign %d: modes are wrong by %.3Lg", p->ndim,
               (long long)p->n[p->ndim - 1], (int)p->opts.type, sign, sqrtl(wrong / size));
  wrong = size = 0;
  for (int64_t j = 0; j < p->m; j++) {
    long double s = 0, got = (long double)at(to_c, single, j);
    for (int64_t k = 0; k < modes; k++) {
      long double complex w = half_wave(p, shape, -one, x + j * p->ndim, k, &weight);
      s += weight *
           creall(w * ((long double)at(g, single, 2 * k) + 1.0iL * (long double)at(g, single, 2 * k + 1)));
    }
    wrong += (s - got) * (s - got);
    size += s * s;
    right += got * (long double)at(c, single, j);
  }
  if (!(sqrtl(wrong) <= (long double)(p->opts.tolerance) * sqrtl(size)))
    CHECK_FAIL("%d-D of %lld type %d sign %d: values are wrong by %.3Lg", p->ndim,
               (long long)p->n[p->ndim - 1], (int)p->opts.type, sign, sqrtl(wrong / size));
  // rounding, as many times as the kernel's transform is smaller at the last modes than at the first
  CHECK_LE((double)(fabsl(left - right) / both), single ? 1e-6 : 1e-14);
  kugel_nufft_points_destroy(points);
  kugel_nufft_destroy(plan);
  free(x), free(values), free(f), free(c), free(g), free(to_c), free(to_g);
}

static void all(void)
{
  static const int64_t sizes[][3] = {{1}, {2}, {31}, {64}, {9, 16}, {16, 9}, {12, 1}, {6, 7, 8}, {5, 8, 9}};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    for (int k = 0; k < 16; k++) {
      problem p = {.ndim = i < 4   ? 1
                           : i < 7 ? 2
                                   : 3,
                   .m = 70,
                   .opts = {.size = sizeof p.opts,
                            .type = k & 1 ? KUGEL_NUFFT_TO_MODES : KUGEL_NUFFT_TO_POINTS,
                            .sign = k & 2 ? 1 : -1,
                            .fft_order = (k & 4) != 0,
                            .precision = k & 8 ? KUGEL_PRECISION_F32 : KUGEL_PRECISION_F64,
                            .tolerance = k & 8 ? 1e-5 : 1e-11,
                            .real = 1}};
      memcpy(p.n, sizes[i], sizeof p.n);
      compare(&p);
    }
}

/* The same bits for any number of threads, and with a patch of points, near which alone lines are transformed. */
static void threads(void)
{
  enum { M = 30000 };
  static const int64_t n[3] = {60, 40, 50};
  const int64_t modes = n[0] * n[1] * (n[2] / 2 + 1);
  double *x = random_reals(3 * M, 1), *c = random_reals(M, 2), *first = malloc((size_t)modes * 16),
         *out = malloc((size_t)modes * 16);
  for (int patch = 0; patch < 2; patch++) {
    for (int64_t i = 0; i < 3 * M; i++)
      x[i] *= patch ? 0.01 : 1;
    for (int t = 1; t <= 7; t += 3) {
      kugel_nufft_opts o = {.size = sizeof o, .type = KUGEL_NUFFT_TO_MODES, .tolerance = 1e-6, .real = 1};
      kugel_nufft *plan;
      kugel_nufft_points *points;
      CHECK_OK(kugel_set_num_threads(t));
      CHECK_OK(kugel_nufft_create(NULL, 3, n, &o, &plan));
      CHECK_OK(kugel_nufft_points_create(plan, KUGEL_ARRAY(x, KUGEL_F64, M, 3), &points));
      CHECK_OK(kugel_nufft_execute(points, KUGEL_ARRAY(c, KUGEL_F64, M),
                                   KUGEL_ARRAY(t == 1 ? first : out, KUGEL_C128, n[0], n[1], n[2] / 2 + 1),
                                   NULL));
      if (t > 1)
        CHECK(memcmp(first, out, (size_t)modes * 16) == 0);
      kugel_nufft_points_destroy(points);
      kugel_nufft_destroy(plan);
    }
  }
  kugel_set_num_threads(0);
  free(x), free(c), free(first), free(out);
}

static void refused(void)
{
  const int64_t n = 16;
  double x[2] = {0.5, 1}, c[4] = {1, 2, 3, 4}, f[32];
  kugel_nufft_opts o = {.size = sizeof o, .type = KUGEL_NUFFT_TO_MODES, .real = 2};
  kugel_nufft *plan = NULL;
  kugel_nufft_points *points;
  CHECK(kugel_nufft_create(NULL, 1, &n, &o, &plan) == KUGEL_EINVAL);
  o.real = o.gradient = 1;
  CHECK(kugel_nufft_create(NULL, 1, &n, &o, &plan) == KUGEL_EINVAL);
  o.gradient = 0;
  o.type = KUGEL_NUFFT_TO_FREQUENCIES;
  CHECK(kugel_nufft_create(NULL, 1, NULL, &o, &plan) == KUGEL_EINVAL);
  o.type = KUGEL_NUFFT_TO_MODES;
  CHECK_OK(kugel_nufft_create(NULL, 1, &n, &o, &plan));
  CHECK_OK(kugel_nufft_points_create(plan, KUGEL_ARRAY(x, KUGEL_F64, 2, 1), &points));
  CHECK(kugel_nufft_execute(points, KUGEL_ARRAY(c, KUGEL_C128, 2), KUGEL_ARRAY(f, KUGEL_C128, 9), NULL) ==
        KUGEL_ESHAPE);
  CHECK(kugel_nufft_execute(points, KUGEL_ARRAY(c, KUGEL_F64, 2), KUGEL_ARRAY(f, KUGEL_C128, 16), NULL) ==
        KUGEL_ESHAPE);
  CHECK_OK(kugel_nufft_execute(points, KUGEL_ARRAY(c, KUGEL_F64, 2), KUGEL_ARRAY(f, KUGEL_C128, 9), NULL));
  kugel_nufft_points_destroy(points);
  kugel_nufft_destroy(plan);
}

/* Spreading alone, and densities, are those of complex data. */
static void grids(void)
{
  enum { M = 500 };
  static const int64_t n[2] = {20, 24};
  double *x = random_reals(2 * M, 1), *c = random_reals(M, 2), *z = calloc(2 * M, 8), weights[2][M];
  double *grid[2] = {NULL, NULL};
  int64_t cells = 0;
  for (int real = 0; real < 2; real++) {
    kugel_nufft_opts o = {
        .size = sizeof o, .type = KUGEL_NUFFT_TO_MODES, .tolerance = 1e-6, .upsampling = 2, .real = real};
    kugel_nufft *plan;
    kugel_nufft_points *points;
    kugel_nufft_info info = {.size = sizeof info};
    CHECK_OK(kugel_nufft_create(NULL, 2, n, &o, &plan));
    CHECK_OK(kugel_nufft_get_info(plan, &info));
    cells = info.fine[0] * info.fine[1];
    grid[real] = malloc((size_t)cells * (real ? 8 : 16));
    for (int i = 0; i < M; i++)
      z[2 * i] = c[i];
    CHECK_OK(kugel_nufft_points_create(plan, KUGEL_ARRAY(x, KUGEL_F64, M, 2), &points));
    CHECK_OK(kugel_nufft_spread(
        points, KUGEL_ARRAY(real ? c : z, real ? KUGEL_F64 : KUGEL_C128, M),
        KUGEL_ARRAY(grid[real], real ? KUGEL_F64 : KUGEL_C128, info.fine[0], info.fine[1]), NULL));
    CHECK_OK(kugel_nufft_density(points, 5, KUGEL_ARRAY(weights[real], KUGEL_F64, M)));
    kugel_nufft_points_destroy(points);
    kugel_nufft_destroy(plan);
  }
  for (int64_t i = 0; i < cells; i++)
    CHECK_LE(fabs(grid[0][2 * i] - grid[1][i]), 1e-14);
  for (int i = 0; i < M; i++)
    CHECK_LE(fabs(weights[0][i] / weights[1][i] - 1), 1e-12);
  free(x), free(c), free(z), free(grid[0]), free(grid[1]);
}

int main(void)
{
  CASE("real data against sums") all();
  CASE("the same bits for any number of threads") threads();
  CASE("spreading alone and densities") grids();
  CASE("what is refused") refused();
  END();
}
