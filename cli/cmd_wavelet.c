/* SPDX-License-Identifier: BSD-3-Clause */
/* kugel wavelet: scales of a map, noise taken from them, and the map again.
 *
 * Cosine needlets: window j is cos(pi/2 log2(l / 2^j)) for |log2(l / 2^j)| < 1, the first is 1 below its
 * centre, the last 1 above. Their squares sum to 1, so that analysis and synthesis with the same windows
 * give back all multipoles to lmax. */
#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "commands.h"
#include "picture.h"
#include "skyops.h"

#define WAVELET_OPTIONS(X)                                                                                   \
  X(input, 0, ARG_OPERAND, "INPUT", NULL, 1, 1, "HEALPix map (FITS)")                                        \
  X(output, 0, ARG_OPERAND, "OUTPUT", NULL, 1, 1, "the map put together again (FITS)")                       \
  X(scales, 's', ARG_INT, "N", NULL, 2, 24, "number of scales; down to multipole 8 when not given")          \
  X(denoise, 'd', ARG_REAL, "N", "0", 0, 100,                                                                \
    "set values of a scale below N times its rms to zero, but for the coarsest scale")                       \
  X(soft, 0, ARG_FLAG, NULL, NULL, 0, 0, "take N times the rms off the values that remain, too")             \
  X(coefficients, 0, ARG_TEXT, "FILE", NULL, 0, 0, "also write the scales, a column each, coarsest first")   \
  X(lmax, 'l', ARG_INT, "N", NULL, 4, 1e6, "highest multipole; 2 nside when not given")                      \
  X(iter, 'i', ARG_INT, "N", "3", 0, 1000, "refinements of the analysis")                                    \
  X(columns, 'c', ARG_TEXT, "LIST", "0", 0, 0, "the column, by name or number")                              \
  X(order, 'o', ARG_CHOICE, "input|ring|nested", "input", 0, 0, "ordering of the output")                    \
  X(plot, 'p', ARG_TEXT, "FILE", NULL, 0, 0, "also draw the result as PNG")                                  \
  SHT_DEVICE_OPTIONS(X)

OPTIONS(wavelet, WAVELET_OPTIONS);

static double window(int64_t j, int64_t n, double top, double l)
{
  double x = l > 0 ? log2(l / top) + (double)(n - 1 - j) : -INFINITY;
  if ((j == 0 && x <= 0) || (j == n - 1 && x >= 0))
    return 1;
  return fabs(x) < 1 ? cos(M_PI / 2 * x) : 0;
}

static int64_t coefficient(int64_t lmax, int64_t l, int64_t m)
{
  return m * (2 * lmax + 1 - m) / 2 + l;
}

/* The highest multipole that window j sees. */
static int64_t reach(int64_t j, int64_t n, double top, int64_t lmax)
{
  double end = 2 * top / pow(2, (double)(n - 1 - j));
  return j == n - 1 || end >= (double)lmax ? lmax : (int64_t)end + 1;
}

/* Window j of a [to lmax] as coefficients to `low`; and back, times the window once more, added to a. */
static void take(const alms *a, int64_t j, int64_t n, double top, int64_t low, double _Complex *out)
{
  for (int64_t m = 0; m <= low; m++)
    for (int64_t l = m; l <= low; l++)
      out[coefficient(low, l, m)] = window(j, n, top, (double)l) * a->data[coefficient(a->lmax, l, m)];
}

static void add(alms *a, int64_t j, int64_t n, double top, int64_t low, const double _Complex *in)
{
  for (int64_t m = 0; m <= low; m++)
    for (int64_t l = m; l <= low; l++)
      a->data[coefficient(a->lmax, l, m)] += window(j, n, top, (double)l) * in[coefficient(low, l, m)];
}

static int ascending(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* 1.4826 times the median of |map|, over at most some 2^18 pixels. */
static int robust_rms(const double *map, int64_t npix, double *rms)
{
  int64_t step = npix / (1 << 18) + 1, n = 0;
  OWNED double *v = malloc((size_t)(npix / step + 1) * sizeof *v);
  if (!v)
    return fail("no memory to measure the noise");
  for (int64_t i = 0; i < npix; i += step)
    v[n++] = fabs(map[i]);
  qsort(v, (size_t)n, sizeof *v, ascending);
  *rms = 1.4826 * v[n / 2];
  return EXIT_DONE;
}

static int denoise(const wavelet_args *o, double *map, int64_t npix, int64_t j)
{
  double rms = 0, kept = 0;
  STEP(robust_rms(map, npix, &rms));
  double least = o->denoise.x * rms;
  for (int64_t i = 0; i < npix; i++) {
    double v = fabs(map[i]) - least;
    kept += v >= 0;
    map[i] = v < 0 ? 0 : o->soft.given ? copysign(v, map[i]) : map[i];
  }
  json_object(NULL);
  json_int("scale", j);
  json_number("rms", rms);
  json_number("kept", kept / (double)npix);
  json_end();
  fact(j == 1 ? "scales" : "", "%lld: rms %.4g, %.3g%% of it kept", (long long)j, rms,
       100 * kept / (double)npix);
  return EXIT_DONE;
}

typedef struct bank {
  int64_t n, lmax;
  double top; /* centre of the last window */
} bank;

/* Analysis; each scale in turn as a map, without its noise, back into coefficients; synthesis. */
static int decompose(const wavelet_args *o, const bank *b, sky *s, double *scales)
{
  SHT kugel_sht *plan = NULL;
  ALMS a = {0}, part = {0}, sum = {0};
  OWNED double *map = scales ? NULL : malloc((size_t)s->npix * sizeof *map);
  if (!scales && !map)
    return fail("no memory for a map of %lld pixels", (long long)s->npix);
  STEP(sky_plan(s, b->lmax, 0, o->iter.n, &plan));
  STEP(alms_make(&a, 1, b->lmax, b->lmax));
  STEP(alms_make(&part, 1, b->lmax, b->lmax));
  STEP(alms_make(&sum, 1, b->lmax, b->lmax));
  memset(sum.data, 0, (size_t)sum.count * sizeof *sum.data);
  const kugel_array *in = KUGEL_ARRAY(s->maps, KUGEL_F64, 1, s->npix);
  progress_part(0, 0.2, "analysis");
  LIB(kugel_sht_analysis(plan, in, KUGEL_ARRAY(a.data, KUGEL_C128, 1, a.count), NULL));
  bool thresholds = o->denoise.x > 0;
  if (thresholds)
    json_array("scales_rms");
  for (int64_t j = 0; j < b->n; j++) {
    double *to = scales ? scales + j * s->npix : map;
    int64_t low = reach(j, b->n, b->top, b->lmax);
    const kugel_array *f = KUGEL_ARRAY(to, KUGEL_F64, 1, s->npix),
                      *pa = KUGEL_ARRAY(part.data, KUGEL_C128, 1, kugel_alm_count(low, low));
    SHT kugel_sht *scale = NULL;
    STEP(sky_plan(s, low, 0, o->iter.n, &scale));
    take(&a, j, b->n, b->top, low, part.data);
    progress_part(0.2 + 0.7 * (double)j / (double)b->n, 0.2 + 0.7 * (double)(j + 1) / (double)b->n, "scales");
    if (scales || (thresholds && j))
      LIB(kugel_sht_synthesis(scale, pa, f, NULL));
    if (thresholds && j) {
      STEP(denoise(o, to, s->npix, j));
      LIB(kugel_sht_analysis(scale, f, pa, NULL));
    }
    add(&sum, j, b->n, b->top, low, part.data);
  }
  if (thresholds)
    json_end();
  progress_part(0.9, 1, "synthesis");
  OWNED double *back = malloc((size_t)s->npix * sizeof *back);
  if (!back)
    return fail("no memory for a map of %lld pixels", (long long)s->npix);
  LIB(kugel_sht_synthesis(plan, KUGEL_ARRAY(sum.data, KUGEL_C128, 1, a.count),
                          KUGEL_ARRAY(back, KUGEL_F64, 1, s->npix), NULL));
  double change = 0, size = 0, *before = s->maps;
  for (int64_t i = 0; i < s->npix; i++)
    if (isfinite(before[i]) && fabs(before[i] / KUGEL_UNSEEN - 1) > 1e-5) {
      change += (back[i] - before[i]) * (back[i] - before[i]);
      size += before[i] * before[i];
      before[i] = back[i];
    }
  json_number("change", size > 0 ? sqrt(change / size) : 0);
  fact("change", "rms %.3g of the map's", size > 0 ? sqrt(change / size) : 0);
  return EXIT_DONE;
}

static int write_scales(const wavelet_args *o, const bank *b, const sky *s, double *scales)
{
  char names[MAX_COLUMNS][32];
  output out = output_like(s);
  out.n = b->n;
  out.maps = scales;
  out.dtype = KUGEL_F64;
  for (int64_t j = 0; j < b->n; j++) {
    snprintf(names[j], sizeof names[j], "L%.0f", b->top / pow(2, (double)(b->n - 1 - j)));
    out.names[j] = names[j];
    out.units[j] = s->described[0].unit;
  }
  return output_write(o->coefficients.s, &out);
}

static int wavelet(const void *args)
{
  const wavelet_args *o = args;
  SKY s = {0};
  stopwatch watch = stopwatch_start();
  STEP(sky_open(&s, o->input.s, o->columns.s, false));
  s.n = 1;
  bank b = {.lmax = o->lmax.given ? o->lmax.n : 2 * s.nside};
  b.top = (double)b.lmax / 2;
  b.n = o->scales.given ? o->scales.n : (int64_t)fmax(2, 1 + floor(log2(b.top / 8)));
  report_title(o->input.s, o->output.s);
  report_sky(&s);
  json_int("lmax", b.lmax);
  json_int("scales", b.n);
  fact("wavelets", "%lld scales about multipoles %.3g to %.4g", (long long)b.n,
       b.top / pow(2, (double)(b.n - 1)), b.top);
  STEP(session_device(&o->device, &o->mem));
  double maps = 8 * (double)s.npix * (3 + (o->coefficients.given ? (double)b.n : 0));
  double memory = maps + 48 * (double)kugel_alm_count(b.lmax, b.lmax);
  if (run.dry_run) {
    double seconds, each = 1 + 2 * (double)o->iter.n;
    STEP(sht_seconds(s.nside, b.lmax, b.lmax, KUGEL_SHT_SCALAR, (double)b.n * (1 + each) + each + 1,
                     &seconds));
    return report_plan(memory + BASE_MEMORY, seconds);
  }
  STEP(check_output(o->output.s));
  if (o->coefficients.given)
    STEP(check_output(o->coefficients.s));
  if (o->plot.given)
    STEP(check_output(o->plot.s));
  STEP(sky_read(&s, KUGEL_ORDER_RING, true));
  stopwatch_lap(&watch, "read");
  OWNED double *scales = o->coefficients.given ? malloc((size_t)(b.n * s.npix) * sizeof *scales) : NULL;
  if (o->coefficients.given && !scales)
    return fail("no memory for %lld maps of %lld pixels", (long long)b.n, (long long)s.npix);
  STEP(decompose(o, &b, &s, scales));
  stopwatch_lap(&watch, "wavelets");
  if (o->plot.given)
    STEP(picture_simple(o->plot.s, &s, o->denoise.x > 0 ? "denoised" : "recomposed"));
  if (scales)
    STEP(write_scales(o, &b, &s, scales));
  if (o->order.n ? o->order.n == 2 : s.info->order == KUGEL_ORDER_NESTED)
    STEP(sky_reorder(&s, KUGEL_ORDER_NESTED));
  output out = output_like(&s);
  STEP(output_write(o->output.s, &out));
  stopwatch_lap(&watch, "write");
  report_end(&watch, memory);
  return EXIT_DONE;
}

const command command_wavelet = {
    .name = "wavelet",
    .summary = "decompose a map into scales, denoise, recompose",
    .about =
        "Decomposes a HEALPix map into spherical wavelets (cosine needlets, an octave of multipoles each), "
        "sets what is below a threshold to zero if asked to, and puts the map together again. Without a "
        "threshold the result is the map to multipole lmax. The rms of a scale is 1.4826 times its median "
        "absolute value. Unseen pixels count as zero and stay unseen.",
    .examples = "kugel wavelet sky.fits clean.fits --denoise 3 --plot clean.png\n"
                "kugel wavelet sky.fits again.fits --coefficients scales.fits\n"
                "kugel wavelet sky.fits clean.fits --scales 5 --denoise 2.5 --soft",
    .options = wavelet_options,
    .n_options = sizeof wavelet_options / sizeof wavelet_options[0],
    .run = wavelet,
};
