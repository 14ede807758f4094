/* SPDX-License-Identifier: BSD-3-Clause */
/* kugel plot: a map as PNG. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "batch/each.h"
#include "commands.h"
#include "map/latlon.h"
#include "map/npymap.h"
#include "map/picture.h"

#define PLOT_OPTIONS(X)                                                                                      \
  X(input, 0, ARG_OPERAND, "INPUT", NULL, 1, MANY, "HEALPix map (FITS, NPY), or rows of latitude (NPY)")     \
  X(output, 0, ARG_OPERAND, "OUTPUT", NULL, 1, 1, "picture (PNG)")                                           \
  X(column, 'c', ARG_TEXT, "NAME", "0", 0, 0, "column by name or number")                                    \
  X(projection, 'p', ARG_CHOICE, "mollweide|orthographic|gnomonic|cartesian", "mollweide", 0, 0,             \
    "projection")                                                                                            \
  X(scale, 's', ARG_CHOICE, "linear|log|asinh|histogram", "linear", 0, 0, "how values become colours")       \
  X(colors, 'm', ARG_TEXT, "NAME", NULL, 0, 0,                                                               \
    "colour map: planck, diverging, viridis, magma, inferno, plasma, ice, relief, grey or phase; with _r "   \
    "at the end reversed")                                                                                   \
  X(min, 0, ARG_REAL, "X", NULL, -1e300, 1e300, "value at the lower end of the colours")                     \
  X(max, 0, ARG_REAL, "X", NULL, -1e300, 1e300, "value at the upper end of the colours")                     \
  X(percentile, 0, ARG_REAL, "X", "0", 0, 50,                                                                \
    "leave out this share, in per cent, at both ends of the colours")                                        \
  X(symmetric, 0, ARG_FLAG, NULL, NULL, 0, 0, "colours from -a to a")                                        \
  X(title, 't', ARG_TEXT, "TEXT", NULL, 0, 0, "title above the map")                                         \
  X(unit, 'u', ARG_TEXT, "TEXT", NULL, 0, 0, "unit at the colour bar; the file's when not given")            \
  X(size, 0, ARG_INT, "N", "1200", 64, 32768, "width of the picture in pixels")                              \
  X(center, 0, ARG_ANGLES, "LON,LAT", "0deg,0deg", 2, 2, "direction at the centre")                          \
  X(roll, 0, ARG_ANGLE, "ANGLE", "0deg", -2 * M_PI, 2 * M_PI, "turn about the centre, counterclockwise")     \
  X(coord, 0, ARG_TEXT, "XY", NULL, 0, 0,                                                                    \
    "draw a map in coordinates X in coordinates Y: GC for Galactic to equatorial, E for ecliptic")           \
  X(geo, 0, ARG_FLAG, NULL, NULL, 0, 0, "east to the right, as on maps of the ground")                       \
  X(half, 0, ARG_FLAG, NULL, NULL, 0, 0, "orthographic: one hemisphere only")                                \
  X(reso, 0, ARG_ANGLE, "ANGLE", NULL, 0, M_PI, "gnomonic, cartesian: size of a picture pixel")              \
  X(graticule, 'g', ARG_ANGLE, "ANGLE", NULL, 0, M_PI,                                                       \
    "step of the coordinate lines; by projection when not given")                                            \
  X(no_graticule, 0, ARG_FLAG, NULL, NULL, 0, 0, "no coordinate lines")                                      \
  X(no_labels, 0, ARG_FLAG, NULL, NULL, 0, 0, "no numbers at the coordinate lines")                          \
  X(no_bar, 0, ARG_FLAG, NULL, NULL, 0, 0, "no colour bar")                                                  \
  X(smooth_pixels, 0, ARG_FLAG, NULL, NULL, 0, 0, "interpolate between pixel centres")                       \
  X(transparent, 0, ARG_FLAG, NULL, NULL, 0, 0, "nothing behind the picture instead of white")               \
  X(grid, 0, ARG_CHOICE, GRID_WORDS, "fejer1", 0, 0, "NPY input: the grid of its rows")                      \
  NPY_OPTIONS(X)                                                                                             \
  EACH_OPTIONS(X, ".png")

OPTIONS(plot, PLOT_OPTIONS);

static kugel_plot_opts style(const plot_args *o, const char *unit)
{
  bool ends = o->min.given || o->max.given;
  return (kugel_plot_opts){
      .size = sizeof(kugel_plot_opts),
      .projection = (kugel_plot_projection)o->projection.n,
      .scale = (kugel_plot_scale)o->scale.n,
      .colors = o->colors.s,
      .width = (int32_t)o->size.n,
      .min = o->min.given ? o->min.x
             : ends       ? NAN
                          : 0,
      .max = o->max.given ? o->max.x
             : ends       ? NAN
                          : 0,
      .percentile = o->percentile.x / 100,
      .symmetric = o->symmetric.given,
      .lon = o->center.v[0],
      .lat = o->center.v[1],
      .roll = o->roll.x,
      .coord = o->coord.s,
      .geo = o->geo.given,
      .half_sky = o->half.given,
      .reso = o->reso.x,
      .graticule = o->no_graticule.given ? -1 : o->graticule.x,
      .no_labels = o->no_labels.given,
      .no_bar = o->no_bar.given,
      .interpolate = o->smooth_pixels.given,
      .transparent = o->transparent.given,
      .title = o->title.s,
      .unit = o->unit.given ? o->unit.s : unit,
  };
}

static void report_ends(const double ends[2], const char *unit)
{
  json_number("min", ends[0]);
  json_number("max", ends[1]);
  fact("colours", "%.6g to %.6g%s%s", ends[0], ends[1], unit && unit[0] ? " " : "", unit ? unit : "");
}

/* Of reading, drawing and compressing, for the bar. */
static void draw_costs(const plot_args *o, int64_t npix)
{
  double pixels = (double)o->size.n * (double)o->size.n / 2;
  progress_costs(COST_READ * (double)npix, 3 * (double)npix + 500 * pixels / kugel_get_num_threads(),
                 150 * pixels);
}

static int plot_npy(const plot_args *o)
{
  LATLON latlon map = {0};
  double ends[2];
  report_title(o->input.s, o->output.s);
  if (latlon_kind(o->grid.n) == KUGEL_GRID_GAUSS_OCTAHEDRAL)
    return fail_usage("an octahedral grid cannot be drawn: kugel regrid it first");
  STEP(latlon_open(&map, o->input.s, latlon_kind(o->grid.n), false));
  kugel_plot_opts opts = style(o, NULL);
  if (run.dry_run)
    return report_plan((double)(map.npix) * 8 + BASE_MEMORY, 0.3);
  STEP(check_output(o->output.s));
  draw_costs(o, map.npix);
  STEP(latlon_read(&map));
  progress_part(0, 1, "drawing");
  STEP(latlon_picture(o->output.s, &map, &opts, ends));
  report_ends(ends, opts.unit);
  return EXIT_DONE;
}

static int plot(const void *args)
{
  const plot_args *o = args;
  SKY s = {0};
  double ends[2];
  stopwatch watch = stopwatch_start();
  if (o->min.given && o->max.given && o->min.x >= o->max.x)
    return fail_usage("--min %g must be below --max %g", o->min.x, o->max.x);
  if (path_ends_with(o->input.s, ".npy") && (o->grid.given || !npymap_is(o->input.s)))
    return plot_npy(o);
  STEP(sky_open(&s, o->input.s, o->column.s, false));
  report_title(o->input.s, o->output.s);
  report_sky(&s);
  kugel_plot_opts opts = style(o, s.described[0].unit);
  char system[32];
  if (!o->coord.given) {
    snprintf(system, sizeof system, "%.30s", coordsys_name(s.info->coordsys));
    system[0] = (char)toupper((unsigned char)system[0]);
    opts.system = system;
  }
  if (run.dry_run)
    return report_plan((double)s.npix * 8 + BASE_MEMORY, 0.3);
  STEP(check_output(o->output.s));
  draw_costs(o, s.npix);
  STEP(sky_read(&s, KUGEL_ORDER_ANY, false));
  stopwatch_lap(&watch, "read");
  if (!pixels_seen(s.maps, s.dtype, s.npix))
    return fail(
        "%s: no pixel of column %s has a value (all are unseen, NaN or infinite): there is nothing to draw",
        o->input.s, o->column.s);
  progress_part(0, 1, "drawing");
  STEP(picture_sky(o->output.s, &s, 0, &opts, ends));
  stopwatch_lap(&watch, "plot");
  report_ends(ends, opts.unit);
  report_end(&watch, 0);
  return EXIT_DONE;
}

const command command_plot = {
    .name = "plot",
    .summary = "draw a map as PNG",
    .about = "Draws one column of a map: Mollweide, orthographic, gnomonic or cartesian, with colour bar, "
             "unit, title and coordinate lines. Unseen pixels are grey.",
    .examples =
        "kugel plot sky.fits sky.png\n"
        "kugel plot sky.fits q.png --column Q_POLARISATION --symmetric --colors diverging\n"
        "kugel plot sky.fits orion.png --projection gnomonic --center 209deg,-19.4deg --reso 1arcmin\n"
        "kugel plot relief.npy earth.png --grid fejer1 --geo --title \"Relief\" --unit m",
    .options = plot_options,
    .n_options = sizeof plot_options / sizeof plot_options[0],
    .run = plot,
};
