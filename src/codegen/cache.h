/* SPDX-License-Identifier: BSD-3-Clause */
/* Compiled kernels on disk, and tables that take long to find (sphere/alm/kept.h).
 *
 * The folder is $KUGEL_CACHE, else $XDG_CACHE_HOME/kugel, else ~/.cache/kugel; KUGEL_CACHE=off means none.
 * Each entry is one file with a header (format, key, length, checksum). What is damaged, foreign or not ours
 * counts as missing. Files are written under another name and renamed, so any number of processes may share
 * the folder. Past KUGEL_CACHE_MB megabytes (512) those used longest ago go. No failure here is an error: the
 * kernel is compiled, the table computed. */
#ifndef KUGEL_CODEGEN_CACHE_H
#define KUGEL_CODEGEN_CACHE_H

#include "core/base.h"

typedef struct kugel__key {
  unsigned char bytes[16];
} kugel__key;

/* What stands before the bytes of an entry, in the cache's files and in those of saved plans. */
typedef struct kugel__entry {
  char magic[8];
  kugel__key key;
  uint64_t bytes;
  unsigned char checksum[32]; /* SHA-256 of the bytes that follow */
} kugel__entry;

kugel__entry kugel__entry_of(const kugel__key *key, const void *data, size_t bytes);
/* Whether it stands before these bytes, under any key. */
bool kugel__entry_fits(const kugel__entry *entry, const void *data, size_t bytes);

/* Reads all bytes or yields false. */
bool kugel__read_all(int fd, void *data, size_t bytes);

/* True if found: kugel__free(NULL, *data). */
bool kugel__cache_get(const kugel__key *key, void **data, size_t *bytes);
/* True if written. */
bool kugel__cache_put(const kugel__key *key, const void *data, size_t bytes);
/* The folder in use, or NULL if there is none; `path` has room for `size` bytes. */
const char *kugel__cache_folder(char *path, size_t size);

#endif
