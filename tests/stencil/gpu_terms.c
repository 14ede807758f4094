/* SPDX-License-Identifier: BSD-3-Clause */
/* ISA: once, LABEL: long: OpenCL compilers take their time. */
/* Stencils on every device present: the CPU's numbers of operators with terms of all kinds, and of their transposes. */
#include "stencil/device.h"

static const int64_t sizes[4][3] = {{300}, {19, 70}, {11, 12, 26}, {37, 18, 40}};

/* Operator and transpose of two leading elements beside those of the CPU. */
static void compare(kugel_ctx *ctx, const kugel_stencil_opts *o)
{
  const bool single = o->precision == KUGEL_PRECISION_F32;
  const int64_t n = nodes_of(o), fields = o->fields ? o->fields : 1, outs = o->outs ? o->outs : 1,
                most = 2 * n * (fields + outs);
  double *x = random_reals(most, 7);
  float *f = floats_of(x, most);
  void *want = malloc((size_t)most * 8), *got = malloc((size_t)most * 8);
  for (int adjoint = 0; adjoint < 2; adjoint++) {
    const void *in = single ? (void *)f : x;
    apply_there(NULL, o, adjoint, 2, in, want);
    apply_there(ctx, o, adjoint, 2, in, got);
    CHECK_LE(distance(single, got, want, 2 * n * (adjoint ? fields : outs)), single ? 2e-6 : 4e-15);
  }
  free(x), free(f), free(want), free(got);
}

/* Two fields, three outs, all kinds of terms, coefficients, masks. Compilers need seconds for each kernel: some of all grids, orders
 * and ends. */
static void terms_of_all_kinds(kugel_ctx *ctx, bool all)
{
  static const int some[3] = {22, 56, 125};
  for (int i = 0; i < (all ? 4 * 4 * 5 * 2 : 3); i++) {
    const int c = all ? i : some[i];
    const bool single = c % 2;
    const int b = c / 2 % 5, order = 2 + 2 * (c / 10 % 4), size = c / 40;
    const int ndim = size < 2 ? size + 1 : 3;
    kugel_stencil_opts o = {.size = sizeof o,
                            .ndim = ndim,
                            .n = sizes[size],
                            .order = order,
                            .precision = single ? KUGEL_PRECISION_F32 : KUGEL_PRECISION_F64,
                            .h = (double[]){0.7, 1.1, 0.9},
                            .fields = 2,
                            .outs = 3};
    const int64_t n = nodes_of(&o);
    double *values = random_reals(n, 1), *other = random_reals(n, 2);
    float *f = floats_of(values, n), *g = floats_of(other, n);
    const void *array = single ? (void *)f : values, *second = single ? (void *)g : other;
    kugel_stencil_term terms[8] = {{.derivative = {2}, .factor = 1},
                                   {.field = 1, .out = 2, .factor = -3, .coefficient = array},
                                   {.field = 1, .derivative = {1}, .factor = 2, .coefficient = array},
                                   {.out = 2, .factor = 0.5},
                                   {.out = 2, .factor = 0.25, .coefficient = array},
                                   {.factor = -0.7, .coefficient = second},
                                   {.field = 1, .out = 2, .factor = 1.5},
                                   {.field = 1, .factor = 0.125}};
    terms[3].derivative[ndim - 1] = 2;
    terms[4].derivative[0]++;
    terms[4].derivative[ndim - 1]++;
    terms[5].derivative[ndim > 1 ? 1 : 0] = 2;
    terms[6].derivative[ndim > 1 ? ndim - 2 : 0]++;
    terms[6].derivative[ndim - 1]++;
    o.terms = terms;
    o.nterms = 8;
    o.mask = size == 1 ? array : NULL;
    set_boundary(&o, every_boundary[b]);
    if (b == 1)
      o.boundary[0][1] = KUGEL_STENCIL_EVEN;
    if (b == 3)
      o.boundary[ndim - 1][1] = KUGEL_STENCIL_ONE_SIDED;
    compare(ctx, &o);
    free(values), free(other), free(f), free(g);
  }
}

int main(void)
{
  kugel_device_info info;
  for (int i = 0; every_device(&i, true, &info);) {
    kugel_ctx *ctx = every_sound_context(&info);
    if (!ctx)
      continue;
    CASE(every_title(&info, "terms of all kinds"))
    terms_of_all_kinds(ctx, getenv("KUGEL_TEST_ALL") != NULL);
    kugel_ctx_destroy(ctx);
  }
  END();
}
