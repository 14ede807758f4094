/* SPDX-License-Identifier: BSD-3-Clause */
/* The global engine: the whole transform over ranks, on the CPU. Each rank transforms slices of the image along x and y; one
 * exchange brings lines along z together, which are transformed, multiplied by the kernels' spectra and transformed back; a second one
 * returns slices of results. What pads along z is never sent. Slices and lines are computed as the resident engine computes
 * them, each whole on one rank: hence its bits, for any number of ranks.
 *
 * Lines go by vectors of `vlen`, shared out evenly: a message holds [slices][vectors] of its two ranks. */
#ifndef KUGEL_VOLUME_GLOBAL_H
#define KUGEL_VOLUME_GLOBAL_H

#include "comm/layout.h"
#include "comm/lead.h"
#include "volume/plan/pencil.h"

typedef struct kugel__volume_global {
  kugel_comm *comm;
  int rank, size;
  int64_t *data, *results, *kernel,
      *lines;                          /* [size + 1]: slices, or vectors, of rank r are [r] ... [r + 1] - 1 */
  int64_t vector;                      /* bytes */
  char *spectra;                       /* [stored][own vectors][z points][2][vlen] */
  struct kugel__global_device *device; /* NULL: on the CPU */
} kugel__volume_global;

static inline int64_t kugel__global_own(const kugel__volume_global *g, const int64_t *cut)
{
  return cut[g->rank + 1] - cut[g->rank];
}

/* Whether plans with these options can be shared out so; with a sentence if not. */
kugel_status kugel__global_check(const kugel_volume *p);
/* kugel_volume_create with opts.comm. data: [ranks + 1] the planes of the image that ranks have, of a plan by tiles, which fetches what it
 * needs from wherever that is; NULL: equal shares. */
kugel_status kugel__global_make(kugel_ctx *ctx, int ndim, const int64_t *n, const int64_t *k,
                                const kugel_array *kernel, const kugel_volume_opts *opts, const int64_t *data,
                                kugel_volume **out);
/* Which engine it would have, and by tiles the planes of results of the ranks, [ranks + 1]. Nothing is sent. */
kugel_status kugel__global_results(kugel_ctx *ctx, const int64_t *n, const int64_t *k,
                                   const kugel_volume_opts *opts, kugel_volume_engine *engine,
                                   int64_t *results);
/* Collective, within an agreement: p is started with opts.comm; kernels: own slices of each, g->kernel, in the order in which they are
 * transformed (backwards for correlation). p->sums are set. */
kugel_status kugel__global_shape(kugel_volume *p);
kugel_status kugel__global_create(kugel_volume *p, const kugel__volume_box *kernels);
void kugel__global_destroy(kugel_volume *p);
/* Own slices of a kernel array [stored][k], of which memory has slices [first, ...) alone. */
kugel__volume_box kugel__global_kernel(const kugel_volume *p, const kugel__volume_box *b, int64_t first);
/* Collective, within an agreement; boxes of own slices. Adds up clipped values of all ranks. */
kugel_status kugel__global_run(const kugel_volume *p, bool adjoint, const kugel__volume_box *in,
                               const kugel__volume_box *out, atomic_llong *clipped);
/* Tiles: chooses them, as a function of the plan alone; the results of each rank [size + 1]; an execution, not adjoint. */
kugel_status kugel__global_tile(kugel_volume *p, const int64_t *k);
void kugel__global_cut_tiles(const kugel_volume *p, int64_t *results);
kugel_status kugel__global_run_tiles(const kugel_volume *p, const kugel__volume_box *in,
                                     const kugel__volume_box *out, atomic_llong *clipped);
/* Bytes that a rank holds, and that it sends in one execution. */
uint64_t kugel__global_memory(const kugel_volume *p, int ranks);
uint64_t kugel__global_traffic(const kugel_volume *p, int ranks);

/* ---- a plan of rank 0, which leads ---- */
typedef struct kugel__global_led kugel__global_led;
kugel_status kugel__global_be_led(kugel_volume *p, const kugel_array *kernel);
void kugel__global_unlead(kugel_volume *p);
/* Slabs of `ends` are the ranks' slices. */
kugel_status kugel__global_led_run(const kugel_volume *p, bool adjoint, const kugel__pencil_ends *ends,
                                   kugel_dtype in, kugel_dtype out, atomic_llong *clipped);
kugel_status kugel__global_led_arrays(const kugel_volume *p, bool adjoint, const kugel__volume_box *in,
                                      const kugel__volume_box *out, atomic_llong *clipped);
/* Slices of the largest slab. */
int64_t kugel__global_led_slab(const kugel_volume *p);

extern const kugel__lead_kind kugel__global_served;

#endif
