// SPDX-License-Identifier: BSD-3-Clause
// a_lm times f_l for all sets: a block an order m (x) and a set (y). One window for all sets.

KERNEL(128) window(GLOBAL real2 *RESTRICT alm, GLOBAL const real *RESTRICT f, i32 lmax, i64 nalm)
{
  i32 m = GROUP_ID(0);
  i64 at = GROUP_ID(1) * nalm + (i64)m * (2 * lmax + 1 - m) / 2;
  for (i32 l = m + LOCAL_ID(0); l <= lmax; l += 128) {
    real2 a = alm[at + l];
    alm[at + l] = MAKE_REAL2(a.x * f[l], a.y * f[l]);
  }
}
