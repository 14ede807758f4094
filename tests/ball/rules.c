/* SPDX-License-Identifier: BSD-3-Clause */
/* Transforms in the ball: bad input, each allocation failing in turn, memory limits, cancellation, and results that do not
 * depend on threads. ISA: once */
#include "core/parallel.h"
#include "sweep.h"
#include "truth.h"

#define REFUSES(expr, status, word)                                                                          \
  do {                                                                                                       \
    CHECK_IS(expr, status);                                                                                  \
    if (!strstr(kugel_last_error(), word))                                                                   \
      CHECK_FAIL("'%s' does not say '%s'", kugel_last_error(), word);                                        \
  } while (0)

static double coeffs[6000], others[6000], values[9000], spins[18000];

/* Every call of a plan with options of `arg`, up to the first that fails. */
static kugel_status all(void *arg)
{
#define NEXT(call) status = status ? status : (call)
  const kugel_ball_opts *o = arg;
  kugel_ball *plan;
  kugel_ball_info s = {.size = sizeof s};
  int64_t nl[8];
  kugel_status status = kugel_ball_create(NULL, o, &plan);
  if (status)
    return status;
  CHECK_OK(kugel_ball_get_info(plan, &s));
  CHECK_OK(kugel_ball_truncated(plan, nl));
  status = kugel_ball_grid(plan, values, values + 100, values + 200, values + 300, values + 400);
  kugel_array *c = KUGEL_ARRAY(coeffs, KUGEL_C128, 3, s.nlm, s.n),
              *d = KUGEL_ARRAY(others, KUGEL_C128, 3, s.nlm, s.n),
              *f = KUGEL_ARRAY(values, KUGEL_F64, 3, s.nr, s.ntheta, s.nphi);
  NEXT(kugel_ball_synthesis(plan, KUGEL_BALL_VECTOR, c, f, NULL));
  NEXT(kugel_ball_analysis(plan, KUGEL_BALL_VECTOR, f, c, NULL));
  NEXT(kugel_ball_synthesis_adjoint(plan, KUGEL_BALL_VECTOR, f, c, NULL));
  NEXT(kugel_ball_analysis_adjoint(plan, KUGEL_BALL_VECTOR, c, f, NULL));
  NEXT(kugel_ball_apply(plan, KUGEL_BALL_CURL, c, d, NULL));
  NEXT(kugel_ball_apply_adjoint(plan, KUGEL_BALL_CURL, c, d, NULL));
  NEXT(kugel_ball_spectrum(plan, KUGEL_BALL_VECTOR, KUGEL_BALL_N, c, KUGEL_ARRAY(values, KUGEL_F64, s.n),
                           NULL));
  kugel_array *pairs = KUGEL_ARRAY(spins, KUGEL_C128, 3, s.nr, s.ntheta, s.nphi),
              *rows = KUGEL_ARRAY(spins, KUGEL_C128, 3, s.nlm, s.nr);
  NEXT(kugel_ball_synthesis(plan, KUGEL_BALL_SPIN, c, pairs, NULL));
  NEXT(kugel_ball_analysis(plan, KUGEL_BALL_SPIN, pairs, c, NULL));
  NEXT(kugel_ball_profiles(plan, KUGEL_BALL_SPIN, c, rows, NULL));
  NEXT(kugel_ball_from_profiles(plan, KUGEL_BALL_SPIN, rows, c, NULL));
  NEXT(kugel_ball_profiles_adjoint(plan, KUGEL_BALL_VECTOR, rows, c, NULL));
  NEXT(kugel_ball_from_profiles_adjoint(plan, KUGEL_BALL_VECTOR, c, rows, NULL));
#undef NEXT
  kugel_ball_destroy(plan);
  return status;
}

static void sweep(void)
{
  for (int type = 0; type < 2; type++) {
    kugel_ball_opts o = {.size = sizeof o, .lmax = 4, .n = 4, .vectors = 1, .type = type};
    sweep_allocations(all, &o);
  }
}

static void options(void)
{
  double bad_r[] = {0.5, 1.25}, nan_r[] = {0.5, NAN};
  const kugel_ball_opts good = {.size = sizeof good, .lmax = 6, .n = 4};
  kugel_ball_opts o;
  kugel_ball *plan;
#define TRY(change, word)                                                                                    \
  o = good;                                                                                                  \
  change;                                                                                                    \
  REFUSES(kugel_ball_create(NULL, &o, &plan), KUGEL_EINVAL, word);                                           \
  CHECK(!plan)
  TRY(o.size = 0, "size");
  TRY(o.lmax = -1, "lmax is -1");
  TRY(o.lmax = 20000, "lmax is 20000, must be 0 to 16384");
  TRY(o.mmax = 7, "mmax is 7");
  TRY(o.mmax = -3, "mmax is -3");
  TRY(o.n = 0, "n is 0");
  TRY(o.truncation = 3, "truncation is 3");
  TRY((o.truncation = KUGEL_BALL_TRIANGULAR, o.n = 3), "needs at least 4");
  TRY((o.truncation = KUGEL_BALL_TRAPEZOIDAL, o.dmax = 5), "dmax is 5");
  TRY(o.dmax = 9, "dmax is 9");
  TRY(o.type = 4, "type is 4");
  TRY(o.engine = KUGEL_WORLAND_QUADRATURE, "engine is 3");
  TRY(o.precision = KUGEL_PRECISION_F16, "precision is 3");
  TRY(o.factors = 9, "factors is 9");
  TRY(o.nr = 6, "nr is 6, must be 0 or 7");
  TRY(o.ntheta = 6, "ntheta is 6, must be 0 or 7");
  TRY(o.nphi = 12, "nphi is 12, must be 0 or 13");
  TRY((o.nr = 2, o.radii = bad_r), "radii[1] is 1.25");
  TRY((o.nr = 2, o.radii = nan_r), "radii[1] is");
  TRY(o.radii = bad_r, "nr is 0");
  REFUSES(kugel_ball_create(NULL, NULL, &plan), KUGEL_EINVAL, "opts is NULL");
  REFUSES(kugel_ball_create(NULL, &good, NULL), KUGEL_EINVAL, "out is NULL");
  kugel_ball_destroy(NULL);
#undef TRY
}

static void calls(void)
{
  double radii[] = {0.5, 1};
  ball b = ball_make((kugel_ball_opts){.lmax = 4, .n = 3}),
       cut = ball_make((kugel_ball_opts){.lmax = 4, .n = 3, .nr = 2, .radii = radii});
  kugel_array *c = KUGEL_ARRAY(coeffs, KUGEL_C128, b.s.nlm, b.s.n),
              *f = KUGEL_ARRAY(values, KUGEL_F64, b.s.nr, b.s.ntheta, b.s.nphi);
  memset(coeffs, 0, sizeof coeffs);
  memset(values, 0, sizeof values);
  REFUSES(kugel_ball_synthesis(NULL, 0, c, f, NULL), KUGEL_EINVAL, "plan is NULL");
  REFUSES(kugel_ball_synthesis(b.plan, 3, c, f, NULL), KUGEL_EINVAL, "kind is 3");
  REFUSES(kugel_ball_synthesis(b.plan, 1, c, f, NULL), KUGEL_EINVAL, "set opts.vectors");
  REFUSES(kugel_ball_synthesis(b.plan, 0, f, c, NULL), KUGEL_ESHAPE, "in is float64");
  REFUSES(kugel_ball_synthesis(b.plan, 0, c, f, (kugel_queue *)values), KUGEL_EINVAL, "queue");
  REFUSES(
      kugel_ball_synthesis(b.plan, 0, c, KUGEL_ARRAY(coeffs, KUGEL_F64, b.s.nr, b.s.ntheta, b.s.nphi), NULL),
      KUGEL_EINVAL, "overlap");
  REFUSES(kugel_ball_synthesis(b.plan, 0, KUGEL_ARRAY(coeffs, KUGEL_C128, 2, b.s.nlm, b.s.n), f, NULL),
          KUGEL_ESHAPE, "in has 2 fields and out 1");
  REFUSES(
      kugel_ball_analysis(cut.plan, 0, KUGEL_ARRAY(values, KUGEL_F64, 2, cut.s.ntheta, cut.s.nphi), c, NULL),
      KUGEL_EINVAL, "has no analysis");
  REFUSES(kugel_ball_synthesis(b.plan, 2, c, f, NULL), KUGEL_EINVAL,
          "KUGEL_BALL_SPIN, but the plan is for scalars");
  kugel_array *rows = KUGEL_ARRAY(values, KUGEL_C128, b.s.nlm, b.s.nr);
  REFUSES(kugel_ball_profiles(NULL, 0, c, rows, NULL), KUGEL_EINVAL, "plan is NULL");
  REFUSES(kugel_ball_profiles(b.plan, 0, c, f, NULL), KUGEL_ESHAPE, "out is float64");
  REFUSES(kugel_ball_profiles(b.plan, 0, rows, c, NULL), KUGEL_ESHAPE, "in is complex128");
  REFUSES(kugel_ball_profiles(b.plan, 0, c, rows, (kugel_queue *)values), KUGEL_EINVAL, "queue");
  REFUSES(kugel_ball_profiles(b.plan, 0, c, KUGEL_ARRAY(coeffs, KUGEL_C128, b.s.nlm, b.s.nr), NULL),
          KUGEL_EINVAL, "overlap");
  REFUSES(kugel_ball_from_profiles(cut.plan, 0, KUGEL_ARRAY(values, KUGEL_C128, cut.s.nlm, 2), c, NULL),
          KUGEL_EINVAL, "has no analysis");
  REFUSES(kugel_ball_spectrum(cut.plan, 0, 0, c, KUGEL_ARRAY(values, KUGEL_F64, 5), NULL), KUGEL_EINVAL,
          "no spectra");
  REFUSES(kugel_ball_spectrum(b.plan, 0, 3, c, KUGEL_ARRAY(values, KUGEL_F64, 5), NULL), KUGEL_EINVAL,
          "axis is 3");
  REFUSES(kugel_ball_spectrum(b.plan, 0, 0, c, KUGEL_ARRAY(values, KUGEL_F64, 4), NULL), KUGEL_ESHAPE,
          "energy");
  REFUSES(kugel_ball_apply(b.plan, 7, c, c, NULL), KUGEL_EINVAL, "op is 7");
  REFUSES(kugel_ball_apply(b.plan, KUGEL_BALL_LAPLACIAN, c, c, NULL), KUGEL_EINVAL, "overlap");
  REFUSES(
      kugel_ball_apply(b.plan, KUGEL_BALL_GRAD, c, KUGEL_ARRAY(others, KUGEL_C128, 2, b.s.nlm, b.s.n), NULL),
      KUGEL_ESHAPE, "out is");
  values[7] = NAN;
  REFUSES(kugel_ball_analysis(b.plan, 0, f, c, NULL), KUGEL_EINVAL, "value 7 of shell 0 is nan");
  CHECK_OK(kugel_ball_synthesis(b.plan, 0, KUGEL_ARRAY(coeffs, KUGEL_C128, 0, b.s.nlm, b.s.n),
                                KUGEL_ARRAY(values, KUGEL_F64, 0, b.s.nr, b.s.ntheta, b.s.nphi), NULL));
  ball_free(&b);
  ball_free(&cut);
}

/* Fields in parts: the same but for rounding, and no more memory than allowed. */
static void limit(void)
{
  kugel_ctx *ctx;
  kugel_ball *plan;
  kugel_ball_opts o = {.size = sizeof o, .lmax = 31, .n = 16, .vectors = 1};
  ball b = ball_make(o);
  double *c = ball_random(&b, 3, 5), *f = ball_values(&b, 3, 0), *g = ball_values(&b, 3, 0),
         *d = malloc((size_t)(3 * b.coeffs) * 16), *e = malloc((size_t)(3 * b.coeffs) * 16);
  kugel_array *ca = KUGEL_ARRAY(c, KUGEL_C128, 3, b.s.nlm, b.s.n),
              *da = KUGEL_ARRAY(d, KUGEL_C128, 3, b.s.nlm, b.s.n),
              *ea = KUGEL_ARRAY(e, KUGEL_C128, 3, b.s.nlm, b.s.n),
              *fa = KUGEL_ARRAY(f, KUGEL_F64, 3, b.s.nr, b.s.ntheta, b.s.nphi),
              *ga = KUGEL_ARRAY(g, KUGEL_F64, 3, b.s.nr, b.s.ntheta, b.s.nphi);
  CHECK(b.s.parts == 1);
  CHECK_OK(kugel_ctx_create(NULL, &ctx));
  CHECK_OK(kugel_ctx_limit_memory(ctx, 10000));
  REFUSES(kugel_ball_create(ctx, &o, &plan), KUGEL_ENOMEM, "the limit of the context is 10000");
  CHECK(!plan);
  CHECK_OK(kugel_ctx_limit_memory(ctx, b.s.vector_bytes / 4));
  CHECK_OK(kugel_ball_create(ctx, &o, &plan));
  kugel_ball_info s = {.size = sizeof s};
  CHECK_OK(kugel_ball_get_info(plan, &s));
  CHECK(s.parts > 2 && s.vector_bytes <= b.s.vector_bytes / 4);
  CHECK_OK(kugel_ball_synthesis(b.plan, KUGEL_BALL_VECTOR, ca, fa, NULL));
  CHECK_OK(kugel_ball_synthesis(plan, KUGEL_BALL_VECTOR, ca, ga, NULL));
  CHECK_CLOSE(g, f, (size_t)(3 * b.points), 1e-14);
  CHECK_OK(kugel_ball_analysis(plan, KUGEL_BALL_VECTOR, ga, da, NULL));
  CHECK_CLOSE(d, c, (size_t)(6 * b.coeffs), 1e-13);
  CHECK_OK(kugel_ball_synthesis_adjoint(b.plan, KUGEL_BALL_VECTOR, fa, da, NULL));
  CHECK_OK(kugel_ball_synthesis_adjoint(plan, KUGEL_BALL_VECTOR, fa, ea, NULL));
  CHECK_CLOSE(e, d, (size_t)(6 * b.coeffs), 1e-14);
  CHECK_OK(kugel_ball_analysis_adjoint(b.plan, KUGEL_BALL_VECTOR, ca, fa, NULL));
  CHECK_OK(kugel_ball_analysis_adjoint(plan, KUGEL_BALL_VECTOR, ca, ga, NULL));
  CHECK_CLOSE(g, f, (size_t)(3 * b.points), 1e-14);
  double *u[] = {malloc((size_t)(3 * b.points) * 16), malloc((size_t)(3 * b.points) * 16)};
  for (int i = 0; i < 2; i++) {
    kugel_array *pairs = KUGEL_ARRAY(u[i], KUGEL_C128, 3, b.s.nr, b.s.ntheta, b.s.nphi);
    CHECK_OK(kugel_ball_synthesis(i ? plan : b.plan, KUGEL_BALL_SPIN, ca, pairs, NULL));
    CHECK_OK(kugel_ball_analysis(i ? plan : b.plan, KUGEL_BALL_SPIN, pairs, i ? ea : da, NULL));
  }
  CHECK_CLOSE(u[1], u[0], (size_t)(6 * b.points), 1e-14);
  CHECK_CLOSE(e, d, (size_t)(6 * b.coeffs), 1e-13);
  free(u[0]);
  free(u[1]);
  kugel_ball_destroy(plan);
  kugel_ctx_destroy(ctx);
  free(c);
  free(d);
  free(e);
  free(f);
  free(g);
  ball_free(&b);
}

static int stop(double fraction, const char *stage, void *user)
{
  double *last = user;
  (void)stage;
  CHECK(fraction >= *last && fraction <= 1);
  *last = fraction;
  return fraction > 0.3;
}

static void threads(void)
{
  double *results[2];
  size_t bytes = 0;
  for (int i = 0; i < 2; i++) {
    CHECK_OK(kugel_set_num_threads(i ? 3 : 1));
    ball b = ball_make((kugel_ball_opts){.lmax = 40, .n = 24, .vectors = 1});
    double *c = ball_random(&b, 3, 77), *f = ball_values(&b, 3, 0), *d = malloc((size_t)(3 * b.coeffs) * 16);
    kugel_array *ca = KUGEL_ARRAY(c, KUGEL_C128, 3, b.s.nlm, b.s.n),
                *da = KUGEL_ARRAY(d, KUGEL_C128, 3, b.s.nlm, b.s.n),
                *fa = KUGEL_ARRAY(f, KUGEL_F64, 3, b.s.nr, b.s.ntheta, b.s.nphi);
    CHECK_OK(kugel_ball_apply(b.plan, KUGEL_BALL_CURL, ca, da, NULL));
    CHECK_OK(kugel_ball_synthesis(b.plan, KUGEL_BALL_VECTOR, da, fa, NULL));
    CHECK_OK(kugel_ball_analysis(b.plan, KUGEL_BALL_VECTOR, fa, da, NULL));
    results[i] = d;
    bytes = (size_t)(3 * b.coeffs) * 16;
    if (i) {
      double last = 0;
      double before = kugel__progress_interval(0);
      kugel_set_progress(stop, &last);
      kugel_array *many = KUGEL_ARRAY(malloc(40 * (size_t)b.coeffs * 16), KUGEL_C128, 40, b.s.nlm, b.s.n),
                  *maps = KUGEL_ARRAY(malloc(40 * (size_t)b.points * 8), KUGEL_F64, 40, b.s.nr, b.s.ntheta,
                                      b.s.nphi);
      memset(many->data, 0, 40 * (size_t)b.coeffs * 16);
      CHECK_IS(kugel_ball_synthesis(b.plan, KUGEL_BALL_SCALAR, many, maps, NULL), KUGEL_ECANCELED);
      kugel_set_progress(NULL, NULL);
      kugel__progress_interval(before);
      free(many->data);
      free(maps->data);
    }
    free(c);
    free(f);
    ball_free(&b);
  }
  CHECK(!memcmp(results[0], results[1], bytes));
  free(results[0]);
  free(results[1]);
}

int main(void)
{
  CASE("options") options();
  CASE("calls") calls();
  CASE("each allocation fails once") sweep();
  CASE("memory limit") limit();
  CASE("threads change nothing, and calls can be cancelled") threads();
  END();
}
