/* SPDX-License-Identifier: BSD-3-Clause */
/* a_lm in FITS: columns INDEX = l^2+l+m+1, REAL, IMAG; one HDU a component. */
#include <complex.h>
#include <math.h>
#include <string.h>
#include "core/alloc.h"
#include "core/array.h"
#include "core/parallel.h"
#include "io/fits.h"
#include "core/replace.h"
#include "io/writer.h"

enum { ROWS = 32768 };

static int64_t alm_count(int64_t lmax, int64_t mmax)
{
  return (mmax + 1) * (2 * (lmax + 1) - mmax) / 2;
}

static kugel_status check_limits(int64_t lmax, int64_t mmax)
{
  KUGEL_CHECK(lmax >= 0 && lmax < 1 << 20, KUGEL_EINVAL, "lmax is %lld, must be 0 to %d", (long long)lmax,
              (1 << 20) - 1);
  KUGEL_CHECK(mmax >= 0 && mmax <= lmax, KUGEL_EINVAL, "mmax is %lld, must be 0 to lmax = %lld",
              (long long)mmax, (long long)lmax);
  return KUGEL_OK;
}

/* [ncoef] or [n, ncoef] of complex64 or complex128; the number of components. */
static kugel_status check_alm(const kugel_array *a, int64_t lmax, int64_t mmax, int64_t *n)
{
  KUGEL_CHECK(a, KUGEL_EINVAL, "alm is NULL: pass an array");
  KUGEL_CHECK(a->dtype.code == KUGEL_COMPLEX && (a->dtype.bits == 64 || a->dtype.bits == 128) &&
                  a->dtype.lanes == 1,
              KUGEL_ESHAPE, "alm has the type (%d, %d bits), must be complex64 or complex128", a->dtype.code,
              a->dtype.bits);
  int64_t shape = alm_count(lmax, mmax);
  *n = -1;
  return kugel__array_check(a, "alm", a->dtype, 1, &shape, n);
}

/* ---- reading
 * ------------------------------------------------------------------------------------------------ */

typedef struct alm_reader {
  kugel_fits *file;
  const kugel_array *alm;
  int64_t lmax, mmax, start;
  int64_t at[ROWS]; // where the row's coefficient goes, -1: nowhere
} alm_reader;

static kugel_status take_rows(void *user, const kugel__fits_run *run)
{
  alm_reader *r = user;
  int64_t skip = run->at - r->start;
  for (int64_t k = 0; k < run->n; k++) {
    if (run->which == 0) {
      int64_t index = run->i[k] - 1;
      KUGEL_CHECK(run->integer && index >= 0 && index < (int64_t)1 << 40, KUGEL_EFORMAT,
                  "'%s': row %lld has the index %lld, no l^2+l+m+1", kugel__tail(r->file->path),
                  (long long)(run->at + k), (long long)index + 1);
      int64_t l = (int64_t)sqrt((double)index), m = index - l * l - l;
      bool wanted = m >= 0 && l <= r->lmax && m <= r->mmax;
      r->at[skip + k] = wanted ? m * (2 * r->lmax + 1 - m) / 2 + l : -1;
    } else if (r->at[skip + k] >= 0) {
      int64_t slot = 2 * r->at[skip + k] + run->which - 1;
      double x = run->integer ? (double)run->i[k] : run->d[k];
      if (r->alm->dtype.bits == 128)
        ((double *)kugel__array_data(r->alm))[slot] = x;
      else
        ((float *)kugel__array_data(r->alm))[slot] = (float)x;
    }
  }
  return KUGEL_OK;
}

static kugel_status read_component(alm_reader *r, const kugel__table *t)
{
  static const int64_t columns[3] = {0, 1, 2};
  for (int i = 0; i < 3; i++)
    KUGEL_CHECK(t->type == BINARY_TBL && t->ncols >= 3 && t->cols[i].repeat == 1 && t->cols[0].integer,
                KUGEL_EFORMAT, "'%s', HDU %d: no table of index, real part, imaginary part",
                kugel__tail(r->file->path), t->hdu);
  memset(kugel__array_data(r->alm), 0, (size_t)alm_count(r->lmax, r->mmax) * r->alm->dtype.bits / 8);
  kugel_status s = KUGEL_OK;
  kugel__span outer = kugel__progress_enter(0, 1);
  for (r->start = 0; r->start < t->nrows && !s; r->start += ROWS) {
    int64_t n = kugel__min(ROWS, t->nrows - r->start);
    kugel__progress_stage((double)r->start / (double)t->nrows, (double)(r->start + n) / (double)t->nrows,
                          "reading");
    s = kugel__table_values(r->file, t, 3, columns, r->start, n, take_rows, r);
  }
  kugel__progress_leave(outer);
  return s;
}

kugel_status kugel_fits_read_alm(kugel_fits *file, int64_t component, int64_t lmax, int64_t mmax,
                                 const kugel_array *alm)
{
  KUGEL_CHECK(file, KUGEL_EINVAL, "file is NULL");
  KUGEL_CHECK(file->info.kind == KUGEL_FITS_ALM, KUGEL_EFORMAT, "'%s' holds no a_lm in HDU %lld",
              kugel__tail(file->path), (long long)file->info.hdu);
  KUGEL_CHECK(component >= 0 && component < file->info.ncomponents, KUGEL_EINVAL,
              "component is %lld, '%s' has %lld, counted from 0", (long long)component,
              kugel__tail(file->path), (long long)file->info.ncomponents);
  int64_t n;
  KUGEL_TRY(check_limits(lmax, mmax));
  KUGEL_TRY(check_alm(alm, lmax, mmax, &n));
  KUGEL_CHECK(n == 1, KUGEL_ESHAPE, "alm holds %lld components, one is read at a time", (long long)n);
  alm_reader *r;
  KUGEL_ALLOC(file->ctx, r, sizeof *r);
  *r = (alm_reader){.file = file, .alm = alm, .lmax = lmax, .mmax = mmax};
  kugel__table t;
  kugel__fits_lock(file);
  kugel_status s = kugel__table_read(file, file->table.hdu + (int)component, &t);
  if (!s)
    s = read_component(r, &t);
  kugel__fits_unlock(file);
  kugel__table_free(file->ctx, &t);
  kugel__free(file->ctx, r);
  return s;
}

/* ---- writing
 * ------------------------------------------------------------------------------------------------ */

/* HEALPix orders rows by l, then m; columns INDEX (J or K), REAL, IMAG. */
static kugel_status write_rows(kugel__writer *w, int64_t lmax, int64_t mmax, const kugel_array *alm,
                               int64_t component, int bytes)
{
  int64_t base = component * alm_count(lmax, mmax);
  const double *d = kugel__array_data(alm);
  const float *f = kugel__array_data(alm);
  bool wide = lmax >= 46340;
  for (int64_t l = 0; l <= lmax; l++) {
    KUGEL_TRY(
        kugel__progress_step((double)alm_count(l, kugel__min(l, mmax)) / (double)alm_count(lmax, mmax)));
    for (int64_t m = 0; m <= kugel__min(l, mmax); m++) {
      int64_t at = 2 * (base + m * (2 * lmax + 1 - m) / 2 + l);
      KUGEL_TRY(kugel__writer_integer(w, l * l + l + m + 1, wide ? 8 : 4));
      for (int part = 0; part < 2; part++)
        KUGEL_TRY(kugel__writer_real(w, alm->dtype.bits == 128 ? d[at + part] : f[at + part], bytes));
    }
  }
  return KUGEL_OK;
}

static kugel_status write_component(kugel__writer *w, const kugel_fits_write_opts *o, int64_t lmax,
                                    int64_t mmax, const kugel_array *alm, int64_t component, int bytes)
{
  static const char *const names[] = {"INDEX", "REAL", "IMAG"};
  const char *unit = o->units ? o->units[component] : NULL;
  const char *const units[] = {"l*l+l+m+1", unit, unit};
  const char *const forms[] = {lmax >= 46340 ? "1K" : "1J", bytes == 8 ? "1D" : "1E",
                               bytes == 8 ? "1D" : "1E"};
  KUGEL_TRY(kugel__writer_table(w, false, alm_count(lmax, mmax), 3, names, forms, units, o->extname));
  KUGEL_TRY(kugel__writer_int(w, "MAX-LPOL", lmax, "Maximum multipole l"));
  KUGEL_TRY(kugel__writer_int(w, "MAX-MPOL", mmax, "Maximum order m"));
  KUGEL_TRY(kugel__writer_common(w, o));
  KUGEL_TRY(kugel__writer_seal(w));
  KUGEL_TRY(write_rows(w, lmax, mmax, alm, component, bytes));
  return kugel__writer_flush(w);
}

kugel_status kugel_fits_write_alm(kugel_ctx *ctx, const char *path, const kugel_fits_write_opts *opts,
                                  int64_t lmax, int64_t mmax, const kugel_array *alm)
{
  kugel_fits_write_opts o;
  KUGEL_TRY(kugel__writer_opts(&o, opts));
  int64_t n;
  KUGEL_TRY(check_limits(lmax, mmax));
  KUGEL_TRY(check_alm(alm, lmax, mmax, &n));
  KUGEL_CHECK(n >= 1 && n <= 100, KUGEL_ESHAPE, "alm has %lld components, must be 1 to 100", (long long)n);
  int bytes = alm->dtype.bits / 16;
  if (o.dtype.bits) {
    KUGEL_CHECK(o.dtype.code == KUGEL_FLOAT && (o.dtype.bits == 32 || o.dtype.bits == 64), KUGEL_EINVAL,
                "dtype of a_lm columns must be float32 or float64");
    bytes = o.dtype.bits / 8;
  }
  kugel__writer w;
  kugel_status s = kugel__writer_begin(ctx, path, o.overwrite, &w);
  kugel__span outer = kugel__progress_enter(0, 1);
  for (int64_t c = 0; !s && c < n; c++) {
    kugel__progress_stage((double)c / (double)n, (double)(c + 1) / (double)n, "writing");
    s = write_component(&w, &o, lmax, mmax, alm, c, bytes);
  }
  kugel__progress_leave(outer);
  return kugel__writer_end(&w, s);
}
