/* SPDX-License-Identifier: BSD-3-Clause */
/* LABEL: long. Convolutions in several dimensions on every device that runs kernels, against direct sums. */
#include <float.h>
#include "codegen/interp.h"
#include "codegen/module.h"
#include "codegen/print.h"
#include "fft/conv/direct.h"
#include "core/alloc.h"
#include "device/every.h"
#include "fft/gpu/block_tables.h"
#include "fft/conv/line.h"

static void check(kugel_ctx *ctx, const problem *p, int samples, int64_t room)
{
  double e = error_of(ctx, p, samples, false, room);
  if (!(e <= (p->o.precision == KUGEL_PRECISION_F32 ? 3e-6 : 6e-15)))
    CHECK_FAIL(
        "n %lld %lld %lld k %lld %lld %lld extent %d circular %d correlate %d complex %d single %d: %.3g",
        (long long)p->n[0], (long long)p->n[1], (long long)p->n[2], (long long)p->k[0], (long long)p->k[1],
        (long long)p->k[2], (int)p->o.extent, p->o.circular, p->o.correlate, p->o.complex_data,
        p->o.precision, e);
}

static const problem problems[] = {
    {2, {6, 9}, {3, 4}, 2, {0}},
    {2, {16, 15}, {5, 5}, 3, {.extent = KUGEL_CONV_SAME, .correlate = 1}},
    {2, {37, 41}, {6, 11}, 1, {.extent = KUGEL_CONV_VALID, .precision = KUGEL_PRECISION_F32}},
    {2, {4, 5}, {7, 2}, 1, {.complex_data = 1}},
    {2, {11, 13}, {3, 20}, 2, {.circular = 1, .correlate = 1, .complex_data = 1, .extent = KUGEL_CONV_SAME}},
    {2, {12, 14}, {3, 4}, 1, {.circular = 1, .correlate = 1}},
    {3, {5, 4, 6}, {2, 3, 1}, 2, {0}},
    {3, {8, 9, 10}, {3, 3, 3}, 1, {.extent = KUGEL_CONV_SAME, .precision = KUGEL_PRECISION_F32}},
    {3, {1, 12, 1}, {1, 5, 1}, 2, {.complex_data = 1}},
    {2, {11, 13}, {3, 4}, 2, {.inputs = 3, .outputs = 2}},
    {2, {11, 13}, {3, 4}, 2, {.inputs = 9, .outputs = 2, .precision = KUGEL_PRECISION_F32}},
    {2, {10, 12}, {3, 4}, 2, {.outputs = 3, .complex_data = 1}},
    {2, {11, 13}, {3, 4}, 3, {.inputs = 3, .outputs = 3, .each = 1}},
    {1, {30}, {5}, 2, {.inputs = 10, .outputs = 2}}, // more inputs than one kernel sums
};
enum { PROBLEMS = sizeof problems / sizeof *problems };

static void check_device(const kugel_device_info *info)
{
  kugel_ctx_opts o = {.size = sizeof o, .device = info->name};
  kugel_ctx *ctx = NULL;
  CHECK_OK(kugel_ctx_create(&o, &ctx));
  CASE(every_title(info, "convolutions in boxes equal direct sums"))
  for (int i = 0; i < PROBLEMS; i++) {
    problem p = problems[i];
    p.o.precision = info->fp64 ? p.o.precision : KUGEL_PRECISION_F32;
    check(ctx, &p, 200, i % 2 ? 1 : 0);
  }
  CASE(every_title(info, "failures leave nothing"))
  for (int kind = 0; kind < 2; kind++)
    for (int64_t fail = 0; fail < 80; fail += fail < 20 ? 1 : 5) { // 0: compiles, nothing fails
      float h[4] = {1}, x[24] = {1}, y[35];
      kugel_conv *plan = NULL;
      kugel_conv_opts single = {.size = sizeof single, .precision = KUGEL_PRECISION_F32};
      kind ? kugel__fault_alloc(fail) : kugel__fault_device(fail);
      kugel_status s = kugel_conv_create(ctx, 2, (int64_t[]){4, 6}, (int64_t[]){2, 2},
                                         KUGEL_ARRAY(h, KUGEL_F32, 2, 2), &single, &plan);
      CHECK((s == KUGEL_OK) == (plan != NULL) && (fail || !s));
      if (plan)
        s = kugel_conv_execute(plan, KUGEL_ARRAY(x, KUGEL_F32, 4, 6), KUGEL_ARRAY(y, KUGEL_F32, 5, 7), NULL);
      kind ? kugel__fault_alloc(0) : kugel__fault_device(0);
      CHECK(s == KUGEL_OK || s == KUGEL_ENOMEM || s == KUGEL_EDEVICE || s == KUGEL_ECOMPILE);
      kugel_conv_destroy(plan);
    }
  kugel_ctx_destroy(ctx);
}

/* ---- the kernel of lines ---- */

typedef struct lines {
  int64_t n, k, boxes, lines;
  int inputs, outputs;
  bool each;
} lines;

static const lines shapes[] = {{30, 5, 2, 7, 1, 1, false},
                               {1, 8, 3, 5, 1, 1, false},
                               {64, 20, 1, 9, 3, 2, false},
                               {90, 31, 2, 5, 1, 3, false},
                               {50, 50, 1, 12, 2, 2, true}};

static kugel__conv_line line_of(const lines *l, kugel__type real, uint64_t shared)
{
  kugel__conv_line c = {.inputs = l->inputs, .outputs = l->outputs, .each = l->each};
  kugel__conv_axis a = {.n = l->n, .k = l->k, .lo = (l->k - 1) / 2, .hi = (l->k - 1) / 2 + l->n};
  a = kugel__conv_one_tile(a, false);
  CHECK(kugel__conv_line_fit(&a, real, shared, &c));
  return c;
}

static double _Complex *random_numbers(int64_t count, uint64_t seed)
{
  double _Complex *x = malloc((size_t)count * sizeof *x);
  for (int64_t i = 0; i < count; i++) {
    double re = check_random(&seed);
    x[i] = re + I * check_random(&seed);
  }
  return x;
}

// Largest error of the kernel in the interpreter, with spectra that are random numbers.
static double interpreted(const lines *l)
{
  kugel__conv_line c = line_of(l, KUGEL__F64, 48 << 10);
  const kugel__conv_axis *a = &c.axis;
  int64_t m = a->box, rows = l->each ? l->outputs : l->inputs, terms = l->each ? 1 : l->inputs, nl = l->lines;
  int64_t ny = l->boxes * l->outputs * a->step * nl;
  double _Complex *x = random_numbers(l->boxes * rows * a->fill * nl, 1), *y = random_numbers(ny, 2);
  double _Complex *h = random_numbers(l->outputs * terms * m * nl, 3), *f = malloc((size_t)m * sizeof *f);
  kugel__tables layout = kugel__tables_of(&c.block);
  double *t = calloc((size_t)layout.total * 2, 8), worst = 0;
  kugel__gen g;
  CHECK_OK(kugel__block_fill_tables(&c.block, NULL, t));
  kugel__conv_line_build(&c, NULL, &g);
  kugel__argument args[] = {{.data = (double *)x, .size = l->boxes * rows * a->fill * nl},
                            {.data = (double *)y, .size = ny},
                            {.data = t, .size = layout.total},
                            {.data = (double *)h, .size = l->outputs * terms * m * nl},
                            {.i = l->boxes},
                            {.i = nl}};
  CHECK_OK(kugel__gen_run(&g, args, 0, (l->boxes * l->outputs * nl + c.block.group - 1) / c.block.group));
  for (int64_t b = 0; b < l->boxes; b++)
    for (int64_t o = 0; o < l->outputs; o++)
      for (int64_t q = 0; q < nl; q++) {
        for (int64_t k = 0; k < m; k++) {
          f[k] = 0;
          for (int64_t i = 0; i < terms; i++) {
            double _Complex sum = 0;
            for (int64_t j = 0; j < a->fill; j++)
              sum += x[((b * rows + (l->each ? o : i)) * nl + q) * a->fill + j] *
                     cexp(-2 * M_PI * I * (double)(j * k % m) / (double)m);
            f[k] += sum * h[((o * terms + i) * nl + q) * m + k];
          }
        }
        for (int64_t j = 0; j < a->step; j++) {
          double _Complex sum = 0;
          for (int64_t k = 0; k < m; k++)
            sum += f[k] * cexp(2 * M_PI * I * (double)((j + a->skip) * k % m) / (double)m);
          worst = fmax(worst, cabs(sum - y[((b * l->outputs + o) * nl + q) * a->step + j]) / (double)m);
        }
      }
  kugel__gen_free(&g);
  free(x);
  free(y);
  free(h);
  free(f);
  free(t);
  return worst;
}

static void compile(const lines *l, bool f32)
{
  enum { SHARED = 232448 }; // bytes of a block of compute capability 9.0
  kugel__conv_line c = line_of(l, f32 ? KUGEL__F32 : KUGEL__F64, SHARED);
  kugel__gen g;
  kugel__text text = {0};
  char *log = NULL;
  void *binary = NULL;
  size_t bytes = 0;
  kugel__conv_line_build(&c, NULL, &g);
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
  if (spilled < 0 || spilled > 256)
    CHECK_FAIL("n %lld, k %lld, f32 %d spills %ld bytes of registers", (long long)l->n, (long long)l->k, f32,
               spilled);
  kugel__free(NULL, log);
  kugel__free(NULL, binary);
  kugel__free(NULL, whole);
  kugel__text_free(&text);
  kugel__gen_free(&g);
}

int main(void)
{
  const char *why = "";
  kugel_device_info info;
  CASE("kernels of lines in the interpreter equal direct sums")
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    double e = interpreted(&shapes[i]);
    if (!(e <= 2e-14))
      CHECK_FAIL("lines of %lld with %lld: %.3g", (long long)shapes[i].n, (long long)shapes[i].k, e);
  }
  CASE("kernels of lines compile for compute capability 9.0 and spill few registers")
  {
    static const int64_t n[][2] = {{60, 5},      {256, 33},  {512, 17}, {480, 33},
                                   {1000, 1000}, {4096, 31}, {8192, 1}};
    bool there = kugel__nvrtc_version(&why) > 0;
    for (size_t i = 0; i < sizeof n / sizeof *n && there; i++)
      for (int f32 = 0; f32 < 2; f32++)
        compile(&(lines){n[i][0], n[i][1], 1, 1, 1, 1, false}, f32);
    if (!there)
      SKIP(why);
  }
  for (int i = 0; every_device(&i, true, &info);)
    check_device(&info);
  END();
}
