/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>
#include "core/alloc.h"
#include "core/replace.h"
#include "volume/plan/file.h"

enum { PIECES = 256 }; // of a call, below IOV_MAX

struct kugel__volume_file {
  kugel_ctx *ctx;
  int fd;
  char *memory;     // in its place
  char folder[240]; // for messages, its end if it is longer
};

static int open_in(const char *folder, char *name, size_t size)
{
  int fd = open(folder, O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);
  if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR))
    return fd;
  if (snprintf(name, size, "%s/.kugel-XXXXXX", folder) >= (int)size) { // file systems that know no such files
    errno = ENAMETOOLONG;
    return -1;
  }
  fd = mkostemp(name, O_CLOEXEC);
  if (fd >= 0)
    unlink(name);
  return fd;
}

static kugel_status reserve(const kugel__volume_file *f, uint64_t bytes)
{
  int code = bytes > INT64_MAX ? EFBIG : posix_fallocate(f->fd, 0, (off_t)(bytes ? bytes : 1));
  if (code == EOPNOTSUPP || code == EINVAL)
    code = ftruncate(f->fd, (off_t)bytes) ? errno : 0;
  KUGEL_CHECK(!code, KUGEL_EIO,
              "cannot reserve %.4g MB of scratch in '%s': %s: free space there, or set scratch "
              "(opts.scratch, --scratch, TMPDIR) to "
              "another folder",
              (double)bytes / 1e6, f->folder, strerror(code));
  return KUGEL_OK;
}

static kugel_status create_in_memory(kugel__volume_file *f, uint64_t bytes, kugel__volume_file **out)
{
  f->memory = kugel__alloc(f->ctx, (size_t)bytes);
  f->fd = -1;
  if (!f->memory) {
    kugel__volume_file_close(f);
    return KUGEL_FAIL(
        KUGEL_ENOMEM,
        "no memory for %.4g MB of slices between two passes: set opts.memory to less, and they go to a file",
        (double)bytes / 1e6);
  }
  *out = f;
  return KUGEL_OK;
}

kugel_status kugel__volume_file_create(kugel_ctx *ctx, const char *folder, uint64_t bytes, bool in_memory,
                                       kugel__volume_file **out)
{
  char name[4096];
  const char *set = getenv("TMPDIR");
  folder = folder ? folder : set && *set ? set : "/var/tmp";
  *out = NULL;
  kugel__volume_file *f;
  KUGEL_ALLOC(ctx, f, sizeof *f);
  *f = (kugel__volume_file){.ctx = ctx};
  if (in_memory)
    return create_in_memory(f, bytes, out);
  f->fd = open_in(folder, name, sizeof name);
  int error = errno;
  snprintf(f->folder, sizeof f->folder, "%s", kugel__tail(folder));
  kugel_status s =
      f->fd < 0
          ? KUGEL_FAIL(
                KUGEL_EIO,
                "cannot make a scratch file in '%s': %s: set scratch (opts.scratch, --scratch, TMPDIR) to "
                "another folder",
                f->folder, strerror(error))
          : reserve(f, bytes);
  if (s) {
    kugel__volume_file_close(f);
    return s;
  }
  *out = f;
  return KUGEL_OK;
}

void kugel__volume_file_close(kugel__volume_file *f)
{
  if (!f)
    return;
  if (f->fd >= 0)
    close(f->fd);
  kugel__free(f->ctx, f->memory);
  kugel__free(f->ctx, f);
}

static kugel_status move(const kugel__volume_file *f, int64_t at, char *memory, int64_t count, int64_t bytes,
                         int64_t step, bool put)
{
  struct iovec piece[PIECES];
  for (int64_t i = 0; i < count && f->memory; i++) {
    char *there = f->memory + at + i * bytes, *here = memory + i * step;
    memcpy(put ? there : here, put ? here : there, (size_t)bytes);
  }
  if (f->memory)
    return KUGEL_OK;
  for (int64_t done = 0, all = count * bytes; done < all;) {
    int pieces = 0;
    for (int64_t i = done / bytes; i < count && pieces < PIECES; i++, pieces++) {
      int64_t skip = pieces ? 0 : done % bytes;
      piece[pieces] = (struct iovec){memory + i * step + skip, (size_t)(bytes - skip)};
    }
    ssize_t n = put ? pwritev(f->fd, piece, pieces, at + done) : preadv(f->fd, piece, pieces, at + done);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return kugel__io_fail(put ? "write scratch in" : "read scratch in", f->folder, n ? errno : 0);
    done += n;
  }
  return KUGEL_OK;
}

kugel_status kugel__volume_file_put(const kugel__volume_file *f, int64_t at, const char *from, int64_t count,
                                    int64_t bytes, int64_t step)
{
  return move(f, at, (char *)from, count, bytes, step, true);
}

kugel_status kugel__volume_file_get(const kugel__volume_file *f, int64_t at, char *to, int64_t count,
                                    int64_t bytes, int64_t step)
{
  return move(f, at, to, count, bytes, step, false);
}
