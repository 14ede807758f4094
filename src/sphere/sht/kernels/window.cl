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

// Maps that share a mask: first pixel, pixels and number of maps; single precision.
typedef struct mask_args {
  i64 at, n;
  double least;
  i32 maps, f32;
} mask_args;

// mask: 0 where one of the maps has a NaN, infinite or UNSEEN pixel, which are counted, else 1.
KERNEL(128) find_bad(GLOBAL const void *RESTRICT in, GLOBAL double *RESTRICT mask, GLOBAL i32 *RESTRICT bad, mask_args t)
{
  for (i64 i = GLOBAL_ID(0); i < t.n; i += (i64)GROUPS(0) * 128) {
    i32 wrong = 0;
    for (i32 c = 0; c < t.maps; c++) {
      i64 at = t.at + c * t.n + i;
      double v = t.f32 ? (double)((GLOBAL const float *)in)[at] : ((GLOBAL const double *)in)[at];
      if (!(fabs(v) <= 1.7e308) || fabs(v + 1.6375e30) <= 1.6375e25)
        wrong = 1;
    }
    mask[i] = wrong ? 0.0 : 1.0;
    if (wrong)
      ATOMIC_ADD_I32(bad, 1);
  }
}

// UNSEEN where less than `least` is good.
KERNEL(128) blank(GLOBAL void *RESTRICT out, GLOBAL const double *RESTRICT good, mask_args t)
{
  for (i64 i = GLOBAL_ID(0); i < t.n; i += (i64)GROUPS(0) * 128)
    for (i32 c = 0; c < t.maps && good[i] < t.least; c++) {
      i64 at = t.at + c * t.n + i;
      if (t.f32)
        ((GLOBAL float *)out)[at] = -1.6375e30f;
      else
        ((GLOBAL double *)out)[at] = -1.6375e30;
    }
}
