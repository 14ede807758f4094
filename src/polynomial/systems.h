/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays [..., systems, n] with any strides, seen as lanes of real numbers for tiles, and the tasks of a call. */
#ifndef KUGEL_POLYNOMIAL_SYSTEMS_H
#define KUGEL_POLYNOMIAL_SYSTEMS_H

#include "core/array.h"
#include "core/base.h"
#include "polynomial/sweep.h"

enum { KUGEL__TASK_TILES = 4 /* most tiles of a task */ };

typedef struct kugel__systems {
  char *data;
  int parts;                            /* 2: complex */
  size_t word;                          /* bytes of a real */
  int lead;                             /* leading axes */
  int64_t shape[32], stride[32], batch; /* of the leading axes; strides in reals */
  int64_t system, step;                 /* from one system, one element, to the next, in reals */
  void *buffer;                         /* NULL, or the handle that data counts from, which is no address */
  uintptr_t lo, hi;                     /* bytes [lo, hi) that the array spans */
} kugel__systems;

/* Checks an array [..., systems, n] of a plan's numbers, on the host or on the device of the plan's context. systems = 1 may
 * be left out. */
kugel_status kugel__systems_on(const kugel_ctx *ctx, const kugel_array *a, const char *name, bool single,
                               bool complex, int64_t systems, int64_t n, bool written, kugel__systems *out);
/* On the host. */
kugel_status kugel__systems_of(const kugel_array *a, const char *name, bool single, bool complex,
                               int64_t systems, int64_t n, bool written, kugel__systems *out);
/* The same for an array [..., n] without an axis of systems. */
kugel_status kugel__systems_flat(const kugel_array *a, const char *name, bool single, bool complex, int64_t n,
                                 bool written, kugel__systems *out);
/* Checks that both have one batch and do not overlap. */
kugel_status kugel__systems_match(const kugel__systems *in, const kugel__systems *out);

/* Lanes [first, first + count) of a block of `systems` systems from system `from` on. */
void kugel__systems_rows(const kugel__systems *s, int64_t from, int64_t systems, int64_t first, int64_t count,
                         kugel__rows *rows);

/* The list of blocks of a plan. */
typedef struct kugel__blocks {
  int64_t blocks, systems;
  int64_t *degree, *multiplicity, *first, *n; /* [blocks]; one allocation, owned by degree */
} kugel__blocks;

/* Copies and checks lists: degrees 0 to `most`, called `what` in messages. n NULL: `whole` each. */
kugel_status kugel__blocks_create(kugel_ctx *ctx, const char *what, int64_t most, int64_t blocks,
                                  const int64_t *degree, const int64_t *multiplicity, const int64_t *n,
                                  int64_t whole, kugel__blocks *out);

/* Calls work(arg, block, first lane, lanes, worker) for all lanes of all blocks, by at most `workers` threads, long blocks (the
 * last) first. */
typedef kugel_status (*kugel__block_work)(void *arg, int64_t block, int64_t first, int64_t lanes, int worker);
kugel_status kugel__blocks_run(kugel_ctx *ctx, int64_t workers, const kugel__blocks *b,
                               int64_t lanes_per_system, int width, kugel__block_work work, void *arg);

#endif
