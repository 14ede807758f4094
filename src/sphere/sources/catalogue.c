/* SPDX-License-Identifier: BSD-3-Clause */
/* Catalogues of sources as files: text with commas between, or a FITS binary table. */
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include "core/replace.h"
#include "sphere/sources/sources.h"
#include <kugel/alm.h>

enum { FIELDS = 14, MOST = FIELDS + 6, BLOCK = 2880 };

typedef struct column {
  const char *name;
  bool whole; /* a number without a fraction */
  char unit[72];
} column;

typedef struct table {
  const kugel_catalogue_opts *o;
  int64_t n;
  const kugel_source *list;
  int columns, systems;
  column column[MOST];
  double turn[3][9]; /* to the further systems */
} table;

/* The unit of the flux: "Jy/sr" -> "Jy", "K" -> "K sr". */
static void flux_unit(const char *unit, char out[72])
{
  size_t n = strlen(unit);
  bool density = n > 3 && (!strcmp(unit + n - 3, "/sr") || !strcmp(unit + n - 3, "/Sr"));
  if (!n)
    snprintf(out, 72, "sr");
  else if (density)
    snprintf(out, 72, "%.*s", (int)(n - 3), unit);
  else
    snprintf(out, 72, "%.60s sr", unit);
}

static void add(table *t, const char *name, bool whole, const char *unit)
{
  column *c = t->column + t->columns++;
  c->name = name;
  c->whole = whole;
  snprintf(c->unit, sizeof c->unit, "%.68s", unit);
}

static kugel_status add_systems(table *t)
{
  const char *names[] = {"glon", "glat", "elon", "elat", "ra", "dec"},
             *coords = t->o->coords ? t->o->coords : "";
  for (; *coords; coords++) {
    const char *all = "GEC", *at = strchr(all, *coords);
    KUGEL_CHECK(at && t->systems < 3, KUGEL_EINVAL,
                "coords is '%.20s', must be up to three of the letters G, E, C", t->o->coords);
    KUGEL_CHECK(t->o->coordsys && strchr(all, t->o->coordsys), KUGEL_EINVAL,
                "positions in system %c need the map's own, which is not known (COORDSYS is none of G, E, C)",
                *coords);
    KUGEL_TRY(kugel_rotation_from_coord(t->o->coordsys, *coords, t->turn[t->systems++]));
    add(t, names[2 * (at - all)], false, "deg");
    add(t, names[2 * (at - all) + 1], false, "deg");
  }
  return KUGEL_OK;
}

static kugel_status make_columns(table *t)
{
  const char *unit = t->o->unit ? t->o->unit : "";
  char flux[72];
  flux_unit(unit, flux);
  add(t, "lon", false, "deg");
  add(t, "lat", false, "deg");
  add(t, "snr", false, "");
  add(t, "peak", false, unit);
  add(t, "fwhm_arcmin", false, "arcmin");
  add(t, "flux", false, flux);
  add(t, "background", false, unit);
  add(t, "position_error_arcmin", false, "arcmin");
  add(t, "peak_error", false, unit);
  add(t, "fwhm_error_arcmin", false, "arcmin");
  add(t, "flux_error", false, flux);
  add(t, "id", true, "");
  add(t, "pixel", true, "");
  add(t, "flags", true, "");
  return add_systems(t);
}

static void make_row(const table *t, int64_t i, double *row)
{
  const kugel_source *s = t->list + i;
  const double degree = 180 / M_PI, arcmin = 60 * degree;
  const double own[FIELDS] = {s->phi * degree,  90 - s->theta * degree,
                              s->snr,           s->peak,
                              s->fwhm * arcmin, s->flux,
                              s->background,    s->position_error * arcmin,
                              s->peak_error,    s->fwhm_error * arcmin,
                              s->flux_error,    (double)(i + 1),
                              (double)s->pixel, (double)s->flags};
  memcpy(row, own, sizeof own);
  double v[3] = {sin(s->theta) * cos(s->phi), sin(s->theta) * sin(s->phi), cos(s->theta)};
  for (int k = 0; k < t->systems; k++) {
    const double *m = t->turn[k];
    double w[3];
    for (int c = 0; c < 3; c++)
      w[c] = m[3 * c] * v[0] + m[3 * c + 1] * v[1] + m[3 * c + 2] * v[2];
    row[FIELDS + 2 * k] = fmod(atan2(w[1], w[0]) * degree + 360, 360);
    row[FIELDS + 2 * k + 1] = atan2(w[2], hypot(w[0], w[1])) * degree;
  }
}

static void write_text(const table *t, FILE *f)
{
  double row[MOST];
  for (int c = 0; c < t->columns; c++)
    fprintf(f, "%s%s", c ? "," : "", t->column[c].name);
  fputc('\n', f);
  for (int64_t i = 0; i < t->n; i++) {
    make_row(t, i, row);
    for (int c = 0; c < t->columns; c++) {
      bool degrees = !strcmp(t->column[c].unit, "deg");
      fprintf(f, t->column[c].whole ? "%s%.0f" : degrees ? "%s%.7f" : "%s%.7g", c ? "," : "", row[c]);
    }
    fputc('\n', f);
  }
}

/* One card of 80 letters; value as written in the card, or NULL for commentary. */
static void card(FILE *f, int64_t *bytes, const char *key, const char *value, const char *text)
{
  char line[128];
  int n = value ? snprintf(line, sizeof line, "%-8.8s= %20.70s%s%.40s", key, value, *text ? " / " : "", text)
                : snprintf(line, sizeof line, "%-8.8s%.72s", key, text);
  fprintf(f, "%-80.80s", n > 0 ? line : "");
  *bytes += 80;
}

static void pad(FILE *f, int64_t *bytes, char with)
{
  for (; *bytes % BLOCK; ++*bytes)
    fputc(with, f);
}

static void text_card(FILE *f, int64_t *bytes, const char *key, int number, const char *text)
{
  char name[16], quoted[96];
  snprintf(name, sizeof name, number ? "%s%d" : "%s", key, number);
  snprintf(quoted, sizeof quoted, "'%-8.66s'", text);
  char line[128];
  snprintf(line, sizeof line, "%-8.8s= %s", name, quoted);
  fprintf(f, "%-80.80s", line);
  *bytes += 80;
}

static void number_card(FILE *f, int64_t *bytes, const char *key, int64_t n, const char *text)
{
  char value[24];
  snprintf(value, sizeof value, "%lld", (long long)n);
  card(f, bytes, key, value, text);
}

static void write_header(const table *t, FILE *f, int64_t *bytes)
{
  card(f, bytes, "SIMPLE", "T", "FITS standard 4.0");
  number_card(f, bytes, "BITPIX", 8, "");
  number_card(f, bytes, "NAXIS", 0, "no image: the table follows");
  card(f, bytes, "EXTEND", "T", "");
  card(f, bytes, "END", NULL, "");
  pad(f, bytes, ' ');
  text_card(f, bytes, "XTENSION", 0, "BINTABLE");
  number_card(f, bytes, "BITPIX", 8, "");
  number_card(f, bytes, "NAXIS", 2, "");
  number_card(f, bytes, "NAXIS1", 8 * (int64_t)t->columns, "bytes of a row");
  number_card(f, bytes, "NAXIS2", t->n, "sources");
  number_card(f, bytes, "PCOUNT", 0, "");
  number_card(f, bytes, "GCOUNT", 1, "");
  number_card(f, bytes, "TFIELDS", t->columns, "");
  for (int c = 0; c < t->columns; c++) {
    text_card(f, bytes, "TTYPE", c + 1, t->column[c].name);
    text_card(f, bytes, "TFORM", c + 1, t->column[c].whole ? "K" : "D");
    if (t->column[c].unit[0])
      text_card(f, bytes, "TUNIT", c + 1, t->column[c].unit);
  }
  text_card(f, bytes, "EXTNAME", 0, "SOURCES");
  if (t->o->coordsys) {
    char system[2] = {t->o->coordsys, 0};
    text_card(f, bytes, "COORDSYS", 0, system);
  }
  for (const char *h = t->o->history; h && *h; h += strlen(h) > 72 ? 72 : strlen(h))
    card(f, bytes, "HISTORY", NULL, h);
  card(f, bytes, "END", NULL, "");
  pad(f, bytes, ' ');
}

static void write_table(const table *t, FILE *f)
{
  int64_t bytes = 0;
  double row[MOST];
  write_header(t, f, &bytes);
  for (int64_t i = 0; i < t->n; i++) {
    make_row(t, i, row);
    for (int c = 0; c < t->columns; c++) {
      int64_t whole = (int64_t)row[c];
      uint64_t bits;
      memcpy(&bits, t->column[c].whole ? (const void *)&whole : (const void *)&row[c], 8);
      for (int k = 56; k >= 0; k -= 8)
        fputc((int)(bits >> k & 255), f);
      bytes += 8;
    }
  }
  pad(f, &bytes, 0);
}

kugel_status kugel_sources_write(kugel_ctx *ctx, const char *path, const kugel_catalogue_opts *opts,
                                 int64_t n, const kugel_source *list)
{
  kugel_catalogue_opts o = {.size = sizeof o};
  KUGEL_CHECK(path && *path && n >= 0 && (list || !n), KUGEL_EINVAL, "%s: pass a path and %lld sources",
              path && *path ? "the list is NULL" : "the path is empty", (long long)n);
  if (opts)
    KUGEL_TRY(kugel__take_opts(&o, sizeof o, opts, "kugel_catalogue_opts"));
  table t = {.o = &o, .n = n, .list = list};
  KUGEL_TRY(make_columns(&t));
  kugel__replace r;
  FILE *f = NULL;
  KUGEL_TRY(kugel__replace_begin(ctx, path, o.overwrite, &r));
  kugel_status s = kugel__replace_open(&r, &f);
  if (!s) {
    size_t length = strlen(path);
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0), before = (locale_t)0;
    if (c_locale != (locale_t)0)
      before = uselocale(c_locale);
    if (length > 5 && !strcmp(path + length - 5, ".fits"))
      write_table(&t, f);
    else
      write_text(&t, f);
    if (c_locale != (locale_t)0) {
      uselocale(before);
      freelocale(c_locale);
    }
  }
  return kugel__replace_finish(&r, s, f);
}
