/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans of radial convolution by spectra: how many modes and samples each ring needs. */
#include <math.h>
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "sphere/grid/grid.h"
#include "sphere/radial/spectra.h"

enum { LANES = KUGEL__SPECTRA_LANES, ROUND_BYTES = 1 << 28 };

static double tolerance_of(const kugel_radial *p)
{
  return fmax(1e-14, p->opts.tolerance > 0 ? p->opts.tolerance : 1e-5);
}

/* The first degree from which on sum (2l + 1) b_l^2 is below the tolerance's part of the whole. */
static int64_t end_of(const double *b, int64_t top, double tolerance)
{
  double whole = 0, tail = 0;
  for (int64_t l = 0; l <= top; l++)
    whole += (double)(2 * l + 1) * b[l] * b[l];
  int64_t l = top;
  for (; l > 0; l--) {
    tail += (double)(2 * l + 1) * b[l] * b[l];
    if (tail > tolerance * tolerance * whole)
      break;
  }
  return l + 1;
}

kugel_status kugel__radial_band(const kugel_radial *p, int64_t limit, int64_t *band)
{
  int64_t top = kugel__min(limit, (int64_t)(24 / p->info.radius) + 32);
  *band = -1;
  for (;;) {
    double *b;
    KUGEL_ALLOC(p->ctx, b, (size_t)(top + 1) * 8);
    kugel_status s = kugel_radial_coefficients(p, top, b);
    int64_t end = s ? 0 : end_of(b, top, tolerance_of(p));
    kugel__free(p->ctx, b);
    KUGEL_TRY(s);
    if (end < top - top / 4) { /* and a third more degrees contribute nothing */
      *band = end;
      return KUGEL_OK;
    }
    /* A kernel that needs more degrees than this has an edge. */
    if (top == limit || (double)top * p->info.radius > 400)
      return KUGEL_OK;
    top = kugel__min(limit, 2 * top);
  }
}

/* lambda_lm(theta) decays beyond m = l sin(theta), over about m^(1/3) orders. */
static int64_t modes_at(const kugel_radial *p, double sth)
{
  double m = (double)p->band * sth, margin = 8 - 0.5 * cbrt(m) * log10(tolerance_of(p));
  return kugel__min(p->band, (int64_t)(m + margin));
}

/* Whether ring i and all rings within its cut-off have pixels at the same longitudes, or every second ring is
 * shifted by half a pixel. */
static bool aligned(const kugel_radial *p, int64_t i, bool staggered)
{
  const kugel__radial_ring *r = p->ring + i;
  for (int64_t k = r->lo; k < r->hi && r->same; k++) {
    double steps = (p->ring[k].phi0 - r->phi0) * (double)r->nphi / (2 * M_PI);
    if (fabs(remainder(steps - (staggered && (k - i) % 2 ? 0.5 : 0), 1)) > 1e-11)
      return false;
  }
  return r->same;
}

static kugel__spectra_row choose_row(const kugel_radial *p, const kugel__radial_spectra *t, int64_t i)
{
  const kugel__radial_ring *r = p->ring + i;
  int64_t half = r->nphi % 2 ? -1 : r->nphi / 2;
  if (t->truncated && (i == 0 || i == p->nrings - 1))
    return (kugel__spectra_row){-1, 2, -1, false};
  if (t->truncated)
    return (kugel__spectra_row){r->nphi / 2, p->max_nphi, half, false};
  int64_t m = p->band >= 0 ? modes_at(p, r->sth) : -1;
  if ((m < 0 || 2 * m + 2 >= r->nphi) && aligned(p, i, t->staggered))
    return (kugel__spectra_row){r->nphi / 2, r->nphi, half, true};
  return (kugel__spectra_row){m, m < 0 ? 2 : 2 * m + 2, -1, false};
}

static void choose_rows(const kugel_radial *p, kugel__radial_spectra *t)
{
  for (int64_t i = 0; i < t->npairs; i++) {
    const kugel__radial_ring *r = p->ring + i;
    kugel__spectra_row *row = t->row + i;
    *row = choose_row(p, t, i);
    t->direct |= row->modes < 0;
    t->mmax = kugel__max(t->mmax, row->modes);
    t->before = kugel__max(t->before, i - r->lo);
    t->after = kugel__max(t->after, r->hi - 1 - i);
  }
}

/* Samples within the cut-off of ring i: the most per ring, and the sum over all rings. */
static int64_t samples_of(const kugel_radial *p, const kugel__radial_spectra *t, int64_t i, double *all,
                          double *pairs)
{
  const kugel__radial_ring *r = p->ring + i;
  int64_t most = 0;
  *all = *pairs = 0;
  for (int64_t k = r->lo; k < r->hi; k++) {
    kugel__radial_span span = kugel__radial_span_of(p, r, p->ring + k);
    double turn = span.width == 0 ? 0 : fmin(1, 2 * span.half / span.nq);
    int64_t n = (int64_t)(turn / 2 * (double)t->row[i].samples) + 2;
    most = kugel__max(most, n);
    *all += (double)n;
    *pairs += (double)span.width * (double)r->nphi;
  }
  return most;
}

/* Rounds whose spectra and weights take some hundred megabytes, and the work in all. */
static void size_rounds(const kugel_radial *p, kugel__radial_spectra *t)
{
  int64_t reach = t->before + t->after + 1, most = 1;
  bool on_device = p->ctx->device.type != KUGEL_CPU; /* where all rows are of samples */
  double work = 0, direct = 0, all, pairs;
  for (int64_t i = 0; i < t->npairs; i++) {
    int64_t n = samples_of(p, t, i, &all, &pairs);
    if (t->row[i].modes >= 0) {
      most = kugel__max(most, n);
      double rings = (double)(p->ring[i].hi - p->ring[i].lo);
      bool bessel = t->bessel && !t->row[i].aliased && !on_device;
      work += (double)(t->row[i].modes + 1) * ((bessel ? 3 * (double)p->fisher.n * rings : all) + 9 * rings);
    } else {
      direct += pairs * (double)(1 + p->mirrored);
    }
  }
  t->size = most;
  int64_t column = (t->mmax + 1) * 32, weights = reach * most * 8;
  if (t->bessel)
    weights = kugel__max(weights, reach * p->fisher.n * ((t->mmax + 1) / 2 + 40));
  t->block = kugel__min(8 * reach, ROUND_BYTES / (column + weights) - reach);
  t->block = kugel__round_up(kugel__max(64, kugel__min(t->block, t->npairs)), LANES);
  t->products = work;
  t->pairs = direct;
}

void kugel__radial_spectra_rings(const kugel_radial *p, int64_t *block, kugel__rings_desc desc[2])
{
  const kugel__radial_spectra *t = p->spectra;
  int64_t n = t->npairs, *nphi = block, *north = nphi + n, *south = north + n, *reached = south + n,
          *own = reached + n;
  double *phi0 = (double *)(own + n);
  for (int64_t i = 0; i < n; i++) {
    const kugel__radial_ring *r = p->ring + i, *m = p->ring + p->nrings - 1 - i;
    nphi[i] = r->nphi;
    phi0[i] = r->phi0;
    north[i] = r->first;
    south[i] = p->mirrored && m != r ? m->first : -1;
    own[i] = kugel__max(0, t->row[i].modes);
    reached[i] = 0;
  }
  for (int64_t i = 0; i < n; i++)
    for (int64_t k = p->ring[i].lo; k < p->ring[i].hi; k++) {
      int64_t q = k < n ? k : p->nrings - 1 - k;
      reached[q] =
          kugel__max(reached[q], t->truncated ? kugel__min(nphi[q] / 2, t->row[i].modes) : t->row[i].modes);
    }
  desc[0] = (kugel__rings_desc){.npairs = n,
                                .mmax = t->mmax,
                                .nphi_north = nphi,
                                .nphi_south = nphi,
                                .phi0_north = phi0,
                                .phi0_south = phi0,
                                .offset_north = north,
                                .offset_south = south,
                                .mlim = reached};
  desc[1] = desc[0];
  desc[1].mlim = own;
  if (p->begin || p->end < n) { /* results on some rings only */
    int64_t *to = (int64_t *)(phi0 + n);
    for (int64_t i = 0; i < n; i++) {
      bool mine = i >= p->begin && i < p->end;
      to[i] = mine ? north[i] : -1;
      to[n + i] = mine ? south[i] : -1;
    }
    desc[1].offset_north = to;
    desc[1].offset_south = to + n;
  }
}

kugel_status kugel__radial_spectra_create(kugel_radial *p)
{
  kugel__radial_spectra *t = kugel__calloc(p->ctx, sizeof *t);
  KUGEL_CHECK(t, KUGEL_ENOMEM, "no memory for a plan");
  p->spectra = t;
  t->npairs = kugel__radial_outputs(p);
  KUGEL_ALLOC(p->ctx, t->row, (size_t)t->npairs * sizeof *t->row);
  for (int64_t i = 0; i + 1 < p->nrings; i++) {
    const kugel__radial_ring *r = p->ring + i;
    t->staggered |= r->same && r[1].nphi == r->nphi && r[1].phi0 != r->phi0;
  }
  /* Rows describe the whole kernel, so the cut-off may leave out no more than the tolerance. */
  t->truncated = p->opts.method == KUGEL_RADIAL_ARKCOS;
  t->bessel = p->fisher.n && !t->truncated && p->band >= 0 && p->info.cut_error <= tolerance_of(p);
  choose_rows(p, t);
  size_rounds(p, t);
  int64_t last = (t->npairs - 1) / LANES * LANES, lo, hi, n;
  kugel__spectra_reach(p, last, &lo, &hi);
  for (int64_t d = lo; d < hi; d++) {
    kugel__spectra_span_of(p, last, d, &n);
    t->equator = kugel__max(t->equator, n);
  }
  return KUGEL_OK;
}

kugel_status kugel__radial_spectra_finish(kugel_radial *p)
{
  kugel__radial_spectra *t = p->spectra;
  kugel__rings_desc desc[2];
  int64_t *block;
  KUGEL_ALLOC(p->ctx, block, (size_t)t->npairs * 64);
  kugel__radial_spectra_rings(p, block, desc);
  kugel_status s = kugel__rings_create(p->ctx, &desc[0], &t->in);
  if (!s)
    s = kugel__rings_view(t->in, &desc[1], &t->out);
  kugel__free(p->ctx, block);
  return s;
}

kugel_status kugel__radial_spectra_view(const kugel_radial *p, kugel_radial *view)
{
  kugel__radial_spectra *t = view->spectra;
  kugel__rings_desc desc[2];
  int64_t *block;
  KUGEL_ALLOC(p->ctx, block, (size_t)t->npairs * 64);
  kugel__radial_spectra_rings(view, block, desc);
  kugel_status s = kugel__rings_view(p->spectra->in, &desc[0], &t->in);
  if (!s)
    s = kugel__rings_view(p->spectra->in, &desc[1], &t->out);
  kugel__free(p->ctx, block);
  return s;
}

void kugel__radial_spectra_destroy(kugel_radial *p)
{
  kugel__radial_spectra *t = p->spectra;
  if (!t)
    return;
  kugel__rings_destroy(t->out);
  kugel__rings_destroy(t->in);
  kugel__free(p->ctx, t->row);
  kugel__free(p->ctx, t);
  p->spectra = NULL;
}
