/* SPDX-License-Identifier: BSD-3-Clause */
/* Several files in one run: files, folders and patterns as inputs, a file or a folder as the output; shared out among
 * the tasks of a job array, and continued after a kill. */
#ifndef KUGEL_CLI_BATCH_BATCH_H
#define KUGEL_CLI_BATCH_BATCH_H

#include "batch/manifest.h"
#include "batch/task.h"

/* How many inputs a command takes. */
#define MANY 100000

#define TASK_OPTIONS(X)                                                                                      \
  X(task, 0, ARG_TEXT, "I/N", NULL, 0, 0,                                                                    \
    "of several files, only the I-th of N shares, counted from 0 or from 1; auto: as a Slurm job array "     \
    "says")

/* Of the commands that take several stacks of images. */
#define BATCH_OPTIONS(X)                                                                                     \
  X(ext, 0, ARG_TEXT, "END", NULL, 0, 0,                                                                     \
    "end of the names in an output folder, such as .ome.tif; when not given, that of the inputs")            \
  TASK_OPTIONS(X)
#define RESUME_OPTION(X)                                                                                     \
  X(resume, 0, ARG_FLAG, NULL, NULL, 0, 0,                                                                   \
    "pass over the files of an output folder that an earlier run with the same options finished")

typedef struct batch {
  char **inputs;
  int64_t count;
  bool folder; /* the output is a folder */
  bool flat;   /* JSON of a single input without a list of images */
  const char *target, *ext;
  char **outputs;
  const char *things;           /* what the inputs are, and the list's name in JSON: "images" */
  const char *kind;             /* of those in a folder, in messages */
  bool (*is)(const char *path); /* is this file or folder in a folder an input? */
  bool (*whole)(void *,
                const char *output); /* are the other results of that output there? NULL: it has none */
  bool resume, told;                 /* told: `one` prints the titles itself */
  task share;
} batch;

/* Operands of inputs, of which folders stand for the inputs in them and patterns for the files they match, and the
 * output. b: zero but for `things` and `is` (none: stacks of images). ext: as typed, or NULL. piece and resume: the
 * options --task and --resume. folder: the output is one even for a single input. */
int batch_open(batch *b, const char *const *operands, int64_t count, const char *target, const char *ext,
               const arg *piece, const arg *resume, bool folder);
/* Adds the inputs in a folder, by name; b: as for batch_open. An error if there are none. */
int batch_list(batch *b, const char *folder);
/* Each input `times` times, its outputs called name-000000 and so on from `first`; after batch_open. */
int batch_repeat(batch *b, int64_t times, int64_t first);
void batch_close(batch *b);
#define BATCH __attribute__((cleanup(batch_close))) batch

/* Calls `one` for each input of this task's share. One input: its error is the run's. Several: each result appears when
 * it is finished, an error of one does not stop the others, and the run fails at the end, telling how many failed. */
typedef int batch_step(void *work, const char *input, const char *output, int64_t i);
int batch_run(const batch *b, batch_step *one, void *work);

bool is_folder(const char *path);
/* A Zarr is a folder, but one input. */
bool is_zarr(const char *path);
/* Makes a folder for results unless it is there. */
int make_folder(const char *path);
/* Writes "folder/base of path" with the end replaced by `ext` (NULL: kept), and "-suffix" before it (NULL: none). */
int name_in_folder(char out[4200], const char *folder, const char *path, const char *suffix, const char *ext);

#endif
