/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels that a callback reads, by every engine: the bits of the same kernel in memory, each element read once, by planes for pencils;
 * a callback that stops, kernels of NaN and of zeros, every allocation. */
#include <string.h>
#include <kugel/volume.h>
#include "sweep.h"

enum { Z = 12, Y = 10, X = 9, KZ = 12, KY = 7, KX = 9, KERNEL = KZ * KY * KX };
static float image[Z * Y * X], out[2][2 * Z * Y * X], kernel[2 * KERNEL];
static double planes[2] = {2, 8};

typedef struct source {
  int axes;
  int64_t shape[4], most, calls, stop; // most: elements of a call
  int touched[2 * KERNEL];
} source;

static int read_kernel(void *user, const int64_t *lo, const int64_t *n, void *values)
{
  source *s = user;
  int64_t count = 1, all = 1;
  for (int d = 0; d < s->axes; d++) {
    CHECK(lo[d] >= 0 && n[d] >= 1 && lo[d] + n[d] <= s->shape[d]);
    count *= n[d];
  }
  s->most = count > s->most ? count : s->most;
  if (++s->calls == s->stop)
    return 5;
  for (int64_t i = 0; i < count; i++) {
    int64_t at = 0, rest = i;
    all = 1;
    for (int d = s->axes - 1; d >= 0; rest /= n[d], d--) {
      at += (lo[d] + rest % n[d]) * all;
      all *= s->shape[d];
    }
    ((float *)values)[i] = kernel[at];
    s->touched[at]++;
  }
  return 0;
}

// Both ways to give the same kernels.
static void compare(kugel_volume_opts o, int ndim)
{
  static source s;
  int64_t n[3] = {Z, Y, X}, k[3] = {KZ, KY, KX}, tile[3] = {5, 10, 9},
          elements = o.kernels || o.depths ? 2 : 1;
  int skip = 3 - ndim, more = elements == 2;
  memset(&s, 0, sizeof s);
  s.axes = ndim + more;
  s.shape[0] = 2;
  for (int d = 0; d < ndim; d++) {
    s.shape[d + more] = k[d + skip];
    elements *= k[d + skip];
  }
  o.size = sizeof o;
  o.extent = KUGEL_CONV_SAME;
  o.precision = KUGEL_PRECISION_F32;
  o.tile = tile + skip;
  kugel_array h = {
      .data = kernel, .device = {KUGEL_CPU, 0}, .ndim = s.axes, .dtype = KUGEL_F32, .shape = s.shape};
  int64_t results[4] = {2, n[skip], ndim > 1 ? n[skip + 1] : 0, ndim > 2 ? n[2] : 0},
          *m = o.kernels ? results : results + 1;
  kugel_array x = {
      .data = image, .device = {KUGEL_CPU, 0}, .ndim = ndim, .dtype = KUGEL_F32, .shape = n + skip};
  for (int i = 0; i < 2; i++) {
    kugel_volume *plan = NULL;
    kugel_array y = {.data = out[i],
                     .device = {KUGEL_CPU, 0},
                     .ndim = ndim + (o.kernels > 0),
                     .dtype = KUGEL_F32,
                     .shape = m};
    o.read_kernel = i ? read_kernel : NULL;
    o.kernel_user = &s;
    h.data = i ? NULL : kernel;
    CHECK_OK(kugel_volume_create(NULL, ndim, n + skip, k + skip, &h, &o, &plan));
    CHECK_OK(kugel_volume_execute(plan, &x, &y, NULL, NULL));
    kugel_volume_destroy(plan);
  }
  CHECK(!memcmp(out[0], out[1], sizeof out[0]));
  for (int64_t i = 0; i < elements; i++)
    CHECK(s.touched[i] == 1);
  if (o.engine == KUGEL_VOLUME_PENCIL)
    CHECK(s.most == 5 * KY * KX);
}

static kugel_status create(source *s, kugel_volume_engine engine, kugel_boundary boundary)
{
  int64_t n[3] = {Z, Y, X}, k[3] = {KZ, KY, KX}, tile[3] = {5, 10, 9};
  kugel_volume *plan = NULL;
  kugel_volume_opts o = {sizeof o, .extent = KUGEL_CONV_SAME, .boundary = boundary, .engine = engine,
                         .tile = tile};
  kugel_array h = {.device = {KUGEL_CPU, 0}, .ndim = 3, .dtype = KUGEL_F32, .shape = k};
  o.read_kernel = read_kernel;
  o.kernel_user = s;
  kugel_status status = kugel_volume_create(NULL, 3, n, k, &h, &o, &plan);
  CHECK(!status == (plan != NULL));
  kugel_volume_destroy(plan);
  return status;
}

static kugel_status once(void *arg)
{
  static source s;
  s = (source){.axes = 3, .shape = {KZ, KY, KX}};
  return create(&s, *(kugel_volume_engine *)arg, KUGEL_BOUNDARY_UNKNOWN);
}

static void failures(void)
{
  static source s;
  for (int e = KUGEL_VOLUME_RESIDENT; e <= KUGEL_VOLUME_PENCIL; e++) {
    s = (source){.axes = 3, .shape = {KZ, KY, KX}, .stop = e == KUGEL_VOLUME_PENCIL ? 2 : 1};
    CHECK_IS(create(&s, (kugel_volume_engine)e, KUGEL_BOUNDARY_ZERO), KUGEL_EIO);
    CHECK(strstr(kugel_last_error(), "read_kernel returned 5"));
    float kept = kernel[400];
    kernel[400] = NAN;
    s = (source){.axes = 3, .shape = {KZ, KY, KX}};
    CHECK_IS(create(&s, (kugel_volume_engine)e, KUGEL_BOUNDARY_ZERO), KUGEL_EINVAL);
    CHECK(strstr(kugel_last_error(), "(z, y, x) = (6, 2, 4)"));
    kernel[400] = kept;
  }
  static float zeros[KERNEL];
  float saved[KERNEL];
  memcpy(saved, kernel, sizeof saved);
  memcpy(kernel, zeros, sizeof zeros);
  s = (source){.axes = 3, .shape = {KZ, KY, KX}};
  CHECK_IS(create(&s, KUGEL_VOLUME_PENCIL, KUGEL_BOUNDARY_ZERO), KUGEL_EINVAL);
  CHECK(strstr(kugel_last_error(), "zero everywhere"));
  memcpy(kernel, saved, sizeof saved);
  int64_t n[3] = {Z, Y, X}, k[3] = {KZ, KY, KX};
  kugel_volume *plan = NULL;
  kugel_volume_opts o = {sizeof o, .read_kernel = read_kernel};
  CHECK_IS(kugel_volume_create(NULL, 3, n, k, KUGEL_ARRAY(kernel, KUGEL_F32, KZ, KY, KX), &o, &plan),
           KUGEL_EINVAL);
  CHECK(!plan && strstr(kugel_last_error(), "shape and type alone"));
  CHECK_IS(kugel_volume_create(NULL, 3, n, k, NULL, &o, &plan), KUGEL_EINVAL);
}

int main(void)
{
  uint64_t seed = 4;
  CHECK_OK(kugel_set_num_threads(2));
  for (int i = 0; i < Z * Y * X; i++)
    image[i] = (float)check_random(&seed);
  for (int i = 0; i < 2 * KERNEL; i++)
    kernel[i] = (float)check_random(&seed) + 1.2F;
  for (int e = KUGEL_VOLUME_RESIDENT; e <= KUGEL_VOLUME_PENCIL; e++)
    CASE("the same bits as from memory, by each engine")
    {
      kugel_volume_opts o = {.engine = (kugel_volume_engine)e, .parts = e == KUGEL_VOLUME_DIF ? 3 : 0};
      compare(o, 3);
      o.correlate = 1;
      o.boundary = KUGEL_BOUNDARY_UNKNOWN;
      compare(o, 3);
      o.kernels = 2;
      compare(o, 3);
      o.kernels = 0;
      o.depths = 2;
      o.depth = planes;
      compare(o, 3);
      for (int ndim = 1; ndim < 3 && e != KUGEL_VOLUME_PENCIL; ndim++)
        compare((kugel_volume_opts){.engine = (kugel_volume_engine)e, .kernels = 2 * (ndim - 1)}, ndim);
    }
  CASE("failures are named")
  failures();
  CASE("each allocation may fail")
  for (int e = KUGEL_VOLUME_RESIDENT; e <= KUGEL_VOLUME_PENCIL; e++)
    sweep_allocations(once, &(kugel_volume_engine){(kugel_volume_engine)e});
  END();
}
