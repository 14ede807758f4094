/* SPDX-License-Identifier: BSD-3-Clause */
/* Closed forms: waves j_l(k r) Y_lm, fields whose curl is themselves, rigid rotation, uniform fields; identities of operators;
 * products; energies. ISA: once */
#include "truth.h"

/* Coefficients of j_l(k r) Y_lm by analysis of its values; plans resolve it. */
static double *wave(const ball *b, int64_t l, int64_t m, double k)
{
  double *f = ball_values(b, 1, 0), *c = calloc((size_t)b->coeffs, 16);
  for (int64_t i = 0; i < b->points; i++) {
    const ball_place at = ball_at(b, i);
    f[i] = (double)(bessel(l, (long double)k * (long double)at.r) * truth_p(l, m, at.theta) * (m ? 2 : 1) *
                    cosl((long double)m * at.phi));
  }
  CHECK_OK(kugel_ball_analysis(b->plan, 0, VALUES(*b, f, 1), COEFFS(*b, c, 1), NULL));
  free(f);
  return c;
}

static double difference(int64_t n, const double *x, const double *y, double factor)
{
  double worst = 0, scale = 0;
  for (int64_t i = 0; i < 2 * n; i++) {
    worst = fmax(worst, fabs(x[i] - factor * y[i]));
    scale = fmax(scale, fabs(factor * y[i]));
  }
  return worst / scale;
}

#define S(b, c) COEFFS(b, c, 1)
#define P(b, c) COEFFS(b, c, 2)
#define V(b, c) COEFFS(b, c, 3)

/* Laplacian of a wave: - k^2 of it. Potentials (k w, w) of a wave w: a field whose curl is k times itself. */
static void waves(int type)
{
  ball b = ball_make((kugel_ball_opts){.lmax = 7, .n = 18, .vectors = 1, .type = type});
  static const int64_t l[] = {0, 1, 4, 7}, m[] = {0, 1, 0, 5};
  for (int i = 0; i < 4; i++) {
    double k = 7.5, *w = wave(&b, l[i], m[i], k), *got = calloc((size_t)(3 * b.coeffs), 16),
           *u = calloc((size_t)(3 * b.coeffs), 16), *tp = calloc((size_t)(2 * b.coeffs), 16);
    CHECK_OK(kugel_ball_apply(b.plan, KUGEL_BALL_LAPLACIAN, S(b, w), S(b, got), NULL));
    CHECK_LE(difference(b.coeffs, got, w, -k * k), 3e-11); /* 36^4 eps */
    for (int64_t j = 0; j < 2 * b.coeffs; j++) {
      tp[j] = k * w[j];
      tp[2 * b.coeffs + j] = w[j];
    }
    CHECK_OK(kugel_ball_apply(b.plan, KUGEL_BALL_FROM_POTENTIALS, P(b, tp), V(b, u), NULL));
    CHECK_OK(kugel_ball_apply(b.plan, KUGEL_BALL_CURL, V(b, u), V(b, got), NULL));
    if (l[i])
      CHECK_LE(difference(3 * b.coeffs, got, u, k), 3e-11);
    CHECK_OK(kugel_ball_apply(b.plan, KUGEL_BALL_VECTOR_LAPLACIAN, V(b, u), V(b, got), NULL));
    if (l[i])
      CHECK_LE(difference(3 * b.coeffs, got, u, -k * k), 1e-9);
    CHECK_OK(kugel_ball_apply(b.plan, KUGEL_BALL_TO_POTENTIALS, V(b, u), P(b, got), NULL));
    if (l[i])
      CHECK_LE(difference(2 * b.coeffs, got, tp, 1), 1e-13);
    free(w);
    free(got);
    free(u);
    free(tp);
  }
  ball_free(&b);
}

/* u = e_z x R: its curl is 2 e_z. f = x^2 + 3 y z: gradient (2 x, 3 z, 3 y), Laplacian 2; all in Cartesian components. */
static void polynomials(void)
{
  ball b = ball_make((kugel_ball_opts){.lmax = 4, .n = 4, .vectors = 1, .truncation = KUGEL_BALL_TRIANGULAR});
  double *u = ball_values(&b, 3, 0), *f = ball_values(&b, 1, 0), *c = calloc((size_t)(3 * b.coeffs), 16),
         *d = calloc((size_t)(3 * b.coeffs), 16), *got = ball_values(&b, 3, 0), worst[4] = {0, 0, 0, 0};
  kugel_array *grid = KUGEL_ARRAY(f, KUGEL_F64, b.s.nr, b.s.ntheta, b.s.nphi),
              *grids = KUGEL_ARRAY(u, KUGEL_F64, 3, b.s.nr, b.s.ntheta, b.s.nphi),
              *gots = KUGEL_ARRAY(got, KUGEL_F64, 3, b.s.nr, b.s.ntheta, b.s.nphi);
  for (int pass = 0; pass < 3; pass++) {
    for (int64_t i = 0; i < b.points; i++) {
      double r = b.r[i / (b.s.ntheta * b.s.nphi)], t = b.theta[i / b.s.nphi % b.s.ntheta],
             p = b.phi[i % b.s.nphi];
      double st = sin(t), ct = cos(t), sp = sin(p), cp = cos(p), x = r * st * cp, y = r * st * sp, z = r * ct;
      double want[3] = {2 * ct, -2 * st, 0}, g[3] = {2 * x, 3 * z, 3 * y};
      if (pass == 0) {
        u[i] = u[b.points + i] = 0;
        u[2 * b.points + i] = r * st;
        f[i] = x * x + 3 * y * z;
        continue;
      }
      if (pass == 2) {
        want[0] = g[0] * st * cp + g[1] * st * sp + g[2] * ct;
        want[1] = g[0] * ct * cp + g[1] * ct * sp - g[2] * st;
        want[2] = -g[0] * sp + g[1] * cp;
      }
      for (int q = 0; q < 3; q++)
        worst[pass] = fmax(worst[pass], fabs(got[q * b.points + i] - want[q]));
      worst[3] = pass == 2 ? fmax(worst[3], fabs(f[i] - 2)) : 0;
    }
    if (pass == 0) {
      CHECK_OK(kugel_ball_analysis(b.plan, KUGEL_BALL_VECTOR, grids, V(b, c), NULL));
      CHECK_OK(kugel_ball_apply(b.plan, KUGEL_BALL_CURL, V(b, c), V(b, d), NULL));
      CHECK_OK(kugel_ball_synthesis(b.plan, KUGEL_BALL_VECTOR, V(b, d), gots, NULL));
    } else if (pass == 1) {
      CHECK_OK(kugel_ball_analysis(b.plan, KUGEL_BALL_SCALAR, grid, S(b, c), NULL));
      CHECK_OK(kugel_ball_apply(b.plan, KUGEL_BALL_GRAD, S(b, c), V(b, d), NULL));
      CHECK_OK(kugel_ball_synthesis(b.plan, KUGEL_BALL_VECTOR, V(b, d), gots, NULL));
      CHECK_OK(kugel_ball_apply(b.plan, KUGEL_BALL_DIV, V(b, d), S(b, c), NULL));
      CHECK_OK(kugel_ball_synthesis(b.plan, KUGEL_BALL_SCALAR, S(b, c), grid, NULL));
    }
  }
  CHECK_LE(worst[1], 1e-13);
  CHECK_LE(worst[2], 1e-13);
  CHECK_LE(worst[3], 1e-12);
  free(u);
  free(f);
  free(c);
  free(d);
  free(got);
  ball_free(&b);
}

/* On the grid of two factors, the coefficients of a product do not change when the grid grows. On the grid of one, they do. */
static void products(int type)
{
  double *before = NULL, other = 0;
  for (int factors = 2; factors >= 0; factors -= 1) {
    kugel_ball_opts o = {.lmax = 6, .n = 5, .type = type, .factors = factors};
    if (!factors)
      o.nr = 40, o.ntheta = 30, o.nphi = 50;
    ball b = ball_make(o);
    double *c = ball_random(&b, 1, 21), *d = ball_random(&b, 1, 22), *f = ball_values(&b, 1, 0),
           *g = ball_values(&b, 1, 0);
    kugel_array *values = KUGEL_ARRAY(f, KUGEL_F64, b.s.nr, b.s.ntheta, b.s.nphi);
    CHECK_OK(kugel_ball_synthesis(b.plan, 0, S(b, c), values, NULL));
    CHECK_OK(kugel_ball_synthesis(b.plan, 0, S(b, d), KUGEL_ARRAY(g, KUGEL_F64, b.s.nr, b.s.ntheta, b.s.nphi),
                                  NULL));
    for (int64_t i = 0; i < b.points; i++)
      f[i] *= g[i];
    CHECK_OK(kugel_ball_analysis(b.plan, 0, values, S(b, c), NULL));
    if (factors == 1)
      other = difference(b.coeffs, c, before, 1);
    if (!factors)
      CHECK_LE(difference(b.coeffs, c, before, 1), 1e-13);
    free(f);
    free(g);
    free(d);
    if (factors == 2)
      before = c;
    else
      free(c);
    ball_free(&b);
  }
  CHECK(other > 1e-3);
  free(before);
}

/* Spectra add up to the integral of |f|^2, by the plan's weights on a grid that is exact for squares, and know where a single
 * harmonic lies. */
static void energies(int type)
{
  kugel_ball_opts o = {.lmax = 6, .n = 5, .vectors = 1, .type = type, .factors = 3};
  ball b = ball_make(o);
  double *wr = malloc((size_t)b.s.nr * 8), *ws = malloc((size_t)b.s.ntheta * 8), e[8];
  CHECK_OK(kugel_ball_grid(b.plan, NULL, NULL, NULL, wr, ws));
  for (int parts = 1; parts <= 3; parts += 2) {
    double *c = ball_random(&b, parts, 31), *f = ball_values(&b, parts, 0);
    kugel_array *coeffs = parts == 1 ? S(b, c) : V(b, c);
    CHECK_OK(kugel_ball_synthesis(b.plan, parts / 2, coeffs,
                                  parts == 1 ? KUGEL_ARRAY(f, KUGEL_F64, b.s.nr, b.s.ntheta, b.s.nphi)
                                             : KUGEL_ARRAY(f, KUGEL_F64, 3, b.s.nr, b.s.ntheta, b.s.nphi),
                                  NULL));
    long double whole = 0;
    for (int64_t i = 0; i < parts * b.points; i++) {
      int64_t k = i % b.points / (b.s.ntheta * b.s.nphi), j = i / b.s.nphi % b.s.ntheta;
      whole += (long double)f[i] * f[i] * wr[k] * ws[j];
    }
    for (int axis = 0; axis < 3; axis++) {
      int64_t count = axis == 2 ? b.s.n : b.s.lmax + 1;
      long double sum = 0;
      CHECK_OK(kugel_ball_spectrum(b.plan, parts / 2, axis, coeffs, KUGEL_ARRAY(e, KUGEL_F64, count), NULL));
      for (int64_t i = 0; i < count; i++)
        sum += e[i];
      CHECK_LE((double)fabsl(sum / whole - 1), 1e-13);
    }
    memset(c, 0, (size_t)(parts * b.coeffs) * 16);
    c[2 * (((parts == 3) * b.s.nlm + ball_row(&b, 4, 3)) * b.s.n + 2)] = 1;
    CHECK_OK(kugel_ball_spectrum(b.plan, parts / 2, KUGEL_BALL_L, coeffs,
                                 KUGEL_ARRAY(e, KUGEL_F64, b.s.lmax + 1), NULL));
    CHECK(e[4] > 0.01 && e[3] == 0 && e[5] == 0);
    CHECK_OK(kugel_ball_spectrum(b.plan, parts / 2, KUGEL_BALL_M, coeffs,
                                 KUGEL_ARRAY(e, KUGEL_F64, b.s.mmax + 1), NULL));
    CHECK(e[3] > 0.01 && e[4] == 0 && e[2] == 0);
    free(c);
    free(f);
  }
  free(wr);
  free(ws);
  ball_free(&b);
}

int main(void)
{
  CASE("spherical waves")
  {
    for (int type = 0; type < 4; type++)
      waves(type);
  }
  CASE("polynomials in x, y, z") polynomials();
  CASE("products")
  {
    for (int type = 0; type < 4; type++)
      products(type);
  }
  CASE("energies")
  {
    for (int type = 0; type < 4; type++)
      energies(type);
  }
  END();
}
