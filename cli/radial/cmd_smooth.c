/* SPDX-License-Identifier: BSD-3-Clause */
/* kugel smooth: analysis, multiplication by a beam, synthesis. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "batch/each.h"
#include "commands.h"
#include "radial/filters.h"
#include "map/missing.h"
#include "map/npymap.h"
#include "map/picture.h"
#include "common/report.h"
#include "radial/stream.h"

#define SMOOTH_OPTIONS(X)                                                                                    \
  X(input, 0, ARG_OPERAND, "INPUT", NULL, 1, MANY, "HEALPix map (FITS, NPY)")                                \
  X(output, 0, ARG_OPERAND, "OUTPUT", NULL, 1, 1, "smoothed map (FITS, NPY)")                                \
  X(fwhm, 'f', ARG_ANGLE, "ANGLE", NULL, 0, M_PI, "full width at half maximum of a Gaussian beam")           \
  X(sigma, 's', ARG_ANGLE, "ANGLE", NULL, 0, M_PI, "standard deviation of a Gaussian beam, instead")         \
  X(beam, 'b', ARG_INPUT, "FILE", NULL, 0, 0,                                                                \
    "beam window b_l (FITS or text), instead: one column, or one each for T, E and B")                       \
  X(lmax, 'l', ARG_INT, "N", NULL, 0, 1e6, "highest multipole; 3 nside - 1 when not given")                  \
  X(iter, 'i', ARG_INT, "N", "3", 0, 1000, "refinements of the analysis")                                    \
  X(weights, 'w', ARG_CHOICE, "equal|ring|pixel", "equal", 0, 0, "quadrature weights of the analysis")       \
  X(method, 'm', ARG_CHOICE, "harmonic|direct|auto|rings|arkcos", "harmonic", 0, 0,                          \
    "direct: the sum over pixels, which does not ring; rings: the same by series along rings; auto: "        \
    "whichever is the fastest; arkcos: series as Elsner and Wandelt (2011) have them, for comparison")       \
  X(normalise_mask, 0, ARG_FLAG, NULL, NULL, 0, 0,                                                           \
    "with --method direct, rings or auto: unseen pixels do not count, instead of counting as zero")          \
  X(no_normalise, 0, ARG_FLAG, NULL, NULL, 0, 0,                                                             \
    "do not divide by what sums over pixels make of a constant")                                             \
  X(columns, 'c', ARG_TEXT, "LIST", NULL, 0, 0,                                                              \
    "columns by name or number with commas between, or all; I, Q, U where there are such, else the first")   \
  X(no_pol, 0, ARG_FLAG, NULL, NULL, 0, 0, "smooth I, Q and U as three scalar maps")                         \
  X(order, 'o', ARG_CHOICE, "input|ring|nested", "input", 0, 0, "ordering of the output")                    \
  X(plot, 'p', ARG_OUTPUT, "FILE", NULL, 0, 0, "also draw the result (its first column) as PNG")             \
  CUT_OPTIONS(X)                                                                                             \
  MAP_OUTPUT_OPTIONS(X)                                                                                      \
  RADIAL_DEVICE_OPTIONS(X)                                                                                   \
  EACH_OPTIONS(X, NULL)

OPTIONS(smooth, SMOOTH_OPTIONS);

typedef struct beam {
  double fwhm; /* radians; windows NULL */
  int64_t n;
  double *windows; /* [3, n]: T, E, B */
} beam;

static void beam_free(beam *b)
{
  free(b->windows);
}

static int read_beam(const char *path, int64_t lmax, beam *b)
{
  kugel_cl_info info;
  LIB(kugel_cl_inspect(NULL, path, &info));
  int64_t sets = info.nspectra >= 3 ? 3 : 1;
  b->n = lmax + 1;
  b->windows = malloc((size_t)(3 * b->n) * sizeof(double));
  if (!b->windows)
    return fail("no memory for a beam of %lld multipoles", (long long)b->n);
  LIB(kugel_cl_read(NULL, path, 0, sets, lmax, b->windows));
  for (int64_t c = sets; c < 3; c++)
    memcpy(b->windows + c * b->n, b->windows, (size_t)b->n * sizeof(double));
  json_text("beam", path);
  fact("beam", "%s, %s", path, sets == 3 ? "T, E and B" : "one window");
  if (info.lmax < lmax)
    fact("", "it ends at multipole %lld; above that the result has none", (long long)info.lmax);
  return EXIT_DONE;
}

static int take_beam(const smooth_args *o, int64_t lmax, beam *b)
{
  char text[40];
  if (o->beam.given)
    return read_beam(o->beam.s, lmax, b);
  b->fwhm = o->fwhm.given ? o->fwhm.x : o->sigma.x * sqrt(8 * M_LN2);
  json_number("fwhm_radians", b->fwhm);
  fact("beam", "Gaussian, fwhm %s", angle_text(b->fwhm, text, sizeof text));
  return EXIT_DONE;
}

static int smooth_maps(sky *s, const kugel_smooth_opts *opts)
{
  int64_t step = s->npix * (s->dtype.bits / 8);
  if (s->polarised) {
    progress_part(0, 1, "smoothing I, Q, U");
    const kugel_array *maps = KUGEL_ARRAY(s->maps, s->dtype, 3, s->npix);
    LIB(kugel_smooth(run.ctx, opts, maps, maps, NULL));
    return EXIT_DONE;
  }
  for (int64_t i = 0; i < s->n; i++) {
    progress_part((double)i / (double)s->n, (double)(i + 1) / (double)s->n, "smoothing");
    const kugel_array *map = KUGEL_ARRAY((char *)s->maps + i * step, s->dtype, 1, s->npix);
    LIB(kugel_smooth(run.ctx, opts, map, map, NULL));
  }
  return EXIT_DONE;
}

static int write_result(const smooth_args *o, sky *s)
{
  if (o->plot.given)
    STEP(picture_simple(o->plot.s, s, "smoothed"));
  if (output_nested(o->output.s, s, &o->order))
    STEP(sky_reorder(s, KUGEL_ORDER_NESTED));
  output out = output_like(s);
  return output_write(o->output.s, &out);
}

/* By sums over pixels. */
static int smooth_pixels(const smooth_args *o, sky *s, stopwatch *watch)
{
  static const kugel_radial_method methods[] = {KUGEL_RADIAL_HARMONIC, KUGEL_RADIAL_DIRECT, KUGEL_RADIAL_AUTO,
                                                KUGEL_RADIAL_RINGS, KUGEL_RADIAL_ARKCOS};
  RADIAL kugel_radial *plan = NULL;
  RADIAL kugel_radial *pair = NULL;
  filter f = {.kernel = KUGEL_RADIAL_GAUSSIAN,
              .width = o->fwhm.given ? o->fwhm.x : o->sigma.x * sqrt(8 * M_LN2),
              .method = methods[o->method.n],
              .radius = o->radius.x,
              .cut_rms = o->cut_rms.x,
              .normalise_mask = o->normalise_mask.given};
  s->levelled = !o->no_normalise.given && !o->normalise_mask.given;
  if (o->radius.given && o->cut_rms.given)
    return fail_usage("give one of --radius and --cut-rms");
  if (o->beam.given || o->lmax.given || o->iter.given || o->weights.given)
    return fail_usage("--beam, --lmax, --iter and --weights go with --method harmonic");
  bool streamed, forced = o->mem.given && !strcmp(o->device.s, "cpu");
  int64_t limit;
  STEP(session_device(&o->device, forced ? NULL : &o->mem));
  STEP(stream_choose(s, &f, &o->device, &o->mem, o->output.s, &o->order, o->plot.given, &streamed, &limit));
  if (run.dry_run)
    return filter_estimate(&f, s, limit);
  STEP(check_output(o->output.s));
  if (o->plot.given)
    STEP(check_output(o->plot.s));
  if (streamed) {
    STEP(sky_stream(s, &f, limit, o->output.s, watch));
    report_end(watch, 0);
    return EXIT_DONE;
  }
  STEP(memory_check(s));
  filter_costs(&f, s);
  STEP(sky_read(s, KUGEL_ORDER_RING, false));
  STEP(sky_observed(s));
  report_missing(s, o->normalise_mask.given ? "they do not count, and stay unseen"
                                            : "they count as zero and stay unseen");
  stopwatch_lap(watch, "read");
  STEP(filter_plan(&f, s, &plan));
  STEP(sky_convolve(s, plan, 0, s->polarised ? 1 : s->n, 1));
  if (s->polarised) {
    f.spin = 2;
    f.method = KUGEL_RADIAL_DIRECT;
    json_text("method_polarisation", "direct");
    fact("", "Q and U by the direct sum, which carries them along great circles");
    STEP(filter_plan(&f, s, &pair));
    STEP(sky_convolve(s, pair, 1, 3, 2));
  }
  stopwatch_lap(watch, "smooth");
  STEP(write_result(o, s));
  stopwatch_lap(watch, "write");
  report_end(watch, (double)(s->n * s->npix * (s->dtype.bits / 8)));
  return EXIT_DONE;
}

static int smooth(const void *args)
{
  const smooth_args *o = args;
  SKY s = {0};
  GRID kugel_grid *grid = NULL;
  __attribute__((cleanup(beam_free))) beam b = {0};
  stopwatch watch = stopwatch_start();
  if (o->fwhm.given + o->sigma.given + o->beam.given != 1)
    return fail_usage("give one of --fwhm, --sigma and --beam, such as --fwhm 1deg");
  STEP(sky_open(&s, o->input.s, o->columns.s, !o->no_pol.given));
  int64_t lmax = o->lmax.given ? o->lmax.n : 3 * s.nside - 1;
  report_title(o->input.s, o->output.s);
  report_sky(&s);
  if (o->method.n)
    return smooth_pixels(o, &s, &watch);
  if (o->no_normalise.given)
    return fail_usage("--no-normalise goes with --method direct, rings or auto");
  if (o->radius.given || o->cut_rms.given)
    return fail_usage("--radius and --cut-rms go with --method direct, rings or auto");
  if (o->normalise_mask.given)
    return fail_usage("--normalise-mask goes with --method direct or auto");
  STEP(session_device(&o->device, &o->mem));
  STEP(take_beam(o, lmax, &b));
  json_int("lmax", lmax);
  report_beyond(s.nside, lmax);
  json_int("iterations", o->iter.n);
  json_text("weights", o->weights.s);
  fact("transform", "lmax %lld, %s weights, %lld iterations", (long long)lmax, o->weights.s,
       (long long)o->iter.n);
  double together = s.polarised ? 3 : 1, coefficients = together * 16 * (double)kugel_alm_count(lmax, lmax);
  if (run.dry_run) {
    double seconds, maps = (double)(s.npix * s.n) * (sky_is_float(&s) ? 4 : 8);
    STEP(sht_seconds(s.nside, lmax, lmax, s.polarised ? KUGEL_SHT_TEB : KUGEL_SHT_SCALAR,
                     (double)(2 + 2 * o->iter.n) * (s.polarised ? 1 : (double)s.n), &seconds));
    /* I apart from Q and U, which are transformed together: map and coefficients, and those of the residual
     */
    double work = (s.polarised ? 2 : 1) * (8 * (double)s.npix + 32 * (double)kugel_alm_count(lmax, lmax));
    return report_plan(maps + work + BASE_MEMORY, seconds);
  }
  STEP(check_output(o->output.s));
  if (o->plot.given)
    STEP(check_output(o->plot.s));
  sky_costs(&s, (2. + 2 * (double)o->iter.n) * (double)(s.polarised ? 3 : s.n) *
                    sht_cost((double)s.npix, lmax, lmax, false));
  STEP(sky_read(&s, KUGEL_ORDER_RING, false));
  STEP(sky_observed(&s));
  report_missing(&s, "they count as zero and stay unseen");
  stopwatch_lap(&watch, "read");
  STEP(healpix_grid(s.nside, &grid));
  STEP(smooth_maps(&s, &(kugel_smooth_opts){.size = sizeof(kugel_smooth_opts),
                                            .grid = grid,
                                            .lmax = lmax,
                                            .fwhm = b.fwhm,
                                            .n_window = b.n,
                                            .window = b.windows,
                                            .window_e = b.windows ? b.windows + b.n : NULL,
                                            .window_b = b.windows ? b.windows + 2 * b.n : NULL,
                                            .weights = (kugel_weights)o->weights.n,
                                            .iterations = (int)o->iter.n}));
  stopwatch_lap(&watch, "smooth");
  STEP(write_result(o, &s));
  stopwatch_lap(&watch, "write");
  report_end(&watch, (double)(s.n * s.npix * (s.dtype.bits / 8)) + coefficients);
  return EXIT_DONE;
}

const command command_smooth = {
    .name = "smooth",
    .summary = "smooth a map by a Gaussian beam or a window",
    .about = "Smooths a HEALPix map by a Gaussian beam or by a window b_l. I, Q and U are smoothed "
             "together, as polarisation; by --method direct Q and U are carried along great circles. Unseen "
             "pixels count as zero and stay unseen. Units, ordering, "
             "coordinate system and further keywords of the input are kept.",
    .examples = "kugel smooth sky.fits smooth.fits --fwhm 1deg\n"
                "kugel smooth sky.fits smooth.fits --fwhm 10arcmin --plot smooth.png\n"
                "kugel smooth sky.fits smooth.fits --beam beam.fits --lmax 1500 --weights pixel\n"
                "kugel smooth sky.fits smooth.fits --fwhm 10arcmin --method direct\n"
                "kugel smooth large.fits smooth.fits --fwhm 1.5arcmin --method direct --mem 2G\n"
                "kugel smooth sky.fits smooth.fits --fwhm 5arcmin --dry-run",
    .options = smooth_options,
    .n_options = sizeof smooth_options / sizeof smooth_options[0],
    .run = smooth,
};
