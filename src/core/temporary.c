/* SPDX-License-Identifier: BSD-3-Clause */
/* The file that is written before it replaces another one: without a name where the file system and /proc allow it, so that a process
 * that is killed leaves nothing. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "core/replace.h"

#ifdef O_TMPFILE
static int open_nameless(const char *temp, char *path, size_t size)
{
  const char *slash = strrchr(temp, '/'); // there is one
  char folder[4096];
  size_t n = (size_t)(slash - temp) + 1;
  if (n >= sizeof folder)
    return -1;
  memcpy(folder, temp, n);
  folder[n] = 0;
  int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
  snprintf(path, size, "/proc/self/fd/%d", fd);
  return fd;
}

static bool link_to(const char *open, const char *temp)
{
  return linkat(AT_FDCWD, open, AT_FDCWD, temp, AT_SYMLINK_FOLLOW) == 0;
}

/* A first, empty file shows that one without a name may get one: /proc may be missing, a policy may forbid links. */
static bool create_nameless(kugel__replace *r, int *fd)
{
  int probe = open_nameless(r->temp, r->open, sizeof r->open);
  bool good = probe >= 0 && link_to(r->open, r->temp) && unlink(r->temp) == 0;
  if (probe >= 0)
    close(probe);
  if (!good)
    return false;
  *fd = open_nameless(r->temp, r->open, sizeof r->open);
  r->fd = *fd >= 0 ? fcntl(*fd, F_DUPFD_CLOEXEC, 0) : -1;
  if (*fd >= 0 && r->fd < 0)
    close(*fd);
  r->nameless = r->fd >= 0;
  snprintf(r->open, sizeof r->open, "/proc/self/fd/%d", r->fd);
  return r->nameless;
}
#else
static bool link_to(const char *open, const char *temp)
{
  (void)open, (void)temp;
  return false;
}

static bool create_nameless(kugel__replace *r, int *fd)
{
  (void)r, (void)fd;
  return false;
}
#endif

kugel_status kugel__replace_create(kugel__replace *r, int *fd)
{
  if (create_nameless(r, fd))
    return KUGEL_OK;
  *fd = open(r->temp, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0666);
  return *fd < 0 ? kugel__io_fail("create a file beside", r->path, errno) : KUGEL_OK;
}

const char *kugel__replace_path(const kugel__replace *r)
{
  return r->nameless ? r->open : r->temp;
}

void kugel__replace_drop(kugel__replace *r)
{
  if (r->nameless)
    close(r->fd);
  else if (r->temp)
    unlink(r->temp);
  r->nameless = false;
}

kugel_status kugel__replace_name(kugel__replace *r)
{
  if (!r->nameless)
    return KUGEL_OK;
  if (!link_to(r->open, r->temp))
    return kugel__io_fail("write", r->path, errno);
  close(r->fd);
  r->nameless = false;
  return KUGEL_OK;
}

kugel_status kugel__replace_open(kugel__replace *r, FILE **out)
{
  int fd;
  *out = NULL;
  KUGEL_TRY(kugel__replace_create(r, &fd));
  *out = fdopen(fd, "wb");
  if (!*out) {
    int error = errno;
    close(fd);
    return kugel__io_fail("write", r->path, error);
  }
  errno = 0;
  return KUGEL_OK;
}
