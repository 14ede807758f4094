/* SPDX-License-Identifier: BSD-3-Clause */
/* Lane-wise Stockham stages: y[(t div S) S R + j + r S] = DFT_R(w_{RS}^{jr} v[t + r T]), j = t mod S, T = n /
 * R. */
#include "core/simd.h"
#include "fft/cpu/lanes.h"
#include "fft/cpu/codelets_f64.h"

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
static inline cvec add(cvec a, cvec b)
{
  return (cvec){a.re + b.re, a.im + b.im};
}
static inline cvec mul(cvec a, const double *w)
{
  return (cvec){a.re * w[0] - a.im * w[1], a.re * w[1] + a.im * w[0]};
}
static inline cvec exchanged(cvec a) // inverse transforms are forward ones between two exchanges
{
  return (cvec){a.im, a.re};
}

static double *exec(const kugel__lanes *p, double *x, double *work);

// x * spectrum, exchanged, so that the next forward transform is the inverse.
static void convolve(double *x, const double *spectrum, int64_t n)
{
  for (int64_t k = 0; k < n; k++)
    put(x + W * k, exchanged(mul(get(x + W * k), spectrum + 2 * k)));
}

// One prime butterfly: points from + r step of `in` to `to` + r jump of `out`; a: work space.
static void rader(const kugel__stage *st, const double *tw, const double *in, int64_t step, double *out,
                  int64_t jump, double *a)
{
  int64_t length = st->radix - 1;
  cvec first = get(in);
  for (int64_t q = 0; q < length; q++) {
    int64_t r = st->powers[q];
    cvec x = get(in + r * step);
    if (tw)
      x = mul(x, tw + 2 * (r - 1));
    put(a + W * q, x);
  }
  double *work = a + W * length, *c = exec(st->inner, a, work), *other = c == a ? work : a;
  put(out, add(first, get(c)));
  convolve(c, st->spectrum, length);
  put(c, add(get(c), exchanged(first))); // x_0 reaches every output
  c = exec(st->inner, c, other);
  for (int64_t q = 0; q < length; q++) // output g^-q
    put(out + st->powers[q ? length - q : 0] * jump, exchanged(get(c + W * q)));
}

static void stage_rader(const kugel__stage *st, int64_t n, int64_t s, const double *in, double *out,
                        double *work)
{
  int64_t t = n / st->radix;
  for (int64_t i = 0; i < t; i++) {
    int64_t j = i % s, b = i / s;
    rader(st, s > 1 ? st->twiddle + 2 * (st->radix - 1) * j : NULL, in + W * i, W * t,
          out + W * (b * s * st->radix + j), W * s, work);
  }
}

static double *bluestein(const kugel__lanes *p, double *x, double *work)
{
  int64_t n = p->n, m = p->inner->n;
  double *y = work;
  for (int64_t k = 0; k < n; k++)
    put(y + W * k, mul(get(x + W * k), p->chirp + 2 * k));
  for (int64_t k = n; k < m; k++)
    put(y + W * k, (cvec){{0}, {0}});
  double *z = exec(p->inner, y, work + W * m), *other = z == y ? work + W * m : y;
  convolve(z, p->spectrum, m);
  z = exec(p->inner, z, other);
  for (int64_t k = 0; k < n; k++)
    put(x + W * k, mul(exchanged(get(z + W * k)), p->chirp + 2 * k));
  return x;
}

static double *stages(const kugel__lanes *p, int begin, int end, double *x, double *y, double *work)
{
  int64_t s = 1;
  for (int i = 0; i < begin; i++)
    s *= p->stage[i].radix;
  for (int i = begin; i < end; i++) {
    const kugel__stage *st = &p->stage[i];
    if (st->inner)
      stage_rader(st, p->n, s, x, y, work);
    else if (s == 1)
      codelets_f64[st->radix].first(p->n, x, y);
    else
      codelets_f64[st->radix].stage(p->n, s, st->twiddle, x, y);
    s *= st->radix;
    double *t = x;
    x = y;
    y = t;
  }
  return x;
}

static double *exec(const kugel__lanes *p, double *x, double *work)
{
  if (p->inner)
    return bluestein(p, x, work);
  double *y = work + W * KUGEL__GAP;
  return stages(p, 0, p->stages, x, y, y + W * p->n);
}

extern const kugel__lanes_ops ISA_NAME(kugel__lanes_ops);
const kugel__lanes_ops ISA_NAME(kugel__lanes_ops) = {VLEN, exec, stages};
