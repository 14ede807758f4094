/* SPDX-License-Identifier: BSD-3-Clause */
/* The Legendre stage by rotations between orders (KUGEL_SHT_CONNECTION). */
#ifndef KUGEL_SPHERE_SHT_CONNECTION_H
#define KUGEL_SPHERE_SHT_CONNECTION_H

#include "alt/spin.h"
#include "sphere/sht/sht.h"

/* What a mode is made of: a scalar alm and map, and two maps of spin of two alm, or of one whose gradient they are. */
typedef struct kugel__connection {
  kugel_ctx *ctx;
  kugel_alt *alt;           /* of the scalar, or NULL */
  kugel__alt_spin *spin;    /* of the maps with spin, or NULL */
  int first_alm, first_map; /* sets with spin come after these */
  bool gradient;
  bool exact;  /* the colatitudes are those that analysis needs no weights on */
  int64_t row; /* of the ring stage's array leg[m][4][row] */
  int64_t
      *at; /* [nrings]: where a ring's real parts are in leg[m]; then the places of rings that pairs lack */
  int64_t missing;
} kugel__connection;

/* A transform of one set. */
typedef struct kugel__connection_call {
  const kugel_sht *plan;
  const kugel__alms *alm;
  const kugel__maps *map;
  bool to_map, adjoint, weighted, accumulate;
  double scale; /* of the Fourier coefficients of order 0 */
} kugel__connection_call;

/* The part with spin, as [lo, hi] of the progress (connection_spin.c). */
kugel_status kugel__connection_spin(const kugel__connection_call *call, double lo, double hi);

enum { KUGEL__CONNECTION_PERCENT = 85 }; /* of a transform's time in the Legendre stage, for progress */

/* Fails if the engine cannot do what the options ask for. */
kugel_status kugel__connection_check(const kugel_sht *plan);
kugel_status kugel__connection_create(const kugel_sht *plan, kugel__connection **out);
void kugel__connection_destroy(kugel__connection *c); /* may be NULL */

extern const kugel__sht_ops kugel__sht_connection_ops;

/* Whether the plan analyses without weights: on Fejer 1 grids of more than lmax rings. */
bool kugel__connection_analyses(const kugel_sht *plan);
/* alm (+)= A map, with A S = 1, and map = A^T alm. */
kugel_status kugel__connection_analysis(const kugel_sht *plan, const kugel__maps *map, const kugel__alms *alm,
                                        bool accumulate);
kugel_status kugel__connection_analysis_adjoint(const kugel_sht *plan, const kugel__alms *alm,
                                                const kugel__maps *map);

#endif
