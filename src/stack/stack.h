/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside of kugel_image: what formats fill in, and what they are asked for. Axes are [t, c, z, y, x]. */
#ifndef KUGEL_STACK_STACK_H
#define KUGEL_STACK_STACK_H

#include <pthread.h>
#include <stdatomic.h>
#include <kugel/image.h>
#include "core/alloc.h"
#include "core/array.h"
#include "core/base.h"
#include "core/replace.h"

enum { KUGEL__NAME_BYTES = 128, KUGEL__MAX_TEXT = 1 << 26, KUGEL__PIECE_BYTES = 1 << 20 };

/* Where the numbers of a raw stack lie: byte offset of [0, 0, 0, 0, 0] and strides in bytes. */
typedef struct kugel__stack_place {
  int64_t at, stride[5];
} kugel__stack_place;

struct kugel__spool;

struct kugel_image {
  kugel_ctx *ctx;
  char *path;
  kugel_image_info info; // size unused
  char format_name[40], compression[40], unit[40];
  char *text;
  char (*names)[KUGEL__NAME_BYTES]; // [shape[1]]
  const char **name_list;
  atomic_llong clipped, missing;

  /* Pieces: those of a grid over the five axes. `read` decodes one to `buffer` in this machine's byte order; element
   * [t, c, z, y, x] of the piece lies at the sum of index * stride elements. */
  int64_t chunk[5], stride[5];
  size_t piece_bytes; // of a buffer
  kugel_status (*read)(kugel_image *im, const int64_t index[5], char *buffer);
  void (*close)(kugel_image *im); // frees `state`, reader or writer
  void *state;

  /* Writing. */
  bool writing;
  kugel_status (*put)(kugel_image *im, const int64_t index[5],
                      char *piece);        // whole, in C order; may be changed
  kugel_status (*finish)(kugel_image *im); // header and so on
  int npy_axes; /* of an NPY file that is read; when writing one, the least number */
  bool raw;     // or numbers go to `place` at once
  kugel__stack_place place;
  int fd;
  kugel__replace file;
  bool has_file;
  kugel_image_opts opts; // as checked, pointers not kept
  struct kugel__spool *spool;
  int64_t *arrived; // voxels of each piece that are in the spool; -1: put
  pthread_mutex_t lock;
  kugel_comm *comm; // ranks that write together; NULL: none
  int rank, ranks;
  const char *joined; // while a rank other than 0 creates: the temporary folder
  bool supposed;      // nothing is made: kugel_image_estimate
};

static inline size_t kugel__stack_bytes(const kugel_image *im)
{
  return im->info.dtype.bits / 8;
}

static inline int64_t kugel__ceil(int64_t a, int64_t b)
{
  return a / b + (a % b != 0);
}

/* ---- meta.c, raw.c: shared by the formats ---- */

/* Copies text into the image's `text`, and names. */
kugel_status kugel__stack_text(kugel_image *im, const char *text, size_t n);
/* Makes the list of shape[1] empty names, once the shape is known; the number was checked against the file. */
kugel_status kugel__stack_names(kugel_image *im);
void kugel__stack_name(kugel_image *im, int64_t channel, const char *name);
/* Checks that all extents are at least 1 and that the stack has less than 2^62 bytes. */
kugel_status kugel__stack_check_shape(const kugel_image *im);
/* Pieces of about a megabyte of rows for numbers at `place` in im->fd; sets read. The last byte was checked. */
kugel_status kugel__stack_read_raw(kugel_image *im, const kugel__stack_place *place, bool swap);
/* Checks that the last number at `place` ends within `bytes`. */
kugel_status kugel__stack_check_place(const kugel_image *im, const kugel__stack_place *place, int64_t bytes);
/* Strides of C order in the order [t, c, z, y, x]. */
void kugel__stack_c_order(const kugel_image *im, int64_t at, kugel__stack_place *place);

/* ---- image.c: what opening and creating begin and end with ---- */

kugel_status kugel__stack_make(kugel_ctx *ctx, const char *path, kugel_image **out);
kugel_status kugel__stack_complete(kugel_image *im);

/* ---- sizes.c ---- */

/* Bytes of a file that are read or written at once where nothing else says how many: a megabyte, less within a small limit. */
int64_t kugel__stack_run(const kugel_image *im);
/* Rows of so many bytes that a run of a raw stack has. */
int64_t kugel__stack_rows(const kugel_image *im, int64_t row);
/* What a thread takes while it reads or writes. */
int64_t kugel__stack_thread_bytes(const kugel_image *im);
/* How many threads do `jobs` pieces: within a limit (kugel_ctx_limit_memory) no more than a 32nd of it holds. */
int64_t kugel__stack_workers(const kugel_image *im, int64_t jobs);

/* ---- ranks.c, boxes.c ---- */

kugel_status kugel__stack_join(kugel_image *im, kugel_comm *comm);
/* As kugel_image_write, of this process alone. */
kugel_status kugel__stack_write(kugel_image *im, int64_t t, int64_t c, const int64_t *lo, const int64_t *n,
                                const kugel_array *values);

/* ---- files.c ---- */

/* Opens a regular file for reading. */
kugel_status kugel__stack_open_file(const char *path, int *fd, int64_t *bytes);
/* All n bytes at `at`, or a sentence with the file's name and the place. */
kugel_status kugel__stack_pread(int fd, const char *path, void *to, size_t n, int64_t at);
kugel_status kugel__stack_pwrite(int fd, const char *path, const void *from, size_t n, int64_t at);
/* A file of text, NUL-terminated, to be freed by kugel__free; at most `most` bytes of it. */
kugel_status kugel__stack_slurp(kugel_ctx *ctx, const char *path, int64_t most, char **text, int64_t *bytes);
void kugel__stack_swap(void *p, int64_t n, size_t bytes);
/* The path of a file in the folder of `beside`; name must be plain (no "..", no leading "/"). Freed by kugel__free. */
kugel_status kugel__stack_beside(kugel_ctx *ctx, const char *beside, const char *name, char **out);

/* ---- convert.c ---- */

bool kugel__stack_number(kugel_dtype t);
/* n numbers; strides in elements. Adds to *clipped what was saturated or NaN. */
void kugel__stack_convert(void *to, kugel_dtype to_type, int64_t to_stride, const void *from,
                          kugel_dtype from_type, int64_t from_stride, int64_t n, int64_t *clipped);
const char *kugel__stack_dtype_name(kugel_dtype t); // "uint16"; "?" if it is none
bool kugel__stack_dtype_parse(const char *name, size_t n, kugel_dtype *t);

/* ---- units.c ---- */

/* Micrometres of a unit of length ("um", "\u00B5m", "micron", "nm", ...), 0 if it is none; seconds of one of time. */
double kugel__stack_length_unit(const char *unit);
double kugel__stack_time_unit(const char *unit);
/* A decimal number at the start of the text, whatever the locale; 0 if there is none. */
double kugel__stack_real(const char *text);
/* The shortest decimal number that reads back as x, with a point. */
void kugel__stack_real_text(double x, char text[32]);

/* ---- text.c: text that grows ---- */

typedef struct kugel__grow {
  kugel_ctx *ctx;
  char *data; // NUL-terminated; NULL before the first
  size_t size, room;
  bool failed;
} kugel__grow;

void kugel__grow_add(kugel__grow *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void kugel__grow_bytes(kugel__grow *t, const void *bytes, size_t n);
/* With the characters that XML reserves as entities, and control characters left out. */
void kugel__grow_xml(kugel__grow *t, const char *text);
void kugel__grow_real(kugel__grow *t, double x);
void kugel__grow_free(kugel__grow *t);

/* ---- the boxes' arrays: boxes.c ---- */

/* The array as [n0, n1, n2] with strides in elements. */
kugel_status kugel__stack_box(const kugel_image *im, int64_t t, int64_t c, const int64_t *lo,
                              const int64_t *n, const kugel_array *values, int64_t stride[3]);

/* ---- spool.c: pieces that are not whole yet ---- */

/* One piece, to and from a temporary file without a name beside the output. */
kugel_status kugel__spool_put(kugel_image *im, const int64_t index[5], const char *piece);
kugel_status kugel__spool_get(kugel_image *im, const int64_t index[5], char *piece);
/* Puts the pieces that never became whole. */
kugel_status kugel__spool_flush(kugel_image *im);
/* The number of a piece in the grid (meta.c). */
int64_t kugel__stack_piece(const kugel_image *im, const int64_t index[5]);
void kugel__spool_close(kugel_image *im);

/* ---- formats: `head` holds the file's first `n` bytes ---- */

kugel_status kugel__tiff_open(kugel_image *im, int64_t bytes);
kugel_status kugel__tiff_create(kugel_image *im);
kugel_status kugel__npy_open(kugel_image *im, int64_t bytes);
kugel_status kugel__npy_create(kugel_image *im);
kugel_status kugel__nrrd_open(kugel_image *im, int64_t bytes);
kugel_status kugel__nrrd_create(kugel_image *im);
kugel_status kugel__mhd_open(kugel_image *im, int64_t bytes);
kugel_status kugel__mhd_create(kugel_image *im);
bool kugel__zarr_is(const char *path);
kugel_status kugel__zarr_open(kugel_image *im, int level);
kugel_status kugel__zarr_create(kugel_image *im);
/* The folder under its temporary name. */
const char *kugel__zarr_temp(const kugel_image *im);
kugel_status kugel__hdf5_open(kugel_image *im, int level);
kugel_status kugel__hdf5_create(kugel_image *im);

#endif
