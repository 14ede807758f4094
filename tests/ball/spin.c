/* SPDX-License-Identifier: BSD-3-Clause */
/* Spin components of vectors, and profiles: direct sums over harmonics of spin -1, 0, 1, spherical Bessel functions, inverses, adjoints,
 * single precision. ISA: once */
#include "fields.h"

#define PAIRS(b, f) KUGEL_ARRAY(f, KUGEL_C128, 3, (b).s.nr, (b).s.ntheta, (b).s.nphi)

static const kugel_ball_opts shapes[] = {
    {.lmax = 9, .n = 6, .vectors = 1},
    {.lmax = 9, .n = 6, .vectors = 1, .mmax = 3, .type = KUGEL_WORLAND_LEGENDRE},
    {.lmax = 8,
     .n = 7,
     .vectors = 1,
     .truncation = KUGEL_BALL_TRIANGULAR,
     .type = KUGEL_WORLAND_SPHERE_ENERGY},
    {.lmax = 7, .n = 6, .vectors = 1, .truncation = KUGEL_BALL_TRAPEZOIDAL, .dmax = 12},
    {.lmax = 5, .n = 4, .vectors = 1, .mmax = KUGEL_ONLY_M0, .type = KUGEL_WORLAND_CYLINDER_ENERGY},
    {.lmax = 0, .n = 3, .vectors = 1},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* Harmonics of spin -1, 0, 1 at phi = 0, by d/dtheta Y_lm = m cot Y_lm + sqrt((l - m) (l + m + 1)) exp(-i phi) Y_l,m+1. */
static void harmonics(int64_t l, int64_t m, long double theta, long double y[3])
{
  long double p = truth_p(l, m, theta), next = m < l ? truth_p(l, m + 1, theta) : 0, ll = (long double)l,
              mm = m;
  long double slope = mm * p * cosl(theta) / sinl(theta) + sqrtl((ll - mm) * (ll + mm + 1)) * next;
  long double side = mm * p / sinl(theta), norm = l ? 1 / sqrtl(ll * (ll + 1)) : 0;
  y[0] = norm * (slope + side);
  y[1] = p;
  y[2] = -norm * (slope - side);
}

/* a, b, c of (l, m) at r. */
static void series(const ball *b, const double *coeffs, int64_t l, int64_t m, double r,
                   long double complex v[3])
{
  quad *w = malloc((size_t)b->s.n * sizeof *w);
  for (int i = 0; i < 3; i++) {
    v[i] = 0;
    if (!l && i != 1)
      continue;
    truth_worland(b->o.type, 0, l + (int[]){-1, 1, 0}[i], (quad)r, b->nl[l], w);
    for (int64_t n = 0; n < b->nl[l]; n++) {
      const double *at = coeffs + 2 * ((i * b->s.nlm + ball_row(b, l, m)) * b->s.n + n);
      v[i] += (long double)w[n] * ((long double)at[0] + 1.0iL * (long double)at[1]);
    }
  }
  free(w);
}

/* u^s_lm(r) by the formulas of ball.h. */
static void spins(const ball *b, const double *coeffs, int64_t l, int64_t m, double r,
                  long double complex u[3])
{
  long double complex v[3];
  long double A = sqrtl((long double)l / (2 * (long double)l + 1)), B = sqrtl(1 - A * A);
  series(b, coeffs, l, m, r, v);
  long double complex g = B * v[0] + A * v[1];
  u[0] = (g - 1.0iL * v[2]) / sqrtl(2);
  u[1] = A * v[0] - B * v[1];
  u[2] = -(g + 1.0iL * v[2]) / sqrtl(2);
}

/* u_s at a point; orders below 0 by u_s = conj(u_-s). */
static void point(const ball *b, const double *coeffs, ball_place at, long double complex u[3])
{
  u[0] = u[1] = u[2] = 0;
  for (int64_t l = 0; l <= b->s.lmax; l++)
    for (int64_t m = 0; m <= l && m <= b->s.mmax; m++) {
      long double complex own[3], turn = cexpl(1.0iL * (long double)m * at.phi);
      long double y[3];
      spins(b, coeffs, l, m, at.r, own);
      harmonics(l, m, at.theta, y);
      for (int s = 0; s < 3; s++) {
        u[s] += own[s] * y[s] * turn;
        if (m)
          u[2 - s] += conjl(own[s] * y[s] * turn);
      }
    }
}

static void sums(kugel_ball_opts o)
{
  ball b = ball_make(o);
  double *c = ball_random(&b, 3, 1), *f = malloc((size_t)(6 * b.points) * 8), worst = 0;
  CHECK_OK(kugel_ball_synthesis(b.plan, KUGEL_BALL_SPIN, COEFFS(b, c, 3), PAIRS(b, f), NULL));
  for (int64_t i = 0; i < b.points; i += 1 + b.points / 40) {
    long double complex want[3];
    point(&b, c, ball_at(&b, i), want);
    for (int s = 0; s < 3; s++) {
      const double *at = f + 2 * (s * b.points + i);
      worst = fmax(worst, hypot(at[0] - (double)creall(want[s]), at[1] - (double)cimagl(want[s])));
    }
  }
  CHECK_LE(worst / largest(6 * b.points, f), 1e-14);
  double *back = malloc((size_t)(3 * b.coeffs) * 16);
  CHECK_OK(kugel_ball_analysis(b.plan, KUGEL_BALL_SPIN, PAIRS(b, f), COEFFS(b, back, 3), NULL));
  CHECK_CLOSE(back, c, (size_t)(6 * b.coeffs), 1e-13);
  free(c);
  free(f);
  free(back);
  ball_free(&b);
}

static void profiles(kugel_ball_opts o)
{
  ball b = ball_make(o);
  int64_t count = 3 * b.s.nlm * b.s.nr;
  double *c = ball_random(&b, 3, 2), *f = malloc((size_t)count * 16),
         *back = malloc((size_t)(3 * b.coeffs) * 16);
  for (int kind = KUGEL_BALL_VECTOR; kind <= KUGEL_BALL_SPIN; kind++) {
    double worst = 0;
    for (int64_t n = 0; n < b.s.n; n++)
      for (int64_t l = 0; l <= b.s.lmax; l++)
        c[2 * ((b.s.nlm + ball_row(&b, l, 0)) * b.s.n + n) + 1] = n < b.nl[l] ? 0.7 : 0; /* ignored */
    CHECK_OK(kugel_ball_profiles(b.plan, kind, COEFFS(b, c, 3), PROFILES(b, f), NULL));
    for (int64_t n = 0; n < b.s.n; n++)
      for (int64_t l = 0; l <= b.s.lmax; l++)
        c[2 * ((b.s.nlm + ball_row(&b, l, 0)) * b.s.n + n) + 1] = 0;
    for (int64_t l = 0; l <= b.s.lmax; l++)
      for (int64_t m = 0; m <= l && m <= b.s.mmax; m++)
        for (int64_t k = 0; k < b.s.nr; k += 2) {
          long double complex u[3];
          spins(&b, c, l, m, b.r[k], u);
          long double complex g = (u[0] - u[2]) / sqrtl(2), t = 1.0iL * (u[0] + u[2]) / sqrtl(2);
          if (kind == KUGEL_BALL_VECTOR)
            u[0] = u[1], u[1] = g, u[2] = t;
          for (int s = 0; s < 3; s++) {
            const double *at = f + 2 * ((s * b.s.nlm + ball_row(&b, l, m)) * b.s.nr + k);
            worst = fmax(worst, hypot(at[0] - (double)creall(u[s]), at[1] - (double)cimagl(u[s])));
          }
        }
    CHECK_LE(worst / largest(2 * count, f), 1e-14);
    CHECK_OK(kugel_ball_from_profiles(b.plan, kind, PROFILES(b, f), COEFFS(b, back, 3), NULL));
    CHECK_CLOSE(back, c, (size_t)(6 * b.coeffs), 1e-13);
  }
  free(c);
  free(f);
  free(back);
  ball_free(&b);
}

static void adjoints(kugel_ball_opts o)
{
  ball b = ball_make(o);
  one_adjoint(&b, b.plan, KUGEL_BALL_SPIN, false, kugel_ball_synthesis, kugel_ball_synthesis_adjoint, 1e-14);
  one_adjoint(&b, b.plan, KUGEL_BALL_SPIN, false, kugel_ball_analysis_adjoint, kugel_ball_analysis, 1e-14);
  for (int kind = KUGEL_BALL_VECTOR; kind <= KUGEL_BALL_SPIN; kind++) {
    one_adjoint(&b, b.plan, kind, true, kugel_ball_profiles, kugel_ball_profiles_adjoint, 1e-14);
    one_adjoint(&b, b.plan, kind, true, kugel_ball_from_profiles_adjoint, kugel_ball_from_profiles, 1e-14);
  }
  ball_free(&b);
}

/* Spin components are a turn of (u_r, u_theta, u_phi); what is no real field's is read as the real field nearest to it. */
static void against_vectors(void)
{
  ball b = ball_make((kugel_ball_opts){.lmax = 7, .n = 5, .vectors = 1});
  double *s = malloc((size_t)(6 * b.points) * 8), *v = malloc((size_t)(3 * b.points) * 8),
         *c = malloc((size_t)(3 * b.coeffs) * 16), *d = malloc((size_t)(3 * b.coeffs) * 16), e[2][8];
  uint64_t seed = 9;
  for (int64_t i = 0; i < 6 * b.points; i++)
    s[i] = check_random(&seed);
  for (int64_t i = 0; i < b.points; i++) {
    v[i] = s[2 * (b.points + i)];
    v[b.points + i] = (s[2 * i] + s[2 * (2 * b.points + i)]) / sqrt(2);
    v[2 * b.points + i] = (s[2 * (2 * b.points + i) + 1] - s[2 * i + 1]) / sqrt(2);
  }
  CHECK_OK(kugel_ball_analysis(b.plan, KUGEL_BALL_SPIN, PAIRS(b, s), COEFFS(b, c, 3), NULL));
  CHECK_OK(kugel_ball_analysis(b.plan, KUGEL_BALL_VECTOR, VALUES(b, v, 3), COEFFS(b, d, 3), NULL));
  CHECK_CLOSE(c, d, (size_t)(6 * b.coeffs), 1e-15);
  for (int kind = 1; kind <= 2; kind++)
    CHECK_OK(kugel_ball_spectrum(b.plan, kind, KUGEL_BALL_L, COEFFS(b, c, 3),
                                 KUGEL_ARRAY(e[kind - 1], KUGEL_F64, 8), NULL));
  CHECK(!memcmp(e[0], e[1], sizeof e[0]));
  free(s);
  free(v);
  free(c);
  free(d);
  ball_free(&b);
}

/* Waves w = j_l(k r) Y_lm: the gradient has spin components k j_l' and -+ sqrt(l (l + 1) / 2) j_l / r of spin +-1; its divergence is
 * -k^2 w; the field of potentials (k w, w) is an eigenfunction of curl, u_r = l (l + 1) j_l / r, g = sqrt(l (l + 1)) (j_l / r + k j_l'),
 * c = -sqrt(l (l + 1)) k j_l. */
static void waves(int type)
{
  ball b = ball_make((kugel_ball_opts){.lmax = 6, .n = 18, .vectors = 1, .type = type});
  static const int64_t ls[] = {1, 3, 6}, ms[] = {0, 2, 6};
  const double k = 7.5;
  double *f = calloc((size_t)(3 * b.s.nlm * b.s.nr), 16), *w = malloc((size_t)b.coeffs * 16),
         *u = malloc((size_t)(3 * b.coeffs) * 16), *v = malloc((size_t)(3 * b.coeffs) * 16),
         *tp = calloc((size_t)(2 * b.coeffs), 16);
  for (int i = 0; i < 3; i++) {
    int64_t l = ls[i], row = ball_row(&b, l, ms[i]);
    double root = sqrt((double)(l * (l + 1))), worst[2] = {0, 0};
    memset(f, 0, (size_t)(b.s.nlm * b.s.nr) * 16);
    for (int64_t j = 0; j < b.s.nr; j++)
      f[2 * (row * b.s.nr + j)] = (double)bessel(l, (long double)k * (long double)b.r[j]);
    CHECK_OK(kugel_ball_from_profiles(b.plan, KUGEL_BALL_SCALAR, KUGEL_ARRAY(f, KUGEL_C128, b.s.nlm, b.s.nr),
                                      KUGEL_ARRAY(w, KUGEL_C128, b.s.nlm, b.s.n), NULL));
    for (int64_t j = 0; j < 2 * b.coeffs; j++) {
      tp[j] = k * w[j];
      tp[2 * b.coeffs + j] = w[j];
    }
    for (int pass = 0; pass < 2; pass++) {
      if (pass)
        CHECK_OK(kugel_ball_apply(b.plan, KUGEL_BALL_FROM_POTENTIALS,
                                  KUGEL_ARRAY(tp, KUGEL_C128, 2, b.s.nlm, b.s.n), COEFFS(b, u, 3), NULL));
      else
        CHECK_OK(kugel_ball_apply(b.plan, KUGEL_BALL_GRAD, KUGEL_ARRAY(w, KUGEL_C128, b.s.nlm, b.s.n),
                                  COEFFS(b, u, 3), NULL));
      if (pass)
        CHECK_OK(kugel_ball_apply(b.plan, KUGEL_BALL_CURL, COEFFS(b, u, 3), COEFFS(b, v, 3), NULL));
      CHECK_OK(
          kugel_ball_profiles(b.plan, KUGEL_BALL_SPIN, COEFFS(b, pass ? v : u, 3), PROFILES(b, f), NULL));
      for (int64_t j = 0; j < b.s.nr; j++) {
        long double x = (long double)k * (long double)b.r[j], at = bessel(l, x), r = (long double)b.r[j];
        long double slope = k * (bessel(l - 1, x) - (long double)(l + 1) / x * at);
        long double zero = pass ? k * (long double)(l * (l + 1)) * at / r : slope;
        long double g = pass ? k * root * (at / r + slope) : root * at / r, c = pass ? -k * root * k * at : 0;
        double want[3][2] = {{(double)(g / sqrtl(2)), (double)(-c / sqrtl(2))},
                             {(double)zero, 0},
                             {(double)(-g / sqrtl(2)), (double)(-c / sqrtl(2))}};
        for (int s = 0; s < 3; s++)
          for (int q = 0; q < 2; q++)
            worst[pass] = fmax(worst[pass], fabs(f[2 * ((s * b.s.nlm + row) * b.s.nr + j) + q] - want[s][q]));
      }
    }
    CHECK_LE(worst[0], 1e-12 * k);
    CHECK_LE(worst[1], 1e-11 * k * k * root);
  }
  free(f);
  free(w);
  free(u);
  free(v);
  free(tp);
  ball_free(&b);
}

/* Single precision, and a sphere of the caller, beside double precision on the plan's. */
static void variants(void)
{
  kugel_ball_opts o = {.lmax = 12, .n = 9, .vectors = 1};
  ball b = ball_make(o);
  o.precision = KUGEL_PRECISION_F32;
  ball s = ball_make(o);
  kugel_grid *grid;
  kugel_grid_opts g = {.size = sizeof g, .kind = KUGEL_GRID_GAUSS, .ntheta = b.s.ntheta, .nphi = b.s.nphi};
  CHECK_OK(kugel_grid_create(NULL, &g, &grid));
  ball cut = ball_make((kugel_ball_opts){.lmax = 12, .n = 9, .vectors = 1, .sphere = grid});
  kugel_grid_destroy(grid);
  int64_t count = 3 * b.coeffs, points = 3 * b.points, rows = 3 * b.s.nlm * b.s.nr;
  double *c = ball_random(&b, 3, 8), *f = malloc((size_t)points * 16), *h = malloc((size_t)points * 16),
         *p = malloc((size_t)rows * 16);
  float *cs = malloc((size_t)count * 8), *fs = malloc((size_t)points * 8), *ps = malloc((size_t)rows * 8);
  for (int64_t i = 0; i < 2 * count; i++)
    cs[i] = (float)c[i];
  CHECK_OK(kugel_ball_synthesis(b.plan, KUGEL_BALL_SPIN, COEFFS(b, c, 3), PAIRS(b, f), NULL));
  CHECK_OK(kugel_ball_synthesis(cut.plan, KUGEL_BALL_SPIN, COEFFS(b, c, 3),
                                KUGEL_ARRAY(h, KUGEL_C128, 3, b.s.nr, b.s.ntheta * b.s.nphi), NULL));
  CHECK_CLOSE(h, f, (size_t)(2 * points), 1e-14);
  CHECK_OK(kugel_ball_synthesis(s.plan, KUGEL_BALL_SPIN, KUGEL_ARRAY(cs, KUGEL_C64, 3, s.s.nlm, s.s.n),
                                KUGEL_ARRAY(fs, KUGEL_C64, 3, s.s.nr, s.s.ntheta, s.s.nphi), NULL));
  for (int64_t i = 0; i < 2 * points; i++)
    h[i] = (double)fs[i];
  CHECK_LE(check_l2(h, f, (size_t)(2 * points)), 1e-6);
  CHECK_OK(kugel_ball_profiles(b.plan, KUGEL_BALL_SPIN, COEFFS(b, c, 3), PROFILES(b, p), NULL));
  CHECK_OK(kugel_ball_profiles(s.plan, KUGEL_BALL_SPIN, KUGEL_ARRAY(cs, KUGEL_C64, 3, s.s.nlm, s.s.n),
                               KUGEL_ARRAY(ps, KUGEL_C64, 3, s.s.nlm, s.s.nr), NULL));
  double *wide = malloc((size_t)rows * 16);
  for (int64_t i = 0; i < 2 * rows; i++)
    wide[i] = (double)ps[i];
  CHECK_LE(check_l2(wide, p, (size_t)(2 * rows)), 1e-6);
  CHECK_OK(kugel_ball_analysis(s.plan, KUGEL_BALL_SPIN,
                               KUGEL_ARRAY(fs, KUGEL_C64, 3, s.s.nr, s.s.ntheta, s.s.nphi),
                               KUGEL_ARRAY(cs, KUGEL_C64, 3, s.s.nlm, s.s.n), NULL));
  double *got = malloc((size_t)count * 16);
  for (int64_t i = 0; i < 2 * count; i++)
    got[i] = (double)cs[i];
  CHECK_LE(check_l2(got, c, (size_t)(2 * count)), 2e-6);
  free(c);
  free(f);
  free(h);
  free(p);
  free(cs);
  free(fs);
  free(ps);
  free(wide);
  free(got);
  ball_free(&b);
  ball_free(&s);
  ball_free(&cut);
}

int main(void)
{
  CASE("direct sums")
  {
    for (int i = 0; i < SHAPES; i++)
      sums(shapes[i]);
  }
  CASE("profiles")
  {
    for (int i = 0; i < SHAPES; i++)
      profiles(shapes[i]);
  }
  CASE("adjoints")
  {
    for (int i = 0; i < SHAPES; i++)
      adjoints(shapes[i]);
  }
  CASE("components r, theta, phi") against_vectors();
  CASE("spherical waves")
  {
    for (int type = 0; type < 4; type++)
      waves(type);
  }
  CASE("single precision, spheres of the caller") variants();
  END();
}
