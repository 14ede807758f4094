/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole maps from one order to another, in square tiles of faces: what a tile is read and written of stays in
 * the first cache. */
#include <string.h>
#include "core/array.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "device/device.h"
#include "healpix/layout.h"

enum { TILE = 64 };

/* Where the pixels of a tile are in a map: pixel x, y at x_at[x] + y_at[y]. Not for RING. */
typedef struct side {
  int64_t x_at[TILE], y_at[TILE];
} side;

typedef struct tile {
  int64_t face, x0, y0, width, height;
} tile;

typedef struct job {
  kugel__reorder r;
  int64_t across; // tiles along an edge of a face
  const char *in;
  char *out;
} job;

static inline void move(char *to, const char *from, size_t bytes)
{
  switch (bytes) {
  case 1:
    *to = *from;
    break;
  case 2:
    memcpy(to, from, 2);
    break;
  case 4:
    memcpy(to, from, 4);
    break;
  case 8:
    memcpy(to, from, 8);
    break;
  default:
    memcpy(to, from, 16);
  }
}

static void side_set(const job *j, kugel_order order, const tile *t, side *s)
{
  int64_t n = j->r.nside;
  if (order == KUGEL_ORDER_NESTED) {
    int64_t base = kugel__xyf_to_nest(n, (kugel__xyf){t->x0, t->y0, t->face});
    for (int64_t i = 0; i < TILE; i++) {
      s->x_at[i] = base + (int64_t)kugel__spread((uint64_t)i);
      s->y_at[i] = 2 * (int64_t)kugel__spread((uint64_t)i);
    }
    return;
  }
  kugel__flat f = kugel__flat_of(n, order);
  int64_t base = kugel__xyf_to_flat(n, order, (kugel__xyf){t->x0, t->y0, t->face});
  for (int64_t i = 0; i < TILE; i++) {
    s->x_at[i] = base + i * f.by_x;
    s->y_at[i] = i * f.by_y;
  }
}

// `count` pixels of diagonal x + y = d from x on: RING ones follow each other from `ring` on.
static inline __attribute__((always_inline)) void move_run(const job *j, size_t bytes, const side *s,
                                                           bool from_ring, int64_t d, int64_t x,
                                                           int64_t count, int64_t ring)
{
  for (int64_t k = 0; k < j->r.batch; k++) {
    const char *in = j->in + k * j->r.npix * (int64_t)bytes;
    char *out = j->out + k * j->r.npix * (int64_t)bytes;
    if (from_ring)
      for (int64_t i = 0; i < count; i++)
        move(out + (size_t)(s->x_at[x + i] + s->y_at[d - x - i]) * bytes, in + (size_t)(ring + i) * bytes,
             bytes);
    else
      for (int64_t i = 0; i < count; i++)
        move(out + (size_t)(ring + i) * bytes, in + (size_t)(s->x_at[x + i] + s->y_at[d - x - i]) * bytes,
             bytes);
  }
}

// Along a diagonal x - y rises by two from pixel to pixel, and RING pixels follow each other.
static inline __attribute__((always_inline)) void move_diagonals(const job *j, const tile *t, size_t bytes,
                                                                 const side *s, bool from_ring)
{
  int64_t n = j->r.nside;
  for (int64_t d = 0; d < t->width + t->height - 1; d++) {
    int64_t lo = kugel__max(0, d - t->height + 1), count = kugel__min(d, t->width - 1) - lo + 1;
    kugel__ring r = kugel__ring_of(n, kugel__face_ring[t->face] * n - t->x0 - t->y0 - d - 1);
    int64_t at = (kugel__face_lon[t->face] * (r.length / 4) + t->x0 - t->y0 + 2 * lo - d - r.shifted) / 2;
    at += at < 0 ? r.length : at >= r.length ? -r.length : 0;
    int64_t first = kugel__min(count, r.length - at);
    move_run(j, bytes, s, from_ring, d, lo, first, r.start + at);
    move_run(j, bytes, s, from_ring, d, lo + first, count - first, r.start);
  }
}

static inline __attribute__((always_inline)) void move_square(const job *j, const tile *t, size_t bytes,
                                                              const side *from, const side *to)
{
  for (int64_t k = 0; k < j->r.batch; k++)
    for (int64_t y = 0; y < t->height; y++) {
      const char *in = j->in + (k * j->r.npix + from->y_at[y]) * (int64_t)bytes;
      char *out = j->out + (k * j->r.npix + to->y_at[y]) * (int64_t)bytes;
      for (int64_t x = 0; x < t->width; x++)
        move(out + to->x_at[x] * (int64_t)bytes, in + from->x_at[x] * (int64_t)bytes, bytes);
    }
}

static inline __attribute__((always_inline)) void move_tile(const job *j, int64_t index, size_t bytes)
{
  int64_t across = j->across, face = index / (across * across), in = index - face * across * across;
  kugel__xyf at = {in % across, in / across, face};
  if ((across & (across - 1)) == 0) // along the Z-order: what is near in NESTED memory is near in time
    at = kugel__nest_to_xyf(across, index);
  tile t = {.face = face, .x0 = at.x * TILE, .y0 = at.y * TILE};
  side from, to;
  t.width = kugel__min(TILE, j->r.nside - t.x0);
  t.height = kugel__min(TILE, j->r.nside - t.y0);
  if (j->r.from != KUGEL_ORDER_RING)
    side_set(j, j->r.from, &t, &from);
  if (j->r.to != KUGEL_ORDER_RING)
    side_set(j, j->r.to, &t, &to);
  if (j->r.from == KUGEL_ORDER_RING)
    move_diagonals(j, &t, bytes, &to, true);
  else if (j->r.to == KUGEL_ORDER_RING)
    move_diagonals(j, &t, bytes, &from, false);
  else
    move_square(j, &t, bytes, &from, &to);
}

static kugel_status task(void *arg, int64_t index)
{
  const job *j = arg;
  switch (j->r.bytes) { // known to the compiler
  case 1:
    move_tile(j, index, 1);
    break;
  case 2:
    move_tile(j, index, 2);
    break;
  case 4:
    move_tile(j, index, 4);
    break;
  case 8:
    move_tile(j, index, 8);
    break;
  default:
    move_tile(j, index, 16);
  }
  return KUGEL_OK;
}

static kugel_status check_order(int64_t nside, kugel_order order, const char *name)
{
  KUGEL_CHECK(kugel__layout_ok(nside, order), KUGEL_EINVAL,
              "nside is %lld and %s order %d: nside must be 1 to 2^29, for NESTED (2) a power of two, "
              "and the order RING (1), NESTED or a flat layout (16 to 23)",
              (long long)nside, name, (int)order);
  return KUGEL_OK;
}

kugel_status kugel_healpix_reorder(kugel_ctx *ctx, int64_t nside, kugel_order from, kugel_order to,
                                   const kugel_array *in, const kugel_array *out, kugel_queue *queue)
{
  KUGEL_TRY(check_order(nside, from, "from"));
  KUGEL_TRY(check_order(nside, to, "to"));
  kugel__reorder r = {nside, 12 * nside * nside, -1, from, to, 0};
  kugel__device *device = kugel__ctx_device(ctx);
  KUGEL_CHECK(in, KUGEL_EINVAL, "in is NULL: pass a map");
  int bytes = in->dtype.bits / 8;
  KUGEL_CHECK(bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16, KUGEL_ESHAPE,
              "elements of in have %d bits, must be 8, 16, 32, 64 or 128", in->dtype.bits);
  r.bytes = (size_t)bytes;
  KUGEL_TRY(kugel__array_check_on(&device->info.device, in, "in", in->dtype, 1, &r.npix, &r.batch));
  KUGEL_TRY(kugel__array_check_on(&device->info.device, out, "out", in->dtype, 1, &r.npix, &r.batch));
  if (in->device.type != KUGEL_OPENCL && in->device.type == out->device.type)
    KUGEL_TRY(kugel__array_disjoint(in, "in", out, "out"));
  if (r.batch == 0)
    return KUGEL_OK;
  if (device->ops->type != KUGEL_CPU)
    return kugel__reorder_gpu(ctx, &r, in, out, queue);
  KUGEL_CHECK(!queue || queue->device->ops->type == KUGEL_CPU, KUGEL_EINVAL,
              "queue is of another device than the context: pass NULL or one of its own");
  job j = {r, (nside + TILE - 1) / TILE, kugel__array_data(in), kugel__array_data(out)};
  if (from == to) {
    memcpy(j.out, j.in, (size_t)(r.batch * r.npix * bytes));
    return KUGEL_OK;
  }
  return kugel__parallel(ctx, 12 * j.across * j.across, task, &j);
}
