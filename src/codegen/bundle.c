/* SPDX-License-Identifier: BSD-3-Clause */
#include "codegen/bundle.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "codegen/hash.h"
#include "core/alloc.h"
#include "core/replace.h"

typedef struct head {
  char magic[8];
  uint64_t bytes; // of the entries
  unsigned char checksum[32];
} head;

static const char magic[8] = {'K', 'U', 'G', 'E', 'L', 'P', 'L', '1'};

/* The first entry. */
typedef struct origin {
  char version[32], identity[512];
} origin;

/* ---- entries ------------------------------------------------------------------------------------------- */

kugel__key kugel__bundle_name(const char *name, int number)
{
  kugel__key key;
  unsigned char digest[32];
  kugel__hash h;
  kugel__hash_start(&h);
  kugel__hash_text(&h, name);
  kugel__hash_add(&h, &number, sizeof number);
  kugel__hash_end(&h, digest);
  memcpy(key.bytes, digest, sizeof key.bytes);
  return key;
}

static origin origin_of(const kugel__device *dev)
{
  origin o = {.version = ""};
  snprintf(o.version, sizeof o.version, "%s", kugel_version());
  snprintf(o.identity, sizeof o.identity, "%s", dev->identity);
  return o;
}

kugel_status kugel__bundle_start(kugel_ctx *ctx, kugel__bundle *b)
{
  *b = (kugel__bundle){.ctx = ctx};
  kugel__key key = kugel__bundle_name("origin", 0);
  origin o = origin_of(kugel__ctx_device(ctx));
  return kugel__bundle_add(b, &key, &o, sizeof o);
}

void kugel__bundle_free(kugel__bundle *b)
{
  kugel__free(b->ctx, b->data);
  b->data = NULL;
}

static kugel_status grow(kugel__bundle *b, size_t bytes)
{
  size_t room = 2 * b->room + bytes;
  unsigned char *more = kugel__alloc(b->ctx, room);
  KUGEL_CHECK(more, KUGEL_ENOMEM, "no memory for a plan's file of %zu bytes", room);
  if (b->bytes)
    memcpy(more, b->data, b->bytes);
  kugel__free(b->ctx, b->data);
  b->data = more;
  b->room = room;
  return KUGEL_OK;
}

kugel_status kugel__bundle_add(kugel__bundle *b, const kugel__key *key, const void *data, size_t bytes)
{
  size_t known;
  if (kugel__bundle_find(b, key, &known))
    return KUGEL_OK;
  kugel__entry e = kugel__entry_of(key, data, bytes);
  if (b->room - b->bytes < sizeof e + bytes)
    KUGEL_TRY(grow(b, sizeof e + bytes));
  memcpy(b->data + b->bytes, &e, sizeof e);
  memcpy(b->data + b->bytes + sizeof e, data, bytes);
  b->bytes += sizeof e + bytes;
  return KUGEL_OK;
}

const void *kugel__bundle_find(const kugel__bundle *b, const kugel__key *key, size_t *bytes)
{
  kugel__entry e;
  for (size_t at = 0; b->bytes - at > sizeof e; at += sizeof e + e.bytes) {
    memcpy(&e, b->data + at, sizeof e);
    if (e.bytes > b->bytes - at - sizeof e)
      return NULL;
    if (memcmp(&e.key, key, sizeof *key))
      continue;
    const void *data = b->data + at + sizeof e;
    *bytes = e.bytes;
    return kugel__entry_fits(&e, data, e.bytes) ? data : NULL;
  }
  return NULL;
}

/* ---- files --------------------------------------------------------------------------------------------- */

static void sum_of(const kugel__bundle *b, unsigned char digest[32])
{
  kugel__hash h;
  kugel__hash_start(&h);
  kugel__hash_add(&h, b->data, b->bytes);
  kugel__hash_end(&h, digest);
}

kugel_status kugel__bundle_write(const kugel__bundle *b, const char *path)
{
  head h = {.bytes = b->bytes};
  memcpy(h.magic, magic, sizeof magic);
  sum_of(b, h.checksum);
  kugel__replace file;
  FILE *out = NULL;
  KUGEL_TRY(kugel__replace_begin(b->ctx, path, 1, &file));
  kugel_status s = kugel__replace_open(&file, &out);
  if (!s && (fwrite(&h, sizeof h, 1, out) != 1 || fwrite(b->data, 1, b->bytes, out) != b->bytes))
    s = kugel__io_fail("write", path, errno);
  return kugel__replace_finish(&file, s, out);
}

static kugel_status read_entries(int fd, const char *path, kugel__bundle *b)
{
  struct stat s;
  head h;
  unsigned char sum[32];
  if (fstat(fd, &s))
    return kugel__io_fail("read", path, errno);
  KUGEL_CHECK(S_ISREG(s.st_mode), KUGEL_EIO, "cannot read '%s': it is no regular file", kugel__tail(path));
  KUGEL_CHECK((size_t)s.st_size >= sizeof h && kugel__read_all(fd, &h, sizeof h) &&
                  !memcmp(h.magic, magic, sizeof magic),
              KUGEL_EIO, "'%s' holds no plan of Kugel's: give a file of kugel_fft_save", kugel__tail(path));
  size_t bytes = (size_t)s.st_size - sizeof h;
  KUGEL_CHECK(h.bytes == bytes, KUGEL_EIO,
              "'%s' is damaged: it has %zu of %llu bytes of entries, save the plan again", kugel__tail(path),
              bytes, (unsigned long long)h.bytes);
  b->data = kugel__alloc(b->ctx, bytes);
  KUGEL_CHECK(b->data, KUGEL_ENOMEM, "no memory for a plan's file of %zu bytes", bytes);
  b->bytes = b->room = bytes;
  if (!kugel__read_all(fd, b->data, bytes))
    return kugel__io_fail("read", path, errno);
  sum_of(b, sum);
  KUGEL_CHECK(!memcmp(sum, h.checksum, sizeof sum), KUGEL_EIO,
              "'%s' is damaged: its checksum is not that of its bytes, save the plan again",
              kugel__tail(path));
  return KUGEL_OK;
}

static kugel_status check_origin(const kugel__bundle *b, const char *path)
{
  size_t bytes = 0;
  kugel__key key = kugel__bundle_name("origin", 0);
  const void *data = kugel__bundle_find(b, &key, &bytes);
  origin was, here = origin_of(kugel__ctx_device(b->ctx));
  KUGEL_CHECK(data && bytes == sizeof was, KUGEL_EIO, "'%s' does not tell where its plan was made",
              kugel__tail(path));
  memcpy(&was, data, sizeof was);
  was.version[sizeof was.version - 1] = was.identity[sizeof was.identity - 1] = 0;
  KUGEL_CHECK(!strcmp(was.version, here.version), KUGEL_ENOTSUP,
              "'%s' was saved by Kugel %s, this is %s: save the plan again", kugel__tail(path), was.version,
              here.version);
  KUGEL_CHECK(!strcmp(was.identity, here.identity), KUGEL_ENOTSUP,
              "'%s' was saved for \"%.200s\", this is \"%.200s\": save the plan again on this device",
              kugel__tail(path), was.identity, here.identity);
  return KUGEL_OK;
}

kugel_status kugel__bundle_read(kugel_ctx *ctx, const char *path, kugel__bundle *b)
{
  *b = (kugel__bundle){.ctx = ctx};
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    return kugel__io_fail("read", path, errno);
  kugel_status s = read_entries(fd, path, b);
  close(fd);
  return s ? s : check_origin(b, path);
}
