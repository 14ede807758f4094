/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include "alm/alms.h"

int alms_open(alms *a, const char *path, int64_t lmax, bool polarise)
{
  *a = (alms){.path = path};
  kugel_status status = kugel_fits_open(NULL, path, NULL, &a->file);
  if (status != KUGEL_OK)
    return fail_library(status, path);
  a->info = kugel_fits_get_info(a->file);
  if (a->info->kind != KUGEL_FITS_ALM)
    return fail("%s holds no a_lm; kugel info %s describes it", path, path);
  if (lmax > a->info->lmax)
    return fail("--lmax %lld is above the file's lmax %lld", (long long)lmax, (long long)a->info->lmax);
  a->lmax = lmax < 0 ? a->info->lmax : lmax;
  a->mmax = a->info->mmax < a->lmax ? a->info->mmax : a->lmax;
  a->count = kugel_alm_count(a->lmax, mmax_argument(a->mmax));
  a->n = a->info->ncomponents >= 3 && polarise ? 3 : 1;
  return EXIT_DONE;
}

int alms_make(alms *a, int64_t n, int64_t lmax, int64_t mmax)
{
  a->n = n;
  a->lmax = lmax;
  a->mmax = mmax;
  a->count = kugel_alm_count(lmax, mmax_argument(mmax));
  a->data = calloc((size_t)n, (size_t)a->count * sizeof *a->data);
  if (!a->data)
    return fail("no memory for a_lm to lmax %lld", (long long)lmax);
  return EXIT_DONE;
}

int alms_read(alms *a)
{
  STEP(alms_make(a, a->n, a->lmax, a->mmax));
  for (int64_t i = 0; i < a->n; i++) {
    progress_reading((double)i / (double)a->n, (double)(i + 1) / (double)a->n, "reading");
    kugel_status status = kugel_fits_read_alm(a->file, i, a->lmax, a->mmax,
                                              KUGEL_ARRAY(a->data + i * a->count, KUGEL_C128, a->count));
    if (status != KUGEL_OK)
      return fail_library(status, a->path);
  }
  return interrupted() ? fail_interrupted() : EXIT_DONE;
}

int alms_write(const char *path, const alms *a, const kugel_fits_info *info, const char *unit,
               const char *coordsys, bool as_float)
{
  const char *line = history_line(), *units[3] = {unit, unit, unit};
  if (interrupted())
    return fail_interrupted();
  progress_writing();
  kugel_status status =
      kugel_fits_write_alm(NULL, path,
                           &(kugel_fits_write_opts){
                               .size = sizeof(kugel_fits_write_opts),
                               .overwrite = run.overwrite,
                               .dtype = as_float ? KUGEL_F32 : KUGEL_F64,
                               .coordsys = coordsys                    ? coordsys
                                           : info && info->coordsys[0] ? info->coordsys
                                                                       : NULL,
                               .units = units,
                               .cards = info ? info->cards : NULL,
                               .ncards = info ? info->ncards : 0,
                               .history = &line,
                               .nhistory = 1,
                           },
                           a->lmax, a->mmax, KUGEL_ARRAY(a->data, KUGEL_C128, a->n, a->count));
  return status == KUGEL_OK ? EXIT_DONE : fail_library(status, path);
}

void alms_report(const alms *a)
{
  json_int("lmax", a->lmax);
  json_int("mmax", a->mmax);
  json_int("components", a->n);
  fact("a_lm", "lmax %lld, mmax %lld, %s", (long long)a->lmax, (long long)a->mmax,
       a->n == 3 ? "T, E and B" : "one component");
}

void alms_close(alms *a)
{
  kugel_fits_close(a->file);
  free(a->data);
  a->file = NULL;
  a->data = NULL;
}
