/* SPDX-License-Identifier: BSD-3-Clause */
/* Beads in an image, and their alignment. */
#ifndef KUGEL_PSF_BEADS_H
#define KUGEL_PSF_BEADS_H

#include "psf/psf.h"

typedef struct kugel__bead {
  int64_t at[3];    // the voxel of the maximum
  double centre[3]; // in voxels
  double height;    // over the background, of the smoothed image
  bool used;
} kugel__bead;

typedef struct kugel__bead_image {
  int64_t n[3], box[3];
  double *raw, background, noise;
} kugel__bead_image;

/* Maxima of the image that are beads, brightest first; counts those left out. *beads is to be freed. */
kugel_status kugel__beads_find(kugel_ctx *ctx, const kugel__bead_image *m, const kugel_psf_beads_opts *o,
                               kugel__bead **beads, int64_t *count, kugel_psf_beads_info *info);

/* Mean of the beads over `box`, aligned to its middle; leaves out those unlike it. */
kugel_status kugel__beads_average(kugel_ctx *ctx, const kugel__bead_image *m, kugel__bead *beads,
                                  int64_t count, double *mean, kugel_psf_beads_info *info);

#endif
