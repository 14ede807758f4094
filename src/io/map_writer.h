/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of HEALPix maps, written whole or in pieces. */
#ifndef KUGEL_IO_MAP_WRITER_H
#define KUGEL_IO_MAP_WRITER_H

#include "io/writer.h"

typedef struct kugel__map_writer {
  kugel__writer w;
  kugel_fits_write_opts o;
  const kugel_array *maps;
  int64_t ncolumns, nvalues, nside; /* nvalues: of a column of the array */
  const int64_t *pixels;            /* numbers of a partial map */
  const int64_t *chosen;            /* which values of the array are stored, NULL: all */
  int64_t nstored;
  kugel_dtype dtype; /* of the columns, or of the column at work if opts name one for each */
  char letter;       /* TFORM's */
  bool nulls;        /* integers: the lowest number stands for a bad pixel */
  int64_t *scratch;
} kugel__map_writer;

/* Fills letter from dtype. */
kugel_status kugel__map_type(kugel__map_writer *m);
/* The table's header, `repeat` pixels a row. */
kugel_status kugel__map_header(kugel__map_writer *m, bool partial, int64_t repeat);

#endif
