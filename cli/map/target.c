/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>
#include "map/target.h"
#include "map/skyops.h"

int target_open(target *t, const void *args, const char *path)
{
  const target_args *o = args;
  *t = (target){.o = o, .path = path, .latlon = path_ends_with(path, ".npy") && !o->nside.given};
  STEP(session_device(&o->device, &o->mem));
  if (t->latlon) {
    if (!o->rows.given)
      return fail_usage("give --nside for a HEALPix map in %s, or --rows for rows of latitude", path);
    if (run.partial)
      return fail_usage("--partial is for HEALPix maps as FITS, and %s is rows of latitude", path);
    kugel_grid_kind kind = latlon_kind(o->to_grid.n);
    bool octahedral = kind == KUGEL_GRID_GAUSS_OCTAHEDRAL;
    if (octahedral && o->rows.n % 2)
      return fail_usage("an octahedral grid has an even number of rows, not %lld", (long long)o->rows.n);
    t->rows = (latlon){.kind = kind, .n = 1, .ntheta = o->rows.n, .nphi = octahedral ? 0 : 2 * o->rows.n};
    t->rows.phi0 = octahedral ? 0 : latlon_phi0(kind, t->rows.nphi);
    t->npix = t->rows.npix =
        octahedral ? t->rows.ntheta * (t->rows.ntheta + 18) : t->rows.ntheta * t->rows.nphi;
    json_int("rows", t->rows.ntheta);
    if (octahedral)
      fact("to", "octahedral, %lld rows, %lld pixels", (long long)t->rows.ntheta, (long long)t->npix);
    else
      fact("to", "%s, %lld rows of %lld", o->to_grid.s, (long long)t->rows.ntheta, (long long)t->rows.nphi);
    return latlon_grid(&t->rows, &t->grid);
  }
  if (!o->nside.given)
    return fail_usage("give --nside, the resolution of the map");
  if (o->rows.given || o->to_grid.given)
    return fail_usage("--rows and --to-grid are for rows of latitude (NPY); with --nside %s is a HEALPix map",
                      path);
  t->nside = o->nside.n;
  t->nested = o->order.given ? o->order.n == 1 : run.nest && path_ends_with(path, ".npy");
  if (t->nested && (t->nside & (t->nside - 1)))
    return fail_usage("NESTED order needs a power of two as nside, not %lld", (long long)t->nside);
  t->npix = 12 * t->nside * t->nside;
  json_int("nside", t->nside);
  fact("to", "HEALPix, nside %lld, %s", (long long)t->nside,
       order_name(t->nested ? KUGEL_ORDER_NESTED : KUGEL_ORDER_RING));
  STEP(healpix_grid(t->nside, &t->grid));
  return EXIT_DONE;
}

void target_close(target *t)
{
  kugel_grid_destroy(t->grid);
  t->grid = NULL;
}

static int write_rows(const target *t, const output *out)
{
  if (interrupted())
    return fail_interrupted();
  int64_t first = out->n == 1, shape[3] = {out->n, t->rows.ntheta, t->rows.nphi};
  kugel_array map = {
      .data = out->maps, .device = {KUGEL_CPU, 0}, .dtype = out->dtype, .shape = shape + first};
  map.ndim = (t->rows.nphi ? 3 : 2) - (int32_t)first;
  if (!t->rows.nphi)
    shape[1] = t->npix;
  progress_writing();
  kugel_status status = kugel_npy_write(NULL, t->path, run.overwrite, &map);
  return status == KUGEL_OK ? EXIT_DONE : fail_library(status, t->path);
}

int target_write(target *t, sky *s, output *out, stopwatch *watch)
{
  if (!t->latlon && t->nested)
    STEP(sky_reorder(s, KUGEL_ORDER_NESTED));
  out->n = s->n;
  out->nside = t->nside;
  out->order = s->order;
  out->dtype = s->dtype;
  out->maps = s->maps;
  STEP(t->latlon ? write_rows(t, out) : output_write(t->path, out));
  stopwatch_lap(watch, "write");
  return EXIT_DONE;
}

int target_room(const target *t, int64_t n, sky *s)
{
  *s = (sky){.nside = t->nside, .npix = t->npix, .n = n, .order = KUGEL_ORDER_RING};
  s->dtype = t->o->f32.given ? KUGEL_F32 : KUGEL_F64;
  s->maps = malloc((size_t)n * (size_t)t->npix * (s->dtype.bits / 8));
  return s->maps ? EXIT_DONE
                 : fail("no memory for %lld maps of %lld pixels", (long long)n, (long long)t->npix);
}

void target_costs(const target *t, int64_t n, int64_t lmax, int64_t mmax, double before)
{
  progress_costs(before,
                 sht_cost((double)t->npix, lmax, mmax, n == 3) * (n == 3 ? 1 : (double)n) /
                     kugel_get_num_threads(),
                 COST_WRITE * (double)(n * t->npix));
}

int target_synthesise(target *t, const alms *a, kugel_sht_mode mode, output *out, stopwatch *watch)
{
  SHT kugel_sht *plan = NULL;
  LIB(kugel_sht_create(run.ctx,
                       &(kugel_sht_opts){.size = sizeof(kugel_sht_opts),
                                         .grid = t->grid,
                                         .lmax = a->lmax,
                                         .mmax = mmax_argument(a->mmax),
                                         .mode = mode,
                                         .engine = (kugel_sht_engine)t->o->engine.n},
                       &plan));
  kugel_sht_info info = {.size = sizeof info};
  LIB(kugel_sht_get_info(plan, &info));
  int n_maps = info.n_maps;
  SKY s = {0};
  STEP(target_room(t, n_maps, &s));
  progress_part(0, 1, "synthesis");
  LIB(kugel_sht_synthesis(plan, KUGEL_ARRAY(a->data, KUGEL_C128, a->n, a->count),
                          KUGEL_ARRAY(s.maps, s.dtype, n_maps, t->npix), NULL));
  stopwatch_lap(watch, "synthesis");
  return target_write(t, &s, out, watch);
}
