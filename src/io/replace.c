/* SPDX-License-Identifier: BSD-3-Clause */
/* Temporary file, fsync, rename, fsync of the folder: readers see the old file or the new one, whole. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "core/alloc.h"
#include "io/replace.h"

enum { TAIL = 200 };

const char *kugel__tail(const char *path)
{
  size_t n = strlen(path);
  return n > TAIL ? path + n - TAIL : path;
}

kugel_status kugel__io_fail(const char *verb, const char *path, int error)
{
  char text[128] = "the system gave no reason (is the disk full?)";
  const char *why = text;
  if (error)
    why = strerror_r(error, text, sizeof text); // GNU form
  return KUGEL_FAIL(error == ENOMEM ? KUGEL_ENOMEM : KUGEL_EIO, "cannot %s '%s': %s", verb, kugel__tail(path),
                    why);
}

static uint64_t random_bits(void)
{
  uint64_t bits = 0;
  struct timespec now;
  if (getentropy(&bits, sizeof bits) == 0)
    return bits;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return ((uint64_t)now.tv_nsec << 32) ^ (uint64_t)getpid() ^ (uint64_t)(uintptr_t)&bits;
}

/* The file that a write to `path` changes: a link's target, else the path itself. malloc'd, as realpath's is.
 */
static char *resolve(const char *path)
{
  struct stat st;
  if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode)) {
    char *target = realpath(path, NULL);
    if (target)
      return target;
  }
  return strdup(path);
}

static kugel_status check_target(const char *path, int overwrite, uint32_t *mode)
{
  struct stat st;
  *mode = 0;
  if (stat(path, &st) != 0) {
    if (errno == ENOENT)
      return KUGEL_OK;
    return kugel__io_fail("write", path, errno);
  }
  KUGEL_CHECK(!S_ISDIR(st.st_mode), KUGEL_EIO, "cannot write '%s': it is a folder, give a file name",
              kugel__tail(path));
  KUGEL_CHECK(S_ISREG(st.st_mode), KUGEL_EIO, "cannot write '%s': it is no regular file", kugel__tail(path));
  KUGEL_CHECK(overwrite, KUGEL_EIO, "'%s' exists: choose another name or allow overwriting",
              kugel__tail(path));
  *mode = st.st_mode & 07777;
  return KUGEL_OK;
}

static kugel_status check_folder(const char *path, const char *target, size_t folder)
{
  char name[4096];
  KUGEL_CHECK(folder < sizeof name, KUGEL_EINVAL, "the path '...%s' is too long", kugel__tail(path));
  memcpy(name, folder ? target : ".", folder ? folder : 1);
  name[folder ? folder : 1] = 0;
  struct stat st;
  if (stat(name, &st) != 0)
    return KUGEL_FAIL(KUGEL_EIO, "cannot write '%s': the folder '%s' does not exist", kugel__tail(path),
                      kugel__tail(name));
  KUGEL_CHECK(S_ISDIR(st.st_mode), KUGEL_EIO, "cannot write '%s': '%s' is no folder", kugel__tail(path),
              kugel__tail(name));
  KUGEL_CHECK(access(name, W_OK | X_OK) == 0, KUGEL_EIO, "cannot write '%s': the folder '%s' is not writable",
              kugel__tail(path), kugel__tail(name));
  return KUGEL_OK;
}

kugel_status kugel__replace_begin(kugel_ctx *ctx, const char *path, int overwrite, kugel__replace *r)
{
  memset(r, 0, sizeof *r);
  r->ctx = ctx;
  KUGEL_CHECK(path && *path, KUGEL_EINVAL, "the path is %s: give a file name", path ? "empty" : "NULL");
  size_t n = strlen(path);
  KUGEL_CHECK(path[n - 1] != '/', KUGEL_EINVAL, "'%s' is a folder's name: give a file name",
              kugel__tail(path));
  char *target = resolve(path);
  KUGEL_CHECK(target, KUGEL_ENOMEM, "no memory for a path of %zu bytes", n);
  const char *slash = strrchr(target, '/');
  size_t folder = slash ? (size_t)(slash - target) + 1 : 0;
  kugel_status s = check_target(target, overwrite, &r->mode);
  if (!s)
    s = check_folder(path, target, folder);
  if (!s) {
    r->path = kugel__alloc(ctx, strlen(target) + 1);
    r->temp = kugel__alloc(ctx, folder + 48);
    if (!r->path || !r->temp)
      s = KUGEL_FAIL(KUGEL_ENOMEM, "no memory for a path of %zu bytes", n);
  }
  if (!s) {
    strcpy(r->path, target);
    snprintf(r->temp, folder + 48, "%s%.*s.kugel-%016llx.tmp", target[0] == '/' ? "" : "./", (int)folder,
             target, (unsigned long long)random_bits());
  } else {
    kugel__free(ctx, r->path);
    kugel__free(ctx, r->temp);
    r->path = r->temp = NULL;
  }
  free(target);
  return s;
}

kugel_status kugel__replace_open(kugel__replace *r, FILE **out)
{
  *out = NULL;
  int fd = open(r->temp, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0666);
  if (fd < 0)
    return kugel__io_fail("create a file beside", r->path, errno);
  *out = fdopen(fd, "wb");
  if (!*out) {
    int error = errno;
    close(fd);
    return kugel__io_fail("write", r->path, error);
  }
  errno = 0;
  return KUGEL_OK;
}

static void forget(kugel__replace *r)
{
  kugel__free(r->ctx, r->path);
  kugel__free(r->ctx, r->temp);
  r->path = r->temp = NULL;
}

static void sync_folder(const char *path)
{
  char folder[4096];
  const char *slash = strrchr(path, '/');
  size_t n = slash ? (size_t)(slash - path) + 1 : 0;
  if (n >= sizeof folder)
    return;
  memcpy(folder, n ? path : ".", n ? n : 1);
  folder[n ? n : 1] = 0;
  int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd >= 0) {
    if (fsync(fd) != 0) {
      // Some file systems cannot sync a folder; the file itself is safe.
    }
    close(fd);
  }
}

kugel_status kugel__replace_commit(kugel__replace *r)
{
  int error = 0, fd = open(r->temp, O_RDWR | O_CLOEXEC);
  if (fd < 0) {
    error = errno;
  } else {
    if (r->mode && fchmod(fd, r->mode) != 0)
      error = errno;
    if (!error && fsync(fd) != 0 && errno != EINVAL && errno != ENOTSUP)
      error = errno;
    if (close(fd) != 0 && !error)
      error = errno;
  }
  if (!error && rename(r->temp, r->path) != 0)
    error = errno;
  if (error) {
    kugel_status s = kugel__io_fail("write", r->path, error);
    unlink(r->temp);
    forget(r);
    return s;
  }
  sync_folder(r->path);
  forget(r);
  return KUGEL_OK;
}

void kugel__replace_abort(kugel__replace *r)
{
  if (r->temp)
    unlink(r->temp);
  forget(r);
}

kugel_status kugel__replace_finish(kugel__replace *r, kugel_status status, FILE *out)
{
  if (out) {
    bool bad = fflush(out) != 0 || ferror(out);
    int error = errno;
    if (fclose(out) != 0 && !bad) {
      bad = true;
      error = errno;
    }
    if (bad && !status)
      status = kugel__io_fail("write", r->path, error);
  }
  if (!status)
    return kugel__replace_commit(r);
  kugel__replace_abort(r);
  return status;
}
