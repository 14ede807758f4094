/* SPDX-License-Identifier: BSD-3-Clause */
/* ISA: once. Transposes with mirrors at the ends on every device present: of all rows those of the mirrors' own nodes alone are not for the
 * marching kernels, whatever the order; the CPU's numbers. */
#include "device.h"
#include "stencil/gpu.h"

enum { LEAD = 2, N0 = 18, N1 = 20, N2 = 23, NODES = N0 * N1 * N2 };

/* Derivatives of one kind on each axis, so that an axis has one kind of mirror. */
static void check(kugel_ctx *ctx, int order, int derivative, bool single)
{
  static const int64_t n[3] = {N0, N1, N2};
  const kugel_stencil_boundary E = KUGEL_STENCIL_EVEN, O = KUGEL_STENCIL_ODD;
  const kugel_stencil_term terms[3] = {{.derivative = {derivative, 0, 0}, .factor = 1},
                                       {.derivative = {0, derivative, 0}, .factor = 0.5},
                                       {.derivative = {0, 0, derivative}, .factor = -2}};
  const kugel_stencil_opts o = {.size = sizeof o,
                                .ndim = 3,
                                .n = n,
                                .order = order,
                                .boundary = {{E, O}, {O, O}, {E, E}},
                                .precision = single ? KUGEL_PRECISION_F32 : KUGEL_PRECISION_F64,
                                .nterms = 3,
                                .terms = terms};
  double *u = random_reals(LEAD * NODES, 7), *want = calloc(LEAD * NODES, sizeof *want),
         *got = calloc(LEAD * NODES, sizeof *got);
  float *narrow = floats_of(u, LEAD * NODES);
  kugel_stencil *plan;
  CHECK_OK(kugel_stencil_create(ctx, &o, &plan));
  CHECK(plan->gpu->side[0].edges == 0);
  CHECK(plan->gpu->side[1].edges == NODES - (N0 - 2) * (N1 - 2) * (N2 - 2));
  kugel_stencil_destroy(plan);
  apply_there(NULL, &o, true, LEAD, single ? (void *)narrow : u, want);
  apply_there(ctx, &o, true, LEAD, single ? (void *)narrow : u, got);
  CHECK_LE(distance(single, got, want, LEAD * NODES), single ? 2e-6 : 4e-15);
  free(u), free(want), free(got), free(narrow);
}

int main(void)
{
  kugel_device_info info;
  for (int i = 0; every_device(&i, true, &info);) {
    kugel_ctx *ctx = every_sound_context(&info);
    if (!ctx)
      continue;
    for (int derivative = 1; derivative <= 2; derivative++) {
      CASE(every_title(&info, derivative == 1 ? "first derivatives" : "second derivatives"))
      for (int order = 2; order <= 8; order += 2)
        check(ctx, order, derivative, order == 4);
    }
    kugel_ctx_destroy(ctx);
  }
  END();
}
