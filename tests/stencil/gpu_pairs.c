/* SPDX-License-Identifier: BSD-3-Clause */
/* ISA: once, LABEL: long: OpenCL compilers take their time. */
/* Wide differences on every device present, where a thread has two columns: rows of an even and of an odd number of nodes, arrays that begin
 * between pairs, ends and coefficients; the CPU's numbers, and the same bits wherever an array begins. */
#include "stencil/device.h"

enum { N0 = 11, N1 = 21, LEAD = 2, MOST = LEAD * N0 * N1 * 75 };

typedef struct problem {
  const char *name;
  int64_t columns;
  int order;
  bool single, coefficient, adjoint;
  kugel_stencil_boundary rows, ends; /* of the axis of rows; of the last axis */
} problem;

static const problem problems[] = {
    {"even rows", 70, 8, false, false, false, KUGEL_STENCIL_PERIODIC, KUGEL_STENCIL_PERIODIC},
    {"odd rows", 75, 8, false, false, false, KUGEL_STENCIL_PERIODIC, KUGEL_STENCIL_PERIODIC},
    {"order 6, signs beyond rows", 66, 6, false, false, false, KUGEL_STENCIL_ODD, KUGEL_STENCIL_PERIODIC},
    {"mirrors at ends of rows, floats", 66, 8, true, false, false, KUGEL_STENCIL_EVEN, KUGEL_STENCIL_EVEN},
    {"transposed, a coefficient", 66, 8, false, true, true, KUGEL_STENCIL_PERIODIC, KUGEL_STENCIL_PERIODIC},
    {"transposed, a coefficient, floats, walls", 70, 6, true, true, true, KUGEL_STENCIL_ODD,
     KUGEL_STENCIL_ZERO},
    {"a coefficient", 66, 8, false, true, false, KUGEL_STENCIL_ZERO, KUGEL_STENCIL_PERIODIC},
};

/* Of arrays in device memory that begin `skip` numbers after its start. */
static void run_at(kugel_ctx *ctx, const kugel_device *device, kugel_stencil *plan, const problem *p,
                   const void *in, void *out, int64_t skip)
{
  const size_t word = p->single ? 4 : 8, size = (size_t)(LEAD * N0 * N1 * p->columns) * word;
  void *memory[2] = {NULL, NULL};
  kugel_array a[2];
  int64_t shape[5] = {LEAD, 1, N0, N1, p->columns};
  for (int i = 0; i < 2; i++) {
    CHECK_OK(kugel_device_alloc(ctx, size + 64, &memory[i]));
    a[i] = (kugel_array){.data = memory[i],
                         .device = *device,
                         .ndim = 5,
                         .dtype = p->single ? KUGEL_F32 : KUGEL_F64,
                         .shape = shape,
                         .byte_offset = (size_t)skip * word};
  }
  CHECK_OK(kugel_device_upload(ctx, memory[0], (size_t)skip * word, in, size, NULL));
  CHECK_OK((p->adjoint ? kugel_stencil_adjoint : kugel_stencil_apply)(plan, &a[0], &a[1], NULL));
  CHECK_OK(kugel_device_download(ctx, out, memory[1], (size_t)skip * word, size, NULL));
  for (int i = 0; i < 2; i++)
    kugel_device_free(ctx, memory[i]);
}

static void check(kugel_ctx *ctx, const kugel_device *device, const problem *p)
{
  const int64_t n[3] = {N0, N1, p->columns}, size = LEAD * N0 * N1 * p->columns;
  double *u = random_reals(size, 5), *c = random_reals(size, 6), *got = malloc(MOST * 8),
         *moved = malloc(MOST * 8), *want = malloc(MOST * 8);
  float *uf = floats_of(u, size), *cf = floats_of(c, size);
  const void *in = p->single ? (void *)uf : u, *by = !p->coefficient ? NULL : p->single ? (void *)cf : c;
  const kugel_stencil_term terms[3] = {{.derivative = {2, 0, 0}, .factor = 1, .coefficient = by},
                                       {.derivative = {0, 2, 0}, .factor = 0.5, .coefficient = by},
                                       {.derivative = {0, 0, 2}, .factor = 2, .coefficient = by}};
  const kugel_stencil_opts o = {.size = sizeof o,
                                .ndim = 3,
                                .n = n,
                                .order = p->order,
                                .precision = p->single ? KUGEL_PRECISION_F32 : KUGEL_PRECISION_F64,
                                .boundary = {{0, 0}, {p->rows, p->rows}, {p->ends, p->ends}},
                                .nterms = 3,
                                .terms = terms};
  kugel_stencil *plan = NULL;
  CHECK_OK(kugel_stencil_create(ctx, &o, &plan));
  if (plan) {
    run_at(ctx, device, plan, p, in, got, 0);
    run_at(ctx, device, plan, p, in, moved, 3);
    apply_there(NULL, &o, p->adjoint, LEAD, in, want);
    CHECK_LE(distance(p->single, got, want, size), p->single ? 2e-6 : 4e-15);
    CHECK(!memcmp(got, moved, (size_t)size * (p->single ? 4 : 8)));
  }
  kugel_stencil_destroy(plan);
  free(u), free(c), free(got), free(moved), free(want), free(uf), free(cf);
}

int main(void)
{
  kugel_device_info info;
  for (int i = 0; every_device(&i, true, &info);) {
    kugel_ctx *ctx = every_sound_context(&info);
    if (!ctx)
      continue;
    for (size_t k = 0; k < sizeof problems / sizeof *problems; k++) {
      CASE(every_title(&info, problems[k].name))
      check(ctx, &info.device, &problems[k]);
    }
    kugel_ctx_destroy(ctx);
  }
  END();
}
