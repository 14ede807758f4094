/* SPDX-License-Identifier: BSD-3-Clause */
/* Spectra of masked maps: bad input, and each allocation failing in turn. ISA: once */
#include "check.h"
#include "core/alloc.h"
#include <kugel/kugel.h>

enum { NSIDE = 4, NPIX = 12 * NSIDE * NSIDE, L = 6, NALM = (L + 1) * (L + 2) / 2 };

#define REFUSES(expr, word)                                                                                  \
  do {                                                                                                       \
    CHECK_IS(expr, KUGEL_EINVAL);                                                                            \
    if (!strstr(kugel_last_error(), word))                                                                   \
      CHECK_FAIL("'%s' does not say '%s'", kugel_last_error(), word);                                        \
  } while (0)
static void sweep(kugel_status (*call)(void))
{
  kugel_status s = KUGEL_ENOMEM;
  for (int k = 1; k < 3000 && s; k++) {
    kugel__fault_alloc(k);
    s = call();
    kugel__fault_alloc(0);
    CHECK(!s || s == KUGEL_ENOMEM);
  }
  CHECK(!s);
}

static double map[2 * NPIX], mask[NPIX], t[2 * NPIX], out[NPIX], w[2 * L + 1] = {4 * M_PI, 0.1, 0.3};
static int32_t band[L + 1] = {-1, -1, 0, 0, 1, 1, 2};
static kugel_complex alm[2 * NALM];
static kugel_grid *grid;

static kugel_spectra_opts good(void)
{
  return (kugel_spectra_opts){.size = sizeof(kugel_spectra_opts),
                              .lmax = L,
                              .lmax_mask = 2 * L,
                              .spin1 = 2,
                              .spin2 = 2,
                              .mask_cl = w,
                              .bands = 3,
                              .band = band};
}

static kugel_status all(void)
{
  static double cl[4 * (L + 1)], c[4 * (L + 1)], b[12], windows[12 * 4 * (L + 1)], cov[144];
  kugel_spectra_opts o = good();
  kugel_spectra *p;
  kugel_spectra_info info = {.size = sizeof info};
  kugel_status s = kugel_spectra_create(NULL, &o, &p);
  if (s)
    return s;
  cl[3] = 1;
  kugel_covariance_opts co = {.size = sizeof co,
                              .lmax_mask = 2 * L,
                              .mask_ac_bd = w,
                              .mask_ad_bc = w,
                              .cl_ac = cl,
                              .cl_ad = cl,
                              .cl_bc = cl,
                              .cl_bd = cl};
  s = kugel_spectra_get_info(p, &info);
  if (!s)
    s = kugel_spectra_couple(p, cl, c);
  if (!s)
    s = kugel_spectra_decouple(p, c, NULL, b);
  if (!s)
    s = kugel_spectra_windows(p, windows);
  if (!s)
    s = kugel_spectra_covariance(p, p, &co, cov);
  kugel_spectra_destroy(p);
  return s;
}

static kugel_status masked(void)
{
  kugel_masked_opts o = {.size = sizeof o,
                         .grid = grid,
                         .lmax = L,
                         .spin = 2,
                         .mask = mask,
                         .pure_b = 1,
                         .templates = 1,
                         .template_maps = t};
  return kugel_masked_alm(NULL, &o, map, alm);
}

static kugel_status window(void)
{
  kugel_apodise_opts a = {.size = sizeof a, .nside = NSIDE, .kind = KUGEL_APODISE_GAUSS, .radius = 0.2};
  return kugel_apodise(NULL, &a, mask, out);
}

static kugel_status distance(void)
{
  return kugel_mask_distance(NULL, NSIDE, 1, mask, out);
}

static kugel_status coupling(void)
{
  static double xi[4 * (L + 1) * (L + 1)];
  kugel_coupling_opts c = {
      .size = sizeof c, .lmax = L, .lmax_mask = L, .spin1 = 2, .spin2 = 2, .families = 15, .mask_cl = w};
  kugel_status s = kugel_coupling(NULL, &c, xi);
  return s ? s
           : kugel_couplings(NULL, &c, KUGEL_ARRAY(w, KUGEL_F64, 1, L + 1),
                             KUGEL_ARRAY(xi, KUGEL_F64, 1, 4, L + 1, L + 1), NULL);
}

static kugel_status table(void)
{
  const char *names[] = {"TT"};
  double v[] = {1, 2, 3}, *values[] = {v};
  kugel_bandpowers_opts o = {.size = sizeof o,
                             .overwrite = 1,
                             .lmax = L,
                             .bands = 3,
                             .band = band,
                             .spectra = 1,
                             .names = names,
                             .values = (const double *const *)values};
  return kugel_bandpowers_write(NULL, "spectra_faults.csv", &o);
}

static void sweeps(void)
{
  sweep(table);
  remove("spectra_faults.csv");
  sweep(all);
  sweep(masked);
  sweep(window);
  sweep(distance);
  sweep(coupling);
}

static void spectra_options(void)
{
  double nan[2 * L + 1] = {1, NAN}, zero[2 * L + 1] = {0}, negative[L + 1] = {1, 1, -1};
  int32_t low[L + 1] = {-1, -1, 0, 0, 2, 2, 2}, wild[L + 1] = {0, 1, 2, 3, 0, 0, 0},
                  monopole[L + 1] = {0, 0, 1, 1, 1, 2, 2};
  kugel_spectra *p;
  kugel_spectra_opts o;
#define TRY(change, word)                                                                                    \
  o = good();                                                                                                \
  change;                                                                                                    \
  REFUSES(kugel_spectra_create(NULL, &o, &p), word);                                                         \
  CHECK(!p)
  TRY(o.lmax = -1, "lmax is -1");
  TRY(o.lmax_mask = -2, "lmax_mask is -2");
  TRY(o.spin1 = 6, "spin1 is 6");
  TRY(o.mask_cl = NULL, "mask_cl is NULL");
  TRY(o.mask_cl = nan, "mask_cl[1] is nan");
  TRY(o.mask_cl = zero, "mask_cl is zero");
  TRY(o.bands = 0, "bands is 0");
  TRY(o.bands = L + 2, "bands is 8");
  TRY(o.band = NULL, "band is NULL");
  TRY(o.band = low, "band 1 has no degree");
  TRY(o.band = wild, "band[3] is 3");
  TRY(o.band = monopole, "band 0 (degrees 0 to 1)");
  TRY(o.weight = negative, "weight[2] is -1");
  TRY(o.factor = negative, "factor[2] is -1");
  TRY(o.beam1 = nan, "beam1[1] is nan");
  TRY(o.beam2 = zero, "band 0 (degrees 2 to 3)");
  TRY((o.spin1 = 0, o.pure_b1 = 1), "only fields of spin 2");
  REFUSES(kugel_spectra_create(NULL, NULL, &p), "opts is NULL");
  REFUSES(kugel_spectra_create(NULL, &o, NULL), "out is NULL");
#undef TRY
  kugel_coupling_opts c = {.size = sizeof c, .lmax = L, .lmax_mask = L, .mask_cl = w};
  REFUSES(kugel_coupling(NULL, &c, out), "families is 0");
  c.families = 16;
  REFUSES(kugel_coupling(NULL, &c, out), "families is 16");
  REFUSES(kugel_coupling(NULL, &c, NULL), "xi is NULL");
  c.families = 1;
  REFUSES(kugel_couplings(NULL, &c, NULL, NULL, NULL), "mask_cl is NULL");
  REFUSES(kugel_couplings(NULL, NULL, NULL, NULL, NULL), "opts is NULL");
}

static void covariance_options(void)
{
  double cl[4 * (L + 1)] = {0}, nan[4 * (L + 1)] = {NAN}, c[144];
  kugel_spectra_opts o = good();
  kugel_spectra *p, *q;
  CHECK_OK(kugel_spectra_create(NULL, &o, &p));
  o.lmax = L - 1;
  o.bands = 2;
  CHECK_OK(kugel_spectra_create(NULL, &o, &q));
  kugel_covariance_opts co = {.size = sizeof co,
                              .lmax_mask = 2 * L,
                              .mask_ac_bd = w,
                              .mask_ad_bc = w,
                              .cl_ac = cl,
                              .cl_ad = cl,
                              .cl_bc = cl,
                              .cl_bd = cl};
  REFUSES(kugel_spectra_covariance(p, q, &co, c), "first has lmax 6 and second 5");
  co.cl_bc = nan;
  REFUSES(kugel_spectra_covariance(p, p, &co, c), "cl_bc[0] is nan");
  co.cl_bd = NULL;
  co.cl_bc = cl;
  REFUSES(kugel_spectra_covariance(p, p, &co, c), "cl_bd is NULL");
  REFUSES(kugel_spectra_couple(p, cl, cl), "out is cl");
  kugel_spectra_destroy(p);
  kugel_spectra_destroy(q);
}

static void mask_options(void)
{
  kugel_apodise_opts a = {.size = sizeof a, .nside = NSIDE, .radius = 0};
  REFUSES(kugel_apodise(NULL, &a, mask, out), "radius is 0");
  a.radius = 1;
  a.kind = 3;
  REFUSES(kugel_apodise(NULL, &a, mask, out), "kind is 3");
  a.kind = 0;
  a.nside = 6;
  REFUSES(kugel_apodise(NULL, &a, mask, out), "nside is 6");
  REFUSES(kugel_mask_distance(NULL, NSIDE, 0, mask, out), "limit is 0");
  double keep = mask[5];
  mask[5] = INFINITY;
  REFUSES(kugel_mask_distance(NULL, NSIDE, 1, mask, out), "mask[5] is inf");
  mask[5] = keep;
  kugel_masked_opts m = {.size = sizeof m, .grid = grid, .lmax = L, .mask = mask};
  map[7] = KUGEL_UNSEEN;
  REFUSES(kugel_masked_alm(NULL, &m, map, alm), "pixel 7 of map 0");
  double was = mask[7];
  mask[7] = 0;
  CHECK_OK(kugel_masked_alm(NULL, &m, map, alm));
  mask[7] = was;
  map[7] = 1;
  m.pure_e = 1;
  CHECK_IS(kugel_masked_alm(NULL, &m, map, alm), KUGEL_ENOTSUP);
  m.pure_e = 0;
  m.templates = 1;
  REFUSES(kugel_masked_alm(NULL, &m, map, alm), "template_maps is NULL");
  t[3] = NAN;
  m.template_maps = t;
  REFUSES(kugel_masked_alm(NULL, &m, map, alm), "pixel 3 of template 0");
  t[3] = 0;
  m.templates = 0;
  m.mask = NULL;
  REFUSES(kugel_masked_alm(NULL, &m, map, alm), "mask is NULL");
}

int main(void)
{
  uint64_t seed = 1;
  for (int i = 0; i < 2 * NPIX; i++) {
    map[i] = check_random(&seed);
    t[i] = check_random(&seed);
  }
  for (int i = 0; i < NPIX; i++)
    mask[i] = i < NPIX / 2 ? 1 : 0;
  CHECK_OK(kugel_grid_create(
      NULL, &(kugel_grid_opts){.size = sizeof(kugel_grid_opts), .kind = KUGEL_GRID_HEALPIX, .nside = NSIDE},
      &grid));
  CASE("failing allocations") sweeps();
  CASE("options of bandpowers and couplings") spectra_options();
  CASE("options of covariances") covariance_options();
  CASE("options of masks and fields") mask_options();
  kugel_grid_destroy(grid);
  END();
}
