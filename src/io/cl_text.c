/* SPDX-License-Identifier: BSD-3-Clause */
/* Text spectra: rows of numbers separated by blanks, tabs, commas or semicolons; # or % starts a comment.
 * Numbers are read and written in the C locale whatever the program's. */
#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/alloc.h"
#include "io/cl_text.h"
#include "io/input.h"
#include "core/replace.h"

enum { MAX_COLUMNS = 256 };
#define MAX_BYTES ((int64_t)1 << 31)

static bool separator(char c)
{
  return c == ' ' || c == '\t' || c == ',' || c == ';' || c == '\r';
}

/* Fortran writes 1.0D+00. */
static double parse_number(char *at, char **end, locale_t c_locale)
{
  char *stop = at;
  while (*stop && *stop != '\n' && !separator(*stop))
    stop++;
  for (char *c = at; c < stop; c++)
    if (*c == 'D' || *c == 'd')
      *c = 'E';
  return strtod_l(at, end, c_locale);
}

/* Numbers of one line into `row`; the line's end in *rest. -1: not numbers. */
static int parse_line(char *line, double *row, char **rest, locale_t c_locale)
{
  int n = 0;
  char *at = line;
  for (;;) {
    while (separator(*at))
      at++;
    if (!*at || *at == '\n' || *at == '#' || *at == '%' || *at == '!')
      break;
    char *end;
    double x = parse_number(at, &end, c_locale);
    if (end == at || n == MAX_COLUMNS || (*end && *end != '\n' && !separator(*end)))
      return -1;
    row[n++] = x;
    at = end;
  }
  at += strcspn(at, "\n");
  *rest = *at ? at + 1 : at;
  return n;
}

static kugel_status parse(kugel_ctx *ctx, const char *path, char *text, kugel__cl_text *t, locale_t c_locale)
{
  double row[MAX_COLUMNS];
  int64_t room = 0, line = 0;
  bool headed = false;
  for (char *at = text; *at;) {
    char *rest;
    line++;
    int n = parse_line(at, row, &rest, c_locale);
    if (n < 0 && !headed && !t->rows &&
        isalpha((unsigned char)at[strspn(at, " \t\"")])) { // names of the columns
      headed = true;
      at += strcspn(at, "\n");
      at += *at != 0;
      continue;
    }
    KUGEL_CHECK(n >= 0, KUGEL_EFORMAT, "'%s', line %lld: not a row of at most %d numbers", kugel__tail(path),
                (long long)line, MAX_COLUMNS);
    at = rest;
    if (n == 0)
      continue;
    KUGEL_CHECK(!t->columns || t->columns == n, KUGEL_EFORMAT,
                "'%s', line %lld: %d numbers, the rows before have %lld", kugel__tail(path), (long long)line,
                n, (long long)t->columns);
    t->columns = n;
    if (t->rows == room) {
      int64_t more = room ? 2 * room : 4096;
      double *larger = kugel__alloc(ctx, (size_t)(more * n) * sizeof *larger);
      KUGEL_CHECK(larger, KUGEL_ENOMEM, "no memory for %lld rows of '%s'", (long long)more,
                  kugel__tail(path));
      if (room)
        memcpy(larger, t->values, (size_t)(room * n) * sizeof *larger);
      kugel__free(ctx, t->values);
      t->values = larger;
      room = more;
    }
    memcpy(t->values + t->rows++ * n, row, (size_t)n * sizeof *row);
  }
  KUGEL_CHECK(t->rows, KUGEL_EFORMAT, "'%s' holds no numbers", kugel__tail(path));
  t->has_l = t->columns > 1 && t->values[0] >= 0 && t->values[0] < 1e6 && t->values[0] == floor(t->values[0]);
  for (int64_t r = 1; r < t->rows && t->has_l; r++)
    t->has_l = t->values[r * t->columns] == t->values[0] + (double)r;
  return KUGEL_OK;
}

static kugel_status slurp(kugel_ctx *ctx, const char *path, char **text)
{
  FILE *in;
  int64_t size;
  *text = NULL;
  KUGEL_TRY(kugel__input_open(path, &in, &size));
  kugel_status s = KUGEL_OK;
  if (size > MAX_BYTES)
    s = KUGEL_FAIL(KUGEL_EFORMAT, "'%s' has %lld bytes: no text of power spectra is so long",
                   kugel__tail(path), (long long)size);
  if (!s) {
    *text = kugel__alloc(ctx, (size_t)size + 1);
    if (!*text) {
      s = KUGEL_FAIL(KUGEL_ENOMEM, "no memory for the %lld bytes of '%s'", (long long)size,
                     kugel__tail(path));
    } else {
      size_t n = fread(*text, 1, (size_t)size, in);
      (*text)[n] = 0;
      if (ferror(in))
        s = kugel__io_fail("read", path, errno);
      else if (strlen(*text) != n)
        s = KUGEL_FAIL(KUGEL_EFORMAT, "'%s' is neither FITS nor text%s", kugel__tail(path),
                       kugel__input_guess(*text, n));
    }
  }
  fclose(in);
  return s;
}

kugel_status kugel__text_read(kugel_ctx *ctx, const char *path, kugel__cl_text *t)
{
  memset(t, 0, sizeof *t);
  locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  KUGEL_CHECK(c_locale, KUGEL_ENOMEM, "no memory to read '%s'", kugel__tail(path));
  char *text;
  kugel_status s = slurp(ctx, path, &text);
  if (!s)
    s = parse(ctx, path, text, t, c_locale);
  freelocale(c_locale);
  kugel__free(ctx, text);
  if (s) {
    kugel__free(ctx, t->values);
    t->values = NULL;
  }
  return s;
}

static void write_rows(FILE *out, bool csv, const kugel_fits_write_opts *o, int64_t nspectra, int64_t lmax,
                       const double *cl)
{
  const char *gap = csv ? "," : "  ";
  for (int64_t i = 0; !csv && i < o->nhistory; i++)
    fprintf(out, "# %s\n", o->history[i]);
  fprintf(out, csv ? "l" : "# l");
  for (int64_t c = 0; c < nspectra; c++) {
    fprintf(out, "%s", gap);
    if (o->names && o->names[c])
      fprintf(out, "%s", o->names[c]);
    else
      fprintf(out, "C%lld", (long long)c + 1);
  }
  fputc('\n', out);
  for (int64_t l = 0; l <= lmax && !ferror(out); l++) {
    fprintf(out, "%lld", (long long)l);
    for (int64_t c = 0; c < nspectra; c++)
      fprintf(out, "%s%.17g", gap, cl[c * (lmax + 1) + l]);
    fputc('\n', out);
  }
}

kugel_status kugel__text_write(kugel_ctx *ctx, const char *path, const kugel_fits_write_opts *o,
                               int64_t nspectra, int64_t lmax, const double *cl)
{
  kugel__replace file;
  FILE *out;
  size_t n = strlen(path);
  KUGEL_TRY(kugel__replace_begin(ctx, path, o->overwrite, &file));
  kugel_status s = kugel__replace_open(&file, &out);
  if (!s) {
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale_t before = c_locale ? uselocale(c_locale) : (locale_t)0;
    errno = 0;
    write_rows(out, n > 4 && !strcmp(path + n - 4, ".csv"), o, nspectra, lmax, cl);
    if (before)
      uselocale(before);
    if (c_locale)
      freelocale(c_locale);
  }
  return kugel__replace_finish(&file, s, out);
}
