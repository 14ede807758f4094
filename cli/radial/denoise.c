/* SPDX-License-Identifier: BSD-3-Clause */
/* Noise of a map as its scales see it, and what remains of a scale without it.
 *
 * A scale is the map times window w_l, that is, convolved with K = sum_l (2l + 1) / 4 pi w_l P_l. Noise that
 * does not correlate between pixels, of rms s_p, has there the variance
 *     sum_p (K(n, p) W)^2 s_p^2 = W^2 N (K^2 * s^2), W = 4 pi / N the solid angle of a pixel,
 * for equal s: W s^2 sum_l (2l + 1) / 4 pi w_l^2; noise of spectrum N_l has sum_l (2l + 1) / 4 pi N_l w_l^2.
 * What is above lmax is the map less its convolution with K of w = 1: (1 - 2p) s_p^2 + the same sum, where
 * p = (lmax + 1)^2 / N is W K(0). */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "radial/denoise.h"
#include "radial/filters.h"
#include "common/report.h"

void noise_free(noise_model *m)
{
  free(m->map);
  free(m->cl);
}

bool is_seen(double v)
{
  return isfinite(v) && fabs(v / KUGEL_UNSEEN - 1) > 1e-5;
}

/* ---- what the user gives ------------------------------------------------------------------------------- */

/* "uK_CMB" -> 1e-6 and "K": the prefix of a unit and the rest, without what follows "_", "," or a space. */
static double unit_prefix(const char *unit, char base[16])
{
  static const struct {
    const char *text;
    double value;
  } prefixes[] = {{"n", 1e-9}, {"u", 1e-6}, {"\xc2\xb5", 1e-6}, {"\xce\xbc", 1e-6},
                  {"m", 1e-3}, {"k", 1e3},  {"M", 1e6},         {"G", 1e9}};
  double value = 1;
  for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
    size_t n = strlen(prefixes[i].text);
    if (!strncmp(unit, prefixes[i].text, n) && isalpha((unsigned char)unit[n])) {
      value = prefixes[i].value;
      unit += n;
      break;
    }
  }
  size_t n = strcspn(unit, "_, (");
  n = n < 15 ? n : 15;
  memcpy(base, unit, n);
  base[n] = 0;
  return value;
}

static int read_level(noise_model *m, const char *text, const char *unit)
{
  char *end, mine[16], base[16];
  m->level = strtod(text, &end);
  if (end == text || !(m->level > 0) || !isfinite(m->level))
    return fail_usage(
        "--noise is '%s', must be a number above 0: the rms of the noise of a pixel, such as 30uK", text);
  while (*end == ' ')
    end++;
  if (!*end || !strcmp(end, unit))
    return EXIT_DONE;
  double by = unit_prefix(end, mine);
  if (!unit[0])
    return fail_usage("--noise is '%s', but the map has no unit: give the number alone", text);
  by /= unit_prefix(unit, base);
  if (strcmp(mine, base))
    return fail_usage("--noise is '%s', but the map is in %s: give it in that unit", text, unit);
  m->level *= by;
  return EXIT_DONE;
}

static int read_map(noise_model *m, const sky *s, const char *path)
{
  const double *map = s->maps;
  STEP(mask_read(path, s->nside, KUGEL_ORDER_RING, &m->map));
  for (int64_t i = 0; i < s->npix; i++)
    if (is_seen(map[i]) && (!is_seen(m->map[i]) || m->map[i] < 0))
      return fail(
          "%s has %g in pixel %lld (RING), where the map is observed: the rms of noise must be 0 or more",
          path, m->map[i], (long long)i);
  return EXIT_DONE;
}

static int read_cl(noise_model *m, const char *path)
{
  kugel_cl_info info;
  LIB(kugel_cl_inspect(NULL, path, &info));
  m->lmax = info.lmax;
  m->cl = malloc((size_t)(m->lmax + 1) * sizeof *m->cl);
  if (!m->cl)
    return fail("no memory for a spectrum of lmax %lld", (long long)m->lmax);
  LIB(kugel_cl_read(NULL, path, 0, 1, m->lmax, m->cl));
  for (int64_t l = 0; l <= m->lmax; l++)
    if (!(m->cl[l] >= 0) || !isfinite(m->cl[l]))
      return fail("%s has %g at multipole %lld: a spectrum must be 0 or more", path, m->cl[l], (long long)l);
  return EXIT_DONE;
}

int noise_thresholds(noise_model *m, const char *list)
{
  m->n_threshold = 1;
  m->threshold[0] = m->rule == SHRINK_SOFT ? 1.5 : m->rule == SHRINK_HARD ? 3 : 4;
  if (!list)
    return EXIT_DONE;
  m->n_threshold = 0;
  for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
    char *end;
    double v = strtod(at, &end);
    if (end == at || (*end && *end != ',') || !(v >= 0 && v <= 1000) || m->n_threshold == MAX_SCALES)
      return fail_usage("--threshold is '%s', must be up to %d numbers of 0 to 1000 with commas between",
                        list, MAX_SCALES);
    m->threshold[m->n_threshold++] = v;
  }
  return EXIT_DONE;
}

int noise_read(noise_model *m, const sky *s, const char *level, const char *map, const char *cl)
{
  const char *unit = s->described[0].unit;
  m->estimated = !level && !map && !cl;
  if (map)
    STEP(read_map(m, s, map));
  if (cl)
    STEP(read_cl(m, cl));
  if (level)
    STEP(read_level(m, level, unit));
  if (level)
    fact("noise", "rms %.4g %s per pixel, white", m->level, unit);
  if (!m->estimated && !level)
    fact("noise", "%s: %s", map ? "rms of each pixel" : "spectrum", map ? map : cl);
  json_text("noise_model", level ? "level" : map ? "map" : cl ? "spectrum" : "estimated");
  return EXIT_DONE;
}

static int ascending(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* 1.4826 times the median of |map|, over at most some 2^18 pixels. */
static int robust_rms(const double *map, const double *seen, int64_t npix, double *rms)
{
  int64_t step = npix / (1 << 18) + 1, n = 0;
  OWNED double *v = malloc((size_t)(npix / step + 1) * sizeof *v);
  if (!v)
    return fail("no memory to measure the noise");
  for (int64_t i = 0; i < npix; i += step)
    if (is_seen(seen[i]))
      v[n++] = fabs(map[i]);
  if (!n)
    return fail("the map has no observed pixel: there is nothing to take noise from");
  qsort(v, (size_t)n, sizeof *v, ascending);
  *rms = 1.4826 * v[n / 2];
  return EXIT_DONE;
}

/* The part of a pixel's white noise that multipoles to lmax hold. */
static double part_below(int64_t nside, int64_t lmax)
{
  return fmin(1, (double)(lmax + 1) * (double)(lmax + 1) / (12.0 * (double)nside * (double)nside));
}

int noise_estimate(noise_model *m, int64_t nside, int64_t lmax, const double *map, const double *rest)
{
  double whole = 0;
  STEP(robust_rms(map, map, 12 * nside * nside, &whole));
  STEP(robust_rms(rest, rest, 12 * nside * nside, &m->level));
  m->level /= sqrt(1 - part_below(nside, lmax));
  if (m->level < 1e-4 * whole) { /* the analysis itself leaves some 1e-5 */
    m->level = 0;
    fact("noise", "none given, and none seen above multipole %lld: the map is kept", (long long)lmax);
  } else {
    fact("noise",
         "none given; rms %.4g per pixel by what is above multipole %lld, if that is white noise alone",
         m->level, (long long)lmax);
  }
  json_number("noise_estimated", m->level);
  return EXIT_DONE;
}

/* ---- variance of a scale ------------------------------------------------------------------------------- */

/* sum_l (2l + 1) / 4 pi w_l^2 N_l: the variance of noise of that spectrum, which goes on as it ends; cl NULL:
 * N_l = W, white noise of rms 1 in a pixel. */
static double variance_within(const scale *c, const double *cl, int64_t top)
{
  double sum = 0, white = 4 * M_PI / (12.0 * (double)c->nside * (double)c->nside);
  for (int64_t l = 0; l <= c->lmax; l++) {
    double w = c->window ? c->window[l] : 1;
    sum += (double)(2 * l + 1) / (4 * M_PI) * w * w * (cl ? cl[l < top ? l : top] : white);
  }
  return sum;
}

/* Above lmax a spectrum goes on as it ends. */
static double spectrum_above(const noise_model *m, const scale *c)
{
  double sum = 0, modes = 12.0 * (double)c->nside * (double)c->nside - pow((double)(c->lmax + 1), 2);
  int64_t l = c->lmax + 1;
  for (; l <= m->lmax && modes > 0; l++) {
    double n = fmin(modes, (double)(2 * l + 1));
    sum += n * m->cl[l];
    modes -= n;
  }
  return (sum + fmax(modes, 0) * m->cl[m->lmax]) / (4 * M_PI);
}

/* The Legendre coefficients [2 lmax + 1] of K^2 by Gauss's rule, which is exact. */
static int square_series(const scale *c, double *b)
{
  GRID kugel_grid *grid = NULL;
  int64_t n = 2 * c->lmax + 1;
  LIB(kugel_grid_create(
      NULL,
      &(kugel_grid_opts){.size = sizeof(kugel_grid_opts), .kind = KUGEL_GRID_GAUSS, .ntheta = n, .nphi = 1},
      &grid));
  OWNED double *theta = malloc((size_t)(2 * n) * sizeof *theta);
  if (!theta)
    return fail("no memory for %lld nodes", (long long)n);
  double *weight = theta + n;
  LIB(kugel_grid_rings(grid, theta, NULL, NULL, NULL, weight));
  memset(b, 0, (size_t)n * sizeof *b);
  for (int64_t i = 0; i < n; i++) {
    double x = cos(theta[i]), k = 0;
    for (int pass = 0; pass < 2; pass++) {
      double p0 = 0, p1 = 1;
      for (int64_t l = 0; l <= (pass ? 2 : 1) * c->lmax; l++) {
        if (pass)
          b[l] += weight[i] * k * k * p1;
        else
          k += (double)(2 * l + 1) / (4 * M_PI) * (c->window ? c->window[l] : 1) * p1;
        double p2 = ((double)(2 * l + 1) * x * p1 - (double)l * p0) / (double)(l + 1);
        p0 = p1;
        p1 = p2;
      }
    }
  }
  return EXIT_DONE;
}

/* Convolves with a plan of these options, dividing by what the observed pixels make of 1. */
static int mean_about(kugel_radial_opts o, int64_t nside, double *map)
{
  GRID kugel_grid *grid = NULL;
  RADIAL kugel_radial *plan = NULL;
  STEP(healpix_grid(nside, &grid));
  o.size = sizeof o;
  o.grid = grid;
  o.normalise_mask = 1;
  o.tolerance = 1e-3;
  LIB(kugel_radial_create(run.ctx, &o, &plan));
  const kugel_array *a = KUGEL_ARRAY(map, KUGEL_F64, 12 * nside * nside);
  LIB(kugel_radial_execute(plan, a, a, NULL));
  return EXIT_DONE;
}

static int variance_of(const noise_model *m, const scale *c, double *v)
{
  int64_t npix = 12 * c->nside * c->nside;
  double below = part_below(c->nside, c->lmax), all = c->rest ? 1 - below : variance_within(c, NULL, 0);
  if (!m->map) {
    double one = m->cl ? (c->rest ? spectrum_above(m, c) : variance_within(c, m->cl, m->lmax))
                       : all * m->level * m->level;
    for (int64_t i = 0; i < npix; i++)
      v[i] = one;
    return EXIT_DONE;
  }
  OWNED double *b = malloc((size_t)(2 * c->lmax + 1) * sizeof *b);
  if (!b)
    return fail("no memory for a spectrum of lmax %lld", (long long)(2 * c->lmax));
  for (int64_t i = 0; i < npix; i++)
    v[i] = !is_seen(c->seen[i]) ? KUGEL_UNSEEN : m->map[i] * m->map[i];
  STEP(square_series(c, b));
  double total = c->rest ? below : all;
  STEP(mean_about((kugel_radial_opts){.kernel = KUGEL_RADIAL_SERIES, .n = 2 * c->lmax + 1, .values = b},
                  c->nside, v));
  for (int64_t i = 0; i < npix; i++)
    if (is_seen(v[i]))
      v[i] = fmax(0, total * v[i]) + (c->rest ? fmax(0, 1 - 2 * below) * m->map[i] * m->map[i] : 0);
  return EXIT_DONE;
}

/* ---- rules --------------------------------------------------------------------------------------------- */

/* v^2 over variance, at most t^2, as the mean over some thirty independent values of the scale. */
static int local_power(const scale *c, const double *v, const double *variance, double t, double *power)
{
  int64_t npix = 12 * c->nside * c->nside;
  for (int64_t i = 0; i < npix; i++)
    power[i] = !is_seen(c->seen[i]) || !is_seen(variance[i]) ? KUGEL_UNSEEN
               : variance[i] > 0                             ? fmin(t * t, v[i] * v[i] / variance[i])
                                                             : t * t;
  double width = fmin(6 / c->centre, 1) * sqrt(8 * M_LN2);
  return mean_about((kugel_radial_opts){.kernel = KUGEL_RADIAL_GAUSSIAN, .width = width}, c->nside, power);
}

/* The factor for a value q times the noise's rms, where the mean of q^2 about it is `power`. */
static double factor(shrink_rule rule, double q, double t, double power)
{
  if (rule == SHRINK_SOFT)
    return q > t ? 1 - t / q : 0;
  if (q >= t || rule == SHRINK_HARD)
    return q >= t;
  return power > 1 ? 1 - 1 / power : 0;
}

int noise_remove(const noise_model *m, const scale *c, double *values, double *removed)
{
  int64_t npix = 12 * c->nside * c->nside, n = 0;
  int at = (int)(c->number < m->n_threshold ? c->number - 1 : m->n_threshold - 1);
  double t = m->threshold[at], kept = 0, rms = 0, noise = 0;
  OWNED double *variance = malloc((size_t)(2 * npix) * sizeof *variance);
  if (!variance)
    return fail("no memory for two maps of %lld pixels", (long long)npix);
  double *power = variance + npix;
  STEP(variance_of(m, c, variance));
  STEP(robust_rms(values, c->seen, npix, &rms));
  if (m->rule == SHRINK_ADAPTIVE)
    STEP(local_power(c, values, variance, t, power));
  for (int64_t i = 0; i < npix; i++) {
    removed[i] = 0;
    if (!is_seen(c->seen[i]) || !is_seen(variance[i]))
      continue; /* what the mask's edge makes of the scale beyond it */
    double q = variance[i] > 0 ? fabs(values[i]) / sqrt(variance[i]) : INFINITY;
    double g = factor(m->rule, q, t, m->rule == SHRINK_ADAPTIVE && is_seen(power[i]) ? power[i] : 0);
    removed[i] = (1 - g) * values[i];
    values[i] *= g;
    kept += g;
    noise += variance[i];
    n++;
  }
  kept /= (double)n;
  noise = sqrt(noise / (double)n);
  json_object(NULL);
  json_int("scale", c->number);
  json_number("multipole", c->centre);
  json_number("noise", noise);
  json_number("rms", rms);
  json_number("threshold", t);
  json_number("kept", kept);
  json_end();
  fact(c->number == 1 ? "scales" : "", "%s %.0f: noise %.4g, rms %.4g, %.3g%% kept",
       c->rest ? "above" : "about", c->rest ? (double)c->lmax : c->centre, noise, rms, 100 * kept);
  return EXIT_DONE;
}
