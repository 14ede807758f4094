/* SPDX-License-Identifier: BSD-3-Clause */
/* kugel COMMAND ...: finds the command, parses its words by its table, runs it. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <kugel/version.h>
#include "batch/each.h"
#include "commands.h"
#include "common/outputs.h"
#include "common/pipes.h"
#include "common/ranks.h"
#include "map/files.h"

#define COMMAND_POINTER_(name) &command_##name,
static const command *const commands[] = {COMMAND_LIST(COMMAND_POINTER_)};
enum { N_COMMANDS = sizeof commands / sizeof commands[0] };

static const command *find_command(const char *name)
{
  for (int i = 0; i < N_COMMANDS; i++)
    if (!strcmp(commands[i]->name, name))
      return commands[i];
  return NULL;
}

static int unknown_command(const char *name)
{
  const char *words[N_COMMANDS];
  for (int i = 0; i < N_COMMANDS; i++)
    words[i] = commands[i]->name;
  const char *near = nearest_word(name, words, N_COMMANDS);
  if (near)
    return fail_usage("unknown command \"%.60s\" (did you mean %s?)", name, near);
  return fail_usage("unknown command \"%.60s\"; see kugel --help", name);
}

/* kugel help [COMMAND | --man | --completion SHELL] */
static int help_command(int argc, const char *const *argv)
{
  if (argc == 0) {
    help_overview(commands, N_COMMANDS);
  } else if (!strcmp(argv[0], "--man")) {
    man_print(commands, N_COMMANDS);
  } else if (!strcmp(argv[0], "--completion")) {
    if (argc != 2 || !completion_print(argv[1], commands, N_COMMANDS))
      return fail_usage("--completion needs the shell: bash, zsh or fish");
  } else {
    const command *c = find_command(argv[0]);
    if (!c)
      return unknown_command(argv[0]);
    help_print(c);
  }
  return session_end(EXIT_DONE);
}

/* Options of maps, which many commands have in different places of their tables. */
static int take_map_options(const command *c, const arg *args)
{
  bool ring = false;
  for (int i = 0; i < c->n_options; i++) {
    const char *field = c->options[i].field;
    run.nest |= args[i].given && !strcmp(field, "nest");
    run.partial |= args[i].given && !strcmp(field, "partial");
    ring |= args[i].given && !strcmp(field, "ring");
  }
  return run.nest && ring ? fail_usage("give one of --nest and --ring") : EXIT_DONE;
}

static int run_command(const command *c, int argc, const char *const *argv)
{
  char error[ERROR_SIZE];
  const char **words = calloc((size_t)argc + 1, sizeof *words);
  arg *args = calloc((size_t)c->n_options, sizeof *args);
  int code = EXIT_FAILED;
  run.command = c->name;
  if (!words || !args) {
    code = fail("out of memory");
  } else if (!options_parse(c, argc, argv, words, args, error)) {
    for (int i = 0; i < argc; i++) /* even a usage error is an object for a program that asked for one */
      run.json |= !strcmp(argv[i], "--json");
    code = session_end(fail_usage("%s", error));
  } else if (((const common_args *)args)->help.given) {
    help_print(c);
    code = session_end(EXIT_DONE);
  } else {
    run.table = c;
    run.args = args;
    code = session_start(c->name, (const common_args *)args);
    if (code == EXIT_DONE)
      code = take_map_options(c, args);
    if (code == EXIT_DONE)
      code = pipes_open(c, args, words);
    if (code == EXIT_DONE)
      code = check_outputs(c, args);
    if (code == EXIT_DONE)
      code = each_run(c, args);
    code = session_end(code);
  }
  free(words);
  free(args);
  return code;
}

static int start(int argc, const char *const *words)
{
  if (argc < 2) {
    help_overview(commands, N_COMMANDS);
    return EXIT_USAGE;
  }
  const char *name = words[1];
  history_set(argc - 1, words + 1);
  if (!strcmp(name, "--version") || !strcmp(name, "-V")) {
    bool json = argc > 2 && !strcmp(words[2], "--json");
    printf(json ? "{\"version\": \"%s\"}\n" : "kugel %s\n", kugel_version());
    return session_end(EXIT_DONE);
  }
  if (!strcmp(name, "--help") || !strcmp(name, "-h") || !strcmp(name, "help"))
    return help_command(argc - 2, words + 2);
  const command *c = find_command(name);
  if (!c)
    return unknown_command(name);
  return run_command(c, argc - 2, words + 2);
}

/* A stream that the caller closed (2>&-) leaves its number to the next file that is opened, which would take in messages or
 * be read as the input. The number is taken here, for nothing: reads from 0 and writes to 1 and 2 fail as before. */
static void occupy_streams(void)
{
  for (int fd = 0; fd <= 2; fd++)
    if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd ? O_RDONLY : O_WRONLY) != fd)
      return; /* no /dev/null, or no descriptor */
}

int main(int argc, char **argv)
{
  const char *const *words = (const char *const *)argv;
  int code;
  occupy_streams();
  return ranks_begin(argc, words, &code) ? code : ranks_end(start(argc, words));
}
