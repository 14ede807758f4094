/* SPDX-License-Identifier: BSD-3-Clause */
/* Transforms of points and modes that are spread over ranks, in two and three dimensions on the CPU.
 *
 * The fine grid is cut along axis 0 into parts of whole tiles, by the grid alone; a rank has consecutive parts, about its share of
 * the work. A point goes, with its cell and fractions, to the rank that has the part with its first cell. There each part is a
 * grid of its own, with width - 1 planes more behind it, on which its points are spread in their global order (ranks in
 * order, each rank's as they come) by the loops of one process. Those planes are added once to the first planes of the next part,
 * here or on another rank; parts are at least as deep. The planes of a part then go through the FFTs of the other axes,
 * part by part; an exchange brings the rows of modes of axis 1 together, each whole along axis 0, where the FFT of axis 0 computes each line
 * as if it were alone. So no number depends on which rank has which part: the same bits for any number of ranks. Values go the
 * same way back.
 *
 *   points -> parts: [planes + width - 1][fine[1]][fine[2]] -> rows of modes: [fine[0]][rows][columns] -> [n[0]][rows][columns]
 *
 * where the rows are modes of axis 1 and the columns modes of axis 2, in two dimensions 1. */
#ifndef KUGEL_NUFFT_RANKS_H
#define KUGEL_NUFFT_RANKS_H

#include "comm/layout.h"
#include "nufft/plan.h"

/* Of a plan. */
typedef struct kugel__nufft_ranks {
  kugel_comm *comm;
  int rank, size;
  int64_t parts;
  int64_t rows, columns; /* of modes */
  int64_t *row;          /* [size + 1]: rows of rank r are row[r] ... row[r + 1] - 1 */
} kugel__nufft_ranks;

/* A part that this rank has: its grid, whose axis 0 has `planes` of its own and width - 1 more, and its points. */
typedef struct kugel__nufft_part {
  kugel_nufft plan;
  kugel_nufft_points points;
  int64_t *start; /* of the tiles along axis 0 */
  int64_t planes;
  bool idle; /* no point of any rank reaches it */
  size_t at; /* bytes, where it is in the memory of all parts */
} kugel__nufft_part;

/* Of a set of points. */
typedef struct kugel__nufft_spread_points {
  int64_t *first; /* [size + 1]: parts of rank r are first[r] ... first[r + 1] - 1 */
  int64_t n;      /* own parts */
  kugel__nufft_part *part;
  size_t bytes;    /* of the memory of all parts */
  int64_t came;    /* points that are here, sorted by their ranks */
  uint32_t *order; /* [n of points]: which of the caller's points is sent i-th */
  size_t *table;   /* [4][size] points: to each rank, after how many; from each, after how many */
} kugel__nufft_spread_points;

/* Of a plan that is complete but for this, in the middle of an agreement. */
kugel_status kugel__nufft_ranks_create(kugel_nufft *p, kugel_comm *comm);
void kugel__nufft_ranks_destroy(kugel_nufft *p);

/* Tile and plane of axis 0 where a part starts. */
static inline int64_t kugel__nufft_part_tile(const kugel_nufft *p, int64_t part)
{
  return (part * p->axis[0].tiles + p->ranks->parts - 1) / p->ranks->parts;
}
static inline int64_t kugel__nufft_part_plane(const kugel_nufft *p, int64_t part)
{
  return p->axis[0].start[kugel__nufft_part_tile(p, part)];
}

/* Points where the caller has them: to their parts. In the middle of an agreement. */
kugel_status kugel__nufft_ranks_points(kugel_nufft_points *p, kugel__nufft_places *places);
void kugel__nufft_ranks_points_destroy(kugel_nufft_points *p);

/* An execution on this rank. */
typedef struct kugel__nufft_job {
  const kugel_nufft_points *p;
  const kugel_nufft *plan;
  const kugel__nufft_ranks *r;
  const kugel__nufft_spread_points *sp;
  bool to_modes;
  int sign;
  int64_t numbers;      /* of a point */
  size_t number, mode;  /* bytes of a number of points and the grid, of a mode */
  size_t plane, margin; /* bytes of a plane of the grid, of width - 1 planes */
  int64_t planes, rows; /* of this rank: planes of all parts, rows of modes */
  char *own, *other;    /* values of points, in the order in which they are sent; as they came */
  char *grid, *halo;    /* all parts; planes behind the part before */
  char *out, *lines;    /* [own planes of modes, by rank]; [fine[0]][rows][columns] */
  size_t *table;        /* [4][ranks] */
} kugel__nufft_job;

/* FFTs of the axes after the first, of all parts, before modes are sent or after they have come. */
kugel_status kugel__nufft_transform_parts(const kugel__nufft_job *t);
/* The FFT along axis 0 of own rows, in place: each line with the bits that it has alone. */
kugel_status kugel__nufft_transform_lines(const kugel__nufft_job *t);

kugel_status kugel__nufft_ranks_execute(const kugel_nufft_points *p, bool to_modes, int sign,
                                        const kugel_array *in, const kugel_array *out,
                                        const kugel_queue *queue);

#endif
