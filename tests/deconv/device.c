/* SPDX-License-Identifier: BSD-3-Clause */
/* LABEL: long. Deconvolution on every device beside the CPU, which must give the same: methods, edges, precisions, missing voxels, tiles,
 * ends of the iteration. */
#include "check.h"
#include "core/alloc.h"
#include "device/every.h"
#include <kugel/deconv.h>

enum { NZ = 6, NY = 18, NX = 21, ALL = NZ * NY * NX, KZ = 3, KY = 5, KX = 7, K = KZ * KY * KX };
static double psf[3 * K], image[ALL], mask[ALL], first[ALL], here[ALL], there[ALL];

static void fill(void)
{
  uint64_t seed = 11;
  for (int i = 0; i < K; i++)
    psf[i] = exp(-0.3 * (i % KX - 3) * (i % KX - 3) - 0.5 * (i / KX % KY - 2) * (i / KX % KY - 2)) *
             (1 + 0.3 * check_random(&seed));
  for (int i = 0; i < ALL; i++) {
    double x = i % NX, y = i / NX % NY;
    image[i] = 20 + 100 * exp(-0.1 * ((x - 8) * (x - 8) + (y - 9) * (y - 9))) + 3 * check_random(&seed);
    mask[i] = i % 37 != 5;
    first[i] = 10 + i % 13;
  }
}

typedef struct compared {
  double object, divergence;
} compared;

static int stop_after(int64_t i, double divergence, void *user)
{
  (void)divergence;
  return i == *(int *)user;
}

static kugel_deconv_info run(kugel_ctx *ctx, int ndim, kugel_deconv_opts o, bool masked, bool given,
                             double *out)
{
  const int64_t lengths[] = {NZ, NY, NX}, sizes[] = {KZ, KY, KX};
  int64_t n[3], k[3];
  kugel_deconv_info info = {.size = sizeof info};
  kugel_deconv *p = NULL;
  for (int d = 0; d < ndim; d++) {
    n[d] = lengths[3 - ndim + d];
    k[d] = sizes[3 - ndim + d];
  }
  int64_t stacked[4] = {o.depths, k[0], k[1], k[2]};
  kugel_array h = {psf, {KUGEL_CPU, 0}, ndim, KUGEL_F64, k, NULL, 0},
              x = {image, {KUGEL_CPU, 0}, ndim, KUGEL_F64, n, NULL, 0}, m = x, s = x, y = x;
  m.data = mask;
  s.data = first;
  y.data = out;
  if (o.depths) {
    h.ndim = 4;
    h.shape = stacked;
  }
  o.size = sizeof o;
  CHECK_OK(kugel_deconv_create(ctx, ndim, n, k, &h, &o, &p));
  if (p)
    CHECK_OK(kugel_deconv_execute(p, &x, masked ? &m : NULL, given ? &s : NULL, &y, &info));
  kugel_deconv_destroy(p);
  return info;
}

static compared compare(kugel_ctx *ctx, int ndim, kugel_deconv_opts o, bool masked, bool given)
{
  double most = 0;
  compared c = {0, 0};
  kugel_deconv_info a = run(NULL, ndim, o, masked, given, here), b = run(ctx, ndim, o, masked, given, there);
  int64_t count = ndim == 3 ? ALL : ndim == 2 ? NY * NX : NX;
  for (int64_t i = 0; i < count; i++) {
    most = fmax(most, fabs(here[i]));
    c.object = fmax(c.object, fabs(here[i] - there[i]));
  }
  c.object /= most;
  c.divergence = fmax(fabs(a.first / b.first - 1), fabs(a.last / b.last - 1));
  CHECK(a.iterations == b.iterations && a.stop == b.stop && a.missing == b.missing);
  CHECK_LE(fabs(a.flux_out / b.flux_out - 1), o.precision == KUGEL_PRECISION_F32 ? 1e-5 : 1e-11);
  return c;
}

static const char *const names[] = {"rl", "biggs", "shb", "tv"};

static void methods(kugel_ctx *ctx)
{
  static const struct {
    kugel_deconv_method method;
    kugel_deconv_edges edges;
    kugel_precision precision;
    int ndim;
  } runs[] = {{KUGEL_DECONV_RL, KUGEL_DECONV_UNKNOWN, KUGEL_PRECISION_F32, 3},
              {KUGEL_DECONV_BIGGS, KUGEL_DECONV_UNKNOWN, KUGEL_PRECISION_F64, 3},
              {KUGEL_DECONV_SHB, KUGEL_DECONV_UNKNOWN, KUGEL_PRECISION_F32, 3},
              {KUGEL_DECONV_TV, KUGEL_DECONV_UNKNOWN, KUGEL_PRECISION_F64, 3},
              {KUGEL_DECONV_BIGGS, KUGEL_DECONV_REFLECT, KUGEL_PRECISION_F32, 3},
              {KUGEL_DECONV_TV, KUGEL_DECONV_REFLECT, KUGEL_PRECISION_F32, 3},
              {KUGEL_DECONV_SHB, KUGEL_DECONV_ZERO, KUGEL_PRECISION_F64, 1},
              {KUGEL_DECONV_RL, KUGEL_DECONV_PERIODIC, KUGEL_PRECISION_F64, 2}};
  for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
    bool f32 = runs[i].precision == KUGEL_PRECISION_F32;
    kugel_deconv_opts o = {
        .method = runs[i].method, .edges = runs[i].edges, .iterations = 5, .background = 4};
    o.precision = runs[i].precision;
    compared c = compare(ctx, runs[i].ndim, o, i % 2 == 0, i % 4 == 1);
    printf("    %-5s edges %d %s: object %.1e, divergence %.1e\n", names[o.method], (int)o.edges,
           f32 ? "f32" : "f64", c.object, c.divergence);
    CHECK_LE(c.object, f32 ? 3e-6 : 1e-12);
    CHECK_LE(c.divergence, f32 ? 1e-5 : 1e-12);
  }
}

/* PSFs at planes of the image, some of them in every step and some of none; then in tiles of a deeper stack. */
static void by_depth(kugel_ctx *ctx)
{
  static const double planes[3] = {1, 3.5, 9};
  for (int i = 0; i < K; i++) {
    psf[K + i] = sqrt(psf[i]);
    psf[2 * K + i] = psf[i] * psf[i];
  }
  static const struct {
    kugel_deconv_method method;
    kugel_deconv_edges edges;
    kugel_precision precision;
  } runs[] = {{KUGEL_DECONV_RL, KUGEL_DECONV_UNKNOWN, KUGEL_PRECISION_F32},
              {KUGEL_DECONV_BIGGS, KUGEL_DECONV_UNKNOWN, KUGEL_PRECISION_F64},
              {KUGEL_DECONV_TV, KUGEL_DECONV_REFLECT, KUGEL_PRECISION_F32}};
  for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
    bool f32 = runs[i].precision == KUGEL_PRECISION_F32;
    kugel_deconv_opts o = {.method = runs[i].method, .edges = runs[i].edges, .iterations = 4, .depths = 3};
    o.depth = planes;
    o.precision = runs[i].precision;
    compared c = compare(ctx, 3, o, i % 2 == 0, i == 2);
    printf("    by depth, %-5s edges %d: object %.1e, divergence %.1e\n", names[o.method], (int)o.edges,
           c.object, c.divergence);
    CHECK_LE(c.object, f32 ? 3e-6 : 1e-12);
    CHECK_LE(c.divergence, f32 ? 1e-5 : 1e-12);
  }
}

/* The device's tiles along depth, of which each has its own planes, beside the CPU on the same pieces of the image. */
static void deep_tiles(kugel_ctx *ctx)
{
  enum { DEEP = 24, ROW = 6, HALO = 2 };
  static const double planes[3] = {2, 11, 20};
  static double stack[DEEP * ROW], all[DEEP * ROW], piece[DEEP * ROW];
  const int64_t n[3] = {DEEP, 1, ROW}, k[3] = {3, 1, 3};
  kugel_array *h = KUGEL_ARRAY(psf, KUGEL_F64, 3, 3, 1, 3);
  for (int i = 0; i < DEEP * ROW; i++)
    stack[i] = 20 + i * 7919 % 101;
  kugel_deconv_opts o = {.size = sizeof o, .iterations = 3, .halo = HALO, .depths = 3, .depth = planes};
  kugel_deconv_cost c = {.size = sizeof c};
  kugel_deconv *p = NULL;
  CHECK_OK(kugel_deconv_estimate(ctx, 3, n, k, &o, &c));
  o.memory = c.device_bytes * 6 / 10;
  CHECK_OK(kugel_deconv_estimate(ctx, 3, n, k, &o, &c));
  CHECK(c.tiles > 1 && c.tile[2] == ROW && c.device_bytes <= o.memory);
  CHECK_OK(kugel_deconv_create(ctx, 3, n, k, h, &o, &p));
  if (p)
    CHECK_OK(kugel_deconv_execute(p, KUGEL_ARRAY(stack, KUGEL_F64, DEEP, 1, ROW), NULL, NULL,
                                  KUGEL_ARRAY(all, KUGEL_F64, DEEP, 1, ROW), NULL));
  kugel_deconv_destroy(p);
  o.memory = 0;
  int64_t cut[3] = {c.tile[0] + 2 * HALO, 1, ROW};
  for (int64_t lo = 0; lo < DEEP; lo += c.tile[0]) {
    int64_t from = lo < HALO ? 0 : lo - HALO > DEEP - cut[0] ? DEEP - cut[0] : lo - HALO;
    double moved[3] = {planes[0] - (double)from, planes[1] - (double)from, planes[2] - (double)from};
    o.depth = moved;
    CHECK_OK(kugel_deconv_create(NULL, 3, cut, k, h, &o, &p));
    if (p)
      CHECK_OK(kugel_deconv_execute(p, KUGEL_ARRAY(stack + from * ROW, KUGEL_F64, cut[0], 1, ROW), NULL, NULL,
                                    KUGEL_ARRAY(piece, KUGEL_F64, cut[0], 1, ROW), NULL));
    kugel_deconv_destroy(p);
    double worst = 0;
    for (int64_t i = lo * ROW; i < (lo + c.tile[0]) * ROW && i < DEEP * ROW; i++)
      worst = fmax(worst, fabs(all[i] - piece[i - from * ROW]));
    printf("    tile by depth from plane %d: %.1e\n", (int)lo, worst);
    CHECK_LE(worst, 1e-11);
  }
}

static void tiles(kugel_ctx *ctx)
{
  const int64_t n[3] = {NZ, NY, NX}, k[3] = {KZ, KY, KX};
  kugel_deconv_opts o = {.size = sizeof o, .iterations = 3, .precision = KUGEL_PRECISION_F64};
  kugel_deconv_cost c = {.size = sizeof c};
  CHECK_OK(kugel_deconv_estimate(ctx, 3, n, k, &o, &c));
  CHECK(c.tiles == 1 && c.device_bytes > 0 && c.kernel_bytes > 0);
  run(ctx, 3, o, false, false, here);
  o.memory = c.device_bytes * 8 / 10;
  CHECK_OK(kugel_deconv_estimate(ctx, 3, n, k, &o, &c));
  CHECK(c.tiles > 1 && c.device_bytes <= o.memory);
  run(ctx, 3, o, false, false, there);
  double worst = 0;
  for (int i = 0; i < ALL; i++)
    worst = fmax(worst, fabs(here[i] - there[i]));
  CHECK_LE(worst, 0.05 * 120);
}

static void ends(kugel_ctx *ctx)
{
  int at = 3;
  kugel_deconv_opts o = {.iterations = 30, .precision = KUGEL_PRECISION_F64, .tolerance = 0.2};
  compare(ctx, 3, o, true, false);
  o = (kugel_deconv_opts){.iterations = 30, .precision = KUGEL_PRECISION_F64, .discrepancy = 0.5};
  compare(ctx, 3, o, true, false);
  o = (kugel_deconv_opts){.iterations = 30, .callback = stop_after, .user = &at};
  CHECK_LE(compare(ctx, 3, o, false, false).object, 1e-12);
}

static void back_projector(kugel_ctx *ctx)
{
  double back[K];
  for (int i = 0; i < K; i++)
    back[i] = 2 * psf[K - 1 - i];
  kugel_deconv_opts o = {.method = KUGEL_DECONV_SHB, .iterations = 3};
  o.back = KUGEL_ARRAY(back, KUGEL_F64, KZ, KY, KX);
  CHECK_LE(compare(ctx, 3, o, true, false).object, 1e-12);
}

static void refused(kugel_ctx *ctx)
{
  const int64_t n[3] = {NZ, NY, NX}, k[3] = {KZ, KY, KX};
  kugel_deconv *p = NULL;
  kugel_deconv_opts o = {.size = sizeof o, .memory = 1000};
  CHECK_IS(kugel_deconv_create(ctx, 3, n, k, KUGEL_ARRAY(psf, KUGEL_F64, KZ, KY, KX), &o, &p), KUGEL_ENOMEM);
  CHECK(!p);
}

/* Every allocation, then every driver call, fails in turn. */
static void faults(kugel_ctx *ctx, bool depths)
{
  static const double planes[2] = {1, 4};
  kugel_array *h =
      depths ? KUGEL_ARRAY(psf, KUGEL_F64, 2, KZ, KY, KX) : KUGEL_ARRAY(psf, KUGEL_F64, KZ, KY, KX);
  for (int kind = 0; kind < 2; kind++) {
    bool done = false;
    for (int64_t fail = 1; fail < 100000 && !done; fail += 1 + fail / 8) {
      const int64_t n[3] = {NZ, NY, NX}, k[3] = {KZ, KY, KX};
      kugel_deconv_opts o = {.size = sizeof o, .method = KUGEL_DECONV_BIGGS, .iterations = 1};
      o.depths = depths ? 2 : 0;
      o.depth = planes;
      kugel_deconv *p = NULL;
      kind ? kugel__fault_device(fail) : kugel__fault_alloc(fail);
      kugel_status s = kugel_deconv_create(ctx, 3, n, k, h, &o, &p);
      if (!s)
        s = kugel_deconv_execute(p, KUGEL_ARRAY(image, KUGEL_F64, NZ, NY, NX), NULL, NULL,
                                 KUGEL_ARRAY(there, KUGEL_F64, NZ, NY, NX), NULL);
      kind ? kugel__fault_device(0) : kugel__fault_alloc(0);
      CHECK(s == KUGEL_OK || s == KUGEL_ENOMEM || (kind && s == KUGEL_EDEVICE));
      kugel_deconv_destroy(p);
      done = s == KUGEL_OK;
    }
    CHECK(done);
  }
}

int main(void)
{
  kugel_device_info info;
  fill();
  for (int i = 0; every_device(&i, true, &info);)
    CASE(info.name)
    {
      kugel_ctx *ctx = NULL;
      CHECK_OK(
          kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = info.name}, &ctx));
      if (ctx) {
        methods(ctx);
        by_depth(ctx);
        deep_tiles(ctx);
        tiles(ctx);
        ends(ctx);
        back_projector(ctx);
        refused(ctx);
        faults(ctx, false);
        faults(ctx, true);
      }
      kugel_ctx_destroy(ctx);
    }
  END();
}
