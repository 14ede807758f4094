/* SPDX-License-Identifier: BSD-3-Clause */
/* Radial profiles of point spread functions, of which kugel_psf_compute makes volumes. */
#ifndef KUGEL__PSF_PSF_H
#define KUGEL__PSF_PSF_H

#include <kugel/psf.h>
#include "core/select.h"
#include "core/base.h"

enum {
  KUGEL__PSF_TAPS = 12,   // of the interpolation along the radius
  KUGEL__PSF_SAMPLES = 16 // of a voxel along an axis, at most
};

/* What one wavelength passes. All indices and thicknesses are set. */
typedef struct kugel__psf_optics {
  kugel_psf_model model;
  bool polarised;
  double na, wavelength;
  double ni, ni0, ti0;     // immersion, as it is and as designed; its designed thickness
  double ng, ng0, tg, tg0; // cover slip
  double ns, depth;        // medium of the source
  double sigma_z, sigma_r; // GAUSSIAN
} kugel__psf_optics;

/* The caller's options, checked, with what is 0 set. */
kugel_status kugel__psf_take(const kugel_psf_opts *opts, kugel_psf_opts *o);
bool kugel__psf_has_optics(const kugel_psf_opts *o); /* not so a Gaussian of given widths */
kugel__psf_optics kugel__psf_optics_of(const kugel_psf_opts *o, bool excitation, bool polarised);

/* Intensities at radii i * step, i < radii, and at `planes` values of z: element [i][plane]. 1 is the intensity at the
 * focus of a perfect objective. */
typedef struct kugel__psf_profile {
  int64_t radii, planes;
  double step;
  double *even; // averaged over the azimuth
  double *cos2; // times the cosine of twice the azimuth from the polarisation; NULL: not polarised
} kugel__psf_profile;

/* Fills the profile, whose radii, planes and step are set. Free it whatever is returned. */
kugel_status kugel__psf_profile_make(kugel_ctx *ctx, const kugel__psf_optics *o, const double *z,
                                     kugel__psf_profile *p);
void kugel__psf_profile_free(kugel_ctx *ctx, kugel__psf_profile *p);

/* Intensities on the axis at n values of z. */
kugel_status kugel__psf_on_axis(kugel_ctx *ctx, const kugel__psf_optics *o, int64_t n, const double *z,
                                double *intensity);

/* Where rays of the pupil's zones meet the axis, from the paraxial focus: the range, and the distance over which the
 * intensity on the axis changes. */
void kugel__psf_foci(const kugel__psf_optics *o, double *lo, double *hi, double *scale);

/* Averages the profile over a disc of this radius in the object, in place; radii beyond what the disc needs are lost:
 * `radii` becomes smaller. */
kugel_status kugel__psf_pinhole(kugel_ctx *ctx, double radius, kugel__psf_profile *p);

/* The first element and the weights by which a function that is even in the radius is interpolated at r: element
 * |first + i| counts. */
int64_t kugel__psf_taps(double r, double step, double *weights);

/* ---- arrays ---- */

/* A host array of any real type and strides as doubles in C order, [n0, n1, n2], with leading ones where it has fewer
 * dimensions; *out is to be freed by kugel__free. */
kugel_status kugel__psf_load(kugel_ctx *ctx, const kugel_array *a, const char *name, int64_t n[3],
                             double **out);

/* Checks a result: host, float or double, C order, three odd lengths. */
kugel_status kugel__psf_check_out(const kugel_array *out, int64_t n[3]);

/* Scales n[0] n[1] n[2] values as `norm` says and writes them. */
kugel_status kugel__psf_store(const double *h, const int64_t n[3], kugel_psf_norm norm,
                              const kugel_array *out);

/* Distance between the points at half of h[peak] along a line, by linear interpolation, in elements; 0: not reached. */
double kugel__psf_fwhm(const double *h, int64_t n, int64_t stride, int64_t peak);

/* Median of the rim, the outermost voxels across. */
kugel_status kugel__psf_background(kugel_ctx *ctx, const double *h, const int64_t n[3], double *median);

/* Weights of a row of `n` elements for `m` results: result j is the mean over sqrt(ratio^2 - 1) elements, where ratio > 1, around
 * at(j) = centre + (j - (m - 1) / 2) ratio. Lanczos' kernel of 8 elements, or Keys' cubic of 4. */
void kugel__psf_weights(bool lanczos, int64_t n, double centre, double ratio, int64_t m, double *weights);
/* out[m0][m1][m2] from in[n0][n1][n2] by a matrix [m][n] for each axis. */
kugel_status kugel__psf_apply(kugel_ctx *ctx, const double *in, const int64_t n[3],
                              const double *const weights[3], const int64_t m[3], double *out);

/* Centroid of what is above half of the largest element and hangs together with it, in elements. */
kugel_status kugel__psf_centre(kugel_ctx *ctx, const double *h, const int64_t n[3], double centre[3]);

#endif
