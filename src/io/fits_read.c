/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading maps, values and pixel numbers into the caller's arrays. */
#include <math.h>
#include <string.h>
#include "core/alloc.h"
#include "core/array.h"
#include "core/parallel.h"
#include "io/fits.h"
#include "core/replace.h"
#include <kugel/healpix.h>

static kugel_status check_column(const kugel_fits *file, int64_t column)
{
  KUGEL_CHECK(column >= 0 && column < file->info.ncolumns, KUGEL_EINVAL,
              "column is %lld, '%s' has %lld, counted from 0", (long long)column, kugel__tail(file->path),
              (long long)file->info.ncolumns);
  return KUGEL_OK;
}

static kugel__bad bad_rule(const kugel_fits *file)
{
  return (kugel__bad){.map = file->info.kind == KUGEL_FITS_MAP,
                      .has_bad_data = file->info.has_bad_data,
                      .bad_data = file->info.bad_data};
}

typedef struct map_reader {
  kugel_fits *file;
  const kugel_array *maps;
  kugel_order from, to;
  kugel__bad bad;
  int64_t offset;        // partial maps: the values' number of pixels[0]
  const int64_t *pixels; // of the values from offset on, already in the ordering wanted; NULL: the whole sky
  int64_t column;        // row of maps if columns are read one by one, else -1
  int64_t index[KUGEL__RUN];
} map_reader;

static kugel_status store_map(void *user, const kugel__fits_run *run)
{
  map_reader *r = user;
  int64_t base = (r->column < 0 ? run->which : r->column) * r->file->info.npix;
  const int64_t *index = NULL;
  if (r->pixels) {
    index = r->pixels + (run->at - r->offset);
  } else if (r->from != r->to) {
    for (int64_t k = 0; k < run->n; k++)
      r->index[k] = run->at + k;
    KUGEL_TRY(
        kugel_healpix_convert(r->file->ctx, r->file->info.nside, r->from, r->to, run->n, r->index, r->index));
    index = r->index;
  }
  return kugel__store_run(r->file, r->maps, base, index, run, &r->bad);
}

static void fill_unseen(const kugel_array *a)
{
  int64_t n = kugel__array_count(a);
  void *data = kugel__array_data(a);
  for (int64_t k = 0; k < n; k++) {
    if (a->dtype.code == KUGEL_FLOAT && a->dtype.bits == 64)
      ((double *)data)[k] = KUGEL_UNSEEN;
    else if (a->dtype.code == KUGEL_FLOAT)
      ((float *)data)[k] = (float)KUGEL_UNSEEN;
    else if (a->dtype.bits == 64)
      ((int64_t *)data)[k] = INT64_MIN;
    else
      ((int32_t *)data)[k] = INT32_MIN;
  }
}

enum { PIXELS = 65536 };

static kugel_status read_partial(map_reader *r, int64_t n, const int64_t *cols)
{
  kugel_fits *file = r->file;
  int64_t *pixels;
  KUGEL_ALLOC(file->ctx, pixels, PIXELS * sizeof *pixels);
  fill_unseen(r->maps);
  kugel_status s = KUGEL_OK;
  r->pixels = pixels;
  for (int64_t at = 0; !s && at < file->info.nvalues; at += PIXELS) {
    int64_t count = kugel__min(PIXELS, file->info.nvalues - at);
    r->offset = at;
    s = kugel_fits_read_pixels(file, at, count, pixels);
    if (!s && r->from != r->to)
      s = kugel_healpix_convert(file->ctx, file->info.nside, r->from, r->to, count, pixels, pixels);
    if (!s)
      s = kugel__table_values(file, &file->table, n, cols, at, count, store_map, r);
  }
  kugel__free(file->ctx, pixels);
  return s;
}

static kugel_status read_columns(map_reader *r, int64_t n, const int64_t *cols)
{
  if (r->file->info.partial)
    return read_partial(r, n, cols);
  return kugel__table_values(r->file, &r->file->table, n, cols, 0, r->file->info.npix, store_map, r);
}

/* Columns of equal width are read together, in one pass over the file. */
static kugel_status read_all(map_reader *r, int64_t n, const int64_t *cols)
{
  const kugel__table *t = &r->file->table;
  bool equal = true;
  for (int64_t c = 1; c < n; c++)
    equal = equal && t->cols[cols[c]].repeat == t->cols[cols[0]].repeat;
  r->column = -1;
  if (equal)
    return read_columns(r, n, cols);
  KUGEL_CHECK(!r->file->info.partial, KUGEL_EFORMAT, "columns of the partial map '%s' differ in length",
              kugel__tail(r->file->path));
  for (int64_t c = 0; c < n; c++) {
    const kugel__col *col = &t->cols[cols[c]];
    int64_t values = 0;
    KUGEL_CHECK(!__builtin_mul_overflow(t->nrows, col->repeat, &values) && values >= r->file->info.npix,
                KUGEL_EFORMAT, "column '%s' of '%s' has %lld values, a map of nside %lld needs %lld",
                col->name, kugel__tail(r->file->path), (long long)values, (long long)r->file->info.nside,
                (long long)r->file->info.npix);
    r->column = c;
    KUGEL_TRY(read_columns(r, 1, &cols[c]));
  }
  return KUGEL_OK;
}

kugel_status kugel_fits_read_maps(kugel_fits *file, int64_t ncolumns, const int64_t *columns,
                                  kugel_order order, const kugel_array *maps)
{
  KUGEL_CHECK(file, KUGEL_EINVAL, "file is NULL");
  const kugel_fits_info *info = &file->info;
  KUGEL_CHECK(info->kind == KUGEL_FITS_MAP, KUGEL_EFORMAT, "'%s' holds no HEALPix map in HDU %lld",
              kugel__tail(file->path), (long long)info->hdu);
  KUGEL_CHECK(order >= KUGEL_ORDER_ANY && order <= KUGEL_ORDER_NESTED, KUGEL_EINVAL,
              "order is %d, must be KUGEL_ORDER_ANY, _RING or _NESTED", (int)order);
  KUGEL_CHECK(ncolumns >= 1 && (columns || ncolumns <= info->ncolumns), KUGEL_EINVAL,
              "ncolumns is %lld, '%s' has %lld", (long long)ncolumns, kugel__tail(file->path),
              (long long)info->ncolumns);
  KUGEL_TRY(kugel__check_values(maps, "maps"));
  KUGEL_CHECK(kugel__array_count(maps) / info->npix == ncolumns && kugel__array_count(maps) % info->npix == 0,
              KUGEL_ESHAPE, "maps has %lld elements, must be [%lld, %lld]",
              (long long)kugel__array_count(maps), (long long)ncolumns, (long long)info->npix);
  kugel_order from = info->order ? info->order : KUGEL_ORDER_RING, to = order ? order : from;
  KUGEL_CHECK(to == from || (info->nside & (info->nside - 1)) == 0, KUGEL_EINVAL,
              "the map has nside %lld: NESTED order needs a power of 2", (long long)info->nside);
  map_reader *r = kugel__alloc(file->ctx, sizeof *r);
  int64_t *cols = kugel__alloc(file->ctx, (size_t)ncolumns * sizeof *cols);
  kugel_status s =
      r && cols ? KUGEL_OK : KUGEL_FAIL(KUGEL_ENOMEM, "no memory to read %lld maps", (long long)ncolumns);
  for (int64_t c = 0; !s && c < ncolumns; c++) {
    int64_t column = columns ? columns[c] : c;
    s = check_column(file, column);
    if (!s)
      cols[c] = file->columns[column];
  }
  if (!s) {
    *r = (map_reader){.file = file, .maps = maps, .from = from, .to = to, .bad = bad_rule(file)};
    kugel__span outer = kugel__progress_enter(0, 1);
    kugel__progress_stage(0, 1, "reading");
    s = read_all(r, ncolumns, cols);
    kugel__progress_leave(outer);
  }
  kugel__free(file->ctx, cols);
  kugel__free(file->ctx, r);
  return s;
}

typedef struct value_reader {
  const kugel_fits *file;
  const kugel_array *values;
  kugel__bad bad;
  int64_t first;
} value_reader;

static kugel_status store_values(void *user, const kugel__fits_run *run)
{
  value_reader *r = user;
  return kugel__store_run(r->file, r->values, -r->first, NULL, run, &r->bad);
}

kugel_status kugel_fits_read_values(kugel_fits *file, int64_t column, int64_t first,
                                    const kugel_array *values)
{
  KUGEL_CHECK(file, KUGEL_EINVAL, "file is NULL");
  KUGEL_TRY(check_column(file, column));
  KUGEL_TRY(kugel__check_values(values, "values"));
  const kugel__table *t = &file->table;
  int64_t col = file->columns[column], count = kugel__array_count(values), have = file->info.nvalues;
  if (t->type == BINARY_TBL && file->info.kind != KUGEL_FITS_MAP)
    KUGEL_CHECK(!__builtin_mul_overflow(t->nrows, t->cols[col].repeat, &have), KUGEL_EFORMAT,
                "'%s' has a table of impossible size", kugel__tail(file->path));
  KUGEL_CHECK(first >= 0 && first <= have && count <= have - first, KUGEL_EINVAL,
              "values %lld to %lld are asked for, column %lld of '%s' has %lld", (long long)first,
              (long long)(first + count) - 1, (long long)column, kugel__tail(file->path), (long long)have);
  value_reader r = {file, values, bad_rule(file), first};
  return kugel__table_values(file, t, 1, &col, first, count, store_values, &r);
}

typedef struct pixel_reader {
  const kugel_fits *file;
  int64_t first, *pixels;
} pixel_reader;

// A number as an integer; -1 if it is none, or beyond 2^53, from where doubles skip integers.
static int64_t whole(double x)
{
  return x >= 0 && x <= 0x1p53 && x == floor(x) ? (int64_t)x : -1;
}

static kugel_status store_pixels(void *user, const kugel__fits_run *run)
{
  pixel_reader *r = user;
  int64_t npix = r->file->info.npix;
  for (int64_t k = 0; k < run->n; k++) {
    int64_t pixel = run->integer ? run->i[k] : whole(run->d[k]);
    if (pixel >= 0 && pixel < npix)
      r->pixels[run->at + k - r->first] = pixel;
    else if (run->integer)
      return KUGEL_FAIL(KUGEL_EFORMAT, "'%s': pixel number %lld in row %lld, must be 0 to %lld",
                        kugel__tail(r->file->path), (long long)run->i[k], (long long)(run->at + k),
                        (long long)npix - 1);
    else
      return KUGEL_FAIL(KUGEL_EFORMAT,
                        "'%s': pixel number %.17g in row %lld, must be a whole number, 0 to %lld",
                        kugel__tail(r->file->path), run->d[k], (long long)(run->at + k),
                        (long long)kugel__min(npix - 1, (int64_t)1 << 53));
  }
  return KUGEL_OK;
}

kugel_status kugel_fits_read_pixels(kugel_fits *file, int64_t first, int64_t count, int64_t *pixels)
{
  KUGEL_CHECK(file && pixels, KUGEL_EINVAL, "%s is NULL", file ? "pixels" : "file");
  KUGEL_CHECK(file->info.partial, KUGEL_EINVAL, "'%s' is no partial map: its pixels are 0, 1, 2, ...",
              kugel__tail(file->path));
  KUGEL_CHECK(first >= 0 && count >= 0 && first <= file->info.nvalues && count <= file->info.nvalues - first,
              KUGEL_EINVAL, "pixels %lld to %lld are asked for, '%s' has %lld", (long long)first,
              (long long)(first + count) - 1, kugel__tail(file->path), (long long)file->info.nvalues);
  if (file->pixel_col < 0) {
    for (int64_t k = 0; k < count; k++)
      pixels[k] = file->first_pixel + first + k;
    return KUGEL_OK;
  }
  pixel_reader r = {file, first, pixels};
  return kugel__table_values(file, &file->table, 1, &file->pixel_col, first, count, store_pixels, &r);
}
