/* SPDX-License-Identifier: BSD-3-Clause */
/* Work on the CPU that the resident engine and pencil.c share: slices (resident_slices.c), and their rows of voxels
 * (resident_rows.c). */
#ifndef KUGEL_VOLUME_RESIDENT_H
#define KUGEL_VOLUME_RESIDENT_H

#include "volume/cpu/lines.h"

typedef struct kugel__resident_side { /* what slices are read from or written to */
  const kugel__volume_list *list[KUGEL__VOLUME_DIMS];
  const int64_t *source[KUGEL__VOLUME_DIMS]; /* where elements are in the array, or NULL */
  int64_t extent[KUGEL__VOLUME_DIMS];        /* of the array */
  kugel__volume_box box;
  const char *window; /* factors, or NULL */
  bool conjugate;     /* of what is read */
} kugel__resident_side;

/* One transform there and back. */
typedef struct kugel__resident_job {
  const kugel_volume *p;
  const kugel__volume_ops *ops;
  kugel__resident_side in, out;
  char *from, *to; /* work arrays before and after the lines along z */
  char *scratch;
  size_t scratch_size;
  bool kept;          /* from: the context's scratch */
  int64_t row_points; /* doubles of a plane of a row */
  int64_t groups;     /* tasks of a slice */
  int which;          /* kernel, of those that are stored */
  int depth;          /* kernel by depth whose factors apply */
  int which_out;      /* kernel of the results that are written, 0 for the adjoint */
  bool adjoint, add;
  double keep; /* not 0: the spectrum is kept, times this */
  atomic_llong *clipped;
  char *low_from, *low_to; // the lowest lines (low.c) before and after the lines along z, NULL: no
  int64_t low_first;       // slice 0 of `from` and `to` is this one of them
  int64_t workers;         // that scratch has room for
  double *weight;          // [points] of lines along z, with kernels by depth
} kugel__resident_job;

/* Fills scratch_size and row_points from the plan's lengths. */
void kugel__resident_measure(kugel__resident_job *j);
kugel__resident_side kugel__resident_side_of(const kugel_volume *p, bool results);
/* The first in.extent[0] slices of in.box, transformed along x and y, to `from`. */
kugel_status kugel__resident_slices_in(kugel__resident_job *j);
/* Lines along z of `from`: into the spectrum with `keep`, else times the spectrum to `to`. */
kugel_status kugel__resident_lines(kugel__resident_job *j);
/* The first out.extent[0] slices of `to`, back along y and x, to out.box. */
kugel_status kugel__resident_slices_out(kugel__resident_job *j);

/* ---- the lowest lines in double, of plans that collect (low.c) ---- */

/* Bytes of so many slices, of the spectra of a part, and of all that a plan holds and an execution takes; 0 of other plans. */
size_t kugel__low_room(const kugel_volume *p, int64_t slices);
size_t kugel__low_spectra(const kugel_volume *p);
size_t kugel__low_bytes(const kugel_volume *p);
/* Bytes of an execution, and a job's places in them for image (or kernel) `image` of those that are read. memory: NULL: none. */
size_t kugel__low_memory(const kugel_volume *p);
void kugel__low_place(kugel__resident_job *j, const kugel_volume *p, int64_t image, char *memory);
/* Room for the spectra of all parts. */
kugel_status kugel__low_create(kugel_volume *p);
/* Column x of slice z after its transform along y, from the points c to low_from; and before the one back, from low_to. */
void kugel__low_take(const kugel__resident_job *j, int64_t z, int64_t x, double *c);
void kugel__low_put(const kugel__resident_job *j, int64_t z, int64_t x, double *points);
/* As kugel__resident_lines, from low_from to low_to; p: the plan whose slices they are of. */
kugel_status kugel__low_lines(const kugel__resident_job *j, const kugel_volume *p);

/* Row (z, y) into the planes of a row of lines: the halves of a real line, or re and im; and back, added to what earlier parts
 * gave, times the window, converted. values: room for a row of doubles. */
void kugel__resident_read_row(const kugel__resident_job *j, const kugel__resident_side *s, int64_t z,
                              int64_t y, double *values, double *row);
void kugel__resident_write_row(const kugel__resident_job *j, const kugel__resident_side *s, int64_t z,
                               int64_t y, double *values, double *row);

#endif
