/* SPDX-License-Identifier: BSD-3-Clause */
/* The plan behind kugel_sht, and transforms of one set on host memory. */
#ifndef KUGEL_SPHERE_SHT_SHT_H
#define KUGEL_SPHERE_SHT_SHT_H

#include <stdatomic.h>
#include "core/base.h"
#include "device/device.h"
#include "fft/rings/rings.h"
#include "sphere/alm/sets.h"
#include "sphere/grid/grid.h"
#include "sphere/legendre/legendre.h"
#include <kugel/sphere.h>

struct kugel__latlon;
struct kugel__connection;
typedef struct kugel__sht_gpu kugel__sht_gpu;
typedef struct kugel__sht_ops kugel__sht_ops;
struct kugel__dist;
struct kugel__led;

struct kugel_sht {
  kugel_ctx *ctx;
  kugel__device *device; /* of the context; the CPU of a plan that is led on the devices of ranks */
  const kugel__sht_ops *ops;
  int64_t memory; /* limit of the context when the plan was made, bytes; 0: none */
  kugel_sht_opts opts;
  kugel_grid *grid;
  int64_t lmax, mmax, nalm, npix; /* over ranks: nalm and npix of this one's part */
  int n_alm, n_map;               /* sets: 1, 2 or 3 */
  int64_t block; /* ring pairs whose Fourier coefficients are held at a time, a multiple of 8 */
  kugel__leg *leg;
  kugel__rings *rings;
  double *weight_north;         /* [npairs] for analysis, ring weights included; NULL: the grid has none */
  double *weight_south;         /* [npairs], in the same block */
  double *pixel_weight;         /* [npix] factors on top, or NULL */
  bool resampled;               /* rows of equal angles, more degrees than their weights are exact for: */
  struct kugel__latlon *latlon; /* analysis by resampling in theta instead of the weights, or NULL */
  struct kugel__connection *connection; /* of KUGEL_SHT_CONNECTION, or NULL */
  kugel__sht_gpu *gpu;                  /* on a device; NULL: on the CPU */
  struct kugel__dist *dist;             /* over ranks, dist.h; NULL: this process alone */
  struct kugel__led
      *led; /* transforms are spread over the ranks that serve the context, lead.c; NULL: they are not */
};

/* One set of maps or alm in host memory, float or double as the flag says. */
typedef struct kugel__maps {
  void *data[KUGEL__MAX_SETS]; /* [npix] each */
  bool f32;
} kugel__maps;

typedef enum kugel__sht_verb {
  KUGEL__SHT_SYNTHESIS,
  KUGEL__SHT_ADJOINT,
  KUGEL__SHT_ANALYSIS,
  KUGEL__SHT_ANALYSIS_ADJOINT,
  KUGEL__SHT_SOLVE /* within ops only */
} kugel__sht_verb;

struct kugel__gpu_side;
struct kugel__gpu_sets;
struct kugel__gpu_how;

/* What carries out a plan's transforms, chosen when the plan is made: the CPU (cpu.c), a device, or a device or several
 * in parts (gpu_run.c). */
struct kugel__sht_ops {
  /* One set in host memory: map = S alm; alm = S^T map, or S^T (weights . map) if weighted, += with accumulate. Bad
   * pixels are not looked for. */
  kugel_status (*synthesis)(const kugel_sht *plan, const kugel__alms *alm, const kugel__maps *map);
  kugel_status (*adjoint)(const kugel_sht *plan, const kugel__maps *map, bool weighted,
                          const kugel__alms *alm, bool accumulate);
  /* NULL on the CPU. A verb for all sets of checked arrays of which at least one is in device memory. Returns when
   * the work is queued if both are, a queue is given and no pixels are checked; else when it is done. */
  kugel_status (*arrays)(const kugel_sht *plan, kugel__sht_verb verb, const kugel_array *alm,
                         const kugel_array *map, int64_t batch, kugel_queue *queue);
  /* Likewise least squares of one set with checked options; a residual above the tolerance is no failure here. */
  kugel_status (*solve)(const kugel_sht *plan, const kugel_array *alm, const kugel_array *map,
                        const kugel_solve_opts *opts, kugel_solve_stats *stats, kugel_queue *queue);
  /* NULL on the CPU. All sets in device memory, for iterations there. */
  kugel_status (*forward)(const kugel_sht *plan, const struct kugel__gpu_side *alm,
                          const struct kugel__gpu_side *map, const struct kugel__gpu_how *how,
                          kugel_queue *queue);
  kugel_status (*back)(const kugel_sht *plan, const struct kugel__gpu_side *map,
                       const struct kugel__gpu_side *alm, const struct kugel__gpu_how *how,
                       kugel_queue *queue);
  /* Only in parts: the same from and to host memory too. NULL: the caller copies. */
  kugel_status (*sets_forward)(const kugel_sht *plan, const struct kugel__gpu_sets *alm,
                               const struct kugel__gpu_sets *map, const struct kugel__gpu_how *how,
                               kugel_queue *queue);
  kugel_status (*sets_back)(const kugel_sht *plan, const struct kugel__gpu_sets *map,
                            const struct kugel__gpu_sets *alm, const struct kugel__gpu_how *how,
                            kugel_queue *queue);
};
extern const kugel__sht_ops kugel__sht_cpu_ops;

/* ---- sht.c: kugel_sht_create and kugel_sht_destroy but for leading (lead.c); *out is NULL before ---- */

kugel_status kugel__sht_make(kugel_ctx *ctx, const kugel_sht_opts *opts, kugel_sht **out);
/* device: that of the context, or the CPU. */
kugel_status kugel__sht_make_on(kugel_ctx *ctx, const kugel_sht_opts *opts, kugel__device *device,
                                kugel_sht **out);
void kugel__sht_free(kugel_sht *plan);

/* ---- analysis.c: one set in host memory, pixels cleaned ---- */

kugel_status kugel__sht_analyse(const kugel_sht *plan, const kugel__maps *map, const kugel__alms *alm);
kugel_status kugel__sht_analyse_adjoint(const kugel_sht *plan, const kugel__alms *alm,
                                        const kugel__maps *map);
/* Scratch in double, one block: maps[n_map][npix], all zero; alms[n_alm][nalm]. */
kugel_status kugel__sht_temporary_maps(const kugel_sht *plan, kugel__maps *maps);
kugel_status kugel__sht_temporary_alms(const kugel_sht *plan, kugel__alms *alms);

/* The part of all coefficients that those of the first `done` orders are, for kugel__progress_stage_by (cpu.c). */
double kugel__sht_order_part(const void *plan, int64_t done);

/* ---- views.c ---- */

/* Views of set `index` of a checked array [batch, sets, n]. */
kugel__maps kugel__sht_maps(const kugel_sht *plan, const kugel_array *map, int64_t index);
kugel__alms kugel__sht_alms(const kugel_sht *plan, const kugel_array *alm, int64_t index);

/* Checks an alm and a map array, in host memory or that of the plan's device, against the plan; gives their batch. */
kugel_status kugel__sht_check(const kugel_sht *plan, const kugel_array *alm, const kugel_array *map,
                              int64_t *batch);

/* Whether a checked array is in device memory, not in that of the host. */
static inline bool kugel__sht_there(const kugel_array *a)
{
  return a->device.type != KUGEL_CPU;
}

/* Fails if analysis on the plan's grid is not exact to its lmax and mmax and opts do not allow that. */
kugel_status kugel__sht_check_band(const kugel_sht *plan);

/* Applies the bad-pixel policy: fails, or makes copies with zeros in *clean (scratch, one block or NULL) and
 * redirects `map` to it. The caller puts *clean back. */
kugel_status kugel__sht_clean(const kugel_sht *plan, kugel__maps *map, void **clean);

#endif
