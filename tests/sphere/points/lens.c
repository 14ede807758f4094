/* SPDX-License-Identifier: BSD-3-Clause */
/* The lensed sky against a remap by hand: sums in long double at the end of each great circle, frames carried by a rotation of
 * space; its adjoint; its rules. */
#include "sweep.h"
#include "sphere/truth.h"
#include <kugel/alm.h>
#include <kugel/points.h>

enum { N = 50 };

/* Points, some at and next to poles, and deflections up to a radian. */
static void some(double *x, double *d)
{
  uint64_t own = 4;
  for (int i = 0; i < N; i++) {
    x[2 * i] = i == 0 ? 0 : i == 1 ? M_PI : i == 2 ? 1e-7 : acos(check_random(&own));
    x[2 * i + 1] = 4 * check_random(&own);
    for (int k = 0; k < 2; k++)
      d[k * N + i] = i == 5 ? 0 : check_random(&own) * (i % 2 ? 1e-3 : 0.7);
  }
}

static void frame(double theta, double phi, double f[3][3])
{
  const double s = sin(theta), c = cos(theta), x = cos(phi), y = sin(phi);
  const double all[3][3] = {{s * x, s * y, c}, {c * x, c * y, -s}, {-y, x, 0}};
  memcpy(f, all, sizeof all);
}

static double along(const double *a, const double *b)
{
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* The rotation by `angle` about an axis, of v: Rodrigues' formula. */
static void rotated(const double *axis, double angle, const double *v, double *out)
{
  const double c = cos(angle), s = sin(angle), a = along(axis, v) * (1 - c);
  for (int k = 0; k < 3; k++) {
    const int l = (k + 1) % 3, m = (k + 2) % 3;
    out[k] = c * v[k] + s * (axis[l] * v[m] - axis[m] * v[l]) + a * axis[k];
  }
}

/* Values that point i sees. */
static void remap(kugel_sht_mode mode, int spin, int64_t lmax, const double *alm, int64_t nalm,
                  const double *x, const double *d, int i, int sets, double *seen)
{
  double here[3][3], there[3][3], axis[3], q[3], back[3][3] = {{0}};
  frame(x[2 * i], x[2 * i + 1], here);
  const double a = d[i], b = d[N + i], length = hypot(a, b);
  for (int k = 0; k < 3; k++) // p x e = (a p x south + b p x east) / length
    axis[k] = length > 0 ? (a * here[2][k] - b * here[1][k]) / length : 0;
  rotated(axis, length, here[0], q);
  const double theta = atan2(hypot(q[0], q[1]), q[2]), phi = atan2(q[1], q[0]);
  truth(mode, spin, lmax, lmax, alm, nalm, theta, phi, seen);
  frame(theta, phi, there);
  for (int k = 1; k < 3; k++)
    rotated(axis, -length, there[k], back[k]);
  const int first = sets == 3, s = mode == KUGEL_SHT_TEB ? 2 : mode == KUGEL_SHT_SPIN ? spin : 1;
  if (sets == 1)
    return;
  /* the direction of theta there, brought back, stands at this angle from that of theta here */
  const double angle = s * atan2(along(back[1], here[2]), along(back[1], here[1])), u = seen[first],
               v = seen[first + 1];
  seen[first] = cos(angle) * u - sin(angle) * v;
  seen[first + 1] = sin(angle) * u + cos(angle) * v;
}

static void one(kugel_sht_mode mode, int spin, double tolerance)
{
  const int64_t lmax = 20, nalm = kugel_alm_count(lmax, lmax);
  const shape sets = shape_of(mode, spin);
  const kugel_sht_points_opts o = {
      .size = sizeof o, .lmax = lmax, .mmax = lmax, .mode = mode, .spin = spin, .tolerance = tolerance};
  double x[2 * N], d[2 * N], got[6 * N], want[3 * N], point[3];
  some(x, d);
  kugel_sht_points_plan *plan;
  kugel_lens *lens;
  CHECK_OK(kugel_sht_points_plan_create(NULL, &o, &plan));
  CHECK_OK(kugel_lens_create(plan, KUGEL_ARRAY(x, KUGEL_F64, N, 2), KUGEL_ARRAY(d, KUGEL_F64, 2, N), &lens));
  kugel_sht_points_plan_destroy(plan);
  double *alm = malloc((size_t)(2 * sets.alm * nalm) * 16),
         *there = malloc((size_t)(2 * sets.alm * nalm) * 16),
         *set = random_alm(sets.alm, lmax, lmax, sets.lowest), values[6 * N];
  for (int64_t i = 0; i < 2 * sets.alm * nalm; i++) { // a batch of two
    alm[i] = set[i];
    alm[2 * sets.alm * nalm + i] = -2 * set[i];
  }
  CHECK_OK(kugel_lens_synthesis(lens, KUGEL_ARRAY(alm, KUGEL_C128, 2, sets.alm, nalm),
                                KUGEL_ARRAY(got, KUGEL_F64, 2, sets.map, N), NULL));
  for (int i = 0; i < N; i++) {
    remap(mode, spin, lmax, set, nalm, x, d, i, sets.map, point);
    for (int c = 0; c < sets.map; c++)
      want[c * N + i] = point[c];
  }
  CHECK_LE(check_l2(got, want, (size_t)(sets.map * N)), tolerance + 1e-13);
  for (int i = 0; i < sets.map * N; i++)
    CHECK_LE(fabs(got[sets.map * N + i] + 2 * got[i]), 1e-12 * fabs(got[i]) + 1e-13);
  uint64_t own = 5;
  for (int i = 0; i < 2 * sets.map * N; i++)
    values[i] = check_random(&own);
  CHECK_OK(kugel_lens_adjoint(lens, KUGEL_ARRAY(values, KUGEL_F64, 2, sets.map, N),
                              KUGEL_ARRAY(there, KUGEL_C128, 2, sets.alm, nalm), NULL));
  for (int b = 0; b < 2; b++) {
    const double *f = got + b * sets.map * N, *g = values + b * sets.map * N;
    const double left = dot(sets.map * N, f, g),
                 right = alm_dot(sets.alm, nalm, lmax, alm + b * 2 * sets.alm * nalm,
                                 there + b * 2 * sets.alm * nalm);
    CHECK_LE(fabs(left - right), 1e-14 * sqrt(dot(sets.map * N, f, f) * dot(sets.map * N, g, g)));
  }
  kugel_lens_destroy(lens);
  free(alm), free(there), free(set);
}

static void modes(void)
{
  for (int k = 0; k < 2; k++) {
    const double tolerance = k ? 1e-4 : 1e-13;
    one(KUGEL_SHT_SCALAR, 0, tolerance);
    one(KUGEL_SHT_TEB, 0, tolerance);
    one(KUGEL_SHT_GRAD, 0, tolerance);
    for (int spin = 1; spin < 4; spin++)
      one(KUGEL_SHT_SPIN, spin, tolerance);
  }
}

/* Floats, and the same bits for any number of threads. */
static void kinds(void)
{
  const int64_t lmax = 20, nalm = kugel_alm_count(lmax, lmax);
  const kugel_sht_points_opts o = {
      .size = sizeof o, .lmax = lmax, .mmax = lmax, .mode = KUGEL_SHT_TEB, .spin = 0, .tolerance = 1e-9};
  double x[2 * N], d[2 * N], got[3 * N], again[3 * N],
      *alm = random_alm(3, lmax, lmax, shape_of(KUGEL_SHT_TEB, 0).lowest), *back = malloc((size_t)nalm * 48),
      *first = malloc((size_t)nalm * 48);
  float f[3 * N], *alm32 = malloc((size_t)nalm * 24), *back32 = malloc((size_t)nalm * 24);
  some(x, d);
  kugel_sht_points_plan *plan;
  CHECK_OK(kugel_sht_points_plan_create(NULL, &o, &plan));
  for (int threads = 1; threads < 8; threads += 3) {
    kugel_lens *lens;
    kugel_set_num_threads(threads);
    CHECK_OK(
        kugel_lens_create(plan, KUGEL_ARRAY(x, KUGEL_F64, N, 2), KUGEL_ARRAY(d, KUGEL_F64, 2, N), &lens));
    CHECK_OK(kugel_lens_synthesis(lens, KUGEL_ARRAY(alm, KUGEL_C128, 3, nalm),
                                  KUGEL_ARRAY(threads > 1 ? again : got, KUGEL_F64, 3, N), NULL));
    CHECK_OK(kugel_lens_adjoint(lens, KUGEL_ARRAY(got, KUGEL_F64, 3, N),
                                KUGEL_ARRAY(threads > 1 ? back : first, KUGEL_C128, 3, nalm), NULL));
    CHECK(threads == 1 || (!memcmp(got, again, sizeof got) && !memcmp(first, back, (size_t)nalm * 48)));
    for (int64_t i = 0; i < 6 * nalm; i++)
      alm32[i] = (float)alm[i];
    CHECK_OK(kugel_lens_synthesis(lens, KUGEL_ARRAY(alm32, KUGEL_C64, 3, nalm),
                                  KUGEL_ARRAY(f, KUGEL_F32, 3, N), NULL));
    CHECK_OK(kugel_lens_adjoint(lens, KUGEL_ARRAY(f, KUGEL_F32, 3, N),
                                KUGEL_ARRAY(back32, KUGEL_C64, 3, nalm), NULL));
    for (int i = 0; i < 3 * N; i++)
      CHECK_LE(fabs(f[i] - got[i]), 1e-4);
    for (int64_t i = 0; i < 6 * nalm; i++)
      CHECK_LE(fabs(back32[i] - first[i]), 2e-3);
    kugel_lens_destroy(lens);
  }
  kugel_set_num_threads(0);
  kugel_sht_points_plan_destroy(plan);
  free(alm), free(back), free(first), free(alm32), free(back32);
}

static kugel_status all_calls(void *unused)
{
  (void)unused;
  const int64_t nalm = kugel_alm_count(3, 3);
  const kugel_sht_points_opts o = {
      .size = sizeof o, .lmax = 3, .mmax = 3, .mode = KUGEL_SHT_TEB, .spin = 0, .tolerance = 1e-9};
  double x[2 * N], d[2 * N], values[3 * N] = {0}, alm[60] = {0};
  kugel_sht_points_plan *plan = NULL;
  kugel_lens *lens = NULL;
  some(x, d);
  kugel_status s = kugel_sht_points_plan_create(NULL, &o, &plan);
  if (!s)
    s = kugel_lens_create(plan, KUGEL_ARRAY(x, KUGEL_F64, N, 2), KUGEL_ARRAY(d, KUGEL_F64, 2, N), &lens);
  if (!s)
    s = kugel_lens_synthesis(lens, KUGEL_ARRAY(alm, KUGEL_C128, 3, nalm),
                             KUGEL_ARRAY(values, KUGEL_F64, 3, N), NULL);
  if (!s)
    s = kugel_lens_adjoint(lens, KUGEL_ARRAY(values, KUGEL_F64, 3, N), KUGEL_ARRAY(alm, KUGEL_C128, 3, nalm),
                           NULL);
  kugel_lens_destroy(lens);
  kugel_sht_points_plan_destroy(plan);
  return s;
}

static void refused(void)
{
  const kugel_sht_points_opts o = {
      .size = sizeof o, .lmax = 3, .mmax = 3, .mode = KUGEL_SHT_SCALAR, .spin = 0, .tolerance = 1e-9};
  double x[4] = {1, 2, 0.5, 1}, d[4] = {0}, values[2];
  kugel_sht_points_plan *plan;
  kugel_lens *lens;
  CHECK_OK(kugel_sht_points_plan_create(NULL, &o, &plan));
  CHECK_IS(kugel_lens_create(NULL, KUGEL_ARRAY(x, KUGEL_F64, 2, 2), KUGEL_ARRAY(d, KUGEL_F64, 2, 2), &lens),
           KUGEL_EINVAL);
  CHECK_IS(kugel_lens_create(plan, NULL, KUGEL_ARRAY(d, KUGEL_F64, 2, 2), &lens), KUGEL_EINVAL);
  CHECK_IS(kugel_lens_create(plan, KUGEL_ARRAY(x, KUGEL_F64, 2, 2), KUGEL_ARRAY(d, KUGEL_F64, 2, 1), &lens),
           KUGEL_ESHAPE);
  d[1] = NAN;
  CHECK_IS(kugel_lens_create(plan, KUGEL_ARRAY(x, KUGEL_F64, 2, 2), KUGEL_ARRAY(d, KUGEL_F64, 2, 2), &lens),
           KUGEL_EINVAL);
  CHECK(!lens && strstr(kugel_last_error(), "point 1"));
  d[1] = 0;
  CHECK_OK(kugel_lens_create(plan, KUGEL_ARRAY(x, KUGEL_F64, 2, 2), KUGEL_ARRAY(d, KUGEL_F64, 2, 2), &lens));
  CHECK_IS(kugel_lens_synthesis(lens, NULL, KUGEL_ARRAY(values, KUGEL_F64, 2), NULL), KUGEL_EINVAL);
  CHECK_IS(kugel_lens_adjoint(NULL, NULL, NULL, NULL), KUGEL_EINVAL);
  kugel_lens_destroy(lens);
  kugel_lens_destroy(NULL);
  kugel_sht_points_plan_destroy(plan);
}

int main(void)
{
  CASE("remapped by hand, and the adjoint") modes();
  CASE("floats and threads") kinds();
  CASE("refused") refused();
  CASE("allocations that fail") sweep_allocations(all_calls, NULL);
  END();
}
