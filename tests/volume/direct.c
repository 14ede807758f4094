/* SPDX-License-Identifier: BSD-3-Clause */
/* Convolutions of volumes against direct sums in long double: extents, boundaries, centres, lengths, types, adjoints. */
#include "check.h"
#include "volume/truth.h"
#include "sweep.h"
#include "core/half.h"
#include "volume/plan/plan.h"

static uint64_t seed = 1;

static double complex *numbers(int64_t count, int complex_data, double offset)
{
  double complex *x = malloc((size_t)(count ? count : 1) * sizeof *x);
  for (int64_t i = 0; i < count; i++) {
    double re = check_random(&seed) + offset, im = check_random(&seed);
    x[i] = complex_of(re, complex_data ? im : 0);
  }
  return x;
}

// An array of doubles or complex doubles, or of their float kinds.
static void *packed(const double complex *x, int64_t count, int complex_data, int f32)
{
  int parts = complex_data ? 2 : 1;
  void *out = malloc((size_t)(count * parts + 1) * 8);
  for (int64_t i = 0; i < count * parts; i++) {
    double v = i % parts ? cimag(x[i / parts]) : creal(x[i / parts]);
    if (f32)
      ((float *)out)[i] = (float)v;
    else
      ((double *)out)[i] = v;
  }
  return out;
}

static kugel_dtype type_of(int complex_data, int f32)
{
  return complex_data ? (f32 ? KUGEL_C64 : KUGEL_C128) : (f32 ? KUGEL_F32 : KUGEL_F64);
}

static kugel_array array_of(void *data, kugel_dtype type, int64_t *shape)
{
  return (kugel_array){.data = data, .device = {KUGEL_CPU, 0}, .ndim = 3, .dtype = type, .shape = shape};
}

static double number_at(const void *data, int f32, int64_t i)
{
  return f32 ? (double)((const float *)data)[i] : ((const double *)data)[i];
}

// Largest error of the results over the largest result (a result that is divided by a part of the kernel's sum has its
// error divided too); and of <Hx, g> - <x, H*g>, over |Hx| |g|.
static void errors(problem *p, int f32, const kugel_volume_opts *how, double *error, double *adjoint)
{
  int64_t m[3], first[3];
  truth_shape(p, m, first);
  int64_t n = product3(p->n), k = product3(p->k), results = product3(m);
  int parts = p->complex_data ? 2 : 1;
  double complex *x = numbers(n, p->complex_data, 0), *g = numbers(results, p->complex_data, 0);
  double complex *h = numbers(k, p->complex_data, p->boundary == KUGEL_BOUNDARY_UNKNOWN ? 1.5 : 0);
  for (int64_t i = 0; i < k && f32; i++)
    h[i] = complex_of((float)creal(h[i]), (float)cimag(h[i]));
  for (int64_t i = 0; i < n && f32; i++)
    x[i] = complex_of((float)creal(x[i]), (float)cimag(x[i]));
  double complex *y = malloc((size_t)results * sizeof *y);
  double *part = malloc((size_t)results * 8);
  truth(p, x, h, y, part);
  kugel_dtype type = type_of(p->complex_data, f32);
  void *px = packed(x, n, p->complex_data, f32), *ph = packed(h, k, p->complex_data, f32);
  void *pg = packed(g, results, p->complex_data, f32);
  void *py = malloc((size_t)results * 16), *pt = malloc((size_t)n * 16);
  kugel_array ax = array_of(px, type, p->n), ah = array_of(ph, type, p->k), ay = array_of(py, type, m);
  kugel_array ag = array_of(pg, type, m), at = array_of(pt, type, p->n);
  kugel_volume_opts o = {sizeof o,
                         .extent = p->extent,
                         .boundary = p->boundary,
                         .correlate = p->correlate,
                         .complex_data = p->complex_data,
                         .centre = p->centre,
                         .precision = f32 ? KUGEL_PRECISION_F32 : KUGEL_PRECISION_F64};
  o.engine = how->engine;
  o.tile = how->tile;
  o.parts = how->parts;
  kugel_volume *plan = NULL;
  *error = *adjoint = INFINITY;
  CHECK_OK(kugel_volume_create(NULL, 3, p->n, p->k, &ah, &o, &plan));
  if (plan) {
    CHECK_OK(kugel_volume_execute(plan, &ax, &ay, NULL, NULL));
    CHECK_OK(kugel_volume_adjoint(plan, &ag, &at, NULL, NULL));
    double worst = 0, scale = 0;
    long double complex left = 0, right = 0;
    long double ny = 0, ng = 0;
    for (int64_t i = 0; i < results; i++) {
      double re = number_at(py, f32, i * parts), im = parts == 2 ? number_at(py, f32, 2 * i + 1) : 0;
      worst = fmax(worst, hypot(re - creal(y[i]), im - cimag(y[i])) * fmin(1, part[i]));
      scale = fmax(scale, cabs(y[i]));
      double gr = number_at(pg, f32, i * parts), gi = parts == 2 ? number_at(pg, f32, 2 * i + 1) : 0;
      left += (long double complex)complex_of(re, im) * complex_of(gr, -gi);
      ny += (long double)re * re + (long double)im * im;
      ng += (long double)gr * gr + (long double)gi * gi;
    }
    for (int64_t i = 0; i < n; i++)
      right += (long double complex)x[i] *
               complex_of(number_at(pt, f32, i * parts), parts == 2 ? -number_at(pt, f32, 2 * i + 1) : 0);
    *error = scale > 0 ? worst / scale : worst;
    *adjoint = (double)(cabsl(left - right) / (sqrtl(ny * ng) + 1e-300L));
  }
  kugel_volume_destroy(plan);
  void *all[] = {x, g, h, y, px, ph, pg, py, pt, part};
  for (int i = 0; i < 10; i++)
    free(all[i]);
}

static int64_t pick(int64_t most)
{
  int64_t i = (int64_t)(0.5 * (check_random(&seed) + 1) * (double)most);
  return 1 + (i < most ? i : most - 1);
}

static void many(kugel_conv_extent extent, int f32, int complex_data, kugel_volume_engine engine, int rounds)
{
  static const int64_t lengths[] = {1, 2, 3, 5, 7, 8, 11, 16, 17, 13, 4, 12};
  double worst = 0, worst_adjoint = 0;
  for (int i = 0; i < rounds; i++) {
    problem p = {.extent = extent, .complex_data = complex_data, .correlate = i / 5 % 2};
    p.boundary = (kugel_boundary)(i % (complex_data ? 4 : 5));
    for (int d = 0; d < 3; d++) {
      p.n[d] = lengths[pick(12) - 1];
      p.k[d] = lengths[pick(12) - 1];
      if (extent == KUGEL_CONV_VALID && p.k[d] > p.n[d])
        p.k[d] = pick(p.n[d]);
      p.centre[d] = pick(p.k[d]) - 1;
    }
    double e, a;
    int64_t tile[3] = {pick(9), pick(20), pick(9)};
    kugel_volume_opts how = {.engine = engine, .tile = tile, .parts = (int)pick(5)};
    errors(&p, f32, &how, &e, &a);
    worst = fmax(worst, e);
    worst_adjoint = fmax(worst_adjoint, a);
    if (!(e <= (f32 ? 3e-7 : 1e-14)) || !(a <= (f32 ? 3e-7 : 1e-14)))
      CHECK_FAIL("n %d %d %d k %d %d %d centre %d %d %d engine %d extent %d boundary %d correlate %d complex "
                 "%d: %.2g, "
                 "adjoint %.2g",
                 (int)p.n[0], (int)p.n[1], (int)p.n[2], (int)p.k[0], (int)p.k[1], (int)p.k[2],
                 (int)p.centre[0], (int)p.centre[1], (int)p.centre[2], engine, extent, p.boundary,
                 p.correlate, complex_data, e, a);
  }
  printf("  engine %d, extent %d, %s%s: error %.2g, adjoint %.2g\n", engine, extent,
         complex_data ? "complex " : "", f32 ? "float" : "double", worst, worst_adjoint);
}

/* ---- types and strides ---- */

static void put_number(void *to, kugel_dtype t, int64_t i, double v)
{
  if (t.code == KUGEL_UINT && t.bits == 8)
    ((uint8_t *)to)[i] = (uint8_t)v;
  else if (t.code == KUGEL_UINT)
    ((uint16_t *)to)[i] = (uint16_t)v;
  else if (t.code == KUGEL_INT && t.bits == 16)
    ((int16_t *)to)[i] = (int16_t)v;
  else if (t.code == KUGEL_INT)
    ((int32_t *)to)[i] = (int32_t)v;
  else if (t.bits == 16)
    ((uint16_t *)to)[i] = half_from_float((float)v);
  else if (t.bits == 32)
    ((float *)to)[i] = (float)v;
  else
    ((double *)to)[i] = v;
}
static double get_number(const void *from, kugel_dtype t, int64_t i)
{
  if (t.code == KUGEL_UINT)
    return t.bits == 8 ? ((const uint8_t *)from)[i] : ((const uint16_t *)from)[i];
  if (t.code == KUGEL_INT)
    return t.bits == 16 ? ((const int16_t *)from)[i] : ((const int32_t *)from)[i];
  if (t.bits == 16)
    return (double)half_to_float(((const uint16_t *)from)[i]);
  return t.bits == 32 ? (double)((const float *)from)[i] : ((const double *)from)[i];
}

// Every type to every other, backwards along y and with gaps along x: small integers, which the sums keep exactly.
static void types(void)
{
  kugel_dtype list[] = {KUGEL_U8, KUGEL_U16, KUGEL_I16, KUGEL_I32, KUGEL_F16, KUGEL_F32, KUGEL_F64};
  int64_t n[2] = {9, 14}, k[2] = {3, 2}, steps[2] = {-42, 3};
  double h[6] = {1, 2, 0, 1, 0, 1};
  kugel_volume *plan;
  kugel_volume_opts o = {sizeof o, .extent = KUGEL_CONV_SAME};
  CHECK_OK(kugel_volume_create(NULL, 2, n, k, KUGEL_ARRAY(h, KUGEL_F64, 3, 2), &o, &plan));
  for (int a = 0; a < 7; a++)
    for (int b = 0; b < 7; b++) {
      double in[400] = {0}, out[400] = {0};
      for (int i = 0; i < 9; i++)
        for (int j = 0; j < 14; j++)
          put_number(in, list[a], (8 - i) * 42 + 3 * j, (i * 5 + j * 3) % 16);
      kugel_array x = {
          .data = in, .device = {KUGEL_CPU, 0}, .ndim = 2, .dtype = list[a], .shape = n, .strides = steps};
      kugel_array y = x;
      x.byte_offset = (uint64_t)(8 * 42 * list[a].bits / 8);
      y.data = out;
      y.dtype = list[b];
      y.byte_offset = (uint64_t)(8 * 42 * list[b].bits / 8);
      CHECK_OK(kugel_volume_execute(plan, &x, &y, NULL, NULL));
      double worst = 0;
      for (int i = 0; i < 9; i++)
        for (int j = 0; j < 14; j++) {
          double want = 0;
          for (int u = 0; u < 3; u++)
            for (int v = 0; v < 2; v++) { // the centre is (1, 0)
              int r = i + 1 - u, c = j - v;
              want += r >= 0 && r < 9 && c >= 0 ? h[2 * u + v] * ((r * 5 + c * 3) % 16) : 0;
            }
          worst = fmax(worst, fabs(want - get_number(out, list[b], (8 - i) * 42 + 3 * j)));
        }
      CHECK_LE(worst, 1e-12);
    }
  kugel_volume_destroy(plan);
}

static void saturates(void)
{
  int64_t n = 6, one = 1;
  double h = 1, x[6] = {-3, 0.5, 1.5, 255.4, 255.6, 300};
  uint8_t y[6], want[6] = {0, 0, 2, 255, 255, 255};
  kugel_volume *plan;
  int64_t clipped = -1;
  CHECK_OK(kugel_volume_create(NULL, 1, &n, &one, KUGEL_ARRAY(&h, KUGEL_F64, 1), NULL, &plan));
  CHECK_OK(
      kugel_volume_execute(plan, KUGEL_ARRAY(x, KUGEL_F64, 6), KUGEL_ARRAY(y, KUGEL_U8, 6), &clipped, NULL));
  CHECK(!memcmp(y, want, 6));
  CHECK(clipped == 3);
  x[0] = NAN;
  CHECK_OK(
      kugel_volume_execute(plan, KUGEL_ARRAY(x, KUGEL_F64, 6), KUGEL_ARRAY(y, KUGEL_U8, 6), &clipped, NULL));
  CHECK(clipped == 6 && y[3] == 0);
  kugel_volume_destroy(plan);
}

/* ---- several kernels, batches, threads ---- */

static void kernels_and_batch(int f32, kugel_volume_engine engine)
{
  int64_t n[3] = {6, 10, 9}, k[3] = {3, 4, 5}, m[3] = {8, 13, 13}, size = 540, results = 8 * 13 * 13;
  double complex *x = numbers(2 * size, 0, 0), *h = numbers(3 * 60, 0, 0);
  double *px = packed(x, 2 * size, 0, 0), *ph = packed(h, 180, 0, 0);
  double *y = calloc((size_t)(6 * results), 8), *back = calloc((size_t)(2 * size), 8), *one = calloc(540, 8);
  double *sum = calloc(540, 8);
  int64_t tile[3] = {2, 1, 1};
  kugel_volume_opts o = {sizeof o, .kernels = 3, .engine = engine, .tile = tile,
                         .precision = f32 ? KUGEL_PRECISION_F32 : KUGEL_PRECISION_F64};
  kugel_volume *plan;
  CHECK_OK(kugel_volume_create(NULL, 3, n, k, KUGEL_ARRAY(ph, KUGEL_F64, 3, 3, 4, 5), &o, &plan));
  CHECK_OK(kugel_volume_execute(plan, KUGEL_ARRAY(px, KUGEL_F64, 2, 6, 10, 9),
                                KUGEL_ARRAY(y, KUGEL_F64, 2, 3, 8, 13, 13), NULL, NULL));
  CHECK_OK(kugel_volume_adjoint(plan, KUGEL_ARRAY(y, KUGEL_F64, 2, 3, 8, 13, 13),
                                KUGEL_ARRAY(back, KUGEL_F64, 2, 6, 10, 9), NULL, NULL));
  kugel_volume_destroy(plan);
  o.kernels = 0;
  double *alone = calloc((size_t)results, 8);
  for (int b = 0; b < 2; b++) {
    memset(sum, 0, 540 * 8);
    for (int q = 0; q < 3; q++) {
      CHECK_OK(kugel_volume_create(NULL, 3, n, k, KUGEL_ARRAY(ph + 60 * q, KUGEL_F64, 3, 4, 5), &o, &plan));
      CHECK_OK(kugel_volume_execute(plan, KUGEL_ARRAY(px + size * b, KUGEL_F64, 6, 10, 9),
                                    KUGEL_ARRAY(alone, KUGEL_F64, 8, 13, 13), NULL, NULL));
      CHECK(!memcmp(alone, y + (3 * b + q) * results, (size_t)results * 8));
      CHECK_OK(kugel_volume_adjoint(plan, KUGEL_ARRAY(alone, KUGEL_F64, 8, 13, 13),
                                    KUGEL_ARRAY(one, KUGEL_F64, 6, 10, 9), NULL, NULL));
      for (int i = 0; i < 540; i++)
        sum[i] += one[i];
      kugel_volume_destroy(plan);
    }
    CHECK_CLOSE(back + size * b, sum, 540, f32 ? 3e-7 : 1e-14);
  }
  (void)m;
  void *all[] = {x, h, px, ph, y, back, one, sum, alone};
  for (int i = 0; i < 9; i++)
    free(all[i]);
}

static void threads_agree(kugel_boundary boundary)
{
  int64_t n[3] = {21, 30, 37}, k[3] = {9, 7, 12}, size = 21 * 30 * 37;
  double complex *x = numbers(size, 0, 0), *h = numbers(9 * 7 * 12, 0, 1.5);
  double *px = packed(x, size, 0, 0), *ph = packed(h, 9 * 7 * 12, 0, 0), *y[2];
  for (int i = 0; i < 2; i++) {
    kugel_ctx *ctx;
    y[i] = malloc((size_t)size * 8);
    CHECK_OK(
        kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .threads = i ? 13 : 1}, &ctx));
    kugel_volume_opts o = {sizeof o, .extent = KUGEL_CONV_SAME, .boundary = boundary};
    kugel_volume *plan;
    CHECK_OK(kugel_volume_create(ctx, 3, n, k, KUGEL_ARRAY(ph, KUGEL_F64, 9, 7, 12), &o, &plan));
    CHECK_OK(kugel_volume_execute(plan, KUGEL_ARRAY(px, KUGEL_F64, 21, 30, 37),
                                  KUGEL_ARRAY(y[i], KUGEL_F64, 21, 30, 37), NULL, NULL));
    kugel_volume_destroy(plan);
    kugel_ctx_destroy(ctx);
  }
  CHECK(!memcmp(y[0], y[1], (size_t)size * 8));
  void *all[] = {x, h, px, ph, y[0], y[1]};
  for (int i = 0; i < 6; i++)
    free(all[i]);
}

/* ---- failures ---- */

typedef struct attempt {
  kugel_boundary boundary;
  kugel_volume_engine engine;
} attempt;

static kugel_status once(void *arg)
{
  const attempt *a = arg;
  int64_t n[3] = {4, 5, 29}, k[3] = {2, 3, 31};
  static double h[2 * 3 * 31], x[4 * 5 * 29], y[4 * 5 * 29];
  for (int i = 0; i < 186; i++)
    h[i] = i % 7 + 1;
  int64_t tile[3] = {3, 4, 20};
  kugel_volume_opts o = {sizeof o, .extent = KUGEL_CONV_SAME, .boundary = a->boundary, .engine = a->engine,
                         .tile = tile};
  if (a->boundary == KUGEL_BOUNDARY_REFLECT) // whose adjoint has the lowest lines in double
    o.precision = KUGEL_PRECISION_F32;
  kugel_volume *plan;
  kugel_status s = kugel_volume_create(NULL, 3, n, k, KUGEL_ARRAY(h, KUGEL_F64, 2, 3, 31), &o, &plan);
  if (!s)
    s = kugel_volume_execute(plan, KUGEL_ARRAY(x, KUGEL_F64, 4, 5, 29), KUGEL_ARRAY(y, KUGEL_F64, 4, 5, 29),
                             NULL, NULL);
  if (!s)
    s = kugel_volume_adjoint(plan, KUGEL_ARRAY(y, KUGEL_F64, 4, 5, 29), KUGEL_ARRAY(x, KUGEL_F64, 4, 5, 29),
                             NULL, NULL);
  kugel_volume_destroy(plan);
  if (!s)
    s = kugel_volume_estimate(NULL, 3, n, k, &o, &(kugel_volume_info){.size = sizeof(kugel_volume_info)});
  return s;
}

static void memory_runs_out(kugel_volume_engine engine)
{
  for (int b = KUGEL_BOUNDARY_ZERO; b <= KUGEL_BOUNDARY_UNKNOWN; b += 2)
    sweep_allocations(once, &(attempt){(kugel_boundary)b, engine});
}

static void bad_input(void)
{
  int64_t n[2] = {8, 8}, k[2] = {3, 3}, centre[2] = {1, 3};
  double h[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1}, x[64] = {0}, y[100];
  kugel_array *kernel = KUGEL_ARRAY(h, KUGEL_F64, 3, 3);
  kugel_volume *plan;
  kugel_volume_opts o = {sizeof o, .centre = centre};
  CHECK_IS(kugel_volume_create(NULL, 2, n, k, kernel, &o, &plan), KUGEL_EINVAL);
  CHECK(strstr(kugel_last_error(), "centre[1] is 3"));
  CHECK_IS(kugel_volume_create(NULL, 4, n, k, kernel, NULL, &plan), KUGEL_EINVAL);
  CHECK_IS(kugel_volume_create(NULL, 2, n, k, KUGEL_ARRAY(h, KUGEL_F64, 9), NULL, &plan), KUGEL_ESHAPE);
  CHECK_IS(kugel_volume_create(NULL, 2, n, k, KUGEL_ARRAY(h, KUGEL_C128, 3, 3), NULL, &plan), KUGEL_ESHAPE);
  o = (kugel_volume_opts){sizeof o, .extent = KUGEL_CONV_VALID};
  int64_t large[2] = {3, 9};
  CHECK_IS(kugel_volume_create(NULL, 2, n, large, kernel, &o, &plan), KUGEL_EINVAL);
  o = (kugel_volume_opts){sizeof o, .boundary = KUGEL_BOUNDARY_UNKNOWN, .complex_data = 1};
  CHECK_IS(kugel_volume_create(NULL, 2, n, k, kernel, &o, &plan), KUGEL_EINVAL);
  h[5] = NAN;
  CHECK_IS(kugel_volume_create(NULL, 2, n, k, kernel, NULL, &plan), KUGEL_EINVAL);
  CHECK(strstr(kugel_last_error(), "(0, 1, 2)"));
  memset(h, 0, sizeof h);
  CHECK_IS(kugel_volume_create(NULL, 2, n, k, kernel, NULL, &plan), KUGEL_EINVAL);
  CHECK(strstr(kugel_last_error(), "zero everywhere"));
  h[0] = 1;
  h[1] = -1;
  o = (kugel_volume_opts){sizeof o, .boundary = KUGEL_BOUNDARY_UNKNOWN};
  CHECK_IS(kugel_volume_create(NULL, 2, n, k, kernel, &o, &plan), KUGEL_EINVAL);
  CHECK_OK(kugel_volume_create(NULL, 2, n, k, kernel, NULL, &plan));
  CHECK_IS(kugel_volume_execute(plan, KUGEL_ARRAY(x, KUGEL_F64, 8, 8), KUGEL_ARRAY(y, KUGEL_F64, 8, 8), NULL,
                                NULL),
           KUGEL_ESHAPE);
  CHECK_IS(kugel_volume_execute(plan, KUGEL_ARRAY(x, KUGEL_C128, 8, 8), KUGEL_ARRAY(y, KUGEL_F64, 10, 10),
                                NULL, NULL),
           KUGEL_ESHAPE);
  CHECK_IS(kugel_volume_execute(plan, KUGEL_ARRAY(y, KUGEL_F64, 8, 8), KUGEL_ARRAY(y, KUGEL_F64, 10, 10),
                                NULL, NULL),
           KUGEL_EINVAL);
  kugel_volume_info info = {.size = sizeof info};
  CHECK_OK(kugel_volume_get_info(plan, &info));
  CHECK(info.results[0] == 10 && info.results[1] == 10 && info.engine == KUGEL_VOLUME_RESIDENT);
  CHECK(info.host_bytes > 0 && info.seconds > 0 && info.transform[1] >= 10);
  kugel_volume_info estimate = {.size = sizeof estimate};
  CHECK_OK(kugel_volume_estimate(NULL, 2, n, k, NULL, &estimate));
  CHECK(!memcmp(&info, &estimate, sizeof info));
  kugel_volume_destroy(plan);
}

int main(void)
{
  for (int engine = KUGEL_VOLUME_RESIDENT; engine <= KUGEL_VOLUME_PENCIL; engine++)
    for (int f32 = 0; f32 < 2; f32++)
      for (int extent = KUGEL_CONV_FULL; extent <= KUGEL_CONV_VALID; extent++) {
        CASE("real volumes against direct sums")
        many((kugel_conv_extent)extent, f32, 0, (kugel_volume_engine)engine, 24);
        CASE("complex volumes against direct sums")
        many((kugel_conv_extent)extent, f32, 1, (kugel_volume_engine)engine, 10);
      }
  CASE("every type to every other, any strides")
  types();
  CASE("integers saturate, and are counted")
  saturates();
  CASE("several kernels and a batch are the same one by one")
  {
    kernels_and_batch(0, KUGEL_VOLUME_RESIDENT);
    kernels_and_batch(1, KUGEL_VOLUME_RESIDENT);
    kernels_and_batch(0, KUGEL_VOLUME_PENCIL);
  }
  CASE("the same bits for any number of threads")
  {
    threads_agree(KUGEL_BOUNDARY_ZERO);
    threads_agree(KUGEL_BOUNDARY_REFLECT);
    threads_agree(KUGEL_BOUNDARY_UNKNOWN);
  }
  CASE("each allocation may fail")
  for (int engine = KUGEL_VOLUME_RESIDENT; engine <= KUGEL_VOLUME_PENCIL; engine++)
    memory_runs_out((kugel_volume_engine)engine);
  CASE("bad input is named")
  bad_input();
  END();
}
