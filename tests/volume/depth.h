/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels that vary with depth: a plan of any context and engine against direct sums in long double, and its adjoint. */
#ifndef KUGEL_TESTS_VOLUME_DEPTH_H
#define KUGEL_TESTS_VOLUME_DEPTH_H

#include "check.h"
#include "volume/truth.h"

enum { DEPTHS = 3 };
static const double depth_planes[DEPTHS] = {-1, 2.5, 7};
static uint64_t depth_seed = 3;

// Of kernel d for a plane of the image.
static inline long double depth_share(int d, int64_t plane)
{
  long double z = (long double)plane, a = d ? depth_planes[d - 1] : depth_planes[0],
              c = d < DEPTHS - 1 ? depth_planes[d + 1] : depth_planes[d], b = depth_planes[d];
  if (z <= b)
    return d == 0 ? 1 : z <= a ? 0 : (z - a) / (b - a);
  return d == DEPTHS - 1 ? 1 : z >= c ? 0 : (c - z) / (c - b);
}

/* Sums of the definition: each voxel by the kernel interpolated at its own plane. Where the surroundings are unknown, divided by
 * the part of these factors that met the image. */
static inline void depth_direct(const problem *p, const double complex *x, const double complex *h,
                                double complex *y)
{
  int64_t m[3], first[3], k = product3(p->k);
  truth_shape(p, m, first);
  for (int64_t r = 0; r < product3(m); r++) {
    int64_t o[3] = {r / m[2] / m[1] + first[0], r / m[2] % m[1] + first[1], r % m[2] + first[2]};
    long double complex sum = 0;
    long double met = 0, all = 0;
    for (int64_t j = 0; j < k; j++) {
      int64_t jj[3] = {j / p->k[2] / p->k[1], j / p->k[2] % p->k[1], j % p->k[2]}, at = 0, plane = 0;
      for (int d = 0; d < 3; d++) {
        int64_t shift = p->centre[d] - jj[d], i = o[d] + (p->correlate ? -shift : shift);
        int64_t q = truth_inside(p->boundary, i, p->n[d]);
        plane = d ? plane : q < 0 ? i : q;
        at = q < 0 || at < 0 ? -1 : at * p->n[d] + q;
      }
      for (int d = 0; d < DEPTHS; d++) {
        long double complex f = depth_share(d, plane) * (long double complex)h[d * k + j];
        all += creall(f);
        if (at < 0)
          continue;
        met += creall(f);
        sum += (p->correlate ? conjl(f) : f) * x[at];
      }
    }
    bool none = p->boundary == KUGEL_BOUNDARY_UNKNOWN && met < 0.01L * all;
    y[r] = (double complex)(none ? 0 : p->boundary == KUGEL_BOUNDARY_UNKNOWN ? sum / (met / all) : sum);
  }
}

static inline void depth_fill(double complex *x, int64_t count, bool complex_data, double offset)
{
  for (int64_t i = 0; i < count; i++) {
    double re = check_random(&depth_seed) + offset;
    x[i] = complex_of(re, complex_data ? check_random(&depth_seed) : 0);
  }
}

static inline kugel_array depth_array_of(void *data, bool complex_data, int ndim, int64_t *shape)
{
  return (kugel_array){.data = data,
                       .device = {KUGEL_CPU, 0},
                       .ndim = ndim,
                       .dtype = complex_data ? KUGEL_C128 : KUGEL_F64,
                       .shape = shape};
}

// Numbers as the plan takes them, in place: real ones next to each other.
static inline void depth_pack(double complex *x, int64_t count, bool complex_data)
{
  for (int64_t i = 0; i < count && !complex_data; i++)
    ((double *)x)[i] = creal(x[i]);
}

static inline double depth_number(const double complex *x, int64_t i)
{
  return ((const double *)x)[i];
}

static inline void depth_agrees(kugel_ctx *ctx, problem *p, kugel_volume_engine engine, bool f32)
{
  int64_t m[3], first[3], tile[3] = {3, 5, 4}, shape[4] = {DEPTHS, p->k[0], p->k[1], p->k[2]};
  truth_shape(p, m, first);
  int64_t n = product3(p->n), k = product3(p->k), results = product3(m), reals = p->complex_data ? 2 : 1;
  double complex *x = malloc((size_t)n * 16), *h = malloc((size_t)(DEPTHS * k) * 16),
                 *want = malloc((size_t)results * 16), *got = malloc((size_t)results * 16),
                 *g = malloc((size_t)results * 16), *back = malloc((size_t)n * 16);
  bool unknown = p->boundary == KUGEL_BOUNDARY_UNKNOWN;
  depth_fill(x, n, p->complex_data, 0);
  depth_fill(h, DEPTHS * k, p->complex_data, unknown ? 1.5 : 0);
  depth_fill(g, results, p->complex_data, 0);
  depth_direct(p, x, h, want);
  depth_pack(x, n, p->complex_data);
  depth_pack(h, DEPTHS * k, p->complex_data);
  depth_pack(g, results, p->complex_data);
  kugel_volume_opts o = {sizeof o,
                         .extent = p->extent,
                         .boundary = p->boundary,
                         .correlate = p->correlate,
                         .complex_data = p->complex_data,
                         .centre = p->centre,
                         .precision = f32 ? KUGEL_PRECISION_F32 : KUGEL_PRECISION_F64,
                         .engine = engine,
                         .parts = engine == KUGEL_VOLUME_DIF ? 3 : 0,
                         .tile = tile,
                         .depths = DEPTHS,
                         .depth = depth_planes};
  kugel_array ax = depth_array_of(x, p->complex_data, 3, p->n),
              ah = depth_array_of(h, p->complex_data, 4, shape),
              ay = depth_array_of(got, p->complex_data, 3, m), ag = depth_array_of(g, p->complex_data, 3, m),
              at = depth_array_of(back, p->complex_data, 3, p->n);
  kugel_volume *plan = NULL;
  CHECK_OK(kugel_volume_create(ctx, 3, p->n, p->k, &ah, &o, &plan));
  CHECK_OK(kugel_volume_execute(plan, &ax, &ay, NULL, NULL));
  CHECK_OK(kugel_volume_adjoint(plan, &ag, &at, NULL, NULL));
  double worst = 0, scale = 0;
  long double left = 0, right = 0, sizes = 0, others = 0; // real parts of the products
  for (int64_t i = 0; i < results * reals; i++) {
    double v = reals == 2 ? depth_number(want, i) : creal(want[i]);
    worst = fmax(worst, fabs(depth_number(got, i) - v));
    scale = fmax(scale, fabs(v));
    left += (long double)depth_number(got, i) * depth_number(g, i);
    sizes += (long double)depth_number(got, i) * depth_number(got, i);
    others += (long double)depth_number(g, i) * depth_number(g, i);
  }
  for (int64_t i = 0; i < n * reals; i++)
    right += (long double)depth_number(x, i) * depth_number(back, i);
  double bound = (f32 ? 3e-7 : 1e-14) * (unknown ? 100 : 1); // results divided by 1 % of the sum
  CHECK_LE(worst / scale, bound);
  CHECK_LE((double)(fabsl(left - right) / sqrtl(sizes * others)), f32 ? 3e-7 : 1e-14);
  kugel_volume_destroy(plan);
  void *all[] = {x, h, want, got, g, back};
  for (int i = 0; i < 6; i++)
    free(all[i]);
}

/* every: 1: all problems; else one of so many. */
static inline void depth_all_of(kugel_ctx *ctx, kugel_volume_engine engine, bool f32, int every)
{
  static const int64_t n[3][3] = {{9, 8, 7}, {5, 1, 12}, {11, 6, 10}},
                       k[3][3] = {{4, 3, 5}, {9, 2, 3}, {3, 5, 2}};
  for (int i = 0; i < 3 * 3 * 5 * 2; i += every) {
    int shape = i % 3, complex_data = i / 45;
    problem p = {.extent = (kugel_conv_extent)(i / 3 % 3),
                 .boundary = (kugel_boundary)(i / 9 % 5),
                 .correlate = i % 2,
                 .complex_data = complex_data};
    if (complex_data && p.boundary == KUGEL_BOUNDARY_UNKNOWN)
      continue;
    memcpy(p.n, n[shape], sizeof p.n);
    memcpy(p.k, k[shape], sizeof p.k);
    for (int d = 0; d < 3; d++) {
      p.k[d] = p.extent == KUGEL_CONV_VALID && p.k[d] > p.n[d] ? p.n[d] : p.k[d];
      p.centre[d] = (i + d) % p.k[d];
    }
    depth_agrees(ctx, &p, engine, f32);
  }
}

#endif
