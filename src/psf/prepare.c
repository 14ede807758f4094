/* SPDX-License-Identifier: BSD-3-Clause */
/* A measured or foreign PSF for an image: background, centre, voxels, lengths, scale. */
#include <math.h>
#include <string.h>
#include "core/alloc.h"
#include "psf/psf.h"

static double keys(double t) // a = -1/2
{
  t = fabs(t);
  return t < 1 ? (1.5 * t - 2.5) * t * t + 1 : t < 2 ? ((-0.5 * t + 2.5) * t - 4) * t + 2 : 0;
}

static double lanczos(double t)
{
  if (fabs(t) >= 4)
    return 0;
  return t == 0 ? 1 : sin(M_PI * t) * sin(M_PI * t / 4) * 4 / (M_PI * M_PI * t * t);
}

void kugel__psf_weights(bool sharp, int64_t n, double centre, double ratio, int64_t m, double *weights)
{
  double width = ratio > 1 ? sqrt(ratio * ratio - 1) : 0; // in and out are means over voxels already
  int points = width > 0 ? 8 + (int)fmin(4 * width, 1000) : 1;
  memset(weights, 0, (size_t)(m * n) * sizeof *weights);
  for (int64_t j = 0; j < m; j++)
    for (int k = 0; k < points; k++) {
      double at = centre + (double)(j - m / 2) * ratio + width * ((k + 0.5) / points - 0.5), sum = 0, w[8];
      int64_t first = (int64_t)floor(at) - 3;
      for (int i = 0; i < 8; i++) {
        w[i] = sharp ? lanczos(at - (double)(first + i)) : keys(at - (double)(first + i));
        sum += w[i];
      }
      for (int i = 0; i < 8; i++)
        if (first + i >= 0 && first + i < n)
          weights[j * n + first + i] += w[i] / sum / points;
    }
}

// One axis: in [before][n][after], out [before][m][after].
static void apply_axis(const double *in, int64_t before, int64_t n, int64_t after, const double *w, int64_t m,
                       double *out)
{
  memset(out, 0, (size_t)(before * m * after) * sizeof *out);
  for (int64_t b = 0; b < before; b++)
    for (int64_t j = 0; j < m; j++)
      for (int64_t i = 0; i < n; i++) {
        double f = w[j * n + i];
        if (f == 0)
          continue;
        const double *x = in + (b * n + i) * after;
        double *y = out + (b * m + j) * after;
        for (int64_t k = 0; k < after; k++)
          y[k] += f * x[k];
      }
}

kugel_status kugel__psf_apply(kugel_ctx *ctx, const double *in, const int64_t n[3],
                              const double *const weights[3], const int64_t m[3], double *out)
{
  double *a;
  KUGEL_ALLOC(ctx, a, (size_t)(m[0] * n[2] * (n[1] + m[1])) * sizeof *a);
  double *b = a + m[0] * n[1] * n[2];
  apply_axis(in, 1, n[0], n[1] * n[2], weights[0], m[0], a);
  apply_axis(a, m[0], n[1], n[2], weights[1], m[1], b);
  apply_axis(b, m[0] * m[1], n[2], 1, weights[2], m[2], out);
  kugel__free(ctx, a);
  return KUGEL_OK;
}

static kugel_status take(const kugel_psf_prepare_opts *opts, kugel_psf_prepare_opts *o, double ratio[3])
{
  KUGEL_TRY(kugel__take_opts(o, sizeof *o, opts, "kugel_psf_prepare_opts"));
  if (!opts)
    o->background = NAN;
  KUGEL_CHECK((unsigned)o->norm <= KUGEL_PSF_PLAIN, KUGEL_EINVAL, "norm is %d, must be 0 to %d", (int)o->norm,
              KUGEL_PSF_PLAIN);
  for (int a = 0; a < 3; a++) {
    bool none = o->voxel[a] == 0 || o->to_voxel[a] == 0;
    KUGEL_CHECK(none ||
                    (o->voxel[a] > 0 && o->voxel[a] < 1e15 && o->to_voxel[a] > 0 && o->to_voxel[a] < 1e15),
                KUGEL_EINVAL,
                "voxel[%d] is %g and to_voxel[%d] %g, must be above 0 and finite, or 0 to keep the voxels", a,
                o->voxel[a], a, o->to_voxel[a]);
    ratio[a] = none ? 1 : o->to_voxel[a] / o->voxel[a];
    KUGEL_CHECK(
        ratio[a] > 1e-3 && ratio[a] < 1e3, KUGEL_EINVAL,
        "to_voxel[%d] is %g times voxel[%d], must be 0.001 to 1000 times: check that both have one unit", a,
        ratio[a], a);
  }
  return KUGEL_OK;
}

/* Takes off background and finds the centre. */
static kugel_status clean(kugel_ctx *ctx, const kugel_psf_prepare_opts *o, double *h, const int64_t n[3],
                          double centre[3])
{
  int64_t count = n[0] * n[1] * n[2];
  double level = o->background;
  for (int64_t i = 0; i < count; i++)
    KUGEL_CHECK(isfinite(h[i]), KUGEL_EINVAL, "element %lld is %g: replace what is not finite before use",
                (long long)i, h[i]);
  if (isnan(level))
    KUGEL_TRY(kugel__psf_background(ctx, h, n, &level));
  for (int64_t i = 0; i < count; i++) {
    h[i] -= level;
    if (h[i] < 0 && !o->keep_negative)
      h[i] = 0;
  }
  for (int a = 0; a < 3; a++)
    centre[a] = (double)((n[a] - 1) / 2);
  return o->keep_centre ? KUGEL_OK : kugel__psf_centre(ctx, h, n, centre);
}

static kugel_status resample(kugel_ctx *ctx, const kugel_psf_prepare_opts *o, const double *h,
                             const int64_t n[3], const double centre[3], const double ratio[3],
                             const kugel_array *out, const int64_t m[3])
{
  int64_t count = m[0] * m[1] * m[2], tables = m[0] * n[0] + m[1] * n[1] + m[2] * n[2];
  double *to;
  KUGEL_ALLOC(ctx, to, (size_t)(count + tables) * sizeof *to);
  double *w[3] = {to + count, to + count + m[0] * n[0], to + count + m[0] * n[0] + m[1] * n[1]};
  for (int a = 0; a < 3; a++)
    kugel__psf_weights(false, n[a], centre[a], ratio[a], m[a], w[a]);
  kugel_status status = kugel__psf_apply(ctx, h, n, (const double *const[3]){w[0], w[1], w[2]}, m, to);
  for (int64_t i = 0; i < count && !status && !o->keep_negative; i++)
    to[i] = fmax(to[i], 0);
  if (!status)
    status = kugel__psf_store(to, m, o->norm, out);
  kugel__free(ctx, to);
  return status;
}

kugel_status kugel_psf_prepare(kugel_ctx *ctx, const kugel_array *in, const kugel_psf_prepare_opts *opts,
                               const kugel_array *out)
{
  kugel_psf_prepare_opts o;
  int64_t n[3], m[3];
  double *h, centre[3], ratio[3];
  KUGEL_TRY(take(opts, &o, ratio));
  KUGEL_TRY(kugel__psf_check_out(out, m));
  KUGEL_CHECK(in && in->ndim == 3, KUGEL_ESHAPE, "in must have 3 dimensions");
  KUGEL_TRY(kugel__psf_load(ctx, in, "in", n, &h));
  kugel_status status = clean(ctx, &o, h, n, centre);
  if (!status)
    status = resample(ctx, &o, h, n, centre, ratio, out, m);
  kugel__free(ctx, h);
  return status;
}
