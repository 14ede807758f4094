/* SPDX-License-Identifier: BSD-3-Clause */
/* Convolution of maps with radial kernels, as sums over pixels.
 *
 *   kugel_radial_opts opts = {sizeof opts, .grid = grid, .kernel = KUGEL_RADIAL_GAUSSIAN, .width = fwhm};
 *   kugel_radial *plan;
 *   kugel_radial_create(NULL, &opts, &plan);
 *   kugel_radial_execute(plan, KUGEL_ARRAY(in, KUGEL_F64, npix), KUGEL_ARRAY(out, KUGEL_F64, npix), NULL);
 *
 * The result is s_i = sum_j K(angle_ij) w_j f_j over the pixels j within the cut-off, where w_j is the solid angle of
 * pixel j: a quadrature of the integral of K f. The sum does not band-limit the map, so the result does not ring: if
 * neither the map nor the kernel is negative anywhere, the result is not negative either.
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
  KUGEL_RADIAL_MEXICAN_HAT = 2, /* (1 + (y/2)^2)^2 (2 - (y/R)^2) exp(-(y/R)^2 / 2), y = 2 tan(a/2), R = width */
  KUGEL_RADIAL_FUNCTION = 3, /* opts.function */
  KUGEL_RADIAL_TABLE = 4,    /* natural cubic spline through opts.angles, opts.values; 0 beyond */
  KUGEL_RADIAL_SERIES = 5,   /* sum_l (2l + 1) / 4 pi b_l P_l(cos a), b_l in opts.values */
  KUGEL_RADIAL_FISHER = 6    /* von Mises-Fisher, the Gaussian of the sphere, exp(kappa (cos a - 1)); width:
                                FWHM = 4 asin(sqrt(ln 2 / 2 kappa)), at most 2 pi; or, with width 0, the sum
                                of opts.n of them, kappa in opts.kappa, the integral of each in opts.values */
} kugel_radial_kernel;

typedef enum kugel_radial_norm {
  KUGEL_RADIAL_UNIT_INTEGRAL = 0, /* of K over the sphere within the cut-off: constants stay constant */
  KUGEL_RADIAL_UNIT_PEAK = 1,     /* K(0) = 1 */
  KUGEL_RADIAL_AS_IS = 2          /* the numbers as they are */
} kugel_radial_norm;

typedef enum kugel_radial_method {
  KUGEL_RADIAL_AUTO = 0,   /* the method that is expected to be fastest of those within the tolerance; not by harmonics
                              if the kernel has a cusp at the antipode, where its harmonics converge slowly */
  KUGEL_RADIAL_DIRECT = 1, /* the sum over pixels as it stands */
  KUGEL_RADIAL_HARMONIC = 2, /* by spherical harmonics to degree opts.lmax: equal to the sum if f or K has no
                                higher degrees */
  KUGEL_RADIAL_RINGS = 3, /* the same sum by Fourier series along rings, to the tolerance. Between rings of equal
                             pixel number the series are exact and need half as many modes. Kernels with
                             an edge have no finite series between rings of unequal pixel number; these rings are
                             summed directly */
  KUGEL_RADIAL_ARKCOS = 4 /* for comparison: series along rings as ElsnerWandelt2011 print them: they end at the
                             Nyquist frequency of each ring and sample the kernel at as many points as the longest
                             ring has; the first and the last ring are summed directly. The result is the sum over
                             pixels only if map and kernel have no frequencies beyond Nyquist's */
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
  double tolerance; /* square root of the fraction of the integral of K^2 beyond the cut-off, that is, the
                       rms error of smoothed white noise relative to its rms; 0: 1e-5. It also bounds the part of
                       the kernel's harmonics that the other methods leave out */
  kugel_radial_method method;
  int64_t lmax; /* harmonic method; 0: info.band; if opts.method demands this method, at most 2 nside on HEALPix and
                   nrings - 1 elsewhere */
  int normalise_mask; /* 1: divide by the convolution of the map of observed pixels; 0: bad pixels count as zero only */
  int spin; /* 0: scalars; else pairs of maps of this spin, -10 to 10: 2 for (Q, U), 1 for the (theta, phi) components
               of vectors. Each pair is parallel transported to the result along the great circle; direct method */
  /* An asymmetric kernel as a sum of displaced ones: the result at a pixel is the sum over k of
     part_weight[k] times the convolution about the point at part_distance[k] from the pixel, in the direction
     part_bearing[k] (from south towards east) plus the orientation of the pixel's ring. Direct method. */
  int64_t nparts;                                           /* 0: the kernel itself; at most 1000 */
  const double *part_weight, *part_distance, *part_bearing; /* [nparts], radians; copied */
  const double *orientation; /* [nrings] radians, rings in the order of kugel_grid_rings; copied; NULL: 0 */
  const double *kappa;       /* [n] of KUGEL_RADIAL_FISHER; above 0; copied */
  int normalise; /* 1: divide by what the sum makes of the constant 1, so that constants stay constant however few
                    pixels the kernel spans; bad pixels still count as zero. Where that is below 1e-6 of the
                    integral the sum stays as it is. Without parts and normalise_mask. 0: the sum as it is */
  kugel_comm *comm; /* NULL: this process alone. Else maps are in parts on its ranks, which make the plan together, on the
                       CPU; arrays are the rank's parts (kugel_radial_layout). By the direct method or rings, which have the
                       same bits for any number of ranks; automatic: the faster of the two */
} kugel_radial_opts;

typedef struct kugel_radial_info {
  size_t size;                /* sizeof(kugel_radial_info), set by the caller */
  kugel_radial_method method; /* in use */
  double radius;              /* cut-off in force, radians */
  double cut_error;           /* as opts.tolerance, for that radius */
  double table_error;         /* largest error of the kernel's polynomials, relative to its largest value */
  double integral;            /* of K over the sphere within the cut-off, after normalisation */
  double scale;               /* factor by which normalisation multiplied the kernel */
  double pairs;               /* expected pairs of pixels in a direct sum */
  int64_t band; /* degree beyond which b_l is within the tolerance; -1: none found, or not searched for */
  /* The smallest and the largest result for the constant map 1, at a sample of pixels; the integral if the method is
     harmonic. They differ much from the integral if the kernel is about as narrow as a pixel: the sum then loses or
     adds flux. */
  double constant_least, constant_most;
  int64_t blocks;  /* blocks of rings, which devices process one after another or share; 1: all rings at once */
  double products; /* multiply-adds of method RINGS besides the transforms of rings; 0: another method */
} kugel_radial_info;

/// Plans the convolution of maps of one grid with one kernel.
/// @param[in]  ctx   NULL: the default context
/// @param[in]  opts  see kugel_radial_opts; the plan keeps the grid alive
/// @param[out] out   the plan: immutable, any number of threads may execute it
/// @errors KUGEL_EINVAL for values out of range, a kernel that is not finite or cannot be normalised,
///         normalise_mask or normalise with a kernel without an integral, both of them, and grids without weights;
///         KUGEL_ENOTSUP for normalise with displaced parts; KUGEL_ENOMEM
/// @cost   milliseconds: some thousand evaluations of the kernel
/// @cite   ElsnerWandelt2011 (radial kernels on rings)
KUGEL_API kugel_status kugel_radial_create(kugel_ctx *ctx, const kugel_radial_opts *opts, kugel_radial **out);

/// Frees a plan.
/// @param[in] plan  may be NULL
KUGEL_API void kugel_radial_destroy(kugel_radial *plan);

/// The layout of a plan over ranks: rank r has a run of rings from the pole on and their mirrors, on HEALPix two runs of
/// pixels, so many that all ranks have about the same work.
/// @param[in]  plan  a plan with opts.comm
/// @param[out] out   a layout of its own, to be destroyed before the communicator
/// @errors KUGEL_EINVAL without opts.comm; KUGEL_ENOMEM
KUGEL_API kugel_status kugel_radial_layout(const kugel_radial *plan, kugel_layout **out);

/// Reports what a plan does.
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

/// Convolves maps. Bad pixels (UNSEEN, NaN, infinite) count as zero and are UNSEEN in the result. With normalise_mask,
/// pixels without an observed pixel within the cut-off are UNSEEN too; on the CPU, a map of a batch with the same bad
/// pixels as the previous map reuses its convolved mask.
/// @param[in]  plan  from kugel_radial_create
/// @param[in]  in    [..., npix], with a spin [..., 2, npix], float64 or float32; in host memory or, for the
///                   direct method, on the device of the plan's context, which then does the sums
/// @param[out] out   same shape and dtype; may be `in` itself; pixels that belong to no ring stay as they are
/// @param[in]  queue on a device with arrays in its memory: where the work is queued; NULL: returns when done. Plans in
///                   several blocks, and calls in place by methods other than the direct one, return when done, too
/// @errors KUGEL_ESHAPE; KUGEL_EINVAL if the arrays overlap in part; KUGEL_ENOMEM; KUGEL_ECANCELED
/// @accuracy direct: about 1e-15 of sum |K w f|, and info.table_error; the same for any number of threads. The angle of
///           exactly opposite pixels is good to 6e-8, which counts if radius is pi and the kernel has a slope there
/// @cost   direct: one multiplication and addition per pair of pixels. With opts.normalise the first call also
///         convolves a constant map, which the plan keeps: 8 bytes per pixel
KUGEL_API kugel_status kugel_radial_execute(const kugel_radial *plan, const kugel_array *in,
                                            const kugel_array *out, kugel_queue *queue);

typedef struct kugel_radial_stream_opts {
  size_t size; /* sizeof(kugel_radial_stream_opts) */
  /* Copy pixels [first, first + n) of map 0 or, for the second map of a pair with a spin, map 1, to or from `values`.
     Called on the calling thread, some pixels at a time. A return other than KUGEL_OK ends the stream, which returns
     the same status. */
  kugel_status (*read)(void *user, int map, int64_t first, int64_t n, void *values);
  kugel_status (*write)(void *user, int map, int64_t first, int64_t n, const void *values);
  void *user;
  kugel_dtype dtype;  /* of the values: float32 or float64; all zero: float64 */
  uint64_t memory;    /* bytes that the stream may use besides the plan's own; 0: 1e9 */
  int64_t first, end; /* only results on the rings [first, end), counted from either pole; end 0: on all rings */
} kugel_radial_stream_opts;

/// Convolves a map, or a pair with a spin, that need not fit into memory. The CPU computes one block of output rings
/// after another and reads the rings within the cut-off when it needs them, northern and southern rings together if the
/// grid is symmetric about the equator. A device holds the map, or the plan's block of rings (kugel_ctx_limit_memory),
/// in its own memory, and the host only some pixels; rings within the cut-off of several blocks are read once
/// per block. The stream never reads what it has written.
/// @param[in] plan  from kugel_radial_create; on the CPU by the direct method or by rings
/// @param[in] opts  source and destination of the pixels
/// @errors KUGEL_EINVAL; the status that a callback returns; KUGEL_ENOMEM, with the bytes needed, if opts.memory
///         cannot hold one ring and the rings within its cut-off; KUGEL_ENOTSUP for plans by harmonics on the CPU,
///         and for opts.first and opts.end on a device or over ranks; KUGEL_ECANCELED. Over ranks each rank streams its own
///         rings, reads what they need and writes them, without a word to the others: agree (kugel_comm_agree) afterwards
/// @accuracy the numbers of kugel_radial_execute
/// @cost   of kugel_radial_execute; on the CPU every pixel is read once. With opts.normalise each call convolves a
///         constant map, too, block by block
KUGEL_API kugel_status kugel_radial_stream(const kugel_radial *plan, const kugel_radial_stream_opts *opts);

/// The transpose of kugel_radial_execute without normalise_mask: s_j = w_j sum_i K(angle_ij) f_i, or, with
/// opts.normalise, of f_i over what the sum makes of the constant 1 at pixel i.
/// @param[in]  plan  from kugel_radial_create
/// @param[in]  in    [..., npix] float64 or float32
/// @param[out] out   same shape and dtype; may be `in` itself
/// @param[in]  queue as for kugel_radial_execute
/// @errors as kugel_radial_execute; KUGEL_ENOTSUP with normalise_mask
/// @accuracy <A f, g> = <f, A^T g> to 1e-14 relative by the direct method and harmonics; by rings to the tolerance
///           (4e-8 at 1e-5, 1e-15 at 1e-12: use the latter in checks of gradients)
KUGEL_API kugel_status kugel_radial_adjoint(const kugel_radial *plan, const kugel_array *in,
                                            const kugel_array *out, kugel_queue *queue);

/// Parts of an elliptical Gaussian beam: circular ones of FWHM `minor` along the major axis, by Gauss-Hermite
/// quadrature. The weights add up to 1.
/// @param[in]  major     FWHM along bearing 0, radians, at least minor
/// @param[in]  minor     FWHM across it, radians: opts.width of the plan
/// @param[in]  n         parts, 1 to 64
/// @param[out] weight    [n]
/// @param[out] distance  [n] radians
/// @param[out] bearing   [n] 0 or pi
/// @errors KUGEL_EINVAL for values out of range
/// @accuracy for major = 1.5 minor each further part divides the error by about 2.5, and 9 parts leave an error of 3e-4
///         of the peak; longer ellipses converge more slowly; the sphere's curvature adds about major^2
KUGEL_API kugel_status kugel_radial_ellipse(double major, double minor, int64_t n, double *weight,
                                            double *distance, double *bearing);

/* Many kernels with one map, such as the scales of wavelets: kernels of the harmonic method share one analysis of the
 * map, and the synthesis of each kernel ends at the kernel's own degree. */
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
/// @param[out] out   [..., n, npix] of the same dtype, no overlap with `in`; on the same device as `in`, or in host
///                   memory like `in`
/// @param[in]  queue as for kugel_radial_execute
/// @errors as kugel_radial_execute
/// @cost   for h kernels by harmonics: one analysis and h syntheses instead of h of each
KUGEL_API kugel_status kugel_radial_bank_execute(const kugel_radial_bank *bank, const kugel_array *in,
                                                 const kugel_array *out, kugel_queue *queue);

#ifdef __cplusplus
}
#endif
#endif
