/* SPDX-License-Identifier: BSD-3-Clause */
/* LABEL: long. Times of transforms on every GPU, device memory to device memory, by the device's events. */
#include "device/every.h"
#include "sphere/sht_gpu.h"

static double floor_ms(const kugel_sht *p)
{
  const int64_t *mlim = kugel__leg_mlim(p->leg);
  double units = 0;
  for (int64_t m = 0; m <= p->mmax; m++)
    for (int64_t i = 0; i < p->grid->npairs; i++)
      units += mlim[i] >= m ? (double)((p->lmax - m) / 2 + 1) : 0;
  return units * (4 + 8 * p->n_map) / 34e12 * 1e3; // recurrence 2 FMA, sums 4 a map; 34 TFLOP/s
}

static int by_value(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median_ms(const kugel_sht *p, kugel__device *d, kugel__mem alm, kugel__mem map, bool adjoint,
                        int what)
{
  enum { WARM = 2, RUNS = 9 };
  double t[RUNS];
  for (int i = -WARM; i < RUNS; i++) {
    kugel__event *from = NULL, *to = NULL;
    double seconds = 0;
    CHECK_OK(d->ops->record(&d->queue, &from));
    CHECK_OK(kugel__sht_gpu_stages(p, alm, map, adjoint, what, &d->queue));
    CHECK_OK(d->ops->record(&d->queue, &to));
    CHECK_OK(d->ops->elapsed(from, to, &seconds));
    d->ops->event_free(from);
    d->ops->event_free(to);
    if (i >= 0)
      t[i] = seconds * 1e3;
  }
  qsort(t, RUNS, sizeof *t, by_value);
  return t[RUNS / 2];
}

static void measure(kugel_ctx *ctx, int64_t nside, int64_t lmax, kugel_sht_mode mode)
{
  kugel_grid *g = NULL;
  kugel_sht *p = NULL;
  kugel_grid_opts go = {.size = sizeof go, .kind = KUGEL_GRID_HEALPIX, .nside = nside};
  CHECK_OK(kugel_grid_create(NULL, &go, &g));
  kugel_sht_opts o = {.size = sizeof o, .grid = g, .lmax = lmax, .mode = mode};
  CHECK_OK(kugel_sht_create(ctx, &o, &p));
  if (!p)
    return;
  kugel__device *d = kugel__ctx_device(ctx);
  kugel__mem alm = {0}, map = {0};
  size_t na = (size_t)(p->n_alm * p->nalm) * 16, nm = (size_t)(p->n_map * p->npix) * 8;
  double *a = malloc(na);
  uint64_t seed = 1;
  for (size_t i = 0; i < na / 8; i++)
    a[i] = check_random(&seed);
  CHECK_OK(kugel_device_alloc(ctx, na, &alm.base));
  CHECK_OK(kugel_device_alloc(ctx, nm, &map.base));
  CHECK_OK(kugel_device_upload(ctx, alm.base, 0, a, na, NULL));
  for (int adjoint = 0; adjoint < 2; adjoint++) {
    double t[4] = {0};
    for (int what = 1; what <= 3; what++)
      t[what] = median_ms(p, d, alm, map, adjoint, what);
    printf("%5lld %5lld  %-6s %-9s %9.3f %8.3f %8.3f %8.3f\n", (long long)nside, (long long)lmax,
           mode == KUGEL_SHT_SCALAR ? "scalar" : "TEB", adjoint ? "adjoint" : "synthesis", t[1], t[2], t[3],
           floor_ms(p));
  }
  free(a);
  kugel_device_free(ctx, alm.base);
  kugel_device_free(ctx, map.base);
  kugel_sht_destroy(p);
  kugel_grid_destroy(g);
}

int main(void)
{
  kugel_device_info info;
  for (int i = 0; every_device(&i, true, &info);) {
    CASE(every_title(&info, "speed"))
    {
      kugel_ctx *ctx = NULL;
      kugel_ctx_opts o = {.size = sizeof o, .device = info.name};
      if (!info.is_gpu)
        SKIP("not a GPU");
      else {
        CHECK_OK(kugel_ctx_create(&o, &ctx));
        printf("nside  lmax  mode   verb       Legendre    rings    whole   floor of 34 TFLOP/s, ms\n");
        static const int sizes[][2] = {{512, 1024}, {1024, 2048}, {2048, 4096}};
        for (int k = 0; k < 3; k++)
          for (int teb = 0; teb < 2; teb++)
            measure(ctx, sizes[k][0], sizes[k][1], teb ? KUGEL_SHT_TEB : KUGEL_SHT_SCALAR);
        kugel_ctx_destroy(ctx);
      }
    }
  }
  END();
}
