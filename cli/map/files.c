/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>
#include "common/ranks.h"
#include "map/files.h"
#include "map/npymap.h"
#include "map/skyops.h"

void fits_close(kugel_fits **file)
{
  kugel_fits_close(*file);
}

void grid_close(kugel_grid **grid)
{
  kugel_grid_destroy(*grid);
}

bool path_ends_with(const char *path, const char *end)
{
  size_t n = strlen(path), m = strlen(end);
  return n >= m && !strcasecmp(path + n - m, end);
}

const char *order_name(kugel_order order)
{
  return order == KUGEL_ORDER_NESTED ? "NESTED"
         : order == KUGEL_ORDER_RING ? "RING"
                                     : "ordering not said, taken as RING";
}

const char *coordsys_name(const char *coordsys)
{
  static const struct {
    const char *letter, *name;
  } names[] = {{"G", "Galactic"},
               {"E", "ecliptic"},
               {"C", "equatorial"},
               {"GALACTIC", "Galactic"},
               {"ECLIPTIC", "ecliptic"},
               {"CELESTIAL", "equatorial"},
               {"EQUATORIAL", "equatorial"},
               {"UNKNOWN", ""}};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (!strcasecmp(coordsys, names[i].letter))
      return names[i].name;
  return coordsys;
}

/* ---- history ------------------------------------------------------------------------------------------- */

static char history[1024];

void history_set(int argc, const char *const *argv)
{
  size_t at = (size_t)snprintf(history, sizeof history, "kugel");
  for (int i = 0; i < argc && at < sizeof history; i++) {
    const char *slash = strrchr(argv[i], '/'); /* folders are of no interest, and private */
    at += (size_t)snprintf(history + at, sizeof history - at, " %s", slash && slash[1] ? slash + 1 : argv[i]);
  }
  for (char *p = history; *p; p++)
    if (!isprint((unsigned char)*p))
      *p = '?';
}

const char *history_line(void)
{
  return history;
}

/* ---- reading ------------------------------------------------------------------------------------------- */

bool is_stokes(const char *name, char letter)
{
  if (letter == 'I' && (toupper(name[0]) == 'T' || !strncasecmp(name, "SIGNAL", 6)))
    return !name[1] || !strncasecmp(name, "TEMP", 4) || !strncasecmp(name, "SIGNAL", 6);
  if (toupper(name[0]) != letter)
    return false;
  return !name[1] || name[1] == '_' || name[1] == '-' || !strncasecmp(name + 1, "POL", 3) ||
         !strncasecmp(name + 1, "STOKES", 6);
}

static int pick_columns(sky *s, const char *list)
{
  char words[512];
  if (strlen(list) >= sizeof words)
    return fail_usage("--columns is longer than %d letters", (int)sizeof words - 1);
  snprintf(words, sizeof words, "%s", list);
  for (char *save, *w = strtok_r(words, ",", &save); w; w = strtok_r(NULL, ",", &save)) {
    if (s->n == MAX_COLUMNS)
      return fail_usage("--columns names more than %d", MAX_COLUMNS);
    kugel_status status = kugel_fits_find_column(s->file, w, &s->columns[s->n]);
    if (status != KUGEL_OK)
      return fail_library(status, s->path);
    s->n++;
  }
  return s->n ? EXIT_DONE : fail_usage("--columns names none");
}

static int describe_columns(sky *s)
{
  for (int64_t i = 0; i < s->n; i++) {
    kugel_status status = kugel_fits_get_column(s->file, s->columns[i], &s->described[i]);
    if (status != KUGEL_OK)
      return fail_library(status, s->path);
  }
  return EXIT_DONE;
}

const char *foreign_map(const kugel_fits *file)
{
  char order[32] = "", kind[32] = "";
  kugel_fits_get_keyword(file, "ORDERING", order, sizeof order);
  kugel_fits_get_keyword(file, "PIXTYPE", kind, sizeof kind);
  if (!strcmp(order, "NUNIQ") && kugel_fits_get_info(file)->ncolumns > 1)
    return "a multi-order HEALPix map (ORDERING = NUNIQ), pixels of several sizes; "
           "kugel.skyfiles.read_multiorder in Python makes it a map of one nside";
  if (!strcmp(order, "NUNIQ") || !strcmp(order, "RANGE"))
    return "a MOC, pixels of several sizes without values; kugel.skyfiles.read_moc in Python makes it a mask";
  if (!strcmp(kind, "HEALSPARSE"))
    return "a healsparse map; kugel.skyfiles.read_healsparse in Python makes it a HEALPix map";
  return NULL;
}

static int fits_open(sky *s, const char *columns)
{
  const char *path = s->path;
  kugel_status status = kugel_fits_open(NULL, path, NULL, &s->file);
  if (status != KUGEL_OK)
    return fail_library(status, path);
  const kugel_fits_info *info = s->info = kugel_fits_get_info(s->file);
  if (foreign_map(s->file))
    return fail("%s holds %s", path, foreign_map(s->file));
  if (info->kind != KUGEL_FITS_MAP)
    return fail("%s holds %s, not a HEALPix map; kugel info %s describes it", path,
                info->kind == KUGEL_FITS_ALM  ? "a_lm"
                : info->kind == KUGEL_FITS_CL ? "power spectra"
                                              : "another kind of table",
                path);
  if (columns && strcmp(columns, "all")) {
    STEP(pick_columns(s, columns));
  } else {
    s->n = info->ncolumns < MAX_COLUMNS ? info->ncolumns : MAX_COLUMNS;
    for (int64_t i = 0; i < s->n; i++)
      s->columns[i] = i;
  }
  return describe_columns(s);
}

int sky_open(sky *s, const char *path, const char *columns, bool polarise)
{
  memset(s, 0, sizeof *s);
  s->path = path;
  STEP(path_ends_with(path, ".npy") ? npymap_open(s, columns) : fits_open(s, columns));
  s->nside = s->info->nside;
  s->npix = s->info->npix;
  const kugel_fits_column *c = s->described;
  bool iqu = s->n >= 3 && is_stokes(c[0].name, 'I') && is_stokes(c[1].name, 'Q') && is_stokes(c[2].name, 'U');
  bool unnamed = s->n == 3 && !c[0].name[0] && !c[1].name[0] && !c[2].name[0];
  if (!columns)
    s->n = iqu || unnamed ? 3 : 1;
  s->polarised = polarise && s->n == 3 && (iqu || unnamed);
  s->iau = !strcasecmp(s->info->polcconv, "IAU");
  return EXIT_DONE;
}

void pixels_negate(void *data, kugel_dtype dtype, int64_t n)
{
  double *d = data;
  float *f = data;
  for (int64_t i = 0; i < n; i++) {
    if (dtype.bits == 64)
      d[i] = fabs(d[i] / KUGEL_UNSEEN - 1) < 1e-5 ? d[i] : -d[i];
    else
      f[i] = fabs((double)f[i] / KUGEL_UNSEEN - 1) < 1e-5 ? f[i] : -f[i];
  }
}

bool pixels_seen(const void *data, kugel_dtype dtype, int64_t n)
{
  for (int64_t i = 0; i < n; i++) {
    double x = dtype.bits == 64 ? ((const double *)data)[i] : (double)((const float *)data)[i];
    if (isfinite(x) && fabs(x / KUGEL_UNSEEN - 1) >= 1e-5)
      return true;
  }
  return false;
}

static void *third(void *maps, kugel_dtype dtype, int64_t npix)
{
  return (char *)maps + 2 * npix * (dtype.bits / 8);
}

bool sky_is_float(const sky *s)
{
  for (int64_t i = 0; i < s->n; i++)
    if (s->described[i].dtype.code != KUGEL_FLOAT || s->described[i].dtype.bits > 32)
      return false;
  return true;
}

int sky_read(sky *s, kugel_order order, bool exact)
{
  s->dtype = !exact && sky_is_float(s) ? KUGEL_F32 : KUGEL_F64;
  s->order = order != KUGEL_ORDER_ANY               ? order
             : s->info->order == KUGEL_ORDER_NESTED ? KUGEL_ORDER_NESTED
                                                    : KUGEL_ORDER_RING;
  size_t bytes = (size_t)s->n * (size_t)s->npix * (s->dtype.bits / 8);
  s->maps = malloc(bytes);
  if (!s->maps)
    return fail("%s: no memory for %lld maps of %lld pixels (%zu bytes)", s->path, (long long)s->n,
                (long long)s->npix, bytes);
  progress_reading(0, 1, "reading");
  if (s->npy) {
    kugel_order wanted = s->order;
    s->order = s->info->order;
    STEP(npymap_read(s));
    return sky_reorder(s, wanted);
  }
  kugel_status status = kugel_fits_read_maps(s->file, s->n, s->columns, s->order,
                                             KUGEL_ARRAY(s->maps, s->dtype, s->n, s->npix));
  if (status != KUGEL_OK)
    return fail_library(status, s->path);
  if (s->iau && s->polarised)
    pixels_negate(third(s->maps, s->dtype, s->npix), s->dtype, s->npix);
  return interrupted() ? fail_interrupted() : EXIT_DONE;
}

int mask_read(const char *path, int64_t nside, kugel_order order, double **mask)
{
  SKY s = {0};
  STEP(sky_open(&s, path, "0", false));
  if (s.nside != nside)
    return fail("%s has nside %lld, but the map has nside %lld; kugel udgrade changes it", path,
                (long long)s.nside, (long long)nside);
  STEP(sky_read(&s, order, true));
  *mask = s.maps;
  s.maps = NULL;
  return EXIT_DONE;
}

void sky_close(sky *s)
{
  kugel_fits_close(s->file);
  free(s->maps);
  memset(s, 0, sizeof *s);
}

/* ---- writing ------------------------------------------------------------------------------------------- */

int check_output(const char *path)
{
  struct stat st;
  char folder[4096];
  if (run.partial && path_ends_with(path, ".npy"))
    return fail_usage("--partial: an NPY file holds the whole sky; give %s a name that ends in .fits", path);
  if (stat(path, &st) == 0) {
    if (S_ISDIR(st.st_mode))
      return fail("%s is a folder; name a file", path);
    if (!run.overwrite)
      return fail("%s exists; --overwrite replaces it", path);
    if (access(path, W_OK) != 0)
      return fail("%s is read-only; choose another name, or allow writing (chmod u+w)", path);
  }
  if (strlen(path) >= sizeof folder)
    return fail("the output's name is longer than %d bytes", (int)sizeof folder - 1);
  snprintf(folder, sizeof folder, "%s", path);
  char *slash = strrchr(folder, '/');
  if (slash == folder)
    slash[1] = 0;
  else if (slash)
    *slash = 0;
  else
    snprintf(folder, sizeof folder, ".");
  if (stat(folder, &st) != 0 || !S_ISDIR(st.st_mode))
    return fail("%s: there is no folder %s", path, folder);
  if (access(folder, W_OK | X_OK) != 0)
    return fail("%s: cannot write into the folder %s: %s", path, folder, strerror(errno));
  return EXIT_DONE;
}

output output_like(const sky *s)
{
  output out = {.order = s->order,
                .nside = s->nside,
                .n = s->n,
                .dtype = s->dtype,
                .maps = s->maps,
                .info = s->info,
                .iau = s->iau && s->polarised};
  bool named = false;
  for (int64_t i = 0; i < s->n; i++)
    named |= s->described[i].name[0] != 0;
  for (int64_t i = 0; i < s->n; i++) {
    out.names[i] = named ? s->described[i].name : NULL;
    out.units[i] = s->described[i].unit;
  }
  return out;
}

kugel_fits_write_opts output_opts(const output *out)
{
  static const char *line;
  line = history_line();
  return (kugel_fits_write_opts){
      .size = sizeof(kugel_fits_write_opts),
      .overwrite = run.overwrite,
      .order = out->order,
      .dtype = out->file_dtype,
      .coordsys = out->coordsys                         ? out->coordsys
                  : out->info && out->info->coordsys[0] ? out->info->coordsys
                                                        : NULL,
      .names = out->names[0] ? out->names : NULL,
      .units = out->units[0] ? out->units : NULL,
      .cards = out->info ? out->info->cards : NULL,
      .ncards = out->info ? out->info->ncards : 0,
      .history = &line,
      .nhistory = 1,
      .skip_unseen = run.partial,
  };
}

bool output_nested(const char *path, const sky *s, const arg *order)
{
  if (order && order->n)
    return order->n == 2;
  return path_ends_with(path, ".npy") ? run.nest : s->info->order == KUGEL_ORDER_NESTED;
}

int output_write(const char *path, const output *out)
{
  if (interrupted())
    return fail_interrupted();
  int64_t npix = 12 * out->nside * out->nside;
  progress_writing();
  if (path_ends_with(path, ".npy")) { /* without units and names, and U in HEALPix's convention */
    json_text("output_ordering", order_name(out->order));
    fact("written", "NPY, %s, in %s order", out->n == 1 ? "[npix]" : "[n, npix]", order_name(out->order));
    return npymap_write(path, out);
  }
  void *u = out->iau && out->n == 3 ? third(out->maps, out->dtype, npix) : NULL;
  kugel_fits_write_opts opts = output_opts(out);
  if (u)
    pixels_negate(u, out->dtype, npix);
  kugel_status status = kugel_lead_write_maps(NULL, ranks_comm(), path, &opts,
                                              KUGEL_ARRAY(out->maps, out->dtype, out->n, npix));
  if (u)
    pixels_negate(u, out->dtype, npix);
  return status == KUGEL_OK ? EXIT_DONE : fail_library(status, path);
}
