/* SPDX-License-Identifier: BSD-3-Clause */
/* Maps on latitude-longitude grids, as 2-D NPY arrays: row 0 northernmost, equal steps eastwards. */
#ifndef KUGEL_CLI_LATLON_H
#define KUGEL_CLI_LATLON_H

#include "common/report.h"

/* The words of latlon_kind, in order. */
#define GRID_WORDS "gauss|cc|fejer1|fejer2|dh|mw|lobatto|octahedral"

/* How rows lie in a NPY input. */
#define LATLON_OPTIONS(X)                                                                                    \
  X(south_first, 0, ARG_FLAG, NULL, NULL, 0, 0, "NPY input: its rows run from south to north")               \
  X(lon0, 0, ARG_ANGLE, "ANGLE", NULL, -2 * M_PI, 2 * M_PI,                                                  \
    "NPY input: longitude of its first column, such as -180deg; half a column for fejer1, else 0, when not " \
    "given")

typedef struct latlon {
  const char *path;
  kugel_grid_kind kind;
  int64_t n, ntheta, nphi, npix; /* maps; of a map, nphi 0: octahedral */
  double phi0;                   /* of column 0's centre */
  double *map;                   /* [n, npix] */
  bool south_first;              /* rows of the file run northwards; in memory southwards */
} latlon;

kugel_grid_kind latlon_kind(int64_t word);
/* Cell-centred grids (fejer1) start half a cell east of longitude 0, the others at 0. */
double latlon_phi0(kugel_grid_kind kind, int64_t nphi);
/* Reads the header: [rows, columns], or the pixels of an octahedral grid ring by ring; `several`: maybe of n
 * maps. */
int latlon_open(latlon *m, const char *path, kugel_grid_kind kind, bool several);
/* Takes --south-first and --lon0. */
int latlon_orient(latlon *m, const arg *south_first, const arg *lon0);
int latlon_read(latlon *m);
int latlon_grid(const latlon *m, kugel_grid **grid);
/* Highest multipole that the grid's quadrature takes exactly. */
int64_t latlon_lmax(const latlon *m);
void latlon_close(latlon *m);
#define LATLON __attribute__((cleanup(latlon_close)))

#endif
