/* SPDX-License-Identifier: BSD-3-Clause */
/* kugel spectra: bandpowers of masked maps. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "batch/each.h"
#include "commands.h"
#include "map/missing.h"
#include "map/npymap.h"
#include "map/picture.h"
#include "map/skyops.h"
#include "spectra/fields.h"

#define SPECTRA_OPTIONS(X)                                                                                   \
  X(input, 0, ARG_OPERAND, "INPUT", NULL, 1, MANY, "HEALPix map (FITS, NPY)")                                \
  X(output, 0, ARG_OPERAND, "OUTPUT", NULL, 1, 1, "bandpowers as comma-separated text")                      \
  X(cross, 'x', ARG_INPUT, "FILE", NULL, 0, 0, "a second map of the same nside: cross spectra")              \
  X(mask, 'k', ARG_INPUT, "FILE", NULL, 0, 0,                                                                \
    "weights of the pixels; when not given, 1 where the maps are seen")                                      \
  X(apodise, 'a', ARG_ANGLE, "ANGLE", NULL, 1e-6, M_PI,                                                      \
    "first let the mask fall smoothly to 0 over this angle at its edges")                                    \
  X(window, 0, ARG_CHOICE, "c1|c2|gauss", "c1", 0, 0, "the function by which it falls, see docs/spectra.md") \
  X(width, 0, ARG_INT, "N", "30", 1, 1e6, "degrees of a band, from 2 on")                                    \
  X(edges, 0, ARG_INPUT, "FILE", NULL, 0, 0,                                                                 \
    "instead of --width: text with the first degree of each band, and that after the last")                  \
  X(dl, 0, ARG_FLAG, NULL, NULL, 0, 0, "bandpowers of l(l+1) C_l / 2 pi")                                    \
  X(lmax, 'l', ARG_INT, "N", NULL, 2, 1e5, "highest degree; 2 nside when not given")                         \
  X(lmax_mask, 0, ARG_INT, "N", NULL, 0, 1e5, "highest degree of the mask; 3 nside - 1 when not given")      \
  X(beam, 'b', ARG_ANGLE, "ANGLE", "0deg", 0, M_PI, "FWHM of the map's Gaussian beam, which is divided out") \
  X(cross_beam, 0, ARG_ANGLE, "ANGLE", NULL, 0, M_PI, "that of the second map; when not given, the same")    \
  X(pixwin, 0, ARG_FLAG, NULL, NULL, 0, 0, "divide out the window of the pixels")                            \
  X(pure, 0, ARG_CHOICE, "none|e|b|eb", "none", 0, 0,                                                        \
    "components of polarisation to which the other does not leak at the mask's edge; needs an apodised "     \
    "mask")                                                                                                  \
  X(beyond_mask, 0, ARG_FLAG, NULL, NULL, 0, 0,                                                              \
    "with --pure: use the map where the mask is 0 too, where it is good; purer, if nothing bright is there") \
  X(errors, 'e', ARG_FLAG, NULL, NULL, 0, 0,                                                                 \
    "also standard deviations of Gaussian fields with the spectra of these maps, signal and noise")          \
  X(iter, 'i', ARG_INT, "N", "3", 0, 1000, "refinements of each analysis")                                   \
  X(weights, 'w', ARG_CHOICE, "equal|ring|pixel", "equal", 0, 0, "quadrature weights")                       \
  X(columns, 'c', ARG_TEXT, "LIST", NULL, 0, 0,                                                              \
    "one column, or three that are I, Q, U; I, Q, U where there are such, else the first")                   \
  X(windows, 0, ARG_OUTPUT, "FILE", NULL, 0, 0,                                                              \
    "also write the windows of the bandpowers, NPY [spectra, bands, spectra, lmax + 1]; one column only")    \
  X(plot, 'p', ARG_OUTPUT, "FILE", NULL, 0, 0,                                                               \
    "also draw TT, or TT, EE, BB and TE, as PNG; with --errors, error bars")                                 \
  SHT_DEVICE_OPTIONS(X)                                                                                      \
  NPY_OPTIONS(X)                                                                                             \
  EACH_OPTIONS(X, ".csv")

OPTIONS(spectra, SPECTRA_OPTIONS);

static void plan_close(kugel_spectra **plan)
{
  kugel_spectra_destroy(*plan);
}
#define PLAN __attribute__((cleanup(plan_close))) kugel_spectra

static int prepare(const spectra_args *o, const char *path, sky *s)
{
  STEP(sky_open(s, path, o->columns.s, true));
  if (!s->polarised && s->n > 1)
    return fail_usage("--columns %s: needs one column, or three that are I, Q, U",
                      o->columns.s ? o->columns.s : "all");
  if (run.dry_run)
    return EXIT_DONE;
  STEP(sky_read(s, KUGEL_ORDER_RING, true));
  return sky_observed(s);
}

static bool seen(const sky *s, int64_t i)
{
  for (int64_t c = 0; c < s->n; c++) {
    double v = ((const double *)s->maps)[c * s->npix + i];
    if (!isfinite(v) || fabs(v / KUGEL_UNSEEN - 1) < 1e-5)
      return false;
  }
  return true;
}

/* The mask as given, 0 where a map has no value and where itself is unseen; apodised. */
static int make_mask(const spectra_args *o, const sky *one, const sky *two, survey *s)
{
  if (o->mask.given)
    STEP(mask_read(o->mask.s, s->nside, KUGEL_ORDER_RING, &s->mask));
  else if (!(s->mask = malloc(sizeof *s->mask * (size_t)one->npix)))
    return fail("no memory for a mask of %lld pixels", (long long)one->npix);
  double sum = 0;
  int64_t lost = 0;
  for (int64_t i = 0; i < one->npix; i++) {
    double w = o->mask.given ? s->mask[i] : 1;
    bool good = isfinite(w) && fabs(w / KUGEL_UNSEEN - 1) > 1e-5 && w != 0,
         there = seen(one, i) && (!two->maps || seen(two, i));
    lost += good && !there;
    s->mask[i] = good && there ? w : 0;
    sum += fabs(s->mask[i]);
  }
  if (!(sum > 0))
    return fail("the mask leaves no pixel of %s", o->input.s);
  if (o->mask.given && lost)
    fact("unseen", "%lld pixels inside of the mask, which becomes 0 there", (long long)lost);
  json_int("unseen_in_mask", o->mask.given ? lost : 0);
  if (o->apodise.given) {
    kugel_apodise_opts a = {
        .size = sizeof a, .nside = s->nside, .kind = (kugel_apodisation)o->window.n, .radius = o->apodise.x};
    LIB(kugel_apodise(NULL, &a, s->mask, s->mask));
    sum = 0;
    for (int64_t i = 0; i < one->npix; i++)
      sum += fabs(s->mask[i]);
    if (!(sum > 0))
      return fail("--apodise %s: no pixel is so far from the mask's edge", o->apodise.s);
  }
  fact("mask", "%.2f %% of the sky", 100 * sum / (double)one->npix);
  json_number("sky_fraction", sum / (double)one->npix);
  return EXIT_DONE;
}

typedef struct result {
  int n;
  const char *name[MOST_SPECTRA];
  double *value[MOST_SPECTRA], *error[MOST_SPECTRA];
  double block[]; /* [MOST_SPECTRA + 1][2][bands] */
} result;

static int write_windows(const char *path, const kugel_spectra *plan, const survey *s)
{
  kugel_spectra_info info = {.size = sizeof info};
  LIB(kugel_spectra_get_info(plan, &info));
  OWNED double *window =
      malloc(sizeof *window * (size_t)(info.spectra * info.spectra * s->bands * (s->lmax + 1)));
  if (!window)
    return fail("no memory for windows");
  LIB(kugel_spectra_windows(plan, window));
  LIB(kugel_npy_write(NULL, path, run.overwrite,
                      KUGEL_ARRAY(window, KUGEL_F64, info.spectra, s->bands, info.spectra, s->lmax + 1)));
  return EXIT_DONE;
}

/* Pairs of fields: all of one map with themselves, EB once; or those of the first with those of the second. */
static int make_pairs(const spectra_args *o, const survey *s, result *r)
{
  int half = o->cross.given ? s->n / 2 : s->n;
  double condition = 0, tail = 0;
  for (int i = 0; i < half; i++)
    for (int j = o->cross.given ? half : i; j < s->n; j++) {
      PLAN *plan = NULL;
      const char *names[4];
      double *value = r->block + 2 * r->n * s->bands, lo = 0.6 + 0.4 * r->n / MOST_SPECTRA;
      int n = pair_names(s, i, j, names);
      OWNED double *both = malloc(sizeof *both * 8 * (size_t)s->bands);
      if (!both)
        return fail("no memory for bandpowers");
      progress_part(lo, lo + 0.4 * n / MOST_SPECTRA, "couplings");
      STEP(survey_pair(s, i, j, both, o->errors.given ? both + n * s->bands : NULL, &plan));
      kugel_spectra_info info = {.size = sizeof info};
      LIB(kugel_spectra_get_info(plan, &info));
      condition = fmax(condition, info.condition);
      tail = fmax(tail, info.mask_tail);
      for (int k = 0; k < n; k++) {
        if (i == j && k == 2) /* BE is EB */
          continue;
        r->name[r->n] = names[k];
        r->value[r->n] = value;
        r->error[r->n++] = o->errors.given ? value + s->bands : NULL;
        memcpy(value, both + k * s->bands, sizeof *value * (size_t)s->bands);
        if (o->errors.given)
          memcpy(value + s->bands, both + (n + k) * s->bands, sizeof *value * (size_t)s->bands);
        value += 2 * s->bands;
      }
      if (o->windows.given)
        STEP(write_windows(o->windows.s, plan, s));
    }
  json_number("condition", condition);
  json_number("mask_tail", tail);
  fact("bands", "%lld to lmax %lld, condition number %.3g", (long long)s->bands, (long long)s->lmax,
       condition);
  if (tail > 1e-3)
    say("  note     %.1f %% of the mask's power is in the last tenth of its degrees to %lld: apodise it, or "
        "raise --lmax-mask; "
        "the highest bands may be biased\n",
        100 * tail, (long long)s->lmax_mask);
  return EXIT_DONE;
}

static int draw(const spectra_args *o, const survey *s, const result *r, const char *unit)
{
  static const char *const order[] = {"TT", "EE", "BB", "TE"};
  const char *names[4];
  char squared[96] = "";
  OWNED double *block = malloc(sizeof *block * (size_t)(10 * s->bands));
  if (!block)
    return fail("no memory for a picture of %lld bands", (long long)s->bands);
  double *ends = block, *value = block + 2 * s->bands, *error = value + 4 * s->bands;
  for (int64_t l = s->lmax; l >= 0; l--)
    if (s->band[l] >= 0)
      ends[2 * s->band[l]] = (double)l;
  for (int64_t l = 0; l <= s->lmax; l++)
    if (s->band[l] >= 0)
      ends[2 * s->band[l] + 1] = (double)l;
  int n = 0;
  for (int k = 0; k < 4; k++)
    for (int i = 0; i < r->n; i++)
      if (!strcmp(r->name[i], order[k])) {
        memcpy(value + n * s->bands, r->value[i], sizeof *value * (size_t)s->bands);
        if (o->errors.given)
          memcpy(error + n * s->bands, r->error[i], sizeof *value * (size_t)s->bands);
        names[n++] = order[k];
      }
  if (*unit)
    snprintf(squared, sizeof squared, "%.80s^2", unit);
  const char *title = o->errors.given ? "Bandpowers, with one standard deviation each way" : "Bandpowers";
  return spectra_picture(o->plot.s,
                         &(kugel_plot_cl_opts){.size = sizeof(kugel_plot_cl_opts),
                                               .raw = !o->dl.given,
                                               .unit = squared,
                                               .title = title,
                                               .names = names,
                                               .bands = s->bands,
                                               .band_ends = ends,
                                               .band_values = value,
                                               .band_errors = o->errors.given ? error : NULL},
                         n, s->lmax, NULL);
}

static int spectra(const void *args)
{
  const spectra_args *o = args;
  SKY one = {0}, two = {0};
  SURVEY s = {0};
  stopwatch watch = stopwatch_start();
  if (!run.dry_run) {
    STEP(check_output(o->output.s));
    if (o->windows.given)
      STEP(check_output(o->windows.s));
    if (o->plot.given)
      STEP(check_output(o->plot.s));
  }
  if (o->width.given && o->edges.given)
    return fail_usage("give one of --width and --edges");
  STEP(sky_open(&one, o->input.s, o->columns.s, true));
  s.nside = one.nside;
  s.lmax = o->lmax.given ? o->lmax.n : 2 * s.nside;
  s.lmax_mask = o->lmax_mask.given ? o->lmax_mask.n : 3 * s.nside - 1;
  s.iterations = o->iter.n;
  s.weights = o->weights.n;
  s.pure_e = o->pure.n & 1;
  s.pure_b = o->pure.n >> 1;
  s.beyond_mask = o->beyond_mask.given;
  bool polarised = one.polarised;
  report_title(o->input.s, o->output.s);
  report_sky(&one);
  json_int("lmax", s.lmax);
  report_beyond(s.nside, s.lmax);
  if (o->pure.n && !polarised)
    return fail_usage("--pure %s: %s has no polarisation", o->pure.s, o->input.s);
  if (o->windows.given && polarised)
    return fail_usage("--windows: of one column only; give --columns, or use Python");
  if (o->beyond_mask.given && !o->pure.n)
    return fail_usage("--beyond-mask needs --pure");
  if (o->cross_beam.given && !o->cross.given)
    return fail_usage("--cross-beam needs --cross");
  STEP(session_device(&o->device, &o->mem));
  STEP(survey_bands(&s, o->width.n, o->edges.s, o->dl.given));
  json_int("bands", s.bands);
  double transforms = (double)(o->cross.given ? 2 : 1) * (polarised ? 3 : 1) + 1, l = (double)s.lmax;
  if (run.dry_run) {
    double seconds;
    STEP(sht_seconds(s.nside, s.lmax, s.lmax, KUGEL_SHT_SCALAR, transforms * (double)(1 + 2 * o->iter.n),
                     &seconds));
    return report_plan(24 * transforms * (double)one.npix + 8 * l * (double)s.bands * 4 + BASE_MEMORY,
                       seconds + (polarised ? 1.2e-10 : 2e-11) * l * l * l / kugel_get_num_threads());
  }
  progress_costs(COST_READ * transforms * (double)one.npix,
                 transforms * (1 + 2 * (double)o->iter.n) *
                         sht_cost((double)one.npix, s.lmax, s.lmax, false) +
                     0.1 * l * l * l,
                 0);
  sky_close(&one);
  STEP(prepare(o, o->input.s, &one));
  if (o->cross.given) {
    STEP(prepare(o, o->cross.s, &two));
    if (two.nside != one.nside || two.n != one.n)
      return fail("%s has nside %lld and %lld columns in use, but %s has %lld and %lld; they must agree",
                  o->cross.s, (long long)two.nside, (long long)two.n, o->input.s, (long long)one.nside,
                  (long long)one.n);
  }
  stopwatch_lap(&watch, "read");
  progress_part(0, 0.1, "mask");
  STEP(make_mask(o, &one, &two, &s));
  progress_part(0.1, 0.2, "mask");
  STEP(survey_mask(&s, o->errors.given));
  progress_part(0.2, o->cross.given ? 0.4 : 0.6, "analysis");
  STEP(survey_add(&s, &one, o->beam.x, o->pixwin.given));
  if (o->cross.given) {
    progress_part(0.4, 0.6, "analysis");
    STEP(survey_add(&s, &two, o->cross_beam.given ? o->cross_beam.x : o->beam.x, o->pixwin.given));
  }
  stopwatch_lap(&watch, "analysis");
  OWNED result *r = calloc(1, sizeof *r + sizeof(double) * (size_t)(2 * (MOST_SPECTRA + 1) * s.bands));
  if (!r)
    return fail("no memory for bandpowers");
  STEP(make_pairs(o, &s, r));
  stopwatch_lap(&watch, "bandpowers");
  json_array("spectra");
  for (int i = 0; i < r->n; i++)
    json_text(NULL, r->name[i]);
  json_end();
  if (interrupted())
    return fail_interrupted();
  kugel_status status = kugel_bandpowers_write(
      NULL, o->output.s,
      &(kugel_bandpowers_opts){.size = sizeof(kugel_bandpowers_opts),
                               .overwrite = run.overwrite,
                               .lmax = s.lmax,
                               .bands = s.bands,
                               .band = s.band,
                               .spectra = r->n,
                               .names = r->name,
                               .values = (const double *const *)r->value,
                               .errors = o->errors.given ? (const double *const *)r->error : NULL});
  if (status != KUGEL_OK)
    return fail_library(status, o->output.s);
  if (o->plot.given)
    STEP(draw(o, &s, r, one.described[0].unit));
  stopwatch_lap(&watch, "write");
  report_end(&watch, 0);
  return EXIT_DONE;
}

const command command_spectra = {
    .name = "spectra",
    .summary = "power spectra of masked maps: bandpowers without the mask's bias",
    .about = "Estimates power spectra in bands of degrees from maps that do not cover the sky: TT of one "
             "column, or TT, TE, TB, EE, EB, "
             "BB of I, Q, U. The mask's coupling of degrees, and beam and pixels if asked to, are undone; "
             "noise is not subtracted, "
             "which the cross spectrum of two maps with independent noise does not need. Columns of the "
             "output: band, its first and last "
             "degree, their mean, and each spectrum.",
    .examples = "kugel spectra sky.fits bands.csv --mask mask.fits --apodise 2deg --width 30 --beam 10arcmin "
                "--pixwin\n"
                "kugel spectra half1.fits bands.csv --cross half2.fits --mask mask.fits --errors --dl\n"
                "kugel spectra iqu.fits bands.csv --mask mask.fits --apodise 5deg --pure b --edges edges.txt",
    .options = spectra_options,
    .n_options = sizeof spectra_options / sizeof spectra_options[0],
    .run = spectra,
};
