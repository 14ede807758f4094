/* SPDX-License-Identifier: BSD-3-Clause */
/* Analysis: weighted adjoint synthesis, Jacobi refinement, its adjoint. */
#include <math.h>
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "sphere/sht/connection.h"
#include "sphere/sht/dist.h"
#include "sphere/sht/gpu.h"
#include "sphere/sht/latlon.h"
#include "sphere/grid/mapops.h"
#include "sphere/sht/sht.h"

kugel_status kugel__sht_temporary_maps(const kugel_sht *p, kugel__maps *maps)
{
  double *block = kugel__scratch_get(p->ctx, (size_t)(p->n_map * p->npix * 8 + 64));
  KUGEL_CHECK(block, KUGEL_ENOMEM, "no memory for %d maps of %lld pixels", p->n_map, (long long)p->npix);
  memset(block, 0, (size_t)(p->n_map * p->npix * 8)); // pixels off the rings stay zero
  *maps = (kugel__maps){.f32 = false};
  for (int c = 0; c < p->n_map; c++)
    maps->data[c] = block + c * p->npix;
  return KUGEL_OK;
}

kugel_status kugel__sht_temporary_alms(const kugel_sht *p, kugel__alms *alms)
{
  double *block = kugel__scratch_get(p->ctx, (size_t)(p->n_alm * p->nalm * 16 + 64));
  KUGEL_CHECK(block, KUGEL_ENOMEM, "no memory for %d alm sets of %lld coefficients", p->n_alm,
              (long long)p->nalm);
  *alms = (kugel__alms){.f32 = false};
  for (int c = 0; c < p->n_alm; c++)
    alms->data[c] = block + 2 * c * p->nalm;
  return KUGEL_OK;
}

// alm (+)= W map, W = S^T times weights or the resampling in theta; with pixel weights the weighted map needs
// `work`, which may be `map` itself.
static kugel_status quadrature(const kugel_sht *p, const kugel__maps *map, const kugel__maps *work,
                               const kugel__alms *alm, bool accumulate)
{
  if (p->latlon)
    return kugel__latlon_analysis(p, map, alm, accumulate);
  if (kugel__connection_analyses(p))
    return (p->gpu ? kugel__sht_gpu_inverse : kugel__connection_analysis)(p, map, alm, accumulate);
  if (p->pixel_weight) {
    for (int c = 0; c < p->n_map; c++)
      KUGEL_TRY(kugel__map_scale(p->ctx, p->npix, map->data[c], map->f32, p->pixel_weight, work->data[c]));
    map = work;
  }
  return p->ops->adjoint(p, map, true, alm, accumulate);
}

kugel_status kugel__sht_analyse(const kugel_sht *p, const kugel__maps *map, const kugel__alms *alm)
{
  int passes = 1 + 2 * p->opts.iterations;
  kugel__maps work = {.f32 = false};
  if (p->pixel_weight || p->opts.iterations)
    KUGEL_TRY(kugel__sht_temporary_maps(p, &work));
  kugel__span outer = kugel__progress_enter(0, 1.0 / passes);
  kugel_status s = quadrature(p, map, &work, alm, false);
  kugel__progress_leave(outer);
  for (int k = 0; k < p->opts.iterations && !s; k++) { // a += W (f - S a)
    outer = kugel__progress_enter((1.0 + 2 * k) / passes, (2.0 + 2 * k) / passes);
    s = p->ops->synthesis(p, alm, &work);
    for (int c = 0; c < p->n_map && !s; c++)
      s = kugel__map_residual(p->ctx, p->npix, map->data[c], map->f32, work.data[c]);
    kugel__progress_leave(outer);
    outer = kugel__progress_enter((2.0 + 2 * k) / passes, (3.0 + 2 * k) / passes);
    if (!s)
      s = quadrature(p, &work, &work, alm, true);
    kugel__progress_leave(outer);
  }
  kugel__scratch_put(p->ctx, work.data[0]);
  return s;
}

// map = W S alm
static kugel_status quadrature_adjoint(const kugel_sht *p, const kugel__alms *alm, const kugel__maps *map)
{
  if (p->latlon)
    return kugel__latlon_adjoint(p, alm, map);
  if (kugel__connection_analyses(p))
    return (p->gpu ? kugel__sht_gpu_inverse_adjoint : kugel__connection_analysis_adjoint)(p, alm, map);
  KUGEL_TRY(p->ops->synthesis(p, alm, map));
  for (int c = 0; c < p->n_map; c++) {
    if (p->dist)
      kugel__dist_scale_rings(p, map->data[c]);
    else
      KUGEL_TRY(kugel__map_scale_rings(p->ctx, p->grid, p->weight_north, p->weight_south, map->data[c]));
    if (p->pixel_weight)
      KUGEL_TRY(kugel__map_scale(p->ctx, p->npix, map->data[c], false, p->pixel_weight, map->data[c]));
  }
  return KUGEL_OK;
}

// The Jacobi operator is A = sum_k (1 - W S)^k W, k = 0 ... iterations, so A^T b = sum_k W^T (1 - S^T W^T)^k
// b.
kugel_status kugel__sht_analyse_adjoint(const kugel_sht *p, const kugel__alms *alm, const kugel__maps *map)
{
  kugel__alms b = {.f32 = false};
  kugel__maps work = {.f32 = false};
  kugel_status s = kugel__sht_temporary_alms(p, &b);
  if (!s)
    s = kugel__sht_temporary_maps(p, &work);
  for (int c = 0; c < p->n_alm && !s; c++) {
    kugel__widen(alm->data[c], alm->f32, 2 * p->nalm, b.data[c]);
    bool zero =
        !p->dist || p->dist->order[p->dist->begin[p->dist->rank]] == 0; // order 0 is this rank's first
    for (int64_t l = 0; zero && l <= p->lmax && p->nalm; l++) // imaginary parts at m = 0 do not count
      ((double *)b.data[c])[2 * l + 1] = 0;
  }
  kugel__alms minus = {.f32 = false};
  if (!s && p->opts.iterations)
    s = kugel__sht_temporary_alms(p, &minus);
  double passes = 1 + 2 * p->opts.iterations;
  for (int k = 0; k <= p->opts.iterations && !s; k++) {
    kugel__span outer = kugel__progress_enter(2 * k / passes, (2 * k + 1) / passes);
    s = quadrature_adjoint(p, &b, &work);
    for (int c = 0; c < p->n_map && !s; c++)
      s = kugel__map_add(p->ctx, p->npix, work.data[c], k > 0, map->data[c], map->f32);
    kugel__progress_leave(outer);
    outer = kugel__progress_enter((2 * k + 1) / passes, fmin((2 * k + 2) / passes, 1));
    if (k < p->opts.iterations && !s)
      s = p->ops->adjoint(p, &work, false, &minus, false);
    kugel__progress_leave(outer);
    for (int c = 0; c < p->n_alm && !s && k < p->opts.iterations; c++)
      for (int64_t i = 0; i < 2 * p->nalm; i++)
        ((double *)b.data[c])[i] -= ((double *)minus.data[c])[i];
  }
  kugel__scratch_put(p->ctx, b.data[0]);
  kugel__scratch_put(p->ctx, minus.data[0]);
  kugel__scratch_put(p->ctx, work.data[0]);
  return s;
}
