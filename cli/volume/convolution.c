/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <libgen.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <kugel/io.h>
#include "common/ranks.h"
#include "volume/convolution.h"
#include "volume/finite.h"
#include "volume/partial.h"

void convolution_close(convolution *v)
{
  for (int64_t i = 0; v->plans && i < v->kernels.count; i++)
    kugel_volume_destroy(v->plans[i]);
  free(v->plans);
  kernels_close(&v->kernels);
}

/* ---- plans ---- */

/* The plan of a kernel; with a limit one at a time. */
static int make_plan(convolution *v, int64_t which, const passage *p, kugel_dtype in, kugel_dtype out)
{
  const int64_t *n = p->in->info.shape + 2;
  kernel *k = &v->kernels.of[which];
  cost c;
  if (!v->plans && !(v->plans = calloc((size_t)v->kernels.count, sizeof(kugel_volume *))))
    return fail("no memory for plans");
  bool same = !memcmp(v->n, n, sizeof v->n);
  if (same && v->plans[which])
    return EXIT_DONE;
  for (int64_t i = 0; i < v->kernels.count; i++)
    if (!same || v->limit > 0) {
      kugel_volume_destroy(v->plans[i]);
      v->plans[i] = NULL;
    }
  STEP(convolution_estimate(v, which, n, in, out, &c));
  char folder[4096];
  kugel_volume_opts opts = v->opts;
  if (!opts.scratch && snprintf(folder, sizeof folder, "%s", p->target) < (int)sizeof folder)
    opts.scratch = dirname(folder);
  opts.engine = v->limit > 0 ? c.info.engine : opts.engine;
  opts.image_dtype = in;
  opts.results_dtype = out;
  int64_t shape[4] = {k->depths, k->shape[0], k->shape[1], k->shape[2]};
  int one = k->depths ? 0 : 1;
  kugel_array values = {k->array.data, {KUGEL_CPU, 0}, 4 - one, KUGEL_F64, shape + one, NULL, 0};
  KERNEL_READER reader = {.of = k};
  opts.read_kernel = k->array.data ? NULL : kernel_read;
  opts.kernel_user = &reader;
  opts.centre = k->centre;
  kugel_status s = kugel_volume_create(run.ctx, 3, n, k->shape, &values, &opts, &v->plans[which]);
  if (reader.code)
    return reader.code;
  LIB(s);
  if (v->limit > 0) /* of the boxes too */
    LIB(kugel_ctx_limit_memory(run.ctx, (uint64_t)convolution_room(v, k, c.info.engine)));
  memcpy(v->n, n, sizeof v->n);
  return EXIT_DONE;
}

/* ---- boxes ---- */

typedef struct box_work {
  const stack *in, *out;
  partial *kept; /* NULL: boxes go to the output */
  kugel_dtype from, to;
  int64_t t, channel_in, channel_out, volume, m[3];
  int mode; /* of not_finite */
  int64_t not_finite;
  double volume_bytes;
  char error[4500];
} box_work;

static int complain(box_work *w, const char *text)
{
  snprintf(w->error, sizeof w->error, "%s", text);
  return 1;
}

static int read_box(void *user, const int64_t *lo, const int64_t *n, void *values)
{
  box_work *w = user;
  kugel_array box = {values, {KUGEL_CPU, 0}, 3, w->from, (int64_t *)n, NULL, 0};
  if (kugel_image_read(w->in->image, w->t, w->channel_in, lo, n, &box))
    return complain(w, kugel_last_error());
  finite_box f = {.path = w->in->path, .type = w->from, .mode = w->mode, .count = w->not_finite};
  if (finite_check(&f, lo, n, values))
    return complain(w, f.text);
  w->not_finite = f.count;
  return 0;
}

static int write_box(void *user, const int64_t *lo, const int64_t *n, const void *values)
{
  box_work *w = user;
  if (w->kept) {
    int code = partial_put(w->kept, w->volume * (int64_t)w->volume_bytes, w->m, lo, n, values);
    char text[4400];
    snprintf(text, sizeof text, "%s: cannot write: %s", w->kept->path, code ? strerror(code) : "");
    return code ? complain(w, text) : 0;
  }
  kugel_array box = {(void *)values, {KUGEL_CPU, 0}, 3, w->to, (int64_t *)n, NULL, 0};
  return kugel_image_write(w->out->image, w->t, w->channel_out, lo, n, &box) ? complain(w, kugel_last_error())
                                                                             : 0;
}

static int box_done(void *user, int64_t box, int64_t boxes)
{
  box_work *w = user;
  bool whole = box + 1 == boxes;
  if (!w->kept)
    return 0;
  int code = partial_mark(w->kept, w->volume + whole, whole ? 0 : box + 1, boxes);
  return code ? complain(w, strerror(code)) : 0;
}

/* Types that streams take; others go by way of doubles. */
kugel_dtype stream_type(kugel_dtype t)
{
  bool wide = t.bits == 64 || (t.code == KUGEL_UINT && t.bits == 32),
       byte = t.code == KUGEL_INT && t.bits == 8;
  return wide ? KUGEL_F64 : byte ? KUGEL_I16 : t;
}

/* Boxes of an earlier run are counted in tiles of its plan: with others, for other threads or another device, the volume
 * begins anew. */
static int take_tiles(partial *kept, const kugel_volume *plan)
{
  kugel_volume_info info = {.size = sizeof info};
  LIB(kugel_volume_get_info(plan, &info));
  int64_t own[4] = {info.engine, info.tile[0], info.tile[1], info.tile[2]};
  if (memcmp(own, kept->plan, sizeof own)) {
    if (kept->boxes)
      fact("resumed", "volume %lld begins anew: its plan has other tiles now", (long long)kept->volumes);
    kept->boxes = 0;
  }
  memcpy(kept->plan, own, sizeof own);
  return EXIT_DONE;
}

static int run_volume(convolution *v, passage *p, box_work *w)
{
  int64_t which, clipped = 0;
  STEP(kernels_choose(&v->kernels, p->in, w->channel_in, &which));
  STEP(make_plan(v, which, p, w->from, w->to));
  if (w->kept)
    STEP(take_tiles(w->kept, v->plans[which]));
  kugel_volume_stream_opts opts = {.size = sizeof opts,
                                   .in = w->from,
                                   .out = w->to,
                                   .read = read_box,
                                   .write = write_box,
                                   .done = box_done,
                                   .user = w,
                                   .first = w->kept ? w->kept->boxes : 0,
                                   .boxes = w->kept ? w->kept->all : 0,
                                   .clipped = &clipped};
  kugel_status status = kugel_volume_stream(v->plans[which], &opts);
  p->clipped += clipped;
  p->not_finite = w->not_finite;
  if (interrupted())
    return fail_interrupted();
  if (status && w->error[0])
    return fail("%s", w->error);
  LIB(status);
  return EXIT_DONE;
}

/* Channel by channel, so that with a limit each kernel has its plan once. */
static int run_volumes(convolution *v, passage *p, box_work *w)
{
  int64_t times = p->opts->shape[0], channels = p->opts->shape[1];
  double volumes = (double)(times * channels);
  for (int64_t c = 0; c < channels; c++)
    for (int64_t t = 0; t < times; t++, w->volume++) {
      double part = (double)w->volume / volumes;
      if (w->kept && w->volume < w->kept->volumes)
        continue;
      w->t = t;
      w->channel_in = p->first + c;
      w->channel_out = c;
      progress_part(part, part + 1 / volumes, "convolution");
      STEP(run_volume(v, p, w));
    }
  return EXIT_DONE;
}

/* ---- runs that may be continued ---- */

/* What the results depend on, a line each. */
static int describe(const convolution *v, const passage *p, const box_work *w, char *out, size_t size)
{
  struct stat st;
  uint64_t hash;
  if (stat(p->in->path, &st) != 0)
    return fail("%s: %s", p->in->path, strerror(errno));
  STEP(kernels_hash(&v->kernels, &hash));
  const int64_t *m = p->opts->shape;
  snprintf(out, size,
           "image: %s %lld %lld.%09ld\nkernel: %016llx\noptions: %s\nmemory limit: %.0f\n"
           "output: %lld %lld %lld %lld %lld %s\nlibrary: %s\n",
           p->in->path, (long long)st.st_size, (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec,
           (unsigned long long)hash, p->words, v->limit, (long long)m[0], (long long)m[1], (long long)m[2],
           (long long)m[3], (long long)m[4], stack_type(w->to), kugel_version());
  return EXIT_DONE;
}

static int write_kept(const partial *kept, const stack *out, const box_work *w, double room)
{
  const int64_t *shape = out->info.shape, piece = out->info.chunk[2];
  int64_t slab = stack_slab(&out->info), plane = shape[3] * shape[4] * kept->voxel_bytes;
  while (room > 0 && slab > piece && (double)(slab * plane) > room) /* whole pieces */
    slab = slab / 2 < piece ? piece : slab / 2 / piece * piece;
  OWNED void *values = malloc((size_t)(slab * plane));
  if (!values)
    return fail("no memory for %lld planes of %s", (long long)slab, out->path);
  progress_hold("writing");
  for (int64_t v = 0; v < shape[0] * shape[1]; v++)
    for (int64_t z = 0; z < shape[2]; z += slab) {
      int64_t lo[3] = {z, 0, 0}, n[3] = {z + slab < shape[2] ? slab : shape[2] - z, shape[3], shape[4]};
      kugel_array box = {values, {KUGEL_CPU, 0}, 3, w->to, n, NULL, 0};
      int code = partial_get(kept, (v * shape[2] + z) * plane, values, (size_t)(n[0] * plane));
      if (code)
        return fail("%s: cannot read: %s", kept->path, strerror(code));
      LIB(kugel_image_write(out->image, v % shape[0], v / shape[0], lo, n, &box));
      if (interrupted())
        return fail_interrupted();
    }
  return EXIT_DONE;
}

static int run_kept(convolution *v, passage *p, box_work *w)
{
  STACK out = {0};
  PARTIAL kept = {.voxel_bytes = w->to.bits / 8};
  OWNED char *identity = malloc(12000);
  if (!identity)
    return fail("no memory for a description");
  STEP(describe(v, p, w, identity, 12000));
  double all = (double)p->opts->shape[0] * (double)p->opts->shape[1] * w->volume_bytes;
  STEP(partial_open(&kept, p->target, identity, all));
  if (kept.volumes || kept.boxes)
    fact("resumed", "after %lld volumes and %lld tiles of an earlier run", (long long)kept.volumes,
         (long long)kept.boxes);
  json_object("resumed");
  json_int("volumes", kept.volumes);
  json_int("tiles", kept.boxes);
  json_end();
  w->kept = &kept;
  run.keeps = true;
  STEP(run_volumes(v, p, w));
  STEP(stack_create(&out, p->target, p->opts));
  STEP(write_kept(&kept, &out, w, 0.15 * fmax(v->limit - BASE_MEMORY, 0))); /* half of what room_of leaves */
  STEP(stack_finish(&out));
  /* the output has its name before the parts go */
  LIB(kugel_files_end(1));
  LIB(kugel_files_begin());
  run.keeps = false;
  p->clipped += out.info.clipped;
  return partial_delete(&kept);
}

int convolution_run(convolution *v, passage *p)
{
  const int64_t *m = p->opts->shape + 2;
  box_work w = {.in = p->in,
                .from = stream_type(p->in->info.dtype),
                .to = stream_type(p->opts->dtype),
                .mode = v->not_finite};
  if (w.from.code == KUGEL_FLOAT && w.from.bits == 16) /* so that NaN is seen */
    w.from = KUGEL_F32;
  memcpy(w.m, m, sizeof w.m);
  w.volume_bytes = (double)m[0] * (double)m[1] * (double)m[2] * w.to.bits / 8;
  if (v->resume)
    return run_kept(v, p, &w);
  STACK out = {0};
  STEP(stack_create(&out, p->target, p->opts));
  w.out = &out;
  STEP(run_volumes(v, p, &w));
  STEP(stack_finish(&out));
  p->clipped += out.info.clipped;
  return EXIT_DONE;
}
