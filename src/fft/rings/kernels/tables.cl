// SPDX-License-Identifier: BSD-3-Clause
// Tables for ringfft.cl.

typedef struct ring_line { // as in ringdft.h.cl
  u64 radices;
  i64 roots, chirp, filter, order;
  i32 n, split, length, size, passes, owner;
} ring_line;

DEVICE real2 turn(double half_turns) // e^{i pi x}
{
  double s, c;
  SINCOSPI(half_turns, s, c);
  return MAKE_REAL2(c, s);
}

// Roots, chirps and places of a line that a block serves.
KERNEL(256) ring_tables(const GLOBAL ring_line *RESTRICT lines, GLOBAL real2 *RESTRICT tables,
                            GLOBAL i32 *RESTRICT order)
{
  ring_line l = lines[GROUP_ID(0)];
  for (int i = LOCAL_ID(0); i < l.size && l.owner; i += 256)
    tables[l.roots + i] = turn(-2.0 * i / l.size);
  for (int k = LOCAL_ID(0); k < l.length && l.split; k += 256) {
    u64 square = (u64)k * (u64)k % (u64)(2 * l.length);
    tables[l.chirp + k] = turn(-(double)square / l.length);
    tables[l.chirp + l.length + k] = turn(-2.0 * k / l.n);
  }
  for (int k = LOCAL_ID(0); k < l.n && !l.split; k += 256) {
    int at = 0, len = l.n, rest = k;
    for (int i = 0; i < l.passes; i++) {
      int radix = (int)(l.radices >> (4 * i)) & 15;
      len /= radix;
      at += rest % radix * len;
      rest /= radix;
    }
    order[l.order + k] = at;
  }
}

// The tables in single precision.
KERNEL(256) ring_tables_single(const GLOBAL double *RESTRICT tables, GLOBAL float *RESTRICT to, i64 n)
{
  for (i64 i = GLOBAL_ID(0); i < n; i += (i64)GROUPS(0) * 256)
    to[i] = (float)tables[i];
}
