/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes of files, all of them or a sentence. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "stack/stack.h"

kugel_status kugel__stack_open_file(const char *path, int *fd, int64_t *bytes)
{
  struct stat st;
  *fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); // a FIFO without a writer does not hold the caller up
  if (*fd < 0)
    return kugel__io_fail("open", path, errno);
  kugel_status s = KUGEL_OK;
  if (fstat(*fd, &st) != 0)
    s = kugel__io_fail("open", path, errno);
  else if (!S_ISREG(st.st_mode))
    s = KUGEL_FAIL(KUGEL_EIO, "cannot read '%s': it is not a regular file", kugel__tail(path));
  if (s) {
    close(*fd);
    *fd = -1;
    return s;
  }
  *bytes = st.st_size;
  return KUGEL_OK;
}

kugel_status kugel__stack_pread(int fd, const char *path, void *to, size_t n, int64_t at)
{
  for (size_t done = 0; done < n;) {
    ssize_t got = pread(fd, (char *)to + done, n - done, (off_t)(at + (int64_t)done));
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return kugel__io_fail("read", path, errno);
    KUGEL_CHECK(got > 0, KUGEL_EFORMAT, "'%s' is cut short: %zu bytes at %lld are wanted, it ends at %lld",
                kugel__tail(path), n, (long long)at, (long long)(at + (int64_t)done));
    done += (size_t)got;
  }
  return KUGEL_OK;
}

kugel_status kugel__stack_pwrite(int fd, const char *path, const void *from, size_t n, int64_t at)
{
  for (size_t done = 0; done < n;) {
    ssize_t put = pwrite(fd, (const char *)from + done, n - done, (off_t)(at + (int64_t)done));
    if (put < 0 && errno == EINTR)
      continue;
    if (put <= 0)
      return kugel__io_fail("write", path, put < 0 ? errno : ENOSPC);
    done += (size_t)put;
  }
  return KUGEL_OK;
}

kugel_status kugel__stack_slurp(kugel_ctx *ctx, const char *path, int64_t most, char **text, int64_t *bytes)
{
  int fd;
  int64_t size = 0;
  *text = NULL;
  KUGEL_TRY(kugel__stack_open_file(path, &fd, &size));
  size = kugel__min(size, most);
  kugel_status s = KUGEL_OK;
  char *all = kugel__alloc(ctx, (size_t)size + 1);
  if (!all)
    s = KUGEL_FAIL(KUGEL_ENOMEM, "no memory for %lld bytes of '%s'", (long long)size, kugel__tail(path));
  if (!s)
    s = kugel__stack_pread(fd, path, all, (size_t)size, 0);
  close(fd);
  if (s) {
    kugel__free(ctx, all);
    return s;
  }
  all[size] = 0;
  *text = all;
  *bytes = size;
  return KUGEL_OK;
}

void kugel__stack_swap(void *p, int64_t n, size_t bytes)
{
  if (bytes == 2) {
    uint16_t *x = p;
    for (int64_t i = 0; i < n; i++)
      x[i] = __builtin_bswap16(x[i]);
  } else if (bytes == 4) {
    uint32_t *x = p;
    for (int64_t i = 0; i < n; i++)
      x[i] = __builtin_bswap32(x[i]);
  } else if (bytes == 8) {
    uint64_t *x = p;
    for (int64_t i = 0; i < n; i++)
      x[i] = __builtin_bswap64(x[i]);
  }
}

kugel_status kugel__stack_beside(kugel_ctx *ctx, const char *beside, const char *name, char **out)
{
  *out = NULL;
  KUGEL_CHECK(*name && *name != '/' && !strstr(name, ".."), KUGEL_EFORMAT,
              "'%s' refers to a file '%.200s': only files in its own folder are opened", kugel__tail(beside),
              name);
  const char *slash = strrchr(beside, '/');
  size_t folder = slash ? (size_t)(slash - beside) + 1 : 0;
  char *path = kugel__alloc(ctx, folder + strlen(name) + 1);
  KUGEL_CHECK(path, KUGEL_ENOMEM, "no memory for a path");
  memcpy(path, beside, folder);
  strcpy(path + folder, name);
  *out = path;
  return KUGEL_OK;
}
