/* SPDX-License-Identifier: BSD-3-Clause */
/* The decomposition by itself: there and back, and a convolution along the first axis whose parts never meet; the engine of
 * parts within a limit of memory. */
#include "check.h"
#include <kugel/fft.h>
#include <kugel/volume.h>
#include "core/alloc.h"

enum { N = 61, K = 13, C = 3 }; // columns

// One part of `data` convolved with that of `kernel`, in place: complex numbers in slabs 2 p and 2 p + 1.
static void convolve_part(double *data, const double *kernel, int64_t length, int parts, int p)
{
  int64_t n = length / (2 * parts), slab = n * C;
  double *w = malloc((size_t)n * 16), *z[2] = {malloc((size_t)slab * 16), malloc((size_t)slab * 16)};
  kugel_fft *plan;
  int axis = 0;
  int64_t shape[2] = {n, C};
  kugel_fft_opts o = {sizeof o, .naxes = 1, .axes = &axis};
  CHECK_OK(kugel_fft_create(NULL, 2, shape, &o, &plan));
  CHECK_OK(kugel_dif_twist(length, parts, p, w));
  double *re = data + 2 * p * slab, *im = re + slab;
  for (int64_t i = 0; i < slab; i++)
    for (int k = 0; k < 2; k++) {
      const double *a = k ? kernel + 2 * p * slab : re, *t = w + 2 * (i / C);
      z[k][2 * i] = a[i] * t[0] - a[slab + i] * t[1];
      z[k][2 * i + 1] = a[i] * t[1] + a[slab + i] * t[0];
    }
  for (int k = 0; k < 2; k++)
    CHECK_OK(kugel_fft_execute(plan, KUGEL_FORWARD, KUGEL_ARRAY(z[k], KUGEL_C128, n, C),
                               KUGEL_ARRAY(z[k], KUGEL_C128, n, C), NULL));
  for (int64_t i = 0; i < slab; i++) {
    double x = z[0][2 * i], y = z[0][2 * i + 1];
    z[0][2 * i] = (x * z[1][2 * i] - y * z[1][2 * i + 1]) / (double)n;
    z[0][2 * i + 1] = (x * z[1][2 * i + 1] + y * z[1][2 * i]) / (double)n;
  }
  CHECK_OK(kugel_fft_execute(plan, KUGEL_INVERSE, KUGEL_ARRAY(z[0], KUGEL_C128, n, C),
                             KUGEL_ARRAY(z[0], KUGEL_C128, n, C), NULL));
  for (int64_t i = 0; i < slab; i++) {
    const double *t = w + 2 * (i / C);
    re[i] = z[0][2 * i] * t[0] + z[0][2 * i + 1] * t[1];
    im[i] = z[0][2 * i + 1] * t[0] - z[0][2 * i] * t[1];
  }
  kugel_fft_destroy(plan);
  free(w);
  free(z[0]);
  free(z[1]);
}

static void convolves(int parts)
{
  uint64_t seed = 5;
  int64_t length = kugel_dif_length(N + K - 1, parts);
  CHECK(length >= N + K - 1 && length % (2 * parts) == 0);
  double *x = calloc((size_t)(length * C), 8), *h = calloc((size_t)(length * C), 8),
         *y = calloc((size_t)(length * C), 8);
  for (int i = 0; i < N * C; i++)
    x[i] = check_random(&seed);
  for (int i = 0; i < K * C; i++)
    h[i] = check_random(&seed);
  for (int i = 0; i < N; i++)
    for (int k = 0; k < K; k++)
      for (int c = 0; c < C; c++)
        y[(i + k) * C + c] += x[i * C + c] * h[k * C + c];
  double *again = malloc((size_t)(length * C) * 8);
  memcpy(again, x, (size_t)(length * C) * 8);
  CHECK_OK(kugel_dif_decompose(NULL, parts, KUGEL_ARRAY(again, KUGEL_F64, length, C)));
  CHECK_OK(kugel_dif_compose(NULL, parts, KUGEL_ARRAY(again, KUGEL_F64, length, C)));
  CHECK_CLOSE(again, x, (size_t)(length * C), 1e-14);
  CHECK_OK(kugel_dif_decompose(NULL, parts, KUGEL_ARRAY(x, KUGEL_F64, length, C)));
  CHECK_OK(kugel_dif_decompose(NULL, parts, KUGEL_ARRAY(h, KUGEL_F64, length, C)));
  for (int p = 0; p < parts; p++)
    convolve_part(x, h, length, parts, p);
  CHECK_OK(kugel_dif_compose(NULL, parts, KUGEL_ARRAY(x, KUGEL_F64, length, C)));
  CHECK_CLOSE(x, y, (size_t)(length * C), 1e-14);
  free(x);
  free(h);
  free(y);
  free(again);
}

static void floats(void)
{
  float x[48], y[48];
  for (int i = 0; i < 48; i++)
    x[i] = y[i] = (float)(i * i % 17);
  CHECK_OK(kugel_dif_decompose(NULL, 3, KUGEL_ARRAY(y, KUGEL_F32, 12, 4)));
  CHECK_OK(kugel_dif_compose(NULL, 3, KUGEL_ARRAY(y, KUGEL_F32, 12, 4)));
  for (int i = 0; i < 48; i++)
    CHECK_LE(fabs((double)y[i] - x[i]), 1e-5);
}

// A kernel as large as the image, with a limit that holds neither the whole nor its spectra: parts, within the limit.
static void within_memory(void)
{
  enum { Z = 24, Y = 26, X = 28 };
  static double x[Z * Y * X], h[Z * Y * X], y[2][Z * Y * X], g[2][Z * Y * X];
  uint64_t seed = 6;
  int64_t n[3] = {Z, Y, X};
  kugel_volume_info whole = {.size = sizeof whole}, info = {.size = sizeof info};
  for (int i = 0; i < Z * Y * X; i++) {
    x[i] = check_random(&seed);
    h[i] = check_random(&seed);
  }
  for (int part = 0; part < 3; part++) {
    kugel_ctx *ctx;
    kugel_volume *plan = NULL;
    CHECK_OK(kugel_ctx_create(NULL, &ctx));
    if (part)
      CHECK_OK(kugel_ctx_limit_memory(ctx, whole.host_bytes * (part == 1 ? 9 : 7) / 10));
    kugel_volume_opts o = {sizeof o, .extent = KUGEL_CONV_SAME};
    CHECK_OK(kugel_volume_create(ctx, 3, n, n, KUGEL_ARRAY(h, KUGEL_F64, Z, Y, X), &o, &plan));
    CHECK_OK(kugel_volume_get_info(plan, part ? &info : &whole));
    CHECK_OK(kugel_volume_execute(plan, KUGEL_ARRAY(x, KUGEL_F64, Z, Y, X),
                                  KUGEL_ARRAY(y[part > 0], KUGEL_F64, Z, Y, X), NULL, NULL));
    CHECK_OK(kugel_volume_adjoint(plan, KUGEL_ARRAY(x, KUGEL_F64, Z, Y, X),
                                  KUGEL_ARRAY(g[part > 0], KUGEL_F64, Z, Y, X), NULL, NULL));
    kugel_volume_destroy(plan);
    kugel_ctx_destroy(ctx);
    if (part == 0)
      continue;
    CHECK(info.engine == KUGEL_VOLUME_DIF && info.parts > 1);
    CHECK_CLOSE(y[1], y[0], Z * Y * X, 1e-14);
    CHECK_CLOSE(g[1], g[0], Z * Y * X, 1e-14);
  }
}

static void refusals(void)
{
  double x[24] = {0}, w[24];
  CHECK(kugel_dif_length(0, 1) == 0 && kugel_dif_length(5, 0) == 0 && kugel_dif_length(11, 3) == 12);
  CHECK_IS(kugel_dif_decompose(NULL, 5, KUGEL_ARRAY(x, KUGEL_F64, 24)), KUGEL_EINVAL);
  CHECK_IS(kugel_dif_decompose(NULL, 0, KUGEL_ARRAY(x, KUGEL_F64, 24)), KUGEL_EINVAL);
  CHECK_IS(kugel_dif_decompose(NULL, 2, KUGEL_ARRAY(x, KUGEL_I32, 24)), KUGEL_ESHAPE);
  CHECK_IS(kugel_dif_twist(24, 2, 2, w), KUGEL_EINVAL);
  for (int i = 1; i < 3; i++) {
    kugel__fault_alloc(1);
    kugel_status s = i == 1 ? kugel_dif_decompose(NULL, 2, KUGEL_ARRAY(x, KUGEL_F64, 24))
                            : kugel_dif_compose(NULL, 2, KUGEL_ARRAY(x, KUGEL_F64, 24));
    kugel__fault_alloc(0);
    CHECK(s == KUGEL_ENOMEM);
  }
}

int main(void)
{
  CHECK_OK(
      kugel_set_num_threads(1)); // limits of memory are for small volumes, and each thread has its scratch
  for (int parts = 1; parts <= 9; parts++)
    CASE("parts convolve on their own")
  convolves(parts);
  CASE("floats")
  floats();
  CASE("parts within a limit of memory")
  within_memory();
  CASE("bad input is named")
  refusals();
  END();
}
