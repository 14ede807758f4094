/* SPDX-License-Identifier: BSD-3-Clause */
/* kugel at: values of spherical-harmonic coefficients, or of maps, at the positions of a catalogue. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <kugel/healpix.h>
#include <kugel/points.h>
#include "commands.h"
#include "common/outputs.h"
#include "common/progress.h"
#include "fft/ndarray.h"
#include "map/missing.h"
#include "map/skyops.h"
#include "points/positions.h"

#define AT_OPTIONS(X)                                                                                        \
  X(input, 0, ARG_OPERAND, "INPUT", NULL, 1, 1,                                                              \
    "coefficients: T, or T, E, B (FITS); or HEALPix maps, which are interpolated (FITS, NPY)")               \
  X(points, 0, ARG_OPERAND, "POINTS", NULL, 1, 1,                                                            \
    "catalogue: FITS table or map, or text (.csv, .tsv, .txt), with columns RA and DEC, LON and LAT, GLON "  \
    "and GLAT, in degrees, or THETA and PHI; or N x 2, colatitude and longitude in radians (NPY)")           \
  X(output, 0, ARG_OPERAND, "OUTPUT", NULL, 1, 1,                                                            \
    "values to write: N, or with E and B 3 x N, T, Q, U (NPY); a table of lon, lat, T, Q, U (.csv, .tsv, "   \
    ".txt); or POINTS' own table with columns T, Q, U behind its own (.fits)")                               \
  X(columns, 0, ARG_TEXT, "LON,LAT", NULL, 0, 0, "names, or numbers from 0, of the columns of POINTS")       \
  X(lonlat, 0, ARG_FLAG, NULL, NULL, 0, 0,                                                                   \
    "POINTS holds longitude and latitude, in degrees (NPY, text without names)")                             \
  X(coord, 0, ARG_TEXT, "XY", NULL, 0, 0,                                                                    \
    "coordinates of POINTS and of INPUT, such as CG: G, E and C for Galactic, ecliptic and equatorial; one " \
    "letter where INPUT says its own")                                                                       \
  X(exact, 0, ARG_FLAG, NULL, NULL, 0, 0,                                                                    \
    "maps: the sum of their harmonics up to --lmax at the positions, instead of interpolation")              \
  X(iter, 'i', ARG_INT, "N", "3", 0, 1000, "with --exact: refinements of the map's analysis")                \
  X(lmax, 'l', ARG_INT, "N", NULL, 0, 1e6,                                                                   \
    "highest multipole to use; the file's, or with --exact 3 nside - 1, when not given")                     \
  X(eps, 'e', ARG_REAL, "TOLERANCE", "1e-9", 1e-13, 0.1,                                                     \
    "root mean square of errors, relative to the field's")                                                   \
  X(no_pol, 0, ARG_FLAG, NULL, NULL, 0, 0, "the first component only")                                       \
  DEVICE_OPTION(X)

OPTIONS(at, AT_OPTIONS);

typedef struct task {
  const at_args *o;
  alms a;
  sky s;
  bool is_map;
  int64_t sets; /* values of a position */
  const char *unit;
  kugel_fits_column described;
  positions x;
  char from, to; /* coordinates of the positions and of the input; 0: not turned */
  double *angles, *turn;
  ndarray out;
  kugel_sht_points_plan *plan;
  kugel_sht_points *at;
} task;

static void task_close(task *t)
{
  alms_close(&t->a);
  sky_close(&t->s);
  if (t->angles != t->x.angles)
    free(t->angles);
  free(t->turn);
  positions_close(&t->x);
  ndarray_close(&t->out);
  kugel_sht_points_destroy(t->at);
  kugel_sht_points_plan_destroy(t->plan);
}

/* ---- what is read ---- */

static int open_map(task *t)
{
  const at_args *o = t->o;
  if (!o->exact.given && (o->lmax.given || o->eps.given || o->iter.given || o->device.given))
    return fail(
        "%s holds maps, which are interpolated: --lmax, --eps, --iter and --device go with coefficients, or "
        "with --exact",
        o->input.s);
  STEP(sky_open(&t->s, o->input.s, NULL, !o->no_pol.given));
  if (!t->s.polarised)
    t->s.n = 1;
  t->sets = t->s.n;
  t->a.lmax = t->a.mmax = o->lmax.given ? o->lmax.n : 3 * t->s.nside - 1;
  t->a.n = t->s.n;
  t->a.count = kugel_alm_count(t->a.lmax, mmax_argument(t->a.mmax));
  t->unit = t->s.described[0].unit;
  return EXIT_DONE;
}

static int open_input(task *t)
{
  const at_args *o = t->o;
  t->is_map = path_ends_with(o->input.s, ".npy");
  if (!t->is_map) {
    FITS_FILE kugel_fits *f = NULL;
    LIB(kugel_fits_open(NULL, o->input.s, NULL, &f));
    t->is_map = kugel_fits_get_info(f)->kind == KUGEL_FITS_MAP;
  }
  if (t->is_map)
    return open_map(t);
  if (o->exact.given || o->iter.given)
    return fail("%s holds coefficients, whose sums are exact: --exact and --iter are of maps", o->input.s);
  STEP(alms_open(&t->a, o->input.s, o->lmax.given ? o->lmax.n : -1, !o->no_pol.given));
  LIB(kugel_fits_get_column(t->a.file, 1, &t->described));
  t->unit = t->described.unit;
  t->sets = t->a.n;
  return EXIT_DONE;
}

static char letter_of(const char *coordsys)
{
  const char *name = coordsys_name(coordsys);
  return !strcmp(name, "Galactic")     ? 'G'
         : !strcmp(name, "ecliptic")   ? 'E'
         : !strcmp(name, "equatorial") ? 'C'
                                       : 0;
}

/* Which way the positions are turned. Names such as RA and DEC that contradict the input's coordinates are refused, for a
 * catalogue at the wrong place of the sky would not show. */
static int choose_turn(task *t)
{
  const char *coord = t->o->coord.s, own = letter_of(t->is_map ? t->s.info->coordsys : t->a.info->coordsys);
  if (!t->o->coord.given) {
    if (!t->x.system || !own || t->x.system == own)
      return EXIT_DONE;
    const char letters[2][2] = {{t->x.system, 0}, {own, 0}};
    return fail(
        "%s is in %s coordinates by the names of its columns, %s in %s ones: give --coord %c to turn the "
        "positions, or --coord %c%c if they are %s",
        t->o->points.s, coordsys_name(letters[0]), t->o->input.s, coordsys_name(letters[1]), t->x.system, own,
        own, coordsys_name(letters[1]));
  }
  const size_t n = strlen(coord);
  if (n < 1 || n > 2 || strspn(coord, "GEC") != n)
    return fail_usage("--coord is %s, must be one or two of the letters G, E, C", coord);
  if (n == 1 && !own)
    return fail_usage("%s does not say its coordinates: give both, such as --coord %cG", t->o->input.s,
                      coord[0]);
  t->from = coord[0];
  t->to = n == 2 ? coord[1] : own;
  fact("turn", "positions from %s to %s coordinates", coordsys_name((char[2]){t->from, 0}),
       coordsys_name((char[2]){t->to, 0}));
  return EXIT_DONE;
}

static int turn_positions(task *t)
{
  t->angles = t->x.angles;
  if (t->from == t->to)
    return EXIT_DONE;
  const size_t n = (size_t)(t->x.n > 0 ? t->x.n : 1);
  t->angles = malloc(2 * n * sizeof *t->angles);
  t->turn = t->sets == 3 ? malloc(n * sizeof *t->turn) : NULL;
  if (!t->angles || (t->sets == 3 && !t->turn))
    return fail("%s: no memory for %lld positions", t->o->points.s, (long long)t->x.n);
  return positions_turn(&t->x, t->from, t->to, t->angles, t->turn);
}

/* ---- values ---- */

static int make_plan(task *t)
{
  kugel_sht_points_opts o = {.size = sizeof o,
                             .lmax = t->a.lmax,
                             .mmax = mmax_argument(t->a.mmax),
                             .mode = t->sets == 3 ? KUGEL_SHT_TEB : KUGEL_SHT_SCALAR,
                             .tolerance = t->o->eps.x};
  LIB(kugel_sht_points_plan_create(run.ctx, &o, &t->plan));
  return EXIT_DONE;
}

static int estimate(const task *t)
{
  const double n = (double)t->x.n, sets = (double)t->sets, npix = (double)t->s.npix;
  double bytes = BASE_MEMORY + 8 * sets * npix + 70 * n, seconds = 0;
  if (!t->plan)
    return report_plan(bytes, 1e-8 * npix + 3e-7 * n);
  kugel_sht_points_info info = {.size = sizeof info};
  LIB(kugel_sht_points_get_info(t->plan, &info));
  if (t->is_map)
    STEP(sht_seconds(t->s.nside, t->a.lmax, t->a.mmax, t->sets == 3 ? KUGEL_SHT_TEB : KUGEL_SHT_SCALAR,
                     1 + 2 * (double)t->o->iter.n, &seconds));
  return report_plan(bytes + (double)info.bytes + 24 * sets * n,
                     seconds + sets * (3e-7 * n + 1e-10 * (double)t->a.count * (double)info.ntheta));
}

/* Bad pixels become NaN, and so do values next to them. */
static int interpolate(task *t, stopwatch *watch)
{
  const int64_t n = t->x.n, numbers = t->s.n * t->s.npix;
  double *map = t->s.maps;
  OWNED double *theta = malloc((size_t)(n > 0 ? n : 1) * 2 * sizeof *theta);
  if (!theta)
    return fail("%s: no memory for %lld positions", t->o->points.s, (long long)n);
  double *phi = theta + n;
  for (int64_t i = 0; i < n; i++) {
    theta[i] = t->angles[2 * i];
    phi[i] = t->angles[2 * i + 1];
  }
  for (int64_t i = 0; i < numbers; i++)
    map[i] = map[i] < -1.6e30 ? NAN : map[i];
  LIB(kugel_healpix_interpolate(NULL, t->s.nside, KUGEL_ORDER_RING,
                                KUGEL_ARRAY(map, KUGEL_F64, t->s.n, t->s.npix), n, theta, phi,
                                KUGEL_ARRAY(t->out.data, KUGEL_F64, t->sets, n)));
  stopwatch_lap(watch, "interpolate");
  return EXIT_DONE;
}

static int analyse(task *t, stopwatch *watch)
{
  SHT kugel_sht *plan = NULL;
  OWNED unsigned char *mask = NULL;
  STEP(missing_mask(&t->s, &mask));
  if (mask)
    return fail("%s has pixels without a value: --exact needs whole maps; leave it out, or fill them",
                t->o->input.s);
  STEP(sky_plan(&t->s, t->a.lmax, KUGEL_WEIGHTS_DEFAULT, t->o->iter.n, &plan));
  const int64_t lmax = t->a.lmax;
  STEP(alms_make(&t->a, t->s.n, lmax, lmax));
  progress_part(0, 0.5, "analysis");
  STEP(alms_analyse(plan, KUGEL_ARRAY(t->s.maps, KUGEL_F64, t->s.n, t->s.npix), 0, &t->a));
  stopwatch_lap(watch, "analysis");
  return EXIT_DONE;
}

static int sum_at_points(task *t, stopwatch *watch)
{
  const double lo = t->is_map ? 0.5 : 0;
  progress_part(lo, lo + 0.2, "sorting points");
  LIB(kugel_sht_points_create(t->plan, KUGEL_ARRAY(t->angles, KUGEL_F64, t->x.n, 2), &t->at));
  stopwatch_lap(watch, "points");
  progress_part(lo + 0.2, 1, "synthesis");
  LIB(kugel_sht_points_synthesis(t->at, KUGEL_ARRAY(t->a.data, KUGEL_C128, t->a.n, t->a.count),
                                 KUGEL_ARRAY(t->out.data, KUGEL_F64, t->sets, t->x.n), NULL));
  stopwatch_lap(watch, "synthesis");
  return EXIT_DONE;
}

static int find_values(task *t, stopwatch *watch)
{
  if (t->is_map)
    STEP(sky_read(&t->s, KUGEL_ORDER_RING, true));
  else
    STEP(alms_read(&t->a));
  stopwatch_lap(watch, "read");
  STEP(turn_positions(t));
  if (!t->plan)
    STEP(interpolate(t, watch));
  else {
    if (t->is_map)
      STEP(analyse(t, watch));
    STEP(sum_at_points(t, watch));
  }
  double *q = (double *)t->out.data + t->x.n, *u = q + t->x.n;
  for (int64_t i = 0; t->turn && i < t->x.n; i++) {
    const double c = cos(2 * t->turn[i]), s = sin(2 * t->turn[i]), x = q[i];
    q[i] = c * x - s * u[i];
    u[i] = s * x + c * u[i];
  }
  return EXIT_DONE;
}

static int write_values(const task *t)
{
  const char *path = t->o->output.s;
  const int sets = (int)t->sets;
  return is_text_table(path)   ? positions_write(&t->x, path, sets, t->out.data)
         : is_fits_table(path) ? positions_write_fits(&t->x, path, sets, t->out.data, t->unit)
                               : ndarray_write(&t->out, path);
}

static int at(const void *args)
{
  const at_args *o = args;
  stopwatch watch = stopwatch_start();
  __attribute__((cleanup(task_close))) task t = {.o = o};
  STEP(open_input(&t));
  STEP(positions_read(&t.x, o->points.s, o->columns.given ? o->columns.s : NULL, o->lonlat.given));
  t.out = (ndarray){.ndim = t.sets == 3 ? 2 : 1, .shape = {t.sets == 3 ? 3 : t.x.n, t.x.n}};
  report_title(o->input.s, o->output.s);
  if (t.is_map)
    report_sky(&t.s);
  else
    alms_report(&t.a);
  json_int("points", t.x.n);
  fact("points", "%lld", (long long)t.x.n);
  STEP(choose_turn(&t));
  STEP(session_device(&o->device, NULL));
  if (!t.is_map || o->exact.given)
    STEP(make_plan(&t));
  if (run.dry_run)
    return estimate(&t);
  if (t.plan)
    stopwatch_lap(&watch, "plan");
  STEP(check_output(o->output.s));
  STEP(ndarray_make(&t.out));
  STEP(find_values(&t, &watch));
  STEP(write_values(&t));
  stopwatch_lap(&watch, "write");
  report_end(&watch, 0);
  return EXIT_DONE;
}

const command command_at = {
    .name = "at",
    .summary = "values of coefficients or maps at the positions of a catalogue",
    .about =
        "Sums a_lm at the positions of a list: T, or T, Q, U from T, E, B. Nothing is interpolated: errors "
        "are below --eps. Maps are interpolated between the four pixels about a position, each map as it is; "
        "positions next to bad pixels become NaN. With --exact their harmonics up to --lmax are summed "
        "instead, exact for maps without higher ones. --coord turns positions into the coordinates of INPUT; "
        "Q "
        "and U then refer to the directions of POINTS' coordinates.",
    .examples = "kugel at alm.fits catalogue.fits values.csv\n"
                "kugel at map.fits sources.csv values.csv --columns RA,DEC --coord C\n"
                "kugel at map.fits catalogue.fits with_values.fits --exact --lmax 1500\n"
                "kugel at alm.fits positions.npy values.npy --lonlat --eps 1e-6",
    .options = at_options,
    .n_options = sizeof at_options / sizeof at_options[0],
    .run = at,
};
