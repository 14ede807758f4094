/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "batch/each.h"
#include "common/outputs.h"
#include "map/files.h"

typedef struct each {
  const command *c;
  arg *args; /* the command's own copy, with one input and one output */
  const arg *typed;
  int input, output, index;
  int64_t times, first; /* results per input, and the number of the first */
} each;

static int find(const command *c, const char *field)
{
  for (int i = 0; i < c->n_options; i++)
    if (!strcmp(c->options[i].field, field))
      return i;
  return -1;
}

static bool given(const command *c, const arg *args, const char *field)
{
  int i = find(c, field);
  return i >= 0 && args[i].given;
}

static bool is_data(const char *path)
{
  static const char *const ends[] = {".fits", ".fit", ".fits.gz", ".fit.gz", ".npy"}, *const texts[] = {
                                                                                          ".txt", ".dat",
                                                                                          ".csv"};
  for (int i = 0; i < 5; i++)
    if (path_ends_with(path, ends[i]))
      return !is_folder(path);
  for (int i = 0; i < 3 && !strcmp(run.command, "synfast"); i++) /* spectra */
    if (path_ends_with(path, texts[i]))
      return !is_folder(path);
  return false;
}

/* Other results of an input, such as --plot: its option names a folder. */
static int name_side(const each *e, int i, const char *target, char path[4200])
{
  const option *o = &e->c->options[i];
  char name[64];
  const char *ext = !strcmp(o->field, "plot") ? ".png" : !strcmp(o->field, "windows") ? NULL : ".fits";
  STEP(name_in_folder(path, e->typed[i].s, target, NULL, ext));
  if (same_file(path, target))
    return fail_usage("--%s %s: would be written over the output %s: give another folder",
                      option_name(o, name), e->typed[i].s, target);
  return EXIT_DONE;
}

static bool is_side(const each *e, int i)
{
  return e->c->options[i].type == ARG_OUTPUT && e->typed[i].given;
}

static bool sides_whole(void *work, const char *target)
{
  const each *e = work;
  char path[4200];
  for (int k = 0; k < e->c->n_options; k++)
    if (is_side(e, k) && (name_side(e, k, target, path) != EXIT_DONE || access(path, F_OK) != 0))
      return false;
  return true;
}

/* HISTORY is that of a run for this file alone, so that it does not depend on how many there are. */
static int tell_history(const each *e)
{
  int n = e->c->n_options, count = 0;
  OWNED const char **words = calloc((size_t)(2 * n + 3), sizeof *words);
  OWNED char *names = calloc((size_t)n, 72);
  char device[64];
  if (!words || !names)
    return fail("out of memory");
  words[count++] = e->c->name;
  words[count++] = e->args[e->input].s;
  words[count++] = e->args[e->output].s;
  for (int i = 0; i < n; i++) {
    const option *o = &e->c->options[i];
    if (!e->args[i].given || o->type == ARG_OPERAND || option_is_idle(o) || !strcmp(o->field, "ext"))
      continue;
    char *name = names + (size_t)i * 72;
    memcpy(name, "--", 2);
    option_name(o, name + 2);
    words[count++] = name;
    if (o->type != ARG_FLAG)
      words[count++] = option_text(o, &e->args[i], device, sizeof device);
  }
  history_set(count, words);
  return EXIT_DONE;
}

static int run_file(void *work, const char *input, const char *target, int64_t i)
{
  each *e = work;
  int n = e->c->n_options;
  OWNED char *paths = calloc((size_t)n, 4200);
  if (!paths)
    return fail("out of memory");
  memcpy(e->args, e->typed, (size_t)n * sizeof *e->args);
  e->args[e->input] = (arg){.given = true, .s = input, .n = 1, .list = &e->args[e->input].s};
  e->args[e->output].s = target;
  for (int k = 0; k < n; k++)
    if (is_side(e, k)) {
      char *path = paths + (size_t)k * 4200;
      STEP(name_side(e, k, target, path));
      e->args[k].s = path;
    }
  if (e->index >= 0 && e->times > 0) {
    char *text = paths + (size_t)e->index * 4200;
    int64_t number = e->first + i % e->times;
    snprintf(text, 32, "%lld", (long long)number);
    e->args[e->index] = (arg){.given = true, .s = text, .n = number};
  }
  STEP(tell_history(e));
  return e->c->run(e->args);
}

static int run_all(each *e, const arg *args)
{
  const command *c = e->c;
  BATCH b = {
      .things = "files", .kind = "FITS or NPY files", .is = is_data, .whole = sides_whole, .told = true};
  const arg *in = &args[e->input];
  int count = find(c, "count");
  STEP(batch_open(&b, in->list, in->n, args[e->output].s, args[find(c, "ext")].s, &args[find(c, "task")],
                  &args[find(c, "resume")], true));
  if (count >= 0 && args[count].given) {
    e->times = args[count].n;
    e->first = args[e->index].n;
    STEP(batch_repeat(&b, e->times, e->first));
  }
  for (int i = 0; i < c->n_options; i++)
    if (is_side(e, i))
      STEP(make_folder(args[i].s));
  return batch_run(&b, run_file, e);
}

int each_run(const command *c, arg *args)
{
  int in = find(c, "input"), out = find(c, "output");
  if (find(c, "each") < 0 || in < 0 || out < 0)
    return c->run(args);
  const arg *input = &args[in];
  bool several = input->n > 1 || is_folder(input->s) || given(c, args, "each") || given(c, args, "count") ||
                 (access(input->s, F_OK) != 0 && strpbrk(input->s, "*?["));
  if (!several && (given(c, args, "task") || given(c, args, "resume")))
    return fail_usage("--%s is for several files: give a folder, a quoted pattern, or --each",
                      given(c, args, "task") ? "task" : "resume");
  if (!several)
    return c->run(args);
  const char *last = args[out].s;
  if (input->n > 1 && !given(c, args, "each") && !is_folder(last) && last[strlen(last) - 1] != '/')
    return fail_usage(
        "\"%.80s\" is one word too many: --each makes it the folder of the results of several inputs", last);
  OWNED arg *own = calloc((size_t)c->n_options, sizeof *own);
  if (!own)
    return fail("out of memory");
  each e = {.c = c, .args = own, .typed = args, .input = in, .output = out, .index = find(c, "index")};
  return run_all(&e, args);
}
