/* SPDX-License-Identifier: BSD-3-Clause */
/* Positions in other coordinates; tables of positions and values: text, FITS. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <kugel/alm.h>
#include "points/positions.h"

static const double DEGREE = M_PI / 180;
static const char *const stokes[] = {"T", "Q", "U"};

bool is_text_table(const char *path)
{
  return path_ends_with(path, ".csv") || path_ends_with(path, ".tsv") || path_ends_with(path, ".txt");
}

bool is_fits_table(const char *path)
{
  return path_ends_with(path, ".fits") || path_ends_with(path, ".fit") || path_ends_with(path, ".fits.gz");
}

/* ---- coordinates ---- */

static double dot(const double *a, const double *b)
{
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* v = m u. */
static void turn_vector(const double m[9], const double *u, double *v)
{
  for (int k = 0; k < 3; k++)
    v[k] = dot(m + 3 * k, u);
}

int positions_turn(const positions *p, char from, char to, double *angles, double *turn)
{
  double m[9];
  LIB(kugel_rotation_from_coord(from, to, m));
  for (int64_t i = 0; i < p->n; i++) {
    const double theta = p->angles[2 * i], phi = p->angles[2 * i + 1];
    const double u[3] = {sin(theta) * cos(phi), sin(theta) * sin(phi), cos(theta)},
                 south[3] = {cos(theta) * cos(phi), cos(theta) * sin(phi), -sin(theta)};
    double v[3], w[3];
    turn_vector(m, u, v);
    turn_vector(m, south, w);
    const double t = atan2(hypot(v[0], v[1]), v[2]), f = atan2(v[1], v[0]);
    angles[2 * i] = t;
    angles[2 * i + 1] = f;
    if (!turn)
      continue;
    const double south2[3] = {cos(t) * cos(f), cos(t) * sin(f), -sin(t)}, east2[3] = {-sin(f), cos(f), 0};
    turn[i] = -atan2(dot(w, east2), dot(w, south2));
  }
  return EXIT_DONE;
}

/* ---- text ---- */

static bool put(const positions *p, FILE *f, const char *separator, int sets, const double *values)
{
  fprintf(f, "lon%slat", separator);
  for (int k = 0; k < sets; k++)
    fprintf(f, "%s%s", separator, stokes[k % 3]);
  fputc('\n', f);
  for (int64_t i = 0; i < p->n && !ferror(f); i++) {
    fprintf(f, "%.12g%s%.12g", p->angles[2 * i + 1] / DEGREE, separator, 90 - p->angles[2 * i] / DEGREE);
    for (int k = 0; k < sets; k++)
      fprintf(f, "%s%.17g", separator, values[k * p->n + i]);
    fputc('\n', f);
  }
  return !ferror(f) && fflush(f) == 0 && fsync(fileno(f)) == 0;
}

int positions_write(const positions *p, const char *path, int sets, const double *values)
{
  char *whole;
  if (asprintf(&whole, "%s.XXXXXX", path) < 0)
    return fail("%s: no memory for its name", path);
  int d = mkstemp(whole), status = EXIT_DONE;
  FILE *f = d >= 0 ? fdopen(d, "w") : NULL;
  bool good = f && fchmod(d, 0644) == 0 && put(p, f, path_ends_with(path, ".csv") ? "," : "\t", sets, values);
  int why = errno;
  if (f)
    good = fclose(f) == 0 && good;
  if (!good || rename(whole, path) != 0) {
    status = fail("cannot write %s: %s", path, strerror(good ? errno : why));
    if (d >= 0)
      unlink(whole);
  }
  free(whole);
  return status;
}

/* ---- FITS ---- */

/* T, or T_2, T_3 where the table has such a column. */
static void free_name(kugel_fits *f, const char *wanted, char name[24])
{
  kugel_fits_column column;
  snprintf(name, 24, "%s", wanted);
  for (int k = 2; f && k < 1000; k++) {
    bool taken = false;
    for (int64_t c = 0; c < kugel_fits_get_info(f)->ncolumns; c++)
      taken |= !kugel_fits_get_column(f, c, &column) && !strcmp(column.name, name);
    if (!taken)
      return;
    snprintf(name, 24, "%s_%d", wanted, k);
  }
}

static int write_columns(const positions *p, kugel_fits *from, const char *path, int sets,
                         const double *values, const char *unit)
{
  const int more = from ? 0 : 2;
  const int64_t columns = sets + more;
  char own[3][24];
  const char *names[5] = {"lon", "lat"}, *units[5] = {"deg", "deg"}, *history[] = {history_line()};
  OWNED double *all = malloc((size_t)(p->n > 0 ? p->n : 1) * (size_t)columns * sizeof *all);
  if (!all)
    return fail("%s: no memory for %lld rows", path, (long long)p->n);
  for (int64_t i = 0; more && i < p->n; i++) {
    all[i] = p->angles[2 * i + 1] / DEGREE;
    all[p->n + i] = 90 - p->angles[2 * i] / DEGREE;
  }
  memcpy(all + more * p->n, values, (size_t)(p->n * sets) * sizeof *all);
  for (int k = 0; k < sets; k++) {
    free_name(from, stokes[k], own[k]);
    names[more + k] = own[k];
    units[more + k] = unit;
  }
  const kugel_fits_write_opts o = {.size = sizeof o,
                                   .overwrite = run.overwrite,
                                   .names = names,
                                   .units = units,
                                   .extname = from ? NULL : "VALUES",
                                   .history = history,
                                   .nhistory = 1};
  LIB(kugel_fits_write_table(NULL, path, &o, from, KUGEL_ARRAY(all, KUGEL_F64, columns, p->n)));
  return EXIT_DONE;
}

int positions_write_fits(const positions *p, const char *path, int sets, const double *values,
                         const char *unit)
{
  FITS_FILE kugel_fits *from = NULL;
  char rows[24] = "";
  if (!path_ends_with(p->path, ".npy") && !is_text_table(p->path)) {
    LIB(kugel_fits_open(NULL, p->path, NULL, &from));
    if (kugel_fits_get_keyword(from, "NAXIS2", rows, sizeof rows) ||
        atoll(rows) != p->n) { // several to a row
      kugel_fits_close(from);
      from = NULL;
    }
  }
  return write_columns(p, from, path, sets, values, unit);
}
