/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening files to be read. */
#ifndef KUGEL_IO_INPUT_H
#define KUGEL_IO_INPUT_H

#include <stdio.h>
#include "core/base.h"

/* Opens a regular file and tells its size; anything else (a folder, a FIFO, a device) is refused at once, never
 * waited for. */
kugel_status kugel__input_open(const char *path, FILE **in, int64_t *size);

/* What a file that is not of the wanted kind seems to be, by its first n bytes: the end of a sentence, "" if unknown. */
const char *kugel__input_guess(const void *head, size_t n);

#endif
