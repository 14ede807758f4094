/* SPDX-License-Identifier: BSD-3-Clause */
/* What plans say they need, against what is allocated: at the highest, while the plan is made and run, through the context. */
#include "check.h"
#include <stdbool.h>
#include <kugel/volume.h>

enum { Z = 40, Y = 56, X = 60, ALL = Z * Y * X };
static float image[ALL], results[ALL];
static double kernel[ALL];

/* The peak beside info.host_bytes; with a limit it may not exceed this either. */
static void measures(const char *name, kugel_volume_opts o, const int64_t k[3], uint64_t limit, bool adjoint)
{
  int64_t n[3] = {Z, Y, X};
  kugel_ctx *ctx;
  kugel_volume *plan = NULL;
  kugel_volume_info info = {.size = sizeof info}, before = {.size = sizeof before};
  uint64_t made, peak, base;
  o.size = sizeof o;
  o.extent = KUGEL_CONV_SAME;
  o.precision = KUGEL_PRECISION_F32;
  CHECK_OK(kugel_ctx_create(NULL, &ctx));
  if (limit)
    CHECK_OK(kugel_ctx_limit_memory(ctx, limit));
  CHECK_OK(kugel_volume_estimate(ctx, 3, n, k, &o, &before));
  kugel_ctx_memory(ctx, &base, NULL);
  CHECK_OK(kugel_volume_create(ctx, 3, n, k, KUGEL_ARRAY(kernel, KUGEL_F64, k[0], k[1], k[2]), &o, &plan));
  CHECK_OK(kugel_volume_get_info(plan, &info));
  kugel_ctx_memory(ctx, NULL, &made);
  kugel_array *in = KUGEL_ARRAY(image, KUGEL_F32, Z, Y, X), *out = KUGEL_ARRAY(results, KUGEL_F32, Z, Y, X);
  CHECK_OK(kugel_volume_execute(plan, in, out, NULL, NULL));
  if (adjoint)
    CHECK_OK(kugel_volume_adjoint(plan, out, in, NULL, NULL));
  kugel_ctx_memory(ctx, NULL, &peak);
  printf("  %-40s engine %d, parts %d: said %.3f MB, allocated %.3f MB, %.3f to make it\n", name,
         (int)info.engine, info.parts, (double)info.host_bytes / 1e6, (double)(peak - base) / 1e6,
         (double)(made - base) / 1e6);
  CHECK(before.host_bytes == info.host_bytes);
  CHECK(peak - base <= info.host_bytes);
  CHECK_LE((double)info.host_bytes, 1.25 * (double)(peak - base)); // nor is much more said
  CHECK(!limit || peak - base <= limit);
  kugel_volume_destroy(plan);
  kugel_ctx_destroy(ctx);
}

int main(void)
{
  const int64_t little[3] = {5, 7, 9}, whole[3] = {Z, Y, X}, wide[3] = {3, 50, 11};
  uint64_t seed = 3;
  CHECK_OK(kugel_set_num_threads(3));
  for (int i = 0; i < ALL; i++) {
    image[i] = (float)check_random(&seed);
    kernel[i] = check_random(&seed) + 1.5;
  }
  CASE("resident")
  measures("a small kernel", (kugel_volume_opts){.engine = KUGEL_VOLUME_RESIDENT}, little, 0, true);
  measures("one as large as the image", (kugel_volume_opts){.engine = KUGEL_VOLUME_RESIDENT}, whole, 0, true);
  measures("reflected",
           (kugel_volume_opts){.engine = KUGEL_VOLUME_RESIDENT, .boundary = KUGEL_BOUNDARY_REFLECT}, wide, 0,
           true);
  measures("unknown surroundings",
           (kugel_volume_opts){.engine = KUGEL_VOLUME_RESIDENT, .boundary = KUGEL_BOUNDARY_UNKNOWN}, little,
           0, true);
  CASE("parts")
  for (int parts = 2; parts <= 8; parts *= 2) {
    measures("a small kernel", (kugel_volume_opts){.engine = KUGEL_VOLUME_DIF, .parts = parts}, little, 0,
             true);
    measures("one as large as the image", (kugel_volume_opts){.engine = KUGEL_VOLUME_DIF, .parts = parts},
             whole, 0, true);
  }
  CASE("parts within a limit")
  for (uint64_t limit = 3500000; limit >= 2900000; limit -= 300000)
    measures("as large as the image", (kugel_volume_opts){.engine = KUGEL_VOLUME_DIF}, whole, limit, true);
  CASE("tiles, and slabs by way of a file, within a limit")
  for (uint64_t limit = 4000000; limit >= 2000000; limit -= 1000000) {
    measures("tiles", (kugel_volume_opts){.engine = KUGEL_VOLUME_TILES}, little, limit, false);
    measures("pencils", (kugel_volume_opts){.engine = KUGEL_VOLUME_PENCIL}, whole, limit, true);
  }
  END();
}
