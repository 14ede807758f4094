/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans: checks, differences along axes, terms and their transposes. */
#include "stencil/plan.h"
#include <float.h>
#include <math.h>
#include <string.h>
#include "core/alloc.h"
#include "core/parallel.h"
#include "stencil/gpu.h"

enum { MOST_FIELDS = 64, MOST_TERMS = 256 };

/* ---- checks ---- */

static kugel_status check_terms(const kugel_stencil_opts *o, int *highest)
{
  KUGEL_CHECK(o->fields >= 1 && o->fields <= MOST_FIELDS, KUGEL_EINVAL, "fields is %d, must be 1 to %d",
              o->fields, MOST_FIELDS);
  KUGEL_CHECK(o->outs >= 1 && o->outs <= MOST_FIELDS, KUGEL_EINVAL, "outs is %d, must be 1 to %d", o->outs,
              MOST_FIELDS);
  KUGEL_CHECK(o->nterms >= 1 && o->nterms <= MOST_TERMS, KUGEL_EINVAL, "nterms is %d, must be 1 to %d",
              o->nterms, MOST_TERMS);
  KUGEL_CHECK(o->terms, KUGEL_EINVAL, "terms is NULL: pass %d terms", o->nterms);
  for (int t = 0; t < o->nterms; t++) {
    const kugel_stencil_term *term = &o->terms[t];
    int64_t sum = 0;
    KUGEL_CHECK(term->field >= 0 && term->field < o->fields, KUGEL_EINVAL,
                "term %d: field is %d, must be 0 to %d", t, term->field, o->fields - 1);
    KUGEL_CHECK(term->out >= 0 && term->out < o->outs, KUGEL_EINVAL, "term %d: out is %d, must be 0 to %d", t,
                term->out, o->outs - 1);
    KUGEL_CHECK(isfinite(term->factor), KUGEL_EINVAL, "term %d: factor is %g, must be finite", t,
                term->factor);
    for (int d = 0; d < 3; d++) {
      const int k = term->derivative[d];
      KUGEL_CHECK(k >= 0 && k <= (d < o->ndim ? 2 : 0), KUGEL_EINVAL,
                  "term %d: derivative[%d] is %d, must be 0 to %d", t, d, k, d < o->ndim ? 2 : 0);
      sum += k;
      highest[d] = k > highest[d] ? k : highest[d];
    }
    KUGEL_CHECK(sum <= 2, KUGEL_EINVAL,
                "term %d: derivatives are %d in all, must be at most 2: apply plans one after another", t,
                (int)sum);
  }
  return KUGEL_OK;
}

static kugel_status check_axis(const kugel_stencil_opts *o, int d, int derivative)
{
  const kugel_stencil_boundary *b = o->boundary[d];
  bool one_sided = false;
  for (int e = 0; e < 2; e++) {
    KUGEL_CHECK((int)b[e] >= 0 && (int)b[e] <= KUGEL_STENCIL_ONE_SIDED, KUGEL_EINVAL,
                "boundary[%d][%d] is %d, must be a kugel_stencil_boundary, 0 to 4", d, e, (int)b[e]);
    KUGEL_CHECK(
        !o->compact || b[e] != KUGEL_STENCIL_ZERO, KUGEL_EINVAL,
        "boundary[%d][%d] is KUGEL_STENCIL_ZERO, which compact differences do not have: take the odd, "
        "even, one-sided or periodic one",
        d, e);
    one_sided |= b[e] == KUGEL_STENCIL_ONE_SIDED;
  }
  KUGEL_CHECK((b[0] == KUGEL_STENCIL_PERIODIC) == (b[1] == KUGEL_STENCIL_PERIODIC), KUGEL_EINVAL,
              "boundary[%d] is periodic at one end only: let both be KUGEL_STENCIL_PERIODIC, or none", d);
  const int least = derivative ? o->order + 1 + one_sided : 1;
  KUGEL_CHECK(o->n[d] >= least && o->n[d] <= (int64_t)1 << 31, KUGEL_EINVAL,
              "n[%d] is %lld, must be %d to 2^31 for differences of order %d%s%s", d, (long long)o->n[d],
              least, o->order, one_sided ? " with one-sided ends" : "",
              o->n[d] < least ? ": use more nodes or a lower order" : "");
  KUGEL_CHECK(!o->h || (o->h[d] >= 1e-30 && o->h[d] <= 1e30), KUGEL_EINVAL,
              "h[%d] is %g, must be 1e-30 to 1e30", d, o->h ? o->h[d] : 0);
  return KUGEL_OK;
}

static kugel_status check(const kugel_stencil_opts *o)
{
  int highest[3] = {0};
  double nodes = 1;
  KUGEL_CHECK(o->ndim >= 1 && o->ndim <= 3, KUGEL_EINVAL, "ndim is %d, must be 1 to 3", o->ndim);
  KUGEL_CHECK(o->n, KUGEL_EINVAL, "n is NULL: pass %d numbers of nodes", o->ndim);
  KUGEL_CHECK(o->order == 2 || o->order == 4 || o->order == 6 || o->order == 8, KUGEL_EINVAL,
              "order is %d, must be 2, 4, 6 or 8", o->order);
  KUGEL_CHECK(o->compact == 0 || o->compact == 1, KUGEL_EINVAL, "compact is %d, must be 0 or 1", o->compact);
  KUGEL_CHECK(o->steps_per_pass >= 0 && o->steps_per_pass <= KUGEL__LEAP_STEPS, KUGEL_EINVAL,
              "steps_per_pass is %d, must be 0 (chosen) to %d", o->steps_per_pass, KUGEL__LEAP_STEPS);
  KUGEL_CHECK(!o->compact || o->order == 4, KUGEL_EINVAL, "order is %d, must be 4 (or 0) with compact = 1",
              o->order);
  KUGEL_CHECK(o->precision == KUGEL_PRECISION_F64 || o->precision == KUGEL_PRECISION_F32, KUGEL_EINVAL,
              "precision is %d, must be KUGEL_PRECISION_F64 (0) or KUGEL_PRECISION_F32 (1)",
              (int)o->precision);
  KUGEL_TRY(check_terms(o, highest));
  for (int d = 0; d < o->ndim; d++) {
    KUGEL_TRY(check_axis(o, d, highest[d]));
    nodes *= (double)o->n[d];
  }
  KUGEL_CHECK(nodes <= 0x1p40, KUGEL_EINVAL, "n has %g nodes in all, must be at most 2^40", nodes);
  return KUGEL_OK;
}

/* ---- coefficients ---- */

static double number(bool single, const void *data, int64_t i)
{
  return single ? (double)((const float *)data)[i] : ((const double *)data)[i];
}

/* The product of a coefficient and the mask, either of which may be NULL, and its largest absolute value. */
static kugel_status copy_coefficient(kugel_stencil *p, const void *from, const void *mask, int term,
                                     double *most)
{
  const size_t bytes = (size_t)p->nodes * (p->single ? 4 : 8);
  char *to = p->coefficients[term] = kugel__alloc(p->ctx, bytes);
  KUGEL_CHECK(to, KUGEL_ENOMEM, "no memory for a coefficient of %zu bytes", bytes);
  p->bytes += bytes;
  *most = 0;
  for (int64_t i = 0; i < p->nodes; i++) {
    if (i % (1 << 16) == 0)
      KUGEL_TRY(kugel__progress_step((double)i / (double)p->nodes));
    const double c = from ? number(p->single, from, i) : 1, m = mask ? number(p->single, mask, i) : 1;
    KUGEL_CHECK(isfinite(c), KUGEL_EINVAL, "term %d: element %lld of its coefficient is %g, must be finite",
                term, (long long)i, c);
    KUGEL_CHECK(isfinite(m), KUGEL_EINVAL, "element %lld of the mask is %g, must be finite", (long long)i, m);
    const double product = p->single ? (double)((float)c * (float)m) : c * m;
    KUGEL_CHECK(
        isfinite(product), KUGEL_EINVAL,
        "term %d: coefficient times mask is beyond the largest number at element %lld: use smaller ones",
        term, (long long)i);
    if (p->single)
      ((float *)(void *)to)[i] = (float)product;
    else
      ((double *)(void *)to)[i] = product;
    *most = fmax(*most, fabs(product));
  }
  return KUGEL_OK;
}

/* ---- terms ---- */

/* The term whose copy of the coefficient term t shares. */
static int sharer(const kugel_stencil_opts *o, int t)
{
  int same = 0;
  while (o->terms[same].coefficient != o->terms[t].coefficient)
    same++;
  return same;
}

static kugel_status make_side(kugel_stencil *p, const kugel_stencil_opts *o, bool transposed)
{
  kugel__stencil_side *side = &p->side[transposed];
  side->transposed = transposed;
  side->sources = transposed ? o->outs : o->fields;
  side->targets = transposed ? o->fields : o->outs;
  kugel__stencil_part *parts = kugel__calloc(p->ctx, sizeof *parts * (size_t)o->nterms);
  KUGEL_CHECK(parts, KUGEL_ENOMEM, "no memory for %d terms", o->nterms);
  for (int t = 0; t < o->nterms; t++) {
    const kugel_stencil_term *term = &o->terms[t];
    parts[t] = (kugel__stencil_part){.from = transposed ? term->out : term->field,
                                     .to = transposed ? term->field : term->out,
                                     .factor = term->factor,
                                     .coefficient = p->coefficients[sharer(o, t)]};
    for (int d = 0; d < 3; d++) {
      const int axis = d - (3 - p->ndim);
      parts[t].derivative[d] = axis < 0 ? 0 : term->derivative[axis];
      parts[t].line[d] = &p->lines[transposed][d][parts[t].derivative[d]];
    }
  }
  kugel_status s = kugel__stencil_side_make(p, side, parts, o->nterms);
  kugel__free(p->ctx, parts);
  return s;
}

static kugel_status make_terms(kugel_stencil *p, const kugel_stencil_opts *o)
{
  const double largest = p->single ? (double)FLT_MAX : DBL_MAX;
  double sum[MOST_FIELDS] = {0}, most[MOST_TERMS];
  p->coefficients = kugel__calloc(p->ctx, sizeof *p->coefficients * (size_t)o->nterms);
  p->names = kugel__calloc(p->ctx, sizeof *p->names * (size_t)o->nterms);
  KUGEL_CHECK(p->coefficients && p->names, KUGEL_ENOMEM, "no memory for a plan");
  p->nterms = o->nterms;
  for (int t = 0; t < o->nterms; t++) {
    const kugel_stencil_term *term = &o->terms[t];
    const int same = sharer(o, t);
    most[t] = 1;
    kugel__progress_stage((double)t / o->nterms, (double)(t + 1) / o->nterms, "coefficients");
    if (same < t)
      most[t] = most[same];
    else if (term->coefficient || o->mask)
      KUGEL_TRY(copy_coefficient(p, term->coefficient, o->mask, t, &most[t]));
    double size = fabs(term->factor);
    for (int d = 0; d < p->ndim; d++)
      size *= kugel__stencil_line_bound(&p->lines[0][d + 3 - p->ndim][term->derivative[d]]) *
              (p->compact ? kugel__stencil_compact_growth(term->derivative[d]) : 1);
    sum[term->out] += size * most[t];
    p->bound = fmax(p->bound, sum[term->out]);
    KUGEL_CHECK(size <= largest && p->bound <= largest, KUGEL_EINVAL,
                "term %d: factor, coefficient and 1 / h^%d make weights beyond %g, the largest number: use "
                "other units",
                t, term->derivative[0] + term->derivative[1] + term->derivative[2], largest);
  }
  for (int t = 0; t < o->nterms; t++)
    p->names[t] = p->coefficients[t];
  KUGEL_TRY(make_side(p, o, false));
  return make_side(p, o, true);
}

static kugel_status make(kugel_stencil *p, const kugel_stencil_opts *o)
{
  p->lines = kugel__calloc(p->ctx, sizeof *p->lines * 2);
  KUGEL_CHECK(p->lines, KUGEL_ENOMEM, "no memory for a plan");
  p->nodes = 1;
  for (int d = 0; d < 3; d++) {
    const int axis = d - (3 - p->ndim);
    p->h[d] = axis >= 0 && o->h ? o->h[axis] : 1;
    for (int e = 0; e < 2; e++)
      p->boundary[d][e] = axis < 0 ? KUGEL_STENCIL_PERIODIC : o->boundary[axis][e];
    p->n[d] = axis < 0 ? 1 : o->n[axis];
    p->nodes *= p->n[d];
    for (int k = 0; k < 3; k++) {
      const bool used = axis >= 0 && p->n[d] >= p->order + 1; // a shorter axis has no derivatives
      (p->compact ? kugel__stencil_line_make_compact : kugel__stencil_line_make)(
          &p->lines[0][d][k], p->n[d], used ? k : 0, p->order, p->h[d], p->boundary[d]);
      kugel__stencil_line_transpose(&p->lines[0][d][k], &p->lines[1][d][k]);
    }
  }
  KUGEL_TRY(make_terms(p, o));
  return p->compact ? kugel__stencil_compact_make(p) : KUGEL_OK;
}

/* ---- the public functions ---- */

kugel_status kugel_stencil_create(kugel_ctx *ctx, const kugel_stencil_opts *opts, kugel_stencil **out)
{
  KUGEL_CHECK(out, KUGEL_EINVAL, "out is NULL: pass where to put the plan");
  *out = NULL;
  kugel_stencil_opts o;
  KUGEL_TRY(kugel__take_opts(&o, sizeof o, opts, "kugel_stencil_opts"));
  o.order = o.order ? o.order : o.compact ? 4 : 2;
  o.fields = o.fields ? o.fields : 1;
  o.outs = o.outs ? o.outs : 1;
  KUGEL_TRY(check(&o));
  kugel_stencil *p = kugel__calloc(ctx, sizeof *p);
  KUGEL_CHECK(p, KUGEL_ENOMEM, "no memory for a plan");
  p->ctx = kugel__ctx_retain(ctx);
  p->ndim = o.ndim;
  p->order = o.order;
  p->compact = o.compact;
  p->steps_per_pass = o.steps_per_pass;
  p->precision = o.precision;
  p->single = o.precision == KUGEL_PRECISION_F32;
  kugel__span span = kugel__progress_enter(0, 1);
  kugel_status s = make(p, &o);
  if (!s && p->ctx->device.type != KUGEL_CPU)
    s = kugel__stencil_gpu_create(p);
  kugel__progress_leave(span);
  if (s) {
    kugel_stencil_destroy(p);
    return s;
  }
  *out = p;
  return KUGEL_OK;
}

void kugel_stencil_destroy(kugel_stencil *p)
{
  if (!p)
    return;
  kugel_ctx *ctx = p->ctx;
  kugel__stencil_gpu_destroy(p);
  for (int t = 0; p->coefficients && t < p->nterms; t++)
    kugel__free(ctx, p->coefficients[t]);
  for (int i = 0; i < 2; i++)
    kugel__stencil_side_free(ctx, &p->side[i]);
  kugel__stencil_compact_free(p);
  kugel__free(ctx, p->coefficients);
  kugel__free(ctx, p->names);
  kugel__free(ctx, p->lines);
  kugel__free(ctx, p);
  kugel_ctx_destroy(ctx);
}

kugel_status kugel_stencil_get_info(const kugel_stencil *p, kugel_stencil_info *info)
{
  KUGEL_CHECK(p && info, KUGEL_EINVAL, "plan or info is NULL: pass both");
  kugel_stencil_info whole = {.size = sizeof whole,
                              .ndim = p->ndim,
                              .order = p->order,
                              .reach = p->compact ? 1 : p->order / 2,
                              .fields = p->side[0].sources,
                              .outs = p->side[0].targets,
                              .precision = p->precision,
                              .bound = p->bound,
                              .bytes = p->bytes,
                              .compact = p->compact};
  whole.steps_per_pass = p->gpu ? 1 : kugel__stencil_leaps(p, false);
  if (p->gpu && !p->compact)
    whole.steps_per_pass = p->gpu->side[0].leap[0].shape ? p->gpu->side[0].leap[0].shape->stages : 1;
  memcpy(whole.n, p->n + 3 - p->ndim, sizeof *whole.n * (size_t)p->ndim);
  return kugel__give_info(info, &whole, sizeof whole, "kugel_stencil_info");
}
