/* SPDX-License-Identifier: BSD-3-Clause */
/* Orderings, resolutions, and fits to maps in memory. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "map/skyops.h"

void sht_close(kugel_sht **plan)
{
  kugel_sht_destroy(*plan);
}

int healpix_grid(int64_t nside, kugel_grid **grid)
{
  LIB(kugel_grid_create(
      NULL, &(kugel_grid_opts){.size = sizeof(kugel_grid_opts), .kind = KUGEL_GRID_HEALPIX, .nside = nside},
      grid));
  return EXIT_DONE;
}

int sky_plan(const sky *s, int64_t lmax, int64_t weights, int64_t iterations, kugel_sht **plan)
{
  GRID kugel_grid *grid = NULL;
  STEP(healpix_grid(s->nside, &grid));
  LIB(kugel_sht_create(run.ctx,
                       &(kugel_sht_opts){.size = sizeof(kugel_sht_opts),
                                         .grid = grid,
                                         .lmax = lmax,
                                         .mode = s->n == 3 ? KUGEL_SHT_TEB : KUGEL_SHT_SCALAR,
                                         .weights = (kugel_weights)weights,
                                         .iterations = (int)iterations,
                                         .bad_pixels = KUGEL_BAD_ZERO},
                       plan));
  return EXIT_DONE;
}

/* As a share of the part: they take tens of transforms, and their own progress is known. */
static const double weights_share = 0.9;

double weights_cost(int64_t weights, int64_t nside)
{
  return weights == KUGEL_WEIGHTS_PIXEL ? 1200 * pow((double)nside, 3) : 0;
}

double weights_begin(int64_t weights, double lo, double hi)
{
  if (weights == KUGEL_WEIGHTS_PIXEL)
    progress_part(lo, lo + weights_share * (hi - lo), "pixel weights");
  return now();
}

double weights_end(int64_t weights, double started, double lo, double hi)
{
  bool computed = weights == KUGEL_WEIGHTS_PIXEL && now() - started > 0.1; /* else they were kept */
  return computed ? lo + weights_share * (hi - lo) : lo;
}

int sky_observed(const sky *s)
{
  return sky_observed_by(s, NULL);
}

int sky_observed_by(const sky *s, const char *masked)
{
  for (int64_t c = 0; c < s->n; c++) {
    int64_t i = 0, at = c * s->npix;
    for (; i < s->npix; i++) {
      double v =
          s->dtype.bits == 32 ? (double)((const float *)s->maps)[at + i] : ((const double *)s->maps)[at + i];
      if (isfinite(v) && fabs(v / KUGEL_UNSEEN - 1) > 1e-5)
        break;
    }
    if (i == s->npix && masked)
      return fail("the mask %s leaves no pixel of %s: where it is not 0, the map is unseen or not finite",
                  masked, s->path);
    if (i == s->npix)
      return fail("%s has no observed pixel in column %s: all %lld are unseen or not finite", s->path,
                  s->described[c].name[0] ? s->described[c].name : "0", (long long)s->npix);
  }
  return EXIT_DONE;
}

int sky_reorder(sky *s, kugel_order order)
{
  return sky_reorder_on(NULL, s, order);
}

int sky_reorder_on(kugel_ctx *on, sky *s, kugel_order order)
{
  if (s->order == order)
    return EXIT_DONE;
  size_t bytes = (size_t)s->npix * (s->dtype.bits / 8);
  OWNED void *other = malloc(bytes);
  if (!other)
    return fail("no memory for a map of %lld pixels", (long long)s->npix);
  for (int64_t c = 0; c < s->n; c++) { /* one at a time: one map of scratch */
    progress_hold("reordering");
    char *map = (char *)s->maps + (size_t)c * bytes;
    LIB(kugel_healpix_reorder(on, s->nside, s->order, order, KUGEL_ARRAY(map, s->dtype, s->npix),
                              KUGEL_ARRAY(other, s->dtype, s->npix), NULL));
    memcpy(map, other, bytes);
  }
  s->order = order;
  return EXIT_DONE;
}

int sky_udgrade(const sky *s, int64_t nside, kugel_order order, double power, bool pessimistic, sky *out)
{
  *out = (sky){.nside = nside, .npix = 12 * nside * nside, .n = s->n, .order = order, .dtype = s->dtype};
  out->maps = malloc((size_t)out->n * (size_t)out->npix * (out->dtype.bits / 8));
  if (!out->maps)
    return fail("no memory for %lld maps of nside %lld", (long long)out->n, (long long)nside);
  progress_part(0, 1, "averaging");
  LIB(kugel_healpix_ud_grade(NULL, s->nside, s->order, KUGEL_ARRAY(s->maps, s->dtype, s->n, s->npix), nside,
                             order, KUGEL_ARRAY(out->maps, out->dtype, out->n, out->npix),
                             &(kugel_ud_grade_opts){.size = sizeof(kugel_ud_grade_opts),
                                                    .pessimistic = pessimistic,
                                                    .power = power}));
  return EXIT_DONE;
}

/* ---- monopole and dipole ------------------------------------------------------------------------------- */

int sky_remove(sky *s, bool dipole, double gal_cut)
{
  double mean, d[3];
  LIB(kugel_healpix_remove_dipole(NULL, s->nside, s->maps,
                                  &(kugel_dipole_opts){.size = sizeof(kugel_dipole_opts),
                                                       .nest = s->order == KUGEL_ORDER_NESTED,
                                                       .gal_cut = gal_cut,
                                                       .monopole_only = !dipole},
                                  &mean, d));
  json_number("monopole", mean);
  fact("removed", "mean %.8g %s", mean, s->described[0].unit);
  if (dipole) {
    double size = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]), lon = atan2(d[1], d[0]) * 180 / M_PI;
    json_number("dipole", size);
    fact("", "dipole %.8g towards longitude %.4g deg, latitude %.4g deg", size, lon < 0 ? lon + 360 : lon,
         size > 0 ? asin(d[2] / size) * 180 / M_PI : 0);
  }
  return EXIT_DONE;
}
