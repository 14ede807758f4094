/* SPDX-License-Identifier: BSD-3-Clause */
/* Radial convolution over several ranks, on the CPU: sums over pixels, by the direct method or by rings.
 *
 * A rank computes a run of output rings (and their mirrors) and has, while it does, the rings within the cut-off of them. It
 * sums as a plan without ranks does, over the same rings in the same order, in the same groups: hence the same bits for any
 * number of ranks. Only pixels are exchanged. */
#ifndef KUGEL_SPHERE_RADIAL_RANKS_H
#define KUGEL_SPHERE_RADIAL_RANKS_H

#include "comm/layout.h"
#include "comm/lead.h"
#include "sphere/grid/grid.h"
#include "sphere/radial/spectra.h"

/* The grid without its count of references, which other threads change meanwhile. */
static inline kugel_grid kugel__radial_grid(const kugel_radial *p)
{
  const kugel_grid *g = p->grid;
  return (kugel_grid){.ctx = g->ctx,
                      .kind = g->kind,
                      .nside = g->nside,
                      .nrings = g->nrings,
                      .npix = g->npix,
                      .npairs = g->npairs,
                      .max_nphi = g->max_nphi,
                      .theta = g->theta,
                      .cth = g->cth,
                      .sth = g->sth,
                      .phi0 = g->phi0,
                      .weight = g->weight,
                      .nphi = g->nphi,
                      .first = g->first,
                      .pairs = g->pairs,
                      .has_weights = g->has_weights};
}

/* Results on output rings [first, end) of a plan, shared out. */
typedef struct kugel__radial_share {
  const kugel_radial *plan; /* whose rings lie where they do in the map */
  kugel_comm *comm;
  int64_t first, end, *cut; /* [ranks + 1] rank r computes [cut[r], cut[r + 1]) */
  kugel_layout *need,
      *own; /* pixels that each rank reads, and those it computes, where its buffer has them */
  /* This rank's plan: its maps are buffers of view.grid->npix pixels. */
  kugel_radial view;
  kugel_grid grid;
  kugel__radial_spectra spectra;
  double *level,
      *mask; /* of the buffer: the convolved 1; the convolved mask of the latest map; NULL: not made yet */
} kugel__radial_share;

/* Local; all ranks compute alike. *out is NULL on failure. */
kugel_status kugel__radial_share_make(const kugel_radial *plan, kugel_comm *comm, int64_t first, int64_t end,
                                      kugel__radial_share **out);
void kugel__radial_share_drop(kugel__radial_share *share);
/* The layout of rings [lo, hi) of a plan and their mirrors on one rank: as they lie in `view`; view NULL: one after another. */
kugel_status kugel__radial_lay(kugel_layout *l, int rank, const kugel_radial *plan, const kugel_radial *view,
                               int64_t lo, int64_t hi);

/* Which maps: as in kugel__radial_io. */
typedef struct kugel__radial_call {
  bool f32, adjoint, kept;
} kugel__radial_call;

/* Maps (two with a spin), whose pixels lie as `from` says, the second `stride` elements after the first; out may be in. NULL: no
 * pixels on this rank. Collective, within a call that has entered. */
kugel_status kugel__radial_share_run(kugel__radial_share *share, kugel__radial_call call,
                                     const kugel_layout *from, const void *in, void *out, int64_t stride);

/* ---- plans over ranks: every rank has its part ---- */

typedef struct kugel__radial_dist {
  kugel_comm *comm;
  kugel_layout *part; /* this plan's maps */
  kugel__radial_share *share;
} kugel__radial_dist;

/* As kugel_radial_create, for o->comm. */
kugel_status kugel__radial_dist_create(kugel_ctx *ctx, const kugel_radial_opts *o, kugel_radial **out);
void kugel__radial_dist_destroy(kugel_radial *plan);
/* The output rings of this rank. */
void kugel__radial_dist_rings(const kugel_radial *plan, int64_t *first, int64_t *end);
/* As kugel_radial_execute and kugel_radial_adjoint. */
kugel_status kugel__radial_dist_run(const kugel_radial *plan, const kugel_array *in, const kugel_array *out,
                                    bool adjoint);

/* ---- plans of rank 0 whose work the others share ---- */

typedef struct kugel__radial_led kugel__radial_led;
kugel_status kugel__radial_be_led(kugel_radial *plan); /* a plan that is made, in a context that leads */
void kugel__radial_unlead(kugel_radial *plan);
extern const kugel__lead_kind kugel__radial_served;

#endif
