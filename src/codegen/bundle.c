/* SPDX-License-Identifier: BSD-3-Clause */
#include "codegen/bundle.h"
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "codegen/hash.h"
#include "codegen/recipe.h"
#include "core/alloc.h"

enum { TAIL = 160 /* characters of a path in messages */ };

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

static const char *tail(const char *path)
{
  size_t n = strlen(path);
  return n > TAIL ? path + n - TAIL : path;
}

static kugel_status fail(const char *verb, const char *path, int error)
{
  char text[128] = "";
  return KUGEL_FAIL(KUGEL_EIO, "cannot %s '%s': %s", verb, tail(path), strerror_r(error, text, sizeof text));
}

static void sum_of(const kugel__bundle *b, unsigned char digest[32])
{
  kugel__hash h;
  kugel__hash_start(&h);
  kugel__hash_add(&h, b->data, b->bytes);
  kugel__hash_end(&h, digest);
}

kugel_status kugel__bundle_write(const kugel__bundle *b, const char *path)
{
  static atomic_uint serial;
  size_t room = strlen(path) + 48;
  char *temporary = kugel__alloc(b->ctx, room);
  KUGEL_CHECK(temporary, KUGEL_ENOMEM, "no memory for a path of %zu bytes", room);
  snprintf(temporary, room, "%s.new-%ld-%u", path, (long)getpid(), atomic_fetch_add(&serial, 1));
  head h = {.bytes = b->bytes};
  memcpy(h.magic, magic, sizeof magic);
  sum_of(b, h.checksum);
  bool ok = kugel__write_whole(temporary, path, 0644, &h, sizeof h, b->data, b->bytes);
  int error = errno;
  kugel__free(b->ctx, temporary);
  return ok ? KUGEL_OK : fail("write", path, error);
}

static kugel_status read_entries(int fd, const char *path, kugel__bundle *b)
{
  struct stat s;
  head h;
  unsigned char sum[32];
  if (fstat(fd, &s))
    return fail("read", path, errno);
  KUGEL_CHECK(S_ISREG(s.st_mode), KUGEL_EIO, "cannot read '%s': it is no regular file", tail(path));
  KUGEL_CHECK((size_t)s.st_size >= sizeof h && kugel__read_all(fd, &h, sizeof h) &&
                  !memcmp(h.magic, magic, sizeof magic),
              KUGEL_EIO, "'%s' holds no plan of Kugel's: give a file of kugel_fft_save", tail(path));
  size_t bytes = (size_t)s.st_size - sizeof h;
  KUGEL_CHECK(h.bytes == bytes, KUGEL_EIO,
              "'%s' is damaged: it has %zu of %llu bytes of entries, save the plan again", tail(path), bytes,
              (unsigned long long)h.bytes);
  b->data = kugel__alloc(b->ctx, bytes);
  KUGEL_CHECK(b->data, KUGEL_ENOMEM, "no memory for a plan's file of %zu bytes", bytes);
  b->bytes = b->room = bytes;
  if (!kugel__read_all(fd, b->data, bytes))
    return fail("read", path, errno);
  sum_of(b, sum);
  KUGEL_CHECK(!memcmp(sum, h.checksum, sizeof sum), KUGEL_EIO,
              "'%s' is damaged: its checksum is not that of its bytes, save the plan again", tail(path));
  return KUGEL_OK;
}

static kugel_status check_origin(const kugel__bundle *b, const char *path)
{
  size_t bytes = 0;
  kugel__key key = kugel__bundle_name("origin", 0);
  const void *data = kugel__bundle_find(b, &key, &bytes);
  origin was, here = origin_of(kugel__ctx_device(b->ctx));
  KUGEL_CHECK(data && bytes == sizeof was, KUGEL_EIO, "'%s' does not tell where its plan was made",
              tail(path));
  memcpy(&was, data, sizeof was);
  was.version[sizeof was.version - 1] = was.identity[sizeof was.identity - 1] = 0;
  KUGEL_CHECK(!strcmp(was.version, here.version), KUGEL_ENOTSUP,
              "'%s' was saved by Kugel %s, this is %s: save the plan again", tail(path), was.version,
              here.version);
  KUGEL_CHECK(!strcmp(was.identity, here.identity), KUGEL_ENOTSUP,
              "'%s' was saved for \"%.200s\", this is \"%.200s\": save the plan again on this device",
              tail(path), was.identity, here.identity);
  return KUGEL_OK;
}

kugel_status kugel__bundle_read(kugel_ctx *ctx, const char *path, kugel__bundle *b)
{
  *b = (kugel__bundle){.ctx = ctx};
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    return fail("read", path, errno);
  kugel_status s = read_entries(fd, path, b);
  close(fd);
  return s ? s : check_origin(b, path);
}

/* ---- modules ------------------------------------------------------------------------------------------- */

// What the cache does not hold is compiled for its machine code alone.
static kugel_status add_compiled(kugel__bundle *b, const kugel__module_spec *spec, const char *text,
                                 const kugel__key *key)
{
  kugel__device *dev = kugel__ctx_device(b->ctx);
  kugel__program_spec program = {.name = spec->name, .options = spec->options, .text = text};
  kugel__program *loaded = NULL;
  void *binary = NULL;
  size_t bytes = 0;
  KUGEL_TRY(dev->ops->load(dev, &program, &loaded, &binary, &bytes));
  dev->ops->unload(loaded);
  kugel_status s =
      binary ? kugel__bundle_add(b, key, binary, bytes)
             : KUGEL_FAIL(KUGEL_ENOTSUP, "%s yields no machine code of %s", dev->info.name, spec->name);
  kugel__free(NULL, binary);
  return s;
}

kugel_status kugel__bundle_add_module(kugel__bundle *b, const kugel__module_spec *spec)
{
  kugel__device *dev = kugel__ctx_device(b->ctx);
  kugel__key recipe, disk, key;
  char *text = NULL;
  void *binary = NULL;
  size_t bytes = 0;
  KUGEL_TRY(kugel__module_text(b->ctx, dev->ops->type, spec, &text));
  kugel__text_key(dev, text, spec->options, &key);
  kugel_status s = KUGEL_OK;
  if (kugel__recipe_key(spec, &recipe) && kugel__recipe_disk_key(dev, spec, &recipe, &disk))
    s = kugel__bundle_add(b, &disk, key.bytes, sizeof key.bytes);
  if (!s && !kugel__bundle_find(b, &key, &bytes)) {
    if (kugel__cache_get(&key, &binary, &bytes))
      s = kugel__bundle_add(b, &key, binary, bytes);
    else
      s = add_compiled(b, spec, text, &key);
  }
  kugel__free(NULL, binary);
  kugel__free(NULL, text);
  return s;
}
