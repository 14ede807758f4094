/* SPDX-License-Identifier: BSD-3-Clause */
/* Positions of catalogues: FITS, text, NPY. */
#include "points/positions.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>
#include "fft/ndarray.h"
#include "map/files.h"

static const double DEGREE = M_PI / 180;

/* Names that catalogues and maps of positions give the two columns; the last pair is colatitude and longitude. */
static const char *const pairs[][2] = {
    {"ra", "dec"},    {"raj2000", "dej2000"}, {"lon", "lat"}, {"longitude", "latitude"},
    {"glon", "glat"}, {"elon", "elat"},       {"l", "b"},     {"ra_deg", "dec_deg"},
    {"theta", "phi"}};
static const char systems[] = {'C', 'C', 0, 0, 'G', 'E', 'G', 'C', 0};
enum { PAIRS = sizeof pairs / sizeof *pairs };

static int make(positions *p, int64_t n)
{
  p->n = n;
  p->angles = malloc((size_t)(n > 0 ? n : 1) * 2 * sizeof *p->angles);
  return p->angles ? EXIT_DONE : fail("%s: no memory for %lld positions", p->path, (long long)n);
}

/* Longitude and latitude in degrees to theta and phi. */
static int from_degrees(positions *p)
{
  for (int64_t i = 0; i < p->n; i++) {
    double lon = p->angles[2 * i], lat = p->angles[2 * i + 1];
    if (!(fabs(lat) <= 90))
      return fail("%s: the latitude of point %lld is %g, must be -90 to 90", p->path, (long long)i, lat);
    p->angles[2 * i] = fmin(fmax((90 - lat) * DEGREE, 0), M_PI);
    p->angles[2 * i + 1] = lon * DEGREE;
  }
  return EXIT_DONE;
}

/* ---- names of columns ---- */

/* The two names of "LON,LAT"; returns 0 where there are not two. */
static int split(const char *columns, char name[2][72])
{
  const char *comma = strchr(columns, ',');
  if (!comma || comma == columns || !comma[1] || strchr(comma + 1, ',') || comma - columns > 71 ||
      strlen(comma + 1) > 71)
    return 0;
  memcpy(name[0], columns, (size_t)(comma - columns));
  name[0][comma - columns] = 0;
  strcpy(name[1], comma + 1);
  return 1;
}

static int64_t column_named(const char *name, char (*names)[72], int64_t n)
{
  for (int64_t i = 0; i < n; i++)
    if (strcasecmp(names[i], name) == 0)
      return i;
  char *end;
  long index = strtol(name, &end, 10);
  return *name && !*end && index >= 0 && index < n ? index : -1;
}

static bool is_colatitude(const char *name)
{
  return strcasecmp(name, "theta") == 0 || strcasecmp(name, "colatitude") == 0;
}

/* Which columns hold the two angles, and whether the first is a colatitude. */
static int choose(positions *p, const char *columns, char (*names)[72], int64_t n, int64_t at[2], bool *theta)
{
  char own[2][72];
  at[0] = at[1] = -1;
  if (columns) {
    if (!split(columns, own))
      return fail("--columns is %s, must be two names or numbers: RA,DEC", columns);
    for (int k = 0; k < 2; k++)
      if ((at[k] = column_named(own[k], names, n)) < 0)
        return fail("%s: there is no column %s", p->path, own[k]);
  }
  for (int i = 0; !columns && at[0] < 0 && i < PAIRS; i++)
    for (int k = 0; k < 2; k++)
      at[k] = k == 0 || at[0] >= 0 ? column_named(pairs[i][k], names, n) : -1;
  if (at[0] < 0 || at[1] < 0)
    return fail(
        "%s: no columns are named RA and DEC, LON and LAT, GLON and GLAT or THETA and PHI: name them by "
        "--columns",
        p->path);
  *theta = *theta || is_colatitude(names[at[0]]);
  for (int i = 0; i < PAIRS; i++)
    if (!strcasecmp(names[at[0]], pairs[i][0]) && !strcasecmp(names[at[1]], pairs[i][1]))
      p->system = systems[i];
  return EXIT_DONE;
}

/* ---- FITS ---- */

/* A column becomes angle k of each position. */
static int read_column(positions *p, kugel_fits *f, int64_t column, int k)
{
  double *x = malloc((size_t)(p->n > 0 ? p->n : 1) * sizeof *x);
  if (!x)
    return fail("%s: no memory for %lld numbers", p->path, (long long)p->n);
  kugel_status s = kugel_fits_read_values(f, column, 0, KUGEL_ARRAY(x, KUGEL_F64, p->n));
  for (int64_t i = 0; !s && i < p->n; i++)
    p->angles[2 * i + k] = x[i];
  free(x);
  LIB(s);
  return EXIT_DONE;
}

/* Room for the values of the two columns: columns of a table, such as text, may have other numbers of elements in a row. */
static int make_for(positions *p, kugel_fits *f, const int64_t at[2])
{
  const kugel_fits_info *info = kugel_fits_get_info(f);
  kugel_fits_column lon, lat;
  char rows[24] = "";
  LIB(kugel_fits_get_column(f, at[0], &lon));
  LIB(kugel_fits_get_column(f, at[1], &lat));
  if (lon.repeat != lat.repeat)
    return fail("%s: columns %s and %s have %lld and %lld elements in a row, must have as many", p->path,
                lon.name, lat.name, (long long)lon.repeat, (long long)lat.repeat);
  const bool image = info->kind == KUGEL_FITS_IMAGE || kugel_fits_get_keyword(f, "NAXIS2", rows, sizeof rows);
  return make(p, image ? info->nvalues : atoll(rows) * lon.repeat);
}

static int read_columns(positions *p, kugel_fits *f, const char *columns)
{
  const kugel_fits_info *info = kugel_fits_get_info(f);
  enum { MOST = 999 };
  static char names[MOST][72];
  kugel_fits_column column;
  const int64_t n = info->ncolumns < MOST ? info->ncolumns : MOST;
  int64_t at[2];
  bool theta = false, radians = false;
  for (int64_t i = 0; i < n; i++) {
    LIB(kugel_fits_get_column(f, i, &column));
    memcpy(names[i], column.name, sizeof names[i]);
  }
  STEP(choose(p, columns, names, n, at, &theta));
  STEP(make_for(p, f, at));
  for (int k = 0; k < 2; k++) {
    LIB(kugel_fits_get_column(f, at[k], &column));
    radians |= (k == 0 && theta && strncasecmp(column.unit, "deg", 3) != 0) ||
               strncasecmp(column.unit, "rad", 3) == 0;
    STEP(read_column(p, f, at[k], k));
  }
  for (int64_t i = 0; i < p->n; i++) {
    double *x = p->angles + 2 * i, unit = radians ? 1 / DEGREE : 1;
    x[0] *= unit;
    x[1] *= unit;
    if (theta) {
      double colatitude = x[0];
      x[0] = x[1];
      x[1] = 90 - colatitude;
    }
  }
  return from_degrees(p);
}

static int read_fits(positions *p, const char *columns)
{
  kugel_fits *f;
  LIB(kugel_fits_open(NULL, p->path, NULL, &f));
  int status = read_columns(p, f, columns);
  kugel_fits_close(f);
  return status;
}

/* ---- text ---- */

/* Fields of a line between commas, or else spaces and tabs; changes the line. */
static int64_t fields(char *line, char (*names)[72], int64_t most)
{
  const char *between = strchr(line, ',') ? ",\r\n" : " \t\r\n";
  int64_t n = 0;
  char *rest = line;
  for (char *field; n < most && (field = strsep(&rest, between));) {
    field += strspn(field, " \t\"");
    size_t length = strcspn(field, "\"\r\n");
    while (length > 0 && (field[length - 1] == ' ' || field[length - 1] == '\t'))
      length--;
    if (*between != ',' && length == 0)
      continue;
    length = length < 71 ? length : 71;
    memcpy(names[n], field, length);
    names[n++][length] = 0;
  }
  return n;
}

/* The first line that is no comment names the columns, unless it begins with a number; then the first two are meant. */
static int read_lines(positions *p, FILE *f, const char *columns, bool lonlat, char **line, size_t *room)
{
  enum { MOST = 256 };
  static char text[MOST][72], none[MOST][72];
  int64_t at[2] = {0, 1}, capacity = 1024, row = 0;
  bool theta = false, named = false;
  double unit = lonlat ? 1 : 1 / DEGREE;
  STEP(make(p, capacity));
  p->n = 0;
  while (getline(line, room, f) >= 0) {
    row++;
    if (**line == '#' || (*line)[strspn(*line, " \t\r\n")] == 0)
      continue;
    const int64_t n = fields(*line, text, MOST);
    char *end;
    strtod(text[0], &end);
    if (!named && p->n == 0 && end == text[0]) {
      STEP(choose(p, columns, text, n, at, &theta));
      unit = theta ? 1 / DEGREE : 1;
      named = true;
      continue;
    }
    theta = named ? theta : !lonlat;
    if (!named && p->n == 0 && columns) // by number
      STEP(choose(p, columns, none, n, at, &theta));
    if (p->n == capacity) {
      double *more = realloc(p->angles, (size_t)(capacity *= 2) * 2 * sizeof *more);
      if (!more)
        return fail("%s: no memory for %lld positions", p->path, (long long)capacity);
      p->angles = more;
    }
    double x[2];
    for (int k = 0; k < 2; k++) {
      x[k] = at[k] < n ? strtod(text[at[k]], &end) : 0;
      if (at[k] >= n || end == text[at[k]] || *end)
        return fail("%s: line %lld has no number in column %lld", p->path, (long long)row, (long long)at[k]);
      x[k] *= unit;
    }
    p->angles[2 * p->n] = theta ? x[1] : x[0];
    p->angles[2 * p->n++ + 1] = theta ? 90 - x[0] : x[1];
  }
  return from_degrees(p);
}

static int read_text(positions *p, const char *columns, bool lonlat)
{
  FILE *f = fopen(p->path, "r");
  if (!f)
    return fail("cannot read %s: %s", p->path, strerror(errno));
  char *line = NULL;
  size_t room = 0;
  int status = read_lines(p, f, columns, lonlat, &line, &room);
  free(line);
  fclose(f);
  return status;
}

/* ---- NPY ---- */

static int read_array(positions *p, bool lonlat)
{
  NDARRAY x = {0};
  STEP(ndarray_open(&x, p->path));
  if (x.is_complex || x.number != NUMBER_PLAIN || x.ndim != 2 || x.shape[1] != 2)
    return fail("%s: points must be reals, in an array of one row of two columns for each", p->path);
  STEP(ndarray_read(&x));
  STEP(make(p, x.shape[0]));
  for (int64_t i = 0; i < 2 * p->n; i++)
    p->angles[i] = x.single ? (double)((const float *)x.data)[i] : ((const double *)x.data)[i];
  for (int64_t i = 0; x.single && i < p->n; i++) // the float next to pi is above it
    p->angles[2 * i] = p->angles[2 * i] == (double)(float)M_PI ? M_PI : p->angles[2 * i];
  return lonlat ? from_degrees(p) : EXIT_DONE;
}

int positions_read(positions *p, const char *path, const char *columns, bool lonlat)
{
  p->path = path;
  return path_ends_with(path, ".npy") ? read_array(p, lonlat)
         : is_text_table(path)        ? read_text(p, columns, lonlat)
                                      : read_fits(p, columns);
}

void positions_close(positions *p)
{
  free(p->angles);
  p->angles = NULL;
}
