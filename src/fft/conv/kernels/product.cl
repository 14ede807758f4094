// SPDX-License-Identifier: BSD-3-Clause
// Spectra of results, y[box][output][point], from those of data, x[box][input][point], and kernels,
// h[output][input][point], or h[output][point] if each output has an input of its own. y may be x if there is one input
// to a result. A block serves 256 points of an output, in every GROUPS(2)-th box.

KERNEL(256) product(const GLOBAL real2 *x, const GLOBAL real2 *RESTRICT h, GLOBAL real2 *y, i64 points, i64 boxes,
                    i32 inputs, i32 outputs, i32 each)
{
  i64 at = (i64)GROUP_ID(0) * 256 + LOCAL_ID(0);
  i32 output = GROUP_ID(1), rows = each ? outputs : inputs, terms = each ? 1 : inputs;
  if (at >= points)
    return;
  for (i64 box = GROUP_ID(2); box < boxes; box += GROUPS(2)) {
    const GLOBAL real2 *from = x + (box * rows + (each ? output : 0)) * points + at;
    const GLOBAL real2 *factor = h + (i64)output * terms * points + at;
    real2 sum = MAKE_REAL2(0, 0);
    for (i32 i = 0; i < terms; i++) {
      real2 a = from[i * points], b = factor[i * points];
      sum = MAKE_REAL2(sum.x + a.x * b.x - a.y * b.y, sum.y + a.x * b.y + a.y * b.x);
    }
    y[(box * outputs + output) * points + at] = sum;
  }
}
