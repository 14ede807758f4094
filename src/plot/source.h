/* SPDX-License-Identifier: BSD-3-Clause */
/* The three kinds of sources; see kugel__plot_source.at. */
#ifndef KUGEL_PLOT_SOURCE_H
#define KUGEL_PLOT_SOURCE_H

#include "plot/plot.h"

kugel_status kugel__source_healpix(const kugel__plot_source *s, int64_t n, const double *vec, double *value);
kugel_status kugel__source_latlon(const kugel__plot_source *s, int64_t n, const double *vec, double *value);
kugel_status kugel__source_function(const kugel__plot_source *s, int64_t n, const double *vec, double *value);

#endif
