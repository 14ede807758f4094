/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels of stencils on devices. A block of threads owns a tile of columns of nodes and marches along the slowest axis: each
 * plane of a source comes to shared memory once, a few planes ahead, and is added at once to the sums of all planes that need it,
 * which stay in registers. A sheet is what one kernel does: at most a few sources, groups and targets.
 *
 * Roles of axes: 0 the march (the slowest axis of two or three), 1 rows (the middle one of three), 2 columns (the last). */
#ifndef KUGEL_STENCIL_MARCH_H
#define KUGEL_STENCIL_MARCH_H

#include "codegen/module.h"
#include "stencil/plan.h"

enum {
  KUGEL__MARCH_SOURCES = 6,
  KUGEL__MARCH_GROUPS = 8,
  KUGEL__MARCH_TARGETS = 8,
  KUGEL__MARCH_WEIGHTS = 240, /* arguments of a kernel have 4 KiB */
  KUGEL__MARCH_HALF = KUGEL__STENCIL_REACH,
  KUGEL__MARCH_SPAN = 2 * KUGEL__MARCH_HALF + 1,
  /* Kernels of a sheet, numbers to add up: for results that are added to others, for arrays where pairs of nodes cannot be read at once. */
  KUGEL__MARCH_ADDS = 1,
  KUGEL__MARCH_APART = 2,
  KUGEL__MARCH_VARIANTS = 4
};

/* All that the text of a kernel depends on. Offsets k of nodes have the index k + HALF; 1: there is a weight. */
typedef struct kugel__march_shape {
  int32_t single;
  int32_t wide, tall, rows; /* threads of a block along columns and rows; rows of a thread */
  int32_t columns;          /* of a thread: 1 or 2 */
  int32_t pairs;    /* two columns are read and written at once: rows are even, and their ends no mirrors */
  int32_t blocks;   /* of a multiprocessor, that registers are kept for */
  int32_t adds;     /* b p + c q to the result */
  int32_t stages;   /* planes in shared memory */
  int32_t unrolled; /* steps of the loop's body; 1: sums move from register to register */
  int32_t reach;    /* along the march */
  int32_t half;     /* of a difference */
  int32_t signs;    /* values beyond an end are 0 or change their sign */
  int32_t large;    /* offsets in a plane need 64 bits */
  int32_t sources, groups, targets;
  struct {
    int32_t halo[2];     /* rows and columns beyond the tile */
    int32_t corners;     /* of the halo are read */
    int32_t coefficient; /* multiplies what is read */
  } source[KUGEL__MARCH_SOURCES];
  struct {
    int32_t target, coefficient; /* multiplies the sum */
  } group[KUGEL__MARCH_GROUPS];  /* sums of one coefficient of a target */
  /* [source][group]: along the march; in a plane; the product of differences along the march and rows, columns. */
  uint8_t column[KUGEL__MARCH_SOURCES][KUGEL__MARCH_GROUPS][KUGEL__MARCH_SPAN];
  uint8_t plane[KUGEL__MARCH_SOURCES][KUGEL__MARCH_GROUPS][KUGEL__MARCH_SPAN][KUGEL__MARCH_SPAN];
  uint8_t mixed[KUGEL__MARCH_SOURCES][KUGEL__MARCH_GROUPS][2];
  uint8_t even[KUGEL__MARCH_SOURCES]
              [KUGEL__MARCH_GROUPS]; /* weights of opposite offsets are the same, and one argument */
} kugel__march_shape;

/* Places of weights among the kernel's arguments. */
typedef struct kugel__march_index {
  int16_t column[KUGEL__MARCH_SOURCES][KUGEL__MARCH_GROUPS][KUGEL__MARCH_SPAN];
  int16_t plane[KUGEL__MARCH_SOURCES][KUGEL__MARCH_GROUPS][KUGEL__MARCH_SPAN][KUGEL__MARCH_SPAN];
  int16_t mixed[KUGEL__MARCH_SOURCES][KUGEL__MARCH_GROUPS][2][2]
               [KUGEL__MARCH_SPAN]; /* in the plane, along the march */
  int count;
} kugel__march_index;

typedef struct kugel__march_sheet {
  kugel__march_shape shape, variant[KUGEL__MARCH_VARIANTS];
  int field[KUGEL__MARCH_SOURCES], read_coefficient[KUGEL__MARCH_SOURCES]; /* coefficients: -1: 1 */
  int sum_coefficient[KUGEL__MARCH_GROUPS], target[KUGEL__MARCH_TARGETS];
  bool more; /* adds to what an earlier sheet wrote */
  double column[KUGEL__MARCH_SOURCES][KUGEL__MARCH_GROUPS][KUGEL__MARCH_SPAN];
  double plane[KUGEL__MARCH_SOURCES][KUGEL__MARCH_GROUPS][KUGEL__MARCH_SPAN][KUGEL__MARCH_SPAN];
  double mixed[KUGEL__MARCH_SOURCES][KUGEL__MARCH_GROUPS][2][2][KUGEL__MARCH_SPAN];
  kugel__module *module[KUGEL__MARCH_VARIANTS]; /* NULL: not compiled yet */
  kugel__kernel *kernel[KUGEL__MARCH_VARIANTS];
} kugel__march_sheet;

/* What the planning of sheets needs to know. */
typedef struct kugel__march_setting {
  const kugel_stencil *plan;
  const kugel__stencil_side *side;
  int64_t shared; /* bytes of a block */
  bool signs;
  bool apart;    /* rows have ends that are not periodic: pairs beyond them are not those of the grid */
  bool unrolled; /* sums stay in their registers, whatever that costs the compiler */
} kugel__march_setting;

static inline int kugel__march_axis(int ndim, int role)
{
  return role == 2 ? 2 : ndim == 2 ? 1 - role : role;
}

/* The number of a coefficient in the plan's device memory, -1 for NULL. */
int kugel__march_coefficient(const kugel_stencil *p, const char *coefficient);

/* The sheets of a side, allocated; the caller frees each and the list. */
kugel_status kugel__march_make(const kugel__march_setting *s, kugel__march_sheet ***sheets, int *count);

void kugel__march_number(const kugel__march_shape *s, kugel__march_index *index);
/* Writes a sheet's weights where its arguments have them, after the three factors of a result; yields their number. */
int kugel__march_weights(const kugel__march_sheet *sheet, bool single, char *reals);
int64_t kugel__march_cells(const kugel__march_shape *s, int source);
int64_t kugel__march_shared(const kugel__march_shape *s); /* bytes of a block */
kugel__module_spec kugel__march_module(const kugel__march_shape *s);
void kugel__march_folds(struct kugel__text *text,
                        bool large); /* what is beyond the ends, for texts of kernels */

#endif
