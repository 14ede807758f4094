/* SPDX-License-Identifier: BSD-3-Clause */
/* kugel view: maps, or a stack, or two side by side, as one page for a browser. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "commands.h"
#include "map/files.h"
#include "map/npymap.h"
#include "map/skyview.h"
#include "volume/page.h"
#include "volume/stacks.h"

#define VIEW_OPTIONS(X)                                                                                      \
  X(files, 0, ARG_OPERAND, "FILE", NULL, 2, 7,                                                               \
    "MAP ... OUTPUT for up to six HEALPix maps (FITS, NPY); STACK OUTPUT, or BEFORE AFTER OUTPUT for two "   \
    "stacks side by side; the output is a page (HTML)")                                                      \
  X(columns, 0, ARG_TEXT, "LIST", NULL, 0, 0,                                                                \
    "maps: columns by name or number, or all; of one file I, Q, U where it has them, of several the first")  \
  X(nside, 0, ARG_INT, "N", "512", 1, 2048, "maps: greatest nside of the page; finer ones are averaged")     \
  X(channel, 'c', ARG_INT, "N", "0", 0, 1e9, "channel, counted from 0")                                      \
  X(time, 0, ARG_INT, "N", "0", 0, 1e9, "time point, counted from 0")                                        \
  X(size, 's', ARG_INT, "N", "256", 16, 1024,                                                                \
    "most voxels along an axis that the page holds; more are averaged to that")                              \
  X(title, 0, ARG_TEXT, "TEXT", NULL, 0, 0, "above the views, instead of the files' names")                  \
  X(voxel, 0, ARG_TEXT, "Z,Y,X", NULL, 0, 0, "size of a voxel in micrometres, instead of the file's")        \
  NPY_OPTIONS(X)

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
  int stacks;
  const char *title;
} work;

static void work_close(work *w)
{
  for (int i = 0; i < 2; i++) {
    free(w->of[i].sum);
    free(w->of[i].count);
  }
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

static void put_voxels(FILE *out, const reduced *r)
{
  int64_t all = r->n[0] * r->n[1] * r->n[2];
  double range = r->hi > r->lo ? r->hi - r->lo : 1;
  page_bytes bytes = {.out = out};
  for (int64_t i = 0; i < all; i++) {
    double x = isfinite(r->sum[i]) ? sqrt(fmax(0, ((double)r->sum[i] - r->lo) / range)) : 0;
    page_byte(&bytes, (uint32_t)lrint(255 * fmin(1, x)));
  }
  page_bytes_end(&bytes);
}

static void put_stack(FILE *out, const reduced *r)
{
  bool known = r->voxel[0] > 0 && r->voxel[1] > 0 && r->voxel[2] > 0;
  double v[3];
  const char *slash = strrchr(r->path, '/');
  for (int i = 0; i < 3; i++)
    v[i] = (known ? r->voxel[i] : 1) * (double)r->step[i];
  fprintf(out, "{\"name\": ");
  page_text(out, slash && slash[1] ? slash + 1 : r->path);
  fprintf(out,
          ", \"shape\": [%lld, %lld, %lld], \"step\": [%lld, %lld, %lld], \"voxel\": [%.9g, %.9g, %.9g], ",
          (long long)r->n[0], (long long)r->n[1], (long long)r->n[2], (long long)r->step[0],
          (long long)r->step[1], (long long)r->step[2], v[0], v[1], v[2]);
  fprintf(out, "\"known\": %s, \"lo\": %.9g, \"hi\": %.9g, \"voxels\": \"", known ? "true" : "false", r->lo,
          r->hi);
  put_voxels(out, r);
  fprintf(out, "\"}");
}

static void put_data(FILE *out, const void *given)
{
  const work *w = given;
  fprintf(out, "{\"title\": ");
  page_text(out, w->title);
  fprintf(out, ", \"stacks\": [");
  for (int i = 0; i < w->stacks; i++) {
    fputs(i ? ", " : "", out);
    put_stack(out, &w->of[i]);
  }
  fprintf(out, "]}\n");
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
  if (skyview_is(o->files.list[0]))
    return skyview(o->files.list, stacks, target,
                   &(skyview_opts){o->columns.s, o->nside.given ? o->nside.n : 0, o->title.s});
  if (stacks > 2)
    return fail_usage("at most two stacks lie side by side, and %d are given", stacks);
  if (o->columns.given || o->nside.given)
    return fail_usage("--%s is for maps: %s is none", o->columns.given ? "columns" : "nside",
                      o->files.list[0]);
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
  w.stacks = stacks;
  w.title = o->title.s ? o->title.s : "kugel view";
  STEP(page_write(target, view_page, view_page_bytes, put_data, &w));
  char size[40];
  fact("page", "%s", bytes_text(voxels * 4 / 3 + (double)view_page_bytes, size, sizeof size));
  stopwatch_lap(&watch, "write");
  report_end(&watch, 0);
  return EXIT_DONE;
}

const command command_view = {
    .name = "view",
    .summary = "make a page to look at maps or stacks in a browser",
    .about =
        "One HTML file in which nothing is loaded from elsewhere. Maps: the sphere, Mollweide, gnomonic and "
        "cartesian projections to turn and zoom, several maps side by side in step, colour maps and scales, "
        "coordinate lines, and the value, place and pixel under the cursor. The page holds 16 bits a pixel, "
        "finer where most values lie. Stacks: three orthogonal slices, or maxima or means along the axes, "
        "sliders for place and contrast, and a scale bar; two stacks, as before and after a deconvolution, "
        "lie side by side. The page holds 8 bits a voxel, evenly spaced in the square root of the value.",
    .examples = "kugel view sky.fits sky.html\n"
                "kugel view before.fits after.fits both.html --columns 0\n"
                "kugel view cells.ome.tif cells.html\n"
                "kugel view cells.tif sharp.tif both.html --title 'before and after'",
    .options = view_options,
    .n_options = sizeof view_options / sizeof view_options[0],
    .run = view,
};
