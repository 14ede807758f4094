/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans of the resampling in theta. */
#include <math.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "sphere/sht/thetafft.h"

KUGEL_DISPATCH(kugel__thetafft_ops, kugel__thetafft_ops)

const kugel__thetafft_ops *kugel__thetafft_ops_now(void)
{
  return kugel__thetafft_ops_get();
}

bool kugel__thetafft_helps(const kugel_grid *grid, int64_t lmax)
{
  return 2 * lmax > grid->nrings - 1 && 2 * lmax < kugel__grid_circle(grid);
}

static int64_t smooth_above(int64_t n)
{
  for (;; n++) {
    int64_t r = n;
    for (int f = 2; f <= 5; f++)
      while (r % f == 0)
        r /= f;
    if (r == 1)
      return n;
  }
}

static void fill_phase(const kugel__circle *c, double *phase)
{
  for (int64_t k = 0; k <= c->cut; k++) {
    long double a = c->mirror == c->n ? 0 : -M_PIl * (long double)k / (long double)c->n;
    double h = 2 * k == c->n ? 0.5 : 1;
    phase[2 * k] = h * (double)cosl(a);
    phase[2 * k + 1] = h * (double)sinl(a);
  }
}

// |sin theta| = sum_q s_q e^{i q theta}, s_q = (2/pi) / (1 - q^2) for even q, to the highest q that a product
// needs.
static kugel_status fill_gain(const kugel__thetafft *p, double factor, double *gain)
{
  int vlen = kugel__thetafft_ops_now()->vlen;
  int64_t length = p->dft->n, points = length + kugel__lanes_work(p->dft);
  double *x = kugel__calloc(p->ctx, (size_t)points * 16 * (size_t)vlen);
  KUGEL_CHECK(x, KUGEL_ENOMEM, "no memory for a DFT of length %lld", (long long)length);
  for (int64_t q = 0; q <= p->grid.cut + p->dense.cut; q += 2) {
    double s = M_2_PI / (1 - (double)q * (double)q);
    x[q * 2 * vlen] = s;
    x[(q ? length - q : 0) * 2 * vlen] = s;
  }
  const double *y = kugel__lanes_ops_now()->exec(p->dft, x, x + length * 2 * vlen);
  for (int64_t j = 0; j < length; j++)
    gain[j] = factor * y[j * 2 * vlen];
  kugel__free(p->ctx, x);
  return KUGEL_OK;
}

// Where the rings lie in the rows [north re, north im, south re, south im][row] of pairs.
static void place_grid(const kugel_grid *g, int64_t row, int64_t *at)
{
  for (int64_t i = 0; i < g->npairs; i++) {
    if (g->pairs[i].north >= 0)
      at[g->pairs[i].north] = i;
    if (g->pairs[i].south >= 0)
      at[g->pairs[i].south] = 2 * row + i;
  }
}

static void place_dense(const kugel__circle *c, int64_t *at, double *cth, double *sth)
{
  int64_t last = c->rings - 1;
  for (int64_t i = 0; i < c->npairs; i++) {
    bool equator = 2 * i == last;
    long double theta = M_PIl * (long double)i / (long double)last;
    cth[i] = equator ? 0 : (double)cosl(theta);
    sth[i] = equator ? 1 : (double)sinl(theta);
    at[last - i] = 2 * c->row + i;
    at[i] = i;
  }
}

static kugel_status make_dfts(kugel__thetafft *p, int64_t length)
{
  KUGEL_TRY(kugel__lanes_create(p->ctx, length, &p->dft));
  KUGEL_TRY(kugel__lanes_create(p->ctx, p->grid.n, &p->grid.dft));
  KUGEL_TRY(kugel__lanes_create(p->ctx, p->dense.n, &p->dense.dft));
  const kugel__lanes *all[] = {p->dft, p->grid.dft, p->dense.dft};
  for (int i = 0; i < 3; i++) // two halves, either the data or the work space of a DFT
    p->work = kugel__max(p->work, 2 * kugel__max(all[i]->n, kugel__lanes_work(all[i])));
  return KUGEL_OK;
}

static kugel_status fill(kugel__thetafft *p, const kugel_grid *g, int64_t lmax, double factor, double **cth,
                         double **sth)
{
  int64_t n = kugel__grid_circle(g), m = smooth_above(lmax + 1);
  bool shifted = g->kind != KUGEL_GRID_CLENSHAW_CURTIS;
  p->grid = (kugel__circle){.n = n, .rings = g->nrings, .npairs = g->npairs, .cut = n / 2};
  p->grid.mirror = shifted ? n - 1 : n;
  p->dense = (kugel__circle){.n = 2 * m, .rings = m + 1, .npairs = m / 2 + 1, .cut = lmax, .mirror = 2 * m};
  p->grid.row = kugel__round_up(p->grid.npairs, 8);
  p->dense.row = kugel__round_up(p->dense.npairs, 8);
  int64_t length = smooth_above(n + 2 * lmax + 2);
  KUGEL_TRY(make_dfts(p, length));
  KUGEL_ALLOC(p->ctx, p->places, (size_t)(p->grid.rings + p->dense.rings) * 8);
  KUGEL_ALLOC(p->ctx, p->tables, (size_t)(length + 2 * (p->grid.cut + 1) + 2 * (lmax + 1)) * 8);
  KUGEL_ALLOC(p->ctx, *cth, (size_t)p->dense.npairs * 16);
  *sth = *cth + p->dense.npairs;
  place_grid(g, p->grid.row, p->places);
  place_dense(&p->dense, p->places + p->grid.rings, *cth, *sth);
  p->grid.at = p->places;
  p->dense.at = p->places + p->grid.rings;
  double *t = p->tables;
  p->gain = t;
  p->grid.phase = t + length;
  p->dense.phase = p->grid.phase + 2 * (p->grid.cut + 1);
  fill_phase(&p->grid, t + length);
  fill_phase(&p->dense, t + length + 2 * (p->grid.cut + 1));
  // The DFTs on the circle and of the product are unnormalised; the dense rings have weights pi / 2m on the
  // circle.
  double scale = M_PI / (2 * (double)m) / (double)n / (double)length;
  return fill_gain(p, factor * scale, t);
}

kugel_status kugel__thetafft_create(kugel_ctx *ctx, const kugel_grid *grid, int64_t lmax, double factor,
                                    kugel__thetafft **out, double **cth, double **sth)
{
  *out = NULL;
  *cth = NULL;
  kugel__thetafft *p = kugel__calloc(ctx, sizeof *p);
  KUGEL_CHECK(p, KUGEL_ENOMEM, "no memory for a plan of theta transforms");
  p->ctx = kugel__ctx_retain(ctx);
  kugel_status s = fill(p, grid, lmax, factor, cth, sth);
  if (s) {
    kugel__free(p->ctx, *cth);
    *cth = NULL;
    kugel__thetafft_destroy(p);
    return s;
  }
  *out = p;
  return KUGEL_OK;
}

void kugel__thetafft_destroy(kugel__thetafft *p)
{
  if (!p)
    return;
  kugel_ctx *ctx = p->ctx;
  kugel__lanes_destroy(p->dft);
  kugel__lanes_destroy(p->grid.dft);
  kugel__lanes_destroy(p->dense.dft);
  kugel__free(ctx, p->tables);
  kugel__free(ctx, p->places);
  kugel__free(ctx, p);
  kugel_ctx_destroy(ctx);
}

size_t kugel__thetafft_scratch(const kugel__thetafft *p)
{
  return (size_t)p->work * 16 * (size_t)kugel__thetafft_ops_now()->vlen + 64;
}
