/* SPDX-License-Identifier: BSD-3-Clause */
#include "codegen/banks.h"

int64_t kugel__bank_conflicts(int64_t bytes, const int64_t word[32])
{
  int lanes = 128 / (int)bytes, banks = lanes;
  int64_t worst = 0;
  for (int part = 0; part < 32; part += lanes)
    for (int bank = 0; bank < banks; bank++) {
      int64_t seen[32], n = 0;
      for (int lane = part; lane < part + lanes; lane++) {
        bool known = word[lane] < 0 || word[lane] % banks != bank;
        for (int i = 0; i < n && !known; i++)
          known = seen[i] == word[lane];
        if (!known)
          seen[n++] = word[lane];
      }
      worst = kugel__max(worst, n);
    }
  return worst;
}
