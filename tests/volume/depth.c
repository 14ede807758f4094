/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels that vary with depth, by every engine, against direct sums in long double; adjoints; one kernel for all depths. */
#include "sweep.h"
#include "volume/depth.h"

typedef struct attempt {
  kugel_volume_engine engine;
} attempt;

static kugel_status once(void *arg)
{
  static double x[8 * 6 * 5], h[2 * 3 * 3 * 3], y[8 * 6 * 5];
  int64_t n[3] = {8, 6, 5}, k[3] = {3, 3, 3}, tile[3] = {3, 6, 5};
  for (int i = 0; i < 54; i++)
    h[i] = 1;
  kugel_volume_opts o = {sizeof o,
                         .extent = KUGEL_CONV_SAME,
                         .boundary = KUGEL_BOUNDARY_UNKNOWN,
                         .engine = ((attempt *)arg)->engine,
                         .tile = tile,
                         .depths = 2,
                         .depth = depth_planes};
  kugel_array *in = KUGEL_ARRAY(x, KUGEL_F64, 8, 6, 5), *out = KUGEL_ARRAY(y, KUGEL_F64, 8, 6, 5);
  kugel_volume *p;
  kugel_status s = kugel_volume_create(NULL, 3, n, k, KUGEL_ARRAY(h, KUGEL_F64, 2, 3, 3, 3), &o, &p);
  s = s ? s : kugel_volume_execute(p, in, out, NULL, NULL);
  s = s ? s : kugel_volume_adjoint(p, out, in, NULL, NULL);
  kugel_volume_destroy(p);
  return s;
}

static void bad_input(void)
{
  double h[2 * 27], x[2] = {3, 3}, nan[2] = {0, NAN};
  int64_t n[3] = {8, 6, 5}, k[3] = {3, 3, 3};
  for (int i = 0; i < 54; i++)
    h[i] = i < 27 ? 1 : 1.1;
  kugel_array *two = KUGEL_ARRAY(h, KUGEL_F64, 2, 3, 3, 3);
  kugel_volume *p = NULL;
  kugel_volume_opts o = {sizeof o, .depths = 2};
  CHECK_IS(kugel_volume_create(NULL, 3, n, k, two, &o, &p), KUGEL_EINVAL);
  CHECK(strstr(kugel_last_error(), "depth NULL"));
  o.depth = x;
  CHECK_IS(kugel_volume_create(NULL, 3, n, k, two, &o, &p), KUGEL_EINVAL);
  CHECK(strstr(kugel_last_error(), "depth[1] is 3: planes must be finite and rise"));
  o.depth = nan;
  CHECK_IS(kugel_volume_create(NULL, 3, n, k, two, &o, &p), KUGEL_EINVAL);
  o.depth = depth_planes;
  CHECK_IS(kugel_volume_create(NULL, 2, n, k, KUGEL_ARRAY(h, KUGEL_F64, 2, 3, 3), &o, &p), KUGEL_EINVAL);
  CHECK(strstr(kugel_last_error(), "need 3 axes"));
  CHECK_IS(kugel_volume_create(NULL, 3, n, k, KUGEL_ARRAY(h, KUGEL_F64, 3, 3, 3), &o, &p), KUGEL_ESHAPE);
  o.kernels = 2;
  CHECK_IS(kugel_volume_create(NULL, 3, n, k, two, &o, &p), KUGEL_EINVAL);
  CHECK(strstr(kugel_last_error(), "one of them must be 0"));
  o.kernels = 0;
  o.depths = -1;
  CHECK_IS(kugel_volume_create(NULL, 3, n, k, two, &o, &p), KUGEL_EINVAL);
  CHECK(!p);
}

int main(void)
{
  CHECK_OK(kugel_set_num_threads(2));
  CASE("resident: all extents and boundaries, real and complex, adjoints")
  depth_all_of(NULL, KUGEL_VOLUME_RESIDENT, false, 1);
  CASE("tiles")
  depth_all_of(NULL, KUGEL_VOLUME_TILES, false, 1);
  CASE("parts")
  depth_all_of(NULL, KUGEL_VOLUME_DIF, false, 1);
  CASE("pencils")
  depth_all_of(NULL, KUGEL_VOLUME_PENCIL, false, 1);
  CASE("floats")
  depth_all_of(NULL, KUGEL_VOLUME_RESIDENT, true, 1);
  CASE("each allocation may fail")
  for (int e = KUGEL_VOLUME_RESIDENT; e <= KUGEL_VOLUME_PENCIL; e++)
    sweep_allocations(once, &(attempt){(kugel_volume_engine)e});
  CASE("bad input is named")
  bad_input();
  END();
}
