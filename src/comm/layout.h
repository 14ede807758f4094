/* SPDX-License-Identifier: BSD-3-Clause */
/* The layout behind kugel_layout, and moving plain memory between two. */
#ifndef KUGEL_COMM_LAYOUT_H
#define KUGEL_COMM_LAYOUT_H

#include "comm/comm.h"

/* Elements [first, first + n) of the whole array, at `at` of the rank's part. */
typedef struct kugel__run {
  int64_t first, n, at;
} kugel__run;

struct kugel_layout {
  kugel_ctx *ctx;
  kugel_comm *comm;
  int64_t count;
  bool everywhere;
  int64_t *begin;   // [ranks + 1]: runs of rank r are begin[r] ... begin[r + 1] - 1
  int64_t *part;    // [ranks] elements
  kugel__run *runs; // ascending within a rank
};

/* A layout of `runs` runs in all, to be filled by layout_add rank by rank, ascending. Local, not collective. */
kugel_status kugel__layout_new(kugel_ctx *ctx, kugel_comm *comm, int64_t count, int64_t runs,
                               kugel_layout **out);
/* Joins the run to the one before it where they touch. Ranks in order; every rank calls layout_rank once. */
void kugel__layout_rank(kugel_layout *l, int rank);
void kugel__layout_add(kugel_layout *l, int rank, int64_t first, int64_t n);
/* The same for a rank whose memory has the run at element `at`, wherever that is: for moves within the library. */
void kugel__layout_add_at(kugel_layout *l, int rank, int64_t first, int64_t n, int64_t at);
/* A layout alike, of its own. */
kugel_status kugel__layout_copy(kugel_ctx *ctx, const kugel_layout *from, kugel_layout **out);

/* Moves one array of elements of `bytes` bytes. Collective; no agreement at the end: the caller leaves. */
kugel_status kugel__layout_move(const kugel_layout *from, const void *x, const kugel_layout *to, void *y,
                                size_t bytes);

#endif
