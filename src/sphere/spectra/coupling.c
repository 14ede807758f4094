/* SPDX-License-Identifier: BSD-3-Clause */
/* Coupling matrices of masked fields: tables, diagonals in parallel, the full matrices. */
#include <math.h>
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "core/array.h"
#include "device/device.h"
#include "sphere/spectra/coupling_gpu.h"

KUGEL_DISPATCH(kugel__coupling_ops, kugel__coupling_ops)

enum {
  PAD = KUGEL__COUPLING_PAD,
  MOST_LMAX = 100000,
  SLAB_BYTES = 64 << 20,
  TOGETHER = 8 /* diagonals of a task */
};

typedef struct couple {
  kugel_ctx *ctx;
  const kugel_coupling_opts *o;
  kugel__coupling_tables t;
  const kugel__coupling_ops *ops;
  double *data, *b; /* of the current diagonals; [threads][2 (lmax + 1)] */
  int64_t first, count, stride;
  int families;
  int64_t workers;
} couple;

kugel_status kugel__coupling_check(const kugel_coupling_opts *o)
{
  KUGEL_CHECK(o->lmax >= 0 && o->lmax <= MOST_LMAX, KUGEL_EINVAL, "lmax is %lld, must be 0 to %d",
              (long long)o->lmax, MOST_LMAX);
  KUGEL_CHECK(o->lmax_mask >= 0 && o->lmax_mask <= 4 * MOST_LMAX, KUGEL_EINVAL,
              "lmax_mask is %lld, must be 0 to %d; degrees above 2 lmax have no effect",
              (long long)o->lmax_mask, 4 * MOST_LMAX);
  KUGEL_CHECK(o->spin1 >= 0 && o->spin1 <= KUGEL_COUPLING_MAX_SPIN && o->spin2 >= 0 &&
                  o->spin2 <= KUGEL_COUPLING_MAX_SPIN,
              KUGEL_EINVAL, "spin1 is %d and spin2 is %d, must be 0 to %d", o->spin1, o->spin2,
              KUGEL_COUPLING_MAX_SPIN);
  KUGEL_CHECK(o->families >= 1 && o->families <= KUGEL_COUPLING_ALL, KUGEL_EINVAL,
              "families is %d, must be a sum of KUGEL_COUPLING_00 (1), 0S (2), PLUS (4) and MINUS (8)",
              o->families);
  return KUGEL_OK;
}

static kugel_status diagonals(void *arg, int64_t i, int worker)
{
  couple *c = arg;
  for (int64_t k = i * TOGETHER; k < kugel__min(c->count, (i + 1) * TOGETHER); k++) {
    double *out[KUGEL__FAMILIES] = {0};
    for (int f = 0; f < c->families; f++)
      out[f] = c->data + (f * c->count + k) * c->stride;
    c->ops->diagonal(&c->t, c->first + k, c->o->spin1, c->o->spin2, (unsigned)c->o->families,
                     c->b + worker * 2 * (c->o->lmax + 1), out);
  }
  return KUGEL_OK;
}

/* Of the work below diagonal d, about (1 - d / lmax)^3 is left. */
static double part(const void *arg, int64_t done)
{
  const couple *c = arg;
  double n = (double)c->o->lmax + 1, left = 1 - (double)(c->first + done * TOGETHER) / n;
  double from = 1 - (double)c->first / n, to = 1 - (double)(c->first + c->count) / n;
  left = left < to ? to : left;
  return (pow(from, 3) - pow(left, 3)) / (pow(from, 3) - pow(to, 3));
}

static kugel_status run(couple *c, kugel__diagonals_use use, void *arg)
{
  double n = (double)c->o->lmax + 1;
  for (c->first = 0; c->first <= c->o->lmax; c->first += c->count) {
    c->stride = kugel__round_up(c->o->lmax - c->first + 1 + PAD, 8);
    c->count =
        kugel__min(c->o->lmax + 1 - c->first, kugel__max(1, SLAB_BYTES / (8 * c->families * c->stride)));
    double lo = 1 - pow(1 - (double)c->first / n, 3), hi = 1 - pow(1 - (double)(c->first + c->count) / n, 3);
    c->data = kugel__scratch_get(c->ctx, 8 * (size_t)(c->families * c->count * c->stride));
    KUGEL_CHECK(c->data, KUGEL_ENOMEM, "no memory for %lld diagonals of couplings", (long long)c->count);
    kugel__progress_stage_by(lo, hi, "couplings", part, c);
    kugel_status s =
        kugel__parallel_on(c->ctx, c->workers, (c->count + TOGETHER - 1) / TOGETHER, diagonals, c);
    kugel__diagonals some = {.lmax = c->o->lmax,
                             .first = c->first,
                             .count = c->count,
                             .stride = c->stride,
                             .families = c->families,
                             .data = c->data};
    if (!s)
      s = use(arg, &some);
    kugel__scratch_put(c->ctx, c->data);
    KUGEL_TRY(s);
  }
  return KUGEL_OK;
}

kugel_status kugel__coupling_each(kugel_ctx *ctx, const kugel_coupling_opts *o, kugel__diagonals_use use,
                                  void *arg)
{
  if (kugel__coupling_on_device(ctx))
    return kugel__coupling_gpu_each(ctx, o, use, arg);
  couple c = {.ctx = ctx,
              .o = o,
              .workers = kugel__ctx_threads(ctx),
              .ops = kugel__coupling_ops_get(),
              .families = kugel__coupling_count((unsigned)o->families)};
  c.t.lmax = o->lmax;
  c.t.lmax_mask = kugel__min(o->lmax_mask, 2 * o->lmax);
  int64_t n = o->lmax + 1 + 2 * PAD, twice = 2 * o->lmax + 1 + 2 * PAD,
          all = 2 * n + 2 * twice + c.t.lmax_mask + 1;
  double *tables = kugel__calloc(ctx, 8 * (size_t)all);
  c.b = kugel__alloc(ctx, 16 * (size_t)((o->lmax + 1) * c.workers));
  kugel_status s = tables && c.b
                       ? KUGEL_OK
                       : KUGEL_FAIL(KUGEL_ENOMEM, "no memory for the tables of couplings to lmax %lld",
                                    (long long)o->lmax);
  if (!s) {
    double *p = tables + PAD, *p_odd = p + n, *r = p_odd + n, *r_odd = r + twice, *w = r_odd + twice - PAD;
    c.t.p = p;
    c.t.p_odd = p_odd;
    c.t.r = r;
    c.t.r_odd = r_odd;
    c.t.w = w;
    kugel__coupling_fill(o->lmax, p, r, p_odd, r_odd);
    kugel__coupling_spectrum(c.t.lmax_mask, o->mask_cl, w);
    s = run(&c, use, arg);
  }
  kugel__free(ctx, tables);
  kugel__free(ctx, c.b);
  return s;
}

/* ---- full matrices ---- */

typedef struct full {
  kugel_ctx *ctx;
  double *xi;
  const kugel__diagonals *some;
} full;

static kugel_status rows(void *arg, int64_t l)
{
  full *f = arg;
  const kugel__diagonals *s = f->some;
  int64_t n = s->lmax + 1;
  for (int c = 0; c < s->families; c++) {
    double *row = f->xi + (c * n + l) * n;
    for (int64_t d = s->first; d < s->first + s->count; d++) {
      if (l + d < n)
        row[l + d] = kugel__diagonals_at(s, c, l, d);
      if (l >= d)
        row[l - d] = kugel__diagonals_at(s, c, l - d, d);
    }
  }
  return KUGEL_OK;
}

static kugel_status put(void *arg, const kugel__diagonals *some)
{
  full *f = arg;
  f->some = some;
  kugel__progress_stage(1, 1, "couplings");
  return kugel__parallel(f->ctx, some->lmax + 1, rows, f);
}

static kugel_status check_spectrum(const kugel_coupling_opts *o, int64_t masks)
{
  int64_t n = o->lmax_mask + 1;
  for (int64_t i = 0; i < masks * n; i++)
    KUGEL_CHECK(isfinite(o->mask_cl[i]), KUGEL_EINVAL, "mask_cl[%lld]%s%.0lld is %g, must be finite",
                (long long)(i % n), masks > 1 ? " of mask " : "", masks > 1 ? (long long)(i / n) : 0,
                o->mask_cl[i]);
  return KUGEL_OK;
}

kugel_status kugel_coupling(kugel_ctx *ctx, const kugel_coupling_opts *opts, double *xi)
{
  KUGEL_CHECK(opts && xi, KUGEL_EINVAL, "%s is NULL", opts ? "xi" : "opts");
  kugel_coupling_opts o;
  KUGEL_TRY(kugel__take_opts(&o, sizeof o, opts, "kugel_coupling_opts"));
  KUGEL_TRY(kugel__coupling_check(&o));
  KUGEL_CHECK(o.mask_cl, KUGEL_EINVAL,
              "opts.mask_cl is NULL: pass the spectrum of the mask, see kugel_alm_cl");
  KUGEL_TRY(check_spectrum(&o, 1));
  kugel_ctx *held = kugel__ctx_retain(ctx);
  full f = {.ctx = held, .xi = xi};
  kugel__span outer = kugel__progress_enter(0, 1);
  kugel_status s = kugel__coupling_each(held, &o, put, &f);
  kugel__progress_leave(outer);
  kugel_ctx_destroy(held);
  return s;
}

/* One mask after another, to the host. */
static kugel_status all(kugel_ctx *ctx, const kugel_coupling_opts *o, int64_t masks, double *xi)
{
  int64_t n = o->lmax + 1, families = kugel__coupling_count((unsigned)o->families);
  kugel_coupling_opts one = *o;
  for (int64_t m = 0; m < masks; m++) {
    full f = {.ctx = ctx, .xi = xi + m * families * n * n};
    one.mask_cl = o->mask_cl + m * (o->lmax_mask + 1);
    kugel__span part = kugel__progress_enter((double)m / (double)masks, (double)(m + 1) / (double)masks);
    kugel_status s = kugel__coupling_each(ctx, &one, put, &f);
    kugel__progress_leave(part);
    KUGEL_TRY(s);
  }
  return KUGEL_OK;
}

kugel_status kugel_couplings(kugel_ctx *ctx, const kugel_coupling_opts *opts, const kugel_array *mask_cl,
                             const kugel_array *xi, kugel_queue *queue)
{
  int64_t masks = -1;
  kugel_coupling_opts o;
  KUGEL_CHECK(opts, KUGEL_EINVAL, "opts is NULL");
  KUGEL_TRY(kugel__take_opts(&o, sizeof o, opts, "kugel_coupling_opts"));
  KUGEL_TRY(kugel__coupling_check(&o));
  int64_t n = o.lmax + 1, families = kugel__coupling_count((unsigned)o.families);
  KUGEL_TRY(kugel__array_check(mask_cl, "mask_cl", KUGEL_F64, 1, (int64_t[]){o.lmax_mask + 1}, &masks));
  kugel_ctx *held = kugel__ctx_retain(ctx);
  kugel_status s =
      kugel__array_check_on(&held->device, xi, "xi", KUGEL_F64, 3, (int64_t[]){families, n, n}, &masks);
  o.mask_cl = s ? NULL : kugel__array_data(mask_cl);
  s = s ? s : check_spectrum(&o, masks);
  s = s ? s : kugel__queue_join(kugel__ctx_device(held), queue);
  kugel__span outer = kugel__progress_enter(0, 1);
  if (!s && masks && xi->device.type != KUGEL_CPU)
    s = kugel__coupling_gpu_matrices(held, &o, masks, xi, queue);
  else if (!s)
    s = all(held, &o, masks, kugel__array_data(xi));
  kugel__progress_leave(outer);
  kugel_ctx_destroy(held);
  return s;
}
