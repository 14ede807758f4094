/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel cache on disk. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "codegen/cache.h"
#include "codegen/hash.h"
#include "core/alloc.h"
#include "core/environment.h"

enum { PATH_ROOM = 1024, DEFAULT_MB = 512, DAY = 86400, DISK_BLOCK = 4096 };

static const char magic[8] = {'K', 'U', 'G', 'E', 'L', 'K', 'C', '1'};
static const char suffix[] = ".kernel";

/* ---- the folder ---------------------------------------------------------------------------------------- */

const char *kugel__cache_folder(char *path, size_t size)
{
  const char *own = getenv("KUGEL_CACHE"), *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  int n;
  if (own && *own) {
    if (!strcmp(own, "off") || !strcmp(own, "0"))
      return NULL;
    n = snprintf(path, size, "%s", own);
  } else if (xdg && *xdg == '/') {
    n = snprintf(path, size, "%s/kugel", xdg);
  } else if (home && *home == '/') {
    n = snprintf(path, size, "%s/.cache/kugel", home);
  } else {
    return NULL;
  }
  return n > 0 && (size_t)n + 96 < size ? path : NULL; // room for a file's name
}

/* Makes the folder and those above it, ours alone. */
static bool make_folder(char *path)
{
  for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = 0;
    bool ok = !mkdir(path, 0700) || errno == EEXIST;
    *slash = '/';
    if (!ok)
      return false;
  }
  return !mkdir(path, 0700) || errno == EEXIST;
}

static void file_name(char *path, size_t size, const char *folder, const kugel__key *key)
{
  int at = snprintf(path, size, "%s/", folder);
  for (size_t i = 0; i < sizeof key->bytes; i++)
    at += snprintf(path + at, size - (size_t)at, "%02x", key->bytes[i]);
  snprintf(path + at, size - (size_t)at, "%s", suffix);
}

/* ---- files --------------------------------------------------------------------------------------------- */

bool kugel__read_all(int fd, void *data, size_t bytes)
{
  for (size_t at = 0; at < bytes;) {
    ssize_t n = read(fd, (char *)data + at, bytes - at);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return false;
    at += (size_t)n;
  }
  return true;
}

static bool write_all(int fd, const void *data, size_t bytes)
{
  for (size_t at = 0; at < bytes;) {
    ssize_t n = write(fd, (const char *)data + at, bytes - at);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return false;
    at += (size_t)n;
  }
  return true;
}

static void checksum(const void *data, size_t bytes, unsigned char out[32])
{
  kugel__hash h;
  kugel__hash_start(&h);
  kugel__hash_add(&h, data, bytes);
  kugel__hash_end(&h, out);
}

kugel__entry kugel__entry_of(const kugel__key *key, const void *data, size_t bytes)
{
  kugel__entry e = {.key = *key, .bytes = bytes};
  memcpy(e.magic, magic, sizeof magic);
  checksum(data, bytes, e.checksum);
  return e;
}

bool kugel__entry_fits(const kugel__entry *e, const void *data, size_t bytes)
{
  unsigned char sum[32];
  if (memcmp(e->magic, magic, sizeof magic) || !bytes || e->bytes != bytes)
    return false;
  checksum(data, bytes, sum);
  return !memcmp(sum, e->checksum, sizeof sum);
}

/* What another user owns or may write is not trusted: it is code. */
static bool trusted(const struct stat *s)
{
  return S_ISREG(s->st_mode) && (s->st_uid == geteuid() || s->st_uid == 0) &&
         !(s->st_mode & (S_IWGRP | S_IWOTH));
}

static bool read_entry(int fd, const kugel__key *key, void **data, size_t *bytes)
{
  struct stat s;
  kugel__entry h;
  if (fstat(fd, &s) || !trusted(&s) || !kugel__read_all(fd, &h, sizeof h) ||
      memcmp(&h.key, key, sizeof *key) || !h.bytes || h.bytes != (uint64_t)s.st_size - sizeof h)
    return false;
  void *p = kugel__alloc(NULL, h.bytes);
  if (!p)
    return false;
  if (!kugel__read_all(fd, p, h.bytes) || !kugel__entry_fits(&h, p, h.bytes)) {
    kugel__free(NULL, p);
    return false;
  }
  if (time(NULL) - s.st_mtime > DAY) // its use counts for who goes first
    (void)futimens(fd, NULL);
  *data = p;
  *bytes = h.bytes;
  return true;
}

bool kugel__cache_get(const kugel__key *key, void **data, size_t *bytes)
{
  char folder[PATH_ROOM], path[PATH_ROOM + 64];
  if (!kugel__cache_folder(folder, sizeof folder))
    return false;
  file_name(path, sizeof path, folder, key);
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0)
    return false;
  bool found = read_entry(fd, key, data, bytes);
  close(fd);
  return found;
}

/* ---- size limit ---------------------------------------------------------------------------------------- */

typedef struct entry {
  time_t used;
  off_t bytes;
  char name[64];
} entry;

static int by_use(const void *a, const void *b)
{
  const entry *x = a, *y = b;
  return x->used != y->used ? (x->used > y->used) - (x->used < y->used) : strcmp(x->name, y->name);
}

static off_t on_disk(off_t bytes)
{
  return (bytes + DISK_BLOCK - 1) / DISK_BLOCK * DISK_BLOCK;
}

/* Lists the entries; files of writers that died are removed on the way. */
static entry *list_entries(DIR *dir, size_t *count)
{
  entry *list = NULL;
  size_t n = 0, room = 0;
  for (struct dirent *d = readdir(dir); d; d = readdir(dir)) {
    struct stat s;
    size_t length = strlen(d->d_name);
    bool temporary = !strncmp(d->d_name, "new-", 4);
    bool ours = length == 32 + sizeof suffix - 1 && !strcmp(d->d_name + 32, suffix);
    if ((!ours && !temporary) || fstatat(dirfd(dir), d->d_name, &s, AT_SYMLINK_NOFOLLOW) ||
        !S_ISREG(s.st_mode))
      continue;
    if (temporary) {
      if (time(NULL) - s.st_mtime > DAY)
        unlinkat(dirfd(dir), d->d_name, 0);
      continue;
    }
    if (n == room) {
      room = 2 * room + 64;
      entry *more = kugel__alloc(NULL, room * sizeof *more);
      if (more && n)
        memcpy(more, list, n * sizeof *list);
      kugel__free(NULL, list);
      if (!(list = more))
        return *count = 0, NULL;
    }
    list[n].used = s.st_mtime;
    list[n].bytes = on_disk(s.st_size);
    snprintf(list[n++].name, sizeof list->name, "%.63s", d->d_name);
  }
  *count = n;
  return list;
}

/* Called after each write; looks at the folder at the first and once a sixteenth of the limit was written. */
static void limit_size(const char *folder, size_t written)
{
  static atomic_llong since; // written since this process looked, plus one
  off_t limit = (off_t)kugel__env_number("KUGEL_CACHE_MB", 1, 1000000, DEFAULT_MB) << 20, total = 0;
  long long before = atomic_fetch_add(&since, on_disk((off_t)written));
  if (before && before + on_disk((off_t)written) < limit / 16)
    return;
  atomic_store(&since, 1);
  DIR *dir = opendir(folder);
  if (!dir)
    return;
  size_t n = 0;
  entry *list = list_entries(dir, &n);
  for (size_t i = 0; i < n; i++)
    total += list[i].bytes;
  if (total > limit) {
    qsort(list, n, sizeof *list, by_use);
    for (size_t i = 0; i < n && total > limit / 4 * 3; i++) {
      total -= list[i].bytes;
      unlinkat(dirfd(dir), list[i].name, 0);
    }
  }
  kugel__free(NULL, list);
  closedir(dir);
}

/* ---- writing ------------------------------------------------------------------------------------------- */

// The file whole or not at all; not synced, since what is lost is made again.
static bool write_whole(const char *temporary, const char *path, const void *head, size_t head_bytes,
                        const void *data, size_t bytes)
{
  unlink(temporary); // of a dead process that had our number
  int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0)
    return false;
  bool ok = write_all(fd, head, head_bytes) && write_all(fd, data, bytes);
  ok = !close(fd) && ok;
  ok = ok && !rename(temporary, path);
  if (!ok) {
    int why = errno;
    unlink(temporary);
    errno = why;
  }
  return ok;
}

bool kugel__cache_put(const kugel__key *key, const void *data, size_t bytes)
{
  static atomic_uint serial; // tells apart the threads of one process
  char folder[PATH_ROOM], path[PATH_ROOM + 64], temporary[PATH_ROOM + 64];
  if (!kugel__cache_folder(folder, sizeof folder) || !make_folder(folder))
    return false;
  file_name(path, sizeof path, folder, key);
  snprintf(temporary, sizeof temporary, "%s/new-%ld-%u", folder, (long)getpid(),
           atomic_fetch_add(&serial, 1));
  kugel__entry h = kugel__entry_of(key, data, bytes);
  bool ok = write_whole(temporary, path, &h, sizeof h, data, bytes);
  if (ok)
    limit_size(folder, bytes + sizeof h);
  return ok;
}
