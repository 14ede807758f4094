/* SPDX-License-Identifier: BSD-3-Clause */
/* Several stacks in one run: files, folders and patterns as inputs, a file or a folder as the output. */
#ifndef KUGEL_CLI_VOLUME_BATCH_H
#define KUGEL_CLI_VOLUME_BATCH_H

#include "volume/stacks.h"

/* Of the commands that take several stacks. */
#define BATCH_OPTIONS(X)                                                                                     \
  X(ext, 0, ARG_TEXT, "END", NULL, 0, 0,                                                                     \
    "end of the names in an output folder, such as .ome.tif; when not given, that of the inputs")

typedef struct batch {
  char **inputs;
  int64_t count;
  bool folder; /* the output is a folder */
  bool flat;   /* JSON of a single input without a list of images */
  const char *target, *ext;
  char **outputs;
} batch;

/* Operands of inputs, of which folders stand for the stacks in them and patterns for the files they match, and the
 * output. ext: as typed, or NULL. */
int batch_open(batch *b, const char *const *operands, int64_t count, const char *target, const char *ext);
void batch_close(batch *b);
#define BATCH __attribute__((cleanup(batch_close))) batch

/* Calls `one` for each input. One input: its error is the run's. Several: each result appears when it is finished, an
 * error of one does not stop the others, and the run fails at the end, telling how many failed. */
int batch_run(const batch *b, int (*one)(void *work, const char *input, const char *output), void *work);

#endif
