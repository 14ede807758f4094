/* SPDX-License-Identifier: BSD-3-Clause */
/* Points to the fine grid and back, tile by tile. */
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "nufft/plan.h"

KUGEL_DISPATCH(kugel__nufft_ops, kugel__nufft_ops)

/* A tile with more points is spread in pieces, which are added in order: a cluster keeps all threads busy. At most so many
 * pieces at a time have a buffer of their own. */
enum { PIECE = 32768, PIECES = 32 };

typedef struct job {
  const kugel_nufft_points *p;
  const kugel__nufft_ops *ops;
  char *buffers, *grid;
  size_t number, bytes; /* of a number, of a buffer */
  const void *strengths;
  void *values;
  int64_t pitch, stride, part, tile, first, n; /* first, n: columns of a colour, or pieces of `tile` */
  int64_t workers;                             // that buffers have room for, or more
} job;

/* ---- between a buffer and the grid ---- */

typedef void (*mover)(const job *j, int64_t n, char *cells, char *buffer);

static void add_cells(const job *j, int64_t n, char *cells, char *buffer)
{
  j->ops->add[j->p->plan->single]((j->p->plan->real ? 1 : 2) * n, buffer, cells);
}

static void copy_cells(const job *j, int64_t n, char *cells, char *buffer)
{
  memcpy(buffer, cells, (size_t)n * j->number);
}

/* A row of a buffer against the grid's row of the last axis, around the period. */
static void move_row(const job *j, mover move, int64_t start, int64_t length, char *cells, char *buffer)
{
  const kugel__nufft_axis *a = &j->p->plan->axis[j->p->plan->ndim - 1];
  for (int64_t done = 0; done < length;) {
    int64_t at = (start + done) % a->fine, n = kugel__min(length - done, a->fine - at);
    move(j, n, cells + (size_t)at * j->number, buffer + (size_t)done * j->number);
    done += n;
  }
}

/* Rows of the grid lie in pages of their own, where the processor foresees nothing: the next one is asked for. */
static void ask(const job *j, const char *cells, int64_t start, int64_t length)
{
  const kugel__nufft_axis *a = &j->p->plan->axis[j->p->plan->ndim - 1];
  const int64_t n = kugel__min(length, a->fine - start);
  for (int64_t at = 0; at < n * (int64_t)j->number; at += 64)
    __builtin_prefetch(cells + start * (int64_t)j->number + at);
}

/* Slices first ... end - 1 of a tile: its planes in three dimensions, rows in two. Cells of one dimension go as a whole. */
static void move_slices(const job *j, mover move, int64_t tile, int64_t first, int64_t end, char *buffer)
{
  const kugel_nufft *p = j->p->plan;
  int64_t start[3] = {0}, length[3] = {1, 1, 1}, fine[2] = {1, 1};
  for (int d = p->ndim - 1, k = 2; d >= 0; d--, k--) {
    const kugel__nufft_axis *a = &p->axis[d];
    start[k] = a->start[tile % a->tiles];
    length[k] = a->start[tile % a->tiles + 1] - start[k] + p->kernel.width - 1;
    if (k < 2)
      fine[k] = a->fine;
    tile /= a->tiles;
  }
  const int64_t x0 = p->ndim == 3 ? first : 0, x1 = p->ndim == 3 ? end : 1, y0 = p->ndim == 2 ? first : 0,
                y1 = p->ndim == 2 ? end : length[1], rows = (x1 - x0) * (y1 - y0);
  for (int64_t i = 0, ahead = 2; i < rows; i++, ahead++) {
    const int64_t x = x0 + i / (y1 - y0), y = y0 + i % (y1 - y0);
    if (ahead < rows) {
      const int64_t x2 = x0 + ahead / (y1 - y0), y2 = y0 + ahead % (y1 - y0);
      int64_t row = (start[0] + x2) % fine[0] * fine[1] + (start[1] + y2) % fine[1];
      ask(j, j->grid + (size_t)(row * j->pitch) * j->number, start[2], length[2]);
    }
    int64_t row = (start[0] + x) % fine[0] * fine[1] + (start[1] + y) % fine[1];
    move_row(j, move, start[2], length[2], j->grid + (size_t)(row * j->pitch) * j->number,
             buffer + (size_t)(x * p->tile.plane + y * p->tile.row) * j->number);
  }
}

/* Cells of a tile along the first axis, without the margin, and the bytes of a slice in a buffer. */
static int64_t depth_of(const kugel_nufft *p, int64_t tile)
{
  const kugel__nufft_axis *a = &p->axis[0];
  tile /= p->tiles / a->tiles;
  return a->start[tile + 1] - a->start[tile];
}

static size_t slice_of(const job *j)
{
  const kugel_nufft *p = j->p->plan;
  return (size_t)(p->ndim == 3 ? p->tile.plane : p->ndim == 2 ? p->tile.row : 1) * j->number;
}

static void move_tile(const job *j, mover move, int64_t tile, char *buffer)
{
  move_slices(j, move, tile, 0, depth_of(j->p->plan, tile) + j->p->plan->kernel.width - 1, buffer);
}

/* Whether tile i + 1 of the list continues tile i along the first axis, in the same column. */
static bool goes_on(const kugel_nufft_points *p, int64_t i, int64_t end)
{
  return p->plan->ndim > 1 && i + 1 < end &&
         p->place[i + 1] == p->place[i] + p->plan->tiles / p->plan->axis[0].tiles;
}

/* ---- zeros ---- */

enum { CLEAR = 1 << 22 }; /* bytes */

typedef struct clearing {
  char *grid;
  int64_t bytes;
} clearing;

static kugel_status clear_part(void *arg, int64_t i)
{
  const clearing *c = arg;
  memset(c->grid + i * CLEAR, 0, (size_t)kugel__min(CLEAR, c->bytes - i * CLEAR));
  return KUGEL_OK;
}

kugel_status kugel__nufft_zero(kugel_ctx *ctx, void *grid, int64_t bytes)
{
  clearing c = {grid, bytes};
  return kugel__parallel(ctx, (bytes + CLEAR - 1) / CLEAR, clear_part, &c);
}

kugel_status kugel__nufft_clear(const kugel_nufft *p, void *grid)
{
  return kugel__nufft_zero(p->ctx, grid, kugel__nufft_grid(p));
}

/* ---- spreading ---- */

static void spread_points(const job *j, int64_t first, int64_t n, char *buffer)
{
  const kugel_nufft_points *p = j->p;
  if (p->plan->gradient)
    j->ops->spread_gradient[p->plan->single](&p->tile, first, n, j->strengths, j->stride, j->part, buffer);
  else
    j->ops->spread[p->plan->single][p->plan->real](&p->tile, first, n, j->strengths, j->stride, buffer);
}

static bool crowded(const kugel_nufft_points *p, int64_t tile)
{
  return p->first[tile + 1] - p->first[tile] > PIECE;
}

/* A column of tiles: slices that two of them share stay in the buffer. */
static kugel_status spread_column(void *arg, int64_t i, int worker)
{
  const job *j = arg;
  const kugel_nufft_points *p = j->p;
  const int64_t end = p->column[j->first + i + 1], margin = p->plan->kernel.width - 1;
  const size_t slice = slice_of(j);
  char *buffer = j->buffers + (size_t)worker * j->bytes;
  memset(buffer, 0, j->bytes);
  for (int64_t tile = p->column[j->first + i]; tile < end; tile++) {
    const int64_t place = p->place[tile], depth = depth_of(p->plan, place);
    const bool more = goes_on(p, tile, end);
    if (!crowded(p, tile)) // else done before
      spread_points(j, p->first[tile], p->first[tile + 1] - p->first[tile], buffer);
    move_slices(j, add_cells, place, 0, depth + (more ? 0 : margin), buffer);
    if (more)
      memmove(buffer, buffer + (size_t)depth * slice, (size_t)margin * slice);
    const size_t kept = more ? (size_t)margin * slice : 0;
    if (tile + 1 < end)
      memset(buffer + kept, 0, j->bytes - kept);
  }
  return KUGEL_OK;
}

static kugel_status spread_piece(void *arg, int64_t i)
{
  const job *j = arg;
  const kugel_nufft_points *p = j->p;
  int64_t first = p->first[j->tile] + (j->first + i) * PIECE;
  char *buffer = j->buffers + (size_t)i * j->bytes;
  memset(buffer, 0, j->bytes);
  spread_points(j, first, kugel__min(PIECE, p->first[j->tile + 1] - first), buffer);
  return KUGEL_OK;
}

static kugel_status spread_cluster(job *j)
{
  const kugel_nufft_points *p = j->p;
  int64_t pieces = (p->first[j->tile + 1] - p->first[j->tile] + PIECE - 1) / PIECE;
  for (j->first = 0; j->first < pieces; j->first += PIECES) {
    int64_t n = kugel__min(PIECES, pieces - j->first);
    KUGEL_TRY(kugel__parallel(p->plan->ctx, n, spread_piece, j));
    for (int64_t i = 0; i < n; i++)
      move_tile(j, add_cells, p->place[j->tile], j->buffers + (size_t)i * j->bytes);
  }
  return KUGEL_OK;
}

static kugel_status begin(job *j, const kugel_nufft_points *p, int64_t stride)
{
  bool clusters = false;
  for (int64_t i = 0; i < p->occupied; i++)
    clusters |= crowded(p, i);
  j->workers = kugel__ctx_threads(p->plan->ctx);
  int64_t buffers = clusters ? kugel__max(j->workers, PIECES) : j->workers;
  j->p = p;
  j->ops = kugel__nufft_ops_get();
  j->number = (size_t)kugel__nufft_number(p->plan);
  j->bytes = (size_t)p->plan->buffer * j->number + KUGEL__NUFFT_SPARE * sizeof(double);
  j->bytes = (j->bytes + 63) / 64 * 64;
  j->stride = stride;
  j->buffers = kugel__scratch_get(p->plan->ctx, (size_t)buffers * j->bytes);
  KUGEL_CHECK(j->buffers, KUGEL_ENOMEM, "no memory for %lld tiles of %zu bytes", (long long)buffers,
              j->bytes);
  return KUGEL_OK;
}

static kugel_status spread_all(job *j)
{
  const kugel_nufft_points *p = j->p;
  for (j->tile = 0; j->tile < p->occupied; j->tile++)
    if (crowded(p, j->tile))
      KUGEL_TRY(spread_cluster(j));
  for (int c = 0; c < KUGEL__NUFFT_COLOURS; c++) {
    int64_t n = p->colour[c + 1] - p->colour[c];
    j->first = p->colour[c];
    if (n == 0)
      continue;
    kugel__progress_stage((double)p->colour[c] / (double)p->columns,
                          (double)p->colour[c + 1] / (double)p->columns, "spreading");
    KUGEL_TRY(kugel__parallel_on(p->plan->ctx, j->workers, n, spread_column, j));
  }
  return KUGEL_OK;
}

kugel_status kugel__nufft_spread(const kugel_nufft_points *p, const void *strengths, int64_t stride,
                                 int64_t part, int64_t pitch, void *grid)
{
  job j = {.grid = grid, .pitch = pitch, .strengths = strengths, .part = part};
  KUGEL_TRY(begin(&j, p, stride));
  kugel_status s = spread_all(&j);
  kugel__scratch_put(p->plan->ctx, j.buffers);
  return s;
}

/* ---- interpolation ---- */

static void interpolate(const job *j, int64_t first, int64_t n, const char *buffer)
{
  const kugel_nufft_points *p = j->p;
  if (p->plan->gradient)
    j->ops->interpolate_gradient[p->plan->single](&p->tile, first, n, buffer, j->values, j->stride, j->part);
  else
    j->ops->interpolate[p->plan->single][p->plan->real](&p->tile, first, n, buffer, j->values, j->stride);
}

static kugel_status interpolate_column(void *arg, int64_t i, int worker)
{
  const job *j = arg;
  const kugel_nufft_points *p = j->p;
  const int64_t end = p->column[i + 1], margin = p->plan->kernel.width - 1;
  const size_t slice = slice_of(j);
  char *buffer = j->buffers + (size_t)worker * j->bytes;
  int64_t had = 0;
  memset(buffer, 0, j->bytes); // rows are read beyond the kernel, with weights of 0
  for (int64_t tile = p->column[i]; tile < end; tile++) {
    const int64_t place = p->place[tile], depth = depth_of(p->plan, place);
    move_slices(j, copy_cells, place, had, depth + margin, buffer);
    if (!crowded(p, tile))
      interpolate(j, p->first[tile], p->first[tile + 1] - p->first[tile], buffer);
    had = goes_on(p, tile, end) ? margin : 0;
    memmove(buffer, buffer + (size_t)depth * slice, (size_t)had * slice);
  }
  return KUGEL_OK;
}

static kugel_status interpolate_piece(void *arg, int64_t i, int worker)
{
  const job *j = arg;
  int64_t first = j->p->first[j->tile] + i * PIECE;
  char *buffer = j->buffers + (size_t)worker * j->bytes;
  memset(buffer, 0, j->bytes);
  move_tile(j, copy_cells, j->p->place[j->tile], buffer);
  interpolate(j, first, kugel__min(PIECE, j->p->first[j->tile + 1] - first), buffer);
  return KUGEL_OK;
}

static kugel_status interpolate_all(job *j)
{
  const kugel_nufft_points *p = j->p;
  for (j->tile = 0; j->tile < p->occupied; j->tile++)
    if (crowded(p, j->tile))
      KUGEL_TRY(kugel__parallel_on(p->plan->ctx, j->workers,
                                   (p->first[j->tile + 1] - p->first[j->tile] + PIECE - 1) / PIECE,
                                   interpolate_piece, j));
  kugel__progress_stage(0, 1, "interpolating");
  return kugel__parallel_on(p->plan->ctx, j->workers, p->columns, interpolate_column, j);
}

kugel_status kugel__nufft_interpolate(const kugel_nufft_points *p, const void *grid, int64_t pitch,
                                      void *values, int64_t stride, int64_t part)
{
  job j = {.grid = (char *)(uintptr_t)grid, .pitch = pitch, .values = values, .part = part};
  KUGEL_TRY(begin(&j, p, stride));
  kugel_status s = interpolate_all(&j);
  kugel__scratch_put(p->plan->ctx, j.buffers);
  return s;
}
