/* SPDX-License-Identifier: BSD-3-Clause */
/* Complex DFTs of split arrays by the lane-wise ones: one array decimated in time into all lanes, or an array
 * a lane. */
#include "fft/rings/isa.h"

enum { W = 2 * VLEN };
#define INLINE static inline __attribute__((always_inline)) // so that `parts` is a constant

extern const kugel__lanes_ops ISA_NAME(kugel__lanes_ops);

static inline cvec add(cvec a, cvec b)
{
  return (cvec){a.re + b.re, a.im + b.im};
}
static inline cvec sub(cvec a, cvec b)
{
  return (cvec){a.re - b.re, a.im - b.im};
}
static inline cvec mul(cvec a, cvec b)
{
  return (cvec){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

#if VLEN >= 4
static inline cvec minus_i(cvec a)
{
  return (cvec){a.im, -a.re};
}
static inline void dft4(cvec *x)
{
  cvec a = add(x[0], x[2]), b = sub(x[0], x[2]), c = add(x[1], x[3]), d = minus_i(sub(x[1], x[3]));
  x[0] = add(a, c);
  x[1] = add(b, d);
  x[2] = sub(a, c);
  x[3] = sub(b, d);
}
#else
static inline void dft2(cvec *x)
{
  cvec a = x[0];
  x[0] = add(a, x[1]);
  x[1] = sub(a, x[1]);
}
#endif
#if VLEN == 8
static inline void dft8(cvec *x)
{
  const double h = 0.70710678118654752440;
  cvec e[4] = {x[0], x[2], x[4], x[6]}, o[4] = {x[1], x[3], x[5], x[7]};
  dft4(e);
  dft4(o);
  o[1] = (cvec){(o[1].re + o[1].im) * h, (o[1].im - o[1].re) * h};
  o[2] = minus_i(o[2]);
  o[3] = (cvec){(o[3].im - o[3].re) * h, (-o[3].re - o[3].im) * h};
  for (int k = 0; k < 4; k++) {
    x[k] = add(e[k], o[k]);
    x[k + 4] = sub(e[k], o[k]);
  }
}
#endif
#if VLEN >= 4
// Any odd count, by symmetric sums: cs[k] = cos, sin(2 pi k / parts).
INLINE void dft_odd(cvec *x, int parts, const double (*cs)[2])
{
  cvec plus[3], minus[3], first = x[0];
  int half = parts / 2;
  for (int j = 1; j <= half; j++) {
    plus[j - 1] = add(x[j], x[parts - j]);
    minus[j - 1] = minus_i(sub(x[j], x[parts - j]));
    x[0] = add(x[0], plus[j - 1]);
  }
  for (int k = 1; k <= half; k++) {
    cvec a = first, b = {{0}, {0}};
    for (int j = 1; j <= half; j++) {
      const double *w = cs[j * k % parts];
      a.re += w[0] * plus[j - 1].re;
      a.im += w[0] * plus[j - 1].im;
      b.re += w[1] * minus[j - 1].re;
      b.im += w[1] * minus[j - 1].im;
    }
    x[k] = add(a, b);
    x[parts - k] = sub(a, b);
  }
}
#endif

INLINE void dft_parts(cvec *x, int parts)
{
#if VLEN == 8
  static const double cs5[5][2] = {{1, 0},
                                   {0.30901699437494742410, 0.95105651629515357212},
                                   {-0.80901699437494742410, 0.58778525229247312917},
                                   {-0.80901699437494742410, -0.58778525229247312917},
                                   {0.30901699437494742410, -0.95105651629515357212}};
  static const double cs7[7][2] = {{1, 0},
                                   {0.62348980185873353053, 0.78183148246802980871},
                                   {-0.22252093395631440429, 0.97492791218182360702},
                                   {-0.90096886790241912624, 0.43388373911755812048},
                                   {-0.90096886790241912624, -0.43388373911755812048},
                                   {-0.22252093395631440429, -0.97492791218182360702},
                                   {0.62348980185873353053, -0.78183148246802980871}};
  parts == 8 ? dft8(x) : parts == 7 ? dft_odd(x, 7, cs7) : dft_odd(x, 5, cs5);
#elif VLEN == 4
  static const double cs3[3][2] = {{1, 0}, {-0.5, 0.86602540378443864676}, {-0.5, -0.86602540378443864676}};
  parts == 4 ? dft4(x) : dft_odd(x, 3, cs3);
#else
  (void)parts;
  dft2(x);
#endif
}

static inline void put(double *p, vf64 v, int have)
{
  if (have == VLEN)
    v_store(p, v);
  else
    for (int i = 0; i < have; i++)
      p[i] = v[i];
}

// w^{r (j + i)}, i < VLEN; coarse: of j.
INLINE cvec twiddle(const double *coarse, const double *fine, int r)
{
  const double *a = coarse + 2 * (r - 1), *b = fine + W * (r - 1);
  return mul((cvec){v_load(b), v_load(b + VLEN)}, (cvec){v_set(a[0]), v_set(a[1])});
}

// X[j + n q] = sum_r w_parts^{rq} w^{jr} Y_r[j] for `have` j; Y_r is lane r of y. Arrays start at the first
// j.
INLINE void join(int parts, const double *y, const double *coarse, const double *fine, int64_t n, int have,
                 double *re, double *im)
{
  vf64 a[VLEN], b[VLEN];
  cvec x[VLEN];
  for (int k = 0; k < VLEN; k++) {
    a[k] = k < have ? v_load(y + W * k) : (vf64){0};
    b[k] = k < have ? v_load(y + W * k + VLEN) : (vf64){0};
  }
  transpose(a);
  transpose(b);
  x[0] = (cvec){a[0], b[0]};
  for (int r = 1; r < parts; r++)
    x[r] = mul((cvec){a[r], b[r]}, twiddle(coarse, fine, r));
  dft_parts(x, parts);
  for (int q = 0; q < parts && re; q++)
    put(re + n * q, x[q].re, have);
  for (int q = 0; q < parts && im; q++)
    put(im + n * q, x[q].im, have);
}

// Every parts-th number to a lane; lanes from `parts` on get any numbers.
INLINE void deal(int parts, const double *re, const double *im, int64_t n, double *x)
{
  int64_t i = 0;
  for (; parts * i + VLEN <= parts * n; i++) {
    v_store(x + W * i, re ? v_load(re + parts * i) : (vf64){0});
    v_store(x + W * i + VLEN, im ? v_load(im + parts * i) : (vf64){0});
  }
  for (; i < n; i++)
    for (int l = 0; l < VLEN; l++) {
      x[W * i + l] = re && l < parts ? re[parts * i + l] : 0;
      x[W * i + VLEN + l] = im && l < parts ? im[parts * i + l] : 0;
    }
}

INLINE void decimated(int parts, const kugel__ring_length *len, const double *re, const double *im,
                      double *out_re, double *out_im, double *x)
{
  int64_t n = len->sub;
  deal(parts, re, im, n, x);
  const double *y = ISA_NAME(kugel__lanes_ops).exec(len->lanes, x, x + W * n);
  const double *coarse = len->coarse, *fine = len->fine;
  for (int64_t j = 0; j < n; j += VLEN, coarse += 2 * (parts - 1)) {
    double *re_j = out_re ? out_re + j : NULL, *im_j = out_im ? out_im + j : NULL;
    if (j + VLEN <= n)
      join(parts, y + W * j, coarse, fine, n, VLEN, re_j, im_j);
    else
      join(parts, y + W * j, coarse, fine, n, (int)(n - j), re_j, im_j);
  }
}

void ISA_NAME(kugel__ring_dft)(const kugel__ring_length *len, const double *re, const double *im,
                               double *out_re, double *out_im, double *work)
{
#if VLEN == 8
  if (len->parts == 7)
    decimated(7, len, re, im, out_re, out_im, work);
  else if (len->parts == 5)
    decimated(5, len, re, im, out_re, out_im, work);
  else
#elif VLEN == 4
  if (len->parts == 3)
    decimated(3, len, re, im, out_re, out_im, work);
  else
#endif
    decimated(VLEN, len, re, im, out_re, out_im, work);
}

// One part, re or im, of all arrays into the lanes: x[W i + lane].
static void lanes_in(int count, const double *const *in, int64_t n, double *x)
{
  int64_t whole = n / VLEN * VLEN;
  for (int64_t i = 0; i < whole; i += VLEN) {
    vf64 v[VLEN];
    for (int l = 0; l < VLEN; l++)
      v[l] = l < count && in[l] ? v_load(in[l] + i) : (vf64){0};
    transpose(v);
    for (int k = 0; k < VLEN; k++)
      v_store(x + W * (i + k), v[k]);
  }
  for (int64_t i = whole; i < n; i++)
    for (int l = 0; l < VLEN; l++)
      x[W * i + l] = l < count && in[l] ? in[l][i] : 0;
}

static void lanes_out(const double *y, int64_t n, int count, double *const *out)
{
  for (int64_t i = 0; i < n; i += VLEN) {
    int have = (int)(n - i < VLEN ? n - i : VLEN);
    vf64 v[VLEN];
    for (int k = 0; k < VLEN; k++)
      v[k] = k < have ? v_load(y + W * (i + k)) : (vf64){0};
    transpose(v);
    for (int l = 0; l < count; l++)
      if (out[l])
        put(out[l] + i, v[l], have);
  }
}

void ISA_NAME(kugel__ring_dft_many)(const kugel__ring_length *len, int count, const double *const *re,
                                    const double *const *im, double *const *out_re, double *const *out_im,
                                    double *work)
{
  int64_t n = len->n;
  double *x = work;
  lanes_in(count, re, n, x);
  lanes_in(count, im, n, x + VLEN);
  const double *y = ISA_NAME(kugel__lanes_ops).exec(len->whole, x, x + W * n);
  lanes_out(y, n, count, out_re);
  lanes_out(y + VLEN, n, count, out_im);
}
