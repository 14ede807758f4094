/* SPDX-License-Identifier: BSD-3-Clause */
/* Which of many files are this process's: a job array's piece, an MPI launcher's rank, or all. */
#ifndef KUGEL_CLI_BATCH_TASK_H
#define KUGEL_CLI_BATCH_TASK_H

#include <stdbool.h>
#include <stdint.h>

typedef struct task {
  int64_t piece, pieces; /* 0 <= piece < pieces */
} task;

/* text: "i/n" (i from 0 to n, where n is 0: arrays that count from 0 or from 1 both work), "auto" (Slurm's job array),
 * or NULL. Under mpirun or srun every piece is divided once more among the ranks. */
int task_take(task *t, const char *text);
/* File i goes to piece i mod pieces. */
bool task_owns(const task *t, int64_t i);

#endif
