/* SPDX-License-Identifier: BSD-3-Clause */
/* Power spectra in FITS tables, images and text. */
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "core/alloc.h"
#include "io/cl_text.h"
#include "io/fits.h"
#include "io/input.h"
#include "io/writer.h"
#include "io/words.h"

enum { MAX_L = 1 << 24 };

/* 1: FITS or gzip, 0: something else, -1: unreadable, with a message. */
static int looks_like_fits(const char *path, kugel_status *s)
{
  unsigned char head[9] = {0};
  FILE *in;
  int64_t size;
  *s = kugel__input_open(path, &in, &size);
  if (*s)
    return -1;
  size_t n = fread(head, 1, sizeof head, in);
  int error = ferror(in) ? errno : 0;
  fclose(in);
  if (error) {
    *s = kugel__io_fail("read", path, error);
    return -1;
  }
  return (n >= 9 && !memcmp(head, "SIMPLE  =", 9)) || (n >= 2 && head[0] == 0x1f && head[1] == 0x8b);
}

static kugel_status inspect_fits(kugel_ctx *ctx, const char *path, kugel_cl_info *out)
{
  kugel_fits *file;
  KUGEL_TRY(kugel_fits_open(ctx, path, NULL, &file));
  const kugel_fits_info *info = kugel_fits_get_info(file);
  kugel_status s = KUGEL_OK;
  if (info->kind == KUGEL_FITS_MAP || info->kind == KUGEL_FITS_ALM)
    s = KUGEL_FAIL(KUGEL_EFORMAT, "'%s' holds %s, no power spectra", kugel__tail(path),
                   info->kind == KUGEL_FITS_MAP ? "a map" : "a_lm");
  else if (info->nvalues < 1 || info->nvalues > MAX_L)
    s = KUGEL_FAIL(KUGEL_EFORMAT, "'%s' has %lld rows, spectra have 1 to %d", kugel__tail(path),
                   (long long)info->nvalues, MAX_L);
  out->lmax = info->first_l + info->nvalues - 1;
  out->nspectra = info->ncolumns;
  out->has_l = info->kind == KUGEL_FITS_CL && file->table.ncols > info->ncolumns;
  for (int64_t c = 0; !s && c < info->ncolumns && c < 16; c++) {
    kugel_fits_column column;
    s = kugel_fits_get_column(file, c, &column);
    snprintf(out->names[c], sizeof out->names[c], "%.23s", column.name);
    if (c == 0)
      snprintf(out->unit, sizeof out->unit, "%s", column.unit);
  }
  kugel_fits_close(file);
  return s;
}

kugel_status kugel_cl_inspect(kugel_ctx *ctx, const char *path, kugel_cl_info *out)
{
  KUGEL_CHECK(path && *path && out, KUGEL_EINVAL, "%s",
              !out ? "out is NULL" : "the path is empty: give a file name");
  memset(out, 0, sizeof *out);
  kugel_status s;
  int fits = looks_like_fits(path, &s);
  if (fits < 0)
    return s;
  if (fits)
    return inspect_fits(ctx, path, out);
  kugel__cl_text t;
  KUGEL_TRY(kugel__text_read(ctx, path, &t));
  out->text = 1;
  out->has_l = t.has_l;
  out->nspectra = t.columns - t.has_l;
  out->lmax = t.rows - 1 + (t.has_l ? (int64_t)t.values[0] : 0);
  kugel__free(ctx, t.values);
  return KUGEL_OK;
}

static kugel_status read_fits(kugel_ctx *ctx, const char *path, int64_t nspectra, int64_t lmax, double *cl)
{
  kugel_fits *file;
  KUGEL_TRY(kugel_fits_open(ctx, path, NULL, &file));
  const kugel_fits_info *info = kugel_fits_get_info(file);
  kugel_status s = KUGEL_OK;
  int64_t count = kugel__min(info->nvalues, lmax + 1 - info->first_l);
  for (int64_t c = 0; !s && c < nspectra && count > 0; c++)
    s = kugel_fits_read_values(file, c, 0,
                               KUGEL_ARRAY(cl + c * (lmax + 1) + info->first_l, KUGEL_F64, count));
  kugel_fits_close(file);
  return s;
}

static kugel_status read_text(kugel_ctx *ctx, const char *path, int64_t nspectra, int64_t lmax, double *cl)
{
  kugel__cl_text t;
  KUGEL_TRY(kugel__text_read(ctx, path, &t));
  int64_t first = t.has_l ? (int64_t)t.values[0] : 0;
  for (int64_t r = 0; r < t.rows && first + r <= lmax; r++)
    for (int64_t c = 0; c < nspectra; c++)
      cl[c * (lmax + 1) + first + r] = t.values[r * t.columns + t.has_l + c];
  kugel__free(ctx, t.values);
  return KUGEL_OK;
}

kugel_status kugel_cl_read(kugel_ctx *ctx, const char *path, int is_dl, int64_t nspectra, int64_t lmax,
                           double *cl)
{
  KUGEL_CHECK(cl, KUGEL_EINVAL, "cl is NULL");
  KUGEL_CHECK(lmax >= 0 && lmax <= MAX_L, KUGEL_EINVAL, "lmax is %lld, must be 0 to %d", (long long)lmax,
              MAX_L);
  kugel_cl_info info;
  KUGEL_TRY(kugel_cl_inspect(ctx, path, &info));
  KUGEL_CHECK(nspectra >= 1 && nspectra <= info.nspectra, KUGEL_EINVAL, "nspectra is %lld, '%s' has %lld",
              (long long)nspectra, kugel__tail(path), (long long)info.nspectra);
  memset(cl, 0, (size_t)(nspectra * (lmax + 1)) * sizeof *cl);
  KUGEL_TRY(info.text ? read_text(ctx, path, nspectra, lmax, cl) : read_fits(ctx, path, nspectra, lmax, cl));
  for (int64_t c = 0; is_dl && c < nspectra; c++)
    for (int64_t l = 0; l <= lmax; l++)
      cl[c * (lmax + 1) + l] *= l ? 2 * M_PI / ((double)l * (double)(l + 1)) : 0;
  return KUGEL_OK;
}

/* ---- writing
 * ------------------------------------------------------------------------------------------------ */

/* Rows of numbers of 25 characters with a blank between, as cfitsio lays D25.16 out. */
static kugel_status write_ascii(kugel__writer *w, int64_t nspectra, int64_t lmax, const double *cl)
{
  locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  KUGEL_CHECK(c_locale, KUGEL_ENOMEM, "no memory to write '%s'", kugel__tail(w->file.path));
  locale_t before = uselocale(c_locale);
  kugel_status s = KUGEL_OK;
  for (int64_t k = 0; !s && k < (lmax + 1) * nspectra; k++) {
    char text[40];
    int64_t l = k / nspectra, c = k % nspectra;
    int n = snprintf(text, sizeof text, "%s%25.16E", c ? " " : "", cl[c * (lmax + 1) + l]);
    for (int i = 0; !s && i < n; i++)
      s = kugel__writer_integer(w, text[i], 1);
  }
  uselocale(before);
  freelocale(c_locale);
  return s ? s : kugel__writer_flush(w);
}

static kugel_status write_fits(kugel__writer *w, const kugel_fits_write_opts *o, const char *const *names,
                               const char *const *forms, int64_t nspectra, int64_t lmax, const double *cl)
{
  const char *extname = o->extname ? o->extname : "POWER SPECTRUM";
  KUGEL_TRY(kugel__writer_table(w, o->ascii, lmax + 1, (int)nspectra, names, forms, o->units, extname));
  KUGEL_TRY(kugel__writer_int(w, "MAX-LPOL", lmax, "Maximum multipole l"));
  KUGEL_TRY(kugel__writer_common(w, o));
  KUGEL_TRY(kugel__writer_seal(w));
  if (o->ascii)
    return write_ascii(w, nspectra, lmax, cl);
  for (int64_t l = 0; l <= lmax; l++)
    for (int64_t c = 0; c < nspectra; c++)
      KUGEL_TRY(kugel__writer_real(w, cl[c * (lmax + 1) + l], o->dtype.bits == 32 ? 4 : 8));
  return kugel__writer_flush(w);
}

static bool ends_in(const char *path, const char *suffix)
{
  size_t n = strlen(path), k = strlen(suffix);
  return n > k && kugel__same_word(path + n - k, suffix);
}

kugel_status kugel_cl_write(kugel_ctx *ctx, const char *path, const kugel_fits_write_opts *opts,
                            int64_t nspectra, int64_t lmax, const double *cl)
{
  static const char *const healpix[] = {"TEMPERATURE", "GRADIENT", "CURL", "G-T", "C-G", "C-T"};
  kugel_fits_write_opts o;
  KUGEL_TRY(kugel__writer_opts(&o, opts));
  KUGEL_CHECK(path && *path && cl, KUGEL_EINVAL, "%s",
              !cl ? "cl is NULL" : "the path is empty: give a file name");
  KUGEL_CHECK(lmax >= 0 && lmax <= MAX_L, KUGEL_EINVAL, "lmax is %lld, must be 0 to %d", (long long)lmax,
              MAX_L);
  KUGEL_CHECK(nspectra >= 1 && nspectra <= 256, KUGEL_EINVAL, "nspectra is %lld, must be 1 to 256",
              (long long)nspectra);
  KUGEL_CHECK(!o.dtype.bits || (o.dtype.code == KUGEL_FLOAT && (o.dtype.bits == 32 || o.dtype.bits == 64)),
              KUGEL_EINVAL, "dtype of spectra must be float32 or float64");
  if (ends_in(path, ".txt") || ends_in(path, ".dat") || ends_in(path, ".csv"))
    return kugel__text_write(ctx, path, &o, nspectra, lmax, cl);
  const char *names[256], *forms[256];
  char numbered[256][16];
  bool known = nspectra == 1 || nspectra == 4 || nspectra == 6;
  for (int64_t c = 0; c < nspectra; c++) {
    snprintf(numbered[c], sizeof numbered[c], "C%d", (int)c + 1);
    names[c] = o.names && o.names[c] ? o.names[c] : known ? healpix[c] : numbered[c];
    forms[c] = o.ascii ? "D25.16" : o.dtype.bits == 32 ? "1E" : "1D";
  }
  kugel__writer w;
  kugel_status s = kugel__writer_begin(ctx, path, o.overwrite, &w);
  if (!s)
    s = write_fits(&w, &o, names, forms, nspectra, lmax, cl);
  return kugel__writer_end(&w, s);
}
