/* SPDX-License-Identifier: BSD-3-Clause */
/* Sky maps, coefficients and spectra between files and memory, as the commands use them. */
#ifndef KUGEL_CLI_FILES_H
#define KUGEL_CLI_FILES_H

#include <complex.h>
#include <stdbool.h>
#include <kugel/kugel.h>
#include "common/session.h"

enum { MAX_COLUMNS = 64 };

/* A map file and, once read, the columns in use. Zero it before use. */
typedef struct sky {
  const char *path;
  bool npy; /* an NPY file: `file` is NULL, `info` is &own */
  kugel_fits *file;
  const kugel_fits_info *info;
  kugel_fits_info own;
  int64_t nside, npix;
  int64_t n;                                /* columns in use */
  int64_t columns[MAX_COLUMNS];             /* their numbers in the file */
  kugel_fits_column described[MAX_COLUMNS]; /* and what the file says of them */
  bool polarised;                           /* they are I, Q, U */
  bool iau;                                 /* U in the file has the IAU's sign; in memory it is HEALPix's */
  kugel_order order;                        /* of `maps` */
  kugel_dtype dtype;                        /* of `maps`: float32 or float64 */
  void *maps;                               /* [n, npix] */
  bool
      levelled; /* radial sums of them are divided by that of a constant map, which costs one sum more per plan */
} sky;

/* Opens a map and picks columns: names or numbers with commas between, "all", or NULL for I, Q, U where the
 * file has them and else the first. `polarise` false keeps I, Q and U apart. */
int sky_open(sky *s, const char *path, const char *columns, bool polarise);
/* Reads the columns in use. `exact`: into float64 even if the file has float32. */
int sky_read(sky *s, kugel_order order, bool exact);
/* Reads one more map of the same nside, its first column, in `order`, as float64: a mask. */
int mask_read(const char *path, int64_t nside, kugel_order order, double **mask);
/* Do all columns in use hold 32-bit reals, so that sky_read would take float32? */
bool sky_is_float(const sky *s);
void sky_close(sky *s);
/* Another kind of map than Kugel reads, and what makes it one that it does; NULL: none. */
const char *foreign_map(const kugel_fits *file);
/* Has any of n pixels a value? */
bool pixels_seen(const void *data, kugel_dtype dtype, int64_t n);
/* Changes the sign of all but unseen pixels. */
void pixels_negate(void *data, kugel_dtype dtype, int64_t n);
#define SKY __attribute__((cleanup(sky_close))) sky

/* Maps to be written. */
typedef struct output {
  kugel_order order; /* of the data and the file */
  int64_t nside, n;
  kugel_dtype dtype;           /* of `maps` */
  kugel_dtype file_dtype;      /* of the file; all zero: as `maps` */
  void *maps;                  /* [n, npix] */
  const kugel_fits_info *info; /* whose keywords and coordinate system are kept; NULL: none */
  const char *coordsys;        /* NULL: that of `info` */
  const char *names[MAX_COLUMNS], *units[MAX_COLUMNS]; /* all NULL: HEALPix's */
  bool iau;                                            /* the file's U gets the IAU's sign */
} output;

/* The maps in memory, with all that their file said of them. */
output output_like(const sky *s);
/* What a writer of it is told, with the command line as HISTORY; the texts are `out`'s. */
kugel_fits_write_opts output_opts(const output *out);
/* Whether maps of `s` go to `path` in NESTED order: as --order (input, ring or nested) says, else in that of the input;
 * NPY files in that of --nest. */
bool output_nested(const char *path, const sky *s, const arg *order);
/* As FITS, or as NPY if the name ends so. After Ctrl-C: nothing written. */
int output_write(const char *path, const output *out);

/* Refuses early, before any work, what could not be written later. */
int check_output(const char *path);
bool path_ends_with(const char *path, const char *end);

/* The command line, for HISTORY cards; made once. */
void history_set(int argc, const char *const *argv);
const char *history_line(void);

/* Is the column I, Q or U (letter) by the names that HEALPix, WMAP, Planck and healpy give? */
bool is_stokes(const char *name, char letter);
const char *order_name(kugel_order order);
/* "G": "Galactic"; "" for "unknown"; others as written. */
const char *coordsys_name(const char *coordsys);

void fits_close(kugel_fits **file);
#define FITS_FILE __attribute__((cleanup(fits_close)))
void grid_close(kugel_grid **grid);
#define GRID __attribute__((cleanup(grid_close)))

#endif
