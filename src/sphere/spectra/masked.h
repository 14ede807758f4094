/* SPDX-License-Identifier: BSD-3-Clause */
/* A call that finds the coefficients of a masked map. */
#ifndef KUGEL_SPHERE_SPECTRA_MASKED_H
#define KUGEL_SPHERE_SPECTRA_MASKED_H

#include <kugel/spectra.h>
#include "core/base.h"

typedef struct kugel__masked {
  kugel_ctx *ctx;
  const kugel_masked_opts *o;
  int64_t npix, lmax_mask;
} kugel__masked;

/* Whether pure components take the map's value at a pixel. */
static inline bool kugel__masked_uses(const kugel__masked *f, int64_t pixel)
{
  return f->o->mask[pixel] != 0 || f->o->beyond_mask;
}

/* Removes from the map its components along the templates, both times the mask; `bare` is the map without the mask, which
 * loses the same combination of templates; may be NULL. */
kugel_status kugel__masked_clean(const kugel__masked *f, double *masked, double *bare);

#endif
