/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers in columns of a text file. */
#ifndef KUGEL_IO_CL_TEXT_H
#define KUGEL_IO_CL_TEXT_H

#include <kugel/io.h>
#include "core/base.h"

typedef struct kugel__cl_text {
  int64_t rows, columns;
  double *values; // [rows, columns]
  bool has_l;     // the first column counts up by one
} kugel__cl_text;

/* Reads all rows; free by kugel__free(ctx, t->values). */
kugel_status kugel__text_read(kugel_ctx *ctx, const char *path, kugel__cl_text *t);
kugel_status kugel__text_write(kugel_ctx *ctx, const char *path, const kugel_fits_write_opts *o,
                               int64_t nspectra, int64_t lmax, const double *cl);

#endif
