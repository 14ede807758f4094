/* SPDX-License-Identifier: BSD-3-Clause */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <kugel/device.h>
#include <kugel/sphere.h>
#include "common/ranks.h"
#include "common/session.h"

static kugel_comm *comm;     /* of rank 0, which the others serve */
static kugel_comm *together; /* of all, each of which runs the command */

kugel_comm *ranks_comm(void)
{
  return comm;
}

/* Whether a word of the command line asks for a run over several files (batch/each.h): a folder, but none that is one stack,
 * or a pattern. */
static bool means_several(const char *word)
{
  static const char *const options[] = {"--each", "--task", "--count"};
  for (int i = 0; i < 3; i++)
    if (!strncmp(word, options[i], strlen(options[i])))
      return true;
  struct stat file;
  if (*word == '-' || strstr(word, ".zarr"))
    return false;
  return stat(word, &file) ? strpbrk(word, "*?[") != NULL : S_ISDIR(file.st_mode);
}

/* Processes that share out files or tasks among themselves are commands of their own. */
static bool on_their_own(int argc, const char *const *argv)
{
  const char *choice = getenv("KUGEL_RANKS");
  bool own = choice && !strcmp(choice, "self");
  for (int i = 2; i < argc && !own; i++)
    own = means_several(argv[i]);
  return own;
}

/* The command's work is done by the processes as ranks. */
static bool run_together(int argc, const char *const *argv)
{
  bool bench = argc > 1 && (!strcmp(argv[1], "bench") || !strcmp(argv[1], "convolve")), ranks = false;
  for (int i = 2; i < argc; i++)
    ranks |= !strcmp(argv[i], "--ranks");
  return bench && ranks;
}

int ranks_together(kugel_comm **out)
{
  kugel_comm_info info = {.size = sizeof info};
  *out = together;
  if (together)
    return EXIT_DONE;
  LIB(kugel_comm_open(NULL, NULL, &together));
  LIB(kugel_comm_get_info(together, &info));
  if (!getenv("KUGEL_NUM_THREADS") && !run.threads)
    LIB(kugel_set_num_threads(info.threads));
  *out = together;
  return EXIT_DONE;
}

/* The value of an option on the command line; NULL: it is not there. */
static const char *option_of(int argc, const char *const *argv, const char *name)
{
  size_t n = strlen(name);
  for (int i = 2; i < argc; i++) {
    if (!strcmp(argv[i], name) && i + 1 < argc)
      return argv[i + 1];
    if (!strncmp(argv[i], name, n) && argv[i][n] == '=')
      return argv[i] + n + 1;
  }
  return NULL;
}

/* --threads N holds for every rank; else the ranks of a host share its CPUs. */
static int threads_of(int argc, const char *const *argv)
{
  kugel_comm_info info = {.size = sizeof info};
  const char *threads = option_of(argc, argv, "--threads");
  if (threads)
    return atoi(threads);
  if (getenv("KUGEL_NUM_THREADS") || kugel_comm_get_info(comm, &info))
    return 0;
  return info.threads;
}

bool ranks_begin(int argc, const char *const *argv, int *code)
{
  int rank;
  *code = EXIT_DONE;
  if (kugel_comm_launched(&rank) <= 1 || on_their_own(argc, argv))
    return false;
  if (run_together(argc, argv))
    return rank && (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
           ? *code = EXIT_FAILED,
             true : false;
  if (kugel_comm_open(NULL, NULL, &comm)) {
    *code = rank ? EXIT_FAILED : fail_library(KUGEL_EIO, NULL); /* one of them speaks for all */
    return true;
  }
  int threads = threads_of(argc, argv);
  if (threads > 0 && threads <= 4096)
    kugel_set_num_threads(threads);
  /* --device holds for every rank: each opens its own, rank 0 with its other options. */
  const char *device = option_of(argc, argv, "--device");
  kugel_ctx *ctx = NULL;
  kugel_status status = KUGEL_OK;
  if (rank && device)
    status = kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = device}, &ctx);
  status = kugel_comm_agree(comm, status);
  if (status) {
    *code = rank ? EXIT_FAILED : fail_library(status, NULL);
    kugel_ctx_destroy(ctx);
    kugel_comm_destroy(comm);
    return true;
  }
  if (rank == 0)
    return false;
  /* A signal goes to all: rank 0 ends the work in order. */
  signal(SIGINT, SIG_IGN);
  signal(SIGTERM, SIG_IGN);
  signal(SIGHUP, SIG_IGN);
  if (kugel_serve(ctx, comm, code))
    *code = EXIT_FAILED;
  kugel_ctx_destroy(ctx);
  kugel_comm_destroy(comm);
  return true;
}

int ranks_end(int code)
{
  if (comm)
    kugel_dismiss(comm, code);
  kugel_comm_destroy(comm);
  kugel_comm_destroy(together);
  comm = together = NULL;
  return code;
}
