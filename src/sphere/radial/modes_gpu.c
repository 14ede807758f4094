/* SPDX-License-Identifier: BSD-3-Clause */
/* Radial convolution in Fourier space on a device. */
#include "sphere/radial/modes_gpu.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "codegen/module.h"
#include "core/alloc.h"
#include "core/array.h"
#include "fft/rings/gpu.h"
#include "sphere/grid/grid.h"

enum { LANES = KUGEL__SPECTRA_LANES, STRETCH = 4096, MOST_SAMPLES = 14 };
static const int64_t most_weights = (int64_t)1 << 30; /* doubles */

/* As in kernels/spectra.cl. */
typedef struct gpu_row {
  int32_t samples, modes, half, shifted;
} gpu_row;

typedef struct gpu_group {
  int64_t weights;
  int32_t first, lo, count, chunks, modes, pad;
} gpu_group;

typedef struct gpu_stretch {
  double weight;
  int64_t first;
  int32_t count, pad;
} gpu_stretch;

typedef struct spectra_args {
  int64_t row;
  int32_t nrings, npairs, mirrored, staggered, mmax, pad;
} spectra_args;

typedef struct ends_args {
  double least;
  int64_t in, out;
  int32_t mask, adjoint, divide, pad;
} ends_args;

enum { TAKE, FINISH, SCALE, LEVEL, SPECTRA, KERNELS }; /* spectra are in float64 always */

struct kugel__radial_modes {
  kugel__device *device;
  kugel__module *module[2]; /* float64, float32 */
  kugel__kernel *kernel[2][KERNELS];
  int64_t stretches;
  kugel__mem stretch, map;                        /* map: [npix] doubles */
  kugel__mem alm, b;                              /* harmonic */
  kugel__mem row, group, weight, work, leg[2], w; /* spectra; w: the rings' weights */
  kugel__rings_gpu *in, *out;
  int64_t groups, samples, per, leg_row;
  size_t leg_bytes, work_bytes;
};

static kugel_status upload(kugel__radial_modes *g, kugel__mem *to, const void *from, int64_t bytes)
{
  KUGEL_TRY(kugel__device_alloc(g->device, (size_t)kugel__max(bytes, 64), &to->base));
  return kugel__device_copy(g->device, KUGEL__UPLOAD, *to, (kugel__mem){(void *)from, 0}, (size_t)bytes,
                            NULL);
}

static kugel_status make_stretches(const kugel_radial *p, kugel__radial_modes *g)
{
  for (int64_t i = 0; i < p->nrings; i++)
    g->stretches += (p->ring[i].nphi + STRETCH - 1) / STRETCH;
  gpu_stretch *all;
  KUGEL_ALLOC(p->ctx, all, (size_t)g->stretches * sizeof *all);
  int64_t n = 0;
  for (int64_t i = 0; i < p->nrings; i++)
    for (int64_t k = 0; k < p->ring[i].nphi; k += STRETCH)
      all[n++] = (gpu_stretch){p->ring[i].weight, p->ring[i].first + k,
                               (int32_t)kugel__min(STRETCH, p->ring[i].nphi - k), 0};
  kugel_status s = upload(g, &g->stretch, all, n * (int64_t)sizeof *all);
  kugel__free(p->ctx, all);
  return s;
}

/* ---- spectra ---- */

static int64_t chunks_of(const kugel__radial_modes *g, int64_t samples)
{
  return kugel__max(1, (samples + g->samples - 1) / g->samples);
}

/* Rings, samples and modes of each eight pairs; returns the number of weights. Samples a thread holds: what
 * the equator needs. */
static int64_t measure(const kugel_radial *p, kugel__radial_modes *g, gpu_group *group)
{
  const kugel__radial_spectra *t = p->spectra;
  int64_t total = 0, n, lo, hi;
  g->samples = kugel__max(4, kugel__min(MOST_SAMPLES, kugel__round_up(t->equator, 2)));
  g->per = 2;
  for (int64_t i = 0; i < g->groups; i++) {
    int64_t samples = 0, modes = -1;
    kugel__spectra_reach(p, i * LANES, &lo, &hi);
    for (int64_t d = lo; d < hi; d++) {
      kugel__spectra_span_of(p, i * LANES, d, &n);
      samples = kugel__max(samples, n);
    }
    for (int64_t k = i * LANES; k < kugel__min((i + 1) * LANES, t->npairs); k++)
      modes = kugel__max(modes, t->row[k].modes);
    group[i] = (gpu_group){.weights = total,
                           .first = (int32_t)(i * LANES),
                           .lo = (int32_t)lo,
                           .count = (int32_t)(hi - lo),
                           .chunks = (int32_t)chunks_of(g, samples),
                           .modes = (int32_t)modes};
    total += (hi - lo) * group[i].chunks * g->samples * LANES;
  }
  return total;
}

static kugel_status make_weights(const kugel_radial *p, kugel__radial_modes *g, const gpu_group *group,
                                 int64_t total)
{
  double *all = kugel__calloc(p->ctx, (size_t)total * 8);
  KUGEL_CHECK(all, KUGEL_ENOMEM, "no memory for %lld weights", (long long)total);
  for (int64_t i = 0; i < g->groups; i++)
    for (int64_t d = 0; d < group[i].count; d++) {
      int64_t n, room = group[i].chunks * g->samples;
      kugel__spectra_span span = kugel__spectra_span_of(p, i * LANES, group[i].lo + d, &n);
      kugel__spectra_ops_now()->weights(&p->poly, &span, n, all + group[i].weights + d * room * LANES);
    }
  kugel_status s = upload(g, &g->weight, all, total * 8);
  kugel__free(p->ctx, all);
  return s;
}

static kugel_status make_rows(const kugel_radial *p, kugel__radial_modes *g)
{
  const kugel__radial_spectra *t = p->spectra;
  gpu_row *row;
  KUGEL_ALLOC(p->ctx, row, (size_t)(g->groups * LANES) * (sizeof *row + 16));
  double *w = (double *)(row + g->groups * LANES);
  for (int64_t i = 0; i < g->groups * LANES; i++) {
    const kugel__radial_ring *r = p->ring + i, *m = p->ring + p->nrings - 1 - i;
    row[i] = (gpu_row){2, -1, -1, 0};
    w[2 * i] = w[2 * i + 1] = 0;
    if (i >= t->npairs)
      continue;
    const kugel__spectra_row *from = t->row + i;
    row[i] = (gpu_row){(int32_t)from->samples, (int32_t)from->modes, (int32_t)from->half,
                       from->aliased && t->staggered};
    w[2 * i] = r->weight;
    w[2 * i + 1] = p->mirrored ? m->weight : 0;
  }
  kugel_status s = upload(g, &g->row, row, g->groups * LANES * (int64_t)sizeof *row);
  if (!s)
    s = upload(g, &g->w, w, g->groups * LANES * 16);
  kugel__free(p->ctx, row);
  return s;
}

static kugel_status make_rings(const kugel_radial *p, kugel__radial_modes *g)
{
  kugel__rings_desc desc[2];
  int64_t *block;
  KUGEL_ALLOC(p->ctx, block, (size_t)p->spectra->npairs * 64);
  kugel__radial_spectra_rings(p, block, desc);
  kugel_status s = kugel__rings_gpu_create(p->ctx, &desc[0], &g->in);
  if (!s)
    s = kugel__rings_gpu_create(p->ctx, &desc[1], &g->out);
  kugel__free(p->ctx, block);
  return s;
}

static kugel_status make_spectra(kugel_radial *p, kugel__radial_modes *g, gpu_group *group, int64_t total)
{
  const kugel__radial_spectra *t = p->spectra;
  KUGEL_TRY(upload(g, &g->group, group, g->groups * (int64_t)sizeof *group));
  KUGEL_TRY(make_weights(p, g, group, total));
  KUGEL_TRY(make_rows(p, g));
  KUGEL_TRY(make_rings(p, g));
  g->leg_row = kugel__round_up(t->npairs, LANES);
  g->leg_bytes = (size_t)((t->mmax + 1) * g->leg_row) * 32;
  g->work_bytes = kugel__max(kugel__rings_gpu_work(g->in), kugel__rings_gpu_work(g->out));
  return KUGEL_OK;
}

static kugel_status plan_spectra(kugel_radial *p, kugel__radial_modes *g, bool *fits)
{
  gpu_group *group;
  g->groups = (p->spectra->npairs + LANES - 1) / LANES;
  KUGEL_ALLOC(p->ctx, group, (size_t)g->groups * sizeof *group);
  int64_t total = measure(p, g, group);
  *fits = total <= most_weights && p->spectra->mmax < INT32_MAX / 64 && g->groups < 1 << 30;
  kugel_status s = *fits ? make_spectra(p, g, group, total) : KUGEL_OK;
  kugel__free(p->ctx, group);
  return s;
}

/* ---- harmonics ---- */

static kugel_status make_harmonics(const kugel_radial *p, kugel__radial_modes *g)
{
  int64_t lmax = p->opts.lmax;
  KUGEL_TRY(upload(g, &g->b, p->b, (lmax + 1) * 8));
  return kugel__device_alloc(g->device, (size_t)((lmax + 1) * (lmax + 2) / 2) * 16, &g->alm.base);
}

static kugel_status take(kugel__radial_modes *g, const kugel__radial_pass *t, kugel_queue *queue)
{
  ends_args a = {.in = t->in_at, .mask = t->mask + t->ones, .adjoint = t->adjoint, .least = t->least};
  kugel__grid grid = {.blocks = {(uint32_t)g->stretches}, .threads = {256}};
  kugel__arg args[] = {KUGEL__MEM_ARG(g->stretch), KUGEL__MEM_ARG(t->in), KUGEL__MEM_ARG(g->map),
                       KUGEL__VALUE_ARG(a)};
  KUGEL_TRY(kugel__launch(g->device, g->kernel[t->f32][TAKE], &grid, 4, args, queue));
  if (!t->level || !t->adjoint)
    return KUGEL_OK;
  args[1] = KUGEL__MEM_ARG(t->seen);
  return kugel__launch(g->device, g->kernel[t->f32][LEVEL], &grid, 4, args, queue);
}

/* `shape` must outlive the view. */
static kugel_array view_of(const kugel__radial_modes *g, void *base, kugel_dtype type, const int64_t *shape)
{
  kugel_array a = *KUGEL_ARRAY(base, type, *shape);
  a.shape = (int64_t *)shape;
  a.device = (kugel_device){g->device->ops->type, g->device->id};
  return a;
}

static int64_t count_of(const kugel_radial *p)
{
  return (p->opts.lmax + 1) * (p->opts.lmax + 2) / 2;
}

kugel_status kugel__radial_modes_analyse(const kugel_radial *p, kugel__radial_modes *g,
                                         const kugel__radial_pass *t, kugel_queue *queue)
{
  int64_t nalm = count_of(p), npix = p->grid->npix;
  kugel_array map = view_of(g, g->map.base, KUGEL_F64, &npix),
              alm = view_of(g, g->alm.base, KUGEL_C128, &nalm);
  KUGEL_TRY(take(g, t, queue));
  return kugel_sht_synthesis_adjoint(p->sht, &map, &alm, queue);
}

kugel_status kugel__radial_modes_synthesise(const kugel_radial *p, kugel__radial_modes *g,
                                            const kugel_radial *top, const kugel__radial_modes *from,
                                            const kugel__radial_pass *t, kugel_queue *queue)
{
  int64_t lmax = p->opts.lmax, most = top->opts.lmax, nalm = count_of(p), npix = p->grid->npix;
  kugel_array alm = view_of(g, g->alm.base, KUGEL_C128, &nalm),
              out = view_of(g, t->mask ? t->seen.base : t->out.base, t->f32 ? KUGEL_F32 : KUGEL_F64, &npix);
  out.byte_offset = t->mask ? 0 : (uint64_t)t->out_at * (t->f32 ? 4 : 8);
  kugel__arg args[] = {KUGEL__MEM_ARG(from->alm), KUGEL__VALUE_ARG(most), KUGEL__MEM_ARG(g->alm),
                       KUGEL__MEM_ARG(g->b), KUGEL__VALUE_ARG(lmax)};
  kugel__grid grid = {.blocks = {(uint32_t)(lmax + 1)}, .threads = {256}};
  KUGEL_TRY(kugel__launch(g->device, g->kernel[t->f32][SCALE], &grid, 5, args, queue));
  return kugel_sht_synthesis(p->sht, &alm, &out, queue);
}

/* ---- both ---- */

static kugel_status load_kernels(const kugel_radial *p, kugel__radial_modes *g)
{
  static const char *const names[KERNELS] = {"take", "finish", "scale", "level", "spectra"};
  for (int f32 = 0; f32 < 2; f32++) {
    char defines[96];
    snprintf(defines, sizeof defines, "#define REAL_BITS %d\n#define SAMPLES %d\n#define PER %d\n",
             f32 ? 32 : 64, g->samples ? (int)g->samples : 8, g->per ? (int)g->per : 4);
    kugel__module_spec spec = {.name = "sphere/radial/spectra", .defines = defines};
    KUGEL_TRY(kugel__module_get(p->ctx, &spec, &g->module[f32]));
    for (int k = 0; k < (f32 ? SPECTRA : KERNELS); k++)
      KUGEL_TRY(kugel__module_kernel(g->module[f32], names[k], &g->kernel[f32][k], NULL));
  }
  return KUGEL_OK;
}

kugel_status kugel__radial_modes_create(kugel_radial *p, kugel__device *device, kugel__radial_modes **out)
{
  kugel__radial_modes *g = kugel__calloc(p->ctx, sizeof *g);
  bool fits = true;
  *out = g;
  KUGEL_CHECK(g, KUGEL_ENOMEM, "no memory for a plan");
  g->device = device;
  if (p->info.method == KUGEL_RADIAL_HARMONIC)
    KUGEL_TRY(make_harmonics(p, g));
  else
    KUGEL_TRY(plan_spectra(p, g, &fits));
  if (!fits) {
    kugel__radial_modes_destroy(p, g);
    *out = NULL;
    return KUGEL_OK;
  }
  KUGEL_TRY(make_stretches(p, g));
  return load_kernels(p, g);
}

kugel_status kugel__radial_modes_hold(const kugel_radial *p, kugel__radial_modes *g)
{
  KUGEL_TRY(kugel__device_alloc(g->device, (size_t)p->grid->npix * 8, &g->map.base));
  if (!g->leg_bytes)
    return KUGEL_OK;
  KUGEL_TRY(kugel__device_alloc(g->device, g->work_bytes, &g->work.base));
  for (int i = 0; i < 2; i++)
    KUGEL_TRY(kugel__device_alloc(g->device, g->leg_bytes, &g->leg[i].base));
  /* Coefficients that no ring has stay zero from now on. */
  return kugel__device_fill(g->device, g->leg[0], 0, g->leg_bytes, NULL);
}

void kugel__radial_modes_release(kugel__radial_modes *g)
{
  kugel__mem *all[] = {&g->map, &g->work, &g->leg[0], &g->leg[1]};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    kugel__device_free(g->device, all[i]->base);
    all[i]->base = NULL;
  }
}

void kugel__radial_modes_destroy(kugel_radial *p, kugel__radial_modes *g)
{
  if (!g)
    return;
  void *all[] = {g->stretch.base, g->map.base,  g->alm.base,    g->b.base,      g->row.base, g->group.base,
                 g->weight.base,  g->work.base, g->leg[0].base, g->leg[1].base, g->w.base};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    kugel__device_free(g->device, all[i]);
  kugel__rings_gpu_destroy(g->in);
  kugel__rings_gpu_destroy(g->out);
  for (int k = 0; k < 2; k++)
    kugel__module_put(g->module[k]);
  kugel__free(p->ctx, g);
}

/* Whether the spectra are those of a changed copy of the map. */
static bool taken(const kugel__radial_pass *t)
{
  return t->mask || (t->level && t->adjoint);
}

static kugel_status spectra(const kugel_radial *p, kugel__radial_modes *g, const kugel__radial_pass *t,
                            kugel_queue *queue)
{
  const kugel__radial_spectra *s = p->spectra;
  kugel__rings_gpu_job job = {.leg = g->leg[0], .map = t->in, .work = g->work, .row = g->leg_row, .maps = 1};
  job.map_at = t->in_at;
  job.f32 = t->f32;
  job.check = 1;
  if (!t->adjoint)
    job.weight = g->w;
  if (taken(t)) {
    job.map = g->map;
    job.map_at = 0;
    job.f32 = false;
    job.weight = (kugel__mem){0};
  }
  KUGEL_TRY(kugel__rings_gpu_adjoint(g->in, &job, queue));
  spectra_args a = {.row = g->leg_row,
                    .nrings = (int32_t)p->nrings,
                    .npairs = (int32_t)s->npairs,
                    .mirrored = (int32_t)p->mirrored,
                    .staggered = s->staggered,
                    .mmax = (int32_t)s->mmax};
  kugel__arg args[] = {KUGEL__MEM_ARG(g->group),  KUGEL__MEM_ARG(g->row),    KUGEL__MEM_ARG(g->weight),
                       KUGEL__MEM_ARG(g->leg[0]), KUGEL__MEM_ARG(g->leg[1]), KUGEL__VALUE_ARG(a)};
  int64_t tile = 16 * g->per;
  kugel__grid grid = {.blocks = {(uint32_t)g->groups, (uint32_t)((s->mmax + tile) / tile)}, .threads = {128}};
  KUGEL_TRY(kugel__launch(g->device, g->kernel[0][SPECTRA], &grid, 6, args, queue));
  job =
      (kugel__rings_gpu_job){.leg = g->leg[1], .map = t->out, .work = g->work, .row = g->leg_row, .maps = 1};
  job.map_at = t->out_at;
  job.f32 = t->f32;
  if (t->adjoint)
    job.weight = g->w;
  if (t->mask) {
    job.map = t->seen;
    job.map_at = 0;
  }
  return kugel__rings_gpu_synth(g->out, &job, queue);
}

kugel_status kugel__radial_modes_sum(const kugel_radial *p, kugel__radial_modes *g,
                                     const kugel__radial_pass *t, kugel_queue *queue)
{
  if (p->info.method == KUGEL_RADIAL_HARMONIC) {
    KUGEL_TRY(kugel__radial_modes_analyse(p, g, t, queue));
    return kugel__radial_modes_synthesise(p, g, p, g, t, queue);
  }
  if (taken(t))
    KUGEL_TRY(take(g, t, queue));
  return spectra(p, g, t, queue);
}

kugel_status kugel__radial_modes_finish(const kugel_radial *p, kugel__radial_modes *g,
                                        const kugel__radial_pass *t, bool divide, kugel_queue *queue)
{
  ends_args a = {.least = t->least, .in = t->in_at, .out = t->out_at};
  a.divide = !divide ? 0 : t->level ? 2 : 1;
  a.adjoint = t->adjoint && p->info.method == KUGEL_RADIAL_HARMONIC; /* others have done this */
  kugel__mem seen = t->seen.base ? t->seen : g->stretch;
  kugel__arg args[] = {KUGEL__MEM_ARG(g->stretch), KUGEL__MEM_ARG(t->in), KUGEL__MEM_ARG(t->out),
                       KUGEL__MEM_ARG(seen), KUGEL__VALUE_ARG(a)};
  kugel__grid grid = {.blocks = {(uint32_t)g->stretches}, .threads = {256}};
  return kugel__launch(g->device, g->kernel[t->f32][FINISH], &grid, 5, args, queue);
}
