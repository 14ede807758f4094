/* SPDX-License-Identifier: BSD-3-Clause */
/* Operators, spectra and profiles in the ball on devices: against the CPU, whose truths are closed forms, on arrays of the device, of the host and
 * of both; div curl = 0 and curl grad = 0; bad input. */
#include "core/ctx.h"
#include "device/device.h"
#include "device/every.h"
#include "fields.h"

enum { AT = 512, FIELDS = 2 };
static const int taken[] = {1, 3, 3, 1, 3, 2, 3}, given[] = {3, 1, 3, 1, 3, 3, 2};

/* Coefficients [FIELDS, components, nlm, n] of the host and their twin on the device, which begins within its memory. */
typedef struct series {
  int64_t shape[4], reals;
  size_t bytes;
  double *x;
  float *f; /* of single precision */
  kugel_array a, near;
  void *memory;
} series;

static void fill(series *s, kugel_ctx *ctx, bool up)
{
  for (int64_t i = 0; s->f && i < s->reals; i++)
    if (up)
      s->f[i] = (float)s->x[i];
  void *data = s->f ? (void *)s->f : s->x;
  if (up)
    CHECK_OK(kugel_device_upload(ctx, s->memory, AT, data, s->bytes, NULL));
  else
    CHECK_OK(kugel_device_download(ctx, data, s->memory, AT, s->bytes, NULL));
  for (int64_t i = 0; s->f && i < s->reals; i++)
    s->x[i] = (double)s->f[i];
}

static void series_make(series *s, kugel_ctx *ctx, const ball *b, int components, uint64_t seed)
{
  bool single = b->o.precision == KUGEL_PRECISION_F32;
  *s = (series){.shape = {FIELDS, components, b->s.nlm, b->s.n}};
  s->reals = (int64_t)FIELDS * components * b->coeffs * 2;
  s->bytes = (size_t)s->reals * (single ? 4 : 8);
  s->x = calloc((size_t)s->reals, 8);
  s->f = single ? calloc((size_t)s->reals, 4) : NULL;
  for (int64_t i = 0; seed && i < s->reals; i++)
    s->x[i] = check_random(&seed);
  for (int64_t i = 0, row = 0; seed && i < s->reals; i += 2 * b->s.n, row = (row + 1) % b->s.nlm) {
    int64_t l = 0;
    while (ball_row(b, l + 1, 0) <= row)
      l++;
    for (int64_t n = 2 * b->nl[l]; n < 2 * b->s.n; n++)
      s->x[i + n] = NAN; /* is not read */
  }
  s->a = (kugel_array){.data = single ? (void *)s->f : s->x,
                       .device = {KUGEL_CPU, 0},
                       .ndim = 4,
                       .shape = s->shape,
                       .dtype = single ? KUGEL_C64 : KUGEL_C128};
  if (components == 1) {
    s->shape[1] = b->s.nlm;
    s->shape[2] = b->s.n;
    s->a.ndim = 3;
  }
  CHECK_OK(kugel_device_alloc(ctx, s->bytes + AT, &s->memory));
  s->near = s->a;
  s->near.data = s->memory;
  s->near.byte_offset = AT;
  s->near.device = ctx->device;
  fill(s, ctx, true);
}

static void series_free(series *s, kugel_ctx *ctx)
{
  kugel_device_free(ctx, s->memory);
  free(s->x);
  free(s->f);
}

typedef kugel_status (*apply)(const kugel_ball *, kugel_ball_operator, const kugel_array *,
                              const kugel_array *, kugel_queue *);

static void one_operator(kugel_ctx *ctx, const ball *b, const kugel_ball *plan, int op, bool adjoint,
                         kugel_queue *queue)
{
  apply call = adjoint ? kugel_ball_apply_adjoint : kugel_ball_apply;
  series in, want, got;
  series_make(&in, ctx, b, adjoint ? given[op] : taken[op], 11 + (uint64_t)op);
  series_make(&want, ctx, b, adjoint ? taken[op] : given[op], 0);
  series_make(&got, ctx, b, adjoint ? taken[op] : given[op], 3);
  CHECK_OK(call(b->plan, op, &in.a, &want.a, NULL));
  CHECK_OK(call(plan, op, op == 3 ? &in.a : &in.near, op == 4 ? &got.a : &got.near, queue));
  CHECK_OK(kugel_queue_wait(queue));
  for (int64_t i = 0; want.f && i < want.reals; i++) {
    want.x[i] = (double)want.f[i];
    got.x[i] = got.f[i];
  }
  if (op != 4)
    fill(&got, ctx, false);
  CHECK_CLOSE(got.x, want.x, (size_t)want.reals, want.f ? 1e-7 : 1e-14);
  series_free(&in, ctx);
  series_free(&want, ctx);
  series_free(&got, ctx);
}

/* Profiles and back, and the adjoints: of host and device, each way. */
static void profiles(kugel_ctx *ctx, const ball *b, const kugel_ball *plan, int kind, kugel_queue *queue)
{
  static const verb verbs_of_profiles[] = {kugel_ball_profiles, kugel_ball_from_profiles,
                                           kugel_ball_profiles_adjoint, kugel_ball_from_profiles_adjoint};
  ball wide = *b; /* whose rows are profiles */
  wide.s.n = b->s.nr;
  wide.coeffs = b->s.nlm * b->s.nr;
  int64_t *all = wide.nl = malloc((size_t)(b->s.lmax + 1) * sizeof *all);
  for (int64_t l = 0; l <= b->s.lmax; l++)
    all[l] = b->s.nr;
  for (int v = 0; v < (b->o.radii ? 1 : 4); v++) {
    bool from = v % 3 == 0;
    series in, want, got;
    series_make(&in, ctx, from ? b : &wide, parts_of(kind), 31 + (uint64_t)v);
    series_make(&want, ctx, from ? &wide : b, parts_of(kind), 0);
    series_make(&got, ctx, from ? &wide : b, parts_of(kind), 3);
    CHECK_OK(verbs_of_profiles[v](b->plan, kind, &in.a, &want.a, NULL));
    CHECK_OK(verbs_of_profiles[v](plan, kind, v == 3 ? &in.a : &in.near, &got.near, v ? NULL : queue));
    fill(&got, ctx, false);
    for (int64_t i = 0; want.f && i < want.reals; i++)
      want.x[i] = (double)want.f[i];
    CHECK_CLOSE(got.x, want.x, (size_t)want.reals, want.f ? 1e-6 : 1e-13);
    series_free(&in, ctx);
    series_free(&want, ctx);
    series_free(&got, ctx);
  }
  free(all);
}

static void against_cpu(kugel_ctx *ctx, const kugel_ball_opts *o)
{
  ball b = ball_make(*o);
  kugel_ball *plan = plan_on(ctx, &b);
  kugel_queue *queue;
  CHECK_OK(kugel_queue_create(ctx, &queue));
  for (int op = 0; op < 7; op++)
    for (int adjoint = 0; adjoint < 2; adjoint++)
      one_operator(ctx, &b, plan, op, adjoint, queue);
  for (int kind = 0; kind <= (o->vectors ? 2 : 0); kind++)
    profiles(ctx, &b, plan, kind, queue);
  for (int kind = 0; !o->radii && kind <= (o->vectors ? 1 : 0); kind++) {
    series in;
    series_make(&in, ctx, &b, parts_of(kind), 5);
    for (int axis = 0; axis < 3; axis++) {
      int64_t count = axis == 0 ? b.s.lmax + 1 : axis == 1 ? b.s.mmax + 1 : b.s.n;
      double want[FIELDS * 16], got[FIELDS * 16];
      void *memory;
      kugel_array *e = KUGEL_ARRAY(want, KUGEL_F64, FIELDS, count);
      CHECK_OK(kugel_device_alloc(ctx, sizeof got + AT, &memory));
      CHECK_OK(kugel_ball_spectrum(b.plan, kind, axis, &in.a, e, NULL));
      e->data = got;
      CHECK_OK(kugel_ball_spectrum(plan, kind, axis, &in.near, e, NULL));
      CHECK_CLOSE(got, want, (size_t)(FIELDS * count), in.f ? 1e-6 : 1e-13);
      e->data = memory;
      e->device = ctx->device;
      e->byte_offset = AT;
      CHECK_OK(kugel_ball_spectrum(plan, kind, axis, axis ? &in.near : &in.a, e, queue));
      CHECK_OK(kugel_device_download(ctx, got, memory, AT, (size_t)(FIELDS * count) * sizeof *got, queue));
      CHECK_OK(kugel_queue_wait(queue));
      CHECK_CLOSE(got, want, (size_t)(FIELDS * count), in.f ? 1e-6 : 1e-13);
      kugel_device_free(ctx, memory);
    }
    series_free(&in, ctx);
  }
  kugel_queue_destroy(queue);
  kugel_ball_destroy(plan);
  ball_free(&b);
}

/* Of rhomboidal series, as of functions, div curl and curl grad are nothing. */
static void nothing(kugel_ctx *ctx)
{
  ball b = ball_make((kugel_ball_opts)FIRST_SHAPE);
  kugel_ball *plan = plan_on(ctx, &b);
  series u, v, w, s;
  series_make(&u, ctx, &b, 3, 1);
  series_make(&v, ctx, &b, 3, 0);
  series_make(&w, ctx, &b, 3, 0);
  series_make(&s, ctx, &b, 1, 2);
  for (int grad = 0; grad < 2; grad++) {
    series *last = grad ? &w : &s;
    CHECK_OK(kugel_ball_apply(plan, grad ? KUGEL_BALL_GRAD : KUGEL_BALL_CURL, grad ? &s.near : &u.near,
                              &v.near, NULL));
    CHECK_OK(kugel_ball_apply(plan, grad ? KUGEL_BALL_CURL : KUGEL_BALL_DIV, &v.near, &last->near, NULL));
    fill(&v, ctx, false);
    fill(last, ctx, false);
    double scale = 0, worst = 0;
    for (int64_t i = 0; i < v.reals; i++)
      scale = fmax(scale, fabs(v.x[i]));
    for (int64_t i = 0; i < last->reals; i++)
      worst = fmax(worst, fabs(last->x[i]));
    CHECK(scale > 1);
    CHECK_LE(worst / scale, 1e-12); /* (2 n + l)^2 eps */
    if (!grad) {
      series_free(&s, ctx);
      series_make(&s, ctx, &b, 1, 2);
    }
  }
  double *host = ball_random(&b, 3, 4);
  kugel_array *h = KUGEL_ARRAY(host, KUGEL_C128, FIELDS, b.s.nlm, b.s.n);
  CHECK_IS(kugel_ball_apply(b.plan, KUGEL_BALL_DIV, &u.near, &s.near, NULL), KUGEL_EDEVICE);
  CHECK_IS(kugel_ball_spectrum(b.plan, KUGEL_BALL_SCALAR, KUGEL_BALL_L, h, &s.near, NULL), KUGEL_EDEVICE);
  CHECK_IS(kugel_ball_apply(plan, KUGEL_BALL_CURL, &u.near, &u.near, NULL), KUGEL_EINVAL);
  free(host);
  series_free(&u, ctx);
  series_free(&v, ctx);
  series_free(&w, ctx);
  series_free(&s, ctx);
  kugel_ball_destroy(plan);
  ball_free(&b);
}

int main(void)
{
  kugel_device_info info;
  double radii[] = {1, 0.25, 0};
  kugel_grid *grid;
  CHECK_OK(kugel_grid_create(
      NULL, &(kugel_grid_opts){.size = sizeof(kugel_grid_opts), .kind = KUGEL_GRID_HEALPIX, .nside = 4},
      &grid));
  kugel_ball_opts shapes[] = {
      FIRST_SHAPE,
      {.lmax = 9,
       .n = 6,
       .vectors = 1,
       .mmax = 4,
       .type = KUGEL_WORLAND_SPHERE_ENERGY,
       .truncation = KUGEL_BALL_TRIANGULAR,
       GRID},
      {.lmax = 6, .n = 5, .mmax = KUGEL_ONLY_M0, .type = KUGEL_WORLAND_LEGENDRE, GRID},
      {.lmax = 70,
       .n = 9,
       .type = KUGEL_WORLAND_CYLINDER_ENERGY,
       .truncation = KUGEL_BALL_TRAPEZOIDAL,
       .dmax = 80,
       .radii = radii,
       .nr = 3,
       .sphere = grid},
  };
  for (int index = 0; every_device(&index, true, &info);) {
    kugel_ctx *ctx;
    if (!info.fp64)
      continue;
    CHECK_OK(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = info.name}, &ctx));
    CASE(every_title(&info, "the CPU's results"))
    {
      for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        against_cpu(ctx, &shapes[i]);
    }
    CASE(every_title(&info, "div curl, curl grad, bad input"))
    {
      nothing(ctx);
    }
    CASE(every_title(&info, "single precision"))
    {
      kugel_ball_opts o = shapes[0];
      o.precision = KUGEL_PRECISION_F32;
      if (every_variant(&info))
        against_cpu(ctx, &o);
    }
    kugel_ctx_destroy(ctx);
  }
  kugel_grid_destroy(grid);
  END();
}
