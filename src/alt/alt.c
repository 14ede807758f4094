/* SPDX-License-Identifier: BSD-3-Clause */
/* Associated Legendre transforms. Degrees l = m + q + 2 k of one parity q are Jacobi's family (q - 1/2, m) with sines of the
 * rotations negated: steps m -> m - 2 go down to m0 = m mod 2, where a triangular matrix yields the trigonometric series
 *   m0 = 0: sum of c_j cos(j theta);   m0 = 1: sum of s_j sin((j + 1) theta),  j = 2 k + q.
 * Rows of tiles hold c_0, c_j / 2 and s_j / 2, which is what DCT-III and DST-III take. */
#include <math.h>
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "alt/alt.h"
#include "core/plan.h"
#include "polynomial/jacobi.h"
#include "alt/ultra.h"

enum { MOST = KUGEL__ALT_MOST };

static kugel_status make_rotations(kugel_alt *p, int q)
{
  int64_t total = 0, even = (p->mmax + 1) / 2;
  for (int64_t m = 0; m < p->mmax; m++)
    total += kugel__alt_rows(p->lmax, m, q);
  p->lowering[q] = kugel__calloc(p->ctx, sizeof *p->lowering[q] * (size_t)(p->mmax + 1));
  p->rotation_store[q] = kugel__alloc(p->ctx, 2 * p->word * (size_t)kugel__max(1, total));
  KUGEL_CHECK(p->lowering[q] && p->rotation_store[q], KUGEL_ENOMEM, "no memory for %lld rotations",
              (long long)total);
  char *at = p->rotation_store[q];
  for (int64_t m = 0; m < p->mmax; m++) {
    int64_t count = kugel__alt_rows(p->lmax, m, q);
    kugel__jacobi_rotations(q - 0.5, (double)m, -1, count, p->single, at);
    p->lowering[q][m % 2 ? even + p->mmax / 2 - 1 - m / 2 : even - 1 - m / 2] = at;
    at += 2 * p->word * (size_t)count;
  }
  return KUGEL_OK;
}

/* One matrix: degrees of orthonormal functions of order m0 to the rows of trigonometric series, or back. */
static kugel_status make_matrix(kugel_alt *p, int m0, int q, bool back, double *a)
{
  int64_t size = p->lmax / 2 + 1, n = 2 * size + 2;
  double *t, lambda = back ? m0 : m0 + 0.5, mu = back ? m0 + 0.5 : m0;
  KUGEL_ALLOC(p->ctx, t, sizeof *t * (size_t)(4 * n));
  double *h = t + n / 2 + 1, *r = h + n + 1, *s = r + n;
  kugel__ultra_tables(lambda, mu, n, t, h, r, s);
  for (int64_t i = 0; i < n; i++) {
    double j = (double)i, norm = m0 ? sqrt((2 * j + 3) / (2 * (j + 1) * (j + 2))) : sqrt(j + 0.5);
    *(back ? &r[i] : &s[i]) *= back ? 1 / norm : norm;
    *(back ? &s[i] : &r[i]) *= m0 ? (back ? 1 : 0.5) : i ? (back ? 1 : 0.5) : (back ? 0.5 : 1);
  }
  memset(a, 0, sizeof *a * (size_t)(size * size));
  for (int64_t i = 0; i < size; i++)
    for (int64_t j = i; j < size; j++)
      a[i * size + j] = r[2 * i + q] * t[j - i] * h[i + j + q] * s[2 * j + q];
  kugel__free(p->ctx, t);
  void **to = back ? &p->back[m0][q] : &p->matrix[m0][q];
  KUGEL_ALLOC(p->ctx, *to, p->word * (size_t)(size * size));
  kugel__numbers_store(p->single, a, size * size, *to);
  return KUGEL_OK;
}

/* Rows of the colatitudes' sines and cosines times the matrix `a` of doubles. */
static kugel_status make_points(kugel_alt *p, int m0, int q, const double *theta, const double *a)
{
  int64_t size = p->lmax / 2 + 1;
  double *row;
  KUGEL_ALLOC(p->ctx, p->points[m0][q], p->word * (size_t)(p->n * size));
  KUGEL_ALLOC(p->ctx, row, 2 * sizeof *row * (size_t)size);
  for (int64_t k = 0; k < p->n; k++) {
    for (int64_t i = 0; i < size; i++) {
      long double phase = (long double)(2 * i + q + m0) * (long double)theta[k];
      row[i] = (double)(m0 ? 2 * sinl(phase) : (i || q ? 2 : 1) * cosl(phase));
    }
    for (int64_t j = 0; j < size; j++) {
      double sum = 0;
      for (int64_t i = 0; i <= j; i++)
        sum += row[i] * a[i * size + j];
      row[size + j] = sum;
    }
    kugel__numbers_store(p->single, row + size, size,
                         (char *)p->points[m0][q] + p->word * (size_t)(k * size));
  }
  kugel__free(p->ctx, row);
  return KUGEL_OK;
}

static kugel_status make_stage(kugel_alt *p, const double *theta)
{
  static const kugel_fft_kind kind[2][2] = {{KUGEL_FFT_DCT3, KUGEL_FFT_DCT2},
                                            {KUGEL_FFT_DST3, KUGEL_FFT_DST2}};
  int64_t size = p->lmax / 2 + 1;
  kugel_status s = KUGEL_OK;
  double *a;
  KUGEL_ALLOC(p->ctx, a, sizeof *a * (size_t)(size * size));
  for (int i = 0; i < 4 && !s; i++) {
    s = make_matrix(p, i / 2, i % 2, false, a);
    if (!s)
      s = theta ? make_points(p, i / 2, i % 2, theta, a)
                : kugel__axis_create(p->ctx, kind[i / 2][i % 2], p->n, &p->wave[i / 2][i % 2]);
    if (!s && !theta)
      s = make_matrix(p, i / 2, i % 2, true, a);
  }
  kugel__free(p->ctx, a);
  return s;
}

/* Blocks by parity of the order, and by falling order: a counting sort. */
static kugel_status sort_blocks(kugel_alt *p)
{
  const kugel__blocks *b = &p->blocks;
  int64_t keys = p->mmax + 2, *at;
  KUGEL_ALLOC(p->ctx, p->sorted, sizeof *p->sorted * (size_t)b->blocks);
  KUGEL_ALLOC(p->ctx, at, sizeof *at * (size_t)(keys + 1));
  memset(at, 0, sizeof *at * (size_t)(keys + 1));
  int64_t even = p->mmax / 2 + 1;
  for (int pass = 0; pass < 2; pass++) {
    for (int64_t i = 0; i < b->blocks; i++) {
      int64_t m = b->degree[i], key = m % 2 ? even + (p->mmax - m) / 2 : (p->mmax - m) / 2;
      if (pass)
        p->sorted[at[key]++] = i;
      else
        at[key + 1]++;
    }
    for (int64_t k = 0; k < keys && !pass; k++)
      at[k + 1] += at[k];
  }
  kugel__free(p->ctx, at);
  return KUGEL_OK;
}

static kugel_status fill(kugel_alt *p, const kugel_alt_opts *o)
{
  KUGEL_TRY(kugel__blocks_create(p->ctx, "m", o->lmax, o->blocks, o->m, o->multiplicity, NULL, o->lmax + 1,
                                 &p->blocks));
  for (int64_t i = 0; i < p->blocks.blocks; i++)
    p->mmax = kugel__max(p->mmax, p->blocks.degree[i]);
  KUGEL_TRY(sort_blocks(p));
  KUGEL_TRY(make_rotations(p, 0));
  KUGEL_TRY(make_rotations(p, 1));
  return make_stage(p, o->theta);
}

static kugel_status check_opts(const kugel_alt_opts *o)
{
  KUGEL_CHECK(o->precision == KUGEL_PRECISION_F64 || o->precision == KUGEL_PRECISION_F32, KUGEL_EINVAL,
              "precision is %d, must be KUGEL_PRECISION_F64 (0) or F32 (1)", (int)o->precision);
  KUGEL_CHECK(o->lmax >= 0 && o->lmax <= MOST, KUGEL_EINVAL, "lmax is %lld, must be 0 to %d",
              (long long)o->lmax, MOST);
  KUGEL_CHECK(o->n >= 0 && o->n <= 1 << 24, KUGEL_EINVAL, "n is %lld, must be 0 (lmax + 1) to 2^24",
              (long long)o->n);
  KUGEL_CHECK(!o->theta || o->n, KUGEL_EINVAL, "n is 0, must be the number of colatitudes");
  KUGEL_CHECK(o->theta || !o->n || o->n > o->lmax, KUGEL_EINVAL,
              "n is %lld: degrees to lmax = %lld need at least %lld colatitudes", (long long)o->n,
              (long long)o->lmax, (long long)o->lmax + 1);
  for (int64_t i = 0; o->theta && i < o->n; i++)
    KUGEL_CHECK(o->theta[i] >= 0 && o->theta[i] <= M_PI, KUGEL_EINVAL, "theta[%lld] is %g, must be 0 to pi",
                (long long)i, o->theta[i]);
  return KUGEL_OK;
}

kugel_status kugel__alt_make(kugel_ctx *ctx, const kugel_alt_opts *opts, const kugel__alt_chains *chains,
                             kugel_alt **out)
{
  KUGEL_CHECK(out, KUGEL_EINVAL, "out is NULL: pass where to put the plan");
  *out = NULL;
  KUGEL_CHECK(opts, KUGEL_EINVAL, "opts is NULL: pass lmax and the orders");
  kugel_alt_opts o;
  KUGEL_TRY(kugel__take_opts(&o, sizeof o, opts, "kugel_alt_opts"));
  KUGEL_TRY(check_opts(&o));
  kugel_ctx *held;
  kugel_alt *p = kugel__plan_alloc(ctx, sizeof *p, &held);
  if (!p)
    return KUGEL_ENOMEM;
  p->ctx = held;
  p->single = o.precision == KUGEL_PRECISION_F32;
  p->complex = o.complex_data;
  p->word = p->single ? 4 : 8;
  p->lmax = o.lmax;
  p->n = o.n ? o.n : o.lmax + 1;
  kugel_status s = fill(p, &o);
  if (!s && held->device.type != KUGEL_CPU) {
    kugel__alt_view v = kugel__alt_view_of(p);
    s = kugel__alt_gpu_create(&v, chains, &p->gpu);
  }
  if (s) {
    kugel_alt_destroy(p);
    return s;
  }
  *out = p;
  return KUGEL_OK;
}

kugel_status kugel_alt_create(kugel_ctx *ctx, const kugel_alt_opts *opts, kugel_alt **out)
{
  return kugel__alt_make(ctx, opts, &(kugel__alt_chains){0}, out);
}

void kugel_alt_destroy(kugel_alt *p)
{
  if (!p)
    return;
  kugel_ctx *ctx = p->ctx;
  kugel__poly_destroy(p->gpu);
  for (int i = 0; i < 4; i++) {
    kugel__free(ctx, p->matrix[i / 2][i % 2]);
    kugel__free(ctx, p->back[i / 2][i % 2]);
    kugel__free(ctx, p->points[i / 2][i % 2]);
    kugel__axis_destroy(ctx, &p->wave[i / 2][i % 2]);
  }
  for (int q = 0; q < 2; q++) {
    kugel__free(ctx, p->lowering[q]);
    kugel__free(ctx, p->rotation_store[q]);
  }
  kugel__free(ctx, p->blocks.degree);
  kugel__free(ctx, p->sorted);
  kugel__free(ctx, p);
  kugel_ctx_destroy(ctx);
}
