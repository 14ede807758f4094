/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of the direct sum on a device, and its kernels. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/alloc.h"
#include "sphere/radial/gpu_plan.h"
#include "sphere/radial/spin.h"

enum { LANES = KUGEL__RADIAL_LANES, FILL_TILE = 128, TILE = 128, RINGS_A_BLOCK = 4 };

/* As in kernels/radial.cl. */
typedef struct gpu_ring {
  double weight;
  int64_t first, mirror, slot, spans;
  int32_t nphi, segment, reach, count, turn, kind;
} gpu_ring;

typedef struct gpu_span {
  double a, b, dphi, from, ratio, nq, unit, step, factor, difference, sum;
  int64_t slot, weights;
  int32_t width, start, back, steps, from_term, pad;
} gpu_span;

/* Tables while they are made. */
typedef struct build {
  gpu_ring *ring;
  gpu_span *span;
  double *weight;
  int32_t *unit;
  int64_t spans, weights, units, room; /* room: of all weights, with a spin thrice what is counted */
} build;

static void build_free(const kugel_radial *p, build *b)
{
  kugel__free(p->ctx, b->ring);
  kugel__free(p->ctx, b->span);
  kugel__free(p->ctx, b->weight);
  kugel__free(p->ctx, b->unit);
}

static int64_t parts_of(const kugel_radial *p)
{
  return kugel__max(1, p->opts.nparts);
}

/* Whether all rings that a ring's sums need have as many pixels. */
static bool same(const kugel_radial *p, int64_t r)
{
  bool all = p->ring[r].same;
  for (int64_t k = 0; k < p->opts.nparts && all; k++)
    all = kugel__radial_centre(p, p->ring + r, k).same;
  return all;
}

static bool of_kind(const kugel_radial *p, int kind, int64_t r)
{
  if (kind == KUGEL__RADIAL_FILL)
    return p->ring[r].reach > 0;
  if (r < p->begin || r >= p->end || (p->spectra && p->spectra->row[r].modes >= 0))
    return false;
  return same(p, r) == (kind == KUGEL__RADIAL_BELT);
}

/* How often to start a block of `kind` for the rings from r on, and where the positions begin and step. */
static int64_t blocks_of(const kugel_radial *p, int kind, int64_t r, int64_t *begin, int64_t *step)
{
  bool cuda = p->gpu->device->ops->type == KUGEL_CUDA;
  int64_t end = 0, rings = kind == KUGEL__RADIAL_BELT ? RINGS_A_BLOCK : 1;
  *begin = kind == KUGEL__RADIAL_FILL ? -p->ring[r].reach : 0;
  *step = kind == KUGEL__RADIAL_CAPS ? (cuda ? 32 : 8) : kind == KUGEL__RADIAL_FILL ? FILL_TILE : TILE;
  if (r % rings)
    return 0;
  for (int64_t k = r; k < kugel__min(r + rings, p->nrings); k++) {
    const kugel__radial_ring *q = p->ring + k;
    if (!of_kind(p, kind, k))
      continue;
    int64_t count = kind == KUGEL__RADIAL_CAPS && p->reflected ? (q->segment + q->turn) / 2 + 1 : q->segment;
    end = kugel__max(end, kind == KUGEL__RADIAL_FILL ? q->segment + q->reach : count);
  }
  return end ? (end - *begin + *step - 1) / *step : 0;
}

/* The weights of a whole ring, and with a spin those times cosine and sine. */
static void add_weights(const kugel_radial *p, build *b, gpu_span *s, const kugel__radial_span *t)
{
  const kugel__radial_ops *ops = kugel__radial_ops_now();
  const int64_t *turned = p->gpu->turned;
  double *w = b->weight + b->weights, h0 = s->start * t->step + t->dphi;
  int64_t whole = kugel__round_up(t->width, LANES);
  s->weights = b->weights;
  s->width = (int32_t)kugel__round_up(t->width, 4);
  b->weights += whole;
  ops->keys(t->a, t->b, h0, t->step, t->width, w);
  for (int64_t e = t->width; e < whole; e++)
    w[e] = INFINITY;
  ops->values(&p->poly, whole, w);
  for (int64_t e = 0; e < whole; e++)
    w[e] *= s->factor;
  if (!p->opts.spin)
    return;
  kugel__radial_turn turn = {s->difference, s->sum, abs(p->opts.spin)};
  memcpy(w + turned[1], w, (size_t)whole * 8);
  kugel__radial_spin_ops_now()->row(&turn, h0, t->step, whole, w + turned[1], w + turned[2]);
}

static void add_span(const kugel_radial *p, build *b, gpu_ring *to, const kugel__radial_ring *r,
                     const kugel__radial_ring *q, double factor)
{
  kugel__radial_span t = kugel__radial_span_of(p, r, q);
  if (!t.width)
    return;
  gpu_span *s = b->span + b->spans++;
  *s = (gpu_span){.a = t.a, .b = t.b, .dphi = t.dphi, .from = t.shift - t.half, .factor = factor};
  s->difference = cos((r->theta - q->theta) / 2);
  s->sum = cos((r->theta + q->theta) / 2);
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
  if (to->kind == KUGEL__RADIAL_BELT)
    add_weights(p, b, s, &t);
}

static void add_spans(const kugel_radial *p, build *b, int64_t i)
{
  gpu_ring *to = b->ring + i;
  to->spans = b->spans;
  for (int64_t part = 0; part < parts_of(p) && to->kind != KUGEL__RADIAL_FILL; part++) {
    kugel__radial_ring r = kugel__radial_centre(p, p->ring + i, part);
    for (int64_t k = r.lo; k < r.hi; k++)
      add_span(p, b, to, &r, p->ring + k, p->opts.nparts ? p->part[part] : 1);
  }
}

/* Upper bounds of the tables' lengths; false if they are too long. */
static bool measure(const kugel_radial *p, build *b)
{
  int64_t begin, step;
  for (int64_t i = 0; i < p->nrings; i++) {
    bool belt = of_kind(p, KUGEL__RADIAL_BELT, i);
    if (p->ring[i].nphi >= INT32_MAX / 4)
      return false;
    for (int64_t part = 0; part < parts_of(p) && i >= p->begin && i < p->end; part++) {
      kugel__radial_ring r = kugel__radial_centre(p, p->ring + i, part);
      b->spans += r.hi - r.lo;
      for (int64_t k = r.lo; k < r.hi && belt; k++)
        b->weights += kugel__round_up(kugel__radial_span_of(p, &r, p->ring + k).width, LANES) + LANES;
    }
    for (int kind = 0; kind < KUGEL__RADIAL_KINDS; kind++)
      b->units += blocks_of(p, kind, i, &begin, &step);
  }
  for (int i = 0; i < 3; i++)
    p->gpu->turned[i] = p->opts.spin ? i * b->weights : 0;
  b->weights *= p->opts.spin ? 3 : 1;
  return b->weights < (int64_t)1 << 27 && b->units < INT32_MAX;
}

/* What eight positions of a ring may read beyond the reach of another, and a block of the belt beyond its
 * end. */
static int64_t margin_of(const kugel_radial *p)
{
  double ratio = 1;
  for (int64_t i = 0; i < p->nrings; i++)
    for (int64_t part = 0; part < parts_of(p); part++) {
      kugel__radial_ring r = kugel__radial_centre(p, p->ring + i, part);
      for (int64_t k = r.lo; k < r.hi; k++)
        ratio = fmax(ratio, (double)p->ring[k].nphi / (double)r.nphi);
    }
  return (int64_t)(8 * ratio) + TILE + 16; /* eight positions of four pixels each */
}

static kugel_status make_tables(const kugel_radial *p, kugel__radial_gpu *g, build *b)
{
  KUGEL_ALLOC(p->ctx, b->ring, (size_t)p->nrings * sizeof *b->ring);
  KUGEL_ALLOC(p->ctx, b->span, (size_t)(b->spans + 1) * sizeof *b->span);
  KUGEL_ALLOC(p->ctx, b->weight, (size_t)(b->weights + LANES) * 8);
  KUGEL_ALLOC(p->ctx, b->unit, (size_t)(b->units + 1) * 8);
  memset(b->weight, 0, (size_t)(b->weights + LANES) * 8);
  b->room = b->weights;
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
                            .kind = of_kind(p, KUGEL__RADIAL_BELT, i)   ? KUGEL__RADIAL_BELT
                                    : of_kind(p, KUGEL__RADIAL_CAPS, i) ? KUGEL__RADIAL_CAPS
                                                                        : KUGEL__RADIAL_FILL};
    add_spans(p, b, i);
  }
  for (int kind = 0; kind < KUGEL__RADIAL_KINDS; kind++) {
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
  int64_t numbers = p->opts.spin ? b->room : b->weights;
  KUGEL_TRY(upload(g, KUGEL__RADIAL_TABLE_RINGS, b->ring, p->nrings * (int64_t)sizeof *b->ring));
  KUGEL_TRY(upload(g, KUGEL__RADIAL_TABLE_SPANS, b->span, b->spans * (int64_t)sizeof *b->span));
  KUGEL_TRY(upload(g, KUGEL__RADIAL_TABLE_WEIGHTS, b->weight, numbers * 8));
  float *single;
  KUGEL_ALLOC(p->ctx, single, (size_t)(numbers + 1) * 4);
  for (int64_t i = 0; i < numbers; i++)
    single[i] = (float)b->weight[i];
  kugel_status narrow = upload(g, KUGEL__RADIAL_TABLE_WEIGHTS32, single, numbers * 4);
  kugel__free(p->ctx, single);
  KUGEL_TRY(narrow);
  KUGEL_TRY(upload(g, KUGEL__RADIAL_TABLE_COEF, q->coef, q->intervals * (q->degree + 1) * 8));
  KUGEL_TRY(upload(g, KUGEL__RADIAL_TABLE_UNITS, b->unit, b->units * 8));
  g->lanes_bytes = (size_t)(p->scratch + 2 * g->margin * LANES) * 8;
  g->args = (kugel__radial_args){.cut = q->cut,
                                 .scale = q->scale,
                                 .factor = 1,
                                 .other = -1,
                                 .spin = abs(p->opts.spin),
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
  static const char *const names[KUGEL__RADIAL_KERNELS] = {"fill", "belt", "caps", "normalise"};
  for (int f32 = 0; f32 < 2; f32++) {
    char defines[96];
    bool one = p->poly.intervals == 1 && !p->poly.chord;
    snprintf(defines, sizeof defines, "#define REAL_BITS %d\n#define DEGREE %d\n#define GENERAL %d\n",
             f32 ? 32 : 64, one ? (int)p->poly.degree : 0, p->opts.spin || p->opts.nparts);
    kugel__module_spec spec = {.name = "sphere/radial/radial", .defines = defines};
    KUGEL_TRY(kugel__module_get(p->ctx, &spec, &g->module[f32]));
    for (int k = 0; k < KUGEL__RADIAL_KERNELS; k++)
      KUGEL_TRY(kugel__module_kernel(g->module[f32], names[k], &g->kernel[f32][k], NULL));
  }
  return KUGEL_OK;
}

kugel_status kugel__radial_gpu_sums(kugel_radial *p, bool *fits)
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
