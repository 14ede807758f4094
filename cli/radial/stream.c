/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "radial/stream.h"

/* The buffers of files, and what the C library holds back. */
enum { BUFFERS = 4000000 };

/* Where pixels come from and go to: map 0 is column `first` of those in use. */
typedef struct flow {
  sky *s;
  kugel_fits_writer *writer;
  int64_t first;
} flow;

/* What keeps a map from going ring by ring. */
typedef enum obstacle { NOTHING, NO_SUMS, NESTED, PARTIAL, ARRAY, COMPRESSED, PICTURE } obstacle;

static obstacle obstacle_of(const sky *s, const filter *f, const char *path, const arg *order, bool plot)
{
  if (f->kernel == KUGEL_RADIAL_SERIES || f->method == KUGEL_RADIAL_HARMONIC)
    return NO_SUMS;
  if (s->npy || path_ends_with(path, ".npy"))
    return ARRAY;
  if (s->info->order == KUGEL_ORDER_NESTED || output_nested(path, s, order))
    return NESTED;
  return s->info->partial || run.partial  ? PARTIAL
         : path_ends_with(s->path, ".gz") ? COMPRESSED
         : plot                           ? PICTURE
                                          : NOTHING;
}

static int refuse(const sky *s, obstacle why)
{
  switch (why) {
  case NO_SUMS:
    return fail_usage("--mem on the CPU goes with sums over pixels: --method direct or rings");
  case NESTED:
    return fail(
        "%s is in NESTED order, but --mem goes through RING files ring by ring: kugel reorder %s first, or "
        "leave out --mem",
        s->info->order == KUGEL_ORDER_NESTED ? s->path : "the output", s->path);
  case PARTIAL:
    return fail("%s holds part of the sky pixel by pixel: leave out --mem",
                s->info->partial ? s->path : "the output");
  case ARRAY:
    return fail("--mem goes from FITS file to FITS file: an NPY file among them is read or written as a "
                "whole; leave out --mem");
  case COMPRESSED:
    return fail("%s is compressed and cannot be read ring by ring: gunzip it, or leave out --mem", s->path);
  case PICTURE:
    return fail_usage("--plot needs the whole map in memory: use kugel plot, or leave out --mem");
  default:
    return EXIT_DONE;
  }
}

int stream_choose(const sky *s, const filter *f, const arg *device, const arg *mem, const char *path,
                  const arg *order, bool plot, bool *streamed, int64_t *bytes)
{
  kugel_device_info info = {.size = sizeof info};
  LIB(kugel_ctx_describe(run.ctx, &info));
  bool cpu = info.device.type == KUGEL_CPU;
  *bytes = cpu && mem->given && !strcmp(device->s, "cpu") ? mem->n : 0;
  obstacle why = obstacle_of(s, f, path, order, plot);
  *streamed = *bytes || (!cpu && why == NOTHING);
  return *bytes ? refuse(s, why) : EXIT_DONE;
}

int memory_check(const sky *s)
{
  char need[32], have[32];
  double bytes = (double)s->npix * ((double)s->n * (sky_is_float(s) ? 4 : 8) + 12) + BASE_MEMORY;
  double physical = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGE_SIZE);
  if (physical <= 0 || bytes < 0.9 * physical)
    return EXIT_DONE;
  return fail("the maps and their sums take %s and this machine has %s: --mem, such as --mem 4G, with "
              "--method direct "
              "or rings goes from file to file",
              bytes_text(bytes, need, sizeof need), bytes_text(physical, have, sizeof have));
}

static kugel_status read_ring(void *user, int map, int64_t first, int64_t n, void *values)
{
  const flow *t = user;
  const sky *s = t->s;
  int64_t column = t->first + map;
  kugel_status status =
      kugel_fits_read_values(s->file, s->columns[column], first, KUGEL_ARRAY(values, s->dtype, n));
  if (status == KUGEL_OK && s->iau && s->polarised && column == 2)
    pixels_negate(values, s->dtype, n);
  return status;
}

static kugel_status write_ring(void *user, int map, int64_t first, int64_t n, const void *values)
{
  const flow *t = user;
  const sky *s = t->s;
  void *pixels = (void *)values; /* the window's own: it is free to change */
  if (s->iau && s->polarised && t->first + map == 2)
    pixels_negate(pixels, s->dtype, n);
  return kugel_fits_writer_put(t->writer, t->first + map, first, KUGEL_ARRAY(pixels, s->dtype, n));
}

/* What the process holds beside the stream. It is never less than BASE_MEMORY: resident pages of libraries come
   and go by some 100 kB from run to run, and a limit that lets a map through must do so every time. */
static int64_t held_memory(void)
{
  int64_t now = memory_now();
  return (now > BASE_MEMORY ? now : BASE_MEMORY) + BUFFERS;
}

/* Maps from t->first on, as many as the plan takes. */
static int stream_maps(flow *t, const kugel_radial *plan, int64_t mem)
{
  char have[32], used[32];
  kugel_ctx_trim(run.ctx);
  int64_t held = held_memory(), left = mem ? mem - held : 0;
  if (mem && left <= 0)
    return fail("--mem is %s, and %s are in use before any map is read: allow more",
                bytes_text((double)mem, have, sizeof have), bytes_text((double)held, used, sizeof used));
  kugel_status status =
      kugel_radial_stream(plan, &(kugel_radial_stream_opts){.size = sizeof(kugel_radial_stream_opts),
                                                            .read = read_ring,
                                                            .write = write_ring,
                                                            .user = t,
                                                            .dtype = t->s->dtype,
                                                            .memory = (uint64_t)left});
  if (status != KUGEL_OK)
    return fail_library(status, status == KUGEL_ENOMEM ? "--mem is too little" : NULL);
  return EXIT_DONE;
}

static int stream_all(flow *t, filter *f, int64_t mem)
{
  RADIAL kugel_radial *plan = NULL;
  RADIAL kugel_radial *pair = NULL;
  const sky *s = t->s;
  STEP(filter_plan(f, s, &plan));
  double one = 1 + s->levelled, all = s->polarised ? 3 + s->levelled + one : one * (double)s->n;
  for (; t->first < (s->polarised ? 1 : s->n); t->first++) {
    double done = one * (double)t->first;
    progress_part(done / all, (done + one) / all, "convolution");
    STEP(stream_maps(t, plan, mem));
  }
  if (!s->polarised)
    return EXIT_DONE;
  f->spin = 2;
  f->method = KUGEL_RADIAL_DIRECT;
  STEP(filter_plan(f, s, &pair));
  progress_part(one / all, 1, "convolution");
  return stream_maps(t, pair, mem);
}

int sky_stream(sky *s, filter *f, int64_t mem, const char *path, stopwatch *watch)
{
  flow t = {.s = s};
  s->dtype = sky_is_float(s) ? KUGEL_F32 : KUGEL_F64;
  s->order = KUGEL_ORDER_RING;
  f->ring_by_ring = mem > 0;
  output out = output_like(s);
  kugel_fits_write_opts opts = output_opts(&out);
  opts.dtype = s->dtype;
  kugel_status status = kugel_fits_writer_create(NULL, path, &opts, s->nside, s->n, &t.writer);
  if (status != KUGEL_OK)
    return fail_library(status, path);
  int code = stream_all(&t, f, mem);
  status = kugel_fits_writer_close(t.writer, code == EXIT_DONE);
  if (code == EXIT_DONE && status != KUGEL_OK)
    return fail_library(status, path);
  stopwatch_lap(watch, "read, convolve, write");
  return code;
}
