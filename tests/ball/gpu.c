/* SPDX-License-Identifier: BSD-3-Clause */
/* Transforms in the ball on devices: against the CPU, direct sums and adjoints; arrays of the device, queues, limits. */
#include "core/ctx.h"
#include "device/device.h"
#include "device/every.h"
#include "fields.h"

static const kugel_ball_opts shapes[] = {
    FIRST_SHAPE,
    {.lmax = 9,
     .n = 6,
     .vectors = 1,
     .mmax = 4,
     .type = KUGEL_WORLAND_SPHERE_ENERGY,
     .truncation = KUGEL_BALL_TRIANGULAR,
     GRID},
    {.lmax = 1, .n = 1, .vectors = 1, GRID},
    {.lmax = 6, .n = 5, .vectors = 1, .mmax = KUGEL_ONLY_M0, .engine = KUGEL_WORLAND_DENSE, GRID},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static void against_cpu(kugel_ctx *ctx, const kugel_ball_opts *o)
{
  ball b = ball_make(*o);
  kugel_ball *plan = plan_on(ctx, &b);
  for (int at = 0; at < 3 * VERBS; at++) {
    int kind = at / VERBS, i = at % VERBS;
    bool from = i == 0 || i == 3;
    view in, out;
    double *x = random_field(&b, kind, from, 7 + (uint64_t)i);
    int64_t n = reals(&b, kind, !from);
    double *want = calloc((size_t)n, 8), *got = calloc((size_t)n, 8);
    CHECK_OK(verbs[i](b.plan, kind, view_of(&in, &b, kind, from, 1, x),
                      view_of(&out, &b, kind, !from, 1, want), NULL));
    out.a.data = got;
    CHECK_OK(verbs[i](plan, kind, &in.a, &out.a, NULL));
    CHECK_CLOSE(got, want, (size_t)n, 1e-13);
    free(x);
    free(want);
    free(got);
  }
  kugel_ball_destroy(plan);
  ball_free(&b);
}

/* <S c, f> = <c, S* f> and the same of analysis, all on the device. */
static void adjoints(kugel_ctx *ctx, const kugel_ball_opts *o, int kind)
{
  ball b = ball_make(*o);
  kugel_ball *plan = plan_on(ctx, &b);
  one_adjoint(&b, plan, kind, false, kugel_ball_synthesis, kugel_ball_synthesis_adjoint, 1e-13);
  one_adjoint(&b, plan, kind, false, kugel_ball_analysis_adjoint, kugel_ball_analysis, 1e-13);
  kugel_ball_destroy(plan);
  ball_free(&b);
}

static void sums(kugel_ctx *ctx)
{
  ball b = ball_make(shapes[0]);
  kugel_ball *plan = plan_on(ctx, &b);
  double *c = ball_random(&b, 1, 1), *f = ball_values(&b, 1, 0);
  view in, out;
  CHECK_OK(kugel_ball_synthesis(plan, KUGEL_BALL_SCALAR, view_of(&in, &b, 0, true, 1, c),
                                view_of(&out, &b, 0, false, 1, f), NULL));
  CHECK_LE(truth_sampled(&b, c, f, 30), 1e-13);
  CHECK_OK(kugel_ball_analysis(plan, KUGEL_BALL_SCALAR, &out.a, &in.a, NULL));
  double *want = ball_random(&b, 1, 1);
  CHECK_CLOSE(c, want, (size_t)(2 * b.coeffs), 1e-13);
  kugel_ball_destroy(plan);
  ball_free(&b);
  free(want);
  free(c);
  free(f);
}

/* Arrays that stay on the device, begin within their memory, and hold two fields; a queue. */
static void on_device(kugel_ctx *ctx)
{
  ball b = ball_make(shapes[0]);
  kugel_ball *plan = plan_on(ctx, &b);
  kugel_queue *queue;
  size_t at = 512;
  CHECK_OK(kugel_queue_create(ctx, &queue));
  for (int kind = 0; kind < 3; kind++) {
    int64_t nc = 2 * reals(&b, kind, true), nf = 2 * reals(&b, kind, false);
    double *c = malloc((size_t)nc * 8), *want = malloc((size_t)nf * 8), *got = malloc((size_t)nf * 8);
    for (int i = 0; i < 2; i++) {
      double *one = random_field(&b, kind, true, 20 + (uint64_t)i);
      memcpy(c + i * (nc / 2), one, (size_t)nc * 4);
      free(one);
    }
    view in, out;
    CHECK_OK(kugel_ball_synthesis(b.plan, kind, view_of(&in, &b, kind, true, 2, c),
                                  view_of(&out, &b, kind, false, 2, want), NULL));
    void *near_c, *near_f;
    CHECK_OK(kugel_device_alloc(ctx, (size_t)nc * 8 + at, &near_c));
    CHECK_OK(kugel_device_alloc(ctx, (size_t)nf * 8 + at, &near_f));
    CHECK_OK(kugel_device_upload(ctx, near_c, at, c, (size_t)nc * 8, NULL));
    in.a.device = out.a.device = ctx->device;
    in.a.byte_offset = out.a.byte_offset = at;
    in.a.data = near_c;
    out.a.data = near_f;
    CHECK_OK(kugel_ball_synthesis(plan, kind, &in.a, &out.a, queue));
    CHECK_OK(kugel_device_download(ctx, got, near_f, at, (size_t)nf * 8, queue));
    CHECK_OK(kugel_queue_wait(queue));
    CHECK_CLOSE(got, want, (size_t)nf, 1e-13);
    CHECK_OK(kugel_device_fill(ctx, near_c, at, 0xff, (size_t)nc * 8, queue));
    CHECK_OK(kugel_ball_analysis(plan, kind, &out.a, &in.a, queue));
    double *back = malloc((size_t)nc * 8);
    CHECK_OK(kugel_device_download(ctx, back, near_c, at, (size_t)nc * 8, queue));
    CHECK_OK(kugel_queue_wait(queue));
    CHECK_CLOSE(back, c, (size_t)nc, 1e-13);
    CHECK_IS(kugel_ball_synthesis(b.plan, kind, &in.a, &out.a, NULL), KUGEL_EDEVICE);
    out.a.data = near_c;
    CHECK_IS(kugel_ball_synthesis(plan, kind, &in.a, &out.a, queue), KUGEL_EINVAL);
    kugel_device_free(ctx, near_c);
    kugel_device_free(ctx, near_f);
    free(back);
    free(c);
    free(want);
    free(got);
  }
  kugel_queue_destroy(queue);
  kugel_ball_destroy(plan);
  ball_free(&b);
}

#define SAYS(expr, status, word)                                                                             \
  do {                                                                                                       \
    CHECK_IS(expr, status);                                                                                  \
    if (!strstr(kugel_last_error(), word))                                                                   \
      CHECK_FAIL("'%s' does not say '%s'", kugel_last_error(), word);                                        \
  } while (0)

/* Values that are not finite; other points; what runs on the CPU; limits of memory. */
static void rules(kugel_ctx *ctx)
{
  double radii[] = {1, 0.25, 0};
  kugel_grid *grid;
  CHECK_OK(kugel_grid_create(
      NULL, &(kugel_grid_opts){.size = sizeof(kugel_grid_opts), .kind = KUGEL_GRID_HEALPIX, .nside = 4},
      &grid));
  ball b = ball_make((kugel_ball_opts){.lmax = 6, .n = 4, .radii = radii, .nr = 3, .sphere = grid});
  kugel_ball *plan = plan_on(ctx, &b);
  double *c = ball_random(&b, 1, 5), *want = ball_values(&b, 1, 0), *got = ball_values(&b, 1, 0);
  kugel_array *coeffs = KUGEL_ARRAY(c, KUGEL_C128, b.s.nlm, b.s.n),
              *values = KUGEL_ARRAY(want, KUGEL_F64, 3, b.s.nphi);
  CHECK_OK(kugel_ball_synthesis(b.plan, 0, coeffs, values, NULL));
  values->data = got;
  CHECK_OK(kugel_ball_synthesis(plan, 0, coeffs, values, NULL));
  CHECK_CLOSE(got, want, (size_t)b.points, 1e-13);
  SAYS(kugel_ball_analysis(plan, 0, values, coeffs, NULL), KUGEL_EINVAL, "has no analysis");
  got[5] = NAN;
  SAYS(kugel_ball_synthesis_adjoint(plan, 0, values, coeffs, NULL), KUGEL_EINVAL, "1 values are NaN");
  kugel_ball_destroy(plan);
  ball_free(&b);
  kugel_grid_destroy(grid);
  free(want);
  free(got);
  free(c);

  b = ball_make((kugel_ball_opts){.lmax = 6, .n = 4, GRID});
  plan = plan_on(ctx, &b);
  c = ball_random(&b, 1, 5);
  double *x = calloc((size_t)b.coeffs, 16), *y = calloc((size_t)b.coeffs, 16), e[2][7];
  coeffs = KUGEL_ARRAY(c, KUGEL_C128, b.s.nlm, b.s.n);
  CHECK_OK(kugel_ball_apply(b.plan, KUGEL_BALL_LAPLACIAN, coeffs, KUGEL_ARRAY(x, KUGEL_C128, b.s.nlm, b.s.n),
                            NULL));
  CHECK_OK(
      kugel_ball_apply(plan, KUGEL_BALL_LAPLACIAN, coeffs, KUGEL_ARRAY(y, KUGEL_C128, b.s.nlm, b.s.n), NULL));
  CHECK_CLOSE(y, x, (size_t)(2 * b.coeffs), 1e-15);
  CHECK_OK(kugel_ball_spectrum(b.plan, 0, 0, coeffs, KUGEL_ARRAY(e[0], KUGEL_F64, 7), NULL));
  CHECK_OK(kugel_ball_spectrum(plan, 0, 0, coeffs, KUGEL_ARRAY(e[1], KUGEL_F64, 7), NULL));
  CHECK_CLOSE(e[1], e[0], 7, 1e-13);
  kugel_ball_destroy(plan);
  CHECK_OK(kugel_ctx_limit_memory(ctx, 1000));
  SAYS(kugel_ball_create(ctx, &b.o, &plan), KUGEL_ENOMEM, "the limit of the context is 1000");
  CHECK_OK(kugel_ctx_limit_memory(ctx, 0));
  ball_free(&b);
  free(c);
  free(x);
  free(y);
}

int main(void)
{
  kugel_device_info info;
  for (int index = 0; every_device(&index, true, &info);) {
    kugel_ctx *ctx;
    if (!info.fp64)
      continue;
    CHECK_OK(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = info.name}, &ctx));
    CASE(every_title(&info, "direct sums"))
    {
      sums(ctx);
    }
    CASE(every_title(&info, "the CPU's results"))
    {
      for (int i = 0; i < SHAPES; i++)
        against_cpu(ctx, &shapes[i]);
    }
    CASE(every_title(&info, "adjoints"))
    {
      for (int kind = 0; kind < 3; kind++)
        adjoints(ctx, &shapes[0], kind);
    }
    CASE(every_title(&info, "arrays of the device, queues"))
    {
      on_device(ctx);
    }
    CASE(every_title(&info, "rules"))
    {
      rules(ctx);
    }
    kugel_ctx_destroy(ctx);
  }
  END();
}
