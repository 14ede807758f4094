/* SPDX-License-Identifier: BSD-3-Clause */
/* Overlap-save: tiles of results, each from its data and those around it. The adjoint runs each tile backwards and adds up
 * the data that tiles share (tile_sums.c). */
#include <string.h>
#include "core/alloc.h"
#include "core/array.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "volume/gpu/lane_tiles.h"
#include "volume/plan/plan.h"
#include "volume/cpu/lines.h"
#include "volume/plan/lead.h"

static kugel_status create_on_devices(kugel_volume *p, const kugel_array *kernel)
{
  kugel__volume_box box;
  double *kernels = NULL;
  KUGEL_TRY(kugel__volume_take_kernel(p, kernel, &box));
  kugel_status s = kugel__volume_copy_kernels(p, &box, &kernels);
  if (!s)
    s = kugel__lane_tiles_create(p, kernels, &p->lanes);
  kugel__free(p->ctx, kernels);
  return s;
}

kugel_status kugel__volume_tiles_create(kugel_volume *p, const kugel_array *kernel)
{
  KUGEL_TRY(kugel__volume_check_kernels(p, kernel));
  if (p->ctx->device.type != KUGEL_CPU)
    return create_on_devices(p, kernel);
  KUGEL_TRY(kugel__volume_lines(p->sub));
  return kugel__volume_spectra(p->sub, kernel);
}

/* ---- a tile's data ---- */

kugel__volume_reach kugel__volume_reach_of(const kugel_volume *p, int d, int64_t tile, int64_t *source)
{
  const kugel__volume_axis *a = &p->axis[d];
  kugel__volume_reach r = {.result = tile * p->tile[d]};
  r.results = kugel__min(p->tile[d], a->m - r.result);
  int64_t first = a->first + r.result, end = first + r.results + a->k - 1; // in the image
  bool zero = p->opts.boundary == KUGEL_BOUNDARY_ZERO || p->opts.boundary == KUGEL_BOUNDARY_UNKNOWN;
  r.datum = kugel__max(0, first);
  r.plane = r.datum;
  r.count = kugel__min(end, a->n) - r.datum;
  r.first_position = r.datum - first;
  if (zero || r.count == end - first)
    return r;
  r = (kugel__volume_reach){
      .result = r.result, .results = r.results, .count = end - first, .plane = first, .source = source};
  for (int64_t i = 0; i < r.count; i++)
    source[i] = kugel__volume_inside(p->opts.boundary, first + i, a->n);
  return r;
}

// The sub-plan with the lengths and places of a tile.
static kugel_volume plan_of(const kugel_volume *p, const kugel__volume_reach *reach)
{
  kugel_volume one = *p->sub;
  for (int d = 0; d < KUGEL__VOLUME_DIMS; d++) {
    const kugel__volume_reach *r = &reach[d];
    kugel__volume_axis *a = &one.axis[d];
    a->n = r->count;
    a->m = r->results;
    a->source = r->source;
    a->data = (kugel__volume_list){.count = r->count, .first_position = r->first_position};
    a->results = (kugel__volume_list){.count = r->results, .first_position = a->k - 1};
  }
  one.opts.boundary = p->opts.boundary; // of planes
  one.late = p->late;
  one.plane = p->late ? reach[0].result : reach[0].plane;
  one.planes = p->planes;
  one.shift = p->shift;
  return one;
}

// Factors of a tile's results where the surroundings are unknown; NULL in the inside of the image, which needs none.
static kugel_status window_of(const kugel_volume *p, const kugel_volume *one,
                              const kugel__volume_reach *reach, char **window)
{
  static const double unity = 1;
  bool inside = true;
  int64_t m[KUGEL__VOLUME_DIMS];
  *window = NULL;
  for (int d = 0; d < KUGEL__VOLUME_DIMS; d++) {
    m[d] = one->axis[d].m;
    inside &= one->axis[d].n == m[d] + one->axis[d].k - 1;
  }
  if (p->opts.boundary != KUGEL_BOUNDARY_UNKNOWN || inside)
    return KUGEL_OK;
  int64_t count = m[0] * m[1] * m[2];
  kugel__volume_box ones = {.data = (char *)&unity, .dtype = KUGEL_F64};
  KUGEL_ALLOC(p->ctx, *window, (size_t)(count * p->kernels) * p->real);
  kugel__volume_box out = kugel__volume_own_box(p, *window, m);
  KUGEL_TRY(kugel__volume_run_resident(one, false, &ones, &out, NULL));
  kugel__volume_invert(p, *window, m, reach[0].plane - reach[0].first_position);
  return KUGEL_OK;
}

static kugel_status same_tile(void *arg, int64_t i, kugel__lane_tile *out)
{
  (void)i;
  *out = *(const kugel__lane_tile *)arg;
  return KUGEL_OK;
}

static kugel_status run_on_device(const kugel_volume *p, const kugel__volume_reach *reach, bool adjoint,
                                  const kugel__volume_box *in, const kugel__volume_box *out,
                                  atomic_llong *clipped)
{
  kugel__lane_tile tile = {.in = *in, .out = *out};
  memcpy(tile.reach, reach, sizeof tile.reach);
  kugel__lane_work work = {.arg = &tile, .count = 1, .adjoint = adjoint, .tile = same_tile};
  return kugel__lane_tiles_run(p, p->lanes, &work, clipped);
}

kugel_status kugel__volume_run_tile(const kugel_volume *p, const kugel__volume_reach *reach, bool adjoint,
                                    const kugel__volume_box *in, const kugel__volume_box *out,
                                    atomic_llong *clipped)
{
  if (p->lanes)
    return run_on_device(p, reach, adjoint, in, out, clipped);
  kugel_volume one = plan_of(p, reach);
  char *window;
  kugel_status s = window_of(p, &one, reach, &window);
  one.window = window;
  if (!s)
    s = kugel__volume_run_resident(&one, adjoint, in, out, clipped);
  kugel__free(p->ctx, window);
  return s;
}

/* ---- all tiles of arrays in memory ---- */

// Data: where element 0 of a tile's image is, in the whole one.
static kugel__volume_box data_box(const kugel__volume_box *b, const kugel__volume_reach *reach)
{
  kugel__volume_box out = *b;
  for (int d = 0; d < KUGEL__VOLUME_DIMS; d++)
    out.data += reach[d].datum * b->step[d + 1] * (b->dtype.bits / 8);
  return out;
}
static kugel__volume_box results_box(const kugel__volume_box *b, const kugel__volume_reach *reach)
{
  kugel__volume_box out = *b;
  for (int d = 0; d < KUGEL__VOLUME_DIMS; d++)
    out.data += reach[d].result * b->step[d + 1] * (b->dtype.bits / 8);
  return out;
}

typedef struct space {
  int64_t *source[KUGEL__VOLUME_DIMS];
  char *tile, *image; // of the adjoint
  bool direct;        // the image is the caller's array
  int64_t slice;      // bytes of the image
} space;

static kugel_status run_one(const kugel_volume *p, bool adjoint, int64_t index, const space *s,
                            const kugel__volume_box *in, const kugel__volume_box *out, atomic_llong *clipped)
{
  kugel__volume_reach reach[KUGEL__VOLUME_DIMS];
  for (int d = KUGEL__VOLUME_DIMS - 1; d >= 0; d--) {
    reach[d] = kugel__volume_reach_of(p, d, index % p->tiles[d], s->source[d]);
    index /= p->tiles[d];
  }
  kugel__volume_box x = adjoint ? results_box(in, reach) : data_box(in, reach);
  if (!adjoint) {
    kugel__volume_box y = results_box(out, reach);
    return kugel__volume_run_tile(p, reach, false, &x, &y, clipped);
  }
  kugel__volume_reach plain[KUGEL__VOLUME_DIMS];
  int64_t n[KUGEL__VOLUME_DIMS];
  for (int d = 0; d < KUGEL__VOLUME_DIMS; d++) {
    plain[d] = reach[d];
    plain[d].source = NULL;
    n[d] = reach[d].count;
  }
  kugel__volume_box y = kugel__volume_own_box(p, s->tile, n);
  KUGEL_TRY(kugel__volume_run_tile(p, plain, true, &x, &y, NULL));
  return kugel__volume_add_tile(p, reach, s->tile, s->image);
}

typedef struct all_tiles { // of an image, for devices
  const kugel_volume *p;
  const space *s;
  const kugel__volume_box *in, *out;
  int64_t first, rooms, room; // of the adjoint: tile 0 of this run, tiles in memory, bytes of one
} all_tiles;

static void reach_of(const all_tiles *a, int64_t index, kugel__volume_reach *reach)
{
  for (int d = KUGEL__VOLUME_DIMS - 1; d >= 0; d--) {
    reach[d] = kugel__volume_reach_of(a->p, d, index % a->p->tiles[d], a->s->source[d]);
    index /= a->p->tiles[d];
  }
}

static kugel_status tile_of(void *arg, int64_t index, kugel__lane_tile *t)
{
  const all_tiles *a = arg;
  reach_of(a, index, t->reach);
  t->in = data_box(a->in, t->reach);
  t->out = results_box(a->out, t->reach);
  return KUGEL_OK;
}

/* ---- adjoint tiles of devices, several at a time ---- */

static char *room_of(const all_tiles *a, int64_t index)
{
  return a->s->tile + index % a->rooms * a->room;
}

// The tile's own data, which a boundary may have copied from one datum.
static kugel_status adjoint_tile_of(void *arg, int64_t index, kugel__lane_tile *t)
{
  const all_tiles *a = arg;
  int64_t n[KUGEL__VOLUME_DIMS];
  reach_of(a, a->first + index, t->reach);
  t->in = results_box(a->in, t->reach);
  for (int d = 0; d < KUGEL__VOLUME_DIMS; d++) {
    t->reach[d].source = NULL;
    n[d] = t->reach[d].count;
  }
  t->out = kugel__volume_own_box(a->p, room_of(a, a->first + index), n);
  return KUGEL_OK;
}

static kugel_status add_tile(const all_tiles *a, int64_t index)
{
  kugel__volume_reach reach[KUGEL__VOLUME_DIMS];
  reach_of(a, index, reach);
  return kugel__volume_add_tile(a->p, reach, room_of(a, index), a->s->image);
}

static kugel_status adjoint_tile_done(void *arg, int64_t index)
{
  const all_tiles *a = arg;
  return add_tile(a, a->first + index);
}

/* One device ends tiles in their order: they are added as they come. Several do not: they share as many as are in memory, which
 * are then added in order, so that results do not depend on which one was faster. */
static kugel_status run_adjoint(all_tiles *a, int64_t tiles)
{
  const kugel_volume *p = a->p;
  bool ordered = p->ctx->npeers == 0;
  int64_t wave = ordered ? tiles : a->rooms;
  for (a->first = 0; a->first < tiles; a->first += wave) {
    kugel__lane_work work = {.arg = a,
                             .count = kugel__min(wave, tiles - a->first),
                             .adjoint = true,
                             .tile = adjoint_tile_of,
                             .done = ordered ? adjoint_tile_done : NULL};
    double all = (double)tiles;
    kugel__span outer = kugel__progress_enter((double)a->first / all, (double)(a->first + work.count) / all);
    kugel_status s = kugel__lane_tiles_run(p, p->lanes, &work, NULL);
    kugel__progress_leave(outer);
    for (int64_t i = 0; i < work.count && !ordered && !s; i++)
      s = add_tile(a, a->first + i);
    KUGEL_TRY(s);
  }
  return KUGEL_OK;
}

typedef struct copy {
  const kugel_volume *p;
  const char *from;
  kugel__volume_box to;
  atomic_llong *clipped;
} copy;

// Row i of the summed image, converted.
static kugel_status copy_row(void *arg, int64_t i)
{
  const copy *c = arg;
  const kugel_volume *p = c->p;
  int64_t real = (int64_t)kugel__volume_tile_sum_real(p);
  kugel_dtype t = c->to.dtype, own = {KUGEL_FLOAT, (uint8_t)(8 * real), 1};
  int64_t n = p->axis[2].n, parts = t.code == KUGEL_COMPLEX ? 2 : 1, bad = 0;
  kugel_dtype part = parts == 2 ? (kugel_dtype){KUGEL_FLOAT, (uint8_t)(t.bits / 2), 1} : t;
  int64_t at = i / p->axis[1].n * c->to.step[1] + i % p->axis[1].n * c->to.step[2];
  for (int64_t first = 0; first < n; first += 512) {
    double values[512];
    int64_t count = kugel__min(512, n - first);
    for (int64_t k = 0; k < parts; k++) {
      const char *from = c->from + ((i * n + first) * parts + k) * real;
      char *to = c->to.data + (at + first * c->to.step[3]) * (t.bits / 8) + k * t.bits / 16;
      kugel__volume_ops_now()->read(own, from, parts, count, values);
      bad += kugel__volume_ops_now()->write(part, values, count, to, c->to.step[3] * parts);
    }
  }
  if (bad && c->clipped)
    atomic_fetch_add(c->clipped, bad);
  return KUGEL_OK;
}

static void free_space(const kugel_volume *p, space *s)
{
  for (int d = 0; d < KUGEL__VOLUME_DIMS; d++)
    kugel__free(p->ctx, s->source[d]);
  kugel__free(p->ctx, s->tile);
  if (!s->direct)
    kugel__free(p->ctx, s->image);
}

// Whether the result holds the image that tiles are added to, in C order.
static bool holds_image(const kugel_volume *p, const kugel__volume_box *out)
{
  int64_t parts = p->opts.complex_data ? 2 : 1, step = 1;
  bool same = out->dtype.code == (parts == 2 ? KUGEL_COMPLEX : KUGEL_FLOAT) &&
              out->dtype.bits == 8 * kugel__volume_tile_sum_real(p) * (size_t)parts;
  for (int d = KUGEL__VOLUME_DIMS - 1; d >= 0; d--) {
    same &= out->step[d + 1] == step || p->axis[d].n == 1;
    step *= p->axis[d].n;
  }
  return same;
}

static kugel_status clear_slice(void *arg, int64_t z)
{
  const space *s = arg;
  memset(s->image + z * s->slice, 0, (size_t)s->slice);
  return KUGEL_OK;
}

static kugel_status make_space(const kugel_volume *p, bool adjoint, const kugel__volume_box *out, space *s)
{
  int64_t tile = 1, image = 1, parts = p->opts.complex_data ? 2 : 1, size = (int64_t)p->real * parts;
  int64_t sum = adjoint ? (int64_t)kugel__volume_tile_sum_real(p) * parts : 0;
  bool have = true;
  for (int d = 0; d < KUGEL__VOLUME_DIMS; d++) {
    int64_t reach = p->tile[d] + p->axis[d].k - 1;
    s->source[d] = kugel__alloc(p->ctx, (size_t)reach * 8);
    have &= s->source[d] != NULL;
    tile *= reach;
    image *= p->axis[d].n;
  }
  if (adjoint) {
    tile *= p->lanes ? kugel__lane_tiles_under_way(p->lanes) : 1;
    s->direct = holds_image(p, out);
    s->slice = p->axis[1].n * p->axis[2].n * sum;
    s->tile = kugel__alloc(p->ctx, (size_t)(tile * size));
    s->image = s->direct ? out->data : kugel__calloc(p->ctx, (size_t)(image * sum));
    have &= s->tile && s->image;
    if (have && s->direct)
      return kugel__parallel(p->ctx, p->axis[0].n, clear_slice, s);
  }
  return have ? KUGEL_OK
              : KUGEL_FAIL(KUGEL_ENOMEM, "no memory for %lld bytes of tiles",
                           (long long)(tile * size + image * sum));
}

kugel_status kugel__volume_run_tiles(const kugel_volume *p, bool adjoint, const kugel__volume_box *in,
                                     const kugel__volume_box *out, atomic_llong *clipped)
{
  int64_t tiles = p->tiles[0] * p->tiles[1] * p->tiles[2];
  space own = {.tile = NULL};
  kugel_status s = make_space(p, adjoint, out, &own);
  if (!s && (p->lanes || p->led) && !adjoint) { // several at a time
    all_tiles a = {.p = p, .s = &own, .in = in, .out = out};
    kugel__lane_work work = {.arg = &a, .count = tiles, .image = in, .tile = tile_of};
    s = p->led ? kugel__volume_led_run(p, &work, clipped)
               : kugel__lane_tiles_run(p, p->lanes, &work, clipped);
    tiles = 0;
  }
  if (!s && p->lanes && adjoint) {
    all_tiles a = {.p = p, .s = &own, .in = in, .rooms = kugel__lane_tiles_under_way(p->lanes)};
    a.room = (int64_t)p->real * (p->opts.complex_data ? 2 : 1);
    for (int d = 0; d < KUGEL__VOLUME_DIMS; d++)
      a.room *= p->tile[d] + p->axis[d].k - 1;
    s = run_adjoint(&a, tiles);
    tiles = 0;
  }
  for (int64_t i = 0; i < tiles && !s; i++) {
    kugel__span outer = kugel__progress_enter((double)i / (double)tiles, (double)(i + 1) / (double)tiles);
    s = run_one(p, adjoint, i, &own, in, out, clipped);
    kugel__progress_leave(outer);
  }
  copy all = {.p = p, .from = own.image, .to = *out, .clipped = clipped};
  if (adjoint && !own.direct && !s)
    s = kugel__parallel(p->ctx, p->axis[0].n * p->axis[1].n, copy_row, &all);
  free_space(p, &own);
  return s;
}
