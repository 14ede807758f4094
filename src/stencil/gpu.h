/* SPDX-License-Identifier: BSD-3-Clause */
/* Stencils on devices: what a plan has there, and its execution. Nodes whose rows are those inside, with values beyond an end that
 * are those of other nodes, go through marching kernels (stencil/march.h); the others, next to one-sided ends and in transposes on
 * mirrors, through kernels/edge.cl. */
#ifndef KUGEL_STENCIL_GPU_H
#define KUGEL_STENCIL_GPU_H

#include "device/lend.h"
#include "fft/gpu/work.h"
#include "stencil/leap.h"

/* Device memory of reals, and where they begin. */
typedef struct kugel__stencil_level {
  kugel__mem mem;
  int64_t at;
} kugel__stencil_level;

/* A state: leapfrog's level before is older, else it has no memory. */
typedef struct kugel__stencil_state {
  kugel__stencil_level older, newest;
} kugel__stencil_state;

/* out = a L in + b p + c q, of planes [lo[i], hi[i]) of the marching axis; p and q may have no memory. */
typedef struct kugel__stencil_gpu_use {
  kugel__stencil_level in, out, p, q;
  double a, b, c;
  int parts; /* 0: all planes */
  int64_t lo[2], hi[2];
} kugel__stencil_gpu_use;

/* Several steps per pass. */
typedef struct kugel__stencil_gpu_leap {
  kugel__leap_shape *shape; /* NULL: single steps */
  int64_t end[3];           /* planes, rows and columns at either end that take single steps, 0: none */
  kugel__module *module;
  kugel__kernel *kernel; /* NULL: not compiled yet */
} kugel__stencil_gpu_leap;

/* Ends of transposes. Rows next to a mirror read its own node twice, or not at all, and are else those of an even, or an odd, mirror:
 * of differences w with the ends' sum w[j - i] + w[-j - i] for j > 0, and w[-i] for j = 0, the transpose has w[j - i] + w[-j - i] for
 * i > 0 and, of i = 0, 2 w[j] where w is even, 0 where it is odd; with the ends' difference it is the other way round. */
enum { KUGEL__STENCIL_TWICE = 8, KUGEL__STENCIL_ABSENT = 9 };

/* A sum of terms on a device. */
typedef struct kugel__stencil_gpu_side {
  const kugel__stencil_side *side;
  kugel__march_sheet **sheet;
  int sheets;
  int64_t first[3], last[3]; /* regular nodes along each axis */
  int64_t span[3];           /* nodes from an end on that the rows of the others read */
  int kind[3]
          [2]; /* of an end, a kugel_stencil_boundary that the march knows: periodic, odd, even, zero; or: */
  int64_t edges; /* nodes that are not regular */
  void *tables;  /* of these nodes, in device memory */
  kugel__mem words, weights, parts, factors;
  kugel__stencil_gpu_leap leap[2]; /* of leapfrog, of the stages of Runge-Kutta */
} kugel__stencil_gpu_side;

/* Steps in time of a state. */
typedef struct kugel__stencil_gpu_march {
  const kugel_stencil *p;
  bool transposed;
  kugel_stencil_method method;
  double dt;
  int64_t steps, size; /* reals of a level */
  kugel_queue *queue;
} kugel__stencil_gpu_march;

struct kugel__stencil_gpu {
  kugel__device *dev;
  void *coefficients;              /* [][n...] */
  kugel__stencil_gpu_side side[2]; /* explicit differences: the operator, its transpose */
  struct kugel__stencil_gpu_compact *compact;
  kugel__module *module;
  kugel__kernel *edge, *exchange, *negate, *corrections, *correct;
  kugel__module *frames; /* NULL: not compiled yet */
  kugel__kernel *frame;
  kugel__gpu_work work, field, lines; /* of states; of the fields and of the lines of solves */
  pthread_mutex_t lock;               /* of the kernels that the first steps in time compile */
};

kugel_status kugel__stencil_gpu_create(kugel_stencil *p);
void kugel__stencil_gpu_destroy(kugel_stencil *p);

/* Kernels and tables of a sum of terms, which stays where it is. */
kugel_status kugel__stencil_gpu_side_make(const kugel_stencil *p, const kugel__stencil_side *side,
                                          kugel__stencil_gpu_side *out);
void kugel__stencil_gpu_side_free(const kugel_stencil *p, kugel__stencil_gpu_side *side);

/* A kernel of a sheet; those of steps in time, which add to results, and of unusual places of arrays are compiled by the first call. */
kugel_status kugel__stencil_gpu_kernel(const kugel_stencil *p, kugel__march_sheet *sheet, int variant,
                                       kugel__kernel **out);

/* Of a loan, from its real `at` on. */
kugel__stencil_level kugel__stencil_level_of(const kugel_stencil *p, const kugel__loan *loan, int64_t at);

kugel_status kugel__stencil_gpu_sum(const kugel_stencil *p, const kugel__stencil_gpu_side *side,
                                    const kugel__stencil_gpu_use *u, int64_t items, kugel_queue *queue);
/* The plan's operator, compact ones too, of `items` states. */
kugel_status kugel__stencil_gpu_operate(const kugel_stencil *p, bool transposed,
                                        const kugel__stencil_gpu_use *u, int64_t items, kugel_queue *queue);

/* Compact differences: a sum of terms before the solve of each, and one after it. */
kugel_status kugel__stencil_gpu_compact_make(kugel_stencil *p);
void kugel__stencil_gpu_compact_free(kugel_stencil *p);

/* x = A^-1 x of one field along an axis, by way of `room`, two fields. A solver's tables go to the device first. */
kugel_status kugel__stencil_gpu_solver_make(const kugel_stencil *p, kugel__stencil_solver *s);
kugel_status kugel__stencil_gpu_solve(const kugel_stencil *p, const kugel__stencil_solver *s, int axis,
                                      const kugel__stencil_level *x, const kugel__stencil_level *room,
                                      kugel_queue *queue);

/* Alternating directions of a state. */
kugel_status kugel__stencil_gpu_adi(const kugel__stencil_gpu_march *m, kugel__stencil_level state);

/* How many steps share a pass, in plans that have their sheets. */
kugel_status kugel__stencil_gpu_leap_make(kugel_stencil *p);
void kugel__stencil_gpu_leap_free(kugel_stencil *p);
/* Whether some steps of m share a pass. */
bool kugel__stencil_gpu_has_passes(const kugel__stencil_gpu_march *m, bool leapfrog);
/* As many steps of m as go in passes of several, *done of them; 0 if memory for a second state is lacking. `before` is the level before
 * `now` of leapfrog, else it has no memory. */
kugel_status kugel__stencil_gpu_passes(const kugel__stencil_gpu_march *m, kugel__stencil_level before,
                                       kugel__stencil_level now, int64_t *done);

/* The steps of a pass of the nodes next to ends, of which those that the pass has no values for go to `to`. `from` is changed; `room` are two levels for stages of
 * Runge-Kutta. */
kugel_status kugel__stencil_gpu_ends(const kugel__stencil_gpu_march *m, const kugel__stencil_gpu_leap *own,
                                     kugel__stencil_state *from, const kugel__stencil_state *to,
                                     const kugel__stencil_level *room);
/* Reals [first, first + count) of a level. */
kugel_status kugel__stencil_gpu_copy(const kugel__stencil_gpu_march *m, const kugel__stencil_level *from,
                                     const kugel__stencil_level *to, int64_t first, int64_t count);

/* Arrays that were checked. */
kugel_status kugel__stencil_gpu_apply(const kugel_stencil *p, bool transposed, int64_t count,
                                      const kugel_array *in, const kugel_array *out, kugel_queue *queue);
kugel_status kugel__stencil_gpu_advance(const kugel_stencil *p, bool transposed, kugel_stencil_method method,
                                        double dt, int64_t steps, const kugel_array *state,
                                        kugel_queue *queue);

#endif
