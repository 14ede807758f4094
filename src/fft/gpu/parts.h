/* SPDX-License-Identifier: BSD-3-Clause */
/* What a device plan is made of: plan.c chooses the passes, passes.c lays them out, make.c makes plans, kernels.c their kernels,
 * gpu.c runs them, measure.c times them, and create.c puts this together. */
#ifndef KUGEL_FFT_GPU_PARTS_H
#define KUGEL_FFT_GPU_PARTS_H

#include <pthread.h>
#include "codegen/module.h"
#include "fft/gpu/block.h"
#include "fft/gpu/gpu.h"
#include "fft/gpu/work.h"

enum { KUGEL__GPU_AXES = 8, KUGEL__GPU_PASSES = 6 };

/* Where a pass reads or writes: the caller's arrays, or work memory, which has two parts. */
typedef enum kugel__gpu_room { KUGEL__ROOM_ARRAY, KUGEL__ROOM_WORK, KUGEL__ROOM_SECOND } kugel__gpu_room;

/* Where transform i begins and how its points follow: (i mod c0) d0 + (i / c0) d1 + point step, in elements.
 */
typedef struct kugel__gpu_walk {
  int64_t d0, d1, step;
} kugel__gpu_walk;

/* The kernel as it is for any array; bits: for real lines whose numbers lie in pairs as complex ones do; for
 * arrays whose elements along the axis follow each other. */
enum { KUGEL__ANY_REALS = 0, KUGEL__PAIRED_REALS = 1, KUGEL__UNIT_STEPS = 2, KUGEL__VARIANTS = 4 };

typedef struct kugel__gpu_pass {
  kugel__block block;
  bool finish;       /* kugel__finish_build, else kugel__block_build */
  bool one_line;     /* a launch takes one line */
  bool unit;         /* KUGEL__UNIT_STEPS is expected */
  int64_t count, c0; /* transforms of a line */
  kugel__gpu_room source, sink;
  kugel__gpu_walk from, to;                              /* in work memory */
  void *tables, *order;                                  /* device memory, which belongs to: */
  struct kugel__constants *shared_tables, *shared_order; /* NULL: tables with factors are the pass's own */
  kugel__module *module[KUGEL__VARIANTS];
  kugel__kernel *kernel[KUGEL__VARIANTS];
  size_t shared[KUGEL__VARIANTS]; /* bytes of shared memory a block */
} kugel__gpu_pass;

/* One axis in one direction. With a single pass its count and walks are those of the arrays. */
typedef struct kugel__gpu_chain {
  kugel__line line;
  int passes;
  int64_t work, second; /* complex numbers of work memory a line, in its two parts */
  kugel__gpu_pass pass[KUGEL__GPU_PASSES];
} kugel__gpu_chain;

struct kugel__fft_gpu {
  kugel_ctx *ctx;
  kugel__fft_gpu_desc desc;
  kugel__type real;
  bool own_inverse;                           /* both directions are the forward chains */
  kugel__gpu_chain chain[KUGEL__GPU_AXES][2]; /* forward, inverse */
  pthread_mutex_t compiling;
  kugel__gpu_work work;
  int64_t memory;              /* the context's limit, bytes; 0: none */
  bool from_file;              /* it has all the kernels that it will ever have */
  unsigned across;             /* of a plan in the list below: bit i: axis i is not in order after all */
  struct kugel__fft_gpu *next; /* the same plan for arrays in another order, made when one comes */
};

/* The plan for the arrays of a call: if elements along an axis were expected to follow each other and it is
 * those of neighbouring lines that do, one whose blocks read neighbouring lines. */
kugel_status kugel__gpu_plan_for(kugel__fft_gpu *plan, const kugel__fft_gpu_call *call, kugel__fft_gpu **out);

/* What a row GPU_SOLVER of fft/solvers.def is asked for: passes of chain->line. It returns false, and leaves no passes, if
 * it has none. */
typedef struct kugel__gpu_problem {
  kugel__type real;
  bool in_order, clusters; /* as in kugel__gpu_chain_plan */
  uint64_t shared, room;   /* bytes of shared memory that a block has, and that passes should make do with */
} kugel__gpu_problem;
#define GPU_SOLVER(name, plan, share) bool plan(const kugel__gpu_problem *problem, kugel__gpu_chain *chain);
#include "fft/solvers.def"

/* Chooses the passes of a line. in_order: as in kugel__fft_gpu_desc; clusters: the device has clusters of
 * blocks. */
kugel_status kugel__gpu_chain_plan(kugel__gpu_chain *chain, const kugel__line *line, kugel__type real,
                                   bool in_order, uint64_t shared, bool clusters);

/* Other chains for the line of one that was chosen: at most `room`, those expected to be faster first. */
int kugel__gpu_chain_others(const kugel__gpu_chain *chain, kugel__type real, bool in_order, uint64_t shared,
                            int room, kugel__gpu_chain *list);

/* Replaces the chain of an axis and direction by the fastest of several, timed on the device now or by an
 * earlier plan of this build of the library. kind: that of the axis. */
kugel_status kugel__gpu_measure(kugel__fft_gpu *plan, kugel_fft_kind kind, int axis, int direction,
                                uint64_t shared);

/* Appends what was chosen by measurement for an axis and direction of a finished plan. */
kugel_status kugel__gpu_measured_keep(const kugel__fft_gpu *plan, int axis, int direction,
                                      struct kugel__bundle *bundle);

/* ---- passes.c: an empty chain becomes columns and rows of n = factor[0] factor[1] (factor[2]) points, or Bluestein's convolution
 * on so many ---- */
void kugel__gpu_by_factors(kugel__gpu_chain *c, kugel__type real, uint64_t shared, int factors,
                           const int64_t *factor);
void kugel__gpu_by_convolution(kugel__gpu_chain *c, kugel__type real, uint64_t shared, int factors,
                               const int64_t *factor);

/* ---- kernels.c ---- */

enum {
  KUGEL__GPU_MOST = KUGEL__GPU_AXES * 2 * KUGEL__GPU_PASSES, /* passes of a plan */
  KUGEL__GPU_NAME = 40                                       /* characters of a kernel's name */
};

/* What a kernel's text is generated from. */
typedef struct kugel__gpu_recipe {
  kugel__block block;
  int64_t finish;
} kugel__gpu_recipe;

/* Kernels to be compiled together. */
typedef struct kugel__gpu_batch {
  int count;
  kugel__gpu_pass *pass[KUGEL__GPU_MOST];
  int variant[KUGEL__GPU_MOST];
  kugel__gpu_recipe of[KUGEL__GPU_MOST];
  kugel__module_spec spec[KUGEL__GPU_MOST];
  kugel__module *module[KUGEL__GPU_MOST];
  char name[KUGEL__GPU_MOST][KUGEL__GPU_NAME];
} kugel__gpu_batch;

/* Whether the pass reads or writes reals that may lie in pairs, and the kernel for those that do. */
bool kugel__gpu_pairs(const kugel__gpu_pass *pass);
kugel__block kugel__gpu_variant(const kugel__gpu_pass *pass, int variant);
/* The variant that is made with the plan. */
int kugel__gpu_first_variant(const kugel__fft_gpu *plan, int axis, const kugel__gpu_pass *pass);
/* The position in naxes of the k-th axis that runs. */
int kugel__gpu_axis_that_runs(const kugel__fft_gpu *plan, bool inverse, int k);
void kugel__gpu_batch_add(kugel__fft_gpu *plan, kugel__gpu_batch *all, kugel__gpu_pass *pass, int variant);
kugel_status kugel__gpu_batch_compile(kugel__fft_gpu *plan, kugel__gpu_batch *all);
/* The kernels that a plan from a file may need later, when the file is closed. */
kugel_status kugel__gpu_make_variants(kugel__fft_gpu *plan);

/* ---- tables.c, make.c ---- */

/* The tables of a pass; `factor` of what it reads and writes, or NULL. */
kugel_status kugel__gpu_tables(kugel__fft_gpu *plan, kugel__gpu_pass *pass, const double *const factor[2]);
void kugel__gpu_tables_free(kugel__device *dev, kugel__gpu_pass *pass);

/* A plan is made in three steps: it is begun, without chains; gets them, each replaced by what `other` chooses unless
 * that is NULL; and is finished: tables and kernels of all passes are made, or, after a failure `s`, it is destroyed. */
typedef kugel_status kugel__gpu_chooser(kugel__fft_gpu *plan, kugel_fft_kind kind, int axis, int direction,
                                        uint64_t shared);
kugel_status kugel__gpu_begin(kugel_ctx *ctx, const kugel__fft_gpu_desc *desc, kugel__fft_gpu **out);
kugel_status kugel__gpu_chains(kugel__fft_gpu *plan, kugel__gpu_chooser *other);
kugel_status kugel__gpu_finish(kugel__fft_gpu *plan, kugel_status s, kugel__fft_gpu **out);

/* Appends the machine code of all kernels. */
kugel_status kugel__gpu_keep_kernels(kugel__fft_gpu *plan, struct kugel__bundle *bundle);
/* The kernel of a variant, compiled now if it was not. */
kugel_status kugel__gpu_kernel(kugel__fft_gpu *plan, kugel__gpu_pass *pass, int variant, kugel__kernel **out);

#endif
