/* SPDX-License-Identifier: BSD-3-Clause */
/* Maps on latitude-longitude grids, as 2-D NPY arrays: row 0 northernmost, equal steps eastwards. */
#ifndef KUGEL_CLI_LATLON_H
#define KUGEL_CLI_LATLON_H

#include "report.h"

/* In the order of kugel_grid_kind from KUGEL_GRID_GAUSS on. */
#define GRID_WORDS "gauss|cc|fejer1|fejer2|dh|mw"

typedef struct latlon {
  const char *path;
  kugel_grid_kind kind;
  int64_t ntheta, nphi;
  double phi0; /* of column 0's centre */
  double *map; /* [ntheta, nphi] */
} latlon;

/* Cell-centred grids (fejer1) start half a cell east of longitude 0, the others at 0. */
double latlon_phi0(kugel_grid_kind kind, int64_t nphi);
/* Reads the header. */
int latlon_open(latlon *m, const char *path, kugel_grid_kind kind);
int latlon_read(latlon *m);
int latlon_grid(const latlon *m, kugel_grid **grid);
/* Highest multipole that the grid's quadrature takes exactly. */
int64_t latlon_lmax(const latlon *m);
void latlon_close(latlon *m);
#define LATLON __attribute__((cleanup(latlon_close)))

#endif
