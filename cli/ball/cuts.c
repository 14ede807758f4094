/* SPDX-License-Identifier: BSD-3-Clause */
/* Cuts through the ball as pictures. A disc is drawn as the orthographic picture of a hemisphere: what is at the distance s from
 * the picture's centre is the row at the angle asin(s) from the pole. */
#include <stdlib.h>
#include <string.h>
#include "ball/job.h"

enum { RADII = 385, ANGLES = 720 }; /* of a disc, at least; angles are a multiple of 4 */

/* Columns of a disc from those of a meridian, 2 i at the colatitude 2 pi i / angles, and the opposite one, 2 i + 1:
 * counterclockwise from the right half of the equator. */
static void unfold(int64_t nr, int64_t angles, const double *pairs, double *out)
{
  for (int64_t k = 0; k < nr; k++)
    for (int64_t j = 0; j < angles; j++) {
      int64_t d = j - angles / 4, left = d >= 0 && d <= angles / 2;
      int64_t i = left ? d : d < 0 ? -d : angles - d;
      out[k * angles + j] = pairs[k * (angles + 2) + 2 * i + left];
    }
}

/* The sphere of a cut: the equator, a meridian and its opposite, or a map. */
static int cut_grid(const ball_args *o, int64_t angles, kugel_grid **out)
{
  int64_t rings = o->cut.n ? angles / 2 + 1 : 1;
  kugel_grid_opts g = {.size = sizeof g, .nrings = rings};
  OWNED double *theta = malloc((size_t)rings * sizeof *theta), *phi0 = malloc((size_t)rings * sizeof *phi0);
  OWNED int64_t *nphi = malloc((size_t)rings * sizeof *nphi);
  if (!theta || !phi0 || !nphi)
    return fail("no memory for %lld rings", (long long)rings);
  for (int64_t i = 0; i < rings; i++) {
    theta[i] = o->cut.n ? M_PI * (double)i / (double)(rings - 1) : M_PI / 2;
    phi0[i] = o->cut.n ? o->longitude.x : 0;
    nphi[i] = o->cut.n ? 2 : angles;
  }
  g.theta = theta;
  g.ring_nphi = nphi;
  g.ring_phi0 = phi0;
  if (o->cut.n == 2)
    g = (kugel_grid_opts){.size = sizeof g, .kind = KUGEL_GRID_FEJER1, .ntheta = angles, .nphi = 2 * angles};
  LIB(kugel_grid_create(NULL, &g, out));
  return EXIT_DONE;
}

static kugel_plot_opts style(const ball_args *o, const double *values, int64_t count)
{
  double lowest = INFINITY, highest = -INFINITY;
  for (int64_t i = 0; i < count; i++) {
    lowest = fmin(lowest, values[i]);
    highest = fmax(highest, values[i]);
  }
  bool signs = lowest < 0 && highest > 0, ends = o->min.given || o->max.given;
  kugel_plot_opts s = {.size = sizeof s,
                       .projection =
                           o->cut.n == 2 ? (kugel_plot_projection)o->projection.n : KUGEL_PLOT_ORTHOGRAPHIC,
                       .colors = o->colors.s ? o->colors.s
                                 : signs     ? "diverging"
                                             : NULL,
                       .width = (int32_t)o->size.n,
                       .min = o->min.given ? o->min.x
                              : ends       ? NAN
                                           : 0,
                       .max = o->max.given ? o->max.x
                              : ends       ? NAN
                                           : 0,
                       .symmetric = signs,
                       .geo = 1,
                       .interpolate = 1,
                       .title = o->title.s,
                       .unit = o->unit.s};
  if (o->cut.n < 2) { /* the angle 0 on the right */
    s.half_sky = 1;
    s.graticule = -1;
    s.lat = M_PI / 2;
    s.lon = -M_PI / 2;
  }
  return s;
}

static int picture(const ball_args *o, const kugel_ball_info *s, double *values, const double *radii,
                   int64_t angles)
{
  int64_t rows = o->cut.n == 2 ? angles : s->nr, columns = o->cut.n == 2 ? 2 * angles : angles;
  OWNED double *theta = malloc((size_t)rows * sizeof *theta),
               *disc = malloc((size_t)(o->cut.n == 1 ? rows * columns : 1) * sizeof *disc);
  if (!theta || !disc)
    return fail("no memory for %lld points", (long long)(rows * columns));
  for (int64_t i = 0; i < rows; i++)
    theta[i] = o->cut.n == 2 ? M_PI * ((double)i + 0.5) / (double)rows : asin(radii[i]);
  if (o->cut.n == 1)
    unfold(rows, columns, values, disc);
  double *map = o->cut.n == 1 ? disc : values;
  kugel_plot_opts look = style(o, map, rows * columns);
  kugel_plot *p;
  double ends[2];
  LIB(kugel_plot_latlon(NULL, &look, theta, 0, KUGEL_ARRAY(map, KUGEL_F64, rows, columns), &p));
  kugel_plot_range(p, ends);
  kugel_status status = kugel_plot_write(p, o->output.s, run.overwrite);
  kugel_plot_destroy(p);
  LIB(status);
  json_number("min", ends[0]);
  json_number("max", ends[1]);
  fact("range", "%g to %g", ends[0], ends[1]);
  return EXIT_DONE;
}

static void free_plan(kugel_ball **plan)
{
  kugel_ball_destroy(*plan);
}

static void free_grid(kugel_grid **grid)
{
  kugel_grid_destroy(*grid);
}

int ball_draw(const ball_args *o, const kugel_ball_opts *opts, ndarray *coeffs)
{
  kugel_ball_opts wanted = *opts;
  kugel_ball_info s = {.size = sizeof s};
  __attribute__((cleanup(free_plan))) kugel_ball *plan = NULL;
  __attribute__((cleanup(free_grid))) kugel_grid *grid = NULL;
  int64_t angles = opts->lmax < 90 ? ANGLES : 8 * opts->lmax, nr = 4 * (opts->lmax / 2 + opts->n);
  nr = o->cut.n == 2 ? 1 : nr < RADII ? RADII : nr;
  OWNED double *radii = malloc((size_t)nr * sizeof *radii);
  if (!radii)
    return fail("no memory for %lld radii", (long long)nr);
  for (int64_t k = 0; k < nr; k++)
    radii[k] = nr > 1 ? (double)k / (double)(nr - 1) : o->radius.x;
  STEP(cut_grid(o, angles, &grid));
  wanted.radii = radii;
  wanted.nr = nr;
  wanted.sphere = grid;
  wanted.ntheta = wanted.nphi = 0;
  wanted.precision = KUGEL_PRECISION_F64;
  LIB(kugel_ball_create(NULL, &wanted, &plan));
  LIB(kugel_ball_get_info(plan, &s));
  int64_t parts = opts->vectors ? 3 : 1, count = s.nr * s.nphi;
  OWNED double *values = malloc((size_t)(parts * count) * sizeof *values);
  if (!values)
    return fail("no memory for %lld values", (long long)(parts * count));
  kugel_array in = ndarray_view(coeffs);
  progress_part(0, 0.9, "transform");
  LIB(kugel_ball_synthesis(plan, opts->vectors ? KUGEL_BALL_VECTOR : KUGEL_BALL_SCALAR, &in,
                           parts == 1 ? KUGEL_ARRAY(values, KUGEL_F64, s.nr, s.nphi)
                                      : KUGEL_ARRAY(values, KUGEL_F64, parts, s.nr, s.nphi),
                           NULL));
  return picture(o, &s, values + (opts->vectors ? o->component.n : 0) * count, radii, angles);
}
