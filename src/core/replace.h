/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole files or none: written without a name in the same folder, synced, named, renamed. A process that is killed leaves nothing where
 * the file system knows files without a name (Linux: ext4, XFS, Btrfs, tmpfs); elsewhere (NFS) the file has a temporary name from
 * the beginning. */
#ifndef KUGEL_CORE_REPLACE_H
#define KUGEL_CORE_REPLACE_H

#include <stdio.h>
#include "core/base.h"

typedef struct kugel__replace {
  kugel_ctx *ctx;
  char *path, *temp; // owned; temp lies beside path
  uint32_t mode;     // permissions of a file that is replaced, 0: none
  bool nameless;     // temp is not there yet
  int fd;            // what keeps the file then,
  char open[32];     // and its path
} kugel__replace;

/* Refuses an existing file unless overwrite, a read-only file, a folder, a device, a missing or unwritable folder.
 * A symbolic link is followed, also to a file that is not there yet. */
kugel_status kugel__replace_begin(kugel_ctx *ctx, const char *path, int overwrite, kugel__replace *r);
/* Makes the temporary: its descriptor, which the caller closes, or a FILE. */
kugel_status kugel__replace_create(kugel__replace *r, int *fd);
kugel_status kugel__replace_open(kugel__replace *r, FILE **out);
/* A path by which this process may open it once more. */
const char *kugel__replace_path(const kugel__replace *r);
/* It gets its name `temp`, for other processes. */
kugel_status kugel__replace_name(kugel__replace *r);
/* Removes it, with or without a name. */
void kugel__replace_drop(kugel__replace *r);
/* Syncs and renames, the latter later in a batch; on failure the temporary is gone. Frees r's memory either way. */
kugel_status kugel__replace_commit(kugel__replace *r);
/* After writing to `out` (NULL: it was never opened): closes it, and commits if nothing failed till then,
 * neither `status` nor any write; else aborts. */
kugel_status kugel__replace_finish(kugel__replace *r, kugel_status status, FILE *out);
/* Removes the temporary; frees r's memory. Harmless after commit. Keeps the last error. */
void kugel__replace_abort(kugel__replace *r);

/* From hold to release this thread's commits sync but do not rename; release renames all, or removes all. */
kugel_status kugel__replace_hold(void);
kugel_status kugel__replace_release(bool keep);

/* "cannot write 'path': No space left on device". `verb` such as "write"; error an errno, 0 if not known. */
kugel_status kugel__io_fail(const char *verb, const char *path, int error);
/* The end of a path for messages. */
const char *kugel__tail(const char *path);

#endif
