/* SPDX-License-Identifier: BSD-3-Clause */
/* Jones-Worland transforms: sums in 113 bits, golden files, orthogonality, adjoints, layouts, engines. */
#include "check.h"
#include "polynomial/jwt.h"
#include "truth.h"

typedef struct one {
  kugel_jwt *plan;
  int64_t l, n, nr;
  double *c, *f, *back;
} one;

static one one_make(kugel_jwt_opts o, int64_t l, uint64_t seed)
{
  kugel_jwt_info info = {.size = sizeof info};
  one t = {.l = l, .n = o.n};
  o.size = sizeof o;
  o.blocks = 1;
  o.l = &l;
  CHECK_OK(kugel_jwt_create(NULL, &o, &t.plan));
  CHECK_OK(kugel_jwt_get_info(t.plan, &info));
  t.nr = info.nr;
  t.c = malloc(sizeof(double) * (size_t)t.n);
  t.back = malloc(sizeof(double) * (size_t)(t.n > t.nr ? t.n : t.nr));
  t.f = malloc(sizeof(double) * (size_t)t.nr);
  for (int64_t i = 0; i < t.n; i++)
    t.c[i] = check_random(&seed);
  return t;
}

static void one_free(one *t)
{
  kugel_jwt_destroy(t->plan);
  free(t->c);
  free(t->f);
  free(t->back);
}

/* Error of a synthesis against sums in 113 bits, over the largest value; at most `points` radii are looked at. */
static double synthesis_error(const one *t, int type, int op, bool natural, const double *radii,
                              int64_t points)
{
  quad *w = malloc(sizeof *w * (size_t)t->n), *want = malloc(sizeof *want * (size_t)t->nr);
  double *got = malloc(sizeof *got * (size_t)t->nr);
  int64_t count = 0, step = t->nr > points ? t->nr / points : 1;
  CHECK_OK(kugel_jwt_synthesis(t->plan, op, KUGEL_ARRAY(t->c, KUGEL_F64, 1, t->n),
                               KUGEL_ARRAY(t->f, KUGEL_F64, 1, t->nr), NULL));
  for (int64_t k = t->nr - 1; k >= 0; k -= step) {
    quad r = radii ? (quad)radii[k] : truth_radius(k, t->nr), sum = 0;
    truth_worland(type, op, t->l, r, t->n, w);
    for (int64_t n = 0; n < t->n; n++)
      sum += w[n] * (quad)t->c[n] * (natural ? (quad)truth_norm(type, t->l, n) : 1);
    got[count] = t->f[k];
    want[count++] = sum;
  }
  double e = truth_error(got, want, count);
  free(w);
  free(want);
  free(got);
  return e;
}

static void engines(void)
{
  static const int64_t l[] = {0, 1, 2, 3, 7, 16, 125, 250}, n[] = {1, 2, 5, 33, 64, 40, 64, 96};
  for (int type = 0; type < 5; type++)
    for (size_t i = 0; i < sizeof l / sizeof *l; i++)
      for (int engine = 0; engine < 5; engine++) {
        if (type == KUGEL_WORLAND_JACOBI && engine != KUGEL_WORLAND_CONNECTION && l[i] > 16)
          continue; /* as the other types; sums in 113 bits are slow */
        one t = one_make((kugel_jwt_opts){.type = type, .a = 1, .shift = 0.5, .engine = engine, .n = n[i]},
                         l[i], i);
        double e = synthesis_error(&t, type, 0, false, NULL, 40);
        double bound = engine == KUGEL_WORLAND_QUADRATURE   ? 1e-11
                       : engine == KUGEL_WORLAND_BIDIAGONAL ? 4e-13
                       : engine != KUGEL_WORLAND_CONNECTION ? 1e-14
                       : type                               ? 5e-15
                                                            : 3e-15;
        if (!(e <= bound))
          CHECK_FAIL("type %d, engine %d, l %lld, n %lld: synthesis %g", type, engine, (long long)l[i],
                     (long long)n[i], e);
        if (engine != KUGEL_WORLAND_QUADRATURE || !type) {
          CHECK_OK(kugel_jwt_analysis(t.plan, 0, KUGEL_ARRAY(t.f, KUGEL_F64, 1, t.nr),
                                      KUGEL_ARRAY(t.back, KUGEL_F64, 1, t.n), NULL));
          CHECK_CLOSE(t.back, t.c, (size_t)t.n,
                      engine == KUGEL_WORLAND_QUADRATURE   ? 1e-11
                      : engine == KUGEL_WORLAND_BIDIAGONAL ? 4e-13
                      : type == KUGEL_WORLAND_JACOBI       ? 5e-14
                                                           : 5e-15);
        }
        one_free(&t);
      }
}

static void operators(void)
{
  static const int64_t l[] = {0, 1, 2, 3, 8, 41};
  for (int type = 0; type < 5; type++)
    for (int op = 1; op <= KUGEL_WORLAND_CYL_LAPL; op++)
      for (size_t i = 0; i < sizeof l / sizeof *l; i++)
        for (int64_t n = 1; n < 50; n = 3 * n + 2) {
          one t = one_make((kugel_jwt_opts){.type = type, .a = 1, .shift = 0.5, .n = n, .norm = (int)(i % 2)},
                           l[i], i);
          double e = synthesis_error(&t, type, op, i % 2, NULL, 40);
          if (!(e <= 2e-14))
            CHECK_FAIL("type %d, operator %d, l %lld, n %lld: %g", type, op, (long long)l[i], (long long)n,
                       e);
          one_free(&t);
        }
}

static void at_radii(void)
{
  static const double r[] = {0, 1, 0.5, 0.999, 1e-3, 0.7, 0.25, 1e-300};
  for (int type = 0; type < 5; type++)
    for (int engine = 1; engine < 3; engine++)
      for (int64_t l = 0; l < 60; l = 2 * l + 1) {
        one t = one_make(
            (kugel_jwt_opts){
                .type = type, .a = 1, .shift = 0.5, .engine = engine, .n = 50, .nr = 8, .radii = r},
            l, 3);
        double e = synthesis_error(&t, type, 0, false, r, 8);
        if (!(e <= 5e-15))
          CHECK_FAIL("type %d, engine %d, l %lld: %g", type, engine, (long long)l, e);
        CHECK_IS(kugel_jwt_analysis(t.plan, 0, KUGEL_ARRAY(t.f, KUGEL_F64, 1, 8),
                                    KUGEL_ARRAY(t.back, KUGEL_F64, 1, 50), NULL),
                 KUGEL_EINVAL);
        one_free(&t);
      }
}

/* <S a, f> = <a, S^T f> for every operator, both ways, through all engines. */
static void adjoints(void)
{
  int64_t l[] = {0, 1, 2, 9, 30, 4}, nl[] = {20, 19, 13, 20, 3, 1}, mult[] = {1, 3, 2, 5, 1, 7};
  enum { SYSTEMS = 19, N = 20, NR = 41 };
  double *x = malloc(sizeof(double) * SYSTEMS * NR * 4), *y = x + SYSTEMS * NR, *sx = y + SYSTEMS * NR,
         *sy = sx + SYSTEMS * NR;
  static const int flags[] = {0, KUGEL_WORLAND_ZERO, KUGEL_WORLAND_I2, KUGEL_WORLAND_I4,
                              KUGEL_WORLAND_I4 | KUGEL_WORLAND_ZERO};
  for (int type = 0; type < 5; type++)
    for (int engine = 0; engine < 5; engine += 1 + engine / 2)
      for (int analysis = 0; analysis < 2; analysis++)
        for (int op = 0; op <= (analysis ? 4 : 6); op++)
          for (int f = 0; f < (analysis ? 5 : 2); f++) {
            kugel_jwt_opts o = {.size = sizeof o,
                                .type = type,
                                .a = 1,
                                .shift = 0.5,
                                .engine = engine,
                                .n = N,
                                .blocks = 6,
                                .l = l,
                                .multiplicity = mult,
                                .nl = nl,
                                .nr = NR,
                                .norm = op % 2};
            kugel_jwt *plan;
            uint64_t seed = (uint64_t)(op + f);
            double left = 0, right = 0, scale = 0;
            int64_t in = analysis ? NR : N, out = analysis ? N : NR;
            if (analysis && op == KUGEL_WORLAND_D1)
              continue;
            CHECK_OK(kugel_jwt_create(NULL, &o, &plan));
            for (int i = 0; i < 2 * SYSTEMS * NR; i++)
              x[i] = check_random(&seed);
            CHECK_OK((analysis ? kugel_jwt_analysis : kugel_jwt_synthesis)(
                plan, op | flags[f], KUGEL_ARRAY(x, KUGEL_F64, SYSTEMS, in),
                KUGEL_ARRAY(sx, KUGEL_F64, SYSTEMS, out), NULL));
            CHECK_OK((analysis ? kugel_jwt_analysis_adjoint : kugel_jwt_synthesis_adjoint)(
                plan, op | flags[f], KUGEL_ARRAY(y, KUGEL_F64, SYSTEMS, out),
                KUGEL_ARRAY(sy, KUGEL_F64, SYSTEMS, in), NULL));
            for (int64_t i = 0; i < SYSTEMS * out; i++) {
              left += sx[i] * y[i];
              scale += sx[i] * sx[i];
            }
            for (int64_t i = 0; i < SYSTEMS * in; i++)
              right += x[i] * sy[i];
            scale = sqrt(scale) * sqrt(SYSTEMS * (double)out / 3);
            if (!(fabs(left - right) <= 1e-14 * scale))
              CHECK_FAIL("type %d, engine %d, analysis %d, operator 0x%x: %.17g, %.17g", type, engine,
                         analysis, op | flags[f], left, right);
            kugel_jwt_destroy(plan);
          }
  free(x);
}

/* Analyses with operators undo or equal what they stand for. */
static void analyses(void)
{
  int64_t l[] = {0, 1, 2, 7, 12}, up[] = {1, 2, 3, 8, 13};
  enum { N = 12, NR = 24 };
  double c[5 * N], f[5 * NR], g[5 * NR], got[5 * N], want[5 * N];
  for (int type = 0; type < 5; type++) {
    kugel_jwt *plan, *plan_up;
    uint64_t seed = 5;
    for (int i = 0; i < 5 * N; i++)
      c[i] = i % N < N - 1 ? check_random(&seed) : 0;
    kugel_jwt_opts o = {
        .size = sizeof o, .type = type, .a = 1, .shift = 0.5, .n = N, .blocks = 5, .l = l, .nr = NR};
    CHECK_OK(kugel_jwt_create(NULL, &o, &plan));
    o.l = up;
    CHECK_OK(kugel_jwt_create(NULL, &o, &plan_up));
    /* of a series of degree l + 1: values of op by synthesis, then plain analysis in degree l, against analysis with op */
    for (int op = KUGEL_WORLAND_R1; op <= KUGEL_WORLAND_DIV_R1_D1_R1; op++) {
      CHECK_OK(kugel_jwt_synthesis(plan_up, 0, KUGEL_ARRAY(c, KUGEL_F64, 5, N),
                                   KUGEL_ARRAY(f, KUGEL_F64, 5, NR), NULL));
      CHECK_OK(kugel_jwt_synthesis(plan_up, op, KUGEL_ARRAY(c, KUGEL_F64, 5, N),
                                   KUGEL_ARRAY(g, KUGEL_F64, 5, NR), NULL));
      CHECK_OK(kugel_jwt_analysis(plan, 0, KUGEL_ARRAY(g, KUGEL_F64, 5, NR),
                                  KUGEL_ARRAY(want, KUGEL_F64, 5, N), NULL));
      CHECK_OK(kugel_jwt_analysis(plan, op, KUGEL_ARRAY(f, KUGEL_F64, 5, NR),
                                  KUGEL_ARRAY(got, KUGEL_F64, 5, N), NULL));
      CHECK_CLOSE(got, want, 5 * N, 2e-14);
    }
    kugel_jwt_destroy(plan);
    kugel_jwt_destroy(plan_up);
  }
}

/* The twofold integral, differentiated twice over x, is the function. */
static void integrals(void)
{
  enum { N = 14, NR = 40 };
  for (int type = 0; type < 5; type++)
    for (int64_t l = 0; l < 12; l = 2 * l + 1)
      for (int k = 2; k <= 4; k += 2) {
        kugel_jwt *plan;
        uint64_t seed = 9;
        double c[N + 4] = {0}, f[NR], got[N + 4];
        kugel_jwt_opts o = {
            .size = sizeof o, .type = type, .a = 1, .shift = 0.5, .n = N + 4, .blocks = 1, .l = &l, .nr = NR};
        for (int i = 0; i < N; i++)
          c[i] = check_random(&seed);
        CHECK_OK(kugel_jwt_create(NULL, &o, &plan));
        CHECK_OK(kugel_jwt_synthesis(plan, 0, KUGEL_ARRAY(c, KUGEL_F64, 1, N + 4),
                                     KUGEL_ARRAY(f, KUGEL_F64, 1, NR), NULL));
        CHECK_OK(kugel_jwt_analysis(plan, k == 2 ? KUGEL_WORLAND_I2 : KUGEL_WORLAND_I4,
                                    KUGEL_ARRAY(f, KUGEL_F64, 1, NR), KUGEL_ARRAY(got, KUGEL_F64, 1, N + 4),
                                    NULL));
        for (int i = 0; i < k; i++)
          CHECK(got[i] == 0);
        /* p = f / r^l at some x by the coefficients; its k-th derivative over x by those of the integral */
        quad w[N + 4], d[N + 4], worst = 0, scale = 0;
        for (int i = 1; i < 10; i++) {
          quad sum = 0, back = 0, r = (quad)i / 10;
          truth_worland(type, 0, l, r, N + 4, w);
          for (int n = 0; n < N; n++)
            sum += w[n] * (quad)c[n] / quad_power(r, l);
          truth_derivative(type, l, k, r, N + 4, d);
          for (int n = 0; n < N + 4; n++)
            back += d[n] * (quad)got[n];
          quad e = back - sum;
          worst = e > worst ? e : -e > worst ? -e : worst;
          scale = sum > scale ? sum : -sum > scale ? -sum : scale;
        }
        CHECK_LE((double)(worst / scale), k == 2 ? 3e-14 : 1e-12);
        kugel_jwt_destroy(plan);
      }
}

static void energies(void)
{
  /* r^2 |f|^2 in closed form: f = r^l, energy 1 / (2 l + 3); and of complex series against the Gram matrix of type sphere energy */
  enum { N = 6 };
  for (int type = 0; type < 5; type++)
    for (int64_t l = 0; l < 40; l = 3 * l + 1) {
      kugel_jwt *plan;
      double c[2 * N] = {1}, e[2], d[1];
      kugel_jwt_opts o = {.size = sizeof o,
                          .type = type,
                          .a = 1,
                          .shift = 0.5,
                          .norm = KUGEL_WORLAND_NATURAL,
                          .n = N,
                          .blocks = 1,
                          .l = &l,
                          .complex_data = 1,
                          .energy = 1};
      c[1] = -2;
      CHECK_OK(kugel_jwt_create(NULL, &o, &plan));
      CHECK_OK(
          kugel_jwt_energy(plan, 0, KUGEL_ARRAY(c, KUGEL_C128, 1, N), KUGEL_ARRAY(e, KUGEL_F64, 1), NULL));
      CHECK_LE(fabs(e[0] * (double)(2 * l + 3) / 5 - 1), 1e-14);
      CHECK_OK(kugel_jwt_energy(plan, KUGEL_WORLAND_D1, KUGEL_ARRAY(c, KUGEL_C128, 1, N),
                                KUGEL_ARRAY(e, KUGEL_F64, 1), NULL));
      CHECK_LE(fabs(e[0] - 5.0 * (double)(l * l) / (double)(2 * l + 1)), 1e-13 * (1 + (double)l));
      CHECK_OK(kugel_jwt_energy(plan, KUGEL_WORLAND_DIV_R1, KUGEL_ARRAY(c, KUGEL_C128, 1, N),
                                KUGEL_ARRAY(d, KUGEL_F64, 1), NULL));
      CHECK_LE(fabs(d[0] * (double)(2 * l + 1) / 5 - 1), 1e-14);
      kugel_jwt_destroy(plan);
      o.type = KUGEL_WORLAND_SPHERE_ENERGY;
      o.norm = KUGEL_WORLAND_UNITY;
      o.complex_data = 0;
      uint64_t seed = 4;
      double want = 0;
      for (int i = 0; i < N; i++) {
        c[i] = check_random(&seed);
        want += c[i] * c[i];
      }
      CHECK_OK(kugel_jwt_create(NULL, &o, &plan));
      CHECK_OK(
          kugel_jwt_energy(plan, 0, KUGEL_ARRAY(c, KUGEL_F64, 1, N), KUGEL_ARRAY(e, KUGEL_F64, 1), NULL));
      CHECK_LE(fabs(e[0] / want - 1), 1e-14);
      kugel_jwt_destroy(plan);
    }
}

/* Batches, complex numbers, transposed views, multiplicities, N(l) and floats give what single systems give. */
static void layouts(void)
{
  enum { N = 17, NR = 30, SYSTEMS = 11, BATCH = 3, COUNT = 2 * BATCH * SYSTEMS };
  int64_t l[] = {5, 0, 16, 3}, nl[] = {17, 4, 9, 1}, mult[] = {4, 1, 5, 1};
  kugel_jwt_opts o = {.size = sizeof o,
                      .n = N,
                      .blocks = 4,
                      .l = l,
                      .multiplicity = mult,
                      .nl = nl,
                      .nr = NR,
                      .complex_data = 1};
  kugel_jwt *plan, *single, *floats;
  static double c[COUNT * N], f[COUNT * NR], f2[COUNT * NR], back[COUNT * N], want[NR];
  static float cs[COUNT * N], fs[COUNT * NR];
  uint64_t seed = 1;
  for (int i = 0; i < COUNT * N; i++)
    cs[i] = (float)(c[i] = (float)check_random(&seed));
  CHECK_OK(kugel_jwt_create(NULL, &o, &plan));
  CHECK_OK(kugel_jwt_synthesis(plan, 0, KUGEL_ARRAY(c, KUGEL_C128, BATCH, SYSTEMS, N),
                               KUGEL_ARRAY(f, KUGEL_C128, BATCH, SYSTEMS, NR), NULL));
  for (int b = 0; b < BATCH; b++)
    for (int s = 0, block = 0, in = 0; s < SYSTEMS; s++, in++) {
      double part[N], got[NR];
      if (in == mult[block])
        block++, in = 0;
      kugel_jwt_opts q = {.size = sizeof q, .n = nl[block], .blocks = 1, .l = &l[block], .nr = NR};
      CHECK_OK(kugel_jwt_create(NULL, &q, &single));
      for (int p = 0; p < 2; p++) {
        for (int i = 0; i < nl[block]; i++)
          part[i] = c[((b * SYSTEMS + s) * N + i) * 2 + p];
        CHECK_OK(kugel_jwt_synthesis(single, 0, KUGEL_ARRAY(part, KUGEL_F64, nl[block]),
                                     KUGEL_ARRAY(want, KUGEL_F64, NR), NULL));
        for (int k = 0; k < NR; k++)
          got[k] = f[((b * SYSTEMS + s) * NR + k) * 2 + p];
        CHECK_CLOSE(got, want, NR, 3e-15);
      }
      kugel_jwt_destroy(single);
    }
  /* [n, systems, batch] as views */
  int64_t shape_c[] = {BATCH, SYSTEMS, N}, step_c[] = {1, BATCH, BATCH * SYSTEMS};
  int64_t shape_f[] = {BATCH, SYSTEMS, NR}, step_f[] = {1, BATCH, BATCH * SYSTEMS};
  static double ct[COUNT * N], ft[COUNT * NR];
  for (int b = 0; b < BATCH; b++)
    for (int s = 0; s < SYSTEMS; s++)
      for (int i = 0; i < 2 * N; i++)
        ct[(i / 2 * BATCH * SYSTEMS + s * BATCH + b) * 2 + i % 2] = c[(b * SYSTEMS + s) * N * 2 + i];
  kugel_array vc = {.data = ct,
                    .device = {KUGEL_CPU, 0},
                    .ndim = 3,
                    .dtype = KUGEL_C128,
                    .shape = shape_c,
                    .strides = step_c};
  kugel_array vf = {.data = ft,
                    .device = {KUGEL_CPU, 0},
                    .ndim = 3,
                    .dtype = KUGEL_C128,
                    .shape = shape_f,
                    .strides = step_f};
  CHECK_OK(kugel_jwt_synthesis(plan, 0, &vc, &vf, NULL));
  for (int b = 0; b < BATCH; b++)
    for (int s = 0; s < SYSTEMS; s++)
      for (int i = 0; i < 2 * NR; i++)
        f2[(b * SYSTEMS + s) * NR * 2 + i] = ft[(i / 2 * BATCH * SYSTEMS + s * BATCH + b) * 2 + i % 2];
  CHECK(!memcmp(f, f2, sizeof f));
  CHECK_OK(kugel_jwt_analysis(plan, 0, KUGEL_ARRAY(f, KUGEL_C128, BATCH, SYSTEMS, NR),
                              KUGEL_ARRAY(back, KUGEL_C128, BATCH, SYSTEMS, N), NULL));
  for (int b = 0; b < BATCH; b++)
    for (int s = 0, block = 0, in = 0; s < SYSTEMS; s++, in++) {
      if (in == mult[block])
        block++, in = 0;
      for (int i = 2 * (int)nl[block]; i < 2 * N; i++)
        CHECK(back[(b * SYSTEMS + s) * N * 2 + i] == 0);
      CHECK_CLOSE(back + (b * SYSTEMS + s) * N * 2, c + (b * SYSTEMS + s) * N * 2, (size_t)(2 * nl[block]),
                  5e-15);
    }
  /* threads */
  kugel_set_num_threads(5);
  CHECK_OK(kugel_jwt_synthesis(plan, 0, KUGEL_ARRAY(c, KUGEL_C128, BATCH, SYSTEMS, N),
                               KUGEL_ARRAY(f2, KUGEL_C128, BATCH, SYSTEMS, NR), NULL));
  CHECK(!memcmp(f, f2, sizeof f));
  kugel_set_num_threads(0);
  kugel_jwt_destroy(plan);
  for (int engine = 0; engine < 3; engine++) {
    o.precision = KUGEL_PRECISION_F32;
    o.engine = engine;
    CHECK_OK(kugel_jwt_create(NULL, &o, &floats));
    CHECK_OK(kugel_jwt_synthesis(floats, 0, KUGEL_ARRAY(cs, KUGEL_C64, BATCH, SYSTEMS, N),
                                 KUGEL_ARRAY(fs, KUGEL_C64, BATCH, SYSTEMS, NR), NULL));
    for (int i = 0; i < COUNT * NR; i++)
      f2[i] = fs[i];
    CHECK_CLOSE(f2, f, COUNT * NR, 1e-6);
    kugel_jwt_destroy(floats);
  }
}

/* Lists of lengths: tables of a degree hold the functions of its own blocks, operators lead to it from longer ones. */
static void lengths(void)
{
  enum { N = 40, NR = 80, B = 5 };
  static const int64_t l[B] = {31, 30, 2, 3, 30}, nl[B] = {40, 3, 1, 33, 9};
  double c[B * N], f[4][B * NR], back[B * N];
  uint64_t seed = 2;
  for (int i = 0; i < B * N; i++)
    c[i] = i % N < nl[i / N] ? check_random(&seed) : 0;
  for (int op = 0; op <= KUGEL_WORLAND_CYL_LAPL; op++)
    for (int engine = 1; engine < 4; engine++) {
      kugel_jwt *plan;
      kugel_jwt_opts o = {
          .size = sizeof o, .engine = engine, .n = N, .nr = NR, .blocks = B, .l = l, .nl = nl};
      CHECK_OK(kugel_jwt_create(NULL, &o, &plan));
      CHECK_OK(kugel_jwt_synthesis(plan, op, KUGEL_ARRAY(c, KUGEL_F64, B, N),
                                   KUGEL_ARRAY(f[engine], KUGEL_F64, B, NR), NULL));
      for (int b = 0; b < B; b++) /* engine quadrature: errors of n^2, n^4 times those of tables */
        CHECK_CLOSE(f[engine] + b * NR, f[1] + b * NR, NR, engine == KUGEL_WORLAND_QUADRATURE ? 1e-9 : 2e-14);
      CHECK_OK(kugel_jwt_analysis(plan, 0, KUGEL_ARRAY(f[engine], KUGEL_F64, B, NR),
                                  KUGEL_ARRAY(back, KUGEL_F64, B, N), NULL));
      if (!op)
        CHECK_CLOSE(back, c, B * N, engine == KUGEL_WORLAND_QUADRATURE ? 1e-11 : 5e-15);
      kugel_jwt_destroy(plan);
    }
}

/* A limit of one table goes to the degree that has most to spare. */
static void best_table(void)
{
  int64_t l[] = {40, 100, 200, 160}, multiplicity[] = {1, 1, 1, 4};
  kugel_jwt_opts o = {.size = sizeof o,
                      .n = 64,
                      .blocks = 4,
                      .l = l,
                      .multiplicity = multiplicity,
                      .nr = 170,
                      .max_table = 64 * 170 * 8};
  kugel_jwt *p = NULL;
  CHECK_OK(kugel_jwt_create(NULL, &o, &p));
  if (p)
    for (int i = 0; i < 4; i++)
      CHECK((p->dense[l[i]] != NULL) == (l[i] == 160));
  kugel_jwt_destroy(p);
}

int main(void)
{
  CASE("the best table") best_table();
  CASE("every type and engine against sums in 113 bits")
  {
    engines();
  }
  CASE("operators against sums in 113 bits")
  {
    operators();
  }
  CASE("radii of the caller")
  {
    at_radii();
  }
  CASE("adjoints")
  {
    adjoints();
  }
  CASE("analysis with operators")
  {
    analyses();
  }
  CASE("quasi-inverses")
  {
    integrals();
  }
  CASE("energies")
  {
    energies();
  }
  CASE("lists of lengths, with operators between them")
  {
    lengths();
  }
  CASE("layouts, multiplicities, floats, threads")
  {
    layouts();
  }
  END();
}
