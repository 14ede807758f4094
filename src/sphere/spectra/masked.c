/* SPDX-License-Identifier: BSD-3-Clause */
/* Coefficients of masked maps, pure ones too. Source of purification: Smith 2006; Grain et al. 2009, with spin-weighted
 * derivatives of the mask from its coefficients. */
#include <math.h>
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "sphere/alm/alm.h"
#include "sphere/grid/mapops.h"
#include "sphere/spectra/masked.h"

static kugel_status sht(const kugel__masked *f, int64_t lmax, int spin, kugel_sht **out)
{
  return kugel_sht_create(f->ctx,
                          &(kugel_sht_opts){.size = sizeof(kugel_sht_opts),
                                            .grid = f->o->grid,
                                            .lmax = lmax,
                                            .mode = spin ? KUGEL_SHT_SPIN : KUGEL_SHT_SCALAR,
                                            .spin = spin,
                                            .weights = f->o->weights,
                                            .iterations = f->o->iterations,
                                            .bad_pixels = KUGEL_BAD_PASS},
                          out);
}

/* One analysis or synthesis of `sets` maps; lmax of the coefficients. */
static kugel_status transform(const kugel__masked *f, bool analysis, int64_t lmax, int spin, double *map,
                              kugel_complex *alm)
{
  kugel_sht *plan;
  KUGEL_TRY(sht(f, lmax, spin, &plan));
  int64_t sets = spin ? 2 : 1;
  const kugel_array *m = KUGEL_ARRAY(map, KUGEL_F64, sets, f->npix),
                    *a = KUGEL_ARRAY(alm, KUGEL_C128, sets, kugel_alm_count(lmax, KUGEL_ALL));
  kugel_status s = analysis ? kugel_sht_analysis(plan, m, a, NULL) : kugel_sht_synthesis(plan, a, m, NULL);
  kugel_sht_destroy(plan);
  return s;
}

/* alm of all sets times factor(l). */
static void multiply(int64_t lmax, int64_t sets, kugel_complex *alm, double (*factor)(double l))
{
  int64_t n = kugel_alm_count(lmax, KUGEL_ALL);
  for (int64_t i = 0; i < sets; i++)
    for (int64_t m = 0; m <= lmax; m++) {
      double *a = (double *)(alm + i * n) + 2 * kugel__alm_offset(lmax, m);
      for (int64_t l = m; l <= lmax; l++) {
        double x = factor((double)l);
        a[2 * l] *= x;
        a[2 * l + 1] *= x;
      }
    }
}

static double first_derivative(double l) /* eth of a scalar, as E of spin 1 */
{
  return -sqrt(l * (l + 1));
}
static double second_derivative(double l)
{
  return l < 2 ? 0 : sqrt((l - 1) * l * (l + 1) * (l + 2));
}
static double of_spin1(double l)
{
  return l < 2 ? 0 : 2 / sqrt((l - 1) * (l + 2));
}
static double of_spin0(double l)
{
  return l < 2 ? 0 : 1 / sqrt((l - 1) * l * (l + 1) * (l + 2));
}

/* product = conj(w) P, w the derivative of order `spin` of the mask; terms += its coefficients times factor. */
static kugel_status add_term(const kugel__masked *f, int spin, const kugel_complex *mask_alm,
                             const double *map, double *product, kugel_complex *alm, kugel_complex *sum)
{
  int64_t n = f->npix, nalm = kugel_alm_count(f->o->lmax, KUGEL_ALL),
          nmask = kugel_alm_count(f->lmax_mask, KUGEL_ALL);
  kugel_complex *derivative = kugel__scratch_get(f->ctx, 32 * (size_t)nmask);
  KUGEL_CHECK(derivative, KUGEL_ENOMEM, "no memory for %lld coefficients of the mask", (long long)nmask);
  memcpy(derivative, mask_alm, 16 * (size_t)nmask);
  memset(derivative + nmask, 0, 16 * (size_t)nmask);
  multiply(f->lmax_mask, 1, derivative, spin == 1 ? first_derivative : second_derivative);
  kugel_status s = transform(f, false, f->lmax_mask, spin, product, derivative);
  kugel__scratch_put(f->ctx, derivative);
  KUGEL_TRY(s);
  for (int64_t p = 0; p < n; p++) {
    double x = product[p], y = product[n + p];
    product[p] = x * map[p] + y * map[n + p];
    product[n + p] = x * map[n + p] - y * map[p];
  }
  if (spin == 1)
    KUGEL_TRY(transform(f, true, f->o->lmax, 1, product, alm));
  else
    for (int c = 0; c < 2; c++)
      KUGEL_TRY(transform(f, true, f->o->lmax, 0, product + c * n, alm + c * nalm));
  multiply(f->o->lmax, 2, alm, spin == 1 ? of_spin1 : of_spin0);
  for (int64_t i = 0; i < 2 * nalm; i++) {
    sum[i] += alm[i];
  }
  return KUGEL_OK;
}

/* Replaces the components of alm that are to be pure. `map` is not multiplied by the mask, and 0 where it is not used. */
static kugel_status purify(const kugel__masked *f, const double *map, kugel_complex *alm)
{
  int64_t nalm = kugel_alm_count(f->o->lmax, KUGEL_ALL), nmask = kugel_alm_count(f->lmax_mask, KUGEL_ALL);
  double *product = kugel__scratch_get(f->ctx, 16 * (size_t)f->npix);
  kugel_complex *block = kugel__scratch_get(f->ctx, 16 * (size_t)(4 * nalm + nmask));
  kugel_status s = product && block ? KUGEL_OK
                                    : KUGEL_FAIL(KUGEL_ENOMEM, "no memory for two maps of %lld pixels",
                                                 (long long)f->npix);
  if (!s) {
    kugel_complex *sum = block, *term = block + 2 * nalm, *mask_alm = block + 4 * nalm;
    memcpy(sum, alm, 32 * (size_t)nalm);
    memcpy(product, f->o->mask, 8 * (size_t)f->npix);
    s = transform(f, true, f->lmax_mask, 0, product, mask_alm);
    for (int spin = 1; spin <= 2 && !s; spin++)
      s = add_term(f, spin, mask_alm, map, product, term, sum);
    for (int c = 0; c < 2 && !s; c++)
      if (c ? f->o->pure_b : f->o->pure_e)
        memcpy(alm + c * nalm, sum + c * nalm, 16 * (size_t)nalm);
  }
  kugel__scratch_put(f->ctx, product);
  kugel__scratch_put(f->ctx, block);
  return s;
}

static kugel_status check(const kugel_masked_opts *o, const double *map, int64_t npix)
{
  KUGEL_CHECK(o->spin >= 0, KUGEL_EINVAL, "spin is %d, must not be negative", o->spin);
  KUGEL_CHECK(o->spin == 2 || !(o->pure_e || o->pure_b), KUGEL_ENOTSUP,
              "spin is %d: only fields of spin 2 can be pure", o->spin);
  KUGEL_CHECK(o->lmax_mask >= 0, KUGEL_EINVAL, "lmax_mask is %lld, must not be negative",
              (long long)o->lmax_mask);
  KUGEL_CHECK(o->iterations >= 0 && o->iterations <= 1000, KUGEL_EINVAL,
              "iterations is %d, must be 0 to 1000", o->iterations);
  KUGEL_CHECK(o->templates >= 0 && o->templates <= 1000 && (!o->templates || o->template_maps), KUGEL_EINVAL,
              "templates is %lld%s, must be 0 to 1000 with as many maps", (long long)o->templates,
              o->template_maps ? "" : " and template_maps is NULL");
  KUGEL_CHECK(o->template_cutoff >= 0 && o->template_cutoff < 1, KUGEL_EINVAL,
              "template_cutoff is %g, must be 0 to 1", o->template_cutoff);
  int64_t comps = o->spin ? 2 : 1;
  for (int64_t p = 0; p < npix; p++) {
    KUGEL_CHECK(isfinite(o->mask[p]) && !kugel__bad_pixel(o->mask[p]), KUGEL_EINVAL,
                "mask[%lld] is %g, must be finite", (long long)p, o->mask[p]);
    for (int64_t c = 0; o->mask[p] != 0 && c < comps; c++)
      KUGEL_CHECK(!kugel__bad_pixel(map[c * npix + p]), KUGEL_EINVAL,
                  "pixel %lld of map %lld is %g where the mask is %g: set the mask to 0 there", (long long)p,
                  (long long)c, map[c * npix + p], o->mask[p]);
  }
  return KUGEL_OK;
}

kugel_status kugel_masked_alm(kugel_ctx *ctx, const kugel_masked_opts *opts, const double *map,
                              kugel_complex *alm)
{
  KUGEL_CHECK(opts && map && alm, KUGEL_EINVAL, "%s is NULL", !opts ? "opts" : !map ? "map" : "alm");
  kugel_masked_opts o;
  KUGEL_TRY(kugel__take_opts(&o, sizeof o, opts, "kugel_masked_opts"));
  KUGEL_CHECK(o.grid && o.mask, KUGEL_EINVAL, "opts.%s is NULL", o.grid ? "mask" : "grid");
  int64_t npix = kugel_grid_npix(o.grid), comps = o.spin ? 2 : 1;
  KUGEL_TRY(check(&o, map, npix));
  kugel_ctx *held = kugel__ctx_retain(ctx);
  kugel__masked f = {.ctx = held, .o = &o, .npix = npix, .lmax_mask = o.lmax_mask ? o.lmax_mask : o.lmax};
  bool pure = o.pure_e || o.pure_b;
  double *block = kugel__scratch_get(held, 8 * (size_t)((pure ? 2 : 1) * comps * npix));
  kugel_status s =
      block ? KUGEL_OK : KUGEL_FAIL(KUGEL_ENOMEM, "no memory for maps of %lld pixels", (long long)npix);
  kugel__span outer = kugel__progress_enter(0, 1), part = outer;
  if (!s) {
    double *masked = block, *bare = pure ? block + comps * npix : NULL;
    for (int64_t c = 0; c < comps; c++)
      for (int64_t p = 0, i = c * npix; p < npix; p++, i++)
        masked[i] = o.mask[p] != 0 ? o.mask[p] * map[i] : 0;
    if (pure)
      for (int64_t c = 0; c < comps; c++)
        for (int64_t p = 0, i = c * npix; p < npix; p++, i++)
          bare[i] = kugel__masked_uses(&f, p) && !kugel__bad_pixel(map[i]) ? map[i] : 0;
    if (o.templates)
      s = kugel__masked_clean(&f, masked, bare);
    part = kugel__progress_enter(0, pure ? 0.2 : 1);
    if (!s)
      s = transform(&f, true, o.lmax, o.spin, masked, alm);
    kugel__progress_leave(part);
    part = kugel__progress_enter(0.2, 1);
    if (!s && pure)
      s = purify(&f, bare, alm);
    kugel__progress_leave(part);
  }
  kugel__progress_leave(outer);
  kugel__scratch_put(held, block);
  kugel_ctx_destroy(held);
  return s;
}
