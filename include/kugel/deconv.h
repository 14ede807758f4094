/* SPDX-License-Identifier: BSD-3-Clause */
/* Deconvolution of images and volumes: what was there before a known point spread function and noise.
 *
 *   int64_t n[3] = {40, 201, 101}, k[3] = {79, 65, 65};
 *   kugel_deconv_opts o = {sizeof o, .iterations = 25, .precision = KUGEL_PRECISION_F32};
 *   kugel_deconv *plan;
 *   kugel_deconv_create(NULL, 3, n, k, KUGEL_ARRAY(psf, KUGEL_F32, 79, 65, 65), &o, &plan);
 *   kugel_deconv_execute(plan, KUGEL_ARRAY(image, KUGEL_U16, 40, 201, 101), NULL, NULL,
 *                        KUGEL_ARRAY(out, KUGEL_F32, 40, 201, 101), NULL);
 *
 * The model is y = H x + b + noise: image y, object x, H the convolution with the PSF scaled to sum 1 (so that flux is
 * kept), b the background. M is 1 where a voxel is known and 0 where it is missing; products and quotients of arrays are
 * element by element, s = H' M 1, r = H' M (y / (H x + b)). Each step of
 *   RL           x <- x r / s                                        (Richardson and Lucy; never raises the I-divergence)
 *   BIGGS        RL from x + a (x - x'), a = <g, g'> / <g', g'> of the last two steps g, 0 <= a < 1   (Biggs and Andrews)
 *   SHB          RL from max(x + a (x - x'), 0), a = (i - 1) / (i + 2)                          (scaled heavy ball)
 *   TV           RL, then / (1 - lambda div(grad x / |grad x|))                                 (Dey and others)
 *   LANDWEBER    x <- max(x + step H' M (y - b - H x), 0)
 *   ISRA         x <- x H' M y / H' M (H x + b)
 *   WIENER       conjugate gradients on (H' M H + lambda) (x - x0) = H' M (y - b - H x0), x0 the mean; with PERIODIC edges
 *                this converges to the Wiener filter
 *   TIKHONOV     the same with lambda times the negative Laplacian
 * docs/deconvolution.md says which to take.
 *
 * Edges, UNKNOWN by default: the object is larger than the image by the PSF, and light from outside the frame is
 * estimated too, so that no ringing starts at the edges (Bertero and Boccacci, Astron. Astrophys. 437 (2005) 369).
 */
#ifndef KUGEL_DECONV_H
#define KUGEL_DECONV_H

#include <kugel/core.h>
#include <kugel/volume.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum kugel_deconv_method {
  KUGEL_DECONV_RL = 0,
  KUGEL_DECONV_BIGGS = 1,
  KUGEL_DECONV_SHB = 2,
  KUGEL_DECONV_TV = 3,
  KUGEL_DECONV_WIENER = 4,
  KUGEL_DECONV_TIKHONOV = 5,
  KUGEL_DECONV_LANDWEBER = 6,
  KUGEL_DECONV_ISRA = 7
} kugel_deconv_method;

/* What is known of the object beyond the image. */
typedef enum kugel_deconv_edges {
  KUGEL_DECONV_UNKNOWN = 0, /* nothing: it is estimated there */
  KUGEL_DECONV_ZERO = 1,    /* and so on as kugel_boundary */
  KUGEL_DECONV_REPLICATE = 2,
  KUGEL_DECONV_REFLECT = 3,
  KUGEL_DECONV_PERIODIC = 4
} kugel_deconv_edges;

/* Why the iteration ended. */
typedef enum kugel_deconv_stop {
  KUGEL_DECONV_COUNT = 0,
  KUGEL_DECONV_TOLERANCE = 1,
  KUGEL_DECONV_DISCREPANCY = 2,
  KUGEL_DECONV_CALLBACK = 3
} kugel_deconv_stop;

/* After each step: its number from 1, and the I-divergence of the object before it (LANDWEBER, ISRA: half the sum of
 * squared residuals; WIENER, TIKHONOV: that plus the term of lambda). Not 0 ends the iteration; the object so far is the
 * result. */
typedef int (*kugel_deconv_fn)(int64_t iteration, double divergence, void *user);

typedef struct kugel_deconv_opts {
  size_t size; /* sizeof(kugel_deconv_opts) */
  kugel_deconv_method method;
  int64_t iterations; /* at most; 0: 20 */
  kugel_deconv_edges edges;
  kugel_precision precision; /* of the arithmetic: KUGEL_PRECISION_F64 (0) or _F32 */
  double background;         /* b: what a voxel without light shows; at least 0 */
  double offset;             /* added to image and background alike: the variance of a camera's noise, in counts */
  double saturation;         /* voxels at or above it are missing; 0: none. NaN and infinite voxels always are */
  double lambda;             /* TV: 0 means 0.002; WIENER, TIKHONOV: 0 means 0.001; below 1 for TV */
  double step;               /* LANDWEBER: above 0, below 2; 0: 1.9 */
  double tolerance;          /* ends when the divergence changes by less than this part of it; 0: never */
  double discrepancy;        /* ends when twice the I-divergence per known voxel is at most this: 1 for counts of photons;
                                0: never */
  const int64_t *centre;     /* ndim elements of the PSF; NULL: (k - 1) / 2, rounded down */
  const kugel_array *back;   /* another PSF for r instead of H', lengths k, such as a Wiener-Butterworth back-projector: its
                                values are scaled to sum 1. RL, BIGGS, SHB, TV; NULL: H' */
  uint64_t memory;           /* bytes that the plan may take: larger images go in tiles, which do not depend on the number of
                                threads: a 32nd of it is for their scratch; 0: no limit, exact; on devices of their memory, 0:
                                what is free */
  int64_t halo;              /* of tiles, voxels on each side along each axis cut; 0: the length of the PSF less 1 */
  kugel_deconv_fn callback;
  void *user;
  int64_t depths;            /* PSFs that vary with depth: their number, and psf is [depths, k[0], k[1], k[2]]; 0: one. Light
                                from each plane of the object is blurred by the PSF interpolated there */
  const double *depth;       /* [depths] the image's planes that they belong to, counted from 0, rising; beyond the first
                                and the last plane the PSF is the first and the last one */
  int exact;                 /* 1: never in tiles, which see no further than their halo: the steps are those of the whole
                                image. Its arrays are in memory; where `memory` leaves too little for the padded volume
                                beside them, convolutions go in parts or by way of a file (KUGEL_VOLUME_PENCIL). On a device
                                whose memory is too small for all of it the arrays are in host memory, and convolutions
                                alone are on the device, by the engine that is predicted to be fastest */
  const char *scratch;       /* folder of that file; NULL: $TMPDIR, or /var/tmp */
  /* NULL: this process alone. Else the ranks that share every image (comm.h): each has planes of image, mask, start and
   * result along the first of three axes (kugel_deconv_layout), in host memory, and iterates on these. Calls are collective; of the
   * callback, any rank's answer ends the iteration. memory is 0. Where contexts have a device each, RL, BIGGS, SHB and TV keep object
   * and image there; of other methods convolutions alone are there. Must outlive the plan. */
  kugel_comm *comm;
  /* With comm, or of rank 0 in a context that leads: how ranks share a convolution. KUGEL_VOLUME_GLOBAL: the whole transform, on CPUs
   * with the bits of a plan without ranks;
   * KUGEL_VOLUME_TILES: tiles, whose halos of planes are exchanged at each step (edges UNKNOWN, ZERO or PERIODIC), with results
   * that differ from those of the whole by rounding. KUGEL_VOLUME_AUTO (0): tiles where kugel_volume_opts.comm says so. The bits of each
   * are the same for any number of ranks, and KUGEL_VOLUME_TILES without any is what one of them does. On devices either has bits of its
   * own, PSFs by depth take GLOBAL, and in a context that leads ranks share where an engine is asked for. */
  kugel_volume_engine engine;
} kugel_deconv_opts;

/* What a plan needs. */
typedef struct kugel_deconv_cost {
  size_t size; /* sizeof(kugel_deconv_cost), set by the caller */
  int64_t object[3];    /* lengths that are estimated; of a tile */
  int64_t transform[3]; /* lengths of the transforms */
  int64_t tiles;        /* 1: exact */
  int64_t tile[3];      /* results of a tile */
  uint64_t bytes;       /* host memory of plan and execution */
  double seconds;       /* predicted for all iterations of one image */
  uint64_t device_bytes; /* device memory of plan and execution; 0 on the CPU */
  uint64_t kernel_bytes; /* that the kernels of one step of a tile read and write in device memory; 0 on the CPU */
  int engine;            /* of the convolutions: kugel_volume_engine */
  uint64_t scratch_bytes; /* of files, with opts.exact */
  int host;               /* 1: on a device, of which only convolutions are there: arrays are in host memory, and its threads do the rest */
} kugel_deconv_cost;

typedef struct kugel_deconv_info {
  size_t size;        /* sizeof(kugel_deconv_info), set by the caller */
  int64_t iterations; /* steps made; of tiles the most */
  kugel_deconv_stop stop;
  double first, last;       /* divergence before the first and the last step */
  int64_t missing;          /* voxels: NaN, saturated, masked */
  int64_t clipped;          /* integer results that saturated */
  double flux_in, flux_out; /* sums of the image over known voxels less background, and of the result there */
} kugel_deconv_info;

typedef struct kugel_deconv kugel_deconv;

/// Makes a plan, which holds the spectrum of the PSF; any number of images of the same lengths may follow.
/// With opts.comm every rank makes it, with the whole PSF.
/// @param[in]  ctx   NULL: the default context, on the CPU; of a device: object, image and spectra of RL, BIGGS, SHB and TV
///                   stay in its memory during the iteration, in tiles if opts.memory, or the context's limit, or
///                   the memory that is free asks for it (the first device of several is used); with opts.exact instead of
///                   tiles, and always for other methods, arrays are in host memory and convolutions on all devices
/// @param[in]  ndim  1 to 3
/// @param[in]  n     lengths of images
/// @param[in]  k     lengths of the PSF, also larger than n
/// @param[in]  psf   host array [k...] of any real type; negative values only for WIENER and TIKHONOV
/// @param[in]  opts  NULL for defaults; centre, back and depth are copied
/// @param[out] out   the plan
/// @errors KUGEL_EINVAL for options out of range or a PSF that is none, with a sentence; KUGEL_ESHAPE; KUGEL_ENOMEM;
///         KUGEL_EDEVICE
/// @cost   one transform
KUGEL_API kugel_status kugel_deconv_create(kugel_ctx *ctx, int ndim, const int64_t *n, const int64_t *k,
                                           const kugel_array *psf, const kugel_deconv_opts *opts, kugel_deconv **out);

/// Frees a plan.
/// @param[in] plan  may be NULL
KUGEL_API void kugel_deconv_destroy(kugel_deconv *plan);

/// Which voxels of images, masks, starts and results each rank has, of a plan with opts.comm: runs of whole planes.
/// @param[in]  plan  a plan with opts.comm
/// @param[out] out   a layout of its own, to be destroyed before the communicator
/// @errors KUGEL_EINVAL without opts.comm; KUGEL_ENOMEM
KUGEL_API kugel_status kugel_deconv_layout(const kugel_deconv *plan, kugel_layout **out);

/// What a plan would need, without making it and without a PSF.
/// @param[in]  ndim  1 to 3
/// @param[in]  n     lengths of images
/// @param[in]  k     lengths of the PSF
/// @param[in]  opts  NULL for defaults
/// @param[out] cost  set cost->size first
/// @errors KUGEL_EINVAL; KUGEL_ENOMEM where tiles of the PSF's size exceed opts->memory
/// @cost   microseconds
KUGEL_API kugel_status kugel_deconv_estimate(kugel_ctx *ctx, int ndim, const int64_t *n, const int64_t *k,
                                             const kugel_deconv_opts *opts, kugel_deconv_cost *cost);

/// Deconvolves one image.
/// @param[in]  plan   from kugel_deconv_create
/// With opts.comm arrays have the rank's planes for n[0], which may be none.
/// @param[in]  image  host array [n...] of uint8, uint16, int16, int32, float16, float32 or float64, any strides
/// @param[in]  mask   host array [n...] of the same types, any strides: 0 where a voxel is missing; NULL: none is
/// @param[in]  start  host array [n...] of an estimate to begin with, at least 0; NULL: the mean of the image everywhere
/// @param[out] out    host array [n...] of the same types; integers are rounded and saturate; may be `image`
/// @param[out] info   set info->size first; may be NULL
/// @errors KUGEL_EINVAL for an image without a known voxel; KUGEL_ESHAPE; KUGEL_ENOMEM; KUGEL_ECANCELED by the progress
///         callback: out is not written
/// @accuracy the same result for any number of threads; devices differ from the CPU by 1e-12 (F64) and 3e-6 (F32) of the
///           largest voxel after 5 steps; F32 differs from F64 by about 1e-5 of the largest voxel after 20
///           steps; tiles differ from the whole by light that came further than the halo
/// @cost   two convolutions per step, with PSFs by depth lines along axis 0 once for each; object and image once each in the precision, three times for BIGGS
KUGEL_API kugel_status kugel_deconv_execute(const kugel_deconv *plan, const kugel_array *image, const kugel_array *mask,
                                            const kugel_array *start, const kugel_array *out, kugel_deconv_info *info);

#ifdef __cplusplus
}
#endif
#endif
