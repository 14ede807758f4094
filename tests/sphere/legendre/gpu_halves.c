/* SPDX-License-Identifier: BSD-3-Clause */
/* LABEL: long. The Legendre stage of batches in single precision by products of halves against that in double
 * precision, on every device (where there are no tensor cores, their arithmetic is imitated), from spectra of
 * many shapes and sizes: within 1e-6 of each other. --large: at lmax 2048 too, on GPUs. */
#include "device/every.h"
#include "sphere/legendre/gpu.h"
#include "sphere/sht/gpu_plan.h"

/* Shapes of spectra. */
enum { WHITE, RED, SPIKE, HIGH_ORDERS, TINY, HUGE_, MIXED, ZERO, SPECTRA };
static const char *const spectra[SPECTRA] = {
    "white", "red", "spike", "high orders", "1e-30", "1e30", "maps of all sizes", "zero"};

typedef struct subject {
  kugel_ctx *ctx;
  kugel__device *device;
  kugel_sht *plan;
  kugel__leg_gpu *leg;
  int maps;
  int64_t na, nl; // floats of alm, doubles of coefficients
  kugel__mem alm[2], out, work;
} subject;

static void fill(const subject *t, int shape, float *narrow, double *wide)
{
  uint64_t seed = 1;
  int64_t lmax = t->plan->lmax, at = 0, sets = t->maps * t->plan->n_alm;
  for (int64_t s = 0; s < sets; s++)
    for (int64_t m = 0; m <= lmax; m++)
      for (int64_t l = m; l <= lmax; l++)
        for (int part = 0; part < 2; part++, at++) {
          double x = check_random(&seed), d = (double)l + 1;
          double f = shape == RED           ? 1 / (d * d * d * d)
                     : shape == SPIKE       ? (l == lmax / 3 && m == l / 2 ? 1e5 : 1e-3)
                     : shape == HIGH_ORDERS ? (double)(m > lmax - 8)
                     : shape == TINY        ? 1e-30
                     : shape == HUGE_       ? 1e30
                     : shape == MIXED       ? pow(10, 3.0 * (double)(s % 8) - 12)
                                            : (double)(shape != ZERO);
          narrow[at] = (float)(f * x);
          wide[at] = (double)narrow[at];
        }
}

// The largest relative difference of a map's numbers; those that should be zero: of all.
static double difference(const subject *t, int64_t numbers, const double *got, const double *want)
{
  double worst = 0;
  int64_t n = numbers / t->maps;
  for (int map = 0; map < t->maps; map++) {
    double d2 = 0, w2 = 0;
    for (int64_t i = map * n; i < (map + 1) * n; i++) {
      d2 += (got[i] - want[i]) * (got[i] - want[i]);
      w2 += want[i] * want[i];
    }
    double e = w2 > 0 ? sqrt(d2 / w2) : d2;
    worst = e > worst || isnan(e) ? e : worst;
  }
  return worst;
}

static void synthesis(const subject *t, bool f32, bool grouped, double *coefs)
{
  kugel__leg_gpu_job job = {
      .alm = t->alm[f32], .leg = t->out, .work = t->work, .f32 = f32, .grouped = grouped};
  CHECK_OK(kugel__device_fill(t->device, t->out, 0, (size_t)t->nl * 8, NULL));
  CHECK_OK(kugel__leg_gpu_synth(t->leg, &job, &t->device->queue));
  CHECK_OK(t->device->ops->wait(&t->device->queue));
  CHECK_OK(kugel_device_download(t->ctx, coefs, t->out.base, 0, (size_t)t->nl * 8, NULL));
}

/* Of the coefficients that synthesis left in double precision. */
static void adjoint(const subject *t, bool f32, float *narrow, double *back)
{
  kugel__leg_gpu_job job = {.alm = t->alm[f32], .leg = t->out, .work = t->work, .f32 = f32};
  CHECK_OK(kugel__leg_gpu_adjoint(t->leg, &job, &t->device->queue));
  CHECK_OK(t->device->ops->wait(&t->device->queue));
  CHECK_OK(kugel_device_download(t->ctx, f32 ? (void *)narrow : back, t->alm[f32].base, 0,
                                 (size_t)t->na * (f32 ? 4 : 8), NULL));
  for (int64_t i = 0; f32 && i < t->na; i++)
    back[i] = (double)narrow[i];
}

static void compare(const subject *t, int shapes)
{
  float *narrow = malloc((size_t)t->na * 4);
  double *wide = malloc((size_t)t->na * 8), *want = malloc((size_t)(t->nl + t->na) * 8),
         *got = malloc((size_t)(t->nl + t->na) * 8);
  for (int shape = 0; shape < shapes; shape++) {
    fill(t, shape, narrow, wide);
    CHECK_OK(kugel_device_upload(t->ctx, t->alm[0].base, 0, wide, (size_t)t->na * 8, NULL));
    CHECK_OK(kugel_device_upload(t->ctx, t->alm[1].base, 0, narrow, (size_t)t->na * 4, NULL));
    synthesis(t, false, false, want);
    synthesis(t, true, true, got); /* as calls of several groups: sums in double */
    CHECK_LE(difference(t, t->nl, got, want), 1e-12);
    synthesis(t, true, false, got);
    double there = difference(t, t->nl, got, want);
    adjoint(t, true, narrow, got);
    adjoint(t, false, narrow, want);
    double back = difference(t, t->na, got, want);
    printf("  %s: synthesis %.1e, adjoint %.1e\n", spectra[shape], there, back);
    CHECK_LE(there, 1e-6);
    CHECK_LE(back, 1e-6);
  }
  free(narrow);
  free(wide);
  free(want);
  free(got);
}

static void check_mode(kugel_ctx *ctx, kugel_sht_mode mode, int maps, int64_t nside, int64_t lmax)
{
  subject t = {.ctx = ctx, .device = kugel__ctx_device(ctx), .maps = maps};
  kugel_grid *grid = NULL;
  kugel_grid_opts go = {.size = sizeof go, .kind = KUGEL_GRID_HEALPIX, .nside = nside};
  CHECK_OK(kugel_grid_create(NULL, &go, &grid));
  kugel_sht_opts o = {.size = sizeof o, .grid = grid, .lmax = lmax, .mode = mode};
  o.spin = mode == KUGEL_SHT_SPIN ? 2 : 0;
  CHECK_OK(kugel_sht_create(ctx, &o, &t.plan));
  bool gpu = t.device->info.is_gpu;
  kugel__leg_gpu_tuning u = {{1, 2}, {1, gpu ? 8 : 1}, {1, 1}, {true, true}};
  if (t.plan)
    CHECK_OK(kugel__leg_gpu_create_batch(ctx, maps, t.plan->gpu->leg, &u, &t.leg));
  if (t.leg) {
    t.na = 2 * maps * t.plan->n_alm * t.plan->nalm;
    t.nl = 4 * maps * t.plan->n_map * (lmax + 1) * kugel__leg_gpu_row(t.leg);
    size_t sizes[] = {(size_t)t.na * 8, (size_t)t.na * 4, (size_t)t.nl * 8, kugel__leg_gpu_work(t.leg)};
    void **rooms[] = {&t.alm[0].base, &t.alm[1].base, &t.out.base, &t.work.base};
    for (int i = 0; i < 4; i++)
      CHECK_OK(kugel_device_alloc(ctx, sizes[i], rooms[i]));
    printf("  mode %d, %d maps, nside %lld, lmax %lld\n", (int)mode, maps, (long long)nside, (long long)lmax);
    compare(&t, mode == KUGEL_SHT_SCALAR ? SPECTRA : RED + 1);
    for (int i = 0; i < 4; i++)
      kugel_device_free(ctx, *rooms[i]);
  }
  kugel__leg_gpu_destroy(t.leg);
  kugel_sht_destroy(t.plan);
  kugel_grid_destroy(grid);
}

int main(int argc, char **argv)
{
  kugel_device_info info;
  bool large = argc > 1 && !strcmp(argv[1], "--large");
  for (int i = 0; every_device(&i, true, &info);) {
    CASE(every_title(&info, "sums of halves"))
    {
      kugel_ctx *ctx = NULL;
      kugel_ctx_opts o = {.size = sizeof o, .device = info.name};
      if (info.is_gpu && info.compute_capability < 90) // OpenCL on processors does what they do by loops
        SKIP("no tensor cores of compute capability 9.0");
      else {
        CHECK_OK(kugel_ctx_create(&o, &ctx));
        if (ctx) {
          if (getenv("ONE"))
            check_mode(ctx, KUGEL_SHT_SPIN, 2, 32, 63);
          else
            check_mode(ctx, KUGEL_SHT_SCALAR, 8, 32, 95);
          if (info.is_gpu) { // elsewhere compilers take too long
            check_mode(ctx, KUGEL_SHT_SPIN, 4, 64, 191);
            check_mode(ctx, KUGEL_SHT_TEB, 2, 64, 191);
          }
          if (info.is_gpu && large) {
            check_mode(ctx, KUGEL_SHT_SCALAR, 8, 1024, 2048);
            check_mode(ctx, KUGEL_SHT_SPIN, 4, 1024, 2048);
            check_mode(ctx, KUGEL_SHT_TEB, 2, 1024, 2048);
            check_mode(ctx, KUGEL_SHT_SCALAR, 8, 512, 1535);
          }
        }
        kugel_ctx_destroy(ctx);
      }
    }
  }
  END();
}
