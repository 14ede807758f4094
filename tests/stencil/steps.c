/* SPDX-License-Identifier: BSD-3-Clause */
/* Steps in time of stencils: dispersion in closed form, limits of stability, bits of single steps. */
#include <stdbool.h>
#include "stencil/problem.h"

static const double fastest[4] = {4, 16.0 / 3, 272.0 / 45, 2048.0 / 315};

/* -A(kh), the eigenvalue of a wave, by cosines of the weights of the tables. */
static double symbol(int order, double kh)
{
  static const double c[4][5] = {{-2, 1},
                                 {-5.0 / 2, 4.0 / 3, -1.0 / 12},
                                 {-49.0 / 18, 3.0 / 2, -3.0 / 20, 1.0 / 90},
                                 {-205.0 / 72, 8.0 / 5, -1.0 / 5, 8.0 / 315, -1.0 / 560}};
  double sum = c[order / 2 - 1][0];
  for (int j = 1; j <= order / 2; j++)
    sum += 2 * c[order / 2 - 1][j] * cos(kh * j);
  return sum;
}

static kugel_stencil *wave_plan(int ndim, const int64_t *n, const double *h, int order,
                                kugel_stencil_boundary b)
{
  const kugel_stencil_term terms[3] = {{.derivative = {2, 0, 0}, .factor = 1},
                                       {.derivative = {0, 2, 0}, .factor = 1},
                                       {.derivative = {0, 0, 2}, .factor = 1}};
  kugel_stencil_opts o = {
      .size = sizeof o, .ndim = ndim, .n = n, .h = h, .order = order, .nterms = ndim, .terms = terms};
  kugel_stencil *plan = NULL;
  set_boundary(&o, b);
  CHECK_OK(kugel_stencil_create(NULL, &o, &plan));
  return plan;
}

/* sin kx sin ly cos wt between walls, 4 sin^2(w dt / 2) = dt^2 (A(k h) + A(l h)) / h^2. */
static void standing_wave(void)
{
  const int64_t n[2] = {41, 61};
  const double h[2] = {0.1, 0.1}, k = 3 * M_PI / 4, l = 2 * M_PI / 6, dt = 0.04;
  for (int order = 2; order <= 8; order += 2) {
    kugel_stencil *plan = wave_plan(2, n, h, order, KUGEL_STENCIL_ODD);
    const double a = -(symbol(order, k * 0.1) + symbol(order, l * 0.1)) / 0.01;
    const double w = 2 / dt * asin(dt * sqrt(a) / 2);
    double *state = malloc(2 * 2501 * 8);
    for (int i = 0; i < 2501; i++) {
      const double u = sin(k * 0.1 * (i / 61)) * sin(l * 0.1 * (i % 61));
      state[i] = u * cos(w * dt);
      state[2501 + i] = u;
    }
    CHECK_OK(kugel_stencil_advance(plan, KUGEL_STENCIL_LEAPFROG, dt, 1001,
                                   KUGEL_ARRAY(state, KUGEL_F64, 2, 1, 41, 61), NULL));
    for (int i = 0; i < 2501; i++) {
      const double u = sin(k * 0.1 * (i / 61)) * sin(l * 0.1 * (i % 61));
      CHECK_LE(fabs(state[2501 + i] - u * cos(1001 * w * dt)), 1e-10);
      CHECK_LE(fabs(state[i] - u * cos(1000 * w * dt)), 1e-10);
    }
    free(state);
    kugel_stencil_destroy(plan);
  }
}

/* 10^4 steps at 0.99 of the limit stay bounded; at 1.01 of it noise grows beyond all bounds. */
static void limits(void)
{
  const int64_t n[3] = {12, 12, 12};
  for (int ndim = 1; ndim <= 3; ndim++)
    for (int order = 2; order <= 8; order += 2) {
      kugel_stencil *plan = wave_plan(ndim, n, NULL, order, KUGEL_STENCIL_PERIODIC);
      kugel_stencil_info info = {.size = sizeof info};
      CHECK_OK(kugel_stencil_get_info(plan, &info));
      const double limit = 2 / sqrt(ndim * fastest[order / 2 - 1]);
      CHECK_LE(fabs(2 / sqrt(info.bound) - limit), 1e-15);
      int64_t size = ndim == 1 ? 12 : ndim == 2 ? 144 : 1728, shape[5] = {2, 1, 12, 12, 12};
      for (int beyond = 0; beyond < 2; beyond++) {
        double *state = random_reals(2 * size, 7), most = 0;
        memcpy(state, state + size, (size_t)size * 8);
        kugel_array a = *KUGEL_ARRAY(state, KUGEL_F64, 1);
        a.ndim = 2 + ndim;
        a.shape = shape;
        CHECK_OK(kugel_stencil_advance(plan, KUGEL_STENCIL_LEAPFROG, (beyond ? 1.01 : 0.99) * limit,
                                       beyond ? 500 : 10000, &a, NULL));
        for (int64_t i = 0; i < 2 * size; i++)
          most = fmax(most, fabs(state[i]));
        if (beyond)
          CHECK(most > 1e10);
        else
          CHECK_LE(most, 100);
        free(state);
      }
      kugel_stencil_destroy(plan);
    }
}

/* Advection around a circle, by two fields that exchange: u' = v_x, v' = u_x. Each wave is multiplied by the method's polynomial,
 * and halving steps divides the error of time by 16. */
static void runge_kutta(void)
{
  enum { N = 32 };
  const int64_t n = N;
  const kugel_stencil_term terms[2] = {{.field = 1, .out = 0, .derivative = {1}, .factor = 1},
                                       {.field = 0, .out = 1, .derivative = {1}, .factor = 1}};
  kugel_stencil_opts o = {
      .size = sizeof o, .ndim = 1, .n = &n, .order = 4, .fields = 2, .outs = 2, .nterms = 2, .terms = terms};
  const double k = 2 * M_PI * 3 / N, s = 4.0 / 3 * sin(k) - 1.0 / 6 * sin(2 * k); // i s: the symbol
  kugel_stencil *plan;
  double error[2];
  CHECK_OK(kugel_stencil_create(NULL, &o, &plan));
  for (int half = 0; half < 2; half++) {
    const double dt = half ? 0.5 : 1, z = s * dt, t = 8;
    const int steps = (int)(t / dt);
    double u[2 * N] = {0}, re = 1, im = 0;
    for (int i = 0; i < N; i++)
      u[i] = cos(k * i);
    CHECK_OK(kugel_stencil_advance(plan, KUGEL_STENCIL_RUNGE_KUTTA, dt, steps,
                                   KUGEL_ARRAY(u, KUGEL_F64, 2, N), NULL));
    for (int j = 0; j < steps; j++) { // (1 - z^2/2 + z^4/24) + i (z - z^3/6)
      const double a = 1 - z * z / 2 + z * z * z * z / 24, b = z - z * z * z / 6, next = re * a - im * b;
      im = re * b + im * a;
      re = next;
    }
    error[half] = 0;
    for (int i = 0; i < N; i++) {
      CHECK_LE(fabs(u[i] - re * cos(k * i)), 1e-13);
      CHECK_LE(fabs(u[N + i] + im * sin(k * i)), 1e-13);
      error[half] = fmax(error[half], fabs(u[i] - cos(s * t) * cos(k * i)));
    }
  }
  CHECK_LE(3.7, log2(error[0] / error[1]));
  kugel_stencil_destroy(plan);
}

/* n steps in one call have the bits of n calls, and leapfrog backwards returns to where it was. */
/* Several slabs in one pass, with each boundary, odd and even numbers of steps. */
static void slabs(void)
{
  enum { NODES = 200 * 24 };
  const int64_t n[2] = {200, 24};
  double *start = random_reals(2 * NODES, 5), *many = malloc(2 * NODES * 8), *single = malloc(2 * NODES * 8);
  for (int boundary = KUGEL_STENCIL_PERIODIC; boundary <= KUGEL_STENCIL_ONE_SIDED; boundary++)
    for (int order = 2; order <= 8; order += 2) {
      kugel_stencil *plan = wave_plan(2, n, NULL, order, (kugel_stencil_boundary)boundary);
      for (int threads = 1; threads <= 3; threads += 2) {
        kugel_set_num_threads(threads);
        memcpy(many, start, 2 * NODES * 8);
        memcpy(single, start, 2 * NODES * 8);
        CHECK_OK(kugel_stencil_advance(plan, KUGEL_STENCIL_LEAPFROG, 0.2, 13,
                                       KUGEL_ARRAY(many, KUGEL_F64, 2, 1, 200, 24), NULL));
        for (int i = 0; i < 13; i++)
          CHECK_OK(kugel_stencil_advance(plan, KUGEL_STENCIL_LEAPFROG, 0.2, 1,
                                         KUGEL_ARRAY(single, KUGEL_F64, 2, 1, 200, 24), NULL));
        CHECK(!memcmp(many, single, 2 * NODES * 8));
      }
      kugel_stencil_destroy(plan);
    }
  kugel_set_num_threads(0);
  free(start), free(many), free(single);
}

static void single_steps(void)
{
  const int64_t n[2] = {30, 45};
  kugel_stencil *plan = wave_plan(2, n, NULL, 6, KUGEL_STENCIL_EVEN);
  double *start = random_reals(2700, 3), *many = malloc(2700 * 8), *single = malloc(2700 * 8);
  for (int method = 0; method < 2; method++)
    for (int steps = 1; steps < 8; steps += 3) {
      kugel_array a = *(method ? KUGEL_ARRAY(many, KUGEL_F64, 1, 30, 45)
                               : KUGEL_ARRAY(many, KUGEL_F64, 2, 1, 30, 45)),
                  b = a;
      b.data = single;
      memcpy(many, start, 2700 * 8);
      memcpy(single, start, 2700 * 8);
      CHECK_OK(kugel_stencil_advance(plan, (kugel_stencil_method)method, 0.2, steps, &a, NULL));
      for (int i = 0; i < steps; i++)
        CHECK_OK(kugel_stencil_advance(plan, (kugel_stencil_method)method, 0.2, 1, &b, NULL));
      CHECK(!memcmp(many, single, 2700 * 8));
    }
  memcpy(many, start, 1350 * 8); // Runge-Kutta in floats of the same numbers
  float f[1350];
  for (int i = 0; i < 1350; i++)
    f[i] = (float)start[i];
  kugel_stencil *floats;
  const kugel_stencil_term terms[2] = {{.derivative = {2, 0}, .factor = 1},
                                       {.derivative = {0, 2}, .factor = 1}};
  kugel_stencil_opts o = {.size = sizeof o,
                          .ndim = 2,
                          .n = n,
                          .order = 6,
                          .precision = KUGEL_PRECISION_F32,
                          .nterms = 2,
                          .terms = terms};
  set_boundary(&o, KUGEL_STENCIL_EVEN);
  CHECK_OK(kugel_stencil_create(NULL, &o, &floats));
  CHECK_OK(kugel_stencil_advance(plan, KUGEL_STENCIL_RUNGE_KUTTA, 0.2, 20,
                                 KUGEL_ARRAY(many, KUGEL_F64, 1, 30, 45), NULL));
  CHECK_OK(kugel_stencil_advance(floats, KUGEL_STENCIL_RUNGE_KUTTA, 0.2, 20,
                                 KUGEL_ARRAY(f, KUGEL_F32, 1, 30, 45), NULL));
  for (int i = 0; i < 1350; i++)
    CHECK_LE(fabs(many[i] - f[i]), 1e-5);
  kugel_stencil_destroy(floats);
  kugel_stencil_destroy(plan);
  free(start), free(many), free(single);
}

int main(void)
{
  CASE("standing waves follow the discrete dispersion") standing_wave();
  CASE("limits of leapfrog") limits();
  CASE("Runge-Kutta is its polynomial") runge_kutta();
  CASE("bits of single steps") single_steps();
  CASE("bits of single steps in slabs") slabs();
  END();
}
