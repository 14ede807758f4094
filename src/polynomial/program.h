/* SPDX-License-Identifier: BSD-3-Clause */
/* A transform as a list of linear stages on a tile, which run forwards, or backwards and transposed for the adjoint. */
#ifndef KUGEL_POLYNOMIAL_PROGRAM_H
#define KUGEL_POLYNOMIAL_PROGRAM_H

#include "fft/cpu/lines.h"
#include "polynomial/sweep.h"

typedef enum kugel__stage_kind {
  KUGEL__STAGE_SCALE, /* rows times factor */
  KUGEL__STAGE_BAND,  /* bidiagonal product or solve */
  KUGEL__STAGE_LOWER, /* rotations to a lower degree */
  KUGEL__STAGE_PAIRS, /* the same, or with `raise` the way back, as a product and a solve with bands for each step */
  KUGEL__STAGE_MATRIX, /* a table */
  KUGEL__STAGE_WAVES, /* values of a cosine or sine series, times factor, by `synthesis`; transposed by `analysis` */
  KUGEL__STAGE_WEIGHT0 /* row 0 times sqrt(2), of a cosine series from orthonormal coefficients; transposed, which follows
                          DCT-II where the transpose of DCT-III stands, 1 / sqrt(2) */
} kugel__stage_kind;

/* V of b -> b + 1 (jacobi.h): gamma_i, 1 / gamma_i, zeta_{i+1}. */
typedef struct kugel__bidiagonal {
  const void *g, *inverse, *z;
} kugel__bidiagonal;

typedef struct kugel__tile_stage {
  kugel__stage_kind kind;
  bool transposed;
  int64_t in, out; /* rows before and after, as if it were not transposed */
  kugel__band band;
  const void *factor;
  const void *const *table;       /* LOWER: rotations of steps, in the order of lowering */
  int64_t degree;                 /* LOWER, PAIRS: the higher end of the chain */
  bool raise;                     /* PAIRS */
  const kugel__bidiagonal *bands; /* PAIRS: of each degree */
  kugel__matrix matrix;
  const kugel__axis *synthesis, *analysis;
  double scale;
} kugel__tile_stage;

enum { KUGEL__MOST_STAGES = 24 };

typedef struct kugel__poly_program {
  int stages;
  int64_t in, out; /* rows before and after */
  bool single;
  kugel__tile_stage stage[KUGEL__MOST_STAGES];
  char *room; /* for the numbers of bands and factors */
  size_t used, size;
} kugel__poly_program;

/* n numbers of the program's room, as doubles to fill; kugel__program_numbers then rounds them to the plan's precision. */
double *kugel__program_room(kugel__poly_program *p, int64_t n);
const void *kugel__program_numbers(const kugel__poly_program *p, double *numbers, int64_t n);

/* The next stage, from the rows that there are to `out` rows. */
kugel__tile_stage *kugel__program_add(kugel__poly_program *p, kugel__stage_kind kind, bool transposed,
                                      int64_t out);

typedef struct kugel__tiles {
  char *now, *other; /* `rows` rows each */
  double *work;      /* of the cosine transforms */
} kugel__tiles;

/* Runs all stages on tiles->now, or all of them backwards and transposed. */
void kugel__program_run(const kugel__poly_program *p, const kugel__sweep_ops *ops, bool adjoint,
                        kugel__tiles *tiles);

/* The same, with a first stage that reads rows of the caller, `from`, or a last one that writes `to`; NULL: the tile. Stages of
 * waves alone can; rows have all lanes of a tile. */
void kugel__program_between(const kugel__poly_program *p, const kugel__sweep_ops *ops, bool adjoint,
                            kugel__tiles *tiles, const kugel__rows *from, const kugel__rows *to);
bool kugel__program_ends_in_waves(const kugel__poly_program *p, bool adjoint, bool first);

/* Work space of a worker: two tiles of `rows` rows, a program's room for `numbers` doubles, that of cosine transforms. */
typedef struct kugel__space {
  size_t tile, room, work, total; /* bytes */
} kugel__space;
kugel__space kugel__space_of(bool single, int64_t rows, int64_t numbers, int64_t points);
/* program may be NULL. */
void kugel__space_use(const kugel__space *s, char *at, kugel__poly_program *program, kugel__tiles *tiles);

/* Half `half` (0, 1) of step j of a stage PAIRS, as a stage BAND. */
kugel__tile_stage kugel__program_pair(const kugel__tile_stage *s, int64_t j, int half);

/* n doubles to a plan's precision. */
void kugel__numbers_store(bool single, const double *from, int64_t n, void *to);

#endif
