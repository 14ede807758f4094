/* SPDX-License-Identifier: BSD-3-Clause */
/* The processes that mpirun or srun started: rank 0 runs the command, the others work for its transforms. */
#ifndef KUGEL_CLI_RANKS_H
#define KUGEL_CLI_RANKS_H

#include <stdbool.h>
#include <kugel/comm.h>

/* True: this process is done, with *code. */
bool ranks_begin(int argc, const char *const *argv, int *code);
/* Lets the other ranks go; returns `code`. */
int ranks_end(int code);

/* Of rank 0; NULL: this process is alone. */
kugel_comm *ranks_comm(void);

/* `kugel bench --ranks`: every process runs the command, and rank 0 alone prints. Of each of them, opened by the first call. */
int ranks_together(kugel_comm **out);

#endif
