/* SPDX-License-Identifier: BSD-3-Clause */
/* What is done to maps and coefficients in memory. */
#ifndef KUGEL_CLI_SKYOPS_H
#define KUGEL_CLI_SKYOPS_H

#include "alm/alms.h"

void sht_close(kugel_sht **plan);
#define SHT __attribute__((cleanup(sht_close)))

int healpix_grid(int64_t nside, kugel_grid **grid);
/* The plan for the analysis of one map, or of I, Q, U; bad pixels count as 0. */
int sky_plan(const sky *s, int64_t lmax, int64_t weights, int64_t iterations, kugel_sht **plan);

/* Cost of one transform, of one map or of I, Q, U together, and what a run costs that reads s, works and writes as
 * much: for the progress bar, in nanoseconds of one core. */
double sht_cost(double npix, int64_t lmax, int64_t mmax, bool polarised);
void sky_costs(const sky *s, double work);
/* What they cost, in nanoseconds of one core. Around the making of a plan in the part [lo, hi] of a run: pixel weights that are not kept yet take most of it. The
 * second returns where the rest of the part begins. */
double weights_cost(int64_t weights, int64_t nside);
double weights_begin(int64_t weights, double lo, double hi);
double weights_end(int64_t weights, double started, double lo, double hi);
/* Analysis of maps [n, npix] into `a`, whose size is set. tolerance above 0: refined, by a plan without iterations, until a
 * refinement changes the coefficients by no more than this fraction; says how many it took. */
int alms_analyse(const kugel_sht *plan, const kugel_array *maps, double tolerance, alms *a);

/* Expected seconds of `count` transforms: a small one of the same mode is timed and scaled by the operations.
 */
int sht_seconds(int64_t nside, int64_t lmax, int64_t mmax, kugel_sht_mode mode, double count,
                double *seconds);
/* Fails if a map has no observed pixel; `masked`: the mask that left none, or NULL. */
int sky_observed(const sky *s);
int sky_observed_by(const sky *s, const char *masked);
/* Changes the ordering in memory; `on`: the context that does it, NULL: the CPU. */
int sky_reorder(sky *s, kugel_order order);
int sky_reorder_on(kugel_ctx *on, sky *s, kugel_order order);
/* Fits and removes mean, or mean and dipole, of the first map over its seen pixels beyond latitude gal_cut.
 * RING, float64. Says what it found. */
int sky_remove(sky *s, bool dipole, double gal_cut);
/* Fills `out` (maps, nside, npix, n, order, dtype) with the maps at another nside. */
int sky_udgrade(const sky *s, int64_t nside, kugel_order order, double power, bool pessimistic, sky *out);

/* Multiplies by a Gaussian beam (its polarised form for E and B), or by the pixel window of nside. */
int alms_smooth(alms *a, double fwhm);
int alms_pixwin(alms *a, int64_t nside);
/* cl[1 or 6][lmax+1]: TT; or TT, EE, BB, TE, EB, TB of a with b. */
int alms_spectra(const alms *a, const alms *b, double *cl);
/* Gaussian coefficients with spectra cl[1][lmax+1] (TT) or, for three components, cl[4][lmax+1] (TT, EE, BB,
 * TE). */
int alms_random(alms *a, const double *cl, uint64_t seed, uint64_t index, bool zero_indefinite);
/* Rotations: between coordinates G, E, C; or by psi about z, theta about y, phi about z. */
int alms_to_coord(alms *a, char from, char to);
int alms_turn(alms *a, double psi, double theta, double phi);

#endif
