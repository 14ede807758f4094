/* SPDX-License-Identifier: BSD-3-Clause */
/* ISA: once, LABEL: long: OpenCL compilers take their time. */
/* Stencils on every device present: waves in closed form, adjoints, bits, steps in time beside the CPU's. */
#include "stencil/device.h"

static const int64_t sizes[4][3] = {{300}, {19, 70}, {11, 12, 26}, {37, 18, 40}};

/* Steps of both methods, an odd and an even number, and their transposes. */
static void steps(kugel_ctx *ctx, int ndim, int order, kugel_stencil_boundary b, bool single)
{
  const int64_t *n = sizes[ndim];
  kugel_stencil_opts o = {.size = sizeof o,
                          .ndim = ndim,
                          .n = n,
                          .order = order,
                          .precision = single ? KUGEL_PRECISION_F32 : KUGEL_PRECISION_F64,
                          .fields = 2,
                          .outs = 2};
  const int64_t size = nodes_of(&o);
  double *c = random_reals(size, 3), *x = random_reals(4 * size, 4);
  for (int64_t i = 0; i < size; i++)
    c[i] = 1 + 0.3 * c[i];
  float *f = floats_of(c, size), *g = floats_of(x, 4 * size);
  const void *array = single ? (void *)f : c;
  kugel_stencil_term terms[5] = {{.factor = 1, .coefficient = array},
                                 {.factor = 1},
                                 {.field = 1, .out = 1, .factor = 0.7, .coefficient = array},
                                 {.field = 1, .factor = 0.1},
                                 {.field = 0, .out = 1, .factor = -0.1}};
  terms[0].derivative[0] = terms[1].derivative[ndim - 1] = terms[2].derivative[ndim - 1] = 2;
  o.terms = terms;
  o.nterms = 5;
  set_boundary(&o, b);
  kugel_stencil *plan[2] = {NULL, NULL};
  CHECK_OK(kugel_stencil_create(NULL, &o, &plan[0]));
  CHECK_OK(kugel_stencil_create(ctx, &o, &plan[1]));
  void *state[2] = {malloc((size_t)size * 32), malloc((size_t)size * 32)};
  for (int k = 0; k < 8 && plan[1]; k++) {
    const bool leapfrog = k % 2;
    int64_t shape[5] = {leapfrog ? 2 : 1, 2};
    memcpy(shape + 2, n, sizeof *n * (size_t)ndim);
    for (int there = 0; there < 2; there++) {
      memcpy(state[there], single ? (void *)g : x, (size_t)size * 4 * (single ? 4 : 8));
      const kugel_array a = {.data = state[there],
                             .device = {KUGEL_CPU, 0},
                             .ndim = ndim + 1 + leapfrog,
                             .dtype = single ? KUGEL_F32 : KUGEL_F64,
                             .shape = shape + !leapfrog};
      CHECK_OK((k & 2 ? kugel_stencil_advance_adjoint : kugel_stencil_advance)(
          plan[there], leapfrog ? KUGEL_STENCIL_LEAPFROG : KUGEL_STENCIL_RUNGE_KUTTA, leapfrog ? 0.3 : 0.1,
          4 + k / 4, &a, NULL));
    }
    CHECK_LE(distance(single, state[1], state[0], size * (leapfrog ? 4 : 2)), single ? 1e-5 : 2e-14);
  }
  kugel_stencil_destroy(plan[0]);
  kugel_stencil_destroy(plan[1]);
  free(c), free(x), free(f), free(g), free(state[0]), free(state[1]);
}

/* <v, L u> = <L^T v, u>, of walls whose transposes are summed from tables at the ends. */
static void adjoints(kugel_ctx *ctx)
{
  for (int b = 0; b < 5; b++) {
    const kugel_stencil_term terms[3] = {{.derivative = {2}, .factor = 1},
                                         {.derivative = {1, 0, 1}, .factor = -2},
                                         {.derivative = {0, 1}, .factor = 0.5}};
    kugel_stencil_opts o = {
        .size = sizeof o, .ndim = 3, .n = (int64_t[]){23, 20, 35}, .order = 4, .nterms = 3, .terms = terms};
    set_boundary(&o, every_boundary[b]);
    const int64_t n = nodes_of(&o);
    double *u = random_reals(n, 1), *v = random_reals(n, 2), *lu = malloc((size_t)n * 8),
           *lv = malloc((size_t)n * 8);
    apply_there(ctx, &o, false, 1, u, lu);
    apply_there(ctx, &o, true, 1, v, lv);
    long double left = 0, right = 0, size = 0;
    for (int64_t i = 0; i < n; i++) {
      left += (long double)v[i] * lu[i];
      right += (long double)u[i] * lv[i];
      size += fabsl((long double)v[i] * lu[i]);
    }
    CHECK_LE((double)(fabsl(left - right) / size), 1e-14);
    free(u), free(v), free(lu), free(lv);
  }
}

/* A wave is an eigenvector, whose eigenvalue is the symbol of the weights. */
static void waves(kugel_ctx *ctx)
{
  static const double c[4][5] = {{-2, 1},
                                 {-5.0 / 2, 4.0 / 3, -1.0 / 12},
                                 {-49.0 / 18, 3.0 / 2, -3.0 / 20, 1.0 / 90},
                                 {-205.0 / 72, 8.0 / 5, -1.0 / 5, 8.0 / 315, -1.0 / 560}};
  const int64_t n[3] = {40, 24, 80}, size = n[0] * n[1] * n[2];
  double *u = malloc((size_t)size * 8), *v = malloc((size_t)size * 8);
  const kugel_stencil_term terms[3] = {{.derivative = {2, 0, 0}, .factor = 1},
                                       {.derivative = {0, 2, 0}, .factor = 1},
                                       {.derivative = {0, 0, 2}, .factor = 1}};
  for (int order = 2; order <= 8; order += 2) {
    const kugel_stencil_opts o = {
        .size = sizeof o, .ndim = 3, .n = n, .order = order, .nterms = 3, .terms = terms};
    const double k[3] = {2 * M_PI * 3 / 40, 2 * M_PI * 5 / 24, 2 * M_PI * 7 / 80};
    double symbol = 0;
    for (int d = 0; d < 3; d++)
      for (int j = 0; j <= order / 2; j++)
        symbol += c[order / 2 - 1][j] * (j ? 2 * cos(j * k[d]) : 1);
    for (int64_t i = 0; i < size; i++)
      u[i] = cos(k[0] * (double)(i / (n[1] * n[2])) + k[1] * (double)(i / n[2] % n[1]) +
                 k[2] * (double)(i % n[2]));
    apply_there(ctx, &o, false, 1, u, v);
    double worst = 0;
    for (int64_t i = 0; i < size; i++)
      worst = fmax(worst, fabs(v[i] - symbol * u[i]));
    CHECK_LE(worst, 1e-13);
  }
  free(u), free(v);
}

/* Grids of many slabs and of one: the same bits. */
static void slabs(kugel_ctx *ctx)
{
  enum { LEAD = 40 };
  const kugel_stencil_term terms[2] = {{.derivative = {2}, .factor = 1},
                                       {.derivative = {0, 0, 2}, .factor = 1}};
  const kugel_stencil_opts o = {
      .size = sizeof o, .ndim = 3, .n = (int64_t[]){150, 5, 11}, .order = 2, .nterms = 2, .terms = terms};
  const int64_t n = nodes_of(&o);
  double *u = random_reals(n, 1), *many = malloc((size_t)n * 8 * LEAD), *one = malloc((size_t)n * 8),
         *out = malloc((size_t)n * 8 * LEAD);
  for (int i = 0; i < LEAD; i++)
    memcpy(many + i * n, u, (size_t)n * 8);
  apply_there(ctx, &o, false, 1, u, one);
  apply_there(ctx, &o, false, LEAD, many, out);
  for (int i = 0; i < LEAD; i++)
    CHECK(!memcmp(out + i * n, one, (size_t)n * 8));
  free(u), free(many), free(one), free(out);
}

int main(void)
{
  kugel_device_info info;
  for (int i = 0; every_device(&i, true, &info);) {
    kugel_ctx *ctx = every_sound_context(&info);
    if (!ctx)
      continue;
    CASE(every_title(&info, "waves are eigenvectors")) waves(ctx);
    CASE(every_title(&info, "adjoint to rounding")) adjoints(ctx);
    CASE(every_title(&info, "slabs")) slabs(ctx);
    CASE(every_title(&info, "steps in time"))
    {
      steps(ctx, 1, 2, KUGEL_STENCIL_EVEN, false);
      steps(ctx, 2, 8, KUGEL_STENCIL_ONE_SIDED, true);
      steps(ctx, 3, 6, KUGEL_STENCIL_ODD, false);
      for (int c = 0; c < 60 && getenv("KUGEL_TEST_ALL"); c++) // all orders and ends
        steps(ctx, 1 + c % 3, 2 + 2 * (c / 3 % 4), every_boundary[c / 12], c % 2);
    }
    kugel_ctx_destroy(ctx);
  }
  END();
}
