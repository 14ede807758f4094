/* SPDX-License-Identifier: BSD-3-Clause */
/* Every allocation of a radial plan and of its execution fails once: a status, and nothing left behind. */
#ifndef KUGEL_TESTS_RADIAL_FAULTS_H
#define KUGEL_TESTS_RADIAL_FAULTS_H

#include <stdlib.h>
#include "check.h"
#include "core/alloc.h"
#include <kugel/radial.h>

static inline void radial_faults(const kugel_radial_opts *o, int64_t npix)
{
  double *f = calloc((size_t)npix, 8), *out = calloc((size_t)npix, 8);
  double b[4];
  bool done = false;
  f[0] = 1;
  for (int64_t n = 1; n < 500 && !done; n++) {
    kugel_radial *p = NULL;
    kugel_ctx_trim(NULL);
    kugel__fault_alloc(n);
    kugel_status s = kugel_radial_create(NULL, o, &p);
    if (!s)
      s = kugel_radial_execute(p, KUGEL_ARRAY(f, KUGEL_F64, npix), KUGEL_ARRAY(out, KUGEL_F64, npix), NULL);
    if (!s && kugel_radial_adjoint(p, KUGEL_ARRAY(out, KUGEL_F64, npix), KUGEL_ARRAY(f, KUGEL_F64, npix),
                                   NULL) == KUGEL_ENOMEM)
      s = KUGEL_ENOMEM; // maps with a spin have other shapes
    if (!s)
      s = kugel_radial_coefficients(p, 3, b);
    kugel__fault_alloc(0);
    CHECK(s == KUGEL_OK || s == KUGEL_ENOMEM);
    kugel_radial_destroy(p);
    done = s == KUGEL_OK;
  }
  CHECK(done);
  free(f);
  free(out);
}

#endif
