/* SPDX-License-Identifier: BSD-3-Clause */
/* ISA: once, LABEL: long: OpenCL compilers take their time. */
/* Ring transforms on every device against those on the CPU, both ways: smooth lengths and chirps, lone and
 * unequal rings, orders beyond the Nyquist frequency, limits of m, several maps, weights. */
#include "core/ctx.h"
#include "device/every.h"
#include "fft/rings/gpu.h"

enum { MAX_PAIRS = 128, MAPS = 2 };

typedef struct set {
  int64_t npairs, mmax, npix;
  int64_t n[2][MAX_PAIRS], at[2][MAX_PAIRS], mlim[MAX_PAIRS];
  double phi0[2][MAX_PAIRS];
} set;

static void add(set *s, int64_t north, int64_t south, int64_t mlim)
{
  int64_t i = s->npairs++, n[2] = {north, south};
  for (int k = 0; k < 2; k++) {
    s->n[k][i] = n[k] ? n[k] : n[!k];
    s->at[k][i] = n[k] ? s->npix : -1;
    s->phi0[k][i] = (i % 3 == 0) * 0.3 * (double)(k + 1) + (i % 3 == 1) * M_PI / (double)s->n[k][i];
    s->npix += n[k];
  }
  s->mlim[i] = mlim < s->mmax ? mlim : s->mmax;
}

static kugel__rings_desc desc_of(const set *s)
{
  return (kugel__rings_desc){.npairs = s->npairs,
                             .mmax = s->mmax,
                             .nphi_north = s->n[0],
                             .nphi_south = s->n[1],
                             .phi0_north = s->phi0[0],
                             .phi0_south = s->phi0[1],
                             .offset_north = s->at[0],
                             .offset_south = s->at[1],
                             .mlim = s->mlim};
}

static double *numbers(int64_t n, uint64_t seed)
{
  double *x = malloc((size_t)n * 8 + 8);
  for (int64_t i = 0; i < n; i++)
    x[i] = check_random(&seed);
  return x;
}

static double difference(int64_t n, const double *x, const double *y)
{
  double sum = 0, norm = 0;
  for (int64_t i = 0; i < n; i++) {
    sum += isfinite(x[i]) ? (x[i] - y[i]) * (x[i] - y[i]) : INFINITY;
    norm += y[i] * y[i];
  }
  return norm > 0 ? sqrt(sum / norm) : sqrt(sum);
}

/* What both have. */
typedef struct arrays {
  kugel_ctx *ctx;
  const set *s;
  kugel__rings *cpu;
  kugel__rings_gpu *gpu;
  int64_t row, ncoef, orders;  // pairs of a row; numbers of one map's coefficients
  double *coef, *map, *weight; // leg[maps][m][row][4]
  kugel__mem leg, pixels, work, factors;
} arrays;

static bool open_arrays(kugel_ctx *ctx, const set *s, arrays *a)
{
  kugel__rings_desc d = desc_of(s);
  *a = (arrays){.ctx = ctx, .s = s, .row = s->npairs + 3, .orders = s->mmax + 1};
  a->ncoef = a->orders * a->row * 4;
  CHECK_OK(kugel__rings_create(NULL, &d, &a->cpu));
  CHECK_OK(kugel__rings_gpu_create(ctx, &d, &a->gpu));
  if (!a->cpu || !a->gpu)
    return false;
  a->coef = numbers(MAPS * a->ncoef, 1);
  for (int64_t i = 0; i < MAPS * a->row; i++) // real means
    for (int k = 1; k < 4; k += 2)
      a->coef[(i / a->row * a->orders * a->row + i % a->row) * 4 + k] = 0;
  a->map = numbers(MAPS * s->npix, 2);
  a->weight = numbers(2 * s->npairs, 3);
  CHECK_OK(kugel_device_alloc(ctx, (size_t)(MAPS * a->ncoef) * 8, &a->leg.base));
  CHECK_OK(kugel_device_alloc(ctx, (size_t)(MAPS * s->npix) * 8, &a->pixels.base));
  CHECK_OK(kugel_device_alloc(ctx, kugel__rings_gpu_work(a->gpu), &a->work.base));
  CHECK_OK(kugel_device_alloc(ctx, (size_t)s->npairs * 16, &a->factors.base));
  CHECK_OK(kugel_device_upload(ctx, a->factors.base, 0, a->weight, (size_t)s->npairs * 16, NULL));
  return a->leg.base && a->pixels.base && a->work.base && a->factors.base;
}

static void close_arrays(arrays *a)
{
  void *blocks[] = {a->leg.base, a->pixels.base, a->work.base, a->factors.base};
  for (int i = 0; i < 4; i++)
    kugel_device_free(a->ctx, blocks[i]);
  kugel__rings_destroy(a->cpu);
  kugel__rings_gpu_destroy(a->gpu);
  free(a->coef);
  free(a->map);
  free(a->weight);
}

static kugel__rings_gpu_job job_of(const arrays *a, bool weighted)
{
  kugel__rings_gpu_job job = {.leg = a->leg,
                              .map = a->pixels,
                              .work = a->work,
                              .row = a->row,
                              .maps = MAPS,
                              .leg_stride = a->ncoef / 2,
                              .map_stride = a->s->npix};
  if (weighted)
    job.weight = a->factors;
  return job;
}

// The CPU's layout of one map's coefficients, [m][4][npairs], and back.
static void turn_over(const arrays *a, double *device, double *host, bool to_host)
{
  for (int64_t m = 0; m <= a->s->mmax; m++)
    for (int64_t p = 0; p < a->s->npairs; p++)
      for (int k = 0; k < 4; k++) {
        double *d = &device[(m * a->row + p) * 4 + k], *h = &host[(m * 4 + k) * a->s->npairs + p];
        *(to_host ? h : d) = *(to_host ? d : h);
      }
}

static void check_synthesis(const arrays *a)
{
  const set *s = a->s;
  int64_t stride = 4 * s->npairs;
  double *got = calloc((size_t)(MAPS * s->npix), 8), *want = calloc((size_t)(MAPS * s->npix), 8);
  double *leg = malloc((size_t)(a->orders * stride) * 8);
  for (int c = 0; c < MAPS; c++) {
    turn_over(a, a->coef + c * a->ncoef, leg, true);
    CHECK_OK(kugel__rings_synth(a->cpu, 0, s->npairs, leg, stride, s->npairs, want + c * s->npix, false));
  }
  kugel__rings_gpu_job job = job_of(a, false);
  CHECK_OK(kugel_device_upload(a->ctx, a->leg.base, 0, a->coef, (size_t)(MAPS * a->ncoef) * 8, NULL));
  CHECK_OK(kugel__rings_gpu_synth(a->gpu, &job, &kugel__ctx_device(a->ctx)->queue));
  CHECK_OK(kugel_device_download(a->ctx, got, a->pixels.base, 0, (size_t)(MAPS * s->npix) * 8, NULL));
  double whole = difference(MAPS * s->npix, got, want), worst = 0;
  for (int64_t i = 0; i < s->npairs; i++)
    for (int k = 0; k < 2; k++)
      if (s->at[k][i] >= 0)
        worst = fmax(worst, difference(s->n[k][i], got + s->at[k][i], want + s->at[k][i]));
  printf("  synthesis %.1e, worst ring %.1e,", whole, worst);
  CHECK_LE(worst, 3e-15);
  free(got);
  free(want);
  free(leg);
}

static void check_adjoint(const arrays *a)
{
  const set *s = a->s;
  int64_t stride = 4 * s->npairs, touched = 0;
  double *north = malloc((size_t)s->npairs * 8), *south = malloc((size_t)s->npairs * 8);
  double *leg = calloc((size_t)(a->orders * stride), 8), *got = malloc((size_t)(MAPS * a->ncoef) * 8),
         err = 0;
  for (int64_t i = 0; i < s->npairs; i++) {
    north[i] = a->weight[2 * i];
    south[i] = a->weight[2 * i + 1];
  }
  kugel__rings_gpu_job job = job_of(a, true);
  CHECK_OK(kugel_device_upload(a->ctx, a->pixels.base, 0, a->map, (size_t)(MAPS * s->npix) * 8, NULL));
  CHECK_OK(kugel_device_upload(a->ctx, a->leg.base, 0, a->coef, (size_t)(MAPS * a->ncoef) * 8, NULL));
  CHECK_OK(kugel__rings_gpu_adjoint(a->gpu, &job, &kugel__ctx_device(a->ctx)->queue));
  CHECK_OK(kugel_device_download(a->ctx, got, a->leg.base, 0, (size_t)(MAPS * a->ncoef) * 8, NULL));
  for (int c = 0; c < MAPS; c++) {
    double *mine = got + c * a->ncoef, *theirs = malloc((size_t)a->ncoef * 8);
    memcpy(theirs, a->coef + c * a->ncoef, (size_t)a->ncoef * 8);
    turn_over(a, theirs, leg, true);
    CHECK_OK(kugel__rings_adjoint(a->cpu, 0, s->npairs, a->map + c * s->npix, false, north, south, leg,
                                  stride, s->npairs));
    turn_over(a, theirs, leg, false);
    for (int64_t m = 0; m <= s->mmax; m++)
      for (int64_t p = 0; p < s->npairs; p++)
        if (m > s->mlim[p]) {
          int64_t at = (m * a->row + p) * 4;
          touched += memcmp(mine + at, a->coef + c * a->ncoef + at, 32) != 0;
          memcpy(theirs + at, mine + at, 32);
        }
    err = fmax(err, difference(a->ncoef, mine, theirs));
    free(theirs);
  }
  printf(" adjoint %.1e\n", err);
  CHECK_LE(err, 1e-15);
  CHECK(touched == 0);
  free(north);
  free(south);
  free(leg);
  free(got);
}

static void check_set(kugel_ctx *ctx, const set *s)
{
  arrays a;
  if (open_arrays(ctx, s, &a)) {
    check_synthesis(&a);
    check_adjoint(&a);
  }
  close_arrays(&a);
}

static void lengths(kugel_ctx *ctx)
{
  set s = {.mmax = 150};
  for (int64_t n = 1; n <= 70; n++)
    add(&s, n, n, 11 * n % 173);
  for (int64_t n = 90; n < 400; n += 31)
    add(&s, n, n % 2 ? n : 0, 200);
  add(&s, 24, 36, 100);
  add(&s, 0, 97, 100);
  check_set(ctx, &s);
}

static void long_lengths(kugel_ctx *ctx)
{
  static const int64_t n[] = {1000, 1021, 1022, 1152, 1536, 2028, 2048,
                              2044, 2401, 3072, 4092, 4096, 4095, 5000};
  set s = {.mmax = 300};
  for (size_t i = 0; i < sizeof n / sizeof *n; i++)
    add(&s, n[i], n[i], 300 - (int64_t)i);
  check_set(ctx, &s);
}

static void longest(kugel_ctx *ctx)
{
  set s = {.mmax = 40};
  add(&s, 32768, 32768, 40);
  add(&s, 32764, 32764, 40);
  add(&s, 8192, 8192, 40);
  add(&s, 8188, 8188, 40);
  add(&s, 16384, 0, 40);
  check_set(ctx, &s);
}

int main(void)
{
  kugel_device_info info;
  for (int i = 0; every_device(&i, true, &info);) {
    kugel_ctx *ctx = NULL;
    kugel_ctx_opts o = {.size = sizeof o, .device = info.name};
    if (info.device.type == KUGEL_CPU)
      continue;
    CHECK_OK(kugel_ctx_create(&o, &ctx));
    CASE(every_title(&info, "lengths 1 to 400"))
    if (ctx)
      lengths(ctx);
    CASE(every_title(&info, "lengths 1000 to 5000"))
    if (ctx)
      long_lengths(ctx);
    CASE(every_title(&info, "lengths 8192 to 32768"))
    if (ctx)
      longest(ctx);
    kugel_ctx_destroy(ctx);
  }
  END();
}
