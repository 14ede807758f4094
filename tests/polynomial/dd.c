/* SPDX-License-Identifier: BSD-3-Clause */
/* Jones-Worland transforms in double-double: sums in 113 bits, round trips, adjoints, layouts, threads, refusals, failures. */
#include "check.h"
#include "core/alloc.h"
#include "truth.h"

static uint64_t seed = 1;

static void fill(double *x, int64_t numbers) /* pairs */
{
  for (int64_t i = 0; i < numbers; i++) {
    x[2 * i] = check_random(&seed);
    x[2 * i + 1] = check_random(&seed) * 0x1p-56;
  }
}

static quad value(const double *x, int64_t i)
{
  return (quad)x[2 * i] + (quad)x[2 * i + 1];
}

/* cos(pi (2 k + 1) / (4 nr)) by the series of the sine or cosine of an angle below pi / 4. */
static quad radius(int64_t k, int64_t nr)
{
  quad pi = (quad)3.141592653589793 + (quad)1.2246467991473532e-16 + (quad)-2.994769809718339666e-33;
  bool sine = 2 * k + 1 > nr;
  quad t = pi * (quad)(sine ? 2 * (nr - k) - 1 : 2 * k + 1) / (quad)(4 * nr), term = sine ? t : 1, sum = 0;
  for (int i = sine ? 1 : 0; i < 60; i += 2) {
    sum += term;
    term *= -t * t / (quad)((i + 1) * (i + 2));
  }
  return sum;
}

static kugel_jwt *plan_of(kugel_ctx *ctx, int64_t n, int64_t blocks, const int64_t *l,
                          const int64_t *multiplicity, int64_t nr, int complex)
{
  kugel_jwt *p = NULL;
  CHECK_OK(kugel_jwt_create(ctx,
                            &(kugel_jwt_opts){.size = sizeof(kugel_jwt_opts),
                                              .precision = KUGEL_PRECISION_DD,
                                              .n = n,
                                              .blocks = blocks,
                                              .l = l,
                                              .multiplicity = multiplicity,
                                              .nr = nr,
                                              .complex_data = complex},
                            &p));
  return p;
}

/* The largest error of x[n] pairs over the largest value. */
static double error(const double *x, const quad *want, int64_t n)
{
  double worst = 0, scale = 0;
  for (int64_t i = 0; i < n; i++) {
    quad d = value(x, i) - want[i];
    worst = fmax(worst, fabs((double)d));
    scale = fmax(scale, fabs((double)want[i]));
    if (isnan((double)d))
      return INFINITY;
  }
  return scale > 0 ? worst / scale : worst;
}

enum { N = 13, NR = 40 };

static void sums(void)
{
  static const int64_t l[] = {0, 1, 2, 7, 30, 53};
  static double c[6][N][2], f[6][NR][2], back[6][N][2];
  static quad want[6 * NR], w[N];
  kugel_jwt *p = plan_of(NULL, N, 6, l, NULL, NR, 0);
  fill(&c[0][0][0], 6 * N);
  CHECK_OK(kugel_jwt_synthesis(p, 0, KUGEL_ARRAY(c, KUGEL_F64, 6, N, 2), KUGEL_ARRAY(f, KUGEL_F64, 6, NR, 2),
                               NULL));
  for (int i = 0; i < 6; i++)
    for (int64_t k = 0; k < NR; k++) {
      truth_worland(0, 0, l[i], radius(k, NR), N, w);
      want[i * NR + k] = 0;
      for (int64_t n = 0; n < N; n++)
        want[i * NR + k] += w[n] * value(&c[i][0][0], n);
    }
  CHECK_LE(error(&f[0][0][0], want, 6 * NR), 1e-30);
  CHECK_OK(kugel_jwt_analysis(p, 0, KUGEL_ARRAY(f, KUGEL_F64, 6, NR, 2),
                              KUGEL_ARRAY(back, KUGEL_F64, 6, N, 2), NULL));
  for (int i = 0; i < 6 * N; i++)
    want[i] = value(&c[0][0][0], i);
  CHECK_LE(error(&back[0][0][0], want, 6 * N), 1e-30);
  CHECK_OK(kugel_jwt_synthesis(p, KUGEL_WORLAND_ZERO, KUGEL_ARRAY(c, KUGEL_F64, 6, N, 2),
                               KUGEL_ARRAY(f, KUGEL_F64, 6, NR, 2), NULL));
  CHECK(f[0][3][0] == 0 && f[1][3][0] != 0);
  kugel_jwt_destroy(p);
}

/* Every degree to 200 and back, and the double plan's numbers. */
static void degrees(void)
{
  enum { L = 201, COUNT = 24 };
  int64_t l[L];
  for (int i = 0; i < L; i++)
    l[i] = L - 1 - i;
  kugel_jwt *p = plan_of(NULL, COUNT, L, l, NULL, 0, 0), *q = NULL;
  kugel_jwt_info info = {.size = sizeof info};
  CHECK_OK(kugel_jwt_get_info(p, &info));
  CHECK(info.nr == COUNT + 100 && info.systems == L && info.dense_blocks == 0 && info.table_bytes > 0);
  int64_t nr = info.nr;
  double *c = malloc(L * COUNT * 16), *back = malloc(L * COUNT * 16), *f = malloc((size_t)(L * nr) * 16),
         *plain = malloc((size_t)(L * nr) * 8), *high = malloc(L * COUNT * 8);
  quad *want = malloc((size_t)(L * nr) * sizeof *want);
  fill(c, L * COUNT);
  CHECK_OK(kugel_jwt_synthesis(p, 0, KUGEL_ARRAY(c, KUGEL_F64, L, COUNT, 2),
                               KUGEL_ARRAY(f, KUGEL_F64, L, nr, 2), NULL));
  CHECK_OK(kugel_jwt_analysis(p, 0, KUGEL_ARRAY(f, KUGEL_F64, L, nr, 2),
                              KUGEL_ARRAY(back, KUGEL_F64, L, COUNT, 2), NULL));
  for (int i = 0; i < L * COUNT; i++) {
    want[i] = value(c, i);
    high[i] = c[2 * i];
  }
  CHECK_LE(error(back, want, L * COUNT), 2e-30);
  CHECK_OK(kugel_jwt_create(
      NULL, &(kugel_jwt_opts){.size = sizeof(kugel_jwt_opts), .n = COUNT, .blocks = L, .l = l, .nr = nr},
      &q));
  CHECK_OK(kugel_jwt_synthesis(q, 0, KUGEL_ARRAY(high, KUGEL_F64, L, COUNT),
                               KUGEL_ARRAY(plain, KUGEL_F64, L, nr), NULL));
  for (int64_t i = 0; i < L * nr; i++)
    want[i] = value(f, i);
  CHECK_LE(truth_error(plain, want, L * nr), 5e-15);
  kugel_jwt_destroy(p);
  kugel_jwt_destroy(q);
  free(c), free(back), free(f), free(plain), free(high), free(want);
}

static quad inner(const double *x, const double *y, int64_t n)
{
  quad sum = 0;
  for (int64_t i = 0; i < n; i++)
    sum += value(x, i) * value(y, i);
  return sum;
}

static void adjoints(void)
{
  static const int64_t l[] = {0, 3, 8, 1}, multiplicity[] = {1, 2, 1, 1};
  static double c[5 * N * 2], f[5 * NR * 2], g[5 * NR * 2], d[5 * N * 2];
  kugel_jwt *p = plan_of(NULL, N, 4, l, multiplicity, NR, 0);
  const kugel_array *ca = KUGEL_ARRAY(c, KUGEL_F64, 5, N, 2), *fa = KUGEL_ARRAY(f, KUGEL_F64, 5, NR, 2),
                    *ga = KUGEL_ARRAY(g, KUGEL_F64, 5, NR, 2), *da = KUGEL_ARRAY(d, KUGEL_F64, 5, N, 2);
  fill(c, 5 * N);
  fill(g, 5 * NR);
  CHECK_OK(kugel_jwt_synthesis(p, 0, ca, fa, NULL));
  CHECK_OK(kugel_jwt_synthesis_adjoint(p, 0, ga, da, NULL));
  CHECK_LE(fabs((double)(inner(f, g, 5 * NR) - inner(c, d, 5 * N))), 1e-28);
  CHECK_OK(kugel_jwt_analysis_adjoint(p, 0, ca, fa, NULL));
  CHECK_OK(kugel_jwt_analysis(p, 0, ga, da, NULL));
  CHECK_LE(fabs((double)(inner(f, g, 5 * NR) - inner(c, d, 5 * N))), 1e-28);
  kugel_jwt_destroy(p);
}

/* Complex numbers, a batch, systems side by side, threads: the bits of real ones in C order. */
static void layouts(void)
{
  static const int64_t l[] = {4, 1};
  static double re[2][2][N][2], im[2][2][N][2], both[2][N][2][2][2], f[2][2][2][NR][2], z[2][2][NR][2][2];
  kugel_ctx *ctx = NULL;
  CHECK_OK(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .threads = 3}, &ctx));
  kugel_jwt *real = plan_of(NULL, N, 2, l, NULL, NR, 0), *complex = plan_of(ctx, N, 2, l, NULL, NR, 1);
  fill(&re[0][0][0][0], 4 * N);
  fill(&im[0][0][0][0], 4 * N);
  for (int b = 0; b < 2; b++)
    for (int s = 0; s < 2; s++)
      for (int i = 0; i < N; i++)
        for (int part = 0; part < 2; part++) { /* [batch][n][systems][pair] complex */
          both[b][i][s][part][0] = re[b][s][i][part];
          both[b][i][s][part][1] = im[b][s][i][part];
        }
  int64_t shape[] = {2, 2, N, 2}, strides[] = {4 * N, 2, 4, 1};
  kugel_array in = {.data = both, .ndim = 4, .dtype = KUGEL_C128, .shape = shape, .strides = strides};
  in.device.type = KUGEL_CPU;
  CHECK_OK(kugel_jwt_synthesis(real, 0, KUGEL_ARRAY(re, KUGEL_F64, 2, 2, N, 2),
                               KUGEL_ARRAY(f[0], KUGEL_F64, 2, 2, NR, 2), NULL));
  CHECK_OK(kugel_jwt_synthesis(real, 0, KUGEL_ARRAY(im, KUGEL_F64, 2, 2, N, 2),
                               KUGEL_ARRAY(f[1], KUGEL_F64, 2, 2, NR, 2), NULL));
  CHECK_OK(kugel_jwt_synthesis(complex, 0, &in, KUGEL_ARRAY(z, KUGEL_C128, 2, 2, NR, 2), NULL));
  for (int b = 0; b < 2; b++)
    for (int s = 0; s < 2; s++)
      for (int i = 0; i < NR; i++)
        for (int k = 0; k < 4; k++)
          CHECK(z[b][s][i][k / 2][k % 2] <= f[k % 2][b][s][i][k / 2] &&
                z[b][s][i][k / 2][k % 2] >= f[k % 2][b][s][i][k / 2]);
  CHECK_IS(kugel_jwt_synthesis(complex, 0, &in, &in, NULL), KUGEL_ESHAPE);
  CHECK_IS(kugel_jwt_synthesis(real, 0, KUGEL_ARRAY(re, KUGEL_F64, 2, 2, N),
                               KUGEL_ARRAY(f[0], KUGEL_F64, 2, 2, NR), NULL),
           KUGEL_ESHAPE);
  CHECK_IS(kugel_jwt_analysis(real, 0, KUGEL_ARRAY(f, KUGEL_F64, 2, NR, 2),
                              KUGEL_ARRAY(&f[0][0][0][NR / 2][0], KUGEL_F64, 2, N, 2), NULL),
           KUGEL_EINVAL);
  CHECK(strstr(kugel_last_error(), "overlap"));
  kugel_jwt_destroy(real);
  kugel_jwt_destroy(complex);
  kugel_ctx_destroy(ctx);
}

static void refusals(void)
{
  int64_t l = 2;
  double r = 0.5, c[N][2] = {{0}}, f[NR][2] = {{0}};
  kugel_jwt_opts o = {.size = sizeof o, .precision = KUGEL_PRECISION_DD, .n = N, .blocks = 1, .l = &l};
  kugel_jwt *p = NULL;
#define REFUSED(change, back)                                                                                \
  change;                                                                                                    \
  CHECK_IS(kugel_jwt_create(NULL, &o, &p), KUGEL_ENOTSUP);                                                   \
  CHECK(strstr(kugel_last_error(), "KUGEL_PRECISION_DD"));                                                   \
  back
  REFUSED(o.type = KUGEL_WORLAND_LEGENDRE, o.type = 0);
  REFUSED(o.norm = KUGEL_WORLAND_NATURAL, o.norm = 0);
  REFUSED(o.engine = KUGEL_WORLAND_DENSE, o.engine = 0);
  REFUSED(o.energy = 1, o.energy = 0);
  REFUSED((o.radii = &r, o.nr = 1), (o.radii = NULL, o.nr = NR));
  CHECK_OK(kugel_jwt_create(NULL, &o, &p));
  CHECK_IS(kugel_jwt_synthesis(p, KUGEL_WORLAND_D1, KUGEL_ARRAY(c, KUGEL_F64, N, 2),
                               KUGEL_ARRAY(f, KUGEL_F64, NR, 2), NULL),
           KUGEL_ENOTSUP);
  CHECK(strstr(kugel_last_error(), "double-double"));
  kugel_jwt_destroy(p);
}

int main(void)
{
  CASE("sums in 113 bits, there and back")
  {
    sums();
  }
  CASE("all degrees to 200 come back, and agree with double")
  {
    degrees();
  }
  CASE("adjoints")
  {
    adjoints();
  }
  CASE("complex numbers, strides, batches, threads")
  {
    layouts();
  }
  CASE("what there is not in double-double")
  {
    refusals();
  }
  CASE("every allocation may fail")
  {
    static const int64_t l[] = {2, 5};
    static double c[2][N][2], f[2][NR][2];
    kugel_status s = KUGEL_ENOMEM;
    int64_t n = 0;
    while (s && n++ < 200) {
      kugel_jwt *p = NULL;
      kugel__fault_alloc(n);
      s = kugel_jwt_create(NULL,
                           &(kugel_jwt_opts){.size = sizeof(kugel_jwt_opts),
                                             .precision = KUGEL_PRECISION_DD,
                                             .n = N,
                                             .blocks = 2,
                                             .l = l,
                                             .nr = NR},
                           &p);
      if (!s)
        s = kugel_jwt_synthesis(p, 0, KUGEL_ARRAY(c, KUGEL_F64, 2, N, 2), KUGEL_ARRAY(f, KUGEL_F64, 2, NR, 2),
                                NULL);
      kugel__fault_alloc(0);
      kugel_jwt_destroy(p);
      CHECK(s == KUGEL_OK || s == KUGEL_ENOMEM);
    }
    CHECK(n > 5 && n < 200);
  }
  END();
}
