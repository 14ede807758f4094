/* SPDX-License-Identifier: BSD-3-Clause */
#include "fft/modulus.h"
#include <math.h>
#include "core/parallel.h"

kugel_status kugel__modulus_check(const kugel_fft_opts *o)
{
  KUGEL_CHECK((int)o->modulus >= KUGEL_FFT_COMPLEX && o->modulus <= KUGEL_FFT_LOG_MAGNITUDE, KUGEL_EINVAL,
              "modulus is %d, must be KUGEL_FFT_COMPLEX (0) to KUGEL_FFT_LOG_MAGNITUDE (3)", (int)o->modulus);
  KUGEL_CHECK(!o->modulus || o->kind <= KUGEL_FFT_R2C, KUGEL_EINVAL,
              "modulus is %d, but this kind has real results: only C2C and R2C have others", (int)o->modulus);
  KUGEL_CHECK(!o->modulus || o->precision != KUGEL_FFT_DD, KUGEL_EINVAL,
              "modulus is %d, which double-double results do not have", (int)o->modulus);
  return KUGEL_OK;
}

typedef struct sweep {
  kugel_fft_modulus modulus;
  bool single;
  const kugel__view *in, *out;
  int64_t rows, chunk;
} sweep;

static double modulus_of(kugel_fft_modulus modulus, double re, double im)
{
  double power = re * re + im * im;
  return modulus == KUGEL_FFT_POWER ? power : modulus == KUGEL_FFT_MAGNITUDE ? sqrt(power) : 0.5 * log(power);
}

static void row(const sweep *s, int64_t index)
{
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

static kugel_status rows(void *arg, int64_t task, int worker)
{
  const sweep *s = arg;
  (void)worker;
  for (int64_t i = task * s->chunk; i < kugel__min(s->rows, (task + 1) * s->chunk); i++)
    row(s, i);
  return KUGEL_OK;
}

kugel_status kugel__modulus_apply(kugel_ctx *ctx, kugel_fft_modulus modulus, bool single,
                                  const kugel__view *in, const kugel__view *out)
{
  sweep s = {.modulus = modulus, .single = single, .in = in, .out = out, .rows = 1};
  for (int d = 0; d < in->ndim - 1; d++)
    s.rows *= in->shape[d];
  s.chunk = 32768 / kugel__max(1, in->shape[in->ndim - 1]) + 1;
  return kugel__parallel(ctx, (s.rows + s.chunk - 1) / s.chunk, rows, &s);
}
