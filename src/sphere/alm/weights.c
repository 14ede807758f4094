/* SPDX-License-Identifier: BSD-3-Clause */
/* HEALPix ring weights: the least-norm solution of an underdetermined linear system, by conjugate gradients.
 */
#include <math.h>
#include <string.h>
#include "core/alloc.h"
#include "core/parallel.h"
#include "sphere/alm/alm.h"
#include "sphere/alm/kept.h"

enum { BLOCK = 64, MAX_STEPS = 4000, MAX_NSIDE = 16384 };

/* With y_i = (pixels of ring i and its mirror image) (w_i - 1) / npix for the 2 nside northern rings and
 * A_li = sqrt(2l+1) P_l(z_i), l = 0, 2, ... L: the least |y| with A y = b, where b makes the mean of P_l zero
 * for l > 0 and 1 for l = 0. */
typedef struct ring_system {
  int64_t rings, padded, count; /* count: number of degrees, L / 2 + 1 */
  double *z;                    /* [padded] */
  double *part;                 /* [blocks][count] partial sums over blocks of rings */
  const double *in;
  double *out;
} ring_system;

/* P_l and P_(l-1) of a block of rings, l rising by one a call. */
typedef struct legendre {
  double x[BLOCK], now[BLOCK], before[BLOCK];
} legendre;

static void legendre_begin(legendre *p, const double *z)
{
  for (int i = 0; i < BLOCK; i++) {
    p->x[i] = z[i];
    p->now[i] = 1;
    p->before[i] = 0;
  }
}

static void legendre_next(legendre *p, int64_t l)
{
  const double up = (double)(2 * l + 1) / (double)(l + 1), down = (double)l / (double)(l + 1);
  for (int i = 0; i < BLOCK; i++) {
    const double next = up * p->x[i] * p->now[i] - down * p->before[i];
    p->before[i] = p->now[i];
    p->now[i] = next;
  }
}

static kugel_status forward_block(void *arg, int64_t block)
{
  const ring_system *s = arg;
  legendre p;
  legendre_begin(&p, s->z + block * BLOCK);
  for (int64_t k = 0; k < s->count; k++) {
    double sum[8] = {0};
    for (int i = 0; i < BLOCK; i += 8)
      for (int j = 0; j < 8; j++)
        sum[j] += p.now[i + j] * s->in[block * BLOCK + i + j];
    s->part[block * s->count + k] = sqrt((double)(4 * k + 1)) * (((sum[0] + sum[1]) + (sum[2] + sum[3])) +
                                                                 ((sum[4] + sum[5]) + (sum[6] + sum[7])));
    legendre_next(&p, 2 * k);
    legendre_next(&p, 2 * k + 1);
  }
  return KUGEL_OK;
}

static kugel_status adjoint_block(void *arg, int64_t block)
{
  const ring_system *s = arg;
  legendre p;
  double sum[BLOCK] = {0};
  legendre_begin(&p, s->z + block * BLOCK);
  for (int64_t k = 0; k < s->count; k++) {
    const double f = sqrt((double)(4 * k + 1)) * s->in[k];
    for (int i = 0; i < BLOCK; i++)
      sum[i] += f * p.now[i];
    legendre_next(&p, 2 * k);
    legendre_next(&p, 2 * k + 1);
  }
  for (int i = 0; i < BLOCK; i++)
    s->out[block * BLOCK + i] = block * BLOCK + i < s->rings ? sum[i] : 0;
  return KUGEL_OK;
}

/* out[count] = A in[padded] */
static kugel_status forward(kugel_ctx *ctx, ring_system *s, const double *in, double *out)
{
  s->in = in;
  KUGEL_TRY(kugel__parallel(ctx, s->padded / BLOCK, forward_block, s));
  memset(out, 0, (size_t)s->count * sizeof *out);
  for (int64_t b = 0; b < s->padded / BLOCK; b++)
    for (int64_t k = 0; k < s->count; k++)
      out[k] += s->part[b * s->count + k];
  return KUGEL_OK;
}

/* out[padded] = A^T in[count] */
static kugel_status adjoint(kugel_ctx *ctx, ring_system *s, const double *in, double *out)
{
  s->in = in;
  s->out = out;
  return kugel__parallel(ctx, s->padded / BLOCK, adjoint_block, s);
}

static double norm2(const double *x, int64_t n)
{
  double sum = 0;
  for (int64_t i = 0; i < n; i++)
    sum += x[i] * x[i];
  return sum;
}

/* Craig's method: conjugate gradients on A A^T u = b, keeping y = A^T u; y grows from 0, so it ends at the
 * least norm. r: b on entry, the residual on return. */
static kugel_status solve(kugel_ctx *ctx, ring_system *s, double *r, double *y, double *p, double *ap)
{
  const double start = norm2(r, s->count);
  double rr = start, best = start;
  int since = 0;
  memset(y, 0, (size_t)s->padded * sizeof *y);
  KUGEL_TRY(adjoint(ctx, s, r, p));
  for (int step = 0; step < MAX_STEPS && rr > 1e-31 * start; step++) {
    const double alpha = rr / norm2(p, s->padded);
    for (int64_t i = 0; i < s->padded; i++)
      y[i] += alpha * p[i];
    KUGEL_TRY(forward(ctx, s, p, ap));
    for (int64_t k = 0; k < s->count; k++)
      r[k] -= alpha * ap[k];
    const double now = norm2(r, s->count), beta = now / rr;
    KUGEL_TRY(adjoint(ctx, s, r, ap + s->count));
    for (int64_t i = 0; i < s->padded; i++)
      p[i] = ap[s->count + i] + beta * p[i];
    rr = now;
    since = rr < best ? 0 : since + 1;
    best = fmin(best, rr);
    if (since > 50 && best < 1e-24 * start)
      break;
  }
  KUGEL_CHECK(best <= 1e-22 * start, KUGEL_ECONVERGE,
              "ring weights of %lld rings: the residual stays at %.2g of its start", (long long)s->rings,
              sqrt(best / start));
  return KUGEL_OK;
}

/* Degrees up to which the HEALPix weight files are exact; 3 nside elsewhere, and for all other nside. */
static int64_t exact_degree(int64_t nside)
{
  switch (nside) {
  case 4:
    return 8;
  case 32:
    return 100;
  case 64:
    return 226;
  case 128:
    return 454;
  case 512:
    return 1700;
  case 1024:
    return 3500;
  default:
    return 3 * nside / 2 * 2;
  }
}

static double ring_z(int64_t nside, int64_t ring)
{
  const double n = (double)nside, i = (double)ring;
  return ring < nside ? 1 - i * i / (3 * n * n) : (4 * n - 2 * i) / (3 * n);
}

kugel_status kugel_healpix_ring_weights(kugel_ctx *ctx, int64_t nside, double *weight)
{
  KUGEL_CHECK(nside >= 1 && nside <= MAX_NSIDE, KUGEL_EINVAL, "nside %lld: must be between 1 and %d",
              (long long)nside, (int)MAX_NSIDE);
  KUGEL_CHECK(weight, KUGEL_EINVAL, "weight is NULL: give 4 nside - 1 numbers to fill");
  const kugel__alm_kept id = {"ring weights 1", nside, (size_t)(4 * nside - 1), nside >= 64};
  if (kugel__kept_get(&id, weight))
    return KUGEL_OK;
  ring_system s = {.rings = 2 * nside, .count = exact_degree(nside) / 2 + 1};
  s.padded = kugel__round_up(s.rings, BLOCK);
  const int64_t blocks = s.padded / BLOCK, doubles = 4 * s.padded + (blocks + 2) * s.count;
  double *memory;
  KUGEL_ALLOC(ctx, memory, (size_t)doubles * sizeof *memory);
  double *y = memory + s.padded, *p = y + s.padded, *r, *ap;
  s.z = memory;
  s.part = p + s.padded;
  r = s.part + blocks * s.count;
  ap = r + s.count; // [count] and then [padded]
  for (int64_t i = 0; i < s.padded; i++) {
    s.z[i] = i < s.rings ? ring_z(nside, i + 1) : 0;
    p[i] = i < s.rings ? (double)(4 * kugel__min(i + 1, nside) * (i + 1 < s.rings ? 2 : 1)) /
                             (12 * (double)nside * (double)nside)
                       : 0;
  }
  kugel_status status = forward(ctx, &s, p, r);
  for (int64_t k = 0; k < s.count; k++)
    r[k] = (k == 0) - r[k];
  if (status == KUGEL_OK)
    status = solve(ctx, &s, r, y, p, ap);
  for (int64_t i = 0; i < s.rings && status == KUGEL_OK; i++) {
    const double pixels = (double)(4 * kugel__min(i + 1, nside) * (i + 1 < s.rings ? 2 : 1));
    weight[i] = weight[4 * nside - 2 - i] = 1 + y[i] * 12 * (double)nside * (double)nside / pixels;
  }
  kugel__free(ctx, memory);
  if (status == KUGEL_OK)
    kugel__kept_put(&id, weight);
  return status;
}
