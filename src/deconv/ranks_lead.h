/* SPDX-License-Identifier: BSD-3-Clause */
/* An execution of a plan that rank 0 leads, as each rank sees it. */
#ifndef KUGEL_DECONV_RANKS_LEAD_H
#define KUGEL_DECONV_RANKS_LEAD_H

#include "deconv/ranks.h"

struct kugel__deconv_led {
  kugel_ctx *ctx;
  kugel_comm *comm;
  int64_t id;
  const kugel_deconv *plan; // whole: over ranks; else of tiles, on rank 0 the caller's
  kugel_deconv *made;       // by this
  bool whole;
};

enum { KUGEL__LED_IMAGE, KUGEL__LED_MASK, KUGEL__LED_START, KUGEL__LED_OUT, KUGEL__LED_ARRAYS };

typedef struct kugel__deconv_led_run_of {
  const kugel__deconv_led *l;
  kugel_dtype type[KUGEL__LED_ARRAYS];      // bits 0: not given
  kugel__deconv_box *of[KUGEL__LED_ARRAYS]; // on rank 0
  char *mine[KUGEL__LED_ARRAYS];            // of this rank's slab or tile
  char *messages;                           // on rank 0
  size_t *table;                            // [4][size]
} kugel__deconv_led_run_of;

/* Within an agreement; the same on all ranks. */
kugel_status kugel__deconv_led_whole(kugel__deconv_led_run_of *r, kugel_deconv_info *info);
kugel_status kugel__deconv_led_tiles(kugel__deconv_led_run_of *r, kugel_deconv_info *info);

#endif
