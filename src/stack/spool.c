/* SPDX-License-Identifier: BSD-3-Clause */
/* Pieces that are not whole yet wait in a sparse file that has no name: it is gone with the process, whatever happens. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "stack/stack.h"

struct kugel__spool {
  int fd;
};

static kugel_status open_spool(kugel_image *im)
{
  size_t n = strlen(im->path) + 24;
  char *name = kugel__alloc(im->ctx, n);
  im->spool = name ? kugel__calloc(im->ctx, sizeof *im->spool) : NULL;
  if (!im->spool) {
    kugel__free(im->ctx, name);
    return KUGEL_FAIL(KUGEL_ENOMEM, "no memory for a temporary file");
  }
  const char *slash = strrchr(im->path, '/');
  int folder = slash ? (int)(slash - im->path) + 1 : 0;
  snprintf(name, n, "%.*s.kugel-XXXXXX", folder, im->path);
  im->spool->fd = mkostemp(name, O_CLOEXEC);
  int error = errno;
  if (im->spool->fd >= 0)
    unlink(name);
  kugel__free(im->ctx, name);
  return im->spool->fd < 0 ? kugel__io_fail("create a temporary file beside", im->path, error) : KUGEL_OK;
}

kugel_status kugel__spool_put(kugel_image *im, const int64_t index[5], const char *piece)
{
  if (!im->spool)
    KUGEL_TRY(open_spool(im));
  return kugel__stack_pwrite(im->spool->fd, im->path, piece, im->piece_bytes,
                             kugel__stack_piece(im, index) * (int64_t)im->piece_bytes);
}

kugel_status kugel__spool_get(kugel_image *im, const int64_t index[5], char *piece)
{
  return kugel__stack_pread(im->spool->fd, im->path, piece, im->piece_bytes,
                            kugel__stack_piece(im, index) * (int64_t)im->piece_bytes);
}

kugel_status kugel__spool_flush(kugel_image *im)
{
  int64_t grid[5], pieces = 1;
  for (int i = 0; i < 5; i++)
    pieces *= grid[i] = kugel__ceil(im->info.shape[i], im->chunk[i]);
  char *buffer;
  KUGEL_ALLOC(im->ctx, buffer, im->piece_bytes);
  kugel_status s = KUGEL_OK;
  for (int64_t k = 0; k < pieces && !s; k++) {
    if (im->arrived[k] <= 0)
      continue;
    int64_t index[5], rest = k;
    for (int i = 4; i >= 0; i--) {
      index[i] = rest % grid[i];
      rest /= grid[i];
    }
    s = kugel__spool_get(im, index, buffer);
    if (!s)
      s = im->put(im, index, buffer);
    im->arrived[k] = -1;
  }
  kugel__free(im->ctx, buffer);
  return s;
}

void kugel__spool_close(kugel_image *im)
{
  if (im->spool && im->spool->fd >= 0)
    close(im->spool->fd);
  kugel__free(im->ctx, im->spool);
  im->spool = NULL;
}
