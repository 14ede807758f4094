/* SPDX-License-Identifier: BSD-3-Clause */
/* HEALPix maps as NPY arrays: [npix] or [n, npix], in RING order, or in NESTED order with --nest. */
#ifndef KUGEL_CLI_NPYMAP_H
#define KUGEL_CLI_NPYMAP_H

#include "map/files.h"

/* Where NPY maps are in NESTED order; for commands with such maps. */
#define NPY_OPTIONS(X)                                                                                       \
  X(nest, 0, ARG_FLAG, NULL, NULL, 0, 0,                                                                     \
    "HEALPix maps in NPY files, read or written, are in NESTED order; such files do not say")                \
  X(ring, 0, ARG_FLAG, NULL, NULL, 0, 0, "they are in RING order, as without either option")
/* The same for commands that write maps. */
#define MAP_OUTPUT_OPTIONS(X)                                                                                \
  NPY_OPTIONS(X)                                                                                             \
  X(partial, 0, ARG_FLAG, NULL, NULL, 0, 0,                                                                  \
    "FITS maps hold only the pixels that are seen, with their numbers in a first column (INDXSCHM = "        \
    "EXPLICIT)")

/* Whether the array has the shape of HEALPix maps: [12 nside^2], or a few rows of that. False too for a file that cannot
 * be read. */
bool npymap_is(const char *path);
/* Opens the file as sky_open does a FITS file. */
int npymap_open(sky *s, const char *columns);
/* Reads the columns in use into s->maps in the file's ordering; s->dtype is set. */
int npymap_read(sky *s);
int npymap_write(const char *path, const output *out);

#endif
