/* SPDX-License-Identifier: BSD-3-Clause */
/* Entries of the kernel cache in one file: all that a plan needs, for a place where nothing shall be
 * compiled.
 *
 * The file begins with a head (format, length and checksum of all that follows); its first entry tells the
 * version of the library, the device and the compiler that the others are of. A module taken from a bundle is
 * found as it is in the cache, by its recipe or by its text, and never compiled. */
#ifndef KUGEL_CODEGEN_BUNDLE_H
#define KUGEL_CODEGEN_BUNDLE_H

#include "codegen/cache.h"
#include "codegen/module.h"

typedef struct kugel__bundle {
  kugel_ctx *ctx;
  unsigned char *data; /* entries, one after the other */
  size_t bytes, room;
} kugel__bundle;

/* A bundle for what is of the context's device. Paired with a free, also after a failure. */
kugel_status kugel__bundle_start(kugel_ctx *ctx, kugel__bundle *b);
void kugel__bundle_free(kugel__bundle *b);

/* Appends an entry, unless its key is there. */
kugel_status kugel__bundle_add(kugel__bundle *b, const kugel__key *key, const void *data, size_t bytes);
/* NULL: it is not there. The bytes may lie at any address. */
const void *kugel__bundle_find(const kugel__bundle *b, const kugel__key *key, size_t *bytes);
/* The key of what has a name. */
kugel__key kugel__bundle_name(const char *name, int number);

/* Writes the file anew, whole or not at all. */
kugel_status kugel__bundle_write(const kugel__bundle *b, const char *path);
/* Reads one that was started with the same version of the library on the same kind of device. */
kugel_status kugel__bundle_read(kugel_ctx *ctx, const char *path, kugel__bundle *b);

/* Appends the machine code of a module: from the cache on disk, else compiled again. */
kugel_status kugel__bundle_add_module(kugel__bundle *b, const kugel__module_spec *spec);

#endif
