/* SPDX-License-Identifier: BSD-3-Clause */
/* Pixels of a ring, read with their weights and written with what is unobserved. */
#include <math.h>
#include <string.h>
#include "sphere/grid/mapops.h"
#include "sphere/radial/radial.h"

void kugel__radial_read_ring(const kugel__radial_io *io, const kugel__radial_ring *r, double *row)
{
  double w = io->adjoint ? 1 : r->weight;
  if (io->ones) {
    for (int64_t k = 0; k < r->nphi; k++)
      row[k] = w;
    return;
  }
  kugel__widen((const char *)io->in + r->first * (io->f32 ? 4 : 8), io->f32, r->nphi, row);
  for (int64_t k = 0; k < r->nphi; k++)
    row[k] = kugel__bad_pixel(row[k]) ? 0 : io->mask ? w : w * row[k];
  for (int64_t k = 0; k < r->nphi && io->adjoint && io->seen; k++)
    row[k] = kugel__radial_divided(io, r->first + k, row[k]);
}

void kugel__radial_write_ring(const kugel__radial_io *io, const kugel__radial_ring *r, const double *row)
{
  double w = io->adjoint ? r->weight : 1;
  if (io->mask) {
    memcpy(io->seen + r->first, row, (size_t)r->nphi * 8);
    return;
  }
  for (int64_t k = 0; k < r->nphi; k++) {
    int64_t i = r->first + k;
    double v = w * row[k];
    if (io->seen && !io->adjoint)
      v = kugel__radial_divided(io, i, v);
    if (kugel__bad_pixel(kugel__radial_pixel(io, i)))
      v = KUGEL_UNSEEN;
    if (io->f32)
      ((float *)io->out)[i] = (float)v;
    else
      ((double *)io->out)[i] = v;
  }
}
