/* SPDX-License-Identifier: BSD-3-Clause */
/* ISA: once, LABEL: long: OpenCL compilers take their time. */
/* Compact differences and alternating directions on every device present, beside the CPU's, which have tests against closed forms. */
#include "stencil/device.h"

static const int64_t sizes[3][3] = {{97}, {23, 34}, {13, 18, 21}};

/* Two fields with terms along all axes, a mixed derivative, and the field itself. */
static void compact(kugel_ctx *ctx, int ndim, kugel_stencil_boundary b, bool single)
{
  kugel_stencil_opts o = {.size = sizeof o,
                          .ndim = ndim,
                          .n = sizes[ndim - 1],
                          .compact = 1,
                          .precision = single ? KUGEL_PRECISION_F32 : KUGEL_PRECISION_F64,
                          .fields = 2,
                          .outs = 2};
  const int64_t size = nodes_of(&o);
  double *c = random_reals(size, 3), *x = random_reals(6 * size, 4);
  for (int64_t i = 0; i < size; i++)
    c[i] = 1 + 0.3 * c[i];
  float *fc = floats_of(c, size), *fx = floats_of(x, 6 * size);
  const void *in = single ? (void *)fx : x, *array = single ? (void *)fc : c;
  kugel_stencil_term terms[6] = {{.factor = 1, .coefficient = array},
                                 {.out = 1, .factor = 0.7},
                                 {.field = 1, .factor = -0.4},
                                 {.factor = 0.5},
                                 {.field = 1, .out = 1, .factor = 0.2}};
  terms[0].derivative[0] = terms[1].derivative[ndim - 1] = 2;
  terms[2].derivative[ndim / 2] = 1;
  terms[4].derivative[0]++, terms[4].derivative[ndim - 1]++;
  o.terms = terms;
  o.nterms = 5;
  set_boundary(&o, b);
  void *want = malloc((size_t)size * 48), *got = malloc((size_t)size * 48);
  for (int adjoint = 0; adjoint < 2; adjoint++) {
    apply_there(NULL, &o, adjoint, 3, in, want);
    apply_there(ctx, &o, adjoint, 3, in, got);
    CHECK_LE(distance(single, got, want, size * 6), single ? 3e-6 : 6e-15);
  }
  free(c), free(x), free(fc), free(fx), free(want), free(got);
}

typedef struct marching {
  int ndim, compact;
  kugel_stencil_boundary boundary[3];
  bool coefficient, single;
  kugel_stencil_method method;
} marching;

/* Steps and their transposes; host arrays. */
static void march(kugel_ctx *ctx, const marching *m)
{
  kugel_stencil_opts o = {.size = sizeof o,
                          .ndim = m->ndim,
                          .n = sizes[m->ndim - 1],
                          .compact = m->compact,
                          .precision = m->single ? KUGEL_PRECISION_F32 : KUGEL_PRECISION_F64,
                          .fields = 2,
                          .outs = 2};
  const int64_t size = nodes_of(&o);
  const int levels = m->method == KUGEL_STENCIL_LEAPFROG ? 2 : 1;
  double *c = random_reals(size, 3), *x = random_reals(4 * size, 4);
  for (int64_t i = 0; i < size; i++)
    c[i] = 1 + 0.3 * c[i];
  float *fc = floats_of(c, size), *fx = floats_of(x, 4 * size);
  const void *array = !m->coefficient ? NULL : m->single ? (void *)fc : c;
  kugel_stencil_term terms[8] = {{.factor = 0}};
  for (int d = 0; d < m->ndim; d++) {
    terms[2 * d] = (kugel_stencil_term){.factor = 1 + 0.2 * d, .coefficient = array};
    terms[2 * d + 1] = (kugel_stencil_term){.field = 1, .out = 1, .factor = 0.5};
    terms[2 * d].derivative[d] = terms[2 * d + 1].derivative[d] = 2;
  }
  terms[2 * m->ndim] = (kugel_stencil_term){.factor = -0.1};
  o.terms = terms;
  o.nterms = 2 * m->ndim + 1;
  for (int d = 0; d < m->ndim; d++)
    o.boundary[d][0] = o.boundary[d][1] = m->boundary[d];
  kugel_stencil *plan[2] = {NULL, NULL};
  CHECK_OK(kugel_stencil_create(NULL, &o, &plan[0]));
  CHECK_OK(kugel_stencil_create(ctx, &o, &plan[1]));
  void *state[2] = {malloc((size_t)size * 32), malloc((size_t)size * 32)};
  int64_t shape[5] = {levels, 2};
  memcpy(shape + 2, o.n, sizeof *shape * (size_t)m->ndim);
  for (int k = 0; k < 2 && plan[1]; k++) {
    for (int there = 0; there < 2; there++) {
      memcpy(state[there], m->single ? (void *)fx : x, (size_t)size * 4 * (m->single ? 4 : 8));
      const kugel_array a = {.data = state[there],
                             .device = {KUGEL_CPU, 0},
                             .ndim = m->ndim + levels,
                             .dtype = m->single ? KUGEL_F32 : KUGEL_F64,
                             .shape = shape + (levels == 1)};
      CHECK_OK((k & 1 ? kugel_stencil_advance_adjoint : kugel_stencil_advance)(
          plan[there], m->method, m->method == KUGEL_STENCIL_ADI ? 1.5 : 0.1, 3 - k, &a, NULL));
    }
    CHECK_LE(distance(m->single, state[1], state[0], size * 2 * levels), m->single ? 1e-5 : 3e-14);
  }
  kugel_stencil_destroy(plan[0]);
  kugel_stencil_destroy(plan[1]);
  free(c), free(x), free(fc), free(fx), free(state[0]), free(state[1]);
}

#define P KUGEL_STENCIL_PERIODIC
#define O KUGEL_STENCIL_ODD
#define E KUGEL_STENCIL_EVEN
#define Z KUGEL_STENCIL_ZERO

int main(void)
{
  kugel_device_info info;
  for (int i = 0; every_device(&i, true, &info);) {
    kugel_ctx *ctx = every_sound_context(&info);
    if (!ctx)
      continue;
    CASE(every_title(&info, "compact differences"))
    {
      for (int b = 0; b < 5; b++)
        if (every_boundary[b] != Z)
          compact(ctx, b == 4 ? 3 : 2, every_boundary[b], b == 2);
    }
    CASE(every_title(&info, "alternating directions"))
    {
      static const marching of[] = {{1, 0, {P}, .method = KUGEL_STENCIL_ADI},
                                    {2, 0, {P, O}, .coefficient = true, .method = KUGEL_STENCIL_ADI},
                                    {2, 1, {P, E}, .single = true, .method = KUGEL_STENCIL_ADI},
                                    {3, 0, {Z, P, P}, .coefficient = true, .method = KUGEL_STENCIL_ADI}};
      for (size_t k = 0; k < sizeof of / sizeof *of; k++)
        march(ctx, &of[k]);
    }
    CASE(every_title(&info, "compact differences in explicit steps"))
    {
      march(ctx, &(marching){2, 1, {P, O}, .coefficient = true, .method = KUGEL_STENCIL_LEAPFROG});
    }
    kugel_ctx_destroy(ctx);
  }
  END();
}
