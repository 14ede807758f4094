/* SPDX-License-Identifier: BSD-3-Clause */
/* Transforms in the ball against direct sums, inverses, adjoints, and the same coefficients on other grids. ISA: once */
#include "fields.h"

static const kugel_ball_opts shapes[] = {
    {.lmax = 9, .n = 6, .vectors = 1},
    {.lmax = 9, .n = 6, .vectors = 1, .mmax = 3, .type = KUGEL_WORLAND_LEGENDRE},
    {.lmax = 8,
     .n = 7,
     .vectors = 1,
     .truncation = KUGEL_BALL_TRIANGULAR,
     .type = KUGEL_WORLAND_SPHERE_ENERGY},
    {.lmax = 7,
     .n = 6,
     .vectors = 1,
     .truncation = KUGEL_BALL_TRAPEZOIDAL,
     .dmax = 12,
     .engine = KUGEL_WORLAND_DENSE},
    {.lmax = 6,
     .n = 5,
     .vectors = 1,
     .mmax = KUGEL_ONLY_M0,
     .type = KUGEL_WORLAND_CYLINDER_ENERGY,
     .factors = 2},
    {.lmax = 0, .n = 4, .vectors = 1},
    {.lmax = 1, .n = 1, .vectors = 1},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static void sums(kugel_ball_opts o)
{
  ball b = ball_make(o);
  double *c = ball_random(&b, 1, 1), *f = ball_values(&b, 1, 0);
  CHECK_OK(kugel_ball_synthesis(b.plan, KUGEL_BALL_SCALAR, COEFFS(b, c, 1), VALUES(b, f, 1), NULL));
  CHECK_LE(truth_sampled(&b, c, f, 60), 1e-14);
  free(c);
  free(f);
  ball_free(&b);
}

/* The gradient of a scalar, through coefficients, against derivatives of the sum: in r by the operator D1, in phi and theta from
 * equidistant values of a trigonometric polynomial; beyond the poles theta goes on, as harmonics are polynomials of x, y, z. */
static void gradient(kugel_ball_opts o)
{
  ball b = ball_make(o);
  double *c = ball_random(&b, 1, 2), *g = calloc((size_t)(3 * b.coeffs), 16), *u = ball_values(&b, 3, 0);
  CHECK_OK(kugel_ball_apply(b.plan, KUGEL_BALL_GRAD, COEFFS(b, c, 1), COEFFS(b, g, 3), NULL));
  CHECK_OK(kugel_ball_synthesis(b.plan, KUGEL_BALL_VECTOR, COEFFS(b, g, 3), VALUES(b, u, 3), NULL));
  double worst[3] = {0, 0, 0};
  for (int64_t i = 0; i < b.points; i += 1 + b.points / 20) {
    const ball_place at = ball_at(&b, i);
    const int64_t n = 2 * b.s.lmax + 2;
    long double d[3] = {truth_scalar(&b, c, KUGEL_WORLAND_D1, at.r, at.theta, at.phi), 0, 0};
    for (int64_t q = 1; q < n; q++) {
      long double turn = 2 * acosl(-1) * (long double)q / (long double)n, t = at.theta - turn;
      long double w = 0.5L * (q % 2 ? -1 : 1) / tanl(turn / 2);
      d[1] += w * truth_scalar(&b, c, 0, at.r, t, at.phi);
      d[2] += w * truth_scalar(&b, c, 0, at.r, at.theta, at.phi - turn);
    }
    d[1] /= (long double)at.r;
    d[2] /= (long double)at.r * sinl(at.theta);
    for (int q = 0; q < 3; q++)
      worst[q] = fmax(worst[q], fabs(u[q * b.points + i] - (double)d[q]));
  }
  CHECK_LE(fmax(worst[0], fmax(worst[1], worst[2])), 3e-14 * largest(3 * b.points, u) + 1e-30);
  free(c);
  free(g);
  free(u);
  ball_free(&b);
}

static void there_and_back(kugel_ball_opts o)
{
  ball b = ball_make(o);
  for (int parts = 1; parts <= 3; parts += 2) {
    kugel_ball_kind kind = parts == 3 ? KUGEL_BALL_VECTOR : KUGEL_BALL_SCALAR;
    double *c = ball_random(&b, parts, 3), *f = ball_values(&b, parts, 0),
           *got = malloc((size_t)(parts * b.coeffs) * 16);
    CHECK_OK(kugel_ball_synthesis(b.plan, kind, COEFFS(b, c, parts), VALUES(b, f, parts), NULL));
    CHECK_OK(kugel_ball_analysis(b.plan, kind, VALUES(b, f, parts), COEFFS(b, got, parts), NULL));
    CHECK_CLOSE(got, c, (size_t)(2 * parts * b.coeffs), 1e-13);
    free(c);
    free(f);
    free(got);
  }
  ball_free(&b);
}

static void adjoints(kugel_ball_opts o)
{
  ball b = ball_make(o);
  for (int kind = KUGEL_BALL_SCALAR; kind <= KUGEL_BALL_VECTOR; kind++) {
    one_adjoint(&b, b.plan, kind, false, kugel_ball_synthesis, kugel_ball_synthesis_adjoint, 1e-14);
    one_adjoint(&b, b.plan, kind, false, kugel_ball_analysis_adjoint, kugel_ball_analysis, 1e-14);
  }
  static const int taken[] = {1, 3, 3, 1, 3, 2, 3}, given[] = {3, 1, 3, 1, 3, 3, 2};
  for (int op = 0; op < 7; op++) {
    double *x = ball_random(&b, taken[op], 6), *y = ball_random(&b, given[op], 7),
           *ax = malloc((size_t)(given[op] * b.coeffs) * 16),
           *ay = malloc((size_t)(taken[op] * b.coeffs) * 16);
    CHECK_OK(kugel_ball_apply(b.plan, op, COEFFS(b, x, taken[op]), COEFFS(b, ax, given[op]), NULL));
    CHECK_OK(kugel_ball_apply_adjoint(b.plan, op, COEFFS(b, y, given[op]), COEFFS(b, ay, taken[op]), NULL));
    double left_scale, right_scale;
    long double left = ball_inner(&b, given[op], b.s.n, ax, y, &left_scale),
                right = ball_inner(&b, taken[op], b.s.n, x, ay, &right_scale);
    CHECK_LE((double)fabsl(left - right), 1e-14 * fmax(left_scale, right_scale));
    free(x);
    free(y);
    free(ax);
    free(ay);
  }
  ball_free(&b);
}

/* A batch in single precision, field by field close to the double one. */
static void single(void)
{
  kugel_ball_opts o = {.lmax = 12, .n = 9, .vectors = 1};
  ball b = ball_make(o);
  o.precision = KUGEL_PRECISION_F32;
  ball s = ball_make(o);
  int64_t count = 2 * 3 * b.coeffs, points = 2 * 3 * b.points;
  double *c = malloc((size_t)count * 16), *f = malloc((size_t)points * 8);
  float *cs = malloc((size_t)count * 8), *fs = malloc((size_t)points * 4);
  double *wide = malloc((size_t)(count > points ? 2 * count : points) * 8);
  for (int i = 0; i < 2; i++) {
    double *one = ball_random(&b, 3, 8 + (uint64_t)i);
    memcpy(c + i * count, one, (size_t)count * 8);
    free(one);
  }
  for (int64_t i = 0; i < 2 * count; i++)
    cs[i] = (float)c[i];
  CHECK_OK(kugel_ball_synthesis(b.plan, KUGEL_BALL_VECTOR, KUGEL_ARRAY(c, KUGEL_C128, 2, 3, b.s.nlm, b.s.n),
                                KUGEL_ARRAY(f, KUGEL_F64, 2, 3, b.s.nr, b.s.ntheta, b.s.nphi), NULL));
  CHECK_OK(kugel_ball_synthesis(s.plan, KUGEL_BALL_VECTOR, KUGEL_ARRAY(cs, KUGEL_C64, 2, 3, b.s.nlm, b.s.n),
                                KUGEL_ARRAY(fs, KUGEL_F32, 2, 3, b.s.nr, b.s.ntheta, b.s.nphi), NULL));
  for (int64_t i = 0; i < points; i++)
    wide[i] = (double)fs[i];
  CHECK_LE(check_l2(wide, f, (size_t)points), 1e-6);
  CHECK_OK(kugel_ball_analysis(s.plan, KUGEL_BALL_VECTOR,
                               KUGEL_ARRAY(fs, KUGEL_F32, 2, 3, b.s.nr, b.s.ntheta, b.s.nphi),
                               KUGEL_ARRAY(cs, KUGEL_C64, 2, 3, b.s.nlm, b.s.n), NULL));
  for (int64_t i = 0; i < 2 * count; i++)
    wide[i] = (double)cs[i];
  CHECK_LE(check_l2(wide, c, (size_t)(2 * count)), 2e-6);
  free(c);
  free(f);
  free(cs);
  free(fs);
  free(wide);
  ball_free(&b);
  ball_free(&s);
}

/* Radii and a sphere of the caller: the same function. */
static void cuts(void)
{
  double radii[] = {0, 0.3, 1}, theta[] = {0.4, 1.9}, phi0[] = {0.2, 1.1};
  int64_t nphi[] = {3, 2};
  kugel_grid_opts g = {.size = sizeof g, .nrings = 2, .theta = theta, .ring_nphi = nphi, .ring_phi0 = phi0};
  kugel_grid *grid;
  CHECK_OK(kugel_grid_create(NULL, &g, &grid));
  ball b = ball_make((kugel_ball_opts){.lmax = 11, .n = 8, .nr = 3, .radii = radii, .sphere = grid});
  kugel_grid_destroy(grid);
  double *c = ball_random(&b, 1, 11), f[15];
  CHECK(b.points == 15);
  CHECK_OK(kugel_ball_synthesis(b.plan, 0, COEFFS(b, c, 1), KUGEL_ARRAY(f, KUGEL_F64, 3, 5), NULL));
  double want[15];
  for (int i = 0; i < 15; i++) {
    int ring = i % 5 > 2, j = ring ? i % 5 - 3 : i % 5;
    long double phi = phi0[ring] + 2 * acosl(-1) * j / (long double)nphi[ring];
    want[i] = (double)truth_scalar(&b, c, 0, radii[i / 5], (long double)theta[ring], phi);
  }
  CHECK_CLOSE(f, want, 15, 1e-14);
  free(c);
  ball_free(&b);
}

int main(void)
{
  CASE("direct sums")
  {
    for (int i = 0; i < SHAPES; i++)
      sums(shapes[i]);
  }
  CASE("gradients")
  {
    for (int i = 0; i < SHAPES; i++)
      gradient(shapes[i]);
  }
  CASE("there and back")
  {
    for (int i = 0; i < SHAPES; i++)
      there_and_back(shapes[i]);
    there_and_back((kugel_ball_opts){.lmax = 63, .n = 40, .vectors = 1});
  }
  CASE("adjoints")
  {
    for (int i = 0; i < SHAPES; i++)
      adjoints(shapes[i]);
    adjoints((kugel_ball_opts){.lmax = 31, .n = 16, .vectors = 1, .factors = 2});
  }
  CASE("single precision, batches") single();
  CASE("radii and sphere of the caller") cuts();
  END();
}
