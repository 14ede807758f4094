/* SPDX-License-Identifier: BSD-3-Clause */
/* What threads take for pieces: described before a stack is made, and within a limit no more than a part of it. */
#include "kinds.h"
#include "stack/stack.h"

enum { THREADS = 16, LIMIT = 4 << 20 };

static kugel_ctx *context(uint64_t limit)
{
  kugel_ctx *ctx = NULL;
  kugel_ctx_opts o = {.size = sizeof o, .threads = THREADS};
  CHECK_OK(kugel_ctx_create(&o, &ctx));
  CHECK_OK(kugel_ctx_limit_memory(ctx, limit));
  return ctx;
}

static kugel_image_info made(kugel_ctx *ctx, int k)
{
  kugel_image *im;
  kugel_image_info info = {.size = sizeof info};
  CHECK_OK(create(ctx, k, &im));
  CHECK_OK(kugel_image_get_info(im, &info));
  kugel_image_close(im, 0);
  return info;
}

static void compare(kugel_ctx *ctx, int k)
{
  kugel_image_info info = {.size = sizeof info}, want = made(ctx, k);
  kugel_image_opts o = options(k);
  CHECK_OK(kugel_image_estimate(ctx, named(kinds[k].name), &o, &info));
  CHECK(!memcmp(info.chunk, want.chunk, sizeof want.chunk) &&
        !memcmp(info.shape, want.shape, sizeof want.shape));
  CHECK(info.thread_bytes == want.thread_bytes && info.thread_bytes >= 1 && info.format == want.format);
  CHECK(!info.text && !info.channel_names && !info.compression && !info.format_name && !info.unit);
  struct stat st;
  CHECK(stat(named(kinds[k].name), &st) != 0);
}

/* The library's own blocks of reading and of writing, beside what is there before. */
static void measure(int k)
{
  kugel_ctx *ctx = context(LIMIT);
  kugel_image *im;
  kugel_image_info info = {.size = sizeof info};
  uint64_t before, peak;
  CHECK_OK(create(ctx, k, &im));
  CHECK_OK(kugel_image_get_info(im, &info));
  kugel_ctx_memory(ctx, &before, NULL);
  CHECK_OK(fill(im, false));
  kugel_ctx_memory(ctx, NULL, &peak);
  CHECK_LE((double)(peak - before), fmax((double)info.thread_bytes, LIMIT / 32) + 4096);
  CHECK_OK(kugel_image_close(im, 1));
  kugel_ctx_destroy(ctx);
  memset(got, 0, sizeof got);
  ctx = context(LIMIT);
  CHECK_OK(read_back(ctx, named(kinds[k].name)));
  CHECK(!memcmp(got, data, sizeof data));
  kugel_ctx_destroy(ctx);
}

/* Numbers that lie in the file as they are: 40 planes of 256 kB would be read by 16 threads, four planes at once each. */
static void large(void)
{
  enum { PLANES = 40, SIDE = 256, ALL = PLANES * SIDE * SIDE };
  float *x = malloc(ALL * sizeof *x), *y = malloc(ALL * sizeof *y);
  for (int i = 0; i < ALL; i++)
    x[i] = (float)i;
  for (int tiff = 0; tiff < 2; tiff++) {
    kugel_ctx *ctx = context(LIMIT);
    kugel_image *im;
    kugel_image_opts o = {.size = sizeof o, .shape = {1, 1, PLANES, SIDE, SIDE}, .dtype = KUGEL_F32};
    const char *path = named(tiff ? "large.tif" : "large.npy");
    int64_t lo[3] = {0, 0, 0};
    uint64_t peak;
    CHECK_OK(kugel_image_create(ctx, path, &o, &im));
    CHECK_OK(kugel_image_write(im, 0, 0, lo, o.shape + 2, KUGEL_ARRAY(x, KUGEL_F32, PLANES, SIDE, SIDE)));
    CHECK_OK(kugel_image_close(im, 1));
    CHECK_OK(kugel_image_open(ctx, path, NULL, &im));
    CHECK_OK(kugel_image_read(im, 0, 0, lo, o.shape + 2, KUGEL_ARRAY(y, KUGEL_F32, PLANES, SIDE, SIDE)));
    CHECK(!memcmp(x, y, ALL * sizeof *x));
    kugel_image_close(im, 1);
    kugel_ctx_memory(ctx, NULL, &peak);
    CHECK_LE((double)peak, 2 * LIMIT / 32 + 32768); /* blocks that are kept for the next time, tables */
    kugel_ctx_destroy(ctx);
  }
  free(x);
  free(y);
}

static void refused(void)
{
  kugel_image_info info = {.size = sizeof info};
  kugel_image_opts o = {.size = sizeof o, .shape = {1, 1, 2, 3, 4}, .dtype = KUGEL_U16};
  CHECK(kugel_image_estimate(NULL, "x.png", &o, &info) == KUGEL_EINVAL);
  CHECK(kugel_image_estimate(NULL, NULL, &o, &info) == KUGEL_EINVAL);
  CHECK(kugel_image_estimate(NULL, "x.npy", &o, NULL) == KUGEL_EINVAL);
  o.compression = KUGEL_COMPRESS_LZW;
  CHECK(kugel_image_estimate(NULL, "x.npy", &o, &info) == KUGEL_ENOTSUP);
  CHECK_OK(kugel_image_estimate(NULL, "/nowhere/x.tif", &o, &info));
}

/* Each allocation fails in turn. */
static void sweep(int k)
{
  kugel_image_info info = {.size = sizeof info};
  kugel_image_opts o = options(k);
  kugel_status s = KUGEL_ENOMEM;
  for (int64_t n = 1; s && n < 100; n++) {
    kugel__fault_alloc(n);
    s = kugel_image_estimate(NULL, named(kinds[k].name), &o, &info);
    kugel__fault_alloc(0);
    CHECK(s == KUGEL_OK || s == KUGEL_ENOMEM);
  }
  CHECK_OK(s);
}

int main(void)
{
  begin();
  CASE("described before they are made")
  {
    kugel_ctx *ctx = context(0), *tight = context(LIMIT);
    for (int k = 0; k < kinds_here(); k++) {
      compare(ctx, k);
      compare(tight, k);
    }
    kugel_ctx_destroy(ctx);
    kugel_ctx_destroy(tight);
  }
  CASE("within a limit")
  {
    for (int k = 0; k < kinds_here(); k++)
      measure(k);
    clear();
  }
  CASE("numbers as they are")
  {
    large();
    clear();
  }
  CASE("refused") refused();
  CASE("no memory")
  {
    for (int k = 0; k < kinds_here(); k++)
      sweep(k);
  }
  rmdir(folder);
  END();
}
