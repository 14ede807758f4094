/* SPDX-License-Identifier: BSD-3-Clause */
/* kugel view: a stack, or two side by side, as one page for a browser. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "commands.h"
#include "map/files.h"
#include "volume/page.h"
#include "volume/stacks.h"

#define VIEW_OPTIONS(X)                                                                                      \
  X(files, 0, ARG_OPERAND, "FILE", NULL, 2, 3,                                                               \
    "STACK OUTPUT, or BEFORE AFTER OUTPUT for two stacks side by side; the output is a page (HTML)")         \
  X(channel, 'c', ARG_INT, "N", "0", 0, 1e9, "channel, counted from 0")                                      \
  X(time, 0, ARG_INT, "N", "0", 0, 1e9, "time point, counted from 0")                                        \
  X(size, 's', ARG_INT, "N", "256", 16, 1024,                                                                \
    "most voxels along an axis that the page holds; more are averaged to that")                              \
  X(title, 0, ARG_TEXT, "TEXT", NULL, 0, 0, "above the views, instead of the files' names")                  \
  X(voxel, 0, ARG_TEXT, "Z,Y,X", NULL, 0, 0, "size of a voxel in micrometres, instead of the file's")

OPTIONS(view, VIEW_OPTIONS);

/* A stack with fewer voxels: the mean of step[0] x step[1] x step[2] each. */
typedef struct reduced {
  const char *path;
  int64_t step[3], n[3];
  double voxel[3], lo, hi;
  float *sum;
  int32_t *count;
} reduced;

typedef struct work {
  reduced of[2];
  FILE *out;
} work;

static void work_close(work *w)
{
  for (int i = 0; i < 2; i++) {
    free(w->of[i].sum);
    free(w->of[i].count);
  }
  if (w->out)
    fclose(w->out);
}

/* ---- voxels ---- */

static void add(reduced *r, const int64_t shape[3], int64_t first, int64_t planes, const float *values)
{
  for (int64_t z = 0; z < planes; z++)
    for (int64_t y = 0; y < shape[1]; y++) {
      const float *row = values + (z * shape[1] + y) * shape[2];
      int64_t at = ((first + z) / r->step[0] * r->n[1] + y / r->step[1]) * r->n[2];
      for (int64_t x = 0; x < shape[2]; x++)
        if (isfinite(row[x])) {
          r->sum[at + x / r->step[2]] += row[x];
          r->count[at + x / r->step[2]]++;
        }
    }
}

static void finish(reduced *r)
{
  int64_t all = r->n[0] * r->n[1] * r->n[2];
  r->lo = INFINITY;
  r->hi = -INFINITY;
  for (int64_t i = 0; i < all; i++) {
    r->sum[i] = r->count[i] ? r->sum[i] / (float)r->count[i] : NAN;
    r->lo = fmin(r->lo, r->sum[i]); /* takes the number where one is NaN */
    r->hi = fmax(r->hi, r->sum[i]);
  }
  if (!(r->lo <= r->hi))
    r->lo = r->hi = 0;
}

static int read_voxels(const stack *s, const view_args *o, reduced *r)
{
  const int64_t *shape = s->info.shape + 2;
  int64_t slab = stack_slab(&s->info), all = r->n[0] * r->n[1] * r->n[2];
  OWNED float *values = malloc((size_t)(slab * shape[1] * shape[2]) * sizeof *values);
  r->sum = calloc((size_t)all, sizeof *r->sum);
  r->count = calloc((size_t)all, sizeof *r->count);
  if (!values || !r->sum || !r->count)
    return fail("no memory for %lld voxels of %s", (long long)all, s->path);
  for (int64_t z = 0; z < shape[0]; z += slab) {
    int64_t planes = z + slab < shape[0] ? slab : shape[0] - z, lo[3] = {z, 0, 0},
            n[3] = {planes, shape[1], shape[2]};
    if (interrupted())
      return fail_interrupted();
    progress_part((double)z / (double)shape[0], (double)(z + planes) / (double)shape[0], "reading");
    LIB(kugel_image_read(s->image, o->time.n, o->channel.n, lo, n,
                         KUGEL_ARRAY(values, KUGEL_F32, planes, n[1], n[2])));
    add(r, shape, z, planes, values);
  }
  finish(r);
  return EXIT_DONE;
}

static int open_one(stack *s, const char *path, const view_args *o, reduced *r)
{
  char text[200];
  STEP(stack_open(s, path, 0));
  bool channel = o->channel.n >= s->info.shape[1];
  if (channel || o->time.n >= s->info.shape[0])
    return fail_usage("--%s %lld: %s has %lld, counted from 0", channel ? "channel" : "time",
                      (long long)(channel ? o->channel.n : o->time.n), path,
                      (long long)s->info.shape[channel ? 1 : 0]);
  r->path = path;
  STEP(stack_take_voxel(o->voxel.s, s->info.voxel));
  for (int i = 0; i < 3; i++) {
    int64_t n = s->info.shape[2 + i];
    r->step[i] = (n + o->size.n - 1) / o->size.n;
    r->n[i] = (n + r->step[i] - 1) / r->step[i];
    r->voxel[i] = s->info.voxel[i];
  }
  fact("stack", "%s, %s", s->info.format_name, stack_text(&s->info, text, sizeof text));
  if (r->step[0] > 1 || r->step[1] > 1 || r->step[2] > 1)
    fact("averaged", "%lld x %lld x %lld voxels make one of the page", (long long)r->step[0],
         (long long)r->step[1], (long long)r->step[2]);
  return EXIT_DONE;
}

/* ---- the page ---- */

/* A string of JSON that may stand in HTML. */
static void put_text(FILE *out, const char *text)
{
  fputc('"', out);
  for (const unsigned char *p = (const unsigned char *)text; *p; p++)
    if (*p < 0x20 || strchr("\"\\<>&", *p))
      fprintf(out, "\\u%04x", *p);
    else
      fputc(*p, out);
  fputc('"', out);
}

static void put_base64(FILE *out, const reduced *r)
{
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  int64_t all = r->n[0] * r->n[1] * r->n[2];
  double range = r->hi > r->lo ? r->hi - r->lo : 1;
  for (int64_t i = 0; i < all; i += 3) {
    uint32_t bits = 0;
    for (int64_t k = 0; k < 3; k++) {
      double x =
          i + k < all && isfinite(r->sum[i + k]) ? sqrt(fmax(0, ((double)r->sum[i + k] - r->lo) / range)) : 0;
      bits = bits << 8 | (uint32_t)lrint(255 * fmin(1, x));
    }
    for (int k = 0; k < 4; k++)
      fputc(i + k - 1 >= all ? '=' : digits[bits >> (18 - 6 * k) & 63], out);
  }
}

static void put_stack(FILE *out, const reduced *r)
{
  bool known = r->voxel[0] > 0 && r->voxel[1] > 0 && r->voxel[2] > 0;
  double v[3];
  const char *slash = strrchr(r->path, '/');
  for (int i = 0; i < 3; i++)
    v[i] = (known ? r->voxel[i] : 1) * (double)r->step[i];
  fprintf(out, "{\"name\": ");
  put_text(out, slash && slash[1] ? slash + 1 : r->path);
  fprintf(out,
          ", \"shape\": [%lld, %lld, %lld], \"step\": [%lld, %lld, %lld], \"voxel\": [%.9g, %.9g, %.9g], ",
          (long long)r->n[0], (long long)r->n[1], (long long)r->n[2], (long long)r->step[0],
          (long long)r->step[1], (long long)r->step[2], v[0], v[1], v[2]);
  fprintf(out, "\"known\": %s, \"lo\": %.9g, \"hi\": %.9g, \"voxels\": \"", known ? "true" : "false", r->lo,
          r->hi);
  put_base64(out, r);
  fprintf(out, "\"}");
}

static int write_page(work *w, const char *path, int stacks, const char *title)
{
  static const char line[] = "//DATA\n";
  const char *page = (const char *)view_page, *place = memmem(page, view_page_bytes, line, strlen(line));
  size_t head = (size_t)(place - page), tail = head + strlen(line);
  char temp[4200];
  const char *slash = strrchr(path, '/');
  snprintf(temp, sizeof temp, "%.*s.kugel-XXXXXX", slash ? (int)(slash + 1 - path) : 0, path);
  int fd = mkostemp(temp, O_CLOEXEC);
  if (fd < 0)
    return fail("cannot write beside %s: %s", path, strerror(errno));
  mode_t mask = umask(0);
  umask(mask);
  fchmod(fd, 0666 & ~mask);
  w->out = fdopen(fd, "w");
  if (!w->out) {
    close(fd);
    remove(temp);
    return fail("no memory to write %s", path);
  }
  fwrite(page, 1, head, w->out);
  fprintf(w->out, "{\"title\": ");
  put_text(w->out, title);
  fprintf(w->out, ", \"stacks\": [");
  for (int i = 0; i < stacks; i++) {
    fputs(i ? ", " : "", w->out);
    put_stack(w->out, &w->of[i]);
  }
  fprintf(w->out, "]}\n");
  fwrite(page + tail, 1, view_page_bytes - tail, w->out);
  bool bad = ferror(w->out) || fflush(w->out);
  bad |= fclose(w->out) != 0;
  w->out = NULL;
  if (bad || interrupted() || rename(temp, path) != 0) {
    int error = errno;
    remove(temp);
    return interrupted() ? fail_interrupted() : fail("cannot write %s: %s", path, strerror(error));
  }
  return EXIT_DONE;
}

static int view(const void *args)
{
  const view_args *o = args;
  __attribute__((cleanup(work_close))) work w = {0};
  STACK before = {0};
  STACK after = {0};
  stack *const both[2] = {&before, &after};
  stopwatch watch = stopwatch_start();
  int stacks = (int)o->files.n - 1;
  const char *target = o->files.list[stacks];
  report_title(o->files.list[0], target);
  double voxels = 0;
  for (int i = 0; i < stacks; i++) {
    STEP(open_one(both[i], o->files.list[i], o, &w.of[i]));
    voxels += (double)(w.of[i].n[0] * w.of[i].n[1] * w.of[i].n[2]);
  }
  if (stacks == 2 && memcmp(before.info.shape + 2, after.info.shape + 2, 3 * sizeof(int64_t)))
    return fail("%s and %s have other numbers of voxels: two stacks side by side have the same", before.path,
                after.path);
  if (run.dry_run)
    return report_plan(8 * voxels + 128e6 + BASE_MEMORY, stack_bytes(&before.info) * 2e-9 * (double)stacks);
  STEP(check_output(target));
  for (int i = 0; i < stacks; i++) {
    progress_within((double)i / stacks, (double)(i + 1) / stacks);
    STEP(read_voxels(both[i], o, &w.of[i]));
  }
  stopwatch_lap(&watch, "read");
  STEP(write_page(&w, target, stacks, o->title.s ? o->title.s : "kugel view"));
  char size[40];
  fact("page", "%s", bytes_text(voxels * 4 / 3 + (double)view_page_bytes, size, sizeof size));
  stopwatch_lap(&watch, "write");
  report_end(&watch, 0);
  return EXIT_DONE;
}

const command command_view = {
    .name = "view",
    .summary = "make a page to look at stacks in a browser",
    .about =
        "One HTML file with three orthogonal slices, or maxima or means along the axes, sliders for place "
        "and contrast, and a scale bar; two stacks, as before and after a deconvolution, lie side by side. "
        "Nothing is loaded from elsewhere. The page holds 8 bits a voxel, evenly spaced in the square root "
        "of "
        "the value.",
    .examples = "kugel view cells.ome.tif cells.html\n"
                "kugel view cells.tif sharp.tif both.html --title 'before and after'",
    .options = view_options,
    .n_options = sizeof view_options / sizeof view_options[0],
    .run = view,
};
