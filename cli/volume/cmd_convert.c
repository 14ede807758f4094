/* SPDX-License-Identifier: BSD-3-Clause */
/* kugel convert: stacks from format to format. */
#include <stdlib.h>
#include <string.h>
#include "batch/batch.h"
#include "commands.h"
#include "volume/stacks.h"

#define CONVERT_OPTIONS(X)                                                                                   \
  X(files, 0, ARG_OPERAND, "FILE", NULL, 2, 10000,                                                           \
    "INPUT OUTPUT: stacks (TIFF, OME-TIFF, NPY, NRRD, MetaImage, OME-Zarr, HDF5), the end of the output's "  \
    "name "                                                                                                  \
    "gives the format: .ome.tif, .tif, .npy, .nrrd, .nhdr, .mha, .mhd, .zarr, .ims, .h5; or several "        \
    "stacks, folders "                                                                                       \
    "of "                                                                                                    \
    "them or quoted patterns, and a folder for the results")                                                 \
  BATCH_OPTIONS(X)                                                                                           \
  RESUME_OPTION(X)                                                                                           \
  X(dtype, 't', ARG_CHOICE, STACK_TYPES, "keep", 0, 0,                                                       \
    "type of the output; values are rounded and saturated, never scaled")                                    \
  X(compress, 0, ARG_CHOICE, STACK_COMPRESSIONS, "auto", 0, 0, "compression of the output")                  \
  X(level, 0, ARG_INT, "N", NULL, 1, 9, "of compression: 1 fast, 9 small")                                   \
  X(channel, 'c', ARG_INT, "N", NULL, 0, 1e9, "this channel alone, counted from 0")                          \
  X(time, 0, ARG_INT, "N", NULL, 0, 1e9, "this time point alone, counted from 0")                            \
  X(crop, 0, ARG_TEXT, "BOX", NULL, 0, 0,                                                                    \
    "the voxels z0:z1,y0:y1,x0:x1 alone; parts may be empty, as in 10:20,,")                                 \
  X(chunk, 0, ARG_TEXT, "Z,Y,X", NULL, 0, 0,                                                                 \
    "pieces of the output: chunks of Zarr, tiles or strips of TIFF")                                         \
  X(scale, 0, ARG_INT, "N", "0", 0, 100, "level of a multi-scale input, 0 the finest")                       \
  X(zarr, 0, ARG_CHOICE, "0.5|0.4", "0.5", 0, 0, "version of OME-Zarr that is written")

OPTIONS(convert, CONVERT_OPTIONS);

typedef struct conversion {
  const convert_args *o;
  int64_t time[2], channel[2], lo[3], n[3]; /* time, channel: first and number */
} conversion;

static int choose(const char *name, const arg *a, int64_t extent, int64_t range[2])
{
  if (a->given && a->n >= extent)
    return fail_usage("--%s %lld: the input has %lld, counted from 0", name, (long long)a->n,
                      (long long)extent);
  range[0] = a->given ? a->n : 0;
  range[1] = a->given ? 1 : extent;
  return EXIT_DONE;
}

static int parse_chunk(const char *text, int64_t chunk[3])
{
  char *at = (char *)text;
  for (int i = 0; i < 3; i++) {
    long long n = strtoll(at, &at, 10);
    if (n < 1 || *at != (i < 2 ? ',' : 0))
      return fail_usage("--chunk %.60s: needs three whole numbers from 1 with commas between: z,y,x", text);
    chunk[i] = n;
    at++;
  }
  return EXIT_DONE;
}

static int copy_channel(const conversion *v, const stack *in, const stack *out, int64_t t, int64_t c,
                        void *values)
{
  int64_t slab = stack_slab(&in->info), piece = out->info.chunk[2], count = v->time[1] * v->channel[1];
  if (piece > 1)
    slab = slab < piece ? piece : slab / piece * piece;
  double part = (double)(t * v->channel[1] + c) / (double)count;
  for (int64_t z = 0; z < v->n[0]; z += slab) {
    int64_t lo[3] = {v->lo[0] + z, v->lo[1], v->lo[2]},
            n[3] = {z + slab < v->n[0] ? slab : v->n[0] - z, v->n[1], v->n[2]};
    int64_t at[3] = {z, 0, 0};
    double done = part + (double)z / (double)v->n[0] / (double)count,
           width = (double)n[0] / (double)v->n[0] / (double)count;
    kugel_array box = {values, {KUGEL_CPU, 0}, 3, in->info.dtype, n, NULL, 0};
    if (interrupted())
      return fail_interrupted();
    progress_part(done, done + width / 2, "reading");
    LIB(kugel_image_read(in->image, v->time[0] + t, v->channel[0] + c, lo, n, &box));
    progress_part(done + width / 2, done + width, "writing");
    LIB(kugel_image_write(out->image, t, c, at, n, &box));
  }
  return EXIT_DONE;
}

static int convert_all(const conversion *v, const stack *in, const stack *out)
{
  int64_t slab = stack_slab(&in->info), piece = out->info.chunk[2];
  slab = slab < piece ? piece : slab;
  slab = slab < v->n[0] ? slab : v->n[0];
  OWNED void *values = malloc((size_t)(slab * v->n[1] * v->n[2]) * in->info.dtype.bits / 8);
  if (!values)
    return fail("no memory for %lld planes of %s", (long long)slab, in->path);
  for (int64_t t = 0; t < v->time[1]; t++)
    for (int64_t c = 0; c < v->channel[1]; c++)
      STEP(copy_channel(v, in, out, t, c, values));
  return EXIT_DONE;
}

static bool ends_in_zarr(const char *path)
{
  size_t n = strlen(path);
  while (n && path[n - 1] == '/')
    n--;
  return n > 5 && !strncmp(path + n - 5, ".zarr", 5);
}

static int convert_file(void *args, const char *input, const char *target, int64_t i)
{
  (void)i;
  const convert_args *o = args;
  STACK in = {0};
  STACK out = {0};
  conversion v = {.o = o};
  char text[200], voxel[120];
  STEP(stack_open(&in, input, (int)o->scale.n));
  STEP(choose("time", &o->time, in.info.shape[0], v.time));
  STEP(choose("channel", &o->channel, in.info.shape[1], v.channel));
  STEP(stack_crop(o->crop.s, in.info.shape + 2, v.lo, v.n));
  kugel_image_opts opts = {.size = sizeof opts,
                           .like = in.image,
                           .shape = {v.time[1], v.channel[1], v.n[0], v.n[1], v.n[2]},
                           .dtype = stack_choose_type(o->dtype.n, in.info.dtype),
                           .compression = (int32_t)o->compress.n,
                           .level = (int32_t)o->level.n,
                           .channel_names = in.info.channel_names + v.channel[0],
                           .overwrite = run.overwrite};
  if (ends_in_zarr(target))
    opts.format = o->zarr.n ? KUGEL_IMAGE_ZARR2 : KUGEL_IMAGE_ZARR;
  if (o->chunk.given)
    STEP(parse_chunk(o->chunk.s, opts.chunk));
  stack_json("stack", &in.info);
  fact("input", "%s, %s", in.info.format_name, stack_text(&in.info, text, sizeof text));
  if (*stack_voxel_text(&in.info, voxel, sizeof voxel))
    fact("voxel", "%s (z, y, x)", voxel);
  kugel_image_info would = in.info;
  memcpy(would.shape, opts.shape, sizeof would.shape);
  would.dtype = opts.dtype;
  fact("output", "%s, %s", stack_text(&would, text, sizeof text),
       bytes_text(stack_bytes(&would), voxel, sizeof voxel));
  if (run.dry_run)
    return report_plan(128e6 + BASE_MEMORY, (stack_bytes(&in.info) + stack_bytes(&would)) * 2e-9);
  STEP(stack_check_output(target));
  STEP(stack_create(&out, target, &opts));
  STEP(convert_all(&v, &in, &out));
  STEP(stack_report_missing(&in));
  STEP(stack_finish(&out));
  json_int("clipped", out.info.clipped);
  if (out.info.clipped)
    fact("clipped", "%lld values do not fit %s: they are saturated", (long long)out.info.clipped,
         stack_type(opts.dtype));
  return EXIT_DONE;
}

static int convert(const void *args)
{
  const convert_args *o = args;
  BATCH b = {0};
  stopwatch watch = stopwatch_start();
  STEP(batch_open(&b, o->files.list, o->files.n - 1, o->files.list[o->files.n - 1], o->ext.s, &o->task,
                  &o->resume, false));
  b.flat = true;
  STEP(batch_run(&b, convert_file, (void *)args));
  stopwatch_lap(&watch, "convert");
  if (!run.dry_run)
    report_end(&watch, 0);
  return EXIT_DONE;
}

const command command_convert = {
    .name = "convert",
    .summary = "convert stacks of images between formats",
    .about = "Reads TIFF, BigTIFF, OME-TIFF, ImageJ TIFF, NPY, NRRD, MetaImage, OME-Zarr, Imaris, "
             "BigDataViewer and other HDF5 by their "
             "contents and writes "
             "them by the output's name. Voxel size, channel names and time step are kept where the format "
             "has them. "
             "Stacks may be larger than memory.",
    .examples = "kugel convert cells.tif cells.ome.tif\n"
                "kugel convert cells.ome.tif nuclei.nrrd --channel 0 --crop 10:30,,\n"
                "kugel convert scan.tif scan.zarr --compress blosc --chunk 64,256,256\n"
                "kugel convert scans/ zarrs/ --ext .zarr\n"
                "kugel convert restored.npy restored.tif --dtype u16 --compress zstd",
    .options = convert_options,
    .n_options = sizeof convert_options / sizeof convert_options[0],
    .run = convert,
};
