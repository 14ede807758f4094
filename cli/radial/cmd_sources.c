/* SPDX-License-Identifier: BSD-3-Clause */
/* kugel sources: a catalogue of the peaks of a filtered map. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "batch/each.h"
#include "commands.h"
#include "radial/filters.h"
#include "map/npymap.h"
#include "map/picture.h"

#define SOURCES_OPTIONS(X)                                                                                   \
  X(input, 0, ARG_OPERAND, "INPUT", NULL, 1, MANY, "HEALPix map (FITS, NPY)")                                \
  X(output, 0, ARG_OPERAND, "OUTPUT", NULL, 1, 1,                                                            \
    "catalogue: text with commas between, or a FITS table if the name ends in .fits")                        \
  X(fwhm, 'f', ARG_ANGLE, "ANGLE", NULL, 1e-6, 1, "full width at half maximum of a source in the map")       \
  X(threshold, 't', ARG_REAL, "N", "5", 0.1, 1e6, "lowest peak, in units of the filtered map's rms")         \
  X(kernel, 'k', ARG_CHOICE, "mexican-hat|matched|none", "mexican-hat", 0, 0,                                \
    "filter before peaks are sought; matched takes the map's own spectrum for the noise's")                  \
  X(mask, 0, ARG_INPUT, "FILE", NULL, 0, 0, "leave out peaks where this map is 0 or unseen")                 \
  X(fixed_fwhm, 0, ARG_FLAG, NULL, NULL, 0, 0, "do not fit widths")                                          \
  X(coord, 0, ARG_TEXT, "LETTERS", NULL, 0, 0,                                                               \
    "positions in these systems too: G, E and C for Galactic, ecliptic and equatorial, such as GC")          \
  X(columns, 'c', ARG_TEXT, "LIST", "0", 0, 0, "the column, by name or number")                              \
  X(filtered, 0, ARG_OUTPUT, "FILE", NULL, 0, 0, "also write the filtered map")                              \
  X(plot, 'p', ARG_OUTPUT, "FILE", NULL, 0, 0, "also draw the filtered map as PNG, sources circled")         \
  CUT_OPTIONS(X)                                                                                             \
  MAP_OUTPUT_OPTIONS(X)                                                                                      \
  SHT_DEVICE_OPTIONS(X)                                                                                      \
  EACH_OPTIONS(X, ".csv")

OPTIONS(sources, SOURCES_OPTIONS);

static int hide(sky *s, const char *path)
{
  OWNED double *mask = NULL;
  STEP(mask_read(path, s->nside, KUGEL_ORDER_RING, &mask));
  double *map = s->maps;
  for (int64_t i = 0; i < s->npix; i++)
    if (!isfinite(mask[i]) || mask[i] == 0 || fabs(mask[i] / KUGEL_UNSEEN - 1) < 1e-5)
      map[i] = KUGEL_UNSEEN;
  return EXIT_DONE;
}

/* Catalogue and picture. */
static int give(const sources_args *o, const sky *s, const sky *filtered, const kugel_source *list, int64_t n)
{
  const char *system = s->info->coordsys;
  bool known = system[0] && !system[1] && strchr("GEC", system[0]);
  LIB(kugel_sources_write(NULL, o->output.s,
                          &(kugel_catalogue_opts){.size = sizeof(kugel_catalogue_opts),
                                                  .overwrite = run.overwrite,
                                                  .coordsys = known ? system[0] : 0,
                                                  .coords = o->coord.s,
                                                  .unit = s->described[0].unit,
                                                  .history = history_line()},
                          n, list));
  if (!o->plot.given)
    return EXIT_DONE;
  OWNED double *at = malloc((size_t)(2 * n + 1) * sizeof *at);
  if (!at)
    return fail("no memory for %lld sources", (long long)n);
  for (int64_t i = 0; i < n; i++) {
    at[i] = list[i].theta;
    at[n + i] = list[i].phi;
  }
  return picture_marked(o->plot.s, filtered, "filtered", n, at, at + n);
}

static void say_sources(const sources_args *o, const sky *s, const kugel_source *list, int64_t n)
{
  const char *unit = s->described[0].unit;
  json_int("sources", n);
  fact("found", "%lld source%s above %g sigma", (long long)n, n == 1 ? "" : "s", o->threshold.x);
  for (int64_t i = 0; i < n && i < 3; i++)
    fact(i ? "" : "highest",
         "%.1f sigma at longitude %.3f, latitude %.3f deg: peak %.4g +- %.2g%s%s, fwhm %.3g arcmin",
         list[i].snr, list[i].phi * 180 / M_PI, 90 - list[i].theta * 180 / M_PI, list[i].peak,
         list[i].peak_error, unit[0] ? " " : "", unit, list[i].fwhm * 180 * 60 / M_PI);
}

/* `kernel` [lmax + 1]: coefficients of the filter, NULL: there is none. */
static int find(const sources_args *o, const sky *s, const sky *filtered, const double *kernel, int64_t lmax)
{
  kugel_sources_opts opts = {.size = sizeof opts,
                             .nside = s->nside,
                             .fwhm = o->fwhm.x,
                             .threshold = o->threshold.x,
                             .fixed_fwhm = o->fixed_fwhm.given,
                             .kernel_lmax = lmax,
                             .kernel = kernel};
  int64_t n = 0, room = 1000;
  OWNED kugel_source *list = NULL;
  do {
    free(list);
    room = n > room ? n : room;
    list = malloc((size_t)room * sizeof *list);
    if (!list)
      return fail("no memory for %lld sources", (long long)room);
    LIB(kugel_sources_find(NULL, &opts, s->maps, filtered->maps, room, list, &n));
  } while (n > room);
  say_sources(o, s, list, n);
  return give(o, s, filtered, list, n);
}

/* By harmonics with refined analysis: sums over pixels lose some per cent of narrow kernels at the poles. */
static int convolve_exactly(sky *s, const double *kernel)
{
  GRID kugel_grid *grid = NULL;
  STEP(healpix_grid(s->nside, &grid));
  const kugel_array *map = KUGEL_ARRAY(s->maps, KUGEL_F64, 1, s->npix);
  progress_part(0.3, 1, "filter");
  LIB(kugel_smooth(run.ctx,
                   &(kugel_smooth_opts){.size = sizeof(kugel_smooth_opts),
                                        .grid = grid,
                                        .lmax = 2 * s->nside,
                                        .n_window = 2 * s->nside + 1,
                                        .window = kernel,
                                        .iterations = 3},
                   map, map, NULL));
  return EXIT_DONE;
}

/* The map filtered, in `filtered`, and the filter's coefficients. */
static int filter_copy(const sources_args *o, const sky *s, sky *filtered, double *kernel, int64_t *lmax)
{
  filter f = {.kernel = o->kernel.n ? KUGEL_RADIAL_SERIES : KUGEL_RADIAL_MEXICAN_HAT,
              .width = o->fwhm.x / sqrt(8 * M_LN2),
              .fwhm = o->fwhm.x,
              .radius = o->radius.x,
              .cut_rms = o->cut_rms.x,
              .lmax = o->kernel.n ? 2 * s->nside : 0};
  RADIAL kugel_radial *plan = NULL;
  memcpy(filtered->maps, s->maps, (size_t)s->npix * 8);
  if (o->kernel.n == 2)
    return EXIT_DONE;
  STEP(filter_plan(&f, s, &plan));
  LIB(kugel_radial_coefficients(plan, 4 * s->nside, kernel));
  double pixels = o->fwhm.x / sqrt(4 * M_PI / (double)s->npix);
  bool harmonic = o->kernel.n || (pixels > 2.5 && pixels < 8);
  *lmax = (harmonic ? 2 : 4) * s->nside;
  return harmonic ? convolve_exactly(filtered, kernel) : sky_convolve(filtered, plan, 0, filtered->n, 1);
}

static int sources(const void *args)
{
  const sources_args *o = args;
  SKY s = {0};
  stopwatch watch = stopwatch_start();
  if (!o->fwhm.given)
    return fail_usage("give --fwhm, the width of a source in the map, such as --fwhm 10arcmin");
  if (o->radius.given && o->cut_rms.given)
    return fail_usage("give one of --radius and --cut-rms");
  if (o->kernel.n && (o->radius.given || o->cut_rms.given))
    return fail_usage("--radius and --cut-rms end the Mexican hat: they do not go with --kernel %s",
                      o->kernel.s);
  STEP(sky_open(&s, o->input.s, o->columns.s, false));
  s.n = 1;
  report_title(o->input.s, o->output.s);
  report_sky(&s);
  STEP(session_device(&o->device, &o->mem));
  if (run.dry_run)
    return filter_estimate(&(filter){.kernel = KUGEL_RADIAL_SERIES}, &s, 0);
  STEP(check_output(o->output.s));
  if (o->filtered.given)
    STEP(check_output(o->filtered.s));
  if (o->plot.given)
    STEP(check_output(o->plot.s));
  STEP(sky_read(&s, KUGEL_ORDER_RING, true));
  STEP(sky_observed(&s));
  stopwatch_lap(&watch, "read");
  OWNED double *copy = malloc((size_t)s.npix * 8);
  if (!copy)
    return fail("no memory for a map of %lld pixels", (long long)s.npix);
  sky filtered = s;
  filtered.maps = copy;
  OWNED double *kernel = malloc((size_t)(4 * s.nside + 1) * 8);
  if (!kernel)
    return fail("no memory for a filter of lmax %lld", (long long)(4 * s.nside));
  int64_t lmax = 0;
  STEP(filter_copy(o, &s, &filtered, kernel, &lmax));
  if (o->mask.given) {
    STEP(hide(&filtered, o->mask.s));
    STEP(sky_observed_by(&filtered, o->mask.s));
  }
  stopwatch_lap(&watch, "filter");
  STEP(find(o, &s, &filtered, o->kernel.n == 2 ? NULL : kernel, lmax));
  stopwatch_lap(&watch, "find");
  if (o->filtered.given) {
    if (output_nested(o->filtered.s, &filtered, NULL))
      STEP(sky_reorder(&filtered, KUGEL_ORDER_NESTED));
    output out = output_like(&filtered);
    STEP(output_write(o->filtered.s, &out));
  }
  report_end(&watch, (double)(2 * s.npix * 8));
  return EXIT_DONE;
}

const command command_sources = {
    .name = "sources",
    .summary = "find point sources and write a catalogue",
    .about =
        "Filters a HEALPix map and takes the sources out of it, brightest first: each is fitted by the image "
        "of "
        "a source under the filter and taken off, with its sidelobes, before the next is sought; neighbours "
        "are "
        "fitted together. The catalogue has positions in degrees in the map's coordinates, peak over rms, "
        "height, width, flux (the map's unit times steradian) and background, standard deviations, the pixel "
        "and "
        "flags: 1 another source within 2 FWHM, 2 unseen pixels within one, 4 a pole within one, 8 the width "
        "was "
        "fitted. The rms is 1.4826 times the median deviation from the median.",
    .examples = "kugel sources sky.fits sources.csv --fwhm 10arcmin\n"
                "kugel sources sky.fits sources.csv --fwhm 10arcmin --kernel matched --threshold 4\n"
                "kugel sources sky.fits sources.fits --fwhm 10arcmin --coord C\n"
                "kugel sources sky.fits sources.csv --fwhm 10arcmin --mask mask.fits --plot filtered.png",
    .options = sources_options,
    .n_options = sizeof sources_options / sizeof sources_options[0],
    .run = sources,
};
