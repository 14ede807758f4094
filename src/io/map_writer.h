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

/* Maps in pieces, see kugel/io.h. */
struct kugel_fits_writer {
  kugel_ctx *ctx;
  kugel_comm *comm; /* NULL: this process alone */
  int rank;
  kugel__map_writer m;
  int64_t repeat;      /* pixels a row */
  kugel_status status; /* the first failure: the file is not kept */
};

/* Checks options, and fills what follows from them alone. */
kugel_status kugel__pieces_check(kugel_fits_writer *f);
/* The file up to its pixels. */
kugel_status kugel__pieces_begin(kugel_fits_writer *f, const char *path);
/* fits_ranks.c: the same file on several ranks; so_far: this rank's failure. Collective. */
kugel_status kugel__pieces_create_together(kugel_ctx *ctx, kugel_status so_far, const char *path,
                                           const kugel_fits_write_opts *o, int64_t nside, int64_t ncolumns,
                                           kugel_fits_writer **out);
kugel_status kugel__pieces_close_together(kugel_fits_writer *f, int keep);

/* Fills letter from dtype. */
kugel_status kugel__map_type(kugel__map_writer *m);
/* The table's header, `repeat` pixels a row. */
kugel_status kugel__map_header(kugel__map_writer *m, bool partial, int64_t repeat);

#endif
