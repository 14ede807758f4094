/* SPDX-License-Identifier: BSD-3-Clause */
/* Convolution of maps with radial kernels, as sums over pixels.
 *
 *   kugel_radial_opts opts = {sizeof opts, .grid = grid, .kernel = KUGEL_RADIAL_GAUSSIAN, .width = fwhm};
 *   kugel_radial *plan;
 *   kugel_radial_create(NULL, &opts, &plan);
 *   kugel_radial_execute(plan, KUGEL_ARRAY(in, KUGEL_F64, npix), KUGEL_ARRAY(out, KUGEL_F64, npix));
 *
 * The result is s_i = sum_j K(angle_ij) w_j f_j over the pixels j within the cut-off, w_j the solid angle of
 * pixel j: the integral of K f as the pixels see it. Nothing is band-limited, so nothing rings: the result of
 * a map and a kernel that are nowhere negative is nowhere negative.
 */
#ifndef KUGEL_RADIAL_H
#define KUGEL_RADIAL_H

#include <kugel/core.h>
#include <kugel/sphere.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum kugel_radial_kernel {
  KUGEL_RADIAL_GAUSSIAN = 0, /* exp(-a^2 / 2 sigma^2); width: FWHM = sigma sqrt(8 ln 2) */
  KUGEL_RADIAL_TOP_HAT = 1,  /* 1 to angle `width` */
  KUGEL_RADIAL_MEXICAN_HAT =
      2,                     /* (1 + (y/2)^2)^2 (2 - (y/R)^2) exp(-(y/R)^2 / 2), y = 2 tan(a/2), R = width */
  KUGEL_RADIAL_FUNCTION = 3, /* opts.function */
  KUGEL_RADIAL_TABLE = 4,    /* natural cubic spline through opts.angles, opts.values; 0 beyond */
  KUGEL_RADIAL_SERIES = 5,   /* sum_l (2l + 1) / 4 pi b_l P_l(cos a), b_l in opts.values */
  KUGEL_RADIAL_FISHER = 6    /* von Mises-Fisher, the Gaussian of the sphere, exp(kappa (cos a - 1)); width:
                                FWHM = 4 asin(sqrt(ln 2 / 2 kappa)), at most 2 pi; or, with width 0, the sum
                                of opts.n of them, kappa in opts.kappa, the integral of each in opts.values */
} kugel_radial_kernel;

typedef enum kugel_radial_norm {
  KUGEL_RADIAL_UNIT_INTEGRAL = 0, /* of K over the sphere within the cut-off, which keeps constants */
  KUGEL_RADIAL_UNIT_PEAK = 1,     /* K(0) = 1 */
  KUGEL_RADIAL_AS_IS = 2          /* the numbers as they are */
} kugel_radial_norm;

typedef enum kugel_radial_method {
  KUGEL_RADIAL_AUTO = 0,   /* whichever is expected to be the fastest that is within the tolerance */
  KUGEL_RADIAL_DIRECT = 1, /* the sum over pixels as it stands */
  KUGEL_RADIAL_HARMONIC =
      2, /* to degree opts.lmax by spherical harmonics: equal where f or K has no higher ones */
  KUGEL_RADIAL_RINGS = 3, /* the same sum by Fourier series along rings, to the tolerance; exact among rings
                             of as many pixels where they need half as many modes. Rings that a kernel with an
                             edge leaves no series are summed directly */
  KUGEL_RADIAL_ARKCOS = 4 /* for comparison: series along rings as ElsnerWandelt2011 print them, which end at
                             the Nyquist frequency of each ring and take the kernel at as many points as the
                             longest ring has; the first and the last ring are summed directly. Not the sum
                             over pixels unless map and kernel have no frequencies beyond */
} kugel_radial_method;

typedef struct kugel_radial kugel_radial;

typedef struct kugel_radial_opts {
  size_t size; /* sizeof(kugel_radial_opts) */
  const kugel_grid *grid;
  kugel_radial_kernel kernel;
  double width;                                 /* radians, see kugel_radial_kernel */
  double (*function)(double angle, void *user); /* called at create, on the calling thread */
  void *user;
  int64_t n;            /* entries of the table (at least 2), the series or the sum (at least 1); copied */
  const double *angles; /* radians, from 0 and rising, at most pi */
  const double *values;
  kugel_radial_norm norm;
  double radius;    /* cut-off in radians; 0: by tolerance, and none for a series by the harmonic method */
  double tolerance; /* the root of the part of the integral of K^2 that the cut-off leaves out, which is the
                       rms error of smoothed white noise relative to its rms; 0: 1e-5. Also what the other
                       methods may leave out of the kernel's harmonics */
  kugel_radial_method method;
  int64_t lmax; /* harmonic method; 0: info.band, forced at most 2 nside on HEALPix, nrings - 1 elsewhere */
  int normalise_mask; /* 1: divide by the convolution of the map of observed pixels; 0: they count as zero */
  int spin; /* 0: scalars; else pairs of maps of this spin, 2: (Q, U), 1: (theta, phi) of vectors, each
               carried to the result along its great circle; -10 to 10, by the direct method */
  /* An asymmetric kernel as a sum of displaced ones: the result at a pixel is the sum over k of
     part_weight[k] times the convolution about the point at part_distance[k] from the pixel, in the direction
     part_bearing[k] (from south towards east) plus the orientation of the pixel's ring. By the direct
     method. */
  int64_t nparts;                                           /* 0: the kernel itself; at most 1000 */
  const double *part_weight, *part_distance, *part_bearing; /* [nparts], radians; copied */
  const double *orientation; /* [nrings] radians, rings in the order of kugel_grid_rings; copied; NULL: 0 */
  const double *kappa;       /* [n] of KUGEL_RADIAL_FISHER; above 0; copied */
  int64_t max_memory; /* bytes that a plan may hold of a device; what does not fit goes by blocks of rings,
                         and neither by harmonics. 0: as kugel_sht_limit_memory says */
} kugel_radial_opts;

typedef struct kugel_radial_info {
  size_t size;                /* sizeof(kugel_radial_info), set by the caller */
  kugel_radial_method method; /* in use */
  double radius;              /* cut-off in force, radians */
  double cut_error;           /* as opts.tolerance, for that radius */
  double table_error;         /* largest error of the kernel's polynomials, relative to its largest value */
  double integral;            /* of K over the sphere within the cut-off, after normalisation */
  double scale;               /* what normalisation multiplied the kernel by */
  double pairs;               /* expected pairs of pixels in a direct sum */
  int64_t band; /* degree beyond which b_l is within the tolerance; -1: none in sight, or not sought */
  /* What sums over pixels make of the constant 1, least and most, at a sample of pixels; the integral if the
     method is harmonic. They are far from the integral where the kernel is about as narrow as a pixel: flux
     is lost or made. */
  double constant_least, constant_most;
  int64_t blocks;  /* of rings that devices take one at a time or share; 1: all at once */
  double products; /* multiply-adds by rings besides their transforms; 0: another method */
} kugel_radial_info;

/// Plans the convolution of maps of one grid with one kernel.
/// @param[in]  ctx   NULL: the default context
/// @param[in]  opts  see kugel_radial_opts; the grid is kept alive by the plan
/// @param[out] out   the plan: immutable, any number of threads may execute it
/// @errors KUGEL_EINVAL for values out of range, a kernel that is not finite or cannot be normalised, and
///         grids without weights; KUGEL_ENOMEM
/// @cost   milliseconds: some thousand evaluations of the kernel
/// @cite   ElsnerWandelt2011 (radial kernels on rings)
KUGEL_API kugel_status kugel_radial_create(kugel_ctx *ctx, const kugel_radial_opts *opts, kugel_radial **out);

/// Frees a plan.
/// @param[in] plan  may be NULL
KUGEL_API void kugel_radial_destroy(kugel_radial *plan);

/// What a plan is going to do.
/// @param[in]     plan  from kugel_radial_create
/// @param[in,out] info  size set by the caller, the rest by the call
/// @errors KUGEL_EINVAL if an argument is NULL or the size is not known
KUGEL_API kugel_status kugel_radial_get_info(const kugel_radial *plan, kugel_radial_info *info);

/// The kernel as normalised and cut off.
/// @param[in]  plan    from kugel_radial_create
/// @param[in]  n       number of angles
/// @param[in]  angles  [n] radians, in [0, pi]
/// @param[out] values  [n]
/// @errors KUGEL_EINVAL for an angle out of range
KUGEL_API kugel_status kugel_radial_evaluate(const kugel_radial *plan, int64_t n, const double *angles,
                                             double *values);

/// The Legendre coefficients b_l = 2 pi int K(a) P_l(cos a) sin a da of the kernel as normalised and cut off.
/// @param[in]  plan  from kugel_radial_create
/// @param[in]  lmax  at least 0
/// @param[out] b     [lmax + 1]
/// @errors KUGEL_EINVAL for a bad argument; KUGEL_ENOMEM
KUGEL_API kugel_status kugel_radial_coefficients(const kugel_radial *plan, int64_t lmax, double *b);

/// Convolves maps. Bad pixels (UNSEEN, NaN, infinite) count as zero and are UNSEEN in the result. With
/// normalise_mask, what no observed pixel reaches is UNSEEN too; maps of a batch that have the bad pixels of
/// the map before share its convolved mask, on the CPU.
/// @param[in]  plan  from kugel_radial_create
/// @param[in]  in    [..., npix], with a spin [..., 2, npix], float64 or float32; in host memory or, for the
///                   direct method, on the device of the plan's context, which then does the sums
/// @param[out] out   same shape and dtype; may be `in` itself; pixels of no ring are left alone
/// @errors KUGEL_ESHAPE; KUGEL_EINVAL if the arrays overlap in part; KUGEL_ENOMEM; KUGEL_ECANCELED
/// @accuracy direct: about 1e-15 of sum |K w f|, and info.table_error; the same for any number of threads
/// @cost   direct: a multiplication and addition a pair of pixels
KUGEL_API kugel_status kugel_radial_execute(const kugel_radial *plan, const kugel_array *in,
                                            const kugel_array *out);

typedef struct kugel_radial_stream_opts {
  size_t size; /* sizeof(kugel_radial_stream_opts) */
  /* Pixels [first, first + n) of a map, the second of a pair with a spin having map 1, to or from `values`.
     Called on the calling thread, some pixels at a time; anything but KUGEL_OK ends the stream and is
     returned. */
  kugel_status (*read)(void *user, int map, int64_t first, int64_t n, void *values);
  kugel_status (*write)(void *user, int map, int64_t first, int64_t n, const void *values);
  void *user;
  kugel_dtype dtype;  /* of the values: float32 or float64; all zero: float64 */
  uint64_t memory;    /* bytes that may be used besides the plan's own; 0: 1e9 */
  int64_t first, end; /* results on the rings [first, end), counted from either pole, only; end 0: on all */
} kugel_radial_stream_opts;

/// Convolves a map, or a pair with a spin, that need not fit into memory. On the CPU blocks of rings are made
/// of the rings within the cut-off, which are read as they are needed, north and south together where the
/// grid is its own mirror. On a device the map, or the plan's block of rings (opts.max_memory of the plan),
/// is in the device's memory and only some pixels in the host's; rings in several blocks' reach are read as
/// often. What is written is not read again.
/// @param[in] plan  from kugel_radial_create; on the CPU by the direct method or by rings
/// @param[in] opts  where pixels come from and go to
/// @errors KUGEL_EINVAL, what a callback returns; KUGEL_ENOMEM, with what is needed, if opts.memory is too
///         little for a ring and those within the cut-off; KUGEL_ENOTSUP for plans by harmonics on the CPU,
///         and some rings only on a device; KUGEL_ECANCELED
/// @accuracy the numbers of kugel_radial_execute
/// @cost   of kugel_radial_execute; on the CPU every pixel is read once
KUGEL_API kugel_status kugel_radial_stream(const kugel_radial *plan, const kugel_radial_stream_opts *opts);

/// The transpose of kugel_radial_execute without normalise_mask: s_j = w_j sum_i K(angle_ij) f_i.
/// @param[in]  plan  from kugel_radial_create
/// @param[in]  in    [..., npix] float64 or float32
/// @param[out] out   same shape and dtype; may be `in` itself
/// @errors as kugel_radial_execute; KUGEL_ENOTSUP with normalise_mask
/// @accuracy <A f, g> = <f, A^T g> to 1e-14 relative
KUGEL_API kugel_status kugel_radial_adjoint(const kugel_radial *plan, const kugel_array *in,
                                            const kugel_array *out);

/// Parts of an elliptical Gaussian beam: circular ones of FWHM `minor` along the major axis, by Gauss-Hermite
/// quadrature. The weights add up to 1.
/// @param[in]  major     FWHM along bearing 0, radians, at least minor
/// @param[in]  minor     FWHM across it, radians: opts.width of the plan
/// @param[in]  n         parts, 1 to 64
/// @param[out] weight    [n]
/// @param[out] distance  [n] radians
/// @param[out] bearing   [n] 0 or pi
/// @errors KUGEL_EINVAL for values out of range
/// @accuracy a part more divides the error by about 2.5 for major = 1.5 minor, where 9 parts leave 3e-4 of
///         the peak, and by less for longer ellipses; the sphere's curvature adds about major^2
KUGEL_API kugel_status kugel_radial_ellipse(double major, double minor, int64_t n, double *weight,
                                            double *distance, double *bearing);

/* Many kernels with one map, such as the scales of wavelets: kernels that go by harmonics share one analysis
 * of the map, and each synthesis ends at the kernel's own degree. */
typedef struct kugel_radial_bank kugel_radial_bank;

/// Plans convolutions of a map with n kernels.
/// @param[in]  ctx   NULL: the default context
/// @param[in]  n     1 to 4096
/// @param[in]  opts  [n] as for kugel_radial_create, all of one grid and without spin
/// @param[out] out   the plan: immutable, any number of threads may execute it
/// @errors as kugel_radial_create; KUGEL_EINVAL for several grids
KUGEL_API kugel_status kugel_radial_bank_create(kugel_ctx *ctx, int n, const kugel_radial_opts *const *opts,
                                                kugel_radial_bank **out);

/// Frees a plan.
/// @param[in] bank  may be NULL
KUGEL_API void kugel_radial_bank_destroy(kugel_radial_bank *bank);

/// The plan of one kernel, which lives as long as the bank.
/// @param[in] bank  from kugel_radial_bank_create
/// @param[in] i     0 <= i < n
/// @return NULL if an argument is out of range
KUGEL_API const kugel_radial *kugel_radial_bank_plan(const kugel_radial_bank *bank, int i);

/// Convolves maps with all kernels.
/// @param[in]  bank  from kugel_radial_bank_create
/// @param[in]  in    [..., npix] float64 or float32, as for kugel_radial_execute
/// @param[out] out   [..., n, npix] of the same dtype, apart from `in`; on the same device or in host memory
/// too
/// @errors as kugel_radial_execute
/// @cost   of h kernels by harmonics: an analysis and h syntheses, in place of h of both
KUGEL_API kugel_status kugel_radial_bank_execute(const kugel_radial_bank *bank, const kugel_array *in,
                                                 const kugel_array *out);

#ifdef __cplusplus
}
#endif
#endif
