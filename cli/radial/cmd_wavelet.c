/* SPDX-License-Identifier: BSD-3-Clause */
/* kugel wavelet: scales of a map, noise taken from them, and the map again.
 *
 * Cosine needlets, r to an octave: window j is cos(pi/2 x), x = r log2(l / centre_j), for |x| < 1, with
 * centres 2^(1/r) apart; the first is 1 below its centre, the last 1 above. Their squares sum to 1, so that
 * analysis and synthesis with the same windows give back all multipoles to lmax. What is above lmax, the map
 * less that, is one scale more where noise is taken off. */
#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "batch/each.h"
#include "commands.h"
#include "map/npymap.h"
#include "map/picture.h"
#include "map/skyops.h"
#include "radial/denoise.h"

#define WAVELET_OPTIONS(X)                                                                                   \
  X(input, 0, ARG_OPERAND, "INPUT", NULL, 1, MANY, "HEALPix map (FITS, NPY)")                                \
  X(output, 0, ARG_OPERAND, "OUTPUT", NULL, 1, 1, "the map put together again (FITS, NPY)")                  \
  X(denoise, 'd', ARG_FLAG, NULL, NULL, 0, 0,                                                                \
    "take noise off all scales but the coarsest; given by one of the next three, else estimated")            \
  X(noise, 0, ARG_TEXT, "X", NULL, 0, 0, "rms of the noise of a pixel, white, such as 30uK")                 \
  X(noise_map, 0, ARG_INPUT, "FILE", NULL, 0, 0, "map of the rms of each pixel's noise")                     \
  X(noise_cl, 0, ARG_INPUT, "FILE", NULL, 0, 0,                                                              \
    "spectrum C_l of the noise in the map (FITS or text); it goes on as it ends")                            \
  X(rule, 0, ARG_CHOICE, "adaptive|hard|soft", "adaptive", 0, 0,                                             \
    "adaptive: multiply by 1 - noise / power about each place, and keep values above the threshold; hard: "  \
    "keep values above the threshold; soft: and take the threshold off them")                                \
  X(threshold, 't', ARG_TEXT, "LIST", NULL, 0, 0,                                                            \
    "in units of the scale's noise; 4, with hard 3, with soft 1.5 when not given. Several with commas "      \
    "between, coarse to fine, the last for all finer scales")                                                \
  X(scales, 's', ARG_INT, "N", NULL, 2, MAX_SCALES, "number of scales; down to multipole 8 when not given")  \
  X(per_octave, 0, ARG_INT, "N", NULL, 1, 8, "scales per octave; 1, with --denoise 2, when not given")       \
  X(coefficients, 0, ARG_OUTPUT, "FILE", NULL, 0, 0, "also write the scales, a column each, coarsest first") \
  X(lmax, 'l', ARG_INT, "N", NULL, 4, 1e6, "highest multipole; 2 nside when not given")                      \
  X(iter, 'i', ARG_INT, "N", "3", 0, 1000, "refinements of the analysis")                                    \
  X(columns, 'c', ARG_TEXT, "LIST", "0", 0, 0, "the column, by name or number")                              \
  X(order, 'o', ARG_CHOICE, "input|ring|nested", "input", 0, 0, "ordering of the output")                    \
  X(plot, 'p', ARG_OUTPUT, "FILE", NULL, 0, 0, "also draw the result as PNG")                                \
  MAP_OUTPUT_OPTIONS(X)                                                                                      \
  SHT_DEVICE_OPTIONS(X)                                                                                      \
  EACH_OPTIONS(X, NULL)

OPTIONS(wavelet, WAVELET_OPTIONS);

typedef struct bank {
  int64_t n, lmax;
  double octave; /* scales in it */
  double top;    /* centre of the last window */
} bank;

static double centre_of(const bank *b, int64_t j)
{
  return b->top / pow(2, (double)(b->n - 1 - j) / b->octave);
}

static double window(const bank *b, int64_t j, double l)
{
  double x = l > 0 ? b->octave * log2(l / centre_of(b, j)) : -INFINITY;
  if ((j == 0 && x <= 0) || (j == b->n - 1 && x >= 0))
    return 1;
  return fabs(x) < 1 ? cos(M_PI / 2 * x) : 0;
}

static int64_t coefficient(int64_t lmax, int64_t l, int64_t m)
{
  return m * (2 * lmax + 1 - m) / 2 + l;
}

/* The highest multipole that window j sees. */
static int64_t reach(const bank *b, int64_t j)
{
  double end = centre_of(b, j) * pow(2, 1 / b->octave);
  return j == b->n - 1 || end >= (double)b->lmax ? b->lmax : (int64_t)end + 1;
}

/* A window [to low] of a as coefficients to `low`; and back, times the window once more, added to a. */
static void take(const alms *a, const double *w, int64_t low, double _Complex *out)
{
  for (int64_t m = 0; m <= low; m++)
    for (int64_t l = m; l <= low; l++)
      out[coefficient(low, l, m)] = w[l] * a->data[coefficient(a->lmax, l, m)];
}

static void add(alms *a, const double *w, int64_t low, const double _Complex *in)
{
  for (int64_t m = 0; m <= low; m++)
    for (int64_t l = m; l <= low; l++)
      a->data[coefficient(a->lmax, l, m)] += w[l] * in[coefficient(low, l, m)];
}

/* Memory of one run. */
typedef struct bench {
  alms a, part, sum;
  double *map, *rest, *removed, *w; /* one scale; the map less its harmonics; noise; a window */
  kugel_sht *plan;
  double mean; /* of the map, which has none while noise is taken off: no step at a mask's edge */
} bench;

static void bench_free(bench *t)
{
  alms_close(&t->a);
  alms_close(&t->part);
  alms_close(&t->sum);
  free(t->map);
  kugel_sht_destroy(t->plan);
}

static int bench_make(const wavelet_args *o, const bank *b, const sky *s, bench *t)
{
  t->map = malloc((size_t)(3 * s->npix + b->lmax + 1) * sizeof *t->map);
  if (!t->map)
    return fail("no memory for three maps of %lld pixels", (long long)s->npix);
  t->rest = t->map + s->npix;
  t->removed = t->rest + s->npix;
  t->w = t->removed + s->npix;
  STEP(sky_plan(s, b->lmax, 0, o->iter.n, &t->plan));
  STEP(alms_make(&t->a, 1, b->lmax, b->lmax));
  STEP(alms_make(&t->part, 1, b->lmax, b->lmax));
  STEP(alms_make(&t->sum, 1, b->lmax, b->lmax));
  memset(t->sum.data, 0, (size_t)t->sum.count * sizeof *t->sum.data);
  return EXIT_DONE;
}

static void take_mean(const sky *s, bench *t)
{
  double sum = 0, *map = s->maps;
  int64_t n = 0;
  for (int64_t i = 0; i < s->npix; i++)
    if (is_seen(map[i])) {
      sum += map[i];
      n++;
    }
  t->mean = n ? sum / (double)n : 0;
  for (int64_t i = 0; i < s->npix; i++)
    if (is_seen(map[i]))
      map[i] -= t->mean;
}

/* Coefficients of the map, and what they do not hold of it: UNSEEN where it is. */
static int analyse(const sky *s, bench *t, bool rest)
{
  const kugel_array *a = KUGEL_ARRAY(t->a.data, KUGEL_C128, 1, t->a.count);
  progress_part(0, 0.2, "analysis");
  LIB(kugel_sht_analysis(t->plan, KUGEL_ARRAY(s->maps, KUGEL_F64, 1, s->npix), a, NULL));
  if (!rest)
    return EXIT_DONE;
  LIB(kugel_sht_synthesis(t->plan, a, KUGEL_ARRAY(t->rest, KUGEL_F64, 1, s->npix), NULL));
  const double *map = s->maps;
  for (int64_t i = 0; i < s->npix; i++)
    t->rest[i] = is_seen(map[i]) ? map[i] - t->rest[i] : KUGEL_UNSEEN;
  return EXIT_DONE;
}

/* Scale j as a map, if anybody wants it, without its noise; and its part of the sum. */
static int pass_scale(const wavelet_args *o, const bank *b, const sky *s, const noise_model *noise, int64_t j,
                      bench *t, double *to)
{
  SHT kugel_sht *plan = NULL;
  int64_t low = reach(b, j);
  bool clean = noise && j;
  const kugel_array *f = KUGEL_ARRAY(to ? to : t->map, KUGEL_F64, 1, s->npix),
                    *part = KUGEL_ARRAY(t->part.data, KUGEL_C128, 1, kugel_alm_count(low, low));
  for (int64_t l = 0; l <= low; l++)
    t->w[l] = window(b, j, (double)l);
  take(&t->a, t->w, low, t->part.data);
  if (to || clean) {
    STEP(sky_plan(s, low, 0, o->iter.n, &plan));
    LIB(kugel_sht_synthesis(plan, part, f, NULL));
  }
  if (clean) { /* what is taken off goes into the sum */
    const scale c = {.number = j,
                     .nside = s->nside,
                     .lmax = low,
                     .centre = centre_of(b, j),
                     .window = t->w,
                     .seen = s->maps};
    STEP(noise_remove(noise, &c, f->data, t->removed));
    LIB(kugel_sht_analysis(plan, KUGEL_ARRAY(t->removed, KUGEL_F64, 1, s->npix), part, NULL));
  }
  if (clean || !noise)
    add(&t->sum, t->w, low, t->part.data);
  return EXIT_DONE;
}

/* The sum of the scales into the map; or, with noise, the map less what was taken off the scales and off what is
 * above them, so that what is kept is kept to the last bit. */
static int put_together(sky *s, bench *t, bool noise)
{
  progress_part(0.9, 1, "synthesis");
  LIB(kugel_sht_synthesis(t->plan, KUGEL_ARRAY(t->sum.data, KUGEL_C128, 1, t->a.count),
                          KUGEL_ARRAY(t->map, KUGEL_F64, 1, s->npix), NULL));
  double change = 0, size = 0, *before = s->maps;
  for (int64_t i = 0; i < s->npix; i++)
    if (is_seen(before[i])) {
      double v = noise ? before[i] - t->map[i] - t->removed[i] : t->map[i];
      change += (v - before[i]) * (v - before[i]);
      size += before[i] * before[i];
      before[i] = v + t->mean;
    }
  json_number("change", size > 0 ? sqrt(change / size) : 0);
  fact("change", "rms %.3g of the map's", size > 0 ? sqrt(change / size) : 0);
  return EXIT_DONE;
}

/* Analysis; each scale in turn as a map, without its noise, back into coefficients; synthesis. `noise` NULL:
 * none is taken off. */
static int decompose(const wavelet_args *o, const bank *b, sky *s, noise_model *noise, double *scales)
{
  __attribute__((cleanup(bench_free))) bench t = {0};
  STEP(bench_make(o, b, s, &t));
  if (noise)
    take_mean(s, &t);
  STEP(analyse(s, &t, noise));
  if (noise && noise->estimated)
    STEP(noise_estimate(noise, s->nside, b->lmax, s->maps, t.rest));
  if (noise)
    json_array("scales_rms");
  for (int64_t j = 0; j < b->n; j++) {
    progress_part(0.2 + 0.7 * (double)j / (double)b->n, 0.2 + 0.7 * (double)(j + 1) / (double)b->n, "scales");
    STEP(pass_scale(o, b, s, noise, j, &t, scales ? scales + j * s->npix : NULL));
  }
  if (noise) {
    const scale above = {.number = b->n,
                         .nside = s->nside,
                         .lmax = b->lmax,
                         .centre = (double)b->lmax,
                         .rest = true,
                         .seen = s->maps};
    STEP(noise_remove(noise, &above, t.rest, t.removed));
    json_end();
  }
  return put_together(s, &t, noise);
}

static int write_scales(const wavelet_args *o, const bank *b, const sky *s, double *scales)
{
  char names[MAX_COLUMNS][32];
  output out = output_like(s);
  out.n = b->n;
  out.maps = scales;
  out.dtype = KUGEL_F64;
  for (int64_t j = 0; j < b->n; j++) {
    snprintf(names[j], sizeof names[j], "L%.0f", centre_of(b, j));
    out.names[j] = names[j];
    out.units[j] = s->described[0].unit;
  }
  return output_write(o->coefficients.s, &out);
}

static bank choose_bank(const wavelet_args *o, int64_t nside)
{
  bank b = {.lmax = o->lmax.given ? o->lmax.n : 2 * nside};
  b.octave = o->per_octave.given ? (double)o->per_octave.n : o->denoise.given ? 2 : 1;
  b.top = (double)b.lmax / pow(2, 1 / b.octave);
  b.n = o->scales.given ? o->scales.n
                        : (int64_t)fmin(MAX_SCALES, fmax(2, 1 + floor(b.octave * log2(b.top / 8) + 1e-9)));
  return b;
}

static int check_options(const wavelet_args *o, const bank *b, int64_t nside)
{
  int given = o->noise.given + o->noise_map.given + o->noise_cl.given;
  if (!o->denoise.given && (given || o->rule.given || o->threshold.given))
    return fail_usage("--noise, --noise-map, --noise-cl, --rule and --threshold go with --denoise");
  if (given > 1)
    return fail_usage("give one of --noise, --noise-map and --noise-cl");
  if (o->denoise.given && b->lmax > 3 * nside - 1)
    return fail_usage("--lmax is %lld, must be at most 3 nside - 1 = %lld with --denoise", (long long)b->lmax,
                      (long long)(3 * nside - 1));
  STEP(check_output(o->output.s));
  if (o->coefficients.given)
    STEP(check_output(o->coefficients.s));
  return o->plot.given ? check_output(o->plot.s) : EXIT_DONE;
}

static int finish(const wavelet_args *o, const bank *b, sky *s, double *scales)
{
  if (o->plot.given)
    STEP(picture_simple(o->plot.s, s, o->denoise.given ? "denoised" : "recomposed"));
  if (scales)
    STEP(write_scales(o, b, s, scales));
  if (output_nested(o->output.s, s, &o->order))
    STEP(sky_reorder(s, KUGEL_ORDER_NESTED));
  output out = output_like(s);
  return output_write(o->output.s, &out);
}

static int wavelet(const void *args)
{
  const wavelet_args *o = args;
  SKY s = {0};
  NOISE noise = {.rule = (shrink_rule)o->rule.n};
  stopwatch watch = stopwatch_start();
  STEP(sky_open(&s, o->input.s, o->columns.s, false));
  s.n = 1;
  bank b = choose_bank(o, s.nside);
  if (!run.dry_run)
    STEP(check_options(o, &b, s.nside));
  STEP(noise_thresholds(&noise, o->threshold.s));
  report_title(o->input.s, o->output.s);
  report_sky(&s);
  json_int("lmax", b.lmax);
  json_int("scales", b.n);
  fact("wavelets", "%lld scales about multipoles %.3g to %.4g", (long long)b.n, centre_of(&b, 0), b.top);
  STEP(session_device(&o->device, &o->mem));
  double maps = 8 * (double)s.npix * ((o->denoise.given ? 7 : 4) + (o->coefficients.given ? (double)b.n : 0));
  double memory = maps + 48 * (double)kugel_alm_count(b.lmax, b.lmax);
  if (run.dry_run) {
    double seconds, each = 1 + 2 * (double)o->iter.n;
    STEP(sht_seconds(s.nside, b.lmax, b.lmax, KUGEL_SHT_SCALAR, (double)b.n * (1 + each) + each + 1,
                     &seconds));
    return report_plan(memory + BASE_MEMORY, seconds);
  }
  STEP(sky_read(&s, KUGEL_ORDER_RING, true));
  STEP(sky_observed(&s));
  if (o->denoise.given)
    STEP(noise_read(&noise, &s, o->noise.s, o->noise_map.s, o->noise_cl.s));
  stopwatch_lap(&watch, "read");
  OWNED double *scales = o->coefficients.given ? malloc((size_t)(b.n * s.npix) * sizeof *scales) : NULL;
  if (o->coefficients.given && !scales)
    return fail("no memory for %lld maps of %lld pixels", (long long)b.n, (long long)s.npix);
  STEP(decompose(o, &b, &s, o->denoise.given ? &noise : NULL, scales));
  stopwatch_lap(&watch, "wavelets");
  STEP(finish(o, &b, &s, scales));
  stopwatch_lap(&watch, "write");
  report_end(&watch, memory);
  return EXIT_DONE;
}

const command command_wavelet = {
    .name = "wavelet",
    .summary = "decompose a map into scales, denoise, recompose",
    .about =
        "Decomposes a HEALPix map into spherical wavelets (cosine needlets), takes noise off each scale if "
        "asked to, and puts the map together again; without --denoise the result is the map to multipole "
        "lmax. The noise is given by its level, by a map or by a spectrum, and carried to each scale and "
        "place in closed form; when not given, the median of what is above lmax stands for it, which is "
        "right "
        "where the sky has nothing there. What is above lmax is one scale more then. The coarsest scale is "
        "kept. Unseen pixels count as zero and stay unseen.",
    .examples = "kugel wavelet sky.fits clean.fits --denoise --noise 30uK --plot clean.png\n"
                "kugel wavelet sky.fits clean.fits --denoise --noise-map rms.fits\n"
                "kugel wavelet sky.fits clean.fits --denoise --rule soft --threshold 3,2,1.5\n"
                "kugel wavelet sky.fits again.fits --coefficients scales.fits",
    .options = wavelet_options,
    .n_options = sizeof wavelet_options / sizeof wavelet_options[0],
    .run = wavelet,
};
