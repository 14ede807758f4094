/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans of regridding. */
#include <math.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "sphere/sht/regrid.h"

static kugel_status check_opts(kugel_regrid_opts *o)
{
  KUGEL_CHECK(o->from && o->to, KUGEL_EINVAL, "opts.%s is NULL: make a grid with kugel_grid_create",
              o->from ? "to" : "from");
  KUGEL_CHECK(o->from->has_weights, KUGEL_ENOTSUP,
              "the grid regridded from has no quadrature weights: give ring_weight");
  KUGEL_CHECK(o->spin >= 0, KUGEL_EINVAL, "spin is %d, must not be negative", o->spin);
  KUGEL_CHECK(o->fwhm >= 0 && isfinite(o->fwhm), KUGEL_EINVAL,
              "fwhm is %g radians, must be finite and not negative", o->fwhm);
  KUGEL_CHECK(o->n_window >= 0 && (o->n_window == 0) == (o->window == NULL), KUGEL_EINVAL,
              "n_window is %lld and window is %s: give both or none", (long long)o->n_window,
              o->window ? "set" : "NULL");
  KUGEL_CHECK(!(o->window && o->fwhm > 0), KUGEL_EINVAL, "fwhm is %g and a window is given: give one of them",
              o->fwhm);
  KUGEL_CHECK(o->least_good >= 0 && o->least_good <= 1, KUGEL_EINVAL, "least_good is %g, must be 0 to 1",
              o->least_good);
  KUGEL_CHECK(!(o->least_good > 0) || o->bad_pixels == KUGEL_BAD_ZERO, KUGEL_EINVAL,
              "least_good is %g: it needs bad_pixels to be KUGEL_BAD_ZERO", o->least_good);
  if (o->lmax == 0) {
    int64_t a = kugel_grid_lmax(o->from), b = kugel_grid_lmax(o->to);
    KUGEL_CHECK(a >= 0 && b >= 0, KUGEL_EINVAL, "lmax is 0: with a custom grid it must be given");
    o->lmax = kugel__min(a, b);
  }
  return KUGEL_OK;
}

// f_l; a Gaussian of spin s has exp(-(l(l+1) - s^2) sigma^2 / 2).
static kugel_status make_window(kugel_regrid *p)
{
  const kugel_regrid_opts *o = &p->opts;
  if (!o->window && !(o->fwhm > 0))
    return KUGEL_OK;
  KUGEL_ALLOC(p->ctx, p->window, (size_t)(o->lmax + 1) * 8);
  double sigma = o->fwhm / sqrt(8 * M_LN2), spin = o->spin;
  for (int64_t l = 0; l <= o->lmax; l++)
    p->window[l] = !o->window        ? exp(-0.5 * ((double)l * (double)(l + 1) - spin * spin) * sigma * sigma)
                   : l < o->n_window ? o->window[l]
                                     : 0;
  return KUGEL_OK;
}

static kugel_status make_sht(const kugel_regrid *p, const kugel_grid *grid, int spin, kugel_sht **out)
{
  const kugel_regrid_opts *o = &p->opts;
  kugel_sht_opts so = {.size = sizeof so,
                       .grid = grid,
                       .lmax = o->lmax,
                       .mode = spin ? KUGEL_SHT_SPIN : KUGEL_SHT_SCALAR,
                       .spin = spin,
                       .bad_pixels = o->bad_pixels,
                       .beyond_band_limit = o->beyond_band_limit};
  if (grid == o->from) {
    so.weights = o->weights;
    so.iterations = o->iterations;
  }
  return kugel_sht_create(p->ctx, &so, out);
}

static kugel_status make_plans(kugel_regrid *p)
{
  const kugel_regrid_opts *o = &p->opts;
  KUGEL_TRY(make_sht(p, o->from, o->spin, &p->from));
  KUGEL_TRY(kugel__sht_check_band(p->from));
  KUGEL_TRY(make_sht(p, o->to, o->spin, &p->to));
  if (!(o->least_good > 0))
    return KUGEL_OK;
  p->mask_from = p->from;
  p->mask_to = p->to;
  if (!o->spin)
    return KUGEL_OK;
  p->mask_from = p->mask_to = NULL;
  KUGEL_TRY(make_sht(p, o->from, 0, &p->mask_from));
  return make_sht(p, o->to, 0, &p->mask_to);
}

kugel_status kugel_regrid_create(kugel_ctx *ctx, const kugel_regrid_opts *opts, kugel_regrid **out)
{
  KUGEL_CHECK(out, KUGEL_EINVAL, "out is NULL: pass where to put the plan");
  *out = NULL;
  KUGEL_CHECK(opts, KUGEL_EINVAL, "opts is NULL: regridding needs two grids");
  kugel_regrid_opts o;
  KUGEL_TRY(kugel__take_opts(&o, sizeof o, opts, "kugel_regrid_opts"));
  KUGEL_TRY(check_opts(&o));
  kugel_regrid *p = kugel__calloc(ctx, sizeof *p);
  KUGEL_CHECK(p, KUGEL_ENOMEM, "no memory for a plan");
  p->ctx = kugel__ctx_retain(ctx);
  p->opts = o;
  kugel_status s = make_plans(p);
  if (!s)
    s = make_window(p);
  if (!s)
    s = kugel__regrid_gpu_create(p);
  p->opts.window = NULL; // the caller's
  if (s) {
    kugel_regrid_destroy(p);
    return s;
  }
  *out = p;
  return KUGEL_OK;
}

void kugel_regrid_destroy(kugel_regrid *p)
{
  if (!p)
    return;
  kugel_ctx *ctx = p->ctx;
  if (p->mask_from != p->from)
    kugel_sht_destroy(p->mask_from);
  if (p->mask_to != p->to)
    kugel_sht_destroy(p->mask_to);
  kugel_sht_destroy(p->from);
  kugel_sht_destroy(p->to);
  kugel__regrid_gpu_destroy(p);
  kugel__free(ctx, p->window);
  kugel__free(ctx, p);
  kugel_ctx_destroy(ctx);
}

kugel_status kugel_regrid_get_info(const kugel_regrid *p, kugel_regrid_info *info)
{
  KUGEL_CHECK(p && info, KUGEL_EINVAL, "%s is NULL: pass a plan, and where to put its numbers",
              p ? "info" : "plan");
  kugel_regrid_info own = {
      .size = sizeof own, .lmax = p->opts.lmax, .npix_in = p->from->npix, .npix_out = p->to->npix};
  return kugel__give_info(info, &own, sizeof own, "kugel_regrid_info");
}
