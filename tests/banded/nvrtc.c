/* SPDX-License-Identifier: BSD-3-Clause */
/* LABEL: long. Generated banded kernels compile for compute capability 9.0 with NVRTC and keep all numbers in
 * registers; no GPU and no driver is needed. With an argument: prints the registers of each kernel. */
#include "banded/kernel.h"
#include "check.h"
#include "codegen/module.h"
#include "core/alloc.h"
#include "device/cuda/api.h"

enum { SHARED = 232448 }; // bytes of a block of compute capability 9.0
static bool tells;

static long number_before(const char *log, const char *words)
{
  const char *at = log ? strstr(log, words) : NULL;
  while (at && at > log && at[-1] != ' ')
    at--;
  at = at && at > log ? at - 1 : at;
  while (at && at > log && at[-1] >= '0' && at[-1] <= '9')
    at--;
  return at ? strtol(at, NULL, 10) : -1;
}

static void compile(const kugel__banded_shape *s, int64_t n)
{
  char *whole = NULL, *log = NULL, name[80];
  void *binary = NULL;
  size_t bytes = 0;
  kugel__module_spec spec = kugel__banded_module(s);
  snprintf(name, sizeof name, "%s n %lld type %d stages %d %d each %d unit %d: %d x %d",
           s->product ? "product" : "solve", (long long)n, s->real, s->product ? s->lower : s->forward,
           s->product ? s->upper : s->backward, s->each, s->unit, s->threads, s->q);
  CHECK_OK(kugel__module_text(NULL, KUGEL_CUDA, &spec, &whole));
  kugel__program_spec program = {.name = name, .text = whole, .options = "--ptxas-options=-v"};
  CHECK_OK(kugel__nvrtc_compile(&program, 90, &binary, &bytes, &log));
  long spilled = number_before(log, " bytes spill stores");
  if (spilled)
    CHECK_FAIL("%s spills: %s", name, log ? log : "no log");
  if (tells)
    printf("  %s, %d warps x %d, pad %d: %ld registers\n", name, s->warps, s->resident, s->period,
           number_before(log, " registers"));
  kugel__free(NULL, log);
  kugel__free(NULL, binary);
  kugel__free(NULL, whole);
}

/* Both kernels of the plan: of rows for the best unit, of columns for many; the solve for few. */
static void compile_plan(int kind, int precision, int64_t n, int64_t matrices, kugel_banded_layout layout)
{
  double *a = malloc((size_t)(2 * n * (matrices + 1)) * sizeof *a);
  for (int64_t i = 0; i < 2 * n * (matrices + 1); i++)
    a[i] = i % 2 && precision == KUGEL_PRECISION_DD ? 0 : 0.5;
  for (int64_t i = 0; i < 2 * n * (matrices + 1) && precision == KUGEL_PRECISION_F32; i++)
    ((float *)a)[i] = 0.25f;
  kugel_banded_opts o = {.size = sizeof o,
                         .kind = kind,
                         .precision = precision,
                         .n = n,
                         .matrices = matrices,
                         .lower = a,
                         .upper = a};
  o.layout = layout;
  kugel_banded *plan = NULL;
  CHECK_OK(kugel_banded_create(NULL, &o, &plan));
  for (int product = 0; product < 2 && plan; product++) {
    kugel__banded_shape s;
    bool pairs = n % 2 == 0 && precision != KUGEL_PRECISION_DD;
    bool columns = layout == KUGEL_BANDED_COLUMNS;
    kugel__banded_choose(plan, product, pairs || columns ? KUGEL__BANDED_PAIRS : KUGEL__BANDED_SINGLES,
                         SHARED, &s);
    compile(&s, n);
    if (columns && !product) {
      kugel__banded_choose(plan, product, KUGEL__BANDED_FEW, SHARED, &s);
      compile(&s, n);
    }
  }
  kugel_banded_destroy(plan);
  free(a);
}

int main(int argc, char **argv)
{
  const char *why = "";
  bool there = kugel__nvrtc_version(&why) > 0;
  tells = argc > 1 && argv[1][0];
  CASE("one matrix")
  {
    static const int64_t n[] = {8, 16, 32, 100, 128, 256, 501, 512, 514, 2048, 4096, 5000, 8192, 20000};
    for (int v = 0; v < 9 && there; v++)
      for (size_t i = (size_t)v % 3; i < sizeof n / sizeof *n; i += tells ? 1 : 3)
        compile_plan(v % 3, v / 3, n[i], 0, KUGEL_BANDED_ROWS);
    if (!there)
      SKIP(why);
  }
  CASE("columns")
  {
    static const int64_t n[] = {8, 64, 128, 256, 512, 1000, 2000};
    for (int v = 0; v < 9 && there; v++)
      for (size_t i = (size_t)v % 3; i < sizeof n / sizeof *n; i += tells ? 1 : 3)
        compile_plan(v % 3, v / 3, n[i], 0, KUGEL_BANDED_COLUMNS);
    if (!there)
      SKIP(why);
  }
  CASE("a matrix for each system")
  {
    for (int v = 0; v < 9 && there; v++)
      compile_plan(v % 3, v / 3, v % 2 ? 600 : 45, 3, (kugel_banded_layout)(v % 2));
    if (!there)
      SKIP(why);
  }
  END();
}
