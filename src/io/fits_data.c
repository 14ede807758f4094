/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of tables: rows are read in pieces of about a MiB and decoded from big-endian bytes in runs that
 * stay in the first-level cache. ASCII tables and images go through cfitsio's own conversion to double. */
#include <math.h>
#include <string.h>
#include "core/alloc.h"
#include "core/array.h"
#include "core/parallel.h"
#include "io/fits.h"
#include "core/replace.h"

enum { PIECE = 1 << 20 };

#define LOOP(type, swap, out, expr)                                                                          \
  for (int64_t k = 0; k < n; k++) {                                                                          \
    type raw;                                                                                                \
    memcpy(&raw, p + k * (int64_t)sizeof raw, sizeof raw);                                                   \
    raw = (type)swap(raw);                                                                                   \
    out[k] = expr;                                                                                           \
  }
#define SAME(x) (x)

/* TSCAL and TZERO of a column whose scaled values are integers: the raw ones and izero, modulo 2^64. */
static void decode_integers(const kugel__col *c, const unsigned char *p, int64_t n, int64_t *out)
{
  uint64_t zero = c->u64 ? (uint64_t)1 << 63 : (uint64_t)c->izero;
  switch (c->letter) {
  case 'L':
    for (int64_t k = 0; k < n; k++)
      out[k] = p[k] == 'T' ? 1 : p[k] == 0 ? INT64_MIN : 0;
    return;
  case 'B':
    LOOP(uint8_t, SAME, out, (int64_t)(raw + zero))
    break;
  case 'I':
    LOOP(int16_t, __builtin_bswap16, out, (int64_t)((uint64_t)raw + zero))
    break;
  case 'J':
    LOOP(int32_t, (int32_t)__builtin_bswap32, out, (int64_t)((uint64_t)raw + zero))
    break;
  default:
    LOOP(int64_t, (int64_t)__builtin_bswap64, out, (int64_t)((uint64_t)raw + zero))
  }
  if (c->has_null) {
    int64_t null = (int64_t)((uint64_t)c->null + zero);
    for (int64_t k = 0; k < n; k++)
      if (out[k] == null)
        out[k] = INT64_MIN;
  }
}

static void decode_doubles(const kugel__col *c, const unsigned char *p, int64_t n, double *out)
{
  switch (c->letter) {
  case 'E':
    for (int64_t k = 0; k < n; k++) {
      uint32_t bits;
      float x;
      memcpy(&bits, p + 4 * k, 4);
      bits = __builtin_bswap32(bits);
      memcpy(&x, &bits, 4);
      out[k] = x;
    }
    break;
  case 'D':
    for (int64_t k = 0; k < n; k++) {
      uint64_t bits;
      memcpy(&bits, p + 8 * k, 8);
      bits = __builtin_bswap64(bits);
      memcpy(&out[k], &bits, 8);
    }
    break;
  default: { // scaled integers
    int64_t raw[KUGEL__RUN];
    kugel__col plain = *c;
    plain.izero = 0;
    plain.u64 = false;
    decode_integers(&plain, p, n, raw);
    for (int64_t k = 0; k < n; k++)
      out[k] = c->has_null && raw[k] == INT64_MIN ? KUGEL_UNSEEN : c->zero + c->scale * (double)raw[k];
    return;
  }
  }
  if (c->scale != 1 || c->zero != 0)
    for (int64_t k = 0; k < n; k++)
      out[k] = c->zero + c->scale * out[k];
}

typedef struct reader {
  kugel_fits *file;
  const kugel__table *t;
  unsigned char *bytes;
  kugel__sink sink;
  void *user;
  union {
    int64_t i[KUGEL__RUN];
    double d[KUGEL__RUN];
  } run;
} reader;

/* Decodes and hands on n <= KUGEL__RUN values. */
static kugel_status hand_on(reader *r, int64_t which, int64_t column, int64_t at, const unsigned char *p,
                            int64_t n)
{
  const kugel__col *c = &r->t->cols[column];
  kugel__fits_run run = {.which = which, .at = at, .n = n, .integer = c->integer, .col = c};
  if (c->integer) {
    decode_integers(c, p, n, r->run.i);
    run.i = r->run.i;
  } else {
    decode_doubles(c, p, n, r->run.d);
    run.d = r->run.d;
  }
  return r->sink(r->user, &run);
}

static kugel_status read_bytes(reader *r, int64_t row, int64_t offset, int64_t n)
{
  int status = 0;
  if (fits_read_tblbytes(r->file->f, row + 1, offset + 1, n, r->bytes, &status))
    return kugel__fits_fail("read", r->file->path, status);
  return KUGEL_OK;
}

/* Long vectors in a row: read the column alone. */
static kugel_status read_wide(reader *r, int64_t which, int64_t column, int64_t first, int64_t count)
{
  const kugel__col *c = &r->t->cols[column];
  int64_t start = first;
  while (count > 0) {
    int64_t row = first / c->repeat, inside = first % c->repeat;
    int64_t n = kugel__min(kugel__min(count, c->repeat - inside), PIECE / c->bytes);
    KUGEL_TRY(read_bytes(r, row, c->offset + inside * c->bytes, n * c->bytes));
    KUGEL_TRY(kugel__progress_step((double)(first - start) / (double)(count + first - start)));
    for (int64_t k = 0; k < n; k += KUGEL__RUN)
      KUGEL_TRY(hand_on(r, which, column, first + k, r->bytes + k * c->bytes, kugel__min(n - k, KUGEL__RUN)));
    first += n;
    count -= n;
  }
  return KUGEL_OK;
}

/* One element a row, n rows. */
static void gather_single(const unsigned char *from, int64_t stride, int bytes, int64_t n,
                          unsigned char *packed)
{
  switch (bytes) {
  case 8:
    for (int64_t k = 0; k < n; k++)
      memcpy(packed + 8 * k, from + k * stride, 8);
    return;
  case 4:
    for (int64_t k = 0; k < n; k++)
      memcpy(packed + 4 * k, from + k * stride, 4);
    return;
  default:
    for (int64_t k = 0; k < n; k++)
      memcpy(packed + k * bytes, from + k * stride, (size_t)bytes);
  }
}

/* Whole rows: gathers a column's elements of several rows into one run. */
static kugel_status gather(reader *r, int64_t which, int64_t column, int64_t row0, int64_t rows,
                           int64_t first, int64_t end)
{
  const kugel__col *c = &r->t->cols[column];
  unsigned char packed[8 * KUGEL__RUN];
  int64_t at = kugel__max(first, row0 * c->repeat), stop = kugel__min(end, (row0 + rows) * c->repeat);
  while (at < stop) {
    int64_t n = 0, start = at;
    if (c->repeat == 1) {
      n = kugel__min(stop - at, KUGEL__RUN);
      gather_single(r->bytes + (at - row0) * r->t->row_bytes + c->offset, r->t->row_bytes, c->bytes, n,
                    packed);
      at += n;
    }
    while (c->repeat > 1 && at < stop && n < KUGEL__RUN) {
      int64_t row = at / c->repeat, inside = at % c->repeat;
      int64_t k = kugel__min(kugel__min(c->repeat - inside, stop - at), KUGEL__RUN - n);
      memcpy(packed + n * c->bytes, r->bytes + (row - row0) * r->t->row_bytes + c->offset + inside * c->bytes,
             (size_t)(k * c->bytes));
      n += k;
      at += k;
    }
    KUGEL_TRY(hand_on(r, which, column, start, packed, n));
  }
  return KUGEL_OK;
}

static kugel_status read_rows(reader *r, int64_t n, const int64_t *cols, int64_t first, int64_t count)
{
  int64_t repeat = r->t->cols[cols[0]].repeat, per_piece = kugel__max(1, PIECE / r->t->row_bytes);
  int64_t last_row = (first + count - 1) / repeat;
  for (int64_t row = first / repeat; row <= last_row; row += per_piece) {
    int64_t rows = kugel__min(per_piece, last_row + 1 - row);
    KUGEL_TRY(read_bytes(r, row, 0, rows * r->t->row_bytes));
    KUGEL_TRY(kugel__progress_step((double)(row - first / repeat) / (double)(last_row + 1 - first / repeat)));
    for (int64_t c = 0; c < n; c++)
      KUGEL_TRY(gather(r, c, cols[c], row, rows, first, first + count));
  }
  return KUGEL_OK;
}

static kugel_status read_converted(reader *r, int64_t which, int64_t column, int64_t first, int64_t count)
{
  int status = 0, any = 0;
  double null = KUGEL_UNSEEN;
  for (int64_t k = 0; k < count; k += KUGEL__RUN) {
    int64_t n = kugel__min(count - k, KUGEL__RUN);
    if (r->t->type == IMAGE_HDU)
      fits_read_img(r->file->f, TDOUBLE, column * r->t->nrows + first + k + 1, n, NULL, r->run.d, &any,
                    &status);
    else
      fits_read_col(r->file->f, TDOUBLE, (int)column + 1, first + k + 1, 1, n, &null, r->run.d, &any,
                    &status);
    if (status)
      return kugel__fits_fail("read", r->file->path, status);
    KUGEL_TRY(kugel__progress_step((double)k / (double)count));
    kugel__fits_run run = {
        .which = which, .at = first + k, .n = n, .d = r->run.d, .col = &r->t->cols[column]};
    KUGEL_TRY(r->sink(r->user, &run));
  }
  return KUGEL_OK;
}

/* Bit columns, packed from the highest bit of each row's first byte on: rows are read in pieces, or of rows
 * longer than a piece the bytes of one run. */
static kugel_status read_bits(reader *r, int64_t which, int64_t column, int64_t first, int64_t count)
{
  const kugel__col *c = &r->t->cols[column];
  const int64_t per_piece = PIECE / r->t->row_bytes, end = first + count;
  int64_t loaded = 0, row0 = -1; // rows in memory, from row0 on
  for (int64_t at = first; at < end;) {
    int64_t row = at / c->repeat, inside = at % c->repeat, n = kugel__min(end - at, KUGEL__RUN), shift = 0;
    if (!per_piece) {
      n = kugel__min(n, c->repeat - inside);
      shift = inside / 8 * 8;
      KUGEL_TRY(read_bytes(r, row, c->offset + inside / 8, (inside % 8 + n + 7) / 8));
    } else if (row0 < 0 || row >= row0 + loaded) {
      row0 = row;
      loaded = kugel__min(per_piece, (end - 1) / c->repeat + 1 - row);
      KUGEL_TRY(read_bytes(r, row, 0, loaded * r->t->row_bytes));
      KUGEL_TRY(kugel__progress_step((double)(at - first) / (double)count));
    }
    if (per_piece)
      n = kugel__min(n, (row0 + loaded) * c->repeat - at);
    const unsigned char *p = r->bytes + (per_piece ? (row - row0) * r->t->row_bytes + c->offset : 0);
    for (int64_t k = 0, bit = inside - shift; k < n; k++) {
      r->run.i[k] = p[bit / 8] >> (7 - bit % 8) & 1;
      if (++bit + shift == c->repeat) {
        bit = 0;
        p += r->t->row_bytes;
      }
    }
    kugel__fits_run run = {.which = which, .at = at, .n = n, .integer = true, .i = r->run.i, .col = c};
    KUGEL_TRY(r->sink(r->user, &run));
    at += n;
  }
  return KUGEL_OK;
}

static kugel_status read_any(reader *r, int64_t n, const int64_t *cols, int64_t first, int64_t count)
{
  int status = 0;
  fits_movabs_hdu(r->file->f, r->t->hdu, NULL, &status);
  if (status)
    return kugel__fits_fail("read", r->file->path, status);
  bool wide = r->t->type == BINARY_TBL &&
              (r->t->row_bytes > PIECE || r->t->cols[cols[0]].repeat * r->t->cols[cols[0]].bytes >= 32768);
  bool bits = false;
  for (int64_t c = 0; c < n; c++)
    bits = bits || r->t->cols[cols[c]].letter == 'X';
  if (r->t->type == BINARY_TBL && !wide && !bits)
    return read_rows(r, n, cols, first, count);
  for (int64_t c = 0; c < n; c++)
    if (r->t->type != BINARY_TBL)
      KUGEL_TRY(read_converted(r, c, cols[c], first, count));
    else if (r->t->cols[cols[c]].letter == 'X')
      KUGEL_TRY(read_bits(r, c, cols[c], first, count));
    else
      KUGEL_TRY(read_wide(r, c, cols[c], first, count));
  return KUGEL_OK;
}

kugel_status kugel__table_values(kugel_fits *file, const kugel__table *t, int64_t n, const int64_t *cols,
                                 int64_t first, int64_t count, kugel__sink sink, void *user)
{
  for (int64_t c = 0; c < n; c++) {
    const kugel__col *col = &t->cols[cols[c]];
    KUGEL_CHECK(col->letter, KUGEL_ENOTSUP,
                "column %lld ('%s') of '%s' holds text, complex numbers or arrays of variable length",
                (long long)cols[c] + 1, col->name, kugel__tail(file->path));
    KUGEL_CHECK(col->repeat == t->cols[cols[0]].repeat && col->repeat > 0, KUGEL_EFORMAT,
                "columns of '%s' have %lld and %lld elements a row: read them one by one",
                kugel__tail(file->path), (long long)t->cols[cols[0]].repeat, (long long)col->repeat);
  }
  if (!count || !n)
    return KUGEL_OK;
  reader *r = kugel__alloc(file->ctx, sizeof *r);
  unsigned char *bytes = kugel__alloc(file->ctx, PIECE);
  kugel_status s;
  if (r && bytes) {
    r->file = file;
    r->t = t;
    r->bytes = bytes;
    r->sink = sink;
    r->user = user;
    kugel__fits_lock(file);
    s = read_any(r, n, cols, first, count);
    kugel__fits_unlock(file);
  } else {
    s = KUGEL_FAIL(KUGEL_ENOMEM, "no memory for a read buffer of %d bytes", PIECE);
  }
  kugel__free(file->ctx, bytes);
  kugel__free(file->ctx, r);
  return s;
}
