// SPDX-License-Identifier: BSD-3-Clause
// Rows of Fourier coefficients to messages, and back: a block has a run of neighbouring pairs of one order, whose coefficients are
// one piece of memory on both sides. leg[component][order][row][4], a message [order][component][pair][4]; with a stride, what is
// there is as leg.

typedef struct run {
  i64 leg, message, n; // of its first component, in pairs of doubles: where it begins, its length
} run;

KERNEL(256) move_runs(GLOBAL real2 *RESTRICT leg, GLOBAL real2 *RESTRICT messages, const GLOBAL run *RESTRICT runs, i64 leg_stride,
                      i64 stride, i32 first, i32 out)
{
  run r = runs[first + GROUP_ID(0)];
  GLOBAL real2 *here = leg + r.leg + GROUP_ID(1) * leg_stride, *there = messages + r.message + GROUP_ID(1) * (stride ? stride : r.n);
  for (i64 i = LOCAL_ID(0); i < r.n; i += 256)
    if (out)
      there[i] = here[i];
    else
      here[i] = there[i];
}
