/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans of rank 0 that lead (comm/lead.h): what they say to the ranks that serve, tiles that are shared out, whole transforms that
 * are. */
#ifndef KUGEL_VOLUME_LEAD_H
#define KUGEL_VOLUME_LEAD_H

#include "comm/lead.h"
#include "volume/cpu/volume.h"
#include "volume/gpu/lane_tiles.h"
#include "volume/plan/global.h"

/* ---- order.c: the options of a plan, as a MAKE order, and rows of voxels, as messages ---- */

/* A plan without its kernel, depths and context. */
typedef struct kugel__volume_card {
  int64_t ndim;
  int64_t n[KUGEL__VOLUME_DIMS], k[KUGEL__VOLUME_DIMS], centre[KUGEL__VOLUME_DIMS], tile[KUGEL__VOLUME_DIMS];
  int64_t extent, boundary, correlate, complex_data, precision, kernels, depths;
  int64_t device; /* type of rank 0's */
} kugel__volume_card;

kugel__order kugel__volume_order(const kugel_volume *p, int64_t kind);
kugel__volume_card kugel__volume_order_card(const kugel__order *o);
/* All but engine, centre, tile and depth. */
kugel_volume_opts kugel__volume_order_opts(const kugel__order *o);

/* Planes of kernels by depth, in memory of the context, NULL if there are none; the same on all ranks. depth: of rank 0, NULL on others. */
kugel_status kugel__volume_share_depths(kugel_ctx *ctx, kugel_comm *c, int64_t depths, const double *depth,
                                        double **out);

/* What a plan's kernels are made from, on all ranks: as rank 0's caller gave them, doubles [kernels or depths][k], complex for complex
 * data; planes of kernels by depth, or NULL. Memory of the context. */
typedef struct kugel__volume_kernels {
  double *values, *depth;
} kugel__volume_kernels;

/* Collective and agreed on; s: how this rank has fared. base, kernel: of rank 0, NULL on others. */
kugel_status kugel__volume_share_kernels(kugel_ctx *ctx, kugel_comm *c, kugel_status s, const kugel__order *o,
                                         const kugel_volume *base, const kugel_array *kernel,
                                         kugel__volume_kernels *out);
void kugel__volume_drop_kernels(kugel_ctx *ctx, kugel__volume_kernels *kernels);
/* Rank 0's plan again: TILES, of which only tiles are run (its centre is in their reaches), or GLOBAL over the ranks of comm. */
kugel_status kugel__volume_order_plan(kugel_ctx *ctx, const kugel__order *o,
                                      const kugel__volume_kernels *kernels, kugel_volume_engine engine,
                                      kugel_comm *comm, kugel_volume **out);

/* Rows along x of a slab or tile, between its place and a message [kernels][z][y][x]. */
typedef struct kugel__volume_rows {
  const kugel__volume_reach *reach; // [3], whose `source` says which voxels; NULL: as they lie in the box
  const kugel__volume_box *box;
  const int64_t *n; // [3]
  char *message;
  bool pack; // into the message
} kugel__volume_rows;

kugel_status kugel__volume_copy_rows(kugel_ctx *ctx, int64_t kernels, const kugel__volume_rows *rows);

/* ---- ranks.c: tiles ----
 *
 * In rounds of one tile per rank. Each tile is convolved as rank 0 would convolve it, from the same voxels: hence the same bits for any
 * number of ranks. */

typedef struct kugel__volume_led kugel__volume_led;

/* Of a plan of tiles on the CPU, in a context that leads. */
kugel_status kugel__volume_be_led(kugel_volume *p, const kugel_array *kernel);
void kugel__volume_unlead(kugel_volume *p);
/* Tiles between `tile` and `done` of a run. */
int kugel__volume_led_under_way(const kugel_volume *p);
/* As kugel__lane_tiles_run; not adjoint. */
kugel_status kugel__volume_led_run(const kugel_volume *p, const kugel__lane_work *work,
                                   atomic_llong *clipped);

extern const kugel__lead_kind kugel__volume_served;

/* ---- global_lead.c, global_lead_run.c: whole transforms ----
 *
 * Slabs of voxels, in the types of the caller's arrays, go to their ranks one after another, and results come back the same way. */

struct kugel__global_led {
  kugel_ctx *ctx;
  kugel_comm *comm;
  int64_t id;
  kugel_volume *plan; // over all ranks
};

/* The others' side of an execution. */
void kugel__global_led_serve(void *led, const kugel__order *order);

#endif
