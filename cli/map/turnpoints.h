/* SPDX-License-Identifier: BSD-3-Clause */
/* Maps rotated by harmonic sums at the turned pixel centres. */
#ifndef KUGEL_CLI_TURNPOINTS_H
#define KUGEL_CLI_TURNPOINTS_H

#include "map/skyops.h"

/* Sums up to the lmax of the coefficients; on the device of the run. `bytes`: of work memory for `npix` points. */
typedef struct kugel_sht_points_plan kugel_sht_points_plan;
int turn_plan(int64_t n, int64_t lmax, double eps, kugel_sht_points_plan **plan);
int turn_estimate(const kugel_sht_points_plan *plan, int64_t n, int64_t npix, double *bytes, double *seconds);
void turn_close(kugel_sht_points_plan **plan);
#define TURN __attribute__((cleanup(turn_close)))

/* Replaces the maps of `s` by the sums of the harmonics of `a` where each pixel of a map of `nside` lay before the rotation `matrix`; U and Q
 * turn with the directions they refer to. */
int turn_sums(const kugel_sht_points_plan *plan, const alms *a, const double *matrix, int64_t nside, sky *s);

#endif
