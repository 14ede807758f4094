/* SPDX-License-Identifier: BSD-3-Clause */
/* ISA: once, LABEL: long: OpenCL compilers take their time. */
/* Transforms in parts against closed forms, at any size: alm with a few modes, whose map is a sum of Y_lm
 * that long double recurrences give at some rings; <S a, S a> = <a, S^T S a>. With arguments it tells times
 * too: sphere_sht_large DEVICE NSIDE LMAX BYTES [RUNS [resident]]. Bytes 0: no limit. */
#include <complex.h>
#include <time.h>
#include "device/every.h"
#include "sphere/info.h"
#include <kugel/sphere.h>

typedef struct mode {
  int64_t l, m;
  double complex a;
} mode;
enum { MODES = 8 };

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* lambda_lm(theta) with v = 1 - cos theta, s = sin theta: Y_lm = lambda e^{i m phi}; P_mm by its logarithm,
 * kept in range by powers of two. Near the pole cos theta itself would not do: its rounding grows like l^2.
 */
static long double lambda(int64_t l, int64_t m, long double v, long double s)
{
  long double log_start = m * logl(s) - 0.5L * logl(4 * M_PIl);
  for (int64_t k = 1; k <= m; k++)
    log_start += 0.5L * log1pl(1 / (2.0L * (long double)k));
  int64_t e = (int64_t)(log_start / M_LN2l);
  long double p0 = 0, p1 = expl(log_start - (long double)e * M_LN2l) * (m % 2 ? -1 : 1), eps0 = 0;
  for (int64_t k = m + 1; k <= l; k++) {
    long double x = (long double)k, y = (long double)m, eps = sqrtl((x * x - y * y) / (4 * x * x - 1));
    long double p2 = ((p1 - eps0 * p0) - v * p1) / eps;
    p0 = p1;
    p1 = p2;
    eps0 = eps;
    if (fabsl(p1) > 0x1p4000L) {
      p0 *= 0x1p-4000L;
      p1 *= 0x1p-4000L;
      e += 4000;
    }
  }
  return e < -16000 ? 0 : ldexpl(p1, (int)e);
}

/* The largest error at some pixels of some rings, over the largest value. */
static double check_map(const kugel_grid *g, const mode *modes, const double *map)
{
  int64_t nrings = kugel_grid_nrings(g);
  double *theta = malloc((size_t)nrings * 8), *phi0 = malloc((size_t)nrings * 8), worst = 0, most = 0;
  int64_t *nphi = malloc((size_t)nrings * 8), *first = malloc((size_t)nrings * 8);
  CHECK_OK(kugel_grid_rings(g, theta, nphi, phi0, first, NULL));
  for (int k = 0; k < 24; k++) {
    int64_t r = k < 3 ? k : k < 6 ? nrings - 1 - k + 3 : (nrings - 1) * (k - 6) / 17;
    int64_t n = (nrings + 1) / 4, i = r + 1, j = i > 2 * n ? 4 * n - i : i;
    long double f[4] = {0}, z = (4.0L - 2 * (long double)j / (long double)n) / 3;
    long double v = j < n ? (long double)(j * j) / (3.0L * (long double)(n * n)) : 1 - z,
                s = sqrtl(v * (2 - v));
    for (int q = 0; q < MODES; q++) {
      long double y = lambda(modes[q].l, modes[q].m, v, s);
      if (i > 2 * n && (modes[q].l + modes[q].m) % 2)
        y = -y;
      for (int t = 0; t < 4; t++) {
        long double phi =
            (long double)phi0[r] + 2 * M_PIl * (long double)(nphi[r] * t / 5) / (long double)nphi[r];
        long double angle = (long double)modes[q].m * phi;
        f[t] += (modes[q].m ? 2 : 1) * y *
                ((long double)creal(modes[q].a) * cosl(angle) - (long double)cimag(modes[q].a) * sinl(angle));
      }
    }
    for (int t = 0; t < 4; t++) {
      worst = fmax(worst, fabs(map[first[r] + nphi[r] * t / 5] - (double)f[t]));
      most = fmax(most, fabs((double)f[t]));
    }
  }
  free(theta), free(phi0), free(nphi), free(first);
  return worst / most;
}

typedef struct problem {
  kugel_ctx *ctx;
  kugel_grid *grid;
  kugel_sht *plan;
  int64_t lmax, nalm, npix;
  mode modes[MODES];
  double complex *alm, *back;
  double *map;
  void *d_alm, *d_map; /* NULL: host arrays */
} problem;

static void make_modes(problem *t)
{
  int64_t l = t->lmax;
  mode all[MODES] = {
      {l, 0, 1},           {l, 3, 0.7 - 0.2 * I}, {l - 1, l / 2, -0.4 + I}, {l, l, 0.3 + 0.8 * I},
      {l, l - 1, 0.5 * I}, {l / 2, l / 3, 1},     {2, 1, 0.1 + 0.1 * I},    {l - l / 9, l / 7, -0.6}};
  memcpy(t->modes, all, sizeof all);
  for (int q = 0; q < MODES; q++)
    t->alm[all[q].m * (2 * l + 1 - all[q].m) / 2 + all[q].l] = all[q].a;
}

static void check_adjoint(const problem *t)
{
  long double map2 = 0, dot = 0;
  for (int64_t i = 0; i < t->npix; i++)
    map2 += (long double)t->map[i] * (long double)t->map[i];
  for (int q = 0; q < MODES; q++) {
    const mode *m = &t->modes[q];
    double complex b = t->back[m->m * (2 * t->lmax + 1 - m->m) / 2 + m->l];
    dot += (m->m ? 2 : 1) * (long double)creal(m->a * conj(b));
  }
  printf("  <S a, S a> = %.6Lg, <a, S^T S a> differs by %.1Le\n", map2, fabsl(dot / map2 - 1));
  CHECK_LE(fabs((double)(dot / map2 - 1)), 1e-13 * sqrt((double)t->lmax / 100 + 1));
}

static void execute(problem *t, int runs, const kugel_device_info *info)
{
  kugel_array *a = KUGEL_ARRAY(t->alm, KUGEL_C128, t->nalm), *m = KUGEL_ARRAY(t->map, KUGEL_F64, t->npix),
              *b = KUGEL_ARRAY(t->back, KUGEL_C128, t->nalm);
  kugel_array da = *a, dm = *m;
  da.data = t->d_alm;
  dm.data = t->d_map;
  da.device = dm.device = info->device;
  if (t->d_alm)
    CHECK_OK(kugel_device_upload(t->ctx, t->d_alm, 0, t->alm, (size_t)t->nalm * 16, NULL));
  for (int k = 0; k < runs; k++) {
    double start = now();
    CHECK_OK(kugel_sht_synthesis(t->plan, t->d_alm ? &da : a, t->d_map ? &dm : m, NULL));
    printf("  synthesis %.4f s\n", now() - start);
    fflush(stdout);
  }
  if (t->d_map)
    CHECK_OK(kugel_device_download(t->ctx, t->map, t->d_map, 0, (size_t)t->npix * 8, NULL));
  double error = check_map(t->grid, t->modes, t->map);
  printf("  largest error over largest value %.1e\n", error);
  CHECK_LE(error, 1e-13 * sqrt((double)t->lmax / 100 + 1));
  for (int k = 0; k < runs; k++) {
    double start = now();
    CHECK_OK(kugel_sht_synthesis_adjoint(t->plan, t->d_map ? &dm : m, t->d_alm ? &da : b, NULL));
    printf("  adjoint   %.4f s\n", now() - start);
    fflush(stdout);
  }
  if (t->d_alm)
    CHECK_OK(kugel_device_download(t->ctx, t->back, t->d_alm, 0, (size_t)t->nalm * 16, NULL));
  check_adjoint(t);
}

static void solve(const char *device, int64_t nside, int64_t lmax, int64_t limit, int runs, bool resident)
{
  problem t = {.lmax = lmax};
  kugel_device_info info = {.size = sizeof info};
  CHECK_OK(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = device}, &t.ctx));
  CHECK_OK(kugel_ctx_describe(t.ctx, &info));
  CHECK_OK(kugel_grid_create(
      NULL, &(kugel_grid_opts){.size = sizeof(kugel_grid_opts), .kind = KUGEL_GRID_HEALPIX, .nside = nside},
      &t.grid));
  kugel_sht_opts o = {.size = sizeof o, .grid = t.grid, .lmax = lmax, .bad_pixels = KUGEL_BAD_PASS};
  double start = now();
  CHECK_OK(kugel_ctx_limit_memory(t.ctx, (uint64_t)limit));
  CHECK_OK(kugel_sht_create(t.ctx, &o, &t.plan));
  if (t.plan) {
    uint64_t bytes, peak;
    int64_t parts;
    CHECK_OK(sht_memory(t.plan, &bytes, &parts));
    printf("%s nside %lld lmax %lld: plan of %lld parts in %.2f s\n", device, (long long)nside,
           (long long)lmax, (long long)parts, now() - start);
    CHECK_OK(sht_shape(t.plan, &t.nalm, &t.npix, NULL, NULL));
    t.alm = calloc((size_t)t.nalm, 16);
    t.back = calloc((size_t)t.nalm, 16);
    t.map = calloc((size_t)t.npix, 8);
    CHECK(t.alm && t.back && t.map);
    if (resident) {
      CHECK_OK(kugel_device_alloc(t.ctx, (size_t)t.nalm * 16, &t.d_alm));
      CHECK_OK(kugel_device_alloc(t.ctx, (size_t)t.npix * 8, &t.d_map));
    }
    make_modes(&t);
    execute(&t, runs, &info);
    CHECK_OK(sht_memory(t.plan, &bytes, NULL));
    CHECK_OK(kugel_device_usage(t.ctx, NULL, &peak));
    printf("  the plan holds %.3f GB, most ever in use %.3f GB\n", (double)bytes / 1e9, (double)peak / 1e9);
    CHECK(!limit || (int64_t)bytes <= limit);
    kugel_device_free(t.ctx, t.d_alm);
    kugel_device_free(t.ctx, t.d_map);
    free(t.alm), free(t.back), free(t.map);
  }
  kugel_sht_destroy(t.plan);
  kugel_grid_destroy(t.grid);
  kugel_ctx_destroy(t.ctx);
}

int main(int argc, char **argv)
{
  kugel_device_info info;
  if (argc >= 5) {
    CASE(argv[1])
    solve(argv[1], atoll(argv[2]), atoll(argv[3]), (int64_t)strtod(argv[4], NULL),
          argc > 5 ? atoi(argv[5]) : 1, argc > 6);
    END();
  }
  for (int index = 0; every_device(&index, true, &info);) {
    if (info.device.type == KUGEL_CPU)
      continue;
    CASE(every_title(&info, "closed forms, all at once")) solve(info.name, 128, 256, 0, 1, false);
    CASE(every_title(&info, "closed forms, in parts")) solve(info.name, 128, 256, 6000000, 1, false);
    CASE(every_title(&info, "closed forms, resident, in parts")) solve(info.name, 128, 256, 6000000, 1, true);
  }
  END();
}
