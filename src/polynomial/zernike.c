/* SPDX-License-Identifier: BSD-3-Clause */
/* Zernike plans: indices, checks, tables. */
#include <math.h>
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "polynomial/program.h"
#include "polynomial/zernike.h"

enum { MOST = 4096 };

int64_t kugel__zernike_index(kugel_zernike_order order, int64_t n, int64_t m)
{
  if (order == KUGEL_ZERNIKE_OSA)
    return (n * (n + 2) + m) / 2;
  /* Noll's j starts at n (n + 1) / 2 + |m|, plus 1 where that makes the parity right: even j are cosines */
  int64_t first = n * (n + 1) / 2 + (m < 0 ? -m : m);
  bool sine = m < 0, low = n % 4 < 2;
  return m == 0 ? first : sine == low ? first : first - 1;
}

static kugel_status check_order(kugel_zernike_order order)
{
  KUGEL_CHECK(order == KUGEL_ZERNIKE_OSA || order == KUGEL_ZERNIKE_BY_NOLL, KUGEL_EINVAL,
              "order is %d, must be KUGEL_ZERNIKE_OSA (0) or BY_NOLL (1)", (int)order);
  return KUGEL_OK;
}

kugel_status kugel_zernike_index(kugel_zernike_order order, int64_t n, int64_t m, int64_t *index)
{
  KUGEL_TRY(check_order(order));
  KUGEL_CHECK(index, KUGEL_EINVAL, "index is NULL: pass where to put it");
  KUGEL_CHECK(n >= 0 && n <= 1 << 30, KUGEL_EINVAL, "n is %lld, must be 0 to 2^30", (long long)n);
  KUGEL_CHECK(m >= -n && m <= n && (n - m) % 2 == 0, KUGEL_EINVAL,
              "m is %lld, must be one of %lld, %lld, ... %lld", (long long)m, (long long)-n,
              (long long)-n + 2, (long long)n);
  *index = kugel__zernike_index(order, n, m);
  return KUGEL_OK;
}

kugel_status kugel_zernike_nm(kugel_zernike_order order, int64_t index, int64_t *n, int64_t *m)
{
  KUGEL_TRY(check_order(order));
  KUGEL_CHECK(n && m, KUGEL_EINVAL, "%s is NULL: pass where to put it", n ? "m" : "n");
  KUGEL_CHECK(index >= 0 && index <= (int64_t)1 << 58, KUGEL_EINVAL, "index is %lld, must be 0 to 2^58",
              (long long)index);
  int64_t k = (int64_t)((sqrt(8 * (double)index + 1) - 1) / 2);
  while (k * (k + 1) / 2 > index)
    k--;
  while ((k + 1) * (k + 2) / 2 <= index)
    k++;
  *n = k;
  int64_t rest = index - k * (k + 1) / 2; /* 0 ... n */
  if (order == KUGEL_ZERNIKE_OSA) {
    *m = 2 * rest - k;
    return KUGEL_OK;
  }
  int64_t a = k % 2 ? rest / 2 * 2 + 1 : (rest + 1) / 2 * 2; /* |m| grows every two indices */
  *m = kugel__zernike_index(order, k, a) == index ? a : -a;
  return KUGEL_OK;
}

static kugel_status check_opts(const kugel_zernike_opts *o)
{
  KUGEL_TRY(check_order(o->order));
  KUGEL_CHECK(o->precision == KUGEL_PRECISION_F64 || o->precision == KUGEL_PRECISION_F32, KUGEL_EINVAL,
              "precision is %d, must be KUGEL_PRECISION_F64 (0) or F32 (1)", (int)o->precision);
  KUGEL_CHECK((int)o->norm >= 0 && o->norm <= KUGEL_ZERNIKE_NATURAL, KUGEL_EINVAL,
              "norm is %d, must be KUGEL_ZERNIKE_NOLL (0), ORTHONORMAL (1) or NATURAL (2)", (int)o->norm);
  KUGEL_CHECK(o->nmax >= 0 && o->nmax <= MOST, KUGEL_EINVAL, "nmax is %lld, must be 0 to %d",
              (long long)o->nmax, MOST);
  KUGEL_CHECK(o->points >= 0 && o->points <= 1 << 26, KUGEL_EINVAL, "points is %lld, must be 0 to 2^26",
              (long long)o->points);
  if (!o->points) {
    KUGEL_CHECK(!o->r && !o->phi, KUGEL_EINVAL, "points is 0, must be the number of r and phi");
    KUGEL_CHECK(!o->nr || (o->nr > o->nmax / 2 && o->nr <= 1 << 20), KUGEL_EINVAL,
                "nr is %lld: degrees to nmax = %lld need %lld to 2^20 radii", (long long)o->nr,
                (long long)o->nmax, (long long)o->nmax / 2 + 1);
    KUGEL_CHECK(!o->nphi || (o->nphi > 2 * o->nmax && o->nphi <= 1 << 24), KUGEL_EINVAL,
                "nphi is %lld: orders to nmax = %lld need %lld to 2^24 angles", (long long)o->nphi,
                (long long)o->nmax, 2 * (long long)o->nmax + 1);
    return KUGEL_OK;
  }
  KUGEL_CHECK(!o->nr && !o->nphi, KUGEL_EINVAL,
              "nr and nphi are %lld and %lld, must be 0 with points of the caller", (long long)o->nr,
              (long long)o->nphi);
  KUGEL_CHECK(o->r && o->phi, KUGEL_EINVAL, "%s is NULL: pass those of %lld points", o->r ? "phi" : "r",
              (long long)o->points);
  for (int64_t i = 0; i < o->points; i++) {
    KUGEL_CHECK(o->r[i] >= 0 && o->r[i] <= 1, KUGEL_EINVAL, "r[%lld] is %g, must be 0 to 1", (long long)i,
                o->r[i]);
    KUGEL_CHECK(isfinite(o->phi[i]), KUGEL_EINVAL, "phi[%lld] is %g, must be finite", (long long)i,
                o->phi[i]);
  }
  return KUGEL_OK;
}

static kugel_status make_lists(kugel_zernike *p, const kugel_zernike_opts *o)
{
  KUGEL_ALLOC(p->ctx, p->at, 2 * sizeof *p->at * (size_t)((p->nmax + 1) * p->rows));
  KUGEL_ALLOC(p->ctx, p->norm, sizeof *p->norm * (size_t)((p->nmax + 1) * p->rows));
  for (int64_t m = 0; m <= p->nmax; m++)
    for (int64_t k = 0; k < p->rows; k++) {
      int64_t i = m * p->rows + k, n = m + 2 * k;
      bool used = n <= p->nmax;
      double natural = 1 / sqrt(2 * (double)n + 2), mean = m ? 1 : M_SQRT1_2;
      p->at[2 * i] = used ? kugel__zernike_index(o->order, n, m) : -1;
      p->at[2 * i + 1] = used && m ? kugel__zernike_index(o->order, n, -m) : -1;
      p->norm[i] = o->norm == KUGEL_ZERNIKE_NATURAL ? natural
                   : o->norm == KUGEL_ZERNIKE_NOLL  ? mean
                                                    : mean / sqrt(M_PI);
    }
  return KUGEL_OK;
}

static kugel_status make_radial(kugel_zernike *p, const kugel_zernike_opts *o)
{
  int64_t *list;
  KUGEL_ALLOC(p->ctx, list, 2 * sizeof *list * (size_t)(p->nmax + 1));
  for (int64_t m = 0; m <= p->nmax; m++) {
    list[m] = m;
    list[p->nmax + 1 + m] = (p->nmax - m) / 2 + 1;
  }
  kugel_jwt_opts j = {.size = sizeof j,
                      .type = KUGEL_WORLAND_CYLINDER_ENERGY,
                      .precision = o->precision,
                      .complex_data = 1,
                      .n = p->rows,
                      .blocks = p->nmax + 1,
                      .l = list,
                      .nl = list + p->nmax + 1,
                      .nr = p->width,
                      .radii = p->points ? o->r : NULL};
  kugel_status s = kugel_jwt_create(p->ctx, &j, &p->radial);
  kugel__free(p->ctx, list);
  return s;
}

static kugel_status make_points(kugel_zernike *p, const kugel_zernike_opts *o)
{
  size_t n = (size_t)p->points;
  KUGEL_ALLOC(p->ctx, p->r, sizeof *p->r * n);
  KUGEL_ALLOC(p->ctx, p->phi, sizeof *p->phi * n);
  memcpy(p->r, o->r, sizeof *p->r * n);
  memcpy(p->phi, o->phi, sizeof *p->phi * n);
  KUGEL_ALLOC(p->ctx, p->phase, 2 * p->word * n * (size_t)(p->nmax + 1));
  for (int64_t i = 0; i < p->points; i++) {
    const double *phi = &p->phi[i];
    for (int64_t m = 0; m <= p->nmax; m++) {
      long double x = (long double)m * (long double)*phi;
      double e[2] = {(double)cosl(x), (double)sinl(x)};
      kugel__numbers_store(p->single, e, 2, (char *)p->phase + 2 * p->word * (size_t)(m * p->points + i));
    }
  }
  return KUGEL_OK;
}

static kugel_status fill(kugel_zernike *p, const kugel_zernike_opts *o)
{
  KUGEL_TRY(make_lists(p, o));
  KUGEL_TRY(make_radial(p, o));
  if (p->points)
    return make_points(p, o);
  kugel_fft_opts f = {.size = sizeof f, .kind = KUGEL_FFT_R2C, .precision = o->precision};
  return kugel_fft_create(p->ctx, 1, &p->nphi, &f, &p->fft);
}

kugel_status kugel_zernike_create(kugel_ctx *ctx, const kugel_zernike_opts *opts, kugel_zernike **out)
{
  KUGEL_CHECK(out, KUGEL_EINVAL, "out is NULL: pass where to put the plan");
  *out = NULL;
  KUGEL_CHECK(opts, KUGEL_EINVAL, "opts is NULL: pass nmax");
  kugel_zernike_opts o;
  KUGEL_TRY(kugel__take_opts(&o, sizeof o, opts, "kugel_zernike_opts"));
  KUGEL_TRY(check_opts(&o));
  kugel_ctx *held = kugel__ctx_retain(ctx);
  bool cpu = held->device.type == KUGEL_CPU;
  kugel_zernike *p = cpu ? kugel__calloc(held, sizeof *p) : NULL;
  if (!p) {
    kugel_ctx_destroy(held);
    KUGEL_CHECK(cpu, KUGEL_ENOTSUP, "Zernike transforms run on the CPU: pass a context of it");
    return KUGEL_FAIL(KUGEL_ENOMEM, "no memory for a plan of %zu bytes", sizeof *p);
  }
  p->ctx = held;
  p->single = o.precision == KUGEL_PRECISION_F32;
  p->word = p->single ? 4 : 8;
  p->nmax = o.nmax;
  p->rows = o.nmax / 2 + 1;
  p->count = (o.nmax + 1) * (o.nmax + 2) / 2;
  p->points = o.points;
  p->nr = o.points ? 1 : o.nr ? o.nr : p->rows;
  p->nphi = o.points ? o.points : o.nphi ? o.nphi : 2 * o.nmax + 2;
  p->width = o.points ? o.points : p->nr;
  kugel_status s = fill(p, &o);
  if (s) {
    kugel_zernike_destroy(p);
    return s;
  }
  *out = p;
  return KUGEL_OK;
}

void kugel_zernike_destroy(kugel_zernike *p)
{
  if (!p)
    return;
  kugel_ctx *ctx = p->ctx;
  kugel_jwt_destroy(p->radial);
  kugel_fft_destroy(p->fft);
  void *arrays[] = {p->at, p->norm, p->r, p->phi, p->phase};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
    kugel__free(ctx, arrays[i]);
  kugel__free(ctx, p);
  kugel_ctx_destroy(ctx);
}

kugel_status kugel_zernike_grid(const kugel_zernike *p, double *r, double *phi)
{
  KUGEL_CHECK(p, KUGEL_EINVAL, "plan is NULL: make one with kugel_zernike_create");
  if (r)
    KUGEL_TRY(kugel_jwt_grid(p->radial, r, NULL));
  for (int64_t i = 0; phi && i < p->nphi; i++)
    phi[i] = p->points ? p->phi[i] : 2 * M_PI * (double)i / (double)p->nphi;
  return KUGEL_OK;
}
