/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans of radial convolution: checks, choice of the method. */
#include <math.h>
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "device/device.h"
#include "sphere/grid/grid.h"
#include "sphere/radial/radial.h"
#include "sphere/radial/blocks_gpu.h"
#include "sphere/radial/gpu.h"
#include "sphere/radial/spectra.h"
#include "sphere/sht/sht.h"

static kugel_status check_table(const kugel_radial_opts *o)
{
  bool table = o->kernel == KUGEL_RADIAL_TABLE;
  int64_t least = table ? 2 : 1;
  KUGEL_CHECK(o->n >= least && o->n <= (int64_t)1 << 24, KUGEL_EINVAL, "n is %lld, must be %lld to 2^24",
              (long long)o->n, (long long)least);
  KUGEL_CHECK(o->values && (!table || o->angles), KUGEL_EINVAL, "%s is NULL: pass n numbers",
              o->values ? "opts.angles" : "opts.values");
  for (int64_t i = 0; i < o->n; i++) {
    KUGEL_CHECK(isfinite(o->values[i]), KUGEL_EINVAL, "values[%lld] is %g, must be finite", (long long)i,
                o->values[i]);
    if (table)
      KUGEL_CHECK(i ? o->angles[i] > o->angles[i - 1] && o->angles[i] <= M_PI : o->angles[0] == 0,
                  KUGEL_EINVAL, "angles[%lld] is %g: angles start at 0 and rise to at most pi", (long long)i,
                  o->angles[i]);
  }
  return KUGEL_OK;
}

static kugel_status check_parts(const kugel_radial_opts *o)
{
  KUGEL_CHECK(o->nparts >= 0 && o->nparts <= 1000, KUGEL_EINVAL, "nparts is %lld, must be 0 to 1000",
              (long long)o->nparts);
  if (!o->nparts)
    return KUGEL_OK;
  KUGEL_CHECK(o->part_weight && o->part_distance && o->part_bearing, KUGEL_EINVAL,
              "part_weight, part_distance or part_bearing is NULL: pass %lld numbers each",
              (long long)o->nparts);
  KUGEL_CHECK(
      o->method <= KUGEL_RADIAL_DIRECT && !o->spin, KUGEL_ENOTSUP,
      "displaced parts go with the direct method and scalar maps only: choose the direct method, or auto");
  for (int64_t k = 0; k < o->nparts; k++)
    KUGEL_CHECK(isfinite(o->part_weight[k]) && isfinite(o->part_bearing[k]) && o->part_distance[k] >= 0 &&
                    o->part_distance[k] <= M_PI,
                KUGEL_EINVAL,
                "part %lld has weight %g, distance %g, bearing %g: finite, and a distance of 0 to pi",
                (long long)k, o->part_weight[k], o->part_distance[k], o->part_bearing[k]);
  for (int64_t i = 0; i < o->grid->nrings && o->orientation; i++)
    KUGEL_CHECK(isfinite(o->orientation[i]), KUGEL_EINVAL, "orientation[%lld] is %g, must be finite",
                (long long)i, o->orientation[i]);
  return KUGEL_OK;
}

static kugel_status check_fisher(const kugel_radial_opts *o)
{
  KUGEL_CHECK(o->width == 0 || (o->width >= 1e-9 && o->width <= 2 * M_PI), KUGEL_EINVAL,
              "width is %g radians, must be 1e-9 to 2 pi, or 0 with opts.kappa", o->width);
  if (o->width > 0)
    return KUGEL_OK;
  KUGEL_CHECK(o->n >= 1 && o->n <= 1000, KUGEL_EINVAL, "n is %lld, must be 1 to 1000", (long long)o->n);
  KUGEL_CHECK(o->kappa && o->values, KUGEL_EINVAL, "%s is NULL: pass n numbers",
              o->kappa ? "opts.values" : "opts.kappa");
  for (int64_t k = 0; k < o->n; k++)
    KUGEL_CHECK(o->kappa[k] >= 1e-9 && o->kappa[k] <= 1e18 && isfinite(o->values[k]), KUGEL_EINVAL,
                "kappa[%lld] is %g and its integral %g: 1e-9 to 1e18, and a finite number", (long long)k,
                o->kappa[k], o->values[k]);
  return KUGEL_OK;
}

static kugel_status check_opts(const kugel_radial_opts *o)
{
  KUGEL_CHECK(o->grid, KUGEL_EINVAL, "opts.grid is NULL: make one with kugel_grid_create");
  KUGEL_CHECK(o->grid->has_weights, KUGEL_EINVAL, "the grid has no weights: give ring_weight when making it");
  KUGEL_CHECK((int)o->kernel >= 0 && o->kernel <= KUGEL_RADIAL_FISHER, KUGEL_EINVAL,
              "kernel is %d, must be KUGEL_RADIAL_GAUSSIAN (0) to KUGEL_RADIAL_FISHER (6)", (int)o->kernel);
  KUGEL_CHECK((int)o->norm >= 0 && o->norm <= KUGEL_RADIAL_AS_IS, KUGEL_EINVAL,
              "norm is %d, must be 0, 1 or 2", (int)o->norm);
  KUGEL_CHECK((int)o->method >= 0 && o->method <= KUGEL_RADIAL_ARKCOS, KUGEL_EINVAL,
              "method is %d, must be 0 to 4", (int)o->method);
  KUGEL_CHECK(o->kernel > KUGEL_RADIAL_MEXICAN_HAT || (o->width > 0 && o->width <= 4 * M_PI), KUGEL_EINVAL,
              "width is %g radians, must be above 0 and at most 4 pi", o->width);
  KUGEL_CHECK(o->kernel > KUGEL_RADIAL_MEXICAN_HAT || o->width >= 1e-9, KUGEL_EINVAL,
              "width is %g radians, must be at least 1e-9", o->width);
  KUGEL_CHECK(o->radius == 0 || (o->radius >= 1e-10 && o->radius <= M_PI), KUGEL_EINVAL,
              "radius is %g, must be 0 (by tolerance) or 1e-10 to pi", o->radius);
  KUGEL_CHECK(o->tolerance >= 0 && o->tolerance < 1, KUGEL_EINVAL,
              "tolerance is %g, must be at least 0 and below 1", o->tolerance);
  KUGEL_CHECK(o->lmax >= 0 && o->lmax <= 1000000, KUGEL_EINVAL, "lmax is %lld, must be 0 to 1000000",
              (long long)o->lmax);
  KUGEL_CHECK(o->kernel != KUGEL_RADIAL_FUNCTION || o->function, KUGEL_EINVAL,
              "opts.function is NULL: pass a function of the angle");
  KUGEL_CHECK(o->spin >= -10 && o->spin <= 10, KUGEL_EINVAL, "spin is %d, must be -10 to 10", o->spin);
  KUGEL_CHECK(!o->spin || o->method <= KUGEL_RADIAL_DIRECT, KUGEL_ENOTSUP,
              "spin %d goes with the direct method only: choose the direct method, or auto", o->spin);
  KUGEL_TRY(check_parts(o));
  KUGEL_CHECK(
      !o->normalise || !o->normalise_mask, KUGEL_EINVAL,
      "normalise and normalise_mask are both set: the latter keeps constants, too, so leave normalise 0");
  KUGEL_CHECK(!o->normalise || !o->nparts, KUGEL_ENOTSUP,
              "normalise does not go with displaced parts: leave it 0");
  if (o->kernel == KUGEL_RADIAL_FISHER)
    return check_fisher(o);
  return o->kernel >= KUGEL_RADIAL_TABLE ? check_table(o) : KUGEL_OK;
}

/* Seconds, by rates measured on one core of Zen 4 with AVX-512 and on an H200; only their ratios matter. */
typedef struct rates {
  double pair, direct_pixel;   /* of a direct sum */
  double term, harmonic_pixel; /* of harmonics: a ring, l and m */
  double mode, rings_pixel;    /* of rings: a product for a mode */
} rates;

static rates rates_of(const kugel_radial *p)
{
  static const rates core = {8.5e-11, 5e-9, 1.15e-10, 7e-9, 4.5e-11, 1e-8},
                     gpu = {2e-13, 2.8e-11, 2.6e-13, 4.5e-11, 2.5e-13, 3.9e-11};
  return kugel__ctx_device(p->ctx)->info.is_gpu ? gpu : core;
}

static double harmonic_seconds(const kugel_radial *p, int64_t lmax)
{
  rates r = rates_of(p);
  return r.term * (double)p->nrings * (double)(lmax + 1) * (double)(lmax + 2) / 2 +
         r.harmonic_pixel * (double)p->grid->npix;
}

static double direct_seconds(const kugel_radial *p)
{
  rates r = rates_of(p);
  return r.pair * p->info.pairs + r.direct_pixel * (double)p->grid->npix;
}

static double rings_seconds(const kugel_radial *p)
{
  rates r = rates_of(p);
  return r.mode * p->spectra->products + r.pair * p->spectra->pairs + r.rings_pixel * (double)p->grid->npix;
}

static kugel_status use_harmonics(kugel_radial *p, int64_t lmax)
{
  p->info.method = KUGEL_RADIAL_HARMONIC;
  p->opts.lmax = lmax;
  KUGEL_ALLOC(p->ctx, p->b, (size_t)(lmax + 1) * 8);
  KUGEL_TRY(kugel_radial_coefficients(p, lmax, p->b));
  kugel_sht_opts so = {.size = sizeof so,
                       .grid = p->grid,
                       .lmax = lmax,
                       .bad_pixels = KUGEL_BAD_PASS,
                       .beyond_band_limit = 1};  // the sum over pixels, whatever is exact on the grid
  bool there = p->ctx->device.type != KUGEL_CPU; // for arrays there
  return (there ? kugel__sht_make : kugel_sht_create)(p->ctx, &so, &p->sht);
}

static kugel_status choose(kugel_radial *p)
{
  kugel_radial_method method = p->opts.method;
  int64_t most = p->grid->nside ? 2 * p->grid->nside : kugel__max(1, p->nrings - 1), lmax = p->opts.lmax;
  p->info.method = KUGEL_RADIAL_DIRECT;
  p->band = -1;
  KUGEL_CHECK(!p->opts.comm || (!p->spectral && method != KUGEL_RADIAL_HARMONIC), KUGEL_ENOTSUP,
              "a plan over ranks is not by harmonics: choose the direct method or rings, or kugel_sht_create "
              "with comm");
  if (method == KUGEL_RADIAL_DIRECT || p->opts.spin || p->opts.nparts)
    return KUGEL_OK;
  if (p->spectral)
    return use_harmonics(p, lmax ? lmax : kugel__min(most, kugel__max(1, p->opts.n - 1)));
  KUGEL_TRY(kugel__radial_band(p, 4 * p->max_nphi + 64, &p->band));
  p->info.band = p->band;
  if (method == KUGEL_RADIAL_HARMONIC)
    return use_harmonics(p, lmax ? lmax : p->band < 0 ? most : kugel__min(most, p->band));
  KUGEL_TRY(kugel__radial_spectra_create(p));
  p->info.products = p->spectra->products;
  if (method >= KUGEL_RADIAL_RINGS) {
    p->info.method = method;
    return KUGEL_OK;
  }
  double direct = direct_seconds(p), rings = rings_seconds(p), harmonic = INFINITY;
  double tolerance = p->opts.tolerance > 0 ? p->opts.tolerance : 1e-5;
  bool level = kugel__radial_cusp(p) <= tolerance * (double)(p->band + 1);
  if (p->band >= 0 && level && !p->opts.comm && (lmax == 0 || p->band <= lmax))
    harmonic = (p->shared ? 0.5 : 1) * harmonic_seconds(p, p->band);
  if (rings < direct && rings < harmonic) {
    p->info.method = KUGEL_RADIAL_RINGS;
    return KUGEL_OK;
  }
  kugel__radial_spectra_destroy(p);
  p->info.products = 0;
  return harmonic < direct ? use_harmonics(p, p->band) : KUGEL_OK;
}

/* On a device: all rings at once, or blocks of them; else the host computes, as it does for pairs of maps and
 * displaced parts that do not fit, since blocks are of scalar, radial kernels. */
static kugel_status choose_place(kugel_radial *p)
{
  bool blocks = false, fits = true, whole = p->opts.spin || p->opts.nparts;
  if (kugel__ctx_device(p->ctx)->ops->type == KUGEL_CPU)
    return KUGEL_OK;
  KUGEL_CHECK(!p->opts.comm, KUGEL_ENOTSUP,
              "plans over ranks run on the CPU: make the plan in a context of the CPU");
  if (p->info.method != KUGEL_RADIAL_HARMONIC)
    KUGEL_TRY(kugel__radial_blocks_wanted(p, &blocks));
  if (!blocks)
    KUGEL_TRY(kugel__radial_gpu_create(p, &fits));
  return (blocks || !fits) && !whole ? kugel__radial_blocks_create(p) : KUGEL_OK;
}

kugel_status kugel__radial_make(kugel_ctx *ctx, const kugel_radial_opts *opts, bool shared,
                                kugel_radial **out)
{
  KUGEL_CHECK(out, KUGEL_EINVAL, "out is NULL: pass where to put the plan");
  *out = NULL;
  KUGEL_CHECK(opts, KUGEL_EINVAL, "opts is NULL: a plan needs a grid and a kernel");
  kugel_radial_opts o;
  KUGEL_TRY(kugel__take_opts(&o, sizeof o, opts, "kugel_radial_opts"));
  KUGEL_TRY(check_opts(&o));
  KUGEL_CHECK(!shared || !o.comm, KUGEL_ENOTSUP,
              "a bank of plans does not go over ranks: leave opts.comm NULL");
  kugel_radial *p = kugel__calloc(ctx, sizeof *p);
  KUGEL_CHECK(p, KUGEL_ENOMEM, "no memory for a plan");
  p->ctx = kugel__ctx_retain(ctx);
  p->memory = kugel__ctx_limit(ctx);
  p->opts = o;
  p->shared = shared;
  p->grid = kugel__grid_retain(o.grid);
  p->info.size = sizeof p->info;
  kugel_status s = kugel__radial_kernel_create(p);
  if (!s && !p->spectral)
    s = kugel__radial_poly_create(p);
  if (!s)
    s = kugel__radial_direct_create(p);
  if (!s)
    s = choose(p);
  p->end = kugel__radial_outputs(p);
  if (!s)
    s = choose_place(p);
  if (!s && p->spectra && !p->gpu && !p->blocks)
    s = kugel__radial_spectra_finish(p);
  if (!s)
    s = kugel__radial_level_create(p);
  p->info.blocks = p->blocks ? p->blocks->nlanes * p->blocks->each : 1;
  p->info.constant_least = p->info.constant_most = p->info.integral;
  if (!s && p->info.method != KUGEL_RADIAL_HARMONIC)
    s = kugel__radial_row_sums(p);
  if (s) {
    kugel__radial_free(p);
    return s;
  }
  *out = p;
  return KUGEL_OK;
}

void kugel__radial_free(kugel_radial *p)
{
  if (!p)
    return;
  kugel_ctx *ctx = p->ctx;
  kugel__radial_kernel_destroy(p);
  kugel__radial_level_destroy(p);
  kugel__radial_gpu_destroy(p);
  kugel__radial_blocks_destroy(p);
  kugel__radial_spectra_destroy(p);
  kugel_sht_destroy(p->sht);
  kugel__free(ctx, p->b);
  kugel__free(ctx, p->ring);
  kugel__free(ctx, p->part);
  kugel__free(ctx, p->orientation);
  kugel_grid_destroy(p->grid);
  kugel__free(ctx, p);
  kugel_ctx_destroy(ctx);
}

kugel_status kugel_radial_get_info(const kugel_radial *p, kugel_radial_info *info)
{
  KUGEL_CHECK(p && info, KUGEL_EINVAL, "%s is NULL", p ? "info" : "plan");
  return kugel__give_info(info, &p->info, sizeof p->info, "kugel_radial_info");
}

kugel_status kugel_radial_evaluate(const kugel_radial *p, int64_t n, const double *angles, double *values)
{
  KUGEL_CHECK(p && n >= 0 && (!n || (angles && values)), KUGEL_EINVAL,
              "plan is %s and n is %lld: pass a plan and two arrays of n numbers", p ? "set" : "NULL",
              (long long)n);
  const kugel__radial_ops *ops = kugel__radial_ops_now();
  for (int64_t i = 0; i < n; i++) {
    KUGEL_CHECK(angles[i] >= 0 && angles[i] <= M_PI, KUGEL_EINVAL, "angles[%lld] is %g, must be in [0, pi]",
                (long long)i, angles[i]);
    if (p->spectral) {
      values[i] = kugel__radial_kernel_at(p, angles[i]);
      continue;
    }
    double s = sin(angles[i] / 2), x[KUGEL__RADIAL_LANES] = {4 * s * s};
    ops->values(&p->poly, 1, x);
    values[i] = x[0];
  }
  return KUGEL_OK;
}
