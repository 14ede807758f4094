/* SPDX-License-Identifier: BSD-3-Clause */
/* The open FITS file. cfitsio finds HDUs and headers; the bytes of binary tables are decoded here, in bulk.
 */
#ifndef KUGEL_IO_FITS_H
#define KUGEL_IO_FITS_H

#include <pthread.h>
#include <fitsio.h>
#include <kugel/io.h>
#include "core/base.h"

typedef struct kugel__col {
  char name[72], unit[72];
  char letter;  // TFORM letter L X B I J K E D, or F (cfitsio reads it as doubles), or 0: not a number
  bool integer; // after TSCAL and TZERO
  bool u64;     // K with TZERO 2^63
  bool has_null;
  int32_t bytes;          // of an element; X: 0
  int64_t repeat, offset; // elements a row; bytes into the row
  int64_t null;           // TNULL, before scaling
  int64_t izero;          // TZERO if integer
  double scale, zero;     // otherwise
  kugel_dtype dtype;
} kugel__col;

typedef struct kugel__table {
  int hdu, type; // type: IMAGE_HDU, ASCII_TBL, BINARY_TBL
  int64_t nrows, row_bytes, ncols;
  kugel__col *cols;
} kugel__table;

struct kugel_fits {
  kugel_ctx *ctx;
  fitsfile *f;
  pthread_mutex_t lock;
  char *path;
  void *mem; // an unpacked file
  size_t bytes;
  int hdus; // that kugel__fits_scan found sound; cfitsio must not look further
  kugel_fits_info info;
  kugel__table table;
  int64_t *columns;  // [info.ncolumns] indices into table.cols
  int64_t pixel_col; // index into table.cols; -1: pixels count up from first_pixel
  int64_t first_pixel;
  char **cards;
  char *card_text;
};

/* cfitsio is used under the file's lock, and one for all where cfitsio itself is not thread-safe. */
void kugel__fits_lock(kugel_fits *file);
void kugel__fits_unlock(kugel_fits *file);
void kugel__cfitsio_lock(void);
void kugel__cfitsio_unlock(void);

/* KUGEL_EFORMAT or KUGEL_EIO from a cfitsio status, with its text; clears cfitsio's message stack. */
kugel_status kugel__fits_fail(const char *verb, const char *path, int status);

/* Checks sizes and counts in all headers, and the file's length, before cfitsio reads them. */
kugel_status kugel__fits_scan(kugel_fits *file);
/* While a file is unpacked into memory: moves *at behind the HDUs whose headers are there, and tells how far the file
 * may reach by them. */
kugel_status kugel__fits_reach(kugel_fits *file, int64_t *at, int64_t *reach);
/* Reads the structure of HDU `hdu` (current afterwards) and checks that the file holds all its bytes. */
kugel_status kugel__table_read(kugel_fits *file, int hdu, kugel__table *t);
void kugel__table_free(kugel_ctx *ctx, kugel__table *t);
/* Finds out what the table is and fills file->info. The HDU is current. */
kugel_status kugel__fits_classify(kugel_fits *file);
/* Collects the header cards worth keeping. */
kugel_status kugel__fits_collect_cards(kugel_fits *file);
/* Whether a card's keyword describes structure that a writer makes anew. */
bool kugel__card_structural(const char *card);

/* Header values; false if missing. Text is cut to size, trimmed and made printable. */
bool kugel__key_text(fitsfile *f, const char *name, char *text, size_t size);
bool kugel__key_int(fitsfile *f, const char *name, int64_t *value);
bool kugel__key_double(fitsfile *f, const char *name, double *value);

/* A run of n values from value `at` of column `which` of the list: in d, or in i if integer. */
typedef struct kugel__fits_run {
  int64_t which, at, n;
  bool integer;
  const double *d;
  const int64_t *i; // nulls are INT64_MIN if has_null; u64: to be read as uint64_t
  const kugel__col *col;
} kugel__fits_run;
typedef kugel_status (*kugel__sink)(void *user, const kugel__fits_run *run);
enum { KUGEL__RUN = 4096 }; // longest run

/* Hands values [first, first + count) of the columns cols[0..n) (indices into t->cols, equal repeats) to sink
 * in runs: the same row range of each column before the next. Locks the file; sink is called locked. */
kugel_status kugel__table_values(kugel_fits *file, const kugel__table *t, int64_t n, const int64_t *cols,
                                 int64_t first, int64_t count, kugel__sink sink, void *user);

/* Stores a run at out[at ..] or, if index is given, at out[index[k]]. bad: what is stored for nulls, and
 * whether map rules (BAD_DATA, UNSEEN) hold. */
typedef struct kugel__bad {
  bool map, has_bad_data;
  double bad_data;
} kugel__bad;
kugel_status kugel__store_run(const kugel_fits *file, const kugel_array *out, int64_t base,
                              const int64_t *index, const kugel__fits_run *run, const kugel__bad *bad);

#endif
