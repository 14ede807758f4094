/* SPDX-License-Identifier: BSD-3-Clause */
/* The plan behind kugel_sht, and transforms of one set on host memory. */
#ifndef KUGEL_SPHERE_SHT_H
#define KUGEL_SPHERE_SHT_H

#include <stdatomic.h>
#include "core/base.h"
#include "fft/rings.h"
#include "sphere/grid.h"
#include "sphere/legendre.h"

enum { KUGEL__MAX_SETS = 3 };

struct kugel__latlon;
typedef struct kugel__sht_gpu kugel__sht_gpu;

struct kugel_sht {
  kugel_ctx *ctx;
  kugel_sht_opts opts;
  kugel_grid *grid;
  int64_t lmax, mmax, nalm, npix;
  int n_alm, n_map; /* sets: 1, 2 or 3 */
  int64_t block;    /* ring pairs whose Fourier coefficients are held at a time, a multiple of 8 */
  kugel__leg *leg;
  kugel__rings *rings;
  double *weight_north;         /* [npairs] for analysis, ring weights included; NULL: the grid has none */
  double *weight_south;         /* [npairs], in the same block */
  double *pixel_weight;         /* [npix] factors on top, or NULL */
  struct kugel__latlon *latlon; /* analysis by resampling in theta instead of the weights, or NULL */
  kugel__sht_gpu *gpu;          /* on a device; NULL: on the CPU */
};

/* One set of maps or alm in host memory, float or double as the flag says. */
typedef struct kugel__maps {
  void *data[KUGEL__MAX_SETS]; /* [npix] each */
  bool f32;
} kugel__maps;
typedef struct kugel__alms {
  void *data[KUGEL__MAX_SETS]; /* [nalm] complex each */
  bool f32;
} kugel__alms;

static inline int64_t kugel__alm_index(int64_t lmax, int64_t l, int64_t m)
{
  return m * (2 * lmax + 1 - m) / 2 + l;
}

/* map = S alm. */
kugel_status kugel__sht_synthesis(const kugel_sht *plan, const kugel__alms *alm, const kugel__maps *map);

/* alm = S^T map, or S^T (weights . map) if weighted; += with accumulate. Bad pixels are not looked for. */
kugel_status kugel__sht_adjoint(const kugel_sht *plan, const kugel__maps *map, bool weighted,
                                const kugel__alms *alm, bool accumulate);

/* Coefficients [at, at + n) of set c to and from a column of doubles; real: imaginary parts are zero. */
void kugel__alm_unpack(const kugel__alms *alm, int c, int64_t at, int64_t n, bool real, double *out);
void kugel__alm_pack(const kugel__alms *alm, int c, int64_t at, int64_t n, bool real, bool accumulate,
                     double *in);

/* Views of set `index` of a checked array [batch, sets, n]. */
kugel__maps kugel__sht_maps(const kugel_sht *plan, const kugel_array *map, int64_t index);
kugel__alms kugel__sht_alms(const kugel_sht *plan, const kugel_array *alm, int64_t index);

/* Checks an alm and a map array against the plan; gives their batch. The first leaves out that they overlap.
 */
kugel_status kugel__sht_check_shapes(const kugel_sht *plan, const kugel_array *alm, const kugel_array *map,
                                     int64_t *batch);
kugel_status kugel__sht_check(const kugel_sht *plan, const kugel_array *alm, const kugel_array *map,
                              int64_t *batch);

/* Applies the bad-pixel policy: fails, or makes copies with zeros in *clean (scratch, one block or NULL) and
 * redirects `map` to it. The caller puts *clean back. */
kugel_status kugel__sht_clean(const kugel_sht *plan, kugel__maps *map, void **clean);

#endif
