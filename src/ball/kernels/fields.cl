// SPDX-License-Identifier: BSD-3-Clause
// Vectors in the ball between the transforms in radius and those on spheres, in place: no number moves.
//
// variant: REAL_BITS=64
// variant: REAL_BITS=32

#if REAL_BITS == 64
typedef double num;
#define HALF 0.70710678118654752440
#else
typedef float num;
#define HALF 0.70710678118654752440f
#endif

typedef struct fields_args {
  i64 rows, nr, part; // rows of a component, numbers of a row, numbers from one component to the next
  i64 full;           // orders of a degree that has all: mmax + 1
  i64 at;             // real at which the first of the caller's numbers lies
  i32 back, pad;
} fields_args;

// The degree of a row: of those with fewer than `full` orders, row = l (l + 1) / 2 + m.
DEVICE i64 degree_of(i64 row, i64 full)
{
  i64 triangle = full * (full + 1) / 2;
  if (row >= triangle)
    return full + (row - triangle) / full;
  i64 l = (i64)((sqrt(8.0 * (double)row + 1) - 1) / 2);
  l -= l * (l + 1) / 2 > row;
  return l + ((l + 1) * (l + 2) / 2 <= row);
}

// (a, b, c) <-> (u_r, E, B): a rotation, and its own transpose back. A block has a row.
KERNEL(128) turn(GLOBAL num *x, fields_args t)
{
  i64 row = GROUP_ID(0), l = degree_of(row, t.full);
  double both = 2 * (double)l + 1;
  num A = (num)sqrt((double)l / both), B = (num)sqrt(((double)l + 1) / both);
  GLOBAL num *a = x + 2 * row * t.nr, *b = a + 2 * t.part, *c = b + 2 * t.part;
  for (i64 i = LOCAL_ID(0); i < 2 * t.nr; i += 128) {
    num p = a[i], q = b[i];
    if (l == 0) { // b alone, and u_r
      a[i] = t.back ? (num)0 : -q;
      b[i] = t.back ? -p : (num)0;
      c[i] = 0;
    } else {
      a[i] = t.back ? A * p + B * q : A * p - B * q;
      b[i] = t.back ? A * q - B * p : B * p + A * q;
    }
  }
}

// u_r, u_theta, u_phi, `part` numbers each, to or from components of spin -1, 0, 1.
KERNEL(256) spin(GLOBAL num *maps, GLOBAL num *pairs, fields_args t)
{
  GLOBAL num *minus = pairs + t.at, *zero = minus + 2 * t.part, *plus = zero + 2 * t.part;
  for (i64 i = GLOBAL_ID(0); i < t.part; i += (i64)GROUPS(0) * 256)
    if (t.back) {
      maps[i] = zero[2 * i];
      maps[t.part + i] = HALF * (minus[2 * i] + plus[2 * i]);
      maps[2 * t.part + i] = HALF * (plus[2 * i + 1] - minus[2 * i + 1]);
    } else {
      num theta = HALF * maps[t.part + i], phi = HALF * maps[2 * t.part + i];
      zero[2 * i] = maps[i];
      zero[2 * i + 1] = 0;
      minus[2 * i] = plus[2 * i] = theta;
      minus[2 * i + 1] = -phi;
      plus[2 * i + 1] = phi;
    }
}
