/* SPDX-License-Identifier: BSD-3-Clause */
/* ISA: once, LABEL: long: OpenCL compilers take their time. */
/* Radial convolution by blocks of rings, on several devices and within limits of memory, against one device
 * with all at once. PoCL is asked for two devices. */
#include "device/every.h"
#include "device/faults.h"
#include "device/usage.h"
#include "sphere/compare.h"
#include <kugel/device.h>
#include <kugel/radial.h>

typedef struct sky {
  kugel_grid_kind kind;
  int64_t n;
  kugel_radial_kernel kernel;
  double width;
  kugel_radial_method method;
  int normalise; /* 1: by the mask, 2: by the sum of a constant */
} sky;

static const sky skies[] = {
    {KUGEL_GRID_HEALPIX, 64, KUGEL_RADIAL_GAUSSIAN, 0.05, KUGEL_RADIAL_DIRECT, 0},
    {KUGEL_GRID_HEALPIX, 64, KUGEL_RADIAL_GAUSSIAN, 0.05, KUGEL_RADIAL_RINGS, 0},
    {KUGEL_GRID_HEALPIX, 64, KUGEL_RADIAL_FISHER, 0.2, KUGEL_RADIAL_RINGS, 1},
    {KUGEL_GRID_HEALPIX, 64, KUGEL_RADIAL_TOP_HAT, 0.1, KUGEL_RADIAL_DIRECT, 1},
    {KUGEL_GRID_HEALPIX, 64, KUGEL_RADIAL_GAUSSIAN, 0.05, KUGEL_RADIAL_DIRECT, 2},
    {KUGEL_GRID_HEALPIX, 64, KUGEL_RADIAL_TOP_HAT, 0.1, KUGEL_RADIAL_RINGS, 2},
    {KUGEL_GRID_HEALPIX, 64, KUGEL_RADIAL_TOP_HAT, 0.1, KUGEL_RADIAL_RINGS, 0},
    {KUGEL_GRID_HEALPIX, 32, KUGEL_RADIAL_GAUSSIAN, 0.1, KUGEL_RADIAL_ARKCOS, 0},
    {KUGEL_GRID_HEALPIX, 15, KUGEL_RADIAL_GAUSSIAN, 2, KUGEL_RADIAL_RINGS,
     0}, /* every block needs all rings */
    {KUGEL_GRID_GAUSS, 75, KUGEL_RADIAL_GAUSSIAN, 0.1, KUGEL_RADIAL_DIRECT, 0},
    {KUGEL_GRID_GAUSS, 75, KUGEL_RADIAL_GAUSSIAN, 0.1, KUGEL_RADIAL_RINGS, 1},
    {KUGEL_GRID_HEALPIX, 1, KUGEL_RADIAL_GAUSSIAN, 0.6, KUGEL_RADIAL_DIRECT,
     0}, /* some devices have nothing to do */
};

static kugel_ctx *make_ctx(const char *device)
{
  kugel_ctx *ctx = NULL;
  CHECK_OK(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = device}, &ctx));
  return ctx;
}

static kugel_grid *grid_of(const sky *k)
{
  kugel_grid *g = NULL;
  kugel_grid_opts o = {.size = sizeof o, .kind = k->kind, .nside = k->n, .ntheta = k->n, .nphi = 2 * k->n};
  CHECK_OK(kugel_grid_create(NULL, &o, &g));
  return g;
}

static kugel_status plan(kugel_ctx *ctx, const kugel_grid *g, const sky *k, int64_t memory,
                         kugel_radial **out)
{
  kugel_radial_opts o = {.size = sizeof o, .grid = g, .kernel = k->kernel, .width = k->width};
  o.method = k->method;
  o.normalise_mask = k->normalise == 1;
  o.normalise = k->normalise == 2;
  if (ctx)
    CHECK_OK(kugel_ctx_limit_memory(ctx, (uint64_t)memory));
  return kugel_radial_create(ctx, &o, out);
}

static int64_t blocks_of(const kugel_radial *p)
{
  kugel_radial_info info = {.size = sizeof info};
  CHECK_OK(kugel_radial_get_info(p, &info));
  return info.blocks;
}

/* As difference(), of maps with pixels that are unseen in both. */
static double apart(int64_t n, const double *got, const double *want)
{
  double worst = 0, most = 0;
  for (int64_t i = 0; i < n; i++) {
    bool unseen = want[i] < -1e30;
    worst = fmax(worst, unseen ? (got[i] == want[i] ? 0 : 1e30) : fabs(got[i] - want[i]));
    most = fmax(most, unseen ? 0 : fabs(want[i]));
  }
  return worst / most;
}

/* Two maps in host memory: apart, in place, and the adjoint. */
static void compare(kugel_ctx *one, kugel_ctx *many, const sky *k, int64_t memory, int64_t least_blocks)
{
  kugel_grid *g = grid_of(k);
  kugel_radial *p = NULL, *q = NULL;
  int64_t npix = kugel_grid_npix(g), n = 2 * npix;
  CHECK_OK(plan(one, g, k, 0, &p));
  CHECK_OK(plan(many, g, k, memory, &q));
  CHECK(blocks_of(p) == 1 && blocks_of(q) >= least_blocks);
  double *f = random_numbers(n), *want = calloc((size_t)n, 8), *got = calloc((size_t)n, 8);
  float *f32 = malloc((size_t)n * 4), *want32 = calloc((size_t)n, 4), *got32 = calloc((size_t)n, 4);
  for (int64_t i = 0; i < n; i++) {
    f[i] = i % 13 == 4 ? KUGEL_UNSEEN : f[i];
    f32[i] = (float)f[i];
  }
  kugel_array *a = KUGEL_ARRAY(f, KUGEL_F64, 2, npix), *w = KUGEL_ARRAY(want, KUGEL_F64, 2, npix),
              *b = KUGEL_ARRAY(got, KUGEL_F64, 2, npix);
  CHECK_OK(kugel_radial_execute(p, a, w, NULL));
  CHECK_OK(kugel_radial_execute(q, a, b, NULL));
  double worst = apart(n, got, want);
  CHECK(!memcmp(got, want, (size_t)n * 8));
  CHECK_OK(kugel_radial_execute(p, KUGEL_ARRAY(f32, KUGEL_F32, 2, npix),
                                KUGEL_ARRAY(want32, KUGEL_F32, 2, npix), NULL));
  CHECK_OK(kugel_radial_execute(q, KUGEL_ARRAY(f32, KUGEL_F32, 2, npix),
                                KUGEL_ARRAY(got32, KUGEL_F32, 2, npix), NULL));
  for (int64_t i = 0; i < n; i++)
    CHECK(fabsf(got32[i] - want32[i]) <= 2e-6f * fabsf(want32[i]) + 1e-6f);
  if (k->normalise != 1) {
    CHECK_OK(kugel_radial_adjoint(p, a, w, NULL));
    CHECK_OK(kugel_radial_adjoint(q, a, b, NULL));
    CHECK_LE(apart(n, got, want), 1e-13);
  }
  CHECK_OK(kugel_radial_execute(p, a, w, NULL));
  CHECK_OK(kugel_radial_execute(q, a, a, NULL));
  CHECK_LE(apart(n, f, want), 1e-13);
  printf("  kernel %d method %d normalised %d: %lld blocks, %s%.1e\n", (int)k->kernel, (int)k->method,
         k->normalise, (long long)blocks_of(q), worst == 0 ? "the same bits " : "", worst);
  free(f), free(want), free(got), free(f32), free(want32), free(got32);
  kugel_radial_destroy(p);
  kugel_radial_destroy(q);
  kugel_grid_destroy(g);
}

/* Arrays in memory of the first device. */
static void resident(kugel_ctx *ctx, const sky *k)
{
  kugel_device_info info = {.size = sizeof info};
  kugel_grid *g = grid_of(k);
  kugel_radial *cpu = NULL, *p = NULL;
  int64_t n = kugel_grid_npix(g);
  CHECK_OK(kugel_ctx_describe(ctx, &info));
  CHECK_OK(plan(NULL, g, k, 0, &cpu));
  CHECK_OK(plan(ctx, g, k, 0, &p));
  double *f = random_numbers(n), *want = calloc((size_t)n, 8), *got = calloc((size_t)n, 8);
  kugel_array *a = KUGEL_ARRAY(f, KUGEL_F64, n), in = *a, out = *a;
  CHECK_OK(kugel_device_alloc(ctx, (size_t)n * 8, &in.data));
  CHECK_OK(kugel_device_alloc(ctx, (size_t)n * 8, &out.data));
  in.device = out.device = info.device;
  CHECK_OK(kugel_device_upload(ctx, in.data, 0, f, (size_t)n * 8, NULL));
  CHECK_OK(kugel_radial_execute(cpu, a, KUGEL_ARRAY(want, KUGEL_F64, n), NULL));
  for (int place = 0; place < 2; place++) {
    CHECK_OK(kugel_radial_execute(p, &in, place ? &in : &out, NULL));
    CHECK_OK(kugel_device_download(ctx, got, place ? in.data : out.data, 0, (size_t)n * 8, NULL));
    CHECK_LE(difference(n, got, want), 1e-12);
  }
  kugel_device_free(ctx, in.data);
  kugel_device_free(ctx, out.data);
  free(f), free(want), free(got);
  kugel_radial_destroy(cpu);
  kugel_radial_destroy(p);
  kugel_grid_destroy(g);
}

/* What a plan with a limit holds at the most. */
static void limits(kugel_ctx *ctx)
{
  const sky all[] = {{KUGEL_GRID_HEALPIX, 256, KUGEL_RADIAL_GAUSSIAN, 0.012, KUGEL_RADIAL_DIRECT, 0},
                     {KUGEL_GRID_HEALPIX, 256, KUGEL_RADIAL_GAUSSIAN, 0.012, KUGEL_RADIAL_RINGS, 0}};
  for (int i = 0; i < 2; i++) {
    kugel_grid *g = grid_of(all + i);
    kugel_radial *p = NULL, *q = NULL;
    int64_t n = kugel_grid_npix(g), limit = (i ? 22 : 14) << 20; // tables of ring transforms stay
    uint64_t now = 0, before = 0, most = 0;
    double *f = random_numbers(n), *want = calloc((size_t)n, 8);
    kugel_array *a = KUGEL_ARRAY(f, KUGEL_F64, n), *w = KUGEL_ARRAY(want, KUGEL_F64, n);
    kugel_ctx_trim(ctx);
    CHECK_OK(plan(NULL, g, all + i, 0, &q));
    CHECK_OK(kugel_radial_execute(q, a, w, NULL));
    CHECK_OK(kugel_device_usage(ctx, &before, &now));
    CHECK_OK(plan(ctx, g, all + i, limit, &p));
    CHECK_OK(kugel_radial_execute(p, a, a, NULL));
    CHECK_OK(kugel_device_usage(ctx, &now, &most));
    CHECK_LE(difference(n, f, want), 1e-12);
    printf("  method %d: %lld blocks hold %.1f MiB at the most, of %.1f allowed\n", (int)all[i].method,
           (long long)blocks_of(p), (double)(most - before) / 1048576, (double)limit / 1048576);
    CHECK(blocks_of(p) > 1 && (int64_t)(most - before) <= limit);
    kugel_radial_destroy(p);
    p = NULL;
    CHECK_IS(plan(ctx, g, all + i, 1 << 20, &p), KUGEL_ENOMEM);
    CHECK(!p && strstr(kugel_last_error(), "limit of memory"));
    kugel_radial_destroy(q);
    kugel_grid_destroy(g);
    free(f), free(want);
  }
}

/* A plan by harmonics obeys the limit of its context, too: it works in parts, or the limit is refused. */
static void harmonic_limit(kugel_ctx *ctx)
{
  const sky k = {KUGEL_GRID_HEALPIX, 64, KUGEL_RADIAL_GAUSSIAN, 0.1, KUGEL_RADIAL_HARMONIC, 0};
  kugel_grid *g = grid_of(&k);
  int64_t n = kugel_grid_npix(g), limit = 64 << 20;
  double *f = random_numbers(n), *want = calloc((size_t)n, 8), *got = calloc((size_t)n, 8);
  kugel_array *a = KUGEL_ARRAY(f, KUGEL_F64, n);
  kugel_radial *q = NULL;
  kugel_status s = KUGEL_OK;
  CHECK_OK(plan(NULL, g, &k, 0, &q));
  CHECK_OK(kugel_radial_execute(q, a, KUGEL_ARRAY(want, KUGEL_F64, n), NULL));
  int fine = 0;
  for (; !s && limit > 1000; limit /= 2) {
    kugel_radial *p = NULL;
    s = plan(ctx, g, &k, limit, &p);
    CHECK(!s || (s == KUGEL_ENOMEM && strstr(kugel_last_error(), "limit of memory")));
    if (s)
      break;
    CHECK_OK(kugel_radial_execute(p, a, KUGEL_ARRAY(got, KUGEL_F64, n), NULL));
    CHECK_LE(difference(n, got, want), 1e-12);
    fine++;
    kugel_radial_destroy(p);
  }
  CHECK(s == KUGEL_ENOMEM && fine);
  printf("  harmonics: refused at %.2f MiB\n", (double)limit / 1048576);
  CHECK_OK(kugel_ctx_limit_memory(ctx, 0));
  kugel_radial_destroy(q);
  kugel_grid_destroy(g);
  free(f), free(want), free(got);
}

typedef struct small_sky {
  sky k;
  kugel_grid *grid;
} small_sky;

static kugel_status plan_and_execute(kugel_ctx *ctx, void *arg)
{
  static double map[3072] = {1};
  const small_sky *w = arg;
  kugel_array *m = KUGEL_ARRAY(map, KUGEL_F64, 3072);
  kugel_radial *p = NULL;
  kugel_status s = plan(ctx, w->grid, &w->k, 0, &p);
  s = s ? s : kugel_radial_execute(p, m, m, NULL);
  kugel_radial_destroy(p);
  return s;
}

static void faults(kugel_ctx *ctx, kugel_radial_method method)
{
  small_sky w = {.k = {KUGEL_GRID_HEALPIX, 16, KUGEL_RADIAL_GAUSSIAN, 0.2, method, 1}};
  w.grid = grid_of(&w.k);
  sweep_memory(ctx, 40, plan_and_execute, &w);
  sweep_driver(ctx, 100, plan_and_execute, &w);
  kugel_grid_destroy(w.grid);
}

static void check_list(const char *kind, const char *list)
{
  static char titles[8][96];
  static int used;
  char name[64], first[32], *title = titles[used++ % 8];
  snprintf(name, sizeof name, "%s:%s", kind, list);
  snprintf(first, sizeof first, "%s:%.*s", kind, (int)strcspn(list, ","), list);
  kugel_ctx *one = make_ctx(first), *many = make_ctx(name);
  snprintf(title, sizeof titles[0], "%s: several devices", name);
  CASE(title)
  {
    for (size_t i = 0; i < sizeof skies / sizeof *skies; i++)
      compare(one, many, skies + i, 0, 2);
    resident(many, skies);
    resident(many, skies + 1);
  }
  title = titles[used++ % 8];
  snprintf(title, sizeof titles[0], "%s: failures", name);
  CASE(title)
  {
    faults(many, KUGEL_RADIAL_DIRECT);
    faults(many, KUGEL_RADIAL_RINGS);
  }
  kugel_ctx_destroy(one);
  kugel_ctx_destroy(many);
}

/* The first limit, from above, with which a plan goes by blocks. */
static int64_t tight(kugel_ctx *ctx, const sky *k)
{
  kugel_grid *g = grid_of(k);
  int64_t memory = 16 << 20, blocks = 1;
  while (blocks == 1) {
    kugel_radial *p = NULL;
    memory -= memory / 24;
    CHECK_OK(plan(ctx, g, k, memory, &p));
    blocks = p ? blocks_of(p) : 0;
    kugel_radial_destroy(p);
  }
  kugel_grid_destroy(g);
  return memory;
}

static void check_memory(const char *kind)
{
  static char title[64];
  char first[32];
  snprintf(first, sizeof first, "%s:0", kind);
  snprintf(title, sizeof title, "%s: limits of memory", first);
  kugel_ctx *one = make_ctx(first);
  CASE(title)
  {
    limits(one);
    harmonic_limit(one);
    for (size_t i = 0; i < 6; i++)
      if (i != 2) /* blocks of which are as large as all */
        compare(one, one, skies + i, tight(one, skies + i), 2);
  }
  kugel_ctx_destroy(one);
}

int main(void)
{
  kugel_device_info info;
  kugel_device_info last = {.size = 0};
  char twins[16] = "";
  int cuda = 0, opencl = 0, several = 0;
  setenv("POCL_DEVICES", "pthread pthread", 0);
  for (int index = 0; every_device(&index, true, &info);) {
    cuda += info.device.type == KUGEL_CUDA;
    opencl += info.device.type == KUGEL_OPENCL;
    several += every_several(&info);
    every_twins(&info, &last, twins);
  }
  if (opencl)
    check_memory("opencl");
  if (cuda)
    check_memory("cuda");
  if (*twins)
    check_list("opencl", twins);
  if (several)
    check_list("opencl", every_thrice());
  if (cuda > 1)
    check_list("cuda", "0,1");
  else if (cuda)
    check_list("cuda", "0,0");
  END();
}
