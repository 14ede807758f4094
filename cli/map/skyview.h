/* SPDX-License-Identifier: BSD-3-Clause */
/* kugel view of HEALPix maps: one page with their pixels in faces. */
#ifndef KUGEL_CLI_SKYVIEW_H
#define KUGEL_CLI_SKYVIEW_H

#include <stdbool.h>
#include <stdint.h>

typedef struct skyview_opts {
  const char *columns; /* NULL: see kugel view --help */
  int64_t nside;       /* the greatest of the page; 0: 512, or less where the page would exceed 30 MB */
  const char *title;   /* NULL: the files' names */
} skyview_opts;

/* Is the file, by its name (and shape, of NPY), one of maps? */
bool skyview_is(const char *path);
int skyview(const char *const *files, int n, const char *target, const skyview_opts *o);

#endif
