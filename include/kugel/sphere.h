/* SPDX-License-Identifier: BSD-3-Clause */
/* Spherical-harmonic transforms on the sphere.
 *
 *   kugel_sht_opts opts = {.size = sizeof opts, .grid = grid, .lmax = 128};          // grid: see grid.h
 *   kugel_sht *plan;
 *   if (kugel_sht_create(NULL, &opts, &plan)) fprintf(stderr, "%s\n", kugel_last_error());
 *   int64_t nalm = kugel_alm_count(128, KUGEL_ALL), npix = kugel_grid_npix(grid);    // see alm.h
 *   kugel_sht_synthesis(plan, KUGEL_ARRAY(alm, KUGEL_C128, nalm), KUGEL_ARRAY(map, KUGEL_F64, npix), NULL);
 *   kugel_sht_analysis(plan, KUGEL_ARRAY(map, KUGEL_F64, npix), KUGEL_ARRAY(alm, KUGEL_C128, nalm), NULL);
 *   kugel_sht_destroy(plan);
 *
 * Conventions (docs/conventions.md has the formulas):
 *  - f(theta, phi) = sum_{l,m} a_lm Y_lm, orthonormal Y_lm with Condon-Shortley phase. Fields are real, so only m >= 0
 *    is stored: index(l, m) = m (2 lmax + 1 - m) / 2 + l for l = m ... lmax, m = 0 ... mmax. Imaginary parts at m = 0
 *    are ignored on input and zero on output.
 *  - A map is one array of the pixels of a grid (grid.h), ring after ring.
 *  - Spin s: two alm sets (E, B) and two maps, with the signs of HEALPix; spin 2 is (Q, U) in the COSMO convention.
 *  - Maps are float32 or float64, alm complex64 or complex128, in any mix. Arithmetic is in float64, except that a
 *    device transforms the rings of float32 maps in float32, to 4e-7 of a map's norm, and that some batches in single
 *    precision use 22-bit products (kugel_sht_synthesis, @accuracy).
 *  - The inner product of alm that adjoints refer to: <a, b> = sum_l a_l0 b_l0 + 2 Re sum_{l, m>0} a_lm conj(b_lm).
 */
#ifndef KUGEL_SPHERE_H
#define KUGEL_SPHERE_H

#include <kugel/core.h>
#include <kugel/comm.h>
#include <kugel/device.h>
#include <kugel/grid.h>

#ifdef __cplusplus
extern "C" {
#endif

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
  KUGEL_BAD_PASS = 2   /* use the numbers as they are, unchecked */
} kugel_bad_pixels;

/* How the Legendre stage is computed. */
typedef enum kugel_sht_engine {
  KUGEL_SHT_RECURRENCE = 0, /* recurrence in the degree, for all modes, grids and devices */
  /* Rotations between orders to the orders 0 and 1, and cosine series in theta (polynomial.h): to 1e-15 at every ring, near
   * the poles too, where the recurrence has up to 1e-16 lmax^2. Made for Fejer 1 grids, whose lmax + 1 rings it
   * analyses without weights; other grids take a product with a table of nrings (lmax + 1) 16 bytes. All modes, spins to
   * 32, lmax to 16384, on the CPU or one device with double precision, all at once: about 150 lmax^2 bytes of its memory, 210
   * with spin, 320 for T, E, B. */
  KUGEL_SHT_CONNECTION = 1
} kugel_sht_engine;

typedef struct kugel_sht kugel_sht;

typedef struct kugel_sht_opts {
  size_t size; /* sizeof(kugel_sht_opts) */
  const kugel_grid *grid;
  int64_t lmax;  /* 0 to 100,000,000 */
  int64_t mmax;  /* 1 to lmax; 0 or KUGEL_ALL: lmax; KUGEL_ONLY_M0: order 0 alone */
  kugel_sht_mode mode;
  int spin;      /* KUGEL_SHT_SPIN: 1 and more; beyond lmax there are no harmonics, and all results are 0 */
  kugel_weights weights;
  int iterations; /* analysis: Jacobi refinements after the first pass (healpy's default is 3) */
  kugel_bad_pixels bad_pixels;
  /* 1: kugel_sht_analysis accepts lmax and mmax beyond those to which it is exact on the grid; its coefficients are
   * then sums over pixels, not those of any field. 0: it fails. HEALPix and custom grids have no such limit. */
  int beyond_band_limit;
  kugel_sht_engine engine;
  /* NULL: this process alone. Else the ranks that share every transform (comm.h): each makes the plan with the same
   * options, and passes and gets its parts of alm and maps, as kugel_sht_layout says. On the CPU, or
   * each rank on one device ("cuda:local"), all of one type; KUGEL_SHT_CONNECTION takes none. Must outlive
   * the plan. */
  kugel_comm *comm;
  int pieces; /* with comm: in how many pieces coefficients go between ranks, so that they fly during work; 0: chosen */
} kugel_sht_opts;

/// Plans transforms between alm and maps of a grid.
/// @param[in]  ctx   NULL: the default context; on a GPU or another device the plan's transforms run there, on
///                   arrays in host memory or in memory of the device
/// @param[in]  opts  see kugel_sht_opts; the plan keeps the grid alive
/// @param[out] out   the plan: immutable, any number of threads may execute it
/// @errors KUGEL_EINVAL for values out of range; KUGEL_ENOTSUP for ring or pixel weights off HEALPix, and for
///         KUGEL_SHT_CONNECTION with spins above 32, over ranks and on several devices; KUGEL_ENOMEM, also for
///         KUGEL_SHT_CONNECTION where the device's memory or the context's limit does not hold the whole transform
/// @cost   O(nrings + lmax) time and memory; pixel weights cost some transforms more. KUGEL_SHT_CONNECTION: 6 lmax^2 numbers,
///         and on other grids than Fejer 1 O(nrings lmax^2) time
KUGEL_API kugel_status kugel_sht_create(kugel_ctx *ctx, const kugel_sht_opts *opts, kugel_sht **out);

/// Frees a plan.
/// @param[in] plan  may be NULL
KUGEL_API void kugel_sht_destroy(kugel_sht *plan);

typedef struct kugel_sht_info {
  size_t size;           /* sizeof(kugel_sht_info), set by the caller */
  int64_t lmax, mmax;    /* in force */
  int64_t nalm;          /* coefficients of one alm set, (mmax + 1)(lmax + 1) - mmax (mmax + 1) / 2; over ranks those of
                            this rank's part */
  int64_t npix;          /* pixels of one map; over ranks those of this rank's part */
  int n_alm_sets;        /* 1, 2 or 3 by mode */
  int n_maps;            /* 1, 2 or 3 by mode */
  int64_t parts;         /* number of parts in which the plan works on its devices; 1: everything at once */
  uint64_t device_bytes; /* allocated on the device (of several, the one with most); 0 on the CPU. Device copies of
                            arrays in host memory count once a transform has made them; the vectors of iterations on
                            arrays in device memory do not count */
} kugel_sht_info;

/// Reports the shapes of a plan's arrays, and the device memory that the plan uses.
/// @param[in]     plan  a plan
/// @param[in,out] info  its size set; the rest is filled
/// @errors KUGEL_EINVAL if a pointer is NULL or info->size is not set
KUGEL_API kugel_status kugel_sht_get_info(const kugel_sht *plan, kugel_sht_info *info);

/// Synthesis: map(p) = sum_lm a_lm Y_lm(theta_p, phi_p), for each set of the batch.
/// @param[in]  plan   a plan
/// @param[in]  alm    [batch..., n_alm_sets, nalm] complex; batch extents optional, the axis of length 1 too
/// @param[out] map    [batch..., n_maps, npix] real; pixels that belong to no ring are left alone
/// @param[in]  queue  on a device with arrays in its memory: where the work is queued; NULL: returns when done
/// @errors KUGEL_ESHAPE if a shape, stride or dtype does not fit; KUGEL_EINVAL if the arrays overlap; KUGEL_ENOMEM;
///         KUGEL_ECANCELED
/// @accuracy relative L2 error below 1e-13 sqrt(lmax / 100), lmax to 4096 and beyond. For complex64 and float32 in
///         batches of three maps or more on NVIDIA GPUs of compute capability 9.0: below 1e-6 of a map's norm, because
///         the coefficients of an order m are rounded to 22 bits of the largest of them
/// @cost   about 6 flops per coefficient and ring pair (10 for spin 1 and 2, 14 for T, E, B); modes m beyond a ring's
///         Nyquist frequency are folded exactly. KUGEL_SHT_CONNECTION: lmax^3 / 3 rotations and lmax^3 / 2 products;
///         with spin four times the rotations and twice the products
/// @cite   Ishioka2018 (recurrence), Schaeffer2013, ReineckeSeljebotn2013
KUGEL_API kugel_status kugel_sht_synthesis(const kugel_sht *plan, const kugel_array *alm, const kugel_array *map,
                                           kugel_queue *queue);

/// Adjoint of synthesis: a_lm = sum_p map(p) conj(Y_lm(theta_p, phi_p)).
/// @param[in]  plan   a plan
/// @param[in]  map    [batch..., n_maps, npix] real
/// @param[out] alm    [batch..., n_alm_sets, nalm] complex
/// @param[in]  queue  on a device with arrays in its memory: where the work is queued; NULL: returns when done
/// @errors as kugel_sht_synthesis; KUGEL_EINVAL for bad pixels unless opts.bad_pixels allows them
/// @accuracy <S a, f> = <a, S^T f> to 1e-14 relative; batches in single precision as in kugel_sht_synthesis
KUGEL_API kugel_status kugel_sht_synthesis_adjoint(const kugel_sht *plan, const kugel_array *map,
                                                   const kugel_array *alm, kugel_queue *queue);

/// Analysis: a_lm = sum_p w_p map(p) conj(Y_lm), then opts.iterations Jacobi refinements with the residual map.
/// @param[in]  plan   a plan of mode SCALAR, SPIN or TEB
/// @param[in]  map    [batch..., n_maps, npix] real; not changed
/// @param[out] alm    [batch..., n_alm_sets, nalm] complex
/// @param[in]  queue  on a device with arrays in its memory: where the work is queued; NULL: returns when done
/// @errors as kugel_sht_synthesis_adjoint; KUGEL_ENOTSUP if the grid has no weights or the mode is a gradient;
///         KUGEL_EINVAL if lmax or mmax exceeds that to which the grid is exact, unless opts.beyond_band_limit is 1
/// @accuracy exact to rounding for band-limited maps, with nphi > 2 mmax: on Gauss, Fejer 1 and McEwen-Wiaux grids to
///           lmax = ntheta - 1, on Clenshaw-Curtis grids to ntheta - 2 (above (ntheta - 1) / 2 by resampling in theta
///           instead of weights), on Fejer 2 grids with ntheta > 2 lmax, on Driscoll-Healy grids with
///           ntheta > 2 lmax + 1; on HEALPix an approximation that iterations refine
/// @cost   one transform, and two more per iteration
KUGEL_API kugel_status kugel_sht_analysis(const kugel_sht *plan, const kugel_array *map, const kugel_array *alm,
                                          kugel_queue *queue);

/// Adjoint of analysis, iterations included.
/// @param[in]  plan   as for analysis
/// @param[in]  alm    [batch..., n_alm_sets, nalm] complex
/// @param[out] map    [batch..., n_maps, npix] real
/// @param[in]  queue  on a device with arrays in its memory: where the work is queued; NULL: returns when done
/// @errors as kugel_sht_analysis, but any lmax is accepted
KUGEL_API kugel_status kugel_sht_analysis_adjoint(const kugel_sht *plan, const kugel_array *alm,
                                                  const kugel_array *map, kugel_queue *queue);

typedef struct kugel_solve_opts {
  size_t size;         /* sizeof(kugel_solve_opts) */
  double tolerance;    /* stop when ||S^T (map - S a)|| falls to this fraction of ||S^T map||; 0: 1e-10 */
  int max_iterations;  /* 0: 50 */
} kugel_solve_opts;

typedef struct kugel_solve_stats {
  int iterations;       /* done */
  double residual;      /* ||map - S a|| / ||map|| over the pixels that are not bad */
  double normal_residual; /* ||S^T (map - S a)|| / ||S^T map|| */
} kugel_solve_stats;

/// Least-squares analysis: the alm that minimise ||map - S alm||, by conjugate gradients (CGLS). With
/// KUGEL_BAD_ZERO, the norm leaves bad pixels out.
/// @param[in]  plan   a plan of mode SCALAR, SPIN or TEB
/// @param[in]  map    [n_maps, npix] real; no batch
/// @param[out] alm    [n_alm_sets, nalm] complex
/// @param[in]  opts   NULL for defaults
/// @param[out] stats  may be NULL; set on KUGEL_ECONVERGE too, and alm then holds the best so far
/// @param[in]  queue  on a device with arrays in its memory: where the work is queued; the call returns when it is done,
///                    because the iterations stop by numbers that the host reads
/// @errors as kugel_sht_analysis; KUGEL_ECONVERGE if max_iterations do not reach the tolerance
/// @cost   two transforms per iteration
KUGEL_API kugel_status kugel_sht_solve(const kugel_sht *plan, const kugel_array *map, const kugel_array *alm,
                                       const kugel_solve_opts *opts, kugel_solve_stats *stats,
                                       kugel_queue *queue);

/* ---- over ranks ------------------------------------------------------------------------------------------------ */

/* With opts.comm, transforms are collective. Each rank has the coefficients of some orders m, and a run of ring pairs, north
 * and south: on HEALPix two runs of pixels. Each order and each ring is computed whole on one rank, in the order of
 * operations of a plan without ranks, so results have the same bits for any number of ranks. kugel_sht_solve copies arrays in
 * device memory to the host. On grids that need it, analysis by resampling in theta (lmax above what the weights are exact to) returns
 * KUGEL_ENOTSUP. */
typedef enum kugel_sht_side { KUGEL_SHT_ALM = 0, KUGEL_SHT_MAP = 1 } kugel_sht_side;

/// The layout of a plan's arrays over ranks, for kugel_layout_move and its companions.
/// @param[in]  plan  a plan with opts.comm
/// @param[in]  side  which array: one alm set, orders ascending, l = m ... lmax of each; or one map, pixels ascending
/// @param[out] out   a layout of its own, to be destroyed before the communicator
/// @errors KUGEL_EINVAL without opts.comm; KUGEL_ENOMEM
KUGEL_API kugel_status kugel_sht_layout(const kugel_sht *plan, kugel_sht_side side, kugel_layout **out);

/// The orders m of this rank's coefficients, ascending; without opts.comm all of them.
/// @param[in]  plan   a plan
/// @param[in]  most   capacity of m
/// @param[out] m      [most] may be NULL if most is 0
/// @param[out] count  how many there are, which may be more than `most`
/// @errors KUGEL_EINVAL
KUGEL_API kugel_status kugel_sht_orders(const kugel_sht *plan, int64_t most, int64_t *m, int64_t *count);

/* ---- smoothing ------------------------------------------------------------------------------------------------- */

typedef struct kugel_smooth_opts {
  size_t size; /* sizeof(kugel_smooth_opts) */
  const kugel_grid *grid;
  int64_t lmax, mmax; /* as in kugel_sht_opts */
  double fwhm;        /* of a Gaussian beam, radians; 0 with window given */
  /* Instead of fwhm: windows f_l that multiply the alm, n_window values each (zero beyond), for T and, with polarised
   * maps, E and B. If window_e or window_b is NULL, `window` is used for it. */
  int64_t n_window;
  const double *window, *window_e, *window_b;
  kugel_weights weights;
  int iterations; /* of the analysis; 0: none, which on HEALPix errs by per cents near the poles; healpy makes 3 */
  int spin; /* 0: maps are 1 (scalar) or 3 (T, Q, U); 1 and more: 2 maps of that spin */
  int beyond_band_limit; /* as in kugel_sht_opts */
} kugel_smooth_opts;

/// Smooths maps by a Gaussian beam or a window: analysis, multiplication, synthesis. Bad pixels (UNSEEN, NaN) count as
/// zero and are UNSEEN in the result.
/// @param[in]  ctx   NULL: the default context
/// @param[in]  opts  see kugel_smooth_opts
/// @param[in]  in    [n, npix] real, n = 1, 2 or 3 maps as opts.spin says (scalar: any n, each on its own)
/// @param[out] out   same shape and dtype; may be `in` itself
/// @param[in]  queue NULL, or a queue of the context's device: its work comes first; the call returns when it is done,
///                   since the maps are in host memory
/// @errors KUGEL_EINVAL for a negative fwhm, both fwhm and window, or an lmax that kugel_sht_analysis rejects;
///         KUGEL_ESHAPE; KUGEL_ENOMEM; KUGEL_ECANCELED
/// @cost   2 + 2 iterations transforms; memory for one more map and one alm set per component
KUGEL_API kugel_status kugel_smooth(kugel_ctx *ctx, const kugel_smooth_opts *opts, const kugel_array *in,
                                    const kugel_array *out, kugel_queue *queue);

#ifdef __cplusplus
}
#endif
#endif
