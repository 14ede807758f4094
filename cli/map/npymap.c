/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "map/npymap.h"

static int64_t nside_of(int64_t npix)
{
  int64_t nside = npix > 0 ? (int64_t)llround(sqrt((double)npix / 12)) : 0;
  return nside >= 1 && nside <= 1 << 29 && 12 * nside * nside == npix ? nside : 0;
}

/* [n, 12 nside^2] is also the shape of n rows of latitude, but those are about half as many as columns. */
static int64_t nside_of_shape(const kugel_npy_info *info)
{
  if (info->dtype.code == KUGEL_COMPLEX || info->ndim < 1 || info->ndim > 2 || info->count == 0)
    return 0;
  int64_t npix = info->shape[info->ndim - 1];
  return info->ndim == 2 && info->shape[0] > npix / 4 ? 0 : nside_of(npix);
}

bool npymap_is(const char *path)
{
  kugel_npy_info info;
  return path_ends_with(path, ".npy") && kugel_npy_inspect(NULL, path, &info) == KUGEL_OK &&
         nside_of_shape(&info) > 0;
}

static int pick_rows(sky *s, const char *list)
{
  char words[512];
  snprintf(words, sizeof words, "%s", list);
  for (char *save, *w = strtok_r(words, ",", &save); w; w = strtok_r(NULL, ",", &save)) {
    char *end;
    long long row = strtoll(w, &end, 10);
    if (*end || row < 0 || row >= s->own.ncolumns)
      return fail_usage("--columns %.60s: %s has maps 0 to %lld, without names", w, s->path,
                        (long long)s->own.ncolumns - 1);
    if (s->n == MAX_COLUMNS)
      return fail_usage("--columns names more than %d", MAX_COLUMNS);
    s->columns[s->n++] = row;
  }
  return s->n ? EXIT_DONE : fail_usage("--columns names none");
}

int npymap_open(sky *s, const char *columns)
{
  kugel_npy_info info;
  LIB(kugel_npy_inspect(NULL, s->path, &info));
  int64_t nside = nside_of_shape(&info);
  if (!nside) {
    char shape[128] = "no dimension";
    for (int i = 0, at = 0; i < info.ndim && at < 100; i++)
      at +=
          snprintf(shape + at, sizeof shape - (size_t)at, "%s%lld", i ? " x " : "", (long long)info.shape[i]);
    return fail("%s is an array of %s%s: a HEALPix map is [npix] or [n, npix] real numbers, npix = 12 "
                "nside^2; kugel regrid takes rows of latitude",
                s->path, shape, info.dtype.code == KUGEL_COMPLEX ? " complex numbers" : "");
  }
  if (run.nest && (nside & (nside - 1)))
    return fail("--nest: %s has nside %lld, which is no power of two, so there is no NESTED ordering",
                s->path, (long long)nside);
  s->npy = true;
  s->own = (kugel_fits_info){.kind = KUGEL_FITS_MAP,
                             .ncolumns = info.ndim == 2 ? info.shape[0] : 1,
                             .nside = nside,
                             .npix = 12 * nside * nside,
                             .order = run.nest ? KUGEL_ORDER_NESTED : KUGEL_ORDER_RING};
  s->own.nvalues = s->own.npix;
  s->info = &s->own;
  if (columns && strcmp(columns, "all"))
    STEP(pick_rows(s, columns));
  else
    for (; s->n < s->own.ncolumns && s->n < MAX_COLUMNS; s->n++)
      s->columns[s->n] = s->n;
  for (int64_t i = 0; i < s->n; i++)
    s->described[i] = (kugel_fits_column){.dtype = info.dtype, .repeat = 1};
  return EXIT_DONE;
}

/* What is within rounding of UNSEEN becomes UNSEEN, as of FITS files. */
static void set_unseen(void *data, kugel_dtype dtype, int64_t n)
{
  double *d = data;
  float *f = data;
  for (int64_t i = 0; i < n; i++)
    if (dtype.bits == 64)
      d[i] = fabs(d[i] / KUGEL_UNSEEN - 1) < 1e-5 ? KUGEL_UNSEEN : d[i];
    else
      f[i] = fabs((double)f[i] / KUGEL_UNSEEN - 1) < 1e-5 ? (float)KUGEL_UNSEEN : f[i];
}

int npymap_read(sky *s)
{
  size_t bytes = (size_t)s->npix * (s->dtype.bits / 8);
  OWNED void *all = NULL;
  bool whole = s->n == s->info->ncolumns;
  for (int64_t i = 0; i < s->n; i++)
    whole = whole && s->columns[i] == i;
  if (!whole) {
    all = malloc((size_t)s->info->ncolumns * bytes);
    if (!all)
      return fail("%s: no memory for %lld maps of %lld pixels", s->path, (long long)s->info->ncolumns,
                  (long long)s->npix);
  }
  LIB(kugel_npy_read(NULL, s->path,
                     KUGEL_ARRAY(whole ? s->maps : all, s->dtype, s->info->ncolumns, s->npix)));
  for (int64_t i = 0; i < s->n && !whole; i++)
    memcpy((char *)s->maps + (size_t)i * bytes, (char *)all + (size_t)s->columns[i] * bytes, bytes);
  set_unseen(s->maps, s->dtype, s->n * s->npix);
  return EXIT_DONE;
}

int npymap_write(const char *path, const output *out)
{
  int64_t shape[2] = {out->n, 12 * out->nside * out->nside};
  kugel_array maps = {.data = out->maps,
                      .device = {KUGEL_CPU, 0},
                      .dtype = out->dtype,
                      .ndim = out->n == 1 ? 1 : 2,
                      .shape = out->n == 1 ? shape + 1 : shape};
  kugel_status status = kugel_npy_write(NULL, path, run.overwrite, &maps);
  return status == KUGEL_OK ? EXIT_DONE : fail_library(status, path);
}
