/* SPDX-License-Identifier: BSD-3-Clause */
/* HEALPix pixel weights: the least |w - 1| for which the mean of w Y_lm vanishes up to degree 3 nside (4 at
 * nside 2, whose 5 classes cannot do more), by Craig's method.
 * The weights have the symmetry of the grid: four quadrants, mirror images within one, north and south. So
 * only l even and m a multiple of 4 matter, with real coefficients, and only one pixel of each class is kept.
 */
#include <math.h>
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "sphere/alm.h"
#include "sphere/grid.h"
#include "sphere/legendre.h"

enum { MAX_NSIDE = 4096, MAX_STEPS = 500 };

typedef struct pixel_system {
  kugel_ctx *ctx;
  const kugel_grid *grid;
  kugel__leg *leg;
  int64_t nside, lmax, orders; /* orders m = 0, 4, ... */
  int64_t pairs, row;          /* ring pairs, padded to 8 */
  int64_t classes, nalm;       /* pixels kept; doubles of an alm set: columns [l - m] of re, im */
  int64_t *first, *place;      /* [pairs]: the ring's first class, by northern ring; [pairs]: northern ring */
  double *fourier;             /* [orders][row] */
  char *scratch; /* a part a worker: Legendre scratch, 4 rows or 2 nside cosines and nside sums */
  size_t part, leg_part;
  const double *in;
  double *out;
} pixel_system;

static int64_t column_start(const pixel_system *s, int64_t order)
{
  return 2 * (order * (s->lmax + 1) - 2 * order * (order - 1));
}

/* Ring i = 1 ... 2 nside: pixels a quadrant, whether the first lies half a step off the meridian, classes. */
static void ring_shape(int64_t nside, int64_t ring, int64_t *q, int64_t *half, int64_t *classes)
{
  *q = kugel__min(ring, nside);
  *half = ring < nside || ((ring - nside) & 1) == 0;
  *classes = *half ? (*q + 1) / 2 : *q / 2 + 1;
}

/* How many of the q pixels of a quadrant are in class j. */
static double class_size(int64_t q, int64_t half, int64_t j)
{
  const int64_t mirror = half ? q - 1 - j : (q - j) % q;
  return mirror == j ? 1 : 2;
}

static kugel_status legendre_synthesis(void *arg, int64_t order, int worker)
{
  const pixel_system *s = arg;
  char *mine = s->scratch + (size_t)worker * s->part;
  double *rows = (double *)(mine + s->leg_part);
  const double *column = s->in + column_start(s, order);
  kugel__leg_synth(s->leg, 4 * order, 0, s->pairs, &column, rows, s->row, mine);
  memcpy(s->fourier + order * s->row, rows, (size_t)s->row * sizeof *rows);
  return KUGEL_OK;
}

/* Even degrees from the sum of both hemispheres, handed over as the northern one. */
static kugel_status legendre_adjoint(void *arg, int64_t order, int worker)
{
  const pixel_system *s = arg;
  char *mine = s->scratch + (size_t)worker * s->part;
  double *rows = (double *)(mine + s->leg_part), *column = s->out + column_start(s, order);
  const int64_t n = s->lmax - 4 * order + 1;
  memset(rows, 0, (size_t)(4 * s->row) * sizeof *rows);
  memcpy(rows, s->fourier + order * s->row, (size_t)s->row * sizeof *rows);
  memset(column, 0, (size_t)(2 * n) * sizeof *column);
  kugel__leg_adjoint(s->leg, 4 * order, 0, s->pairs, rows, s->row, &column, mine);
  for (int64_t i = 0; i < n; i++) {
    column[2 * i + 1] = 0;
    if (i & 1)
      column[2 * i] = 0;
  }
  return KUGEL_OK;
}

/* Folding of order 4 k on a ring of q pixels a quadrant: cos(2 pi k (j + half/2) / q) = sign cos(2 pi r (j +
 * half/2) / q). */
static int64_t fold(int64_t k, int64_t q, int64_t half, double *sign)
{
  const int64_t turns = k / q, r = k % q;
  *sign = half && (turns & 1) ? -1 : 1;
  if (2 * r <= q)
    return r;
  if (half)
    *sign = -*sign;
  return q - r;
}

static void make_cosines(int64_t q, double *cosine)
{
  for (int64_t k = 0; k < 2 * q; k++)
    cosine[k] = cos(M_PI * (double)k / (double)q);
}

/* x_j = F_0 + 2 sum_k F_k cos(4 k phi_j) on one ring. */
static kugel_status ring_synthesis(void *arg, int64_t pair, int worker)
{
  const pixel_system *s = arg;
  double *cosine = (double *)(s->scratch + (size_t)worker * s->part), *sum = cosine + 2 * s->nside;
  int64_t q, half, classes;
  ring_shape(s->nside, s->place[pair], &q, &half, &classes);
  make_cosines(q, cosine);
  memset(sum, 0, (size_t)(q + 1) * sizeof *sum);
  for (int64_t k = 0; k < s->orders; k++) {
    double sign;
    const int64_t r = fold(k, q, half, &sign);
    sum[r] += sign * (k ? 2 : 1) * s->fourier[k * s->row + pair];
  }
  for (int64_t j = 0; j < classes; j++) {
    double x = 0;
    const int64_t step = 2 * j + half;
    for (int64_t r = 0, at = 0; 2 * r <= q; r++) {
      x += sum[r] * cosine[at];
      at += step;
      at -= at >= 2 * q ? 2 * q : 0;
    }
    s->out[s->first[pair] + j] = x;
  }
  return KUGEL_OK;
}

/* F_k = sum over the pixels of the ring and its mirror image of x cos(4 k phi). */
static kugel_status ring_adjoint(void *arg, int64_t pair, int worker)
{
  const pixel_system *s = arg;
  double *cosine = (double *)(s->scratch + (size_t)worker * s->part), *sum = cosine + 2 * s->nside;
  int64_t q, half, classes;
  ring_shape(s->nside, s->place[pair], &q, &half, &classes);
  make_cosines(q, cosine);
  const double rings = s->place[pair] == 2 * s->nside ? 4 : 8; // quadrants, both hemispheres
  memset(sum, 0, (size_t)(q + 1) * sizeof *sum);
  for (int64_t j = 0; j < classes; j++) {
    const double x = s->in[s->first[pair] + j] * class_size(q, half, j) * rings;
    const int64_t step = 2 * j + half;
    for (int64_t r = 0, at = 0; 2 * r <= q; r++) {
      sum[r] += x * cosine[at];
      at += step;
      at -= at >= 2 * q ? 2 * q : 0;
    }
  }
  for (int64_t k = 0; k < s->orders; k++) {
    double sign;
    const int64_t r = fold(k, q, half, &sign);
    s->fourier[k * s->row + pair] = sign * sum[r];
  }
  return KUGEL_OK;
}

static kugel_status synthesis(pixel_system *s, const double *alm, double *x)
{
  s->in = alm;
  s->out = x;
  KUGEL_TRY(kugel__parallel(s->ctx, s->orders, legendre_synthesis, s));
  return kugel__parallel(s->ctx, s->pairs, ring_synthesis, s);
}

static kugel_status adjoint(pixel_system *s, const double *x, double *alm)
{
  s->in = x;
  s->out = alm;
  KUGEL_TRY(kugel__parallel(s->ctx, s->pairs, ring_adjoint, s));
  return kugel__parallel(s->ctx, s->orders, legendre_adjoint, s);
}

static double alm_norm2(const pixel_system *s, const double *alm)
{
  double first = 0, rest = 0;
  for (int64_t i = 0; i < s->nalm; i++)
    *(i < column_start(s, 1) ? &first : &rest) += alm[i] * alm[i];
  return first + 2 * rest;
}

static double pixel_norm2(const pixel_system *s, const double *x)
{
  double total = 0;
  for (int64_t p = 0; p < s->pairs; p++) {
    int64_t q, half, classes;
    double sum = 0;
    ring_shape(s->nside, s->place[p], &q, &half, &classes);
    for (int64_t j = 0; j < classes; j++)
      sum += class_size(q, half, j) * x[s->first[p] + j] * x[s->first[p] + j];
    total += sum * (s->place[p] == 2 * s->nside ? 4 : 8);
  }
  return total;
}

/* work: [classes] p, [classes] A^T r, [nalm] r, [nalm] A p. x: w - 1. */
static kugel_status solve(pixel_system *s, double *x, double *work)
{
  double *p = work, *next = p + s->classes, *r = next + s->classes, *ap = r + s->nalm;
  for (int64_t i = 0; i < s->classes; i++) {
    p[i] = 1;
    x[i] = 0;
  }
  KUGEL_TRY(adjoint(s, p, r));
  for (int64_t i = 0; i < s->nalm; i++)
    r[i] = -r[i];
  const double total =
      12 * (double)s->nside * (double)s->nside / sqrt(4 * M_PI); // what the monopole must sum to
  r[0] += total;
  KUGEL_TRY(synthesis(s, r, p));
  const double start = alm_norm2(s, r);
  double rr = start, best = start;
  int since = 0;
  for (int step = 0; step < MAX_STEPS && rr > 1e-29 * start && since < 100; step++) {
    const double alpha = rr / pixel_norm2(s, p);
    for (int64_t i = 0; i < s->classes; i++)
      x[i] += alpha * p[i];
    KUGEL_TRY(adjoint(s, p, ap));
    for (int64_t i = 0; i < s->nalm; i++)
      r[i] -= alpha * ap[i];
    const double now = alm_norm2(s, r), beta = now / rr;
    KUGEL_TRY(synthesis(s, r, next));
    for (int64_t i = 0; i < s->classes; i++)
      p[i] = next[i] + beta * p[i];
    rr = now;
    since = rr < best ? 0 : since + 1;
    best = fmin(best, rr);
  }
  // equal weights leave a residual of some 1e-4 of the total; what is left here is far below their rounding
  // in use
  KUGEL_CHECK(sqrt(best) <= 1e-8 * total, KUGEL_ECONVERGE,
              "pixel weights at nside %lld: the quadrature stays %.2g from exact, must come to 1e-10; use "
              "ring weights",
              (long long)s->nside, sqrt(best) / total);
  return KUGEL_OK;
}

static void expand(const pixel_system *s, const double *x, double *weight)
{
  const int64_t npix = 12 * s->nside * s->nside;
  for (int64_t p = 0; p < s->pairs; p++) {
    const int64_t i = s->place[p];
    int64_t q, half, classes;
    ring_shape(s->nside, i, &q, &half, &classes);
    const int64_t at =
        i <= s->nside ? 2 * i * (i - 1) : 2 * s->nside * (s->nside - 1) + (i - s->nside) * 4 * s->nside;
    for (int64_t k = 0; k < 4 * q; k++) {
      const int64_t j = k % q, mirror = half ? q - 1 - j : (q - j) % q;
      weight[at + k] = weight[npix - at - 4 * q + k] = 1 + x[s->first[p] + kugel__min(j, mirror)];
    }
  }
}

/* Ring pairs of the grid by northern ring, and where their classes start. */
static void make_rings(pixel_system *s)
{
  s->classes = 0;
  for (int64_t p = 0; p < s->pairs; p++) {
    const kugel__ring_pair *pair = s->grid->pairs + p;
    int64_t q, half, classes;
    s->place[p] = (pair->north >= 0 ? pair->north : 4 * s->nside - 2 - pair->south) + 1;
    ring_shape(s->nside, s->place[p], &q, &half, &classes);
    s->first[p] = s->classes;
    s->classes += classes;
  }
}

static kugel_status make_legendre(pixel_system *s)
{
  double *table;
  KUGEL_ALLOC(s->ctx, table, (size_t)(2 * s->pairs) * sizeof *table);
  for (int64_t p = 0; p < s->pairs; p++) {
    table[p] = s->grid->pairs[p].cth;
    table[s->pairs + p] = s->grid->pairs[p].sth;
  }
  kugel_status status = kugel__leg_create(s->ctx, s->lmax, s->lmax, KUGEL__LEG_SCALAR, 0, s->pairs, table,
                                          table + s->pairs, &s->leg);
  kugel__free(s->ctx, table);
  return status;
}

/* Everything once grid and Legendre plan stand. */
static kugel_status run(pixel_system *s, double *weight)
{
  s->orders = s->lmax / 4 + 1;
  s->row = kugel__round_up(s->pairs, 8);
  s->nalm = column_start(s, s->orders);
  s->leg_part = (size_t)kugel__round_up((int64_t)kugel__leg_scratch(s->leg), 64);
  s->part =
      kugel__round_up((int64_t)kugel__max((int64_t)s->leg_part + 4 * s->row * 8, (3 * s->nside + 8) * 8), 64);
  kugel_ctx *ctx = kugel__ctx(s->ctx);
  const int64_t integers = 2 * s->pairs;
  int64_t *tables = kugel__alloc(ctx, (size_t)integers * sizeof *tables);
  KUGEL_CHECK(tables, KUGEL_ENOMEM, "no memory for the ring tables of nside %lld", (long long)s->nside);
  s->first = tables;
  s->place = tables + s->pairs;
  make_rings(s);
  const int64_t doubles = 3 * s->classes + 2 * s->nalm, fourier = s->orders * s->row;
  double *work = kugel__alloc(ctx, (size_t)doubles * 8);
  s->fourier = kugel__alloc(ctx, (size_t)fourier * 8);
  s->scratch = kugel__scratch_get(ctx, (size_t)kugel__ctx_threads(ctx) * s->part);
  kugel_status status =
      work && s->fourier && s->scratch
          ? KUGEL_OK
          : KUGEL_FAIL(KUGEL_ENOMEM, "no memory for the pixel weights of nside %lld", (long long)s->nside);
  if (status == KUGEL_OK)
    status = solve(s, work, work + s->classes);
  if (status == KUGEL_OK)
    expand(s, work, weight);
  kugel__scratch_put(ctx, s->scratch);
  kugel__free(ctx, s->fourier);
  kugel__free(ctx, work);
  kugel__free(ctx, tables);
  return status;
}

kugel_status kugel_healpix_pixel_weights(kugel_ctx *ctx, int64_t nside, double *weight)
{
  KUGEL_CHECK(nside >= 1 && nside <= MAX_NSIDE, KUGEL_EINVAL, "nside %lld: must be between 1 and %d",
              (long long)nside, (int)MAX_NSIDE);
  KUGEL_CHECK(weight, KUGEL_EINVAL, "weight is NULL: give 12 nside^2 numbers to fill");
  kugel_grid *grid = NULL;
  kugel_grid_opts opts = {.size = sizeof opts, .kind = KUGEL_GRID_HEALPIX, .nside = nside};
  KUGEL_TRY(kugel_grid_create(ctx, &opts, &grid));
  pixel_system s = {.ctx = ctx,
                    .grid = grid,
                    .nside = nside,
                    .lmax = nside == 2 ? 4 : 3 * nside / 2 * 2,
                    .pairs = grid->npairs};
  kugel_status status = make_legendre(&s);
  if (status == KUGEL_OK)
    status = run(&s, weight);
  kugel__leg_destroy(s.leg);
  kugel_grid_destroy(grid);
  return status;
}
