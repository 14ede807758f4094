/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of Jones-Worland plans. */
#include <math.h>
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "polynomial/jwt_tables.h"

static void *take(kugel_jwt *p, size_t bytes)
{
  p->bytes += bytes;
  return kugel__calloc(p->ctx, bytes);
}

/* top[ll]: the longest series of degree ll that a chain holds. */
static kugel_status make_rotations(kugel_jwt *p)
{
  int64_t lmax = p->lmax, total = 0, *top;
  size_t pair = 2 * p->word;
  KUGEL_ALLOC(p->ctx, top, sizeof *top * (size_t)(lmax + 1));
  memset(top, 0, sizeof *top * (size_t)(lmax + 1));
  for (int64_t i = 0; i < p->blocks.blocks; i++) {
    int64_t *at = &top[p->blocks.degree[i]];
    *at = kugel__max(*at,
                     p->blocks.n[i] + (p->blocks.degree[i] + 1) / 2 + 5); /* 4 beyond: fourfold integrals */
  }
  for (int64_t l = lmax - 1; l >= 0; l--)
    top[l] = kugel__max(top[l], top[l + 1]);
  for (int64_t l = 0; l < lmax; l++)
    total += top[l] -= l / 2;
  p->rotations = kugel__calloc(p->ctx, sizeof *p->rotations * (size_t)(lmax + 1));
  p->lowering = kugel__calloc(p->ctx, sizeof *p->lowering * (size_t)(lmax + 1));
  p->rotation_store = take(p, (size_t)kugel__max(1, total) * pair);
  bool ok = p->rotations && p->lowering && p->rotation_store;
  char *at = p->rotation_store;
  for (int64_t l = 0; ok && l < lmax; l++) {
    p->rotations[l] = at;
    kugel__jacobi_rotations(p->a, (double)l + p->shift, 1, top[l], p->single, at);
    at += (size_t)top[l] * pair;
    int64_t even = (lmax + 1) / 2, odd = lmax / 2;
    p->lowering[l % 2 ? even + odd - 1 - l / 2 : even - 1 - l / 2] = p->rotations[l];
  }
  kugel__free(p->ctx, top);
  KUGEL_CHECK(ok, KUGEL_ENOMEM, "no memory for %lld rotations", (long long)total);
  return KUGEL_OK;
}

static kugel_status make_bands(kugel_jwt *p)
{
  int64_t rows = 1;
  for (int64_t i = 0; i < p->blocks.blocks; i++)
    rows = kugel__max(rows, p->blocks.n[i] + (p->blocks.degree[i] + 1) / 2 + 6);
  p->band_rows = rows;
  double *v;
  KUGEL_ALLOC(p->ctx, p->bands, sizeof *p->bands * (size_t)(p->lmax + 1));
  KUGEL_ALLOC(p->ctx, v, sizeof *v * 3 * (size_t)rows);
  p->band_store = take(p, 3 * p->word * (size_t)(rows * (p->lmax + 1)));
  char *at = p->band_store;
  for (int64_t l = 0; at && l <= p->lmax; l++) {
    double b = (double)l + p->shift;
    for (int64_t i = 0; i < rows; i++) {
      v[i] = jacobi_gamma((double)i, p->a, b);
      v[rows + i] = 1 / v[i];
      v[2 * rows + i] = jacobi_zeta((double)i + 1, p->a, b);
    }
    kugel__numbers_store(p->single, v, 3 * rows, at);
    size_t line = p->word * (size_t)rows;
    p->bands[l] = (kugel__bidiagonal){at, at + line, at + 2 * line};
    at += 3 * line;
  }
  kugel__free(p->ctx, v);
  KUGEL_CHECK(p->band_store, KUGEL_ENOMEM, "no memory for bands of %lld degrees", (long long)p->lmax);
  return KUGEL_OK;
}

/* Squared norm of W_0^{l0} of a type over that of type Chebyshev. */
static kugel__dd norm_ratio(const kugel_jwt *p, int64_t l0)
{
  double l = (double)l0;
  return dd_div(kugel__jacobi_half_beta(l + p->shift + 1, p->a + 1), kugel__jacobi_half_beta(l + 0.5, 0.5));
}

static kugel_status make_connections(kugel_jwt *p)
{
  int64_t n = p->opts.radii ? p->n + (p->lmax + 1) / 2 : p->nr + 1;
  if (p->opts.type == KUGEL_WORLAND_CHEBYSHEV)
    return KUGEL_OK;
  double *a;
  KUGEL_ALLOC(p->ctx, a, sizeof *a * (size_t)(n * n));
  kugel_status s = KUGEL_OK;
  for (int l0 = 0; l0 < 2 && !s; l0++)
    for (int back = 0; back < (p->opts.radii ? 1 : 2) && !s; back++) {
      kugel__dd ratio = norm_ratio(p, l0);
      kugel__dd factor = dd_sqrt(back ? ratio : dd_div(dd_from(1), ratio));
      double b = l0 + p->shift, c = l0 - 0.5;
      s = back ? kugel__jacobi_connection(p->ctx, -0.5, c, p->a, b, factor, n, a)
               : kugel__jacobi_connection(p->ctx, p->a, b, -0.5, c, factor, n, a);
      void **to = back ? &p->connect_back[l0] : &p->connect[l0];
      if (!s && !(*to = take(p, p->word * (size_t)(n * n))))
        s = KUGEL_FAIL(KUGEL_ENOMEM, "no memory for a matrix of %lld x %lld", (long long)n, (long long)n);
      if (!s)
        kugel__numbers_store(p->single, a, n * n, *to);
    }
  kugel__free(p->ctx, a);
  return s;
}

static kugel_status make_grid(kugel_jwt *p, const double *radii)
{
  int64_t n = p->nr;
  p->r = kugel__alloc(p->ctx, sizeof *p->r * (size_t)n);
  p->inverse_r = kugel__alloc(p->ctx, p->word * (size_t)n);
  p->times_r = kugel__alloc(p->ctx, p->word * (size_t)n);
  double *inverse = kugel__alloc(p->ctx, sizeof *inverse * (size_t)n);
  bool ok = p->r && p->inverse_r && p->times_r && inverse;
  for (int64_t k = 0; ok && k < n; k++) {
    /* cos(pi (2k+1) / (4 nr)) = sin(pi (2 (nr - k) - 1) / (4 nr)): the smaller angle */
    int64_t u = 2 * k + 1, v = 2 * (n - k) - 1;
    long double step = 3.14159265358979323846264338327950288L / (4 * (long double)n);
    long double r = radii ? radii[k] : u < v ? cosl(step * (long double)u) : sinl(step * (long double)v);
    p->r[k] = (double)r;
    inverse[k] = (double)(1 / r);
  }
  if (ok) {
    kugel__numbers_store(p->single, inverse, n, p->inverse_r);
    kugel__numbers_store(p->single, p->r, n, p->times_r);
  }
  kugel__free(p->ctx, inverse);
  KUGEL_CHECK(ok, KUGEL_ENOMEM, "no memory for %lld radii", (long long)n);
  return KUGEL_OK;
}

static kugel_status make_waves(kugel_jwt *p)
{
  static const kugel_fft_kind kind[2][2] = {{KUGEL_FFT_DCT3, KUGEL_FFT_DCT2},
                                            {KUGEL_FFT_DCT4, KUGEL_FFT_DCT4}};
  for (int l0 = 0; l0 < 2; l0++)
    for (int analysis = 0; analysis < 2; analysis++)
      KUGEL_TRY(kugel__axis_create(p->ctx, kind[l0][analysis], p->nr, &p->wave[l0][analysis]));
  return KUGEL_OK;
}

static kugel_status make_norms(kugel_jwt *p)
{
  KUGEL_ALLOC(p->ctx, p->norm0, sizeof *p->norm0 * (size_t)(p->lmax + 1));
  kugel__dd h = kugel__jacobi_half_beta(p->shift + 1, p->a + 1);
  for (int64_t l = 0; l <= p->lmax; l++) {
    double b = (double)l + p->shift;
    p->norm0[l] = dd_value(h);
    h = dd_div(dd_mul_d(h, b + 1), dd_from(p->a + b + 2));
  }
  return KUGEL_OK;
}

/* Weights of Fejer's first rule on 2 nr nodes, half of which are the radii: the integral over dr of even polynomials. */
kugel_status kugel__jwt_energy_weight(kugel_jwt *p)
{
  int64_t n = p->nr, period = 4 * n;
  double *cosine;
  KUGEL_ALLOC(p->ctx, p->energy_weight, sizeof *p->energy_weight * (size_t)n);
  KUGEL_ALLOC(p->ctx, cosine, sizeof *cosine * (size_t)period);
  for (int64_t q = 0; q < period; q++)
    cosine[q] =
        (double)cosl(2 * 3.14159265358979323846264338327950288L * (long double)q / (long double)period);
  for (int64_t k = 0; k < n; k++) {
    double sum = 0;
    for (int64_t i = n - 1; i >= 1; i--)
      sum += cosine[(2 * k + 1) * i % period] / (double)(4 * i * i - 1);
    p->energy_weight[k] = (1 - 2 * sum) / (double)n * p->r[k] * p->r[k];
  }
  kugel__free(p->ctx, cosine);
  return KUGEL_OK;
}

kugel_status kugel__jwt_fill(kugel_jwt *p, const double *radii)
{
  KUGEL_TRY(make_grid(p, radii));
  if (p->opts.precision == KUGEL_PRECISION_DD)
    return kugel__jwt_dd_make(p);
  KUGEL_TRY(make_rotations(p));
  if (p->opts.engine == KUGEL_WORLAND_BIDIAGONAL)
    KUGEL_TRY(make_bands(p));
  KUGEL_TRY(make_norms(p));
  KUGEL_TRY(make_connections(p));
  KUGEL_TRY(radii ? kugel__jwt_points(p, radii) : make_waves(p));
  return kugel__jwt_dense(p);
}
