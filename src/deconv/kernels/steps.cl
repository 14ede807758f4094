// SPDX-License-Identifier: BSD-3-Clause
// What the steps of deconvolution on devices do beside the loads and stores of transforms (src/volume/fused_hooks.c): sums,
// momentum, the factor of total variation, and a step where results come from elsewhere than a transform.
//
// SUM: type of sums.
//
// variant: REAL_BITS=32 SUM=double
// variant: REAL_BITS=32 SUM=float
// variant: REAL_BITS=64 SUM=double

#define BLOCK 256

// 1 where a voxel is known, else 0.
KERNEL(BLOCK) known(GLOBAL const real *RESTRICT observed, GLOBAL real *RESTRICT to, i64 n)
{
  for (i64 i = GLOBAL_ID(0); i < n; i += (i64)GROUPS(0) * BLOCK)
    to[i] = observed[i] < 0 ? (real)0 : (real)1;
}

KERNEL(BLOCK) fill(GLOBAL real *RESTRICT to, real value, i64 n)
{
  for (i64 i = GLOBAL_ID(0); i < n; i += (i64)GROUPS(0) * BLOCK)
    to[i] = value;
}

// The sum of a block's threads, in one order.
DEVICE SUM together(IN_SHARED SUM *room, SUM s)
{
  int t = LOCAL_ID(0);
  BARRIER();
  room[t] = s;
  BARRIER();
  for (int half_ = BLOCK / 2; half_ > 0; half_ /= 2) {
    if (t < half_)
      room[t] += room[t + half_];
    BARRIER();
  }
  return room[0];
}

// Of a block's part of n numbers, in an order that does not depend on the device, to out[at + block].
KERNEL(BLOCK) sum(GLOBAL const real *RESTRICT x, i64 first, i64 n, GLOBAL SUM *out, i64 at)
{
  SHARED SUM room[BLOCK];
  int t = LOCAL_ID(0);
  i64 part = (n + GROUPS(0) - 1) / GROUPS(0), from = GROUP_ID(0) * part, to = from + part < n ? from + part : n;
  SUM s = 0;
  for (i64 i = from + t; i < to; i += BLOCK)
    s += (SUM)x[first + i];
  s = together(room, s);
  if (t == 0)
    out[at + GROUP_ID(0)] = s;
}

// sums[block] = the sum of n numbers from sums[2 + block * n] on.
KERNEL(BLOCK) finish(GLOBAL SUM *sums, i64 n)
{
  SHARED SUM room[BLOCK];
  int t = LOCAL_ID(0);
  SUM s = 0;
  for (i64 i = t; i < n; i += BLOCK)
    s += sums[2 + GROUP_ID(0) * n + i];
  s = together(room, s);
  if (t == 0)
    sums[GROUP_ID(0)] = s;
}

// momentum[0]: `given`, or if measured is 1 the quotient of two sums, 0 to 0.999.
KERNEL(BLOCK) set_momentum(GLOBAL const SUM *RESTRICT sums, GLOBAL real *momentum, real given, i32 measured)
{
  if (LOCAL_ID(0) == 0 && GROUP_ID(0) == 0) {
    SUM with = sums[0], self = sums[1], f = self > 0 ? with / self : (SUM)0;
    f = f > 0 ? f : (SUM)0;
    momentum[0] = measured ? (real)(f < (SUM)0.999 ? f : (SUM)0.999) : given;
  }
}

// Where an accelerated step starts: max(x + f (x - before), 0).
DEVICE real start_of(real x, real before, real f)
{
  real from = FMA(f, x - before, x);
  return from > 0 ? from : (real)0;
}

KERNEL(BLOCK) extrapolate(GLOBAL const real *RESTRICT x, GLOBAL const real *RESTRICT before, GLOBAL const real *momentum,
                          GLOBAL real *RESTRICT to, i64 n)
{
  for (i64 i = GLOBAL_ID(0); i < n; i += (i64)GROUPS(0) * BLOCK)
    to[i] = start_of(x[i], before[i], momentum[0]);
}

// y log(y / p) - y + p, as src/volume/gpu/fused_hooks.c.
DEVICE real divergence(real y, real p)
{
  real t = (y - p) / p, t2 = t * t, least = REAL_BITS == 32 ? (real)(1. / 16) : (real)(1. / 1024), sum = 0;
  if (t2 >= least)
    return (y > 0 ? y * LOG(y / p) : (real)0) - (y - p);
  for (int k = 12; k >= 1; k--)
    sum = (real)1 / (real)(k * (k + 1)) - t * sum;
  return p * t2 * sum;
}

// Voxels of images over ranks are added up by chunks of planes, in blocks: `per` chunks of `chunk` voxels of a plane. model <-
// observed / (model + level), 0 where observed is negative or the divisor is not above 1e-30; the I-divergence of a chunk to sums[2 block].
KERNEL(BLOCK) ratio(GLOBAL const real *RESTRICT observed, GLOBAL real *RESTRICT model, GLOBAL SUM *sums, real level, i64 plane,
                    i64 chunk, i64 per)
{
  SHARED SUM room[BLOCK];
  i64 at = (i64)GROUP_ID(0) % per * chunk, first = (i64)GROUP_ID(0) / per * plane + at, n = plane - at < chunk ? plane - at : chunk;
  SUM s = 0;
  for (i64 i = first + LOCAL_ID(0); i < first + n; i += BLOCK) {
    real y = observed[i], p = model[i] + level;
    bool defined = p > (real)1e-30;
    model[i] = y >= 0 && defined ? y / p : (real)0;
    if (y >= 0)
      s += (SUM)divergence(y, defined ? p : (real)1e-30);
  }
  s = together(room, s);
  if (LOCAL_ID(0) == 0)
    sums[2 * GROUP_ID(0)] = s;
}

// The step of `update` below by chunks of planes of the object; stepped: its sums to sums[2 block], and behind it.
KERNEL(BLOCK) advance(GLOBAL const real *r, GLOBAL const real *object, GLOBAL const real *before, GLOBAL const real *momentum,
                      GLOBAL const real *sensitivity, GLOBAL real *out, GLOBAL real *moved, GLOBAL SUM *sums, real level,
                      i64 plane, i64 chunk, i64 per, i32 accelerated, i32 stepped)
{
  SHARED SUM room[BLOCK];
  i64 at = (i64)GROUP_ID(0) % per * chunk, first = (i64)GROUP_ID(0) / per * plane + at, n = plane - at < chunk ? plane - at : chunk;
  SUM with = 0, self = 0;
  for (i64 i = first + LOCAL_ID(0); i < first + n; i += BLOCK) {
    real from = object[i], s = sensitivity[i], v = r[i];
    if (accelerated)
      from = start_of(from, before[i], momentum[0]);
    v = v > 0 ? v : (real)0;
    v = s > level ? from * v / s : from;
    out[i] = v;
    if (stepped) {
      SUM old = moved[i];
      with += (SUM)(v - from) * old;
      self += old * old;
      moved[i] = v - from;
    }
  }
  if (!stepped)
    return;
  with = together(room, with);
  self = together(room, self);
  if (LOCAL_ID(0) == 0) {
    sums[2 * GROUP_ID(0)] = with;
    sums[2 * GROUP_ID(0) + 1] = self;
  }
}

// The step of kernels with hooks, from r: see kugel__fused_hooks. accelerated: before is used; stepped: moved is.
KERNEL(BLOCK) update(GLOBAL const real *r, GLOBAL const real *object, GLOBAL const real *before, GLOBAL const real *momentum,
                     GLOBAL const real *sensitivity, GLOBAL real *out, GLOBAL real *moved, GLOBAL real *partial, real level,
                     i64 n, i64 partials, i32 accelerated, i32 stepped)
{
  real with = 0, self = 0;
  for (i64 i = GLOBAL_ID(0); i < n; i += (i64)GROUPS(0) * BLOCK) {
    real from = object[i], s = sensitivity[i], v = r[i];
    if (accelerated)
      from = start_of(from, before[i], momentum[0]);
    v = v > 0 ? v : (real)0;
    v = s > level ? from * v / s : from;
    out[i] = v;
    if (stepped) {
      real old = moved[i], step = v - from;
      with += step * old;
      self += old * old;
      moved[i] = step;
    }
  }
  if (stepped) {
    partial[GLOBAL_ID(0)] = with;
    partial[partials + GLOBAL_ID(0)] = self;
  }
}

// The length of the gradient (a, b, c); no less than `least` times the voxel.
DEVICE real length_of(real a, real b, real c, real least)
{
  return SQRT(a * a + b * b + c * c + least * least + (real)1e-37);
}

// The forward difference along an axis over the length of the gradient at voxel i; z, y, x: whether there is a next voxel.
DEVICE real direction(GLOBAL const real *x, i64 i, i64 up, i64 next, int z, int y, int c, int axis, real least)
{
  real here = x[i], a = z ? x[i + up] - here : (real)0, b = y ? x[i + next] - here : (real)0;
  real d = c ? x[i + 1] - here : (real)0;
  return (axis == 0 ? a : axis == 1 ? b : d) / length_of(a, b, d, least * here);
}

// out = x / (1 - lambda div(grad x / |grad x|)) of a volume [nz][ny][nx], as src/deconv/stencil.c: `count` planes from `first` on.
KERNEL(BLOCK) variation(GLOBAL const real *RESTRICT x, GLOBAL real *RESTRICT out, i64 nz, i64 ny, i64 nx, i64 first, i64 count,
                        real lambda)
{
  i64 up = ny * nx, n = count * up;
  real least = 12 * lambda;
  for (i64 j = GLOBAL_ID(0); j < n; j += (i64)GROUPS(0) * BLOCK) {
    i64 i = first * up + j, row = i / nx, z = row / ny;
    int c = (int)(i - row * nx), y = (int)(row - z * ny), zs = z + 1 < nz, ys = y + 1 < ny, xs = c + 1 < nx;
    real here = x[i], a = zs ? x[i + up] - here : (real)0, b = ys ? x[i + nx] - here : (real)0;
    real e = xs ? x[i + 1] - here : (real)0, d = (a + b + e) / length_of(a, b, e, least * here);
    if (z > 0)
      d -= direction(x, i - up, up, nx, 1, ys, xs, 0, least);
    if (y > 0)
      d -= direction(x, i - nx, up, nx, zs, 1, xs, 1, least);
    if (c > 0)
      d -= direction(x, i - 1, up, nx, zs, ys, 1, 2, least);
    out[j] = here / (1 - lambda * d);
  }
}
