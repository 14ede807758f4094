/* SPDX-License-Identifier: BSD-3-Clause */
/* HEALPix pixel weights: w near 1 for which the mean of w Y_lm vanishes up to degree 3 nside (4 at nside 2,
 * whose 5 classes cannot do more).
 *
 * The weights have the symmetry of the grid: four quadrants, mirror images within one, north and south. So
 * only l even and m = 4 k matter, with real coefficients. On a ring of 4 q pixels w_j - 1 = sum_r c_r F_r
 * cos(2 pi r (j + half/2) / q),  0 <= r <= q/2,  c_r = 1 for r = 0 and q/2, else 2, and the F_r, not the
 * pixels, are the unknowns. What equal weights miss comes from the poles and falls by a factor of 3 from one
 * k to the next, alike at every nside, so F_r = 0 for r >= UNKNOWNS, and the equations of the first ORDERS k,
 * on which those F_r fold, hold all the others too. This keeps out the high orders, for which the rings near
 * the poles are too coarse: there the system is singular but for rounding. CGLS (Bjorck 1996, 7.4) from F = 0
 * keeps w near 1 and makes the residual smaller at each step.
 */
#include <math.h>
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "sphere/alm/alm.h"
#include "sphere/alm/kept.h"
#include "sphere/grid/grid.h"
#include "sphere/legendre/legendre.h"

enum { MAX_NSIDE = 4096, MAX_STEPS = 1000, UNKNOWNS = 24, ORDERS = 40 };
static const double TARGET = 2e-13, LIMIT = 1e-11; /* residual: aimed at, accepted */

typedef struct pixel_system {
  kugel_ctx *ctx;
  const kugel_grid *grid;
  kugel__leg *leg;
  int64_t nside, lmax, orders; /* orders m = 0, 4, ... */
  int64_t pairs, row;          /* ring pairs, padded to 8 */
  int64_t unknowns, nalm;      /* orders * row; doubles of an alm set: columns [l - m] of re, im */
  int64_t *place;              /* [pairs]: the ring pair's northern ring, 1 ... 2 nside */
  double *fourier;             /* [orders][row] */
  int64_t workers;
  char *scratch; /* a part per worker: Legendre scratch, 4 rows */
  size_t part, leg_part;
  const double *in;
  double *out;
} pixel_system;

static int64_t column_start(const pixel_system *s, int64_t order)
{
  return 2 * (order * (s->lmax + 1) - 2 * order * (order - 1));
}

/* Ring i = 1 ... 2 nside: pixels a quadrant, whether the first lies half a step off the meridian. */
static void ring_shape(int64_t nside, int64_t ring, int64_t *q, int64_t *half)
{
  *q = kugel__min(ring, nside);
  *half = ring < nside || ((ring - nside) & 1) == 0;
}

/* Pixels of a ring and of its mirror image. */
static double ring_size(const pixel_system *s, int64_t ring)
{
  return (double)((ring == 2 * s->nside ? 4 : 8) * kugel__min(ring, s->nside));
}

/* Folding of order 4 k on a ring of q pixels a quadrant: cos(2 pi k (j + half/2) / q) = sign cos(2 pi r (j +
 * half/2) / q). Returns r; sign is 0 where F_r is none of the unknowns. */
static int64_t fold(int64_t k, int64_t q, int64_t half, double *sign)
{
  const int64_t turns = k / q, rest = k % q, r = kugel__min(rest, q - rest);
  *sign = half && ((turns & 1) ^ (2 * rest > q)) ? -1 : 1;
  if (r >= UNKNOWNS || (half && 2 * r == q))
    *sign = 0;
  return r;
}

static double multiplicity(int64_t r, int64_t q)
{
  return r == 0 || 2 * r == q ? 1 : 2;
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
  for (int64_t p = 0; p < s->pairs; p++) {
    int64_t q, half;
    double sign;
    ring_shape(s->nside, s->place[p], &q, &half);
    const int64_t r = fold(order, q, half, &sign);
    rows[p] = ring_size(s, s->place[p]) * sign * s->in[r * s->row + p];
  }
  memset(column, 0, (size_t)(2 * n) * sizeof *column);
  kugel__leg_adjoint(s->leg, 4 * order, 0, s->pairs, rows, s->row, &column, mine);
  for (int64_t i = 0; i < n; i++) {
    column[2 * i + 1] = 0;
    if (i & 1)
      column[2 * i] = 0;
  }
  return KUGEL_OK;
}

/* Coefficients of the residual to the unknowns. */
static kugel_status transpose(pixel_system *s, const double *alm, double *x)
{
  s->in = alm;
  KUGEL_TRY(kugel__parallel_on(s->ctx, s->workers, s->orders, legendre_synthesis, s));
  memset(x, 0, (size_t)s->unknowns * sizeof *x);
  for (int64_t k = 0; k < s->orders; k++)
    for (int64_t p = 0; p < s->pairs; p++) {
      int64_t q, half;
      double sign;
      ring_shape(s->nside, s->place[p], &q, &half);
      const int64_t r = fold(k, q, half, &sign);
      x[r * s->row + p] += sign * (k ? 2 : 1) / multiplicity(r, q) * s->fourier[k * s->row + p];
    }
  return KUGEL_OK;
}

/* Sums over all pixels of (w - 1) Y_lm. */
static kugel_status apply(pixel_system *s, const double *x, double *alm)
{
  s->in = x;
  s->out = alm;
  return kugel__parallel_on(s->ctx, s->workers, s->orders, legendre_adjoint, s);
}

static double alm_norm2(const pixel_system *s, const double *alm)
{
  double first = 0, rest = 0;
  for (int64_t i = 0; i < s->nalm; i++)
    *(i < column_start(s, 1) ? &first : &rest) += alm[i] * alm[i];
  return first + 2 * rest;
}

/* Norm of w - 1 over the pixels, in which `transpose` is the adjoint of `apply`. */
static double unknown_norm2(const pixel_system *s, const double *x)
{
  double total = 0;
  for (int64_t r = 0; r < s->orders; r++)
    for (int64_t p = 0; p < s->pairs; p++) {
      const int64_t ring = s->place[p];
      total += ring_size(s, ring) * multiplicity(r, kugel__min(ring, s->nside)) * x[r * s->row + p] *
               x[r * s->row + p];
    }
  return total;
}

static void add(double *y, double a, const double *x, int64_t n)
{
  for (int64_t i = 0; i < n; i++)
    y[i] += a * x[i];
}

/* What equal weights miss: - sum of Y_lm, the monopole against what it must come to. */
static kugel_status first_residual(pixel_system *s, double *x, double *r, double total)
{
  memset(x, 0, (size_t)s->unknowns * sizeof *x);
  for (int64_t p = 0; p < s->pairs; p++)
    x[p] = -1;
  KUGEL_TRY(apply(s, x, r));
  r[0] += total;
  memset(x, 0, (size_t)s->unknowns * sizeof *x);
  return KUGEL_OK;
}

/* work: [unknowns] p, [unknowns] A^T r, [nalm] r, [nalm] A p. x: the unknowns. */
static kugel_status solve(pixel_system *s, double *x, double *work)
{
  double *p = work, *next = p + s->unknowns, *r = next + s->unknowns, *ap = r + s->nalm;
  const double total = 12 * (double)s->nside * (double)s->nside / sqrt(4 * M_PI);
  KUGEL_TRY(first_residual(s, x, r, total));
  KUGEL_TRY(transpose(s, r, p));
  double gamma = unknown_norm2(s, p), residual = sqrt(alm_norm2(s, r)) / total;
  const double start = residual;
  double done = 0;
  for (int step = 0; step < MAX_STEPS && residual > TARGET && gamma > 0; step++) {
    const double digits = fmax(0, log(start / residual) / log(start / TARGET));
    done = fmax(done, digits * digits * digits); // as the time: the first digits come fast
    kugel__progress_stage(done, done, "pixel weights");
    KUGEL_TRY(apply(s, p, ap));
    const double alpha = gamma / alm_norm2(s, ap);
    add(x, alpha, p, s->unknowns);
    add(r, -alpha, ap, s->nalm);
    KUGEL_TRY(transpose(s, r, next));
    const double now = unknown_norm2(s, next);
    add(next, now / gamma, p, s->unknowns);
    double *swap = p;
    p = next;
    next = swap;
    gamma = now;
    residual = sqrt(alm_norm2(s, r)) / total;
  }
  KUGEL_CHECK(residual <= LIMIT, KUGEL_ECONVERGE,
              "pixel weights at nside %lld: the quadrature stays %.2g from exact, must come to 1e-11; use "
              "ring weights",
              (long long)s->nside, residual);
  return KUGEL_OK;
}

static kugel_status expand_ring(void *arg, int64_t pair)
{
  const pixel_system *s = arg;
  const int64_t npix = 12 * s->nside * s->nside, i = s->place[pair];
  int64_t q, half;
  ring_shape(s->nside, i, &q, &half);
  const int64_t at =
      i <= s->nside ? 2 * i * (i - 1) : 2 * s->nside * (s->nside - 1) + (i - s->nside) * 4 * s->nside;
  const double turn = M_PI / (double)q;
  for (int64_t j = 0; j < q; j++) {
    double w = 1;
    for (int64_t r = 0; r < kugel__min(s->orders, UNKNOWNS) && 2 * r <= q; r++)
      w += multiplicity(r, q) * s->in[r * s->row + pair] * cos(turn * (double)(r * (2 * j + half) % (2 * q)));
    for (int64_t k = j; k < 4 * q; k += q)
      s->out[at + k] = s->out[npix - at - 4 * q + k] = w;
  }
  return KUGEL_OK;
}

/* Ring pairs of the grid by northern ring. */
static void make_rings(pixel_system *s)
{
  for (int64_t p = 0; p < s->pairs; p++) {
    const kugel__ring_pair *pair = s->grid->pairs + p;
    s->place[p] = (pair->north >= 0 ? pair->north : 4 * s->nside - 2 - pair->south) + 1;
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

/* The unknowns x, once grid and Legendre plan stand. */
static kugel_status find(pixel_system *s, double *x)
{
  s->nalm = column_start(s, s->orders);
  s->leg_part = (size_t)kugel__round_up((int64_t)kugel__leg_scratch(s->leg), 64);
  s->part = s->leg_part + (size_t)(4 * s->row) * sizeof(double);
  kugel_ctx *ctx = kugel__ctx(s->ctx);
  double *work = kugel__alloc(ctx, (size_t)(3 * s->unknowns + 2 * s->nalm) * sizeof *work);
  s->workers = kugel__ctx_threads(ctx);
  s->scratch = kugel__scratch_get(ctx, (size_t)s->workers * s->part);
  kugel_status status =
      work && s->scratch
          ? KUGEL_OK
          : KUGEL_FAIL(KUGEL_ENOMEM, "no memory for the pixel weights of nside %lld", (long long)s->nside);
  if (status == KUGEL_OK) {
    s->fourier = work;
    status = solve(s, x, work + s->unknowns);
  }
  kugel__scratch_put(ctx, s->scratch);
  kugel__free(ctx, work);
  return status;
}

/* x from an earlier call, or found and kept. */
static kugel_status recall_or_find(pixel_system *s, double *x)
{
  const kugel__alm_kept id = {"pixel weights 1", s->nside, (size_t)s->unknowns, s->nside >= 16};
  if (kugel__kept_get(&id, x))
    return KUGEL_OK;
  kugel_status status = make_legendre(s);
  if (status == KUGEL_OK)
    status = find(s, x);
  kugel__leg_destroy(s->leg);
  if (status == KUGEL_OK)
    kugel__kept_put(&id, x);
  return status;
}

/* Everything once the grid stands. */
static kugel_status run(pixel_system *s, double *weight)
{
  s->orders = kugel__min(s->lmax / 4 + 1, ORDERS);
  s->row = kugel__round_up(s->pairs, 8);
  s->unknowns = s->orders * s->row;
  double *x = kugel__alloc(s->ctx, (size_t)s->unknowns * sizeof *x);
  s->place = kugel__alloc(s->ctx, (size_t)s->pairs * sizeof *s->place);
  kugel_status status =
      x && s->place
          ? KUGEL_OK
          : KUGEL_FAIL(KUGEL_ENOMEM, "no memory for the pixel weights of nside %lld", (long long)s->nside);
  if (status == KUGEL_OK) {
    make_rings(s);
    kugel__span outer = kugel__progress_enter(0, 0.9);
    status = recall_or_find(s, x);
    kugel__progress_leave(outer);
  }
  if (status == KUGEL_OK) {
    s->in = x;
    s->out = weight;
    kugel__progress_stage(0.9, 1, "pixel weights");
    status = kugel__parallel(s->ctx, s->pairs, expand_ring, s);
  }
  kugel__progress_stage(0, 1, "");
  kugel__free(s->ctx, s->place);
  kugel__free(s->ctx, x);
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
  kugel_status status = run(&s, weight);
  kugel_grid_destroy(grid);
  return status;
}
