/* SPDX-License-Identifier: BSD-3-Clause */
/* The plan behind transforms in parts. */
#ifndef KUGEL_SPHERE_PARTS_GPU_PLAN_H
#define KUGEL_SPHERE_PARTS_GPU_PLAN_H

#include "codegen/module.h"
#include "sphere/legplan.h"
#include "sphere/parts_gpu.h"
#include "sphere/stretch.h"

enum { KUGEL__PART_SLOTS = 2, KUGEL__SLICE_ALIGN = 512 /* bytes */ };

/* Devices share pairs one way in synthesis and another way in the adjoint, whose kernels take other times. */
enum { KUGEL__FORTH, KUGEL__BACK, KUGEL__WAYS };

typedef struct kugel__part {
  int64_t p0, p1, pixels; /* ring pairs; of one map */
  kugel__leg view;        /* of the plan's leg */
  kugel__leg_gpu *leg;
  kugel__rings_gpu *rings;
  kugel__mem weight; /* [p1 - p0][2] or NULL */
  int64_t nruns;
  kugel__stretch *runs; /* by rising `first` */
} kugel__part;

typedef struct kugel__lane {
  kugel_ctx *ctx; /* of the device; borrowed */
  kugel__device *device;
  int64_t nparts;
  kugel__part *parts;
  int64_t count[KUGEL__WAYS];       /* of the parts that it does each way, */
  kugel__part **order[KUGEL__WAYS]; /* one after another */
  kugel_queue *work, *move;         /* computing; copies of maps */
  kugel__mem alm, coefs, space;     /* alm: doubles */
  kugel__module *module;            /* of vectors; on several devices */
  kugel__kernel *add;
  int64_t leg_room;                       /* bytes of space for the Legendre stage; after it that of rings */
  bool series;                            /* space has the series of this synthesis' coefficients */
  kugel__mem map[KUGEL__PART_SLOTS], bad; /* maps of one part, doubles; an int32 */
  kugel__event *worked[KUGEL__PART_SLOTS], *moved[KUGEL__PART_SLOTS]; /* the latest of each slot */
  uint64_t bytes;                                                     /* held on the device */
} kugel__lane;

struct kugel__parts {
  int nlanes;
  kugel__lane *lanes;
};

/* Pairs [p0, p1) of a lane, and which ways it does them. */
typedef struct kugel__cut {
  int64_t p0, p1;
  int lane;
  bool ways[KUGEL__WAYS];
} kugel__cut;

/* All parts, by lanes; `each` of a lane that it does both ways, besides those that it does one way. */
typedef struct kugel__cuts {
  const kugel_sht *plan;
  kugel__leg_gpu_cut leg;
  int nlanes;
  int64_t each, count;
  kugel__cut *list;
  int64_t *bounds[KUGEL__WAYS]; /* [nlanes + 1]: first pairs of lanes */
} kugel__cuts;
static inline int64_t kugel__cuts_most(int nlanes, int64_t each)
{
  return nlanes * (each + 2);
}

/* parts_gpu_exchange.c: the coefficients of home memory, also lane 0's own, to all lanes' alm; the sums of
 * all lanes' alm to that of the first one, on the lanes' work queues. */
kugel_status kugel__parts_spread(const kugel_sht *p, kugel__mem alm, size_t bytes);
kugel_status kugel__parts_gather(const kugel_sht *p);

/* parts_gpu_cut.c: fills the list; bytes that the lane needs that needs most; bytes of everything at once. */
void kugel__parts_cut(kugel__cuts *cuts);
int64_t kugel__parts_need(const kugel__cuts *cuts);
int64_t kugel__parts_whole(const kugel__cuts *cuts);

#endif
