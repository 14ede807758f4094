/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of those who read and write pieces, and how many of them fit in a context's limit. */
#include <string.h>
#include "core/ctx.h"
#include "stack/stack.h"

enum { KILO = 1 << 10, MEGA = 1 << 20, SMALLEST = 16 * KILO };

/* A 32nd of the limit, as threads of convolutions have; 0: there is no limit. */
static int64_t share(kugel_ctx *ctx)
{
  ctx = kugel__ctx(ctx);
  int64_t limit = ctx->device.type == KUGEL_CPU ? kugel__ctx_limit(ctx) : 0;
  return limit ? kugel__max(1, limit / 32) : 0;
}

int64_t kugel__stack_run(const kugel_image *im)
{
  int64_t bytes = share(im->ctx) / 4;
  return bytes ? kugel__max(SMALLEST, kugel__min(bytes, KUGEL__PIECE_BYTES)) : KUGEL__PIECE_BYTES;
}

/* What unpacking and packing take by themselves, rounded up from peaks of one thread more. libtiff unpacks Zstandard by windows of 4 MB
 * and packs it by level 9, without a word of how little will come; Blosc packs by level 9; libhdf5 has tables of its own. */
static int64_t codec_bytes(const kugel_image *im)
{
  static const struct {
    const char *name;
    int32_t read, write;
  } codecs[] = {{"none", 0, 0},
                {"PackBits", 32 * KILO, 32 * KILO},
                {"LZW", 160 * KILO, 224 * KILO},
                {"deflate", 64 * KILO, 320 * KILO},
                {"LZMA", 9 * MEGA, 0},
                {"zstd", 5 * MEGA, 20 * MEGA}};
  bool tiff = im->info.format == KUGEL_IMAGE_TIFF || im->info.format == KUGEL_IMAGE_OME_TIFF;
  int64_t own = im->info.format >= KUGEL_IMAGE_IMARIS ? 6 * MEGA : 0, most = tiff ? 20 * MEGA : 2 * MEGA;
  for (size_t i = 0; i < sizeof codecs / sizeof codecs[0]; i++)
    if (!strcmp(codecs[i].name, im->compression))
      return own + kugel__min(im->writing ? codecs[i].write : codecs[i].read, most);
  return own + (im->writing ? 6 * MEGA : MEGA);
}

int64_t kugel__stack_rows(const kugel_image *im, int64_t row)
{
  return kugel__max(1, kugel__stack_run(im) / row);
}

int64_t kugel__stack_thread_bytes(const kugel_image *im)
{
  int64_t piece = (int64_t)im->piece_bytes, row = im->info.shape[4] * (int64_t)kugel__stack_bytes(im);
  if (im->raw)
    return kugel__min(kugel__stack_rows(im, row), im->info.shape[3]) * row + codec_bytes(im);
  /* beside the numbers what is packed, which grows by doubling while it is made */
  int64_t copies = im->writing ? 3 : !strcmp(im->compression, "none") ? 0 : 2;
  return (1 + copies) * piece + codec_bytes(im);
}

int64_t kugel__stack_workers(const kugel_image *im, int64_t jobs)
{
  int64_t threads = kugel__min(jobs, kugel__ctx_threads(im->ctx)), room = share(im->ctx);
  return room ? kugel__max(1, kugel__min(threads, room / kugel__stack_thread_bytes(im))) : threads;
}
