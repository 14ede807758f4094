/* SPDX-License-Identifier: BSD-3-Clause */
/* Transforms in parts: for maps larger than the memory of a device, and on several devices.
 *
 * A part is a run of ring pairs with the pixels of their rings. A lane (device/lanes.h) is a device with its memory: the
 * coefficients, the recurrences, the work memory of one part and the maps of two parts. A lane processes its
 * parts in order; while it computes one part, the maps of another part are copied. In synthesis every lane
 * receives all coefficients. In the adjoint each lane sums the coefficients of its parts, and the lanes' sums
 * are added in a fixed order at the end. */
#ifndef KUGEL_SPHERE_SHT_PARTS_H
#define KUGEL_SPHERE_SHT_PARTS_H

#include "codegen/module.h"
#include "device/lanes.h"
#include "sphere/grid/stretch.h"
#include "sphere/legendre/plan.h"
#include "sphere/sht/gpu_plan.h"

/* All sets of alm or maps: in device memory, or in host memory. */
typedef struct kugel__gpu_sets {
  kugel__gpu_side device;
  void *const *host; /* [sets]; NULL: on the device */
} kugel__gpu_sets;

struct kugel__leg;

/* Bytes of memory that the plan may allocate on each device. */
kugel_status kugel__parts_limit(const kugel_sht *plan, int64_t *limit);
/* Whether the plan works in parts: on more than one device, or because it does not fit at once. */
kugel_status kugel__parts_wanted(const kugel_sht *plan, bool *wanted);
/* Fills plan->gpu->parts; desc: the rings of all pairs. */
kugel_status kugel__parts_create(kugel_sht *plan, const kugel__rings_desc *desc);
void kugel__parts_destroy(kugel_sht *plan);
/* Copies the plan's quadrature weights to the parts. */
kugel_status kugel__parts_weights(const kugel_sht *plan);
/* Bytes allocated on the device with most of them; number of parts. */
void kugel__parts_memory(const kugel_sht *plan, uint64_t *bytes, int64_t *count);

/* map = S alm and alm (+)= S^T map. Both wait for the queue's present work, and return when all work is done.
 * */
kugel_status kugel__parts_synthesis(const kugel_sht *plan, const kugel__gpu_sets *alm,
                                    const kugel__gpu_sets *map, const kugel__gpu_how *how,
                                    kugel_queue *queue);
kugel_status kugel__parts_adjoint(const kugel_sht *plan, const kugel__gpu_sets *map,
                                  const kugel__gpu_sets *alm, const kugel__gpu_how *how, kugel_queue *queue);

/* The same with all sets in device memory. */
kugel_status kugel__parts_forward(const kugel_sht *plan, const kugel__gpu_side *alm,
                                  const kugel__gpu_side *map, const kugel__gpu_how *how, kugel_queue *queue);
kugel_status kugel__parts_back(const kugel_sht *plan, const kugel__gpu_side *map, const kugel__gpu_side *alm,
                               const kugel__gpu_how *how, kugel_queue *queue);

/* ---- the plan behind them ---- */

enum { KUGEL__PART_SLOTS = 2 /* per lane: maps of parts */, KUGEL__SLICE_ALIGN = 512 /* bytes */ };

/* The devices divide the ring pairs differently in synthesis and in the adjoint, because the kernels differ
 * in speed. */
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

typedef struct kugel__parts_lane {
  kugel__lane *on; /* whose slots hold the maps of one part each, doubles, both ways */
  int64_t nparts;
  kugel__part *parts;
  int64_t count[KUGEL__WAYS];       /* number of parts that the lane does in each way */
  kugel__part **order[KUGEL__WAYS]; /* these parts in the order of work */
  kugel__mem alm, coefs, space;     /* alm: doubles */
  kugel__module *module;            /* of vectors; on several devices */
  kugel__kernel *add;
  int64_t leg_room; /* bytes of `space` for the Legendre stage; the rest is for rings */
  bool series;      /* `space` holds the series of this synthesis' coefficients */
  kugel__mem bad;   /* an int32 */
  uint64_t bytes;   /* allocated on the device */
} kugel__parts_lane;

struct kugel__parts {
  int nlanes;
  kugel__device_lanes *devices;
  kugel__parts_lane *lanes;
};

/* Pairs [p0, p1) of a lane, and the ways in which the lane does them. */
typedef struct kugel__cut {
  int64_t p0, p1;
  int lane;
  bool ways[KUGEL__WAYS];
} kugel__cut;

/* All parts, lane by lane; each lane has `each` parts that it does both ways, and further ones that it does
 * one way. */
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

/* parts_exchange.c: spread copies the coefficients from home memory, which may be lane 0's own, to the alm of
 * all lanes; gather adds the alm of all lanes into the alm of the first lane, on the lanes' work queues. */
kugel_status kugel__parts_spread(const kugel_sht *p, kugel__mem alm, size_t bytes);
kugel_status kugel__parts_gather(const kugel_sht *p);

/* parts_cut.c: cut fills the list; need: bytes of the lane that needs most; whole: bytes of everything at
 * once. */
void kugel__parts_cut(kugel__cuts *cuts);
int64_t kugel__parts_need(const kugel__cuts *cuts);
int64_t kugel__parts_whole(const kugel__cuts *cuts);

#endif
