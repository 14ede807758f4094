/* SPDX-License-Identifier: BSD-3-Clause */
/* Between coefficients and spectra of ring pairs: transposition, phases, folding at the Nyquist frequency. */
#include "core/simd.h"
#include "fft/rings/isa.h"

/* ---- coefficients to rows over m ---- */

static inline void gather_block(const double *leg, int64_t m_stride, int have, double *rows, int64_t size)
{
  vf64 v[VLEN];
  for (int i = 0; i < VLEN; i++)
    v[i] = i < have ? v_load(leg + i * m_stride) : (vf64){0};
  transpose(v);
  for (int p = 0; p < VLEN; p++)
    v_store(rows + p * 4 * size, v[p]);
}

static void gather(const double *leg, int64_t m_stride, int64_t row, int64_t nm, int count, double *rows,
                   int64_t size)
{
  for (int64_t m = 0; m < nm; m += VLEN) {
    int have = (int)(nm - m < VLEN ? nm - m : VLEN);
    const double *from = leg + m * m_stride;
    double *to = rows + m;
    for (int k = 0; k < 4; k++, from += row, to += size) {
      for (int i = 0; i < have && m + 2 * VLEN + i < nm; i++) // the lines are too far apart to be foreseen
        __builtin_prefetch(from + (2 * VLEN + i) * m_stride);
      int p = 0;
      for (; p + VLEN <= count; p += VLEN)
        gather_block(from + p, m_stride, have, to + p * 4 * size, size);
      for (; p < count; p++)
        for (int i = 0; i < have; i++)
          to[p * 4 * size + i] = from[i * m_stride + p];
    }
  }
}

static void scatter(const double *rows, int64_t size, int64_t nm, int count, double *leg, int64_t m_stride,
                    int64_t row)
{
  for (int64_t m = 0; m < nm; m += VLEN) {
    int have = (int)(nm - m < VLEN ? nm - m : VLEN);
    const double *from = rows + m;
    double *to = leg + m * m_stride;
    for (int k = 0; k < 4; k++, from += size, to += row) {
      for (int i = 0; i < have && m + 2 * VLEN + i < nm; i++)
        __builtin_prefetch(to + (2 * VLEN + i) * m_stride, 1);
      int p = 0;
      for (; p + VLEN <= count; p += VLEN) {
        vf64 v[VLEN];
        for (int i = 0; i < VLEN; i++)
          v[i] = v_load(from + (p + i) * 4 * size);
        transpose(v);
        for (int i = 0; i < have; i++)
          v_store(to + i * m_stride + p, v[i]);
      }
      for (; p < count; p++)
        for (int i = 0; i < have; i++)
          to[i * m_stride + p] = from[p * 4 * size + i];
    }
  }
}

/* ---- rows and the spectrum ---- */

static inline cvec phase_v(const kugel__phase *p, int64_t m) // of m ... m + VLEN - 1, m a multiple of VLEN
{
  const double *a = p->coarse + 2 * (m / KUGEL__FINE), *b = p->fine + m % KUGEL__FINE;
  vf64 c = v_load(b), s = v_load(b + KUGEL__FINE);
  return (cvec){a[0] * c - a[1] * s, a[0] * s + a[1] * c};
}

static inline void phase_1(const kugel__phase *p, int64_t m, double *c, double *s)
{
  const double *a = p->coarse + 2 * (m / KUGEL__FINE), *b = p->fine + m % KUGEL__FINE;
  *c = a[0] * b[0] - a[1] * b[KUGEL__FINE];
  *s = a[0] * b[KUGEL__FINE] + a[1] * b[0];
}

static void fold_1(const double *const rows[4], int64_t m, int64_t k, const kugel__phase *north,
                   const kugel__phase *south, int64_t n, double *re, double *im)
{
  double nr = rows[0][m], ni = rows[1][m], sr = rows[2][m], si = rows[3][m], c, s;
  if (m == 0) {
    re[0] += nr;
    im[0] += sr;
    return;
  }
  phase_1(north, m, &c, &s);
  double a = nr * c - ni * s, b = nr * s + ni * c;
  if (south)
    phase_1(south, m, &c, &s);
  double d = sr * c - si * s, e = sr * s + si * c;
  int64_t down = k ? n - k : 0;
  re[k] += a - e;
  im[k] += b + d;
  re[down] += a + e;
  im[down] += d - b;
}

static inline void add_to(double *p, vf64 v)
{
  v_store(p, v_load(p) + v);
}

static void fold(const double *const rows[4], int64_t nm, const kugel__phase *north,
                 const kugel__phase *south, int64_t n, double *re, double *im)
{
  for (int64_t m = 0, k = 0; m < nm; m += VLEN, k = k + VLEN < n ? k + VLEN : (k + VLEN) % n) {
    if (k == 0 || k + VLEN > n) { // wraps, m = 0 among them
      for (int i = 0; i < VLEN; i++)
        fold_1(rows, m + i, (k + i) % n, north, south, n, re, im);
      continue;
    }
    vf64 nr = v_load(rows[0] + m), ni = v_load(rows[1] + m), sr = v_load(rows[2] + m),
         si = v_load(rows[3] + m);
    cvec w = phase_v(north, m);
    vf64 a = nr * w.re - ni * w.im, b = nr * w.im + ni * w.re;
    if (south)
      w = phase_v(south, m);
    vf64 d = sr * w.re - si * w.im, e = sr * w.im + si * w.re;
    int64_t down = n - k - VLEN + 1;
    add_to(re + k, a - e);
    add_to(im + k, b + d);
    add_to(re + down, reverse(a + e));
    add_to(im + down, reverse(d - b));
  }
}

static void unfold(const double *re, const double *im, int64_t n, const kugel__phase *north,
                   const kugel__phase *south, const double weight[2], int64_t nm, double *const rows[4])
{
  double wn = weight[0] / 2, ws = weight[1] / 2;
  for (int64_t m = 0, k = 0; m < nm; m += VLEN, k = k + VLEN < n ? k + VLEN : (k + VLEN) % n) {
    vf64 a, b, d, e;
    if (k == 0 || k + VLEN > n)
      for (int i = 0; i < VLEN; i++) {
        int64_t up = (k + i) % n, down = up ? n - up : 0;
        a[i] = re[up];
        b[i] = im[up];
        d[i] = re[down];
        e[i] = im[down];
      }
    else {
      int64_t down = n - k - VLEN + 1;
      a = v_load(re + k);
      b = v_load(im + k);
      d = reverse(v_load(re + down));
      e = reverse(v_load(im + down));
    }
    vf64 nr = (a + d) * wn, ni = (b - e) * wn, sr = (b + e) * ws, si = (d - a) * ws;
    cvec w = phase_v(north, m);
    v_store(rows[0] + m, nr * w.re + ni * w.im);
    v_store(rows[1] + m, ni * w.re - nr * w.im);
    if (south)
      w = phase_v(south, m);
    v_store(rows[2] + m, sr * w.re + si * w.im);
    v_store(rows[3] + m, si * w.re - sr * w.im);
  }
}

/* ---- pixels ---- */

static void read(const void *map, bool f32, int64_t stride, int64_t n, double *out)
{
  const float *f = map;
  const double *d = map;
  if (f32 && stride == 1)
    for (int64_t i = 0; i < n; i++)
      out[i] = (double)f[i];
  else if (f32)
    for (int64_t i = 0; i < n; i++)
      out[i] = (double)f[i * stride];
  else
    for (int64_t i = 0; i < n; i++)
      out[i] = d[i * stride];
}

static void write(const double *in, int64_t n, bool f32, int64_t stride, void *map)
{
  float *f = map;
  double *d = map;
  if (f32 && stride == 1)
    for (int64_t i = 0; i < n; i++)
      f[i] = (float)in[i];
  else if (f32)
    for (int64_t i = 0; i < n; i++)
      f[i * stride] = (float)in[i];
  else
    for (int64_t i = 0; i < n; i++)
      d[i * stride] = in[i];
}

static void split(const void *in, bool f32, int64_t stride, int64_t n, double *re, double *im)
{
  const float *f = in;
  const double *d = in;
  int64_t i = 0;
  for (; !f32 && stride == 1 && i + VLEN <= n; i += VLEN) {
    vf64 a, b;
    separate(v_load(d + 2 * i), v_load(d + 2 * i + VLEN), &a, &b);
    v_store(re + i, a);
    v_store(im + i, b);
  }
  for (; !f32 && i < n; i++) {
    re[i] = d[2 * stride * i];
    im[i] = d[2 * stride * i + 1];
  }
  for (; i < n; i++) {
    re[i] = (double)f[2 * stride * i];
    im[i] = (double)f[2 * stride * i + 1];
  }
}

static void merge(const double *re, const double *im, double factor, int64_t n, bool f32, int64_t stride,
                  void *out)
{
  float *f = out;
  double *d = out;
  int64_t i = 0;
  for (; !f32 && stride == 1 && i + VLEN <= n; i += VLEN) {
    vf64 a, b;
    interleave(v_load(re + i) * factor, v_load(im + i) * factor, &a, &b);
    v_store(d + 2 * i, a);
    v_store(d + 2 * i + VLEN, b);
  }
  for (; !f32 && i < n; i++) {
    d[2 * stride * i] = factor * re[i];
    d[2 * stride * i + 1] = factor * im[i];
  }
  for (; i < n; i++) {
    f[2 * stride * i] = (float)(factor * re[i]);
    f[2 * stride * i + 1] = (float)(factor * im[i]);
  }
}

extern const kugel__ring_ops ISA_NAME(kugel__ring_ops);
const kugel__ring_ops ISA_NAME(kugel__ring_ops) = {
    VLEN, gather, scatter, fold, unfold, ISA_NAME(kugel__ring_dft), ISA_NAME(kugel__ring_dft_many),
    read, write,  split,   merge};
