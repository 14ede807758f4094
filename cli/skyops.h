/* SPDX-License-Identifier: BSD-3-Clause */
/* What is done to maps and coefficients in memory. */
#ifndef KUGEL_CLI_SKYOPS_H
#define KUGEL_CLI_SKYOPS_H

#include "alms.h"

void sht_close(kugel_sht **plan);
#define SHT __attribute__((cleanup(sht_close)))

int healpix_grid(int64_t nside, kugel_grid **grid);
/* The plan for the analysis of one map, or of I, Q, U; bad pixels count as 0. */
int sky_plan(const sky *s, int64_t lmax, int64_t weights, int64_t iterations, kugel_sht **plan);

/* Expected seconds of `count` transforms: a small one of the same mode is timed and scaled by the operations.
 */
int sht_seconds(int64_t nside, int64_t lmax, int64_t mmax, kugel_sht_mode mode, double count,
                double *seconds);
/* Changes the ordering in memory. */
int sky_reorder(sky *s, kugel_order order);
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
int alms_random(alms *a, const double *cl, uint64_t seed, bool zero_indefinite);
/* Rotations: between coordinates G, E, C; or by psi about z, theta about y, phi about z. */
int alms_to_coord(alms *a, char from, char to);
int alms_turn(alms *a, double psi, double theta, double phi);

#endif
