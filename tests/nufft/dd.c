/* SPDX-License-Identifier: BSD-3-Clause */
/* Double-double transforms against sums in numbers of 113 bits: tolerances, shapes, orders, points of two parts, batches and strides,
 * adjoints, threads, bad input, no memory. */
#include "sweep.h"
#include "nufft/dd.h"
#include "nufft/problem.h"

static quad_unit one(const problem *p, int sign, const double *x, const double *in, bool modes, int64_t i)
{
  quad_unit sum = {0, 0};
  const int64_t columns = modes ? p->m : modes_of(p);
  for (int64_t j = 0; j < columns; j++) {
    const int64_t point = modes ? j : i;
    quad turns = 0;
    for (int64_t d = p->ndim - 1, index = modes ? i : j; d >= 0; index /= p->n[d], d--) {
      const double *at = x + 2 * (point * p->ndim + d);
      const quad u = ((quad)at[0] + (quad)at[1]) / (p->opts.period ? (quad)p->opts.period[d] : 2 * PI_Q);
      turns += u * (quad)mode(p, (int)d, index % p->n[d]);
    }
    const quad_unit w = unit_of(sign * turns), c = number_of(in, j);
    sum.c += c.c * w.c - c.s * w.s;
    sum.s += c.c * w.s + c.s * w.c;
  }
  return sum;
}

/* execute or the adjoint; x [m, ndim, 2]. */
static void run(const problem *p, const double *x, bool adjoint, double *in, double *out)
{
  kugel_nufft *plan;
  kugel_nufft_points *points;
  int64_t at[] = {p->m, p->ndim, 2}, m[] = {p->m, 2}, n[4] = {p->n[0], p->n[1], p->n[2]};
  n[p->ndim] = 2;
  kugel_array c = *KUGEL_ARRAY(in, KUGEL_C128, 1), f = c, places = c;
  c.ndim = 2, c.shape = m;
  f.ndim = p->ndim + 1, f.shape = n;
  places.ndim = 3, places.shape = at, places.data = (void *)(uintptr_t)x, places.dtype = KUGEL_F64;
  *(to_modes(p, adjoint) ? &f.data : &c.data) = out;
  CHECK_OK(kugel_nufft_create(NULL, p->ndim, p->n, &p->opts, &plan));
  CHECK_OK(kugel_nufft_points_create(plan, &places, &points));
  kugel_nufft_destroy(plan);
  CHECK_OK((adjoint ? kugel_nufft_adjoint : kugel_nufft_execute)(points, to_modes(p, adjoint) ? &c : &f,
                                                                 to_modes(p, adjoint) ? &f : &c, NULL));
  kugel_nufft_points_destroy(points);
}

/* Relative l2 error of some results. */
static double error_to(const problem *p, double range)
{
  const bool modes = to_modes(p, false);
  const int64_t n_in = modes ? p->m : modes_of(p), n_out = modes ? modes_of(p) : p->m;
  double *x = random_pairs(p->m * p->ndim, 1, range, 3), *in = random_pairs(n_in, 2, 1, 5),
         *out = malloc((size_t)n_out * 32);
  const int sign = p->opts.sign ? p->opts.sign : modes ? 1 : -1;
  run(p, x, false, in, out);
  double error = 0, size = 0;
  for (int64_t i = 0; i < n_out; i += 1 + n_out / 400) {
    const quad_unit want = one(p, sign, x, in, modes, i), got = number_of(out, i);
    const double re = (double)(got.c - want.c), im = (double)(got.s - want.s);
    error += re * re + im * im;
    size += (double)(want.c * want.c + want.s * want.s);
  }
  free(x), free(in), free(out);
  return sqrt(error / size);
}

static problem problem_of(int ndim, int type, double tolerance)
{
  static const int64_t sizes[3][3] = {{300}, {21, 26}, {9, 12, 7}};
  problem p = {.ndim = ndim,
               .m = ndim == 3 ? 30 : 70,
               .opts = {.size = sizeof p.opts,
                        .type = (kugel_nufft_type)type,
                        .precision = KUGEL_PRECISION_DD,
                        .tolerance = tolerance}};
  memcpy(p.n, sizes[ndim - 1], sizeof p.n);
  return p;
}

static void keep_tolerances(void)
{
  static const double tolerance[] = {1e-3, 1e-10, 1e-16, 1e-20, 1e-24, 1e-28};
  for (int k = 0; k < 36; k++) {
    problem p = problem_of(1 + k % 3, 1 + k / 3 % 2, tolerance[k / 6]);
    const double e = error_to(&p, 6.2);
    if (!(e <= tolerance[k / 6]))
      CHECK_FAIL("%d-D type %d tolerance %g: error %.3g", p.ndim, 1 + k / 3 % 2, tolerance[k / 6], e);
  }
}

static void shapes(void)
{
  static const int64_t sizes[][3] = {{1}, {2}, {1, 9}, {40, 6}, {1, 1, 1}, {5, 4, 3}};
  static const double period[] = {1, 0.3, 1e6};
  for (int k = 0; k < 48; k++) {
    problem p = problem_of(1 + k % 6 / 2, 1 + k / 6 % 2, 1e-26);
    memcpy(p.n, sizes[k % 6], sizeof p.n);
    p.m = 1 + k % 20;
    p.opts.sign = k / 12 % 2 ? 1 : -1;
    p.opts.fft_order = k / 24;
    p.opts.period = k % 5 ? NULL : period;
    p.opts.upsampling = k % 7 ? 0 : 1.5;
    p.opts.tolerance = k % 7 ? 1e-26 : 1e-20;
    const double e = error_to(&p, k % 4 ? 3 : 1000); // a few numbers may cancel
    if (!(e <= 20 * p.opts.tolerance))
      CHECK_FAIL("shape %d case %d: error %.3g", k % 6, k, e);
  }
}

/* <b, F a> = <F* b, a> to rounding at any tolerance; the same bits for any number of threads. */
static void adjoints(void)
{
  for (int ndim = 1; ndim <= 3; ndim++) {
    problem p = problem_of(ndim, 1, 1e-5);
    p.m = 5000 / (ndim * ndim);
    p.n[0] = ndim == 1 ? 9000 : 60;
    const int64_t n = modes_of(&p);
    double *x = random_pairs(p.m * ndim, 1, 3, 1), *a = random_pairs(p.m, 2, 1, 2),
           *b = random_pairs(n, 2, 1, 3), *fa = malloc((size_t)n * 32), *fb = malloc((size_t)p.m * 32),
           *other = malloc((size_t)(n + p.m) * 32);
    run(&p, x, false, a, fa);
    run(&p, x, true, b, fb);
    for (int t = 2; t <= 7; t += 5) {
      CHECK_OK(kugel_set_num_threads(t));
      run(&p, x, false, a, other);
      CHECK(!memcmp(other, fa, (size_t)n * 32));
      run(&p, x, true, b, other);
      CHECK(!memcmp(other, fb, (size_t)p.m * 32));
    }
    kugel_set_num_threads(0);
    quad left = 0, right = 0, size = 0;
    for (int64_t i = 0; i < n; i++) {
      const quad_unit u = number_of(b, i), v = number_of(fa, i);
      left += u.c * v.c + u.s * v.s;
      size += u.c * u.c + v.c * v.c;
    }
    for (int64_t i = 0; i < p.m; i++) {
      const quad_unit u = number_of(fb, i), v = number_of(a, i);
      right += u.c * v.c + u.s * v.s;
    }
    CHECK_LE(fabs((double)((left - right) / size)), 1e-30);
    free(x), free(a), free(b), free(fa), free(fb), free(other);
  }
}

/* Strides, a batch, points of doubles and of floats. */
static void layouts(void)
{
  enum { M = 50, N0 = 12, N1 = 9 };
  problem p = problem_of(2, 1, 1e-24);
  p.m = M, p.n[0] = N0, p.n[1] = N1;
  double *c = random_pairs(2 * M, 2, 1, 1), *x = random_pairs(2 * M, 1, 3, 2),
         *want = malloc(2 * N0 * N1 * 32), *got = malloc(2 * N0 * N1 * 32), *mixed = malloc(2 * M * 32);
  float narrow[2 * M];
  double plain[2 * M];
  kugel_nufft *plan;
  kugel_nufft_points *points;
  for (int i = 0; i < 2 * M; i++) {
    narrow[i] = (float)x[2 * i];
    plain[i] = x[2 * i] = narrow[i];
    x[2 * i + 1] = 0;
    memcpy(mixed + 4 * (i % M * 2 + i / M), c + 4 * i, 32); // [M, 2, parts]
  }
  for (int v = 0; v < 2; v++)
    run(&p, x, false, c + 4 * M * v, want + 4 * N0 * N1 * v);
  kugel_array in = *KUGEL_ARRAY(mixed, KUGEL_C128, 2, M, 2),
              out = *KUGEL_ARRAY(got, KUGEL_C128, 2, N0, N1, 2);
  in.strides = (int64_t[]){2, 4, 1};
  CHECK_OK(kugel_nufft_create(NULL, 2, p.n, &p.opts, &plan));
  for (int k = 0; k < 2; k++) {
    CHECK_OK(kugel_nufft_points_create(
        plan, k ? KUGEL_ARRAY(narrow, KUGEL_F32, M, 2) : KUGEL_ARRAY(plain, KUGEL_F64, M, 2), &points));
    memset(got, 0, 2 * N0 * N1 * 32);
    CHECK_OK(kugel_nufft_execute(points, &in, &out, NULL));
    CHECK(!memcmp(got, want, 2 * N0 * N1 * 32));
    kugel_nufft_points_destroy(points);
  }
  kugel_nufft_destroy(plan);
  free(c), free(x), free(want), free(got), free(mixed);
}

static void bad_input(void)
{
  const int64_t n[2] = {8, 8};
  double x[20] = {0}, f[512] = {0}, c[40];
  kugel_nufft *plan, *none;
  kugel_nufft_points *points, *no_points;
  kugel_nufft_info info = {.size = sizeof info};
  kugel_nufft_opts o = {.size = sizeof o, .type = KUGEL_NUFFT_TO_MODES, .precision = KUGEL_PRECISION_DD};
  CHECK_OK(kugel_nufft_create(NULL, 2, n, &o, &plan));
  CHECK_OK(kugel_nufft_get_info(plan, &info));
  CHECK(info.precision == KUGEL_PRECISION_DD && info.width >= 28 && info.width <= 34 && info.error < 1e-28 &&
        info.bytes == 32 * (uint64_t)(info.fine[0] * info.fine[1]));
  for (int k = 0; k < 3; k++) {
    kugel_nufft_opts bad = o;
    bad.gradient = k == 0;
    bad.real = k == 1;
    bad.tolerance = k == 2 ? 1e-29 : 0;
    CHECK_IS(kugel_nufft_create(NULL, 2, n, &bad, &none), k == 2 ? KUGEL_EINVAL : KUGEL_ENOTSUP);
  }
  o.upsampling = 1.25;
  CHECK_IS(kugel_nufft_create(NULL, 2, n, &o, &none), KUGEL_EINVAL);
  CHECK(strstr(kugel_last_error(), "wider than 40 cells"));
  o.upsampling = 7;
  CHECK_IS(kugel_nufft_create(NULL, 2, n, &o, &none), KUGEL_EINVAL);
  o.precision = (kugel_precision)7;
  CHECK_IS(kugel_nufft_create(NULL, 2, n, &o, &none), KUGEL_EINVAL);
  x[3] = NAN;
  CHECK_IS(kugel_nufft_points_create(plan, KUGEL_ARRAY(x, KUGEL_F64, 10, 2), &points), KUGEL_EINVAL);
  CHECK(!points && strstr(kugel_last_error(), "coordinate 1 of point 1 is"));
  x[3] = 1e300;
  CHECK_IS(kugel_nufft_points_create(plan, KUGEL_ARRAY(x, KUGEL_F64, 2, 5, 2), &points), KUGEL_ESHAPE);
  CHECK_IS(kugel_nufft_points_create(plan, KUGEL_ARRAY(x, KUGEL_F32, 5, 2, 2), &points), KUGEL_ESHAPE);
  CHECK_OK(kugel_nufft_points_create(plan, KUGEL_ARRAY(x, KUGEL_F64, 10, 2), &points));
  const kugel_array in = *KUGEL_ARRAY(c, KUGEL_C128, 10, 2), out = *KUGEL_ARRAY(f, KUGEL_C128, 8, 8, 2);
  memset(c, 0, sizeof c);
  CHECK_OK(kugel_nufft_execute(points, &in, &out, NULL));
  CHECK_IS(kugel_nufft_execute(points, KUGEL_ARRAY(c, KUGEL_C128, 10), &out, NULL), KUGEL_ESHAPE);
  CHECK_IS(kugel_nufft_execute(points, NULL, &out, NULL), KUGEL_EINVAL);
  CHECK_IS(kugel_nufft_execute(points, KUGEL_ARRAY(f, KUGEL_C128, 10, 2), &out, NULL),
           KUGEL_EINVAL); // overlap
  CHECK_IS(kugel_nufft_spread(points, &in, &out, NULL), KUGEL_ENOTSUP);
  CHECK_IS(kugel_nufft_density(points, 2, KUGEL_ARRAY(x, KUGEL_F64, 10)), KUGEL_ENOTSUP);
  CHECK_IS(kugel_nufft_normal_create(plan, KUGEL_ARRAY(x, KUGEL_F64, 10, 2), NULL, &no_points),
           KUGEL_ENOTSUP);
  kugel_nufft_points_destroy(points);
  CHECK_OK(kugel_nufft_points_create(plan, KUGEL_ARRAY(x, KUGEL_F64, 0, 2), &points));
  f[0] = 1;
  CHECK_OK(kugel_nufft_execute(points, KUGEL_ARRAY(c, KUGEL_C128, 0, 2), &out, NULL));
  CHECK(f[0] == 0);
  kugel_nufft_points_destroy(points);
  kugel_nufft_destroy(plan);
}

static kugel_status all_calls(void *arg)
{
  double **numbers = arg, *x = numbers[0], *c = numbers[1], *f = numbers[2];
  const int64_t n[2] = {8, 8};
  kugel_nufft *plan = NULL;
  kugel_nufft_points *points = NULL;
  kugel_nufft_opts o = {.size = sizeof o, .type = KUGEL_NUFFT_TO_MODES, .precision = KUGEL_PRECISION_DD};
  const kugel_array in = *KUGEL_ARRAY(c, KUGEL_C128, 10, 2), out = *KUGEL_ARRAY(f, KUGEL_C128, 8, 8, 2);
  kugel_status s = kugel_nufft_create(NULL, 2, n, &o, &plan);
  if (!s)
    s = kugel_nufft_points_create(plan, KUGEL_ARRAY(x, KUGEL_F64, 10, 2), &points);
  if (!s)
    s = kugel_nufft_execute(points, &in, &out, NULL);
  kugel_nufft_points_destroy(points);
  kugel_nufft_destroy(plan);
  return s;
}

static void no_memory(void)
{
  double x[20] = {0}, c[40] = {0}, f[256];
  sweep_allocations(all_calls, (double *[]){x, c, f});
}

int main(void)
{
  CASE("tolerances of 1e-3 to 1e-28") keep_tolerances();
  CASE("shapes, signs, orders, periods, far points") shapes();
  CASE("adjoints, threads") adjoints();
  CASE("strides, batches, kinds of points") layouts();
  CASE("bad input") bad_input();
  CASE("no memory") no_memory();
  END();
}
