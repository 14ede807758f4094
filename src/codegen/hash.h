/* SPDX-License-Identifier: BSD-3-Clause */
/* SHA-256 (FIPS 180-4), for keys and checksums of the kernel cache. */
#ifndef KUGEL_CODEGEN_HASH_H
#define KUGEL_CODEGEN_HASH_H

#include "core/base.h"

typedef struct kugel__hash {
  uint32_t state[8];
  uint64_t bytes;
  unsigned char block[64];
} kugel__hash;

void kugel__hash_start(kugel__hash *h);
void kugel__hash_add(kugel__hash *h, const void *data, size_t bytes);
/* A text with its ending zero, so that "ab" + "c" differs from "a" + "bc"; NULL counts as "". */
void kugel__hash_text(kugel__hash *h, const char *text);
void kugel__hash_end(kugel__hash *h, unsigned char digest[32]);

#endif
