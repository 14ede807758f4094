/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows that bring a mask smoothly to 0 at its masked pixels. Source: Grain, Tristram & Stompor 2009; names and argument of
 * the windows as in Alonso et al. 2019. */
#include <math.h>
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "sphere/spectra/mask.h"

/* mask times [1 outside of the discs, smoothed]: GAUSS. */
static kugel_status smooth(kugel_ctx *ctx, const kugel_apodise_opts *o, const double *chord, double *window)
{
  int64_t npix = 12 * o->nside * o->nside;
  double reach = 2 * sin(fmin(M_PI, 2.5 * o->radius) / 2);
  for (int64_t p = 0; p < npix; p++)
    window[p] = chord[p] > reach;
  kugel_grid *grid;
  KUGEL_TRY(kugel_grid_create(
      ctx, &(kugel_grid_opts){.size = sizeof(kugel_grid_opts), .kind = KUGEL_GRID_HEALPIX, .nside = o->nside},
      &grid));
  kugel_smooth_opts so = {.size = sizeof so,
                          .grid = grid,
                          .lmax = 3 * o->nside - 1,
                          .fwhm = o->radius * sqrt(8 * M_LN2),
                          .iterations = 3};
  const kugel_array *a = KUGEL_ARRAY(window, KUGEL_F64, npix);
  kugel_status s = kugel_smooth(ctx, &so, a, a, NULL);
  kugel_grid_destroy(grid);
  return s;
}

static double window_of(kugel_apodisation kind, double x)
{
  if (x >= 1)
    return 1;
  return kind == KUGEL_APODISE_C1 ? x - sin(2 * M_PI * x) / (2 * M_PI) : 0.5 * (1 - cos(M_PI * x));
}

static kugel_status apodise(kugel_ctx *ctx, const kugel_apodise_opts *o, const double *mask, double *out,
                            double *chord)
{
  int64_t npix = 12 * o->nside * o->nside;
  bool gauss = o->kind == KUGEL_APODISE_GAUSS;
  double full = 2 * sin(o->radius / 2), reach = gauss ? 2 * sin(fmin(M_PI, 2.5 * o->radius) / 2) : full;
  kugel__span outer = kugel__progress_enter(0, gauss ? 0.3 : 1);
  kugel_status s = kugel__mask_chords(ctx, o->nside, reach, mask, chord);
  kugel__progress_leave(outer);
  if (s || !gauss) {
    for (int64_t p = 0; !s && p < npix; p++)
      out[p] = mask[p] > 0 ? mask[p] * window_of(o->kind, chord[p] / full) : 0;
    return s;
  }
  double *window = kugel__scratch_get(ctx, 8 * (size_t)npix);
  KUGEL_CHECK(window, KUGEL_ENOMEM, "no memory for a map of %lld pixels", (long long)npix);
  outer = kugel__progress_enter(0.3, 1);
  s = smooth(ctx, o, chord, window);
  kugel__progress_leave(outer);
  for (int64_t p = 0; !s && p < npix; p++)
    out[p] = mask[p] > 0 ? mask[p] * window[p] : 0;
  kugel__scratch_put(ctx, window);
  return s;
}

kugel_status kugel_apodise(kugel_ctx *ctx, const kugel_apodise_opts *opts, const double *mask, double *out)
{
  KUGEL_CHECK(opts && mask && out, KUGEL_EINVAL, "%s is NULL", !opts ? "opts" : !mask ? "mask" : "out");
  kugel_apodise_opts o;
  KUGEL_TRY(kugel__take_opts(&o, sizeof o, opts, "kugel_apodise_opts"));
  KUGEL_CHECK((int)o.kind >= 0 && o.kind <= KUGEL_APODISE_GAUSS, KUGEL_EINVAL,
              "kind is %d, must be KUGEL_APODISE_C1 (0), C2 (1) or GAUSS (2)", (int)o.kind);
  KUGEL_CHECK(o.radius > 0 && o.radius <= M_PI, KUGEL_EINVAL, "radius is %g radians, must be above 0 to pi",
              o.radius);
  KUGEL_TRY(kugel__mask_check(o.nside, mask));
  kugel_ctx *held = kugel__ctx_retain(ctx);
  double *chord = kugel__scratch_get(held, 96 * (size_t)(o.nside * o.nside));
  kugel__span outer = kugel__progress_enter(0, 1);
  kugel_status s =
      chord ? apodise(held, &o, mask, out, chord)
            : KUGEL_FAIL(KUGEL_ENOMEM, "no memory for %lld distances", (long long)(12 * o.nside * o.nside));
  kugel__progress_leave(outer);
  kugel__scratch_put(held, chord);
  kugel_ctx_destroy(held);
  return s;
}
