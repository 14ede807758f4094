/* SPDX-License-Identifier: BSD-3-Clause */
/* What a table is: HEALPix map, a_lm, spectra or just a table; and whether its keywords agree with its size.
 * Keywords: the HEALPix Fits File Format Description of the HEALPix software, and what other writers make of
 * it. */
#include <ctype.h>
#include <math.h>
#include <string.h>
#include "core/alloc.h"
#include "io/fits.h"
#include "core/replace.h"
#include "io/words.h"

enum { MAX_NSIDE = 1 << 29, SPARSE = 1 << 22 };

static bool named(const kugel__col *c, const char *const *names)
{
  for (; *names; names++)
    if (kugel__same_word(c->name, *names))
      return true;
  return false;
}

static bool contains(const char *text, const char *part)
{
  return strcasestr(text, part) != NULL;
}

/* nside with 12 nside^2 = n; 0 if there is none. */
static int64_t nside_of(int64_t n)
{
  int64_t nside = (int64_t)llround(sqrt((double)n / 12));
  return nside > 0 && nside <= MAX_NSIDE && 12 * nside * nside == n ? nside : 0;
}

static kugel_status list_columns(kugel_fits *file, int64_t without)
{
  const kugel__table *t = &file->table;
  file->columns = kugel__alloc(file->ctx, (size_t)t->ncols * sizeof *file->columns);
  KUGEL_CHECK(file->columns, KUGEL_ENOMEM, "no memory for %lld columns", (long long)t->ncols);
  file->info.ncolumns = 0;
  for (int64_t c = 0; c < t->ncols; c++)
    if (c != without)
      file->columns[file->info.ncolumns++] = c;
  KUGEL_CHECK(file->info.ncolumns, KUGEL_EFORMAT, "'%s' has no column beside the pixel numbers",
              kugel__tail(file->path));
  const kugel__col *first = &t->cols[file->columns[0]];
  KUGEL_CHECK(!__builtin_mul_overflow(t->nrows, first->repeat, &file->info.nvalues), KUGEL_EFORMAT,
              "'%s' has a table of impossible size", kugel__tail(file->path));
  return KUGEL_OK;
}

static bool is_alm(const kugel__table *t)
{
  if (t->type != BINARY_TBL || t->ncols < 3)
    return false;
  const kugel__col *c = t->cols;
  for (int i = 0; i < 3; i++)
    if (c[i].repeat != 1 || !c[i].letter)
      return false;
  return c[0].integer && (c[1].letter == 'E' || c[1].letter == 'D') && contains(c[0].name, "index") &&
         !contains(c[1].name, "pix") && (contains(c[1].name, "re") || contains(c[1].name, "alm"));
}

static kugel_status alm_limits(void *user, const kugel__fits_run *run)
{
  int64_t *limit = user; // lmax, mmax
  for (int64_t k = 0; k < run->n; k++) {
    int64_t index = run->i[k] - 1;
    KUGEL_CHECK(index >= 0 && index < (int64_t)1 << 40, KUGEL_EFORMAT,
                "row %lld has the index %lld, no l^2+l+m+1", (long long)(run->at + k), (long long)run->i[k]);
    int64_t l = (int64_t)sqrt((double)index), m = index - l * l - l;
    limit[0] = l > limit[0] ? l : limit[0];
    limit[1] = m > limit[1] ? m : limit[1]; // negative m are allowed, and left out when read
  }
  return KUGEL_OK;
}

/* One damaged index would ask readers for gigabytes: beyond SPARSE coefficients, a file of few rows is none. */
static kugel_status check_rows(const kugel_fits *file, int64_t lmax, int64_t mmax)
{
  int64_t rows = file->info.nvalues, dense = (mmax + 1) * (2 * (lmax + 1) - mmax) / 2;
  KUGEL_CHECK(dense <= SPARSE || dense / 1000 <= rows, KUGEL_EFORMAT,
              "'%s' is damaged: it lists %lld coefficients, yet its indices reach l = %lld, m = %lld, which "
              "takes %lld",
              kugel__tail(file->path), (long long)rows, (long long)lmax, (long long)mmax, (long long)dense);
  return KUGEL_OK;
}

static kugel_status classify_alm(kugel_fits *file)
{
  kugel_fits_info *info = &file->info;
  info->kind = KUGEL_FITS_ALM;
  KUGEL_TRY(list_columns(file, -1));
  int64_t limit[2] = {0, 0}, index = 0;
  KUGEL_TRY(kugel__table_values(file, &file->table, 1, &index, 0, info->nvalues, alm_limits, limit));
  KUGEL_TRY(check_rows(file, limit[0], limit[1]));
  info->lmax = limit[0];
  info->mmax = limit[1];
  info->ncomponents = 1;
  int status = 0;
  for (int hdu = file->table.hdu + 1; hdu <= file->hdus; hdu++) {
    kugel__table t;
    kugel_status bad = kugel__table_read(file, hdu, &t);
    bool more = !bad && is_alm(&t);
    kugel__table_free(file->ctx, &t);
    if (bad == KUGEL_ENOMEM || bad == KUGEL_EIO) // not the end of the components
      return bad;
    if (!more)
      break;
    info->ncomponents++;
  }
  fits_clear_errmsg();
  fits_movabs_hdu(file->f, file->table.hdu, NULL, &status);
  return status ? kugel__fits_fail("read", file->path, status) : KUGEL_OK;
}

/* The column that numbers the pixels of a partial map; -1 if none. */
static int64_t find_pixel_column(const kugel__table *t, bool is_explicit)
{
  static const char *const names[] = {"PIXEL",       "PIX",   "IPIX",      "HPXINDEX",
                                      "PIXEL_INDEX", "INDEX", "HPX_INDEX", NULL};
  for (int64_t c = 0; c < t->ncols; c++)
    if (t->cols[c].repeat >= 1 && t->cols[c].letter && named(&t->cols[c], names))
      return c;
  return is_explicit && t->cols[0].integer ? 0 : -1;
}

static kugel_status check_nside(kugel_fits *file, int64_t nside, bool partial)
{
  kugel_fits_info *info = &file->info;
  const char *path = kugel__tail(file->path);
  KUGEL_CHECK(nside >= 1 && nside <= MAX_NSIDE, KUGEL_EFORMAT, "'%s' has NSIDE = %lld, must be 1 to 2^29",
              path, (long long)nside);
  KUGEL_CHECK(info->order != KUGEL_ORDER_NESTED || (nside & (nside - 1)) == 0, KUGEL_EFORMAT,
              "'%s' has NSIDE = %lld and ORDERING = NESTED, which needs a power of 2", path,
              (long long)nside);
  info->nside = nside;
  info->npix = 12 * nside * nside;
  if (partial)
    return KUGEL_OK;
  int64_t repeat = file->table.cols[file->columns[0]].repeat;
  KUGEL_CHECK(info->nvalues >= info->npix && info->nvalues - info->npix < repeat + (repeat == 0),
              KUGEL_EFORMAT, "'%s' contradicts itself: NSIDE = %lld needs %lld pixels, its table has %lld",
              path, (long long)nside, (long long)info->npix, (long long)info->nvalues);
  info->nvalues = info->npix; // the last row may be padded
  return KUGEL_OK;
}

static kugel_status classify_map(kugel_fits *file, const char *ordering, bool has_nside, int64_t nside)
{
  kugel_fits_info *info = &file->info;
  const kugel__table *t = &file->table;
  char scheme[72] = "", object[72] = "", text[72];
  int64_t first = 0, last = 0;
  info->kind = KUGEL_FITS_MAP;
  if (!kugel__words_differ(ordering, "RING", 4))
    info->order = KUGEL_ORDER_RING;
  else if (!kugel__words_differ(ordering, "NEST", 4))
    info->order = KUGEL_ORDER_NESTED;
  else
    KUGEL_CHECK(!*ordering || kugel__same_word(ordering, "unknown"), KUGEL_EFORMAT,
                "'%s' has ORDERING = '%s', must be RING or NESTED", kugel__tail(file->path), ordering);
  kugel__key_text(file->f, "INDXSCHM", scheme, sizeof scheme);
  kugel__key_text(file->f, "OBJECT", object, sizeof object);
  bool is_explicit =
      kugel__same_word(scheme, "EXPLICIT") || (!*scheme && kugel__same_word(object, "PARTIAL"));
  int64_t pixel = kugel__same_word(scheme, "IMPLICIT") ? -1 : find_pixel_column(t, is_explicit);
  KUGEL_CHECK(pixel >= 0 || !is_explicit, KUGEL_EFORMAT,
              "'%s' says EXPLICIT but has no column of pixel numbers", kugel__tail(file->path));
  KUGEL_TRY(list_columns(file, pixel));
  file->pixel_col = pixel;
  bool range = pixel < 0 && has_nside && nside >= 1 && nside <= MAX_NSIDE &&
               info->nvalues < 12 * nside * nside && kugel__key_int(file->f, "FIRSTPIX", &first) &&
               kugel__key_int(file->f, "LASTPIX", &last) && first >= 0 && last < 12 * nside * nside &&
               last - first + 1 == info->nvalues;
  info->partial = pixel >= 0 || range;
  file->first_pixel = range ? first : 0;
  if (!has_nside) {
    KUGEL_CHECK(!info->partial, KUGEL_EFORMAT, "'%s' is a partial map without NSIDE",
                kugel__tail(file->path));
    nside = nside_of(info->nvalues);
    KUGEL_CHECK(nside, KUGEL_EFORMAT, "'%s' has no NSIDE, and its %lld pixels are no 12 nside^2",
                kugel__tail(file->path), (long long)info->nvalues);
  }
  info->has_bad_data = kugel__key_double(file->f, "BAD_DATA", &info->bad_data);
  if (kugel__key_text(file->f, "POLCCONV", text, sizeof text) && !kugel__same_word(text, "unknown"))
    memccpy(info->polcconv, text, 0, sizeof info->polcconv - 1);
  return check_nside(file, nside, info->partial);
}

static bool looks_like_spectra(const kugel_fits *file)
{
  const kugel__table *t = &file->table;
  if (t->type == ASCII_TBL)
    return true;
  for (int64_t c = 0; c < t->ncols; c++)
    if (t->cols[c].repeat != 1 || !t->cols[c].letter || contains(t->cols[c].name, "weight"))
      return false;
  return !t->cols[t->ncols - 1].integer;
}

static kugel_status first_value(void *user, const kugel__fits_run *run)
{
  *(int64_t *)user = run->integer ? run->i[0] : (int64_t)fmax(fmin(run->d[0], 1e6), -1);
  return KUGEL_OK;
}

static kugel_status classify_spectra(kugel_fits *file)
{
  static const char *const numbers[] = {"l", "ell", "index", "multipole", NULL};
  kugel_fits_info *info = &file->info;
  const kugel__table *t = &file->table;
  info->kind = looks_like_spectra(file) ? KUGEL_FITS_CL : KUGEL_FITS_TABLE;
  int64_t l = info->kind == KUGEL_FITS_CL && t->ncols > 1 && named(&t->cols[0], numbers) ? 0 : -1;
  KUGEL_TRY(list_columns(file, l));
  info->lmax = info->nvalues - 1;
  if (l < 0 || !info->nvalues || info->kind != KUGEL_FITS_CL)
    return KUGEL_OK;
  KUGEL_TRY(kugel__table_values(file, t, 1, &l, 0, 1, first_value, &info->first_l));
  KUGEL_CHECK(info->first_l >= 0 && info->first_l <= 1000000, KUGEL_EFORMAT, "'%s' starts at l = %lld",
              kugel__tail(file->path), (long long)info->first_l);
  if (kugel__same_word(t->cols[0].name, "index") && info->first_l == 1)
    info->first_l = 0; // an index is l^2+l+1 or l+1
  info->lmax += info->first_l;
  return KUGEL_OK;
}

static kugel_status classify_image(kugel_fits *file)
{
  file->info.kind = KUGEL_FITS_IMAGE;
  KUGEL_TRY(list_columns(file, -1));
  file->info.nvalues = file->table.nrows;
  file->info.lmax = file->info.nvalues - 1;
  return KUGEL_OK;
}

kugel_status kugel__fits_classify(kugel_fits *file)
{
  kugel_fits_info *info = &file->info;
  const kugel__table *t = &file->table;
  char pixtype[72] = "", ordering[72] = "";
  int64_t nside = 0, lmax = 0;
  info->hdu = t->hdu;
  kugel__key_text(file->f, "COORDSYS", info->coordsys, sizeof info->coordsys);
  kugel__key_text(file->f, "EXTNAME", info->extname, sizeof info->extname);
  kugel__key_text(file->f, "CREATOR", info->creator, sizeof info->creator);
  if (t->type == IMAGE_HDU)
    return classify_image(file);
  bool has_nside = kugel__key_int(file->f, "NSIDE", &nside);
  kugel__key_text(file->f, "PIXTYPE", pixtype, sizeof pixtype);
  kugel__key_text(file->f, "ORDERING", ordering, sizeof ordering);
  if (is_alm(t))
    return classify_alm(file);
  bool sizes =
      kugel__same_word(ordering, "NUNIQ") || kugel__same_word(ordering, "RANGE"); // pixels of several
  if (t->type == BINARY_TBL && !sizes) {
    int64_t values = 0, npix = 0;
    bool countable = !__builtin_mul_overflow(t->nrows, t->cols[0].repeat, &values);
    bool spectra = kugel__key_int(file->f, "MAX-LPOL", &lmax) && !*pixtype && !*ordering;
    npix = has_nside && nside >= 1 && nside <= MAX_NSIDE ? 12 * nside * nside : 0;
    int64_t guess = countable ? nside_of(values) : 0;
    bool plain = !has_nside && !spectra && guess && (guess & (guess - 1)) == 0;
    if (kugel__same_word(pixtype, "HEALPIX") || *ordering || (npix && values == npix) || plain)
      return classify_map(file, ordering, has_nside, nside);
  }
  if (sizes) { // no spectra
    info->kind = KUGEL_FITS_TABLE;
    return list_columns(file, -1);
  }
  return classify_spectra(file);
}
