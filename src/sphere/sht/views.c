/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays that transforms are given: checks, views of their sets, the policy for bad pixels. */
#include "core/alloc.h"
#include "core/array.h"
#include "sphere/grid/mapops.h"
#include "sphere/sht/sht.h"

// One set may come without its axis of length 1.
static kugel_status check_one(const kugel_sht *plan, const kugel_array *a, const char *name,
                              kugel_dtype narrow, kugel_dtype wide, int sets, int64_t n, int64_t *batch)
{
  KUGEL_CHECK(a, KUGEL_EINVAL, "%s is NULL: pass an array", name);
  kugel_dtype type = kugel__dtype_is(a->dtype, narrow) ? narrow : wide;
  int64_t shape[] = {sets, n};
  bool bare = sets == 1 && (a->ndim < 2 || !a->shape || a->shape[a->ndim - 2] != 1);
  return kugel__array_check_on(&plan->device->info.device, a, name, type, bare ? 1 : 2, shape + bare, batch);
}

/* Addresses in memory of OpenCL compare within one object only. */
static bool comparable(const kugel_array *a, const kugel_array *b)
{
  return a->device.type == b->device.type && (a->device.type != KUGEL_OPENCL || a->data == b->data);
}

kugel_status kugel__sht_check(const kugel_sht *plan, const kugel_array *alm, const kugel_array *map,
                              int64_t *batch)
{
  KUGEL_CHECK(plan, KUGEL_EINVAL, "plan is NULL: make one with kugel_sht_create");
  *batch = -1;
  KUGEL_TRY(check_one(plan, alm, "alm", KUGEL_C64, KUGEL_C128, plan->n_alm, plan->nalm, batch));
  KUGEL_TRY(check_one(plan, map, "map", KUGEL_F32, KUGEL_F64, plan->n_map, plan->npix, batch));
  return comparable(alm, map) ? kugel__array_disjoint(alm, "alm", map, "map") : KUGEL_OK;
}

kugel_status kugel__sht_check_band(const kugel_sht *p)
{
  int64_t lmax, mmax;
  if (p->opts.beyond_band_limit || !kugel__grid_exact(p->grid, &lmax, &mmax))
    return KUGEL_OK;
  KUGEL_CHECK(p->lmax <= lmax && p->mmax <= mmax, KUGEL_EINVAL,
              "lmax is %lld and mmax is %lld: analysis on this grid of %lld rings is exact to lmax %lld and "
              "mmax %lld "
              "only; lower them, take a finer grid or kugel_sht_solve, or set opts.beyond_band_limit",
              (long long)p->lmax, (long long)p->mmax, (long long)p->grid->nrings, (long long)lmax,
              (long long)mmax);
  return KUGEL_OK;
}

kugel__maps kugel__sht_maps(const kugel_sht *plan, const kugel_array *map, int64_t index)
{
  kugel__maps m = {.f32 = map->dtype.bits == 32};
  for (int c = 0; c < plan->n_map; c++)
    m.data[c] =
        (char *)kugel__array_data(map) + (index * plan->n_map + c) * plan->npix * (map->dtype.bits / 8);
  return m;
}

kugel__alms kugel__sht_alms(const kugel_sht *plan, const kugel_array *alm, int64_t index)
{
  kugel__alms a = {.f32 = alm->dtype.bits == 64};
  for (int c = 0; c < plan->n_alm; c++)
    a.data[c] =
        (char *)kugel__array_data(alm) + (index * plan->n_alm + c) * plan->nalm * (alm->dtype.bits / 8);
  return a;
}

kugel_status kugel__sht_clean(const kugel_sht *plan, kugel__maps *map, void **clean)
{
  *clean = NULL;
  bool any = false;
  for (int c = 0; c < plan->n_map && plan->opts.bad_pixels != KUGEL_BAD_PASS; c++) {
    int64_t at;
    KUGEL_TRY(kugel__map_find_bad(plan->ctx, plan->npix, map->data[c], map->f32, &at));
    KUGEL_CHECK(at < 0 || plan->opts.bad_pixels == KUGEL_BAD_ZERO, KUGEL_EINVAL,
                "map %d has a NaN, infinite or UNSEEN pixel at index %lld: mask it, or set opts.bad_pixels",
                c, (long long)at);
    any |= at >= 0;
  }
  if (!any)
    return KUGEL_OK;
  int64_t bytes = plan->npix * (map->f32 ? 4 : 8);
  char *copy = kugel__scratch_get(plan->ctx, (size_t)(plan->n_map * bytes));
  KUGEL_CHECK(copy, KUGEL_ENOMEM, "no memory for a copy of %d maps of %lld pixels", plan->n_map,
              (long long)plan->npix);
  *clean = copy;
  for (int c = 0; c < plan->n_map; c++) {
    KUGEL_TRY(kugel__map_zero_bad(plan->ctx, plan->npix, map->data[c], map->f32, copy + c * bytes));
    map->data[c] = copy + c * bytes;
  }
  return KUGEL_OK;
}
