/* SPDX-License-Identifier: BSD-3-Clause */
/* Coefficient files. */
#ifndef KUGEL_CLI_ALMS_H
#define KUGEL_CLI_ALMS_H

#include <kugel/alm.h>
#include "common/report.h"

typedef struct alms {
  const char *path;
  kugel_fits *file;
  const kugel_fits_info *info;
  int64_t lmax, mmax, count; /* count: coefficients of one component */
  int64_t n;                 /* components: T; or T, E, B */
  double _Complex *data;     /* [n, count] */
} alms;

/* An order, 0 to lmax, as the library's functions and options take it: 0 might mean either to them. */
static inline int64_t mmax_argument(int64_t mmax)
{
  return mmax ? mmax : KUGEL_ONLY_M0;
}

/* Opens the file; lmax below 0: the file's. Three components are T, E, B unless `polarise` is false. */
int alms_open(alms *a, const char *path, int64_t lmax, bool polarise);
int alms_read(alms *a);
/* Room for n components, zeroed, without a file. */
int alms_make(alms *a, int64_t n, int64_t lmax, int64_t mmax);
/* Units, coordinate system and keywords are those of `info` (NULL: none) unless coordsys is given. */
int alms_write(const char *path, const alms *a, const kugel_fits_info *info, const char *unit,
               const char *coordsys, bool as_float);
void alms_report(const alms *a);
void alms_close(alms *a);
#define ALMS __attribute__((cleanup(alms_close))) alms

#endif
