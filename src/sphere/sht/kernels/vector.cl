// SPDX-License-Identifier: BSD-3-Clause
// Sums and products of maps and alms, as long vectors of numbers.

typedef struct vector_args {
  i64 n, x_at, y_at, weight_period; // first elements; weight i belongs to elements i, i + weight_period ...; 0: none
  double a, b;
  i32 x_f32, y_f32;
  i64 single; // dot: elements below count once, the others twice
} vector_args;

DEVICE double element(const GLOBAL void *x, i64 i, int f32)
{
  return f32 ? (double)((const GLOBAL float *)x)[i] : ((const GLOBAL double *)x)[i];
}

DEVICE void put(GLOBAL void *x, i64 i, int f32, double v)
{
  if (f32)
    ((GLOBAL float *)x)[i] = (float)v;
  else
    ((GLOBAL double *)x)[i] = v;
}

// y = a weight x + b y; y is not read for b = 0. x and y may be the same.
KERNEL(256) combine(const GLOBAL void *x, GLOBAL void *y, const GLOBAL double *weight, vector_args t)
{
  for (i64 i = GLOBAL_ID(0); i < t.n; i += (i64)GROUPS(0) * 256) {
    double v = t.a * element(x, t.x_at + i, t.x_f32);
    if (t.weight_period)
      v *= weight[i % t.weight_period];
    if (t.b != 0)
      v += t.b * element(y, t.y_at + i, t.y_f32);
    put(y, t.y_at + i, t.y_f32, v);
  }
}

// partial[block]: the block's share of the sum of x y. Always the same number of blocks, so always the same sum.
KERNEL(256) dot_product(const GLOBAL double *x, const GLOBAL double *y, GLOBAL double *partial, vector_args t)
{
  SHARED double room[256];
  double sum = 0;
  for (i64 i = GLOBAL_ID(0); i < t.n; i += (i64)GROUPS(0) * 256)
    sum += (i % t.weight_period < t.single ? 1.0 : 2.0) * x[t.x_at + i] * y[t.y_at + i];
  room[LOCAL_ID(0)] = sum;
  BARRIER();
  for (int stride = 128; stride > 0; stride /= 2) {
    if (LOCAL_ID(0) < stride)
      room[LOCAL_ID(0)] += room[LOCAL_ID(0) + stride];
    BARRIER();
  }
  if (LOCAL_ID(0) == 0)
    partial[GROUP_ID(0)] = room[0];
}

// y = x, with zeros for bad pixels, which are counted; good: 1 and 0.
KERNEL(256) clean(const GLOBAL void *x, GLOBAL double *y, GLOBAL double *good, GLOBAL i32 *bad, vector_args t)
{
  for (i64 i = GLOBAL_ID(0); i < t.n; i += (i64)GROUPS(0) * 256) {
    double v = element(x, t.x_at + i, t.x_f32);
    int wrong = !(fabs(v) <= 1.7e308) || fabs(v + 1.6375e30) <= 1.6375e25;
    if (wrong)
      ATOMIC_ADD_I32(bad, 1);
    y[t.y_at + i] = wrong ? 0.0 : v;
    good[i] = wrong ? 0.0 : 1.0;
  }
}
