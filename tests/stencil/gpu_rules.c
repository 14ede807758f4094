/* SPDX-License-Identifier: BSD-3-Clause */
/* ISA: once. Stencils on every device present: arrays in device memory and queues, bad input, failures of the driver and of memory. */
#include "device/every.h"
#include "device/faults.h"
#include "stencil/problem.h"

enum { N0 = 20, N1 = 33, NODES = N0 * N1 };
static const int64_t nodes[2] = {N0, N1};
static const kugel_stencil_term terms[2] = {{.derivative = {2, 0}, .factor = 1},
                                            {.derivative = {0, 2}, .factor = 1}};
static const kugel_stencil_opts laplacian = {
    .size = sizeof laplacian, .ndim = 2, .n = nodes, .order = 2, .nterms = 2, .terms = terms};

/* In device memory, from the middle of an allocation, on a queue: the bits of host arrays. */
static void layouts(kugel_ctx *ctx, const kugel_device_info *info)
{
  enum { SKIP_NUMBERS = 5, LEAD = 3 };
  double *u = random_reals(LEAD * NODES + SKIP_NUMBERS, 1), want[LEAD * NODES], got[LEAD * NODES],
         state[2 * NODES], stepped[2 * NODES];
  const size_t bytes = (LEAD * NODES + SKIP_NUMBERS) * sizeof *u;
  void *memory[2];
  kugel_queue *queue;
  kugel_stencil *plan;
  CHECK_OK(kugel_queue_create(ctx, &queue));
  CHECK_OK(kugel_stencil_create(ctx, &laplacian, &plan));
  for (int i = 0; i < 2; i++) {
    CHECK_OK(kugel_device_alloc(ctx, bytes, &memory[i]));
    CHECK_OK(kugel_device_upload(ctx, memory[i], 0, u, bytes, NULL));
  }
  CHECK_OK(kugel_stencil_apply(plan, KUGEL_ARRAY(u + SKIP_NUMBERS, KUGEL_F64, LEAD, 1, N0, N1),
                               KUGEL_ARRAY(want, KUGEL_F64, LEAD, 1, N0, N1), NULL));
  kugel_array in = *KUGEL_ARRAY(memory[0], KUGEL_F64, LEAD, 1, N0, N1),
              out = *KUGEL_ARRAY(memory[1], KUGEL_F64, LEAD, 1, N0, N1),
              levels = *KUGEL_ARRAY(memory[0], KUGEL_F64, 2, 1, N0, N1);
  in.device = out.device = levels.device = info->device;
  in.byte_offset = levels.byte_offset = SKIP_NUMBERS * sizeof *u;
  CHECK_OK(kugel_stencil_apply(plan, &in, &out, queue));
  CHECK_OK(kugel_device_download(ctx, got, memory[1], 0, sizeof got, queue));
  CHECK_OK(kugel_queue_wait(queue));
  CHECK(!memcmp(got, want, sizeof got));
  CHECK_IS(kugel_stencil_apply(plan, &in, &in, queue), KUGEL_EINVAL); // overlap
  memcpy(state, u + SKIP_NUMBERS, sizeof state);
  CHECK_OK(kugel_stencil_advance(plan, KUGEL_STENCIL_LEAPFROG, 0.4, 7,
                                 KUGEL_ARRAY(state, KUGEL_F64, 2, 1, N0, N1), NULL));
  CHECK_OK(kugel_stencil_advance(plan, KUGEL_STENCIL_LEAPFROG, 0.4, 3, &levels, queue));
  CHECK_OK(kugel_stencil_advance(plan, KUGEL_STENCIL_LEAPFROG, 0.4, 4, &levels, queue));
  CHECK_OK(kugel_device_download(ctx, stepped, memory[0], SKIP_NUMBERS * sizeof *u, sizeof stepped, queue));
  CHECK_OK(kugel_queue_wait(queue));
  CHECK(!memcmp(state, stepped, sizeof state));
  kugel_stencil_destroy(plan);
  kugel_queue_destroy(queue);
  for (int i = 0; i < 2; i++)
    kugel_device_free(ctx, memory[i]);
  free(u);
}

static void bad_input(kugel_ctx *ctx)
{
  kugel_stencil *plan = NULL;
  double u[2 * NODES] = {0}, v[NODES];
  kugel_array in = *KUGEL_ARRAY(u, KUGEL_F64, 1, N0, N1), out = *KUGEL_ARRAY(v, KUGEL_F64, 1, N0, N1),
              elsewhere = in;
  kugel_queue *queue;
  CHECK_OK(kugel_stencil_create(ctx, &laplacian, &plan));
  CHECK_IS(kugel_stencil_advance(plan, KUGEL_STENCIL_LEAPFROG, 0.1, 1, &in, NULL), KUGEL_ESHAPE);
  CHECK_IS(kugel_stencil_apply(plan, &in, KUGEL_ARRAY(v, KUGEL_F64, 1, N1, N0), NULL), KUGEL_ESHAPE);
  elsewhere.device.type = KUGEL_CUDA + 100;
  CHECK_IS(kugel_stencil_apply(plan, &elsewhere, &out, NULL), KUGEL_EDEVICE);
  CHECK_OK(kugel_queue_create(NULL, &queue));
  CHECK_IS(kugel_stencil_apply(plan, &in, &out, queue), KUGEL_EINVAL);
  kugel_queue_destroy(queue);
  CHECK_OK(kugel_stencil_advance(plan, KUGEL_STENCIL_RUNGE_KUTTA, 0.1, 0, &in, NULL));
  kugel_stencil_destroy(plan);
}

/* ---- failures ---- */

static kugel_status all_calls(kugel_ctx *ctx, void *arg)
{
  double *const *data = arg;
  kugel_stencil *plan = NULL;
  kugel_stencil_term own[2] = {terms[0], terms[1]};
  kugel_stencil_opts o = laplacian;
  own[0].coefficient = data[0];
  o.terms = own;
  set_boundary(&o, KUGEL_STENCIL_ODD);
  kugel_array levels = *KUGEL_ARRAY(data[1], KUGEL_F64, 2, 1, N0, N1),
              now = *KUGEL_ARRAY(data[1], KUGEL_F64, 1, N0, N1),
              result = *KUGEL_ARRAY(data[2], KUGEL_F64, 1, N0, N1);
  kugel_status s = kugel_stencil_create(ctx, &o, &plan);
  if (!s)
    s = kugel_stencil_apply(plan, &now, &result, NULL);
  if (!s)
    s = kugel_stencil_adjoint(plan, &now, &result, NULL);
  if (!s)
    s = kugel_stencil_advance_adjoint(plan, KUGEL_STENCIL_LEAPFROG, 0.1, 3, &levels, NULL);
  if (!s)
    s = kugel_stencil_advance(plan, KUGEL_STENCIL_RUNGE_KUTTA, 0.01, 1, &now, NULL);
  kugel_stencil_destroy(plan);
  o = laplacian; // several steps per pass, and single ones next to ends
  o.steps_per_pass = 2;
  set_boundary(&o, KUGEL_STENCIL_EVEN);
  plan = NULL;
  if (!s)
    s = kugel_stencil_create(ctx, &o, &plan);
  if (!s)
    s = kugel_stencil_advance_adjoint(plan, KUGEL_STENCIL_LEAPFROG, 0.1, 9, &levels, NULL);
  if (!s)
    s = kugel_stencil_advance(plan, KUGEL_STENCIL_RUNGE_KUTTA, 0.01, 1, &now, NULL);
  kugel_stencil_destroy(plan);
  o = laplacian;
  o.compact = 1; // and implicit ones
  o.order = 4;
  plan = NULL;
  if (!s)
    s = kugel_stencil_create(ctx, &o, &plan);
  if (!s)
    s = kugel_stencil_apply(plan, &now, &result, NULL);
  if (!s)
    s = kugel_stencil_advance(plan, KUGEL_STENCIL_ADI, 0.1, 1, &now, NULL);
  kugel_stencil_destroy(plan);
  o = laplacian;
  o.terms = own;
  plan = NULL;
  if (!s)
    s = kugel_stencil_create(ctx, &o, &plan);
  if (!s)
    s = kugel_stencil_advance(plan, KUGEL_STENCIL_ADI, 0.1, 1, &now, NULL);
  kugel_stencil_destroy(plan);
  return s;
}

static void faults(kugel_ctx *ctx)
{
  double *data[] = {random_reals(NODES, 1), random_reals(2 * NODES, 2), random_reals(NODES, 3)};
  sweep_driver(ctx, INT64_MAX, all_calls, data);
  sweep_memory(ctx, INT64_MAX, all_calls, data);
  free(data[0]), free(data[1]), free(data[2]);
}

int main(void)
{
  kugel_device_info info;
  for (int i = 0; every_device(&i, true, &info);) {
    kugel_ctx *ctx = every_sound_context(&info);
    if (!ctx)
      continue;
    CASE(every_title(&info, "device memory, a queue")) layouts(ctx, &info);
    CASE(every_title(&info, "bad input")) bad_input(ctx);
    CASE(every_title(&info, "failures")) faults(ctx);
    kugel_ctx_destroy(ctx);
  }
  END();
}
