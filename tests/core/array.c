/* SPDX-License-Identifier: BSD-3-Clause */
/* Strides of results: elements may neither overlap nor interleave; those of inputs may. */
#include "check.h"
#include "core/array.h"

static double room[100];

static kugel_status check(int64_t rows, int64_t columns, int64_t row, int64_t column, bool written)
{
  int64_t shape[] = {rows, columns}, strides[] = {row, column};
  kugel_array a = {.data = room + 50, .ndim = 2, .dtype = KUGEL_F64, .shape = shape, .strides = strides};
  a.device.type = KUGEL_CPU;
  return kugel__array_check_reach(&a, "x", written);
}

int main(void)
{
  CASE("layouts that results may have")
  {
    CHECK_OK(check(2, 3, 3, 1, true));   // C order
    CHECK_OK(check(2, 3, 1, 2, true));   // Fortran order
    CHECK_OK(check(2, 3, -10, 4, true)); // gaps, and backwards
    CHECK_OK(check(1, 3, 0, 1, true));   // an axis of one element has any stride
    CHECK_OK(check(0, 3, 0, 0, true));
  }
  CASE("layouts that only inputs may have")
  {
    static const int64_t layouts[][2] = {{0, 1}, {1, 1}, {2, 1}, {2, -1}}; // of 2 x 3: all overlap
    for (int i = 0; i < 4; i++) {
      CHECK_IS(check(2, 3, layouts[i][0], layouts[i][1], true), KUGEL_EINVAL);
      CHECK(strstr(kugel_last_error(), "overlap or interleave"));
      CHECK_OK(check(2, 3, layouts[i][0], layouts[i][1], false));
    }
    CHECK_IS(check(2, 3, 3, 2, true), KUGEL_EINVAL); // 0 2 4 and 3 5 7: interleaved, as the header says
    CHECK_OK(check(2, 3, 3, 2, false));
  }
  END();
}
