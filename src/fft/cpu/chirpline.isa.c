/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/base.h"
#include "fft/cpu/chirpline.h"
#include "fft/cpu/points.h"

ALWAYS cvec exchange(cvec a, bool yes)
{
  return yes ? (cvec){a.im, a.re} : a;
}

// One element of the line; of half a spectrum also those above n / 2. Inverses: re and im exchanged.
ALWAYS void element(const kugel__chirpline *l, const kugel__longjob *job, int64_t j, double *re, double *im,
                    bool f32)
{
  if (l->kind == KUGEL__LONG_R2C) {
    *re = read_one(job->in, j * job->in_step, f32);
    *im = 0;
    return;
  }
  bool half = l->kind == KUGEL__LONG_C2R, above = half && 2 * j > l->n;
  int64_t at = 2 * (above ? l->n - j : j) * job->in_step;
  double a = read_one(job->in, at, f32), b = read_one(job->in, at + 1, f32);
  b = half && (j == 0 || 2 * j == l->n) ? 0 : above ? -b : b;
  *re = half || job->inverse ? b : a;
  *im = half || job->inverse ? a : b;
}

ALWAYS void before_of(const kugel__chirpline *l, const kugel__longjob *job, double *z, bool f32)
{
  int64_t j = 0, step = job->in_step, direct = l->kind == KUGEL__LONG_C2R ? 0 : l->n;
  for (; j + VLEN <= direct; j += VLEN) {
    cvec w = read_complex((const char *)l->chirp, j, 1, false), v;
    if (l->kind == KUGEL__LONG_R2C) {
      vf64 x = read_real(job->in, j * step, step, f32);
      v = (cvec){x * w.re, x * w.im};
    } else {
      v = product(exchange(read_complex(job->in, j * step, step, f32), job->inverse), w);
    }
    write_complex((char *)z, j, 1, v, VLEN, false);
  }
  for (; j < l->n; j++) {
    const double *w = l->chirp + 2 * j;
    double re, im;
    element(l, job, j, &re, &im, f32);
    z[2 * j] = re * w[0] - im * w[1];
    z[2 * j + 1] = re * w[1] + im * w[0];
  }
  memset(z + 2 * l->n, 0, (size_t)(l->transform.n - l->n) * 16);
}

static void before(const kugel__chirpline *l, const kugel__longjob *job, double *z)
{
  job->f32 ? before_of(l, job, z, true) : before_of(l, job, z, false);
}

static void between(const kugel__chirpline *l, double *z) // m is a multiple of VLEN
{
  for (int64_t k = 0; k < l->transform.n; k += VLEN) {
    cvec v =
        product(read_complex((char *)z, k, 1, false), read_complex((const char *)l->spectrum, k, 1, false));
    write_complex((char *)z, k, 1, exchange(v, true), VLEN, false);
  }
}

ALWAYS void after_of(const kugel__chirpline *l, const kugel__longjob *job, const double *z, bool f32)
{
  int64_t step = job->out_step, count = l->kind == KUGEL__LONG_R2C ? l->n / 2 + 1 : l->n, k = 0;
  vf64 scale = v_set(job->scale);
  for (; k + VLEN <= count; k += VLEN) {
    cvec w = read_complex((const char *)l->chirp, k, 1, false);
    cvec v = product(exchange(read_complex((const char *)z, k, 1, false), true), w);
    if (l->kind == KUGEL__LONG_C2R)
      write_real(job->out, k * step, step, scale * v.im, VLEN, f32);
    else
      write_complex(job->out, k * step, step, exchange((cvec){scale * v.re, scale * v.im}, job->inverse),
                    VLEN, f32);
  }
  for (; k < count; k++) {
    const double *w = l->chirp + 2 * k;
    double re = job->scale * (z[2 * k + 1] * w[0] - z[2 * k] * w[1]);
    double im = job->scale * (z[2 * k + 1] * w[1] + z[2 * k] * w[0]);
    if (l->kind == KUGEL__LONG_C2R) {
      write_one(job->out, k * step, im, f32);
      continue;
    }
    write_one(job->out, 2 * k * step, job->inverse ? im : re, f32);
    write_one(job->out, 2 * k * step + 1, job->inverse ? re : im, f32);
  }
  if (l->kind == KUGEL__LONG_R2C) { // imaginary parts that a real line makes zero
    write_one(job->out, 1, 0, f32);
    if (l->n % 2 == 0)
      write_one(job->out, l->n * step + 1, 0, f32);
  }
}

static void after(const kugel__chirpline *l, const kugel__longjob *job, const double *z)
{
  job->f32 ? after_of(l, job, z, true) : after_of(l, job, z, false);
}

extern const kugel__chirp_ops ISA_NAME(kugel__chirp_ops);
const kugel__chirp_ops ISA_NAME(kugel__chirp_ops) = {VLEN, before, between, after};
