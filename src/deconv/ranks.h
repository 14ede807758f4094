/* SPDX-License-Identifier: BSD-3-Clause */
/* Deconvolution over ranks: each has a run of planes of the image and one of the object, as its plans of convolution share them, and
 * iterates on these. Convolutions exchange halos of planes (tiles) or lines (the whole transform); the methods' sums are of planes, which
 * are gathered and added in order; total variation and the Laplacian fetch one plane on each side. So the result has the same bits for any
 * number of ranks; by the whole transform they are those of a plan without ranks. */
#ifndef KUGEL_DECONV_RANKS_H
#define KUGEL_DECONV_RANKS_H

#include "comm/layout.h"
#include "comm/lead.h"
#include "deconv/job.h"

enum { KUGEL__DECONV_IMAGE, KUGEL__DECONV_OBJECT };

typedef struct kugel__deconv_ranks {
  kugel_comm *comm;
  int64_t planes[2], own[2];    // of image and object: of all ranks, of this one
  kugel_layout *at[2], *all[2]; // planes: where they are, and all of them everywhere
  kugel_layout *shown;          // planes of the object where a rank's image lies
  kugel_layout *near;           // a rank's planes of the object, with those next to them
  kugel_layout *edges;          // the latter alone
  int64_t before, around;       // of `near`: planes before the rank's own, and how many
  int64_t plane;                // the image's plane that is plane 0 of the object
} kugel__deconv_ranks;

/* Whether the options can be shared out; with a sentence if not. */
kugel_status kugel__deconv_ranks_check(const kugel_deconv *p);
/* Within an agreement, after p->h (and p->turned). */
kugel_status kugel__deconv_ranks_create(kugel_deconv *p);
void kugel__deconv_ranks_destroy(kugel_deconv *p);
/* The plan of this rank's planes alone. */
kugel_deconv kugel__deconv_ranks_view(const kugel_deconv *p);

/* Of an execution: bytes beside the arrays, each of which is `slice` bytes per plane of the image at most; places in them. */
size_t kugel__deconv_ranks_bytes(const kugel_deconv *view, size_t slice);
void kugel__deconv_ranks_carve(kugel__deconv_state *s, char *memory);
/* `bytes` of each own plane of the image or the object, at `own`, to s->every on all ranks, in the order of planes. */
kugel_status kugel__deconv_ranks_gather(kugel__deconv_state *s, int side, const void *own, size_t bytes);
/* In place. */
kugel_status kugel__deconv_ranks_largest(kugel__deconv_state *s, double *least_0);
kugel_status kugel__deconv_ranks_any(kugel__deconv_state *s, bool *any);
/* An object's planes to s->shown, or back. */
kugel_status kugel__deconv_ranks_show(kugel__deconv_state *s, void *x, bool back);
/* x with the planes next to this rank's, in s->near. */
kugel_status kugel__deconv_ranks_near(kugel__deconv_state *s, const void *x);

/* ---- a plan of rank 0, which leads ---- */
/* By p->share: the image in one piece; or tiles, for which p has a plan. back, depth: NULL or those of opts. */
kugel_status kugel__deconv_be_led(kugel_deconv *p, const kugel_array *psf, const kugel_array *back,
                                  const double *depth);
void kugel__deconv_unlead(kugel_deconv *p);
/* All of info but its size. */
kugel_status kugel__deconv_led_run(const kugel_deconv *p, kugel__deconv_job *j, kugel_deconv_info *info);

extern const kugel__lead_kind kugel__deconv_served;

#endif
