/* SPDX-License-Identifier: BSD-3-Clause */
#include "fft/plan/hooks.h"
#include "fft/plan/rows.h"
#include <math.h>
#include "core/alloc.h"
#include "core/array.h"

/* ---- plans ---- */

// Elements that a side of the transform has along an axis.
static int64_t elements(const kugel_fft_opts *o, const kugel_fft_hook *h, const int64_t *n, int last)
{
  bool spectrum =
      o->kind == KUGEL_FFT_R2C && h->axis == last && (h->sign == KUGEL_FORWARD) == (h->write != 0);
  return spectrum ? n[h->axis] / 2 + 1 : n[h->axis];
}

static kugel_status check_hook(const kugel_fft_opts *o, int i, int ndim, const int64_t *n, int naxes,
                               const int *axes)
{
  const kugel_fft_hook *h = &o->hooks[i];
  bool transformed = false;
  KUGEL_CHECK(h->sign == KUGEL_FORWARD || h->sign == KUGEL_INVERSE, KUGEL_EINVAL,
              "hooks[%d].sign is %d, must be KUGEL_FORWARD (-1) or KUGEL_INVERSE (1)", i, h->sign);
  KUGEL_CHECK(h->axis >= 0 && h->axis < ndim, KUGEL_EINVAL, "hooks[%d].axis is %d, must be 0 to %d", i,
              h->axis, ndim - 1);
  for (int a = 0; a < naxes; a++)
    transformed |= axes[a] == h->axis;
  KUGEL_CHECK(transformed, KUGEL_EINVAL, "hooks[%d].axis is %d, which this plan does not transform", i,
              h->axis);
  KUGEL_CHECK(h->factor, KUGEL_EINVAL, "hooks[%d].factor is NULL: pass an array", i);
  kugel_dtype t = h->factor->dtype;
  bool complex = t.code == KUGEL_COMPLEX, reals = o->kind != KUGEL_FFT_C2C;
  if (o->kind == KUGEL_FFT_R2C) // its spectrum takes complex factors, but what is real must stay so
    reals = (h->sign == KUGEL_FORWARD) != (h->write != 0);
  KUGEL_CHECK((t.code == KUGEL_FLOAT && (t.bits == 32 || t.bits == 64)) ||
                  (complex && (t.bits == 64 || t.bits == 128) && !reals),
              KUGEL_ESHAPE, "hooks[%d].factor has type %d of %d bits, must be float or double%s", i, t.code,
              t.bits, reals ? ": it multiplies reals" : " or complex of these");
  int64_t shape = elements(o, h, n, axes[naxes - 1]), lead = 1;
  return kugel__array_check(h->factor, "hooks[].factor", t, 1, &shape, &lead);
}

static void multiply_in(double *to, const kugel_array *a, int64_t count)
{
  const void *data = kugel__array_data(a);
  bool complex = a->dtype.code == KUGEL_COMPLEX, single = a->dtype.bits == (complex ? 64 : 32);
  int parts = complex ? 2 : 1;
  for (int64_t i = 0; i < count; i++) {
    double x[2] = {0, 0}, re = to[2 * i], im = to[2 * i + 1];
    for (int part = 0; part < parts; part++)
      x[part] =
          single ? (double)((const float *)data)[i * parts + part] : ((const double *)data)[i * parts + part];
    to[2 * i] = re * x[0] - im * x[1];
    to[2 * i + 1] = re * x[1] + im * x[0];
  }
}

kugel_status kugel__hooks_create(kugel_ctx *ctx, const kugel_fft_opts *o, int ndim, const int64_t *n,
                                 int naxes, const int *axes, kugel__hooks *out)
{
  KUGEL_CHECK(o->nhooks >= 0 && o->nhooks <= 64 && (o->nhooks == 0 || o->hooks), KUGEL_EINVAL,
              "nhooks is %d with hooks %s, must be 0 to 64 with hooks set", o->nhooks,
              o->hooks ? "set" : "NULL");
  for (int i = 0; i < o->nhooks; i++) {
    const kugel_fft_hook *h = &o->hooks[i];
    KUGEL_TRY(check_hook(o, i, ndim, n, naxes, axes));
    int64_t count = elements(o, h, n, axes[naxes - 1]);
    double **factor = &out->factor[h->sign == KUGEL_INVERSE][h->write != 0][h->axis];
    if (!*factor) {
      *factor = kugel__alloc(ctx, (size_t)count * 16);
      KUGEL_CHECK(*factor, KUGEL_ENOMEM, "no memory for %lld factors", (long long)count);
      for (int64_t k = 0; k < count; k++) {
        (*factor)[2 * k] = 1;
        (*factor)[2 * k + 1] = 0;
      }
    }
    multiply_in(*factor, h->factor, count);
    out->any = true;
  }
  return KUGEL_OK;
}

void kugel__hooks_destroy(kugel_ctx *ctx, kugel__hooks *h)
{
  for (int i = 0; i < 4 * KUGEL__HOOK_AXES; i++)
    kugel__free(ctx, h->factor[i / 2 / KUGEL__HOOK_AXES][i / KUGEL__HOOK_AXES % 2][i % KUGEL__HOOK_AXES]);
}

bool kugel__hooks_has(const kugel__hooks *h, bool inverse, int write)
{
  for (int a = 0; a < KUGEL__HOOK_AXES; a++)
    if (h->factor[inverse][write][a])
      return true;
  return false;
}

/* ---- sweeps ---- */

typedef struct sweep {
  double *const *factor; // by axis of the plan
  int first;             // axis of the views that is the plan's axis 0
  bool single, complex;
  const kugel__view *in, *out;
} sweep;

static void multiply_one(const sweep *s, int64_t from, int64_t to, double re, double im)
{
  int parts = s->complex ? 2 : 1;
  double x[2] = {0, 0};
  for (int part = 0; part < parts; part++)
    x[part] = s->single ? (double)((const float *)(void *)s->in->data)[from * parts + part]
                        : ((const double *)(void *)s->in->data)[from * parts + part];
  double y[2] = {x[0] * re - x[1] * im, x[0] * im + x[1] * re};
  for (int part = 0; part < parts; part++)
    if (s->single)
      ((float *)(void *)s->out->data)[to * parts + part] = (float)y[part];
    else
      ((double *)(void *)s->out->data)[to * parts + part] = y[part];
}

// All elements of a row have the other axes' factors in common.
static void row(const void *of, int64_t index)
{
  const sweep *s = of;
  int last = s->in->ndim - 1;
  int64_t from = 0, to = 0;
  double re = 1, im = 0;
  for (int d = last - 1; d >= 0; d--) {
    int64_t i = index % s->in->shape[d];
    const double *f = d >= s->first ? s->factor[d - s->first] : NULL;
    index /= s->in->shape[d];
    from += i * s->in->stride[d];
    to += i * s->out->stride[d];
    if (f) {
      double r = re * f[2 * i] - im * f[2 * i + 1];
      im = re * f[2 * i + 1] + im * f[2 * i];
      re = r;
    }
  }
  const double *f = s->factor[last - s->first];
  for (int64_t i = 0; i < s->in->shape[last]; i++, from += s->in->stride[last], to += s->out->stride[last])
    if (f)
      multiply_one(s, from, to, re * f[2 * i] - im * f[2 * i + 1], re * f[2 * i + 1] + im * f[2 * i]);
    else
      multiply_one(s, from, to, re, im);
}

kugel_status kugel__hooks_apply(kugel_ctx *ctx, const kugel__hooks *h, bool inverse, int write, int ndim,
                                kugel_dtype type, const kugel__view *in, const kugel__view *out)
{
  sweep s = {.factor = h->factor[inverse][write],
             .first = in->ndim - ndim,
             .complex = type.code == KUGEL_COMPLEX,
             .in = in,
             .out = out};
  s.single = type.bits == (s.complex ? 64 : 32);
  return kugel__each_row(ctx, in, row, &s);
}
