/* SPDX-License-Identifier: BSD-3-Clause */
/* Positions on the sphere: NPY arrays, columns of FITS tables and maps, columns of text. Values at them, as text. */
#ifndef KUGEL_CLI_POSITIONS_H
#define KUGEL_CLI_POSITIONS_H

#include "common/report.h"

typedef struct positions {
  const char *path;
  int64_t n;
  double *angles; /* [n][2]: colatitude, longitude in radians */
  char system; /* that the columns' names stand for: C (RA, DEC), G (GLON, GLAT), E (ELON, ELAT); 0: none */
} positions;

/* columns: NULL or two names, or numbers from 0, of columns, "LON,LAT"; lonlat: longitude and latitude in degrees come
 * first, in files without names. */
int positions_read(positions *p, const char *path, const char *columns, bool lonlat);
void positions_close(positions *p);

/* Angles [n][2] of the positions in other coordinates (G, E, C), and by how much the directions of theta and phi turn:
 * Q + i U there, times exp(2 i turn), are those in the coordinates of the positions. turn may be NULL. */
int positions_turn(const positions *p, char from, char to, double *angles, double *turn);

/* Whether a name ends as a text table does: .csv, .tsv or .txt. */
bool is_text_table(const char *path);
bool is_fits_table(const char *path); /* .fits, .fit, .fits.gz */

/* Writes longitude, latitude in degrees and `sets` values [sets][n] per row; the file appears when it is whole. */
int positions_write(const positions *p, const char *path, int sets, const double *values);
/* The same as a FITS table; a catalogue that is a FITS table is copied, and the values are columns behind its own. */
int positions_write_fits(const positions *p, const char *path, int sets, const double *values,
                         const char *unit);

#endif
