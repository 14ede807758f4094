/* SPDX-License-Identifier: BSD-3-Clause */
/* Lane-wise Stockham stages: y[(t div S) S R + j + r S] = DFT_R(w_{RS}^{jr} v[t + r T]), j = t mod S, T = n /
 * R. */
#include <math.h>
#include "core/simd.h"
#include "fft/lanes.h"

enum { W = 2 * VLEN }; // doubles a point
#define SQRT_HALF 0.70710678118654752440

typedef struct cvec {
  vf64 re, im;
} cvec;

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
static inline cvec sub(cvec a, cvec b)
{
  return (cvec){a.re - b.re, a.im - b.im};
}
static inline cvec mul(cvec a, const double *w)
{
  return (cvec){a.re * w[0] - a.im * w[1], a.re * w[1] + a.im * w[0]};
}
static inline cvec minus_i(cvec a) // -i a
{
  return (cvec){a.im, -a.re};
}

static inline void dft2(cvec *x)
{
  cvec a = x[0];
  x[0] = add(a, x[1]);
  x[1] = sub(a, x[1]);
}
static inline void dft4(cvec *x)
{
  cvec a = add(x[0], x[2]), b = sub(x[0], x[2]), c = add(x[1], x[3]), d = minus_i(sub(x[1], x[3]));
  x[0] = add(a, c);
  x[1] = add(b, d);
  x[2] = sub(a, c);
  x[3] = sub(b, d);
}
static inline void dft8(cvec *x)
{
  cvec e[4] = {x[0], x[2], x[4], x[6]}, o[4] = {x[1], x[3], x[5], x[7]};
  dft4(e);
  dft4(o);
  cvec o1 = {(o[1].re + o[1].im) * SQRT_HALF, (o[1].im - o[1].re) * SQRT_HALF};
  cvec o3 = {(o[3].im - o[3].re) * SQRT_HALF, (-o[3].re - o[3].im) * SQRT_HALF};
  o[1] = o1;
  o[2] = minus_i(o[2]);
  o[3] = o3;
  for (int k = 0; k < 4; k++) {
    x[k] = add(e[k], o[k]);
    x[k + 4] = sub(e[k], o[k]);
  }
}
static inline void dft3(cvec *x)
{
  cvec s = add(x[1], x[2]), d = sub(x[1], x[2]);
  cvec m = {x[0].re - 0.5 * s.re, x[0].im - 0.5 * s.im};
  cvec r = {0.86602540378443864676 * d.im, -0.86602540378443864676 * d.re};
  x[0] = add(x[0], s);
  x[1] = add(m, r);
  x[2] = sub(m, r);
}
static inline void dft5(cvec *x)
{
  const double c1 = 0.30901699437494742410, c2 = -0.80901699437494742410;
  const double s1 = 0.95105651629515357212, s2 = 0.58778525229247312917;
  cvec a = add(x[1], x[4]), b = sub(x[1], x[4]), c = add(x[2], x[3]), d = sub(x[2], x[3]);
  cvec m1 = {x[0].re + c1 * a.re + c2 * c.re, x[0].im + c1 * a.im + c2 * c.im};
  cvec m2 = {x[0].re + c2 * a.re + c1 * c.re, x[0].im + c2 * a.im + c1 * c.im};
  cvec r1 = {s1 * b.im + s2 * d.im, -s1 * b.re - s2 * d.re};
  cvec r2 = {s2 * b.im - s1 * d.im, -s2 * b.re + s1 * d.re};
  x[0] = add(x[0], add(a, c));
  x[1] = add(m1, r1);
  x[4] = sub(m1, r1);
  x[2] = add(m2, r2);
  x[3] = sub(m2, r2);
}

// Any odd radix by symmetric sums; cs[k] = cos, sin(2 pi k / R).
static inline void dft_odd(cvec *x, int radix, const double *cs)
{
  int half = (radix - 1) / 2;
  cvec s[(KUGEL__MAX_RADIX - 1) / 2], d[(KUGEL__MAX_RADIX - 1) / 2], zero = x[0];
  for (int j = 1; j <= half; j++) {
    s[j - 1] = add(x[j], x[radix - j]);
    d[j - 1] = sub(x[j], x[radix - j]);
    x[0] = add(x[0], s[j - 1]);
  }
  for (int k = 1; k <= half; k++) {
    cvec a = zero, b = {{0}, {0}};
    for (int j = 1, at = k; j <= half; j++, at = (at + k) % radix) {
      a.re += s[j - 1].re * cs[2 * at];
      a.im += s[j - 1].im * cs[2 * at];
      b.re += d[j - 1].im * cs[2 * at + 1];
      b.im -= d[j - 1].re * cs[2 * at + 1];
    }
    x[k] = add(a, b);
    x[radix - k] = sub(a, b);
  }
}

#define STAGE(name, radix, butterfly)                                                                        \
  static void name(int64_t n, int64_t s, const double *tw, const double *in, double *out, const double *cs)  \
  {                                                                                                          \
    int64_t t = n / (radix), blocks = t / s;                                                                 \
    (void)cs;                                                                                                \
    for (int64_t b = 0; b < blocks; b++) {                                                                   \
      for (int64_t j = 0; j < s; j++) {                                                                      \
        const double *w = tw + 2 * ((radix)-1) * j;                                                          \
        cvec x[(radix)];                                                                                     \
        const double *from = in + W * (b * s + j);                                                           \
        double *to = out + W * (b * s * (radix) + j);                                                        \
        x[0] = get(from);                                                                                    \
        for (int r = 1; r < (radix); r++) {                                                                  \
          x[r] = get(from + W * r * t);                                                                      \
          if (s > 1)                                                                                         \
            x[r] = mul(x[r], w + 2 * (r - 1));                                                               \
        }                                                                                                    \
        butterfly;                                                                                           \
        for (int r = 0; r < (radix); r++)                                                                    \
          put(to + W * r * s, x[r]);                                                                         \
      }                                                                                                      \
    }                                                                                                        \
  }

STAGE(stage2, 2, dft2(x))
STAGE(stage3, 3, dft3(x))
STAGE(stage4, 4, dft4(x))
STAGE(stage5, 5, dft5(x))
STAGE(stage8, 8, dft8(x))

static void stage_odd(int radix, int64_t n, int64_t s, const double *tw, const double *in, double *out)
{
  double cs[2 * KUGEL__MAX_RADIX];
  int64_t t = n / radix, blocks = t / s;
  for (int k = 0; k < radix; k++) { // reduced to [0, pi] by symmetry: accurate
    int q = 2 * k > radix ? radix - k : k;
    cs[2 * k] = cos(2 * M_PI * q / radix);
    cs[2 * k + 1] = 2 * k > radix ? -sin(2 * M_PI * q / radix) : sin(2 * M_PI * q / radix);
  }
  for (int64_t b = 0; b < blocks; b++)
    for (int64_t j = 0; j < s; j++) {
      cvec x[KUGEL__MAX_RADIX];
      for (int r = 0; r < radix; r++) {
        x[r] = get(in + W * (b * s + j + r * t));
        if (r && s > 1)
          x[r] = mul(x[r], tw + 2 * ((radix - 1) * j + r - 1));
      }
      dft_odd(x, radix, cs);
      for (int r = 0; r < radix; r++)
        put(out + W * (b * s * radix + j + r * s), x[r]);
    }
}

static double *exec(const kugel__lanes *p, double *x, double *work);

static double *bluestein(const kugel__lanes *p, double *x, double *work)
{
  int64_t n = p->n, m = p->inner->n;
  double *y = work;
  for (int64_t k = 0; k < n; k++)
    put(y + W * k, mul(get(x + W * k), p->chirp + 2 * k));
  for (int64_t k = n; k < m; k++)
    put(y + W * k, (cvec){{0}, {0}});
  double *z = exec(p->inner, y, work + W * m), *other = z == y ? work + W * m : y;
  for (int64_t k = 0; k < m; k++) { // product, exchanged for the inverse
    cvec a = mul(get(z + W * k), p->spectrum + 2 * k);
    put(z + W * k, (cvec){a.im, a.re});
  }
  z = exec(p->inner, z, other);
  for (int64_t k = 0; k < n; k++) {
    cvec a = get(z + W * k);
    put(x + W * k, mul((cvec){a.im, a.re}, p->chirp + 2 * k));
  }
  return x;
}

static double *exec(const kugel__lanes *p, double *x, double *work)
{
  if (p->inner)
    return bluestein(p, x, work);
  double *from = x, *to = work;
  int64_t s = 1;
  for (int i = 0; i < p->stages; i++) {
    int radix = p->radix[i];
    switch (radix) {
    case 2:
      stage2(p->n, s, p->twiddle[i], from, to, NULL);
      break;
    case 3:
      stage3(p->n, s, p->twiddle[i], from, to, NULL);
      break;
    case 4:
      stage4(p->n, s, p->twiddle[i], from, to, NULL);
      break;
    case 5:
      stage5(p->n, s, p->twiddle[i], from, to, NULL);
      break;
    case 8:
      stage8(p->n, s, p->twiddle[i], from, to, NULL);
      break;
    default:
      stage_odd(radix, p->n, s, p->twiddle[i], from, to);
    }
    s *= radix;
    double *t = from;
    from = to;
    to = t;
  }
  return from;
}

extern const kugel__lanes_ops ISA_NAME(kugel__lanes_ops);
const kugel__lanes_ops ISA_NAME(kugel__lanes_ops) = {VLEN, exec};
