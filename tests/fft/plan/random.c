/* SPDX-License-Identifier: BSD-3-Clause */
/* LABEL: long. Random plans on the CPU and on every device, with guards round every array.
 * fft_plan_random [seed [plans [only]]]; `only`: that plan of the seed alone, with its kernels. Without arguments the first
 * plans of each group: every kind and precision, on one of whose kernels OpenCL's compiler for CPUs takes a second. */
#include <unistd.h>
#include "core/alloc.h"
#include "device/every.h"
#include "fft/gpu/gpu.h"
#include "fft/random_plans.h"

enum { GROUP = 100, FEW = 10 }; // plans

static double worst[2][2]; // [device][f32]

/* ---- what is right ---- */

static void truth_line(const random_plan *p, kugel_fft_kind kind, int64_t n, const double *x, int64_t step,
                       bool cin, double *y, bool cout, int64_t many)
{
  double *row = kugel__alloc(NULL, (size_t)(2 * n + 2) * 8);
  int64_t have = kind == KUGEL_FFT_R2C && p->sign == KUGEL_INVERSE ? n / 2 + 1 : n;
  static const kugel_fft_kind back[] = {0, 1, 2, 4, 3, 5, 6, 8, 7, 9};
  for (int64_t j = 0; j < have; j++)
    for (int c = 0; c <= cin; c++)
      row[cin ? 2 * j + c : j] = x[cin ? 2 * j * step + c : j * step];
  for (int64_t k = 0; k < many; k++) {
    ldc v = truth(p->sign == KUGEL_INVERSE ? back[kind] : kind, p->sign, n, row, k);
    y[cout ? 2 * k * step : k * step] = (double)creall(v);
    if (cout)
      y[2 * k * step + 1] = (double)cimagl(v);
  }
  kugel__free(NULL, row);
}

// Transforms axis d of C-order data of `shape`, whose extent becomes `many`.
static void truth_axis(const random_plan *p, kugel_fft_kind kind, int d, int64_t n, int64_t *shape,
                       int64_t many, bool cin, const double *x, bool cout, double *y)
{
  int64_t inner = 1, outer = 1, ndim = p->ndim + p->batches, have = shape[d];
  for (int64_t i = 0; i < ndim; i++) {
    inner *= i > d ? shape[i] : 1;
    outer *= i < d ? shape[i] : 1;
  }
  for (int64_t o = 0; o < outer; o++)
    for (int64_t i = 0; i < inner; i++)
      truth_line(p, kind, n, x + (o * have * inner + i) * (cin ? 2 : 1), inner, cin,
                 y + (o * many * inner + i) * (cout ? 2 : 1), cout, many);
  shape[d] = many;
}

// The result by long-double sums, from and to doubles in C order.
static void truth_all(const random_plan *p, const double *in, double *out, double *spare)
{
  int64_t shape[RANDOM_DIMS + RANDOM_BATCH];
  memcpy(shape, p->in.shape, sizeof shape);
  int last = p->naxes - 1;
  bool back = p->sign == KUGEL_INVERSE, r2c = p->kind == KUGEL_FFT_R2C, is_complex = p->in.is_complex;
  memcpy(spare, in, (size_t)random_count(p, &p->in) * (is_complex ? 16 : 8));
  for (int k = 0; k <= last; k++) {
    int i = r2c && back ? k : last - k, d = p->batches + p->axes[i];
    kugel_fft_kind kind = r2c && i < last ? KUGEL_FFT_C2C : p->kind;
    bool becomes = r2c ? !(back && i == last) : is_complex;
    truth_axis(p, kind, d, p->n[p->axes[i]], shape, p->out.shape[d], is_complex, spare, becomes, out);
    is_complex = becomes;
    if (k < last)
      memcpy(spare, out, 16 * (size_t)(2 * RANDOM_MOST));
  }
  for (int64_t i = 0; i < random_count(p, &p->out) * (is_complex ? 2 : 1); i++)
    out[i] *= p->scale;
}

/* ---- runs ---- */

/* One plan with its data: memory of both arrays as given, and the right result in C order. */
typedef struct trial {
  random_plan p;
  char *in, *out; // out: the same as in, if in place
  char *in_was, *out_was;
  double *x, *want;
  size_t in_bytes, out_bytes;
  const char *where;
  bool bad;
} trial;

static double number(bool f32, const char *at, int part)
{
  return f32 ? (double)((const float *)at)[part] : ((const double *)at)[part];
}

static void fill(trial *t, uint64_t *state)
{
  random_plan *p = &t->p;
  memset(t->in, 0xff, t->in_bytes); // NaN
  if (!p->in_place)
    memset(t->out, 0xff, t->out_bytes);
  int64_t size = random_size(p, &p->in);
  int parts = p->in.is_complex ? 2 : 1;
  for (int64_t i = 0; i < random_count(p, &p->in); i++)
    for (int c = 0; c < parts; c++) {
      double v = (double)(float)check_random(state);
      char *at = t->in + random_at(p, &p->in, i) * size;
      if (p->f32)
        ((float *)at)[c] = (float)v;
      else
        ((double *)at)[c] = v;
      t->x[parts * i + c] = v;
    }
  memcpy(t->in_was, t->in, t->in_bytes);
  memcpy(t->out_was, t->out, t->out_bytes);
}

static kugel_array array_of(const random_plan *p, const random_side *s, void *data)
{
  kugel_array a = {.data = data, .device = {KUGEL_CPU, 0}, .ndim = p->ndim + p->batches};
  a.dtype = s->is_complex ? p->f32 ? KUGEL_C64 : KUGEL_C128 : p->f32 ? KUGEL_F32 : KUGEL_F64;
  a.shape = (int64_t *)s->shape;
  a.strides = (int64_t *)s->stride;
  a.byte_offset = (uint64_t)(s->offset * random_size(p, s));
  return a;
}

static void fail(trial *t, const char *what)
{
  CHECK_FAIL("%s: %s", t->where, what);
  t->bad = true;
}

// The result in memory, and that nothing else changed; sets *error to the relative rms difference.
static void check_memory(trial *t, const char *in, const char *out, double *error)
{
  random_plan *p = &t->p;
  int64_t size = random_size(p, &p->out);
  int parts = p->out.is_complex ? 2 : 1;
  double d = 0, norm = 0;
  char *kept = kugel__alloc(NULL, t->out_bytes);
  memcpy(kept, out, t->out_bytes);
  for (int64_t i = 0; i < random_count(p, &p->out); i++) {
    int64_t at = random_at(p, &p->out, i) * size;
    for (int c = 0; c < parts; c++) {
      double v = number(p->f32, out + at, c), w = t->want[parts * i + c];
      d += (v - w) * (v - w);
      norm += w * w;
    }
    memcpy(kept + at, t->out_was + at, (size_t)size);
  }
  for (int64_t i = 0; p->in_place && p->kind == KUGEL_FFT_R2C && i < random_count(p, &p->in); i++) {
    int64_t at = random_at(p, &p->in, i) * random_size(p, &p->in); // what the input alone held is free
    memcpy(kept + at, t->out_was + at, (size_t)random_size(p, &p->in));
  }
  if (memcmp(kept, t->out_was, t->out_bytes))
    fail(t, "memory beside the result changed");
  if (!p->in_place && memcmp(in, t->in_was, t->in_bytes))
    fail(t, "the input changed");
  kugel__free(NULL, kept);
  *error = sqrt(d / fmax(norm, 1e-30));
}

static double bound(const random_plan *p)
{
  return p->f32 ? 1e-6 : 2e-15;
}

static void judge(trial *t, bool device, double error)
{
  char text[80];
  snprintf(text, sizeof text, "relative rms error %.2g", error);
  if (!(error <= bound(&t->p)))
    fail(t, text);
  worst[device][t->p.f32] = fmax(worst[device][t->p.f32], error);
}

static kugel_fft_opts opts_of(const random_plan *p)
{
  return (kugel_fft_opts){.size = sizeof(kugel_fft_opts),
                          .kind = p->kind,
                          .precision = p->f32 ? KUGEL_PRECISION_F32 : KUGEL_PRECISION_F64,
                          .naxes = p->naxes,
                          .axes = p->axes,
                          .forward_scale = p->scale,
                          .inverse_scale = p->scale};
}

static void run_on_cpu(trial *t)
{
  random_plan *p = &t->p;
  kugel_fft *plan = NULL;
  kugel_fft_opts o = opts_of(p);
  kugel_array in = array_of(p, &p->in, t->in), out = array_of(p, &p->out, t->out);
  t->where = "cpu";
  double error = INFINITY;
  if (kugel_fft_create(NULL, p->ndim, p->n, &o, &plan) || kugel_fft_execute(plan, p->sign, &in, &out, NULL))
    fail(t, kugel_last_error());
  else {
    check_memory(t, t->in, t->out, &error);
    judge(t, false, error);
  }
  kugel_fft_destroy(plan);
}

// With the shared memory of a block cut, so that short lines go through several passes.
static kugel_status run_cut(kugel_ctx *ctx, const random_plan *p, const kugel_array *in,
                            const kugel_array *out)
{
  kugel__fft_gpu_desc d = {.kind = p->kind, .f32 = p->f32, .naxes = p->naxes, .shared = (uint64_t)p->shared};
  kugel__view vi = {.ndim = in->ndim}, vo = vi;
  int at[RANDOM_DIMS];
  for (int i = 0; i < p->naxes; i++) {
    d.n[i] = p->n[p->axes[i]];
    d.in_order[i] = p->axes[i] == p->ndim - 1;
    at[i] = p->batches + p->axes[i];
  }
  memcpy(vi.shape, p->in.shape, sizeof p->in.shape);
  memcpy(vi.stride, p->in.stride, sizeof p->in.stride);
  memcpy(vo.shape, p->out.shape, sizeof p->out.shape);
  memcpy(vo.stride, p->out.stride, sizeof p->out.stride);
  kugel__fft_gpu *plan = NULL;
  KUGEL_TRY(kugel__fft_gpu_create(ctx, &d, &plan));
  kugel__fft_gpu_call call = {.inverse = p->sign == KUGEL_INVERSE,
                              .in_view = &vi,
                              .out_view = &vo,
                              .axes = at,
                              .scale = {p->scale, 0}};
  kugel_status s = kugel__fft_gpu_execute(plan, &call, in, out);
  kugel__fft_gpu_destroy(plan);
  return s;
}

static kugel_status run_whole(kugel_ctx *ctx, const random_plan *p, const kugel_array *in,
                              const kugel_array *out)
{
  kugel_fft *plan = NULL;
  kugel_fft_opts o = opts_of(p);
  KUGEL_TRY(kugel_fft_create(ctx, p->ndim, p->n, &o, &plan));
  kugel_status s = kugel_fft_execute(plan, p->sign, in, out, NULL);
  kugel_fft_destroy(plan);
  return s;
}

static void run_on_device(trial *t, kugel_ctx *ctx, const kugel_device_info *info)
{
  random_plan *p = &t->p;
  void *in = NULL, *out = NULL;
  t->where = info->name;
  CHECK_OK(kugel_device_alloc(ctx, t->in_bytes, &in));
  CHECK_OK(kugel_device_upload(ctx, in, 0, t->in_was, t->in_bytes, NULL));
  if (!p->in_place) {
    CHECK_OK(kugel_device_alloc(ctx, t->out_bytes, &out));
    CHECK_OK(kugel_device_upload(ctx, out, 0, t->out_was, t->out_bytes, NULL));
  }
  kugel_array a = array_of(p, &p->in, in), b = array_of(p, &p->out, p->in_place ? in : out);
  a.device = b.device = info->device;
  double error = INFINITY;
  kugel_status s = (p->shared ? run_cut : run_whole)(ctx, p, &a, &b);
  if (s)
    fail(t, kugel_last_error());
  else {
    CHECK_OK(kugel_device_download(ctx, t->in, in, 0, t->in_bytes, NULL));
    if (!p->in_place)
      CHECK_OK(kugel_device_download(ctx, t->out, out, 0, t->out_bytes, NULL));
    check_memory(t, t->in, t->out, &error);
    judge(t, true, error);
  }
  kugel_device_free(ctx, in);
  kugel_device_free(ctx, out);
}

/* ---- all ---- */

static kugel_ctx *contexts[16];
static kugel_device_info infos[16];
static int devices;

static void right_result(trial *t, bool by_sums)
{
  random_plan *p = &t->p;
  double *spare = kugel__calloc(NULL, 32 * (size_t)(2 * RANDOM_MOST));
  if (by_sums)
    truth_all(p, t->x, t->want, spare);
  else { // contiguous, in double precision, on the CPU
    random_plan q = *p;
    q.f32 = q.in_place = false;
    kugel_fft *plan = NULL;
    kugel_fft_opts o = opts_of(&q);
    kugel_array in = array_of(&q, &q.in, t->x), out = array_of(&q, &q.out, t->want);
    in.strides = out.strides = NULL;
    in.byte_offset = out.byte_offset = 0;
    CHECK_OK(kugel_fft_create(NULL, q.ndim, q.n, &o, &plan));
    CHECK_OK(kugel_fft_execute(plan, q.sign, &in, &out, NULL));
    kugel_fft_destroy(plan);
  }
  kugel__free(NULL, spare);
}

static bool run_one(const random_plan *p, uint64_t *state)
{
  trial t = {.p = *p, .where = "truth"};
  int64_t work = random_count(p, &p->in) * (p->n[0] + p->n[1] + p->n[2]);
  t.in_bytes = (size_t)(p->in.span * random_size(p, &p->in));
  t.out_bytes = (size_t)(p->out.span * random_size(p, &p->out));
  t.in = kugel__alloc(NULL, t.in_bytes);
  t.out = p->in_place ? t.in : kugel__alloc(NULL, t.out_bytes);
  t.in_was = kugel__alloc(NULL, t.in_bytes);
  t.out_was = kugel__alloc(NULL, t.out_bytes);
  t.x = kugel__alloc(NULL, 16 * (size_t)random_count(p, &p->in) + 64);
  t.want = kugel__alloc(NULL, 32 * (size_t)(2 * RANDOM_MOST));
  fill(&t, state);
  right_result(&t, work < 4000 || (work < 100000 && random_chance(state, 10)));
  run_on_cpu(&t);
  for (int i = 0; i < devices; i++)
    if (p->f32 || infos[i].fp64)
      run_on_device(&t, contexts[i], &infos[i]);
  kugel__free(NULL, t.in);
  if (!p->in_place)
    kugel__free(NULL, t.out);
  kugel__free(NULL, t.in_was);
  kugel__free(NULL, t.out_was);
  kugel__free(NULL, t.x);
  kugel__free(NULL, t.want);
  return !t.bad;
}

static void run_all(uint64_t first, long plans, long only, long each)
{
  random_group g = {0};
  for (long i = 0; i < plans; i++) {
    uint64_t state = (first << 32) + (uint64_t)(i / GROUP) * 0x10001 + 77;
    g = random_group_of(&state, (int)(i / GROUP));
    state = (first << 32) ^ (uint64_t)i * 0x9e3779b97f4a7c15u;
    random_plan p = random_plan_of(&state, &g);
    if (only >= 0 ? i != only : i % GROUP >= each)
      continue;
    if (only >= 0)
      random_print(&p);
    if (!run_one(&p, &state)) {
      printf("  again: fft_plan_random %llu %ld %ld\n", (unsigned long long)first, plans, i);
      random_print(&p);
      fflush(stdout);
    }
  }
}

int main(int argc, char **argv)
{
  uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
  long plans = argc > 2 ? atol(argv[2]) : 20 * GROUP, only = argc > 3 ? atol(argv[3]) : -1;
  setenv("KUGEL_CACHE", "off", 1); // nothing comes back from there
  for (int i = 0; devices < 16 && every_device(&i, true, &infos[devices]); devices++)
    CHECK_OK(
        kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = infos[devices].name},
                         &contexts[devices]));
  CASE("random plans") run_all(first, plans, only, argc > 1 ? GROUP : FEW);
  printf("  %ld plans on the CPU and %d devices; largest errors: CPU %.2g and %.2g (float), devices %.2g and "
         "%.2g\n",
         argc > 1 ? plans : plans / GROUP * FEW, devices, worst[0][0], worst[0][1], worst[1][0], worst[1][1]);
  for (int i = 0; i < devices; i++)
    kugel_ctx_destroy(contexts[i]);
  END();
}
