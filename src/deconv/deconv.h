/* SPDX-License-Identifier: BSD-3-Clause */
/* Deconvolution: plans, the state of an iteration, and its loops over voxels. */
#ifndef KUGEL_DECONV_DECONV_H
#define KUGEL_DECONV_DECONV_H

#include <kugel/deconv.h>
#include "volume/plan/plan.h"

enum { KUGEL__DECONV_CHUNK = 1 << 14 }; // voxels of a task

/* What ranks that rank 0 leads do of a plan without opts.comm. */
typedef enum kugel__deconv_share {
  KUGEL__DECONV_ALONE,
  KUGEL__DECONV_WHOLE, // iterate on their planes
  KUGEL__DECONV_TILES  // tiles, which iterate alone
} kugel__deconv_share;

struct kugel_deconv {
  kugel_ctx *ctx;
  int ndim;
  kugel_deconv_opts opts;
  int64_t n[3], k[3], centre[3]; // leading axes of length 1
  int64_t tile[3], cut[3];       // results and image of a tile, n if there is one
  int64_t tiles;
  int64_t object[3], first[3]; // lengths estimated for a tile, and where its image lies in them
  uint64_t room;               // of a convolution, bytes; 0: any
  kugel_volume_engine engine;  // AUTO or what fits
  bool host;                   // on a device: convolutions alone are there, arrays and steps are the host's
  double *planes; // with `host`: opts.depth counted in planes of the object, while the plan is made
  bool f32;
  size_t real;
  kugel_volume *h, *back; // object -> image; back: its adjoint goes back, NULL: that of h
  kugel_volume *turned;   // image -> object, what goes back, of tiles over ranks; NULL: an adjoint does
  struct kugel__deconv_ranks *ranks; // with opts.comm
  int64_t asks;                      // whether any of them has a callback
  kugel_comm *own;                   // opts.comm of this process alone, NULL: the caller's
  kugel__deconv_share share;
  struct kugel__deconv_led *led; // of rank 0, which leads; NULL: not shared
};

/* Tasks per plane; sums are of these, so that ranks, which have whole planes, have the same ones. */
static inline size_t kugel__deconv_chunks(int64_t plane)
{
  return (size_t)((plane + KUGEL__DECONV_CHUNK - 1) / KUGEL__DECONV_CHUNK);
}

kugel_volume_opts kugel__deconv_volume_opts(const kugel_deconv *p);
/* As the public functions, of plans that are not led; with a share that asks for it, they are to be. */
kugel_status kugel__deconv_create(kugel_ctx *ctx, int ndim, const int64_t *n, const int64_t *k,
                                  const kugel_array *psf, const kugel_deconv_opts *opts, kugel_deconv **out);
void kugel__deconv_destroy(kugel_deconv *p);
kugel_status kugel__deconv_execute(const kugel_deconv *plan, const kugel_array *image,
                                   const kugel_array *mask, const kugel_array *start, const kugel_array *out,
                                   kugel_deconv_info *info);
/* PSF d of psf [depths, k...], whose shape is checked. */
kugel_status kugel__deconv_check_depths(const kugel_deconv *p, const kugel_array *psf);
kugel_array kugel__deconv_psf_at(const kugel_array *psf, int64_t d);
/* p->h, and p->back of opts.back. */
kugel_status kugel__deconv_convolutions(kugel_deconv *p, const kugel_array *psf);
/* Tiles within opts.memory, or one: those of one process. */
kugel_status kugel__deconv_choose_tiles(kugel_deconv *p, kugel_deconv_cost *c);

/* After the tiles; the seconds become those of the ranks. */
kugel_status kugel__deconv_choose_share(const kugel_deconv *p, kugel_deconv_cost *c,
                                        kugel__deconv_share *share);

/* The state of one image or tile: arrays of the plan's precision. */
typedef struct kugel__deconv_state {
  const kugel_deconv *p;
  int64_t voxels, data; // of the object, of the image
  void *x, *before,
      *from;            // object now, at the last step, where the step starts; `before` NULL: not accelerated
  void *r;              // object: what comes back
  void *sensitivity;    // object: H' M 1
  void *g[2];           // BIGGS: the last two steps
  void *y, *model;      // image with background taken into account; H x
  int64_t plane;        // the image's plane, of the whole, that is plane 0 of the object
  unsigned char *known; // M
  double *sums;         // of each chunk, 2
  int64_t missing, whole;     // voxels of the image, of all ranks: missing, and all
  double mean;                // of y - b over what is known
  void *near, *shown, *every; // with ranks, see ranks.h
} kugel__deconv_state;

/* Loops over n voxels; single: float, else double. Sums are over these voxels in one order. */
typedef struct kugel__deconv_ops {
  /* model <- M y / (model + b), 0 where missing or the quotient is none; returns the I-divergence. */
  double (*ratio)(bool single, int64_t n, const void *y, const unsigned char *known, double b, void *model);
  /* model <- M (y - b - model); returns half the sum of squares. */
  double (*residual)(bool single, int64_t n, const void *y, const unsigned char *known, double b,
                     void *model);
  /* to <- from r / s, and from where s <= cut. */
  void (*update)(bool single, int64_t n, const void *from, const void *r, const void *s, double cut,
                 void *to);
  /* to <- max(a + f (a - b), 0) */
  void (*extrapolate)(bool single, int64_t n, const void *a, const void *b, double f, void *to);
  /* g <- a - b; sums[0] += g h, sums[1] += h h, in order */
  void (*step)(bool single, int64_t n, const void *a, const void *b, const void *h, void *g, double *sums);
  /* y <- y + f x; floor: and at least 0 */
  void (*add)(bool single, int64_t n, double f, const void *x, bool floor, void *y);
  /* y <- x + f y */
  void (*turn)(bool single, int64_t n, const void *x, double f, void *y);
  double (*dot)(bool single, int64_t n, const void *x, const void *y);
  /* Components of grad x / |grad x| along a row, forward differences; z, y: the rows above, or x itself at the end.
   * Lengths are no less than `least` times the voxel. */
  void (*directions)(bool single, int64_t n, const void *x, const void *z, const void *y, double least,
                     double *gz, double *gy, double *gx);
} kugel__deconv_ops;

const kugel__deconv_ops *kugel__deconv_ops_now(void);

/* Least sensitivity of a voxel that is estimated; others stay as they began. Of float the rounding of transforms counts. */
static const double KUGEL__DECONV_CUT_F32 = 1e-4, KUGEL__DECONV_CUT_F64 = 1e-8;

/* Whether the iteration ends after a step that started at the divergence `value`; of ranks, all agree. */
kugel_status kugel__deconv_ends(kugel__deconv_state *s, kugel_deconv_info *info, double value, bool *ends);
/* All steps; sets what info holds of them. */
kugel_status kugel__deconv_iterate(kugel__deconv_state *s, kugel_deconv_info *info);
/* x / (1 - lambda div(grad x / |grad x|)) of a whole object, to `out`. */
kugel_status kugel__deconv_variation(kugel__deconv_state *s, double lambda, const void *x, void *out);
/* out <- out + lambda times the negative Laplacian of x, without slope at the edges. */
kugel_status kugel__deconv_laplacian(kugel__deconv_state *s, double lambda, const void *x, void *out);

#endif
