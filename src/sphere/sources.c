/* SPDX-License-Identifier: BSD-3-Clause */
/* Point sources: the matched filter, and peaks of a filtered map with Gaussians fitted to them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "core/alloc.h"
#include "sphere/mapops.h"
#include <kugel/healpix.h>
#include <kugel/sources.h>

kugel_status kugel_filter_matched(int64_t lmax, const double *beam, const double *power, double *psi,
                                  double *sigma)
{
  KUGEL_CHECK(lmax >= 0 && beam && power && psi, KUGEL_EINVAL,
              "lmax is %lld and %s: pass lmax >= 0 and three arrays of lmax + 1 numbers", (long long)lmax,
              beam && power && psi ? "all arrays are set" : "an array is NULL");
  double height = 0, norm = 0;
  for (int64_t l = 0; l <= lmax; l++) {
    KUGEL_CHECK(isfinite(beam[l]), KUGEL_EINVAL, "beam[%lld] is %g, must be finite", (long long)l, beam[l]);
    KUGEL_CHECK(beam[l] == 0 || (power[l] > 0 && isfinite(power[l])), KUGEL_EINVAL,
                "power[%lld] is %g, must be above 0 where the beam is not 0: add noise", (long long)l,
                power[l]);
    double w = (double)(2 * l + 1) / (4 * M_PI);
    height += w * beam[l];
    norm += beam[l] != 0 ? w * beam[l] * beam[l] / power[l] : 0;
  }
  KUGEL_CHECK(height > 0 && norm > 0 && isfinite(norm), KUGEL_EINVAL,
              "the beam is %g at its centre: it must be positive", height);
  for (int64_t l = 0; l <= lmax; l++)
    psi[l] = beam[l] != 0 ? beam[l] / power[l] * height / norm : 0;
  if (sigma)
    *sigma = height / sqrt(norm);
  return KUGEL_OK;
}

typedef struct job {
  kugel_ctx *ctx;
  kugel_sources_opts o;
  const double *map, *filtered;
  double rms;
  int64_t capacity, *pixel; /* of a disc */
  double *distance, *value; /* [capacity] */
} job;

static int rising(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* The k-th smallest by quickselect: order in place. */
static double select_nth(double *v, int64_t n, int64_t k)
{
  int64_t lo = 0, hi = n - 1;
  while (hi - lo > 32) {
    double pivot = v[(lo + hi) / 2];
    int64_t i = lo, j = hi;
    while (i <= j) {
      while (v[i] < pivot)
        i++;
      while (v[j] > pivot)
        j--;
      if (i <= j) {
        double t = v[i];
        v[i++] = v[j];
        v[j--] = t;
      }
    }
    if (k <= j)
      hi = j;
    else if (k >= i)
      lo = i;
    else
      return v[k];
  }
  qsort(v + lo, (size_t)(hi - lo + 1), sizeof *v, rising);
  return v[k];
}

static kugel_status measure_rms(job *j, int64_t npix)
{
  double *v;
  int64_t n = 0;
  KUGEL_ALLOC(j->ctx, v, (size_t)npix * 8);
  for (int64_t i = 0; i < npix; i++)
    if (!kugel__bad_pixel(j->filtered[i]))
      v[n++] = j->filtered[i];
  double middle = n ? select_nth(v, n, n / 2) : 0;
  for (int64_t i = 0; i < n; i++)
    v[i] = fabs(v[i] - middle);
  j->rms = n ? 1.4826 * select_nth(v, n, n / 2) : 0;
  kugel__free(j->ctx, v);
  KUGEL_CHECK(n, KUGEL_EINVAL, "the filtered map has no observed pixel");
  KUGEL_CHECK(j->rms > 0, KUGEL_EINVAL,
              "half of the filtered map has one value, so its rms cannot be measured: give opts.rms");
  return KUGEL_OK;
}

/* Offsets of v from the centre c on its tangent plane. */
static void on_plane(const double c[3], const double v[3], double xy[2])
{
  double s = hypot(c[0], c[1]), e[3] = {1, 0, 0};
  if (s > 0) {
    e[0] = -c[1] / s;
    e[1] = c[0] / s;
  }
  double n[3] = {c[1] * e[2] - c[2] * e[1], c[2] * e[0] - c[0] * e[2], c[0] * e[1] - c[1] * e[0]};
  xy[0] = v[0] * e[0] + v[1] * e[1] + v[2] * e[2];
  xy[1] = v[0] * n[0] + v[1] * n[1] + v[2] * n[2];
}

/* Gaussian elimination with pivots; a is [n][n + 1]. False if singular. */
static bool solve(double *a, int n)
{
  for (int c = 0; c < n; c++) {
    int p = c;
    for (int r = c + 1; r < n; r++)
      if (fabs(a[r * (n + 1) + c]) > fabs(a[p * (n + 1) + c]))
        p = r;
    if (!(fabs(a[p * (n + 1) + c]) > 1e-12))
      return false;
    for (int k = 0; k <= n; k++) {
      double t = a[c * (n + 1) + k];
      a[c * (n + 1) + k] = a[p * (n + 1) + k];
      a[p * (n + 1) + k] = t;
    }
    for (int r = 0; r < n; r++) {
      double f = r == c ? 0 : a[r * (n + 1) + c] / a[c * (n + 1) + c];
      for (int k = c; k <= n && r != c; k++)
        a[r * (n + 1) + k] -= f * a[c * (n + 1) + k];
    }
  }
  for (int r = 0; r < n; r++)
    a[r * (n + 1) + n] /= a[r * (n + 1) + r];
  return true;
}

/* The top of log f = q0 + q1 x + q2 y + q3 x^2 + q4 x y + q5 y^2 through a pixel and its neighbours moves
 * `centre`, where there is one within `reach` of it. */
static void refine(const job *j, int64_t pixel, const int64_t near[8], double reach, double centre[3])
{
  double a[6][7] = {{0}}, scale = reach, start[3];
  memcpy(start, centre, sizeof start);
  for (int k = 0; k < 9; k++) {
    int64_t at = k < 8 ? near[k] : pixel;
    double v[3], xy[2];
    if (at < 0 || kugel__bad_pixel(j->filtered[at]) || j->filtered[at] <= 0)
      continue;
    kugel_healpix_pix2vec(j->ctx, j->o.nside, KUGEL_ORDER_RING, 1, &at, v);
    on_plane(start, v, xy);
    double x = xy[0] / scale, y = xy[1] / scale, row[7] = {1, x, y, x * x, x * y, y * y};
    row[6] = log(j->filtered[at] / j->filtered[pixel]);
    for (int r = 0; r < 6; r++)
      for (int c = 0; c < 7; c++)
        a[r][c] += row[r] * row[c];
  }
  if (!solve(a[0], 6))
    return;
  double q1 = a[1][6], q2 = a[2][6], q3 = a[3][6], q4 = a[4][6], q5 = a[5][6], det = 4 * q3 * q5 - q4 * q4;
  if (!(q3 < 0 && det > 0))
    return;
  double x = (q4 * q2 - 2 * q5 * q1) / det * scale, y = (q4 * q1 - 2 * q3 * q2) / det * scale;
  if (hypot(x, y) > reach)
    return;
  double s = hypot(start[0], start[1]), e[3] = {1, 0, 0};
  if (s > 0) {
    e[0] = -start[1] / s;
    e[1] = start[0] / s;
  }
  double n[3] = {start[1] * e[2] - start[2] * e[1], start[2] * e[0] - start[0] * e[2],
                 start[0] * e[1] - start[1] * e[0]};
  double length = sqrt(1 + x * x + y * y);
  for (int k = 0; k < 3; k++)
    centre[k] = (start[k] + x * e[k] + y * n[k]) / length;
}

/* Least squares of peak exp(-4 ln 2 (d / fwhm)^2) + background; returns the sum of squares left. */
static double fit_width(const job *j, int64_t n, double fwhm, kugel_source *s)
{
  double g1 = 0, g2 = 0, f1 = 0, gf = 0, left = 0;
  for (int64_t i = 0; i < n; i++) {
    double q = j->distance[i] / fwhm, g = exp(-4 * M_LN2 * q * q);
    g1 += g;
    g2 += g * g;
    f1 += j->value[i];
    gf += g * j->value[i];
  }
  double det = (double)n * g2 - g1 * g1;
  if (!(det > 1e-12 * (double)n * g2))
    return INFINITY;
  s->peak = ((double)n * gf - g1 * f1) / det;
  s->background = (f1 - s->peak * g1) / (double)n;
  s->fwhm = fwhm;
  s->flux = s->peak * M_PI * fwhm * fwhm / (4 * M_LN2);
  for (int64_t i = 0; i < n; i++) {
    double q = j->distance[i] / fwhm, r = j->value[i] - s->background - s->peak * exp(-4 * M_LN2 * q * q);
    left += r * r;
  }
  return left;
}

static kugel_status fit_source(job *j, const double centre[3], kugel_source *s)
{
  int64_t count = 0, n = 0;
  KUGEL_TRY(kugel_healpix_list_disc(j->ctx, j->o.nside, KUGEL_ORDER_RING, centre, 1.5 * j->o.fwhm, 0,
                                    j->capacity, j->pixel, &count));
  for (int64_t i = 0; i < count && count <= j->capacity; i++) {
    double v[3], d = 0;
    if (kugel__bad_pixel(j->map[j->pixel[i]]))
      continue;
    kugel_healpix_pix2vec(j->ctx, j->o.nside, KUGEL_ORDER_RING, 1, j->pixel + i, v);
    for (int k = 0; k < 3; k++)
      d += (v[k] - centre[k]) * (v[k] - centre[k]);
    j->distance[n] = 2 * asin(fmin(1, sqrt(d) / 2));
    j->value[n++] = j->map[j->pixel[i]];
  }
  double lo = log(0.5 * j->o.fwhm), hi = log(3 * j->o.fwhm);
  const double golden = 0.6180339887498949;
  if (j->o.fixed_fwhm || n < 6) {
    fit_width(j, n, j->o.fwhm, s);
    return KUGEL_OK;
  }
  while (hi - lo > 1e-5) { /* golden section */
    double a = hi - golden * (hi - lo), b = lo + golden * (hi - lo);
    if (fit_width(j, n, exp(a), s) < fit_width(j, n, exp(b), s))
      hi = b;
    else
      lo = a;
  }
  fit_width(j, n, exp((lo + hi) / 2), s);
  return KUGEL_OK;
}

static int falling(const void *a, const void *b)
{
  const kugel_source *x = a, *y = b;
  return x->snr != y->snr ? (x->snr < y->snr) - (x->snr > y->snr)
                          : (x->pixel > y->pixel) - (x->pixel < y->pixel);
}

static bool is_peak(const job *j, int64_t i, int64_t near[8])
{
  if (kugel_healpix_neighbours(j->ctx, j->o.nside, KUGEL_ORDER_RING, 1, &i, near))
    return false;
  for (int k = 0; k < 8; k++) {
    double v = near[k] >= 0 ? j->filtered[near[k]] : -INFINITY;
    if (near[k] >= 0 && (kugel__bad_pixel(v) || v > j->filtered[i] || (v == j->filtered[i] && near[k] < i)))
      return false;
  }
  return true;
}

/* All peaks with their pixels and snr, by falling snr. */
static kugel_status find_peaks(const job *j, int64_t npix, kugel_source **out, int64_t *n)
{
  int64_t room = 0;
  *n = 0;
  *out = NULL;
  for (int64_t i = 0; i < npix; i++) {
    double v = j->filtered[i];
    int64_t near[8];
    if (kugel__bad_pixel(v) || v < j->o.threshold * j->rms || !is_peak(j, i, near))
      continue;
    if (*n == room) {
      room = room ? 2 * room : 256;
      kugel_source *more = kugel__alloc(j->ctx, (size_t)room * sizeof *more);
      KUGEL_CHECK(more, KUGEL_ENOMEM, "no memory for %lld sources", (long long)room);
      if (*n)
        memcpy(more, *out, (size_t)*n * sizeof *more);
      kugel__free(j->ctx, *out);
      *out = more;
    }
    (*out)[(*n)++] = (kugel_source){.pixel = i, .snr = v / j->rms};
  }
  if (*n)
    qsort(*out, (size_t)*n, sizeof **out, falling);
  return KUGEL_OK;
}

/* Places each peak, drops it if a higher one lies within half a FWHM, and fits the rest. */
static kugel_status describe(job *j, kugel_source *all, int64_t *n, double (*centre)[3])
{
  int64_t kept = 0;
  double reach = kugel_healpix_max_pixel_radius(j->o.nside), near = 2 * sin(fmin(j->o.fwhm / 4, M_PI / 2));
  for (int64_t i = 0; i < *n; i++) {
    int64_t around[8], pixel = all[i].pixel;
    double c[3];
    bool taken = false;
    KUGEL_TRY(kugel_healpix_pix2vec(j->ctx, j->o.nside, KUGEL_ORDER_RING, 1, &pixel, c));
    KUGEL_TRY(kugel_healpix_neighbours(j->ctx, j->o.nside, KUGEL_ORDER_RING, 1, &pixel, around));
    refine(j, pixel, around, reach, c);
    for (int64_t k = 0; k < kept && !taken; k++) {
      double x = c[0] - centre[k][0], y = c[1] - centre[k][1], z = c[2] - centre[k][2];
      taken = x * x + y * y + z * z < near * near;
    }
    if (taken)
      continue;
    all[kept] = all[i];
    memcpy(centre[kept], c, sizeof c);
    all[kept].theta = atan2(hypot(c[0], c[1]), c[2]);
    all[kept].phi = fmod(atan2(c[1], c[0]) + 2 * M_PI, 2 * M_PI);
    KUGEL_TRY(fit_source(j, c, all + kept));
    kept++;
  }
  *n = kept;
  return KUGEL_OK;
}

static kugel_status check(const kugel_sources_opts *o, int64_t max, const void *map, const void *filtered,
                          const void *out)
{
  KUGEL_CHECK(kugel_healpix_npix(o->nside) > 0, KUGEL_EINVAL, "nside is %lld, must be 1 to 2^29",
              (long long)o->nside);
  KUGEL_CHECK(o->fwhm > 0 && o->fwhm <= 1, KUGEL_EINVAL, "fwhm is %g radians, must be above 0 and at most 1",
              o->fwhm);
  KUGEL_CHECK(o->threshold >= 0 && isfinite(o->threshold), KUGEL_EINVAL,
              "threshold is %g, must be finite and not negative", o->threshold);
  KUGEL_CHECK(o->rms >= 0 && isfinite(o->rms), KUGEL_EINVAL, "rms is %g, must be finite and not negative",
              o->rms);
  KUGEL_CHECK(map && filtered && max >= 0 && (out || !max), KUGEL_EINVAL,
              "%s: pass two maps and room for %lld",
              map && filtered ? "no room for sources" : "a map is NULL", (long long)max);
  return KUGEL_OK;
}

kugel_status kugel_sources_find(kugel_ctx *ctx, const kugel_sources_opts *opts, const double *map,
                                const double *filtered, int64_t max, kugel_source *out, int64_t *n)
{
  job j = {.ctx = ctx, .map = map, .filtered = filtered};
  KUGEL_CHECK(opts && n, KUGEL_EINVAL, "%s is NULL", opts ? "n" : "opts");
  *n = 0;
  KUGEL_TRY(kugel__take_opts(&j.o, sizeof j.o, opts, "kugel_sources_opts"));
  KUGEL_TRY(check(&j.o, max, map, filtered, out));
  int64_t npix = kugel_healpix_npix(j.o.nside);
  if (j.o.threshold == 0)
    j.o.threshold = 5;
  j.rms = j.o.rms;
  if (j.rms == 0)
    KUGEL_TRY(measure_rms(&j, npix));
  double disc = 1.5 * j.o.fwhm + 2 * kugel_healpix_max_pixel_radius(j.o.nside), s = sin(fmin(disc, M_PI) / 2);
  j.capacity = (int64_t)(s * s * (double)npix) + 64;
  kugel_source *all = NULL;
  kugel_status status = find_peaks(&j, npix, &all, n);
  char *block = status ? NULL : kugel__alloc(ctx, (size_t)(24 * j.capacity + 24 * *n + 8));
  if (!status && !block)
    status = KUGEL_FAIL(KUGEL_ENOMEM, "no memory for discs of %lld pixels", (long long)j.capacity);
  if (!status) {
    j.pixel = (int64_t *)block;
    j.distance = (double *)(j.pixel + j.capacity);
    j.value = j.distance + j.capacity;
    status = describe(&j, all, n, (double(*)[3])(j.value + j.capacity));
  }
  if (!status && *n && max)
    memcpy(out, all, (size_t)kugel__min(*n, max) * sizeof *out);
  kugel__free(ctx, block);
  kugel__free(ctx, all);
  return status;
}
