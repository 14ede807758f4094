/* SPDX-License-Identifier: BSD-3-Clause */
#include <blosc.h>
#include <pthread.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>
#include "stack/zarr.h"

static uint32_t table[256];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_table(void)
{
  for (uint32_t i = 0; i < 256; i++) {
    uint32_t c = i;
    for (int k = 0; k < 8; k++)
      c = c & 1 ? c >> 1 ^ 0x82f63b78u : c >> 1; // Castagnoli's polynomial, reflected
    table[i] = c;
  }
}

uint32_t kugel__crc32c(const void *data, size_t n)
{
  const uint8_t *p = data;
  uint32_t c = 0xffffffffu;
  pthread_once(&once, make_table);
  for (size_t i = 0; i < n; i++)
    c = c >> 8 ^ table[(c ^ p[i]) & 255];
  return ~c;
}

static bool inflate_all(const char *from, size_t packed, char *to, size_t bytes)
{
  z_stream z = {.next_in = (unsigned char *)from,
                .avail_in = (unsigned)packed,
                .next_out = (unsigned char *)to,
                .avail_out = (unsigned)bytes};
  if (inflateInit2(&z, 15 + 32) != Z_OK)
    return false;
  int code = inflate(&z, Z_FINISH);
  inflateEnd(&z);
  return code == Z_STREAM_END && z.total_out == bytes;
}

static bool unblosc(const char *from, size_t packed, char *to, size_t bytes)
{
  size_t n = 0;
  return packed >= BLOSC_MIN_HEADER_LENGTH && blosc_cbuffer_validate(from, packed, &n) == 0 && n == bytes &&
         blosc_decompress_ctx(from, to, bytes, 1) == (int)bytes;
}

kugel_status kugel__zarr_unpack(const kugel_image *im, const char *path, const kugel__zarr_codec *c,
                                const char *from, size_t packed, char *to, size_t bytes)
{
  const char *name = kugel__tail(path);
  if (c->checksum) {
    uint32_t sum;
    KUGEL_CHECK(packed >= 4, KUGEL_EFORMAT, "'%s' is cut short: a chunk has %zu bytes", name, packed);
    packed -= 4;
    memcpy(&sum, from + packed, 4);
    KUGEL_CHECK(sum == kugel__crc32c(from, packed), KUGEL_EFORMAT,
                "'%s' is damaged: the checksum of a chunk is wrong", name);
  }
  bool ok = false;
  switch (c->packing) {
  case PACK_NONE:
    ok = packed == bytes;
    if (ok)
      memcpy(to, from, bytes);
    break;
  case PACK_BLOSC:
    ok = unblosc(from, packed, to, bytes);
    break;
  case PACK_GZIP:
    ok = inflate_all(from, packed, to, bytes);
    break;
  case PACK_ZSTD: {
    size_t n = ZSTD_decompress(to, bytes, from, packed);
    ok = !ZSTD_isError(n) && n == bytes;
  }
  }
  KUGEL_CHECK(ok, KUGEL_EFORMAT, "'%s' is damaged or cut short: a chunk of %zu bytes does not unpack to %zu",
              name, packed, bytes);
  size_t size = kugel__stack_bytes(im);
  if (c->big)
    kugel__stack_swap(to, (int64_t)(bytes / size), size);
  return KUGEL_OK;
}

static size_t gzip(const char *from, size_t n, char *to, size_t room, int level)
{
  z_stream z = {.next_in = (unsigned char *)from,
                .avail_in = (unsigned)n,
                .next_out = (unsigned char *)to,
                .avail_out = (unsigned)room};
  if (deflateInit2(&z, level ? level : 5, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    return 0;
  int code = deflate(&z, Z_FINISH);
  deflateEnd(&z);
  return code == Z_STREAM_END ? z.total_out : 0;
}

kugel_status kugel__zarr_pack(const kugel_image *im, const char *chunk, size_t bytes, kugel__grow *out)
{
  int compression = im->opts.compression, level = im->opts.level;
  if (compression == KUGEL_COMPRESS_NONE) {
    kugel__grow_bytes(out, chunk, bytes);
    KUGEL_CHECK(!out->failed, KUGEL_ENOMEM, "no memory for a chunk of %zu bytes", bytes);
    return KUGEL_OK;
  }
  size_t room = ZSTD_compressBound(bytes) + bytes / 100 + 1024, n = 0;
  char *packed;
  KUGEL_ALLOC(im->ctx, packed, room);
  if (compression == KUGEL_COMPRESS_ZSTD) {
    n = ZSTD_compress(packed, room, chunk, bytes, level ? level : 3);
    n = ZSTD_isError(n) ? 0 : n;
  } else if (compression == KUGEL_COMPRESS_DEFLATE) {
    n = gzip(chunk, bytes, packed, room, level);
  } else {
    int got = blosc_compress_ctx(level ? level : 5, BLOSC_SHUFFLE, kugel__stack_bytes(im), bytes, chunk,
                                 packed, room, compression == KUGEL_COMPRESS_LZ4 ? "lz4" : "zstd", 0, 1);
    n = got > 0 ? (size_t)got : 0;
  }
  if (n)
    kugel__grow_bytes(out, packed, n);
  kugel__free(im->ctx, packed);
  KUGEL_CHECK(n && !out->failed, KUGEL_ENOMEM, "a chunk of %zu bytes could not be packed: no memory", bytes);
  return KUGEL_OK;
}
