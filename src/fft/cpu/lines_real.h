/* SPDX-License-Identifier: BSD-3-Clause */
/* For lines.isa.c: real lines of even n by a DFT Z of h = n / 2 points x_{2j} + i x_{2j+1}.
 * X_k = E + w^k O, X_{h-k} = conj(E - w^k O), E = (Z_k + conj Z_{h-k}) / 2, O = (Z_k - conj Z_{h-k}) / 2i, w
 * = e^{-2 pi i / n}. */
#ifndef KUGEL_FFT_CPU_LINES_REAL_H
#define KUGEL_FFT_CPU_LINES_REAL_H

#include "fft/cpu/lines_move.h"

// Z_k and Z_{h-k} to X_k and X_{h-k}.
ALWAYS void split(const kugel__axis *x, int64_t k, cvec *p, cvec *q)
{
  cvec e = {0.5 * (p->re + q->re), 0.5 * (p->im - q->im)}, o = {0.5 * (p->im + q->im), 0.5 * (q->re - p->re)};
  o = mul(o, x->root[2 * k], x->root[2 * k + 1]);
  *p = (cvec){e.re + o.re, e.im + o.im};
  *q = (cvec){e.re - o.re, o.im - e.im};
}

// Back, times 2, with re and im exchanged for the inverse DFT.
ALWAYS void join(const kugel__axis *x, int64_t k, cvec *p, cvec *q)
{
  cvec e = {p->re + q->re, p->im - q->im}, o = {p->re - q->re, p->im + q->im};
  o = mul(o, x->root[2 * k], -x->root[2 * k + 1]);
  *p = (cvec){e.im + o.re, e.re - o.im};
  *q = (cvec){o.re - e.im, e.re + o.im};
}

static void untangle(const kugel__axis *x, const double *z, double *out)
{
  int64_t h = x->n / 2;
  for (int64_t k = 0; 2 * k <= h; k++) {
    cvec p = get(z + W * k), q = get(z + W * (k ? h - k : 0));
    split(x, k, &p, &q);
    put(out + W * k, p.re, p.im);
    put(out + W * (h - k), q.re, q.im);
  }
}

static void tangle(const kugel__axis *x, const double *in, double *z)
{
  int64_t h = x->n / 2;
  vf64 first = v_load(in), last = v_load(in + W * h);
  put(z, first - last, first + last);
  for (int64_t k = 1; 2 * k <= h; k++) {
    cvec p = get(in + W * k), q = get(in + W * (h - k));
    join(x, k, &p, &q);
    put(z + W * k, p.re, p.im);
    put(z + W * (h - k), q.re, q.im);
  }
}

/* ---- the same from or to rows, VLEN / 2 of either half at a time; the last such block is moved back ---- */

// Whether lines are rows long enough for that.
static bool rows(const kugel__lines *l, int64_t step)
{
  return step == 1 && l->count == VLEN && l->axis->n / 4 + 1 >= PAIRS;
}

ALWAYS void store_untangled_of(const kugel__lines *l, const double *z, bool f32)
{
  const kugel__axis *x = l->axis;
  int64_t h = x->n / 2, all = h / 2 + 1, size = f32 ? 8 : 16,
          ahead = (l->out_at[1] - l->out_at[0]) * VLEN * size;
  char *line[VLEN];
  for (int i = 0; i < VLEN; i++)
    line[i] = l->out + l->out_at[i] * size;
  for (int64_t block = 0; block < all; block += PAIRS) {
    int64_t k = kugel__min(block, all - PAIRS), top = h - k - PAIRS + 1;
    vf64 low[VLEN], high[VLEN];
    for (int i = 0; i < PAIRS; i++) {
      cvec p = get(z + W * (k + i)), q = get(z + W * (k + i ? h - k - i : 0));
      split(x, k + i, &p, &q);
      low[2 * i] = l->scale * p.re;
      low[2 * i + 1] = l->scale * p.im;
      high[VLEN - 2 - 2 * i] = l->scale * q.re;
      high[VLEN - 1 - 2 * i] = l->scale * q.im;
    }
    write_rows(line, k * size, ahead, low, f32);
    write_rows(line, top * size, ahead, high, f32);
  }
}

ALWAYS void load_tangled_of(const kugel__lines *l, double *z, bool f32)
{
  const kugel__axis *x = l->axis;
  int64_t h = x->n / 2, all = h / 2 + 1, size = f32 ? 8 : 16,
          ahead = (l->in_at[1] - l->in_at[0]) * VLEN * size;
  const char *line[VLEN];
  for (int i = 0; i < VLEN; i++)
    line[i] = l->in + l->in_at[i] * size;
  for (int64_t block = 0; block < all; block += PAIRS) {
    int64_t k = kugel__min(block, all - PAIRS), top = h - k - PAIRS + 1;
    vf64 low[VLEN], high[VLEN];
    read_rows(line, k * size, ahead, low, f32);
    read_rows(line, top * size, ahead, high, f32);
    for (int i = 0; i < PAIRS; i++) {
      cvec p = {low[2 * i], low[2 * i + 1]}, q = {high[VLEN - 2 - 2 * i], high[VLEN - 1 - 2 * i]};
      if (k + i == 0) { // their imaginary parts are not there
        put(z, p.re - q.re, p.re + q.re);
        continue;
      }
      join(x, k + i, &p, &q);
      put(z + W * (k + i), p.re, p.im);
      put(z + W * (h - k - i), q.re, q.im);
    }
  }
}

static void store_untangled(const kugel__lines *l, const double *z)
{
  l->f32 ? store_untangled_of(l, z, true) : store_untangled_of(l, z, false);
}

static void load_tangled(const kugel__lines *l, double *z)
{
  l->f32 ? load_tangled_of(l, z, true) : load_tangled_of(l, z, false);
}

#endif
