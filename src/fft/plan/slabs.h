/* SPDX-License-Identifier: BSD-3-Clause */
/* Transforms of one array over several ranks, on the CPU.
 *
 * A rank has planes along axis 0 of the data, and rows along axis 1 of the spectrum, s[d] = n[d] but for the halved axis. Axes 2
 * and more are transformed where the data are; then, piece by piece of their s[2] ... s[ndim - 1] columns, axis 1, an exchange,
 * and axis 0 where the spectrum is; the inverse goes back. Each line is transformed whole, by one rank, by the solver that
 * suits full vectors of lines, whatever the number of its lines and their strides: hence the same bits for any number of
 * ranks.
 *
 * The transforms before an exchange write its messages: forward, to the owner of rows, [its rows][own planes][columns]; back,
 * to the owner of planes, [its planes][own rows][columns]. */
#ifndef KUGEL_FFT_PLAN_SLABS_H
#define KUGEL_FFT_PLAN_SLABS_H

#include "comm/layout.h"
#include "fft/cpu/pass.h"

typedef struct kugel__slabs {
  kugel_comm *comm;
  int rank, size, pieces;
  int64_t planes, rows, columns; /* n[0], s[1], s[2] s[3] ... */
  int64_t *plane, *row;          /* [size + 1]: those of rank r are plane[r] ... plane[r + 1] - 1 */
  size_t *messages; /* [4][size]: bytes to each rank, where; from each, where; forward and for one column */
} kugel__slabs;

/* Of a plan with opts.comm, in the middle of an agreement. */
kugel_status kugel__slabs_create(kugel_fft *p);
void kugel__slabs_destroy(kugel_fft *p);
kugel_status kugel__slabs_execute(const kugel_fft *p, int sign, const kugel_array *in,
                                  const kugel_array *out);

#endif
