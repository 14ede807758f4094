/* SPDX-License-Identifier: BSD-3-Clause */
/* Type 3: sums in long double, adjoints, threads, ranges beyond memory, bad input, no memory. */
#include "sweep.h"
#include "nufft/problem.h"

typedef struct pairs {
  int ndim;
  int64_t m, k;
  double *x, *s, *c, *f;
  kugel_nufft_opts opts;
} pairs;

static pairs pairs_of(int ndim, int64_t m, int64_t k, double x_reach, double s_reach)
{
  pairs p = {ndim,
             m,
             k,
             random_reals(m * ndim, 1),
             random_reals(k * ndim, 2),
             random_reals(2 * m, 3),
             random_reals(2 * k, 4),
             {.size = sizeof p.opts, .type = KUGEL_NUFFT_TO_FREQUENCIES}};
  for (int64_t i = 0; i < m * ndim; i++)
    p.x[i] *= x_reach;
  for (int64_t i = 0; i < k * ndim; i++)
    p.s[i] *= s_reach;
  return p;
}

static void free_pairs(pairs *p)
{
  free(p->x), free(p->s), free(p->c), free(p->f);
}

static kugel_status run(const pairs *p, bool adjoint, const void *in, void *out)
{
  kugel_nufft *plan = NULL;
  kugel_nufft_points *points = NULL;
  kugel_dtype type = p->opts.precision == KUGEL_PRECISION_F32 ? KUGEL_C64 : KUGEL_C128;
  kugel_array c = *KUGEL_ARRAY(adjoint ? out : in, type, p->m),
              f = *KUGEL_ARRAY(adjoint ? in : out, type, p->k);
  kugel_status s = kugel_nufft_create(NULL, p->ndim, NULL, &p->opts, &plan);
  if (!s)
    s = kugel_nufft_frequencies_create(plan, KUGEL_ARRAY(p->x, KUGEL_F64, p->m, p->ndim),
                                       KUGEL_ARRAY(p->s, KUGEL_F64, p->k, p->ndim), &points);
  kugel_nufft_destroy(plan);
  if (!s)
    s = (adjoint ? kugel_nufft_adjoint : kugel_nufft_execute)(points, adjoint ? &f : &c, adjoint ? &c : &f,
                                                              NULL);
  kugel_nufft_points_destroy(points);
  return s;
}

static double error_of_pairs(const pairs *p)
{
  bool single = p->opts.precision == KUGEL_PRECISION_F32;
  double *want = malloc((size_t)p->k * 16), *got = malloc((size_t)p->k * 16);
  float *c32 = malloc((size_t)p->m * 8), *f32 = malloc((size_t)p->k * 8);
  for (int64_t j = 0; j < 2 * p->m; j++)
    c32[j] = (float)p->c[j];
  for (int64_t k = 0; k < p->k; k++) {
    long double complex sum = 0;
    for (int64_t j = 0; j < p->m; j++) {
      long double phase = 0;
      for (int d = 0; d < p->ndim; d++)
        phase += (long double)p->x[j * p->ndim + d] * (long double)p->s[k * p->ndim + d];
      sum += number(p->c, j) * cexpl(1.0iL * phase * (p->opts.sign ? p->opts.sign : 1));
    }
    want[2 * k] = (double)creall(sum);
    want[2 * k + 1] = (double)cimagl(sum);
  }
  CHECK_OK(run(p, false, single ? (void *)c32 : p->c, single ? (void *)f32 : got));
  for (int64_t k = 0; single && k < 2 * p->k; k++)
    got[k] = f32[k];
  double e = check_l2(got, want, (size_t)(2 * p->k));
  free(want), free(got), free(c32), free(f32);
  return e;
}

static void sums(void)
{
  static const double tolerances[] = {1e-1, 1e-2, 1e-3, 1e-5, 1e-7, 1e-9, 1e-11, 1e-13};
  static const double reach[3] = {80, 9, 4};
  for (int ndim = 1; ndim <= 3; ndim++)
    for (size_t t = 0; t < sizeof tolerances / sizeof *tolerances; t++)
      for (int kind = 0; kind < 4; kind++) {
        pairs p = pairs_of(ndim, 90, 110, kind & 1 ? 1e-3 : 3, reach[ndim - 1] * (kind & 1 ? 2e3 : 1));
        p.opts.tolerance = tolerances[t];
        p.opts.sign = kind & 2 ? -1 : 1;
        for (int64_t i = 0; kind == 3 && i < p.k * ndim; i++) // ranges off the origin
          p.s[i] += 1e4;
        double e = error_of_pairs(&p);
        if (!(e <= tolerances[t] + 2e-14))
          CHECK_FAIL("%d-D tolerance %g case %d: error %.3g", ndim, tolerances[t], kind, e);
        p.opts.precision = KUGEL_PRECISION_F32;
        if (tolerances[t] >= 2e-6 && !((e = error_of_pairs(&p)) <= tolerances[t]))
          CHECK_FAIL("float %d-D tolerance %g case %d: error %.3g", ndim, tolerances[t], kind, e);
        free_pairs(&p);
      }
}

/* Few frequencies, some of them at corners of their box, where the division by the kernel's transform is largest along all
 * axes; and integers at the ends of theirs. */
static void corners(void)
{
  static const double tolerances[] = {1e-5, 1e-6, 1e-8, 1e-9, 1e-10, 1e-12};
  static const double reach[3] = {7.5, 20, 2.6}, points[3] = {3, 40, 45};
  for (int ndim = 1; ndim <= 3; ndim++)
    for (size_t t = 0; t < sizeof tolerances / sizeof *tolerances; t++) {
      pairs p = pairs_of(ndim, 25, 20, points[ndim - 1], reach[ndim - 1]);
      p.opts.tolerance = tolerances[t];
      for (int64_t k = 0; k < 2; k++)
        for (int d = 0; d < ndim; d++)
          p.s[k * ndim + d] = k ? reach[ndim - 1] : -reach[ndim - 1];
      for (int64_t k = 0; ndim == 1 && k < p.k; k++)
        p.s[k] = (double)(k % 16) - 7.5;
      double e = error_of_pairs(&p);
      if (!(e <= tolerances[t]))
        CHECK_FAIL("%d-D tolerance %g: error %.3g", ndim, tolerances[t], e);
      free_pairs(&p);
    }
}

static void adjoints(void)
{
  for (int ndim = 1; ndim <= 3; ndim++) {
    pairs p = pairs_of(ndim, 300, 200, 5, 6);
    p.opts.tolerance = 1e-3;
    double *fc = malloc((size_t)p.k * 16), *cf = malloc((size_t)p.m * 16);
    for (int64_t i = 0; i < p.k * ndim; i++)
      p.s[i] += 40;
    CHECK_OK(run(&p, false, p.c, fc));
    CHECK_OK(run(&p, true, p.f, cf));
    long double complex left = 0, right = 0;
    long double size = 0;
    for (int64_t i = 0; i < p.k; i++) {
      left += conjl(number(p.f, i)) * number(fc, i);
      size += cabsl(number(fc, i)) * cabsl(number(p.f, i));
    }
    for (int64_t i = 0; i < p.m; i++)
      right += conjl(number(cf, i)) * number(p.c, i);
    CHECK_LE((double)(cabsl(left - right) / size), 2e-15);
    free(fc), free(cf);
    free_pairs(&p);
  }
}

static void threads(void)
{
  pairs p = pairs_of(2, 40000, 30000, 3, 100);
  double *one = malloc((size_t)p.k * 16), *more = malloc((size_t)p.k * 16);
  for (int t = 1; t <= 7; t += 3) {
    CHECK_OK(kugel_set_num_threads(t));
    CHECK_OK(run(&p, false, p.c, t == 1 ? one : more));
    CHECK(t == 1 || !memcmp(one, more, (size_t)p.k * 16));
  }
  kugel_set_num_threads(0);
  free(one), free(more);
  free_pairs(&p);
}

static void bad_input(void)
{
  pairs p = pairs_of(3, 20, 30, 1, 1);
  double out[60];
  int64_t n[3] = {4, 4, 4};
  const double period[3] = {1, 1, 1};
  kugel_nufft *plan, *other;
  kugel_nufft_points *points;
  kugel_nufft_opts o = {.size = sizeof o, .type = KUGEL_NUFFT_TO_MODES};
  CHECK_OK(kugel_nufft_create(NULL, 3, n, &o, &other));
  CHECK_IS(kugel_nufft_create(NULL, 3, n, &p.opts, &plan), KUGEL_EINVAL); // has no modes
  o = p.opts;
  o.period = period;
  CHECK_IS(kugel_nufft_create(NULL, 3, NULL, &o, &plan), KUGEL_EINVAL);
  CHECK_OK(kugel_nufft_create(NULL, 3, NULL, &p.opts, &plan));
  kugel_array x = *KUGEL_ARRAY(p.x, KUGEL_F64, 20, 3), s = *KUGEL_ARRAY(p.s, KUGEL_F64, 30, 3);
  CHECK_IS(kugel_nufft_points_create(plan, &x, &points), KUGEL_EINVAL);
  CHECK_IS(kugel_nufft_frequencies_create(other, &x, &s, &points), KUGEL_EINVAL);
  CHECK_IS(kugel_nufft_frequencies_create(plan, &x, NULL, &points), KUGEL_EINVAL);
  CHECK_IS(kugel_nufft_frequencies_create(plan, &x, KUGEL_ARRAY(p.s, KUGEL_F64, 45, 2), &points),
           KUGEL_ESHAPE);
  kugel_nufft_destroy(plan);
  kugel_nufft_destroy(other);
  p.s[4] = NAN;
  CHECK_IS(run(&p, false, p.c, out), KUGEL_EINVAL);
  CHECK(strstr(kugel_last_error(), "coordinate 1 of frequency 1 is nan"));
  p.s[4] = 1e14;
  CHECK_IS(run(&p, false, p.c, out), KUGEL_ENOMEM);
  CHECK(strstr(kugel_last_error(), "GB"));
  p.s[4] = 1e139;
  p.x[7] = -1e140;
  CHECK_IS(run(&p, false, p.c, out), KUGEL_ENOMEM);
  free_pairs(&p);
}

/* Points or frequencies that are none, one, or all in one place. */
static void few(void)
{
  for (int k = 0; k < 8; k++) {
    pairs p = pairs_of(2, k & 1 ? 1 : 50, k & 2 ? 1 : 60, k & 4 ? 0 : 7, k == 7 ? 0 : 5);
    p.opts.tolerance = 1e-12;
    CHECK_LE(error_of_pairs(&p), 2e-11); // one number may be a sum of terms that cancel
    p.m = 0;
    double out[120];
    CHECK_OK(run(&p, false, p.c, out));
    for (int64_t i = 0; i < 2 * p.k; i++)
      CHECK(out[i] == 0);
    p.m = 1, p.k = 0;
    CHECK_OK(run(&p, true, p.f, out));
    CHECK(out[0] == 0 && out[1] == 0);
    free_pairs(&p);
  }
}

static kugel_status once(void *arg)
{
  const pairs *p = arg;
  double out[160];
  return run(p, false, p->c, out);
}

static void no_memory(void)
{
  pairs p = pairs_of(2, 100, 80, 3, 20);
  for (int64_t i = 0; i < 160; i++)
    p.s[i] += 1000;
  sweep_allocations(once, &p);
  free_pairs(&p);
}

int main(void)
{
  CASE("errors are below the tolerance") sums();
  CASE("frequencies at corners of their box") corners();
  CASE("adjoint to rounding") adjoints();
  CASE("the same bits for any number of threads") threads();
  CASE("bad input") bad_input();
  CASE("few points") few();
  CASE("no memory") no_memory();
  END();
}
