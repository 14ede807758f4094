/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "batch/task.h"
#include "common/session.h"

enum { MOST_PIECES = 1000000 };

/* A whole number from the environment, or -1. */
static int64_t number(const char *name)
{
  const char *text = getenv(name);
  char *end = NULL;
  long long n = text && *text ? strtoll(text, &end, 10) : -1;
  return end && !*end && n >= 0 ? n : -1;
}

/* Processes of one launcher say their rank in the environment, each launcher by its own names. SLURM_NTASKS is not
 * among them: it is there in a batch script too, which runs once. */
static task launched(void)
{
  static const char *const names[][2] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                         {"PMI_RANK", "PMI_SIZE"},
                                         {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"}};
  for (int i = 0; i < 3; i++) {
    int64_t rank = number(names[i][0]), size = number(names[i][1]);
    if (rank >= 0 && rank < size)
      return (task){rank, size};
  }
  return (task){0, 1};
}

static int from_array(task *t)
{
  int64_t id = number("SLURM_ARRAY_TASK_ID"), count = number("SLURM_ARRAY_TASK_COUNT"),
          first = number("SLURM_ARRAY_TASK_MIN"), last = number("SLURM_ARRAY_TASK_MAX");
  if (id < 0 || count < 1 || first < 0 || last < 0)
    return fail_usage(
        "--task auto: this is no Slurm job array (SLURM_ARRAY_TASK_ID, _COUNT, _MIN and _MAX are "
        "not set): give --task i/n");
  if (last - first + 1 != count || id < first || id > last)
    return fail_usage(
        "--task auto: the job array has %lld tasks numbered %lld to %lld: with gaps, give --task i/n",
        (long long)count, (long long)first, (long long)last);
  *t = (task){id - first, count};
  return EXIT_DONE;
}

int task_take(task *t, const char *text)
{
  *t = (task){0, 1};
  if (text && !strcmp(text, "auto")) {
    STEP(from_array(t));
  } else if (text) {
    long long i, n;
    int used = 0;
    if (sscanf(text, "%lld/%lld%n", &i, &n, &used) != 2 || text[used] || n < 1 || n > MOST_PIECES || i < 0 ||
        i > n)
      return fail_usage(
          "--task %.60s: must be i/n, i from 0 to n - 1 or from 1 to n, n at most %d, such as 3/16; "
          "or auto in a Slurm job array",
          text, (int)MOST_PIECES);
    *t = (task){i % n, n};
  }
  task rank = launched();
  t->piece = t->piece * rank.pieces + rank.piece;
  t->pieces *= rank.pieces;
  return EXIT_DONE;
}

bool task_owns(const task *t, int64_t i)
{
  return i % t->pieces == t->piece;
}
