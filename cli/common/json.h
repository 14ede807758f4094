/* SPDX-License-Identifier: BSD-3-Clause */
/* The run's JSON object; the writers are in session.h. */
#ifndef KUGEL_CLI_JSON_H
#define KUGEL_CLI_JSON_H

#include <stdio.h>

/* Throws away what was written and opens the object anew. */
void json_restart(void);
/* Levels that are open, and the end of those beyond `depth`. */
int json_depth(void);
void json_close(int depth);
/* Closes everything that is open and prints the object and a newline. */
void json_print(FILE *file);

#endif
