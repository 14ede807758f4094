/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers that lie in a file as they are: NPY, NRRD, MetaImage, TIFF without compression. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <kugel/io.h>
#include "stack/stack.h"
#include "stack/data.h"

/* Five axes in the file's order: order[0] is the slowest. */
typedef struct raw_state {
  kugel__stack_place place;
  bool swap;
} raw_state;

void kugel__stack_c_order(const kugel_image *im, int64_t at, kugel__stack_place *place)
{
  int64_t step = (int64_t)kugel__stack_bytes(im);
  place->at = at;
  for (int i = 4; i >= 0; i--) {
    place->stride[i] = step;
    step *= im->info.shape[i];
  }
}

kugel_status kugel__stack_check_place(const kugel_image *im, const kugel__stack_place *place, int64_t bytes)
{
  int64_t end = place->at + (int64_t)kugel__stack_bytes(im);
  for (int i = 0; i < 5; i++)
    end += (im->info.shape[i] - 1) * place->stride[i];
  KUGEL_CHECK(end <= bytes, KUGEL_EFORMAT, "'%s' is cut short: its header promises %lld bytes, it has %lld",
              kugel__tail(im->path), (long long)end, (long long)bytes);
  return KUGEL_OK;
}

static kugel_status read_raw(kugel_image *im, const int64_t index[5], char *buffer)
{
  const raw_state *r = im->state;
  int64_t at = r->place.at, n = 1;
  for (int i = 0; i < 5; i++) {
    int64_t start = index[i] * im->chunk[i];
    at += start * r->place.stride[i];
    n += (kugel__min(im->chunk[i], im->info.shape[i] - start) - 1) * im->stride[i];
  }
  KUGEL_TRY(kugel__stack_pread(im->fd, im->path, buffer, (size_t)n * kugel__stack_bytes(im), at));
  if (r->swap)
    kugel__stack_swap(buffer, n, kugel__stack_bytes(im));
  return KUGEL_OK;
}

static void close_raw(kugel_image *im)
{
  kugel__free(im->ctx, im->state);
}

/* A piece is whole along the fastest axes, as long as it is no longer than a run (sizes.c), a part of the next, and one
 * of the others: it is a run of bytes in the file. */
kugel_status kugel__stack_read_raw(kugel_image *im, const kugel__stack_place *place, bool swap)
{
  raw_state *r;
  KUGEL_ALLOC(im->ctx, r, sizeof *r);
  *r = (raw_state){*place, swap};
  im->state = r;
  im->close = close_raw;
  im->read = read_raw;
  int64_t bytes = (int64_t)kugel__stack_bytes(im), step = bytes;
  bool done[5] = {false}, full = false;
  for (int i = 0; i < 5; i++) {
    im->chunk[i] = 1;
    im->stride[i] = place->stride[i] / bytes;
    done[i] = im->info.shape[i] == 1;
  }
  for (;;) {
    int axis = -1;
    for (int i = 4; i >= 0; i--)
      if (!done[i] && place->stride[i] == step && axis < 0)
        axis = i;
    if (axis < 0 || full)
      break;
    done[axis] = true;
    im->chunk[axis] = kugel__max(1, kugel__min(im->info.shape[axis], kugel__stack_run(im) / step));
    full = im->chunk[axis] < im->info.shape[axis];
    step *= im->chunk[axis];
  }
  im->piece_bytes = (size_t)step;
  return KUGEL_OK;
}

/* ---- NPY ---- */

static kugel_status npy_shape(kugel_image *im, const kugel_npy_info *npy)
{
  KUGEL_CHECK(npy->dtype.code != KUGEL_COMPLEX, KUGEL_ENOTSUP,
              "'%s' holds complex numbers: stacks are real (kugel fft --convolve takes complex arrays)",
              kugel__tail(im->path));
  KUGEL_CHECK(npy->ndim >= 1 && npy->ndim <= 5, KUGEL_EFORMAT,
              "'%s' has %d axes: a stack has 1 to 5 ([t, c, z, y, x] without the first ones)",
              kugel__tail(im->path), npy->ndim);
  im->npy_axes = npy->ndim;
  for (int i = 0; i < 5; i++) {
    int own = i - (5 - npy->ndim);
    im->info.shape[i] = own < 0 ? 1 : npy->shape[own];
  }
  im->info.dtype = npy->dtype.code == KUGEL_BOOL ? (kugel_dtype){KUGEL_UINT, 8, 1} : npy->dtype;
  im->info.big_endian = npy->big_endian;
  return kugel__stack_check_shape(im);
}

kugel_status kugel__npy_open(kugel_image *im, int64_t bytes)
{
  kugel_npy_info npy;
  unsigned char head[12] = {0};
  KUGEL_TRY(kugel_npy_inspect(im->ctx, im->path, &npy));
  KUGEL_TRY(npy_shape(im, &npy));
  KUGEL_TRY(kugel__stack_pread(im->fd, im->path, head, 12, 0));
  int64_t at = head[6] > 1 ? 12 + (head[8] | head[9] << 8 | (int64_t)head[10] << 16 | (int64_t)head[11] << 24)
                           : 10 + (head[8] | head[9] << 8);
  kugel__stack_place place;
  kugel__stack_c_order(im, at, &place);
  if (npy.fortran_order) {
    int64_t step = (int64_t)kugel__stack_bytes(im);
    for (int i = 0; i < 5; i++) {
      place.stride[i] = step;
      step *= im->info.shape[i];
    }
  }
  im->info.format = KUGEL_IMAGE_NPY;
  strcpy(im->format_name, "NPY");
  KUGEL_TRY(kugel__stack_check_place(im, &place, bytes));
  return kugel__stack_read_raw(im, &place, npy.big_endian);
}

kugel_status kugel__stack_extend(kugel_image *im)
{
  struct stat st;
  int64_t end = im->place.at + im->info.shape[0] * im->place.stride[0];
  for (int i = 1; i < 5; i++)
    end = kugel__max(end, im->place.at + im->info.shape[i] * im->place.stride[i]);
  if (fstat(im->fd, &st) == 0 && st.st_size < end) // voxels that were never written
    return kugel__stack_pwrite(im->fd, im->path, "", 1, end - 1);
  return KUGEL_OK;
}

kugel_status kugel__npy_create(kugel_image *im)
{
  char dict[256], header[512];
  int first = 0, n;
  while (first < 5 - im->npy_axes && im->info.shape[first] == 1)
    first++;
  n = snprintf(dict, sizeof dict, "{'descr': '%c%c%d', 'fortran_order': False, 'shape': (",
               im->info.dtype.bits == 8 ? '|' : '<',
               im->info.dtype.code == KUGEL_FLOAT  ? 'f'
               : im->info.dtype.code == KUGEL_UINT ? 'u'
                                                   : 'i',
               im->info.dtype.bits / 8);
  for (int i = first; i < 5; i++)
    n += snprintf(dict + n, sizeof dict - (size_t)n, "%lld%s", (long long)im->info.shape[i],
                  i < 4        ? ", "
                  : first == 4 ? ",), }"
                               : "), }");
  int total = (int)kugel__round_up(10 + n + 1, 64); // data aligned to 64 bytes
  snprintf(header, sizeof header, "%cNUMPY%c%c%c%c%s%*s\n", 0x93, 1, 'x', 'x', 'x', dict, total - 11 - n, "");
  header[7] = 0;
  header[8] = (char)((total - 10) & 255);
  header[9] = (char)((total - 10) >> 8);
  im->raw = true;
  kugel__stack_c_order(im, total, &im->place);
  im->finish = kugel__stack_extend;
  strcpy(im->format_name, "NPY");
  return kugel__stack_pwrite(im->fd, im->path, header, (size_t)total, 0);
}
