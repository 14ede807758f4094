/* SPDX-License-Identifier: BSD-3-Clause */
/* Writing HEALPix maps: rows of 1024 pixels a column where the map is long enough, as HEALPix and healpy do;
 * partial maps with their pixel numbers in a first column. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "core/alloc.h"
#include "core/array.h"
#include "core/parallel.h"
#include "io/fits.h"
#include "io/map_writer.h"

static double value_at(const kugel_array *a, int64_t k)
{
  const void *p = kugel__array_data(a);
  if (a->dtype.code == KUGEL_FLOAT)
    return a->dtype.bits == 64 ? ((const double *)p)[k] : (double)((const float *)p)[k];
  return a->dtype.bits == 64 ? (double)((const int64_t *)p)[k] : (double)((const int32_t *)p)[k];
}

static bool is_bad(const kugel_array *a, int64_t k)
{
  double x = value_at(a, k);
  if (a->dtype.code == KUGEL_INT)
    return x == (a->dtype.bits == 64 ? (double)INT64_MIN : (double)INT32_MIN);
  return isnan(x) || fabs(x - KUGEL_UNSEEN) <= 1e-5 * -KUGEL_UNSEEN;
}

kugel_status kugel__map_type(kugel__map_writer *m)
{
  static const struct {
    kugel_dtype dtype;
    char letter;
  } types[] = {{{KUGEL_FLOAT, 32, 1}, 'E'}, {{KUGEL_FLOAT, 64, 1}, 'D'}, {{KUGEL_INT, 16, 1}, 'I'},
               {{KUGEL_INT, 32, 1}, 'J'},   {{KUGEL_INT, 64, 1}, 'K'},   {{KUGEL_UINT, 8, 1}, 'B'},
               {{KUGEL_BOOL, 8, 1}, 'L'}};
  m->letter = 0;
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (kugel__dtype_is(types[i].dtype, m->dtype))
      m->letter = types[i].letter;
  KUGEL_CHECK(
      m->letter, KUGEL_EINVAL,
      "columns of type (%d, %d bits) are not written: use float32, float64, int16, int32, int64, uint8 "
      "or bool",
      m->dtype.code, m->dtype.bits);
  return KUGEL_OK;
}

static kugel_status use_column(kugel__map_writer *m, int64_t c)
{
  if (!m->o.dtypes)
    return KUGEL_OK;
  m->dtype = m->o.dtypes[c];
  return kugel__map_type(m);
}

static int64_t lowest(const kugel__map_writer *m)
{
  return m->dtype.code == KUGEL_UINT ? 255 : -((int64_t)1 << (m->dtype.bits - 2)) * 2;
}

static kugel_status put(kugel__map_writer *m, int64_t k)
{
  const kugel_array *a = m->maps;
  int bytes = m->dtype.bits / 8;
  if (m->dtype.code == KUGEL_FLOAT) {
    double x = value_at(a, k);
    if (a->dtype.code == KUGEL_INT && is_bad(a, k))
      x = KUGEL_UNSEEN;
    return kugel__writer_real(&m->w, x, bytes);
  }
  if (m->dtype.code == KUGEL_BOOL) {
    double v = value_at(a, k);
    return kugel__writer_integer(&m->w, is_bad(a, k) ? 0 : v != 0 ? 'T' : 'F', 1);
  }
  int64_t x;
  if (is_bad(a, k)) {
    x = lowest(m);
  } else if (a->dtype.code == KUGEL_INT) {
    const void *p = kugel__array_data(a);
    x = a->dtype.bits == 64 ? ((const int64_t *)p)[k] : ((const int32_t *)p)[k];
  } else {
    double v = value_at(a, k);
    KUGEL_CHECK(v == floor(v) && fabs(v) < 0x1p63, KUGEL_EINVAL,
                "value %lld of the map is %g, an integer column cannot hold it: use float64", (long long)k,
                v);
    x = (int64_t)v;
  }
  int64_t low = lowest(m), min = low < 0 ? low : 0, max = low < 0 ? -(low + 1) : 255;
  KUGEL_CHECK(x >= min && x <= max && (!m->nulls || x != low || is_bad(a, k)), KUGEL_EINVAL,
              "value %lld of the map is %lld, %d-bit columns hold %lld to %lld: use a wider type",
              (long long)k, (long long)x, m->dtype.bits, (long long)min, (long long)max);
  return kugel__writer_integer(&m->w, x, bytes);
}

/* ---- what is stored ---- */

static kugel_status choose_seen(kugel__map_writer *m)
{
  KUGEL_ALLOC(m->w.ctx, m->scratch, (size_t)m->nvalues * sizeof *m->scratch);
  m->nstored = 0;
  for (int64_t k = 0; k < m->nvalues; k++)
    for (int64_t c = 0; c < m->ncolumns; c++)
      if (!is_bad(m->maps, c * m->nvalues + k)) {
        m->scratch[m->nstored++] = k;
        break;
      }
  m->chosen = m->scratch;
  return KUGEL_OK;
}

static kugel_status check_pixels(kugel__map_writer *m)
{
  int64_t npix = 12 * m->nside * m->nside;
  bool ascending = true;
  for (int64_t k = 0; k < m->nvalues; k++) {
    KUGEL_CHECK(m->pixels[k] >= 0 && m->pixels[k] < npix, KUGEL_EINVAL,
                "pixel %lld has the number %lld, must be 0 to %lld", (long long)k, (long long)m->pixels[k],
                (long long)npix - 1);
    ascending = ascending && (k == 0 || m->pixels[k] > m->pixels[k - 1]);
  }
  if (ascending)
    return KUGEL_OK;
  unsigned char *seen = kugel__calloc(m->w.ctx, (size_t)npix / 8 + 1);
  KUGEL_CHECK(seen, KUGEL_ENOMEM, "no memory to check %lld pixel numbers", (long long)m->nvalues);
  int64_t twice = -1;
  for (int64_t k = 0; k < m->nvalues && twice < 0; k++) {
    int64_t p = m->pixels[k];
    if (seen[p / 8] & (1 << (p % 8)))
      twice = p;
    seen[p / 8] |= (unsigned char)(1 << (p % 8));
  }
  kugel__free(m->w.ctx, seen);
  KUGEL_CHECK(twice < 0, KUGEL_EINVAL, "pixel %lld is listed twice", (long long)twice);
  return KUGEL_OK;
}

static kugel_status check_maps(kugel__map_writer *m)
{
  const kugel_array *a = m->maps;
  KUGEL_CHECK(a, KUGEL_EINVAL, "maps is NULL: pass an array");
  KUGEL_CHECK((a->dtype.code == KUGEL_FLOAT || a->dtype.code == KUGEL_INT) &&
                  (a->dtype.bits == 32 || a->dtype.bits == 64) && a->dtype.lanes == 1,
              KUGEL_ESHAPE, "maps has the type (%d, %d bits), must be float32, float64, int32 or int64",
              a->dtype.code, a->dtype.bits);
  KUGEL_CHECK(a->ndim == 1 || a->ndim == 2, KUGEL_ESHAPE,
              "maps has %d dimensions, must be [npix] or [ncolumns, npix]", a->ndim);
  int64_t lead = -1;
  KUGEL_TRY(kugel__array_check(a, "maps", a->dtype, 0, NULL, &lead));
  m->nvalues = a->shape[a->ndim - 1];
  m->ncolumns = a->ndim == 2 ? a->shape[0] : 1;
  KUGEL_CHECK(m->ncolumns >= 1 && m->ncolumns <= 990, KUGEL_ESHAPE, "maps has %lld columns, must be 1 to 990",
              (long long)m->ncolumns);
  m->nside = m->o.nside;
  if (m->o.pixels) {
    KUGEL_CHECK(m->nside >= 1 && m->nside <= 1 << 29, KUGEL_EINVAL, "nside is %lld, must be 1 to 2^29",
                (long long)m->nside);
    KUGEL_CHECK(m->o.npixels == m->nvalues, KUGEL_ESHAPE, "%lld pixel numbers go with %lld values a column",
                (long long)m->o.npixels, (long long)m->nvalues);
    m->pixels = m->o.pixels;
  } else {
    int64_t nside = (int64_t)llround(sqrt((double)m->nvalues / 12));
    KUGEL_CHECK(nside >= 1 && nside <= 1 << 29 && 12 * nside * nside == m->nvalues, KUGEL_ESHAPE,
                "maps has %lld pixels, must be 12 nside^2", (long long)m->nvalues);
    KUGEL_CHECK(!m->nside || m->nside == nside, KUGEL_EINVAL, "nside is %lld, the map has %lld",
                (long long)m->nside, (long long)nside);
    m->nside = nside;
  }
  KUGEL_CHECK(m->o.order != KUGEL_ORDER_NESTED || (m->nside & (m->nside - 1)) == 0, KUGEL_EINVAL,
              "nside is %lld: NESTED order needs a power of 2", (long long)m->nside);
  m->nstored = m->nvalues;
  return m->pixels ? check_pixels(m) : KUGEL_OK;
}

/* ---- the file ---- */

typedef struct column_text {
  char names[1000][72], forms[1000][16];
  const char *name[1000], *form[1000], *unit[1000];
} column_text;

static kugel_status make_table(kugel__map_writer *m, column_text *t, bool partial, int64_t repeat)
{
  static const char *const stokes[] = {"TEMPERATURE", "Q_POLARISATION", "U_POLARISATION"};
  int n = 0;
  if (partial) {
    t->name[n] = "PIXEL";
    t->form[n] = 12 * m->nside * m->nside > INT32_MAX ? "1K" : "1J";
    t->unit[n++] = NULL;
  }
  for (int64_t c = 0; c < m->ncolumns; c++, n++) {
    const char *name = m->o.names ? m->o.names[c] : NULL;
    if (!name && (m->ncolumns == 1 || m->ncolumns == 3))
      name = stokes[c];
    KUGEL_TRY(use_column(m, c));
    snprintf(t->names[n], sizeof t->names[n], "COLUMN_%lld", (long long)c + 1);
    snprintf(t->forms[n], sizeof t->forms[n], "%lld%c", (long long)repeat, m->letter);
    t->name[n] = name ? name : t->names[n];
    t->form[n] = t->forms[n];
    t->unit[n] = m->o.units ? m->o.units[c] : NULL;
  }
  KUGEL_TRY(kugel__writer_table(&m->w, false, m->nstored / repeat, n, t->name, t->form, t->unit,
                                m->o.extname ? m->o.extname : "MAP"));
  for (int c = partial ? 1 : 0; m->nulls && c < n; c++) {
    char key[24];
    KUGEL_TRY(use_column(m, c - (partial ? 1 : 0)));
    if (m->dtype.code != KUGEL_INT && m->dtype.code != KUGEL_UINT)
      continue;
    snprintf(key, sizeof key, "TNULL%d", c + 1);
    KUGEL_TRY(kugel__writer_int(&m->w, key, lowest(m), "bad pixel"));
  }
  return KUGEL_OK;
}

/* Whether a column holds whole numbers, or with `whole` false, floating-point numbers. */
static bool any_column(const kugel__map_writer *m, bool whole)
{
  for (int64_t c = 0; c < m->ncolumns; c++)
    if (whole == ((m->o.dtypes ? m->o.dtypes[c] : m->dtype).code != KUGEL_FLOAT))
      return true;
  return false;
}

static kugel_status write_keywords(kugel__map_writer *m, bool partial)
{
  kugel__writer *w = &m->w;
  bool nested = m->o.order == KUGEL_ORDER_NESTED;
  KUGEL_TRY(kugel__writer_text(w, "PIXTYPE", "HEALPIX", "HEALPIX pixelisation"));
  KUGEL_TRY(kugel__writer_text(w, "ORDERING", nested ? "NESTED" : "RING",
                               "Pixel ordering scheme, either RING or NESTED"));
  KUGEL_TRY(kugel__writer_int(w, "NSIDE", m->nside, "Resolution parameter of HEALPIX"));
  if (partial) {
    KUGEL_TRY(kugel__writer_int(w, "OBS_NPIX", m->nstored, "Number of pixels stored"));
    KUGEL_TRY(kugel__writer_int(w, "GRAIN", 1, "Pixel number in the first column"));
  } else {
    KUGEL_TRY(kugel__writer_int(w, "FIRSTPIX", 0, "First pixel # (0 based)"));
    KUGEL_TRY(kugel__writer_int(w, "LASTPIX", 12 * m->nside * m->nside - 1, "Last pixel # (0 based)"));
  }
  KUGEL_TRY(
      kugel__writer_text(w, "INDXSCHM", partial ? "EXPLICIT" : "IMPLICIT", "Indexing: IMPLICIT or EXPLICIT"));
  bool object = false; // a name of the object observed is kept
  for (int64_t i = 0; i < m->o.ncards; i++)
    object = object || (!strncmp(m->o.cards[i], "OBJECT  =", 9) && !kugel__card_structural(m->o.cards[i]));
  if (!object)
    KUGEL_TRY(kugel__writer_text(w, "OBJECT", partial ? "PARTIAL" : "FULLSKY", "Sky coverage"));
  if (any_column(m, false))
    KUGEL_TRY(kugel__writer_double(w, "BAD_DATA", KUGEL_UNSEEN, "Sentinel value given to bad pixels"));
  return kugel__writer_common(w, &m->o);
}

kugel_status kugel__map_header(kugel__map_writer *m, bool partial, int64_t repeat)
{
  column_text *text;
  KUGEL_ALLOC(m->w.ctx, text, sizeof *text);
  kugel_status s = make_table(m, text, partial, repeat);
  kugel__free(m->w.ctx, text);
  if (!s)
    s = write_keywords(m, partial);
  return s ? s : kugel__writer_seal(&m->w);
}

static kugel_status write_values(kugel__map_writer *m, bool partial, int64_t repeat)
{
  int wide = 12 * m->nside * m->nside > INT32_MAX ? 8 : 4;
  for (int64_t row = 0; row < m->nstored / repeat; row++) {
    int64_t at = m->chosen ? m->chosen[row] : row * repeat;
    if (repeat > 1 || row % 1024 == 0)
      KUGEL_TRY(kugel__progress_step((double)row * (double)repeat / (double)m->nstored));
    if (partial)
      KUGEL_TRY(kugel__writer_integer(&m->w, m->pixels ? m->pixels[at] : at, wide));
    for (int64_t c = 0; c < m->ncolumns; c++) {
      KUGEL_TRY(use_column(m, c));
      for (int64_t k = 0; k < repeat; k++)
        KUGEL_TRY(put(m, c * m->nvalues + at + k));
    }
  }
  return kugel__writer_flush(&m->w);
}

static kugel_status write_file(kugel__map_writer *m)
{
  bool partial = m->pixels || m->o.skip_unseen;
  if (m->o.skip_unseen)
    KUGEL_TRY(choose_seen(m));
  if (any_column(m, true))
    for (int64_t k = 0; k < m->ncolumns * m->nvalues && !m->nulls; k++)
      m->nulls = is_bad(m->maps, k);
  int64_t repeat = !partial && !m->o.nowrap && m->nvalues % 1024 == 0 ? 1024 : 1;
  KUGEL_TRY(kugel__map_header(m, partial, repeat));
  kugel__span outer = kugel__progress_enter(0, 1);
  kugel__progress_stage(0, 1, "writing");
  kugel_status s = write_values(m, partial, repeat);
  kugel__progress_leave(outer);
  return s;
}

kugel_status kugel_fits_write_maps(kugel_ctx *ctx, const char *path, const kugel_fits_write_opts *opts,
                                   const kugel_array *maps)
{
  kugel__map_writer m = {.w.ctx = ctx, .maps = maps};
  KUGEL_TRY(kugel__writer_opts(&m.o, opts));
  KUGEL_TRY(check_maps(&m));
  m.dtype = m.o.dtype.bits ? m.o.dtype : maps->dtype;
  KUGEL_TRY(kugel__map_type(&m));
  for (int64_t c = 0; m.o.dtypes && c < m.ncolumns; c++)
    KUGEL_TRY(use_column(&m, c));
  kugel_status s = kugel__writer_begin(ctx, path, m.o.overwrite, &m.w);
  if (!s)
    s = write_file(&m);
  s = kugel__writer_end(&m.w, s);
  kugel__free(ctx, m.scratch);
  return s;
}
