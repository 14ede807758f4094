/* SPDX-License-Identifier: BSD-3-Clause */
/* Engine connection for maps with spin, T, E, B, and gradients: direct sums in long double, lmax + 1 rings, adjoints, the
 * recurrence, threads, failures. */
#include "check.h"
#include "core/alloc.h"
#include "sphere/every_grid.h"
#include "sphere/truth.h"

static const struct {
  kugel_sht_mode mode;
  int spin;
} kinds[] = {{KUGEL_SHT_SPIN, 1}, {KUGEL_SHT_SPIN, 2}, {KUGEL_SHT_SPIN, 3},
             {KUGEL_SHT_SPIN, 4}, {KUGEL_SHT_SPIN, 7}, {KUGEL_SHT_SPIN, 12},
             {KUGEL_SHT_TEB, 0},  {KUGEL_SHT_GRAD, 0}, {KUGEL_SHT_DER1, 0}};
enum { KINDS = sizeof kinds / sizeof *kinds };

typedef struct job {
  kugel_grid *grid;
  kugel_sht *plan;
  shape s;
  int64_t lmax, mmax, nalm, npix;
  double *alm, *back, *map, *other;
} job;

static kugel_sht *plan_of(kugel_ctx *ctx, const kugel_grid *grid, int kind, int64_t lmax, int64_t mmax,
                          kugel_sht_engine engine)
{
  kugel_sht *p = NULL;
  CHECK_OK(kugel_sht_create(ctx,
                            &(kugel_sht_opts){.size = sizeof(kugel_sht_opts),
                                              .grid = grid,
                                              .lmax = lmax,
                                              .mmax = mmax ? mmax : KUGEL_ONLY_M0,
                                              .mode = kinds[kind].mode,
                                              .spin = kinds[kind].spin,
                                              .engine = engine},
                            &p));
  return p;
}

static job open_job(kugel_grid *grid, int kind, int64_t lmax, int64_t mmax)
{
  job j = {.grid = grid, .s = shape_of(kinds[kind].mode, kinds[kind].spin), .lmax = lmax, .mmax = mmax};
  j.plan = plan_of(NULL, grid, kind, lmax, mmax, KUGEL_SHT_CONNECTION);
  kugel_sht_info info = {.size = sizeof info};
  CHECK_OK(kugel_sht_get_info(j.plan, &info));
  j.nalm = info.nalm;
  j.npix = info.npix;
  j.alm = random_alm(j.s.alm, lmax, mmax, j.s.lowest);
  j.back = calloc((size_t)(j.s.alm * j.nalm), 16);
  j.map = calloc((size_t)(j.s.map * j.npix), 8);
  j.other = calloc((size_t)(j.s.map * j.npix), 8);
  return j;
}

static void close_job(job *j)
{
  kugel_sht_destroy(j->plan);
  kugel_grid_destroy(j->grid);
  free(j->alm), free(j->back), free(j->map), free(j->other);
}

#define ALM(j, a) KUGEL_ARRAY(a, KUGEL_C128, (j).s.alm, (j).nalm)
#define MAP(j, f) KUGEL_ARRAY(f, KUGEL_F64, (j).s.map, (j).npix)

static void fill_map(const job *j, double *map)
{
  for (int64_t i = 0; i < j->s.map * j->npix; i++)
    map[i] = check_random(&seed);
}

/* Synthesis against direct sums; the adjoint by inner products, of random coefficients below the spin too. */
static void check_sums(job *j, int kind)
{
  int64_t nrings = kugel_grid_nrings(j->grid);
  double *theta = malloc((size_t)nrings * 8), *phi0 = malloc((size_t)nrings * 8);
  double *want = calloc((size_t)(j->s.map * j->npix), 8);
  int64_t *nphi = malloc((size_t)nrings * 8), *first = malloc((size_t)nrings * 8);
  CHECK_OK(kugel_grid_rings(j->grid, theta, nphi, phi0, first, NULL));
  CHECK_OK(kugel_sht_synthesis(j->plan, ALM(*j, j->alm), MAP(*j, j->map), NULL));
  for (int64_t r = 0; r < nrings; r++)
    for (int64_t i = 0; i < nphi[r]; i++) {
      double v[3];
      truth(kinds[kind].mode, kinds[kind].spin, j->lmax, j->mmax, j->alm, j->nalm, theta[r],
            phi0[r] + 2 * M_PI * (double)i / (double)nphi[r], v);
      for (int c = 0; c < j->s.map; c++)
        want[c * j->npix + first[r] + i] = v[c];
    }
  CHECK_LE(check_l2(j->map, want, (size_t)(j->s.map * j->npix)), 5e-15);
  fill_map(j, j->other);
  CHECK_OK(kugel_sht_synthesis_adjoint(j->plan, MAP(*j, j->other), ALM(*j, j->back), NULL));
  int64_t n = j->s.map * j->npix;
  double left = dot(n, j->map, j->other), right = alm_dot(j->s.alm, j->nalm, j->lmax, j->alm, j->back);
  CHECK_LE(fabs(left - right), 1e-14 * sqrt(dot(n, j->map, j->map) * dot(n, j->other, j->other)));
  for (int c = 0; c < j->s.alm; c++)
    for (int64_t m = 0; m <= j->mmax; m++)
      for (int64_t l = m; l < j->s.lowest[c] && l <= j->lmax; l++)
        CHECK(j->back[2 * (c * j->nalm + m * (2 * j->lmax + 1 - m) / 2 + l)] == 0);
  free(theta), free(phi0), free(want), free(nphi), free(first);
}

static double round_trip(job *j)
{
  CHECK_OK(kugel_sht_synthesis(j->plan, ALM(*j, j->alm), MAP(*j, j->map), NULL));
  CHECK_OK(kugel_sht_analysis(j->plan, MAP(*j, j->map), ALM(*j, j->back), NULL));
  return check_l2(j->back, j->alm, (size_t)(2 * j->s.alm * j->nalm));
}

static bool analyses(int kind)
{
  return kinds[kind].mode == KUGEL_SHT_SPIN || kinds[kind].mode == KUGEL_SHT_TEB;
}

static kugel_grid *fejer(int64_t n, int64_t mmax)
{
  return grid_of(KUGEL_GRID_FEJER1, n, 2 * mmax + 1, 0.3);
}

int main(void)
{
  CASE("lmax + 1 rings and more: sums in long double, every coefficient comes back")
  {
    static const int64_t lmax[] = {0, 1, 2, 3, 7, 21};
    for (int kind = 0; kind < KINDS; kind++)
      for (int i = 0; i < 6; i++)
        for (int64_t n = lmax[i] + 1; n <= lmax[i] + 2; n++)
          for (int64_t mmax = 0; mmax <= lmax[i]; mmax += 1 + lmax[i] / 2) {
            job j = open_job(fejer(n, mmax), kind, lmax[i], mmax);
            check_sums(&j, kind);
            if (analyses(kind))
              CHECK_LE(round_trip(&j), 5e-15);
            close_job(&j);
          }
  }
  CASE("other grids: sums in long double")
  {
    static const kugel_grid_kind grids[] = {KUGEL_GRID_HEALPIX, KUGEL_GRID_GAUSS, KUGEL_GRID_CLENSHAW_CURTIS,
                                            KUGEL_GRID_MCEWEN_WIAUX};
    for (int kind = 0; kind < KINDS; kind += 2)
      for (size_t i = 0; i < sizeof grids / sizeof *grids; i++) {
        job j = open_job(grid_of(grids[i], 8, 40, 0.1), kind, 13, 13);
        check_sums(&j, kind);
        close_job(&j);
      }
  }
  CASE("lmax = 255: all coefficients come back, and the recurrence agrees within its own error")
  {
    for (int kind = 1; kind < KINDS; kind += 5) {
      job j = open_job(fejer(256, 255), kind, 255, 255);
      CHECK_LE(round_trip(&j), 5e-15);
      kugel_sht *other = plan_of(NULL, j.grid, kind, 255, 255, KUGEL_SHT_RECURRENCE);
      CHECK_OK(kugel_sht_synthesis(other, ALM(j, j.alm), MAP(j, j.other), NULL));
      CHECK_LE(check_l2(j.other, j.map, (size_t)(j.s.map * j.npix)), 2e-12);
      kugel_sht_destroy(other);
      close_job(&j);
    }
  }
  CASE("the adjoint of analysis is its transpose, for any map; threads")
  {
    kugel_ctx *ctx = NULL;
    CHECK_OK(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .threads = 3}, &ctx));
    for (int kind = 0; kind < KINDS; kind++) {
      if (!analyses(kind))
        continue;
      job j = open_job(fejer(20, 19), kind, 19, 19);
      double *same = calloc((size_t)(j.s.alm * j.nalm), 16);
      fill_map(&j, j.map);
      CHECK_OK(kugel_sht_analysis(j.plan, MAP(j, j.map), ALM(j, j.back), NULL));
      CHECK_OK(kugel_sht_analysis_adjoint(j.plan, ALM(j, j.alm), MAP(j, j.other), NULL));
      double left = alm_dot(j.s.alm, j.nalm, 19, j.alm, j.back);
      double norm = alm_dot(j.s.alm, j.nalm, 19, j.alm, j.alm) * alm_dot(j.s.alm, j.nalm, 19, j.back, j.back);
      CHECK_LE(fabs(left - dot(j.s.map * j.npix, j.map, j.other)), 1e-14 * sqrt(norm));
      kugel_sht *three = plan_of(ctx, j.grid, kind, 19, 19, KUGEL_SHT_CONNECTION);
      CHECK_OK(kugel_sht_analysis(three, MAP(j, j.map), ALM(j, same), NULL));
      CHECK(!memcmp(same, j.back, (size_t)(j.s.alm * j.nalm) * 16));
      kugel_sht_destroy(three);
      free(same);
      close_job(&j);
    }
    kugel_ctx_destroy(ctx);
  }
  CASE("options")
  {
    kugel_sht *p = NULL;
    kugel_grid *g = fejer(4, 3);
    kugel_sht_opts o = {.size = sizeof o, .grid = g, .lmax = 3, .mode = KUGEL_SHT_SPIN, .spin = 33};
    o.engine = KUGEL_SHT_CONNECTION;
    CHECK_IS(kugel_sht_create(NULL, &o, &p), KUGEL_ENOTSUP);
    CHECK(strstr(kugel_last_error(), "spins to 32, and spin is 33"));
    kugel_grid_destroy(g);
  }
  CASE("every allocation may fail")
  {
    for (int kind = 5; kind < 7; kind++) {
      job j = open_job(fejer(13, 12), kind, 12, 12);
      int64_t n = 0;
      kugel_status s = KUGEL_ENOMEM;
      while (s && n++ < 1000) {
        kugel_sht *p = NULL;
        kugel_sht_opts o = {.size = sizeof o, .grid = j.grid, .lmax = 12, .engine = KUGEL_SHT_CONNECTION};
        o.mode = kinds[kind].mode;
        o.spin = kinds[kind].spin;
        kugel__fault_alloc(n);
        s = kugel_sht_create(NULL, &o, &p);
        if (!s)
          s = kugel_sht_analysis(p, MAP(j, j.map), ALM(j, j.back), NULL);
        if (!s)
          s = kugel_sht_synthesis(p, ALM(j, j.alm), MAP(j, j.other), NULL);
        kugel__fault_alloc(0);
        kugel_sht_destroy(p);
        CHECK(s == KUGEL_OK || s == KUGEL_ENOMEM);
      }
      CHECK(n > 10 && n < 1000);
      close_job(&j);
    }
  }
  END();
}
