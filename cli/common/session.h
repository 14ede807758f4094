/* SPDX-License-Identifier: BSD-3-Clause */
/* What every command run shares: its name and common options, messages, JSON, progress bar, interruption,
 * time. */
#ifndef KUGEL_CLI_SESSION_H
#define KUGEL_CLI_SESSION_H

#include <stdbool.h>
#include <stdint.h>
#include <kugel/core.h>
#include "common/opts.h"
#include "common/progress.h"

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_SIGNALLED = 128 }; /* and the signal's number */

typedef struct session {
  const char *command;
  const command *table; /* and its table, with the values of its options */
  const arg *args;
  const char *const *shared; /* files that all inputs of a batch share, such as a PSF */
  int64_t n_shared;
  bool json, quiet, dry_run, overwrite;
  bool threads;       /* --threads was given */
  bool nest, partial; /* of maps: NPY files are in NESTED order; FITS files hold the seen pixels only */
  int several;       /* of several files the one at work may fail alone: where its JSON object ends; else 0 */
  const char *named; /* the one at work, which its errors name; else NULL */
  bool keeps;        /* finished parts outlive an interruption */
  kugel_ctx *ctx;    /* of transforms; NULL: the CPU */
  kugel_ctx *files;  /* of stacks: with a limit under --mem; NULL: the CPU */
} session;

extern session run;

/* Opens the run: options, threads, signals, progress bar, the JSON object. */
int session_start(const char *name, const common_args *common);
/* Opens the context that --device names, with the limit of --mem or NULL, without a word; and with one in the
 * report. */
int session_context(const arg *device, const arg *mem);
int session_device(const arg *device, const arg *mem);
/* --mem of the CPU: files take a part of it, and there are threads for as many megabytes as it leaves beside the program. Before threads
 * run. */
int session_limit(double bytes);
/* Closes it: clears the bar and prints the JSON object. Returns `code`, or 1 if stdout cannot be written. */
int session_end(int code);

/* Text for people, to stdout, or to stderr if the result goes there (pipes.h), unless --json or --quiet. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Text of files and names as a terminal may show it, in `out`: control characters and bytes that are not UTF-8 become
 * \x1b and the like. Messages, say and fact do so themselves. */
const char *plain(const char *text, char *out, size_t size);
/* "kugel COMMAND: sentence" on stderr; with --json the sentence goes to stdout as well. They return the exit
 * code. */
int fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
int fail_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The library's last sentence; 128 + the signal (130 SIGINT, 143 SIGTERM) when it
 * was the user who cancelled. `what` (a file, say) goes before it,
 * or NULL. */
int fail_library(kugel_status status, const char *what);
/* After SIGINT, SIGTERM or SIGHUP. */
bool interrupted(void);
int fail_interrupted(void);

/* Returns the exit code from the calling function if a library call or a step fails. */
#define LIB(expr)                                                                                            \
  do {                                                                                                       \
    kugel_status status_ = (expr);                                                                           \
    if (status_ != KUGEL_OK)                                                                                 \
      return fail_library(status_, NULL);                                                                    \
  } while (0)
#define STEP(expr)                                                                                           \
  do {                                                                                                       \
    int code_ = (expr);                                                                                      \
    if (code_ != EXIT_DONE)                                                                                  \
      return code_;                                                                                          \
  } while (0)

/* Monotonic seconds. */
double now(void);
/* Highest resident memory of the process so far, in bytes. */
int64_t peak_memory(void);
/* What it has now; where the system does not say, the highest. */
int64_t memory_now(void);
const char *bytes_text(double bytes, char *buffer, size_t size);     /* "12.3 MB" */
const char *seconds_text(double seconds, char *buffer, size_t size); /* "3.21 s", "45 ms" */

/* One JSON object a run; no-ops without --json. `key` NULL within arrays. */
void json_object(const char *key);
void json_array(const char *key);
void json_end(void);
void json_text(const char *key, const char *text);
void json_int(const char *key, int64_t n);
void json_number(const char *key, double x);
void json_flag(const char *key, bool yes);

/* Memory that is freed when its variable goes out of scope. */
void release_memory(void *pointer_to_pointer);
#define OWNED __attribute__((cleanup(release_memory)))

#endif
