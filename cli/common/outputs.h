/* SPDX-License-Identifier: BSD-3-Clause */
/* No output may be another output of the command, or one of its inputs. */
#ifndef KUGEL_CLI_OUTPUTS_H
#define KUGEL_CLI_OUTPUTS_H

#include "common/opts.h"

/* Refuses a command line that names one file twice and would write it, whatever the names: links, other ways to a
 * folder, and files that are not there yet count. */
int check_outputs(const command *c, const arg *args);

/* Whether two names are, or would be, the same file. */
bool same_file(const char *a, const char *b);

#endif
