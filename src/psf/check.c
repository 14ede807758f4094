/* SPDX-License-Identifier: BSD-3-Clause */
/* What is wrong with a PSF, and how little of it holds most of its light. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "core/alloc.h"
#include "psf/psf.h"

static double face_mean(const double *h, const int64_t n[3], int axis, bool last)
{
  int64_t from[3] = {0}, to[3] = {n[0], n[1], n[2]}, at = last ? n[axis] - 1 : 0;
  from[axis] = at;
  to[axis] = at + 1;
  double sum = 0;
  for (int64_t z = from[0]; z < to[0]; z++)
    for (int64_t y = from[1]; y < to[1]; y++)
      for (int64_t x = from[2]; x < to[2]; x++)
        sum += h[(z * n[1] + y) * n[2] + x];
  return sum / (double)(n[0] * n[1] * n[2] / n[axis]);
}

kugel_status kugel__psf_background(kugel_ctx *ctx, const double *h, const int64_t n[3], double *median)
{
  int64_t count = 0, all = n[0] * n[1] * n[2];
  double *v = kugel__alloc(ctx, (size_t)all * sizeof *v);
  KUGEL_CHECK(v, KUGEL_ENOMEM, "no memory for %lld voxels of the faces", (long long)all);
  for (int64_t z = 0; z < n[0]; z++)
    for (int64_t y = 0; y < n[1]; y++)
      for (int64_t x = 0; x < n[2]; x++) {
        bool rim = y == 0 || y == n[1] - 1 || x == 0 || x == n[2] - 1;
        if (rim)
          v[count++] = h[(z * n[1] + y) * n[2] + x];
      }
  *median = kugel__select(v, count, count / 2);
  kugel__free(ctx, v);
  return KUGEL_OK;
}

static unsigned flags_of(const kugel_psf_report *r, int ndim, const int64_t *image)
{
  unsigned flags = r->not_finite ? KUGEL_PSF_NOT_FINITE : 0;
  if (!(r->largest > 0))
    return flags | KUGEL_PSF_ALL_ZERO | (r->negative ? KUGEL_PSF_NEGATIVE : 0);
  flags |= r->negative ? KUGEL_PSF_NEGATIVE : 0;
  flags |= fabs(r->sum - 1) > 1e-3 ? KUGEL_PSF_NOT_NORMALISED : 0;
  bool thin = ndim == 3 && r->shape[0] == 1;
  for (int a = 3 - ndim; a < 3; a++) {
    flags |= r->shape[a] % 2 == 0 ? KUGEL_PSF_EVEN : 0;
    flags |= fabs(r->centre[a] - (double)(r->shape[a] - 1) / 2) > 0.5 ? KUGEL_PSF_OFF_CENTRE : 0;
    flags |= r->fwhm[a] > 0 && r->fwhm[a] < 1.2 && r->shape[a] > 1 ? KUGEL_PSF_FLAT : 0;
  }
  flags |= thin ? KUGEL_PSF_FLAT : 0;
  flags |= r->background > 1e-3 * r->largest ? KUGEL_PSF_BACKGROUND : 0;
  flags |= r->edge > 0.01 ? KUGEL_PSF_CUT_OFF : 0;
  if (image && ndim == 3 && r->shape[0] < 2 * image[0] - 1)
    flags |= KUGEL_PSF_FEW_PLANES;
  return flags;
}

static void count(double *h, int64_t n, kugel_psf_report *r)
{
  int64_t peak = -1;
  r->least = INFINITY;
  for (int64_t i = 0; i < n; i++) {
    if (!isfinite(h[i])) {
      r->not_finite++;
      h[i] = 0;
      continue;
    }
    r->negative += h[i] < 0;
    r->sum += h[i];
    r->least = fmin(r->least, h[i]);
    if (peak < 0 || h[i] > h[peak])
      peak = i;
  }
  peak = peak < 0 ? 0 : peak;
  r->least = isfinite(r->least) ? r->least : 0;
  r->largest = h[peak];
  r->peak[0] = peak / (r->shape[1] * r->shape[2]);
  r->peak[1] = peak / r->shape[2] % r->shape[1];
  r->peak[2] = peak % r->shape[2];
}

kugel_status kugel_psf_check(kugel_ctx *ctx, const kugel_array *psf, const int64_t *image,
                             kugel_psf_report *report)
{
  kugel_psf_report r = {.size = sizeof r};
  double *h;
  KUGEL_CHECK(report, KUGEL_EINVAL, "report is NULL");
  KUGEL_TRY(kugel__psf_load(ctx, psf, "psf", r.shape, &h));
  count(h, r.shape[0] * r.shape[1] * r.shape[2], &r);
  kugel_status status = kugel__psf_centre(ctx, h, r.shape, r.centre);
  if (!status)
    status = kugel__psf_background(ctx, h, r.shape, &r.background);
  int64_t step[3] = {r.shape[1] * r.shape[2], r.shape[2], 1};
  const double *peak = h + (r.peak[0] * r.shape[1] + r.peak[1]) * r.shape[2] + r.peak[2];
  for (int a = 0; a < 3 && r.largest > 0; a++)
    r.fwhm[a] = kugel__psf_fwhm(peak - r.peak[a] * step[a], r.shape[a], step[a], r.peak[a]);
  for (int a = 1; a < 3 && r.largest > 0; a++)
    for (int last = 0; last < 2; last++)
      if (r.shape[a] > 1)
        r.edge = fmax(r.edge, face_mean(h, r.shape, a, last) / r.largest);
  kugel__free(ctx, h);
  KUGEL_TRY(status);
  r.flags = flags_of(&r, psf->ndim, image);
  return kugel__give_info(report, &r, sizeof r, "kugel_psf_report");
}

int kugel_psf_text(const kugel_psf_report *r, unsigned flag, char *text, size_t size)
{
  if (!r || !text || !size || !(r->flags & flag))
    return 0;
  int n = 0;
  switch (flag) {
  case KUGEL_PSF_NOT_FINITE:
    n = snprintf(text, size, "%lld voxels are NaN or infinite: replace them before use",
                 (long long)r->not_finite);
    break;
  case KUGEL_PSF_ALL_ZERO:
    n = snprintf(text, size, "no voxel is above 0 (the largest is %g): this is not a PSF", r->largest);
    break;
  case KUGEL_PSF_NEGATIVE:
    n = snprintf(
        text, size,
        "%lld voxels are negative, down to %.3g of the peak: intensities are not; prepare it (kugel psf "
        "prepare), or take off less background",
        (long long)r->negative, r->largest > 0 ? r->least / r->largest : r->least);
    break;
  case KUGEL_PSF_NOT_NORMALISED:
    n = snprintf(text, size, "the sum is %.6g, not 1: results are scaled by it; kugel psf prepare makes it 1",
                 r->sum);
    break;
  case KUGEL_PSF_EVEN:
    n = snprintf(text, size,
                 "lengths %lld x %lld x %lld are not all odd: the centre lies between voxels, which shifts "
                 "results by half a voxel; kugel psf prepare makes lengths odd",
                 (long long)r->shape[0], (long long)r->shape[1], (long long)r->shape[2]);
    break;
  case KUGEL_PSF_OFF_CENTRE:
    n = snprintf(
        text, size,
        "its centre is at (%.2f, %.2f, %.2f), the middle at (%g, %g, %g): results are shifted by the "
        "difference; kugel psf prepare centres it",
        r->centre[0], r->centre[1], r->centre[2], (double)(r->shape[0] - 1) / 2,
        (double)(r->shape[1] - 1) / 2, (double)(r->shape[2] - 1) / 2);
    break;
  case KUGEL_PSF_BACKGROUND:
    n = snprintf(text, size,
                 "its rim has a level of %.3g, %.2g of the peak: light far from the centre or a background; "
                 "kugel psf prepare takes it off one that was measured",
                 r->background, r->background / r->largest);
    break;
  case KUGEL_PSF_CUT_OFF:
    n = snprintf(text, size, "a face holds %.2g of the peak on average: the PSF is cut off; make it wider",
                 r->edge);
    break;
  case KUGEL_PSF_FEW_PLANES:
    n = snprintf(
        text, size,
        "it has %lld planes: light is taken to reach %lld planes up and down, and no further; for an image "
        "of F planes compute 2 F - 1",
        (long long)r->shape[0], (long long)(r->shape[0] / 2));
    break;
  case KUGEL_PSF_FLAT:
    n = snprintf(
        text, size,
        "its widths at half maximum are (%.2f, %.2f, %.2f) voxels (0: not reached) in %lld planes: it is "
        "sampled too coarsely to sharpen anything",
        r->fwhm[0], r->fwhm[1], r->fwhm[2], (long long)r->shape[0]);
    break;
  default:
    return 0;
  }
  return n < (int)size ? n : (int)size - 1;
}

/* ---- crop ---- */

// Half length of the smallest centred range of sums, n long, that leaves out at most `lose`.
static int64_t half_of(const double *sums, int64_t n, double lose, double *lost)
{
  int64_t half = n / 2;
  *lost = 0;
  while (half > 0) {
    double rim = sums[n / 2 - half] + sums[n / 2 + half];
    if (*lost + rim > lose)
      break;
    *lost += rim;
    half--;
  }
  return half;
}

kugel_status kugel_psf_crop(kugel_ctx *ctx, const kugel_array *psf, double energy, int64_t *lo, int64_t *n,
                            double *lost)
{
  int64_t m[3];
  double *h, total = 0, inside = 0;
  KUGEL_CHECK(lo && n, KUGEL_EINVAL, "lo or n is NULL");
  KUGEL_CHECK(energy > 0 && energy <= 1, KUGEL_EINVAL, "energy is %g, must be above 0 and at most 1", energy);
  KUGEL_CHECK(psf && psf->ndim == 3, KUGEL_ESHAPE, "psf must have 3 dimensions");
  KUGEL_TRY(kugel__psf_load(ctx, psf, "psf", m, &h));
  double *sums = kugel__calloc(ctx, (size_t)(m[0] + m[1] + m[2]) * sizeof *sums);
  kugel_status status = sums ? KUGEL_OK : KUGEL_FAIL(KUGEL_ENOMEM, "no memory for sums of planes");
  for (int a = 0; a < 3 && !status; a++)
    if (m[a] % 2 == 0)
      status = KUGEL_FAIL(
          KUGEL_ESHAPE, "length %lld of axis %d must be odd, so that the centre is a voxel; prepare the PSF",
          (long long)m[a], a);
  for (int64_t i = 0; i < m[0] * m[1] * m[2] && !status; i++) {
    double v = fmax(h[i], 0); // NaN too
    total += v;
    sums[i / (m[1] * m[2])] += v;
    sums[m[0] + i / m[2] % m[1]] += v;
    sums[m[0] + m[1] + i % m[2]] += v;
  }
  if (!status && !(total > 0))
    status = KUGEL_FAIL(KUGEL_EINVAL, "the PSF has no light: no voxel is above 0");
  for (int a = 0, at = 0; a < 3 && !status; at += (int)m[a++]) {
    double left;
    int64_t half = half_of(sums + at, m[a], (1 - energy) / 3 * total, &left);
    lo[a] = m[a] / 2 - half;
    n[a] = 2 * half + 1;
  }
  for (int64_t z = 0; !status && z < n[0]; z++)
    for (int64_t y = 0; y < n[1]; y++)
      for (int64_t x = 0; x < n[2]; x++)
        inside += fmax(h[((z + lo[0]) * m[1] + y + lo[1]) * m[2] + x + lo[2]], 0);
  if (!status && lost)
    *lost = fmax(0, 1 - inside / total);
  kugel__free(ctx, sums);
  kugel__free(ctx, h);
  return status;
}
