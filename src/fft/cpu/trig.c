/* SPDX-License-Identifier: BSD-3-Clause */
/* Sweeps around the DFT of a cosine or sine transform. Sine kinds are cosine kinds of the line with every
 * other sign changed, or reversed, on either side. */
#include "core/alloc.h"
#include "fft/roots/roots.h"
#include "fft/cpu/trig.h"

kugel_status kugel__trig_create(kugel_ctx *ctx, kugel_fft_kind kind, int64_t n, kugel__trig *out)
{
  kugel__trig t = {.kind = kind, .n = n, .length = n, .dft = KUGEL__LONG_R2C};
  kugel__turn first = KUGEL__NO_TURN, step = kugel__turn_ratio(-1, 4 * n); // e^{-i pi k / 2n}
  int64_t roots = n / 2 + 1;
  switch (kind) {
  case KUGEL_FFT_DCT1:
    t.length = 2 * (n - 1);
    roots = 0;
    break;
  case KUGEL_FFT_DST1:
    t.length = 2 * (n + 1);
    roots = 0;
    break;
  case KUGEL_FFT_DCT3:
  case KUGEL_FFT_DST3:
    t.dft = KUGEL__LONG_C2R;
    break;
  case KUGEL_FFT_DCT4:
  case KUGEL_FFT_DST4: // e^{-i pi (k + 1/8) / n}
    t.dft = KUGEL__LONG_C2C;
    t.length = n % 2 ? 0 : n / 2;
    first = kugel__turn_ratio(-1, 16 * n);
    step = kugel__turn_ratio(-1, 2 * n);
    break;
  default:;
  }
  *out = (kugel__trig){0};
  if (t.length <= 0)
    return KUGEL_OK;
  t.buffer = t.dft == KUGEL__LONG_C2C ? 2 * t.length : t.length + 2;
  if (roots) {
    KUGEL_ALLOC(ctx, t.root, (size_t)roots * 16);
    kugel__fft_roots(first, step, roots, t.root, 1);
  }
  *out = t;
  return KUGEL_OK;
}

void kugel__trig_destroy(kugel_ctx *ctx, kugel__trig *t)
{
  kugel__free(ctx, t->root);
  *t = (kugel__trig){0};
}

int64_t kugel__trig_steps(const kugel__trig *t, bool after)
{
  switch (t->kind) {
  case KUGEL_FFT_DCT2:
  case KUGEL_FFT_DST2:
    return after ? t->n / 2 + 1 : t->n;
  case KUGEL_FFT_DCT3:
  case KUGEL_FFT_DST3:
    return after ? t->n : t->n / 2 + 1;
  case KUGEL_FFT_DCT4:
  case KUGEL_FFT_DST4:
    return t->n / 2;
  default:
    return t->n;
  }
}

static inline double load(const kugel__longjob *job, int64_t j)
{
  return job->f32 ? (double)((const float *)(const void *)job->in)[j * job->in_step]
                  : ((const double *)(const void *)job->in)[j * job->in_step];
}

static inline void store(const kugel__longjob *job, int64_t k, double y)
{
  if (job->f32)
    ((float *)(void *)job->out)[k * job->out_step] = (float)(job->scale * y);
  else
    ((double *)(void *)job->out)[k * job->out_step] = job->scale * y;
}

// V_0 = X_0, V_k = e^{i pi k / 2n} (X_k - i X_{n-k}); of DST3 X is the line reversed.
static void spectrum(const kugel__trig *t, const kugel__longjob *job, int64_t begin, int64_t end, double *b)
{
  int64_t n = t->n, last = n - 1;
  bool sine = t->kind == KUGEL_FFT_DST3;
  for (int64_t k = begin; k < end; k++) {
    double x = load(job, sine ? last - k : k), y = k ? load(job, sine ? k - 1 : n - k) : 0;
    double c = t->root[2 * k], s = -t->root[2 * k + 1];
    b[2 * k] = c * x + s * y;
    b[2 * k + 1] = s * x - c * y;
  }
}

void kugel__trig_before(const kugel__trig *t, const kugel__longjob *job, int64_t begin, int64_t end,
                        double *b)
{
  int64_t n = t->n;
  switch (t->kind) {
  case KUGEL_FFT_DCT1: // the even extension
    for (int64_t j = begin; j < end; j++)
      b[j] = b[j ? t->length - j : 0] = load(job, j);
    break;
  case KUGEL_FFT_DST1: // the odd one
    if (begin == 0)
      b[0] = b[n + 1] = 0;
    for (int64_t j = begin; j < end; j++) {
      b[j + 1] = load(job, j);
      b[t->length - 1 - j] = -b[j + 1];
    }
    break;
  case KUGEL_FFT_DCT2:
  case KUGEL_FFT_DST2: // even elements, then odd ones backwards
    for (int64_t j = begin; j < end; j++)
      if (j % 2)
        b[n - 1 - j / 2] = t->kind == KUGEL_FFT_DST2 ? -load(job, j) : load(job, j);
      else
        b[j / 2] = load(job, j);
    break;
  case KUGEL_FFT_DCT3:
  case KUGEL_FFT_DST3:
    spectrum(t, job, begin, end, b);
    break;
  default: // (x_{2j} + i x_{n-1-2j}) p_j
    for (int64_t j = begin; j < end; j++) {
      double x = load(job, 2 * j), y = load(job, n - 1 - 2 * j), c = t->root[2 * j], s = t->root[2 * j + 1];
      double u = t->kind == KUGEL_FFT_DST4 ? y : x, v = t->kind == KUGEL_FFT_DST4 ? x : y;
      b[2 * j] = u * c - v * s;
      b[2 * j + 1] = u * s + v * c;
    }
  }
}

// X_k = 2 Re w^k V_k, X_{n-k} = -2 Im; of DST2 the result is reversed.
static void cosines(const kugel__trig *t, const kugel__longjob *job, int64_t begin, int64_t end,
                    const double *b)
{
  int64_t n = t->n, last = n - 1;
  bool sine = t->kind == KUGEL_FFT_DST2;
  for (int64_t k = begin; k < end; k++) {
    double c = 2 * t->root[2 * k], s = 2 * t->root[2 * k + 1], x = b[2 * k], y = b[2 * k + 1];
    store(job, sine ? last - k : k, c * x - s * y);
    if (k && 2 * k < n)
      store(job, sine ? k - 1 : n - k, -s * x - c * y);
  }
}

void kugel__trig_after(const kugel__trig *t, const kugel__longjob *job, int64_t begin, int64_t end,
                       const double *b)
{
  int64_t n = t->n;
  switch (t->kind) {
  case KUGEL_FFT_DCT1:
    for (int64_t k = begin; k < end; k++)
      store(job, k, b[2 * k]);
    break;
  case KUGEL_FFT_DST1:
    for (int64_t k = begin; k < end; k++)
      store(job, k, -b[2 * k + 3]);
    break;
  case KUGEL_FFT_DCT2:
  case KUGEL_FFT_DST2:
    cosines(t, job, begin, end, b);
    break;
  case KUGEL_FFT_DCT3:
  case KUGEL_FFT_DST3:
    for (int64_t j = begin; j < end; j++)
      if (j % 2)
        store(job, j, t->kind == KUGEL_FFT_DST3 ? -b[n - 1 - j / 2] : b[n - 1 - j / 2]);
      else
        store(job, j, b[j / 2]);
    break;
  default: // X_{2k} = 2 Re p_k T_k, X_{n-1-2k} = -2 Im
    for (int64_t k = begin; k < end; k++) {
      double c = 2 * t->root[2 * k], s = 2 * t->root[2 * k + 1], x = b[2 * k], y = b[2 * k + 1];
      double odd = -(c * y + s * x);
      store(job, 2 * k, c * x - s * y);
      store(job, n - 1 - 2 * k, t->kind == KUGEL_FFT_DST4 ? -odd : odd);
    }
  }
}
