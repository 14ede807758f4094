/* SPDX-License-Identifier: BSD-3-Clause */
/* Type 3 in double-double against sums in numbers of 113 bits: tolerances, distant boxes, corners, one point, adjoints, threads, kinds of
 * coordinates, bad input, no memory. */
#include "sweep.h"
#include "nufft/dd.h"
#include <kugel/nufft.h>

/* m points, k frequencies; x and s are [., ndim, 2], c and f pairs of complex numbers. */
typedef struct pairs {
  int ndim;
  int64_t m, k;
  double *x, *s, *c, *f;
  kugel_nufft_opts opts;
} pairs;

static pairs pairs_of(int ndim, int64_t m, int64_t k, double x_reach, double s_reach, double tolerance)
{
  return (pairs){ndim,
                 m,
                 k,
                 random_pairs(m * ndim, 1, x_reach, 1),
                 random_pairs(k * ndim, 1, s_reach, 2),
                 random_pairs(m, 2, 1, 3),
                 random_pairs(k, 2, 1, 4),
                 {.size = sizeof(kugel_nufft_opts),
                  .type = KUGEL_NUFFT_TO_FREQUENCIES,
                  .precision = KUGEL_PRECISION_DD,
                  .tolerance = tolerance}};
}

static void free_pairs(pairs *p)
{
  free(p->x), free(p->s), free(p->c), free(p->f);
}

static kugel_status run(const pairs *p, bool adjoint, const double *in, double *out)
{
  kugel_nufft *plan = NULL;
  kugel_nufft_points *points = NULL;
  const kugel_array c = *KUGEL_ARRAY(adjoint ? out : in, KUGEL_C128, p->m, 2),
                    f = *KUGEL_ARRAY(adjoint ? in : out, KUGEL_C128, p->k, 2);
  kugel_status s = kugel_nufft_create(NULL, p->ndim, NULL, &p->opts, &plan);
  if (!s)
    s = kugel_nufft_frequencies_create(plan, KUGEL_ARRAY(p->x, KUGEL_F64, p->m, p->ndim, 2),
                                       KUGEL_ARRAY(p->s, KUGEL_F64, p->k, p->ndim, 2), &points);
  kugel_nufft_destroy(plan);
  if (!s)
    s = (adjoint ? kugel_nufft_adjoint : kugel_nufft_execute)(points, adjoint ? &f : &c, adjoint ? &c : &f,
                                                              NULL);
  kugel_nufft_points_destroy(points);
  return s;
}

static quad both(const double *x, int64_t i)
{
  return (quad)x[2 * i] + (quad)x[2 * i + 1];
}

/* A product of doubles has no more than 106 bits, and is reduced without rounding, as far as it matters. */
static quad turns_of(quad phase)
{
  static const double two_pi[3] = {0x1.921fb54442d18p+2, 0x1.1a62633145c07p-52, -0x1.f1976b7ed8fbcp-108};
  const quad turns = (quad)(int64_t)(phase / (2 * PI_Q));
  for (int i = 0; i < 3; i++)
    phase -= turns * (quad)two_pi[i];
  return phase / (2 * PI_Q);
}

static quad_unit sum_of(const pairs *p, int64_t k)
{
  quad_unit sum = {0, 0};
  for (int64_t j = 0; j < p->m; j++) {
    quad turns = 0;
    for (int d = 0; d < p->ndim; d++)
      turns += turns_of(both(p->x, j * p->ndim + d) * both(p->s, k * p->ndim + d));
    const quad_unit w = unit_of(p->opts.sign < 0 ? -turns : turns), c = number_of(p->c, j);
    sum.c += c.c * w.c - c.s * w.s;
    sum.s += c.c * w.s + c.s * w.c;
  }
  return sum;
}

/* Relative l2 error. */
static double error_of(const pairs *p)
{
  double *out = malloc((size_t)p->k * 32), error = 0, size = 0;
  CHECK_OK(run(p, false, p->c, out));
  for (int64_t k = 0; k < p->k; k++) {
    const quad_unit want = sum_of(p, k), got = number_of(out, k);
    const double re = (double)(got.c - want.c), im = (double)(got.s - want.s);
    error += re * re + im * im;
    size += (double)(want.c * want.c + want.s * want.s);
  }
  free(out);
  return sqrt(error / size);
}

static const double reach[3] = {40, 5, 2};

static void sums(void)
{
  static const double tolerances[] = {1e-2, 1e-9, 1e-15, 1e-20, 1e-24, 1e-28};
  for (int ndim = 1; ndim <= 3; ndim++)
    for (size_t t = 0; t < sizeof tolerances / sizeof *tolerances; t++) {
      pairs p = pairs_of(ndim, 40, 30, 3, reach[ndim - 1], tolerances[t]);
      p.opts.sign = t & 1 ? -1 : 1;
      for (int64_t i = 0; t % 3 == 2 && i < p.k * ndim; i++) // both boxes off the origin
        p.s[2 * i] -= 300;
      for (int64_t i = 0; t % 3 == 2 && i < p.m * ndim; i++)
        p.x[2 * i] += 10;
      const double e = error_of(&p);
      if (!(e <= tolerances[t]))
        CHECK_FAIL("%d-D tolerance %g: error %.3g", ndim, tolerances[t], e);
      free_pairs(&p);
    }
}

/* All frequencies at corners of their box, where the division is largest along all axes; integers. */
static void corners(void)
{
  static const double tolerances[] = {1e-10, 1e-20, 1e-28};
  for (int ndim = 1; ndim <= 3; ndim++)
    for (size_t t = 0; t < sizeof tolerances / sizeof *tolerances; t++) {
      pairs p = pairs_of(ndim, 25, 8, 3, 1, tolerances[t]);
      for (int64_t i = 0; i < p.k * ndim; i++) {
        p.s[2 * i] = (i / ndim >> i % ndim & 1) ? -reach[ndim - 1] : reach[ndim - 1];
        p.s[2 * i + 1] = 0;
      }
      const double e = error_of(&p);
      if (!(e <= tolerances[t]))
        CHECK_FAIL("%d-D tolerance %g: error %.3g", ndim, tolerances[t], e);
      free_pairs(&p);
    }
}

/* Phases of 3e7 radians, of which plain double-doubles know 3e-25. */
static void far_away(void)
{
  pairs p = pairs_of(1, 30, 24, 1, 20, 1e-28);
  for (int64_t i = 0; i < p.m; i++)
    p.x[2 * i] += 1e4, p.x[2 * i + 1] = 0;
  for (int64_t i = 0; i < p.k; i++)
    p.s[2 * i] -= 3e3, p.s[2 * i + 1] = 0;
  CHECK_LE(error_of(&p), 1e-28);
  free_pairs(&p);
}

/* <f, F c> = <F* f, c> to rounding at any tolerance; the same bits for any number of threads. */
static void adjoints(void)
{
  for (int ndim = 1; ndim <= 2; ndim++) {
    pairs p = pairs_of(ndim, 5000 / ndim, 4500 / ndim, 5, 20, 1e-5);
    double *fc = malloc((size_t)p.k * 32), *cf = malloc((size_t)p.m * 32),
           *other = malloc((size_t)(p.m + p.k) * 32);
    for (int64_t i = 0; i < p.k * ndim; i++)
      p.s[2 * i] += 400;
    CHECK_OK(run(&p, false, p.c, fc));
    CHECK_OK(run(&p, true, p.f, cf));
    quad left = 0, right = 0, size = 0;
    for (int64_t i = 0; i < p.k; i++) {
      const quad_unit u = number_of(p.f, i), v = number_of(fc, i);
      left += u.c * v.c + u.s * v.s;
      size += u.c * u.c + v.c * v.c;
    }
    for (int64_t i = 0; i < p.m; i++) {
      const quad_unit u = number_of(cf, i), v = number_of(p.c, i);
      right += u.c * v.c + u.s * v.s;
    }
    CHECK_LE(fabs((double)((left - right) / size)), 1e-29);
    for (int t = 2; t <= 7; t += 5) {
      CHECK_OK(kugel_set_num_threads(t));
      CHECK_OK(run(&p, false, p.c, other));
      CHECK(!memcmp(other, fc, (size_t)p.k * 32));
      CHECK_OK(run(&p, true, p.f, other));
      CHECK(!memcmp(other, cf, (size_t)p.m * 32));
    }
    kugel_set_num_threads(0);
    free(fc), free(cf), free(other);
    free_pairs(&p);
  }
}

/* Coordinates of floats and doubles with strides, a batch with strides: the bits of pairs and of single calls. */
static void layouts(void)
{
  enum { M = 20, K = 15 };
  pairs p = pairs_of(2, 2 * M, K, 3, 4, 1e-20);
  p.m = M;
  double want[2][4 * K], got[8 * K], mixed[8 * M], turned[2 * K];
  float narrow[2 * M];
  kugel_nufft *plan;
  kugel_nufft_points *points;
  for (int i = 0; i < 2 * M; i++) {
    narrow[i] = (float)p.x[2 * i];
    p.x[2 * i] = narrow[i];
    p.x[2 * i + 1] = 0;
    memcpy(mixed + 4 * (i % M * 2 + i / M), p.c + 4 * i, 32); // [M, 2, parts]
  }
  for (int i = 0; i < 2 * K; i++) {
    p.s[2 * i + 1] = 0;
    turned[i % 2 * K + i / 2] = p.s[2 * i];
  }
  for (int v = 0; v < 2; v++)
    CHECK_OK(run(&p, false, p.c + 4 * M * v, want[v]));
  kugel_array in = *KUGEL_ARRAY(mixed, KUGEL_C128, 2, M, 2), s = *KUGEL_ARRAY(turned, KUGEL_F64, K, 2);
  in.strides = (int64_t[]){2, 4, 1};
  s.strides = (int64_t[]){1, K};
  CHECK_OK(kugel_nufft_create(NULL, 2, NULL, &p.opts, &plan));
  CHECK_OK(kugel_nufft_frequencies_create(plan, KUGEL_ARRAY(narrow, KUGEL_F32, M, 2), &s, &points));
  CHECK_OK(kugel_nufft_execute(points, &in, KUGEL_ARRAY(got, KUGEL_C128, 2, K, 2), NULL));
  CHECK(!memcmp(got, want, sizeof want));
  kugel_nufft_points_destroy(points);
  kugel_nufft_destroy(plan);
  free_pairs(&p);
}

/* Points or frequencies that are none, one, or all in one place. */
static void few(void)
{
  for (int k = 0; k < 8; k++) {
    pairs p = pairs_of(2, k & 1 ? 1 : 20, k & 2 ? 1 : 10, k & 4 ? 0 : 7, k == 7 ? 0 : 5, 1e-26);
    double out[80];
    CHECK_LE(error_of(&p), 2e-25); // one number may be a sum of terms that cancel
    p.m = 0;
    CHECK_OK(run(&p, false, p.c, out));
    for (int64_t i = 0; i < 4 * p.k; i++)
      CHECK(out[i] == 0);
    p.m = 1, p.k = 0;
    CHECK_OK(run(&p, true, p.f, out));
    CHECK(out[0] == 0 && out[1] == 0);
    free_pairs(&p);
  }
}

static void bad_input(void)
{
  pairs p = pairs_of(2, 20, 30, 1, 1, 0);
  double out[120];
  kugel_nufft *plan;
  kugel_nufft_points *points;
  p.opts.tolerance = 1e-29;
  CHECK_IS(run(&p, false, p.c, out), KUGEL_EINVAL);
  p.opts.tolerance = 0;
  p.opts.upsampling = 1.2;
  CHECK_IS(run(&p, false, p.c, out), KUGEL_EINVAL);
  CHECK(strstr(kugel_last_error(), "wider than 40 cells"));
  p.opts.upsampling = 2.5;
  CHECK_OK(run(&p, false, p.c, out));
  CHECK_OK(kugel_nufft_create(NULL, 2, NULL, &p.opts, &plan));
  kugel_array x = *KUGEL_ARRAY(p.x, KUGEL_F64, 20, 2, 2), odd = *KUGEL_ARRAY(p.s, KUGEL_F64, 10, 2, 2);
  odd.strides = (int64_t[]){5, 2, 1};
  CHECK_IS(kugel_nufft_frequencies_create(plan, &x, &odd, &points), KUGEL_ESHAPE);
  CHECK_IS(kugel_nufft_frequencies_create(plan, &x, KUGEL_ARRAY(p.s, KUGEL_F32, 10, 2, 2), &points),
           KUGEL_ESHAPE);
  kugel_nufft_destroy(plan);
  p.opts.upsampling = 0;
  p.s[5] = NAN; // the low part
  CHECK_IS(run(&p, false, p.c, out), KUGEL_EINVAL);
  CHECK(strstr(kugel_last_error(), "coordinate 0 of frequency 1 is nan"));
  p.s[5] = 0;
  p.s[4] = 1e14;
  CHECK_IS(run(&p, false, p.c, out), KUGEL_ENOMEM);
  for (int64_t i = 0; i < 2 * p.k; i++)
    p.s[2 * i] = 1e14;
  for (int64_t i = 0; i < 2 * p.m; i++)
    p.x[2 * i] = 7;
  CHECK_IS(run(&p, false, p.c, out), KUGEL_EINVAL);
  CHECK(strstr(kugel_last_error(), "phases"));
  free_pairs(&p);
}

static kugel_status once(void *arg)
{
  const pairs *p = arg;
  double out[32];
  return run(p, false, p->c, out);
}

static void no_memory(void)
{
  pairs p = pairs_of(2, 10, 8, 1, 1, 1e-3);
  for (int64_t i = 0; i < 2 * p.k; i++)
    p.s[2 * i] += 1000;
  sweep_allocations(once, &p);
  free_pairs(&p);
}

int main(void)
{
  CASE("tolerances of 1e-2 to 1e-28") sums();
  CASE("frequencies at corners of their box") corners();
  CASE("phases of 3e7") far_away();
  CASE("adjoints, threads") adjoints();
  CASE("strides, batches, kinds of coordinates") layouts();
  CASE("few points") few();
  CASE("bad input") bad_input();
  CASE("no memory") no_memory();
  END();
}
