/* SPDX-License-Identifier: BSD-3-Clause */
/* LABEL: long. Every length from 1 to 4200: complex and real lines of doubles and floats, cosines and sines in
 * turn, against long double and there and back, with guards round the results. Without arguments all on the
 * CPU and some on GPUs (OpenCL on the CPU compiles for seconds). fft_plan_every_length DEVICE [FIRST LAST [STEP]]:
 * these there, all if none are given; "cpu" is a device. */
#include <stdlib.h>
#include "core/alloc.h"
#include "device/every.h"
#include "fft/truth.h"

enum { MOST = 4200, SAMPLES = 5, GUARDS = 8, KINDS = 10 };
static const double GUARD = 7.25e77;
static double worst[2][2]; // [f32][samples, there and back]

typedef struct subject {
  kugel_ctx *ctx;
  kugel_fft_kind kind;
  int64_t n;
  bool f32;
  ldc *roots; // e^{2 pi i j / n}
} subject;

static double get(const void *x, bool f32, int64_t i)
{
  return f32 ? (double)((const float *)x)[i] : ((const double *)x)[i];
}

static void put(void *x, bool f32, int64_t i, double v)
{
  if (f32)
    ((float *)x)[i] = (float)v;
  else
    ((double *)x)[i] = v;
}

// Output k by the definition; with a table of roots where it has one.
static ldc wanted(const subject *t, const double *x, int64_t k)
{
  if (t->kind > KUGEL_FFT_R2C)
    return truth(t->kind, KUGEL_FORWARD, t->n, x, k);
  ldc s = 0;
  for (int64_t j = 0, r = 0; j < t->n; j++, r = (r + k) % t->n)
    s += (t->kind == KUGEL_FFT_C2C ? x[2 * j] + 1.0Li * x[2 * j + 1] : x[j]) * conjl(t->roots[r]);
  return s;
}

static void check_line(const subject *t)
{
  bool cin = t->kind == KUGEL_FFT_C2C, cout = cin || t->kind == KUGEL_FFT_R2C, f32 = t->f32;
  int64_t n = t->n, m = t->kind == KUGEL_FFT_R2C ? n / 2 + 1 : n, shape[2] = {n, m};
  int64_t numbers[2] = {n * (1 + cin), m * (1 + cout)};
  double *room = kugel__alloc(NULL, (size_t)(5 * 2 * (MOST + GUARDS)) * 8), *x = room;
  char *in = (char *)(x + 2 * MOST), *out = in + (2 * MOST + 2 * GUARDS) * 8,
       *back = out + (2 * MOST + 2 * GUARDS) * 8;
  size_t size = f32 ? 4 : 8;
  double norm2 = 0, there2 = 0, back2 = 0, top = sqrt(log2(2 * (double)n));
  for (int64_t i = 0; i < numbers[0]; i++) {
    put(in, f32, i, check_random(&seed));
    x[i] = get(in, f32, i);
    norm2 += x[i] * x[i];
  }
  for (int64_t i = 0; i < 2 * MOST + 2 * GUARDS; i++) {
    put(out, f32, i, GUARD * (f32 ? 1e-50 : 1));
    put(back, f32, i, GUARD * (f32 ? 1e-50 : 1));
  }
  kugel_fft_opts o = {
      .size = sizeof o, .kind = t->kind, .precision = f32 ? KUGEL_PRECISION_F32 : KUGEL_PRECISION_F64};
  kugel_fft *plan = NULL;
  CHECK_OK(kugel_fft_create(t->ctx, 1, &n, &o, &plan));
  kugel_dtype real = f32 ? KUGEL_F32 : KUGEL_F64, both = f32 ? KUGEL_C64 : KUGEL_C128;
  kugel_array a = {
      .data = in, .device = {KUGEL_CPU, 0}, .ndim = 1, .dtype = cin ? both : real, .shape = shape};
  kugel_array b = a, c = a;
  b.data = out + GUARDS * size;
  b.dtype = cout ? both : real;
  b.shape = shape + 1;
  c.data = back + GUARDS * size;
  CHECK_OK(kugel_fft_execute(plan, KUGEL_FORWARD, &a, &b, NULL));
  CHECK_OK(kugel_fft_execute(plan, KUGEL_INVERSE, &b, &c, NULL));
  double gain = kugel_fft_gain(plan);
  int samples = t->kind > KUGEL_FFT_R2C ? 2 : SAMPLES; // these take a cosine for each element
  for (int s = 0; s < samples; s++) {
    int64_t k = s ? (int64_t)((check_random(&seed) / 2 + 0.5) * (double)m) % m : m - 1;
    ldc y = cout ? get(b.data, f32, 2 * k) + 1.0Li * get(b.data, f32, 2 * k + 1) : get(b.data, f32, k);
    long double e = cabsl(y - wanted(t, x, k));
    there2 += (double)(e * e) / samples;
  }
  for (int64_t i = 0; i < numbers[0]; i++) {
    double e = get(c.data, f32, i) / gain - x[i];
    back2 += e * e;
  }
  bool intact = true;
  for (int64_t i = 0; i < GUARDS; i++)
    for (int k = 0; k < 2; k++) {
      const char *y = k ? back : out;
      double g = get(y, f32, 2 * MOST + GUARDS);
      intact = intact && get(y, f32, i) == g && get(y, f32, GUARDS + numbers[!k] + i) == g;
    }
  double eps = f32 ? 6e-8 : 1.1e-16,
         e[2] = {sqrt(there2 / norm2) / eps / top, sqrt(back2 / norm2) / eps / top};
  if (!intact || !(e[0] < 8) || !(e[1] < 6)) {
    printf("  n %lld kind %d %s: guards %d, errors %.2g and %.2g eps sqrt(log2 2n)\n", (long long)n,
           (int)t->kind, f32 ? "f32" : "f64", intact, e[0], e[1]);
    CHECK(0);
  }
  for (int i = 0; i < 2; i++)
    worst[f32][i] = fmax(worst[f32][i], e[i]);
  kugel_fft_destroy(plan);
  kugel__free(NULL, room);
}

static void check_lengths(kugel_ctx *ctx, bool doubles, int64_t first, int64_t last, int64_t step)
{
  ldc *roots = malloc(sizeof *roots * (size_t)last);
  memset(worst, 0, sizeof worst);
  for (int64_t n = first; n <= last; n += step) {
    for (int64_t j = 0; j < n; j++)
      roots[j] = turn(2 * j, n);
    for (int f32 = !doubles; f32 < 2; f32++) {
      subject t = {.ctx = ctx, .n = n, .f32 = f32, .roots = roots};
      for (t.kind = KUGEL_FFT_C2C; t.kind <= KUGEL_FFT_R2C; t.kind++)
        check_line(&t);
      t.kind = (kugel_fft_kind)(KUGEL_FFT_R2C + 1 + n / step % (KINDS - 2));
      if (n > 1)
        check_line(&t);
    }
  }
  for (int f32 = !doubles; f32 < 2; f32++)
    printf("  %s: samples within %.2f, there and back %.2f eps sqrt(log2 2n)\n", f32 ? "f32" : "f64",
           worst[f32][0], worst[f32][1]);
  free(roots);
}

int main(int argc, char **argv)
{
  kugel_device_info info;
  int64_t first = argc > 2 ? atoll(argv[2]) : 1, last = argc > 3 ? atoll(argv[3]) : MOST;
  int64_t step = argc > 4 ? atoll(argv[4]) : 1;
  if (first < 1 || last > MOST || step < 1)
    return printf("lengths are 1 to %d\n", MOST), 2;
  if (argc < 2 || !strcmp(argv[1], "cpu"))
    CASE("on the CPU")
    {
      check_lengths(NULL, true, first, last, step);
    }
  for (int i = 0; every_device(&i, true, &info);) {
    if (argc > 1 ? strcmp(argv[1], info.name) != 0 : !info.is_gpu)
      continue;
    CASE(every_title(&info, "lengths"))
    {
      kugel_ctx *ctx = NULL;
      CHECK_OK(
          kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = info.name}, &ctx));
      if (argc > 1)
        check_lengths(ctx, info.fp64, first, last, step);
      else
        check_lengths(ctx, info.fp64, 13, MOST, 89);
      kugel_ctx_destroy(ctx);
    }
  }
  END();
}
