/* SPDX-License-Identifier: BSD-3-Clause */
/* What a file holds, said in text and JSON. */
#ifndef KUGEL_CLI_DESCRIBE_H
#define KUGEL_CLI_DESCRIBE_H

#include <stdbool.h>

/* stats: read the voxels of stacks for their range. */
int describe_file(const char *path, bool stats);
/* A folder that is not a Zarr: a line for each stack in it. */
int describe_folder(const char *path, bool stats);

#endif
