/* SPDX-License-Identifier: BSD-3-Clause */
/* Binary tables of reals, and copies of tables with further columns. */
#include <stdio.h>
#include <string.h>
#include "core/alloc.h"
#include "core/array.h"
#include "core/parallel.h"
#include "io/fits.h"
#include "io/writer.h"

enum { MOST = 999 }; /* columns of a FITS table */

typedef struct job {
  kugel__writer w;
  kugel_fits_write_opts o;
  kugel_fits *from; /* NULL: a new table */
  const kugel_array *values;
  int64_t ncolumns, nrows;
  int bytes; /* of a new value */
  char (*text)[3][72];
  const char **lists; /* names, forms, units of all columns */
} job;

static int64_t before(const job *j)
{
  return j->from ? j->from->table.ncols : 0;
}

static kugel_status check(job *j)
{
  const kugel_array *a = j->values;
  KUGEL_CHECK(a, KUGEL_EINVAL, "columns is NULL: pass an array");
  KUGEL_CHECK(a->dtype.code == KUGEL_FLOAT && (a->dtype.bits == 32 || a->dtype.bits == 64) &&
                  a->dtype.lanes == 1 && a->ndim == 2,
              KUGEL_ESHAPE, "columns must be float32 or float64, [ncolumns, nrows]");
  int64_t lead = -1;
  KUGEL_TRY(kugel__array_check(a, "columns", a->dtype, 0, NULL, &lead));
  j->ncolumns = a->shape[0];
  j->nrows = a->shape[1];
  KUGEL_CHECK(j->ncolumns >= 1 && j->ncolumns + before(j) <= MOST, KUGEL_ESHAPE,
              "columns has %lld columns, must be 1 to %lld: a table has at most %d", (long long)j->ncolumns,
              (long long)(MOST - before(j)), MOST);
  KUGEL_CHECK(j->o.names, KUGEL_EINVAL, "names is NULL: pass a name for each of %lld columns",
              (long long)j->ncolumns);
  for (int64_t c = 0; c < j->ncolumns; c++)
    KUGEL_CHECK(j->o.names[c] && *j->o.names[c], KUGEL_EINVAL, "column %lld has no name", (long long)c);
  const kugel_dtype type = j->o.dtype.bits ? j->o.dtype : a->dtype;
  KUGEL_CHECK(type.code == KUGEL_FLOAT && (type.bits == 32 || type.bits == 64), KUGEL_EINVAL,
              "dtype is (%d, %d bits), must be float32 or float64", type.code, type.bits);
  j->bytes = type.bits / 8;
  if (!j->from)
    return KUGEL_OK;
  const kugel__table *t = &j->from->table;
  KUGEL_CHECK(t->type == BINARY_TBL, KUGEL_ENOTSUP,
              "'%s' holds no binary table: columns can be added to such alone", kugel__tail(j->from->path));
  KUGEL_CHECK(t->nrows == j->nrows, KUGEL_ESHAPE, "columns has %lld rows, the table of '%s' has %lld",
              (long long)j->nrows, kugel__tail(j->from->path), (long long)t->nrows);
  KUGEL_CHECK(t->row_bytes + 8 * j->ncolumns <= KUGEL__WRITE_BUFFER, KUGEL_ENOTSUP,
              "rows of '%s' have %lld bytes, at most %lld can be copied", kugel__tail(j->from->path),
              (long long)t->row_bytes, (long long)(KUGEL__WRITE_BUFFER - 8 * j->ncolumns));
  return KUGEL_OK;
}

/* The form of column c of the table that is copied; those whose elements lie behind the rows are refused. */
static kugel_status form_of(const job *j, int64_t c, char form[72])
{
  char key[FLEN_KEYWORD];
  snprintf(key, sizeof key, "TFORM%lld", (long long)c + 1);
  KUGEL_CHECK(kugel__key_text(j->from->f, key, form, 72), KUGEL_EFORMAT, "'%s' has no %s",
              kugel__tail(j->from->path), key);
  KUGEL_CHECK(
      !strpbrk(form, "PQ"), KUGEL_ENOTSUP,
      "column %lld of '%s' has elements of variable length (%.20s), which cannot be copied: write the new "
      "columns to a table of their own",
      (long long)c + 1, kugel__tail(j->from->path), form);
  return KUGEL_OK;
}

static kugel_status make_table(job *j)
{
  const int64_t old = before(j), n = old + j->ncolumns;
  const char **names = j->lists, **forms = names + n, **units = forms + n;
  for (int64_t c = 0; c < n; c++) {
    char(*text)[72] = j->text[c], key[FLEN_KEYWORD];
    if (c < old) {
      snprintf(key, sizeof key, "TTYPE%lld", (long long)c + 1);
      kugel__key_text(j->from->f, key, text[0], sizeof text[0]);
      KUGEL_TRY(form_of(j, c, text[1]));
      snprintf(key, sizeof key, "TUNIT%lld", (long long)c + 1);
      kugel__key_text(j->from->f, key, text[2], sizeof text[2]);
    } else {
      strcpy(text[1], j->bytes == 8 ? "D" : "E");
    }
    names[c] = c < old ? text[0] : j->o.names[c - old];
    forms[c] = text[1];
    units[c] = c < old ? text[2] : j->o.units ? j->o.units[c - old] : NULL;
  }
  const char *extname = j->o.extname ? j->o.extname : j->from ? j->from->info.extname : "TABLE";
  return kugel__writer_table(&j->w, false, j->nrows, (int)n, names, forms, units, extname);
}

/* What a header says of a column beside its name, form and unit. */
static kugel_status copy_scales(job *j)
{
  static const char *const keys[] = {"TSCAL", "TZERO", "TNULL", "TDISP", "TDIM"};
  int status = 0;
  for (int64_t c = 0; c < before(j); c++)
    for (int k = 0; k < 5; k++) {
      char key[FLEN_KEYWORD], card[FLEN_CARD];
      snprintf(key, sizeof key, "%s%lld", keys[k], (long long)c + 1);
      int missing = 0;
      if (!fits_read_card(j->from->f, key, card, &missing))
        fits_write_record(j->w.f, card, &status);
    }
  fits_clear_errmsg();
  return status ? kugel__writer_fail(&j->w, status) : KUGEL_OK;
}

static kugel_status write_rows(job *j)
{
  const int64_t width = j->from ? j->from->table.row_bytes : 0;
  const char *data = kugel__array_data(j->values);
  const bool single = j->values->dtype.bits == 32;
  for (int64_t row = 0; row < j->nrows; row++) {
    int status = 0;
    if (row % 4096 == 0)
      KUGEL_TRY(kugel__progress_step((double)row / (double)j->nrows));
    if (j->w.used + width > KUGEL__WRITE_BUFFER)
      KUGEL_TRY(kugel__writer_drain(&j->w));
    if (width && fits_read_tblbytes(j->from->f, row + 1, 1, width, j->w.buffer + j->w.used, &status))
      return kugel__fits_fail("read", j->from->path, status);
    j->w.used += width;
    for (int64_t c = 0; c < j->ncolumns; c++) {
      const int64_t at = c * j->nrows + row;
      const double value =
          single ? (double)((const float *)(const void *)data)[at] : ((const double *)(const void *)data)[at];
      KUGEL_TRY(kugel__writer_real(&j->w, value, j->bytes));
    }
  }
  return kugel__writer_flush(&j->w);
}

static kugel_status write_file(job *j)
{
  KUGEL_TRY(make_table(j));
  KUGEL_TRY(copy_scales(j));
  kugel_fits_write_opts o = j->o;
  if (j->from && !o.cards) {
    o.cards = j->from->info.cards;
    o.ncards = j->from->info.ncards;
  }
  KUGEL_TRY(kugel__writer_common(&j->w, &o));
  KUGEL_TRY(kugel__writer_seal(&j->w));
  kugel__span outer = kugel__progress_enter(0, 1);
  kugel__progress_stage(0, 1, "writing");
  kugel_status s = write_rows(j);
  kugel__progress_leave(outer);
  return s;
}

static kugel_status locked(job *j)
{
  if (!j->from)
    return write_file(j);
  int status = 0;
  kugel__fits_lock(j->from);
  fits_movabs_hdu(j->from->f, j->from->table.hdu, NULL, &status);
  kugel_status s = status ? kugel__fits_fail("read", j->from->path, status) : write_file(j);
  kugel__fits_unlock(j->from);
  return s;
}

kugel_status kugel_fits_write_table(kugel_ctx *ctx, const char *path, const kugel_fits_write_opts *opts,
                                    kugel_fits *from, const kugel_array *columns)
{
  job j = {.from = from, .values = columns};
  KUGEL_TRY(kugel__writer_opts(&j.o, opts));
  KUGEL_TRY(check(&j));
  const size_t n = (size_t)(before(&j) + j.ncolumns);
  j.text = kugel__calloc(ctx, n * sizeof *j.text);
  j.lists = kugel__calloc(ctx, 3 * n * sizeof *j.lists);
  kugel_status s = j.text && j.lists ? KUGEL_OK : KUGEL_FAIL(KUGEL_ENOMEM, "no memory for %zu columns", n);
  if (!s) {
    s = kugel__writer_begin(ctx, path, j.o.overwrite, &j.w);
    if (!s)
      s = locked(&j);
    s = kugel__writer_end(&j.w, s);
  }
  kugel__free(ctx, j.text);
  kugel__free(ctx, j.lists);
  return s;
}
