/* SPDX-License-Identifier: BSD-3-Clause */
/* Polynomial transforms: bad input, and each allocation failing in turn. ISA: once */
#include "check.h"
#include "core/alloc.h"
#include "truth.h"

#define REFUSES(expr, status, word)                                                                          \
  do {                                                                                                       \
    CHECK_IS(expr, status);                                                                                  \
    if (!strstr(kugel_last_error(), word))                                                                   \
      CHECK_FAIL("'%s' does not say '%s'", kugel_last_error(), word);                                        \
  } while (0)

static kugel_status jwt_all(const kugel_jwt_opts *o)
{
  static double c[200], f[400];
  kugel_jwt *plan;
  kugel_jwt_info info = {.size = sizeof info};
  kugel_status s = kugel_jwt_create(NULL, o, &plan);
  if (s)
    return s;
  CHECK_OK(kugel_jwt_get_info(plan, &info));
  kugel_array *coeffs = KUGEL_ARRAY(c, KUGEL_F64, info.systems, info.n),
              *values = KUGEL_ARRAY(f, KUGEL_F64, info.systems, info.nr);
  s = kugel_jwt_synthesis(plan, KUGEL_WORLAND_D1, coeffs, values, NULL);
  if (!s)
    s = kugel_jwt_analysis(plan, KUGEL_WORLAND_I2, values, coeffs, NULL);
  if (!s)
    s = kugel_jwt_synthesis_adjoint(plan, 0, values, coeffs, NULL);
  if (!s)
    s = kugel_jwt_analysis_adjoint(plan, 0, coeffs, values, NULL);
  if (!s)
    s = kugel_jwt_energy(plan, 0, coeffs, KUGEL_ARRAY(f, KUGEL_F64, info.systems), NULL);
  kugel_jwt_destroy(plan);
  return s;
}

static void jwt_sweep(void)
{
  int64_t l[] = {0, 3, 4};
  for (int type = 0; type < 2; type++)
    for (int engine = 0; engine < 5; engine += 1 + engine / 2) {
      kugel_jwt_opts o = {
          .size = sizeof o, .type = type, .engine = engine, .n = 7, .blocks = 3, .l = l, .energy = 1};
      kugel_status s = KUGEL_ENOMEM;
      int k = 1;
      for (; k < 500 && s; k++) {
        kugel__fault_alloc(k);
        s = jwt_all(&o);
        kugel__fault_alloc(0);
        CHECK(!s || s == KUGEL_ENOMEM);
      }
      CHECK(!s && k > 10);
    }
}

static void jwt_options(void)
{
  int64_t l[] = {4, 0}, bad_l[] = {-1, 0}, mult[] = {1, -3}, none[] = {0, 0}, nl[] = {9, 1};
  double radii[] = {0.5, 1.25}, nan[] = {0.5, NAN};
  const kugel_jwt_opts good = {.size = sizeof good, .n = 8, .blocks = 2, .l = l};
  kugel_jwt *plan;
  kugel_jwt_opts o;
#define TRY(change, word)                                                                                    \
  o = good;                                                                                                  \
  change;                                                                                                    \
  REFUSES(kugel_jwt_create(NULL, &o, &plan), KUGEL_EINVAL, word);                                            \
  CHECK(!plan)
  TRY(o.n = 0, "n is 0");
  TRY(o.type = 5, "type is 5");
  TRY((o.type = KUGEL_WORLAND_JACOBI, o.a = 0.25), "a is 0.25");
  TRY((o.type = KUGEL_WORLAND_JACOBI, o.shift = -1), "shift is -1");
  TRY(o.norm = -1, "norm is -1");
  TRY(o.engine = 9, "engine is 9");
  TRY(o.precision = KUGEL_PRECISION_F16, "precision is 3");
  TRY(o.blocks = 0, "blocks is 0");
  TRY(o.l = NULL, "l is NULL");
  TRY(o.l = bad_l, "l[0] is -1");
  TRY(o.multiplicity = mult, "multiplicity[1] is -3");
  TRY(o.multiplicity = none, "add up to 0");
  TRY(o.nl = nl, "nl[0] is 9");
  TRY(o.nr = 9, "need at least 10 radii");
  TRY(o.nr = -1, "nr is -1");
  TRY((o.nr = 2, o.radii = radii), "radii[1] is 1.25");
  TRY((o.nr = 2, o.radii = nan), "radii[1] is");
  TRY(o.radii = radii, "nr is 0");
  TRY(o.size = 0, "size");
  REFUSES(kugel_jwt_create(NULL, NULL, &plan), KUGEL_EINVAL, "opts is NULL");
  REFUSES(kugel_jwt_create(NULL, &good, NULL), KUGEL_EINVAL, "out is NULL");
  kugel_jwt_destroy(NULL);
#undef TRY
}

static void jwt_calls(void)
{
  int64_t l[] = {4, 1};
  double c[16] = {0}, f[20];
  kugel_jwt *plan;
  kugel_jwt_opts o = {.size = sizeof o, .n = 8, .blocks = 2, .l = l, .nr = 10};
  kugel_array *coeffs = KUGEL_ARRAY(c, KUGEL_F64, 2, 8), *values = KUGEL_ARRAY(f, KUGEL_F64, 2, 10);
  CHECK_OK(kugel_jwt_create(NULL, &o, &plan));
  REFUSES(kugel_jwt_synthesis(plan, 7, coeffs, values, NULL), KUGEL_EINVAL, "op is 0x7");
  REFUSES(kugel_jwt_synthesis(plan, KUGEL_WORLAND_I2, coeffs, values, NULL), KUGEL_EINVAL, "op is 0x200");
  REFUSES(kugel_jwt_analysis(plan, KUGEL_WORLAND_D1, values, coeffs, NULL), KUGEL_EINVAL, "op is 0x1");
  REFUSES(kugel_jwt_analysis(plan, KUGEL_WORLAND_I2 | KUGEL_WORLAND_I4, values, coeffs, NULL), KUGEL_EINVAL,
          "op is 0x600");
  REFUSES(kugel_jwt_synthesis(plan, 0, values, coeffs, NULL), KUGEL_ESHAPE, "in is float64[2, 10]");
  REFUSES(kugel_jwt_synthesis(plan, 0, NULL, values, NULL), KUGEL_EINVAL, "in is NULL");
  REFUSES(kugel_jwt_synthesis(NULL, 0, coeffs, values, NULL), KUGEL_EINVAL, "plan is NULL");
  REFUSES(kugel_jwt_synthesis(plan, 0, coeffs, KUGEL_ARRAY(f, KUGEL_F32, 2, 10), NULL), KUGEL_ESHAPE,
          "out is float32");
  REFUSES(kugel_jwt_synthesis(plan, 0, coeffs, KUGEL_ARRAY(f, KUGEL_F64, 1, 2, 10), (kugel_queue *)f),
          KUGEL_EINVAL, "queue");
  REFUSES(kugel_jwt_synthesis(plan, 0, coeffs, KUGEL_ARRAY(c, KUGEL_F64, 2, 10), NULL), KUGEL_EINVAL,
          "overlap");
  REFUSES(kugel_jwt_synthesis(plan, 0, KUGEL_ARRAY(c, KUGEL_F64, 0, 2, 8), values, NULL), KUGEL_ESHAPE,
          "leading axes");
  CHECK_OK(kugel_jwt_synthesis(plan, 0, KUGEL_ARRAY(c, KUGEL_F64, 0, 2, 8),
                               KUGEL_ARRAY(f, KUGEL_F64, 0, 2, 10), NULL));
  REFUSES(kugel_jwt_energy(plan, 0, coeffs, KUGEL_ARRAY(f, KUGEL_F64, 2), NULL), KUGEL_EINVAL, "opts.energy");
  kugel_jwt_destroy(plan);
  l[0] = 5;
  CHECK_OK(kugel_jwt_create(NULL, &o, &plan));
  CHECK_OK(kugel_jwt_analysis(plan, KUGEL_WORLAND_R1, values, coeffs, NULL));
  REFUSES(kugel_jwt_analysis(plan, KUGEL_WORLAND_DIV_R1, values, coeffs, NULL), KUGEL_EINVAL,
          "at least 11 radii");
  kugel_jwt_destroy(plan);
}

static kugel_status ultra_all(int method)
{
  static double x[200], y[200];
  kugel_ultra *plan;
  kugel_ultra_opts o = {.size = sizeof o, .n = 200, .to = 0.5, .method = method};
  kugel_status s = kugel_ultra_create(NULL, &o, &plan);
  if (s)
    return s;
  s = kugel_ultra_execute(plan, KUGEL_ARRAY(x, KUGEL_F64, 200), KUGEL_ARRAY(y, KUGEL_F64, 200), NULL);
  if (!s)
    s = kugel_ultra_adjoint(plan, KUGEL_ARRAY(x, KUGEL_F64, 200), KUGEL_ARRAY(y, KUGEL_F64, 200), NULL);
  kugel_ultra_destroy(plan);
  if (!s)
    s = kugel_cheb2leg(NULL, KUGEL_ARRAY(x, KUGEL_F64, 200), KUGEL_ARRAY(y, KUGEL_F64, 200));
  return s ? s : kugel_leg2cheb(NULL, KUGEL_ARRAY(x, KUGEL_F64, 200), KUGEL_ARRAY(y, KUGEL_F64, 200));
}

static void ultra_sweep(void)
{
  for (int method = 1; method < 3; method++) {
    kugel_status s = KUGEL_ENOMEM;
    int k = 1;
    for (; k < 500 && s; k++) {
      kugel__fault_alloc(k);
      s = ultra_all(method);
      kugel__fault_alloc(0);
      CHECK(!s || s == KUGEL_ENOMEM);
    }
    CHECK(!s && k > 5);
  }
}

static void ultra_bad(void)
{
  kugel_ultra *plan;
  kugel_ultra_opts o = {.size = sizeof o, .n = 0};
  double x[6] = {0};
  REFUSES(kugel_ultra_create(NULL, &o, &plan), KUGEL_EINVAL, "n is 0");
  o.n = 3;
  o.from = -1;
  REFUSES(kugel_ultra_create(NULL, &o, &plan), KUGEL_EINVAL, "from is -1");
  o.from = NAN;
  REFUSES(kugel_ultra_create(NULL, &o, &plan), KUGEL_EINVAL, "from is");
  o.from = 0;
  o.to = 1001;
  REFUSES(kugel_ultra_create(NULL, &o, &plan), KUGEL_EINVAL, "to is 1001");
  o.to = 1;
  o.method = KUGEL_ULTRA_FAST;
  REFUSES(kugel_ultra_create(NULL, &o, &plan), KUGEL_EINVAL, "KUGEL_ULTRA_FAST needs less than 1");
  o.from = 1000;
  o.n = 4000;
  o.method = 0;
  REFUSES(kugel_ultra_create(NULL, &o, &plan), KUGEL_EINVAL, "exceed the range");
  o = (kugel_ultra_opts){.size = sizeof o, .n = 3, .to = 0.5};
  CHECK_OK(kugel_ultra_create(NULL, &o, &plan));
  REFUSES(kugel_ultra_execute(plan, KUGEL_ARRAY(x, KUGEL_F64, 3), KUGEL_ARRAY(x, KUGEL_F64, 3), NULL),
          KUGEL_EINVAL, "overlap");
  REFUSES(kugel_ultra_execute(plan, KUGEL_ARRAY(x, KUGEL_F64, 2), KUGEL_ARRAY(x + 3, KUGEL_F64, 3), NULL),
          KUGEL_ESHAPE, "in is");
  REFUSES(kugel_ultra_execute(plan, KUGEL_ARRAY(x, KUGEL_F64, 3), KUGEL_ARRAY(x, KUGEL_C128, 3), NULL),
          KUGEL_ESHAPE, "out is");
  kugel_ultra_destroy(plan);
  kugel_ultra_destroy(NULL);
}

static kugel_status alt_all(const double *theta)
{
  static double c[33], f[33];
  int64_t m[] = {0, 5, 10};
  kugel_alt *plan;
  kugel_alt_opts o = {.size = sizeof o, .lmax = 10, .blocks = 3, .m = m, .n = theta ? 4 : 0, .theta = theta};
  kugel_status s = kugel_alt_create(NULL, &o, &plan);
  if (s)
    return s;
  kugel_array *coeffs = KUGEL_ARRAY(c, KUGEL_F64, 3, 11),
              *values = KUGEL_ARRAY(f, KUGEL_F64, 3, theta ? 4 : 11);
  s = kugel_alt_synthesis(plan, coeffs, values, NULL);
  if (!s)
    s = kugel_alt_synthesis_adjoint(plan, values, coeffs, NULL);
  if (!s && !theta)
    s = kugel_alt_analysis(plan, values, coeffs, NULL);
  if (!s && !theta)
    s = kugel_alt_analysis_adjoint(plan, coeffs, values, NULL);
  kugel_alt_destroy(plan);
  return s;
}

static void alt_sweep(void)
{
  static const double theta[] = {0, 1, 2, 3};
  for (int points = 0; points < 2; points++) {
    kugel_status s = KUGEL_ENOMEM;
    int k = 1;
    for (; k < 500 && s; k++) {
      kugel__fault_alloc(k);
      s = alt_all(points ? theta : NULL);
      kugel__fault_alloc(0);
      CHECK(!s || s == KUGEL_ENOMEM);
    }
    CHECK(!s && k > 10);
  }
}

static void alt_bad(void)
{
  int64_t m[] = {3}, high[] = {6};
  double theta[] = {-0.1}, x[12] = {0};
  const kugel_alt_opts good = {.size = sizeof good, .lmax = 5, .blocks = 1, .m = m};
  kugel_alt_opts o = good;
  kugel_alt *plan;
  o.m = high;
  REFUSES(kugel_alt_create(NULL, &o, &plan), KUGEL_EINVAL, "m[0] is 6, must be 0 to 5");
  o = good;
  o.n = 5;
  REFUSES(kugel_alt_create(NULL, &o, &plan), KUGEL_EINVAL, "at least 6 colatitudes");
  o = good;
  o.lmax = -1;
  REFUSES(kugel_alt_create(NULL, &o, &plan), KUGEL_EINVAL, "lmax is -1");
  o = good;
  o.n = 1;
  o.theta = theta;
  REFUSES(kugel_alt_create(NULL, &o, &plan), KUGEL_EINVAL, "theta[0] is -0.1");
  CHECK_OK(kugel_alt_create(NULL, &good, &plan));
  REFUSES(kugel_alt_synthesis(plan, KUGEL_ARRAY(x, KUGEL_F64, 6), KUGEL_ARRAY(x, KUGEL_F64, 6), NULL),
          KUGEL_EINVAL, "overlap");
  REFUSES(kugel_alt_analysis(plan, KUGEL_ARRAY(x, KUGEL_F64, 5), KUGEL_ARRAY(x + 6, KUGEL_F64, 6), NULL),
          KUGEL_ESHAPE, "in is");
  kugel_alt_destroy(plan);
  kugel_alt_destroy(NULL);
}

int main(void)
{
  CASE("associated Legendre")
  {
    alt_bad();
  }
  CASE("associated Legendre, every allocation fails once")
  {
    alt_sweep();
  }

  CASE("ultraspherical")
  {
    ultra_bad();
  }
  CASE("ultraspherical, every allocation fails once")
  {
    ultra_sweep();
  }

  CASE("Jones-Worland options")
  {
    jwt_options();
  }
  CASE("Jones-Worland calls")
  {
    jwt_calls();
  }
  CASE("Jones-Worland, every allocation fails once")
  {
    jwt_sweep();
  }
  END();
}
