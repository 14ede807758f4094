/* SPDX-License-Identifier: BSD-3-Clause */
/* Any file against kugel_fft_load, for a device of the stand-in for CUDA's driver. An even first byte: the rest is the
 * file; an odd one: the rest is the request of the plan, and entries (number, two bytes of length, contents), in a file
 * whose checksums are right. The load succeeds or says why not in one sentence, and leaves no memory behind. */
#include <kugel/fft.h>
#include "codegen/bundle.h"
#include "core/ctx.h"
#include "fuzz.h"

enum { REQUEST = 224, LARGEST = 1 << 20 };

static size_t in_use;

static void *bounded_alloc(size_t bytes, size_t align, void *user)
{
  (void)user;
  void *p = bytes > LARGEST ? NULL : aligned_alloc(align, (bytes + align - 1) / align * align);
  in_use += p != NULL;
  return p;
}

static void bounded_free(void *p, size_t bytes, void *user)
{
  (void)bytes;
  (void)user;
  in_use -= p != NULL;
  free(p);
}

static kugel_ctx *ctx;

static void close_context(void)
{
  kugel_ctx_destroy(ctx);
}

static void open_context(void)
{
  if (ctx)
    return;
  setenv("KUGEL_CUDA", FAKE_CUDA, 1);
  setenv("KUGEL_FAKE_CUDA", "1", 1);
  setenv("KUGEL_NVRTC", "/none", 1);
  setenv("KUGEL_CACHE", "off", 1);
  const kugel_allocator bounded = {.alloc = bounded_alloc, .free = bounded_free};
  kugel_ctx_opts o = {.size = sizeof o, .device = "cuda:0", .threads = 1, .allocator = &bounded};
  REQUIRE(!kugel_ctx_create(&o, &ctx) && !atexit(close_context));
}

/* The file of such entries; 0: it could not be written. */
static int write_entries(const uint8_t *data, size_t size)
{
  unsigned char request[REQUEST] = {0};
  kugel__bundle b;
  size_t n = size < REQUEST ? size : REQUEST;
  memcpy(request, data, n);
  data += n;
  size -= n;
  kugel__key key = kugel__bundle_name("fft", 0);
  int bad = kugel__bundle_start(ctx, &b) || kugel__bundle_add(&b, &key, request, REQUEST);
  while (!bad && size > 3) {
    size_t bytes = data[1] + 256u * data[2];
    bytes = bytes < size - 3 ? bytes : size - 3;
    key = kugel__bundle_name("factors", data[0] % 32);
    bad = bytes && kugel__bundle_add(&b, &key, data + 3, bytes);
    data += 3 + bytes;
    size -= 3 + bytes;
  }
  bad = bad || kugel__bundle_write(&b, fuzz_path());
  kugel__bundle_free(&b);
  return !bad;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  kugel_fft *plan = NULL;
  open_context();
  const size_t before = in_use;
  if (size < 1 ||
      !(data[0] % 2 ? write_entries(data + 1, size - 1) : fuzz_write(NULL, 0, data + 1, size - 1)))
    return 0;
  if (kugel_fft_load(ctx, fuzz_path(), &plan)) {
    REQUIRE(!plan && kugel_last_error()[0] && !strchr(kugel_last_error(), '\n'));
  } else {
    kugel_fft_info info = {.size = sizeof info};
    REQUIRE(!kugel_fft_get_info(plan, &info) && info.ndim >= 1 && info.naxes >= 1);
    kugel_fft_destroy(plan);
  }
  kugel_ctx_trim(ctx);
  REQUIRE(in_use == before);
  return 0;
}
