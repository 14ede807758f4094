/* SPDX-License-Identifier: BSD-3-Clause */
/* Radial convolution in Fourier space on a device: by spectra of rings, and by harmonics. */
#ifndef KUGEL_SPHERE_RADIAL_MODES_GPU_H
#define KUGEL_SPHERE_RADIAL_MODES_GPU_H

#include "device/device.h"
#include "sphere/radial/spectra.h"

typedef struct kugel__radial_modes kugel__radial_modes;

/* *out stays NULL if the tables would be too long. */
kugel_status kugel__radial_modes_create(kugel_radial *p, kugel__device *device, kugel__radial_modes **out);
/* Work memory: all of it, or none. */
kugel_status kugel__radial_modes_hold(const kugel_radial *p, kugel__radial_modes *modes);
void kugel__radial_modes_release(kugel__radial_modes *modes);
void kugel__radial_modes_destroy(kugel_radial *p, kugel__radial_modes *modes);

/* One map on its way. */
typedef struct kugel__radial_pass {
  kugel__mem in, out, seen; /* in and out apart; seen: as many reals */
  int64_t in_at, out_at;    /* first elements */
  kugel_queue *queue;       /* NULL: the device's own */
  bool f32, adjoint, mask;  /* mask: 1 for observed pixels in place of values, and to `seen` */
  bool ones;                /* with mask: 1 for all pixels */
  bool level;               /* opts.normalise: `seen` is of the constant 1 */
  double least;             /* of seen */
  bool plain;               /* leave opts.normalise out */
} kugel__radial_pass;

/* The sums of all rings but those summed directly; queued. */
kugel_status kugel__radial_modes_sum(const kugel_radial *p, kugel__radial_modes *modes,
                                     const kugel__radial_pass *pass, kugel_queue *queue);
/* Its two halves, of harmonic plans: coefficients into the memory of `modes`; and from those of another plan,
 * of no lower degree, which may be the same. */
kugel_status kugel__radial_modes_analyse(const kugel_radial *p, kugel__radial_modes *modes,
                                         const kugel__radial_pass *pass, kugel_queue *queue);
kugel_status kugel__radial_modes_synthesise(const kugel_radial *p, kugel__radial_modes *modes,
                                            const kugel_radial *top, const kugel__radial_modes *from,
                                            const kugel__radial_pass *pass, kugel_queue *queue);
/* Bad pixels, weights of the adjoint; of all rings; queued. divide: by what was seen, where that is above least. */
kugel_status kugel__radial_modes_finish(const kugel_radial *p, kugel__radial_modes *modes,
                                        const kugel__radial_pass *pass, bool divide, kugel_queue *queue);

#endif
