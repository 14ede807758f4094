/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands of one input and one output, over many files. */
#ifndef KUGEL_CLI_BATCH_EACH_H
#define KUGEL_CLI_BATCH_EACH_H

#include "batch/batch.h"

/* For commands whose operands are INPUT (of up to MANY) and OUTPUT. end: of the outputs' names, or NULL for that of the
 * inputs. */
#define EACH_OPTIONS(X, end)                                                                                 \
  X(each, 0, ARG_FLAG, NULL, NULL, 0, 0,                                                                     \
    "OUTPUT is a folder, and each input gets a file there; so it is too for several inputs, folders and "    \
    "quoted patterns")                                                                                       \
  X(ext, 0, ARG_TEXT, "END", end, 0, 0,                                                                      \
    "with --each: end of the names in the folder, such as .npy; when not given, that of the inputs")         \
  TASK_OPTIONS(X)                                                                                            \
  X(resume, 0, ARG_FLAG, NULL, NULL, 0, 0,                                                                   \
    "with --each: pass over the files that an earlier run with the same options finished")

/* Runs the command: once, or for each of several inputs. */
int each_run(const command *c, arg *args);

#endif
