/* SPDX-License-Identifier: BSD-3-Clause */
/* Spherical-harmonic coefficients: layout, windows, power spectra, random fields, rotation; HEALPix monopole
 * and dipole, pixel windows and quadrature weights.
 *
 *   int64_t lmax = 128, nalm = kugel_alm_count(lmax, KUGEL_ALL);
 *   kugel_complex *alm = malloc(nalm * sizeof *alm);
 *   kugel_alm_random_opts opts = {.size = sizeof opts, .lmax = lmax, .cl = cl, .cl_lmax = lmax, .seed = 1};
 *   kugel_alm_random(NULL, &opts, alm, NULL);                              // a sky with the spectrum cl
 *   double bl[129], spectrum[129];
 *   kugel_beam_gauss(0.01, lmax, 1, bl);                                   // FWHM 0.01 rad
 *   kugel_alm_multiply(NULL, lmax, KUGEL_ALL, alm, lmax + 1, bl, alm);     // smoothed
 *   kugel_alm_cl(NULL, lmax, KUGEL_ALL, alm, NULL, lmax, spectrum);
 *
 * Conventions (as in sphere.h):
 *  - alm of a real field: m >= 0 only, index(l, m) = m (2 lmax + 1 - m) / 2 + l for l = m ... lmax,
 *    m = 0 ... mmax; orthonormal Y_lm with Condon-Shortley phase. nalm = kugel_alm_count(lmax, mmax).
 *  - 0 <= lmax <= 100,000,000; mmax is 1 to lmax, KUGEL_ALL (-1) for lmax, or KUGEL_ONLY_M0 (-2) for order 0 alone, in
 *    arguments and in options of plans alike, so that kugel_alm_count(lmax, opts.mmax) is the size that the plan uses.
 *    Options also accept 0 for KUGEL_ALL; arguments reject 0 (unless lmax is 0), so that a wrong size is noticed.
 *  - Several sets (T, E, B) follow one another: alm[set * nalm + index].
 *  - Results do not depend on the number of threads.
 */
#ifndef KUGEL_ALM_H
#define KUGEL_ALM_H

#include <kugel/core.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A complex number of two doubles, real part first: C's double _Complex, C++'s std::complex<double>. */
__extension__ typedef double _Complex kugel_complex;

/* ---- layout -------------------------------------------------------------------------------------------- */

/// Number of coefficients, (mmax + 1)(lmax + 1) - mmax (mmax + 1) / 2.
/// @param[in] lmax  highest degree
/// @param[in] mmax  highest order, KUGEL_ALL or KUGEL_ONLY_M0
/// @return at least 1, or -1 if lmax or mmax is out of range, mmax 0 with lmax > 0 included
KUGEL_API int64_t kugel_alm_count(int64_t lmax, int64_t mmax);

/// Position of a_lm in its set: m (2 lmax + 1 - m) / 2 + l.
/// @param[in] lmax  highest degree of the set
/// @param[in] l     degree, 0 <= l <= lmax
/// @param[in] m     order, 0 <= m <= l
/// @return the index, or -1 if an argument is out of range
KUGEL_API int64_t kugel_alm_index(int64_t lmax, int64_t l, int64_t m);

/// Degree and order of the coefficient at `index`: the inverse of kugel_alm_index.
/// @param[in]  lmax   highest degree of the set
/// @param[in]  index  0 <= index < kugel_alm_count(lmax, lmax)
/// @param[out] l      degree
/// @param[out] m      order
/// @errors KUGEL_EINVAL if lmax or index is out of range or a pointer is NULL
KUGEL_API kugel_status kugel_alm_lm(int64_t lmax, int64_t index, int64_t *l, int64_t *m);

/// The lmax of a set of `count` coefficients.
/// @param[in] count  number of coefficients
/// @param[in] mmax   its highest order; KUGEL_ALL: mmax = lmax; KUGEL_ONLY_M0
/// @return lmax, or -1 if no lmax gives that count
KUGEL_API int64_t kugel_alm_lmax(int64_t count, int64_t mmax);

/// Copies coefficients to another lmax and mmax: drops those beyond the new limits, sets missing ones to zero.
/// @param[in]  lmax, mmax          of `alm`
/// @param[in]  alm                 [kugel_alm_count(lmax, mmax)]
/// @param[in]  lmax_out, mmax_out  of `out`
/// @param[out] out                 [kugel_alm_count(lmax_out, mmax_out)]; no overlap with alm
/// @errors KUGEL_EINVAL if a size is out of range, a pointer is NULL or the arrays overlap
KUGEL_API kugel_status kugel_alm_resize(int64_t lmax, int64_t mmax, const kugel_complex *alm,
                                        int64_t lmax_out, int64_t mmax_out, kugel_complex *out);

/// Multiplies by a window: out_lm = f_l a_lm (healpy's almxfl).
/// @param[in]  ctx         NULL: the default context
/// @param[in]  lmax, mmax  of alm
/// @param[in]  alm         [nalm]
/// @param[in]  nfl         values in fl, at least 0
/// @param[in]  fl          [nfl]; degrees l >= nfl are multiplied by 0, whatever their alm (also NaN)
/// @param[out] out         [nalm]; may be alm itself
/// @errors KUGEL_EINVAL if a size is out of range or a pointer is NULL
KUGEL_API kugel_status kugel_alm_multiply(kugel_ctx *ctx, int64_t lmax, int64_t mmax,
                                          const kugel_complex *alm, int64_t nfl, const double *fl,
                                          kugel_complex *out);

/* ---- power spectra ------------------------------------------------------------------------------------- */

/// Power spectrum of one set, or cross spectrum of two: C_l = 1/(2l+1) sum_m Re(a_lm conj(b_lm)),
/// m = -l ... l.
/// @param[in]  ctx         NULL: the default context
/// @param[in]  lmax, mmax  of both sets
/// @param[in]  alm1        [nalm]
/// @param[in]  alm2        [nalm]; NULL: alm1
/// @param[in]  lmax_out    highest degree wanted, at least 0; -1: lmax. Degrees above lmax are 0
/// @param[out] cl          [lmax_out + 1]
/// @errors KUGEL_EINVAL if a size is out of range or a pointer is NULL; KUGEL_ENOMEM
/// @accuracy compensated sums: about 1 ulp of sum |a_lm b_lm| / (2l+1)
KUGEL_API kugel_status kugel_alm_cl(kugel_ctx *ctx, int64_t lmax, int64_t mmax, const kugel_complex *alm1,
                                    const kugel_complex *alm2, int64_t lmax_out, double *cl);

/// All auto and cross spectra of n sets, diagonals first as in healpy: for T, E, B: TT, EE, BB, TE, EB, TB.
/// In general the pair (i, i + d) is at d n - d (d - 1) / 2 + i.
/// @param[in]  ctx         NULL: the default context
/// @param[in]  n           number of sets, 1 to 1000
/// @param[in]  lmax, mmax  of all sets
/// @param[in]  alm         [n, nalm]
/// @param[in]  lmax_out    highest degree wanted; -1: lmax. Degrees above lmax are 0
/// @param[out] cl          [n (n + 1) / 2, lmax_out + 1]
/// @errors KUGEL_EINVAL if a size is out of range or a pointer is NULL; KUGEL_ENOMEM
/// @accuracy as kugel_alm_cl
KUGEL_API kugel_status kugel_alm_cl_all(kugel_ctx *ctx, int64_t n, int64_t lmax, int64_t mmax,
                                        const kugel_complex *alm, int64_t lmax_out, double *cl);

/* ---- beams and windows --------------------------------------------------------------------------------- */

/// Window of a Gaussian beam: T exp(-l(l+1) s^2/2), E and B the same times exp(2 s^2), TE times exp(s^2),
/// with s = fwhm / sqrt(8 ln 2) (healpy's gauss_beam and its polarised columns).
/// @param[in]  fwhm  full width at half maximum, radians, at least 0
/// @param[in]  lmax  highest degree
/// @param[in]  n     how many of T, E, B, TE, in this order: 1 to 4
/// @param[out] bl    [n, lmax + 1]
/// @errors KUGEL_EINVAL if fwhm is negative or not finite, a size is out of range or bl is NULL
/// @accuracy 1e-15 l^2 s^2 relative
/// @cite   ChallinorEtal2000
KUGEL_API kugel_status kugel_beam_gauss(double fwhm, int64_t lmax, int n, double *bl);

/// Window of a beam profile: b_l = 2 pi int b(theta) P_l(cos theta) sin(theta) dtheta by the trapezium rule
/// on the given angles (healpy's beam2bl).
/// @param[in]  n      samples, at least 2
/// @param[in]  theta  [n] angles, radians, rising, in [0, pi]
/// @param[in]  beam   [n] profile, 1/steradian for a window of 1 at l = 0
/// @param[in]  lmax   highest degree
/// @param[out] bl     [lmax + 1]
/// @errors KUGEL_EINVAL if the angles do not rise or are out of range, a size is out of range or a pointer is NULL
/// @accuracy rounding, and the error of the trapezium rule, O(step^2 lmax^2)
/// @cost   O(n lmax)
KUGEL_API kugel_status kugel_beam_to_window(int64_t n, const double *theta,
                                            const double *beam, int64_t lmax, double *bl);

/// Profile of a window: b(theta) = sum_l (2l+1)/(4 pi) b_l P_l(cos theta) (healpy's bl2beam).
/// @param[in]  lmax   highest degree
/// @param[in]  bl     [lmax + 1]
/// @param[in]  n      angles, at least 1
/// @param[in]  theta  [n] radians, in [0, pi]
/// @param[out] beam   [n]
/// @errors KUGEL_EINVAL if an angle or size is out of range or a pointer is NULL
/// @cost   O(n lmax)
KUGEL_API kugel_status kugel_beam_from_window(int64_t lmax, const double *bl, int64_t n,
                                              const double *theta, double *beam);

/// HEALPix pixel window: w_l^2 is the average over all pixels of 4 pi/(2l+1) sum_m |w_lm|^2, where w_lm is
/// the mean of Y_lm over the pixel; for polarisation the same with spin-2 harmonics whose frames are parallel
/// transported to the pixel's centre.
/// @param[in]  ctx    NULL: the default context
/// @param[in]  nside  1 to 2^20, not only powers of two
/// @param[in]  lmax   highest degree, at most 4 nside
/// @param[out] wl     [lmax + 1] temperature
/// @param[out] wl_pol [lmax + 1] polarisation (0 at l = 0, 1); NULL if not wanted
/// @errors KUGEL_EINVAL if nside or lmax is out of range or wl is NULL; KUGEL_ENOMEM
/// @accuracy 1e-12 absolute; equal to the HEALPix files to 1e-13 for nside 16 to 128 and 3e-11 below; the
///           files for 256 and more are wrong by 1e-5 (compared with direct averages over all pixels)
/// @cost   O(log(nside) + lmax): some tenths of a second for any nside, by sample pixels with Gauss points; then
///         cached in memory and in the cache folder (KUGEL_CACHE)
/// @cite   Gorski2005
KUGEL_API kugel_status kugel_pixel_window(kugel_ctx *ctx, int64_t nside, int64_t lmax, double *wl,
                                          double *wl_pol);

/* ---- random fields ------------------------------------------------------------------------------------- */

/* Order of the spectra for n sets. DIAGONAL is healpy's new=True, ROW its new=False. */
typedef enum kugel_cl_order {
  KUGEL_CL_DIAGONAL = 0, /* TT, EE, BB, TE, EB, TB */
  KUGEL_CL_ROW = 1       /* TT, TE, TB, EE, EB, BB */
} kugel_cl_order;

typedef struct kugel_alm_random_opts {
  size_t size;        /* sizeof(kugel_alm_random_opts) */
  int64_t n;          /* sets, 1 to 100; 0: 1 */
  int64_t lmax, mmax; /* of the alm; mmax 0: lmax; else as an argument */
  const double *cl;   /* [n_cl, cl_lmax + 1] spectra; degrees above cl_lmax have no power */
  int64_t n_cl; /* 1 (all sets alike and independent), n (no cross spectra), n (n + 1) / 2; with n = 3 also
                   4: TT, EE, BB, TE in both orders. 0: n (n + 1) / 2 */
  int64_t cl_lmax;
  kugel_cl_order order;
  uint64_t seed;
  int zero_indefinite; /* a degree whose covariance has a negative eigenvalue: 0: the call fails; 1: its alm are 0 */
  uint64_t index;      /* number of the realisation, 0 to 2^32 - 1: those of one seed are independent */
} kugel_alm_random_opts;

/// Gaussian random alm with given spectra (healpy's synalm). a_l0 is real; for m > 0 Re and Im have half
/// the variance each. Philox4x32-10 with key = seed and counter = (l, index, m, set) generates the numbers: the
/// same seed and index give the same a_lm for every lmax, mmax and number of threads, in whatever order realisations
/// are made.
/// @param[in]  ctx       NULL: the default context
/// @param[in]  opts      see kugel_alm_random_opts
/// @param[out] alm       [n, nalm]
/// @param[out] first_bad lowest degree whose covariance is indefinite, or -1; may be NULL
/// @errors KUGEL_EINVAL if a spectrum is NaN or infinite, a size is out of range, or a covariance is
///         indefinite (the degree is named) and opts->zero_indefinite is 0; KUGEL_ENOMEM
/// @cite   SalmonEtal2011 (Philox), BoxMuller1958
KUGEL_API kugel_status kugel_alm_random(kugel_ctx *ctx, const kugel_alm_random_opts *opts, kugel_complex *alm,
                                        int64_t *first_bad);

/* ---- rotations ----------------------------------------------------------------------------------------- */

/* A rotation is its 3x3 matrix, row by row: new = M old for column vectors. */

/// Matrix of Euler angles: psi about z, then theta about the fixed y axis, then phi about the fixed z axis
/// (active); the angles of kugel_alm_rotate and of healpy's rotate_alm.
/// @param[in]  psi, theta, phi  radians, finite
/// @param[out] matrix           [3, 3]
/// @errors KUGEL_EINVAL if an angle is not finite or matrix is NULL
KUGEL_API kugel_status kugel_rotation_from_euler(double psi, double theta, double phi, double matrix[9]);

/// Euler angles of a matrix, the inverse of kugel_rotation_from_euler.
/// @param[in]  matrix           [3, 3] orthogonal to 1e-10, determinant +1
/// @param[out] psi, theta, phi  radians; 0 <= theta <= pi; where only psi + phi or psi - phi is
///                              determined, psi = 0
/// @errors KUGEL_EINVAL if matrix is not a rotation or a pointer is NULL
KUGEL_API kugel_status kugel_rotation_to_euler(const double matrix[9], double *psi, double *theta,
                                               double *phi);

/// Matrix that moves the direction (lon, lat) to the x axis and then turns by psi about it: healpy's
/// rot=(lon, lat, psi).
/// @param[in]  lon, lat, psi  radians, finite
/// @param[out] matrix         [3, 3]
/// @errors KUGEL_EINVAL if an angle is not finite or matrix is NULL
KUGEL_API kugel_status kugel_rotation_from_lonlat(double lon, double lat, double psi, double matrix[9]);

/// Matrix from one celestial coordinate system to another: Galactic 'G', ecliptic J2000 'E', equatorial
/// (ICRS/J2000) 'C', with the constants of HEALPix.
/// @param[in]  from, to  one of G, E, C (either case)
/// @param[out] matrix    [3, 3]
/// @errors KUGEL_EINVAL for another letter or matrix NULL
/// @accuracy equal to healpy to 1e-14; HEALPix composes rounded constants, so the matrices differ from the
///           IAU definitions by up to 0.03 arcsec
KUGEL_API kugel_status kugel_rotation_from_coord(char from, char to, double matrix[9]);

/// Product c = a b: first b, then a.
/// @param[in]  a, b  [3, 3]
/// @param[out] c     [3, 3]; may be a or b
/// @errors KUGEL_EINVAL if a pointer is NULL
KUGEL_API kugel_status kugel_rotation_multiply(const double a[9], const double b[9], double c[9]);

/// Inverse of a rotation, its transpose.
/// @param[in]  matrix   [3, 3]
/// @param[out] inverse  [3, 3]; may be matrix
/// @errors KUGEL_EINVAL if a pointer is NULL
KUGEL_API kugel_status kugel_rotation_invert(const double matrix[9], double inverse[9]);

/// Rotates vectors.
/// @param[in]  ctx     NULL: the default context
/// @param[in]  matrix  [3, 3]
/// @param[in]  n       number of vectors, at least 0
/// @param[in]  in      [n, 3]
/// @param[out] out     [n, 3]; may be `in`
/// @errors KUGEL_EINVAL if n is negative or a pointer is NULL
KUGEL_API kugel_status kugel_rotation_vectors(kugel_ctx *ctx, const double matrix[9], int64_t n,
                                              const double *in, double *out);

/// Rotates directions.
/// @param[in]  ctx                  NULL: the default context
/// @param[in]  matrix               [3, 3]
/// @param[in]  n                    number of directions, at least 0
/// @param[in]  theta, phi           [n] radians
/// @param[out] theta_out, phi_out   [n] radians, phi in [0, 2 pi); may be the inputs
/// @param[out] psi_out              [n] or NULL: angle by which the polarisation frame turns, as healpy's
///                                  Rotator.angle_ref
/// @errors KUGEL_EINVAL if n is negative or a pointer is NULL
/// @accuracy 1e-15 near the poles too
KUGEL_API kugel_status kugel_rotation_angles(kugel_ctx *ctx, const double matrix[9], int64_t n,
                                             const double *theta, const double *phi, double *theta_out,
                                             double *phi_out, double *psi_out);

/// Rotates the field whose coefficients are alm (healpy's rotate_alm): new field at R x = old field at x. E and B
/// rotate as T does.
/// @param[in]     ctx              NULL: the default context
/// @param[in]     n                sets, at least 1
/// @param[in]     lmax             highest degree; mmax is lmax
/// @param[in,out] alm              [n, nalm]
/// @param[in]     psi, theta, phi  as in kugel_rotation_from_euler; for a matrix use kugel_rotation_to_euler
/// @errors KUGEL_EINVAL if an angle is not finite, a size is out of range or alm is NULL; KUGEL_ENOMEM;
///         KUGEL_ECANCELED, with some degrees rotated
/// @accuracy 1e-12 of the largest coefficient for lmax up to 2048
/// @cost   (7 + 4 n) lmax^3 / 3 multiply-adds, SIMD, parallel over degrees
/// @cite   TrapaniNavaza2006 (recurrence over orders)
KUGEL_API kugel_status kugel_alm_rotate(kugel_ctx *ctx, int64_t n, int64_t lmax, kugel_complex *alm,
                                        double psi, double theta, double phi);

/* ---- HEALPix: monopole, dipole ------------------------------------------------------------------------- */

typedef struct kugel_dipole_opts {
  size_t size;       /* sizeof(kugel_dipole_opts) */
  int nest;          /* 0: RING order, 1: NESTED */
  double gal_cut;    /* radians: the fit leaves out pixels with |latitude| below it; 0: none */
  int monopole_only; /* 1: fit (and remove) the mean only */
} kugel_dipole_opts;

/// Least-squares fit of a constant and a dipole to a map; the fit leaves out UNSEEN, NaN and infinite pixels.
/// @param[in]  ctx       NULL: the default context
/// @param[in]  nside     1 to 2^29; NESTED needs a power of two
/// @param[in]  map       [12 nside^2]
/// @param[in]  opts      NULL for defaults
/// @param[out] monopole  the constant
/// @param[out] dipole    [3] amplitude along x, y, z; zeros with monopole_only; may be NULL with it
/// @errors KUGEL_EINVAL if an argument is out of range or the remaining pixels do not determine the fit;
///         KUGEL_ENOMEM
KUGEL_API kugel_status kugel_healpix_fit_dipole(kugel_ctx *ctx, int64_t nside, const double *map,
                                                const kugel_dipole_opts *opts, double *monopole,
                                                double dipole[3]);

/// Fits as kugel_healpix_fit_dipole and subtracts the result from all good pixels, those inside the cut too.
/// @param[in]     ctx       NULL: the default context
/// @param[in]     nside     1 to 2^29; NESTED needs a power of two
/// @param[in,out] map       [12 nside^2]; bad pixels stay as they are
/// @param[in]     opts      NULL for defaults
/// @param[out]    monopole  the constant removed; may be NULL
/// @param[out]    dipole    [3] the dipole removed; may be NULL
/// @errors as kugel_healpix_fit_dipole
KUGEL_API kugel_status kugel_healpix_remove_dipole(kugel_ctx *ctx, int64_t nside, double *map,
                                                   const kugel_dipole_opts *opts, double *monopole,
                                                   double dipole[3]);

/* ---- HEALPix: quadrature weights ----------------------------------------------------------------------- */

/// Ring weights: factors near 1 of the pixel area with which the mean of each Legendre polynomial of degree 1 to L
/// over the pixels is 0; of all such factors those with the least sum of (nphi w)^2. L is 3 nside, or the degree
/// that the HEALPix weight files use at that nside.
/// @param[in]  ctx     NULL: the default context
/// @param[in]  nside   1 to 16384
/// @param[out] weight  [4 nside - 1] factor of each ring, from the north
/// @errors KUGEL_EINVAL if nside is out of range or weight is NULL; KUGEL_ENOMEM; KUGEL_ECONVERGE
/// @accuracy 1e-12; equal to the HEALPix files for nside 4 to 512 to 1e-11
/// @cost   some tens of O(nside^2) steps, once: cached in memory and, from nside 64 on, in the cache folder
KUGEL_API kugel_status kugel_healpix_ring_weights(kugel_ctx *ctx, int64_t nside, double *weight);

/// Pixel weights: factors near 1 of the pixel area with which the mean of each Y_lm of degree 1 to 3 nside (4 at
/// nside 2) over the pixels is 0, so that analysis is exact for lmax up to 1.5 nside. Of all such factors these are
/// nearest to 1 in the mean square (from nside 32 on, among those that vary along a ring as cos 4 k phi, k < 24).
/// @param[in]  ctx     NULL: the default context
/// @param[in]  nside   1 to 4096
/// @param[out] weight  [12 nside^2] factor of each pixel, RING order
/// @errors KUGEL_EINVAL if nside is out of range or weight is NULL; KUGEL_ENOMEM; KUGEL_ECONVERGE;
///         KUGEL_ECANCELED
/// @accuracy means zero to 1e-12 (root of the sum of squares over all degrees and orders, relative to
///         the monopole); the HEALPix files reach 1e-8
/// @cost   up to 1000 transforms of 40 orders with lmax = 3 nside: 2 s at nside 128, 15 s at 512 (2 threads). The
///         weights are cached in memory and, from nside 16 on, in the cache folder (KUGEL_CACHE, ~/.cache/kugel):
///         later calls take 0.3 s at 512. Progress follows the distance from the solution.
KUGEL_API kugel_status kugel_healpix_pixel_weights(kugel_ctx *ctx, int64_t nside, double *weight);

#ifdef __cplusplus
}
#endif
#endif
