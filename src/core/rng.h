/* SPDX-License-Identifier: BSD-3-Clause */
/* Counter-based random numbers: a number is a pure function of seed and counter, so order and threads do not
 * matter. */
#ifndef KUGEL_CORE_RNG_H
#define KUGEL_CORE_RNG_H

#include <stdint.h>

/* Philox4x32-10 (Salmon et al. 2011): four random words from a counter of four words and a key of two. */
void kugel__philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

/* Two independent standard normal numbers for the counter (a, b, c) under `seed`, by Box and Muller's
 * formula. */
void kugel__normal_pair(uint64_t seed, uint64_t a, uint32_t b, uint32_t c, double out[2]);

#endif
