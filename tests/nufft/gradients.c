/* SPDX-License-Identifier: BSD-3-Clause */
/* Derivatives by the points against sums in long double: each keeps the tolerance, of dipoles each direction, with upsamplings
 * chosen and given. */
#include "nufft/problem.h"

enum { M = 60 };

static const double tolerances[] = {1e-1, 1e-2, 1e-3, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12, 1e-13};

/* Element i of the waves' sum over j, with the factor i sign k_d of a derivative by x_d, d >= 0. */
static void sums(const problem *p, const double *x, int d, const double *in, double *out)
{
  const bool modes = to_modes(p, false);
  const int sign = modes ? 1 : -1;
  const int64_t rows = modes ? modes_of(p) : p->m, columns = modes ? p->m : modes_of(p);
  int64_t step = 1;
  for (int e = p->ndim - 1; e > d; e--)
    step *= p->n[e];
  for (int64_t i = 0; i < rows; i++) {
    long double complex s = 0;
    for (int64_t j = 0; j < columns; j++) {
      const int64_t k = modes ? i : j;
      long double complex term = number(in, j) * wave(p, sign, x + p->ndim * (modes ? j : i), k);
      s += d < 0 ? term : term * (1.0iL * (long double)sign * (long double)mode(p, d, k / step % p->n[d]));
    }
    out[2 * i] = (double)creall(s);
    out[2 * i + 1] = (double)cimagl(s);
  }
}

static void execute(const problem *p, const double *x, const void *in, void *out)
{
  kugel_nufft *plan = NULL;
  kugel_nufft_points *points = NULL;
  const kugel_dtype type = p->opts.precision == KUGEL_PRECISION_F32 ? KUGEL_C64 : KUGEL_C128;
  const bool modes = to_modes(p, false);
  kugel_array c = *KUGEL_ARRAY(modes ? in : out, type, 1 + p->ndim, p->m),
              f = *KUGEL_ARRAY(modes ? out : in, type, 1);
  f.ndim = p->ndim;
  f.shape = (int64_t *)(uintptr_t)p->n;
  CHECK_OK(kugel_nufft_create(NULL, p->ndim, p->n, &p->opts, &plan));
  CHECK_OK(kugel_nufft_points_create(plan, KUGEL_ARRAY(x, KUGEL_F64, p->m, p->ndim), &points));
  CHECK_OK(kugel_nufft_execute(points, modes ? &c : &f, modes ? &f : &c, NULL));
  kugel_nufft_points_destroy(points);
  kugel_nufft_destroy(plan);
}

typedef struct truth {
  problem p;
  double *x, *data, *want[4]; // data are floats; the value, or strengths', first
} truth;

static truth truth_of(int ndim, int type)
{
  static const int64_t sizes[3][3] = {{200}, {19, 22}, {16, 17, 16}};
  truth t = {.p = {.ndim = ndim,
                   .m = M,
                   .opts = {.size = sizeof t.p.opts, .type = (kugel_nufft_type)type, .gradient = 1}}};
  memcpy(t.p.n, sizes[ndim - 1], sizeof t.p.n);
  const bool modes = to_modes(&t.p, false);
  const int64_t in = modes ? M : modes_of(&t.p), out = modes ? modes_of(&t.p) : M;
  t.x = random_reals(M * ndim, 3), t.data = random_reals(2 * in, 5);
  for (int64_t i = 0; i < M * ndim; i++)
    t.x[i] *= 6.28;
  for (int64_t i = 0; i < 2 * in; i++)
    t.data[i] = (float)t.data[i];
  for (int d = 0; d <= ndim; d++) {
    t.want[d] = malloc((size_t)out * 16);
    sums(&t.p, t.x, d - 1, t.data, t.want[d]);
  }
  return t;
}

static void keeps(const truth *t, bool single, double tolerance, double upsampling)
{
  problem p = t->p;
  const bool modes = to_modes(&p, false);
  const int64_t n = modes_of(&p), numbers = M * (1 + p.ndim), n_in = modes ? numbers : n,
                n_out = modes ? n : numbers;
  double *in = calloc((size_t)n_in, 16), *out = malloc((size_t)n_out * 16);
  float *in32 = malloc((size_t)n_in * 8), *out32 = malloc((size_t)n_out * 8);
  p.opts.precision = single ? KUGEL_PRECISION_F32 : KUGEL_PRECISION_F64;
  p.opts.tolerance = tolerance;
  p.opts.upsampling = upsampling;
  for (int d = 0; d <= p.ndim; d++) {
    memset(in, 0, (size_t)n_in * 16);
    memcpy(in + (modes ? 2 * M * d : 0), t->data, (size_t)(modes ? M : n) * 16);
    for (int64_t i = 0; i < 2 * n_in; i++)
      in32[i] = (float)in[i];
    execute(&p, t->x, single ? (void *)in32 : in, single ? (void *)out32 : out);
    for (int64_t i = 0; single && i < 2 * n_out; i++)
      out[i] = out32[i];
    const double e = check_l2(out + (modes ? 0 : 2 * M * d), t->want[d], (size_t)(2 * (modes ? n : M)));
    if (!(e <= tolerance))
      CHECK_FAIL("%s%d-D type %d tolerance %g upsampling %g, number %d of a point: error %.3g",
                 single ? "float " : "", p.ndim, (int)p.opts.type, tolerance, upsampling, d, e);
  }
  free(in), free(out), free(in32), free(out32);
}

static void all_tolerances(int ndim)
{
  for (int type = 1; type <= 2; type++) {
    truth t = truth_of(ndim, type);
    for (size_t i = 0; i < sizeof tolerances / sizeof *tolerances; i++)
      for (int fixed = 0; fixed <= 1; fixed++) {
        keeps(&t, false, tolerances[i], fixed ? 2 : 0);
        if (tolerances[i] >= 1e-4)
          keeps(&t, true, tolerances[i], fixed ? 2 : 0);
      }
    free(t.x), free(t.data);
    for (int d = 0; d <= ndim; d++)
      free(t.want[d]);
  }
}

int main(void)
{
  CASE("one dimension") all_tolerances(1);
  CASE("two dimensions") all_tolerances(2);
  CASE("three dimensions") all_tolerances(3);
  CASE("the least tolerance, which rounding exceeds")
  for (int ndim = 1; ndim <= 3; ndim++)
    for (int fixed = 0; fixed <= 1; fixed++) {
      static const int64_t n[] = {5, 4, 3};
      kugel_nufft_opts o = {.size = sizeof o,
                            .type = KUGEL_NUFFT_TO_POINTS,
                            .tolerance = 1e-14,
                            .upsampling = fixed ? 2 : 0,
                            .gradient = 1};
      kugel_nufft_info info = {.size = sizeof info};
      kugel_nufft *plan = NULL;
      CHECK_OK(kugel_nufft_create(NULL, ndim, n, &o, &plan));
      CHECK_OK(kugel_nufft_get_info(plan, &info));
      CHECK_LE(info.error, 1e-13);
      kugel_nufft_destroy(plan);
    }
  CASE("too wide")
  {
    static const int64_t n[] = {16};
    kugel_nufft_opts o = {.size = sizeof o,
                          .type = KUGEL_NUFFT_TO_POINTS,
                          .tolerance = 1e-12,
                          .upsampling = 1.25,
                          .gradient = 1};
    kugel_nufft *plan = NULL;
    CHECK_IS(kugel_nufft_create(NULL, 1, n, &o, &plan), KUGEL_EINVAL);
    CHECK(strstr(kugel_last_error(), "with gradients"));
  }
  END();
}
