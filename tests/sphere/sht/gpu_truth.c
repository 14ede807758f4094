/* SPDX-License-Identifier: BSD-3-Clause */
/* ISA: once, LABEL: long. Transforms on every device against direct sums in long double: each mode, HEALPix and Gauss-Legendre
 * grids; the values of a synthesis at some pixels, its adjoint by its products with the same sums, and the way
 * there and back. With an argument: at that lmax. */
#include "device/every.h"
#include "sphere/info.h"
#include "sphere/truth.h"

enum { SAMPLES = 12 };

typedef struct subject {
  kugel_sht *plan;
  kugel_sht_mode mode;
  int spin;
  shape s;
  int64_t lmax, nalm, npix, pixel[SAMPLES];
  double *alm, *map, want[SAMPLES][3];
} subject;

static kugel_grid *grid_of(kugel_grid_kind kind, int64_t lmax)
{
  kugel_grid *g = NULL;
  kugel_grid_opts o = {.size = sizeof o, .kind = kind, .phi0 = 0.2};
  o.nside = (lmax + 1) / 2;
  o.ntheta = lmax + 1;
  o.nphi = 2 * lmax + 2;
  CHECK_OK(kugel_grid_create(NULL, &o, &g));
  return g;
}

/* Pixels of rings from pole to pole, and the sums there. */
static void sample(subject *t, const kugel_grid *g)
{
  int64_t nrings = kugel_grid_nrings(g), *nphi = malloc((size_t)nrings * 8),
          *first = malloc((size_t)nrings * 8);
  double *theta = malloc((size_t)nrings * 8), *phi0 = malloc((size_t)nrings * 8);
  CHECK_OK(kugel_grid_rings(g, theta, nphi, phi0, first, NULL));
  for (int i = 0; i < SAMPLES; i++) {
    int64_t r = i * (nrings - 1) / (SAMPLES - 1), j = (7 * i + 3) % nphi[r];
    t->pixel[i] = first[r] + j;
    truth(t->mode, t->spin, t->lmax, t->lmax, t->alm, t->nalm, theta[r],
          phi0[r] + 2 * M_PI * (double)j / (double)nphi[r], t->want[i]);
  }
  free(nphi), free(first), free(theta), free(phi0);
}

/* The largest error of the samples by the rms of the map. */
static void check_synthesis(subject *t, double bound)
{
  double worst = 0, rms = sqrt(dot(t->s.map * t->npix, t->map, t->map) / (double)(t->s.map * t->npix));
  for (int i = 0; i < SAMPLES; i++)
    for (int c = 0; c < t->s.map; c++) {
      double e = fabs(t->map[c * t->npix + t->pixel[i]] - t->want[i][c]);
      worst = e <= worst ? worst : e;
    }
  printf("  mode %d spin %d lmax %lld: synthesis %.1e,", (int)t->mode, t->spin, (long long)t->lmax,
         worst / rms);
  CHECK_LE(worst / rms, bound);
}

/* Of a map that is zero but at the samples: <S^T f, a> is the sum of f times the values of S a there. */
static void check_adjoint(subject *t, double bound)
{
  double *f = calloc((size_t)(t->s.map * t->npix), 8), *back = malloc((size_t)(t->s.alm * t->nalm) * 16);
  long double want = 0, size = 0;
  for (int i = 0; i < SAMPLES; i++)
    for (int c = 0; c < t->s.map; c++) {
      double v = check_random(&seed);
      f[c * t->npix + t->pixel[i]] = v;
      want += (long double)v * t->want[i][c];
      size += fabsl((long double)v * t->want[i][c]);
    }
  CHECK_OK(kugel_sht_synthesis_adjoint(t->plan, KUGEL_ARRAY(f, KUGEL_F64, t->s.map, t->npix),
                                       KUGEL_ARRAY(back, KUGEL_C128, t->s.alm, t->nalm), NULL));
  double error = fabs(alm_dot(t->s.alm, t->nalm, t->lmax, t->alm, back) - (double)want) / (double)size;
  printf(" adjoint %.1e", error);
  CHECK_LE(error, bound);
  free(f), free(back);
}

static void check_back(subject *t)
{
  double *back = malloc((size_t)(t->s.alm * t->nalm) * 16);
  CHECK_OK(kugel_sht_analysis(t->plan, KUGEL_ARRAY(t->map, KUGEL_F64, t->s.map, t->npix),
                              KUGEL_ARRAY(back, KUGEL_C128, t->s.alm, t->nalm), NULL));
  double error = check_l2(back, t->alm, (size_t)(2 * t->s.alm * t->nalm));
  printf(", there and back %.1e", error);
  CHECK_LE(error, 3e-14 * sqrt(fmax((double)t->lmax, 100) / 100));
  free(back);
}

static void check_mode(kugel_ctx *ctx, kugel_grid_kind kind, int64_t lmax, kugel_sht_mode mode, int spin)
{
  kugel_grid *g = grid_of(kind, lmax);
  subject t = {.mode = mode, .spin = spin, .s = shape_of(mode, spin), .lmax = lmax};
  kugel_sht_opts o = {.size = sizeof o, .grid = g, .lmax = lmax, .mode = mode, .spin = spin};
  CHECK_OK(kugel_sht_create(ctx, &o, &t.plan));
  if (t.plan) {
    // one value is ten times the promised rms at the very most
    double bound = 10 * (1e-14 + 1e-13 * sqrt((double)lmax / 100));
    CHECK_OK(sht_shape(t.plan, &t.nalm, &t.npix, NULL, NULL));
    t.alm = random_alm(t.s.alm, lmax, lmax, t.s.lowest);
    t.map = calloc((size_t)(t.s.map * t.npix), 8);
    sample(&t, g);
    CHECK_OK(kugel_sht_synthesis(t.plan, KUGEL_ARRAY(t.alm, KUGEL_C128, t.s.alm, t.nalm),
                                 KUGEL_ARRAY(t.map, KUGEL_F64, t.s.map, t.npix), NULL));
    check_synthesis(&t, bound);
    check_adjoint(&t, bound);
    if (kind == KUGEL_GRID_GAUSS && mode <= KUGEL_SHT_TEB)
      check_back(&t);
    printf("\n");
    free(t.alm), free(t.map);
  }
  kugel_sht_destroy(t.plan);
  kugel_grid_destroy(g);
}

int main(int argc, char **argv)
{
  static const struct {
    kugel_sht_mode mode;
    int spin;
  } modes[] = {{KUGEL_SHT_SCALAR, 0}, {KUGEL_SHT_SPIN, 1}, {KUGEL_SHT_SPIN, 2},
               {KUGEL_SHT_TEB, 0},    {KUGEL_SHT_GRAD, 0}, {KUGEL_SHT_DER1, 0}};
  kugel_device_info info;
  for (int index = 0; every_device(&index, true, &info);) {
    kugel_ctx *ctx = NULL;
    CHECK_OK(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = info.name}, &ctx));
    CASE(every_title(&info, "every mode against direct sums"))
    for (size_t k = 0; ctx && k < sizeof modes / sizeof *modes; k++) {
      int64_t lmax = argc > 1 ? atoll(argv[1]) : 127;
      check_mode(ctx, KUGEL_GRID_HEALPIX, lmax, modes[k].mode, modes[k].spin);
      check_mode(ctx, KUGEL_GRID_GAUSS, lmax - 30, modes[k].mode, modes[k].spin);
    }
    kugel_ctx_destroy(ctx);
  }
  END();
}
