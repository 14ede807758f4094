/* SPDX-License-Identifier: BSD-3-Clause */
/* LABEL: long. Exact deconvolution on devices whose memory does not hold the arrays of a step: what the device's own steps give, or
 * for methods that have none there the CPU's, by every engine of the convolutions. */
#include "core/parallel.h"
#include "device/every.h"
#include "device/faults.h"
#include "deconv/object.h"

static const char *const methods[] = {"rl", "biggs", "shb", "tv", "wiener", "tikhonov", "landweber", "isra"};
static double deep[2 * K];

static kugel_array *psf_of(const kugel_deconv_opts *o, const int64_t *kernel)
{
  static int64_t shape[4];
  static kugel_array h;
  shape[0] = o->depths;
  for (int d = 0; d < 3; d++)
    shape[d + 1] = kernel[d];
  int one = o->depths ? 0 : 1;
  h = (kugel_array){.data = o->depths ? deep : psf,
                    .device = {KUGEL_CPU, 0},
                    .ndim = 4 - one,
                    .dtype = KUGEL_F64,
                    .shape = shape + one};
  return &h;
}

static kugel_deconv_info solve(kugel_ctx *ctx, const kugel_deconv_opts *o, double *mask, double *to)
{
  kugel_deconv_info info = {.size = sizeof info};
  kugel_deconv *p = NULL;
  CHECK_OK(kugel_deconv_create(ctx, 3, n, k, psf_of(o, k), o, &p));
  if (p)
    CHECK_OK(kugel_deconv_execute(p, box(image), mask ? box(mask) : NULL, NULL, box(to), &info));
  kugel_deconv_destroy(p);
  return info;
}

static double worst(void)
{
  double most = 0, error = 0;
  for (int i = 0; i < ALL; i++) {
    most = fmax(most, fabs(out[i]));
    error = fmax(error, fabs(out[i] - other[i]));
  }
  return error / most;
}

typedef struct used {
  kugel_ctx *ctx;
  uint64_t most;
} used;

/* Device memory after a step, without scratch that is kept for later calls. */
static int count_memory(int64_t i, double divergence, void *user)
{
  used *u = user;
  uint64_t now;
  (void)i;
  (void)divergence;
  kugel_ctx_trim(u->ctx);
  CHECK_OK(kugel_device_usage(u->ctx, &now, NULL));
  u->most = now > u->most ? now : u->most;
  return 0;
}

/* From a byte less than the device's own steps take down to what no engine runs in. */
static void compare(kugel_ctx *ctx, kugel_deconv_opts o, double *mask, bool engines[6])
{
  bool own = o.method <= KUGEL_DECONV_TV;
  kugel_deconv_cost c = {.size = sizeof c};
  o.size = sizeof o;
  o.exact = own;
  o.background = 3;
  kugel_deconv_info want = solve(own ? ctx : NULL, &o, mask, out);
  CHECK_OK(kugel_deconv_estimate(ctx, 3, n, k, &o, &c));
  uint64_t memory = own ? c.device_bytes - 1 : c.device_bytes;
  for (int seen = -1; memory; memory = memory * 7 / 8) {
    o.memory = memory;
    if (kugel_deconv_estimate(ctx, 3, n, k, &o, &c))
      break;
    CHECK(c.tiles == 1 && c.device_bytes <= memory && c.device_bytes > 0 && c.seconds > 0 && c.bytes > 0);
    CHECK(c.object[0] == NZ + (o.edges ? 0 : KZ - 1));
    if (c.engine == seen)
      continue;
    seen = c.engine;
    engines[seen] = true;
    uint64_t before;
    used u = {ctx, 0};
    o.callback = count_memory;
    o.user = &u;
    kugel_ctx_trim(ctx);
    CHECK_OK(kugel_device_usage(ctx, &before, NULL));
    kugel_deconv_info got = solve(ctx, &o, mask, other);
    CHECK(u.most >= before && u.most - before <= memory);
    double error = worst(), divergence = fabs(got.last / want.last - 1);
    printf("    %-9s %s engine %d, %8.0f bytes: %.1e, divergence %.1e\n", methods[o.method],
           o.precision ? "f32" : "f64", seen, (double)memory, error, divergence);
    CHECK_LE(error, o.precision == KUGEL_PRECISION_F32 ? 1e-5 : 1e-12);
    CHECK_LE(divergence, o.precision == KUGEL_PRECISION_F32 ? 1e-5 : 1e-11);
    CHECK(got.iterations == want.iterations && got.stop == want.stop && got.missing == want.missing);
  }
  CHECK(memory > 0);
  kugel_deconv *p = NULL;
  o.memory = 1000;
  CHECK_IS(kugel_deconv_create(ctx, 3, n, k, psf_of(&o, k), &o, &p), KUGEL_ENOMEM);
  CHECK(!p);
}

static void every_method(kugel_ctx *ctx, bool engines[6])
{
  static const double planes[2] = {2, 9};
  static double mask[ALL];
  for (int i = 0; i < ALL; i++)
    mask[i] = i % 41 != 7;
  for (int m = 0; m <= KUGEL_DECONV_ISRA; m++) {
    kugel_deconv_opts o = {.method = (kugel_deconv_method)m, .iterations = 5};
    o.precision = m % 2 ? KUGEL_PRECISION_F32 : KUGEL_PRECISION_F64;
    o.edges = m == KUGEL_DECONV_SHB || m == KUGEL_DECONV_WIENER ? KUGEL_DECONV_REFLECT : KUGEL_DECONV_UNKNOWN;
    compare(ctx, o, m % 3 ? NULL : mask, engines);
  }
  kugel_deconv_opts o = {.iterations = 4, .depths = 2, .depth = planes};
  printf("    by depth\n");
  compare(ctx, o, mask, engines);
  o = (kugel_deconv_opts){.iterations = 4, .back = KUGEL_ARRAY(psf, KUGEL_F64, KZ, KY, KX)};
  printf("    with a back-projector\n");
  compare(ctx, o, NULL, engines);
}

/* The context's limit does as opts.memory. */
static void limited_context(kugel_ctx *ctx)
{
  kugel_deconv_opts o = {.size = sizeof o, .iterations = 3, .exact = 1};
  kugel_deconv_cost c = {.size = sizeof c};
  CHECK_OK(kugel_deconv_estimate(ctx, 3, n, k, &o, &c));
  solve(ctx, &o, NULL, out);
  CHECK_OK(kugel_ctx_limit_memory(ctx, c.device_bytes / 2));
  solve(ctx, &o, NULL, other);
  CHECK_LE(worst(), 1e-12);
  CHECK_OK(kugel_ctx_limit_memory(ctx, 0));
}

typedef struct watch {
  double last, stop;
  int calls;
} watch;

static int on_progress(double done, const char *stage, void *user)
{
  watch *w = user;
  CHECK(stage && done >= w->last && done <= 1);
  w->last = done;
  w->calls++;
  return done >= w->stop;
}

static kugel_deconv_opts half_of(kugel_ctx *ctx)
{
  kugel_deconv_opts o = {.size = sizeof o, .iterations = 4, .exact = 1};
  kugel_deconv_cost c = {.size = sizeof c};
  CHECK_OK(kugel_deconv_estimate(ctx, 3, n, k, &o, &c));
  o.memory = c.device_bytes / 3;
  return o;
}

/* Progress goes forward over all steps, and a callback that says so ends them, out as it was. */
static void progress(kugel_ctx *ctx)
{
  kugel_deconv_opts o = half_of(ctx);
  kugel_deconv *p = NULL;
  double before = kugel__progress_interval(0);
  CHECK_OK(kugel_deconv_create(ctx, 3, n, k, psf_of(&o, k), &o, &p));
  for (double stop = 0.25; stop < 3 && p; stop += 1.75) {
    watch w = {.stop = stop};
    other[0] = other[ALL - 1] = -7;
    kugel_set_progress(on_progress, &w);
    kugel_status s = kugel_deconv_execute(p, box(image), NULL, NULL, box(other), NULL);
    kugel_set_progress(NULL, NULL);
    CHECK(s == (stop < 1 ? KUGEL_ECANCELED : KUGEL_OK));
    CHECK(w.calls >= (stop < 1 ? 2 : 8) && w.last >= (stop < 1 ? stop : 0.8) && w.last < stop + 0.2);
    CHECK(stop > 1 || (other[0] <= -7 && other[ALL - 1] <= -7));
  }
  kugel_deconv_destroy(p);
  kugel__progress_interval(before);
}

typedef struct failing {
  kugel_deconv_opts o;
} failing;

static kugel_status once(kugel_ctx *ctx, void *arg)
{
  const kugel_deconv_opts *o = &((failing *)arg)->o;
  kugel_deconv *p = NULL;
  kugel_status s = kugel_deconv_create(ctx, 3, n, k, psf_of(o, k), o, &p);
  if (!s)
    s = kugel_deconv_execute(p, box(image), NULL, NULL, box(other), NULL);
  kugel_deconv_destroy(p);
  return s;
}

static void faults(kugel_ctx *ctx)
{
  static const double planes[2] = {2, 9};
  failing f = {half_of(ctx)};
  f.o.iterations = 1;
  for (int depths = 0; depths <= 2; depths += 2) {
    f.o.depths = depths;
    f.o.depth = planes;
    sweep_memory(ctx, 60, once, &f);
    sweep_driver(ctx, 60, once, &f);
  }
}

int main(void)
{
  kugel_device_info info;
  bool engines[6] = {false}, any = false;
  make_psf();
  make_image(100);
  for (int i = 0; i < ALL; i++)
    image[i] += 10;
  for (int i = 0; i < K; i++) {
    deep[i] = psf[i];
    deep[K + i] = sqrt(psf[i]);
  }
  for (int i = 0; every_device(&i, true, &info);)
    CASE(info.name)
    {
      kugel_ctx *ctx = NULL;
      CHECK_OK(
          kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = info.name}, &ctx));
      if (ctx) {
        any = true;
        every_method(ctx, engines);
        limited_context(ctx);
        progress(ctx);
        faults(ctx);
      }
      kugel_ctx_destroy(ctx);
    }
  CHECK(!any || (engines[KUGEL_VOLUME_TILES] && engines[KUGEL_VOLUME_PENCIL]));
  END();
}
