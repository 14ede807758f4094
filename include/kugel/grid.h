/* SPDX-License-Identifier: BSD-3-Clause */
/* Grids on the sphere: lists of rings of constant colatitude. A map is one array of a grid's pixels, ring after ring.
 *
 *   kugel_grid *grid;
 *   kugel_grid_opts opts = {.size = sizeof opts, .kind = KUGEL_GRID_HEALPIX, .nside = 64};
 *   kugel_grid_create(NULL, &opts, &grid);
 *   double *map = malloc(kugel_grid_npix(grid) * sizeof *map);
 *
 * The highest degree to which analysis (kugel_sht_analysis) is exact, kugel_grid_lmax, n rings:
 *   Gauss, reduced Gauss, Fejer 1, McEwen-Wiaux   n - 1          Fejer 2          (n - 1) / 2, rounded down
 *   Clenshaw-Curtis, Lobatto                      n - 2          Driscoll-Healy   n / 2 - 1, rounded down
 *   octahedral                                    n / 2 - 1      HEALPix          none; 2 nside is usual
 * and at most (nphi - 1) / 2, nphi the pixels of the longest ring.
 */
#ifndef KUGEL_GRID_H
#define KUGEL_GRID_H

#include <kugel/core.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum kugel_grid_kind {
  KUGEL_GRID_CUSTOM = 0,           /* rings given as tables */
  KUGEL_GRID_HEALPIX = 1,          /* nside, RING order */
  KUGEL_GRID_GAUSS = 2,            /* Gauss-Legendre: exact to lmax = ntheta - 1 */
  KUGEL_GRID_CLENSHAW_CURTIS = 3,  /* theta_i = i pi / (ntheta - 1), poles included */
  KUGEL_GRID_FEJER1 = 4,           /* theta_i = (i + 1/2) pi / ntheta; also called ECP */
  KUGEL_GRID_FEJER2 = 5,           /* theta_i = (i + 1) pi / (ntheta + 1) */
  KUGEL_GRID_DRISCOLL_HEALY = 6,   /* theta_i = i pi / ntheta */
  KUGEL_GRID_MCEWEN_WIAUX = 7,     /* theta_i = (2 i + 1) pi / (2 ntheta - 1), south pole included */
  KUGEL_GRID_LOBATTO = 8,          /* Gauss-Lobatto, poles included: exact to lmax = ntheta - 2 */
  /* Gaussian colatitudes and fewer pixels towards the poles: as many as ring_nphi says (the list "pl" of a GRIB file,
   * the N grids of ECMWF), or with NULL the fewest of the form 2^a 3^b 5^c, even, that keep the grid exact to rounding
   * to lmax = ntheta - 1. */
  KUGEL_GRID_GAUSS_REDUCED = 9,
  /* The O grids of ECMWF: Gaussian colatitudes, ntheta even, 20 pixels about each pole and 4 more from ring to ring
   * towards the equator; exact to 1e-13 to lmax = ntheta / 2 - 1. */
  KUGEL_GRID_GAUSS_OCTAHEDRAL = 10
} kugel_grid_kind;

typedef struct kugel_grid kugel_grid;

typedef struct kugel_grid_opts {
  size_t size; /* sizeof(kugel_grid_opts) */
  kugel_grid_kind kind;
  int64_t nside;        /* HEALPix only: 1 to 2^29 */
  int64_t ntheta, nphi; /* lat-lon and Gaussian grids: rings; lat-lon grids: pixels per ring */
  double phi0;          /* of these grids: longitude of the first pixel of every ring, radians */
  /* Custom grids: tables of nrings entries, copied. Rings may come in any order. */
  int64_t nrings;
  const double *theta;          /* colatitude, in [0, pi] */
  const int64_t *ring_nphi;     /* pixels of the ring, at least 1; of reduced Gaussian grids too */
  const double *ring_phi0;      /* longitude of its first pixel; NULL: 0 */
  const int64_t *ring_first;    /* map index of its first pixel; NULL: rings follow each other */
  const double *ring_weight;    /* quadrature weight of each pixel of the ring (steradians); NULL: no analysis */
} kugel_grid_opts;

/// Makes a grid. Grids are immutable and may be shared by plans and threads.
/// @param[in]  ctx   NULL: the default context
/// @param[in]  opts  which grid; see kugel_grid_opts
/// @param[out] out   the grid
/// @errors KUGEL_EINVAL for an unknown kind or a value out of range; KUGEL_ENOMEM
/// @cost   O(nrings), for Fejer and Clenshaw-Curtis weights O(nrings log nrings)
/// @cite   Gorski2005 (HEALPix), Waldvogel2006 (weights), McEwenWiaux2011, DriscollHealy1994, HortalSimmons1991
///         (reduced grids), Malardel2016 (octahedral grids)
KUGEL_API kugel_status kugel_grid_create(kugel_ctx *ctx, const kugel_grid_opts *opts, kugel_grid **out);

/// Releases the caller's reference; plans keep the grid alive.
/// @param[in] grid  may be NULL
KUGEL_API void kugel_grid_destroy(kugel_grid *grid);

/// Number of rings.
/// @param[in] grid  a grid
/// @return at least 1
KUGEL_API int64_t kugel_grid_nrings(const kugel_grid *grid);

/// Length of a map on the grid: one more than the highest pixel index.
/// @param[in] grid  a grid
/// @return at least 1
KUGEL_API int64_t kugel_grid_npix(const kugel_grid *grid);

/// The highest degree that a grid is made for: analysis is exact to this degree and the rings resolve it. On HEALPix,
/// where analysis is never exact, 2 nside.
/// @param[in] grid  a grid
/// @return at least 0; -1 for a custom grid, for which the library cannot know it
KUGEL_API int64_t kugel_grid_lmax(const kugel_grid *grid);

/// Copies the table of rings, in the order in which the grid defines them (north first for all but custom grids). Any
/// output may be NULL.
/// @param[in]  grid    a grid
/// @param[out] theta   [nrings] colatitude, radians
/// @param[out] nphi    [nrings] pixels of the ring
/// @param[out] phi0    [nrings] longitude of the first pixel, radians
/// @param[out] first   [nrings] map index of the first pixel
/// @param[out] weight  [nrings] quadrature weight of each pixel of the ring, steradians; 0 where the grid has none
/// @errors KUGEL_EINVAL if grid is NULL
KUGEL_API kugel_status kugel_grid_rings(const kugel_grid *grid, double *theta, int64_t *nphi, double *phi0,
                                        int64_t *first, double *weight);

#ifdef __cplusplus
}
#endif
#endif
