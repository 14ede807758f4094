/* SPDX-License-Identifier: BSD-3-Clause */
/* Smoothing of maps: analysis, multiplication by a window, synthesis, with unobserved pixels kept so. */
#include <math.h>
#include <string.h>
#include "core/alloc.h"
#include "core/array.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "sphere/alm/alm.h"
#include "sphere/grid/mapops.h"
#include "sphere/sht/sht.h"

static kugel_status check_opts(const kugel_smooth_opts *o, const kugel_array *in)
{
  KUGEL_CHECK(o->grid, KUGEL_EINVAL, "opts.grid is NULL: make one with kugel_grid_create");
  KUGEL_CHECK(o->fwhm >= 0 && isfinite(o->fwhm), KUGEL_EINVAL,
              "fwhm is %g radians, must be finite and not negative", o->fwhm);
  KUGEL_CHECK(o->n_window >= 0 && (o->n_window == 0) == (o->window == NULL), KUGEL_EINVAL,
              "n_window is %lld and window is %s: give both or none", (long long)o->n_window,
              o->window ? "set" : "NULL");
  KUGEL_CHECK(!(o->window && o->fwhm > 0), KUGEL_EINVAL, "fwhm is %g and a window is given: give one of them",
              o->fwhm);
  KUGEL_CHECK(o->spin >= 0, KUGEL_EINVAL, "spin is %d, must not be negative", o->spin);
  KUGEL_CHECK(in, KUGEL_EINVAL, "in is NULL: pass an array");
  KUGEL_CHECK(!in->ndim || in->shape, KUGEL_ESHAPE, "in has ndim %d and no shape", in->ndim);
  int64_t n = in->ndim == 2 ? in->shape[0] : 1;
  KUGEL_CHECK(o->spin == 0 ? n >= 1 : n == 2, KUGEL_ESHAPE, "in has %lld maps, must be %s", (long long)n,
              o->spin ? "2 for a spin" : "at least 1");
  return KUGEL_OK;
}

// f_l of component c (0 T, 1 E, 2 B); a Gaussian of spin s has exp(-(l(l+1) - s^2) sigma^2 / 2).
static double window(const kugel_smooth_opts *o, int c, int64_t l)
{
  if (!o->window) {
    double sigma = o->fwhm / sqrt(8 * M_LN2), s = c ? (o->spin ? o->spin : 2) : 0;
    return exp(-0.5 * ((double)l * (double)(l + 1) - s * s) * sigma * sigma);
  }
  const double *w = c == 1 && o->window_e ? o->window_e : c == 2 && o->window_b ? o->window_b : o->window;
  return l < o->n_window ? w[l] : 0;
}

static void multiply(const kugel_smooth_opts *o, const kugel_sht *p, const kugel__alms *alm, double *f)
{
  for (int c = 0; c < p->n_alm; c++) {
    for (int64_t l = 0; l <= p->lmax; l++)
      f[l] = window(o, p->n_alm == 1 ? 0 : c + 1, l);
    for (int64_t m = 0; m <= p->mmax; m++) {
      double *a = (double *)alm->data[c] + 2 * kugel__alm_offset(p->lmax, m);
      for (int64_t l = m; l <= p->lmax; l++) {
        a[2 * l] *= f[l];
        a[2 * l + 1] *= f[l];
      }
    }
  }
}

static kugel_status blank(const uint8_t *bad, int64_t npix, void *map, bool f32)
{
  for (int64_t i = 0; i < npix; i++)
    if (bad[i] && f32)
      ((float *)map)[i] = (float)KUGEL_UNSEEN;
    else if (bad[i])
      ((double *)map)[i] = KUGEL_UNSEEN;
  return KUGEL_OK;
}

// Smooths the plan's n_map maps from `in` to `out`.
static kugel_status smooth_set(const kugel_smooth_opts *o, const kugel_sht *p, const kugel_array *in,
                               int64_t index, const kugel_array *out)
{
  kugel__maps from = {.f32 = in->dtype.bits == 32}, to = from;
  int64_t bytes = p->npix * (from.f32 ? 4 : 8), shape[] = {p->n_map, p->npix};
  for (int c = 0; c < p->n_map; c++) {
    from.data[c] = (char *)kugel__array_data(in) + (index + c) * bytes;
    to.data[c] = (char *)kugel__array_data(out) + (index + c) * bytes;
  }
  uint8_t *bad = NULL;
  bool any = false;
  for (int c = 0; c < p->n_map; c++) {
    int64_t at;
    KUGEL_TRY(kugel__map_find_bad(p->ctx, p->npix, from.data[c], from.f32, &at));
    any |= at >= 0;
  }
  if (any) {
    bad = kugel__scratch_get(p->ctx, (size_t)(p->n_map * p->npix));
    KUGEL_CHECK(bad, KUGEL_ENOMEM, "no memory for a mask of %lld pixels", (long long)p->npix);
    for (int c = 0; c < p->n_map; c++)
      for (int64_t i = 0; i < p->npix; i++)
        bad[c * p->npix + i] =
            kugel__bad_pixel(from.f32 ? (double)((float *)from.data[c])[i] : ((double *)from.data[c])[i]);
  }
  double *block = kugel__scratch_get(p->ctx, (size_t)(p->n_alm * p->nalm * 16 + (p->lmax + 1) * 8));
  kugel_status s =
      block ? KUGEL_OK : KUGEL_FAIL(KUGEL_ENOMEM, "no memory for %lld coefficients", (long long)p->nalm);
  kugel__alms alm = {.f32 = false};
  for (int c = 0; c < p->n_alm; c++)
    alm.data[c] = block + 2 * c * p->nalm;
  double parts = 2 + 2 * o->iterations;
  kugel__span outer = kugel__progress_enter(0, 1 - 1 / parts);
  if (!s) {
    kugel_array maps = {
        .data = from.data[0], .device = in->device, .ndim = 2, .dtype = in->dtype, .shape = shape};
    int64_t alm_shape[] = {p->n_alm, p->nalm};
    kugel_array alms = {
        .data = block, .device = in->device, .ndim = 2, .dtype = KUGEL_C128, .shape = alm_shape};
    s = kugel_sht_analysis(p, &maps, &alms, NULL);
  }
  kugel__progress_leave(outer);
  outer = kugel__progress_enter(1 - 1 / parts, 1);
  if (!s) {
    multiply(o, p, &alm, block + 2 * p->n_alm * p->nalm);
    s = p->ops->synthesis(p, &alm, &to);
  }
  kugel__progress_leave(outer);
  for (int c = 0; c < p->n_map && bad && !s; c++)
    s = blank(bad + c * p->npix, p->npix, to.data[c], to.f32);
  kugel__scratch_put(p->ctx, block);
  kugel__scratch_put(p->ctx, bad);
  return s;
}

static kugel_status make_plan(kugel_ctx *ctx, const kugel_smooth_opts *o, int spin, kugel_sht **plan)
{
  kugel_sht_opts so = {.size = sizeof so,
                       .grid = o->grid,
                       .lmax = o->lmax,
                       .mmax = o->mmax,
                       .mode = spin ? KUGEL_SHT_SPIN : KUGEL_SHT_SCALAR,
                       .spin = spin,
                       .weights = o->weights,
                       .iterations = o->iterations,
                       .bad_pixels = KUGEL_BAD_ZERO,
                       .beyond_band_limit = o->beyond_band_limit};
  return kugel_sht_create(ctx, &so, plan);
}

kugel_status kugel_smooth(kugel_ctx *ctx, const kugel_smooth_opts *opts, const kugel_array *in,
                          const kugel_array *out, kugel_queue *queue)
{
  KUGEL_CHECK(opts, KUGEL_EINVAL, "opts is NULL: smoothing needs a grid, lmax and a beam");
  kugel_smooth_opts o;
  KUGEL_TRY(kugel__take_opts(&o, sizeof o, opts, "kugel_smooth_opts"));
  KUGEL_TRY(check_opts(&o, in));
  kugel_dtype type = kugel__dtype_is(in->dtype, KUGEL_F32) ? KUGEL_F32 : KUGEL_F64;
  int64_t npix = o.grid->npix, n = -1;
  KUGEL_TRY(kugel__array_check(in, "in", type, 1, &npix, &n));
  KUGEL_TRY(kugel__array_check(out, "out", type, 1, &npix, &n));
  if (kugel__array_data(in) != kugel__array_data(out))
    KUGEL_TRY(kugel__array_disjoint(in, "in", out, "out"));
  KUGEL_TRY(kugel__queue_join(kugel__ctx_device(ctx), queue));
  bool polarised = o.spin == 0 && n == 3;
  int64_t scalars = o.spin ? 0 : polarised ? 1 : n, sets = scalars + (o.spin || polarised ? 1 : 0);
  double pair = 2, all = (double)scalars + (sets > scalars ? pair : 0); // a pair with a spin costs as much
  kugel__span whole = kugel__progress_enter(0, 1);
  kugel_sht *scalar = NULL, *spin = NULL;
  kugel_status s = scalars ? make_plan(ctx, &o, 0, &scalar) : KUGEL_OK;
  for (int64_t i = 0; i < scalars && !s; i++) {
    kugel__span outer = kugel__progress_enter((double)i / all, (double)(i + 1) / all);
    s = smooth_set(&o, scalar, in, i, out);
    kugel__progress_leave(outer);
  }
  kugel_sht_destroy(scalar);
  if (!s && sets > scalars) {
    s = make_plan(ctx, &o, o.spin ? o.spin : 2, &spin);
    kugel__span outer = kugel__progress_enter((double)scalars / all, 1);
    if (!s)
      s = smooth_set(&o, spin, in, scalars, out);
    kugel__progress_leave(outer);
    kugel_sht_destroy(spin);
  }
  kugel__progress_leave(whole);
  return s;
}
