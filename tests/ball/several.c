/* SPDX-License-Identifier: BSD-3-Clause */
/* Transforms in the ball by several devices, or one device that counts as several: the CPU's results, adjoints, arrays of the first
 * device, few degrees and radii, limits, every driver call and allocation that fails. */
#include "core/alloc.h"
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
    {.lmax = 0, .n = 2, .vectors = 1, GRID}, /* one degree: one device has it, all have radii */
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

/* Two fields in the memory of the first device, from byte 512 on, and an operator there between the transforms. */
static void on_first(kugel_ctx *ctx)
{
  ball b = ball_make(shapes[0]);
  kugel_ball *plan = plan_on(ctx, &b);
  kugel_queue *queue;
  CHECK_OK(kugel_queue_create(ctx, &queue));
  int64_t nc = 2 * reals(&b, 1, true), nf = 2 * reals(&b, 1, false);
  size_t at = 512, bytes = (size_t)nc * 8;
  double *c = malloc(bytes), *curl = malloc(bytes), *want = malloc((size_t)nf * 8),
         *got = malloc((size_t)nf * 8);
  for (int i = 0; i < 2; i++) {
    double *one = random_field(&b, 1, true, 20 + (uint64_t)i);
    memcpy(c + i * (nc / 2), one, bytes / 2);
    free(one);
  }
  view in, mid, out;
  CHECK_OK(kugel_ball_apply(b.plan, KUGEL_BALL_CURL, view_of(&in, &b, 1, true, 2, c),
                            view_of(&mid, &b, 1, true, 2, curl), NULL));
  CHECK_OK(kugel_ball_synthesis(b.plan, 1, &mid.a, view_of(&out, &b, 1, false, 2, want), NULL));
  void *near[3];
  for (int i = 0; i < 3; i++)
    CHECK_OK(kugel_device_alloc(ctx, (i < 2 ? bytes : (size_t)nf * 8) + at, &near[i]));
  kugel_array *all[] = {&in.a, &mid.a, &out.a};
  for (int i = 0; i < 3; i++) {
    all[i]->device = ctx->device;
    all[i]->byte_offset = at;
    all[i]->data = near[i];
  }
  CHECK_OK(kugel_device_upload(ctx, near[0], at, c, bytes, queue));
  CHECK_OK(kugel_ball_apply(plan, KUGEL_BALL_CURL, &in.a, &mid.a, queue));
  CHECK_OK(kugel_ball_synthesis(plan, 1, &mid.a, &out.a, queue));
  CHECK_OK(kugel_device_download(ctx, got, near[2], at, (size_t)nf * 8, NULL));
  CHECK_CLOSE(got, want, (size_t)nf, 1e-13);
  CHECK_OK(kugel_device_fill(ctx, near[0], at, 0xff, bytes, queue));
  CHECK_OK(kugel_ball_analysis(plan, 1, &out.a, &in.a, queue));
  CHECK_OK(kugel_device_download(ctx, c, near[0], at, bytes, NULL));
  CHECK_CLOSE(c, curl, (size_t)nc, 1e-13);
  for (int i = 0; i < 3; i++)
    kugel_device_free(ctx, near[i]);
  kugel_queue_destroy(queue);
  kugel_ball_destroy(plan);
  ball_free(&b);
  free(c), free(curl), free(want), free(got);
}

#define SAYS(expr, status, word)                                                                             \
  do {                                                                                                       \
    CHECK_IS(expr, status);                                                                                  \
    if (!strstr(kugel_last_error(), word))                                                                   \
      CHECK_FAIL("'%s' does not say '%s'", kugel_last_error(), word);                                        \
  } while (0)

static void rules(kugel_ctx *ctx)
{
  double radii[] = {1, 0.25};
  ball b =
      ball_make((kugel_ball_opts){.lmax = 11, .n = 8, .radii = radii, .nr = 2, .ntheta = 12, .nphi = 24});
  kugel_ball *plan = plan_on(ctx, &b); /* fewer radii than devices */
  double *c = ball_random(&b, 1, 5), *want = ball_values(&b, 1, 0), *got = ball_values(&b, 1, 0);
  view in, out;
  CHECK_OK(kugel_ball_synthesis(b.plan, 0, view_of(&in, &b, 0, true, 1, c),
                                view_of(&out, &b, 0, false, 1, want), NULL));
  out.a.data = got;
  CHECK_OK(kugel_ball_synthesis(plan, 0, &in.a, &out.a, NULL));
  CHECK_CLOSE(got, want, (size_t)b.points, 1e-13);
  SAYS(kugel_ball_analysis(plan, 0, &out.a, &in.a, NULL), KUGEL_EINVAL, "has no analysis");
  got[b.points - 1] = NAN;
  SAYS(kugel_ball_synthesis_adjoint(plan, 0, &out.a, &in.a, NULL), KUGEL_EINVAL, "1 values are NaN");
  kugel_ball_destroy(plan);
  CHECK_OK(kugel_ctx_limit_memory(ctx, 2000));
  SAYS(kugel_ball_create(ctx, &b.o, &plan), KUGEL_ENOMEM, "on each device, the limit of the context is 2000");
  CHECK_OK(kugel_ctx_limit_memory(ctx, 0));
  ball_free(&b);
  free(c), free(want), free(got);
}

/* Plans and a round trip in which the n-th allocation, or driver call, fails. */
static kugel_status attempt(kugel_ctx *ctx, const ball *b, double *c, double *f)
{
  kugel_ball *plan = NULL;
  view in, out;
  kugel_status s = kugel_ball_create(ctx, &b->o, &plan);
  if (!s)
    s = kugel_ball_synthesis(plan, 2, view_of(&in, b, 2, true, 1, c), view_of(&out, b, 2, false, 1, f), NULL);
  if (!s)
    s = kugel_ball_analysis(plan, 2, &out.a, &in.a, NULL);
  kugel_ball_destroy(plan);
  return s;
}

static void faults(kugel_ctx *ctx, bool driver)
{
  ball b = ball_make(shapes[0]);
  double *c = random_field(&b, 2, true, 1), *f = ball_values(&b, 6, 0), *keep = random_field(&b, 2, true, 1);
  int64_t n = 1, failed = 0;
  CHECK_OK(attempt(ctx, &b, c, f));
  for (kugel_status s = KUGEL_EINTERNAL; s && n < 100000; n += driver ? 1 + n / 8 : 1 + n / 40) {
    (driver ? kugel__fault_device : kugel__fault_alloc)(n);
    s = attempt(ctx, &b, c, f);
    (driver ? kugel__fault_device : kugel__fault_alloc)(0);
    CHECK(s == KUGEL_OK || s == KUGEL_ENOMEM || s == KUGEL_EDEVICE || s == KUGEL_ECOMPILE);
    failed += s != KUGEL_OK;
    memcpy(c, keep, (size_t)reals(&b, 2, true) * 8);
  }
  CHECK(failed > 10 && n < 100000);
  ball_free(&b);
  free(c), free(f), free(keep);
}

int main(void)
{
  kugel_device_info info;
  for (int index = 0; every_device(&index, true, &info);) {
    if (!info.fp64 || (info.device.type == KUGEL_OPENCL && !every_several(&info)))
      continue;
    for (int devices = 2; devices <= 3; devices++) {
      kugel_ctx *ctx = NULL;
      char name[128];
      int id = (int)info.device.id;
      snprintf(name, sizeof name, devices == 2 ? "%s,%d" : "%s,%d,%d", info.name, id, id);
      CHECK_OK(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = name}, &ctx));
      CASE(every_title(&info, devices == 2 ? "two: the CPU's results" : "three: the CPU's results"))
      {
        for (int i = 0; i < SHAPES; i++)
          against_cpu(ctx, &shapes[i]);
      }
      CASE(every_title(&info, "arrays of the first device, its operators"))
      {
        on_first(ctx);
      }
      CASE(every_title(&info, "other points, limits"))
      {
        rules(ctx);
      }
      CASE(every_title(&info, "every allocation and driver call may fail"))
      {
        if (devices == 2) {
          faults(ctx, false);
          faults(ctx, true);
        }
      }
      kugel_ctx_destroy(ctx);
    }
  }
  END();
}
