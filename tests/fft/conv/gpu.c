/* SPDX-License-Identifier: BSD-3-Clause */
/* LABEL: long. Fused convolution: its kernels in the interpreter, which finds races and bad addresses, and on
 * every device that runs kernels, against the CPU's. */
#include "check.h"
#include "codegen/interp.h"
#include "codegen/module.h"
#include "codegen/print.h"
#include "core/alloc.h"
#include "core/ctx.h"
#include "device/every.h"
#include "fft/gpu/block_tables.h"
#include "fft/conv/block.h"

typedef struct problem {
  int64_t n, k, batch;
  kugel_conv_opts o;
} problem;

static const problem problems[] = {
    {100, 9, 5, {.extent = KUGEL_CONV_SAME}},
    {16, 16, 3, {.circular = 1}},
    {2000, 33, 1, {.correlate = 1}},
    {3000, 90, 2, {.extent = KUGEL_CONV_VALID}},
    {777, 1000, 2, {.complex_data = 1, .correlate = 1}},
    {5000, 7, 3, {.circular = 1, .extent = KUGEL_CONV_SAME}},
    {90, 11, 2, {.inputs = 3, .outputs = 4}},
    {1000, 21, 3, {.outputs = 5, .complex_data = 1}},
    {1000, 21, 1, {.inputs = 2}},
    {50, 6, 2, {.inputs = 3, .outputs = 3, .each = 1, .correlate = 1, .extent = KUGEL_CONV_SAME}},
    {1, 1, 1, {0}},
    {1, 5, 4, {0}},
    {12, 1, 7, {.circular = 1}},
};
enum { PROBLEMS = sizeof problems / sizeof *problems };

static int kernels_of(const problem *p)
{
  int in = p->o.inputs ? p->o.inputs : 1, out = p->o.outputs ? p->o.outputs : 1;
  return p->o.each ? out : in * out;
}

static kugel_conv *plan_of(kugel_ctx *ctx, const problem *p, bool f32)
{
  int64_t shape[3], parts = p->o.complex_data ? 2 : 1, count = kernels_of(p) * p->k;
  int nd = 0;
  if (p->o.outputs)
    shape[nd++] = p->o.outputs;
  if (p->o.inputs && !p->o.each)
    shape[nd++] = p->o.inputs;
  shape[nd++] = p->k;
  double *h = malloc((size_t)(count * parts) * 8);
  uint64_t seed = 5;
  for (int64_t i = 0; i < count * parts; i++)
    h[i] = check_random(&seed);
  kugel_array a = {.data = h, .device = {KUGEL_CPU, 0}, .ndim = nd, .shape = shape};
  a.dtype = parts == 2 ? KUGEL_C128 : KUGEL_F64;
  kugel_conv_opts o = p->o;
  kugel_conv *plan = NULL;
  o.size = sizeof o;
  o.precision = f32 ? KUGEL_PRECISION_F32 : KUGEL_PRECISION_F64;
  CHECK_OK(kugel_conv_create(ctx, 1, &p->n, &p->k, &a, &o, &plan));
  free(h);
  return plan;
}

/* Data and results of a problem on the host. */
typedef struct data {
  kugel_array in, out, again;
  int64_t in_shape[3], out_shape[3], n_in, n_out; // n: numbers, of which complex ones have two
  double *x, *y, *z;
} data;

static data data_of(const problem *p, const kugel_conv *plan, bool f32)
{
  data d = {.x = NULL};
  int64_t m, parts = p->o.complex_data ? 2 : 1;
  int ni = 0, no = 0;
  kugel_conv_info info = {.size = sizeof info};
  CHECK_OK(kugel_conv_get_info(plan, &info));
  m = info.m[0];
  d.in_shape[ni++] = d.out_shape[no++] = p->batch;
  if (p->o.inputs)
    d.in_shape[ni++] = p->o.inputs;
  if (p->o.outputs)
    d.out_shape[no++] = p->o.outputs;
  d.in_shape[ni++] = p->n;
  d.out_shape[no++] = m;
  d.n_in = d.n_out = parts;
  for (int i = 0; i < ni; i++)
    d.n_in *= d.in_shape[i];
  for (int i = 0; i < no; i++)
    d.n_out *= d.out_shape[i];
  d.x = malloc((size_t)d.n_in * 8);
  d.y = malloc((size_t)d.n_out * 8);
  d.z = malloc((size_t)d.n_out * 8);
  uint64_t seed = 6;
  for (int64_t i = 0; i < d.n_in; i++)
    if (f32)
      ((float *)d.x)[i] = (float)check_random(&seed);
    else
      d.x[i] = check_random(&seed);
  kugel_dtype t = {parts == 2 ? KUGEL_COMPLEX : KUGEL_FLOAT, (uint8_t)((f32 ? 32 : 64) * parts), 1};
  d.in = (kugel_array){.data = d.x, .device = {KUGEL_CPU, 0}, .ndim = ni, .dtype = t};
  d.out = (kugel_array){.data = d.y, .device = {KUGEL_CPU, 0}, .ndim = no, .dtype = t};
  d.again = d.out;
  d.again.data = d.z;
  return d;
}

static void set_shapes(data *d) // once the struct lies where it stays
{
  d->in.shape = d->in_shape;
  d->out.shape = d->again.shape = d->out_shape;
}

static void data_free(data *d)
{
  free(d->x);
  free(d->y);
  free(d->z);
}

static double difference(const data *d, bool f32)
{
  double err = 0, norm = 0;
  for (int64_t i = 0; i < d->n_out; i++) {
    double a = f32 ? (double)((float *)d->z)[i] : d->z[i], b = f32 ? (double)((float *)d->y)[i] : d->y[i];
    err += (a - b) * (a - b);
    norm += b * b;
  }
  return sqrt(err / norm);
}

/* ---- in the interpreter ---- */

static double interpreted(const problem *p)
{
  kugel_conv *plan = plan_of(NULL, p, false);
  data d = data_of(p, plan, false);
  set_shapes(&d);
  CHECK_OK(kugel_conv_execute(plan, &d.in, &d.out, NULL));
  kugel__conv_block c = {.inputs = plan->inputs, .outputs = plan->outputs};
  CHECK(kugel__conv_block_fit(&plan->axis[0], p->o.circular, KUGEL__F64, 48 << 10, &c));
  c.complex_data = p->o.complex_data;
  c.each = p->o.each;
  c.block.spectrum = plan->kernels;
  kugel__gen g;
  kugel__conv_block_build(&c, NULL, &g);
  kugel__tables layout = kugel__tables_of(&c.block);
  double *t = calloc((size_t)layout.total * 2, 8);
  kugel__block stages = c.block;
  stages.spectrum = 0;
  CHECK_OK(kugel__block_fill_tables(&stages, NULL, t));
  // the spectra, by a plan of the same box
  int64_t parts = p->o.complex_data ? 2 : 1, box = c.axis.box, count = kernels_of(p) * p->k;
  uint64_t seed = 5;
  double *h = t + 2 * layout.spectrum;
  h[0] = h[1] = 0;
  for (int64_t i = 0; i < count; i++) {
    int64_t j = p->o.correlate ? p->k - 1 - i % p->k : i % p->k;
    double *to = h + 2 * (i / p->k * box + (p->o.circular ? j % p->n : j));
    to[0] += check_random(&seed) / (double)box;
    if (parts == 2)
      to[1] += (p->o.correlate ? -1 : 1) * check_random(&seed) / (double)box;
  }
  kugel_fft *fft = NULL;
  CHECK_OK(kugel_fft_create(NULL, 1, &box, NULL, &fft));
  CHECK_OK(kugel_fft_execute(fft, KUGEL_FORWARD, KUGEL_ARRAY(h, KUGEL_C128, plan->kernels, box),
                             KUGEL_ARRAY(h, KUGEL_C128, plan->kernels, box), NULL));
  int64_t m = plan->axis[0].hi - plan->axis[0].lo, lines = p->batch * c.axis.tiles;
  int64_t transforms = (lines + (parts == 2 ? 0 : 1)) / (parts == 2 ? 1 : 2) * plan->outputs;
  for (int64_t i = 0; i < d.n_out; i++)
    d.z[i] = NAN;
  kugel__argument args[12] = {{.data = d.x, .size = d.n_in / parts},
                              {.data = d.z, .size = d.n_out / parts},
                              {.data = t, .size = layout.total},
                              {.i = lines},
                              {.i = 0},
                              {.i = plan->inputs * p->n},
                              {.i = p->n},
                              {.i = 1},
                              {.i = 0},
                              {.i = plan->outputs * m},
                              {.i = m},
                              {.i = 1}};
  CHECK_OK(kugel__gen_run(&g, args, 0, (transforms + c.block.group - 1) / c.block.group));
  double e = difference(&d, false);
  kugel__gen_free(&g);
  kugel_fft_destroy(fft);
  kugel_conv_destroy(plan);
  free(t);
  data_free(&d);
  return e;
}

/* ---- on devices ---- */

static kugel_ctx *ctx_on(const kugel_device_info *info)
{
  kugel_ctx_opts o = {.size = sizeof o, .device = info->name};
  kugel_ctx *ctx = NULL;
  CHECK_OK(kugel_ctx_create(&o, &ctx));
  return ctx;
}

static double on_device(kugel_ctx *ctx, const problem *p, bool f32, bool resident)
{
  kugel_conv *cpu = plan_of(NULL, p, f32), *gpu = plan_of(ctx, p, f32);
  data d = data_of(p, cpu, f32);
  set_shapes(&d);
  CHECK_OK(kugel_conv_execute(cpu, &d.in, &d.out, NULL));
  if (!resident)
    CHECK_OK(kugel_conv_execute(gpu, &d.in, &d.again, NULL));
  else {
    size_t size = f32 ? 4 : 8;
    kugel_queue *queue = NULL;
    kugel_device_info info = {.size = sizeof info};
    kugel_array in = d.in, out = d.out;
    CHECK_OK(kugel_ctx_describe(ctx, &info));
    CHECK_OK(kugel_queue_create(ctx, &queue));
    CHECK_OK(kugel_device_alloc(ctx, (size_t)d.n_in * size, &in.data));
    CHECK_OK(kugel_device_alloc(ctx, (size_t)d.n_out * size, &out.data));
    CHECK_OK(kugel_device_upload(ctx, in.data, 0, d.x, (size_t)d.n_in * size, queue));
    in.device = out.device = info.device;
    CHECK_OK(kugel_conv_execute(gpu, &in, &out, queue));
    CHECK_OK(kugel_device_download(ctx, d.z, out.data, 0, (size_t)d.n_out * size, queue));
    CHECK_OK(kugel_queue_wait(queue));
    kugel_device_free(ctx, in.data);
    kugel_device_free(ctx, out.data);
    kugel_queue_destroy(queue);
  }
  double e = difference(&d, f32);
  kugel_conv_destroy(cpu);
  kugel_conv_destroy(gpu);
  data_free(&d);
  return e;
}

static void check_device(const kugel_device_info *info)
{
  kugel_ctx *ctx = ctx_on(info);
  CASE(every_title(info, "convolutions equal the CPU's"))
  for (int i = 0; i < PROBLEMS; i++) {
    bool f32 = i % 2 || !info->fp64;
    double e = on_device(ctx, &problems[i], f32, i / 2 % 2);
    if (!(e <= (f32 ? 6e-7 : 1e-15)))
      CHECK_FAIL("problem %d, f32 %d: %.3g", i, f32, e);
  }
  CASE(every_title(info, "failures leave nothing"))
  {
    double h[3] = {1};
    int64_t n[] = {100}, k[] = {3};
    kugel_conv *plan = NULL;
    CHECK_OK(kugel_conv_create(ctx, 1, n, k, KUGEL_ARRAY(h, KUGEL_F64, 3), NULL, &plan)); // compiles once
    kugel_conv_destroy(plan);
    for (int kind = 0; kind < 2; kind++)
      for (int64_t fail = 1; fail < 40; fail++) {
        double x[100] = {1}, y[102];
        kind ? kugel__fault_alloc(fail) : kugel__fault_device(fail);
        kugel_status s = kugel_conv_create(ctx, 1, n, k, KUGEL_ARRAY(h, KUGEL_F64, 3), NULL, &plan);
        CHECK((s == KUGEL_OK) == (plan != NULL));
        if (plan)
          s = kugel_conv_execute(plan, KUGEL_ARRAY(x, KUGEL_F64, 100), KUGEL_ARRAY(y, KUGEL_F64, 102), NULL);
        kind ? kugel__fault_alloc(0) : kugel__fault_device(0);
        CHECK(s == KUGEL_OK || s == KUGEL_ENOMEM || s == KUGEL_EDEVICE || s == KUGEL_ECOMPILE);
        kugel_conv_destroy(plan);
      }
  }
  kugel_ctx_destroy(ctx);
}

/* ---- for CUDA ---- */

static void compile(const problem *p, bool f32)
{
  enum { SHARED = 232448 }; // bytes of a block of compute capability 9.0
  kugel_conv *plan = plan_of(NULL, p, f32);
  kugel__conv_block c = {.inputs = plan->inputs, .outputs = plan->outputs};
  kugel__gen g;
  kugel__text text = {0};
  char *log = NULL;
  void *binary = NULL;
  size_t bytes = 0;
  CHECK(kugel__conv_block_fit(&plan->axis[0], p->o.circular, f32 ? KUGEL__F32 : KUGEL__F64, SHARED, &c));
  c.complex_data = p->o.complex_data;
  c.each = p->o.each;
  c.block.spectrum = plan->kernels;
  kugel__conv_block_build(&c, NULL, &g);
  CHECK_OK(kugel__gen_print(&g, &kugel__dialect_device, &text));
  kugel__module_spec spec = {.name = "conv.cl",
                             .text = text.data,
                             .defines = f32 ? "#define REAL_BITS 32\n" : "#define REAL_BITS 64\n"};
  char *whole = NULL;
  CHECK_OK(kugel__module_text(NULL, KUGEL_CUDA, &spec, &whole));
  kugel__program_spec program = {.name = "conv.cl", .text = whole, .options = "--ptxas-options=-v"};
  CHECK_OK(kugel__nvrtc_compile(&program, 90, &binary, &bytes, &log));
  const char *stack = log ? strstr(log, "bytes stack frame, ") : NULL;
  long spilled = stack ? strtol(stack + strlen("bytes stack frame, "), NULL, 10) : -1;
  if (spilled < 0 || spilled > 16)
    CHECK_FAIL("n %lld, k %lld, box %lld, f32 %d spills %ld bytes of registers", (long long)p->n,
               (long long)p->k, (long long)c.axis.box, f32, spilled);
  kugel__free(NULL, log);
  kugel__free(NULL, binary);
  kugel__free(NULL, whole);
  kugel__text_free(&text);
  kugel__gen_free(&g);
  kugel_conv_destroy(plan);
}

int main(void)
{
  const char *why = "";
  CASE("kernels compile for compute capability 9.0 and hardly spill registers")
  {
    bool there = kugel__nvrtc_version(&why) > 0;
    for (int i = 0; i < PROBLEMS && there; i++)
      compile(&problems[i], i % 2 == 0);
    for (int f32 = 0; f32 < 2 && there; f32++) {
      compile(&(problem){1000000, 500, 1, {.correlate = 1}}, f32);
      compile(&(problem){4096, 4096, 64, {.circular = 1, .complex_data = 1}}, f32);
      compile(&(problem){1536, 512, 64, {.extent = KUGEL_CONV_SAME}}, f32);
    }
    if (!there)
      SKIP(why);
  }
  kugel_device_info info;
  CASE("kernels in the interpreter equal the CPU's convolution")
  for (int i = 0; i < PROBLEMS; i++) {
    double e = interpreted(&problems[i]);
    if (!(e <= 1e-15))
      CHECK_FAIL("problem %d: %.3g", i, e);
  }
  for (int i = 0; every_device(&i, true, &info);)
    check_device(&info);
  END();
}
