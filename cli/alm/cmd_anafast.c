/* SPDX-License-Identifier: BSD-3-Clause */
/* kugel anafast: power spectra of one map, or of two. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "alm/alms.h"
#include "batch/each.h"
#include "commands.h"
#include "map/missing.h"
#include "map/npymap.h"
#include "map/picture.h"
#include "map/skyops.h"

#define ANAFAST_OPTIONS(X)                                                                                   \
  X(input, 0, ARG_OPERAND, "INPUT", NULL, 1, MANY, "HEALPix map (FITS, NPY)")                                \
  X(output, 0, ARG_OPERAND, "OUTPUT", NULL, 1, 1,                                                            \
    "power spectra: a FITS table, or text if it ends in .txt, .dat or .csv")                                 \
  X(cross, 'x', ARG_INPUT, "FILE", NULL, 0, 0, "a second map of the same nside: cross spectra")              \
  X(mask, 'k', ARG_INPUT, "FILE", NULL, 0, 0,                                                                \
    "mask by which the maps are multiplied; its zeros count as unseen")                                      \
  X(remove, 'r', ARG_CHOICE, "nothing|monopole|dipole", "nothing", 0, 0,                                     \
    "fit and remove the mean (monopole), or mean and dipole, of the seen pixels of T")                       \
  X(gal_cut, 0, ARG_ANGLE, "ANGLE", "0deg", 0, M_PI / 2,                                                     \
    "with --remove: fit only where the latitude exceeds this")                                               \
  X(lmax, 'l', ARG_INT, "N", NULL, 0, 1e6, "highest multipole; 3 nside - 1 when not given")                  \
  X(iter, 'i', ARG_INT, "N", "3", 0, 1000, "refinements of the analysis")                                    \
  X(tolerance, 0, ARG_REAL, "X", NULL, 1e-15, 0.5,                                                           \
    "refine until a refinement changes the coefficients by no more than this share, instead of --iter "      \
    "times")                                                                                                 \
  X(weights, 'w', ARG_CHOICE, "equal|ring|pixel", "equal", 0, 0, "quadrature weights")                       \
  X(columns, 'c', ARG_TEXT, "LIST", NULL, 0, 0,                                                              \
    "one column, or three that are I, Q, U; I, Q, U where there are such, else the first")                   \
  X(no_pol, 0, ARG_FLAG, NULL, NULL, 0, 0, "the spectrum of the first column only")                          \
  X(alm, 0, ARG_OUTPUT, "FILE", NULL, 0, 0, "also write the coefficients of the first map")                  \
  X(plot, 'p', ARG_OUTPUT, "FILE", NULL, 0, 0,                                                               \
    "also draw l(l+1) C_l / 2 pi of TT, or TT, EE, BB and TE, as PNG")                                       \
  NPY_OPTIONS(X)                                                                                             \
  SHT_DEVICE_OPTIONS(X)                                                                                      \
  EACH_OPTIONS(X, NULL)

OPTIONS(anafast, ANAFAST_OPTIONS);

/* Masked pixels become unseen, so that the fit of monopole and dipole leaves them out; other weights
 * multiply. */
static int apply_mask(sky *s, const double *mask)
{
  double *maps = s->maps;
  for (int64_t c = 0; c < s->n; c++)
    for (int64_t i = 0; i < s->npix; i++) {
      double *x = &maps[c * s->npix + i];
      bool bad = !isfinite(*x) || fabs(*x / KUGEL_UNSEEN - 1) < 1e-5;
      bool cut = !isfinite(mask[i]) || mask[i] == 0 || fabs(mask[i] / KUGEL_UNSEEN - 1) < 1e-5;
      *x = bad || cut ? KUGEL_UNSEEN : *x * mask[i];
    }
  return EXIT_DONE;
}

/* Opens, reads, masks and cleans one map. */
static int prepare(const anafast_args *o, const char *path, const double *mask, sky *s)
{
  STEP(sky_open(s, path, o->columns.s, !o->no_pol.given));
  if (!s->polarised && s->n > 1) {
    if (o->columns.given && !o->no_pol.given)
      return fail_usage("--columns %s: needs one column, or three that are I, Q, U", o->columns.s);
    s->n = 1;
  }
  if (run.dry_run)
    return EXIT_DONE;
  STEP(sky_read(s, KUGEL_ORDER_RING, true));
  STEP(sky_observed(s));
  report_missing(s, "they count as zero");
  if (mask) {
    STEP(apply_mask(s, mask));
    STEP(sky_observed_by(s, o->mask.s));
  }
  if (o->remove.n)
    STEP(sky_remove(s, o->remove.n == 2, o->gal_cut.x));
  return EXIT_DONE;
}

static int analyse(const anafast_args *o, const sky *s, int64_t lmax, double lo, double hi, alms *a)
{
  SHT kugel_sht *plan = NULL;
  double started = weights_begin(o->weights.n, lo, hi);
  STEP(sky_plan(s, lmax, o->weights.n, o->tolerance.given ? 0 : o->iter.n, &plan));
  STEP(alms_make(a, s->n, lmax, lmax));
  progress_part(weights_end(o->weights.n, started, lo, hi), hi, "analysis");
  return alms_analyse(plan, KUGEL_ARRAY(s->maps, s->dtype, s->n, s->npix), o->tolerance.x, a);
}

static int write_spectra(const anafast_args *o, const sky *s, const alms *a, const alms *b)
{
  int64_t n = a->n == 3 ? 6 : 1;
  OWNED double *cl = calloc((size_t)(n * (a->lmax + 1)), sizeof *cl);
  char unit[96] = "";
  const char *units[6], *line = history_line();
  static const char *const names[] = {"TT", "EE", "BB", "TE", "EB", "TB"};
  bool text = path_ends_with(o->output.s, ".txt") || path_ends_with(o->output.s, ".dat") ||
              path_ends_with(o->output.s, ".csv");
  if (!cl)
    return fail("no memory for %lld spectra", (long long)n);
  STEP(alms_spectra(a, b, cl));
  if (s->described[0].unit[0])
    snprintf(unit, sizeof unit, "%s^2", s->described[0].unit);
  for (int i = 0; i < 6; i++)
    units[i] = unit;
  json_int("spectra", n);
  if (interrupted())
    return fail_interrupted();
  kugel_status status = kugel_cl_write(NULL, o->output.s,
                                       &(kugel_fits_write_opts){.size = sizeof(kugel_fits_write_opts),
                                                                .overwrite = run.overwrite,
                                                                .names = text ? names : NULL,
                                                                .units = units,
                                                                .history = &line,
                                                                .nhistory = 1},
                                       n, a->lmax, cl);
  if (status != KUGEL_OK)
    return fail_library(status, o->output.s);
  const kugel_plot_cl_opts look = {
      .size = sizeof look, .unit = unit, .title = n > 1 ? "Power spectra" : "Power spectrum"};
  return o->plot.given ? spectra_picture(o->plot.s, &look, n, a->lmax, cl) : EXIT_DONE;
}

static int report_start(const anafast_args *o, const sky *s, int64_t lmax)
{
  report_title(o->input.s, o->output.s);
  report_sky(s);
  if (o->cross.given)
    fact("cross", "%s", o->cross.s);
  if (o->mask.given)
    fact("mask", "%s", o->mask.s);
  json_int("lmax", lmax);
  report_beyond(s->nside, lmax);
  json_int("iterations", o->iter.n);
  json_text("weights", o->weights.s);
  if (o->tolerance.given)
    fact("transform", "lmax %lld, %s weights, refined to %.3g", (long long)lmax, o->weights.s,
         o->tolerance.x);
  else
    fact("transform", "lmax %lld, %s weights, %lld iterations", (long long)lmax, o->weights.s,
         (long long)o->iter.n);
  return EXIT_DONE;
}

static int anafast(const void *args)
{
  const anafast_args *o = args;
  SKY s = {0}, s2 = {0};
  ALMS a = {0}, b = {0};
  OWNED double *mask = NULL;
  stopwatch watch = stopwatch_start();
  if (!run.dry_run) {
    STEP(check_output(o->output.s));
    if (o->alm.given)
      STEP(check_output(o->alm.s));
    if (o->plot.given)
      STEP(check_output(o->plot.s));
  }
  STEP(sky_open(&s, o->input.s, o->columns.s, !o->no_pol.given));
  int64_t lmax = o->lmax.given ? o->lmax.n : 3 * s.nside - 1, nside = s.nside;
  double maps = o->cross.given ? 2 : 1;
  if (o->plot.given && lmax < 1)
    return fail_usage("--plot needs an lmax of at least 1");
  if (!s.polarised)
    s.n = 1;
  if (o->tolerance.given && o->iter.given)
    return fail_usage("give one of --tolerance and --iter");
  STEP(report_start(o, &s, lmax));
  STEP(session_device(&o->device, &o->mem));
  if (run.dry_run) {
    double seconds, n = s.polarised ? 3 : 1;
    STEP(sht_seconds(s.nside, lmax, lmax, s.polarised ? KUGEL_SHT_TEB : KUGEL_SHT_SCALAR,
                     maps * (double)(1 + 2 * o->iter.n), &seconds));
    return report_plan(maps * n * (8 * (double)s.npix + 16 * (double)kugel_alm_count(lmax, lmax)) +
                           8 * n * (double)s.npix + BASE_MEMORY,
                       seconds);
  }
  if (o->mask.given)
    STEP(mask_read(o->mask.s, nside, KUGEL_ORDER_RING, &mask));
  progress_costs(COST_READ * (double)(s.n * s.npix),
                 (maps * (1 + 2 * (double)o->iter.n) * sht_cost((double)s.npix, lmax, lmax, s.n == 3) +
                  weights_cost(o->weights.n, nside)) /
                     kugel_get_num_threads(),
                 0);
  sky_close(&s);
  STEP(prepare(o, o->input.s, mask, &s));
  stopwatch_lap(&watch, "read");
  STEP(analyse(o, &s, lmax, 0, 1 / maps, &a));
  if (o->cross.given) {
    STEP(prepare(o, o->cross.s, mask, &s2));
    if (s2.nside != nside || s2.n != s.n)
      return fail("%s has nside %lld and %lld columns in use, but %s has %lld and %lld; they must agree",
                  o->cross.s, (long long)s2.nside, (long long)s2.n, o->input.s, (long long)nside,
                  (long long)s.n);
    STEP(analyse(o, &s2, lmax, 0.5, 1, &b));
  }
  stopwatch_lap(&watch, "analysis");
  STEP(write_spectra(o, &s, &a, o->cross.given ? &b : &a));
  if (o->alm.given)
    STEP(alms_write(o->alm.s, &a, s.info, s.described[0].unit, NULL, false));
  stopwatch_lap(&watch, "write");
  report_end(&watch, 0);
  return EXIT_DONE;
}

const command command_anafast = {
    .name = "anafast",
    .summary = "power spectra of a map, or of two",
    .about = "Computes C_l: TT of one column, or TT, EE, BB, TE, EB, TB of I, Q, U. Unseen and masked "
             "pixels count as zero; spectra are not corrected for them, nor for beam or pixels.",
    .examples = "kugel anafast sky.fits cl.fits --plot cl.png\n"
                "kugel anafast sky.fits cl.txt --lmax 512 --mask mask.fits --remove dipole\n"
                "kugel anafast year1.fits cl.fits --cross year2.fits --weights pixel --iter 0",
    .options = anafast_options,
    .n_options = sizeof anafast_options / sizeof anafast_options[0],
    .run = anafast,
};
