/* SPDX-License-Identifier: BSD-3-Clause */
/* Bandpowers of masked fields: the binned coupling matrix, its factors, solutions. Source: Hivon et al. 2002; Alonso et al. 2019,
 * MNRAS 484, 4127. */
#include <math.h>
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "core/plan.h"
#include "sphere/spectra/estimate.h"

static const double MOST_CONDITION = 1e12;

static kugel_status check(const kugel_spectra_opts *o)
{
  kugel_coupling_opts c = {
      .lmax = o->lmax, .lmax_mask = o->lmax_mask, .spin1 = o->spin1, .spin2 = o->spin2, .families = 1};
  KUGEL_TRY(kugel__coupling_check(&c));
  KUGEL_CHECK(o->mask_cl && o->band, KUGEL_EINVAL, "opts.%s is NULL", o->mask_cl ? "band" : "mask_cl");
  for (int64_t l = 0; l <= o->lmax_mask; l++)
    KUGEL_CHECK(isfinite(o->mask_cl[l]), KUGEL_EINVAL, "mask_cl[%lld] is %g, must be finite", (long long)l,
                o->mask_cl[l]);
  KUGEL_CHECK(o->bands >= 1 && o->bands <= o->lmax + 1, KUGEL_EINVAL,
              "bands is %lld, must be 1 to lmax + 1 = %lld", (long long)o->bands, (long long)o->lmax + 1);
  KUGEL_CHECK(
      (o->spin1 == 2 || !(o->pure_e1 || o->pure_b1)) && (o->spin2 == 2 || !(o->pure_e2 || o->pure_b2)),
      KUGEL_EINVAL, "spin1 is %d and spin2 is %d: only fields of spin 2 can be pure", o->spin1, o->spin2);
  for (int64_t l = 0; l <= o->lmax; l++) {
    KUGEL_CHECK(o->band[l] >= -1 && o->band[l] < o->bands, KUGEL_EINVAL,
                "band[%lld] is %d, must be -1 to %lld", (long long)l, o->band[l], (long long)o->bands - 1);
    KUGEL_CHECK(!o->weight || (o->weight[l] >= 0 && isfinite(o->weight[l])), KUGEL_EINVAL,
                "weight[%lld] is %g, must be finite and not negative", (long long)l, o->weight[l]);
    KUGEL_CHECK(!o->factor || (o->factor[l] >= 0 && isfinite(o->factor[l])), KUGEL_EINVAL,
                "factor[%lld] is %g, must be finite and not negative", (long long)l, o->factor[l]);
    KUGEL_CHECK((!o->beam1 || isfinite(o->beam1[l])) && (!o->beam2 || isfinite(o->beam2[l])), KUGEL_EINVAL,
                "beam1[%lld] is %g and beam2[%lld] is %g, must be finite", (long long)l,
                o->beam1 ? o->beam1[l] : 1, (long long)l, o->beam2 ? o->beam2[l] : 1);
  }
  return KUGEL_OK;
}

/* Weights of the degrees; a factor of 0 (l (l + 1) at l = 0) counts as 1. */
static kugel_status fill(kugel_spectra *p, const kugel_spectra_opts *o)
{
  double all = 0, tail = 0, *sum;
  KUGEL_ALLOC(p->ctx, sum, 8 * (size_t)p->bands);
  memset(sum, 0, 8 * (size_t)p->bands);
  for (int64_t l = 0; l <= p->lmax; l++)
    if (o->band[l] >= 0)
      sum[o->band[l]] += o->weight ? o->weight[l] : 1;
  int64_t empty = -1;
  for (int64_t b = p->bands - 1; b >= 0; b--)
    empty = sum[b] > 0 ? empty : b;
  for (int64_t l = 0; l <= p->lmax && empty < 0; l++) {
    double x = (double)l, factor = o->factor && o->factor[l] > 0 ? o->factor[l] : 1;
    bool in = o->band[l] >= 0;
    p->band[l] = o->band[l];
    p->row[l] = in ? (o->weight ? o->weight[l] : 1) / sum[o->band[l]] * factor : 0;
    p->inverse[l] = in ? 1 / factor : 0;
    p->column[l] = (2 * x + 1) * (o->beam1 ? o->beam1[l] : 1) * (o->beam2 ? o->beam2[l] : 1);
    p->root[l] = l < 2 ? 0 : sqrt((x - 1) * x * (x + 1) * (x + 2));
  }
  kugel__free(p->ctx, sum);
  KUGEL_CHECK(empty < 0, KUGEL_EINVAL, "band %lld has no degree of weight above 0 up to lmax %lld",
              (long long)empty, (long long)p->lmax);
  memcpy(p->mask_cl, o->mask_cl, 8 * (size_t)(p->lmax_mask + 1));
  for (int64_t k = 0; k <= p->lmax_mask; k++) {
    double part = (double)(2 * k + 1) * fabs(p->mask_cl[k]);
    all += part;
    tail += k > p->lmax_mask - p->lmax_mask / 10 ? part : 0;
  }
  KUGEL_CHECK(all > 0, KUGEL_EINVAL,
              "mask_cl is zero: the mask covers nothing, or the two masks have no pixel in common");
  p->mask_tail = tail / all;
  return KUGEL_OK;
}

/* K[a bands + b][c bands + e] of a group. */
static void binned_matrix(const kugel_spectra *p, int group, double *k)
{
  int64_t n = p->size * p->bands, columns = p->lmax + 1;
  memset(k, 0, 8 * (size_t)(n * n));
  for (int a = 0; a < p->size; a++)
    for (int c = 0; c < p->size; c++) {
      int i = p->members[group][a], j = p->members[group][c];
      for (int64_t b = 0; p->sign[i][j] && b < p->bands; b++) {
        const double *row = p->binned + (p->which[i][j] * p->bands + b) * columns;
        double *out = k + (a * p->bands + b) * n + c * p->bands;
        for (int64_t l = 0; l < columns; l++)
          if (p->band[l] >= 0)
            out[p->band[l]] += p->sign[i][j] * row[l] * p->inverse[l];
      }
    }
}

/* The band whose pivot is the smallest part of K's norm. */
static kugel_status singular(const kugel_spectra *p, const kugel__lu *lu, int64_t row, double condition)
{
  double least = INFINITY;
  for (int64_t i = 0; row < 0 && i < lu->n; i++)
    if (fabs(lu->a[i * lu->n + i]) < least) {
      least = fabs(lu->a[i * lu->n + i]);
      row = i;
    }
  int64_t band = row % p->bands, lo = -1, hi = -1;
  for (int64_t l = 0; l <= p->lmax; l++)
    if (p->band[l] == band) {
      lo = lo < 0 ? l : lo;
      hi = l;
    }
  return KUGEL_FAIL(KUGEL_EINVAL,
                    "the mask cannot tell band %lld (degrees %lld to %lld) from the others (condition number "
                    "%.1e, at most %.0e): "
                    "make bands wider, leave out degrees below the spin, or check mask and beams",
                    (long long)band, (long long)lo, (long long)hi, condition, MOST_CONDITION);
}

static kugel_status factor(kugel_spectra *p)
{
  int64_t n = p->size * p->bands;
  double *work;
  KUGEL_ALLOC(p->ctx, work, 16 * (size_t)n);
  kugel_status s = KUGEL_OK;
  for (int g = 0; g < p->groups && !s; g++) {
    kugel__lu *lu = &p->lu[g];
    lu->n = n;
    lu->a = kugel__alloc(p->ctx, 8 * (size_t)(n * n));
    lu->pivot = kugel__alloc(p->ctx, sizeof *lu->pivot * (size_t)n);
    if (!lu->a || !lu->pivot) {
      s = KUGEL_FAIL(KUGEL_ENOMEM, "no memory for a matrix of %lld bandpowers", (long long)n);
      break;
    }
    binned_matrix(p, g, lu->a);
    int64_t row = kugel__lu_factor(lu);
    double condition = row < 0 ? kugel__lu_condition(lu, work) : INFINITY;
    p->condition = fmax(p->condition, condition);
    if (!(condition <= MOST_CONDITION))
      s = singular(p, lu, row, condition);
  }
  kugel__free(p->ctx, work);
  return s;
}

static kugel_status make(kugel_spectra *p, const kugel_spectra_opts *o)
{
  int64_t n = p->lmax + 1;
  kugel__spectra_kinds(p, o);
  KUGEL_ALLOC(p->ctx, p->mask_cl, 8 * (size_t)(p->lmax_mask + 1));
  KUGEL_ALLOC(p->ctx, p->band, sizeof *p->band * (size_t)n);
  KUGEL_ALLOC(p->ctx, p->row, 4 * 8 * (size_t)n);
  p->inverse = p->row + n;
  p->column = p->inverse + n;
  p->root = p->column + n;
  KUGEL_TRY(fill(p, o));
  p->binned = kugel__calloc(p->ctx, 8 * (size_t)(p->kinds * p->bands * n));
  KUGEL_CHECK(p->binned, KUGEL_ENOMEM, "no memory for couplings of %lld bands to lmax %lld",
              (long long)p->bands, (long long)p->lmax);
  KUGEL_TRY(kugel__spectra_bin(p));
  return factor(p);
}

kugel_status kugel_spectra_create(kugel_ctx *ctx, const kugel_spectra_opts *opts, kugel_spectra **out)
{
  KUGEL_CHECK(out, KUGEL_EINVAL, "out is NULL: pass where to put the plan");
  *out = NULL;
  KUGEL_CHECK(opts, KUGEL_EINVAL, "opts is NULL: pass the mask's spectrum and the bands");
  kugel_spectra_opts o;
  KUGEL_TRY(kugel__take_opts(&o, sizeof o, opts, "kugel_spectra_opts"));
  KUGEL_TRY(check(&o));
  kugel_ctx *held;
  kugel_spectra *p = kugel__plan_alloc(ctx, sizeof *p, &held);
  if (!p)
    return KUGEL_ENOMEM;
  p->ctx = held;
  p->lmax = o.lmax;
  p->lmax_mask = o.lmax_mask;
  p->bands = o.bands;
  p->spin1 = o.spin1;
  p->spin2 = o.spin2;
  kugel__span outer = kugel__progress_enter(0, 1);
  kugel_status s = make(p, &o);
  kugel__progress_leave(outer);
  if (s)
    kugel_spectra_destroy(p);
  else
    *out = p;
  return s;
}

void kugel_spectra_destroy(kugel_spectra *p)
{
  if (!p)
    return;
  kugel_ctx *ctx = p->ctx;
  for (int g = 0; g < KUGEL__GROUPS; g++) {
    kugel__free(ctx, p->lu[g].a);
    kugel__free(ctx, p->lu[g].pivot);
  }
  kugel__free(ctx, p->mask_cl);
  kugel__free(ctx, p->band);
  kugel__free(ctx, p->row);
  kugel__free(ctx, p->binned);
  kugel__free(ctx, p);
  kugel_ctx_destroy(ctx);
}

kugel_status kugel_spectra_get_info(const kugel_spectra *p, kugel_spectra_info *info)
{
  KUGEL_CHECK(p && info, KUGEL_EINVAL, "%s is NULL", p ? "info" : "plan");
  kugel_spectra_info whole = {.size = sizeof whole,
                              .spectra = p->n,
                              .bands = p->bands,
                              .lmax = p->lmax,
                              .condition = p->condition,
                              .mask_tail = p->mask_tail};
  return kugel__give_info(info, &whole, sizeof whole, "kugel_spectra_info");
}

kugel_status kugel_spectra_decouple(const kugel_spectra *p, const double *pseudo, const double *noise,
                                    double *out)
{
  KUGEL_CHECK(p && pseudo && out, KUGEL_EINVAL, "%s is NULL", !p ? "plan" : !pseudo ? "pseudo" : "out");
  int64_t n = p->lmax + 1;
  double *x;
  KUGEL_ALLOC(p->ctx, x, 8 * (size_t)(p->size * p->bands));
  for (int g = 0; g < p->groups; g++) {
    memset(x, 0, 8 * (size_t)(p->size * p->bands));
    for (int a = 0; a < p->size; a++)
      for (int64_t l = 0, at = p->members[g][a] * n; l < n; l++)
        if (p->band[l] >= 0)
          x[a * p->bands + p->band[l]] += p->row[l] * (pseudo[at + l] - (noise ? noise[at + l] : 0));
    kugel__lu_solve(&p->lu[g], 1, x);
    for (int a = 0; a < p->size; a++)
      memcpy(out + p->members[g][a] * p->bands, x + a * p->bands, 8 * (size_t)p->bands);
  }
  kugel__free(p->ctx, x);
  return KUGEL_OK;
}

kugel_status kugel_spectra_windows(const kugel_spectra *p, double *out)
{
  KUGEL_CHECK(p && out, KUGEL_EINVAL, "%s is NULL", p ? "out" : "plan");
  int64_t n = p->lmax + 1, rows = p->size * p->bands;
  double *x;
  KUGEL_ALLOC(p->ctx, x, 8 * (size_t)(rows * p->size * n));
  memset(out, 0, 8 * (size_t)(p->n * p->bands * p->n * n));
  for (int g = 0; g < p->groups; g++) {
    const int *member = p->members[g];
    memset(x, 0, 8 * (size_t)(rows * p->size * n));
    for (int a = 0; a < p->size; a++)
      for (int c = 0; c < p->size; c++)
        for (int64_t b = 0; b < p->bands; b++) {
          int sign = p->sign[member[a]][member[c]];
          const double *from = p->binned + (p->which[member[a]][member[c]] * p->bands + b) * n;
          double *to = x + ((a * p->bands + b) * p->size + c) * n;
          for (int64_t l = 0; sign && l < n; l++)
            to[l] = sign * from[l];
        }
    kugel__lu_solve(&p->lu[g], p->size * n, x);
    for (int a = 0; a < p->size; a++)
      for (int c = 0; c < p->size; c++)
        for (int64_t b = 0; b < p->bands; b++)
          memcpy(out + ((member[a] * p->bands + b) * p->n + member[c]) * n,
                 x + ((a * p->bands + b) * p->size + c) * n, 8 * (size_t)n);
  }
  kugel__free(p->ctx, x);
  return KUGEL_OK;
}
