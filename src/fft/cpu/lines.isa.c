/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines of arrays into lanes, the transform of each kind there, and back.
 * Work space of points [re VLEN, im VLEN]: a and c of `span` points each, then that of the DFT. */
#include "fft/cpu/lines.h"
#include "fft/cpu/lines_move.h"
#include "fft/cpu/lines_real.h"

static double *dft(const kugel__axis *x, double *data, double *work)
{
  return kugel__lanes_ops_now()->exec(x->lanes, data, work);
}

static void flip(double *a, int64_t n) // reversed
{
  for (int64_t i = 0, j = n - 1; i < j; i++, j--) {
    cvec u = get(a + W * i), v = get(a + W * j);
    put(a + W * i, v.re, v.im);
    put(a + W * j, u.re, u.im);
  }
}

static void alternate(double *a, int64_t n) // odd ones negated
{
  for (int64_t i = 1; i < n; i += 2) {
    cvec u = get(a + W * i);
    put(a + W * i, -u.re, -u.im);
  }
}

/* ---- cosine and sine transforms of a, each linear over complex numbers; w^k = root[k] ---- */

// Makhoul: v = even ones, then odd ones backwards; y_k = w^k V_k + w^-k V_{n-k}, w = e^{-i pi / 2n}.
static void dct2(const kugel__axis *x, double *a, double *c, double *work)
{
  int64_t n = x->n;
  for (int64_t j = 0; j < n; j++)
    memcpy(c + W * (j % 2 ? n - 1 - j / 2 : j / 2), a + W * j, W * 8);
  const double *y = dft(x, c, work), *w = x->root;
  cvec first = get(y);
  put(a, 2 * first.re, 2 * first.im);
  for (int64_t k = 1; k < n; k++) {
    cvec u = mul(get(y + W * k), w[2 * k], w[2 * k + 1]);
    cvec v = mul(get(y + W * (n - k)), w[2 * k], -w[2 * k + 1]);
    put(a + W * k, u.re + v.re, u.im + v.im);
  }
}

// The transpose of dct2, but for the weight of a_0.
static void dct3(const kugel__axis *x, double *a, double *c, double *work)
{
  int64_t n = x->n;
  const double *w = x->root;
  memcpy(c, a, W * 8);
  for (int64_t k = 1; k < n; k++) {
    cvec u = mul(get(a + W * k), w[2 * k], w[2 * k + 1]);
    cvec v = mul(get(a + W * (n - k)), w[2 * (n - k)], -w[2 * (n - k) + 1]);
    put(c + W * k, u.re + v.re, u.im + v.im);
  }
  const double *y = dft(x, c, work);
  for (int64_t j = 0; j < n; j++)
    memcpy(a + W * j, y + W * (j % 2 ? n - 1 - j / 2 : j / 2), W * 8);
}

// The first n of a dct3 of length 2n whose even inputs are zero: so are the even ones before its DFT, which
// has length n then. w = e^{-i pi / 4n}.
static void dct4(const kugel__axis *x, double *a, double *c, double *work)
{
  int64_t n = x->n;
  const double *w = x->root;
  for (int64_t k = 0; k < n; k++) {
    int64_t i = 2 * k + 1, j = 2 * n - i;
    cvec u = mul(get(a + W * k), w[2 * i], w[2 * i + 1]);
    cvec v = mul(get(a + W * (n - 1 - k)), w[2 * j], -w[2 * j + 1]);
    put(c + W * k, u.re + v.re, u.im + v.im);
  }
  const double *y = dft(x, c, work);
  for (int64_t k = 0; k < n; k++) {
    int64_t j = k / 2, i = k % 2 ? 4 * (j + 1) : 4 * j;
    cvec u = k % 2 ? mul(get(y + W * (n - 1 - j)), w[2 * i], -w[2 * i + 1])
                   : mul(get(y + W * j), w[2 * i], w[2 * i + 1]);
    put(a + W * k, u.re, u.im);
  }
}

static void dct1(const kugel__axis *x, double *a, double *c, double *work)
{
  int64_t n = x->n, period = 2 * (n - 1);
  memcpy(c, a, (size_t)n * W * 8);
  for (int64_t j = 1; j < n - 1; j++)
    memcpy(c + W * (period - j), a + W * j, W * 8);
  memcpy(a, dft(x, c, work), (size_t)n * W * 8);
}

static void dst1(const kugel__axis *x, double *a, double *c, double *work)
{
  int64_t n = x->n, period = 2 * (n + 1);
  memset(c, 0, W * 8);
  memset(c + W * (n + 1), 0, W * 8);
  for (int64_t j = 0; j < n; j++) {
    cvec u = get(a + W * j);
    put(c + W * (j + 1), u.re, u.im);
    put(c + W * (period - 1 - j), -u.re, -u.im);
  }
  const double *y = dft(x, c, work);
  for (int64_t k = 0; k < n; k++) {
    cvec u = get(y + W * (k + 1));
    put(a + W * k, -u.im, u.re);
  }
}

static void real_kind(const kugel__axis *x, double *a, double *c, double *work)
{
  int64_t n = x->n;
  switch (x->kind) {
  case KUGEL_FFT_DCT1:
    dct1(x, a, c, work);
    break;
  case KUGEL_FFT_DCT2:
    dct2(x, a, c, work);
    break;
  case KUGEL_FFT_DCT3:
    dct3(x, a, c, work);
    break;
  case KUGEL_FFT_DCT4:
    dct4(x, a, c, work);
    break;
  case KUGEL_FFT_DST1:
    dst1(x, a, c, work);
    break;
  case KUGEL_FFT_DST2:
    alternate(a, n);
    dct2(x, a, c, work);
    flip(a, n);
    break;
  case KUGEL_FFT_DST3:
    flip(a, n);
    dct3(x, a, c, work);
    alternate(a, n);
    break;
  default:
    flip(a, n);
    dct4(x, a, c, work);
    alternate(a, n);
  }
}

/* ---- two real lines of odd n in each lane, as re and im of a complex one ---- */

// The lines beyond the first VLEN.
static kugel__lines others(const kugel__lines *l)
{
  kugel__lines o = *l;
  o.count -= VLEN;
  o.in_at += VLEN;
  o.out_at += VLEN;
  return o;
}

// Z = A + i B: A_k = (Z_k + conj Z_{n-k}) / 2, B_k = (Z_k - conj Z_{n-k}) / 2i.
static void pairs_to_complex(const kugel__lines *l, double *a, double *c, double *work)
{
  int64_t n = l->axis->n, half = l->axis->half;
  kugel__lines one = *l, other = others(l);
  one.count = VLEN;
  load_real(&one, a, n);
  load_imaginary(&other, a, n);
  const double *z = dft(l->axis, a, work);
  for (int64_t k = 0; k < half; k++) {
    cvec u = get(z + W * k), v = get(z + W * (k ? n - k : 0));
    put(c + W * k, 0.5 * (u.re + v.re), 0.5 * (u.im - v.im));
    put(c + W * (half + k), 0.5 * (u.im + v.im), 0.5 * (v.re - u.re));
  }
  store_complex(&one, c, half, false);
  store_complex(&other, c + W * half, half, false);
}

// Back, with re and im exchanged for the inverse DFT.
static void complex_to_pairs(const kugel__lines *l, double *a, double *c, double *work)
{
  int64_t n = l->axis->n, half = l->axis->half;
  kugel__lines one = *l, other = others(l);
  one.count = VLEN;
  load_complex(&one, c, half, false);
  load_complex(&other, c + W * half, half, false);
  put(a, v_load(c + W * half), v_load(c)); // their imaginary parts are not there
  for (int64_t k = 1; k < half; k++) {
    cvec u = get(c + W * k), v = get(c + W * (half + k));
    put(a + W * k, u.im + v.re, u.re - v.im);
    put(a + W * (n - k), v.re - u.im, u.re + v.im);
  }
  const double *z = dft(l->axis, a, work);
  store_real(&one, z + VLEN, n);
  store_real(&other, z, n);
}

static void real_to_complex(const kugel__lines *l, double *a, double *c, double *work)
{
  const kugel__axis *x = l->axis;
  if (x->n % 2 == 0) {
    load_pairs(l, a, x->n / 2);
    const double *z = dft(x, a, work);
    if (rows(l, l->out_step)) {
      store_untangled(l, z);
    } else {
      untangle(x, z, c);
      store_complex(l, c, x->half, false);
    }
  } else {
    load_real(l, a, x->n);
    store_complex(l, dft(x, a, work), x->half, false);
  }
}

static void complex_to_real(const kugel__lines *l, double *a, double *c, double *work)
{
  const kugel__axis *x = l->axis;
  if (x->n % 2 == 0) {
    if (rows(l, l->in_step)) {
      load_tangled(l, a);
    } else {
      load_complex(l, c, x->half, false);
      tangle(x, c, a);
    }
    store_pairs(l, dft(x, a, work), x->n / 2);
    return;
  }
  load_complex(l, c, x->half, false);
  put(a, (vf64){0}, v_load(c));
  for (int64_t k = 1; k < x->half; k++) {
    cvec u = get(c + W * k);
    put(a + W * k, u.im, u.re);
    put(a + W * (x->n - k), -u.im, u.re);
  }
  store_real(l, dft(x, a, work) + VLEN, x->n);
}

static void run(const kugel__lines *l, double *work)
{
  const kugel__axis *x = l->axis;
  int64_t span = kugel__max(x->n, x->lanes->n) + 2;
  double *a = work, *c = a + W * span, *more = c + W * span;
  if (x->kind == KUGEL_FFT_C2C) {
    load_complex(l, a, x->n, l->inverse);
    store_complex(l, dft(x, a, more), x->n, l->inverse);
  } else if (x->kind == KUGEL_FFT_R2C) {
    if (l->count > VLEN)
      l->inverse ? complex_to_pairs(l, a, c, more) : pairs_to_complex(l, a, c, more);
    else
      l->inverse ? complex_to_real(l, a, c, more) : real_to_complex(l, a, c, more);
  } else {
    load_real(l, a, x->n);
    real_kind(x, a, c, more);
    store_real(l, a, x->n);
  }
}

extern const kugel__line_ops ISA_NAME(kugel__line_ops);
const kugel__line_ops ISA_NAME(kugel__line_ops) = {run};
