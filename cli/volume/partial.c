/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "volume/partial.h"

/* The head: a line of what the file is, the numbers, the identity, zeros. */
enum { HEAD = 16384, NUMBERS = 24, COUNT = 7, WIDTH = 20 };
static const char MAGIC[] = "Kugel partial results 2\n";

static int put(int fd, const void *data, size_t bytes, int64_t at)
{
  for (size_t done = 0; done < bytes;) {
    ssize_t n = pwrite(fd, (const char *)data + done, bytes - done, at + (int64_t)done);
    if (n < 0 && errno != EINTR)
      return errno;
    done += n > 0 ? (size_t)n : 0;
  }
  return 0;
}

static int get(int fd, void *data, size_t bytes, int64_t at)
{
  for (size_t done = 0; done < bytes;) {
    ssize_t n = pread(fd, (char *)data + done, bytes - done, at + (int64_t)done);
    if (n == 0)
      return EIO;
    if (n < 0 && errno != EINTR)
      return errno;
    done += n > 0 ? (size_t)n : 0;
  }
  return 0;
}

int partial_put(const partial *p, int64_t at, const int64_t m[3], const int64_t lo[3], const int64_t n[3],
                const void *values)
{
  const char *from = values;
  int64_t rows = n[0] * n[1], step = n[2];
  if (n[2] == m[2] && n[1] == m[1]) { /* whole planes */
    rows = 1;
    step = n[0] * n[1] * n[2];
  }
  for (int64_t i = 0; i < rows; i++) {
    int64_t z = lo[0] + i / n[1], y = lo[1] + i % n[1];
    int64_t to = at + ((z * m[1] + y) * m[2] + lo[2]) * p->voxel_bytes;
    int code = put(p->fd, from + i * step * p->voxel_bytes, (size_t)(step * p->voxel_bytes), HEAD + to);
    if (code)
      return code;
  }
  return 0;
}

int partial_get(const partial *p, int64_t at, void *values, size_t bytes)
{
  return get(p->fd, values, bytes, HEAD + at);
}

static int put_numbers(const partial *p)
{
  char text[COUNT * WIDTH + 1];
  const int64_t numbers[COUNT] = {p->volumes, p->boxes,   p->all,    p->plan[0],
                                  p->plan[1], p->plan[2], p->plan[3]};
  for (int i = 0; i < COUNT; i++)
    snprintf(text + i * WIDTH, WIDTH + 1, "%019lld%c", (long long)numbers[i], i < COUNT - 1 ? ' ' : '\n');
  return put(p->fd, text, COUNT * WIDTH, NUMBERS);
}

int partial_mark(partial *p, int64_t volumes, int64_t boxes, int64_t all)
{
  p->volumes = volumes;
  p->boxes = boxes;
  p->all = all;
  if (fdatasync(p->fd) != 0)
    return errno;
  return put_numbers(p);
}

static int make_head(partial *p, const char *identity, double all_bytes)
{
  char head[HEAD] = {0};
  if (snprintf(head, HEAD, "%s%0*d%s", MAGIC, COUNT * WIDTH, 0, identity) >= HEAD)
    return fail("the names of the run are too long for --resume");
  int code = put(p->fd, head, HEAD, 0);
  code = code ? code : put_numbers(p);
  if (!code && all_bytes > 0) /* space that is missing shows at once */
    code = posix_fallocate(p->fd, HEAD, (off_t)all_bytes);
  if (!code)
    return EXIT_DONE;
  unlink(p->path);
  return fail("%s: cannot keep the results of %.3g MB: %s", p->path, all_bytes / 1e6, strerror(code));
}

static int read_head(partial *p, const char *identity)
{
  char head[HEAD + 1] = {0};
  int64_t *numbers[COUNT] = {&p->volumes, &p->boxes,   &p->all,    &p->plan[0],
                             &p->plan[1], &p->plan[2], &p->plan[3]};
  int code = get(p->fd, head, HEAD, 0);
  bool sound = !code && !strncmp(head, MAGIC, strlen(MAGIC));
  for (int i = 0; i < COUNT && sound; i++) {
    char *end, *at = head + NUMBERS + i * WIDTH;
    *numbers[i] = strtoll(at, &end, 10);
    sound = end == at + WIDTH - 1 && *numbers[i] >= 0;
  }
  if (!sound)
    return fail("%s is damaged: delete it to begin anew", p->path);
  const char *a = head + NUMBERS + COUNT * WIDTH, *b = identity;
  while (*a && *a == *b) {
    a++;
    b++;
  }
  if (*a || *b) {
    while (b > identity && b[-1] != '\n')
      b--;
    return fail("%s is of a run that had another %.*s: run with the same files and options, or delete it",
                p->path, (int)strcspn(b, ":\n"), b);
  }
  return EXIT_DONE;
}

static void name(partial *p, const char *target)
{
  const char *slash = strrchr(target, '/');
  int folder = slash ? (int)(slash + 1 - target) : 0;
  snprintf(p->path, sizeof p->path, "%.*s.%s.kugel-partial", folder, target, target + folder);
}

void partial_forget(const char *target)
{
  PARTIAL p = {0};
  name(&p, target);
  int fd = open(p.path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  p.fd = fd > 0 ? fd : 0;
  if (fd > 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
    unlink(p.path);
}

int partial_open(partial *p, const char *target, const char *identity, double all_bytes)
{
  struct stat st;
  *p = (partial){.voxel_bytes = p->voxel_bytes};
  name(p, target);
  int fd = open(p->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (fd < 0 || fstat(fd, &st) != 0)
    return fail("%s: cannot open it: %s", p->path, strerror(errno));
  p->fd = fd;
  if (flock(fd, LOCK_EX | LOCK_NB) != 0)
    return fail("%s: another run is at work on it", p->path);
  char first = 0;
  if (st.st_size < HEAD || get(fd, &first, 1, 0) || !first) /* killed before its head was written */
    return make_head(p, identity, all_bytes);
  return read_head(p, identity);
}

void partial_close(partial *p)
{
  if (p->fd)
    close(p->fd);
  p->fd = 0;
}

int partial_delete(partial *p)
{
  if (unlink(p->path) != 0)
    return fail("%s: cannot delete it: %s", p->path, strerror(errno));
  partial_close(p);
  return EXIT_DONE;
}
