/* SPDX-License-Identifier: BSD-3-Clause */
/* kugel convolve: stacks with a kernel, such as a point-spread function. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "batch/batch.h"
#include "commands.h"
#include "volume/convolution.h"
#include "volume/partial.h"

#define CONVOLVE_OPTIONS(X)                                                                                  \
  X(files, 0, ARG_OPERAND, "FILE", NULL, 3, 10000,                                                           \
    "IMAGE KERNEL OUTPUT; or several images, folders of them or quoted patterns, the kernel, and a folder "  \
    "for "                                                                                                   \
    "the results. KERNEL: one file, of one channel or of as many as the images, or one a channel with "      \
    "commas "                                                                                                \
    "between")                                                                                               \
  X(mode, 'm', ARG_CHOICE, "same|full|valid", "same", 0, 0,                                                  \
    "as many results as voxels, all that meet the image, or those that need nothing beyond its edges")       \
  X(boundary, 'b', ARG_CHOICE, "zero|replicate|reflect|periodic|unknown", "zero", 0, 0,                      \
    "what lies beyond the edges; unknown: results are divided by the part of the kernel that met the image") \
  X(correlate, 0, ARG_FLAG, NULL, NULL, 0, 0, "correlate: the adjoint of the convolution")                   \
  X(normalise, 0, ARG_FLAG, NULL, NULL, 0, 0, "divide the kernel by its sum")                                \
  X(centre, 0, ARG_TEXT, "NAME", "middle", 0, 0, "of the kernel, " CENTRE_HELP)                              \
  X(nan, 0, ARG_CHOICE, "refuse|zero|keep", "refuse", 0, 0,                                                  \
    "voxels that are NaN or infinite: an error, 0, or kept, which makes all results around them NaN")        \
  X(depths, 0, ARG_TEXT, "Z,Z,...", NULL, 0, 0,                                                              \
    "planes of the image, rising, counted from 0, that the kernels belong to in place of channels; between " \
    "them kernels are interpolated")                                                                         \
  X(dtype, 't', ARG_CHOICE, STACK_TYPES, "keep", 0, 0,                                                       \
    "type of the output; values are rounded and saturated, never scaled")                                    \
  X(precision, 'p', ARG_CHOICE, "f32|f64", "f32", 0, 0, "of the arithmetic")                                 \
  X(plan, 0, ARG_TEXT, "NAME", "auto", 0, 0,                                                                 \
    "auto, resident, tiles, dif, dif:Q, pencil, or, over the processes of mpirun or srun, global: how the "  \
    "work is done")                                                                                          \
  X(scratch, 0, ARG_INPUT, "FOLDER", NULL, 0, 0, "for the files of the plan pencil; else beside the output") \
  X(compress, 0, ARG_CHOICE, STACK_COMPRESSIONS, "auto", 0, 0, "compression of the output")                  \
  X(channel, 'c', ARG_INT, "N", NULL, 0, 1e9, "this channel of the images alone, counted from 0")            \
  X(any_voxel, 0, ARG_FLAG, NULL, NULL, 0, 0, "go on although the voxel sizes of image and kernel differ")   \
  X(mem, 0, ARG_BYTES, "SIZE", NULL, 1e6, 1e15,                                                              \
    "memory that may be used, such as 8G: larger images go from file to file in parts; of a device with "    \
    "--device")                                                                                              \
  X(resume, 0, ARG_FLAG, NULL, NULL, 0, 0,                                                                   \
    "keep finished tiles beside the output, so that the same command continues if this run is ended early, " \
    "and pass over outputs that are finished; with pencil the passes before the results are done again")     \
  X(ranks, 0, ARG_FLAG, NULL, NULL, 0, 0,                                                                    \
    "each process of mpirun reads, convolves and writes its planes; one IMAGE, and an OUTPUT in Zarr")       \
  BATCH_OPTIONS(X)                                                                                           \
  DEVICE_OPTION(X)

OPTIONS(convolve, CONVOLVE_OPTIONS);

/* "PSF OUTPUT" follow the images. */
typedef struct work {
  const convolve_args *o;
  convolution v;
  char *words; /* options that results depend on */
} work;

static void work_close(work *w)
{
  convolution_close(&w->v);
  free(w->words);
}

static int parse_plan(work *w)
{
  static const char *const names[] = {"auto", "resident", "tiles", "dif", "pencil", "global"};
  const char *text = w->o->plan.s;
  if (!strncmp(text, "dif:", 4)) {
    char *end;
    long parts = strtol(text + 4, &end, 10);
    if (parts < 1 || parts > 1 << 20 || *end)
      return fail_usage("--plan %.60s: dif:Q needs a whole number of parts from 1", text);
    w->v.opts.engine = KUGEL_VOLUME_DIF;
    w->v.opts.parts = (int)parts;
    return EXIT_DONE;
  }
  for (int i = 0; i < 6; i++)
    if (!strcmp(text, names[i])) {
      w->v.opts.engine = (kugel_volume_engine)i;
      return EXIT_DONE;
    }
  return fail_usage("--plan %.60s: must be auto, resident, tiles, dif, dif:Q, pencil or global", text);
}

static int take_options(work *w)
{
  static const kugel_conv_extent extents[] = {KUGEL_CONV_SAME, KUGEL_CONV_FULL, KUGEL_CONV_VALID};
  const convolve_args *o = w->o;
  w->v.opts = (kugel_volume_opts){.size = sizeof w->v.opts,
                                  .extent = extents[o->mode.n],
                                  .boundary = (kugel_boundary)o->boundary.n,
                                  .correlate = o->correlate.given,
                                  .precision = o->precision.n ? KUGEL_PRECISION_F64 : KUGEL_PRECISION_F32};
  w->v.opts.scratch = o->scratch.given ? o->scratch.s : NULL;
  w->v.resume = o->resume.given;
  w->v.not_finite = o->nan.n;
  w->v.limit = o->mem.given && !strcmp(o->device.s, "cpu") ? (double)o->mem.n : 0;
  STEP(parse_plan(w));
  if (asprintf(&w->words,
               "mode %s, boundary %s, correlate %d, normalise %d, depths %s, precision %s, plan %s, centre "
               "%s, nan %s, channel %lld",
               o->mode.s, o->boundary.s, o->correlate.given, o->normalise.given,
               o->depths.given ? o->depths.s : "", o->precision.s, o->plan.s, o->centre.s, o->nan.s,
               o->channel.given ? (long long)o->channel.n : -1LL) < 0) {
    w->words = NULL;
    return fail("no memory for a description");
  }
  return EXIT_DONE;
}

/* What images that do not fit this machine get as their limit. */
static double machine_memory(void)
{
  return 0.8 * (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
}

static int read_kernels(work *w, const char *operand)
{
  double memory = w->v.limit > 0 ? w->v.limit : machine_memory();
  STEP(kernels_read(&w->v.kernels, operand, 64, memory / 16));
  if (w->o->normalise.given)
    STEP(kernels_normalise(&w->v.kernels));
  STEP(kernels_centre(&w->v.kernels, w->o->centre.s));
  if (!w->o->depths.given)
    return EXIT_DONE;
  STEP(kernels_join(&w->v.kernels, w->o->depths.s, w->v.depth));
  w->v.opts.depths = w->v.kernels.of[0].depths;
  w->v.opts.depth = w->v.depth;
  return EXIT_DONE;
}

static void lengths(const char *name, const int64_t n[3])
{
  json_array(name);
  for (int d = 0; d < 3; d++)
    json_int(NULL, n[d]);
  json_end();
}

static void report(const work *w, const stack *in, const kugel_volume_info *info)
{
  static const char *const engines[] = {"auto", "resident", "tiles", "dif", "pencil", "global"};
  const kernels *ks = &w->v.kernels;
  char text[200];
  stack_json("stack", &in->info);
  fact("image", "%s, %s", in->info.format_name, stack_text(&in->info, text, sizeof text));
  json_array("kernels");
  for (int64_t i = 0; i < ks->count; i++) {
    const int64_t *k = ks->of[i].shape;
    char by_depth[60] = "";
    if (ks->of[i].depths)
      snprintf(by_depth, sizeof by_depth, " at %lld planes", (long long)ks->of[i].depths);
    fact(ks->count > 1 ? "kernels" : "kernel", "%lld x %lld x %lld%s", (long long)k[0], (long long)k[1],
         (long long)k[2], by_depth);
    lengths(NULL, k);
  }
  json_end();
  fact("results", "%lld x %lld x %lld, transforms of %lld x %lld x %lld", (long long)info->results[0],
       (long long)info->results[1], (long long)info->results[2], (long long)info->transform[0],
       (long long)info->transform[1], (long long)info->transform[2]);
  if (info->engine == KUGEL_VOLUME_PENCIL) {
    fact("plan", "pencil: %lld slab%s, %.4g MB of %s", (long long)info->tiles, info->tiles == 1 ? "" : "s",
         (double)(info->scratch_bytes ? info->scratch_bytes : info->host_bytes) / 1e6,
         info->scratch_bytes ? "scratch files" : "host memory");
    json_int("scratch_bytes", (int64_t)info->scratch_bytes);
  } else if (info->parts > 1)
    fact("plan", "dif: %d parts", info->parts);
  else if (info->tiles > 1)
    fact("tiles", "%lld of %lld x %lld x %lld", (long long)info->tiles, (long long)info->tile[0],
         (long long)info->tile[1], (long long)info->tile[2]);
  json_int("depths", ks->of[0].depths);
  json_text("plan", engines[info->engine]);
  json_int("tiles", info->tiles);
  lengths("tile", info->tile);
}

/* Results are of one shape: the kernels' lengths may differ for SAME only. */
static int check_lengths(const work *w)
{
  const kernels *k = &w->v.kernels;
  for (int64_t i = 1; i < k->count && w->o->mode.n != 0; i++)
    if (memcmp(k->of[0].shape, k->of[i].shape, sizeof k->of[0].shape))
      return fail("--mode %s needs kernels of the same lengths: %s and %s differ", w->o->mode.s,
                  k->of[0].path, k->of[i].path);
  return EXIT_DONE;
}

/* What threads take for the files of image and results: at most, where those are fewer than voxels. */
static int measure_files(work *w, const stack *in, const char *target, kugel_dtype out, int64_t which)
{
  kugel_image_info info = {.size = sizeof info};
  kugel_image_opts opts = {.size = sizeof opts,
                           .like = in->image,
                           .dtype = out,
                           .compression = (int32_t)w->o->compress.n,
                           .shape = {in->info.shape[0], 1}};
  for (int d = 0; d < 3; d++)
    opts.shape[2 + d] = in->info.shape[2 + d] + (w->o->mode.n == 1 ? w->v.kernels.of[which].shape[d] - 1 : 0);
  LIB(kugel_image_estimate(run.files, target, &opts, &info));
  w->v.in_bytes = in->info.thread_bytes;
  w->v.out_bytes = info.thread_bytes;
  return EXIT_DONE;
}

/* The plan's cost. */
static int estimate(work *w, const stack *in, const char *target, kugel_dtype out, int64_t first, cost *c)
{
  int64_t which;
  STEP(kernels_choose(&w->v.kernels, in, first, &which));
  STEP(measure_files(w, in, target, out, which));
  STEP(convolution_estimate(&w->v, which, in->info.shape + 2, in->info.dtype, out, c));
  double memory = machine_memory();
  if (w->v.limit > 0 || c->bytes <= memory || strcmp(w->o->device.s, "cpu"))
    return EXIT_DONE;
  w->v.limit = memory;
  return convolution_estimate(&w->v, which, in->info.shape + 2, in->info.dtype, out, c);
}

static int convolve_file(void *work_, const char *input, const char *target, int64_t i)
{
  (void)i;
  work *w = work_;
  const convolve_args *o = w->o;
  STACK in = {0};
  struct stat st;
  bool done = w->v.resume && !run.overwrite && stat(target, &st) == 0;
  if (!run.dry_run && !done)
    STEP(stack_check_output(target));
  STEP(stack_open(&in, input, 0));
  int64_t first, channels;
  STEP(choose_channels(&in, &o->channel, &first, &channels));
  STEP(kernels_check(&w->v.kernels, &in, first, channels, o->any_voxel.given));
  kugel_dtype type = stack_choose_type(o->dtype.n, in.info.dtype);
  cost c;
  STEP(estimate(w, &in, target, type, first, &c));
  report(w, &in, &c.info);
  kugel_image_opts opts = {
      .size = sizeof opts,
      .like = in.image,
      .shape = {in.info.shape[0], channels, c.info.results[0], c.info.results[1], c.info.results[2]},
      .dtype = type,
      .compression = (int32_t)o->compress.n,
      .channel_names = in.info.channel_names + first,
      .overwrite = run.overwrite};
  double volumes = (double)(in.info.shape[0] * channels);
  if (run.dry_run) {
    json_int("moved_bytes", (int64_t)((double)c.info.moved_bytes * volumes));
    return report_plan(c.bytes, c.info.seconds * volumes);
  }
  if (done) {
    fact("done", "%s is there from an earlier run", target);
    json_flag("done_before", true);
    partial_forget(target);
    return EXIT_DONE;
  }
  double started = now();
  passage p = {.in = &in, .first = first, .target = target, .opts = &opts, .words = w->words};
  STEP(convolution_run(&w->v, &p));
  STEP(stack_report_missing(&in));
  double voxels = volumes * (double)(in.info.shape[2] * in.info.shape[3] * in.info.shape[4]);
  fact("speed", "%.3g million voxels a second", voxels / (now() - started) * 1e-6);
  json_number("voxels_per_second", voxels / (now() - started));
  if (p.clipped)
    fact("clipped", "%lld values do not fit %s: they are saturated; %s--dtype f32 keeps them",
         (long long)p.clipped, stack_type(opts.dtype),
         w->o->normalise.given ? "" : "--normalise divides the kernel by its sum, ");
  json_int("clipped", p.clipped);
  if (p.not_finite)
    fact("not finite", "%lld voxels read are NaN or infinite: %s", (long long)p.not_finite,
         o->nan.n == 1 ? "0 in their place" : "results around them are NaN");
  json_int("not_finite", p.not_finite);
  return EXIT_DONE;
}

/* Of a run that was ended between its last tile and its end. */
static bool forget(void *work_, const char *target)
{
  (void)work_;
  partial_forget(target);
  return true;
}

/* What a process does before all of them convolve. */
static int open_together(work *w, stack *in, passage *p, kugel_image_opts *opts)
{
  const convolve_args *o = w->o;
  int64_t channels;
  STEP(take_options(w));
  STEP(session_device(&o->device, NULL));
  STEP(kernels_read(&w->v.kernels, o->files.list[1], 64, 0));
  if (o->normalise.given)
    STEP(kernels_normalise(&w->v.kernels));
  STEP(kernels_centre(&w->v.kernels, o->centre.s));
  STEP(check_lengths(w));
  STEP(stack_open(in, o->files.list[0], 0));
  STEP(choose_channels(in, &o->channel, &p->first, &channels));
  STEP(kernels_check(&w->v.kernels, in, p->first, channels, o->any_voxel.given));
  *opts = (kugel_image_opts){.size = sizeof *opts,
                             .like = in->image,
                             .shape = {in->info.shape[0], channels},
                             .dtype = stack_choose_type(o->dtype.n, in->info.dtype),
                             .compression = (int32_t)o->compress.n,
                             .channel_names = in->info.channel_names + p->first,
                             .overwrite = run.overwrite};
  p->target = o->files.list[2];
  return stack_check_output(p->target);
}

static int convolve_together(const convolve_args *o)
{
  __attribute__((cleanup(work_close))) work w = {.o = o};
  STACK in = {0};
  passage p = {.in = &in};
  kugel_image_opts opts;
  stopwatch watch = stopwatch_start();
  if (o->files.n != 3 || o->mem.given || o->resume.given || o->depths.given)
    return fail_usage("--ranks takes IMAGE KERNEL OUTPUT, without --mem, --resume and --depths");
  if (strcmp(o->plan.s, "auto") && strcmp(o->plan.s, "tiles") && strcmp(o->plan.s, "global"))
    return fail_usage("--plan %.60s with --ranks: must be auto, tiles or global", o->plan.s);
  STEP(convolution_together(&w.v, &p, &opts, open_together(&w, &in, &p, &opts)));
  if (run.dry_run)
    return EXIT_DONE;
  stopwatch_lap(&watch, "convolution");
  report_end(&watch, 0);
  return EXIT_DONE;
}

static int convolve(const void *args)
{
  const convolve_args *o = args;
  if (o->ranks.given)
    return convolve_together(o);
  __attribute__((cleanup(work_close))) work w = {.o = o};
  BATCH b = {.whole = forget};
  stopwatch watch = stopwatch_start();
  bool device = strcmp(o->device.s, "cpu");
  STEP(take_options(&w));
  STEP(batch_open(&b, o->files.list, o->files.n - 2, o->files.list[o->files.n - 1], o->ext.s, &o->task,
                  &o->resume, false));
  STEP(session_device(&o->device, device ? &o->mem : NULL));
  if (w.v.limit > 0)
    STEP(session_limit(w.v.limit));
  progress_reading(0, 0, "reading");
  STEP(read_kernels(&w, o->files.list[o->files.n - 2]));
  STEP(check_lengths(&w));
  stopwatch_lap(&watch, "kernel");
  run.shared = o->files.list + o->files.n - 2;
  run.n_shared = 1;
  STEP(batch_run(&b, convolve_file, &w));
  stopwatch_lap(&watch, "convolution");
  if (!run.dry_run)
    report_end(&watch, 0);
  return EXIT_DONE;
}

const command command_convolve = {
    .name = "convolve",
    .summary = "convolve stacks of images with a kernel",
    .about = "Every channel at every time of a stack is convolved with a volume, such as a point-spread "
             "function, whose "
             "centre (--centre) lies on the result's own place. Voxel sizes must agree. Several "
             "images share "
             "the kernel's spectrum; an error of one does not stop the others. Images larger than memory go "
             "in tiles, with kernels that are too large for them by way of a file (--plan pencil). "
             "Arrays of more axes and complex ones: kugel.fft.convolve in Python.",
    .examples = "kugel convolve cells.tif psf.tif blurred.tif --boundary reflect\n"
                "kugel convolve --dtype f32 --normalise cells.ome.tif psf.tif blurred.ome.tif\n"
                "kugel convolve a.tif b.tif c.tif psf.tif results/\n"
                "kugel convolve stacks/ red.tif,green.tif results/ --ext .ome.tif\n"
                "kugel convolve cells.tif shallow.tif,deep.tif blurred.tif --depths 0,60 --normalise\n"
                "kugel convolve big.zarr psf.tif blurred.zarr --mem 8G --resume",
    .options = convolve_options,
    .n_options = sizeof convolve_options / sizeof convolve_options[0],
    .run = convolve,
};
