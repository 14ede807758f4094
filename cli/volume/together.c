/* SPDX-License-Identifier: BSD-3-Clause */
/* kugel convolve --ranks: each process reads its planes of the image, convolves them with all others on the CPU or its device, and those of the
 * results go into one Zarr. What a process finds wrong by itself is agreed on, so that all end, and one of them says it. */
#include <stdio.h>
#include <stdlib.h>
#include "common/ranks.h"
#include "common/report.h"
#include "common/session.h"
#include "volume/convolution.h"
#include "volume/finite.h"

typedef struct together {
  convolution *v;
  passage *p;
  kugel_comm *comm;
  kugel_image_opts *opts;
  kugel_volume *plan;
  kugel_volume_info info;
  char *planes, *results;
  kugel_dtype from, to;
  stack out;
} together;

static void together_close(together *w)
{
  stack_close(&w->out);
  kugel_volume_destroy(w->plan);
  free(w->planes);
  free(w->results);
}

/* Every rank has `code`, or the first rank's failure. */
static int agreed(const together *w, int code)
{
  kugel_comm_info c = {.size = sizeof c};
  int64_t all = code;
  LIB(kugel_comm_get_info(w->comm, &c));
  LIB(kugel_comm_reduce(w->comm, &all, 1, KUGEL_COMM_MAX));
  return !all || code ? code
         : c.rank == 0
             ? fail("another process cannot read %s, or has too little memory: see --ranks on it alone",
                    w->p->in->path)
             : (int)all;
}

static int plan_for(together *w, int64_t which)
{
  kernel *k = &w->v->kernels.of[which];
  kugel_volume_opts o = w->v->opts;
  o.comm = w->comm;
  o.centre = k->centre;
  kugel_volume_destroy(w->plan);
  w->plan = NULL;
  LIB(kugel_volume_create(run.ctx, 3, w->p->in->info.shape + 2, k->shape,
                          KUGEL_ARRAY(k->array.data, KUGEL_F64, k->shape[0], k->shape[1], k->shape[2]), &o,
                          &w->plan));
  w->info.size = sizeof w->info;
  LIB(kugel_volume_get_info(w->plan, &w->info));
  return EXIT_DONE;
}

static const char *name_of(kugel_volume_engine e)
{
  return e == KUGEL_VOLUME_TILES ? "tiles" : "global";
}

/* What the processes share of the first channel, and what the other plan would take. */
static int report_choice(const together *w, int64_t which, kugel_volume_info *info)
{
  const kernel *k = &w->v->kernels.of[which];
  kugel_volume_opts o = w->v->opts;
  kugel_volume_info other = {.size = sizeof other};
  char a[32], b[32], c[32], d[64] = "", more[100] = "";
  o.comm = w->comm;
  o.centre = k->centre;
  *info = (kugel_volume_info){.size = sizeof *info};
  LIB(kugel_volume_estimate(run.ctx, 3, w->p->in->info.shape + 2, k->shape, &o, info));
  const bool tiles = info->engine == KUGEL_VOLUME_TILES;
  const int64_t rows = tiles ? (info->results[0] + info->tile[0] - 1) / info->tile[0] : 0;
  o.engine = tiles ? KUGEL_VOLUME_GLOBAL : KUGEL_VOLUME_TILES;
  json_text("plan", name_of(info->engine));
  json_number("predicted_seconds", info->seconds);
  json_int("bytes_per_rank", (int64_t)info->host_bytes);
  if (run.ctx) {
    json_int("device_bytes_per_rank", (int64_t)info->device_bytes);
    snprintf(d, sizeof d, ", %s of each device", bytes_text((double)info->device_bytes, c, sizeof c));
  }
  if (tiles) {
    json_int("rows", rows);
    snprintf(more, sizeof more, " of %lld row%s of %lld planes", (long long)rows, rows == 1 ? "" : "s",
             (long long)info->tile[0]);
  }
  fact("plan", "%s%s: %s per volume predicted, %s per process beside its planes%s", name_of(info->engine),
       more, seconds_text(info->seconds, a, sizeof a), bytes_text((double)info->host_bytes, b, sizeof b), d);
  if (kugel_volume_estimate(run.ctx, 3, w->p->in->info.shape + 2, k->shape, &o, &other))
    return EXIT_DONE;
  json_number(tiles ? "global_seconds" : "tiles_seconds", other.seconds);
  if (other.seconds < 0.8 * info->seconds)
    fact("", "--plan %s is predicted to take %s; results differ by rounding", name_of(other.engine),
         seconds_text(other.seconds, c, sizeof c));
  return EXIT_DONE;
}

static int make_room(together *w)
{
  const int64_t *n = w->p->in->info.shape + 2, *m = w->info.results;
  size_t x = (size_t)(w->info.image_count * n[1] * n[2]) * w->from.bits / 8,
         y = (size_t)(w->info.results_count * m[1] * m[2]) * w->to.bits / 8;
  free(w->planes);
  free(w->results);
  w->planes = malloc(x + 1);
  w->results = malloc(y + 1);
  return w->planes && w->results ? EXIT_DONE
                                 : fail("no memory for %zu bytes of planes: use more processes", x + y);
}

static int read_planes(together *w, int64_t t, int64_t channel)
{
  const int64_t *shape = w->p->in->info.shape + 2;
  int64_t lo[3] = {w->info.image_first, 0, 0}, n[3] = {w->info.image_count, shape[1], shape[2]};
  if (!n[0])
    return EXIT_DONE;
  LIB(kugel_image_read(w->p->in->image, t, channel, lo, n,
                       KUGEL_ARRAY(w->planes, w->from, n[0], n[1], n[2])));
  finite_box f = {.path = w->p->in->path, .type = w->from, .mode = w->v->not_finite};
  if (finite_check(&f, lo, n, w->planes))
    return fail("%s", f.text);
  w->p->not_finite += f.count;
  return EXIT_DONE;
}

static int convolve_volume(together *w, int64_t t, int64_t c)
{
  const int64_t *n = w->p->in->info.shape + 2, *m = w->info.results;
  int64_t lo[3] = {w->info.results_first, 0, 0}, own[3] = {w->info.results_count, m[1], m[2]}, clipped = 0;
  STEP(agreed(w, read_planes(w, t, w->p->first + c)));
  kugel_array *y = KUGEL_ARRAY(w->results, w->to, own[0], own[1], own[2]);
  LIB(kugel_volume_execute(w->plan, KUGEL_ARRAY(w->planes, w->from, w->info.image_count, n[1], n[2]), y,
                           &clipped, NULL));
  w->p->clipped += clipped;
  LIB(kugel_image_write(w->out.image, t, c, lo, own, y));
  return agreed(w, interrupted() ? fail_interrupted() : EXIT_DONE);
}

static int convolve_channel(together *w, int64_t c)
{
  int64_t which, times = w->opts->shape[0], channels = w->opts->shape[1];
  STEP(agreed(w, kernels_choose(&w->v->kernels, w->p->in, w->p->first + c, &which)));
  STEP(plan_for(w, which));
  STEP(agreed(w, make_room(w)));
  for (int i = 0; i < 3 && !w->out.image; i++)
    w->opts->shape[2 + i] = w->info.results[i];
  if (!w->out.image)
    STEP(stack_create(&w->out, w->p->target, w->opts));
  for (int64_t t = 0; t < times; t++) {
    double part = (double)(c * times + t) / (double)(channels * times);
    progress_part(part, part + 1 / (double)(channels * times), "convolution");
    STEP(convolve_volume(w, t, c));
  }
  return EXIT_DONE;
}

int convolution_together(convolution *v, passage *p, kugel_image_opts *opts, int code)
{
  __attribute__((cleanup(together_close))) together w = {.v = v, .p = p, .opts = opts};
  char line[256];
  STEP(ranks_together(&w.comm));
  STEP(agreed(&w, code));
  LIB(kugel_comm_describe(w.comm, line, sizeof line));
  fact("ranks", "%s", line);
  json_text("ranks_are", line);
  w.from = stream_type(p->in->info.dtype);
  w.to = stream_type(opts->dtype);
  if (w.from.code == KUGEL_FLOAT && w.from.bits == 16) /* so that NaN is seen */
    w.from = KUGEL_F32;
  opts->comm = w.comm;
  int64_t which;
  kugel_volume_info info;
  STEP(agreed(&w, kernels_choose(&v->kernels, p->in, p->first, &which)));
  STEP(agreed(&w, report_choice(&w, which, &info)));
  if (run.dry_run) {
    const int64_t *n = p->in->info.shape + 2, *m = info.results;
    kugel_comm_info ranks = {.size = sizeof ranks};
    LIB(kugel_comm_get_info(w.comm, &ranks));
    double planes =
        (double)(n[0] * n[1] * n[2]) * w.from.bits / 8 + (double)(m[0] * m[1] * m[2]) * w.to.bits / 8;
    return report_plan((double)info.host_bytes + planes / ranks.ranks + BASE_MEMORY,
                       info.seconds * (double)(opts->shape[0] * opts->shape[1]));
  }
  for (int64_t c = 0; c < opts->shape[1]; c++)
    STEP(convolve_channel(&w, c));
  STEP(stack_finish(&w.out));
  int64_t sums[2] = {w.out.info.clipped, p->not_finite};
  LIB(kugel_comm_reduce(w.comm, sums, 2, KUGEL_COMM_SUM));
  p->clipped += sums[0];
  p->not_finite = sums[1];
  if (p->clipped)
    fact("clipped", "%lld values do not fit %s: they are saturated", (long long)p->clipped,
         stack_type(opts->dtype));
  json_int("clipped", p->clipped);
  json_int("not_finite", p->not_finite);
  return EXIT_DONE;
}
