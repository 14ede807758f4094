/* SPDX-License-Identifier: BSD-3-Clause */
/* kugel filter: radial filters that bring out structure of one size. */
#include <math.h>
#include <string.h>
#include "batch/each.h"
#include "commands.h"
#include "radial/stream.h"
#include "map/npymap.h"
#include "map/picture.h"

#define FILTER_OPTIONS(X)                                                                                    \
  X(input, 0, ARG_OPERAND, "INPUT", NULL, 1, MANY, "HEALPix map (FITS, NPY)")                                \
  X(output, 0, ARG_OPERAND, "OUTPUT", NULL, 1, 1, "filtered map (FITS, NPY)")                                \
  X(kernel, 'k', ARG_CHOICE, "mexican-hat|matched|top-hat", "mexican-hat", 0, 0,                             \
    "matched: the filter with the least noise for point sources, given beam and spectra")                    \
  X(width, 'W', ARG_ANGLE, "ANGLE", NULL, 0, M_PI, "scale of the Mexican hat, radius of the top hat")        \
  X(fwhm, 'f', ARG_ANGLE, "ANGLE", NULL, 0, M_PI,                                                            \
    "beam of the map; for the Mexican hat, the scale that suits it: fwhm / sqrt(8 ln 2)")                    \
  X(beam, 'b', ARG_INPUT, "FILE", NULL, 0, 0, "beam window b_l (FITS or text), instead")                     \
  X(cl, 0, ARG_INPUT, "FILE", NULL, 0, 0,                                                                    \
    "matched: spectrum C_l of the sky without beam; the map's own spectrum when not given")                  \
  X(noise, 0, ARG_REAL, "X", "0", 0, 1e300, "with --cl: rms of the noise of a pixel, in the map's unit")     \
  X(lmax, 'l', ARG_INT, "N", NULL, 1, 1e6, "matched: highest multipole; 2 nside when not given")             \
  X(method, 'm', ARG_CHOICE, "auto|direct|harmonic|rings|arkcos", "auto", 0, 0,                              \
    "direct: the sum over pixels, which does not ring")                                                      \
  X(normalise_mask, 0, ARG_FLAG, NULL, NULL, 0, 0,                                                           \
    "top hat: divide by the filtered map of seen pixels, so that unseen ones do not count")                  \
  X(columns, 'c', ARG_TEXT, "LIST", "0", 0, 0, "columns by name or number with commas between, or all")      \
  X(order, 'o', ARG_CHOICE, "input|ring|nested", "input", 0, 0, "ordering of the output")                    \
  X(plot, 'p', ARG_OUTPUT, "FILE", NULL, 0, 0, "also draw the result (its first column) as PNG")             \
  CUT_OPTIONS(X)                                                                                             \
  MAP_OUTPUT_OPTIONS(X)                                                                                      \
  RADIAL_DEVICE_OPTIONS(X)                                                                                   \
  EACH_OPTIONS(X, NULL)

OPTIONS(filter, FILTER_OPTIONS);

static int choose(const filter_args *o, const sky *s, filter *f)
{
  static const kugel_radial_kernel kernels[] = {KUGEL_RADIAL_MEXICAN_HAT, KUGEL_RADIAL_SERIES,
                                                KUGEL_RADIAL_TOP_HAT};
  *f = (filter){.kernel = kernels[o->kernel.n],
                .width = o->width.x,
                .method = (kugel_radial_method)o->method.n,
                .radius = o->radius.x,
                .cut_rms = o->cut_rms.x,
                .normalise_mask = o->normalise_mask.given,
                .fwhm = o->fwhm.given ? o->fwhm.x : 0,
                .beam = o->beam.given ? o->beam.s : NULL,
                .cl = o->cl.given ? o->cl.s : NULL,
                .noise = o->noise.x};
  if (f->kernel == KUGEL_RADIAL_SERIES) {
    f->lmax = o->lmax.given ? o->lmax.n : 2 * s->nside;
    if (o->fwhm.given + o->beam.given != 1)
      return fail_usage("--kernel matched needs one of --fwhm and --beam: the shape of a source");
    if (o->width.given || (f->method != KUGEL_RADIAL_AUTO && f->method != KUGEL_RADIAL_HARMONIC))
      return fail_usage("--width and --method direct, rings or arkcos do not go with --kernel matched");
    return EXIT_DONE;
  }
  if (f->normalise_mask && f->kernel == KUGEL_RADIAL_MEXICAN_HAT)
    return fail_usage("--normalise-mask needs a kernel with an integral; the Mexican hat has none");
  if (o->beam.given || o->cl.given || o->noise.given || o->lmax.given)
    return fail_usage("--beam, --cl, --noise and --lmax go with --kernel matched");
  if (f->kernel == KUGEL_RADIAL_TOP_HAT ? !o->width.given : o->width.given + o->fwhm.given != 1)
    return fail_usage("give %s, such as --width 1deg",
                      f->kernel == KUGEL_RADIAL_TOP_HAT ? "--width" : "one of --width and --fwhm");
  if (o->fwhm.given)
    f->width = o->fwhm.x / sqrt(8 * M_LN2);
  return EXIT_DONE;
}

static int filter_map(const void *args)
{
  const filter_args *o = args;
  SKY s = {0};
  RADIAL kugel_radial *plan = NULL;
  filter f;
  stopwatch watch = stopwatch_start();
  STEP(sky_open(&s, o->input.s, o->columns.s, false));
  STEP(choose(o, &s, &f));
  if ((o->radius.given || o->cut_rms.given) &&
      (f.kernel == KUGEL_RADIAL_SERIES || o->radius.given == o->cut_rms.given))
    return fail_usage(
        "give one of --radius and --cut-rms, for sums over pixels of the Mexican hat or the top hat");
  report_title(o->input.s, o->output.s);
  report_sky(&s);
  bool streamed, forced = o->mem.given && !strcmp(o->device.s, "cpu");
  int64_t limit;
  STEP(session_device(&o->device, forced ? NULL : &o->mem));
  STEP(stream_choose(&s, &f, &o->device, &o->mem, o->output.s, &o->order, o->plot.given, &streamed, &limit));
  if (run.dry_run)
    return filter_estimate(&f, &s, limit);
  STEP(check_output(o->output.s));
  if (o->plot.given)
    STEP(check_output(o->plot.s));
  if (streamed) {
    STEP(sky_stream(&s, &f, limit, o->output.s, &watch));
    report_end(&watch, 0);
    return EXIT_DONE;
  }
  STEP(memory_check(&s));
  filter_costs(&f, &s);
  STEP(sky_read(&s, KUGEL_ORDER_RING, false));
  STEP(sky_observed(&s));
  stopwatch_lap(&watch, "read");
  STEP(filter_plan(&f, &s, &plan));
  stopwatch_lap(&watch, "plan");
  STEP(sky_convolve(&s, plan, 0, s.n, 1));
  stopwatch_lap(&watch, "filter");
  if (o->plot.given)
    STEP(picture_simple(o->plot.s, &s, "filtered"));
  if (output_nested(o->output.s, &s, &o->order))
    STEP(sky_reorder(&s, KUGEL_ORDER_NESTED));
  output out = output_like(&s);
  STEP(output_write(o->output.s, &out));
  stopwatch_lap(&watch, "write");
  report_end(&watch, (double)(s.n * s.npix * (s.dtype.bits / 8)));
  return EXIT_DONE;
}

const command command_filter = {
    .name = "filter",
    .summary = "bring out point sources or structure of one size",
    .about = "Convolves a HEALPix map with a spherical Mexican hat, with the matched filter of point sources "
             "for a beam and spectra, or with a top hat. Under the matched filter a source keeps its height, "
             "and the noise is the least that any linear filter leaves. Unseen pixels count as zero and stay "
             "unseen.",
    .examples =
        "kugel filter sky.fits hat.fits --fwhm 10arcmin\n"
        "kugel filter sky.fits matched.fits --kernel matched --fwhm 10arcmin\n"
        "kugel filter sky.fits matched.fits --kernel matched --beam beam.fits --cl cl.txt --noise 0.1\n"
        "kugel filter counts.fits mean.fits --kernel top-hat --width 2deg --normalise-mask\n"
        "kugel filter large.fits hat.fits --fwhm 1.5arcmin --mem 2G",
    .options = filter_options,
    .n_options = sizeof filter_options / sizeof filter_options[0],
    .run = filter_map,
};
