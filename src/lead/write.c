/* SPDX-License-Identifier: BSD-3-Clause */
/* Maps of rank 0 that the ranks write into one file: each gets runs of pixels, and writes one while the next one flies. */
#include <string.h>
#include <kugel/io.h>
#include "comm/comm.h"
#include "core/alloc.h"
#include "core/array.h"
#include "core/ctx.h"
#include "lead/write.h"

enum { PIECE = 1 << 20, LONGEST = 4096 }; // pixels of a message; bytes of a path

/* Words of the order. */
enum { NSIDE, COLUMNS, SOURCE_BITS, BITS, CHECKSUM, NOWRAP };

typedef struct work {
  kugel_comm *c;
  int64_t npix, columns, bytes; // of a pixel in memory
  const char *maps;             // on rank 0
  char *buffer;                 // of others: two pieces
  size_t *table;                // [2][4][size]
  kugel__flight flight[2];
} work;

// Pixels of rank r: whole rows of 1024.
static int64_t first_of(const work *w, int r)
{
  int64_t rows = (w->npix + 1023) / 1024;
  return kugel__min(w->npix, rows * r / w->c->size * 1024);
}

static int64_t rounds(const work *w)
{
  int64_t most = 0;
  for (int r = 0; r < w->c->size; r++)
    most = kugel__max(most, first_of(w, r + 1) - first_of(w, r));
  return (most + PIECE - 1) / PIECE;
}

// Piece `round` of rank r.
static int64_t piece(const work *w, int r, int64_t round, int64_t *first)
{
  int64_t end = first_of(w, r + 1);
  *first = kugel__min(end, first_of(w, r) + round * PIECE);
  return kugel__min(PIECE, end - *first);
}

static char *buffer_of(const work *w, int64_t i)
{
  return w->buffer + i % 2 * PIECE * w->bytes;
}

// Message i: a piece of one column for each rank but 0.
static kugel_status begin(work *w, int64_t i)
{
  size_t n = (size_t)w->c->size, *t = w->table + (size_t)(i % 2) * 4 * n;
  int64_t column = i % w->columns, first;
  memset(t, 0, 4 * n * sizeof *t);
  for (int r = 1; r < w->c->size; r++) {
    size_t bytes = (size_t)(piece(w, r, i / w->columns, &first) * w->bytes);
    if (w->c->rank == 0) {
      t[r] = bytes;
      t[n + (size_t)r] = (size_t)((column * w->npix + first) * w->bytes);
    } else if (w->c->rank == r) {
      t[2 * n] = bytes;
    }
  }
  kugel_exchange x = {w->maps, t, t + n, w->c->rank ? buffer_of(w, i) : NULL, t + 2 * n, t + 3 * n};
  return kugel__comm_begin(w->c, &x, &w->flight[i % 2]);
}

static kugel_status put(const work *w, int64_t i, kugel_fits_writer *f)
{
  int64_t first, n = piece(w, w->c->rank, i / w->columns, &first), column = i % w->columns;
  const char *values = w->c->rank ? buffer_of(w, i) : w->maps + (column * w->npix + first) * w->bytes;
  kugel_dtype type = w->bytes == 4 ? KUGEL_F32 : KUGEL_F64;
  return n ? kugel_fits_writer_put(f, column, first, KUGEL_ARRAY((void *)(uintptr_t)values, type, n))
           : KUGEL_OK;
}

static kugel_status write_all(work *w, kugel_fits_writer *f)
{
  int64_t messages = rounds(w) * w->columns;
  kugel_status s = begin(w, 0);
  for (int64_t i = 0; i < messages; i++) {
    kugel_status got = kugel__comm_end(w->c, &w->flight[i % 2]);
    s = kugel__comm_agree(w->c, s ? s : got);
    if (s)
      return s;
    s = i + 1 < messages ? begin(w, i + 1) : KUGEL_OK;
    kugel_status written = put(w, i, f); // closing says a failure again
    (void)written;
  }
  return s;
}

/* The same on all ranks; opts, maps: of rank 0. *made: there was a file to write into. */
static kugel_status write_together(kugel_ctx *ctx, kugel_comm *c, const kugel__order *o, char *path,
                                   const kugel_fits_write_opts *opts, const kugel_array *maps, bool *made)
{
  const int64_t *v = o->word;
  work w = {.c = c, .npix = 12 * v[NSIDE] * v[NSIDE], .columns = v[COLUMNS], .bytes = v[SOURCE_BITS] / 8};
  kugel_fits_write_opts given = {.size = sizeof given,
                                 .overwrite = 1,
                                 .checksum = (int)v[CHECKSUM],
                                 .nowrap = (int)v[NOWRAP],
                                 .dtype = v[BITS] == 32 ? KUGEL_F32 : KUGEL_F64};
  kugel_fits_writer *f = NULL;
  if (opts) {
    kugel_dtype type = given.dtype;
    given = *opts;
    given.dtype = type;
    w.maps = kugel__array_data(maps);
  }
  given.comm = c;
  kugel__comm_enter(c);
  w.table = kugel__alloc(ctx, 8 * (size_t)c->size * sizeof *w.table);
  w.buffer = c->rank ? kugel__alloc(ctx, (size_t)(2 * PIECE * w.bytes)) : NULL;
  kugel_status s = w.table && (!c->rank || w.buffer)
                       ? KUGEL_OK
                       : KUGEL_FAIL(KUGEL_ENOMEM, "no memory for pieces of %d pixels", PIECE);
  s = kugel__comm_agree(c, s);
  s = s ? s : kugel_comm_bcast(c, path, LONGEST, 0);
  s = s ? s : kugel_fits_writer_create(ctx, path, &given, v[NSIDE], w.columns, &f);
  *made = !s;
  if (!s) {
    s = write_all(&w, f);
    kugel_status closed = kugel_fits_writer_close(f, !s);
    s = s ? s : closed;
  }
  kugel__free(ctx, w.buffer);
  kugel__free(ctx, w.table);
  return s;
}

void kugel__serve_write(kugel_ctx *ctx, kugel_comm *c, const kugel__order *o)
{
  char path[LONGEST] = "";
  bool made;
  write_together(ctx, c, o, path, NULL, NULL, &made); // failures are rank 0's to report
}

/* Whether maps in pieces can be such a file, and rank 0's array can be sent as it lies. */
static bool suits(const kugel_fits_write_opts *o, const char *path, const kugel_array *a, kugel__order *order)
{
  size_t n = path ? strlen(path) : 0;
  kugel_dtype type = o->dtype.bits ? o->dtype : a->dtype;
  if (!n || n >= LONGEST || (n >= 3 && !strcmp(path + n - 3, ".gz")) || o->pixels || o->skip_unseen ||
      o->dtypes || o->comm || a->device.type != KUGEL_CPU || !a->data || a->strides || a->ndim < 1 ||
      a->ndim > 2 || a->dtype.code != KUGEL_FLOAT || (a->dtype.bits != 32 && a->dtype.bits != 64) ||
      type.code != KUGEL_FLOAT || (type.bits != 32 && type.bits != 64))
    return false;
  int64_t columns = a->ndim == 2 ? a->shape[0] : 1, nside = 1;
  while (12 * nside * nside < a->shape[a->ndim - 1])
    nside++;
  order->word[NSIDE] = nside;
  order->word[COLUMNS] = columns;
  order->word[SOURCE_BITS] = a->dtype.bits;
  order->word[BITS] = type.bits;
  order->word[CHECKSUM] = o->checksum;
  order->word[NOWRAP] = o->nowrap;
  return 12 * nside * nside == a->shape[a->ndim - 1] && columns >= 1 && columns <= 990;
}

kugel_status kugel_lead_write_maps(kugel_ctx *ctx, kugel_comm *comm, const char *path,
                                   const kugel_fits_write_opts *opts, const kugel_array *maps)
{
  kugel_fits_write_opts o;
  kugel__order order = {.kind = -1, .verb = KUGEL__LEAD_ONCE, .id = -1};
  KUGEL_CHECK(!comm || comm->rank == 0, KUGEL_EINVAL, "this is rank %d: rank 0 leads", comm->rank);
  KUGEL_TRY(kugel__take_opts(&o, sizeof o, opts, "kugel_fits_write_opts"));
  if (!comm || comm->size == 1 || !maps || !maps->shape || !suits(&o, path, maps, &order))
    return kugel_fits_write_maps(ctx, path, opts, maps);
  char whole[LONGEST] = "";
  bool made = false;
  strcpy(whole, path);
  o.size = sizeof o;
  kugel_status s = kugel__lead_begin(comm, &order);
  s = s ? s : write_together(ctx, comm, &order, whole, &o, maps, &made);
  kugel__lead_end();
  return made ? s : kugel_fits_write_maps(ctx, path, opts, maps); // hosts that do not see the folder
}
