/* SPDX-License-Identifier: BSD-3-Clause */
/* ISA: once. Grids: ring tables, quadrature exactness, pairing, bad input, allocation failures. */
#include "check.h"
#include "core/alloc.h"
#include "core/ctx.h"
#include "core/quadrature.h"
#include "sphere/grid/grid.h"

static kugel_grid *latlon(kugel_grid_kind kind, int64_t n, int64_t nphi)
{
  kugel_grid *g = NULL;
  kugel_grid_opts o = {.size = sizeof o, .kind = kind, .ntheta = n, .nphi = nphi};
  CHECK_OK(kugel_grid_create(NULL, &o, &g));
  return g;
}

// The largest |sum_i w_i P_l(cos theta_i) - 2 delta_l0| over l <= degree; w sums to 2.
static double worst_moment(const kugel_grid *g, int64_t degree)
{
  long double *p0 = calloc((size_t)g->nrings, sizeof *p0), *p1 = calloc((size_t)g->nrings, sizeof *p1);
  long double worst = 0;
  for (int64_t i = 0; i < g->nrings; i++) {
    p0[i] = 1;
    p1[i] = cosl((long double)g->theta[i]);
  }
  for (int64_t l = 0; l <= degree; l++) {
    long double sum = l == 0 ? -2 : 0;
    for (int64_t i = 0; i < g->nrings; i++) {
      sum += p0[i] * g->weight[i] * g->nphi[i] / (2 * M_PIl);
      long double next = ((2 * l + 3) * cosl((long double)g->theta[i]) * p1[i] - (l + 1) * p0[i]) / (l + 2);
      p0[i] = p1[i];
      p1[i] = next;
    }
    worst = fmaxl(worst, fabsl(sum));
  }
  free(p0);
  free(p1);
  return (double)worst;
}

int main(void)
{
  CASE("lat-lon grids integrate Legendre polynomials exactly to their degree")
  {
    for (int64_t n = 2; n <= 41; n += 3) {
      kugel_grid *g;
#define EXACT(kind, degree)                                                                                  \
  g = latlon(kind, n, 3);                                                                                    \
  CHECK_LE(worst_moment(g, degree), 2e-15);                                                                  \
  kugel_grid_destroy(g)
      EXACT(KUGEL_GRID_GAUSS, 2 * n - 1);
      EXACT(KUGEL_GRID_CLENSHAW_CURTIS, n - 1);
      EXACT(KUGEL_GRID_FEJER1, n - 1);
      EXACT(KUGEL_GRID_FEJER2, n - 1);
      EXACT(KUGEL_GRID_DRISCOLL_HEALY, n - 2);
      EXACT(KUGEL_GRID_MCEWEN_WIAUX, n - 1);
    }
  }
  CASE("Gauss-Legendre at high order")
  {
    kugel_grid *g = latlon(KUGEL_GRID_GAUSS, 700, 1);
    CHECK_LE(worst_moment(g, 1399), 1e-14);
    kugel_grid_destroy(g);
    enum { N = 100000 };
    static double theta[N], weight[N], cth[N], sth[N];
    CHECK_OK(kugel__gauss_legendre(NULL, N, theta, cth, sth, weight));
    // first zero: j_{0,1} / (n + 1/2) to O(n^-2)
    CHECK_LE(fabs(theta[0] * (N + 0.5) / 2.404825557695773 - 1), 1e-10);
    long double sum = 0, second = 0;
    for (int i = 0; i < N; i++) {
      sum += weight[i];
      second += weight[i] * cosl((long double)theta[i]) * cosl((long double)theta[i]);
      if (i)
        CHECK(theta[i] > theta[i - 1]);
    }
    CHECK_LE(fabs((double)sum - 2), 1e-14);
    CHECK_LE(fabs((double)(second - 2.0L / 3)), 1e-14);
  }
  CASE("HEALPix rings tile the sphere")
  {
    int64_t list[] = {1, 2, 3, 5, 8, 1000};
    for (int k = 0; k < 6; k++) {
      kugel_grid *g;
      kugel_grid_opts o = {.size = sizeof o, .kind = KUGEL_GRID_HEALPIX, .nside = list[k]};
      CHECK_OK(kugel_grid_create(NULL, &o, &g));
      int64_t next = 0;
      for (int64_t r = 0; r < g->nrings; r++) {
        CHECK(g->first[r] == next);
        next += g->nphi[r];
        CHECK_LE(fabs(g->cth[r] * g->cth[r] + g->sth[r] * g->sth[r] - 1), 3e-16);
      }
      CHECK(next == 12 * list[k] * list[k] && kugel_grid_npix(g) == next);
      CHECK(g->npairs == 2 * list[k]);
      CHECK(g->pairs[g->npairs - 1].south == -1 && g->pairs[0].north == 0);
      kugel_grid_destroy(g);
    }
  }
  CASE("custom rings pair up in any order; lone southern rings stay southern")
  {
    double theta[] = {2.5, M_PI - 1.0, 0.3, 1.0, M_PI / 2};
    int64_t nphi[] = {4, 6, 5, 6, 7};
    kugel_grid *g;
    kugel_grid_opts o = {.size = sizeof o, .nrings = 5, .theta = theta, .ring_nphi = nphi};
    CHECK_OK(kugel_grid_create(NULL, &o, &g));
    CHECK(g->npairs == 4 && g->npix == 28 && !g->has_weights);
    int pairs = 0;
    for (int64_t p = 0; p < g->npairs; p++) {
      pairs += g->pairs[p].north == 3 && g->pairs[p].south == 1;
      if (g->pairs[p].south == 0)
        CHECK(g->pairs[p].north == -1);
      if (p)
        CHECK(g->pairs[p].sth >= g->pairs[p - 1].sth);
    }
    CHECK(pairs == 1);
    kugel_grid_destroy(g);
  }
  CASE("bad input is named")
  {
    kugel_grid *g = NULL;
    CHECK_IS(kugel_grid_create(NULL, NULL, &g), KUGEL_EINVAL);
    kugel_grid_opts o = {.size = sizeof o, .kind = KUGEL_GRID_HEALPIX, .nside = -3};
    CHECK_IS(kugel_grid_create(NULL, &o, &g), KUGEL_EINVAL);
    CHECK(strstr(kugel_last_error(), "-3") && !g);
    o = (kugel_grid_opts){.size = sizeof o, .kind = KUGEL_GRID_GAUSS, .ntheta = 4, .nphi = 4, .phi0 = NAN};
    CHECK_IS(kugel_grid_create(NULL, &o, &g), KUGEL_EINVAL);
    o = (kugel_grid_opts){.size = sizeof o, .kind = (kugel_grid_kind)17};
    CHECK_IS(kugel_grid_create(NULL, &o, &g), KUGEL_EINVAL);
    double theta[] = {-0.1};
    int64_t nphi[] = {4};
    o = (kugel_grid_opts){.size = sizeof o, .nrings = 1, .theta = theta, .ring_nphi = nphi};
    CHECK_IS(kugel_grid_create(NULL, &o, &g), KUGEL_EINVAL);
    kugel_grid_destroy(NULL);
  }
  CASE("every allocation may fail")
  {
    kugel_grid_opts o = {.size = sizeof o, .kind = KUGEL_GRID_CLENSHAW_CURTIS, .ntheta = 9, .nphi = 4};
    for (int n = 1; n < 100; n++) {
      kugel_grid *g = NULL;
      kugel__fault_alloc(n);
      kugel_status s = kugel_grid_create(NULL, &o, &g);
      kugel__fault_alloc(0);
      kugel_grid_destroy(g);
      if (s == KUGEL_OK) {
        CHECK(n > 5);
        break;
      }
      CHECK(s == KUGEL_ENOMEM && !g);
    }
  }
  END();
}
