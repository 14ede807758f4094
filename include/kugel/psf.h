/* SPDX-License-Identifier: BSD-3-Clause */
/* Point spread functions of microscopes: computed, measured from beads, resampled, cropped and judged.
 *
 *   kugel_psf_opts o = {sizeof o, .model = KUGEL_PSF_BORN_WOLF, .na = 1.45, .wavelength = 461, .voxel = {300, 130, 130},
 *                       .index = 1.512};
 *   float *h = malloc(79 * 65 * 65 * sizeof *h);
 *   kugel_psf_compute(NULL, &o, KUGEL_ARRAY(h, KUGEL_F32, 79, 65, 65));
 *
 * Axes are z (optical axis), y, x. A PSF of n voxels has its centre at element (n - 1) / 2 of each axis: lengths are odd.
 * All lengths (wavelengths, voxels, depths) share one unit of the caller's choice, such as nanometres. Increasing z is the
 * focal plane moving deeper into the sample, away from the objective; flip the axis for stacks that go the other way.
 *
 * Models, with k = 2 pi / wavelength, t the radius in the pupil, n the index of the immersion:
 *   BORN_WOLF      h = |int_0^1 J0(k NA r t) exp(i k z sqrt(n^2 - NA^2 t^2)) t dt|^2
 *   GIBSON_LANNI   the same integral with the path difference of a source `depth` below the cover slip, in a medium of
 *                  sample_index, through a cover slip and an immersion that differ from those the objective is made for
 *   RICHARDS_WOLF  the vectorial integrals I0, I1, I2 with sqrt(cos) apodisation, over the same layers with their Fresnel
 *                  coefficients; unpolarised |I0|^2 + 2 |I1|^2 + |I2|^2, which is also that of dipoles that rotate freely
 *   GAUSSIAN       exp(-(x^2 + y^2) / (2 s_r^2) - z^2 / (2 s_z^2)); widths by `sigma`, or from NA and wavelength
 * Imaging multiplies intensities: CONFOCAL h_ex (h_em * disc of the pinhole), TWO_PHOTON h_ex^2, SHEET
 * h_em exp(-4 ln 2 z^2 / sheet^2).
 */
#ifndef KUGEL_PSF_H
#define KUGEL_PSF_H

#include <kugel/core.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum kugel_psf_model {
  KUGEL_PSF_BORN_WOLF = 0,
  KUGEL_PSF_GIBSON_LANNI = 1,
  KUGEL_PSF_RICHARDS_WOLF = 2,
  KUGEL_PSF_GAUSSIAN = 3
} kugel_psf_model;

typedef enum kugel_psf_imaging {
  KUGEL_PSF_WIDEFIELD = 0,
  KUGEL_PSF_CONFOCAL = 1,   /* needs `excitation` */
  KUGEL_PSF_TWO_PHOTON = 2, /* `excitation` alone; `wavelength` is not used */
  KUGEL_PSF_SHEET = 3       /* needs `sheet` */
} kugel_psf_imaging;

typedef enum kugel_psf_polarisation {
  KUGEL_PSF_UNPOLARISED = 0,
  KUGEL_PSF_POLARISED_X = 1, /* electric field along the last axis */
  KUGEL_PSF_POLARISED_Y = 2
} kugel_psf_polarisation;

typedef enum kugel_psf_norm {
  KUGEL_PSF_SUM = 0,  /* elements sum to 1 */
  KUGEL_PSF_PEAK = 1, /* the largest element is 1 */
  KUGEL_PSF_PLAIN = 2 /* 1 is the intensity at the focus of a perfect objective */
} kugel_psf_norm;

typedef struct kugel_psf_opts {
  size_t size; /* sizeof(kugel_psf_opts) */
  kugel_psf_model model;
  kugel_psf_imaging imaging;
  double na;         /* numerical aperture, above 0 and below `index` */
  double wavelength; /* of the emission, in vacuum */
  double excitation; /* of the excitation, in vacuum */
  double voxel[3];   /* z, y, x */
  double index;      /* of the immersion as it is; 0: 1.515 (1 for na < 0.95, 1.33 for na < 1.25) */
  double pinhole;    /* confocal: its diameter in Airy units, 1.22 wavelength / na; 0: a point */
  double sheet;      /* light sheet: its full width at half maximum along z */
  double sigma[2];   /* Gaussian: standard deviations along z and across; 0: from na and wavelength */
  kugel_psf_polarisation polarisation; /* RICHARDS_WOLF: of the excitation, or of the light in WIDEFIELD and SHEET */
  /* The layers, for GIBSON_LANNI and RICHARDS_WOLF; 0: as designed, without aberration */
  double sample_index;     /* of the medium around the source; 0: index */
  double depth;            /* of the source below the cover slip; at least 0 */
  double design_index;     /* immersion that the objective is made for; 0: index */
  double working_distance; /* thickness of that immersion; must be given where index and design_index differ */
  double glass_index, glass_design_index;         /* of the cover slip; 0: 1.515; 0: glass_index */
  double glass_thickness, glass_design_thickness; /* 0: matters only where they or the glass indices differ */
  int keep_focus;  /* 1: z is measured from the paraxial focus; 0: the sharpest plane is moved to the centre */
  double shift[3]; /* of the source from the centre of the PSF, z, y, x */
  int samples[3];  /* Gauss-Legendre points per voxel along z, y, x, over which intensity is averaged, 1 to 16;
                      0: 1 along z, where a stage makes steps, and 3 across, where a pixel collects light */
  kugel_psf_norm norm;
} kugel_psf_opts;

/// Computes a PSF.
/// @param[in]  opts  model, optics and voxel size
/// @param[out] out   host array [nz, ny, nx] of float or double, C order; odd lengths
/// @errors KUGEL_EINVAL for optics that contradict each other, with a sentence; KUGEL_ESHAPE; KUGEL_ENOMEM;
///         KUGEL_ECANCELED
/// @accuracy 1e-8 of the intensity at the focus of a perfect objective, in double precision, before rounding to float
/// @cost   O(nodes x radii x planes) for the radial profiles, about 0.1 s for 129 x 181 x 181
KUGEL_API kugel_status kugel_psf_compute(kugel_ctx *ctx, const kugel_psf_opts *opts, const kugel_array *out);

/// The lengths of a PSF that loses nothing which an image of n voxels could show: 2 n - 1 planes, where a widefield PSF
/// never ends, and the cone of light across, at most 2 n - 1.
/// @param[in]  opts   optics and voxel size
/// @param[in]  n      lengths of the image, z, y, x
/// @param[out] shape  three odd lengths
/// @errors KUGEL_EINVAL for optics that contradict each other or lengths below 1
KUGEL_API kugel_status kugel_psf_shape(const kugel_psf_opts *opts, const int64_t *n, int64_t *shape);

/* ---- judging ------------------------------------------------------------------------------------------------------ */

/* What may be wrong with a PSF, each with a sentence by kugel_psf_text. */
enum {
  KUGEL_PSF_NOT_FINITE = 1,
  KUGEL_PSF_ALL_ZERO = 2,
  KUGEL_PSF_NEGATIVE = 4,
  KUGEL_PSF_NOT_NORMALISED = 8, /* the sum is not 1 within 1e-3 */
  KUGEL_PSF_EVEN = 16,
  KUGEL_PSF_OFF_CENTRE = 32,   /* the centre of the bright part is more than half a voxel from the middle */
  KUGEL_PSF_BACKGROUND = 64,   /* the median of the faces is above 1e-3 of the peak and far from 0 beside the core */
  KUGEL_PSF_CUT_OFF = 128,     /* faces across hold more than 1 % of the peak */
  KUGEL_PSF_FEW_PLANES = 256,  /* fewer than 2 F - 1 planes for an image of F planes */
  KUGEL_PSF_FLAT = 512         /* a single plane, or the peak is a voxel wide: sampled too coarsely */
};

typedef struct kugel_psf_report {
  size_t size; /* sizeof(kugel_psf_report), set by the caller */
  unsigned flags;
  int64_t shape[3];
  int64_t not_finite, negative; /* voxels */
  double sum, least, largest;
  int64_t peak[3];   /* the largest element */
  double centre[3];  /* centroid of what is above half of the peak, in voxels from element 0 */
  double fwhm[3];    /* full widths at half maximum through the peak, in voxels; 0: wider than the PSF */
  double background; /* median of the outermost voxels */
  double edge;       /* largest mean of a face across over the peak */
} kugel_psf_report;

/// Judges a PSF.
/// @param[in]  psf     host array of 2 or 3 dimensions, any real type, any strides
/// @param[in]  image   lengths of the image it is for, as many; NULL: not known
/// @param[out] report  set report->size first
/// @errors KUGEL_EINVAL; KUGEL_ESHAPE; KUGEL_ENOMEM
KUGEL_API kugel_status kugel_psf_check(kugel_ctx *ctx, const kugel_array *psf, const int64_t *image,
                                       kugel_psf_report *report);

/// The sentence of one flag, with the numbers and the remedy.
/// @param[in]  report  from kugel_psf_check
/// @param[in]  flag    one of the flags
/// @param[out] text    the sentence, cut to size
/// @param[in]  size    of text
/// @return the length of the sentence; 0: the flag is not set
KUGEL_API int kugel_psf_text(const kugel_psf_report *report, unsigned flag, char *text, size_t size);

/* ---- preparing ---------------------------------------------------------------------------------------------------- */

typedef struct kugel_psf_prepare_opts {
  size_t size;         /* sizeof(kugel_psf_prepare_opts) */
  double voxel[3];     /* of the PSF; all 0: as those of the result */
  double to_voxel[3];  /* of the result */
  double background;   /* is taken off; NAN: the median of the outermost voxels */
  int keep_negative;   /* 0: negative values become 0 */
  int keep_centre;     /* 0: the centroid of what is above half of the peak is moved to the middle; 1: element
                          (n - 1) / 2 stays there */
  kugel_psf_norm norm;
} kugel_psf_prepare_opts;

/// Makes a PSF of a measured or foreign one: takes off background, centres to a fraction of a voxel, resamples to the
/// image's voxels (averaging where they are larger), pads or crops to the result's lengths, scales.
/// @param[in]  in    host array [nz, ny, nx] of any real type and strides, no NaN
/// @param[in]  opts  NULL: background NAN, no resampling, sum 1
/// @param[out] out   host array [mz, my, mx] of float or double, C order; odd lengths
/// @errors KUGEL_EINVAL for voxel sizes not above 0, NaN, or a PSF without light; KUGEL_ESHAPE; KUGEL_ENOMEM
/// @accuracy cubic convolution (Keys), exact for polynomials of degree 2: 1 % of the peak at 4 voxels per half width
KUGEL_API kugel_status kugel_psf_prepare(kugel_ctx *ctx, const kugel_array *in, const kugel_psf_prepare_opts *opts,
                                         const kugel_array *out);

/// The smallest box around the middle that holds a part of the energy: at most (1 - energy) / 3 is lost along each axis.
/// @param[in]  psf     host array [nz, ny, nx] of any real type and strides, odd lengths
/// @param[in]  energy  above 0, at most 1
/// @param[out] lo      first element of the box
/// @param[out] n       odd lengths of the box
/// @param[out] lost    the part of the energy outside; may be NULL
/// @errors KUGEL_EINVAL; KUGEL_ESHAPE; KUGEL_ENOMEM
KUGEL_API kugel_status kugel_psf_crop(kugel_ctx *ctx, const kugel_array *psf, double energy, int64_t *lo, int64_t *n,
                                      double *lost);

/* ---- beads -------------------------------------------------------------------------------------------------------- */

typedef struct kugel_psf_beads_opts {
  size_t size;          /* sizeof(kugel_psf_beads_opts) */
  double snr;           /* least height of a bead over the noise of the background; 0: 8 */
  double separation[3]; /* beads with a neighbour nearer than this, in voxels, are left out; 0: half of the PSF across,
                           and the whole PSF along z */
  double saturation;    /* voxels at or above it are saturated and their beads left out; 0: the type's largest value
                           (none for float) */
  int64_t least;        /* beads; fewer are an error; 0: 1 */
  double diameter;      /* of the beads, in voxels across; 0: not known; for the sentence about their size */
  kugel_psf_norm norm;
} kugel_psf_beads_opts;

typedef struct kugel_psf_beads_info {
  size_t size; /* sizeof(kugel_psf_beads_info), set by the caller */
  int64_t found, used;
  int64_t at_edge, crowded, saturated, unlike; /* why others were left out; unlike: too bright or of another shape */
  double background, noise;  /* median of the image and standard deviation about it */
  double snr;                /* median of the heights of the beads used, over the noise */
  double scatter[3];         /* how far the beads' centres lie from the voxel's, root mean square, in voxels */
  double fwhm[3];            /* of the result, in voxels */
} kugel_psf_beads_info;

/// Measures a PSF: finds beads as maxima over the background, leaves out what is at the edge, crowded, saturated or unlike
/// the others, aligns the rest to a fraction of a voxel and averages them, brightest with the largest weight. The median of the
/// image is taken off as background; noise below zero is taken off in a way that keeps the sum.
/// @param[in]  image  host array [nz, ny, nx] of any real type and strides
/// @param[in]  opts   NULL for defaults
/// @param[out] out    host array of float or double, C order, odd lengths: the box around each bead
/// @param[out] info   set info->size first; may be NULL
/// @errors KUGEL_EINVAL if too few beads are left, with the reasons; KUGEL_ESHAPE; KUGEL_ENOMEM; KUGEL_ECANCELED
/// @accuracy centres to about 0.5 / snr of the half width; the beads' own size stays in the PSF: a bead of half the
///           width widens it by 3 %
KUGEL_API kugel_status kugel_psf_from_beads(kugel_ctx *ctx, const kugel_array *image, const kugel_psf_beads_opts *opts,
                                            const kugel_array *out, kugel_psf_beads_info *info);

#ifdef __cplusplus
}
#endif
#endif
