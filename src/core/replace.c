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
#include "core/ctx.h"
#include "core/replace.h"

static uint64_t random_bits(void)
{
  uint64_t bits = 0;
  struct timespec now;
  int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC); // getentropy is missing in glibc before 2.25
  ssize_t n = fd < 0 ? -1 : read(fd, &bits, sizeof bits);
  if (fd >= 0)
    close(fd);
  if (n == (ssize_t)sizeof bits)
    return bits;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return ((uint64_t)now.tv_nsec << 32) ^ (uint64_t)getpid() ^ (uint64_t)(uintptr_t)&bits;
}

/* The file that a write to `path` changes: what links lead to, be it there or not; else the path itself. */
static kugel_status resolve(const char *path, char **out)
{
  char *at = strdup(path), target[4096];
  struct stat st;
  for (int links = 0; at && lstat(at, &st) == 0 && S_ISLNK(st.st_mode); links++) {
    ssize_t n = links < 40 ? readlink(at, target, sizeof target - 1) : -1;
    if (n < 0) {
      free(at);
      return kugel__io_fail("write", path, links < 40 ? errno : ELOOP);
    }
    target[n] = 0;
    const char *slash = target[0] == '/' ? NULL : strrchr(at, '/'); // relative to the link's folder
    size_t folder = slash ? (size_t)(slash - at) + 1 : 0;
    char *next = malloc(folder + (size_t)n + 1);
    if (next) {
      memcpy(next, at, folder);
      memcpy(next + folder, target, (size_t)n + 1);
    }
    free(at);
    at = next;
  }
  *out = at;
  KUGEL_CHECK(at, KUGEL_ENOMEM, "no memory for a path of %zu bytes", strlen(path));
  return KUGEL_OK;
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
  KUGEL_CHECK(access(path, W_OK) == 0, KUGEL_EIO,
              "cannot write '%s': the file is read-only: choose another name, or allow writing (chmod u+w)",
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
  char *target;
  KUGEL_TRY(resolve(path, &target));
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

/* The temporary is whole and on the disk, with the permissions of the file that it replaces. 0, or an errno. */
static int settle(const kugel__replace *r)
{
  int error = 0, fd = open(kugel__replace_path(r), O_RDWR | O_CLOEXEC);
  if (fd < 0)
    return errno;
  if (r->mode && fchmod(fd, r->mode) != 0)
    error = errno;
  if (!error && fsync(fd) != 0 && errno != EINVAL && errno != ENOTSUP)
    error = errno;
  if (close(fd) != 0 && !error)
    error = errno;
  return error;
}

static kugel_status move(kugel__replace *r, int error)
{
  kugel_status s = error ? kugel__io_fail("write", r->path, error) : kugel__replace_name(r);
  if (!s && rename(r->temp, r->path) != 0)
    s = kugel__io_fail("write", r->path, errno);
  if (s) {
    kugel__replace_drop(r);
  } else {
    sync_folder(r->path);
  }
  forget(r);
  return s;
}

/* ---- files that appear together ---- */

typedef struct held {
  struct held *next;
  kugel__replace file;
} held;

enum { NAMELESS = 64 }; // files that are held by descriptors, of which a process has few

static _Thread_local struct {
  bool on;
  int count;
  held *first, **last;
} batch;

/* Puts the file off until kugel__replace_release. */
static kugel_status hold(kugel__replace *r)
{
  for (const held *h = batch.first; h; h = h->next)
    if (!strcmp(h->file.path, r->path)) {
      kugel_status s = KUGEL_FAIL(KUGEL_EINVAL, "'%s' is written twice: give each output its own name",
                                  kugel__tail(r->path));
      kugel__replace_abort(r);
      return s;
    }
  held *h = kugel__calloc(r->ctx, sizeof *h);
  kugel_status s = h ? KUGEL_OK : KUGEL_FAIL(KUGEL_ENOMEM, "no memory to write '%s'", kugel__tail(r->path));
  if (!s && batch.count >= NAMELESS)
    s = kugel__replace_name(r);
  if (s) {
    kugel__free(r->ctx, h);
    kugel__replace_abort(r);
    return s;
  }
  batch.count++;
  h->file = *r;
  h->file.ctx = kugel__ctx_retain(r->ctx);
  *batch.last = h;
  batch.last = &h->next;
  r->path = r->temp = NULL;
  r->nameless = false;
  return KUGEL_OK;
}

kugel_status kugel__replace_hold(void)
{
  KUGEL_CHECK(!batch.on, KUGEL_EINVAL, "files are held back already: call kugel_files_end first");
  batch.on = true;
  batch.count = 0;
  batch.first = NULL;
  batch.last = &batch.first;
  return KUGEL_OK;
}

kugel_status kugel__replace_release(bool keep)
{
  kugel_status s = KUGEL_OK;
  batch.on = false;
  for (held *h = batch.first, *next; h; h = next) {
    next = h->next;
    kugel_ctx *ctx = h->file.ctx;
    if (keep && !s)
      s = move(&h->file, 0);
    else
      kugel__replace_abort(&h->file);
    kugel__free(ctx, h);
    kugel_ctx_destroy(ctx);
  }
  batch.first = NULL;
  return s;
}

kugel_status kugel__replace_commit(kugel__replace *r)
{
  int error = settle(r);
  return error || !batch.on ? move(r, error) : hold(r);
}

void kugel__replace_abort(kugel__replace *r)
{
  kugel__replace_drop(r);
  forget(r);
}

kugel_status kugel__replace_finish(kugel__replace *r, kugel_status status, FILE *out)
{
  if (out) {
    struct stat st;
    bool bad = fflush(out) != 0 || ferror(out);
    int error = errno;
    off_t end = ftello(out);
    bool cut = !bad && fstat(fileno(out), &st) == 0 && st.st_size < end;
    if (cut) {
      bad = true;
      error = 0; // of no write
    }
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
