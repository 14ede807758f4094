// SPDX-License-Identifier: BSD-3-Clause
// What tools/kernel_lint.py finds, bad and bad_chain, and what it passes. Read by that script alone.

KERNEL(64) bad(GLOBAL real *x, i32 n, i32 flag)
{
  for (i32 b = 0; b < n; b++) {
    BARRIER();
    if (flag) {
      for (i32 i = LOCAL_ID(0); i < n; i += 64)
        x[i] += 1;
    } else {
      for (i32 i = LOCAL_ID(0); i < 2 * n; i += 64)
        x[i] += 2;
    }
    BARRIER();
  }
}

KERNEL(64) bad_chain(GLOBAL real *x, i32 n, i32 flag)
{
  for (i32 b = 0; b < n; b++) {
    if (flag == 0)
      for (i32 i = 0; i < 8; i++)
        x[i] += 1;
    else if (flag == 1)
      x[0] = 1;
    else
      for (i32 i = 0; i < 4; i++)
        x[i] += 2;
    BARRIER();
  }
}

KERNEL(64) two_loops(GLOBAL real *x, i32 n, i32 flag)
{
  for (i32 b = 0; b < n; b++) {
    BARRIER();
    for (i32 i = LOCAL_ID(0); flag && i < n; i += 64)
      x[i] += 1;
    for (i32 i = LOCAL_ID(0); !flag && i < 2 * n; i += 64)
      x[i] += 2;
    BARRIER();
  }
}

KERNEL(64) one_arm(GLOBAL real *x, i32 n, i32 flag)
{
  for (i32 b = 0; b < n; b++) {
    BARRIER();
    if (flag) {
      for (i32 i = LOCAL_ID(0); i < n; i += 64)
        x[i] += 1;
    } else
      x[0] = 2;
    BARRIER();
  }
}

KERNEL(64) last(GLOBAL real *x, i32 n, i32 flag)
{
  for (i32 b = 0; b < n; b++) {
    BARRIER();
    if (flag) {
      for (i32 i = LOCAL_ID(0); i < n; i += 64)
        x[i] += 1;
    } else {
      for (i32 i = LOCAL_ID(0); i < 2 * n; i += 64)
        x[i] += 2;
    }
  }
}
