/* SPDX-License-Identifier: BSD-3-Clause */
/* kugel deconvolve: images without the blur of a known PSF. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <kugel/io.h>
#include "batch/batch.h"
#include "commands.h"
#include "volume/sharpening.h"

#define DECONVOLVE_OPTIONS(X)                                                                                \
  X(files, 0, ARG_OPERAND, "FILE", NULL, 3, 10000,                                                           \
    "IMAGE PSF OUTPUT; or several images, folders of them or quoted patterns, the PSF, and a folder for "    \
    "the "                                                                                                   \
    "results. PSF: one file, of one channel or of as many as the images, or one a channel with commas "      \
    "between")                                                                                               \
  X(method, 0, ARG_CHOICE, "rl|biggs|shb|tv|wiener|tikhonov|landweber|isra", "rl", 0, 0,                     \
    "Richardson-Lucy; the same accelerated by Biggs and Andrews or as a heavy ball; with total variation; "  \
    "linear filters; least squares without negative values")                                                 \
  X(centre, 0, ARG_TEXT, "NAME", "auto", 0, 0, "of the PSF, " CENTRE_HELP)                                   \
  X(depths, 0, ARG_TEXT, "Z,Z,...", NULL, 0, 0,                                                              \
    "planes of the images, counted from 0, to which the PSFs belong, as many as there are PSFs: light of "   \
    "each plane is blurred by the PSF interpolated there")                                                   \
  X(iter, 'i', ARG_INT, "N", "20", 1, 1000000, "steps at most")                                              \
  X(tol, 0, ARG_REAL, "X", "0", 0, 1, "end when the divergence changes by less than this part of it")        \
  X(discrepancy, 0, ARG_REAL, "X", "0", 0, 1e9,                                                              \
    "end when twice the divergence per voxel is at most this; 1 for counts of photons")                      \
  X(lambda, 0, ARG_REAL, "X", "0", 0, 1e9, "strength of tv, wiener or tikhonov; 0: 0.002 for tv, 0.001")     \
  X(background, 0, ARG_TEXT, "X|auto", "0", 0, 0,                                                            \
    "what a voxel without light shows; auto: the smallest value of each volume")                             \
  X(offset, 0, ARG_REAL, "X", "0", 0, 1e9, "variance of the camera's noise in counts, added to both sides")  \
  X(saturation, 0, ARG_REAL, "X", "0", 0, 1e18, "voxels at or above it are missing")                         \
  X(mask, 0, ARG_INPUT, "FILE", NULL, 0, 0, "volume, 0 where a voxel is missing; NaN voxels always are")     \
  X(boundary, 'b', ARG_CHOICE, "unknown|zero|replicate|reflect|periodic", "unknown", 0, 0,                   \
    "what lies beyond the edges; unknown: it is estimated, and edges do not ring")                           \
  X(mem, 0, ARG_BYTES, "SIZE", NULL, 1e6, 1e15,                                                              \
    "memory that may be used, such as 8G, with --device of the device; larger images go in tiles")           \
  X(exact, 0, ARG_FLAG, NULL, NULL, 0, 0,                                                                    \
    "never in tiles: with --mem, or where a device's memory is too small, convolutions go in pieces")        \
  X(scratch, 0, ARG_INPUT, "FOLDER", NULL, 0, 0, "for that file; else $TMPDIR or /var/tmp")                  \
  X(plan, 0, ARG_CHOICE, "auto|halo|global", "auto", 0, 0,                                                   \
    "how mpirun's processes share an image. halo: convolutions by tiles, whose surroundings they exchange "  \
    "at each step; the same steps, rounded otherwise. global: by the whole transform. With --device "        \
    "cuda:local each on its own device")                                                                     \
  X(dtype, 't', ARG_CHOICE, STACK_TYPES, "f32", 0, 0,                                                        \
    "type of the result; keep: that of the image; values are rounded and saturated, never scaled")           \
  X(precision, 'p', ARG_CHOICE, "f32|f64", "f32", 0, 0, "of the arithmetic")                                 \
  X(compress, 0, ARG_CHOICE, STACK_COMPRESSIONS, "auto", 0, 0, "compression of the result")                  \
  X(channel, 'c', ARG_INT, "N", NULL, 0, 1e9, "this channel of the images alone, counted from 0")            \
  X(any_voxel, 0, ARG_FLAG, NULL, NULL, 0, 0, "go on although the voxel sizes of image and PSF differ")      \
  BATCH_OPTIONS(X) RESUME_OPTION(X) DEVICE_OPTION(X)

OPTIONS(deconvolve, DECONVOLVE_OPTIONS);

/* By --plan. */
static const kugel_volume_engine engines[] = {KUGEL_VOLUME_AUTO, KUGEL_VOLUME_TILES, KUGEL_VOLUME_GLOBAL};

/* A plan for volumes of one shape and background, which the next volume may have too. */
typedef struct planned {
  kugel_deconv *plan;
  int64_t n[3];
  double background;
} planned;

typedef struct work {
  const deconvolve_args *o;
  kernels psfs;
  planned *plans; /* of each PSF */
  double depth[MOST_DEPTHS];
  ndarray mask, volume;
  ndarray result; /* in tiles, which read their neighbours; else the volume itself */
  int axes;       /* of the image: 3, fewer in NPY files */
  int64_t n[3];   /* of a volume */
  kugel_deconv_opts opts;
} work;

static void work_close(work *w)
{
  for (int64_t i = 0; w->plans && i < w->psfs.count; i++)
    kugel_deconv_destroy(w->plans[i].plan);
  free(w->plans);
  kernels_close(&w->psfs);
  ndarray_close(&w->mask);
  ndarray_close(&w->volume);
  ndarray_close(&w->result);
}

static kugel_array view3(ndarray *a, int64_t *shape)
{
  kugel_array view = ndarray_view(a);
  view.ndim = 3;
  view.shape = shape;
  return view;
}

static int read_psfs(work *w, const char *operand)
{
  const deconvolve_args *o = w->o;
  STEP(kernels_read(&w->psfs, operand, 0, 0));
  STEP(kernels_centre(&w->psfs, o->centre.s));
  if (o->depths.given)
    STEP(kernels_join(&w->psfs, o->depths.s, w->depth));
  w->plans = calloc((size_t)w->psfs.count, sizeof *w->plans);
  if (!w->plans)
    return fail("no memory for %lld plans", (long long)w->psfs.count);
  if (o->mask.given)
    STEP(volume_read(&w->mask, o->mask.s, -1, 32, NULL));
  w->opts = (kugel_deconv_opts){.size = sizeof w->opts,
                                .method = (kugel_deconv_method)o->method.n,
                                .iterations = o->iter.n,
                                .edges = (kugel_deconv_edges)o->boundary.n,
                                .precision = o->precision.n ? KUGEL_PRECISION_F64 : KUGEL_PRECISION_F32,
                                .offset = o->offset.x,
                                .saturation = o->saturation.x,
                                .lambda = o->lambda.x,
                                .tolerance = o->tol.x,
                                .discrepancy = o->discrepancy.x,
                                .exact = o->exact.given,
                                .engine = engines[o->plan.n],
                                .scratch = o->scratch.given ? o->scratch.s : NULL,
                                .depths = w->psfs.of[0].depths,
                                .depth = w->depth,
                                .memory = o->mem.given ? (uint64_t)o->mem.n : 0};
  char *end;
  const char *text = o->background.s;
  w->opts.background = strtod(text, &end);
  if (strcmp(text, "auto") && (end == text || *end || !(w->opts.background >= 0)))
    return fail_usage("--background %.60s: must be a number from 0, or auto", text);
  return EXIT_DONE;
}

/* The plan has the background, which differs between volumes if it is their least value. */
static int make_plan(work *w, int64_t which)
{
  planned *plan = &w->plans[which];
  kernel *psf = &w->psfs.of[which];
  double background = w->opts.background;
  if (!strcmp(w->o->background.s, "auto")) {
    double least = INFINITY;
    for (int64_t i = 0; i < ndarray_count(&w->volume); i++)
      least = fmin(least,
                   w->volume.single ? (double)((float *)w->volume.data)[i] : ((double *)w->volume.data)[i]);
    background = isfinite(least) ? fmax(least, 0) : 0;
    fact("background", "%g, the smallest value", background);
  }
  json_number("background", background);
  if (plan->plan && !memcmp(plan->n, w->n, sizeof w->n) && !(fabs(plan->background - background) > 0))
    return EXIT_DONE;
  kugel_deconv_destroy(plan->plan);
  plan->plan = NULL;
  plan->background = background;
  memcpy(plan->n, w->n, sizeof w->n);
  kugel_deconv_opts opts = w->opts;
  opts.background = background;
  opts.centre = psf->centre;
  int64_t shape[4] = {psf->depths, psf->shape[0], psf->shape[1], psf->shape[2]};
  int one = psf->depths ? 0 : 1;
  kugel_array values = ndarray_view(&psf->array);
  values.ndim = 4 - one;
  values.shape = shape + one;
  LIB(kugel_deconv_create(run.ctx, 3, w->n, psf->shape, &values, &opts, &plan->plan));
  return EXIT_DONE;
}

/* One channel at one time. */
static int deconvolve_volume(work *w, const stack *in, const stack *out, int64_t t, int64_t from, int64_t c)
{
  int64_t zero[3] = {0, 0, 0}, which;
  kugel_deconv_info info = {.size = sizeof info};
  kugel_array x = view3(&w->volume, w->n), mask = view3(&w->mask, w->n);
  kugel_array y = view3(w->result.data ? &w->result : &w->volume, w->n);
  if (in->info.shape[0] > 1)
    fact("time", "%lld", (long long)t);
  if (in->info.shape[1] > 1)
    fact("channel", "%lld %s", (long long)from, in->info.channel_names[from]);
  json_object(NULL);
  json_int("time", t);
  json_int("channel", from);
  LIB(kugel_image_read(in->image, t, from, zero, w->n, &x));
  STEP(kernels_choose(&w->psfs, in, from, &which));
  STEP(make_plan(w, which));
  LIB(kugel_deconv_execute(w->plans[which].plan, &x, w->o->mask.given ? &mask : NULL, NULL, &y, &info));
  LIB(kugel_image_write(out->image, t, c, zero, w->n, &y));
  sharpening_steps(&info);
  json_end();
  return interrupted() ? fail_interrupted() : EXIT_DONE;
}

static int take_axes(work *w, const stack *in)
{
  kugel_npy_info npy = {.ndim = 3};
  if (in->info.format == KUGEL_IMAGE_NPY)
    LIB(kugel_npy_inspect(NULL, in->path, &npy));
  w->axes = npy.ndim < 3 ? npy.ndim : 3;
  return EXIT_DONE;
}

static int check_image(work *w, const stack *in, int64_t first, int64_t channels)
{
  const int64_t *n = in->info.shape + 2;
  int64_t m[3];
  STEP(take_axes(w, in));
  STEP(kernels_check(&w->psfs, in, first, channels, w->o->any_voxel.given));
  for (int64_t i = 0; i < w->psfs.count; i++)
    if ((n[0] > 1 || w->axes < 3) && w->axes != (w->psfs.of[i].depths ? 3 : w->psfs.of[i].array.ndim))
      return fail("%s has %d axes and the PSF %s %d: they must be as many", in->path, w->axes,
                  w->psfs.of[i].path, w->psfs.of[i].array.ndim);
  volume_shape(&w->mask, m);
  if (w->mask.data && memcmp(m, n, sizeof m))
    return fail("the mask %s has %lld x %lld x %lld voxels and %s %lld x %lld x %lld: must be as many",
                w->mask.path, (long long)m[0], (long long)m[1], (long long)m[2], in->path, (long long)n[0],
                (long long)n[1], (long long)n[2]);
  return EXIT_DONE;
}

/* What can be said before any volume is read. */
static int describe(work *w, const stack *in, const char *target, int64_t first, int64_t channels,
                    kugel_deconv_cost *cost)
{
  char text[200];
  const int64_t *n = in->info.shape + 2;
  int64_t which;
  STEP(check_image(w, in, first, channels));
  STEP(kernels_choose(&w->psfs, in, first, &which));
  if (w->o->mem.given && !strcmp(w->o->device.s, "cpu")) { /* less what is there beside the plan */
    double voxels = (double)n[0] * (double)n[1] * (double)n[2] * (w->o->precision.n ? 8 : 4);
    kugel_image_info out = {.size = sizeof out};
    kugel_image_opts opts = {.size = sizeof opts,
                             .like = in->image,
                             .dtype = stack_choose_type(w->o->dtype.n, in->info.dtype),
                             .compression = (int32_t)w->o->compress.n};
    LIB(kugel_image_estimate(run.files, target, &opts, &out));
    double pieces =
        ((double)w->o->mem.n - BASE_MEMORY) / 32; /* of threads at a file, as many as that holds */
    double other = BASE_MEMORY + voxels * (w->o->exact.given ? 1 : 2) + kernels_bytes(&w->psfs) +
                   fmax((double)in->info.thread_bytes, pieces) + fmax((double)out.thread_bytes, pieces);
    if ((double)w->o->mem.n < other + 1e6)
      return fail("--mem %.4g MB is too little: image, PSF, pieces of files and program alone take %.4g MB",
                  (double)w->o->mem.n / 1e6, other / 1e6);
    w->opts.memory = (uint64_t)(0.9 * ((double)w->o->mem.n - other)); /* a tenth: threads, the allocator */
  }
  w->opts.centre = w->psfs.of[which].centre;
  LIB(kugel_deconv_estimate(run.ctx, 3, n, w->psfs.of[which].shape, &w->opts, cost));
  memcpy(w->n, n, sizeof w->n);
  stack_json("stack", &in->info);
  fact("image", "%s, %s", in->info.format_name, stack_text(&in->info, text, sizeof text));
  STEP(sharpening_psfs(&w->psfs, in, first, channels));
  sharpening_plan(w->o->method.s, w->o->iter.n, cost);
  return EXIT_DONE;
}

static int deconvolve_all(work *w, const stack *in, const stack *out, int64_t first)
{
  int64_t times = out->info.shape[0], channels = out->info.shape[1];
  double volumes = (double)(times * channels);
  json_array("volumes");
  for (int64_t t = 0; t < times; t++)
    for (int64_t c = 0; c < channels; c++) {
      double part = (double)(t * channels + c) / volumes;
      progress_part(part, part + 1 / volumes, "deconvolution");
      STEP(deconvolve_volume(w, in, out, t, first + c, c));
    }
  json_end();
  return EXIT_DONE;
}

static int deconvolve_file(void *work_, const char *input, const char *target, int64_t i)
{
  (void)i;
  work *w = work_;
  STACK in = {0};
  STACK out = {0};
  const deconvolve_args *o = w->o;
  kugel_deconv_cost cost = {.size = sizeof cost};
  int64_t first, channels;
  if (!run.dry_run)
    STEP(stack_check_output(target));
  STEP(stack_open(&in, input, 0));
  STEP(choose_channels(&in, &o->channel, &first, &channels));
  STEP(describe(w, &in, target, first, channels, &cost));
  int64_t volumes = in.info.shape[0] * channels;
  ndarray_close(&w->volume); /* of an image that failed */
  w->volume = (ndarray){.path = input, .ndim = 3, .single = o->precision.n == 0};
  memcpy(w->volume.shape, w->n, sizeof w->n);
  ndarray_close(&w->result);
  w->result = w->volume;
  if (run.dry_run)
    return report_plan((double)cost.bytes + ndarray_bytes(&w->volume) * (cost.tiles > 1 ? 2 : 1) +
                           ndarray_bytes(&w->psfs.of[0].array) + BASE_MEMORY,
                       cost.seconds * (double)volumes);
  kugel_image_opts opts = {.size = sizeof opts,
                           .like = in.image,
                           .shape = {in.info.shape[0], channels, w->n[0], w->n[1], w->n[2]},
                           .dtype = stack_choose_type(o->dtype.n, in.info.dtype),
                           .compression = (int32_t)o->compress.n,
                           .channel_names = in.info.channel_names + first,
                           .overwrite = run.overwrite};
  STEP(ndarray_make(&w->volume));
  if (cost.tiles > 1)
    STEP(ndarray_make(&w->result));
  STEP(stack_create(&out, target, &opts));
  STEP(deconvolve_all(w, &in, &out, first));
  STEP(stack_report_missing(&in));
  STEP(stack_finish(&out));
  if (out.info.clipped)
    fact("clipped", "%lld values do not fit %s: they are saturated", (long long)out.info.clipped,
         stack_type(opts.dtype));
  json_int("clipped", out.info.clipped);
  ndarray_close(&w->result);
  ndarray_close(&w->volume);
  return EXIT_DONE;
}

static int deconvolve(const void *args)
{
  const deconvolve_args *o = args;
  __attribute__((cleanup(work_close))) work w = {.o = o};
  stopwatch watch = stopwatch_start();
  BATCH b = {0};
  STEP(batch_open(&b, o->files.list, o->files.n - 2, o->files.list[o->files.n - 1], o->ext.s, &o->task,
                  &o->resume, false));
  STEP(session_device(&o->device, strcmp(o->device.s, "cpu") ? &o->mem : NULL));
  if (o->plan.n && o->mem.given)
    return fail_usage("--plan %s with --mem: it takes the whole image", o->plan.s);
  if (o->mem.given && !strcmp(o->device.s, "cpu"))
    STEP(session_limit((double)o->mem.n));
  STEP(read_psfs(&w, o->files.list[o->files.n - 2]));
  stopwatch_lap(&watch, "psf");
  run.shared = o->files.list + o->files.n - 2;
  run.n_shared = 1;
  STEP(batch_run(&b, deconvolve_file, &w));
  stopwatch_lap(&watch, "deconvolution");
  if (!run.dry_run)
    report_end(&watch, 0);
  return EXIT_DONE;
}

const command command_deconvolve = {
    .name = "deconvolve",
    .summary = "take the blur of a known PSF off images",
    .about =
        "Estimates the object behind every channel at every time of a stack, given the point spread "
        "function. "
        "The PSF is scaled to sum 1, so that flux is kept; --centre says which element is its centre. Voxel "
        "sizes of "
        "image and PSF must agree; the result keeps the image's, and its channel names. NaN, saturated and "
        "masked voxels count as missing. With --device rl, biggs, shb and tv run there whole; the others, "
        "and "
        "--exact for images that the device does not hold, convolve there. Processes of mpirun share images "
        "and "
        "tiles, with the bytes of one process. Light from outside the frame is estimated too, unless "
        "--boundary "
        "says "
        "what is there.",
    .examples = "kugel deconvolve cells.tif psf.tif sharp.tif --iter 25 --background auto\n"
                "kugel deconvolve cells.ome.tif psf.tif sharp.zarr --method shb --iter 15 --mem 4G\n"
                "kugel deconvolve cells.ome.tif psf.tif sharp.zarr --mem 4G --exact --scratch /nvme\n"
                "kugel deconvolve cells.tif psf.tif sharp.tif --method shb --device cuda:0\n"
                "kugel deconvolve a.tif b.tif c.tif psf.tif results/ --dtype keep\n"
                "kugel deconvolve stacks/ red.tif,green.tif results/ --ext .ome.tif\n"
                "kugel deconvolve cells.tif shallow.tif,deep.tif sharp.tif --depths 0,60\n"
                "kugel deconvolve cells.tif psf.tif sharp.tif --plan halo\n"
                "kugel deconvolve cells.tif psf.tif sharp.tif --dry-run",
    .options = deconvolve_options,
    .n_options = sizeof deconvolve_options / sizeof deconvolve_options[0],
    .run = deconvolve,
};
