/* SPDX-License-Identifier: BSD-3-Clause */
/* Zernike transforms: explicit sums, indices, norms, adjoints, points, layouts, bad input, faults. */
#include "check.h"
#include <kugel/zernike.h>
#include "core/alloc.h"

/* R_n^m(r) by factorials. */
static long double radial(int n, int m, long double r)
{
  long double sum = 0;
  for (int k = 0; k <= (n - m) / 2; k++) {
    long double c = k % 2 ? -1 : 1;
    c *= tgammal(n - k + 1) / tgammal(k + 1) / tgammal((n + m) / 2 - k + 1) / tgammal((n - m) / 2 - k + 1);
    sum += c * powl(r, n - 2 * k);
  }
  return sum;
}

static double value(int norm, int n, int m, double r, double phi)
{
  long double a = m < 0 ? -m : m, z = radial(n, (int)a, r) * (m < 0 ? sinl(a * phi) : cosl(a * phi));
  long double mean = sqrtl(m ? 2 * n + 2 : n + 1);
  return (double)(norm == KUGEL_ZERNIKE_NATURAL ? z
                  : norm == KUGEL_ZERNIKE_NOLL  ? mean * z
                                                : mean * z / sqrtl(3.14159265358979323846264338327950288L));
}

static void sums(void)
{
  static const int64_t nr[] = {0, 5, 9}, nphi[] = {0, 17, 24};
  for (int nmax = 0; nmax <= 8; nmax += 1)
    for (int norm = 0; norm < 3; norm++)
      for (int order = 0; order < 2; order++)
        for (int grid = 0; grid < 3; grid++) {
          kugel_zernike_opts o = {.size = sizeof o,
                                  .norm = norm,
                                  .order = order,
                                  .nmax = nmax,
                                  .nr = nr[grid],
                                  .nphi = nphi[grid]};
          kugel_zernike *plan;
          int64_t rows = nr[grid] ? nr[grid] : nmax / 2 + 1, angles = nphi[grid] ? nphi[grid] : 2 * nmax + 2;
          double c[45], back[45], r[9], phi[24], f[9 * 24], want[9 * 24] = {0};
          uint64_t seed = 3;
          int count = (nmax + 1) * (nmax + 2) / 2;
          CHECK_OK(kugel_zernike_create(NULL, &o, &plan));
          CHECK_OK(kugel_zernike_grid(plan, r, phi));
          for (int i = 0; i < count; i++) {
            int64_t n, m, again;
            c[i] = check_random(&seed);
            CHECK_OK(kugel_zernike_nm(order, i, &n, &m));
            CHECK_OK(kugel_zernike_index(order, n, m, &again));
            CHECK(again == i && n <= nmax);
            for (int64_t k = 0; k < rows; k++)
              for (int64_t j = 0; j < angles; j++)
                want[k * angles + j] += c[i] * value(norm, (int)n, (int)m, r[k], phi[j]);
          }
          CHECK_OK(kugel_zernike_synthesis(plan, KUGEL_ARRAY(c, KUGEL_F64, count),
                                           KUGEL_ARRAY(f, KUGEL_F64, rows, angles), NULL));
          CHECK_CLOSE(f, want, (size_t)(rows * angles), 5e-15);
          CHECK_OK(kugel_zernike_analysis(plan, KUGEL_ARRAY(f, KUGEL_F64, rows, angles),
                                          KUGEL_ARRAY(back, KUGEL_F64, count), NULL));
          CHECK_CLOSE(back, c, (size_t)count, 1e-14);
          kugel_zernike_destroy(plan);
        }
}

static void orders(void)
{
  /* Noll 1976, table I: j = 1 ... 11 */
  static const int n[] = {0, 1, 1, 2, 2, 2, 3, 3, 3, 3, 4}, m[] = {0, 1, -1, 0, -2, 2, -1, 1, -3, 3, 0};
  int64_t a, b;
  for (int i = 0; i < 11; i++) {
    CHECK_OK(kugel_zernike_nm(KUGEL_ZERNIKE_BY_NOLL, i, &a, &b));
    CHECK(a == n[i] && b == m[i]);
  }
  for (int64_t i = 0; i < 100000; i += 7)
    for (int order = 0; order < 2; order++) {
      int64_t j = -1, big = i * (int64_t)1000003 * 7;
      CHECK_OK(kugel_zernike_nm(order, big, &a, &b));
      CHECK_OK(kugel_zernike_index(order, a, b, &j));
      CHECK(j == big);
    }
  CHECK_IS(kugel_zernike_index(0, 3, 2, &a), KUGEL_EINVAL);
  CHECK_IS(kugel_zernike_index(0, -1, 0, &a), KUGEL_EINVAL);
  CHECK_IS(kugel_zernike_index(2, 2, 0, &a), KUGEL_EINVAL);
  CHECK_IS(kugel_zernike_index(0, 2, 0, NULL), KUGEL_EINVAL);
  CHECK_IS(kugel_zernike_nm(0, -1, &a, &b), KUGEL_EINVAL);
  CHECK_IS(kugel_zernike_nm(0, 1, &a, NULL), KUGEL_EINVAL);
}

static double dot(const double *a, const double *b, size_t n)
{
  long double sum = 0;
  for (size_t i = 0; i < n; i++)
    sum += (long double)a[i] * b[i];
  return (double)sum;
}

/* A large plan: round trips and adjoints of batches, with more radii and angles than the fewest, and at points. */
static void large(void)
{
  enum { NMAX = 121, COUNT = (NMAX + 1) * (NMAX + 2) / 2, NR = 70, NPHI = 250, POINTS = 900, B = 3 };
  double *c = malloc(sizeof(double) * B * COUNT), *d = malloc(sizeof(double) * B * COUNT);
  double *f = malloc(sizeof(double) * B * NR * NPHI), *g = malloc(sizeof(double) * B * NR * NPHI);
  double r[POINTS], phi[POINTS], grid_r[NR], grid_phi[NPHI];
  uint64_t seed = 11;
  kugel_zernike *plan, *at;
  kugel_zernike_opts o = {.size = sizeof o, .nmax = NMAX, .nr = NR, .nphi = NPHI};
  for (int i = 0; i < B * COUNT; i++)
    c[i] = check_random(&seed);
  for (int i = 0; i < B * NR * NPHI; i++)
    g[i] = check_random(&seed);
  CHECK_OK(kugel_zernike_create(NULL, &o, &plan));
  kugel_array *coeffs = KUGEL_ARRAY(c, KUGEL_F64, B, COUNT), *out = KUGEL_ARRAY(d, KUGEL_F64, B, COUNT);
  kugel_array *values = KUGEL_ARRAY(f, KUGEL_F64, B, NR, NPHI),
              *other = KUGEL_ARRAY(g, KUGEL_F64, B, NR, NPHI);
  CHECK_OK(kugel_zernike_synthesis(plan, coeffs, values, NULL));
  CHECK_OK(kugel_zernike_analysis(plan, values, out, NULL));
  CHECK_CLOSE(d, c, B * COUNT, 1e-14);
  CHECK_OK(kugel_zernike_synthesis_adjoint(plan, other, out, NULL));
  double left = dot(f, g, B * NR * NPHI), right = dot(c, d, B * COUNT);
  CHECK_LE(fabs(left - right), 1e-14 * sqrt(dot(f, f, B * NR * NPHI) * dot(g, g, B * NR * NPHI)));
  CHECK_OK(kugel_zernike_analysis(plan, other, out, NULL));
  left = dot(c, d, B * COUNT);
  CHECK_OK(kugel_zernike_analysis_adjoint(plan, coeffs, values, NULL));
  CHECK_LE(fabs(left - dot(f, g, B * NR * NPHI)), 1e-14 * sqrt(dot(c, c, B * COUNT) * dot(d, d, B * COUNT)));
  /* points of the grid, and their adjoint */
  CHECK_OK(kugel_zernike_grid(plan, grid_r, grid_phi));
  CHECK_OK(kugel_zernike_synthesis(plan, coeffs, values, NULL));
  for (int i = 0; i < POINTS; i++) {
    r[i] = grid_r[i * 17 % NR];
    phi[i] = grid_phi[i * 31 % NPHI] - (i % 3) * 2 * M_PI;
  }
  kugel_zernike_opts q = {.size = sizeof q, .nmax = NMAX, .points = POINTS, .r = r, .phi = phi};
  CHECK_OK(kugel_zernike_create(NULL, &q, &at));
  kugel_array *there = KUGEL_ARRAY(g, KUGEL_F64, B, POINTS);
  CHECK_OK(kugel_zernike_synthesis(at, coeffs, there, NULL));
  double *want = malloc(sizeof(double) * B * POINTS);
  for (int b = 0; b < B; b++)
    for (int i = 0; i < POINTS; i++)
      want[b * POINTS + i] = f[(b * NR + i * 17 % NR) * NPHI + i * 31 % NPHI];
  CHECK_CLOSE(g, want, B * POINTS,
              1e-13); /* the angles are rounded by up to 4 pi eps, and orders are up to 121 */
  for (int i = 0; i < B * POINTS; i++)
    want[i] = check_random(&seed);
  left = dot(g, want, B * POINTS);
  double scale = sqrt(dot(g, g, B * POINTS) * dot(want, want, B * POINTS));
  CHECK_OK(kugel_zernike_synthesis_adjoint(at, KUGEL_ARRAY(want, KUGEL_F64, B, POINTS), out, NULL));
  CHECK_LE(fabs(left - dot(c, d, B * COUNT)), 1e-14 * scale);
  CHECK_IS(kugel_zernike_analysis(at, there, out, NULL), KUGEL_EINVAL);
  kugel_zernike_destroy(at);
  kugel_zernike_destroy(plan);
  free(c);
  free(d);
  free(f);
  free(g);
  free(want);
}

static void layouts(void)
{
  enum { NMAX = 12, COUNT = 91, NR = 7, NPHI = 26, B = 2 };
  double c[B * COUNT], f[B * NR * NPHI], turned[NPHI * NR * B], back[COUNT * B];
  float cf[B * COUNT], ff[B * NR * NPHI], bf[B * COUNT];
  uint64_t seed = 5;
  for (int i = 0; i < B * COUNT; i++)
    cf[i] = (float)(c[i] = (double)(float)check_random(&seed));
  kugel_zernike_opts o = {.size = sizeof o, .nmax = NMAX};
  kugel_zernike *plan, *single;
  CHECK_OK(kugel_zernike_create(NULL, &o, &plan));
  CHECK_OK(kugel_zernike_synthesis(plan, KUGEL_ARRAY(c, KUGEL_F64, B, COUNT),
                                   KUGEL_ARRAY(f, KUGEL_F64, B, NR, NPHI), NULL));
  int64_t shape[] = {B, NR, NPHI}, stride[] = {1, B, B * NR}, cshape[] = {B, COUNT}, cstride[] = {1, B};
  kugel_array view = {.data = turned,
                      .device = {KUGEL_CPU, 0},
                      .dtype = KUGEL_F64,
                      .ndim = 3,
                      .shape = shape,
                      .strides = stride};
  kugel_array coeffs = {.data = back,
                        .device = {KUGEL_CPU, 0},
                        .dtype = KUGEL_F64,
                        .ndim = 2,
                        .shape = cshape,
                        .strides = cstride};
  CHECK_OK(kugel_zernike_synthesis(plan, KUGEL_ARRAY(c, KUGEL_F64, B, COUNT), &view, NULL));
  for (int b = 0; b < B; b++)
    for (int k = 0; k < NR; k++)
      for (int j = 0; j < NPHI; j++)
        CHECK(turned[b + B * (k + NR * j)] == f[(b * NR + k) * NPHI + j]);
  CHECK_OK(kugel_zernike_analysis(plan, &view, &coeffs, NULL));
  for (int b = 0; b < B; b++)
    for (int i = 0; i < COUNT; i++)
      CHECK_LE(fabs(back[b + B * i] - c[b * COUNT + i]), 1e-14);
  o.precision = KUGEL_PRECISION_F32;
  CHECK_OK(kugel_zernike_create(NULL, &o, &single));
  CHECK_OK(kugel_zernike_synthesis(single, KUGEL_ARRAY(cf, KUGEL_F32, B, COUNT),
                                   KUGEL_ARRAY(ff, KUGEL_F32, B, NR, NPHI), NULL));
  for (int i = 0; i < B * NR * NPHI; i++)
    turned[i] = (double)ff[i];
  CHECK_CLOSE(turned, f, B * NR * NPHI, 1e-6);
  CHECK_OK(kugel_zernike_analysis(single, KUGEL_ARRAY(ff, KUGEL_F32, B, NR, NPHI),
                                  KUGEL_ARRAY(bf, KUGEL_F32, B, COUNT), NULL));
  for (int i = 0; i < B * COUNT; i++)
    back[i] = (double)bf[i];
  CHECK_CLOSE(back, c, B * COUNT, 3e-6);
  kugel_zernike_destroy(single);
  kugel_zernike_destroy(plan);
}

static kugel_status all(const kugel_zernike_opts *o)
{
  static double c[45], f[200];
  kugel_zernike *plan;
  kugel_status s = kugel_zernike_create(NULL, o, &plan);
  if (s)
    return s;
  kugel_array *coeffs = KUGEL_ARRAY(c, KUGEL_F64, 45);
  kugel_array *values = o->points ? KUGEL_ARRAY(f, KUGEL_F64, 2) : KUGEL_ARRAY(f, KUGEL_F64, 5, 18);
  s = kugel_zernike_grid(plan, f, f + 20);
  if (!s)
    s = kugel_zernike_synthesis(plan, coeffs, values, NULL);
  if (!s)
    s = kugel_zernike_synthesis_adjoint(plan, values, coeffs, NULL);
  if (!s && !o->points)
    s = kugel_zernike_analysis(plan, values, coeffs, NULL);
  if (!s && !o->points)
    s = kugel_zernike_analysis_adjoint(plan, coeffs, values, NULL);
  kugel_zernike_destroy(plan);
  return s;
}

static void sweep(void)
{
  double r[] = {0.25, 1}, phi[] = {1, -7};
  for (int points = 0; points < 2; points++) {
    kugel_zernike_opts o = {.size = sizeof o, .nmax = 8};
    if (points) {
      o.points = 2;
      o.r = r;
      o.phi = phi;
    }
    kugel_status s = KUGEL_ENOMEM;
    int k = 1;
    for (; k < 500 && s; k++) {
      kugel__fault_alloc(k);
      s = all(&o);
      kugel__fault_alloc(0);
      CHECK(!s || s == KUGEL_ENOMEM);
    }
    CHECK(!s && k > 10);
  }
}

static void refusals(void)
{
  double r[] = {0.25, 1.5}, phi[] = {1, NAN}, fine[] = {0.5, 0.5}, c[45], f[90];
  const kugel_zernike_opts good = {.size = sizeof good, .nmax = 8};
  kugel_zernike_opts o;
  kugel_zernike *plan;
#define TRY(change, word)                                                                                    \
  o = good;                                                                                                  \
  change;                                                                                                    \
  CHECK_IS(kugel_zernike_create(NULL, &o, &plan), KUGEL_EINVAL);                                             \
  CHECK(!plan && strstr(kugel_last_error(), word))
  TRY(o.nmax = -1, "nmax is -1");
  TRY(o.nmax = 5000, "0 to 4096");
  TRY(o.norm = 3, "norm is 3");
  TRY(o.order = 2, "order is 2");
  TRY(o.precision = KUGEL_PRECISION_DD, "precision is 2");
  TRY(o.nr = 4, "need 5 to 2^20 radii");
  TRY(o.nphi = 16, "need 17 to 2^24 angles");
  TRY(o.points = -1, "points is -1");
  TRY(o.points = 2, "r is NULL");
  TRY((o.r = fine), "points is 0");
  TRY((o.points = 2, o.r = r, o.phi = fine), "r[1] is 1.5");
  TRY((o.points = 2, o.r = fine, o.phi = phi), "phi[1] is");
  TRY((o.points = 2, o.r = fine, o.phi = fine, o.nr = 5), "nr and nphi are 5");
  CHECK_IS(kugel_zernike_create(NULL, NULL, &plan), KUGEL_EINVAL);
  CHECK_IS(kugel_zernike_create(NULL, &good, NULL), KUGEL_EINVAL);
  CHECK_OK(kugel_zernike_create(NULL, &good, &plan));
  CHECK_IS(
      kugel_zernike_synthesis(plan, KUGEL_ARRAY(c, KUGEL_F64, 44), KUGEL_ARRAY(f, KUGEL_F64, 5, 18), NULL),
      KUGEL_ESHAPE);
  CHECK_IS(
      kugel_zernike_synthesis(plan, KUGEL_ARRAY(c, KUGEL_F64, 45), KUGEL_ARRAY(f, KUGEL_F64, 5, 17), NULL),
      KUGEL_ESHAPE);
  CHECK_IS(
      kugel_zernike_synthesis(plan, KUGEL_ARRAY(f, KUGEL_F64, 45), KUGEL_ARRAY(f, KUGEL_F64, 5, 18), NULL),
      KUGEL_EINVAL);
  CHECK_IS(kugel_zernike_synthesis(plan, NULL, KUGEL_ARRAY(f, KUGEL_F64, 5, 18), NULL), KUGEL_EINVAL);
  CHECK_IS(kugel_zernike_synthesis(NULL, NULL, NULL, NULL), KUGEL_EINVAL);
  CHECK_IS(kugel_zernike_grid(NULL, f, f), KUGEL_EINVAL);
  kugel_zernike_destroy(plan);
  kugel_zernike_destroy(NULL);
}

int main(void)
{
  CASE("explicit sums, all norms and orders of coefficients")
  {
    sums();
  }
  CASE("indices")
  {
    orders();
  }
  CASE("round trips, adjoints and points of a large plan")
  {
    large();
  }
  CASE("strides and floats")
  {
    layouts();
  }
  CASE("bad input")
  {
    refusals();
  }
  CASE("each allocation fails once")
  {
    sweep();
  }
  END();
}
