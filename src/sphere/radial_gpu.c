/* SPDX-License-Identifier: BSD-3-Clause */
/* The direct sum on a device: tables of rings and of pairs of rings, and three launches a map. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include "codegen/module.h"
#include "core/alloc.h"
#include "core/array.h"
#include "core/ctx.h"
#include "device/lend.h"
#include "sphere/grid.h"
#include "sphere/radial_gpu.h"
#include "sphere/radial_modes_gpu.h"

enum { LANES = KUGEL__RADIAL_LANES, MAX_SPANS = 1 << 25, FILL_TILE = 128, TILE = 128, RINGS_A_BLOCK = 4 };
enum { MAX_DEGREE = 30 };

/* As in kernels/radial.cl. */
typedef struct gpu_ring {
  double weight;
  int64_t first, mirror, slot, spans;
  int32_t nphi, segment, reach, count, turn, kind;
} gpu_ring;

typedef struct gpu_span {
  double a, b, dphi, from, ratio, nq, unit, step;
  int64_t slot, weights;
  int32_t width, start, back, steps, from_term, pad;
} gpu_span;

typedef struct gpu_args {
  double cut, scale, least;
  int64_t in, out;
  int32_t intervals, degree, chord, segments, mirrored, reflected, adjoint, mask, first, outputs, pad;
  double one[MAX_DEGREE + 1];
} gpu_args;

enum { FILL, BELT, CAPS, KINDS, NORMALISE = KINDS, KERNELS };
enum { RINGS, SPANS, WEIGHTS, WEIGHTS32, COEF, UNITS, TABLES };

struct kugel__radial_gpu {
  kugel__device *device;
  kugel__radial_modes *modes; /* spectra or harmonics; NULL: sums only */
  bool sums;                  /* over pairs of pixels, of some rings at least */
  pthread_mutex_t lock;
  kugel__module *module[2]; /* float64, float32 */
  kugel__kernel *kernel[2][KERNELS];
  kugel__mem table[TABLES], lanes, seen;
  int64_t units[KINDS], first_unit[KINDS];
  gpu_args args;
  int64_t margin; /* positions before and after the lanes that may be read, and count as nothing */
  bool covered;   /* every pixel is in a ring */
};

/* Tables while they are made. */
typedef struct build {
  gpu_ring *ring;
  gpu_span *span;
  double *weight;
  int32_t *unit;
  int64_t spans, weights, units;
} build;

static void build_free(const kugel_radial *p, build *b)
{
  kugel__free(p->ctx, b->ring);
  kugel__free(p->ctx, b->span);
  kugel__free(p->ctx, b->weight);
  kugel__free(p->ctx, b->unit);
}

static bool of_kind(const kugel_radial *p, int kind, int64_t r)
{
  if (kind == FILL)
    return p->ring[r].reach > 0;
  if (r >= kugel__radial_outputs(p) || (p->spectra && p->spectra->row[r].modes >= 0))
    return false;
  return p->ring[r].same == (kind == BELT);
}

/* How often to start a block of `kind` for the rings from r on, and where the positions begin and step. */
static int64_t blocks_of(const kugel_radial *p, int kind, int64_t r, int64_t *begin, int64_t *step)
{
  bool cuda = p->gpu->device->ops->type == KUGEL_CUDA;
  int64_t end = 0, rings = kind == BELT ? RINGS_A_BLOCK : 1;
  *begin = kind == FILL ? -p->ring[r].reach : 0;
  *step = kind == CAPS ? (cuda ? 32 : 8) : kind == FILL ? FILL_TILE : TILE;
  if (r % rings)
    return 0;
  for (int64_t k = r; k < kugel__min(r + rings, p->nrings); k++) {
    const kugel__radial_ring *q = p->ring + k;
    if (!of_kind(p, kind, k))
      continue;
    int64_t count = kind == CAPS && p->reflected ? (q->segment + q->turn) / 2 + 1 : q->segment;
    end = kugel__max(end, kind == FILL ? q->segment + q->reach : count);
  }
  return end ? (end - *begin + *step - 1) / *step : 0;
}

static void add_spans(const kugel_radial *p, build *b, int64_t i)
{
  const kugel__radial_ring *r = p->ring + i;
  const kugel__radial_ops *ops = kugel__radial_ops_now();
  gpu_ring *to = b->ring + i;
  to->spans = b->spans;
  for (int64_t k = r->lo; k < r->hi && to->kind != FILL; k++) {
    const kugel__radial_ring *q = p->ring + k;
    kugel__radial_span t = kugel__radial_span_of(p, r, q);
    if (!t.width)
      continue;
    gpu_span *s = b->span + b->spans++;
    *s = (gpu_span){.a = t.a, .b = t.b, .dphi = t.dphi, .from = t.shift - t.half};
    s->ratio = t.nq / t.nr;
    s->nq = t.nq;
    s->unit = t.unit;
    s->step = t.step;
    s->slot = p->gpu->margin + q->slot / LANES + q->reach;
    s->width = (int32_t)t.width;
    s->start = (int32_t)ceil(t.shift - t.half);
    s->back = (int32_t)(q->segment + q->turn);
    s->steps = (int32_t)((t.width + (int64_t)ceil(7 * s->ratio) + 3) / 4);
    s->from_term = kugel__radial_terms_from((t.half + 3) * t.step);
    to->count++;
    if (!r->same)
      continue;
    double *w = b->weight + b->weights;
    s->weights = b->weights;
    s->width = (int32_t)kugel__round_up(t.width, 4);
    b->weights += kugel__round_up(t.width, LANES);
    ops->keys(t.a, t.b, s->start * t.step + t.dphi, t.step, t.width, w);
    for (int64_t e = t.width; e < kugel__round_up(t.width, LANES); e++)
      w[e] = INFINITY;
    ops->values(&p->poly, kugel__round_up(t.width, LANES), w);
  }
}

/* Upper bounds of the tables' lengths; false if they are too long. */
static bool measure(const kugel_radial *p, build *b)
{
  int64_t begin, step;
  for (int64_t i = 0; i < p->nrings; i++) {
    const kugel__radial_ring *r = p->ring + i;
    b->spans += r->hi - r->lo;
    if (b->spans > MAX_SPANS || r->nphi >= INT32_MAX / 4)
      return false;
    for (int64_t k = r->lo; k < r->hi && of_kind(p, BELT, i); k++)
      b->weights += kugel__round_up(kugel__radial_span_of(p, r, p->ring + k).width, LANES) + LANES;
    for (int kind = 0; kind < KINDS; kind++)
      b->units += blocks_of(p, kind, i, &begin, &step);
  }
  return b->weights < (int64_t)1 << 27 && b->units < INT32_MAX;
}

/* What eight positions of a ring may read beyond the reach of another, and a block of the belt beyond its
 * end. */
static int64_t margin_of(const kugel_radial *p)
{
  double ratio = 1;
  for (int64_t i = 0; i < p->nrings; i++)
    for (int64_t k = p->ring[i].lo; k < p->ring[i].hi; k++)
      ratio = fmax(ratio, (double)p->ring[k].nphi / (double)p->ring[i].nphi);
  return (int64_t)(8 * ratio) + TILE + 16; /* eight positions of four pixels each */
}

static kugel_status make_tables(const kugel_radial *p, kugel__radial_gpu *g, build *b)
{
  KUGEL_ALLOC(p->ctx, b->ring, (size_t)p->nrings * sizeof *b->ring);
  KUGEL_ALLOC(p->ctx, b->span, (size_t)(b->spans + 1) * sizeof *b->span);
  KUGEL_ALLOC(p->ctx, b->weight, (size_t)(b->weights + LANES) * 8);
  KUGEL_ALLOC(p->ctx, b->unit, (size_t)(b->units + 1) * 8);
  b->spans = b->weights = b->units = 0;
  for (int64_t i = 0; i < p->nrings; i++) {
    const kugel__radial_ring *r = p->ring + i, *m = p->ring + p->nrings - 1 - i;
    b->ring[i] = (gpu_ring){.weight = r->weight,
                            .first = r->first,
                            .mirror = p->mirrored ? m->first : -1,
                            .slot = g->margin + r->slot / LANES + r->reach,
                            .nphi = (int32_t)r->nphi,
                            .segment = (int32_t)r->segment,
                            .reach = (int32_t)r->reach,
                            .turn = (int32_t)r->turn,
                            .kind = of_kind(p, BELT, i)   ? BELT
                                    : of_kind(p, CAPS, i) ? CAPS
                                                          : FILL};
    add_spans(p, b, i);
  }
  for (int kind = 0; kind < KINDS; kind++) {
    g->first_unit[kind] = b->units;
    for (int64_t i = 0; i < p->nrings; i++) {
      int64_t begin, step, n = blocks_of(p, kind, i, &begin, &step);
      for (int64_t k = 0; k < n; k++) {
        b->unit[2 * b->units] = (int32_t)i;
        b->unit[2 * b->units++ + 1] = (int32_t)(begin + k * step);
      }
    }
    g->units[kind] = b->units - g->first_unit[kind];
  }
  return KUGEL_OK;
}

static kugel_status upload(kugel__radial_gpu *g, int table, const void *from, int64_t bytes)
{
  KUGEL_TRY(kugel__device_alloc(g->device, (size_t)kugel__max(bytes, 64), &g->table[table].base));
  return bytes ? kugel__device_copy(g->device, KUGEL__UPLOAD, g->table[table], (kugel__mem){(void *)from, 0},
                                    (size_t)bytes, NULL)
               : KUGEL_OK;
}

static kugel_status upload_all(const kugel_radial *p, kugel__radial_gpu *g, const build *b)
{
  const kugel__radial_poly *q = &p->poly;
  KUGEL_TRY(upload(g, RINGS, b->ring, p->nrings * (int64_t)sizeof *b->ring));
  KUGEL_TRY(upload(g, SPANS, b->span, b->spans * (int64_t)sizeof *b->span));
  KUGEL_TRY(upload(g, WEIGHTS, b->weight, b->weights * 8));
  float *single;
  KUGEL_ALLOC(p->ctx, single, (size_t)(b->weights + 1) * 4);
  for (int64_t i = 0; i < b->weights; i++)
    single[i] = (float)b->weight[i];
  kugel_status narrow = upload(g, WEIGHTS32, single, b->weights * 4);
  kugel__free(p->ctx, single);
  KUGEL_TRY(narrow);
  KUGEL_TRY(upload(g, COEF, q->coef, q->intervals * (q->degree + 1) * 8));
  KUGEL_TRY(upload(g, UNITS, b->unit, b->units * 8));
  size_t bytes = (size_t)(p->scratch + 2 * g->margin * LANES) * 8;
  KUGEL_TRY(kugel__device_alloc(g->device, bytes, &g->lanes.base));
  KUGEL_TRY(kugel__device_fill(g->device, g->lanes, 0, bytes, NULL));
  g->args = (gpu_args){.cut = q->cut,
                       .scale = q->scale,
                       .intervals = (int32_t)q->intervals,
                       .degree = (int32_t)q->degree,
                       .chord = q->chord,
                       .segments = (int32_t)p->segments,
                       .mirrored = (int32_t)p->mirrored,
                       .reflected = p->reflected,
                       .outputs = (int32_t)kugel__radial_outputs(p)};
  if (q->intervals == 1)
    memcpy(g->args.one, q->coef, (size_t)(q->degree + 1) * 8);
  return KUGEL_OK;
}

static kugel_status load_kernels(const kugel_radial *p, kugel__radial_gpu *g)
{
  static const char *const names[KERNELS] = {"fill", "belt", "caps", "normalise"};
  for (int f32 = 0; f32 < 2; f32++) {
    char defines[64];
    bool one = p->poly.intervals == 1 && !p->poly.chord;
    snprintf(defines, sizeof defines, "#define REAL_BITS %d\n#define DEGREE %d\n", f32 ? 32 : 64,
             one ? (int)p->poly.degree : 0);
    kugel__module_spec spec = {.name = "sphere/radial", .defines = defines};
    KUGEL_TRY(kugel__module_get(p->ctx, &spec, &g->module[f32]));
    for (int k = 0; k < KERNELS; k++)
      KUGEL_TRY(kugel__module_kernel(g->module[f32], names[k], &g->kernel[f32][k], NULL));
  }
  return KUGEL_OK;
}

static kugel_status make_sums(kugel_radial *p, bool *fits)
{
  kugel__radial_gpu *g = p->gpu;
  build b = {0};
  g->sums = true;
  g->margin = margin_of(p);
  *fits = measure(p, &b);
  if (!*fits)
    return KUGEL_OK;
  kugel_status s = make_tables(p, g, &b);
  if (!s)
    s = upload_all(p, g, &b);
  build_free(p, &b);
  return s ? s : load_kernels(p, g);
}

kugel_status kugel__radial_gpu_create(kugel_radial *p)
{
  kugel__device *device = kugel__ctx_device(p->ctx);
  bool fits = true;
  if (device->ops->type == KUGEL_CPU)
    return KUGEL_OK;
  kugel__radial_gpu *g = kugel__calloc(p->ctx, sizeof *g);
  KUGEL_CHECK(g, KUGEL_ENOMEM, "no memory for a plan");
  p->gpu = g;
  g->device = device;
  pthread_mutex_init(&g->lock, NULL);
  if (p->info.method != KUGEL_RADIAL_DIRECT) {
    KUGEL_TRY(kugel__radial_modes_create(p, device, &g->modes));
    fits = g->modes != NULL;
  }
  if (fits && (!g->modes || (p->spectra && p->spectra->direct)))
    KUGEL_TRY(make_sums(p, &fits));
  if (fits && p->opts.normalise_mask)
    KUGEL_TRY(kugel__device_alloc(device, (size_t)p->grid->npix * 8, &g->seen.base));
  int64_t pixels = 0;
  for (int64_t i = 0; i < p->nrings; i++)
    pixels += p->ring[i].nphi;
  g->covered = pixels == p->grid->npix;
  if (!fits)
    kugel__radial_gpu_destroy(p);
  return KUGEL_OK;
}

void kugel__radial_gpu_destroy(kugel_radial *p)
{
  kugel__radial_gpu *g = p->gpu;
  if (!g)
    return;
  kugel__radial_modes_destroy(p, g->modes);
  for (int t = 0; t < TABLES; t++)
    kugel__device_free(g->device, g->table[t].base);
  kugel__device_free(g->device, g->lanes.base);
  kugel__device_free(g->device, g->seen.base);
  for (int k = 0; k < 2; k++)
    kugel__module_put(g->module[k]);
  pthread_mutex_destroy(&g->lock);
  kugel__free(p->ctx, g);
  p->gpu = NULL;
}

kugel_device kugel__radial_gpu_device(const kugel_radial *p)
{
  return (kugel_device){p->gpu->device->ops->type, p->gpu->device->id};
}

static kugel_status launch(kugel__radial_gpu *g, int kind, bool f32, gpu_args t, kugel__mem in,
                           kugel__mem out)
{
  kugel__mem seen = g->seen.base ? g->seen : g->table[COEF], units = g->table[UNITS];
  kugel__grid grid = {.blocks = {(uint32_t)g->units[kind]}, .threads = {kind == CAPS ? 128 : 256}};
  if (!g->units[kind])
    return KUGEL_OK;
  t.first = (int32_t)g->first_unit[kind];
  if (kind == FILL) {
    kugel__arg args[] = {KUGEL__MEM_ARG(g->table[RINGS]), KUGEL__MEM_ARG(units), KUGEL__MEM_ARG(in),
                         KUGEL__MEM_ARG(g->lanes), KUGEL__VALUE_ARG(t)};
    return kugel__launch(g->device, g->kernel[f32][FILL], &grid, 5, args, &g->device->queue);
  }
  kugel__mem numbers = g->table[kind == CAPS ? COEF : f32 ? WEIGHTS32 : WEIGHTS];
  kugel__arg args[] = {KUGEL__MEM_ARG(g->table[RINGS]),
                       KUGEL__MEM_ARG(g->table[SPANS]),
                       KUGEL__MEM_ARG(units),
                       KUGEL__MEM_ARG(numbers),
                       KUGEL__MEM_ARG(g->lanes),
                       KUGEL__MEM_ARG(in),
                       KUGEL__MEM_ARG(out),
                       KUGEL__MEM_ARG(seen),
                       KUGEL__VALUE_ARG(t)};
  return kugel__launch(g->device, g->kernel[f32][kind], &grid, 9, args, &g->device->queue);
}

/* Over the units of FILL. */
static kugel_status normalise(kugel__radial_gpu *g, bool f32, gpu_args t, kugel__mem out)
{
  kugel__grid grid = {.blocks = {(uint32_t)g->units[FILL]}, .threads = {256}};
  t.first = (int32_t)g->first_unit[FILL];
  kugel__arg args[] = {KUGEL__MEM_ARG(g->table[RINGS]), KUGEL__MEM_ARG(g->table[UNITS]), KUGEL__MEM_ARG(out),
                       KUGEL__MEM_ARG(g->seen), KUGEL__VALUE_ARG(t)};
  return kugel__launch(g->device, g->kernel[f32][NORMALISE], &grid, 5, args, &g->device->queue);
}

/* Sums over pairs of pixels, to out or, of a mask, to g->seen. */
static kugel_status direct(kugel__radial_gpu *g, const kugel__radial_pass *pass)
{
  gpu_args t = g->args;
  t.adjoint = pass->adjoint;
  t.mask = pass->mask;
  t.in = pass->in_at;
  t.out = pass->out_at;
  for (int kind = 0; kind < KINDS; kind++)
    KUGEL_TRY(launch(g, kind, pass->f32, t, pass->in, pass->out));
  return KUGEL_OK;
}

static kugel_status sums(const kugel_radial *p, const kugel__radial_pass *pass)
{
  kugel__radial_gpu *g = p->gpu;
  if (g->modes)
    KUGEL_TRY(kugel__radial_modes_sum(p, g->modes, pass, &g->device->queue));
  return g->sums ? direct(g, pass) : KUGEL_OK;
}

/* A copy of a map that is to be replaced, for methods that cannot do so. */
static kugel_status set_apart(const kugel_radial *p, kugel__radial_pass *pass, kugel__mem copy)
{
  size_t size = pass->f32 ? 4 : 8;
  kugel__mem from = {pass->in.base, pass->in.offset + (size_t)pass->in_at * size};
  pass->in = copy;
  pass->in_at = 0;
  return kugel__device_copy(p->gpu->device, KUGEL__WITHIN, copy, from, (size_t)p->grid->npix * size,
                            &p->gpu->device->queue);
}

static kugel_status run_map(const kugel_radial *p, bool f32, bool adjoint, int64_t at, kugel__loan loan[2],
                            kugel__mem copy)
{
  kugel__radial_gpu *g = p->gpu;
  int64_t size = f32 ? 4 : 8;
  bool masked = p->opts.normalise_mask && !adjoint;
  kugel__radial_pass pass = {.in = {loan[0].mem.base, 0},
                             .out = {loan[1].mem.base, 0},
                             .seen = g->seen,
                             .in_at = at + (int64_t)loan[0].mem.offset / size,
                             .out_at = at + (int64_t)loan[1].mem.offset / size,
                             .f32 = f32,
                             .adjoint = adjoint};
  if (copy.base)
    KUGEL_TRY(set_apart(p, &pass, copy));
  if (masked) {
    pass.mask = true;
    KUGEL_TRY(sums(p, &pass));
    pass.mask = false;
  }
  KUGEL_TRY(sums(p, &pass));
  if (g->modes)
    return kugel__radial_modes_finish(p, g->modes, &pass, masked, 1e-6 * fabs(p->info.integral),
                                      &g->device->queue);
  gpu_args t = g->args;
  t.out = pass.out_at;
  return masked ? normalise(g, f32, t, pass.out) : KUGEL_OK;
}

kugel_status kugel__radial_gpu_run(const kugel_radial *p, const kugel_array *in, const kugel_array *out,
                                   bool f32, int64_t n, bool adjoint)
{
  kugel__radial_gpu *g = p->gpu;
  kugel__loan loan[2] = {{.host = NULL}, {.host = NULL}};
  size_t size = f32 ? 4 : 8;
  KUGEL_CHECK(in->byte_offset % size == 0 && out->byte_offset % size == 0, KUGEL_EINVAL,
              "the arrays start %llu and %llu bytes into their memory, must be multiples of %zu",
              (unsigned long long)in->byte_offset, (unsigned long long)out->byte_offset, size);
  pthread_mutex_lock(&g->lock);
  kugel_status s = kugel__device_alive(g->device);
  if (!s)
    s = kugel__lend(g->device, in, KUGEL__READ, &g->device->queue, &loan[0]);
  if (!s)
    s = kugel__lend(g->device, out, KUGEL__WRITE | (g->covered ? 0 : KUGEL__READ), &g->device->queue,
                    &loan[1]);
  kugel__mem copy = {0};
  size_t bytes = (size_t)p->grid->npix * size;
  bool apart = loan[0].mem.base != loan[1].mem.base || !g->modes;
  if (!s && !apart)
    s = kugel__device_scratch_get(g->device, bytes, &copy.base);
  for (int64_t k = 0; k < n && !s; k++)
    s = run_map(p, f32, adjoint, k * p->grid->npix, loan, copy);
  s = kugel__lend_end(2, loan, &g->device->queue, s);
  kugel_status done = g->device->ops->wait(&g->device->queue);
  if (copy.base)
    kugel__device_scratch_put(g->device, copy.base, bytes);
  pthread_mutex_unlock(&g->lock);
  return s ? s : done;
}

static kugel_status bank_map(kugel_radial *const *plans, int n, const int *which, int top,
                             kugel__radial_pass pass, int64_t first)
{
  const kugel_radial *high = plans[top];
  kugel__radial_modes *from = high->gpu->modes;
  kugel_queue *queue = &high->gpu->device->queue;
  KUGEL_TRY(kugel__radial_modes_analyse(high, from, &pass, queue));
  for (int last = 0; last < 2; last++) /* the plan whose memory the coefficients are in comes last */
    for (int i = 0; i < n; i++) {
      const kugel_radial *p = plans[which[i]];
      if ((which[i] == top) != last)
        continue;
      pass.out_at = first + which[i] * p->grid->npix;
      KUGEL_TRY(kugel__radial_modes_synthesise(p, p->gpu->modes, high, from, &pass, queue));
      KUGEL_TRY(kugel__radial_modes_finish(p, p->gpu->modes, &pass, false, 0, queue));
    }
  return KUGEL_OK;
}

kugel_status kugel__radial_gpu_bank(kugel_radial *const *plans, int n, const int *which, int top,
                                    const kugel_array *in, const kugel_array *out, bool f32)
{
  kugel__radial_gpu *g = plans[top]->gpu;
  kugel__loan loan[2] = {{.host = NULL}, {.host = NULL}};
  int64_t size = f32 ? 4 : 8;
  for (int i = 0; i < n; i++)
    pthread_mutex_lock(&plans[which[i]]->gpu->lock);
  kugel_status s = kugel__device_alive(g->device);
  if (!s)
    s = kugel__lend(g->device, in, KUGEL__READ, &g->device->queue, &loan[0]);
  if (!s) /* others write to out, too */
    s = kugel__lend(g->device, out, KUGEL__WRITE | KUGEL__READ, &g->device->queue, &loan[1]);
  kugel__radial_pass pass = {.in = {loan[0].mem.base, 0}, .out = {loan[1].mem.base, 0}, .f32 = f32};
  pass.in_at = (int64_t)loan[0].mem.offset / size;
  if (!s)
    s = bank_map(plans, n, which, top, pass, (int64_t)loan[1].mem.offset / size);
  s = kugel__lend_end(2, loan, &g->device->queue, s);
  kugel_status done = g->device->ops->wait(&g->device->queue);
  for (int i = n - 1; i >= 0; i--)
    pthread_mutex_unlock(&plans[which[i]]->gpu->lock);
  return s ? s : done;
}
