/* SPDX-License-Identifier: BSD-3-Clause */
/* Polynomial transforms on devices. A call is a list of launches over all lanes of all blocks at once:
 *
 *   TILES     reads lanes (of the caller's array or the work array) into their lines of the work array, runs row stages there,
 *             bands and chains of rotations, and writes them (kernels/tiles.cl)
 *   PRODUCTS  tables times lines of the work array or of the caller's arrays (kernels/product.cl); doubles on CUDA by the tensor
 *             cores
 *   WAVES     cosine and sine transforms of lines of the work array, in place, by the FFT generator
 *
 * The work array is [1 or 2 planes][lanes][line] reals; lanes of one system (its parts in all batches) follow each other, systems
 * of one block too. What a list holds does not depend on the batch: counts in it are of systems, and a call says how many
 * lanes a system has. Lists are made when an operator is first used, and kept.
 *
 * The systolic chain (tiles.cl) reads the rotation (C_k, S_k) of step g, from the lowest degree up, at index
 * (STEPS k + (STEPS + 1) g + STEPS (STEPS + 2)) width + g / STEPS of its family's table: what the threads of a group need in
 * one tick lies side by side, whichever step their chain begins with, so that one table of (top + K) width pairs serves
 * chains of all degrees of a parity. k < 0 is (1, 0). Where the shape lifts, the table has (p, S), p = -S / (1 + C).
 * Chains by scans (kernels/scan.h.cl) and by tensor cores (kernels/tensor.h.cl) have tables of their own (gpu_scan.c, gpu_tensor.c). */
#ifndef KUGEL_POLYNOMIAL_GPU_H
#define KUGEL_POLYNOMIAL_GPU_H

#include <kugel/fft.h>
#include "codegen/module.h"
#include "device/lend.h"
#include "fft/gpu/work.h"
#include "polynomial/systems.h"

enum {
  KUGEL__POLY_FAMILIES = 34,
  KUGEL__POLY_SIDE = 64,       /* of a block of products */
  KUGEL__POLY_SQUARE = 14 * 64 /* reals of a matrix of chains by tensor cores */
};

/* How chains of rotations run. */
typedef enum kugel__poly_chains {
  KUGEL__CHAINS_SYSTOLIC,
  KUGEL__CHAINS_SCAN,
  KUGEL__CHAINS_TENSOR
} kugel__poly_chains;

/* What specialises kernels/tiles.cl, in powers of two. Results do not depend on it but for `lift`: three operations a rotation in
 * place of four, whose bits are not those of the CPU. */
typedef struct kugel__poly_shape {
  int group, steps, lanes; /* threads of a systolic array; steps, and lanes at once, of each */
  int warps, blocks;       /* of a block; blocks a multiprocessor has registers for */
  int ticks;               /* between barriers */
  int lift;
  int scan;   /* chains by scans: a line's places in registers of each thread of a warp; else 0 */
  int tensor; /* chains by tensor cores: blocks of 16 steps of a pass; else 0 */
} kugel__poly_shape;

/* The shape for jobs of `lanes` lanes, 0: of many; KUGEL_POLYNOMIAL_GROUP, _STEPS, _LANES, _WARPS, _BLOCKS, _TICKS, _LIFT set each. */
kugel__poly_shape kugel__poly_choose(bool cuda, bool single, int lanes, int64_t shared_bytes);
/* That of chains by scans of lines of `rows` rows. */
kugel_status kugel__poly_scan_shape(bool cuda, int64_t rows, kugel__poly_shape *out);
/* That of chains by tensor cores; KUGEL_POLYNOMIAL_WARPS, _BLOCKS and _STEPS, here blocks of 16 steps of a pass, set each. */
kugel__poly_shape kugel__poly_tensor_shape(bool cuda, int64_t shared_bytes);
/* Lanes of a tile, which is of a block. */
static inline int64_t kugel__poly_lanes(const kugel__poly_shape *s)
{
  return 32 / s->group * s->lanes * (int64_t)s->warps;
}
/* What specialises kernels/product.cl: rows of a block; groups of 16 columns in shared memory; tensor cores for doubles. */
typedef struct kugel__product_shape {
  int rows, stages, mma;
} kugel__product_shape;

/* Shared memory of a block of products that a launch gives. */
static inline int64_t kugel__product_shared(const kugel__product_shape *s, size_t word)
{
  const int64_t pitch = s->mma ? 20 : 18, by_rows = s->rows * pitch, by_columns = 16 * ((int64_t)s->rows + 4);
  return s->stages * (16 * (KUGEL__POLY_SIDE + 4) + (by_rows > by_columns ? by_rows : by_columns)) *
         (int64_t)word;
}

/* Shared memory of a block that a launch gives. */
static inline int64_t kugel__poly_shared(const kugel__poly_shape *s, size_t word)
{
  int64_t stages = 4 * (int64_t)s->ticks * s->steps * s->group;
  if (s->tensor)
    return 2 * (int64_t)s->tensor * KUGEL__POLY_SQUARE * (int64_t)word;
  return (stages + s->warps * 3 * (int64_t)s->ticks * (32 / s->group * s->lanes + 2)) * (int64_t)word;
}

/* The structs of kernels/tiles.cl and kernels/product.cl. */
typedef struct kugel__tile_job {
  int64_t before, system, systems, base;
  int64_t take, take_at, take_step, plane;
  int64_t rows;
  int64_t put, put_all, put_at, put_step;
  int64_t op, ops;
} kugel__tile_job;

typedef enum kugel__tile_op_kind {
  KUGEL__OP_CLEAR, /* rows [n, steps) */
  KUGEL__OP_SCALE, /* n rows by the numbers at a */
  KUGEL__OP_PRODUCT,
  KUGEL__OP_PRODUCT_TRANSPOSED,
  KUGEL__OP_SOLVE,
  KUGEL__OP_SOLVE_TRANSPOSED, /* n rows, shift `steps`, diagonals at a and b */
  KUGEL__OP_LOWER, /* n rows, a: table, b: highest step (tensor cores: rotations behind the table), row: width of the table */
  KUGEL__OP_RAISE
} kugel__tile_op_kind;

typedef struct kugel__tile_op {
  int64_t kind, n, steps, a, b, row;
} kugel__tile_op;

typedef struct kugel__table_job {
  int64_t before, systems, base, rows, columns, table, row, column, upper, take_at, take_step;
  int64_t put_base, put_rows, put_at, put_step, add, from, to, first, system;
  int64_t scale; /* a real of the plan's precision; kugel__poly_product fills it */
} kugel__table_job;

typedef struct kugel__tile_side {
  int64_t at, element, system, shape[6], stride[6];
  int32_t lead, work;
} kugel__tile_side;

typedef struct kugel__tiles_args {
  kugel__tile_side in, out;
  int64_t line, plane, per;
  int32_t jobs, parts;
} kugel__tiles_args;

typedef struct kugel__product_args {
  kugel__tile_side in, out;
  int64_t line, plane, per;
  int32_t jobs, parts, rows, wide;
} kugel__product_args;

typedef enum kugel__poly_kind { KUGEL__POLY_TILES, KUGEL__POLY_PRODUCTS, KUGEL__POLY_WAVES } kugel__poly_kind;

typedef struct kugel__poly_launch {
  kugel__poly_kind kind;
  bool from_caller, to_caller;
  size_t at;                          /* bytes of the list's memory: its jobs */
  int64_t jobs, systems, rows, first; /* systems of all jobs; most rows of a job; WAVES: the first system */
  int64_t plane;                      /* WAVES */
  const kugel_fft *fft;
} kugel__poly_launch;

enum { KUGEL__POLY_LAUNCHES = 12 };

/* All launches of one kind of call. */
typedef struct kugel__poly_list {
  struct kugel__poly_list *next;
  int key, launches;
  kugel__poly_launch launch[KUGEL__POLY_LAUNCHES];
  size_t ops, numbers; /* bytes of the memory */
  int64_t systems;     /* that the work array holds */
  int planes; /* of the work array: 2 where PRODUCTS read and write it, 0 where all is in the caller's arrays */
  void *memory; /* on the device: jobs, ops, numbers */
} kugel__poly_list;

typedef struct kugel__poly_waves {
  struct kugel__poly_waves *next;
  kugel_fft_kind kind;
  double scale;
  kugel_fft *fft;
} kugel__poly_waves;

typedef struct kugel__poly_family {
  int64_t at, width, steps; /* in the table of rotations, in pairs */
  int64_t few;              /* of tensor cores: rotations, from `at` on */
} kugel__poly_family;

typedef struct kugel__poly_table {
  const void *host;
  int64_t at; /* in the tables, in reals */
} kugel__poly_table;

typedef struct kugel__poly_gpu {
  kugel_ctx *ctx;
  kugel__device *device;
  bool single;
  size_t word;
  int64_t waves_length, line; /* points of WAVES; reals of a line of the work array: rows of all tiles */
  kugel__poly_shape shape;
  kugel__product_shape product_shape;
  kugel__module *modules[2];
  kugel__kernel *tiles, *product;
  kugel__poly_family family[KUGEL__POLY_FAMILIES];
  void *turns, *tables;
  kugel__poly_table *known;
  int64_t tables_known;
  uint64_t bytes; /* on the device */
  pthread_mutex_t lock;
  kugel__poly_list *lists;  /* under the lock */
  kugel__poly_waves *waves; /* under the lock */
  kugel__gpu_work work;
} kugel__poly_gpu;

/* Kernels for tiles of at most `rows` rows; lanes: of a job, 0: many. */
kugel_status kugel__poly_create(kugel_ctx *ctx, bool single, int64_t rows, int64_t waves_length,
                                kugel__poly_chains chains, int lanes, kugel__poly_gpu **out);
void kugel__poly_destroy(kugel__poly_gpu *g);

/* Family f of rotations: step i of `steps` is kugel__jacobi_rotations(a, b0 + 2 i, sign, ...), of chains with at most `reach`
 * rows after their last step; or tables of the plan's precision, in the order of lowering. All families in one call. */
typedef struct kugel__poly_rotations {
  double a, b0, sign;
  int64_t steps, reach;
  const void *const
      *tables; /* [steps] of reach - i pairs for step i, which is tables[steps - 1 - i]; NULL: a, b0, sign */
} kugel__poly_rotations;
kugel_status kugel__poly_turns(kugel__poly_gpu *g, int families, const kugel__poly_rotations *of);

/* Of scans: pairs of a step in the table; a family's part of it, scratch for the rotations of a step. */
int64_t kugel__poly_scan_pairs(const kugel__poly_shape *s);
void kugel__poly_scan_fill(const kugel__poly_gpu *g, const kugel__poly_rotations *f, kugel__poly_family at,
                           void *scratch, void *table);

/* Of tensor cores, the same: matrices [D][width] of 16 steps and 16 diagonals, then rotations [d][width][16]. */
int64_t kugel__poly_tensor_pairs(const kugel__poly_rotations *f, int64_t *few);
void kugel__poly_tensor_fill(const kugel__poly_gpu *g, const kugel__poly_rotations *f, kugel__poly_family at,
                             void *scratch, void *table);

/* n tables of the host to the device; later kugel__poly_find says where one lies. */
typedef struct kugel__poly_host {
  const void *data;
  int64_t count; /* reals */
} kugel__poly_host;
kugel_status kugel__poly_tables(kugel__poly_gpu *g, int64_t n, const kugel__poly_host *of);
int64_t kugel__poly_find(const kugel__poly_gpu *g, const void *host);

/* ---- lists under construction ---- */

typedef struct kugel__poly_text {
  kugel__poly_gpu *g;
  kugel_status status;
  kugel__poly_list *list;
  char *bytes[4]; /* jobs of the launch; ops; numbers; jobs of launches before */
  size_t used[4], room[4];
} kugel__poly_text;

/* The list of a key, made by make(of, text) if it is new. */
typedef void kugel__poly_maker(const void *of, int key, kugel__poly_text *t);
kugel_status kugel__poly_list_get(kugel__poly_gpu *g, int key, int64_t systems, kugel__poly_maker *make,
                                  const void *of, const kugel__poly_list **out);

/* Where n of the plan's numbers lie, copied from the host. */
int64_t kugel__poly_numbers(kugel__poly_text *t, const void *numbers, int64_t n);
void kugel__poly_op(kugel__poly_text *t, kugel__tile_op op);
int64_t kugel__poly_ops(const kugel__poly_text *t); /* so far */
void kugel__poly_tile(kugel__poly_text *t, kugel__tile_job job);
/* scale: of all results. */
void kugel__poly_product(kugel__poly_text *t, kugel__table_job job, double scale);
/* Ends a launch of the jobs since the last one; none: no launch. */
void kugel__poly_end_tiles(kugel__poly_text *t, bool from_caller, bool to_caller);
void kugel__poly_end_products(kugel__poly_text *t);
/* Lines of systems [first, first + systems) of a plane. */
void kugel__poly_add_waves(kugel__poly_text *t, kugel_fft_kind kind, double scale, int64_t first,
                           int64_t systems, int64_t plane);

/* ---- calls ---- */

/* in and out: views that kugel__systems_on made of arrays. */
kugel_status kugel__poly_run(const kugel__poly_gpu *g, const kugel__poly_list *list, const kugel_array *in,
                             const kugel_array *out, const kugel__systems *from, const kugel__systems *to,
                             kugel_queue *queue);

#endif
