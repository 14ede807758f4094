/* SPDX-License-Identifier: BSD-3-Clause */
/* kugel synfast: a random map with given power spectra. */
#include <math.h>
#include <stdlib.h>
#include "batch/each.h"
#include "commands.h"
#include "map/skyops.h"
#include "map/target.h"

#define SYNFAST_OPTIONS(X)                                                                                   \
  TARGET_OPTIONS(X)                                                                                          \
  X(input, 0, ARG_OPERAND, "INPUT", NULL, 1, MANY, "power spectra (FITS or text): TT, or TT, EE, BB, TE")    \
  X(output, 0, ARG_OPERAND, "OUTPUT", NULL, 1, 1, "HEALPix map (FITS, NPY), or rows of latitude (NPY)")      \
  X(seed, 's', ARG_INT, "N", "0", 0, 9e15,                                                                   \
    "seed: the same seed gives the same map on any machine and threads")                                     \
  X(index, 0, ARG_INT, "I", "0", 0, 4294967295., "number of the map: maps of one seed are independent")      \
  X(count, 0, ARG_INT, "N", NULL, 1, 1e9,                                                                    \
    "make N maps, numbered from --index, in the folder OUTPUT: map-000000.fits if INPUT is map.txt")         \
  X(lmax, 'l', ARG_INT, "N", NULL, 0, 1e6,                                                                   \
    "highest multipole; the file's, at most 3 nside - 1, when not given")                                    \
  X(fwhm, 'f', ARG_ANGLE, "ANGLE", NULL, 0, M_PI, "smooth by a Gaussian beam")                               \
  X(pixwin, 0, ARG_FLAG, NULL, NULL, 0, 0, "multiply by the pixel window of nside")                          \
  X(no_pol, 0, ARG_FLAG, NULL, NULL, 0, 0, "T only, even if the file has polarisation")                      \
  X(dl, 0, ARG_FLAG, NULL, NULL, 0, 0, "the file holds l(l+1) C_l / 2 pi, as CAMB's text files do")          \
  X(zero_indefinite, 0, ARG_FLAG, NULL, NULL, 0, 0,                                                          \
    "no power at multipoles whose spectra are no covariance, instead of failing")                            \
  X(unit, 'u', ARG_TEXT, "TEXT", NULL, 0, 0, "unit of the map, written to the file")                         \
  X(alm, 0, ARG_OUTPUT, "FILE", NULL, 0, 0, "also write the coefficients")                                   \
  EACH_OPTIONS(X, ".fits")

OPTIONS(synfast, SYNFAST_OPTIONS);

/* Spectra as alms_random takes them: 1 (TT) or 4 (TT, EE, BB, TE). */
static int read_spectra(const synfast_args *o, int64_t n, int64_t lmax, double **cl)
{
  *cl = calloc((size_t)(n * (lmax + 1)), sizeof **cl);
  if (!*cl)
    return fail("no memory for %lld spectra", (long long)n);
  kugel_status status = kugel_cl_read(NULL, o->input.s, o->dl.given, n, lmax, *cl);
  return status == KUGEL_OK ? EXIT_DONE : fail_library(status, o->input.s);
}

static int synfast(const void *args)
{
  const synfast_args *o = args;
  ALMS a = {0};
  TARGET t = {0};
  OWNED double *cl = NULL;
  output out = {0};
  kugel_cl_info info;
  char text[40];
  stopwatch watch = stopwatch_start();
  kugel_status status = kugel_cl_inspect(NULL, o->input.s, &info);
  if (status != KUGEL_OK)
    return fail_library(status, o->input.s);
  report_title(o->input.s, o->output.s);
  STEP(target_open(&t, args, o->output.s));
  if (o->pixwin.given && t.latlon)
    return fail_usage("--pixwin is for HEALPix output");
  int64_t n = info.nspectra >= 4 && !o->no_pol.given ? 4 : 1, sets = n == 4 ? 3 : 1;
  int64_t most = t.latlon ? t.rows.ntheta - 1 : 3 * t.nside - 1;
  int64_t lmax = o->lmax.given ? o->lmax.n : info.lmax < most ? info.lmax : most;
  json_int("lmax", lmax);
  json_int("seed", o->seed.n);
  json_int("index", o->index.n);
  fact("spectra", "%s, lmax %lld, seed %lld, map %lld", n == 4 ? "TT, EE, BB, TE" : "TT", (long long)lmax,
       (long long)o->seed.n, (long long)o->index.n);
  if (o->fwhm.given)
    fact("beam", "Gaussian, fwhm %s", angle_text(o->fwhm.x, text, sizeof text));
  if (run.dry_run) {
    double seconds = 0;
    if (!t.latlon)
      STEP(sht_seconds(t.nside, lmax, lmax, n == 4 ? KUGEL_SHT_TEB : KUGEL_SHT_SCALAR, 1, &seconds));
    return report_plan((double)sets * (8 * (double)t.npix + 16 * (double)kugel_alm_count(lmax, lmax)) +
                           BASE_MEMORY,
                       seconds);
  }
  STEP(check_output(o->output.s));
  if (o->alm.given)
    STEP(check_output(o->alm.s));
  STEP(read_spectra(o, n, lmax, &cl));
  STEP(alms_make(&a, sets, lmax, lmax));
  target_costs(&t, sets, lmax, lmax, 120. * (double)(sets * a.count) / kugel_get_num_threads());
  progress_reading(0, 1, "random numbers");
  STEP(alms_random(&a, cl, (uint64_t)o->seed.n, (uint64_t)o->index.n, o->zero_indefinite.given));
  stopwatch_lap(&watch, "random");
  if (o->fwhm.given)
    STEP(alms_smooth(&a, o->fwhm.x));
  if (o->pixwin.given)
    STEP(alms_pixwin(&a, t.nside));
  out.units[0] = out.units[1] = out.units[2] = o->unit.s;
  STEP(target_synthesise(&t, &a, sets == 3 ? KUGEL_SHT_TEB : KUGEL_SHT_SCALAR, &out, &watch));
  if (o->alm.given)
    STEP(alms_write(o->alm.s, &a, NULL, o->unit.s, NULL, false));
  report_end(&watch, 0);
  return EXIT_DONE;
}

const command command_synfast = {
    .name = "synfast",
    .summary = "a random map with given power spectra",
    .about = "Draws Gaussian a_lm with the spectra of a file (TT, or TT, EE, BB, TE) and synthesises the "
             "map: T, or T, Q, U.",
    .examples = "kugel synfast cl.fits sky.fits --nside 512 --seed 1\n"
                "kugel synfast camb_totcls.dat sky.fits --dl --nside 1024 --fwhm 5arcmin --pixwin --unit uK\n"
                "kugel synfast cl.txt sky.fits --nside 256 --no-pol --alm alm.fits\n"
                "kugel synfast cl.txt maps/ --nside 256 --seed 1 --count 1000 --task 3/16 --resume",
    .options = synfast_options,
    .n_options = sizeof synfast_options / sizeof synfast_options[0],
    .run = synfast,
};
