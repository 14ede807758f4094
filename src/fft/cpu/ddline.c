/* SPDX-License-Identifier: BSD-3-Clause */
/* Double-double lines on the CPU: radices, twiddles, chirps, and the lines of arrays over threads. */
#include "core/alloc.h"
#include "core/cpu.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "fft/cpu/ddline.h"
#include "fft/cpu/radices.h"
#include "fft/roots/roots_dd.h"

KUGEL_DISPATCH(kugel__dd_ops, kugel__dd_ops)

static const kugel__dd_ops *ops_now(void)
{
  return kugel__dd_ops_get();
}

/* ---- complex DFTs ---- */

// e^{2 pi i k / n}: parts of the real part, then of the imaginary one.
static void put_root(double *to, int64_t k, int64_t n)
{
  kugel__unit w = kugel__root_dd(kugel__turn_ratio(k, n));
  to[0] = w.cos.hi;
  to[1] = w.cos.lo;
  to[2] = w.sin.hi;
  to[3] = w.sin.lo;
}

// Radices of the codelets; false if n has a prime above 13.
static bool factor(kugel__ddfft *p)
{
  static const int radix[] = {13, 11, 7, 9, 3, 5, 8, 4, 2};
  int64_t n = p->n;
  p->stages = 0;
  for (size_t i = 0; i < sizeof radix / sizeof *radix; i++)
    for (; n % radix[i] == 0; n /= radix[i])
      p->radix[p->stages++] = radix[i];
  return n == 1;
}

static kugel_status make_stages(kugel_ctx *ctx, kugel__ddfft *p)
{
  int64_t total = 1, s = 1;
  for (int i = 0; i < p->stages; s *= p->radix[i++])
    total += s > 1 ? s * (p->radix[i] - 1) : 0;
  p->work = p->n;
  KUGEL_ALLOC(ctx, p->table, total * 32);
  double *t = p->table;
  s = 1;
  for (int i = 0; i < p->stages; s *= p->radix[i++]) {
    p->twiddle[i] = t;
    for (int64_t j = 0; j < s && s > 1; j++)
      for (int64_t r = 1; r < p->radix[i]; r++, t += 4)
        put_root(t, -j * r, s * p->radix[i]);
  }
  return KUGEL_OK;
}

static kugel_status fft_create(kugel_ctx *ctx, int64_t n, kugel__ddfft **out);

static void fft_destroy(kugel_ctx *ctx, kugel__ddfft *p)
{
  if (!p)
    return;
  fft_destroy(ctx, p->inner);
  kugel__free(ctx, p->table);
  kugel__free(ctx, p);
}

// spectrum = DFT of the wrapped conjugate chirp, over m.
static kugel_status make_spectrum(kugel_ctx *ctx, const kugel__ddfft *p, double *spectrum)
{
  int64_t n = p->n, m = p->inner->n, vlen = ops_now()->vlen, width = 4 * vlen;
  double *x = kugel__calloc(ctx, (size_t)((m + p->inner->work) * width) * 8);
  KUGEL_CHECK(x, KUGEL_ENOMEM, "no memory for a DFT of length %lld", (long long)m);
  for (int64_t k = 0; k < n; k++)
    for (int part = 0; part < 4; part += 2) {
      kugel__dd c =
          dd_div((kugel__dd){p->chirp[4 * k + part], p->chirp[4 * k + part + 1]}, dd_from((double)m));
      c = part ? dd_neg(c) : c;
      for (int64_t at = k;; at = m - k) {
        x[at * width + part * vlen] = c.hi;
        x[at * width + (part + 1) * vlen] = c.lo;
        if (k == 0 || at != k)
          break;
      }
    }
  const double *y = ops_now()->exec(p->inner, x, x + m * width);
  for (int64_t k = 0; k < 4 * m; k++)
    spectrum[k] = y[k * vlen];
  kugel__free(ctx, x);
  return KUGEL_OK;
}

static kugel_status make_bluestein(kugel_ctx *ctx, kugel__ddfft *p)
{
  int64_t n = p->n, m = kugel__radices_above(2 * n - 1);
  KUGEL_TRY(fft_create(ctx, m, &p->inner));
  p->stages = 0;
  p->work = m + p->inner->work;
  KUGEL_ALLOC(ctx, p->table, (n + m) * 32);
  double *chirp = p->table, *spectrum = chirp + 4 * n;
  for (int64_t k = 0; k < n; k++)
    put_root(chirp + 4 * k, -(int64_t)((__int128)k * k % (2 * n)), 2 * n);
  p->chirp = chirp;
  p->spectrum = spectrum;
  return make_spectrum(ctx, p, spectrum);
}

static kugel_status fft_create(kugel_ctx *ctx, int64_t n, kugel__ddfft **out)
{
  kugel__ddfft *p = kugel__calloc(ctx, sizeof *p);
  KUGEL_CHECK(p, KUGEL_ENOMEM, "no memory for a DFT plan");
  p->n = n;
  kugel_status s = factor(p) ? make_stages(ctx, p) : make_bluestein(ctx, p);
  if (s)
    fft_destroy(ctx, p);
  else
    *out = p;
  return s;
}

/* ---- lines ---- */

// e^{-i pi k / 2n}; of kind 4 also e^{-i pi (4k + 1) / 4n}.
static kugel_status make_roots(kugel_ctx *ctx, kugel__ddline *l)
{
  bool four = l->kind == KUGEL_FFT_DCT4 || l->kind == KUGEL_FFT_DST4;
  int64_t n = l->n;
  KUGEL_ALLOC(ctx, l->root, n * (four ? 64 : 32));
  for (int64_t k = 0; k < n; k++)
    put_root(l->root + 4 * k, -k, 4 * n);
  for (int64_t k = 0; k < n && four; k++)
    put_root(l->root + 4 * (n + k), -4 * k - 1, 8 * n);
  return KUGEL_OK;
}

kugel_status kugel__ddline_create(kugel_ctx *ctx, kugel_fft_kind kind, bool inverse, int64_t n,
                                  kugel__ddline *out)
{
  *out = (kugel__ddline){.kind = kind, .inverse = inverse, .n = n};
  bool extended = kind == KUGEL_FFT_DCT1 || kind == KUGEL_FFT_DST1;
  int64_t points = kind == KUGEL_FFT_DCT1 ? 2 * (n - 1) : kind == KUGEL_FFT_DST1 ? 2 * (n + 1) : n;
  kugel_status s = fft_create(ctx, points, &out->dft);
  if (!s && kind > KUGEL_FFT_R2C && !extended)
    s = make_roots(ctx, out);
  if (s)
    kugel__ddline_destroy(ctx, out);
  return s;
}

void kugel__ddline_destroy(kugel_ctx *ctx, kugel__ddline *line)
{
  fft_destroy(ctx, line->dft);
  kugel__free(ctx, line->root);
  *line = (kugel__ddline){0};
}

/* ---- arrays ---- */

typedef struct sweep {
  const kugel__ddpass *pass;
  int64_t lines, points; // of work memory a worker
  double *work;
} sweep;

// First elements of line `index`: row-major over all axes but the one transformed.
static void locate(const kugel__ddpass *t, int64_t index, int64_t *in, int64_t *out)
{
  *in = *out = 0;
  for (int d = t->in->ndim - 1; d >= 0; d--) {
    if (d == t->at)
      continue;
    int64_t i = index % t->in->shape[d];
    index /= t->in->shape[d];
    *in += i * t->in->stride[d];
    *out += i * t->out->stride[d];
  }
}

static kugel_status some_lines(void *arg, int64_t task, int worker)
{
  const sweep *s = arg;
  const kugel__ddpass *t = s->pass;
  int vlen = ops_now()->vlen;
  kugel_fft_kind kind = t->line->kind;
  bool r2c = kind == KUGEL_FFT_R2C, c2c = kind == KUGEL_FFT_C2C;
  kugel__ddjob job = {.line = t->line,
                      .inverse = t->inverse,
                      .count = (int)kugel__min(vlen, s->lines - task * vlen),
                      .in_step = t->in->stride[t->at],
                      .out_step = t->out->stride[t->at],
                      .scale = t->scale};
  for (int l = 0; l < vlen; l++) {
    int64_t in, out;
    locate(t, task * vlen + (l < job.count ? l : 0), &in, &out);
    job.in[l] = (const double *)(const void *)t->in->data + in * (c2c || (r2c && t->line->inverse) ? 4 : 2);
    job.out[l] = (double *)(void *)t->out->data + out * (c2c || (r2c && !t->line->inverse) ? 4 : 2);
  }
  ops_now()->run(&job, s->work + worker * s->points * 4 * vlen);
  return KUGEL_OK;
}

kugel_status kugel__ddpass_run(kugel_ctx *ctx, const kugel__ddpass *t)
{
  sweep s = {.pass = t, .lines = 1, .points = t->line->dft->n + t->line->dft->work};
  int64_t vlen = ops_now()->vlen;
  for (int d = 0; d < t->in->ndim; d++)
    s.lines *= d == t->at ? 1 : t->in->shape[d];
  int64_t tasks = (s.lines + vlen - 1) / vlen, workers = kugel__min(kugel__ctx_threads(ctx), tasks);
  if (!tasks)
    return KUGEL_OK;
  s.work = kugel__scratch_get(ctx, (size_t)(workers * s.points * vlen) * 32);
  KUGEL_CHECK(s.work, KUGEL_ENOMEM, "no memory for double-double lines of %lld points",
              (long long)t->line->n);
  kugel_status status = kugel__parallel_on(ctx, workers, tasks, some_lines, &s);
  kugel__scratch_put(ctx, s.work);
  return status;
}
