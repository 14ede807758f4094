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
  int64_t row; /* of the ring stage's array leg[m][4][row]; on a device [m][row][4] */
  int64_t
      *at; /* [nrings]: where a ring's real parts are in leg[m]; then the places of rings that pairs lack */
  int64_t missing;
  struct kugel__connection_gpu *gpu; /* NULL: on the CPU */
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

/* connection_gpu.c: the Legendre stage of a plan on one device, whose ring stage is that of gpu.c. Makes plan->connection, or fails where
 * the plan would need more than its limit of memory. work: bytes of the plan's work memory that a call needs. */
kugel_status kugel__connection_gpu_create(kugel_sht *plan, size_t *work);
int64_t kugel__connection_gpu_chains(
    const kugel_sht *plan); /* bytes that chains keep from the first call on, from above */
void kugel__connection_gpu_destroy(kugel__connection *c);
struct kugel__gpu_side;
struct kugel__gpu_how;
/* Between coefficients and the plan's Fourier coefficients. */
kugel_status kugel__connection_gpu_run(const kugel_sht *plan, const struct kugel__gpu_side *alm,
                                       const struct kugel__gpu_how *how, bool to_map, kugel_queue *queue);

/* Whether the grid has the colatitudes that analysis needs no weights on: Fejer 1, of more than lmax rings. Whether a plan so
 * analyses. */
bool kugel__connection_exact(const kugel_sht *plan);
bool kugel__connection_analyses(const kugel_sht *plan);
/* alm (+)= A map, with A S = 1, and map = A^T alm. */
kugel_status kugel__connection_analysis(const kugel_sht *plan, const kugel__maps *map, const kugel__alms *alm,
                                        bool accumulate);
kugel_status kugel__connection_analysis_adjoint(const kugel_sht *plan, const kugel__alms *alm,
                                                const kugel__maps *map);

#endif
