/* SPDX-License-Identifier: BSD-3-Clause */
/* LABEL: long. Kernels of stencils compile for compute capability 9.0 with NVRTC and keep all sums in registers
 * (of several steps per pass all but 16 bytes, 400 with walls); no GPU and no
 * driver is needed. With an argument: prints the registers of each kernel. */
#include <stdbool.h>
#include "codegen/module.h"
#include "core/alloc.h"
#include "device/cuda/api.h"
#include "stencil/leap.h"
#include "stencil/problem.h"

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

static void compile(const kugel__module_spec *spec, const kugel__march_shape *s, int64_t shared, long spill,
                    const char *name)
{
  char *whole = NULL, *log = NULL;
  void *binary = NULL;
  size_t bytes = 0;
  CHECK_OK(kugel__module_text(NULL, KUGEL_CUDA, spec, &whole));
  kugel__program_spec program = {.name = name, .text = whole, .options = "--ptxas-options=-v"};
  CHECK_OK(kugel__nvrtc_compile(&program, 90, &binary, &bytes, &log));
  const long spilled = number_before(log, " bytes spill stores");
  if (spilled < 0 || spilled > spill)
    CHECK_FAIL("%s spills %ld bytes%s%s", name, spilled, spilled < 0 ? ": " : "",
               spilled < 0 && log ? log : "");
  if (tells)
    printf("  %s: %d x %d threads of %d x %d nodes, %d stages, %lld bytes, %d sources, %d groups, %ld "
           "registers\n",
           name, s->wide, s->tall, s->columns, s->rows, s->stages, (long long)shared, s->sources, s->groups,
           number_before(log, " registers"));
  kugel__free(NULL, log);
  kugel__free(NULL, binary);
  kugel__free(NULL, whole);
}

/* Leapfrog and Runge-Kutta with several steps per pass, as many as the model takes. */
static void compile_leaps(const kugel_stencil *plan, const kugel__march_sheet *sheet,
                          const kugel_stencil_opts *o, const char *title)
{
  for (int nested = 0; nested < 2; nested++) {
    const kugel__leap_setting setting = {.plan = plan,
                                         .shared = SHARED,
                                         .threads = 1024,
                                         .nested = nested,
                                         .walls = o->boundary[0][0] != KUGEL_STENCIL_PERIODIC,
                                         .unrolled = true};
    kugel__leap_shape s;
    char name[160];
    if (!kugel__leap_choose(&setting, sheet, &s))
      continue;
    const kugel__module_spec spec = kugel__leap_module(&s);
    snprintf(name, sizeof name, "%s, %d %s per pass", title, s.stages, nested ? "stages" : "steps");
    s.march.stages = s.stages;
    compile(&spec, &s.march, kugel__leap_shared(&s), s.walls ? 400 : 16, name);
  }
}

static void compile_plan(const kugel_stencil_opts *o, const char *name)
{
  kugel_stencil *plan = NULL;
  CHECK_OK(kugel_stencil_create(NULL, o, &plan));
  for (int side = 0; side < 2 && plan; side++) {
    kugel__march_sheet **sheet = NULL;
    int count = 0;
    const kugel__march_setting setting = {.plan = plan,
                                          .side = &plan->side[side],
                                          .shared = SHARED,
                                          .signs = o->boundary[0][0] != KUGEL_STENCIL_PERIODIC,
                                          .apart = o->boundary[0][0] != KUGEL_STENCIL_PERIODIC,
                                          .unrolled = true};
    CHECK_OK(kugel__march_make(&setting, &sheet, &count));
    for (int i = 0; i < count; i++) {
      char title[120];
      snprintf(title, sizeof title, "%s, %d-D, order %d, %s%s, %d of %d", name, o->ndim, o->order,
               o->precision ? "f32" : "f64", side ? ", transposed" : "", i + 1, count);
      for (int k = 0; k < KUGEL__MARCH_VARIANTS && (!side || sheet[i]->shape.source[0].coefficient); k++) {
        const kugel__march_shape *s = &sheet[i]->variant[k];
        if ((k & KUGEL__MARCH_APART) && !sheet[i]->variant[k - KUGEL__MARCH_APART].pairs)
          continue; // that of pairs is not of pairs
        const kugel__module_spec spec = kugel__march_module(s);
        char variant[160];
        snprintf(variant, sizeof variant, "%s%s%s", title, k & KUGEL__MARCH_ADDS ? ", adds" : "",
                 k & KUGEL__MARCH_APART ? ", apart" : "");
        compile(&spec, s, kugel__march_shared(s), 0, variant);
      }
      if (!i && (!side || (sheet[i]->shape.source[0].coefficient && o->order == 2)))
        compile_leaps(plan, sheet[i], o, title);
      kugel__free(NULL, sheet[i]);
    }
    kugel__free(NULL, sheet);
  }
  kugel_stencil_destroy(plan);
}

static const int64_t sizes[3][3] = {{4000}, {70, 300}, {40, 40, 70}};

static void laplacians(int order, kugel_precision precision, int ndim, const void *coefficient, int boundary)
{
  kugel_stencil_term terms[3] = {{.factor = 1, .coefficient = coefficient},
                                 {.factor = 1, .coefficient = coefficient},
                                 {.factor = 1, .coefficient = coefficient}};
  for (int d = 0; d < ndim; d++)
    terms[d].derivative[d] = 2;
  kugel_stencil_opts o = {.size = sizeof o,
                          .ndim = ndim,
                          .n = sizes[ndim - 1],
                          .order = order,
                          .precision = precision,
                          .nterms = ndim,
                          .terms = terms};
  set_boundary(&o, (kugel_stencil_boundary)boundary);
  compile_plan(&o, coefficient ? "wave with a speed" : boundary ? "Laplacian, walls" : "Laplacian");
}

/* Second derivatives of three fields, one along each axis. */
static void three_fields(int order)
{
  const kugel_stencil_term terms[3] = {{.field = 0, .derivative = {2}, .factor = 1},
                                       {.field = 1, .derivative = {0, 2}, .factor = 1},
                                       {.field = 2, .derivative = {0, 0, 2}, .factor = 1}};
  kugel_stencil_opts o = {
      .size = sizeof o, .ndim = 3, .n = sizes[2], .order = order, .fields = 3, .nterms = 3, .terms = terms};
  compile_plan(&o, "three fields");
}

/* All second derivatives, and what a gradient and a coefficient each add. */
static void many_terms(int order, kugel_precision precision, const void *coefficient)
{
  kugel_stencil_term terms[12] = {{.derivative = {0}, .factor = 0}};
  int n = 0;
  for (int i = 0; i < 3; i++)
    for (int j = i; j < 3; j++) {
      terms[n] = (kugel_stencil_term){.factor = 1, .coefficient = n % 2 ? coefficient : NULL};
      terms[n].derivative[i]++;
      terms[n++].derivative[j]++;
    }
  for (int i = 0; i < 3; i++) {
    terms[n] = (kugel_stencil_term){.out = 1 + i, .factor = 1, .coefficient = coefficient};
    terms[n++].derivative[i] = 1;
  }
  kugel_stencil_opts o = {.size = sizeof o,
                          .ndim = 3,
                          .n = sizes[2],
                          .order = order,
                          .precision = precision,
                          .outs = 4,
                          .nterms = n,
                          .terms = terms};
  compile_plan(&o, "many terms");
}

int main(int argc, char **argv)
{
  const char *why = "";
  const bool there = kugel__nvrtc_version(&why) > 0;
  tells = argc > 1 && argv[1][0];
  double *ones = malloc(112000 * sizeof *ones);
  float *floats = malloc(112000 * sizeof *floats);
  for (int i = 0; i < 112000; i++)
    floats[i] = (float)(ones[i] = 1);
  CASE("Laplacians")
  {
    for (int order = 2; order <= 8 && there; order += 2)
      for (int precision = 0; precision < 2; precision++)
        laplacians(order, (kugel_precision)precision, 3, NULL, order == 4);
    for (int ndim = 1; ndim < 3 && there; ndim++)
      laplacians(8, KUGEL_PRECISION_F64, ndim, NULL, 0);
    for (int ndim = 2; ndim < 4 && there; ndim++)
      laplacians(2, KUGEL_PRECISION_F64, ndim, ones, ndim == 3);
    if (!there)
      SKIP(why);
  }
  CASE("waves")
  {
    if (there)
      laplacians(2, KUGEL_PRECISION_F64, 3, ones, 0);
    for (int precision = 0; precision < 2 && there; precision++)
      laplacians(8, (kugel_precision)precision, 3, precision ? (void *)floats : ones, 0);
    if (!there)
      SKIP(why);
  }
  CASE("three fields")
  {
    for (int order = 2; order <= 4 && there; order += 2)
      three_fields(order);
    if (!there)
      SKIP(why);
  }
  CASE("many terms")
  {
    for (int order = 4; order <= 8 && there; order += 4)
      for (int precision = 0; precision < 2; precision++)
        many_terms(order, (kugel_precision)precision, precision ? (void *)floats : ones);
    if (!there)
      SKIP(why);
  }
  free(ones), free(floats);
  END();
}
