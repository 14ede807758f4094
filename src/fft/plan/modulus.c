/* SPDX-License-Identifier: BSD-3-Clause */
#include "fft/plan/modulus.h"
#include "fft/plan/rows.h"
#include <math.h>

kugel_status kugel__modulus_check(const kugel_fft_opts *o)
{
  KUGEL_CHECK((int)o->modulus >= KUGEL_FFT_COMPLEX && o->modulus <= KUGEL_FFT_LOG_MAGNITUDE, KUGEL_EINVAL,
              "modulus is %d, must be KUGEL_FFT_COMPLEX (0) to KUGEL_FFT_LOG_MAGNITUDE (3)", (int)o->modulus);
  KUGEL_CHECK(!o->modulus || o->kind <= KUGEL_FFT_R2C, KUGEL_EINVAL,
              "modulus is %d, but this kind has real results: only C2C and R2C have others", (int)o->modulus);
  KUGEL_CHECK(!o->modulus || o->precision != KUGEL_PRECISION_DD, KUGEL_EINVAL,
              "modulus is %d, which double-double results do not have", (int)o->modulus);
  return KUGEL_OK;
}

typedef struct sweep {
  kugel_fft_modulus modulus;
  bool single;
  const kugel__view *in, *out;
} sweep;

static double modulus_of(kugel_fft_modulus modulus, double re, double im)
{
  double power = re * re + im * im;
  return modulus == KUGEL_FFT_POWER ? power : modulus == KUGEL_FFT_MAGNITUDE ? sqrt(power) : 0.5 * log(power);
}

static void row(const void *of, int64_t index)
{
  const sweep *s = of;
  int last = s->in->ndim - 1;
  int64_t from = 0, to = 0;
  for (int d = last - 1; d >= 0; d--) {
    int64_t i = index % s->in->shape[d];
    index /= s->in->shape[d];
    from += i * s->in->stride[d];
    to += i * s->out->stride[d];
  }
  for (int64_t i = 0; i < s->in->shape[last]; i++, from += s->in->stride[last], to += s->out->stride[last])
    if (s->single) {
      const float *x = (const float *)(void *)s->in->data + 2 * from;
      ((float *)(void *)s->out->data)[to] = (float)modulus_of(s->modulus, (double)x[0], (double)x[1]);
    } else {
      const double *x = (const double *)(void *)s->in->data + 2 * from;
      ((double *)(void *)s->out->data)[to] = modulus_of(s->modulus, x[0], x[1]);
    }
}

kugel_status kugel__modulus_apply(kugel_ctx *ctx, kugel_fft_modulus modulus, bool single,
                                  const kugel__view *in, const kugel__view *out)
{
  sweep s = {.modulus = modulus, .single = single, .in = in, .out = out};
  return kugel__each_row(ctx, in, row, &s);
}
