/* SPDX-License-Identifier: BSD-3-Clause */
/* Times of a step of Richardson and Lucy with unknown edges on every GPU: the time between two calls of the callback, when
 * object, image and spectra are in device memory. One line a case; with --json FILE also there. --only a: that case (s, a, c); --rl: that method
 * alone. --any, --smoke: devices that are no GPUs too, with a small volume, whose result is compared with the CPU's. */
#include "clock.h"
#include "device/every.h"
#include <kugel/kugel.h>

enum { STEPS = 12 };
static bool any;
static const char *only = "sac"; // cases
static int methods = KUGEL_DECONV_SHB + 1;
static FILE *json;
static int written;

typedef struct sizes {
  const char *name;
  int64_t n[3], k[3];
  double rival; // milliseconds of a step by CuPy on one H200, stated; 0: not measured
} sizes;

static int64_t count_of(const int64_t *n)
{
  return n[0] * n[1] * n[2];
}

typedef struct watch {
  double at[STEPS + 1], before;
  int64_t count, rises;
} watch;

static int after_step(int64_t i, double divergence, void *user)
{
  watch *w = user;
  w->rises += i > 1 && divergence > w->before * (1 + 1e-6);
  w->before = divergence;
  w->at[w->count++] = now();
  return 0;
}

static kugel_status run(kugel_ctx *ctx, const sizes *z, kugel_deconv_method m, float *psf, float *x, float *y,
                        watch *w, kugel_deconv_cost *cost)
{
  int64_t n[3] = {z->n[0], z->n[1], z->n[2]}, k[3] = {z->k[0], z->k[1], z->k[2]};
  kugel_deconv_opts o = {
      .size = sizeof o, .method = m, .iterations = STEPS, .precision = KUGEL_PRECISION_F32};
  kugel_deconv *plan = NULL;
  o.callback = after_step;
  o.user = w;
  kugel_status s = kugel_deconv_estimate(ctx, 3, n, k, &o, cost);
  if (!s)
    s = kugel_deconv_create(ctx, 3, n, k, KUGEL_ARRAY(psf, KUGEL_F32, k[0], k[1], k[2]), &o, &plan);
  if (!s)
    s = kugel_deconv_execute(plan, KUGEL_ARRAY(x, KUGEL_F32, n[0], n[1], n[2]), NULL, NULL,
                             KUGEL_ARRAY(y, KUGEL_F32, n[0], n[1], n[2]), NULL);
  kugel_deconv_destroy(plan);
  return s;
}

/* Of the largest voxel. */
static double difference(const float *a, const float *b, int64_t count)
{
  double worst = 0, most = 0;
  for (int64_t i = 0; i < count; i++) {
    worst = fmax(worst, fabs((double)a[i] - (double)b[i]));
    most = fmax(most, fabs((double)b[i]));
  }
  return worst / most;
}

static void report(const char *device, const sizes *z, const char *method, const watch *w,
                   const kugel_deconv_cost *c, double error)
{
  double times[STEPS];
  int count = (int)w->count - 3;
  for (int i = 0; i < count; i++) // the first ones compile and fill caches
    times[i] = w->at[i + 3] - w->at[i + 2];
  qsort(times, (size_t)count, sizeof *times, by_value);
  double median = times[count / 2];
  printf("%-3s step of %-5s f32 %9.3f ms  least %9.3f  kernels %.2f GB, %5.0f GB/s  device memory %.2f GB  "
         "divergence rose %lld times",
         z->name, method, 1e3 * median, 1e3 * times[0], 1e-9 * (double)c->kernel_bytes,
         1e-9 * (double)c->kernel_bytes / median, 1e-9 * (double)c->device_bytes, (long long)w->rises);
  if (error >= 0)
    printf("  error %.1e", error);
  printf(z->rival > 0 ? "  CuPy %.2f ms (stated)\n" : "\n", z->rival);
  fflush(stdout);
  if (json)
    fprintf(
        json,
        "%s\n  {\"device\": \"%s\", \"case\": \"%s\", \"way\": \"device, step of %s\", \"type\": \"f32\", "
        "\"ms\": %.6f, \"least_ms\": %.6f, \"kernel_bytes\": %llu, \"arrays_bytes\": 0, \"device_bytes\": "
        "%llu, "
        "\"tiles\": %lld, \"error\": %.3e, \"stated_rival_ms\": %.3f}",
        written++ ? "," : "[", device, z->name, method, 1e3 * median, 1e3 * times[0],
        (unsigned long long)c->kernel_bytes, (unsigned long long)c->device_bytes, (long long)c->tiles,
        fmax(error, 0), z->rival);
}

static void measure(kugel_ctx *ctx, const char *device, const sizes *z, bool check)
{
  static const char *const names[] = {"rl", "biggs", "shb"};
  int64_t count = count_of(z->n), taps = count_of(z->k);
  float *psf = malloc((size_t)taps * sizeof *psf), *x = malloc((size_t)count * sizeof *x),
        *y = malloc((size_t)count * sizeof *y), *want = check ? malloc((size_t)count * sizeof *want) : NULL;
  for (int64_t i = 0; i < taps && psf; i++) {
    double d = 0;
    for (int a = 2, rest = (int)i; a >= 0; rest /= (int)z->k[a], a--) {
      double at = (double)(rest % z->k[a]) / (double)(z->k[a] - 1) - 0.5;
      d += at * at;
    }
    psf[i] = (float)exp(-40 * d);
  }
  for (int64_t i = 0; i < count && x; i++)
    x[i] = (float)(100 + (uint64_t)i * 2654435761u % 4093 % 50);
  for (int m = 0; m < methods && psf && x && y; m++) {
    watch w = {.count = 0}, cpu = {.count = 0};
    kugel_deconv_cost c = {.size = sizeof c}, unused = {.size = sizeof unused};
    double error = -1;
    kugel_status s = run(ctx, z, (kugel_deconv_method)m, psf, x, y, &w, &c);
    if (!s && want) {
      s = run(NULL, z, (kugel_deconv_method)m, psf, x, want, &cpu, &unused);
      error = difference(y, want, count);
    }
    if (!s && w.count == STEPS && c.tiles == 1)
      report(device, z, names[m], &w, &c, error);
    else
      printf("%-3s step of %-5s failed: %s\n", z->name, names[m], s ? kugel_last_error() : "it took tiles");
  }
  free(psf);
  free(x);
  free(y);
  free(want);
}

int main(int argc, char **argv)
{
  static const sizes cases[] = {{"a", {100, 1000, 1000}, {100, 100, 100}, 14.5},
                                {"c", {256, 2048, 2048}, {64, 64, 64}, 108}},
                     small = {"s", {24, 60, 60}, {9, 9, 9}, 0};
  for (int i = 1; i < argc; i++) {
    any |= !strcmp(argv[i], "--any") || !strcmp(argv[i], "--smoke");
    methods = strcmp(argv[i], "--rl") ? methods : 1;
    if (!strcmp(argv[i], "--only") && i + 1 < argc)
      only = argv[++i];
    if (!strcmp(argv[i], "--json") && i + 1 < argc)
      json = fopen(argv[++i], "w");
  }
  kugel_device_info info;
  for (int i = 0; every_device(&i, true, &info);) {
    CASE(info.name)
    {
      kugel_ctx *ctx = NULL;
      if (!info.is_gpu && !any)
        SKIP("not a GPU");
      else
        CHECK_OK(
            kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = info.name}, &ctx));
      if (ctx && strstr(only, small.name))
        measure(ctx, info.name, &small, true);
      for (int c = 0; c < 2 && ctx && !any; c++)
        if (strstr(only, cases[c].name))
          measure(ctx, info.name, &cases[c], false);
      kugel_ctx_destroy(ctx);
    }
  }
  if (json) {
    fprintf(json, "%s\n]\n", written ? "" : "[");
    fclose(json);
  }
  END();
}
