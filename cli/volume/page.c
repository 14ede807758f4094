/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "common/session.h"
#include "volume/page.h"

void page_text(FILE *out, const char *text)
{
  fputc('"', out);
  for (const unsigned char *p = (const unsigned char *)text; *p; p++)
    if (*p < 0x20 || strchr("\"\\<>&", *p))
      fprintf(out, "\\u%04x", *p);
    else
      fputc(*p, out);
  fputc('"', out);
}

static void put(const page_bytes *b)
{
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (int k = 0; k < 4; k++)
    fputc(k > b->n ? '=' : digits[b->bits >> (18 - 6 * k) & 63], b->out);
}

void page_byte(page_bytes *b, uint32_t value)
{
  b->bits |= (value & 255) << (16 - 8 * b->n);
  if (++b->n == 3) {
    put(b);
    b->n = 0;
    b->bits = 0;
  }
}

void page_bytes_end(page_bytes *b)
{
  if (b->n > 0)
    put(b);
  b->n = 0;
  b->bits = 0;
}

int page_write(const char *path, const unsigned char *page, unsigned long bytes,
               void (*put_data)(FILE *out, const void *given), const void *given)
{
  static const char line[] = "//DATA\n";
  const char *text = (const char *)page, *place = memmem(text, bytes, line, strlen(line));
  size_t head = (size_t)(place - text), tail = head + strlen(line);
  char temp[4200];
  const char *slash = strrchr(path, '/');
  snprintf(temp, sizeof temp, "%.*s.kugel-XXXXXX", slash ? (int)(slash + 1 - path) : 0, path);
  int fd = mkostemp(temp, O_CLOEXEC);
  if (fd < 0)
    return fail("cannot write beside %s: %s", path, strerror(errno));
  mode_t mask = umask(0);
  umask(mask);
  fchmod(fd, 0666 & ~mask);
  FILE *out = fdopen(fd, "w");
  if (!out) {
    close(fd);
    remove(temp);
    return fail("no memory to write %s", path);
  }
  fwrite(text, 1, head, out);
  put_data(out, given);
  fwrite(text + tail, 1, bytes - tail, out);
  bool bad = ferror(out) || fflush(out);
  bad |= fclose(out) != 0;
  if (bad || interrupted() || rename(temp, path) != 0) {
    int error = errno;
    remove(temp);
    return interrupted() ? fail_interrupted() : fail("cannot write %s: %s", path, strerror(error));
  }
  return EXIT_DONE;
}
