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
#include "batch/batch.h"
#include "common/report.h"
#include "volume/stacks.h"

static bool ends_with(const char *path, const char *end)
{
  size_t n = strlen(path), m = strlen(end);
  return n >= m && !strcmp(path + n - m, end);
}

bool is_folder(const char *path)
{
  struct stat st;
  return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool is_zarr(const char *path)
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

/* The inputs in a folder; other files are passed over. */
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
    bool taken = b->is(name);
    others += !taken;
    code = taken ? add(b, name) : EXIT_DONE;
  }
  closedir(dir);
  STEP(code);
  if (b->count == first)
    return fail("the folder %s has no %s", path, b->kind);
  qsort(b->inputs + first, (size_t)(b->count - first), sizeof *b->inputs, by_name);
  if (others)
    fact("passed over", "%lld files and folders of %s that are not %s", (long long)others, path, b->kind);
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

int name_in_folder(char out[4200], const char *folder, const char *path, const char *suffix, const char *ext)
{
  static const char *const ends[] = {".ome.tif", ".ome.tiff", ".ome.zarr", ".fits.gz", ".fit.gz"};
  char name[4200];
  const char *end = "";
  snprintf(name, sizeof name, "%s", path);
  for (size_t n = strlen(name); n > 1 && name[n - 1] == '/'; n--)
    name[n - 1] = 0;
  char *base = strrchr(name, '/');
  base = base ? base + 1 : name;
  char *dot = strrchr(base, '.');
  for (int k = 0; k < 5; k++)
    if (ends_with(base, ends[k]))
      dot = base + strlen(base) - strlen(ends[k]);
  int stem = dot && dot > base && (ext || suffix) ? (int)(dot - base) : (int)strlen(base);
  if (!ext)
    end = base + stem;
  int n = snprintf(out, 4200, "%s%s%.*s%s%s%s", folder, ends_with(folder, "/") ? "" : "/", stem, base,
                   suffix ? "-" : "", suffix ? suffix : "", ext ? ext : end);
  return n < 4096 ? EXIT_DONE : fail("the name of %s in %s is too long", path, folder);
}

static int check_names(const batch *b)
{
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

static int name_outputs(batch *b)
{
  b->outputs = calloc((size_t)b->count, sizeof *b->outputs);
  if (!b->outputs)
    return fail("no memory for a list of %lld files", (long long)b->count);
  for (int64_t i = 0; i < b->count; i++) {
    char path[4200];
    if (b->folder)
      STEP(name_in_folder(path, b->target, b->inputs[i], NULL, b->ext));
    if (!(b->outputs[i] = strdup(b->folder ? path : b->target)))
      return fail("no memory for a name");
    if (same_file(b->inputs[i], b->outputs[i]))
      return fail_usage("%s is an input and the output: give each output a name of its own", b->inputs[i]);
  }
  return check_names(b);
}

int make_folder(const char *path)
{
  if (!run.dry_run && mkdir(path, 0777) != 0 && !(errno == EEXIST && is_folder(path))) /* another task's */
    return fail("cannot make the folder %s: %s", path, strerror(errno));
  return EXIT_DONE;
}

static int take_target(batch *b, bool several)
{
  const char *target = b->target, *slash = strrchr(target, '/'), *base = slash ? slash + 1 : target;
  bool is_there = is_folder(target);
  b->folder = is_there && !ends_with(target, ".zarr") && !is_zarr(target);
  if (!several || b->folder)
    return EXIT_DONE;
  if (is_there || (*base && strchr(base, '.')) || (access(target, F_OK) == 0))
    return fail("%s is not a folder: with several %s the last operand is the folder of the results", target,
                b->things);
  b->folder = true;
  return make_folder(target);
}

static bool is_stack(const char *path)
{
  return is_folder(path) ? is_zarr(path) : stack_is(path) || ends_with(path, ".npy");
}

int batch_list(batch *b, const char *folder)
{
  b->is = b->is ? b->is : is_stack;
  return add_folder(b, folder);
}

int batch_open(batch *b, const char *const *operands, int64_t count, const char *target, const char *ext,
               const arg *piece, const arg *resume, bool folder)
{
  bool several = folder || count > 1 || piece->given;
  b->target = target;
  b->ext = ext;
  b->resume = resume->given;
  b->things = b->things ? b->things : "images";
  b->kind = b->kind ? b->kind : "stacks";
  b->is = b->is ? b->is : is_stack;
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
  STEP(take_target(b, several));
  b->share = (task){0, 1};
  if (b->folder)
    STEP(task_take(&b->share, piece->s));
  return name_outputs(b);
}

int batch_repeat(batch *b, int64_t times, int64_t first)
{
  batch all = {.target = b->target};
  int code = EXIT_DONE;
  for (int64_t i = 0; !code && i < b->count * times; i++)
    code = add(&all, b->inputs[i / times]);
  all.outputs = code ? NULL : calloc((size_t)all.count, sizeof *all.outputs);
  for (int64_t i = 0; !code && i < all.count; i++) {
    char path[4200], suffix[32];
    snprintf(suffix, sizeof suffix, "%06lld", (long long)(first + i % times));
    code = name_in_folder(path, b->target, all.inputs[i], suffix, b->ext);
    if (!code && !(all.outputs && (all.outputs[i] = strdup(path))))
      code = fail("no memory for a name");
  }
  char **inputs = b->inputs, **outputs = b->outputs;
  int64_t count = b->count;
  b->inputs = all.inputs;
  b->outputs = all.outputs;
  b->count = all.count;
  all.inputs = inputs;
  all.outputs = outputs;
  all.count = count;
  batch_close(&all);
  return code ? code : check_names(b);
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
