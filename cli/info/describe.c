/* SPDX-License-Identifier: BSD-3-Clause */
/* What files hold, for kugel info. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <kugel/kugel.h>
#include "batch/batch.h"
#include "info/describe.h"
#include "map/files.h"
#include "volume/stacks.h"
#include "map/npymap.h"
#include "common/session.h"

/* Running statistics of the good values. */
typedef struct statistics {
  int64_t good, unseen, not_finite;
  double min, max, mean, m2; /* m2: sum of squared deviations (Welford) */
} statistics;

static void take_values(statistics *s, const double *values, int64_t n)
{
  for (int64_t i = 0; i < n; i++) {
    double x = values[i];
    if (!isfinite(x)) {
      s->not_finite++;
    } else if (fabs(x / KUGEL_UNSEEN - 1) < 1e-5) {
      s->unseen++;
    } else {
      double d = x - s->mean;
      s->min = s->good ? fmin(s->min, x) : x;
      s->max = s->good ? fmax(s->max, x) : x;
      s->mean += d / (double)++s->good;
      s->m2 += d * (x - s->mean);
    }
  }
}

static void report_statistics(const char *name, const char *unit, const statistics *s)
{
  double rms = s->good ? sqrt(s->m2 / (double)s->good) : 0;
  json_object(NULL);
  json_text("name", name);
  json_text("unit", unit);
  json_int("good", s->good);
  json_int("unseen", s->unseen);
  json_int("not_finite", s->not_finite);
  json_number("min", s->good ? s->min : NAN);
  json_number("max", s->good ? s->max : NAN);
  json_number("mean", s->good ? s->mean : NAN);
  json_number("deviation", s->good ? rms : NAN);
  json_end();
  if (s->good)
    say("  %-26s %12.6g to %-12.6g mean %-12.6g deviation %-10.4g %s\n", name, s->min, s->max, s->mean, rms,
        unit);
  else
    say("  %-26s no values\n", name);
  if (s->unseen)
    say("  %-26s %lld of them unseen\n", "", (long long)s->unseen);
  if (s->not_finite)
    say("  %-26s %lld of them NaN or infinite\n", "", (long long)s->not_finite);
}

static int describe_columns(kugel_fits *file, const kugel_fits_info *info)
{
  enum { CHUNK = 1 << 17 };
  OWNED double *values = malloc(CHUNK * sizeof *values);
  if (!values)
    return fail("no memory for a buffer of 1 MiB");
  json_array("columns");
  for (int64_t c = 0; c < info->ncolumns; c++) {
    kugel_fits_column column;
    char name[96];
    statistics s = {0};
    LIB(kugel_fits_get_column(file, c, &column));
    for (int64_t at = 0; at < info->nvalues; at += CHUNK) {
      int64_t n = info->nvalues - at < CHUNK ? info->nvalues - at : CHUNK;
      if (interrupted())
        return fail_interrupted();
      LIB(kugel_fits_read_values(file, c, at, KUGEL_ARRAY(values, KUGEL_F64, n)));
      take_values(&s, values, n);
    }
    if (column.name[0])
      snprintf(name, sizeof name, "%s", column.name);
    else
      snprintf(name, sizeof name, "column %lld", (long long)c);
    report_statistics(name, column.unit, &s);
  }
  json_end();
  return EXIT_DONE;
}

static int describe_map(kugel_fits *file, const kugel_fits_info *info)
{
  json_text("kind", "map");
  json_int("nside", info->nside);
  json_text("ordering", order_name(info->order));
  json_text("coordsys", info->coordsys);
  json_text("polcconv", info->polcconv);
  json_flag("partial", info->partial);
  json_int("pixels", info->nvalues);
  say("HEALPix map, nside %lld, %s, %lld %s%s%s\n", (long long)info->nside, order_name(info->order),
      (long long)info->nvalues, info->partial ? "pixels of a part of the sky" : "pixels",
      *coordsys_name(info->coordsys) ? ", " : "", coordsys_name(info->coordsys));
  return describe_columns(file, info);
}

/* The field's rms follows from its coefficients: sum (2l+1) C_l / 4 pi. */
static int describe_alm(kugel_fits *file, const kugel_fits_info *info)
{
  static const char *const names[] = {"T", "E", "B"};
  int64_t n = (info->mmax + 1) * (2 * info->lmax + 2 - info->mmax) / 2;
  OWNED double _Complex *alm = malloc((size_t)n * sizeof *alm);
  if (!alm)
    return fail("no memory for %lld coefficients", (long long)n);
  json_text("kind", "alm");
  json_int("lmax", info->lmax);
  json_int("mmax", info->mmax);
  say("a_lm, lmax %lld, mmax %lld, %lld component%s\n", (long long)info->lmax, (long long)info->mmax,
      (long long)info->ncomponents, info->ncomponents == 1 ? "" : "s");
  json_array("components");
  for (int64_t c = 0; c < info->ncomponents; c++) {
    LIB(kugel_fits_read_alm(file, c, info->lmax, info->mmax, KUGEL_ARRAY(alm, KUGEL_C128, n)));
    double sum = 0;
    for (int64_t i = 1; i < n; i++) { /* without the monopole */
      const double *z = (const double *)&alm[i];
      sum += (i <= info->lmax ? 1 : 2) * (z[0] * z[0] + z[1] * z[1]);
    }
    double rms = sqrt(sum / (4 * M_PI));
    json_object(NULL);
    json_text("name", c < 3 ? names[c] : "");
    json_number("rms", rms);
    json_end();
    say("  %-6s rms of the field without its mean %.6g\n", c < 3 ? names[c] : "", rms);
  }
  json_end();
  return EXIT_DONE;
}

static int describe_fits(const char *path)
{
  FITS_FILE kugel_fits *file = NULL;
  LIB(kugel_fits_open(NULL, path, NULL, &file));
  char shown[1024];
  say("%s: ", plain(path, shown, sizeof shown));
  const kugel_fits_info *info = kugel_fits_get_info(file);
  json_text("creator", info->creator);
  if (foreign_map(file)) {
    json_text("kind", "table");
    json_text("note", foreign_map(file));
    say("%s\n", foreign_map(file));
    return describe_columns(file, info);
  }
  switch (info->kind) {
  case KUGEL_FITS_MAP:
    return describe_map(file, info);
  case KUGEL_FITS_ALM:
    return describe_alm(file, info);
  case KUGEL_FITS_CL:
    json_text("kind", "spectra");
    json_int("lmax", info->lmax);
    say("power spectra, lmax %lld\n", (long long)info->lmax);
    return describe_columns(file, info);
  default:
    json_text("kind", info->kind == KUGEL_FITS_IMAGE ? "image" : "table");
    say("FITS %s, %lld columns of %lld values\n", info->kind == KUGEL_FITS_IMAGE ? "image" : "table",
        (long long)info->ncolumns, (long long)info->nvalues);
    return describe_columns(file, info);
  }
}

static int describe_npy(const char *path)
{
  static const char *const kinds[] = {"integers", "unsigned integers", "reals",   "",
                                      "",         "complex numbers",   "booleans"};
  kugel_npy_info info;
  LIB(kugel_npy_inspect(NULL, path, &info));
  char shown[1024];
  say("%s: ", plain(path, shown, sizeof shown));
  json_text("kind", "npy");
  json_array("shape");
  say("NPY array of ");
  for (int i = 0; i < info.ndim; i++) {
    json_int(NULL, info.shape[i]);
    say("%s%lld", i ? " x " : "", (long long)info.shape[i]);
  }
  json_end();
  say("%s%s, %d bits\n", info.ndim ? " " : "", info.dtype.code < 7 ? kinds[info.dtype.code] : "",
      info.dtype.bits);
  if (npymap_is(path)) {
    int64_t nside = (int64_t)llround(sqrt((double)info.shape[info.ndim - 1] / 12));
    json_int("nside", nside);
    say("  the pixels of %s of nside %lld\n", info.ndim == 1 ? "a HEALPix map" : "HEALPix maps",
        (long long)nside);
  }
  if (info.dtype.code == KUGEL_COMPLEX || info.count == 0)
    return EXIT_DONE;
  OWNED double *values = malloc((size_t)info.count * sizeof *values);
  if (!values)
    return fail("%s: no memory for %lld numbers", path, (long long)info.count);
  LIB(kugel_npy_read(NULL, path, KUGEL_ARRAY(values, KUGEL_F64, info.count)));
  statistics s = {0};
  take_values(&s, values, info.count);
  json_array("columns");
  report_statistics("values", "", &s);
  json_end();
  return EXIT_DONE;
}

static int describe_spectra_text(const char *path)
{
  kugel_cl_info info;
  LIB(kugel_cl_inspect(NULL, path, &info));
  char shown[1024];
  say("%s: ", plain(path, shown, sizeof shown));
  json_text("kind", "spectra");
  json_int("lmax", info.lmax);
  json_int("spectra", info.nspectra);
  json_text("unit", info.unit);
  say("text with %lld spectra, lmax %lld%s\n", (long long)info.nspectra, (long long)info.lmax,
      info.has_l ? ", multipoles named" : "");
  return EXIT_DONE;
}

/* So that what is wrong with one is said of a stack. */
static bool named_as_stack(const char *path)
{
  static const char *const ends[] = {".tif", ".tiff", ".nrrd", ".nhdr", ".mha",
                                     ".mhd", ".ims",  ".h5",   ".hdf5"};
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
    if (path_ends_with(path, ends[i]))
      return true;
  return false;
}

int describe_file(const char *path, bool stats)
{
  if (is_folder(path) && !is_zarr(path))
    return describe_folder(path, stats);
  json_text("file", path);
  if (stack_is(path) || named_as_stack(path))
    return describe_stack(path, stats);
  if (path_ends_with(path, ".npy"))
    return describe_npy(path);
  if (path_ends_with(path, ".txt") || path_ends_with(path, ".dat") || path_ends_with(path, ".csv"))
    return describe_spectra_text(path);
  return describe_fits(path);
}
