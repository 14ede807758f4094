/* SPDX-License-Identifier: BSD-3-Clause */
/* What a file holds, said in text and JSON. */
#ifndef KUGEL_CLI_DESCRIBE_H
#define KUGEL_CLI_DESCRIBE_H

#include <stdbool.h>

/* stats: read the voxels of stacks for their range. */
int describe_file(const char *path, bool stats);

#endif
