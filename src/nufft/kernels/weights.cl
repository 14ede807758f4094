// SPDX-License-Identifier: BSD-3-Clause
// Weights of points by their density, and products of normal operators with their spectrum.
//
// variant: REAL_BITS=64
// variant: REAL_BITS=32

#define BLOCK 256

// Strengths of 1.
KERNEL(BLOCK) ones(GLOBAL real2 *c, i64 n)
{
  i64 i = GLOBAL_ID(0);
  if (i < n)
    c[i] = MAKE_REAL2(1, 0);
}

// w <- scale w / |v|
KERNEL(BLOCK) refine(GLOBAL real2 *c, GLOBAL const real2 *v, i64 n, real scale)
{
  i64 i = GLOBAL_ID(0);
  if (i < n)
    c[i].x = scale * (c[i].x / fabs(v[i].x));
}

// [vectors][cells]
KERNEL(BLOCK) multiply(GLOBAL real2 *grid, GLOBAL const real *q, i64 cells)
{
  i64 i = GLOBAL_ID(0);
  if (i < cells) {
    real2 v = grid[GROUP_ID(1) * cells + i];
    grid[GROUP_ID(1) * cells + i] = MAKE_REAL2(q[i] * v.x, q[i] * v.y);
  }
}
