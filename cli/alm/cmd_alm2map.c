/* SPDX-License-Identifier: BSD-3-Clause */
/* kugel alm2map: synthesis. */
#include <math.h>
#include "batch/each.h"
#include "commands.h"
#include "map/skyops.h"
#include "map/target.h"

#define ALM2MAP_OPTIONS(X)                                                                                   \
  TARGET_OPTIONS(X)                                                                                          \
  X(input, 0, ARG_OPERAND, "INPUT", NULL, 1, MANY, "coefficients (FITS)")                                    \
  X(output, 0, ARG_OPERAND, "OUTPUT", NULL, 1, 1, "HEALPix map (FITS, NPY), or rows of latitude (NPY)")      \
  X(lmax, 'l', ARG_INT, "N", NULL, 0, 1e6, "highest multipole to use; the file's when not given")            \
  X(fwhm, 'f', ARG_ANGLE, "ANGLE", NULL, 0, M_PI, "smooth by a Gaussian beam")                               \
  X(pixwin, 0, ARG_FLAG, NULL, NULL, 0, 0, "multiply by the pixel window of nside")                          \
  X(der1, 0, ARG_FLAG, NULL, NULL, 0, 0,                                                                     \
    "three columns: the field, d/dtheta, and 1/sin(theta) d/dphi, of the first component")                   \
  X(no_pol, 0, ARG_FLAG, NULL, NULL, 0, 0, "the first component only")                                       \
  EACH_OPTIONS(X, NULL)

OPTIONS(alm2map, ALM2MAP_OPTIONS);

static int alm2map(const void *args)
{
  const alm2map_args *o = args;
  ALMS a = {0};
  TARGET t = {0};
  output out = {0};
  char text[40];
  kugel_fits_column column;
  stopwatch watch = stopwatch_start();
  STEP(alms_open(&a, o->input.s, o->lmax.given ? o->lmax.n : -1, !o->no_pol.given && !o->der1.given));
  report_title(o->input.s, o->output.s);
  alms_report(&a);
  STEP(target_open(&t, args, o->output.s));
  if (o->pixwin.given && t.latlon)
    return fail_usage("--pixwin is for HEALPix output");
  kugel_sht_mode mode = o->der1.given ? KUGEL_SHT_DER1 : a.n == 3 ? KUGEL_SHT_TEB : KUGEL_SHT_SCALAR;
  if (o->fwhm.given)
    fact("beam", "Gaussian, fwhm %s", angle_text(o->fwhm.x, text, sizeof text));
  if (run.dry_run) {
    double seconds = 0;
    if (!t.latlon)
      STEP(sht_seconds(t.nside, a.lmax, a.mmax, mode, 1, &seconds));
    double maps = mode == KUGEL_SHT_SCALAR ? 1 : 3;
    return report_plan(maps * 8 * (double)t.npix + 16 * (double)(a.n * a.count) + BASE_MEMORY, seconds);
  }
  STEP(check_output(o->output.s));
  target_costs(&t, a.n, a.lmax, a.mmax, 40. * (double)(a.n * a.count));
  STEP(alms_read(&a));
  stopwatch_lap(&watch, "read");
  if (o->fwhm.given)
    STEP(alms_smooth(&a, o->fwhm.x));
  if (o->pixwin.given)
    STEP(alms_pixwin(&a, t.nside));
  LIB(kugel_fits_get_column(a.file, 1, &column));
  out.info = a.info;
  out.units[0] = out.units[1] = out.units[2] = column.unit;
  if (o->der1.given) {
    out.names[0] = "TEMPERATURE";
    out.names[1] = "D_THETA";
    out.names[2] = "D_PHI";
  }
  STEP(target_synthesise(&t, &a, mode, &out, &watch));
  report_end(&watch, 0);
  return EXIT_DONE;
}

const command command_alm2map = {
    .name = "alm2map",
    .summary = "map of spherical-harmonic coefficients",
    .about = "Synthesises a map from a_lm: T alone, or T, Q, U from T, E, B. The output is a HEALPix map "
             "(FITS), or rows of latitude if its name ends in .npy.",
    .examples = "kugel alm2map alm.fits sky.fits --nside 512\n"
                "kugel alm2map alm.fits sky.fits --nside 512 --fwhm 30arcmin --pixwin\n"
                "kugel alm2map alm.fits slopes.fits --nside 256 --der1\n"
                "kugel alm2map alm.fits rows.npy --to-grid cc --rows 361",
    .options = alm2map_options,
    .n_options = sizeof alm2map_options / sizeof alm2map_options[0],
    .run = alm2map,
};
