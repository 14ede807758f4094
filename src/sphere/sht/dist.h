/* SPDX-License-Identifier: BSD-3-Clause */
/* Transforms of one map over several ranks.
 *
 * A rank has orders m (all degrees and rings of each) in the Legendre stage, and a run of ring pairs (all orders of each)
 * in the ring stage; between them one exchange of Fourier coefficients, F[map][ring][m] for m to mlim of the ring, in
 * pieces that fly while the Legendre stage works on others. Each order and each ring is computed whole, by one rank, in
 * the blocks and groups in which a plan without ranks computes it: hence the same bits for any number of ranks.
 *
 * A message from the owner of orders to that of pairs (or back) holds, order after order of the piece, n_map * 4 rows: the
 * pairs of the other rank to which the order contributes, which are the last of its run. */
#ifndef KUGEL_SPHERE_SHT_DIST_H
#define KUGEL_SPHERE_SHT_DIST_H

#include "comm/layout.h"
#include "comm/lead.h"
#include "sphere/sht/gpu_plan.h"
#include "sphere/sht/sht.h"
#include "wire/wire.h"

typedef struct kugel__dist {
  kugel_comm *comm;
  int rank, size, pieces;
  /* Orders by rank, ascending within each: those of rank r are order[begin[r]] ... order[begin[r + 1] - 1]. */
  int64_t *begin, *order;
  int64_t *column; // [own orders] where the coefficients of each begin in the rank's part
  int64_t *cut; // [size + 1] pairs of rank r are cut[r] ... cut[r + 1] - 1, in whole groups of the ring stage
  int64_t *first_pair; // [mmax + 1] the lowest pair to which an order contributes
  /* Where an order's rows begin in its message, doubles: of own order i to rank r, pack_at[i * size + r]; of order[j]
   * to this rank, unpack_at[j]. */
  int64_t *pack_at, *unpack_at;
  /* Of each piece, bytes and offsets to and from each rank, [pieces][4][size]: in the order of synthesis. */
  size_t *messages;
  size_t most_out, most_in; // bytes of the largest piece, multiples of 16
  int64_t row, full_row;    // doubles of a row: own pairs; all pairs
  int64_t *north, *south;   // [npairs] where rings begin in this rank's part of a map; -1: not here
  kugel_layout *alm, *map;
} kugel__dist;

/* Needs the plan's grid, Legendre stage and block. Collective in that all ranks compute alike; nothing is sent. */
kugel_status kugel__dist_create(kugel_sht *plan, kugel_comm *comm, int pieces);
void kugel__dist_destroy(kugel_sht *plan);

/* Orders of piece k of a rank: indices into dist->order. Later pieces are smaller: nothing hides the messages of the last. */
static inline int64_t kugel__dist_piece(const kugel__dist *d, int rank, int k)
{
  int64_t n = d->begin[rank + 1] - d->begin[rank], all = d->pieces;
  return d->begin[rank] + n * k * (3 * all - k) / (2 * all * all);
}

/* Pairs of a rank to which an order contributes: the first of them; they end at cut[rank + 1]. */
static inline int64_t kugel__dist_first(const kugel__dist *d, int rank, int64_t m)
{
  return kugel__min(d->cut[rank + 1], kugel__max(d->cut[rank], d->first_pair[m]));
}

extern const kugel__sht_ops kugel__sht_dist_ops;

/* Multiplies this rank's part of a map by the weights of its rings. */
void kugel__dist_scale_rings(const kugel_sht *plan, double *map);

/* ---- lead.c: plans of rank 0 that the other ranks serve ---- */
kugel_status kugel__sht_be_led(kugel_sht *plan); /* a plan that is made, in a context that leads */
void kugel__sht_unlead(kugel_sht *plan);
extern const kugel__lead_kind kugel__sht_served;

/* ---- ranks that have a device each ----
 *
 * Stages, orders and pairs as above, exchange by wire/wire.h. The Legendre stage computes own orders at all pairs, the ring stage all
 * orders of own pairs; messages are packed, and unpacked, on the device, a piece of them at a time, beside the Legendre stage of other
 * pieces. */

enum { KUGEL__DIST_ORDERS, KUGEL__DIST_PAIRS, KUGEL__DIST_SIDES };
/* Runs between coefficients of a side and messages; those of own orders at own pairs, which go from side to side. */
enum { KUGEL__DIST_STAY = KUGEL__DIST_SIDES, KUGEL__DIST_LISTS };

/* Where the time goes: events about the stages' launches, in their order, which the benchmark of ranks asks for. */
typedef enum kugel__dist_stage {
  KUGEL__DIST_LEGENDRE,
  KUGEL__DIST_PACK,
  KUGEL__DIST_EXCHANGE,
  KUGEL__DIST_UNPACK,
  KUGEL__DIST_OWN, /* what stays on this rank is moved */
  KUGEL__DIST_RINGS,
  KUGEL__DIST_STAGES
} kugel__dist_stage;
enum { KUGEL__DIST_MARKS = 512 };
typedef struct kugel__dist_marks {
  int count;
  struct {
    kugel__dist_stage stage;
    kugel__event *from, *to;
  } list[KUGEL__DIST_MARKS];
} kugel__dist_marks;

typedef struct kugel__dist_gpu {
  kugel__dist_marks *marks; // the caller's; NULL: none
  kugel__wire *wire;
  kugel__hops **hops; // [KUGEL__DIST_SIDES][pieces] of messages from that side; NULL: they go straight
  int hop_count;
  kugel_queue *post, *other; // of messages; of every second piece of the Legendre stage
  kugel__module *module;
  kugel__kernel *move;
  int64_t *begin[KUGEL__DIST_LISTS];   // [pieces + 1] runs of each piece
  kugel__mem runs[KUGEL__DIST_LISTS];  // as in kernels/ranks.cl
  kugel__mem coefs[KUGEL__DIST_SIDES]; // Fourier coefficients of own orders, of own pairs
  kugel__mem messages;                 // of one piece: of own orders, then of own pairs
  int64_t row[KUGEL__DIST_SIDES], stride[KUGEL__DIST_SIDES]; // pairs of a row; complex numbers of a component
} kugel__dist_gpu;

/* The messages of a piece, from a side. */
kugel__wire_job kugel__dist_gpu_job(const kugel_sht *plan, int from, int piece);
/* Fills plan->gpu->ranks and its stages; desc: the rings of all pairs, of which others than own ones do not exist. Collective. */
kugel_status kugel__dist_gpu_create(kugel_sht *plan, const kugel__rings_desc *desc);
void kugel__dist_gpu_destroy(kugel_sht *plan);

extern const kugel__sht_ops kugel__sht_dist_gpu_ops; // gpu_run.c
kugel_status kugel__dist_gpu_forward(const kugel_sht *plan, const kugel__gpu_side *alm,
                                     const kugel__gpu_side *map, const kugel__gpu_how *how,
                                     kugel_queue *queue);
kugel_status kugel__dist_gpu_back(const kugel_sht *plan, const kugel__gpu_side *map,
                                  const kugel__gpu_side *alm, const kugel__gpu_how *how, kugel_queue *queue);

#endif
