/* SPDX-License-Identifier: BSD-3-Clause */
/* A file without a name for arrays that do not fit memory: its space is reserved at once, and is free again when the file is
 * closed or the process ends. Or memory, where there is enough. */
#ifndef KUGEL_VOLUME_FILE_H
#define KUGEL_VOLUME_FILE_H

#include "core/base.h"

typedef struct kugel__volume_file kugel__volume_file;

/* folder: NULL for that of $TMPDIR, else /var/tmp; not used in memory. */
kugel_status kugel__volume_file_create(kugel_ctx *ctx, const char *folder, uint64_t bytes, bool in_memory,
                                       kugel__volume_file **out);
void kugel__volume_file_close(kugel__volume_file *f);

/* `count` pieces of `bytes` bytes each, `step` bytes apart in memory, to follow each other from byte `at` of the file; and
 * back. Several threads may call these at once. */
kugel_status kugel__volume_file_put(const kugel__volume_file *f, int64_t at, const char *from, int64_t count,
                                    int64_t bytes, int64_t step);
kugel_status kugel__volume_file_get(const kugel__volume_file *f, int64_t at, char *to, int64_t count,
                                    int64_t bytes, int64_t step);

#endif
