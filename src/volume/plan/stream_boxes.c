/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams of tiles. Boxes of results go along z; the slices of the image that a box needs lie in slots, and stay there for the
 * next box. A box is whole planes, of all tiles along y and x, or one tile where planes are too large. */
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "volume/gpu/lane_tiles.h"
#include "volume/plan/plan.h"
#include "volume/plan/lead.h"
#include "volume/plan/stream.h"

typedef kugel__stream_range range;
typedef kugel__stream stream;

/* ---- what a box reaches ---- */

static range range_of(const kugel__volume_reach *r)
{
  if (!r->source)
    return (range){r->datum, r->count};
  int64_t lo = INT64_MAX, hi = 0;
  for (int64_t i = 0; i < r->count; i++) {
    lo = kugel__min(lo, r->source[i]);
    hi = kugel__max(hi, r->source[i]);
  }
  return (range){lo, hi + 1 - lo};
}

// The data along axis d of tile `tile`, or of all tiles.
static range region_of(stream *s, int d, int64_t tile, bool all)
{
  if (all)
    return (range){0, s->p->axis[d].n};
  kugel__volume_reach r = kugel__volume_reach_of(s->p, d, tile, s->source[d]);
  return range_of(&r);
}

static range results_of(const kugel_volume *p, int d, int64_t tile, bool all)
{
  if (all)
    return (range){0, p->axis[d].m};
  int64_t first = tile * p->tile[d];
  return (range){first, kugel__min(p->tile[d], p->axis[d].m - first)};
}

/* ---- reading and writing ---- */

static kugel_status call_read(stream *s, int64_t z, int64_t count, int64_t slot)
{
  const range *y = &s->region[1], *x = &s->region[2];
  int64_t lo[3] = {z, y->first, x->first}, n[3] = {count, y->count, x->count};
  int lead = KUGEL__VOLUME_DIMS - s->p->ndim;
  int code = s->o->read(s->o->user, lo + lead, n + lead, s->in + slot * y->count * x->count * s->size_in);
  KUGEL_CHECK(code == 0, KUGEL_EIO, "the read callback returned %d at slice %lld", code, (long long)z);
  return KUGEL_OK;
}

static int64_t find(const stream *s, int64_t z)
{
  for (int64_t i = 0; i < s->slots; i++)
    if (s->held[i] == z)
      return i;
  return -1;
}

// Puts the slices that the box needs into slots: those not there yet are read, as many at a time as follow each other.
static kugel_status load_slices(stream *s, const kugel__volume_reach *r)
{
  int64_t next = 0;
  for (int64_t i = 0; i < s->slots; i++) { // what is not needed any more
    bool needed = false;
    for (int64_t k = 0; k < r->count && !needed; k++)
      needed = s->held[i] == (r->source ? r->source[k] : r->datum + k);
    s->held[i] = needed ? s->held[i] : -1;
  }
  for (int64_t k = 0, z = 0, first = 0; k < r->count; k++) {
    int64_t want = r->source ? r->source[k] : r->datum + k, count = 0;
    s->slot[k] = find(s, want);
    if (s->slot[k] >= 0)
      continue;
    while (next < s->slots && s->held[next] >= 0)
      next++;
    for (z = want, first = next; next < s->slots && s->held[next] < 0 && k + count < r->count;
         next++, count++) {
      int64_t more = r->source ? r->source[k + count] : r->datum + k + count;
      if (more != z + count || find(s, more) >= 0)
        break;
      s->held[next] = more;
    }
    KUGEL_TRY(call_read(s, z, count, first));
    s->slot[k] = first;
  }
  return KUGEL_OK;
}

/* ---- boxes ---- */

// Tile (z, y, x) of the box, whose image is in the slots and whose results, at `box`, go to `results_at`.
static kugel__lane_tile tile_of(stream *s, const kugel__volume_reach *z, int64_t y, int64_t x,
                                const range *box, char *results_at)
{
  const kugel_volume *p = s->p;
  kugel__volume_reach reach[3] = {*z, kugel__volume_reach_of(p, 1, y, s->source[1]),
                                  kugel__volume_reach_of(p, 2, x, s->source[2])};
  kugel__volume_box in = {.data = s->in, .dtype = s->o->in}, out = {.data = results_at, .dtype = s->o->out};
  int64_t plane = s->region[1].count * s->region[2].count, results = box[1].count * box[2].count;
  memcpy(in.step, (int64_t[4]){0, plane, s->region[2].count, 1}, sizeof in.step);
  memcpy(out.step, (int64_t[4]){box[0].count * results, results, box[2].count, 1}, sizeof out.step);
  reach[0].source = s->slot;
  for (int d = 1; d < 3; d++) {
    for (int64_t i = 0; i < reach[d].count && reach[d].source; i++)
      reach[d].source[i] -= s->region[d].first;
    in.data += reach[d].source ? 0 : (reach[d].datum - s->region[d].first) * in.step[d + 1] * s->size_in;
    out.data += (reach[d].result - box[d].first) * out.step[d + 1] * s->size_out;
  }
  kugel__lane_tile tile = {.in = in, .out = out};
  memcpy(tile.reach, reach, sizeof reach);
  return tile;
}

static kugel_status run_tile(stream *s, const kugel__volume_reach *z, int64_t y, int64_t x, const range *box)
{
  kugel__lane_tile t = tile_of(s, z, y, x, box, s->out);
  return kugel__volume_run_tile(s->p, t.reach, false, &t.in, &t.out, &s->clipped);
}

static kugel_status write_box(stream *s, const range *box, const char *values)
{
  int lead = KUGEL__VOLUME_DIMS - s->p->ndim;
  int64_t lo[3] = {box[0].first, box[1].first, box[2].first},
          n[3] = {box[0].count, box[1].count, box[2].count};
  int code = s->o->write(s->o->user, lo + lead, n + lead, values);
  KUGEL_CHECK(code == 0, KUGEL_EIO, "the write callback returned %d at slice %lld", code, (long long)lo[0]);
  return KUGEL_OK;
}

// What a box needs is in the slots.
static kugel_status begin_box(stream *s, int64_t column, int64_t z, range box[3], kugel__volume_reach *r)
{
  const kugel_volume *p = s->p;
  int64_t y = s->planes ? 0 : column / p->tiles[2], x = s->planes ? 0 : column % p->tiles[2];
  range of[3] = {results_of(p, 0, z, false), results_of(p, 1, y, s->planes), results_of(p, 2, x, s->planes)};
  memcpy(box, of, sizeof of);
  range region[3] = {{0, 0}, region_of(s, 1, y, s->planes), region_of(s, 2, x, s->planes)};
  if (memcmp(region, s->region, sizeof region))
    for (int64_t i = 0; i < s->slots; i++)
      s->held[i] = -1;
  memcpy(s->region, region, sizeof region);
  *r = kugel__volume_reach_of(p, 0, z, s->source[0]);
  return load_slices(s, r);
}

static kugel_status run_box(stream *s, int64_t column, int64_t z)
{
  const kugel_volume *p = s->p;
  int64_t y = s->planes ? 0 : column / p->tiles[2], x = s->planes ? 0 : column % p->tiles[2];
  range box[3];
  kugel__volume_reach r;
  KUGEL_TRY(begin_box(s, column, z, box, &r));
  int64_t end_y = s->planes ? p->tiles[1] : y + 1, end_x = s->planes ? p->tiles[2] : x + 1;
  for (int64_t j = y; j < end_y; j++)
    for (int64_t i = x; i < end_x; i++)
      KUGEL_TRY(run_tile(s, &r, j, i, box));
  return write_box(s, box, s->out);
}

/* ---- boxes on devices and ranks: the next one is read while tiles of earlier ones are convolved ---- */

static int64_t columns_of(const stream *s)
{
  return s->planes ? 1 : s->p->tiles[1] * s->p->tiles[2];
}
static int64_t tiles_of(const stream *s) // of a box
{
  return s->planes ? s->p->tiles[1] * s->p->tiles[2] : 1;
}

// Tile i of all boxes that are to be written.
static kugel_status next_tile(void *arg, int64_t i, kugel__lane_tile *out)
{
  stream *s = arg;
  int64_t box = s->first + i / tiles_of(s), column = box / s->p->tiles[0], room = box % s->rooms;
  if (box != s->box) {
    KUGEL_TRY(begin_box(s, column, box % s->p->tiles[0], s->boxes[room], &s->reach));
    s->box = box;
    s->left[room] = tiles_of(s);
  }
  int64_t at = s->planes ? i % tiles_of(s) : column;
  *out = tile_of(s, &s->reach, at / s->p->tiles[2], at % s->p->tiles[2], s->boxes[room],
                 s->out + room * s->room);
  return KUGEL_OK;
}

// Boxes are written in their order.
static kugel_status tile_done(void *arg, int64_t i)
{
  stream *s = arg;
  int64_t boxes = columns_of(s) * s->p->tiles[0];
  s->left[(s->first + i / tiles_of(s)) % s->rooms]--;
  for (; s->written <= s->box && !s->left[s->written % s->rooms]; s->written++) {
    int64_t room = s->written % s->rooms;
    KUGEL_TRY(write_box(s, s->boxes[room], s->out + room * s->room));
    KUGEL_CHECK(!s->o->done || !s->o->done(s->o->user, s->written, boxes), KUGEL_ECANCELED,
                "the done callback stopped the work after box %lld of %lld", (long long)s->written,
                (long long)boxes);
  }
  return KUGEL_OK;
}

static kugel_status run_on_devices(stream *s, int64_t boxes)
{
  kugel__lane_work work = {
      .arg = s, .count = (boxes - s->first) * tiles_of(s), .tile = next_tile, .done = tile_done};
  s->box = -1;
  s->written = s->first;
  if (!work.count)
    return KUGEL_OK;
  return s->p->led ? kugel__volume_led_run(s->p, &work, &s->clipped)
                   : kugel__lane_tiles_run(s->p, s->p->lanes, &work, &s->clipped);
}

static kugel_status run_boxes(stream *s)
{
  const kugel_volume *p = s->p;
  int64_t columns = columns_of(s), boxes = columns * p->tiles[0];
  KUGEL_TRY(kugel__stream_first(s, boxes));
  if (p->lanes || p->led)
    return run_on_devices(s, boxes);
  for (int64_t i = s->first; i < boxes; i++) {
    kugel__span outer = kugel__progress_enter((double)i / (double)boxes, (double)(i + 1) / (double)boxes);
    kugel_status status = run_box(s, i / p->tiles[0], i % p->tiles[0]);
    kugel__progress_leave(outer);
    KUGEL_TRY(status);
    KUGEL_CHECK(!s->o->done || !s->o->done(s->o->user, i, boxes), KUGEL_ECANCELED,
                "the done callback stopped the work after box %lld of %lld", (long long)i, (long long)boxes);
  }
  return KUGEL_OK;
}

/* ---- memory ---- */

// Bytes of slots and results with boxes of planes, or of one tile.
static double bytes_of(const stream *s, bool planes)
{
  const kugel_volume *p = s->p;
  double in = (double)s->slots * (double)s->size_in,
         out = (double)p->tile[0] * (double)s->size_out * p->kernels * (double)s->rooms;
  for (int d = 1; d < 3; d++) {
    // beyond periodic edges a tile needs both ends
    int64_t reach =
        p->opts.boundary == KUGEL_BOUNDARY_PERIODIC ? p->axis[d].n : p->tile[d] + p->axis[d].k - 1;
    in *= (double)(planes ? p->axis[d].n : kugel__min(p->axis[d].n, reach));
    out *= (double)(planes ? p->axis[d].m : p->tile[d]);
  }
  return in + out;
}

static kugel_status make_stream(stream *s)
{
  const kugel_volume *p = s->p;
  kugel_volume_info info;
  double limit = (double)kugel__volume_limit(p);
  kugel__volume_figures(p, &info);
  s->slots = p->tile[0] + p->axis[0].k - 1;
  s->rooms = p->lanes ? kugel__lane_tiles_under_way(p->lanes) + 1
             : p->led ? kugel__volume_led_under_way(p) + 1
                      : 1;
  KUGEL_CHECK(s->rooms <= KUGEL__STREAM_ROOMS, KUGEL_ENOTSUP, "a stream takes at most %d devices or %d ranks",
              KUGEL__STREAM_ROOMS / 3 - 1, KUGEL__STREAM_ROOMS - 1);
  s->planes = limit == 0 || bytes_of(s, true) + (double)info.host_bytes <= limit ||
              bytes_of(s, true) <= bytes_of(s, false);
  double in = (double)s->slots * (double)s->size_in, bytes = bytes_of(s, s->planes);
  for (int d = 1; d < 3; d++) {
    int64_t reach =
        p->opts.boundary == KUGEL_BOUNDARY_PERIODIC ? p->axis[d].n : p->tile[d] + p->axis[d].k - 1;
    in *= (double)(s->planes ? p->axis[d].n : kugel__min(p->axis[d].n, reach));
  }
  bool have = true;
  for (int d = 0; d < KUGEL__VOLUME_DIMS; d++) {
    s->source[d] = kugel__alloc(p->ctx, (size_t)(p->tile[d] + p->axis[d].k - 1) * 8);
    have &= s->source[d] != NULL;
  }
  s->held = kugel__alloc(p->ctx, (size_t)s->slots * 8);
  s->slot = kugel__alloc(p->ctx, (size_t)s->slots * 8);
  s->in = kugel__alloc(p->ctx, (size_t)in);
  s->out = kugel__alloc(p->ctx, (size_t)(bytes - in));
  s->room = (int64_t)(bytes - in) / s->rooms;
  s->left = kugel__calloc(p->ctx, (size_t)s->rooms * 8);
  KUGEL_CHECK(have && s->left && s->held && s->slot && s->in && s->out, KUGEL_ENOMEM,
              "no memory for %.0f bytes of boxes: limit it by "
              "kugel_ctx_limit_memory",
              bytes);
  for (int64_t i = 0; i < s->slots; i++)
    s->held[i] = -1;
  return KUGEL_OK;
}

void kugel__stream_free(stream *s)
{
  kugel_ctx *ctx = s->p->ctx;
  for (int d = 0; d < KUGEL__VOLUME_DIMS; d++)
    kugel__free(ctx, s->source[d]);
  kugel__free(ctx, s->held);
  kugel__free(ctx, s->left);
  kugel__free(ctx, s->slot);
  kugel__free(ctx, s->in);
  kugel__free(ctx, s->out);
}

kugel_status kugel__stream_tiles(stream *s)
{
  KUGEL_TRY(make_stream(s));
  return run_boxes(s);
}
