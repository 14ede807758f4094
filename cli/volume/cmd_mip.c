/* SPDX-License-Identifier: BSD-3-Clause */
/* kugel mip: maximum projections of a stack as a picture. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "batch/batch.h"
#include "commands.h"
#include "volume/stacks.h"

#define MIP_OPTIONS(X)                                                                                       \
  X(files, 0, ARG_OPERAND, "FILE", NULL, 2, 10000,                                                           \
    "INPUT OUTPUT: a stack (TIFF, OME-TIFF, NPY, NRRD, MetaImage, OME-Zarr, HDF5) and a picture (PNG); or "  \
    "several "                                                                                               \
    "stacks, folders of them or quoted patterns, and a folder for the pictures")                             \
  X(axis, 'a', ARG_CHOICE, "xyz|z|y|x", "xyz", 0, 0,                                                         \
    "project along z, y and x, side by side, or along one of them")                                          \
  X(channel, 'c', ARG_INT, "N", "0", 0, 1e9, "channel, counted from 0")                                      \
  X(time, 0, ARG_INT, "N", "0", 0, 1e9, "time point, counted from 0")                                        \
  X(crop, 0, ARG_TEXT, "BOX", NULL, 0, 0, "the voxels z0:z1,y0:y1,x0:x1 alone; parts may be empty")          \
  X(slice, 0, ARG_FLAG, NULL, NULL, 0, 0, "slices through the middle instead of maxima")                     \
  X(min, 0, ARG_REAL, "X", NULL, -1e300, 1e300,                                                              \
    "value of the darkest colour; the smallest of the projections when not given")                           \
  X(max, 0, ARG_REAL, "X", NULL, -1e300, 1e300, "value of the brightest colour; the largest when not given") \
  X(gamma, 0, ARG_REAL, "X", "1", 0.1, 10, "brightness is the value to this power")                          \
  X(colors, 0, ARG_TEXT, "NAME", "grey", 0, 0, "colour table, as for kugel plot")                            \
  X(width, 'w', ARG_INT, "N", "1200", 64, 32768, "of the picture, pixels")                                   \
  X(title, 0, ARG_TEXT, "TEXT", NULL, 0, 0, "above the picture")                                             \
  X(voxel, 0, ARG_TEXT, "Z,Y,X", NULL, 0, 0, "size of a voxel in micrometres, instead of the file's")        \
  X(scale, 0, ARG_INT, "N", "0", 0, 100, "level of a multi-scale input, 0 the finest")                       \
  TASK_OPTIONS(X) RESUME_OPTION(X)

OPTIONS(mip, MIP_OPTIONS);

typedef struct projections {
  int64_t n[3];
  float *plane[3]; /* [y, x], [z, x], [z, y] */
} projections;

static void projections_free(projections *p)
{
  for (int i = 0; i < 3; i++)
    free(p->plane[i]);
}

static int projections_make(projections *p)
{
  const int64_t *n = p->n;
  int64_t counts[3] = {n[1] * n[2], n[0] * n[2], n[0] * n[1]};
  for (int i = 0; i < 3; i++) {
    p->plane[i] = malloc((size_t)counts[i] * sizeof(float));
    if (!p->plane[i])
      return fail("no memory for %lld pixels", (long long)counts[i]);
    for (int64_t k = 0; k < counts[i]; k++)
      p->plane[i][k] = NAN;
  }
  return EXIT_DONE;
}

static void project(projections *p, int64_t first, int64_t planes, const float *values, bool slice)
{
  const int64_t *n = p->n, mid[3] = {n[0] / 2, n[1] / 2, n[2] / 2};
  for (int64_t z = 0; z < planes; z++)
    for (int64_t y = 0; y < n[1]; y++) {
      const float *row = values + (z * n[1] + y) * n[2];
      float *xy = p->plane[0] + y * n[2], *xz = p->plane[1] + (first + z) * n[2],
            *yz = p->plane[2] + (first + z) * n[1] + y;
      if (slice) {
        if (first + z == mid[0])
          memcpy(xy, row, (size_t)n[2] * sizeof *row);
        if (y == mid[1])
          memcpy(xz, row, (size_t)n[2] * sizeof *row);
        *yz = row[mid[2]];
        continue;
      }
      for (int64_t x = 0; x < n[2]; x++) { /* fmaxf takes the number where one is NaN */
        xy[x] = fmaxf(xy[x], row[x]);
        xz[x] = fmaxf(xz[x], row[x]);
        *yz = fmaxf(*yz, row[x]);
      }
    }
}

static int read_all(const stack *s, const mip_args *o, const int64_t lo[3], projections *p)
{
  int64_t slab = stack_slab(&s->info);
  OWNED float *values = malloc((size_t)(slab * p->n[1] * p->n[2]) * sizeof *values);
  if (!values)
    return fail("no memory for %lld planes of %s", (long long)slab, s->path);
  for (int64_t z = 0; z < p->n[0]; z += slab) {
    int64_t planes = z + slab < p->n[0] ? slab : p->n[0] - z;
    int64_t at[3] = {lo[0] + z, lo[1], lo[2]}, n[3] = {planes, p->n[1], p->n[2]};
    if (interrupted())
      return fail_interrupted();
    progress_part((double)z / (double)p->n[0], (double)(z + planes) / (double)p->n[0], "reading");
    LIB(kugel_image_read(s->image, o->time.n, o->channel.n, at, n,
                         KUGEL_ARRAY(values, KUGEL_F32, planes, n[1], n[2])));
    project(p, z, planes, values, o->slice.given);
  }
  return EXIT_DONE;
}

static int mip_file(void *args, const char *input, const char *target, int64_t i)
{
  (void)i;
  const mip_args *o = args;
  STACK s = {0};
  __attribute__((cleanup(projections_free))) projections p = {0};
  int64_t lo[3];
  char text[200], voxel[120];
  STEP(stack_open(&s, input, (int)o->scale.n));
  if (o->channel.n >= s.info.shape[1] || o->time.n >= s.info.shape[0])
    return fail_usage("--%s %lld: the input has %lld, counted from 0",
                      o->channel.n >= s.info.shape[1] ? "channel" : "time",
                      (long long)(o->channel.n >= s.info.shape[1] ? o->channel.n : o->time.n),
                      (long long)(o->channel.n >= s.info.shape[1] ? s.info.shape[1] : s.info.shape[0]));
  STEP(stack_crop(o->crop.s, s.info.shape + 2, lo, p.n));
  STEP(stack_take_voxel(o->voxel.s, s.info.voxel));
  stack_json("stack", &s.info);
  fact("input", "%s, %s", s.info.format_name, stack_text(&s.info, text, sizeof text));
  if (*stack_voxel_text(&s.info, voxel, sizeof voxel))
    fact("voxel", "%s (z, y, x)", voxel);
  else
    fact("voxel", "size not known: drawn as cubes, without a scale bar");
  if (run.dry_run)
    return report_plan(128e6 + BASE_MEMORY, stack_bytes(&s.info) * 2e-9);
  STEP(check_output(target));
  STEP(projections_make(&p));
  STEP(read_all(&s, o, lo, &p));
  STEP(stack_report_missing(&s));
  kugel_plot_volume_opts plot = {.size = sizeof plot,
                                 .colors = o->colors.s,
                                 .width = (int32_t)o->width.n,
                                 .axes = (int32_t)o->axis.n,
                                 .min = o->min.given ? o->min.x : NAN,
                                 .max = o->max.given ? o->max.x : NAN,
                                 .gamma = o->gamma.x,
                                 .title = o->title.s};
  memcpy(plot.voxel, s.info.voxel, sizeof plot.voxel);
  kugel_plot *picture;
  LIB(kugel_plot_volume(NULL, &plot, p.n, p.plane[0], p.plane[1], p.plane[2], &picture));
  double ends[2];
  kugel_plot_range(picture, ends);
  kugel_status status = kugel_plot_write(picture, target, run.overwrite);
  kugel_plot_destroy(picture);
  LIB(status);
  json_number("min", ends[0]);
  json_number("max", ends[1]);
  fact("range", "%g to %g", ends[0], ends[1]);
  return EXIT_DONE;
}

static int mip(const void *args)
{
  const mip_args *o = args;
  BATCH b = {0};
  stopwatch watch = stopwatch_start();
  STEP(batch_open(&b, o->files.list, o->files.n - 1, o->files.list[o->files.n - 1], ".png", &o->task,
                  &o->resume, false));
  b.flat = true;
  STEP(batch_run(&b, mip_file, (void *)args));
  stopwatch_lap(&watch, "draw");
  if (!run.dry_run)
    report_end(&watch, 0);
  return EXIT_DONE;
}

const command command_mip = {
    .name = "mip",
    .summary = "draw maximum projections of a stack",
    .about = "One picture with the maxima along z (xy), along y (xz, below) and along x (yz, on the right), "
             "in true "
             "proportions where the voxel size is known, with a scale bar.",
    .examples = "kugel mip cells.ome.tif cells.png\n"
                "kugel mip cells.ome.tif nuclei.png --channel 1 --max 4000 --gamma 0.5 --colors viridis\n"
                "kugel mip 'scans/*.tif' pictures/\n"
                "kugel mip cells.tif slices.png --slice --voxel 0.3,0.1,0.1",
    .options = mip_options,
    .n_options = sizeof mip_options / sizeof mip_options[0],
    .run = mip,
};
