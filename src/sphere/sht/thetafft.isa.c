/* SPDX-License-Identifier: BSD-3-Clause */
/* The resampling of VLEN lines, one a lane. Inverse transforms are forward ones of exchanged parts. */
#include "core/simd.h"
#include "sphere/sht/thetafft.h"

enum { W = 2 * VLEN }; // doubles a point

static inline cvec get(const double *p)
{
  return (cvec){v_load(p), v_load(p + VLEN)};
}
static inline void put(double *p, cvec a)
{
  v_store(p, a.re);
  v_store(p + VLEN, a.im);
}
static inline void put_exchanged(double *p, cvec a)
{
  put(p, (cvec){a.im, a.re});
}
static inline cvec mul(cvec a, double re, double im)
{
  return (cvec){a.re * re - a.im * im, a.re * im + a.im * re};
}

// Rings -> the whole circle. An odd function is zero where a ring is its own mirror image.
static void extend(const kugel__circle *c, const double *const *in, vf64 parity, double *x)
{
  for (int64_t i = 0; i < c->rings; i++) {
    double re[VLEN], im[VLEN];
    for (int v = 0; v < VLEN; v++) {
      re[v] = in[v][c->at[i]];
      im[v] = in[v][c->at[i] + c->row];
    }
    cvec a = {v_load(re), v_load(im)};
    int64_t mirror = (c->mirror - i) % c->n;
    if (mirror == i) {
      put(x + W * i, (cvec){0.5 * (a.re + parity * a.re), 0.5 * (a.im + parity * a.im)});
    } else {
      put(x + W * i, a);
      put(x + W * mirror, (cvec){parity * a.re, parity * a.im});
    }
  }
}

// The transpose. y has the parity already, so two mirrored samples are one doubled; y is exchanged.
static void fold(const kugel__circle *c, const double *y, vf64 parity, int count, double *const *out)
{
  for (int64_t i = 0; i < c->rings; i++) {
    cvec a = get(y + W * i);
    vf64 f = (c->mirror - i) % c->n == i ? 0.5 * (parity + 1) : v_set(2);
    vf64 re = f * a.im, im = f * a.re;
    for (int v = 0; v < count; v++) {
      out[v][c->at[i]] = re[v];
      out[v][c->at[i] + c->row] = im[v];
    }
  }
}

// Spectrum x[n] on a circle -> coefficients -cut ... cut of z[L], exchanged, the others zero.
static void spread(const kugel__circle *c, const double *x, int64_t length, double *z)
{
  const double *t = c->phase;
  for (int64_t k = 0; k <= c->cut; k++)
    put_exchanged(z + W * k, mul(get(x + W * k), t[2 * k], t[2 * k + 1]));
  for (int64_t k = 1; k <= c->cut; k++)
    put_exchanged(z + W * (length - k), mul(get(x + W * (c->n - k)), t[2 * k], -t[2 * k + 1]));
  memset(z + W * (c->cut + 1), 0, (size_t)(length - 2 * c->cut - 1) * W * 8);
}

// Its transpose: coefficients of z[L] -> spectrum y[n], exchanged.
static void gather(const kugel__circle *c, const double *z, int64_t length, double *y)
{
  const double *t = c->phase;
  int64_t last = 2 * c->cut == c->n ? c->cut - 1 : c->cut;
  for (int64_t k = 0; k <= last; k++)
    put_exchanged(y + W * k, mul(get(z + W * k), t[2 * k], -t[2 * k + 1]));
  memset(y + W * (last + 1), 0, (size_t)(c->n - 2 * last - 1) * W * 8);
  for (int64_t k = 1; k <= last; k++)
    put_exchanged(y + W * (c->n - k), mul(get(z + W * (length - k)), t[2 * k], t[2 * k + 1]));
  if (last < c->cut) { // both signs meet at the Nyquist frequency
    int64_t k = c->cut;
    cvec a = mul(get(z + W * k), t[2 * k], -t[2 * k + 1]),
         b = mul(get(z + W * (length - k)), t[2 * k], t[2 * k + 1]);
    put_exchanged(y + W * k, (cvec){a.re + b.re, a.im + b.im});
  }
}

// The half of the work space that does not hold x.
static double *free_half(const double *x, double *lower, double *upper)
{
  return x < upper ? upper : lower;
}

static void run(const kugel__thetafft *p, const kugel__circle *from, const kugel__circle *to, int count,
                const double *const *in, const bool *odd, double *const *out, double *scratch)
{
  double *(*dft)(const kugel__lanes *, double *, double *) = kugel__lanes_ops_now()->exec;
  int64_t length = p->dft->n, half = p->work / 2;
  double *lower = scratch, *upper = scratch + W * half, sign[VLEN];
  const double *line[VLEN];
  for (int v = 0; v < VLEN; v++) { // spare lanes repeat the first line
    line[v] = in[v < count ? v : 0];
    sign[v] = odd[v < count ? v : 0] ? -1 : 1;
  }
  vf64 parity = v_load(sign);
  extend(from, line, parity, lower);
  double *x = dft(from->dft, lower, upper), *z = free_half(x, lower, upper);
  spread(from, x, length, z);
  x = dft(p->dft, z, free_half(z, lower, upper));
  for (int64_t j = 0; j < length; j++) {
    cvec a = get(x + W * j);
    vf64 g = v_set(p->gain[j]);
    put_exchanged(x + W * j, (cvec){g * a.re, g * a.im});
  }
  z = dft(p->dft, x, free_half(x, lower, upper));
  x = free_half(z, lower, upper);
  gather(to, z, length, x);
  x = dft(to->dft, x, free_half(x, lower, upper));
  fold(to, x, parity, count, out);
}

extern const kugel__thetafft_ops ISA_NAME(kugel__thetafft_ops);
const kugel__thetafft_ops ISA_NAME(kugel__thetafft_ops) = {VLEN, run};
