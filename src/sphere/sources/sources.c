/* SPDX-License-Identifier: BSD-3-Clause */
/* Point sources: the matched filter, and peaks of a filtered map with Gaussians fitted to them. */
#include "sphere/sources/sources.h"

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

static kugel_status measure_rms(kugel__hunt *j, int64_t npix)
{
  double *v;
  int64_t n = 0;
  KUGEL_ALLOC(j->ctx, v, (size_t)npix * 8);
  for (int64_t i = 0; i < npix; i++)
    if (!kugel__bad_pixel(j->filtered[i]))
      v[n++] = j->filtered[i];
  double middle = n ? kugel__select(v, n, n / 2) : 0;
  for (int64_t i = 0; i < n; i++)
    v[i] = fabs(v[i] - middle);
  j->rms = n ? 1.4826 * kugel__select(v, n, n / 2) : 0;
  kugel__free(j->ctx, v);
  KUGEL_CHECK(n, KUGEL_EINVAL, "the filtered map has no observed pixel");
  KUGEL_CHECK(j->rms > 0, KUGEL_EINVAL,
              "half of the filtered map has one value, so its rms cannot be measured: give opts.rms");
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
  KUGEL_CHECK(!o->kernel || (o->kernel_lmax >= 1 && o->kernel_lmax <= 1000000), KUGEL_EINVAL,
              "kernel_lmax is %lld, must be 1 to 1000000", (long long)o->kernel_lmax);
  KUGEL_CHECK(o->sidelobes >= 0 && o->sidelobes < 1, KUGEL_EINVAL,
              "sidelobes is %g, must be 0 or more and below 1", o->sidelobes);
  KUGEL_CHECK(map && filtered && max >= 0 && (out || !max), KUGEL_EINVAL,
              "%s: pass two maps and room for %lld",
              map && filtered ? "no room for sources" : "a map is NULL", (long long)max);
  return KUGEL_OK;
}

/* Peaks of a map of which the filter is not known. */
static kugel_status plain(kugel__hunt *j, kugel_source **all, int64_t *n)
{
  double(*centre)[3] = NULL;
  kugel_status s = kugel__sources_peaks(j, kugel_healpix_npix(j->o.nside), all, n);
  if (!s)
    s = kugel__sources_room(j, 1.5 * j->o.fwhm);
  if (!s && !(centre = kugel__alloc(j->ctx, (size_t)(24 * *n + 8))))
    s = KUGEL_FAIL(KUGEL_ENOMEM, "no memory for %lld sources", (long long)*n);
  if (!s)
    s = kugel__sources_describe(j, *all, n, centre);
  kugel__free(j->ctx, centre);
  kugel__free(j->ctx, j->pixel);
  return s;
}

static double apart(const kugel_source *a, const kugel_source *b)
{
  double p = sin((a->theta - b->theta) / 2), q = sin((a->phi - b->phi) / 2);
  return 2 * asin(fmin(1, sqrt(p * p + sin(a->theta) * sin(b->theta) * q * q)));
}

static void set_flags(const kugel__hunt *j, kugel_source *list, int64_t n)
{
  for (int64_t i = 0; i < n; i++) {
    kugel_source *s = list + i;
    s->flags |= fmin(s->theta, M_PI - s->theta) < s->fwhm ? KUGEL_SOURCE_POLE : 0;
    double at[3] = {sin(s->theta) * cos(s->phi), sin(s->theta) * sin(s->phi), cos(s->theta)};
    for (int64_t k = 0; k < 25; k++) { /* rings of 12 about the place, within a FWHM */
      double r = k ? s->fwhm * (k <= 12 ? 0.5 : 1) : 0, b = (double)k * M_PI / 6, v[3];
      double h = hypot(at[0], at[1]), east[3] = {h > 0 ? -at[1] / h : 1, h > 0 ? at[0] / h : 0, 0};
      double north[3] = {-at[2] * east[1], at[2] * east[0], at[0] * east[1] - at[1] * east[0]};
      for (int c = 0; c < 3; c++)
        v[c] = at[c] * cos(r) + sin(r) * (cos(b) * east[c] + sin(b) * north[c]);
      int64_t pixel;
      if (!kugel_healpix_vec2pix(j->ctx, j->o.nside, KUGEL_ORDER_RING, 1, v, &pixel) &&
          (kugel__bad_pixel(j->map[pixel]) || kugel__bad_pixel(j->filtered[pixel])))
        s->flags |= KUGEL_SOURCE_EDGE;
    }
    for (int64_t k = 0; k < i; k++)
      if (fabs(s->theta - list[k].theta) < 2 * j->o.fwhm && apart(s, list + k) < 2 * j->o.fwhm) {
        s->flags |= KUGEL_SOURCE_BLENDED;
        list[k].flags |= KUGEL_SOURCE_BLENDED;
      }
  }
}

kugel_status kugel_sources_find(kugel_ctx *ctx, const kugel_sources_opts *opts, const double *map,
                                const double *filtered, int64_t max, kugel_source *out, int64_t *n)
{
  kugel__hunt j = {.ctx = ctx, .map = map, .filtered = filtered};
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
  kugel_source *all = NULL;
  kugel_status status = j.o.kernel ? kugel__sources_clean(&j, &all, n) : plain(&j, &all, n);
  if (!status)
    set_flags(&j, all, *n);
  if (!status && *n && max)
    memcpy(out, all, (size_t)kugel__min(*n, max) * sizeof *out);
  kugel__free(ctx, all);
  return status;
}
