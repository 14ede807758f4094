/* SPDX-License-Identifier: BSD-3-Clause */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "common/outputs.h"
#include "common/session.h"

/* Where a write to `path` would go, though nothing is there: the real folder, the last name; links followed. */
static bool resolve(const char *path, char out[PATH_MAX])
{
  char at[PATH_MAX], target[PATH_MAX], folder[PATH_MAX];
  struct stat st;
  if (snprintf(at, sizeof at, "%s", path) >= (int)sizeof at)
    return false;
  for (int links = 0; links < 40; links++) {
    char *slash = strrchr(at, '/');
    const char *name = slash ? slash + 1 : at;
    if (slash)
      snprintf(folder, sizeof folder, "%.*s", slash == at ? 1 : (int)(slash - at), at);
    char real[PATH_MAX];
    if (!realpath(slash ? folder : ".", real) ||
        snprintf(out, PATH_MAX, "%s/%s", strcmp(real, "/") ? real : "", name) >= PATH_MAX)
      return false;
    ssize_t n = lstat(out, &st) == 0 && S_ISLNK(st.st_mode) ? readlink(out, target, sizeof target - 1) : -1;
    if (n < 0)
      return true;
    target[n] = 0;
    if (snprintf(at, sizeof at, "%s%s%s", target[0] == '/' ? "" : real, target[0] == '/' ? "" : "/",
                 target) >= (int)sizeof at)
      return false;
  }
  return false;
}

bool same_file(const char *a, const char *b)
{
  struct stat x, y;
  char where[PATH_MAX], other[PATH_MAX];
  bool here = stat(a, &x) == 0, there = stat(b, &y) == 0;
  if (here && there)
    return x.st_dev == y.st_dev && x.st_ino == y.st_ino;
  return !here && !there && resolve(a, where) && resolve(b, other) && !strcmp(where, other);
}

static bool is_output(const option *o)
{
  return o->type == ARG_OUTPUT || (o->type == ARG_OPERAND && !strcmp(o->placeholder, "OUTPUT"));
}

static bool is_file(const option *o)
{
  return is_output(o) || o->type == ARG_INPUT ||
         (o->type == ARG_OPERAND && (!strcmp(o->placeholder, "INPUT") || !strcmp(o->placeholder, "FILE")));
}

/* "the output", "--plot" */
static const char *called(const option *o, char buffer[80])
{
  char name[64];
  if (o->type == ARG_OPERAND)
    snprintf(buffer, 80, "the %s", is_output(o) ? "output" : "input");
  else
    snprintf(buffer, 80, "--%s", option_name(o, name));
  return buffer;
}

int check_outputs(const command *c, const arg *args)
{
  char one[80], other[80];
  for (int i = 0; i < c->n_options; i++)
    for (int k = 0; args[i].given && is_output(&c->options[i]) && k < c->n_options; k++) {
      const option *a = &c->options[i], *b = &c->options[k];
      if (k == i || !args[k].given || !is_file(b) || (k < i && is_output(b)) ||
          !same_file(args[i].s, args[k].s))
        continue;
      const char *alias = strcmp(args[i].s, args[k].s) ? " (by another name)" : "";
      return fail_usage("%s and %s are the same file, %s%s: give each output a name of its own",
                        called(b, other), called(a, one), args[i].s, alias);
    }
  return EXIT_DONE;
}
