/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers in text headers against the C library's, and those that a fuzzer thought of. */
#include "check.h"
#include "stack/stack.h"

int main(void)
{
  CASE("numbers as strtod reads them")
  {
    static const char *const good[] = {"0",     "-0.5",  "+12.25", " 3.14159265358979", "1e5",    "2.5E-3",
                                       "1e300", "7e-20", "0e0",    "123456789012",      "1.e+2x", ".5"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
      double want = strtod(good[i], NULL);
      CHECK_LE(fabs(kugel__stack_real(good[i]) - want), 1e-14 * fabs(want));
    }
  }
  CASE("exponents beyond all bounds")
  {
    CHECK(kugel__stack_real("1e-9223372036854775808") == 0);
    CHECK(kugel__stack_real("-1e-99999999999999999999") == 0);
    CHECK(isinf(kugel__stack_real("1e9223372036854775807")));
    CHECK(kugel__stack_real("0e9223372036854775807") == 0);
    CHECK(kugel__stack_real("0e-400") == 0);
    CHECK(kugel__stack_real("") == 0 && kugel__stack_real("e") == 0);
  }
  END();
}
