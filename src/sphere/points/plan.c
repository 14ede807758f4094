/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans of harmonic sums at points. */
#include "sphere/points/gpu.h"
#include <math.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "sphere/alm/alm.h"

static const struct {
  int n_alm, n_map;
} shapes[] = {
    [KUGEL_SHT_SCALAR] = {1, 1}, [KUGEL_SHT_SPIN] = {2, 2}, [KUGEL_SHT_TEB] = {3, 3},
    [KUGEL_SHT_GRAD] = {1, 2},   [KUGEL_SHT_DER1] = {1, 3},
};

static kugel_status check(kugel_sht_points_opts *o, int64_t *mmax, int64_t *nalm)
{
  KUGEL_CHECK((int)o->mode >= KUGEL_SHT_SCALAR && o->mode <= KUGEL_SHT_DER1, KUGEL_EINVAL,
              "mode is %d, must be KUGEL_SHT_SCALAR (0) to KUGEL_SHT_DER1 (4)", (int)o->mode);
  if (o->mode == KUGEL_SHT_SPIN)
    KUGEL_CHECK(o->spin >= 1, KUGEL_EINVAL, "spin is %d, must be at least 1 in mode KUGEL_SHT_SPIN", o->spin);
  else
    KUGEL_CHECK(o->spin == 0 || (o->mode == KUGEL_SHT_TEB && o->spin == 2), KUGEL_EINVAL,
                "spin is %d, must be 0 unless mode is KUGEL_SHT_SPIN", o->spin);
  KUGEL_CHECK(o->precision == KUGEL_PRECISION_F64 || o->precision == KUGEL_PRECISION_F32, KUGEL_EINVAL,
              "precision is %d, must be KUGEL_PRECISION_F64 (0) or KUGEL_PRECISION_F32 (1)",
              (int)o->precision);
  const bool single = o->precision == KUGEL_PRECISION_F32;
  const double least = single ? 1e-6 : 1e-13, usual = single ? 2e-6 : 1e-9;
  o->tolerance = o->tolerance == 0 ? usual : o->tolerance;
  KUGEL_CHECK(o->tolerance >= least && o->tolerance <= 0.1, KUGEL_EINVAL,
              "tolerance is %g, must be %g to 0.1, or 0 for %g%s", o->tolerance, least, usual,
              single ? "; precision F64 takes 1e-13 and more" : "");
  *mmax = o->mmax;
  KUGEL_TRY(kugel__alm_option(o->lmax, mmax, nalm));
  double modes = (double)(*mmax + 1) * (double)(2 * o->lmax + 2);
  KUGEL_CHECK(modes <= 0x1p40, KUGEL_EINVAL,
              "lmax is %lld and mmax is %lld: (mmax + 1) (2 lmax + 2) must be at most 2^40",
              (long long)o->lmax, (long long)*mmax);
  return KUGEL_OK;
}

/* Pairs of rings from the poles to the equator, which is north of the last pair if there is one. */
static kugel_status make_legendre(kugel_sht_points_plan *p)
{
  double *cth;
  KUGEL_ALLOC(p->ctx, cth, p->npairs * 16);
  double *sth = cth + p->npairs;
  for (int64_t i = 0; i < p->npairs; i++) {
    bool equator = 2 * i == p->rings - 1;
    long double theta = M_PIl * (long double)i / (long double)(p->rings - 1);
    cth[i] = equator ? 0 : (double)cosl(theta);
    sth[i] = equator ? 1 : (double)sinl(theta);
  }
  kugel_status s = kugel__leg_create(p->ctx, p->lmax, p->mmax, (kugel__leg_mode)p->mode, p->spin, p->npairs,
                                     cth, sth, &p->leg);
  kugel__free(p->ctx, cth);
  return s;
}

static kugel_status make(kugel_sht_points_plan *p)
{
  KUGEL_TRY(make_legendre(p));
  if (p->ctx->device.type != KUGEL_CPU)
    return kugel__points_gpu_create(p);
  double scale = 1 / (double)p->circle;
  kugel_fft_opts f = {.size = sizeof f, .forward_scale = scale, .inverse_scale = scale};
  KUGEL_TRY(kugel_fft_create(p->ctx, 1, &p->circle, &f, &p->fft));
  /* Half the tolerance: values on the sphere can be smaller than on the torus, whose points are denser at the poles. */
  kugel_nufft_opts o = {.size = sizeof o,
                        .type = KUGEL_NUFFT_TO_POINTS,
                        .sign = KUGEL_INVERSE,
                        .tolerance = fmax(1e-14, 0.5 * p->tolerance),
                        .fft_order = 1,
                        .real = 1};
  return kugel_nufft_create(p->ctx, 2, (int64_t[]){p->circle, 2 * p->mmax + 1}, &o, &p->nufft);
}

kugel_status kugel_sht_points_plan_create(kugel_ctx *ctx, const kugel_sht_points_opts *opts,
                                          kugel_sht_points_plan **out)
{
  KUGEL_CHECK(out, KUGEL_EINVAL, "out is NULL: pass where to put the plan");
  *out = NULL;
  KUGEL_CHECK(opts, KUGEL_EINVAL, "opts is NULL: a plan needs lmax");
  kugel_sht_points_opts o;
  int64_t mmax, nalm;
  KUGEL_TRY(kugel__take_opts(&o, sizeof o, opts, "kugel_sht_points_opts"));
  KUGEL_TRY(check(&o, &mmax, &nalm));
  kugel_sht_points_plan *p = kugel__calloc(ctx, sizeof *p);
  KUGEL_CHECK(p, KUGEL_ENOMEM, "no memory for a plan");
  p->ctx = kugel__ctx_retain(ctx);
  atomic_init(&p->references, 1);
  p->mode = o.mode;
  p->spin = o.mode == KUGEL_SHT_SPIN     ? o.spin
            : o.mode == KUGEL_SHT_TEB    ? 2
            : o.mode == KUGEL_SHT_SCALAR ? 0
                                         : 1;
  p->n_alm = shapes[o.mode].n_alm;
  p->n_map = shapes[o.mode].n_map;
  p->lmax = o.lmax;
  p->mmax = mmax;
  p->nalm = nalm;
  p->tolerance = o.tolerance;
  p->single = o.precision == KUGEL_PRECISION_F32;
  p->rings = kugel_fft_good_size(o.lmax + 1) + 1;
  p->circle = 2 * (p->rings - 1);
  p->pitch = p->circle + 4;
  p->npairs = (p->rings + 1) / 2;
  p->row = kugel__round_up(p->npairs, 8);
  kugel_status s = make(p);
  if (s) {
    kugel_sht_points_plan_destroy(p);
    return s;
  }
  *out = p;
  return KUGEL_OK;
}

void kugel__points_release(kugel_sht_points_plan *p)
{
  if (!p || atomic_fetch_sub(&p->references, 1) > 1)
    return;
  kugel_ctx *ctx = p->ctx;
  kugel__points_gpu_destroy(p);
  kugel__leg_destroy(p->leg);
  kugel_fft_destroy(p->fft);
  kugel_nufft_destroy(p->nufft);
  kugel__free(ctx, p);
  kugel_ctx_destroy(ctx);
}

void kugel_sht_points_plan_destroy(kugel_sht_points_plan *plan)
{
  kugel__points_release(plan);
}

int kugel__points_odd(const kugel_sht_points_plan *p, int c)
{
  bool scalar = p->n_map % 2 && c == 0; // alone, or first of three
  return scalar ? 0 : p->spin % 2;
}

kugel_status kugel_sht_points_get_info(const kugel_sht_points_plan *p, kugel_sht_points_info *info)
{
  KUGEL_CHECK(p && info, KUGEL_EINVAL, "%s is NULL: pass a plan, and where to put its numbers",
              p ? "info" : "plan");
  kugel_nufft_info nufft = {.size = sizeof nufft};
  KUGEL_TRY(kugel_nufft_get_info(p->nufft, &nufft));
  kugel_sht_points_info own = {.size = sizeof own,
                               .lmax = p->lmax,
                               .mmax = p->mmax,
                               .nalm = p->nalm,
                               .n_alm_sets = p->n_alm,
                               .n_values = p->n_map,
                               .tolerance = p->tolerance,
                               .ntheta = p->rings,
                               .width = nufft.width,
                               .upsampling = nufft.upsampling};
  own.bytes = nufft.bytes +
              (p->gpu ? kugel__points_gpu_bytes(p) : (uint64_t)(p->n_map * (p->mmax + 1) * p->pitch) * 16);
  return kugel__give_info(info, &own, sizeof own, "kugel_sht_points_info");
}
