/* SPDX-License-Identifier: BSD-3-Clause */
/* "-" as a file name: the standard input or output. Formats need seeking, so both go through files in a folder of their
 * own below $TMPDIR (else /var/tmp), which is removed at the end. */
#ifndef KUGEL_CLI_PIPES_H
#define KUGEL_CLI_PIPES_H

#include "common/opts.h"

/* Puts names of such files in the place of "-" and "KIND:-" among the values in `args` and the operands in `words`, to
 * which args[].list points, and reads the standard input. */
int pipes_open(const command *c, arg *args, const char **words);
/* Copies what was written to the standard output if `code` is EXIT_DONE, removes the files, returns the exit code. */
int pipes_end(int code);
/* Is the standard output the command's output, so that text goes elsewhere? */
bool pipes_output(void);
/* If `text` begins with the name of one of the files: what it stands for, and its length in *length; else NULL. */
const char *pipes_name(const char *text, size_t *length);

#endif
