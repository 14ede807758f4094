/* SPDX-License-Identifier: BSD-3-Clause */
/* Chains by tensor cores on devices: their shape, and the matrices of kernels/tensor.h.cl. */
#include <string.h>
#include "core/environment.h"
#include "polynomial/gpu.h"
#include "polynomial/jacobi.h"

enum { SIDE = 16 /* steps, and diagonals, of a matrix */, SQUARE = KUGEL__POLY_SQUARE };

enum { STATIC_BYTES = 4096 /* of shared memory, beside what a launch gives */ };

/* CUDA: two blocks of four warps, of 16 lanes each, with 250 registers per thread and 57344 bytes of shared memory per block, is
 * within 5 percent of the fastest of seven shapes on an H100 (docs/polynomial.md). OpenCL: one warp, since barriers are of a block. */
kugel__poly_shape kugel__poly_tensor_shape(bool cuda, int64_t shared_bytes)
{
  kugel__poly_shape s = {.group = 8, .steps = SIDE, .lanes = 4, .warps = 1, .blocks = 1, .ticks = 4};
  if (cuda) {
    s.warps = (int)kugel__env_number("KUGEL_POLYNOMIAL_WARPS", 1, 8, 4);
    s.blocks = (int)kugel__env_number("KUGEL_POLYNOMIAL_BLOCKS", 1, 4, 2);
  }
  s.tensor = (int)kugel__env_number("KUGEL_POLYNOMIAL_STEPS", 1, 8, 4);
  while (s.tensor > 1 && kugel__poly_shared(&s, sizeof(double)) + STATIC_BYTES > shared_bytes)
    s.tensor--;
  return s;
}

static int64_t width_of(const kugel__poly_rotations *f)
{
  return (f->steps + SIDE - 1) / SIDE;
}

/* Matrices along d = k + g + 1 <= reach. */
static int64_t squares_of(const kugel__poly_rotations *f)
{
  return f->reach / SIDE + 1;
}

int64_t kugel__poly_tensor_pairs(const kugel__poly_rotations *f, int64_t *few)
{
  int64_t width = width_of(f), squares = squares_of(f);
  *few = squares * width * (SQUARE / 2);
  return *few + (squares + 1) * SIDE * width * SIDE; /* one more, which loops read and do not use */
}

/* Where an element of a block of 8 x 8 lies: kernels/tensor.h.cl says why. */
static int64_t place(int64_t row, int64_t column)
{
  int64_t p = row / 2, pair = 8 * (column / 2) + (p & 1) + 2 * ((p >> 1) ^ (column >> 2)) +
                              4 * ((column & 1) ^ ((column >> 1) & 1));
  return 2 * pair + row % 2;
}

/* The matrix of rotations turns[e * pitch + s], (p, S) of step s, row e: what raising makes of each unit vector of states and rows. */
static void fill_square(const double (*turns)[2], int64_t pitch, double *to)
{
  for (int64_t in = 0; in < 2 * SIDE; in++) {
    double y[SIDE] = {0}, out[2 * SIDE];
    if (in < SIDE)
      y[in] = 1;
    for (int64_t e = 0; e < SIDE; e++) {
      double x = in == SIDE + e ? 1 : 0;
      for (int64_t s = 0; s < SIDE; s++) {
        const double *t = turns[e * pitch + s], u = x + t[0] * y[s];
        x = y[s] + t[1] * u;
        y[s] = u + t[0] * x;
      }
      out[SIDE + e] = x;
    }
    memcpy(out, y, sizeof y);
    for (int64_t o = 0; o < 2 * SIDE; o++) {
      int64_t block = 4 * (in / 8) + o / 8;
      if (block != 4 && block != 14)
        to[64 * (block - (block > 4) - (block > 14)) + place(in % 8, o % 8)] = out[o];
    }
  }
}

void kugel__poly_tensor_fill(const kugel__poly_gpu *g, const kugel__poly_rotations *f, kugel__poly_family at,
                             void *scratch, void *table)
{
  (void)g;
  const int64_t width = width_of(f), squares = squares_of(f), rows = (squares + 1) * SIDE;
  const double(*of_step)[2] = scratch;
  double *matrices = (double *)table + 2 * at.at;
  double(*turns)[2] = (double(*)[2])(void *)(matrices + 2 * at.few);
  for (int64_t i = 0; i < width * SIDE; i++) {
    int64_t count = i < f->steps ? kugel__max(0, f->reach - i) : 0;
    if (count)
      kugel__jacobi_rotations(f->a, f->b0 + 2 * (double)i, f->sign, count, false, scratch);
    for (int64_t d = 0; d < rows; d++) {
      int64_t k = d - 1 - i;
      bool known = k >= 0 && k < count;
      double *to = turns[(d * width + i / SIDE) * SIDE + i % SIDE];
      to[0] = known ? -of_step[k][1] / (1 + of_step[k][0]) : 0;
      to[1] = known ? of_step[k][1] : 0;
    }
  }
  for (int64_t i = 0; i < squares * width; i++)
    fill_square((const double(*)[2])(turns + (i / width * SIDE * width + i % width) * SIDE), width * SIDE,
                matrices + i * SQUARE);
}
