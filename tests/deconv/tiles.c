/* SPDX-License-Identifier: BSD-3-Clause */
/* Deconvolution in tiles, by several threads, in floats, and exact within a limit of memory. */
#include "deconv/object.h"
#include <kugel/volume.h>

// The steps of the whole with a fraction of its memory: convolutions by way of a file, or in parts.
static void exact(void)
{
  kugel_volume_engine seen[2];
  make_image(100);
  for (int m = 0; m <= KUGEL_DECONV_ISRA; m++) {
    kugel_deconv_opts o = {.size = sizeof o, .method = (kugel_deconv_method)m, .iterations = 8, .exact = 1};
    kugel_deconv_cost whole = {.size = sizeof whole}, c = {.size = sizeof c};
    o.precision = m % 2 ? KUGEL_PRECISION_F32 : KUGEL_PRECISION_F64;
    run(o, NULL, out);
    CHECK_OK(kugel_deconv_estimate(NULL, 3, n, k, &o, &whole));
    o.memory = whole.bytes;
    for (int part = 0; part < 2; part++) { // a byte too little for all at once; hardly more than the arrays
      kugel_deconv *p = NULL;
      o.memory = part ? o.memory - o.memory / 64 : whole.bytes - 1;
      while (part && kugel_deconv_estimate(NULL, 3, n, k, &o, &c) == KUGEL_OK)
        o.memory -= o.memory / 64;
      o.memory += part ? o.memory / 32 : 0;
      CHECK_OK(kugel_deconv_estimate(NULL, 3, n, k, &o, &c));
      CHECK(c.tiles == 1 && c.bytes <= o.memory && c.engine != KUGEL_VOLUME_RESIDENT);
      seen[part] = (kugel_volume_engine)c.engine;
      CHECK_OK(kugel_deconv_create(NULL, 3, n, k, KUGEL_ARRAY(psf, KUGEL_F64, KZ, KY, KX), &o, &p));
      CHECK_OK(kugel_deconv_execute(p, box(image), NULL, NULL, box(other), NULL));
      CHECK_LE(distance(other, out), o.precision == KUGEL_PRECISION_F32 ? 1e-5 : 1e-12);
      kugel_deconv_destroy(p);
    }
  }
  CHECK(seen[0] != KUGEL_VOLUME_AUTO && seen[1] != KUGEL_VOLUME_AUTO);
  kugel_deconv *p = NULL;
  kugel_deconv_opts o = {.size = sizeof o, .exact = 1, .memory = 100000};
  CHECK_IS(kugel_deconv_create(NULL, 3, n, k, KUGEL_ARRAY(psf, KUGEL_F64, KZ, KY, KX), &o, &p), KUGEL_ENOMEM);
  CHECK(strstr(kugel_last_error(), "exact needs"));
}

static kugel_ctx *ctx_of(int threads)
{
  kugel_ctx *ctx = NULL;
  kugel_ctx_opts o = {.size = sizeof o, .threads = threads};
  CHECK_OK(kugel_ctx_create(&o, &ctx));
  return ctx;
}

static void sharpen(kugel_ctx *ctx, const kugel_deconv_opts *o, double *to)
{
  kugel_deconv *p = NULL;
  CHECK_OK(kugel_deconv_create(ctx, 3, n, k, KUGEL_ARRAY(psf, KUGEL_F64, KZ, KY, KX), o, &p));
  CHECK_OK(kugel_deconv_execute(p, box(image), NULL, NULL, box(to), NULL));
  kugel_deconv_destroy(p);
}

/* Tiles and engines within a limit, on which bits depend, and the bits. */
static void same_for_all_threads(void)
{
  static const int64_t large[3] = {500, 700, 700}, wide[3] = {41, 61, 61};
  kugel_ctx *one = ctx_of(1), *many = ctx_of(64), *few = ctx_of(3);
  kugel_deconv_cost a = {.size = sizeof a}, b = a;
  int chosen = 0, tiled = 0, engines = 0;
  for (int exact = 0; exact < 2; exact++)
    for (int big = 0; big < 2; big++) {
      const int64_t *shape = big ? large : n, *of = big ? wide : k;
      kugel_deconv_opts o = {.size = sizeof o, .iterations = 3, .exact = exact};
      CHECK_OK(kugel_deconv_estimate(one, 3, shape, of, &o, &a));
      o.precision = KUGEL_PRECISION_F32;
      for (o.memory = a.bytes; kugel_deconv_estimate(one, 3, shape, of, &o, &a) == KUGEL_OK;
           o.memory -= o.memory / 40) {
        CHECK_OK(kugel_deconv_estimate(many, 3, shape, of, &o, &b));
        CHECK(a.tiles == b.tiles && a.engine == b.engine && a.bytes == b.bytes &&
              !memcmp(a.tile, b.tile, sizeof a.tile));
        tiled += a.tiles > 1;
        engines |= 1 << a.engine;
        chosen++;
      }
    }
  CHECK(chosen > 60 && tiled > 20 && engines & 1 << KUGEL_VOLUME_PENCIL && engines & 1 << KUGEL_VOLUME_TILES);
  for (int exact = 0; exact < 2; exact++) {
    kugel_deconv_opts o = {.size = sizeof o, .method = KUGEL_DECONV_SHB, .iterations = 5};
    CHECK_OK(kugel_deconv_estimate(one, 3, n, k, &o, &a));
    o.exact = exact;
    o.memory = exact ? a.bytes * 19 / 20 : a.bytes * 7 / 10;
    sharpen(one, &o, out);
    sharpen(few, &o, other);
    CHECK(!memcmp(out, other, sizeof out));
    sharpen(many, &o, other);
    CHECK(!memcmp(out, other, sizeof out));
  }
  kugel_ctx_destroy(one);
  kugel_ctx_destroy(many);
  kugel_ctx_destroy(few);
}

int main(void)
{
  make_psf();
  CHECK_OK(kugel_set_num_threads(1)); // volumes are small
  CASE("floats, threads and tiles give what doubles, one thread and the whole give")
  {
    make_image(100);
    for (int i = 0; i < ALL; i++)
      image[i] += 10;
    for (int m = 0; m <= KUGEL_DECONV_ISRA; m++) {
      kugel_deconv_opts o = {
          .size = sizeof o, .method = (kugel_deconv_method)m, .iterations = 10, .background = 10};
      run(o, NULL, out);
      o.precision = KUGEL_PRECISION_F32;
      run(o, NULL, other);
      CHECK_LE(distance(other, out), m == KUGEL_DECONV_BIGGS ? 1e-3 : 1e-4);
      o.precision = KUGEL_PRECISION_F64;
      CHECK_OK(kugel_set_num_threads(3));
      run(o, NULL, other);
      CHECK(!memcmp(out, other, sizeof out));
      CHECK_OK(kugel_set_num_threads(1));
      kugel_deconv_cost c = {.size = sizeof c};
      CHECK_OK(kugel_deconv_estimate(NULL, 3, n, k, &o, &c));
      CHECK(c.tiles == 1 && c.object[0] == NZ + KZ - 1 && c.bytes > 0 && c.seconds > 0);
      o.memory = c.bytes * 9 / 10;
      CHECK_OK(kugel_deconv_estimate(NULL, 3, n, k, &o, &c));
      CHECK(c.tiles > 1 && c.bytes <= o.memory);
      run(o, NULL, other);
      CHECK_LE(distance(other, out), m == KUGEL_DECONV_BIGGS ? 0.1 : 0.05);
    }
  }
  CASE("exact within less memory than the whole takes")
  exact();
  CASE("within a limit the choice and the bits are those of any number of threads")
  same_for_all_threads();
  END();
}
