/* SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <kugel/io.h>
#include "common/json.h"
#include "common/outputs.h"
#include "volume/batch.h"

static bool ends_with(const char *path, const char *end)
{
  size_t n = strlen(path), m = strlen(end);
  return n >= m && !strcmp(path + n - m, end);
}

static bool is_folder(const char *path)
{
  struct stat st;
  return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool is_zarr(const char *path)
{
  static const char *const names[] = {"zarr.json", ".zattrs", ".zarray", ".zgroup"};
  char name[8300];
  struct stat st;
  for (int i = 0; i < 4; i++) {
    snprintf(name, sizeof name, "%s/%s", path, names[i]);
    if (stat(name, &st) == 0)
      return true;
  }
  return false;
}

static int add(batch *b, const char *path)
{
  if (!(b->count & (b->count - 1))) {
    char **more = realloc(b->inputs, (size_t)(b->count ? 2 * b->count : 1) * sizeof *more);
    if (!more)
      return fail("no memory for a list of %lld files", (long long)b->count);
    b->inputs = more;
  }
  char *copy = strdup(path);
  if (!copy)
    return fail("no memory for a list of %lld files", (long long)b->count);
  b->inputs[b->count++] = copy;
  return EXIT_DONE;
}

static int by_name(const void *a, const void *b)
{
  return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The stacks in a folder; other files are passed over. */
static int add_folder(batch *b, const char *path)
{
  DIR *dir = opendir(path);
  if (!dir)
    return fail("cannot read the folder %s: %s", path, strerror(errno));
  int64_t first = b->count, others = 0;
  int code = EXIT_DONE;
  for (struct dirent *e; !code && (e = readdir(dir));) {
    char name[4200];
    if (e->d_name[0] == '.')
      continue;
    snprintf(name, sizeof name, "%s%s%s", path, ends_with(path, "/") ? "" : "/", e->d_name);
    bool taken = is_folder(name) ? is_zarr(name) : stack_is(name) || ends_with(name, ".npy");
    others += !taken;
    code = taken ? add(b, name) : EXIT_DONE;
  }
  closedir(dir);
  STEP(code);
  if (b->count == first)
    return fail("the folder %s has no stacks", path);
  qsort(b->inputs + first, (size_t)(b->count - first), sizeof *b->inputs, by_name);
  if (others)
    fact("passed over", "%lld files and folders of %s that are not stacks", (long long)others, path);
  return EXIT_DONE;
}

static int add_pattern(batch *b, const char *pattern)
{
  glob_t found = {0};
  int code = EXIT_DONE;
  if (glob(pattern, 0, NULL, &found) != 0)
    code = fail("no file matches %s", pattern);
  for (size_t i = 0; !code && i < found.gl_pathc; i++)
    code = add(b, found.gl_pathv[i]);
  globfree(&found);
  return code;
}

/* The input's own name in the folder, with another end where one is asked for. */
static int name_output(batch *b, int64_t i)
{
  char path[4200], name[4200];
  snprintf(name, sizeof name, "%s", b->inputs[i]);
  for (size_t n = strlen(name); n > 1 && name[n - 1] == '/'; n--)
    name[n - 1] = 0;
  char *base = strrchr(name, '/');
  base = base ? base + 1 : name;
  if (b->ext) {
    static const char *const ends[] = {".ome.tif", ".ome.tiff", ".ome.zarr"};
    char *dot = strrchr(base, '.');
    for (int k = 0; k < 3; k++)
      if (ends_with(base, ends[k]))
        dot = base + strlen(base) - strlen(ends[k]);
    if (dot && dot > base)
      *dot = 0;
  }
  int n = snprintf(path, sizeof path, "%s%s%s%s", b->target, ends_with(b->target, "/") ? "" : "/", base,
                   b->ext ? b->ext : "");
  if (n >= 4096)
    return fail("the name of %s in %s is too long", b->inputs[i], b->target);
  b->outputs[i] = strdup(path);
  return b->outputs[i] ? EXIT_DONE : fail("no memory for a name");
}

static int name_outputs(batch *b)
{
  b->outputs = calloc((size_t)b->count, sizeof *b->outputs);
  if (!b->outputs)
    return fail("no memory for a list of %lld files", (long long)b->count);
  for (int64_t i = 0; i < b->count; i++) {
    if (b->folder)
      STEP(name_output(b, i));
    else if (!(b->outputs[i] = strdup(b->target)))
      return fail("no memory for a name");
    if (same_file(b->inputs[i], b->outputs[i]))
      return fail_usage("%s is an input and the output: give each output a name of its own", b->inputs[i]);
  }
  OWNED char **sorted = malloc((size_t)b->count * sizeof *sorted);
  if (!sorted)
    return fail("no memory for a list of %lld files", (long long)b->count);
  memcpy(sorted, b->outputs, (size_t)b->count * sizeof *sorted);
  qsort(sorted, (size_t)b->count, sizeof *sorted, by_name);
  for (int64_t i = 1; i < b->count; i++)
    if (!strcmp(sorted[i - 1], sorted[i]))
      return fail("two inputs would be written to %s: their names must differ", sorted[i]);
  return EXIT_DONE;
}

int batch_open(batch *b, const char *const *operands, int64_t count, const char *target, const char *ext)
{
  *b = (batch){.target = target, .ext = ext};
  bool several = count > 1, is_there = is_folder(target);
  for (int64_t i = 0; i < count; i++) {
    struct stat st;
    if (is_folder(operands[i]) && !is_zarr(operands[i])) {
      several = true;
      STEP(add_folder(b, operands[i]));
    } else if (stat(operands[i], &st) != 0 && strpbrk(operands[i], "*?[")) {
      several = true;
      STEP(add_pattern(b, operands[i]));
    } else {
      STEP(add(b, operands[i]));
    }
  }
  b->folder = is_there && !ends_with(target, ".zarr") && !is_zarr(target);
  const char *slash = strrchr(target, '/'), *base = slash ? slash + 1 : target;
  if (several && !b->folder) {
    if (is_there || (*base && strchr(base, '.')) || (access(target, F_OK) == 0))
      return fail("%s is not a folder: with several images the last operand is the folder of the results",
                  target);
    b->folder = true;
    if (!run.dry_run && mkdir(target, 0777) != 0)
      return fail("cannot make the folder %s: %s", target, strerror(errno));
  }
  return name_outputs(b);
}

void batch_close(batch *b)
{
  for (int64_t i = 0; i < b->count; i++) {
    free(b->inputs[i]);
    if (b->outputs)
      free(b->outputs[i]);
  }
  free(b->inputs);
  free(b->outputs);
}

/* One of several: its files appear now, or none of them. */
static int run_one(const batch *b, int64_t i, int (*one)(void *, const char *, const char *), void *work)
{
  progress_within((double)i / (double)b->count, (double)(i + 1) / (double)b->count);
  int code = one(work, b->inputs[i], b->outputs[i]);
  if (b->count == 1)
    return code;
  kugel_status status = kugel_files_end(code == EXIT_DONE);
  if (code == EXIT_DONE && status != KUGEL_OK)
    code = fail_library(status, b->outputs[i]);
  LIB(kugel_files_begin());
  return code;
}

int batch_run(const batch *b, int (*one)(void *work, const char *input, const char *output), void *work)
{
  int64_t failed = 0;
  if (b->flat && b->count == 1) {
    report_title(b->inputs[0], b->outputs[0]);
    return one(work, b->inputs[0], b->outputs[0]);
  }
  json_array("images");
  int depth = json_depth();
  for (int64_t i = 0; i < b->count; i++) {
    json_object(NULL);
    report_title(b->inputs[i], b->outputs[i]);
    run.several = b->count > 1 && run.json ? depth + 1 : 0;
    run.named = b->count > 1 ? b->inputs[i] : NULL;
    int code = run_one(b, i, one, work);
    run.several = 0;
    run.named = NULL;
    if (code != EXIT_DONE && (b->count == 1 || code > EXIT_SIGNALLED))
      return code;
    failed += code != EXIT_DONE;
    json_close(depth);
  }
  progress_within(0, 1);
  json_end();
  json_int("failed", failed);
  if (!failed)
    return EXIT_DONE;
  if (!run.quiet)
    fprintf(stderr, "kugel %s: %lld of %lld images failed\n", run.command, (long long)failed,
            (long long)b->count);
  return EXIT_FAILED;
}
