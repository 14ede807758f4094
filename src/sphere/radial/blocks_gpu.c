/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans of radial convolution by blocks of rings. */
#include "sphere/radial/blocks_gpu.h"
#include <math.h>
#include <stddef.h>
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "fft/rings/gpu.h"
#include "sphere/radial/gpu_plan.h"

enum { LANES = KUGEL__RADIAL_LANES, SLOTS = 2 /* blocks per device whose maps overlap, if there is room */ };

static int lanes_of(const kugel_radial *p)
{
  return 1 + p->ctx->npeers;
}

/* Output pairs [*lo, *hi) that a block holds, from a multiple of 8 on: series are made by eights. */
static void pairs_of(const kugel_radial *p, int64_t p0, int64_t p1, int64_t *lo, int64_t *hi)
{
  kugel__radial_pairs(p, p0, p1, lo, hi);
  *lo -= *lo % LANES;
}

/* ---- memory ---- */

/* Bytes for output pairs. */
typedef struct needs {
  int64_t maps, work, tables; /* maps: one input and one output */
} needs;

/* Bytes of tables for transforms of the rings of pairs [p0, p1). */
static int64_t ring_tables(const kugel_radial *p, int64_t p0, int64_t p1)
{
  int64_t bytes = 0;
  for (int64_t i = p0; i < p1; i++)
    bytes += kugel__rings_gpu_tables(p->ring[i].nphi, i > p0 ? p->ring[i - 1].nphi : 0);
  return bytes;
}

/* What output pairs [p0, p1) need, estimated from above. */
static needs needs_of(const kugel_radial *p, int64_t p0, int64_t p1)
{
  const kugel__radial_spectra *t = p->spectra;
  int64_t lo, hi, pixels = 0, lanes = 0, rings = 0;
  bool sums = !t || t->direct;
  pairs_of(p, p0, p1, &lo, &hi);
  for (int64_t i = lo; i < hi; i++) {
    const kugel__radial_ring *r = p->ring + i;
    pixels += r->nphi * (1 + p->mirrored);
    lanes += (r->segment + 2 * r->reach + 64) * LANES;
  }
  double weights = 0, samples = 0;
  for (int64_t i = p0; i < p1; i++) {
    const kugel__radial_ring *r = p->ring + i;
    bool summed = !t || t->row[i].modes < 0;
    double part = fmin(1, p->info.radius / (3 * fmax(r->sth, 1e-9)));
    rings += summed ? r->hi - r->lo : 0;
    weights += summed && r->same ? (double)(r->hi - r->lo) * (part * (double)r->nphi + 16) : 0;
    samples += summed ? 0 : (double)(r->hi - r->lo + 8) * (double)(t->size + 16);
  }
  needs b = {.maps = pixels * 2 * 8,
             .work = (p->opts.normalise_mask || p->opts.normalise ? pixels * 8 : 0) +
                     (sums ? lanes * 8 + p->max_nphi * 256 : 0),
             .tables = (hi - lo) * 256 + rings * 112 + (int64_t)(weights * 12) + (1 << 14)};
  if (t) {
    b.work += 2 * (t->mmax + 1) * (hi - lo + 8) * 32 + pixels * (8 + 16);
    b.tables += (int64_t)(samples * 8) + (hi - lo) * 512 + ring_tables(p, lo, hi) + ring_tables(p, p0, p1);
  }
  return b;
}

kugel_status kugel__radial_blocks_wanted(const kugel_radial *p, bool *wanted)
{
  int64_t limit;
  KUGEL_TRY(kugel__device_lanes_limit(p->ctx, p->memory, &limit));
  needs whole = needs_of(p, 0, p->end);
  *wanted = lanes_of(p) > 1 || whole.maps + whole.work + whole.tables > limit;
  return KUGEL_OK;
}

/* ---- where blocks end ---- */

/* Of an output pair, in some unit of time: pairs of pixels, or products of rows. */
static double cost_of(const kugel_radial *p, int64_t i)
{
  const kugel__radial_ring *r = p->ring + i;
  const kugel__radial_spectra *t = p->spectra;
  double rings = (double)(r->hi - r->lo), n = (double)r->nphi;
  if (t && t->row[i].modes >= 0)
    return n * 400 + (double)(t->row[i].modes + 1) * rings * (double)(t->size + 9);
  double width = fmin(1, p->info.radius / (4 * fmax(r->sth, 1e-9))) * n;
  return n * 100 + n * rings * width * (r->same ? 1 : 3);
}

/* first[0] = 0 ... first[count] = all, of about equal costs, multiples of 8. */
static void cut(const kugel_radial *p, int64_t count, int64_t *first)
{
  double whole = 0, sum = 0;
  for (int64_t i = 0; i < p->end; i++)
    whole += cost_of(p, i);
  int64_t k = 1;
  first[0] = 0;
  for (int64_t i = 0; i < p->end; i++) {
    sum += cost_of(p, i);
    while (k < count && sum >= whole * (double)k / (double)count)
      first[k++] = kugel__min(p->end, (i + 5) / 8 * 8);
  }
  while (k <= count)
    first[k++] = p->end;
}

/* Bytes of the lane that needs most: its tables, the maps of some blocks, and the work memory of its largest block;
 * *all: with the work memory of all blocks. */
static int64_t need_of(const kugel_radial *p, int64_t each, const int64_t *first, int slots, int64_t *all)
{
  int64_t most = 0;
  *all = 0;
  for (int lane = 0; lane < lanes_of(p); lane++) {
    int64_t fixed = 0, maps = 0, largest = 0, sum = 0;
    for (int64_t k = lane * each; k < (lane + 1) * each; k++) {
      if (first[k] == first[k + 1])
        continue;
      needs b = needs_of(p, first[k], first[k + 1]);
      largest = kugel__max(largest, b.work);
      maps = kugel__max(maps, b.maps);
      sum += b.work;
      fixed += b.tables;
    }
    fixed += slots * maps;
    most = kugel__max(most, fixed + largest);
    *all = kugel__max(*all, fixed + sum);
  }
  return most;
}

/* ---- a block ---- */

/* Rings of the block, pairs [lo, hi) of the plan, in order of colatitude. */
static kugel_status take_rings(const kugel_radial *p, kugel__radial_block *b, int64_t lo, int64_t hi)
{
  kugel_radial *v = &b->view;
  bool equator = p->mirrored && hi == p->end && p->nrings % 2;
  v->nrings = (hi - lo) * (1 + p->mirrored) - equator;
  v->begin = b->p0 - lo;
  v->end = b->p1 - lo;
  KUGEL_ALLOC(v->ctx, v->ring, (size_t)v->nrings * sizeof *v->ring);
  KUGEL_ALLOC(v->ctx, b->in, (size_t)v->nrings * sizeof *b->in);
  KUGEL_ALLOC(v->ctx, b->out, (size_t)(2 * (b->p1 - b->p0)) * sizeof *b->out);
  for (int64_t i = 0; i < v->nrings; i++) {
    kugel__radial_ring *r = v->ring + i;
    *r = p->ring[i < hi - lo ? lo + i : p->nrings - lo - v->nrings + i];
    b->in[i] = (kugel__stretch){r->first, 0, r->nphi};
    r->lo = i >= v->begin && i < v->end ? r->lo - lo : i;
    r->hi = i >= v->begin && i < v->end ? r->hi - lo : i;
  }
  b->nin = kugel__stretch_merge(v->nrings, b->in, &b->grid.npix);
  v->scratch = 0;
  for (int64_t i = 0; i < v->nrings; i++) {
    kugel__radial_ring *r = v->ring + i;
    int64_t mirror = v->nrings - 1 - i;
    if ((i >= v->begin && i < v->end) || (p->mirrored && mirror >= v->begin && mirror < v->end))
      b->out[b->nout++] = (kugel__stretch){r->first, 0, r->nphi};
    r->first = kugel__stretch_place(b->nin, b->in, r->first);
    r->slot = v->scratch;
    if (r->reach)
      v->scratch += (r->segment + 2 * r->reach) * LANES;
  }
  int64_t pixels;
  b->nout = kugel__stretch_merge(b->nout, b->out, &pixels);
  for (int64_t i = 0; i < b->nout; i++)
    b->out[i].at = kugel__stretch_place(b->nin, b->in, b->out[i].first);
  return KUGEL_OK;
}

static kugel_status take_spectra(const kugel_radial *p, kugel__radial_block *b, int64_t lo, int64_t hi)
{
  kugel__radial_spectra *t = &b->spectra;
  *t = *p->spectra;
  t->row = NULL;
  t->in = t->out = NULL;
  t->npairs = hi - lo;
  t->direct = false;
  b->view.spectra = t;
  KUGEL_ALLOC(b->view.ctx, t->row, (size_t)t->npairs * sizeof *t->row);
  for (int64_t i = 0; i < t->npairs; i++) {
    bool own = i >= b->view.begin && i < b->view.end;
    t->row[i] = own ? p->spectra->row[lo + i] : (kugel__spectra_row){-1, 2, -1, false};
    t->direct |= own && t->row[i].modes < 0;
  }
  return KUGEL_OK;
}

/* A grid with the arrays of another; its own count of references, since other threads may count those of the other. */
static void share_grid(const kugel_grid *from, kugel_grid *to)
{
  const size_t at = offsetof(kugel_grid, ctx);
  memcpy((char *)to + at, (const char *)from + at, sizeof *to - at);
  atomic_init(&to->references, 1);
}

static kugel_status make_block(const kugel_radial *p, kugel_ctx *ctx, kugel__radial_block *b, bool *fits)
{
  int64_t lo, hi;
  pairs_of(p, b->p0, b->p1, &lo, &hi);
  b->view = *p;
  share_grid(p->grid, &b->grid);
  b->view.ctx = ctx;
  b->view.grid = &b->grid;
  b->view.ring = NULL;
  b->view.gpu = NULL;
  b->view.spectra = NULL;
  KUGEL_TRY(take_rings(p, b, lo, hi));
  if (p->spectra)
    KUGEL_TRY(take_spectra(p, b, lo, hi));
  return kugel__radial_gpu_build(&b->view, fits);
}

static void drop_block(kugel__radial_block *b)
{
  kugel_ctx *ctx = b->view.ctx;
  if (!ctx)
    return;
  kugel__radial_gpu_destroy(&b->view);
  kugel__free(ctx, b->spectra.row);
  kugel__free(ctx, b->view.ring);
  kugel__free(ctx, b->in);
  kugel__free(ctx, b->out);
}

/* ---- all blocks ---- */

/* Memory for the maps of a lane's largest block. */
static kugel_status make_slots(kugel_radial *p, int slots)
{
  kugel__radial_blocks *q = p->blocks;
  KUGEL_TRY(kugel__device_lanes_create(p->ctx, slots, &q->lanes));
  for (int lane = 0; lane < q->nlanes; lane++) {
    size_t most = 0;
    for (int64_t k = lane * q->each; k < (lane + 1) * q->each; k++)
      if (q->block[k].view.gpu)
        most = (size_t)kugel__max((int64_t)most, q->block[k].grid.npix * 8);
    KUGEL_TRY(kugel__lane_room(&q->lanes->lane[lane], &(kugel__lane_bytes){.in = most, .out = most}));
  }
  return KUGEL_OK;
}

static kugel_status build(kugel_radial *p, int64_t each, const int64_t *first, int slots, bool resident,
                          bool *fits)
{
  kugel__radial_blocks *q = kugel__calloc(p->ctx, sizeof *q);
  KUGEL_CHECK(q, KUGEL_ENOMEM, "no memory for a plan");
  p->blocks = q;
  pthread_mutex_init(&q->lock, NULL);
  q->nlanes = lanes_of(p);
  q->each = each;
  q->resident = resident;
  q->block = kugel__calloc(p->ctx, (size_t)(q->nlanes * each) * sizeof *q->block);
  KUGEL_CHECK(q->block, KUGEL_ENOMEM, "no memory for %lld blocks of rings", (long long)(q->nlanes * each));
  *fits = true;
  for (int64_t k = 0; k < q->nlanes * each && *fits; k++) {
    kugel__radial_block *b = q->block + k;
    b->p0 = first[k];
    b->p1 = first[k + 1];
    if (b->p0 == b->p1)
      continue;
    KUGEL_TRY(make_block(p, k < each ? p->ctx : p->ctx->peers[k / each - 1], b, fits));
    if (*fits && q->resident)
      KUGEL_TRY(kugel__radial_gpu_hold(&b->view));
  }
  return *fits ? make_slots(p, slots) : KUGEL_OK;
}

/* The fewest blocks that fit, with some slots per lane; *least: bytes of the trial that needs least. */
static kugel_status fit(kugel_radial *p, int64_t limit, int slots, int64_t *first, int64_t *least, bool *fits)
{
  int64_t all, most = (p->end + 7) / 8;
  kugel_status s = KUGEL_OK;
  for (int64_t each = 1; each <= 2 * most && !*fits && !s; each *= 2) {
    int own = each > 1 ? slots : 1; // one block leaves nothing to overlap
    cut(p, each * lanes_of(p), first);
    int64_t need = need_of(p, each, first, own, &all);
    *least = kugel__min(*least, need);
    if (need > limit)
      continue;
    kugel__radial_blocks_destroy(p);
    s = build(p, each, first, own, all <= limit, fits);
  }
  return s;
}

kugel_status kugel__radial_blocks_create(kugel_radial *p)
{
  int64_t limit, least = INT64_MAX, *first, most = (p->end + 7) / 8;
  bool fits = false;
  kugel_status s = kugel__device_lanes_limit(p->ctx, p->memory, &limit);
  KUGEL_TRY(s);
  KUGEL_ALLOC(p->ctx, first, (size_t)(2 * (most + 1) * lanes_of(p) + 1) * 8);
  for (int slots = SLOTS; slots >= 1 && !fits && !s; slots--)
    s = fit(p, limit, slots, first, &least, &fits);
  kugel__free(p->ctx, first);
  if (!s && !fits)
    s = KUGEL_FAIL(
        KUGEL_ENOMEM,
        "the plan may use %lld bytes of a device, needs about %lld for a few rings and those within "
        "the cut-off: raise the context's limit of memory, or narrow the kernel",
        (long long)limit, (long long)least);
  return s;
}

void kugel__radial_blocks_destroy(kugel_radial *p)
{
  kugel__radial_blocks *q = p->blocks;
  if (!q)
    return;
  for (int64_t k = 0; q->block && k < q->nlanes * q->each; k++)
    drop_block(q->block + k);
  kugel__device_lanes_destroy(q->lanes);
  pthread_mutex_destroy(&q->lock);
  kugel__free(p->ctx, q->block);
  kugel__free(p->ctx, q);
  p->blocks = NULL;
}

kugel_device kugel__radial_blocks_device(const kugel_radial *p)
{
  kugel__device *device = kugel__ctx_device(p->ctx);
  return (kugel_device){device->ops->type, device->id};
}
