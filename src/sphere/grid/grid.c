/* SPDX-License-Identifier: BSD-3-Clause */
/* Grids: ring tables of the ready-made kinds and of the caller's own, paired north with south. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "sphere/grid/grid.h"

enum { MAX_RINGS = 1 << 30 };

kugel_status kugel__grid_room(kugel_grid *g, int64_t nrings)
{
  g->nrings = nrings;
  size_t n = (size_t)nrings;
  g->theta = kugel__alloc(g->ctx, n * 8);
  g->cth = kugel__alloc(g->ctx, n * 8);
  g->sth = kugel__alloc(g->ctx, n * 8);
  g->phi0 = kugel__alloc(g->ctx, n * 8);
  g->weight = kugel__calloc(g->ctx, n * 8);
  g->nphi = kugel__alloc(g->ctx, n * 8);
  g->first = kugel__alloc(g->ctx, n * 8);
  g->pairs = kugel__alloc(g->ctx, n * sizeof *g->pairs);
  KUGEL_CHECK(g->theta && g->cth && g->sth && g->phi0 && g->weight && g->nphi && g->first && g->pairs,
              KUGEL_ENOMEM, "no memory for a grid of %lld rings", (long long)nrings);
  return KUGEL_OK;
}

// Gorski et al. 2005, eqs. 4-9. With x = 1 - z, sin theta = sqrt(x (2 - x)) does not cancel near the poles.
static kugel_status make_healpix(kugel_grid *g, const kugel_grid_opts *o)
{
  int64_t nside = o->nside;
  KUGEL_CHECK(nside >= 1 && nside <= 1 << 28, KUGEL_EINVAL, "nside is %lld, must be 1 to %d for a grid",
              (long long)nside, 1 << 28);
  KUGEL_TRY(kugel__grid_room(g, 4 * nside - 1));
  g->nside = nside;
  long double n = (long double)nside;
  for (int64_t r = 0; r < g->nrings; r++) {
    int64_t i = r + 1, k = i > 2 * nside ? 4 * nside - i : i; // k counts from the nearer pole
    bool cap = k < nside;
    long double x =
        cap ? (long double)k * (long double)k / (3 * n * n) : 1 - 2 * (2 * n - (long double)k) / (3 * n);
    long double z = 1 - x, s = sqrtl(x * (2 - x));
    g->cth[r] = (double)(i > 2 * nside ? -z : z);
    g->sth[r] = (double)s;
    g->theta[r] = (double)(i > 2 * nside ? M_PIl - atan2l(s, z) : atan2l(s, z));
    g->nphi[r] = cap ? 4 * k : 4 * nside;
    g->phi0[r] = cap ? M_PI / (double)(4 * k) : (k - nside) % 2 == 0 ? M_PI / (double)(4 * nside) : 0;
    g->first[r] = i < nside        ? 2 * i * (i - 1)
                  : i <= 3 * nside ? 2 * nside * (nside - 1) + (i - nside) * 4 * nside
                                   : 12 * nside * nside - 2 * k * (k + 1);
    g->weight[r] = 4 * M_PI / (12 * (double)nside * (double)nside);
  }
  g->npix = 12 * nside * nside;
  g->has_weights = true;
  return KUGEL_OK;
}

static long double latlon_theta(kugel_grid_kind kind, int64_t i, int64_t n)
{
  long double k = (long double)i, m = (long double)n;
  switch (kind) {
  case KUGEL_GRID_CLENSHAW_CURTIS:
    return k * M_PIl / (m - 1);
  case KUGEL_GRID_FEJER1:
    return (k + 0.5L) * M_PIl / m;
  case KUGEL_GRID_FEJER2:
    return (k + 1) * M_PIl / (m + 1);
  case KUGEL_GRID_DRISCOLL_HEALY:
    return k * M_PIl / m;
  default:
    return (2 * k + 1) * M_PIl / (2 * m - 1);
  }
}

static kugel_status make_latlon(kugel_grid *g, const kugel_grid_opts *o)
{
  int64_t n = o->ntheta, least = o->kind == KUGEL_GRID_CLENSHAW_CURTIS ? 2 : 1;
  KUGEL_CHECK(n >= least && n <= 1000000, KUGEL_EINVAL, "ntheta is %lld, must be %lld to 1000000",
              (long long)n, (long long)least);
  KUGEL_CHECK(o->nphi >= 1 && o->nphi <= MAX_RINGS, KUGEL_EINVAL, "nphi is %lld, must be 1 to %d",
              (long long)o->nphi, MAX_RINGS);
  KUGEL_CHECK(isfinite(o->phi0), KUGEL_EINVAL, "phi0 is %g, must be a finite longitude in radians", o->phi0);
  KUGEL_TRY(kugel__grid_room(g, n));
  KUGEL_TRY(kugel__grid_theta_weights(g->ctx, o->kind, n, g->weight));
  for (int64_t i = 0; i < n; i++) {
    bool south = 2 * i + 1 > n, middle = 2 * i + 1 == n && o->kind != KUGEL_GRID_DRISCOLL_HEALY &&
                                         o->kind != KUGEL_GRID_MCEWEN_WIAUX;
    g->nphi[i] = o->nphi;
    g->phi0[i] = o->phi0;
    g->first[i] = i * o->nphi;
    g->weight[i] *= 2 * M_PI / (double)o->nphi;
    long double t = latlon_theta(o->kind, i, n);
    if (2 * t > M_PIl) // from the nearer pole, so that mirrored rings agree to the bit
      t = o->kind == KUGEL_GRID_DRISCOLL_HEALY ? latlon_theta(o->kind, n - i, n)
          : o->kind == KUGEL_GRID_MCEWEN_WIAUX
              ? (long double)(2 * (n - 1 - i)) * M_PIl / (long double)(2 * n - 1)
              : latlon_theta(o->kind, n - 1 - i, n),
      south = true;
    g->cth[i] = middle ? 0 : (double)(south ? -cosl(t) : cosl(t));
    g->sth[i] = middle ? 1 : (double)sinl(t);
    g->theta[i] = (double)(south ? M_PIl - t : t);
  }
  g->npix = n * o->nphi;
  g->has_weights = true;
  return KUGEL_OK;
}

static kugel_status make_custom(kugel_grid *g, const kugel_grid_opts *o)
{
  KUGEL_CHECK(o->nrings >= 1 && o->nrings <= MAX_RINGS, KUGEL_EINVAL, "nrings is %lld, must be 1 to %d",
              (long long)o->nrings, MAX_RINGS);
  KUGEL_CHECK(o->theta && o->ring_nphi, KUGEL_EINVAL, "%s is NULL: a custom grid needs theta and ring_nphi",
              o->theta ? "ring_nphi" : "theta");
  KUGEL_TRY(kugel__grid_room(g, o->nrings));
  g->has_weights = o->ring_weight != NULL;
  int64_t next = 0;
  for (int64_t r = 0; r < g->nrings; r++) {
    double t = o->theta[r], phi0 = o->ring_phi0 ? o->ring_phi0[r] : 0;
    int64_t nphi = o->ring_nphi[r], first = o->ring_first ? o->ring_first[r] : next;
    KUGEL_CHECK(t >= 0 && t <= M_PI, KUGEL_EINVAL, "theta[%lld] is %g, must be in [0, pi]", (long long)r, t);
    KUGEL_CHECK(isfinite(phi0), KUGEL_EINVAL, "ring_phi0[%lld] is %g, must be finite", (long long)r, phi0);
    KUGEL_CHECK(nphi >= 1 && nphi <= MAX_RINGS, KUGEL_EINVAL, "ring_nphi[%lld] is %lld, must be 1 to %d",
                (long long)r, (long long)nphi, MAX_RINGS);
    KUGEL_CHECK(first >= 0 && first <= (int64_t)1 << 60, KUGEL_EINVAL,
                "ring_first[%lld] is %lld, must not be negative", (long long)r, (long long)first);
    KUGEL_CHECK(!o->ring_weight || isfinite(o->ring_weight[r]), KUGEL_EINVAL,
                "ring_weight[%lld] is not a finite number", (long long)r);
    g->theta[r] = t;
    g->cth[r] = (double)cosl(t);
    g->sth[r] = fabs((double)sinl(t));
    g->nphi[r] = nphi;
    g->phi0[r] = phi0;
    g->first[r] = first;
    g->weight[r] = o->ring_weight ? o->ring_weight[r] : 0;
    next = first + nphi;
    g->npix = kugel__max(g->npix, next);
  }
  return KUGEL_OK;
}

static int by_latitude(const void *a, const void *b)
{
  const kugel__ring_pair *x = a, *y = b; // here: single rings, signed cth
  if (x->sth != y->sth)
    return x->sth < y->sth ? -1 : 1;
  double cx = fabs(x->cth), cy = fabs(y->cth);
  if (cx != cy)
    return cx > cy ? -1 : 1;
  int nx = x->cth < 0, ny = y->cth < 0;
  return nx != ny ? nx - ny : x->north < y->north ? -1 : 1;
}

// Rings at theta and pi - theta (to the rounding of theta) with the same shape become one pair.
static void pair_rings(kugel_grid *g)
{
  kugel__ring_pair *p = g->pairs;
  for (int64_t r = 0; r < g->nrings; r++)
    p[r] = (kugel__ring_pair){r, -1, g->cth[r], g->sth[r]};
  qsort(p, (size_t)g->nrings, sizeof *p, by_latitude);
  int64_t n = 0;
  for (int64_t i = 0; i < g->nrings; i++) {
    kugel__ring_pair a = p[i];
    bool mirrored = false;
    if (i + 1 < g->nrings && (a.cth > 0) != (p[i + 1].cth > 0) && a.cth != 0) {
      int64_t s = p[i + 1].north;
      double sum = fabs(a.cth + p[i + 1].cth), tol = 3e-16 * (a.sth + 1e-16);
      mirrored = (sum <= tol || a.cth == -p[i + 1].cth) && fabs(a.sth - p[i + 1].sth) <= 3e-16 * a.sth &&
                 g->nphi[s] == g->nphi[a.north] && g->phi0[s] == g->phi0[a.north];
      if (mirrored)
        a = a.cth > 0 ? (kugel__ring_pair){a.north, s, a.cth, a.sth}
                      : (kugel__ring_pair){s, a.north, -a.cth, a.sth};
    }
    if (mirrored)
      i++;
    else if (a.cth < 0)
      a = (kugel__ring_pair){-1, a.north, -a.cth, a.sth};
    p[n++] = a;
  }
  g->npairs = n;
}

kugel_status kugel_grid_create(kugel_ctx *ctx, const kugel_grid_opts *opts, kugel_grid **out)
{
  KUGEL_CHECK(out, KUGEL_EINVAL, "out is NULL: pass where to put the grid");
  *out = NULL;
  KUGEL_CHECK(opts, KUGEL_EINVAL, "opts is NULL: a grid needs its kind and size");
  kugel_grid_opts o;
  KUGEL_TRY(kugel__take_opts(&o, sizeof o, opts, "kugel_grid_opts"));
  kugel_grid *g = kugel__calloc(ctx, sizeof *g);
  KUGEL_CHECK(g, KUGEL_ENOMEM, "no memory for a grid");
  g->references = 1;
  g->ctx = kugel__ctx_retain(ctx);
  g->kind = o.kind;
  kugel_status s;
  if (o.kind == KUGEL_GRID_CUSTOM)
    s = make_custom(g, &o);
  else if (o.kind == KUGEL_GRID_HEALPIX)
    s = make_healpix(g, &o);
  else if (o.kind == KUGEL_GRID_GAUSS ||
           (o.kind >= KUGEL_GRID_LOBATTO && o.kind <= KUGEL_GRID_GAUSS_OCTAHEDRAL))
    s = kugel__grid_gauss(g, &o);
  else if (o.kind > KUGEL_GRID_GAUSS && o.kind <= KUGEL_GRID_MCEWEN_WIAUX)
    s = make_latlon(g, &o);
  else
    s = KUGEL_FAIL(KUGEL_EINVAL,
                   "grid kind is %d, must be KUGEL_GRID_CUSTOM (0) to KUGEL_GRID_GAUSS_OCTAHEDRAL (10)",
                   (int)o.kind);
  if (s != KUGEL_OK) {
    kugel_grid_destroy(g);
    return s;
  }
  for (int64_t r = 0; r < g->nrings; r++)
    g->max_nphi = kugel__max(g->max_nphi, g->nphi[r]);
  pair_rings(g);
  *out = g;
  return KUGEL_OK;
}

kugel_grid *kugel__grid_retain(const kugel_grid *grid)
{
  kugel_grid *g = (kugel_grid *)grid; // the count is no part of what is immutable
  atomic_fetch_add(&g->references, 1);
  return g;
}

void kugel_grid_destroy(kugel_grid *g)
{
  if (!g || atomic_fetch_sub(&g->references, 1) > 1)
    return;
  kugel_ctx *ctx = g->ctx;
  void *blocks[] = {g->theta, g->cth, g->sth, g->phi0, g->weight, g->nphi, g->first, g->pairs, g};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
    kugel__free(ctx, blocks[i]);
  kugel_ctx_destroy(ctx);
}

int64_t kugel_grid_nrings(const kugel_grid *grid)
{
  return grid ? grid->nrings : 0;
}

int64_t kugel_grid_npix(const kugel_grid *grid)
{
  return grid ? grid->npix : 0;
}

bool kugel__grid_exact(const kugel_grid *g, int64_t *lmax, int64_t *mmax)
{
  int64_t n = g->nrings;
  *mmax = (g->max_nphi - 1) / 2;
  switch (g->kind) {
  case KUGEL_GRID_CUSTOM:
  case KUGEL_GRID_HEALPIX:
    return false;
  case KUGEL_GRID_CLENSHAW_CURTIS:
  case KUGEL_GRID_LOBATTO:
    *lmax = n - 2;
    break;
  case KUGEL_GRID_FEJER2:
    *lmax = (n - 1) / 2;
    break;
  case KUGEL_GRID_DRISCOLL_HEALY: // the n - 1 rings of a Fejer 2 grid, and the pole with weight 0
  case KUGEL_GRID_GAUSS_OCTAHEDRAL:
    *lmax = n / 2 - 1;
    break;
  default:
    *lmax = n - 1;
    break;
  }
  *lmax = kugel__max(0, *lmax);
  return true;
}

int64_t kugel__grid_circle(const kugel_grid *g)
{
  switch (g->kind) {
  case KUGEL_GRID_CLENSHAW_CURTIS:
    return 2 * g->nrings - 2;
  case KUGEL_GRID_FEJER1:
    return 2 * g->nrings;
  case KUGEL_GRID_MCEWEN_WIAUX:
    return 2 * g->nrings - 1;
  default:
    return 0;
  }
}

int64_t kugel_grid_lmax(const kugel_grid *g)
{
  int64_t lmax, mmax;
  if (!g || g->kind == KUGEL_GRID_CUSTOM)
    return -1;
  if (!kugel__grid_exact(g, &lmax, &mmax))
    return 2 * g->nside;
  return kugel__min(lmax, mmax);
}

kugel_status kugel_grid_rings(const kugel_grid *grid, double *theta, int64_t *nphi, double *phi0,
                              int64_t *first, double *weight)
{
  KUGEL_CHECK(grid, KUGEL_EINVAL, "grid is NULL: make one with kugel_grid_create");
  size_t bytes = (size_t)grid->nrings * 8;
  if (theta)
    memcpy(theta, grid->theta, bytes);
  if (nphi)
    memcpy(nphi, grid->nphi, bytes);
  if (phi0)
    memcpy(phi0, grid->phi0, bytes);
  if (first)
    memcpy(first, grid->first, bytes);
  if (weight)
    memcpy(weight, grid->weight, bytes);
  return KUGEL_OK;
}
