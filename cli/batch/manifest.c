/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <kugel/version.h>
#include "batch/manifest.h"

enum { LONGEST = 65536 };

bool option_is_idle(const option *o)
{
  static const char *const names[] = {"threads", "json", "dry_run", "overwrite", "progress", "quiet",
                                      "help",    "mem",  "task",    "resume",    "each",     "count"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (!strcmp(o->field, names[i]))
      return true;
  return false;
}

const char *option_text(const option *o, const arg *a, char *buffer, size_t size)
{
  if (strcmp(o->field, "device") || !a->s)
    return a->s;
  snprintf(buffer, size, "%.*s", (int)strcspn(a->s, ":"), a->s);
  return buffer;
}

/* Size and time of a file that is read, "" where there is none. */
static const char *stamp(const char *path, char *buffer, size_t size)
{
  struct stat st;
  buffer[0] = 0;
  if (path && stat(path, &st) == 0)
    snprintf(buffer, size, " (%lld bytes, %lld.%09ld)", (long long)st.st_size, (long long)st.st_mtim.tv_sec,
             st.st_mtim.tv_nsec);
  return buffer;
}

static void identify(char *text)
{
  char word[4200], time[80];
  const command *c = run.table;
  size_t at = (size_t)snprintf(text, LONGEST, "Kugel manifest 1\nversion: %s\ncommand: %s\n", kugel_version(),
                               c->name);
  for (int i = 0; i < c->n_options && at < LONGEST; i++) {
    const option *o = &c->options[i];
    const arg *a = &run.args[i];
    if (option_is_idle(o) || o->type == ARG_OPERAND || (!a->given && !a->s))
      continue;
    const char *value = option_text(o, a, word, sizeof word);
    at += (size_t)snprintf(text + at, LONGEST - at, "%s: %s%s\n", o->field, value ? value : "yes",
                           o->type == ARG_INPUT ? stamp(value, time, sizeof time) : "");
  }
  for (int64_t i = 0; i < run.n_shared && at < LONGEST; i++)
    at += (size_t)snprintf(text + at, LONGEST - at, "file: %s%s\n", run.shared[i],
                           stamp(run.shared[i], time, sizeof time));
}

/* 0: it is this run's; 1: another run's, whose first line that differs is in `other`; -1: there is none. */
static int compare(manifest *m, const char *text, char other[80])
{
  OWNED char *found = calloc(1, LONGEST + 1);
  struct stat st;
  FILE *f = fopen(m->path, "rb");
  if (!f || !found) {
    if (f)
      fclose(f);
    return -1;
  }
  size_t n = fread(found, 1, LONGEST, f);
  bool good = fstat(fileno(f), &st) == 0;
  fclose(f);
  if (!good)
    return -1;
  m->made = st.st_mtim;
  size_t k = 0;
  while (k < n && text[k] && text[k] == found[k])
    k++;
  if (k == n && !text[k])
    return 0;
  const char *line = text + k;
  while (line > text && line[-1] != '\n')
    line--;
  snprintf(other, 80, "%.*s", (int)strcspn(line, ":\n"), *line ? line : "list of options");
  return 1;
}

/* Under a name of its own first: no task ever sees half of it. Replaces what is there only if `replace`; else what
 * another task made meanwhile stays. 0, or an errno. */
static int make(const manifest *m, const char *text, bool replace)
{
  char temp[4300];
  snprintf(temp, sizeof temp, "%s-XXXXXX", m->path);
  int fd = mkstemp(temp), error = 0;
  if (fd < 0)
    return errno;
  size_t n = strlen(text);
  ssize_t written = write(fd, text, n);
  if (written != (ssize_t)n || fchmod(fd, 0644) != 0 || fsync(fd) != 0)
    error = written >= 0 && written != (ssize_t)n ? ENOSPC : errno;
  close(fd);
  if (!error && replace) {
    if (rename(temp, m->path) != 0)
      error = errno;
  } else if (!error && link(temp, m->path) != 0 && errno != EEXIST) {
    error = rename(temp, m->path) != 0 ? errno : 0; /* a file system without links */
  }
  unlink(temp);
  return error;
}

int manifest_open(manifest *m, const char *folder, bool resume)
{
  OWNED char *text = calloc(1, LONGEST + 1);
  char other[80] = "";
  size_t n = strlen(folder);
  *m = (manifest){0};
  if (!text)
    return fail("no memory for the manifest of %s", folder);
  identify(text);
  snprintf(m->path, sizeof m->path, "%s%s.kugel-manifest", folder, n && folder[n - 1] == '/' ? "" : "/");
  int found = compare(m, text, other);
  if (found == 1 && resume)
    return fail(
        "%s is of a run that had another %s: --resume with the same command and options, or delete it",
        m->path, other);
  if (found == 0)
    return EXIT_DONE;
  int error = make(m, text, found == 1);
  if (!error && compare(m, text, other) == 0)
    return EXIT_DONE;
  return error ? fail("cannot write %s: %s", m->path, strerror(error))
               : fail("%s: another run with other options is at work in this folder", m->path);
}

static bool before(struct timespec a, struct timespec b)
{
  return a.tv_sec < b.tv_sec || (a.tv_sec == b.tv_sec && a.tv_nsec < b.tv_nsec);
}

result_state manifest_state(const manifest *m, const char *input, const char *output)
{
  struct stat in, out;
  if (stat(output, &out) != 0)
    return RESULT_MISSING;
  if (before(out.st_mtim, m->made))
    return RESULT_FOREIGN;
  return stat(input, &in) == 0 && before(out.st_mtim, in.st_mtim) ? RESULT_OLD : RESULT_DONE;
}
