// SPDX-License-Identifier: BSD-3-Clause
// variant: REAL_BITS=64 DEGREE=26
// variant: REAL_BITS=32 DEGREE=26
// variant: REAL_BITS=64 DEGREE=0
// variant: REAL_BITS=64 DEGREE=26 GENERAL=1
// variant: REAL_BITS=32 DEGREE=26 GENERAL=1
// DEGREE: of the kernel's polynomial in the squared chord; 0: pieces of t.degree, in device memory.
// GENERAL: pairs of maps with a spin, a map at a time, and spans with factors.
// Sums over pairs of pixels within a radius, as src/sphere/radial/direct.c has them: rings lie as 8 lanes (segments of the
// ring and of its mirror) side by side, which one weight serves.

#ifndef GENERAL
#define GENERAL 0
#endif

typedef struct ring {
  double weight;
  i64 first, mirror; // first pixels; mirror -1: none of its own
  i64 slot;          // of position 0 of its lanes, in positions
  i64 spans;         // first of its spans
  i32 nphi, segment, reach, count, turn, kind; // kind: 1: of belt, 2: of caps
} ring;

// What an output ring needs of another, as kugel__radial_span.
typedef struct span {
  double a, b, dphi, from, ratio, nq, unit, step; // from: shift - half, ratio: pixels to pixels of the output ring
  double factor, difference, sum; // of the kernel; cosines of half the difference and sum of the colatitudes
  i64 slot, weights; // position 0 of the other ring; the weights of a whole ring
  i32 width, start, back, steps, from_term, pad; // steps: of four pixels, that eight positions need; from_term: of key
} span;

enum { POSITIONS = 16, MAX_DEGREE = 30 }; // of a thread of belt; of the polynomial

typedef struct radial_args {
  double cut, scale, least, factor; // factor: of the sums
  i64 in, out, other; // first pixels of the maps; other: of a map that makes pixels bad, too, -1: none
  i64 lanes, weights; // first positions, and first weights of whole rings
  i32 intervals, degree, chord, segments, mirrored, reflected, adjoint, mask, first, outputs; // first: unit
  i32 spin, turn, flip, add; // turn: 1: times cos(spin chi), 2: sine; flip: other signs in mirrors; add: to what is there
  i32 divide, pad; // by seen: 1: of the mask, 2: of a constant; mask: 2: 1 everywhere
  double one[MAX_DEGREE + 1]; // coefficients if there is one polynomial: they go to constant memory
} radial_args;

DEVICE int is_bad(real v)
{
  return !(fabs(v + (real)1.6375e30) > (real)1.6375e25) || isinf(v);
}

DEVICE int bad_pixel(const GLOBAL real *in, i64 i, const radial_args *t)
{
#if GENERAL
  if (t->other >= 0 && is_bad(in[t->other + i]))
    return 1;
#endif
  return is_bad(in[t->in + i]);
}

// units: ring, first position. Positions -reach ... segment + reach - 1 of the ring's lanes.
KERNEL(256) fill(const GLOBAL ring *RESTRICT rings, const GLOBAL i32 *RESTRICT units, const GLOBAL real *RESTRICT map,
                 GLOBAL real *RESTRICT lanes, const GLOBAL real *RESTRICT seen, radial_args t)
{
  ring r = rings[units[2 * (t.first + GROUP_ID(0))]];
  i32 lane = LOCAL_ID(0) % 8, h = lane / t.segments, s = lane % t.segments;
  for (i32 k = 0; k < 4; k++) {
    i32 p = units[2 * (t.first + GROUP_ID(0)) + 1] + k * 32 + LOCAL_ID(0) / 8;
    if (p >= r.segment + r.reach)
      return;
    real v = 0;
    if (h <= t.mirrored) {
      i32 at = (s * r.segment + p) % r.nphi;
      i64 i = (h ? r.mirror : r.first) + (at < 0 ? at + r.nphi : at);
      if (t.mask == 2)
        v = (real)r.weight;
      else {
        v = map[t.in + i];
        v = bad_pixel(map, i, &t) ? (real)0 : (t.mask ? (real)1 : v) * (t.adjoint ? (real)1 : (real)r.weight);
        if (t.divide && fabs(seen[i]) > (real)t.least)
          v /= seen[i];
      }
#if GENERAL
      v = h && t.flip ? -v : v;
#endif
    }
    lanes[(r.slot + t.lanes + p) * 8 + lane] = v;
  }
}

// After the sums: divides by the convolved mask or constant. A kernel of its own: a division is a call, which would spill registers
// within the sums. Units as of fill.
KERNEL(256) normalise(const GLOBAL ring *RESTRICT rings, const GLOBAL i32 *RESTRICT units, GLOBAL real *RESTRICT out,
                      const GLOBAL real *RESTRICT seen, radial_args t)
{
  const GLOBAL ring *r = rings + units[2 * (t.first + GROUP_ID(0))];
  i32 lane = LOCAL_ID(0) % 8, h = lane / t.segments, s = lane % t.segments;
  for (i32 k = 0; k < 4; k++) {
    i32 p = units[2 * (t.first + GROUP_ID(0)) + 1] + k * 32 + LOCAL_ID(0) / 8, at = s * r->segment + p;
    if (units[2 * (t.first + GROUP_ID(0))] >= t.outputs || p < 0 || p >= r->segment || at >= r->nphi || h > t.mirrored ||
        (h && r->mirror == r->first))
      continue;
    i64 i = (h ? r->mirror : r->first) + at;
    real v = out[t.out + i];
    if (!is_bad(v))
      out[t.out + i] = fabs(seen[i]) > (real)t.least ? v / seen[i] : t.divide == 2 ? v : (real)-1.6375e30;
  }
}

DEVICE void give(const GLOBAL ring *r, i32 p, i32 lane, real v, const GLOBAL real *in, GLOBAL real *out, GLOBAL real *seen,
                 const radial_args *t, i32 own)
{
  i32 h = lane / t->segments, at = (lane % t->segments) * r->segment + p;
  if (h > t->mirrored || p < 0 || p >= r->segment || at >= r->nphi || (h && own))
    return;
  i64 i = (h ? r->mirror : r->first) + at;
  if (t->mask) {
    seen[i] = v;
    return;
  }
  v = t->adjoint ? v * (real)r->weight : v;
#if GENERAL
  v *= h && t->flip ? -(real)t->factor : (real)t->factor;
  v += t->add ? out[t->out + i] : (real)0;
#endif
  out[t->out + i] = bad_pixel(in, i, t) ? (real)-1.6375e30 : v;
}

// Rings among rings of as many pixels: one row of weights serves all positions. Widths are multiples of 4. A thread has
// sixteen positions in a row, and keeps their window: short windows are bound by loads. A block has 128 positions of four
// rings.
KERNEL(256) belt(const GLOBAL ring *RESTRICT rings, const GLOBAL span *RESTRICT spans, const GLOBAL i32 *RESTRICT units,
                 const GLOBAL real2 *RESTRICT weights, const GLOBAL real *RESTRICT lanes, const GLOBAL real *in,
                 GLOBAL real *out, GLOBAL real *seen, radial_args t)
{
  i32 number = units[2 * (t.first + GROUP_ID(0))] + LOCAL_ID(0) / 64;
  const GLOBAL ring *r = rings + number;
  i32 lane = LOCAL_ID(0) % 8, p = units[2 * (t.first + GROUP_ID(0)) + 1] + LOCAL_ID(0) % 64 / 8 * POSITIONS;
  if (number >= t.outputs || r->kind != 1)
    return;
  real sum[POSITIONS];
  for (i32 u = 0; u < POSITIONS; u++)
    sum[u] = 0;
  for (i32 q = 0; q < r->count; q++) {
    const GLOBAL span *s = spans + r->spans + q;
    const GLOBAL real *f = lanes + (s->slot + t.lanes + s->start + p) * 8 + lane;
    const GLOBAL real2 *w = weights + (s->weights + t.weights) / 2;
    real v[POSITIONS + 3];
    for (i32 u = 0; u < POSITIONS - 1; u++)
      v[u] = f[u * 8];
    for (i32 k = 0; k < s->width; k += 4) {
      real2 even = w[k / 2], odd = w[k / 2 + 1];
      for (i32 j = 0; j < 4; j++)
        v[POSITIONS - 1 + j] = f[(k + POSITIONS - 1 + j) * 8];
      for (i32 u = 0; u < POSITIONS; u++) {
        sum[u] += even.x * v[u];
        sum[u] += even.y * v[u + 1];
        sum[u] += odd.x * v[u + 2];
        sum[u] += odd.y * v[u + 3];
      }
      for (i32 u = 0; u < POSITIONS - 1; u++)
        v[u] = v[u + 4];
    }
  }
  for (i32 u = 0; u < POSITIONS; u++)
    give(r, p + u, lane, sum[u], in, out, seen, &t, r->mirror == r->first);
}

// By Newton's method from single precision: no call, which would spill registers. Tiny x: 0.
DEVICE double root(double x)
{
  if (x < 1e-30)
    return 0;
  double y = rsqrt((float)x);
  for (i32 k = 0; k < 3; k++)
    y = y * (1.5 - 0.5 * x * y * y);
  return x * y;
}

DEVICE double kernel_value(const GLOBAL double *RESTRICT coef, double x, const radial_args *t)
{
#if DEGREE
  double z = FMA(2 * t->scale, x < t->cut ? x : t->cut, -1.0), v = t->one[DEGREE];
  for (i32 k = DEGREE - 1; k >= 0; k--)
    v = FMA(v, z, t->one[k]);
#else
  double u = x < t->cut ? x : t->cut;
  u = t->scale * (t->chord == 0 ? u : t->chord == 1 ? root(u) : 2 + root(u) - root(4 - u));
  i32 i = (i32)u;
  i = i < t->intervals ? i : t->intervals - 1;
  double z = 2 * (u - i) - 1, v = coef[(i64)t->degree * t->intervals + i];
  for (i32 k = t->degree - 1; k >= 0; k--)
    v = v * z + coef[(i64)k * t->intervals + i];
#endif
  return x <= t->cut ? v : 0;
}

// a + b sin^2(h / 2) by the Taylor series; terms from 0: |h| <= pi, from 4: 0.4, from 6: 0.03; the first term left out is
// below 1e-18 of the sine.
DEVICE double half_sine(double h, i32 from)
{
  double z = 0.5 * h, q = z * z, s = 0;
  if (from == 0) {
    s = 1 / 51090942171709440000.0;
    s = 1 / 121645100408832000.0 - s * q;
    s = 1 / 355687428096000.0 - s * q;
    s = 1 / 1307674368000.0 - s * q;
  }
  if (from <= 4) {
    s = 1 / 6227020800.0 - s * q;
    s = 1 / 39916800.0 - s * q;
  }
  s = 1 / 362880.0 - s * q;
  s = 1 / 5040.0 - s * q;
  s = 1 / 120.0 - s * q;
  s = 1 / 6.0 - s * q;
  return z - z * q * s;
}

DEVICE double key(double a, double b, double h, i32 from)
{
  double s = half_sine(h, from);
  return a + b * s * s;
}

DEVICE double weight_at(const GLOBAL double *RESTRICT coef, const GLOBAL span *RESTRICT s, double h, const radial_args *t)
{
  double v = kernel_value(coef, key(s->a, s->b, h, s->from_term), t);
#if GENERAL
  v *= s->factor;
  if (t->turn) { // as radial_spin.isa.c
    double q = half_sine(0.5 * h, s->from_term), x = (1 - 2 * q * q) * s->difference,
           y = half_sine(h, s->from_term) * s->sum, n = x * x + y * y, inverse = 1 / (n > 1e-30 ? n : 1e-30);
    double ur = (x * x - y * y) * inverse, ui = 2 * x * y * inverse, re = ur, im = ui;
    for (i32 i = 1; i < t->spin; i++) {
      double next = re * ur - im * ui;
      im = re * ui + im * ur;
      re = next;
    }
    v *= t->turn == 1 ? re : im;
  }
#endif
  return v;
}

// Of sums backwards: the pair turns the other way.
DEVICE real backwards(real v, const radial_args *t)
{
#if GENERAL
  return t->turn == 2 ? -v : v;
#else
  return v;
#endif
}

#if IS_CUDA
// Elsewhere: a warp has eight positions i, whose windows of pixels j overlap. Weights of eight i and four j, one a thread,
// are a matrix; times four j of the eight lanes, and of the lanes backwards, they are two products of tensor cores.
KERNEL_BLOCKS(128, 6)
caps(const GLOBAL ring *RESTRICT rings, const GLOBAL span *RESTRICT spans, const GLOBAL i32 *RESTRICT units,
     const GLOBAL double *RESTRICT coef, const GLOBAL real *RESTRICT lanes, const GLOBAL real *in,
     GLOBAL real *out, GLOBAL real *seen, radial_args t)
{
  const GLOBAL ring *r = rings + units[2 * (t.first + GROUP_ID(0))];
  i32 count = t.reflected ? (r->segment + r->turn) / 2 + 1 : r->segment, row = LANE() / 4, col = LANE() % 4;
  i32 i = units[2 * (t.first + GROUP_ID(0)) + 1] + LOCAL_ID(0) / 32 * 8 + row;
  i32 mine = i < count ? i : count - 1, first = i - row < count ? i - row : count - 1;
  double sum[2] = {0, 0}, back_sum[2] = {0, 0};
  for (i32 q = 0; q < r->count; q++) {
    const GLOBAL span *s = spans + r->spans + q;
    double j0 = ceil(FMA((double)first, s->ratio, s->from)), step = s->step;
    double h = (j0 * r->nphi - mine * s->nq) * s->unit + s->dphi;
    i32 k = (i32)(j0 - ceil(FMA((double)mine, s->ratio, s->from))) + col, width = s->width, steps = s->steps;
    const GLOBAL real *f = lanes + (s->slot + t.lanes + (i32)j0 + col) * 8 + row;
    const GLOBAL real *back = lanes + (s->slot + t.lanes + s->back - (i32)j0 - col) * 8 + row;
    for (i32 n = 0; n < steps; n++) {
      double w = k + 4 * n >= 0 && k + 4 * n < width ? weight_at(coef, s, h + (4 * n + col) * step, &t) : 0;
      double ahead = f[32 * n], behind = t.reflected ? back[-32 * n] : 0;
      MMA_F64(sum[0], sum[1], w, ahead);
      MMA_F64(back_sum[0], back_sum[1], w, behind);
    }
  }
  if (i >= count)
    return;
  i32 to = r->segment + r->turn - i;
  for (i32 c = 0; c < 2; c++) {
    give(r, i, 2 * col + c, (real)sum[c], in, out, seen, &t, r->mirror == r->first);
    if (t.reflected && to != i)
      give(r, to, 2 * col + c, backwards((real)back_sum[c], &t), in, out, seen, &t, r->mirror == r->first);
  }
}
#else
// Elsewhere: a block has 8 positions, and finds the weights of each for all 16 pixels that share them.
KERNEL(128) caps(const GLOBAL ring *RESTRICT rings, const GLOBAL span *RESTRICT spans, const GLOBAL i32 *RESTRICT units,
                 const GLOBAL double *RESTRICT coef, const GLOBAL real *RESTRICT lanes, const GLOBAL real *in,
                 GLOBAL real *out, GLOBAL real *seen, radial_args t)
{
  SHARED real w[128 * 8];
  const GLOBAL ring *r = rings + units[2 * (t.first + GROUP_ID(0))];
  i32 i0 = units[2 * (t.first + GROUP_ID(0)) + 1], count = t.reflected ? (r->segment + r->turn) / 2 + 1 : r->segment;
  i32 lane = LOCAL_ID(0) % 8, back = LOCAL_ID(0) / 8 % 2, g = LOCAL_ID(0) / 16;
  i32 mine = i0 + LOCAL_ID(0) % 8; // whose weights this thread finds
  i32 i = i0 + g < count ? i0 + g : count - 1;
  mine = mine < count ? mine : count - 1;
  real sum = 0;
  for (i32 q = 0; q < r->count; q++) {
    const GLOBAL span *s = spans + r->spans + q;
    double first = ceil(FMA((double)mine, s->ratio, s->from));
    double h0 = (first * r->nphi - mine * s->nq) * s->unit + s->dphi;
    i32 j0 = (i32)ceil(FMA((double)i, s->ratio, s->from));
    for (i32 k0 = 0; k0 < s->width; k0 += 128) {
      i32 n = s->width - k0 < 128 ? s->width - k0 : 128;
      BARRIER();
      for (i32 k = LOCAL_ID(0) / 8; k < n; k += 16)
        w[k * 8 + LOCAL_ID(0) % 8] =
            (real)weight_at(coef, s, h0 + (k0 + k) * s->step, &t);
      BARRIER();
      i64 at = t.lanes + (back ? s->slot + s->back - j0 - k0 : s->slot + j0 + k0);
      const GLOBAL real *f = lanes + at * 8 + lane;
      if (!back || t.reflected)
        for (i32 k = 0; k < n; k++)
          sum += w[k * 8 + g] * f[back ? -k * 8 : k * 8];
    }
  }
  i32 to = back ? r->segment + r->turn - i : i;
  if (i0 + g < count && !(back && (to == i || !t.reflected)))
    give(r, to, lane, back ? backwards(sum, &t) : sum, in, out, seen, &t, r->mirror == r->first);
}
#endif
