/* SPDX-License-Identifier: BSD-3-Clause */
/* The file .kugel-manifest in a folder of results: what the results depend on. A result that is not older than it and
 * than its input is finished, for results appear whole, by renaming. Nothing is written later, so that the tasks of a
 * job array share it on any file system. */
#ifndef KUGEL_CLI_BATCH_MANIFEST_H
#define KUGEL_CLI_BATCH_MANIFEST_H

#include <time.h>
#include "common/session.h"

typedef struct manifest {
  char path[4200];
  struct timespec made;
} manifest;

typedef enum result_state {
  RESULT_MISSING,
  RESULT_DONE,
  RESULT_OLD,    /* older than its input */
  RESULT_FOREIGN /* it was there before the run began */
} result_state;

/* Finds or makes the manifest of the command at work in `folder`. resume: one of another command or of other options is
 * an error; else it is replaced. The options that the results do not depend on do not count. */
int manifest_open(manifest *m, const char *folder, bool resume);
result_state manifest_state(const manifest *m, const char *input, const char *output);

/* Options that change who computes and what is told, but not the result. */
bool option_is_idle(const option *o);
/* The value of an option as far as the result depends on it: of a device without its number. */
const char *option_text(const option *o, const arg *a, char *buffer, size_t size);

#endif
