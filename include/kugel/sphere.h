/* SPDX-License-Identifier: BSD-3-Clause */
/* Grids and spherical-harmonic transforms on the sphere.
 *
 * Conventions (docs/conventions.md has the formulas):
 *  - f(theta, phi) = sum_{l,m} a_lm Y_lm, orthonormal Y_lm with Condon-Shortley phase. Fields are real, so only m >= 0
 *    is stored: index(l, m) = m (2 lmax + 1 - m) / 2 + l for l = m ... lmax, m = 0 ... mmax. Imaginary parts at m = 0
 *    are ignored on input and zero on output.
 *  - A grid is a list of rings of constant colatitude; a map is one array of grid pixels, ring after ring.
 *  - Spin s: two alm sets (E, B) and two maps, with the signs of HEALPix; spin 2 is (Q, U) in the COSMO convention.
 *  - Maps are float32 or float64, alm complex64 or complex128, in any mix; all arithmetic is in float64, but for the
 *    Fourier transforms along rings of float32 maps on a device: those are in float32, to 4e-7 of a map's norm.
 *  - The inner product of alm that adjoints refer to: <a, b> = sum_l a_l0 b_l0 + 2 Re sum_{l, m>0} a_lm conj(b_lm).
 */
#ifndef KUGEL_SPHERE_H
#define KUGEL_SPHERE_H

#include <kugel/core.h>
#include <kugel/device.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The value of unobserved pixels in HEALPix files; anything within 1e-5 of it, relatively, counts as unobserved. */
#define KUGEL_UNSEEN (-1.6375e30)

/* ---- grids ---------------------------------------------------------------------------------------------------- */

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
  int64_t ntheta, nphi; /* lat-lon and Gaussian grids: rings; lat-lon grids: pixels a ring */
  double phi0;          /* of those: longitude of the first pixel of every ring, radians */
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

/// Gives the caller's reference back; plans keep the grid alive.
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

/// Copies the table of rings, in the order of their first pixels' rows as the grid defines them (north first for the
/// ready-made grids). Any output may be NULL.
/// @param[in]  grid    a grid
/// @param[out] theta   [nrings] colatitude, radians
/// @param[out] nphi    [nrings] pixels of the ring
/// @param[out] phi0    [nrings] longitude of the first pixel, radians
/// @param[out] first   [nrings] map index of the first pixel
/// @param[out] weight  [nrings] quadrature weight of each pixel of the ring, steradians; 0 where the grid has none
/// @errors KUGEL_EINVAL if grid is NULL
KUGEL_API kugel_status kugel_grid_rings(const kugel_grid *grid, double *theta, int64_t *nphi, double *phi0,
                                        int64_t *first, double *weight);

/* ---- transforms ------------------------------------------------------------------------------------------------ */

typedef enum kugel_sht_mode {
  KUGEL_SHT_SCALAR = 0, /* 1 alm <-> 1 map */
  KUGEL_SHT_SPIN = 1,   /* E, B <-> 2 maps of spin opts.spin >= 1 */
  KUGEL_SHT_TEB = 2,    /* T, E, B <-> T, Q, U in one pass */
  KUGEL_SHT_GRAD = 3,   /* 1 alm <-> d/dtheta, 1/sin(theta) d/dphi */
  KUGEL_SHT_DER1 = 4    /* 1 alm <-> value, d/dtheta, 1/sin(theta) d/dphi */
} kugel_sht_mode;

/* How analysis weights the pixels. */
typedef enum kugel_weights {
  KUGEL_WEIGHTS_DEFAULT = 0, /* the grid's own: equal areas on HEALPix, exact quadrature on the lat-lon grids */
  KUGEL_WEIGHTS_RING = 1,    /* HEALPix: computed ring weights */
  KUGEL_WEIGHTS_PIXEL = 2    /* HEALPix: computed pixel weights, exact to lmax about 1.5 nside */
} kugel_weights;

/* What analysis and adjoint synthesis do with NaN, infinite or UNSEEN pixels. */
typedef enum kugel_bad_pixels {
  KUGEL_BAD_ERROR = 0, /* fail with KUGEL_EINVAL, naming the first one */
  KUGEL_BAD_ZERO = 1,  /* count as zero */
  KUGEL_BAD_PASS = 2   /* take the numbers as they are, unchecked */
} kugel_bad_pixels;

typedef struct kugel_sht kugel_sht;

typedef struct kugel_sht_opts {
  size_t size; /* sizeof(kugel_sht_opts) */
  const kugel_grid *grid;
  int64_t lmax;  /* at least 0 */
  int64_t mmax;  /* 0: lmax; -1: only m = 0; else at most lmax */
  kugel_sht_mode mode;
  int spin;      /* KUGEL_SHT_SPIN: 1 and more */
  kugel_weights weights;
  int iterations; /* analysis: Jacobi refinements after the first pass (healpy's default is 3) */
  kugel_bad_pixels bad_pixels;
  /* On a device: bytes of its memory that the plan may hold (of each device of several); transforms that need more go
   * in parts. 0: what is free. On the CPU: bytes of scratch to aim for; 0: the size of the maps, at least 32 MiB. */
  int64_t max_memory;
} kugel_sht_opts;

/// Plans transforms between alm and maps of a grid.
/// @param[in]  ctx   NULL: the default context; on a GPU or another device the plan's transforms run there, on
///                   arrays in host memory or in memory of the device
/// @param[in]  opts  see kugel_sht_opts; the grid is kept alive by the plan
/// @param[out] out   the plan: immutable, any number of threads may execute it
/// @errors KUGEL_EINVAL for values out of range; KUGEL_ENOTSUP for ring or pixel weights off HEALPix; KUGEL_ENOMEM
/// @cost   O(nrings + lmax) time and memory; pixel weights take some transforms
KUGEL_API kugel_status kugel_sht_create(kugel_ctx *ctx, const kugel_sht_opts *opts, kugel_sht **out);

/// Frees a plan.
/// @param[in] plan  may be NULL
KUGEL_API void kugel_sht_destroy(kugel_sht *plan);

/// The numbers that fix the shapes of a plan's arrays. Any output may be NULL.
/// @param[in]  plan   a plan
/// @param[out] nalm   coefficients of one alm set, (mmax + 1)(lmax + 1) - mmax (mmax + 1) / 2
/// @param[out] npix   pixels of one map
/// @param[out] n_alm_sets  alm sets: 1, 2 or 3 by mode
/// @param[out] n_maps      maps: 1, 2 or 3 by mode
/// @errors KUGEL_EINVAL if plan is NULL
KUGEL_API kugel_status kugel_sht_shape(const kugel_sht *plan, int64_t *nalm, int64_t *npix, int *n_alm_sets,
                                       int *n_maps);

/// Limits what plans made in a context from now on may hold on its device, those inside of smoothing and regridding too;
/// opts.max_memory of a plan goes before it.
/// @param[in] ctx    a context on a device
/// @param[in] bytes  of each of its devices; 0: what is free
/// @errors KUGEL_EINVAL if ctx is NULL
KUGEL_API kugel_status kugel_sht_limit_memory(kugel_ctx *ctx, uint64_t bytes);

/// What the plan holds on its device, and whether it works in parts.
/// @param[in]  plan          a plan
/// @param[out] device_bytes  bytes of device memory, on the device that holds most; 0 on the CPU; may be NULL. Copies of
///                           arrays in host memory count once a transform has made them; vectors of iterations on
///                           arrays in device memory do not count
/// @param[out] parts         1: everything at once; may be NULL
/// @errors KUGEL_EINVAL if plan is NULL
KUGEL_API kugel_status kugel_sht_memory(const kugel_sht *plan, uint64_t *device_bytes, int64_t *parts);

/// Synthesis: map(p) = sum_lm a_lm Y_lm(theta_p, phi_p), for each set of the batch.
/// @param[in]  plan   a plan
/// @param[in]  alm    [batch..., n_alm_sets, nalm] complex; batch extents optional, the axis of length 1 too
/// @param[out] map    [batch..., n_maps, npix] real; pixels that belong to no ring are left alone
/// @param[in]  queue  on a device with arrays in its memory: where the work is queued; NULL: returns when done
/// @errors KUGEL_ESHAPE if a shape, stride or dtype does not fit; KUGEL_EINVAL if the arrays overlap; KUGEL_ENOMEM;
///         KUGEL_ECANCELED
/// @accuracy relative L2 error below 1e-13 sqrt(lmax / 100), lmax to 4096 and beyond. complex64 and float32 in batches
///         of three maps or more on NVIDIA GPUs of compute capability 9.0: below 1e-6 of a map's norm, as numbers with
///         22 bits of the largest coefficient of their order m give
/// @cost   about 6 flops a coefficient and ring pair (10 for spin 1 and 2, 14 for T, E, B); modes m beyond a ring's
///         Nyquist frequency are folded exactly
/// @cite   Ishioka2018 (recurrence), Schaeffer2013, ReineckeSeljebotn2013
KUGEL_API kugel_status kugel_sht_synthesis(const kugel_sht *plan, const kugel_array *alm, const kugel_array *map,
                                           kugel_queue *queue);

/// Adjoint of synthesis: a_lm = sum_p map(p) conj(Y_lm(theta_p, phi_p)).
/// @param[in]  plan   a plan
/// @param[in]  map    [batch..., n_maps, npix] real
/// @param[out] alm    [batch..., n_alm_sets, nalm] complex
/// @param[in]  queue  on a device with arrays in its memory: where the work is queued; NULL: returns when done
/// @errors as kugel_sht_synthesis; KUGEL_EINVAL for bad pixels unless opts.bad_pixels allows them
/// @accuracy <S a, f> = <a, S^T f> to 1e-14 relative; of batches in single precision as kugel_sht_synthesis
KUGEL_API kugel_status kugel_sht_synthesis_adjoint(const kugel_sht *plan, const kugel_array *map,
                                                   const kugel_array *alm, kugel_queue *queue);

/// Analysis: a_lm = sum_p w_p map(p) conj(Y_lm), then opts.iterations Jacobi refinements with the residual map.
/// @param[in]  plan   a plan of mode SCALAR, SPIN or TEB
/// @param[in]  map    [batch..., n_maps, npix] real; not changed
/// @param[out] alm    [batch..., n_alm_sets, nalm] complex
/// @param[in]  queue  on a device with arrays in its memory: where the work is queued; NULL: returns when done
/// @errors as kugel_sht_synthesis_adjoint; KUGEL_ENOTSUP if the grid has no weights or the mode is a gradient
/// @accuracy exact to rounding for band-limited maps, with nphi > 2 mmax: on Gauss, Fejer 1 and McEwen-Wiaux grids to
///           lmax = ntheta - 1, on Clenshaw-Curtis grids to ntheta - 2 (above (ntheta - 1) / 2 by resampling in theta
///           in place of the weights), on Fejer 2 and Driscoll-Healy grids with ntheta > 2 lmax; on HEALPix an
///           approximation that iterations refine
/// @cost   one transform, and two more an iteration
KUGEL_API kugel_status kugel_sht_analysis(const kugel_sht *plan, const kugel_array *map, const kugel_array *alm,
                                          kugel_queue *queue);

/// Adjoint of analysis, iterations included.
/// @param[in]  plan   as for analysis
/// @param[in]  alm    [batch..., n_alm_sets, nalm] complex
/// @param[out] map    [batch..., n_maps, npix] real
/// @param[in]  queue  on a device with arrays in its memory: where the work is queued; NULL: returns when done
/// @errors as kugel_sht_analysis
KUGEL_API kugel_status kugel_sht_analysis_adjoint(const kugel_sht *plan, const kugel_array *alm,
                                                  const kugel_array *map, kugel_queue *queue);

typedef struct kugel_solve_opts {
  size_t size;         /* sizeof(kugel_solve_opts) */
  double tolerance;    /* stop when ||S^T (map - S a)|| falls to this fraction of ||S^T map||; 0: 1e-10 */
  int max_iterations;  /* 0: 50 */
} kugel_solve_opts;

typedef struct kugel_solve_stats {
  int iterations;       /* used */
  double residual;      /* ||map - S a|| / ||map|| over the pixels that count */
  double normal_residual; /* ||S^T (map - S a)|| / ||S^T map|| */
} kugel_solve_stats;

/// Least-squares analysis: the alm that minimise ||map - S alm||, by conjugate gradients (CGLS). With
/// KUGEL_BAD_ZERO, bad pixels do not count.
/// @param[in]  plan   a plan of mode SCALAR, SPIN or TEB
/// @param[in]  map    [n_maps, npix] real; no batch
/// @param[out] alm    [n_alm_sets, nalm] complex
/// @param[in]  opts   NULL for defaults
/// @param[out] stats  may be NULL; set on KUGEL_ECONVERGE too, and alm then holds the best so far
/// @errors as kugel_sht_analysis; KUGEL_ECONVERGE if max_iterations do not reach the tolerance
/// @cost   two transforms an iteration
KUGEL_API kugel_status kugel_sht_solve(const kugel_sht *plan, const kugel_array *map, const kugel_array *alm,
                                       const kugel_solve_opts *opts, kugel_solve_stats *stats);

/* ---- smoothing ------------------------------------------------------------------------------------------------- */

typedef struct kugel_smooth_opts {
  size_t size; /* sizeof(kugel_smooth_opts) */
  const kugel_grid *grid;
  int64_t lmax, mmax; /* as in kugel_sht_opts */
  double fwhm;        /* of a Gaussian beam, radians; 0 with window given */
  /* Or windows f_l by which alm are multiplied, n_window values each (beyond: zero): T, and with polarised maps E, B.
   * NULL window_e or window_b: `window`. */
  int64_t n_window;
  const double *window, *window_e, *window_b;
  kugel_weights weights;
  int iterations;
  int spin; /* 0: maps are 1 (scalar) or 3 (T, Q, U); 1 and more: 2 maps of that spin */
} kugel_smooth_opts;

/// Smooths maps by a Gaussian beam or a window: analysis, multiplication, synthesis. Bad pixels (UNSEEN, NaN) count as
/// zero and are UNSEEN in the result.
/// @param[in]  ctx   NULL: the default context
/// @param[in]  opts  see kugel_smooth_opts
/// @param[in]  in    [n, npix] real, n = 1, 2 or 3 maps as opts.spin says (scalar: any n, each on its own)
/// @param[out] out   same shape and dtype; may be `in` itself
/// @errors KUGEL_EINVAL for a negative fwhm or both fwhm and window; KUGEL_ESHAPE; KUGEL_ENOMEM; KUGEL_ECANCELED
/// @cost   2 + 2 iterations transforms; memory of one more map and one alm set a component
KUGEL_API kugel_status kugel_smooth(kugel_ctx *ctx, const kugel_smooth_opts *opts, const kugel_array *in,
                                    const kugel_array *out);

#ifdef __cplusplus
}
#endif
#endif
