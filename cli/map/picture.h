/* SPDX-License-Identifier: BSD-3-Clause */
/* Pictures of maps. */
#ifndef KUGEL_CLI_PICTURE_H
#define KUGEL_CLI_PICTURE_H

#include <kugel/plot.h>
#include "map/latlon.h"

/* Draws column `i` of the maps in memory; opts->unit and ->title as given. Sets ends[2] if it is not NULL. */
int picture_sky(const char *path, const sky *s, int64_t i, const kugel_plot_opts *opts, double *ends);
/* The first column in the default style, titled by its name, for --plot. */
int picture_simple(const char *path, const sky *s, const char *what);
/* The same with circles about n directions, radians. */
int picture_marked(const char *path, const sky *s, const char *what, int64_t n, const double *theta,
                   const double *phi);
/* Draws rows of latitude. */
int latlon_picture(const char *path, const latlon *m, const kugel_plot_opts *opts, double *ends);

/* The first 4 at most of n spectra [n, lmax + 1], or of the bandpowers of opts where cl is NULL. */
int spectra_picture(const char *path, const kugel_plot_cl_opts *opts, int64_t n, int64_t lmax,
                    const double *cl);

#endif
