/* SPDX-License-Identifier: BSD-3-Clause */
/* The two passes of long lines. Between them the data lie as points [block of VLEN q][c], ready for the DFTs
 * of the second pass: the first one transposes VLEN x VLEN values at a time in registers. For inverses re and
 * im are exchanged from the loads of the first pass to the stores of the second. */
#include "fft/longline.h"
#include "fft/points.h"

static double *dft(const kugel__lanes *lanes, double *data, double *work)
{
  return kugel__lanes_ops_now()->exec(lanes, data, work);
}

// First of the VLEN columns of group g: the last group is moved back to be full.
static inline int64_t first_column(const kugel__longline *l, int64_t g)
{
  return kugel__min(g * VLEN, l->cols - VLEN);
}

ALWAYS cvec exchange(cvec a, bool yes)
{
  return yes ? (cvec){a.im, a.re} : a;
}

/* ---- between the passes ---- */

// Rows q ... q + VLEN - 1 of column group g times their twiddles to points [block of q][columns of g].
ALWAYS void store_block(const kugel__longjob *job, int64_t q, int64_t g, const cvec *v)
{
  const kugel__longline *l = job->line;
  const double *w = l->table + W * g * l->roots;
  vf64 re[VLEN], im[VLEN];
  if (l->fine) {
    cvec coarse = get(w + W * (l->fine + q / l->fine));
    w += W * (q % l->fine);
    for (int i = 0; i < VLEN; i++) {
      cvec u = product(v[i], product(coarse, get(w + W * i)));
      re[i] = u.re;
      im[i] = u.im;
    }
  } else {
    for (int i = 0; i < VLEN; i++) {
      cvec u = product(v[i], get(w + W * (q + i)));
      re[i] = u.re;
      im[i] = u.im;
    }
  }
  transpose(re);
  transpose(im);
  int64_t c = first_column(l, g);
  double *to = job->middle + W * (q / VLEN * l->cs + c);
  if (c == g * VLEN && c + VLEN <= l->cs) {
    for (int i = 0; i < VLEN; i++)
      put(to + W * i, re[i], im[i]);
    return;
  }
  for (int64_t i = g * VLEN - c; i < VLEN && c + i < l->cs; i++)
    put(to + W * i, re[i], im[i]);
}

/* ---- first passes: groups of columns ---- */

static void store_columns(const kugel__longjob *job, const double *y, int64_t g)
{
  const kugel__longline *l = job->line;
  int64_t q = 0;
  cvec v[VLEN];
  for (; q + VLEN <= l->qs; q += VLEN) {
    for (int i = 0; i < VLEN; i++)
      v[i] = get(y + W * (q + i));
    store_block(job, q, g, v);
  }
  if (q == l->qs)
    return;
  for (int i = 0; i < VLEN; i++)
    v[i] = q + i < l->rows ? get(y + W * (q + i)) : (cvec){{0}, {0}};
  store_block(job, q, g, v);
}

ALWAYS void complex_columns(const kugel__longjob *job, int64_t g, double *work, bool f32)
{
  const kugel__longline *l = job->line;
  int64_t step = job->in_step, c = first_column(l, g);
  for (int64_t r = 0; r < l->rows; r++) {
    cvec v = exchange(read_complex(job->in, (l->cols * r + c) * step, step, f32), job->inverse);
    put(work + W * r, v.re, v.im);
    fetch(job->in, (l->cols * r + c) * step + VLEN, VLEN, f32 ? 8 : 16, false);
  }
  store_columns(job, dft(l->first, work, work + W * l->rows), g);
}

// Columns of two groups as re and im: Y_q = A_q + i B_q, where A_{R-q} and B_{R-q} are the conjugates.
ALWAYS void real_columns(const kugel__longjob *job, int64_t pair, double *work, bool f32)
{
  const kugel__longline *l = job->line;
  int64_t step = job->in_step, g = 2 * pair, h = kugel__min(g + 1, (l->cs - 1) / VLEN);
  int64_t ca = first_column(l, g), cb = first_column(l, h);
  for (int64_t r = 0; r < l->rows; r++) {
    put(work + W * r, read_real(job->in, (l->cols * r + ca) * step, step, f32),
        read_real(job->in, (l->cols * r + cb) * step, step, f32));
    fetch(job->in, (l->cols * r + ca) * step + 2 * VLEN, 2 * VLEN, f32 ? 4 : 8, false);
  }
  const double *y = dft(l->first, work, work + W * l->rows);
  for (int64_t q = 0; q < l->qs; q += VLEN) {
    cvec a[VLEN], b[VLEN];
    for (int i = 0; i < VLEN; i++) {
      int64_t at = kugel__min(q + i, l->qs - 1);
      cvec u = get(y + W * at), v = get(y + W * (at ? l->rows - at : 0));
      a[i] = (cvec){0.5 * (u.re + v.re), 0.5 * (u.im - v.im)};
      b[i] = (cvec){0.5 * (u.im + v.im), 0.5 * (v.re - u.re)};
    }
    store_block(job, q, g, a);
    if (h > g)
      store_block(job, q, h, b);
  }
}

// Elements k ... k + VLEN - 1 of the spectrum of a real line: its second half is the conjugate of the first,
// and the parts that a real line makes zero are.
ALWAYS cvec read_spectrum(const kugel__longjob *job, int64_t k, bool f32)
{
  int64_t n = job->line->n, step = job->in_step;
  if (k > 0 && 2 * (k + VLEN - 1) < n)
    return read_complex(job->in, k * step, step, f32);
  cvec c = {{0}, {0}};
  if (2 * k > n) {
    c = read_complex(job->in, (n - k - VLEN + 1) * step, step, f32);
    return (cvec){backward(c.re), -backward(c.im)};
  }
  for (int lane = 0; lane < VLEN; lane++) {
    int64_t i = k + lane, j = 2 * i > n ? n - i : i;
    double im = read_one(job->in, 2 * j * step + 1, f32);
    c.re[lane] = read_one(job->in, 2 * j * step, f32);
    c.im[lane] = i == 0 || 2 * i == n ? 0 : 2 * i > n ? -im : im;
  }
  return c;
}

ALWAYS void spectrum_columns(const kugel__longjob *job, int64_t g, double *work, bool f32)
{
  const kugel__longline *l = job->line;
  int64_t c = first_column(l, g);
  for (int64_t r = 0; r < l->rows; r++) {
    cvec v = read_spectrum(job, l->cols * r + c, f32);
    put(work + W * r, v.im, v.re);
    int64_t k = l->cols * r + c, next = 2 * k > l->n ? l->n - k - 2 * VLEN : k + VLEN;
    fetch(job->in, next * job->in_step, VLEN, f32 ? 8 : 16, false);
  }
  store_columns(job, dft(l->first, work, work + W * l->rows), g);
}

static void first(const kugel__longjob *job, int64_t begin, int64_t end, double *work)
{
#define EACH(columns)                                                                                        \
  for (int64_t g = begin; g < end; g++)                                                                      \
  job->f32 ? columns(job, g, work, true) : columns(job, g, work, false)
  if (job->line->kind == KUGEL__LONG_C2C)
    EACH(complex_columns);
  else if (job->line->kind == KUGEL__LONG_R2C)
    EACH(real_columns);
  else
    EACH(spectrum_columns);
}

/* ---- second passes: blocks of rows ---- */

ALWAYS void complex_rows(const kugel__longjob *job, int64_t block, double *work, bool f32)
{
  const kugel__longline *l = job->line;
  int64_t step = job->out_step, q = block * VLEN;
  int count = (int)kugel__min(VLEN, l->qs - q);
  const double *y = dft(l->second, job->middle + W * block * l->cs, work);
  for (int64_t p = 0; p < l->cols; p++) {
    cvec v = exchange(get(y + W * p), job->inverse);
    v = (cvec){job->scale * v.re, job->scale * v.im};
    write_complex(job->out, (q + l->rows * p) * step, step, v, count, f32);
    fetch(job->out, (q + l->rows * p) * step + VLEN, VLEN, f32 ? 8 : 16, true);
  }
}

// Each element above n / 2 is written as the conjugate of its mirror image, but those of q = 0 and R / 2,
// which are their own.
ALWAYS void write_mirrored(const kugel__longjob *job, int64_t k, int64_t q, cvec v, int count, bool f32)
{
  const kugel__longline *l = job->line;
  int64_t n = l->n, step = job->out_step;
  if (q > 0 && 2 * (q + count - 1) < l->rows && 2 * k > n && count == VLEN) {
    cvec u = {backward(v.re), -backward(v.im)};
    write_complex(job->out, (n - k - VLEN + 1) * step, step, u, VLEN, f32);
    return;
  }
  for (int lane = 0; lane < count; lane++) {
    int64_t i = k + lane;
    bool own = q + lane == 0 || 2 * (q + lane) == l->rows, above = 2 * i > n;
    if (own && above)
      continue;
    write_one(job->out, 2 * (above ? n - i : i) * step, v.re[lane], f32);
    write_one(job->out, 2 * (above ? n - i : i) * step + 1,
              i == 0 || 2 * i == n ? 0
              : above              ? -v.im[lane]
                                   : v.im[lane],
              f32);
  }
}

ALWAYS void spectrum_rows(const kugel__longjob *job, int64_t block, double *work, bool f32)
{
  const kugel__longline *l = job->line;
  int64_t step = job->out_step, q = block * VLEN;
  int count = (int)kugel__min(VLEN, l->qs - q);
  const double *y = dft(l->second, job->middle + W * block * l->cs, work);
  for (int64_t p = 0; p < l->cols; p++) {
    int64_t k = q + l->rows * p;
    cvec v = get(y + W * p);
    v = (cvec){job->scale * v.re, job->scale * v.im};
    if (k > 0 && 2 * (k + count - 1) < l->n)
      write_complex(job->out, k * step, step, v, count, f32);
    else
      write_mirrored(job, k, q, v, count, f32);
    int64_t next = 2 * k > l->n ? l->n - k - 2 * VLEN : k + VLEN;
    fetch(job->out, next * step, VLEN, f32 ? 8 : 16, true);
  }
}

// Two blocks as one complex line A + i B; both are spectra of real lines, with re and im exchanged.
ALWAYS void real_rows(const kugel__longjob *job, int64_t pair, double *work, bool f32)
{
  const kugel__longline *l = job->line;
  int64_t step = job->out_step, q = 2 * pair * VLEN, next = kugel__min(q + VLEN, (l->qs - 1) / VLEN * VLEN);
  const double *from = job->middle + W * q / VLEN * l->cs, *also = job->middle + W * next / VLEN * l->cs;
  for (int64_t c = 0; c < l->cs; c++) {
    cvec a = exchange(get(from + W * c), true), b = exchange(get(also + W * c), true);
    put(work + W * c, a.im + b.re, a.re - b.im);
    if (c > 0)
      put(work + W * (l->cols - c), b.re - a.im, a.re + b.im);
  }
  const double *y = dft(l->second, work, work + W * l->cols);
  int count = (int)kugel__min(VLEN, l->qs - q), more = next > q ? (int)kugel__min(VLEN, l->qs - next) : 0;
  vf64 scale = v_set(job->scale);
  for (int64_t p = 0; p < l->cols; p++) {
    cvec v = get(y + W * p);
    write_real(job->out, (q + l->rows * p) * step, step, scale * v.im, count, f32);
    if (more)
      write_real(job->out, (next + l->rows * p) * step, step, scale * v.re, more, f32);
    fetch(job->out, (next + l->rows * p) * step + VLEN, 2 * VLEN, f32 ? 4 : 8, true);
  }
}

static void second(const kugel__longjob *job, int64_t begin, int64_t end, double *work)
{
  if (job->line->kind == KUGEL__LONG_C2C)
    EACH(complex_rows);
  else if (job->line->kind == KUGEL__LONG_R2C)
    EACH(spectrum_rows);
  else
    EACH(real_rows);
}

extern const kugel__long_ops ISA_NAME(kugel__long_ops);
const kugel__long_ops ISA_NAME(kugel__long_ops) = {VLEN, first, second};
