/* SPDX-License-Identifier: BSD-3-Clause */
/* kugel mask: apodised masks, and distances to masked pixels. */
#include <math.h>
#include <stdlib.h>
#include "batch/each.h"
#include "commands.h"
#include "map/npymap.h"
#include "map/picture.h"
#include "map/skyops.h"

#define MASK_OPTIONS(X)                                                                                      \
  X(input, 0, ARG_OPERAND, "INPUT", NULL, 1, MANY,                                                           \
    "HEALPix map (FITS, NPY); pixels that are not above 0 are masked")                                       \
  X(output, 0, ARG_OPERAND, "OUTPUT", NULL, 1, 1, "the new mask, or distances (FITS, NPY)")                  \
  X(seen, 0, ARG_FLAG, NULL, NULL, 0, 0,                                                                     \
    "the input is a map of the sky: its seen pixels, whatever their value, are not masked")                  \
  X(apodise, 'a', ARG_ANGLE, "ANGLE", NULL, 1e-6, M_PI,                                                      \
    "let the mask fall smoothly to 0 over this angle at its edges")                                          \
  X(window, 0, ARG_CHOICE, "c1|c2|gauss", "c1", 0, 0, "the function by which it falls, see docs/spectra.md") \
  X(distance, 'd', ARG_FLAG, NULL, NULL, 0, 0,                                                               \
    "instead, the angle in degrees from each pixel to the nearest masked one")                               \
  X(limit, 0, ARG_ANGLE, "ANGLE", NULL, 1e-6, M_PI,                                                          \
    "with --distance: larger angles are written as this one")                                                \
  X(columns, 'c', ARG_TEXT, "COLUMN", "0", 0, 0, "the column that is the mask, by name or number")           \
  X(plot, 'p', ARG_OUTPUT, "FILE", NULL, 0, 0, "also draw the result as PNG")                                \
  MAP_OUTPUT_OPTIONS(X)                                                                                      \
  EACH_OPTIONS(X, NULL)

OPTIONS(mask, MASK_OPTIONS);

static int work(const mask_args *o, sky *s)
{
  double *m = s->maps, sum = 0;
  for (int64_t i = 0; i < s->npix; i++) {
    bool seen = isfinite(m[i]) && fabs(m[i] / KUGEL_UNSEEN - 1) > 1e-5;
    m[i] = !seen ? 0 : o->seen.given ? 1 : m[i];
  }
  progress_part(0, 1, o->distance.given ? "distances" : "window");
  if (o->distance.given) {
    double limit = o->limit.given ? o->limit.x : M_PI;
    LIB(kugel_mask_distance(NULL, s->nside, limit, m, m));
    for (int64_t i = 0; i < s->npix; i++)
      m[i] = fmin(m[i], limit) * 180 / M_PI;
  } else if (o->apodise.given) {
    kugel_apodise_opts a = {
        .size = sizeof a, .nside = s->nside, .kind = (kugel_apodisation)o->window.n, .radius = o->apodise.x};
    LIB(kugel_apodise(NULL, &a, m, m));
  }
  for (int64_t i = 0; i < s->npix; i++)
    sum += m[i];
  json_number("mean", sum / (double)s->npix);
  if (!o->distance.given)
    fact("mask", "%.2f %% of the sky", 100 * sum / (double)s->npix);
  return EXIT_DONE;
}

static int mask(const void *args)
{
  const mask_args *o = args;
  SKY s = {0};
  stopwatch watch = stopwatch_start();
  if (!o->distance.given && !o->apodise.given && !o->seen.given)
    return fail_usage("give --apodise, --distance or --seen");
  if (o->distance.given && o->apodise.given)
    return fail_usage("give one of --apodise and --distance");
  if (o->limit.given && !o->distance.given)
    return fail_usage("--limit needs --distance");
  STEP(sky_open(&s, o->input.s, o->columns.s, false));
  if (s.n != 1)
    return fail_usage("--columns %s: a mask is one column", o->columns.s);
  report_title(o->input.s, o->output.s);
  report_sky(&s);
  if (run.dry_run)
    return report_plan(24 * (double)s.npix + BASE_MEMORY, 2e-7 * (double)s.npix);
  STEP(check_output(o->output.s));
  if (o->plot.given)
    STEP(check_output(o->plot.s));
  sky_costs(&s, 100 * (double)s.npix);
  STEP(sky_read(&s, KUGEL_ORDER_RING, true));
  stopwatch_lap(&watch, "read");
  STEP(work(o, &s));
  stopwatch_lap(&watch, o->distance.given ? "distances" : "mask");
  output out = output_like(&s);
  out.names[0] = o->distance.given ? "DISTANCE" : "MASK";
  out.units[0] = o->distance.given ? "deg" : "";
  STEP(output_write(o->output.s, &out));
  if (o->plot.given)
    STEP(picture_simple(o->plot.s, &s, o->distance.given ? "distance, degrees" : "mask"));
  stopwatch_lap(&watch, "write");
  report_end(&watch, 0);
  return EXIT_DONE;
}

const command command_mask = {
    .name = "mask",
    .summary = "apodised masks, and distances to masked pixels",
    .about = "Makes masks for power spectra: of the seen pixels of a map, smoothly falling to 0 at the "
             "edges, or the distance of each pixel "
             "to the nearest masked one.",
    .examples = "kugel mask galaxy.fits apodised.fits --apodise 2deg --plot mask.png\n"
                "kugel mask sky.fits mask.fits --seen --apodise 5deg --window c2\n"
                "kugel mask galaxy.fits distance.fits --distance",
    .options = mask_options,
    .n_options = sizeof mask_options / sizeof mask_options[0],
    .run = mask,
};
