/* SPDX-License-Identifier: BSD-3-Clause */
/* ISA: once, LABEL: long: OpenCL compilers take their time. */
/* Several steps per pass on every device present: the bits of single steps, for every boundary, order and method. */
#include "stencil/device.h"

typedef struct problem {
  const char *name;
  int ndim, order;
  kugel_stencil_boundary boundary[3][2];
  bool single, coefficient, cross, tilt, transposed;
  int most; /* steps per pass asked for, where their choice would be single steps on so small a grid */
  int64_t n[3];
} problem;

#define P KUGEL_STENCIL_PERIODIC
#define O KUGEL_STENCIL_ODD
#define E KUGEL_STENCIL_EVEN
#define Z KUGEL_STENCIL_ZERO
#define S KUGEL_STENCIL_ONE_SIDED

static const problem problems[] = {
    {"3-D, periodic, a speed", 3, 2, {{P, P}, {P, P}, {P, P}}, .coefficient = true, .n = {29, 41, 83}},
    {"3-D, walls, a speed", 3, 2, {{O, E}, {E, O}, {O, O}}, .coefficient = true, .n = {51, 30, 67}},
    {"3-D, transposed walls, a speed",
     3,
     2,
     {{E, Z}, {P, P}, {O, E}},
     .coefficient = true,
     .transposed = true,
     .most = 3,
     .n = {50, 35, 66}},
    {"3-D, one-sided ends, order 4", 3, 4, {{S, S}, {P, P}, {E, S}}, .most = 2, .n = {60, 44, 75}},
    {"3-D, floats, mixed ends",
     3,
     2,
     {{P, P}, {Z, E}, {O, Z}},
     .single = true,
     .coefficient = true,
     .n = {30, 45, 90}},
    {"3-D, a mixed derivative in the plane",
     3,
     4,
     {{P, P}, {P, P}, {P, P}},
     .cross = true,
     .n = {23, 33, 65}},
    {"3-D, transposed walls",
     3,
     2,
     {{O, E}, {Z, O}, {E, E}},
     .transposed = true,
     .most = 4,
     .n = {50, 35, 66}},
    {"2-D, transposed, a speed",
     2,
     4,
     {{P, P}, {Z, Z}},
     .coefficient = true,
     .transposed = true,
     .n = {60, 140}},
    {"2-D, order 2, walls", 2, 2, {{E, E}, {O, O}}, .coefficient = true, .n = {120, 530}},
    {"2-D, order 8, transposed one-sided ends", 2, 8, {{S, S}, {O, O}}, .transposed = true, .n = {120, 90}},
    {"2-D, order 8", 2, 8, {{P, P}, {P, P}}, .n = {90, 150}},
    {"2-D, floats, order 6, first derivatives",
     2,
     6,
     {{Z, Z}, {E, O}},
     .single = true,
     .tilt = true,
     .n = {80, 260}},
    {"1-D, order 4", 1, 4, {{O, E}}, .coefficient = true, .n = {1100}},
    {"1-D, along rows alone", 2, 2, {{P, P}, {P, P}}, .n = {1, 700}},
};

static kugel_stencil *make(kugel_ctx *ctx, const problem *q, const void *c, int steps_per_pass)
{
  kugel_stencil_term terms[5] = {{.factor = 0}};
  int count = 0;
  for (int d = 0; d < q->ndim; d++)
    if (q->n[d] > 1) {
      terms[count].factor = 1 + 0.1 * d;
      terms[count].coefficient = c;
      terms[count++].derivative[d] = 2;
    }
  if (!q->coefficient || !q->transposed)
    terms[count++].factor = -0.3; // the field itself, without a coefficient
  if (q->cross) {
    terms[count].factor = 0.2;
    terms[count].derivative[1] = terms[count].derivative[2] = 1;
    count++;
  }
  if (q->tilt) {
    terms[count].factor = 0.1;
    terms[count++].derivative[1] = 1;
  }
  kugel_stencil_opts o = {.size = sizeof o,
                          .ndim = q->ndim,
                          .n = q->n,
                          .order = q->order,
                          .precision = q->single ? KUGEL_PRECISION_F32 : KUGEL_PRECISION_F64,
                          .nterms = count,
                          .terms = terms,
                          .steps_per_pass = steps_per_pass};
  memcpy(o.boundary, q->boundary, sizeof o.boundary);
  kugel_stencil *plan = NULL;
  CHECK_OK(kugel_stencil_create(ctx, &o, &plan));
  return plan;
}

static void advance(const problem *q, const kugel_stencil *plan, bool leapfrog, int64_t steps, void *state)
{
  int64_t shape[5] = {2, 1};
  memcpy(shape + 2, q->n, sizeof *shape * (size_t)q->ndim);
  const kugel_array a = {.data = state,
                         .device = {KUGEL_CPU, 0},
                         .ndim = q->ndim + 1 + leapfrog,
                         .dtype = q->single ? KUGEL_F32 : KUGEL_F64,
                         .shape = shape + !leapfrog};
  CHECK_OK((q->transposed ? kugel_stencil_advance_adjoint : kugel_stencil_advance)(
      plan, leapfrog ? KUGEL_STENCIL_LEAPFROG : KUGEL_STENCIL_RUNGE_KUTTA, leapfrog ? 0.3 : 0.1, steps, &a,
      NULL));
}

/* Steps that are no multiple of those of a pass, an odd and an even number of passes. Blocks of two steps of order 4 need
 * more than the 48 KiB of shared memory that NVIDIA's OpenCL gives. */
static void compare(kugel_ctx *ctx, const problem *q, uint64_t shared_bytes)
{
  const bool roomy = q->ndim < 3 || shared_bytes > 48 << 10;
  int64_t size = 1;
  for (int d = 0; d < q->ndim; d++)
    size *= q->n[d];
  double *c = random_reals(size, 3), *x = random_reals(2 * size, 4);
  for (int64_t i = 0; i < size; i++)
    c[i] = 1 + 0.3 * c[i];
  float *fc = floats_of(c, size), *fx = floats_of(x, 2 * size);
  const size_t bytes = (size_t)size * 2 * (q->single ? 4 : 8);
  const void *first = q->single ? (void *)fx : x, *speed = !q->coefficient ? NULL
                                                           : q->single     ? (void *)fc
                                                                           : c;
  char *want = malloc(bytes), *got = malloc(bytes);
  kugel_stencil *single = make(ctx, q, speed, 1);
  for (int most = q->most; most <= (q->ndim == 2 ? 3 : q->most) && single; most += 3) {
    kugel_stencil *plan = make(ctx, q, speed, most);
    kugel_stencil_info info = {.size = sizeof info};
    CHECK_OK(kugel_stencil_get_info(plan, &info));
    if (most > 1 && !q->transposed)
      CHECK(info.steps_per_pass == most || (q->order > 2 && (!q->most || !roomy)));
    for (int leapfrog = 0; leapfrog < 2; leapfrog++)
      for (int64_t steps = 4; steps <= 7; steps += 3) {
        memcpy(want, first, bytes);
        memcpy(got, first, bytes);
        advance(q, single, leapfrog, steps, want);
        advance(q, plan, leapfrog, steps, got);
        if (memcmp(want, got, bytes))
          CHECK_FAIL("%s, %s, %d steps per pass, %lld steps: differ by %g", q->name,
                     leapfrog ? "leapfrog" : "Runge-Kutta", info.steps_per_pass, (long long)steps,
                     distance(q->single, got, want, size * (leapfrog ? 2 : 1)));
      }
    kugel_stencil_destroy(plan);
  }
  kugel_stencil_destroy(single);
  free(c), free(x), free(fc), free(fx), free(want), free(got);
}

static void bad_input(kugel_ctx *ctx)
{
  const kugel_stencil_term term = {.derivative = {2}, .factor = 1};
  kugel_stencil_opts o = {
      .size = sizeof o, .ndim = 1, .n = (int64_t[]){40}, .nterms = 1, .terms = &term, .steps_per_pass = 9};
  kugel_stencil *plan = NULL;
  CHECK_IS(kugel_stencil_create(ctx, &o, &plan), KUGEL_EINVAL);
  CHECK(strstr(kugel_last_error(), "steps_per_pass is 9, must be 0"));
  o.steps_per_pass = -1;
  CHECK_IS(kugel_stencil_create(ctx, &o, &plan), KUGEL_EINVAL);
}

int main(void)
{
  kugel_device_info info;
  for (int i = 0; every_device(&i, true, &info);) {
    kugel_ctx *ctx = every_sound_context(&info);
    if (!ctx)
      continue;
    for (size_t k = 0; k < sizeof problems / sizeof *problems; k++)
      CASE(every_title(&info, problems[k].name))
      {
        compare(ctx, &problems[k], info.shared_bytes);
      }
    CASE(every_title(&info, "bad input")) bad_input(ctx);
    kugel_ctx_destroy(ctx);
  }
  END();
}
