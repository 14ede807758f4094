/* SPDX-License-Identifier: BSD-3-Clause */
/* kugel rotate: to another coordinate system, or by Euler angles, through a_lm or by sums at turned pixels. */
#include <math.h>
#include <string.h>
#include <strings.h>
#include "batch/each.h"
#include "commands.h"
#include "map/missing.h"
#include "map/npymap.h"
#include "map/skyops.h"
#include "map/turnpoints.h"

#define ROTATE_OPTIONS(X)                                                                                    \
  X(input, 0, ARG_OPERAND, "INPUT", NULL, 1, MANY, "HEALPix map (FITS, NPY), or coefficients (FITS)")        \
  X(output, 0, ARG_OPERAND, "OUTPUT", NULL, 1, 1, "the same in the other coordinates (FITS)")                \
  X(from, 0, ARG_CHOICE, "G|E|C", NULL, 0, 0,                                                                \
    "coordinates of the input: Galactic, ecliptic, equatorial (J2000); the file's when not given")           \
  X(to, 't', ARG_CHOICE, "G|E|C", NULL, 0, 0, "coordinates of the output")                                   \
  X(euler, 'e', ARG_ANGLES, "PSI,THETA,PHI", NULL, 3, 3,                                                     \
    "turn by PSI about z, then THETA about y, then PHI about z, instead")                                    \
  X(lmax, 'l', ARG_INT, "N", NULL, 0, 1e6, "maps: highest multipole; 3 nside - 1 when not given")            \
  X(iter, 'i', ARG_INT, "N", "3", 0, 1000, "maps: refinements of the analysis")                              \
  X(tolerance, 0, ARG_REAL, "X", NULL, 1e-15, 0.5,                                                           \
    "maps: refine until a refinement changes the coefficients by no more than this share, instead of "       \
    "--iter times")                                                                                          \
  X(weights, 'w', ARG_CHOICE, "equal|ring|pixel", "equal", 0, 0, "maps: quadrature weights")                 \
  X(points, 0, ARG_FLAG, NULL, NULL, 0, 0,                                                                   \
    "maps: sum the harmonics where each pixel's centre lies in INPUT, instead of rotating coefficients, "    \
    "whose cost grows as lmax^3")                                                                            \
  X(nside, 'N', ARG_INT, "N", NULL, 1, 16384, "with --points: of OUTPUT; INPUT's when not given")            \
  X(eps, 0, ARG_REAL, "TOLERANCE", "1e-9", 1e-13, 0.1,                                                       \
    "with --points: root mean square of errors, relative to the map's")                                      \
  X(columns, 'c', ARG_TEXT, "LIST", NULL, 0, 0,                                                              \
    "maps: one column, or three that are I, Q, U; I, Q, U where there are such, else the first")             \
  X(no_pol, 0, ARG_FLAG, NULL, NULL, 0, 0, "the first column or component only")                             \
  MAP_OUTPUT_OPTIONS(X)                                                                                      \
  SHT_DEVICE_OPTIONS(X)                                                                                      \
  EACH_OPTIONS(X, NULL)

OPTIONS(rotate, ROTATE_OPTIONS);

typedef struct turn {
  char from, to; /* 0: by Euler angles */
  double psi, theta, phi;
  char coordsys[2]; /* of the output; "" unknown */
} turn;

static int take_turn(const rotate_args *o, const char *coordsys, turn *t)
{
  *t = (turn){0};
  if (o->to.given == o->euler.given)
    return fail_usage("give one of --to and --euler, such as --to C");
  if (o->euler.given) {
    char a[40], b[40], c[40];
    t->psi = o->euler.v[0];
    t->theta = o->euler.v[1];
    t->phi = o->euler.v[2];
    fact("turn", "%s about z, %s about y, %s about z", angle_text(t->psi, a, sizeof a),
         angle_text(t->theta, b, sizeof b), angle_text(t->phi, c, sizeof c));
    return EXIT_DONE;
  }
  const char *from = o->from.given ? o->from.s : coordsys_name(coordsys);
  if (!o->from.given) {
    static const char *const names[] = {"Galactic", "ecliptic", "equatorial"}, *const letters[] = {"G", "E",
                                                                                                   "C"};
    const char *known = NULL;
    for (int i = 0; i < 3; i++)
      if (!strcmp(from, names[i]))
        known = letters[i];
    if (!known)
      return fail_usage("the file does not say its coordinates: give --from G, E or C");
    from = known;
  }
  t->from = from[0];
  t->to = o->to.s[0];
  t->coordsys[0] = t->to;
  json_text("from", from);
  json_text("to", o->to.s);
  fact("turn", "from %s to %s coordinates", coordsys_name(from), coordsys_name(o->to.s));
  return EXIT_DONE;
}

static int matrix_of(const turn *t, double *matrix)
{
  if (t->from)
    LIB(kugel_rotation_from_coord(t->from, t->to, matrix));
  else
    LIB(kugel_rotation_from_euler(t->psi, t->theta, t->phi, matrix));
  return EXIT_DONE;
}

static int apply(const turn *t, alms *a)
{
  return t->from ? alms_to_coord(a, t->from, t->to) : alms_turn(a, t->psi, t->theta, t->phi);
}

static int rotate_alm(const rotate_args *o, stopwatch *watch)
{
  ALMS a = {0};
  turn t;
  kugel_fits_column column;
  if (o->points.given || o->nside.given || o->eps.given)
    return fail_usage("%s holds coefficients: --points, --nside and --eps are of maps", o->input.s);
  STEP(alms_open(&a, o->input.s, o->lmax.given ? o->lmax.n : -1, !o->no_pol.given));
  report_title(o->input.s, o->output.s);
  alms_report(&a);
  STEP(take_turn(o, a.info->coordsys, &t));
  if (run.dry_run)
    return report_plan(16 * (double)(a.n * a.count) + BASE_MEMORY,
                       (double)a.n * pow((double)a.lmax + 1, 3) * 2e-9);
  STEP(check_output(o->output.s));
  STEP(alms_read(&a));
  if (a.mmax < a.lmax)
    return fail("%s has mmax %lld below lmax %lld; a rotation fills every m", o->input.s, (long long)a.mmax,
                (long long)a.lmax);
  stopwatch_lap(watch, "read");
  STEP(apply(&t, &a));
  stopwatch_lap(watch, "rotate");
  LIB(kugel_fits_get_column(a.file, 1, &column));
  return alms_write(o->output.s, &a, a.info, column.unit, t.coordsys[0] ? t.coordsys : NULL,
                    column.dtype.bits == 32);
}

/* Nanoseconds of one core. */
static double turn_cost(int64_t n, int64_t lmax)
{
  return 0.6 * (double)n * pow((double)lmax + 1, 3);
}

/* Analysis, rotation and synthesis in place; with `sums` analysis, and sums at the turned pixels of a map of `nside`. */
static int rotate_sky(const rotate_args *o, const turn *t, int64_t lmax, const kugel_sht_points_plan *sums,
                      int64_t nside, sky *s, stopwatch *watch)
{
  SHT kugel_sht *plan = NULL;
  ALMS a = {0};
  OWNED unsigned char *mask = NULL;
  double matrix[9];
  int64_t blanked = 0, before = s->nside;
  STEP(sky_observed(s));
  report_missing(s, "they count as zero; what is turned from them is unseen");
  STEP(missing_mask(s, &mask));
  STEP(matrix_of(t, matrix));
  double started = weights_begin(o->weights.n, 0, 0.9);
  STEP(sky_plan(s, lmax, o->weights.n, o->tolerance.given ? 0 : o->iter.n, &plan));
  STEP(alms_make(&a, s->n, lmax, lmax));
  const kugel_array *maps = KUGEL_ARRAY(s->maps, s->dtype, s->n, s->npix);
  double once = sht_cost((double)s->npix, lmax, lmax, s->n == 3), turning = sums ? 0 : turn_cost(s->n, lmax);
  double all = (2 + 2 * (double)o->iter.n) * once + turning;
  double lo = weights_end(o->weights.n, started, 0, 0.9), span = 1 - lo;
  progress_part(lo, 1 - span * (once + turning) / all, "analysis");
  STEP(alms_analyse(plan, maps, o->tolerance.x, &a));
  stopwatch_lap(watch, "analysis");
  if (!sums) {
    progress_part(1 - span * (once + turning) / all, 1 - span * once / all, "rotation");
    STEP(apply(t, &a));
    stopwatch_lap(watch, "rotate");
  }
  progress_part(1 - span * once / all, 1, "synthesis");
  if (sums)
    STEP(turn_sums(sums, &a, matrix, nside, s));
  else
    LIB(kugel_sht_synthesis(plan, KUGEL_ARRAY(a.data, KUGEL_C128, a.n, a.count), maps, NULL));
  if (mask)
    STEP(missing_turned(s, mask, before, matrix, &blanked));
  json_int("blanked_values", blanked);
  stopwatch_lap(watch, sums ? "sums" : "synthesis");
  return EXIT_DONE;
}

static int rotate_map(const rotate_args *o, stopwatch *watch)
{
  SKY s = {0};
  TURN kugel_sht_points_plan *sums = NULL;
  turn t;
  if (!o->points.given && (o->nside.given || o->eps.given))
    return fail_usage("--nside and --eps go with --points");
  if (o->tolerance.given && o->iter.given)
    return fail_usage("give one of --tolerance and --iter");
  STEP(sky_open(&s, o->input.s, o->columns.s, !o->no_pol.given));
  if (!s.polarised && s.n > 1)
    s.n = 1;
  report_title(o->input.s, o->output.s);
  report_sky(&s);
  STEP(take_turn(o, s.info->coordsys, &t));
  int64_t lmax = o->lmax.given ? o->lmax.n : 3 * s.nside - 1, nside = o->nside.given ? o->nside.n : s.nside;
  json_int("lmax", lmax);
  report_beyond(s.nside, lmax);
  STEP(session_device(&o->device, &o->mem));
  if (o->tolerance.given)
    fact("transform", "lmax %lld, %s weights, refined to %.3g", (long long)lmax, o->weights.s,
         o->tolerance.x);
  else
    fact("transform", "lmax %lld, %s weights, %lld iterations", (long long)lmax, o->weights.s,
         (long long)o->iter.n);
  if (o->points.given) {
    json_int("nside_out", nside);
    fact("rotation", "sums at the turned pixels of nside %lld, to %.3g", (long long)nside, o->eps.x);
    STEP(turn_plan(s.n, lmax, o->eps.x, &sums));
  }
  if (run.dry_run) {
    double seconds, sum_bytes = 0, sum_seconds = (double)s.n * pow((double)lmax + 1, 3) * 2e-9;
    STEP(sht_seconds(s.nside, lmax, lmax, s.n == 3 ? KUGEL_SHT_TEB : KUGEL_SHT_SCALAR,
                     (sums ? 1 : 2) + 2 * (double)o->iter.n, &seconds));
    if (sums)
      STEP(turn_estimate(sums, s.n, 12 * nside * nside, &sum_bytes, &sum_seconds));
    return report_plan(sum_bytes +
                           (double)s.n * (16 * (double)s.npix + 16 * (double)kugel_alm_count(lmax, lmax)) +
                           BASE_MEMORY,
                       seconds + sum_seconds);
  }
  STEP(check_output(o->output.s));
  sky_costs(&s, (2 + 2 * (double)o->iter.n) * sht_cost((double)s.npix, lmax, lmax, s.n == 3) +
                    (sums ? 0 : turn_cost(s.n, lmax)) + weights_cost(o->weights.n, s.nside));
  STEP(sky_read(&s, KUGEL_ORDER_RING, false));
  stopwatch_lap(watch, "read");
  STEP(rotate_sky(o, &t, lmax, sums, nside, &s, watch));
  if (output_nested(o->output.s, &s, NULL) && !(s.nside & (s.nside - 1)))
    STEP(sky_reorder(&s, KUGEL_ORDER_NESTED));
  output out = output_like(&s);
  out.coordsys = t.coordsys[0] ? t.coordsys : NULL;
  return output_write(o->output.s, &out);
}

static int rotate(const void *args)
{
  const rotate_args *o = args;
  stopwatch watch = stopwatch_start();
  bool is_alm = false;
  if (!path_ends_with(o->input.s, ".npy")) {
    FITS_FILE kugel_fits *file = NULL;
    kugel_status status = kugel_fits_open(NULL, o->input.s, NULL, &file);
    if (status != KUGEL_OK)
      return fail_library(status, o->input.s);
    is_alm = kugel_fits_get_info(file)->kind == KUGEL_FITS_ALM;
  }
  STEP(is_alm ? rotate_alm(o, &watch) : rotate_map(o, &watch));
  if (run.dry_run)
    return EXIT_DONE;
  stopwatch_lap(&watch, "write");
  report_end(&watch, 0);
  return EXIT_DONE;
}

const command command_rotate = {
    .name = "rotate",
    .summary = "rotate a map or a_lm, to other coordinates or by angles",
    .about = "Rotates a HEALPix map or coefficients through a_lm, polarisation included: between Galactic, "
             "ecliptic and equatorial coordinates, or by Euler angles. Unseen pixels of a map "
             "count as zero, and those whose centres come from them are unseen; values beside them suffer. "
             "With --points no coefficients are rotated: the map's harmonics are summed at the turned pixel "
             "centres, the same map to --eps, at any --nside.",
    .examples = "kugel rotate sky.fits equatorial.fits --to C\n"
                "kugel rotate sky.fits equatorial.fits --from G --to C --lmax 1024\n"
                "kugel rotate sky.fits equatorial.fits --to C --points --nside 512\n"
                "kugel rotate alm.fits turned.fits --euler 10deg,20deg,0deg",
    .options = rotate_options,
    .n_options = sizeof rotate_options / sizeof rotate_options[0],
    .run = rotate,
};
