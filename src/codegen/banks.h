/* SPDX-License-Identifier: BSD-3-Clause */
/* The 32 banks of shared memory, simulated: kernels pad their arrays where that pays. */
#ifndef KUGEL_CODEGEN_BANKS_H
#define KUGEL_CODEGEN_BANKS_H

#include "core/base.h"

/* Times that an access of a warp takes: lanes whose different words share a bank wait for each other. word:
 * of each lane, in words of `bytes` (4, 8 or 16); negative: none. Words of 8 bytes go as two half-warps, of
 * 16 as four quarters; each of them takes 1 where no lanes wait. */
int64_t kugel__bank_conflicts(int64_t bytes, const int64_t word[32]);

#endif
