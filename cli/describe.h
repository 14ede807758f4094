/* SPDX-License-Identifier: BSD-3-Clause */
/* What a file holds, said in text and JSON. */
#ifndef KUGEL_CLI_DESCRIBE_H
#define KUGEL_CLI_DESCRIBE_H

int describe_file(const char *path);

#endif
