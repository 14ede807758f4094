/* SPDX-License-Identifier: BSD-3-Clause */
/* LABEL: long. Accuracy of long lines to 2^24 points: all kinds to 10^5, complex and real ones beyond. */
#include "fft/truth.h"

int main(void)
{
  CASE("all kinds")
  {
    int64_t n[] = {4096, 10006, 19683, 65537, 65538, 78125, 117649};
    for (size_t i = 0; i < sizeof n / sizeof *n; i++)
      all_kinds((line){.n = n[i], .lines = 1, .in_step = 1, .out_step = 1}, 8);
    all_kinds((line){.n = 69984, .lines = 3, .in_step = 2, .out_step = 1, .f32 = true}, 6);
  }
  CASE("to 2^24")
  {
    int64_t n[] = {262144, 390625, 531441, 1 << 20, 1000003, 1 << 22, 1 << 24};
    for (size_t i = 0; i < sizeof n / sizeof *n; i++)
      for (int sign = n[i] == 1 << 20 || i % 2 == 0 ? -1 : 1; sign <= (n[i] == 1 << 20 || i % 2 ? 1 : -1);
           sign += 2) {
        one((line){.kind = KUGEL_FFT_C2C, .sign = sign, .n = n[i], .lines = 1, .in_step = 1, .out_step = 1},
            5);
        one((line){.kind = KUGEL_FFT_R2C, .sign = sign, .n = n[i], .lines = 1, .in_step = 1, .out_step = 1},
            5);
      }
    one((line){.kind = KUGEL_FFT_DCT2, .sign = -1, .n = 1 << 22, .lines = 1, .in_step = 1, .out_step = 1}, 5);
  }
  END();
}
