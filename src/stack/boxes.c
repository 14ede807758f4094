/* SPDX-License-Identifier: BSD-3-Clause */
/* Boxes of a stack: read from the pieces that they meet, and handed to them. */
#include <string.h>
#include "core/ctx.h"
#include "core/parallel.h"
#include "stack/stack.h"

kugel_status kugel__stack_box(const kugel_image *im, int64_t t, int64_t c, const int64_t *lo,
                              const int64_t *n, const kugel_array *values, int64_t stride[3])
{
  const int64_t *shape = im->info.shape;
  KUGEL_CHECK(lo && n && values, KUGEL_EINVAL, "%s is NULL", !lo ? "lo" : !n ? "n" : "values");
  KUGEL_CHECK(t >= 0 && t < shape[0], KUGEL_EINVAL, "time is %lld, must be 0 to %lld", (long long)t,
              (long long)(shape[0] - 1));
  KUGEL_CHECK(c >= 0 && c < shape[1], KUGEL_EINVAL, "channel is %lld, must be 0 to %lld", (long long)c,
              (long long)(shape[1] - 1));
  for (int i = 0; i < 3; i++)
    KUGEL_CHECK(lo[i] >= 0 && n[i] >= 1 && n[i] <= shape[2 + i] && lo[i] <= shape[2 + i] - n[i], KUGEL_EINVAL,
                "the box starts at %lld and has length %lld along %c, must lie within 0 to %lld",
                (long long)lo[i], (long long)n[i], "zyx"[i], (long long)shape[2 + i]);
  KUGEL_CHECK(values->device.type == KUGEL_CPU, KUGEL_EDEVICE,
              "values is on device type %d: pass host memory", values->device.type);
  KUGEL_CHECK(values->data, KUGEL_EINVAL, "values has data NULL");
  KUGEL_CHECK(
      kugel__stack_number(values->dtype), KUGEL_ESHAPE,
      "values has elements of type (%d, %d bits), must be int8 to uint64, float16, float32 or float64",
      values->dtype.code, values->dtype.bits);
  KUGEL_CHECK(values->ndim >= 0 && values->ndim <= 32 && (values->shape || !values->ndim), KUGEL_ESHAPE,
              "values has ndim %d, must be 0 to 32", values->ndim);
  int64_t step = 1;
  int axis = 2;
  stride[0] = stride[1] = stride[2] = 0;
  for (int i = values->ndim - 1; i >= 0; i--) {
    int64_t extent = values->shape[i];
    while (axis > 0 && n[axis] == 1 && extent != 1)
      axis--;
    bool fits = axis >= 0 && extent == n[axis];
    if (fits)
      stride[axis--] = values->strides ? values->strides[i] : step;
    else
      KUGEL_CHECK(extent == 1, KUGEL_ESHAPE,
                  "values has extent %lld on axis %d, the box is %lld x %lld x %lld", (long long)extent, i,
                  (long long)n[0], (long long)n[1], (long long)n[2]);
    KUGEL_CHECK(extent >= 0 && !__builtin_mul_overflow(step, extent, &step), KUGEL_ESHAPE,
                "values has extent %lld on axis %d", (long long)extent, i);
  }
  for (; axis >= 0; axis--)
    KUGEL_CHECK(n[axis] == 1, KUGEL_ESHAPE, "values has %lld elements, the box is %lld x %lld x %lld",
                (long long)step, (long long)n[0], (long long)n[1], (long long)n[2]);
  return KUGEL_OK;
}

typedef struct work {
  kugel_image *im;
  int64_t t, c, lo[3], n[3], stride[3]; // stride: of values, elements
  int64_t first[3], count[3];           // pieces
  char *values;
  kugel_dtype type;
  int64_t workers;
  char *buffer; // [workers][piece_bytes], or [workers][rows] of a raw stack
  int64_t rows; // of a run of a raw stack that is written
} work;

static void pieces_of(work *w)
{
  for (int i = 0; i < 3; i++) {
    int64_t chunk = w->im->chunk[2 + i];
    w->first[i] = w->lo[i] / chunk;
    w->count[i] = (w->lo[i] + w->n[i] - 1) / chunk - w->first[i] + 1;
  }
}

/* Piece number k of the work, and the part [from, from + m) of it (in voxels of the stack) that the box has. */
static void locate(const work *w, int64_t k, int64_t index[5], int64_t from[3], int64_t m[3])
{
  const kugel_image *im = w->im;
  index[0] = w->t / im->chunk[0];
  index[1] = w->c / im->chunk[1];
  for (int i = 2; i >= 0; i--) {
    index[2 + i] = w->first[i] + k % w->count[i];
    k /= w->count[i];
    int64_t start = index[2 + i] * im->chunk[2 + i];
    from[i] = kugel__max(w->lo[i], start);
    m[i] = kugel__min(w->lo[i] + w->n[i], start + im->chunk[2 + i]) - from[i];
  }
}

/* Between a piece and the box's array. */
static void copy(const work *w, const int64_t index[5], const int64_t from[3], const int64_t m[3],
                 char *piece, bool out)
{
  kugel_image *im = w->im;
  int64_t own = (int64_t)kugel__stack_bytes(im), other = w->type.bits / 8, clipped = 0;
  int64_t base =
      (w->t - index[0] * im->chunk[0]) * im->stride[0] + (w->c - index[1] * im->chunk[1]) * im->stride[1];
  for (int64_t z = 0; z < m[0]; z++)
    for (int64_t y = 0; y < m[1]; y++) {
      int64_t at[3] = {from[0] + z, from[1] + y, from[2]}, in = base, there = 0;
      for (int i = 0; i < 3; i++) {
        in += (at[i] - index[2 + i] * im->chunk[2 + i]) * im->stride[2 + i];
        there += (at[i] - w->lo[i]) * w->stride[i];
      }
      char *inside = piece + in * own, *outside = w->values + there * other;
      if (out)
        kugel__stack_convert(outside, w->type, w->stride[2], inside, im->info.dtype, im->stride[4], m[2],
                             &clipped);
      else
        kugel__stack_convert(inside, im->info.dtype, im->stride[4], outside, w->type, w->stride[2], m[2],
                             &clipped);
    }
  if (clipped)
    atomic_fetch_add(&im->clipped, clipped);
}

static kugel_status read_piece(void *arg, int64_t k, int worker)
{
  const work *w = arg;
  int64_t index[5], from[3], m[3];
  char *buffer = w->buffer + (size_t)worker * w->im->piece_bytes;
  locate(w, k, index, from, m);
  KUGEL_TRY(w->im->read(w->im, index, buffer));
  copy(w, index, from, m, buffer, true);
  return KUGEL_OK;
}

static kugel_status buffers(work *w, int64_t pieces, size_t piece)
{
  size_t bytes;
  w->workers = kugel__stack_workers(w->im, pieces);
  w->buffer = __builtin_mul_overflow((size_t)w->workers, piece, &bytes)
                  ? NULL
                  : kugel__scratch_get(w->im->ctx, bytes);
  KUGEL_CHECK(w->buffer, KUGEL_ENOMEM,
              "no memory for pieces of %zu bytes of '%s', one for each thread: use fewer threads", piece,
              kugel__tail(w->im->path));
  return KUGEL_OK;
}

static kugel_status start(kugel_image *im, int64_t t, int64_t c, const int64_t *lo, const int64_t *n,
                          const kugel_array *values, work *w)
{
  memset(w, 0, sizeof *w);
  KUGEL_TRY(kugel__stack_box(im, t, c, lo, n, values, w->stride));
  w->im = im;
  w->t = t;
  w->c = c;
  memcpy(w->lo, lo, sizeof w->lo);
  memcpy(w->n, n, sizeof w->n);
  w->type = values->dtype;
  w->values = kugel__array_data(values);
  pieces_of(w);
  return KUGEL_OK;
}

kugel_status kugel_image_read(kugel_image *im, int64_t t, int64_t c, const int64_t *lo, const int64_t *n,
                              const kugel_array *values)
{
  work w;
  KUGEL_CHECK(im, KUGEL_EINVAL, "image is NULL");
  KUGEL_CHECK(!im->writing, KUGEL_EINVAL, "'%s' is being written: close it, then open it to read",
              kugel__tail(im->path));
  KUGEL_TRY(start(im, t, c, lo, n, values, &w));
  int64_t pieces = w.count[0] * w.count[1] * w.count[2];
  KUGEL_TRY(buffers(&w, pieces, im->piece_bytes));
  kugel__span outer = kugel__progress_enter(0, 1);
  kugel__progress_stage(0, 1, "reading");
  kugel_status s = kugel__parallel_on(im->ctx, w.workers, pieces, read_piece, &w);
  kugel__progress_leave(outer);
  kugel__scratch_put(im->ctx, w.buffer);
  return s;
}

/* ---- writing ---- */

static bool whole(const work *w, const int64_t index[5], const int64_t from[3], const int64_t m[3])
{
  const kugel_image *im = w->im;
  for (int i = 0; i < 3; i++) {
    int64_t start = index[2 + i] * im->chunk[2 + i],
            end = kugel__min(start + im->chunk[2 + i], im->info.shape[2 + i]);
    if (from[i] != start || m[i] != end - start)
      return false;
  }
  return im->chunk[0] == 1 && im->chunk[1] == 1;
}

static kugel_status write_piece(void *arg, int64_t k, int worker)
{
  const work *w = arg;
  kugel_image *im = w->im;
  int64_t index[5], from[3], m[3];
  char *buffer = w->buffer + (size_t)worker * im->piece_bytes;
  locate(w, k, index, from, m);
  int64_t *arrived = im->arrived + kugel__stack_piece(im, index);
  KUGEL_CHECK(*arrived >= 0, KUGEL_EINVAL,
              "the box at %lld, %lld, %lld of '%s' was written before: write each voxel once",
              (long long)from[0], (long long)from[1], (long long)from[2], kugel__tail(im->path));
  if (*arrived > 0 || !whole(w, index, from, m))
    return KUGEL_OK; // the spool has it
  memset(buffer, 0, im->piece_bytes);
  copy(w, index, from, m, buffer, false);
  *arrived = -1;
  return im->put(im, index, buffer);
}

/* Rows of the box that make up no whole piece, to the spool, and the pieces that are whole by that, out of it. */
static kugel_status write_parts(work *w, int64_t pieces)
{
  kugel_image *im = w->im;
  for (int64_t k = 0; k < pieces; k++) {
    int64_t index[5], from[3], m[3], all = 1;
    locate(w, k, index, from, m);
    int64_t *arrived = im->arrived + kugel__stack_piece(im, index);
    if (*arrived < 0)
      continue; // written, just now
    for (int i = 0; i < 5; i++)
      all *= kugel__min(im->chunk[i], im->info.shape[i] - index[i] * im->chunk[i]);
    memset(w->buffer, 0, im->piece_bytes);
    if (*arrived)
      KUGEL_TRY(kugel__spool_get(im, index, w->buffer));
    copy(w, index, from, m, w->buffer, false);
    *arrived += m[0] * m[1] * m[2];
    if (*arrived >= all) {
      *arrived = -1;
      KUGEL_TRY(im->put(im, index, w->buffer));
    } else {
      KUGEL_TRY(kugel__spool_put(im, index, w->buffer));
    }
    KUGEL_TRY(kugel__progress_step((double)k / (double)pieces));
  }
  return KUGEL_OK;
}

static kugel_status write_row(void *arg, int64_t z, int worker)
{
  const work *w = arg;
  kugel_image *im = w->im;
  const kugel__stack_place *p = &im->place;
  int64_t own = (int64_t)kugel__stack_bytes(im), clipped = 0, per = w->rows;
  int64_t at =
      p->at + w->t * p->stride[0] + w->c * p->stride[1] + (w->lo[0] + z) * p->stride[2] + w->lo[2] * own;
  bool rows = w->n[2] == im->info.shape[4]; // next to each other in the file
  char *buffer = w->buffer + (size_t)(worker * per * w->n[2] * own);
  kugel_status s = KUGEL_OK;
  for (int64_t y = 0; y < w->n[1] && !s; y += per) {
    int64_t m = kugel__min(per, w->n[1] - y);
    for (int64_t i = 0; i < m; i++)
      kugel__stack_convert(buffer + i * w->n[2] * own, im->info.dtype, 1,
                           w->values + (z * w->stride[0] + (y + i) * w->stride[1]) * (w->type.bits / 8),
                           w->type, w->stride[2], w->n[2], &clipped);
    for (int64_t i = 0; i < m && !s; i += rows ? m : 1)
      s = kugel__stack_pwrite(im->fd, im->path, buffer + i * w->n[2] * own,
                              (size_t)((rows ? m : 1) * w->n[2] * own),
                              at + (w->lo[1] + y + i) * p->stride[3]);
  }
  if (clipped)
    atomic_fetch_add(&im->clipped, clipped);
  return s;
}

static kugel_status write_box(work *w)
{
  kugel_image *im = w->im;
  if (im->raw) {
    int64_t row = w->n[2] * (int64_t)kugel__stack_bytes(im);
    w->rows = kugel__min(kugel__stack_rows(im, row), w->n[1]);
    KUGEL_TRY(buffers(w, w->n[0], (size_t)(w->rows * row)));
    kugel_status done = kugel__parallel_on(im->ctx, w->workers, w->n[0], write_row, w);
    kugel__scratch_put(im->ctx, w->buffer);
    return done;
  }
  int64_t pieces = w->count[0] * w->count[1] * w->count[2];
  KUGEL_TRY(buffers(w, pieces, im->piece_bytes));
  kugel_status s = kugel__parallel_on(im->ctx, w->workers, pieces, write_piece, w);
  if (!s)
    s = write_parts(w, pieces);
  kugel__scratch_put(im->ctx, w->buffer);
  return s;
}

kugel_status kugel__stack_write(kugel_image *im, int64_t t, int64_t c, const int64_t *lo, const int64_t *n,
                                const kugel_array *values)
{
  work w;
  KUGEL_TRY(start(im, t, c, lo, n, values, &w));
  pthread_mutex_lock(&im->lock);
  kugel__span outer = kugel__progress_enter(0, 1);
  kugel__progress_stage(0, 1, "writing");
  kugel_status s = write_box(&w);
  kugel__progress_leave(outer);
  pthread_mutex_unlock(&im->lock);
  return s;
}
