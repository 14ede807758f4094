/* SPDX-License-Identifier: BSD-3-Clause */
/* Positions on the sphere: NPY arrays, columns of FITS tables and maps, columns of text. Values at them, as text. */
#ifndef KUGEL_CLI_POSITIONS_H
#define KUGEL_CLI_POSITIONS_H

#include "common/report.h"

typedef struct positions {
  const char *path;
  int64_t n;
  double *angles; /* [n][2]: colatitude, longitude in radians */
} positions;

/* columns: NULL or two names, or numbers from 0, of columns, "LON,LAT"; lonlat: longitude and latitude in degrees come
 * first, in files without names. */
int positions_read(positions *p, const char *path, const char *columns, bool lonlat);
void positions_close(positions *p);

/* Whether a name ends as a text table does: .csv, .tsv or .txt. */
bool is_text_table(const char *path);
/* Writes longitude, latitude in degrees and `sets` values [sets][n] per row; the file appears when it is whole. */
int positions_write(const positions *p, const char *path, int sets, const double *values);

#endif
