/* SPDX-License-Identifier: BSD-3-Clause */
/* Sources of a map under a known filter, brightest first, each taken off before the next is sought.
 *
 * With the filter's Legendre coefficients psi_l, a Gaussian of height 1 and width w has in the filtered map the
 * image T_w(a) = sum_l (2l + 1) / 4 pi psi_l g_l(w) P_l(cos a), g_l = (its integral) exp(-l (l + 1) s^2 / 2). A
 * peak is fitted by A T_w about (x, y), by Gauss and Newton within its core, and A T_w is taken off as far as it
 * reaches. What is left of a source, by its shape or by pixels, is a small part of its image; candidates below
 * that part of what brighter sources have there, or farther in, are no sources. */
#include "sphere/sources/sources.h"

enum { MOST_ROUNDS = 12, RUN = 256 };

typedef struct source {
  double c[3], height, u; /* u = log2(w / fwhm) */
  double seen;            /* the pixel's value, brighter sources taken off */
  int64_t pixel;
  bool gone;
} source;

typedef struct clean {
  kugel__hunt *j;
  kugel__hunt rest; /* filtered: the map left, in units of height */
  kugel__sources_image im;
  double *left;
  source *list;
  int64_t n, room;
} clean;

/* ---- fits ---------------------------------------------------------------------------------------------- */

static double between(const double a[3], const double b[3])
{
  double d = 0;
  for (int k = 0; k < 3; k++)
    d += (a[k] - b[k]) * (a[k] - b[k]);
  return 2 * asin(fmin(1, sqrt(d) / 2));
}

static kugel_status list_disc(const clean *q, const double c[3], double radius, int64_t *count)
{
  KUGEL_TRY(kugel_healpix_list_disc(q->j->ctx, q->j->o.nside, KUGEL_ORDER_RING, c, fmin(radius, M_PI), 0,
                                    q->j->capacity, q->j->pixel, count));
  *count = kugel__min(*count, q->j->capacity);
  return KUGEL_OK;
}

/* Adds `times` the source's image to what is left. */
static kugel_status put_back(clean *q, const source *s, double times)
{
  int64_t n;
  KUGEL_TRY(list_disc(q, s->c, kugel__sources_reach(&q->im, s->u), &n));
  for (int64_t i = 0; i < n; i += RUN) {
    double v[3 * RUN];
    int64_t m = kugel__min(RUN, n - i), *p = q->j->pixel + i;
    KUGEL_TRY(kugel_healpix_pix2vec(q->j->ctx, q->j->o.nside, KUGEL_ORDER_RING, m, p, v));
    for (int64_t k = 0; k < m; k++)
      if (!kugel__bad_pixel(q->left[p[k]]))
        q->left[p[k]] += times * s->height * kugel__sources_image_at(&q->im, s->u, between(s->c, v + 3 * k));
  }
  return KUGEL_OK;
}

/* One row of the normal equations: value, height, place / fwhm and log2(width), the latter times height. */
static void fit_row(const clean *q, const source *s, const double v[3], double value, int m, double row[5])
{
  double xy[2], d = between(s->c, v), h = 0.5 * q->im.step, f = q->j->o.fwhm;
  kugel__sources_on_plane(s->c, v, xy);
  double r = hypot(xy[0], xy[1]);
  double slope =
      d > h ? (kugel__sources_image_at(&q->im, s->u, d + h) - kugel__sources_image_at(&q->im, s->u, d - h)) /
                  (2 * h)
            : 0;
  row[0] = kugel__sources_image_at(&q->im, s->u, d);
  row[1] = r > 0 ? -slope * f * xy[0] / r : 0;
  row[2] = r > 0 ? -slope * f * xy[1] / r : 0;
  if (m > 3)
    row[3] =
        (kugel__sources_image_at(&q->im, s->u + 0.1, d) - kugel__sources_image_at(&q->im, s->u - 0.1, d)) /
        0.2;
  row[m] = value - s->height * row[0];
}

/* Moves c by (x, y) on its tangent plane. */
static void shift(double c[3], double x, double y)
{
  double h = hypot(c[0], c[1]), e[3] = {h > 0 ? -c[1] / h : 1, h > 0 ? c[0] / h : 0, 0};
  double n[3] = {c[1] * e[2] - c[2] * e[1], c[2] * e[0] - c[0] * e[2], c[0] * e[1] - c[1] * e[0]};
  double length = sqrt(1 + x * x + y * y);
  for (int k = 0; k < 3; k++)
    c[k] = (c[k] + x * e[k] + y * n[k]) / length;
}

/* Gauss and Newton from s on, m = 3 (height, place) or 4 (width too). False: it led away. */
static kugel_status fit(clean *q, source *s, int m, bool *good)
{
  double f = q->j->o.fwhm,
         radius = fmax((m > 3 ? 1.2 : 0.6) * f, 1.5 * kugel_healpix_max_pixel_radius(q->j->o.nside));
  source at = *s;
  int64_t n;
  *good = false;
  KUGEL_TRY(list_disc(q, s->c, radius, &n));
  for (int round = 0; round < 12; round++) {
    double e[4 * 5] = {0}, x = 0;
    for (int64_t i = 0; i < n; i++) {
      double v[3], row[5];
      if (kugel__bad_pixel(q->left[q->j->pixel[i]]))
        continue;
      KUGEL_TRY(kugel_healpix_pix2vec(q->j->ctx, q->j->o.nside, KUGEL_ORDER_RING, 1, q->j->pixel + i, v));
      fit_row(q, &at, v, q->left[q->j->pixel[i]], m, row);
      for (int r = 0; r < m; r++)
        for (int c = 0; c <= m; c++)
          e[r * (m + 1) + c] += row[r] * row[c];
    }
    if (!kugel__sources_solve(e, m))
      return KUGEL_OK;
    at.height += e[m];
    if (!(at.height > 0) || !isfinite(at.height))
      return KUGEL_OK;
    double dx = e[1 * (m + 1) + m] / at.height, dy = e[2 * (m + 1) + m] / at.height,
           by = fmin(1, 0.3 / hypot(dx, dy));
    shift(at.c, by * dx * f, by * dy * f);
    x = hypot(dx, dy);
    if (m > 3) {
      double du = fmin(fmax(e[3 * (m + 1) + m] / at.height, -0.3), 0.3);
      at.u = fmin(fmax(at.u + du, -1), 1);
      x += fabs(du);
    }
    if (between(at.c, s->c) > 0.5 * f)
      return KUGEL_OK;
    if (x < 1e-6)
      break;
  }
  *good = true;
  *s = at;
  return KUGEL_OK;
}

static double peak_of(const clean *q, const source *s)
{
  return s->height * kugel__sources_image_at(&q->im, s->u, 0);
}

/* Fits a source to what is left: of the beam's width, unless another is significant. */
static kugel_status describe(clean *q, source *s)
{
  bool good;
  source beam = *s;
  KUGEL_TRY(fit(q, &beam, 3, &good));
  good = good && fabs(beam.height / s->height - 1) < 0.5;
  *s = good ? beam : *s;
  if (q->j->o.fixed_fwhm || !good)
    return KUGEL_OK;
  source wide = *s;
  KUGEL_TRY(fit(q, &wide, 4, &good));
  double error = 1.5 * q->rest.rms / (wide.height * kugel__sources_image_at(&q->im, wide.u, 0));
  bool inside = wide.u > -0.99 && wide.u < 0.99 && fabs(peak_of(q, &wide) / s->height - 1) < 0.3;
  if (good && inside && fabs(wide.u) * M_LN2 > fmax(0.05, 5 * error))
    *s = wide;
  return KUGEL_OK;
}

/* What sources other than `but` and brighter than `least` may have left at c; INFINITY close to one. */
static double left_by_others(const clean *q, const double c[3], const source *but, double least)
{
  double sum = 0, f = q->j->o.fwhm, part = q->j->o.sidelobes > 0 ? q->j->o.sidelobes : 0.02;
  for (int64_t k = 0; k < q->n; k++) {
    const source *s = q->list + k;
    if (s->gone || s == but || peak_of(q, s) < least)
      continue;
    double d = between(c, s->c);
    if (d < 0.5 * f)
      return INFINITY;
    /* pixels scatter a little of any source far about */
    double halo = 0.5 * part * (f / d) * (f / d);
    sum += s->height *
           fmax(halo, (s->u == 0 ? part : 3 * part) * kugel__sources_beyond(&q->im, s->u, d - 0.25 * f));
  }
  return sum;
}

/* ---- rounds -------------------------------------------------------------------------------------------- */

static kugel_status append(clean *q, const source *s)
{
  if (q->n == q->room) {
    q->room = q->room ? 2 * q->room : 256;
    source *more = kugel__alloc(q->j->ctx, (size_t)q->room * sizeof *more);
    KUGEL_CHECK(more, KUGEL_ENOMEM, "no memory for %lld sources", (long long)q->room);
    if (q->n)
      memcpy(more, q->list, (size_t)q->n * sizeof *more);
    kugel__free(q->j->ctx, q->list);
    q->list = more;
  }
  q->list[q->n++] = *s;
  return KUGEL_OK;
}

/* Was it, or a neighbour, a peak of the map as it came, and half as high? What negative sidelobes have raised
 * when they were taken off was not. Beside a brighter source it may have been hidden. */
static bool stood_out(const clean *q, const source *s)
{
  int64_t near[9], none[8];
  for (int64_t k = 0; k < q->n; k++)
    if (!q->list[k].gone && between(q->list[k].c, s->c) < 1.2 * q->j->o.fwhm)
      return q->j->filtered[s->pixel] > 0.5 * s->height * q->im.peak;
  near[8] = s->pixel;
  if (kugel_healpix_neighbours(q->j->ctx, q->j->o.nside, KUGEL_ORDER_RING, 1, &s->pixel, near))
    return false;
  for (int k = 0; k < 9; k++)
    if (near[k] >= 0 && q->j->filtered[near[k]] > 0.5 * s->height * q->im.peak &&
        kugel__sources_is_peak(q->j, near[k], none))
      return true;
  return false;
}

/* One peak of what was left when the round began. */
static kugel_status take_peak(clean *q, int64_t pixel, int64_t *taken)
{
  double least = q->j->o.threshold * q->rest.rms;
  int64_t near[8];
  source s = {.pixel = pixel, .height = q->left[pixel], .seen = q->left[pixel]};
  if (s.height < least || !kugel__sources_is_peak(&q->rest, pixel, near))
    return KUGEL_OK;
  KUGEL_TRY(kugel_healpix_pix2vec(q->j->ctx, q->j->o.nside, KUGEL_ORDER_RING, 1, &pixel, s.c));
  double others = left_by_others(q, s.c, NULL, 0);
  if (s.height < least + others)
    return KUGEL_OK;
  if (!stood_out(q, &s))
    return KUGEL_OK;
  KUGEL_TRY(describe(q, &s));
  if (left_by_others(q, s.c, NULL, 0) == INFINITY)
    return KUGEL_OK;
  ++*taken;
  KUGEL_TRY(put_back(q, &s, -1));
  return append(q, &s);
}

/* Sources with neighbours are fitted again, each without the others. */
static kugel_status settle(clean *q)
{
  for (int64_t k = 0; k < q->n; k++) {
    source *s = q->list + k;
    double nearest = INFINITY;
    for (int64_t i = 0; i < q->n; i++)
      if (i != k && !q->list[i].gone)
        nearest = fmin(nearest, between(s->c, q->list[i].c));
    if (nearest > 3 * q->j->o.fwhm || s->gone)
      continue;
    source again = *s;
    if (nearest < 2 * q->j->o.fwhm) { /* what made it wide was the neighbour */
      again.u = 0;
      again.height = peak_of(q, s);
    }
    bool good;
    KUGEL_TRY(put_back(q, s, 1));
    KUGEL_TRY(fit(q, &again, 3, &good));
    double start[3];
    KUGEL_TRY(kugel_healpix_pix2vec(q->j->ctx, q->j->o.nside, KUGEL_ORDER_RING, 1, &s->pixel, start));
    if (good && peak_of(q, &again) < 1.5 * peak_of(q, s) && peak_of(q, &again) > 0.5 * peak_of(q, s) &&
        between(again.c, start) < 0.5 * q->j->o.fwhm + kugel_healpix_max_pixel_radius(q->j->o.nside))
      *s = again; /* else neighbours push each other about */
    KUGEL_TRY(put_back(q, s, -1));
  }
  return KUGEL_OK;
}

/* Drops what, with its neighbours known, is no source. */
static kugel_status sift(clean *q, int64_t *dropped)
{
  *dropped = 0;
  for (int64_t k = q->n - 1; k >= 0; k--) {
    source *s = q->list + k;
    double peak = s->gone ? 0 : peak_of(q, s), least = q->j->o.threshold * q->rest.rms;
    if (s->gone || peak >= 0.8 * least + left_by_others(q, s->c, s, peak))
      continue;
    KUGEL_TRY(put_back(q, s, 1));
    s->gone = true;
    ++*dropped;
  }
  return KUGEL_OK;
}

static kugel_status hunt(clean *q)
{
  for (int round = 0; round < MOST_ROUNDS; round++) {
    kugel_source *peaks = NULL;
    int64_t n = 0, taken = 0;
    kugel_status s = kugel__sources_peaks(&q->rest, kugel_healpix_npix(q->j->o.nside), &peaks, &n);
    for (int64_t i = 0; i < n && !s; i++)
      s = take_peak(q, peaks[i].pixel, &taken);
    kugel__free(q->j->ctx, peaks);
    KUGEL_TRY(s);
    if (!taken)
      break;
    for (int i = 0; i < 3; i++)
      KUGEL_TRY(settle(q));
  }
  for (int i = 0; i < 3; i++) {
    int64_t dropped;
    KUGEL_TRY(sift(q, &dropped));
    if (!dropped)
      break;
    for (int k = 0; k < 3; k++)
      KUGEL_TRY(settle(q));
  }
  return KUGEL_OK;
}

/* ---- results ------------------------------------------------------------------------------------------- */

static kugel_status background(const clean *q, kugel_source *out, const source *s)
{
  int64_t count, n = 0;
  KUGEL_TRY(list_disc(q, s->c, 1.5 * q->j->o.fwhm, &count));
  for (int64_t i = 0; i < count; i++) {
    double v[3], value = q->j->map[q->j->pixel[i]];
    if (kugel__bad_pixel(value))
      continue;
    KUGEL_TRY(kugel_healpix_pix2vec(q->j->ctx, q->j->o.nside, KUGEL_ORDER_RING, 1, q->j->pixel + i, v));
    double d = between(s->c, v) / out->fwhm;
    q->j->value[n++] = value - out->peak * exp(-4 * M_LN2 * d * d);
  }
  out->background = n ? kugel__select(q->j->value, n, n / 2) : 0;
  return KUGEL_OK;
}

static kugel_status results(const clean *q, kugel_source **out, int64_t *n)
{
  KUGEL_ALLOC(q->j->ctx, *out, (size_t)(q->n + 1) * sizeof **out);
  for (int64_t k = 0; k < q->n; k++) {
    const source *s = q->list + k;
    if (s->gone)
      continue;
    kugel_source *o = *out + (*n)++;
    double w = q->j->o.fwhm * pow(2, s->u), area = M_PI * w * w / (4 * M_LN2),
           snr = fmax(peak_of(q, s), s->seen) / q->rest.rms;
    *o = (kugel_source){.theta = atan2(hypot(s->c[0], s->c[1]), s->c[2]),
                        .phi = fmod(atan2(s->c[1], s->c[0]) + 2 * M_PI, 2 * M_PI),
                        .snr = snr,
                        .peak = s->height,
                        .fwhm = w,
                        .flux = s->height * area,
                        .position_error = 1 / (snr * kugel__sources_curvature(&q->im, s->u)),
                        .peak_error = q->rest.rms / kugel__sources_image_at(&q->im, s->u, 0),
                        .pixel = s->pixel,
                        .flags = s->u != 0 ? KUGEL_SOURCE_EXTENDED : 0};
    double wide = s->u != 0 ? 3 / snr : 0; /* of the area */
    o->fwhm_error = w * wide / 2;
    o->flux_error = o->flux * hypot(1 / snr, wide);
    KUGEL_TRY(background(q, o, s));
  }
  if (*n)
    qsort(*out, (size_t)*n, sizeof **out, kugel__sources_falling);
  return KUGEL_OK;
}

kugel_status kugel__sources_clean(kugel__hunt *j, kugel_source **out, int64_t *n)
{
  clean q = {.j = j, .rest = *j};
  int64_t npix = kugel_healpix_npix(j->o.nside);
  *out = NULL;
  *n = 0;
  kugel_status s = kugel__sources_image_make(j, &q.im);
  if (!s)
    s = kugel__sources_room(j, fmax(1.5 * j->o.fwhm, (double)q.im.n * q.im.step));
  if (!s && !(q.left = kugel__alloc(j->ctx, (size_t)npix * 8)))
    s = KUGEL_FAIL(KUGEL_ENOMEM, "no memory for a map of %lld pixels", (long long)npix);
  for (int64_t i = 0; i < npix && !s; i++)
    q.left[i] = kugel__bad_pixel(j->filtered[i]) ? KUGEL_UNSEEN : j->filtered[i] / q.im.peak;
  q.rest.filtered = q.left;
  q.rest.rms = j->rms / q.im.peak;
  if (!s)
    s = hunt(&q);
  if (!s)
    s = results(&q, out, n);
  kugel__free(j->ctx, q.list);
  kugel__free(j->ctx, q.left);
  kugel__free(j->ctx, j->pixel);
  kugel__free(j->ctx, q.im.t);
  return s;
}
