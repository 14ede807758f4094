/* SPDX-License-Identifier: BSD-3-Clause */
/* Beads aligned to their mean by Gauss and Newton's method: bead = a mean(x - d) + b for a, d, b. */
#include <math.h>
#include <string.h>
#include "core/alloc.h"
#include "core/parallel.h"
#include "psf/beads.h"

enum { ROUNDS = 4, MARGIN = 5, PARAMETERS = 5 };

typedef struct aligner {
  kugel_ctx *ctx;
  const kugel__bead_image *m;
  int64_t box, part[3];         // elements of the box; lengths with a margin for the interpolation
  double *cut, *bead, *weights; // with margin; resampled; three matrices
  double *sum, *slope;          // of all beads; derivatives of the mean, 3
} aligner;

static kugel_status open_aligner(kugel_ctx *ctx, const kugel__bead_image *m, aligner *a)
{
  *a = (aligner){.ctx = ctx, .m = m, .box = m->box[0] * m->box[1] * m->box[2]};
  int64_t tables = 0, cut = 1;
  for (int i = 0; i < 3; i++) {
    a->part[i] = m->box[i] + 2 * MARGIN;
    cut *= a->part[i];
    tables += a->part[i] * m->box[i];
  }
  KUGEL_ALLOC(ctx, a->cut, (size_t)(cut + tables + 5 * a->box) * sizeof(double));
  a->weights = a->cut + cut;
  a->bead = a->weights + tables;
  a->sum = a->bead + a->box;
  a->slope = a->sum + a->box;
  return KUGEL_OK;
}

/* The box around a point, over the background; ends of the image are repeated. */
static kugel_status extract(aligner *a, const double centre[3])
{
  const kugel__bead_image *m = a->m;
  int64_t first[3];
  double *w[3], *at = a->weights;
  for (int i = 0; i < 3; i++) {
    first[i] = (int64_t)floor(centre[i] + 0.5) - a->part[i] / 2;
    w[i] = at;
    kugel__psf_weights(true, a->part[i], centre[i] - (double)first[i], 1, m->box[i], w[i]);
    at += a->part[i] * m->box[i];
  }
  for (int64_t z = 0, o = 0; z < a->part[0]; z++)
    for (int64_t y = 0; y < a->part[1]; y++)
      for (int64_t x = 0; x < a->part[2]; x++) {
        int64_t p[3] = {first[0] + z, first[1] + y, first[2] + x};
        for (int i = 0; i < 3; i++)
          p[i] = kugel__max(0, kugel__min(m->n[i] - 1, p[i]));
        a->cut[o++] = m->raw[(p[0] * m->n[1] + p[1]) * m->n[2] + p[2]] - m->background;
      }
  return kugel__psf_apply(a->ctx, a->cut, a->part, (const double *const[3]){w[0], w[1], w[2]}, m->box,
                          a->bead);
}

static void slopes(aligner *a, const double *mean)
{
  const int64_t *n = a->m->box, step[3] = {n[1] * n[2], n[2], 1};
  for (int64_t i = 0; i < a->box; i++) {
    int64_t at[3] = {i / step[0], i / n[2] % n[1], i % n[2]};
    for (int k = 0; k < 3; k++) {
      int64_t up = at[k] + 1 < n[k] ? i + step[k] : i, down = at[k] > 0 ? i - step[k] : i;
      a->slope[k * a->box + i] = up == down ? 0 : (mean[up] - mean[down]) / (double)((up - down) / step[k]);
    }
  }
}

// Cholesky's method with a little on the diagonal: axes of one voxel have no slope.
static void solve(double m[PARAMETERS][PARAMETERS], double v[PARAMETERS])
{
  for (int i = 0; i < PARAMETERS; i++) {
    double pivot = m[i][i];
    for (int k = i + 1; k < PARAMETERS; k++) {
      double f = pivot > 1e-300 ? m[k][i] / pivot : 0;
      for (int j = i; j < PARAMETERS; j++)
        m[k][j] -= f * m[i][j];
      v[k] -= f * v[i];
    }
  }
  for (int i = PARAMETERS - 1; i >= 0; i--) {
    for (int j = i + 1; j < PARAMETERS; j++)
      v[i] -= m[i][j] * v[j];
    v[i] = m[i][i] > 1e-300 ? v[i] / m[i][i] : 0;
  }
}

typedef struct fit {
  double a, d[3], b, correlation, expected;
} fit;

static fit fit_bead(const aligner *a, const double *mean)
{
  double m[PARAMETERS][PARAMETERS] = {{0}}, v[PARAMETERS] = {0}, n = (double)a->box;
  double sx = 0, sy = 0, sxx = 0, syy = 0, sxy = 0;
  for (int64_t i = 0; i < a->box; i++) {
    double row[PARAMETERS] = {mean[i], a->slope[i], a->slope[a->box + i], a->slope[2 * a->box + i], 1};
    for (int p = 0; p < PARAMETERS; p++) {
      v[p] += row[p] * a->bead[i];
      for (int q = 0; q < PARAMETERS; q++)
        m[p][q] += row[p] * row[q];
    }
    sx += mean[i];
    sy += a->bead[i];
    sxx += mean[i] * mean[i];
    syy += a->bead[i] * a->bead[i];
    sxy += mean[i] * a->bead[i];
  }
  for (int p = 1; p < 4; p++)
    m[p][p] *= 1 + 1e-9;
  solve(m, v);
  fit f = {.a = v[0], .b = v[4]};
  for (int k = 0; k < 3 && v[0] > 0; k++) // a mean(x - d) = a mean - a d slope
    f.d[k] = fmax(-1, fmin(1, -v[1 + k] / v[0]));
  double spread = sxx - sx * sx / n, noise = n * a->m->noise * a->m->noise;
  f.correlation = (sxy - sx * sy / n) / sqrt(fmax(spread * (syy - sy * sy / n), 1e-300));
  f.expected = 1 / sqrt(1 + noise / fmax(f.a * f.a * spread, 1e-300)); // by the noise alone
  return f;
}

/* The first mean, of any scale, has its beads at the centroids of their bright parts. */
static kugel_status first_mean(aligner *a, kugel__bead *beads, int64_t count, double *mean)
{
  memset(mean, 0, (size_t)a->box * sizeof *mean);
  for (int64_t i = 0; i < count; i++) {
    kugel__bead *b = &beads[i];
    double centre[3];
    if (!b->used)
      continue;
    for (int k = 0; k < 3; k++)
      b->centre[k] = (double)b->at[k];
    KUGEL_TRY(extract(a, b->centre));
    KUGEL_TRY(kugel__psf_centre(a->ctx, a->bead, a->m->box, centre));
    for (int k = 0; k < 3; k++) {
      double off = centre[k] - (double)(a->m->box[k] / 2);
      b->centre[k] += fabs(off) <= 2 ? off : 0;
    }
    KUGEL_TRY(extract(a, b->centre));
    for (int64_t k = 0; k < a->box; k++)
      mean[k] += a->bead[k]; // the brightest with the largest weight, as noise asks
  }
  return KUGEL_OK;
}

static double median_of(double *v, int64_t n)
{
  return n > 0 ? kugel__select(v, n, n / 2) : 0;
}

/* Fits all beads, moves them, and on the last rounds leaves out those of another shape or brightness. */
static kugel_status round_of(aligner *a, kugel__bead *beads, int64_t count, int round, double *mean,
                             double *heights, kugel_psf_beads_info *info)
{
  double squares = 0;
  int64_t used = 0;
  slopes(a, mean);
  for (int64_t i = 0; i < count; i++)
    if (beads[i].used)
      heights[used++] = beads[i].height;
  double most = used >= 4 ? 2.5 * median_of(heights, used) : INFINITY;
  memset(a->sum, 0, (size_t)a->box * sizeof *a->sum);
  for (int64_t i = 0; i < count; i++) {
    kugel__bead *b = &beads[i];
    if (!b->used)
      continue;
    KUGEL_TRY(extract(a, b->centre));
    fit f = fit_bead(a, mean);
    double far = 0;
    for (int k = 0; k < 3; k++) {
      b->centre[k] += f.d[k];
      far = fmax(far, fabs(b->centre[k] - (double)b->at[k]));
    }
    if (round >= 2 && (!(f.a > 0) || f.correlation < 0.75 * f.expected || far > 3 || b->height > most)) {
      b->used = false;
      info->unlike++;
      continue;
    }
    KUGEL_TRY(extract(a, b->centre));
    for (int64_t k = 0; k < a->box; k++)
      a->sum[k] += f.a * a->bead[k]; // f.b is light out of focus, too: it stays
    squares += f.a * f.a;
  }
  if (squares > 0)
    for (int64_t k = 0; k < a->box; k++)
      mean[k] = a->sum[k] / squares;
  return KUGEL_OK;
}

/* Moves all beads so that the centroid of the mean's bright part is in the middle. */
static kugel_status centre_all(aligner *a, kugel__bead *beads, int64_t count, const double *mean)
{
  double centre[3];
  KUGEL_TRY(kugel__psf_centre(a->ctx, mean, a->m->box, centre));
  for (int64_t i = 0; i < count; i++)
    for (int k = 0; k < 3; k++)
      beads[i].centre[k] += centre[k] - (double)(a->m->box[k] / 2);
  return KUGEL_OK;
}

/* The nearest values that are not negative and have the same sum: max(v - t, 0) for one t. Cutting off what is negative
 * would leave the noise's positive half, which may add up to more than the PSF. */
static void make_positive(double *v, int64_t n)
{
  double sum = 0, lo = 0, hi = 0;
  for (int64_t i = 0; i < n; i++) {
    sum += v[i];
    hi = fmax(hi, v[i]);
  }
  for (int step = 0; step < 60; step++) {
    double t = (lo + hi) / 2, left = 0;
    for (int64_t i = 0; i < n; i++)
      left += fmax(v[i] - t, 0);
    *(left > sum ? &lo : &hi) = t;
  }
  for (int64_t i = 0; i < n; i++)
    v[i] = fmax(v[i] - lo, 0);
}

static void finish(aligner *a, const kugel__bead *beads, int64_t count, double *mean, double *heights,
                   kugel_psf_beads_info *info)
{
  int64_t peak = 0;
  make_positive(mean, a->box);
  for (int64_t i = 1; i < a->box; i++)
    peak = mean[i] > mean[peak] ? i : peak;
  for (int64_t i = 0; i < count; i++)
    if (beads[i].used) {
      heights[info->used++] = beads[i].height;
      for (int k = 0; k < 3; k++)
        info->scatter[k] += pow(beads[i].centre[k] - round(beads[i].centre[k]), 2);
    }
  info->snr = median_of(heights, info->used) / a->m->noise;
  const int64_t *n = a->m->box, step[3] = {n[1] * n[2], n[2], 1};
  int64_t at[3] = {peak / step[0], peak / n[2] % n[1], peak % n[2]};
  for (int k = 0; k < 3; k++) {
    info->scatter[k] = sqrt(info->scatter[k] / (double)kugel__max(info->used, 1));
    info->fwhm[k] = kugel__psf_fwhm(mean + peak - at[k] * step[k], n[k], step[k], at[k]);
  }
}

kugel_status kugel__beads_average(kugel_ctx *ctx, const kugel__bead_image *m, kugel__bead *beads,
                                  int64_t count, double *mean, kugel_psf_beads_info *info)
{
  aligner a;
  KUGEL_TRY(open_aligner(ctx, m, &a));
  double *heights = kugel__alloc(ctx, (size_t)(count + 1) * sizeof *heights);
  kugel_status status = heights ? first_mean(&a, beads, count, mean)
                                : KUGEL_FAIL(KUGEL_ENOMEM, "no memory for %lld beads", (long long)count);
  kugel__span span = kugel__progress_enter(0, 1);
  for (int round = 0; round < ROUNDS && !status; round++) {
    kugel__progress_stage(0, 1, "beads");
    status = kugel__progress_step((double)round / ROUNDS);
    if (!status)
      status = centre_all(&a, beads, count, mean);
    if (!status)
      status = round_of(&a, beads, count, round, mean, heights, info);
  }
  kugel__progress_leave(span);
  if (!status)
    finish(&a, beads, count, mean, heights, info);
  kugel__free(ctx, heights);
  kugel__free(ctx, a.cut);
  return status;
}
