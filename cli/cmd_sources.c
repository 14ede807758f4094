/* SPDX-License-Identifier: BSD-3-Clause */
/* kugel sources: a catalogue of the peaks of a filtered map. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "commands.h"
#include "filters.h"
#include "picture.h"

#define SOURCES_OPTIONS(X)                                                                                   \
  X(input, 0, ARG_OPERAND, "INPUT", NULL, 1, 1, "HEALPix map (FITS)")                                        \
  X(output, 0, ARG_OPERAND, "OUTPUT", NULL, 1, 1, "catalogue: text with commas between, one line a source")  \
  X(fwhm, 'f', ARG_ANGLE, "ANGLE", NULL, 1e-6, 1, "full width at half maximum of a source in the map")       \
  X(threshold, 't', ARG_REAL, "N", "5", 0.1, 1e6, "lowest peak, in units of the filtered map's rms")         \
  X(kernel, 'k', ARG_CHOICE, "mexican-hat|matched|none", "mexican-hat", 0, 0,                                \
    "filter before peaks are sought; matched takes the map's own spectrum for the noise's")                  \
  X(mask, 0, ARG_TEXT, "FILE", NULL, 0, 0, "leave out peaks where this map is 0 or unseen")                  \
  X(fixed_fwhm, 0, ARG_FLAG, NULL, NULL, 0, 0, "do not fit widths")                                          \
  X(columns, 'c', ARG_TEXT, "LIST", "0", 0, 0, "the column, by name or number")                              \
  X(filtered, 0, ARG_TEXT, "FILE", NULL, 0, 0, "also write the filtered map")                                \
  X(plot, 'p', ARG_TEXT, "FILE", NULL, 0, 0, "also draw the filtered map as PNG")

OPTIONS(sources, SOURCES_OPTIONS);

static int write_lines(FILE *f, const sky *s, const kugel_source *list, int64_t n)
{
  const char *unit = s->described[0].unit[0] ? s->described[0].unit : "map unit";
  fprintf(f, "# %s\n# peak and background in %s, flux in %s sr, positions in degrees%s%s\n", history_line(),
          unit, unit, s->info->coordsys[0] ? ", " : "", coordsys_name(s->info->coordsys));
  fprintf(f, "lon,lat,snr,peak,fwhm_arcmin,flux,background\n");
  for (int64_t i = 0; i < n; i++)
    fprintf(f, "%.7f,%.7f,%.4g,%.7g,%.4f,%.7g,%.7g\n", list[i].phi * 180 / M_PI,
            90 - list[i].theta * 180 / M_PI, list[i].snr, list[i].peak, list[i].fwhm * 180 * 60 / M_PI,
            list[i].flux, list[i].background);
  return fflush(f) || ferror(f);
}

/* To a file beside it first, so that a failure leaves nothing. */
static int write_catalogue(const char *path, const sky *s, const kugel_source *list, int64_t n)
{
  char beside[4200];
  snprintf(beside, sizeof beside, "%s.%ld", path, (long)getpid());
  FILE *f = fopen(beside, "wx");
  if (!f)
    return fail("%s cannot be written: %s", beside, strerror(errno));
  int bad = write_lines(f, s, list, n);
  bad |= fclose(f) != 0;
  if (interrupted() || bad || rename(beside, path) != 0) {
    int code = interrupted() ? fail_interrupted() : fail("%s cannot be written: %s", path, strerror(errno));
    unlink(beside);
    return code;
  }
  return EXIT_DONE;
}

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

static int find(const sources_args *o, const sky *s, const sky *filtered)
{
  kugel_sources_opts opts = {.size = sizeof opts,
                             .nside = s->nside,
                             .fwhm = o->fwhm.x,
                             .threshold = o->threshold.x,
                             .fixed_fwhm = o->fixed_fwhm.given};
  int64_t n = 0;
  LIB(kugel_sources_find(NULL, &opts, s->maps, filtered->maps, 0, NULL, &n));
  OWNED kugel_source *list = malloc((size_t)(n + 1) * sizeof *list);
  if (!list)
    return fail("no memory for %lld sources", (long long)n);
  LIB(kugel_sources_find(NULL, &opts, s->maps, filtered->maps, n, list, &n));
  json_int("sources", n);
  fact("found", "%lld source%s above %g sigma", (long long)n, n == 1 ? "" : "s", o->threshold.x);
  for (int64_t i = 0; i < n && i < 3; i++)
    fact(i ? "" : "highest", "%.1f sigma at longitude %.3f, latitude %.3f deg: peak %.4g, fwhm %.3g arcmin",
         list[i].snr, list[i].phi * 180 / M_PI, 90 - list[i].theta * 180 / M_PI, list[i].peak,
         list[i].fwhm * 180 * 60 / M_PI);
  return write_catalogue(o->output.s, s, list, n);
}

static int filter_copy(const sources_args *o, const sky *s, sky *filtered)
{
  filter f = {.kernel = o->kernel.n ? KUGEL_RADIAL_SERIES : KUGEL_RADIAL_MEXICAN_HAT,
              .width = o->fwhm.x / sqrt(8 * M_LN2),
              .fwhm = o->fwhm.x,
              .lmax = o->kernel.n ? 2 * s->nside : 0};
  RADIAL kugel_radial *plan = NULL;
  memcpy(filtered->maps, s->maps, (size_t)s->npix * 8);
  if (o->kernel.n == 2)
    return EXIT_DONE;
  STEP(filter_plan(&f, s, &plan));
  return sky_convolve(filtered, plan, 0, filtered->n, 1);
}

static int sources(const void *args)
{
  const sources_args *o = args;
  SKY s = {0};
  stopwatch watch = stopwatch_start();
  if (!o->fwhm.given)
    return fail_usage("give --fwhm, the width of a source in the map, such as --fwhm 10arcmin");
  STEP(sky_open(&s, o->input.s, o->columns.s, false));
  s.n = 1;
  report_title(o->input.s, o->output.s);
  report_sky(&s);
  if (run.dry_run)
    return filter_estimate(&(filter){0}, &s, 0);
  STEP(check_output(o->output.s));
  if (o->filtered.given)
    STEP(check_output(o->filtered.s));
  if (o->plot.given)
    STEP(check_output(o->plot.s));
  STEP(sky_read(&s, KUGEL_ORDER_RING, true));
  stopwatch_lap(&watch, "read");
  OWNED double *copy = malloc((size_t)s.npix * 8);
  if (!copy)
    return fail("no memory for a map of %lld pixels", (long long)s.npix);
  sky filtered = s;
  filtered.maps = copy;
  STEP(filter_copy(o, &s, &filtered));
  if (o->mask.given)
    STEP(hide(&filtered, o->mask.s));
  stopwatch_lap(&watch, "filter");
  STEP(find(o, &s, &filtered));
  stopwatch_lap(&watch, "find");
  if (o->plot.given)
    STEP(picture_simple(o->plot.s, &filtered, "filtered"));
  if (o->filtered.given) {
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
        "Filters a HEALPix map, takes the peaks of the filtered map above a threshold, and fits a Gaussian "
        "and a constant to the map around each. The catalogue has positions in degrees in the map's "
        "coordinates, peak over rms, height, width, flux and background, the highest first. The rms is "
        "1.4826 times the median deviation from the median.",
    .examples = "kugel sources sky.fits sources.csv --fwhm 10arcmin\n"
                "kugel sources sky.fits sources.csv --fwhm 10arcmin --kernel matched --threshold 4\n"
                "kugel sources sky.fits sources.csv --fwhm 10arcmin --mask mask.fits --plot filtered.png",
    .options = sources_options,
    .n_options = sizeof sources_options / sizeof sources_options[0],
    .run = sources,
};
