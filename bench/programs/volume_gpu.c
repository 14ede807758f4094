/* SPDX-License-Identifier: BSD-3-Clause */
/* Times of convolutions of volumes on every GPU: device memory to device memory, and page-locked and pageable host memory to
 * host memory by tiles, the adjoint of the tiles, kernels by depth (four alike, which give the sums of one), and in parts a kernel as
 * large as the image, in pencils too, in a quarter of the memory that the whole needs. Results are checked against sums at a few voxels. One line a case; with --json FILE also there.
 * --any, --smoke: devices that are no GPUs too, with small volumes; --large: also 1024 x 4096 x 4096 voxels in host memory;
 * --all: on all GPUs of the host together; --only LETTERS: the cases a, b, c, g (kernel as large as the image), k (the same within 8 GB, --large), h (--large). */
#include "clock.h"
#include "core/parallel.h"
#include "device/every.h"
#include <kugel/kugel.h>

enum { WARM = 2, RUNS = 9 };
static bool any, large, together;
static const char *only = ""; // letters of the cases that run, "": all
static FILE *json;
static int written;

typedef struct sizes {
  const char *name;
  int64_t n[3], k[3];
  double
      rival; // milliseconds of cuFFT and elementwise kernels on one H200, the spectrum kept; 0: not measured
} sizes;

static int64_t count_of(const int64_t *n)
{
  return n[0] * n[1] * n[2];
}

static double value_of(int64_t i) // of a voxel
{
  return (double)((uint64_t)i * 2654435761u % 4093);
}

static void put(void *data, kugel_dtype t, int64_t i, double x)
{
  if (t.bits == 16)
    ((uint16_t *)data)[i] = (uint16_t)x;
  else
    ((float *)data)[i] = (float)x;
}

typedef struct filling {
  char *data;
  kugel_dtype t;
  int64_t slice; // voxels
} filling;

static kugel_status fill_slice(void *arg, int64_t z)
{
  const filling *f = arg;
  for (int64_t i = z * f->slice; i < (z + 1) * f->slice; i++)
    put(f->data, f->t, i, value_of(i));
  return KUGEL_OK;
}

static double get(const void *data, kugel_dtype t, int64_t i)
{
  return t.bits == 16 ? (double)((const uint16_t *)data)[i] : (double)((const float *)data)[i];
}

// The largest difference of a few results from sums, over the largest voxel.
static double error_of(const sizes *z, const float *kernel, const void *out, kugel_dtype t)
{
  double worst = 0;
  for (int64_t s = 0; s < 4; s++) {
    int64_t o[3], i[3];
    double sum = 0;
    for (int d = 0; d < 3; d++)
      o[d] = s == 0 ? 0 : s == 3 ? z->n[d] - 1 : z->n[d] * s / 3;
    for (int64_t e = 0; e < count_of(z->k); e++) {
      int64_t j[3] = {e / z->k[2] / z->k[1], e / z->k[2] % z->k[1], e % z->k[2]};
      bool inside = true;
      for (int d = 0; d < 3; d++) {
        i[d] = o[d] + (z->k[d] - 1) / 2 - j[d];
        inside &= i[d] >= 0 && i[d] < z->n[d];
      }
      sum += inside ? (double)kernel[e] * value_of((i[0] * z->n[1] + i[1]) * z->n[2] + i[2]) : 0;
    }
    worst = fmax(worst, fabs(sum - get(out, t, (o[0] * z->n[1] + o[1]) * z->n[2] + o[2])));
  }
  return worst / 4092;
}

typedef struct figures {
  double median, least, plan, error;
} figures;

static void report(const char *device, const sizes *z, const char *way, const char *type, const figures *f,
                   const kugel_volume_info *info)
{
  double voxels = (double)count_of(z->n), floor = (double)info->moved_bytes;
  printf("%-3s %-22s %-4s %9.3f ms  least %9.3f  predicted %9.3f  %6.3f ns/voxel  kernels %5.1f bytes/padded "
         "voxel, %6.0f GB/s  "
         "%lld tiles  plan %.2f s  error %.1e",
         z->name, way, type, 1e3 * f->median, 1e3 * f->least, 1e3 * info->seconds, 1e9 * f->median / voxels,
         (double)info->kernel_bytes / (double)info->tiles / (double)count_of(info->transform),
         1e-9 * (double)info->kernel_bytes / f->median, (long long)info->tiles, f->plan, f->error);
  if (z->rival > 0)
    printf("  cuFFT %.2f ms (stated)", z->rival);
  printf("\n");
  fflush(stdout);
  if (!json)
    return;
  fprintf(json,
          "%s\n  {\"device\": \"%s\", \"case\": \"%s\", \"way\": \"%s\", \"type\": \"%s\", \"ms\": %.6f, "
          "\"least_ms\": %.6f, "
          "\"predicted_ms\": %.6f, \"kernel_bytes\": %llu, \"arrays_bytes\": %.0f, \"device_bytes\": %llu, "
          "\"tiles\": %lld, "
          "\"plan_s\": %.4f, \"error\": %.3e, \"stated_rival_ms\": %.3f}",
          written++ ? "," : "[", device, z->name, way, type, 1e3 * f->median, 1e3 * f->least,
          1e3 * info->seconds, (unsigned long long)info->kernel_bytes, floor,
          (unsigned long long)info->device_bytes, (long long)info->tiles, f->plan, f->error, z->rival);
}

/* ---- a case ---- */

typedef enum where { ON_DEVICE, PINNED, PAGEABLE } where;
static const char *const places[] = {"device to device", "host to host, pinned", "host to host, pageable"};

typedef enum what { PLAIN, ADJOINT, DEPTHS, PARTS, PENCILS } what;
static const char *const kinds[] = {"", ", adjoint", ", 4 depths", ", parts", ", pencils"};

static void *room(kugel_ctx *ctx, where w, size_t bytes)
{
  void *p = NULL;
  kugel_status s = w == PAGEABLE ? KUGEL_OK
                   : w == PINNED ? kugel_device_alloc_host(ctx, bytes, &p)
                                 : kugel_device_alloc(ctx, bytes, &p);
  if (s)
    printf("  %s\n", kugel_last_error());
  return w == PAGEABLE ? malloc(bytes) : p;
}

static void let_go(kugel_ctx *ctx, where w, void *p)
{
  if (w == PAGEABLE)
    free(p);
  else if (w == PINNED)
    kugel_device_free_host(ctx, p);
  else
    kugel_device_free(ctx, p);
}

static void measure(kugel_ctx *ctx, const kugel_device_info *dev, const sizes *z, const float *kernel,
                    kugel_dtype t, where w, what kind)
{
  static const double planes[4] = {0, 7, 14, 21};
  size_t bytes = (size_t)count_of(z->n) * t.bits / 8;
  int64_t n[3] = {z->n[0], z->n[1], z->n[2]}, k[3] = {z->k[0], z->k[1], z->k[2]};
  kugel_volume_opts o = {.size = sizeof o, .extent = KUGEL_CONV_SAME, .precision = KUGEL_PRECISION_F32};
  o.engine = w == ON_DEVICE ? KUGEL_VOLUME_RESIDENT : KUGEL_VOLUME_TILES;
  o.engine = kind == PARTS ? KUGEL_VOLUME_DIF : kind == PENCILS ? KUGEL_VOLUME_PENCIL : o.engine;
  o.image_dtype = o.results_dtype = t;
  o.correlate = kind == ADJOINT; // of which the adjoint is the convolution that is checked
  int64_t centre[3];
  for (int d = 0; d < 3; d++)
    centre[d] = (k[d] - 1) / 2;
  o.centre = centre;
  o.depths = kind == DEPTHS ? 4 : 0;
  o.depth = planes;
  int64_t shape[4] = {4, k[0], k[1], k[2]}, step[4] = {0, k[1] * k[2], k[2], 1}; // one kernel four times
  kugel_array h = {.data = (void *)(uintptr_t)kernel, .device = {KUGEL_CPU, 0}, .dtype = KUGEL_F32};
  h.ndim = kind == DEPTHS ? 4 : 3;
  h.shape = shape + 4 - h.ndim;
  h.strides = step + 4 - h.ndim;
  char way[60];
  snprintf(way, sizeof way, "%s%s", places[w], kinds[kind]);
  kugel_volume *plan = NULL;
  kugel_volume_info info = {.size = sizeof info};
  figures f;
  double start = now(), times[RUNS];
  kugel_status s = kugel_volume_create(ctx, 3, n, k, &h, &o, &plan);
  f.plan = now() - start;
  void *data[2] = {room(ctx, w, bytes), room(ctx, w, bytes)};
  char *host = w == ON_DEVICE ? malloc(bytes) : data[0], *results = w == ON_DEVICE ? host : data[1];
  bool have = data[0] && data[1] && host;
  filling all = {host, t, n[1] * n[2]};
  if (have)
    CHECK_OK(kugel__parallel(NULL, n[0], fill_slice, &all));
  if (!s && have && w == ON_DEVICE)
    s = kugel_device_upload(ctx, data[0], 0, host, bytes, NULL);
  kugel_array x = *KUGEL_ARRAY(data[0], t, n[0], n[1], n[2]), y = x;
  y.data = data[1];
  if (w == ON_DEVICE)
    x.device = y.device = dev->device;
  for (int i = -WARM; i < RUNS && !s && have; i++) {
    start = now();
    s = kind == ADJOINT ? kugel_volume_adjoint(plan, &x, &y, NULL, NULL)
                        : kugel_volume_execute(plan, &x, &y, NULL, NULL);
    if (i >= 0)
      times[i] = now() - start;
  }
  if (!s && have && w == ON_DEVICE)
    s = kugel_device_download(ctx, host, data[1], 0, bytes, NULL);
  if (!s)
    s = kugel_volume_get_info(plan, &info);
  if (!s && have) {
    qsort(times, RUNS, sizeof *times, by_value);
    f.median = times[RUNS / 2];
    f.least = times[0];
    f.error = error_of(z, kernel, results, t);
    report(dev->name, z, way, t.bits == 16 ? "u16" : "f32", &f, &info);
  } else
    printf("%-3s %-22s failed: %s\n", z->name, way, s ? kugel_last_error() : "no memory");
  if (w == ON_DEVICE)
    free(host);
  let_go(ctx, w, data[0]);
  let_go(ctx, w, data[1]);
  kugel_volume_destroy(plan);
}

static void run_case(kugel_ctx *ctx, const kugel_device_info *dev, const sizes *z, bool resident)
{
  const kugel_dtype u16 = {KUGEL_UINT, 16, 1}, f32 = {KUGEL_FLOAT, 32, 1};
  float *kernel = malloc((size_t)count_of(z->k) * sizeof *kernel);
  double sum = 0;
  for (int64_t i = 0; i < count_of(z->k) && kernel; i++)
    sum += kernel[i] = (float)(i * 7919 % 1009 + 1);
  for (int64_t i = 0; i < count_of(z->k) && kernel; i++)
    kernel[i] = (float)((double)kernel[i] / sum);
  if (!kernel)
    return;
  if (resident) {
    measure(ctx, dev, z, kernel, f32, ON_DEVICE, PLAIN);
    measure(ctx, dev, z, kernel, f32, ON_DEVICE, DEPTHS);
    measure(ctx, dev, z, kernel, u16, ON_DEVICE, PLAIN);
    measure(ctx, dev, z, kernel, f32, PINNED, PLAIN);
    measure(ctx, dev, z, kernel, f32, PINNED, ADJOINT);
    measure(ctx, dev, z, kernel, f32, PAGEABLE, PLAIN);
  }
  measure(ctx, dev, z, kernel, u16, PINNED, PLAIN);
  free(kernel);
}

// A kernel as large as the image, in a quarter of the memory of the whole: parts, and tiles if they fit.
static void run_parts(const char *device, const kugel_device_info *dev, const sizes *z)
{
  kugel_volume_opts o = {.size = sizeof o, .extent = KUGEL_CONV_SAME, .precision = KUGEL_PRECISION_F32};
  kugel_volume_info whole = {.size = sizeof whole};
  kugel_ctx *ctx = NULL;
  float *kernel = malloc((size_t)count_of(z->k) * sizeof *kernel);
  CHECK_OK(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = device}, &ctx));
  for (int64_t i = 0; i < count_of(z->k) && kernel; i++)
    kernel[i] = (float)(i * 7919 % 1009 + 1) / (505 * (float)count_of(z->k));
  o.engine = KUGEL_VOLUME_RESIDENT;
  if (kernel && ctx && !kugel_volume_estimate(ctx, 3, z->n, z->k, &o, &whole) &&
      !kugel_ctx_limit_memory(ctx, *z->name == 'k' ? 8000000000u : whole.device_bytes / 4)) {
    measure(ctx, dev, z, kernel, (kugel_dtype){KUGEL_FLOAT, 32, 1}, PINNED, PARTS);
    measure(ctx, dev, z, kernel, (kugel_dtype){KUGEL_FLOAT, 32, 1}, PINNED, PENCILS);
    measure(ctx, dev, z, kernel, (kugel_dtype){KUGEL_FLOAT, 32, 1}, PINNED, PLAIN);
  }
  free(kernel);
  kugel_ctx_destroy(ctx);
}

static bool wanted(const sizes *z)
{
  return !*only || strchr(only, *z->name);
}

// "cuda:0,1,2,3": this device and all of its kind behind it.
static void name_all(const kugel_device_info *first, char *name, size_t size)
{
  kugel_device_info info;
  size_t at = (size_t)snprintf(name, size, "%s", first->name);
  for (int i = 0; every_device(&i, true, &info) && at + 8 < size;)
    if (info.device.type == first->device.type && info.device.id > first->device.id &&
        info.is_gpu == first->is_gpu)
      at += (size_t)snprintf(name + at, size - at, ",%d", (int)info.device.id);
}

int main(int argc, char **argv)
{
  static const sizes cases[] = {{"a", {100, 1000, 1000}, {100, 100, 100}, 6.94},
                                {"b", {96, 576, 576}, {33, 65, 65}, 1.50},
                                {"c", {256, 2048, 2048}, {64, 64, 64}, 54.3}},
                     small[] = {{"s", {24, 60, 60}, {9, 9, 9}, 0}},
                     full[] = {{"g", {256, 512, 512}, {256, 512, 512}, 0},
                               {"t", {16, 32, 64}, {16, 32, 64}, 0}},
                     big = {"k", {512, 1024, 1024}, {512, 1024, 1024}, 0},
                     huge = {"h", {1024, 4096, 4096}, {128, 128, 128}, 0};
  for (int i = 1; i < argc; i++) {
    any |= !strcmp(argv[i], "--any") || !strcmp(argv[i], "--smoke");
    large |= !strcmp(argv[i], "--large");
    together |= !strcmp(argv[i], "--all");
    if (!strcmp(argv[i], "--only") && i + 1 < argc)
      only = argv[++i];
    if (!strcmp(argv[i], "--json") && i + 1 < argc)
      json = fopen(argv[++i], "w");
  }
  kugel_device_info info;
  int seen = 0;
  for (int i = 0; every_device(&i, true, &info) && !(together && seen);) {
    char name[80];
    snprintf(name, sizeof name, "%s", info.name);
    if (together)
      name_all(&info, name, sizeof name);
    CASE(name)
    {
      kugel_ctx *ctx = NULL;
      if (!info.is_gpu && !any)
        SKIP("not a GPU");
      else
        CHECK_OK(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = name}, &ctx));
      for (size_t c = 0; c < (any ? 1 : 3) && ctx; c++)
        if (wanted(any ? &small[c] : &cases[c]))
          run_case(ctx, &info, any ? &small[c] : &cases[c], true);
      if (ctx && wanted(&full[any]))
        run_parts(name, &info, &full[any]);
      if (large && ctx && wanted(&big))
        run_parts(name, &info, &big);
      if (large && ctx && wanted(&huge))
        run_case(ctx, &info, &huge, false);
      seen += ctx != NULL;
      kugel_ctx_destroy(ctx);
    }
  }
  if (json) {
    fprintf(json, "%s\n]\n", written ? "" : "[");
    fclose(json);
  }
  END();
}
