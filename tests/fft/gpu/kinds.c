/* SPDX-License-Identifier: BSD-3-Clause */
/* LABEL: long. Real, cosine and sine transforms, and lines of several passes, on every device that runs
 * kernels: against the CPU's, with guard words around and between the elements. */
#include "check.h"
#include "core/alloc.h"
#include "device/device.h"
#include "device/every.h"
#include "fft/gpu/gpu.h"
#include <kugel/fft.h>

enum { GUARD = 64, MOST_AXES = 4 }; // bytes before and after the elements

typedef enum layout {
  ROWS,    // C order
  GAPS,    // 3 elements apart
  IN_PLACE // rows of the real array padded to the complex ones
} layout;

typedef struct problem {
  kugel_fft_kind kind;
  int ndim, naxes;
  int64_t n[3];
  int axes[3];
  int64_t batch;
  layout layout;
  uint64_t shared; // bytes of a block, so that short lines take several passes; 0: all
  bool f32;
} problem;

/* An array in host memory, with what is around it. */
typedef struct place {
  char *data;
  size_t bytes;
  int64_t shape[MOST_AXES], strides[MOST_AXES];
  kugel_array array;
  kugel__view view;
} place;

static place place_of(const problem *p, bool complex_side, bool half)
{
  place a = {0};
  int64_t real = p->f32 ? 4 : 8, stride = p->layout == GAPS ? 3 : 1;
  a.shape[0] = p->batch;
  for (int i = 0; i < p->ndim; i++)
    a.shape[i + 1] = p->n[i];
  int64_t *last = &a.shape[1 + p->axes[p->naxes - 1]], padded = 2 * (*last / 2 + 1);
  *last = half ? *last / 2 + 1 : *last;
  for (int i = p->ndim; i >= 0; i--) {
    a.strides[i] = stride;
    bool row = p->layout == IN_PLACE && i == p->ndim && !complex_side && p->kind == KUGEL_FFT_R2C;
    stride *= row ? padded : a.shape[i];
  }
  a.bytes = (size_t)(stride * (complex_side ? 2 : 1) * real) + 2 * GUARD;
  a.data = kugel__alloc(NULL, a.bytes);
  a.array =
      (kugel_array){.data = a.data, .byte_offset = GUARD, .device = {KUGEL_CPU, 0}, .ndim = p->ndim + 1};
  a.array.dtype =
      (kugel_dtype){complex_side ? KUGEL_COMPLEX : KUGEL_FLOAT, (uint8_t)(real * (complex_side ? 16 : 8)), 1};
  memset(a.data, 0x5a, a.bytes);
  return a;
}

static void point(place *a) // at itself, once it lies where it stays
{
  a->array.shape = a->shape;
  a->array.strides = a->strides;
  a->view.ndim = a->array.ndim;
  memcpy(a->view.shape, a->shape, sizeof a->shape);
  memcpy(a->view.stride, a->strides, sizeof a->strides);
}

// Calls for each element's offset in bytes, in C order.
static int64_t next(const place *a, int64_t index)
{
  int64_t at = 0;
  for (int d = a->array.ndim - 1; d >= 0; d--) {
    at += index % a->shape[d] * a->strides[d];
    index /= a->shape[d];
  }
  return GUARD + at * a->array.dtype.bits / 8;
}

static int64_t count_of(const place *a)
{
  int64_t n = 1;
  for (int d = 0; d < a->array.ndim; d++)
    n *= a->shape[d];
  return n;
}

static void fill(place *a, bool f32, uint64_t seed)
{
  int parts = a->array.dtype.code == KUGEL_COMPLEX ? 2 : 1;
  for (int64_t i = 0, n = count_of(a); i < n; i++)
    for (int part = 0; part < parts; part++) {
      char *at = a->data + next(a, i);
      double x = check_random(&seed);
      if (f32)
        ((float *)(void *)at)[part] = (float)x;
      else
        ((double *)(void *)at)[part] = x;
    }
}

// Relative difference of the elements; fails if bytes beside them differ, or only beyond all of them if rows
// have padding, which is anybody's.
static double difference(const place *want, const place *got, bool f32, bool padding)
{
  int parts = want->array.dtype.code == KUGEL_COMPLEX ? 2 : 1;
  int64_t real = f32 ? 4 : 8;
  double err = 0, norm = 0;
  char *w = kugel__alloc(NULL, 2 * want->bytes), *g = w + want->bytes;
  memcpy(w, want->data, want->bytes);
  memcpy(g, got->data, want->bytes);
  for (int64_t i = 0, n = count_of(want); i < n; i++) {
    char *x = w + next(want, i), *y = g + next(want, i);
    for (int part = 0; part < parts; part++) {
      double a = f32 ? (double)((float *)(void *)x)[part] : ((double *)(void *)x)[part];
      double b = f32 ? (double)((float *)(void *)y)[part] : ((double *)(void *)y)[part];
      err += (a - b) * (a - b);
      norm += a * a;
    }
    memset(x, 0, (size_t)(parts * real));
    memset(y, 0, (size_t)(parts * real));
  }
  if (padding)
    memcpy(w + GUARD, g + GUARD, want->bytes - 2 * GUARD);
  CHECK(!memcmp(w, g, want->bytes));
  kugel__free(NULL, w);
  return sqrt(err / norm);
}

static kugel_fft *plan_of(kugel_ctx *ctx, const problem *p)
{
  kugel_fft_opts o = {.size = sizeof o,
                      .kind = p->kind,
                      .precision = p->f32 ? KUGEL_PRECISION_F32 : KUGEL_PRECISION_F64,
                      .naxes = p->naxes,
                      .axes = p->axes,
                      .forward_scale = 2,
                      .inverse_scale = .5};
  kugel_fft *plan = NULL;
  CHECK_OK(kugel_fft_create(ctx, p->ndim, p->n, &o, &plan));
  return plan;
}

// Through the inner interface, whose blocks can be made small.
static void run_small(kugel_ctx *ctx, const problem *p, bool inverse, place *in, place *out, void *din,
                      void *dout, kugel_queue *queue)
{
  kugel__fft_gpu_desc d = {.kind = p->kind, .f32 = p->f32, .naxes = p->naxes, .shared = p->shared};
  int at[3];
  for (int i = 0; i < p->naxes; i++) {
    d.n[i] = p->n[p->axes[i]];
    d.in_order[i] = p->axes[i] == p->ndim - 1;
    at[i] = 1 + p->axes[i];
  }
  kugel__fft_gpu *plan = NULL;
  CHECK_OK(kugel__fft_gpu_create(ctx, &d, &plan));
  kugel__fft_gpu_call call = {.inverse = inverse,
                              .in = {din, GUARD},
                              .out = {dout, GUARD},
                              .in_view = &in->view,
                              .out_view = &out->view,
                              .axes = at,
                              .scale = dd_from(inverse ? .5 : 2),
                              .queue = queue};
  CHECK_OK(kugel__fft_gpu_run(plan, &call));
  CHECK_OK(kugel_queue_wait(queue));
  kugel__fft_gpu_destroy(plan);
}

static double run_error(kugel_ctx *ctx, const problem *p, bool inverse)
{
  bool c2c = p->kind == KUGEL_FFT_C2C, r2c = p->kind == KUGEL_FFT_R2C, place_in = p->layout == IN_PLACE;
  place in = place_of(p, c2c || (r2c && inverse), r2c && inverse),
        want = place_of(p, c2c || (r2c && !inverse), r2c && !inverse), got = want;
  got.data = kugel__alloc(NULL, got.bytes);
  fill(&in, p->f32, 7);
  if (place_in) // the padding is anybody's
    memcpy(want.data, in.data, want.bytes < in.bytes ? want.bytes : in.bytes);
  memcpy(got.data, want.data, got.bytes);
  point(&in);
  point(&want);
  point(&got);
  kugel_fft *cpu = plan_of(NULL, p), *gpu = p->shared ? NULL : plan_of(ctx, p);
  CHECK_OK(kugel_fft_execute(cpu, inverse ? KUGEL_INVERSE : KUGEL_FORWARD, &in.array, &want.array, NULL));
  void *din = NULL, *dout = NULL;
  kugel_queue *queue = NULL;
  kugel_device_info info = {.size = sizeof info};
  size_t most = in.bytes > got.bytes ? in.bytes : got.bytes;
  CHECK_OK(kugel_ctx_describe(ctx, &info));
  CHECK_OK(kugel_queue_create(ctx, &queue));
  CHECK_OK(kugel_device_alloc(ctx, most, &din));
  CHECK_OK(kugel_device_alloc(ctx, most, &dout));
  CHECK_OK(kugel_device_upload(ctx, dout, 0, got.data, got.bytes, queue));
  CHECK_OK(kugel_device_upload(ctx, din, 0, in.data, in.bytes, queue));
  void *to = place_in ? din : dout;
  if (p->shared)
    run_small(ctx, p, inverse, &in, &got, din, to, queue);
  else {
    kugel_array a = in.array, b = got.array;
    a.data = din;
    b.data = to;
    a.device = b.device = info.device;
    CHECK_OK(kugel_fft_execute(gpu, inverse ? KUGEL_INVERSE : KUGEL_FORWARD, &a, &b, queue));
  }
  CHECK_OK(kugel_device_download(ctx, got.data, to, 0, got.bytes, queue));
  if (!place_in) { // the input is as it was
    char *back = kugel__alloc(NULL, in.bytes);
    CHECK_OK(kugel_device_download(ctx, back, din, 0, in.bytes, queue));
    CHECK_OK(kugel_queue_wait(queue));
    CHECK(!memcmp(back, in.data, in.bytes));
    kugel__free(NULL, back);
  }
  CHECK_OK(kugel_queue_wait(queue));
  double e = difference(&want, &got, p->f32, place_in);
  kugel_device_free(ctx, din);
  kugel_device_free(ctx, dout);
  kugel_queue_destroy(queue);
  kugel_fft_destroy(cpu);
  kugel_fft_destroy(gpu);
  kugel__free(NULL, in.data);
  kugel__free(NULL, want.data);
  kugel__free(NULL, got.data);
  return e;
}

#define LINE(kind, n, batch, layout, shared, f32)                                                            \
  {                                                                                                          \
    kind, 1, 1, {n}, {0}, batch, layout, shared, f32                                                         \
  }
static const problem reals[] = {
    LINE(KUGEL_FFT_R2C, 1, 3, ROWS, 0, false),
    LINE(KUGEL_FFT_R2C, 60, 37, ROWS, 0, false),
    LINE(KUGEL_FFT_R2C, 60, 5, GAPS, 0, false),
    LINE(KUGEL_FFT_R2C, 45, 5, IN_PLACE, 0, true),
    LINE(KUGEL_FFT_R2C, 118, 5, ROWS, 0, false), // Rader
    LINE(KUGEL_FFT_R2C, 188, 5, ROWS, 0, true),  // Bluestein
    {KUGEL_FFT_R2C, 3, 3, {6, 10, 12}, {0, 1, 2}, 2, IN_PLACE, 0, true},
    {KUGEL_FFT_R2C, 2, 2, {10, 9}, {0, 1}, 2, ROWS, 0, false},
    {KUGEL_FFT_R2C, 2, 2, {10, 9}, {1, 0}, 3, GAPS, 0, false},
};
static const problem trigs[] = {
    LINE(KUGEL_FFT_DCT1, 9, 7, ROWS, 0, false),
    LINE(KUGEL_FFT_DCT2, 20, 7, ROWS, 0, true),
    LINE(KUGEL_FFT_DCT2, 15, 3, GAPS, 0, false),
    LINE(KUGEL_FFT_DCT3, 20, 7, IN_PLACE, 0, true),
    LINE(KUGEL_FFT_DCT4, 20, 7, GAPS, 0, false),
    LINE(KUGEL_FFT_DCT4, 15, 3, IN_PLACE, 0, false),
    LINE(KUGEL_FFT_DST1, 9, 7, ROWS, 0, true),
    LINE(KUGEL_FFT_DST2, 24, 300, ROWS, 0, false),
    LINE(KUGEL_FFT_DST3, 15, 3, ROWS, 0, true),
    LINE(KUGEL_FFT_DST4, 20, 7, ROWS, 0, true),
    {KUGEL_FFT_DCT2, 2, 2, {8, 12}, {0, 1}, 2, IN_PLACE, 0, false},
};
static const problem passes[] = {
    LINE(KUGEL_FFT_C2C, 180, 3, GAPS, 1024, false),  // 12 15
    LINE(KUGEL_FFT_C2C, 1001, 3, ROWS, 1024, false), // 7 11 13
    LINE(KUGEL_FFT_R2C, 2002, 3, ROWS, 1024, false),
    LINE(KUGEL_FFT_R2C, 165, 3, IN_PLACE, 1024, true), // odd: 11 15
    LINE(KUGEL_FFT_C2C, 263, 2, ROWS, 4096, false),    // prime: a convolution
    LINE(KUGEL_FFT_R2C, 526, 2, GAPS, 4096, false),
    LINE(KUGEL_FFT_DCT2, 360, 2, ROWS, 1024, false),
    LINE(KUGEL_FFT_R2C, 1200, 3, GAPS, 4096, false), // 24 25, pairs of points in one block
    LINE(KUGEL_FFT_DCT1, 601, 2, ROWS, 4096, true),
    LINE(KUGEL_FFT_DST4, 263, 2, ROWS, 2048, true),
    {KUGEL_FFT_R2C, 2, 2, {180, 22}, {0, 1}, 1, ROWS, 1024, false},
    LINE(KUGEL_FFT_C2C, 997, 3, GAPS, 2048, false), // primes of which a convolution has three factors
    LINE(KUGEL_FFT_C2C, 131, 2, ROWS, 512, true),
    LINE(KUGEL_FFT_R2C, 1994, 2, IN_PLACE, 2048, false), // and its spectrum is made of pairs of points
    LINE(KUGEL_FFT_DCT2, 1994, 2, GAPS, 2048, false),
    LINE(KUGEL_FFT_DST4, 997, 2, ROWS, 2048, true),
    {KUGEL_FFT_C2C, 2, 2, {997, 6}, {0, 1}, 2, IN_PLACE, 2048, false},
};

static void check_list(const kugel_device_info *info, const problem *list, size_t count)
{
  kugel_ctx_opts o = {.size = sizeof o, .device = info->name};
  kugel_ctx *ctx = NULL;
  CHECK_OK(kugel_ctx_create(&o, &ctx));
  for (size_t i = 0; i < count && ctx; i++)
    for (int inverse = 0; inverse < 2; inverse++) {
      const problem *p = &list[i];
      if (!p->f32 && !info->fp64)
        continue;
      double eps = p->f32 ? 0x1p-23 : 0x1p-52, e = run_error(ctx, p, inverse);
      double bound = (sqrt(log2((double)(p->n[0] * (p->naxes > 1 ? p->n[1] : 1)) + 2)) + 2) * eps;
      if (!(e <= bound))
        CHECK_FAIL("kind %d of %lld, problem %zu, inverse %d: %.3g exceeds %.3g", (int)p->kind,
                   (long long)p->n[0], i, inverse, e, bound);
    }
  kugel_ctx_destroy(ctx);
}

// Plans of one axis for arrays whose lines lie side by side, large enough for kernels of their own.
static void check_columns(const kugel_device_info *info)
{
  enum { LENGTH = 280, LINES = 256 };
  static const kugel_fft_kind kinds[] = {KUGEL_FFT_C2C, KUGEL_FFT_DCT2, KUGEL_FFT_DCT3, KUGEL_FFT_DST1};
  kugel_ctx_opts o = {.size = sizeof o, .device = info->name};
  kugel_ctx *ctx = NULL;
  CHECK_OK(kugel_ctx_create(&o, &ctx));
  int64_t n = LENGTH, shape[2] = {LINES, LENGTH}, stride[2] = {1, LINES};
  size_t count = LENGTH * LINES * 2, bytes = count * sizeof(float);
  float *x = kugel__alloc(NULL, 3 * bytes), *y = x + count, *z = y + count;
  void *far = NULL;
  uint64_t seed = 3;
  for (size_t i = 0; i < count; i++)
    x[i] = (float)check_random(&seed);
  CHECK_OK(kugel_device_alloc(ctx, bytes, &far));
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
    for (int sign = -1; sign < 2; sign += 2) {
      kugel_fft_opts opts = {.size = sizeof opts, .kind = kinds[k], .precision = KUGEL_PRECISION_F32};
      kugel_fft *cpu = NULL, *gpu = NULL;
      kugel_array a = {.data = x, .device = {KUGEL_CPU, 0}, .ndim = 2, .shape = shape, .strides = stride};
      a.dtype = kinds[k] == KUGEL_FFT_C2C ? KUGEL_C64 : KUGEL_F32;
      kugel_array b = a, there = a;
      b.data = y;
      there.data = far;
      there.device = info->device;
      memset(y, 0, 2 * bytes);
      CHECK_OK(kugel_fft_create(NULL, 1, &n, &opts, &cpu));
      CHECK_OK(kugel_fft_create(ctx, 1, &n, &opts, &gpu));
      CHECK_OK(kugel_fft_execute(cpu, sign, &a, &b, NULL));
      CHECK_OK(kugel_device_upload(ctx, far, 0, x, bytes, NULL));
      CHECK_OK(kugel_fft_execute(gpu, sign, &there, &there, NULL));
      CHECK_OK(kugel_device_download(ctx, z, far, 0, bytes, NULL));
      double err = 0, norm = 0;
      for (size_t i = 0; i < count / (kinds[k] == KUGEL_FFT_C2C ? 1 : 2); i++) {
        err += ((double)z[i] - (double)y[i]) * ((double)z[i] - (double)y[i]);
        norm += (double)y[i] * (double)y[i];
      }
      CHECK_LE(sqrt(err / norm), 5e-7);
      kugel_fft_destroy(cpu);
      kugel_fft_destroy(gpu);
    }
  kugel_device_free(ctx, far);
  kugel__free(NULL, x);
  kugel_ctx_destroy(ctx);
}

int main(void)
{
  kugel_device_info info;
  for (int i = 0; every_device(&i, true, &info);) {
    CASE(every_title(&info, "real transforms"))
    check_list(&info, reals, sizeof reals / sizeof *reals);
    CASE(every_title(&info, "cosine and sine transforms"))
    check_list(&info, trigs, sizeof trigs / sizeof *trigs);
    CASE(every_title(&info, "lines side by side")) check_columns(&info);
    CASE(every_title(&info, "lines of several passes"))
    check_list(&info, passes, sizeof passes / sizeof *passes);
  }
  END();
}
