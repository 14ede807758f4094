/* SPDX-License-Identifier: BSD-3-Clause */
/* Deconvolution while rank 0 leads: the bits of one process, in one piece and in tiles that iterate alone. ISA: once */
#include <stdint.h>
#include "comm/faults.h"
#include "core/ctx.h"
#include <kugel/deconv.h>

enum { NZ = 70, NY = 12, NX = 10, ALL = NZ * NY * NX, K = 60 };
static const int64_t n[3] = {NZ, NY, NX}, k[3] = {5, 3, 4};
static double psf[3 * K], image[ALL], mask[ALL], start[ALL];
#define PSF KUGEL_ARRAY(psf, KUGEL_F64, 5, 3, 4)

typedef struct setup {
  kugel_deconv_opts opts;
  kugel_dtype out;
  bool given;    // mask and start
  bool reversed; // the image is seen through negative strides
  int64_t tiles; // of one process's plan
  kugel_deconv_info info;
  char want[ALL * 8];
  bool alone;
} setup;

static kugel_status sharpen(kugel_ctx *ctx, void *arg)
{
  setup *t = arg;
  kugel_deconv *p = NULL;
  kugel_deconv_cost cost = {.size = sizeof cost};
  kugel_deconv_info info = {.size = sizeof info};
  static char got[ALL * 8];
  int64_t strides[3] = {-NY * NX, -NX, -1}, shape[3] = {NZ, NY, NX};
  kugel_array x = {t->reversed ? image + ALL - 1 : image,
                   {KUGEL_CPU, 0},
                   3,
                   KUGEL_F64,
                   shape,
                   t->reversed ? strides : NULL,
                   0};
  kugel_status s = kugel_deconv_estimate(ctx, 3, n, k, &t->opts, &cost);
  t->tiles = t->alone ? cost.tiles : t->tiles;
  if (!s && (cost.tiles != t->tiles || (t->opts.memory ? cost.tiles < 2 : cost.tiles != 1)))
    CHECK_FAIL("%lld tiles, %lld of one process", (long long)cost.tiles, (long long)t->tiles);
  s = s ? s
        : kugel_deconv_create(ctx, 3, n, k, t->opts.depths ? KUGEL_ARRAY(psf, KUGEL_F64, 3, 5, 3, 4) : PSF,
                              &t->opts, &p);
  s = s ? s
        : kugel_deconv_execute(p, &x, t->given ? KUGEL_ARRAY(mask, KUGEL_F64, NZ, NY, NX) : NULL,
                               t->given ? KUGEL_ARRAY(start, KUGEL_F64, NZ, NY, NX) : NULL,
                               KUGEL_ARRAY(got, t->out, NZ, NY, NX), &info);
  kugel_deconv_destroy(p);
  if (s)
    return s;
  if (t->alone) {
    memcpy(t->want, got, sizeof got);
    t->info = info;
  } else if (memcmp(t->want, got, ALL * (size_t)t->out.bits / 8)) {
    CHECK_FAIL("method %d: other bits", (int)t->opts.method);
  } else if (info.iterations != t->info.iterations || memcmp(&info.first, &t->info.first, 16) ||
             info.stop != t->info.stop || info.missing != t->info.missing ||
             info.clipped != t->info.clipped || memcmp(&info.flux_in, &t->info.flux_in, 16)) {
    CHECK_FAIL("method %d: other figures", (int)t->opts.method);
  }
  return KUGEL_OK;
}

// The engine that ranks take is asked for, since images of a test are too small for it to be chosen.
static void check(setup t)
{
  kugel_volume_engine engine = t.opts.engine;
  t.opts.size = sizeof t.opts;
  t.opts.iterations = t.opts.iterations ? t.opts.iterations : 3;
  t.opts.engine = engine == KUGEL_VOLUME_GLOBAL ? KUGEL_VOLUME_AUTO : engine;
  t.alone = true;
  CHECK_OK(run_led(1, 0, sharpen, &t)); // which leads none
  t.alone = false;
  t.opts.engine = engine;
  for (int ranks = 2; ranks <= 5; ranks++)
    CHECK_OK(run_led(ranks, 0, sharpen, &t));
}

static int count(int64_t iteration, double divergence, void *user)
{
  (void)divergence;
  return ++*(int *)user == 2 && iteration == 2;
}

static kugel_status chosen(kugel_ctx *ctx, void *arg)
{
  (void)arg;
  static const int64_t large[3] = {400, 400, 400}, one[3] = {1, 400, 400}, deep[3] = {9, 9, 9};
  kugel_deconv_opts o = {.size = sizeof o, .precision = KUGEL_PRECISION_F32};
  kugel_deconv_cost led = {.size = sizeof led}, alone = {.size = sizeof alone};
  kugel_ctx *one_rank = NULL; // with as many threads as each of the others, whatever the machine's
  CHECK_OK(kugel_ctx_create(
      &(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .threads = kugel__ctx_threads(ctx)}, &one_rank));
  CHECK_OK(kugel_deconv_estimate(ctx, 3, large, deep, &o, &led));
  CHECK_OK(kugel_deconv_estimate(one_rank, 3, large, deep, &o, &alone));
  CHECK(led.seconds < 0.6 * alone.seconds);
  o.memory = 1000 << 20; // tiles are those of one process
  CHECK_OK(kugel_deconv_estimate(ctx, 3, large, deep, &o, &led));
  CHECK_OK(kugel_deconv_estimate(one_rank, 3, large, deep, &o, &alone));
  CHECK(led.tiles == alone.tiles && led.tiles > 1 && led.seconds < 0.7 * alone.seconds);
  o.engine = KUGEL_VOLUME_TILES;
  CHECK_IS(kugel_deconv_estimate(ctx, 3, large, deep, &o, &led), KUGEL_EINVAL);
  CHECK(strstr(kugel_last_error(), "memory is 1048576000"));
  o = (kugel_deconv_opts){.size = sizeof o, .engine = KUGEL_VOLUME_GLOBAL};
  CHECK_IS(kugel_deconv_estimate(NULL, 3, one, deep, &o, &led), KUGEL_EINVAL);
  CHECK(strstr(kugel_last_error(), "without ranks"));
  kugel_ctx_destroy(one_rank);
  return KUGEL_OK;
}

/* What fails on rank 0, or on all, is said by rank 0. */
static kugel_status refused(kugel_ctx *ctx, void *arg)
{
  (void)arg;
  kugel_deconv *p = NULL;
  double wrong[K] = {-1}, y[ALL];
  kugel_deconv_opts o = {.size = sizeof o, .engine = KUGEL_VOLUME_GLOBAL, .iterations = 5};
  CHECK_IS(kugel_deconv_create(ctx, 3, n, k, KUGEL_ARRAY(wrong, KUGEL_F64, 5, 3, 4), &o, &p), KUGEL_EINVAL);
  CHECK_IS(kugel_deconv_create(ctx, 3, n, k, KUGEL_ARRAY(wrong, KUGEL_F64, 3, 5, 4), &o, &p), KUGEL_ESHAPE);
  CHECK_IS(kugel_deconv_create(ctx, 3, n, k, NULL, &o, &p), KUGEL_ESHAPE);
  int calls = 0;
  o.callback = count;
  o.user = &calls;
  kugel_deconv_info info = {.size = sizeof info};
  kugel_array *x = KUGEL_ARRAY(image, KUGEL_F64, NZ, NY, NX), *to = KUGEL_ARRAY(y, KUGEL_F64, NZ, NY, NX);
  CHECK_OK(kugel_deconv_create(ctx, 3, n, k, PSF, &o, &p));
  CHECK_OK(kugel_deconv_execute(p, x, NULL, NULL, to, &info));
  CHECK(info.iterations == 2 && info.stop == KUGEL_DECONV_CALLBACK && calls == 2);
  for (int i = 0; i < ALL; i++)
    y[i] = NAN;
  CHECK_IS(kugel_deconv_execute(p, to, NULL, NULL, to, NULL), KUGEL_EINVAL);
  CHECK(strstr(kugel_last_error(), "no voxel is known"));
  CHECK_IS(kugel_deconv_execute(p, NULL, NULL, NULL, to, NULL), KUGEL_EINVAL);
  kugel_deconv_destroy(p);
  return KUGEL_OK;
}

int main(void)
{
  uint64_t seed = 4;
  alarm(200); /* a rank that waits for ever ends the test */
  for (int i = 0; i < 3 * K; i++)
    psf[i] = 1.2 + check_random(&seed);
  for (int i = 0; i < ALL; i++) {
    image[i] = 30 + 25 * check_random(&seed);
    mask[i] = check_random(&seed) > -0.9;
    start[i] = 3 + check_random(&seed);
  }
  kugel_array *back = PSF;
  CASE("one piece: planes of the ranks, by the whole transform")
  {
    check((setup){.opts = {.method = KUGEL_DECONV_BIGGS, .engine = KUGEL_VOLUME_GLOBAL, .background = 2},
                  .out = KUGEL_F64,
                  .reversed = true});
    check((setup){.opts = {.method = KUGEL_DECONV_TV,
                           .edges = KUGEL_DECONV_REFLECT,
                           .precision = KUGEL_PRECISION_F32,
                           .engine = KUGEL_VOLUME_GLOBAL,
                           .back = back},
                  .given = true,
                  .out = KUGEL_U8});
  }
  CASE("one piece: tiles with halos, which one process also takes")
  check((setup){.opts = {.method = KUGEL_DECONV_TIKHONOV, .engine = KUGEL_VOLUME_TILES, .offset = 1},
                .given = true,
                .out = KUGEL_F32});
  CASE("tiles that iterate alone")
  {
    check(
        (setup){.opts = {.method = KUGEL_DECONV_SHB, .memory = 450000, .saturation = 50}, .out = KUGEL_F64});
    check((setup){.opts = {.method = KUGEL_DECONV_RL,
                           .memory = 220000,
                           .precision = KUGEL_PRECISION_F32,
                           .edges = KUGEL_DECONV_ZERO,
                           .back = back},
                  .given = true,
                  .reversed = true,
                  .out = KUGEL_U16});
  }
  CASE("PSFs by depth: one piece, with halos, and tiles that iterate alone")
  {
    const double planes[3] = {8, 30, 61.5};
    kugel_deconv_opts o = {.method = KUGEL_DECONV_RL, .depths = 3, .depth = planes};
    o.engine = KUGEL_VOLUME_GLOBAL;
    check((setup){.opts = o, .out = KUGEL_F64});
    o.engine = KUGEL_VOLUME_TILES;
    check((setup){.opts = o, .given = true, .out = KUGEL_F32});
    o.engine = KUGEL_VOLUME_AUTO;
    o.memory = 450000;
    check((setup){.opts = o, .reversed = true, .out = KUGEL_F64});
  }
  CASE("what is chosen, and refused")
  {
    CHECK_OK(run_led(3, 0, chosen, NULL));
    CHECK_OK(run_led(3, 0, refused, NULL));
  }
  CASE("allocations that fail")
  {
    setup whole = {.opts = {.size = sizeof whole.opts,
                            .engine = KUGEL_VOLUME_GLOBAL,
                            .iterations = 1,
                            .edges = KUGEL_DECONV_ZERO},
                   .out = KUGEL_F64,
                   .alone = true};
    sweep_led(sharpen, &whole);
    setup tiles = {.opts = {.size = sizeof tiles.opts, .iterations = 1, .memory = 450000},
                   .out = KUGEL_F64,
                   .alone = true};
    sweep_led(sharpen, &tiles);
    tiles.opts.depths = 3;
    tiles.opts.depth = (const double[]){8, 30, 61.5};
    sweep_led(sharpen, &tiles);
  }
  END();
}
