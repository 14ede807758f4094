/* SPDX-License-Identifier: BSD-3-Clause */
/* Refined analysis, its adjoint and least squares on a device, as analysis.c has them for host memory: all
 * vectors stay there, only norms come back. */
#include <math.h>
#include "sphere/sht/connection.h"
#include "sphere/sht/gpu_plan.h"

typedef kugel__gpu_side side;

static kugel_status zero_maps(const kugel_sht *p, const side *map, kugel_queue *queue)
{
  return kugel__device_fill(p->gpu->device, map->mem, 0, (size_t)(p->n_map * p->npix) * 8, queue);
}

static kugel_status pixel_weights(const kugel_sht *p, side *out)
{
  bool known = p->gpu->vectors[KUGEL__GPU_PIXEL_WEIGHT].base != NULL;
  KUGEL_TRY(kugel__sht_gpu_vector(p, KUGEL__GPU_PIXEL_WEIGHT, out));
  if (known)
    return KUGEL_OK;
  return kugel__device_copy(p->gpu->device, KUGEL__UPLOAD, out->mem, (kugel__mem){p->pixel_weight, 0},
                            (size_t)p->npix * 8, NULL);
}

// How quadrature goes: by weights, or by connection without.
static kugel__gpu_how quadrature_how(const kugel_sht *p)
{
  bool inverse = kugel__connection_analyses(p);
  return (kugel__gpu_how){.weighted = !inverse, .inverse = inverse};
}

// alm (+)= W map; with pixel weights by way of `work`, which may be the map.
static kugel_status quadrature(const kugel_sht *p, const side *map, const side *work, const side *alm,
                               const kugel__gpu_how *how, kugel_queue *queue)
{
  side weight;
  if (!p->pixel_weight)
    return p->ops->back(p, map, alm, how, queue);
  KUGEL_TRY(pixel_weights(p, &weight));
  KUGEL_TRY(kugel__sht_gpu_scale_maps(p, &weight, true, map, work, queue));
  return p->ops->back(p, work, alm, how, queue);
}

kugel_status kugel__gpu_analyse(const kugel_sht *p, const side *map, const side *alm,
                                const kugel__gpu_how *asked, kugel_queue *queue)
{
  kugel__gpu_how how = quadrature_how(p), plain = {.check = 0};
  side work, clean, good;
  how.check = asked->check;
  how.maps = asked->maps;
  if (!p->opts.iterations && !p->pixel_weight)
    return p->ops->back(p, map, alm, &how, queue);
  KUGEL_TRY(kugel__sht_gpu_vector(p, KUGEL__GPU_MAP, &work));
  KUGEL_TRY(kugel__sht_gpu_vector(p, KUGEL__GPU_MAP2, &clean));
  KUGEL_TRY(kugel__sht_gpu_vector(p, KUGEL__GPU_GOOD, &good));
  KUGEL_TRY(zero_maps(p, &work, queue)); // pixels off the rings stay zero
  KUGEL_TRY(kugel__sht_gpu_clean(p, map, &clean, &good, queue));
  how.check = 0;
  KUGEL_TRY(quadrature(p, &clean, &work, alm, &how, queue));
  how.accumulate = true;
  for (int k = 0; k < p->opts.iterations; k++) { // a += W (f - S a)
    KUGEL_TRY(p->ops->forward(p, alm, &work, &plain, queue));
    KUGEL_TRY(kugel__sht_gpu_combine_maps(p, 1, &clean, -1, &work, queue));
    KUGEL_TRY(quadrature(p, &work, &work, alm, &how, queue));
  }
  return KUGEL_OK;
}

// map = W S alm
static kugel_status quadrature_adjoint(const kugel_sht *p, const side *alm, const side *map,
                                       kugel_queue *queue)
{
  const kugel__gpu_how how = quadrature_how(p);
  side weight;
  KUGEL_TRY(p->ops->forward(p, alm, map, &how, queue));
  if (!p->pixel_weight)
    return KUGEL_OK;
  KUGEL_TRY(pixel_weights(p, &weight));
  return kugel__sht_gpu_scale_maps(p, &weight, true, map, map, queue);
}

kugel_status kugel__gpu_analyse_adjoint(const kugel_sht *p, const side *alm, const side *map,
                                        kugel_queue *queue)
{
  static const kugel__gpu_how plain = {.check = 0};
  side b, minus, work;
  KUGEL_TRY(kugel__sht_gpu_vector(p, KUGEL__GPU_ALM, &b));
  KUGEL_TRY(kugel__sht_gpu_vector(p, KUGEL__GPU_ALM2, &minus));
  KUGEL_TRY(kugel__sht_gpu_vector(p, KUGEL__GPU_MAP, &work));
  KUGEL_TRY(zero_maps(p, &work, queue));
  KUGEL_TRY(kugel__sht_gpu_combine_alms(p, 1, alm, 0, &b, queue));
  for (int k = 0; k <= p->opts.iterations; k++) { // map = sum_k W^T b, b -= S^T W^T b
    KUGEL_TRY(quadrature_adjoint(p, &b, &work, queue));
    KUGEL_TRY(kugel__sht_gpu_combine_maps(p, 1, &work, k > 0, map, queue));
    if (k == p->opts.iterations)
      break;
    KUGEL_TRY(p->ops->back(p, &work, &minus, &plain, queue));
    KUGEL_TRY(kugel__sht_gpu_combine_alms(p, -1, &minus, 1, &b, queue));
  }
  return KUGEL_OK;
}

/* ---- least squares ---- */

typedef struct solver {
  side r, q, good; // residual; S d; 1 where a pixel counts
  side x, s, d;    // solution; S^T r; direction
  bool masked;
} solver;

static kugel_status open_solver(const kugel_sht *p, solver *v, kugel_queue *queue)
{
  KUGEL_TRY(kugel__sht_gpu_vector(p, KUGEL__GPU_MAP2, &v->r));
  KUGEL_TRY(kugel__sht_gpu_vector(p, KUGEL__GPU_MAP, &v->q));
  KUGEL_TRY(kugel__sht_gpu_vector(p, KUGEL__GPU_GOOD, &v->good));
  KUGEL_TRY(kugel__sht_gpu_vector(p, KUGEL__GPU_ALM, &v->s));
  KUGEL_TRY(kugel__sht_gpu_vector(p, KUGEL__GPU_ALM2, &v->d));
  KUGEL_TRY(kugel__sht_gpu_vector(p, KUGEL__GPU_ALM3, &v->x));
  v->masked = p->opts.bad_pixels == KUGEL_BAD_ZERO;
  KUGEL_TRY(zero_maps(p, &v->q, queue));
  return kugel__device_fill(p->gpu->device, v->x.mem, 0, (size_t)(p->n_alm * p->nalm) * 16, queue);
}

// One step of CGLS; *gamma is |S^T r|^2.
static kugel_status iterate(const kugel_sht *p, const solver *v, double *gamma, kugel_queue *queue)
{
  static const kugel__gpu_how plain = {.check = 0};
  double norm, next;
  KUGEL_TRY(p->ops->forward(p, &v->d, &v->q, &plain, queue));
  if (v->masked)
    KUGEL_TRY(kugel__sht_gpu_scale_maps(p, &v->good, false, &v->q, &v->q, queue));
  KUGEL_TRY(kugel__sht_gpu_dot_maps(p, &v->q, &norm, queue));
  double step = *gamma / norm;
  KUGEL_TRY(kugel__sht_gpu_combine_alms(p, step, &v->d, 1, &v->x, queue));
  KUGEL_TRY(kugel__sht_gpu_combine_maps(p, -step, &v->q, 1, &v->r, queue));
  KUGEL_TRY(p->ops->back(p, &v->r, &v->s, &plain, queue));
  KUGEL_TRY(kugel__sht_gpu_dot_alms(p, &v->s, &next, queue));
  KUGEL_TRY(kugel__sht_gpu_combine_alms(p, 1, &v->s, next / *gamma, &v->d, queue));
  *gamma = next;
  return KUGEL_OK;
}

kugel_status kugel__gpu_solve(const kugel_sht *p, const side *map, const side *alm, const kugel_solve_opts *o,
                              kugel_solve_stats *stats, kugel_queue *queue)
{
  static const kugel__gpu_how plain = {.check = 0};
  solver v;
  double norm_map, first, left;
  int k = 0;
  KUGEL_TRY(open_solver(p, &v, queue));
  KUGEL_TRY(kugel__sht_gpu_clean(p, map, &v.r, &v.good, queue));
  KUGEL_TRY(kugel__sht_gpu_dot_maps(p, &v.r, &norm_map, queue));
  KUGEL_TRY(p->ops->back(p, &v.r, &v.s, &plain, queue));
  KUGEL_TRY(kugel__sht_gpu_combine_alms(p, 1, &v.s, 0, &v.d, queue));
  KUGEL_TRY(kugel__sht_gpu_dot_alms(p, &v.s, &first, queue));
  double gamma = first;
  for (; k < o->max_iterations && gamma > o->tolerance * o->tolerance * first && gamma > 0; k++)
    KUGEL_TRY(iterate(p, &v, &gamma, queue));
  KUGEL_TRY(kugel__sht_gpu_dot_maps(p, &v.r, &left, queue));
  *stats =
      (kugel_solve_stats){k, norm_map > 0 ? sqrt(left / norm_map) : 0, first > 0 ? sqrt(gamma / first) : 0};
  return kugel__sht_gpu_combine_alms(p, 1, &v.x, 0, alm, queue);
}
