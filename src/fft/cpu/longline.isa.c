/* SPDX-License-Identifier: BSD-3-Clause */
/* The two passes of long lines. Between them the data lie as points [block of VLEN q][c], ready for the DFTs
 * of the second pass: the first one transposes VLEN x VLEN values at a time in registers. For inverses re and
 * im are exchanged from the loads of the first pass to the stores of the second. */
#include "fft/cpu/butterfly.h"
#include "fft/cpu/longline.h"

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

/* ---- complex rows of VLEN elements, `pitch` elements apart, from and to points ---- */

// Where an array has its elements next to each other, vectors move; else elements.
ALWAYS void load_stripe(const char *in, int64_t at, int64_t pitch, int64_t step, int64_t n, double *x,
                        bool swap, bool f32)
{
  const char *p = in + at * step * (f32 ? 8 : 16);
  int64_t bytes = pitch * step * (f32 ? 8 : 16);
  if (step == 1) {
    for (int64_t r = 0; r < n; r++, p += bytes) {
      cvec v = exchange(read_complex(p, 0, 1, f32), swap);
      put(x + W * r, v.re, v.im);
      fetch(p, VLEN, VLEN, f32 ? 8 : 16, false);
    }
    return;
  }
  for (int64_t r = 0; r < n; r++, p += bytes)
    for (int lane = 0; lane < VLEN; lane++) {
      x[W * r + VLEN * swap + lane] = read_one(p, 2 * lane * step, f32);
      x[W * r + VLEN * !swap + lane] = read_one(p, 2 * lane * step + 1, f32);
    }
}

// The first `count` lanes.
ALWAYS void store_stripe(char *out, int64_t at, int64_t pitch, int64_t step, int64_t n, const double *y,
                         double scale, int count, bool swap, bool f32)
{
  char *p = out + at * step * (f32 ? 8 : 16);
  int64_t bytes = pitch * step * (f32 ? 8 : 16);
  if (step == 1 && count == VLEN) {
    for (int64_t r = 0; r < n; r++, p += bytes) {
      cvec v = exchange(get(y + W * r), swap);
      write_complex(p, 0, 1, (cvec){scale * v.re, scale * v.im}, VLEN, f32);
      fetch(p, VLEN, VLEN, f32 ? 8 : 16, true);
    }
    return;
  }
  for (int64_t r = 0; r < n; r++, p += bytes)
    for (int lane = 0; lane < count; lane++) {
      write_one(p, 2 * lane * step, scale * y[W * r + VLEN * swap + lane], f32);
      write_one(p, 2 * lane * step + 1, scale * y[W * r + VLEN * !swap + lane], f32);
    }
}

// The same of reals, to and from parts of points.
ALWAYS void load_real_stripe(const char *in, int64_t at, int64_t pitch, int64_t step, int64_t n, double *x,
                             bool f32)
{
  const char *p = in + at * step * (f32 ? 4 : 8);
  int64_t bytes = pitch * step * (f32 ? 4 : 8);
  if (step == 1) {
    for (int64_t r = 0; r < n; r++, p += bytes) {
      v_store(x + W * r, read_vector(p, 0, f32));
      fetch(p, 2 * VLEN, VLEN, f32 ? 4 : 8, false);
    }
    return;
  }
  for (int64_t r = 0; r < n; r++, p += bytes)
    for (int lane = 0; lane < VLEN; lane++)
      x[W * r + lane] = read_one(p, lane * step, f32);
}

ALWAYS void store_real_stripe(char *out, int64_t at, int64_t pitch, int64_t step, int64_t n, const double *y,
                              double scale, int count, bool f32)
{
  char *p = out + at * step * (f32 ? 4 : 8);
  int64_t bytes = pitch * step * (f32 ? 4 : 8);
  if (step == 1 && count == VLEN) {
    for (int64_t r = 0; r < n; r++, p += bytes) {
      write_vector(p, 0, scale * v_load(y + W * r), f32);
      fetch(p, 2 * VLEN, VLEN, f32 ? 4 : 8, true);
    }
    return;
  }
  for (int64_t r = 0; r < n; r++, p += bytes)
    for (int lane = 0; lane < count; lane++)
      write_one(p, lane * step, scale * y[W * r + lane], f32);
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

// A single butterfly, from the array to points in one go.
ALWAYS void one_butterfly(const kugel__longjob *job, int64_t g, int rows, bool inverse, bool f32)
{
  const kugel__longline *l = job->line;
  cvec x[MAX_BUTTERFLY], y[MAX_BUTTERFLY];
#pragma GCC unroll 16
  for (int r = 0; r < rows; r++)
    x[r] = exchange(read_complex(job->in, first_column(l, g) + r * l->cols, 1, f32), inverse);
  butterfly(rows, x, y);
#pragma GCC unroll 8
  for (int q = 0; q + VLEN <= rows; q += VLEN)
    store_block(job, q, g, y + q);
}

// The first stage, of the given radix, from the array to points; `pitch` elements between rows.
ALWAYS void first_stage(const char *in, int64_t pitch, int64_t n, int radix, double *out, bool swap, bool f32)
{
  int64_t t = n / radix, size = f32 ? 8 : 16;
  for (int64_t b = 0; b < t; b++) {
    const char *p = in + b * pitch * size;
    cvec x[MAX_BUTTERFLY], y[MAX_BUTTERFLY];
#pragma GCC unroll 16
    for (int r = 0; r < radix; r++) {
      const char *row = p + r * t * pitch * size;
      x[r] = exchange(read_complex(row, 0, 1, f32), swap);
      fetch(row, VLEN, VLEN, size, false);
    }
    butterfly(radix, x, y);
#pragma GCC unroll 16
    for (int r = 0; r < radix; r++)
      put(out + W * (b * radix + r), y[r].re, y[r].im);
  }
}

// Whether the outer stages of these DFTs have butterflies, for lines of adjacent elements.
static bool fused(const kugel__lanes *lanes, int stage, int64_t step)
{
  return step == 1 && !lanes->inner && lanes->stages && has_butterfly(lanes->stage[stage].radix);
}

ALWAYS void complex_columns_of(const kugel__longjob *job, int64_t g, double *work, bool inverse, bool f32)
{
  const kugel__longline *l = job->line;
  const kugel__lanes *lanes = l->first;
  int64_t c = first_column(l, g);
  if (!fused(lanes, 0, job->in_step)) {
    load_stripe(job->in, c, l->cols, job->in_step, l->rows, work, inverse, f32);
    store_columns(job, dft(lanes, work, work + W * l->rows), g);
    return;
  }
  if (l->rows == 8) {
    one_butterfly(job, g, 8, inverse, f32);
    return;
  }
  if (l->rows == 16) {
    one_butterfly(job, g, 16, inverse, f32);
    return;
  }
  const char *in = job->in + c * (f32 ? 8 : 16);
  if (lanes->stage[0].radix == 16)
    first_stage(in, l->cols, l->rows, 16, work, inverse, f32);
  else if (lanes->stage[0].radix == 8)
    first_stage(in, l->cols, l->rows, 8, work, inverse, f32);
  else
    first_stage(in, l->cols, l->rows, 4, work, inverse, f32);
  double *gap = work + W * (l->rows + KUGEL__GAP);
  store_columns(job, kugel__lanes_ops_now()->stages(lanes, 1, lanes->stages, work, gap, gap + W * l->rows),
                g);
}

ALWAYS void complex_columns(const kugel__longjob *job, int64_t g, double *work, bool f32)
{
  job->inverse ? complex_columns_of(job, g, work, true, f32) : complex_columns_of(job, g, work, false, f32);
}

// Columns of two groups as re and im: Y_q = A_q + i B_q, where A_{R-q} and B_{R-q} are the conjugates.
ALWAYS void real_columns(const kugel__longjob *job, int64_t pair, double *work, bool f32)
{
  const kugel__longline *l = job->line;
  int64_t g = 2 * pair, h = kugel__min(g + 1, (l->cs - 1) / VLEN);
  load_real_stripe(job->in, first_column(l, g), l->cols, job->in_step, l->rows, work, f32);
  load_real_stripe(job->in, first_column(l, h), l->cols, job->in_step, l->rows, work + VLEN, f32);
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

// Row r of the columns c ... c + VLEN - 1 of the spectrum of a real line has elements k = C r + c ...: up to
// n / 2 stored ones, above the conjugates of their mirror images. Rows below *direct lie in the first part,
// from *mirrored on in the second, those between in both.
static inline void halves(int64_t n, int64_t c, int64_t pitch, int64_t rows, int64_t *direct,
                          int64_t *mirrored)
{
  int64_t room = n / 2 - (VLEN - 1) - c;
  *direct = kugel__min(room < 0 ? 0 : room / pitch + 1, rows);
  *mirrored = kugel__min(n / 2 < c ? 0 : (n / 2 - c) / pitch + 1, rows);
}

ALWAYS void spectrum_columns(const kugel__longjob *job, int64_t g, double *work, bool f32)
{
  const kugel__longline *l = job->line;
  int64_t c = first_column(l, g), n = l->n, step = job->in_step, direct, mirrored;
  halves(n, c, l->cols, l->rows, &direct, &mirrored);
  load_stripe(job->in, c, l->cols, step, direct, work, true, f32);
  for (int64_t r = direct; r < mirrored; r++)
    for (int lane = 0; lane < VLEN; lane++) {
      int64_t k = l->cols * r + c + lane, j = 2 * k > n ? n - k : k;
      double im = read_one(job->in, 2 * j * step + 1, f32);
      work[W * r + lane] = 2 * k > n ? -im : im;
      work[W * r + VLEN + lane] = read_one(job->in, 2 * j * step, f32);
    }
  for (int64_t r = mirrored; r < l->rows; r++) {
    cvec v = read_complex(job->in, (n - l->cols * r - c - VLEN + 1) * step, step, f32);
    put(work + W * r, -backward(v.im), backward(v.re));
  }
  // imaginary parts that a real line makes zero
  if (c == 0)
    work[0] = 0;
  if (n % 2 == 0 && n / 2 % l->cols >= c && n / 2 % l->cols < c + VLEN)
    work[W * (n / 2 / l->cols) + n / 2 % l->cols - c] = 0;
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

// The last stage, of the given radix, from points to rows of VLEN elements, `pitch` apart.
ALWAYS void last_stage(const double *in, const double *twiddle, int64_t n, int radix, char *out,
                       int64_t pitch, vf64 scale, bool swap, bool f32)
{
  int64_t s = n / radix, size = f32 ? 8 : 16;
  for (int64_t j = 0; j < s; j++) {
    cvec x[MAX_BUTTERFLY], y[MAX_BUTTERFLY];
    const double *w = twiddle + 2 * (radix - 1) * j;
    x[0] = get(in + W * j);
#pragma GCC unroll 16
    for (int r = 1; r < radix; r++) {
      x[r] = get(in + W * (j + r * s));
      if (s > 1)
        x[r] = mul(x[r], w[2 * r - 2], w[2 * r - 1]);
    }
    butterfly(radix, x, y);
#pragma GCC unroll 16
    for (int r = 0; r < radix; r++) {
      char *row = out + (j + r * s) * pitch * size;
      cvec v = exchange(y[r], swap);
      write_complex(row, 0, 1, (cvec){scale * v.re, scale * v.im}, VLEN, f32);
      fetch(row, VLEN, VLEN, size, true);
    }
  }
}

ALWAYS void complex_rows_of(const kugel__longjob *job, int64_t block, double *work, bool inverse, bool f32)
{
  const kugel__longline *l = job->line;
  const kugel__lanes *lanes = l->second;
  int64_t q = block * VLEN;
  int count = (int)kugel__min(VLEN, l->qs - q), last = lanes->stages - 1;
  double *x = job->middle + W * block * l->cs, *gap = work + W * KUGEL__GAP;
  if (count < VLEN || !fused(lanes, last, job->out_step)) {
    store_stripe(job->out, q, l->rows, job->out_step, l->cols, dft(lanes, x, work), job->scale, count,
                 inverse, f32);
    return;
  }
  const double *w = lanes->stage[last].twiddle;
  x = kugel__lanes_ops_now()->stages(lanes, 0, last, x, gap, gap + W * l->cols);
  char *out = job->out + q * (f32 ? 8 : 16);
  vf64 scale = v_set(job->scale);
  if (lanes->stage[last].radix == 16)
    last_stage(x, w, l->cols, 16, out, l->rows, scale, inverse, f32);
  else if (lanes->stage[last].radix == 8)
    last_stage(x, w, l->cols, 8, out, l->rows, scale, inverse, f32);
  else
    last_stage(x, w, l->cols, 4, out, l->rows, scale, inverse, f32);
}

ALWAYS void complex_rows(const kugel__longjob *job, int64_t block, double *work, bool f32)
{
  job->inverse ? complex_rows_of(job, block, work, true, f32) : complex_rows_of(job, block, work, false, f32);
}

// Elements above n / 2 are stored as the conjugates of their mirror images; those of q = 0 and R / 2 twice.
ALWAYS void spectrum_rows(const kugel__longjob *job, int64_t block, double *work, bool f32)
{
  const kugel__longline *l = job->line;
  int64_t q = block * VLEN, n = l->n, step = job->out_step, direct, mirrored;
  int count = (int)kugel__min(VLEN, l->qs - q);
  double scale = job->scale;
  const double *y = dft(l->second, job->middle + W * block * l->cs, work);
  halves(n, q, l->rows, l->cols, &direct, &mirrored);
  store_stripe(job->out, q, l->rows, step, direct, y, scale, count, false, f32);
  for (int64_t p = direct; p < l->cols; p++) {
    const double *v = y + W * p;
    int64_t k = l->rows * p + q;
    if (p >= mirrored && step == 1 && count == VLEN) {
      cvec u = {scale * backward(v_load(v)), -scale * backward(v_load(v + VLEN))};
      write_complex(job->out, n - k - VLEN + 1, 1, u, VLEN, f32);
      fetch(job->out, n - k - 2 * VLEN + 1, VLEN, f32 ? 8 : 16, true);
      continue;
    }
    for (int lane = 0; lane < count; lane++) {
      bool above = 2 * (k + lane) > n;
      int64_t j = above ? n - k - lane : k + lane;
      write_one(job->out, 2 * j * step, scale * v[lane], f32);
      write_one(job->out, 2 * j * step + 1, above ? -scale * v[VLEN + lane] : scale * v[VLEN + lane], f32);
    }
  }
  if (q == 0)
    write_one(job->out, 1, 0, f32);
  if (n % 2 == 0 && n / 2 % l->rows >= q && n / 2 % l->rows < q + count)
    write_one(job->out, n * step + 1, 0, f32);
}

// Two blocks as one complex line A + i B; both are spectra of real lines, with re and im exchanged.
ALWAYS void real_rows(const kugel__longjob *job, int64_t pair, double *work, bool f32)
{
  const kugel__longline *l = job->line;
  int64_t q = 2 * pair * VLEN, next = kugel__min(q + VLEN, (l->qs - 1) / VLEN * VLEN);
  const double *from = job->middle + W * q / VLEN * l->cs, *also = job->middle + W * next / VLEN * l->cs;
  for (int64_t c = 0; c < l->cs; c++) {
    cvec a = exchange(get(from + W * c), true), b = exchange(get(also + W * c), true);
    put(work + W * c, a.im + b.re, a.re - b.im);
    if (c > 0)
      put(work + W * (l->cols - c), b.re - a.im, a.re + b.im);
  }
  const double *y = dft(l->second, work, work + W * l->cols);
  int count = (int)kugel__min(VLEN, l->qs - q);
  store_real_stripe(job->out, q, l->rows, job->out_step, l->cols, y + VLEN, job->scale, count, f32);
  if (next > q)
    store_real_stripe(job->out, next, l->rows, job->out_step, l->cols, y, job->scale,
                      (int)kugel__min(VLEN, l->qs - next), f32);
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
